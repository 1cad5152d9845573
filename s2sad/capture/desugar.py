"""Calls that apply functions become what they stand for, before anything else is done.

    list(map(f, xs))             ->   list([f(item) for item in xs])
    sum(map(lambda v: v * n, xs))     sum([v * n for v in xs])
    any(map(f, xs))                   any(f(item) for item in xs)
    for y in map(f, xs): ...          for item in xs: y = f(item); ...
    for y in (v * n for v in xs):     for v in xs: y = v * n; ...
    list(filter(f, xs))               list([item for item in xs if f(item)])
    for p in product(xs, ys): ...     for p in list(product(xs, ys)): ...
    operator.itemgetter(1)            lambda whole: whole[1]
    operator.methodcaller("sum", 0)   lambda whole: whole.sum(0)
    dict(a=x, b=y), dict([("a", x)])  {"a": x, "b": y}, {"a": x}
    dict(zip(a, b))                   {key: item for key, item in zip(a, b)}
    with suppress(E): ...             try: ... except E: pass
    getattr(x, "a")                   x.a
    globals()["f"](x)                 f(x)

Only where map and filter are read at once: elsewhere they are left as they are.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import functools
import inspect
import itertools
import operator
import types
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import gast
import numpy as np

from s2sad.capture.defaults import plain_defaults
from s2sad.capture.deques import as_lists
from s2sad.capture.extended import one_by_one
from s2sad.capture.frozen import thawed
from s2sad.capture.late import is_lazy, read_where_made
from s2sad.errors import UnsupportedError
from s2sad.kinds import Kind
from s2sad.names import Names
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    attribute,
    call,
    clone,
    constant,
    locate,
    name,
    names_written,
    rename,
    store,
    subscript,
    substitute,
    tuple_,
    walk,
)
from s2sad.registry import effects_of

_READ_AT_ONCE: tuple[Any, ...] = (list, tuple, sum, max, min, sorted, functools.reduce)
# These read all that they are given before they give anything.
_COMBINING: tuple[Any, ...] = (
    itertools.product,
    itertools.combinations,
    itertools.combinations_with_replacement,
    itertools.permutations,
)
# These give one thing after the other: a list of it all is as good where nobody changes meanwhile
# what they go through.
_STEPPING: tuple[Any, ...] = (itertools.pairwise, itertools.chain, np.ndindex)
_READ_IN_PART: tuple[Any, ...] = (any, all, next)


def desugar(
    body: Block, fn: Any, names: Names, locals_: set[str], params: tuple[str, ...]
) -> Block:
    """Return the body of a function without map, filter, itemgetter and the like."""
    worker = _Desugarer(fn, names, locals_, body)
    body = plain_defaults(body, worker.denoted)
    read_where_made(body, partial(is_lazy, worker.denoted), locals_)
    locals_ |= as_lists(body, worker.denoted, names, locals_ - set(params))
    locals_ |= thawed(body, partial(held_outside, fn, locals_), names, locals_ - set(params))
    one_by_one(body, worker.denoted, names, locals_ - set(params))
    return [worker.visit(s) for s in body]


def denoted(node: Node, fn: Any, locals_: set[str]) -> Any:
    """Return the object that a name or a module's attribute denotes in a function, or None."""
    if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name):
        owner = denoted(node.value, fn, locals_)
        return getattr(owner, node.attr, None) if isinstance(owner, types.ModuleType) else None
    if not isinstance(node, gast.Name) or node.id in locals_:
        return None
    if node.id in fn.__code__.co_freevars:
        return None
    return fn.__globals__.get(node.id, getattr(builtins, node.id, None))


def from_outside(node: Node, fn: Any) -> Any:
    """Return the object that a dotted name denotes outside a function, or None."""
    if isinstance(node, gast.Attribute):
        return inspect.getattr_static(from_outside(node.value, fn), node.attr, None)
    if node.id not in fn.__code__.co_freevars:
        return denoted(node, fn, set())
    try:
        return fn.__closure__[fn.__code__.co_freevars.index(node.id)].cell_contents
    except ValueError:
        return None


def held_outside(fn: Any, locals_: set[str], node: Node) -> Any:
    """Return the object that a dotted name denotes outside a function, None of what is local."""
    root = node
    while isinstance(root, gast.Attribute):
        root = root.value
    if not isinstance(root, gast.Name) or root.id in locals_:
        return None
    return from_outside(node, fn)


def source_class(fn: Any) -> type | None:
    """Return the class that super() and __class__ mean in a method, or None."""
    names = fn.__code__.co_freevars
    if "__class__" not in names:
        return None
    cell = fn.__closure__[names.index("__class__")]
    try:
        home = cell.cell_contents
    except ValueError:
        return None
    return home if isinstance(home, type) else None


def check_parent(source: Any, params: Mapping[str, Kind]) -> None:
    """Refuse super() in a method where the order of classes is not that of its own class."""
    home = source_class(source.fn)
    cls = getattr(next(iter(params.values()), None), "cls", None)
    if home is None or cls is None or home not in cls.__mro__:
        return
    _check_calls(source, home)
    order = cls.__mro__[cls.__mro__.index(home) :]
    if order != home.__mro__:
        raise UnsupportedError(
            f"super() in {home.__name__} depends on the class {cls.__name__}, which s2sad "
            "cannot follow here.",
            remedy="Call the method of the base class by the class's name.",
            place=source.place(source.node),
        )


def _check_calls(source: Any, home: type) -> None:
    """Refuse super() that is kept, or means a class that has no name here: nobody could follow it.

    What its methods do, they do to the object of the method that asks for it.
    """
    every = [*walk(source.node)]
    own = {*source.fn.__code__.co_varnames, *source.fn.__code__.co_cellvars}
    held = {n.value for n in every if isinstance(n, gast.Attribute)}
    for n in every:
        asked = _asks_parent(n, lambda node: denoted(node, source.fn, set()))
        method = inspect.getattr_static(home.__mro__[1], n.attr, None) if asked else None
        if inspect.isfunction(method) and _naming(home.__mro__[1], source.fn, own) is None:
            raise UnsupportedError(
                f"super() in {home.__name__} means {home.__mro__[1].__name__}, which has no "
                "name in this module: s2sad cannot follow the call.",
                remedy="Define or import the base class at module level.",
                place=source.place(n),
            )
        made = isinstance(n, gast.Call) and not n.args and n not in held
        if made and denoted(n.func, source.fn, set()) is super:
            raise UnsupportedError(
                "super() is kept for later here; s2sad cannot follow what its methods do.",
                remedy="Write super().method(...) where the method is called.",
                place=source.place(n),
            )


def _asks_parent(func: Node, denoted_by: Callable[[Node], Any]) -> bool:
    """Say whether this is `super().method`."""
    made = func.value if isinstance(func, gast.Attribute) else None
    plain = isinstance(made, gast.Call) and not made.args
    return plain and denoted_by(made.func) is super  # type: ignore[union-attr]


def _naming(cls: type, fn: types.FunctionType, hidden: Collection[str]) -> Node | None:
    """Return what names a class in a function: a global, or an attribute of a module."""
    known = {n: v for n, v in fn.__globals__.items() if n.isidentifier() and n not in hidden}
    found = min((n for n, v in known.items() if v is cls), default=None)
    if found is not None:
        return name(found)
    modules = [n for n, v in known.items() if isinstance(v, types.ModuleType)]
    held = [n for n in modules if vars(known[n]).get(cls.__name__) is cls]
    return attribute(name(min(held)), cls.__name__) if held else None


def is_attribute(node: Node) -> bool:
    """Say whether this is a literal name of an attribute; private ones are mangled in a class."""
    word = node.value if isinstance(node, gast.Constant) else None
    return isinstance(word, str) and word.isidentifier() and not word.startswith("__")


def located(made: Node, node: Node) -> Node:
    """Give all that was made the place of a node, where it has none of its own."""
    for n in walk(made):
        if isinstance(n, gast.expr | gast.comprehension) and getattr(n, "lineno", None) is None:
            locate(n, node)
    return made


class _Desugarer(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, fn: Any, names: Names, locals_: set[str], body: Block) -> None:
        self.fn = fn
        self.names = names
        self.locals = locals_
        shared = (n for s in body for n in walk(s) if isinstance(n, gast.Nonlocal | gast.Global))
        self.rebound_within = {word for n in shared for word in n.names}
        self.called: set[int] = set()
        self.getters: dict[int, Node] = {}

    def denoted(self, node: Node) -> Any:
        return denoted(node, self.fn, self.locals)

    def visit(self, node: Node) -> Node:
        if isinstance(node, SCOPES):
            return node
        return super().visit(node)

    def visit_Call(self, node: Node) -> Node:
        self.called.add(id(node.func))
        fn = self.denoted(node.func)
        if fn is collections.OrderedDict and self.denoted(name("dict")) is dict:
            node.func, fn = locate(name("dict"), node.func), dict  # every dict keeps its order
        if any(fn is f for f in _READ_AT_ONCE):
            at = 1 if fn is functools.reduce else 0
            later = [*node.args[at + 1 :], *(k.value for k in node.keywords)]
            early = all(isinstance(a, gast.Name | gast.Constant | gast.Lambda) for a in later)
            if len(node.args) > at:  # what is evaluated later comes before the first item
                node.args[at] = self.applied(node.args[at], lazy=not early)
        elif any(fn is f for f in _READ_IN_PART) and node.args:
            node.args[0] = self.applied(node.args[0], lazy=True)
        self.generic_visit(node)
        read = self.got(node)
        if read is not None:
            return read
        if _is_of_arrays(fn):
            node.args = [self.listed(a) for a in node.args]
            for k in node.keywords:
                k.value = self.listed(k.value)
        if fn is not None and node.args and effects_of(fn).reads == "whole":
            node.args[0] = (
                self.combined(node.args[0]) if self.is_cut(node.args[0]) else node.args[0]
            )
        parent = self.parent(node.func)
        if parent is not None:
            func = located(attribute(parent, node.func.attr), node.func)
            given = [locate(self.own(), node), *node.args]
            return locate(gast.Call(func, given, node.keywords), node)
        if fn is list and len(node.args) == 1 and isinstance(node.args[0], gast.ListComp):
            return node.args[0]
        if fn is dict and len(node.args) == 1 and not node.keywords:
            return self.tabled(node)
        if fn is dict and not node.args:
            keys = [k.arg and gast.Constant(k.arg, None) for k in node.keywords]
            return locate(gast.Dict(keys, [k.value for k in node.keywords]), node)
        if fn is list and not node.args and not node.keywords:
            return locate(gast.List([], gast.Load()), node)
        if fn is np.fromiter:
            return self.from_iterable(node)
        if fn is np.einsum:
            return self.labelled(node)
        if fn in (np.atleast_1d, np.atleast_2d, np.atleast_3d) and len(node.args) > 1:
            return self.each_apart(node)
        if (fn is operator.itemgetter or fn is operator.attrgetter) and node.args:
            return self.getter(node, fn)
        if fn is operator.methodcaller and len(node.args) > 0:
            return self.caller(node)
        return node

    def listed(self, node: Node) -> Node:
        """A range is a list of its numbers where an array may stand: `np.outer(range(3), x)`."""
        if not isinstance(node, gast.Call) or self.denoted(node.func) is not range:
            return node
        if self.denoted(name("list")) is not list:
            return node
        return located(call("list", node), node)

    def visit_Attribute(self, node: Node) -> Node:
        """`super().area` of a property is what its getter gives: `Base.area.fget(self)`."""
        home = None if id(node) in self.called else source_class(self.fn)
        base = self.parent(node)
        self.generic_visit(node)
        if home is None or base is None or not isinstance(node.ctx, gast.Load):
            return node
        if not isinstance(inspect.getattr_static(home.__mro__[1], node.attr), property):
            return node
        getter = attribute(attribute(base, node.attr), "fget")
        return located(gast.Call(getter, [self.own()], []), node)

    def own(self) -> Node:
        """Return a read of what a method is called on."""
        return gast.Name(self.fn.__code__.co_varnames[0], gast.Load(), None, None)

    def visit_Subscript(self, node: Node) -> Node:
        """`globals()["scale"]` is the global of this name, where no other variable has it."""
        self.generic_visit(node)
        made, key = node.value, str(getattr(node.slice, "value", ""))
        asked = isinstance(made, gast.Call) and self.denoted(made.func) is globals
        if not asked or not isinstance(node.ctx, gast.Load) or not is_attribute(node.slice):
            return node
        code = self.fn.__code__
        others = {*self.locals, *code.co_varnames, *code.co_cellvars, *code.co_freevars}
        return node if key in others else locate(name(str(key)), node)

    def visit_BinOp(self, node: Node) -> Node:
        self.generic_visit(node)
        node.left, node.right = self.listed(node.left), self.listed(node.right)
        return node

    def got(self, node: Node) -> Node | None:
        """Return what a getter that is made and called at once reads: `itemgetter(1)(whole)`."""
        if id(node.func) not in self.getters or len(node.args) != 1 or node.keywords:
            return None
        whole, (given,) = node.func.args.args[0].id, node.args
        once = isinstance(given, gast.Name) or not isinstance(node.func.body, gast.Tuple)
        if isinstance(given, gast.Starred) or not once:
            return None
        return located(substitute(node.func.body, {whole: given}), node)

    def caller(self, node: Node) -> Node:
        """Return methodcaller of a literal name, with literal arguments, as a lambda."""
        method, *args = node.args
        literal = all(
            isinstance(a, gast.Constant) for a in [*args, *(k.value for k in node.keywords)]
        )
        if not literal or not is_attribute(method):
            return node
        whole = self.names.fresh("whole")
        body = gast.Call(attribute(name(whole), method.value), args, node.keywords)
        param = gast.Name(whole, gast.Param(), None, None)
        made = gast.Lambda(gast.arguments([param], [], None, [], [], None, []), body)
        for n in walk(made):
            locate(n, node)
        self.getters[id(made)] = made
        return made

    def from_iterable(self, node: Node) -> Node:
        """`np.fromiter((f(v) for v in xs), float)` is np.array of a list, of that dtype."""
        given = {k.arg: k.value for k in node.keywords}
        if not isinstance(node.func, gast.Attribute) or not 1 <= len(node.args) <= 2:
            return node
        if len(node.args) + len(given) != 2 or given.keys() - {"dtype"}:
            return node
        source = self.applied(node.args[0])
        if isinstance(source, gast.GeneratorExp):
            source = gast.ListComp(source.elt, source.generators)
        if not isinstance(source, gast.ListComp):
            return node
        dtype = given.get("dtype", node.args[-1])
        func = attribute(node.func.value, "array")
        return located(gast.Call(func, [source], [gast.keyword("dtype", dtype)]), node)

    def visit_Assign(self, node: Node) -> Node:
        """`a, b = map(f, xs)` reads all that there is."""
        if any(isinstance(t, gast.Tuple | gast.List) for t in node.targets):
            node.value = self.applied(node.value)
        self.generic_visit(node)
        return node

    def labelled(self, node: Node) -> Node:
        """`np.einsum(a, [0, 1], b, [1, 2])` is that of "ab,bc", with letters for numbers."""
        if not node.args or isinstance(node.args[0], gast.Constant | gast.JoinedStr):
            return node
        lists = [_labels(a) for a in node.args[1::2]]
        out = _labels(node.args[-1]) if len(node.args) % 2 else None
        if len(node.args) < 2 or None in lists or (len(node.args) % 2 and out is None):
            return node
        text = ",".join(str(part) for part in lists) + ("" if out is None else f"->{out}")
        operands = node.args[: len(lists) * 2 : 2]
        node.args = [locate(gast.Constant(text, None), node), *operands]
        return node

    def each_apart(self, node: Node) -> Node:
        """`np.atleast_1d(a, b)` is one array for each, in a tuple from NumPy 2 on."""
        if node.keywords or any(isinstance(a, gast.Starred) for a in node.args):
            return node
        if not isinstance(np.atleast_1d(0, 0), tuple):
            return node
        parts = [gast.Call(clone(node.func), [a], []) for a in node.args]
        return located(tuple_(parts), node)

    def tabled(self, node: Node) -> Node:
        """`dict(zip(a, b))`, and dict of pairs that are made one by one, are comprehensions."""
        pairs = node.args[0]
        if isinstance(pairs, gast.GeneratorExp | gast.ListComp):
            if not isinstance(pairs.elt, gast.Tuple) or len(pairs.elt.elts) != 2:
                return node
            key, value = pairs.elt.elts
            return locate(gast.DictComp(key, value, pairs.generators), node)
        if isinstance(pairs, gast.List | gast.Tuple):
            if not all(isinstance(p, gast.Tuple) and len(p.elts) == 2 for p in pairs.elts):
                return node
            keys, values = [p.elts[0] for p in pairs.elts], [p.elts[1] for p in pairs.elts]
            return locate(gast.Dict(keys, values), node)
        lazy = self.denoted(pairs.func) if isinstance(pairs, gast.Call) else None
        if lazy is None or lazy is dict or not effects_of(lazy).reads:
            return node
        if (lazy is zip and len(pairs.args) != 2) or any(
            isinstance(a, gast.Starred) for a in pairs.args
        ):
            return node
        key_, value_ = self.names.fresh("key"), self.names.fresh("item")
        target = gast.Tuple([store(key_), store(value_)], gast.Store())
        turn = gast.comprehension(target, pairs, [], 0)
        made = gast.DictComp(name(key_), name(value_), [turn])
        for n in walk(made):
            locate(n, node)
        return made

    def parent(self, func: Node) -> Node | None:
        """Return what names the base class in `super().method`."""
        home = source_class(self.fn)
        if home is None or not _asks_parent(func, self.denoted):
            return None
        if inspect.getattr_static(home.__mro__[1], func.attr, None) is None:
            return None
        return _naming(home.__mro__[1], self.fn, self.locals)

    def visit_With(self, node: Node) -> Node:
        """`with suppress(E): ...` is `try: ... except E: pass`."""
        self.generic_visit(node)
        at = next((i for i, item in enumerate(node.items) if self.suppresses(item)), None)
        if at is None:
            return node
        made = node.items[at].context_expr
        rest = node.items[at + 1 :]
        body = [self.visit_With(locate(gast.With(rest, node.body, None), node))] if rest else None
        kinds = made.args[0] if len(made.args) == 1 else tuple_(made.args)
        handler = locate(gast.ExceptHandler(kinds, None, [locate(gast.Pass(), node)]), node)
        inner = locate(gast.Try(body or node.body, [handler], [], []), node)
        if not at:
            return inner
        return locate(gast.With(node.items[:at], [inner], None), node)

    def suppresses(self, item: Node) -> bool:
        """Say whether an item of a with statement is `suppress(...)`."""
        made = item.context_expr
        if not isinstance(made, gast.Call) or item.optional_vars is not None or made.keywords:
            return False
        return self.denoted(made.func) is contextlib.suppress

    def visit_comprehension(self, node: Node) -> list[Node]:
        of_library = isinstance(node.iter, gast.Call) and self.denoted(node.iter.func) is map
        if of_library and node.iter.args:
            applied = self.denoted(node.iter.args[0])
            if isinstance(applied, np.ufunc | types.BuiltinFunctionType):  # at once or one by one
                node.iter = self.applied(node.iter)
        self.generic_visit(node)
        node.iter = self.combined(node.iter)
        return self.one_each(node)

    def one_each(self, node: Node) -> list[Node]:
        """`for v in map(f, xs)` in a comprehension is `for x in xs for v in [f(x)]`."""
        found = self.mapped(node.iter)
        if found is None:
            return [node]
        target, source, value = found
        self.apart(node.iter.args[0], target, value)
        outer = gast.comprehension(target, source, [], 0)
        made = locate(gast.List([value], gast.Load()), node.iter)
        for n in (*walk(outer.target), *walk(made)):
            locate(n, node.iter)
        return [*self.one_each(outer), gast.comprehension(node.target, made, node.ifs, 0)]

    def combined(self, node: Node) -> Node:
        """`for a, b in combinations(xs, 2)` goes through a list."""
        fn = self.denoted(node.func) if isinstance(node, gast.Call) else None
        if fn is itertools.islice:
            return self.cut(node)
        if any(fn is f for f in (zip, enumerate, reversed)):
            node.args = [self.combined(a) for a in node.args]
            if fn is zip:
                node.args = [self.turning(a, node.args) for a in node.args]
        stepping = any(fn is f for f in _STEPPING) and all(map(self.is_there, node.args))
        if stepping or any(fn is f for f in _COMBINING):
            if self.denoted(name("list")) is list:
                made = call("list", node)
                for n in (made, made.func):
                    locate(n, node)
                made.func.ahead = effects_of(fn).reads == "lazily"  # the program makes no list
                return made
        return node

    def cut(self, node: Node) -> Node:
        """`islice(xs, a, b)` that is read at once is `xs[a:b]`."""
        whole, *ends = node.args
        known = (gast.Constant, gast.Name, gast.Attribute)
        if not 0 < len(ends) < 4 or not self.is_there(whole) or node.keywords:
            return node
        if not all(isinstance(e, known) for e in ends):
            return node
        low, high, step = {1: (None, *ends, None), 2: (*ends, None), 3: tuple(ends)}[len(ends)]
        made = located(subscript(whole, gast.Slice(low, high, step)), node)
        made.ahead = True
        return locate(made, node)

    def is_cut(self, node: Node) -> bool:
        return isinstance(node, gast.Call) and self.denoted(node.func) is itertools.islice

    def turning(self, node: Node, beside: list[Node]) -> Node:
        """`cycle([a, b])` beside xs is `[[a, b][k % 2] for k in range(len(xs))]`."""
        fn = self.denoted(node.func) if isinstance(node, gast.Call) else None
        if fn is not itertools.cycle or len(node.args) != 1 or node.keywords:
            return node
        (turns,) = node.args
        first = next((a for a in beside if self.is_there(a)), None)
        if not isinstance(turns, gast.List | gast.Tuple) or not turns.elts or first is None:
            return node
        at = self.names.fresh("at")
        place = gast.BinOp(name(at), gast.Mod(), constant(len(turns.elts)))
        part = gast.comprehension(store(at), call("range", call("len", clone(first))), [], 0)
        return located(locate(gast.ListComp(subscript(turns, place), [part]), node), node)

    def is_there(self, node: Node) -> bool:
        """Say whether an expression is a plain sequence: no generator, nothing that is made."""
        if isinstance(node, gast.Starred):
            return self.is_there(node.value)
        if isinstance(node, gast.Call):
            return any(self.denoted(node.func) is f for f in (range, np.shape))
        plain = (gast.Name, gast.Attribute, gast.Subscript, gast.Constant, gast.List, gast.Tuple)
        return isinstance(node, plain)

    def enumerated(self, node: Node) -> Node:
        """`for at, v in np.ndenumerate(a)` reads a[at] in every round."""
        made, target = node.iter, node.target
        if not isinstance(made, gast.Call) or self.denoted(made.func) is not np.ndenumerate:
            return node
        pair = isinstance(target, gast.Tuple) and len(target.elts) == 2
        plain = len(made.args) == 1 and not made.keywords and isinstance(made.args[0], gast.Name)
        if not pair or not plain or not isinstance(made.func, gast.Attribute):
            return node
        (a,) = made.args
        if any(a.id in names_written(s) for s in node.body) or a.id in names_written(target):
            return node
        at, value = target.elts
        home = made.func.value
        shape = gast.Call(attribute(clone(home), "shape"), [clone(a)], [])
        node.iter = located(gast.Call(attribute(clone(home), "ndindex"), [shape], []), made)
        place = clone(at)
        for n in walk(place):
            if hasattr(n, "ctx"):
                n.ctx = gast.Load()
        read = gast.Assign([value], subscript(clone(a), place), None)
        node.target = at
        node.body.insert(0, located(locate(read, made), made))
        return node

    def visit_For(self, node: Node) -> Node:
        node = self.enumerated(node)
        self.generic_visit(node)
        node.iter = self.combined(node.iter)
        if isinstance(node.iter, gast.GeneratorExp):
            return self.generated(node)
        found = self.mapped(node.iter)
        if found is None or self.rebinds(node, node.iter.args[0]):
            return node
        target, source, value = found
        self.apart(node.iter.args[0], target, value)
        start = locate(gast.Assign([node.target], value, None), node.iter)
        new = gast.For(target, source, [start, *node.body], node.orelse, None)
        for n in walk(new):
            locate(n, node)
        return new

    def apart(self, fn: Node, target: Node, value: Node) -> None:
        """Give the parameters of a lambda names that nothing around it has."""
        if isinstance(fn, gast.Lambda):
            bound = [n.id for n in walk(target) if isinstance(n, gast.Name)]
            table = {n: self.names.fresh(n) for n in bound}
            rename(target, table)
            rename(value, table)

    def rebinds(self, loop: Node, fn: Node) -> bool:
        """Say whether a loop binds anew what a partial was made with before it."""
        bound = self.bound_before(fn)
        read = {n.id for n in walk(fn) if isinstance(n, gast.Name)}
        return bound is not None and not read.isdisjoint(names_written(loop))

    def generated(self, node: Node) -> Node:
        """A loop over `(f(v) for v in xs if g(v))` is one over xs."""
        parts = node.iter.generators
        inner = any(isinstance(n, (*SCOPES, gast.NamedExpr)) for n in walk(node.iter))
        if len(parts) != 1 or parts[0].is_async or inner:
            return node
        part, value = parts[0], node.iter.elt
        bound = [n.id for n in walk(part.target) if isinstance(n, gast.Name)]
        table = {n: self.names.fresh(n) for n in bound}
        for n in (part.target, value, *part.ifs):
            rename(n, table)
        start = locate(gast.Assign([node.target], value, None), node.iter)
        body = [start, *node.body]
        for test in reversed(part.ifs):
            body = [locate(gast.If(test, body, []), test)]
        return locate(gast.For(part.target, part.iter, body, node.orelse, None), node)

    def applied(self, node: Node, lazy: bool = False) -> Node:
        """Return map and filter as a list comprehension, anything else as it is.

        With `lazy` the comprehension is a generator expression.
        """
        if lazy:
            made = self.applied(node)
            if made is node or not isinstance(made, gast.ListComp):
                return made
            return locate(gast.GeneratorExp(made.elt, made.generators), node)
        found = self.mapped(node)
        if found is not None:
            target, source, value = found
            if len(node.args) == 2:
                source = self.applied(source)
            return self.comprehension(node, value, target, source, [])
        if isinstance(node, gast.Call) and self.denoted(node.func) is filter:
            if len(node.args) == 2 and not node.keywords:
                if isinstance(node.args[0], gast.Constant):
                    return node
                targets, test = self.application(node.args[0], 1) or ([], None)
                if test is not None:
                    item = name(targets[0])
                    source = self.applied(node.args[1])
                    return self.comprehension(node, item, store(targets[0]), source, [test])
        return node

    def comprehension(
        self, node: Node, value: Node, target: Node, source: Node, tests: list[Node]
    ) -> Node:
        made = gast.ListComp(value, [gast.comprehension(target, source, tests, 0)])
        for n in walk(made):
            locate(n, node)
        return made

    def mapped(self, node: Node) -> tuple[Node, Node, Node] | None:
        """Return the target, the source and the value of what map goes through."""
        if not isinstance(node, gast.Call) or self.denoted(node.func) is not map:
            return None
        fn, *sources = node.args
        if node.keywords or not sources or any(isinstance(s, gast.Starred) for s in node.args):
            return None
        found = self.application(fn, len(sources))
        if found is None:
            return None
        targets, value = found
        if len(sources) == 1:
            return store(targets[0]), sources[0], value
        target = gast.Tuple([store(t) for t in targets], gast.Store())
        if "zip" in self.locals or "zip" in self.fn.__globals__:
            return None
        return target, call("zip", *sources), value

    def application(self, fn: Node, count: int) -> tuple[list[str], Node] | None:
        """Return names for the arguments of a function, and its value for these."""
        if isinstance(fn, gast.Lambda):
            args = fn.args
            plain = not (args.vararg or args.kwarg or args.kwonlyargs or args.defaults)
            params = [a.id for a in [*args.posonlyargs, *args.args]]
            inner = any(isinstance(n, (*SCOPES, gast.NamedExpr)) for n in walk(fn.body))
            if plain and len(params) == count and not inner:
                return params, self.visit(fn.body)
        bound = self.bound_before(fn)
        if not isinstance(fn, gast.Name | gast.Attribute) and bound is None:
            return None
        fn, first, keywords = bound or (fn, [], [])
        items = [self.names.fresh("item") for _ in range(count)]
        given = [clone(a) for a in first]
        return items, gast.Call(clone(fn), [*given, *map(name, items)], list(map(clone, keywords)))

    def bound_before(self, fn: Node) -> tuple[Node, list[Node], list[Node]] | None:
        """Return the function in `partial(f, a, b=b)`, and the names and numbers bound to it.

        None where these are more than names and numbers, or an inner function may bind them anew.
        """
        if not isinstance(fn, gast.Call) or not fn.args:
            return None
        if self.denoted(fn.func) is not functools.partial:
            return None
        inner, *first = fn.args
        given = [*first, *(k.value for k in fn.keywords)]
        plain = all(isinstance(a, gast.Name | gast.Constant) for a in given)
        rebound = any(isinstance(a, gast.Name) and a.id in self.rebound_within for a in given)
        if not plain or rebound or any(k.arg is None for k in fn.keywords):
            return None
        return (
            (inner, first, fn.keywords) if isinstance(inner, gast.Name | gast.Attribute) else None
        )

    def getter(self, node: Node, fn: Any) -> Node:
        """Return itemgetter and attrgetter of literals as the lambda that they are."""
        if node.keywords or not all(isinstance(a, gast.Constant) for a in node.args):
            return node
        whole = self.names.fresh("whole")
        parts: list[Node] = []
        for a in node.args:
            if fn is operator.itemgetter:
                parts.append(subscript(name(whole), a))
                continue
            part = name(whole)
            for attr in str(a.value).split("."):
                part = attribute(part, attr)
            parts.append(part)
        body = parts[0] if len(parts) == 1 else tuple_(parts)
        param = gast.Name(whole, gast.Param(), None, None)
        made = gast.Lambda(gast.arguments([param], [], None, [], [], None, []), body)
        for n in walk(made):
            locate(n, node)
        self.getters[id(made)] = made
        return made


def _is_of_arrays(fn: Any) -> bool:
    """Say whether this is a function of NumPy's or SciPy's."""
    module = getattr(fn, "__module__", None) or ""
    return isinstance(fn, np.ufunc) or module.partition(".")[0] in ("numpy", "scipy")


def _labels(node: Node) -> str | None:
    """Return the letters for a list of literal numbers, as np.einsum numbers the axes."""
    if not isinstance(node, gast.List | gast.Tuple):
        return None
    found = []
    for e in node.elts:
        value = e.value if isinstance(e, gast.Constant) else None
        if value is Ellipsis:
            found.append("...")
        elif type(value) is int and 0 <= value < 26:
            found.append(chr(ord("a") + value))
        else:
            return None
    return "".join(found)
