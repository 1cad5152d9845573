"""The operands of a call by the parameters of a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import Error
from s2sad.ir import program as P
from s2sad.ir.program import Operand
from s2sad.kinds import Kind
from s2sad.linear.operands import kind_of
from s2sad.linear.rule_binding import BindingError, BoundCall, arrays_of, bind, without_axes
from s2sad.linear.rule_refusals import label_of, not_taken, useless
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.tangents_of import Computed
from s2sad.nodes import Node
from s2sad.rulebook.rehearsed import Trial

Word: TypeAlias = Literal["elementwise", "pushforward", "pullback"]
Pair = tuple[Operand, Operand]
"""An operand and its tangent."""


@dataclass(frozen=True)
class Bound:
    """The `arrays` of a call with their tangents, its settings, and what a rule gathers."""

    arrays: dict[str, Pair]
    settings: dict[str, Operand | tuple[Operand, ...]]
    gathered: tuple[str, tuple[Pair, ...]] | None


def bound_to(t: Tangents, told: Computed, rule: Callable[..., object], word: Word) -> Bound:
    """Return the operands of a call as the parameters of a rule, which is what the `word` says."""
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

    skip = 2 if word == "pullback" else 1
    count = len(arrays_of(rule)) if word == "pushforward" else None
    try:
        found = without_axes(bind(told.fn, rule, skip, args, keywords, count), told.fn, kind)
    except BindingError as why:
        raise t.cannot(*not_taken(told.fn, rule, str(why))) from None

    def pair(node: Node) -> Pair:
        return table[node] if node in table else (P.Const(node.value), P.Const(None))

    def setting(node: Node) -> Operand | tuple[Operand, ...]:
        if isinstance(node, gast.Tuple):
            return tuple(pair(part)[0] for part in node.elts)
        return pair(node)[0]

    constant = registry.constant_parameters(told.fn)
    for n, node in found.settings.items():
        parts = node.elts if isinstance(node, gast.Tuple) else [node]
        if n not in constant and any(_moves(t, pair(part)) for part in parts):
            raise _not_known(t, told, f"its setting `{n}`")
    own = registry.rule_for(told.fn)
    for n, node in found.arrays:
        if own is not None and n in own.unknown and pair(node)[1] != P.Const(None):
            raise _not_known(t, told, f"`{n}`")
    tried = _Tried(told, rule, word, found)
    useless = None if registry.is_ours(rule) else tried.useless(table)
    if useless is not None:
        raise t.cannot(*useless)
    gathered = None
    if found.varargs is not None:
        gathered = found.varargs[0], tuple(map(pair, found.varargs[1]))
    return Bound(
        {n: pair(a) for n, a in found.arrays},
        {n: setting(a) for n, a in found.settings.items()},
        gathered,
    )


def _moves(t: Tangents, given: Pair) -> bool:
    """Say whether a tangent may be other than zero: that of a display of literals is not."""
    value, dot = given
    still = value not in t.table.facts.written and dot in t.table.zeros
    return isinstance(dot, P.Var) and not still


def _not_known(t: Tangents, told: Computed, what: str) -> Error:
    return t.cannot(
        f"s2sad has no derivative of {label_of(told.fn)} with respect to {what}.",
        "Make that value Const, or use other functions.",
    )


@dataclass(frozen=True)
class _Tried:
    """A call for which a rule of somebody else's is tried, as that rule takes it."""

    told: Computed
    rule: Callable[..., object]
    word: Word
    found: BoundCall

    def useless(self, table: Mapping[Node, Pair]) -> tuple[str, str] | None:
        """Return why the rule can give no derivative of this call, and what to do about it."""
        rest = self.found.varargs[1] if self.found.varargs is not None else ()
        nodes = list(table)  # in the order of the call, then what the rule has besides
        for n in [*(a for _, a in self.found.arrays), *self.found.settings.values(), *rest]:
            if n not in table:
                nodes.append(n)
        kinds = tuple(self.kind(n, table) for n in nodes)
        if any(isinstance(k, K.Unknown | K.Union | K.OneOf | K.Opaque | K.Obj) for k in kinds):
            return None
        arrays = self.found.arrays
        trial = Trial(
            self.told.fn,
            self.rule,
            self.word,
            kinds,
            len(self.told.placed),
            self.told.words,
            tuple((n, nodes.index(a)) for n, a in arrays),
            tuple(map(nodes.index, rest)),
            tuple((n, nodes.index(a)) for n, a in self.found.settings.items()),
            frozenset(n for n, a in arrays if a in table and table[a][1] != P.Const(None)),
        )
        return useless(trial)

    def kind(self, node: Node, table: Mapping[Node, Pair]) -> Kind:
        """Return the kind of what is given: it is a literal where that stands in the call."""
        if node in table:
            return kind_of(table[node][0])
        if isinstance(node, gast.Tuple):
            return K.Tuple(tuple(self.kind(e, table) for e in node.elts))
        return K.kind_of(node.value, "", literal=True)


def moving(pairs: Sequence[Pair]) -> list[Operand]:
    """Return those operands that have a tangent."""
    return [o for o, dot in pairs if dot != P.Const(None)]
