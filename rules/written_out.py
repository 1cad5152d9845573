"""What calls functions, as Python: derived as if the user had written it."""

import typing

import numpy as np

from s2sad.registry import TOLD, written_out


def on_rows(func1d, rows, *args, **kwargs):
    """Return what a function makes of all that lies along the last axis, and of what kind."""
    if rows.ndim == 2:
        found = [func1d(row, *args, **kwargs) for row in rows]
    elif rows.ndim == 3:
        found = [func1d(row, *args, **kwargs) for part in rows for row in part]
    elif rows.ndim == 4:
        found = [func1d(row, *args, **kwargs) for whole in rows for part in whole for row in part]
    else:
        raise NotImplementedError("apply_along_axis has a derivative of up to four axes only")
    made = np.array(found, dtype=np.asarray(found[0]).dtype.type)
    if rows.ndim == 2:
        return made
    return np.reshape(made, rows.shape[:-1] + made.shape[1:])


@written_out(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """What a row becomes stands where the row was."""
    arr = np.asarray(arr)
    rows = np.moveaxis(arr, axis, -1)
    if arr.ndim == 1:
        return np.array(func1d(rows, *args, **kwargs))
    if 0 in rows.shape[:-1]:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    made = on_rows(func1d, rows, *args, **kwargs)
    first = axis % arr.ndim
    if made.ndim == arr.ndim:
        return np.moveaxis(made, -1, first)
    if made.ndim == arr.ndim + 1:
        return np.moveaxis(np.moveaxis(made, -2, first), -1, first + 1)
    return made


@written_out(np.apply_over_axes)
def apply_over_axes(func, a, axes):
    """All axes are kept, as with keepdims."""
    val = np.asarray(a)
    if isinstance(axes, int):
        axes = (axes,)
    for axis in axes:
        place = axis % val.ndim
        made = func(val, place)
        if made.ndim != val.ndim:
            made = np.expand_dims(made, place)
        val = made
    return val


@written_out(np.ufunc.reduce, of=("__self__",))
def reduce(ufunc, array, axis=0, *, initial=None):
    """From left to right along one axis."""
    rows = np.moveaxis(array, axis, 0)
    total = np.positive(rows[0]) if initial is None else ufunc(initial, rows[0])
    for row in rows[1:]:
        total = ufunc(total, row)
    return total


@written_out(np.ufunc.accumulate, of=("__self__",))
def accumulate(ufunc, array, axis=0):
    """From left to right."""
    rows = np.moveaxis(array, axis, 0)
    made = np.array(rows)
    for i in range(1, len(rows)):
        made[i] = ufunc(made[i - 1], rows[i])
    return np.moveaxis(made, 0, axis)


@written_out(np.ufunc.reduceat, of=("__self__",))
def reduceat(ufunc, array, indices, axis=0):
    """Each part ends where the next one begins; if that is not further on, it is one row."""
    rows = np.moveaxis(array, axis, 0)
    ends = [*indices[1:], len(rows)]
    made = []
    for start, end in zip(indices, ends, strict=True):
        total = rows[start]
        for i in range(start + 1, end):
            total = ufunc(total, rows[i])
        made.append(total)
    return np.moveaxis(np.array(made), 0, axis)


@written_out(np.ufunc.outer, of=("__self__",))
def outer(ufunc, A, B):
    """Every entry of A with every entry of B."""
    A, B = np.asarray(A), np.asarray(B)
    if B.ndim == 0:
        return ufunc(A, B)
    if B.ndim == 1:
        return ufunc(A[..., None], B)
    if B.ndim == 2:
        return ufunc(A[..., None, None], B)
    if B.ndim == 3:
        return ufunc(A[..., None, None, None], B)
    raise NotImplementedError("outer has a derivative of up to three axes on the right only")


@written_out(np.vectorize, of=("pyfunc",))
def on_elements(pyfunc, first, /, *rest):
    """The first result says of what kind all are."""
    if len(rest) == 0:
        whole = np.asarray(first)
        flat = np.ravel(whole)
        return in_shape(pyfunc(flat[0]), [pyfunc(a) for a in flat.tolist()], np.shape(whole))
    wholes = np.broadcast_arrays(first, *rest)
    flats = tuple(np.ravel(w) for w in wholes)
    firsts = tuple(flat[0] for flat in flats)
    rows = list(zip(*tuple(flat.tolist() for flat in flats), strict=False))
    return in_shape(pyfunc(*firsts), [pyfunc(*row) for row in rows], np.shape(wholes[0]))


@written_out(TOLD, of=("pyfunc", "otypes"))
def on_elements_as(pyfunc, otypes, first, /, *rest):
    """As np.vectorize with otypes= does: nothing is tried."""
    if len(rest) == 0:
        whole = np.asarray(first)
        found = [pyfunc(a) for a in np.ravel(whole).tolist()]
    else:
        wholes = np.broadcast_arrays(first, *rest)
        whole = wholes[0]
        rows = list(zip(*tuple(np.ravel(w).tolist() for w in wholes), strict=False))
        found = [pyfunc(*row) for row in rows]
    if not isinstance(found[0], tuple):
        return np.reshape(np.array(found, dtype=otypes[0]), np.shape(whole))
    raise NotImplementedError("np.vectorize with otypes= has a derivative of one result only")


@written_out(np.vectorize, beside=True)
def vectorize(pyfunc, otypes=None):
    """A function of arrays, in which one of numbers is applied to each element."""
    if otypes is None:
        return lambda first, /, *rest: on_elements(pyfunc, first, *rest)
    return lambda first, /, *rest: on_elements_as(pyfunc, otypes, first, *rest)


@written_out()
def in_shape(trial, found, shape):
    """Return an array of results of the kind of a first one, or one for each of several."""
    if not isinstance(trial, tuple):
        return np.reshape(np.array(found, dtype=np.asarray(trial).dtype.type), shape)
    one = np.array([r[0] for r in found], dtype=np.asarray(trial[0]).dtype.type)
    two = np.array([r[1] for r in found], dtype=np.asarray(trial[1]).dtype.type)
    if len(trial) == 2:
        return np.reshape(one, shape), np.reshape(two, shape)
    raise NotImplementedError("np.vectorize has a derivative of up to two results only")


@written_out(np.fromfunction, beside=True)
def fromfunction(function, shape, *, dtype="float64"):
    """A function of all indices at once."""
    at = np.indices(shape, dtype=dtype)
    if len(shape) == 1:
        return function(at[0])
    if len(shape) == 2:
        return function(at[0], at[1])
    if len(shape) == 3:
        return function(at[0], at[1], at[2])
    raise NotImplementedError("np.fromfunction has a derivative of up to three axes only")


@written_out(typing.cast)
def cast(typ, val):
    """Return the value: what type checkers take it for changes nothing."""
    return val
