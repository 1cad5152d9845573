"""Objects of a library's classes, which have rules: what their operators, attributes, methods give.

A @ x        A.T        A.dot(x)        spline(x)
"""

from __future__ import annotations

import operator

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.results import matmul_kind, sample_call, shaped_kind
from s2sad.kinds import Kind

_FACTS = {"ndim": K.INT, "nnz": K.INT, "size": K.INT, "format": K.Str()}


def object_operator(op: type, left: Kind, right: Kind) -> Kind | None:
    """Return the kind of an operation on such an object, None where there is none among them."""
    one, other = (k.cls if isinstance(k, K.Opaque) else None for k in (left, right))
    if one is None and other is None:
        return None
    fn = registry.operator_function(op.__name__, one, other)
    if fn is None:
        found = " and ".join(K.describe(k) for k in (left, right) if isinstance(k, K.Opaque))
        return K.Unknown(f"the result of this operator for {found}")
    if op is gast.MatMult and isinstance(left if one is None else right, K.Array):
        return matmul_kind(*(k.like if isinstance(k, K.Opaque) else k for k in (left, right)))
    return _called(fn, [left, right], {}, f"the result of an operation on {K.describe(left)}")


def object_attribute(owner: K.Opaque, attr: str) -> Kind:
    """Return the kind of an attribute of such an object."""
    why = f"the attribute {attr} of {K.describe(owner)}"
    fn = registry.object_function(owner.cls, f".{attr}")
    if fn is not None:
        return _called(fn, [owner], {}, why)
    if attr in _FACTS and hasattr(owner.cls, attr):
        return _FACTS[attr]
    return sample_call(_SHAPE, (owner,), ()) if attr == "shape" else K.Unknown(why)


_SHAPE = operator.attrgetter("shape")


def object_method(owner: K.Opaque, attr: str, args: list[Kind], keywords: dict[str, Kind]) -> Kind:
    """Return the kind of what a method of such an object gives, or a call of it."""
    why = f"the result of .{attr}() of {K.describe(owner)}"
    fn = registry.object_function(owner.cls, attr)
    product = fn is not None and fn is registry.object_function(owner.cls, "MatMult")
    if product and len(args) == 1 and isinstance(args[0], K.Array) and not keywords:
        return matmul_kind(owner.like, args[0])
    if fn is None:
        return K.Unknown(why, None, registry.instead_of(getattr(owner.cls, attr, None)))
    return _called(fn, [owner, *args], keywords, why)


def object_made(cls: object, args: list[Kind], keywords: dict[str, Kind]) -> Kind | None:
    """Return the kind of an object that a call of its class makes of data, None where it does not.

    The numbers decide the dtype, where none is given. The shape is given, or that of a matrix.
    """
    found = registry.objects_of(cls) if isinstance(cls, type) else None
    if found is None or not found.of_data or not args:
        return None
    data, *rest = args[0].items if isinstance(args[0], K.Tuple) else (args[0],)
    like = data.like if isinstance(data, K.Opaque) else data
    shape = args[1] if len(args) > 1 else keywords.get("shape", K.NONE)
    plain = isinstance(keywords.get("dtype", K.NONE), K.NoneKind) and len(args) < 3
    if not plain or not isinstance(like, K.Array):
        return K.UNKNOWN
    assert isinstance(cls, type)
    if isinstance(shape, K.Tuple) and len(shape.items) == 2:
        sized = shaped_kind(like, [shape])
        return K.Opaque(cls, sized) if isinstance(sized, K.Array) else K.UNKNOWN
    if not isinstance(shape, K.NoneKind):
        return K.UNKNOWN
    dims = (K.fresh_dim(), K.fresh_dim()) if rest else like.dims
    return K.Opaque(cls, K.Array(like.dtype, dims)) if len(dims) == 2 else K.UNKNOWN


def _called(fn: object, args: list[Kind], keywords: dict[str, Kind], why: str) -> Kind:
    kind = sample_call(fn, tuple(args), tuple(sorted(keywords.items())))
    return K.Unknown(why) if kind == K.UNKNOWN else kind
