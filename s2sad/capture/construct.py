"""An object of a class is made by a function of its own.

    class Line:                              def Line(slope, k=2.0):
        def __init__(self, slope, k=2.0):        area = slope * k
            self.slope = slope          ->       return object_of(Line, slope=slope, k=k, area=area)
            self.k = k
            self.area = slope * k

What an `__init__` of a base class does through `super()` stands where it is called. An `__init__`
that does more than to set attributes works on an object without any:

    self = object_of(Line)
    self.slope = slope
    self.reset()
    return self

So is a dataclass made that has a `__post_init__`.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Mapping
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.capture.classes import is_lifted
from s2sad.capture.read import Source, read
from s2sad.errors import Error
from s2sad.known.built import is_generated
from s2sad.names import Names
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    assign,
    clone,
    constant,
    locate,
    name,
    names_read,
    names_written,
    rename,
    walk,
)

OBJECT_OF = "object_of"
_HOOKS = ("__setattr__", "__getattribute__", "__getattr__", "__new__")


@functools.lru_cache(1024)
def maker(cls: type) -> K.LocalFunction | None:
    """Return the function that makes an object of a class, or None where `__init__` does more.

    Its node says which class it makes (`makes`), and where it only stores what it is given, which
    parameter each attribute is (`stores`).
    """
    init = inspect.getattr_static(cls, "__init__", None)
    if not isinstance(init, types.FunctionType):
        return None
    post = inspect.getattr_static(cls, "__post_init__", None)
    generated = is_generated(init) and dataclasses.is_dataclass(cls)
    if generated and not isinstance(post, types.FunctionType):
        return None
    if not _plain(cls, frozen=generated):
        return None
    try:
        source = read(post if generated else init)
        home = _home(cls, init)
        if home is None:
            return None
        if generated and _writes_out(cls, post):
            return K.LocalFunction(_computed(cls, source, home), source)
        if generated:
            return K.LocalFunction(_from_fields(cls, source, home), source)
        try:
            return K.LocalFunction(_Maker(cls, source, home).definition(), source)
        except _MoreThanFields:
            return K.LocalFunction(_whole(cls, source, home), source)
    except (Error, _MoreThanFields):
        return None


def _whole(cls: type, source: Source, home: str) -> Node:
    """Return a definition that does all of an `__init__` to an object without attributes."""
    node = clone(source.node)
    positional = node.args.posonlyargs or node.args.args
    names = {n.id for n in walk(node) if isinstance(n, gast.Name)}
    code: Any = source.fn.__code__
    if not positional or _captured(source.fn) or names & {OBJECT_OF}:
        raise _MoreThanFields
    own = positional[0].id
    if "__class__" in code.co_freevars:
        owner = next(b for b in cls.__mro__ if vars(b).get("__init__") is source.fn)
        if cls.__mro__[cls.__mro__.index(owner) :] != owner.__mro__:
            raise _MoreThanFields
    if own in set().union(*(names_written(s) for s in node.body), set()):
        raise _MoreThanFields
    if len(node.args.defaults) > len([*node.args.posonlyargs, *node.args.args]) - 1:
        raise _MoreThanFields
    positional.pop(0)
    for n in walk(node):
        if isinstance(n, gast.Return):
            n.value = locate(name(own), n)
    start = assign(own, gast.Call(name(OBJECT_OF), [name(home)], []))
    return _definition(cls, source, node.args, [start, *node.body, gast.Return(name(own))])


def _from_fields(cls: type, source: Source, home: str) -> Node:
    """Return a definition that sets the fields of a dataclass and calls its `__post_init__`."""
    every = dataclasses.fields(cls)
    params: list[Node] = []
    defaults: list[Node] = []
    given: list[Node] = []
    if source.fn.__code__.co_argcount != 1:  # what is InitVar is handed on to __post_init__
        raise _MoreThanFields
    for f in every:
        default = f.default
        if f.kw_only or f.name in (OBJECT_OF, home, "self"):
            raise _MoreThanFields
        known = isinstance(default, bool | int | float | str | None)
        if default is not dataclasses.MISSING and not known:
            raise _MoreThanFields
        value: Node = name(f.name)
        if not f.init:
            if f.default_factory is not dataclasses.MISSING:
                raise _MoreThanFields
            if default is dataclasses.MISSING:
                continue
            value = constant(default)
        else:
            params.append(gast.Name(f.name, gast.Param(), None, None))
            factory = f.default_factory is not dataclasses.MISSING
            if factory or default is not dataclasses.MISSING:
                defaults.append(constant(None if factory else default))
        given.append(gast.keyword(f.name, value))
    own = name("self")
    start = assign(own.id, gast.Call(name(OBJECT_OF), [name(home)], given))
    post = gast.Call(gast.Attribute(name(own.id), "__post_init__", gast.Load()), [], [])
    args = gast.arguments(params, [], None, [], [], None, defaults)
    return _definition(cls, source, args, [start, gast.Expr(post), gast.Return(own)])


def _writes_out(cls: Any, post: Any) -> bool:
    """Say whether a dataclass is made of what its `__post_init__` computes beside its fields.

    One that is frozen, has keywords only, or hands values on to it.
    """
    settings = cls.__dataclass_params__
    every = cls.__dataclass_fields__.values()
    return settings.frozen or any(f.kw_only for f in every) or post.__code__.co_argcount != 1


def _computed(cls: Any, source: Source, home: str) -> Node:
    """Return a definition that computes the fields of a dataclass, those of `__post_init__` too.

    Its body is that of an `__init__` which sets the fields that are given and goes on with that.
    """
    post = clone(source.node)
    own, *handed = [a.id for a in [*post.args.posonlyargs, *post.args.args]]
    whole = inspect.signature(cls.__init__).parameters
    params = [p for p in whole.values() if p.name != "self"]
    fields = dataclasses.fields(cls)
    initial = [p.name for p in params if p.name not in {f.name for f in fields}]
    if (own in whole and own != "self") or len(initial) != len(handed):
        raise _MoreThanFields
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if any(p.kind not in plain for p in params):
        raise _MoreThanFields
    body: Block = []
    for f in fields:
        value: Node = name(f.name)
        if not f.init:
            if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
                continue
            value = _literal_default(f.default)
        body.append(gast.Assign([gast.Attribute(name(own), f.name, gast.Store())], value, None))
    body += [assign(p, name(v)) for p, v in zip(handed, initial, strict=True) if p != v]
    body += [_set_plainly(s, own) for s in post.body]

    def listed(kind: Any) -> list[Any]:
        return [p for p in params if p.kind is kind]

    def default(p: inspect.Parameter) -> Node:
        made = p.default.__class__.__name__ == "_HAS_DEFAULT_FACTORY_CLASS"
        return constant(None) if made else _literal_default(p.default)

    args = gast.arguments(
        [
            gast.Name(p, gast.Param(), None, None)
            for p in [own, *(q.name for q in listed(plain[0]))]
        ],
        [],
        None,
        [gast.Name(q.name, gast.Param(), None, None) for q in listed(plain[1])],
        [None if q.default is q.empty else default(q) for q in listed(plain[1])],
        None,
        [default(q) for q in listed(plain[0]) if q.default is not q.empty],
    )
    node = gast.FunctionDef(cls.__name__, args, body, [], None, None)
    for n in walk(node):
        if getattr(n, "lineno", None) is None:
            locate(n, source.node)
    return _Maker(cls, source, home).definition(node)


def _literal_default(value: Any) -> Node:
    if not isinstance(value, bool | int | float | str | None):
        raise _MoreThanFields
    return constant(value)


def _set_plainly(s: Node, own: str) -> Node:
    """`object.__setattr__(self, "a", x)` is `self.a = x` in an object that is being made."""
    made: Any = s.value if isinstance(s, gast.Expr) else None
    func = getattr(made, "func", None)
    if not isinstance(func, gast.Attribute) or func.attr != "__setattr__":
        return s
    if getattr(func.value, "id", "") != "object" or len(made.args) != 3:
        return s
    whole, attr, value = made.args
    if getattr(whole, "id", "") != own or not isinstance(getattr(attr, "value", None), str):
        return s
    place = gast.Attribute(name(own), attr.value, gast.Store())
    return locate(gast.Assign([place], value, None), s)


def _definition(cls: type, source: Source, args: Node, body: Block) -> Node:
    made = gast.FunctionDef(cls.__name__, args, body, [], None, None)
    for n in walk(made):
        if getattr(n, "lineno", None) is None:
            locate(n, source.node)
    made.makes = cls
    made.stores = None
    return made


def _plain(cls: type, frozen: bool = False) -> bool:
    """Say whether an object of a class is nothing but its attributes.

    With `frozen` these may be such as dataclasses let nobody set.
    """
    if type(cls) not in (type, abc.ABCMeta, type(typing.Protocol)):
        return False
    if cls.__module__ == "builtins" or not K.has_fields(cls):
        return False
    bases = [b for b in cls.__mro__[:-1] if b not in (abc.ABC, typing.Generic, typing.Protocol)]
    if any(b.__module__ in ("builtins", "abc", "typing", "numpy") for b in bases):
        return False
    found = [(h, vars(b)[h]) for b in bases for h in _HOOKS if h in vars(b)]
    return all(frozen and h == "__setattr__" and is_generated(fn) for h, fn in found)


def _home(cls: type, init: types.FunctionType) -> str | None:
    """Return the name by which a class is known where its `__init__` was written."""
    found = [n for n, v in init.__globals__.items() if v is cls and n.isidentifier()]
    own = cls.__name__ if is_lifted(cls) else None
    return min(found, key=lambda n: (n != cls.__name__, n), default=own)


def _captured(init: types.FunctionType) -> set[str]:
    """Return what an `__init__` captures, but for classes."""
    cells = zip(init.__code__.co_freevars, init.__closure__ or (), strict=True)
    return {n for n, cell in cells if n != "__class__" and not is_lifted(cell.cell_contents)}


class _MoreThanFields(Exception):
    """An `__init__` does more than to set attributes."""


class _Maker:
    def __init__(self, cls: type, source: Source, home: str) -> None:
        self.cls = cls
        self.source = source
        self.home = home
        self.names = Names({n.id for n in walk(source.node) if isinstance(n, gast.Name)})
        self.names.take(home, OBJECT_OF)
        self.fields: dict[str, str] = {}

    def definition(self, node: Node | None = None) -> Node:
        node = clone(self.source.node if node is None else node)
        positional = [*node.args.posonlyargs, *node.args.args]
        if not positional or _captured(self.source.fn):
            raise _MoreThanFields
        params = {a.id for a in [*positional, *node.args.kwonlyargs]}
        body = self.body(node.body, positional[0].id, params, self._class_of(self.source.fn))
        (node.args.posonlyargs or node.args.args).pop(0)
        if len(node.args.defaults) > len(positional) - 1:
            raise _MoreThanFields
        value = gast.Call(
            name(OBJECT_OF),
            [name(self.home)],
            [gast.keyword(f, name(v)) for f, v in self.fields.items()],
        )
        end = gast.Return(value)
        for n in walk(end):
            locate(n, node)
        made = gast.FunctionDef(self.cls.__name__, node.args, [*body, end], [], None, None)
        locate(made, node)
        made.makes = self.cls
        made.stores = self._stored(body, params)
        return made

    def _stored(self, body: Block, params: set[str]) -> dict[str, str] | None:
        table: dict[str, str] = {}
        for s in body:
            plain = isinstance(s, gast.Assign) and len(s.targets) == 1
            plain = plain and isinstance(s.targets[0], gast.Name)
            if not plain or not isinstance(s.value, gast.Name) or s.value.id not in params:
                return None
            if s.targets[0].id in params:
                return None
            table[s.targets[0].id] = s.value.id
        return {f: table.get(v, v) for f, v in self.fields.items()}

    def _class_of(self, init: types.FunctionType) -> type:
        for base in self.cls.__mro__:
            if init in (vars(base).get("__init__"), vars(base).get("__post_init__")):
                return base
        raise _MoreThanFields

    def body(self, statements: Block, own: str, params: set[str], home: type) -> Block:
        """Return the statements of an `__init__` with variables in the place of attributes."""
        strange = (gast.Return, gast.Global, gast.Nonlocal, gast.Try, gast.Delete, gast.Yield)
        if any(isinstance(n, strange) for s in statements for n in walk(s)):
            raise _MoreThanFields
        out: Block = []
        for s in statements:
            for n in walk(s):
                stored = isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Store)
                if stored and isinstance(n.value, gast.Name) and n.value.id == own:
                    self._field(n.attr, params, s)
            parent = self._parent(s, own, home)
            if parent is not None:
                out += self.inherited(parent, s.value, own)
                continue
            out.append(_Fields(own, self.fields).visit(s))
        return out

    def _field(self, attr: str, params: set[str], s: Node) -> None:
        if attr in self.fields:
            return
        static = inspect.getattr_static(self.cls, attr, None)
        slot = isinstance(static, types.MemberDescriptorType)
        if (hasattr(type(static), "__get__") and not slot) or not isinstance(
            s, gast.Assign | gast.AnnAssign
        ):
            raise _MoreThanFields
        value = s.value
        if value is None:
            raise _MoreThanFields
        same = isinstance(value, gast.Name) and value.id == attr and attr in params
        self.fields[attr] = self.names.fresh(f"self_{attr}" if same else attr)

    def _parent(self, s: Node, own: str, home: type) -> Any:
        """Return the `__init__` of a base class that a statement calls, with its class."""
        if not isinstance(s, gast.Expr) or not isinstance(s.value, gast.Call):
            return None
        func = s.value.func
        if not isinstance(func, gast.Attribute) or func.attr != "__init__":
            return None
        order = self.cls.__mro__
        if isinstance(func.value, gast.Call) and isinstance(func.value.func, gast.Name):
            if func.value.func.id != "super" or func.value.args:
                raise _MoreThanFields
            after = order[order.index(home) + 1 :]
            return next((b, vars(b)["__init__"]) for b in after if "__init__" in vars(b))
        raise _MoreThanFields

    def inherited(self, parent: Any, node: Node, own: str) -> Block:
        """Return what the `__init__` of a base class does, under names of its own."""
        home, init = parent
        if init is object.__init__:
            return []
        ours: Any = self.source.fn
        if not isinstance(init, types.FunctionType) or init.__globals__ is not ours.__globals__:
            raise _MoreThanFields
        inner = clone(read(init).node)
        values = [_Fields(own, self.fields).visit(clone(a)) for a in node.args]
        named = {
            k.arg: _Fields(own, self.fields).visit(clone(k.value)) for k in node.keywords if k.arg
        }
        strange = len(named) != len(node.keywords) or inner.args.vararg or inner.args.kwarg
        if strange or any(isinstance(a, gast.Starred) for a in node.args):
            raise _MoreThanFields
        try:
            bound = inspect.signature(init).bind(None, *values, **named)
        except TypeError:
            raise _MoreThanFields from None
        params = list(inspect.signature(init).parameters)
        local = set(params[1:]) | set().union(*(names_written(s) for s in inner.body), set())
        table = {n: self.names.fresh(n) for n in sorted(local)}
        before: Block = []
        for p in params[1:]:
            default = inspect.signature(init).parameters[p].default
            value = bound.arguments.get(p, default)
            if isinstance(value, bool | int | float | str | None):
                value = constant(value)
            if not isinstance(value, gast.AST):
                raise _MoreThanFields
            before.append(locate(assign(table[p], value), node))
        for s in inner.body:
            rename(s, table)
        for statement in before:
            for n in walk(statement):
                locate(n, node)
        return before + self.body(inner.body, params[0], set(), home)


class _Fields(gast.NodeTransformer):  # type: ignore[misc]
    """Puts variables in the place of the attributes of an object that is being made."""

    def __init__(self, own: str, fields: Mapping[str, str]) -> None:
        self.own = own
        self.fields = fields

    def visit_Attribute(self, node: Node) -> Node:
        if isinstance(node.value, gast.Name) and node.value.id == self.own:
            if node.attr not in self.fields:
                raise _MoreThanFields
            return locate(gast.Name(self.fields[node.attr], node.ctx, None, None), node)
        return self.generic_visit(node)

    def visit_Name(self, node: Node) -> Node:
        if node.id in (self.own, "super", "__class__"):
            raise _MoreThanFields
        return node

    def visit(self, node: Node) -> Node:
        if isinstance(node, SCOPES) and names_read(node) & {self.own}:
            raise _MoreThanFields
        return super().visit(node)
