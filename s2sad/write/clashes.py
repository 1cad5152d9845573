"""Names that derived text needs for itself, where the user's module or function has them, too.

len = 5                          len(xs) in derived text means Python's: it gets a cell
def f(x, range): ...             a parameter: refused where derived text calls range
"""

from __future__ import annotations

import builtins
import linecache
import types
from collections.abc import Iterator, Mapping
from typing import Any

import gast

from s2sad.errors import Place, UnsupportedError
from s2sad.nodes import Node, block_writes, walk

# What derived text calls by these names; `min` only of several lengths.
_CALLED = (
    *("enumerate", "float", "len", "list", "min", "range", "reversed", "slice", "tuple", "type"),
    "zip",
)


def settle_names(
    functions: list[Node],
    origins: Mapping[str, types.FunctionType],
    cells: Mapping[str, dict[str, object]],
    ours: set[str],
) -> None:
    """Let the builtins in derived text be Python's own, and refuse what would be ambiguous.

    `ours` are the names under which the text imports modules and defines helpers.
    """
    for node in functions:
        fn = origins.get(node.name)
        if fn is None:
            continue
        bound = bound_in(node)
        for name in sorted(bound & ours):
            raise _refusal(fn, name, "derived code needs that name for something else")
        for name in _builtins_called(node):
            if name in bound or name in fn.__code__.co_freevars:
                raise _refusal(fn, name, f"derived code calls Python's own {name}")
            own = getattr(builtins, name)
            if fn.__globals__.get(name, own) is own:
                continue
            if name in set(_mentioned(fn.__code__)):
                raise _refusal(fn, name, f"derived code calls Python's own {name}, too")
            cells[node.name][name] = own


def bound_in(node: Node) -> set[str]:
    """Return the names that a derived function gives a meaning of its own."""
    args = node.args
    listed = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    return {a.id for a in listed if a is not None} | block_writes(node.body)


def _builtins_called(node: Node) -> list[str]:
    found: set[str] = set()
    for n in walk(node):
        if isinstance(n, gast.Call) and isinstance(n.func, gast.Name) and n.func.id in _CALLED:
            if n.func.id != "min" or len(n.args) > 1:
                found.add(n.func.id)
    return sorted(found)


def _mentioned(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _mentioned(constant)


def _refusal(fn: Any, name: str, why: str) -> UnsupportedError:
    file, line = fn.__code__.co_filename, fn.__code__.co_firstlineno
    text = linecache.getline(file, line).rstrip()
    return UnsupportedError(
        f"{fn.__name__} gives the name `{name}` a meaning of its own, and {why}.",
        remedy="Use another name.",
        place=Place(file, line, 0, len(text), text, fn.__name__),
    )
