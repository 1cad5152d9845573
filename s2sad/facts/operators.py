"""Operators inside a program: what they give, and calls of that as calls of derived functions.

    g = s2sad.grad(f)                            f_grad is what is derived of f, and is read
    t = g(x)                                ->   t = f_grad(x)
    t = s2sad.grad(lambda y: x * y)(1.0)    ->   t = lambda_grad(1.0, x=x)
    y, dy = s2sad.jvp(f, (x,), (v,))        ->   y, dy = f_jvp(x, v)

What an inner function captures is given to its derivative, so one derivative knows nothing of
another: the variables of each have their own names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import gast

from s2sad import kinds as K
from s2sad.derivative import (
    Applied,
    applies,
    derivative_of,
    is_decorated,
    is_operator,
)
from s2sad.errors import UnsupportedError
from s2sad.facts.bound import handed_on
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.kinds import MISSING, Kind
from s2sad.known.built import tangent_kind
from s2sad.nodes import (
    Block,
    Node,
    blocks_of,
    clone,
    constant,
    name,
    names_written,
    subscript,
    walk,
)
from s2sad.stages import Activity, Function, KindFacts

_GIVE = ("grad", "value_and_grad", "jacobian", "hessian")  # what they give is called
_SETTINGS = {"wrt", "has_aux", "mode"}
_NOT_LITERAL = K.Unknown(
    "the result of an operator whose settings (wrt=, has_aux=) are not literals"
)


@dataclass(frozen=True)
class Pullback(K.Unknown):
    """A pullback, before the call that makes it is written out: what it gives is known."""

    gives: Kind = K.UNKNOWN


def with_pullback(result: Kind, gives: list[Kind]) -> Kind:
    """Return the kind of a pair `(y, pullback)`, where kinds of cotangents are given."""
    if not gives or not isinstance(result, K.Tuple):
        return result
    value, pullback, *aux = result.items
    if not isinstance(pullback, K.Unknown):
        return result
    return K.Tuple((value, Pullback(pullback.why, gives=gives[0]), *aux))


class Stands(Protocol):
    """Makes functions that stand for derivatives: the same for the same."""

    def of(self, value: Any, asked: Applied) -> Any:
        """Return what stands for a derivative of an object; None where that is bound to more."""


class Read(Protocol):
    """Gives the derivative that a kind stands for in a call, and what it captures."""

    def __call__(
        self, target: Kind, args: list[Kind], keywords: Mapping[str, Kind], env: Mapping[str, Kind]
    ) -> tuple[Any, tuple[tuple[str, str], ...]] | None: ...


def applied_kind(
    stands: Stands,
    mode: str,
    args: list[Kind],
    keywords: Mapping[str, Kind],
    called: Callable[[Kind, list[Kind]], Kind],
) -> Kind:
    """Return the kind of a call of an operator; `called` gives that of a call of a function."""
    if not args:
        return K.Unknown(f"the result of {mode} without a function")
    if mode in _GIVE:
        wrt = literal_of(keywords.get("wrt", args[1] if len(args) > 1 else K.NONE))
        has_aux = literal_of(keywords.get("has_aux", K.Num("bool", None, False)))
        if wrt is MISSING or has_aux is MISSING or not keywords.keys() <= _SETTINGS:
            return _NOT_LITERAL
        return applied(stands, args[0], Applied(mode, wrt, bool(has_aux)))
    if mode == "vjp":
        asked = _vjp(args, keywords)
        return _NOT_LITERAL if asked is None else called(applied(stands, args[0], asked), args[1:])
    given = _along(args, keywords)
    if given is None:
        return K.Unknown(f"{mode} of primals and tangents that are not tuples of the same length")
    primals, chosen, has_aux = given
    if mode == "hvp":
        found = [tangent_kind(primals[i]) for i in chosen]
        return found[0] if len(found) == 1 else K.Tuple(tuple(found))
    value = called(args[0], list(primals))
    if isinstance(value, K.Unknown):
        return value
    if not has_aux:
        return K.Tuple((value, tangent_kind(value)))
    if not isinstance(value, K.Tuple) or len(value.items) != 2:
        return K.Unknown("jvp with has_aux=True of a function that does not return a pair")
    y, aux = value.items
    return K.Tuple((y, tangent_kind(y), aux))


def _vjp(args: list[Kind], keywords: Mapping[str, Kind]) -> Applied | None:
    wrt = literal_of(keywords.get("wrt", K.NONE))
    has_aux = literal_of(keywords.get("has_aux", K.Num("bool", None, False)))
    if wrt is MISSING or has_aux is MISSING or not keywords.keys() <= {"wrt", "has_aux"}:
        return None
    return Applied("vjp", wrt, bool(has_aux), len(args) - 1)


def _along(
    args: list[Kind], keywords: Mapping[str, Kind]
) -> tuple[tuple[Kind, ...], tuple[int, ...], bool] | None:
    """Return the kinds of primals, the positions of those that have tangents, and has_aux."""
    has_aux = literal_of(keywords.get("has_aux", K.Num("bool", None, False)))
    if len(args) != 3 or has_aux is MISSING or not keywords.keys() <= {"has_aux"}:
        return None
    primals, tangents = (
        k.items if isinstance(k, K.Tuple) else getattr(k, "items", None) for k in args[1:]
    )
    if primals is None or tangents is None or len(primals) != len(tangents):
        return None
    chosen = tuple(i for i, k in enumerate(tangents) if not isinstance(k, K.NoneKind))
    return (tuple(primals), chosen, bool(has_aux)) if chosen else None


def literal_of(kind: Kind) -> Any:
    """Return the value that a kind tells, where it does: a number, a string, None, a tuple."""
    if isinstance(kind, K.NoneKind):
        return None
    if isinstance(kind, K.Num | K.Str):
        return kind.value
    if isinstance(kind, K.Tuple):
        parts = tuple(map(literal_of, kind.items))
        return MISSING if MISSING in parts else parts
    return MISSING


def attribute_applied(stands: Stands, owner: Any, attr: str) -> Kind | None:
    """Return what an attribute of a decorated function gives: `loss.grad`."""
    if attr not in _GIVE or not is_decorated(owner):
        return None
    return applied(stands, K.Known(owner), Applied(attr))


def applied(stands: Stands, target: Kind, asked: Applied) -> Kind:
    """Return the kind of what an operator gives for a function."""
    if handed_on(target) is not None:
        return K.Unknown("the derivative of a function that has some arguments bound")
    if isinstance(target, K.LocalFunction):
        return replace(target, applied=(*target.applied, asked))
    if not isinstance(target, K.Known):
        return K.Unknown("the derivative of a value that may not be a function")
    made = stands.of(target.value, asked)
    if made is None:
        return K.Unknown("the derivative of a function that has some arguments bound")
    return K.Known(made)


def gives_derivative(fn: Any) -> bool:
    """Say whether a function is an operator that gives a derivative, and runs nothing."""
    return applies(fn) in _GIVE


def is_derivative(kind: Kind) -> bool:
    """Say whether a kind is that of what an operator gives."""
    if isinstance(kind, K.LocalFunction):
        return bool(kind.applied)
    if not isinstance(kind, K.Known):
        return False
    return derivative_of(kind.value) is not None or is_operator(kind.value)


def operators(
    function: Function,
    kinds: KindFacts,
    taken: set[str],
    numpy: NumPy,
    stands: Stands,
    read: Read,
    word: Callable[[Any], str],
) -> Function | None:
    """Return the function with calls of derivatives by name, None where there are none.

    `word` gives a derivative a name in the function.
    """
    found = _Operators(function, kinds, taken, numpy, stands, read, word).rewritten()
    return _without_unused(function if found is None else found, kinds, found is not None)


def _without_unused(function: Function, kinds: KindFacts, changed: bool) -> Function | None:
    """Leave out what an operator gives where nobody calls it by that name any more.

    Where calls were written out, so are inner functions left out that only operators were given.
    """
    again = True
    while again:
        again = False
        read = [n for s in function.node.body for n in walk(s) if isinstance(n, gast.Name)]
        used = {n.id for n in read if isinstance(n.ctx, gast.Load)}

        def block(body: Block, used: set[str] = used, functions: bool = changed) -> Block:
            nonlocal again
            out: Block = []
            for s in body:
                for part in blocks_of(s):
                    part[:] = block(part) or ([gast.Pass()] if part else [])
                if _defined(s, kinds, functions) in used:
                    out.append(s)
                else:
                    again = True
            return out

        used.add("")
        function.node.body[:] = block(function.node.body)
        changed = changed or again
    return function if changed else None


def _defined(s: Node, kinds: KindFacts, functions: bool) -> str:
    """Return the name of what an operator gives, or of an inner function, where that is bound.

    Nothing runs where it is, and nobody can tell that it is not.
    """
    if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
        plain = isinstance(s, gast.FunctionDef) and functions and _holds_names(s)
        return s.name if plain else ""
    if isinstance(s.value, gast.Call):
        gives = applies(kinds.objects.get(s.value.func)) in _GIVE
    else:
        gives = isinstance(s.value, gast.Lambda) and functions and _holds_names(s.value)
    return s.targets[0].id if gives else ""


def _holds_names(fn: Node) -> bool:
    """Say whether an inner function is made without running anything: defaults are plain."""
    defaults = [d for d in [*fn.args.defaults, *fn.args.kw_defaults] if d is not None]
    decorated = getattr(fn, "decorator_list", [])
    return not decorated and all(isinstance(d, gast.Name | gast.Constant) for d in defaults)


def _left_over(
    function: Function, kinds: KindFacts, activity: Activity
) -> tuple[Node, Node] | None:
    """Return a statement, and in it a call of a derivative that stays one, of what is active."""
    for s, after in kinds.after.items():
        written = names_written(s) & activity.after(s) if after is not None else set()
        for n in [n for e in _own(s) for n in walk(e)] if written else ():
            if not isinstance(n, gast.Call):
                continue
            called = applies(kinds.objects.get(n.func)) in ("vjp", "jvp", "hvp")
            if called or is_derivative(kinds.of.get(n.func, K.UNKNOWN)):
                return s, n
    return None


def refuse_left_over(function: Function, kinds: KindFacts, activity: Activity) -> None:
    """Refuse a call of a derivative, of what is active, that could not be read."""
    found = _left_over(function, kinds, activity)
    if found is None:
        return
    statement, node = found
    at = node if getattr(node, "lineno", None) else function.origins.get(statement, statement)
    raise UnsupportedError(
        "This call takes a derivative, but s2sad cannot tell which function is differentiated, or "
        "at which arguments, so it cannot differentiate the call.",
        remedy=("Give the operator a function by its name, literal settings, and plain arguments."),
        place=function.source.place(at),
    )


class _Operators(Rewriter):
    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        taken: set[str],
        numpy: NumPy,
        stands: Stands,
        read: Read,
        word: Callable[[Any], str],
    ) -> None:
        super().__init__(function, kinds, taken, numpy)
        self.stands = stands
        self.read = read
        self.word = word

    def statement(self, s: Node) -> Block | None:
        value = getattr(s, "value", None)
        env = self.kinds.before.get(s, {})
        if isinstance(s, gast.Assign) and isinstance(value, gast.Call):
            made = self._along(s, value, env)
            if made is not None:
                return made
        heads = [s.test] if isinstance(s, gast.If | gast.While) else []
        changed = False
        for n in [n for h in heads or _own(s) for n in walk(h) if isinstance(n, gast.Call)]:
            changed |= self._call(n, env)
        return [s] if changed else None

    def _call(self, node: Node, env: Mapping[str, Kind]) -> bool:
        """Let a call of a derivative be one of a derived function; say whether it was one."""
        target, args, named = self.kind(node.func), list(node.args), list(node.keywords)
        mode = applies(self.kinds.objects.get(node.func))
        if mode == "vjp":
            asked = _vjp([*map(self.kind, args)], {k.arg: self.kind(k.value) for k in named})
            if asked is None or not args:
                return False
            target, args, named = applied(self.stands, self.kind(args[0]), asked), args[1:], []
        if not is_derivative(target) or any(isinstance(a, gast.Starred) for a in args):
            return False
        made = self._made(target, args, named, env)
        if made is None:
            return False
        word, more = made
        node.func, node.args, node.keywords = name(word), args, [*named, *more]
        return True

    def _made(
        self, target: Kind, args: list[Node], named: list[Node], env: Mapping[str, Kind]
    ) -> tuple[str, list[Node]] | None:
        kinds = {k.arg: self.kind(k.value) for k in named}
        if None in kinds:
            return None
        found = self.read(target, [*map(self.kind, args)], kinds, env)
        if found is None:
            return None
        made, extra = found
        more = [gast.keyword(p, name(local)) for p, local in extra]
        if isinstance(target, K.LocalFunction):
            listed = [p.id for p in [*target.node.args.posonlyargs, *target.node.args.args]]
            given = {*listed[: len(args)], *kinds}
            missing = [(p, v) for p, v in target.defaults if p not in given]
            if any(not v for _, v in missing):
                return None
            more += [gast.keyword(p, name(v)) for p, v in missing]
        return self.word(made), more

    def _along(self, s: Node, node: Node, env: Mapping[str, Kind]) -> Block | None:
        """Return what stands for `jvp(f, primals, tangents)`, and for hvp."""
        mode = applies(self.kinds.objects.get(node.func))
        plain = all(isinstance(a, gast.Name | gast.Tuple) for a in node.args[1:])
        if mode not in ("jvp", "hvp") or not plain:
            return None
        named = {k.arg: self.kind(k.value) for k in node.keywords}
        given = _along([*map(self.kind, node.args)], named)
        if given is None or (named and mode == "hvp"):
            return None
        primals, chosen, has_aux = given
        target = self.kind(node.args[0])
        if mode == "hvp":
            wrt = chosen if len(chosen) > 1 else chosen[0]
            target = applied(self.stands, target, Applied("grad", wrt))
        target = applied(self.stands, target, Applied("jvp", chosen, has_aux))
        args = [_item(node.args[1], i) for i in range(len(primals))]
        found = None
        if is_derivative(target):
            found = self.read(target, list(primals), {}, env)
        if found is None:
            return None
        made, extra = found
        parameters = made.__code__.co_varnames
        keyword_only = made.__code__.co_kwonlyargcount
        count = made.__code__.co_argcount
        along = [_item(node.args[2], i) for i in chosen]
        more = [gast.keyword(p, name(local)) for p, local in extra]
        if keyword_only:
            last = parameters[count : count + keyword_only][-len(chosen) :]
            more += [gast.keyword(p, t) for p, t in zip(last, along, strict=True)]
        else:
            args += along
        call = gast.Call(name(self.word(made)), args, more)
        if mode == "jvp":
            return [gast.Assign(s.targets, call, None)]
        lines = self.lines("pair = v", v=call)
        part = subscript(name(lines[-1].targets[0].id), constant(1))
        return [*lines, gast.Assign(s.targets, part, None)]


def _item(node: Node, i: int) -> Node:
    return (
        clone(node.elts[i]) if isinstance(node, gast.Tuple) else subscript(clone(node), constant(i))
    )


def _own(s: Node) -> list[Node]:
    """Return the expressions of a statement, without the blocks in it."""
    found = [getattr(s, field, None) for field in ("value", "iter", "test", "target")]
    return [n for n in found if isinstance(n, gast.AST)]
