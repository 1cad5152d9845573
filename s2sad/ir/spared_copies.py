"""Copies of arrays that nobody needs: a part stays what it is for as long as it is read.

    t_bar = u_bar[:, 0].copy()
    u_bar[:, 0] = 0.0                u_bar[:, 1] += u_bar[:, 0]
    u_bar[:, 1] += t_bar             u_bar[:, 0] = 0.0

    t_bar = u_bar.copy()
    x_bar += t_bar * x               x_bar += u_bar * x
    u_bar[...] = t_bar * y           u_bar[...] = u_bar * y

Before: a derived program. After: the same, where derived code reads parts in the place of copies.
A copy goes if nobody writes it or knows it, and nobody writes what was copied before it is read for
the last time. One literal may be written there: that is done behind the last reader then, if all
that is met in between is another part.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Set
from dataclasses import dataclass, field, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.accesses import Access, Accesses, accesses
from s2sad.ir.makers import uses_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted, with_blocks
from s2sad.primitives import language as L

_COPY = L.method("copy")


def without_copies(program: P.Program, own: Set[Var]) -> P.Program:
    """Return a program that reads parts of arrays; the user's `own` copies stay."""
    if not any(_is_copy(op, own) for op in P.every(program.block)):
        return program
    worker = _Worker(accesses(program), uses_of(program), own)
    block = worker.block(program.block)
    return replace(program, block=substituted(block, worker.same) if worker.same else block)


def _is_copy(op: P.Operation, own: Set[Var]) -> bool:
    if not isinstance(op, Op) or op.primitive is not _COPY or op.settings:
        return False
    return isinstance(op.operands[0], Var) and op.outs[0] not in own


@dataclass(frozen=True)
class _Spared:
    """How a copy goes: what shows the part, where its last reader stands, what is moved there.

    Nothing shows all of an array.
    """

    shows: Op | None
    last: int
    moved: Access | None


@dataclass
class _Worker:
    """What is `found` is kept as it is while copies go. Classes of memory that are one with another
    now are `merged`, and stores have been `moved`. A copy of all of an array is the `same` then.
    """

    found: Accesses
    uses: Counter[Var]
    own: Set[Var]
    merged: set[Var] = field(default_factory=set)
    moved: set[P.Operation] = field(default_factory=set)
    same: dict[Var, Operand] = field(default_factory=dict)

    def block(self, block: P.Block) -> P.Block:
        made: dict[P.Operation, P.Operation] = {}
        behind: dict[int, list[P.Operation]] = {}
        gone: set[P.Operation] = set()
        for k, op in enumerate(block.ops):
            if not isinstance(op, Op):
                made[op] = with_blocks(op, self.block)
                continue
            spared = self.spared(block, k, op) if _is_copy(op, self.own) else None
            if spared is None:
                continue
            if spared.shows is not None:
                made[spared.shows] = replace(spared.shows, outs=op.outs)
            else:
                self.same[op.outs[0]] = op.operands[0]
            gone.add(op)
            store = spared.moved
            if store is not None and store.op is not None:
                gone.add(store.op)
                behind.setdefault(spared.last, []).append(store.op)
            self.note(op, spared, self.found.ends[block.ops[spared.last]])
        ops: list[P.Operation] = []
        for k, one in enumerate(block.ops):
            ops += [] if one in gone else [made.get(one, one)]
            ops += behind.get(k, ())
        return P.Block(block.params, tuple(ops), block.end)

    def note(self, op: Op, spared: _Spared, end: float) -> None:
        """Note that a part is read in the place of a copy, and where a store stands now."""
        of, parts = self.found.of, self.found.parts
        (given,) = op.operands
        assert isinstance(given, Var)
        whole, root = parts.memory.of(given), parts.memory.of(op.outs[0])
        assert whole is not None and root is not None
        self.merged.add(root)
        index, base = parts.met(given), parts.base(given)
        of[whole] += [replace(met, part=index, base=base) for met in of.get(root, ())]
        store = spared.moved
        if store is not None and store.op is not None:
            self.moved.add(store.op)
            stand = replace(store.stand, at=end + 0.5)
            of[whole][of[whole].index(store)] = replace(store, stand=stand)

    def spared(self, block: P.Block, at: int, op: Op) -> _Spared | None:
        """Return how a copy goes, if it may."""
        (given,), (out,), found = op.operands, op.outs, self.found
        assert isinstance(given, Var)
        parts, shows = found.parts, found.parts.shows(given)
        whole, root = parts.memory.of(given), parts.memory.of(out)
        if whole is None or root is None or whole in self.merged or not _are_arrays(given, out):
            return None
        if shows is None or shows.primitive is not L.ITEM:
            shows = None
        elif shows not in block.ops[:at] or self.uses[given] != 1:
            return None
        if not parts.is_plain(whole) or not self.is_ours(root):
            return None
        readers = found.of.get(root, ())
        if not readers or any(met.writes for met in readers):
            return None
        starts = [found.stands[o].at for o in block.ops]
        last = bisect_right(starts, max(met.stand.at for met in readers)) - 1
        start, end = starts[at], found.ends[block.ops[last]]
        index, base = parts.met(given), parts.base(given)
        between = [
            met
            for met in found.of[whole]
            if start < met.stand.at <= end and not found.are_others(base, met)
        ]
        writes = [m for m in between if m.writes and not parts.are_apart(index, m.part)]
        if parts.memory.is_outside(whole):
            mine = [m.op for m in between]
            if not all(self.is_quiet(o, whole, mine) for o in block.ops[at + 1 : last + 1]):
                return None
        if not writes:
            return _Spared(shows, last, None)
        store = writes[0]
        others = [m for m in between if m.stand.at > store.stand.at]
        may = len(writes) == 1 and self.may_wait(store, block, last, readers)
        if may and all(parts.are_apart(store.part, m.part) for m in others):
            return _Spared(shows, last, store)
        return None

    def is_quiet(self, op: P.Operation, whole: Var, mine: Container[P.Operation | None]) -> bool:
        """Say whether an operation writes nothing but parts of an array, under a name that is met.

        Memory that others know may have many names.
        """
        if not isinstance(op, Op):
            return False
        memory = self.found.parts.memory
        deed = memory.deeds[op]
        roots = {memory.of(v) for v in deed.writes if isinstance(v, Var)}
        if deed.acts or deed.draws or len(deed.writes) > 1:
            return False
        return not deed.writes or (roots == {whole} and op in mine)

    def is_ours(self, root: Var) -> bool:
        """Say whether all variables of a class are a copy, or parts of it that are read here."""
        parts = self.found.parts
        bases = [v for v in parts.members[root] if v in parts.gets or parts.shows(v) is None]
        return parts.is_plain(root) and not parts.memory.is_outside(root) and len(bases) == 1

    def may_wait(self, store: Access, block: P.Block, last: int, readers: Iterable[Access]) -> bool:
        """Say whether a store of a literal may stand behind an operation that undoes the same.

        What is computed of the copy must not wait for that: it would need a name. What several
        operations read has one.
        """
        op, end = store.op, block.ops[last]
        if not isinstance(op, Op) or op not in block.ops or op in self.moved or store.reads:
            return False
        plain = op.primitive is L.PUT_ITEM and isinstance(op.operands[2], P.Const)
        together = isinstance(op.origin, P.Undone) and op.origin is end.origin
        if not (plain and together and isinstance(end, Op)):
            return False
        if not end.writes and not all(self.uses[v] > 1 for v in end.outs):
            return False
        rest = uses_of(P.Program("", P.Block((), block.ops[last + 1 :], P.End("next")), None))
        made = [v for met in readers if met.op not in (None, end) for v in _outs(met.op)]
        return op.operands[0] not in self.own and not any(rest[v] for v in made)


def _are_arrays(*some: Var) -> bool:
    """Say whether values are arrays with axes, in variables that are bound once."""
    return all(isinstance(v.kind, K.Array) and v.kind.rank and not v.cell for v in some)


def _outs(op: P.Operation | None) -> tuple[Var, ...]:
    return () if op is None else op.outs
