"""numpy.polynomial: series of several variables, quotients and powers, other bases, companions."""

import numpy as np
from numpy.polynomial import (
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
    polyutils,
)

from s2sad.registry import Kin, pullback, pushforward, refuse, written_out
from s2sad.rules.polynomial_series import (
    basis_slope,
    factor_back,
    of_each,
    pull_val,
    push_val,
    series_back,
    to_length,
)

# several variables: one after the other


def points_back(out_bar, out, x, y, c, tensor, val, der, vander):
    """Return the cotangents of the points and the coefficients of a series of two variables.

    With `tensor` all values of y are combined with all values of x.
    """
    inner = val(x, c)
    y_bar, inner_bar = pull_val(
        out_bar, out, y, inner, tensor=tensor, val=val, der=der, vander=vander
    )
    x_bar, c_bar = pull_val(inner_bar, inner, x, c, val=val, der=der, vander=vander)
    return x_bar, y_bar, c_bar


def spatial_back(out_bar, out, x, y, z, c, tensor, val, der, vander):
    """Return the cotangents of the points and the coefficients of a series of three variables."""
    inner = val(y, val(x, c), tensor=tensor)
    z_bar, inner_bar = pull_val(
        out_bar, out, z, inner, tensor=tensor, val=val, der=der, vander=vander
    )
    x_bar, y_bar, c_bar = points_back(inner_bar, inner, x, y, c, tensor, val, der, vander)
    return x_bar, y_bar, z_bar, c_bar


def points_forward(points, c, dots, c_dot, tensors, val, der):
    """Return the tangent of a series of several variables."""
    for x, x_dot, tensor in zip(points, dots, tensors, strict=True):
        out = val(x, c, tensor=tensor)
        c_dot = push_val(out, x, c, x_dot, c_dot, tensor=tensor, val=val, der=der)
        c = out
    return c_dot


ALONG = (True, False, False)
GRID = (True, True, True)


@pullback(*of_each("val2d"))
def pull_val2d(out_bar, out, x, y, c, *, val, der, vander):
    return points_back(out_bar, out, x, y, c, False, val, der, vander)


@pushforward(*of_each("val2d"))
def push_val2d(out, x, y, c, x_dot, y_dot, c_dot, *, val, der):
    return points_forward((x, y), c, (x_dot, y_dot), c_dot, ALONG[:2], val, der)


@pullback(*of_each("val3d"))
def pull_val3d(out_bar, out, x, y, z, c, *, val, der, vander):
    return spatial_back(out_bar, out, x, y, z, c, False, val, der, vander)


@pushforward(*of_each("val3d"))
def push_val3d(out, x, y, z, c, x_dot, y_dot, z_dot, c_dot, *, val, der):
    return points_forward((x, y, z), c, (x_dot, y_dot, z_dot), c_dot, ALONG, val, der)


@pullback(*of_each("grid2d"))
def pull_grid2d(out_bar, out, x, y, c, *, val, der, vander):
    return points_back(out_bar, out, x, y, c, True, val, der, vander)


@pushforward(*of_each("grid2d"))
def push_grid2d(out, x, y, c, x_dot, y_dot, c_dot, *, val, der):
    return points_forward((x, y), c, (x_dot, y_dot), c_dot, GRID[:2], val, der)


@pullback(*of_each("grid3d"))
def pull_grid3d(out_bar, out, x, y, z, c, *, val, der, vander):
    return spatial_back(out_bar, out, x, y, z, c, True, val, der, vander)


@pushforward(*of_each("grid3d"))
def push_grid3d(out, x, y, z, c, x_dot, y_dot, z_dot, c_dot, *, val, der):
    return points_forward((x, y, z), c, (x_dot, y_dot, z_dot), c_dot, GRID, val, der)


def bases_at(vander, points, deg):
    """Return the bases at points of each variable, with axes for the polynomials of all."""
    n = len(deg)
    found = []
    for k, (x, d) in enumerate(zip(points, deg, strict=True)):
        basis = np.reshape(vander(x, d), (*np.shape(x), d + 1))
        found.append(basis[(..., *(slice(None) if i == k else None for i in range(n)))])
    return found


def tables_back(out_bar, points, deg, der, vander):
    """Return the cotangents of the points of a table of products of polynomials."""
    bases = bases_at(vander, points, deg)
    out_bar = np.reshape(out_bar, (*np.shape(points[0]), *(d + 1 for d in deg)))
    bars = []
    for k, x in enumerate(points):
        slope = out_bar * slopes_at(bases[k], k, len(deg), der)
        for i, basis in enumerate(bases):
            slope = slope if i == k else slope * basis
        bars.append(np.sum(slope, axis=tuple(range(-len(deg), 0))))
        bars[-1] = np.reshape(bars[-1], np.shape(x))
    return tuple(bars)


def tables_forward(out, points, dots, deg, der, vander):
    """Return the tangent of a table of products of polynomials."""
    bases = bases_at(vander, points, deg)
    total = 0.0
    for k, dot in enumerate(dots):
        if dot is not None:
            moved = slopes_at(bases[k], k, len(deg), der)
            moved = moved * np.reshape(dot, (*np.shape(dot), *(1,) * len(deg)))
            for i, basis in enumerate(bases):
                moved = moved if i == k else moved * basis
            total = total + moved
    return np.reshape(total, out.shape)


def slopes_at(basis, k, n, der):
    """Return the derivatives of the polynomials that lie along axis k of the last n."""
    return np.moveaxis(basis_slope(der, np.moveaxis(basis, k - n, -1)), -1, k - n)


@pullback(*of_each("vander2d"), once="its tables are made for any number of variables")
def pull_vander2d(out_bar, out, x, y, *, deg=None, der, vander):
    return tables_back(out_bar, (x, y), deg, der, vander)


@pushforward(*of_each("vander2d"))
def push_vander2d(out, x, y, x_dot, y_dot, *, deg=None, der, vander):
    return tables_forward(out, (x, y), (x_dot, y_dot), deg, der, vander)


@pullback(*of_each("vander3d"), once="its tables are made for any number of variables")
def pull_vander3d(out_bar, out, x, y, z, *, deg=None, der, vander):
    return tables_back(out_bar, (x, y, z), deg, der, vander)


@pushforward(*of_each("vander3d"))
def push_vander3d(out, x, y, z, x_dot, y_dot, z_dot, *, deg=None, der, vander):
    return tables_forward(out, (x, y, z), (x_dot, y_dot, z_dot), deg, der, vander)


# quotients and powers


@pullback(*of_each("div"))
def pull_div(out_bar, out, c1, c2, *, own, mul):
    """A change of c1 - quotient * c2 is divided as c1 is: that is linear."""
    quotient_bar, rest_bar = out_bar
    c1_bar = np.zeros(np.size(c1), np.result_type(out[0], out[1]))
    for k, unit in enumerate(np.eye(np.size(c1), dtype=c1_bar.dtype)):
        quotient, rest = own(unit, c2)
        if quotient_bar is not None:
            c1_bar[k] += to_length(quotient, quotient_bar.size) @ quotient_bar
        if rest_bar is not None:
            c1_bar[k] += to_length(rest, rest_bar.size) @ rest_bar
    c2_bar = factor_back(-c1_bar, mul, c2, out[0])
    return np.reshape(c1_bar, np.shape(c1)), c2_bar


@pushforward(*of_each("div"))
def push_div(out, c1, c2, c1_dot, c2_dot, *, own, mul):
    moved = np.zeros(np.size(c1), np.result_type(out[0], out[1]))
    if c1_dot is not None:
        moved = moved + c1_dot
    if c2_dot is not None:
        moved = moved - to_length(np.atleast_1d(mul(out[0], c2_dot)), moved.size)
    quotient_dot, rest_dot = own(moved, c2)
    moved = to_length(quotient_dot, out[0].size), to_length(rest_dot, out[1].size)
    return moved[0].astype(out[0].dtype), moved[1].astype(out[1].dtype)


@pullback(*of_each("pow"))
def pull_pow(out_bar, out, c, *, pow=None, maxpower=None, own, mul):
    if pow == 0:
        return np.zeros(np.shape(c), out_bar.dtype)
    return factor_back(out_bar, mul, c, pow * own(c, pow - 1))


@pushforward(*of_each("pow"))
def push_pow(out, c, c_dot, *, pow=None, maxpower=None, own, mul):
    if pow == 0:
        return np.zeros_like(out)
    return to_length(mul(pow * own(c, pow - 1), c_dot), out.size).astype(out.dtype)


# straight lines, other bases


@pullback(*of_each("line"))
def pull_line(out_bar, out, off, scl, *, own):
    bar = to_length(out_bar, 2)
    return bar @ to_length(own(1.0, 0.0), 2), bar @ to_length(own(0.0, 1.0), 2)


@pushforward(*of_each("line"))
def push_line(out, off, scl, off_dot, scl_dot, *, own):
    off_dot = 0.0 if off_dot is None else off_dot
    return to_length(own(off_dot, 0.0 if scl_dot is None else scl_dot), out.size)


TO_POWERS = (
    chebyshev.cheb2poly,
    legendre.leg2poly,
    laguerre.lag2poly,
    hermite.herm2poly,
    hermite_e.herme2poly,
)
FROM_POWERS = (
    chebyshev.poly2cheb,
    legendre.poly2leg,
    laguerre.poly2lag,
    hermite.poly2herm,
    hermite_e.poly2herme,
)


def in_units(convert, n, out):
    """Return what a conversion makes of each coefficient alone, in rows as long as the result."""
    return np.array([to_length(convert(unit), out.size) for unit in np.eye(n)], out.dtype)


def kin(*fns):
    """Return functions that share a rule, which gets the function itself."""
    return [Kin(fn, {"convert": fn}) for fn in fns]


@pullback(*kin(*TO_POWERS, *FROM_POWERS))
def pull_converted(out_bar, out, c, *, convert):
    return np.reshape(in_units(convert, np.size(c), out) @ out_bar, np.shape(c))


@pushforward(*kin(*TO_POWERS, *FROM_POWERS))
def push_converted(out, c, c_dot, *, convert):
    return np.atleast_1d(c_dot) @ in_units(convert, np.size(c), out)


@pullback(polyutils.trimcoef)
def pull_trimcoef(out_bar, out, c, *, tol=0):
    return series_back(out_bar, c)


@pushforward(polyutils.trimcoef)
def push_trimcoef(out, c, c_dot, *, tol=0):
    return to_length(np.atleast_1d(c_dot), out.size)


# companions: one column is made of the quotients by the last coefficient


def companion_parts(own, n):
    """Return how a companion changes with each quotient of coefficients by the last one."""
    units = np.eye(n)
    whole = own(units[-1])
    return np.stack([own(unit + units[-1]) - whole for unit in units[:-1]])


@pullback(*of_each("companion"))
def pull_companion(out_bar, out, c, *, own):
    shares = np.tensordot(companion_parts(own, c.size), out_bar, 2) / c[-1]
    c_bar = np.zeros(c.shape, out_bar.dtype)
    c_bar[:-1] = shares
    c_bar[-1] = -(shares @ c[:-1]) / c[-1]
    return c_bar


@pushforward(*of_each("companion"))
def push_companion(out, c, c_dot, *, own):
    quotients_dot = (c_dot[:-1] - c[:-1] * (c_dot[-1] / c[-1])) / c[-1]
    return np.tensordot(quotients_dot, companion_parts(own, c.size), 1).astype(out.dtype)


@pullback(polynomial.polyvalfromroots)
def pull_polyvalfromroots(out_bar, out, x, r, *, tensor=True):
    if np.ndim(r) != 1:
        raise NotImplementedError("polyvalfromroots has a derivative for one polynomial only")
    others = (np.asarray(out_bar)[..., None] * without_each(x, r)).astype(out_bar.dtype)
    return np.sum(others, axis=-1), -np.sum(others, axis=tuple(range(np.ndim(x))))


@pushforward(polynomial.polyvalfromroots)
def push_polyvalfromroots(out, x, r, x_dot, r_dot, *, tensor=True):
    if np.ndim(r) != 1:
        raise NotImplementedError("polyvalfromroots has a derivative for one polynomial only")
    moved = np.zeros((*np.shape(x), np.size(r)), out.dtype)
    if x_dot is not None:
        moved = moved + np.asarray(x_dot)[..., None]
    if r_dot is not None:
        moved = moved - r_dot
    return np.sum(moved * without_each(x, r), axis=-1, dtype=out.dtype)


def without_each(x, r):
    """Return the products of the distances to all roots but one, along a new last axis."""
    apart = np.asarray(x)[..., None] - r
    return np.stack([np.prod(np.delete(apart, k, -1), axis=-1) for k in range(np.size(r))], -1)


# the interval of a series


@written_out(polyutils.getdomain)
def getdomain(x):
    x = np.array(x, ndmin=1)
    return np.array((x.min(), x.max()))


@written_out(polyutils.mapparms)
def mapparms(old, new):
    oldlen = old[1] - old[0]
    newlen = new[1] - new[0]
    off = (old[1] * new[0] - old[0] * new[1]) / oldlen
    scl = newlen / oldlen
    return off, scl


@written_out(polyutils.mapdomain)
def mapdomain(x, old, new):
    x = np.asarray(x)
    off, scl = mapparms(old, new)
    return off + scl * x


refuse(
    chebyshev,
    "chebinterpolate",
    because="it calls a function of yours",
    instead="Call the function on np.polynomial.chebyshev.chebpts1(n), and chebvander and solve.",
)
refuse(
    polyutils,
    "as_series trimseq",
    because="it makes a list of arrays ready for NumPy's own use",
    instead="Use np.polynomial's functions of coefficients.",
)
refuse(
    polyutils,
    "format_float",
    because="it is about text",
    instead="Make its inputs Const, or compute its result outside the function.",
)
refuse(
    np.polynomial,
    "set_default_printstyle",
    because="it is about text",
    instead="Make its inputs Const, or compute its result outside the function.",
)
