"""autodiff(Reverse, ...): activities around arguments, shadows, seeds, and what f leaves behind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import s2sad
from s2sad import (
    Active,
    ActivityError,
    AliasError,
    BatchDuplicated,
    Const,
    Duplicated,
    Reverse,
    autodiff,
)
from tests.writing import PROGRAMS as WRITING
from tests.writing_calls import PROGRAMS as CALLS
from tests.writing_put_back import PROGRAMS as PUT_BACK

rng = np.random.default_rng(0)


def r(*shape):
    return rng.standard_normal(shape)


# --- programs that write the arrays that they are given -----------------------------------------


def jacobi(A, B, steps):
    for _ in range(steps):
        B[1:-1] = 0.25 * (A[:-2] + 2.0 * A[1:-1] + A[2:])
        A[1:-1] = 0.25 * (B[:-2] + 2.0 * B[1:-1] + B[2:])


def products(A, B):
    A *= B
    B *= A
    A[1:] = A[:-1] * B[1:]


def logistic(x, n):
    for _ in range(n):
        x *= 2.5 * (1.0 - x)
    x[0] = x[1] * x[2]


def through_views(A, B):
    for row in A:
        row /= np.sqrt(np.sum(row * row))
    head = A[0]
    head[1:] = B * head[:-1]


def branching(x, y):
    for i in range(len(x)):
        if x[i] > 0.0:
            y[i] *= x[i]
        else:
            x[i] = np.sin(y[i])


def scaled(x, out):
    out[:] = x * x
    out[1:] += out[:-1]


def swapping(A, B):
    A[[0, 1]] = A[[1, 0]]
    B[0] = A[0] * B[1]
    A[0], A[1] = A[1], A[0]


def reading(x, w):
    x[0] = np.dot(w, w)
    return np.sum(x * w)


PROGRAMS = [
    (jacobi, (r(9), r(9), 3)),
    (jacobi, (r(3), r(3), 2)),
    (jacobi, (r(9), r(9), 0)),
    (products, (r(5), r(5))),
    (logistic, (np.abs(r(4)) / 4, 3)),
    (through_views, (r(3, 4), r(3))),
    (branching, (r(6), r(6))),
    (scaled, (r(5), r(5))),
    (swapping, (r(4), r(4))),
    (reading, (r(4), r(4))),
]
PROGRAMS += [
    (f, args)
    for f, args in WRITING + CALLS + PUT_BACK
    if all(a.dtype == np.float64 for a in args if isinstance(a, np.ndarray))
]
each_program = pytest.mark.parametrize(
    "f, args", [pytest.param(f, a, id=f"{f.__name__}-{i}") for i, (f, a) in enumerate(PROGRAMS)]
)


def copied(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def weighed(f, args, seeds):
    """The number whose gradient the reverse is: final contents times seeds, and the value."""
    args = copied(args)
    value = f(*args)
    total = sum(np.sum(a * s) for a, s in zip(args, seeds, strict=True) if s is not None)
    return total + (0.0 if value is None else value)


def slopes(f, args, seeds):
    found = []
    for k, a in enumerate(args):
        if not isinstance(a, np.ndarray):
            found.append(None)
            continue
        slope = np.zeros_like(a)
        for at in np.ndindex(a.shape):
            ends = []
            for sign in (1, -1):
                moved = copied(args)
                moved[k][at] += sign * 1e-6
                ends.append(weighed(f, moved, seeds))
            slope[at] = (ends[0] - ends[1]) / 2e-6
        found.append(slope)
    return found


def seeds_of(args):
    return [r(*a.shape) if isinstance(a, np.ndarray) else None for a in args]


def wrapped(args, shadows):
    return [Const(a) if s is None else Duplicated(a, s) for a, s in zip(args, shadows, strict=True)]


@each_program
def test_shadows_go_from_final_to_initial_content(f, args):
    seeds = seeds_of(args)
    want = slopes(f, args, seeds)
    given, shadows = copied(args), [None if s is None else s.copy() for s in seeds]
    value, back = autodiff(Reverse, f, *wrapped(given, shadows))
    after = copied(args)
    assert value == f(*after)
    for mine, theirs in zip(given, after, strict=True):
        assert np.array_equal(mine, theirs)
    for bar, shadow, slope in zip(back, shadows, want, strict=True):
        assert bar is shadow
        if slope is not None:
            noise = 1e-10 * np.abs(slope).max(initial=0.0)
            np.testing.assert_allclose(bar, slope, rtol=1e-6, atol=1e-6 + noise)


@pytest.mark.sampled(3)
@each_program
def test_a_batch_gives_what_single_directions_give(f, args):
    first, second = seeds_of(args), seeds_of(args)
    single = [[None if s is None else s.copy() for s in seeds] for seeds in (first, second)]
    for shadows in single:
        autodiff(Reverse, f, *wrapped(copied(args), shadows))
    given = copied(args)
    activities = [
        Const(a) if s is None else BatchDuplicated(a, (s, t))
        for a, s, t in zip(given, first, second, strict=True)
    ]
    value, back = autodiff(Reverse, f, *activities)
    after = copied(args)
    assert value == f(*after)
    for mine, theirs in zip(given, after, strict=True):
        assert np.array_equal(mine, theirs)
    for bars, one, other in zip(back, *single, strict=True):
        if one is not None:
            np.testing.assert_allclose(bars[0], one, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(bars[1], other, rtol=1e-12, atol=1e-12)


def copied_parts(A, B):
    A[1:-1] = B[1:-1] * B[:-2]
    A *= 2.0


@pytest.mark.parametrize("operator", ["autodiff", "grad"])
def test_lengths_that_are_broadcast(operator):
    """What was derived for longer arrays does not serve where a part has length 1."""
    for lengths in [(9, 9), (9, 3), (3, 3), (4, 4), (9, 3), (9, 9)]:
        args = tuple(r(n) for n in lengths)
        seeds = seeds_of(args)
        want = slopes(copied_parts, args, seeds)
        if operator == "autodiff":
            autodiff(Reverse, copied_parts, *wrapped(copied(args), seeds))
            got = seeds
        else:

            def f(A, B, seed):
                A[1:-1] = B[1:-1] * B[:-2]
                A *= 2.0
                return np.sum(A * seed)

            want[1] = slopes(copied_parts, args, [seeds[0], np.zeros(lengths[1])])[1]
            got = s2sad.grad(f, wrt=(0, 1))(*args, seeds[0])
        for mine, slope in zip(got, want, strict=True):
            np.testing.assert_allclose(mine, slope, rtol=1e-6, atol=1e-6)


def test_layouts_of_arrays_and_shadows():
    A, B, A_bar, B_bar = r(4, 6), r(4, 6), r(4, 6), r(4, 6)

    def f(A, B):
        A *= B
        B[:, 1:] *= A[:, :-1]

    want = [A_bar.copy(), B_bar.copy()]
    autodiff(Reverse, f, Duplicated(A.copy(), want[0]), Duplicated(B.copy(), want[1]))
    wide = np.zeros((4, 12))
    wide[:, ::2] = A
    shadow = np.asfortranarray(A_bar)
    other = B_bar[::-1].copy()[::-1]
    autodiff(Reverse, f, Duplicated(wide[:, ::2], shadow), Duplicated(B.copy(order="F"), other))
    np.testing.assert_allclose(shadow, want[0], rtol=1e-12)
    np.testing.assert_allclose(other, want[1], rtol=1e-12)
    assert not wide[:, 1::2].any()


# --- what is only read --------------------------------------------------------------------------


def dot(a, A, B):
    return a * np.sum(A[1:] * B[:-1]) + A[0]


def test_shadows_of_what_is_read_accumulate():
    A, B = r(4), r(4)
    A_bar, B_bar = np.ones(4), np.zeros(4)
    for _ in range(2):
        value, (a_bar, first, second) = autodiff(
            Reverse, dot, Active(2.0), Duplicated(A, A_bar), Duplicated(B, B_bar)
        )
    assert first is A_bar and second is B_bar
    assert value == dot(2.0, A, B)
    gradients = s2sad.grad(dot, wrt=(0, 1, 2))(2.0, A, B)
    np.testing.assert_allclose(a_bar, gradients[0])
    np.testing.assert_allclose(A_bar, 1.0 + 2.0 * gradients[1])
    np.testing.assert_allclose(B_bar, 2.0 * gradients[2])


def test_const_has_none_and_plain_values_are_returned():
    A, B = r(4), r(4)
    value, bars = autodiff(Reverse, dot, Const(2.0), A, Const(B))
    assert bars[0] is None and bars[2] is None
    np.testing.assert_allclose(bars[1], s2sad.grad(dot, wrt=1)(2.0, A, B))


def test_annotations_decide_plain_values():
    def f(x: Active, y: Const, z: Duplicated):
        return x * y * z[0]

    z = np.array([3.0])
    z_bar = np.zeros(1)
    value, bars = autodiff(Reverse, f, 2.0, 5.0, Duplicated(z, z_bar))
    assert (value, bars[0], bars[1]) == (30.0, 15.0, None)
    assert z_bar[0] == 10.0
    with pytest.raises(
        ActivityError, match="declares z Duplicated, but its argument has no shadow"
    ):
        autodiff(Reverse, f, 2.0, 5.0, z)
    with pytest.raises(ActivityError, match="wrapped in Active.*declares it Const"):
        autodiff(Reverse, f, 2.0, Active(5.0), Duplicated(z, z_bar))
    assert s2sad.grad(f)(2.0, 5.0, z)[0] == 15.0


def test_the_seed():
    def f(x):
        return np.sin(x)

    x, x_bar, seed = r(3), np.zeros(3), r(3)
    value, _ = autodiff(Reverse, f, Duplicated(x, x_bar), seed=seed)
    assert np.array_equal(value, np.sin(x))
    np.testing.assert_allclose(x_bar, seed * np.cos(x))
    with pytest.raises(ActivityError, match="autodiff needs a seed, because f returns"):
        autodiff(Reverse, f, Duplicated(x, x_bar))
    with pytest.raises(ValueError, match="The seed of f has shape"):
        autodiff(Reverse, f, Duplicated(x, x_bar), seed=np.ones(2))
    with pytest.raises(ActivityError, match="returns None, which takes no seed"):
        autodiff(Reverse, scaled, Duplicated(x, x_bar), Duplicated(r(3), r(3)), seed=1.0)
    _, (bar,) = autodiff(Reverse, lambda x: x * x, Active(3.0), seed=2.0)
    assert bar == 12.0


def test_seeds_of_a_batch():
    def f(x, a):
        return a * x * x

    x, bars = r(3), (np.zeros(3), np.ones(3))
    seeds = (r(3), r(3))
    _, (_, a_bars) = autodiff(Reverse, f, BatchDuplicated(x, bars), Active(2.0), seed=seeds)
    np.testing.assert_allclose(bars[0], 4.0 * x * seeds[0])
    np.testing.assert_allclose(bars[1], 1.0 + 4.0 * x * seeds[1])
    np.testing.assert_allclose(a_bars, [np.sum(s * x * x) for s in seeds])
    with pytest.raises(ActivityError, match="There are 2 directions"):
        autodiff(Reverse, f, BatchDuplicated(x, bars), Active(2.0), seed=seeds[0])


def test_a_batch_runs_the_primal_once():
    runs = []

    def f(x):
        runs.append(1)
        x *= x

    bars = tuple(np.ones(2) for _ in range(3))
    autodiff(Reverse, f, BatchDuplicated(np.array([1.0, 2.0]), bars))
    assert len(runs) == 1
    for bar in bars:
        np.testing.assert_allclose(bar, [2.0, 4.0])


def test_one_array_twice_has_one_derivative_per_way():
    x, first, second = r(3), np.zeros(3), np.zeros(3)
    autodiff(Reverse, lambda a, b: np.sum(a * b * b), Duplicated(x, first), Duplicated(x, second))
    np.testing.assert_allclose(first, x * x)
    np.testing.assert_allclose(second, 2.0 * x * x)


@dataclass
class Layer:
    W: np.ndarray
    scale: float


def test_shadows_of_structures():
    def f(layers, x):
        for layer in layers:
            x = np.tanh(layer["layer"].W @ x) * layer["layer"].scale
        return np.sum(x)

    def made(a, b):
        return [{"layer": Layer(w, s)} for w, s in zip(a, b, strict=True)]

    layers = made([r(2, 2), r(2, 2)], [0.5, 2.0])
    arrays = [np.ones((2, 2)), np.ones((2, 2))]
    shadow = made(arrays, [1.0, 1.0])
    x = r(2)
    gradient = s2sad.grad(f)(layers, x)
    for _ in range(2):
        _, (back, _) = autodiff(Reverse, f, Duplicated(layers, shadow), Const(x))
    assert back is shadow
    for part, array, want in zip(shadow, arrays, gradient, strict=True):
        assert part["layer"].W is array
        np.testing.assert_allclose(array, 1.0 + 2.0 * want["layer"].W)
        np.testing.assert_allclose(part["layer"].scale, 1.0 + 2.0 * want["layer"].scale)


def test_a_name_that_is_bound_anew():
    def f(A):
        A = A * 2.0
        A[0] *= A[1]
        return np.sum(A)

    A, A_bar = r(3), np.ones(3)
    autodiff(Reverse, f, Duplicated(A, A_bar))
    np.testing.assert_allclose(A_bar, 1.0 + s2sad.grad(f)(A))

    def g(A):
        A[0] = A[1]
        A = A * A
        return np.sum(A)

    A, A_bar = r(3), np.ones(3)
    a = A.copy()
    autodiff(Reverse, g, Duplicated(A, A_bar))
    # the sum is 2 a[1] ** 2 + a[2] ** 2, and what is left a[1], a[1], a[2]
    np.testing.assert_allclose(A_bar, [0.0, 4.0 * a[1] + 2.0, 2.0 * a[2] + 1.0])


def test_active_and_const_arrays_are_left_as_f_leaves_them():
    def f(x, y):
        x *= x
        y[:] = 7.0
        x[0] = x[1] * x[1]
        return np.sum(x)

    x, y = r(3), r(3)
    after = x.copy(), y.copy()
    f(*after)
    want = slopes(lambda x: f(x, y.copy()), [x], [None])
    value, (x_bar, none) = autodiff(Reverse, f, Active(x), Const(y))
    assert none is None and np.array_equal(x, after[0]) and np.array_equal(y, after[1])
    np.testing.assert_allclose(x_bar, want[0], rtol=1e-5, atol=1e-6)


def test_zero_dimensional_and_single_precision():
    def f(x, y):
        x *= y
        y[0] = 2.0 * y[1]

    x, x_bar = np.array(3.0), np.array(1.0)
    y, y_bar = np.array([2.0, 1.0], np.float32), np.ones(2, np.float32)
    with pytest.raises(ValueError, match="broadcast"):
        autodiff(Reverse, f, Duplicated(x, x_bar), Duplicated(y, y_bar))

    def g(x, y):
        x *= y[0]
        y[0] = 2.0 * y[1]

    autodiff(Reverse, g, Duplicated(x, x_bar), Duplicated(y, y_bar))
    assert x == 6.0 and x_bar == 2.0
    assert y_bar.dtype == np.float32
    np.testing.assert_allclose(y_bar, [3.0, 3.0])


def test_complex_arrays():
    def f(z):
        z *= z
        return np.sum(np.real(z))

    z = r(3) + 1j * r(3)
    z_bar = np.zeros(3, complex)
    autodiff(Reverse, f, Duplicated(z.copy(), z_bar))
    np.testing.assert_allclose(z_bar, s2sad.grad(f)(z))


# --- refusals -----------------------------------------------------------------------------------


def total(x):
    return np.sum(x * x)


@pytest.mark.parametrize(
    ("x", "x_bar", "message"),
    [
        (np.ones(3), np.ones(2), r"has the shape \(2,\), its primal \(3,\)"),
        (np.ones(3), np.ones(3, np.float32), "is of float32, its primal of float64"),
        (np.ones(3), [1.0, 1.0, 1.0], "is a list; it must be an array, as its primal is"),
        (np.ones(3), np.broadcast_to(1.0, 3), "is read-only"),
        (2.0, 0.0, "a plain number cannot be changed in place"),
        ([np.ones(3)], [], "has 0 entries, its primal 1"),
        ({"a": np.ones(3)}, {"b": np.ones(3)}, r"has the keys \['b'\]"),
        ((2.0, np.ones(3)), (0.0, np.ones(3)), r"at \[0\]: a plain number cannot be changed"),
        ((np.ones(3),), [np.ones(3)], "is a list; it must be a tuple, as its primal is"),
    ],
)
def test_shadows_that_do_not_fit(x, x_bar, message):
    with pytest.raises(ActivityError, match=message):
        autodiff(Reverse, total, Duplicated(x, x_bar))


def test_activities_that_do_not_fit():
    x = np.ones(3)
    with pytest.raises(ActivityError, match="No argument of total is marked for differentiation"):
        autodiff(Reverse, total, Const(x))
    with pytest.raises(ActivityError, match="needs a tuple of shadows"):
        autodiff(Reverse, total, BatchDuplicated(x, x.copy()))
    with pytest.raises(ActivityError, match="have different numbers of shadows"):
        autodiff(
            Reverse,
            lambda x, y: np.sum(x * y),
            BatchDuplicated(x, (np.zeros(3), np.zeros(3))),
            Duplicated(np.ones(3), np.zeros(3)),
        )
    with pytest.raises(ActivityError, match="contains a value that is wrapped in an activity"):
        autodiff(Reverse, lambda xs: np.sum(xs[0]), [Active(x)])


def test_modes():
    with pytest.raises(ValueError, match="autodiff needs a mode"):
        autodiff("reverse", total, Active(np.ones(3)))


def test_shadows_that_overlap():
    x, x_bar = np.ones(3), np.zeros(3)
    with pytest.raises(AliasError, match="the shadow of x and x share memory"):
        autodiff(Reverse, total, Duplicated(x, x))
    wide = np.zeros(5)

    def f(x, y):
        return np.sum(x * y)

    with pytest.raises(AliasError, match="the shadow of x and the shadow of y share memory"):
        autodiff(Reverse, f, Duplicated(x, wide[:3]), Duplicated(x, wide[2:]))
    with pytest.raises(AliasError, match="the shadow of x and y share memory"):
        autodiff(Reverse, f, Duplicated(x, x_bar), Const(x_bar))
    pair = np.zeros(6)
    autodiff(Reverse, f, Duplicated(x, pair[::2]), Duplicated(x, pair[1::2]))
    assert np.array_equal(pair, np.ones(6))
    with pytest.raises(AliasError, match="the seed and the shadow of x share memory"):
        autodiff(Reverse, lambda x: 2.0 * x, Duplicated(x, x_bar), seed=x_bar)
    shared = [np.zeros(3)]
    with pytest.raises(AliasError):
        autodiff(Reverse, lambda a: np.sum(a[0]), Duplicated(shared, shared))


def test_a_buffer_that_is_const():
    def f(x, buffer):
        buffer[:] = x * x
        return np.sum(buffer)

    def declared(x, buffer: Const):
        view = buffer[1:]
        view[:] = x[1:]
        return np.sum(buffer)

    def shape_only(x, buffer: Const):
        buffer[:] = np.zeros(x.shape)
        return np.sum(buffer * x)

    x, x_bar, buffer = r(3), np.zeros(3), np.empty(3)
    with pytest.raises(ActivityError, match="stored into `buffer`, which is Const") as caught:
        autodiff(Reverse, f, Duplicated(x, x_bar), Const(buffer))
    assert "buffer[:] = x * x" in str(caught.value)
    with pytest.raises(ActivityError, match="stored into `buffer`, through `view`"):
        s2sad.grad(declared)(x, buffer)
    assert np.array_equal(s2sad.grad(shape_only)(x, buffer), np.zeros(3))
    np.testing.assert_allclose(s2sad.grad(f)(x, buffer), 2.0 * x)
    buffer_bar = np.zeros(3)
    autodiff(Reverse, f, Duplicated(x, x_bar), Duplicated(buffer, buffer_bar))
    np.testing.assert_allclose(x_bar, 2.0 * x)
    assert not buffer_bar.any()


# --- source, decorator ---------------------------------------------------------------------------


def test_source_and_emit(tmp_path):
    A, B = r(5), r(5)
    text = s2sad.source(products, mode="reverse", args=(A, B))
    assert "def products_reverse(A, B, A_bar, B_bar):" in text
    path = s2sad.emit(products, tmp_path / "derived.py", mode="reverse", args=(A, B))
    namespace = {}
    exec(path.read_text(), namespace)
    shadows = [r(5), r(5)]
    want = [s.copy() for s in shadows]
    given = copied((A, B))
    assert namespace["products_reverse"](*given, *shadows) is None
    again = copied((A, B))
    autodiff(Reverse, products, *wrapped(again, want))
    for mine, theirs in zip([*given, *shadows], [*again, *want], strict=True):
        assert np.array_equal(mine, theirs)
    assert s2sad.source(products, mode="reverse", args=wrapped((A, B), want)) == text


def test_the_backward_sweep_writes_no_argument():
    for f, args in ((jacobi, (r(5), r(5), Const(2))), (through_views, (r(3, 4), r(3)))):
        _, _, backward = s2sad.source(f, mode="reverse", args=args).partition("_bar_1 = ")
        written = [line.split("=")[0] for line in backward.split("\n") if "=" in line]
        assert written and not any(w.split("[")[0].strip() in ("A", "B", "x", "u") for w in written)


def test_parameters_with_defaults_and_keywords():
    def f(x, k=2.0, *, y=None):
        return np.sum(x) * k

    x, x_bar = r(3), np.zeros(3)
    value, bars = autodiff(Reverse, f, Duplicated(x, x_bar))
    assert np.array_equal(x_bar, np.full(3, 2.0)) and bars[0] is x_bar


def test_of_the_decorator():
    @s2sad.differentiate
    def f(x: Duplicated, a: Active):
        return a * np.sum(x)

    x, x_bar = r(3), np.zeros(3)
    value, (bar, a_bar) = f.autodiff(Reverse, Duplicated(x, x_bar), Active(2.0))
    assert bar is x_bar and np.array_equal(x_bar, np.full(3, 2.0))
    np.testing.assert_allclose(a_bar, np.sum(x))

    class Model:
        scale = 3.0

        @s2sad.differentiate
        def loss(self, x):
            return self.scale * np.sum(x)

    _, bars = Model().loss.autodiff(Reverse, Duplicated(x, x_bar))
    assert np.array_equal(x_bar, np.full(3, 5.0))


def squared(A):
    A *= A
    return A


def squared_view(A):
    A *= A
    return A[1:]


def second_name(A):
    B = A
    B *= 2.0
    A[0] = B[1] * B[1]
    return B


@pytest.mark.parametrize("f", [squared, squared_view, second_name])
def test_results_that_are_what_was_given(f):
    start = np.array([1.0, 2.0, 3.0])
    A, A_bar = start.copy(), np.ones(3)
    seed = np.ones_like(f(start.copy()))
    value, _ = autodiff(Reverse, f, Duplicated(A, A_bar), seed=seed)
    after = start.copy()
    assert np.array_equal(value, f(after)) and np.array_equal(A, after)

    def total_of(A):
        value = f(A)
        return np.sum(value) + np.sum(A)

    want = slopes(total_of, [start], [None])[0]
    np.testing.assert_allclose(A_bar, want, rtol=1e-6)


def test_a_result_that_shares_memory_with_what_is_written():
    def f(x):
        x *= x
        return x[0] * x[1]

    x, x_bar = np.array([2.0, 3.0]), np.zeros(2)
    value, _ = autodiff(Reverse, f, Duplicated(x, x_bar))
    assert value == 36.0
    np.testing.assert_allclose(x_bar, [36.0, 24.0])

    def g(x):
        y = x * x
        y[0] *= y[1]
        y *= y
        return y

    x, x_bar = np.array([2.0, 3.0]), np.zeros(2)
    value, _ = autodiff(Reverse, g, Duplicated(x, x_bar), seed=np.array([1.0, 0.0]))
    assert np.array_equal(value, g(x))
    slope = [(g(x + e)[0] - g(x - e)[0]) / 2e-6 for e in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(x_bar, slope, rtol=1e-6)
