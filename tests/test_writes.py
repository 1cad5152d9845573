"""Arrays written in place: values, gradients, pullbacks, and what is left as it was."""

import numpy as np
import pytest

import s2sad
from tests.writing import PROGRAMS, coupled, grown, listed

CASES = [
    pytest.param(f, args, k, id=f"{f.__name__}-{k}")
    for f, args in PROGRAMS
    for k, a in enumerate(args)
    if isinstance(a, float) or (isinstance(a, np.ndarray) and a.dtype.kind == "f")
]


def copied(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def is_single(f, argument):
    """Say whether a program computes in single precision."""
    return getattr(f, "single", False) or getattr(argument, "dtype", None) == np.float32


def slope(f, args, k):
    """Central differences of f with respect to its k-th argument."""
    eps = 1e-2 if is_single(f, args[k]) else 1e-6
    found = np.zeros(np.shape(args[k]))
    for at in np.ndindex(found.shape):
        ends = []
        for sign in (1, -1):
            given = copied(args)
            if found.shape:
                given[k][at] += sign * eps
            else:
                given[k] += sign * eps
            ends.append(float(f(*given)))
        found[at] = (ends[0] - ends[1]) / (2 * eps)
    return found


def close(got, want, single):
    scale = 1 + np.abs(want).max()
    return np.allclose(got, want, rtol=0, atol=(5e-2 if single else 1e-5) * scale)


def check_gradient(f, args, k):
    want = slope(f, args, k)
    given = copied(args)
    derived = s2sad.value_and_grad(f, wrt=k)
    value, gradient = derived(*given)
    assert value == f(*copied(args))
    assert close(gradient, want, is_single(f, args[k]))
    assert np.array_equal(gradient, derived(*given)[1])
    for mine, original in zip(given, args, strict=True):
        assert np.array_equal(mine, original)
        if isinstance(mine, np.ndarray) and isinstance(gradient, np.ndarray):
            assert not np.shares_memory(mine, gradient)
    if isinstance(args[k], np.ndarray):
        assert gradient.shape == args[k].shape and gradient.dtype == args[k].dtype


def check_pullback(f, args, k):
    given = copied(args)
    value, pullback = s2sad.vjp(f, *given, wrt=k)
    first = pullback(1.0)
    # Both are sums of the same terms, taken in an order that memory decides.
    assert np.allclose(first, s2sad.grad(f, wrt=k)(*given), rtol=1e-12, atol=1e-15)
    for a in given:
        if isinstance(a, np.ndarray):
            a += 100.0
    second = pullback(1.0)
    assert value == f(*copied(args))
    assert close(first, slope(f, args, k), is_single(f, args[k]))
    assert np.array_equal(first, second)


def layouts(a):
    """The same content in every layout that an array may have."""
    wide = np.zeros((*a.shape[:-1], 2 * a.shape[-1]))
    wide[..., ::2] = a
    backward = a[..., ::-1].copy()[..., ::-1]
    fixed = a.copy()
    fixed.flags.writeable = False
    return [np.asfortranarray(a), wide[..., ::2], backward, fixed]


def check_value(f, args, k, position):
    """A program whose value depends on how its argument lies in memory."""
    laid = lambda a: layouts(a)[position]  # noqa: E731
    given = copied(args)
    given[k] = laid(args[k])
    value, gradient = s2sad.value_and_grad(f, wrt=k)(*given)
    again, pullback = s2sad.vjp(f, *given, wrt=k)
    assert value == again == f(*copied(args)[:k], laid(args[k]), *copied(args)[k + 1 :])
    want = slope(lambda *a: f(*a[:k], laid(a[k]), *a[k + 1 :]), args, k)
    assert close(gradient, want, False) and np.array_equal(gradient, pullback(1.0))


def check_layouts(f, args, k):
    if not isinstance(args[k], np.ndarray) or args[k].dtype != np.float64:
        pytest.skip("a number, or single precision")
    want = s2sad.grad(f, wrt=k)(*copied(args))
    for position, other in enumerate(layouts(args[k])):
        given = copied(args)
        if getattr(f, "by_layout", False) and other.flags.writeable:
            check_value(f, args, k, position)
            continue
        given[k] = other
        kept = other.copy()
        assert np.allclose(s2sad.grad(f, wrt=k)(*given), want, rtol=1e-12, atol=1e-12)
        assert np.array_equal(other, kept)


@pytest.mark.parametrize("f", [grown, coupled, listed], ids=lambda f: f.__name__)
def test_pullback_leaves_what_it_is_given(f):
    """The cotangent of a result belongs to who gives it, an array or a structure of arrays."""
    x = np.arange(1.0, 6.0)
    value, pullback = s2sad.vjp(f, x, 0.3, wrt=(0, 1))
    given = [np.ones(5), np.ones(5)]
    seed = given[0] if isinstance(value, np.ndarray) else type(value)(given)
    first = pullback(seed)
    second = pullback(seed)
    assert np.array_equal(given, np.ones((2, 5)))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


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
