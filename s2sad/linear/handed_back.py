"""Derivatives as the caller gets them: in the class of their parameters, or parts of them.

x_bar                                   np.array(x_bar, dtype=np.float32), of an array without axes
p_bar, of a named tuple                 type(p)(*p_bar)
model_bar, where a part is asked for    model_bar.params["W"]
"""

from __future__ import annotations

from dataclasses import replace

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.powers import may_turn_complex
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.known.dtypes import NARROW, dtype_of
from s2sad.linear.both_sweeps import BothSweeps
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Tangents
from s2sad.primitives import language as L
from s2sad.requests import Request
from s2sad.selected import Selected, part_at


def derivatives(t: Tangents, found: BothSweeps, request: Request) -> list[Operand]:
    """Return the derivatives that are asked for, in their order."""
    params = {v.name: v for v in found.program.block.params}
    bars = dict(zip(request.wrt, found.made.bars, strict=True))
    return [
        _picked(t, one, bars[one.parameter], params[one.parameter].kind)
        if one.path
        else like(t, found, bars[one.parameter], params[one.parameter])
        for one in request.results()
    ]


def like(t: Tangents, found: BothSweeps, bar: Operand, given: Var) -> Operand:
    """Return a cotangent in the class of its parameter.

    The product of a number and a narrow array is narrow.
    """
    kind = given.kind
    odd = any(may_turn_complex(b.function, b.kinds) for b in t.table.derivation.analysed.values())
    if odd and not K.holds_complex(kind):
        check = runtime.real if isinstance(kind, K.Num | K.Array) else runtime.all_real
        bar = t.call(t.table.helper(check), (bar,), kind_of(bar))
    if isinstance(kind, K.Array) and not kind.rank:
        return _of_dtype(t, t.table.numpy("array", kind), bar, kind)
    if isinstance(kind, K.Array) and kind.dtype in _WIDE and _mixes(found):
        dtype = t.table.numpy(kind.dtype, kind)
        made = t.emit(L.method("astype"), (bar, dtype), kind)
        _settings(t, ("copy", P.Const(False)))
        return made
    if isinstance(kind, K.Num) and kind.type == "float" and kind.dtype is None and _mixes(found):
        return t.call(P.Outer("float", K.Known(float)), (bar,), kind)
    if not isinstance(kind, K.Tuple) or kind.cls is None or not isinstance(bar, Var):
        return bar
    cls = t.call(P.Outer("type", K.Known(type)), (given,), K.UNKNOWN)
    made = Var("", kind)
    t.add(Op((made,), L.CALL, (cls, P.Spread(bar)), (), (), (), t.origin))
    return made


_WIDE = ("float64", "complex128")


def _of_dtype(t: Tangents, fn: P.Outer, bar: Operand, kind: K.Array) -> Var:
    made = t.call(fn, (bar,), kind)
    _settings(t, ("dtype", t.table.numpy(kind.dtype, kind)))
    return made


def _settings(t: Tangents, *settings: tuple[str, Operand]) -> None:
    """Give the last operation settings."""
    last = t.ops[-1]
    assert isinstance(last, Op)
    t.ops[-1] = replace(last, settings=settings)


def _mixes(found: BothSweeps) -> bool:
    """Say whether there is anything of less than double precision in a function."""
    known = (k for v in found.linear.values for k in K.options(v.kind))
    return any(isinstance(k, K.Array | K.Num) and dtype_of(k) in NARROW for k in known)


def _picked(t: Tangents, one: Selected, bar: Operand, kind: Kind) -> Operand:
    """Return the part of a cotangent that is asked for."""
    for word in one.path:
        step, inner = part_at(kind, word)
        if isinstance(kind, K.Obj):
            bar = t.emit(L.field(word), (bar,), inner)
        else:
            bar = t.emit(L.ITEM, (bar, P.Const(step)), inner)
        kind = inner
    return bar
