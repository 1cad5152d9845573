"""Forward mode: every program of the corpus, its text, and what jvp promises."""

import collections
import contextlib
import copy
import difflib
import functools
import itertools
import json
import math
import os
import subprocess
import sys
import warnings
from pathlib import Path

import corpus
import duals
import numpy as np
import programs
import pytest
import tables
import test_whole_rules as whole
from properties import leaves, same
from sampling import FULL
from slopes import check

import s2sad
from s2sad import (
    Active,
    ActivityError,
    AliasError,
    BatchDuplicated,
    Const,
    Duplicated,
    Forward,
    MissingRuleError,
    UnsupportedError,
    autodiff,
    differentiate,
)
from s2sad.testing import differences
from s2sad.tree import map_leaves

GOLDEN = Path(__file__).parent / "golden" / "jvp"
UPDATE = bool(os.environ.get("S2SAD_UPDATE"))
STEP = 1e-6

REFUSED = {}
SINGLE = {"casts_down", "into_single", "f32", "single"}


def direction(x, rng):
    """Return a random tangent of an argument."""

    def one(leaf):
        drawn = rng.standard_normal(np.shape(leaf))
        if np.iscomplexobj(leaf):
            drawn = drawn + 1j * rng.standard_normal(np.shape(leaf))
        return drawn.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(drawn)

    return map_leaves(one, float(x) if type(x) is int else x, other=lambda leaf: None)


def moved(x, tangent, step):
    """Return an argument a step along its tangent."""

    def one(leaf, along):
        new = leaf + step * along
        return new.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(new)

    return map_leaves(one, float(x) if type(x) is int else x, tangent, other=lambda leaf: leaf)


def slope(program, tangents):
    """Return central differences of a program along tangents."""

    def at(step):
        args = program.arguments()
        for i in program.wrt:
            args[i] = moved(args[i], tangents[i], step)
        return leaves(program.f(*args))

    return (at(STEP) - at(-STEP)) / (2 * STEP)


def run(program):
    """Return the value and its tangent along a random direction, and that direction."""
    rng = np.random.default_rng(7)
    args = program.arguments()
    tangents = [direction(a, rng) if i in program.wrt else None for i, a in enumerate(args)]
    given = copy.deepcopy((args, tangents))
    y, dy = s2sad.jvp(program.f, args, tangents)
    assert same((args, tangents), given), "the arguments have changed"
    again = s2sad.jvp(program.f, args, tangents)
    assert leaves(again[1]).tobytes() == leaves(dy).tobytes()
    return y, dy, tangents


@pytest.mark.parametrize("name", sorted(set(corpus.PROGRAMS) - set(REFUSED)))
def test_corpus(name):
    program = corpus.PROGRAMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = program.f(*program.arguments())
        y, dy, tangents = run(program)
        assert leaves(y).tobytes() == leaves(plain).tobytes()
        if name.rpartition(".")[2] in SINGLE:
            gradient = s2sad.grad(program.f, wrt=program.wrt)(*program.arguments())
            want = sum(leaves(g) @ leaves(tangents[i]) for g, i in zip(gradient, program.wrt))
            assert leaves(dy) == pytest.approx(np.atleast_1d(want), rel=1e-5)
        else:
            want = slope(program, tangents)
            scale = max(1.0, np.abs(want).max(initial=0.0))
            assert leaves(dy) == pytest.approx(want, rel=1e-5, abs=1e-7 * scale)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_corpus_refused(name):
    with pytest.raises(UnsupportedError, match=REFUSED[name].replace(".", r"\.")[:30]):
        run(corpus.PROGRAMS[name])


# --- random programs -----------------------------------------------------------------------------

COUNT = int(os.environ.get("S2SAD_PROGRAMS", "160" if FULL else "120"))
CHUNKS = 8


def verdict(seed):
    """Return what is wrong with the tangent of a random program: "", "refused" or a word."""
    module = programs.load(programs.generate(seed).text)
    try:
        wrt, f, args = module.WRT, module.f, module.arguments()
        rng = np.random.default_rng(seed)
        tangents = [direction(a, rng) if i in wrt else None for i, a in enumerate(args)]
        plain = f(*module.arguments())
        y, dy = s2sad.jvp(f, args, tangents)
        if np.float64(y).tobytes() != np.float64(plain).tobytes():
            return f"{seed}: value {y} where f gives {plain}"
        gradient = duals.gradient(f, module.arguments(), wrt)
        pairs = zip(gradient, wrt, strict=True)
        want = sum(float(duals.ravel(g) @ duals.ravel(tangents[i])) for g, i in pairs)
        if not np.allclose(dy, want, rtol=1e-8, atol=1e-10):
            return f"{seed}: tangent {dy} where the oracle has {want}"
        return "" if programs.same(args, module.arguments()) else f"{seed}: arguments"
    except s2sad.Error as error:
        return f"{seed}: {error}" if "Internal" in type(error).__name__ else "refused"
    finally:
        programs.unload(module)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_programs(chunk):
    seeds = range(chunk, COUNT, CHUNKS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdicts = [verdict(seed) for seed in seeds]
    assert [v for v in verdicts if v not in ("", "refused")] == []
    assert verdicts.count("refused") <= max(1, 0.05 * len(verdicts))


# --- text ----------------------------------------------------------------------------------------

TEXTS = (
    "cholesky diffusion early_stopping gram_schmidt kalman leapfrog lstm network spline tree_sum "
    "newton_or_bisection ring_buffer rk4 rnn_states safe_logs wave_history"
).split()


@functools.cache
def text_of(name):
    """Return the derived text of a golden program."""
    p = corpus.PROGRAMS[f"golden.{name}"]
    return s2sad.source(p.f, mode="jvp", args=p.arguments(), wrt=p.wrt)


@pytest.mark.parametrize("name", TEXTS)
def test_golden(name):
    text, path = text_of(name), GOLDEN / f"{name}.py"
    if UPDATE:
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    golden = path.read_text(encoding="utf-8")
    lines = difflib.unified_diff(golden.splitlines(), text.splitlines(), lineterm="")
    assert text == golden, "\n".join(lines)
    assert max(map(len, text.splitlines())) <= 100


def test_every_golden_has_a_program():
    assert {path.stem for path in GOLDEN.glob("*.py")} == set(TEXTS)


@pytest.mark.parametrize("name", TEXTS)
def test_emitted_module(name, tmp_path):
    """What is written to a file gives the same without s2sad."""
    p = corpus.PROGRAMS[f"golden.{name}"]
    path = tmp_path / f"{name}_jvp.py"
    s2sad.emit(p.f, path, mode="jvp", args=p.arguments(), wrt=p.wrt)
    names: dict = {"__name__": path.stem}
    text = path.read_text()
    assert "import s2sad" not in text and "from s2sad" not in text
    exec(compile(text, str(path), "exec"), names)
    y, dy, tangents = run(p)
    mine = names[f"{p.f.__name__}_jvp"](*p.arguments(), *(tangents[i] for i in p.wrt))
    assert leaves(mine[1]).tobytes() == leaves(dy).tobytes()
    assert leaves(mine[0]).tobytes() == leaves(y).tobytes()


def test_emitted_without_s2sad(tmp_path):
    p = corpus.PROGRAMS["golden.spline"]
    s2sad.emit(p.f, tmp_path / "emitted.py", mode="jvp", args=p.arguments(), wrt=(1,))
    code = (
        "import sys; sys.modules['s2sad'] = None; import numpy as np; from emitted import *\n"
        "print(spline_jvp(np.array([0.0, 1.0]), np.array([1.0, 3.0]), 0.5, np.ones(2)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0, done.stderr


# --- what jvp promises ---------------------------------------------------------------------------


def product(x, n):
    return n * x * x


def test_value_and_tangent():
    assert s2sad.jvp(product, (3.0, 2), (1.0, None)) == (18.0, 12.0)
    assert s2sad.jvp(product, [3.0, 2], [0.5, 1.0]) == (18.0, 15.0)


def test_integers_are_floats_where_they_have_a_tangent():
    y, dy = s2sad.jvp(product, (3, 2), (1, None))
    assert (y, dy) == (18.0, 12.0) and isinstance(y, float)


@pytest.mark.parametrize(
    ("tangents", "error", "words"),
    [
        ((None, None), ActivityError, "No argument has a tangent"),
        ((1.0,), ActivityError, "primals .2. differs from the number of tangents .1."),
        ((np.ones(2), None), ValueError, "The tangent of x has shape .2,.; it must be a scalar"),
        ((1j, None), TypeError, "it must be real"),
        (("a", None), TypeError, "it must be a scalar"),
        (1.0, TypeError, "needs tangents as a tuple"),
    ],
)
def test_tangents_that_do_not_fit(tangents, error, words):
    with pytest.raises(error, match=words):
        s2sad.jvp(product, (3.0, 2.0), tangents)


def test_constants_have_no_tangent():
    def f(x: s2sad.Const, y):
        return x * y

    with pytest.raises(ActivityError, match="declares Const"):
        s2sad.jvp(f, (1.0, 2.0), (1.0, None))
    with pytest.raises(ActivityError, match="integer|int64"):
        s2sad.jvp(product, (np.arange(3), 2.0), (np.ones(3), None))


def test_aux():
    def f(x):
        return x * x, {"x": x}

    assert s2sad.jvp(f, (3.0,), (1.0,), has_aux=True) == (9.0, 6.0, {"x": 3.0})


def test_decorated():
    @s2sad.differentiate
    def f(x):
        return x**3

    class Model:
        def __init__(self):
            self.w = 2.0

        @s2sad.differentiate
        def loss(self, x):
            return self.w * x * x

    assert f.jvp((2.0,), (1.0,)) == (8.0, 12.0)
    assert Model().loss.jvp((3.0,), (1.0,)) == (18.0, 12.0)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (1, 3)])
@pytest.mark.parametrize("other", [(), (1,), (3,), (2, 1)])
def test_broadcast(shape, other):
    """The tangent of a sum has the shape of the sum, whichever of the two is active."""

    def f(x, y):
        return x + y

    x, y = np.full(shape, 2.0), np.full(other, 3.0)
    for tangents in ((np.ones(shape), None), (None, np.ones(other))):
        value, tangent = s2sad.jvp(f, (x, y), tangents)
        assert np.shape(tangent) == np.shape(value)
        assert np.all(tangent == 1.0)


@pytest.mark.parametrize(
    "f", [lambda x, y: x + y, lambda x, y: x * y, lambda x, y: y - x, np.maximum, np.hypot]
)
def test_dtypes(f):
    """The tangent of a value has its dtype."""

    def g(x, y):
        return f(x, y)

    kinds = [np.float32, np.float64, np.complex128]
    if f in (np.maximum, np.hypot):
        kinds.remove(np.complex128)
    for one, other in itertools.product(kinds, kinds):
        x, y = np.array([1.0, 2.0], one), np.array([3.0, 0.5], other)
        value, tangent = s2sad.jvp(g, (x, y), (np.ones(2, one), None))
        assert tangent.dtype == value.dtype


def test_one_path_only():
    def f(x, n):
        y = 2
        for i in range(n):
            if i == 1:
                y = x * x
            elif i == 2:
                y = 3.0
        return y * x

    for n, want in ((1, 2.0), (2, 12.0), (3, 3.0)):
        assert s2sad.jvp(f, (2.0, n), (1.0, None))[1] == want


def left_by_break(x, y):
    for _ in range(2):
        if y < x:
            break
        x = 0.47
    return x


def left_by_raise(x, y):
    z = x * y
    if y < 0.0:
        raise ValueError
    else:
        z = 0.47
    return z + x


def left_by_inner_breaks(x, y):
    z = x
    for e in (x, y):
        for other in (x, y):
            if other > e:
                break
            z = 1.0
        if y > 0.9:
            break
        z = z * 0.5
    return z * y


def left_in_match(x, y):
    z = x
    for e in (x, y):
        match e > 0.8:
            case True:
                z = 0.47
            case _:
                break
    return z * y


def behind_with(x, y):
    z = x
    with contextlib.nullcontext():
        z = 0.47
    return z * y + x


@pytest.mark.parametrize(
    "f", [left_by_break, left_by_raise, left_by_inner_breaks, left_in_match, behind_with]
)
@pytest.mark.parametrize("point", [(0.5, 0.7), (0.7, 0.5), (0.6, 0.95)])
def test_paths_that_leave(f, point):
    check(f, *point)


def test_unbound_stays_unbound():
    def f(x, n):
        for _ in range(n):
            y = x * x
        return y

    assert s2sad.jvp(f, (2.0, 1), (1.0, None)) == (4.0, 4.0)
    with pytest.raises(UnboundLocalError):
        s2sad.jvp(f, (2.0, 0), (1.0, None))


def test_none_on_a_path():
    def f(x):
        if x > 0:
            return x * x

    assert s2sad.jvp(f, (2.0,), (1.0,)) == (4.0, 4.0)
    assert s2sad.jvp(f, (-2.0,), (1.0,)) == (None, None)


def test_what_is_not_active_has_no_tangent():
    def f(x, y):
        z = np.exp(y)
        print(z.shape)
        w = z * 2.0
        return np.sum(x * w)

    text = s2sad.source(f, mode="jvp", args=(np.ones(3), np.ones(3)), wrt="x")
    assert "z_dot" not in text and "w_dot" not in text and "zeros" not in text


def test_arrays_that_share_nothing():
    """A tangent is no other name of the tangent that was given, unless the value is one, too."""

    def f(x):
        return x + 1.0

    x_dot = np.ones(3)
    _, dy = s2sad.jvp(f, (np.ones(3),), (x_dot,))
    assert not np.shares_memory(dy, x_dot)

    def shifted(x):
        return x + 0.0

    def g(x):
        y = shifted(x)
        y[0] = 5.0
        return y * x

    y, dy = s2sad.jvp(g, (np.array([2.0, 3.0]),), (x_dot[:2],))
    assert dy.tolist() == [5.0, 6.0] and x_dot.tolist() == [1.0] * 3


def test_same_memory_twice():
    def f(A, B):
        A[0] = B[1] * 2.0
        return A[0] * B[0]

    A = np.array([1.0, 2.0])
    with pytest.raises(AliasError):
        s2sad.jvp(f, (A, A), (np.ones(2), None))


def test_callee_that_is_given_one_array_twice():
    def fill(A, B):
        A[0] = B[1]
        return B[0]

    def f(x):
        A = np.zeros(2)
        A[1] = x
        return fill(A, A) * x

    assert s2sad.jvp(f, (2.0,), (1.0,)) == (4.0, 4.0)


def test_exceptions_of_tangents_are_not_caught():
    def f(x):
        try:
            y = math.sqrt(x)
        except ArithmeticError:
            y = 7.0 * x
        return y

    with pytest.raises(UnsupportedError, match="may raise an exception here that this try catches"):
        s2sad.jvp(f, (0.0,), (1.0,))

    def g(x):
        try:
            y = math.sqrt(x) / x
        except KeyError:
            y = 7.0 * x
        return y

    y, dy = s2sad.jvp(g, (4.0,), (1.0,))
    assert (y, dy) == (0.5, -1 / 16)


def test_division_by_what_was_divided_by():
    def f(x):
        try:
            y = 1.0 / x
        except ZeroDivisionError:
            y = 3.0 * x
        return y * x

    assert s2sad.jvp(f, (2.0,), (1.0,)) == (1.0, 0.0)
    assert s2sad.jvp(f, (0.0,), (1.0,)) == (0.0, 0.0)


def test_finally_reads_what_nobody_reads_after_it():
    def f(x):
        try:
            y = x[1]
        finally:
            z = x[0] * y
        return z

    assert s2sad.jvp(f, (np.array([2.0, 3.0]),), (np.array([1.0, 10.0]),)) == (6.0, 23.0)


def test_numbers_that_become_floats():
    def f(x):
        t = [0] * 3
        t[1] = x
        rows = [[0, 0], [1, 2]]
        rows[0][1] = t[1] * x
        state = {"n": 0, "s": None}
        for _ in range(2):
            state["n"] = state["n"] + x
        return sum(t) + rows[0][1] + rows[1][0] * state["n"]

    assert s2sad.jvp(f, (3.0,), (1.0,)) == (3.0 + 9.0 + 6.0, 1.0 + 6.0 + 2.0)


def test_what_comes_out_is_built_like_the_value():
    Pair = collections.namedtuple("Pair", "a n")

    def f(x, n):
        return [Pair(x * n, n), np.float32(2.0) * x.astype(np.float32), n > 1]

    x = np.array([1.0, 2.0])
    y, dy = s2sad.jvp(f, (x, 3), (x, None))
    assert isinstance(dy[0], Pair) and dy[0].n is None and dy[2] is None
    assert dy[0].a.tolist() == [3.0, 6.0]
    assert dy[1].dtype == np.float32 == y[1].dtype


# --- autodiff(Forward) ---------------------------------------------------------------------------


def filled(A, x, n):
    A[0] = x * x
    A[1:] *= n
    return A[1] * x


def test_forward_leaves_the_tangents_of_what_is_written():
    A, A_dot = np.array([1.0, 2.0, 3.0]), np.array([5.0, 6.0, 7.0])
    got = autodiff(Forward, filled, Duplicated(A, A_dot), Duplicated(2.0, 1.0), Const(4))
    assert got == (16.0, 8.0 + 2.0 * 24.0)
    assert A.tolist() == [4.0, 8.0, 12.0] and A_dot.tolist() == [4.0, 24.0, 28.0]


def test_forward_of_a_function_that_returns_nothing():
    def put(d, xs, x):
        d["a"] = x * x
        xs[0] = x * 2.0

    d, d_dot, xs, xs_dot = {"a": 1.0}, {"a": 0.0}, [1.0], [0.0]
    got = autodiff(Forward, put, Duplicated(d, d_dot), Duplicated(xs, xs_dot), Duplicated(3.0, 1.0))
    assert got == (None, None)
    assert (d, d_dot, xs, xs_dot) == ({"a": 9.0}, {"a": 6.0}, [6.0], [2.0])


def test_forward_of_an_array_that_is_bound_anew():
    def f(A, x):
        A[0] = x
        A = A * 2.0
        A[1] = x
        return A[0] * A[1]

    A, A_dot = np.ones(2), np.zeros(2)
    assert autodiff(Forward, f, Duplicated(A, A_dot), Duplicated(3.0, 1.0)) == (18.0, 12.0)
    assert A.tolist() == [3.0, 1.0] and A_dot.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ((Active(2.0), Const(2)), ActivityError, "x has no tangent"),
        ((2.0, Const(2)), ActivityError, "x has no tangent"),
        ((Const(2.0), Const(2)), ActivityError, "No argument of product has a tangent"),
        ((Duplicated(2.0, "a"), 2), ActivityError, "it must be a number"),
        ((Duplicated(np.ones(2), np.ones(3)), 2), ActivityError, "has the shape"),
        ((BatchDuplicated(np.ones(2), (np.ones(3),)), 2), ActivityError, "has the shape"),
        ((BatchDuplicated(2.0, ()), 2), ActivityError, "needs a tuple of shadows"),
        (
            (BatchDuplicated(2.0, (1.0, 2.0)), Duplicated(3.0, 1.0)),
            ActivityError,
            "different numbers",
        ),
    ],
)
def test_forward_refused(given, error, words):
    with pytest.raises(error, match=words):
        autodiff(Forward, product, *given)


def test_forward_refuses_shared_memory_and_a_seed():
    A = np.ones(3)
    with pytest.raises(AliasError):
        autodiff(Forward, filled, Duplicated(A, A), Duplicated(2.0, 1.0), Const(4))
    with pytest.raises(ActivityError, match="takes no seed"):
        autodiff(Forward, product, Duplicated(2.0, 1.0), 2, seed=1.0)
    assert differentiate(product).autodiff(Forward, Duplicated(2.0, 1.0), 3) == (12.0, 12.0)


def test_language(capsys):
    """What reverse mode takes, forward mode takes, but for some writes."""
    along = np.array([0.3, -0.8, 1.1])
    wrong = []
    for construct in tables.constructs():
        if "flat" in construct.title or construct.title.endswith("passes to itself"):
            continue
        f = tables.function(construct.text)
        try:
            _, dy = s2sad.jvp(f, (tables.X.copy(),), (along,))
        except s2sad.Error:
            if construct.refusal is None:
                raise
            continue
        expected, bound = differences(f, (tables.X,), (along,))
        if not abs(dy - expected) <= 4.0 * bound + 1e-9:
            wrong.append(construct.title)
    assert not wrong


@pytest.mark.parametrize("line", whole.PROGRAMS)
def test_rule_in_a_program(line):
    variable, _, expression = line.partition(": ")
    f = whole.program(1000 + whole.PROGRAMS.index(line), expression)
    x = whole.NAMES[variable]
    along = np.cos(np.arange(x.size) + 0.7).reshape(x.shape)
    value, tangent = s2sad.jvp(f, (x,), (along,))
    slope = (f(x + STEP * along) - f(x - STEP * along)) / (2 * STEP)
    assert value == f(x)
    assert tangent == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_index_is_found_once():
    calls = []

    def place():
        calls.append(1)
        return len(calls) - 1

    def f(x):
        A = np.zeros(3)
        A[place()] = x
        A[place()] = x * x
        return A @ np.array([1.0, 10.0, 100.0])

    try:
        _, dy = s2sad.jvp(f, (3.0,), (1.0,))
    except s2sad.Error:
        return
    assert dy == 61.0 and len(calls) == 2


def test_mask_that_the_write_changes():
    def f(x):
        x[x > 1.0] = x[0] * 0.5
        return np.sum(x * x)

    x = np.array([0.5, 2.0, 3.0])
    assert s2sad.jvp(f, (x,), (np.array([1.0, 0.0, 0.0]),))[1] == pytest.approx(1.0 + 2 * 0.25)


def test_overwritten_by_what_it_was():
    def f(x):
        x = x**x
        x = np.sin(x) * x
        return x

    h = 1e-6
    want = (f(1.3 + h) - f(1.3 - h)) / (2 * h)
    assert s2sad.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(want)


def test_functions_handed_over_that_capture_what_has_a_tangent():
    optimize = pytest.importorskip("scipy.optimize")

    def root(c):
        return optimize.brentq(lambda v: v**3 - c, 0.0, 2.0)

    slope = 0.7 ** (-2.0 / 3.0) / 3.0
    assert s2sad.jvp(root, (0.7,), (1.0,))[1] == pytest.approx(slope)
    several = s2sad.BatchDuplicated(0.7, (1.0, -2.0))
    _, slopes = s2sad.autodiff(s2sad.Forward, root, several)
    assert slopes == pytest.approx((slope, -2.0 * slope))


def test_rule_without_a_pushforward():
    def strange(x):
        return float(json.loads(str(x)))

    @s2sad.pullback(strange)
    def pull_strange(out_bar, out, x):
        return out_bar

    def f(x):
        return strange(x) * x

    with pytest.raises(MissingRuleError, match="has no pushforward"):
        s2sad.jvp(f, (2.0,), (1.0,))

    @s2sad.pushforward(strange)
    def push_strange(out, x, x_dot):
        return x_dot

    assert s2sad.jvp(f, (2.0,), (1.0,)) == (4.0, 4.0)


def test_structures():
    class Model:
        def __init__(self, w, b):
            self.w = w
            self.b = b

    def f(params, model, pair):
        a, b = pair
        return params["a"] * model.w + sum(params["xs"]) * a - b * model.b

    args = ({"a": 2.0, "xs": [1.0, 3.0], "n": 3}, Model(0.5, 1.5), (0.3, 0.7))
    dots = ({"a": 1.0, "xs": [0.0, 1.0], "n": None}, Model(1.0, 0.0), (0.0, 1.0))
    _, dy = s2sad.jvp(f, args, dots)
    assert dy == pytest.approx(0.5 + 2.0 + 0.3 - 1.5)


def test_results_of_structure():
    def f(x, n):
        return {"a": x * x, "n": n, "both": (x, 2.0 * n)}

    y, dy = s2sad.jvp(f, (3.0, 2), (1.0, None))
    assert y == {"a": 9.0, "n": 2, "both": (3.0, 4.0)}
    assert dy == {"a": 6.0, "n": None, "both": (1.0, 0.0)}


def both_ways(x):
    return np.sin(x) * x[0]


def test_forward_and_reverse_do_not_take_each_other_s_functions():
    x = np.array([0.3, 1.2])
    for _ in range(2):
        _, y_dot = s2sad.jvp(both_ways, (x,), (np.ones(2),))
        _, pullback = s2sad.vjp(both_ways, x, wrt=(0,))
        assert np.sum(y_dot) == pytest.approx(np.sum(pullback(np.ones(2))[0]))
        shadow = np.zeros(2)
        s2sad.autodiff(s2sad.Reverse, np_sum, s2sad.Duplicated(x, shadow))
        _, y_dot = s2sad.autodiff(s2sad.Forward, np_sum, s2sad.Duplicated(x, np.ones(2)))
        assert y_dot == pytest.approx(np.sum(shadow))


def np_sum(x):
    return np.sum(x**2)


class Levels:
    """Two levels of one array, by names of their own."""

    def __init__(self, n, b=None):
        self.both = np.zeros((2, n))
        self.now, self.next = self.both[0], self.both[1]
        self.b = b

    def step(self):
        self.next[:] = self.now**2
        self.now, self.next = self.next, self.now


def two_levels(x):
    levels = Levels(3)
    levels.now[:] = x
    for _ in range(3):
        levels.step()
    return np.sum(levels.both[0]) + np.sum(levels.both[1]) * levels.both[0, 1]


def two_levels_beside_an_argument(x):
    levels = Levels(3, x)
    levels.now[:] = x**2
    return np.sum(levels.both) * np.sum(levels.b)


def levels_in_a_list(x):
    every = [Levels(3) for _ in range(2)]
    for levels in every:
        levels.now[:] = x**2
    return np.sum(every[0].both * every[1].both)


def rows_and_whole(n, b):
    z = np.zeros((2, n))
    return z, z[0], b


def unpacked(x):
    z, row, b = rows_and_whole(3, x)
    row[:] = b**2
    return np.sum(z)


def rows_by_name(n):
    z = np.zeros((2, n))
    return {"whole": z, "row": z[1], "n": n}


def in_a_dict(x):
    d = rows_by_name(3)
    d["row"][:] = x**2
    d["n"] *= x[0]
    return np.sum(d["whole"]) * d["n"]


def twice(n, b):
    z = np.zeros(n)
    if n > 2:
        return z, z, b
    return z, b, b


def one_array_twice(x):
    p, q, b = twice(3, x)
    p[:] = b**2
    return np.sum(q)


def one_list_twice(n):
    row = [0.0] * n
    return [row, row]


def lists_of_lists(x):
    rows = one_list_twice(3)
    rows[0][1] = x[0] ** 2
    return rows[1][1]


_SHARED_INSIDE = (
    two_levels,
    two_levels_beside_an_argument,
    levels_in_a_list,
    unpacked,
    in_a_dict,
    one_array_twice,
    lists_of_lists,
)


@pytest.mark.parametrize("f", _SHARED_INSIDE)
def test_structures_whose_parts_share_memory(f):
    x, x_dot = np.array([0.5, 1.2, 0.8]), np.array([1.0, 2.0, 3.0])
    _, got = s2sad.jvp(f, (x,), (x_dot,))
    h = 1e-6
    slope = (f(x + h * x_dot) - f(x - h * x_dot)) / (2 * h)
    assert got == pytest.approx(slope, rel=1e-6)


def filled_with_numbers(x):
    y = x * x
    y[0] = -2.5
    y[1] = 2.0 * len(x)
    return np.sum(y * x)


def rounded_where_made(x):
    """NumPy makes integers of all that stands in the list."""
    kind = np.asarray(2 if x[0] > 0.0 else 2.0).dtype.type
    return np.sum(np.array([v * 3.3 for v in x], dtype=kind) * x)


@pytest.mark.parametrize("f", [filled_with_numbers, rounded_where_made])
def test_what_is_constant_has_no_tangent(f):
    x, x_dot = np.array([0.7, -1.3, 0.4]), np.array([0.3, 1.1, -0.2])
    value, moved = s2sad.jvp(f, (x,), (x_dot,))
    assert value == f(x)
    assert moved == pytest.approx(s2sad.grad(f)(x) @ x_dot)


def test_variable_arguments():
    def f(a, *rest):
        return a * sum(rest) * rest[0]

    given = (0.7, 1.2, -0.4)
    gradient = np.array([0.8 * 1.2, 0.7 * (2.0 * 1.2 - 0.4), 0.7 * 1.2])
    for along in ((1.0, None, None), (None, 0.5, None), (0.3, None, 2.0), (1.0, -1.0, 0.4)):
        _, slope = s2sad.jvp(f, given, along)
        expected = gradient @ [0.0 if t is None else t for t in along]
        assert slope == pytest.approx(expected)


def test_writes_through_flat():
    def f(x):
        a = np.outer(x, x)
        a.flat[::4] = 2.0 * x
        a.flat[3] = x[0]
        return np.sum(a * a)

    x, along = np.array([0.3, 1.2, 0.7]), np.array([1.0, -0.5, 0.3])
    assert s2sad.jvp(f, (x,), (along,))[1] == pytest.approx(s2sad.grad(f)(x) @ along)


def test_items_of_a_dict_in_a_list():
    def f(x):
        table = {"a": x[0], "b": x[1] * x[2]}
        for key, value in list(table.items()):
            table[key] = value * value
        return table["a"] * table["b"]

    x, along = np.array([0.3, 1.2, 0.7]), np.array([1.0, -0.5, 0.3])
    assert s2sad.jvp(f, (x,), (along,))[1] == pytest.approx(s2sad.grad(f)(x) @ along)


def grown(values):
    if len(values) == 1:
        return {"value": values[0], "below": []}
    half = len(values) // 2
    return {"value": 0.0, "below": [grown(values[:half]), grown(values[half:])]}


def added(tree):
    total = tree["value"]
    for part in tree["below"]:
        total = total + added(part)
    return total


def test_a_tree_that_recursion_makes_is_refused():
    def f(x):
        return added(grown(x))

    for derived in (lambda x: s2sad.grad(f)(x), lambda x: s2sad.jvp(f, (x,), (x,))):
        with pytest.raises(s2sad.Error):
            derived(np.ones(4))


def test_places_in_a_tuple_have_no_tangents():
    x = np.array([1.0, 0.0, 2.0])
    (places,), dots = s2sad.jvp(lambda x: np.nonzero(x), (x,), (np.ones(3),))
    assert list(places) == [0, 2] and dots == (None,)


def test_defaults_stand_still():
    def f(x, k=2.0, *, rows=()):
        return k * x**2 + len(rows)

    assert autodiff(Forward, f, Duplicated(3.0, 1.0)) == (18.0, 12.0)
    assert autodiff(Forward, f, Duplicated(3.0, 1.0), Duplicated(2.0, 1.0)) == (18.0, 21.0)


class Filter:
    def __init__(self, weights):
        self.weights = weights

    def windows(self, x):
        rows = np.zeros((len(x) - 2, 3))
        for i in range(3):
            rows[:, i] = x[i : len(x) - 2 + i]
        return rows, len(rows)

    def __call__(self, x):
        rows, count = self.windows(x)
        return rows @ self.weights / count


def test_tuples_that_methods_of_active_objects_return_may_stand_still():
    x = np.linspace(-1.0, 1.0, 6) ** 3
    s2sad.check_grads(lambda w: np.sum(Filter(w)(x) ** 2), (np.array([0.3, -0.7, 1.1]),))


def test_tangents_of_repeated_and_joined_lists_are_lists():
    def repeated(y):
        c = [y] * 3
        if y > 100.0:
            y = 1.0
        return y + sum(c)

    def joined(y):
        t, u = [y], [y * y]
        c = u + t * 3
        if y > 0.0:
            y = y * 2.0
        return y + sum(c) * sum(u * 2)

    for f in (repeated, joined):
        s2sad.check_grads(f, (0.7,))
        assert s2sad.jvp(f, (0.7,), (1.0,))[1] == pytest.approx(s2sad.grad(f)(0.7))
