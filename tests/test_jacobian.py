"""Jacobians: against JAX's conventions, differences, and each way against the other."""

import copy
import pickle
import threading
import warnings
from collections import namedtuple
from dataclasses import dataclass

import corpus
import numpy as np
import pytest
from properties import leaves as numbers
from test_jvp import REFUSED, SINGLE

import s2sad
from s2sad import (
    Active,
    ActivityError,
    Const,
    MissingRuleError,
    differentiate,
    jacobian,
)
from s2sad.tree import leaves

WAYS = ("forward", "reverse", "auto")
A = np.arange(12.0).reshape(4, 3) / 10.0
X = np.array([0.1, -0.7, 0.4])
Pair = namedtuple("Pair", "w b")


@dataclass
class Model:
    w: np.ndarray
    scale: float
    steps: int = 2


def layer(x):
    return np.tanh(A @ x)


LAYER = (1.0 - np.tanh(A @ X) ** 2)[:, None] * A


def slopes(f, args, at, step=1e-6):
    """Return differences: by every number of argument `at` those of every number of the result."""
    x, unravel = s2sad.ravel(args[at])
    columns = []
    for k in range(x.size):
        ends = []
        for sign in (1.0, -1.0):
            moved = x.copy()
            moved[k] += sign * step
            given = copy.deepcopy(list(args))
            given[at] = unravel(moved)
            ends.append(numbers(f(*given)))
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    return np.stack(columns, axis=1) if columns else np.zeros((numbers(f(*args)).size, 0))


def matrix(blocks, y, x):
    """Return the blocks of a real Jacobian as one matrix."""
    found = [leaf.value for leaf in leaves(blocks)]
    ins = [np.size(leaf.value) for leaf in leaves(x)]
    outs = [np.size(leaf.value) for leaf in leaves(y)]
    rows = []
    for size in outs:
        mine, found = found[: len(ins)], found[len(ins) :]
        rows.append([np.reshape(b, (size, n)) for b, n in zip(mine, ins, strict=True)])
    return np.block(rows)


# --- arrays and numbers --------------------------------------------------------------------------


@pytest.mark.parametrize("mode", WAYS)
def test_shapes(mode):
    """A block has the shape of the result, and then that of the argument, as in JAX."""
    assert jacobian(layer, mode=mode)(X) == pytest.approx(LAYER)
    m = jacobian(lambda x: np.outer(x, x)[:, :2], mode=mode)(X)
    want = np.zeros((3, 2, 3))
    for i, j in np.ndindex(3, 2):
        want[i, j, i] += X[j]
        want[i, j, j] += X[i]
    assert m == pytest.approx(want)
    assert jacobian(lambda x: x.T @ x, mode=mode)(A).shape == (3, 3, 4, 3)


@pytest.mark.parametrize("mode", WAYS)
def test_numbers(mode):
    """By and of numbers: of a real scalar it is the gradient."""

    def cube(x):
        return x * x * x

    def scaled(x):
        return x * A

    def total(x):
        return np.sum(x * x)

    for x in (2.0, 2):
        found = jacobian(cube, mode=mode)(x)
        assert found == 12.0 and type(found) is float
    found = jacobian(cube, mode=mode)(np.float32(2.0))
    assert found == 12.0 and type(found) is np.float32
    assert jacobian(scaled, mode=mode)(2.0).tolist() == A.tolist()
    assert jacobian(total, mode=mode)(X).tolist() == s2sad.grad(total)(X).tolist()
    zero_d = jacobian(cube, mode=mode)(np.array(2.0))
    assert isinstance(zero_d, np.ndarray) and zero_d.shape == () and zero_d == 12.0


@pytest.mark.parametrize("mode", WAYS)
@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_empty(mode, shape):
    def f(x):
        total = 0.0
        for row in x:
            total = total + np.sum(row)
        return x * 2.0, total, x[:0]

    found = jacobian(f, mode=mode)(np.zeros(shape))
    assert [b.shape for b in found] == [shape + shape, shape, (0, *shape[1:], *shape)]
    assert jacobian(lambda x: x[:0], mode=mode)(X).shape == (0, 3)


@pytest.mark.parametrize("mode", WAYS)
def test_dtypes(mode):
    """A block has the precision of what is differentiated, a Python float that of the result."""

    def f(x, a):
        return a * x

    single = X.astype(np.float32)
    assert jacobian(f, mode=mode)(single, 2.0).dtype == np.float32
    assert jacobian(f, mode=mode)(single, np.ones(3)).dtype == np.float32
    assert jacobian(f, mode=mode)(X, single).dtype == np.float64
    assert jacobian(f, mode=mode)(2.0, single).dtype == np.float32
    assert jacobian(f, mode=mode)(single.astype(np.complex64), 2.0).dtype == np.complex64
    assert jacobian(f, mode=mode)(single, 2j).dtype == np.complex64


# --- complex numbers -----------------------------------------------------------------------------


Z = np.array([1.0 + 2.0j, 0.5 - 0.3j])


@pytest.mark.parametrize("mode", WAYS)
def test_complex(mode):
    """Holomorphic: the derivative. Of a real result dy/da - i dy/db, as under grad."""
    assert jacobian(lambda z: z * z, mode=mode)(Z) == pytest.approx(np.diag(2.0 * Z))
    assert jacobian(lambda z: np.abs(z) ** 2, mode=mode)(Z) == pytest.approx(
        np.diag(2.0 * Z.conj())
    )
    assert jacobian(lambda x: np.exp(1j * x), mode=mode)(X) == pytest.approx(
        np.diag(1j * np.exp(1j * X))
    )

    def loss(z):
        return np.sum(z.real**2 * z.imag)

    assert jacobian(loss, mode=mode)(Z) == pytest.approx(s2sad.grad(loss)(Z))
    number = jacobian(lambda z: z**3, mode=mode)(1.0 + 1.0j)
    assert number == pytest.approx(3.0 * (1.0 + 1.0j) ** 2) and type(number) is complex


@pytest.mark.parametrize("mode", WAYS)
def test_not_holomorphic(mode):
    for f in (lambda z: np.conj(z), lambda z: z * np.abs(z), lambda z: z.real + 0j):
        with pytest.raises(ActivityError, match="not holomorphic") as caught:
            jacobian(f, mode=mode)(Z)
        assert "test_jacobian.py" in str(caught.value)


@pytest.mark.parametrize("mode", WAYS)
def test_real_and_complex_together(mode):
    def f(p):
        return p["a"] * p["z"], np.abs(p["z"]) * p["a"]

    p = {"a": X[:2], "z": Z}
    first, second = jacobian(f, mode=mode)(p)
    assert first["a"] == pytest.approx(np.diag(Z)) and first["z"] == pytest.approx(np.diag(X[:2]))
    assert second["a"].dtype == np.float64 and second["a"] == pytest.approx(np.diag(np.abs(Z)))
    assert second["z"] == pytest.approx(np.diag(X[:2] * Z.conj() / np.abs(Z)))


# --- structures and several arguments ------------------------------------------------------------


@pytest.mark.parametrize("mode", WAYS)
def test_structures(mode):
    """The structure of the result, of structures of the arguments; None beside what is no float."""

    def f(model, pair, n):
        y = np.tanh(model.w @ pair.w * model.scale)
        return {"y": y + pair.b, "n": n, "both": [np.sum(pair.w) * model.scale, "text"]}

    model, pair = Model(A, 0.5), Pair(X, 2.0)
    found = jacobian(f, (0, "pair"), mode=mode)(model, pair, 3)
    assert list(found) == ["y", "n", "both"] and found["n"] is None and found["both"][1] is None
    by_model, by_pair = found["y"]
    assert type(by_model) is Model and type(by_pair) is Pair
    assert by_model.w.shape == (4, 4, 3) and by_model.scale.shape == (4,)
    assert by_model.steps is None
    assert by_pair.w.shape == (4, 3) and by_pair.b.tolist() == [1.0] * 4
    assert found["both"][0][0].scale == pytest.approx(X.sum())
    assert type(found["both"][0][0].scale) is float
    args = [model, pair, 3]
    y = f(*args)
    for at in (0, 1):
        mine = jacobian(f, at, mode=mode)(*args)
        want = slopes(f, args, at)
        assert matrix(mine, y, args[at]) == pytest.approx(want, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("mode", WAYS)
def test_which_parameters(mode):
    def f(x, y):
        return x * y

    def g(x: Const, y: Active, z: Active):
        return x * y * z

    def h(x: Const, y: Active):
        return x * y

    assert jacobian(f, mode=mode)(2.0, 3.0) == 3.0
    assert jacobian(f, "y", mode=mode)(2.0, 3.0) == 2.0
    assert jacobian(f, (1,), mode=mode)(2.0, 3.0) == (2.0,)
    assert jacobian(f, (1, "x"), mode=mode)(2.0, 3.0) == (2.0, 3.0)
    assert jacobian(f, -1, mode=mode)(x=2.0, y=3.0) == 2.0
    assert jacobian(g, mode=mode)(2.0, 3.0, 5.0) == (10.0, 6.0)
    assert jacobian(h, mode=mode)(2.0, 3.0) == 2.0
    with pytest.raises(ActivityError, match="names no parameter"):
        jacobian(f, "w", mode=mode)
    with pytest.raises(ActivityError, match="declares Const"):
        jacobian(g, "x", mode=mode)
    with pytest.raises(ActivityError, match="integer|int64"):
        jacobian(f, mode=mode)(np.arange(3), 2.0)
    with pytest.raises(TypeError):
        jacobian(f, mode=mode)(1.0)


def test_a_part_of_a_structure():
    def f(model, x):
        return model["w"] @ x * model["scale"]

    model = {"other": np.ones(2), "w": A, "scale": 2.0, "n": 3}
    whole = jacobian(f)(model, X)
    for mode in WAYS:
        assert jacobian(f, "model.w", mode=mode)(model, X) == pytest.approx(whole["w"])
        by_scale, by_x, by_w = jacobian(f, ("model.scale", "x", "model.w"), mode=mode)(model, X)
        assert by_scale == pytest.approx(whole["scale"]) and by_w == pytest.approx(whole["w"])
        assert by_x == pytest.approx(2.0 * A)


@pytest.mark.parametrize("mode", WAYS)
def test_aux(mode):
    def f(x):
        return x * x, {"x": x, "n": 3}

    found, aux = jacobian(f, mode=mode, has_aux=True)(X)
    assert found == pytest.approx(np.diag(2.0 * X))
    assert aux["x"].tolist() == X.tolist() and aux["n"] == 3


@pytest.mark.parametrize(
    ("y", "what"),
    [
        (lambda x: x * x, "a 1-d array"),
        (lambda x: np.sum(x), "a float"),
        (lambda x: [x, 1], "a list"),
        (lambda x: (x, 1, 2), "a tuple of 3"),
        (lambda x: {"y": x}, "a dict"),
        (lambda x: None, "None"),
        (lambda x: "ab", "a string"),
    ],
)
def test_aux_of_what_is_no_pair(y, what):
    calls = [lambda mode=mode: jacobian(y, mode=mode, has_aux=True)(X) for mode in WAYS]
    calls += [
        lambda: s2sad.vjp(y, X, has_aux=True),
        lambda: s2sad.jvp(y, (X,), (X,), has_aux=True),
    ]
    for call in calls:
        with pytest.raises(ActivityError, match=rf"must return \(y, aux\), but it returns {what}"):
            call()


@pytest.mark.parametrize("mode", WAYS)
def test_no_derivative(mode):
    for f in (lambda x: int(x[0]), lambda x: None, lambda x: "text"):
        with pytest.raises(ActivityError) as caught:
            jacobian(f, mode=mode)(X)
        assert "test_jacobian.py" in str(caught.value)


# --- what runs, and how often --------------------------------------------------------------------


@pytest.mark.parametrize("mode", WAYS)
def test_the_value_is_computed_once(mode, capsys):
    def f(x):
        print("run")
        return np.sin(x)

    rng = np.random.default_rng(3)

    def drawn(x, rng):
        return rng.standard_normal((5, 3)) @ x

    jacobian(f, mode=mode)(X)
    assert capsys.readouterr().out == "run\n"
    want = np.random.default_rng(3).standard_normal((5, 3))
    assert jacobian(drawn, mode=mode)(X, rng) == pytest.approx(want)
    assert rng.standard_normal() == np.random.default_rng(3).standard_normal(16)[-1]


def test_auto_takes_what_there_are_fewer_of():
    """A result that has more numbers than the arguments is gone through by columns."""
    wide, tall = jacobian(lambda x: A.T @ np.sin(x)), jacobian(layer)
    assert wide(np.ones(4)) == pytest.approx(A.T * np.cos(1.0))
    assert tall(X) == pytest.approx(LAYER)
    assert not wide._forward._derived.entries and tall._forward._derived.entries
    assert tall(X).tobytes() == tall(X).tobytes() == jacobian(layer, mode="forward")(X).tobytes()
    wide(np.ones(4))
    assert not wide._forward._derived.entries


def test_auto_runs_what_draws_or_writes_once(capsys):
    """What could be told by running twice is gone through by rows."""
    log = []

    def printed(x):
        print("run")
        return A @ x

    def noted(x):
        log.append(1.0)
        return A @ x

    def drawn(x):
        return np.random.standard_normal((4, 3)) @ x

    for f in (printed, noted, drawn):
        J = jacobian(f)
        assert J(X).shape == (4, 3) and not J._forward._derived.entries
    assert capsys.readouterr().out == "run\n" and log == [1.0]


def test_auto_takes_the_only_way_there_is():
    namespace = {"np": np}
    exec("def f(x): return float(str(x))\ndef g(x): return float(str(x))", namespace)
    f, g = namespace["f"], namespace["g"]

    @s2sad.pullback(f)
    def pull(out_bar, out, x):
        return 1.0 * out_bar

    @s2sad.pushforward(g)
    def push(out, x, x_dot):
        return 1.0 * x_dot

    assert jacobian(lambda x: f(x) * x)(2.0) == 4.0
    assert jacobian(lambda x: g(x) * x)(2.0) == 4.0
    assert jacobian(lambda x: g(x[0]) * x[1])(X[:2]).tolist() == [X[1], X[0]]
    with pytest.raises(MissingRuleError, match="no pushforward"):
        jacobian(lambda x: f(x) * x, mode="forward")(2.0)
    with pytest.raises(MissingRuleError):
        jacobian(lambda x: g(x) * x, mode="reverse")(2.0)


@pytest.mark.parametrize("mode", WAYS)
def test_arguments_stay(mode):
    def f(x, buffer):
        buffer[:] = x * x
        x[0] = 1.0
        return buffer * x

    x, buffer = X.copy(), np.zeros(3)
    found = jacobian(f, mode=mode)(x, buffer)
    assert x.tolist() == X.tolist() and buffer.tolist() == [0.0] * 3
    want = np.diag(3.0 * X**2)
    want[0, 0] = 2.0 * X[0]
    assert found == pytest.approx(want)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", sorted(set(corpus.PROGRAMS) - set(REFUSED)))
def test_corpus(name):
    """Forward and reverse agree on programs of the corpus, and with differences."""
    program = corpus.PROGRAMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args = program.arguments()
        if any(type(args[i]) is int for i in program.wrt):
            pytest.skip("an integer is taken as a float, by the oracle not")
        y = program.f(*program.arguments())
        if not leaves(y):
            pytest.skip("nothing is returned")
        some = program.wrt[:2]
        there = [jacobian(program.f, some, mode=m)(*args) for m in ("forward", "reverse")]
        forward, reverse = (numbers(j) for j in there)
        scale = max(1.0, np.abs(forward).max(initial=0.0))
        single = name.rpartition(".")[2] in SINGLE
        loose = 1e-5 if single else 1e-10
        assert forward == pytest.approx(reverse, rel=loose, abs=loose * scale)
        if single or np.iscomplexobj(forward) or forward.size > 40:
            return
        for at in program.wrt[:1]:
            mine = matrix(jacobian(program.f, at)(*args), y, args[at])
            want = slopes(program.f, program.arguments(), at)
            assert mine == pytest.approx(want, rel=1e-5, abs=1e-7 * scale)


@pytest.mark.parametrize("mode", ("forward", "reverse"))
def test_in_place(mode):
    """Rows of what is written: against differences."""

    def smooth(u, r):
        for _ in range(3):
            u[1:-1] += r * (u[:-2] - 2.0 * u[1:-1] + u[2:])
        return u * r

    def solved(M, b):
        n = len(b)
        for j in range(n):
            for i in range(j + 1, n):
                m = M[i, j] / M[j, j]
                M[i, j:] -= m * M[j, j:]
                b[i] -= m * b[j]
        x = np.zeros_like(b)
        for i in range(n - 1, -1, -1):
            x[i] = (b[i] - M[i, i + 1 :] @ x[i + 1 :]) / M[i, i]
        return x

    u = np.sin(np.arange(6.0))
    M = A[:3] + 2.0 * np.eye(3)
    for f, args in ((smooth, (u, 0.3)), (solved, (M, X))):
        for at in (0, 1):
            mine = jacobian(f, at, mode=mode)(*copy.deepcopy(args))
            got = np.reshape(mine, (np.size(f(*copy.deepcopy(args))), -1))
            assert got == pytest.approx(slopes(f, args, at), rel=1e-6, abs=1e-8)


# --- the operator --------------------------------------------------------------------------------


def test_decorated():
    @differentiate(wrt="x")
    def f(n, x):
        return n * x * x

    class Net:
        def __init__(self):
            self.w = A

        @differentiate
        def run(self, x):
            return self.w @ x

    assert f.jacobian(2, X) == pytest.approx(np.diag(4.0 * X))
    net = Net()
    assert net.run.jacobian(X) == pytest.approx(A)
    assert "run_vjp" in net.run.jacobian.source(X)
    assert f.jacobian is f.jacobian and f.jacobian.__name__ == "f_jacobian"


def test_operator(tmp_path):
    J = jacobian(at_top)
    assert pickle.loads(pickle.dumps(J))(X) == pytest.approx(J(X))
    assert repr(J).startswith("<s2sad.jacobian(") and "Jacobian of at_top" in J.__doc__
    assert str(J.__signature__) == "(x)"
    assert "def at_top_vjp(x):" in J.source(X)
    assert "def at_top_jvp(x, x_dots):" in J.source(2.0)
    assert "def at_top_jvp(x, x_dots):" in jacobian(at_top, mode="forward").source(X)
    path = jacobian(at_top, mode="forward").emit(tmp_path / "columns.py", X)
    names = {}
    exec(path.read_text(), names)
    _, columns = names["at_top_jvp"](X, list(np.eye(3)))
    assert np.stack(columns, axis=1) == pytest.approx(J(X))
    with pytest.raises(ValueError, match="mode='sideways'"):
        jacobian(at_top, mode="sideways")


def at_top(x):
    return np.sin(x) * x


def test_threads():
    J, found = jacobian(at_top), []
    want = J(X)
    workers = [threading.Thread(target=lambda: found.append(J(X))) for _ in range(8)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert all(f.tobytes() == want.tobytes() for f in found) and len(found) == 8


# --- beside JAX ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", WAYS)
def test_beside_jax(mode):
    """The same structure, shapes and numbers as jacfwd and jacrev."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def written(np):
        def f(p, x):
            h = np.tanh(p["W"] @ x + p["b"])
            return {"h": h, "pair": (np.sum(h), [np.outer(h, x)])}

        return f

    p = {"W": A, "b": np.array([0.1, 0.2, -0.3, 0.4])}
    mine = jacobian(written(np), (0, 1), mode=mode)(p, X)
    for other in (jax.jacfwd, jax.jacrev):
        theirs = other(written(jax.numpy), (0, 1))(p, X)
        assert jax.tree_util.tree_structure(mine) == jax.tree_util.tree_structure(theirs)
        pairs = zip(jax.tree_util.tree_leaves(mine), jax.tree_util.tree_leaves(theirs))
        for one, two in pairs:
            assert np.shape(one) == two.shape
            assert np.asarray(one) == pytest.approx(np.asarray(two), abs=1e-14)
    holomorphic = jax.jacrev(lambda z: z * z, holomorphic=True)(Z)
    assert jacobian(lambda z: z * z, mode=mode)(Z) == pytest.approx(np.asarray(holomorphic))
    loss = jax.jacrev(lambda z: jax.numpy.abs(z) ** 2)(Z)
    assert jacobian(lambda z: np.abs(z) ** 2, mode=mode)(Z) == pytest.approx(np.asarray(loss))
    along = jax.jacfwd(lambda x: jax.numpy.exp(1j * x))(X)
    assert jacobian(lambda x: np.exp(1j * x), mode=mode)(X) == pytest.approx(np.asarray(along))


# --- several cotangents --------------------------------------------------------------------------


def test_rows():
    """A pullback takes several cotangents, stacked."""
    y, pullback = s2sad.vjp(layer, X)
    assert pullback.rows(np.eye(4)) == pytest.approx(LAYER)
    assert pullback.rows(np.eye(4, dtype=int)[:2]) == pytest.approx(LAYER[:2])
    assert pullback.rows(np.zeros((0, 4))).shape == (0, 3)
    assert pullback(np.ones(4)) == pytest.approx(LAYER.sum(axis=0))


def test_rows_of_structures():
    def f(p, x):
        return {"h": p["W"] @ x, "sum": np.sum(p["W"]) * p["b"]}

    p = {"W": A, "b": 2.0, "n": 3}
    _, pullback = s2sad.vjp(f, p, X)
    ones = {"h": np.zeros((5, 4)), "sum": np.ones(5)}
    by_p, by_x = pullback.rows(ones)
    assert by_p["W"].shape == (5, 4, 3) and by_p["b"].shape == (5,) and by_p["n"] is None
    assert by_p["W"] == pytest.approx(np.full((5, 4, 3), 2.0)) and by_x.shape == (5, 3)
    _, pullback = s2sad.vjp(lambda x: x * x, 3.0)
    assert pullback.rows(np.array([1.0, 2.0])).tolist() == [6.0, 12.0]


def test_rows_that_do_not_fit():
    _, pullback = s2sad.vjp(layer, X)
    with pytest.raises(ValueError, match="stacked"):
        pullback.rows(1.0)
    with pytest.raises(ValueError, match="result's shape"):
        pullback.rows(np.ones(4))
    with pytest.raises(ValueError, match="result's shape"):
        pullback.rows(np.ones((4, 3)))
    _, pullback = s2sad.vjp(lambda x: (x, x), X)
    with pytest.raises(ValueError, match="stacked"):
        pullback.rows((np.eye(3), np.eye(2, 3)))
    _, pullback = s2sad.vjp(lambda x: (x, np.sum(x)), X)
    with pytest.raises(ValueError, match="stacked"):
        pullback.rows((np.eye(3), 1.0))


def test_a_matrix_of_cotangents():
    _, pullback = s2sad.vjp(layer, X)
    assert pullback(np.eye(4)) == pytest.approx(LAYER)
    assert pullback(np.eye(4)[:1]).shape == (1, 3) and pullback(np.zeros((0, 4))).shape == (0, 3)
    _, pullback = s2sad.vjp(lambda x: {"y": layer(x), "sum": np.sum(x), "n": 3}, X)
    found = pullback({"y": np.eye(4), "sum": np.zeros(4), "n": None})
    assert found == pytest.approx(LAYER)


@pytest.mark.parametrize(
    "dy",
    [
        1.0,
        np.ones(3),
        np.eye(3),
        np.ones((4, 1)),
        np.ones((2, 2, 4)),
        np.ones((2, 4), complex),
        np.full((2, 4), "a"),
        [1.0, 2.0, 3.0, 4.0],
        (np.ones(4),),
        None,
    ],
)
def test_cotangents_that_do_not_fit(dy):
    _, pullback = s2sad.vjp(layer, X)
    with pytest.raises(ActivityError, match="The cotangent of layer"):
        pullback(dy)


@pytest.mark.parametrize("dy", [1.0, np.ones(2), (np.eye(3), np.ones(2)), (np.eye(3), 1.0)])
def test_cotangents_of_a_pair_that_do_not_fit(dy):
    _, pullback = s2sad.vjp(lambda x: (x, np.sum(x)), X)
    with pytest.raises(ActivityError, match="The cotangent of the lambda"):
        pullback(dy)
    _, pullback = s2sad.vjp(lambda x: np.sum(x), X)
    with pytest.raises(ActivityError, match="it must be a scalar"):
        pullback(np.ones(3))


def test_cotangents_of_objects_that_do_not_fit():
    def f(x):
        return Model(A @ x, np.sum(x))

    _, pullback = s2sad.vjp(f, X)
    right = pullback(Model(np.ones(4), 1, None))
    assert right == pytest.approx(A.sum(axis=0) + 1.0)
    for wrong in (Model(1.0, 1.0), Model(np.ones((4, 1)), 1.0), Model(None, 1.0), {"w": 1.0}, None):
        with pytest.raises(ActivityError, match="The cotangent of f"):
            pullback(wrong)
    model = Model(A, 2.0)
    for wrong in (Model(1.0, 1.0), Model(A[:1], 1.0), Model(A, None), 1.0):
        with pytest.raises(ActivityError, match="The tangent of model"):
            s2sad.jvp(lambda model: model.w @ X * model.scale, (model,), (wrong,))


def test_made_inside_what_is_differentiated():
    """More of that in test_operators."""
    J = jacobian(layer)

    def called(x):
        return np.sum(J(x) ** 2)

    def made(x):
        return np.sum(jacobian(lambda t: t**3 * x)(2.0)) * x[0]

    for f in (called, made):
        for i, e in enumerate(np.eye(len(X)) * 1e-5):
            wanted = (f(X + e) - f(X - e)) / 2e-5
            assert s2sad.grad(f)(X)[i] == pytest.approx(wanted, rel=1e-7, abs=1e-9)
    assert s2sad.jvp(J, (X,), (X,))[0] == pytest.approx(J(X))
    with pytest.raises(ActivityError, match="grad needs a real scalar"):
        s2sad.grad(J)(X)
    assert jacobian(J)(X).reshape(-1) == pytest.approx(slopes(J, (X,), 0).reshape(-1), abs=1e-8)


def padded(x):
    return np.sum(np.pad(x, 2, constant_values=0.5) ** 3)


@pytest.mark.parametrize("mode", ["auto", "reverse", "forward"])
def test_rows_of_a_hessian_are_its_columns(mode):
    """A gradient that cannot be read backward is differentiated along its cotangent."""
    x = np.arange(1.0, 5.0)
    found = s2sad.jacobian(s2sad.grad(padded), mode=mode)(x)
    np.testing.assert_allclose(found, np.diag(6.0 * x), rtol=1e-14)
