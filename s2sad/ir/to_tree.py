"""From a program to Python's syntax.

Before: a program, what stands where it is used (a Fold), and names for the rest. After: statements.

    %0 = u[3]; %1 = %0 > peak.2               if u[3] > peak:
    peak.3 = if %1                                peak = u[3]
        peak.4 = u[3]; next peak.4
        next peak.2

What a region hands over is an assignment where the names differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import gast

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.effects import captured, code_of
from s2sad.ir.folding import STATEMENTS, Fold, chooses
from s2sad.ir.handing import Copy, in_turn
from s2sad.ir.program import Op, Operand, Var
from s2sad.nodes import (
    Block,
    Node,
    assign,
    binary,
    call,
    clone,
    constant,
    dotted,
    locate,
    name,
    names_written,
    store,
    subscript,
)
from s2sad.stages import Comment
from s2sad.syntax.zero_tests import is_zero


class Naming(Protocol):
    """Gives variables their names. Where `filled`, None stands for a value that is missing."""

    filled: bool

    def of(self, v: Var, made: Node = None) -> str:
        """Return the name of a variable; `made` is what it gets where it is bound."""


@dataclass
class Printer:
    """Prints blocks; `pending` are values that wait for their use.

    `A[...] += v` prints as `A += v` where it need not come back as it was read.
    """

    fold: Fold
    names: Naming
    comes_back: bool = True
    pending: dict[Var, Node] = field(default_factory=dict)
    denied: dict[Node, Node] = field(default_factory=dict)
    turned: bool = False

    def expression(self, operand: Operand) -> Node:
        match operand:
            case P.Const():
                return constant(operand.value)
            case P.Outer():
                return dotted(operand.name)
            case P.Unbound():
                return self.unbound(operand)
            case P.Spread():
                return gast.Starred(self.value(operand.value), gast.Load())
            case Var():
                if operand in self.fold.repeated and operand in self.pending:
                    return clone(self.pending[operand])
                if operand in self.pending:
                    return self.pending.pop(operand)
                return name(self.names.of(operand))

    def value(self, operand: Operand) -> Node:
        """Return an expression that does not stand in brackets: no slice."""
        return _indexed(self.expression(operand))

    def unbound(self, operand: P.Unbound) -> Node:
        """Return the name of what has no value: whoever reads it gets Python's own error."""
        return constant(None) if self.names.filled else name(operand.name)

    def target(self, target: P.Target) -> Node:
        if isinstance(target, Var):
            return store(self.names.of(target))
        return gast.Tuple([self.target(part) for part in target], gast.Store())

    # statements

    def block(self, block: P.Block, outs: tuple[Var, ...], leaves: tuple[Var, ...] = ()) -> Block:
        """Return the statements of a block, which hands its results to `outs`, or to `leaves`."""
        out: Block = []
        last = None
        for operation in block.ops:
            undone = operation.origin if isinstance(operation.origin, P.Undone) else None
            first = undone is not None and not self.turned
            self.turned = self.turned or first
            made = self.operation(operation, leaves)
            if made and undone is not None:
                gap = [Comment("")] if first and out else []
                shown = undone.heading is not None and undone.heading is not last
                out += [*gap, clone(undone.heading)] if shown else gap
                last = undone.heading or last
            self.turned = self.turned and (bool(made) or not first)
            if made and not isinstance(operation, Op) and _has_headings(operation):
                last = None
            out += made
        return out + self.end(block.end, outs, leaves)

    def end(self, end: P.End, outs: tuple[Var, ...], leaves: tuple[Var, ...]) -> Block:
        match end.how:
            case "next":
                return self.copies(outs, end.results)
            case "break":
                return [*self.copies(leaves, end.results), locate(gast.Break(), end.origin)]
            case "raise":
                given = [self.value(r) for r in end.results]
                made = gast.Raise(*given, *[None] * (2 - len(given)))
                return [locate(made, end.origin)]
            case "yield":
                raise AssertionError("an element is yielded outside of a comprehension")

    def copies(self, takes: Sequence[Var], results: Sequence[Operand]) -> Block:
        """Return what gives the results of a block to what its region binds."""
        found = []
        for take, result in zip(takes, results, strict=False):
            if isinstance(result, P.Unbound) and not self.names.filled:
                continue
            value = self.value(result)
            read = value.id if isinstance(value, gast.Name) else None
            word = self.names.of(take, value)
            if read != word or not isinstance(result, Var):
                found.append(Copy(word, value, read))
        return in_turn(found)

    def operation(self, operation: P.Operation, leaves: tuple[Var, ...]) -> Block:
        """Return the statements of an operation, which stand where the user's statement does."""
        origin = _statement(operation)
        return [locate(s, origin) for s in self.statements(operation, leaves)]

    def statements(self, operation: P.Operation, leaves: tuple[Var, ...]) -> Block:
        match operation:
            case Op():
                return self.op(operation)
            case P.If():
                return self.branch(operation, leaves)
            case P.For():
                return self.loop(operation)
            case P.While():
                return self.repeat(operation)
            case P.Collect():
                return self.collected(operation)
            case P.Try():
                return self.attempt(operation, leaves)
            case P.With():
                item = gast.withitem(
                    self.value(operation.manager),
                    None if operation.target is None else self.target(operation.target),
                )
                body = self.block(operation.body, operation.outs, leaves)
                return [gast.With([item], body or [gast.Pass()], None)]
            case P.Match():
                return self.match(operation, leaves)

    def op(self, op: Op) -> Block:
        form = op.primitive.form
        if form in STATEMENTS:
            return self.act(op)
        if form == "closure" and isinstance(code_of(op), gast.FunctionDef):
            return [self.defined(op)]
        made = self.computed(op)
        (out,) = op.outs
        return self.given(out, made, op)

    def given(self, out: Var, made: Node, op: Op | None) -> Block:
        """Give a value its name, or keep it for where it is used."""
        if out in self.fold.values:
            calls = isinstance(made, gast.Call)  # whose position is that of the user's call
            placed = not self.comes_back and not calls
            self.pending[out] = locate(made, _statement(op)) if placed else made
            return []
        made = _indexed(made)
        if out in self.fold.unused and not out.name:
            return [gast.Expr(made)]
        word = self.names.of(out, made)
        source = op.operands[0] if op is not None and isinstance(made, gast.Name) else None
        origin = None if op is None else op.origin
        written = isinstance(getattr(origin, "value", None), gast.Name)
        if isinstance(source, Var) and made.id == word:
            if not (written and source.name == out.name == word):
                return []  # one version gives another its value: no user wrote `x = x`
        return [_marked(assign(word, made), op)]

    def act(self, op: Op) -> Block:
        """Return the statement of an operation that gives no value, or binds names in place."""
        form, word = op.primitive.form, op.primitive.word
        match form:
            case "augmented":
                return self.augmented(op)
            case "unpack":
                (value,) = op.operands
                shape = gast.List if op.settings else gast.Tuple
                display = shape([store(self.names.of(v)) for v in op.outs], gast.Store())
                return [gast.Assign([display], self.value(value), None)]
            case "bind":
                cell, value = op.operands
                assert isinstance(cell, Var)
                given = self.value(value)
                if isinstance(given, gast.Name) and given.id == cell.name:
                    return []
                return [_marked(assign(cell.name, given), op)]
            case "put item" | "augmented item":
                owner, index = map(self.expression, op.operands[:2])
                value = self.value(op.operands[2])
                place = gast.Subscript(owner, index, gast.Store())
                if not self.comes_back and isinstance(owner, gast.Name) and _is_all(op):
                    place = store(owner.id)
            case "each item":
                return self.each(op)
            case "put field" | "augmented field":
                owner, value = map(self.value, op.operands)
                place = gast.Attribute(owner, word.split()[0], gast.Store())
                if dict(op.settings).get("anyway"):
                    return [_set_anyway(place, value, form)]
            case "discard":
                (given,), (value,) = op.operands, map(self.value, op.operands)
                made_up = isinstance(given, Var) and not given.name and isinstance(value, gast.Name)
                return [] if made_up else [gast.Expr(value)]
            case "drop item":
                owner, index = map(self.expression, op.operands)
                return [gast.Delete([gast.Subscript(owner, index, gast.Del())])]
            case "drop field":
                (owner,) = map(self.expression, op.operands)
                return [gast.Delete([gast.Attribute(owner, word, gast.Del())])]
            case "forget":
                (cell,) = op.operands
                assert isinstance(cell, Var)
                return [gast.Delete([gast.Name(cell.name, gast.Del(), None, None)])]
            case _:
                return [clone(code_of(op), self.table(op))]
        if form.startswith("augmented"):
            made = gast.AugAssign(place, getattr(gast, word.split()[-1])(), value)
        else:
            made = gast.Assign([place], value, None)
        return [_marked(made, op)]

    def each(self, op: Op) -> Block:
        """Write once for each index: a call says that, and a mark where the text comes back."""
        fn, owner, index, value = op.operands
        callee = self.expression(fn)
        if not self.comes_back:
            given = self.expression(owner), self.value(index), self.value(value)
            return [gast.Expr(call(callee, *given))]
        place = gast.Subscript(self.expression(owner), self.expression(index), gast.Store())
        operator = getattr(gast, op.primitive.word)()
        return [_marked(gast.AugAssign(place, operator, self.expression(value)), op)]

    def augmented(self, op: Op) -> Block:
        """Write into what a name holds; another name gets the old value first."""
        old, value = op.operands
        (out,) = op.outs
        word = self.names.of(out)
        start: Block = []
        if old not in self.fold.values and not isinstance(old, P.Unbound):
            start = self.copies((out,), (old,))
        elif isinstance(old, Var):  # of a cell
            given = self.pending.pop(old)
            start = [] if given.id == word else [assign(word, given)]
        operator = getattr(gast, op.primitive.word)()
        return [*start, _marked(gast.AugAssign(store(word), operator, self.value(value)), op)]

    def defined(self, op: Op) -> Node:
        node = clone(code_of(op), self.table(op))
        node.name = self.names.of(op.outs[0])
        return node

    def table(self, op: Op) -> dict[str, Node]:
        """Return under which names an inner scope finds what it captures."""
        found = {}
        for word, v in zip(captured(op), op.operands, strict=True):
            assert isinstance(v, Var | P.Outer)
            found[word] = self.names.of(v) if isinstance(v, Var) else v.name
        return {word: name(new) for word, new in found.items() if word != new}

    # regions

    def branch(self, region: P.If, leaves: tuple[Var, ...]) -> Block:
        if region in self.fold.whole:
            return self.chosen(region)
        test = self.value(region.test)
        then = self.block(region.then, region.outs, leaves)
        orelse = self.block(region.orelse, region.outs, leaves)
        if region.style == "assert":
            given = [] if orelse[-1].exc is None else [orelse[-1].exc]
            orelse[-1] = gast.Raise(call("AssertionError", *given), None)
        if orelse and not then and not self.comes_back:
            made = gast.If(_denied(test), orelse, [])
            if not isinstance(region.origin, P.Undone):
                self.denied[made] = test
            return [made]
        return [gast.If(test, then or [gast.Pass()], orelse)]

    def chosen(self, region: P.If) -> Block:
        """Print a branch as an expression, or as an assert."""
        test = self.value(region.test)
        if region.style == "assert":
            given = self.value_of(region.orelse) if region.orelse.end.results else None
            return [gast.Assert(test, given)]
        (out,) = region.outs
        if region.style == "either":
            made = gast.IfExp(test, self.value_of(region.then), self.value_of(region.orelse))
            return self.given(out, made, None)
        block = chooses(region)
        assert block is not None
        values = [test, self.value_of(block)]
        last = block.ops[-1] if block.ops else None
        if isinstance(last, P.If) and last.style == "also" and isinstance(values[1], gast.BoolOp):
            values[1:] = values[1].values
        made = gast.BoolOp(gast.And() if block is region.then else gast.Or(), values)
        return self.given(out, made, None)

    def value_of(self, block: P.Block) -> Node:
        """Return the expression in which a block prints that gives one value."""
        for operation in block.ops:
            if self.operation(operation, ()):
                raise NotImplementedError("a statement in a guard, or in the class caught")
        return self.value(block.end.results[-1])

    def loop(self, region: P.For) -> Block:
        params = region.body.params
        start = self.copies(params, region.starts)
        over, target = self.value(region.over), self.target(region.target)
        body = self.round(region.body, params, region.outs)
        done = self.copies(region.outs, params)
        inside, behind = (done, []) if done and _breaks(region.body) else ([], done)
        return [*start, gast.For(target, over, body, inside, None), *behind]

    def round(self, block: P.Block, outs: tuple[Var, ...], leaves: tuple[Var, ...]) -> Block:
        """Return the body of a loop; where a test of the user's alone ends it, it goes on there.

        if not x < 0.0:                if x < 0.0:
            s = s * x                      continue
                                       s = s * x
        """
        body = self.block(block, outs, leaves) or [gast.Pass()]
        last = body[-1]
        test = self.denied.get(last)
        if test is None or not isinstance(last.test, gast.UnaryOp):
            return body
        leave = locate(gast.If(test, [locate(gast.Continue(), last)], []), last)
        return [*body[:-1], leave, *last.body]

    def repeat(self, region: P.While) -> Block:
        start = self.copies(region.carried, region.starts)
        if region in self.fold.whole:
            test = self.value_of(region.test)
            body = self.round(region.body, region.carried, region.outs)
            done = self.copies(region.outs, region.carried)
            inside, behind = (done, []) if done and _breaks(region.body) else ([], done)
            return [*start, gast.While(test, body, inside), *behind]
        looks = self.block(region.test, ())
        holds = self.value(region.test.end.results[0])
        body = self.block(region.body, region.carried, region.outs)
        done = self.copies(region.outs, region.carried)
        leave = gast.If(gast.UnaryOp(gast.Not(), holds), [*done, gast.Break()], [])
        return [*start, gast.While(constant(True), [*looks, leave, *body], [])]

    def collected(self, region: P.Collect) -> Block:
        (out,) = region.outs
        if region not in self.fold.whole:
            kinds = {"list": gast.List([], gast.Load()), "dict": gast.Dict([], [])}
            start = kinds.get(region.how) or call("set")
            word = self.names.of(out, start)
            return [assign(word, start), *self.turn(region, region.how, word)]
        turns, element = self.turns(region)
        made: Node
        if region.how == "dict":
            made = gast.DictComp(element[0], element[1], turns)
        else:
            shape = gast.ListComp if region.how == "list" else gast.SetComp
            made = shape(element[0], turns)
        return self.given(out, made, None)

    def turns(self, region: P.Collect) -> tuple[list[Node], list[Node]]:
        """Return the loops of a comprehension, and its element."""
        over, target = self.value(region.over), self.target(region.target)
        turn = gast.comprehension(target, over, [], 0)
        block = region.body
        while True:
            *before, last = block.ops or (None,)
            if block.end.how == "yield":
                before = list(block.ops)
            for operation in before:
                assert operation is not None
                assert not self.operation(operation, ())
            if block.end.how == "yield":
                return [turn], [self.value(r) for r in block.end.results]
            if isinstance(last, P.If):
                turn.ifs.append(self.value(last.test))
                block = last.then
                continue
            assert isinstance(last, P.Collect)
            turns, element = self.turns(last)
            return [turn, *turns], element

    def turn(self, region: P.Collect, how: str, word: str) -> Block:
        """Return one loop of a comprehension as a statement."""
        over, target = self.value(region.over), self.target(region.target)
        body = self.yielding(region.body, how, word)
        return [gast.For(target, over, body or [gast.Pass()], [], None)]

    def yielding(self, block: P.Block, how: str, word: str) -> Block:
        out: Block = []
        for operation in block.ops:
            if isinstance(operation, P.Collect) and not operation.outs:
                out += self.turn(operation, how, word)
            elif isinstance(operation, P.If) and operation.style == "filter":
                then = self.yielding(operation.then, how, word)
                out.append(gast.If(self.value(operation.test), then or [gast.Pass()], []))
            else:
                out += self.operation(operation, ())
        if block.end.how != "yield":
            return out
        given = [self.value(r) for r in block.end.results]
        if how == "dict":
            place = gast.Subscript(name(word), given[0], gast.Store())
            return [*out, gast.Assign([place], given[1], None)]
        adds = gast.Attribute(name(word), "append" if how == "list" else "add", gast.Load())
        return [*out, gast.Expr(gast.Call(adds, given, []))]

    def attempt(self, region: P.Try, leaves: tuple[Var, ...]) -> Block:
        body = self.block(region.body, (), leaves)
        handlers = []
        for h in region.handlers:
            kind = None if h.kind is None else self.value_of(h.kind)
            caught = None if h.caught is None else store(self.names.of(h.caught))
            inner = self.block(h.body, region.of_arms, leaves)
            handlers.append(gast.ExceptHandler(kind, caught, inner or [gast.Pass()]))
        orelse = self.block(region.orelse, region.of_arms, leaves)
        if not handlers:
            body, orelse = [*body, *orelse], []
        final = self.block(region.final, region.of_final, leaves)
        if not handlers and not final:
            final = [gast.Pass()]
        return [gast.Try(body or [gast.Pass()], handlers, orelse, final)]

    def match(self, region: P.Match, leaves: tuple[Var, ...]) -> Block:
        subject = self.value(region.subject)
        cases = []
        for c in region.cases:
            pattern = self.pattern(c)
            guard = None if c.guard is None else self.value_of(c.guard)
            body = self.block(c.body, region.outs, leaves)
            if c.pattern is not None:
                cases.append(gast.match_case(pattern, guard, body or [gast.Pass()]))
            elif body:
                cases.append(gast.match_case(gast.MatchAs(None, None), None, body))
        return [gast.Match(subject, cases)]

    def pattern(self, case: P.Case) -> Node:
        """Return the pattern of a case, under the names that its variables have here."""
        if case.pattern is None:
            return None
        words = sorted(names_written(case.pattern))
        table = {w: self.names.of(v) for w, v in zip(words, case.bound, strict=True)}
        made = clone(case.pattern)
        for part in gast.walk(made):
            for place in ("name", "rest"):
                if isinstance(getattr(part, place, None), str):
                    setattr(part, place, table[getattr(part, place)])
        return made

    # expressions

    def computed(self, op: Op) -> Node:
        """Return the expression of an operation that computes a value."""
        form, word = op.primitive.form, op.primitive.word
        if form == "look":
            (cell,) = op.operands
            assert isinstance(cell, Var)
            return name(cell.name)
        if form == "bind inside":
            cell, value = op.operands
            assert isinstance(cell, Var)
            return gast.NamedExpr(store(cell.name), self.value(value))
        if form == "closure":
            return clone(code_of(op), self.table(op))
        if form == "dict":
            return self.display(op)
        read = self.expression if form in ("item", "tuple", "slice") else self.value
        given = [read(v) for v in op.operands]
        match form:
            case "same":
                return given[0]
            case "infix":
                return binary(given[0], getattr(gast, word), given[1])
            case "prefix":
                return gast.UnaryOp(getattr(gast, word)(), given[0])
            case "compare":
                words = [getattr(gast, w)() for w in word.split()]
                if dict(op.settings).get("strong") is True:
                    return is_zero(given[0])
                return gast.Compare(given[0], words, given[1:])
            case "item":
                return subscript(given[0], given[1])
            case "field":
                return gast.Attribute(given[0], word, gast.Load())
            case "slice":
                told: tuple[bool, ...] = dict(op.settings)["given"]  # type: ignore[assignment]
                return gast.Slice(*[g if t else None for g, t in zip(given, told, strict=True)])
            case "call" | "method":
                func = given[0]
                if form == "method":
                    func = gast.Attribute(func, word, gast.Load())
                made = gast.Call(func, given[1:], self.keywords(op))
                origin = op.origin.heading if isinstance(op.origin, P.Undone) else op.origin
                return locate(locate(made, getattr(origin, "value", None)), origin)
            case "anew":
                return gast.Call(call("type", given[0]), given[1:], [])
            case "text":
                table = {f"_{i}": g for i, g in enumerate(given)}
                return clone(code_of(op), table)
            case _:
                shape = {"tuple": gast.Tuple, "list": gast.List}.get(form)
                return shape(given, gast.Load()) if shape else gast.Set(given)

    def keywords(self, op: Op) -> list[Node]:
        found = []
        for word, value in op.settings:
            if word in _NOTES:
                continue
            inner = value.value if isinstance(value, P.Spread) else value
            found.append(gast.keyword(word or None, self.value(inner)))
        return found

    def display(self, op: Op) -> Node:
        keys: list[Node | None] = []
        values: list[Node] = []
        given = list(op.operands)
        while given:
            first = given.pop(0)
            if isinstance(first, P.Spread):
                keys.append(None)
                values.append(self.value(first.value))
            else:
                keys.append(self.value(first))
                values.append(self.value(given.pop(0)))
        return gast.Dict(keys, values)


def _statement(operation: P.Operation | None) -> P.Code:
    """Return the statement that an operation is a part of, or that it undoes."""
    origin = None if operation is None else operation.origin
    return origin.statement if isinstance(origin, P.Undone) else origin


def _denied(test: Node) -> Node:
    """Return the test that holds where another one does not."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    if isinstance(test, gast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITES:
        return gast.Compare(test.left, [_OPPOSITES[type(test.ops[0])]()], test.comparators)
    return gast.UnaryOp(gast.Not(), test)


_OPPOSITES = {gast.In: gast.NotIn, gast.Is: gast.IsNot}
_OPPOSITES |= {b: a for a, b in _OPPOSITES.items()}


def _breaks(block: P.Block) -> bool:
    """Say whether a block leaves the loop around it."""
    if block.end.how == "break":
        return True
    regions = [o for o in block.ops if not isinstance(o, Op | P.For | P.While)]
    return any(_breaks(b) for r in regions for b in P.blocks(r))


def _only_in_brackets(node: Node) -> bool:
    """Say whether an expression is a slice, or holds one as it stands."""
    return isinstance(node, gast.Slice) or (
        isinstance(node, gast.Tuple) and any(map(_only_in_brackets, node.elts))
    )


def _has_headings(region: P.Region) -> bool:
    """Say whether headings stand in a region."""
    inside = (op.origin for b in P.blocks(region) for op in P.every(b))
    return any(isinstance(o, P.Undone) and o.heading is not None for o in inside)


def _indexed(index: Node) -> Node:
    """Return an index as an argument: there a slice is made by a call."""
    if not _only_in_brackets(index):
        return index
    if isinstance(index, gast.Tuple):
        return gast.Tuple([_indexed(part) for part in index.elts], gast.Load())
    parts = (index.lower, index.upper, index.step)
    return call("slice", *[constant(None) if n is None else n for n in parts])


def _set_anyway(place: Node, value: Node, form: str) -> Node:
    """Return the statement that sets an attribute, or adds to it, though its class forbids it."""
    word = gast.Constant(place.attr, None)
    if form == "augmented field":
        old = gast.Attribute(clone(place.value), place.attr, gast.Load())
        value = binary(old, gast.Add, value)
    return gast.Expr(call("object.__setattr__", place.value, word, value))


def _is_all(op: Op) -> bool:
    """Say whether an operation adds, say, to all of an array that a name holds."""
    if op.primitive.form != "augmented item":
        return False
    owner, index = op.operands[:2]
    kind = owner.kind if isinstance(owner, Var) and not owner.cell else None
    return isinstance(kind, K.Array) and kind.rank > 0 and index == P.Const(...)


def _marked(s: Node, op: Op | None) -> Node:
    for word, value in op.settings if op is not None else ():
        if word in _MARKS:
            setattr(s, word, value)
    return s


_MARKS = ("each", "unordered", "copied", "listed")
_NOTES = (*_MARKS, "anyway", "code", "given", "names", "part")
