"""Tangents beside values: a program becomes one that computes, with each value, its derivative.

Before: a program, and which of its variables are active. After: the same program with a tangent for
every active variable. A tangent is a variable like any other; the tangent of memory is memory of
the same structure, its *shadow*, which is read and written at the same places.

    y = x * x            y = x * x
                         y_dot = tangent of multiply(y, x, x; x_dot, x_dot)
    u[1:] += y           u[1:] += y
                         u_dot[1:] += y_dot
    r = if t             r, r_dot = if t
        next y               next y, y_dot
        next 0.0             next 0.0, 0.0

What handles structures and memory is said again of the tangents. What computes stands as one
operation, the tangent of a function, which other passes write out: forward by partial derivatives
or a pushforward, turned round by partial derivatives or a pullback.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from s2sad.errors import Error, InternalError
from s2sad.ir import program as P
from s2sad.ir.deeds import deed
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear import mirrored
from s2sad.linear.caught import caught_by
from s2sad.linear.rounds_drawn import Drawn, counted, draw
from s2sad.linear.tangent_table import Table, Tangents
from s2sad.linear.woven import woven
from s2sad.linear.zero_tangents import give_zeros, handed

T = TypeVar("T")


@dataclass(frozen=True)
class Linear:
    """A program with tangents; `of` gives the tangent of each variable that has one.

    `values` are what the program computed before.
    """

    program: P.Program
    of: Mapping[Var, Var]
    values: frozenset[Var]


def linearise(program: P.Program, table: Table, wrt: Sequence[str]) -> Linear:
    """Return a program with the tangents of what is active, given those of some parameters.

    Its parameters are those of the program, then their tangents. It ends with the result and the
    tangent of the result (None where that has none), then what it gives beside the result.
    """
    walk = _Walk(Tangents(table))
    params = program.block.params
    walk.tangents.means(params)
    given = [v for w in wrt for v in params if v.name == w]
    dots = tuple(walk.tangents.bind(v) for v in given)
    for v in params:
        if v not in given and table.carries(v):
            give_zeros(walk.tangents, v)
    for operation in program.block.ops:
        walk.operation(operation, None)
    end = program.block.end
    if end.how == "next":
        result, *beside = end.results
        end = P.End("next", (result, walk.tangents.maybe(result), *beside))
    block = P.Block((*params, *dots), tuple(walk.tangents.ops), end)
    inside = [v for op in P.every(program.block) for v in (*op.outs, *P.bound(op))]
    values = frozenset({*params, *inside})
    return Linear(dataclasses.replace(program, block=block), walk.tangents.of, values)


@dataclass(frozen=True)
class Takes:
    """What takes up the results of a block: of a loop, the `first` so many are its results."""

    variables: tuple[Var, ...]
    first: int | None = None

    def parts(self, results: Sequence[T]) -> tuple[list[tuple[Var, T]], ...]:
        """Return the results with what takes them up: those of the loop, then the others."""
        pairs = list(zip(self.variables, results, strict=False))
        at = len(pairs) if self.first is None else self.first
        return pairs[:at], pairs[at:]


@dataclass(frozen=True)
class Loop:
    """A loop around: `outs` is what it hands over, as the program had it."""

    outs: tuple[Var, ...]


@dataclass
class _Walk:
    """Walks blocks; the tangents say where operations are added."""

    tangents: Tangents
    table: Table = field(init=False)

    def __post_init__(self) -> None:
        self.table = self.tangents.table

    def operation(self, operation: P.Operation, loop: Loop | None) -> None:
        self.added(operation, loop)
        self.tangents.means(operation.outs)

    def added(self, operation: P.Operation, loop: Loop | None) -> None:
        self.tangents.origin = operation.origin
        match operation:
            case Op():
                mirrored.operation(self.tangents, operation)
            case P.If():
                self.branch(operation, loop)
            case P.For():
                self.loop(operation)
            case P.While():
                self.repeat(operation)
            case P.With():
                self.entered(operation, loop)
            case P.Collect():
                self.collected(operation)
            case P.Try():
                self.attempt(operation, loop)
            case P.Match():
                self.match(operation, loop)

    # blocks

    def block(
        self,
        block: P.Block,
        takes: Takes,
        loop: Loop | None,
        bound: Sequence[Var] = (),
        drawn: Sequence[Drawn] = (),
    ) -> P.Block:
        """Return a block with its tangents: for those of what `takes` up it hands tangents over."""
        with self.tangents.inside() as ops:
            self.tangents.means((*bound, *block.params))
            for d in drawn:
                draw(self.tangents, d)
            for operation in block.ops:
                self.operation(operation, loop)
            end = self.end(block.end, takes, loop)
        return P.Block(block.params, tuple(ops), end)

    def end(self, end: P.End, takes: Takes, loop: Loop | None) -> P.End:
        if end.how == "raise" or end.how == "yield":
            return end
        if end.how == "break":
            assert loop is not None
            takes = Takes(loop.outs)
        return dataclasses.replace(end, results=self.handed_over(end.results, takes))

    def handed_over(self, results: Sequence[Operand], takes: Takes) -> tuple[Operand, ...]:
        """Return results with their tangents, in the order in which they are taken up."""
        found: list[Operand] = []
        for part in takes.parts(results):
            found += [r for _, r in part]
            found += [handed(self.tangents, r, v) for v, r in part if self.table.carries(v)]
        return tuple(found)

    def with_tangents(self, variables: Sequence[Var], first: int | None = None) -> tuple[Var, ...]:
        """Return variables with their tangents; those of the `first` so many stand behind these."""
        found: list[Var] = []
        for part in Takes(tuple(variables), first).parts(variables):
            found += [v for v, _ in part]
            found += [self.tangents.bind(v) for v, _ in part if self.table.carries(v)]
        return tuple(found)

    def carried(self, params: tuple[Var, ...], outs: tuple[Var, ...]) -> Takes:
        """Return what takes up what a loop hands from round to round."""
        for v, out in zip(params, outs, strict=False):
            if self.table.carries(v) != self.table.carries(out):
                place = self.table.place(self.table.binds(out))
                raise InternalError(f"only a break brings `{out.name}` a tangent", place=place)
        return Takes(params, len(outs))

    # regions

    def branch(self, region: P.If, loop: Loop | None) -> None:
        """The arms hand over tangents; what prints as an expression becomes statements for that."""
        if region.style == "filter":
            raise self.inside_comprehension(region)
        active = any(map(self.table.carries, region.outs)) or self.table.acts(region)
        active = active or _leaves(region)
        if not active:
            self.tangents.add(region)
            return
        style: P.Style = region.style if region.style == "assert" else "if"
        takes = Takes(region.outs if region.style != "assert" else ())
        then = self.block(region.then, takes, loop)
        orelse = self.block(region.orelse, takes, loop)
        outs = self.with_tangents(region.outs)
        made = dataclasses.replace(region, outs=outs, then=then, orelse=orelse, style=style)
        self.tangents.add(made)

    def loop(self, region: P.For) -> None:
        params = region.body.params
        if not any(map(self.table.carries, (*region.outs, *params, *P.bound(region)))):
            if not self.table.acts(region):
                self.tangents.add(region)
                return
        over, target, drawn = region.over, region.target, tuple[Drawn, ...]()
        if self.table.backward:
            over, target, drawn = counted(self.tangents, over, target)
        else:
            over, target = woven(self.tangents, over, target)
        takes = self.carried(params, region.outs)
        starts = self.handed_over(region.starts, takes)
        both = self.with_tangents(params, takes.first)
        body = self.block(region.body, takes, Loop(region.outs), P.flat(region.target), drawn)
        body = dataclasses.replace(body, params=both)
        outs = self.with_tangents(region.outs)
        self.tangents.add(P.For(outs, over, target, starts, body, region.origin))

    def repeat(self, region: P.While) -> None:
        if not any(map(self.table.carries, (*region.outs, *region.carried))):
            if not self.table.acts(region):
                self.tangents.add(region)
                return
        if self.table.acts_in(region.test):
            raise self.table.cannot(
                region.origin,
                "The test of this loop writes memory that has a derivative.",
                "Write it in the loop, and leave the loop by break.",
            )
        takes = self.carried(region.carried, region.outs)
        starts = self.handed_over(region.starts, takes)
        both = self.with_tangents(region.carried, takes.first)
        body = self.block(region.body, takes, Loop(region.outs), region.carried)
        outs = self.with_tangents(region.outs)
        self.tangents.add(P.While(outs, both, starts, region.test, body, region.origin))

    def entered(self, region: P.With, loop: Loop | None) -> None:
        if any(map(self.table.carries, P.bound(region))):
            raise self.table.cannot(
                region.origin,
                "What this context manager gives has a derivative; s2sad cannot follow it.",
                "Pass the value on without the manager, or make its inputs Const.",
            )
        outside, kinds = self.tangents.caught, self.table.facts.analysed.kinds
        if any(kinds.passing.get(item) is None for item in region.origin.items):
            self.tangents.caught += (BaseException,)  # nobody knows what the manager catches
        body = self.block(region.body, Takes(region.outs), loop, P.bound(region))
        self.tangents.caught = outside
        outs = self.with_tangents(region.outs)
        self.tangents.add(dataclasses.replace(region, outs=outs, body=body))

    def collected(self, region: P.Collect) -> None:
        """A comprehension of what is active is two: of values, and of their tangents."""
        if not any(map(self.table.carries, region.outs)):
            if self.table.acts(region):
                raise self.inside_comprehension(region)
            self.tangents.add(region)
            return
        raise self.inside_comprehension(region)

    def inside_comprehension(self, region: P.Region) -> Error:
        """Return an error about a comprehension that is no loop."""
        return self.table.cannot(
            region.origin,
            "This comprehension has active values; s2sad cannot differentiate it here.",
            "Write a loop that appends to a list.",
        )

    def attempt(self, region: P.Try, loop: Loop | None) -> None:
        kinds = [op for h in region.handlers if h.kind is not None for op in P.every(h.kind)]
        if any(isinstance(op, Op) and deed(op).acts for op in kinds):
            raise self.table.cannot(
                region.origin,
                "A call tells here which exceptions are caught; s2sad cannot follow what else that "
                "call does.",
                "Compute the class of the exception before the try.",
            )
        active = any(map(self.table.carries, region.outs)) or self.table.acts(region)
        if not active and not _leaves(region):
            self.tangents.add(region)
            return
        outside = self.tangents.caught
        self.tangents.caught += caught_by(region.origin, self.table.facts.analysed.kinds)
        body = self.block(region.body, Takes(()), loop)
        self.tangents.caught = outside
        arms, final = region.of_arms, region.of_final
        orelse = self.block(region.orelse, Takes(arms), loop)
        handlers = tuple(
            dataclasses.replace(h, body=self.block(h.body, Takes(arms), loop))
            for h in region.handlers
        )
        last = self.block(region.final, Takes(final), loop)
        outs = (*self.with_tangents(arms), *self.with_tangents(final))
        self.tangents.add(P.Try(outs, body, handlers, orelse, last, region.origin))

    def match(self, region: P.Match, loop: Loop | None) -> None:
        if any(self.table.carries(v) for c in region.cases for v in c.bound):
            subject = region.subject.name if isinstance(region.subject, Var) else "the subject"
            raise self.table.cannot(
                region.origin,
                f"This pattern binds parts of `{subject}`, which has a derivative; s2sad "
                "cannot differentiate such patterns yet.",
                "Take the value apart with indices and if statements.",
            )
        takes = Takes(region.outs)
        cases = tuple(
            dataclasses.replace(c, body=self.block(c.body, takes, loop, c.bound))
            for c in region.cases
        )
        outs = self.with_tangents(region.outs)
        self.tangents.add(dataclasses.replace(region, outs=outs, cases=cases))


def _leaves(region: P.Region) -> bool:
    """Say whether a block in a region ends the loop around it."""
    return any(
        block.end.how == "break" or any(map(_leaves, _around(block))) for block in P.blocks(region)
    )


def _around(block: P.Block) -> list[P.Region]:
    """Return the regions of a block, but for loops: what ends these ends nothing else."""
    found = (o for o in block.ops if not isinstance(o, Op))
    return [o for o in found if not isinstance(o, P.For | P.While | P.Collect)]
