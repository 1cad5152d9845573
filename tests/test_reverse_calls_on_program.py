"""Reverse mode from program to program: writes under indices, calls and rules, turned round.

Beside central differences.
"""

import math

import numpy as np
import pytest
from scipy import integrate, optimize
from test_reverse_on_program import X, derived

import s2sad


def index_that_repeats(x):
    y = np.zeros(4)
    at = np.array([0, 1, 1, 3])
    y[at] = np.append(x, x[0] * x[1])
    y[[2, 2, 1]] += x**2
    y[[0, 0, 1]] *= x
    at[2] = 0
    return np.sum(y * np.arange(1.0, 5.0) ** 2)


def number_at_several_places(x):
    M = np.outer(x, x)
    M[[0, 0, 1], [1, 1, 2]] = x[0] * 2.0
    M[1:, [0, 0]] -= x[1]
    return np.sum(M**3)


def view_written_under_a_list(x):
    M = np.outer(x, x)
    row = M[1]
    row[[0, 2, 2]] = M[2] * x
    return np.sum(M * M[0])


def added_at_each(x):
    y, at = np.ones(3), [0, 0, 2]
    np.add.at(y, at, x**2)
    np.subtract.at(y, (slice(1, None),), x[0])
    at[0] = 1
    return np.sum(y * y * x)


def taken_twice(x):
    return np.sum(np.take(x * x, np.array([0, 0, 2])) * np.arange(1.0, 4.0))


def two_arrays(a):
    return np.sin(a) * 2.0, a * a


def item_of_a_tuple_written(x):
    both = two_arrays(x)
    both[1][0] = x[1]
    return np.sum(both[0] * both[1])


def sequences_made_arrays(x):
    numbers, rows = [], [[x[0], 1.0], [x[1], x[2]]]
    for i in range(3):
        numbers.append(x[i] * x[0])
    a, b = np.array(numbers), np.array(rows)
    pair = ((x[0], 1.0), (x[1], x[2]))
    return np.sum(a * a) * len(numbers) + np.sum(b @ np.array(pair)) + math.dist(numbers, x)


def real_and_complex_joined(x):
    a = np.array([x[0] + 1j * x[1], x[2]])
    return np.sum(np.abs(a) ** 2)


def arrays_in_a_list_written_later(x):
    A = np.outer(x, x)
    parts = [A, A * 2.0]
    product = np.linalg.multi_dot(parts)
    A[0, 0] = 5.0
    return np.sum(product) + np.sum(A)


def summed_before_it_shrinks(x):
    numbers = [x[0], x[1] * x[2], x[2]]
    total = sum(numbers)
    numbers.pop()
    return total * sum(numbers)


def applied_twice(fn, a):
    return fn(fn(a))


@s2sad.pullback(applied_twice, calls={"fn": "fn(a)"})
def pull_applied_twice(out_bar, out, fn, a):
    inner, pull_inner = fn(a)
    _, pull_outer = fn(inner)
    inner_bar, outside = pull_outer(out_bar)
    a_bar, more = pull_inner(inner_bar)
    return tuple(x + y for x, y in zip(outside, more, strict=True)), a_bar


def rule_that_calls_a_function(x):
    w = x * 2.0
    w[0] = x[1]
    total = np.sum(applied_twice(lambda u: np.sin(u) * w, x))
    w[1] = x[0]
    return total + np.sum(w * w)


def function_that_is_defined_later(x):
    def outer(u):
        return u * inner(u)

    def inner(u):
        return u + x[1]

    return np.sum(applied_twice(outer, x))


def integral_up_to(x):
    return integrate.quad(lambda t: np.sin(t * x[0]) * x[1], 0.0, x[2])[0]


def solution_with_a_structure(x):
    p = {"a": x[0], "b": [x[1], 3.0]}
    return np.sum(optimize.root(lambda u: u**3 + p["a"] * u - p["b"][0], np.ones(2)).x)


def solution_with_a_list_that_changes(x):
    cs = [x[0], x[1] * x[0]]
    for _ in range(2):
        u = optimize.brentq(lambda t: t**3 - cs[0] * cs[1] - 1.0, 0.0, 99.0)  # noqa: B023
        cs.append(x[2] * u)
        cs[0] = cs[0] * u
    return u * cs[0] * cs[2]


def solution_with_a_dict_that_changes(x):
    d = {"a": x[0], "b": x[1] * x[0]}
    u = optimize.brentq(lambda t: t**3 - d["a"] * d["b"] - 1.0, 0.0, 99.0)
    d["z"] = u * x[2]
    d["a"] = 3.0 * x[2]
    return u * d["a"] * d["z"]


def solution_with_memory_by_two_names(x):
    a = x * 1.0
    b = [a]
    u = optimize.brentq(lambda t: t**3 - b[0][0] * a[1] - 1.0, 0.0, 9.0)
    a *= 2.0
    b.append(a * u)
    return u * np.sum(a) * b[1][0]


def checkpoints_of_pairs(x):
    c = x[2]
    for i, (a, b) in s2sad.checkpointed(enumerate(zip(x, 2.0 * x, strict=True)), snapshots=2):
        c = np.sin(c * a) + b * i
    return c


class Counted:
    def __init__(self, n):
        self.sums, self.rounds = np.zeros(n), 0

    def note(self, u):
        self.sums[1:] += np.sin(u[1:]) - u[:-1]
        self.rounds += 1


def checkpoints_of_objects(x):
    held, u = Counted(3), x * 1.0
    for _ in s2sad.checkpointed(range(5), snapshots=2):
        u[1:] = u[1:] + x[0] * np.sin(u[1:]) * u[:-1]
        held.note(u)
    return np.sum(u * held.sums) / held.rounds


def checkpoints_of_arrays(x):
    u = x * 1.0
    for _ in s2sad.checkpointed(range(3), snapshots=2):
        u[1:] += np.sin(u[:-1])
    u[0] = u[2]
    return np.sum(u * u)


def any_number(first, *rest, **named):
    first[0] = named["k"] * rest[1]
    return np.sum(first * rest[0] * named["v"]), rest[0] * named["k"]


def any_number_of_arguments(x):
    w = x * 1.0
    total, more = any_number(w, x * x, 2.0, k=x[1], v=x)
    return total * np.sum(w * more)


def kept_and_written(v):
    t = (v, 1.0)
    v *= v[0]
    return t


def memory_in_a_tuple_that_a_call_returns(x):
    a = x * x
    t = kept_and_written(a)
    return np.sum(t[0] * a)


def step_of(carry, x):
    h, c = carry
    c = np.tanh(c + x) * h
    return (h * c, c), h


def tuples_carried(x):
    carry, seen = (x * 1.0, x**2), []
    for _ in range(3):
        carry, y = step_of(carry, x)
        seen.append(y)
    seen[0][1] = 2.0
    return np.sum(np.stack(seen) ** 2) * np.sum(carry[1])


PROGRAMS = [
    memory_in_a_tuple_that_a_call_returns,
    rule_that_calls_a_function,
    function_that_is_defined_later,
    integral_up_to,
    solution_with_a_structure,
    solution_with_a_list_that_changes,
    solution_with_a_dict_that_changes,
    solution_with_memory_by_two_names,
    checkpoints_of_pairs,
    checkpoints_of_objects,
    checkpoints_of_arrays,
    any_number_of_arguments,
    item_of_a_tuple_written,
    sequences_made_arrays,
    real_and_complex_joined,
    arrays_in_a_list_written_later,
    summed_before_it_shrinks,
    index_that_repeats,
    number_at_several_places,
    view_written_under_a_list,
    added_at_each,
    taken_twice,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_beside_central_differences(f):
    value, gradient = derived(f, X)(X)
    step = 1e-6
    slopes = [(f(X + step * e) - f(X - step * e)) / (2 * step) for e in np.eye(3)]
    assert value == pytest.approx(f(X), rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


class Motion:
    def __init__(self, x, v):
        self.x = x
        self.v = v


def structure_of_a_rule_changed(x):
    s = Motion(x, 0.0 * x)
    for _ in s2sad.checkpointed(range(3), snapshots=2):
        s.v = s.v - 0.1 * np.sin(s.x)
        s.x = s.x + 0.1 * s.v
    old = s.x
    s.x = s.v * 2.0
    return np.sum(s.x * s.v) + np.sum(old * s.x)


@pytest.mark.parametrize("f", [tuples_carried, structure_of_a_rule_changed])
def test_structures_that_are_carried(f):
    _, gradient = derived(f, X)(X)
    slopes = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)
