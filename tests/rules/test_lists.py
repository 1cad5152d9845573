"""What NumPy and SciPy take as a list is an array to a rule: derivatives are those of arrays."""

import linecache

import numpy as np
import pytest
from scipy import signal, special

import s2sad
from tests.rules import (
    test_joining,
    test_linalg,
    test_products,
    test_scipy_signal,
    test_scipy_special,
)

X = np.array([0.3, 1.2, 0.7])
MODULES = (
    test_joining,
    test_linalg,
    test_products,
    test_scipy_signal,
    test_scipy_special,
)


def _is_array(value):
    return isinstance(value, np.ndarray) and value.ndim > 0


def _rows():
    """Return calls with several arrays, one for each function and names of settings."""
    found = {}
    for module in MODULES:
        for row in module.ROWS:
            fn, args, settings = row if len(row) == 3 else (*row, {})
            if sum(map(_is_array, args)) < 2 or not hasattr(fn, "__name__"):
                continue
            for k, a in enumerate(args):
                if _is_array(a) and a.dtype.kind in "fc":
                    key = f"{fn.__name__}-{k}-{'-'.join(settings)}"
                    found.setdefault(key, (fn, args, settings, k))
    return [pytest.param(*row, id=key) for key, row in found.items()]


def _program(fn, args, settings):
    """Return `def f(a0, a1): return fn(a0, a1, axis=axis)`."""
    names = ", ".join(f"a{i}" for i in range(len(args)))
    keywords = "".join(f", {k}={k}" for k in settings)
    text = f"def f({names}):\n    return fn({names}{keywords})\n"
    filename = f"<lists {fn.__name__} {names}{keywords}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    scope = {"fn": fn, **settings}
    exec(compile(text, filename, "exec"), scope)
    return scope["f"]


def _bars(f, args, k):
    value, pullback = s2sad.vjp(f, *args, wrt=k)
    rng = np.random.default_rng(0)
    parts = value if isinstance(value, tuple) else (value,)
    seeds = tuple(rng.normal(size=np.shape(p)) for p in parts)
    return pullback(seeds if isinstance(value, tuple) else seeds[0])


@pytest.mark.sampled(8)
@pytest.mark.parametrize("fn, args, settings, k", _rows())
def test_constant_lists(fn, args, settings, k):
    f = _program(fn, args, settings)
    listed = [a.tolist() if _is_array(a) and i != k else a for i, a in enumerate(args)]
    try:
        fn(*listed, **settings)
        wanted = _bars(f, args, k)
    except (TypeError, ValueError, AttributeError, s2sad.Error) as error:
        pytest.skip(f"the function wants arrays, or a number: {error}")
    assert np.allclose(_bars(f, listed, k), wanted, equal_nan=True)


def products(x):
    return np.dot([0, 1, 2], x) * x + np.dot(x, [0.0, 1.0, 2.0]) + np.vdot((1.0, 2.0, 3.0), x)


def averages(x):
    return np.average(x, weights=[1, 2, 3]) + np.average(x * x, weights=range(1, 4))


def ranges(x):
    a, b = np.meshgrid(range(3), range(2))
    return np.sum(a * x) + np.sum(b * x**2) + np.outer(range(3), x) + x * range(3)


def filled_lists(x):
    weights = []
    for i in range(3):
        weights.append(1.0 + i)
    return np.dot(weights, x) + np.average(x, weights=weights) * x


def special_functions(x):
    return special.agm([1.0, 2.0, 3.0], x) + special.xlogy([1, 2, 3], x) + special.hyp0f1(2.0, x)


def filters(x):
    return signal.convolve(x, [1, 2, 1]) + np.append([0.5], np.append(x, [1]))


@pytest.mark.parametrize(
    "f", [products, averages, ranges, filled_lists, special_functions, filters]
)
def test_programs(f):
    s2sad.check_grads(f, (X,))
