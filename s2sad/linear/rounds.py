"""How the rounds of a loop come backward, and what of them is kept on the tape.

    for i in range(n):                          for i in range(n - 1, -1, -1):
        ...                                         t = saved.pop()
        saved.append(t)                             ...

Loops in loops share one tape: the backward sweep takes from its end what the forward sweep has put
there. Where others may turn back twice, it goes through the tape and leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.ir.rebuilt import substituted
from s2sad.linear.slots import UNREAD, Entry
from s2sad.linear.sweep_state import Sweep, Tape
from s2sad.linear.tangent_table import Tangents
from s2sad.primitives import language as L

_LAST, _NONE, _ONE = P.Const(-1), P.Const(0), P.Const(1)


@dataclass(frozen=True)
class Rounds:
    """A loop over numbers from `first`, by `step`, up to but without `stop`.

    Or it runs over an `array`, whose items have the numbers from 0 on. In a round the number is
    known as `index`, the item as `item`.
    """

    index: Var
    first: Operand = _NONE
    stop: Operand = _NONE
    step: Operand = _ONE
    array: Var | None = None
    item: Var | None = None

    def again(self, t: Tangents) -> Operand:
        """Return what has as many items as there are rounds."""
        if self.array is not None:
            return self.array
        given: tuple[Operand, ...] = (self.first, self.stop, self.step)
        if self.step == _ONE:
            given = (self.stop,) if self.first == _NONE else (self.first, self.stop)
        return t.call(P.Outer("range", K.Known(range)), given, K.UNKNOWN)

    def turned(self, sweep: Sweep, t: Tangents) -> Operand:
        """Return the same numbers from the last to the first."""
        if self.array is not None:
            count = t.call(P.Outer("len", K.Known(len)), (self.array,), K.INT)
            return replace(self, array=None, stop=count).turned(sweep, t)
        if self.step == _ONE:
            last, end = plus(sweep, t, self.stop, -1), plus(sweep, t, self.first, -1)
            return t.call(P.Outer("range", K.Known(range)), (last, end, _LAST), K.UNKNOWN)
        if self.step == _LAST:
            upward: tuple[Operand, ...] = (
                plus(sweep, t, self.stop, 1),
                plus(sweep, t, self.first, 1),
            )
            upward = upward[1:] if upward[0] == _NONE else upward
            return t.call(P.Outer("range", K.Known(range)), upward, K.UNKNOWN)
        given = (self.first, self.stop, self.step)
        made = t.call(P.Outer("range", K.Known(range)), given, K.UNKNOWN)
        return t.call(P.Outer("reversed", K.Known(reversed)), (made,), K.UNKNOWN)


def plus(sweep: Sweep, t: Tangents, operand: Operand, number: int) -> Operand:
    """Return a whole number with a literal added: `n + 1` less one is n."""
    maker = sweep.makers.get(operand) if isinstance(operand, Var) else None
    if maker is not None and maker.primitive in (L.INFIX["Add"], L.INFIX["Sub"]):
        given, added = maker.operands
        if isinstance(added, P.Const) and isinstance(added.value, int):
            sign = 1 if maker.primitive is L.INFIX["Add"] else -1
            operand, number = given, number + sign * added.value
    if isinstance(operand, P.Const) and isinstance(operand.value, int):
        return P.Const(operand.value + number)
    if not number:
        return operand
    word = "Add" if number > 0 else "Sub"
    return t.emit(L.INFIX[word], (operand, P.Const(abs(number))), K.INT)


def rounds_of(sweep: Sweep, region: P.For) -> Rounds | None:
    """Return the numbers of the rounds of a loop over a range, over an array, or both of these."""
    over = region.over
    maker = sweep.makers.get(over) if isinstance(over, Var) else None
    if isinstance(over, Var) and _is_array(over) and isinstance(region.target, Var):
        return Rounds(Var("i", K.INT), array=over, item=region.target)
    if maker is None or maker.primitive is not L.CALL or maker.settings:
        return None
    callee, *given = maker.operands
    known = callee.kind if isinstance(callee, P.Outer) else None
    if not isinstance(known, K.Known) or any(isinstance(o, P.Spread) for o in given):
        return None
    match region.target, given:
        case (Var() as index, Var() as item), [Var() as array] if known.value is enumerate:
            return Rounds(index, array=array, item=item) if _is_array(array) else None
        case Var() as index, (stop,) if known.value is range:
            return Rounds(index, _NONE, stop)
        case Var() as index, (first, stop) if known.value is range:
            return Rounds(index, first, stop)
        case Var() as index, (first, stop, step) if known.value is range:
            return Rounds(index, first, stop, step)
    return None


def _is_array(v: Var) -> bool:
    return isinstance(v.kind, K.Array) and v.kind.rank > 0


def numbered(sweep: Sweep, rounds: Rounds) -> list[Var]:
    """Return the numbers of rounds, by which an item can be read once more."""
    if rounds.item is not None and rounds.array is not None:
        places = (Place(rounds.array, (P.Item(rounds.index),)),)
        read = Op((rounds.item,), L.ITEM, (rounds.array, rounds.index), (), places)
        sweep.makers[rounds.item] = read
    return [rounds.index]


@dataclass(frozen=True)
class Turns:
    """A loop that runs backward: what stands at the end of each forward round, `over` what the
    backward loop runs, under which name, and its body.
    """

    at_end: tuple[P.Operation, ...]
    over: Operand
    target: P.Target
    body: P.Block


def turns(
    sweep: Sweep,
    rounds: Rounds,
    tape: Tape,
    loop: tuple[P.For, P.Block],
    needed: Sequence[Var],
    t: Tangents,
) -> Turns:
    """Return a loop over a range that runs backward, with what it needs on the tape.

    `loop` is the forward loop, and the body of the backward one.
    """
    region, back = loop
    kept = [v for v in needed if v is not rounds.index]
    counts = rounds.index in needed
    index = Var(rounds.index.name if counts else UNREAD, K.INT)
    over = rounds.turned(sweep, t) if counts else rounds.again(t)
    fresh = [Var(v.name, v.kind) for v in kept]
    table: dict[Var, Operand] = {rounds.index: index, **dict(zip(kept, fresh, strict=True))}
    body = substituted(back, table)
    if not kept:
        return Turns((), over, index, body)
    saved = tape_of(tape)
    entry, ops = put(saved, kept, region.origin)
    t.origin = region.origin
    with t.inside() as before:
        found = taken(saved, fresh, t)
    sweep.entries.append(Entry(entry, found, tuple(fresh)))
    return Turns(ops, over, index, replace(body, ops=(*before, *body.ops)))


def handed_back(
    region: P.For, needed: Sequence[Var], back: P.Block
) -> tuple[P.Block, list[Operand]]:
    """Return a backward body that hands back what the loop carries, and with what that starts.

    What a round ends with is what the next one begins with: the tape holds one of them.
    """
    pairs = zip(region.body.params, region.body.end.results, region.outs, strict=False)
    found = [(p, r, out) for p, r, out in pairs if p in needed and r in needed and r is not p]
    table: dict[Var, Operand] = {}
    params, results, starts = list(back.params), list(back.end.results), list[Operand]()
    for p, r, out in found:
        if isinstance(r, Var) and r not in table:
            table[r] = held = Var(p.name, p.kind)
            params.append(held)
            results.append(p)
            starts.append(out)
    end = P.End("next", tuple(results))
    return substituted(P.Block(tuple(params), back.ops, end), table), starts


def over_tape(
    sweep: Sweep, region: P.For, needed: Sequence[Var], back: P.Block, t: Tangents
) -> tuple[Op, Turns]:
    """Return a loop that runs over its own tape backward, and what makes that."""
    saved = Var("saved", K.List(K.UNKNOWN))
    entry, ops = put(saved, needed, region.origin)
    fresh = tuple(Var(v.name, v.kind) for v in needed)
    made = t.call(P.Outer("reversed", K.Known(reversed)), (saved,), K.UNKNOWN)
    sweep.entries.append(Entry(entry, None, fresh))
    table: dict[Var, Operand] = dict(zip(needed, fresh, strict=True))
    before = Op((saved,), L.LIST, (), (), (), (), region.origin)
    return before, Turns(ops, made, fresh, substituted(back, table))


def tape_of(tape: Tape) -> Var:
    """Return the tape of the loops at hand."""
    if tape.list is None:
        tape.list = Var("saved", K.List(K.UNKNOWN))
    return tape.list


@contextmanager
def inside(sweep: Sweep, counted: bool) -> Iterator[Tape]:
    """Be in the body of a loop: yields the tape that its rounds may share with those around."""
    around = sweep.tape
    shared = counted and around.shares
    sweep.tape = here = around if shared else Tape(None, counted)
    try:
        yield here
    finally:
        sweep.tape = around


def put(saved: Var, kept: Sequence[Var], origin: P.Code) -> tuple[Var, tuple[P.Operation, ...]]:
    """Return the entry of a tape that values make, and what puts it there."""
    entry, out = Var("", K.UNKNOWN), Var("", K.NONE)
    display = Op((entry,), L.TUPLE, tuple(kept), (), (), (), origin)
    places = (Place(saved, (P.Anywhere(),)),)
    append = Op((out,), L.method("append"), (saved, entry), (), (), places, origin)
    return entry, (display, append, Op((), L.DISCARD, (out,), (), (), (), origin))


def taken(saved: Var, fresh: Sequence[Var], t: Tangents) -> Var:
    """Take values from the tape; return the entry."""
    places = (Place(saved, (P.Anywhere(),)),)
    entry = Var("", K.Tuple(tuple(v.kind for v in fresh)))
    t.add(Op((entry,), L.method("pop"), (saved,), (), places, places, t.origin))
    t.add(Op(tuple(fresh), L.UNPACK, (entry,), (), (), (), t.origin))
    return entry
