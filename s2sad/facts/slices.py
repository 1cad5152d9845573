"""Which slices in a function are of one length: those by the same bounds, or by the same mask.

A[k, k + 1 :] * A[i, k + 1 :]      # of one length: k is the same number in both
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.kinds import Dim, Kind
from s2sad.nodes import Node, key, names_written, walk

_MARKS = (gast.operator, gast.unaryop, gast.expr_context)
_NUMBERS = (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, *_MARKS)


@dataclass
class Slices:
    """The lengths of the slices met so far, until names in their bounds are bound anew.

    Kept while the statements of a function are walked. `found` has the symbol of a slice by its
    text and the length that it is cut from, with the names in the text.
    """

    locals: frozenset[str]
    found: dict[Any, tuple[str, frozenset[str], bool]] = field(default_factory=dict)

    def named(
        self, result: Kind, owner: Kind, index: Node, parts: Any, of: Mapping[Any, Kind]
    ) -> Kind:
        """Return the kind of a slice of an array, with the lengths of equal slices before it.

        `of` has the kinds of the names in the index: an array without axes is no number, it may be
        written under any of its names.
        """
        if not isinstance(result, K.Array) or not isinstance(owner, K.Array):
            return result
        dims = list(result.dims)
        for position, part, dim in self._parts(owner, index, parts, of):
            names = frozenset(n.id for n in walk(part) if isinstance(n, gast.Name))
            if position >= len(dims) or not names <= self.locals:
                continue
            if dims[position].symbol.startswith("=") or dims[position].symbol == dim.symbol:
                continue
            text = key(part), dim.symbol, dim.cut
            mask = isinstance(part, gast.Name)
            symbol, *_ = self.found.setdefault(text, (dims[position].symbol, names, mask))
            dims[position] = replace(dims[position], symbol=symbol)
        return replace(result, dims=tuple(dims))

    def _parts(
        self, owner: K.Array, index: Node, kinds: Any, of: Mapping[Any, Kind]
    ) -> Iterator[tuple[int, Node, Dim]]:
        """Yield slices and masks in an index: the axis they give, and the length they cut from."""
        nodes = index.elts if isinstance(index, gast.Tuple) else [index]
        given = kinds if isinstance(kinds, tuple) else (kinds,)
        if len(nodes) == 1 and isinstance(given[0], K.Array):
            if given[0].dtype == "bool" and given[0].rank == 1 and isinstance(nodes[0], gast.Name):
                yield 0, nodes[0], owner.dims[0]
            return
        axis = position = 0
        for node, kind in zip(nodes, given, strict=True):
            if isinstance(kind, slice):
                bounds = (b for b in (node.lower, node.upper, node.step) if b is not None)
                if axis < owner.rank and all(_is_number(b, of) for b in bounds):
                    yield position, node, owner.dims[axis]
                axis, position = axis + 1, position + 1
            elif isinstance(kind, K.Num) and kind.type == "int":
                axis += 1
            else:
                return

    def after(self, s: Node, plain: bool) -> None:
        """Forget the slices by names that a statement binds; masks, too, if it is not `plain`."""
        written = names_written(s)
        for text, (_, names, mask) in list(self.found.items()):
            if names & written or (mask and not plain):
                del self.found[text]

    def copy(self) -> Slices:
        """Return what is known here, for one of several ways on."""
        return Slices(self.locals, dict(self.found))

    def meet(self, other: Slices) -> None:
        """Keep what is known on another way, too."""
        self.found = {t: f for t, f in self.found.items() if other.found.get(t) == f}


def _is_number(node: Node, of: Mapping[Any, Kind]) -> bool:
    names = (n for n in walk(node) if isinstance(n, gast.Name))
    return all(isinstance(n, _NUMBERS) for n in walk(node)) and all(
        isinstance(of.get(n), K.Num) for n in names
    )
