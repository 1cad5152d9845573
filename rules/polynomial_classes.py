"""np.polynomial's classes: series that are objects. The cotangent of one is that of its coef."""

import numpy as np

from s2sad.registry import Kin, library_objects, pullback, pushforward

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
    },
)


@pullback(*CLASSES, view="maybe")
def pull_series(out_bar, out, coef, *, domain=None, window=None):
    return np.reshape(out_bar, coef.shape)


@pushforward(*CLASSES)
def push_series(out, coef, coef_dot, *, domain=None, window=None):
    return np.reshape(coef_dot, out.coef.shape)
