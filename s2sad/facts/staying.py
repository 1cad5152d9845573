"""Lists and dicts that have one name only: what is known of them is known of nothing else.

saved = []                    is bound to no other name, held by nothing, given to nobody
saved.append((x, y))
x, y = saved.pop()
"""

from __future__ import annotations

from typing import Any

import gast

from s2sad import registry
from s2sad.nodes import all_inside, blocks_of, children, names_written, walk
from s2sad.stages import Function, KindFacts

_METHODS = frozenset({"append", "pop", "extend", "insert", "clear"})


def stays_here(function: Function, kinds: KindFacts, name: str) -> bool:
    """Say whether a variable stays the only name of lists and dicts that are made there.

    At the end they may be returned.
    """
    if name not in function.locals or name in function.params:
        return False
    for s in all_inside(function.node.body[:-1]):
        if s not in kinds.before:
            continue  # no path leads there
        parts = [n for n in children(s) if not isinstance(n, gast.stmt)] if blocks_of(s) else [s]
        if any(not _keeps(part, name, kinds) for part in parts):
            return False
    return True


def _keeps(top: Any, name: str, kinds: KindFacts) -> bool:
    """Say whether a statement, or the header of one, leaves a list or dict with its one name."""
    if name in names_written(top):
        plain = isinstance(top, gast.Assign) and isinstance(top.targets[0], gast.Name)
        made = plain and isinstance(top.value, gast.List | gast.Dict | gast.BinOp)
        return made and not _names(top.value, name)  # [None] * n is a list of its own, too
    held = 0
    for n in walk(top):
        if isinstance(n, gast.Lambda | gast.FunctionDef | gast.ClassDef) and _names(n, name):
            return False
        if isinstance(n, gast.Subscript) and _is(n.value, name):
            held += 1
        elif isinstance(n, gast.Call):
            method = isinstance(n.func, gast.Attribute) and n.func.attr in _METHODS
            held += method and _is(n.func.value, name)
            fn = kinds.objects.get(n.func)
            if fn is len or registry.rule_for(fn) is not None:  # it reads the list, no more
                held += sum(_is(a, name) for a in n.args)
    return held == _names(top, name) or _is(top, name)


def _is(node: Any, name: str) -> bool:
    return isinstance(node, gast.Name) and node.id == name


def _names(top: Any, name: str) -> int:
    return sum(_is(n, name) for n in walk(top))
