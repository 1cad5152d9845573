"""Is a printed text the tree it was printed from?"""

from __future__ import annotations

import ast
from typing import Any

from s2sad.stages import Comment

# What Python's grammar does not carry, or what gast has in another place.
_LEFT_OUT = frozenset(["ctx", "kind", "type_comment", "type_ignores", "annotation", "simple"])
_FIELDS: dict[type, tuple[str, ...]] = {}


def same(ours: Any, parsed: Any) -> bool:
    """Compare a gast tree with what `ast.parse` made of its text.

    Contexts, positions, string kinds and comments do not count, and neither does how a negative
    number is spelt, a constant or the negation of one.
    """
    if isinstance(ours, list):
        return _same_lists(ours, parsed)
    if not isinstance(ours, ast.AST):
        return ours is parsed or _plain(ours) == _plain(parsed)
    return _same_nodes(ours, parsed)


def _same_nodes(ours: Any, parsed: Any) -> bool:
    cls: Any = type(ours)
    name = cls.__name__
    other = type(parsed).__name__
    if name != other:
        return _same_across(ours, name, parsed, other)
    if name == "Name":
        return bool(ours.id == parsed.id)
    if name == "Constant":
        return _same_constants(ours.value, parsed.value)
    if name == "JoinedStr":
        return _same_lists(_merged(ours.values), _merged(parsed.values))
    fields = _FIELDS.get(cls)
    if fields is None:
        fields = _FIELDS[cls] = tuple(f for f in cls._fields if f not in _LEFT_OUT)
    for field in fields:
        if not same(getattr(ours, field, None), getattr(parsed, field, None)):
            return False
    if name == "AnnAssign":
        return same(ours.annotation, parsed.annotation) and _simple(ours) == _simple(parsed)
    return True


def _same_lists(ours: list[Any], parsed: Any) -> bool:
    if any(type(item) is Comment for item in ours):
        ours = [item for item in ours if type(item) is not Comment]
    if not isinstance(parsed, list):
        return not ours and parsed is None
    if len(ours) != len(parsed):
        # A body of nothing but comments is printed with a `pass`.
        return not ours and len(parsed) == 1 and isinstance(parsed[0], ast.Pass)
    return all(map(same, ours, parsed))


def _same_across(ours: Any, name: str, parsed: Any, other: str) -> bool:
    """Compare nodes of two types that may mean the same."""
    if name == "Name":
        if other == "arg":
            mine, its = getattr(ours, "annotation", None), parsed.annotation
            return bool(ours.id == parsed.arg) and same(mine, its)
        return bool(ours.id == parsed)  # the name of an exception handler
    if name == "Constant" and other in ("UnaryOp", "BinOp"):
        try:
            return _same_constants(ours.value, ast.literal_eval(parsed))
        except ValueError:
            return False
    return False


def _same_constants(ours: object, parsed: object) -> bool:
    if type(ours) is not type(parsed):
        return False
    # By repr: -0.0 is not 0.0.
    return ours == parsed if isinstance(ours, str) else repr(ours) == repr(parsed)


def _plain(value: Any) -> Any:
    return None if value == [] or value == 0 else value


def _simple(node: Any) -> bool:
    return type(node.target).__name__ == "Name" and bool(getattr(node, "simple", 1))


def _merged(values: list[Any]) -> list[Any]:
    """Return the parts of an f-string with neighbouring texts made one and empty ones dropped."""
    merged: list[Any] = []
    for value in values:
        if type(value).__name__ != "Constant":
            merged.append(value)
        elif value.value == "":
            continue
        elif merged and isinstance(merged[-1], ast.Constant):
            merged[-1] = ast.Constant(merged[-1].value + value.value)
        else:
            merged.append(ast.Constant(value.value))
    return merged
