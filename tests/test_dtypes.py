"""A gradient has the dtype and shape of its argument, whatever is computed with it."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import differences

A = np.array([1.0, 2.0, 3.0])
NARROW = A.astype(np.float32)


def with_array(x):
    return np.sum(A * x)


def with_narrow_array(x):
    return np.sum(NARROW * x)


def in_a_list(x):
    return np.sum(np.array([x, x * x, 1.0])) + np.sum([x, 2.0])


def converted(x):
    return float(np.float32(x) * 2.0)


def larger(x):
    return max(x, 1.0)


def constant(x):
    return 3.0


VALUES = [1.5, np.float64(1.5), np.float32(1.5), np.array(1.5), np.array(1.5, np.float32)]
PROGRAMS = [with_array, with_narrow_array, in_a_list, converted, larger, constant]


@pytest.mark.parametrize("x", VALUES, ids=lambda x: f"{type(x).__name__}-{np.result_type(x)}")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_of_a_number(f, x):
    got = s2sad.grad(f)(x)
    if isinstance(x, np.ndarray):
        assert type(got) is np.ndarray and got.dtype == x.dtype and got.shape == ()
    else:
        assert isinstance(got, float if isinstance(x, float) else np.float32)
    want = {"with_array": 6.0, "with_narrow_array": 6.0, "in_a_list": 5.0, "converted": 2.0}
    assert got == {**want, "larger": 1.0, "constant": 0.0}[f.__name__]


def real_part(z):
    return np.sum(z.real * z.real)


def imaginary_part(z):
    return np.sum(z.imag * 2.0)


@pytest.mark.parametrize("z", [1 + 2j, np.complex64(1 + 2j), np.array([1 + 2j])], ids=str)
def test_of_a_complex_number(z):
    for f, want in ((real_part, 2.0), (imaginary_part, -2j)):
        got = s2sad.grad(f)(z)
        assert isinstance(got, complex | np.complexfloating | np.ndarray)
        assert np.iscomplexobj(got) and np.result_type(got) == np.result_type(z)
        assert np.all(got == want)


def narrowed(x):
    return np.sum(np.array(x, dtype=np.float32) * 2.0) + np.sum(np.asarray(x, np.float32))


@pytest.mark.parametrize("x", [A, NARROW])
def test_of_a_converted_array(x):
    assert s2sad.grad(narrowed)(x).dtype == x.dtype


def test_a_wide_array_among_narrow_ones():
    x, y, m = np.ones(3, np.float32), np.ones(3), np.ones((2, 3), np.float32)
    for f in (lambda y: np.sum(x * y), lambda y: np.sum(m @ y), lambda y: np.sum((x + y) * x)):
        assert s2sad.grad(f)(y).dtype == np.float64
        assert s2sad.vjp(f, y)[1](1.0).dtype == np.float64
    assert s2sad.grad(lambda x, y: np.sum(x * y), wrt=1)(x, y).dtype == np.float64


def times_all(s, y):
    for v in y:
        s *= v
    return s


def times_all_in_turn(s, y):
    t = s
    for v in y:
        t, s = s * v, t
    return t * s


@pytest.mark.parametrize("f", [times_all, times_all_in_turn])
@pytest.mark.parametrize("s", [0.7, np.array(0.7)], ids=["number", "0-d array"])
def test_of_what_a_loop_overwrites(f, s):
    for y in (A, NARROW):
        got = s2sad.grad(f)(s, y)
        assert isinstance(got, float if isinstance(s, float) else np.ndarray)
        assert got == pytest.approx(6.0 * (1.0 if f is times_all else 2.0 * 0.7), rel=1e-6)


@pytest.mark.parametrize("order", [0.5, 3.0, 3, -2.5])
def test_an_order_of_a_norm_widens_nothing(order):
    def length(x, p):
        return np.sum(np.linalg.norm(x, ord=p, axis=-1, keepdims=True))

    x = np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3)
    assert s2sad.grad(length, wrt=0)(x, order).dtype == np.float32
    assert s2sad.grad(lambda x: np.sum(np.linalg.norm(x, 0.5, -1)))(x).dtype == np.float32


@pytest.mark.parametrize("fn", [np.maximum, np.minimum, np.fmax, np.fmin])
def test_shares_of_narrow_complex_numbers_are_narrow(fn):
    a = np.array([1.0 + 1.0j, 2.0, 3.0], np.complex64)
    gradient = s2sad.grad(lambda a, b: np.real(np.sum(fn(a, b) ** 2)), wrt=(0, 1))(a, a[::-1])
    assert [g.dtype for g in gradient] == [np.complex64, np.complex64]


HOW = {
    "defaults": lambda x: np.multiply(x, 3.0, casting="same_kind", order="K", subok=True, out=None),
    "ufunc": lambda x: np.multiply(x, x, dtype=np.float64) + np.exp(x, order="F"),
    "complex": lambda x: np.multiply(x, x, dtype=complex).real,
    "matmul": lambda x: np.matmul(x, x, casting="same_kind"),
    "einsum": lambda x: np.einsum("ij,jk", x, x, dtype=float, casting="safe", order="F"),
    "joined": lambda x: np.concatenate([x, x], dtype=float, casting="same_kind"),
    "stacked": lambda x: np.stack([x, x], dtype=float)[1] + np.vstack([x, x], dtype=float)[3:],
    "astype": lambda x: x.astype(float, order="F", casting="safe", subok=False, copy=False),
    "array": lambda x: np.array(x, order="F", ndmin=3) + np.copy(x, order="F"),
}


@pytest.mark.parametrize("name", HOW)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_keywords_that_say_how_a_result_lies_or_is_cast(name, dtype):
    call = HOW[name]

    def f(x):
        return np.sum(call(x) ** 2)

    x = np.linspace(0.3, 1.1, 9).reshape(3, 3)
    gradient = s2sad.grad(f)(x.astype(dtype))
    assert gradient.dtype == dtype
    change, _ = differences(f, (x,), (np.cos(x),))
    assert np.sum(gradient * np.cos(x)) == pytest.approx(float(change), rel=1e-5)
