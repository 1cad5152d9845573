"""What a pullback reads of globals and captured variables: as it was when the forward sweep ran.

def f_vjp(x):                            def f_vjp(x):
    ...                                      ...
                                             G_0 = G.copy()
    def pullback(value_bar):       ->        def pullback(value_bar):
        return value_bar * G                     return value_bar * G_0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.kinds import MISSING, Kind
from s2sad.names import Names
from s2sad.nodes import Block, Node, assign, attribute, block_writes, call, name

_CONSTANT = ("numpy", "math", "cmath", "scipy", "cupy")


def keep_as_it_was(
    body: Block,
    pullback: Node,
    path: Callable[[Node], Any],
    defined: Iterable[str],
    borrowed: Mapping[str, Kind],
    names: Names,
    private: Callable[[], str],
) -> Block:
    """Return a body whose pullback reads its own copies of what is outside and may change.

    `path` gives the object that a dotted name denotes outside the function, `defined` are the
    names that the text defines, `borrowed` the variables that hold memory from outside, `private`
    names the helper that copies structures.
    """
    own = {*block_writes(pullback.body), *(a.id for a in pullback.args.args)}
    hidden = {*defined, *block_writes(body), *own}
    kinds = {n: kind for n, kind in borrowed.items() if n not in own}
    worker = _Outside(path, hidden, kinds, names, private)
    pullback.body = [worker.visit(s) for s in pullback.body]
    at = body.index(pullback)
    return [*body[:at], *worker.kept, *body[at:]]


class _Outside(gast.NodeTransformer):  # type: ignore[misc]
    """Replaces what is read from outside by names, and notes what they hold."""

    def __init__(
        self,
        path: Callable[[Node], Any],
        hidden: set[str],
        borrowed: Mapping[str, Kind],
        names: Names,
        private: Callable[[], str],
    ) -> None:
        self.path = path
        self.hidden = hidden
        self.borrowed = borrowed
        self.names = names
        self.private = private
        self.table: dict[str, str] = {}
        self.kept: Block = []

    def visit_Attribute(self, node: Node) -> Node:
        made = self._kept(node)
        return self.generic_visit(node) if made is None else made

    def visit_Name(self, node: Node) -> Node:
        if node.id in self.borrowed and isinstance(node.ctx, gast.Load):
            array = isinstance(self.borrowed[node.id], K.Array)
            copy = call(attribute(node, "copy")) if array else call(self.private(), node)
            return self._named(node, copy)
        return self._kept(node) or node

    def _kept(self, node: Node) -> Node | None:
        root = node
        while isinstance(root, gast.Attribute):
            root = root.value
        if not isinstance(root, gast.Name) or root.id in self.hidden:
            return None
        if not isinstance(node.ctx, gast.Load):
            return None
        value = self.path(node)
        if value is MISSING or K.is_function(value):
            return None
        if isinstance(node, gast.Attribute):
            owner = getattr(self.path(node.value), "__name__", "")
            if owner.split(".")[0] in _CONSTANT:
                return None
        return self._named(node, self._copy(node, value))

    def _named(self, node: Node, copy: Node) -> Node:
        text = _text(node)
        if text not in self.table:
            self.table[text] = self.names.numbered(text.rpartition(".")[2])
            self.kept.append(assign(self.table[text], copy))
        return name(self.table[text])

    def _copy(self, node: Node, value: Any) -> Node:
        if value is None or isinstance(value, bool | int | float | complex | str | np.generic):
            return node
        if type(value) is np.ndarray:
            return call(attribute(node, "copy"))
        return call(self.private(), node)


def _text(node: Node) -> str:
    return str(node.id) if isinstance(node, gast.Name) else f"{_text(node.value)}.{node.attr}"
