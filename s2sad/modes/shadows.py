"""The reverse of a function that accumulates into shadows, on the very arrays that it is given.

    def f_reverse(A, B, n, A_bar, B_bar):      Duplicated(A, A_bar), Duplicated(B, B_bar), Const(n)
        ...                                    the forward sweep writes A and B, as f does
        ...                                    the backward sweep adds to A_bar and B_bar

Where the backward sweep puts back old content, the final content is kept and put back last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.modes.assemble import (
    Finish,
    Parts,
    all_bound,
    arguments_put_back,
    define,
    keep_outside,
    like,
    literal,
    result_apart,
    share,
)
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    block_writes,
    blocks_of,
    call,
    constant,
    name,
    store,
    subscript,
    tuple_,
)
from s2sad.stages import ANYWHERE, Comment, Places


@dataclass
class Shadows:
    """The caller's shadows: `direct` ones are cotangents, into others these are added at the end.

    Those that are `lent` are copied when the backward sweep starts, and get what the copies hold at
    its end. All give the name of the shadow by parameter; `active` are the parameters whose
    derivatives are returned.
    """

    direct: dict[str, str] = field(default_factory=dict)
    added: dict[str, str] = field(default_factory=dict)
    lent: dict[str, str] = field(default_factory=dict)
    active: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    places: Mapping[str, Places] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The shadows, in the order of their parameters."""
        known = self.direct | self.added | self.lent
        return [known[p] for p in self.order]


def reversal(
    p: Parts, finish: Finish, entry: str, doc: str, shadows: Shadows, seed: str | None
) -> Node:
    """Return one function that runs f, and accumulates into shadows."""
    function = p.analysed.function
    given, kept, put = _final_content(p, shadows.places)
    valued = not isinstance(p.analysed.kinds.result, K.NoneKind)
    last = _returned(p, shadows, valued)
    kept = [*kept, *(result_apart(p) if valued else [])]
    backward = [*_borrowed(p, shadows), *p.backward, *_given_back(p, shadows), *put]
    backward += _added(p, shadows)
    separator = [Comment("")] if backward else []
    body = [*given, *p.forward, *kept, *separator, *backward, *last]
    returned = {_bar(p, n) for n in shadows.active}
    body = finish(p, body, frozenset(), returned, p.made_up_names())
    body = _without_shadows(body, len(shadows.names))
    return define_with(function.node, entry, doc, body, [*shadows.names, *([seed] if seed else [])])


def shared_reversal(
    p: Parts, finish: Finish, entry: str, doc: str, shadows: Shadows, seed: str | None
) -> Node:
    """Return a function that runs f once and gives its value, and a pullback for each direction."""
    function = p.analysed.function
    params = [*([seed] if seed else []), *shadows.names]
    extra = p.made_up_names()
    last = _returned(p, shadows, False)
    inner = [*_borrowed(p, shadows), *p.backward, *_given_back(p, shadows)]
    inner += [*_added(p, shadows), *last]
    returned = {_bar(p, n) for n in shadows.active}
    inner = finish(p, inner, frozenset(), returned, extra)
    inner = _without_shadows(inner, len(shadows.names))
    inner = keep_outside(p, inner, frozenset(params)) or [gast.Pass()]
    pullback = p.names.fresh("pullback")
    definition = gast.FunctionDef(pullback, _parameters(params), inner, [], None, None)
    forward = all_bound(p, inner, frozenset(params))
    result = gast.Return(tuple_([name(function.result), name(pullback)]))
    body = [*forward, Comment(""), definition, Comment(""), result]
    body = finish(p, body, frozenset(), set(), extra)
    return define(function.node, entry, doc, body)


def _bar(p: Parts, parameter: str) -> str:
    return p.bars[p.wanted.index(parameter)]


def _returned(p: Parts, shadows: Shadows, with_value: bool) -> Block:
    """Return the return statement: the value, what is Active, and what the caller sees anyway.

    The shadows stand in it until the text is polished: what is added to them is wanted.
    """
    bars = [like(p, _bar(p, n)) for n in shadows.active]
    items: list[Node] = []
    if with_value or bars:
        items.append(name(p.analysed.function.result) if with_value else constant(None))
    return [gast.Return(tuple_([*items, *bars, *map(name, shadows.names)]))]


def _without_shadows(body: Block, count: int) -> Block:
    """Take the shadows out of the return statements."""
    out: Block = []
    for s in body:
        for part in blocks_of(s):
            part[:] = _without_shadows(part, count)
        if not isinstance(s, gast.Return):
            out.append(s)
            continue
        items = s.value.elts[: len(s.value.elts) - count]
        if items:
            out.append(gast.Return(items[0] if len(items) == 1 else tuple_(items)))
        elif s is not body[-1]:
            out.append(gast.Return(None))
    return out


def _added(p: Parts, shadows: Shadows) -> Block:
    """Add the cotangents of structures, and of names bound anew, into their shadows."""
    out: Block = []
    for parameter, shadow in shadows.added.items():
        bar = _bar(p, parameter)
        if isinstance(p.bar_kinds.get(bar), K.Array):
            out.append(gast.AugAssign(store(shadow), gast.Add(), name(bar)))
        else:
            helper = p.pure.d.refs.function(runtime.accumulate)
            out.append(gast.Expr(call(helper, name(shadow), name(bar))))
    return out


def _borrowed(p: Parts, shadows: Shadows) -> Block:
    """Copy the content of the shadows that are lent: built as what they belong to is at the end."""
    out: Block = []
    for parameter, shadow in shadows.lent.items():
        bar, put = _bar(p, parameter), p.pure.d.refs.function(runtime.put_into)
        zeros = call(p.pure.d.refs.function(runtime.zeros_like), name(parameter))
        out += [assign(bar, zeros), gast.Expr(call(put, name(bar), name(shadow)))]
    return out


def _given_back(p: Parts, shadows: Shadows) -> Block:
    """Leave in the shadows that were lent what is in their copies."""
    return [
        gast.Expr(call(p.pure.d.refs.function(runtime.put_into), name(shadow), name(_bar(p, n))))
        for n, shadow in shadows.lent.items()
    ]


def _final_content(p: Parts, places: Mapping[str, Places]) -> tuple[Block, Block, Block]:
    """Return what keeps the final content of arguments that are put back, and what restores it."""
    given: Block = []
    kept: Block = []
    put: Block = []
    d = p.pure.d
    rebound = block_writes(p.forward) | block_writes(p.backward)
    for parameter in _put_back(p):
        held = parameter
        plain = isinstance(_entry_kind(p, parameter), K.Array)
        replaced = not plain and (parameter in rebound or _replaced(p, parameter))
        if parameter in rebound or replaced:
            held = p.names.fresh(f"{parameter}_given")
            first: Node = name(parameter)
            if replaced:
                first = call(d.refs.function(runtime.held_by), first)
            given.append(assign(held, first))
            share(p.sharing, held, parameter)
        final = p.names.fresh(f"{parameter}_final")
        if plain:
            kept.append(assign(final, call(attribute(name(held), "copy"))))
            place = subscript(name(held), gast.Constant(Ellipsis, None))
            place.ctx = gast.Store()
            put.append(gast.Assign([place], name(final), None))
            continue
        share(p.sharing, final, parameter)
        if replaced:
            content = call(d.refs.function(runtime.content_of), name(held))
        else:
            at = map(literal, places.get(parameter, (ANYWHERE,)))
            content = call(d.refs.function(runtime.arrays_at), name(held), *at)
        kept.append(assign(final, content))
        put.append(gast.Expr(call(d.refs.function(runtime.put_into_place), name(final))))
    return given, kept, put


def _replaced(p: Parts, parameter: str) -> bool:
    """Say whether arrays that a parameter brings along may be replaced by others."""
    return any(not w.in_array and parameter in p.aliases.arguments(w) for w in p.aliases.writes)


def _put_back(p: Parts) -> list[str]:
    """Return the parameters whose memory the backward sweep may change."""
    function = p.analysed.function
    found = arguments_put_back(p, p.backward)
    for write in p.aliases.writes:
        if not write.in_array:
            found |= p.aliases.arguments(write)
    return [n for n in function.params if n in found and _has_arrays(p, n)]


def _has_arrays(p: Parts, parameter: str) -> bool:
    kind = _entry_kind(p, parameter)
    return not isinstance(kind, K.Num | K.Str | K.NoneKind | K.Known)


def _entry_kind(p: Parts, parameter: str) -> K.Kind:
    entry: dict[str, K.Kind] = p.analysed.kinds.before[p.analysed.function.node.body[0]]
    return entry.get(parameter, K.UNKNOWN)


def define_with(original: Node, entry: str, doc: str, body: Block, extra: list[str]) -> Node:
    """Return a definition with further parameters: by position where that is possible."""
    node = define(original, entry, doc, body)
    params = _parameters(extra).args
    args = node.args
    if args.defaults or args.vararg or args.kwarg or args.kwonlyargs:
        args.kwonlyargs += params
        args.kw_defaults += [None] * len(params)
    else:
        args.args += params
    return node


def _parameters(names: list[str]) -> Node:
    params = [gast.Name(n, gast.Param(), None, None) for n in names]
    return gast.arguments(params, [], None, [], [], None, [])
