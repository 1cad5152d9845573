"""A shadow that only passes its sum on to another of its shape adds to that one at once."""

import gast
import numpy as np
import pytest
from slopes import check

import s2sad
from s2sad.polish.effects import EffectTable
from s2sad.polish.together import together
from s2sad.write.printer import module

T = np.random.default_rng(1).standard_normal((4, 5))


def run(text, live_out=("T_bar",), sharing=None):
    block = gast.parse(text).body
    effects = EffectTable(lambda _: True, sharing)
    return module(together(block, frozenset(live_out), frozenset({"T_bar"}), effects, "np"))


BEFORE = """\
Tn_bar = np.zeros_like(T_bar)
Tn_bar[1:] += t_bar
Tn_bar[:-1] -= 2.0 * t_bar
T_bar = T_bar + Tn_bar
"""


@pytest.mark.parametrize("last", ["T_bar = T_bar + Tn_bar", "T_bar += Tn_bar"])
def test_sums_go_where_they_are_wanted(last):
    text = BEFORE.replace("T_bar = T_bar + Tn_bar", last)
    assert run(text) == "T_bar[1:] += t_bar\nT_bar[:-1] -= 2.0 * t_bar\n"


@pytest.mark.parametrize(
    "text",
    [
        BEFORE.replace("t_bar\nTn", "T_bar[0]\nTn"),  # reads what is added to
        BEFORE.replace("2.0 * t_bar", "Tn_bar[1:]"),
        BEFORE.replace("Tn_bar[:-1] -=", "Tn_bar[:-1] *="),
        BEFORE.replace("Tn_bar[:-1] -=", "Tn_bar[:-1] ="),
        BEFORE.replace("Tn_bar[:-1] -=", "T_bar[:-1] *="),
        BEFORE.replace("Tn_bar[:-1] -=", "x_bar = T_bar[0] +"),
        BEFORE.replace("T_bar = T_bar +", "T_bar = U_bar +"),
        BEFORE.replace("zeros_like", "ones_like"),
        BEFORE.replace("Tn_bar[1:] +=", "row_bar = Tn_bar[1:] +"),
        BEFORE.replace("like(T_bar)", "like(U_bar)"),
    ],
)
def test_not_where_something_else_happens_to_either(text):
    assert run(text) == text


def test_not_where_the_sum_is_read_again():
    assert run(BEFORE, ("T_bar", "Tn_bar")) == BEFORE


def test_not_where_a_view_of_it_is_read():
    text = BEFORE.replace("2.0 * t_bar", "row_bar")
    assert run(text, sharing={"T_bar": frozenset({"row_bar"})}) == text
    assert run(text) != text


def heat(T, steps, alpha):
    T = T.copy()
    for _ in range(steps):
        Tn = T.copy()
        T[1:-1, 1:-1] = Tn[1:-1, 1:-1] + alpha * (Tn[2:, 1:-1] - Tn[1:-1, 1:-1] * Tn[1:-1, :-2])
        T[0, :] = T[1, :]
        T[:, -1] = T[:, -2]
    return np.sum(T**2)


def both_read(T, steps, alpha):
    """The copy's cotangent is read while that of the original has still to come."""
    T = T.copy()
    for _ in range(steps):
        Tn = T.copy()
        T[0] = T[1] * Tn[2]
        T *= alpha + Tn
    return np.sum(T**2)


def views_kept(T, steps, alpha):
    T = T.copy()
    first = T[0]
    for _ in range(steps):
        Tn = T.copy()
        T[1:] = Tn[:-1] * alpha + first * 0.1
        first += Tn[1]
    return np.sum(T**2) + np.sum(first)


@pytest.mark.parametrize("fn", [heat, both_read, views_kept])
def test_gradient(fn):
    check(fn, T, 3, 0.3, constant=(1,))


def test_heat_has_one_shadow():
    assert "zeros_like(T_bar)" not in s2sad.source(heat, args=(T, 3, 0.3))
