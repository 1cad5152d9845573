"""What stands above the derived functions: imports, and the helpers they call, copied in."""

from __future__ import annotations

import inspect
import math
import textwrap
import types
import weakref
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2sad.errors import SourceError
from s2sad.known.spaces import NUMPY, counterpart, helper_in
from s2sad.nodes import Block, Node, assign, clone, free_reads, rename, walk
from s2sad.write.homes import homes_of, import_of
from s2sad.write.live import is_live
from s2sad.write.printer import lasting


def prelude(refs: Any, functions: Block) -> Block:
    """Return the body of the derived module."""
    helpers: dict[str, Node] = {}
    constants: dict[str, Any] = {}
    compiled: Block = []
    known: set[str] = set()
    used = set().union(*(free_reads(f) for f in functions), set())
    pending = [n for n in refs.functions if n in used]
    while pending:
        name = pending.pop(0)
        if name in helpers or name in known:
            continue
        fn = refs.functions[name]
        if is_live(fn):
            known.add(name)
            continue
        if not isinstance(fn, types.FunctionType):
            compiled.append(_imported(fn, name))
            known.add(name)
            continue
        helpers[name], free = definition(fn, name, refs, constants)
        used |= free
        pending += [n for n in refs.functions if n in used and n not in helpers]
    imports: Block = []
    for name, module in sorted(refs.modules.items(), key=lambda item: item[1].__name__):
        if name in used:
            alias = gast.alias(module.__name__, None if name == module.__name__ else name)
            imports.append(gast.Import([alias]))
    settings: Block = [assign(n, literal(value)) for n, value in constants.items()]
    ordered = [helpers[n] for n in refs.functions if n in helpers]
    return [*imports, *compiled, *settings, *ordered, *functions]


def _imported(fn: Any, name: str) -> Node:
    """Return the import of a compiled function that a rule calls by its name."""
    found = import_of(fn, name, homes_of(fn))
    if found is None:
        raise SourceError(
            f"{name}, which a rule calls, is a {type(fn).__name__} that cannot be imported.",
            remedy="Let the rule call it through its module: module.function(...).",
        )
    return found


def definition(
    fn: types.FunctionType, name: str, refs: Any, constants: dict[str, Any]
) -> tuple[Node, set[str]]:
    """Return a helper's definition under its name in the text, and the names it reads outside.

    It has no annotations. It is the same node for all texts that call it by the same names, and
    stays as it is.
    """
    read = _read(fn)
    table: dict[str, str] = {}
    space = refs.homes.get(name, NUMPY)
    for free in read.free:
        value = fn.__globals__.get(free)
        if isinstance(value, types.ModuleType):
            table[free] = refs.module(counterpart(value, space))
        elif isinstance(value, types.FunctionType | types.BuiltinFunctionType | np.ufunc):
            table[free] = name if value is fn else refs.function(helper_in(value, space), space)
        elif free in fn.__globals__:
            table[free] = _constant(fn, free, refs, constants)
    key = name, *table.items()
    if key not in read.named:
        node = rename(clone(read.node), table)
        node.name = name
        lasting(node)
        read.named[key] = node
    return read.named[key], {table.get(free, free) for free in read.free}


@dataclass(frozen=True)
class _Read:
    """A helper's definition, without annotations, as it is written and as texts have `named` it."""

    code: types.CodeType
    node: Node
    free: tuple[str, ...]
    named: dict[Any, Node] = field(default_factory=dict)


_known: weakref.WeakKeyDictionary[types.FunctionType, _Read] = weakref.WeakKeyDictionary()


def _read(fn: types.FunctionType) -> _Read:
    """Return a helper's definition; it is parsed once."""
    known = _known.get(fn)
    if known is None or known.code is not fn.__code__:
        node = gast.parse(textwrap.dedent(inspect.getsource(fn))).body[0]
        node.decorator_list = []
        for n in walk(node):
            if isinstance(n, gast.Name):
                n.annotation = None
            if isinstance(n, gast.FunctionDef):
                n.returns = None
                n.body = [_plain(s) for s in n.body]
        known = _known[fn] = _Read(fn.__code__, node, tuple(sorted(free_reads(node))))
    return known


def _plain(s: Node) -> Node:
    """Return `x = v` for `x: T = v`."""
    return gast.Assign([s.target], s.value, None) if isinstance(s, gast.AnnAssign) else s


def _constant(fn: types.FunctionType, name: str, refs: Any, constants: dict[str, Any]) -> str:
    """Return the name under which the text defines a literal that a helper reads."""
    value = fn.__globals__[name]
    if not _is_table(value):
        raise SourceError(
            f"{fn.__name__}, which a rule calls, reads {name}, a {type(value).__name__}, "
            "which s2sad cannot copy.",
            remedy="A helper of a rule may use modules, functions and literals.",
        )
    for known, other in constants.items():
        if other is value and known.startswith(name):
            return known
    final: str = refs.names.fresh(name)
    constants[final] = value
    return final


def _is_table(value: Any) -> bool:
    """Say whether a constant can be written down: a literal, or a dict or set of literals."""
    if type(value) is dict:
        return is_literal((*value, *value.values()))
    if type(value) in (set, frozenset):
        return bool(value) and is_literal(tuple(value))
    return is_literal(value)


# --- literals ------------------------------------------------------------------------------------

_LITERALS = (types.NoneType, types.EllipsisType, bool, int, float, complex, str, bytes)


def is_literal(value: Any) -> bool:
    """Say whether a value can be written down: a number, a string, None, `...`, or a tuple."""
    if type(value) is tuple:
        return all(map(is_literal, value))
    return type(value) in _LITERALS


def literal(value: Any) -> Node:
    """Return the expression that gives a literal value."""
    if value is ...:
        return gast.Constant(..., None)
    if type(value) is tuple:
        return gast.Tuple([literal(part) for part in value], gast.Load())
    if type(value) is dict:
        return gast.Dict([literal(k) for k in value], [literal(v) for v in value.values()])
    if type(value) in (set, frozenset):
        return gast.Set([literal(part) for part in sorted(value, key=repr)])
    if isinstance(value, float) and not math.isfinite(value):
        return gast.parse(f'float("{value}")').body[0].value
    if isinstance(value, complex) and not (math.isfinite(value.real) and math.isfinite(value.imag)):
        return gast.parse(f'complex("{value}")').body[0].value
    return gast.parse(repr(value)).body[0].value
