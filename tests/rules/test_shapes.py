"""The rules of rules/shapes.py, a row for each function and keyword."""

import numpy as np
import pytest

from s2sad.registry import rule_for
from s2sad.rules.methods import ARRAY_METHODS, ARRAY_PROPERTIES, ARRAY_ZERO
from s2sad.rules.shapes import item_method, reshape_method, transpose_method
from s2sad.testing import check_rule
from tests import slopes

rng = np.random.default_rng(1)
scalar = np.array(0.7)
vector = rng.standard_normal(6)
matrix = rng.standard_normal((2, 3))
square = rng.standard_normal((3, 3))
tall = rng.standard_normal((4, 2))
cube = rng.standard_normal((2, 3, 4))
ones = rng.standard_normal((1, 3, 1))
empty = np.zeros((0, 3))
wave = rng.standard_normal(6) + 1j * rng.standard_normal(6)

ROWS = [
    (np.reshape, (matrix,), {"shape": (3, 2)}),
    (np.reshape, (matrix,), {"shape": -1}),
    (np.reshape, (cube,), {"shape": (4, -1), "order": "F"}),
    (np.reshape, (scalar,), {"shape": (1, 1)}),
    (np.reshape, (vector[:1],), {"shape": ()}),
    (np.reshape, (empty,), {"shape": (3, 0)}),
    (np.reshape, (wave,), {"shape": (2, 3)}),
    (np.ravel, (matrix,), {}),
    (np.ravel, (cube,), {"order": "F"}),
    (np.ravel, (scalar,), {}),
    (np.ravel, (0.5,), {}),
    (np.ndarray.flatten, (cube,), {}),
    (np.ndarray.flatten, (cube,), {"order": "F"}),
    (np.transpose, (matrix,), {}),
    (np.transpose, (cube,), {"axes": (1, 2, 0)}),
    (np.transpose, (cube,), {"axes": (-1, 0, -2)}),
    (np.transpose, (vector,), {}),
    (np.transpose, (empty,), {}),
    (np.permute_dims, (cube,), {"axes": (2, 0, 1)}),
    (np.matrix_transpose, (cube,), {}),
    (np.linalg.matrix_transpose, (matrix,), {}),
    (np.swapaxes, (cube,), {"axis1": 0, "axis2": -1}),
    (np.moveaxis, (cube,), {"source": 0, "destination": -1}),
    (np.moveaxis, (cube,), {"source": (0, 1), "destination": (-1, 0)}),
    *[(np.rollaxis, (cube,), {"axis": axis}) for axis in (0, 1, 2, -1)],
    *[(np.rollaxis, (cube,), {"axis": 1, "start": start}) for start in (0, 1, 2, 3, -1, -2, -3)],
    (np.expand_dims, (matrix,), {"axis": 1}),
    (np.expand_dims, (matrix,), {"axis": (0, -1)}),
    (np.expand_dims, (scalar,), {"axis": 0}),
    (np.squeeze, (ones,), {}),
    (np.squeeze, (ones,), {"axis": 0}),
    (np.squeeze, (ones,), {"axis": (0, -1)}),
    (np.squeeze, (ones[:, :1],), {}),
    (np.broadcast_to, (vector,), {"shape": (2, 6)}),
    (np.broadcast_to, (ones,), {"shape": (2, 3, 4)}),
    (np.broadcast_to, (scalar,), {"shape": (2, 2)}),
    (np.broadcast_to, (0.5,), {"shape": (3,)}),
    (np.broadcast_to, (vector[:1],), {"shape": (0,)}),
    *[
        (atleast, (a,), {})
        for atleast in (np.atleast_1d, np.atleast_2d, np.atleast_3d)
        for a in (0.5, scalar, vector, matrix, cube, cube[None])
    ],
    (np.flip, (cube,), {}),
    (np.flip, (cube,), {"axis": 1}),
    (np.flip, (cube,), {"axis": (0, -1)}),
    (np.fliplr, (matrix,), {}),
    (np.flipud, (vector,), {}),
    (np.roll, (vector,), {"shift": 2}),
    (np.roll, (matrix,), {"shift": -4}),
    (np.roll, (cube,), {"shift": 1, "axis": -1}),
    (np.roll, (cube,), {"shift": (1, -2), "axis": (0, 2)}),
    (np.roll, (cube,), {"shift": np.array([1, 2]), "axis": (1, 2)}),
    (np.roll, (cube,), {"shift": np.int64(1), "axis": (1, 2)}),
    (np.roll, (vector,), {"shift": (1, 2)}),
    *[(np.rot90, (cube,), {"k": k, "axes": (0, 2)}) for k in (-1, 0, 1, 2, 3)],
    (np.rot90, (matrix,), {}),
    *[(np.diag, (a,), {"k": k}) for a in (vector, tall, matrix) for k in (-1, 0, 1)],
    (np.diag, (square,), {}),
    (np.diag, (matrix,), {"k": 5}),
    (np.diag, (wave,), {}),
    (np.diagflat, (matrix,), {"k": -1}),
    (np.diagflat, (vector,), {}),
    (np.diagonal, (cube,), {}),
    (np.diagonal, (cube,), {"offset": 1, "axis1": 2, "axis2": 1}),
    (np.diagonal, (cube,), {"offset": -2, "axis1": 0, "axis2": -1}),
    (np.diagonal, (cube,), {"offset": -2, "axis1": -1, "axis2": -2}),
    (np.trace, (square,), {}),
    (np.trace, (matrix,), {"offset": 1}),
    (np.trace, (matrix,), {"offset": -1, "axis1": 1, "axis2": 0}),
    (np.trace, (cube,), {}),
    (np.trace, (cube,), {"offset": 1, "axis1": 2, "axis2": 0}),
    *[(part, (cube,), {"k": k}) for part in (np.tril, np.triu) for k in (-1, 0, 2)],
    *[(part, (a,), {}) for part in (np.tril, np.triu) for a in (vector, square)],
    *[(part, (vector,), {"k": -1}) for part in (np.tril, np.triu)],
    (np.copy, (matrix,), {}),
    (np.copy, (matrix,), {"order": "F"}),
    (np.ndarray.copy, (matrix,), {}),
    (np.ndarray.copy, (matrix,), {"order": "F"}),
    (np.asfortranarray, (matrix,), {}),
    (np.asfortranarray, (scalar,), {}),
    (np.ndarray.astype, (matrix,), {"dtype": float, "copy": False}),
    (np.ndarray.astype, (matrix,), {"dtype": complex}),
    (item_method, (vector[:1],), {}),
    (np.tile, (vector,), {"reps": 3}),
    (np.tile, (vector,), {"reps": (2, 1, 2)}),
    (np.tile, (cube,), {"reps": (2, 3)}),
    (np.tile, (matrix,), {"reps": 1}),
    (np.tile, (matrix,), {"reps": 0}),
    (np.tile, (scalar,), {"reps": 3}),
    (np.tile, (0.5,), {"reps": (2, 2)}),
    (np.tile, (empty,), {"reps": 2}),
    (np.repeat, (matrix,), {"repeats": 2}),
    (np.repeat, (matrix,), {"repeats": 0}),
    (np.repeat, (cube,), {"repeats": 3, "axis": 1}),
    (np.repeat, (cube,), {"repeats": 3, "axis": -1}),
    (np.repeat, (matrix,), {"repeats": [0, 2], "axis": 0}),
    (np.repeat, (matrix,), {"repeats": np.array([1, 0, 3]), "axis": -1}),
    (np.repeat, (vector,), {"repeats": [1, 0, 2, 1, 1, 3]}),
    (np.repeat, (matrix,), {"repeats": [2]}),
    (np.repeat, (0.5,), {"repeats": 3}),
    (np.shape, (matrix,), {}),
    (np.ndim, (matrix,), {}),
    (np.size, (matrix,), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def check_by_hand(fn, a, *args, **settings):
    """Compare with the derivative of a linear function, column by column."""
    rule = rule_for(fn)
    names = {reshape_method: "shape", transpose_method: "axes", item_method: "args"}
    named = {names[fn]: args, **settings} if fn in names else settings
    named = {"dtype": args[0]} if fn is np.astype else named
    out = fn(a, *args, **settings)
    out_bar = rng.standard_normal(np.shape(out))
    a_bar = rule.pullback(out_bar, out, a, **named)
    a_dot = np.copy(rng.standard_normal(a.shape), order="A")
    a_dot = np.asfortranarray(a_dot) if a.flags.fnc else a_dot
    out_dot = fn(a_dot, *args, **settings)
    assert np.array_equal(rule.pushforward(out, a, a_dot, **named), out_dot)
    assert a_bar.shape == a.shape
    assert np.isclose(np.sum(a_bar * a_dot), np.sum(out_bar * out_dot), rtol=1e-14)


@pytest.mark.parametrize("layout", ["C", "F"])
def test_order_that_follows_the_layout(layout):
    a = np.asarray(cube, order=layout)
    check_by_hand(np.reshape, a, shape=(4, 6), order="A")
    check_by_hand(reshape_method, a, 4, 6, order="A")
    check_by_hand(np.ravel, a, order="A")
    check_by_hand(np.ndarray.flatten, a, order="A")


def test_methods_with_any_number_of_arguments():
    check_by_hand(reshape_method, cube, 4, -1)
    check_by_hand(reshape_method, cube, (4, 6))
    check_by_hand(reshape_method, cube, -1, order="F")
    check_by_hand(transpose_method, cube)
    check_by_hand(transpose_method, cube, None)
    check_by_hand(transpose_method, cube, 1, 2, 0)
    check_by_hand(transpose_method, cube, (-1, 0, 1))
    check_by_hand(transpose_method, vector, 0)
    check_by_hand(transpose_method, vector, (0,))
    check_by_hand(item_method, cube, 5)
    check_by_hand(item_method, cube, -1)
    check_by_hand(item_method, cube, 1, 2, 3)
    check_by_hand(item_method, cube, (0, -1, 2))


def test_a_change_of_dtype():
    check_by_hand(np.astype, cube, np.float64)
    check_by_hand(np.astype, cube, np.complex128)
    single = cube.astype(np.float32)
    assert rule_for(np.astype).pullback(cube, cube, single, dtype=float).dtype == np.float32


def test_memory_order_is_refused():
    with pytest.raises(NotImplementedError, match="order='K'"):
        rule_for(np.ravel).pullback(vector, vector, matrix, order="K")


@pytest.mark.parametrize(
    "fn, view",
    [
        (np.transpose, "always"),
        (np.diagonal, "always"),
        (np.broadcast_to, "always"),
        (np.reshape, "maybe"),
        (np.ravel, "maybe"),
        (np.roll, "never"),
        (np.ndarray.flatten, "never"),
    ],
)
def test_views_are_declared(fn, view):
    assert rule_for(fn).view == view


ARGUMENTS = {
    "astype": (float,),
    "choose": ([matrix, -matrix],),
    "clip": (-0.5, 0.5),
    "compress": ([True, False], 0),
    "dot": (square,),
    "item": (3,),
    "repeat": (2, 1),
    "reshape": (3, 2),
    "swapaxes": (0, 1),
    "take": ([1, 1], 0),
    "transpose": (1, 0),
}

OF_CUPY = {"get"}


@pytest.mark.parametrize("name", sorted(ARRAY_METHODS.keys() - OF_CUPY))
def test_the_function_of_a_method_does_the_same(name):
    a = (matrix > 0).astype(int) if name == "choose" else matrix
    fn, args = ARRAY_METHODS[name], ARGUMENTS.get(name, ())
    assert np.array_equal(getattr(a, name)(*args), fn(a, *args))
    assert rule_for(fn) is not None


@pytest.mark.parametrize("name", ARRAY_PROPERTIES)
def test_the_function_of_a_property_does_the_same(name):
    assert np.array_equal(getattr(matrix, name), ARRAY_PROPERTIES[name](matrix))
    assert rule_for(ARRAY_PROPERTIES[name]) is not None


def test_every_name_is_one_of_an_array():
    names = {*ARRAY_METHODS, *ARRAY_PROPERTIES, *ARRAY_ZERO} - OF_CUPY
    assert all(hasattr(matrix, name) for name in names)


def test_broadcast_arrays():
    x, y = np.arange(3.0), np.arange(2.0)[:, None]
    check_rule(np.broadcast_arrays, x, y)
    check_rule(np.broadcast_arrays, x, 0.5, np.ones((2, 1, 3)))

    def f(x, y):
        one, two = np.broadcast_arrays(x, y)
        return np.sum(one * two * two)

    slopes.check(f, x, y)
