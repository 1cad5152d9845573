"""How an object outside is spelled in a function: a global, a module's attribute, an entry."""

from __future__ import annotations

import builtins
import types
from collections.abc import Iterator
from typing import Any

import gast

from s2sad.nodes import Node, attribute, name, subscript
from s2sad.stages import Function


def paths(function: Function, value: Any, lists: bool = True) -> Iterator[Node]:
    """Yield the expressions that denote an object outside a function, entries of `lists` too."""
    fn: Any = function.source.fn
    visible = dict(vars(builtins)) | dict(fn.__globals__)
    for n, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            visible[n] = cell.cell_contents
        except ValueError:
            visible.pop(n, None)
    used = [n for n in fn.__code__.co_names if n in visible]
    order = [n for n in dict.fromkeys([*used, *visible]) if n not in function.locals]
    order = [n for n in order if n.isidentifier()]
    for n in order:
        if visible[n] is value:
            yield name(n)
    attr = getattr(value, "__name__", "")
    for n in order:
        owner = visible[n]
        if isinstance(owner, types.ModuleType) and vars(owner).get(attr) is value:
            yield attribute(name(n), attr)
    for n in order:
        held: list[tuple[Node, Any]] = [(name(n), visible[n])]
        if isinstance(visible[n], type):
            held = [(attribute(name(n), a), v) for a, v in vars(visible[n]).items()]
        for node, table in held:
            for keys in _entries(table, value, lists):
                for key in keys:
                    node = subscript(node, gast.Constant(key, None))
                yield node


def _entries(table: Any, value: Any, lists: bool, depth: int = 2) -> Iterator[tuple[Any, ...]]:
    """Yield the keys or positions that lead to an object in a table of functions.

    Without `lists`, what is in one may be another thing by then.
    """
    if type(table) is dict:
        found = [(k, v) for k, v in table.items() if isinstance(k, str | int)]
    elif type(table) is tuple or (lists and type(table) is list):
        found = list(enumerate(table))
    else:
        return
    yield from ((k,) for k, v in found if v is value)
    if depth > 1:
        yield from ((k, *below) for k, v in found for below in _entries(v, value, lists, depth - 1))
