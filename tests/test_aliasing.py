"""Memory reached by two ways: refused exactly where it overlaps and is written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import s2sad
from s2sad import AliasError, aliasing
from s2sad.aliasing import reach, reach_shadow, refuse_overlap
from s2sad.stages import ANYWHERE

TABLE = np.arange(6.0)


def writes(x, y):
    x[0] = y[0] * y[1]
    return np.sum(x * y)


def reads(x, y):
    return np.sum(x * y)


def reads_table(x):
    x[0] = TABLE[0] * x[1]
    return np.sum(x * TABLE[:3])


def writes_table(x):
    TABLE[0] = 1.0
    return np.sum(x)


def calls(x, y):
    y = y * 2.0
    return writes(y, x)


OPERATORS = [
    s2sad.grad,
    s2sad.value_and_grad,
    lambda f: lambda *args: s2sad.vjp(f, *args)[1](1.0),
]
each_operator = pytest.mark.parametrize("operator", OPERATORS, ids=["grad", "value", "vjp"])


def overlapping():
    z = np.arange(1.0, 9.0)
    grid = np.arange(24.0).reshape(4, 6)
    return {
        "itself": (z, z),
        "shifted": (z[:4], z[2:6]),
        "steps that meet": (z[::2], z[2:6]),
        "backward": (z[:4], z[4::-1][:4]),
        "rows and columns": (grid[1, :4], grid[:, 2]),
        "view of a view": (z[1:][:3], z[:3]),
    }


def apart():
    z = np.arange(1.0, 9.0)
    grid = np.arange(24.0).reshape(4, 6)
    return {
        "two arrays": (z, z.copy()),
        "even and odd": (z[::2], z[1::2]),
        "halves": (z[:4], z[4:]),
        "columns": (grid[:, 0], grid[:, 1]),
        "checkered": (grid[::2, ::2][0], grid[1::2, 1::2][0]),
        "backward": (z[:4], z[:3:-1]),
    }


@each_operator
@pytest.mark.parametrize("name", overlapping())
def test_overlap_with_what_is_written(operator, name):
    x, y = overlapping()[name]
    kept = x.copy(), y.copy()
    with pytest.raises(AliasError, match="x and y share memory, and writes or its derivative"):
        operator(writes)(x, y)
    assert np.array_equal(x, kept[0]) and np.array_equal(y, kept[1])


@each_operator
@pytest.mark.parametrize("name", apart())
def test_no_common_element(operator, name):
    x, y = apart()[name]
    got = operator(writes)(x, y)
    want = operator(writes)(x.copy(), y.copy())
    assert repr(got) == repr(want)


@each_operator
@pytest.mark.parametrize("name", overlapping())
def test_what_is_only_read_may_overlap(operator, name):
    x, y = overlapping()[name]
    assert repr(operator(reads)(x, y)) == repr(operator(reads)(x.copy(), y.copy()))


def test_after_a_call_without_overlap():
    """What is derived serves all arguments; the overlap is looked at in every call."""
    f = s2sad.grad(writes)
    z = np.arange(8.0)
    for _ in range(3):
        f(z[:4], z[4:])
    with pytest.raises(AliasError):
        f(z[:4], z[1:5])
    f(z[:4], z[4:])


def test_the_place_is_named():
    z = np.arange(4.0)
    with pytest.raises(AliasError) as caught:
        s2sad.grad(writes)(z, z)
    assert isinstance(caught.value, ValueError)
    assert "test_aliasing.py" in str(caught.value) and "y.copy()" in str(caught.value)


def test_globals():
    assert s2sad.grad(reads_table)(np.ones(3)).shape == (3,)
    with pytest.raises(AliasError, match="TABLE and x share memory"):
        s2sad.grad(reads_table)(TABLE[:3])
    with pytest.raises(s2sad.Error):
        s2sad.grad(writes_table)(TABLE[:3])


def test_captured_arrays():
    def made(weights):
        def f(x):
            x[0] *= weights[1]
            return np.sum(x * weights)

        return f

    z = np.arange(6.0)
    mine, other = made(z[:3]), made(z[3:])
    s2sad.grad(other)(z[:3])
    with pytest.raises(AliasError, match="weights and x share memory"):
        s2sad.grad(mine)(z[:3])
    s2sad.grad(mine)(z[3:])
    with pytest.raises(AliasError, match="weights and x share memory"):
        s2sad.grad(other)(z[3:])


@dataclass
class Pair:
    first: np.ndarray
    second: np.ndarray


def test_parts_of_arguments():
    def f(x, pair):
        x *= pair.first
        return np.sum(x * pair.second)

    x, y = np.ones(3), np.arange(3.0)
    s2sad.grad(f)(x, Pair(y, y))
    with pytest.raises(AliasError, match="pair.second and x share memory"):
        s2sad.grad(f)(x, Pair(y, x[::-1]))


def test_an_array_that_overlaps_itself():
    def f(x):
        x[0] = 2.0 * x[1]
        return np.sum(x)

    windows = np.lib.stride_tricks.as_strided(np.arange(4.0), (3, 2), (8, 8))
    with pytest.raises(AliasError, match="Some elements of x share memory with each other"):
        s2sad.grad(f)(windows)
    s2sad.grad(lambda x: np.sum(x * x))(windows)
    s2sad.grad(f)(np.arange(12.0).reshape(3, 4)[::2, ::-2].T)


def test_a_helper_gets_a_copy():
    z = np.arange(1.0, 5.0)
    assert s2sad.grad(reads)(z, z).shape == (4,)


def test_empty_arrays_overlap_nothing():
    z = np.arange(4.0)
    refuse_overlap([*reach("x", z[:0], (ANYWHERE,)), *reach("y", z)], "f")


def test_what_is_too_hard_to_decide_counts_as_overlap(monkeypatch):
    block = np.zeros(10**6, np.int8)
    strided = np.lib.stride_tricks.as_strided
    a = strided(block, (10, 11, 12), (1430, 2310, 1001))
    b = strided(block[1:], (10, 11, 12), (1446, 2322, 1001))
    monkeypatch.setattr(aliasing, "_WORK", 1)
    with pytest.raises(np.exceptions.TooHardError):
        np.shares_memory(a, b, max_work=1)
    assert aliasing._overlap(a, b)


def test_containers_of_a_shadow():
    part = [np.zeros(2)]
    with pytest.raises(AliasError):
        refuse_overlap([*reach("x", part), *reach_shadow("the shadow", part)], "f")
    cyclic = []
    cyclic.append(cyclic)
    refuse_overlap([*reach("x", cyclic, (ANYWHERE,))], "f")
