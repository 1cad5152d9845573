"""Make the expressions of the backward sweep what a careful person writes.

    value_bar * (1.0 / y)              ->  value_bar / y
    x_bar + -(t_bar * out) / y         ->  x_bar - t_bar * out / y
    1.0 * np.broadcast_to(s, x.shape) * (2.0 * x)    ->  2.0 * s * x

Products and quotients are gathered into a coefficient, scalar factors first, then arrays; equal
terms of a sum are gathered into one. The user's own expressions are never touched.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import Dim, Kind
from s2sad.known import spaces
from s2sad.known.callees import Callees
from s2sad.nodes import (
    Block,
    Node,
    attribute,
    binary,
    blocks_of,
    call,
    clone,
    constant,
    is_constant,
    key,
    names_read,
    negative,
    number,
)
from s2sad.polish.integers import Integers, is_length

Shape = tuple[Dim, ...]
Broadcast = Callable[[Node], "tuple[Node, Node] | None"]


def simplify(
    block: Block,
    kinds: Mapping[str, Kind],
    numpy: str,
    callees: Callees,
    homes: Mapping[str, Any] | None = None,
    outside: Mapping[str, Kind] | None = None,
) -> Block:
    """Simplify every cotangent expression in a block, in place, and return the block.

    `homes` says what temporaries were computed from: shapes are asked there instead. `outside`
    tells of data outside the function. The text has NumPy, or what does as NumPy does, under the
    name `numpy`.
    """
    worker = _Simplifier(
        kinds, numpy, callees, homes or {}, Integers(kinds, outside or {}, callees)
    )
    worker.block(block)
    return block


@dataclass
class _Product:
    """coefficient * above[0] * above[1] ... / below[0] / below[1] ..."""

    coefficient: float = 1.0
    above: list[Any] = field(default_factory=list)
    below: list[Any] = field(default_factory=list)


class _Simplifier:
    def __init__(
        self,
        kinds: Mapping[str, Kind],
        numpy: str,
        callees: Callees,
        homes: Mapping[str, Any],
        integers: Integers,
    ) -> None:
        self.kinds = kinds
        self.integers = integers
        self.homes = homes
        self.numpy = numpy
        self.callees = callees
        self.done: set[Any] = set()

    def block(self, block: Block) -> None:
        for s in block:
            if isinstance(s, gast.Assign | gast.Return) and s.value is not None:
                s.value = self.expression(s.value)
            elif isinstance(s, gast.AugAssign):
                s.value = self.spread(s)
                positive = self.without_minus(s.value)
                if positive is not None and isinstance(s.op, gast.Add):
                    s.op, s.value = gast.Sub(), positive
            elif isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
                s.value.args = [self.expression(a) for a in s.value.args]
            for part in blocks_of(s):
                self.block(part)

    def without_minus(self, node: Node) -> Node | None:
        """Return an expression without the minus sign it begins with; None where it has none."""
        value = number(node)
        if value is not None:
            return constant(-value) if value < 0 else None
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            return None if self.stays(node) else node.operand
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult | gast.Div):
            left = None if self.stays(node) else self.without_minus(node.left)
            return None if left is None else gast.BinOp(left, node.op, node.right)
        return None

    def spread(self, s: Node) -> Node:
        """What is added in place is broadcast by the addition itself."""
        value = self.expression(s.value)
        if isinstance(value, gast.BinOp) and number(value.left) == 1.0:
            if isinstance(value.op, gast.Mult):
                value = value.right
        inner = self.broadcast_parts(value)
        if inner is not None and isinstance(s.target, gast.Subscript):
            return inner[0]
        return value

    # expressions

    def stays(self, node: Node) -> bool:
        """Say whether an operation is to stay as it stands: one of integers, or of lists."""
        return self.integers.stays(node) or self.is_joined(node)

    def is_joined(self, node: Node) -> bool:
        """Say whether an operation joins or repeats lists: no sum, and no product."""
        return isinstance(node, gast.BinOp) and any(map(self.is_list, (node.left, node.right)))

    def is_list(self, node: Node) -> bool:
        """Say whether an expression is a list that is joined: a display, a name, a join."""
        known = self.integers.known(node)
        return isinstance(node, gast.List) or isinstance(known, K.List) or self.is_joined(node)

    def expression(self, node: Node) -> Node:
        """Return an expression simplified; what has been, in a larger one, stays as it is."""
        kind = node.__class__
        if kind is gast.Name or kind is gast.Constant or node in self.done:
            return node
        made = self._simplified(node)
        self.done.add(made)
        return made

    def _simplified(self, node: Node) -> Node:
        if self.is_joined(node):
            node.left, node.right = self.expression(node.left), self.expression(node.right)
            return node
        if isinstance(node, gast.BinOp | gast.UnaryOp) and self.stays(node):
            return node
        if isinstance(node, gast.BinOp):
            if isinstance(node.op, gast.Mult | gast.Div):
                whole = _whole_product(node)
                return self.rebuild(self.product(node)) if whole is None else whole
            if isinstance(node.op, gast.Add | gast.Sub):
                return self.sum(node)
            return self.power(node)
        if isinstance(node, gast.UnaryOp):
            if isinstance(node.op, gast.USub) and not is_constant(node.operand):
                return self.rebuild(self.product(node))
            return node
        if isinstance(node, gast.Call):
            return self.call(node)
        if isinstance(node, gast.Tuple | gast.List):
            node.elts = [self.expression(e) for e in node.elts]
        elif isinstance(node, gast.Attribute):
            node.value = self.expression(node.value)
            if node.attr in ("shape", "size") and isinstance(node.value, gast.Name):
                if self.is_number(node.value):
                    return constant(() if node.attr == "shape" else 1)
                node.value.id = self.home(node.value.id)
        elif isinstance(node, gast.Compare):
            return self.compare(node)
        elif isinstance(node, gast.Subscript):
            return self.subscript(node)
        return node

    def home(self, variable: str) -> str:
        """Return a variable of the user's with a temporary's shape, or the temporary."""
        value = self.homes.get(variable)
        wanted = _dims(self.kinds.get(variable))
        if value is None or wanted is None:
            return variable
        for other in sorted(names_read(value)):
            kind = self.kinds.get(other)
            if kind is not None and _has_shape(kind) and self.equal_shapes(_dims(kind), wanted):
                return self.home(other)
        return variable

    def subscript(self, node: Node) -> Node:
        node.value = self.expression(node.value)
        display, index = node.value, node.slice
        if isinstance(display, gast.Tuple) and isinstance(index, gast.Constant):
            if type(index.value) is int and -len(display.elts) <= index.value < len(display.elts):
                return display.elts[index.value]
        if isinstance(index, gast.Tuple) and not index.elts and is_constant(display):
            return display
        return node

    def is_number(self, node: Node) -> bool:
        """Say whether an expression is a literal or a variable that is a number, no array."""
        return isinstance(node, gast.Constant) or (
            isinstance(node, gast.Name) and isinstance(self.kinds.get(node.id), K.Num)
        )

    def compare(self, node: Node) -> Node:
        node.left = self.expression(node.left)
        node.comparators = [self.expression(c) for c in node.comparators]
        left, right = _quotient(node.left), _quotient(node.comparators[0])
        if len(node.ops) == 1 and left is not None and right is not None:
            if isinstance(node.ops[0], gast.NotEq):
                return constant(int(left != right))
            if isinstance(node.ops[0], gast.Eq):
                return constant(int(left == right))
        return node

    def call(self, node: Node) -> Node:
        if self.callees.copied(node) is not None:
            node.func.value = self.expression(node.func.value)
            return node
        node.args = [self.expression(a) for a in node.args]
        for k in node.keywords:
            k.value = self.expression(k.value)
        if node.keywords:
            usual = registry.defaults(self.callees.of(node.func))
            node.keywords = [k for k in node.keywords if not _is_default(k, usual)]
        parts = self.broadcast_parts(node)
        if parts is not None and self.is_number(parts[0]):
            if isinstance(parts[1], gast.Tuple) and not parts[1].elts:
                return parts[0]
        if parts is not None and self.shape(parts[0]) not in (None, ()):
            same = self.equal_shapes(self.shape(parts[0]), self.shape_of_shape(parts[1]))
            if same:
                return parts[0]
        if self.callees.fits(node):
            wanted = self.shape_of_shape(node.args[1])
            if wanted is not None and self.equal_shapes(self.shape(node.args[0]), wanted):
                return node.args[0]
        if self.callees.is_call(node, np.sum) and len(node.args) == 1 and not node.keywords:
            return self.summed(node)
        return node

    def summed(self, node: Node) -> Node:
        """np.sum of a scalar times arrays: the scalar comes out; of two vectors: np.dot."""
        product = self.product(node.args[0])
        scalars = [f for f in product.above if self.shape(f) == ()]
        arrays = [f for f in product.above if self.shape(f) != ()]
        below = [f for f in product.below if self.shape(f) == ()]
        if not arrays or len(below) != len(product.below):
            return node
        if len(arrays) > 1 and self.integers.wraps_in_dot(arrays):
            return node
        inner = self._dot(arrays) or self._sum_of(arrays, node)
        return self.rebuild(_Product(product.coefficient, [*scalars, inner], below))

    def _sum_of(self, arrays: list[Node], node: Node) -> Node:
        return gast.Call(node.func, [self.rebuild(_Product(1.0, arrays, []))], [])

    def _dot(self, arrays: list[Node]) -> Node | None:
        if len(arrays) != 2:
            return None
        left, right = (self.shape(a) for a in arrays)
        if left is None or right is None or len(left) != 1 or not self.equal_shapes(left, right):
            return None
        dot = gast.Attribute(gast.Name(self.numpy, gast.Load(), None, None), "dot", gast.Load())
        return gast.Call(dot, arrays, [])

    def broadcast_parts(self, node: Node) -> tuple[Node, Node] | None:
        """Return value and shape of np.broadcast_to(value, shape)."""
        if self.callees.is_call(node, np.broadcast_to) and len(node.args) == 2:
            return node.args[0], node.args[1]
        return None

    def power(self, node: Node) -> Node:
        node.left = self.expression(node.left)
        node.right = self.expression(node.right)
        left, right = number(node.left), number(node.right)
        if isinstance(node.op, gast.Pow):
            if right == 1:
                return node.left
            if right == 0 and type(right) is int and self.shape(node.left) == ():
                return constant(1.0)
        if left is not None and right is not None and isinstance(node.op, gast.Pow):
            value = _folded(node.op, left, right)
            if value is not None:
                return value
        return node

    # products

    def product(self, node: Node) -> _Product:
        out = _Product()
        self._gather(node, out, above=True)
        self._cancel_broadcasts(out)
        return out

    def _gather(self, node: Node, out: _Product, above: bool) -> None:
        value = number(node)
        if value is not None:
            if above:
                out.coefficient *= float(value)
            elif value != 0 and _exact(value):
                out.coefficient /= value
            else:
                out.below.append(constant(float(value)))
            return
        if self.stays(node):
            (out.above if above else out.below).append(node)
            return
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            out.coefficient = -out.coefficient
            self._gather(node.operand, out, above)
            return
        if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult):
            if above:
                self._gather(node.left, out, above)
                self._gather(node.right, out, above)
                return
        elif isinstance(node, gast.BinOp) and isinstance(node.op, gast.Div) and above:
            self._gather(node.left, out, True)
            self._gather(node.right, out, False)
            return
        simple = self.expression(node) if not _is_product(node) else self.rebuild(self._inner(node))
        if (
            _is_product(simple)
            and above
            and not (isinstance(simple, gast.BinOp) and isinstance(simple.op, gast.Div))
        ) or number(simple) is not None:
            self._gather(simple, out, above)
        else:
            (out.above if above else out.below).append(simple)

    def _inner(self, node: Node) -> _Product:
        inner = _Product()
        if isinstance(node, gast.BinOp):
            self._gather(node.left, inner, True)
            self._gather(node.right, inner, isinstance(node.op, gast.Mult))
        else:
            self._gather(node.operand, inner, True)
            inner.coefficient = -inner.coefficient
        self._cancel_broadcasts(inner)
        return inner

    def _cancel_broadcasts(self, out: _Product) -> None:
        """Drop np.broadcast_to(s, shape) to s where another factor has that shape already."""
        for position, factor in enumerate(out.above):
            parts = self.broadcast_parts(factor)
            if parts is None:
                continue
            wanted = self.shape_of_shape(parts[1])
            if wanted is None:
                continue
            others = [self.shape(f) for i, f in enumerate(out.above) if i != position]
            others += [self.shape(f) for f in out.below]
            if any(self.equal_shapes(o, wanted) for o in others):
                inner = _Product()
                self._gather(parts[0], inner, True)
                out.coefficient *= inner.coefficient
                out.above[position : position + 1] = inner.above
                out.below += inner.below
                self._cancel_broadcasts(out)
                return

    def rebuild(self, p: _Product) -> Node:
        """Return a product as an expression: scalars before arrays, a minus sign in front."""
        scalars = [f for f in p.above if self.shape(f) == ()]
        arrays = [f for f in p.above if self.shape(f) != ()]
        scalar_below = [f for f in p.below if self.shape(f) == ()]
        array_below = [f for f in p.below if self.shape(f) != ()]
        node: Node | None = None
        minus = p.coefficient < 0
        size = abs(p.coefficient)
        spoiled = size == 1.0 and self.integers.spoils([*scalars, *arrays], minus)
        if spoiled:
            self._float_first(scalars, arrays)
            spoiled = self.integers.spoils([*scalars, *arrays], minus)
        floats = any(map(self.integers.may_be_float, p.above))
        if size != 1.0 or spoiled or (p.above and not p.below and not floats):
            node = constant(size)
        for f in scalars:
            node = f if node is None else binary(node, gast.Mult, f)
        if node is None and arrays and scalar_below:
            node = arrays.pop(0)
        for f in scalar_below:
            node = binary(constant(1.0) if node is None else node, gast.Div, f)
        for f in arrays:
            node = f if node is None else binary(node, gast.Mult, f)
        for f in array_below:
            node = binary(constant(1.0) if node is None else node, gast.Div, f)
        if node is None:
            node = constant(1.0)
        return self._minus(node) if minus else node

    def _float_first(self, scalars: list[Node], arrays: list[Node]) -> None:
        """Let a product that would begin with integers that wrap begin with a float, if it can."""
        for some in (scalars, arrays):
            at = next((i for i, f in enumerate(some) if self.integers.may_be_float(f)), None)
            if at is not None:
                scalars.insert(0, some.pop(at))
                return

    # sums

    def sum(self, node: Node) -> Node:
        copies = [self.callees.copied(n) for n in (node.left, node.right)]
        if any(copies):  # a sum is a new array, unless one term remains
            left, right = copies[0] or node.left, copies[1] or node.right
            total = self.sum(gast.BinOp(left, node.op, right))
            fresh = isinstance(total, gast.BinOp | gast.UnaryOp)
            return total if fresh else call(attribute(total, "copy"))
        node.left, node.right = self.expression(node.left), self.expression(node.right)
        left, right = number(node.left), number(node.right)
        if left is not None and right is not None:
            folded = _folded(node.op, left, right)
            if folded is not None:
                return folded
        terms: list[tuple[float, Node]] = []
        self._terms(node, 1.0, terms)
        return self._sum_up(terms)

    def _terms(self, node: Node, sign: float, terms: list[tuple[float, Node]]) -> None:
        if self._is_sum(node):
            self._terms(node.left, sign, terms)
            self._terms(node.right, sign if isinstance(node.op, gast.Add) else -sign, terms)
            return
        node = self.expression(node)
        if self._is_sum(node):
            self._terms(node, sign, terms)
            return
        value = number(node)
        if value is not None:
            terms.append((sign, node) if value >= 0 else (-sign, constant(-value)))
            return
        sign, node = self._strip(node, sign)
        terms.append((sign, node))

    def _is_sum(self, node: Node) -> bool:
        """Say whether a sum may be taken apart."""
        if not isinstance(node, gast.BinOp) or not isinstance(node.op, gast.Add | gast.Sub):
            return False
        return not self.stays(node)

    def _sum_up(self, terms: list[tuple[float, Node]]) -> Node:
        merged: list[tuple[float, Node]] = []
        places: dict[Any, int] = {}
        scaled: set[int] = set()
        for sign, node in terms:
            if number(node) == 0.0 and len(terms) > 1:
                continue
            factor, base = self._coefficient(node)
            at = places.get(key(base)) if number(node) is None else None
            if at is None:
                at = places[key(base)] = len(merged)
                merged.append((sign * factor, base))
            else:
                merged[at] = (merged[at][0] + sign * factor, base)
            if base is not node:
                scaled.add(at)
        parts = [(c, b, i in scaled) for i, (c, b) in enumerate(merged) if c != 0.0]
        parts = parts or [(0.0, terms[0][1], True)]
        first = next((i for i, (c, _, _) in enumerate(parts) if c > 0), 0)
        parts.insert(0, parts.pop(first))
        # A coefficient makes numbers of truth values, unless there is a float to add them to.
        sure = any(abs(c) != 1.0 or self.integers.may_be_float(b) for c, b, _ in parts[:2])
        total: Node | None = None
        for c, base, kept in parts:
            bare = abs(c) == 1.0 and (sure or not kept)
            term = base if bare else self.rebuild(self._scaled(abs(c), base))
            sure = sure or kept
            if total is None:
                total = self._minus(term) if c < 0 else term
            else:
                total = binary(total, gast.Sub if c < 0 else gast.Add, term)
        assert total is not None
        return total

    def _scaled(self, factor: float, base: Node) -> _Product:
        product = self.product(clone(base))
        product.coefficient *= factor
        return product

    # the first factor

    def _leftmost(self, node: Node) -> tuple[Node, list[Node]]:
        """Return the first factor of a product, and the chain of products above it."""
        above: list[Node] = []
        while isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult | gast.Div):
            if self.stays(node):
                break
            above.append(node)
            node = node.left
        return node, above

    def _minus(self, node: Node) -> Node:
        """Put a minus sign in front of a product's first factor."""
        first, above = self._leftmost(node)
        value = number(first)
        if value is None and self.integers.spoils([first], minus=True):
            signed = binary(constant(-1.0), gast.Mult, first)
        else:
            signed = constant(-value) if value is not None else negative(first)
        for link in reversed(above):
            signed = gast.BinOp(signed, link.op, link.right)
        return signed

    def _strip(self, node: Node, sign: float) -> tuple[float, Node]:
        """Take a minus sign off a product's first factor."""
        first, above = self._leftmost(node)
        value = number(first)
        if value is not None and value < 0:
            bare: Node = constant(-value)
        elif isinstance(first, gast.UnaryOp) and isinstance(first.op, gast.USub):
            if self.stays(first):
                return sign, node
            bare = first.operand
        else:
            return sign, node
        for link in reversed(above):
            bare = gast.BinOp(bare, link.op, link.right)
        return -sign, bare

    def _coefficient(self, node: Node) -> tuple[float, Node]:
        """Split `2.0 * x` into 2.0 and x."""
        first, above = self._leftmost(node)
        value = number(first)
        if value is None or not above or isinstance(above[-1].op, gast.Div):
            return 1.0, node
        bare = above[-1].right
        for link in reversed(above[:-1]):
            bare = gast.BinOp(bare, link.op, link.right)
        factors = itertools.takewhile(lambda n: isinstance(n.op, gast.Mult), reversed(above))
        if self.integers.spoils([link.right for link in factors], minus=False):
            return 1.0, node
        return float(value), bare

    # shapes

    def shape(self, node: Node) -> Shape | None:
        """Return the axis lengths of an expression, () for a scalar, None where not known."""
        if isinstance(node, gast.Constant):
            return ()
        if isinstance(node, gast.Name):
            return _dims(self.kinds.get(node.id))
        if isinstance(node, gast.UnaryOp):
            return self.shape(node.operand)
        if isinstance(node, gast.BinOp):
            if isinstance(node.op, gast.MatMult):
                return self._matmul(node)
            left, right = self.shape(node.left), self.shape(node.right)
            return None if left is None or right is None else K.broadcast(left, right)
        if isinstance(node, gast.Attribute):
            if node.attr in ("size", "ndim"):
                return ()
            if node.attr == "T":
                inner = self.shape(node.value)
                return None if inner is None else inner[::-1]
            return None
        if isinstance(node, gast.Call):
            return self._call_shape(node)
        if isinstance(node, gast.Subscript):
            return () if is_length(node) else self._item_shape(node)
        return None

    def _item_shape(self, node: Node) -> Shape | None:
        """Return the shape of `A[i, j]`: the axes that are left of an array."""
        owner = self.kinds.get(node.value.id) if isinstance(node.value, gast.Name) else None
        parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
        if not isinstance(owner, K.Array) or len(parts) > owner.rank:
            return None
        return owner.dims[len(parts) :] if all(map(self._is_number, parts)) else None

    def _is_number(self, index: Node) -> bool:
        """Say whether an index is one integer."""
        if isinstance(index, gast.BinOp):
            return self._is_number(index.left) and self._is_number(index.right)
        if isinstance(index, gast.UnaryOp):
            return self._is_number(index.operand)
        if isinstance(index, gast.Name):
            known = self.kinds.get(index.id)
            return isinstance(known, K.Num) and known.type == "int"
        return isinstance(index, gast.Constant) and type(index.value) is int

    def _matmul(self, node: Node) -> Shape | None:
        left, right = self.shape(node.left), self.shape(node.right)
        if left is None or right is None or not left or not right:
            return None
        if len(left) > 2 or len(right) > 2:
            return None
        return left[:-1] + (right[1:] if len(right) == 2 else ())

    def _call_shape(self, node: Node) -> Shape | None:
        fn = spaces.twin(self.callees.of(node.func))
        if fn is np.broadcast_to:
            return self.shape_of_shape(node.args[1])
        if fn is None or node.keywords:
            return None
        if fn is len or fn is np.size or getattr(fn, "__module__", "") == math.__name__:
            return ()
        if len(node.args) == 1 and registry.reduces(fn):
            return ()
        shapes = [self.shape(a) for a in node.args]
        if fn is np.zeros_like or fn is np.ones_like:
            return shapes[0]
        if (fn is np.where and len(shapes) == 3) or registry.is_elementwise(fn):
            return self._broadcast(shapes)
        vectors = [s for s in shapes if s is not None and len(s) == 1]
        if len(vectors) != 2 or len(shapes) != 2:
            return None
        return () if fn is np.dot else vectors[0] + vectors[1] if fn is np.outer else None

    @staticmethod
    def _broadcast(shapes: list[Shape | None]) -> Shape | None:
        total: Shape | None = ()
        for part in shapes:
            total = None if total is None or part is None else K.broadcast(total, part)
        return total

    def shape_of_shape(self, node: Node) -> Shape | None:
        """Return the lengths that an expression for a shape (`x.shape`) stands for."""
        if isinstance(node, gast.Attribute) and node.attr == "shape":
            return self.shape(node.value)
        if self.callees.is_call(node, np.shape) and len(node.args) == 1:
            return self.shape(node.args[0])
        return None

    @staticmethod
    def equal_shapes(left: Shape | None, right: Shape | None) -> bool:
        if left is None or right is None or len(left) != len(right):
            return False
        return all(K.same_length(a, b) for a, b in zip(left, right, strict=True))


def _has_shape(kind: Kind) -> bool:
    """Say whether values of a kind have a shape: Python's own numbers have none."""
    return not (isinstance(kind, K.Num) and kind.dtype in (None, "any"))


def _is_default(keyword: Node, usual: Mapping[str, Any]) -> bool:
    """Say whether a keyword gives the constant that a setting has anyway."""
    if not isinstance(keyword.value, gast.Constant) or keyword.arg not in usual:
        return False
    given, default = keyword.value.value, usual[keyword.arg]
    return type(given) is type(default) and bool(given == default)


def _dims(kind: Kind | None) -> Shape | None:
    if isinstance(kind, K.Num):
        return ()
    return kind.dims if isinstance(kind, K.Array) else None


def _exact(value: float) -> bool:
    """Say whether dividing by a number is multiplying by its reciprocal, to the last bit."""
    mantissa = abs(value)
    while mantissa > 1:
        mantissa /= 2
    while 0 < mantissa < 1:
        mantissa *= 2
    return mantissa == 1


def _quotient(node: Node) -> float | int | None:
    """Return the value of a literal number, or of one over another: `1.0 / 3.0`."""
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Div):
        above, below = number(node.left), number(node.right)
        return above / below if above is not None and below else None
    return number(node)


def _folded(op: Node, left: float, right: float) -> Node | None:
    if isinstance(op, gast.Add):
        return constant(left + right)
    if isinstance(op, gast.Sub):
        return constant(left - right)
    if isinstance(op, gast.Pow) and isinstance(right, int) and abs(right) <= 8 and left != 0:
        return constant(left**right)
    return None


def _whole_product(node: Node) -> Node | None:
    """Return the product of two literal integers, which may be a length: no float."""
    left, right = number(node.left), number(node.right)
    if isinstance(node.op, gast.Mult) and type(left) is int and type(right) is int:
        return constant(left * right)
    return None


def _is_product(node: Node) -> bool:
    if isinstance(node, gast.UnaryOp):
        return isinstance(node.op, gast.USub) and not is_constant(node)
    return isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult | gast.Div)
