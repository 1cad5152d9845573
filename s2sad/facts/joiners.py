"""Indexing of NumPy's joiners, as the calls that it is equal to.

np.r_[x[0], x, 1:3]    ->    t = np.arange(1, 3)
                             np.concatenate(([x_item], x, t))
np.c_[x, y]            ->    np.column_stack((x, y))

What a joiner is told in a string, or by a step like `5j`, is left as it is: it is refused where a
derivative depends on it.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.facts.slices import row_dtypes
from s2sad.nodes import Block, Node, assign, attribute, call, clone, constant, name, tuple_
from s2sad.stages import Function, KindFacts


def plain_joins(
    function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy
) -> Function | None:
    """Return the function with joins as calls, None where there are none.

    `numpy()` gives the name that stands for NumPy in derived text.
    """
    return _Joins(function, kinds, taken, numpy).rewritten()


class _Joins(Rewriter):
    def statement(self, s: Node) -> Block | None:
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign | gast.Return | gast.Expr):
            return None
        if not isinstance(value, gast.Subscript):
            return None
        joiner = getattr(self.kind(value.value), "cls", None)
        parts = value.slice.elts if isinstance(value.slice, gast.Tuple) else [value.slice]
        if joiner is type(np.r_):
            return self._in_a_row(s, parts)
        if joiner is type(np.c_):
            return self._as_columns(s, parts)
        return None

    def _in_a_row(self, s: Node, parts: list[Node]) -> Block | None:
        """Join along the first axis; numbers and ranges are arrays of their own."""
        dtypes = row_dtypes(map(self._reckoned, parts))
        if any(dtype is None for dtype in dtypes):
            return None
        wanted = np.result_type(*dtypes)
        before: Block = []
        items: list[Node] = []
        for part, dtype in zip(parts, dtypes, strict=True):
            if isinstance(part, gast.Slice):
                part = self._held(self._range(part), before)
            elif isinstance(self.kind(part), K.Num):
                if not isinstance(part, gast.Name | gast.Constant):
                    part = self._held(part, before)
                part = self._held(gast.List([part], gast.Load()), before)
                if np.result_type(type(dtype), wanted) != wanted and not isinstance(
                    dtype, np.dtype
                ):
                    # NumPy fits a Python number to the arrays; in a list it would be float64.
                    exact = attribute(name(self.numpy()), wanted.name)
                    part = self._held(self._numpy_call("array", part, exact), before)
            items.append(self._held(part, before) if not isinstance(part, gast.Name) else part)
        s.value = self._numpy_call("concatenate", self._held(tuple_(items), before))
        return [*before, s]

    def _reckoned(self, part: Node) -> Any:
        """Return the kind of a part, or a slice of the kinds of its ends."""
        if not isinstance(part, gast.Slice):
            return self.kind(part)
        ends = (part.lower, part.upper, part.step)
        return slice(*(K.NONE if end is None else self.kind(end) for end in ends))

    def _held(self, value: Node, before: Block) -> Node:
        held = self.names.fresh("t")
        self.temps.add(held)
        before.append(assign(held, value))
        return name(held)

    def _numpy_call(self, fn: str, *args: Node) -> Node:
        return call(attribute(name(self.numpy()), fn), *args)

    def _as_columns(self, s: Node, parts: list[Node]) -> Block | None:
        kinds = [self.kind(part) for part in parts]
        if not all(isinstance(k, K.Array) and k.rank in (1, 2) for k in kinds):
            return None
        before: Block = []
        columns = [p if isinstance(p, gast.Name) else self._held(p, before) for p in parts]
        s.value = self._numpy_call("column_stack", self._held(tuple_(columns), before))
        return [*before, s]

    def _range(self, part: Node) -> Node:
        args = [part.lower or constant(0), part.upper, *([part.step] if part.step else [])]
        return self._numpy_call("arange", *map(clone, args))
