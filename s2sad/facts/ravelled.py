"""Structures as one vector, and back: ravel written out as what it is equal to.

v, unravel = ravel(p)    ->    w = p["w"]
                               end = w.size
                               shape = w.shape
                               v = np.concatenate((np.ravel(w), ...))
                               unravel = lambda v: {"w": np.reshape(v[0:end].copy(), shape), ...}
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import tree
from s2sad.facts.operators import Pullback
from s2sad.facts.rewrite import HelpedRewriter, NumPy
from s2sad.facts.trees import is_leaf, part_of, stays, steps_of
from s2sad.kinds import Kind
from s2sad.known.built import read
from s2sad.nodes import Block, Node, assign, attribute, call, clone, constant, name, subscript
from s2sad.stages import Function, KindFacts

_WHY = "what ravel gives for a structure whose parts are not known, or a list of unknown length"


def ravel_kind(args: Sequence[Kind]) -> Kind:
    """Return the kind of a call of ravel: a vector, and what gives the structure again."""
    leaves = list(_leaves(args[0])) if len(args) == 1 else [None]
    dtypes = [_dtype(k) for k in leaves if k is not None]
    if None in leaves or None in dtypes:
        return K.Unknown(_WHY)
    dtype = np.result_type(*dtypes).name if dtypes else "float64"
    vector = K.Array(dtype, (K.fresh_dim(),))
    return K.Tuple((vector, Pullback("the way back from a vector", gives=args[0])))


def _leaves(kind: Kind) -> Iterator[Kind | None]:
    """Yield the kinds of the numbers in a structure, in order; None for what is not known."""
    if is_leaf(kind):
        yield kind
    elif not stays(kind):
        steps = _in_order(kind)
        if steps is None:
            yield None
        for step in steps or ():
            yield from _leaves(part_of(kind, step))


def _in_order(kind: Kind) -> list[Any] | None:
    """Return what leads to the parts of a structure, of which the order and number are known."""
    if isinstance(kind, K.Obj):
        fields = dataclasses.fields(kind.cls) if dataclasses.is_dataclass(kind.cls) else ()
        if [f.name for f in fields] != [n for n, _ in kind.fields]:
            return None
    if isinstance(kind, K.List) and kind.items is None:
        return None if kind.length is None else list(range(kind.length))
    return None if isinstance(kind, K.OpenDict) else steps_of(kind)


def _dtype(kind: Kind) -> Any:
    """Return the dtype that a number has in the vector; None where it is not known."""
    if isinstance(kind, K.Array):
        return kind.dtype if kind.namespace == "numpy" else None
    if isinstance(kind, K.Num):
        whole = {"float": "float64", "complex": "complex128"}[kind.type]
        return whole if kind.dtype in (None, "any") else kind.dtype
    return None


def ravelled(
    function: Function,
    kinds: KindFacts,
    taken: set[str],
    numpy: NumPy,
    helper: Callable[[Any], str],
) -> Function | None:
    """Return the function with calls of ravel written out, None where there are none."""
    return _Ravelled(function, kinds, taken, numpy, helper).rewritten()


@dataclass(frozen=True)
class _Leaf:
    """A number or an array in a structure: the variable that holds it, and its place."""

    held: str
    kind: Kind
    start: Node
    stop: Node


class _Ravelled(HelpedRewriter):
    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        taken: set[str],
        numpy: NumPy,
        helper: Callable[[Any], str],
    ) -> None:
        super().__init__(function, kinds, taken, numpy, helper)
        self.found: list[_Leaf] = []

    def statement(self, s: Node) -> Block | None:
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(value, gast.Call):
            return None
        if self.kinds.objects.get(value.func) is not tree.ravel or value.keywords:
            return None
        if len(value.args) != 1 or not isinstance(value.args[0], gast.Name):
            return None
        kind = self.kind(value.args[0])
        leaves = list(_leaves(kind))
        dtypes = {None if k is None else _dtype(k) for k in leaves}
        if not leaves or None in dtypes or len({np.dtype(t).kind for t in dtypes}) > 1:
            return None
        self.found = []
        vector = self.names.fresh("vector")
        lines, made = self._back(value.args[0], kind, vector)
        pieces: list[Node] = []
        for leaf in self.found:
            lines += self._piece(leaf)
            pieces.append(name(lines[-1].targets[0].id))
        lines += self.lines("pieces = v", v=gast.Tuple(pieces, gast.Load()))
        whole = call(f"{self.numpy()}.concatenate", name(lines[-1].targets[0].id))
        back = gast.Lambda(_one_parameter(vector), made)
        target = s.targets[0]
        both = isinstance(target, gast.Tuple) and len(target.elts) == 2
        if both and all(isinstance(e, gast.Name) for e in target.elts):
            one, other = (e.id for e in target.elts)
            return [*lines, assign(one, whole), assign(other, back)]
        lines += [*self.lines("flat = v", v=whole), *self.lines("unravel = v", v=back)]
        pair = [name(line.targets[0].id) for line in lines[-2:]]
        return [*lines, gast.Assign(s.targets, gast.Tuple(pair, gast.Load()), None)]

    def _piece(self, leaf: _Leaf) -> Block:
        held = name(leaf.held)
        if isinstance(leaf.kind, K.Array):
            return self.lines("piece = np.ravel(v)", v=held)
        listed = self.lines("listed = v", v=gast.List([held], gast.Load()))
        return [*listed, *self.lines("piece = np.array(v)", v=name(listed[0].targets[0].id))]

    def _back(self, place: Node, kind: Kind, vector: str) -> tuple[Block, Node]:
        """Return what reads the parts of a structure, and what makes it again of a vector."""
        if is_leaf(kind):
            return self._leaf(place, kind, vector)
        if stays(kind):
            return [], clone(place)
        lines: Block = []
        parts: list[Node] = []
        steps = _in_order(kind) or []
        for step in steps:
            part_there = K.Part(kind.how, step, part_of(kind, step))
            lines += self.lines("part = v", v=read(place, part_there))
            more, part = self._back(name(lines[-1].targets[0].id), part_there.kind, vector)
            lines += more
            parts.append(part)
        more, made = self.display(kind, place, parts)
        return [*lines, *more], made

    def _leaf(self, place: Node, kind: Kind, vector: str) -> tuple[Block, Node]:
        """Return what measures a number or an array, and what reads it from the vector."""
        start: Node = clone(self.found[-1].stop) if self.found else constant(0)
        lines: Block = []
        if isinstance(kind, K.Array):
            lines = self.lines("size = v.size", v=place)
            if len(self.found):
                lines += self.lines("stop = a + b", a=start, b=name(lines[-1].targets[0].id))
            stop: Node = name(lines[-1].targets[0].id)
        elif isinstance(start, gast.Constant):
            stop = constant(start.value + 1)
        else:
            lines = self.lines("stop = start + 1", start=start)
            stop = name(lines[-1].targets[0].id)
        self.found.append(_Leaf(place.id, kind, start, stop))
        if not isinstance(kind, K.Array):
            item = subscript(name(vector), clone(start))
            if kind.dtype is None:  # type: ignore[attr-defined]
                return lines, call(kind.type, item)  # type: ignore[attr-defined]
            return lines, item
        part = subscript(name(vector), gast.Slice(clone(start), clone(stop), None))
        dtype = attribute(name(self.numpy()), kind.dtype)
        part = gast.Call(attribute(part, "astype"), [dtype], [])
        if kind.rank != 1:
            shape = self.lines("shape = v.shape", v=place)
            lines += shape
            part = call(f"{self.numpy()}.reshape", part, name(shape[-1].targets[0].id))
        return lines, part


def _one_parameter(word: str) -> Node:
    return gast.arguments([gast.Name(word, gast.Param(), None, None)], [], None, [], [], None, [])
