"""Reverse mode from program to program: one program for each thing that it turns round.

Beside central differences.
"""

import inspect

import numpy as np
import pytest

import s2sad
from s2sad import kinds as K
from s2sad import pipeline
from s2sad.linear import turned_regions
from s2sad.linear.tangent_table import NotYet
from s2sad.operators.deriving import loaded, printed
from s2sad.operators.higher import HIGHER
from s2sad.requests import Request

X = np.array([0.3, 0.7, 1.1])


class Layer:
    def __init__(self, w):
        self.w = w
        self.scale = 2.0 * w[0]


def rows_in_a_list(x):
    M = np.outer(x, x)
    rows = [M[0], M[1]]
    rows[1] *= x[2]
    rows.append(x * rows[0])
    M[0] = 2.0 * rows[2]
    return np.sum(M**2) + rows[2][0]


def view_by_a_call(x):
    M = np.outer(x, x)
    N = M.T
    N[0] *= x[1]
    return np.sum(M[1] * N[2] + M[:, 0])


def one_array_in_two_lists(x):
    y = x * 2.0
    one, other = [y], [y, x]
    one[0][1] = x[0] ** 2
    return np.sum(one[0] * other[0] * other[1])


def loop_over_a_list_that_grows(x):
    parts = [x * 1.0]
    for i in range(2):
        parts.append(parts[-1] * x[i])
    total = 0.0
    for part in parts:
        part[0] *= x[2]
        total += np.sum(part**2)
    return total


def memory_handed_by_a_branch(x):
    a, b = x * 1.0, x**2
    chosen = a if x[0] > 1.0 else b
    chosen[1] *= x[2]
    return np.sum(a * b)


def first_of(parts):
    parts[0][1] = parts[1][0] ** 2
    return parts[0]


def view_that_a_call_returns(x):
    parts = [x * 1.0, x**2]
    first = first_of(parts)
    first[0] *= x[1]
    return np.sum(parts[0] * parts[1])


def object_with_memory_and_a_number(x):
    layer = Layer(x * 1.0)
    layer.w[1] = layer.scale
    layer.scale = layer.scale * x[2]
    return np.sum(layer.w**2) * layer.scale


def memory_put_in_the_place_of_other_memory(x):
    parts = [x, x * 2.0]
    for i in range(2):
        parts[i] = np.sin(parts[i - 1]) * x
    return np.sum(parts[0] * parts[1])


def numbers_summed(x):
    return sum([x[0] * x[1], x[2] ** 2]) * np.sum(sum([x, x * 2.0]))


def popped_where_it_is_added(x):
    ys = [x[0]]
    for k in range(3):
        ys.append(0.5 * ys[-1] + k)
    return ys[-1] * ys[0] + x[1]


def rows_unpacked(x):
    M = np.outer(x, x)
    a, b, c = M
    a[:] = b * x
    b += c
    return np.sum(M * M)


def index_of_lists(x):
    return np.sum(x[[0, 0, 2]] * np.arange(3.0)) + np.outer(x, x)[[0, 0], [1, 1]].sum()


def root_of_zero(x):
    return np.sum(np.sqrt(np.where(x > 0.5, x, 0.0))) + np.sum(np.maximum(x, 0.5) ** 0.5)


def halves(x):
    return np.concatenate([x[:1], x[1:]]) @ np.stack([x, x, x])[0]


def numbers_joined_to_an_empty_list(x):
    ys = []
    for i in range(3):
        ys.append(x[i] * x[0])
    return sum(ys) * ys[2]


PROGRAMS = [
    numbers_joined_to_an_empty_list,
    rows_in_a_list,
    view_by_a_call,
    one_array_in_two_lists,
    loop_over_a_list_that_grows,
    memory_handed_by_a_branch,
    view_that_a_call_returns,
    object_with_memory_and_a_number,
    memory_put_in_the_place_of_other_memory,
    numbers_summed,
    popped_where_it_is_added,
    rows_unpacked,
    index_of_lists,
    halves,
]


def derived(f, *args):
    """Return the function of value and gradient with respect to the first argument."""
    names = list(inspect.signature(f).parameters)
    params = tuple((n, K.kind_of(v, n)) for n, v in zip(names, args, strict=True))
    request = Request(f, params, (names[0],), True, "value_and_grad")
    d = pipeline.derive(request, HIGHER)
    return loaded(printed(d), d)[d.entry]


@pytest.mark.parametrize("f", PROGRAMS)
def test_beside_central_differences(f):
    value, gradient = derived(f, X)(X)
    step = 1e-6
    slopes = [(f(X + step * e) - f(X - step * e)) / (2 * step) for e in np.eye(3)]
    assert value == pytest.approx(f(X), rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


def test_at_a_singular_point():
    value, gradient = derived(root_of_zero, X)(X)
    assert value == root_of_zero(X)
    np.testing.assert_allclose(gradient, [0.0, *1.0 / np.sqrt(X[1:])], rtol=1e-12)


def test_what_cannot_be_turned_round_is_refused_where_it_stands(monkeypatch):
    def planted(*given):
        raise NotYet("an operation of a test")

    monkeypatch.setattr(turned_regions, "turned_op", planted)
    with pytest.raises(s2sad.UnsupportedError) as caught:
        s2sad.grad(halves)(X)
    said = str(caught.value)
    assert said.startswith("Reverse mode does not support this yet: an operation of a test.\n")
    assert said.endswith("Write it with plain operations, or make its inputs Const.")
    assert caught.value.place.function == "halves" and "^^^" in said


def put_anew(parts):
    parts[0] = np.tanh(parts[0] * parts[1])
    return np.sum(parts[0] * parts[1])


def test_of_a_list_that_is_changed():
    parts = [X, X**2]
    value, (first, second) = derived(put_anew, parts)([X, X**2])
    assert value == put_anew([X, X**2])
    t = np.tanh(X**3)
    np.testing.assert_allclose(first, (1.0 - t**2) * X**4, rtol=1e-12)
    np.testing.assert_allclose(second, (1.0 - t**2) * X**3 + t, rtol=1e-12)


def test_an_array_given_twice_has_two_cotangents():
    def both(parts):
        held = [parts[0], parts[1]]
        held.append(held[0] * held[1])
        return np.sum(held[2] * held[0])

    _, gradient = derived(both, [X, X.copy()])([X, X])
    np.testing.assert_allclose(gradient, [2.0 * X * X, X * X], rtol=1e-12)


def test_equal_terms_that_add_up_to_an_argument_are_a_copy_of_it():
    def f(x):
        return 0.5 * np.dot(x, x)

    x = np.array([0.3, -0.7, 1.1])
    assert "x.copy()" in s2sad.grad(f).source(x)
    value, pull = s2sad.vjp(f, x)
    found = pull(1.0)
    found += 1.0
    np.testing.assert_array_equal(pull(1.0), [0.3, -0.7, 1.1])
    np.testing.assert_array_equal(x, [0.3, -0.7, 1.1])

    def g(x):
        y = x * 2.0
        s = 0.5 * np.sum(y * y)
        y[1:] *= x[:-1]
        return s + 0.5 * np.sum(y * y)

    slopes = [(g(x + e) - g(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(s2sad.grad(g)(x), slopes, rtol=1e-6)
