"""The rules of rules/padding.py, a row for each mode and setting."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.testing import check_rule
from tests import slopes

rng = np.random.default_rng(11)
a, A, T = rng.standard_normal(4), rng.standard_normal((2, 3)), rng.standard_normal((2, 3, 4))
EVEN = ["edge", "reflect", "symmetric", "wrap", "linear_ramp", "mean", "maximum", "minimum"]

ROWS = [
    ((a,), {"pad_width": 2}),
    ((a,), {"pad_width": 0}),
    ((a,), {"pad_width": (2, 1), "mode": "constant"}),
    ((A,), {"pad_width": 1, "constant_values": 7.0}),
    ((A,), {"pad_width": ((0, 1), (2, 0))}),
    ((A,), {"pad_width": [(1, 2)]}),
    ((A,), {"pad_width": np.array([[1, 2], [3, 4]])}),
    ((a[:0],), {"pad_width": 1}),
    *[((a,), {"pad_width": (2, 3), "mode": mode}) for mode in EVEN],
    *[((A,), {"pad_width": ((0, 1), (2, 0)), "mode": mode}) for mode in EVEN],
    *[((T,), {"pad_width": 1, "mode": mode}) for mode in EVEN],
    ((a,), {"pad_width": 9, "mode": "reflect"}),
    ((A + 1j * A**2,), {"pad_width": 2, "mode": "symmetric"}),
    ((A,), {"pad_width": 2, "mode": "linear_ramp", "end_values": 3.0}),
    ((A,), {"pad_width": 2, "mode": "linear_ramp", "end_values": ((1.0, 2.0), (3.0, 4.0))}),
    *[((T,), {"pad_width": 1, "mode": mode, "stat_length": 2}) for mode in EVEN[-3:]],
    ((a,), {"pad_width": 2, "mode": "mean", "stat_length": (1, 3)}),
    ((a,), {"pad_width": 2, "mode": "median"}),
    ((A,), {"pad_width": (1, 2), "mode": "median"}),
    ((a,), {"pad_width": 2, "mode": "median", "stat_length": 2}),
    *[
        (x, {"pad_width": width, "mode": mode, "reflect_type": "odd"})
        for x in ((a,), (A,))
        for width in (1, (0, 1))
        for mode in ("reflect", "symmetric")
    ],
]


@pytest.mark.parametrize("args, settings", ROWS)
def test_rule(args, settings):
    check_rule(np.pad, *args, **settings)


def test_padding_by_a_dictionary():
    out_bar = np.arange(20.0).reshape(4, 5)
    a_bar, _ = rule_for(np.pad).pullback(out_bar, None, A, pad_width={-1: 1, 0: (2, 0)})
    assert np.array_equal(a_bar, out_bar[2:, 1:4])
    a_bar, _ = rule_for(np.pad).pullback(out_bar[:2], None, A, pad_width={1: (2, 0)})
    assert np.array_equal(a_bar, out_bar[:2, 2:])


def test_what_stands_before_and_after():
    def around(values, u):
        return np.sum(np.pad(u, ((0, 1), (2, 1)), constant_values=values) ** 3)

    for values in (np.array([[0.5, 1.5], [2.5, 3.5]]), np.array([0.5, 1.5]), 0.7):
        slopes.check(around, values, A)
        one = np.ones_like(values)[()]
        moved = s2sad.jvp(around, (values, A), (one, None))[1]
        assert moved == pytest.approx(np.sum(s2sad.grad(around)(values, A)))


def ghost_cells(u):
    v = np.pad(u, 1, mode="edge")
    return np.sum((v[2:] - 2.0 * v[1:-1] + v[:-2]) ** 2)


def test_in_a_program():
    gradient = s2sad.grad(ghost_cells)(a)
    for k in range(a.size):
        step = np.zeros(a.size)
        step[k] = 1e-6
        difference = (ghost_cells(a + step) - ghost_cells(a - step)) / 2e-6
        assert abs(difference - gradient[k]) < 1e-7


@pytest.mark.parametrize("width", [4, (0, 9)])
def test_odd_reflections_of_reflections_are_refused(width):
    settings = {"pad_width": width, "mode": "reflect", "reflect_type": "odd"}
    with pytest.raises(NotImplementedError):
        rule_for(np.pad).pullback(np.pad(a, **settings), None, a, **settings)
