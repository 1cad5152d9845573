"""Drop what nobody needs: assignments never read, empty branches and loops, stray headings.

t = np.sin(x)                 (t is read nowhere)
rounds += 1            ->     (a count that only counts)
if arm == 0:
    pass
"""

from __future__ import annotations

import gast

from s2sad.nodes import Block, Node, blocks_of, is_constant, names_read, names_written
from s2sad.polish.effects import EffectTable, mutated_by, pure_expression, root
from s2sad.stages import Comment, Replay, Restore, RestorePart, Save, SavePart, Undo
from s2sad.syntax.flow import before_restore, before_restore_part, every_round, free_names

Names = frozenset[str]
_PLACES = (gast.Subscript, gast.Attribute)


def prune(
    block: Block,
    live_out: Names,
    effects: EffectTable,
    local: Names | None = None,
    pinned: Names = frozenset(),
) -> Block:
    """Return a block without what its results do not need.

    `live_out` are the names read behind it. Writes into a part of a variable that is in `local`
    (made up by the transformer) count only where the variable is read afterwards. What is bound
    to `pinned` names stays: inner functions read them.
    """
    worker = _Pruner(effects, local or frozenset(), pinned)
    kept, _ = worker.block(block, live_out, frozenset())
    return tidy(kept)


def pruned(
    block: Block,
    live_out: Names,
    effects: EffectTable,
    local: Names | None = None,
    pinned: Names = frozenset(),
) -> tuple[Block, bool]:
    """Return the block that `prune` returns, and whether anything is gone."""
    before = size_of(block)
    block = prune(block, live_out, effects, local, pinned)
    return block, size_of(block) != before


def size_of(block: Block) -> int:
    """Return how many statements a block has, those of inner blocks included."""
    return len(block) + sum(size_of(part) for s in block for part in blocks_of(s))


class _Pruner:
    def __init__(self, effects: EffectTable, local: Names, pinned: Names) -> None:
        self.effects = effects
        self.pinned = pinned
        self.local = local
        self.guarded = False

    def block(self, block: Block, live: Names, exits: Names) -> tuple[Block, Names]:
        kept: Block = []
        for s in reversed(block):
            new, live = self.statement(s, live, exits)
            if new is not None:
                kept.append(new)
        kept.reverse()
        return kept, live

    def statement(self, s: Node, live: Names, exits: Names) -> tuple[Node | None, Names]:
        kind = type(s)
        if kind is gast.Assign:
            return self._assign(s, live)
        if kind is Comment or kind is gast.Pass:
            return s, live
        if kind is Undo:
            return s, live
        if kind is Restore:
            return s, before_restore(s, live)
        if kind is RestorePart or kind is Replay:
            return s if live & s.sharing else None, before_restore_part(s, live)
        if kind is Save:
            return s, live | {s.name}
        if kind is SavePart:
            return s, live | names_read(s)
        if kind is gast.Break:
            return s, exits
        if kind is gast.AugAssign:
            return self._augmented(s, live)
        if kind is gast.Expr:
            return self._effect(s, live)
        self.effects.forget(s, inside=False)
        if kind is gast.If:
            return self._if(s, live, exits)
        if kind is gast.For or kind is gast.While:
            return self._loop(s, live)
        if kind is gast.Return or kind is gast.Raise:
            return s, frozenset(names_read(s))
        if kind is gast.FunctionDef:
            if s.name not in live:
                return None, live
            return s, (live - {s.name}) | free_names(s)
        if kind is gast.Match:
            out = live
            for case in s.cases:
                case.body, inside = self.block(case.body, live, exits)
                inside |= names_read(case.guard) if case.guard is not None else set()
                out |= inside - names_written(case.pattern)
            return s, out | names_read(s.subject)
        if kind is gast.Try:
            return self._try(s, live, exits)
        for part in blocks_of(s):
            part[:], inside = self.block(part, live, exits)
            live |= inside
        return s, (live - (set() if blocks_of(s) else names_written(s))) | names_read(s)

    def _try(self, s: Node, live: Names, exits: Names) -> tuple[Node | None, Names]:
        """What may raise in the body stays: that is what the handlers are for."""
        thrown: Names = frozenset()
        if s.finalbody:
            s.finalbody, live = self.block(s.finalbody, live, exits)
            thrown = live
        for h in s.handlers:
            h.body, inside = self.block(h.body, live, exits)
            bound = names_written(h.name) if isinstance(h.name, gast.AST) else {h.name}
            thrown |= (inside - bound) | (names_read(h.type) if h.type is not None else set())
        s.orelse, other = self.block(s.orelse, live, exits)
        around = self.pinned, self.guarded
        self.pinned, self.guarded = self.pinned | thrown, True
        s.body, inside = self.block(s.body, other, exits)
        self.pinned, self.guarded = around
        if _empty(s.body) and _empty(s.orelse) and _empty(s.finalbody):
            return None, live
        return s, inside | thrown

    def _silent(self, node: Node) -> bool:
        """Say whether nobody can tell that an expression is not evaluated."""
        if self.guarded:
            return isinstance(node, gast.Name) or is_constant(node)
        return pure_expression(node, self.effects.pure)

    def _assign(self, s: Node, live: Names) -> tuple[Node | None, Names]:
        read, written = self.effects.names(s)
        value = s.value
        if type(value) is gast.Name and len(s.targets) == 1:
            target = s.targets[0]
            if type(target) is gast.Name and target.id == value.id:
                return None, live
        needed = bool(written & live or written & self.pinned) or any(
            self._needed(t, live) for t in s.targets if isinstance(t, _PLACES)
        )
        if not needed and self._silent(s.value):
            return None, live
        left = live if live.isdisjoint(written) else live - written
        return s, left if read <= left else left | read

    def _needed(self, place: Node, live: Names) -> bool:
        return self._content_needed(root(place), live)

    def _content_needed(self, owner: str, live: Names) -> bool:
        """Say whether somebody reads what is written into a variable's memory."""
        shared = self.effects.sharing.get(owner, frozenset()) | {owner}
        return bool(shared & live) or bool(shared - self.local)

    def _augmented(self, s: Node, live: Names) -> tuple[Node | None, Names]:
        if isinstance(s.target, gast.Name):
            needed = self._content_needed(s.target.id, live)
        else:
            needed = self._needed(s.target, live)
        if not needed and self._silent(s.value):
            return None, live
        return s, live | self.effects.names(s)[0]

    def _effect(self, s: Node, live: Names) -> tuple[Node | None, Names]:
        if isinstance(s.value, gast.Call):
            owner = mutated_by(s.value)
            if owner is not None and not self._content_needed(owner, live):
                if not self.guarded or all(map(self._silent, s.value.args)):
                    return None, live
        elif self._silent(s.value):
            return None, live
        return s, live | self.effects.names(s)[0]

    def _if(self, s: Node, live: Names, exits: Names) -> tuple[Node | None, Names]:
        s.body, then = self.block(s.body, live, exits)
        s.orelse, other = self.block(s.orelse, live, exits)
        if _empty(s.body) and _empty(s.orelse) and self._silent(s.test):
            return None, live
        return s, then | other | names_read(s.test)

    def _loop(self, s: Node, live: Names) -> tuple[Node | None, Names]:
        is_for = type(s) is gast.For
        header = names_read(s.iter if is_for else s.test)
        bound = names_written(s.target) if is_for else set()
        current = live if is_for else live | header
        always = every_round(s) if is_for else header
        while True:
            inside = _copy_blocks(s.body)
            _, start = self.block(inside, current, live)
            start = (start - bound) | live | always
            if start <= current:
                break
            current |= start
        s.body, _ = self.block(s.body, current, live)
        if is_for and _empty(s.body) and not bound & live:
            if self._silent(s.iter):
                return None, live
        return s, current | header


def _copy_blocks(block: Block) -> Block:
    """Copy the statement lists of a block (not the statements without blocks)."""
    out: Block = []
    for s in block:
        if type(s) in (gast.If, gast.For, gast.While):
            copy = type(s)()
            for f in s._fields:
                setattr(copy, f, getattr(s, f, None))
            copy.body = _copy_blocks(s.body)
            copy.orelse = _copy_blocks(s.orelse)
            out.append(copy)
        elif type(s) is gast.Match:
            cases = [gast.match_case(c.pattern, c.guard, _copy_blocks(c.body)) for c in s.cases]
            out.append(gast.Match(s.subject, cases))
        elif type(s) is gast.With:
            out.append(gast.With(s.items, _copy_blocks(s.body), None))
        elif type(s) is gast.Try:
            handlers = [
                gast.ExceptHandler(h.type, h.name, _copy_blocks(h.body)) for h in s.handlers
            ]
            body, orelse, final = map(_copy_blocks, (s.body, s.orelse, s.finalbody))
            out.append(gast.Try(body, handlers, orelse, final))
        else:
            out.append(s)
    return out


def _empty(block: Block) -> bool:
    return all(isinstance(s, Comment | gast.Pass) for s in block)


def tidy(block: Block) -> Block:
    """Drop headings with nothing under them, at the end of a block or repeated."""
    out: Block = []
    last: object = None
    for s in block:
        if isinstance(s, gast.Pass) and len(block) > 1:
            continue
        for part in blocks_of(s):
            part[:] = tidy(part)
            last = None
        if isinstance(s, Comment) and s.text:
            origin = getattr(s, "origin", s)
            if out and isinstance(out[-1], Comment) and out[-1].text:
                out.pop()
                last = _heading_before(out)
            if origin is last:
                continue
            last = origin
        out.append(s)
    while out and isinstance(out[-1], Comment):
        out.pop()
    if len(out) > 1 and isinstance(out[-1], gast.Return) and isinstance(out[-2], Comment):
        if out[-2].text:
            del out[-2]
    return out


def _heading_before(block: Block) -> object:
    for s in reversed(block):
        if isinstance(s, Comment) and s.text:
            return getattr(s, "origin", s)
        if blocks_of(s):
            return None
    return None
