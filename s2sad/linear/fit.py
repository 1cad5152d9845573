"""What is added to the cotangent of an operand, in its shape and dtype.

z = k * u       a number times an array      k_bar gets np.sum(z_bar * u)
z = u + row     the row is broadcast         row_bar gets unbroadcast(z_bar, row.shape)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from s2sad import kinds as K
from s2sad import runtime
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.known.dtypes import NARROW, dtype_of
from s2sad.known.lifted import lifted, space_among
from s2sad.known.mixed import is_mixed
from s2sad.known.spaces import NUMPY
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Tangents, tangent_kind
from s2sad.primitives import language as L

_WIDE = ("float64", "complex128")


def fit(
    t: Tangents, value: Operand, kind: Kind, operand: Operand, others: Sequence[Operand] = ()
) -> Operand:
    """Return a contribution, which has the kind of a result, for an operand that made it.

    `others` are the operands beside it: where these are numbers, or the operand itself, nothing was
    broadcast.
    """
    target = kind_of(operand)
    if isinstance(kind, K.Union) or isinstance(target, K.Union):
        alone = bool(others) and all(o is operand or isinstance(kind_of(o), K.Num) for o in others)
        if alone or _never_broadcast(kind, target):
            return cast(t, value, kind, operand)
        shape = t.call(t.table.numpy("shape", kind, target), (operand,), K.UNKNOWN)
        helper = t.table.helper(runtime.unbroadcast)
        made = K.UNKNOWN if is_mixed(kind) else tangent_kind(target)  # the run tells if it is real
        value = t.call(helper, (value, shape), made)
    elif isinstance(kind, K.Array) and isinstance(target, K.Num):
        if kind.rank or kind.namespace == NUMPY:
            total = lifted(tangent_kind(target), kind.namespace)
            value = t.call(t.table.numpy("sum", kind), (value,), total)
    elif isinstance(kind, K.Array) and isinstance(target, K.Array):
        value = _unbroadcast(t, value, kind, target, operand)
    return cast(t, value, kind, operand)


def _never_broadcast(kind: Kind, target: Kind) -> bool:
    """Say whether a result of some kinds has the shape of what has a derivative in an operand.

    What is a literal on some path has none there: nobody takes the cotangent.
    """
    if all(map(_has_no_axes, (*K.options(kind), *K.options(target)))):
        return True
    shapes = [_dims_of(k) for k in K.options(kind)]
    return all(
        K.same_shape(_dims_of(k), dims)
        for k in K.carriers(target)
        for dims in shapes
        if len(_dims_of(k)) <= len(dims)
    )


def _dims_of(kind: Kind) -> tuple[K.Dim, ...]:
    return kind.dims if isinstance(kind, K.Array) else ()


def _has_no_axes(kind: Kind) -> bool:
    return isinstance(kind, K.Num | K.NoneKind) or (isinstance(kind, K.Array) and not kind.rank)


def fit_stored(t: Tangents, value: Operand, part: Kind, stored: Operand) -> Operand:
    """Return what a part of memory passes back to what was stored there.

    A wide value that is stored in a narrow array has a wide cotangent.
    """
    value, target = fit(t, value, part, stored), kind_of(stored)
    narrow = dtype_of(part) in NARROW and dtype_of(target) in _WIDE
    if not narrow or not isinstance(target, K.Array) or not target.rank:
        return value
    return t.emit(L.method("astype"), (value, t.table.numpy(str(target.dtype), target)), target)


def _unbroadcast(
    t: Tangents, value: Operand, kind: K.Array, target: K.Array, operand: Operand
) -> Operand:
    """Sum over the axes along which an operand was broadcast."""
    extra = kind.rank - target.rank
    axes: list[int] = []
    unsure = extra < 0
    for position, dim in enumerate(target.dims if not unsure else ()):
        full = kind.dims[extra + position]
        if K.same_length(dim, full) or dim.many:
            continue
        if dim == K.ONE:
            axes.append(position)
        elif not t.table.assumes(dim):
            unsure = True
    made = tangent_kind(target)
    if unsure:
        shape = t.emit(L.field("shape"), (operand,), K.Tuple((K.INT,) * target.rank))
        return t.call(t.table.helper(runtime.unbroadcast), (value, shape), made)
    if extra:
        value = _summed(t, value, list(range(extra)), target, keep=False)
    if axes:
        value = _summed(t, value, axes, target, keep=True)
    return value


def _summed(t: Tangents, value: Operand, axes: list[int], target: K.Array, keep: bool) -> Operand:
    """Return a sum along some axes."""
    places = [P.Const(i) for i in axes]
    axis: Operand = places[0] if len(places) == 1 else t.emit(L.TUPLE, places, K.UNKNOWN)
    kept = {"keepdims": P.Const(True)} if keep else {}
    fn = t.table.numpy("sum", kind_of(value), target)
    return called_with(t, fn, value, tangent_kind(target), axis=axis, **kept)


def cast(t: Tangents, value: Operand, kind: Kind, operand: Operand) -> Operand:
    """Give a contribution its operand's dtype where the operation's is another."""
    target = kind_of(operand)
    if is_mixed(target):
        return value
    maybe = K.is_complex(kind) or is_mixed(kind)
    if maybe and not K.is_complex(target) and K.is_numeric(target):
        made = lifted(tangent_kind(target), space_among((kind,)))
        value = t.call(t.table.numpy("real", kind), (value,), made)
    value = _crossed(t, value, kind, target)
    wide, narrow = dtype_of(kind), dtype_of(target)
    if isinstance(target, K.Num) and target.dtype is None and wide in NARROW:
        plain = float if target.type == "float" else complex
        return t.call(P.Outer(target.type, K.Known(plain)), (value,), target)
    if isinstance(target, K.Num) and target.dtype in _WIDE and wide in NARROW:
        return t.call(t.table.outer(np, str(target.dtype)), (value,), target)
    if narrow not in NARROW or wide == narrow:
        return value
    dtype = t.table.numpy(str(narrow), target)
    if isinstance(target, K.Array) and target.rank:
        return t.emit(L.method("astype"), (value, dtype), target)
    if isinstance(target, K.Num):
        return t.call(dtype, (value,), target)
    made = tangent_kind(target)
    return called_with(t, t.table.numpy("asarray", target), value, made, dtype=dtype)


def _crossed(t: Tangents, value: Operand, kind: Kind, target: Kind) -> Operand:
    """Return a contribution where its operand is: it goes back the way that the value came.

    That of a number on the host is a number there, too.
    """
    spaces = {k.namespace for k in K.options(kind) if isinstance(k, K.Array)}
    if spaces - {NUMPY} and isinstance(target, K.Num) and K.differentiable(target):
        plain = float if target.type == "float" else complex
        value = t.call(P.Outer(target.type, K.Known(plain)), (value,), replace(target, dtype=None))
        if target.dtype in (None, "any"):
            return value
        return t.call(t.table.outer(np, str(target.dtype)), (value,), target)
    if not isinstance(kind, K.Array) or not isinstance(target, K.Array):
        return value
    if kind.namespace == target.namespace:
        return value
    there = "asnumpy" if target.namespace == NUMPY else "asarray"
    return t.call(t.table.numpy(there, kind, target), (value,), tangent_kind(target))


def called_with(t: Tangents, fn: P.Outer, value: Operand, kind: Kind, **settings: Operand) -> Var:
    """Call a function of an array with settings by name."""
    out, reads = t.call(fn, (value,), kind), t.ops[-1]
    assert isinstance(reads, Op)
    t.ops[-1] = replace(reads, settings=tuple(settings.items()))
    return out
