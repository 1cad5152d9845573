"""Operands as the rules want them: arrays for lists, floats for narrow integers.

np.power(x, n), n of uint8      the partial of x reads n.astype(np.float64): n - 1 may be 255
np.convolve(x, [1, 2])          the pullback reads np.asarray([1, 2])
"""

from __future__ import annotations

import dataclasses

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.program import Operand, Var
from s2sad.kinds import Kind
from s2sad.known.dtypes import dtype_of
from s2sad.known.samples import stacked
from s2sad.linear.operand_binding import Bound
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import NOTHING, Tangents
from s2sad.linear.tangents_of import Computed, sequences_made_arrays
from s2sad.primitives import language as L
from s2sad.rulebook.facts import EXACT

_NARROW_INTEGERS = frozenset("int8 int16 int32 uint8 uint16 uint32 uint64".split())
_REALS = {"float16": "float16", "float32": "float32", "complex64": "float32"}


def as_floats(t: Tangents, told: Computed, bound: Bound) -> dict[str, Operand]:
    """Return operands of narrow integers, or truth values, as floats: the operation makes such.

    A rule that adds, multiplies or takes a logarithm would do it in the integers' own dtype; truth
    values cannot be negated. What a choice tests stays a truth value.
    """
    form = registry.numbers_of(told.fn).form
    found: dict[str, Operand] = {}
    if form in EXACT:
        return found
    wanted = _REALS.get(str(dtype_of(told.out.kind)), "float64")
    for n, (operand, _) in bound.arrays.items():
        kind = kind_of(operand)
        dtype = dtype_of(kind)
        if dtype in _NARROW_INTEGERS:
            found[n] = _as_float(t, operand, kind, wanted)
        elif form == "power" and n == "y" and (dtype == "bool" or kind == K.BOOL):
            found[n] = _as_number(t, operand, kind)
        elif dtype == "bool" and form != "choice":
            found[n] = _as_float(t, operand, kind, wanted)
    return found


def as_arrays(t: Tangents, told: Computed, bound: Bound) -> dict[str, Operand]:
    """Return lists and tuples that have no tangent as the arrays that the operation makes of them.

    Those that have one are made arrays together with their tangents, before.
    """
    listed = sequences_made_arrays(told.fn)
    found: dict[str, Operand] = {}
    for n, (operand, dot) in bound.arrays.items():
        kind = kind_of(operand)
        array = stacked(kind) if isinstance(kind, listed) and dot == NOTHING else None
        if array is not None:
            found[n] = t.call(t.table.numpy("asarray", array), (operand,), array)
    return found


def _as_float(t: Tangents, operand: Operand, kind: Kind, dtype: str) -> Var:
    there = t.table.numpy(dtype, kind)
    if isinstance(kind, K.Array):
        made = dataclasses.replace(kind, dtype=dtype)
        return t.emit(L.method("astype"), (operand, there), made)
    return t.call(there, (operand,), K.Num("float", dtype))


def _as_number(t: Tangents, operand: Operand, kind: Kind) -> Var:
    """Return truth values as the numbers they are to a power: nothing is subtracted of them."""
    made: Kind = K.Num("int", "int64")
    if isinstance(kind, K.Array):
        made = dataclasses.replace(kind, dtype="int64")
    return t.call(t.table.numpy("multiply", kind), (operand, P.Const(1)), made)
