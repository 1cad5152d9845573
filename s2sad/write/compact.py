"""Names without holes: what polishing has left over is numbered again from the start.

t_2_bar = h_bar * (1.0 - h * h)      ->      t_bar = h_bar * (1.0 - h * h)

A tangent keeps the name of its variable: that of `t_1` is `t_1_dot`.
"""

from __future__ import annotations

import re

import gast

from s2sad.names import Names
from s2sad.nodes import Node, ordered, rename, walk

_NUMBER = re.compile(r"(?<=[A-Za-z])(_\d+)+(?=$|_bar|_dot|_saved|_left)")
_TANGENTS = ("_dots", "_dot")
_TANGENT = re.compile(r"_dots?(_\d+)*$")
_OLD = re.compile(r"^(.+)_(\d+)$")


def compact(
    definition: Node, users: frozenset[str], ours: frozenset[str] = frozenset()
) -> dict[str, str]:
    """Rename in place what the transformer made up in a definition; `users` names stay.

    Names that are `ours` stand for something else in the same text. Returns the names that others
    have taken the place of.
    """
    found: dict[str, None] = {}
    bound: set[str] = set()
    by_name = {n.arg for n in walk(definition) if isinstance(n, gast.keyword)}
    for n in ordered(definition):
        if isinstance(n, gast.Name):
            found[n.id] = None
            if isinstance(n.ctx, gast.Param) and (n.id in by_name or _TANGENT.search(n.id)):
                users |= {n.id}  # given by name
            if isinstance(n.ctx, gast.Store | gast.Param):
                bound.add(n.id)
        elif isinstance(n, gast.FunctionDef):
            found[n.name] = None
    made_up = [n for n in found if n in bound and n not in users]
    names = Names(found.keys() - set(made_up))
    names.take(*users, *ours)
    table: dict[str, str] = {}
    paired = {n: stem for n in made_up if (stem := _stem(n)) != n and stem in found}
    for n in made_up:
        if n not in paired:
            table[n] = _fresh(n, names, users)
    for n, stem in paired.items():
        table[n] = names.fresh(f"{table.get(stem, stem)}{n[len(stem) :]}")
    table = {old: new for old, new in table.items() if old != new}
    rename(definition, table)
    return table


def _stem(name: str) -> str:
    """Return the variable of which a name holds the tangent, or tangents in several directions."""
    for ending in _TANGENTS:
        name = name.removesuffix(ending)
    return name


def _fresh(name: str, names: Names, users: frozenset[str]) -> str:
    old = _OLD.match(name)
    if old and old[1] in users:
        return names.numbered(old[1])
    stem = name[: -len("_bar")] if name.endswith(("_bar", "_dot")) else name
    base = name if stem in users else _NUMBER.sub("", name)
    return names.fresh(base)
