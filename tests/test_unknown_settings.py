"""What numbers and truth values that are not known decide: how many axes a result has."""

import time

import numpy as np
import pytest

import s2sad
from tests import slopes

rng = np.random.default_rng(31)
A, w = rng.standard_normal((3, 3)), rng.standard_normal(3)


def kept(x, w, keep):
    return np.sum(np.sin(np.sum(x, axis=0, keepdims=keep)) * w[0])


def meant(x, keep):
    return np.sum(np.mean(x, axis=1, keepdims=keep) * x)


def over(x, axes):
    return np.sum(np.sin(np.tensordot(x, x, axes)) * x[0])


def evaluated(x, by_row):
    """Both fit only where lengths are the same."""
    return np.sum(np.polynomial.polynomial.polyval(x[0], A[:2], tensor=by_row) * x[0])


def axes_at_least(x, n):
    return np.sum(np.array(x, ndmin=n) * x)


@pytest.mark.parametrize(
    "f, args",
    [(kept, (A, w, False)), (meant, (A, True)), (over, (A, 1)), (over, (A, 2))]
    + [(axes_at_least, (A, 3)), (evaluated, (A, False)), (evaluated, (A, True))],
)
def test_axes_that_depend_on_values_are_derived_for_these(f, args):
    slopes.check(f, *args, constant=range(1, len(args)))


def in_branches(x, keep):
    if keep:
        t = np.sum(np.mean(x, axis=1, keepdims=True) * x)
    else:
        t = np.sum(np.mean(x, axis=1) * x)
    return t * t


def of_its_axes(x, y):
    return np.sum(np.sin(np.tensordot(x, y, np.ndim(x))) * y[0])


def along(x, k):
    return np.sum(np.cumsum(np.sum(x, axis=k)) ** 2)


@pytest.mark.parametrize(
    "f, args",
    [
        (along, (A, 0)),
        (along, (A, 1)),
        (in_branches, (A, True)),
        (in_branches, (A, False)),
        (of_its_axes, (A, A + 0.5)),
    ]
    + [(of_its_axes, (w, A))],
)
def test_axes_that_are_known(f, args):
    slopes.check(f, *args, constant=range(1, 3))


def turned(x):
    return np.sum(np.moveaxis(x * x, 0, 2)[1:] ** 2)


@pytest.mark.parametrize("axes", [6, 8])
def test_arrays_of_many_axes_are_looked_at_in_small(axes):
    x = rng.standard_normal((2,) * axes)
    start = time.process_time()
    found = s2sad.grad(turned)(x)
    assert time.process_time() - start < 5.0
    moved = np.zeros_like(x)
    moved[:, :, 1:] = 0.0
    expected = 4.0 * x**3
    expected[:, 0] = 0.0  # the first of what stands first now is not in the sum
    np.testing.assert_allclose(found, expected)
