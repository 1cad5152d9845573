"""What a call gives goes straight to the names that keep it.

s_bar_1, p_bar = step_reverse(kept, s_bar)   ->   s_bar, p_bar = step_reverse(kept, s_bar)
s_bar = s_bar_1
"""

from __future__ import annotations

from collections import Counter

import gast

from s2sad.nodes import Block, Node, blocks_of, names_read, names_written, walk


def straighten(node: Node, users: frozenset[str]) -> None:
    """Rename, in place, targets of a tuple assignment that are read once: into another name.

    The names of the user's stay.
    """
    uses = Counter(n.id for n in walk(node) if isinstance(n, gast.Name) and n.id not in users)
    _block(node.body, uses)


def _block(body: Block, uses: Counter[str]) -> None:
    for s in body:
        for part in blocks_of(s):
            _block(part, uses)
    position = 0
    while position < len(body):
        target = _moved(body, position, uses)
        if target is None:
            position += 1
        else:
            target.id = body.pop(position).targets[0].id


def _moved(body: Block, position: int, uses: Counter[str]) -> Node | None:
    """Return the target that a statement `b = a` takes its value from, where b can stand there."""
    s = body[position]
    if not _is_move(s) or uses[s.value.id] != 2:
        return None
    old, new = s.value.id, s.targets[0].id
    for before in reversed(body[:position]):
        if isinstance(before, gast.Assign) and isinstance(before.targets[0], gast.Tuple):
            parts = before.targets[0].elts
            found = [p for p in parts if isinstance(p, gast.Name) and p.id == old]
            if found:
                return found[0] if new not in names_written(before.targets[0]) else None
        plain = isinstance(before, gast.Assign | gast.Expr) and not blocks_of(before)
        if not plain or new in names_read(before) | names_written(before):
            return None
    return None


def _is_move(s: Node) -> bool:
    return (
        isinstance(s, gast.Assign)
        and isinstance(s.value, gast.Name)
        and len(s.targets) == 1
        and isinstance(s.targets[0], gast.Name)
        and s.targets[0].id != s.value.id
    )
