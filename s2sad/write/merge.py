"""Functions that came out equal become one.

def g_reverse(x, y, out_bar): ...          def g_reverse(x, y, out_bar): ...
def g_reverse_1(x, y, out_bar): ...   ->
x_bar, y_bar = g_reverse_1(a, b, 1.0)      x_bar, y_bar = g_reverse(a, b, 1.0)

A function is derived once per pattern of kinds and activities; often the text is the same.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import Any

import gast

from s2sad.nodes import Node, clone, key, names_written, rename

Home = tuple[Hashable, ...]


def merge(functions: list[Node], homes: Mapping[str, Home]) -> dict[str, str]:
    """Drop equal functions of one home from the list, in place; return what stands for them."""
    gone: dict[str, str] = {}
    while True:
        kept: dict[Any, str] = {}
        table: dict[str, str] = {}
        alike = _alike([homes.get(f.name) for f in functions])
        own = {f.name: _bound(f) for f in functions}
        locals_ = frozenset[str]().union(*own.values())  # none of these may come to hide a function
        for f in functions:
            home = homes.get(f.name)
            if home not in alike:
                continue
            found = kept.setdefault((home, _text(f)), f.name)
            if found != f.name and found not in locals_:
                table[f.name] = found
        if not table:
            return gone
        functions[:] = [f for f in functions if f.name not in table]
        for f in functions:
            _reword(rename(f, {n: to for n, to in table.items() if n not in own[f.name]}), table)
        gone = {n: table.get(to, to) for n, to in gone.items()} | table


def _bound(f: Node) -> frozenset[str]:
    """Return the names of the variables of a function: one may be called as another function is."""
    return frozenset(n for s in f.body for n in names_written(s))


def _reword(f: Node, table: Mapping[str, str]) -> None:
    """Let a docstring name what is there: `g, and what g_reverse reads`."""
    doc = f.body[0].value if isinstance(f.body[0], gast.Expr) else None
    if isinstance(doc, gast.Constant) and isinstance(doc.value, str):
        doc.value = re.sub(r"\w+", lambda word: table.get(word[0], word[0]), doc.value)


def _alike(homes: list[Home | None]) -> set[Home]:
    """Return the homes of more than one function."""
    return {h for h in homes if h is not None and homes.count(h) > 1}


def _text(f: Node) -> Any:
    """Return what is equal for equal functions, whatever they are called."""
    return key([rename(clone(part), {f.name: ""}) for part in (f.args, *f.body)])
