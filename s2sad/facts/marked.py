"""What a function says to its derivative, as plain statements that the analyses know.

    y = stop_gradient(x)                         ->   stopped = x    takes no derivative from x
                                                      y = stopped
    if within_gradient() and rate > 0.0:         ->   if rate > 0.0:
    y = adjoint_hook(x, fn)                      ->   y = x
                                                      hook_here(y, fn)
    mask = layer.mask(n)                         ->   mask = Layer_mask(layer, n)

The last where the method reaches within_gradient(): what it becomes has a name of its own.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.rewrite import HelpedRewriter, NumPy
from s2sad.inside import adjoint_hook, hook_here, stop_gradient, within_gradient
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    all_inside,
    assign,
    blocks_of,
    clone,
    key,
    locate,
    name,
    names_written,
    root_name,
    walk,
)
from s2sad.stages import Function, KindFacts
from s2sad.syntax.decided import Decided, told, verdict


def marked(
    function: Function,
    kinds: KindFacts,
    taken: set[str],
    numpy: NumPy,
    reaches: Callable[[Any], bool],
    word: Callable[[types.FunctionType], str],
    helper: Callable[[Any], str],
) -> Function | None:
    """Return the function with such calls written out, None where there are none.

    `reaches` says whether a function reaches within_gradient(), `word` gives such a function a
    name that derived text defines, `helper` one of s2sad's own.
    """
    asked = kinds.methods or any(
        isinstance(fn, types.FunctionType) for fn in kinds.objects.values()
    )
    if not asked and not any(isinstance(k, Decided) for k in kinds.of.values()):
        return None
    return _Marked(function, kinds, taken, numpy, reaches, word, helper).rewritten()


def only_argument(node: Node) -> Node | None:
    """Return what a call gives to a function whose one parameter is x, or None."""
    given = [*node.args, *(k.value for k in node.keywords if k.arg == "x")]
    plain = len(given) == len(node.args) + len(node.keywords) == 1
    return given[0] if plain and not isinstance(given[0], gast.Starred) else None


class _Marked(HelpedRewriter):
    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        taken: set[str],
        numpy: NumPy,
        reaches: Callable[[Any], bool],
        word: Callable[[types.FunctionType], str],
        helper: Callable[[Any], str],
    ) -> None:
        super().__init__(function, kinds, taken, numpy, helper)
        self.stopped: dict[str, str] = {}
        self.gone: set[str] = set()
        self.told = _Told(kinds, function.locals, reaches, word)

    def rewritten(self) -> Function | None:
        """Return the function with its statements rewritten, None where all stay as they are."""
        made = super().rewritten()
        if made is None:
            return None
        self._drop(made.node.body)
        return dataclasses.replace(made, stopped={**made.stopped, **self.stopped})

    def _drop(self, body: Block) -> None:
        """Take out what only held something that stands where it is used."""
        body[:] = [s for s in body if not (isinstance(s, gast.Assign) and self._is_gone(s))]
        for s in body:
            for part in blocks_of(s):
                self._drop(part)

    def _is_gone(self, s: Node) -> bool:
        target = s.targets[0]
        return isinstance(target, gast.Name) and target.id in self.gone

    def statement(self, s: Node) -> Block | None:
        self._tell(s)
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(value, gast.Call):
            return None
        called = self.kinds.objects.get(value.func)
        if called is adjoint_hook:
            return self._hooked(s, value)
        if called is not stop_gradient:
            return None
        x = only_argument(value)
        if x is None:
            return None
        held = self.names.fresh("stopped")
        self.temps.add(held)
        self.stopped[held] = x.id if isinstance(x, gast.Name) else ""
        return [assign(held, x), gast.Assign(s.targets, name(held), None)]

    def _hooked(self, s: Node, node: Node) -> Block | None:
        """Return the plain assignment, and what hooks into the adjoint of what it binds."""
        given = [*node.args, *(k.value for k in node.keywords if k.arg in ("x", "fn"))]
        plain = len(given) == len(node.args) + len(node.keywords) == 2
        if not plain or any(isinstance(a, gast.Starred) for a in given):
            return None
        by_name = {k.arg: k.value for k in node.keywords}
        x = by_name.get("x", given[0])
        fn = self._written_out(by_name.get("fn", given[1]))
        target = s.targets[0]
        if isinstance(self.kind(fn), K.NoneKind):
            return [gast.Assign(s.targets, x, None)]
        hook = name(self.helper(hook_here))
        if isinstance(target, gast.Name):
            lines: Block = [gast.Expr(gast.Call(hook, [name(target.id), fn], []))]
            return lines if key(x) == key(name(target.id)) else [assign(target.id, x), *lines]
        held = self.names.fresh("hooked")
        self.temps.add(held)
        line = gast.Expr(gast.Call(hook, [name(held), fn], []))
        return [assign(held, x), line, gast.Assign(s.targets, name(held), None)]

    def _written_out(self, fn: Node) -> Node:
        """Return a lambda where a temporary holds one: what it reads is then what it was here."""
        if not isinstance(fn, gast.Name) or fn.id not in self.function.temps:
            return fn
        made = [
            s.value
            for s in all_inside(self.function.node.body)
            if isinstance(s, gast.Assign) and fn.id in names_written(s)
        ]
        if len(made) != 1 or not isinstance(made[0], gast.Lambda) or _has_defaults(made[0]):
            return fn
        uses = [n for n in walk(self.function.node) if getattr(n, "id", None) == fn.id]
        if len(uses) == 2:
            self.gone.add(fn.id)
        return clone(made[0])

    def _tell(self, s: Node) -> None:
        """Write down in the expressions of a statement what is decided."""
        if isinstance(s, SCOPES):
            return
        inner = {id(n) for part in blocks_of(s) for n in part}
        for field in s._fields:
            value = getattr(s, field, None)
            if isinstance(value, gast.AST):
                setattr(s, field, self.told.visit(value))
            elif isinstance(value, list) and not any(id(n) in inner for n in value):
                value[:] = [self.told.visit(n) if isinstance(n, gast.AST) else n for n in value]
        self.changed |= self.told.changed


def _has_defaults(node: Node) -> bool:
    return bool(node.args.defaults) or any(d is not None for d in node.args.kw_defaults)


class _Told(gast.NodeTransformer):  # type: ignore[misc]
    """Puts constants in the place of what is decided, and names in that of methods that decide."""

    def __init__(
        self,
        kinds: KindFacts,
        local: frozenset[str],
        reaches: Callable[[Any], bool],
        word: Callable[[types.FunctionType], str],
    ) -> None:
        self.kinds = kinds
        self.local = local
        self.reaches = reaches
        self.word = word
        self.changed = False

    def visit_Lambda(self, node: Node) -> Node:
        return node  # it is looked at by itself

    visit_FunctionDef = visit_ClassDef = visit_Lambda
    visit_match_case = visit_ExceptHandler = visit_Lambda  # their blocks are

    def visit_Call(self, node: Node) -> Node:
        if self.kinds.objects.get(node.func) is within_gradient:
            return self._made(told(True), node)
        self.generic_visit(node)
        return self._by_name(node)

    def visit_Attribute(self, node: Node) -> Node:
        self.generic_visit(node)
        return self._by_name(node) if node in self.kinds.methods else node

    def visit_IfExp(self, node: Node) -> Node:
        known = verdict(self.kinds.of.get(node.test))
        self.generic_visit(node)
        return node if known is None else self._made(node.body if known else node.orelse, node)

    def visit_BoolOp(self, node: Node) -> Node:
        """What is decided to go on says nothing; what is decided to end says all that follows."""
        ends = isinstance(node.op, gast.Or)
        known = [verdict(self.kinds.of.get(v)) for v in node.values]
        self.generic_visit(node)
        left: list[Node] = []
        for value, decided in zip(node.values, known, strict=True):
            if decided is None or decided is ends:
                left.append(value)
            if decided is ends:
                break
        left = left or [node.values[-1]]
        if len(left) == len(node.values):
            return node
        return self._made(left[0] if len(left) == 1 else gast.BoolOp(node.op, left), node)

    def _made(self, node: Node, instead_of: Node) -> Node:
        self.changed = True
        return locate(node, instead_of)

    def _by_name(self, node: Node) -> Node:
        """Return the call of a function that is reached through an object, by a name of its own."""
        method = self.kinds.methods.get(node)
        call = isinstance(node, gast.Call)
        if method is not None:
            fn, owner = method
            kind = self.kinds.of.get(owner)
            if not isinstance(kind, K.Obj | K.Tuple) or not self.reaches(fn):
                return node
            given = [owner, *node.args] if call else [owner]
            keywords = node.keywords if call else []
            return self._made(gast.Call(name(self.word(fn)), given, keywords), node)
        fn = self.kinds.objects.get(node.func) if call else None
        if not isinstance(fn, types.FunctionType) or fn is stop_gradient:
            return node
        held = root_name(node.func) in self.local or isinstance(node.func, gast.Subscript)
        if not held or not self.reaches(fn):
            return node
        return self._made(gast.Call(name(self.word(fn)), node.args, node.keywords), node)
