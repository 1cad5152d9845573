"""Loops over values and their tangents together.

for x in xs                    for x, x_dot in zip(xs, xs_dot)
for i, x in enumerate(xs)      for i, (x, x_dot) in enumerate(zip(xs, xs_dot))
for x, y in zip(xs, ys)        for x, y, x_dot in zip(xs, ys, xs_dot)
"""

from __future__ import annotations

import dataclasses

from s2sad import kinds as K
from s2sad.errors import Error
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.zero_tangents import tangent_of
from s2sad.primitives import language as L


def woven(t: Tangents, over: Operand, target: P.Target) -> tuple[Operand, P.Target]:
    """Return what a loop runs over and binds, with tangents where what it binds has them."""
    if not any(map(t.table.carries, P.flat(target))):
        return over, target
    made = maker_of(t, over)
    fn = made.operands[0].kind if made and isinstance(made.operands[0], P.Outer) else None
    called = fn.value if isinstance(fn, K.Known) else None
    if made is not None and called is enumerate and isinstance(target, tuple):
        inner, bound = woven(t, made.operands[1], target[1])
        return _again(t, made, (inner, *made.operands[2:])), (target[0], bound)
    if made is not None and called is zip and isinstance(target, tuple):
        return _zipped(t, made, target)
    if isinstance(_kind(over), K.Iterable_) and not t.has(over):
        raise _unseen(t)
    if not t.has(over):
        raise _unseen(t)
    both = t.emit(L.CALL, (P.Outer("zip", K.Known(zip)), over, t.maybe(over)), K.UNKNOWN)
    return both, (target, _dots(t, target))


def _unseen(t: Tangents) -> Error:
    return t.cannot(
        "s2sad has no tangents for the iterable of this loop, so it cannot run over values and "
        "tangents together.",
        "Loop over a list, a tuple, an array, range, enumerate or zip.",
    )


def _zipped(t: Tangents, made: Op, target: tuple[P.Target, ...]) -> tuple[Operand, P.Target]:
    sources, targets = list(made.operands[1:]), list(target)
    if len(sources) != len(targets) or any(isinstance(s, P.Spread) for s in sources):
        raise _unseen(t)
    for i, (source, part) in enumerate(zip(made.operands[1:], target, strict=True)):
        if any(map(t.table.carries, P.flat(part))):
            if isinstance(_kind(source), K.Iterable_) and not t.has(source):
                assert not isinstance(source, P.Spread)
                sources[i], targets[i] = woven(t, source, part)
                continue
            sources.append(tangent_of(t, source))
            targets.append(_dots(t, part))
    return _again(t, made, sources), tuple(targets)


def _dots(t: Tangents, target: P.Target) -> P.Target:
    if isinstance(target, Var):
        return t.bind(target) if t.table.carries(target) else Var("", K.UNKNOWN)
    return tuple(_dots(t, part) for part in target)


def maker_of(t: Tangents, over: Operand) -> Op | None:
    """Return the call in this block that makes an iterable."""
    for op in reversed(t.ops):
        if isinstance(op, Op) and over in op.outs and op.primitive is L.CALL:
            return op
    return None


def _again(t: Tangents, made: Op, operands: tuple[Operand, ...] | list[Operand]) -> Operand:
    out = Var("", made.outs[0].kind)
    given = (made.operands[0], *operands)
    t.add(dataclasses.replace(made, outs=(out,), operands=given))
    return out


def _kind(operand: Operand) -> K.Kind:
    return operand.kind if isinstance(operand, Var | P.Outer) else K.UNKNOWN
