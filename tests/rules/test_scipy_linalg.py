"""The rules of rules/scipy_linalg.py, a row for each function and setting."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule
from tests.slopes import check

L = pytest.importorskip("scipy.linalg")
rng = np.random.default_rng(3)


def n(*shape):
    return rng.standard_normal(shape)


def w(*shape):
    return n(*shape) + 1j * n(*shape)


def reg(*shape):
    return n(*shape) + 3 * np.eye(shape[-1])


def pos(size):
    a = n(size, size)
    return a @ a.T + 2 * np.eye(size)


ab = n(4, 5) + np.array([[0], [0], [5], [0]])
hb = np.array([n(5) * 0.1, n(5) * 0.1, 3 + n(5) * 0.1])

ROWS = [
    (L.expm_frechet, (n(3, 3), n(3, 3)), {}),
    (L.expm_frechet, (n(3, 3), n(3, 3)), {"compute_expm": False}),
    (L.solve, (reg(3, 3), n(3)), {}),
    (L.solve, (reg(3, 3), n(3, 2)), {}),
    (L.solve, (reg(3, 3), n(3)), {"transposed": True}),
    (L.solve, (pos(3), n(3)), {"assume_a": "pos"}),
    (L.solve, (pos(3), n(3, 2)), {"assume_a": "pos", "lower": True}),
    (L.solve, (pos(3) + n(3, 3), n(3)), {"assume_a": "sym"}),
    (L.solve, (reg(3, 3) + 1j * n(3, 3), w(3)), {}),
    (L.solve_triangular, (reg(3, 3), n(3)), {}),
    (L.solve_triangular, (reg(3, 3), n(3, 2)), {"lower": True}),
    (L.solve_triangular, (reg(3, 3), n(3)), {"lower": True, "trans": 1}),
    (L.solve_triangular, (reg(3, 3), n(3)), {"trans": "T", "unit_diagonal": True}),
    (L.solve_banded, ((1, 2), ab, n(5)), {}),
    (L.solve_banded, ((1, 2), ab, n(5, 2)), {}),
    (L.solve_banded, ((2, 1), np.roll(ab, -1, 0), n(5)), {}),
    (L.solveh_banded, (hb, n(5)), {}),
    (L.solveh_banded, (hb[::-1].copy(), n(5, 2)), {"lower": True}),
    (L.solve_sylvester, (reg(3, 3), reg(2, 2), n(3, 2)), {}),
    (L.solve_continuous_lyapunov, (reg(3, 3), n(3, 3)), {}),
    (L.solve_discrete_lyapunov, (n(3, 3) * 0.3, n(3, 3)), {}),
    (L.cholesky, (pos(3),), {}),
    (L.cholesky, (pos(3),), {"lower": True}),
    (L.eigvalsh, (n(3, 3),), {}),
    (L.eigvalsh, (n(3, 3),), {"lower": False}),
    (L.svdvals, (n(3, 2),), {}),
    (L.svd, (reg(3, 3),), {}),
    (L.svd, (n(3, 2),), {"full_matrices": False}),
    (L.eigvals, (np.diag([1.0, 2, 5]) + 0.1 * w(3, 3),), {}),
    (L.expm, (n(3, 3),), {}),
    (L.expm, (n(2, 3, 3),), {}),
    (L.expm, (w(3, 3),), {}),
    (L.logm, (pos(3) + 0.1j * n(3, 3),), {}),
    (L.sqrtm, (pos(3) + 0.1j * n(3, 3),), {}),
    (L.inv, (reg(3, 3),), {}),
    (L.det, (n(3, 3),), {}),
    (L.norm, (n(3, 3),), {"ord": 1}),
    (L.norm, (n(3),), {}),
    (L.toeplitz, (n(4),), {}),
    (L.toeplitz, (n(4), n(3)), {}),
    (L.circulant, (n(4),), {}),
    (L.block_diag, (n(2, 3), n(1, 2), n(3)), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def by_cholesky(a, b):
    c, lower = L.cho_factor(a, lower=True)
    x = L.cho_solve((c, lower), b)
    return x @ x + 2 * np.sum(np.log(np.diag(c)))


def by_upper_cholesky(a, b):
    c = L.cho_factor(a)
    return np.sum(L.cho_solve(c, b) ** 2)


def by_lu(a, b):
    lu, piv = L.lu_factor(a)
    x = L.lu_solve((lu, piv), b)
    y = L.lu_solve((lu, piv), b, trans=1)
    return x @ y + np.sum(np.log(np.abs(np.diag(lu))))


def of_matrices(a, b):
    return np.sum(L.expm(a / 4) @ b) + np.sum(L.block_diag(a, b) ** 2) + np.sum(L.toeplitz(b) @ b)


def by_root(a, b):
    return np.sum(np.real(L.sqrtm(a.astype(complex)) @ b) ** 2)


@pytest.mark.parametrize("fn", [by_cholesky, by_upper_cholesky, by_lu, of_matrices, by_root])
def test_in_a_program(fn):
    a, b = pos(3), n(3)
    if fn in (by_lu, of_matrices):
        a = a + n(3, 3)
    found = s2sad.grad(fn, wrt=(0, 1))(a, b)
    for i, value in enumerate((a, b)):
        for k in np.ndindex(value.shape):
            ends = []
            for h in (1e-6, -1e-6):
                moved = [a.copy(), b.copy()]
                moved[i][k] += h
                ends.append(fn(*moved))
            assert abs((ends[0] - ends[1]) / 2e-6 - found[i][k]) < 1e-5


@pytest.mark.parametrize("settings", [{"assume_a": "banded"}, {"assume_a": "tridiagonal"}])
def test_what_is_not_known_is_refused(settings):
    def solved(a, b):
        return np.sum(L.solve(a, b, **settings))

    with pytest.raises((s2sad.Error, NotImplementedError)):
        s2sad.grad(solved)(pos(3), n(3))


@pytest.mark.parametrize("solve", [L.solve, L.solve_triangular])
def test_stacks_of_right_sides_are_refused(solve):
    def solved(a, b):
        return np.sum(solve(a, b) ** 2)

    with pytest.raises(NotImplementedError, match="not for stacks"):
        s2sad.grad(solved)(np.tril(pos(2)).T, n(2, 2, 2))


def by_band(ab, b):
    return np.sum(L.solve_banded((1, 2), ab + 1.0, b) ** 2)


def by_half_band(ab, b):
    return np.sum(L.solveh_banded(ab, b) ** 2)


def by_column(c, b):
    return np.sum(L.solve_toeplitz(c, b) + L.solve_circulant(c, b) ** 2)


def by_column_and_row(c, b):
    return np.sum(L.solve_toeplitz((c, c * c), b) ** 2)


def by_two_diagonals(d, e):
    w, v = L.eigh_tridiagonal(d, e)
    return np.sum(w**3 * v[0] ** 2) + np.sum(L.eigvalsh_tridiagonal(d, e) ** 2)


@pytest.mark.parametrize(
    "fn, args",
    [
        (by_band, (ab, n(5))),
        (by_half_band, (np.array([[0.0, 0.1, 0.3, -0.2], [2.0, 3.0, 2.5, 4.0]]), n(4, 2))),
        (by_column, (n(4) + 5.0 * np.eye(4)[0], n(4))),
        (by_column_and_row, (n(4) + 9.0 * np.eye(4)[0], n(4))),
        (by_two_diagonals, (n(4), n(3))),
    ],
)
def test_arguments_whose_lengths_go_together(fn, args):
    """What a call returns is found by calls with samples: these must fit one another."""
    check(fn, *args)
