"""What is added twice to a part of a shadow is added once, doubled.

x_bar[i] += t_bar * x
x_bar[i] += t_bar * x      ->      x_bar[i] += 2.0 * t_bar * x
"""

from __future__ import annotations

from typing import Any

import gast

from s2sad.nodes import Block, Node, blocks_of, constant, key, names_read, number
from s2sad.polish.effects import EffectTable, root


def doubled(block: Block, effects: EffectTable) -> Block:
    """Return a block in which equal additions one after the other are one."""
    out: Block = []
    for s in block:
        for part in blocks_of(s):
            part[:] = doubled(part, effects)
        last = out[-1] if out else None
        if last is not None and _same_sum(last, s) and _steady(s, effects):
            last.value = _twice(last.value)
            effects.forget(last)
        else:
            out.append(s)
    return out


def _same_sum(one: Node, other: Node) -> bool:
    return (
        isinstance(one, gast.AugAssign)
        and isinstance(other, gast.AugAssign)
        and isinstance(one.op, gast.Add | gast.Sub)
        and isinstance(one.value, gast.BinOp)
        and isinstance(one.value.op, gast.Mult)
        and _key(one) == _key(other)
    )


def _key(s: Node) -> Any:
    return type(s.op), key(s.target), key(s.value)


def _steady(s: Node, effects: EffectTable) -> bool:
    """Say whether an addition leaves alone what it reads, and calls nothing."""
    base = root(s.target)
    changed = effects.sharing.get(base, frozenset()) | {base}
    read = names_read(s.value)
    if isinstance(s.target, gast.Subscript):
        read |= names_read(s.target.slice)
    return not effects.of(s).unknown and not read & changed


def _twice(value: Node) -> Node:
    """Return twice a product, with the 2.0 in front."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        return gast.BinOp(_twice(value.left), value.op, value.right)
    known = number(value)
    if known is not None:
        return constant(2.0 * known)
    return gast.BinOp(constant(2.0), gast.Mult(), value)
