"""What is added to the cotangent of an operand, in its shape and dtype.

z = k * u       a number times an array      k_bar gets np.sum(z_bar * u)
z = u + row     the row is broadcast         row_bar gets unbroadcast(z_bar, row.shape)
"""

from __future__ import annotations

import dataclasses

import numpy as np

from s2sad import kinds as K
from s2sad import runtime
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand
from s2sad.kinds import Kind
from s2sad.known.mixed import is_mixed
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import NotYet, Tangents, tangent_kind
from s2sad.modes.shapes import NARROW, dtype_of
from s2sad.primitives import language as L

_WIDE = ("float64", "complex128")


def fit(t: Tangents, value: Operand, kind: Kind, operand: Operand) -> Operand:
    """Return a contribution, which has the kind of a result, for an operand that made it."""
    target = kind_of(operand)
    if isinstance(kind, K.Union) or isinstance(target, K.Union):
        shape = t.call(t.table.outer(np, "shape"), (operand,), K.UNKNOWN)
        helper = t.table.helper(runtime.unbroadcast)
        made = K.UNKNOWN if is_mixed(kind) else tangent_kind(target)  # the run tells if it is real
        value = t.call(helper, (value, shape), made)
    elif isinstance(kind, K.Array) and isinstance(target, K.Num):
        value = t.call(t.table.outer(np, "sum"), (value,), tangent_kind(target))
    elif isinstance(kind, K.Array) and isinstance(target, K.Array):
        value = _unbroadcast(t, value, kind, target, operand)
    return cast(t, value, kind, operand)


def fit_stored(t: Tangents, value: Operand, part: Kind, stored: Operand) -> Operand:
    """Return what a part of memory passes back to what was stored there.

    A wide value that is stored in a narrow array has a wide cotangent.
    """
    value, target = fit(t, value, part, stored), kind_of(stored)
    narrow = dtype_of(part) in NARROW and dtype_of(target) in _WIDE
    if not narrow or not isinstance(target, K.Array) or not target.rank:
        return value
    return t.emit(L.method("astype"), (value, t.table.outer(np, str(target.dtype))), target)


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
        shape = t.emit(L.field("shape"), (operand,), K.UNKNOWN)
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
    out = t.call(t.table.outer(np, "sum"), (value,), tangent_kind(target))
    last = t.ops[-1]
    assert isinstance(last, Op)
    kept = (("keepdims", P.Const(True)),) if keep else ()
    t.ops[-1] = dataclasses.replace(last, settings=(("axis", axis), *kept))
    return out


def cast(t: Tangents, value: Operand, kind: Kind, operand: Operand) -> Operand:
    """Give a contribution its operand's dtype where the operation's is another."""
    target = kind_of(operand)
    if is_mixed(target):
        return value
    maybe = K.is_complex(kind) or is_mixed(kind)
    if maybe and not K.is_complex(target) and K.is_numeric(target):
        value = t.call(t.table.outer(np, "real"), (value,), tangent_kind(target))
    if any(isinstance(k, K.Array) and k.namespace != "numpy" for k in K.options(kind)):
        raise NotYet("a cotangent on a device")
    wide, narrow = dtype_of(kind), dtype_of(target)
    if isinstance(target, K.Num) and target.dtype is None and wide in NARROW:
        plain = float if target.type == "float" else complex
        return t.call(P.Outer(target.type, K.Known(plain)), (value,), target)
    if isinstance(target, K.Num) and target.dtype in _WIDE and wide in NARROW:
        return t.call(t.table.outer(np, str(target.dtype)), (value,), target)
    if narrow not in NARROW or wide == narrow:
        return value
    dtype = t.table.outer(np, str(narrow))
    if isinstance(target, K.Array) and target.rank:
        return t.emit(L.method("astype"), (value, dtype), target)
    if isinstance(target, K.Num):
        return t.call(dtype, (value,), target)
    raise NotYet("a cotangent of a narrow array without axes")
