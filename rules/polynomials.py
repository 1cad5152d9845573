"""Polynomials as np.polyval has them: the coefficient of the highest power first."""

import numpy as np

from s2sad.registry import pullback, pushforward
from s2sad.runtime import fitted, unbroadcast


def powers(x, n, dtype):
    """Return the powers n - 1, ..., 1, 0 of x, along a new last axis."""
    rows = np.vander(np.ravel(np.asarray(x, dtype)), n)
    return np.reshape(rows, (*np.shape(x), n)).astype(dtype)


def derived(p):
    """Return the coefficients of the derivative, in the dtype of p; floats for integers."""
    p = 1.0 * p
    return p[:-1] * np.arange(p.size - 1, 0, -1, dtype=p.dtype)


@pullback(np.polyval)
def pull_polyval(out_bar, out, p, x):
    if p.ndim > 1:
        raise NotImplementedError("polyval has a derivative for one polynomial only")
    p_bar = np.tensordot(out_bar, powers(x, len(p), out.dtype), np.ndim(x))
    return p_bar, out_bar * np.polyval(derived(p), x)


@pushforward(np.polyval)
def push_polyval(out, p, x, p_dot, x_dot):
    out_dot = np.zeros_like(out)
    if p_dot is not None:
        out_dot = out_dot + np.polyval(p_dot, x)
    if x_dot is not None:
        out_dot = out_dot + np.polyval(derived(p), x) * x_dot
    return out_dot


@pullback(np.vander)
def pull_vander(out_bar, out, x, *, N=None, increasing=False):
    """The power k of x has the slope k times the power before it."""
    k = np.arange(1, out.shape[1], dtype=out.dtype)
    if increasing:
        return np.sum(out_bar[:, 1:] * k * out[:, :-1], axis=1)
    return np.sum(out_bar[:, :-1] * k[::-1] * out[:, 1:], axis=1)


@pushforward(np.vander)
def push_vander(out, x, x_dot, *, N=None, increasing=False):
    k = np.arange(1, out.shape[1], dtype=out.dtype)
    out_dot = np.zeros_like(out)
    if increasing:
        out_dot[:, 1:] = k * out[:, :-1] * x_dot[:, None]
    else:
        out_dot[:, :-1] = k[::-1] * out[:, 1:] * x_dot[:, None]
    return out_dot


def from_end(bar, a):
    """Return the last entries of bar in the shape of a, after zeros where there are too few."""
    a_bar = np.zeros(np.size(a), bar.dtype)
    n = min(a_bar.size, bar.size)
    a_bar[a_bar.size - n :] = bar[bar.size - n :]
    return np.reshape(a_bar, np.shape(a))


@pullback(np.polyadd)
def pull_polyadd(out_bar, out, a1, a2):
    return from_end(out_bar, a1), from_end(out_bar, a2)


@pushforward(np.polyadd)
def push_polyadd(out, a1, a2, a1_dot, a2_dot):
    a1_dot = np.zeros_like(a1) if a1_dot is None else a1_dot
    a2_dot = np.zeros_like(a2) if a2_dot is None else a2_dot
    return np.polyadd(a1_dot, a2_dot)


@pullback(np.polysub)
def pull_polysub(out_bar, out, a1, a2):
    return from_end(out_bar, a1), from_end(-out_bar, a2)


@pushforward(np.polysub)
def push_polysub(out, a1, a2, a1_dot, a2_dot):
    a1_dot = np.zeros_like(a1) if a1_dot is None else a1_dot
    a2_dot = np.zeros_like(a2) if a2_dot is None else a2_dot
    return np.polysub(a1_dot, a2_dot)


def leading(a):
    """Return the coefficients from the first that is not zero on, or one that is."""
    trimmed = np.trim_zeros(np.atleast_1d(a), "f")
    return trimmed if trimmed.size else np.zeros(1, trimmed.dtype)


@pullback(np.polymul, masks=True)
def pull_polymul(out_bar, out, a1, a2):
    """Leading zeros do not count as coefficients: np.polymul leaves them out."""
    a1_bar = from_end(np.convolve(out_bar, leading(a2)[::-1], "valid"), a1)
    return a1_bar, from_end(np.convolve(out_bar, leading(a1)[::-1], "valid"), a2)


@pushforward(np.polymul)
def push_polymul(out, a1, a2, a1_dot, a2_dot):
    out_dot = np.zeros_like(out)
    one, two = leading(a1), leading(a2)
    if a1_dot is not None:
        out_dot = out_dot + np.convolve(np.atleast_1d(a1_dot)[-one.size :], two)
    if a2_dot is not None:
        out_dot = out_dot + np.convolve(one, np.atleast_1d(a2_dot)[-two.size :])
    return out_dot


def division(v, n):
    """Return the matrix M for which M @ q has the first n coefficients of polymul(v, q)."""
    k = np.arange(n)
    lag = k[:, None] - k
    return np.where((lag >= 0) & (lag < v.size), v[np.clip(lag, 0, v.size - 1)], 0)


@pullback(np.polydiv, masks=True)
def pull_polydiv(out_bar, out, u, v):
    """From u = q * v + r, where r has fewer coefficients than v."""
    q_bar, r_bar = out_bar
    u, v = np.atleast_1d(u), np.atleast_1d(v)
    n = max(u.size - v.size + 1, 0)
    u_bar = np.zeros(u.size, out[0].dtype)
    if r_bar is not None:
        u_bar = from_end(r_bar, u_bar)
        u_bar[:n] = 0
    if n == 0:
        return u_bar, np.zeros_like(v)
    top = np.zeros(n, u_bar.dtype) if q_bar is None else q_bar
    top = top - np.convolve(u_bar, v[::-1], "valid")
    u_bar[:n] = np.linalg.solve(division(v, n).T, top)
    return u_bar, -np.convolve(u_bar, out[0][::-1], "valid")


@pushforward(np.polydiv)
def push_polydiv(out, u, v, u_dot, v_dot):
    q, r = out
    u, v = np.atleast_1d(u), np.atleast_1d(v)
    whole = np.zeros(u.size, q.dtype) if u_dot is None else u_dot
    if u.size < v.size:
        return np.zeros_like(q), whole[u.size - r.size :]
    if v_dot is not None:
        whole = whole - np.convolve(q, v_dot)
    q_dot = np.linalg.solve(division(v, q.size), whole[: q.size])
    rest = whole - np.convolve(q_dot, v)
    rest[: q.size] = 0
    return q_dot, rest[u.size - r.size :]


@pullback(np.polyder, masks=True, linear=True)
def pull_polyder(out_bar, out, p, *, m=1):
    p_bar = np.zeros_like(p)
    k = p.size - 1 - np.arange(out.size)
    factor = np.ones(out.size, out.dtype)
    for i in range(m):
        factor = factor * (k - i)
    p_bar[: out.size] = out_bar * factor
    return p_bar


@pushforward(np.polyder)
def push_polyder(out, p, p_dot, *, m=1):
    return np.polyder(p_dot, m)


@pullback(np.polyint, linear=True)
def pull_polyint(out_bar, out, p, k=None, *, m=1):
    """The last coefficient of every round is a constant of integration."""
    p_bar, constants = out_bar, []
    for _ in range(m):
        constants = [p_bar[-1], *constants]
        p_bar = p_bar[:-1] / np.arange(p_bar.size - 1, 0, -1, dtype=p_bar.dtype)
    if k is None:
        return p_bar, None
    return p_bar, unbroadcast(np.array(constants, out.dtype), np.shape(k))


@pushforward(np.polyint)
def push_polyint(out, p, k, p_dot, k_dot, *, m=1):
    return np.polyint(np.zeros_like(p) if p_dot is None else p_dot, m, k_dot)


def without_each(zeros):
    """Return, for each zero, the coefficients of the polynomial that has all the others."""
    rows = [np.poly(np.delete(zeros, i)) for i in range(zeros.size)]
    return np.reshape(np.array(rows, zeros.dtype), (zeros.size, zeros.size))


def adjugates(matrix, coefficients):
    """Return the matrices B of adj(x - matrix) = sum of B[k] * x ** (n - 1 - k).

    D. K. Faddeev and V. N. Faddeeva, "Computational methods of linear algebra", 1963.
    """
    eye = np.eye(len(matrix), dtype=matrix.dtype)
    found = [eye]
    for c in coefficients[1:-1]:
        found.append(matrix @ found[-1] + c * eye)
    return np.stack(found)


@pullback(np.poly)
def pull_poly(out_bar, out, seq_of_zeros):
    """For zeros, or for a square matrix: its characteristic polynomial."""
    if seq_of_zeros.ndim == 2:
        matrices = np.swapaxes(adjugates(seq_of_zeros, out), -1, -2)
        return -np.tensordot(out_bar[1:], matrices, 1)
    if not seq_of_zeros.size:
        return np.zeros_like(seq_of_zeros)
    return -without_each(seq_of_zeros) @ out_bar[1:]


@pushforward(np.poly)
def push_poly(out, seq_of_zeros, seq_of_zeros_dot):
    if not seq_of_zeros.size:
        return np.zeros_like(out)
    if seq_of_zeros.ndim == 2:
        turned = adjugates(seq_of_zeros, out) @ seq_of_zeros_dot
        moved = np.trace(turned, axis1=-2, axis2=-1)
    else:
        moved = seq_of_zeros_dot @ without_each(seq_of_zeros)
    return np.concatenate([np.zeros_like(out[:1]), -fitted(moved, out)])


@pullback(np.roots, turns_complex=True)
def pull_roots(out_bar, out, p):
    """While p(z) = 0 holds, the root z moves by -p_dot(z) / p'(z); it must be a simple root."""
    return -(out_bar / np.polyval(derived(p), out)) @ fitted(np.vander(out, p.size), out)


@pushforward(np.roots)
def push_roots(out, p, p_dot):
    return -np.polyval(p_dot, out) / np.polyval(derived(p), out)


def fit_back(c_bar, basis, c, y, w):
    """Return the cotangents of the basis, y and w for the fit c of `w * (basis @ c)` to `w * y`.

    By the normal equations, solved with a QR decomposition of the basis with columns of length 1.
    """
    turned = [np.reshape(x, (len(x), -1)) for x in (c_bar, c, y)]
    c_bar, c, values = turned
    weights = np.ones((len(basis), 1), basis.dtype) if w is None else np.reshape(w, (-1, 1))
    scale = np.sqrt(np.sum((weights * basis) ** 2, axis=0))[:, None]
    q, r = np.linalg.qr(weights * basis / scale.T)
    half = np.linalg.solve(r.T, c_bar / scale)
    g = np.linalg.solve(r, half) / scale
    rest = weights * (values - basis @ c)
    y_bar = q @ half
    wide_bar = rest @ g.T - y_bar @ c.T
    w_bar = np.sum(wide_bar * basis, axis=1) + np.sum(y_bar * values, axis=1)
    return weights * wide_bar, np.reshape(weights * y_bar, np.shape(y)), w_bar


def fit_forward(basis, basis_dot, c, y, y_dot, w, w_dot):
    """Return the tangent of the fit c of `w * (basis @ c)` to `w * y`."""
    flat, values = np.reshape(c, (len(c), -1)), np.reshape(y, (len(y), -1))
    weights = np.ones((len(basis), 1), basis.dtype) if w is None else np.reshape(w, (-1, 1))
    rest = values - basis @ flat
    rest_dot = -basis_dot @ flat
    if y_dot is not None:
        rest_dot = rest_dot + np.reshape(y_dot, values.shape)
    wide, wide_dot = weights * basis, weights * basis_dot
    moved = weights * rest_dot
    if w_dot is not None:
        moved = moved + np.reshape(w_dot, (-1, 1)) * rest
        wide_dot = wide_dot + np.reshape(w_dot, (-1, 1)) * basis
    scale = np.sqrt(np.sum(wide**2, axis=0))
    q, r = np.linalg.qr(wide / scale)
    turned = np.linalg.solve(r.T, wide_dot.T @ (weights * rest) / scale[:, None])
    found = np.linalg.solve(r, q.T @ moved + turned) / scale[:, None]
    return np.reshape(found, np.shape(c))


def powers_slope(basis):
    """Return the derivatives of the powers n - 1, ..., 1, 0."""
    slope = np.zeros_like(basis)
    slope[:, :-1] = basis[:, 1:] * np.arange(basis.shape[1] - 1, 0, -1)
    return slope


def check_points(x):
    """Refuse a fit at complex points."""
    if np.iscomplexobj(x):
        raise NotImplementedError("polyfit has no derivative for complex points")


@pullback(np.polyfit)
def pull_polyfit(out_bar, out, x, y, w=None, *, deg=None, rcond=None):
    """For a determined fit: there are enough points for the degree."""
    check_points(x)
    basis = np.vander(x, len(out))
    basis_bar, y_bar, w_bar = fit_back(out_bar, basis, out, y, w)
    x_bar = np.sum(np.real(basis_bar) * powers_slope(basis), axis=1)
    return x_bar, y_bar, None if w is None else np.real(w_bar)


@pushforward(np.polyfit)
def push_polyfit(out, x, y, w, x_dot, y_dot, w_dot, *, deg=None, rcond=None):
    check_points(x)
    basis = np.vander(x, len(out))
    basis_dot = np.zeros_like(basis)
    if x_dot is not None:
        basis_dot = powers_slope(basis) * x_dot[:, None]
    return fit_forward(basis, basis_dot, out, y, y_dot, w, w_dot)
