"""The targets that write arrays: derived text beside what a careful person wrote by hand."""

from __future__ import annotations

import counting
import numpy as np
import pytest
from targets import FOLDER, load_file

import s2sad
from s2sad import Const, Duplicated, Reverse, autodiff

stencil = load_file(FOLDER / "stencil.py", "target_stencil")
in_place = load_file(FOLDER / "in_place.py", "target_in_place")
views = load_file(FOLDER / "views.py", "target_views")
normal = np.random.default_rng(0).standard_normal

TEXTS = {
    "stencil": s2sad.source(stencil.jacobi, mode="reverse", args=(normal(9), normal(9), Const(3))),
    "in_place": s2sad.source(in_place.f, mode="vjp", args=(normal(4), normal(4))),
}
BY_HAND = {"stencil": "jacobi_reverse", "in_place": "f_vjp"}

STENCIL = '''\
def jacobi_reverse(A, B, steps, A_bar, B_bar):
    """Reverse of jacobi (stencil.py): accumulates into A_bar and B_bar."""
    for _ in range(steps):
        B[1:-1] = 0.25 * (A[:-2] + 2.0 * A[1:-1] + A[2:])
        A[1:-1] = 0.25 * (B[:-2] + 2.0 * B[1:-1] + B[2:])

    for _ in range(steps):
        # A[1:-1] = 0.25 * (B[:-2] + 2.0 * B[1:-1] + B[2:])
        t_bar = 0.25 * A_bar[1:-1]
        A_bar[1:-1] = 0.0
        B_bar[2:] += t_bar
        B_bar[:-2] += t_bar
        B_bar[1:-1] += 2.0 * t_bar
        # B[1:-1] = 0.25 * (A[:-2] + 2.0 * A[1:-1] + A[2:])
        t_bar_1 = 0.25 * B_bar[1:-1]
        B_bar[1:-1] = 0.0
        A_bar[2:] += t_bar_1
        A_bar[:-2] += t_bar_1
        A_bar[1:-1] += 2.0 * t_bar_1
'''


def test_the_text_of_the_stencil():
    assert TEXTS["stencil"] == STENCIL


@pytest.mark.parametrize("name", TEXTS)
def test_no_more_than_by_hand(name):
    by_hand = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    hand = counting.count(by_hand, (BY_HAND[name],))
    more = counting.excess(counting.count(TEXTS[name]), hand)
    assert not more, f"{more}\n{TEXTS[name]}"


@pytest.mark.parametrize("n", [9, 4, 3, 2])
def test_the_stencil_beside_by_hand(n):
    A, B, A_bar, B_bar = (normal(n) for _ in range(4))
    want = [a.copy() for a in (A, B, A_bar, B_bar)]
    stencil.jacobi_reverse(*want[:2], 3, *want[2:])
    autodiff(Reverse, stencil.jacobi, Duplicated(A, A_bar), Duplicated(B, B_bar), Const(3))
    for mine, theirs in zip((A, B, A_bar, B_bar), want, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-14)


def test_in_place_beside_by_hand():
    A, B = normal(4), normal(4)
    value, pullback = s2sad.vjp(in_place.f, A, B)
    by_hand, pull = in_place.f_vjp(A, B)
    assert value == by_hand
    for _ in range(2):
        for mine, theirs in zip(pullback(1.0), pull(1.0), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-13)


def test_views_beside_by_hand():
    A = normal((3, 4))
    mine, theirs = s2sad.grad(views.normalise_rows)(A), views.normalise_rows_grad(A)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-15)
