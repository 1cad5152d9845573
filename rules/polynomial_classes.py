"""Classes of np.polynomial: series that are objects; their cotangent is the cotangent of coef."""

import numpy as np

from s2sad.registry import Kin, library_objects, pullback, pushforward
from s2sad.rules.polynomial_series import factor_back, series_back, to_length
from s2sad.rules.polynomials import fit_back, fit_forward

CLASSES = tuple(
    getattr(np.polynomial, name)
    for name in ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre")
)


def like(series):
    """Return an array of the dtype of a series, which has numbers for values."""
    return np.zeros((), series.coef.dtype) if series.coef.dtype.kind in "fc" else np.zeros(())


def sample(cls, array):
    """Return a series of a dtype."""
    return cls(np.ones(3, array.dtype))


def zero(series):
    """Return the cotangent of a series that nothing depends on."""
    return np.zeros_like(series.coef, dtype=np.result_type(series.coef, float))


def evaluated(series, arg):
    """Evaluate as the call of a series does."""
    return series(arg)


@pullback(evaluated)
def pull_evaluated(out_bar, out, series, arg):
    return coefficients_cotangent(out_bar, series, arg), out_bar * series.deriv()(arg)


@pushforward(evaluated)
def push_evaluated(out, series, arg, series_dot, arg_dot):
    out_dot = np.zeros_like(out)
    if series_dot is not None:
        out_dot = out_dot + alike(series, series_dot)(arg)
    return out_dot if arg_dot is None else out_dot + series.deriv()(arg) * arg_dot


def alike(series, coef):
    """Return a series of the same kind with other coefficients."""
    return type(series)(coef, series.domain, series.window)


def coefficients_cotangent(out_bar, series, arg):
    """Return the cotangent of the coefficients: each weighs a series of one term."""
    found = []
    for degree in range(series.coef.size):
        one = series.basis(degree, series.domain, series.window)
        found.append(np.sum(out_bar * one(arg)))
    made = np.array(found)
    return made if np.iscomplexobj(series.coef) else np.real(made)


def coefficients(series):
    """Return the coefficients, as the attribute does."""
    return series.coef


@pullback(coefficients)
def pull_coefficients(out_bar, out, series):
    return out_bar


@pushforward(coefficients)
def push_coefficients(out, series, series_dot):
    return series_dot


def derivative(series, m=1):
    """Differentiate as the method does."""
    return series.deriv(m)


def integral(series, m=1):
    """Integrate as the method does, from zero."""
    return series.integ(m)


@pullback(*(Kin(f, {"changed": f}) for f in (derivative, integral)))
def pull_changed(out_bar, out, series, *, m=1, changed):
    """Linear in the coefficients: each stands for a series of one term."""
    found = []
    for unit in np.eye(series.coef.size):
        coef = changed(alike(series, unit), m).coef
        found.append(np.sum(out_bar[: coef.size] * coef[: out_bar.size]))
    return np.reshape(np.array(found, out_bar.dtype), series.coef.shape)


@pushforward(*(Kin(f, {"changed": f}) for f in (derivative, integral)))
def push_changed(out, series, series_dot, *, m=1, changed):
    return changed(alike(series, series_dot), m).coef


def roots(series):
    """Return the zeros, as the method does."""
    return series.roots()


def zeros_slope(out, series):
    """Return how each zero moves with each coefficient; the zeros must be simple."""
    n = series.coef.size
    basis = [series.basis(k, series.domain, series.window)(out) for k in range(n)]
    return -np.stack(basis, -1) / series.deriv()(out)[:, None]


@pullback(roots, turns_complex=True)
def pull_roots(out_bar, out, series):
    bar = out_bar @ zeros_slope(out, series)
    return bar if np.iscomplexobj(series.coef) else np.real(bar)


@pushforward(roots)
def push_roots(out, series, series_dot):
    return zeros_slope(out, series) @ series_dot


FITS = tuple(cls.fit for cls in CLASSES)


@pullback(*FITS, unknown=("x",))
def pull_fitted(out_bar, out, x, y, *, deg=None, domain=None, rcond=None, w=None, window=None):
    _, y_bar, _ = fit_back(out_bar, design(out, x, deg), out.coef, y, w)
    return None, y_bar


@pushforward(*FITS)
def push_fitted(out, x, y, x_dot, y_dot, *, deg=None, domain=None, rcond=None, w=None, window=None):
    basis = design(out, x, deg)
    return fit_forward(basis, np.zeros_like(basis), out.coef, y, y_dot, w, None)


def design(out, x, deg):
    """Return the polynomials of a fitted series at the points, in columns."""
    if np.ndim(deg) > 0:
        raise NotImplementedError("there is a derivative of a fit with all degrees up to one only")
    each = [out.basis(k, out.domain, out.window)(x) for k in range(deg + 1)]
    return np.stack(each, -1)


# sums and products: of series, or of one and what stands for its first coefficients


def coefficients_of(other):
    """Return the coefficients of a series, or what stands for them."""
    return other.coef if hasattr(other, "coef") else np.atleast_1d(other)


def shaped(bar, other):
    """Return a cotangent in the shape of the coefficients that it belongs to."""
    return np.reshape(bar, other.coef.shape if hasattr(other, "coef") else np.shape(other))


def plus(left, right):
    """Add as `left + right` does."""
    return left + right


def minus(left, right):
    """Subtract as `left - right` does."""
    return left - right


@pullback(plus)
def pull_plus(out_bar, out, left, right):
    left_bar = series_back(out_bar, coefficients_of(left))
    return shaped(left_bar, left), shaped(series_back(out_bar, coefficients_of(right)), right)


@pullback(minus)
def pull_minus(out_bar, out, left, right):
    left_bar = series_back(out_bar, coefficients_of(left))
    return shaped(left_bar, left), shaped(series_back(-out_bar, coefficients_of(right)), right)


def sum_tangent(out, left_dot, right_dot, sign):
    """Return the tangent of the coefficients of a sum, or a difference."""
    out_dot = np.zeros(out.coef.size, np.result_type(out.coef, float))
    if left_dot is not None:
        out_dot = out_dot + to_length(np.atleast_1d(left_dot), out_dot.size)
    if right_dot is not None:
        out_dot = out_dot + sign * to_length(np.atleast_1d(right_dot), out_dot.size)
    return out_dot


@pushforward(plus)
def push_plus(out, left, right, left_dot, right_dot):
    return sum_tangent(out, left_dot, right_dot, 1)


@pushforward(minus)
def push_minus(out, left, right, left_dot, right_dot):
    return sum_tangent(out, left_dot, right_dot, -1)


def times(left, right):
    """Multiply as `left * right` does."""
    return left * right


def product_of(out):
    """Return what multiplies coefficients as series of one kind do."""
    cls = type(out)
    return lambda a, b: (cls(a) * cls(b)).coef


@pullback(times)
def pull_times(out_bar, out, left, right):
    a, b = coefficients_of(left), coefficients_of(right)
    multiply = product_of(out)
    left_bar, right_bar = factor_back(out_bar, multiply, a, b), factor_back(out_bar, multiply, b, a)
    return shaped(left_bar, left), shaped(right_bar, right)


@pushforward(times)
def push_times(out, left, right, left_dot, right_dot):
    out_dot = np.zeros(out.coef.size, np.result_type(out.coef, float))
    multiply = product_of(out)
    if left_dot is not None:
        moved = multiply(np.atleast_1d(left_dot), coefficients_of(right))
        out_dot = out_dot + to_length(moved, out_dot.size)
    if right_dot is not None:
        moved = multiply(coefficients_of(left), np.atleast_1d(right_dot))
        out_dot = out_dot + to_length(moved, out_dot.size)
    return out_dot


def over(left, right):
    """Divide as `left / right` does: by a number."""
    return left / right


@pullback(over)
def pull_over(out_bar, out, left, right):
    return series_back(out_bar / right, left.coef), -np.sum(out_bar * out.coef) / right


@pushforward(over)
def push_over(out, left, right, left_dot, right_dot):
    out_dot = np.zeros(out.coef.size, np.result_type(out.coef, float))
    if left_dot is not None:
        out_dot = out_dot + to_length(left_dot, out_dot.size) / right
    return out_dot if right_dot is None else out_dot - out.coef * right_dot / right


def power(left, right):
    """Raise as `left ** right` does: to a whole number."""
    return left**right


@pullback(power)
def pull_power(out_bar, out, left, right):
    if right == 0:
        return np.zeros(left.coef.shape, out_bar.dtype), None
    slope = (right * left ** (right - 1)).coef
    return factor_back(out_bar, product_of(out), left.coef, slope), None


@pushforward(power)
def push_power(out, left, right, left_dot, right_dot):
    if right == 0:
        return np.zeros(out.coef.size)
    slope = (right * left ** (right - 1)).coef
    return to_length(product_of(out)(slope, left_dot), out.coef.size)


library_objects(
    *CLASSES,
    like=like,
    sample=sample,
    zero=zero,
    functions={
        "__call__": evaluated,
        ".coef": coefficients,
        "deriv": derivative,
        "integ": integral,
        "roots": roots,
        "Add": plus,
        "rAdd": plus,
        "Sub": minus,
        "rSub": minus,
        "Mult": times,
        "rMult": times,
        "Div": over,
        "Pow": power,
    },
)


@pullback(*CLASSES)
def pull_series(out_bar, out, coef, *, domain=None, window=None):
    return np.reshape(out_bar, coef.shape)


@pushforward(*CLASSES)
def push_series(out, coef, coef_dot, *, domain=None, window=None):
    return np.reshape(coef_dot, out.coef.shape)
