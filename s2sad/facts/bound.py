"""Operators on functions that are bound to more than their arguments, as on lambdas.

    h = lambda *rest: f(2.0, *rest)            bound = lambda y: f(2.0, y)
    g = s2sad.grad(h)                  ->      g = s2sad.grad(bound)
    m_loss = lambda *rest: m.loss(*rest)       bound = lambda w, x: m.loss(w, x)
    g = s2sad.grad(m_loss)             ->      g = s2sad.grad(bound)

The first is what partial(f, 2.0) has become, the second the bound method m.loss. By which argument
a derivative is, is said by position or name, so the lambda has those of the function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.derivative import applies
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.kinds import Kind
from s2sad.nodes import Block, Node, all_inside, assign, clone, locate, name, walk
from s2sad.stages import Function, KindFacts
from s2sad.syntax.spelled import paths

Method = Callable[[Kind, str], Any]
Signature = Callable[[Any], "inspect.Signature | None"]
Unwrap = Callable[[Any], Any]
P = inspect.Parameter


def bound(
    function: Function,
    kinds: KindFacts,
    taken: set[str],
    numpy: NumPy,
    method: Method,
    signature: Signature,
    unwrap: Unwrap,
) -> Function | None:
    """Return the function with operators on lambdas in such places, None where there are none.

    `method` gives the function that an attribute of an instance is in its class, or None;
    `unwrap` the function behind an object, and what that brings along.
    """
    return _Bound(function, kinds, taken, numpy, method, signature, unwrap).rewritten()


class _Bound(Rewriter):
    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        taken: set[str],
        numpy: NumPy,
        method: Method,
        signature: Signature,
        unwrap: Unwrap,
    ) -> None:
        super().__init__(function, kinds, taken, numpy)
        self.unwrap = unwrap
        self.signature = signature
        self.method = method
        self.made = {
            s.targets[0].id: s.value
            for s in all_inside(function.node.body)
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        }

    def statement(self, s: Node) -> Block | None:
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(value, gast.Call) or not value.args:
            return None
        given = value.args[0]
        if not applies(self.kinds.objects.get(value.func)) or not isinstance(given, gast.Name):
            return None
        made = self._known(given) or self._partial(s, given)
        if made is None:
            return None
        held = self.names.fresh("bound")
        self.temps.add(held)
        value.args[0] = locate(name(held), given)
        return [assign(held, locate(made, given)), s]

    def _known(self, given: Node) -> Node | None:
        """Return a lambda for a bound method or a partial that is there before the program runs."""
        kind = self.kind(given)
        callee = self.unwrap(kind.value) if isinstance(kind, K.Known) else None
        if callee is None or not (callee.args or callee.kwargs):
            return None
        found = next(paths(self.function, kind.value), None)  # type: ignore[attr-defined]
        place = found if found is not None else self.made.get(given.id)
        if place is None or isinstance(place, gast.Subscript):
            return None
        return self._lambda(callee.fn, len(callee.args), set(callee.kwargs), clone(place))

    def _partial(self, s: Node, given: Node) -> Node | None:
        """Return a lambda with plain parameters for one that hands on all that it is given."""
        kind = self.kind(given)
        call = handed_on(kind)
        if call is None or kind.applied:  # type: ignore[attr-defined]
            return None
        known = self.kinds.before.get(s, {})
        node = kind.node  # type: ignore[attr-defined]
        target: Any = None
        skipped = 0
        if isinstance(call.func, gast.Name):
            target = known.get(call.func.id)
        elif isinstance(call.func, gast.Attribute) and isinstance(call.func.value, gast.Name):
            owner = known.get(call.func.value.id, K.UNKNOWN)
            target, skipped = self.method(owner, call.func.attr), 1
        if isinstance(target, K.Known):
            callee = self.unwrap(target.value)
            target = None if callee is None or callee.args or callee.kwargs else callee.fn
        if target is None or (isinstance(target, Kind) and not isinstance(target, K.LocalFunction)):
            return None
        bound = {k.arg for k in call.keywords}
        made = self._lambda(target, skipped + len(call.args) - 1, bound, clone(call.func))
        if made is None:
            return None
        made.body.args[:0] = [clone(a) for a in call.args[:-1]]
        made.body.keywords += [clone(k) for k in call.keywords]
        made.args.kwonlyargs += [clone(p) for p in node.args.kwonlyargs]
        made.args.kw_defaults += [clone(d) for d in node.args.kw_defaults]
        return made

    def _lambda(self, fn: Any, skipped: int, given: set[str], place: Node) -> Node | None:
        """Return a lambda that calls what stands in a place; None where parameters are not plain.

        Of the function's parameters the first ones are not its own, nor those given by name.
        """
        signature = self.signature(fn)
        if signature is None:
            return None
        args = gast.arguments([], [], None, [], [], None, [])
        call = gast.Call(place, [], [])
        by_name = False
        for p in [*signature.parameters.values()][skipped:]:
            if p.name in given:
                by_name = True  # as are those after it
                continue
            plain = p.default is P.empty or isinstance(p.default, bool | int | float | str | None)
            if not plain or p.kind in (P.VAR_POSITIONAL, P.VAR_KEYWORD):
                return None
            own = gast.Name(p.name, gast.Param(), None, None)
            default = None if p.default is P.empty else gast.Constant(p.default, None)
            if by_name or p.kind is P.KEYWORD_ONLY:
                args.kwonlyargs.append(own)
                args.kw_defaults.append(default)
                call.keywords.append(gast.keyword(p.name, name(p.name)))
                continue
            args.args.append(own)
            args.defaults += [] if default is None else [default]
            call.args.append(name(p.name))
        clash = _names(place) & {p.id for p in [*args.args, *args.kwonlyargs]}
        return None if clash else gast.Lambda(args, call)


def handed_on(kind: Kind) -> Node | None:
    """Return the call in a lambda that only hands on what it is given, without what is named then.

    lambda *rest, **more: f(a, *rest, **{"k": k, **more})        ->        f(a, *rest, k=k)
    """
    node: Any = kind.node if isinstance(kind, K.LocalFunction) else None
    if not isinstance(node, gast.Lambda) or not (node.args.vararg and node.args.kwarg):
        return None
    call, own = node.body, (node.args.vararg.id, node.args.kwarg.id)
    if node.args.args or not isinstance(call, gast.Call) or len(call.keywords) != 1:
        return None
    more = call.keywords[0].value
    named = [*zip(more.keys, more.values, strict=True)] if isinstance(more, gast.Dict) else []
    last = named.pop()[1] if named else more
    first = call.args[-1].value if call.args and isinstance(call.args[-1], gast.Starred) else None
    if (getattr(first, "id", ""), getattr(last, "id", "")) != own or None in dict(named):
        return None
    keywords = [gast.keyword(key.value, value) for key, value in named]
    return gast.Call(call.func, call.args, keywords)


def _names(place: Node) -> set[str]:
    return {n.id for n in walk(place) if isinstance(n, gast.Name)}
