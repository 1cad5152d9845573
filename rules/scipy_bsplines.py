"""scipy.interpolate: B-splines, where they are evaluated and in the values they go through."""

import numpy as np
from scipy import interpolate

from s2sad.registry import library_objects, pullback, pushforward
from s2sad.rules.scipy_interpolate import (
    BY_AXES,
    BY_COEFFICIENTS,
    along_curve,
    integral,
    over_values,
    rising,
    through_units,
    zero,
)


def basis_like(spline):
    """Return an array like one value of a B-spline along the first axis; None of another axis."""
    return np.zeros(spline.c.shape[1:], spline.c.dtype) if spline.axis == 0 else None


def basis_sample(cls, array):
    """Return a B-spline whose values are like an array."""
    return cls(np.arange(12.0), np.zeros((8, *array.shape), array.dtype), 3)


def basis(spline, x, nu=0, extrapolate=None):
    """Evaluate a B-spline, or a derivative of it."""
    return spline(x, nu, extrapolate)


@pullback(basis, once=BY_AXES)
def pull_basis(out_bar, out, spline, x, *, nu=0, extrapolate=None):
    spline_bar = basis_cotangent(out_bar, spline, x, nu, extrapolate)
    if np.ndim(out) != np.ndim(x):
        return spline_bar, over_values(out_bar * spline(x, nu + 1, extrapolate), x)
    if extrapolate is None:
        return spline_bar, out_bar * spline(x, nu + 1)
    return spline_bar, out_bar * spline(x, nu + 1, extrapolate)


@pushforward(basis)
def push_basis(out, spline, x, spline_dot, x_dot, *, nu=0, extrapolate=None):
    out_dot = np.zeros_like(out)
    if spline_dot is not None:
        moved = interpolate.BSpline(spline.t, spline_dot, spline.k, spline.extrapolate)
        out_dot = out_dot + moved(x, nu, extrapolate)
    return out_dot + along_curve(out, spline(x, nu + 1, extrapolate), x, x_dot)


def basis_cotangent(out_bar, spline, x, nu, extrapolate):
    """Return the cotangent of the coefficients of a B-spline."""
    extrapolate = spline.extrapolate if extrapolate is None else extrapolate
    size = spline.c.shape[0]
    units = interpolate.BSpline(spline.t, np.eye(size), spline.k, extrapolate)
    weights = np.reshape(units(np.ravel(x), nu), (-1, size))
    bars = np.reshape(out_bar, (weights.shape[0], *spline.c.shape[1:]))
    return np.tensordot(weights, bars, (0, 0))


def basis_derivative(spline, nu=1):
    """Differentiate as the method does."""
    return spline.derivative(nu)


def basis_antiderivative(spline, nu=1):
    """Integrate as the method does."""
    return spline.antiderivative(nu)


def of_units(spline, nu):
    """Return how the coefficients of a derivative, or an integral (nu < 0), move with its own."""
    units = interpolate.BSpline(spline.t, np.eye(len(spline.c)), spline.k, spline.extrapolate)
    return (units.derivative(nu) if nu >= 0 else units.antiderivative(-nu)).c


@pullback(basis_derivative, once=BY_COEFFICIENTS)
def pull_basis_derivative(out_bar, out, spline, *, nu=1):
    return np.tensordot(of_units(spline, nu)[: len(out_bar)], out_bar, (0, 0))


@pushforward(basis_derivative)
def push_basis_derivative(out, spline, spline_dot, *, nu=1):
    return np.tensordot(of_units(spline, nu), spline_dot, (1, 0))


@pullback(basis_antiderivative, once=BY_COEFFICIENTS)
def pull_basis_antiderivative(out_bar, out, spline, *, nu=1):
    return np.tensordot(of_units(spline, -nu)[: len(out_bar)], out_bar, (0, 0))


@pushforward(basis_antiderivative)
def push_basis_antiderivative(out, spline, spline_dot, *, nu=1):
    return np.tensordot(of_units(spline, -nu), spline_dot, (1, 0))


library_objects(
    interpolate.BSpline,
    like=basis_like,
    check="{0}.c.ndim == {1} + 1 and {0}.axis == 0",
    sample=basis_sample,
    zero=zero,
    functions={
        "__call__": basis,
        "antiderivative": basis_antiderivative,
        "derivative": basis_derivative,
        "integrate": integral,
    },
)


def knots_of_basis(t, c, k, *rest):
    """Return knots for as many B-splines as there are coefficients of."""
    return np.arange(np.shape(c)[0] + k + 1.0), c, k, *rest


@pullback(interpolate.BSpline, unknown=("t", "k"), samples=knots_of_basis, view="maybe")
def pull_bspline(out_bar, out, t, c, k, *, extrapolate=True, axis=0):
    """There may be more coefficients than are used."""
    return None, np.concatenate([out_bar, np.zeros_like(c[len(out_bar) :])]), None


@pushforward(interpolate.BSpline)
def push_bspline(out, t, c, k, t_dot, c_dot, k_dot, *, extrapolate=True, axis=0):
    return c_dot[: len(out.c)]


@pullback(interpolate.make_interp_spline, unknown=("x",), samples=rising)
def pull_make_interp_spline(
    out_bar, out, x, y, *, k=3, t=None, bc_type=None, axis=0, check_finite=True
):
    check_ends(bc_type)
    units = interpolate.make_interp_spline(x, np.eye(len(x)), k, t, bc_type)
    return None, through_units(units.c, out_bar)


def check_ends(bc_type):
    """Refuse end conditions that are not names, and periodic ends."""
    if bc_type is not None and (not isinstance(bc_type, str) or bc_type == "periodic"):
        raise NotImplementedError(
            "make_interp_spline has a derivative where bc_type is a string other than periodic; "
            "CubicSpline takes other conditions"
        )


@pushforward(interpolate.make_interp_spline)
def push_make_interp_spline(
    out, x, y, x_dot, y_dot, *, k=3, t=None, bc_type=None, axis=0, check_finite=True
):
    check_ends(bc_type)
    return interpolate.make_interp_spline(x, y_dot, k, t, bc_type, axis).c


def rising_between(x, y, t, *rest):
    """Return places that rise, and knots of cubic splines over them."""
    n = float(np.shape(y)[0])
    return np.arange(n), y, np.repeat([0.0, n - 1.0], 4), *rest


@pullback(interpolate.make_lsq_spline, unknown=("x", "t"), samples=rising_between)
def pull_make_lsq_spline(
    out_bar, out, x, y, t, *, k=3, w=None, axis=0, check_finite=True, method="qr"
):
    units = interpolate.make_lsq_spline(x, np.eye(len(x)), t, k, w)
    return None, through_units(units.c, out_bar), None


@pushforward(interpolate.make_lsq_spline)
def push_make_lsq_spline(
    out, x, y, t, x_dot, y_dot, t_dot, *, k=3, w=None, axis=0, check_finite=True, method="qr"
):
    return interpolate.make_lsq_spline(x, y_dot, t, k, w, axis).c


@pullback(interpolate.make_smoothing_spline, unknown=("x",), samples=rising, once=BY_COEFFICIENTS)
def pull_make_smoothing_spline(out_bar, out, x, y, *, w=None, lam=None):
    """With a penalty that is given it is linear in the values."""
    return None, smoothing_units(x, y, w, lam) @ out_bar


@pushforward(interpolate.make_smoothing_spline)
def push_make_smoothing_spline(out, x, y, x_dot, y_dot, *, w=None, lam=None):
    return y_dot @ smoothing_units(x, y, w, lam)


def smoothing_units(x, y, w, lam):
    """Return the coefficients of smoothing splines near unit vectors."""
    if lam is None:
        raise NotImplementedError("make_smoothing_spline has a derivative where lam= is given")
    if y.ndim > 1:
        raise NotImplementedError("make_smoothing_spline has a derivative of values along one axis")
    return np.stack([interpolate.make_smoothing_spline(x, e, w, lam).c for e in np.eye(len(x))])
