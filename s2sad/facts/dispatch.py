"""What is done with an object of one of several classes becomes a branch over its class.

    for layer in [Dense(W), ReLU()]:        for layer in [Dense(W), ReLU()]:
        x = layer(x)                  ->        if type(layer) is Dense:
                                                    x = layer(x)
                                                else:
                                                    x = layer(x)

In each arm it is known what the object holds, and which method is called.
"""

from __future__ import annotations

import builtins
import inspect
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.members import in_place_word, is_generic
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    all_inside,
    attribute,
    call,
    clone,
    compare,
    locate,
    name,
    names_read,
    walk,
)
from s2sad.stages import Function, KindFacts
from s2sad.syntax.spelled import paths

_SIMPLE = (gast.Assign, gast.AugAssign, gast.Expr, gast.Delete)


def dispatch(function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> Any:
    """Return the function with branches over classes, None where there are none to make."""
    return _Dispatch(function, kinds, taken, numpy).rewritten()


class _Dispatch(Rewriter):
    def block(self, body: Block) -> Block:
        """Take calls out of the tests of branches first: a test stays whole."""
        out: Block = []
        for s in body:
            lines = self._tested(s) if isinstance(s, gast.If) else []
            self.changed |= bool(lines)
            out += [*lines, s]
        return super().block(out)

    def _tested(self, s: Node) -> Block:
        """Return what computes, before a branch, the one call in its test."""
        env = self.kinds.before.get(s, {})
        calls = [n for n in walk(s.test) if isinstance(n, gast.Call)]
        lazy = (gast.BoolOp, gast.IfExp, *SCOPES, gast.ListComp, gast.GeneratorExp)
        if len(calls) != 1 or any(isinstance(n, lazy) for n in walk(s.test)):
            return []
        func = calls[0].func
        owner = func.value if isinstance(func, gast.Attribute) else func
        if not isinstance(env.get(_id(owner)), K.OneOf):
            return []
        lines = self.lines("asked = v", v=calls[0])
        held = lines[0].targets[0].id
        s.test = name(held) if s.test is calls[0] else _with(s.test, calls[0], held)
        locate(s.test, s)
        for line in lines:
            self.origins[line] = self.origins.get(s, s)
            for n in walk(line):
                locate(n, s)
        return lines

    def statement(self, s: Node) -> Block | None:
        if not isinstance(s, _SIMPLE) or s not in self.kinds.before:
            return None
        env = self.kinds.before[s]
        several = {n for n in names_read(s) if isinstance(env.get(n), K.OneOf)}
        found = self._asked(s, several) if several else None
        if found is None:
            return None
        variable, attr = found
        lines = self._branch(s, variable, attr, env[variable].options)  # type: ignore[attr-defined]
        for line in all_inside(lines or []):
            self.origins[line] = self.origins.get(s, s)
            locate(line, s)
        return lines

    def _asked(self, s: Node, several: set[str]) -> tuple[str, str] | None:
        """Return of which variable a statement asks an attribute or a method, and which."""
        if isinstance(s, gast.AugAssign) and _id(s.target) in several:
            return _id(s.target), in_place_word(s.op)
        for n in walk(s):
            if isinstance(n, gast.Attribute) and _id(n.value) in several:
                return _id(n.value), n.attr
            if isinstance(n, gast.Call) and _id(n.func) in several:
                return _id(n.func), "__call__"
            if isinstance(n, gast.Call) and n.args and _id(n.args[0]) in several:
                if is_generic(self.kinds.objects.get(n.func)):
                    return _id(n.args[0]), ""
            if isinstance(n, gast.Subscript) and _id(n.value) in several:
                return _id(n.value), "__getitem__"
            if isinstance(n, gast.BinOp | gast.UnaryOp):
                operands = [getattr(n, f, None) for f in ("left", "right", "operand")]
                hit = [_id(o) for o in operands if _id(o) in several]
                if hit:
                    return hit[0], ""
        return None

    def _branch(
        self, s: Node, variable: str, attr: str, options: tuple[K.Obj, ...]
    ) -> Block | None:
        stored = isinstance(s, gast.Assign | gast.AugAssign) and any(
            isinstance(n, gast.Attribute) and n.attr == attr and isinstance(n.ctx, gast.Store)
            for n in walk(s)
        )
        having = [k for k in options if stored or _has(k, attr)]
        if not having or vars(builtins)["type"] is not self._type():
            return None
        chain: Block = [self._missing(variable, attr)]
        rest = having
        if len(having) == len(options):
            # What has no name here comes last: nothing is left to ask then.
            rest = sorted(having, key=lambda k: next(paths(self.function, k.cls), None) is None)
            chain = [clone(s)]
            rest = rest[:-1]
        for option in reversed(rest):
            test = self._is_a(variable, option, options)
            if test is None:
                return None
            chain = [gast.If(test, [clone(s)], chain)]
        return chain

    def _type(self) -> Any:
        source: Any = self.function.source.fn
        hidden = "type" in self.function.locals or "type" in source.__code__.co_freevars
        return None if hidden else source.__globals__.get("type", type)

    def _is_a(self, variable: str, option: K.Obj, options: tuple[K.Obj, ...]) -> Node | None:
        """Return the test whether a variable is of a class, or None."""
        cls = call("type", name(variable))
        for path in paths(self.function, option.cls):
            if not isinstance(path, gast.Subscript):
                return compare(cls, gast.Is, path)
        word = option.cls.__name__
        if sum(k.cls.__name__ == word for k in options) > 1:
            return None
        return compare(attribute(cls, "__name__"), gast.Eq, gast.Constant(word, None))

    def _missing(self, variable: str, attr: str) -> Node:
        return gast.Raise(call("AttributeError", gast.Constant(f"{variable}.{attr}", None)), None)


def _has(kind: K.Obj, attr: str) -> bool:
    """Say whether an object may have an attribute: by itself, by its class, or by `__getattr__`."""
    if not attr or attr.startswith("__i") or attr in dict(kind.fields):
        return True
    static = [inspect.getattr_static(kind.cls, n, None) for n in (attr, "__getattr__")]
    return any(found is not None for found in static)


def _with(test: Node, call_: Node, held: str) -> Node:
    """Return a test with a name in the place of a call."""

    class Put(gast.NodeTransformer):  # type: ignore[misc]
        def visit_Call(self, node: Node) -> Node:
            return locate(name(held), node) if node is call_ else self.generic_visit(node)

    return Put().visit(test)


def _id(node: Any) -> str:
    return node.id if isinstance(node, gast.Name) else ""
