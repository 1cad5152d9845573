"""Functions that are handed to a library to be called: what its rule gets in their place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import Kind
from s2sad.nodes import Node


@dataclass(frozen=True)
class Called:
    """How a rule calls a function that it is given: with what kinds; it, or its gradient.

    With the gradient it may want the value.
    """

    kinds: list[Kind]
    gradient: bool
    with_value: bool = False


def called_with(
    fn: Any, result: Kind, operands: Mapping[str, Node], kind_of: Callable[[Node], Kind]
) -> Iterator[tuple[str, Node, Called]]:
    """Yield the functions that a rule calls: its parameter, what is given, and how it is called."""
    rule = registry.rule_for(fn)
    for n, text in rule.calls.items() if rule is not None else ():
        if n in operands and not isinstance(kind_of(operands[n]), K.NoneKind):
            given = {p: kind_of(node) for p, node in operands.items()}
            yield (
                n,
                operands[n],
                _kinds_in(text, {**given, "out": result, "float": K.FLOAT, "int": K.INT}),
            )


def _kinds_in(text: str, given: Mapping[str, Kind]) -> Called:
    """Return how a rule says that it calls: `fun(out.x, *args)` or `grad(fun)(out.x, *args)`.

    `value_and_grad(fun)` gives both. Arguments may be left out.
    """
    found: list[Kind] = []
    made = ast.parse(text, mode="eval").body
    assert isinstance(made, ast.Call)
    for node in made.args:
        if not isinstance(node, ast.Starred):
            found.append(_kind_in(node, given))
            continue
        spread = _kind_in(node.value, given)
        if isinstance(spread, K.Tuple):
            found += spread.items
        elif not isinstance(spread, K.NoneKind):
            found.append(spread)
    of = made.func.func if isinstance(made.func, ast.Call) else None
    with_value = isinstance(of, ast.Name) and of.id == "value_and_grad"
    return Called([K.erase_value(k) for k in found], of is not None, with_value)


def _kind_in(node: ast.expr, given: Mapping[str, Kind]) -> Kind:
    if isinstance(node, ast.Attribute):
        owner = _kind_in(node.value, given)
        return owner.inside[K.names_of(owner).index(node.attr)]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        parts: list[Kind] = list(getattr(_kind_in(node.value, given), "items", ()))
        return parts[node.slice.value]  # type: ignore[index]
    return given.get(getattr(node, "id", ""), K.NONE)
