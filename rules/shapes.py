"""Functions that arrange elements anew without computing: the pullback puts them back."""

import numpy as np

from s2sad.registry import Window, nondifferentiable, pullback, pushforward
from s2sad.runtime import unbroadcast

nondifferentiable(np.shape, np.ndim, np.size, np.broadcast_shapes)


@pullback(np.reshape, view="maybe", window=Window(copied=True, unless=("order", "copy")))
def pull_reshape(out_bar, out, a, *, shape=None, order="C", copy=None):
    if order == "A":
        order = "F" if a.flags.fnc else "C"
    if order == "C":
        return np.reshape(out_bar, np.shape(a))
    return np.reshape(out_bar, np.shape(a), order=order)


@pushforward(np.reshape)
def push_reshape(out, a, a_dot, *, shape=None, order="C", copy=None):
    if order == "A":
        order = "F" if a.flags.fnc else "C"
    if order == "C":
        return np.reshape(a_dot, shape)
    return np.reshape(a_dot, shape, order=order)


def reshape_method(a, *shape, order="C"):
    """Reshape as the method of an array does: `a.reshape(2, 3)` or `a.reshape((2, 3))`."""
    return a.reshape(*shape, order=order)


@pullback(reshape_method, view="maybe", window=Window(copied=True, unless=("order",)))
def pull_reshape_method(out_bar, out, a, *, shape=(), order="C"):
    if order == "A":
        order = "F" if a.flags.fnc else "C"
    if order == "C":
        return np.reshape(out_bar, a.shape)
    return np.reshape(out_bar, a.shape, order=order)


@pushforward(reshape_method)
def push_reshape_method(out, a, a_dot, *, shape=(), order="C"):
    if order == "A":
        order = "F" if a.flags.fnc else "C"
    if order == "C":
        return np.reshape(a_dot, out.shape)
    return np.reshape(a_dot, out.shape, order=order)


@pullback(np.ravel, view="maybe", window=Window(copied=True, unless=("order",)))
def pull_ravel(out_bar, out, a, *, order="C"):
    if order == "K":
        raise NotImplementedError("ravel has no derivative for order='K'; use 'C', 'F' or 'A'")
    if order == "A":
        order = "F" if a.flags.fnc else "C"
    if order == "C":
        return np.reshape(out_bar, np.shape(a))
    return np.reshape(out_bar, np.shape(a), order=order)


@pushforward(np.ravel)
def push_ravel(out, a, a_dot, *, order="C"):
    if order == "K":
        raise NotImplementedError("ravel has no derivative for order='K'; use 'C', 'F' or 'A'")
    if order == "A":
        order = "F" if a.flags.fnc else "C"
    return np.ravel(a_dot, order)


pullback(np.ndarray.flatten)(pull_ravel)
pushforward(np.ndarray.flatten)(push_ravel)


def inverse_axes(axes, ndim):
    """Return the axes that undo a transpose by these."""
    axes = [axis % ndim for axis in axes]
    return tuple(sorted(range(ndim), key=axes.__getitem__))


@pullback(np.transpose, np.permute_dims, view="always", window=Window(), linear=True)
def pull_transpose(out_bar, out, a, *, axes=None):
    if axes is None:
        return np.transpose(out_bar)
    return np.transpose(out_bar, inverse_axes(axes, a.ndim))


@pushforward(np.transpose, np.permute_dims)
def push_transpose(out, a, a_dot, *, axes=None):
    return np.transpose(a_dot, axes)


def transpose_method(a, *axes):
    """Transpose as the method of an array does: `a.transpose(1, 0)` or `a.transpose((1, 0))`."""
    return a.transpose(*axes)


@pullback(transpose_method, view="always", window=Window())
def pull_transpose_method(out_bar, out, a, *, axes=()):
    if axes == () or axes == (None,):
        return np.transpose(out_bar)
    if np.ndim(axes[0]) > 0:
        axes = axes[0]
    return np.transpose(out_bar, inverse_axes(axes, a.ndim))


@pushforward(transpose_method)
def push_transpose_method(out, a, a_dot, *, axes=()):
    return a_dot.transpose(*axes)


@pullback(np.matrix_transpose, np.linalg.matrix_transpose, view="always", window=Window())
def pull_matrix_transpose(out_bar, out, x):
    return np.swapaxes(out_bar, -1, -2)


@pushforward(np.matrix_transpose, np.linalg.matrix_transpose)
def push_matrix_transpose(out, x, x_dot):
    return np.swapaxes(x_dot, -1, -2)


@pullback(np.swapaxes, view="always", window=Window())
def pull_swapaxes(out_bar, out, a, *, axis1=None, axis2=None):
    return np.swapaxes(out_bar, axis1, axis2)


@pushforward(np.swapaxes)
def push_swapaxes(out, a, a_dot, *, axis1=None, axis2=None):
    return np.swapaxes(a_dot, axis1, axis2)


@pullback(np.moveaxis, view="always", window=Window())
def pull_moveaxis(out_bar, out, a, *, source=None, destination=None):
    return np.moveaxis(out_bar, destination, source)


@pushforward(np.moveaxis)
def push_moveaxis(out, a, a_dot, *, source=None, destination=None):
    return np.moveaxis(a_dot, source, destination)


@pullback(np.rollaxis, view="always", window=Window())
def pull_rollaxis(out_bar, out, a, *, axis=None, start=0):
    axis = axis % a.ndim
    if start < 0:
        start = start + a.ndim
    if axis < start:
        start = start - 1
    return np.moveaxis(out_bar, start, axis)


@pushforward(np.rollaxis)
def push_rollaxis(out, a, a_dot, *, axis=None, start=0):
    return np.rollaxis(a_dot, axis, start)


@pullback(np.expand_dims, view="always", window=Window())
def pull_expand_dims(out_bar, out, a, *, axis=None):
    return np.reshape(out_bar, np.shape(a))


@pushforward(np.expand_dims)
def push_expand_dims(out, a, a_dot, *, axis=None):
    return np.expand_dims(a_dot, axis)


@pullback(np.squeeze, view="always", window=Window())
def pull_squeeze(out_bar, out, a, *, axis=None):
    return np.reshape(out_bar, np.shape(a))


@pushforward(np.squeeze)
def push_squeeze(out, a, a_dot, *, axis=None):
    return np.squeeze(a_dot, axis)


@pullback(np.broadcast_to, view="always")
def pull_broadcast_to(out_bar, out, array, *, shape=None):
    return unbroadcast(out_bar, np.shape(array))


@pushforward(np.broadcast_to)
def push_broadcast_to(out, array, array_dot, *, shape=None):
    return np.broadcast_to(array_dot, shape)


@pullback(np.broadcast_arrays, view="always")
def pull_broadcast_arrays(out_bar, out, *args):
    return tuple(
        None if bar is None else unbroadcast(bar, np.shape(a))
        for bar, a in zip(out_bar, args, strict=True)
    )


@pushforward(np.broadcast_arrays)
def push_broadcast_arrays(out, *args_and_tangents):
    tangents = args_and_tangents[len(out) :]
    return tuple(
        np.zeros_like(part) if dot is None else np.broadcast_arrays(dot, part)[0]
        for part, dot in zip(out, tangents, strict=True)
    )


@pullback(np.atleast_1d, np.atleast_2d, np.atleast_3d, view="maybe", window=Window())
def pull_atleast(out_bar, out, a):
    return np.reshape(out_bar, np.shape(a))


@pushforward(np.atleast_1d, np.atleast_2d, np.atleast_3d)
def push_atleast(out, a, a_dot):
    return np.reshape(a_dot, out.shape)


@pullback(np.flip, view="always", window=Window())
def pull_flip(out_bar, out, m, *, axis=None):
    return np.flip(out_bar, axis)


@pushforward(np.flip)
def push_flip(out, m, m_dot, *, axis=None):
    return np.flip(m_dot, axis)


@pullback(np.fliplr, view="always", window=Window())
def pull_fliplr(out_bar, out, m):
    return np.fliplr(out_bar)


@pushforward(np.fliplr)
def push_fliplr(out, m, m_dot):
    return np.fliplr(m_dot)


@pullback(np.flipud, view="always", window=Window())
def pull_flipud(out_bar, out, m):
    return np.flipud(out_bar)


@pushforward(np.flipud)
def push_flipud(out, m, m_dot):
    return np.flipud(m_dot)


def opposite(shift):
    """Return how far to roll back."""
    return tuple(-s for s in shift) if isinstance(shift, tuple | list) else -shift


@pullback(np.roll, linear=True)
def pull_roll(out_bar, out, a, *, shift=None, axis=None):
    if isinstance(shift, int):
        return np.roll(out_bar, -shift, axis)
    return np.roll(out_bar, opposite(shift), axis)


@pushforward(np.roll)
def push_roll(out, a, a_dot, *, shift=None, axis=None):
    return np.roll(a_dot, shift, axis)


@pullback(np.rot90, view="always", window=Window())
def pull_rot90(out_bar, out, m, *, k=1, axes=(0, 1)):
    return np.rot90(out_bar, -k, axes)


@pushforward(np.rot90)
def push_rot90(out, m, m_dot, *, k=1, axes=(0, 1)):
    return np.rot90(m_dot, k, axes)


def put_on_diagonal(d, a, offset, axis1=0, axis2=1):
    """Return zeros like a, with d on the diagonal."""
    a_bar = np.zeros_like(a)
    i = np.arange(d.shape[-1])
    rows = np.moveaxis(a_bar, (axis1, axis2), (-2, -1))
    rows[..., i - min(offset, 0), i + max(offset, 0)] = d
    return a_bar


@pullback(np.diag, view="maybe", window=Window(read_only=True, rank=2), masks=True)
def pull_diag(out_bar, out, v, *, k=0):
    if v.ndim == 1:
        return np.diagonal(out_bar, k)
    return put_on_diagonal(out_bar, v, k)


@pushforward(np.diag)
def push_diag(out, v, v_dot, *, k=0):
    return np.diag(v_dot, k)


@pullback(np.diagflat)
def pull_diagflat(out_bar, out, v, *, k=0):
    return np.reshape(np.diagonal(out_bar, k), np.shape(v))


@pushforward(np.diagflat)
def push_diagflat(out, v, v_dot, *, k=0):
    return np.diagflat(v_dot, k)


@pullback(np.diagonal, view="always", window=Window(read_only=True), masks=True, linear=True)
def pull_diagonal(out_bar, out, a, *, offset=0, axis1=0, axis2=1):
    return put_on_diagonal(out_bar, a, offset, axis1, axis2)


@pushforward(np.diagonal)
def push_diagonal(out, a, a_dot, *, offset=0, axis1=0, axis2=1):
    return np.diagonal(a_dot, offset, axis1, axis2)


@pullback(np.linalg.diagonal, view="always", window=Window(read_only=True), masks=True, linear=True)
def pull_last_diagonal(out_bar, out, x, *, offset=0):
    return put_on_diagonal(out_bar, x, offset, -2, -1)


@pushforward(np.linalg.diagonal)
def push_last_diagonal(out, x, x_dot, *, offset=0):
    return np.diagonal(x_dot, offset, -2, -1)


@pullback(np.linalg.trace, masks=True)
def pull_last_trace(out_bar, out, x, *, offset=0):
    eye = np.eye(x.shape[-2], x.shape[-1], offset, dtype=x.dtype)
    return out_bar * eye if x.ndim == 2 else out_bar[..., None, None] * eye


@pushforward(np.linalg.trace)
def push_last_trace(out, x, x_dot, *, offset=0):
    return np.trace(x_dot, offset, -2, -1)


@pullback(np.trace, masks=True)
def pull_trace(out_bar, out, a, *, offset=0, axis1=0, axis2=1):
    if a.ndim == 2 and axis1 == 0 and axis2 == 1:
        return out_bar * np.eye(*a.shape, k=offset, dtype=a.dtype)
    eye = np.eye(a.shape[axis1], a.shape[axis2], offset, dtype=a.dtype)
    spread = out_bar * eye if a.ndim == 2 else out_bar[..., None, None] * eye
    return np.moveaxis(spread, (-2, -1), (axis1, axis2))


@pushforward(np.trace)
def push_trace(out, a, a_dot, *, offset=0, axis1=0, axis2=1):
    return np.trace(a_dot, offset, axis1, axis2)


@pullback(np.tril, masks=True)
def pull_tril(out_bar, out, m, *, k=0):
    if m.ndim == 1:
        return np.sum(np.tril(out_bar, k), axis=0)
    return np.tril(out_bar, k)


@pushforward(np.tril)
def push_tril(out, m, m_dot, *, k=0):
    return np.tril(m_dot, k)


@pullback(np.triu, masks=True)
def pull_triu(out_bar, out, m, *, k=0):
    if m.ndim == 1:
        return np.sum(np.triu(out_bar, k), axis=0)
    return np.triu(out_bar, k)


@pushforward(np.triu)
def push_triu(out, m, m_dot, *, k=0):
    return np.triu(m_dot, k)


@pullback(np.copy)
def pull_copy(out_bar, out, a, *, order="K"):
    return out_bar


@pushforward(np.copy)
def push_copy(out, a, a_dot, *, order="K"):
    return np.copy(a_dot, order)


@pullback(np.ndarray.copy)
def pull_copy_method(out_bar, out, a, *, order="C"):
    return out_bar


@pushforward(np.ndarray.copy)
def push_copy_method(out, a, a_dot, *, order="C"):
    return np.copy(a_dot, order)


@pullback(np.asfortranarray, view="maybe")
def pull_asfortranarray(out_bar, out, a):
    return np.reshape(out_bar, np.shape(a))


@pushforward(np.asfortranarray)
def push_asfortranarray(out, a, a_dot):
    return np.asfortranarray(a_dot)


@pullback(np.ndarray.astype, view="maybe")
def pull_astype(out_bar, out, x, *, dtype=None, copy=True):
    if np.iscomplexobj(out_bar) and not np.iscomplexobj(x):
        out_bar = np.real(out_bar)
    return out_bar.astype(x.dtype)


@pushforward(np.ndarray.astype)
def push_astype(out, x, x_dot, *, dtype=None, copy=True):
    return x_dot.astype(dtype)


if hasattr(np, "astype"):
    pullback(np.astype, view="maybe")(pull_astype)
    pushforward(np.astype)(push_astype)


def item_method(a, *args):
    """Take one element as the method of an array does: `a.item()`, `a.item(3)`, `a.item(0, 1)`."""
    return a.item(*args)


@pullback(item_method, masks=True)
def pull_item(out_bar, out, a, *, args=()):
    a_bar = np.zeros(a.shape, a.dtype)
    if len(args) == 1 and isinstance(args[0], int):
        a_bar[np.unravel_index(args[0] % a.size, a.shape)] = out_bar
    elif len(args) == 1:
        a_bar[args[0]] = out_bar
    elif len(args) > 1:
        a_bar[args] = out_bar
    else:
        a_bar[...] = out_bar
    return a_bar


@pushforward(item_method)
def push_item(out, a, a_dot, *, args=()):
    return a_dot.item(*args)


def get_method(a, stream=None, order="C", out=None):
    """Return a copy on the host, as the method of CuPy's arrays does."""
    return np.array(a, order=order)


@pullback(get_method)
def pull_get(out_bar, out, a, *, stream=None, order="C"):
    return out_bar


@pushforward(get_method)
def push_get(out, a, a_dot, *, stream=None, order="C"):
    return a_dot


def tolist_method(a):
    """Return the numbers of an array in nested lists, as its method does."""
    return a.tolist()


@pullback(tolist_method)
def pull_tolist(out_bar, out, a):
    return np.array(out_bar, a.dtype)


@pushforward(tolist_method)
def push_tolist(out, a, a_dot):
    return a_dot.tolist()


def blocks_shape(reps, shape):
    """Return the shape `(reps[0], shape[0], reps[1], shape[1], ...)` and its even axes."""
    reps = (reps,) if np.ndim(reps) == 0 else tuple(reps)
    ndim = max(len(reps), len(shape))
    reps = (1,) * (ndim - len(reps)) + reps
    shape = (1,) * (ndim - len(shape)) + shape
    blocks = tuple(int(n) for pair in zip(reps, shape, strict=True) for n in pair)
    return blocks, tuple(range(0, 2 * ndim, 2))


@pullback(np.tile, linear=True)
def pull_tile(out_bar, out, A, *, reps=None):
    blocks, copies = blocks_shape(reps, np.shape(A))
    return np.reshape(np.sum(np.reshape(out_bar, blocks), axis=copies), np.shape(A))


@pushforward(np.tile)
def push_tile(out, A, A_dot, *, reps=None):
    return np.tile(A_dot, reps)


def add_repeats(out_bar, a, repeats, axis):
    """Sum each element's repetitions, where every element has a number of its own."""
    a_bar = np.zeros(a.shape, out_bar.dtype)
    index = np.repeat(np.arange(a.shape[axis]), repeats)
    np.add.at(np.moveaxis(a_bar, axis, 0), index, np.moveaxis(out_bar, axis, 0))
    return a_bar


@pullback(np.repeat, masks=True)
def pull_repeat(out_bar, out, a, *, repeats=None, axis=None):
    if isinstance(repeats, int) and axis is None:
        return np.sum(np.reshape(out_bar, (*np.shape(a), repeats)), axis=-1)
    if isinstance(repeats, int):
        axis = axis % a.ndim
        copies = np.reshape(out_bar, (*a.shape[: axis + 1], repeats, *a.shape[axis + 1 :]))
        return np.sum(copies, axis=axis + 1)
    if axis is None:
        return np.reshape(add_repeats(out_bar, np.ravel(a), repeats, 0), a.shape)
    return add_repeats(out_bar, a, repeats, axis)


@pushforward(np.repeat)
def push_repeat(out, a, a_dot, *, repeats=None, axis=None):
    return np.repeat(a_dot, repeats, axis)
