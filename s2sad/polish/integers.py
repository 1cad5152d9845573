"""What an expression is computed in: floats, or integers that wrap around.

NumPy's narrow integers keep their dtype: with `n = np.uint8(200)`, `2 * n` is 144 and `-n` is 56.
The user's expression means that. Ours must not: `x * n * n` is no `n * n * x`. Truth values are
integers in this sense, too: a sum of them is another truth value.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.known.callees import Callees
from s2sad.known.dtypes import gives_floats
from s2sad.nodes import Node


@dataclass(frozen=True)
class Integers:
    """What is known of names, and of data outside the function by dotted path."""

    kinds: Mapping[str, Kind]
    outside: Mapping[str, Kind]
    callees: Callees

    def known(self, node: Node) -> Kind | None:
        """Return the kind of a name, or of data outside the function; None of a module."""
        if isinstance(node, gast.Name) and node.id in self.kinds:
            return self.kinds[node.id]
        return self.outside.get(_path(node))

    def may_be_float(self, node: Node) -> bool:
        """Say whether a factor may be a float, so that the product is one without a coefficient.

        Truth values add up to another truth value: what may be one is none that may be a float.
        """
        if isinstance(node, gast.Compare | gast.BoolOp):
            return False
        if isinstance(node, gast.Constant):
            return not isinstance(node.value, int)
        if isinstance(node, gast.List | gast.Tuple):
            return any(map(self.may_be_float, node.elts))
        known = self.known(node)
        if known is not None or isinstance(node, gast.Name):
            return known is None or all(map(_may_be_float, K.options(known)))
        if isinstance(node, gast.BinOp):
            if isinstance(node.op, gast.BitAnd | gast.BitOr | gast.BitXor):
                return False
            if isinstance(node.op, gast.Div | gast.MatMult):
                return True
            return self.may_be_float(node.left) or self.may_be_float(node.right)
        if isinstance(node, gast.UnaryOp):
            return not isinstance(node.op, gast.Not) and self.may_be_float(node.operand)
        if isinstance(node, gast.IfExp):
            return self.may_be_float(node.body) and self.may_be_float(node.orelse)
        if isinstance(node, gast.Subscript):
            return not is_length(node) and self.may_be_float(node.value)
        if isinstance(node, gast.Attribute):
            return node.attr not in ("size", "ndim", "shape") and self.may_be_float(node.value)
        return not isinstance(node, gast.Call) or self._may_give_float(node)

    def _may_give_float(self, node: Node) -> bool:
        """Say whether a call may give a float."""
        fn, first = self.callees.served(node)
        if fn is np.ndarray.astype:
            return not (node.args and self.callees.of(node.args[0]) in (bool, int))
        if self.callees.fits(node):
            return self.may_be_float(node.args[0])
        if fn is np.where:
            return any(map(self.may_be_float, node.args[1:]))
        of_floats = None if fn is None else gives_floats(fn, of_integers=False)
        if not of_floats or gives_floats(fn, of_integers=True) is not False:
            return of_floats is not False
        return first is None or self.may_be_float(first)

    def is_count(self, node: Node) -> bool:
        """Say whether an expression is computed in integers: a length, a setting, a weight."""
        return not self.may_be_float(node) and any(map(self._is_integer, _values(node)))

    def wraps(self, node: Node) -> bool:
        """Say whether an expression may be computed in integers that wrap around."""
        return not self.may_be_float(node) and any(map(self._is_narrow, _values(node)))

    def is_truth(self, node: Node) -> bool:
        """Say whether an expression may be a truth value: its sums are none, it has no negative."""
        return not self.may_be_float(node) and any(map(self._is_truth, _values(node)))

    def stays(self, node: Node) -> bool:
        """Say whether an operation on integers is to stay as it stands in the user's program."""
        if isinstance(node, gast.UnaryOp):
            return self.wraps(node)
        if not isinstance(node, gast.BinOp):
            return False
        sums = isinstance(node.op, gast.Add | gast.Sub)
        return self.is_count(node) or (sums and self.is_truth(node))

    def wraps_in_dot(self, arrays: list[Node]) -> bool:
        """Say whether np.dot of arrays, or of products of them, would wrap, as np.sum does not."""
        if any(map(self.may_be_float, arrays)):
            return False
        return any(self.wraps(a) or self.is_truth(a) for a in arrays)

    def spoils(self, factors: list[Node], minus: bool) -> bool:
        """Say whether a product, begun with these factors, would be one of integers that wrap.

        Two of NumPy's integers make another before a float is met; one may have no negative.
        """
        integers = list(itertools.takewhile(lambda f: not self.may_be_float(f), factors))
        if minus and integers and (self.wraps(integers[0]) or self.is_truth(integers[0])):
            return True
        return sum(any(map(self._is_numpys, _values(f))) for f in integers) > 1

    def _is_integer(self, node: Node) -> bool:
        if isinstance(node, gast.Attribute) and node.attr in ("size", "ndim", "shape"):
            return True
        return self.callees.is_call(node, len) or self._has(node, lambda k: _holds(k, "int"))

    def _is_narrow(self, node: Node) -> bool:
        return self._has(node, lambda k: _holds(k, "int") and k.dtype not in (None, "int64"))

    def _is_numpys(self, node: Node) -> bool:
        return self._has(node, lambda k: _holds(k, "int") and k.dtype is not None)

    def _is_truth(self, node: Node) -> bool:
        if isinstance(node, gast.Compare | gast.BoolOp):
            return True
        return self._has(node, lambda k: _holds(k, "bool"))

    def _has(self, node: Node, test: Callable[[K.Num | K.Array], bool]) -> bool:
        """Say whether a name, or data outside, may be a number or an array that passes a test."""
        known = self.known(node)
        found = () if known is None else K.options(known)
        return any(test(k) for k in found if isinstance(k, K.Num | K.Array))


def is_length(node: Node) -> bool:
    """Say whether an expression is the length of an axis: `x.shape[0]`."""
    return isinstance(node.value, gast.Attribute) and node.value.attr == "shape"


def outside_kinds(of: Mapping[Any, Kind], local: Collection[str]) -> dict[str, Kind]:
    """Return the kinds of numbers and arrays outside a function, by the path to them."""
    found = {_path(n): k for n, k in of.items() if isinstance(k, K.Num | K.Array)}
    return {path: k for path, k in found.items() if path and path.split(".")[0] not in local}


def _path(node: Node) -> str:
    """Return `a.b.c` as it stands in the source, or nothing for another expression."""
    if isinstance(node, gast.Attribute):
        path = _path(node.value)
        return path and f"{path}.{node.attr}"
    return node.id if isinstance(node, gast.Name) else ""


def _values(node: Node) -> Iterator[Node]:
    """Yield an expression, and what its value is computed from: no index, nothing compared."""
    yield node
    if isinstance(node, gast.Compare | gast.BoolOp | gast.Attribute):
        return
    if isinstance(node, gast.Subscript):
        yield from _values(node.value)
        return
    for part in gast.iter_child_nodes(node):
        yield from _values(part)


def _holds(kind: K.Num | K.Array, type_: str) -> bool:
    """Say whether a number is, or an array holds, integers ("int") or truth values ("bool")."""
    if isinstance(kind, K.Num):
        return kind.type == type_
    return (kind.dtype == "bool") is (type_ == "bool") and not K.is_float_dtype(kind.dtype)


def _may_be_float(kind: Kind) -> bool:
    if isinstance(kind, K.Num):
        return kind.type not in ("int", "bool")
    if isinstance(kind, K.List | K.Tuple) and kind.items is not None:
        return any(map(_may_be_float, kind.items))
    if isinstance(kind, K.List):
        return any(map(_may_be_float, K.options(kind.item)))
    return not (isinstance(kind, K.Array) and not K.is_float_dtype(kind.dtype))
