"""What a pullback reads of globals and captured variables: as it was when the forward sweep ran.

def f_vjp(x):                            def f_vjp(x):
    ...                                      ...
                                             G_0 = G.copy()
    def pullback(value_bar):       ->        def pullback(value_bar):
        return value_bar * G                     return value_bar * G_0
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import runtime
from s2sad.kinds import MISSING, Kind
from s2sad.known.built import display, read
from s2sad.modes.storage import bind_unbound
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    block_writes,
    call,
    copied,
    name,
    names_read,
    rename,
    walk,
)
from s2sad.stages import Aliases, Function
from s2sad.syntax.flow import live_in

_CONSTANT = ("numpy", "math", "cmath", "scipy", "cupy")


@dataclass(frozen=True)
class Lent:
    """Parameters of a called function whose memory is another's when its reverse runs.

    What `changed` ones hold may be anything by then; `resized` ones are, or hold, lists that the
    caller makes longer or shorter.
    """

    changed: frozenset[str] = frozenset()
    resized: frozenset[str] = frozenset()


NOTHING_LENT = Lent()


@dataclass(frozen=True)
class Outside:
    """What a backward sweep may read that somebody else may change before it runs.

    `path` gives the object that a dotted name denotes outside the function, `defined` are the
    names that the text defines, `borrowed` what `borrowed` found, `kinds`
    those of the variables, `private` names the helper that copies structures. What the user's
    `hooks` see, to which these helpers hand adjoints, is what there is when they are called.
    """

    path: Callable[[Node], Any]
    defined: frozenset[str]
    borrowed: Mapping[str, bool]
    kinds: Mapping[str, Kind]
    names: Names
    private: Callable[[], str]
    hooks: frozenset[str] = frozenset()

    def copied(self, variable: str) -> Node:
        """Return a copy of what a variable holds."""
        kind = self.kinds.get(variable, K.UNKNOWN)
        deep = self.borrowed[variable] and not isinstance(kind, K.Array)
        return copy_of(variable, kind, deep, self.private)


def copy_of(variable: str, kind: Kind, deep: bool, private: Callable[[], str]) -> Node:
    """Return a copy of what a variable holds: of its arrays and structures, too, where `deep`."""
    if deep:
        return call(private(), name(variable))
    if isinstance(kind, K.Tuple | K.Dict):
        return _with_own_lists(name(variable), kind)
    return call(attribute(name(variable), "copy"))


def holds_list(kind: Kind) -> bool:
    """Say whether a value is a list, or a tuple or a dict that holds one."""
    if isinstance(kind, K.Tuple | K.Dict):
        return any(map(holds_list, kind.inside))
    return isinstance(kind, K.List)


def _with_own_lists(node: Node, kind: Kind) -> Node:
    """Return a structure with copies of the lists that it holds: `(t[0].copy(), t[1])`."""
    if isinstance(kind, K.List):
        return call(attribute(node, "copy"))
    if not holds_list(kind):
        return node
    assert isinstance(kind, K.Tuple | K.Dict)
    parts = [_with_own_lists(read(node, part), part.kind) for part in kind.parts]
    if isinstance(kind, K.Dict) or kind.cls is None:
        return display(kind, parts)
    fields: tuple[str, ...] = kind.cls._fields  # type: ignore[attr-defined]
    made = call(attribute(node, "_replace"))
    named = zip(fields, parts, kind.items, strict=True)
    made.keywords = [gast.keyword(n, part) for n, part, k in named if holds_list(k)]
    return made


def borrowed(
    function: Function,
    aliases: Aliases,
    kinds: Mapping[str, Kind],
    lent: Lent,
    later: bool,
    asked: frozenset[str],
) -> dict[str, bool]:
    """Return the variables that may be, or hold, memory that changes before the reverse runs.

    It is lent to some parameters. Where the reverse runs later, and again, globals and captured
    variables may have changed, too: that is copied with all that it holds. Of lists that only get
    longer or shorter the items stay what they are, also where shadows are found by their memory;
    a list that is `asked` for its own shadow has its old length back when the reverse runs.
    """
    found: dict[str, bool] = {}
    for n in sorted(function.locals):
        kind = kinds.get(n, K.UNKNOWN)
        if not K.shares_nothing(kind):
            ever = aliases.ever(n)
            outside = {m for m in ever if "@" not in m} - function.locals
            if _reaches(n, ever, lent.changed) or (later and outside):
                found[n] = True
            elif holds_list(kind) and _reaches(n, ever, lent.resized) and n not in asked:
                found[n] = False
    return found


def _reaches(variable: str, ever: frozenset[str], parameters: frozenset[str]) -> bool:
    return variable in parameters or bool(ever & {f"{p}@arg" for p in parameters})


def keep_as_it_was(body: Block, pullback: Node, outside: Outside) -> Block:
    """Return a body whose pullback reads its own copies of what is outside and may change."""
    bound = {*block_writes(body), *(a.id for a in pullback.args.args)}
    kept = kept_copies(pullback.body, bound, outside)
    at = body.index(pullback)
    return [*with_copies(body[:at], kept, set(bound), outside), *body[at:]]


def with_copies(forward: Block, kept: Block, params: set[str], outside: Outside) -> Block:
    """Return a forward sweep with copies at its end, of variables that not every path binds, too.

    if flag:                    v = None
        v = G[:]         ->     if flag:
                                    v = G[:]
                                v_1 = private(v)
    """
    read: set[str] = set().union(*(names_read(s) for s in kept)) & block_writes(forward)
    if not read:
        return [*forward, *kept]
    body = bind_unbound([*forward, *kept], params, read)
    nothing = {n for s in body for n in _without_value(s)} & read
    for s in kept:
        source = copied(s.value)
        if isinstance(source, gast.Name) and source.id in nothing:
            s.value = call(outside.private(), source)
    return body


def _without_value(s: Node) -> set[str]:
    """Return the name that a statement binds to None."""
    if not isinstance(s, gast.Assign) or not isinstance(s.value, gast.Constant):
        return set()
    found = s.targets[0]
    return {found.id} if isinstance(found, gast.Name) and s.value.value is None else set()


def kept_copies(backward: Block, bound: set[str], outside: Outside) -> Block:
    """Let a backward sweep read copies, and return what makes these after the forward sweep.

    `bound` are the names that the text binds around it.
    """
    own = block_writes(backward)
    stored = {
        n.attr
        for s in backward
        for n in walk(s)
        if isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Store)
    }
    worker = _Outside(outside, {*outside.defined, *bound, *own}, frozenset(own), stored)
    backward[:] = [worker.visit(s) for s in backward]
    return worker.kept


def lent_copies(backward: Block, outside: Outside) -> Block:
    """Let a backward sweep read copies of what it is lent, and return what makes these."""
    read = live_in(backward, frozenset()) & outside.borrowed.keys() - block_writes(backward)
    table = {n: outside.names.numbered(n) for n in sorted(read)}
    for s in backward:
        rename(s, table)
    return [assign(copy, outside.copied(n)) for n, copy in table.items()]


class _Outside(gast.NodeTransformer):  # type: ignore[misc]
    """Replaces what is read from outside by names, and notes what they hold."""

    def __init__(
        self, outside: Outside, hidden: set[str], own: frozenset[str], stored: set[str]
    ) -> None:
        self.outside = outside
        self.hidden = hidden
        self.own = own
        self.stored = stored
        self.table: dict[str, str] = {}
        self.kept: Block = []

    def visit_Call(self, node: Node) -> Node:
        hook = isinstance(node.func, gast.Name) and node.func.id in self.outside.hooks
        if not hook and not isinstance(node.func, gast.Lambda):
            return self.generic_visit(node)
        at = int(hook)
        node.args[at:] = [self.visit(a) for a in node.args[at:]]
        return node

    def visit_Attribute(self, node: Node) -> Node:
        made = self._of_class(node) or self._kept(node)
        return self.generic_visit(node) if made is None else made

    def visit_Name(self, node: Node) -> Node:
        lent = node.id in self.outside.borrowed and node.id not in self.own
        if lent and isinstance(node.ctx, gast.Load):
            return self._named(node, self.outside.copied(node.id))
        return self._kept(node) or node

    def _of_class(self, node: Node) -> Node | None:
        """Keep what an object has from its class, which no copy of the object has of its own."""
        if not isinstance(node.ctx, gast.Load) or node.attr in self.stored:
            return None
        if isinstance(node.value, gast.Subscript):
            item = self._item(node.value)
            if not isinstance(item, K.Obj) or node.attr in dict(item.fields):
                return None
            return self._by_class(item.cls, node.attr)
        if not isinstance(node.value, gast.Name):
            return None
        n = node.value.id
        if n in self.hidden or n in self.outside.kinds:
            kind = self.outside.kinds.get(n)
            if not isinstance(kind, K.Obj) or node.attr in dict(kind.fields):
                return None
            cls = kind.cls
        else:
            value = self.outside.path(node.value)
            if not runtime.has_fields(type(value)) or node.attr in runtime.attributes(value):
                return None
            cls = type(value)
        found = inspect.getattr_static(cls, node.attr, MISSING)
        if n in self.own:
            return self._by_class(cls, node.attr)
        if isinstance(found, property):
            return self._named(node, call(self.outside.private(), node))
        if found is MISSING or hasattr(type(found), "__get__"):
            return None
        return self._named(node, self._copy(node, found))

    def _item(self, node: Node) -> Kind:
        """Return the kind of an item of a list, as far as is known."""
        if not isinstance(node.value, gast.Name):
            return K.UNKNOWN
        n = node.value.id
        kind = self.outside.kinds.get(n, K.UNKNOWN)
        if n not in self.hidden and n not in self.outside.kinds:
            kind = K.kind_of(self.outside.path(node.value), n)
        return kind.item if isinstance(kind, K.List) else K.UNKNOWN

    def _by_class(self, cls: type, attr: str) -> Node | None:
        """Keep what a class has, by the name of that: each round has another object of it."""
        found = inspect.getattr_static(cls, attr, MISSING)
        owner = name(cls.__name__)
        if cls.__name__ in self.hidden or self.outside.path(owner) is not cls:
            return None
        if found is MISSING or hasattr(type(found), "__get__"):
            return None
        node = attribute(owner, attr)
        return self._named(node, self._copy(node, found))

    def _kept(self, node: Node) -> Node | None:
        root = node
        while isinstance(root, gast.Attribute):
            root = root.value
        if not isinstance(root, gast.Name) or root.id in self.hidden:
            return None
        if not isinstance(node.ctx, gast.Load):
            return None
        value = self.outside.path(node)
        if value is MISSING or K.is_function(value):
            return None
        if isinstance(node, gast.Attribute):
            owner = getattr(self.outside.path(node.value), "__name__", "")
            if owner.split(".")[0] in _CONSTANT:
                return None
        return self._named(node, self._copy(node, value))

    def _named(self, node: Node, copy: Node) -> Node:
        text = _text(node)
        if text not in self.table:
            self.table[text] = self.outside.names.numbered(text.rpartition(".")[2])
            self.kept.append(assign(self.table[text], copy))
        return name(self.table[text])

    def _copy(self, node: Node, value: Any) -> Node:
        if value is None or isinstance(value, bool | int | float | complex | str | np.generic):
            return node
        if type(value) is np.ndarray:
            return call(attribute(node, "copy"))
        return call(self.outside.private(), node)


def _text(node: Node) -> str:
    return str(node.id) if isinstance(node, gast.Name) else f"{_text(node.value)}.{node.attr}"
