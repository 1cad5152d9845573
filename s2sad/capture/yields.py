"""A generator function that is gone through where it is called is written out there.

    def squares(n):
        for k in range(n):
            yield x[k] ** 2

    for v in squares(3):                 ->    for k in range(3):
        total += v                                 v = x[k] ** 2
                                                   total += v

    sum(squares(3))                      ->    def listed():
                                                   made = []
                                                   for item in squares(3):
                                                       made.append(item)
                                                   return made

                                               sum(listed())

So its statements and those of the loop run in the order in which Python runs them, whatever either
of them reads or writes, and as far as the loop goes. What is not gone through at once (a generator
that is kept, or asked for its next item) stays as it is, and is refused where it is reached.
"""

from __future__ import annotations

import builtins
import inspect
import itertools
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad.capture.desugar import denoted
from s2sad.capture.gone_through import Objects, class_at, iter_of, named, path_of, through
from s2sad.capture.late import read_where_made
from s2sad.capture.read import read_generator
from s2sad.capture.unfold import renamed
from s2sad.errors import SourceError
from s2sad.names import Names
from s2sad.nodes import (
    COMPREHENSIONS,
    SCOPES,
    Block,
    Node,
    assign,
    attribute,
    block_writes,
    blocks_of,
    call,
    clone,
    compare,
    constant,
    count_writes,
    locate,
    name,
    names_written,
    store,
    tuple_,
    walk,
)
from s2sad.registry import effects_of, written_generator
from s2sad.syntax.flow import captured_names, free_names, read_outside

Noted = dict[Any, Any]
_YIELDS = (gast.Yield, gast.YieldFrom)
_STRANGE = (gast.Global, gast.Try, gast.Import, gast.ImportFrom, gast.Match)


def without_yields(node: Node, fn: Any, noted: Noted, known: Objects) -> Node:
    """Return a definition in which generator functions are written out where they are gone through.

    Those of the module are `noted` by their names: the definition reads them. So are methods of
    `known` objects, by their classes and names.
    """
    taken = {n.id for n in walk(node) if isinstance(n, gast.Name)} | {*fn.__code__.co_names}
    node = named(node, fn, taken)
    own = [s for s in walk(node) if isinstance(s, gast.FunctionDef) and is_generator(s)]
    inside = {id(n) for s in own if s is not node for n in walk(s)}
    outer = [n for n in walk(node) if id(n) not in inside]
    called = [n for n in outer if isinstance(n, gast.Call)]
    shared = [n for n in walk(node) if isinstance(n, gast.Nonlocal | gast.Global)]
    rebound = {word for n in shared for word in n.names}
    classes: Objects = {**known, **_made_in(node, fn)}
    classes = {path: c for path, c in classes.items() if path.partition(".")[0] not in rebound}
    node = through(node, fn, noted, classes)
    yielding = any(map(inspect.isgeneratorfunction, (iter_of(cls) for cls, _ in classes.values())))
    if (
        not own
        and not yielding
        and not any(
            _of_module(c, fn) or _of_library(c, fn) or _of_lambda(c) or _of_object(c, fn, classes)
            for c in called
        )
    ):
        return node
    node = clone(node)
    taken = {n.id for n in outer if isinstance(n, gast.Name)}
    taken |= {n.name for n in outer if isinstance(n, gast.FunctionDef)}
    taken |= set().union(*map(free_names, own))
    taken |= {*fn.__code__.co_names, *fn.__code__.co_freevars}
    worker = _Writer(fn, Names(taken), _Outside(noted, rebound, classes))
    worker.scope(node)
    return through(node, fn, noted, classes)  # what is written out goes through objects, too


def is_generator(fn: Node) -> bool:
    """Say whether a definition is that of a generator function."""
    body = fn.body if isinstance(fn.body, list) else [fn.body]
    return any(isinstance(n, _YIELDS) for s in body for n in _own(s))


def _own(s: Node) -> list[Node]:
    """Return what is below a node, but for what inner functions have of their own."""
    found, pending = [], [s]
    while pending:
        n = pending.pop()
        found.append(n)
        if not isinstance(n, SCOPES):
            pending += gast.iter_child_nodes(n)
    return found


def _of_module(node: Node, fn: Any, hidden: set[str] | None = None) -> types.FunctionType | None:
    """Return the generator function of a function's own module that a call calls."""
    found = denoted(node.func, fn, hidden or set())
    if not isinstance(node.func, gast.Name) or not isinstance(found, types.FunctionType):
        return None
    known = inspect.isgeneratorfunction(found) and not found.__closure__
    return found if known and found.__globals__ is fn.__globals__ else None


def _of_object(node: Node, fn: Any, classes: Objects) -> types.FunctionType | None:
    """Return the generator function that is the method of an object that a call calls."""
    if not isinstance(node.func, gast.Attribute):
        return None
    cls, own = class_at(node.func.value, classes)
    if node.func.attr in own:
        return None
    found = inspect.getattr_static(cls, node.func.attr, None)
    if not inspect.isgeneratorfunction(found) or found.__closure__:
        return None
    return found if found.__globals__ is fn.__globals__ else None


def _made_in(node: Node, fn: Any) -> Objects:
    """Return the classes of objects that a function makes, and calls by one name each."""
    counts = count_writes(node.body)
    found: dict[str, tuple[type, tuple[str, ...]]] = {}
    for s in _own_statements(node.body):
        made = s.value if isinstance(s, gast.Assign) and len(s.targets) == 1 else None
        word = getattr(s.targets[0], "id", "") if made is not None else ""
        if not isinstance(made, gast.Call) or counts.get(word) != 1:
            continue
        cls = denoted(made.func, fn, set(counts))
        init = getattr(cls, "__init__", None)
        if type(cls) is type and isinstance(init, types.FunctionType):
            if inspect.getattr_static(cls, "__new__") is inspect.getattr_static(object, "__new__"):
                found[word] = cls, init.__code__.co_names
    return found


def _of_library(node: Node, fn: Any, hidden: set[str] | None = None) -> Any:
    """Return the generator function that stands for what a call calls of a library's."""
    found = denoted(node.func, fn, hidden or set())
    return None if found is None else written_generator(found)


def _of_lambda(node: Node) -> bool:
    return isinstance(node.func, gast.Lambda) and is_generator(node.func)


@dataclass(frozen=True)
class _Outside:
    """What is noted of what is met outside, what inner functions bind anew, classes of objects."""

    noted: Noted
    rebound: set[str]
    classes: Objects


class _Stays(Exception):
    """A generator is gone through in a way that has no such text: it stays as it is."""


@dataclass
class _Scope:
    """A function around: the names that it binds, and the generator functions among them."""

    locals: set[str]
    made: dict[str, Node] = field(default_factory=dict)


@dataclass(frozen=True)
class _Passed:
    """What a loop goes through: a generator, the loop's items of what it yields, and how many.

    `start` is what is done before, `item` gives the item for a value, `after` what is done behind
    that, `limit` counts the items that there may be.
    """

    node: Node
    call: Node
    start: tuple[Node, ...] = ()
    item: Callable[[Node], Node] = lambda value: value
    after: tuple[Node, ...] = ()
    limit: Node | None = None


@dataclass(frozen=True)
class _Loop:
    """A loop over a generator: its target and body, and the name that says that it was left."""

    target: Node
    body: Block
    passed: _Passed
    left: str

    @property
    def breaks(self) -> bool:
        return any(isinstance(s, gast.Break) for s in _of_round(self.body))

    @property
    def continues(self) -> bool:
        return any(isinstance(s, gast.Continue) for s in _of_round(self.body))


def _of_round(body: Block) -> list[Node]:
    """Return the statements of a loop's body, but for those of the loops inside."""
    found: Block = []
    for s in body:
        found.append(s)
        if isinstance(s, gast.For | gast.While):
            found += _of_round(s.orelse)
        elif not isinstance(s, SCOPES):
            for part in blocks_of(s):
                found += _of_round(part)
    return found


class _Writer:
    def __init__(self, fn: Any, names: Names, outside: _Outside) -> None:
        self.fn = fn
        self.names = names
        self.outside = outside
        self.read: dict[types.FunctionType, Node] = {}
        self.scopes: list[_Scope] = []
        self.open: list[int] = []
        self.hoisted: Block = []

    # statements

    def scope(self, node: Node) -> None:
        """Write out, in place, what a function goes through; drop what nobody calls then."""
        args = node.args
        params = {a.id for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
        params |= {a.id for a in (args.vararg, args.kwarg) if a is not None}
        scope = _Scope(params | block_writes(node.body))
        once = {n for n, count in count_writes(node.body, params).items() if count == 1}
        outer = {n for s in walk(node) if isinstance(s, gast.Global) for n in s.names}
        for s in walk(node):
            outer |= set(s.names) if isinstance(s, gast.Nonlocal) else set()
        for s in _own_statements(node.body):
            if isinstance(s, gast.FunctionDef) and is_generator(s) and not s.decorator_list:
                if s.name in once - outer:
                    scope.made[s.name] = s
        self.scopes.append(scope)
        read_where_made(node.body, self.is_called, scope.locals)
        node.body = self.block(node.body)
        self.scopes.pop()
        read = read_outside([s for s in node.body if s not in scope.made.values()])
        for n, s in scope.made.items():
            if n not in read and s in node.body:
                node.body.remove(s)
        node.body = node.body or [locate(gast.Pass(), node)]

    def is_called(self, value: Node) -> bool:
        """Say whether this is the call of a generator function that is known."""
        try:
            return self.passed(value) is not None
        except _Stays:
            return False

    def block(self, body: Block) -> Block:
        out: Block = []
        for s in body:
            around, self.hoisted = self.hoisted, []
            made = self.statement(s)
            out += [*self.hoisted, *made]
            self.hoisted = around
        return out

    def statement(self, s: Node) -> Block:
        if isinstance(s, gast.FunctionDef):
            if s not in [g for scope in self.scopes for g in scope.made.values()]:
                self.scope(s)
            return [s]
        if isinstance(s, gast.ClassDef | gast.AsyncFunctionDef):
            return [s]
        for part in blocks_of(s):
            part[:] = self.block(part)
        if isinstance(s, gast.For) and not s.orelse:
            try:
                return self.looped(s)
            except _Stays:
                pass
        for each, value in gast.iter_fields(s):
            if isinstance(value, list):
                setattr(s, each, [self.expression(v, set()) for v in value])
            elif isinstance(value, gast.AST):
                setattr(s, each, self.expression(value, set()))
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Tuple | gast.List):
            s.value = self.whole(s.value, set())
        return [s]

    # expressions

    def expression(self, node: Any, bound: set[str]) -> Any:
        """Return an expression in which generators that are read at once are lists."""
        blocks = (gast.stmt, gast.ExceptHandler, gast.match_case, *SCOPES)
        if not isinstance(node, gast.AST) or isinstance(node, blocks):
            return node
        if isinstance(node, COMPREHENSIONS):
            if isinstance(node, gast.ListComp | gast.DictComp) and self.goes_through(node, bound):
                return self.listed(node, bound)
            bound = bound.union(*(names_written(g.target) for g in node.generators))
        for each, value in gast.iter_fields(node):
            if isinstance(value, list):
                setattr(node, each, [self.expression(v, bound) for v in value])
            else:
                setattr(node, each, self.expression(value, bound))
        if isinstance(node, gast.Starred):
            node.value = self.whole(node.value, bound)
        if isinstance(node, gast.Call) and node.args and self.reads(node) == "until":
            return self.until(node, bound)
        if isinstance(node, gast.Call) and node.args and self.reads(node) == "whole":
            later = [*node.args[1:], *(k.value for k in node.keywords)]
            if all(isinstance(a, gast.Name | gast.Constant | gast.Lambda) for a in later):
                node.args[0] = self.whole(node.args[0], bound)
        return node

    def called(self, node: Node) -> Any:
        return denoted(node.func, self.fn, set().union(*(s.locals for s in self.scopes)))

    def reads(self, node: Node) -> str:
        """Say how far a call reads its first argument."""
        fn = self.called(node)
        return "" if fn is None else effects_of(fn).reads

    def until(self, node: Node, bound: set[str]) -> Node:
        """`any`, `all` and `next` leave the loop over a generator as soon as they know."""
        fn, (made, *rest) = self.called(node), node.args
        if not isinstance(made, gast.GeneratorExp) or not self.goes_through(made, bound):
            return node
        if not all(isinstance(a, gast.Constant | gast.Name) for a in rest) or node.keywords:
            return node
        if fn is next:
            end = gast.Return(rest[0]) if rest else gast.Raise(name("StopIteration"), None)
            return self.through(made, bound, gast.Return(made.elt), [end])
        if fn is not any and fn is not all:
            return node
        test = made.elt if fn is any else gast.UnaryOp(gast.Not(), made.elt)
        inner = gast.If(test, [gast.Return(constant(fn is any))], [])
        return self.through(made, bound, inner, [gast.Return(constant(fn is all))])

    def whole(self, node: Node, bound: set[str]) -> Node:
        """Return the list of what is read at once: a generator, or an expression that is one."""
        if isinstance(node, gast.GeneratorExp) and self.goes_through(node, bound):
            return self.listed(node, bound)
        item = self.names.fresh("item")
        made = gast.ListComp(name(item), [gast.comprehension(store(item), node, [], 0)])
        return self.listed(_placed(made, node), bound) if self.goes_through(made, bound) else node

    def goes_through(self, node: Node, bound: set[str]) -> bool:
        """Say whether a comprehension goes through a generator, and binds nothing else."""
        if any(isinstance(n, gast.NamedExpr | gast.Await) for n in walk(node)):
            return False
        hidden = bound.union(*(names_written(g.target) for g in node.generators))
        try:
            return any(self.passed(g.iter, hidden) is not None for g in node.generators)
        except _Stays:
            return False

    def listed(self, node: Node, bound: set[str]) -> Node:
        """Return the call of a new inner function that goes through what a comprehension does."""
        made = self.names.fresh("made")
        table = isinstance(node, gast.DictComp)
        if isinstance(node, gast.DictComp):
            place = gast.Subscript(name(made), node.key, gast.Store())
            inner: Node = gast.Assign([place], node.value, None)
        else:
            inner = gast.Expr(call(attribute(name(made), "append"), node.elt))
        start = assign(made, gast.Dict([], []) if table else gast.List([], gast.Load()))
        return self.through(node, bound, inner, [gast.Return(name(made))], [start])

    def through(
        self, node: Node, bound: set[str], inner: Node, end: Block, start: Block | None = None
    ) -> Node:
        """Return the call of a new inner function that does something for what is gone through."""
        for part in reversed(node.generators):
            for test in reversed(part.ifs):
                inner = gast.If(test, [inner], [])
            inner = gast.For(part.target, part.iter, [inner], [], None)
        word = self.names.fresh("listed")
        body = [*(start or []), inner, *end]
        given = sorted(bound & read_outside([node, *end]))
        params = [gast.Name(n, gast.Param(), None, None) for n in given]
        args = gast.arguments(params, [], None, [], [], None, [])
        definition = _placed(gast.FunctionDef(word, args, body, [], None, None, []), node)
        self.scopes[-1].locals.add(word)
        self.scope(definition)
        self.hoisted.append(definition)
        return _placed(call(word, *map(name, given)), node)

    # generators

    def passed(self, node: Node, hidden: set[str] | None = None) -> _Passed | None:
        """Return what an expression goes through, where a generator function yields that."""
        if iter_of(class_at(node, self.outside.classes)[0]) is not None:
            node = locate(gast.Call(attribute(clone(node), "__iter__"), [], []), node)
        if not isinstance(node, gast.Call):
            return None
        hidden = hidden or set()
        every = hidden.union(*(scope.locals for scope in self.scopes))
        fn = denoted(node.func, self.fn, every)
        if fn is enumerate:
            return self.counted(node, hidden)
        if fn is itertools.islice:
            return self.cut(node, hidden)
        definition = self.definition(node, hidden, every)
        if definition is None:
            return None
        if id(definition) in self.open:
            raise _Stays
        if isinstance(node.func, gast.Attribute) and self.method(node, hidden) is not None:
            own = gast.Call(node.func, [node.func.value, *node.args], node.keywords)
            return _Passed(definition, locate(own, node))
        return _Passed(definition, node)

    def method(self, node: Node, hidden: set[str]) -> types.FunctionType | None:
        """Return the generator function that is a method of a parameter, where that is at hand."""
        inner = hidden.union(*(scope.locals for scope in self.scopes[1:]))
        fn = _of_object(node, self.fn, self.outside.classes)
        return None if fn is None or path_of(node.func.value).partition(".")[0] in inner else fn

    def definition(self, node: Node, hidden: set[str], every: set[str]) -> Node | None:
        """Return the definition of the generator function that a call calls."""
        if _of_lambda(node):
            body = gast.Expr(node.func.body)
            return _placed(
                gast.FunctionDef("lambda_", node.func.args, [body], [], None, None), node
            )
        word = getattr(node.func, "id", "")
        if word in hidden:
            return None
        for at, scope in reversed(list(enumerate(self.scopes))):
            if word in scope.locals:
                made = scope.made.get(word)
                inner = set().union(*(s.locals for s in self.scopes[at + 1 :]), hidden)
                if made is not None and captured_names(made) & inner:
                    raise _Stays
                return made
        written = _of_library(node, self.fn, every)
        method = self.method(node, hidden)
        fn = written or method or _of_module(node, self.fn, every)
        if fn is None:
            return None
        if fn not in self.read:
            self.read[fn] = _read(fn)
        made = self.read[fn]
        if captured_names(made) & every:
            raise _Stays
        if written is not None:
            there = {n: denoted(name(n), self.fn, every) for n in captured_names(made)}
            if any(value is not getattr(builtins, n) for n, value in there.items()):
                raise _Stays
            return made
        self.names.take(*captured_names(made))
        cls = None if method is None else class_at(node.func.value, self.outside.classes)[0]
        self.outside.noted[word if cls is None else (cls, node.func.attr)] = fn
        return made

    def counted(self, node: Node, hidden: set[str]) -> _Passed | None:
        """`enumerate(generator, start)` counts what is yielded."""
        passed = self.passed(node.args[0], hidden) if node.args else None
        if passed is None:
            return None
        if len(node.args) > 2 or len(node.args) + len(node.keywords) > 2:
            raise _Stays
        first = [*node.args[1:], *(k.value for k in node.keywords)]
        if not all(isinstance(a, gast.Constant) for a in first) or passed.limit is not None:
            raise _Stays
        count = self.names.fresh("count")
        start = assign(count, clone(first[0]) if first else constant(0))
        more = gast.AugAssign(store(count), gast.Add(), constant(1))
        inner = passed.item
        return _Passed(
            passed.node,
            passed.call,
            (*passed.start, start),
            lambda value: tuple_([name(count), inner(value)]),
            (*passed.after, more),
        )

    def cut(self, node: Node, hidden: set[str]) -> _Passed | None:
        """`islice(generator, stop)` goes no further than to the last item that it gives."""
        passed = self.passed(node.args[0], hidden) if node.args else None
        if passed is None:
            return None
        if len(node.args) != 2 or node.keywords or passed.limit is not None or passed.start:
            raise _Stays
        if not isinstance(node.args[1], gast.Constant | gast.Name):
            raise _Stays
        stop = self.names.fresh("rest")
        start = assign(stop, clone(node.args[1]))
        return _Passed(passed.node, passed.call, (start,), limit=name(stop))

    def looped(self, s: Node) -> Block:
        """Return a loop over a generator, written out."""
        passed = self.passed(s.iter)
        if passed is None:
            raise _Stays
        if self.called(passed.call) is itertools.groupby and not _read_once(s):
            raise _Stays
        self.open.append(id(passed.node))
        try:
            start, body = self.begun(passed, s.body)
        finally:
            self.open.pop()
        loop = _Loop(s.target, s.body, passed, self.names.fresh("left"))
        out = [*start, *(locate(clone(t), s) for t in passed.start), *_Woven(loop).out(body)]
        for made in out:
            _placed(made, s)
        return out or [locate(gast.Pass(), s)]

    def begun(self, passed: _Passed, inside: Block) -> tuple[Block, Block]:
        """Return what binds the parameters of a generator function, and its body with own names."""
        definition = passed.node
        item = _beside("item", definition)
        body = [_each(clone(s), item) for s in definition.body if not _is_text(s)]
        own = [n for s in body for n in _own(s)]
        if any(isinstance(n, (*_STRANGE, gast.ClassDef, gast.Await)) for n in own):
            raise _Stays
        if sum(isinstance(n, gast.Yield) for n in own) != len([s for s in own if _yields(s)]):
            raise _Stays
        given = _arguments(definition.args, passed.call)
        shared = {word for n in own if isinstance(n, gast.Nonlocal) for word in n.names}
        if shared and definition not in self.scopes[-1].made.values():
            raise _Stays
        bound = block_writes(body) - shared
        changed = bound | block_writes(inside) | self.outside.rebound
        table: dict[str, str] = {}
        start: Block = []
        lazy: dict[str, Node] = {}
        for p, value in given.items():
            if _gone_through(p, body) and (self.is_called(value) or _is_lazy(value)):
                table[p] = self.names.fresh(p)
                lazy[table[p]] = value
                continue
            if isinstance(value, gast.Name) and p not in bound and value.id not in changed:
                table[p] = value.id
                continue
            table[p] = self.names.fresh(p)
            start.append(assign(table[p], clone(value)))
        for n in sorted(bound - given.keys()):
            table[n] = self.names.fresh(n)
        body = [renamed(s, table) for s in body if not isinstance(s, gast.Nonlocal)]
        body = [clone(s, lazy) for s in body] if lazy else body
        self.scopes[-1].locals |= set(table.values())
        return start, self.block(body)


def _is_lazy(value: Node) -> bool:
    """Say whether an expression gives what is read one by one, and only where that is done."""
    return isinstance(value, gast.GeneratorExp)


def _gone_through(p: str, body: Block) -> bool:
    """Say whether all that a function does with a parameter is to go through it, first of all."""
    reads = [n for s in body for n in walk(s) if isinstance(n, gast.Name) and n.id == p]
    loop = next((s for s in body if not isinstance(s, gast.Assign)), None)
    return len(reads) == 1 and isinstance(loop, gast.For) and loop.iter is reads[0]


def _read_once(loop: Node) -> bool:
    """Say whether a loop over groups reads each of them once at most, as one can."""
    target = loop.target.elts if isinstance(loop.target, gast.Tuple) else []
    if len(target) != 2 or not all(isinstance(t, gast.Name) for t in target):
        return False
    again: set[Any] = set()
    for n in (n for s in loop.body for n in walk(s)):
        parts: Block = []
        if isinstance(n, gast.For | gast.While):
            parts = [*n.body, *([n.test] if isinstance(n, gast.While) else [])]
        elif isinstance(n, COMPREHENSIONS):
            first = n.generators[0].iter
            parts = [c for c in gast.iter_child_nodes(n) if c is not n.generators[0]]
            parts += [n.generators[0].target, *n.generators[0].ifs]
            parts = [c for c in parts if c is not first]
        elif isinstance(n, SCOPES):
            parts = n.body if isinstance(n.body, list) else [n.body]
        again |= {x for c in parts for x in walk(c)}
    group = target[1].id
    reads = [n for s in loop.body for n in walk(s) if isinstance(n, gast.Name) and n.id == group]
    return len(reads) <= 1 and not again & set(reads)


def _own_statements(body: Block) -> Block:
    """Return the statements of a function, those of its branches and loops among them."""
    found: Block = []
    for s in body:
        found.append(s)
        if not isinstance(s, SCOPES):
            for part in blocks_of(s):
                found += _own_statements(part)
    return found


def _placed(made: Node, origin: Node) -> Node:
    """Give all that was made the place of a node, where it has none of its own."""
    for n in gast.walk(made):
        if getattr(n, "lineno", None) is None:
            locate(n, origin)
    return made


def _is_text(s: Node) -> bool:
    return isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant)


def _yields(s: Node) -> bool:
    """Say whether this is a statement that yields something, and asks for no answer."""
    return isinstance(s, gast.Expr) and isinstance(s.value, gast.Yield)


def _beside(word: str, definition: Node) -> str:
    """Return a name that a definition does not use."""
    taken = {n.id for n in walk(definition) if isinstance(n, gast.Name)}
    return Names(taken).fresh(word)


def _each(s: Node, item: str) -> Node:
    """`yield from xs` is a loop that yields each of xs."""
    if isinstance(s, gast.Expr) and isinstance(s.value, gast.YieldFrom):
        inner = gast.Expr(gast.Yield(name(item)))
        return _placed(gast.For(store(item), s.value.value, [inner], [], None), s)
    if not isinstance(s, SCOPES):
        for part in blocks_of(s):
            part[:] = [_each(t, item) for t in part]
    return s


def _arguments(args: Node, made: Node) -> dict[str, Node]:
    """Return what a call gives the parameters of a function, in the order of evaluation."""
    params = [a.id for a in [*args.posonlyargs, *args.args]]
    only = [a.id for a in args.kwonlyargs]
    strange = args.vararg or args.kwarg or len(made.args) > len(params)
    if strange or any(isinstance(a, gast.Starred) for a in made.args):
        raise _Stays
    given = dict(zip(params, made.args, strict=False))
    for k in made.keywords:
        if (
            k.arg is None
            or k.arg in given
            or k.arg not in [*params[len(args.posonlyargs) :], *only]
        ):
            raise _Stays
        given[k.arg] = k.value
    late = dict(zip(params[len(params) - len(args.defaults) :], args.defaults, strict=True))
    late |= {p: d for p, d in zip(only, args.kw_defaults, strict=True) if d is not None}
    for p in [*params, *only]:
        if p not in given:
            if not isinstance(late.get(p), gast.Constant):
                raise _Stays
            given[p] = late[p]
    return given


def _read(fn: Any) -> Node:
    """Return the definition of a function, with the defaults that it has now, if they are plain."""
    try:
        source = read_generator(fn)
    except SourceError:
        raise _Stays from None
    made = clone(source.node)
    for n in walk(made):
        n.home = source
    values = fn.__defaults__ or ()
    words = fn.__kwdefaults__ or {}
    plain = (bool, int, float, str, type(None))
    if not all(type(v) in plain for v in [*values, *words.values()]):
        raise _Stays
    made.args.defaults = [gast.Constant(v, None) for v in values]
    made.args.kw_defaults = [
        gast.Constant(words[a.id], None) if a.id in words else None for a in made.args.kwonlyargs
    ]
    return made


class _Woven:
    """Puts the body of a loop in the place of each `yield` of a generator function's body."""

    def __init__(self, loop: _Loop) -> None:
        self.loop = loop
        self.leaves = loop.breaks or loop.passed.limit is not None

    def out(self, body: Block) -> Block:
        """Return the body of a generator function, with that of the loop in it."""
        while body and isinstance(body[-1], gast.Return):
            body = body[:-1]
        own = [n for s in body for n in _own(s)]
        returns = any(isinstance(n, gast.Return) for n in own)
        if not (returns or self.leaves) or _is_one_loop(body, returns):
            made = self.block(body, 0, True)
        else:
            made = self.block(body, 1, True)
            turn = store(f"{self.loop.left}_once")
            made = [gast.For(turn, tuple_([constant(0)]), made, [], None)]
        flag = [assign(self.loop.left, constant(False))] if self._flagged(made) else []
        return self.limited([*flag, *made])

    def limited(self, body: Block) -> Block:
        """Nothing is begun where no item is asked for."""
        limit = self.loop.passed.limit
        return body if limit is None else [gast.If(_some(limit), body, [])]

    def _flagged(self, body: Block) -> bool:
        return any(self.loop.left in names_written(s) for s in body)

    def leave(self, loops: int) -> Block:
        """Leave all loops around: the inner ones are told by a flag."""
        if loops < 1:
            raise _Stays
        flag = [assign(self.loop.left, constant(True))] if loops > 1 else []
        return [*flag, gast.Break()]

    def block(self, body: Block, loops: int, last: bool) -> Block:
        out: Block = []
        for at, s in enumerate(body):
            ends = last and at == len(body) - 1
            if _yields(s):
                out += self.round(s, loops, ends)
            elif isinstance(s, gast.Return):
                out += [locate(t, s) for t in self.leave(loops)]
            elif isinstance(s, gast.For | gast.While):
                s.body = self.block(s.body, loops + 1, True)
                s.orelse = self.block(s.orelse, loops, ends)
                out.append(s)
                if self._flagged(s.body):
                    out.append(self.told(loops))
            elif isinstance(s, gast.If):
                s.body, s.orelse = (self.block(b, loops, ends) for b in (s.body, s.orelse))
                out.append(s)
            elif any(isinstance(n, (*_YIELDS, gast.Return)) for n in _own(s)):
                raise _Stays
            else:
                out.append(s)
        return out

    def told(self, loops: int) -> Node:
        """Return what leaves one more loop, where the flag says so."""
        if loops < 1:
            raise _Stays
        return gast.If(name(self.loop.left), [gast.Break()], [])

    def round(self, s: Node, loops: int, ends: bool) -> Block:
        """Return the body of the loop, for what a statement yields."""
        loop, passed = self.loop, self.loop.passed
        value = s.value.value if s.value.value is not None else gast.Constant(None, None)
        item = passed.item(value)
        more = [clone(t) for t in passed.after]
        body = [clone(t) for t in loop.body]
        apart = loop.continues and (not ends or passed.limit is not None)
        if apart:
            body = self.left(body, loops + 1)
            turn = gast.For(clone(loop.target), tuple_([item]), [*more, *body], [], None)
            out: Block = [turn]
            if self._flagged(body):
                out.append(self.told(loops))
        else:
            out = [gast.Assign([clone(loop.target)], item, None), *more, *self.left(body, loops)]
        if passed.limit is not None:
            out.append(gast.AugAssign(store(passed.limit.id), gast.Sub(), constant(1)))
            none = gast.UnaryOp(gast.Not(), _some(passed.limit))
            out.append(gast.If(none, self.leave(loops), []))
        return [_placed(t, s) for t in out]

    def left(self, body: Block, loops: int) -> Block:
        """Return the body of a loop that leaves all loops around where it left its own."""
        out: Block = []
        for s in body:
            if isinstance(s, gast.Break):
                out += [locate(t, s) for t in self.leave(loops)]
                continue
            if isinstance(s, gast.For | gast.While):
                s.orelse = self.left(s.orelse, loops)
            elif not isinstance(s, SCOPES):
                for part in blocks_of(s):
                    part[:] = self.left(part, loops)
            out.append(s)
        return out


def _some(limit: Node) -> Node:
    """Return the test that items are still asked for."""
    return compare(clone(limit), gast.Gt, constant(0))


def _is_one_loop(body: Block, returns: bool) -> bool:
    """Say whether to leave the one loop that a body ends with is to leave the whole body."""
    if returns or not body or not isinstance(body[-1], gast.For | gast.While):
        return False
    if body[-1].orelse or any(_yields(n) for s in body[:-1] for n in _own(s)):
        return False
    inner = [s for s in _own_statements(body[-1].body) if isinstance(s, gast.For | gast.While)]
    return not any(_yields(n) for s in inner for n in _own(s))
