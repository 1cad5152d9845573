"""Which slices in a function are of one length: those by the same bounds, or by the same mask.

A[k, k + 1 :] * A[i, k + 1 :]      # of one length: k is the same number in both
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.kinds import Dim, Kind
from s2sad.known.pieces import Form, length_form, piece
from s2sad.known.samples import stacked
from s2sad.nodes import Node, key, names_written, number, walk

_MARKS = (gast.operator, gast.unaryop, gast.expr_context)
_NUMBERS = (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp, *_MARKS)


@dataclass
class Slices:
    """The lengths of the slices met so far, until names in their bounds are bound anew.

    Kept while the statements of a function are walked. `found` has the symbol of a slice by its
    text and the length that it is cut from, with the names in the text.
    """

    locals: frozenset[str]
    found: dict[Any, tuple[str, frozenset[str], bool]] = field(default_factory=dict)

    def named(
        self, result: Kind, owner: Kind, index: Node, parts: Any, of: Mapping[Any, Kind]
    ) -> Kind:
        """Return the kind of a slice of an array, with the lengths of equal slices before it.

        `of` has the kinds of the names in the index: an array without axes is no number, it may be
        written under any of its names.
        """
        if not isinstance(result, K.Array) or not isinstance(owner, K.Array):
            return result
        dims = list(result.dims)
        for position, part, dim in self._parts(owner, index, parts, of):
            names = frozenset(n.id for n in walk(part) if isinstance(n, gast.Name))
            if position >= len(dims) or not names <= self.locals:
                continue
            if dims[position].symbol.startswith("=") or dims[position].symbol == dim.symbol:
                continue
            found = _of_arguments(part, dim, of)
            if found is not None:
                dims[position] = found
                continue
            text = key(part), dim.symbol, dim.cut
            mask = isinstance(part, gast.Name)
            symbol, *_ = self.found.setdefault(text, (dims[position].symbol, names, mask))
            dims[position] = replace(dims[position], symbol=symbol)
        return replace(result, dims=tuple(dims))

    def _parts(
        self, owner: K.Array, index: Node, kinds: Any, of: Mapping[Any, Kind]
    ) -> Iterator[tuple[int, Node, Dim]]:
        """Yield slices and masks in an index: the axis they give, and the length they cut from."""
        nodes = index.elts if isinstance(index, gast.Tuple) else [index]
        given = kinds if isinstance(kinds, tuple) else (kinds,)
        if len(nodes) == 1 and isinstance(given[0], K.Array):
            if given[0].dtype == "bool" and given[0].rank == 1 and isinstance(nodes[0], gast.Name):
                yield 0, nodes[0], owner.dims[0]
            return
        axis = position = 0
        for node, kind in zip(nodes, given, strict=True):
            if isinstance(kind, slice):
                bounds = (b for b in (node.lower, node.upper, node.step) if b is not None)
                if axis < owner.rank and all(_is_number(b, of) for b in bounds):
                    yield position, node, owner.dims[axis]
                axis, position = axis + 1, position + 1
            elif isinstance(kind, K.Num) and kind.type == "int":
                axis += 1
            else:
                return

    def after(self, s: Node, plain: bool) -> None:
        """Forget the slices by names that a statement binds; masks, too, if it is not `plain`."""
        written = names_written(s)
        for text, (_, names, mask) in list(self.found.items()):
            if names & written or (mask and not plain):
                del self.found[text]

    def copy(self) -> Slices:
        """Return what is known here, for one of several ways on."""
        return Slices(self.locals, dict(self.found))

    def meet(self, other: Slices) -> None:
        """Keep what is known on another way, too."""
        self.found = {t: f for t, f in self.found.items() if other.found.get(t) == f}


def _of_arguments(part: Node, dim: Dim, of: Mapping[Any, Kind]) -> Dim | None:
    """Return the length of a slice of what is as long as an argument, by such lengths."""
    whole = length_form(dim)
    if whole is None or not isinstance(part, gast.Slice) or part.step is not None:
        return None
    lower, upper = _form(part.lower, of), _form(part.upper, of)
    if (lower is None) != (part.lower is None) or (upper is None) != (part.upper is None):
        return None
    end = of.get(part.upper)
    shorter = isinstance(end, K.Num) and end.dim is not None and end.dim.many and not end.dim.cut
    return Dim(piece(whole, lower, upper), 0, part.lower is None and shorter and dim.many)


def _form(node: Node | None, of: Mapping[Any, Kind]) -> Form | None:
    """Return a bound as a sum of lengths of arguments."""
    if node is None:
        return None
    value = number(node)
    if value is not None:
        return Form((), value) if type(value) is int else None
    if isinstance(node, gast.Name):
        kind = of.get(node)
        return length_form(kind.dim) if isinstance(kind, K.Num) and kind.dtype is None else None
    if not isinstance(node, gast.BinOp):
        return None
    left, right = _form(node.left, of), _form(node.right, of)
    if left is None or right is None:
        return None
    if isinstance(node.op, gast.Add | gast.Sub):
        return left.added(right, 1 if isinstance(node.op, gast.Add) else -1)
    for factor, other in ((left, right), (right, left)):
        if isinstance(node.op, gast.Mult) and not factor.terms:
            return Form().added(other, factor.plus)
    return None


def _is_number(node: Node, of: Mapping[Any, Kind]) -> bool:
    names = (n for n in walk(node) if isinstance(n, gast.Name))
    return all(isinstance(n, _NUMBERS) for n in walk(node)) and all(
        isinstance(of.get(n), K.Num) for n in names
    )


def grid_kind(cls: type | None, parts: Any) -> Kind:
    """Return the kind of np.mgrid[a:b, ...] or np.ogrid[a:b, ...], where they are known.

    An end that is a float may carry a derivative, which would be lost: nothing is known then.
    """
    if cls in (type(np.r_), type(np.c_)):
        return joined_kind(cls, parts if isinstance(parts, tuple) else (parts,))
    if cls not in (type(np.mgrid), type(np.ogrid)):
        return K.UNKNOWN
    slices = parts if isinstance(parts, tuple) else (parts,)
    if not slices or not all(isinstance(s, slice) for s in slices):
        return _NO_GRID
    ends = [end for s in slices for end in (s.start, s.stop, s.step)]
    ends = [end for end in ends if not isinstance(end, K.NoneKind)]
    if not all(_is_end(end) for end in ends) or any(isinstance(s.stop, K.NoneKind) for s in slices):
        return _NO_GRID
    dtype = "int64" if all(getattr(end, "type", "") == "int" for end in ends) else "float64"
    if not isinstance(parts, tuple):
        return K.Array(dtype, (K.fresh_dim(),))
    n = len(slices)
    if cls is type(np.mgrid):
        count = Dim(f"={n}", 0, n != 1)
        return K.Array(dtype, (count, *(K.fresh_dim() for _ in slices)))
    shapes = [[K.ONE] * n for _ in slices]
    for k in range(n):
        shapes[k][k] = K.fresh_dim()
    return K.Tuple(tuple(K.Array(dtype, tuple(shape)) for shape in shapes))


def joined_kind(cls: type | None, parts: tuple[Any, ...]) -> Kind:
    """Return the kind of np.r_[...] of numbers, ranges and arrays, and of np.c_[...] of arrays."""
    if cls is type(np.c_):
        whole = [p for p in parts if isinstance(p, K.Array) and p.rank in (1, 2)]
        dtypes: list[Any] = [np.dtype(p.dtype) for p in whole]
    else:
        dtypes = row_dtypes(parts)
        whole = [p for p in parts if isinstance(p, K.Array)]
        if any(p.rank != 1 for p in whole):
            return _NO_JOIN
    if any(dtype is None for dtype in dtypes) or len(dtypes) < len(parts):
        return _NO_JOIN
    if any(p.namespace != "numpy" for p in whole):
        return _NO_JOIN
    dims = (K.fresh_dim(), K.fresh_dim()) if cls is type(np.c_) else (K.fresh_dim(),)
    return K.Array(np.result_type(*dtypes).name, dims)


def row_dtypes(parts: Iterable[Any]) -> list[Any]:
    """Return what NumPy reckons the dtype of a row with, None for what is not known.

    A float that may be Python's or NumPy's makes no difference among what is as wide as any.
    """
    kinds = list(parts)
    loose = [isinstance(k, K.Num) and (k.type, k.dtype) == ("float", "any") for k in kinds]
    found = [1.0 if free else _row_dtype(k) for k, free in zip(kinds, loose, strict=True)]
    exact = [dtype for dtype, free in zip(found, loose, strict=True) if not free]
    strong = any(isinstance(dtype, np.dtype) for dtype in exact)
    wide = strong and not any(dtype is None for dtype in exact)
    if any(loose) and not (wide and np.result_type(*exact).name in ("float64", "complex128")):
        return [None if free else dtype for dtype, free in zip(found, loose, strict=True)]
    return found


def _row_dtype(part: Any) -> Any:
    """Return what NumPy reckons a part of a row as: a number of Python's as itself."""
    if isinstance(part, slice):
        return _dtype_of_range(part)
    made = stacked(part) if isinstance(part, K.List | K.Tuple) else part
    if isinstance(made, K.Array) and made.rank:
        return np.dtype(made.dtype)
    if isinstance(part, K.Num) and part.dtype is None:
        return {"bool": True, "int": 1, "float": 1.0, "complex": 1j}[part.type]
    return np.dtype(part.dtype) if isinstance(part, K.Num) and part.dtype != "any" else None


def _dtype_of_range(part: slice) -> Any:
    """Return the dtype of a slice that is a range of numbers with an end, None for others."""
    ends = [end for end in (part.start, part.stop, part.step) if not isinstance(end, K.NoneKind)]
    if isinstance(part.stop, K.NoneKind) or not all(isinstance(end, K.Num) for end in ends):
        return None
    types = {end.type for end in ends}
    if not types <= {"int", "float"}:
        return None
    return np.dtype(float if "float" in types else int)


def _is_end(kind: Kind) -> bool:
    """Say whether an end of a grid is a literal or a whole number."""
    if not isinstance(kind, K.Num) or kind.dtype is not None:
        return False
    return kind.type == "int" or kind.value is not K.MISSING


_NO_JOIN = K.Unknown(
    "the result of np.r_ or np.c_ with these arguments", None, "Use np.concatenate or np.stack."
)
_NO_GRID = K.Unknown(
    "a grid whose ends may be floats", None, "Use np.meshgrid of np.linspace, which has a rule."
)
