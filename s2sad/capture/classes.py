"""A class that is defined inside a function, and captures no variables, is a class of its own.

    def loss(x):                         class Acc:
        class Acc:                           def __init__(self): self.s = 0.0
            def __init__(self):              def add(self, v): self.s += v * v
                self.s = 0.0      ->
            def add(self, v):            def loss(x):
                self.s += v * v              a = Acc()
        a = Acc()                            ...

Python makes the class anew in each call, of the same code: nobody can tell one from the other,
where the class holds nothing that can be changed, and only the function knows it.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import types
import weakref
from typing import Any

import gast

from s2sad.capture.desugar import denoted
from s2sad.capture.read import read
from s2sad.nodes import Node, clone, count_writes, is_constant, walk

_lifted: weakref.WeakSet[type] = weakref.WeakSet()


def is_lifted(cls: Any) -> bool:
    """Say whether a class stands for one that a function defines."""
    return isinstance(cls, type) and cls in _lifted


def without_classes(node: Node, fn: types.FunctionType) -> tuple[Node, dict[str, type]]:
    """Return a definition without the classes that it defines, and these by their names."""
    if not any(isinstance(s, gast.ClassDef) for s in node.body):
        return node, {}
    found = dict(_classes(fn))
    shared = (n for n in walk(node) if isinstance(n, gast.Nonlocal | gast.Global))
    counts = count_writes(node.body)
    rebound = {word for n in shared for word in n.names} | {n for n in counts if counts[n] > 1}
    found = {n: cls for n, cls in found.items() if n not in rebound}
    if not found or not _only_used(node, found):
        return node, {}
    node = clone(node)
    defined = [s for s in node.body if isinstance(s, gast.ClassDef) and s.name in found]
    node.body = [s for s in node.body if s not in defined] or [gast.Pass()]
    return node, found


def _only_used(node: Node, found: dict[str, type]) -> bool:
    """Say whether classes are made objects of, and asked for what they have, and no more.

    What is set in a class would last until the next call.
    """
    fine: set[Any] = set()
    for n in walk(node):
        if isinstance(n, gast.Call):
            asks = getattr(n.func, "id", "") in ("isinstance", "issubclass")
            fine |= {n.func, *(p for a in n.args[1:] for p in walk(a))} if asks else {n.func}
        elif isinstance(n, gast.ClassDef):
            fine |= set(n.bases)
        elif isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Load):
            fine.add(n.value)
        if isinstance(n, gast.FunctionDef):  # annotations say nothing
            given = [*n.args.posonlyargs, *n.args.args, *n.args.kwonlyargs]
            fine |= {p for a in (n.returns, *(g.annotation for g in given)) if a for p in walk(a)}
    names = (n for n in walk(node) if isinstance(n, gast.Name))
    if any(n.id in found and n not in fine for n in names):
        return False
    stored = (n for n in walk(node) if isinstance(n, gast.Attribute))
    owners = [n.value for n in stored if not isinstance(n.ctx, gast.Load)]
    first = {
        getattr(next(iter([*f.args.posonlyargs, *f.args.args]), None), "id", "")
        for f in walk(node)
        if isinstance(f, gast.FunctionDef)
        and any(getattr(d, "id", "") == "classmethod" for d in f.decorator_list)
    }
    return not any(
        isinstance(o, gast.Call)
        or getattr(o, "attr", "") == "__class__"
        or getattr(o, "id", "") in first
        for o in owners
    )


@functools.lru_cache(256)
def _classes(fn: types.FunctionType) -> tuple[tuple[str, type], ...]:
    """Return the classes that a function defines, made of the code that it would run."""
    codes = [c for c in fn.__code__.co_consts if isinstance(c, types.CodeType)]
    made: dict[str, type] = {}
    for s in read(fn).node.body:
        if not isinstance(s, gast.ClassDef):
            continue
        own = [c for c in codes if c.co_name == s.name]
        bases = [made.get(getattr(b, "id", ""), denoted(b, fn, set(made))) for b in s.bases]
        settings = [_settings(d, fn) for d in s.decorator_list]
        plain = len(own) == 1 and set(own[0].co_freevars) <= {s.name, *made} and not s.keywords
        plain = plain and all(type(b) is type for b in bases) and None not in settings
        if not plain or not all(map(_is_plain, s.body)):
            continue
        itself = types.CellType()
        cells = [itself if n == s.name else types.CellType(made[n]) for n in own[0].co_freevars]
        body = types.FunctionType(own[0], fn.__globals__, s.name, None, tuple(cells))
        cls = builtins.__build_class__(body, s.name, *bases)
        for words in settings:
            cls = dataclasses.dataclass(**(words or {}))(cls)
        itself.cell_contents = cls
        _lifted.add(cls)
        made[s.name] = cls
    return tuple(made.items())


def _settings(decorator: Node, fn: types.FunctionType) -> dict[str, Any] | None:
    """Return what a decorator tells `dataclass`, None where it is another one."""
    given: list[Node] = []
    if isinstance(decorator, gast.Call):
        decorator, given = decorator.func, [*decorator.args, *decorator.keywords]
    literal = all(isinstance(k, gast.keyword) and _is_literal(k.value) for k in given)
    if not literal or denoted(decorator, fn, set()) is not dataclasses.dataclass:
        return None
    return {k.arg: k.value.value for k in given}


def _is_plain(s: Node) -> bool:
    """Say whether a statement of a class does no more than to say what its objects have."""
    if isinstance(s, gast.FunctionDef):
        defaults = [d for d in [*s.args.defaults, *s.args.kw_defaults] if d is not None]
        known = {"staticmethod", "classmethod", "property"}
        marks = all(getattr(d, "id", "") in known for d in s.decorator_list)
        return marks and all(map(_is_literal, defaults))
    if isinstance(s, gast.Assign | gast.AnnAssign):
        targets = s.targets if isinstance(s, gast.Assign) else [s.target]
        value = s.value
        if isinstance(value, gast.Call) and isinstance(s, gast.AnnAssign):  # a dataclass's field
            return "field" in (getattr(value.func, "id", ""), getattr(value.func, "attr", ""))
        return all(isinstance(t, gast.Name) for t in targets) and (
            value is None or _is_literal(value)
        )
    text = isinstance(s, gast.Expr) and isinstance(s.value, gast.Constant)
    return isinstance(s, gast.Pass) or text


def _is_literal(value: Node) -> bool:
    if isinstance(value, gast.Tuple):
        return all(map(_is_literal, value.elts))
    return is_constant(value)
