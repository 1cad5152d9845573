"""Derivatives that a program hands to a function are known there: the text does without the call.

y, kept = solve_forward(g, grad(g), x)    ->    y, kept = solve_forward(g, None, x)

The derived function calls the derivative of g by its name, and does not read the parameter.
"""

from __future__ import annotations

import types
from typing import Any

import gast

from s2sad.derivative import applies
from s2sad.nodes import Node, names_read, walk
from s2sad.steps.derivation import Derivation


def without_operators(d: Derivation) -> None:
    """Give None for what an operator makes, where the called function reads no such parameter."""
    known = {f.name: f for f in d.functions if isinstance(f, gast.FunctionDef)}
    for function in d.functions:
        for node in walk(function):
            callee = known.get(getattr(getattr(node, "func", None), "id", ""))
            if not isinstance(node, gast.Call) or callee is None:
                continue
            if any(isinstance(a, gast.Starred) for a in node.args):
                continue
            read = set[str]().union(*map(names_read, callee.body))
            listed = [p.id for p in [*callee.args.posonlyargs, *callee.args.args]]
            for i, (p, arg) in enumerate(zip(listed, node.args, strict=False)):
                if p not in read and _is_made_by_operator(d, function.name, arg):
                    node.args[i] = gast.Constant(None, None)
            for keyword in node.keywords:
                known_word = keyword.arg is not None and keyword.arg not in read
                if known_word and _is_made_by_operator(d, function.name, keyword.value):
                    keyword.value = gast.Constant(None, None)


def _is_made_by_operator(d: Derivation, function: str, node: Node) -> bool:
    return isinstance(node, gast.Call) and bool(applies(_denoted(d, function, node.func)))


def _denoted(d: Derivation, function: str, node: Node) -> Any:
    """Return what a dotted name denotes in a derived function, as far as the user's module says."""
    if isinstance(node, gast.Attribute):
        return getattr(_denoted(d, function, node.value), node.attr, None)
    word = getattr(node, "id", "")
    held = d.cells.get(function, {}).get(word, d.namespaces.get(function, {}).get(word))
    return held.cell_contents if isinstance(held, types.CellType) else held
