"""Making arrays: of scalars and lists (a cotangent of the same structure), filled, or spaced."""

import numpy as np

from s2sad.registry import Window, nondifferentiable, pullback, pushforward
from s2sad.rules.elementwise import bessel_i1
from s2sad.runtime import unbroadcast

nondifferentiable(np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like)
nondifferentiable(np.eye, np.identity, np.tri, np.bartlett, np.blackman, np.hamming, np.hanning)


@pullback(np.ndarray)
def pull_ndarray(out_bar, out, *, shape, dtype=float, order=None):
    """What is made over somebody's buffer is refused: it is memory of two kinds."""
    return ()


@pushforward(np.ndarray)
def push_ndarray(out, *, shape, dtype=float, order=None):
    return np.zeros_like(out)


def take_apart(x_bar, structure):
    """Return the cotangents of the scalars and arrays in a nested list that became one array."""
    if isinstance(structure, (list, tuple)):
        parts = [take_apart(part, s) for part, s in zip(x_bar, structure, strict=True)]
        return tuple(parts) if isinstance(structure, tuple) else parts
    return x_bar


def fill_tangent(tangent, structure):
    """Return the tangent of a nested list, with zeros for the parts that are constant."""
    if isinstance(structure, (list, tuple)):
        parts = [None] * len(structure) if tangent is None else tangent
        return [fill_tangent(t, s) for t, s in zip(parts, structure, strict=True)]
    return 0.0 * structure if tangent is None else tangent


def listed_back(out_bar, out, structure):
    """Return the cotangents of what stands in a nested list: zeros where integers were made."""
    if out.dtype.kind in "biu":
        out_bar = np.zeros(out.shape)
    return take_apart(out_bar, structure)


def listed_forward(tangent, out, structure):
    """Return the tangent of an array made of a nested list: zeros where integers were made."""
    if out.dtype.kind in "biu":
        return np.zeros(out.shape)
    return np.array(fill_tangent(tangent, structure), out.dtype)


@pullback(np.array, view="maybe", nested=True)
def pull_array(out_bar, out, object, *, dtype=None, order="K", copy=True, ndmin=0):
    if ndmin != 0:
        out_bar = np.reshape(out_bar, np.shape(object))
    if isinstance(object, (list, tuple)):
        return listed_back(out_bar, out, object)
    if dtype is not None and hasattr(object, "dtype"):
        if np.iscomplexobj(out_bar) and not np.iscomplexobj(object):
            out_bar = np.real(out_bar)
        return out_bar.astype(object.dtype)
    return out_bar


@pushforward(np.array)
def push_array(out, object, object_dot, *, dtype=None, order="K", copy=True, ndmin=0):
    if isinstance(object, (list, tuple)):
        made = listed_forward(object_dot, out, object)
    else:
        made = np.array(object_dot, out.dtype)
    return made if ndmin == 0 else np.reshape(made, out.shape)


@pullback(
    np.asarray,
    np.asanyarray,
    np.asarray_chkfinite,
    view="maybe",
    window=Window(unless=("dtype", "order", "copy", "device", "like")),
    nested=True,
    once="an array is beside a tuple in what is made an array",
)
def pull_asarray(out_bar, out, a, *, dtype=None, order=None, copy=None):
    if isinstance(a, (list, tuple)):
        return listed_back(out_bar, out, a)
    if dtype is not None and hasattr(a, "dtype"):
        if np.iscomplexobj(out_bar) and not np.iscomplexobj(a):
            out_bar = np.real(out_bar)
        return out_bar.astype(a.dtype)
    return out_bar


@pushforward(np.asarray, np.asanyarray, np.asarray_chkfinite)
def push_asarray(out, a, a_dot, *, dtype=None, order=None, copy=None):
    if isinstance(a, (list, tuple)):
        return listed_forward(a_dot, out, a)
    return np.asarray(a_dot, out.dtype)


@pullback(np.require, view="maybe", once="s2sad does not know requirements in a list")
def pull_require(out_bar, out, a, *, dtype=None, requirements=None):
    if dtype is not None and hasattr(a, "dtype"):
        if np.iscomplexobj(out_bar) and not np.iscomplexobj(a):
            out_bar = np.real(out_bar)
        out_bar = out_bar.astype(a.dtype)
    return np.reshape(out_bar, np.shape(a))


@pushforward(np.require)
def push_require(out, a, a_dot, *, dtype=None, requirements=None):
    return np.reshape(np.asarray(a_dot, out.dtype), out.shape)


@pullback(
    np.ascontiguousarray,
    view="maybe",
    nested=True,
    once="an array is beside a tuple in what is made an array",
)
def pull_ascontiguousarray(out_bar, out, a, *, dtype=None):
    if isinstance(a, (list, tuple)):
        return take_apart(out_bar, a)
    return np.reshape(out_bar, np.shape(a))


@pushforward(np.ascontiguousarray)
def push_ascontiguousarray(out, a, a_dot, *, dtype=None):
    if isinstance(a, (list, tuple)):
        a_dot = fill_tangent(a_dot, a)
    return np.ascontiguousarray(a_dot, out.dtype)


@pullback(np.full, once="an array has to fit a shape that is given")
def pull_full(out_bar, out, fill_value, *, shape=None, dtype=None, order="C"):
    return unbroadcast(out_bar, np.shape(fill_value))


@pushforward(np.full)
def push_full(out, fill_value, fill_value_dot, *, shape=None, dtype=None, order="C"):
    return np.full(shape, fill_value_dot, out.dtype)


@pullback(np.full_like, once="an array has to fit a shape that is given")
def pull_full_like(out_bar, out, a, fill_value, *, dtype=None, order="K", shape=None):
    return None, unbroadcast(out_bar, np.shape(fill_value))


@pushforward(np.full_like)
def push_full_like(out, a, fill_value, a_dot, fill_value_dot, *, dtype=None, order="K", shape=None):
    if fill_value_dot is None:
        return np.zeros_like(out)
    return np.full_like(out, fill_value_dot)


@pullback(np.arange)
def pull_arange(out_bar, out, start, stop=None, step=None):
    """Where it stops has no influence on the values, and alone is the first argument."""
    if stop is None:
        return None, None, None
    return np.sum(out_bar), None, out_bar @ np.arange(out.size, dtype=out.dtype)


@pushforward(np.arange)
def push_arange(out, start, stop, step, start_dot, stop_dot, step_dot):
    out_dot = np.zeros_like(out)
    if stop is not None and start_dot is not None:
        out_dot = out_dot + start_dot
    if step_dot is not None:
        out_dot = out_dot + step_dot * np.arange(out.size, dtype=out.dtype)
    return out_dot


@pullback(np.linspace)
def pull_linspace(out_bar, out, start, stop, *, num=50, endpoint=True, retstep=False, axis=0):
    if retstep:
        return line_and_step_back(out_bar, out, start, stop, num, endpoint, axis)
    t = np.linspace(0, 1, num, endpoint, dtype=out.dtype)
    if out.ndim == 1:
        return out_bar @ (1 - t), out_bar @ t
    start_bar = np.tensordot(1 - t, out_bar, (0, axis))
    stop_bar = np.tensordot(t, out_bar, (0, axis))
    return unbroadcast(start_bar, np.shape(start)), unbroadcast(stop_bar, np.shape(stop))


def line_and_step_back(out_bar, out, start, stop, num, endpoint, axis):
    """Return the cotangents of both ends for np.linspace with retstep."""
    line_bar, step_bar = out_bar
    start_bar = stop_bar = 0.0
    if line_bar is not None:
        ends = pull_linspace(line_bar, out[0], start, stop, num=num, endpoint=endpoint, axis=axis)
        start_bar, stop_bar = ends
    if step_bar is not None:
        share = step_bar / max(num - 1 if endpoint else num, 1)
        start_bar = start_bar - unbroadcast(share, np.shape(start))
        stop_bar = stop_bar + unbroadcast(share, np.shape(stop))
    return start_bar, stop_bar


@pushforward(np.linspace)
def push_linspace(
    out, start, stop, start_dot, stop_dot, *, num=50, endpoint=True, retstep=False, axis=0
):
    dtype = out[0].dtype if retstep else out.dtype
    if start_dot is None:
        start_dot = np.zeros(np.shape(start), dtype)
    if stop_dot is None:
        stop_dot = np.zeros(np.shape(stop), dtype)
    return np.linspace(start_dot, stop_dot, num, endpoint, retstep, axis=axis)


@pullback(np.logspace)
def pull_logspace(out_bar, out, start, stop, base=None, *, num=50, endpoint=True, axis=0):
    if base is not None:
        return powers_back(out_bar, out, start, stop, base, num, endpoint, axis)
    t = np.linspace(0, 1, num, endpoint, dtype=out.dtype)
    exponent_bar = out_bar * out * np.log(10.0, dtype=out.dtype)
    if out.ndim == 1:
        return exponent_bar @ (1 - t), exponent_bar @ t, None
    start_bar = np.tensordot(1 - t, exponent_bar, (0, axis))
    stop_bar = np.tensordot(t, exponent_bar, (0, axis))
    return unbroadcast(start_bar, np.shape(start)), unbroadcast(stop_bar, np.shape(stop)), None


def powers_back(out_bar, out, start, stop, base, num, endpoint, axis):
    """Return the cotangents of the ends and the base for np.logspace."""
    if np.ndim(base):
        raise NotImplementedError("logspace has a derivative for a base that is a number only")
    t = np.linspace(0, 1, num, endpoint, dtype=out.dtype)
    power_bar = out_bar * out
    exponent_bar = power_bar * np.log(base, dtype=out.dtype)
    start_bar = np.tensordot(1 - t, exponent_bar, (0, axis))
    stop_bar = np.tensordot(t, exponent_bar, (0, axis))
    exponent = np.linspace(start, stop, num, endpoint, axis=axis)
    base_bar = np.sum(power_bar * exponent) / base
    ends = unbroadcast(start_bar, np.shape(start)), unbroadcast(stop_bar, np.shape(stop))
    return *ends, base_bar


@pushforward(np.logspace)
def push_logspace(
    out, start, stop, base, start_dot, stop_dot, base_dot, *, num=50, endpoint=True, axis=0
):
    if start_dot is None:
        start_dot = np.zeros(np.shape(start), out.dtype)
    if stop_dot is None:
        stop_dot = np.zeros(np.shape(stop), out.dtype)
    exponent_dot = np.linspace(start_dot, stop_dot, num, endpoint, axis=axis)
    moved = exponent_dot * out * np.log(10.0 if base is None else base, dtype=out.dtype)
    if base_dot is None:
        return moved
    exponent = np.linspace(start, stop, num, endpoint, axis=axis)
    return moved + out * exponent * base_dot / base


@pullback(np.geomspace)
def pull_geomspace(out_bar, out, start, stop, *, num=50, endpoint=True, axis=0):
    t = np.linspace(0, 1, num, endpoint, dtype=out.dtype)
    log_bar = out_bar * out
    if out.ndim == 1:
        return log_bar @ (1 - t) / start, log_bar @ t / stop
    start_bar = np.tensordot(1 - t, log_bar, (0, axis)) / start
    stop_bar = np.tensordot(t, log_bar, (0, axis)) / stop
    return unbroadcast(start_bar, np.shape(start)), unbroadcast(stop_bar, np.shape(stop))


@pushforward(np.geomspace)
def push_geomspace(out, start, stop, start_dot, stop_dot, *, num=50, endpoint=True, axis=0):
    if start_dot is None:
        start_dot = np.zeros(np.shape(start), out.dtype)
    if stop_dot is None:
        stop_dot = np.zeros(np.shape(stop), out.dtype)
    return out * np.linspace(start_dot / start, stop_dot / stop, num, endpoint, axis=axis)


@pullback(np.kaiser)
def pull_kaiser(out_bar, out, M, beta):
    """The window is i0(beta * s) / i0(beta) with s the height of a half circle."""
    return None, np.sum(out_bar * kaiser_slope(out, beta))


@pushforward(np.kaiser)
def push_kaiser(out, M, beta, M_dot, beta_dot):
    return kaiser_slope(out, beta) * beta_dot


def kaiser_slope(out, beta):
    """Return the derivative of a Kaiser window by its parameter."""
    t = np.linspace(-1.0, 1.0, out.size) if out.size > 1 else np.zeros(out.size)
    s = np.sqrt(1.0 - t * t)
    return (s * bessel_i1(beta * s) - out * bessel_i1(beta)) / np.i0(beta)
