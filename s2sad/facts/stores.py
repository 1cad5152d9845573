"""Library calls that write arrays, as the plain writes that they are equal to.

    np.add(a, b, out=c)              ->   t = np.add(a, b);  c[...] = t
    np.copyto(c, x, where=m)         ->   c[m] = x[m]
    A.sort()                         ->   t = np.sort(A);  A[...] = t
    np.add.at(A, i, v)               ->   A[i] += v, once for each of i (`each`)

What has no equal plain write is left as it is: it is refused where a derivative depends on it.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.emitted.ufunc_at import UFUNCS, applied_at
from s2sad.facts.results import known_call, sample_method
from s2sad.facts.rewrite import HelpedRewriter, NumPy
from s2sad.kinds import Kind
from s2sad.known.outputs import positional_parameters, spares_copy
from s2sad.nodes import (
    Block,
    Node,
    assign,
    clone,
    locate,
    name,
    names_written,
)
from s2sad.stages import Function, KindFacts

_AUGMENTED: dict[Any, type] = {
    np.add: gast.Add,
    np.subtract: gast.Sub,
    np.multiply: gast.Mult,
    np.divide: gast.Div,
    np.power: gast.Pow,
}
_IN_ORDER = "turn = np.arange(np.size(at)) % np.size(v)\nw = np.take(v, turn)\n"
"""Values are taken one after the other, from the first again where there are too few."""


def stores(
    function: Function,
    kinds: KindFacts,
    taken: set[str],
    numpy: NumPy,
    helper: Callable[[Any], str],
) -> Function | None:
    """Return the function with its writing calls as plain writes, None where there are none.

    `numpy()` gives the name that stands for NumPy in derived text, `helper(fn)` that of a helper.
    """
    return _Stores(function, kinds, taken, numpy, helper).rewritten()


class _Stores(HelpedRewriter):
    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        taken: set[str],
        numpy: NumPy,
        helper: Callable[[Any], str],
    ) -> None:
        super().__init__(function, kinds, taken, numpy, helper)
        self.made: dict[str, Node] = {}

    def _note(self, s: Node) -> None:
        """Remember what temporaries of a statement stand for."""
        for n in names_written(s):
            self.made.pop(n, None)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            if s.targets[0].id in self.function.temps:
                self.made[s.targets[0].id] = s

    def _display(self, s: Node, node: Node) -> Node:
        """Return what a temporary of the same statement was made as, or the node itself."""
        made = self.made.get(node.id) if isinstance(node, gast.Name) else None
        if made is not None and self.origins.get(made) is self.origins.get(s):
            return made.value
        return node

    # statements

    def statement(self, s: Node) -> Block | None:
        self._note(s)
        if isinstance(s, gast.Assign | gast.AugAssign):
            target = s.targets[0] if isinstance(s, gast.Assign) else s.target
            if isinstance(target, gast.Subscript):
                return self._flat_write(s, target) or self._listed(s, target)
            if isinstance(s, gast.Assign) and isinstance(target, gast.Attribute):
                return self._flat_write(s, _all_of(target))
        value = getattr(s, "value", None)
        if isinstance(s, gast.Assign) and isinstance(value, gast.Subscript):
            return self._flat_read(s, value)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Tuple):
            return self._unpacked(s, s.targets[0].elts, value)
        plain = isinstance(s, gast.Expr) or (
            isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        )
        if not plain or not isinstance(value, gast.Call):
            return None
        if any(isinstance(a, gast.Starred) for a in value.args):
            return None
        if any(k.arg is None for k in value.keywords):
            return None
        fn = self.kinds.objects.get(value.func)
        if fn is None:
            return self._method(s, value)
        if isinstance(fn, types.BuiltinMethodType) and fn.__name__ == "at":
            return self._each(s, value, fn.__self__)
        writer = _WRITERS.get(fn) if _hashable(fn) else None
        if writer is not None:
            given = _arguments(fn, value)
            if given is None or not isinstance(s, gast.Expr) or not self._is_array(given):
                return None
            written: Block | None = writer(self, s, *given)
            return written
        if fn in _SPLITS and isinstance(s, gast.Assign):
            return self.split(s, value, fn, list(value.args))
        if fn is np.nan_to_num and spares_copy(fn, value):
            return self._cleaned(s, value)
        return self._out(s, value, fn, list(value.args))

    def _is_array(self, given: list[Any]) -> bool:
        return isinstance(given[0], gast.Name) and isinstance(self.kind(given[0]), K.Array)

    def _listed(self, s: Node, target: Node) -> Block | None:
        """`A[i] = [u, v]` writes the array that NumPy makes of the list."""
        listed = K.List | K.Tuple
        if not isinstance(s, gast.Assign) or not isinstance(self.kind(s.value), listed):
            return None
        kind = self.kind(target.value)
        if not isinstance(kind, K.Array) or not K.differentiable(kind):
            return None
        if not K.differentiable(self.kind(s.value)):
            return None
        lines = self.lines("listed = np.array(v)", v=s.value)
        write = gast.Assign([target], name(lines[0].targets[0].id), None)
        write.listed = s.value
        return [*lines, write]

    # out= and where=

    def _method(self, s: Node, node: Node) -> Block | None:
        func = node.func
        if not isinstance(func, gast.Attribute) or not isinstance(func.value, gast.Name):
            return None
        if not isinstance(self.kind(func.value), K.Array):
            return None
        if func.attr == "view" and not node.args and not node.keywords:
            return self._viewed(s, func.value)
        writer = _METHODS.get(func.attr)
        if writer is None:
            fn = registry.method_like(func.attr)
            return None if fn is None else self._out(s, node, fn, [func.value, *node.args])
        if not isinstance(s, gast.Expr):
            return None
        given = _arguments(writer[0], node, func.value)
        return None if given is None else writer[1](self, s, *given)

    def _viewed(self, s: Node, owner: Node) -> Block | None:
        """`u = A.view()` is `u = A[...]`."""
        if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
            return None
        every = gast.Constant(Ellipsis, None)
        return [assign(s.targets[0].id, gast.Subscript(clone(owner), every, gast.Load()))]

    def _out(self, s: Node, node: Node, fn: Any, args: list[Node]) -> Block | None:
        """`np.f(..., out=c)` is `t = np.f(...)` and `c[...] = t`; its value is c."""
        out, plain = _without_out(node, fn, len(args) - len(node.args))
        if out is None:
            return None
        display = self._display(s, out)
        if isinstance(display, gast.Tuple) and len(display.elts) == 1:
            out = display.elts[0]
        kind = self.kind(out)
        if isinstance(kind, K.NoneKind):
            return [_with_value(s, plain)]
        if not isinstance(out, gast.Name) or not isinstance(kind, K.Array):
            return None
        where = next((k.value for k in plain.keywords if k.arg == "where"), None)
        if where is not None and isinstance(fn, np.ufunc):
            writes = self._masked_out(s, plain, fn, out, where)
        else:
            writes = self._whole_out(plain, fn, out, kind)
        if writes is None or isinstance(s, gast.Expr):
            return writes
        return [*writes, assign(s.targets[0].id, name(out.id))]

    def _cleaned(self, s: Node, node: Node) -> Block | None:
        """`np.nan_to_num(A, copy=False)` is `A[...] = np.nan_to_num(A)`; its value is A."""
        spare = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "copy")]
        if not self._is_array(node.args[:1]) or any(
            getattr(c, "value", 0) is not False for c in spare
        ):
            return None
        if len(node.args) > 2:
            return None
        keywords = [k for k in node.keywords if k.arg != "copy"]
        plain = locate(gast.Call(node.func, node.args[:1], keywords), node)
        writes = self.lines("t = call\nc[...] = t", call=plain, c=node.args[0])
        if isinstance(s, gast.Expr):
            return writes
        # What it gives for an array without axes is a number, and stays what it was.
        value = node.args[0] if self._array(node.args[0]).rank else writes[0].targets[0]
        return [*writes, assign(s.targets[0].id, name(value.id))]

    def _whole_out(self, plain: Node, fn: Any, out: Node, kind: K.Array) -> Block | None:
        if not self._fits(self._result(plain, fn), kind, isinstance(fn, np.ufunc)):
            return None
        writes = self.lines("t = call\nc[...] = t", call=plain, c=out)
        return _unordered(writes, plain.args[0]) if fn in _PIECEWISE else writes

    def _result(self, node: Node, fn: Any) -> Kind:
        """Return the kind of a library call that writes nothing."""
        args = [self.kind(a) for a in node.args]
        keywords = {k.arg: self.kind(k.value) for k in node.keywords}
        if fn is self.kinds.objects.get(node.func):
            return known_call(fn, args, keywords) or K.UNKNOWN
        owner = self.kind(node.func.value)
        return sample_method(owner, node.func.attr, tuple(args), tuple(sorted(keywords.items())))

    def _fits(self, given: Kind, kind: K.Array, casts: bool) -> bool:
        """Say whether a result goes into an array as it would have been computed there."""
        if casts and isinstance(given, K.Num):
            given = dataclasses.replace(given, dtype=None) if given.dtype == "any" else given
        dtype = dtype_name(given)
        if dtype == "any" and casts and isinstance(given, K.Num):
            dtype = _USUAL.get(given.type)  # of what precision does not matter
        if dtype in (None, "any") or kind.dtype == "any":
            return False
        if casts:
            return bool(np.can_cast(dtype, kind.dtype, "same_kind"))
        return dtype == kind.dtype

    def _masked_out(
        self, s: Node, plain: Node, fn: np.ufunc, out: Node, where: Node
    ) -> Block | None:
        """`np.f(a, out=c, where=m)` is `c[m] = np.f(a[m])`: elsewhere nothing is computed."""
        if fn.signature is not None or len(plain.keywords) != 1:
            return None
        lines, mask = self._mask(out, where)
        if mask is None or not self._fits(self._result_masked(plain, fn), self._array(out), True):
            return None
        args = []
        for a in plain.args:
            more, part = self._part(a, out, mask)
            if part is None:
                return None
            lines += more
            args.append(part)
        call = gast.Call(clone(plain.func), args, [])
        return [*lines, *self.lines("t = call\nc[m] = t", call=call, c=out, m=mask)]

    def _array(self, node: Node) -> K.Array:
        kind = self.kind(node)
        assert isinstance(kind, K.Array)
        return kind

    def _result_masked(self, plain: Node, fn: Any) -> Kind:
        bare = gast.Call(plain.func, plain.args, [])
        return self._result(bare, fn)

    def _mask(self, out: Node, where: Node) -> tuple[Block, Node | None]:
        """Return a mask of an array's own shape, and what makes it."""
        kind, wanted = self.kind(where), self._array(out)
        if not isinstance(kind, K.Array) or kind.dtype != "bool" or wanted.rank == 0:
            return [], None
        if _same_shape(kind, wanted):
            return [], where
        text = "shape = c.shape\nm = np.broadcast_to(mask, shape)"
        lines = self.lines(text, mask=where, c=out)
        return lines, name(lines[-1].targets[0].id)

    def _part(self, value: Node, out: Node, mask: Node) -> tuple[Block, Node | None]:
        """Return the part of a value, broadcast to an array's shape, that a mask chooses."""
        kind = self.kind(value)
        if isinstance(kind, K.Num):
            return [], value
        if not isinstance(kind, K.Array):
            return [], None
        if _same_shape(kind, self._array(out)):
            lines = self.lines("part = x[m]", x=value, m=mask)
        else:
            text = "shape = c.shape\nwide = np.broadcast_to(x, shape)\npart = wide[m]"
            lines = self.lines(text, x=value, c=out, m=mask)
        return lines, name(lines[-1].targets[0].id)

    # np.add.at and its kin

    def _each(self, s: Node, node: Node, fn: Any) -> Block | None:
        """`np.add.at(A, i, v)` is `A[i] += v`, done once for each of the positions i."""
        op = _AUGMENTED.get(fn)
        if len(node.args) != 3 or node.keywords or not isinstance(s, gast.Expr):
            return None
        owner, index, value = node.args
        kind = self.kind(owner)
        if not isinstance(owner, gast.Name) or not isinstance(kind, K.Array):
            return None
        if not self._fits(self.kind(value), kind, True):
            return None
        place = self._index(s, index)
        if place is None:
            return None
        repeats = self._may_repeat(place)
        if op is None or (repeats and fn not in (np.add, np.subtract)):
            return self._applied(node, fn, place)
        target = gast.Subscript(name(owner.id), place, gast.Store())
        write = gast.AugAssign(target, op(), value)
        if repeats:
            write.each = node.func
        return [write]

    def _applied(self, node: Node, fn: Any, place: Node) -> Block | None:
        """`np.maximum.at(A, i, v)` gives A the content of a copy in which that is done."""
        if fn not in UFUNCS or not isinstance(node.func, gast.Attribute):
            return None
        owner, _, value = node.args
        if K.is_complex(self.kind(owner)) and fn not in (np.multiply, np.true_divide):
            return None
        whole = gast.Subscript(name("every"), place, gast.Load())
        text = (
            "shape = A.shape\nevery = np.arange(A.size)\nevery = np.reshape(every, shape)\nat = i\n"
            "t = applied(A, v, ufunc=f, positions=at)\nA[...] = t"
        )
        given = {"A": owner, "v": value, "f": node.func.value, "i": whole}
        lines = self.lines(text, applied=name(self.helper(applied_at)), **given)
        whole.value.id = lines[2].targets[0].id
        return lines

    def _index(self, s: Node, node: Node) -> Node | None:
        """Return an index as it stands between brackets."""
        given, made = node, self._display(s, node)
        if isinstance(made, gast.Tuple | gast.List | gast.Call):
            node = made
        if isinstance(node, gast.Tuple):
            parts = [self._index(s, e) for e in node.elts]
            if any(p is None for p in parts):
                return None
            return gast.Tuple(parts, gast.Load())
        if isinstance(node, gast.List):
            plain = all(isinstance(e, gast.Constant | gast.Name) for e in node.elts)
            return clone(node) if plain else None
        if isinstance(node, gast.Call):
            if self.kinds.objects.get(node.func) is not slice or node.keywords:
                kind = self.kind(given)
                made_so = isinstance(kind, K.Array | K.Num) or _open_mesh(kind)
                return clone(given) if made_so else None
            bounds = [clone(a) for a in node.args]
            if len(bounds) == 1:
                bounds = [None, *bounds]
            return gast.Slice(*bounds, *[None] * (3 - len(bounds)))
        if isinstance(node, gast.Name | gast.Constant | gast.UnaryOp):
            kind = self.kind(node)
            known = isinstance(kind, K.Num | K.Array | K.NoneKind) or _open_mesh(kind)
            if isinstance(kind, K.List) and isinstance(kind.item, K.Num):
                known = kind.item.type == "int"
            kept = clone(node)
            self.kinds.of[kept] = kind
            return kept if known else None
        return None

    def _may_repeat(self, index: Node) -> bool:
        if isinstance(index, gast.Tuple):
            return any(self._may_repeat(e) for e in index.elts)
        if isinstance(index, gast.Slice):
            return False
        kind = self.kind(index)
        if isinstance(kind, K.Array):
            return kind.dtype != "bool"
        return not isinstance(kind, K.Num | K.NoneKind)

    # functions and methods that write

    def copyto(
        self, s: Node, dst: Node, src: Node, casting: Node | None, where: Node | None
    ) -> Block | None:
        rule = getattr(casting, "value", None) if casting is not None else "same_kind"
        if rule not in ("same_kind", "unsafe"):
            return None
        kind = self.kind(src)
        if not isinstance(kind, K.Num | K.Array):
            return None
        python = isinstance(kind, K.Num) and kind.dtype is None
        if rule != "unsafe" and not python and not self._fits(kind, self._array(dst), True):
            return None
        if where is None:
            return self.lines("c[...] = x", c=dst, x=src)
        lines, mask = self._mask(dst, where)
        if mask is None:
            return None
        more, part = self._part(src, dst, mask)
        if part is None:
            return None
        write = self.lines("c[m] = x", c=dst, m=mask, x=part)
        write[0].copied = src
        return [*lines, *more, *write]

    def fill(self, s: Node, a: Node, value: Node) -> Block | None:
        if not isinstance(self.kind(value), K.Num):
            return None
        return self.lines("c[...] = x", c=a, x=value)

    def sort(self, s: Node, a: Node, axis: Node | None, kind: Node | None) -> Block | None:
        call = "np.sort(c)" if axis is None else "np.sort(c, axis=axis)"
        if kind is not None or self._array(a).rank == 0:
            return None
        given = {"c": a} if axis is None else {"c": a, "axis": axis}
        return self.lines(f"ordered = {call}\nc[...] = ordered", **given)

    def partition(
        self, s: Node, a: Node, kth: Node, axis: Node | None, kind: Node | None
    ) -> Block | None:
        call = "np.partition(c, k)" if axis is None else "np.partition(c, k, axis=axis)"
        if kind is not None or self._array(a).rank == 0:
            return None
        given = {"c": a, "k": kth} | ({} if axis is None else {"axis": axis})
        return self.lines(f"ordered = {call}\nc[...] = ordered", **given)

    def put(self, s: Node, a: Node, ind: Node, v: Node, mode: Node | None) -> Block | None:
        if mode is not None or not isinstance(self.kind(ind), K.Num | K.Array | K.List):
            return None
        at = self.lines("at = np.arange(A.size)[i]", A=a, i=ind)
        return self._placed(at, a, v)

    def _placed(self, found: Block, a: Node, v: Node) -> Block | None:
        """Write values at positions of the array as if it were flat."""
        at = name(found[-1].targets[0].id)
        lines = list(found)
        kind = self.kind(v)
        if isinstance(kind, K.Array):
            lines += self.lines("u = np.ravel(v)", v=v)
            lines += self.lines(_IN_ORDER, v=name(lines[-1].targets[0].id), at=at)
            v = name(lines[-1].targets[0].id)
        elif isinstance(kind, K.List) and isinstance(kind.item, K.Num):
            lines += self.lines("u = np.array(v)", v=v)
            lines += self.lines(_IN_ORDER, v=name(lines[-1].targets[0].id), at=at)
            v = name(lines[-1].targets[0].id)
        elif not isinstance(kind, K.Num):
            return None
        if self._array(a).rank == 1:
            return [*lines, *self.lines("A[at] = v", A=a, at=at, v=v)]
        text = "place = np.unravel_index(at, A.shape)\nA[place] = v"
        return [*lines, *self.lines(text, A=a, at=at, v=v)]

    def place(self, s: Node, arr: Node, mask: Node, vals: Node) -> Block | None:
        lines, chosen = self._chosen(arr, mask)
        if chosen is None:
            return None
        found = [*lines, *self.lines("at = np.flatnonzero(m)", m=chosen)]
        return _unordered(self._placed(found, arr, vals), vals)

    def putmask(self, s: Node, a: Node, mask: Node, values: Node) -> Block | None:
        """What takes the place of an element stands where the element does, in turns of values."""
        kind = self.kind(values)
        lines, chosen = self._chosen(a, mask)
        if chosen is None:
            return None
        if isinstance(kind, K.Num):
            return [*lines, *self.lines("A[m] = v", A=a, m=chosen, v=values)]
        if _same_shape(kind, self._array(a)):
            return [*lines, *self.lines("part = v[m]\nA[m] = part", A=a, m=chosen, v=values)]
        if isinstance(kind, K.Array):
            lines += self.lines("u = np.ravel(v)", v=values)
        elif isinstance(kind, K.List | K.Tuple):
            lines += self.lines("u = np.array(v)", v=values)
        else:
            return None
        text = "turn = np.flatnonzero(m) % np.size(u)\npart = np.take(u, turn)\nA[m] = part"
        return [*lines, *self.lines(text, A=a, m=chosen, u=name(lines[-1].targets[0].id))]

    def _chosen(self, a: Node, mask: Node) -> tuple[Block, Node | None]:
        """Return a mask as truth values in the shape of the array, and what makes it so.

        NumPy wants a mask of as many entries, and takes every number but 0 as true.
        """
        kind, owner = self.kind(mask), self._array(a)
        lines: Block = []
        if isinstance(kind, K.List) and isinstance(kind.item, K.Num):
            lines += self.lines("m = np.array(v)\nm = m != 0", v=mask)
            mask = name(lines[-1].targets[0].id)
        elif not isinstance(kind, K.Array) or kind.dtype == "any":
            return [], None
        elif kind.dtype != "bool":
            lines += self.lines("m = v != 0", v=mask)
            mask = name(lines[-1].targets[0].id)
        if not _same_shape(kind, owner):
            lines += self.lines("m = np.reshape(v, A.shape)", v=mask, A=a)
            mask = name(lines[-1].targets[0].id)
        return lines, mask

    def put_along_axis(
        self, s: Node, arr: Node, indices: Node, values: Node, axis: Node | None
    ) -> Block | None:
        """Along one axis by the indices, along the others by their own positions."""
        at = getattr(self.kind(axis), "value", K.MISSING)
        owner, kind = self._array(arr), self.kind(indices)
        if not isinstance(at, int) or not isinstance(kind, K.Array) or kind.rank != owner.rank:
            return None
        if not isinstance(self.kind(values), K.Num | K.Array):
            return None
        lines: Block = []
        parts: list[Node] = []
        for k in range(owner.rank):
            if k == at % owner.rank:
                parts.append(clone(indices))
                continue
            shape = ", ".join("-1" if j == k else "1" for j in range(owner.rank))
            text = f"along = np.arange(A.shape[{k}])\nalong = np.reshape(along, ({shape},))"
            lines += self.lines(text, A=arr)
            parts.append(name(lines[-1].targets[0].id))
        index = gast.Tuple(parts, gast.Load())
        return [*lines, *self.lines("A[at] = v", A=arr, at=index, v=values)]

    def fill_diagonal(self, s: Node, a: Node, val: Node, wrap: Node | None) -> Block | None:
        rank = self._array(a).rank
        if wrap is not None or rank < 2 or not isinstance(self.kind(val), K.Num | K.Array):
            return None
        given = val
        lines = self.lines("at = np.arange(min(A.shape))", A=a)
        at = name(lines[0].targets[0].id)
        if isinstance(self.kind(val), K.Array):
            lines += self.lines("u = np.ravel(v)", v=val)
            lines += self.lines(_IN_ORDER, v=name(lines[-1].targets[0].id), at=at)
            val = name(lines[-1].targets[0].id)
        index = gast.Tuple([clone(at) for _ in range(rank)], gast.Load())
        return _unordered([*lines, *self.lines("A[at] = v", A=a, at=index, v=val)], given)

    # np.split

    def split(self, s: Node, node: Node, fn: Any, args: list[Node]) -> Block | None:
        """`np.split(y, n)` is a list of slices, where n and the axis are literals."""
        given = dict(zip(("ary", "at", "axis"), args, strict=False))
        given |= {k.arg: k.value for k in node.keywords if k.arg in ("axis",)}
        owner, at = given.get("ary"), given.get("at")
        axis = _AXES.get(fn, getattr(self.kind(given.get("axis")), "value", K.MISSING))
        if "axis" not in given and fn not in _AXES:
            axis = 0
        kind = self.kind(owner)
        if not isinstance(owner, gast.Name) or not isinstance(kind, K.Array):
            return None
        if fn is np.hsplit and kind.rank == 1:
            axis = 0
        count = getattr(self.kind(at), "value", K.MISSING)
        if not isinstance(axis, int) or not isinstance(count, int) or count < 1:
            return None
        axis = axis % kind.rank
        lines = self.lines(f"step = A.shape[{axis}] // {count}", A=owner)
        check = (
            f"if A.shape[{axis}] != {count} * step:\n"
            "    raise ValueError('array split does not result in an equal division')"
        )
        step = name(lines[0].targets[0].id)
        lines += self.lines(check, A=owner, step=step)
        before = ":, " * axis
        parts: list[Node] = []
        for k in range(count):
            text = f"part = A[{before}{k} * step : {k + 1} * step]"
            lines += self.lines(text, A=owner, step=step)
            parts.append(name(lines[-1].targets[0].id))
        display = gast.List(parts, gast.Load())
        return [*lines, assign(s.targets[0].id, display)]

    def _unpacked(self, s: Node, targets: list[Node], value: Node) -> Block | None:
        """`a, b = np.split(y, 2)` binds each name to its slice."""
        made = self._display(s, value)
        items = made.elts if isinstance(made, gast.List) else []
        known = self.function.temps | self.temps
        if len(items) != len(targets) or not all(isinstance(t, gast.Name) for t in targets):
            return None
        if not all(isinstance(i, gast.Name) and i.id in known for i in items):
            return None
        return [assign(t.id, clone(i)) for t, i in zip(targets, items, strict=True)]

    # A.flat

    def _flat(self, s: Node, node: Node) -> Node | None:
        """Return the array of which a temporary is the flat iterator."""
        made = self._display(s, node)
        if isinstance(made, gast.Attribute) and made.attr == "flat":
            if isinstance(self.kind(made.value), K.Array) and isinstance(made.value, gast.Name):
                return made.value
        return None

    def _flat_write(self, s: Node, target: Node) -> Block | None:
        owner = self._flat(s, target.value)
        if owner is None:
            return None
        index = target.slice
        whole = gast.Subscript(self._positions(owner), clone(index), gast.Load())
        found = self.lines("at = found", found=whole)
        if isinstance(s, gast.Assign):
            return _unordered(self._placed(found, owner, s.value), s.value)
        if not isinstance(self.kind(s.value), K.Num | K.Array):
            return None
        at = name(found[0].targets[0].id)
        place = self.lines("place = np.unravel_index(at, A.shape)", at=at, A=owner)
        spot = name(place[0].targets[0].id)
        spot_of = gast.Subscript(name(owner.id), spot, gast.Store())
        return [*found, *place, gast.AugAssign(spot_of, s.op, s.value)]

    def _positions(self, owner: Node) -> Node:
        """Return the positions of an array's elements, counted as if it were flat."""
        return self.lines("at = np.arange(A.size)", A=owner)[0].value

    def _flat_read(self, s: Node, value: Node) -> Block | None:
        owner = self._flat(s, value.value)
        if owner is None or not isinstance(s.targets[0], gast.Name):
            return None
        flat = self.lines("u = A.flatten()", A=owner)
        part = gast.Subscript(name(flat[0].targets[0].id), value.slice, gast.Load())
        return [*flat, assign(s.targets[0].id, part)]


def _all_of(target: Node) -> Node:
    """Write `A.flat = x` as `A.flat[:] = x`."""
    whole = gast.Attribute(target.value, target.attr, gast.Load())
    return gast.Subscript(whole, gast.Slice(None, None, None), gast.Store())


_PIECEWISE: tuple[Any, ...] = (np.concatenate, np.stack)
_SPLITS: tuple[Any, ...] = (np.split, np.hsplit, np.vsplit, np.dsplit)
_AXES: dict[Any, int] = {np.hsplit: 1, np.vsplit: 0, np.dsplit: 2}


_USUAL = {"float": "float64", "int": "int64", "bool": "bool", "complex": "complex128"}


def dtype_name(kind: Kind) -> str | None:
    """Return the dtype that NumPy gives a value of a kind, or None."""
    if isinstance(kind, K.Array):
        return None if kind.dtype == "any" else kind.dtype
    if not isinstance(kind, K.Num) or kind.dtype == "any":
        return None
    return kind.dtype or _USUAL.get(kind.type)


def _same_shape(one: Kind, other: K.Array) -> bool:
    return (
        isinstance(one, K.Array)
        and one.rank == other.rank
        and all(K.same_length(a, b) for a, b in zip(one.dims, other.dims, strict=True))
    )


def _open_mesh(kind: Kind) -> bool:
    """Say whether a value is a tuple of arrays of positions, as np.ix_ makes them."""
    parts = kind.items if isinstance(kind, K.Tuple) and kind.cls is None else ()
    return bool(parts) and all(isinstance(k, K.Array) and k.rank > 0 for k in parts)


def _unordered(writes: Block | None, value: Node) -> Block | None:
    """Note of a write that NumPy copies the value element by element, as it finds it."""
    if writes is not None:
        writes[-1].unordered = value
    return writes


def _with_value(s: Node, value: Node) -> Node:
    if isinstance(s, gast.Expr):
        return gast.Expr(value)
    return gast.Assign(s.targets, value, None)


def _hashable(fn: Any) -> bool:
    return getattr(type(fn), "__hash__", None) is not None


def _without_out(node: Node, fn: Any, skip: int) -> tuple[Node | None, Node]:
    """Return what a library call is given as `out`, and the call without it.

    `skip` counts the arguments that stand before the call's own: the array of a method.
    """
    keywords = [k for k in node.keywords if k.arg != "out"]
    if len(keywords) < len(node.keywords):
        out = next(k.value for k in node.keywords if k.arg == "out")
        return out, locate(gast.Call(node.func, node.args, keywords), node)
    if isinstance(fn, np.ufunc):
        if fn.nout != 1 or len(node.args) != fn.nin + 1:
            return None, node
        return node.args[-1], locate(gast.Call(node.func, node.args[:-1], keywords), node)
    names = positional_parameters(fn)
    if "out" not in names or names.index("out") - skip != len(node.args) - 1:
        return None, node
    args = node.args[:-1]
    while args and isinstance(args[-1], gast.Constant) and args[-1].value is None:
        args = args[:-1]
    return node.args[-1], locate(gast.Call(node.func, args, keywords), node)


def _arguments(fn: Any, node: Node, *first: Node) -> list[Any] | None:
    """Return the arguments of a writing call in order; None for those not given."""
    names = _PARAMETERS[fn]
    given = dict(zip(names, [*first, *node.args], strict=False))
    if len(node.args) + len(first) > len(names):
        return None
    for k in node.keywords:
        if k.arg not in names:
            return None
        given[k.arg] = k.value
    return [given.get(n) for n in names]


_PARAMETERS: dict[Any, tuple[str, ...]] = {
    np.copyto: ("dst", "src", "casting", "where"),
    np.put: ("a", "ind", "v", "mode"),
    np.place: ("arr", "mask", "vals"),
    np.putmask: ("a", "mask", "values"),
    np.put_along_axis: ("arr", "indices", "values", "axis"),
    np.fill_diagonal: ("a", "val", "wrap"),
    "fill": ("a", "value"),
    "sort": ("a", "axis", "kind"),
    "partition": ("a", "kth", "axis", "kind"),
}
_WRITERS: dict[Any, Any] = {
    np.copyto: _Stores.copyto,
    np.put: _Stores.put,
    np.place: _Stores.place,
    np.putmask: _Stores.putmask,
    np.put_along_axis: _Stores.put_along_axis,
    np.fill_diagonal: _Stores.fill_diagonal,
}
_METHODS: dict[str, tuple[Any, Any]] = {
    "fill": ("fill", _Stores.fill),
    "sort": ("sort", _Stores.sort),
    "partition": ("partition", _Stores.partition),
    "put": (np.put, _Stores.put),
}
