"""The rules of rules/scipy_decompositions.py, a row for each function and setting."""

import numpy as np
import pytest

import s2sad
from s2sad.testing import check_rule
from tests import slopes

L = pytest.importorskip("scipy.linalg")
rng = np.random.default_rng(9)


def n(*shape):
    return rng.standard_normal(shape)


def w(*shape):
    return n(*shape) + 1j * n(*shape)


def reg(*shape):
    return n(*shape) + 3 * np.eye(shape[-2], shape[-1])


def pos(size):
    a = n(size, size)
    return a @ a.T + 2 * np.eye(size)


ROWS = [
    (L.pinvh, (np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]]),), {}),
    (L.pinvh, (np.array([[2.0, 0.3], [0.3, 1.5]]),), {"lower": False}),
    (L.companion, (np.array([1.5, -0.4, 0.8, 0.3]),), {}),
    (L.eigh, (n(4, 4),), {"driver": "ev"}),  # by default signs of vectors jump
    (L.eigh, (n(4, 4),), {"lower": False, "driver": "ev"}),
    (L.eigh, (n(4, 4),), {"eigvals_only": True}),
    (L.eigh, (w(3, 3),), {"eigvals_only": True}),
    (L.eigvalsh, (n(3, 3),), {}),
    (L.eigvalsh, (n(3, 3),), {"lower": False}),
    (L.eigvals, (np.diag([1.0, 2, 5]) + 0.1 * w(3, 3),), {}),
    (L.eigvals, (n(4, 4),), {}),
    (L.eig, (n(4, 4),), {}),
    (L.eig, (n(3, 3),), {"right": False}),
    (L.eig, (pos(3),), {}),
    (L.eig, (w(3, 3),), {}),
    (L.qr, (n(3, 3),), {}),
    (L.qr, (n(5, 3),), {"mode": "economic"}),
    (L.qr, (n(3, 5),), {}),
    (L.qr, (n(3, 5),), {"mode": "economic"}),
    (np.linalg.qr, (n(2, 3, 5),), {}),
    (np.linalg.qr, (n(2, 4),), {}),
    (L.pinv, (n(4, 3),), {}),
    (L.pinv, (w(3, 4),), {}),
    (L.cosm, (n(3, 3),), {}),
    (L.sinm, (w(3, 3),), {}),
    (L.tanm, (n(3, 3) * 0.3,), {}),
    (L.coshm, (n(3, 3),), {}),
    (L.sinhm, (n(3, 3),), {}),
    (L.tanhm, (n(3, 3),), {}),
    (L.sinhm, (n(2, 3, 3),), {}),
    (L.hankel, (n(4),), {}),
    (L.hankel, (n(4), n(3)), {}),
    (L.hankel, (n(2), n(5)), {}),
    (L.khatri_rao, (n(3, 4), n(2, 4)), {}),
    (L.khatri_rao, (w(3, 2), n(1, 2)), {}),
    (L.eigh, (n(4, 4),), {"eigvals_only": True, "subset_by_index": (1, 2)}),
    (L.eigh, (n(3, 3), pos(3)), {}),
    (L.eigh, (n(3, 3), pos(3)), {"lower": False}),
    (L.eigh, (n(3, 3), pos(3)), {"eigvals_only": True}),
    (L.eigvalsh, (n(3, 3), pos(3)), {}),
    (L.eigh_tridiagonal, (n(4), n(3)), {}),
    (L.eigh_tridiagonal, (n(4), n(3)), {"eigvals_only": True}),
    (L.eigvalsh_tridiagonal, (n(4), n(3)), {}),
    (L.qr, (n(4, 3),), {"mode": "economic", "pivoting": True}),
    (L.qr, (n(3, 4),), {"mode": "r"}),
    (L.qr, (n(3, 4),), {"mode": "r", "pivoting": True}),
    (L.lu, (n(4, 4),), {}),
    (L.lu, (n(4, 4),), {"permute_l": True}),
    (L.lu, (n(4, 4),), {"p_indices": True}),
    (L.polar, (n(3, 3),), {}),
    (L.polar, (n(5, 3),), {}),
    (L.polar, (n(3, 5),), {"side": "left"}),
    (L.polar, (n(3, 3),), {"side": "left"}),
    (L.lstsq, (n(5, 3), n(5)), {}),
    (L.lstsq, (n(5, 3), n(5, 2)), {}),
    (L.lstsq, (n(2, 3), n(2)), {}),
    (L.solve_toeplitz, (n(4) + 3 * np.eye(4)[0], n(4)), {}),
    (L.solve_toeplitz, ((n(4) + 3 * np.eye(4)[0], n(4)), n(4, 2)), {}),
    (L.solve_circulant, (n(4) + 3 * np.eye(4)[0], n(4)), {}),
    (L.solve_circulant, (n(4) + 3 * np.eye(4)[0], n(4, 2)), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


# --- in programs ---------------------------------------------------------------------------------


def energies(a, b):
    w, v = L.eigh(a + a.T)
    return np.sum(w * np.array([1.0, 2.0, 3.0])) + np.sum((v[:, 0] * b) ** 2)


def vibrations(a, b):
    w = L.eigh(a + a.T, np.diag(b**2), eigvals_only=True)
    return np.sum(np.sqrt(np.abs(w)))


def factored(a, b):
    p, lower, u = L.lu(a)
    q, r = L.qr(a)
    return np.sum(p @ lower @ u * np.outer(b, b)) + np.sum(np.abs(np.diag(r))) + np.sum((q @ b)[:2])


def nearest_rotation(a, b):
    u, p = L.polar(a)
    return np.sum((u @ b) ** 3) + np.trace(p @ p)


def spectral_radius(a, b):
    return np.max(np.abs(L.eigvals(a))) + np.sum(b)


def fitted(a, b):
    x, _, _, _ = L.lstsq(a[:, :2], b)
    return np.sum(x**2) + np.sum(L.pinv(a[:, :2]) @ b)


@pytest.mark.parametrize(
    "f", [energies, vibrations, factored, nearest_rotation, spectral_radius, fitted]
)
def test_gradient(f):
    slopes.check(f, reg(3, 3) + 0.5 * n(3, 3), n(3))


def tall(a):
    q, _ = L.qr(a)
    return np.sum(q**3)


def raw(a):
    return np.sum(L.qr(a, mode="raw")[1])


def part_of_vectors(a):
    _, v = L.eigh(a.T @ a, subset_by_index=(0, 1))
    return np.sum(v**3)


def schur_form(a):
    t, _ = L.schur(a.T @ a)
    return np.sum(t**3)


@pytest.mark.parametrize("f", [tall, raw, part_of_vectors, schur_form])
def test_what_is_not_known_is_refused(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(n(4, 3))
