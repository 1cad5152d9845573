"""Other orders of the keys of dicts: a text that is the same for them does not depend on it.

other_orders({"a": ..., "b": ..., "c": ...})    {"c": ..., "b": ..., "a": ...}
                                                {"b": ..., "c": ..., "a": ...}
                                                {"c": ..., "a": ..., "b": ...}
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

from s2sad import kinds as K
from s2sad.kinds import Kind

_Items = Sequence[tuple[object, Kind]]
_Turn = Callable[[_Items], _Items]
_MOVES = 3  # for each order a text is derived


def other_orders(kind: Kind) -> list[Kind]:
    """Return a kind with the keys of all dicts in it in other orders; none where it has no dicts.

    They tell what reads keys by their place: no key of several stays at its place in all of them,
    and no two stay in their order.
    """
    turned = _ordered(kind, lambda items: items[::-1])
    moved = (_ordered(kind, functools.partial(_moved, by=n)) for n in range(1, _MOVES + 1))
    return [other for other in dict.fromkeys((turned, *moved)) if other != kind]


def without_order(text: str) -> str:
    """Return what a text says, whatever the order in which displays of dicts have their keys."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and all(isinstance(k, ast.Constant) for k in node.keys):
            pairs = sorted(zip(node.keys, node.values, strict=True), key=_key)
            node.keys, node.values = [k for k, _ in pairs], [v for _, v in pairs]
    return ast.dump(tree)


def _key(pair: tuple[ast.expr | None, ast.expr]) -> str:
    key, _ = pair
    return repr(key.value) if isinstance(key, ast.Constant) else ""


def _moved(items: _Items, by: int) -> _Items:
    start = by % len(items) if items else 0
    return [*items[start:], *items[:start]]


def _ordered(kind: Kind, turn: _Turn) -> Kind:
    """Return a kind with the keys of all dicts in it in another order."""
    if isinstance(kind, K.Dict):
        return K.Dict(tuple((key, _ordered(k, turn)) for key, k in turn(kind.items)))
    if isinstance(kind, K.Obj):
        return replace(kind, fields=tuple((n, _ordered(k, turn)) for n, k in kind.fields))
    if isinstance(kind, K.Tuple):
        return replace(kind, items=tuple(_ordered(k, turn) for k in kind.items))
    if isinstance(kind, K.List):
        items = None if kind.items is None else tuple(_ordered(k, turn) for k in kind.items)
        return replace(kind, item=_ordered(kind.item, turn), items=items)
    if isinstance(kind, K.OpenDict):
        return replace(kind, item=_ordered(kind.item, turn))
    if isinstance(kind, K.Union):
        return replace(kind, options=tuple(_ordered(k, turn) for k in kind.options))
    return kind
