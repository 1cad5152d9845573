"""checkpoint: derivatives as without it, calls run once more, and what must not run twice."""

import functools
import sys
import tracemalloc
import types
from pathlib import Path

import numpy as np
import pytest

import s2sad
from s2sad import checkpoint, grad
from s2sad.checkpoints import is_checkpointed
from s2sad.control import cond, scan, while_loop

sys.path.insert(0, str(Path(__file__).parent))

from corpus import PROGRAMS

X = np.linspace(0.1, 1.0, 5)
CALLS = []


def plain(u, dt):
    for _ in range(3):
        u = u + dt * np.sin(u) * u
    return u


step = checkpoint(plain)


def run(u, dt, step):
    for _ in range(4):
        u = step(u, dt)
    return np.sum(u**2)


def same(one, other):
    assert np.array_equal(s2sad.ravel(one)[0], s2sad.ravel(other)[0])


def test_same_gradient_in_every_mode():
    for wrt in (0, 1, (0, 1)):
        same(grad(run, wrt)(X, 0.1, step), grad(run, wrt)(X, 0.1, plain))
    _, pullback = s2sad.vjp(run, X, 0.1, step, wrt=(0, 1))
    same(pullback(1.0), grad(run, (0, 1))(X, 0.1, plain))
    same(pullback(1.0), grad(run, (0, 1))(X, 0.1, plain))
    tangents = (X, 1.0, None)
    same(s2sad.jvp(run, (X, 0.1, step), tangents), s2sad.jvp(run, (X, 0.1, plain), tangents))


def test_text():
    text = grad(run).source(X, 0.1, step)
    assert "plain_reverse(plain_forward(u, dt), dt, u_bar)" in text
    assert "saved.append(u)\n        u = step(u, dt)" in text


def test_what_is_kept_is_the_arguments():
    def peak(step):
        u = np.full(100_000, 0.1)
        grad(run)(u, 0.1, step)
        tracemalloc.start()
        grad(run)(u, 0.1, step)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size / u.nbytes

    assert peak(step) < 0.6 * peak(plain)


def test_the_function_itself():
    assert step(X, 0.1) == pytest.approx(plain(X, 0.1))
    assert step.__name__ == "plain" and is_checkpointed(step) and not is_checkpointed(plain)

    @checkpoint
    def with_defaults(x, *, scale=2.0):
        """Scale."""
        return scale * x

    assert with_defaults(3.0) == 6.0 and with_defaults.__doc__ == "Scale."
    assert grad(lambda x: with_defaults(x))(3.0) == 2.0


class Net:
    def __init__(self):
        self.w = 0.3 * np.eye(2)
        self.k = 3

    @checkpoint
    def layer(self, h):
        return np.tanh(self.w @ h) * self.k

    def bare(self, h):
        return np.tanh(self.w @ h) * self.k

    def run(self, h, name):
        for _ in range(3):
            h = self.layer(h) if name == "layer" else self.bare(h)
        self.w = self.w * 2.0
        return np.sum(h)

    def __call__(self, h):
        return self.bare(h)


def test_methods_whose_object_changes_afterwards():
    def f(m, h, name):
        return m.run(h, name)

    h = np.array([0.1, 0.5])
    got, expected = (grad(f, (0, 1))(Net(), h, name) for name in ("layer", "bare"))
    same((got[0].w, got[1]), (expected[0].w, expected[1]))


def test_bound_methods_partials_and_callable_objects():
    net, h = Net(), np.array([0.1, 0.5])
    half = checkpoint(functools.partial(plain, dt=0.5))
    same(grad(lambda u: np.sum(half(u)))(X), grad(lambda u: np.sum(plain(u, dt=0.5)))(X))
    for f in (checkpoint(net.bare), checkpoint(net)):
        same(grad(lambda h, f=f: np.sum(f(h)))(h), grad(lambda h: np.sum(net.bare(h)))(h))


def test_closures_and_recursion():
    def make(scale):
        return checkpoint(lambda x: np.sin(x) * scale)

    f = make(2.0)
    assert grad(lambda x: f(f(x)))(0.3) == pytest.approx(
        4.0 * np.cos(0.3) * np.cos(2.0 * np.sin(0.3))
    )
    assert grad(lambda x: power(x, 5))(1.1) == pytest.approx(5 * 1.1**4)


W = np.sin(np.arange(25.0)).reshape(5, 5) * 0.5


def decorated_inside(w, x, mark):
    @mark
    def layer(h):
        return np.tanh(w @ h)

    for _ in range(3):
        x = layer(x)
    return np.sum(x)


def marked_where_used(w, x, mark):
    layer = mark(lambda h: np.tanh(w @ h))
    for _ in range(3):
        x = layer(x)
    return np.sum(x)


def marked_in_a_loop(w, x, mark):
    for k in range(3):
        x = mark(lambda h: np.tanh(w @ h) * k + h)(x)  # noqa: B023
    return np.sum(x)


def a_global_one(w, x, mark):
    first, then = mark(plain), mark(functools.partial(plain, dt=0.2))
    return np.sum(w @ first(x, 0.1) * then(x))


def in_a_scan(w, x, mark):
    @mark
    def step(h, t):
        h = np.tanh(w @ h + t)
        return h, h[0]

    h, firsts = scan(step, x, np.arange(4.0))
    return np.sum(h) + np.sum(firsts**2)


def around_a_scan(w, x, mark):
    @mark
    def run(h):
        return scan(lambda h, t: (np.tanh(w @ h + t), None), h, np.arange(3.0))[0]

    return np.sum(run(run(x)))


def in_a_while_loop(w, x, mark):
    body = mark(lambda s: (np.tanh(w @ s[0]), s[1] + 1))
    return np.sum(while_loop(lambda s: s[1] < 3, body, (x, 0))[0])


def in_branches(w, x, mark):
    yes = mark(lambda v: np.tanh(w @ v))
    return np.sum(cond(x[0] > 0.0, yes, lambda v: v, x))


def one_in_another(w, x, mark):
    @mark
    def inner(h):
        return np.tanh(w @ h)

    @mark
    def outer(h):
        return inner(inner(h)) * h

    return np.sum(outer(outer(x)))


def it_raises(w, x, mark):
    @mark
    def positive(h):
        if h[0] < -9.0:
            raise ValueError(f"{h[0]} is too small")
        return np.sqrt(np.abs(h)) + w @ h

    return np.sum(positive(positive(x)))


INSIDE = [
    *(decorated_inside, marked_where_used, marked_in_a_loop, a_global_one, in_a_scan),
    *(around_a_scan, in_a_while_loop, in_branches, one_in_another, it_raises),
]


@pytest.mark.parametrize("f", INSIDE)
def test_marked_inside_the_function(f):
    expected = grad(f, (0, 1))(W, X, lambda g: g)
    assert np.allclose(s2sad.ravel(grad(f, (0, 1))(W, X, checkpoint))[0], s2sad.ravel(expected)[0])
    text = grad(f, (0, 1)).source(W, X, checkpoint)
    assert "_reverse(" in text and "_forward(" in text and "checkpoint(" not in text
    tangents = np.cos(W), X, None
    same(s2sad.jvp(f, (W, X, checkpoint), tangents), s2sad.jvp(f, (W, X, lambda g: g), tangents))


def one_that_calls_another(w, x):
    @checkpoint
    def layer(h):
        return np.tanh(w @ h)

    @checkpoint
    def twice(h):
        return layer(layer(h))

    for _ in range(3):
        x = twice(x)
        w = w * 0.5 + 0.1
    return np.sum(x)


def one_that_asks_another(w, x):
    k = 1

    def large():
        return k > 2

    layer = checkpoint(lambda h: np.sin(w @ h) if large() else np.cos(h) * h)
    for _ in range(4):
        x = layer(x)
        k = k + 1
    return np.sum(x)


@pytest.mark.parametrize("f", [one_that_calls_another, one_that_asks_another])
def test_variables_of_inner_functions_that_change(f):
    """A closure sees its variables as they are when it is run, not as they were in the call."""
    for derive in (grad(f), lambda w, x: s2sad.vjp(f, w, x)):
        with pytest.raises(s2sad.UnsupportedError, match="reads a variable that may have changed"):
            derive(W, X)


def decorated(w, x):
    @checkpoint
    def layer(h):
        return np.tanh(w @ h)

    @s2sad.checkpoint
    def twice(h):
        return layer(layer(h))

    for _ in range(3):
        x = twice(x)
    return np.sum(checkpoint(lambda h: h * h)(x))


def test_what_an_inner_one_keeps(tmp_path):
    text = s2sad.source(decorated, args=(W, X))
    assert "saved.append((x, layer))\n        x = twice(x)" in text
    assert "twice_reverse(twice_forward(" in text
    assert "checkpoint(" not in text and "@" not in text.replace(" @ ", "")
    s2sad.emit(decorated, tmp_path / "m.py", args=(W, X))
    space = {}
    exec((tmp_path / "m.py").read_text(), space)
    expected = grad(decorated_inside)(W, np.tanh(W @ X), lambda g: g)
    assert expected.shape == space["decorated_grad"](W, X).shape
    h = 1e-6
    slope = (decorated(W + h, X) - decorated(W - h, X)) / (2.0 * h)
    assert np.sum(space["decorated_grad"](W, X)) == pytest.approx(slope, rel=1e-7)


@checkpoint
def power(x, n):
    return x if n == 1 else x * power(x, n - 1)


def test_arguments_that_are_written_afterwards():
    def f(u, step):
        h = np.zeros(5)
        total = 0.0
        for i in range(3):
            h[:] = u * i
            total += np.sum(step(h, 0.1) ** 2)
            h *= 2.0
            total += np.sum(step(h[1:], 0.2))
        return total

    assert np.allclose(grad(f)(X, step), grad(f)(X, plain), rtol=1e-14)


def test_emitted(tmp_path):
    path = s2sad.emit(run, tmp_path / "m.py", args=(X, 0.1, step))
    assert "import s2sad" not in path.read_text() and "from s2sad" not in path.read_text()


def noisy(x, rng):
    return x * rng.normal()


def writes(x, rng):
    x[0] = x[0] * 2.0
    return x * 3.0


def prints(x, rng):
    print("running")
    return x * x


def deep(x, rng):
    return noisy(x, rng)


REFUSED = {
    noisy: "calls a function that may give another result",
    writes: "writes into `x`",
    prints: "calls a function that may give another result",
    deep: "noisy calls a function that may give another result",
}


@pytest.mark.parametrize("f", REFUSED)
def test_what_may_not_run_twice(f):
    again = checkpoint(f)
    with pytest.raises(s2sad.UnsupportedError, match=REFUSED[f]):
        grad(lambda x, rng: np.sum(again(x, rng)))(X, np.random.default_rng(0))


TABLE = np.arange(5.0)


@checkpoint
def from_outside(x):
    return x * x * TABLE


def test_data_from_outside():
    assert np.allclose(grad(lambda x: np.sum(from_outside(x)))(X), 2.0 * X * TABLE)
    with pytest.raises(s2sad.UnsupportedError, match="reads `TABLE` from outside"):
        s2sad.vjp(lambda x: from_outside(x), X)

    def f(x):
        y = from_outside(x)
        TABLE[0] = TABLE[0] + 1.0
        return np.sum(y)

    with pytest.raises(s2sad.UnsupportedError):
        grad(f)(X)


def test_bad_input():
    with pytest.raises(TypeError, match="needs a function"):
        checkpoint(3)
    with pytest.raises(s2sad.SourceError, match="not written in Python"):
        checkpoint(np.sin)


def helpers(program):
    """Return the functions of a program's module that it may call."""
    space = program.f.__globals__
    return {
        n: f
        for n, f in space.items()
        if isinstance(f, types.FunctionType) and f.__globals__ is space and f is not program.f
    }


CALLING = [
    name
    for name, p in PROGRAMS.items()
    if isinstance(p.f, types.FunctionType) and set(p.f.__code__.co_names) & set(helpers(p))
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CALLING)
def test_every_program_with_its_helpers_checkpointed(name, monkeypatch):
    p = PROGRAMS[name]
    expected = grad(p.f, wrt=p.wrt)(*p.arguments())
    for n, f in helpers(p).items():
        if n in p.f.__code__.co_names:
            monkeypatch.setitem(p.f.__globals__, n, checkpoint(f))
    try:
        got = grad(p.f, wrt=p.wrt)(*p.arguments())
    except s2sad.UnsupportedError as error:
        assert "A checkpointed function is run twice" in error.reason
        return
    assert np.allclose(s2sad.ravel(got)[0], s2sad.ravel(expected)[0], rtol=1e-12, atol=1e-14)


@checkpoint
def cubed(v, w):
    return np.sin(v) * v * w[-1]


@checkpoint
def pair(v):
    return v * v, np.sum(v) * v


@checkpoint
def tail(v):
    return v[1:]


@checkpoint
def held(p):
    return p.v * p.v * p.n


@checkpoint
def gathered(v, *rest, scale, **more):
    return v * scale * rest[0] * more["q"]


class Held:
    def __init__(self, v):
        self.v = v
        self.n = 1.0


def number_of_an_array(x):
    u = x * 1.0
    s = 0.0
    for k in range(4):
        s += np.sum(cubed(u[k], u))
        u[k] = s
    return s


def list_that_grows(x):
    vs = [x * 1.0, x * 2.0]
    s = np.zeros(5)
    for _ in range(3):
        s = s + cubed(vs[0], vs)
        vs.append(s * 0.1)
        vs[0] = vs[0] * 1.5
    return np.sum(s)


def array_in_a_tuple(x):
    a = x * 1.0
    p = (x * 2.0, a)
    s = np.zeros(5)
    for _ in range(3):
        s = s + cubed(a, p)
        a[1] = a[0] * 2.0
    return np.sum(s)


def object_that_changes(x):
    p = Held(x * 1.0)
    s = np.zeros(5)
    for _ in range(3):
        s = s + held(p)
        p.n = p.n * 2.0
        p.v[0] = s[0]
    return np.sum(s)


def results_that_are_written(x):
    u, s = x * 1.0, 0.0
    for _ in range(3):
        u, w = pair(u)
        u[1] = 0.5 * u[0]
        s += np.sum(w * w)
    return s


def result_that_is_a_view(x):
    u = x * 1.0
    v = tail(u)
    v[2] = u[2] * u[1]
    return np.sum(u * u * u[0])


def one_of_two(x):
    a, b = x * 1.0, x * 2.0
    c = a if x[0] > 0.0 else b
    y = cubed(c, [a])
    c[0] = 9.0 * x[1]
    a[1] *= 2.0
    return np.sum(y * a * cubed(c, [b]))


def arguments_gathered(x):
    a = x * 1.0
    args = (a, a)
    y = gathered(*args, scale=3.0, q=x)
    a[0] = 0.0
    return np.sum(y * a)


def index_that_changes(x):
    at = np.array([0, 1, 2])
    first = checkpoint(lambda v, i: v[i] * v[i])
    s = 0.0
    for k in range(3):
        s += np.sum(first(x, at))
        at[0] = k
    return s


CHANGING = [
    *(number_of_an_array, list_that_grows, array_in_a_tuple, object_that_changes),
    *(results_that_are_written, result_that_is_a_view, one_of_two, arguments_gathered),
    index_that_changes,
]


@pytest.mark.parametrize("f", CHANGING)
def test_what_is_given_changes_afterwards(f):
    """The second run sees what the first one saw; pullbacks may run more than once."""
    slopes = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(5)]
    _, pullback = s2sad.vjp(f, X)
    for gradient in (grad(f)(X), pullback(1.0), pullback(1.0)):
        assert np.allclose(gradient, slopes, rtol=1e-5, atol=1e-7)


@checkpoint
def times_pairs(v, pairs):
    for a, b in pairs:
        v = v * a + b
    return v


@checkpoint
def times_held(v, p):
    for a in p.v:
        v = v * a
    return v


@checkpoint
def times_outside(v):
    return v * v * len(list(OUTSIDE))


OUTSIDE = iter([1.0, 2.0])


def read_once(x):
    return np.sum(times_pairs(x, zip([2.0, 3.0], [1.0, 1.0], strict=True)))


def read_once_in_an_object(x):
    return np.sum(times_held(x, Held(zip([2.0], [3.0], strict=True))))


def read_once_outside(x):
    return np.sum(times_outside(x))


@pytest.mark.parametrize("f", [read_once, read_once_in_an_object, read_once_outside])
def test_what_can_be_read_once_is_not_given_twice(f):
    with pytest.raises(s2sad.UnsupportedError, match="read only once"):
        grad(f)(X)


def test_what_can_be_read_again_is():
    pairs = [(2.0, 1.0), (3.0, 1.0)]
    assert np.array_equal(grad(lambda x: np.sum(times_pairs(x, pairs)))(X), np.full(5, 6.0))
