"""Memory that is written in place: whether the backward sweep puts back what it held.

    forward sweep                           backward sweep
    u_0 = u[i]                              ...
    u[i] = f(u[:i])                         u[i] = u_0
                                            u_bar[:i] += ... u[:i] ...

At each point of the backward sweep such memory holds what it held there before. What reads it needs
no copy then. It is put back where that is cheaper than copies; else it stays what it is in the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.memories import Memories, memories
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.linear.operands import kind_of
from s2sad.primitives import language as L

_ITEMS = ("put item", "augmented item")
_SHOWS = ("item", "field", "look", "same", "unpack")
_NUMBER = 0.1  # what it costs to keep a number, of what it costs to keep an array


@dataclass(frozen=True)
class Written:
    """Which memory is written when: `order` are all operations, each with the loops around it.

    What is `open` may be written by others as well. The `roots` name the memory that is put back,
    `undone` are the operations that are undone for that. Others are `fragile`: they may run half.
    """

    memory: Memories
    order: Mapping[P.Operation, tuple[int, tuple[P.Region, ...]]]
    writes: Mapping[Var, tuple[P.Operation, ...]]
    given: frozenset[Var]
    open: bool
    roots: frozenset[Var] = frozenset()
    undone: frozenset[P.Operation] = frozenset()
    fragile: frozenset[P.Operation] = frozenset()

    def after(self, op: P.Operation, v: Var) -> bool:
        """Say whether the memory of a variable may be written behind an operation."""
        return self.open or any(self.follows(w, op) for w in self.of(v))

    def of(self, v: Var) -> list[P.Operation]:
        """Return what may write the memory of a variable."""
        root = self.memory.of(v)
        if root is None:
            return []
        mixed = self.memory.is_outside(root)
        may_be = [r for r in self.writes if r is root or (mixed and self._may_be_mixed(r))]
        found = [w for r in may_be for w in self.writes[r]]
        return [w for w in found if not _moves(w)] if _is_of_arrays(v.kind) else found

    def _may_be_mixed(self, root: Var) -> bool:
        """Say whether memory may be found in what a function of which nothing is known gives."""
        return self.memory.is_outside(root) or root in self.given

    def sharing(self, some: Iterable[Var]) -> list[list[Var]]:
        """Return those of some variables that may share memory, together."""
        found: dict[Var, list[Var]] = {}
        for v in some:
            root = self.memory.of(v)
            if root is not None:
                found.setdefault(root, []).append(v)
        mixed = [v for r, vs in found.items() if self._may_be_mixed(r) for v in vs]
        outside = any(map(self.memory.is_outside, found))
        return [*found.values(), mixed] if outside else [*found.values()]

    def follows(self, later: P.Operation, op: P.Operation) -> bool:
        """Say whether an operation may run after another one."""
        at, loops = self.order[op]
        behind, around = self.order[later]
        return behind > at or not {*loops}.isdisjoint(around)

    def is_back(self, v: Var, op: P.Operation) -> bool:
        """Say whether memory is put back to what it held at an operation: all later writes are."""
        later = (w for w in self.of(v) if self.follows(w, op))
        return self.memory.of(v) in self.roots and self.undone.issuperset(later)

    def meanwhile(
        self, made: P.Operation | None, used: P.Operation, v: Var
    ) -> Iterator[P.Operation]:
        """Yield what may write the memory of a variable after it is bound and before a use.

        What no operation binds is there from the start.
        """
        first, around = (-1, ()) if made is None else self.order[made]
        last, loops = self.order[used]
        for w in self.of(v):
            at, others = self.order[w]
            again = {*loops} & {*others} - {*around}
            if at > first and (at < last or again):
                yield w

    def still(self, made: P.Operation, op: P.Operation, v: Var) -> bool:
        """Say whether nobody writes the memory of a variable between two operations."""
        if made not in self.order or op not in self.order:
            return False
        (first, around), (last, loops) = self.order[made], self.order[op]
        found = (self.order[w][0] for w in self.of(v))
        return around == loops and not any(first < at < last for at in found)

    def stays(self, op: P.Operation, later: P.Operation, v: Var) -> bool:
        """Say whether memory holds the same before an operation and a later one of its block."""
        if self.open or op not in self.order or later not in self.order:
            return False
        first, last = self.order[op][0], self.order[later][0]
        return first <= last and not any(first <= self.order[w][0] < last for w in self.of(v))


def _is_of_arrays(kind: K.Kind) -> bool:
    """Say whether a value is an array, or a tuple of such and of numbers."""
    if isinstance(kind, K.Tuple):
        return kind.cls is None and all(map(_is_of_arrays, kind.items))
    return isinstance(kind, K.Array | K.Num)


def _moves(operation: P.Operation) -> bool:
    """Say whether a write puts arrays into a list or a dict, or takes them out, and changes none.

    xs.append(u)       xs is written; in an array that it holds stands what stood there
    """
    if not isinstance(operation, Op) or operation.primitive.form not in _MOVES:
        return False
    owners = {p.object for p in operation.writes}
    return owners == {operation.operands[0]} and isinstance(
        kind_of(operation.operands[0]), K.List | K.AnyDict
    )


_MOVES = ("put item", "drop item", "method")
_REBIND = ("bind", "forget")


def written(program: P.Program, block: P.Block, open_: bool) -> Written:
    """Return what a program writes when; `block` is the same with tangents."""
    order = {op: (i, loops) for i, (op, loops) in enumerate(_ordered(block, ()))}
    inner = P.Block((), program.block.ops, program.block.end)  # parameters are known apart
    memory = memories(replace(program, block=inner))
    own = {*P.every(program.block)}
    for op in order:  # what the program with tangents reads beside what the program reads
        if isinstance(op, Op) and op not in own and op.primitive.form in _SHOWS:
            memory.join((*op.outs, op.operands[0]))
        elif isinstance(op, Op) and op not in own and op.primitive is L.TUPLE:
            memory.join((*op.outs, *op.operands))
    given = frozenset(r for r in map(memory.of, program.block.params) if r is not None)
    writes: dict[Var, list[P.Operation]] = {}
    for op in order:
        for place in op.writes if isinstance(op, Op) else ():
            owner = place.object
            rebinds = isinstance(op, Op) and op.primitive.form in _REBIND
            if not isinstance(owner, Var) or (owner.cell and rebinds):
                continue
            root = memory.of(owner)  # of a cell: a call may write what is in it
            if root is not None:
                writes.setdefault(root, []).append(op)
    found = {r: tuple(ops) for r, ops in writes.items()}
    return Written(memory, order, found, given, open_, fragile=frozenset(_fragile(block)))


def _fragile(block: P.Block) -> Iterator[P.Operation]:
    """Yield the operations that may be left behind half way, and those of tests of loops."""
    for op in P.every(block):
        if isinstance(op, P.Try | P.With):
            yield from (o for b in P.blocks(op) for o in P.every(b))
        elif isinstance(op, P.While):
            yield from P.every(op.test)


def _ordered(
    block: P.Block, loops: tuple[P.Region, ...]
) -> Iterator[tuple[P.Operation, tuple[P.Region, ...]]]:
    """Yield all operations with the loops around them."""
    for op in block.ops:
        yield op, loops
        if not isinstance(op, Op):
            inner = (*loops, op) if isinstance(op, P.For | P.While | P.Collect) else loops
            for b in P.blocks(op):
                yield from _ordered(b, inner)


def undo(op: Op, makers: Mapping[Var, Op]) -> tuple[tuple[Op, ...], Op]:
    """Return what keeps what an operation overwrites, and what puts it back."""
    owner, kind = op.operands[0], _part(op)
    assert isinstance(owner, Var) and kind is not None
    given = P.Const(...) if op.primitive.form == "augmented" else op.operands[1]
    kept = Var(f"{owner.name}_0" if owner.name else "", kind)
    if given == P.Const(...):
        shown, keeping = owner, list[Op]()
    else:
        shown = Var("", kind) if isinstance(kind, K.Array) else kept
        index, keeping = _again(given, makers)
        reads = (Place(owner, (P.Item(index),)),)
        keeping.append(Op((shown,), L.ITEM, (owner, index), (), reads, (), op.origin))
    if shown is not kept:
        copied = (Place(shown),)
        keeping.append(Op((kept,), L.method("copy"), (shown,), (), copied, (), op.origin))
    places = (Place(owner, (P.Item(given),)),)
    return tuple(keeping), Op((), L.PUT_BACK, (owner, given, kept), (), (), places, op.origin)


def _again(index: Operand, makers: Mapping[Var, Op]) -> tuple[Operand, list[Op]]:
    """Return an index that is used once more, and what computes it."""
    maker = makers.get(index) if isinstance(index, Var) else None
    if maker is None or maker.primitive.form not in ("slice", "tuple", "infix", "prefix"):
        return index, []
    ops: list[Op] = []
    parts = []
    for o in maker.operands:
        part, more = _again(o, makers)
        parts.append(part)
        ops += more
    (out,) = maker.outs
    made = Var(out.name, out.kind)
    return made, [*ops, replace(maker, outs=(made,), operands=tuple(parts))]


def _part(op: P.Operation) -> K.Kind | None:
    """Return the kind of what an operation overwrites in an array, if that can be undone."""
    if not isinstance(op, Op) or not op.operands:
        return None
    kind = kind_of(op.operands[0])
    if not isinstance(kind, K.Array) or not kind.rank:
        return None
    if op.primitive.form == "augmented":
        return kind
    part = dict(op.settings).get("part") if op.primitive.form in _ITEMS else None
    return part if isinstance(part, K.Num | K.Array) else None


def put_back(
    found: Written, reads: Mapping[Op, tuple[Var, ...]], handed: frozenset[Var]
) -> Written:
    """Choose the memory that is put back; `reads` are arrays that operations on tangents read.

    What is `handed` to others is not put back.
    """
    roots: set[Var] = set()
    undone: set[P.Operation] = set()
    for root, writes in found.writes.items():
        if any(w in found.fragile for w in writes):
            continue
        known = root in handed or found.memory.is_outside(root)
        if known or not all(_part(w) for w in writes):
            continue
        readers = [(op, v) for op, vs in reads.items() for v in vs if found.memory.of(v) is root]
        readers = [(op, v) for op, v in readers if found.after(op, v)]
        needed = [w for w in writes if any(found.follows(w, op) for op, _ in readers)]
        copies = sum(_often(found, op) for op, _ in readers)
        kept = sum(_often(found, w) * _weight(w) for w in needed)
        if readers and kept < copies:
            roots.add(root)
            undone |= {*needed}
    return replace(found, roots=frozenset(roots), undone=frozenset(undone))


def _often(found: Written, op: P.Operation) -> float:
    """Return how often an operation runs, a loop taken for ten rounds."""
    return float(10 ** len(found.order[op][1]))


def _weight(op: P.Operation) -> float:
    return _NUMBER if isinstance(_part(op), K.Num) else 1.0
