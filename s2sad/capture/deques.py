"""A deque that nobody else sees is a list.

    w = deque(maxlen=n)              ->    w = []
    w.append(x)                            w.append(x)
                                           if len(w) > n:
                                               w.pop(0)
    y = w.popleft()                        y = w.pop(0)

Where every use is one that a list would answer alike: indexed, looped over, summed, made an array,
or handed to a function that does no more.
"""

from __future__ import annotations

import builtins
import collections
import math
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad.capture.read import read
from s2sad.errors import Error
from s2sad.names import Names
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    all_inside,
    assign,
    attribute,
    block_writes,
    blocks_of,
    call,
    compare,
    constant,
    locate,
    name,
    names_written,
    same,
    uses_of,
    walk,
)

Denoted = Callable[[Node], Any]
_LOOKING: tuple[Any, ...] = (
    *(len, sum, max, min, sorted, list, tuple, enumerate, zip, reversed, any, all, bool),
    *(math.fsum, math.prod, np.array, np.asarray, np.mean, np.sum, np.stack, np.dot, np.median),
    *(np.max, np.min, np.std, np.var, np.concatenate, np.prod),
)
_METHODS = {"append": 1, "appendleft": 1, "pop": 0, "popleft": 0, "extend": 1, "clear": 0}


@dataclass(frozen=True)
class _Deque:
    """What is known of a variable that holds a deque: the name of its greatest length, if any."""

    longest: str | None


def as_lists(body: Block, denoted: Denoted, names: Names, candidates: set[str]) -> set[str]:
    """Let local deques be lists, in place; return the names of new variables."""
    if denoted(name("len")) is not len or denoted(name("list")) is not list:
        return set()
    there = candidates & _bound_to_deques(body, denoted)
    found = {n: made for n in there if (made := _makers(body, n, denoted)) is not None}
    known: dict[str, _Deque] = {}
    for n, made in sorted(found.items()):
        if not made or not all(_looks(u, n, denoted) for u in uses_of(body, n)):
            continue
        bounded = [_longest(s.value) is not None for s in made]
        if len(set(bounded)) > 1:
            continue
        known[n] = _Deque(names.fresh(f"{n}_maxlen") if bounded[0] else None)
    if known:
        _block(body, known, denoted)
    return {d.longest for d in known.values() if d.longest is not None}


def _bound_to_deques(body: Block, denoted: Denoted) -> set[str]:
    """Return the names that some statement binds to a deque."""
    return {
        s.targets[0].id
        for s in all_inside(body)
        if isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, gast.Call)
        and denoted(s.value.func) is collections.deque
    }


def _makers(body: Block, variable: str, denoted: Denoted) -> list[Node] | None:
    """Return the statements that bind a variable, if all of them make deques."""
    made = []
    for s in all_inside(body):
        if isinstance(s, SCOPES) and any(getattr(n, "id", "") == variable for n in walk(s)):
            return None
        header = [getattr(s, "target", None), *(i.optional_vars for i in getattr(s, "items", ()))]
        if blocks_of(s):
            if any(getattr(n, "id", "") == variable for h in header if h for n in walk(h)):
                return None
            continue
        if variable not in names_written(s):
            continue
        plain = isinstance(s, gast.Assign) and len(s.targets) == 1
        plain = plain and isinstance(s.targets[0], gast.Name) and isinstance(s.value, gast.Call)
        if not plain or denoted(s.value.func) is not collections.deque:
            return None
        args = s.value.args
        keywords = {k.arg for k in s.value.keywords}
        if len(args) > 2 or keywords - {"maxlen"} or (len(args) == 2 and keywords):
            return None
        if any(isinstance(a, gast.Starred) for a in args):
            return None
        made.append(s)
    return made


def _longest(made: Node) -> Node | None:
    given = made.args[1] if len(made.args) == 2 else None
    for k in made.keywords:
        given = k.value
    none = isinstance(given, gast.Constant) and given.value is None
    return None if none else given


def _looks(around: list[Node], variable: str, denoted: Denoted) -> bool:
    """Say whether a list would do where a deque stands."""
    use, *outer = around
    if any(isinstance(n, SCOPES) for n in around):
        return False
    if isinstance(use, gast.Subscript):
        plain = not isinstance(use.slice, gast.Slice | gast.Tuple)
        return plain and getattr(use.value, "id", "") == variable and not _deletes(use)
    if isinstance(use, gast.For | gast.comprehension):
        return getattr(use.iter, "id", "") == variable
    if isinstance(use, gast.If | gast.While):
        return True
    if isinstance(use, gast.UnaryOp):
        return isinstance(use.op, gast.Not)
    if isinstance(use, gast.Call):
        if any(denoted(use.func) is fn for fn in _LOOKING):
            return not use.keywords
        return _only_read(denoted(use.func), use, variable)
    if not isinstance(use, gast.Attribute):
        return False
    if use.attr == "maxlen":
        return True
    call_, statement = outer[0], outer[1] if len(outer) > 1 else None
    if not isinstance(call_, gast.Call) or call_.func is not use or call_.keywords:
        return False
    if len(call_.args) != _METHODS.get(use.attr, -1):
        return False
    return use.attr in ("pop", "popleft") or isinstance(statement, gast.Expr)


def _only_read(fn: Any, call_: Node, variable: str) -> bool:
    """Say whether a function of the user's, which gets a deque, would do the same with a list."""
    if not isinstance(fn, types.FunctionType) or hasattr(fn, "__wrapped__"):
        return False
    at = [i for i, a in enumerate(call_.args) if getattr(a, "id", "") == variable]
    handed = [*call_.args, *(k.value for k in call_.keywords)]
    if len(at) != 1 or any(isinstance(a, gast.Starred) for a in call_.args):
        return False
    if sum(getattr(n, "id", "") == variable for a in handed for n in walk(a)) != 1:
        return False
    try:
        node = read(fn).node
    except Error:
        return False
    parameters = [*node.args.posonlyargs, *node.args.args]
    if at[0] >= len(parameters) or node.decorator_list:
        return False
    own, code = parameters[at[0]].id, fn.__code__
    local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    visible = {**vars(builtins), **fn.__globals__}

    def denoted(node: Node) -> Any:
        if isinstance(node, gast.Name):
            return None if node.id in local else visible.get(node.id)
        owner = denoted(node.value) if isinstance(node, gast.Attribute) else None
        return getattr(owner, node.attr, None) if isinstance(owner, types.ModuleType) else None

    uses = uses_of(node.body, own)
    looked = all(not isinstance(u[0], gast.Attribute) and _looks(u, own, denoted) for u in uses)
    return looked and own not in block_writes(node.body)


def _deletes(place: Node) -> bool:
    return isinstance(place.ctx, gast.Del)


def _block(body: Block, known: dict[str, _Deque], denoted: Denoted) -> None:
    out: Block = []
    for s in body:
        for part in blocks_of(s):
            _block(part, known, denoted)
        lines = _made(s, known, denoted) or _changed(s, known)
        for line in lines:
            for n in walk(line):
                if getattr(n, "lineno", None) is None:
                    locate(n, s)
        out += lines
    body[:] = out
    for s in body:
        _taken(s, known)


def _made(s: Node, known: dict[str, _Deque], denoted: Denoted) -> Block | None:
    """Return what makes a list in the place of a deque, and remembers its greatest length."""
    target = s.targets[0] if isinstance(s, gast.Assign) else None
    if not isinstance(target, gast.Name) or target.id not in known:
        return None
    args, longest = s.value.args, _longest(s.value)
    plain = args and not (isinstance(args[0], gast.Tuple | gast.List) and not args[0].elts)
    listed = call("list", args[0]) if plain else gast.List([], gast.Load())
    if plain and isinstance(args[0], gast.List | gast.ListComp):
        listed = args[0]
    lines: Block = [assign(target.id, listed)]
    bound = known[target.id].longest
    if bound is None or longest is None:
        return lines
    lines.append(assign(bound, longest))
    if plain and not _fits(args[0], longest):
        lines.append(gast.While(_too_long(target.id, bound), [_drop(target.id, "first")], []))
    return lines


def _fits(items: Node, longest: Node) -> bool:
    """Say whether what a deque starts with is surely not too long."""
    if isinstance(items, gast.BinOp) and isinstance(items.op, gast.Mult):
        sides = (items.left, items.right)
        one = [n for n in sides if isinstance(n, gast.List) and len(n.elts) == 1]
        times = [n for n in sides if not isinstance(n, gast.List)]
        return len(one) == 1 and same(times[0], longest)
    display = isinstance(items, gast.List | gast.Tuple)
    if not display or any(isinstance(e, gast.Starred) for e in items.elts):
        return False
    return isinstance(longest, gast.Constant) and len(items.elts) <= longest.value


def _too_long(variable: str, bound: str) -> Node:
    return compare(call("len", name(variable)), gast.Gt, name(bound))


def _drop(variable: str, which: str) -> Node:
    place = [constant(0)] if which == "first" else []
    return gast.Expr(call(attribute(name(variable), "pop"), *place))


def _changed(s: Node, known: dict[str, _Deque]) -> Block:
    """Return what puts an item at an end of a list, and takes one off the other if it is full."""
    value = getattr(s, "value", None)
    func = getattr(value, "func", None)
    owner = getattr(getattr(func, "value", None), "id", None)
    if not isinstance(s, gast.Expr) or owner not in known or func is None or value is None:
        return [s]
    bound = known[owner].longest
    lines: Block = [s]
    if func.attr == "appendleft":
        insert = attribute(name(owner), "insert")
        lines = [gast.Expr(call(insert, constant(0), value.args[0]))]
    if bound is None or func.attr not in ("append", "appendleft", "extend"):
        return lines
    drop = _drop(owner, "last" if func.attr == "appendleft" else "first")
    over = _too_long(owner, bound)
    if func.attr == "extend":
        return [*lines, gast.While(over, [drop], [])]
    return [*lines, gast.If(over, [drop], [])]


def _taken(s: Node, known: dict[str, _Deque]) -> None:
    """Let `q.popleft()` be `q.pop(0)`, and `q.maxlen` the name that its value has."""
    for n in walk(s):
        if isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute):
            owner = getattr(n.func.value, "id", None)
            if owner in known and n.func.attr == "popleft":
                n.func.attr = "pop"
                n.args = [locate(constant(0), n)]
        for field, child in list(gast.iter_fields(n)):
            if not isinstance(child, gast.Attribute) or child.attr != "maxlen":
                continue
            held = known.get(getattr(child.value, "id", ""))
            if held is not None:
                shown = gast.Constant(None, None) if held.longest is None else name(held.longest)
                setattr(n, field, locate(shown, child))
        if isinstance(n, gast.Compare):
            n.comparators = [_bound_of(c, known) for c in n.comparators]


def _bound_of(node: Node, known: dict[str, _Deque]) -> Node:
    held = known.get(getattr(getattr(node, "value", None), "id", ""))
    if not isinstance(node, gast.Attribute) or node.attr != "maxlen" or held is None:
        return node
    shown = gast.Constant(None, None) if held.longest is None else name(held.longest)
    return locate(shown, node)
