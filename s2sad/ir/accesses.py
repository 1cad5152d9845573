"""Where a program meets memory, and which of two operations may run after the other.

for t in range(n):
    s += u[t]             reads a part of u; in a later round also behind what writes it
    u[t] = 0.0            writes a part of u
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.bounds import Bounds
from s2sad.ir.deeds import kind_of
from s2sad.ir.memories import Memories, memories
from s2sad.ir.parts import Index, Parts
from s2sad.ir.program import Op, Operand, Var
from s2sad.rulebook.facts import numbers_of


@dataclass(frozen=True)
class Stand:
    """Where an operation stands: its number, the loops around it, the arms of branches it is in."""

    at: float
    loops: tuple[P.Region, ...] = ()
    arms: tuple[tuple[P.Region, int], ...] = ()


@dataclass(frozen=True)
class Access:
    """An operation, or the end of a block, that reads or writes a part of an array, the `base`."""

    stand: Stand
    op: P.Operation | None
    part: Index
    base: Var
    reads: bool = True
    writes: bool = False


@dataclass(frozen=True)
class Accesses:
    """Where operations stand, where each of them `ends`, and what meets each class of memory."""

    parts: Parts
    stands: Mapping[P.Operation, Stand]
    ends: Mapping[P.Operation, int]
    of: dict[Var, list[Access]]

    def are_others(self, base: Var, met: Access) -> bool:
        """Say whether an operation surely meets another array than one, though of the same class.

        A tuple of arrays makes their memory one class.
        """
        return base is not met.base and all(map(self.parts.is_own_array, (base, met.base)))

    def is_calm(self, ops: Sequence[P.Operation], but: Var | None = None) -> bool:
        """Say whether operations write no memory that others know, `but` that of a class.

        Such memory may have many names.
        """
        memory = self.parts.memory
        for op in P.every(P.Block((), tuple(ops), P.End("next"))):
            deed = memory.deeds[op] if isinstance(op, Op) else None
            if deed is None:
                continue
            roots = [memory.of(v) for v in (*deed.writes, *deed.draws) if isinstance(v, Var)]
            if deed.acts or any(r is None or (r != but and memory.is_outside(r)) for r in roots):
                return False
        return True

    def may_pass(self, op: Op, ops: Sequence[P.Operation]) -> bool:
        """Say whether nobody meets what a sum adds to in operations before it, under any name."""
        owner, parts = op.operands[0], self.parts
        root = parts.memory.of(owner) if isinstance(owner, Var) else None
        if root is None or not isinstance(owner, Var):
            return False
        if not ops:
            return True
        if not self.stands.keys() >= {*ops}:
            return False  # a pass has put something there
        if parts.memory.is_outside(root) and not self.is_calm(ops):
            return False
        part = parts.met(owner, op.operands[1] if len(op.operands) == 3 else None)
        base, first = parts.base(owner), min(self.stands[o].at for o in ops)
        last = max(self.ends[o] for o in ops)
        met = (m for m in self.of.get(root, ()) if first <= m.stand.at <= last and m.op is not op)
        return all(
            self.are_others(base, m) or (parts.is_plain(root) and parts.are_apart(part, m.part))
            for m in met
        )

    def may_follow(self, one: Stand, other: Stand) -> Iterator[P.Region | None]:
        """Yield how another operation may run after one: in the same round of all loops around
        both (None), or in a later round of one of them.
        """
        arms = dict(one.arms)
        chosen = any(arms.get(region, k) != k for region, k in other.arms)
        if other.at > one.at and not chosen:
            yield None
        for mine, others in zip(one.loops, other.loops, strict=False):
            if mine is not others:
                return
            yield mine


def accesses(program: P.Program, together: Iterable[Sequence[Var]] = ()) -> Accesses:
    """Return where a program meets memory; some variables may share theirs `together`."""
    walk = _Walk(memories(program))
    for shared in together:
        walk.memory.join(shared)
    walk.block(program.block, _Around())
    found: dict[Var, list[Access]] = {}
    for met in walk.met:
        root = walk.memory.of(met.v)
        if root is not None:
            part = walk.parts.met(met.v, met.index)
            base = walk.parts.base(met.v)
            access = Access(met.stand, met.op, part, base, met.reads, met.writes)
            found.setdefault(root, []).append(access)
    return Accesses(walk.parts, walk.stands, walk.ends, found)


@dataclass(frozen=True)
class _Around:
    """What stands around a block: loops, arms, and what takes up its results."""

    loops: tuple[P.Region, ...] = ()
    arms: tuple[tuple[P.Region, int], ...] = ()
    takes: tuple[Var, ...] | None = None
    leaves: tuple[Var, ...] = ()


@dataclass(frozen=True)
class _Met:
    """A variable that an operation meets; or a part of it, under an index."""

    stand: Stand
    op: P.Operation | None
    v: Var
    index: Operand | None = None
    reads: bool = True
    writes: bool = False


@dataclass
class _Walk:
    memory: Memories
    bounds: Bounds = field(default_factory=Bounds)
    members: dict[Var, list[Var]] = field(default_factory=dict)
    gets: dict[Var, list[Operand]] = field(default_factory=dict)
    stands: dict[P.Operation, Stand] = field(default_factory=dict)
    ends: dict[P.Operation, int] = field(default_factory=dict)
    met: list[_Met] = field(default_factory=list)
    at: int = 0
    parts: Parts = field(init=False)

    def __post_init__(self) -> None:
        self.parts = Parts(self.memory, self.bounds, self.members, self.gets)

    def bind(self, bound: Sequence[Var], around: _Around) -> None:
        for v in bound:
            self.bounds.around[v] = around.loops
            root = self.memory.of(v)
            if root is not None:
                self.members.setdefault(root, []).append(v)

    def hand(self, takes: Sequence[Var], results: Sequence[Operand]) -> None:
        for v, given in zip(takes, results, strict=False):
            self.gets.setdefault(v, []).append(given)

    def stand(self, around: _Around) -> Stand:
        self.at += 1
        return Stand(self.at, around.loops, around.arms)

    def note(self, stand: Stand, op: P.Operation | None, given: Sequence[Operand]) -> None:
        """Note that an operation may read, and write, all of some values."""
        for v in filter(None, map(P.variable, given)):
            self.met.append(_Met(stand, op, v, writes=True))

    def block(self, block: P.Block, around: _Around) -> None:
        self.bind(block.params, around)
        for operation in block.ops:
            stand = self.stands[operation] = self.stand(around)
            if isinstance(operation, Op):
                self.bounds.makers |= dict.fromkeys(operation.outs, operation)
                self.bind(operation.outs, around)
                self.op(operation, stand)
            else:
                self.bind(operation.outs, around)
                self.region(operation, around)
            self.ends[operation] = self.at
        takes = around.leaves if block.end.how == "break" else around.takes
        if block.end.how in ("next", "break") and takes is not None:
            self.hand(takes, block.end.results)
        else:
            self.note(self.stand(around), None, block.end.results)

    # operations

    def op(self, op: Op, stand: Stand) -> None:
        """Note what an operation reads and writes of the memory that it is given."""
        form, given = op.primitive.form, op.operands
        owner = given[0] if given else None
        array = isinstance(owner, Var) and isinstance(owner.kind, K.Array) and not owner.cell
        if array and isinstance(owner, Var):
            if form in ("put item", "augmented item"):
                reads = form == "augmented item"
                self.met.append(_Met(stand, op, owner, given[1], reads, True))
                self.read(op, stand, given[1:])
                return
            if form == "augmented":
                self.met.append(_Met(stand, op, owner, None, True, True))
                self.read(op, stand, given[1:])
                return
            if form == "item":
                shows = all(isinstance(v.kind, K.Array) for v in op.outs)
                if not shows or self.parts.copies(given[1]):
                    self.met.append(_Met(stand, op, owner, given[1]))
                self.read(op, stand, given[1:])
                return
            if form == "field" or (form == "same" and isinstance(op.outs[0].kind, K.Array)):
                return  # its shape, or a name for it
        if form == "discard" or (form == "call" and is_of_shape(op)):
            return
        if op.primitive.effect in ("none", "reads") and not op.writes:
            self.read(op, stand, P.operands(op))
            return
        deed = self.memory.deeds[op]
        if deed.acts:
            self.note(stand, op, P.operands(op))
            return
        self.read(op, stand, P.operands(op))
        self.note(stand, op, [*deed.writes, *deed.draws])

    def read(self, op: Op, stand: Stand, given: Sequence[Operand]) -> None:
        self.met += [_Met(stand, op, v) for v in filter(None, map(P.variable, given))]

    # regions

    def region(self, region: P.Region, around: _Around) -> None:
        inner = replace(around, takes=region.outs)
        match region:
            case P.If():
                for k, block in enumerate((region.then, region.orelse)):
                    self.block(block, replace(inner, arms=(*around.arms, (region, k))))
            case P.For():
                self.loop(region, region.body.params, around)
            case P.While():
                self.loop(region, region.carried, around)
            case P.Collect():
                into = replace(around, loops=(*around.loops, region), takes=None)
                self.drawn(region, into)
                self.block(region.body, into)
            case P.With():
                self.note(self.stand(around), region, (region.manager,))
                self.bind(P.bound(region), around)
                self.block(region.body, inner)
            case P.Try():
                self.attempt(region, around)
            case P.Match():
                self.note(self.stand(around), region, (region.subject,))
                for c in region.cases:
                    self.bind(c.bound, around)
                    if c.guard is not None:
                        self.block(c.guard, replace(around, takes=()))
                    self.block(c.body, inner)

    def loop(self, loop: P.For | P.While, heads: tuple[Var, ...], around: _Around) -> None:
        into = replace(around, loops=(*around.loops, loop), takes=heads, leaves=loop.outs)
        self.hand(heads, loop.starts)
        self.hand(loop.outs, heads)
        if isinstance(loop, P.While):
            self.bind(heads, into)
            self.block(loop.test, replace(into, takes=()))
        else:
            self.drawn(loop, into)
            if isinstance(loop.target, Var):
                self.bounds.loops[loop.target] = loop
        self.block(loop.body, into)

    def drawn(self, region: P.For | P.Collect, into: _Around) -> None:
        """Each round reads what it draws."""
        self.note(self.stand(into), region, (region.over,))
        self.bind(P.flat(region.target), into)

    def attempt(self, region: P.Try, around: _Around) -> None:
        self.block(region.body, replace(around, takes=()))
        arms = replace(around, takes=region.of_arms)
        for h in region.handlers:
            if h.kind is not None:
                self.block(h.kind, replace(around, takes=()))
            if h.caught is not None:
                self.bind((h.caught,), around)
            self.block(h.body, arms)
        self.block(region.orelse, arms)
        self.block(region.final, replace(around, takes=region.of_final))


def is_of_shape(op: Op) -> bool:
    """Say whether a function reads shapes and dtypes of arrays alone."""
    known = kind_of(op.operands[0])
    return isinstance(known, K.Known) and numbers_of(known.value).of_shape
