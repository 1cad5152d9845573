"""The rules of rules/insertion.py: places given as a number, a list, a mask or a slice."""

import numpy as np
import pytest

from s2sad.registry import rule_for
from s2sad.testing import check_rule
from tests import slopes

rng = np.random.default_rng(15)
a, A, cube = rng.standard_normal(5), rng.standard_normal((3, 4)), rng.standard_normal((2, 3, 2))
PADDED = np.array([0.0, 0.0, 1.5, 0.0, -0.5, 0.0])

ROWS = [
    (np.insert, (a,), {"obj": 2, "values": 0.5}),
    (np.insert, (a,), {"obj": -1, "values": a[:3]}),
    (np.insert, (a,), {"obj": [3, 0], "values": a[:2]}),
    (np.insert, (a,), {"obj": [1, 1, 4], "values": 0.5}),
    (np.insert, (a,), {"obj": [2], "values": a[:2]}),
    (np.insert, (a,), {"obj": slice(1, 4), "values": a[:3]}),
    (np.insert, (a,), {"obj": 0, "values": np.array([1, 2])}),
    (np.insert, (A,), {"obj": 5, "values": 0.5}),
    (np.insert, (A,), {"obj": 1, "values": A[0], "axis": 0}),
    (np.insert, (A,), {"obj": 1, "values": A[:2], "axis": 0}),
    (np.insert, (A,), {"obj": 1, "values": a[:3], "axis": 1}),
    (np.insert, (A,), {"obj": [0, 3], "values": A[:, :2], "axis": 1}),
    (np.insert, (A,), {"obj": [0, 3], "values": A[:, :1], "axis": -1}),
    (np.insert, (cube,), {"obj": 1, "values": 0.5, "axis": 1}),
    (np.insert, (a + 1j * a**2,), {"obj": 2, "values": 0.5j}),
    *[(np.delete, (a,), {"obj": obj}) for obj in (1, -1, [0, 3, 0], slice(1, 3), a > 0)],
    (np.delete, (A,), {"obj": [0, 5]}),
    (np.delete, (A,), {"obj": 1, "axis": 0}),
    (np.delete, (A,), {"obj": [0, -1], "axis": -1}),
    (np.delete, (cube,), {"obj": slice(None, None, 2), "axis": 1}),
    *[(np.resize, (a,), {"new_shape": shape}) for shape in ((2, 4), 3, (7,), (), (0, 2))],
    (np.resize, (A,), {"new_shape": (5, 5)}),
    *[(np.trim_zeros, (x,), {"trim": t}) for x in (a,) for t in ("fb", "f", "b")],
    (np.trim_zeros, (a,), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


@pytest.mark.parametrize("trim, there", [("fb", slice(2, 5)), ("F", slice(2, 6)), ("b", slice(5))])
def test_zeros_cut_off(trim, there):
    out = np.trim_zeros(PADDED, trim)
    bar = rule_for(np.trim_zeros).pullback(np.ones(out.size), out, PADDED, trim=trim)
    expected = np.zeros(6)
    expected[there] = 1.0
    assert np.array_equal(bar, expected)
    assert np.array_equal(rule_for(np.trim_zeros).pushforward(out, PADDED, PADDED, trim=trim), out)


def edited(x, y):
    longer = np.insert(x, [0, 2], y[:2])
    shorter = np.delete(longer, 1)
    return np.sum(np.resize(shorter, (3, 4)) ** 2 * np.arange(4.0))


def ends(x):
    return np.sum(np.trim_zeros(np.insert(x, 0, 0.0)) ** 2) * np.insert(x, 1, x[0] * x[1])[1]


def test_gradient():
    slopes.check(edited, a, A[0])
    slopes.check(ends, a)
