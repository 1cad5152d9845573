"""What the backward sweep computes once more, so that nobody has to keep it.

    for i in range(n):                      for i in range(n - 1, -1, -1):
        total += w[i + 1] * x                   w_bar[i + 1] += total_bar * x

An index, a list of places that nobody changes, a comparison of numbers, the length of an array, an
item of memory that nobody writes: that is cheap. It is computed where it is read, if what it is
made of is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.accesses import is_of_shape
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import with_blocks, with_end, with_operands
from s2sad.linear.operands import kind_of
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.tape import needed_in
from s2sad.primitives import language as L

NONE: Mapping[Var, Operand] = {}


@dataclass(frozen=True)
class Part:
    """A part of the forward sweep: what is bound `here`, and what of that is there anyway."""

    sweep: Sweep
    t: Tangents
    here: frozenset[Var]
    free: frozenset[Var] = frozenset()

    def cheap(self, v: Var) -> Op | None:
        """Return what computes a variable of this part, where computing it once more is cheap."""
        maker = self.sweep.makers.get(v) if v in self.here and v not in self.free else None
        return maker if maker is not None and self._is_cheap(v, maker) else None

    def _is_cheap(self, v: Var, maker: Op) -> bool:
        given = [kind_of(o) for o in maker.operands]
        match maker.primitive.form:
            case "slice":
                return self._is_fixed(v)
            case "infix" | "prefix":  # of arrays it reads memory, which may have changed
                return all(isinstance(k, K.Num) for k in (v.kind, *given))
            case "compare":
                return all(isinstance(k, K.Num | K.NoneKind) for k in given)
            case "tuple":
                return all(map(self._is_index, maker.operands))
            case "list":
                return self._is_index_list(maker)
            case "field" if isinstance(given[0], K.Array) and _is_plain(v.kind):
                return True  # a size, a shape
            case "item" | "field":
                return self._is_steady(v, maker)
            case "call":
                arrays = all(isinstance(k, K.Array) for k in given[1:])
                known = given[0] == K.Known(len) or is_of_shape(maker)
                return arrays and isinstance(v.kind, K.Num) and known
        return False

    def _is_index(self, o: Operand) -> bool:
        maker = self.sweep.makers.get(o) if isinstance(o, Var) else None
        if maker is not None and maker.primitive in (L.SLICE, L.LIST):
            return self._is_fixed(o) or self._is_index_list(maker)
        return isinstance(o, P.Const) or _is_whole(kind_of(o))

    def _is_index_list(self, maker: Op) -> bool:
        """Say whether a list of a few whole numbers is made, which nobody changes: `[k, p]`."""
        few = maker.primitive is L.LIST and all(map(_is_short_index, maker.operands))
        written = self.sweep.written
        return few and not written.open and not written.of(maker.outs[0])

    def _is_fixed(self, index: Operand) -> bool:
        """Say whether no part of an index is an array, or a list, which may have changed."""
        maker = self.sweep.makers.get(index) if isinstance(index, Var) else None
        if maker is not None and maker.primitive in (L.TUPLE, L.SLICE):
            return all(map(self._is_fixed, maker.operands))
        return isinstance(index, P.Const) or K.shares_nothing(kind_of(index))

    def _is_steady(self, v: Var, maker: Op) -> bool:
        """Say whether a part of memory is read that nobody writes, and no copy of it is made."""
        owner, *index = maker.operands
        if not isinstance(owner, Var) or owner.cell:
            return False
        if not all(map(self._is_fixed, index)):
            return False
        if isinstance(owner.kind, K.Array) and isinstance(v.kind, K.Array) and v.kind.rank:
            return True  # a view shows the same place, whatever stands there
        one = all(
            map(_is_whole, map(kind_of, index))
        )  # a slice of a list is another list each time
        held = isinstance(owner.kind, K.List) and one and self.sweep.is_unwritten(owner)
        if not (held or isinstance(owner.kind, K.Array | K.Tuple)):
            return False
        if v in self.t.table.facts.written:
            return False
        return not self.sweep.is_memory(owner, self.t)

    def is_short(self, maker: Op, kept: set[Var]) -> bool:
        """Say whether one operation on what is there computes a number with a point, or no number.

        A long formula costs more than the place of its value.
        """
        if maker.primitive.form not in ("infix", "prefix"):
            return True
        inner = [o for o in map(P.variable, maker.operands) if o in self.here]
        return all(o in kept or o in self.free for o in inner)

    def roots(self, v: Var) -> Iterator[Var]:
        """Yield what has to be kept so that a variable of this part can be computed once more."""
        maker = self.cheap(v)
        if maker is None:
            yield v
            return
        for o in filter(None, map(P.variable, P.operands(maker))):
            if o in self.here and o not in self.free:
                yield from self.roots(o)


def rematerialised(back: P.Block, part: Part, forward: tuple[P.Operation, ...]) -> P.Block:
    """Return a part of the backward sweep that computes what is cheap once more."""
    needed = needed_in(back, forward, tuple(part.here))
    kept = {v for v in needed if part.cheap(v) is None and v not in part.free}
    again: set[Var] = set()
    for v in needed:
        maker = part.cheap(v)
        if maker is None:
            continue
        roots = {*part.roots(v)}
        if maker.primitive.form in ("slice", "tuple", "list"):
            kept |= roots  # a number takes less than an index of it
        if roots <= kept and (_is_whole(v.kind) or part.is_short(maker, kept)):
            again.add(v)
        else:
            kept.add(v)
    return _Again(part, frozenset(kept)).block(back, frozenset(again))


def tests_again(back: P.Block, part: Part, forward: tuple[P.Operation, ...]) -> P.Block:
    """Return a backward sweep, in the function of its forward sweep, that asks tests once more.

    A test has no name then. What it compares is there: it is given, or is read in any case.
    """
    needed = {*needed_in(back, forward, tuple(part.here))}
    tests = {v: op for v in needed if (op := part.cheap(v)) and op.primitive.form == "compare"}
    there = needed - tests.keys() | {*part.t.table.facts.program.block.params}
    again = {v for v, op in tests.items() if there.issuperset(_read(op))}
    kept = frozenset(v for op in tests.values() for v in _read(op))
    return _Again(part, kept).block(back, frozenset(again))


def _read(op: Op) -> list[Var]:
    return [v for v in map(P.variable, op.operands) if v is not None]


def _is_plain(kind: K.Kind) -> bool:
    """Say whether a kind is of a number, or of a tuple of numbers."""
    return isinstance(kind, K.Num) or (
        isinstance(kind, K.Tuple) and all(isinstance(k, K.Num) for k in kind.items)
    )


def _is_short_index(o: Operand) -> bool:
    return not isinstance(o, P.Spread) and (isinstance(o, P.Const) or _is_whole(kind_of(o)))


def _is_whole(kind: K.Kind) -> bool:
    return isinstance(kind, K.Num) and kind.type == "int"


@dataclass(frozen=True)
class _Again:
    part: Part
    kept: frozenset[Var]

    @property
    def users(self) -> frozenset[str]:
        function = self.part.t.table.facts.analysed.function
        return function.locals - function.temps

    def block(
        self, block: P.Block, again: frozenset[Var], around: Mapping[Var, Operand] = NONE
    ) -> P.Block:
        """Return a block in which what is read `again` is computed where it is read.

        What has a name of the user's is computed once, and may have been `around` this block.
        """
        ops: list[P.Operation] = []
        once = {**around}
        for operation in block.ops:
            table = {**once}
            made = self.made(P.operands(operation), again, table)
            ops += [replace(op, origin=operation.origin) for op in made]
            new = with_operands(operation, table)
            if not isinstance(new, Op):
                new = with_blocks(new, partial(self.block, again=again, around=table))
            ops.append(new)
            once |= {v: now for v, now in table.items() if v.name in self.users}
        table = {**once}
        ops += self.made(block.end.results, again, table)
        return with_end(P.Block(block.params, tuple(ops), block.end), table)

    def made(
        self, operands: tuple[Operand, ...], again: frozenset[Var], table: dict[Var, Operand]
    ) -> Iterator[Op]:
        for v in filter(None, map(P.variable, operands)):
            if v in table or v not in again:
                continue
            maker = self.part.cheap(v)
            assert maker is not None
            inner = [P.variable(o) for o in P.operands(maker)]
            more = frozenset(o for o in inner if o is not None and o not in self.kept)
            cheap = frozenset(o for o in more if self.part.cheap(o) is not None)
            yield from self.made(P.operands(maker), cheap, table)
            copy = with_operands(maker, table)
            assert isinstance(copy, Op)
            table[v] = out = Var(v.name, v.kind)
            yield replace(copy, outs=(out,))
