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
    (np.partition, (a,), {"kth": 2}),
    (np.partition, (A,), {"kth": (0, 2), "axis": 0} | {"axis": -1}),
    (np.partition, (A,), {"kth": 1, "axis": 0}),
    (np.partition, (A,), {"kth": 5, "axis": None}),
    *[(np.median, (x,), {}) for x in (a, even, one, scalar, A, cube)],
    (np.median, (A,), {"axis": 0}),
    (np.median, (A,), {"axis": -1, "keepdims": True}),
    (np.median, (cube,), {"axis": (0, 2)}),
    (np.median, (cube,), {"axis": (-1, 0), "keepdims": True}),
    (np.median, (cube,), {"keepdims": True}),
    *[(np.quantile, (a,), {"q": q}) for q in (0, 0.0, 0.3, 0.5, 1.0, 1)],
    (np.quantile, (even,), {"q": [0.1, 0.5, 0.95]}),
    (np.quantile, (A,), {"q": 0.4, "axis": 0}),
    (np.quantile, (A,), {"q": np.array([0.4, 0.41]), "axis": 1, "keepdims": True}),
    (np.quantile, (cube,), {"q": [[0.2, 0.6]], "axis": (0, -1)}),
    (np.quantile, (cube,), {"q": [0.2, 0.6], "keepdims": True}),
    (np.quantile, (one,), {"q": 0.4, "method": "linear"}),
    (np.quantile, (scalar,), {"q": 0.4}),
    (np.percentile, (a,), {"q": 30}),
    (np.percentile, (A,), {"q": [10, 99.5], "axis": 0}),
    (np.percentile, (A,), {"q": 62.5, "axis": -1, "keepdims": True}),
    (np.diff, (a,), {}),
    (np.diff, (A,), {}),
    (np.diff, (A,), {"axis": 0}),
    (np.diff, (cube,), {"axis": -2, "n": 2}),
    (np.diff, (a,), {"n": 3}),
    (np.diff, (a,), {"n": 0}),
    (np.diff, (one,), {}),
    (np.diff, (one,), {"n": 3}),
    (np.diff, (np.zeros(0),), {}),
    (np.diff, (np.zeros((2, 0)),), {"n": 2}),
    (np.diff, (a,), {"prepend": 0}),
    (np.diff, (a,), {"append": [1, 2], "n": 2}),
    (np.diff, (A,), {"prepend": 1, "append": 0, "axis": 0}),
    (np.diff, (A,), {"prepend": np.zeros((3, 2), int), "n": 3}),
    (np.diff, (a + 1j * a**2,), {}),
    (np.ediff1d, (A,), {}),
    (np.ediff1d, (a,), {}),
    (np.argsort, (A,), {"axis": 0}),
    (np.argmax, (A,), {}),
    (np.argmin, (A,), {"axis": 1}),
    (np.argpartition, (a,), {"kth": 2}),
    (np.searchsorted, (np.sort(a), a - 0.1), {}),
    (np.digitize, (a - 0.1, np.sort(a)), {}),
    (np.count_nonzero, (a,), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def pull(fn, out_bar, a, **settings):
    return rule_for(fn).pullback(np.asarray(out_bar), fn(a, **settings), a, **settings)


def test_ties_follow_the_stable_permutation():
    tied = np.array([2.0, 1.0, 1.0, 2.0])
    assert pull(np.sort, [1.0, 2.0, 3.0, 4.0], tied).tolist() == [3.0, 1.0, 2.0, 4.0]
    assert pull(np.median, 1.0, tied).tolist() == [0.5, 0.0, 0.5, 0.0]
    assert pull(np.median, 1.0, np.ones(3)).tolist() == [0.0, 1.0, 0.0]
    assert pull(np.quantile, 1.0, tied, q=0.0).tolist() == [0.0, 1.0, 0.0, 0.0]


def test_partition_finds_its_permutation_among_ties():
    tied = rng.integers(0, 3, 40).astype(float)
    bar = rng.standard_normal(40)
    a_bar = pull(np.partition, bar, tied, kth=20)
    out = np.partition(tied, 20)
    for value in range(3):
        assert sorted(a_bar[tied == value]) == sorted(bar[out == value])


@pytest.mark.parametrize("fn", [np.quantile, np.percentile])
def test_other_methods_are_refused(fn):
    with pytest.raises(NotImplementedError, match="linear"):
        rule_for(fn).pullback(1.0, 1.0, a, q=0.5, method="nearest")


def test_unique_has_no_rule():
    assert rule_for(np.unique) is None
