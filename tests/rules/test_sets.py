"""The rules of rules/sets.py: each value from the first place where it stands."""

import numpy as np
import pytest

from s2sad.registry import rule_for
from s2sad.testing import check_rule
from tests import slopes

a = np.array([0.5, -1.0, 2.0, 0.25, 7.0])
b = np.array([3.1, -2.0, 0.75])
A = np.array([[2.0, 1.0, 0.5], [0.0, 4.0, 3.0]])
Z = np.array([1.0 + 2.0j, -0.5j, 1.0 - 1.0j])

ROWS = [
    *[(np.unique, (x,), {}) for x in (a, A, Z, a[:0], np.array(0.7))],
    (np.unique, (a,), {"return_index": True}),
    (np.unique, (A,), {"return_inverse": True, "return_counts": True}),
    (np.unique, (A,), {"axis": 0}),
    (np.unique, (A,), {"axis": -1, "return_counts": True}),
    (np.unique_values, (A,), {}),
    (np.unique_values, (Z,), {}),
    (np.unique_all, (A,), {}),
    (np.unique_counts, (a,), {}),
    (np.unique_inverse, (A,), {}),
    (np.union1d, (a, b), {}),
    (np.union1d, (A, b), {}),
    (np.setdiff1d, (a, b), {}),
    (np.setdiff1d, (A, b), {"assume_unique": True}),
    (np.setxor1d, (a, b), {}),
    (np.isin, (a, b), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def pull(fn, *args, **settings):
    out = fn(*args, **settings)
    return rule_for(fn).pullback(np.arange(1.0, 1.0 + len(out)), out, *args, **settings)


def test_a_value_that_stands_twice():
    tied = np.array([2.0, 1.0, 2.0, 1.0, np.nan, np.nan])
    assert pull(np.unique, tied).tolist() == [2.0, 1.0, 0.0, 0.0, 3.0, 0.0]
    rows = np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]])
    bar = rule_for(np.unique).pullback(np.ones((2, 2)), np.unique(rows, axis=0), rows, axis=0)
    assert bar.tolist() == [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]


def test_what_stands_in_both_is_taken_from_the_first():
    one, two = np.array([3.0, 1.0, 2.0]), np.array([2.0, 5.0, 3.0])
    assert [bar.tolist() for bar in pull(np.intersect1d, one, two)] == [[2.0, 0.0, 1.0], [0.0] * 3]
    assert [bar.tolist() for bar in pull(np.setdiff1d, one, two)] == [[0.0, 1.0, 0.0], [0.0] * 3]
    assert [bar.tolist() for bar in pull(np.union1d, one, two)][1] == [0.0, 4.0, 0.0]
    out = np.intersect1d(one, two, return_indices=True)
    dots = rule_for(np.intersect1d).pushforward(out, one, two, one, None, return_indices=True)
    assert dots[0].tolist() == [2.0, 3.0]


def test_nans_that_are_told_apart_are_refused():
    with pytest.raises(NotImplementedError, match="nans"):
        rule_for(np.unique).pullback(a, a, a, equal_nan=False)


def distances(x):
    return np.sum(np.diff(np.unique(x)) ** 3)


def merged(x, y):
    return np.sum(np.union1d(x, y)[1:] * np.setdiff1d(x, y)[0])


def counted(x):
    values, counts = np.unique(x * x, return_counts=True)
    return np.sum(values**2 * counts)


def test_gradient():
    slopes.check(distances, a)
    slopes.check(counted, a)
    slopes.check(merged, a, b)
