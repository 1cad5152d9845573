"""The operands of a call by the parameters of a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.program import Operand
from s2sad.kinds import Kind
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import NotYet
from s2sad.linear.tangents_of import Computed
from s2sad.modes.bind import BindingError, bind, without_axes
from s2sad.nodes import Node

Pair = tuple[Operand, Operand]
"""An operand and its tangent."""


@dataclass(frozen=True)
class Bound:
    """The `arrays` of a call with their tangents, its settings, and what a rule gathers."""

    arrays: dict[str, Pair]
    settings: dict[str, Operand | tuple[Operand, ...]]
    gathered: tuple[str, tuple[Pair, ...]] | None


def bound_to(
    told: Computed, rule: Callable[..., object], skip: int, count: int | None = None
) -> Bound:
    """Return the operands of a call as a rule's parameters; the first `skip` are no arrays."""
    table: dict[Node, Pair] = {}

    def stand_in(pair: Pair) -> Node:
        operand = pair[0]
        node: Node = gast.Name("_", gast.Load(), None, None)
        if isinstance(operand, P.Const):
            node = gast.Constant(operand.value, None)
        table[node] = pair
        return node

    args = [stand_in(pair) for pair in told.placed]
    keywords = [gast.keyword(n, stand_in(pair)) for n, pair in told.named.items()]

    def kind(node: Node) -> Kind:
        return kind_of(table[node][0]) if node in table else K.UNKNOWN

    try:
        found = without_axes(bind(told.fn, rule, skip, args, keywords, count), told.fn, kind)
    except BindingError as why:
        raise NotYet(f"a call that a rule does not take: {why}") from None

    def pair(node: Node) -> Pair:
        return table[node] if node in table else (P.Const(node.value), P.Const(None))

    def setting(node: Node) -> Operand | tuple[Operand, ...]:
        if isinstance(node, gast.Tuple):
            return tuple(pair(part)[0] for part in node.elts)
        return pair(node)[0]

    constant = registry.constant_parameters(told.fn)
    for n, node in found.settings.items():
        parts = node.elts if isinstance(node, gast.Tuple) else [node]
        if n not in constant and any(pair(part)[1] != P.Const(None) for part in parts):
            raise NotYet(f"the setting {n}, which is active")
    gathered = None
    if found.varargs is not None:
        gathered = found.varargs[0], tuple(map(pair, found.varargs[1]))
    return Bound(
        {n: pair(a) for n, a in found.arrays},
        {n: setting(a) for n, a in found.settings.items()},
        gathered,
    )


def moving(pairs: Sequence[Pair]) -> list[Operand]:
    """Return those operands that have a tangent."""
    return [o for o, dot in pairs if dot != P.Const(None)]
