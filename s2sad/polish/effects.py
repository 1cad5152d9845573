"""What statements read, write and do besides: asked by every pass of this room.

A write into a part of something (`x_bar[i] += v`, `xs.append(v)`) counts as a write of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gast

from s2sad import registry
from s2sad.nodes import Node, blocks_of, survey, walk
from s2sad.stages import Comment, Replay, RestorePart, Undo

Pure = Callable[[Node], bool]
Sharing = Mapping[str, frozenset[str]]
_INTO = ("add_into", "put_into", "take_from_shadow")


class Effects(NamedTuple):
    """Names read and written (parts included), and whether unknown code may run.

    `named` are the names written by name; `writes` also has those that share their memory.
    `spoilt` are those whose memory calls change while the statement is evaluated.
    """

    reads: frozenset[str]
    writes: frozenset[str]
    unknown: bool
    named: frozenset[str]
    spoilt: frozenset[str]


@dataclass
class _Seen:
    """What is written in a statement: names read, names bound, names of what is changed, calls."""

    reads: set[str]
    bound: set[str]
    changed: set[str]
    spoilt: set[str] = field(default_factory=set)
    unknown: bool = False

    def add(self, inner: _Seen) -> None:
        self.reads |= inner.reads
        self.bound |= inner.bound
        self.changed |= inner.changed
        self.spoilt |= inner.spoilt
        self.unknown = self.unknown or inner.unknown


class EffectTable:
    """Remembers the effects of statements by identity; `pure` judges calls.

    Where it has a method `changes`, that says what a call of a reverse changes in place.
    """

    def __init__(self, pure: Pure, sharing: Sharing | None = None) -> None:
        self.pure = pure
        self.changes = getattr(pure, "changes", _nothing)
        self.sharing = sharing or {}
        self._table: dict[Any, Effects] = {}
        self._looked: dict[Any, _Seen] = {}

    def of(self, statement: Node) -> Effects:
        """Return the effects of a statement."""
        known = self._table.get(statement)
        if known is None:
            known = self._table[statement] = self._compute(statement)
        return known

    def names(self, statement: Node) -> tuple[set[str], set[str]]:
        """Return the names that a statement reads, and those that it binds."""
        seen = self._seen(statement)
        return seen.reads, seen.bound

    def forget(self, statement: Node, inside: bool = True) -> None:
        """Forget a statement that has been changed, and those inside it."""
        self._table.pop(statement, None)
        self._looked.pop(statement, None)
        if inside:
            for part in blocks_of(statement):
                for s in part:
                    self.forget(s)

    def _compute(self, statement: Node) -> Effects:
        if isinstance(statement, Comment):
            return _NONE
        seen = self._seen(statement)
        unknown = seen.unknown or isinstance(statement, _ABRUPT)
        if not seen.changed:
            bound = frozenset(seen.bound)
            return Effects(frozenset(seen.reads), bound, unknown, bound, _NOTHING)
        named = frozenset(w for w in seen.bound | seen.changed if w)
        writes = set(named)
        for n in seen.changed:
            writes |= self.sharing.get(n, _NOTHING)
        spoilt = seen.spoilt.union(*(self.sharing.get(n, _NOTHING) for n in seen.spoilt))
        reads, all_writes = frozenset(seen.reads), frozenset(writes)
        return Effects(reads, all_writes, unknown, named, frozenset(spoilt))

    def _seen(self, statement: Node) -> _Seen:
        """Look at a statement; those inside it that are known are not looked at again."""
        known = self._looked.get(statement)
        if known is not None:
            return known
        kind = type(statement)
        if kind is gast.If or kind is gast.While:
            seen = self._look(statement.test)
        elif kind is gast.For:
            seen = self._look(statement.iter)
            seen.add(self._look(statement.target))
        else:
            seen = self._looked[statement] = self._look(statement)
            return seen
        for s in (*statement.body, *statement.orelse):
            seen.add(self._seen(s))
        self._looked[statement] = seen
        return seen

    def _look(self, node: Node) -> _Seen:
        read, bound, others = survey(node)
        changed: set[str] = set()
        seen = _Seen(read, bound, changed)
        for n in others:
            kind = type(n)
            if kind is gast.Call:
                owner = mutated_by(n)
                seen.spoilt |= self.changes(n) | ({owner} if owner is not None else set())
                changed |= seen.spoilt
                if owner is None and not self.pure(n):
                    seen.unknown = True
            elif kind is gast.Subscript or kind is gast.Attribute:
                if isinstance(n.ctx, _CHANGING):
                    changed.add(root(n))
            elif kind is gast.AugAssign and isinstance(n.target, gast.Name):
                changed.add(n.target.id)
            elif kind is Undo:
                changed.add(n.name)
            elif kind is RestorePart or kind is Replay:
                changed |= {root(n.place)} | {s for s in n.sharing if "@" not in s}
        return seen


_CHANGING = (gast.Store, gast.Del)
_ABRUPT = (gast.Raise, gast.Assert, gast.With, gast.Try)
_NOTHING: frozenset[str] = frozenset()
_NONE = Effects(_NOTHING, _NOTHING, False, _NOTHING, _NOTHING)


def _nothing(node: Node) -> set[str]:
    del node
    return set()


def mutated_by(node: Node) -> str | None:
    """Return the variable that a call changes in place: xs in xs.append(x), x in np.add.at(x)."""
    func = node.func
    if isinstance(func, gast.Name) and func.id.startswith(_INTO) and node.args:
        place = node.args[0]
        if isinstance(place, gast.Call) and place.args:
            place = place.args[0]  # shadow_of(shadows, x): all that is in `shadows`
        return root(place)
    if not isinstance(func, gast.Attribute):
        return None
    if func.attr == "at" and node.args and isinstance(node.args[0], gast.Name):
        return str(node.args[0].id)
    if func.attr == "__setattr__" and node.args and isinstance(node.args[0], gast.Name):
        return str(node.args[0].id)
    if registry.method_writes(func.attr) and isinstance(func.value, gast.Name | gast.Subscript):
        return root(func.value)
    return None


def root(node: Node) -> str:
    """Return the variable through which a place is reached."""
    while isinstance(node, gast.Subscript | gast.Attribute):
        node = node.value
    return node.id if isinstance(node, gast.Name) else ""


def pure_expression(node: Node, pure: Pure) -> bool:
    """Say whether evaluating an expression does nothing but give its value."""
    for n in walk(node):
        if isinstance(n, gast.Call) and not pure_call(n, pure):
            return False
        if isinstance(n, gast.NamedExpr | gast.Await | gast.Yield | gast.YieldFrom):
            return False
    return True


def pure_call(node: Node, pure: Pure) -> bool:
    """Say whether a call, its arguments aside, does nothing but give its value."""
    changes = getattr(pure, "changes", _nothing)
    return mutated_by(node) is None and pure(node) and not changes(node)


def is_compound(statement: Node) -> bool:
    """Say whether a statement contains blocks."""
    return bool(blocks_of(statement)) or isinstance(statement, gast.FunctionDef)
