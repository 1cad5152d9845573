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
        if type(visible[n]) is list and not lists:
            continue  # what is in it may be another thing by then
        for key in _entries(visible[n], value):
            yield subscript(name(n), gast.Constant(key, None))


def _entries(table: Any, value: Any) -> Iterator[Any]:
    """Yield the keys or positions of an object in a table of functions."""
    if type(table) is dict:
        yield from (k for k, v in table.items() if v is value and isinstance(k, str | int))
    elif type(table) in (tuple, list):
        yield from (i for i, v in enumerate(table) if v is value)
