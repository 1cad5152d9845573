"""The cotangent of a list of lists is a list of lists, also where NumPy makes arrays of them."""

import numpy as np
import pytest
from slopes import check

import s2sad

ROWS = [[0.3, 1.2], [0.7, -0.4]]
MIXED = [np.array([0.3, 1.2]), [0.7, -0.4]]
PAIRS = [(0.3, 1.2), (0.7, -0.4)]
TUPLES = ((0.3, 1.2), (0.7, -0.4))
NUMBERS = [0.3, 1.2, 0.7]
RAGGED = [[0.3], [0.7, -0.4, 1.2]]
DEEP = [[[0.3, 1.2]], [[0.7, -0.4]]]
CONDITIONS = np.array([[True, False], [False, True]])


def weighed(made):
    return np.sum(np.sin(made) * np.cos(np.arange(np.size(made)).reshape(np.shape(made))))


def appended(a):
    return weighed(np.append(a, a[0]))


def appended_along(a):
    return weighed(np.append(a, a, axis=0))


def below(a):
    return weighed(np.vstack(a))


def beside(a):
    return weighed(np.hstack(a))


def behind(a):
    return weighed(np.dstack(a))


def stacked(a):
    return weighed(np.stack(a, axis=1))


def joined(a):
    return weighed(np.concatenate(a) ** 2)


def flattened(a):
    return weighed(np.concatenate(a, axis=None))


def columns(a):
    return weighed(np.column_stack(a))


def block(a):
    return weighed(np.block(a))


def chosen(a):
    return weighed(np.choose([1, 0], a))


def multiplied(a):
    return weighed(np.linalg.multi_dot([a, a, a]))


def twice(a):
    return weighed(np.vstack(a)) * weighed(np.hstack(a)) + a[0][0] ** 3


def in_a_loop(a):
    s = 0.0
    for k in range(3):
        s = s + weighed(np.concatenate([a[0], a[1], a[k % 2]])) * a[1][0]
    return s


NESTED = (ROWS, MIXED, PAIRS, TUPLES, DEEP)
ALL = [
    *((f, a) for f in (appended, below, beside, behind, stacked, joined, columns) for a in NESTED),
    *((f, a) for f in (appended_along, twice) for a in (ROWS, MIXED, PAIRS, TUPLES)),
    *((f, a) for f in (flattened, chosen) for a in (ROWS, MIXED, TUPLES)),
    *((f, NUMBERS) for f in (appended, below, beside, behind, columns, block)),
    *((f, RAGGED) for f in (beside, joined, flattened, in_a_loop)),
    *((f, ROWS) for f in (block, in_a_loop, multiplied)),
    (multiplied, TUPLES),
    (block, DEEP),
]


def structure(a):
    if isinstance(a, list | tuple):
        return type(a)(structure(part) for part in a)
    return a.shape if isinstance(a, np.ndarray) else isinstance(a, float)


@pytest.mark.parametrize(("f", "a"), ALL)
def test_gradient(f, a):
    check(f, a)
    assert structure(s2sad.grad(f)(a)) == structure(a)
    _, back = s2sad.vjp(f, a)
    assert structure(back(1.0)) == structure(a)


@pytest.mark.parametrize("f", [below, beside, joined, stacked, appended, columns, twice])
def test_second_derivatives(f):
    vector, unravel = s2sad.ravel(ROWS)
    direction = unravel(np.cos(np.arange(4.0)))
    _, slope = s2sad.jvp(s2sad.grad(f), (ROWS,), (direction,))

    def gradient(t):
        return s2sad.ravel(s2sad.grad(f)(unravel(vector + t * np.cos(np.arange(4.0)))))[0]

    expected = (gradient(1e-5) - gradient(-1e-5)) / 2e-5
    assert s2sad.ravel(slope)[0] == pytest.approx(expected, rel=1e-6, abs=1e-8)
    of_sum = s2sad.grad(lambda a: sum(sum(row) for row in s2sad.grad(f)(a)))(ROWS)
    assert structure(of_sum) == structure(ROWS)


def flipped(x, y):
    return np.sum(np.fliplr([x, x]) ** 2) * y[0]


def stacked(x, y):
    return np.sum(np.cumsum([x, y], axis=1) ** 2)


def less(x, y):
    return np.sum((np.array(y) - x) ** 2)


def from_items(x, y):
    return np.sum((x[0], x[1], y[2]) - np.ones(3) * x[2])


def taken_in(x, y):
    t = np.ones(3)
    t += x
    t *= y
    return np.sum(t * t)


@pytest.mark.parametrize("sequence", [list, tuple])
@pytest.mark.parametrize("f", [flipped, stacked, less, from_items, taken_in])
def test_lists_and_tuples_where_arrays_are_wanted(f, sequence):
    args = sequence([0.7, -1.3, 0.4]), sequence([1.1, 0.6, -0.8])
    check(f, *args)
    for bar in s2sad.grad(f, wrt=(0, 1))(*args):
        assert type(bar) is sequence
