"""How the rounds of a loop come backward, and what of them is kept on the tape.

    for i in range(n):                          for i in range(n - 1, -1, -1):
        ...                                         t = saved.pop()
        saved.append(t)                             ...

Loops in loops share one tape: the backward sweep takes from its end what the forward sweep has put
there. Where others may turn back twice, it goes through the tape and leaves it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.left_last import may_leave
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.ir.rebuilt import substituted
from s2sad.linear.counted import Put, at_last, behind, counted, putting
from s2sad.linear.rematerialised import Part, rematerialised
from s2sad.linear.slots import UNREAD, Entry, with_other
from s2sad.linear.sweep_state import Reason, Sweep, Tape
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.tape import Loop, bound_along, heads_of, needed_in
from s2sad.primitives import language as L

_LAST, _NONE, _ONE = P.Const(-1), P.Const(0), P.Const(1)


@dataclass(frozen=True)
class Rounds:
    """A loop over numbers from `first`, by `step`, up to but without `stop`.

    Or it runs over an `array`, or a list, whose items have the numbers from 0 on. In a round the
    number is known as `index`, the item as `item`.
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


def rounds_of(sweep: Sweep, region: Loop) -> Rounds | None:
    """Return the numbers of the rounds of a loop over a range, over an array, or both of these.

    So have those over a list that nobody writes.
    """
    if isinstance(region, P.While):
        return None
    over = region.over
    maker = sweep.makers.get(over) if isinstance(over, Var) else None
    if isinstance(over, Var) and _is_numbered(sweep, over) and isinstance(region.target, Var):
        return Rounds(Var("i", K.INT), array=over, item=region.target)
    if maker is None or maker.primitive is not L.CALL or maker.settings:
        return None
    callee, *given = maker.operands
    known = callee.kind if isinstance(callee, P.Outer) else None
    if not isinstance(known, K.Known) or any(isinstance(o, P.Spread) for o in given):
        return None
    match region.target, given:
        case (Var() as index, Var() as item), [Var() as array] if known.value is enumerate:
            return Rounds(index, array=array, item=item) if _is_numbered(sweep, array) else None
        case Var() as index, (stop,) if known.value is range:
            return Rounds(index, _NONE, stop)
        case Var() as index, (first, stop) if known.value is range:
            return Rounds(index, first, stop)
        case Var() as index, (first, stop, step) if known.value is range:
            return Rounds(index, first, stop, step)
    return None


def _is_numbered(sweep: Sweep, v: Var) -> bool:
    if isinstance(v.kind, K.List):
        return not v.cell and sweep.is_unwritten(v)
    return isinstance(v.kind, K.Array) and v.kind.rank > 0


def known_by_number(sweep: Sweep, rounds: Rounds) -> None:
    """Note how the item of a round can be read once more."""
    if rounds.item is not None and rounds.array is not None:
        places = (Place(rounds.array, (P.Item(rounds.index),)),)
        read = Op((rounds.item,), L.ITEM, (rounds.array, rounds.index), (), places)
        sweep.makers[rounds.item] = read


@dataclass(frozen=True)
class Kept:
    """A loop that keeps what its backward sweep reads, and that sweep: what it runs over, what
    that binds, what it starts with beside cotangents, and its body.
    """

    forward: tuple[P.Operation, ...]
    over: Operand
    target: P.Target
    back: P.Block
    starts: tuple[Operand, ...] = ()


def kept(sweep: Sweep, loop: Loop, tape: Tape, back: P.Block, t: Tangents) -> Kept:
    """Return a loop that keeps what the backward sweep of its rounds reads, or counts them.

    Before: a loop without tangents, and what undoes one round of it. Loops over numbers share the
    `tape` of the loops around; others have one of their own, with an entry for each round.
    """
    numbers = rounds_of(sweep, loop)
    left = isinstance(loop, P.While) or may_leave(loop.body)
    if left and numbers is not None and numbers.index not in P.bound(loop):
        numbers = None  # nobody counts the rounds
    there = [*P.bound(loop), *heads_of(loop), *bound_along(loop.body)]
    free = frozenset[Var]()
    if numbers is not None:
        known_by_number(sweep, numbers)
        free = frozenset({numbers.index})
        there.append(numbers.index)
    part = Part(sweep, t, frozenset(there), free)
    back = rematerialised(back, part, loop.body.ops)
    needed = needed_in(back, (), there)
    starts: list[Operand] = []
    if isinstance(loop, P.For) and not left:
        back, starts = handed_back(sweep, loop, needed, back)
        needed = needed_in(back, (), there)
    rest = [v for v in needed if v not in free]
    counts = not free.isdisjoint(needed)
    if left and (counts or not rest):
        return _of_counted(sweep, (numbers, tape), (loop, back), needed, t)
    alone = not sweep.tape.shares and tape.list is None and rest and not counts
    if left or numbers is None or alone:
        again = None if left or numbers is None or numbers.array else numbers.again(t)
        made = _over_tape(sweep, loop, (needed, back), again, t)
    else:
        assert isinstance(loop, P.For)
        made = _by_numbers(sweep, (numbers, tape), (loop, back), needed, t)
    return replace(made, starts=tuple(starts))


def _by_numbers(
    sweep: Sweep,
    rounds: tuple[Rounds, Tape],
    loop: tuple[P.For, P.Block],
    needed: Sequence[Var],
    t: Tangents,
) -> Kept:
    """Return a loop that runs backward by numbers, with what else it needs on the tape."""
    numbers, tape = rounds
    counts = numbers.index in needed
    index = Var(numbers.index.name if counts else UNREAD, K.INT)
    over = numbers.turned(sweep, t) if counts else numbers.again(t)
    rest = [v for v in needed if v is not numbers.index]
    forward, body = _with_tape(sweep, tape, loop, rest, t)
    body = substituted(body, {numbers.index: index})
    if sweep.tape.shares or tape.list is None:
        return Kept((forward,), over, index, body)
    return Kept((*_begun(tape, forward, t), forward), over, index, body)


def _with_tape(
    sweep: Sweep, tape: Tape, loop: tuple[Loop, P.Block], rest: Sequence[Var], t: Tangents
) -> tuple[Loop, P.Block]:
    """Return a loop and what undoes one round of it, with `rest` on the tape.

    The backward sweep takes an entry first of all, so nothing may be put there behind it.
    """
    forward, back = loop
    if not rest:
        return loop
    seen = {*P.bound(forward), *heads_of(forward)}
    saved = tape_of(tape)
    written = t.table.facts.analysed.function.origins.get
    start = max(behind(forward.body, saved), at_last(forward, rest, written))
    put = Put(saved, forward.origin, start)
    made, entries = putting(forward.body, rest, seen, put)
    fresh = [Var(v.name, v.kind) for v in rest]
    table: dict[Var, Operand] = dict(zip(rest, fresh, strict=True))
    body = substituted(back, table)
    t.origin = forward.origin
    with t.inside() as before:
        found = taken(tape, fresh, t)
    sweep.entries.append(Entry(entries, found, tuple(fresh)))
    return replace(forward, body=made), replace(body, ops=(*before, *body.ops))


def _begun(tape: Tape, loop: Loop, t: Tangents) -> tuple[Op, ...]:
    """Return what makes the tape of a loop; one that is gone through is so from its end."""
    assert tape.list is not None
    if tape.back is not None:
        t.add(_called(tape.back, reversed, tape.list, t))
    return (Op((tape.list,), L.LIST, (), (), (), (), loop.origin),)


def _of_counted(
    sweep: Sweep,
    rounds: tuple[Rounds | None, Tape],
    loop: tuple[Loop, P.Block],
    needed: Sequence[Var],
    t: Tangents,
) -> Kept:
    """Return a loop that counts its rounds, and runs backward by their number."""
    (numbers, tape), (forward, back) = rounds, loop
    counting, count = counted(forward)
    sweep.reasons[count] = Reason("rounds", (forward,))
    if not needed or numbers is None:
        over = Rounds(count, _NONE, count).again(t)
        return Kept((counting,), over, Var(UNREAD, K.INT), back)
    index = Var(numbers.index.name, K.INT)
    if numbers.array is not None or (numbers.first, numbers.step) == (_NONE, _ONE):
        over = Rounds(index, _NONE, count).turned(sweep, t)
    else:
        told, part = (("given", (False, True, False)),), Var("", K.UNKNOWN)
        t.add(Op((part,), L.SLICE, (P.Const(None), count, P.Const(None)), told))
        done = t.emit(L.ITEM, (numbers.again(t), part), K.UNKNOWN)
        over = t.call(P.Outer("reversed", K.Known(reversed)), (done,), K.UNKNOWN)
    rest = [v for v in needed if v is not numbers.index]
    counting, body = _with_tape(sweep, tape, (counting, back), rest, t)
    body = substituted(body, {numbers.index: index})
    begun = () if tape.list is None else _begun(tape, forward, t)
    return Kept((*begun, counting), over, index, body)


def _the_same(sweep: Sweep, given: Operand) -> Operand:
    """Return the value that is given another name."""
    while isinstance(given, Var):
        maker = sweep.makers.get(given)
        if maker is None or maker.primitive is not L.SAME:
            break
        (given,) = maker.operands
    return given


def _over_tape(
    sweep: Sweep,
    loop: Loop,
    turned: tuple[Sequence[Var], P.Block],
    again: Operand | None,
    t: Tangents,
) -> Kept:
    """Return a loop whose tape the backward sweep runs over: there is an entry for each round.

    What has as many items is there `again`, for the case that nobody reads the entries in the end.
    """
    needed, back = turned
    saved = Var("saved", K.List(K.UNKNOWN))
    tape = Op((saved,), L.LIST, (), (), (), (), loop.origin)
    seen = {*P.bound(loop), *heads_of(loop)}
    body, entries = putting(loop.body, needed, seen, Put(saved, loop.origin))
    fresh = tuple(Var(v.name, v.kind) for v in needed)
    over = t.call(P.Outer("reversed", K.Known(reversed)), (saved,), K.UNKNOWN)
    if again is not None:
        last = t.ops.pop()
        assert isinstance(last, Op)
        t.add(with_other(last, again))
    sweep.entries.append(Entry(entries, None, fresh, again=again is not None))
    table: dict[Var, Operand] = dict(zip(needed, fresh, strict=True))
    return Kept((tape, replace(loop, body=body)), over, fresh, substituted(back, table))


def handed_back(
    sweep: Sweep, region: P.For, needed: Sequence[Var], back: P.Block
) -> tuple[P.Block, list[Operand]]:
    """Return a backward body that hands back what the loop carries, and with what that starts.

    What a round ends with is what the next one begins with: the tape holds one of them.
    """
    handed = [_the_same(sweep, r) for r in region.body.end.results]
    pairs = zip(region.body.params, handed, region.outs, strict=False)
    found = [(p, r, out) for p, r, out in pairs if p in needed and r in needed and r is not p]
    table: dict[Var, Operand] = {}
    params, results, starts = list(back.params), list(back.end.results), list[Operand]()
    for p, r, out in found:
        if isinstance(r, Var) and r not in table:
            table[r] = held = Var(p.name, r.kind)
            params.append(held)
            results.append(p)
            starts.append(out)
    end = P.End("next", tuple(results))
    return substituted(P.Block(tuple(params), back.ops, end), table), starts


def tape_of(tape: Tape) -> Var:
    """Return the tape of the loops at hand."""
    if tape.list is None:
        tape.list = Var("saved", K.List(K.UNKNOWN))
    return tape.list


@contextmanager
def inside(sweep: Sweep, loop: Loop) -> Iterator[Tape]:
    """Be in the body of a loop: yields the tape that its rounds may share with those around."""
    around = sweep.tape
    shares = rounds_of(sweep, loop) is not None and not may_leave(loop.body)
    sweep.tape = here = around if shares and around.shares else Tape(None, shares)
    try:
        yield here
    finally:
        sweep.tape = around


def _called(out: Var, fn: Callable[..., object], given: Var, t: Tangents) -> Op:
    places = (Place(given, (P.Anywhere(),)),)
    callee = P.Outer(fn.__name__, K.Known(fn))
    return Op((out,), L.CALL, (callee, given), (), places, places, t.origin)


def taken(tape: Tape, fresh: Sequence[Var], t: Tangents) -> Var:
    """Take values from the end of the tape, or go back through it; return the entry."""
    saved = tape_of(tape)
    places = (Place(saved, (P.Anywhere(),)),)
    entry = Var("", K.Tuple(tuple(v.kind for v in fresh)))
    if t.table.derivation.reusable:
        tape.back = tape.back or Var("back", K.UNKNOWN)
        t.add(_called(entry, next, tape.back, t))
    else:
        t.add(Op((entry,), L.method("pop"), (saved,), (), places, places, t.origin))
    t.add(Op(tuple(fresh), L.UNPACK, (entry,), (), (), (), t.origin))
    return entry
