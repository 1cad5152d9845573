"""What a case of a match binds, as assignments: patterns themselves carry no derivative.

match p:                      match p:
    case Point(x, (y, _)):        case Point(_, (_, _)):
        ...                           x = p.x
                                      y = p.y[0]
                                      ...
"""

from __future__ import annotations

import builtins
from typing import Any

import gast

from s2sad.nodes import Node, attribute, call, clone, constant, subscript

Captures = list[tuple[str, Node]]
_WHOLE = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def without_captures(pattern: Node, subject: Node, fn: Any) -> tuple[Node, Captures] | None:
    """Return a pattern that binds nothing, and what it bound as expressions of the subject.

    None where that cannot be said, for example of alternatives that bind.
    """
    found: Captures = []
    made = _strip(pattern, subject, fn, found)
    return None if made is None else (made, found)


def _strip(pattern: Node, subject: Node, fn: Any, found: Captures) -> Node | None:
    if isinstance(pattern, gast.MatchAs):
        if pattern.name is not None:
            found.append((pattern.name, clone(subject)))
        if pattern.pattern is None:
            return gast.MatchAs(None, None)
        return _strip(pattern.pattern, subject, fn, found)
    if isinstance(pattern, gast.MatchValue | gast.MatchSingleton):
        return pattern
    if isinstance(pattern, gast.MatchSequence):
        return _sequence(pattern, subject, fn, found)
    if isinstance(pattern, gast.MatchMapping) and pattern.rest is None:
        parts = [
            _strip(p, subscript(clone(subject), clone(k)), fn, found)
            for k, p in zip(pattern.keys, pattern.patterns, strict=True)
        ]
        return None if None in parts else gast.MatchMapping(pattern.keys, parts, None)
    if isinstance(pattern, gast.MatchClass):
        return _class(pattern, subject, fn, found)
    if isinstance(pattern, gast.MatchOr):
        inner: Captures = []
        parts = [_strip(p, subject, fn, inner) for p in pattern.patterns]
        return None if inner or None in parts else gast.MatchOr(parts)
    return None


def _sequence(pattern: Node, subject: Node, fn: Any, found: Captures) -> Node | None:
    count = len(pattern.patterns)
    star = next((i for i, p in enumerate(pattern.patterns) if isinstance(p, gast.MatchStar)), count)
    parts: list[Node | None] = []
    for i, p in enumerate(pattern.patterns):
        if i == star:
            if p.name is not None:
                upper = constant(i + 1 - count) if i + 1 < count else None
                rest = subscript(clone(subject), gast.Slice(constant(i), upper, None))
                found.append((p.name, call("list", rest)))
            parts.append(gast.MatchStar(None))
            continue
        at = constant(i if i < star else i - count)
        parts.append(_strip(p, subscript(clone(subject), at), fn, found))
    return None if None in parts else gast.MatchSequence(parts)


def _class(pattern: Node, subject: Node, fn: Any, found: Captures) -> Node | None:
    names: tuple[str, ...] = ()
    if pattern.patterns:
        cls = _class_of(pattern.cls, fn)
        if cls in _WHOLE and len(pattern.patterns) == 1 and not pattern.kwd_patterns:
            inner = _strip(pattern.patterns[0], subject, fn, found)
            return None if inner is None else gast.MatchClass(pattern.cls, [inner], [], [])
        names = getattr(cls, "__match_args__", ())
        if len(names) < len(pattern.patterns):
            return None
    parts = [
        _strip(p, attribute(clone(subject), n), fn, found)
        for n, p in zip(names, pattern.patterns, strict=False)
    ]
    named = [
        _strip(p, attribute(clone(subject), n), fn, found)
        for n, p in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)
    ]
    if None in parts or None in named:
        return None
    return gast.MatchClass(pattern.cls, parts, pattern.kwd_attrs, named)


def _class_of(node: Node, fn: Any) -> Any:
    """Return the class that a pattern names, or None."""
    if isinstance(node, gast.Attribute):
        return getattr(_class_of(node.value, fn), node.attr, None)
    if not isinstance(node, gast.Name):
        return None
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    if node.id in cells:
        return cells[node.id].cell_contents
    return fn.__globals__.get(node.id, getattr(builtins, node.id, None))
