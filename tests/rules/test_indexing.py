"""The rules of rules/indexing.py, a row for each function and keyword."""

import operator

import numpy as np
import pytest

from s2sad.rules.indexing import compress_method, may_repeat
from s2sad.rules.shapes import tolist_method
from s2sad.testing import check_rule
from tests import slopes

rng = np.random.default_rng(3)
scalar = np.array(0.7)
a, b = rng.standard_normal(5), rng.standard_normal(5)
A = rng.standard_normal((3, 4))
cube = rng.standard_normal((2, 3, 4))
wave = a + 1j * b
some = np.array([True, False, True, True, False])
several = np.array([0, 2, 2, -1])
table = np.array([[0, 1], [2, 2]])

ROWS = [
    *[
        (operator.getitem, (a, index), {})
        for index in (0, -1, slice(1, 4), slice(None, None, -2), ..., None, [], several, [1, 1])
    ],
    (operator.getitem, (a, some), {}),
    (operator.getitem, (wave, several), {}),
    (operator.getitem, (A, (1, slice(None))), {}),
    (operator.getitem, (A, (slice(None), None, [3, 3])), {}),
    (operator.getitem, (A, (np.array([0, 0]), np.array([1, 1]))), {}),
    (operator.getitem, (A, A > 0), {}),
    (operator.getitem, (A, (slice(None), np.array([True, False, True, False]))), {}),
    (operator.getitem, (cube, (1, ..., several)), {}),
    (operator.getitem, (cube, table[:, :1] * 0), {}),
    (operator.getitem, (scalar, ()), {}),
    (np.take, (a,), {"indices": several}),
    (np.take, (a,), {"indices": 3}),
    (np.take, (A,), {"indices": [5, 5, 0]}),
    (np.take, (A,), {"indices": table, "axis": 0}),
    (np.take, (cube,), {"indices": several, "axis": -2}),
    (np.take, (cube,), {"indices": 1, "axis": 1}),
    (np.take, (a,), {"indices": [7, -7], "mode": "wrap"}),
    (np.take, (A,), {"indices": [7, -7, 1], "mode": "clip", "axis": 0}),
    (np.take, (a,), {"indices": []} | {"indices": np.zeros(0, int)}),
    (np.take_along_axis, (A,), {"indices": table[:, :1].repeat(2, 0)[:3], "axis": 1}),
    (np.take_along_axis, (A,), {"indices": np.array([[0, 0, 2, 1]]), "axis": 0}),
    (np.take_along_axis, (A,), {"indices": np.argsort(A), "axis": -1}),
    (np.take_along_axis, (A,), {"indices": several, "axis": None}),
    (np.take_along_axis, (cube[:1],), {"indices": np.zeros((2, 3, 2), int), "axis": 2}),
    (np.take_along_axis, (a,), {"indices": several, "axis": 0}),
    (np.compress, (some, a), {}),
    (np.compress, (some[:3], a), {}),
    (np.compress, ([True, False, True], A), {"axis": 0}),
    (np.compress, ([True, False, True], cube), {"axis": -1}),
    (np.compress, (some, A), {}),
    (np.extract, (some, a), {}),
    (np.extract, (A > 0, A), {}),
    (np.select, ([a > 0, b > 0], [a, b]), {}),
    (np.select, ([a > 0, b > 0], [a * b, b], 0.5), {}),
    (np.select, ([a > 0, a > -1], [0.5, b], b * b), {}),
    (np.select, ([A > 0, A > -1], [A[0], A[:, :1]]), {"default": scalar}),
    (np.choose, (np.array([1, 0, 1, 1, 0]), [a, b]), {}),
    (np.choose, (np.array([[0, 1, 2, 0]]), [A, A[0], 0.5]), {}),
    (np.ix_, (a, b[:3]), {}),
    (np.ix_, (a, [2, 0]), {}),
    (np.ix_, (some, b), {}),
    (np.nonzero, (a,), {}),
    (np.flatnonzero, (a,), {}),
    (np.argwhere, (a,), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


@pytest.mark.parametrize("index", [0, slice(2), ..., None, some, (1, 2), (0, some), (None, ...)])
def test_plain_indices_name_every_element_once(index):
    assert not may_repeat(index)


@pytest.mark.parametrize("index", [[0, 1], several, (0, several), (several, slice(None))])
def test_integer_arrays_may_repeat(index):
    assert may_repeat(index)


def test_methods():
    check_rule(compress_method, a, condition=some)
    check_rule(compress_method, A, condition=[True, False, True], axis=0)
    check_rule(tolist_method, a)
    check_rule(tolist_method, np.array(0.5))
    slopes.check(lambda x: np.sum(x.compress(x > 0.0) ** 2) * x.tolist()[1], a)
