"""Whether two operations of a program may change places.

    t = a * b; s = c + d        yes: both only compute
    t = a[0];  a[0] = 1.0       no: one reads what the other writes
    f(x);      print(y)         no: both act

What acts (it writes, prints, raises or draws random numbers) keeps its order with all that acts,
and with what may raise. An arithmetic operation does not count as raising.

Of derived code more is known: a shadow has memory of its own, and what computes tangents raises
nowhere but where the user's own code has raised before.

    t = u_dot[1:] * 2.0; u[0] = 1.0         yes
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.memories import Memories
from s2sad.ir.program import Op, Var
from s2sad.nodes import Node
from s2sad.rulebook.quiet import is_quiet

_MAKES = frozenset(
    {"tuple", "list", "slice", "same", "anew"}
)  # of what it is given, it reads no part
_ARITHMETIC = frozenset({"infix", "prefix", "compare"})

Where: TypeAlias = frozenset[object] | None
"""Classes of memory; None: any."""
_NOWHERE: Where = frozenset()


@dataclass(frozen=True)
class Derived:
    """What is known of a derived program: which variables are the user's `values`, and which are
    shadows. Memory that others may know is one class of either. Where nothing is `caught`, an
    exception ends the function, and nobody sees what memory of its own holds.
    """

    memory: Memories
    values: frozenset[Var]
    shadows: frozenset[Var]
    caught: bool

    def where(self, given: Iterable[Var]) -> Where:
        """Return the classes of memory that some variables may be a part of."""
        found: set[object] = set()
        for v in given:
            root = self.memory.of(v)
            if root is not None:
                found |= self._sides(root) if self.memory.is_outside(root) else {root}
        return frozenset(found)

    def _sides(self, root: Var) -> set[object]:
        return set(self.sides.get(root) or ("values", "shadows"))

    @functools.cached_property
    def sides(self) -> Mapping[Var, frozenset[str]]:
        """Return for each class whether it holds values or shadows."""
        found: dict[Var, set[str]] = {}
        for word, some in (("values", self.values), ("shadows", self.shadows)):
            for v in some:
                root = self.memory.of(v)
                if root is not None:
                    found.setdefault(root, set()).add(word)
        return {root: frozenset(words) for root, words in found.items()}

    def ends_unseen(self, op: Op) -> bool:
        """Say whether nobody sees what an operation writes if the next one raises."""
        roots = [self.memory.of(p.object) for p in op.writes if isinstance(p.object, Var)]
        known = len(roots) == len(op.writes) and not self.caught
        return known and not any(r is None or self.memory.is_outside(r) for r in roots)

    def is_ours(self, op: Op) -> bool:
        """Say whether an operation computes nothing that the user's code does."""
        return bool(op.outs) and self.values.isdisjoint(op.outs)


@dataclass(frozen=True)
class Footprint:
    """What an operation does to the world: it acts, it may raise, it reads memory or some cells.

    `writes` is the memory that variables share and it may write, `sets` are the cells it binds.
    What it does is `unseen` where an exception follows.
    """

    acts: bool = False
    raises: bool = False
    reads: Where = _NOWHERE
    writes: Where = _NOWHERE
    looks: frozenset[Var] = frozenset()
    sets: frozenset[Var] | None = frozenset()  # None: any
    unseen: bool = False

    def joined(self, other: Footprint) -> Footprint:
        """Return the footprint of both."""
        sets = None if self.sets is None or other.sets is None else self.sets | other.sets
        return Footprint(
            self.acts or other.acts,
            self.raises or other.raises,
            _both(self.reads, other.reads),
            _both(self.writes, other.writes),
            self.looks | other.looks,
            sets,
        )

    @property
    def is_free(self) -> bool:
        """Whether it may change places with everything."""
        return not (self.acts or self.raises or self.reads != _NOWHERE or self.looks)


def _both(one: Where, other: Where) -> Where:
    return None if one is None or other is None else one | other


def _meet(one: Where, other: Where) -> bool:
    if one is None or other is None:
        return one != _NOWHERE and other != _NOWHERE
    return not one.isdisjoint(other)


ANYTHING = Footprint(True, True, None, None, frozenset(), None)


def commute(a: Footprint, b: Footprint) -> bool:
    """Say whether two operations that stand side by side may change places."""
    if not a.acts and not b.acts:
        return True
    if a.acts and b.acts:
        return False
    quiet, act = (b, a) if a.acts else (a, b)
    if (quiet.raises and not act.unseen) or _meet(quiet.reads, act.writes):
        return False
    return not quiet.looks or (act.sets is not None and not quiet.looks & act.sets)


def footprint(operation: P.Operation, derived: Derived | None = None) -> Footprint:
    """Return what an operation does, with the blocks in it."""
    if isinstance(operation, Op):
        return _of_op(operation, derived)
    if isinstance(operation, P.Try | P.With):
        return ANYTHING
    found = Footprint()
    if isinstance(operation, P.For | P.Collect | P.Match | P.While):
        found = Footprint(raises=True, reads=None)  # an iterator of the user's is one of his calls
    for block in P.blocks(operation):
        if block.end.how in ("raise", "break"):
            return ANYTHING
        for inner in block.ops:
            found = found.joined(footprint(inner, derived))
    return found


def _of_op(op: Op, derived: Derived | None) -> Footprint:
    form, effect = op.primitive.form, op.primitive.effect
    given = [v for v in map(P.variable, P.operands(op)) if v is not None]
    held = [v for v in given if not v.cell and not K.shares_nothing(v.kind)]
    shared = (derived.where(held) if derived is not None else None) if held else _NOWHERE
    if form == "look":
        return Footprint(raises=True, looks=frozenset(given))
    if form in ("bind", "bind inside", "forget"):
        return Footprint(True, False, _NOWHERE, _NOWHERE, frozenset(), frozenset(given[:1]))
    if form == "closure":  # a generator runs where it is used, together with what stands there
        return ANYTHING if isinstance(code_of(op), gast.GeneratorExp) else Footprint()
    if form == "augmented" and not op.writes:
        return Footprint(reads=shared)
    if op.writes or effect == "writes":
        cells = frozenset(p.object for p in op.writes if isinstance(p.object, Var))
        if effect != "writes":
            return ANYTHING
        known = derived is not None and bool(op.writes)
        where = derived.where(cells) if derived is not None and known else None
        unseen = derived is not None and derived.ends_unseen(op)
        return Footprint(True, True, None, where, frozenset(), cells, unseen)
    if effect == "any" and not _only_computes(op):
        return ANYTHING
    raises = form not in _ARITHMETIC and form not in _MAKES and form != "discard"
    raises = raises and not (derived is not None and derived.is_ours(op))
    return Footprint(raises=raises, reads=_NOWHERE if form in _MAKES else shared)


def _only_computes(op: Op) -> bool:
    """Say whether a call does nothing but give its value."""
    first = op.operands[0] if op.operands else None
    if op.primitive.form == "method":
        numeric = isinstance(first, Var) and K.is_numeric(first.kind)
        word = op.primitive.word
        return numeric and registry.method_only_looks(word)
    if op.primitive.form != "call" or not isinstance(first, P.Outer):
        return False
    fn = first.kind.value if isinstance(first.kind, K.Known) else None
    return fn is not None and (registry.effects_of(fn).is_pure or is_quiet(fn))


def uses_up(op: Op) -> bool:
    """Say whether a call has read an iterable that it is given before it returns."""
    first = op.operands[0] if op.operands else None
    if op.primitive.form != "call" or not isinstance(first, P.Outer):
        return False
    fn = first.kind.value if isinstance(first.kind, K.Known) else None
    return fn is not None and registry.effects_of(fn).reads in ("whole", "until")


def code_of(op: Op) -> Node:
    """Return the syntax that an operation keeps as it is written."""
    return dict(op.settings)["code"]


def captured(op: Op) -> tuple[str, ...]:
    """Return the names under which kept code reads the operands of its operation."""
    words: tuple[str, ...] = dict(op.settings)["names"]  # type: ignore[assignment]
    return words
