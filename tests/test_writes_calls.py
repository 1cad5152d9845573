"""Calls of functions that write the arrays they are given: gradients, pullbacks, refusals."""

import numpy as np
import pytest

import s2sad
from tests import test_writes
from tests.writing_calls import PROGRAMS, step, tail
from tests.writing_put_back import PROGRAMS as PUT_BACK
from tests.writing_put_back import running

CASES = [
    pytest.param(f, args, k, id=f"{f.__name__}-{k}")
    for f, args in PROGRAMS + PUT_BACK
    for k, a in enumerate(args)
    if isinstance(a, float) or (isinstance(a, np.ndarray) and a.dtype.kind == "f")
]


@pytest.mark.parametrize("f, args, k", CASES)
def test_gradient(f, args, k):
    test_writes.test_gradient(f, args, k)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f, args, k", CASES)
def test_pullback_may_be_called_again(f, args, k):
    test_writes.test_pullback_may_be_called_again(f, args, k)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f, args, k", CASES)
def test_layouts(f, args, k):
    test_writes.test_layouts(f, args, k)


def pair_of(x):
    return x, 2.0 * x


def overlapping(x):
    u = x * x
    step(u, u)
    return np.sum(u * u)


def overlapping_views(x):
    u = x * x
    step(u[1:], u[:-1])
    return np.sum(u * u)


def maybe_overlapping(x):
    u = x * x
    w = u if x[0] > 0 else x * 2.0
    step(w, u)
    return np.sum(u * u)


def rebinds(v):
    v *= 2.0
    v = v * v
    v[0] = 1.0


def argument_rebound(x):
    v = x * x
    rebinds(v)
    return np.sum(v * v)


def part_or_all(A, n):
    A[0] *= A[1]
    return A[n:]


def its_own_tail(x):
    a = x * x
    a = tail(a)
    return np.sum(a * a)


def result_in_its_place(x):
    a = x * x
    a = total(a)
    return a * x[0]


def total(v):
    v *= v
    return np.sum(v)


class Box:
    def __init__(self, v):
        self.v = v

    def grow(self):
        self.v *= self.v[0]


def field_written(x):
    box = Box(x * x)
    box.grow()
    return np.sum(box.v)


@pytest.mark.parametrize("f", [argument_rebound, its_own_tail, result_in_its_place])
def test_a_function_that_writes_what_its_caller_rebinds(f):
    x = np.array([0.5, 1.5, -0.7, 2.0])
    _, pullback = s2sad.vjp(f, x)
    for found in (s2sad.grad(f)(x), pullback(1.0), pullback(1.0)):
        assert found == pytest.approx(numeric(f, x), rel=1e-6)


@pytest.mark.parametrize("f", [overlapping, overlapping_views, maybe_overlapping])
def test_arguments_that_share_memory(f):
    x = np.array([0.5, 1.5, -0.7, 2.0])
    assert s2sad.grad(f)(x) == pytest.approx(numeric(f, x), rel=1e-6)
    assert s2sad.jvp(f, (x,), (x[::-1].copy(),))[1] == pytest.approx(numeric(f, x) @ x[::-1])


def test_a_method_that_writes_an_array_of_its_object_is_written_out():
    x = np.array([0.5, 1.5, -0.7, 2.0])
    found = s2sad.grad(field_written)(x)
    assert found == pytest.approx(numeric(field_written, x), rel=1e-6)


def numeric(f, x, h=1e-6):
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(len(x))])


def with_result_beside(x):
    made = {"a": running(x * x)}
    return np.sum(made["a"] * x), (made["a"][1:], made)


def test_what_is_given_beside_the_loss_is_what_it_was():
    """The reverse of the call puts old content back into the array that the call has returned."""
    x = np.array([0.5, 1.5, -0.7, 2.0])
    expected = with_result_beside(x)
    value, aux = s2sad.grad(with_result_beside, has_aux=True)(x)
    assert np.array_equal(aux[0], expected[1][0])
    assert np.array_equal(aux[1]["a"], expected[1][1]["a"])
    (loss, aux), _ = s2sad.value_and_grad(with_result_beside, has_aux=True)(x)
    assert loss == expected[0]
    assert np.array_equal(aux[0], expected[1][0])
    assert value == pytest.approx(numeric(lambda x: with_result_beside(x)[0], x), rel=1e-6)


def test_a_value_is_what_it_was():
    x, x_bar = np.array([0.5, 1.5, -0.7, 2.0]), np.zeros(4)
    given = s2sad.Duplicated(x, x_bar)
    value, _ = s2sad.autodiff(s2sad.Reverse, running, given, seed=np.ones(4))
    assert np.array_equal(value, running(x))
