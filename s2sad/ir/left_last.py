"""Loops that are left at the end of a round, and nowhere else.

Before: a program. After: one that does the same, where what ends a loop stands last in the loop's
body, or last in an arm of a branch that stands last.

    for i in r                      for i in r
        if t                            x.1 = if t
            break y                         break y
        else                            else
        x = y * z                           x = y * z
        next x                              next x
                                        next x.1

Where several ways lead on, a variable says whether the loop is left, and a branch behind asks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.ir.rebuilt import substituted, with_blocks
from s2sad.names import Names

Ops = tuple[P.Operation, ...]


def left_last(program: P.Program) -> P.Program:
    """Return a program whose loops are left at the end of a round."""
    names = {v.name for o in P.every(program.block) for v in (*o.outs, *P.bound(o))}
    word = Names({*names, *(v.name for v in program.block.params)}).fresh("left")
    return replace(program, block=_block(program.block, word))


def leaves_loop(region: P.Operation) -> bool:
    """Say whether a block in a region ends the loop around the region."""
    if isinstance(region, Op | P.For | P.While | P.Collect):
        return False
    return any(map(may_leave, P.blocks(region)))


def may_leave(block: P.Block) -> bool:
    """Say whether a block may end the loop around it."""
    return block.end.how == "break" or any(map(leaves_loop, block.ops))


def _block(block: P.Block, word: str) -> P.Block:
    return replace(block, ops=tuple(_operation(o, word) for o in block.ops))


def _operation(operation: P.Operation, word: str) -> P.Operation:
    if isinstance(operation, Op):
        return operation
    made = with_blocks(operation, lambda b: _block(b, word))
    match made:
        case P.For():
            params = made.body.params
            body = _Rounds(made.outs, params, word).ended(made.body)
            return replace(made, body=replace(body, params=params))
        case P.While():
            return replace(made, body=_Rounds(made.outs, made.carried, word).ended(made.body))
    return made


@dataclass(frozen=True)
class _Rounds:
    """One loop: what it hands over (`outs`) stands first among what it `carries`.

    What says that the loop is left has the name `word`.
    """

    outs: tuple[Var, ...]
    carries: tuple[Var, ...]
    word: str

    def ended(self, block: P.Block) -> P.Block:
        """Return a block in which what ends the loop stands last; it goes on to the next round."""
        before, region, rest = _parted(block)
        if region is None or _leaves_at_last(region):
            return block
        if isinstance(region, P.If):
            going = [b for b in P.blocks(region) if b.end.how == "next"]
            if len(going) < 2 or not rest.ops:
                return self.chosen(before, region, rest)
        made, leaves, flag = self.asked(region)
        leave = P.Block((), (), P.End("break", leaves, _break_of(P.blocks(region))))
        stay = P.Block((), (), P.End("next"))
        return self.chosen((*before, made), P.If((), flag, leave, stay, "if", region.origin), rest)

    def chosen(self, before: Ops, region: P.If, rest: P.Block) -> P.Block:
        """Return a block that ends with a branch; what stood behind it goes into an arm."""
        arms = [self.ended(_followed(b, region.outs, rest)) for b in P.blocks(region)]
        outs = _like(self.carries)
        end = P.End("next", outs)
        if all(b.end.how != "next" for b in arms):
            origin = _break_of(arms)
            arms, outs = [_goes_on(b) for b in arms], _like(self.outs)
            end = P.End("break", outs, origin)
        made = P.If(outs, region.test, arms[0], arms[1], "if", region.origin)
        return P.Block((), (*before, made), end)

    def asked(self, region: P.Region) -> tuple[P.Region, tuple[Var, ...], Var]:
        """Return a region that leaves no loop: it tells with what, and whether to leave it."""
        leaves, flag = _like(self.outs), Var(self.word, K.BOOL)
        more = (*leaves, flag)
        made: P.Region
        match region:
            case P.If():
                then, orelse = (self.telling(b, region.outs) for b in P.blocks(region))
                made = replace(region, outs=(*region.outs, *more), then=then, orelse=orelse)
            case P.With():
                body = self.telling(region.body, region.outs)
                made = replace(region, outs=(*region.outs, *more), body=body)
            case P.Match():
                cases = [replace(c, body=self.telling(c.body, region.outs)) for c in region.cases]
                made = replace(region, outs=(*region.outs, *more), cases=tuple(cases))
            case P.Try():
                made = self.attempt(region, more)
            case _:
                raise AssertionError("a loop is left by its own blocks alone")
        return made, leaves, flag

    def attempt(self, region: P.Try, more: tuple[Var, ...]) -> P.Try:
        """Return a try whose body tells what follows it whether to leave the loop."""
        arms, final = region.of_arms, region.of_final
        body, orelse = region.body, self.telling(region.orelse, arms)
        if may_leave(body):
            body = self.telling(body, ())
            *leaves, flag = body.end.results
            body = replace(body, end=P.End("next"))
            orelse = self.unless_left(flag, leaves, region.orelse, arms)
        handlers = [replace(h, body=self.telling(h.body, arms)) for h in region.handlers]
        outs = (*arms, *more, *final)
        return replace(region, outs=outs, body=body, handlers=tuple(handlers), orelse=orelse)

    def telling(self, block: P.Block, outs: tuple[Var, ...]) -> P.Block:
        """Return a block that hands over its results, then with what and whether it leaves."""
        before, region, rest = _parted(block)
        if region is not None:
            made, leaves, flag = self.asked(region)
            told = self.unless_left(flag, leaves, rest, outs)
            return P.Block(block.params, (*before, made, *told.ops), told.end)
        end = block.end
        if end.how == "next":
            stays = self.carries[: len(self.outs)]
            end = P.End("next", (*end.results, *stays, P.Const(False)))
        elif end.how == "break":
            end = self.left(end.results, outs)
        return replace(block, end=end)

    def unless_left(
        self, flag: Operand, leaves: Sequence[Operand], rest: P.Block, outs: tuple[Var, ...]
    ) -> P.Block:
        """Return what tells that the loop is left, or does the rest."""
        gone = P.Block((), (), self.left(leaves, outs))
        if flag == P.Const(True):
            return gone
        more = (*_like(outs), *_like(self.outs), Var(self.word, K.BOOL))
        made = P.If(more, flag, gone, self.telling(rest, outs), "if")
        return P.Block((), (made,), P.End("next", more))

    def left(self, leaves: Sequence[Operand], outs: tuple[Var, ...]) -> P.End:
        """Return the end of what leaves the loop: in the place of `outs`, which nobody reads then,
        it hands over what the round has started with.
        """
        begun: dict[str, Operand] = {v.name: v for v in self.carries}
        given = [begun.get(v.name, P.Unbound(v.name)) for v in outs]
        return P.End("next", (*given, *leaves, P.Const(True)))


def _parted(block: P.Block) -> tuple[Ops, P.Region | None, P.Block]:
    """Return a block in three: before what may leave the loop, that, and what stands behind."""
    for at, operation in enumerate(block.ops):
        if not isinstance(operation, Op) and leaves_loop(operation):
            return block.ops[:at], operation, P.Block((), block.ops[at + 1 :], block.end)
    return block.ops, None, block


def _leaves_at_last(region: P.Region) -> bool:
    """Say whether the last block of a try leaves a loop, whatever happens to an exception."""
    inner = [o for b in P.blocks(region) for o in P.every(b)]
    return any(isinstance(o, P.Try) and may_leave(o.final) for o in (region, *inner))


def _followed(arm: P.Block, outs: tuple[Var, ...], rest: P.Block) -> P.Block:
    """Return an arm that does the rest, if it leads there."""
    if arm.end.how != "next":
        return arm
    behind = substituted(rest, dict(zip(outs, arm.end.results, strict=True)))
    return P.Block((), (*arm.ops, *behind.ops), behind.end)


def _break_of(blocks: Iterable[P.Block]) -> P.Code:
    """Return the statement that leaves the loop in one of some blocks."""
    for block in blocks:
        if block.end.how == "break":
            return block.end.origin
        for operation in block.ops:
            if not isinstance(operation, Op) and leaves_loop(operation):
                return _break_of(P.blocks(operation))
    return None


def _goes_on(arm: P.Block) -> P.Block:
    """Return an arm that hands over what it would have left the loop with."""
    return replace(arm, end=P.End("next", arm.end.results)) if arm.end.how == "break" else arm


def _like(variables: Sequence[Var]) -> tuple[Var, ...]:
    return tuple(Var(v.name, v.kind) for v in variables)
