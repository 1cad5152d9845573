"""What is known while a program is turned round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from s2sad import kinds as K
from s2sad import runtime
from s2sad.emitted import held_numbers
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.ir.rebuilt import with_operands
from s2sad.linear.by_identity import Shadows, is_structure, lies_turned
from s2sad.linear.cotangents_of import Bar, Cotangents, root_of
from s2sad.linear.operands import is_array
from s2sad.linear.put_back import Written
from s2sad.linear.slots import Entry
from s2sad.linear.tangent_table import NOTHING, NotYet, Tangents
from s2sad.linear.zero_tangents import check_bound
from s2sad.primitives import language as L

_MEMORY = K.Array | K.List | K.Opaque


@dataclass(frozen=True)
class Round:
    """A round of a loop that is turned round: what it carries, the first so many being results.

    `bars` are the cotangents of what the round hands on, by what takes it.
    """

    carried: tuple[Var, ...]
    results: int
    bars: Mapping[Var, Bar]

    def handed(self, end: P.End) -> list[tuple[Var, Operand]]:
        """Return what a round hands on, or leaves the loop with, each with what takes it."""
        if end.how == "break":
            return list(zip(self.carried[: self.results], end.results, strict=True))
        return list(zip(self.carried, end.results, strict=True)) if end.how == "next" else []


@dataclass
class Tape:
    """What the loops at hand keep, if they keep anything; a loop inside of one `shares` it.

    A sweep that may run again goes `back` through it, and takes nothing away.
    """

    list: Var | None = None
    shares: bool = False
    back: Var | None = None


@dataclass(frozen=True)
class Reason:
    """Why the forward sweep makes a value that is no value of the user's.

    It is a copy of `memory` that the operations in `by` write, what a "call" keeps for its reverse,
    the "arm" that was taken, or the number of "rounds" of a loop.
    """

    about: Literal["memory", "call", "arm", "rounds"]
    by: tuple[P.Operation, ...]
    memory: Var | None = None


@dataclass
class Sweep:
    """What is known while a program is turned round.

    `values` are the variables by their tangents. `written` says which memory is written when, and
    `copies` are made of such memory where an operation reads it. `last` says where each variable is
    read last, `makers` what has bound it. `instead` says what stands in the forward sweep in the
    place of a call, `temps` are results of operations on tangents. The `loops` are those around;
    one that is `called` may run often, too; what one that is `shown` was given, its caller looks at
    in the end. `tape` is that of the loops, `entries` are what is put there. Memory that is
    `handed` to others is not put back, by called functions neither. The `reasons` say why there are
    values that the user's program has not. In the block at hand arrays are `held`: each with the
    operation that reads it, and its copy.
    """

    values: dict[Var, Var]
    written: Written
    last: Mapping[Var, P.Operation]
    copies: list[Op] = field(default_factory=list)
    makers: dict[Var, Op] = field(default_factory=dict)
    instead: dict[Op, tuple[Op, ...]] = field(default_factory=dict)
    temps: set[Var] = field(default_factory=set)
    loops: list[Round] = field(default_factory=list)
    called: bool = False
    shown: bool = False
    tape: Tape = field(default_factory=Tape)
    entries: list[Entry] = field(default_factory=list)
    handed: frozenset[Var] = frozenset()
    reasons: dict[Var, Reason] = field(default_factory=dict)
    held: list[tuple[Var, Op, Var]] = field(default_factory=list)

    def note_copy(self, out: Var, v: Var, op: Op) -> None:
        """Note that memory is copied where an operation reads it, as others write it later."""
        later = (w for w in self.written.of(v) if self.written.follows(w, op))
        self.reasons[out] = Reason("memory", tuple(later), v)

    def is_unwritten(self, v: Var) -> bool:
        """Say whether nobody writes into the memory of a variable at any time."""
        known = self.written
        return not known.open and known.memory.of(v) is not None and not known.of(v)

    def is_handed(self, v: Var) -> bool:
        """Say whether somebody else goes on to see the memory of a variable."""
        return not K.shares_nothing(v.kind) and self.written.memory.of(v) in self.handed

    def may_be_given(self, v: Var) -> bool:
        """Say whether a variable may be memory of the caller's, or a part of it."""
        root, known = self.written.memory.of(v), self.written
        return root is None or root in known.given or known.memory.is_outside(root)

    def is_linear(self, op: Op) -> bool:
        """Say whether an operation computes tangents, or handles their memory."""
        read = map(P.variable, P.operands(op))
        written = (p.object for p in op.writes)
        met = (*op.outs, *read, *written)
        return any(map(self.carries, met))

    def carries(self, v: object) -> bool:
        """Say whether a variable is a tangent, or is made of one."""
        return v in self.values or v in self.temps

    def stable(self, op: Op, t: Tangents, shadows: Shadows | None = None) -> Op:
        """Return an operation on tangents that reads what memory held where it stands.

        Memory that is written later is put back, or a copy of it is kept.
        """
        table: dict[Var, Operand] = {}
        for v in filter(None, map(P.variable, op.operands)):
            now = self.as_it_stands(v, op, t, shadows)
            if now is not None:
                table[v] = now
            elif (self.loops or self.called) and self.is_there(v, op):
                maker = self.makers[v]
                table[v] = out = Var(v.name, v.kind)
                t.add(replace(maker, outs=(out,), operands=tuple(map(t.index, maker.operands))))
        made = with_operands(op, table)
        assert isinstance(made, Op)
        return made

    def as_it_stands(
        self, v: Var, op: Op, t: Tangents, shadows: Shadows | None = None
    ) -> Var | None:
        """Return what holds what memory held at an operation, where the memory itself does not.

        An index that is a tuple or a slice, as in `u[m, 1:n]`, is made once more, of what its parts
        held.
        """
        maker = self.makers.get(v)
        of_parts = maker is not None and maker.primitive in (L.TUPLE, L.SLICE)
        if maker is not None and of_parts and v not in self.values:
            return self.made_again(maker, op, t)
        plain = v not in self.values and isinstance(v.kind, _MEMORY | K.Tuple)
        if not plain or not self.is_memory(v, t) or not self.is_lost(v, op):
            return None
        if shadows is not None and isinstance(v.kind, K.List):
            self.look(v, t, shadows, op)
        return self.copied(v, t, op)

    def is_lost(self, v: Var, op: Op) -> bool:
        """Say whether the backward sweep may find another content than there was before this.

        An operation that is undone is so before its index is read: its own write is the next. What
        writes later may be new memory in each round.
        """
        from s2sad.linear.unwritten import is_done

        known = self.written
        if op in known.of(v) or not known.after(op, v) or known.is_back(v, op):
            return op in known.of(v)
        return op not in known.order or not is_done(self, v, op)

    def made_again(self, maker: Op, op: Op, t: Tangents) -> Var | None:
        """Make a tuple of what its parts held at an operation, if they may hold something else."""
        parts: list[Operand] = []
        for o in maker.operands:
            value = o.value if isinstance(o, P.Spread) else o
            now = self.as_it_stands(value, op, t) if isinstance(value, Var) else None
            again = P.Spread(now) if now is not None and isinstance(o, P.Spread) else now
            parts.append(o if again is None else again)
        if tuple(parts) == maker.operands:
            return None
        (out,) = maker.outs
        held = Var(out.name, out.kind)
        self.makers[held] = made = replace(maker, outs=(held,), operands=tuple(parts))
        t.add(made)
        return held

    def is_read(self, v: Var, t: Tangents) -> bool:
        """Say whether this is an array, a list or an object whose content may change."""
        plain = v not in self.values and isinstance(v.kind, _MEMORY)
        return plain and self.is_memory(v, t)

    def is_there(self, v: Var, op: Op) -> bool:
        """Say whether an operation that reads a number of an array can read it once more."""
        maker = self.makers.get(v)
        if v in self.values or not isinstance(v.kind, K.Num) or maker is None:
            return False
        owner = maker.operands[0]
        if maker.primitive is not L.ITEM or not isinstance(owner, Var):
            return False
        if not isinstance(owner.kind, K.Array) or not self.written.of(owner):
            return False
        back = not self.is_lost(owner, op)
        return back and self.written.still(maker, op, owner)

    def copied(self, v: Var, t: Tangents, op: Op) -> Var:
        """Copy memory where an operation reads it; one copy serves all that read the same."""
        for held, reader, copy in self.held:
            if held is v and self.written.stays(op, reader, v):
                return copy
        out, numbers = Var(v.name, v.kind), all(isinstance(k, K.Num) for k in v.kind.inside)
        if isinstance(v.kind, K.Array) or (isinstance(v.kind, K.List) and numbers):
            made = Op((out,), L.method("copy"), (v,), (), (Place(v),), (), op.origin)
            self.held.append((v, op, out))
        else:
            made = _called(t, runtime.private, v, out, op)
        self.copies.append(made)
        self.note_copy(out, v, op)
        return out

    def as_it_was(self, v: Var, op: Op, t: Tangents) -> Var:
        """Return a structure as it was at an operation: a shallow copy if it may have changed."""
        if not self.written.after(op, v):
            return v
        out = Var(v.name, v.kind)
        self.copies.append(Op((out,), L.method("copy"), (v,), (), (Place(v),), (), op.origin))
        self.note_copy(out, v, op)
        return out

    def look(self, v: Var, t: Tangents, shadows: Shadows, op: Op) -> None:
        """Keep what a structure holds, that other operations may change."""
        if self.written.after(op, v):
            shadows.seen[v] = seen = Var("", K.UNKNOWN)
            self.copies.append(_called(t, held_numbers.picture, v, seen, op))
            self.note_copy(seen, v, op)

    def is_memory(self, v: Var, t: Tangents) -> bool:
        """Say whether an array is memory that is written somewhere, a part of it, or holds it."""
        maker = self.makers.get(v)
        if v in t.table.facts.written:
            return True
        if maker is not None and maker.primitive is L.LIST:
            parts = (P.variable(o) for o in maker.operands)
            return any(o is not None and self.is_memory(o, t) for o in parts)
        if maker is None or maker.primitive.form not in ("item", "field", "same"):
            return False
        owner = P.variable(maker.operands[0])
        return owner is not None and (is_structure(owner.kind) or self.is_memory(owner, t))

    def is_number(self, operand: Operand) -> bool:
        """Say whether this is the tangent of a number, which may be an array without axes."""
        v = self.values.get(operand) if isinstance(operand, Var) else None
        plain = v is not None and isinstance(v.kind, K.Num)
        return plain or (v is not None and isinstance(v.kind, K.Array) and not v.kind.rank)

    def missing(self, v: Var) -> Operand:
        """Return what stands for a value that another arm computes: None where it is kept."""
        return NOTHING if self.loops or self.called else P.Unbound(v.name)


def _called(t: Tangents, fn: Callable[..., object], v: Var, out: Var, op: Op) -> Op:
    given = (t.table.helper(fn), v)
    return Op((out,), L.CALL, given, (), (Place(v, (P.Anywhere(),)),), (), op.origin)


def in_place(sweep: Sweep, dot: Var) -> bool:
    """Say whether a cotangent is a structure, which is changed in place and never replaced."""
    return is_structure(sweep.values[dot].kind)


def owned(sweep: Sweep, acc: Cotangents, dot: Var) -> Operand:
    """Return a cotangent that is handed over: an array is memory of its own."""
    kind = sweep.values[dot].kind
    if acc.shadows is not None and acc.is_shadowed(dot) and lies_turned(kind):
        return acc.shadows.taken(acc.t, sweep.values[dot])
    if is_array(kind) or is_structure(kind):
        root = root_of(acc.refs, dot)
        if root not in acc.of and not acc.is_shadowed(dot):
            check_bound(acc.t, sweep.values[root])
        return acc.buffer(dot)
    return acc.whole(dot)


def bar_handed(sweep: Sweep, acc: Cotangents, dot: Var) -> Bar:
    """Return a cotangent that a block hands over: None for what may be unbound, and nobody read."""
    bar = acc.of.get(dot)
    if acc.may_be_missing(dot) and (bar is None or bar.perhaps):
        return Bar(NOTHING, perhaps=True) if bar is None else bar
    return Bar(owned(sweep, acc, dot))


def value_of(bar: Bar) -> Operand:
    """Return a cotangent that is one value."""
    if bar.value is None:
        raise NotYet("the cotangent of a tuple that is not taken apart")
    return bar.value
