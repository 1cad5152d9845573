"""Which values print inside the expression that uses them.

Before: a program, and which values need no name. After: a Fold.

    %0 = u[3]            if u[3] > peak:
    %1 = %0 > peak
    if %1

A value that is used once, in its own block, may stand where it is used if nothing in between
changes what it gives. A block in which every value does prints as an expression: an arm of
`a if t else b`, the body of a comprehension, the test of a while, a guard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeGuard

import gast

from s2sad.ir import program as P
from s2sad.ir.effects import Derived, Footprint, code_of, commute, footprint
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.repeated import Reads, repeated

STATEMENTS = frozenset(
    {
        *("augmented", "unpack", "bind", "put item", "augmented item", "put field"),
        *("augmented field", "each item", "drop item", "drop field", "forget", "discard"),
        "statement",
    }
)
_STORES = frozenset(
    {"augmented", "bind", "put item", "augmented item", "put field", "augmented field"}
)
_WIDE = 84


@dataclass(frozen=True)
class Fold:
    """What stands where it is used: values, and regions that print as expressions.

    `cells` are values that are nothing but what a cell gets: they print under its name. What is
    `repeated` stands in each expression that uses it.
    """

    values: Mapping[Var, P.Operation]
    whole: frozenset[P.Region]
    cells: Mapping[Var, Var]
    unused: frozenset[Var]
    repeated: frozenset[Var] = frozenset()

    def leaves(self, operands: Iterable[Operand]) -> frozenset[Var]:
        """Return the variables that are read where operands print."""
        found: set[Var] = set()
        given = [v for v in map(P.variable, operands) if v is not None]
        pending, binds = list(given), False
        while pending:
            v = pending.pop()
            made = self.values.get(v)
            if made is not None:
                if not isinstance(made, Op):
                    pending += read_inside(made)
                    binds = True
                pending += [w for w in map(P.variable, P.operands(made)) if w is not None]
            elif not v.cell and v not in self.cells:
                found.add(v)
        return frozenset(found - self._targets(given) if binds else found)

    def _targets(self, operands: Iterable[Operand]) -> set[Var]:
        made = [self.values.get(v) for v in map(P.variable, operands) if v is not None]
        found: set[Var] = set()
        while made:
            one = made.pop()
            if isinstance(one, P.Collect):
                found |= set(P.flat(one.target))
            if one is not None:
                given = [*P.operands(one), *(read_inside(one) if not isinstance(one, Op) else [])]
                made += [self.values.get(v) for v in map(P.variable, given) if v is not None]
                if not isinstance(one, Op):
                    made += [r for b in P.blocks(one) for r in b.ops if not isinstance(r, Op)]
        return found


def read_inside(region: P.Region) -> list[Var]:
    """Return what the ends of the blocks of a region read, and the regions that end them."""
    found: list[Var] = []
    for block in P.blocks(region):
        found += [v for v in map(P.variable, block.end.results) if v is not None]
        for last in block.ops:
            if not isinstance(last, Op) and not last.outs:
                found += [v for v in map(P.variable, P.operands(last)) if v is not None]
                found += read_inside(last)
    return found


def fold(
    program: P.Program,
    loose: Callable[[Var], bool],
    regions: bool = True,
    derived: Derived | None = None,
) -> Fold:
    """Return what stands where it is used; a value that is not `loose` keeps a line of its own.

    Without `regions` only what Python has no statement for prints as an expression.
    """
    whole = frozenset(
        r for r in P.every(program.block) if regions and not isinstance(r, Op) and _could(r)
    )
    while True:
        folder = _Folder(program.block, loose, whole, _uses(program, whole), derived)
        folder.block(program.block, bare=False)
        if not folder.failed:
            cells = _cells(program, folder)
            unused = frozenset(
                v for o in P.every(program.block) for v in o.outs if not folder.uses[v]
            )
            again = frozenset(folder.again & folder.values.keys())
            return Fold(folder.values, whole, cells, unused, again)
        whole -= folder.failed


def blocks_as_expressions(region: P.Region) -> tuple[P.Block, ...]:
    """Return the blocks that Python wants as expressions if a region is to print as written."""
    match region:
        case P.If(style="assert"):
            return (region.orelse,)
        case P.If(style="filter"):
            return (region.then,)
        case P.If():
            return (region.then, region.orelse)
        case P.Collect():
            return (region.body,)
        case P.While():
            return (region.test,)
        case _:
            return ()


def chooses(region: P.If) -> P.Block | None:
    """Return the other block of an `and` or `or` that keeps its test in one of them."""
    for kept, other in ((region.orelse, region.then), (region.then, region.orelse)):
        if kept.end.results == (region.test,) and not kept.ops:
            return other
    return None


def _could(region: P.Region) -> bool:
    """Say whether a region has the shape of an expression, or of a statement with one in it."""
    match region:
        case P.If(style="if"):
            return False
        case P.If(style="assert"):
            return region.then.ops == () and region.then.end == P.End("next")
        case P.If(style="filter"):
            return True
        case P.If(style="either"):
            ends = region.then.end.how, region.orelse.end.how
            return len(region.outs) == 1 and ends == ("next", "next")
        case P.If():
            return len(region.outs) == 1 and chooses(region) is not None
        case P.Collect() | P.While():
            return True
        case _:
            return False


def _uses(program: P.Program, whole: frozenset[P.Region]) -> Counter[Var]:
    """Count how often each variable is read where the program prints."""
    found: Counter[Var] = Counter()

    def block(b: P.Block) -> None:
        for o in b.ops:
            found.update(v for v in map(P.variable, P.operands(o)) if v is not None)
            if isinstance(o, Op) and _prints_owner_twice(o):
                found.update(v for v in map(P.variable, o.operands[:1]) if v is not None)
            if not isinstance(o, Op):
                other = chooses(o) if isinstance(o, P.If) and o in whole else None
                keeps = isinstance(o, P.If) and o.style in ("and", "or", "also")
                for inner in (other,) if keeps and other is not None else P.blocks(o):
                    block(inner)
        found.update(v for v in map(P.variable, b.end.results) if v is not None)

    block(program.block)
    return found


def _prints_owner_twice(op: Op) -> bool:
    """Say whether an operation prints as a call that names what it adds to twice."""
    return op.primitive.form == "augmented field" and bool(dict(op.settings).get("anyway"))


def _cells(program: P.Program, folder: _Folder) -> dict[Var, Var]:
    """Return the variables that a cell gets as soon as they are bound, each with its cell.

    A name that the user gave stays, but in a guard: Python has no statements there.
    """
    found: dict[Var, Var] = {}

    def block(b: P.Block, entering: tuple[Var, ...], guards: bool) -> None:
        fresh, since = set(entering), set[Var]()  # the cells that are bound since then
        for o in b.ops:
            if isinstance(o, Op) and o.primitive.form == "bind":
                cell, value = o.operands
                assert isinstance(cell, Var)
                held = isinstance(value, Var) and value in fresh and folder.uses[value] == 1
                held = held and cell not in since
                since.add(cell)
                if value in folder.values:  # it is computed here, behind what has been bound
                    fresh = set()
                    continue
                if not held:
                    continue
                assert isinstance(value, Var)
                if guards or value.name == cell.name or folder.loose(value):
                    found[value] = cell
                continue
            fresh, since = set(o.outs) if isinstance(o, Op) else set(), set()
            if not isinstance(o, Op):
                guarding = [c.guard for c in o.cases] if isinstance(o, P.Match) else []
                for inner, bound in _entered(o):
                    block(inner, bound, inner in guarding)

    block(program.block, (), False)
    return found


def _entered(region: P.Region) -> Iterator[tuple[P.Block, tuple[Var, ...]]]:
    """Yield the blocks of a region with what is bound where each is entered."""
    match region:
        case P.For() | P.With() | P.Collect():
            yield region.body, P.bound(region)
        case P.Try():
            yield region.body, ()
            for h in region.handlers:
                yield h.body, (h.caught,) if h.caught is not None else ()
            yield region.orelse, ()
            yield region.final, ()
        case P.Match():
            for c in region.cases:
                if c.guard is not None:
                    yield c.guard, c.bound
                yield c.body, () if c.guard is not None else c.bound
        case _:
            yield from ((b, ()) for b in P.blocks(region))


@dataclass
class _Folder:
    """Goes through blocks; notes the values that fold, and the regions in which one does not."""

    function: P.Block
    loose: Callable[[Var], bool]
    whole: frozenset[P.Region]
    uses: Counter[Var]
    derived: Derived | None
    values: dict[Var, P.Operation] = field(default_factory=dict)
    failed: set[P.Region] = field(default_factory=set)
    again: set[Var] = field(default_factory=set)
    widths: dict[P.Block, int] = field(default_factory=dict)
    prints: dict[P.Operation, Footprint] = field(default_factory=dict)
    so_far: Fold = field(init=False)

    def __post_init__(self) -> None:
        self.so_far = Fold(self.values, self.whole, {}, frozenset())

    def block(self, block: P.Block, bare: bool) -> bool:
        """Fold what folds in a block; say whether it prints as an expression."""
        line = _Line(self, bare)
        if self.derived is not None:
            self.again |= self.read_anew(block, bare)
        for operation in block.ops:
            if not isinstance(operation, Op):
                self.region(operation)
            line.add(operation)
        self.widths[block] = line.end(block, bare or block is self.function)
        return all(map(self.is_folded, block.ops)) if bare else True

    def read_anew(self, block: P.Block, bare: bool) -> frozenset[Var]:
        """Return the values of a block that stand in each expression that uses them."""
        ends = bare or block is self.function or block.end.how in ("raise", "yield")
        places = [*map(slots, block.ops), block.end.results if ends else ()]
        return repeated(Reads(block.ops, places, self.uses, self.loose, self.foot))

    def region(self, region: P.Region) -> None:
        bare = blocks_as_expressions(region) if region in self.whole else ()
        for inner in P.blocks(region):
            if inner in bare:
                if not self.block(inner, True) or self.is_long(region):
                    self.failed.add(region)
            elif not self.kept_apart(region, inner):
                self.block(inner, False)
        if isinstance(region, P.Collect) and region not in self.whole:
            self.failed |= self.whole & set(_parts(region))

    def is_long(self, region: P.Region) -> bool:
        """Say whether a choice that nobody wrote takes more than a line."""
        return self.is_ours(region) and isinstance(region, P.If) and self.width(region) > _WIDE

    def width(self, operation: P.Operation) -> int:
        """Return about how many columns an operation takes beside its operands."""
        if isinstance(operation, Op):
            return _own_width(operation)
        bare = blocks_as_expressions(operation) if operation in self.whole else ()
        return 16 + sum(self.widths.get(block, 0) for block in bare)

    def kept_apart(self, region: P.Region, inner: P.Block) -> bool:
        """Walk a guard, or the class of a handler: Python has no statements for them."""
        match region:
            case P.Try():
                found = any(h.kind is inner for h in region.handlers)
            case P.Match():
                found = any(c.guard is inner for c in region.cases)
            case _:
                return False
        if found and not self.block(inner, True):
            raise NotImplementedError("a value in a guard, or a class caught, that is used twice")
        return found

    def is_ours(self, operation: P.Operation) -> bool:
        """Say whether an operation computes nothing that the user's code does."""
        return self.derived is not None and self.derived.values.isdisjoint(operation.outs)

    def is_folded(self, operation: P.Operation) -> bool:
        """Say whether an operation leaves no statement."""
        if isinstance(operation, Op):
            if operation.primitive.form == "bind":  # of what a guard binds: see `_cells`
                return True
            return all(v in self.values for v in operation.outs) and bool(operation.outs)
        if isinstance(operation, P.If | P.Collect) and operation in self.whole:
            return not operation.outs or operation.outs[0] in self.values
        return False

    def leaves(self, operation: P.Operation) -> frozenset[Var]:
        """Return the variables that an operation reads where it stands."""
        given = list(P.operands(operation))
        if not isinstance(operation, Op):
            given += read_inside(operation)
        return self.so_far.leaves(given)

    def foot(self, operation: P.Operation) -> Footprint:
        if operation not in self.prints:
            self.prints[operation] = footprint(operation, self.derived)
        return self.prints[operation]


def _parts(region: P.Collect) -> Iterator[P.Region]:
    """Yield the loops and tests of a comprehension: they print as it does."""
    pending = list(region.body.ops)
    while pending:
        o = pending.pop()
        if isinstance(o, P.Collect) and not o.outs:
            yield o
            pending += o.body.ops
        elif isinstance(o, P.If) and o.style == "filter":
            yield o
            pending += o.then.ops


@dataclass
class _Line:
    """The operations of one block: what each holds in its text, and how wide that is."""

    folder: _Folder
    bare: bool
    ops: list[P.Operation] = field(default_factory=list)
    at: dict[Var, int] = field(default_factory=dict)
    holds: list[frozenset[int]] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    bound: dict[str | Var, int] = field(default_factory=dict)

    def add(self, operation: P.Operation) -> None:
        """Let the operands of an operation fold into it."""
        here = len(self.ops)
        self.ops.append(operation)
        held, width = self.taken(slots(operation), here, operation)
        if _is_augmented(operation):
            held |= self.cell_read(operation, here, held)
        self.holds.append(held | {here})
        self.widths.append(width + self.folder.width(operation))
        for v in operation.outs:
            self.at[v] = self.bound[v.name] = here
        for old in operation.operands[:1] if _is_augmented(operation) else ():
            if isinstance(old, Var):
                self.bound[old] = here

    def end(self, block: P.Block, bare: bool) -> int:
        """Let what a block gives fold into its end, where that is no assignment; say how wide."""
        end = block.end
        if bare or end.how in ("raise", "yield"):
            return self.taken(end.results, len(self.ops), None)[1]
        return 0

    def taken(
        self, given: Iterable[Operand], here: int, user: P.Operation | None
    ) -> tuple[frozenset[int], int]:
        """Fold what may fold of some operands, which are evaluated in this order."""
        found: frozenset[int] = frozenset()
        operands = list(given)
        lines = self.lines_of_their_own(operands, user)
        width = sum(map(self.width, operands))
        for operand in reversed(operands):
            v = P.variable(operand)
            start = self.at.get(v) if v is not None else None
            if v is None or start is None or not self.may_fold(v, start):
                continue
            if operand is operands[-1] and self.reads_before(user, start):
                continue
            wider = width - self.width(v) + self.widths[start]
            if v in lines:
                continue
            if self.fits(self.holds[start], here, found) and not self.crosses(v, start):
                self.folder.values[v] = self.ops[start]
                found |= self.holds[start]
                width = wider
        return found, width

    def lines_of_their_own(
        self, operands: Sequence[Operand], user: P.Operation | None
    ) -> frozenset[Var]:
        """Return the widest operands, without which the others fit into a line."""
        if isinstance(user, Op) and user.primitive.form == "discard":
            return frozenset()  # it stands alone, however wide it is
        given = [v for v in map(P.variable, operands) if v is not None and v in self.at]
        if sum(self.widths[self.at[v]] for v in given) + 20 * len(operands) <= _WIDE:
            return frozenset()
        wide = {}
        for v in given:
            if self.may_fold(v, self.at[v]):
                wide[v] = self.widths[self.at[v]] - self.width(v)
        total = sum(map(self.width, operands)) + sum(wide.values())
        found = set()
        for v in sorted(wide, key=wide.__getitem__, reverse=True):
            if total <= _WIDE:
                break
            start = self.at[v]
            if not (self.stays_whole(v, start) or self.as_written(start, user)):
                if not self.is_stored(v, user):
                    found.add(v)
                    total -= wide[v]
        return frozenset(found)

    def stays_whole(self, v: Var, start: int) -> bool:
        """Say whether a value stands where it is used, however long that is."""
        operation = self.ops[start]
        return v in self.folder.again or (isinstance(operation, Op) and self.in_brackets(operation))

    def reads_before(self, user: P.Operation | None, start: int) -> bool:
        """Say whether Python reads what is changed in place, and then computes what changes it.

        `u[-1] += u.pop()` reads and writes two places.
        """
        forms = ("augmented item", "augmented field")
        if not isinstance(user, Op) or user.primitive.form not in forms:
            return False
        return any(self.folder.foot(self.ops[a]).acts for a in self.holds[start])

    def may_fold(self, v: Var, start: int) -> bool:
        operation, folder = self.ops[start], self.folder
        if (folder.uses[v] != 1 and v not in folder.again) or len(operation.outs) != 1:
            return False
        if not isinstance(operation, Op):
            if operation not in folder.whole or not isinstance(operation, P.If | P.Collect):
                return False
            return self.bare or folder.loose(v)
        form = operation.primitive.form
        if form in STATEMENTS or (
            form == "closure" and isinstance(code_of(operation), gast.FunctionDef)
        ):
            return False
        return self.bare or folder.loose(v) or self.in_brackets(operation)

    def in_brackets(self, op: Op) -> bool:
        """Say whether an operation gives a slice, or a tuple with slices in it."""
        if op.primitive.form == "slice":
            return True
        parts = [self.folder.values.get(v) for v in map(P.variable, op.operands) if v is not None]
        inner = [p for p in parts if isinstance(p, Op)]
        return op.primitive.form == "tuple" and any(map(self.in_brackets, inner))

    def as_written(self, start: int, user: P.Operation | None) -> bool:
        """Say whether the user wrote two operations in one statement."""
        made, origin = self.ops[start], self.ops[start].origin
        around = user is None or (isinstance(user, Op) and user.primitive.form == "tuple")
        if around and isinstance(made, Op) and made.primitive.form == "tuple":
            return True  # a line for a tuple that is returned, or stands in one, saves none
        if user is not None and self.folder.is_ours(made):
            return self.bare
        return self.bare or (origin is not None and user is not None and origin is user.origin)

    def is_stored(self, v: Var, user: P.Operation | None) -> bool:
        """Say whether a value of ours is all that stands on the right of an assignment."""
        if not isinstance(user, Op) or not self.folder.is_ours(self.ops[self.at[v]]):
            return False
        return user.primitive.form in _STORES and user.operands[-1] is v

    def fits(self, moved: frozenset[int], here: int, later: frozenset[int]) -> bool:
        """Say whether operations may be evaluated at another one, before those that are `later`."""
        foot = self.folder.foot
        for a in moved:
            mine = foot(self.ops[a])
            if mine.is_free:
                continue
            for k in range(a + 1, here):
                if k not in moved and k not in later and not commute(mine, foot(self.ops[k])):
                    return False
        return True

    def crosses(self, v: Var, start: int) -> bool:
        """Say whether what a value reads gets a new version before the value is used.

        Both versions would be alive then, and one of them would need another name.
        """
        if self.bare:
            return False
        read = self.folder.leaves(self.ops[start])
        met: set[str | Var] = {*read, *(w.name for w in read if w.name)}
        return any(self.bound.get(w, start) > start for w in met)

    def cell_read(self, op: Op, here: int, later: frozenset[int]) -> frozenset[int]:
        """`c += value` reads its cell first."""
        old = op.operands[0]
        start = self.at.get(old) if isinstance(old, Var) else None
        if start is None or self.folder.uses[old] != 1:  # type: ignore[index]
            return frozenset()
        look = self.ops[start]
        is_look = isinstance(look, Op) and look.primitive.form == "look"
        if not is_look or not self.fits(self.holds[start], here, later):
            return frozenset()
        assert isinstance(old, Var)
        self.folder.values[old] = look
        return self.holds[start]

    def width(self, operand: Operand) -> int:
        """Return about how many columns an operand takes."""
        match operand:
            case Var():
                if operand in self.folder.values and operand in self.at:
                    return self.widths[self.at[operand]]
                return len(operand.name) or 6
            case P.Const(None):
                return 0  # what a slice does not say
            case P.Const():
                return min(len(repr(operand.value)), 20)
            case P.Outer():
                return len(operand.name)
            case _:
                return 6


def _is_augmented(operation: P.Operation) -> TypeGuard[Op]:
    return isinstance(operation, Op) and operation.primitive.form == "augmented"


def _own_width(op: Op) -> int:
    """Return about how many columns an operation takes beside its operands."""
    form, word = op.primitive.form, op.primitive.word
    signs = {"prefix": 1, "slice": 2, "item": 2, "same": 0, "infix": 3}
    named = sum(len(n) + 3 for n, v in op.settings if isinstance(v, P.OPERANDS))
    return named + signs.get(form, 3 + (len(word) if form in ("field", "method") else 0))


def slots(operation: P.Operation) -> tuple[Operand, ...]:
    """Return the operands that may be expressions, in the order in which Python evaluates them."""
    match operation:
        case P.For():
            return (operation.over,)
        case Op():
            given = operation.operands
            match operation.primitive.form:
                case "closure" | "statement" | "forget" | "look":
                    return ()
                case "bind" | "bind inside" | "augmented":
                    return given[1:]
                case "put item" | "put field":
                    return (given[-1], *given[:-1])
            return P.operands(operation)
        case P.While():
            return ()
        case _:
            return P.operands(operation)
