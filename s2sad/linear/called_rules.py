"""A rule that does not become a part of the program is called.

    bars = pull_cumprod(out_bar, out, x, axis=0)
    x_bar = bars[0]

Before: a rule and what it is given. After: a call, and an item for each derivative that it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad import registry
from s2sad.emitted import checked_results
from s2sad.ir import program as P
from s2sad.kinds import Kind
from s2sad.known import spaces
from s2sad.known.mixed import may_be_plain
from s2sad.linear.operands import Given, kind_of
from s2sad.linear.returned import Returned
from s2sad.linear.rule_programs import RuleProgram, parameters
from s2sad.primitives import language as L
from s2sad.steps.refs import Refs

Results = tuple[P.Operand | None, ...]


@dataclass(frozen=True)
class Call:
    """One use of a rule: what it is given, for which statement, and how much it returns.

    `count` is the number of derivatives, 0 of a tangent, None where the rule is to tell.
    """

    rule: Callable[..., object]
    given: Given
    origin: P.Code
    space: str
    count: int | None
    arrays: bool

    @property
    def is_variadic(self) -> bool:
        """Whether the rule takes any number of arrays: then it returns a sequence."""
        return any(p.kind is p.VAR_POSITIONAL for p in parameters(self.rule))

    def is_several(self, result: Kind) -> bool:
        """Say whether what the rule returns is taken apart."""
        if self.count is None:
            return isinstance(result, K.Tuple) and result.cls is None
        return self.count > 1 or (self.count == 1 and self.is_variadic)

    def listed(self) -> list[P.Operand]:
        """Return the arrays that the rule is given; None for one that is not."""
        found: list[P.Operand] = []
        for n in registry.positional_names(self.rule, 0):
            operand = self.given.get(n)
            found.append(P.Const(None) if operand is None else _one(operand))
        for operand in self.given.values():
            found += operand if isinstance(operand, tuple) else ()
        return found


def _one(operand: P.Operand | tuple[P.Operand, ...]) -> P.Operand:
    assert not isinstance(operand, tuple), "several operands are given for one parameter"
    return operand


def item(whole: P.Operand, i: int, kind: Kind, origin: P.Code) -> P.Op:
    """Return the operation that takes one item of what a rule returns."""
    at = P.Const(i)
    reads = (P.Place(whole, (P.Item(at),)),) if isinstance(whole, P.Var) else ()
    return P.Op((P.Var("", kind),), L.ITEM, (whole, at), reads=reads, origin=origin)


def called(call: Call, refs: Refs, made: RuleProgram) -> tuple[tuple[P.Operation, ...], Results]:
    """Return the operations of a call of a rule, and its results."""
    writer = _Caller(call, refs, [])
    results = writer.results(made.result)
    return tuple(writer.ops), results


@dataclass
class _Caller:
    call: Call
    refs: Refs
    ops: list[P.Operation]

    def results(self, result: Kind) -> Results:
        """Call the rule, and take what it returns apart."""
        call = self.call
        rule = P.Outer(self.refs.function(call.rule, call.space), K.Known(call.rule))
        args, settings = self.arguments()
        several = call.is_several(result)
        count = call.count
        if count is None:
            count = len(result.inside) if several else 0
        elif several and len(result.inside) != count:
            result = K.UNKNOWN  # not every item is known of a display with a star in it
        whole = self.emit((rule, *args), result, "bars" if several else "", settings)
        if count == 0:
            return (None,) if isinstance(result, K.NoneKind) else (whole,)
        arrays = call.listed()
        skip = len(arrays) - count
        of = Returned.of(call.rule, count, skip == 1)
        if several and not (of.ours or of.sure):
            each = P.Outer(
                self.refs.function(checked_results.for_each), K.Known(checked_results.for_each)
            )
            whole = self.emit((each, whole, P.Const(count)), result, "bars")
        parts: list[P.Operand | None] = []
        for i in range(count):
            kind = (result.at(i) or K.UNKNOWN) if several else result
            if of.ours and isinstance(kind, K.NoneKind):
                parts.append(None)
                continue
            part = self.item(whole, i, kind) if several else whole
            parts.append(self.looked_at(of, part, i, arrays[skip + i]))
        return tuple(parts)

    def looked_at(self, of: Returned, part: P.Operand, i: int, array: P.Operand) -> P.Operand:
        """Return a derivative, with a look at it where somebody else's rule returns it."""
        kind = K.without_none(kind_of(part))
        if not (of.ours or of.sure or of.partials):
            part = self.helped(checked_results.cotangent, (part, array), kind)
        if not of.nothing[i]:
            return part
        if of.partials:
            return self.helped(checked_results.or_zero, (part,), kind)
        return self.helped(checked_results.or_zeros, (part, array), kind)

    def helped(
        self, helper: Callable[..., object], args: tuple[P.Operand, ...], kind: Kind
    ) -> P.Var:
        return self.emit((P.Outer(self.refs.function(helper), K.Known(helper)), *args), kind)

    def arguments(self) -> tuple[list[P.Operand], list[tuple[str, P.Operand]]]:
        """Return what a rule is given by position, and by name; what is absent, it has itself."""
        args: list[P.Operand] = []
        settings: list[tuple[str, P.Operand]] = []
        by_name = False  # after an array that is not given the others go by their names
        for p in parameters(self.call.rule):
            operand = self.call.given.get(p.name)
            if isinstance(operand, tuple) or p.kind is p.VAR_POSITIONAL:
                args += map(self.as_array, operand if isinstance(operand, tuple) else ())
            elif operand is not None:
                if p.kind is p.KEYWORD_ONLY:
                    settings.append((p.name, operand))
                elif by_name:
                    settings.append((p.name, self.as_array(operand)))
                else:
                    args.append(self.as_array(operand))
            elif p.default is not p.empty:
                by_name = True
            elif p.kind is p.VAR_KEYWORD:
                continue
            elif by_name or p.kind is p.KEYWORD_ONLY:
                settings.append((p.name, P.Const(None)))
            else:
                args.append(P.Const(None))
        return args, settings

    def as_array(self, operand: P.Operand) -> P.Operand:
        """Return an argument for a rule that is called: an array where it may be one."""
        kind = kind_of(operand)
        number = self.call.arrays and K.is_scalar(kind)
        if not (isinstance(kind, K.Union) or number) or not may_be_plain(kind):
            return operand
        numpy = spaces.module_of(self.call.space)
        asarray = P.Outer(f"{self.refs.space(self.call.space)}.asarray", K.Known(numpy.asarray))
        return self.emit((asarray, operand), K.UNKNOWN)

    def item(self, whole: P.Operand, i: int, kind: Kind) -> P.Var:
        op = item(whole, i, kind, self.call.origin)
        self.ops.append(op)
        return op.outs[0]

    def emit(
        self,
        operands: tuple[P.Operand, ...],
        kind: Kind,
        word: str = "",
        settings: list[tuple[str, P.Operand]] | None = None,
    ) -> P.Var:
        """Add a call, which reads all that it is given."""
        out = P.Var(word, kind)
        given = (*operands, *(v for _, v in settings or ()))
        held = [v for v in map(P.variable, given) if v is not None]
        reads = tuple(P.Place(v, (P.Anywhere(),)) for v in held if not K.shares_nothing(v.kind))
        named = tuple(settings or ())
        op = P.Op((out,), L.CALL, operands, named, reads, (), self.call.origin)
        self.ops.append(op)
        return out
