"""What a derived program keeps for its backward sweep, who reads that, and why it is kept.

    saved.append((t, y))        y is kept on the list saved: the backward sweep reads it by undoing
    y = y * x + a               `y = y * x + a`, which gives y another value

The facts are those of the program that prints: tapes and their entries, which operations of the
backward sweep read what, and which operations bind a name, or write memory, once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from s2sad.causes import Kept, Note, Story
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.versions import Versions
from s2sad.linear.both_sweeps import BothSweeps
from s2sad.linear.slots import Entry
from s2sad.linear.sweep_state import Reason
from s2sad.linear.tape import bound_in
from s2sad.primitives import language as L
from s2sad.steps.roles import names_of_user


@dataclass(frozen=True)
class Sides:
    """Where both sweeps of a function stand in the text: the forward sweep, with the names that
    variables have there, the backward sweep, and what the tapes hold.

    Where the backward sweep is a function of its own, with other `names_there`, the forward hands
    over what that is `given`.
    """

    forward: P.Block
    names: Versions
    backward: P.Block
    entries: tuple[Entry, ...] = ()
    given: tuple[Var, ...] = ()
    names_there: Versions | None = None


def sides_of_one(block: P.Block, names: Versions, entries: Iterable[Entry]) -> Sides:
    """Return the sides of one function that holds both sweeps, the backward one behind."""
    ahead = tuple(op for op in block.ops if not isinstance(op.origin, P.Undone))
    back = tuple(op for op in block.ops if isinstance(op.origin, P.Undone))
    forward, backward = P.Block(block.params, ahead, block.end), P.Block((), back, P.End("next"))
    return Sides(forward, names, backward, tuple(entries))


def story_of(found: BothSweeps, sides: Sides, story: Story) -> Story:
    """Return the story of a function, or of the forward of a pair, with what that keeps."""
    return _Teller(found, sides, story).told()


def story_of_reverse(found: BothSweeps, sides: Sides, story: Story) -> Story:
    """Return the story of the reverse of a pair: what it reads of what it is given."""
    readers = _ReadersMeant(found, sides.backward)
    assert sides.names_there is not None
    names = {v: sides.names_there.given(v) for v in sides.given}
    reads = {word: readers.of(v) for v, word in names.items()}
    told = _Teller(found, sides, story)
    handed = tuple(names.values())
    sources = told.sources(names)
    return replace(story, reads=reads, handed=handed, names=sources, settled=True)


# --- who reads what ------------------------------------------------------------------------------


class _Readers:
    """Which statements the operations of a backward sweep undo that read a variable.

    What hands a value on, a loop or a branch, reads it if somebody reads what takes it.
    """

    def __init__(self, block: P.Block) -> None:
        self.direct: dict[Var, dict[P.Code, None]] = {}
        self.takers: dict[Var, list[Var]] = {}
        self.tested: dict[Var, P.Code] = {}
        self.block(block)

    def of(self, v: Var) -> tuple[P.Code, ...]:
        """Return the statements for which a variable is read."""
        found: dict[P.Code, None] = {}
        for w in self.along(v):
            found |= self.direct.get(w, {})
        return tuple(s for s in found if s is not None)

    def test(self, v: Var) -> P.Code:
        """Return the statement whose way a variable tells, if it is asked for that alone."""
        found = [*self.along(v)]
        if any(self.direct.get(w) for w in found if w not in self.tested):
            return None
        return next((self.tested[w] for w in found if w in self.tested), None)

    def reads(self, v: Var) -> bool:
        """Say whether anything reads a variable."""
        return any(w in self.direct for w in self.along(v))

    def along(self, v: Var) -> Iterator[Var]:
        """Yield a variable and those that get its value."""
        return _reached(v, self.takers)

    def block(self, block: P.Block) -> None:
        for operation in block.ops:
            origin = operation.origin
            statement = origin.statement if isinstance(origin, P.Undone) else None
            if isinstance(operation, Op):
                self.op(operation, statement)
            else:
                self.region(operation, statement)

    def op(self, op: Op, statement: P.Code) -> None:
        if op.primitive is L.SAME:
            self.hand(op.operands, op.outs)
            return
        for v in filter(None, map(P.variable, P.operands(op))):
            self.direct.setdefault(v, {})[statement] = None
        for place in op.writes:
            if isinstance(place.object, Var):
                self.direct.setdefault(place.object, {})[statement] = None

    def region(self, region: P.Region, statement: P.Code) -> None:
        starts = region.starts if isinstance(region, P.For | P.While) else ()
        for v in filter(None, map(P.variable, P.operands(region))):
            if v not in starts:
                self.direct.setdefault(v, {})[statement] = None
            if isinstance(region, P.If):
                self.tested[v] = statement
        if isinstance(region, P.For | P.While):
            heads = region.carried if isinstance(region, P.While) else region.body.params
            self.hand(starts, heads)
            self.hand(region.body.end.results, heads)
            self.hand(heads, region.outs)
        for b in P.blocks(region):
            if not isinstance(region, P.For | P.While):
                self.hand(b.end.results, region.outs)
            self.block(b)

    def hand(self, values: Iterable[Operand], takers: Iterable[Var]) -> None:
        for value, taker in zip(values, takers, strict=False):
            if isinstance(value, Var):
                self.takers.setdefault(value, []).append(taker)


class _ReadersMeant(_Readers):
    """Who reads what in the program that prints, by the statements that were undone there first.

    Algebra moves what undoes one statement into what undoes another.
    """

    def __init__(self, found: BothSweeps, block: P.Block) -> None:
        super().__init__(block)
        self.first = _Readers(P.Block((), found.made.backward, P.End("next")))

    def of(self, v: Var) -> tuple[P.Code, ...]:
        now, then = super().of(v), self.first.of(v)
        kept = [s for s in now if s in then]
        moved = [s for s in then if s not in now] if len(kept) < len(now) else []
        return (*kept, *moved) or now


# --- what gives a name another value -------------------------------------------------------------


@dataclass
class _Later:
    """What binds the name of a variable once more, after that has been bound, on all paths."""

    start: dict[Var, tuple[P.Block, int]] = field(default_factory=dict)
    around: dict[P.Block, tuple[P.Region, P.Block, int]] = field(default_factory=dict)

    def read(self, block: P.Block) -> None:
        """Take in a block: where it binds what, and what is around the blocks in it."""
        self.start |= dict.fromkeys(block.params, (block, 0))
        for i, operation in enumerate(block.ops):
            self.start |= dict.fromkeys(operation.outs, (block, i + 1))
            if isinstance(operation, Op):
                continue
            first, *_ = P.blocks(operation)
            self.start |= dict.fromkeys(P.bound(operation), (first, 0))
            for b in P.blocks(operation):
                self.around[b] = operation, block, i
                self.read(b)

    def after(self, v: Var) -> dict[P.Code, None]:
        """Return the statements that bind the name of a variable next."""
        found: dict[P.Code, None] = {}
        block, at = self.start[v]
        while self.goes_on(block, at, v.name, found) and block in self.around:
            region, outer, i = self.around[block]
            for b in P.blocks(region) if isinstance(region, P.For | P.While) else ():
                self.goes_on(b, 0, v.name, found)
            block, at = outer, i + 1
        return found

    def goes_on(self, block: P.Block, at: int, word: str, found: dict[P.Code, None]) -> bool:
        """Add what binds a name next in a block; say whether a path leads through without."""
        for operation in block.ops[at:]:
            if isinstance(operation, Op):
                if any(v.name == word for v in operation.outs):
                    found[operation.origin] = None
                    return False
                continue
            paths = [self.goes_on(b, 0, word, found) for b in P.blocks(operation)]
            if isinstance(operation, P.If | P.Match) and not any(paths):
                return False
        return block.end.how != "raise"


# --- the story -----------------------------------------------------------------------------------


class _Teller:
    """Puts together the story of a function."""

    def __init__(self, found: BothSweeps, sides: Sides, story: Story) -> None:
        self.sides = sides
        self.story = story
        self.users = names_of_user(found.table.facts.analysed)
        self.reasons = found.made.sweep.reasons
        self.readers = _ReadersMeant(found, sides.backward)
        self.later = _Later()
        self.later.read(found.program.block)
        self.givers = _givers(sides.forward)
        self.kept: list[Kept] = []
        self.reads: dict[str, tuple[P.Code, ...]] = {}
        self.notes: dict[str, Note] = {}
        self.calls: dict[str, P.Code] = {}
        self.names: dict[str, str] = {}

    def told(self) -> Story:
        tapes = self.tapes()
        there = [*self.sides.forward.params, *bound_in(self.sides.forward)]
        given = self.sides.given
        handed = tuple(map(self.sides.names.given, given))
        for v in given or dict.fromkeys(there):
            if v not in tapes and (given or self.readers.reads(v)):
                self.named(v)
        return replace(
            self.story,
            kept=tuple(self.kept),
            reads=self.reads,
            notes=self.notes,
            calls=self.calls,
            handed=handed,
            names=self.names,
            settled=True,
        )

    def sources(self, names: Mapping[Var, str]) -> dict[str, str]:
        """Return which names in the text stand for a variable that has another name."""
        pairs = {word: self.word(v) for v, word in names.items()}
        return {word: own for word, own in pairs.items() if own and own != word}

    def word(self, v: Var) -> str:
        """Return the name that the user, or the normalised program, has for a value."""
        reason = self.reason(v)
        if reason is not None and reason.memory is not None:
            return reason.memory.name
        return v.name

    def reason(self, v: Var) -> Reason | None:
        """Return why there is a value that is not the user's."""
        return next((self.reasons[w] for w in self.behind(v) if w in self.reasons), None)

    def behind(self, v: Var) -> Iterator[Var]:
        """Yield a variable and those whose value it gets from branches."""
        return _reached(v, self.givers)

    def over(self, v: Var) -> tuple[P.Code, ...]:
        """Return the statements that give a variable, or its memory, something else."""
        reason = self.reason(v)
        if reason is not None:
            by = (w.origin for w in reason.by)
            return tuple(dict.fromkeys(s for s in by if s is not None))
        if v.name not in self.users:
            return ()
        known = next((w for w in self.behind(v) if w in self.later.start), None)
        return () if known is None else tuple(self.later.after(known))

    def tapes(self) -> set[Var]:
        """Tell of what is put on tapes; return these."""
        tapes: set[Var] = set()
        entries = {v: e for e in self.sides.entries for v in e.given}
        made: dict[Var, Op] = {}
        number = 0
        for op in P.every(self.sides.forward):
            if not isinstance(op, Op):
                continue
            made |= dict.fromkeys(op.outs, op)
            if op.primitive != L.method("append") or op.operands[1] not in entries:
                continue
            tape, entry = op.operands
            assert isinstance(tape, Var) and isinstance(entry, Var)
            tapes.add(tape)
            number += 1  # of the group
            parts = entries[entry].read
            for at, (value, part) in enumerate(zip(made[entry].operands, parts, strict=True)):
                if isinstance(value, Var):
                    kept = self.keep(value, self.sides.names.given(tape), part)
                    self.kept.append(replace(kept, group=(number, at), size=len(parts)))
        return tapes

    def keep(self, v: Var, holder: str, read: Var) -> Kept:
        """Tell of a value that is kept, and that the backward sweep reads as another variable."""
        item = self.sides.names.given(v)
        word = self.word(v)
        own = word in self.users
        shown = word if own else item or self.sides.names.given(read) or word or "value"
        self.about(v, item or shown, read, own)
        if word and (item or shown) != word:
            self.names[item or shown] = word
        return Kept(shown, item or shown, holder, self.over(v), self.readers.of(read))

    def about(self, v: Var, word: str, read: Var, own: bool) -> None:
        """Tell what a name holds that is no value of the user's program."""
        reason, test = self.reason(v), self.readers.test(read)
        if reason is not None and reason.about == "call":
            self.calls[word] = reason.by[0].origin
        elif reason is not None and reason.about != "memory":
            self.notes[word] = Note(reason.about, reason.by[0].origin)
        elif test is not None and not own:
            self.notes[word] = Note("arm", test)

    def named(self, v: Var) -> None:
        """Tell of a value that the backward sweep reads by a name of its own."""
        item = self.sides.names.given(v)
        if not item:
            return
        word = self.word(v)
        own = word in self.users
        kept = (own and self.over(v)) or self.reason(v) is not None
        if kept and not self.sides.given:
            self.kept.append(self.keep(v, item, v))
            return
        self.about(v, item, v, own)
        if word and item != word:
            self.names[item] = word
        self.reads[item] = (*self.reads.get(item, ()), *self.readers.of(v))


def _givers(block: P.Block) -> dict[Var, list[Var]]:
    """Return what gives its value to what a branch, or another name, binds."""
    found: dict[Var, list[Var]] = {}
    for op in P.every(block):
        pairs: list[tuple[Var, Operand]] = []
        if isinstance(op, Op) and op.primitive is L.SAME:
            pairs = list(zip(op.outs, op.operands, strict=True))
        elif isinstance(op, P.Try):
            arms = [op.body, op.orelse, *(h.body for h in op.handlers)]
            pairs += (p for b in arms for p in zip(op.of_arms, b.end.results, strict=False))
            pairs += zip(op.of_final, op.final.end.results, strict=False)
        elif isinstance(op, P.If | P.Match | P.With):
            arms = [c.body for c in op.cases] if isinstance(op, P.Match) else [*P.blocks(op)]
            pairs += (p for b in arms for p in zip(op.outs, b.end.results, strict=False))
        for out, value in pairs:
            if isinstance(value, Var):
                found.setdefault(out, []).append(value)
    return found


def _reached(v: Var, links: Mapping[Var, Iterable[Var]]) -> Iterator[Var]:
    """Yield a variable and what is linked to it, near or far."""
    done, pending = {v}, [v]
    while pending:
        yield (top := pending.pop())
        more = [w for w in links.get(top, ()) if w not in done]
        done.update(more)
        pending += more
