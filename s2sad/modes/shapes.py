"""Contributions in the shape and dtype of what they go to: summed where it was broadcast, cast."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.errors import Error
from s2sad.kinds import Kind
from s2sad.known.lifted import space_among
from s2sad.known.mixed import is_mixed
from s2sad.known.spaces import NUMPY
from s2sad.modes.refs import Refs
from s2sad.names import Names
from s2sad.nodes import (
    Node,
    attribute,
    call,
    clone,
    constant,
    dotted,
    name,
    names_read,
    tuple_,
    walk,
)
from s2sad.stages import SourceLike


class Shapes:
    """Knows the kinds of the operands of one function."""

    def __init__(
        self,
        source: SourceLike,
        kinds: dict[Any, Kind],
        objects: dict[Any, Any],
        refs: Refs,
        names: Names,
    ) -> None:
        self.source = source
        self.kinds = kinds
        self.objects = objects
        self.refs = refs
        self.names = names
        self.wanted: frozenset[str] = frozenset()
        self.space = NUMPY
        self.aux_result: str | None = None
        self.assume: Callable[[K.Dim], bool] = lambda _: False
        self.displays: set[str] = set()
        self.distinct: set[str] = set()

    def kind(self, node: Node) -> Kind:
        return self.kinds.get(node, K.UNKNOWN)

    def space_of(self, kind: Kind, node: Node) -> str:
        """Return the namespace in which an operation is worked out, backward too."""
        used = names_read(node)
        operands = [self.kind(n) for n in walk(node) if getattr(n, "id", None) in used]
        return space_among([kind, *operands])

    def np(self, path: str) -> Node:
        """Return `np.path` under the name that the text has for the namespace at work."""
        return dotted(f"{self.refs.space(self.space)}.{path}")

    def refuse(self, cls: type[Error], node: Node, reason: str, remedy: str) -> Error:
        return cls(reason, remedy=remedy, place=self.source.place(node))

    def fit(self, value: Node, kind: Kind, arg: Node, others: Iterable[Node] = ()) -> Node:
        """Sum a contribution over the axes along which its argument was broadcast.

        `others` are the operands beside the argument: where these are scalars, or the argument
        itself, nothing was broadcast.
        """
        target = self.kind(arg)
        if isinstance(kind, K.Union) or isinstance(target, K.Union):
            if not self._never_broadcast(kind, target, arg, others):
                helper = name(self.refs.function(runtime.unbroadcast))
                value = call(helper, value, call(self.np("shape"), clone(arg)))
        elif isinstance(kind, K.Array):
            if isinstance(target, K.Num):
                if kind.rank or kind.namespace == NUMPY:
                    value = call(self.np("sum"), value)
            elif isinstance(target, K.Array):
                value = self._unbroadcast(value, kind, target, arg)
        return self.cast(value, kind, arg)

    def _never_broadcast(self, kind: Kind, target: Kind, arg: Node, others: Iterable[Node]) -> bool:
        if all(isinstance(self.kind(o), K.Num) or _same_name(o, arg) for o in others):
            return True
        shapes = [_dims_of(k) for k in K.options(kind)]
        return all(
            K.same_shape(_dims_of(k), dims)
            for k in K.carriers(target)
            for dims in shapes
            if len(_dims_of(k)) <= len(dims)
        )

    def _unbroadcast(self, value: Node, kind: K.Array, target: K.Array, arg: Node) -> Node:
        extra = kind.rank - target.rank
        axes: list[int] = []
        unsure = extra < 0  # written in place, that fails as in the plain call
        for position, dim in enumerate(target.dims if not unsure else ()):
            full = kind.dims[extra + position]
            if K.same_length(dim, full) or dim.many:
                continue
            if dim == K.ONE:
                axes.append(position)
            elif not self.assume(dim):
                unsure = True
        if unsure:
            helper = name(self.refs.function(runtime.unbroadcast))
            return call(helper, value, attribute(clone(arg), "shape"))
        if extra:
            axis = constant(0) if extra == 1 else tuple_(constant(i) for i in range(extra))
            value = call(self.np("sum"), value, axis=axis)
        if axes:
            axis = constant(axes[0]) if len(axes) == 1 else tuple_(constant(i) for i in axes)
            value = call(self.np("sum"), value, axis=axis, keepdims=constant(True))
        return value

    def cast(self, value: Node, kind: Kind, arg: Node) -> Node:
        """Give a contribution its argument's dtype where the operation's is another."""
        target = self.kind(arg)
        if is_mixed(target):
            return value  # its dtype is found as it runs, where the contribution is added
        if K.is_complex(kind) and not K.is_complex(target) and not K.is_container(target):
            if K.is_numeric(target):
                value = call(self.np("real"), value)
        value = self._crossed(value, kind, target)
        wide, narrow = dtype_of(kind), dtype_of(target)
        if isinstance(target, K.Num) and target.dtype is None and wide in NARROW:
            return call(target.type, value) if K.differentiable(target) else value
        if isinstance(target, K.Num) and target.dtype in _WIDE and wide in NARROW:
            return call(self.np(str(target.dtype)), value)
        if narrow not in NARROW or wide == narrow:
            return value
        if isinstance(target, K.Array) and target.rank:
            return call(attribute(value, "astype"), self.np(narrow))
        if isinstance(target, K.Num):
            return call(self.np(narrow), value)
        return call(self.np("asarray"), value, dtype=self.np(narrow))

    def fitted(self, value: Node, kind: Kind, arg: Node) -> Node:
        """Give the cotangents of several arrays that were joined their own dtypes."""
        parts = [k for k in _parts_of(self.kind(arg)) if K.differentiable(k)]
        mixed = K.is_complex(kind) and not all(map(K.is_complex, parts))
        narrow = {dtype_of(k) for k in parts} & set(NARROW)
        if not parts or not (mixed or narrow - {dtype_of(kind)}):
            return value
        return call(name(self.refs.function(runtime.fitted)), value, clone(arg))

    def _crossed(self, value: Node, kind: Kind, target: Kind) -> Node:
        """Return a contribution where its argument is: it goes back the way that the value came.

        That of a number on the host is a number there, too.
        """
        on_device = any(isinstance(k, K.Array) and k.namespace != NUMPY for k in K.options(kind))
        if on_device and isinstance(target, K.Num) and K.differentiable(target):
            value = call(target.type, value)
            plain = target.dtype in (None, "any")
            return value if plain else call(f"{self.refs.space(NUMPY)}.{target.dtype}", value)
        if not isinstance(kind, K.Array) or not isinstance(target, K.Array):
            return value
        if kind.namespace == target.namespace:
            return value
        there = "asnumpy" if target.namespace == NUMPY else "asarray"
        device = kind.namespace if target.namespace == NUMPY else target.namespace
        return call(f"{self.refs.space(device)}.{there}", value)


_WIDE = ("float64", "complex128")
NARROW = ("float16", "float32", "complex64")


def dtype_of(kind: Kind) -> str | None:
    """Return the dtype name of what carries a derivative in a scalar or array, or None."""
    if isinstance(kind, K.Union):
        found = {k.dtype for k in K.carriers(kind) if isinstance(k, K.Num | K.Array)}
        found -= {None, "any"}
        return found.pop() if len(found) == 1 else None
    return kind.dtype if isinstance(kind, K.Num | K.Array) else None


def _dims_of(kind: Kind) -> tuple[K.Dim, ...]:
    return kind.dims if isinstance(kind, K.Array) else ()


def _same_name(one: Node, other: Node) -> bool:
    return isinstance(one, gast.Name) and isinstance(other, gast.Name) and one.id == other.id


def _parts_of(kind: Kind) -> list[Kind]:
    """Return the kinds of the numbers and arrays in lists and tuples in each other."""
    if not isinstance(kind, K.Tuple | K.List):
        return []
    found = [_parts_of(k) if isinstance(k, K.Tuple | K.List) else [k] for k in kind.inside]
    return [k for some in found for k in some]
