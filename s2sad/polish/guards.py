"""Guard clauses come back: what the structured program nests reads better flat.

if x < 0.0:                    if x < 0.0:
    pass              ->           continue
else:                          s = s * x
    s = s * x
"""

from __future__ import annotations

import gast

from s2sad.nodes import Block, Node, blocks_of
from s2sad.stages import Comment


def guards(block: Block) -> Block:
    """Return a block with empty arms turned around, and with guard clauses in loops."""
    return _block(block, in_loop=False)


def _block(block: Block, in_loop: bool) -> Block:
    out: Block = []
    for position, s in enumerate(block):
        last = position == len(block) - 1
        if isinstance(s, gast.For | gast.While):
            s.body = _block(s.body, True) or [gast.Pass()]
            out.append(s)
        elif isinstance(s, gast.If):
            out += _if(s, in_loop and last)
        elif isinstance(s, gast.Try):
            out += _try(s)
        else:
            for part in blocks_of(s):
                part[:] = _block(part, False) or [gast.Pass()]
            out.append(s)
    return out


def _try(s: Node) -> Block:
    """Drop the parts of a try statement in which nothing happens, and one that is left alone."""
    for h in s.handlers:
        h.body = _block(h.body, False) or [gast.Pass()]
    s.body = _block(s.body, False) or [gast.Pass()]
    for part in (s.orelse, s.finalbody):
        part[:] = [] if _empty(part) else _block(part, False)
    if s.handlers or s.finalbody:
        return [s]
    return [part for part in (*s.body, *s.orelse) if not isinstance(part, gast.Pass)]


def _if(s: Node, tail: bool) -> Block:
    s.body = _block(s.body, tail)
    s.orelse = _block(s.orelse, tail)
    if _empty(s.body) and not _empty(s.orelse):
        if tail:
            rest = s.orelse
            s.body, s.orelse = [gast.Continue()], []
            return [s, *rest]
        if not _is_chain(s.orelse):
            s.test, s.body, s.orelse = _negated(s.test), s.orelse, []
            return [s]
        s.body = [gast.Pass()]
    if _empty(s.orelse):
        s.orelse = []
    elif tail and isinstance(s.body[-1], gast.Break | gast.Continue):
        rest = s.orelse
        s.orelse = []
        return [s, *rest]
    if not s.body:
        s.body = [gast.Pass()]
    return [s]


def _empty(block: Block) -> bool:
    return all(isinstance(s, gast.Pass | Comment) for s in block)


def _is_chain(block: Block) -> bool:
    return len(block) == 1 and isinstance(block[0], gast.If) and bool(block[0].orelse)


_OPPOSITE = {
    gast.Eq: gast.NotEq,
    gast.NotEq: gast.Eq,
    gast.Is: gast.IsNot,
    gast.IsNot: gast.Is,
    gast.In: gast.NotIn,
    gast.NotIn: gast.In,
}


def _negated(test: Node) -> Node:
    """Return the opposite test; order comparisons are not turned around (nan)."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    if isinstance(test, gast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE:
        return gast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)
    return gast.UnaryOp(gast.Not(), test)
