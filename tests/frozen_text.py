"""Lines of text: a function's own, those of helpers, and those of the programs they came from.

    from frozen_text import derived_lines, lines_of

Blank lines, comments and docstrings are no lines here. A helper is a function of derived text that
s2sad brings along: one of this name stands somewhere in s2sad/ or rules/.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import types
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MODES = ("_grad", "_vjp", "_jvp", "_forward", "_reverse", "_pullback", "_push", "_pull")


def documented(node: ast.AST) -> set[int]:
    """Return the lines of all docstrings below a node."""
    found: set[int] = set()
    for inner in ast.walk(node):
        body = getattr(inner, "body", None)
        if isinstance(inner, ast.Module | ast.FunctionDef | ast.ClassDef) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(getattr(first.value, "value", None), str):
                found.update(range(first.lineno, first.end_lineno + 1))
    return found


def lines_of(text: str) -> int:
    """Return how many lines of a text are code."""
    tree = ast.parse(textwrap.dedent(text))
    return len(_numbers(text, documented(tree)))


def _numbers(text: str, left_out: set[int]) -> set[int]:
    return {
        n
        for n, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#") and n not in left_out
    }


@functools.cache
def helpers() -> frozenset[str]:
    """Return the names of all functions and classes at the top of a module of s2sad/ or rules/."""
    names: set[str] = set()
    for path in sorted({p for room in ("s2sad", "rules") for p in (ROOT / room).rglob("*.py")}):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.endswith(MODES):
                names.add(node.name)
    return frozenset(names)


def derived_lines(text: str, users: Collection[str] = ()) -> tuple[int, int]:
    """Return how many lines a derived text has of its own, imports left out, and of helpers.

    `users` are names of the user's functions, which are no helpers.
    """
    tree = ast.parse(text)
    own = _numbers(text, documented(tree))
    helping: set[int] = set()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            own -= set(range(node.lineno, node.end_lineno + 1))
        named = isinstance(node, ast.FunctionDef | ast.ClassDef)
        if named and node.name not in users and node.name in helpers():
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            helping |= own & set(range(first, node.end_lineno + 1))
    return len(own - helping), len(helping)


def called(f: Callable[..., Any]) -> list[Any]:
    """Return a function with the functions and classes of its module that it calls by name."""
    found: list[Any] = []
    pending = [inspect.unwrap(getattr(f, "__func__", f))]
    while pending:
        part = pending.pop()
        functions = [part] if isinstance(part, types.FunctionType) else list(vars(part).values())
        if part in found:
            continue
        found.append(part)
        for fn in functions:
            fn = getattr(fn, "__func__", fn)
            if isinstance(fn, types.FunctionType):
                pending += _reached(fn)
    return found


def _reached(fn: types.FunctionType) -> list[Any]:
    """Return the functions and classes of the module of a function that its code names."""
    names, codes = set(), [fn.__code__]
    while codes:
        code = codes.pop()
        names |= set(code.co_names)
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    parts = [fn.__globals__.get(n) for n in sorted(names)]
    return [
        p
        for p in parts
        if isinstance(p, types.FunctionType | type) and p.__module__ == fn.__module__
    ]


def source_lines(f: Callable[..., Any]) -> int:
    """Return how many lines of code a program has: its function, and what that calls by name."""
    count = 0
    for part in called(f):
        try:
            count += lines_of(textwrap.dedent(inspect.getsource(part)))
        except (OSError, TypeError, SyntaxError):  # no source, or a lambda within a line
            count += 1
    return count
