"""Which calls in a function do nothing but give their value."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

import gast

from s2sad import registry
from s2sad.capture.read import read
from s2sad.errors import Error
from s2sad.facts.scope import lookup
from s2sad.nodes import Node, all_inside, names_read, names_written, walk
from s2sad.rulebook.quiet import is_quiet
from s2sad.steps.derivation import Analysed, Derivation


class Purity:
    """Says of a call in a function whether it does nothing but give its value."""

    def __init__(self, a: Analysed, d: Derivation) -> None:
        self.a = a
        self.d = d
        self.local = a.function.locals
        self._cache: dict[str, bool] = {}

    def __call__(self, node: Node) -> bool:
        func = node.func
        if any(k.arg == "key" and not self._is_quiet_key(k.value) for k in node.keywords):
            return False
        if isinstance(func, gast.Attribute):
            path = func
            while isinstance(path, gast.Attribute):
                path = path.value
            if isinstance(path, gast.Name) and path.id in self.d.refs.modules:
                return self._known(func)
            if isinstance(path, gast.Name) and path.id not in self.local:
                return self._known(func)
            return (
                registry.method_function(func.attr) is not None
                or registry.is_zero_method(func.attr)
                or registry.method_only_looks(func.attr)
            )
        if isinstance(func, gast.Name):
            known = func.id in self.d.refs.functions
            return known or (func.id not in self.local and self._known(func))
        return False

    def _is_quiet_key(self, given: Node) -> bool:
        """Say whether a function that is handed over to be called (`key=`) only gives a value."""
        if isinstance(given, gast.Name) and given.id in self.local:
            made = [
                getattr(s, "value", s)
                for s in all_inside(self.a.function.node.body)
                if given.id in ({s.name} if isinstance(s, gast.FunctionDef) else names_written(s))
            ]
            return bool(made) and all(map(self._only_computes, made))
        if isinstance(given, gast.Lambda | gast.Constant):
            return self._only_computes(given)
        value: Any = self.a.scope.path(given)
        if isinstance(value, types.FunctionType):
            try:
                source = read(value)
            except Error:
                return False
            outside = {n: lookup(value, n) for n in names_read(source.node)}
            return self._only_computes(source.node, outside)
        return callable(value)

    def _only_computes(self, fn: Node, outside: Mapping[str, Any] | None = None) -> bool:
        """Say whether an inner function, or one with names of its own, calls only what is pure."""
        if not isinstance(fn, gast.FunctionDef | gast.Lambda | gast.Constant):
            return False
        for n in walk(fn):
            if isinstance(n, gast.Call):
                plain = isinstance(n.func, gast.Name) and outside is not None
                if not (is_pure(outside.get(n.func.id)) if plain else self(n)):  # type: ignore[union-attr]
                    return False
            if isinstance(n, gast.NamedExpr | gast.Nonlocal | gast.Global | gast.Yield):
                return False
            if isinstance(n, gast.Subscript | gast.Attribute) and not isinstance(n.ctx, gast.Load):
                return False
        return True

    def _known(self, func: Node) -> bool:
        path = _path(func)
        if path not in self._cache:
            root = path.split(".")[0]
            module_ = self.d.refs.modules.get(root)
            if module_ is not None and "." in path:
                value: Any = module_
                for part in path.split(".")[1:]:
                    value = getattr(value, part, None)
            else:
                value = self.a.scope.path(func)
            rule = registry.rule_for(value)
            known = rule is not None and not rule.calls and is_quiet(value)
            self._cache[path] = (
                known or is_pure(value) or any(value is fn for fn in self.d.repeatable)
            )
        return self._cache[path]


def is_pure(fn: Any) -> bool:
    """Say whether a function is declared to do nothing but give its value."""
    return registry.effects_of(fn).is_pure


def _path(node: Node) -> str:
    if isinstance(node, gast.Name):
        return str(node.id)
    if isinstance(node, gast.Attribute):
        return f"{_path(node.value)}.{node.attr}"
    return "?"
