"""The rules of rules/differences.py, a row for each function and keyword."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.testing import check_rule
from tests import slopes

rng = np.random.default_rng(4)
a, one = rng.permutation(7) + 0.25, np.array([0.3])
A = rng.permutation(12).reshape(3, 4) + 0.5
cube = rng.permutation(24).reshape(2, 3, 4) / 4
Z = A + 1j * rng.standard_normal((3, 4))
x, y, z = np.array([0.0, 0.3]), np.array([0.5, 0.7, 1.4]), np.array([-1.0, 0.5, 0.75, 2.0])

ROWS = [
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
    (np.diff, (a,), {"append": np.array([1, 2]), "n": 2}),
    (np.diff, (A,), {"prepend": 1, "append": 0, "axis": 0}),
    (np.diff, (A,), {"prepend": np.zeros((3, 2), int), "n": 3}),
    (np.diff, (a + 1j * a**2,), {}),
    (np.ediff1d, (A,), {}),
    (np.ediff1d, (a,), {}),
    (np.diff, (a,), {"prepend": 0.5}),
    (np.diff, (a,), {"prepend": a[:2], "append": a[-1:]}),
    (np.diff, (A,), {"prepend": A[:, :1], "append": 2.0, "n": 2}),
    (np.diff, (A,), {"prepend": A[:1], "append": A[1:], "axis": 0}),
    (np.diff, (np.arange(3),), {"append": 2.5}),
    (np.ediff1d, (a,), {"to_end": 0.5}),
    (np.ediff1d, (A,), {"to_begin": np.array([0.5, 0.75]), "to_end": A}),
    (np.ediff1d, (one,), {"to_begin": 0.25}),
    (np.unwrap, (a,), {}),
    (np.unwrap, (A,), {"axis": 0, "period": 4.5}),
    (np.unwrap, (A,), {"discont": 4.0}),
    *[
        (np.gradient, args, {"edge_order": order, **settings})
        for order in (1, 2)
        for args, settings in (
            ((a,), {}),
            ((a, 0.5), {}),
            ((z, z**3), {}),
            ((a[:3], y), {}),
            ((A, y, z), {}),
            ((A, 0.5, z), {}),
            ((A, 0.5), {}),
            ((A,), {}),
            ((A, z), {"axis": 1}),
            ((A, z), {"axis": -1}),
            ((A, 2.0), {"axis": (0,)}),
            ((A, 2.0, y), {"axis": (1, 0)}),
            ((A, np.linspace(0.0, 1.0, 3)), {"axis": 0}),
            ((Z, y, z), {}),
            ((Z, 0.5), {}),
        )
    ],
    (np.gradient, (cube, x, y, z), {}),
    (np.gradient, (cube, 0.5, y, z), {}),
    (np.gradient, (cube, 0.5, 2.0, 0.25), {}),
    (np.gradient, (cube, 0.5), {}),
    (np.gradient, (cube,), {"axis": (2, 0)}),
    (np.gradient, (a[:2],), {}),
    (np.gradient, (a[:2], x), {}),
    (np.gradient, (a[:3], np.array([0, 1, 3])), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def test_a_constant_has_no_tangent():
    rule, out = rule_for(np.gradient), np.gradient(A, 0.5, z)
    dots = rule.pushforward(out, A, 0.5, z, h0_dot=1.0)
    assert np.allclose(dots[0], -out[0] / 0.5) and np.all(dots[1] == 0)
    push = rule_for(np.diff).pushforward
    assert np.array_equal(push(None, a, a[0], None, None, 1.0, None), -np.eye(7)[0])


def roughness(u, dx):
    ux, uy = np.gradient(u, dx)
    return np.sum(ux * ux + uy * u)


def along_a_grid(u, t):
    return np.sum(np.gradient(np.gradient(u, t, edge_order=2), t) ** 2)


def increments(u):
    return np.sum(np.diff(u, prepend=u[0], append=0.0) ** 3)


def one_end(u):
    return np.sum(np.diff(u, append=[u[0], 1.0]) ** 2)


def phases(u):
    return np.sum(np.unwrap(np.arctan2(np.sin(u), np.cos(u))) ** 2)


def ends(u):
    return np.sum(np.ediff1d(u, to_begin=u[:1], to_end=u[-1] * u[0]) ** 2)


def test_gradient():
    slopes.check(roughness, A, 0.7)
    slopes.check(along_a_grid, a, np.cumsum(np.abs(a) + 1.0))
    for f in (increments, one_end, phases, ends):
        slopes.check(f, a)
    assert s2sad.grad(roughness)(A.astype(np.float32), 0.7).dtype == np.float32
