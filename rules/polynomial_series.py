"""numpy.polynomial: series of powers and of five families of orthogonal polynomials.

A series is linear in its coefficients, and its derivative is a series of the same family; so one
rule serves all six, given the family's own functions.
"""

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from s2sad.registry import Kin, elementwise, nondifferentiable, pullback, pushforward
from s2sad.rules.polynomials import fit_back, fit_forward
from s2sad.runtime import fitted, unbroadcast


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
    """Return the cotangent of coefficients c; the result holds the first of them."""
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
    basis = np.reshape(vander(roots, c.size - 1), (roots.size, c.size))
    return -fitted(basis / slope[:, None], roots)


def check_fit(x, deg):
    """Refuse the fits that have no derivative here."""
    if np.ndim(deg) > 0:
        raise NotImplementedError("there is a derivative of a fit with all degrees up to one only")
    if np.iscomplexobj(x):
        raise NotImplementedError("there is no derivative of a fit at complex points")


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


FAMILIES = {
    "poly": polynomial,
    "cheb": chebyshev,
    "leg": legendre,
    "herm": hermite,
    "herme": hermite_e,
    "lag": laguerre,
}


def of_each(name):
    """Return the function of this name of every family, and what its rule may ask for by keyword.

    That is the function itself, and the family's series at x, derivative, basis and product.
    """
    found = []
    for prefix, family in FAMILIES.items():
        own = getattr(family, prefix + name)
        kin = {n: getattr(family, prefix + n) for n in ("val", "der", "vander", "mul")}
        found.append(Kin(own, {"own": own, **kin}))
    return found


@pullback(*of_each("val"))
def pull_val(out_bar, out, x, c, *, tensor=True, val, der, vander):
    slope = slope_of(out, val, der, x, c, tensor)
    return point_back(out_bar, slope, x), coefficients_back(out_bar, vander, x, c, tensor)


@pushforward(*of_each("val"))
def push_val(out, x, c, x_dot, c_dot, *, tensor=True, val, der):
    return value_tangent(out, val, der, x, c, x_dot, c_dot, tensor)


@pullback(*of_each("vander"))
def pull_vander(out_bar, out, x, *, deg=None, der):
    return np.reshape(np.sum(out_bar * basis_slope(der, out), axis=-1), np.shape(x))


@pushforward(*of_each("vander"))
def push_vander(out, x, x_dot, *, deg=None, der):
    return basis_slope(der, out) * np.atleast_1d(x_dot)[..., None]


@pullback(*of_each("der"), masks=True)
def pull_der(out_bar, out, c, *, m=1, scl=1, axis=0, own):
    return linear_back(own(np.eye(c.shape[axis]), m, scl), out_bar, axis)


@pushforward(*of_each("der"))
def push_der(out, c, c_dot, *, m=1, scl=1, axis=0, own):
    return own(c_dot, m, scl, axis).astype(out.dtype)


@pullback(*of_each("int"))
def pull_int(out_bar, out, c, *, m=1, k=(), lbnd=0, scl=1, axis=0, own):
    return linear_back(own(np.eye(c.shape[axis]), m, [], lbnd, scl), out_bar, axis)


@pushforward(*of_each("int"))
def push_int(out, c, c_dot, *, m=1, k=(), lbnd=0, scl=1, axis=0, own):
    return own(c_dot, m, [], lbnd, scl, axis).astype(out.dtype)


@pullback(*of_each("add"), linear=True)
def pull_add(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(out_bar, c2)


@pushforward(*of_each("add"))
def push_add(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, 1)


@pullback(*of_each("sub"), linear=True)
def pull_sub(out_bar, out, c1, c2):
    return series_back(out_bar, c1), series_back(-out_bar, c2)


@pushforward(*of_each("sub"))
def push_sub(out, c1, c2, c1_dot, c2_dot):
    return tangent_sum(out, c1_dot, c2_dot, -1)


@pullback(*of_each("mul"))
def pull_mul(out_bar, out, c1, c2, *, own):
    return factor_back(out_bar, own, c1, c2), factor_back(out_bar, own, c2, c1)


@pushforward(*of_each("mul"))
def push_mul(out, c1, c2, c1_dot, c2_dot, *, own):
    return product_tangent(out, own, c1, c2, c1_dot, c2_dot)


@pullback(*of_each("mulx"))
def pull_mulx(out_bar, out, c, *, own):
    return shifted_back(out_bar, own, c)


@pushforward(*of_each("mulx"))
def push_mulx(out, c, c_dot, *, own):
    return to_length(own(c_dot), out.size).astype(out.dtype)


@pullback(*of_each("fromroots"))
def pull_fromroots(out_bar, out, roots, *, own):
    return -without_each_root(own, roots, out.size, out.dtype) @ out_bar


@pushforward(*of_each("fromroots"))
def push_fromroots(out, roots, roots_dot, *, own):
    return -roots_dot @ without_each_root(own, roots, out.size, out.dtype)


@pullback(*of_each("roots"), turns_complex=True)
def pull_roots(out_bar, out, c, *, val, der, vander):
    return out_bar @ roots_slope(val, der, vander, out, c)


@pushforward(*of_each("roots"))
def push_roots(out, c, c_dot, *, val, der, vander):
    return roots_slope(val, der, vander, out, c) @ c_dot


@pullback(*of_each("fit"))
def pull_fit(out_bar, out, x, y, w=None, *, deg=None, rcond=None, der, vander):
    return fitted_back(out_bar, out, vander, der, x, y, w, deg)


@pushforward(*of_each("fit"))
def push_fit(out, x, y, w, x_dot, y_dot, w_dot, *, deg=None, rcond=None, der, vander):
    return fitted_forward(out, vander, der, x, y, w, x_dot, y_dot, w_dot, deg)


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
