"""What derived text calls that NumPy has not: s2sad's own helpers, when it is derived again."""

import numpy as np

from s2sad import runtime
from s2sad.emitted import checked_results
from s2sad.emitted.found import as_found
from s2sad.registry import declare, elementwise, nondifferentiable, pullback, pushforward
from s2sad.runtime import unbroadcast

nondifferentiable(runtime.zeros_like)
nondifferentiable(runtime.last_writes)
nondifferentiable(runtime.written_once)


@pullback(unbroadcast, view="maybe")
def pull_unbroadcast(out_bar, out, x_bar, *, shape):
    """A sum over axes is spread over them again."""
    if np.ndim(x_bar) == 0:
        return out_bar
    return np.broadcast_to(out_bar, x_bar.shape)


@pushforward(unbroadcast)
def push_unbroadcast(out, x_bar, x_bar_dot, *, shape):
    return unbroadcast(x_bar_dot, shape)


@elementwise(runtime.real)
def real(out, x_bar):
    return 1.0


@elementwise(runtime.log_of_base, regular={"x": 1.0})
def log_of_base(out, x):
    """The logarithm counts as 0 at 0."""
    return (x != 0) / (x + (x == 0))


@pullback(runtime.fitted, view="maybe")
def pull_fitted(out_bar, out, x_bar, x):
    if np.iscomplexobj(x_bar) or not np.iscomplexobj(out_bar):
        return out_bar.astype(x_bar.dtype), None
    return np.real(out_bar).astype(x_bar.dtype), None


@pushforward(runtime.fitted)
def push_fitted(out, x_bar, x, x_bar_dot, x_dot):
    return runtime.fitted(x_bar_dot, x)


@pullback(as_found, view="maybe")
def pull_as_found(out_bar, out, x_bar, x):
    return runtime.fitted(out_bar, x_bar), None


@pushforward(as_found)
def push_as_found(out, x_bar, x, x_bar_dot, x_dot):
    return as_found(x_bar_dot, x)


@pullback(checked_results.for_each, view="maybe")
def pull_for_each(out_bar, out, found, count):
    return out_bar, None


@pushforward(checked_results.for_each)
def push_for_each(out, found, count, found_dot, count_dot):
    return found_dot


@elementwise(checked_results.cotangent)
def cotangent(out, bar, x):
    return 1.0, None


@elementwise(checked_results.or_zeros)
def or_zeros(out, bar, x):
    return 1.0, None


@elementwise(checked_results.or_zero)
def or_zero(out, partial):
    return 1.0


# They hand on what they are given first.
declare(
    runtime.real,
    checked_results.cotangent,
    checked_results.or_zeros,
    checked_results.or_zero,
    held=True,
)
