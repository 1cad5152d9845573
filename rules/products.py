"""Products of vectors, matrices and tensors, and the sums of products that signals are made of."""

import operator

import numpy as np

from s2sad.registry import pullback, pushforward
from s2sad.runtime import unbroadcast


@pullback(np.dot)
def pull_dot(out_bar, out, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(out_bar * b, np.shape(a)), unbroadcast(out_bar * a, np.shape(b))
    if a.ndim == 1 and b.ndim == 1:
        return out_bar * b, out_bar * a
    if a.ndim == 2 and b.ndim == 1:
        return np.outer(out_bar, b), a.T @ out_bar
    if a.ndim == 1 and b.ndim == 2:
        return b @ out_bar, np.outer(a, out_bar)
    if a.ndim == 2 and b.ndim == 2:
        return out_bar @ b.T, a.T @ out_bar
    rows = tuple(range(a.ndim - 1))
    if b.ndim == 1:
        return out_bar[..., None] * b, np.tensordot(out_bar, a, (rows, rows))
    columns = tuple(range(a.ndim - 1, out.ndim))
    a_bar = np.tensordot(out_bar, b, (columns, (*range(b.ndim - 2), b.ndim - 1)))
    b_bar = np.moveaxis(np.tensordot(a, out_bar, (rows, rows)), 0, -2)
    return a_bar, b_bar


@pushforward(np.dot)
def push_dot(out, a, b, a_dot, b_dot):
    if a_dot is None:
        return np.dot(a, b_dot)
    if b_dot is None:
        return np.dot(a_dot, b)
    return np.dot(a_dot, b) + np.dot(a, b_dot)


@pullback(np.vdot)
def pull_vdot(out_bar, out, a, b):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return np.conj(out_bar * b), out_bar * np.conj(a)
    a_bar = np.conj(out_bar * np.reshape(b, np.shape(a)))
    b_bar = out_bar * np.reshape(np.conj(a), np.shape(b))
    return a_bar, b_bar


@pushforward(np.vdot)
def push_vdot(out, a, b, a_dot, b_dot):
    if a_dot is None:
        return np.vdot(a, b_dot)
    if b_dot is None:
        return np.vdot(a_dot, b)
    return np.vdot(a_dot, b) + np.vdot(a, b_dot)


@pullback(np.inner)
def pull_inner(out_bar, out, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(out_bar * b, np.shape(a)), unbroadcast(out_bar * a, np.shape(b))
    if a.ndim == 1 and b.ndim == 1:
        return out_bar * b, out_bar * a
    if a.ndim == 2 and b.ndim == 2:
        return out_bar @ b, out_bar.T @ a
    rows = tuple(range(a.ndim - 1))
    columns = tuple(range(a.ndim - 1, out.ndim))
    a_bar = np.tensordot(out_bar, b, (columns, tuple(range(b.ndim - 1))))
    b_bar = np.tensordot(out_bar, a, (rows, rows))
    return a_bar, b_bar


@pushforward(np.inner)
def push_inner(out, a, b, a_dot, b_dot):
    if a_dot is None:
        return np.inner(a, b_dot)
    if b_dot is None:
        return np.inner(a_dot, b)
    return np.inner(a_dot, b) + np.inner(a, b_dot)


@pullback(np.outer, np.linalg.outer)
def pull_outer(out_bar, out, a, b):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return out_bar @ b, a @ out_bar
    a_bar = np.reshape(out_bar @ np.ravel(b), np.shape(a))
    b_bar = np.reshape(np.ravel(a) @ out_bar, np.shape(b))
    return a_bar, b_bar


@pushforward(np.outer, np.linalg.outer)
def push_outer(out, a, b, a_dot, b_dot):
    if a_dot is None:
        return np.outer(a, b_dot)
    if b_dot is None:
        return np.outer(a_dot, b)
    return np.outer(a_dot, b) + np.outer(a, b_dot)


@pullback(np.matmul, operator.matmul, np.linalg.matmul)
def pull_matmul(out_bar, out, a, b):
    if a.ndim == 1 and b.ndim == 1:
        return out_bar * b, out_bar * a
    if a.ndim == 2 and b.ndim == 1:
        return np.outer(out_bar, b), a.T @ out_bar
    if a.ndim == 1 and b.ndim == 2:
        return b @ out_bar, np.outer(a, out_bar)
    if a.ndim == 2 and b.ndim == 2:
        return out_bar @ b.T, a.T @ out_bar
    if b.ndim == 1:
        return out_bar[..., None] * b, np.tensordot(out_bar, a, out_bar.ndim)
    if a.ndim == 1:
        a_bar = unbroadcast((b @ out_bar[..., None])[..., 0], a.shape)
        return a_bar, a[:, None] * out_bar[..., None, :]
    a_bar = unbroadcast(out_bar @ np.swapaxes(b, -1, -2), a.shape)
    b_bar = unbroadcast(np.swapaxes(a, -1, -2) @ out_bar, b.shape)
    return a_bar, b_bar


@pushforward(np.matmul, operator.matmul, np.linalg.matmul)
def push_matmul(out, a, b, a_dot, b_dot):
    if a_dot is None:
        return a @ b_dot
    if b_dot is None:
        return a_dot @ b
    return a_dot @ b + a @ b_dot


@pullback(np.vecdot, np.linalg.vecdot)
def pull_vecdot(out_bar, out, a, b, *, axis=-1):
    if a.ndim == 1 and b.ndim == 1:
        return np.conj(out_bar * b), out_bar * np.conj(a)
    if axis == -1:
        a_bar = unbroadcast(np.conj(out_bar[..., None] * b), a.shape)
        b_bar = unbroadcast(out_bar[..., None] * np.conj(a), b.shape)
        return a_bar, b_bar
    a, b = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
    a_bar = unbroadcast(np.conj(out_bar[..., None] * b), a.shape)
    b_bar = unbroadcast(out_bar[..., None] * np.conj(a), b.shape)
    return np.moveaxis(a_bar, -1, axis), np.moveaxis(b_bar, -1, axis)


@pushforward(np.vecdot, np.linalg.vecdot)
def push_vecdot(out, a, b, a_dot, b_dot, *, axis=-1):
    if a_dot is None:
        return np.vecdot(a, b_dot, axis=axis)
    if b_dot is None:
        return np.vecdot(a_dot, b, axis=axis)
    return np.vecdot(a_dot, b, axis=axis) + np.vecdot(a, b_dot, axis=axis)


def pull_matvec(out_bar, out, a, b):
    a_bar = out_bar[..., :, None] * b[..., None, :]
    b_bar = np.sum(out_bar[..., :, None] * a, axis=-2)
    return unbroadcast(a_bar, a.shape), unbroadcast(b_bar, b.shape)


def push_matvec(out, a, b, a_dot, b_dot):
    if a_dot is None:
        return np.matvec(a, b_dot)
    if b_dot is None:
        return np.matvec(a_dot, b)
    return np.matvec(a_dot, b) + np.matvec(a, b_dot)


def pull_vecmat(out_bar, out, a, b):
    """The vector is conjugated."""
    a_bar = np.conj(np.sum(out_bar[..., None, :] * b, axis=-1))
    b_bar = np.conj(a[..., :, None]) * out_bar[..., None, :]
    return unbroadcast(a_bar, a.shape), unbroadcast(b_bar, b.shape)


def push_vecmat(out, a, b, a_dot, b_dot):
    if a_dot is None:
        return np.vecmat(a, b_dot)
    if b_dot is None:
        return np.vecmat(a_dot, b)
    return np.vecmat(a_dot, b) + np.vecmat(a, b_dot)


if hasattr(np, "matvec"):  # NumPy 2.2
    pullback(np.matvec)(pull_matvec)
    pushforward(np.matvec)(push_matvec)
    pullback(np.vecmat)(pull_vecmat)
    pushforward(np.vecmat)(push_vecmat)


def contracted_axes(axes, a_ndim, b_ndim):
    """Return the axes of a and of b that np.tensordot sums over, none negative."""
    if np.ndim(axes) == 0:
        return list(range(a_ndim - axes, a_ndim)), list(range(axes))
    a_axes, b_axes = axes
    a_axes = [a_axes] if np.ndim(a_axes) == 0 else list(a_axes)
    b_axes = [b_axes] if np.ndim(b_axes) == 0 else list(b_axes)
    return [k % a_ndim for k in a_axes], [k % b_ndim for k in b_axes]


def tensordot_left(out_bar, b, a_axes, b_axes, a_ndim):
    """Return the cotangent of the left operand of a tensordot over these axes."""
    a_free = [k for k in range(a_ndim) if k not in a_axes]
    b_free = [k for k in range(b.ndim) if k not in b_axes]
    a_bar = np.tensordot(out_bar, b, (list(range(len(a_free), out_bar.ndim)), b_free))
    axes = a_free + [a_axes[b_axes.index(k)] for k in sorted(b_axes)]
    return np.transpose(a_bar, sorted(range(a_ndim), key=axes.__getitem__))


@pullback(np.tensordot, np.linalg.tensordot, multilinear=True)
def pull_tensordot(out_bar, out, a, b, *, axes=2):
    a_axes, b_axes = contracted_axes(axes, a.ndim, b.ndim)
    columns = list(range(a.ndim - len(a_axes), out.ndim))
    swapped = np.transpose(out_bar, columns + list(range(a.ndim - len(a_axes))))
    a_bar = tensordot_left(np.asarray(out_bar), b, a_axes, b_axes, a.ndim)
    b_bar = tensordot_left(swapped, a, b_axes, a_axes, b.ndim)
    return a_bar, b_bar


@pushforward(np.tensordot, np.linalg.tensordot)
def push_tensordot(out, a, b, a_dot, b_dot, *, axes=2):
    if a_dot is None:
        return np.tensordot(a, b_dot, axes)
    if b_dot is None:
        return np.tensordot(a_dot, b, axes)
    return np.tensordot(a_dot, b, axes) + np.tensordot(a, b_dot, axes)


def einsum_terms(subscripts, operands):
    """Return the subscripts of each operand and of the result, explicit and without ellipsis."""
    if not isinstance(subscripts, str):
        raise NotImplementedError(
            "einsum has a derivative where the first argument is a string only"
        )
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    spare = [c for c in map(chr, range(65, 123)) if c.isalpha() and c not in subscripts]
    free = [
        np.ndim(x) - len(term.replace("...", "")) if "..." in term else 0
        for term, x in zip(terms, operands, strict=True)
    ]
    rest = max(free)
    dots = "".join(spare[:rest])
    if not arrow:
        letters = left.replace("...", "").replace(",", "")
        right = "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    terms = [t.replace("...", dots[rest - n :]) for t, n in zip(terms, free, strict=True)]
    return terms, right.replace("...", dots), spare[rest:]


def einsum_cotangent(out_bar, subscripts, operands, k, optimize):
    """Return the cotangent of one operand of an einsum, by another einsum.

    If only this operand has a subscript, the einsum summed over it: a vector of ones spreads the
    cotangent over it. If the operand repeats a subscript, the einsum took a diagonal: an identity
    matrix puts the cotangent back onto it.
    """
    terms, right, spare = einsum_terms(subscripts, operands)
    x = operands[k]
    inputs = [right] + [t for i, t in enumerate(terms) if i != k]
    factors = [out_bar] + [y for i, y in enumerate(operands) if i != k]
    lengths = {}
    for term, factor in zip(inputs, factors, strict=True):
        for c, n in zip(term, np.shape(factor), strict=True):
            lengths[c] = max(n, lengths.get(c, n))
    wanted = ""
    for c, n in zip(terms[k], np.shape(x), strict=True):
        if c in wanted:
            twin = spare.pop(0)
            inputs.append(c + twin)
            factors.append(np.eye(n, dtype=x.dtype))
            wanted += twin
            continue
        if lengths.get(c, 1) == 1 and (c not in lengths or n != 1):
            inputs.append(c)
            factors.append(np.ones(n, x.dtype))
        wanted += c
    x_bar = np.einsum(",".join(inputs) + "->" + wanted, *factors, optimize=bool(optimize))
    return unbroadcast(x_bar, np.shape(x))


def takes_diagonal(arguments):
    """Return whether an einsum may repeat an index in an operand, and so take its diagonal."""
    subscripts = arguments[0]
    if not isinstance(subscripts, str):
        return True
    terms = subscripts.split("->")[0].replace(" ", "").replace("...", "").split(",")
    return any(len(set(term)) < len(term) for term in terms)


@pullback(np.einsum, view="maybe", masks=takes_diagonal, multilinear=True)
def pull_einsum(out_bar, out, subscripts, *operands, optimize=False):
    return (None,) + tuple(
        einsum_cotangent(out_bar, subscripts, operands, k, optimize) for k in range(len(operands))
    )


@pushforward(np.einsum)
def push_einsum(out, subscripts, *operands_and_tangents, optimize=False):
    n = len(operands_and_tangents) // 2
    operands, tangents = operands_and_tangents[:n], operands_and_tangents[n + 1 :]
    if n == 1:
        return np.einsum(subscripts, tangents[0], optimize=optimize)  # a view where out is one
    return sum(
        np.einsum(subscripts, *operands[:k], tangents[k], *operands[k + 1 :], optimize=optimize)
        for k in range(n)
        if tangents[k] is not None
    )


def kron_blocks(out_bar, a, b):
    """Return out_bar with the axes of a first and the axes of b after them."""
    n = out_bar.ndim
    a_shape = (1,) * (n - a.ndim) + a.shape
    b_shape = (1,) * (n - b.ndim) + b.shape
    blocks = np.reshape(out_bar, [m for pair in zip(a_shape, b_shape, strict=True) for m in pair])
    blocks = np.transpose(blocks, (*range(0, 2 * n, 2), *range(1, 2 * n, 2)))
    return np.reshape(blocks, a.shape + b.shape)


@pullback(np.kron, multilinear=True)
def pull_kron(out_bar, out, a, b):
    blocks = kron_blocks(out_bar, a, b)
    return np.tensordot(blocks, b, b.ndim), np.tensordot(a, blocks, a.ndim)


@pushforward(np.kron)
def push_kron(out, a, b, a_dot, b_dot):
    if a_dot is None:
        return np.kron(a, b_dot)
    if b_dot is None:
        return np.kron(a_dot, b)
    return np.kron(a_dot, b) + np.kron(a, b_dot)


@pullback(np.cross, np.linalg.cross, multilinear=True)
def pull_cross(out_bar, out, a, b, *, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    if axisa == -1 and axisb == -1 and axisc == -1:
        a_bar = unbroadcast(np.cross(b, out_bar), a.shape)
        b_bar = unbroadcast(np.cross(out_bar, a), b.shape)
        return a_bar, b_bar
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    out_bar = np.moveaxis(out_bar, axisc, -1)
    a_bar = unbroadcast(np.cross(b, out_bar), a.shape)
    b_bar = unbroadcast(np.cross(out_bar, a), b.shape)
    return np.moveaxis(a_bar, -1, axisa), np.moveaxis(b_bar, -1, axisb)


@pushforward(np.cross, np.linalg.cross)
def push_cross(out, a, b, a_dot, b_dot, *, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if a_dot is None:
        return np.cross(a, b_dot, axisa, axisb, axisc, axis)
    if b_dot is None:
        return np.cross(a_dot, b, axisa, axisb, axisc, axis)
    return np.cross(a_dot, b, axisa, axisb, axisc, axis) + np.cross(
        a, b_dot, axisa, axisb, axisc, axis
    )


@pullback(np.convolve, multilinear=True)
def pull_convolve(out_bar, out, a, v, *, mode="full"):
    if mode not in ("full", "same", "valid"):
        raise NotImplementedError(
            "convolve has a derivative for mode 'full', 'same' or 'valid' only"
        )
    if np.ndim(a) == 0 or np.ndim(v) == 0:
        raise NotImplementedError("convolve has a derivative of vectors only")
    hidden = min(np.size(a), np.size(v)) - 1
    if mode == "valid":
        out_bar = np.pad(out_bar, hidden)
    if mode == "same":
        out_bar = np.pad(out_bar, (hidden // 2, hidden - hidden // 2))
    return np.convolve(out_bar, v[::-1], "valid"), np.convolve(out_bar, a[::-1], "valid")


@pushforward(np.convolve)
def push_convolve(out, a, v, a_dot, v_dot, *, mode="full"):
    if a_dot is None:
        return np.convolve(a, v_dot, mode)
    if v_dot is None:
        return np.convolve(a_dot, v, mode)
    return np.convolve(a_dot, v, mode) + np.convolve(a, v_dot, mode)


@pullback(np.correlate, multilinear=True)
def pull_correlate(out_bar, out, a, v, *, mode="valid"):
    if mode not in ("full", "same", "valid"):
        raise NotImplementedError(
            "correlate has a derivative for mode 'full', 'same' or 'valid' only"
        )
    hidden = min(np.size(a), np.size(v)) - 1
    if mode == "valid":
        out_bar = np.pad(out_bar, hidden)
    if mode == "same":
        before = hidden // 2 if np.size(a) >= np.size(v) else hidden - hidden // 2
        out_bar = np.pad(out_bar, (before, hidden - before))
    a_bar = np.convolve(out_bar, np.conj(v), "valid")
    v_bar = np.conj(np.convolve(out_bar, a[::-1], "valid")[::-1])
    return a_bar, v_bar


@pushforward(np.correlate)
def push_correlate(out, a, v, a_dot, v_dot, *, mode="valid"):
    if a_dot is None:
        return np.correlate(a, v_dot, mode)
    if v_dot is None:
        return np.correlate(a_dot, v, mode)
    return np.correlate(a_dot, v, mode) + np.correlate(a, v_dot, mode)


def interp_segment(x, xp):
    """Return, for each x, the knots around it, their distance, and how far along that it is.

    At a knot the segment to the right counts, at the last knot the last one. Before the first knot
    it is that knot alone.
    """
    xp = 1.0 * np.asarray(xp)  # integers may wrap
    high = np.minimum(xp.searchsorted(x, "right"), xp.size - 1)
    low = np.maximum(high - 1, 0)
    start = xp[low]
    width = xp[high] - start
    width = width + (width == 0)
    t = (x - start) / width
    return low, high, width, np.minimum(np.maximum(t, 0.0), 1.0)


def interp_slope(x, xp, fp):
    """Return the slope of np.interp at each x: zero outside the knots."""
    low, high, width, _ = interp_segment(x, xp)
    fp = 1.0 * np.asarray(fp)
    return np.where(x <= xp[-1], (fp[high] - fp[low]) / width, 0)


def onto_knots(values, x, xp):
    """Return, for each knot, the sum of values at x by its weight in what np.interp gives there."""
    low, high, _, t = interp_segment(x, xp)
    values = np.asarray(values)
    later = values * t
    knots = np.zeros(np.size(xp), values.dtype)
    np.add.at(knots, low, values - later)
    np.add.at(knots, high, later)
    return knots


def one_period(x, xp, fp, period):
    """Return x, the knots and their values as np.interp sees them with a period; and the order."""
    period = abs(period)
    xp, fp = np.asarray(xp) % period, np.asarray(fp)
    order = np.argsort(xp)
    around = np.concatenate((order[-1:], order, order[:1]))
    turns = np.zeros(around.size, xp.dtype)
    turns[0], turns[-1] = -period, period
    return np.asarray(x) % period, xp[around] + turns, fp[around], around


def outside(x, xp, left, right):
    """Say which x have no derivative: those beyond an end where another value is given."""
    beyond = np.zeros(np.shape(x), bool)
    if left is not None:
        beyond = beyond | (x < xp[0])
    if right is not None:
        beyond = beyond | (x > xp[-1])
    return beyond


@pullback(np.interp, masks=True)
def pull_interp(out_bar, out, x, xp, fp, left=None, right=None, *, period=None):
    left_bar = right_bar = None
    if period is not None:
        return *pull_in_period(out_bar, x, xp, fp, period), left_bar, right_bar
    if left is not None:
        left_bar = np.sum(np.where(np.less(x, xp[0]), out_bar, 0))
    if right is not None:
        right_bar = np.sum(np.where(np.greater(x, xp[-1]), out_bar, 0))
    if left is not None or right is not None:
        out_bar = np.where(outside(x, xp, left, right), 0, out_bar)
    x_bar = out_bar * interp_slope(x, xp, fp)
    return x_bar, onto_knots(-x_bar, x, xp), onto_knots(out_bar, x, xp), left_bar, right_bar


def pull_in_period(out_bar, x, xp, fp, period):
    """Return the cotangents of x, of the knots and of their values, of np.interp with a period."""
    x, xp, fp, around = one_period(x, xp, fp, period)
    x_bar = out_bar * interp_slope(x, xp, fp)
    bars = []
    for values in (-x_bar, out_bar):
        knots = onto_knots(values, x, xp)
        bar = np.zeros(knots.size - 2, knots.dtype)
        np.add.at(bar, around, knots)
        bars.append(bar)
    return x_bar, bars[0], bars[1]


@pushforward(np.interp)
def push_interp(
    out, x, xp, fp, left, right, x_dot, xp_dot, fp_dot, left_dot, right_dot, *, period=None
):
    around, beyond = np.arange(np.size(xp)), False
    if period is None:
        beyond = outside(x, xp, left, right)
    else:
        x, xp, fp, around = one_period(x, xp, fp, period)
    low, high, _, t = interp_segment(x, xp)
    slope = interp_slope(x, xp, fp)
    out_dot = np.zeros_like(out)
    if x_dot is not None:
        out_dot = out_dot + slope * x_dot
    if xp_dot is not None:
        out_dot = out_dot - slope * (xp_dot[around[low]] * (1 - t) + xp_dot[around[high]] * t)
    if fp_dot is not None:
        out_dot = out_dot + fp_dot[around[low]] * (1 - t) + fp_dot[around[high]] * t
    if beyond is False:
        return out_dot
    out_dot = np.where(beyond, 0, out_dot)
    if left_dot is not None:
        out_dot = np.where(np.less(x, xp[0]), left_dot, out_dot)
    if right_dot is not None:
        out_dot = np.where(np.greater(x, xp[-1]), right_dot, out_dot)
    return out_dot


def trapezoid_widths(x, dx, axis):
    """Return the widths of the intervals, along the last axis."""
    if x is None:
        return 1.0 if dx is None else dx
    return np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1))


@pullback(np.trapezoid)
def pull_trapezoid(out_bar, out, y, x=None, dx=1.0, *, axis=-1):
    half_bar = 0.5 * np.moveaxis(np.expand_dims(out_bar, axis), axis, -1)
    y_last = np.moveaxis(y, axis, -1)
    side_bar = half_bar * trapezoid_widths(x, dx, axis)
    y_bar = np.zeros(y_last.shape, side_bar.dtype)
    y_bar[..., 1:] += side_bar
    y_bar[..., :-1] += side_bar
    width_bar = half_bar * (y_last[..., 1:] + y_last[..., :-1])
    if x is None:
        return np.moveaxis(y_bar, -1, axis), None, unbroadcast(width_bar, np.shape(dx))
    x_bar = np.zeros(y_last.shape, width_bar.dtype)
    x_bar[..., 1:] += width_bar
    x_bar[..., :-1] -= width_bar
    if np.ndim(x) > 1:
        x_bar = np.moveaxis(x_bar, -1, axis)
    return np.moveaxis(y_bar, -1, axis), unbroadcast(x_bar, np.shape(x)), None


@pushforward(np.trapezoid)
def push_trapezoid(out, y, x, dx, y_dot, x_dot, dx_dot, *, axis=-1):
    dx = 1.0 if dx is None else dx
    if x is None and dx_dot is not None:
        by_width = np.trapezoid(y, dx=dx_dot, axis=axis)
        return by_width if y_dot is None else by_width + np.trapezoid(y_dot, dx=dx, axis=axis)
    if x_dot is None:
        return np.trapezoid(y_dot, x, dx, axis)
    if y_dot is None:
        return np.trapezoid(y, x_dot, axis=axis)
    return np.trapezoid(y_dot, x, axis=axis) + np.trapezoid(y, x_dot, axis=axis)


@pullback(np.multiply.outer, multilinear=True)
def pull_multiply_outer(out_bar, out, A, B):
    return np.tensordot(out_bar, B, np.ndim(B)), np.tensordot(A, out_bar, np.ndim(A))


@pushforward(np.multiply.outer)
def push_multiply_outer(out, A, B, A_dot, B_dot):
    if A_dot is None:
        return np.multiply.outer(A, B_dot)
    if B_dot is None:
        return np.multiply.outer(A_dot, B)
    return np.multiply.outer(A_dot, B) + np.multiply.outer(A, B_dot)
