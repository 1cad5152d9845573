"""From a program to Python's syntax, in two ways.

`named` prints every variable under its name, and puts a value that has none where it is used: what
`from_tree` has read comes back. `flat` gives every variable a name of its own and every operation a
statement: what must hold for that to compute the same is what passes rely on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import gast

from s2sad.ir import program as P
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
    name,
    store,
    subscript,
)


def named(program: P.Program) -> Node:
    """Return the function in which a program prints, under the names that its variables have."""
    return _function(program, _Named())


def flat(program: P.Program) -> Node:
    """Return a function that runs a program one operation at a time, each binding on its own."""
    writer = _Flat()
    writer.names |= {v: v.name for v in program.block.params}
    return _function(program, writer)


def _function(program: P.Program, writer: _Named) -> Node:
    body = writer.block(program.block, ())
    if program.block.end.how == "next":
        (result,) = program.block.end.results
        body.append(gast.Return(writer.expression(result)))
    node = clone(program.source)
    node.body = body
    return node


@dataclass
class _Named:
    """Prints blocks; `pending` are values without a name that wait for their use."""

    pending: dict[Var, Node] = field(default_factory=dict)
    names: dict[Var, str] = field(default_factory=dict)

    def name(self, v: Var) -> str:
        """Return the name under which a variable prints."""
        found = self.names.get(v, v.name)
        assert found, "a value without a name is used twice"
        return found

    def expression(self, operand: Operand) -> Node:
        match operand:
            case P.Const():
                return constant(operand.value)
            case P.Outer():
                return dotted(operand.name)
            case P.Unbound():
                return self.unbound(operand)
            case P.Spread():
                return gast.Starred(self.expression(operand.value), gast.Load())
            case Var():
                if operand in self.pending:
                    return self.pending.pop(operand)
                return name(self.name(operand))

    def unbound(self, operand: P.Unbound) -> Node:
        """Return the name of what has no value: whoever reads it gets Python's own error."""
        return name(operand.name)

    def target(self, target: P.Target) -> Node:
        if isinstance(target, Var):
            return store(self.name(target))
        return gast.Tuple([self.target(part) for part in target], gast.Store())

    # statements

    def block(self, block: P.Block, outs: tuple[Var, ...], leaves: tuple[Var, ...] = ()) -> Block:
        """Return the statements of a block, which hands its results to `outs`, or to `leaves`."""
        out: Block = []
        for operation in block.ops:
            out += self.operation(operation, leaves)
        return out + self.end(block.end, outs, leaves)

    def end(self, end: P.End, outs: tuple[Var, ...], leaves: tuple[Var, ...]) -> Block:
        match end.how:
            case "next":
                return self.copies(outs, end.results)
            case "break":
                return [*self.copies(leaves, end.results), gast.Break()]
            case "raise":
                given = [self.expression(r) for r in end.results]
                return [gast.Raise(*given, *[None] * (2 - len(given)))]
            case "yield":
                raise AssertionError("an element is yielded outside of a comprehension")

    def copies(self, outs: tuple[Var, ...], results: Sequence[Operand]) -> Block:
        """Return what gives the results of a block to what its region binds: nothing to print."""
        for out, result in zip(outs, results, strict=False):
            found = result.name if isinstance(result, Var | P.Unbound) else ""
            assert found == out.name, f"{found!r} would have to become {out.name!r}"
        return []

    def operation(self, operation: P.Operation, leaves: tuple[Var, ...]) -> Block:
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
                    self.expression(operation.manager),
                    None if operation.target is None else self.target(operation.target),
                )
                body = self.block(operation.body, operation.outs, leaves)
                return [gast.With([item], body or [gast.Pass()], None)]
            case P.Match():
                return self.match(operation, leaves)

    def op(self, op: Op) -> Block:
        form = op.primitive.form
        if form in _ACTS:
            return self.act(op)
        if form == "closure" and isinstance(_code(op), gast.FunctionDef):
            return [self.defined(op)]
        made = self.computed(op)
        (out,) = op.outs
        return self.given(out, made, op)

    def given(self, out: Var, made: Node, op: Op | None) -> Block:
        """Give a value its name, or keep it for where it is used."""
        if not out.name:
            self.pending[out] = made
            return []
        return [_marked(assign(self.name(out), made), op)]

    def act(self, op: Op) -> Block:
        """Return the statement of an operation that gives no value, or binds names in place."""
        form, word = op.primitive.form, op.primitive.word
        match form:
            case "augmented":
                return self.augmented(op)
            case "unpack":
                (value,) = op.operands
                shape = gast.List if op.settings else gast.Tuple
                display = shape([store(self.name(v)) for v in op.outs], gast.Store())
                return [gast.Assign([display], self.expression(value), None)]
            case "bind":
                cell, value = op.operands
                if isinstance(value, Var) and isinstance(cell, Var) and value.name == cell.name:
                    return self.rebound(cell, value)
                assert isinstance(cell, Var)
                return [_marked(assign(cell.name, self.expression(value)), op)]
            case "put item" | "augmented item":
                owner, index, value = map(self.expression, op.operands)
                place = gast.Subscript(owner, index, gast.Store())
            case "each item":
                return self.each(op)
            case "put field" | "augmented field":
                owner, value = map(self.expression, op.operands)
                place = gast.Attribute(owner, word.split()[0], gast.Store())
            case "discard":
                (value,) = map(self.expression, op.operands)
                return [gast.Expr(value)]
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
                return [clone(_code(op), self.table(op))]
        if form.startswith("augmented"):
            made = gast.AugAssign(place, getattr(gast, word.split()[-1])(), value)
        else:
            made = gast.Assign([place], value, None)
        return [_marked(made, op)]

    def each(self, op: Op) -> Block:
        fn, owner, index, value = op.operands
        self.expression(fn)
        place = gast.Subscript(self.expression(owner), self.expression(index), gast.Store())
        operator = getattr(gast, op.primitive.word)()
        return [_marked(gast.AugAssign(place, operator, self.expression(value)), op)]

    def rebound(self, cell: Var, value: Var) -> Block:
        """A cell gets what has its name already."""
        if value in self.pending:
            return [assign(cell.name, self.pending.pop(value))]
        return []

    def augmented(self, op: Op) -> Block:
        old, value = op.operands
        (out,) = op.outs
        if isinstance(old, Var):
            self.pending.pop(old, None)
        operator = getattr(gast, op.primitive.word)()
        made = gast.AugAssign(store(self.name(out)), operator, self.expression(value))
        return [_marked(made, op)]

    def defined(self, op: Op) -> Node:
        node = clone(_code(op), self.table(op))
        node.name = self.name(op.outs[0])
        return node

    def table(self, op: Op) -> dict[str, Node]:
        """Return under which names an inner scope finds what it captures."""
        found = [v for v in op.operands if isinstance(v, Var)]
        return {v.name: name(self.name(v)) for v in found if self.name(v) != v.name}

    # regions

    def branch(self, region: P.If, leaves: tuple[Var, ...]) -> Block:
        test = self.expression(region.test)
        if region.style == "if":
            then = self.block(region.then, region.outs, leaves)
            orelse = self.block(region.orelse, region.outs, leaves)
            return [gast.If(test, then or [gast.Pass()], orelse)]
        if region.style == "assert":
            given = self.value_of(region.orelse) if region.orelse.end.results else None
            return [gast.Assert(test, given)]
        (out,) = region.outs
        if region.style == "either":
            made = gast.IfExp(test, self.value_of(region.then), self.value_of(region.orelse))
            return self.given(out, made, None)
        is_and = region.orelse.end.results == (region.test,) and not region.orelse.ops
        block = region.then if is_and else region.orelse
        values = [test, self.value_of(block)]
        last = block.ops[-1] if block.ops else None
        if isinstance(last, P.If) and last.style == "also" and isinstance(values[1], gast.BoolOp):
            values[1:] = values[1].values
        made = gast.BoolOp(gast.And() if is_and else gast.Or(), values)
        return self.given(out, made, None)

    def value_of(self, block: P.Block) -> Node:
        """Return the expression in which a block prints that gives one value."""
        for operation in block.ops:
            printed = self.operation(operation, ())
            assert not printed, "a statement stands where only an expression can"
        return self.expression(block.end.results[-1])

    def loop(self, region: P.For) -> Block:
        over = self.expression(region.over)
        target = self.target(region.target)
        body = self.block(region.body, region.body.params, region.outs)
        return [gast.For(target, over, body or [gast.Pass()], [], None)]

    def repeat(self, region: P.While) -> Block:
        test = self.value_of(region.test)
        body = self.block(region.body, region.carried, region.outs)
        return [gast.While(test, body or [gast.Pass()], [])]

    def collected(self, region: P.Collect) -> Block:
        turns, element = self.turns(region)
        (out,) = region.outs
        made: Node
        if region.how == "dict":
            made = gast.DictComp(element[0], element[1], turns)
        else:
            shape = gast.ListComp if region.how == "list" else gast.SetComp
            made = shape(element[0], turns)
        return self.given(out, made, None)

    def turns(self, region: P.Collect) -> tuple[list[Node], list[Node]]:
        """Return the loops of a comprehension, and its element."""
        over, target = self.expression(region.over), self.target(region.target)
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
                return [turn], [self.expression(r) for r in block.end.results]
            if isinstance(last, P.If):
                turn.ifs.append(self.expression(last.test))
                block = last.then
                continue
            assert isinstance(last, P.Collect)
            turns, element = self.turns(last)
            return [turn, *turns], element

    def attempt(self, region: P.Try, leaves: tuple[Var, ...]) -> Block:
        body = self.block(region.body, (), leaves)
        handlers = []
        for h in region.handlers:
            kind = None if h.kind is None else self.value_of(h.kind)
            caught = None if h.caught is None else store(self.name(h.caught))
            inner = self.block(h.body, region.of_arms, leaves)
            handlers.append(gast.ExceptHandler(kind, caught, inner or [gast.Pass()]))
        orelse = self.block(region.orelse, region.of_arms, leaves)
        final = self.block(region.final, region.of_final, leaves)
        return [gast.Try(body or [gast.Pass()], handlers, orelse, final)]

    def match(self, region: P.Match, leaves: tuple[Var, ...]) -> Block:
        subject = self.expression(region.subject)
        cases = []
        for c in region.cases:
            guard = None if c.guard is None else self.value_of(c.guard)
            body = self.block(c.body, region.outs, leaves)
            if c.pattern is not None:
                cases.append(gast.match_case(c.pattern, guard, body or [gast.Pass()]))
            elif body:
                cases.append(gast.match_case(gast.MatchAs(None, None), None, body))
        return [gast.Match(subject, cases)]

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
            return gast.NamedExpr(store(cell.name), self.expression(value))
        if form == "closure":
            return clone(_code(op), self.table(op))
        if form == "dict":
            return self.display(op)
        given = [self.expression(v) for v in op.operands]
        match form:
            case "same":
                return given[0]
            case "infix":
                return binary(given[0], getattr(gast, word), given[1])
            case "prefix":
                return gast.UnaryOp(getattr(gast, word)(), given[0])
            case "compare":
                words = [getattr(gast, w)() for w in word.split()]
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
                return gast.Call(func, given[1:], self.keywords(op))
            case "text":
                table = {f"_{i}": g for i, g in enumerate(given)}
                return clone(_code(op), table)
            case _:
                shape = {"tuple": gast.Tuple, "list": gast.List}.get(form)
                return shape(given, gast.Load()) if shape else gast.Set(given)

    def keywords(self, op: Op) -> list[Node]:
        found = []
        for word, value in op.settings:
            if word in _NOTES:
                continue
            inner = value.value if isinstance(value, P.Spread) else value
            found.append(gast.keyword(word or None, self.expression(inner)))
        return found

    def display(self, op: Op) -> Node:
        keys: list[Node | None] = []
        values: list[Node] = []
        given = list(op.operands)
        while given:
            first = given.pop(0)
            if isinstance(first, P.Spread):
                keys.append(None)
                values.append(self.expression(first.value))
            else:
                keys.append(self.expression(first))
                values.append(self.expression(given.pop(0)))
        return gast.Dict(keys, values)


@dataclass
class _Flat(_Named):
    """Prints each operation as a statement, and each variable under a name of its own."""

    def name(self, v: Var) -> str:
        if v.cell:
            return v.name
        if v not in self.names:
            self.names[v] = f"{v.name or 't'}__{len(self.names)}"
        return self.names[v]

    def given(self, out: Var, made: Node, op: Op | None) -> Block:
        if _only_in_brackets(made):
            self.pending[out] = made
            return []
        return [assign(self.name(out), made)]

    def augmented(self, op: Op) -> Block:
        old, value = op.operands
        (out,) = op.outs
        operator = getattr(gast, op.primitive.word)()
        start = assign(self.name(out), self.expression(old))
        return [start, gast.AugAssign(store(self.name(out)), operator, self.expression(value))]

    def each(self, op: Op) -> Block:
        fn, *given = map(self.expression, op.operands)
        given[1] = _indexed(given[1])
        return [gast.Expr(call(fn, *given))]

    def rebound(self, cell: Var, value: Var) -> Block:
        return [assign(cell.name, self.expression(value))]

    def unbound(self, operand: P.Unbound) -> Node:
        """None stands for no value: on the paths on which it is read it is another one."""
        return constant(None)

    def copies(self, outs: tuple[Var, ...], results: Sequence[Operand]) -> Block:
        pairs = [
            (self.name(out), self.expression(result))
            for out, result in zip(outs, results, strict=False)
        ]
        if not pairs:
            return []
        if len(pairs) == 1:
            return [assign(*pairs[0])]
        display = gast.Tuple([store(target) for target, _ in pairs], gast.Store())
        return [gast.Assign([display], gast.Tuple([v for _, v in pairs], gast.Load()), None)]

    def branch(self, region: P.If, leaves: tuple[Var, ...]) -> Block:
        test = self.expression(region.test)
        then = self.block(region.then, region.outs, leaves)
        orelse = self.block(region.orelse, region.outs, leaves)
        if region.style == "assert":
            error = gast.Raise(call("AssertionError", *_raised(orelse.pop())), None)
            orelse.append(error)
        return [gast.If(test, then or [gast.Pass()], orelse)]

    def loop(self, region: P.For) -> Block:
        start = self.copies(region.body.params, region.starts)
        body = self.block(region.body, region.body.params, region.outs)
        behind = self.copies(region.outs, region.body.params)
        target, over = self.target(region.target), self.expression(region.over)
        return [*start, gast.For(target, over, body or [gast.Pass()], behind, None)]

    def repeat(self, region: P.While) -> Block:
        start = self.copies(region.carried, region.starts)
        test = self.block(region.test, ())
        done = self.copies(region.outs, region.carried)
        holds = self.expression(region.test.end.results[0])
        leave = gast.If(gast.UnaryOp(gast.Not(), holds), [*done, gast.Break()], [])
        body = self.block(region.body, region.carried, region.outs)
        return [*start, gast.While(constant(True), [*test, leave, *body], [])]

    def collected(self, region: P.Collect) -> Block:
        made = {"list": gast.List([], gast.Load()), "dict": gast.Dict([], [])}
        (out,) = region.outs
        word = self.name(out)
        start = made.get(region.how) or call("set")
        return [assign(word, start), *self.turn(region, region.how, word)]

    def turn(self, region: P.Collect, how: str, word: str) -> Block:
        """Return one loop of a comprehension as a statement."""
        target, over = self.target(region.target), self.expression(region.over)
        body = self.yielding(region.body, how, word)
        return [gast.For(target, over, body or [gast.Pass()], [], None)]

    def yielding(self, block: P.Block, how: str, word: str) -> Block:
        out: Block = []
        for operation in block.ops:
            if isinstance(operation, P.Collect) and not operation.outs:
                out += self.turn(operation, how, word)
            elif isinstance(operation, P.If) and operation.style == "filter":
                then = self.yielding(operation.then, how, word)
                out.append(gast.If(self.expression(operation.test), then, []))
            else:
                out += self.operation(operation, ())
        if block.end.how != "yield":
            return out
        given = [self.expression(r) for r in block.end.results]
        if how == "dict":
            place = gast.Subscript(name(word), given[0], gast.Store())
            return [*out, gast.Assign([place], given[1], None)]
        adds = gast.Attribute(name(word), "append" if how == "list" else "add", gast.Load())
        return [*out, gast.Expr(gast.Call(adds, given, []))]

    def attempt(self, region: P.Try, leaves: tuple[Var, ...]) -> Block:
        (made,) = super().attempt(region, leaves)
        if not made.handlers:
            made.body, made.orelse = [*made.body, *made.orelse], []
        return [made]

    def match(self, region: P.Match, leaves: tuple[Var, ...]) -> Block:
        self.names |= {v: v.name for c in region.cases for v in c.bound}
        return super().match(region, leaves)

    def value_of(self, block: P.Block) -> Node:
        """A guard, and the class of a handler, are expressions here, too."""
        return _Named(self.pending, self.names).value_of(block)


def _only_in_brackets(node: Node) -> bool:
    """Say whether an expression is a slice, or holds one as it stands."""
    return isinstance(node, gast.Slice) or (
        isinstance(node, gast.Tuple) and any(map(_only_in_brackets, node.elts))
    )


def _indexed(index: Node) -> Node:
    """Return an index as an argument: there a slice is made by a call."""
    if isinstance(index, gast.Tuple):
        return gast.Tuple([_indexed(part) for part in index.elts], gast.Load())
    if not isinstance(index, gast.Slice):
        return index
    parts = (index.lower, index.upper, index.step)
    return call("slice", *[constant(None) if n is None else n for n in parts])


def _raised(s: Node) -> list[Node]:
    return [s.exc] if s.exc is not None else []


def _code(op: Op) -> Node:
    return dict(op.settings)["code"]


def _marked(s: Node, op: Op | None) -> Node:
    for word, value in op.settings if op is not None else ():
        if word in _MARKS:
            setattr(s, word, value)
    return s


_MARKS = ("each", "unordered", "copied", "listed")
_NOTES = (*_MARKS, "code", "given", "names")
_ACTS = (
    *("augmented", "unpack", "bind", "put item", "augmented item", "put field", "augmented field"),
    "each item",
    *("drop item", "drop field", "forget", "discard", "statement"),
)
