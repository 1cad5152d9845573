"""Control flow as functions: plain Python with JAX's signatures, differentiated like any other."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

import s2sad
from s2sad import control
from s2sad.tree import ravel

RNG = np.random.default_rng(3)
W = RNG.normal(size=(3, 3)) * 0.5
XS = RNG.normal(size=(5, 3))
STEP = 1e-6


class Numpy:
    """What the programs below take from NumPy and s2sad.control; tests with JAX take it there."""

    np = np
    lax = control


def chosen(w, xs, ns=Numpy):
    first = ns.lax.cond(ns.np.sum(xs) > 0.0, ns.np.sin, ns.np.cos, w[0, 0])
    other = ns.lax.cond(w[0, 0] < -9.0, lambda a, b: a * b, lambda a, b: a - b * b, w[0, 1], first)
    return first * other


def summed(w, xs, ns=Numpy):
    def step(i, val):
        return val + w @ xs[i] * i

    return ns.np.sum(ns.lax.fori_loop(1, 4, step, xs[0]) ** 2)


def grown(w, xs, ns=Numpy):
    def small(state):
        x, n = state
        return ns.np.sum(x * x) < 20.0

    def step(state):
        x, n = state
        return x + w @ x + xs[0] ** 2, n + 1

    x, n = ns.lax.while_loop(small, step, (xs[1], 0))
    return ns.np.sum(x) * n


def recurrent(w, xs, ns=Numpy):
    def step(h, x):
        h = ns.np.tanh(w @ h + x)
        return h, h

    h, hs = ns.lax.scan(step, ns.np.zeros(3), xs)
    return ns.np.sum(h) + ns.np.sum(hs**2)


def without_xs(w, xs, ns=Numpy):
    def step(h, _):
        return ns.np.tanh(w @ h), None

    h, nothing = ns.lax.scan(step, xs[0], None, length=4)
    assert nothing is None
    return ns.np.sum(h)


def backward(w, xs, ns=Numpy):
    def step(h, x):
        h = ns.np.tanh(w @ h + x)
        return h, h * x

    h, hs = ns.lax.scan(step, ns.np.zeros(3), xs, reverse=True)
    return ns.np.sum(h) + ns.np.sum(hs * xs)


def tuples(w, xs, ns=Numpy):
    def step(carry, x):
        h, s = carry
        a, (b, c) = x
        h = ns.np.tanh(w @ h + a * b[0])
        s = s + ns.np.sum(c)
        return (h, s), (h, (s, b))

    (h, s), (hs, (ss, bs)) = ns.lax.scan(step, (ns.np.zeros(3), 0.0), (xs, (xs * 2, xs**2)))
    return ns.np.sum(h) + s + ns.np.sum(hs**2) + ns.np.sum(ss) + ns.np.sum(bs * xs)


def dicts(w, xs, ns=Numpy):
    def step(carry, x):
        h = ns.np.tanh(w @ carry["h"] + x["a"] * x["b"])
        return {"h": h}, {"o": h, "p": h * 2}

    carry, ys = ns.lax.scan(step, {"h": ns.np.zeros(3)}, {"a": xs, "b": xs * 2})
    return ns.np.sum(carry["h"]) + ns.np.sum(ys["o"] ** 2) + ns.np.sum(ys["p"] * xs)


def nested(w, xs, ns=Numpy):
    def step(carry, x):
        h = ns.np.tanh(w @ carry["h"] + x["a"] * x["n"]["b"])
        return {"h": h}, {"o": h, "n": {"q": h * 2}}

    carry, ys = ns.lax.scan(step, {"h": ns.np.zeros(3)}, {"a": xs, "n": {"b": xs * 2}})
    return ns.np.sum(carry["h"]) + ns.np.sum(ys["o"] ** 2) + ns.np.sum(ys["n"]["q"] * xs)


def lists(w, xs, ns=Numpy):
    def step(h, x):
        a, b = x
        h = ns.np.tanh(w @ h + a * b)
        return h, [h, a * h]

    h, ys = ns.lax.scan(step, ns.np.zeros(3), [xs, xs * 2])
    return ns.np.sum(h) + ns.np.sum(ys[0] * ys[1])


def numbers(w, xs, ns=Numpy):
    s, ys = ns.lax.scan(lambda s, x: (s + x, s * x), 0.0, xs[:, 0])
    return s * w[0, 0] + ns.np.sum(ys**2)


def branches_in_a_list(w, xs, ns=Numpy):
    total = 0.0
    for i in range(4):
        k = w[0, i % 3]
        branches = [lambda v: v * k, lambda v: ns.np.sin(v) * k * i, ns.np.exp]  # noqa: B023
        total = total + ns.lax.switch(i, branches, xs[i, 0])
        total = total + ns.lax.switch(2 - i, [ns.np.cos, lambda v: v * v * k], xs[i, 1])  # noqa: B023
    return total


def in_another_order(w, xs, ns=Numpy):
    def body(s):
        return {"x": s["x"] * ns.np.cos(s["x"]), "i": s["i"] + 1}

    s = ns.lax.while_loop(lambda s: s["i"] < 3, body, {"i": 0, "x": xs * w[0, 0]})
    return ns.np.sum(s["x"])


PROGRAMS = [
    branches_in_a_list,
    in_another_order,
    chosen,
    summed,
    grown,
    recurrent,
    without_xs,
    backward,
    tuples,
    dicts,
    nested,
    lists,
    numbers,
]


def test_a_function_of_an_earlier_round_is_not_taken_for_that_of_this_one():
    def f(x, v):
        total, g = 0.0, np.cos
        for i in range(4):
            k = v[i]

            def h(u, k=k):
                return u * k

            chosen = h if i % 2 else g
            total += chosen(x) * v[i]
            g = h
        return total

    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(1.5, np.arange(4.0))


def plain(fn):
    return lambda w, xs: fn(w, xs)


def slopes(fn):
    vector, unravel = ravel((W, XS))
    steps = np.eye(len(vector)) * STEP
    return np.array(
        [(fn(*unravel(vector + e)) - fn(*unravel(vector - e))) / (2 * STEP) for e in steps]
    )


@pytest.mark.parametrize("fn", PROGRAMS)
def test_control_flow_is_differentiated(fn):
    want = slopes(fn)
    value, gradient = s2sad.value_and_grad(fn, wrt=("w", "xs"))(W, XS)
    assert value == pytest.approx(fn(W, XS), rel=1e-14)
    assert ravel(gradient)[0] == pytest.approx(want, rel=1e-5, abs=1e-7)
    along = RNG.normal(size=W.shape), RNG.normal(size=XS.shape)
    y, dy = s2sad.jvp(plain(fn), (W, XS), along)
    assert y == pytest.approx(fn(W, XS), rel=1e-14)
    assert dy == pytest.approx(ravel(gradient)[0] @ ravel(along)[0], rel=1e-9)


@pytest.mark.parametrize("fn", PROGRAMS)
def test_values_and_gradients_are_those_of_jax(fn):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    class Jax:
        np = jax.numpy
        lax = jax.lax

    given = jax.numpy.asarray(W), jax.numpy.asarray(XS)
    assert fn(W, XS) == pytest.approx(float(fn(*given, Jax)), rel=1e-12)
    if fn in (grown, in_another_order):  # JAX has no reverse of while_loop
        along = RNG.normal(size=W.shape), RNG.normal(size=XS.shape)
        want = jax.jvp(lambda w, xs: fn(w, xs, Jax), (W, XS), along)[1]
        assert s2sad.jvp(plain(fn), (W, XS), along)[1] == pytest.approx(float(want), rel=1e-10)
        return
    want = jax.grad(lambda w, xs: fn(w, xs, Jax), argnums=(0, 1))(W, XS)
    got = s2sad.grad(fn, wrt=("w", "xs"))(W, XS)
    for one, other in zip(got, want, strict=True):
        assert one == pytest.approx(np.asarray(other), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "xs", [XS, (XS, XS * 2), {"a": XS, "b": (XS, XS[:, 0])}, [XS, XS], None], ids=str
)
def test_scan_gives_what_jax_gives(xs, reverse):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def step(carry, x):
        return carry * 2.0 + 1.0, {"c": carry, "x": x, "pair": (x, carry * 3.0)}

    one = control.scan(step, 1.0, xs, 5, reverse)
    other = jax.lax.scan(step, 1.0, xs, 5, reverse)
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert np.asarray(a) == pytest.approx(np.asarray(b))


def test_signatures_are_those_of_jax():
    jax = pytest.importorskip("jax")
    for name in ("cond", "scan", "while_loop", "fori_loop"):
        ours = list(inspect.signature(getattr(control, name)).parameters)
        theirs = list(inspect.signature(getattr(jax.lax, name)).parameters)
        assert ours == theirs[: len(ours)]


def test_emitted_modules_import_nothing_of_s2sad(tmp_path):
    path = tmp_path / "derived.py"
    home = tmp_path / "own_control.py"
    home.write_text(
        "import numpy as np\n"
        "try:\n"
        "    from s2sad.control import scan\n"
        "except ImportError:\n"
        "    scan = None\n"
        "def f(w, xs):\n"
        "    def step(h, x):\n"
        "        h = np.tanh(w @ h + x)\n"
        "        return h, (h, x)\n"
        "    h, (hs, _) = scan(step, np.zeros(3), xs)\n"
        "    return np.sum(h) + np.sum(hs)\n"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        import own_control

        s2sad.grad(own_control.f).emit(path, W, XS)
        want = s2sad.grad(own_control.f)(W, XS)
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("own_control", None)
    code = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    assert not [line for line in code if "s2sad" in line and "import" in line]
    code = (
        "import sys; sys.modules['s2sad'] = None\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "import derived, numpy as np\n"
        f"w, xs = np.array({W.tolist()}), np.array({XS.tolist()})\n"
        "print(derived.f_grad(w, xs).tolist())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(want.tolist())


@pytest.mark.parametrize("flag", [True, False])
def test_pullback_of_a_choice(flag):
    def chosen(x):
        return control.cond(flag, lambda v: np.sum(v**3), lambda v: np.sum(np.sin(v)), x)

    x = np.array([0.3, 0.5, 0.7])
    _, pullback = s2sad.vjp(chosen, x)
    assert pullback(1.0) == pytest.approx(3 * x**2 if flag else np.cos(x))


def test_gradient_of_a_tangent_through_a_loop():
    def looped(x):
        return np.sum(control.fori_loop(0, 3, lambda i, v: v * np.cos(v) + 0.1 * i, x))

    x, along = np.array([0.3, 0.5, 0.7]), np.array([1.0, -1.0, 0.5])
    product = s2sad.grad(lambda x: s2sad.jvp(looped, (x,), (along,))[1])(x)
    assert product == pytest.approx(s2sad.hvp(looped, (x,), (along,)), rel=1e-12)
