"""Derived text without what only s2sad knows: the user's calls of s2sad's own functions.

    y = stop_gradient(x)                 ->   y = x
    n = 2 if within_gradient() else 1    ->   n = 2
    mask = noise(len(x))                 ->   mask = noise_in_gradient(len(x))

The last where `noise` reaches within_gradient(): in derived text it is a function of its own.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import gast

from s2sad import runtime
from s2sad.checkpoints import checkpoint, checkpointed
from s2sad.inside import adjoint_hook, stop_gradient, within_gradient
from s2sad.kinds import MISSING
from s2sad.nodes import COMPREHENSIONS, Node, free_reads, locate, name, walk
from s2sad.syntax.decided import TOLD, told

Denoted = Callable[[str], Any]
Becomes = Callable[[Any], "str | None"]
Answered = Callable[[Any, Node, Mapping[str, bool]], "str | None"]
Seen = Callable[[str, Any], None]
_OURS = (stop_gradient, within_gradient, adjoint_hook, checkpoint)
_IDENTITIES = (stop_gradient, adjoint_hook, checkpoint)
# What stands in derived text for s2sad's functions where they are handed on.
VALUES = (
    (stop_gradient, runtime.itself),
    (within_gradient, runtime.always),
    (adjoint_hook, runtime.unhooked),
    (checkpoint, runtime.itself),
)


def handed_on(value: Any) -> str | None:
    """Return the name of what stands for one of s2sad's functions that is handed on."""
    return next((own.__name__ for fn, own in VALUES if fn is value), None)


def nobody(_: Any) -> str | None:
    """Say that every function is called as it is."""
    return None


def without_ours(
    node: Node,
    denoted: Denoted,
    becomes: Becomes = nobody,
    seen: Seen | None = None,
    hidden: frozenset[str] | set[str] = frozenset(),
    answers: Mapping[str, bool] = MappingProxyType({}),
    answered: Answered | None = None,
) -> Node:
    """Return a definition, or an expression, in which s2sad's own functions are not called.

    `denoted` gives what a free name stands for, or MISSING; `becomes` the name in derived text for
    what a function of the user's is there, if that is another one; `seen` gets the dotted names
    on which it depends. Names that are `hidden` stand for none of the user's objects; of those with
    `answers` it is decided how tests of them come out. `answered` gives the name of what is called
    where arguments of a call are decided.
    """
    own = _own_names(node) | hidden
    worker = _Plain(denoted, becomes, seen, _imported(node), own, answers, answered)
    if isinstance(node, gast.FunctionDef):
        node.body = [s for s in worker.block(node.body) if not _binds_itself(s)] or [gast.Pass()]
        _drop_imports(node)
        return node
    return worker.visit(node)


def compares_ours(node: Node, denoted: Denoted) -> bool:
    """Say whether a definition asks of something whether it is one of s2sad's own functions."""
    worker = _Plain(denoted, nobody, None, _imported(node), _own_names(node), {})
    parts = (e for n in walk(node) if isinstance(n, gast.Compare) for e in [n.left, *n.comparators])
    return any(worker.value(e) is fn for e in parts for fn in _OURS)


_IMPORTS = frozenset({gast.Import, gast.ImportFrom})


def mentions(node: Node, denoted: Denoted, wanted: Callable[[Any], bool] = lambda _: False) -> bool:
    """Say whether `without_ours` may find something to do: True where that is not plain.

    `wanted` says of what is found in code whether it becomes something else in derived text.
    """
    worker = _Plain(denoted, nobody, None, {}, frozenset(), {})
    spelled: dict[Any, Node] = {}
    for n in walk(node):
        kind = n.__class__
        if kind is gast.Name:
            spelled[n.id] = n
        elif kind is gast.Attribute:
            spelled[n] = n
        elif kind in _IMPORTS or (kind is gast.Constant and n.kind == TOLD):
            return True
    found = {id(value): value for value in map(worker.value, spelled.values())}
    found.pop(id(MISSING), None)
    return any(_is_ours(value) or wanted(value) for value in found.values())


def _is_ours(value: Any) -> bool:
    return any(value is fn for fn in _OURS)


def denoted_in(fn: types.FunctionType, cells: Mapping[str, Any]) -> Denoted:
    """Return what tells the objects that the free names of a function stand for."""

    def denoted(n: str) -> Any:
        if n not in cells:
            return fn.__globals__.get(n, MISSING)
        cell = cells[n]
        try:
            return cell.cell_contents if isinstance(cell, types.CellType) else cell
        except ValueError:
            return MISSING

    return denoted


def _own_names(node: Node) -> frozenset[str]:
    """Return the names that mean something of a definition's own."""
    if not isinstance(node, gast.FunctionDef):
        return frozenset()
    return frozenset(n.id for n in walk(node) if isinstance(n, gast.Name)) - free_reads(node)


def _imported(node: Node) -> dict[str, Any]:
    """Return what import statements inside a definition bind of s2sad."""
    found: dict[str, Any] = {}
    for s in walk(node):
        if isinstance(s, gast.Import):
            for a in s.names:
                if a.name == "s2sad":
                    found[a.asname or a.name] = importlib.import_module(a.name)
        elif isinstance(s, gast.ImportFrom) and not s.level and s.module in _HOMES:
            module = importlib.import_module(s.module)
            found |= {a.asname or a.name: getattr(module, a.name, MISSING) for a in s.names}
    return found


_HOMES = ("s2sad", "s2sad.inside")


def _drop_imports(node: Node) -> None:
    """Take out imports of s2sad that nothing in a definition wants."""
    read = {n.id for n in walk(node) if isinstance(n, gast.Name)}
    for s in walk(node):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(s, field, None)
            if not isinstance(block, list):
                continue
            for inner in block:
                if isinstance(inner, gast.Import | gast.ImportFrom):
                    home = getattr(inner, "module", "s2sad")
                    inner.names = [
                        a
                        for a in inner.names
                        if (a.asname or a.name) in read
                        or home not in _HOMES
                        or (isinstance(inner, gast.Import) and a.name != "s2sad")
                    ]
            block[:] = [b for b in block if getattr(b, "names", True)] or [gast.Pass()][
                : len(block)
            ]


class _Plain(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(
        self,
        denoted: Denoted,
        becomes: Becomes,
        seen: Seen | None,
        imported: Mapping[str, Any],
        hidden: frozenset[str],
        answers: Mapping[str, bool],
        answered: Answered | None = None,
    ) -> None:
        self.answers = answers
        self.answered = answered
        self.denoted = denoted
        self.becomes = becomes
        self.seen = seen
        self.imported = imported
        self.hidden = hidden

    def value(self, node: Node) -> Any:
        """Return what a dotted name stands for, where that is code; or MISSING."""
        if isinstance(node, gast.Name):
            if node.id in self.imported:
                return self.imported[node.id]
            return MISSING if node.id in self.hidden else self.denoted(node.id)
        if isinstance(node, gast.Attribute):
            owner = self.value(node.value)
            if isinstance(owner, types.ModuleType):
                return vars(owner).get(node.attr, MISSING)
            if isinstance(owner, type):
                return getattr(owner, node.attr, MISSING)
        return MISSING

    def block(self, body: list[Node]) -> list[Node]:
        out: list[Node] = []
        for s in body:
            made = self.visit(s)
            out += made if isinstance(made, list) else [made]
            if isinstance(made, list) and made and isinstance(made[-1], gast.Return | gast.Raise):
                break
        return out or [gast.Pass()][: len(body)]

    # scopes

    def visit_FunctionDef(self, node: Node) -> Node:
        found = node.decorator_list
        node.decorator_list = [d for d in found if self.value(d) is not checkpoint]
        return self._inside(node, _own_names(node))

    def visit_Lambda(self, node: Node) -> Node:
        a = node.args
        own = {n.id for n in [*a.posonlyargs, *a.args, *a.kwonlyargs]}
        return self._inside(node, own | {n.id for n in (a.vararg, a.kwarg) if n is not None})

    def generic_visit(self, node: Node) -> Node:
        if isinstance(node, COMPREHENSIONS) and not self._bound_by(node) <= self.hidden:
            return self._inside(node, self._bound_by(node))
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                setattr(node, field, self.block(block))
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, gast.AST):
                setattr(node, field, self.visit(value))
            elif isinstance(value, list) and field not in ("body", "orelse", "finalbody"):
                value[:] = [self.visit(v) if isinstance(v, gast.AST) else v for v in value]
        return node

    @staticmethod
    def _bound_by(node: Node) -> set[str]:
        targets = (n for g in node.generators for n in walk(g.target))
        return {n.id for n in targets if isinstance(n, gast.Name)}

    def _inside(self, node: Node, own: frozenset[str] | set[str]) -> Node:
        before = self.hidden, self.answers
        self.hidden = self.hidden | own
        self.answers = {n: value for n, value in self.answers.items() if n not in own}
        self.generic_visit(node)
        self.hidden, self.answers = before
        return node

    # what is decided

    def tested(self, node: Node) -> Node:
        """Return a test, or the constant that it is decided to be."""
        made = self.visit(node)
        if isinstance(made, gast.Name) and made.id in self.answers:
            return locate(told(self.answers[made.id]), made)
        return made

    def visit_If(self, node: Node) -> Any:
        node.test = self.tested(node.test)
        if _is_told(node.test):
            return self.block(node.body if node.test.value else node.orelse)
        return self.generic_visit(node)

    def visit_IfExp(self, node: Node) -> Node:
        node.test = self.tested(node.test)
        if _is_told(node.test):
            return self.visit(node.body if node.test.value else node.orelse)
        return self.generic_visit(node)

    def visit_BoolOp(self, node: Node) -> Node:
        ends = isinstance(node.op, gast.Or)
        left: list[Node] = []
        for value in node.values:
            made = self.tested(value)
            last = value is node.values[-1]
            if not _is_told(made) or made.value is ends or (last and not left):
                left.append(made)
            if _is_told(made) and made.value is ends:
                break
        if len(left) == 1:
            return left[0]
        node.values = left
        return node

    def visit_UnaryOp(self, node: Node) -> Node:
        negates = isinstance(node.op, gast.Not)
        node.operand = self.tested(node.operand) if negates else self.visit(node.operand)
        negated = negates and _is_told(node.operand)
        return locate(told(not node.operand.value), node) if negated else node

    # calls and names

    def visit_Call(self, node: Node) -> Node:
        fn = self.value(node.func)
        if fn is within_gradient:
            return locate(told(True), node)
        if any(fn is f for f in _IDENTITIES) and (node.args or node.keywords):
            given = [*node.args, *(k.value for k in node.keywords if k.arg in ("x", "f"))]
            if given and not isinstance(given[0], gast.Starred):
                return self.visit(given[0])
        if fn is checkpointed:
            given = [*node.args, *(k.value for k in node.keywords if k.arg == "iterable")]
            return self.visit(given[0])
        node = self.generic_visit(node)
        if self.answered is not None and fn is not MISSING:
            made = self.answered(fn, node, self.answers)
            if made is not None:
                node.func = locate(name(made), node.func)
        return node

    def visit_Name(self, node: Node) -> Node:
        if not isinstance(node.ctx, gast.Load):
            return node
        value = self.value(node)
        made = None if value is MISSING else self.becomes(value)
        if made is None:
            return node
        if self.seen is not None:
            self.seen(_dotted(node), value)
        return locate(name(made), node)

    def visit_Attribute(self, node: Node) -> Node:
        if self.value(node) is MISSING:
            return self.generic_visit(node)
        return self.visit_Name(node)


def _binds_itself(s: Node) -> bool:
    """Say whether a statement is `f = f`: what is left of `f = checkpoint(f)`."""
    plain = isinstance(s, gast.Assign) and isinstance(s.value, gast.Name)
    return plain and [getattr(t, "id", None) for t in s.targets] == [s.value.id]


def _dotted(node: Node) -> str:
    return node.id if isinstance(node, gast.Name) else f"{_dotted(node.value)}.{node.attr}"


def _is_told(node: Node) -> bool:
    return isinstance(node, gast.Constant) and node.kind == TOLD
