"""What every pass may rely on: a program that breaks it is a mistake of the pass before."""

from __future__ import annotations

import os

from s2sad.errors import InternalError
from s2sad.ir import program as P
from s2sad.ir.program import Op, Var


def verify(program: P.Program) -> P.Program:
    """Return the program; raise an InternalError where it is not one.

    - Every variable is bound once, before it is used, in a block around the use.
    - Every block hands over as many results as what takes them up binds, under the same names.
    - A break stands in a loop, and an element is yielded in a comprehension.
    - Every primitive gets as many operands as it takes, and memory is that of a bound object.
    """
    looks = _Verifier(set(), program.name)
    looks.block(program.block, frozenset(), _Exits(None, None))
    end = program.block.end
    if end.how != "raise" and (end.how != "next" or len(end.results) != 1):
        raise looks.broken("a function has one result")
    return program


def checked(program: P.Program) -> P.Program:
    """Return the program; under the tests, which say so, it is verified."""
    return verify(program) if _CHECKS else program


_CHECKS = "S2SAD_VERIFY" in os.environ


class _Exits:
    """What takes up the results of a block that breaks, or that goes on."""

    def __init__(self, leaves: tuple[Var, ...] | None, goes_on: tuple[Var, ...] | None) -> None:
        self.leaves = leaves
        self.goes_on = goes_on

    def inside(self, goes_on: tuple[Var, ...] | None) -> _Exits:
        return _Exits(self.leaves, goes_on)


class _Verifier:
    def __init__(self, bound: set[Var], name: str) -> None:
        self.bound = bound
        self.name = name

    def broken(self, what: str) -> InternalError:
        return InternalError(f"The program {self.name} is broken: {what}.")

    def binds(self, variables: tuple[Var, ...], seen: frozenset[Var]) -> frozenset[Var]:
        for v in variables:
            if v.cell:
                raise self.broken(f"the cell {v.name} is bound as a variable")
            if v in self.bound:
                raise self.broken(f"{v.name or 'a value'} is bound twice")
            self.bound.add(v)
        return seen | frozenset(variables)

    def reads(self, operands: tuple[P.Operand, ...], seen: frozenset[Var]) -> None:
        for v in filter(None, map(P.variable, operands)):
            if not v.cell and v not in seen:
                raise self.broken(f"{v.name or 'a value'} is read where it is not bound")

    def block(self, block: P.Block, seen: frozenset[Var], exits: _Exits) -> frozenset[Var]:
        """Check a block; return what is bound at its end."""
        seen = self.binds(block.params, seen)
        for operation in block.ops:
            self.reads(P.operands(operation), seen)
            if isinstance(operation, Op):
                self.op(operation, seen)
            else:
                self.region(operation, seen, exits)
            seen = self.binds(operation.outs, seen)
        self.reads(block.end.results, seen)
        self.end(block.end, exits)
        return seen

    def op(self, op: Op, seen: frozenset[Var]) -> None:
        takes = op.primitive.takes
        if takes is not None and len(op.operands) != takes:
            raise self.broken(f"{op.primitive.name} takes {takes} operands")
        for place in (*op.reads, *op.writes):
            indices = tuple(s.index for s in place.path if isinstance(s, P.Item))
            self.reads((place.object, *indices), seen)

    def end(self, end: P.End, exits: _Exits) -> None:
        """Check that somebody takes up what a block hands over."""
        if end.how == "raise":
            return
        if end.how == "yield":
            if exits.goes_on is not None:
                raise self.broken("an element is yielded outside of a comprehension")
            return
        takes = exits.goes_on if end.how == "next" else exits.leaves
        if takes is None:
            if end.how == "break":
                raise self.broken("a break stands outside of a loop")
            return
        if len(takes) != len(end.results):
            raise self.broken(f"{len(end.results)} values are handed over for {len(takes)}")

    def region(self, region: P.Region, seen: frozenset[Var], exits: _Exits) -> None:
        inner = seen
        if not isinstance(region, P.While | P.Try | P.Match):
            inner = self.binds(P.bound(region), seen)
        match region:
            case P.If():
                takes = None if region.style in ("filter", "assert") else region.outs
                self.block(region.then, inner, exits.inside(takes))
                self.block(region.orelse, inner, exits.inside(takes))
            case P.For():
                if len(region.starts) != len(region.body.params):
                    raise self.broken("a loop starts with other values than it carries")
                self.carries(region.outs, region.body.params)
                self.block(region.body, inner, _Exits(region.outs, region.body.params))
            case P.While():
                if len(region.starts) != len(region.carried):
                    raise self.broken("a loop starts with other values than it carries")
                self.carries(region.outs, region.carried)
                inner = self.binds(region.carried, seen)
                self.block(region.test, inner, _Exits(None, None))
                self.block(region.body, inner, _Exits(region.outs, region.carried))
            case P.Collect():
                self.block(region.body, inner, _Exits(None, None))
            case P.With():
                self.block(region.body, inner, exits.inside(region.outs))
            case P.Try():
                self.attempt(region, seen, exits)
            case P.Match():
                for c in region.cases:
                    known = self.binds(c.bound, seen)
                    if c.guard is not None:
                        self.block(c.guard, known, _Exits(None, None))
                    self.block(c.body, known, exits.inside(region.outs))

    def carries(self, outs: tuple[Var, ...], params: tuple[Var, ...]) -> None:
        if [v.name for v in outs] != [v.name for v in params[: len(outs)]]:
            raise self.broken("a loop gives other values than those that it carries first")

    def attempt(self, region: P.Try, seen: frozenset[Var], exits: _Exits) -> None:
        done = self.block(region.body, seen, exits.inside(None))
        self.block(region.orelse, done, exits.inside(region.of_arms if _goes_on(region) else None))
        for h in region.handlers:
            if h.kind is not None:
                self.block(h.kind, seen, _Exits(None, None))
            caught = (h.caught,) if h.caught is not None else ()
            self.block(h.body, self.binds(caught, seen), exits.inside(region.of_arms))
        self.block(region.final, seen, exits.inside(region.of_final))


def _goes_on(region: P.Try) -> bool:
    return region.body.end.how == "next"
