"""Who goes through an object goes through what its class says in `__iter__`.

    class System:
        def __iter__(self):
            return iter(self.bodies)

    for b in system:                        ->    for b in system.bodies:
    sum(b.mass for b in system)             ->    sum(b.mass for b in system.bodies)
    zip(system, rates)                      ->    zip(system.bodies, rates)

So it is with what a method gives that does no more: `def pairs(self): return self.table.items()`.
An `__iter__` that yields is a generator function, which `yields.py` writes out.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import types
from collections.abc import Mapping
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.capture.desugar import denoted
from s2sad.capture.read import read
from s2sad.errors import Error
from s2sad.names import Names
from s2sad.nodes import (
    COMPREHENSIONS,
    SCOPES,
    Node,
    assign,
    block_writes,
    clone,
    locate,
    name,
    names_read,
    names_written,
    walk,
)
from s2sad.registry import effects_of

Objects = Mapping[str, tuple[type, tuple[str, ...]]]
"""The classes of objects, by the paths of these, and attributes that they have of their own."""
_LAZY = {"iter", "enumerate", "zip", "map", "reversed", "items", "values", "keys"}
_NONE: tuple[type, tuple[str, ...]] = (object, ())


def class_at(node: Node, classes: Objects) -> tuple[type, tuple[str, ...]]:
    """Return the class of the object that a dotted name denotes, and its own attributes."""
    return classes.get(path_of(node), _NONE)


def path_of(node: Any) -> str:
    """Return a dotted name as text; nothing where an expression is none."""
    if isinstance(node, gast.Attribute):
        owner = path_of(node.value)
        return owner and f"{owner}.{node.attr}"
    return str(node.id) if isinstance(node, gast.Name) else ""


def iter_of(cls: type) -> types.FunctionType | None:
    """Return the function of the user's by which objects of a class are gone through."""
    found = inspect.getattr_static(cls, "__iter__", None) if K.has_fields(cls) else None
    return found if isinstance(found, types.FunctionType) else None


@functools.lru_cache(1024)
def gives_to_go_through(cls: type) -> bool:
    """Say whether objects of a class are gone through, or methods may give what is."""
    if not K.has_fields(cls):
        return False
    every = {n for base in cls.__mro__[:-1] for n in vars(base)}
    methods = [inspect.getattr_static(cls, n) for n in every]
    plain = [m for m in methods if isinstance(m, types.FunctionType)]
    alone = [m.__code__ for m in plain if m.__code__.co_argcount == 1]
    lazy = any(_LAZY & {*code.co_names} for code in alone)
    return lazy or iter_of(cls) is not None or any(map(inspect.isgeneratorfunction, plain))


def through(node: Node, fn: Any, noted: dict[Any, Any], classes: Objects) -> Node:
    """Return a definition that goes through what objects hold in the place of the objects.

    What is read of their classes is `noted`.
    """
    if not any(map(gives_to_go_through, (cls for cls, _ in classes.values()))):
        return node
    return _Through(fn, noted, classes).visit(clone(node))


def named(node: Node, fn: Any, taken: set[str]) -> Node:
    """Return a definition in which an object has a name that is made where a loop goes through it.

    for i in Progress(items): ...     ->     progress = Progress(items)
                                             for i in progress: ...
    for i in Cells(x).pairs(): ...    ->     cells = Cells(x)
                                             for i in cells.pairs(): ...
    """
    bound = block_writes(node.body)

    def made(s: Node) -> Node | None:
        method = isinstance(s.iter, gast.Call) and isinstance(s.iter.func, gast.Attribute)
        whole = s.iter.func.value if method else s.iter
        cls = denoted(whole.func, fn, bound) if isinstance(whole, gast.Call) else None
        if not isinstance(cls, type) or not (method or iter_of(cls) is not None):
            return None
        return whole if K.has_fields(cls) else None

    if not any(made(s) for s in walk(node) if isinstance(s, gast.For)):
        return node
    names = Names(taken | bound)

    class Named(gast.NodeTransformer):  # type: ignore[misc]
        def visit_For(self, s: Node) -> Any:
            self.generic_visit(s)
            whole = made(s)
            if whole is None:
                return s
            word = names.fresh(str(getattr(whole.func, "id", "items")).lower())
            before, given = assign(word, whole), locate(name(word), whole)
            for n in walk(before):
                locate(n, s)
            if whole is s.iter:
                s.iter = given
            else:
                s.iter.func.value = given
            return [before, s]

    return Named().visit(clone(node))


class _Through(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, fn: Any, noted: dict[Any, Any], classes: Objects) -> None:
        self.fn = fn
        self.noted = noted
        self.classes = classes
        self.around: list[set[str]] = []

    # where something is gone through

    def visit_For(self, node: Node) -> Node:
        node.iter = self.gone(node.iter)
        return self.generic_visit(node)

    def visit_comprehension(self, node: Node) -> Node:
        node.iter = self.gone(node.iter)
        return self.generic_visit(node)

    def visit_Starred(self, node: Node) -> Node:
        if isinstance(node.ctx, gast.Load):
            node.value = self.gone(node.value)
        return self.generic_visit(node)

    def visit_YieldFrom(self, node: Node) -> Node:
        node.value = self.gone(node.value)
        return self.generic_visit(node)

    def visit_Assign(self, node: Node) -> Node:
        if isinstance(node.targets[0], gast.Tuple | gast.List):
            node.value = self.gone(node.value)
        return self.generic_visit(node)

    def visit_Call(self, node: Node) -> Node:
        hidden = set().union(*self.around)
        fn = denoted(node.func, self.fn, hidden)
        effects = None if fn is None else effects_of(fn)
        if effects is not None and effects.reads and self.takes_iterables(fn, node):
            first = 1 if effects.does == "calls" else 0
            node.args[first:] = map(self.gone, node.args[first:])
        return self.generic_visit(node)

    def takes_iterables(self, fn: Any, node: Node) -> bool:
        """Say whether a function goes through what it is given, by nothing but `__iter__`."""
        if fn in (next, dict, reversed):
            return False
        return fn not in (max, min) or len(node.args) == 1

    def visit(self, node: Node) -> Node:
        if not isinstance(node, SCOPES) and not isinstance(node, COMPREHENSIONS):
            return super().visit(node)
        if isinstance(node, COMPREHENSIONS):
            own = set().union(*(names_written(g.target) for g in node.generators))
        else:
            body = node.body if isinstance(node.body, list) else [node.body]
            args = node.args
            own = {a.id for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
            own |= {a.id for a in (args.vararg, args.kwarg) if a is not None}
            own |= set().union(*(names_written(s) for s in body), set())
        if not self.around and isinstance(node, gast.FunctionDef):
            own = set()  # the definition itself: what its names hold is known
        self.around.append(own)
        node = super().visit(node)
        self.around.pop()
        return node

    # what it is

    def gone(self, node: Node, depth: int = 4) -> Node:
        """Return what is gone through where an expression is."""
        word, owner = "__iter__", node
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
            if node.args or node.keywords:
                return node
            word, owner = node.func.attr, node.func.value
        path = path_of(owner)
        cls, own = self.classes.get(path, _NONE)
        root = path.partition(".")[0]
        if cls is object or not depth or any(root in names for names in self.around):
            return node
        made = None if word in own else self.expression(cls, word, owner)
        return node if made is None else self.gone(made, depth - 1)

    def expression(self, cls: type, word: str, owner: Node) -> Node | None:
        """Return what a method of a class gives to go through, where that is all it does."""
        fn = inspect.getattr_static(cls, word, None) if K.has_fields(cls) else None
        if not isinstance(fn, types.FunctionType) or fn.__closure__:
            return None
        if inspect.isgeneratorfunction(fn):
            return None
        try:
            source = read(fn)
        except Error:
            return None
        args, body = source.node.args, [s for s in source.node.body if not _is_text(s)]
        params = [*args.posonlyargs, *args.args]
        if len(params) != 1 or len(body) != 1 or not isinstance(body[0], gast.Return):
            return None
        value, me = body[0].value, params[0].id
        if word != "__iter__" and not isinstance(value, gast.Call):
            return None  # a list that a method gives is made by a call
        while _asks_iter(value, fn):
            value = value.args[0]
        if value is None or any(isinstance(n, (*SCOPES, *COMPREHENSIONS)) for n in walk(value)):
            return None
        if not all(self.means_the_same(n, fn) for n in names_read(value) - {me}):
            return None
        self.noted[cls, word] = fn
        made = clone(value, {me: owner})
        for n in walk(made):
            n.home = getattr(n, "home", source)
            locate(n, owner)
        return made

    def means_the_same(self, word: str, fn: types.FunctionType) -> bool:
        """Say whether a name is here what it is in a function of a class."""
        there = fn.__globals__.get(word, vars(builtins).get(word))
        here = denoted(gast.Name(word, gast.Load(), None, None), self.fn, set().union(*self.around))
        return here is there and word not in self.fn.__code__.co_varnames


def _asks_iter(node: Any, fn: types.FunctionType) -> bool:
    """Say whether this is `iter(...)`, which gives what the loop would ask for."""
    if not isinstance(node, gast.Call) or len(node.args) != 1 or node.keywords:
        return False
    return denoted(node.func, fn, set()) is iter


def _is_text(s: Node) -> bool:
    return isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant)
