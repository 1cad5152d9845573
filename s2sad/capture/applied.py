"""Functions that are made or applied on the way: partial, reduce, defaults worked out once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from s2sad import registry
from s2sad.capture.read import warn_once
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    clone,
    constant,
    is_constant,
    locate,
    name,
    names_written,
    store,
    subscript,
    substitute,
    walk,
)
from s2sad.stages import Ahead, SourceLike


class Applied:
    """What the normaliser knows of functions as values; the normaliser supplies the rest."""

    source: SourceLike
    names: Names
    ahead: dict[str, Ahead]
    temps: set[str]
    locals: set[str]
    held: set[str]
    depth: int
    out: Block

    def is_path(self, node: Node) -> bool:
        """Say whether this is a dotted name that starts outside the function."""
        raise NotImplementedError

    def known(self, node: Node) -> Any:
        """Return the object outside that a name or a module's attribute denotes, or None."""
        raise NotImplementedError

    def in_rounds(self, node: Node, body: Block) -> None:
        """Emit the loops of a comprehension, around what is done with each element."""
        raise NotImplementedError

    def atom(self, node: Node) -> Node:
        """Return an atom with the expression's value, emitting what computes it."""
        raise NotImplementedError

    def expression(self, node: Node) -> Node:
        """Return an operation on atoms with the expression's value."""
        raise NotImplementedError

    def emit(self, statement: Node, origin: Node | None = None) -> Node:
        """Add a statement."""
        raise NotImplementedError

    def temp(self, value: Node, base: str | None = None) -> str:
        """Return a new name for a temporary."""
        raise NotImplementedError

    def is_atom(self, node: Node) -> bool:
        """Say whether this is a name, a constant or a dotted name from outside."""
        raise NotImplementedError

    def begun(self, made: Node, later: Block) -> Node | None:
        """Find what a generator expression runs over, before what is evaluated later; or None."""
        raise NotImplementedError

    def settled(self, value: Node, later: Iterable[Node | None]) -> Node:
        """Keep what an operand is now, where one evaluated later binds a name that it reads."""
        raise NotImplementedError

    def inner_loop(self, loop: Node, node: Node) -> None:
        """Emit a loop that an expression stands for."""
        raise NotImplementedError

    def held_defaults(self, node: Node) -> Node:
        """Defaults are worked out where the function is defined: under names of their own."""
        for defaults in (node.args.defaults, node.args.kw_defaults):
            for i, d in enumerate(defaults):
                if d is None or is_constant(d) or self.is_path(d):
                    continue
                held = self.temp(d, "held")
                self.held.add(held)
                self.emit(assign(held, self.expression(d)), d)
                defaults[i] = locate(name(held), d)
        return node

    def decorated(self, definition: Node) -> None:
        """`@d def f` is `def f` and `f = d(f)`; functools.wraps changes nothing but the name."""
        others = []
        for d in definition.decorator_list:
            made = d.func if isinstance(d, gast.Call) else d
            if any(self.denotes(made, "functools", cache) for cache in ("lru_cache", "cache")):
                self._warn_of_cache(definition)
            elif not self.denotes(made, "functools", "wraps"):
                others.append(self.atom(d))
        definition.decorator_list = []
        self.emit(self.held_defaults(definition))
        for d in reversed(others):
            call = locate(gast.Call(d, [name(definition.name)], []), definition)
            self.emit(assign(definition.name, call), definition)

    def _warn_of_cache(self, definition: Node) -> None:
        """Say that a cache is seen through, as it is around functions of a module."""
        place = self.source.place(definition)
        message = (
            f"functools.lru_cache around {definition.name} has no effect in derived code: it "
            "computes each call."
        )
        warn_once(message, place.file, place.line, self.source.fn)

    def denotes(self, func: Node, module: str, attr: str) -> bool:
        """Say whether a function expression is `attr` of a module, under whatever name."""
        if not self.is_path(func):
            return False
        fn: Any = self.source.fn
        if isinstance(func, gast.Name):
            value = fn.__globals__.get(func.id)
        elif isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name):
            value = getattr(fn.__globals__.get(func.value.id), func.attr, None)
        else:
            return False
        return getattr(value, "__name__", "") == attr and getattr(value, "__module__", "") == module

    def reduce(self, node: Node) -> Node:
        """`reduce(f, xs, start)` becomes the loop that it is."""
        bound = any(isinstance(n, gast.NamedExpr) for n in walk(node.args[1]))
        lazy = isinstance(node.args[1], gast.GeneratorExp) and not bound
        if lazy and len(node.args) == 2 and all(map(self.changes_nothing, node.args)):
            made = node.args[1]
            node.args[1] = locate(gast.ListComp(made.elt, made.generators), made)
        fn, source = self.settled(self.atom(node.args[0]), node.args[1:]), node.args[1]
        if isinstance(source, gast.GeneratorExp) and len(node.args) == 3 and not bound:
            source = self.begun(source, node.args[2:]) or source
        elif bound or not all(map(self.is_atom, node.args[2:])):
            source = self.settled(self.atom(source), node.args[2:])
        total = self.names.fresh("total")
        first = self.first_apart(source) if lazy and len(node.args) == 2 else None
        if len(node.args) == 3:
            start = self.expression(node.args[2])
        elif first is not None:
            value, source = first
            start = self.expression(value)
        else:
            source = self.atom(source)
            start = subscript(clone(source), constant(0))
            source = subscript(source, gast.Slice(constant(1), None, None))
            source.ahead = True  # a copy, of a list
        self.emit(assign(total, start), node)
        item = self.names.fresh("item")
        self.temps |= {total, item}
        step = assign(total, gast.Call(fn, [name(total), name(item)], []))
        if lazy and (first is not None or len(node.args) == 3):
            self.in_rounds(source, [locate(assign(item, source.elt), source), step])
        else:
            self.inner_loop(gast.For(store(item), source, [step], [], None), node)
        return locate(name(total), node)

    def first_apart(self, node: Node) -> tuple[Node, Node] | None:
        """Return the first value of a generator over a sequence, and a generator of the others.

        (f(v) for v in xs)     ->     f(xs[0]), (f(v) for v in xs[1:])
        """
        if not isinstance(node, gast.GeneratorExp) or len(node.generators) != 1:
            return None
        part = node.generators[0]
        if part.ifs or not isinstance(part.target, gast.Name):
            return None
        if not isinstance(part.iter, gast.Name | gast.Attribute):
            return None
        whole = self.atom(part.iter)
        if not isinstance(whole, gast.Name) or whole.id in names_written(part.target):
            return None
        value = substitute(node.elt, {part.target.id: subscript(clone(whole), constant(0))})
        others = subscript(clone(whole), gast.Slice(constant(1), None, None))
        others.ahead = True  # a copy, of a list
        turn = gast.comprehension(part.target, others, [], 0)
        made = gast.GeneratorExp(node.elt, [turn])
        for n in walk(made):
            locate(n, node)
        return value, made

    def changes_nothing(self, node: Node) -> bool:
        """Say whether to evaluate, or to call, this changes nothing: it is known by rules."""
        if isinstance(node, gast.Name | gast.Attribute):
            return registry.rule_for(self.known(node)) is not None
        return all(self._computes(n) for n in walk(node) if isinstance(n, gast.Call))

    def _computes(self, node: Node) -> bool:
        """Say whether a call only computes: what it calls has a rule, and writes into nothing."""
        fn: Any = self.known(node.func)
        given = len(node.args) > getattr(fn, "nin", len(node.args))
        return (
            registry.rule_for(fn) is not None
            and not given
            and all(k.arg not in (None, "out") for k in node.keywords)
        )

    def accumulate(self, node: Node) -> Node:
        """`list(accumulate(xs, f))` is what a loop that runs f over xs has after every round."""
        given = {k.arg: k.value for k in node.keywords}
        source = self.atom(node.args[0])
        fn = self.atom(node.args[1]) if len(node.args) > 1 else None
        total, items = self.names.fresh("total"), self.names.fresh("items")
        item = self.names.fresh("item")
        if "initial" in given:
            start = self.atom(given["initial"])
        else:
            start = subscript(clone(source), constant(0))
            source = subscript(clone(source), gast.Slice(constant(1), None, None))
            source.ahead = True
        self.emit(assign(total, start), node)
        self.emit(assign(items, gast.List([name(total)], gast.Load())), node)
        self.temps |= {total, item, items}
        self.locals |= {total, item, items}
        sum_ = gast.BinOp(name(total), gast.Add(), name(item))
        step = sum_ if fn is None else gast.Call(fn, [name(total), name(item)], [])
        append = gast.Attribute(name(items), "append", gast.Load())
        body = [assign(total, step), gast.Expr(gast.Call(append, [name(total)], []))]
        self.inner_loop(gast.For(store(item), source, body, [], None), node)
        return locate(name(items), node)

    def is_accumulate(self, node: Node) -> bool:
        """Say whether this is `accumulate(xs)`, with a function or a start perhaps."""
        if not isinstance(node, gast.Call) or not 1 <= len(node.args) <= 2:
            return False
        if not self.denotes(node.func, "itertools", "accumulate"):
            return False
        plain = not any(isinstance(a, gast.Starred) for a in node.args)
        return plain and {k.arg for k in node.keywords} <= {"initial"}

    def partial(self, node: Node) -> Node:
        """`partial(f, a)` becomes `lambda *rest, **more: f(a, *rest, **more)`, with a held.

        What a call names takes the place of what the partial names.
        """
        parts = []
        own: list[str] = []
        for arg in [*node.args, *(k.value for k in node.keywords)]:
            value = self.atom(arg)
            if isinstance(value, gast.Name) and value.id in self.locals | self.temps:
                held = self.temp(value, "held")
                self.emit(assign(held, value))
                value = name(held)
                own.append(held)
            parts.append(value)
        made = handing_on(
            parts[: len(node.args)], self.names, node.keywords, parts[len(node.args) :]
        )
        args = made.args
        if self.depth:
            # A partial keeps what it was made with; a variable of the loop does not.
            args.kwonlyargs = [gast.Name(n, gast.Param(), None, None) for n in own]
            args.kw_defaults = [name(n) for n in own]
        for n in walk(made):
            locate(n, node)
        return made


def handing_on(
    bound: list[Node], names: Names, keywords: Iterable[Node] = (), values: Iterable[Node] = ()
) -> Node:
    """Return `lambda *rest, **more: f(a, *rest, **more)` for what is bound, `f` and `a`.

    What a call names takes the place of keywords that are bound.
    """
    rest, more = names.fresh("rest"), names.fresh("more")
    named = [None if k.arg is None else constant(k.arg) for k in keywords]
    given: Node = gast.Dict([*named, None], [*values, name(more)]) if named else name(more)
    func, *args = bound
    inner = gast.Call(
        func, [*args, gast.Starred(name(rest), gast.Load())], [gast.keyword(None, given)]
    )
    vararg, kwarg = (gast.Name(n, gast.Param(), None, None) for n in (rest, more))
    return gast.Lambda(gast.arguments([], [], vararg, [], [], kwarg, []), inner)
