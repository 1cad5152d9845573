"""Lists, dicts and objects that the program writes: values, gradients, pullbacks, arguments."""

import copy
from dataclasses import dataclass

import numpy as np
import pytest

import s2sad
from tests.writing_containers import PROGRAMS, X

CASES = [
    pytest.param(f, args, k, id=f"{f.__name__}-{k}")
    for f, args in PROGRAMS
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
        if isinstance(part, dict):
            return {key: visit(value) for key, value in part.items()}
        if hasattr(part, "__dict__"):
            new = copy.copy(part)
            for key, value in vars(part).items():
                setattr(new, key, visit(value))
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
    value, gradient = s2sad.value_and_grad(f, wrt=k)(*given)
    assert value == f(*copy.deepcopy(list(args)))
    assert np.allclose(leaves(gradient), slope(f, args, k), rtol=1e-6, atol=1e-7)
    again = s2sad.grad(f, wrt=k)(*given)
    assert leaves(again) == leaves(gradient)
    for mine, original in zip(given, args, strict=True):
        assert leaves(mine) == leaves(original)
        assert not hasattr(mine, "__dict__") or vars(mine).keys() == vars(original).keys()


@pytest.mark.parametrize("f, args, k", CASES)
def test_pullback_may_be_called_again(f, args, k):
    given = copy.deepcopy(list(args))
    value, pullback = s2sad.vjp(f, *given, wrt=k)
    first = leaves(pullback(1.0))
    second = leaves(pullback(1.0))
    assert value == f(*copy.deepcopy(list(args)))
    assert np.allclose(first, slope(f, args, k), rtol=1e-6, atol=1e-7)
    assert first == second


@dataclass
class Box:
    value: float


def unpacked(x):
    boxes = [Box(x[0]), Box(x[1])]
    a, b = boxes
    a.value = b.value * x[2]
    return boxes[0].value * b.value


def iterated(x):
    ys, s = [x[0], x[1]], 0.0
    for y in ys:
        ys[1] = y * x[2]
        s += y
    return s * ys[1]


def items_iterated(x):
    d, s = {"a": x[0], "b": x[1]}, 0.0
    for _, v in d.items():
        d["b"] = x[2] * v
        s += v
    return s * d["b"]


def in_try(x):
    ys = [x[0], x[1]]
    try:
        ys[0] = x[1] * x[2]
    except ValueError:
        pass
    return ys[0] * ys[1]


def twice(x):
    y = x * 2.0
    ys = [y, y]
    for v in ys:
        v *= 3.0
    return np.sum(ys[0])


def kept_by_object(x):
    u = x * 1.0
    b = Box(u)
    u[0] = x[1] * x[2]
    b.value[1] = x[0] * u[0]
    return np.sum(u * b.value)


@pytest.mark.parametrize("f", [unpacked, iterated, items_iterated, in_try, twice, kept_by_object])
def test_refused(f):
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.grad(f)(X)


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
