"""scipy.interpolate: one polynomial through all values, and radial functions around points.

Both are linear in the values that they go through: how these count at a place is what the same
polynomials, or functions, through unit vectors have there.
"""

import numpy as np
from scipy import interpolate

from s2sad.registry import library_objects, pullback, pushforward, written_out
from s2sad.rules.scipy_interpolate import along_curve, over_values, rising

ONCE = "the weights of the values come from other objects of SciPy"

# one polynomial


def polynomial_like(polynomial):
    """Return an array like one value; None of values along another axis, or not given yet."""
    if polynomial.yi is None or polynomial._y_axis != 0:
        return None
    return np.zeros(polynomial._y_extra_shape, polynomial.yi.dtype)


def polynomial_sample(cls, array):
    """Return a polynomial whose values are like an array."""
    return cls(np.arange(5.0), np.zeros((5, *array.shape), array.dtype))


def zero(polynomial):
    """Return the cotangent of a polynomial that nothing depends on."""
    return np.zeros_like(polynomial.yi)


def through_units(polynomial):
    """Return the polynomials through unit vectors, at the same places."""
    units = np.eye(polynomial.n)
    if isinstance(polynomial, interpolate.BarycentricInterpolator):
        return interpolate.BarycentricInterpolator(polynomial.xi, units, wi=polynomial.wi)
    return interpolate.KroghInterpolator(polynomial.xi, units)


def with_values(polynomial, values):
    """Return the polynomial through other values, at the same places."""
    shaped = np.reshape(values, (polynomial.n, *polynomial._y_extra_shape))
    if isinstance(polynomial, interpolate.BarycentricInterpolator):
        return interpolate.BarycentricInterpolator(polynomial.xi, shaped, wi=polynomial.wi)
    return interpolate.KroghInterpolator(polynomial.xi, shaped)


def value_at(polynomial, x):
    """Evaluate as the call of the object does."""
    return polynomial(x)


def slope_at(polynomial, x, der=1):
    """Evaluate a derivative as the method does."""
    return polynomial.derivative(x, der)


def values_cotangent(out_bar, weights, polynomial):
    """Return the cotangent of the values; at each place all of them have a weight."""
    size = polynomial.n
    return np.reshape(weights, (-1, size)).T @ np.reshape(out_bar, (-1, polynomial.r))


@pullback(value_at, once=ONCE)
def pull_value_at(out_bar, out, polynomial, x):
    weights = through_units(polynomial)(np.ravel(x))
    x_bar = over_values(out_bar * polynomial.derivative(x, 1), x)
    return values_cotangent(out_bar, weights, polynomial), x_bar


@pushforward(value_at)
def push_value_at(out, polynomial, x, polynomial_dot, x_dot):
    moved = along_curve(out, polynomial.derivative(x, 1), x, x_dot)
    if polynomial_dot is None:
        return moved
    return moved + with_values(polynomial, polynomial_dot)(x)


@pullback(slope_at, once=ONCE)
def pull_slope_at(out_bar, out, polynomial, x, *, der=1):
    weights = through_units(polynomial).derivative(np.ravel(x), der)
    x_bar = over_values(out_bar * polynomial.derivative(x, der + 1), x)
    return values_cotangent(out_bar, weights, polynomial), x_bar


@pushforward(slope_at)
def push_slope_at(out, polynomial, x, polynomial_dot, x_dot, *, der=1):
    moved = along_curve(out, polynomial.derivative(x, der + 1), x, x_dot)
    if polynomial_dot is None:
        return moved
    return moved + with_values(polynomial, polynomial_dot).derivative(x, der)


library_objects(
    interpolate.BarycentricInterpolator,
    interpolate.KroghInterpolator,
    like=polynomial_like,
    check="{0}.yi is not None and {0}._y_axis == 0 and len({0}._y_extra_shape) == {1}",
    sample=polynomial_sample,
    zero=zero,
    functions={"__call__": value_at, "derivative": slope_at},
)


@pullback(interpolate.BarycentricInterpolator, unknown=("xi",), samples=rising, view="maybe")
def pull_barycentric(out_bar, out, xi, yi=None, *, axis=0, wi=None):
    return None, np.reshape(out_bar, np.shape(yi))


@pushforward(interpolate.BarycentricInterpolator)
def push_barycentric(out, xi, yi, xi_dot, yi_dot, *, axis=0, wi=None):
    return np.reshape(yi_dot, out.yi.shape)


@pullback(interpolate.KroghInterpolator, unknown=("xi",), samples=rising, view="maybe")
def pull_krogh(out_bar, out, xi, yi, *, axis=0):
    return None, np.reshape(out_bar, np.shape(yi))


@pushforward(interpolate.KroghInterpolator)
def push_krogh(out, xi, yi, xi_dot, yi_dot, *, axis=0):
    return np.reshape(yi_dot, out.yi.shape)


@written_out(interpolate.barycentric_interpolate)
def barycentric_interpolate(xi, yi, x, axis=0, *, der=0):
    """A polynomial, made and asked."""
    polynomial = interpolate.BarycentricInterpolator(xi, yi, axis)
    return polynomial(x) if der == 0 else polynomial.derivative(x, der)


@written_out(interpolate.krogh_interpolate)
def krogh_interpolate(xi, yi, x, der=0, axis=0):
    """A polynomial, made and asked."""
    polynomial = interpolate.KroghInterpolator(xi, yi, axis)
    return polynomial(x) if der == 0 else polynomial.derivative(x, der)


# radial functions


def radial_like(radial):
    """Return an array like one value of a sum of radial functions."""
    return np.zeros(radial.d_shape, radial.d_dtype)


def radial_sample(cls, array):
    """Return radial functions on a plane, whose values are like an array."""
    places = np.array([[0.0, 0.0], [1.0, 0.1], [0.2, 1.0], [1.1, 1.2], [0.4, 0.6]])
    return cls(places, np.zeros((5, *array.shape), array.dtype))


def no_values(radial):
    """Return the cotangent of radial functions that nothing depends on."""
    return np.zeros((len(radial.y), *radial.d_shape), radial.d_dtype)


def with_data(radial, d):
    """Return radial functions around the same points, through other values."""
    powers = radial.powers
    degree = int(np.max(np.sum(powers, axis=1))) if len(powers) else -1
    return interpolate.RBFInterpolator(
        radial.y, d, radial.neighbors, radial.smoothing, radial.kernel, radial.epsilon, degree
    )


def radial_value(radial, x):
    """Evaluate as the call of the object does."""
    return radial(x)


def on_sample(radial, x):
    """Return points with as many coordinates as the points of a sample."""
    return radial, np.zeros((np.shape(x)[0], 2))


@pullback(radial_value, unknown=("x",), samples=on_sample, once=ONCE)
def pull_radial_value(out_bar, out, radial, x):
    weights = with_data(radial, np.eye(len(radial.y)))(x)
    return np.tensordot(weights, out_bar, (0, 0)), None


@pushforward(radial_value)
def push_radial_value(out, radial, x, radial_dot, x_dot):
    return with_data(radial, radial_dot)(x)


library_objects(
    interpolate.RBFInterpolator,
    like=radial_like,
    check="len({0}.d_shape) == {1}",
    sample=radial_sample,
    zero=no_values,
    functions={"__call__": radial_value},
)


def scattered(y, d, *rest):
    """Return points on a plane, as many as there are values, and at least five."""
    count = max(5, np.shape(d)[0])
    places = np.stack([np.arange(count) % 3.0, np.arange(count) // 3.0], axis=1)
    return places, np.resize(d, (count, *np.shape(d)[1:])), *rest


@pullback(interpolate.RBFInterpolator, unknown=("y",), samples=scattered, view="maybe")
def pull_rbf(
    out_bar,
    out,
    y,
    d,
    *,
    neighbors=None,
    smoothing=0.0,
    kernel="thin_plate_spline",
    epsilon=None,
    degree=None,
):
    return None, np.reshape(out_bar, np.shape(d))


@pushforward(interpolate.RBFInterpolator)
def push_rbf(
    out,
    y,
    d,
    y_dot,
    d_dot,
    *,
    neighbors=None,
    smoothing=0.0,
    kernel="thin_plate_spline",
    epsilon=None,
    degree=None,
):
    return d_dot
