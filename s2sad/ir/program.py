"""What a program is made of: variables, places, operations, regions and blocks. All are frozen.

    peak = 0.0                          peak = 0.0
    for i in range(steps):              peak.1 = For(range(steps), i, peak.2 = peak)
        if u[3] > peak:                     t = u[3]; t.1 = t > peak.2
            peak = u[3]                     peak.3 = If(t.1)
                                                peak.4 = u[3]; next peak.4
                                                next peak.2
                                            next peak.3

A variable is bound once. What the arms of an `if` agree on, and what a loop carries, are results
of the region and parameters of its blocks. A name that is bound where no order of bindings can be
told (an inner function rebinds it, or a try that may end half way) is a *cell*: memory of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from s2sad.kinds import Kind
from s2sad.primitives.record import Primitive

Code: TypeAlias = Any
"""A piece of the user's syntax that is kept as it is written."""


@dataclass(frozen=True, eq=False)
class Var:
    """One binding of a name, or of no name: the value of a part of an expression."""

    name: str
    kind: Kind
    cell: bool = False


@dataclass(frozen=True)
class Const:
    """A literal that stands in the program."""

    value: bool | int | float | complex | str | bytes | object | None


@dataclass(frozen=True)
class Outer:
    """What a name, or a dotted name, means outside of the function: `np.sum`."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Unbound:
    """No value: on this path the name is not bound."""

    name: str


@dataclass(frozen=True)
class Spread:
    """An operand whose items are given one by one: `*a`, or `**a` where it is `named`."""

    value: Var | Const | Outer
    named: bool = False


Value: TypeAlias = Var | Const | Outer | Unbound
Operand: TypeAlias = Value | Spread


@dataclass(frozen=True)
class Item:
    """A step into an object: what stands at an index, in a slice, or under a key."""

    index: Operand


@dataclass(frozen=True)
class Field:
    """A step into an object: one of its attributes."""

    word: str


@dataclass(frozen=True)
class Anywhere:
    """A step into an object: any part of it, however deep."""


Step: TypeAlias = Item | Field | Anywhere


@dataclass(frozen=True)
class Place:
    """Memory: an object, and the way to one of its parts. An empty path is the object's content."""

    object: Var | Outer
    path: tuple[Step, ...] = ()


@dataclass(frozen=True, eq=False)
class Op:
    """One call of a primitive. `settings` are the operands that are given by name."""

    outs: tuple[Var, ...]
    primitive: Primitive
    operands: tuple[Operand, ...]
    settings: tuple[tuple[str, Operand | Code], ...] = ()
    reads: tuple[Place, ...] = ()
    writes: tuple[Place, ...] = ()
    origin: Code = None


@dataclass(frozen=True, eq=False)
class Undone:
    """Where an operation of a backward sweep comes from: the `statement` that it undoes.

    The `heading` is what stands above it in the text, None where that would say nothing.
    """

    heading: Code
    statement: Code = None


@dataclass(frozen=True)
class End:
    """How a block ends: it goes on `next`, or with the element of a collection (`yield`), it leaves
    the loop (`break`), or it raises. The results go to the region that takes up from there.
    """

    how: Literal["next", "break", "raise", "yield"]
    results: tuple[Operand, ...] = ()
    origin: Code = field(default=None, compare=False)


@dataclass(frozen=True, eq=False)
class Block:
    """Operations in order. `params` are bound where the block is entered."""

    params: tuple[Var, ...]
    ops: tuple[Operation, ...]
    end: End


Style = Literal["if", "either", "and", "or", "also", "assert", "filter"]


@dataclass(frozen=True, eq=False)
class If:
    """Runs one of two blocks.

    The style tells which Python it prints as: `if`, `a if t else b`, `a and b`, an assert, the test
    of a comprehension; "also" is what goes on with an `and` or `or`.
    """

    outs: tuple[Var, ...]
    test: Operand
    then: Block
    orelse: Block
    style: Style = "if"
    origin: Code = None


Target: TypeAlias = "Var | tuple[Target, ...]"


@dataclass(frozen=True, eq=False)
class For:
    """Runs a block for each item. `body.params` are carried, `starts` are their first values.

    The results are what the first of the carried variables hold where the loop ends.
    """

    outs: tuple[Var, ...]
    over: Operand
    target: Target
    starts: tuple[Operand, ...]
    body: Block
    origin: Code = None


@dataclass(frozen=True, eq=False)
class While:
    """Runs the `test`, whose last result decides, then the body. Both see what is `carried`.

    The results are what the first of the carried variables hold where the loop ends.
    """

    outs: tuple[Var, ...]
    carried: tuple[Var, ...]
    starts: tuple[Operand, ...]
    test: Block
    body: Block
    origin: Code = None


@dataclass(frozen=True, eq=False)
class Collect:
    """A comprehension: a block for each item, which yields an element, or holds another loop."""

    outs: tuple[Var, ...]
    how: Literal["list", "set", "dict", "inner"]
    over: Operand
    target: Target
    body: Block
    origin: Code = None


@dataclass(frozen=True, eq=False)
class Handler:
    """What a try does about an exception: `kind` gives the class, if any, `caught` names it."""

    kind: Block | None
    caught: Var | None
    body: Block


@dataclass(frozen=True, eq=False)
class Try:
    """Runs a body; an exception in it runs a handler, and `final` is run in any case.

    The last of the results are those of `final`, the others those of the block that ran before it.
    """

    outs: tuple[Var, ...]
    body: Block
    handlers: tuple[Handler, ...]
    orelse: Block
    final: Block
    origin: Code = None

    @property
    def of_arms(self) -> tuple[Var, ...]:
        """What the body with `orelse`, or a handler, gives."""
        return self.outs[: len(self.outs) - len(self.of_final)]

    @property
    def of_final(self) -> tuple[Var, ...]:
        """What the last block gives."""
        count = len(self.final.end.results) if self.final.end.how == "next" else 0
        return self.outs[len(self.outs) - count :]


@dataclass(frozen=True, eq=False)
class With:
    """Enters one context manager around a block."""

    outs: tuple[Var, ...]
    manager: Operand
    target: Target | None
    body: Block
    origin: Code = None


@dataclass(frozen=True, eq=False)
class Case:
    """One case of a match: the pattern as it is written, what it binds, its guard, its body.

    The case without a pattern is that none of the others fits.
    """

    pattern: Code
    bound: tuple[Var, ...]
    guard: Block | None
    body: Block


@dataclass(frozen=True, eq=False)
class Match:
    """Runs the block of the first case that fits."""

    outs: tuple[Var, ...]
    subject: Operand
    cases: tuple[Case, ...]
    origin: Code = None


Region: TypeAlias = If | For | While | Collect | Try | With | Match
Operation: TypeAlias = Op | Region


@dataclass(frozen=True, eq=False)
class Program:
    """A function: its parameters are those of its block, its result that of the block's end."""

    name: str
    block: Block
    source: Code = None


def blocks(region: Region) -> tuple[Block, ...]:
    """Return the blocks of a region, in the order in which they stand."""
    match region:
        case If():
            return (region.then, region.orelse)
        case For() | Collect() | With():
            return (region.body,)
        case While():
            return (region.test, region.body)
        case Try():
            inner = [b for h in region.handlers for b in (h.kind, h.body) if b is not None]
            return (region.body, *inner, region.orelse, region.final)
        case Match():
            return tuple(b for c in region.cases for b in (c.guard, c.body) if b is not None)


def operands(operation: Operation) -> tuple[Operand, ...]:
    """Return what an operation itself reads, not what the blocks in it do."""
    match operation:
        case Op():
            if not operation.settings:
                return operation.operands
            given = [v for _, v in operation.settings if isinstance(v, OPERANDS)]
            return (*operation.operands, *given)
        case If():
            return (operation.test,)
        case For():
            return (operation.over, *operation.starts)
        case Collect():
            return (operation.over,)
        case While():
            return operation.starts
        case With():
            return (operation.manager,)
        case Match():
            return (operation.subject,)
        case Try():
            return ()


def bound(operation: Operation) -> tuple[Var, ...]:
    """Return the variables that stand for what an operation binds for its blocks."""
    match operation:
        case For() | Collect():
            return flat(operation.target)
        case With():
            return flat(operation.target) if operation.target is not None else ()
        case While():
            return operation.carried
        case Try():
            return tuple(h.caught for h in operation.handlers if h.caught is not None)
        case Match():
            return tuple(v for c in operation.cases for v in c.bound)
        case _:
            return ()


def flat(target: Target) -> tuple[Var, ...]:
    """Return the variables of a target, in order."""
    if isinstance(target, Var):
        return (target,)
    return tuple(v for part in target for v in flat(part))


def variable(operand: Operand) -> Var | None:
    """Return the variable that an operand reads, if it is one."""
    if isinstance(operand, Var):
        return operand
    value = operand.value if isinstance(operand, Spread) else None
    return value if isinstance(value, Var) else None


def every(block: Block) -> Iterator[Operation]:
    """Yield the operations of a block and of all blocks in it, in order."""
    for operation in block.ops:
        yield operation
        if not isinstance(operation, Op):
            for inner in blocks(operation):
                yield from every(inner)


OPERANDS = (Var, Const, Outer, Unbound, Spread)
