"""What stands above the derived functions: imports, and the helpers they call, copied in."""

from __future__ import annotations

import inspect
import textwrap
import types
from typing import Any

import gast

from s2sad.nodes import Block, Node, free_reads, walk


def prelude(refs: Any, functions: Block) -> tuple[Block, dict[str, object]]:
    """Return the body of the derived module, and cells for what the text does not define."""
    helpers: dict[str, Node] = {}
    used = set().union(*(free_reads(f) for f in functions), set())
    pending = [n for n in refs.functions if n in used]
    while pending:
        name = pending.pop(0)
        if name in helpers:
            continue
        node = _definition(refs.functions[name], name, refs)
        helpers[name] = node
        used |= free_reads(node)
        pending += [n for n in refs.functions if n in used and n not in helpers]
    imports: Block = []
    for name, module in sorted(refs.modules.items(), key=lambda item: item[1].__name__):
        if name in used:
            alias = gast.alias(module.__name__, None if name == module.__name__ else name)
            imports.append(gast.Import([alias]))
    ordered = [helpers[n] for n in refs.functions if n in helpers]
    return [*imports, *ordered, *functions], {}


def _definition(fn: types.FunctionType, name: str, refs: Any) -> Node:
    """Return a helper's definition under its name in the text, without annotations."""
    node = gast.parse(textwrap.dedent(inspect.getsource(fn))).body[0]
    node.name = name
    node.decorator_list = []
    node.returns = None
    for n in walk(node):
        if isinstance(n, gast.Name):
            n.annotation = None
    table: dict[str, str] = {}
    for free in sorted(free_reads(node)):
        value = fn.__globals__.get(free)
        if isinstance(value, types.ModuleType):
            table[free] = refs.module(value)
        elif isinstance(value, types.FunctionType):
            table[free] = name if value is fn else refs.function(value)
    for n in walk(node):
        if isinstance(n, gast.Name) and n.id in table:
            n.id = table[n.id]
    return node
