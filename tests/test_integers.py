"""Integers in a differentiated program: NumPy's wrap around, counts stay counts.

The derivative computes with them what the program does: no more of it in their own dtype.
"""

import numpy as np
import pytest

import s2sad

IMAGE = np.array([3, 200, 17, 1, 255], np.uint8)
OTHER = np.array([5, 100, 250, 7, 2], np.uint8)
N, M, K = np.uint8(200), np.uint8(100), np.int16(30000)
MASK = np.array([True, False, True, True, False])
ALSO = np.array([True, True, False, True, False])
X = np.array([2.1, 1.7, 2.6, 2.2, 1.4])
COUNTS = np.array([3, 200, 17, 2, 5])


def taken_from_one(x, img, im2, n, m, k, b, c):
    return np.sum((1 - x) * img) - np.sum(-(img * x)) - x[0] * n


def one_after_the_other(x, img, im2, n, m, k, b, c):
    return np.sum(x * img * im2) + np.sum(x * n * m) + np.sum(k * x**2 * k) - x[1] * n * m


def multiplied_first(x, img, im2, n, m, k, b, c):
    return (
        np.sum(x * (img * im2)) + np.sum(x**2 * (n * m)) + np.sum(x / (img * im2)) - x[0] * (k * k)
    )


def negated(x, img, im2, n, m, k, b, c):
    return np.sum(-n * x) + np.sum(x * -img) + np.sum(n * -x) - np.sum(n * x) - np.sum(x * m)


def in_a_loop(x, img, im2, n, m, k, b, c):
    s = 0.0
    for i in range(5):
        s = s + x[i] * img[i] * im2[i] - x[i] ** 2 * (img[i] * im2[i]) + -im2[i] * x[1]
    return s


def added(x, img, im2, n, m, k, b, c):
    less = img - im2
    return np.sum(x * (img + im2)) - np.sum(less * x**2) + x[0] * (n + n) - np.sum((n - m - m) * x)


def scale(x, img, im2, n, m, k, b, c):
    return np.sum(x[0] * img * im2) + np.sum(x[1] * b * c) - np.mean(x[2] * img - im2 * x[2])


def outer_product(x, img, im2, n, m, k, b, c):
    return np.sum(img[:, None] * x * im2[None, :]) - np.sum(x * img[1] * im2[2])


def truth_values(x, img, im2, n, m, k, b, c):
    y = -np.sum(b * x) - np.sum(x * b * c) + np.sum(x * (b + c)) + np.sum(-(b * x) * np.exp(x))
    return y + np.sum(x**b) - x[1] * b[0] * c[0] - x[2] * (b[0] + c[0])


def to_powers(x, img, im2, n, m, k, b, c):
    y = (
        np.power(img, x / 20).sum()
        + n ** (x[0] / 10)
        + np.sum(x ** (im2 % 4))
        - np.power(n, x / 3)[1]
    )
    return y + np.sum(x ** np.uint8(0)) + (300.0 * x[0]) ** np.array([0, 1], np.uint8)[0]


def functions_of_two(x, img, im2, n, m, k, b, c):
    y = np.arctan2(img, x).sum() + np.hypot(x, n).sum() - np.logaddexp(x, im2).sum()
    return y + np.fmod(x, im2).sum() + np.arctan2(b, x).sum()


def products(x, img, im2, n, m, k, b, c):
    y = (
        np.einsum("i,i,i->", x, img, im2)
        + np.dot(x, img) * n
        - np.dot(im2, x)
        - np.outer(x, img)[1, 1]
    )
    return y + (x * img) @ im2 + x @ (img * im2)


PROGRAMS = [
    *(taken_from_one, one_after_the_other, multiplied_first, negated, in_a_loop, added, scale),
    *(outer_product, truth_values, to_powers, functions_of_two, products),
]


def slope(f, direction, h=1e-5):
    return (f(X + h * direction) - f(X - h * direction)) / (2.0 * h)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("f", PROGRAMS)
def test_narrow_integers(f):
    rest = IMAGE, OTHER, N, M, K, MASK, ALSO
    along = np.array([0.3, -0.7, 0.4, 1.1, -0.2])
    want = slope(lambda x: f(x, *rest), along)
    got = s2sad.grad(f)(X, *rest)
    assert got.dtype == np.float64 and got @ along == pytest.approx(want, rel=1e-6)
    pushed = s2sad.jvp(f, (X, *rest), (along, *[None] * 7))[1]
    assert pushed == pytest.approx(want, rel=1e-6)
    second = slope(lambda x: s2sad.grad(f)(x, *rest), along)
    assert np.allclose(s2sad.hvp(f, (X, *rest), (along, *[None] * 7)), second, rtol=1e-5, atol=1e-5)


def test_narrow_integers_outside_the_function():
    def f(x):
        return np.sum(x * N * M) - np.sum(N * x) - np.sum(x * M) + np.arctan2(IMAGE, x).sum()

    want = slope(f, np.ones(5))
    assert np.sum(s2sad.grad(f)(X)) == pytest.approx(want)
    assert s2sad.jvp(f, (X,), (np.ones(5),))[1] == pytest.approx(want)


LINEAR = [
    lambda x: np.dot(x, COUNTS),
    lambda x: x @ COUNTS,
    lambda x: np.vdot(x, COUNTS),
    lambda x: np.inner(COUNTS, x),
    lambda x: x.dot(MASK),
    lambda x: np.matmul(x, IMAGE),
    lambda x: np.dot(x, [1, 2, 3, 4, 5]),
    lambda x: (1, 2, 3, 4, 5) @ x,
    lambda x: np.vdot([1, 2, 3, 4, 5], x),
    lambda x: np.dot([[1, 2, 3, 4, 5], [0, 1, 0, 0, 1]], x)[0],
]


@pytest.mark.parametrize("f", LINEAR)
def test_a_gradient_that_is_integers_outside_has_the_dtype_of_its_argument(f):
    gradient = s2sad.grad(f)(X)
    assert gradient.dtype == np.float64
    assert np.array_equal(s2sad.hvp(f, (X,), (X,)), np.zeros(5))


def widths(x, n):
    y = np.linspace(0.0, x[0], 3 * n) @ np.linspace(0.0, x[1], 3 * n, endpoint=n * 2 > 7)
    spectrum = np.fft.rfft(x, 2 * n)
    return y + np.sum(np.fft.irfft(spectrum * np.conj(spectrum), 2 * n)[: 2 * n - 3] ** 2)


@pytest.mark.parametrize("n", [4, np.int64(4), np.uint8(4)], ids=["int", "int64", "uint8"])
def test_counts_in_settings_stay_counts(n):
    along = np.array([0.3, -0.7, 0.4, 1.1, -0.2])
    want = slope(lambda x: widths(x, n), along)
    assert s2sad.grad(widths)(X, n) @ along == pytest.approx(want, rel=1e-6)


def test_exponents_stay_integers():
    text = s2sad.source(lambda x, n: x ** (2 * n - 1), wrt=0, args=(0.7, 2))
    assert "2.0 * n" not in text


MATRIX = np.array([[2, 1, 0], [1, 3, 1], [0, 1, 4]])
SERIES = np.array([3, 1, 4, 1, 5])
KNOTS = np.sort(IMAGE)
PLACES = np.array([0.0, 0.7, 1.5, 2.0, 3.4])

BESIDE_INTEGERS = {
    "solve": lambda x: np.sum(np.linalg.solve(MATRIX, x[:3]) ** 2),
    "inv": lambda x: np.sum(np.linalg.inv(MATRIX) @ x[:3]) + np.linalg.cholesky(MATRIX)[1] @ x[:3],
    "lists": lambda x: (
        np.sum(np.linalg.solve([[2, 1], [1, 3]], x[:2]) ** 2)
        + np.sum(np.linalg.inv([[2, 1], [1, 3]]) @ x[:2])
    ),
    "append": lambda x: np.append([1, 2], x, axis=0) @ np.arange(7),
    "powers": lambda x: np.sum(pow(x, [2, 3, 0, 1, 4])) + np.sum(np.power(x, [2, 3, 0, 1, 4])),
    "gradient": lambda x: np.sum(np.gradient(SERIES, np.cumsum(x)) ** 2),
    "gradient by a width": lambda x: np.sum(np.gradient(IMAGE, x[0], edge_order=2) ** 2),
    "trapezoid": lambda x: np.trapezoid(SERIES, np.cumsum(x)),
    "quantile": lambda x: np.sum(np.quantile(SERIES, x / 5.0) ** 2),
    "percentile": lambda x: np.nanpercentile(IMAGE, 20.0 * x[0], method="hazen"),
    "polyval": lambda x: np.polyval(IMAGE, x[0]) + np.sum(np.polyval(SERIES, x)),
    "interp": lambda x: np.sum(np.interp(x, PLACES, IMAGE)) + np.interp(70.0 * x[0], KNOTS, SERIES),
    "outer": lambda x: np.sum(np.power.outer(IMAGE, x / 20.0)),
}


@pytest.mark.parametrize("name", BESIDE_INTEGERS)
def test_data_of_integers(name):
    f = BESIDE_INTEGERS[name]
    along = np.array([0.3, -0.7, 0.4, 1.1, -0.2])
    want = slope(f, along, 1e-6)
    assert s2sad.grad(f)(X) @ along == pytest.approx(want, rel=1e-6)
    assert s2sad.jvp(f, (X,), (along,))[1] == pytest.approx(want, rel=1e-6)
