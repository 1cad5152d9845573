"""What need not be saved: temporaries that are cheap to compute again, and parts of structures."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.nodes import Block, Node, blocks_of, changed_in, count_writes, is_constant, names_read
from s2sad.stages import Activity, Aliases, Function, KindFacts
from s2sad.syntax.left import leaves

_CHEAP_OPERATORS = (gast.Add, gast.Sub, gast.Mult, gast.Div)


class Reuse:
    """Found once per function: `cheap` temporaries with the statement they belong to and their
    expression, `elements` of structures, `displays` of numbers and of rows, and `distinct` index
    arrays.
    """

    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        activity: Activity,
        aliases: Aliases,
    ) -> None:
        self.function = function
        self.kinds = kinds
        self.activity = activity
        self.writes = count_writes(function.node.body, function.params)
        self.aliases = aliases
        self.touched = aliases.touched
        self.cheap: dict[str, tuple[Any, Node]] = {}
        self.elements: dict[str, tuple[Any, Node]] = {}
        self.displays: set[str] = set()
        self.distinct: set[str] = set()
        self._find_cheap(function.node.body, None)
        self._find_elements(function.node.body, None)

    def _find_cheap(self, block: Block, in_loop: Any) -> None:
        """Note the temporaries that cost no more to compute again than to keep."""
        for s in block:
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                target = s.targets[0].id
                if target in self.function.temps and self.writes.get(target) == 1:
                    if self._is_cheap(s, in_loop):
                        self.cheap[target] = (self.function.origins.get(s), s.value)
            inner = s if isinstance(s, gast.For | gast.While) else in_loop
            for part in blocks_of(s):
                self._find_cheap(part, inner)

    def _find_elements(self, block: Block, in_loop: Any) -> None:
        """Note the variables that are parts of structures, and what makes displays and ranges."""
        for s in block:
            if isinstance(s, gast.For):
                for b in self.function.loops[s].bindings:
                    self._find_element(b, s)
            inner = s if isinstance(s, gast.For | gast.While) else in_loop
            self._find_element(s, in_loop)
            for part in blocks_of(s):
                self._find_elements(part, inner)

    def _find_element(self, s: Node, in_loop: Any) -> None:
        if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
            return
        target, value = s.targets[0].id, s.value
        if self.writes.get(target) != 1:
            return
        if isinstance(value, gast.List | gast.Tuple) and target in self.function.temps:
            if value.elts and all(map(self._is_row, value.elts)):
                self.displays.add(target)
        if isinstance(value, gast.Call) and self.kinds.objects.get(value.func) is np.arange:
            self.distinct.add(target)
        if self._is_element(s, target, value, in_loop):
            self.elements[target] = (s, value)

    def _is_row(self, item: Node) -> bool:
        """Say whether an item of a display may have a row of an array as its cotangent."""
        listed = {type(k) for k in K.options(self.kinds.of.get(item, K.UNKNOWN))} & {
            K.List,
            K.Tuple,
        }
        return not listed or getattr(item, "id", "") in self.displays

    def _is_element(self, s: Node, target: str, value: Node, in_loop: Any) -> bool:
        """Say whether a variable is always the same part of a structure where it is active."""
        kind = self.kinds.after.get(s, {}).get(target, K.UNKNOWN)
        if not self._is_part(value):
            return False
        if not isinstance(value.value, gast.Name) or not K.is_container(kind):
            return False
        if not K.is_container(self.kinds.of.get(value.value, K.UNKNOWN)):
            return False
        sliced = isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice)
        if sliced and not (isinstance(kind, K.List) and K.is_container(kind.item)):
            return False
        if in_loop is not None and target in self.activity.head(in_loop):
            return False
        index = self.function.loops[in_loop].index if isinstance(in_loop, gast.For) else None
        if not all(n == index or self.writes.get(n, 0) <= 1 for n in names_read(value)):
            return False
        return self._stays(target, value)

    def _stays(self, target: str, value: Node) -> bool:
        """Say whether a part is where it was taken from as long as its variable is read.

        What that was taken from has to be where it was, too.
        """
        base, live = value.value.id, self.aliases.live_after
        owner = self.kinds.of.get(value.value, K.UNKNOWN)
        for w in self.aliases.writes:
            if not w.in_array and target in live.get(w.statement, ()):
                if not leaves(w, self.aliases.sharing(w.statement, w.base), value, owner):
                    return False
        return base not in self.elements or self._stays(target, self.elements[base][1])

    def _is_part(self, value: Node) -> bool:
        """Say whether an expression takes a part: properties and operators of classes compute."""
        return isinstance(value, gast.Subscript | gast.Attribute) and (
            value not in self.kinds.methods
        )

    def _is_cheap(self, s: Node, in_loop: Any) -> bool:
        value = s.value
        if in_loop is not None and self._is_reference(value):
            return not names_read(value) & changed_in(in_loop.body, self.touched)
        if not isinstance(self.kinds.after.get(s, {}).get(s.targets[0].id), K.Num):
            return False
        if isinstance(value, gast.UnaryOp):
            return True
        if isinstance(value, gast.Subscript) and in_loop is not None:
            changed = changed_in(in_loop.body, self.touched)
            plain = isinstance(value.value, gast.Name)
            return plain and not names_read(value) & changed
        if isinstance(value, gast.BinOp) and type(value.op) in _CHEAP_OPERATORS:
            one_constant = is_constant(value.left) or is_constant(value.right)
            if one_constant and isinstance(value.op, gast.Mult | gast.Div):
                return True
            if in_loop is None:
                return False
            changed = changed_in(in_loop.body, self.touched)
            moving = {n for n in names_read(value) if n in changed}
            return len(moving) <= 1 or self._both_active(s, value)
        return False

    def _is_reference(self, value: Node) -> bool:
        """Say whether an expression only looks up a part of a structure."""
        if not self._is_part(value):
            return False
        if isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice):
            return False
        owner = self.kinds.of.get(value.value, K.UNKNOWN)
        return isinstance(value.value, gast.Name) and (
            K.is_container(owner) or isinstance(owner, K.Tuple)
        )

    def _both_active(self, s: Node, value: Node) -> bool:
        """Both factors of an active product are read by the backward sweep anyway."""
        if not isinstance(value.op, gast.Mult | gast.Div):
            return False
        varied = self.activity.varied_before.get(s, frozenset())
        return names_read(value) <= varied
