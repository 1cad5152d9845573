"""Data from outside that a function reads which is handed to a library: it is given that as it was.

def residual(x): return x - K       residual_vjp(x, *, K)      functools.partial(residual_vjp, K=K)
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.linear.tangent_table import Tangents
from s2sad.nodes import free_reads, name, walk
from s2sad.steps.derivation import Derivation

_CONSTANT = ("numpy", "math", "cmath", "scipy", "cupy", "builtins")


def brought(t: Tangents, made: str) -> tuple[str, ...]:
    """Let a derived function be given the data that it reads from outside, as it was.

    That is possible where the function at hand sees the same, and sees that it is read.
    """
    d, a = t.table.derivation, t.table.facts.analysed
    node = next(f for f in d.functions if f.name == made)
    direct = free_reads(node)
    found: set[str] = set()
    for n, value in _data_outside(d, made):
        seen = n in direct and n not in a.function.locals and a.scope.path(name(n)) is value
        if not seen:
            raise t.cannot(
                f"{made.removesuffix('_vjp')} reads `{n}` from outside, which may have "
                "another value when the pullback is called.",
                "Pass it as an argument, or use s2sad.grad.",
            )
        found.add(n)
    for n in sorted(found):
        node.args.kwonlyargs.append(gast.Name(n, gast.Param(), None, None))
        node.args.kw_defaults.append(None)
    return tuple(sorted(found))


def _data_outside(d: Derivation, made: str) -> Iterator[tuple[str, Any]]:
    """Yield what a derived function, and what it calls, reads from outside that is no code."""
    texts = {f.name: f for f in d.functions}
    pending: list[Any] = [texts[made]]
    known: set[int] = set()
    while pending:
        reader = pending.pop()
        if id(reader) in known:
            continue
        known.add(id(reader))
        whole = reader is texts[made]
        if isinstance(reader, gast.AST):
            names = free_reads(reader) - d.refs.functions.keys() - d.refs.modules.keys()
            pending += [texts[n] for n in names & texts.keys()]
            names -= texts.keys()
            attributes = {n.attr for n in walk(reader) if isinstance(n, gast.Attribute)}
            cells, outside = d.cells[reader.name], d.namespaces[reader.name]
        else:
            code = reader.__code__
            attributes = names = {*code.co_names, *code.co_freevars, *_inner_names(code)}
            cells = dict(zip(code.co_freevars, reader.__closure__ or (), strict=True))
            outside = reader.__globals__
        for n in sorted(names):
            value = _contents(cells[n]) if n in cells else outside.get(n, len)
            if isinstance(value, types.ModuleType):
                yield from ((f"{n}.{attr}", None) for attr in _data_in(value, attributes))
            elif isinstance(value, types.FunctionType):
                pending.append(value)
            elif not K.is_function(value):
                yield n, value if whole else None


def _inner_names(code: types.CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set().union(*({*c.co_names, *_inner_names(c)} for c in inner))


def _data_in(module: types.ModuleType, attributes: Iterable[str]) -> list[str]:
    if module.__name__.partition(".")[0] in _CONSTANT:
        return []
    return [attr for attr in sorted(attributes) if not K.is_function(getattr(module, attr, len))]


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents if isinstance(cell, types.CellType) else cell
    except ValueError:
        return None
