"""A function as a program, what flows in it, and what is active: each is found once."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import gast

from s2sad import kinds as K
from s2sad.facts.shift import cancelled
from s2sad.ir import program as P
from s2sad.ir.flows import Flows, active_with, flows
from s2sad.ir.from_tree import program_of
from s2sad.ir.grown import grown
from s2sad.ir.left_last import left_last
from s2sad.ir.program import Op, Var
from s2sad.ir.to_the_end import to_the_end
from s2sad.linear.beside import apart
from s2sad.nodes import Node
from s2sad.stages import Aliases
from s2sad.steps.callables import all_kinds
from s2sad.steps.derivation import Analysed, Derivation, memory_of


@dataclass(frozen=True)
class Around:
    """What is around a function: what is given to it, and what its result is for.

    What is `lent` to it is memory that others may write before a backward sweep reads it. With
    something `beside` what is differentiated, it gives a pair. Its result has a derivative that
    matters where it is `seeded`.
    """

    lent: frozenset[str] = frozenset()
    beside: bool = False
    seeded: bool = True


ALONE = Around()
EXPRESSIONS = {
    "field": gast.Attribute,
    "infix": gast.BinOp,
    "prefix": gast.UnaryOp,
    "item": gast.Subscript,
}
"""What stands for an operation that may run a method of a class though no call is written."""


@dataclass(frozen=True, eq=False)
class Seen:
    """The program of a function, and its flows."""

    analysed: Analysed
    program: P.Program
    flows: Flows

    @functools.cached_property
    def statements(self) -> Mapping[P.Code, list[Op]]:
        """The operations that each statement stands for, in order."""
        found: dict[P.Code, list[Op]] = {}
        for op in P.every(self.program.block):
            if isinstance(op, Op):
                found.setdefault(op.origin, []).append(op)
        return found

    @functools.cached_property
    def variables(self) -> frozenset[Var]:
        """All variables of the program."""
        block = self.program.block
        bound = {v for op in P.every(block) for v in (*op.outs, *P.bound(op))}
        read = {P.variable(o) for op in P.every(block) for o in P.operands(op)}
        inner = {
            v
            for op in P.every(block)
            if not isinstance(op, Op)
            for b in P.blocks(op)
            for v in b.params
        }
        return frozenset(v for v in {*block.params, *bound, *read, *inner} if v is not None)

    def called_by(self, op: Op) -> Node | None:
        """Return the expression that an operation stands for, if it is all of its statement."""
        form, value = op.primitive.form, getattr(op.origin, "value", None)
        alike = [o for o in self.statements.get(op.origin, ()) if o.primitive.form == form]
        fits = isinstance(value, EXPRESSIONS.get(form, gast.Call))
        return value if fits and alike and alike[-1] is op else None

    def named(self, op: Op) -> dict[str, list[Var]]:
        """Return the variables that the statement of an operation reads, by name."""
        found: dict[str, list[Var]] = {}
        for one in self.statements.get(op.origin, ()):
            for v in filter(None, map(P.variable, P.operands(one))):
                found.setdefault(v.name, []).append(v)
                if one.primitive.form == "look":
                    found[v.name] += one.outs
        return found


def seen(d: Derivation, a: Analysed, around: Around = ALONE) -> Seen:
    """Return the program of a function with its flows."""
    key = ("seen", a, around.lent, around.beside)
    known = d.found.get(key)
    if not isinstance(known, Seen):
        program = _program(d, a, around.beside)
        classes = memory_of(d, a).classes_of(a.function.locals)
        known = Seen(a, program, flows(program, classes, around.lent, all_kinds(a.kinds)))
        d.found[key] = known
    return known


def _program(d: Derivation, a: Analysed, beside: bool) -> P.Program:
    key = ("program", a, beside)
    known = d.found.get(key)
    if not isinstance(known, P.Program):
        known = program_of(a.function, a.kinds, memory_of(d, a).changes)
        if not d.forward:
            known = to_the_end(left_last(grown(known, a.kinds)))
        known = apart(known, a.kinds.result) if beside else known
        d.found[key] = known
    return known


def active_in(
    d: Derivation, found: Seen, wrt: frozenset[str], seeded: bool = True
) -> frozenset[Var]:
    """Return the variables of a program that are active with respect to some parameters."""
    key = ("active", found, wrt, seeded)
    known = d.found.get(key)
    if not isinstance(known, frozenset):
        a, program = found.analysed, found.program
        result = a.kinds.result if seeded else K.NONE
        known = active_with(program, found.flows, wrt, result) - cancelled(
            a.function, a.kinds, program
        )
        known |= _together(a, memory_of(d, a).aliases, program)
        d.found[key] = known
    return known


def _together(a: Analysed, aliases: Aliases, program: P.Program) -> frozenset[Var]:
    """Return what shares memory with something else in the result: a caller may write it."""
    function = a.function
    handed = aliases.ever(function.result) & function.locals - {function.result}
    shared = {n for n in handed if aliases.ever(n) & handed - {n}}
    for op in P.every(program.block):
        names = [v.name for v in map(P.variable, P.operands(op)) if v is not None]
        if isinstance(op, Op) and op.primitive.form in ("tuple", "list", "dict"):
            shared |= {n for n in names if names.count(n) > 1 and n in handed}
    named = shared.union(*(aliases.ever(n) & function.locals for n in shared))
    every = [*P.every(program.block)]
    bound = [v for op in every for v in (*op.outs, *P.bound(op))]
    inner = [b for op in every if not isinstance(op, Op) for b in P.blocks(op)]
    bound += [v for b in inner for v in b.params]  # a loop carries what it gives
    return frozenset(v for v in bound if v.name in named)
