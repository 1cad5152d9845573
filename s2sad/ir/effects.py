"""Whether two operations of a program may change places.

    t = a * b; s = c + d        yes: both only compute
    t = a[0];  a[0] = 1.0       no: one reads what the other writes
    f(x);      print(y)         no: both act

What acts (it writes, prints, raises or draws random numbers) keeps its order with all that acts,
and with what may raise. An arithmetic operation does not count as raising.
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.program import Op, Var
from s2sad.nodes import Node
from s2sad.rulebook.quiet import is_quiet

_MAKES = frozenset({"tuple", "list", "slice", "same"})  # of what it is given, it reads no part
_ARITHMETIC = frozenset({"infix", "prefix", "compare"})


@dataclass(frozen=True)
class Footprint:
    """What an operation does to the world: it acts, it may raise, it reads memory or some cells.

    `writes` says that it may write memory that variables share, `sets` are the cells that it binds.
    """

    acts: bool = False
    raises: bool = False
    reads: bool = False
    writes: bool = False
    looks: frozenset[Var] = frozenset()
    sets: frozenset[Var] | None = frozenset()  # None: any

    def joined(self, other: Footprint) -> Footprint:
        """Return the footprint of both."""
        sets = None if self.sets is None or other.sets is None else self.sets | other.sets
        return Footprint(
            self.acts or other.acts,
            self.raises or other.raises,
            self.reads or other.reads,
            self.writes or other.writes,
            self.looks | other.looks,
            sets,
        )

    @property
    def is_free(self) -> bool:
        """Whether it may change places with everything."""
        return not (self.acts or self.raises or self.reads or self.looks)


ANYTHING = Footprint(True, True, True, True, frozenset(), None)


def commute(a: Footprint, b: Footprint) -> bool:
    """Say whether two operations that stand side by side may change places."""
    if not a.acts and not b.acts:
        return True
    if a.acts and b.acts:
        return False
    quiet, act = (b, a) if a.acts else (a, b)
    if quiet.raises or (quiet.reads and act.writes):
        return False
    return not quiet.looks or (act.sets is not None and not quiet.looks & act.sets)


def footprint(operation: P.Operation) -> Footprint:
    """Return what an operation does, with the blocks in it."""
    if isinstance(operation, Op):
        return _of_op(operation)
    if isinstance(operation, P.Try | P.With):
        return ANYTHING
    found = Footprint()
    if isinstance(operation, P.For | P.Collect | P.Match | P.While):
        found = Footprint(raises=True, reads=True)  # an iterator of the user's is one of his calls
    for block in P.blocks(operation):
        if block.end.how in ("raise", "break"):
            return ANYTHING
        for inner in block.ops:
            found = found.joined(footprint(inner))
    return found


def _of_op(op: Op) -> Footprint:
    form, effect = op.primitive.form, op.primitive.effect
    given = [v for v in map(P.variable, P.operands(op)) if v is not None]
    shared = any(not v.cell and not K.shares_nothing(v.kind) for v in given)
    if form == "look":
        return Footprint(raises=True, looks=frozenset(given))
    if form in ("bind", "bind inside", "forget"):
        return Footprint(True, False, False, False, frozenset(), frozenset(given[:1]))
    if form == "closure":  # a generator runs where it is used, together with what stands there
        return ANYTHING if isinstance(code_of(op), gast.GeneratorExp) else Footprint()
    if form == "augmented" and not op.writes:
        return Footprint(reads=shared)
    if op.writes or effect == "writes":
        cells = frozenset(p.object for p in op.writes if isinstance(p.object, Var))
        inside = effect == "writes"  # it calls nobody who could bind a cell
        return Footprint(True, True, True, True, frozenset(), cells if inside else None)
    if effect == "any" and not _only_computes(op):
        return ANYTHING
    raises = form not in _ARITHMETIC and form not in _MAKES and form != "discard"
    return Footprint(raises=raises, reads=shared and form not in _MAKES)


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
