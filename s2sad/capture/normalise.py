"""Few statement shapes: one operation per assignment where a derivative may need it.

    x = z * z + x        ->        t = z * z
                                   x = t + x

Expressions that carry no derivative (tests, indices, f-strings) stay whole. What the loop header
binds becomes statements of its own, in terms of an index, so that a loop can be run backward:

    for i, x in enumerate(xs):   ->   bounds (len(xs),), index i, bindings: x = xs[i]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sad.capture.applied import Applied
from s2sad.capture.desugar import desugar
from s2sad.capture.elements import all_statements, element, is_call, plain, rename_scoped
from s2sad.capture.structure import structure
from s2sad.capture.temps import temp_base
from s2sad.errors import UnsupportedError
from s2sad.names import Names
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    assign,
    call,
    clone,
    constant,
    is_constant,
    locate,
    name,
    names_read,
    names_written,
    store,
    subscript,
    walk,
)
from s2sad.stages import Function, Loop, SourceLike

_DICT_VIEWS = ("items", "values", "keys")


def normalise(source: SourceLike, node: Any, taken: set[str]) -> Function:
    """Return the Function of a definition. `taken` are further names that must not be made up."""
    node = clone(node)
    identifiers = {n.id for n in walk(node) if isinstance(n, gast.Name)}
    identifiers |= {n.name for n in walk(node) if isinstance(n, gast.FunctionDef)}
    names = Names(identifiers | taken | {node.name})
    params = _parameters(node)
    declared = {
        n for s in walk(node) if isinstance(s, gast.Global | gast.Nonlocal) for n in s.names
    }
    inner = {n for s in node.body for f in walk(s) if isinstance(f, SCOPES) for n in _declared(f)}
    locals_ = set(params) | (_bound(node.body) - (declared - inner))
    body = [s for s in node.body if not _is_docstring(s)]
    body = desugar(body, source.fn, names, locals_)
    body, result = structure(body, names, source.place)
    worker = _Normaliser(source, names, locals_)
    out = worker.statements(body)
    out.append(gast.Return(name(result)))
    node.body = out
    return Function(
        source=source,
        node=node,
        params=params,
        origins=worker.origins,
        loops=worker.loops,
        temps=frozenset(worker.temps),
        locals=frozenset(
            locals_ | worker.temps | (_bound(out) - (declared - inner)) | worker.indices
        ),
        result=result,
        held=frozenset(worker.held),
    )


def _parameters(node: Any) -> tuple[str, ...]:
    args = node.args
    found = [a.id for a in [*args.posonlyargs, *args.args]]
    if args.vararg:
        found.append(args.vararg.id)
    found += [a.id for a in args.kwonlyargs]
    if args.kwarg:
        found.append(args.kwarg.id)
    return tuple(found)


def _bound(body: Block) -> set[str]:
    found: set[str] = set()
    for statement in body:
        found |= names_written(statement)
    return found


def _declared(definition: Node) -> set[str]:
    return {n for s in walk(definition) if isinstance(s, gast.Nonlocal) for n in s.names}


def _is_docstring(statement: Node) -> bool:
    return (
        isinstance(statement, gast.Expr)
        and isinstance(statement.value, gast.Constant)
        and isinstance(statement.value.value, str)
    )


def _has_walrus(node: Node) -> bool:
    return any(isinstance(n, gast.NamedExpr) for n in walk(node))


class _Normaliser(Applied):
    """Walks a structured body once; holds the block being written and the names made up."""

    def __init__(self, source: SourceLike, names: Names, locals_: set[str]) -> None:
        self.source = source
        self.names = names
        self.locals = locals_
        self.temps: set[str] = set()
        self.indices: set[str] = set()
        self.origins: dict[Any, Any] = {}
        self.loops: dict[Any, Loop] = {}
        self.held: set[str] = set()
        self.depth = 0
        self.out: Block = []
        self.origin: Any = None

    def refuse(self, node: Node, reason: str, remedy: str) -> UnsupportedError:
        place = self.source.place(node) if getattr(node, "lineno", None) else None
        return UnsupportedError(reason, remedy=remedy, place=place)

    def emit(self, statement: Node, origin: Node | None = None) -> Node:
        origin = origin if origin is not None else self.origin
        locate(statement, origin)
        self.origins[statement] = self.origin
        self.out.append(statement)
        return statement

    def statements(self, body: Block) -> Block:
        saved, self.out = self.out, []
        for statement in body:
            self.statement(statement)
        block, self.out = self.out, saved
        return block

    def statement(self, statement: Node) -> None:
        before = self.origin
        self.origin = statement
        handler: Callable[[Node], None] | None = getattr(
            self, f"do_{type(statement).__name__}", None
        )
        if handler is None:
            self.emit(statement)
        else:
            handler(statement)
        self.origin = before

    # statements

    def do_Pass(self, statement: Node) -> None:
        return

    def do_Assign(self, statement: Node) -> None:
        targets = statement.targets
        if len(targets) == 1 and isinstance(targets[0], gast.Name):
            self.emit(assign(targets[0].id, self.expression(statement.value)), statement)
            return
        if len(targets) == 1 and self._elementwise(targets[0], statement.value):
            self._parallel(targets[0], statement.value)
            return
        value = self.atom(statement.value)
        if len(targets) > 1 and isinstance(value, gast.Name):
            value = self.hold(value, targets)
        for target in targets:
            self.bind(target, value)

    def hold(self, value: Node, targets: list[Node]) -> Node:
        """Keep the value of `a = b[a] = value` under a name that no target binds."""
        written = {n.id for t in targets for n in walk(t) if isinstance(n, gast.Name)}
        if value.id in written:
            temp = self.temp(value)
            self.emit(assign(temp, value))
            return name(temp)
        return value

    @staticmethod
    def _elementwise(target: Node, value: Node) -> bool:
        sequence = (gast.Tuple, gast.List)
        return (
            isinstance(target, sequence)
            and isinstance(value, sequence)
            and len(target.elts) == len(value.elts)
            and not any(isinstance(e, gast.Starred) for e in [*target.elts, *value.elts])
        )

    def _parallel(self, target: Node, value: Node) -> None:
        """`a, b = b, a`: every value is computed before any target is bound."""
        values = []
        later = [names_written(t) for t in target.elts]
        for position, item in enumerate(value.elts):
            bound_before: set[str] = set().union(*later[:position]) if position else set()
            if isinstance(item, gast.Name) and item.id in bound_before:
                temp = self.temp(item)
                self.emit(assign(temp, name(item.id)))
                values.append(name(temp))
            elif self.is_atom(item):
                values.append(item)
            elif (
                position == len(value.elts) - 1
                and all(isinstance(t, gast.Name) for t in target.elts)
                and not bound_before & names_read(item)
            ):
                values.append(None)
            else:
                values.append(self.atom(item))
        for position, (part, item) in enumerate(zip(target.elts, values, strict=True)):
            if item is None:
                last = self.expression(value.elts[position])
                if isinstance(part, gast.Name):
                    self.emit(assign(part.id, last))
                    continue
                temp = self.temp(last)
                self.emit(assign(temp, last))
                item = name(temp)
            self.bind(part, item)

    def bind(self, target: Node, value: Node) -> None:
        """Assign an atom to a target of any shape."""
        if isinstance(target, gast.Name):
            self.emit(assign(target.id, value))
        elif isinstance(target, gast.Tuple | gast.List):
            self._unpack(target.elts, value)
        elif isinstance(target, gast.Starred):
            raise self.refuse(target, "A starred target stands alone.", "Write a tuple.")
        else:
            target = self._place_expression(target)
            self.emit(gast.Assign([target], value, None))

    def _unpack(self, targets: list[Node], value: Node) -> None:
        if not isinstance(value, gast.Name):
            temp = self.temp(value)
            self.emit(assign(temp, value))
            value = name(temp)
        starred = [i for i, t in enumerate(targets) if isinstance(t, gast.Starred)]
        if starred:
            self._unpack_starred(targets, value, starred[0])
            return
        parts = []
        nested = []
        for target in targets:
            if isinstance(target, gast.Name):
                parts.append(target.id)
            else:
                temp = self.temp(target, "part")
                parts.append(temp)
                nested.append((target, temp))
        display = gast.Tuple([store(p) for p in parts], gast.Store())
        self.emit(gast.Assign([display], value, None))
        for target, temp in nested:
            self.bind(target, name(temp))

    def _unpack_starred(self, targets: list[Node], value: Node, star: int) -> None:
        after = len(targets) - star - 1
        if value.id in {n.id for t in targets for n in walk(t) if isinstance(n, gast.Name)}:
            temp = self.temp(value)
            self.emit(assign(temp, value))
            value = name(temp)
        for position, target in enumerate(targets):
            if position == star:
                upper = constant(-after) if after else None
                part = subscript(clone(value), gast.Slice(constant(star), upper, None))
                temp = self.temp(part, "rest")
                self.emit(assign(temp, part))
                listed = call("list", name(temp))
                if isinstance(target.value, gast.Name):
                    self.emit(assign(target.value.id, listed))
                else:
                    self.bind(target.value, self.atom(listed))
                continue
            index = position if position < star else position - len(targets)
            part = subscript(clone(value), constant(index))
            if isinstance(target, gast.Name):
                self.emit(assign(target.id, part))
            else:
                self.bind(target, self.atom(part))

    def do_AnnAssign(self, statement: Node) -> None:
        if statement.value is not None:
            self.do_Assign(
                locate(gast.Assign([statement.target], statement.value, None), statement)
            )

    def do_AugAssign(self, statement: Node) -> None:
        value = self.atom(statement.value)
        target = statement.target
        if not isinstance(target, gast.Name):
            target = self._place_expression(target)
        self.emit(gast.AugAssign(target, statement.op, value), statement)

    def _place_expression(self, target: Node) -> Node:
        """Reduce the parts of a subscript or attribute target to atoms."""
        if isinstance(target, gast.Subscript):
            new = gast.Subscript(self.atom(target.value), self.index(target.slice), target.ctx)
        else:
            new = gast.Attribute(self.atom(target.value), target.attr, target.ctx)
        return locate(new, target)

    def do_Expr(self, statement: Node) -> None:
        value = statement.value
        if isinstance(value, gast.Constant):
            return
        self.emit(gast.Expr(self.expression(value)), statement)

    def do_Return(self, statement: Node) -> None:
        raise AssertionError("structure leaves no return")

    def do_Assert(self, statement: Node) -> None:
        test = self.test(statement.test)
        self.emit(gast.Assert(test, statement.msg), statement)

    def do_If(self, statement: Node) -> None:
        test = self.test(statement.test)
        node = gast.If(test, [], [])
        node.body = self.statements(statement.body)
        node.orelse = self.statements(statement.orelse)
        self.emit(node, statement)

    def do_Match(self, statement: Node) -> None:
        subject = self.atom(statement.subject)
        cases = []
        for case in statement.cases:
            if case.guard is not None and _has_walrus(case.guard):
                raise self.refuse(
                    case.guard,
                    "A walrus in the guard of a case is not supported.",
                    "Assign the value before the match.",
                )
            body = self.statements(case.body)
            cases.append(gast.match_case(case.pattern, case.guard, body))
        self.emit(gast.Match(subject, cases), statement)

    def do_With(self, statement: Node) -> None:
        node = gast.With(statement.items, self.statements(statement.body), None)
        self.emit(node, statement)

    def do_Try(self, statement: Node) -> None:
        node = gast.Try(
            self.statements(statement.body),
            [
                gast.ExceptHandler(h.type, h.name, self.statements(h.body))
                for h in statement.handlers
            ],
            self.statements(statement.orelse),
            self.statements(statement.finalbody),
        )
        self.emit(node, statement)

    def do_FunctionDef(self, statement: Node) -> None:
        self.decorated(statement)

    def do_While(self, statement: Node) -> None:
        self.depth += 1
        self._while(statement)
        self.depth -= 1

    def _while(self, statement: Node) -> None:
        if not _has_walrus(statement.test):
            node = gast.While(statement.test, self.statements(statement.body), [])
            self.emit(node, statement)
            return
        saved, self.out = self.out, []
        test = self.test(statement.test)
        head, self.out = self.out, saved
        body = self.statements(statement.body)
        leave = locate(gast.Break(), statement)
        self.origins[leave] = self.origin
        guard = locate(gast.If(test, body, [leave]), statement)
        self.origins[guard] = self.origin
        self.emit(gast.While(constant(True), [*head, guard], []), statement)

    def do_For(self, statement: Node) -> None:
        if not isinstance(statement.target, gast.Tuple | gast.List | gast.Name) or any(
            isinstance(n, gast.Subscript | gast.Attribute | gast.Starred)
            for n in walk(statement.target)
        ):
            raise self.refuse(
                statement.target,
                "A loop that binds an attribute, an item or a starred name is not supported.",
                "Loop over a name and assign from it.",
            )
        iterable = self._iterable(statement.iter)
        self.depth += 1
        statement = self._fresh_targets(statement)
        loop = self._loop(statement.target, iterable)
        if loop is None:
            loop = Loop(self.names.fresh("i"), False, None, ())
        node = gast.For(statement.target, iterable, self.statements(statement.body), [], None)
        self.emit(node, statement)
        self.depth -= 1
        self.loops[node] = loop
        self.indices.add(loop.index)

    def _fresh_targets(self, statement: Node) -> Node:
        """A target that the body binds again gets its value by an assignment of its own."""
        bound = {n.id for n in walk(statement.target) if isinstance(n, gast.Name)}
        again = sorted(bound & _bound(statement.body))
        if not again:
            return statement
        table = {n: self.temp(name(n), f"{n}_item") for n in again}
        target = clone(statement.target)
        rename_scoped(target, table)
        start = [locate(assign(n, name(table[n])), statement) for n in again]
        new = gast.For(target, statement.iter, [*start, *statement.body], [], None)
        self.origin = locate(new, statement)
        return new

    def _iterable(self, node: Node) -> Node:
        """Reduce what a loop runs over, keeping range, enumerate, zip and reversed in place."""
        if is_call(node, "enumerate") and len(node.keywords) == len(node.args) == 1:
            node = locate(call("enumerate", node.args[0], node.keywords[0].value), node)
        if is_call(node, "zip") and [k.arg for k in node.keywords] == ["strict"]:
            node = locate(call("zip", *node.args), node)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
            fn = node.func.id
            plain = fn not in self.locals and not node.keywords
            if plain and not any(isinstance(a, gast.Starred) for a in node.args):
                if fn == "range":
                    return locate(call("range", *[self.scalar(a) for a in node.args]), node)
                if fn == "zip" and node.args:
                    return locate(call("zip", *[self._iterable(a) for a in node.args]), node)
                if fn == "reversed" and len(node.args) == 1:
                    return locate(call("reversed", self._iterable(node.args[0])), node)
                if fn == "enumerate" and len(node.args) in (1, 2):
                    start = [self.scalar(a) for a in node.args[1:]]
                    inner = self._iterable(node.args[0])
                    return locate(call("enumerate", inner, *start), node)
        if (
            isinstance(node, gast.Call)
            and isinstance(node.func, gast.Attribute)
            and node.func.attr in _DICT_VIEWS
            and not node.args
        ):
            return self.atom(locate(call("list", node), node))
        return self.atom(node)

    def scalar(self, node: Node) -> Node:
        """An inert integer expression of names and literals stays; anything else is an atom."""
        return node if plain(node) else self.atom(node)

    def _loop(self, target: Node, iterable: Node) -> Loop | None:
        """Say how the loop runs backward, or None where the iterable can be read only once."""
        saved, self.out = self.out, []
        own = self._own_index(target, iterable)
        index = own if own is not None else self.names.fresh("i")
        try:
            bounds, item = element(iterable, name(index), own is not None)
            if bounds is None:
                return None
            self._bind_element(target, item, own)
            return Loop(index, own is not None, bounds, tuple(self.out))
        finally:
            self.out = saved

    def _own_index(self, target: Node, iterable: Node) -> str | None:
        """Return the user's variable that can serve as index: nothing else may bind it."""
        if is_call(iterable, "range") and isinstance(target, gast.Name):
            candidate = target.id
        elif (
            is_call(iterable, "enumerate")
            and len(iterable.args) == 1
            and isinstance(target, gast.Tuple)
            and len(target.elts) == 2
            and isinstance(target.elts[0], gast.Name)
        ):
            candidate = target.elts[0].id
        else:
            return None
        body = self.origin.body
        if candidate in _bound(body):
            return None
        return str(candidate)

    def _bind_element(self, target: Node, element: Any, own: str | None) -> None:
        """Emit what the header binds: `element` is an expression or a tuple of elements."""
        if isinstance(target, gast.Name):
            if target.id == own:
                return
            value = element if not isinstance(element, tuple) else self._tuple_of(element)
            self.emit(assign(target.id, self.expression(value)))
        elif isinstance(element, tuple) and len(element) == len(target.elts):
            for part, item in zip(target.elts, element, strict=True):
                self._bind_element(part, item, own)
        else:
            value = element if not isinstance(element, tuple) else self._tuple_of(element)
            temp = self.temp(value, "item")
            self.emit(assign(temp, self.expression(value)))
            self._unpack(target.elts, name(temp))

    def _tuple_of(self, element: tuple[Any, ...]) -> Node:
        items = [self._tuple_of(e) if isinstance(e, tuple) else e for e in element]
        return gast.Tuple(items, gast.Load())

    # expressions

    def is_atom(self, node: Node) -> bool:
        if isinstance(node, gast.Name) or is_constant(node):
            return True
        if isinstance(node, gast.Tuple):
            return all(is_constant(e) for e in node.elts)
        return self.is_path(node)

    def is_path(self, node: Node) -> bool:
        """Say whether this is a dotted name that starts outside the function: np.pi."""
        while isinstance(node, gast.Attribute):
            node = node.value
        known = self.locals | self.temps
        return isinstance(node, gast.Name) and node.id not in known

    def temp(self, value: Node, base: str | None = None) -> str:
        fresh = self.names.fresh(base or temp_base(value))
        self.temps.add(fresh)
        return fresh

    def atom(self, node: Node) -> Node:
        """Return an atom with the expression's value, emitting what computes it."""
        if self.is_atom(node):
            return node
        if isinstance(node, gast.NamedExpr):
            self.emit(assign(node.target.id, self.expression(node.value)), node)
            return locate(name(node.target.id), node)
        if isinstance(node, gast.IfExp):
            return self._conditional(node)
        if isinstance(node, gast.BoolOp):
            return self._lazy(node)
        if isinstance(node, gast.ListComp):
            return self._comprehension(node)
        value = self.expression(node)
        if self.is_atom(value):
            return value
        temp = self.temp(value)
        self.emit(assign(temp, value), node)
        return locate(name(temp), node)

    def expression(self, node: Node) -> Node:
        """Return an operation on atoms with the expression's value."""
        if self.is_atom(node):
            return node
        handler: Callable[[Node], Node] | None = getattr(self, f"ex_{type(node).__name__}", None)
        return locate(handler(node), node) if handler is not None else node

    def ex_NamedExpr(self, node: Node) -> Node:
        return self.atom(node)

    ex_IfExp = ex_BoolOp = ex_ListComp = ex_NamedExpr

    def ex_BinOp(self, node: Node) -> Node:
        self._no_late_walrus(node.left, node.right)
        return gast.BinOp(self.atom(node.left), node.op, self.atom(node.right))

    def _no_late_walrus(self, left: Node, right: Node) -> None:
        bound = {n.target.id for n in walk(right) if isinstance(n, gast.NamedExpr)}
        if bound & names_read(left):
            raise self.refuse(
                right,
                "A walrus binds a name that the same expression has read before.",
                "Put the assignment on a line of its own.",
            )

    def ex_UnaryOp(self, node: Node) -> Node:
        if isinstance(node.op, gast.Not):
            return self.test(node)
        return gast.UnaryOp(node.op, self.atom(node.operand))

    def ex_Compare(self, node: Node) -> Node:
        return self.test(node)

    def ex_Attribute(self, node: Node) -> Node:
        return gast.Attribute(self.atom(node.value), node.attr, node.ctx)

    def ex_Subscript(self, node: Node) -> Node:
        return gast.Subscript(self.atom(node.value), self.index(node.slice), node.ctx)

    def index(self, node: Node) -> Node:
        """Indices carry no derivative: they stay whole where evaluating them again is harmless."""
        if plain(node):
            return node
        if isinstance(node, gast.Tuple):
            return locate(gast.Tuple([self.index(e) for e in node.elts], node.ctx), node)
        if isinstance(node, gast.Slice):
            parts = [
                None if p is None else self.index(p) for p in (node.lower, node.upper, node.step)
            ]
            return locate(gast.Slice(*parts), node)
        return self.atom(node)

    def _joined(self, node: Node, make: str) -> Node:
        """`[x, *xs]` becomes `[x] + list(xs)`."""
        display = type(node)
        total: Node | None = None
        plain_items: list[Node] = []

        def flush() -> None:
            nonlocal total
            if plain_items:
                part = self.atom(locate(display(list(plain_items), gast.Load()), node))
                total = part if total is None else gast.BinOp(self.atom(total), gast.Add(), part)
                plain_items.clear()

        for e in node.elts:
            if not isinstance(e, gast.Starred):
                plain_items.append(e)
                continue
            flush()
            part = self.atom(locate(call(make, e.value), e))
            total = part if total is None else gast.BinOp(self.atom(total), gast.Add(), part)
        flush()
        assert total is not None
        return total

    def ex_Tuple(self, node: Node) -> Node:
        if any(isinstance(e, gast.Starred) for e in node.elts):
            return self._joined(node, "tuple")
        return gast.Tuple([self.item(e) for e in node.elts], node.ctx)

    def ex_List(self, node: Node) -> Node:
        if any(isinstance(e, gast.Starred) for e in node.elts):
            return self._joined(node, "list")
        return gast.List([self.item(e) for e in node.elts], node.ctx)

    def item(self, node: Node) -> Node:
        if isinstance(node, gast.Starred):
            return locate(gast.Starred(self.atom(node.value), node.ctx), node)
        return self.atom(node)

    def ex_Dict(self, node: Node) -> Node:
        keys = [k if k is None or plain(k) else self.atom(k) for k in node.keys]
        return gast.Dict(keys, [self.atom(v) for v in node.values])

    def inner_loop(self, loop: Node, node: Node) -> None:
        """Emit a loop that an expression stands for: it has the origin of that."""
        for n in walk(loop):
            locate(n, node)
        before = self.origin
        self.origin = loop
        self.do_For(loop)
        for statement in all_statements(self.out[-1:]):
            self.origins[statement] = before
        self.origin = before

    def ex_Call(self, node: Node) -> Node:
        func = node.func
        if self.denotes(func, "functools", "partial") and node.args:
            return self.partial(node)
        if self.denotes(func, "_functools", "reduce") and len(node.args) in (2, 3):
            return self.reduce(node)
        if isinstance(func, gast.Attribute) and not self.is_path(func):
            func = locate(gast.Attribute(self.atom(func.value), func.attr, func.ctx), func)
        elif not self.is_atom(func):
            func = self.atom(func)
        args = [self.argument(node, a) for a in node.args]
        keywords = [gast.keyword(k.arg, self.atom(k.value)) for k in node.keywords]
        return gast.Call(func, args, keywords)

    def argument(self, node: Node, arg: Node) -> Node:
        if isinstance(arg, gast.Starred):
            return locate(gast.Starred(self.atom(arg.value), arg.ctx), arg)
        if isinstance(arg, gast.GeneratorExp):
            if len(node.args) == 1 or is_call(node, "sum"):
                return self._comprehension(arg)
            return arg
        return self.atom(arg)

    def ex_Lambda(self, node: Node) -> Node:
        return self.held_defaults(node)

    def ex_Starred(self, node: Node) -> Node:
        return gast.Starred(self.atom(node.value), node.ctx)

    # lazy expressions become branches, comprehensions loops

    def test(self, node: Node) -> Node:
        """A truth value carries no derivative: kept whole unless it binds a name."""
        if not _has_walrus(node):
            return node
        if isinstance(node, gast.BoolOp):
            return self._lazy(node)
        if isinstance(node, gast.UnaryOp):
            return gast.UnaryOp(node.op, self.test(node.operand))
        if isinstance(node, gast.Compare):
            if len(node.ops) > 1 and any(map(_has_walrus, node.comparators[1:])):
                raise self.refuse(
                    node,
                    "A walrus late in a chained comparison is not supported.",
                    "Put the assignment on a line of its own.",
                )
            self._no_late_walrus(node.left, gast.Tuple(node.comparators, gast.Load()))
            left = self.operand(node.left)
            rest = [self.operand(c) for c in node.comparators]
            return gast.Compare(left, node.ops, rest)
        return self.atom(node)

    def operand(self, node: Node) -> Node:
        return self.atom(node) if _has_walrus(node) else node

    def _branch(self, test: Node, target: str, then: Node, other: Node | None) -> None:
        blocks: list[Block] = []
        arms = [v if not isinstance(v, gast.Lambda) else self.atom(v) for v in (then, other)]
        for value in arms:
            if value is None:
                blocks.append([])
                continue
            saved, self.out = self.out, []
            self.emit(assign(target, self.expression(value)), value)
            block, self.out = self.out, saved
            blocks.append(block)
        self.emit(gast.If(test, blocks[0], blocks[1]))

    def _conditional(self, node: Node) -> Node:
        target = self.temp(node, "chosen")
        self._branch(self.test(node.test), target, node.body, node.orelse)
        return locate(name(target), node)

    def _lazy(self, node: Node) -> Node:
        target = self.temp(node, "either" if isinstance(node.op, gast.Or) else "both")
        first, *rest = node.values
        self.emit(assign(target, self.expression(first)), first)
        for position, value in enumerate(rest):
            more = rest[position + 1 :]
            tail = gast.BoolOp(node.op, [value, *more]) if more else value
            test = name(target)
            if isinstance(node.op, gast.Or):
                test = gast.UnaryOp(gast.Not(), test)
            self._branch(test, target, locate(tail, value), None)
            break
        return locate(name(target), node)

    def _comprehension(self, node: Node) -> Node:
        """Return the name of a list filled by a loop."""
        target = self.names.fresh("items")
        self.temps.add(target)
        self.emit(assign(target, gast.List([], gast.Load())), node)
        bound = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, gast.Name)}
        table = {}
        for identifier in sorted(bound):
            fresh = self.names.fresh(identifier) if identifier in self.locals else identifier
            self.names.take(fresh)
            if fresh != identifier:
                table[identifier] = fresh
            self.locals.add(fresh)
            self.temps.add(fresh)
        append = gast.Expr(
            locate(call(gast.Attribute(name(target), "append", gast.Load()), node.elt), node)
        )
        body: Block = [locate(append, node)]
        first_iter = node.generators[0].iter
        for generator in reversed(node.generators):
            if generator.is_async:
                raise self.refuse(node, "An async comprehension is not supported.", "Use a loop.")
            for condition in reversed(generator.ifs):
                body = [locate(gast.If(condition, body, []), node)]
            body = [locate(gast.For(generator.target, generator.iter, body, [], None), node)]
        loop = body[0]
        if table:
            loop.iter = constant(None)
            rename_scoped(loop, table)
            loop.iter = first_iter
        self.inner_loop(loop, node)
        return locate(name(target), node)
