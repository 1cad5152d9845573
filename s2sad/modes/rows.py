"""Rows that nobody asks for again: of arrays that a loop fills, each round a row of its own.

    for t in range(n):                      saved.append(h[t + 1].copy())
        h[t + 1] = np.tanh(W @ h[t])   ->   h[t + 1] = np.tanh(W @ h[t])       (the copy goes)
    ...
    for t in range(n - 1, -1, -1):
        t_bar = h_bar[t + 1].copy()
        h_bar[t + 1] = 0.0                                                     (goes)
        h[t + 1] = saved.pop()                                                 (goes)
        h_bar[t] += W.T @ (t_bar * (1.0 - tanh * tanh))

The backward sweep comes to lower and lower rows. Once it has undone `h[t + 1]` it looks at row t
and those below it: what is in row t + 1, and what its cotangent is, does not matter any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import runtime
from s2sad.known.callees import Callees
from s2sad.nodes import (
    Block,
    Node,
    block_writes,
    blocks_of,
    children,
    count_writes,
    is_constant,
    names_read,
    names_written,
    number,
    walk,
)
from s2sad.stages import Comment, Function, Loop, Replay, Restore, RestorePart, Save

Names = frozenset[str]
_SHAPE = frozenset({"shape", "size", "ndim", "dtype"})


@dataclass(frozen=True)
class _Span:
    """A loop that counts: the name of its index, the way it goes, and the least it comes to."""

    index: str
    way: int
    least: int


@dataclass(frozen=True)
class _Event:
    """A row that is looked at, or put back or cleared (`done`), in this loop or one inside it.

    The row is so far from the index of the loop (`row`), or always the same (`fixed`).
    """

    row: int | None
    fixed: int | None
    done: Any
    inner: bool


def forget_rows(
    backward: Block,
    function: Function,
    local: Callable[[str], Names | None],
    numbers: Names,
    callees: Callees,
) -> Block:
    """Return a backward sweep that does not put back, or clear, rows that nobody looks at again.

    `local` gives, for an array or a shadow that is the function's own, all that may share its
    memory; None for others. `numbers` are variables that hold numbers only.
    """
    for position, s in enumerate(backward):
        span = _span_of(s, function)
        if span is None:
            continue
        bases = {_base(place) for place in _undone(s.body)}
        for base in sorted(b for b in bases if b is not None):
            shared = local(base)
            if shared is None:
                continue
            shared = _with_views(backward, shared | {base}, numbers, callees)
            reader = _Reader(base, shared, span, callees)
            behind = list(reader.events(backward[position + 1 :]))
            _remove(s.body, _dead(list(reader.events(s.body)), behind, span))
    return backward


def _span_of(s: Node, function: Function) -> _Span | None:
    """Return how the loop counts that a statement runs backward."""
    loop = getattr(s, "undoes", None)
    if not isinstance(s, gast.For) or not isinstance(loop, gast.For):
        return None
    plan: Loop | None = function.loops.get(loop)
    if plan is None or plan.bounds is None or s.target.id != plan.index:
        return None
    if plan.index in block_writes(loop.body) | block_writes(s.body):
        return None
    bounds = plan.bounds
    step = number(bounds[2]) if len(bounds) == 3 else 1
    if type(step) is not int or not step:
        return None
    if len(bounds) == 1:
        return _Span(plan.index, 1, 0)
    end = number(bounds[0] if step > 0 else bounds[1])
    if type(end) is not int:
        return None
    return _Span(plan.index, 1, end) if step > 0 else _Span(plan.index, -1, end + 1)


def _undone(block: Block) -> Iterator[Node]:
    """Yield the places that a block puts back or clears."""
    for s in block:
        place = _place(s)
        if place is not None:
            yield place
        for part in blocks_of(s):
            yield from _undone(part)


def _place(s: Node) -> Node | None:
    """Return what a statement puts back or clears, if it does only that."""
    if isinstance(s, RestorePart) and not isinstance(s, Replay):
        return s.place
    if isinstance(s, gast.Assign) and is_constant(s.value) and number(s.value) == 0.0:
        return s.targets[0]
    return None


def _base(place: Node) -> str | None:
    if isinstance(place, gast.Subscript) and isinstance(place.value, gast.Name):
        return str(place.value.id)
    return None


def _event(place: Node, span: _Span, done: Any, inner: bool) -> _Event:
    """Return what is done with a place, as far as its first index tells the row."""
    first = place.slice.elts[0] if isinstance(place.slice, gast.Tuple) else place.slice
    sign, by = 1, number(first)
    if type(by) is int:
        return _Event(None, by, done, inner)
    by = 0
    if isinstance(first, gast.BinOp) and isinstance(first.op, gast.Add | gast.Sub):
        sign = -1 if isinstance(first.op, gast.Sub) else 1
        first, by = first.left, number(first.right)
    if isinstance(first, gast.Name) and first.id == span.index and type(by) is int:
        return _Event(sign * by, None, done, inner)
    return _Event(None, None, done, inner)


class _Reader:
    """Reads what the backward sweep does with one array; `shared` may be views of it."""

    def __init__(self, base: str, shared: Names, span: _Span, callees: Callees) -> None:
        self.callees = callees
        self.base = base
        self.shared = shared | {base}
        self.span = span

    def events(
        self, block: Block, inner: bool = False, views: dict[str, Node] | None = None
    ) -> Iterator[_Event]:
        """Yield what a block does, in the order of the text; `views` are rows that names hold."""
        views = {} if views is None else views
        for s in block:
            place = _place(s)
            if place is not None and _base(place) == self.base:
                yield _event(place, self.span, s, inner)
                continue
            if blocks_of(s):
                for n in children(s):
                    if isinstance(n, gast.expr):
                        yield from self.looks(n, inner, views)
                loop = isinstance(s, gast.For | gast.While)
                bound = block_writes([s])
                before = {n: v for n, v in views.items() if not loop or n not in bound}
                for part in blocks_of(s):
                    yield from self.events(part, inner or loop, dict(before))
            else:
                bound = names_written(s)
                if not isinstance(s, Comment | Save | Restore):
                    yield from self.looks(s, inner, views)
            for n in bound:
                views.pop(n, None)
            if self._is_view(s):
                views[s.targets[0].id] = s.value

    def _is_view(self, s: Node) -> bool:
        """Say whether a statement gives a row a name."""
        return (
            isinstance(s, gast.Assign)
            and isinstance(s.targets[0], gast.Name)
            and _base(s.value) == self.base
        )

    def looks(self, node: Node, inner: bool, views: Mapping[str, Node]) -> Iterator[_Event]:
        """Yield the looks at an array's content in an expression or a plain statement."""
        if isinstance(node, gast.Subscript) and _base(node) == self.base:
            yield _event(node, self.span, None, inner)
            yield from self.looks(node.slice, inner, views)
            return
        if _asks_shape(node, self.callees):
            return
        if isinstance(node, gast.Name) and node.id in self.shared and _is_read(node):
            view = views.get(node.id)
            if view is None:
                yield _Event(None, None, None, inner)
            else:
                yield _event(view, self.span, None, inner)
        for child in children(node):
            yield from self.looks(child, inner, views)


def _with_views(block: Block, shared: Names, numbers: Names, callees: Callees) -> Names:
    """Return some names, and those that a block gives what may be memory of theirs."""
    found = shared
    while True:
        more = found | frozenset(_bound_to(block, found, callees)) - numbers
        if more == found:
            return found
        found = more


def _bound_to(block: Block, names: Names, callees: Callees) -> Iterator[str]:
    for s in block:
        if isinstance(s, gast.Assign) and names & _memory(s.value, callees):
            yield from names_written(s)
        for part in blocks_of(s):
            yield from _bound_to(part, names, callees)


def _memory(value: Node, callees: Callees) -> set[str]:
    """Return the names whose memory an expression's value may be, or hold."""
    if isinstance(value, gast.Name):
        return {value.id}
    if isinstance(value, gast.Subscript | gast.Attribute | gast.Starred):
        return _memory(value.value, callees)
    if isinstance(value, gast.BinOp | gast.UnaryOp | gast.Compare | gast.Constant):
        return set()
    if isinstance(value, gast.Call):
        if callees.is_new(value):
            return set()
        given = [*value.args, *(k.value for k in value.keywords)]
        owner = [value.func.value] if isinstance(value.func, gast.Attribute) else []
        return set().union(*(_memory(n, callees) for n in (*given, *owner)), set())
    return names_read(value)


def _is_read(variable: Node) -> bool:
    return not isinstance(variable.ctx, gast.Store)


def _asks_shape(node: Node, callees: Callees) -> bool:
    """Say whether an expression asks a variable for its shape only."""
    if isinstance(node, gast.Attribute) and node.attr in _SHAPE:
        return isinstance(node.value, gast.Name)
    if isinstance(node, gast.Call) and len(node.args) == 1 and not node.keywords:
        asked = callees.is_call(node, len, np.zeros_like, runtime.zeros_like)
        return asked and isinstance(node.args[0], gast.Name)
    return False


def _dead(events: list[_Event], behind: list[_Event], span: _Span) -> list[Any]:
    """Return the statements that put back or clear rows that are not looked at afterwards.

    `events` are those of the loop, `behind` those of what comes after it.
    """
    looks = [e for e in (*events, *behind) if e.done is None]
    if any(e.fixed is None and e.row is None for e in looks):
        return []
    if any(e.row is not None and (e in behind or span.least + e.row < 0) for e in looks):
        return []
    found = []
    for at, e in enumerate(events):
        if e.done is None or e.inner or e.row is None or span.least + e.row < 0:
            continue
        later = [x for x in events[at + 1 :] if x.done is None]
        if all(_missed(x, e.row, span) for x in looks) and all(x.row != e.row for x in later):
            found.append(e.done)
    return found


def _missed(look: _Event, own: int, span: _Span) -> bool:
    """Say whether no later round looks at the row that is `own` far from the index of this one."""
    if look.fixed is not None:
        return 0 <= look.fixed < span.least + own
    return look.row is not None and span.way * (look.row - own) <= 0


def _remove(block: Block, dead: list[Any]) -> None:
    block[:] = [s for s in block if not any(s is d for d in dead)]
    for s in block:
        for part in blocks_of(s):
            _remove(part, dead)


def own_memory(
    function: Function, sharing: Mapping[str, Names], outside: Names
) -> Callable[[str], Names | None]:
    """Return what says who may share the memory of an array, or a shadow, of the function's own.

    `sharing` has the names that share memory with arrays that are written, and with their shadows;
    `outside` are those that are seen from elsewhere.
    """
    counts = count_writes(function.node.body)
    captured = {
        x.id
        for n in walk(function.node)
        if isinstance(n, gast.FunctionDef | gast.Lambda) and n is not function.node
        for x in walk(n)
        if isinstance(x, gast.Name)
    }

    def local(base: str) -> Names | None:
        shared = sharing.get(base)
        if shared is None or base in outside or (shared | {base}) & (captured | outside):
            return None
        if base in function.locals and counts.get(base, 0) != 1:
            return None
        return shared | {base}

    return local
