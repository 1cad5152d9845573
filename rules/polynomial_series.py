"""numpy.polynomial: series of powers and of five families of orthogonal polynomials.

A series is linear in its coefficients, and its derivative is a series of the same family; so each
rule hands the family's own functions to a helper that all six share.
"""

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial
from s2sad.rules.polynomials import fit_back, fit_forward

from s2sad.registry import elementwise, nondifferentiable, pullback, pushforward
from s2sad.runtime import unbroadcast


def basis_at(vander, x, n, dtype):
    """Return the first n polynomials of a family at x, along a new last axis."""
    basis = vander(np.asarray(x, dtype), n - 1)
    return np.reshape(basis, (*np.shape(x), n)).astype(dtype)


def coefficients_back(out_bar, vander, x, c, tensor):
    """Return the cotangent of the coefficients of a series that was evaluated at x."""
    out_bar = np.asarray(out_bar)
    basis = basis_at(vander, x, len(c), out_bar.dtype)
    if c.ndim == 1 or tensor:
        return np.moveaxis(np.tensordot(out_bar, basis, np.ndim(x)), -1, 0)
    return np.stack([unbroadcast(out_bar * basis[..., k], c.shape[1:]) for k in range(len(c))])


def point_back(out_bar, slope, x):
    """Return the cotangent of the points, which all series given share."""
    return unbroadcast(out_bar * slope, np.shape(x))


def slope_of(out, val, der, x, c, tensor):
    """Return the derivative of a series at x, in the dtype of its value."""
    return val(x, der(c), tensor=tensor).astype(np.asarray(out).dtype)


def value_tangent(out, val, der, x, c, x_dot, c_dot, tensor):
    """Return the tangent of a series at x."""
    out_dot = np.zeros_like(out)
    if x_dot is not None:
        out_dot = out_dot + slope_of(out, val, der, x, c, tensor) * x_dot
    if c_dot is not None:
        out_dot = out_dot + val(x, c_dot, tensor=tensor).astype(out_dot.dtype)
    return out_dot


def basis_slope(der, basis):
    """Return the derivatives of the polynomials of a basis, which are sums of its own."""
    n = basis.shape[-1]
    matrix = der(np.eye(n)).astype(basis.dtype)
    return basis[..., : len(matrix)] @ matrix


def linear_back(matrix, out_bar, axis):
    """Return the cotangent for `out = matrix @ c` along an axis; further rows gave nothing."""
    out_bar = np.moveaxis(out_bar, axis, 0)
    matrix = matrix[: len(out_bar)].astype(out_bar.dtype)
    return np.moveaxis(np.tensordot(matrix, out_bar, (0, 0)), 0, axis)


def to_length(c, n):
    """Return coefficients cut off, or filled up with zeros, at the end."""
    longer = np.zeros(n, c.dtype)
    longer[: min(n, c.size)] = c[:n]
    return longer


def tangent_sum(out, c1_dot, c2_dot, c2_sign):
    """Return the tangent of a sum of two series; NumPy drops zeros at its end."""
    out_dot = np.zeros_like(out)
    if c1_dot is not None:
        out_dot = out_dot + to_length(np.atleast_1d(c1_dot), out.size)
    if c2_dot is not None:
        out_dot = out_dot + c2_sign * to_length(np.atleast_1d(c2_dot), out.size)
    return out_dot


def series_back(out_bar, c):
    """Return the cotangent of coefficients of which the first are the result's."""
    return np.reshape(to_length(out_bar, np.size(c)), np.shape(c))


def factor_back(out_bar, multiply, c, other):
    """Return the cotangent of one factor of a product of two series."""
    eye = np.eye(np.size(c), dtype=out_bar.dtype)
    rows = [to_length(multiply(row, other), out_bar.size) for row in eye]
    return np.reshape(np.stack(rows).astype(out_bar.dtype) @ out_bar, np.shape(c))


def product_tangent(out, multiply, c1, c2, c1_dot, c2_dot):
    """Return the tangent of a product of two series."""
    out_dot = np.zeros_like(out)
    if c1_dot is not None:
        out_dot = out_dot + to_length(multiply(c1_dot, c2), out.size).astype(out.dtype)
    if c2_dot is not None:
        out_dot = out_dot + to_length(multiply(c1, c2_dot), out.size).astype(out.dtype)
    return out_dot


def shifted_back(out_bar, shift, c):
    """Return the cotangent of a series that was multiplied by x."""
    eye = np.eye(np.size(c), dtype=out_bar.dtype)
    rows = [to_length(shift(row), out_bar.size) for row in eye]
    return np.reshape(np.stack(rows).astype(out_bar.dtype) @ out_bar, np.shape(c))


def without_each_root(fromroots, roots, n, dtype):
    """Return, for each root, the coefficients of the polynomial that has all the others."""
    rows = [to_length(fromroots(np.delete(roots, i)), n) for i in range(roots.size)]
    return np.reshape(np.array(rows, dtype), (roots.size, n))


def roots_slope(val, der, vander, roots, c):
    """Return how each root moves with each coefficient: simple roots only."""
    slope = val(roots, der(c))
    basis = basis_at(vander, roots, c.size, roots.dtype)
    return -(basis / slope[:, None]).astype(roots.dtype)


def check_fit(x, deg):
    """Refuse the fits that have no derivative here."""
    if np.ndim(deg) > 0:
        raise NotImplementedError("a derivative of a fit with all degrees up to one only")
    if np.iscomplexobj(x):
        raise NotImplementedError("no derivative of a fit at complex points")


def fitted_back(out_bar, out, vander, der, x, y, w, deg):
    """Return the cotangents of the points, the values and the weights of a fit."""
    check_fit(x, deg)
    basis = vander(x, deg)
    basis_bar, y_bar, w_bar = fit_back(out_bar, basis, out, y, w)
    x_bar = np.sum(np.real(basis_bar) * basis_slope(der, basis), axis=1)
    return x_bar, y_bar, None if w is None else np.real(w_bar)


def fitted_forward(out, vander, der, x, y, w, x_dot, y_dot, w_dot, deg):
    """Return the tangent of a fit."""
    check_fit(x, deg)
    basis = vander(x, deg)
    basis_dot = np.zeros_like(basis)
    if x_dot is not None:
        basis_dot = basis_slope(der, basis) * x_dot[:, None]
    return fit_forward(basis, basis_dot, out, y, y_dot, w, w_dot)


# polynomial


@pullback(polynomial.polyval)
def pull_polyval(out_bar, out, x, c, *, tensor=True):
    slope = slope_of(out, polynomial.polyval, polynomial.polyder, x, c, tensor)
    return point_back(out_bar, slope, x), coefficients_back(
        out_bar, polynomial.polyvander, x, c, tensor
    )


@pushforward(polynomial.polyval)
def push_polyval(out, x, c, x_dot, c_dot, *, tensor=True):
    return value_tangent(out, polynomial.polyval, polynomial.polyder, x, c, x_dot, c_dot, tensor)


@pullback(polynomial.polyvander)
def pull_polyvander(out_bar, out, x, *, deg=None):
    return np.reshape(np.sum(out_bar * basis_slope(polynomial.polyder, out), axis=-1), np.shape(x))


@pushforward(polynomial.polyvander)
def push_polyvander(out, x, x_dot, *, deg=None):
    return basis_slope(polynomial.polyder, out) * np.atleast_1d(x_dot)[..., None]


@pullback(polynomial.polyder, masks=True)
def pull_polyder(out_bar, out, c, *, m=1, scl=1, axis=0):
    return linear_back(polynomial.polyder(np.eye(c.shape[axis]), m, scl), out_bar, axis)


@pushforward(polynomial.polyder)
def push_polyder(out, c, c_dot, *, m=1, scl=1, axis=0):
    return polynomial.polyder(c_dot, m, scl, axis).astype(out.dtype)


@pullback(polynomial.polyint)
def pull_polyint(out_bar, out, c, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    matrix = polynomial.polyint(np.eye(c.shape[axis]), m, [], lbnd, scl)
    return linear_back(matrix, out_bar, axis)


@pushforward(polynomial.polyint)
def push_polyint(out, c, c_dot, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    return polynomial.polyint(c_dot, m, [], lbnd, scl, axis).astype(out.dtype)


@pullback(polynomial.polyadd)
def pull_polyadd(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(out_bar, c2)


@pushforward(polynomial.polyadd)
def push_polyadd(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, 1)


@pullback(polynomial.polysub)
def pull_polysub(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(-out_bar, c2)


@pushforward(polynomial.polysub)
def push_polysub(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, -1)


@pullback(polynomial.polymul)
def pull_polymul(out_bar, out, c1, c2):
    c1_bar = factor_back(out_bar, polynomial.polymul, c1, c2)
    return c1_bar, factor_back(out_bar, polynomial.polymul, c2, c1)


@pushforward(polynomial.polymul)
def push_polymul(out, c1, c2, c1_dot, c2_dot):
    return product_tangent(out, polynomial.polymul, c1, c2, c1_dot, c2_dot)


@pullback(polynomial.polymulx)
def pull_polymulx(out_bar, out, c):
    return shifted_back(out_bar, polynomial.polymulx, c)


@pushforward(polynomial.polymulx)
def push_polymulx(out, c, c_dot):
    return to_length(polynomial.polymulx(c_dot), out.size).astype(out.dtype)


@pullback(polynomial.polyfromroots)
def pull_polyfromroots(out_bar, out, roots):
    return -without_each_root(polynomial.polyfromroots, roots, out.size, out.dtype) @ out_bar


@pushforward(polynomial.polyfromroots)
def push_polyfromroots(out, roots, roots_dot):
    return -roots_dot @ without_each_root(polynomial.polyfromroots, roots, out.size, out.dtype)


@pullback(polynomial.polyroots)
def pull_polyroots(out_bar, out, c):
    return out_bar @ roots_slope(
        polynomial.polyval, polynomial.polyder, polynomial.polyvander, out, c
    )


@pushforward(polynomial.polyroots)
def push_polyroots(out, c, c_dot):
    return (
        roots_slope(polynomial.polyval, polynomial.polyder, polynomial.polyvander, out, c) @ c_dot
    )


@pullback(polynomial.polyfit)
def pull_polyfit(out_bar, out, x, y, w=None, *, deg=None, rcond=None):
    return fitted_back(out_bar, out, polynomial.polyvander, polynomial.polyder, x, y, w, deg)


@pushforward(polynomial.polyfit)
def push_polyfit(out, x, y, w, x_dot, y_dot, w_dot, *, deg=None, rcond=None):
    return fitted_forward(
        out, polynomial.polyvander, polynomial.polyder, x, y, w, x_dot, y_dot, w_dot, deg
    )


# chebyshev


@pullback(chebyshev.chebval)
def pull_chebval(out_bar, out, x, c, *, tensor=True):
    slope = slope_of(out, chebyshev.chebval, chebyshev.chebder, x, c, tensor)
    return point_back(out_bar, slope, x), coefficients_back(
        out_bar, chebyshev.chebvander, x, c, tensor
    )


@pushforward(chebyshev.chebval)
def push_chebval(out, x, c, x_dot, c_dot, *, tensor=True):
    return value_tangent(out, chebyshev.chebval, chebyshev.chebder, x, c, x_dot, c_dot, tensor)


@pullback(chebyshev.chebvander)
def pull_chebvander(out_bar, out, x, *, deg=None):
    return np.reshape(np.sum(out_bar * basis_slope(chebyshev.chebder, out), axis=-1), np.shape(x))


@pushforward(chebyshev.chebvander)
def push_chebvander(out, x, x_dot, *, deg=None):
    return basis_slope(chebyshev.chebder, out) * np.atleast_1d(x_dot)[..., None]


@pullback(chebyshev.chebder, masks=True)
def pull_chebder(out_bar, out, c, *, m=1, scl=1, axis=0):
    return linear_back(chebyshev.chebder(np.eye(c.shape[axis]), m, scl), out_bar, axis)


@pushforward(chebyshev.chebder)
def push_chebder(out, c, c_dot, *, m=1, scl=1, axis=0):
    return chebyshev.chebder(c_dot, m, scl, axis).astype(out.dtype)


@pullback(chebyshev.chebint)
def pull_chebint(out_bar, out, c, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    matrix = chebyshev.chebint(np.eye(c.shape[axis]), m, [], lbnd, scl)
    return linear_back(matrix, out_bar, axis)


@pushforward(chebyshev.chebint)
def push_chebint(out, c, c_dot, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    return chebyshev.chebint(c_dot, m, [], lbnd, scl, axis).astype(out.dtype)


@pullback(chebyshev.chebadd)
def pull_chebadd(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(out_bar, c2)


@pushforward(chebyshev.chebadd)
def push_chebadd(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, 1)


@pullback(chebyshev.chebsub)
def pull_chebsub(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(-out_bar, c2)


@pushforward(chebyshev.chebsub)
def push_chebsub(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, -1)


@pullback(chebyshev.chebmul)
def pull_chebmul(out_bar, out, c1, c2):
    c1_bar = factor_back(out_bar, chebyshev.chebmul, c1, c2)
    return c1_bar, factor_back(out_bar, chebyshev.chebmul, c2, c1)


@pushforward(chebyshev.chebmul)
def push_chebmul(out, c1, c2, c1_dot, c2_dot):
    return product_tangent(out, chebyshev.chebmul, c1, c2, c1_dot, c2_dot)


@pullback(chebyshev.chebmulx)
def pull_chebmulx(out_bar, out, c):
    return shifted_back(out_bar, chebyshev.chebmulx, c)


@pushforward(chebyshev.chebmulx)
def push_chebmulx(out, c, c_dot):
    return to_length(chebyshev.chebmulx(c_dot), out.size).astype(out.dtype)


@pullback(chebyshev.chebfromroots)
def pull_chebfromroots(out_bar, out, roots):
    return -without_each_root(chebyshev.chebfromroots, roots, out.size, out.dtype) @ out_bar


@pushforward(chebyshev.chebfromroots)
def push_chebfromroots(out, roots, roots_dot):
    return -roots_dot @ without_each_root(chebyshev.chebfromroots, roots, out.size, out.dtype)


@pullback(chebyshev.chebroots)
def pull_chebroots(out_bar, out, c):
    return out_bar @ roots_slope(chebyshev.chebval, chebyshev.chebder, chebyshev.chebvander, out, c)


@pushforward(chebyshev.chebroots)
def push_chebroots(out, c, c_dot):
    return roots_slope(chebyshev.chebval, chebyshev.chebder, chebyshev.chebvander, out, c) @ c_dot


@pullback(chebyshev.chebfit)
def pull_chebfit(out_bar, out, x, y, w=None, *, deg=None, rcond=None):
    return fitted_back(out_bar, out, chebyshev.chebvander, chebyshev.chebder, x, y, w, deg)


@pushforward(chebyshev.chebfit)
def push_chebfit(out, x, y, w, x_dot, y_dot, w_dot, *, deg=None, rcond=None):
    return fitted_forward(
        out, chebyshev.chebvander, chebyshev.chebder, x, y, w, x_dot, y_dot, w_dot, deg
    )


# legendre


@pullback(legendre.legval)
def pull_legval(out_bar, out, x, c, *, tensor=True):
    slope = slope_of(out, legendre.legval, legendre.legder, x, c, tensor)
    return point_back(out_bar, slope, x), coefficients_back(
        out_bar, legendre.legvander, x, c, tensor
    )


@pushforward(legendre.legval)
def push_legval(out, x, c, x_dot, c_dot, *, tensor=True):
    return value_tangent(out, legendre.legval, legendre.legder, x, c, x_dot, c_dot, tensor)


@pullback(legendre.legvander)
def pull_legvander(out_bar, out, x, *, deg=None):
    return np.reshape(np.sum(out_bar * basis_slope(legendre.legder, out), axis=-1), np.shape(x))


@pushforward(legendre.legvander)
def push_legvander(out, x, x_dot, *, deg=None):
    return basis_slope(legendre.legder, out) * np.atleast_1d(x_dot)[..., None]


@pullback(legendre.legder, masks=True)
def pull_legder(out_bar, out, c, *, m=1, scl=1, axis=0):
    return linear_back(legendre.legder(np.eye(c.shape[axis]), m, scl), out_bar, axis)


@pushforward(legendre.legder)
def push_legder(out, c, c_dot, *, m=1, scl=1, axis=0):
    return legendre.legder(c_dot, m, scl, axis).astype(out.dtype)


@pullback(legendre.legint)
def pull_legint(out_bar, out, c, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    matrix = legendre.legint(np.eye(c.shape[axis]), m, [], lbnd, scl)
    return linear_back(matrix, out_bar, axis)


@pushforward(legendre.legint)
def push_legint(out, c, c_dot, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    return legendre.legint(c_dot, m, [], lbnd, scl, axis).astype(out.dtype)


@pullback(legendre.legadd)
def pull_legadd(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(out_bar, c2)


@pushforward(legendre.legadd)
def push_legadd(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, 1)


@pullback(legendre.legsub)
def pull_legsub(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(-out_bar, c2)


@pushforward(legendre.legsub)
def push_legsub(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, -1)


@pullback(legendre.legmul)
def pull_legmul(out_bar, out, c1, c2):
    c1_bar = factor_back(out_bar, legendre.legmul, c1, c2)
    return c1_bar, factor_back(out_bar, legendre.legmul, c2, c1)


@pushforward(legendre.legmul)
def push_legmul(out, c1, c2, c1_dot, c2_dot):
    return product_tangent(out, legendre.legmul, c1, c2, c1_dot, c2_dot)


@pullback(legendre.legmulx)
def pull_legmulx(out_bar, out, c):
    return shifted_back(out_bar, legendre.legmulx, c)


@pushforward(legendre.legmulx)
def push_legmulx(out, c, c_dot):
    return to_length(legendre.legmulx(c_dot), out.size).astype(out.dtype)


@pullback(legendre.legfromroots)
def pull_legfromroots(out_bar, out, roots):
    return -without_each_root(legendre.legfromroots, roots, out.size, out.dtype) @ out_bar


@pushforward(legendre.legfromroots)
def push_legfromroots(out, roots, roots_dot):
    return -roots_dot @ without_each_root(legendre.legfromroots, roots, out.size, out.dtype)


@pullback(legendre.legroots)
def pull_legroots(out_bar, out, c):
    return out_bar @ roots_slope(legendre.legval, legendre.legder, legendre.legvander, out, c)


@pushforward(legendre.legroots)
def push_legroots(out, c, c_dot):
    return roots_slope(legendre.legval, legendre.legder, legendre.legvander, out, c) @ c_dot


@pullback(legendre.legfit)
def pull_legfit(out_bar, out, x, y, w=None, *, deg=None, rcond=None):
    return fitted_back(out_bar, out, legendre.legvander, legendre.legder, x, y, w, deg)


@pushforward(legendre.legfit)
def push_legfit(out, x, y, w, x_dot, y_dot, w_dot, *, deg=None, rcond=None):
    return fitted_forward(
        out, legendre.legvander, legendre.legder, x, y, w, x_dot, y_dot, w_dot, deg
    )


# hermite


@pullback(hermite.hermval)
def pull_hermval(out_bar, out, x, c, *, tensor=True):
    slope = slope_of(out, hermite.hermval, hermite.hermder, x, c, tensor)
    return point_back(out_bar, slope, x), coefficients_back(
        out_bar, hermite.hermvander, x, c, tensor
    )


@pushforward(hermite.hermval)
def push_hermval(out, x, c, x_dot, c_dot, *, tensor=True):
    return value_tangent(out, hermite.hermval, hermite.hermder, x, c, x_dot, c_dot, tensor)


@pullback(hermite.hermvander)
def pull_hermvander(out_bar, out, x, *, deg=None):
    return np.reshape(np.sum(out_bar * basis_slope(hermite.hermder, out), axis=-1), np.shape(x))


@pushforward(hermite.hermvander)
def push_hermvander(out, x, x_dot, *, deg=None):
    return basis_slope(hermite.hermder, out) * np.atleast_1d(x_dot)[..., None]


@pullback(hermite.hermder, masks=True)
def pull_hermder(out_bar, out, c, *, m=1, scl=1, axis=0):
    return linear_back(hermite.hermder(np.eye(c.shape[axis]), m, scl), out_bar, axis)


@pushforward(hermite.hermder)
def push_hermder(out, c, c_dot, *, m=1, scl=1, axis=0):
    return hermite.hermder(c_dot, m, scl, axis).astype(out.dtype)


@pullback(hermite.hermint)
def pull_hermint(out_bar, out, c, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    matrix = hermite.hermint(np.eye(c.shape[axis]), m, [], lbnd, scl)
    return linear_back(matrix, out_bar, axis)


@pushforward(hermite.hermint)
def push_hermint(out, c, c_dot, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    return hermite.hermint(c_dot, m, [], lbnd, scl, axis).astype(out.dtype)


@pullback(hermite.hermadd)
def pull_hermadd(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(out_bar, c2)


@pushforward(hermite.hermadd)
def push_hermadd(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, 1)


@pullback(hermite.hermsub)
def pull_hermsub(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(-out_bar, c2)


@pushforward(hermite.hermsub)
def push_hermsub(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, -1)


@pullback(hermite.hermmul)
def pull_hermmul(out_bar, out, c1, c2):
    c1_bar = factor_back(out_bar, hermite.hermmul, c1, c2)
    return c1_bar, factor_back(out_bar, hermite.hermmul, c2, c1)


@pushforward(hermite.hermmul)
def push_hermmul(out, c1, c2, c1_dot, c2_dot):
    return product_tangent(out, hermite.hermmul, c1, c2, c1_dot, c2_dot)


@pullback(hermite.hermmulx)
def pull_hermmulx(out_bar, out, c):
    return shifted_back(out_bar, hermite.hermmulx, c)


@pushforward(hermite.hermmulx)
def push_hermmulx(out, c, c_dot):
    return to_length(hermite.hermmulx(c_dot), out.size).astype(out.dtype)


@pullback(hermite.hermfromroots)
def pull_hermfromroots(out_bar, out, roots):
    return -without_each_root(hermite.hermfromroots, roots, out.size, out.dtype) @ out_bar


@pushforward(hermite.hermfromroots)
def push_hermfromroots(out, roots, roots_dot):
    return -roots_dot @ without_each_root(hermite.hermfromroots, roots, out.size, out.dtype)


@pullback(hermite.hermroots)
def pull_hermroots(out_bar, out, c):
    return out_bar @ roots_slope(hermite.hermval, hermite.hermder, hermite.hermvander, out, c)


@pushforward(hermite.hermroots)
def push_hermroots(out, c, c_dot):
    return roots_slope(hermite.hermval, hermite.hermder, hermite.hermvander, out, c) @ c_dot


@pullback(hermite.hermfit)
def pull_hermfit(out_bar, out, x, y, w=None, *, deg=None, rcond=None):
    return fitted_back(out_bar, out, hermite.hermvander, hermite.hermder, x, y, w, deg)


@pushforward(hermite.hermfit)
def push_hermfit(out, x, y, w, x_dot, y_dot, w_dot, *, deg=None, rcond=None):
    return fitted_forward(
        out, hermite.hermvander, hermite.hermder, x, y, w, x_dot, y_dot, w_dot, deg
    )


# hermite_e


@pullback(hermite_e.hermeval)
def pull_hermeval(out_bar, out, x, c, *, tensor=True):
    slope = slope_of(out, hermite_e.hermeval, hermite_e.hermeder, x, c, tensor)
    return point_back(out_bar, slope, x), coefficients_back(
        out_bar, hermite_e.hermevander, x, c, tensor
    )


@pushforward(hermite_e.hermeval)
def push_hermeval(out, x, c, x_dot, c_dot, *, tensor=True):
    return value_tangent(out, hermite_e.hermeval, hermite_e.hermeder, x, c, x_dot, c_dot, tensor)


@pullback(hermite_e.hermevander)
def pull_hermevander(out_bar, out, x, *, deg=None):
    return np.reshape(np.sum(out_bar * basis_slope(hermite_e.hermeder, out), axis=-1), np.shape(x))


@pushforward(hermite_e.hermevander)
def push_hermevander(out, x, x_dot, *, deg=None):
    return basis_slope(hermite_e.hermeder, out) * np.atleast_1d(x_dot)[..., None]


@pullback(hermite_e.hermeder, masks=True)
def pull_hermeder(out_bar, out, c, *, m=1, scl=1, axis=0):
    return linear_back(hermite_e.hermeder(np.eye(c.shape[axis]), m, scl), out_bar, axis)


@pushforward(hermite_e.hermeder)
def push_hermeder(out, c, c_dot, *, m=1, scl=1, axis=0):
    return hermite_e.hermeder(c_dot, m, scl, axis).astype(out.dtype)


@pullback(hermite_e.hermeint)
def pull_hermeint(out_bar, out, c, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    matrix = hermite_e.hermeint(np.eye(c.shape[axis]), m, [], lbnd, scl)
    return linear_back(matrix, out_bar, axis)


@pushforward(hermite_e.hermeint)
def push_hermeint(out, c, c_dot, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    return hermite_e.hermeint(c_dot, m, [], lbnd, scl, axis).astype(out.dtype)


@pullback(hermite_e.hermeadd)
def pull_hermeadd(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(out_bar, c2)


@pushforward(hermite_e.hermeadd)
def push_hermeadd(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, 1)


@pullback(hermite_e.hermesub)
def pull_hermesub(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(-out_bar, c2)


@pushforward(hermite_e.hermesub)
def push_hermesub(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, -1)


@pullback(hermite_e.hermemul)
def pull_hermemul(out_bar, out, c1, c2):
    c1_bar = factor_back(out_bar, hermite_e.hermemul, c1, c2)
    return c1_bar, factor_back(out_bar, hermite_e.hermemul, c2, c1)


@pushforward(hermite_e.hermemul)
def push_hermemul(out, c1, c2, c1_dot, c2_dot):
    return product_tangent(out, hermite_e.hermemul, c1, c2, c1_dot, c2_dot)


@pullback(hermite_e.hermemulx)
def pull_hermemulx(out_bar, out, c):
    return shifted_back(out_bar, hermite_e.hermemulx, c)


@pushforward(hermite_e.hermemulx)
def push_hermemulx(out, c, c_dot):
    return to_length(hermite_e.hermemulx(c_dot), out.size).astype(out.dtype)


@pullback(hermite_e.hermefromroots)
def pull_hermefromroots(out_bar, out, roots):
    return -without_each_root(hermite_e.hermefromroots, roots, out.size, out.dtype) @ out_bar


@pushforward(hermite_e.hermefromroots)
def push_hermefromroots(out, roots, roots_dot):
    return -roots_dot @ without_each_root(hermite_e.hermefromroots, roots, out.size, out.dtype)


@pullback(hermite_e.hermeroots)
def pull_hermeroots(out_bar, out, c):
    return out_bar @ roots_slope(
        hermite_e.hermeval, hermite_e.hermeder, hermite_e.hermevander, out, c
    )


@pushforward(hermite_e.hermeroots)
def push_hermeroots(out, c, c_dot):
    return (
        roots_slope(hermite_e.hermeval, hermite_e.hermeder, hermite_e.hermevander, out, c) @ c_dot
    )


@pullback(hermite_e.hermefit)
def pull_hermefit(out_bar, out, x, y, w=None, *, deg=None, rcond=None):
    return fitted_back(out_bar, out, hermite_e.hermevander, hermite_e.hermeder, x, y, w, deg)


@pushforward(hermite_e.hermefit)
def push_hermefit(out, x, y, w, x_dot, y_dot, w_dot, *, deg=None, rcond=None):
    return fitted_forward(
        out, hermite_e.hermevander, hermite_e.hermeder, x, y, w, x_dot, y_dot, w_dot, deg
    )


# laguerre


@pullback(laguerre.lagval)
def pull_lagval(out_bar, out, x, c, *, tensor=True):
    slope = slope_of(out, laguerre.lagval, laguerre.lagder, x, c, tensor)
    return point_back(out_bar, slope, x), coefficients_back(
        out_bar, laguerre.lagvander, x, c, tensor
    )


@pushforward(laguerre.lagval)
def push_lagval(out, x, c, x_dot, c_dot, *, tensor=True):
    return value_tangent(out, laguerre.lagval, laguerre.lagder, x, c, x_dot, c_dot, tensor)


@pullback(laguerre.lagvander)
def pull_lagvander(out_bar, out, x, *, deg=None):
    return np.reshape(np.sum(out_bar * basis_slope(laguerre.lagder, out), axis=-1), np.shape(x))


@pushforward(laguerre.lagvander)
def push_lagvander(out, x, x_dot, *, deg=None):
    return basis_slope(laguerre.lagder, out) * np.atleast_1d(x_dot)[..., None]


@pullback(laguerre.lagder, masks=True)
def pull_lagder(out_bar, out, c, *, m=1, scl=1, axis=0):
    return linear_back(laguerre.lagder(np.eye(c.shape[axis]), m, scl), out_bar, axis)


@pushforward(laguerre.lagder)
def push_lagder(out, c, c_dot, *, m=1, scl=1, axis=0):
    return laguerre.lagder(c_dot, m, scl, axis).astype(out.dtype)


@pullback(laguerre.lagint)
def pull_lagint(out_bar, out, c, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    matrix = laguerre.lagint(np.eye(c.shape[axis]), m, [], lbnd, scl)
    return linear_back(matrix, out_bar, axis)


@pushforward(laguerre.lagint)
def push_lagint(out, c, c_dot, *, m=1, k=(), lbnd=0, scl=1, axis=0):
    return laguerre.lagint(c_dot, m, [], lbnd, scl, axis).astype(out.dtype)


@pullback(laguerre.lagadd)
def pull_lagadd(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(out_bar, c2)


@pushforward(laguerre.lagadd)
def push_lagadd(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, 1)


@pullback(laguerre.lagsub)
def pull_lagsub(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(-out_bar, c2)


@pushforward(laguerre.lagsub)
def push_lagsub(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, -1)


@pullback(laguerre.lagmul)
def pull_lagmul(out_bar, out, c1, c2):
    c1_bar = factor_back(out_bar, laguerre.lagmul, c1, c2)
    return c1_bar, factor_back(out_bar, laguerre.lagmul, c2, c1)


@pushforward(laguerre.lagmul)
def push_lagmul(out, c1, c2, c1_dot, c2_dot):
    return product_tangent(out, laguerre.lagmul, c1, c2, c1_dot, c2_dot)


@pullback(laguerre.lagmulx)
def pull_lagmulx(out_bar, out, c):
    return shifted_back(out_bar, laguerre.lagmulx, c)


@pushforward(laguerre.lagmulx)
def push_lagmulx(out, c, c_dot):
    return to_length(laguerre.lagmulx(c_dot), out.size).astype(out.dtype)


@pullback(laguerre.lagfromroots)
def pull_lagfromroots(out_bar, out, roots):
    return -without_each_root(laguerre.lagfromroots, roots, out.size, out.dtype) @ out_bar


@pushforward(laguerre.lagfromroots)
def push_lagfromroots(out, roots, roots_dot):
    return -roots_dot @ without_each_root(laguerre.lagfromroots, roots, out.size, out.dtype)


@pullback(laguerre.lagroots)
def pull_lagroots(out_bar, out, c):
    return out_bar @ roots_slope(laguerre.lagval, laguerre.lagder, laguerre.lagvander, out, c)


@pushforward(laguerre.lagroots)
def push_lagroots(out, c, c_dot):
    return roots_slope(laguerre.lagval, laguerre.lagder, laguerre.lagvander, out, c) @ c_dot


@pullback(laguerre.lagfit)
def pull_lagfit(out_bar, out, x, y, w=None, *, deg=None, rcond=None):
    return fitted_back(out_bar, out, laguerre.lagvander, laguerre.lagder, x, y, w, deg)


@pushforward(laguerre.lagfit)
def push_lagfit(out, x, y, w, x_dot, y_dot, w_dot, *, deg=None, rcond=None):
    return fitted_forward(
        out, laguerre.lagvander, laguerre.lagder, x, y, w, x_dot, y_dot, w_dot, deg
    )


@elementwise(hermite.hermweight)
def hermweight(out, x):
    return -2.0 * x * out


@elementwise(hermite_e.hermeweight)
def hermeweight(out, x):
    return -x * out


@elementwise(laguerre.lagweight)
def lagweight(out, x):
    return -out


@elementwise(chebyshev.chebweight, regular={"x": 0.0})
def chebweight(out, x):
    return out * x / ((1.0 - x) * (1.0 + x))


nondifferentiable(legendre.legweight, chebyshev.chebpts1, chebyshev.chebpts2)
nondifferentiable(chebyshev.chebgauss, legendre.leggauss, laguerre.laggauss)
nondifferentiable(hermite.hermgauss, hermite_e.hermegauss)
