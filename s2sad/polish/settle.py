"""Copies that nobody needs: of what is new anyway, or of what stays as it is until the last use.

x_bar = (a * b).copy()      x_bar = a * b
y = 2.0 * A_bar[1:].copy()  y = 2.0 * A_bar[1:]
t = A_bar[1:].copy()   ->   t = A_bar[1:]         (A_bar and t change only after t is used)
"""

from __future__ import annotations

import gast

from s2sad.known.callees import Callees
from s2sad.nodes import Block, Node, blocks_of, is_whole, names_written
from s2sad.polish.effects import EffectTable, Pure, Sharing, is_compound, root
from s2sad.polish.own import shared_by
from s2sad.stages import Comment
from s2sad.syntax.flow import live_in

Names = frozenset[str]
_LEAVES = (gast.Name, gast.Constant, gast.expr_context, gast.operator)


def settle(
    block: Block,
    live_out: Names,
    pure: Pure,
    sharing: Sharing,
    callees: Callees,
    held: Names,
    owners: Names,
    arrays: Names,
) -> Block:
    """Return a block without needless copies.

    `held` are names made for parts of shadows; `owners` are shadows, which who reads last may have;
    what is written into `arrays` is read at once.
    """
    worker = _Settler(pure, sharing, callees, held, owners, arrays, lent(block))
    live_in(block, live_out, worker.note)
    worker.block(block)
    return block


class _Settler:
    def __init__(
        self,
        pure: Pure,
        sharing: Sharing,
        callees: Callees,
        held: Names,
        owners: Names,
        arrays: Names,
        borrowed: Names,
    ) -> None:
        self.borrowed = borrowed
        self.sharing = sharing
        self.owners = owners
        self.arrays = arrays
        self.effects = EffectTable(pure, sharing)
        self.callees = callees
        self.held = held
        self.live: dict[object, Names] = {}

    def note(self, statement: object, live: Names) -> None:
        self.live[statement] = live

    def block(self, block: Block) -> None:
        for position, s in enumerate(block):
            for part in blocks_of(s):
                self.block(part)
            if isinstance(s, gast.Assign | gast.AugAssign):
                self.statement(block, position, s)
        rest = [s for s in block if not _to_itself(s)]
        if not all(isinstance(s, Comment) for s in rest):
            block[:] = rest

    def statement(self, block: Block, position: int, s: Node) -> None:
        """Drop the copies that one statement makes without need."""
        s.value = self._inside(s.value)
        source = self.callees.copied(s.value)
        if source is None:
            return
        if isinstance(s, gast.AugAssign) or not isinstance(s.targets[0], gast.Name):
            place = getattr(s.targets[0], "value", None) if isinstance(s, gast.Assign) else None
            if isinstance(s, gast.AugAssign) or getattr(place, "id", "") in self.arrays:
                s.value = source  # added, or written into an array: read at once
            return
        target = s.targets[0].id
        new = self.callees.is_new(source) or self._last_use(s, source)
        if new or (target in self.held and self._untouched(block, position, s, source)):
            s.value = source

    def _last_use(self, s: Node, source: Node) -> bool:
        """Say whether a shadow is copied that nobody looks at any more."""
        if not isinstance(source, gast.Name) or source.id not in self.owners - self.borrowed:
            return False
        others = self.sharing.get(source.id, frozenset()) | {source.id}
        return not others & (self.live.get(s, frozenset()) - {s.targets[0].id})

    def _inside(self, node: Node) -> Node:
        """An operand that is only read needs no copy."""
        for f in node._fields if isinstance(node, gast.BinOp | gast.UnaryOp | gast.Call) else ():
            child = getattr(node, f, None)
            if isinstance(child, gast.AST):
                setattr(node, f, self._operand(node, child))
            elif isinstance(child, list) and self._only_reads(node):
                child[:] = [self._operand(node, c) for c in child]
        return node

    def _operand(self, node: Node, child: Node) -> Node:
        if not self._only_reads(node):
            return child
        source = self.callees.copied(child)
        return self._inside(source if source is not None else child)

    def _untouched(self, block: Block, position: int, s: Node, source: Node) -> bool:
        """Say whether neither the copy nor its source changes before the copy's last use here."""
        target = s.targets[0].id
        base = root(source)
        for other in block[position + 1 :]:
            if isinstance(other, Comment):
                continue
            e = self.effects.of(other)
            last = target not in self.live.get(other, frozenset())
            if target in e.reads and (is_compound(other) or self._may_keep(other, target)):
                return False
            if target in e.writes and not last:
                return False
            if e.unknown or target in e.writes:
                return False
            if base in e.writes:
                return last and _whole_statement_first(other)
            if last:
                return True
        return False

    def _may_keep(self, s: Node, variable: str) -> bool:
        """Say whether a statement may hand on the memory of a variable that it reads."""
        if isinstance(s, gast.AugAssign):
            return False
        if not isinstance(s, gast.Assign):
            return True
        shared = shared_by(s.value, self.callees)
        return isinstance(s.targets[0], gast.Name | gast.Tuple) and variable in shared

    def _only_reads(self, node: Node) -> bool:
        """Say whether a call reads its arguments at once and gives something new."""
        if not isinstance(node, gast.Call):
            return True
        return self.callees.is_new(node) and not self.callees.fits(node)


def _to_itself(s: Node) -> bool:
    """Say whether a statement is `x = x`."""
    target = s.targets[0] if isinstance(s, gast.Assign) and len(s.targets) == 1 else None
    return (
        isinstance(target, gast.Name) and isinstance(s.value, gast.Name) and s.value.id == target.id
    )


def _whole_statement_first(s: Node) -> bool:
    """Say whether a statement reads all it needs before it writes."""
    return isinstance(s, gast.Assign | gast.AugAssign)


def lent(block: Block) -> Names:
    """Return the names taken out of what a function was given: that belongs to its caller."""
    parts: list[tuple[set[str], set[str]]] = []
    written: set[str] = set()
    stack = list(block)
    while stack:
        s = stack.pop()
        stack += [inner for part in blocks_of(s) for inner in part]
        if not is_compound(s):
            written |= names_written(s)
        if isinstance(s, gast.Assign) and isinstance(s.value, gast.Name):
            if isinstance(s.targets[0], gast.Tuple | gast.List):
                parts.append((names_written(s), {s.value.id}))
    found: set[str] = set()
    while True:
        more = {n for names, source in parts if source - written or source & found for n in names}
        if more <= found:
            return frozenset(found)
        found |= more


def whole(block: Block) -> Block:
    """Write `A[...] += v` as `A += v`, as a person would."""
    for s in block:
        if isinstance(s, gast.AugAssign) and is_whole(s.target):
            if isinstance(s.target.value, gast.Name):
                s.target = gast.Name(s.target.value.id, gast.Store(), None, None)
        _plain_wholes(s)
        for part in blocks_of(s):
            whole(part)
    return block


def _plain_wholes(node: Node) -> None:
    """Write `A[...]` as `A` where it is read."""
    for f in node._fields:
        child = getattr(node, f, None)
        if isinstance(child, gast.stmt):
            continue
        if isinstance(child, list):
            if child and isinstance(child[0], gast.stmt):
                continue
            for i, c in enumerate(child):
                if isinstance(c, gast.AST):
                    child[i] = _plain(c)
        elif isinstance(child, gast.AST):
            setattr(node, f, _plain(child))


def _plain(node: Node) -> Node:
    if is_whole(node) and isinstance(node.ctx, gast.Load) and isinstance(node.value, gast.Name):
        return node.value
    if not isinstance(node, _LEAVES):
        _plain_wholes(node)
    return node
