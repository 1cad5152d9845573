"""Drop what nobody needs: one walk marks what must stay, one walk leaves out the rest.

    t = np.sin(x)                         (nobody reads t)
    u_bar = np.zeros(3)                   (it is only written)
    u_bar[0] += y
    n.1, s.1 = for i in r, n, s    ->     s.1 = for i in r, s
        n.2 = n + 1                           (n counts for itself alone)
        s.2 = s + x[i]                        s.2 = s + x[i]
        next n.2, s.2                         next s.2

Dropped may be what only raises Python's own errors (an index out of range), but where a try or a
with stands around it; a while loop stays, since it may never end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from s2sad.ir import program as P
from s2sad.ir import rebuilt as R
from s2sad.ir.needs import Needed, needed
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.primitives import language as L

Kept = tuple[bool, ...]


def without_unused(program: P.Program, own: frozenset[Var] | None = None) -> P.Program:
    """Return a program without what neither its result nor the world around it needs.

    Of a derived program the user's `own` values are told: what computes others may raise nothing
    that the user's code waits for.
    """
    worker = _Sweep(needed(program, own), frozenset(program.block.params))
    block = program.block
    ops, end = worker.ops(block, ()), block.end
    return replace(program, block=P.Block(block.params, ops, end))


@dataclass(frozen=True)
class _Sweep:
    """Leaves out what is not needed; parameters of the function are there in any case.

    Whoever walks a block says which of its results are kept: where it goes on (`takes`), and where
    it `leaves` the loop.
    """

    needed: Needed
    given: frozenset[Var]

    def kept(self, variables: tuple[Var, ...]) -> Kept:
        return tuple(v in self.needed for v in variables)

    def some(self, variables: tuple[Var, ...]) -> tuple[Var, ...]:
        return tuple(v for v in variables if v in self.needed)

    def block(self, block: P.Block, takes: Kept, leaves: Kept) -> P.Block:
        end = block.end
        if end.how in ("next", "break"):
            end = replace(end, results=_those(end.results, takes if end.how == "next" else leaves))
        return P.Block(self.some(block.params), self.ops(block, leaves), end)

    def whole(self, block: P.Block) -> P.Block:
        """Return a block whose results are all kept."""
        return self.block(block, (True,) * len(block.end.results), ())

    def ops(self, block: P.Block, leaves: Kept) -> tuple[P.Operation, ...]:
        made: list[P.Operation] = []
        for operation in block.ops:
            if operation in self.needed:
                new = self.operation(operation, leaves)
                made += _plain(new) if isinstance(new, P.Try) else [new]
                made += self.discarded(operation)
        return tuple(made)

    def operation(self, operation: P.Operation, leaves: Kept) -> P.Operation:
        if not isinstance(operation, Op):
            return self.region(operation, leaves)
        reads, writes = self.places(operation.reads), self.places(operation.writes)
        if (reads, writes) == (operation.reads, operation.writes):
            return operation
        return replace(operation, reads=reads, writes=writes)

    def places(self, found: tuple[Place, ...]) -> tuple[Place, ...]:
        """Return the places in objects that are still bound."""
        return tuple(p for p in found if self.is_bound(p.object))

    def is_bound(self, owner: Var | P.Outer) -> bool:
        there = isinstance(owner, P.Outer) or owner.cell or owner in self.given
        return there or owner in self.needed

    def discarded(self, operation: P.Operation) -> list[Op]:
        """Say of a value without a name that nobody reads it now, though computing it acts."""
        if not isinstance(operation, Op) or len(operation.outs) != 1:
            return []
        (out,) = operation.outs
        if out.name or out in self.needed or operation.primitive.form == "augmented":
            return []
        return [Op((), L.DISCARD, (out,), origin=operation.origin)]

    # regions

    def region(self, region: P.Region, leaves: Kept) -> P.Region:
        match region:
            case P.If():
                return self.branch(region, leaves)
            case P.For():
                body, outs = region.body, self.kept(region.outs)
                starts = _those(region.starts, self.kept(body.params))
                new = self.block(body, self.kept(body.params), outs)
                order = _order(outs, self.kept(body.params))
                new = replace(_ending(new, order), params=_at(new.params, order))
                outs_ = self.some(region.outs)
                return replace(region, outs=outs_, starts=_at(starts, order), body=new)
            case P.While():
                return self.repeat(region)
            case P.Collect():
                return R.with_blocks(region, lambda b: self.block(b, (), ()))
            case P.With():
                body = self.block(region.body, self.kept(region.outs), leaves)
                return replace(region, outs=self.some(region.outs), body=body)
            case P.Try():
                return self.attempt(region, leaves)
            case P.Match():
                cases = tuple(self.case(c, self.kept(region.outs), leaves) for c in region.cases)
                return replace(region, outs=self.some(region.outs), cases=cases)

    def branch(self, region: P.If, leaves: Kept) -> P.If:
        """A branch that gives no value any more is a statement."""
        takes, outs = self.kept(region.outs), self.some(region.outs)
        then, orelse = (self.block(b, takes, leaves) for b in P.blocks(region))
        is_value = region.style not in ("if", "assert", "filter")
        style = "if" if is_value and not outs else region.style
        return replace(region, outs=outs, then=then, orelse=orelse, style=style)

    def repeat(self, region: P.While) -> P.While:
        takes, outs = self.kept(region.carried), self.kept(region.outs)
        test, body = self.whole(region.test), self.block(region.body, takes, outs)
        carried, starts = self.some(region.carried), _those(region.starts, takes)
        order = _order(outs, takes)
        carried, starts, body = _at(carried, order), _at(starts, order), _ending(body, order)
        return P.While(self.some(region.outs), carried, starts, test, body, region.origin)

    def attempt(self, region: P.Try, leaves: Kept) -> P.Try:
        arms, final = self.kept(region.of_arms), self.kept(region.of_final)
        handlers = tuple(
            replace(
                h,
                kind=None if h.kind is None else self.whole(h.kind),
                body=self.block(h.body, arms, leaves),
            )
            for h in region.handlers
        )
        outs, body = self.some(region.outs), self.block(region.body, (), leaves)
        orelse, last = self.block(region.orelse, arms, leaves), region.final
        return P.Try(outs, body, handlers, orelse, self.block(last, final, leaves), region.origin)

    def case(self, case: P.Case, takes: Kept, leaves: Kept) -> P.Case:
        guard = None if case.guard is None else self.whole(case.guard)
        return replace(case, guard=guard, body=self.block(case.body, takes, leaves))


def _plain(region: P.Try) -> list[P.Operation]:
    """Return what a try does, where there is nothing left that it would do at last."""
    parts = (region.body, region.orelse, region.final)
    if region.handlers or region.final.ops or any(b.end.how != "next" for b in parts):
        return [region]
    results = (*region.orelse.end.results, *region.final.end.results)
    pairs = zip(region.outs, results, strict=True)
    copies = [Op((v,), L.SAME, (r,), origin=region.origin) for v, r in pairs]
    return [*region.body.ops, *region.orelse.ops, *copies]


def _those(results: tuple[Operand, ...], kept: Kept) -> tuple[Operand, ...]:
    """Return the results that are taken up; where nobody takes any, none."""
    return tuple(r for r, stays in zip(results, kept, strict=False) if stays)


T = TypeVar("T")


def _order(outs: Kept, params: Kept) -> list[int]:
    """Return the places of what a loop goes on to carry, those of its results first."""
    gives = [k < len(outs) and outs[k] for k, stays in enumerate(params) if stays]
    return [i for i, g in enumerate(gives) if g] + [i for i, g in enumerate(gives) if not g]


def _at(found: tuple[T, ...], order: list[int]) -> tuple[T, ...]:
    return tuple(found[i] for i in order)


def _ending(body: P.Block, order: list[int]) -> P.Block:
    """Return the body of a loop that hands over what the next round starts with in that order."""
    if body.end.how != "next":
        return body
    return replace(body, end=replace(body.end, results=_at(body.end.results, order)))
