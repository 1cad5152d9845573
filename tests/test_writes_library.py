"""Arrays written by calls, through views and with casts: checked as tests/test_writes.py does."""

import warnings

import numpy as np
import pytest

import s2sad
from s2sad import kinds as K
from s2sad.errors import DerivativeWarning, Error
from s2sad.facts.results import sample_call, sample_method
from tests.test_writes import check_gradient, check_layouts, check_pullback, close, slope
from tests.writing_library import PROGRAMS, r

CASES = [
    pytest.param(f, args, k, id=f"{f.__name__}-{k}")
    for f, args in PROGRAMS
    for k, a in enumerate(args)
    if isinstance(a, float) or (isinstance(a, np.ndarray) and a.dtype.kind == "f")
]


@pytest.mark.parametrize("f, args, k", CASES)
def test_gradient(f, args, k):
    check_gradient(f, args, k)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f, args, k", CASES)
def test_pullback_may_be_called_again(f, args, k):
    check_pullback(f, args, k)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f, args, k", CASES)
def test_layouts(f, args, k):
    check_layouts(f, args, k)


def rounded(x):
    counts = np.zeros(3, dtype=int)
    counts[0] = 2.0 * x[0]
    counts[1:] = x[1:]
    return np.sum(x * counts)


def test_a_float_stored_into_integers_carries_no_derivative_and_warns():
    x = np.array([0.3, 1.7, 2.2])
    with pytest.warns(DerivativeWarning, match="is stored into `counts`") as seen:
        gradient = s2sad.grad(rounded)(x)
    first = rounded.__code__.co_firstlineno
    assert [w.lineno for w in seen] == [first + 2, first + 3]
    assert all(w.filename == __file__ for w in seen)
    assert np.array_equal(gradient, [0.0, 1.0, 2.0])


def test_complex_stored_into_real():
    def f(x):
        y = np.zeros(3)
        z = x * (1.0 + 2.0j)
        np.copyto(y, z * z, casting="unsafe")
        y[0] *= 2.0
        return np.sum(y * y)

    x = np.array([0.3, 1.7, 2.2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert close(s2sad.grad(f)(x), slope(f, (x,), 0), False)


def squared(x):
    y = x.copy()
    y *= x
    y[0] = 3.0
    return y


def test_the_seed_stays_as_it_is():
    x, seed = r(3), np.ones(3)
    _, pullback = s2sad.vjp(squared, x)
    assert np.allclose(pullback(seed), [0.0, 2 * x[1], 2 * x[2]])
    assert np.array_equal(seed, np.ones(3))


def test_the_seeds_of_a_pair_stay_as_they_are():
    def f(x):
        y = x.copy()
        z = y
        y *= x
        return z, y

    x, seeds = r(3), (np.ones(3), np.ones(3))
    _, pullback = s2sad.vjp(f, x)
    assert np.allclose(pullback(seeds), 4 * x)
    assert all(np.array_equal(s, np.ones(3)) for s in seeds)


def test_two_results_that_were_written_share_a_cotangent():
    def f(x):
        c = squared(x) + squared(2.0 * x)
        return np.sum(c * np.sin(c))

    x = r(3)
    assert close(s2sad.grad(f)(x), slope(f, (x,), 0), False)


def test_a_view_read_by_the_pullback_is_kept():
    def f(x, v):
        w = np.broadcast_to(v, (3,))
        return np.sum(x * w[np.array([1, 0, 2])])

    x, v = r(3), r(3)
    _, pullback = s2sad.vjp(f, x, v, wrt=0)
    first = pullback(1.0)
    v += 100.0
    assert np.array_equal(first, pullback(1.0))


def resized(x):
    y = x * 2.0
    y.resize((2, 2))
    return np.sum(y)


def strided(x):
    y = x * 2.0
    w = np.lib.stride_tricks.sliding_window_view(y, 2)
    y[0] = x[1]
    return np.sum(w * w)


def two_outputs(x):
    y, z = np.zeros(4), np.zeros(4)
    np.modf(x, out=(y, z))
    return np.sum(y * y)


def repeated_signs(x):
    y = np.ones(4)
    np.copysign.at(y, [0, 1, 1, 2], x)
    return np.sum(y)


def summed_wider(x):
    s = np.zeros(())
    np.sum(x.astype(np.float32), out=s)
    return s * 1.0


def nothing_elsewhere(x):
    return np.sum(np.log(x, where=x > 0))


def unstacked(x):
    y = np.unstack(np.outer(x, x))
    y[0][0] *= 2.0
    return y


def largest_row(x):
    y = np.outer(x, x)[:1]
    row = max(y)
    row[0] *= x[1]
    return np.sum(y)


def largest_of_rows(x):
    y = np.outer(x, x)[:1]
    row = max(list(y))
    row[0] *= x[1]
    return np.sum(y)


def test_windows_of_what_is_written_are_refused():
    with pytest.raises(s2sad.AliasError, match="as_strided"):
        s2sad.grad(strided)(r(4))


@pytest.mark.parametrize("f", [largest_row, largest_of_rows])
def test_rows_picked_and_written(f):
    x = r(4)
    slopes = [(f(x + e) - f(x - e)) / 2e-6 for e in np.eye(4) * 1e-6]
    assert s2sad.grad(f)(x) == pytest.approx(slopes, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize(
    "f, words",
    [
        (unstacked, "length depends on the length of an array"),
        (resized, r"array method \.resize\(\) changes its array"),
        (two_outputs, "by `np.modf`"),
        (repeated_signs, "by `np.copysign.at`"),
        (summed_wider, "by `np.sum`"),
        (nothing_elsewhere, "has no parameter `where`"),
    ],
)
def test_refused(f, words):
    with pytest.raises(Error, match=words) as seen:
        s2sad.grad(f)(r(4))
    assert seen.value.place is not None and seen.value.remedy


def texts_of(f, *args):
    return s2sad.grad(f).source(*args)


def test_what_is_cleaned_in_place_without_axes_gives_a_number():
    def f(x):
        y = np.where(x > 0.0, x * x, np.nan)
        z = np.nan_to_num(y, False, nan=0.5)
        z *= 2.0
        return np.sum(y * z)

    def g(x):
        y = np.multiply(x, x, out=np.empty(()))
        z = np.nan_to_num(y, False)
        z *= 2.0
        return np.sum(y * z)

    for given in (f, g):
        x = np.array(0.7)
        value, gradient = s2sad.value_and_grad(given)(x)
        assert value == given(x) and gradient == pytest.approx(8.0 * 0.7**3)


def test_text_reads_like_the_program():
    def f(x, c):
        np.multiply(x, 2.0, out=c)
        np.add.at(c, [0, 0, 1], x[:3])
        return np.sum(c * c)

    text = texts_of(f, r(4), r(4))
    assert "c[...] = np.multiply(x, 2.0)\n" in text
    assert "np.add.at(c, [0, 0, 1], x[:3])\n" in text
    assert "x_bar[:3] = c_bar[" in text


@pytest.mark.parametrize("word", ["cumsum", "cumprod"])
def test_running_sums_of_no_axes_end_no_process(word):
    """NumPy's own end the process where they are written into an array without axes."""
    flat, axis = K.Array("float64", ()), K.Num("int", value=0)
    assert sample_method(flat, word, (axis, K.NONE, flat), ()) == K.UNKNOWN
    assert sample_call(getattr(np, word), (flat,), (("axis", axis), ("out", flat))) == K.UNKNOWN


def test_a_number_of_python_or_of_numpy_is_added_at_positions():
    def f(x):
        for last in x:
            if last > 0.5:
                last = 1.0
        np.add.at(x, [0, 0], last)
        return np.sum(x * x)

    assert np.allclose(s2sad.grad(f)(np.array([0.3, 0.2])), [1.4, 0.4 + 4 * 0.7])
    assert np.allclose(s2sad.grad(f)(np.array([0.3, 0.7])), [4.6, 1.4])


class Bins:
    """Writes of its methods stand in the caller: they stay what they are."""

    def __init__(self, x):
        self.a = 1.0 * x

    def add(self, places, v):
        np.add.at(self.a, places, v)

    def place(self, mask, v):
        np.place(self.a, mask, v)

    def flat(self, v):
        self.a.flat[1:] = v


def test_positions_repeat_in_methods():
    def f(x):
        bins = Bins(x)
        bins.add([1, 2, 1], x[:3])
        bins.add([0, 0], x[1] * x[2])
        return np.sum(bins.a**2 * x)

    s2sad.check_grads(f, (np.array([0.3, 0.5, 0.7, -0.2]),))


def counted(x):
    at, velocity = np.linspace(0.5, 9.0, 8), np.sin(np.arange(8.0)) * x[0]
    for _ in range(3):
        cell = np.floor(at).astype(int) % 6
        velocity = velocity + 0.1 * np.bincount(cell, weights=at, minlength=6)[cell]
        at = at + 0.1 * velocity
    return np.sum(velocity**2)


def test_positions_repeat_in_what_is_derived_again():
    def weighted(x, w):
        return counted(x) * w

    gradient = s2sad.grad(weighted)
    x, v = np.array([0.1, 0.2]), np.array([0.3, -0.2])
    value, tangent = s2sad.jvp(lambda x: gradient(x, 0.3), (x,), (v,))
    assert np.allclose(value, gradient(x, 0.3))
    ends = [gradient(x + h * v, 0.3) for h in (1e-6, -1e-6)]
    assert np.allclose(tangent, (ends[0] - ends[1]) / 2e-6, rtol=1e-6)
