"""Names without holes: what polishing has left over is numbered again from the start.

t_2_bar = h_bar * (1.0 - h * h)      ->      t_bar = h_bar * (1.0 - h * h)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import gast

from s2sad.names import Names
from s2sad.nodes import Node, children, rename

_NUMBER = re.compile(r"(?<=[A-Za-z])(_\d+)+(?=$|_bar|_saved|_left)")
_OLD = re.compile(r"^(.+)_(\d+)$")


def compact(definition: Node, users: frozenset[str]) -> Node:
    """Rename in place what the transformer made up in a definition; `users` names stay."""
    found = list(dict.fromkeys(_names(definition)))
    bound = {
        n.id
        for n in _ordered(definition)
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store | gast.Param)
    }
    made_up = [n for n in found if n in bound and n not in users]
    names = Names(n for n in found if n not in made_up)
    names.take(*users)
    table = {}
    for n in made_up:
        table[n] = _fresh(n, names, users)
    rename(definition, {old: new for old, new in table.items() if old != new})
    return definition


def _fresh(name: str, names: Names, users: frozenset[str]) -> str:
    old = _OLD.match(name)
    if old and old[1] in users:
        return names.numbered(old[1])
    stem = name[: -len("_bar")] if name.endswith("_bar") else name
    base = name if stem in users else _NUMBER.sub("", name)
    return names.fresh(base)


def _ordered(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from _ordered(child)


def _names(node: Node) -> Iterator[str]:
    for n in _ordered(node):
        if isinstance(n, gast.Name):
            yield n.id
        elif isinstance(n, gast.FunctionDef):
            yield n.name
