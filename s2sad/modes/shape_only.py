"""An array of which the backward sweep wants but the shape is not kept: its shape is.

t = x[i] * y                              t = x[i] * y
Save(t)                                   t_shape = t.shape
                                          Save(t_shape)
...                               ->      ...
Restore(t)                                Restore(t_shape)
y_bar += unbroadcast(v, t.shape)          y_bar += unbroadcast(v, t_shape)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.modes.storage import wanted
from s2sad.names import Names as Supply
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    block_writes,
    blocks_of,
    children,
    name,
)
from s2sad.stages import Restore, Save
from s2sad.syntax.flow import live_in

Names = frozenset[str]


def keep_shapes(
    forward: Block,
    backward: Block,
    live_out: Names,
    kinds: Mapping[str, Kind],
    names: Supply,
) -> None:
    """Let both sweeps, in place, keep shapes where nothing else of an array is wanted."""
    uses: dict[str, list[Node]] = {}
    others: set[str] = set(live_in(backward, live_out)) | live_out
    for s in backward:
        _look(s, uses, others)
    found = {n for n in uses.keys() - others if isinstance(kinds.get(n), K.Array)}
    if not found:
        return
    keys = {k: k[2] for k in wanted(backward, live_out) if k[0] in ("over", "death")}
    found &= set(keys.values())
    sure: set[object] = set()
    _bound_before(forward, sure)
    found -= {n for k, n in keys.items() if k not in sure}
    table: dict[Any, Node] = {}
    for n in sorted(found):
        shape = names.fresh(re.sub(r"_\d+$", "", n) + "_shape")
        chosen = {k for k, v in keys.items() if v == n}
        _save_shape(forward, n, shape, chosen)
        _restore_shape(backward, shape, chosen)
        table |= {use: name(shape) for use in uses[n]}
    renew(backward, table)


def _look(node: Node, uses: dict[str, list[Node]], others: set[str]) -> None:
    """Collect the places that read a name's shape, and the names used in any other way."""
    kind = type(node)
    if kind is Restore:
        return
    if kind is gast.Name:
        others.add(node.id)
    for child in children(node):
        if (
            type(child) is gast.Attribute
            and child.attr == "shape"
            and type(child.value) is gast.Name
        ):
            uses.setdefault(child.value.id, []).append(child)
        else:
            _look(child, uses, others)


def _bound_before(block: Block, sure: set[object]) -> None:
    """Collect the keys of the Saves before which the name is surely bound, in the same block."""
    bound: set[str] = set()
    for s in block:
        if isinstance(s, Save):
            if s.name in bound:
                sure.add(s.key)
        elif not blocks_of(s):
            bound |= block_writes([s])
        for part in blocks_of(s):
            _bound_before(part, sure)


def _save_shape(block: Block, n: str, shape: str, keys: set[Any]) -> None:
    for position in range(len(block) - 1, -1, -1):
        s = block[position]
        for part in blocks_of(s):
            _save_shape(part, n, shape, keys)
        if isinstance(s, Save) and s.key in keys:
            s.name = shape
            block.insert(position, assign(shape, attribute(name(n), "shape")))


def _restore_shape(block: Block, shape: str, keys: set[Any]) -> None:
    for s in block:
        if isinstance(s, Restore) and s.key in keys:
            s.name, s.ghosts = shape, frozenset()
        for part in blocks_of(s):
            _restore_shape(part, shape, keys)


def renew(node: object, table: Mapping[Any, Node]) -> None:
    """Put other expressions, in place, where those in a table stand."""
    if isinstance(node, list):
        for i, item in enumerate(node):
            if isinstance(item, gast.AST) and item in table:
                node[i] = table[item]
            else:
                renew(item, table)
    elif isinstance(node, gast.AST):
        for f in node._fields:
            child = getattr(node, f, None)
            if isinstance(child, gast.AST) and child in table:
                setattr(node, f, table[child])
            elif f not in ("ctx", "key", "sharing", "ghosts"):
                renew(child, table)
