"""Generators and maps that are kept under a name stand where they are read.

    squares = (v * v for v in xs)
    total = sum(squares)                 ->    total = sum(v * v for v in xs)

Only where they are read once, in the block that makes them, and nothing in between may change what
they go through: what they give is the same then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    blocks_of,
    children,
    count_writes,
    names_read,
    names_written,
    walk,
)

_LAZY: tuple[Any, ...] = (map, filter)
_SIMPLE = (gast.Assign, gast.AugAssign, gast.Return, gast.Expr, gast.AnnAssign)


def read_where_made(body: Block, is_lazy: Callable[[Node], bool], locals_: set[str]) -> None:
    """Put generators that are kept under a name where they are read, in place."""
    if any(isinstance(n, gast.Global | gast.Nonlocal) for s in body for n in walk(s)):
        return
    reads: dict[str, int] = {}
    for n in (n for s in body for n in walk(s)):
        if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Store):
            reads[n.id] = reads.get(n.id, 0) + 1
    writes = count_writes(body)
    once = {n for n, count in writes.items() if count == 1 and reads.get(n) == 1} & locals_
    _block(body, once, is_lazy)


def _block(body: Block, once: set[str], is_lazy: Callable[[Node], bool]) -> None:
    for s in list(body):
        if not isinstance(s, SCOPES):
            for part in blocks_of(s):
                _block(part, once, is_lazy)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            if len(s.targets) == 1 and s.targets[0].id in once and is_lazy(s.value):
                _move(body, s)


def is_lazy(denoted: Callable[[Node], Any], value: Node) -> bool:
    """Say whether an expression is a generator expression, a map or a filter."""
    if isinstance(value, gast.GeneratorExp):
        return True
    return isinstance(value, gast.Call) and any(denoted(value.func) is fn for fn in _LAZY)


def _move(body: Block, made: Node) -> None:
    variable, used = made.targets[0].id, names_read(made.value)
    if any(isinstance(n, gast.NamedExpr) for n in walk(made.value)):
        return
    if not all(map(_is_there, _read_at_once(made.value))):
        return
    start = body.index(made)
    parts = [n for at_once in _read_at_once(made.value) for n in walk(at_once)]
    held = any(isinstance(n, gast.Attribute) for n in parts)
    for s in body[start + 1 :]:
        if variable in names_read(s):
            calls = [n for n in walk(s) if isinstance(n, gast.Call)]
            if held and any(variable not in names_read(n) for n in calls):
                return  # another call may store something else there, before
            if _put(s, variable, made.value):
                body.remove(made)
            return
        if not _changes_nothing(s, used):
            return


def _read_at_once(value: Node) -> list[Node]:
    """Return what is evaluated where a generator or a map is made."""
    if isinstance(value, gast.GeneratorExp):
        return [value.generators[0].iter]
    given = [*value.args, *(k.value for k in value.keywords)]
    return [a for a in given if a is not given[0] or not isinstance(a, gast.Attribute)]


def _is_there(node: Node) -> bool:
    """Say whether an expression is the same whenever it is evaluated, or goes through what is.

    An attribute is, where nothing is called meanwhile.
    """
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
        known = node.func.id in ("zip", "enumerate", "reversed", "range")
        return known and all(map(_is_there, node.args))
    if isinstance(node, gast.Attribute):
        return _is_there(node.value)
    return isinstance(node, gast.Name | gast.Constant | gast.Lambda)


def _changes_nothing(s: Node, used: set[str]) -> bool:
    """Say whether a statement leaves some variables, and what they hold, as they are."""
    if not isinstance(s, gast.Assign) or names_written(s) & used:
        return False
    plain = all(isinstance(t, gast.Name) for t in s.targets)
    strange = (gast.Call, gast.Await, gast.Yield, gast.NamedExpr)
    return plain and not any(isinstance(n, strange) for n in walk(s.value))


def _put(s: Node, variable: str, value: Node) -> bool:
    """Put a value in the place of a variable that a statement reads; say whether that was done."""
    if isinstance(s, gast.For):
        if isinstance(s.iter, gast.Name) and s.iter.id == variable:
            s.iter = value
            return True
        return False
    if not isinstance(s, _SIMPLE):
        return False
    return _replaced(s, variable, value)


def _replaced(node: Node, variable: str, value: Node) -> bool:
    for child in children(node):
        if isinstance(child, SCOPES) or not isinstance(child, gast.AST):
            continue
        if isinstance(child, gast.Call):
            for i, arg in enumerate(child.args):
                if isinstance(arg, gast.Name) and arg.id == variable:
                    child.args[i] = value
                    return True
        comprehension = isinstance(child, gast.comprehension | gast.IfExp | gast.BoolOp)
        if not comprehension and _replaced(child, variable, value):
            return True
    return False
