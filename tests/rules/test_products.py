"""The rules of rules/products.py, a row for each combination of ranks and each keyword."""

import operator

import numpy as np
import pytest

from s2sad.registry import rule_for
from s2sad.testing import check_rule

rng = np.random.default_rng(6)


def normal(*shape):
    return rng.standard_normal(shape)


def wave(*shape):
    return normal(*shape) + 1j * normal(*shape)


x, y, z = np.linspace(-0.9, 3.3, 8), np.array([0.0, 1.0, 1.75, 3.0]), normal(4)

ROWS = [
    (np.dot, (0.5, 1.5), {}),
    (np.dot, (0.5, normal(3)), {}),
    (np.dot, (normal(2, 3), np.array(0.5)), {}),
    *[
        (np.dot, (normal(*shape, 3), normal(*other)), {})
        for shape in ((), (2,), (2, 4))
        for other in ((3,), (3, 2), (2, 3, 4))
    ],
    (np.dot, (normal(1), normal(1)), {}),
    (np.dot, (normal(2, 0), normal(0, 3)), {}),
    (np.dot, (wave(2, 3), wave(3)), {}),
    (np.vdot, (normal(3), normal(3)), {}),
    (np.vdot, (wave(3), wave(3)), {}),
    (np.vdot, (wave(2, 3), wave(3, 2)), {}),
    (np.vdot, (0.5, 1.5), {}),
    (np.inner, (0.5, normal(3)), {}),
    *[
        (np.inner, (normal(*shape, 3), normal(*other, 3)), {})
        for shape in ((), (2,), (2, 4))
        for other in ((), (5,), (2, 3))
    ],
    (np.inner, (wave(2, 3), wave(2, 3)), {}),
    (np.outer, (normal(2), normal(3)), {}),
    (np.outer, (normal(2, 2), normal(3, 1)), {}),
    (np.outer, (0.5, normal(3)), {}),
    (np.outer, (wave(2), wave(3)), {}),
    (np.linalg.outer, (normal(2), normal(3)), {}),
    *[
        (np.matmul, (normal(*shape), normal(*other)), {})
        for shape in ((3,), (2, 3), (4, 2, 3), (1, 2, 3), (5, 1, 2, 3))
        for other in ((3,), (3, 2), (4, 3, 2), (1, 3, 2))
    ],
    (np.matmul, (normal(2, 0), normal(0)), {}),
    (np.matmul, (wave(2, 3), wave(4, 3, 2)), {}),
    (operator.matmul, (normal(2, 3), normal(3)), {}),
    (np.linalg.matmul, (normal(2, 3), normal(3, 1)), {}),
    (np.vecdot, (normal(3), normal(3)), {}),
    (np.vecdot, (wave(2, 3), wave(3)), {}),
    (np.vecdot, (wave(3, 2), wave(3, 1)), {"axis": 0}),
    (np.vecdot, (normal(2, 3, 1), normal(3, 4)), {"axis": -2}),
    (np.vecdot, (normal(2, 3), normal(1, 3)), {"axis": -1}),
    (np.vecdot, (normal(3, 2, 4), normal(3, 2, 1)), {"axis": 0}),
    (np.tensordot, (normal(2, 3, 4), normal(3, 4, 5)), {}),
    (np.tensordot, (normal(2, 3), normal(3, 4)), {"axes": 1}),
    (np.tensordot, (normal(2), normal(3)), {"axes": 0}),
    (np.tensordot, (normal(2, 3), normal(3, 2)), {"axes": ((0, 1), (1, 0))}),
    (np.tensordot, (normal(2, 3, 4), normal(4, 5, 2)), {"axes": ([2, 0], [0, 2])}),
    (np.tensordot, (normal(2, 3, 4), normal(5, 4, 2)), {"axes": ([-1, 0], [1, -1])}),
    (np.tensordot, (normal(2, 3, 4), normal(5, 3)), {"axes": (1, -1)}),
    (np.tensordot, (normal(2, 3, 4), normal(5, 3)), {"axes": ([1], [1])}),
    (np.tensordot, (wave(2, 3), wave(3, 4)), {"axes": 1}),
    (np.linalg.tensordot, (normal(2, 3), normal(3, 4)), {"axes": 1}),
    (np.linalg.vecdot, (normal(2, 3), normal(1, 3)), {}),
    (np.linalg.cross, (normal(3, 4), normal(3, 1)), {"axis": 0}),
    *[
        (np.einsum, (subscripts, *[normal(*shape) for shape in shapes]), {})
        for subscripts, *shapes in (
            ("ij,jk->ik", (2, 3), (3, 4)),
            ("ij,jk", (2, 3), (3, 4)),
            ("ki, jk -> ij", (2, 3), (4, 2)),
            ("ba", (2, 3)),
            ("ij->ji", (2, 3)),
            ("ij->", (2, 3)),
            ("ij->j", (2, 3)),
            ("i,i", (3,), (3,)),
            ("i,j->ij", (3,), (2,)),
            ("ii", (3, 3)),
            ("ii->i", (3, 3)),
            ("iij->j", (3, 3, 2)),
            ("iii->i", (2, 2, 2)),
            ("iijj->ij", (2, 2, 3, 3)),
            ("ij,kl->il", (2, 3), (4, 5)),
            ("ii,ij->j", (3, 3), (3, 2)),
            ("i,i,ij->j", (3,), (3,), (3, 2)),
            (",i->i", (), (3,)),
            ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
            ("...ij,...jk", (5, 2, 3), (1, 3, 4)),
            ("...i,...i->...", (4, 1, 3), (5, 3)),
            ("i...->...", (3, 2, 4)),
            ("...,...", (2, 3), (3,)),
            ("...", (2, 3)),
            ("b...,...a", (2, 3), (3, 4)),
            ("ij,jk->ik", (2, 3), (1, 4)),
            ("ij,jk->ik", (2, 1), (3, 4)),
            ("ij,ij->i", (2, 3), (1, 3)),
            ("ij,jk,kl,lm->im", (2, 3), (3, 2), (2, 3), (3, 2)),
            ("ij,j->i", (2, 0), (0,)),
        )
    ],
    (np.einsum, ("ij,jk->ik", wave(2, 3), wave(3, 2)), {"optimize": True}),
    (np.einsum, ("ij,jk->ik", normal(2, 3), normal(3, 2)), {"optimize": "greedy"}),
    (np.kron, (normal(2), normal(3)), {}),
    (np.kron, (normal(2, 3), normal(3, 1)), {}),
    (np.kron, (normal(2, 3), normal(2)), {}),
    (np.kron, (normal(2), normal(2, 3, 2)), {}),
    (np.kron, (wave(2, 2), wave(2, 1)), {}),
    (np.cross, (normal(3), normal(3)), {}),
    (np.cross, (normal(4, 3), normal(3)), {}),
    (np.cross, (normal(2, 1, 3), normal(4, 3)), {}),
    (np.cross, (normal(3, 4), normal(4, 3)), {"axisa": 0}),
    (np.cross, (normal(4, 3), normal(3, 4)), {"axisb": 0, "axisc": 0}),
    (np.cross, (normal(3, 4), normal(3, 1)), {"axis": 0}),
    (np.cross, (wave(3), wave(3)), {}),
    (np.cross, (normal(3, 2, 4), normal(2, 3, 4)), {"axisa": 0, "axisb": 1, "axisc": 0}),
    *[
        (fn, (normal(n), normal(m)), {"mode": mode})
        for fn in (np.convolve, np.correlate)
        for mode in ("full", "same", "valid")
        for n, m in ((5, 3), (5, 2), (6, 4), (3, 5), (2, 5), (4, 4), (1, 3), (4, 1))
    ],
    (np.convolve, (normal(4), normal(3)), {}),
    (np.convolve, (wave(4), wave(3)), {"mode": "same"}),
    (np.correlate, (normal(4), normal(3)), {}),
    (np.correlate, (wave(3), wave(4)), {"mode": "same"}),
    (np.interp, (x, y, z), {}),
    (np.interp, (x, y, z), {"left": -1.0}),
    (np.interp, (x, y, z), {"left": 0.0, "right": 2.0}),
    (np.interp, (0.3, y, z), {}),
    (np.interp, (np.array(4.5), y, z), {}),
    (np.interp, (x.reshape(2, 4), y, z), {}),
    (np.interp, (x, y, wave(4)), {}),
    (np.interp, (np.array([0.5, 2.0]), y[1:2], z[:1]), {}),
    (np.interp, (x, y, z), {"period": 3.6}),
    (np.interp, (x * 2.7, 2.0 - y[::-1] * 2.9, z), {"period": 6.5}),
    (np.interp, (x, y, wave(4)), {"period": -4.3}),
    (np.interp, (0.3, y, z), {"period": 10.0}),
    (np.trapezoid, (normal(5),), {}),
    (np.trapezoid, (normal(5),), {"dx": 0.5}),
    (np.trapezoid, (normal(5), normal(5)), {}),
    (np.trapezoid, (normal(5, 2), normal(5)), {"axis": 0}),
    (np.trapezoid, (normal(2, 5), normal(2, 5)), {}),
    (np.trapezoid, (normal(5, 2), normal(5, 2)), {"axis": 0}),
    (np.trapezoid, (normal(5, 2),), {"axis": 0, "dx": 2.0}),
    (np.trapezoid, (normal(2, 5, 3), normal(2, 5, 3)), {"axis": 1}),
    (np.trapezoid, (normal(2, 5, 3), normal(5)), {"axis": -2}),
    (np.trapezoid, (normal(1),), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


@pytest.mark.parametrize("fn, args, settings", [row for row in ROWS if row[0] is not np.einsum])
def test_a_constant_may_have_no_tangent(fn, args, settings):
    """None as a tangent says the same as zeros, and never makes nonsense of the others."""
    rule, out = rule_for(fn), fn(*args, **settings)
    for k, x in enumerate(args):
        alone = [normal(*np.shape(x)) if i == k else None for i in range(len(args))]
        zeros = [t if t is not None else 0.0 * y for t, y in zip(alone, args, strict=True)]
        named = {np.trapezoid: ("y", "x", "dx")[len(args) :], np.interp: ("left", "right")}.get(
            fn, ()
        )
        given, none = [settings.get(n) for n in named], [None] * len(named)
        kept = {n: v for n, v in settings.items() if n not in named}
        one = rule.pushforward(out, *args, *given, *alone, *none, **kept)
        two = rule.pushforward(out, *args, *given, *zeros, *none, **kept)
        assert np.allclose(one, two) and np.shape(one) == np.shape(out)


def test_interp_at_the_knots():
    """The segment to the right counts, at the last knot the one to the left."""
    slope = np.diff(z) / np.diff(y)
    x_bar, _, fp_bar, *_ = rule_for(np.interp).pullback(np.ones(4), z, y, y, z)
    assert np.allclose(x_bar, [*slope, slope[-1]])
    assert np.array_equal(fp_bar, np.ones(4))


@pytest.mark.parametrize("shape, other", [((3,), (3,)), ((2, 3), (3,)), ((2, 3), (3, 2))])
def test_all_products_of_few_axes_agree(shape, other):
    a, b = normal(*shape), normal(*other)
    out_bar = np.asarray(normal(*(a @ b).shape))
    one = rule_for(np.dot).pullback(out_bar, a @ b, a, b)
    two = rule_for(np.matmul).pullback(out_bar, a @ b, a, b)
    assert all(np.array_equal(p, q) for p, q in zip(one, two, strict=True))


@pytest.mark.parametrize("fn", [np.convolve, np.correlate])
def test_unknown_modes_are_refused(fn):
    with pytest.raises(NotImplementedError, match="mode"):
        rule_for(fn).pullback(x, x, x, x, mode="f")


def test_sublists_are_refused():
    with pytest.raises(NotImplementedError, match="string"):
        rule_for(np.einsum).pullback(x, x, x, [0], [0])


@pytest.mark.parametrize("shapes", [((), ()), ((3,), (2,)), ((3, 2), (4,)), ((), (2, 2))], ids=str)
def test_outer_of_multiply(shapes):
    a, b = (normal(*shape) for shape in shapes)
    check_rule(np.multiply.outer, a, b)
    check_rule(np.multiply.outer, np.asarray(a) * (1 + 2j), b)


if hasattr(np, "matvec"):  # NumPy 2.2

    @pytest.mark.parametrize(
        "a, b",
        [
            (normal(2, 3), normal(3)),
            (normal(4, 2, 3), normal(3)),
            (normal(2, 3), normal(5, 3)),
            (wave(2, 3), wave(5, 3)),
        ],
    )
    def test_a_matrix_times_vectors(a, b):
        check_rule(np.matvec, a, b)

    @pytest.mark.parametrize(
        "a, b",
        [
            (normal(2), normal(2, 3)),
            (normal(4, 2), normal(2, 3)),
            (normal(2), normal(5, 2, 3)),
            (wave(2), wave(5, 2, 3)),
        ],
    )
    def test_vectors_times_a_matrix(a, b):
        check_rule(np.vecmat, a, b)
