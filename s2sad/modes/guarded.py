"""Rules at singular points: what they read where a cotangent is zero by structure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import Kind
from s2sad.known.mixed import is_mixed
from s2sad.modes.inline import Given
from s2sad.modes.shapes import NARROW, Shapes, dtype_of
from s2sad.nodes import Node, attribute, call, clone, constant, number, root_name
from s2sad.stages import Guard
from s2sad.syntax.strong import is_zero


@dataclass(frozen=True)
class Site:
    """One operation where it stands: its result, the cotangent of that, and their kind.

    `guard` is there where the cotangent may hold zeros by structure that must stay zero.
    """

    statement: Any
    node: Any
    out: Node
    bar: Node
    kind: Kind
    guard: Guard | None = None


class Guarded(Shapes):
    """Keeps 0 * inf out of cotangents."""

    def _guarded(self, site: Site, fn: Any, operands: Mapping[str, Node]) -> dict[str, Given]:
        """Return what a rule reads instead of operands that make 0 * inf: regular ones.

        Where the cotangent is zero the rule is evaluated where it is finite.
        """
        rule = registry.rule_for(fn)
        guard = site.guard
        if guard is None or rule is None:
            return {}
        found = {}
        for parameter, operand in operands.items():
            wild = guard.out if operand is site.out else root_name(operand) in guard.wild
            if not wild and not (guard.singular and parameter in rule.regular):
                continue
            if number(operand) is None:
                regular = self._regular_number(rule.regular.get(parameter, 1.0))
                kind = site.kind if operand is site.out else self.kind(operand)
                found[parameter] = self._regular(site, operand, kind, regular)
        return found

    def _regular_number(self, value: float) -> Node:
        """Return a number as one writes it: infinity has a name."""
        if not math.isinf(value):
            return constant(value)
        infinity = self.np("inf")
        return infinity if value > 0 else gast.UnaryOp(gast.USub(), infinity)

    def nothing_comes(self, site: Site) -> Node:
        """Return the test that says where a zero comes in."""
        return is_zero(clone(site.bar))

    def on_device(self, site: Site, nothing: Node) -> Node:
        """Return the test as an array where a device's np.where wants one."""
        return nothing

    def by_number(self, site: Site, kind: Kind) -> bool:
        """Say whether one number is chosen for an operand, and not one for each place."""
        return not K.may_be_array(site.kind)

    def _regular(self, site: Site, operand: Node, kind: Kind, regular: Node) -> Given:
        """Return an operand with a regular number where the cotangent of the result is zero."""
        nothing = self.nothing_comes(site)
        if self.by_number(site, kind):
            return Given(gast.IfExp(nothing, regular, clone(operand)), K.erase_value(kind))
        nothing = self.on_device(site, nothing)
        value = call(self.np("where"), nothing, regular, clone(operand))
        if not isinstance(site.kind, K.Array) or is_mixed(kind):
            return Given(value, chosen_kind(site.kind, kind))
        dtype = dtype_of(kind)
        if isinstance(kind, K.Num) and dtype_of(site.kind) in NARROW:
            dtype = dtype_of(site.kind)
            value = call(attribute(value, "astype"), self.np(str(dtype)))
        return Given(value, K.Array(dtype or "float64", site.kind.dims, site.kind.namespace))


def chosen_kind(places: Kind, numbers: Kind) -> Kind:
    """Return the kind of what np.where takes from an operand: its numbers, where the result is."""
    if not K.is_complex(numbers):
        return K.erase_value(places)
    dtypes = [_own_dtype(k) for k in K.carriers(numbers)]
    return K.union(
        K.Array(dtype, k.dims, k.namespace) if isinstance(k, K.Array) else K.Num("complex", "any")
        for k in K.options(places)
        for dtype in dtypes
    )


def _own_dtype(kind: Kind) -> str:
    """Return the dtype of a number or an array; that of an array of Python's numbers."""
    dtype = kind.dtype if isinstance(kind, K.Num | K.Array) else None
    if dtype in (None, "any"):
        return "complex128" if K.is_complex(kind) else "float64"
    return str(dtype)
