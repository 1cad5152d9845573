"""Lists, dicts and objects that the program writes: values, gradients, pullbacks, arguments."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import s2sad
from tests.writing_containers import PROGRAMS, X
from tests.writing_dicts import PROGRAMS as DICTS
from tests.writing_given import PROGRAMS as GIVEN
from tests.writing_layers import PROGRAMS as LAYERS
from tests.writing_members import PROGRAMS as MEMBERS
from tests.writing_objects import PROGRAMS as OBJECTS
from tests.writing_shared import PROGRAMS as SHARED
from tests.writing_structures import PROGRAMS as STRUCTURES

CASES = [
    pytest.param(f, args, k, id=f"{f.__name__}-{k}")
    for f, args in [*PROGRAMS, *DICTS, *STRUCTURES, *OBJECTS, *MEMBERS, *LAYERS, *GIVEN, *SHARED]
    for k in range(len(args))
]


def leaves(x):
    """Return the numbers of a structure, in order; what carries no derivative counts as none."""
    if isinstance(x, float):
        return [x]
    if isinstance(x, np.ndarray):
        return list(x.ravel())
    if isinstance(x, list | tuple):
        return [v for part in x for v in leaves(part)]
    if isinstance(x, dict):
        return [v for part in x.values() for v in leaves(part)]
    if hasattr(x, "__dict__"):
        return [v for part in vars(x).values() for v in leaves(part)]
    return []


def moved(x, at, eps):
    """Return a copy of a structure whose number at a position is moved."""
    count = 0

    def visit(part):
        nonlocal count
        if isinstance(part, float):
            count += 1
            return part + eps if count - 1 == at else part
        if isinstance(part, np.ndarray):
            part = part.copy()
            if count <= at < count + part.size:
                part.flat[at - count] += eps
            count += part.size
            return part
        if isinstance(part, list):
            return [visit(p) for p in part]
        if isinstance(part, tuple):
            return getattr(part, "_make", tuple)([visit(p) for p in part])
        if isinstance(part, dict):
            return {key: visit(value) for key, value in part.items()}
        if hasattr(part, "__dict__"):
            new = copy.copy(part)
            for key, value in vars(part).items():
                object.__setattr__(new, key, visit(value))
            return new
        return part

    return visit(x)


def slope(f, args, k):
    found = []
    for at in range(len(leaves(args[k]))):
        ends = []
        for eps in (1e-6, -1e-6):
            given = copy.deepcopy(list(args))
            given[k] = moved(given[k], at, eps)
            ends.append(float(f(*given)))
        found.append((ends[0] - ends[1]) / 2e-6)
    return np.array(found)


@pytest.mark.parametrize("f, args, k", CASES)
def test_gradient(f, args, k):
    given = copy.deepcopy(list(args))
    derived = s2sad.value_and_grad(f, wrt=k)
    value, gradient = derived(*given)
    assert value == f(*copy.deepcopy(list(args)))
    assert np.allclose(leaves(gradient), slope(f, args, k), rtol=1e-6, atol=1e-7)
    assert leaves(derived(*given)[1]) == leaves(gradient)
    for mine, original in zip(given, args, strict=True):
        assert leaves(mine) == leaves(original)
        assert not hasattr(mine, "__dict__") or vars(mine).keys() == vars(original).keys()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("f, args, k", CASES)
def test_pullback_may_be_called_again(f, args, k):
    given = copy.deepcopy(list(args))
    value, pullback = s2sad.vjp(f, *given, wrt=k)
    first = leaves(pullback(1.0))
    second = leaves(pullback(1.0))
    assert value == f(*copy.deepcopy(list(args)))
    assert np.allclose(first, slope(f, args, k), rtol=1e-6, atol=1e-7)
    assert first == second
    assert np.allclose(first, leaves(s2sad.grad(f, wrt=k)(*given)), rtol=1e-12, atol=1e-15)


@dataclass
class Box:
    value: float


def first_written(ps, x):
    ps[0][0] = x
    return ps[1][0] * 2.0


def test_an_array_twice_in_an_argument_is_refused():
    w = np.ones(2)
    with pytest.raises(s2sad.AliasError, match="share memory"):
        s2sad.grad(first_written, wrt=1)([w, w], 3.0)
    assert s2sad.grad(first_written, wrt=1)([w, w.copy()], 3.0) == 0.0


def kept_in_default(a, ys=[1.0, 2.0]):  # noqa: B006
    ys[0] = ys[0] * a
    return ys[0] * a


def test_what_lasts_from_call_to_call_is_refused():
    def f(x):
        return kept_in_default(x[0]) * kept_in_default(x[1])

    with pytest.raises(s2sad.UnsupportedError, match="lasts from call to call"):
        s2sad.grad(f)(X)


def rows_first(rows, x):
    rows[0][0] = x
    return rows[1][0] * 2.0 * rows[0][0]


def entries_first(d, x):
    d["a"]["v"] = x
    return d["b"]["v"] * 2.0


def two_lists(p, q, x):
    p[0] = x
    return q[0] * x


def test_a_list_or_dict_reached_by_two_ways_is_refused():
    row, entry = [1.0], {"v": 1.0}
    with pytest.raises(s2sad.AliasError, match=r"rows\[0\] and rows\[1\] share memory"):
        s2sad.grad(rows_first, wrt=1)([row, row], 3.0)
    with pytest.raises(s2sad.AliasError, match=r"d\['a'\] and d\['b'\] share memory"):
        s2sad.grad(entries_first, wrt=1)({"a": entry, "b": entry}, 3.0)
    with pytest.raises(s2sad.AliasError, match="p and q share memory"):
        s2sad.grad(two_lists, wrt=2)(row, row, 3.0)
    assert s2sad.grad(two_lists, wrt=2)([1.0], row, 3.0) == 1.0


KEPT = [0.0]


class Registry:
    known = [0.0]  # noqa: RUF012

    def __init__(self, a):
        self.a = a

    def put(self, v):
        self.known.append(v)


def put(v):
    kept = KEPT
    kept.append(v)


def put_into_a_class(x):
    registry = Registry(x)
    registry.put(x[0] * 2.0)
    return registry.known[-1] * x[1]


def put_into_a_class_by_a_name(x):
    known = Registry(x).known
    known.append(x[0] * 2.0)
    return Registry.known[-1] * x[1]


def put_into_a_global(x):
    put(x[0] * 2.0)
    return KEPT[-1] * x[1]


@pytest.mark.parametrize("f", [put_into_a_class, put_into_a_class_by_a_name, put_into_a_global])
def test_what_classes_and_globals_hold_keeps_no_derivative(f):
    with pytest.raises(s2sad.Error, match="lasts from call to call|which is constant"):
        s2sad.grad(f)(X)


def shown(x):
    d = {"a": x[0], "b": [x[1]]}
    d["a"] = d["b"][0] * x[2]
    d["b"].append(x[0])
    return d


def test_a_structure_given_as_seed_stays_as_it_is():
    y, pullback = s2sad.vjp(shown, X)
    seed = {"a": 1.0, "b": [2.0, 3.0]}
    for _ in range(2):
        assert np.allclose(pullback(seed), [3.0, 2.0 + X[2], X[1]])
        assert seed == {"a": 1.0, "b": [2.0, 3.0]}
    assert y == shown(X)


def grown(x, n):
    path = [x, 2.0 * x]
    for k in range(n):
        path.append(path[k] * path[-1])
    return path


def as_array(x):
    return np.array(grown(x, 2))


def as_sum(x):
    path = [x]
    for _ in range(3):
        path.append(path[-1] * path[0])
    return np.ones((4, 3)) + np.array(path)


def as_line(x):
    path = [x, 2.0 * x]
    for k in range(2):
        path.append(path[k] * path[-1])
    return np.concatenate(path).reshape(4, 3)


@pytest.mark.parametrize("f", [as_array, as_sum, as_line])
def test_the_rows_of_a_seed_stay_as_they_are(f):
    y, pullback = s2sad.vjp(f, X)
    seed = np.arange(12.0).reshape(4, 3)
    first, second = pullback(seed), pullback(seed)
    assert np.array_equal(seed, np.arange(12.0).reshape(4, 3))
    assert np.array_equal(first, second) and not np.shares_memory(first, seed)
    want = numeric_along(lambda v: np.sum(f(v) * seed))
    assert np.allclose(first, want, rtol=1e-6) and np.array_equal(y, f(X))


def numeric_along(f, h=1e-6):
    return [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(3)]


def stacked_rows(rows):
    return np.stack(rows)


def test_the_gradients_of_a_list_share_no_memory_with_the_seed():
    _, pullback = s2sad.vjp(stacked_rows, [X, 2.0 * X])
    seed = np.ones((2, 3))
    gradients = pullback(seed)
    assert not any(np.shares_memory(g, seed) for g in gradients)
    gradients[0][...] = 7.0
    assert np.array_equal(gradients[1], np.ones(3))
