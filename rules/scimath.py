"""numpy.emath: functions that are complex where real numbers lie outside of their domains."""

import numpy as np

from s2sad.registry import pullback, pushforward, written_out
from s2sad.runtime import fitted


def widened(x, outside):
    """Return an array as complex numbers where some of its numbers are outside of a domain."""
    x = np.asarray(x)
    return x.astype(np.result_type(x.dtype, np.complex64)) if np.any(outside) else x


@pullback(widened, turns_complex=True, view="maybe")
def pull_widened(out_bar, out, x, *, outside):
    return fitted(out_bar, x)


@pushforward(widened)
def push_widened(out, x, x_dot, *, outside):
    return fitted(x_dot, out)


@written_out(np.emath.sqrt)
def sqrt(x):
    return np.sqrt(widened(x, np.less(x, 0)))


@written_out(np.emath.log)
def log(x):
    return np.log(widened(x, np.less(x, 0)))


@written_out(np.emath.log2)
def log2(x):
    return np.log2(widened(x, np.less(x, 0)))


@written_out(np.emath.log10)
def log10(x):
    return np.log10(widened(x, np.less(x, 0)))


@written_out(np.emath.logn)
def logn(n, x):
    return np.log(widened(x, np.less(x, 0))) / np.log(widened(n, np.less(n, 0)))


@written_out(np.emath.power)
def power(x, p):
    """A negative whole number as the power counts as a float."""
    p = np.asarray(p) * (1.0 if np.any(np.less(p, 0)) else 1)
    return np.power(widened(x, np.less(x, 0)), p)


@written_out(np.emath.arccos)
def arccos(x):
    return np.arccos(widened(x, np.greater(np.abs(x), 1)))


@written_out(np.emath.arcsin)
def arcsin(x):
    return np.arcsin(widened(x, np.greater(np.abs(x), 1)))


@written_out(np.emath.arctanh)
def arctanh(x):
    return np.arctanh(widened(x, np.greater(np.abs(x), 1)))
