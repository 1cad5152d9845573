"""Does a function do nothing but compute what it returns? Then nobody can tell how often it ran.

def area(r):                        def run(r):
    return np.pi * r**2                 print("running")         # heard
                                        return solver.run(r)     # may be: nobody knows

Where the source cannot be read, or calls what is not known, the answer is no.
"""

from __future__ import annotations

import builtins
import inspect
import textwrap
import types
import weakref
from collections.abc import Iterator
from typing import Any

import gast
import numpy as np

from s2sad import registry
from s2sad.known.generators import generator_of, is_drawing
from s2sad.nodes import Node, walk

_STRANGE = (
    *(gast.Global, gast.Nonlocal, gast.Yield, gast.YieldFrom, gast.Await),
    *(gast.Import, gast.ImportFrom, gast.ClassDef),
)

_known: weakref.WeakKeyDictionary[types.FunctionType, tuple[types.CodeType, bool]] = (
    weakref.WeakKeyDictionary()
)


def is_quiet(fn: Any) -> bool:
    """Say whether a function only computes. It may write into what it is given."""
    if registry.effects_of(fn).does == "refuses":
        return False
    if registry.is_ours(fn):
        return True
    if isinstance(fn, types.FunctionType) and not registry.is_foreign(fn):
        return _by_source(fn)
    if generator_of(fn) is not None or is_drawing(fn):
        return False
    rule = registry.rule_for(fn)
    if rule is not None and any(map(registry.is_ours, _rules_of(rule))):
        return True
    does = registry.effects_of(fn).does
    home = str(getattr(fn, "__module__", None) or "").partition(".")[0]
    if home == "builtins":
        return does in ("nothing", "calls")
    if isinstance(fn, type):
        made = getattr(fn, "__init__", None)
        return not isinstance(made, types.FunctionType) or is_quiet(made)
    return (home in ("math", "cmath") or registry.is_foreign(fn)) and does != "outside"


def is_heard(fn: Any) -> bool:
    """Say whether the source of a function of the user's shows that it may do more than compute."""
    own = isinstance(fn, types.FunctionType) and not registry.is_ours(fn)
    return own and not is_quiet(fn) and definition(fn) is not None


def definition(fn: Any) -> Node | None:
    """Return the definition of a function, None where it cannot be read."""
    fn = getattr(fn, "func", fn)
    if not isinstance(fn, types.FunctionType):
        return None
    try:
        body = gast.parse(textwrap.dedent(inspect.getsource(fn))).body[0]
    except (OSError, SyntaxError):
        return None
    return body if isinstance(body, gast.FunctionDef) else None


def _rules_of(rule: registry.Rule) -> list[Any]:
    return [r for r in (rule.partials, rule.pullback, rule.pushforward) if r is not None]


def _by_source(fn: types.FunctionType) -> bool:
    known = _known.get(fn)
    if known is None or known[0] is not fn.__code__:
        _known[fn] = fn.__code__, True  # while it is looked at: it may call itself
        tree = definition(fn)
        _known[fn] = known = fn.__code__, tree is not None and not _is_heard(fn, tree)
    return known[1]


def _is_heard(fn: types.FunctionType, tree: Node) -> bool:
    nodes = [n for s in tree.body for n in walk(s)]
    inner = {n.name for n in nodes if isinstance(n, gast.FunctionDef)}
    bound = {n.id for n in nodes if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)}
    own = bound | inner | set(inspect.signature(fn, follow_wrapped=False).parameters)
    for n in nodes:
        if isinstance(n, _STRANGE) or any(root not in own for root in _parts_written(n)):
            return True
        if isinstance(n, gast.Call) and not _is_quiet_call(fn, n.func, own, inner):
            return True
    return False


def _is_quiet_call(fn: types.FunctionType, func: Node, own: set[str], inner: set[str]) -> bool:
    if isinstance(func, gast.Name) and func.id in own:
        return func.id in inner
    value = _denoted(fn, func, own)
    if value is not None:
        return is_quiet(value)
    if not isinstance(func, gast.Attribute):
        return False
    word = func.attr
    looks = registry.method_only_looks(word) or registry.method_function(word) is not None
    return looks or (registry.method_writes(word) and _root(func) in own)


def _denoted(fn: types.FunctionType, node: Node, own: set[str]) -> Any:
    """Return what a name outside, or an attribute of a module or class, stands for, or None."""
    if isinstance(node, gast.Name) and node.id not in own:
        cells = zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
        held = {n: c.cell_contents for n, c in cells if n == node.id and _is_filled(c)}
        outside = {**vars(builtins), **fn.__globals__, **held}
        return outside.get(node.id)
    if isinstance(node, gast.Attribute):
        owner = _denoted(fn, node.value, own)
        if isinstance(owner, types.ModuleType | type | types.FunctionType | np.ufunc):
            return getattr(owner, node.attr, None)
    return None


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def _parts_written(s: Node) -> Iterator[str]:
    """Yield the names of what a statement writes or deletes parts of."""
    targets = getattr(s, "targets", None) or [getattr(s, "target", None)]
    for target in targets:
        if isinstance(target, gast.Subscript | gast.Attribute):
            yield _root(target)


def _root(node: Node) -> str:
    while isinstance(node, gast.Subscript | gast.Attribute | gast.Call):
        node = node.func if isinstance(node, gast.Call) else node.value
    return getattr(node, "id", "")
