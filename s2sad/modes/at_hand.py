"""An array that is wanted for its shape only is not kept where an argument has that shape.

z = W @ x + b                            z = W @ x + b
saved.append(z)                ->
...                                      ...
z_bar = np.zeros_like(z)                 z_bar = np.zeros(len(W))

That an argument has the shape is known by the symbols of lengths: they stand for what the
arguments are as long as on entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.kinds import Dim, Kind
from s2sad.known.built import read
from s2sad.modes.shape_only import renew
from s2sad.modes.storage import wanted
from s2sad.nodes import (
    Block,
    Node,
    attribute,
    call,
    children,
    clone,
    constant,
    dotted,
    name,
    subscript,
)
from s2sad.stages import Restore

Shapes = list[tuple[Node, K.Array]]


def arrays_given(params: Mapping[str, Kind]) -> Shapes:
    """Return expressions for the arrays in some parameters, with their kinds."""
    return [found for p, kind in params.items() for found in _arrays(name(p), kind)]


def _arrays(node: Node, kind: Kind) -> Iterator[tuple[Node, K.Array]]:
    if isinstance(kind, K.Array):
        yield node, kind
    elif isinstance(kind, K.Tuple | K.Dict) and getattr(kind, "cls", None) is None:
        for part in kind.parts:
            if isinstance(part.step, str | int):
                yield from _arrays(read(node, part), part.kind)


def shapes_at_hand(
    backward: Block, kinds: Mapping[str, Kind], given: Shapes, live_out: frozenset[str], numpy: str
) -> None:
    """Ask, in place, arguments for the shapes of arrays that would be kept for nothing else."""
    uses: dict[str, list[Node]] = {}
    others: set[str] = set(live_out)
    for s in backward:
        _look(s, uses, others, numpy)
    table: dict[Any, Node] = {}
    kept = {k[2] for k in wanted(backward, live_out) if k[0] in ("over", "death")}
    for n in sorted(uses.keys() & kept - others):
        kind = kinds.get(n)
        if not isinstance(kind, K.Array):
            continue
        found = [_instead(use, kind, given, numpy) for use in uses[n]]
        if all(f is not None for f in found):
            table |= dict(zip(uses[n], found, strict=True))
    if table:
        renew(backward, table)


def _look(node: Node, uses: dict[str, list[Node]], others: set[str], numpy: str) -> None:
    """Collect the places that want a shape by a name, and the names used in any other way."""
    if isinstance(node, Restore):
        return
    if isinstance(node, gast.Name):
        others.add(node.id)
    for child in children(node):
        n = _shape_of(child, numpy)
        if n is not None:
            uses.setdefault(n, []).append(child)
        else:
            _look(child, uses, others, numpy)


def _shape_of(node: Node, numpy: str) -> str | None:
    """Return the name whose shape an expression asks for: x.shape, np.zeros_like(x)."""
    if isinstance(node, gast.Attribute) and node.attr == "shape":
        return node.value.id if isinstance(node.value, gast.Name) else None
    if not isinstance(node, gast.Call) or len(node.args) != 1 or node.keywords:
        return None
    func, arg = node.func, node.args[0]
    zeros = isinstance(func, gast.Attribute) and func.attr == "zeros_like"
    if not zeros or not isinstance(func.value, gast.Name) or func.value.id != numpy:
        return None
    return arg.id if isinstance(arg, gast.Name) else None


def _instead(use: Node, kind: K.Array, given: Shapes, numpy: str) -> Node | None:
    """Return what gives the shape, or zeros of it, without the array."""
    if isinstance(use, gast.Attribute):
        found = next((a for a, k in given if K.same_shape(k.dims, kind.dims)), None)
        return None if found is None else attribute(clone(found), "shape")
    if kind.rank != 1 or kind.dtype != "float64":
        return None  # how zeros_like lies in memory may matter
    length = next((f for a, k in given for f in _length(a, k, kind.dims[0])), None)
    return None if length is None else call(dotted(f"{numpy}.zeros"), length)


def _length(array: Node, kind: K.Array, dim: Dim) -> Iterator[Node]:
    """Yield how an argument tells a length."""
    for axis, known in enumerate(kind.dims):
        if K.same_length(known, dim):
            if axis == 0:
                yield call("len", clone(array))
            else:
                yield subscript(attribute(clone(array), "shape"), constant(axis))
