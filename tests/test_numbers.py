"""NumPy's functions of plain numbers: the derivative of a number is a number."""

import numpy as np
import pytest

import s2sad
from tests.slopes import check

FUNCTIONS = [
    *(np.sum, np.mean, np.max, np.min, np.prod, np.median, np.ptp, np.var, np.std),
    *(np.cumsum, np.cumprod, np.ravel, np.squeeze, np.atleast_1d, np.asarray, np.array, np.copy),
    *(np.transpose, np.nansum, np.nanmax, np.nan_to_num, np.abs, np.exp, np.linalg.norm),
]
CALLS = {
    **{fn.__name__: fn for fn in FUNCTIONS},
    "product": lambda x: np.sum(x * (x + 1.0)),
    "difference": lambda x: np.sum((np.sin(x) - np.exp(x)) ** 2),
    "kron": lambda x: np.kron(x, 1.5 * x),
    "dot": lambda x: np.dot(x, x),
    "outer": lambda x: np.outer(x, x),
    "where": lambda x: np.where(x > 1.0, x * x, 0.0),
    "clip": lambda x: np.clip(x, 1.0, 3.0) * x,
    "tile": lambda x: np.tile(x, 3) * x,
    "full": lambda x: np.full(3, x) * x,
    "broadcast_to": lambda x: np.broadcast_to(x, (3,)) * x,
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("number", [float, np.float64, np.float32, np.array])
def test_functions_of_a_number(name, number):
    call, x = CALLS[name], number(2.0)

    def f(x):
        return call(x)

    value, pull = s2sad.vjp(f, x)
    assert np.array_equal(value, f(x)) and type(value) is type(f(x))
    bar = pull(np.ones_like(value) if isinstance(value, np.ndarray) else 1.0)
    slope = np.sum((np.asarray(f(2.0 + 1e-6)) - np.asarray(f(2.0 - 1e-6))) / 2e-6)
    assert np.isclose(bar, slope, rtol=1e-6, atol=1e-6)
    assert isinstance(bar, type(x)) and np.asarray(bar).dtype == np.asarray(x).dtype


def test_two_numbers():
    value, pull = s2sad.vjp(lambda x, y: np.sum(x * y), 2.0, 3.0)
    assert value == 6.0 and pull(1.0) == (3.0, 2.0)
    assert s2sad.grad(lambda x, y: np.sum(x * y))(2, 3) == 3.0


def test_where_a_sum_starts():
    def f(x, y):
        return sum([y * y, x], start=x) * sum((v * y for v in [x, y]), start=y * x)

    check(f, 0.7, 1.2)
