"""The parameters that a call of a user's function fills, inner functions included."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.capture.fitted import fitted, is_of_any_shape, takes_shape
from s2sad.capture.read import unwrap
from s2sad.derivative import Applied, Derivative, stand_in
from s2sad.errors import Place
from s2sad.facts.members import dispatched, is_generic
from s2sad.facts.operators import literal_of
from s2sad.kinds import Kind
from s2sad.nodes import Node, clone
from s2sad.stages import KindFacts, each_kind


def call_signature(facts: KindFacts) -> Callable[[Node], inspect.Signature | None]:
    """Return what tells the parameters that a call of a user's function may fill."""

    def signature(node: Node) -> inspect.Signature | None:
        method = facts.methods.get(node)
        kind = facts.of.get(node.func, K.UNKNOWN)
        skip = 0
        if method is not None:
            fn, skip = method[0], 1
        elif isinstance(kind, K.LocalFunction):
            fn = kind
        elif isinstance(kind, K.Known) and isinstance(kind.value, type):
            made = getattr(kind.value, "__init__", None), getattr(kind.value, "__new__", None)
            ours = any(isinstance(how, types.FunctionType) for how in made)
            fn = kind.value
            if not ours or registry.is_foreign(fn):
                return None
        elif isinstance(kind, K.Known):
            callee = unwrap(kind.value)
            if callee is None or callee.kwargs or registry.is_foreign(callee.fn):
                return None
            fn, skip = callee.fn, len(callee.args)
        else:
            return None
        whole = signature_of(fn)
        if whole is None:
            return None
        return whole.replace(parameters=list(whole.parameters.values())[skip:])

    return signature


def library_signature(facts: KindFacts) -> Callable[[Node], inspect.Signature | None]:
    """Return what tells the arrays that a call of a library's function must get, by its rule.

    None where it may get more arrays than those, or any number of them.
    """

    def signature(node: Node) -> inspect.Signature | None:
        fn: Any = getattr(facts.of.get(node.func, K.UNKNOWN), "value", None)
        rule = None if fn is None else registry.rule_for(fn)
        if rule is None or rule.calls:
            return None
        if isinstance(fn, np.ufunc):
            words = [f"x{i}" for i in range(1, fn.nin + 1)]
            return inspect.Signature([inspect.Parameter(w, _BY_PLACE) for w in words])
        written = rule.partials or rule.pullback
        own = None if written is None else signature_of(written)
        try:
            whole = inspect.signature(fn)
        except (TypeError, ValueError):
            return None
        if own is None:
            return None
        lead = 1 if rule.partials else 2
        arrays = [p for p in own.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        found = [
            p for p in whole.parameters.values() if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)
        ]
        needed = [p for p in found if p.default is p.empty or p.default is np._NoValue]
        if len(arrays) - lead != len(needed) or any(p.kind is p.VAR_POSITIONAL for p in found):
            return None
        return inspect.Signature([p.replace(kind=_BY_PLACE, default=p.empty) for p in needed])

    return signature


_BY_PLACE = inspect.Parameter.POSITIONAL_ONLY


def signature_of(fn: Any) -> inspect.Signature | None:
    """Return the signature of a function or inner function."""
    if not isinstance(fn, K.LocalFunction):
        try:
            return inspect.signature(fn, follow_wrapped=False)
        except (TypeError, ValueError):
            return None
    makes = getattr(fn.node, "makes", None)
    if makes is not None:
        whole = inspect.signature(makes.__init__, follow_wrapped=False)
        return whole.replace(parameters=list(whole.parameters.values())[1:])
    a = fn.node.args
    P = inspect.Parameter
    out: list[inspect.Parameter] = []
    positional = [*a.posonlyargs, *a.args]
    defaults: list[Any] = [P.empty] * (len(positional) - len(a.defaults)) + list(a.defaults)
    for n, default in zip(positional, defaults, strict=True):
        only = n in a.posonlyargs
        kind = P.POSITIONAL_ONLY if only else P.POSITIONAL_OR_KEYWORD
        out.append(P(n.id, kind, default=_literal(default)))
    if a.vararg:
        out.append(P(a.vararg.id, P.VAR_POSITIONAL))
    for n, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        value = P.empty if default is None else _literal(default)
        out.append(P(n.id, P.KEYWORD_ONLY, default=value))
    if a.kwarg:
        out.append(P(a.kwarg.id, P.VAR_KEYWORD))
    return inspect.Signature(out)


def _literal(node: Any) -> Any:
    if node is inspect.Parameter.empty:
        return node
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.UnaryOp) and isinstance(node.operand, gast.Constant):
        return -node.operand.value
    return K.MISSING


class Stands:
    """Functions that stand for derivatives: the same for the same."""

    def __init__(self) -> None:
        self._made: dict[Any, Any] = {}

    def of(self, value: Any, asked: Applied) -> Any:
        """Return what stands for a derivative of an object; None where that is bound to more."""
        if takes_shape(value, asked.wrt, asked.mode in ("vjp", "jvp")):
            made = LaterOn(self, value, asked)
            return self._made.setdefault((id(value), repr(asked)), made)
        callee = unwrap(value)
        if callee is None or callee.args or callee.kwargs:
            return None
        wrt = callee.wrt if asked.wrt is None else asked.wrt
        key = (callee.fn, asked.mode, repr((wrt, callee.wrt)), asked.has_aux, asked.given)
        if key not in self._made:
            derivative = Derivative(callee.fn, replace(asked, wrt=wrt), declared=callee.wrt)
            self._made[key] = stand_in(derivative)
        return self._made[key]


@dataclass(frozen=True)
class LaterOn:
    """A derivative of a function that takes any arguments: what it is, a call of it says."""

    __s2sad_operator__ = True
    __s2sad_any_shape__ = True

    stands: Stands
    value: Any
    asked: Applied

    def of(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Return what stands for the derivative of the function as it is called."""
        every = self.asked.mode in ("vjp", "jvp")
        return self.stands.of(fitted(self.value, args, kwargs, self.asked.wrt, every), self.asked)


def as_called_with(target: Any, args: Sequence[K.Kind], keywords: Mapping[str, K.Kind]) -> Any:
    """Return the kind of a function as a call calls it, where that takes any arguments."""
    value = getattr(target, "value", None)
    if value is None or not isinstance(target, K.Known):
        return target
    if is_generic(value):
        chosen = dispatched(value, args)
        return target if chosen is None else K.Known(chosen[0])
    given = {n: literal_of(k) for n, k in keywords.items()}
    if is_of_any_shape(value):
        made = value.of([*map(literal_of, args)], given)
        return target if made is None else K.Known(made)
    if registry.rule_for(value) is not None or not _is_method(value):
        return target
    return K.Known(fitted(value, [*map(literal_of, args)], given, None, every=True))


def _is_method(value: Any) -> bool:
    """Say whether a callable is a method of arrays that has a rule, or a partial of a rule's."""
    if isinstance(value, functools.partial):
        return registry.rule_for(value.func) is not None or _is_method(value.func)
    owner = getattr(value, "__self__", None)
    of_array = isinstance(owner, np.ndarray) and isinstance(value, types.BuiltinMethodType)
    if not of_array and getattr(value, "__objclass__", None) is not np.ndarray:
        return False
    return registry.method_function(value.__name__) is not None


@dataclass(frozen=True)
class LocalSource:
    """The source of a function defined inside another: read with its surroundings."""

    outer: Any
    name: str
    node: Any

    @property
    def fn(self) -> types.FunctionType:
        """The function in whose surroundings names are looked up."""
        return self.outer.fn  # type: ignore[no-any-return]

    @property
    def file(self) -> str:
        """The file it stands in."""
        return str(self.outer.file)

    def place(self, node: Any) -> Place:
        """Return the span of a node."""
        return self.outer.place(node)  # type: ignore[no-any-return]


def local_source(kind: K.LocalFunction) -> LocalSource:
    """Return the source of an inner function or lambda, as a definition."""
    node = kind.node
    args = clone(node.args)
    passed = {parameter for parameter, _ in kind.defaults}
    positional = [*args.posonlyargs, *args.args][-len(args.defaults) :]
    for parameters, defaults in ((positional, args.defaults), (args.kwonlyargs, args.kw_defaults)):
        # Worked out where the function is defined, these are passed by every call.
        for i, d in enumerate(defaults):
            if isinstance(d, gast.Name) and parameters[i].id in passed:
                defaults[i] = gast.Constant(None, None)
    if isinstance(node, gast.Lambda):
        body = gast.Return(clone(node.body))
        body.lineno, body.col_offset = node.lineno, node.col_offset
        body.end_lineno, body.end_col_offset = node.end_lineno, node.end_col_offset
        node = gast.FunctionDef("lambda_", args, [body], [], None, None)
        node.lineno, node.col_offset = body.lineno, body.col_offset
        node.end_lineno, node.end_col_offset = body.end_lineno, body.end_col_offset
        return LocalSource(kind.source, "lambda_", node)
    node = clone(node)
    node.makes = getattr(kind.node, "makes", None)
    node.args = args
    node.decorator_list = []
    return LocalSource(kind.source, node.name, node)


def arguments_by_name(
    fn: Any, args: list[Any], keywords: dict[str, Any], target: Kind
) -> dict[str, list[Any]]:
    """Return the argument nodes that each parameter of a function gets."""
    signature = signature_of(fn)
    brought: list[Any] = []
    named: dict[str, Any] = {}
    if isinstance(target, K.Known):
        callee = unwrap(target.value)
        if callee is not None:
            brought = [None] * len(callee.args)
            named = dict.fromkeys(callee.kwargs)
    if signature is None:
        return {}
    bound = signature.bind(*brought, *args, **{**named, **keywords})
    out: dict[str, list[Any]] = {}
    for n, value in bound.arguments.items():
        parts = value if isinstance(value, tuple) else [value]
        if isinstance(value, dict):
            parts = list(value.values())
        out[n] = [p for p in parts if isinstance(p, gast.AST)]
    return out


def all_kinds(facts: KindFacts) -> dict[str, Kind]:
    """Return the kinds that variables have anywhere in a function."""
    out: dict[str, Kind] = {}
    for n, k in each_kind(facts.after.values()):
        out[n] = K.join(out[n], k) if n in out else k
    return out
