"""Put the sweeps of a function together: one function, a function and its pullback, or a pair."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.flow import live_in
from s2sad.kinds import Kind
from s2sad.modes.storage import bind_unbound
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    block_writes,
    call,
    clone,
    constant,
    name,
    rename,
    subscript,
    tuple_,
    walk,
)
from s2sad.stages import Comment


@dataclass
class Parts:
    """The two sweeps of one function, stored and simplified, and what is known of their names."""

    analysed: Any
    names: Names
    forward: Block
    backward: Block
    bars: tuple[str, ...]
    kinds: dict[str, Kind]
    made_up: frozenset[str]
    pure: Any
    bar_kinds: dict[str, Kind]
    pinned: frozenset[str] = frozenset()
    shadows: frozenset[str] = frozenset()
    wanted: tuple[str, ...] = ()
    buffers: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()
    sharing: Mapping[str, frozenset[str]] = field(default_factory=dict)
    held: frozenset[str] = frozenset()
    ours: frozenset[str] = frozenset()
    copies: tuple[Any, ...] = ()

    def made_up_names(self) -> frozenset[str]:
        """Return the names that neither the user wrote nor a temporary of theirs holds."""
        return _made_up(self)

    def popped(self, block: Block) -> set[str]:
        """Return the lists that a block takes items from."""
        return _popped(block)


Finish = Callable[["Parts", Block, frozenset[str], "set[str]", frozenset[str]], Block]


def joint(
    p: Parts,
    finish: Finish,
    entry: str,
    doc: str,
    single: bool,
    with_value: bool,
    has_aux: bool = False,
) -> Node:
    """Return one function that runs both sweeps and returns the gradient, or value and gradient."""
    function = p.analysed.function
    gradient = result_of([_like(p, b) for b in p.bars], single)
    extra = _made_up(p)
    forward = p.forward
    if with_value:
        value = name(function.result)
        last = gast.Return(tuple_([value, gradient]))
    elif has_aux:
        last = gast.Return(tuple_([gradient, subscript(name(function.result), constant(1))]))
    else:
        last = gast.Return(gradient)
    backward = p.backward
    separator = [Comment("")] if backward else []
    body = [*forward, *separator, *backward, last]
    body = finish(p, body, frozenset(), set(p.bars), extra)
    return define(function.node, entry, doc, body)


def vjp(
    p: Parts, finish: Finish, entry: str, doc: str, single: bool, seed: str, has_aux: bool
) -> Node:
    """Return a function that gives the value and a pullback, which may be called again."""
    function = p.analysed.function
    extra = _made_up(p)
    backward = p.backward
    pullback_name = p.names.fresh("pullback")
    inner_last = gast.Return(result_of([_like(p, b) for b in p.bars], single))
    inner = finish(p, [*backward, inner_last], frozenset(), set(p.bars), extra)
    inner = _keep_outside(inner, seed, p.names)
    definition = gast.FunctionDef(pullback_name, _arguments([seed]), inner, [], None, None)
    value = name(function.result)
    if has_aux:
        parts = [subscript(value, constant(i)) for i in (0, 1)]
        last = gast.Return(tuple_([parts[0], name(pullback_name), parts[1]]))
    else:
        last = gast.Return(tuple_([value, name(pullback_name)]))
    copies = _private_copies(p, inner, seed)
    forward = _all_bound(p, inner, seed)
    body = [*copies, *forward, Comment(""), definition, Comment(""), last]
    body = finish(p, body, frozenset(), set(), extra)
    _protect_value(body, p, inner)
    return define(function.node, entry, doc, body)


def _made_up(p: Parts) -> frozenset[str]:
    """Return the names that neither the user wrote nor a temporary of theirs holds."""
    written = block_writes(p.forward) | block_writes(p.backward)
    own = set(p.analysed.function.locals) - set(p.analysed.function.temps)
    return frozenset(written - own)


def _keep_outside(inner: Block, seed: str, names: Names) -> Block:
    """A pullback binds no name that it reads from outside: those get names of its own."""
    free = live_in(inner, frozenset())
    bound = block_writes(inner)
    out: Block = []
    table: dict[str, str] = {}
    mutated = _popped(inner)
    for n in sorted((free & bound) | (mutated & free)):
        if n == seed:
            continue
        fresh = names.fresh(f"{n}_left") if n in mutated else names.numbered(n)
        table[n] = fresh
        value: Node = name(n)
        if n in mutated:
            value = call(attribute(value, "copy"))
        out.append(assign(fresh, value))
    if not table:
        return inner
    start = len(out)
    for s in inner:
        rename(s, table)
    del start
    return [*out, *inner]


def _all_bound(p: Parts, inner: Block, seed: str) -> Block:
    """Return the forward sweep with everything bound that the pullback copies when it starts."""
    free = live_in(inner, frozenset()) - {seed}
    own = block_writes(p.forward) & free
    stacks = {n for s in inner for n in _copied(s)} & own
    look = gast.Expr(tuple_(name(n) for n in sorted(own)))
    params = set(p.analysed.function.params)
    return bind_unbound([*p.forward, look], params, set(own), stacks)[:-1]


def _copied(s: Node) -> set[str]:
    """Return the names whose .copy() a statement takes."""
    return {
        n.func.value.id
        for n in walk(s)
        if isinstance(n, gast.Call)
        and isinstance(n.func, gast.Attribute)
        and n.func.attr == "copy"
        and isinstance(n.func.value, gast.Name)
    }


def _popped(block: Block) -> set[str]:
    found: set[str] = set()
    for s in block:
        for n in walk(s):
            if (
                isinstance(n, gast.Call)
                and isinstance(n.func, gast.Attribute)
                and n.func.attr == "pop"
                and isinstance(n.func.value, gast.Name)
            ):
                found.add(n.func.value.id)
    return found


def _private_copies(p: Parts, inner: Block, seed: str) -> Block:
    """Copy the arrays among the arguments that the pullback reads: the caller may change them."""
    free = live_in(inner, frozenset()) - {seed}
    out: Block = []
    for param in p.analysed.function.params:
        kind = p.kinds.get(param)
        if param in free and isinstance(kind, K.Array):
            out.append(assign(param, call(attribute(name(param), "copy"))))
        elif param in free and isinstance(kind, K.List | K.Tuple | K.Dict | K.Obj):
            helper = p.pure.d.refs.function(runtime.private)
            out.append(assign(param, call(helper, name(param))))
    return out


def _protect_value(body: Block, p: Parts, inner: Block) -> None:
    """Return a copy of the value where the pullback reads the same array."""
    last = body[-1]
    value = last.value.elts[0]
    free = live_in(inner, frozenset())
    kind = p.kinds.get(p.analysed.function.result)
    if isinstance(kind, K.Array) and isinstance(value, gast.Name) and value.id in free:
        last.value.elts[0] = call(attribute(value, "copy"))


def _like(p: Parts, bar: str) -> Node:
    """Return a cotangent in the class of its parameter, where that is a named tuple."""
    kind = p.bar_kinds.get(bar)
    if not isinstance(kind, K.Tuple) or kind.cls is None:
        return name(bar)
    param = p.wanted[p.bars.index(bar)]
    return gast.Call(call("type", name(param)), [gast.Starred(name(bar), gast.Load())], [])


def result_of(bars: list[Node], single: bool) -> Node:
    """Return one cotangent bare, several as a tuple."""
    return bars[0] if single else tuple_(bars)


def wrapped(doc: str) -> str:
    """Return a docstring in lines that fit."""
    if len(doc) <= 88:
        return doc
    return "\n    ".join(textwrap.wrap(doc, 92)) + "\n    "


def define(original: Node, entry: str, doc: str, body: Block) -> Node:
    """Return the definition of a derived function with the parameters of the original."""
    while body and isinstance(body[0], Comment) and not body[0].text:
        body = body[1:]
    args = clone(original.args)
    for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]:
        if a is not None:
            a.annotation = None
    docstring = gast.Expr(gast.Constant(wrapped(doc), None))
    return gast.FunctionDef(entry, args, [docstring, *body], [], None, None)


def _arguments(names: list[str]) -> Node:
    params = [gast.Name(n, gast.Param(), None, None) for n in names]
    return gast.arguments(params, [], None, [], [], None, [])
