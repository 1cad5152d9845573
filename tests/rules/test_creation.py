"""The rules of rules/creation.py, a row for each function and keyword."""

import numpy as np
import pytest

from s2sad.testing import check_rule

rng = np.random.default_rng(5)
scalar = np.array(0.7)
a, b = rng.standard_normal(3), rng.standard_normal(3)
A = rng.standard_normal((2, 3))
pair = np.array([0.5, 1.5]), np.array([2.0, 2.5])

ROWS = [
    *[
        (make, (x,), {})
        for make in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray)
        for x in (
            A,
            scalar,
            0.5,
            [0.5, 1.5],
            (0.5, 2, 1.5),
            [[0.5, 1.5], [2.5, 3.5]],
            [(0.5, 1.5), a[:2]],
            [a, b],
            [0.5 + 1j, 2.0 - 1j],
        )
    ],
    (np.array, (A,), {"dtype": float, "order": "F", "copy": True}),
    (np.asarray, ([0.5, 1.5],), {"dtype": np.float64}),
    (np.ascontiguousarray, (A,), {"dtype": float}),
    *((make, (A,), {"dtype": complex}) for make in (np.array, np.asarray, np.require)),
    (np.asarray_chkfinite, (A,), {}),
    (np.require, (A,), {"requirements": ["F"]}),
    (np.require, (A,), {"dtype": np.float64, "requirements": "C"}),
    (np.require, (scalar,), {"requirements": "C"}),
    *[(np.kaiser, (n, 4.5), {}) for n in (0, 1, 2, 5, 8)],
    (np.kaiser, (6, 0.3), {}),
    (np.full, (), {"shape": (2, 3), "fill_value": 0.5}),
    (np.full, (), {"shape": (2, 3), "fill_value": a}),
    (np.full, (), {"shape": 4, "fill_value": scalar, "dtype": float, "order": "F"}),
    (np.full, (), {"shape": (0,), "fill_value": 0.5}),
    (np.full_like, (A, 0.5), {}),
    (np.full_like, (A, a), {}),
    (np.full_like, (A, a), {"shape": (4, 3), "dtype": float, "order": "F"}),
    (np.arange, (0.5, 3.0), {}),
    (np.arange, (0.5, 3.0, 1.0), {}),
    (np.arange, (2.5,), {}),
    (np.linspace, (0.5, 2.0), {}),
    (np.linspace, (0.5, 2.0), {"num": 5, "endpoint": False}),
    (np.linspace, (0.5, 2.0), {"num": 1}),
    (np.linspace, (0.5, 2.0), {"num": 0}),
    (np.linspace, (0, 2.0), {"num": 4}),
    (np.linspace, (a, b), {"num": 4}),
    (np.linspace, (A, b), {"num": 4, "axis": -1}),
    (np.linspace, (A, 0.5), {"num": 4, "axis": 1}),
    (np.linspace, (0.5 + 1j, 2.0 - 1j), {"num": 4}),
    (np.logspace, (0.5, 1.0), {}),
    (np.logspace, (0.5, 1.0), {"num": 4}),
    (np.linspace, (0.5, 2.0), {"num": 5, "retstep": True}),
    (np.linspace, (a, 2.0), {"num": 5, "retstep": True, "endpoint": False, "axis": 1}),
    (np.array, (a,), {"ndmin": 3}),
    (np.array, ([0.5, 1.5],), {"ndmin": 2}),
    (np.logspace, (a, b), {"num": 4}),
    (np.logspace, (0.5, 1.0), {"num": 4, "base": 2.0, "endpoint": False}),
    (np.logspace, (a, 0.5), {"num": 4, "base": 2.0, "axis": -1}),
    (np.geomspace, (0.5, 8.0), {}),
    (np.geomspace, (0.5, 8.0), {"num": 5}),
    (np.geomspace, (-0.5, -8.0), {"num": 5, "endpoint": False}),
    (np.geomspace, pair, {"num": 3}),
    (np.geomspace, (pair[0], 2.0), {"num": 3, "axis": 1}),
    (np.zeros_like, (A,), {}),
    (np.ones_like, (A,), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)
