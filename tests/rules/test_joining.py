"""The rules of rules/joining.py, a row for each function and keyword."""

import numpy as np
import pytest

from s2sad.registry import rule_for
from s2sad.testing import check_rule
from tests import slopes

rng = np.random.default_rng(2)
scalar = np.array(0.7)
a, b = rng.standard_normal(3), rng.standard_normal(2)
A, B, C = rng.standard_normal((2, 3)), rng.standard_normal((1, 3)), rng.standard_normal((2, 4))
cube = rng.standard_normal((2, 3, 4))
none = np.zeros(0)
wave = rng.standard_normal(2) + 1j * rng.standard_normal(2)

ROWS = [
    (np.concatenate, ([a, b],), {}),
    (np.concatenate, ((a, b, none),), {}),
    (np.concatenate, ([A, B],), {}),
    (np.concatenate, ([A, B],), {"axis": 0}),
    (np.concatenate, ([A, C],), {"axis": 1}),
    (np.concatenate, ([A, C],), {"axis": -1}),
    (np.concatenate, ([A, b, scalar],), {"axis": None}),
    (np.concatenate, ([a],), {}),
    (np.concatenate, ([wave, wave],), {}),
    (np.concat, ([A, C],), {"axis": 1}),
    (np.stack, ([a, 2 * a],), {}),
    (np.stack, ([A, A + 1],), {"axis": 1}),
    (np.stack, ((A, A + 1),), {"axis": -1}),
    (np.stack, ([0.5, 1.5, 2.5],), {}),
    (np.unstack, (cube,), {}),
    (np.unstack, (cube,), {"axis": -1}),
    (np.vstack, ([A, a],), {}),
    (np.vstack, ([a, a],), {}),
    (np.vstack, ([0.5, 1.5],), {}),
    (np.block, ([a, b],), {}),
    (np.block, (a,), {}),
    (np.block, ([[A, C], [C, A]],), {}),
    (np.block, ([[A, np.ones((2, 1))], [a, scalar]],), {}),
    (np.block, ([[0.5, 1.5]],), {}),
    (np.block, ([[a], [a]],), {}),
    (np.block, ([[[cube], [cube]], [[A[:, :, None] * np.ones(4)], [cube]]],), {}),
    (np.hstack, ([a, b],), {}),
    (np.hstack, ([A, C],), {}),
    (np.hstack, ([0.5, b],), {}),
    (np.hstack, ([cube, cube],), {}),
    (np.column_stack, ([b, A, 2 * b],), {}),
    (np.dstack, ([A, cube, A],), {}),
    (np.dstack, ([a, 2 * a],), {}),
    (np.split, (A,), {"indices_or_sections": 3, "axis": 1}),
    (np.split, (a,), {"indices_or_sections": 3}),
    (np.split, (a,), {"indices_or_sections": [1]}),
    (np.split, (a,), {"indices_or_sections": [2, 1]}),
    (np.split, (a,), {"indices_or_sections": [1, 1, 7]}),
    (np.split, (cube,), {"indices_or_sections": (-1,), "axis": -1}),
    (np.array_split, (C,), {"indices_or_sections": 3, "axis": 1}),
    (np.array_split, (a,), {"indices_or_sections": 5}),
    (np.vsplit, (cube,), {"indices_or_sections": 2}),
    (np.vsplit, (cube,), {"indices_or_sections": [1]}),
    (np.hsplit, (cube,), {"indices_or_sections": 3}),
    (np.hsplit, (C,), {"indices_or_sections": [1, 3]}),
    (np.hsplit, (cube,), {"indices_or_sections": [1]}),
    (np.hsplit, (a,), {"indices_or_sections": 3}),
    (np.hsplit, (a,), {"indices_or_sections": [1]}),
    (np.dsplit, (cube,), {"indices_or_sections": 2}),
    (np.dsplit, (cube,), {"indices_or_sections": [3]}),
    (np.append, (a, b), {}),
    (np.append, (A, 0.5), {}),
    (np.append, (a, scalar), {}),
    (np.append, (A, C), {"axis": 1}),
    (np.append, (A, B), {"axis": 0}),
    (np.meshgrid, (a, b), {}),
    (np.meshgrid, (a, b), {"indexing": "ij"}),
    (np.meshgrid, (a, b), {"sparse": True}),
    (np.meshgrid, (a, b, 2 * a), {}),
    (np.meshgrid, (a, b, 2 * b), {"indexing": "ij", "sparse": True}),
    (np.meshgrid, (a,), {}),
    (np.meshgrid, (0.5, a), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


@pytest.mark.parametrize(
    "fn, settings",
    [
        (np.concatenate, {"axis": 0}),
        (np.concatenate, {"axis": 1}),
        (np.stack, {"axis": 0}),
        (np.stack, {"axis": 2}),
        (np.vstack, {}),
        (np.hstack, {}),
    ],
)
def test_an_array_of_arrays_has_an_array_as_cotangent(fn, settings):
    out = fn(cube, **settings)
    out_bar, cube_dot = rng.standard_normal(out.shape), rng.standard_normal(cube.shape)
    cube_bar = rule_for(fn).pullback(out_bar, out, cube, **settings)
    assert isinstance(cube_bar, np.ndarray) and cube_bar.shape == cube.shape
    assert np.isclose(np.sum(cube_bar * cube_dot), np.sum(out_bar * fn(cube_dot, **settings)))


def test_constants_may_have_no_tangent():
    whole = [np.array([1, 2]), b]
    for fn, settings in [
        (np.concatenate, {}),
        (np.stack, {"axis": 1}),
        (np.vstack, {}),
        (np.hstack, {}),
        (np.column_stack, {}),
        (np.dstack, {}),
    ]:
        out_dot = rule_for(fn).pushforward(fn(whole, **settings), whole, [None, b], **settings)
        assert np.array_equal(out_dot, fn([np.zeros(2), b], **settings))
    out_dot = rule_for(np.append).pushforward(None, *whole, None, b)
    assert np.array_equal(out_dot, [0.0, 0.0, *b])
    out_dot = rule_for(np.append).pushforward(None, a, 0.5, a, None)
    assert np.array_equal(out_dot, [*a, 0.0])
    one, two = rule_for(np.meshgrid).pushforward(None, *whole, None, b)
    assert not np.any(one) and np.array_equal(two, np.meshgrid(*whole)[1])


def bordered(x, y, s):
    whole = np.block([[np.outer(x, y), x[:, None]], [y[None], np.full((1, 1), s)]])
    return np.sum(whole @ whole.T)


def test_gradient_of_a_block_matrix():
    slopes.check(bordered, a, b, 0.7)
