"""A rule becomes a part of the caller's program: its operations, on the caller's operands.

    @pullback(np.sum)
    def pull_sum(out_bar, out, a, *, axis=None, keepdims=False):
        if axis is not None and not keepdims:         np.sum(x, axis=0):
            out_bar = np.expand_dims(out_bar, axis)     out_bar = np.expand_dims(s_bar, 0)
        return np.broadcast_to(out_bar, a.shape)        %0 = x.shape
                                                        %1 = np.broadcast_to(out_bar, %0)

Before: a rule, and an operand for each parameter that is given. After: operations, and an operand
for each thing that the rule returns. A rule that loops, or is long, is called instead.
"""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.kinds import Kind
from s2sad.known import spaces
from s2sad.known.lifted import lifted, space_among
from s2sad.linear.called_rules import Call, called, item
from s2sad.linear.operands import Given, kind_of, kinsfolk
from s2sad.linear.rule_programs import (
    Asked,
    RuleProgram,
    Symbols,
    as_asked,
    canonical,
    parameters,
    program_for,
    unasked,
)
from s2sad.linear.rule_refusals import RuleRefusal
from s2sad.linear.said_anyway import shorter
from s2sad.primitives import language as L
from s2sad.primitives.record import Primitive
from s2sad.steps.refs import Refs
from s2sad.syntax.decided import Decided, SettledNum, SettledStr

if TYPE_CHECKING:
    from s2sad.linear.tangent_table import Tangents


@dataclass(frozen=True)
class Spliced:
    """Operations, and what they give: one operand for each item that the rule returns, or None.

    Is it derived `again`, the rule has to be a call: derivatives that it stops are not seen to be
    stopped here, and a helper may have no derivative where the rule has one.
    """

    ops: tuple[P.Operation, ...]
    results: tuple[P.Operand | None, ...]
    again: bool = False


def spliced_in(
    t: Tangents,
    rule: Callable[..., object],
    given: Given,
    count: int,
    arrays: bool = False,
    apart: bool = False,
) -> Spliced:
    """Return the operations that a rule amounts to where tangents are.

    One whose derivatives are seen in a call alone is called where the text is derived again.
    """
    made = spliced(t.table.refs, rule, given, t.origin, count, arrays, apart)
    if made.again and t.table.derivation.for_reading:
        return spliced(t.table.refs, rule, given, t.origin, count, arrays, True)
    return made


def spliced(
    refs: Refs,
    rule: Callable[..., object],
    given: Given,
    origin: P.Code,
    count: int | None = None,
    arrays: bool = False,
    apart: bool = False,
) -> Spliced:
    """Return the operations that a rule amounts to; a RuleRefusal says that it takes no such call.

    `given` maps the rule's parameters to operands, a parameter that is absent keeps its default.
    `count` is the number of derivatives that the rule returns, 0 for one that returns a tangent,
    None for as many as the rule is seen to return. A rule for `arrays` gets an array where it
    would take a number of Python's for one. A rule that stays `apart` is called.
    """
    space = space_among(kind_of(o) for o in _each(given))
    given = {**given, **kinsfolk(rule, refs, space)}
    own = rule.func if isinstance(rule, registry.Shared) else rule
    call = Call(own, given, origin, space, count, arrays)
    if apart or not isinstance(own, types.FunctionType):
        return Spliced(*called(call, refs, RuleProgram(why="it stays a call")))
    kinds, symbols = canonical(_kinds(own, given))
    made = program_for(Asked(own, kinds, arrays))
    if made.refuses is not None:
        raise RuleRefusal(made.refuses)
    if made.program is None or _unclear(call, made.result):
        back = Symbols(_fresh, {mine: theirs for theirs, mine in symbols.table.items()})
        result = K.mapped(_unsettled, back.kind(made.result))
        return Spliced(*called(call, refs, replace(made, result=result)))
    return replace(_Splice(call, refs, made, symbols).run(), again=made.called_again)


def _each(given: Given) -> Iterator[P.Operand]:
    """Yield all operands that a rule is given."""
    for operand in given.values():
        yield from operand if isinstance(operand, tuple) else (operand,)


def _kinds(rule: types.FunctionType, given: Given) -> Iterator[tuple[str, Kind]]:
    """Yield the kinds of a rule's parameters; None stands for an array that is not given."""
    free = unasked(rule)
    for p in parameters(rule):
        operand = given.get(p.name)
        setting = p.kind is p.KEYWORD_ONLY
        if p.name in free and operand is not None and not isinstance(operand, tuple):
            kind = kind_of(operand)
            yield p.name, K.NONE if isinstance(kind, K.NoneKind) else K.UNKNOWN
        elif isinstance(operand, tuple) or p.kind is p.VAR_POSITIONAL:
            items = operand if isinstance(operand, tuple) else ()
            yield p.name, K.Tuple(tuple(as_asked(kind_of(o), setting) for o in items))
        elif operand is not None:
            yield p.name, as_asked(kind_of(operand), setting)
        elif p.kind is p.VAR_KEYWORD:
            yield p.name, K.Dict(())
        else:
            yield p.name, as_asked(K.kind_of(_default(p), p.name, literal=True), setting)


def _default(p: inspect.Parameter) -> object:
    return None if p.default is p.empty else p.default


def _unclear(call: Call, result: Kind) -> bool:
    """Say whether a rule may return None on some paths, or another number of things."""
    items = result.items if isinstance(result, K.Tuple) and call.is_several(result) else (result,)
    if any(isinstance(k, K.Union) and K.NONE in k.options for k in items):
        return True
    if not call.is_several(result) or call.count is None or isinstance(result, K.NoneKind):
        return False
    return not isinstance(result, K.Tuple) or len(items) != call.count


def _fresh(_: str) -> str:
    return K.fresh_dim().symbol


class _Splice:
    """Copies the operations of one rule, with variables of their own."""

    def __init__(self, call: Call, refs: Refs, made: RuleProgram, symbols: Symbols) -> None:
        assert made.program is not None and made.outside is not None
        self.call = call
        self.refs = refs
        self.program = made.program
        self.outside = made.outside
        self.temps = made.temps
        self.symbols = Symbols(_fresh, {mine: theirs for theirs, mine in symbols.table.items()})
        self.result = made.result
        self.table: dict[P.Var, P.Value] = {}
        self.ops: list[P.Operation] = []

    def run(self) -> Spliced:
        """Return the copies, and what they give."""
        used = set(_read(self.program.block))
        listed = {p.name: p for p in parameters(self.call.rule)}
        for v in self.program.block.params:
            if v in used:
                self.table[v] = self.parameter(v, listed[v.name])
        ops = self.program.block.ops
        (result,) = self.program.block.end.results
        if not self.call.is_several(self.result):
            self.ops += self.copies(ops)
            return Spliced(tuple(self.ops), (self.said(self.operand(result)),))
        display, shown = _display(ops, result)
        self.ops += self.copies(op for op in ops if op is not shown)
        if display is not None:
            parts = [self.said(self.operand(o)) for o in display]
            return Spliced(tuple(self.ops), tuple(parts))
        items = self.apart(self.operand(result))
        return Spliced(tuple(self.ops), items)

    def apart(self, whole: P.Operand) -> tuple[P.Operand | None, ...]:
        """Return the items of what the rule returns on several paths."""
        if not isinstance(self.result, K.Tuple):
            return (None,) * (self.call.count or 1)
        found: list[P.Operand | None] = []
        for i, kind in enumerate(self.result.items):
            if isinstance(kind, K.NoneKind):
                found.append(None)
                continue
            op = item(whole, i, self.kind(kind), self.call.origin)
            self.ops.append(op)
            found.append(op.outs[0])
        return tuple(found)

    def said(self, operand: P.Operand) -> P.Operand | None:
        """Return what is a derivative: None says that there is none."""
        return None if isinstance(kind_of(operand), K.NoneKind) else operand

    # what the rule is given

    def parameter(self, v: P.Var, p: inspect.Parameter) -> P.Value:
        """Return what a parameter of the rule stands for."""
        operand = self.call.given.get(p.name)
        if isinstance(operand, tuple) or p.kind is p.VAR_POSITIONAL:
            items = operand if isinstance(operand, tuple) else ()
            kind = K.Tuple(tuple(map(kind_of, items)))
            return self.emit(L.TUPLE, items, kind, v.name)
        if p.kind is p.VAR_KEYWORD:
            return self.emit(L.DICT, (), K.Dict(()), v.name)
        if operand is not None:
            assert not isinstance(operand, P.Spread), "a rule is given one value for a parameter"
            return operand
        return self.literal(_default(p), v.name)

    def literal(self, value: object, word: str = "") -> P.Value:
        """Return an operand for a default; one that is a tuple is made."""
        if isinstance(value, float) and not math.isfinite(value):  # no literal says that
            name = "nan" if math.isnan(value) else "inf"
            made = P.Outer(f"{self.refs.module(np)}.{name}", K.FLOAT)
            return made if value != -math.inf else self.emit(L.PREFIX["USub"], (made,), K.FLOAT)
        if not isinstance(value, tuple):
            return P.Const(value)
        items = tuple(self.literal(part) for part in value)
        return self.emit(L.TUPLE, items, K.kind_of(value, word, literal=True), word)

    def emit(
        self, primitive: Primitive, operands: tuple[P.Operand, ...], kind: Kind, word: str = ""
    ) -> P.Var:
        out = P.Var(word, kind)
        self.ops.append(P.Op((out,), primitive, operands, origin=self.call.origin))
        return out

    # copies

    def kind(self, kind: Kind) -> Kind:
        """Return a kind with the caller's lengths, in which nothing is settled any more.

        What a rule makes it makes where the call works: it makes an array of a number there, too.
        """
        return lifted(K.mapped(_unsettled, self.symbols.kind(kind)), self.call.space)

    def bound(self, variables: tuple[P.Var, ...]) -> tuple[P.Var, ...]:
        """Return new variables for those of the rule."""
        words = ("" if v.name in self.temps else v.name for v in variables)
        made = tuple(P.Var(w, self.kind(v.kind)) for w, v in zip(words, variables, strict=True))
        self.table.update(zip(variables, made, strict=True))
        return made

    def operand(self, operand: P.Operand) -> P.Operand:
        if isinstance(operand, P.Spread):
            value = self.operand(operand.value)
            assert isinstance(value, P.Var | P.Const | P.Outer)
            return P.Spread(value, operand.named)
        if isinstance(operand, P.Var):
            return self.table[operand]
        return self.outer(operand) if isinstance(operand, P.Outer) else operand

    def outer(self, operand: P.Outer) -> P.Outer:
        """Return a name from outside as the caller's module has it."""
        first, *rest = operand.name.split(".")
        if first not in self.outside:
            return operand
        value, space = self.outside[first], self.call.space
        if isinstance(value, types.ModuleType):
            module = spaces.counterpart(value, space)
            if module is None:
                raise spaces.NoCounterpart(f"{space} has no {value.__name__}")
            there = functools.reduce(lambda o, w: getattr(o, w, None), rest, module)
            word = self.refs.module(module)
        else:
            there = spaces.helper_in(value, space)
            word = self.refs.function(there, space)
        kind = operand.kind if space == spaces.NUMPY or there is None else K.Known(there)
        return P.Outer(".".join([word, *rest]), kind)

    def written(self, op: P.Op) -> tuple[P.Place, ...]:
        """Return the places that an operation writes: a rule leaves what it is given as it is.

        So does a helper of rules, whatever the rule gives it.
        """
        if not registry.is_ours(self.call.rule):
            return op.writes
        fn = kind_of(op.operands[0]) if op.primitive is L.CALL else K.UNKNOWN
        if isinstance(fn, K.Known) and registry.is_helper(fn.value):
            return ()
        return tuple(p for p in op.writes if p.object not in self.program.block.params)

    def places(self, places: tuple[P.Place, ...]) -> tuple[P.Place, ...]:
        found = []
        for place in places:
            held = self.operand(place.object)
            if isinstance(held, P.Var | P.Outer):
                found.append(P.Place(held, tuple(map(self.step, place.path))))
        return tuple(found)

    def step(self, step: P.Step) -> P.Step:
        return P.Item(self.operand(step.index)) if isinstance(step, P.Item) else step

    def copies(self, ops: Iterable[P.Operation]) -> list[P.Operation]:
        """Return the copies of operations; another name for a value is the value."""
        found = []
        for op in map(self.copied, ops):
            if isinstance(op, P.Op) and op.primitive is L.SAME and not op.settings:
                (value,) = op.operands
                assert not isinstance(value, P.Spread), "a name stands for one value"
                self.renamed(op.outs[0], value)
            else:
                found.append(op)
        return found

    def renamed(self, copy: P.Var, value: P.Value) -> None:
        """Let what a copy stands for be another value."""
        self.table = {v: value if made is copy else made for v, made in self.table.items()}

    def copied(self, operation: P.Operation) -> P.Operation:
        if isinstance(operation, P.If):
            test = self.operand(operation.test)
            arms = self.block(operation.then), self.block(operation.orelse)
            outs = self.bound(operation.outs)
            is_value = operation.style == "if" and len(outs) == 1
            style: P.Style = "either" if is_value else operation.style
            return P.If(outs, test, *arms, style, self.call.origin)
        assert isinstance(operation, P.Op), "a rule with such a region is called"
        settings = tuple(
            (n, self.operand(v) if isinstance(v, P.OPERANDS) else v) for n, v in operation.settings
        )
        made = replace(
            operation,
            operands=tuple(map(self.operand, operation.operands)),
            settings=settings,
            reads=self.places(operation.reads),
            writes=self.places(self.written(operation)),
            origin=self.call.origin,
        )
        return shorter(replace(made, outs=self.bound(operation.outs)), operation)

    def block(self, block: P.Block) -> P.Block:
        ops = tuple(self.copies(block.ops))
        return P.Block((), ops, P.End(block.end.how, tuple(map(self.operand, block.end.results))))


def _unsettled(kind: Kind) -> Kind:
    if isinstance(kind, SettledNum | Decided):
        return K.Num(kind.type, kind.dtype, kind.value)
    return K.Str(kind.value) if isinstance(kind, SettledStr) else kind


def _read(block: P.Block) -> Iterator[P.Var]:
    """Yield the variables that a block reads, and those in it."""
    for operation in block.ops:
        yield from filter(None, map(P.variable, P.operands(operation)))
        if not isinstance(operation, P.Op):
            for inner in P.blocks(operation):
                yield from _read(inner)
    yield from filter(None, map(P.variable, block.end.results))


def _display(
    ops: tuple[P.Operation, ...], result: P.Operand
) -> tuple[tuple[P.Operand, ...] | None, P.Operation | None]:
    """Return the items of a tuple that is displayed, and the display where it is the last thing."""
    for op in reversed(ops):
        if not isinstance(op, P.Op) or op.outs != (result,):
            continue
        if op.primitive is L.SAME:
            result = op.operands[0]
        elif op.primitive is L.TUPLE and not any(isinstance(o, P.Spread) for o in op.operands):
            return op.operands, op if op is ops[-1] else None
        else:
            break
    return None, None
