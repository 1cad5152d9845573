"""A shadow shaped like a copy is shaped like the shadow of what was copied.

Tn = T.copy()                          Tn_bar = np.zeros_like(T_bar)
T[1:-1] = Tn[1:-1] + Tn[2:]     ->     (and not np.zeros_like(Tn): Tn need not be kept)
"""

from __future__ import annotations

from typing import Any

import gast

from s2sad.nodes import Block, Node, blocks_of, copied, name, names_written

LOOPS = (gast.For, gast.While)


def copies(body: Block, params: tuple[str, ...]) -> dict[str, str]:
    """Return the names that are bound by `v = u.copy()` alone, where u keeps its shape."""
    bound: dict[str, list[Any]] = {p: [None] for p in params}
    looped: set[str] = set()

    def visit(block: Block, inside: bool) -> None:
        for s in block:
            if isinstance(s, gast.For):
                for n in names_written(s.target):
                    bound.setdefault(n, []).append(s)
                    looped.add(n)
            parts = blocks_of(s)
            for part in parts:
                visit(part, inside or isinstance(s, LOOPS))
            if not parts:
                for n in names_written(s):
                    bound.setdefault(n, []).append(s)
                    if inside:
                        looped.add(n)

    visit(body, False)
    steady = {n for n, all_ in bound.items() if n not in looped and _steady(n, all_)}
    found: dict[str, str] = {}
    for n, all_ in bound.items():
        source = _copied_from(all_[0]) if len(all_) == 1 else None
        if source is not None and source != n and source in steady:
            found[n] = source
    return found


def _steady(n: str, bindings: list[Any]) -> bool:
    """Say whether a name has one shape: bound once, or anew to a copy of itself."""
    return all(_copied_from(s) == n for s in bindings[1:])


def _copied_from(s: Any) -> str | None:
    if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
        return None
    source = copied(s.value)
    return source.id if isinstance(source, gast.Name) else None


def like_shadows(
    block: Block, table: dict[str, str], zeros: str, bound: frozenset[str] = frozenset()
) -> Block:
    """Write np.zeros_like(T_bar) for np.zeros_like(Tn), where T_bar is surely set.

    `table` says for Tn which shadow has its shape; `zeros` is how zeros_like is written.
    """
    known = set(bound)
    for s in block:
        for part in blocks_of(s):
            like_shadows(part, table, zeros, frozenset(known))
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            _relike(s, table, zeros, known)
            known.add(s.targets[0].id)
    return block


def _relike(s: Node, table: dict[str, str], zeros: str, known: set[str]) -> None:
    value = s.value
    if not isinstance(value, gast.Call) or len(value.args) != 1 or value.keywords:
        return
    func, argument = value.func, value.args[0]
    if not isinstance(func, gast.Attribute) or func.attr != "zeros_like":
        return
    if not isinstance(func.value, gast.Name) or func.value.id != zeros:
        return
    if isinstance(argument, gast.Name) and table.get(argument.id) in known:
        value.args[0] = name(table[argument.id])
