"""Numbers that a device's functions are given are made arrays of the device.

x_bar = cp.broadcast_to(1.0, x.shape)     x_bar = cp.full(x.shape, 1.0)
s_bar = cp.expand_dims(2.0 * c, 0)        s_bar = cp.expand_dims(cp.asarray(2.0 * c), 0)

A cotangent without axes may be a number of Python's: it began as the seed, 1.0. NumPy's functions
take that for an array, CuPy's do not.
"""

from __future__ import annotations

from collections.abc import Mapping

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import Kind
from s2sad.nodes import Block, Node, attribute, call, clone, name, walk


def devices(
    body: Block, kinds: Mapping[str, Kind], bars: Mapping[str, Kind], device: str, helpers: set[str]
) -> Block:
    """Return a body in which no number stands where a function of the device wants an array.

    `device` is how its module is written, `helpers` are the rules' functions that work there.
    """
    plain = _plain_names(body, kinds, bars)
    kinds = {**kinds, **bars}
    for s in body:
        for node in list(walk(s)):
            if isinstance(node, gast.Call):
                _settle(node, plain, kinds, device, helpers)
    return body


def _settle(
    node: Node, plain: set[str], kinds: Mapping[str, Kind], device: str, helpers: set[str]
) -> None:
    func = node.func
    if isinstance(func, gast.Attribute) and func.attr == "copy" and not node.args:
        if _is_plain(func.value, plain, kinds):
            node.args = [func.value]
            node.func, node.keywords = attribute(name(device), "array"), []
        return
    if isinstance(func, gast.Name) and func.id in helpers:
        node.args = [_array(a, device) if _is_float(a, plain) else a for a in node.args]
        return
    if not _is_of(func, device) or not node.args or _takes_numbers(func.attr):
        return
    first = node.args[0]
    if func.attr == "broadcast_to" and _has_no_axes(first, kinds):
        func.attr = "full"
        node.args = [node.args[1], first, *node.args[2:]]
    elif isinstance(first, gast.List | gast.Tuple):
        first.elts = [_array(e, device) if _is_float(e, plain) else e for e in first.elts]
    elif _is_plain(first, plain, kinds):
        node.args[0] = _array(first, device)
    if registry.numbers_of(getattr(np, func.attr, None)).form in ("inner", "outer"):
        node.args[1:2] = [
            _array(a, device) if _is_plain(a, plain, kinds) else a for a in node.args[1:2]
        ]


def _takes_numbers(word: str) -> bool:
    """Say whether a device's function takes numbers: for each element, or to make an array."""
    fn = getattr(np, word, None)
    each = isinstance(fn, np.ufunc) and fn.signature is None
    return each or registry.effects_of(fn).scalars


def _has_no_axes(node: Node, kinds: Mapping[str, Kind]) -> bool:
    """Say whether a value is surely one number, on the device or not."""
    if isinstance(node, gast.Name):
        found = K.options(kinds.get(node.id, K.UNKNOWN))
        return all(isinstance(k, K.Num) or getattr(k, "rank", 1) == 0 for k in found)
    if isinstance(node, gast.BinOp):
        return _has_no_axes(node.left, kinds) and _has_no_axes(node.right, kinds)
    if isinstance(node, gast.UnaryOp):
        return _has_no_axes(node.operand, kinds)
    if isinstance(node, gast.Call):
        return _is_plain(node, set(), kinds)
    return isinstance(node, gast.Constant) or _is_plain(node, set(), kinds)


def _array(node: Node, device: str) -> Node:
    return call(attribute(name(device), "asarray"), clone(node))


def _is_of(func: Node, device: str) -> bool:
    while isinstance(func, gast.Attribute):
        if isinstance(func.value, gast.Name):
            return bool(func.value.id == device)
        func = func.value
    return False


def _plain_names(body: Block, kinds: Mapping[str, Kind], bars: Mapping[str, Kind]) -> set[str]:
    """Return the cotangents that may be numbers: what is assigned one, and what nothing sets."""
    assigned: dict[str, list[Node]] = {}
    for s in body:
        for node in walk(s):
            if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Name):
                assigned.setdefault(node.targets[0].id, []).append(node.value)
    found = {
        n for n, k in bars.items() if n not in assigned and isinstance(k, K.Array) and not k.rank
    }
    kinds = {**kinds, **bars}
    while True:
        more = {
            n
            for n, values in assigned.items()
            if n in bars and any(_is_plain(v, found, kinds) for v in values)
        }
        if more <= found:
            return found
        found |= more


def _is_float(node: Node, plain: set[str]) -> bool:
    """Say whether a node is a float, or made of floats and cotangents that may be numbers."""
    if isinstance(node, gast.Constant):
        return isinstance(node.value, float)
    if isinstance(node, gast.Name):
        return node.id in plain
    if isinstance(node, gast.BinOp):
        sides = (node.left, node.right)
        return any(_is_float(n, plain) for n in sides) and _is_plain(node, plain, {})
    return isinstance(node, gast.UnaryOp) and _is_float(node.operand, plain)


def _is_plain(node: Node, plain: set[str], kinds: Mapping[str, Kind]) -> bool:
    """Say whether a value may be a number of Python's."""
    if isinstance(node, gast.Constant):
        return isinstance(node.value, int | float | complex)
    if isinstance(node, gast.Name):
        found = K.options(kinds.get(node.id, K.UNKNOWN))
        return node.id in plain or any(
            isinstance(k, K.Num) and k.dtype in (None, "any") for k in found
        )
    if isinstance(node, gast.BinOp):
        return _is_plain(node.left, plain, kinds) and _is_plain(node.right, plain, kinds)
    if isinstance(node, gast.UnaryOp):
        return _is_plain(node.operand, plain, kinds)
    if isinstance(node, gast.IfExp):
        return _is_plain(node.body, plain, kinds) or _is_plain(node.orelse, plain, kinds)
    if isinstance(node, gast.Call):
        named = isinstance(node.func, gast.Name) and node.func.id in ("len", "float", "real")
        cast = isinstance(node.func, gast.Attribute) and node.func.attr in _CASTS
        return named or (cast and len(node.args) == 1 and _is_plain(node.args[0], plain, kinds))
    if isinstance(node, gast.Subscript):
        return isinstance(node.value, gast.Attribute) and node.value.attr == "shape"
    if isinstance(node, gast.Compare):
        return all(_is_plain(n, plain, kinds) for n in [node.left, *node.comparators])
    return isinstance(node, gast.Attribute) and node.attr in ("size", "ndim", "pi", "e", "inf")


_CASTS = frozenset("float16 float32 float64 complex64 complex128".split())
