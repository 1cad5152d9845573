"""A value that stands for an array of which it is repeated along axes: in a product, by kinds.

np.broadcast_to(c, x.shape) * x     c * x
"""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.ir import identities as I
from s2sad.ir.deeds import kind_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.primitives import language as L
from s2sad.rulebook.facts import numbers_of


def repeated_in(op: Op | None) -> Operand | None:
    """Return the number, or the array, that is repeated: x in np.broadcast_to(x, shape).

    What sums over axes has the same form, but for an array of the same kind it does nothing, too.
    """
    if op is None or op.primitive is not L.CALL or len(op.outs) != 1 or len(op.operands) != 3:
        return None
    callee, value, _ = op.operands
    fn, kind = I.function_of(callee), op.outs[0].kind
    if (
        fn is None
        or op.settings
        or numbers_of(fn).form != "fitted"
        or not isinstance(kind, K.Array)
    ):
        return None
    if isinstance(value, Var) and isinstance(value.kind, K.Array):
        return value if _widens(value.kind, kind) else None
    return value if isinstance(kind_of(value), K.Num) else None


def _widens(one: K.Array, other: K.Array) -> bool:
    """Say whether an array becomes one of a kind by being repeated along axes, if at all."""
    pairs = zip(one.dims[::-1], other.dims[::-1], strict=False)
    same = all(d == K.ONE or K.same_length(d, e) for d, e in pairs)
    return same and one.rank <= other.rank and one.dtype == other.dtype


def of_one_sort(one: Kind, other: Kind) -> bool:
    """Say whether two kinds are of arrays of one shape and dtype."""
    if not isinstance(one, K.Array) or not isinstance(other, K.Array):
        return False
    return one.dtype == other.dtype and K.same_shape(one.dims, other.dims)
