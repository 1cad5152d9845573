"""The rules of rules/ordering.py, a row for each function and keyword, and their ties."""

import numpy as np
import pytest

from s2sad.registry import rule_for
from s2sad.testing import check_rule

rng = np.random.default_rng(4)
scalar = np.array(0.7)
a, even, one = rng.permutation(7) + 0.25, rng.permutation(6) - 2.25, np.array([0.3])
A = rng.permutation(12).reshape(3, 4) + 0.5
cube = rng.permutation(24).reshape(2, 3, 4) / 4

ROWS = [
    (np.sort, (a,), {}),
    (np.sort, (A,), {}),
    (np.sort, (A,), {"axis": 0, "kind": "mergesort"}),
    (np.sort, (A,), {"axis": None}),
    (np.sort, (cube,), {"axis": 1, "stable": True}),
    (np.sort, (one,), {}),
    (np.sort, (np.zeros(0),), {}),
    (np.sort_complex, (a,), {}),
    (np.sort_complex, (A + 1j * A[::-1],), {}),
    (np.partition, (a,), {"kth": 2}),
    (np.partition, (A,), {"kth": (0, 2), "axis": 0} | {"axis": -1}),
    (np.partition, (A,), {"kth": 1, "axis": 0}),
    (np.partition, (A,), {"kth": 5, "axis": None}),
    (np.argsort, (A,), {"axis": 0}),
    (np.argmax, (A,), {}),
    (np.argmin, (A,), {"axis": 1}),
    (np.argpartition, (a,), {"kth": 2}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def pull(fn, out_bar, a, **settings):
    return rule_for(fn).pullback(np.asarray(out_bar), fn(a, **settings), a, **settings)


def test_ties_follow_the_stable_permutation():
    tied = np.array([2.0, 1.0, 1.0, 2.0])
    assert pull(np.sort, [1.0, 2.0, 3.0, 4.0], tied).tolist() == [3.0, 1.0, 2.0, 4.0]


def test_partition_finds_its_permutation_among_ties():
    tied = rng.integers(0, 3, 40).astype(float)
    bar = rng.standard_normal(40)
    a_bar = pull(np.partition, bar, tied, kth=20)
    out = np.partition(tied, 20)
    for value in range(3):
        assert sorted(a_bar[tied == value]) == sorted(bar[out == value])
