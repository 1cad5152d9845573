"""What fills a list in other ways than by a statement that appends to it.

    xs.extend(f(v) for v in ys if v > 0)    ->    for v in ys:
    xs += (f(v) for v in ys if v > 0)                 if v > 0: xs.append(f(v))
    solve(f, callback=xs.append)            ->    solve(f, callback=lambda item: xs.append(item))

Only where a variable surely is a list. A list that is extended by a generator gets its items one
by one anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sad.names import Names
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    all_inside,
    attribute,
    blocks_of,
    call,
    count_writes,
    locate,
    name,
    names_written,
    rename,
    walk,
)


def one_by_one(
    body: Block, denoted: Callable[[Node], Any], names: Names, candidates: set[str]
) -> None:
    """Write out what extends lists by generators, in place; `candidates` are no parameters."""
    lists = _lists(body, denoted) & candidates
    if lists:
        _block(body, lists, names)
        _handed_over(body, lists, names)


def _handed_over(body: Block, lists: set[str], names: Names) -> None:
    """A list's append that is an argument is a function that appends to the list."""
    counts = count_writes(body)
    made = {n for s in body if isinstance(s, gast.Assign) for n in names_written(s)}
    once = {n for n in lists & made if counts.get(n) == 1}
    for s in body:
        for n in walk(s):
            if not isinstance(n, gast.Call):
                continue
            n.args[:] = [_appender(a, once, names) for a in n.args]
            for k in n.keywords:
                k.value = _appender(k.value, once, names)


def _appender(node: Node, lists: set[str], names: Names) -> Node:
    if not isinstance(node, gast.Attribute) or node.attr != "append":
        return node
    if not isinstance(node.value, gast.Name) or node.value.id not in lists:
        return node
    item = names.fresh("item")
    param = gast.Name(item, gast.Param(), None, None)
    args = gast.arguments([param], [], None, [], [], None, [])
    made = gast.Lambda(args, gast.Call(node, [name(item)], []))
    for n in walk(made):
        if getattr(n, "lineno", None) is None:
            locate(n, node)
    return made


def _lists(body: Block, denoted: Callable[[Node], Any]) -> set[str]:
    """Return the variables to which nothing but new lists is assigned."""
    found: dict[str, bool] = {}
    for s in all_inside(body):
        if isinstance(s, SCOPES):
            return set()
        if blocks_of(s):
            bound = _bound_by_header(s)
        elif isinstance(s, gast.AugAssign):
            continue
        else:
            bound = names_written(s)
        for n in bound:
            plain = isinstance(s, gast.Assign) and len(s.targets) == 1
            plain = plain and isinstance(s.targets[0], gast.Name) and _is_list(s.value, denoted)
            found[n] = plain and found.get(n, True)
    return {n for n, plain in found.items() if plain}


def _bound_by_header(s: Node) -> set[str]:
    inside: set[str] = set()
    for part in blocks_of(s):
        for inner in part:
            inside |= names_written(inner)
    header = [getattr(s, "target", None), *(i.optional_vars for i in getattr(s, "items", ()))]
    bound = {n.id for h in header if h is not None for n in walk(h) if isinstance(n, gast.Name)}
    return bound | (names_written(s) - inside)


def _is_list(value: Node, denoted: Callable[[Node], Any]) -> bool:
    if isinstance(value, gast.List | gast.ListComp):
        return True
    return isinstance(value, gast.Call) and any(denoted(value.func) is f for f in (list, sorted))


def _block(body: Block, lists: set[str], names: Names) -> None:
    for at, s in enumerate(body):
        for part in blocks_of(s):
            _block(part, lists, names)
        found = _extends(s, lists)
        if found is not None:
            body[at] = _loop(s, *found, names)


def _extends(s: Node, lists: set[str]) -> tuple[str, Node] | None:
    """Return the list that a statement extends, and the generator that it is extended by."""
    owner: Node = None
    made: Node = None
    if isinstance(s, gast.AugAssign) and isinstance(s.op, gast.Add):
        owner, made = s.target, s.value
    elif isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
        func = s.value.func
        if isinstance(func, gast.Attribute) and func.attr == "extend" and len(s.value.args) == 1:
            owner, made = func.value, s.value.args[0]
    known = isinstance(owner, gast.Name) and owner.id in lists
    if not known or not isinstance(made, gast.GeneratorExp):
        return None
    strange = any(isinstance(n, (*SCOPES, gast.NamedExpr)) for n in walk(made))
    if strange or any(g.is_async for g in made.generators):
        return None
    return owner.id, made


def _loop(s: Node, xs: str, made: Node, names: Names) -> Node:
    bound = {n.id for g in made.generators for n in walk(g.target) if isinstance(n, gast.Name)}
    table = {n: names.fresh(n) for n in sorted(bound)}
    first = made.generators[0].iter
    made.generators[0].iter = gast.Constant(None, None)
    rename(made, table)
    made.generators[0].iter = first
    body: Block = [gast.Expr(call(attribute(name(xs), "append"), made.elt))]
    for g in reversed(made.generators):
        for test in reversed(g.ifs):
            body = [gast.If(test, body, [])]
        body = [gast.For(g.target, g.iter, body, [], None)]
    for n in walk(body[0]):
        if getattr(n, "lineno", None) is None:
            locate(n, s)
    return body[0]
