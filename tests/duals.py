"""The oracle: forward-mode differentiation of a plain function by operator overloading.

It shares nothing with s2sad. A `Dual` is a scalar, a `DualArray` an array, with a trailing axis of
tangents: one lane per input entry, so that one run gives a whole gradient. Where an operation has
no rule here it raises; no tangent is ever lost in silence.

    >>> gradient(lambda x, y: x * y, (3.0, 4.0), (0, 1))
    [4.0, 3.0]

On the way the run notes its *margin*: how far the nearest comparison (or kink, or rounding) of an
active value is from coming out differently.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import math
import operator
import sys

import numpy as np


class _State:
    """What the run in progress knows: the number of lanes, and the margin so far."""

    lanes = 1
    margin = math.inf


def _note(distance, *tangents):
    """Lower the margin to the smallest distance at which some tangent is not zero."""
    live = functools.reduce(np.logical_or, [np.any(t != 0, axis=-1) for t in tangents])
    distance, live = np.broadcast_arrays(np.abs(distance), live)
    if live.any():
        _State.margin = min(_State.margin, float(distance[live].min()))


def is_dual(x):
    """Tell whether x is a dual (isinstance would not: duals pose as what they hold)."""
    return type(x) in (Dual, DualArray)


def has_dual(x):
    """Tell whether a dual stands anywhere in x."""
    if isinstance(x, (list, tuple)) and not is_dual(x):
        return any(has_dual(item) for item in x)
    return is_dual(x)


def strip(x):
    """Return x with every dual replaced by its value."""
    if is_dual(x):
        return x.value
    if type(x) in (list, tuple):
        return type(x)(strip(item) for item in x)
    return x


def tangent_of(x):
    """Return the tangent of x, zeros if it has none."""
    return x.tangent if is_dual(x) else np.zeros((*np.shape(x), _State.lanes))


def _lane(x, k):
    """Return lane k of the tangent of x: a structure of plain arrays."""
    if is_dual(x):
        return x.tangent[..., k]
    if isinstance(x, (list, tuple)):
        return [_lane(item, k) for item in x]
    return np.zeros(np.shape(x))


def wrap(value, tangent):
    """Return the dual of an array or a scalar."""
    return (DualArray if isinstance(value, np.ndarray) else Dual)(value, tangent)


def _times(partial, tangent):
    """Multiply by a partial derivative; a zero tangent stays zero whatever the partial is."""
    partial = np.asarray(partial)[..., None]
    if np.all(np.isfinite(partial)):
        return partial * tangent
    with np.errstate(all="ignore"):
        return np.where(tangent == 0, 0.0, partial * tangent)


def _aligned(tangent, ndim):
    """Insert axes in front so that the tangent broadcasts against ndim axes and the lanes."""
    return tangent.reshape((1,) * (ndim + 1 - tangent.ndim) + tangent.shape)


def _pushed(value, inputs, partials):
    """Return the dual of value, given the partials with respect to the inputs."""
    ndim = np.ndim(value)
    total = np.zeros((*np.shape(value), _State.lanes))
    for x, partial in zip(inputs, partials):
        if is_dual(x):
            total = total + _times(partial, _aligned(x.tangent, ndim))
    return wrap(value, total)


def _power_partials(out, x, y):
    """Partials of x ** y; the logarithm only where the base is positive."""
    with np.errstate(all="ignore"):
        by_x = np.where(np.equal(y, 0), 0.0, y * np.power(np.asarray(x, float), np.asarray(y) - 1))
        by_y = np.where(np.greater(x, 0), out * np.log(np.where(np.greater(x, 0), x, 1)), 0.0)
    return by_x, by_y


_one = np.ones_like
_SMOOTH = {
    np.add: lambda o, x, y: (1.0, 1.0),
    np.subtract: lambda o, x, y: (1.0, -1.0),
    np.multiply: lambda o, x, y: (y, x),
    np.divide: lambda o, x, y: (1 / np.asarray(y, float), -o / y),
    np.power: _power_partials,
    np.float_power: _power_partials,
    np.arctan2: lambda o, x, y: (y / (x * x + y * y), -x / (x * x + y * y)),
    np.hypot: lambda o, x, y: (x / o, y / o),
    np.logaddexp: lambda o, x, y: (np.exp(x - o), np.exp(y - o)),
    np.logaddexp2: lambda o, x, y: (np.exp2(x - o), np.exp2(y - o)),
    np.negative: lambda o, x: (-1.0,),
    np.positive: lambda o, x: (1.0,),
    np.conjugate: lambda o, x: (1.0,),
    np.sin: lambda o, x: (np.cos(x),),
    np.cos: lambda o, x: (-np.sin(x),),
    np.tan: lambda o, x: (1 + o * o,),
    np.arcsin: lambda o, x: (1 / np.sqrt(1 - np.multiply(x, x)),),
    np.arccos: lambda o, x: (-1 / np.sqrt(1 - np.multiply(x, x)),),
    np.arctan: lambda o, x: (1 / (1 + np.multiply(x, x)),),
    np.sinh: lambda o, x: (np.cosh(x),),
    np.cosh: lambda o, x: (np.sinh(x),),
    np.tanh: lambda o, x: (1 - o * o,),
    np.arcsinh: lambda o, x: (1 / np.sqrt(1 + np.multiply(x, x)),),
    np.arccosh: lambda o, x: (1 / np.sqrt(np.multiply(x, x) - 1),),
    np.arctanh: lambda o, x: (1 / (1 - np.multiply(x, x)),),
    np.exp: lambda o, x: (o,),
    np.exp2: lambda o, x: (o * math.log(2),),
    np.expm1: lambda o, x: (o + 1,),
    np.log: lambda o, x: (1 / np.asarray(x),),
    np.log2: lambda o, x: (1 / (np.asarray(x) * math.log(2)),),
    np.log10: lambda o, x: (1 / (np.asarray(x) * math.log(10)),),
    np.log1p: lambda o, x: (1 / (1 + np.asarray(x)),),
    np.sqrt: lambda o, x: (0.5 / np.asarray(o),),
    np.cbrt: lambda o, x: (1 / (3 * np.multiply(o, o)),),
    np.square: lambda o, x: (2 * np.asarray(x),),
    np.reciprocal: lambda o, x: (-np.multiply(o, o),),
    np.degrees: lambda o, x: (180 / math.pi,),
    np.rad2deg: lambda o, x: (180 / math.pi,),
    np.radians: lambda o, x: (math.pi / 180,),
    np.deg2rad: lambda o, x: (math.pi / 180,),
}


def _share(x, y, heads):
    """Partials of a maximum or minimum: 1 to the winner, equal shares at a tie."""
    first = np.where(np.equal(x, y), 0.5, heads(x, y) * 1.0)
    return first, 1 - first


def _quotient_partials(out, x, y):
    """Partials of the remainder of x by y."""
    return 1.0, -np.floor(np.divide(x, y))


def _distance_to_integer(x):
    """Return how far x is from the nearest integer."""
    return np.abs(np.asarray(x) - np.rint(x))


_KINKED = {
    np.absolute: (lambda x: x, lambda o, x: (np.sign(x),)),
    np.fabs: (lambda x: x, lambda o, x: (np.sign(x),)),
    np.maximum: (np.subtract, lambda o, x, y: _share(x, y, np.greater)),
    np.fmax: (np.subtract, lambda o, x, y: _share(x, y, np.greater)),
    np.minimum: (np.subtract, lambda o, x, y: _share(x, y, np.less)),
    np.fmin: (np.subtract, lambda o, x, y: _share(x, y, np.less)),
    np.heaviside: (lambda x, y: x, lambda o, x, y: (0.0, np.equal(x, 0) * 1.0)),
    np.copysign: (
        lambda x, y: np.minimum(np.abs(x), np.abs(y)),
        lambda o, x, y: (np.sign(x) * np.sign(y), 0.0),
    ),
    np.remainder: (lambda x, y: _distance_to_integer(np.divide(x, y)), _quotient_partials),
    np.fmod: (
        lambda x, y: _distance_to_integer(np.divide(x, y)),
        lambda o, x, y: (1.0, -np.trunc(np.divide(x, y))),
    ),
}

_FLAT = {
    np.sign: lambda x: x,
    np.floor: _distance_to_integer,
    np.ceil: _distance_to_integer,
    np.trunc: _distance_to_integer,
    np.rint: lambda x: _distance_to_integer(np.asarray(x) + 0.5),
    np.floor_divide: lambda x, y: _distance_to_integer(np.divide(x, y)),
    np.less: np.subtract,
    np.less_equal: np.subtract,
    np.greater: np.subtract,
    np.greater_equal: np.subtract,
    np.equal: np.subtract,
    np.not_equal: np.subtract,
    np.isnan: lambda x: np.inf,
    np.isinf: lambda x: np.inf,
    np.isfinite: lambda x: np.inf,
    np.signbit: lambda x: x,
    np.logical_not: lambda x: x,
}


def _apply(ufunc, inputs, value=None):
    """Apply a ufunc to inputs of which some are duals."""
    plain = [strip(x) for x in inputs]
    value = ufunc(*plain) if value is None else value
    if ufunc in _FLAT:
        _note(_FLAT[ufunc](*plain), *[tangent_of(x) for x in inputs])
        return value
    if ufunc in _KINKED:
        distance, partials = _KINKED[ufunc]
        _note(distance(*plain), *[tangent_of(x) for x in inputs])
        return _pushed(value, inputs, partials(value, *plain))
    if ufunc in _SMOOTH:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            partials = _SMOOTH[ufunc](value, *plain)
        return _pushed(value, inputs, partials)
    raise TypeError(f"the oracle has no rule for {ufunc}")


class _Overloads:
    """What scalars and arrays of duals have in common: NumPy's two protocols."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **settings):
        if out is not None or (settings and method == "__call__"):
            raise TypeError(f"the oracle has no rule for {ufunc} with settings {settings}, {out}")
        if method == "__call__":
            return np.matmul(*inputs) if ufunc is np.matmul else _apply(ufunc, inputs)
        if (ufunc, method) not in _METHODS:
            raise TypeError(f"the oracle has no rule for {ufunc}.{method}")
        if method in ("reduce", "accumulate"):
            settings.setdefault("axis", 0)
        return _METHODS[ufunc, method](*inputs, **settings)

    def __array_function__(self, func, types, args, kwargs):
        if func not in _FUNCTIONS:
            raise TypeError(f"the oracle has no rule for {func}")
        return _FUNCTIONS[func](*args, **kwargs)

    def __copy__(self):
        return type(self)(copy.copy(self.value), self.tangent.copy())

    def __deepcopy__(self, memo):
        return type(self)(copy.deepcopy(self.value), self.tangent.copy())

    def __bool__(self):
        _note(self.value, self.tangent)
        return bool(self.value)

    def __neg__(self):
        return _apply(np.negative, (self,), -self.value)

    def __pos__(self):
        return _apply(np.positive, (self,), +self.value)

    def __abs__(self):
        return _apply(np.absolute, (self,), abs(self.value))

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __format__(self, spec):
        return format(self.value, spec)

    def __str__(self):
        return str(self.value)

    def __repr__(self):
        return f"{type(self).__name__}({self.value!r}, {self.tangent!r})"


_PLAIN = (bool, int, float, np.bool_, np.integer, np.floating)


class Dual(_Overloads):
    """A scalar and its tangents, behaving as the Python float or NumPy scalar it holds."""

    __slots__ = ("tangent", "value")
    shape = ()
    ndim = 0
    size = 1
    T = property(lambda self: self)
    real = property(lambda self: self)
    dtype = property(lambda self: self.value.dtype)
    __class__ = property(lambda self: type(self.value))

    def __init__(self, value, tangent):
        self.value = value
        self.tangent = tangent

    def __float__(self):
        raise TypeError("a dual cannot become a plain float without losing its tangent")

    def __hash__(self):
        return hash(self.value)

    def __int__(self):
        return int(_apply(np.trunc, (self,), int(self.value)))

    __trunc__ = __int__

    def __floor__(self):
        return _apply(np.floor, (self,), math.floor(self.value))

    def __ceil__(self):
        return _apply(np.ceil, (self,), math.ceil(self.value))

    def __round__(self, digits=None):
        scaled = float(self.value) * 10.0 ** (digits or 0)
        _note(_distance_to_integer(scaled + 0.5) / 10.0 ** (digits or 0), self.tangent)
        return round(self.value) if digits is None else round(self.value, digits)

    def __getitem__(self, index):
        return wrap(self.value[index], self.tangent[index])

    def item(self):
        return Dual(float(self.value), self.tangent)

    def is_integer(self):
        return self.value.is_integer()

    def conjugate(self):
        return self


class DualArray(_Overloads):
    """An array and its tangents, one more axis at the end.

    Each entry is kept beside its tangents in one memory (`both`), so that what is a view of the
    array is one of its tangents too, and what writes the one writes the other.
    """

    __slots__ = ("both",)
    __hash__ = None
    __class__ = property(lambda self: np.ndarray)
    value = property(lambda self: self.both["value"])
    tangent = property(lambda self: self.both["tangent"])
    shape = property(lambda self: self.both.shape)
    ndim = property(lambda self: self.both.ndim)
    size = property(lambda self: self.both.size)
    dtype = property(lambda self: self.value.dtype)
    T = property(lambda self: _seen(self.both.T))
    real = property(lambda self: self)

    def __init__(self, value, tangent):
        entry = [("value", value.dtype), ("tangent", float, (_State.lanes,))]
        self.both = np.empty_like(value, dtype=entry)
        self.both["value"] = value
        self.both["tangent"] = tangent

    def __array__(self, *args, **kwargs):
        raise TypeError("a dual cannot become a plain array without losing its tangent")

    def __len__(self):
        return len(self.value)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index):
        return _seen(self.both[strip(index)])

    def __setitem__(self, index, value):
        self.both[strip(index)] = _lift(value).both

    def copy(self, order="C"):
        return _seen(self.both.copy(order))

    def fill(self, value):
        self[...] = value

    def reshape(self, *shape, order="C"):
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)

    def transpose(self, *axes):
        return np.transpose(self, axes[0] if len(axes) == 1 else axes or None)

    def flatten(self, order="C"):
        return _seen(self.both.flatten(order))

    def item(self, *index):
        picked = self[index] if index else np.reshape(self, ())
        return Dual(float(picked.value), picked.tangent.copy())

    def tolist(self):
        return [x.item() if type(x) is Dual else x.tolist() for x in self]

    def astype(self, dtype, **settings):
        return DualArray(self.value.astype(dtype, **settings), self.tangent)

    def std(self, *args, **settings):
        return np.std(self, *args, **settings)

    def __matmul__(self, other):
        return np.matmul(self, other)

    def __rmatmul__(self, other):
        return np.matmul(other, self)


def _seen(both):
    """Return the dual of an array of entries beside their tangents, without copying an array."""
    if not isinstance(both, np.ndarray):
        return Dual(both["value"], both["tangent"].copy())
    found = DualArray.__new__(DualArray)
    found.both = both
    return found


def _in_place(name):
    """Return the augmented operator of this name: it changes the array it is applied to."""
    apply = getattr(operator, name)

    def method(self, other):
        self[...] = apply(self, other)
        return self

    return method


for _name in "add sub mul truediv floordiv mod pow matmul".split():
    setattr(DualArray, f"__i{_name}__", _in_place(_name))


def _forward(name):
    """Return the array method of this name, given by the function of this name."""
    return lambda self, *args, **settings: getattr(np, name)(self, *args, **settings)


for _name in (
    "sum mean var max min prod cumsum cumprod dot ravel squeeze swapaxes clip "
    "argmax argmin argsort take repeat trace diagonal any all"
).split():
    setattr(DualArray, _name, _forward(_name))
for _name in "sum mean max min prod ravel reshape copy clip var std squeeze".split():
    setattr(Dual, _name, _forward(_name))


def _operator(op, ufunc, reflected=False):
    """Return an operator method; scalars keep Python's own arithmetic for their values."""

    def method(self, other):
        if type(other) not in (Dual, DualArray) and not isinstance(other, (*_PLAIN, np.ndarray)):
            return NotImplemented
        pair = (other, self) if reflected else (self, other)
        return _apply(ufunc, pair, op(strip(pair[0]), strip(pair[1])))

    return method


for _name, _ufunc in {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
}.items():
    setattr(_Overloads, f"__{_name}__", _operator(getattr(operator, _name), _ufunc))
    setattr(_Overloads, f"__r{_name}__", _operator(getattr(operator, _name), _ufunc, True))
for _name, _ufunc in {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}.items():
    _method = _operator(getattr(operator, _name), _ufunc)
    setattr(Dual, f"__{_name}__", _method)
    setattr(DualArray, f"__{_name}__", _method)


def _linear(func, slots=(0,)):
    """Return the rule of a function that is jointly linear in the arguments in these slots."""

    def rule(*args, **settings):
        if any(has_dual(x) for i, x in enumerate(args) if i not in slots):
            raise TypeError(f"the oracle has no rule for {func} with this argument active")
        value = func(*[strip(x) for x in args], **settings)
        settings.pop("initial", None)
        lanes = [
            func(*[_lane(x, k) if i in slots else x for i, x in enumerate(args)], **settings)
            for k in range(_State.lanes)
        ]
        return wrap(value, np.stack(lanes, axis=-1))

    return rule


def _multilinear(func, skip=0, count=2):
    """Return the rule of a function that is linear in each of `count` operands after `skip`."""

    def rule(*args, **settings):
        plain = [strip(x) for x in args]
        value = func(*plain, **settings)
        total = np.zeros((*np.shape(value), _State.lanes))
        for i in range(skip, min(len(args), skip + count)):
            if has_dual(args[i]):
                lanes = [
                    func(*plain[:i], _lane(args[i], k), *plain[i + 1 :], **settings)
                    for k in range(_State.lanes)
                ]
                total = total + np.stack(lanes, axis=-1)
        return wrap(value, total)

    return rule


def _view(func):
    """Return the rule of a function that moves entries: a view where NumPy's result is one."""

    def rule(a, *args, **settings):
        return (
            _seen(func(a.both, *args, **settings))
            if type(a) is DualArray
            else _linear(func)(a, *args, **settings)
        )

    return rule


def _plain(func):
    """Return the rule of a function whose result carries no derivative."""
    return lambda *args, **settings: func(*[strip(x) for x in args], **settings)


def _axes(a, axis):
    """Return axis as a tuple of non-negative axes."""
    if axis is None:
        return tuple(range(a.ndim))
    return tuple(k % a.ndim for k in (axis if isinstance(axis, tuple) else (axis,)))


def _rows(a, axis):
    """Return the value with the reduced axes flattened to one last axis, its tangent likewise."""
    axes = _axes(a, axis)
    kept = [k for k in range(a.ndim) if k not in axes]
    shape = [a.shape[k] for k in kept]
    value = np.transpose(a.value, [*kept, *axes]).reshape([*shape, -1])
    tangent = np.transpose(a.tangent, [*kept, *axes, a.ndim])
    return value, tangent.reshape([*shape, value.shape[-1], _State.lanes])


def _reduced(func, weights, distance=None):
    """Return the rule of a reduction, given its partials along a flattened last axis."""

    def rule(a, axis=None, out=None, *, keepdims=False, **settings):
        if out is not None or settings:
            raise TypeError(f"the oracle has no rule for {func} with {settings}")
        a = _lift(a)
        value = func(a.value, axis=axis, keepdims=bool(keepdims))
        rows, tangent = _rows(a, axis)
        if distance is not None and rows.shape[-1] > 1:
            _note(distance(rows), np.moveaxis(tangent, -2, 0).max(0), tangent.min(axis=-2))
        total = _times(weights(rows), tangent).sum(axis=-2)
        return wrap(value, total.reshape((*np.shape(value), _State.lanes)))

    return rule


def _winners(rows, best):
    """Partials of max or min along the last axis: equal shares among the best."""
    hit = rows == best(rows, axis=-1, keepdims=True)
    return hit / hit.sum(axis=-1, keepdims=True)


def _others(rows):
    """Partials of a product along the last axis: for each factor the product of the others."""
    columns = [np.delete(rows, j, axis=-1).prod(axis=-1) for j in range(rows.shape[-1])]
    return np.stack(columns, axis=-1)


def _lead(rows):
    """Return by how much the largest along the last axis leads."""
    top = np.sort(rows, axis=-1)
    return top[..., -1] - top[..., -2]


def _lift(x):
    """Return x, possibly a list with duals in it, as a DualArray."""
    if type(x) is DualArray:
        return x
    if type(x) is Dual:
        return DualArray(np.asarray(x.value), x.tangent)
    if isinstance(x, (list, tuple)) and has_dual(x):
        parts = [_lift(item) for item in x]
        value = np.stack([part.value for part in parts])
        return DualArray(value, np.stack([part.tangent for part in parts]))
    value = np.asarray(x)
    return DualArray(value, np.zeros((*value.shape, _State.lanes)))


def _var(a, axis=None, *, ddof=0, keepdims=False):
    """Variance by its definition."""
    a = _lift(a)
    count = math.prod(a.shape[k] for k in _axes(a, axis))
    centred = a - np.mean(a, axis=axis, keepdims=True)
    return np.sum(centred * centred, axis=axis, keepdims=keepdims) / (count - ddof)


def _std(a, axis=None, **settings):
    """Standard deviation: where all entries are equal it has a kink."""
    out = np.sqrt(_var(a, axis, **settings))
    _State.margin = min(_State.margin, float(np.min(strip(out))))
    return out


def _sort(a, axis=-1, **settings):
    """Sort by NumPy's stable permutation."""
    a = _lift(a)
    order = np.argsort(a.value, axis=axis, kind="stable")
    value = np.take_along_axis(a.value, order, axis)
    k = axis % a.ndim
    tangent = np.take_along_axis(a.tangent, order[..., None], k)
    if value.shape[k] > 1:
        swing = np.diff(tangent, axis=k)
        _note(np.diff(value, axis=k), swing)
    return DualArray(value, tangent)


def _argument_order(func):
    """Return argmax, argmin or argsort of the value, noting how near it is to changing."""

    def rule(a, axis=None if func is not np.argsort else -1, **settings):
        if axis is None:
            _sort(np.ravel(a))
        else:
            _sort(a, axis)
        return func(a.value, axis=axis, **settings)

    return rule


def _clip(a, a_min=None, a_max=None, **settings):
    """Clip; the derivative is 1 on the closed interval."""
    if settings.keys() - {"min", "max"}:
        raise TypeError(f"the oracle has no rule for clip with {settings}")
    low, high = settings.get("min", a_min), settings.get("max", a_max)
    out = a
    for bound, beyond in ((low, np.less), (high, np.greater)):
        if bound is not None:
            value, limit = strip(out), strip(bound)
            _note(np.subtract(value, limit), tangent_of(out), tangent_of(bound))
            out = np.where(beyond(value, limit), bound, out)
    return out


def _where(condition, x, y):
    """Select; the condition carries no derivative."""
    condition = strip(condition)
    value = np.where(condition, strip(x), strip(y))
    chosen = np.asarray(condition)[..., None]
    parts = [_aligned(tangent_of(part), value.ndim) for part in (x, y)]
    tangent = np.broadcast_to(np.where(chosen, *parts), (*value.shape, _State.lanes))
    return DualArray(value, tangent)


def _norm(x, ord=None, axis=None, keepdims=False):
    """Euclidean (or Frobenius) norm."""
    if ord not in (None, 2, "fro") or (ord == 2 and axis is None and x.ndim > 1):
        raise TypeError(f"the oracle has no rule for norm with ord={ord}")
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def _solve(a, b):
    """Solve a linear system."""
    x = np.linalg.solve(strip(a), strip(b))
    lanes = [np.linalg.solve(strip(a), _lane(b, k) - _lane(a, k) @ x) for k in range(_State.lanes)]
    return DualArray(x, np.stack(lanes, axis=-1))


def _inv(a):
    """Invert a matrix."""
    return _solve(a, np.eye(a.shape[-1]))


def _det(a):
    """Determinant, by Jacobi's formula."""
    value = np.linalg.det(a.value)
    inverse = np.linalg.inv(a.value)
    return Dual(value, value * np.einsum("ij,jik->k", inverse, a.tangent))


def _cumprod(a, axis=None):
    """Cumulative product of a vector."""
    if axis is None:
        a = np.ravel(a)
    return np.stack([np.prod(a[: i + 1], axis=0) for i in range(len(a))])


def _einsum(subscripts, *operands, **settings):
    """Sum over named axes."""
    return _multilinear(np.einsum, skip=1, count=len(operands))(subscripts, *operands, **settings)


_max = _reduced(np.max, lambda rows: _winners(rows, np.max), _lead)
_min = _reduced(np.min, lambda rows: _winners(rows, np.min), lambda rows: _lead(-rows))
_prod = _reduced(np.prod, _others)

_FUNCTIONS = {
    **{
        getattr(np, name): _linear(getattr(np, name))
        for name in (
            "sum mean cumsum concatenate stack vstack hstack column_stack repeat tile roll "
            "take take_along_axis trace tril triu diff block pad"
        ).split()
    },
    **{
        getattr(np, name): _view(getattr(np, name))
        for name in (
            "reshape ravel transpose swapaxes moveaxis expand_dims squeeze broadcast_to atleast_1d "
            "atleast_2d flip flipud fliplr diag diagonal copy"
        ).split()
    },
    np.real: lambda x: x[...] if type(x) is DualArray else x,
    **{
        getattr(np, name): _multilinear(getattr(np, name))
        for name in "dot inner outer vdot tensordot kron cross convolve".split()
    },
    **{
        getattr(np, name): _plain(getattr(np, name))
        for name in "shape ndim size iscomplexobj isrealobj".split()
    },
    **{
        getattr(np, name): functools.partial(lambda f, a, **kw: _made(f(strip(a), **kw)), by_name)
        for name, by_name in (
            ("zeros_like", np.zeros_like),
            ("ones_like", np.ones_like),
            ("empty_like", np.zeros_like),
        )
    },
    np.einsum: _einsum,
    np.linspace: _linear(np.linspace, (0, 1)),
    np.max: _max,
    np.min: _min,
    np.amax: _max,
    np.amin: _min,
    np.prod: _prod,
    np.cumprod: _cumprod,
    np.var: _var,
    np.std: _std,
    np.sort: _sort,
    np.argsort: _argument_order(np.argsort),
    np.argmax: _argument_order(np.argmax),
    np.argmin: _argument_order(np.argmin),
    np.median: lambda a: np.mean(_sort(np.ravel(a))[(a.size - 1) // 2 : a.size // 2 + 1]),
    np.clip: _clip,
    np.where: _where,
    np.any: _plain(np.any),
    np.all: _plain(np.all),
    np.full_like: lambda a, fill, **kw: _linear(np.broadcast_to)(_lift(fill), np.shape(a)),
    np.linalg.norm: _norm,
    np.linalg.solve: _solve,
    np.linalg.inv: _inv,
    np.linalg.det: _det,
}
_METHODS = {
    (np.add, "reduce"): _FUNCTIONS[np.sum],
    (np.multiply, "reduce"): _prod,
    (np.maximum, "reduce"): _max,
    (np.minimum, "reduce"): _min,
    (np.add, "accumulate"): _FUNCTIONS[np.cumsum],
    (np.multiply, "accumulate"): _cumprod,
    (np.multiply, "outer"): _FUNCTIONS[np.outer],
}
_MATMUL = _multilinear(np.matmul)


def _array_ufunc_matmul(
    self, ufunc, method, *inputs, _general=_Overloads.__array_ufunc__, **settings
):
    """Send matmul, which is a ufunc with axes, to its own rule."""
    if ufunc is np.matmul and method == "__call__" and not settings:
        return _MATMUL(*inputs)
    return _general(self, ufunc, method, *inputs, **settings)


_Overloads.__array_ufunc__ = _array_ufunc_matmul


def _digamma(x):
    """Logarithmic derivative of the gamma function, by recurrence and asymptotic series."""
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * x)
    total = 0.0
    while x < 12:
        total, x = total - 1 / x, x + 1
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return total + math.log(x) - 0.5 / x - series


_ERF = 2 / math.sqrt(math.pi)
_MATH_PARTIALS = {
    "erf": lambda o, x: (_ERF * math.exp(-x * x),),
    "erfc": lambda o, x: (-_ERF * math.exp(-x * x),),
    "gamma": lambda o, x: (o * _digamma(x),),
    "lgamma": lambda o, x: (_digamma(x),),
    "ldexp": lambda o, x, n: (2.0**n, 0.0),
    "fma": lambda o, x, y, z: (y, x, 1.0),
    "dist": None,
}
_MATH_UFUNCS = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "atan2": "arctan2", "pow": "power",
}  # fmt: skip
_MATH_PYTHON = {
    "floor": lambda x: x.__floor__(),
    "ceil": lambda x: x.__ceil__(),
    "trunc": int,
    "fsum": sum,
    "prod": lambda values, *, start=1: functools.reduce(operator.mul, values, start),
    "hypot": lambda *xs: _root(sum(x * x for x in xs)),
    "dist": lambda p, q: _root(sum((a - b) ** 2 for a, b in zip(p, q))),
    "sumprod": lambda p, q: sum(a * b for a, b in zip(p, q)),
    "log": lambda x, *base: _log(x) if not base else _log(x) / _log(*base),
    "modf": lambda x: (x - int(x), float(int(x))),
    "remainder": lambda x, y: x - y * _nearest(x / y),
}


def _root(x):
    """Square root of a dual scalar."""
    return _apply(np.sqrt, (x,), math.sqrt(strip(x)))


def _log(x):
    """Natural logarithm of a scalar that may be a dual."""
    return _apply(np.log, (x,), math.log(strip(x))) if is_dual(x) else math.log(x)


def _nearest(x):
    """Round a scalar that may be a dual to the nearest integer."""
    return x.__round__() if is_dual(x) else round(x)


def _scalar(x):
    """Return a DualArray of one entry as a Dual, anything else as it is."""
    return x.item() if type(x) is DualArray else x


def _math_rule(name, original):
    """Return the function of module math of this name, extended to duals."""

    @functools.wraps(original)
    def dispatching(*args, **settings):
        if not has_dual(args) and not (args and hasattr(args[0], "__next__")):
            return original(*args, **settings)
        args = [list(x) if hasattr(x, "__next__") else _scalar(x) for x in args]
        if name in _MATH_PYTHON:
            return _MATH_PYTHON[name](*args, **settings)
        value = original(*[strip(x) for x in args], **settings)
        if name in _MATH_PARTIALS:
            return _pushed(value, args, _MATH_PARTIALS[name](value, *[strip(x) for x in args]))
        if name in ("isclose", "isnan", "isinf", "isfinite"):
            return value
        return _apply(getattr(np, _MATH_UFUNCS.get(name, name)), args, value)

    return dispatching


class _FloatType(type):
    """Makes `float(x)` keep a dual, and isinstance see through it."""

    def __call__(cls, *args):
        if args and is_dual(args[0]):
            return _scalar(args[0]) if type(args[0]) is DualArray else args[0].item()
        return float(*args)

    def __instancecheck__(cls, x):
        return isinstance(x, float)


class _Float(float, metaclass=_FloatType):
    """Stands in for the builtin float in the globals of the function under test."""

    dtype = np.dtype(float)


def _made(x):
    """Return a new array so that duals can be put into it: one of floats has tangents, zeros."""
    return _lift(x) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x


def _array(original):
    """Return np.array or np.asarray extended to nested lists of duals."""

    def dispatching(x, dtype=None, **settings):
        if has_dual(x):
            return np.copy(_lift(x)) if original is np.array else _lift(x)
        made = original(x, dtype=dtype, **settings)
        return _made(made) if original is np.array and _by_user() else made

    return dispatching


def _maker(original):
    """Return np.zeros and its like, with tangents where the function under test calls it."""

    def dispatching(*args, **settings):
        made = original(*args, **settings)
        return _made(made) if _by_user() else made

    return dispatching


def _by_user():
    """Say whether what calls is called neither by NumPy nor by the oracle itself."""
    caller = sys._getframe(2).f_globals.get("__name__", "")
    return caller != __name__ and caller.split(".")[0] != "numpy"


_MATH = {
    name: _math_rule(name, function)
    for name, function in vars(math).items()
    if callable(function) and not name.startswith("_")
}
_ORIGINALS = {id(vars(math)[name]): dispatching for name, dispatching in _MATH.items()}
_ORIGINALS[id(float)] = _Float
_NUMPY = {name: _array(getattr(np, name)) for name in ("array", "asarray", "asanyarray")}
_MAKERS = "zeros ones full eye identity copy zeros_like ones_like".split()
_NUMPY |= {name: _maker(getattr(np, name)) for name in _MAKERS}
_NUMPY |= {"empty": _maker(np.zeros), "empty_like": _maker(np.zeros_like)}


def _globals_of(f):
    """Return the globals of whatever can be called."""
    while isinstance(f, functools.partial):
        f = f.func
    f = getattr(f, "__func__", f)
    if not hasattr(f, "__globals__"):
        f = type(f).__call__
    return f.__globals__


@contextlib.contextmanager
def _replaced(namespace, values):
    """Put values into a namespace for a while."""
    missing = object()
    before = {name: namespace.get(name, missing) for name in values}
    namespace.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is missing:
                del namespace[name]
            else:
                namespace[name] = value


@contextlib.contextmanager
def overloaded(f, lanes):
    """Let math, np.array and float understand duals while f runs."""
    namespace = _globals_of(f)
    local = {name: _ORIGINALS[id(v)] for name, v in namespace.items() if id(v) in _ORIGINALS}
    local.setdefault("float", _Float)
    before = _State.lanes, _State.margin
    _State.lanes, _State.margin = lanes, math.inf
    try:
        with (
            _replaced(vars(math), _MATH),
            _replaced(vars(np), _NUMPY),
            _replaced(namespace, local),
        ):
            yield
    finally:
        _State.lanes, _State.margin = before


def is_leaf(x):
    """Tell whether x is a float or a float array: something that carries a derivative."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind == "f"
    return isinstance(x, (float, np.floating))


def tree_map(leaf, x, *more):
    """Rebuild a structure with `leaf` applied to its float leaves and None for other entries."""
    if is_leaf(x):
        return leaf(x, *more)
    if isinstance(x, dict):
        return {key: tree_map(leaf, x[key], *[m[key] for m in more]) for key in x}
    if isinstance(x, (list, tuple)):
        items = [tree_map(leaf, *parts) for parts in zip(x, *more)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if hasattr(x, "__dict__") and not callable(x) or dataclasses.is_dataclass(x):
        new = copy.copy(x)
        for key, value in vars(x).items():
            object.__setattr__(new, key, tree_map(leaf, value, *[vars(m)[key] for m in more]))
        return new
    return None


def _merge(x, new):
    """Return the structure x with the entries of `new` that are not None."""
    if new is None or is_dual(new):
        return x if new is None else new
    if isinstance(x, dict):
        return {key: _merge(x[key], new[key]) for key in x}
    if isinstance(x, (list, tuple)):
        items = [_merge(a, b) for a, b in zip(x, new)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    for key, value in vars(x).items():
        object.__setattr__(new, key, _merge(value, vars(new)[key]))
    return new


def ravel(x):
    """Return all float leaves of a structure as one vector."""
    parts = []
    tree_map(lambda leaf: parts.append(np.ravel(leaf)), x)
    return np.concatenate(parts) if parts else np.zeros(0)


def unravel(x, vector):
    """Return a structure like x (floats as floats, arrays of x's dtype) filled from a vector."""
    position = 0

    def leaf(old):
        nonlocal position
        part = vector[position : position + np.size(old)]
        position += np.size(old)
        if isinstance(old, np.ndarray):
            return np.array(part).reshape(old.shape).astype(old.dtype)
        return type(old)(part[0])

    return tree_map(leaf, x)


def replaced(x, vector):
    """Return the structure x with its float leaves from a vector, other entries kept."""
    position = 0

    def leaf(old):
        nonlocal position
        part = vector[position : position + np.size(old)]
        position += np.size(old)
        if isinstance(old, np.ndarray):
            return Box(np.array(part).reshape(old.shape).astype(old.dtype))
        return Box(type(old)(part[0]))

    return _unbox(x, tree_map(leaf, x))


@dataclasses.dataclass
class Box:
    """Marks a new leaf, so that it is not taken for structure."""

    content: object


def _unbox(x, new):
    """Return the structure x with the boxed entries of `new` put in."""
    if new is None:
        return x
    if isinstance(new, Box):
        return new.content
    if isinstance(x, dict):
        return {key: _unbox(x[key], new[key]) for key in x}
    if isinstance(x, (list, tuple)):
        items = [_unbox(a, b) for a, b in zip(x, new)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    for key, value in vars(x).items():
        object.__setattr__(new, key, _unbox(value, vars(new)[key]))
    return new


def _as_active(x):
    """Return a whole active argument; an int counts as a float."""
    return float(x) if type(x) is int else x


def _tangents(result):
    """Return the tangents of a result, a structure of its shape."""
    if isinstance(result, (list, tuple)) and not is_dual(result):
        items = [_tangents(item) for item in result]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)
    if isinstance(result, dict):
        return {key: _tangents(value) for key, value in result.items()}
    return tangent_of(result)


def _run(f, args, active, seeds, lanes):
    """Run f with duals in the active positions; return its result and the margin."""
    position = 0

    def leaf(old):
        nonlocal position
        rows = seeds[position : position + np.size(old)]
        position += np.size(old)
        value = old.copy() if isinstance(old, np.ndarray) else old
        return wrap(value, rows.reshape((*np.shape(old), lanes)))

    with overloaded(f, lanes):
        inputs = [_made(x) if type(x) is np.ndarray else x for x in args]
        for i in active:
            x = _as_active(args[i])
            inputs[i] = _merge(x, tree_map(leaf, x))
        result = f(*inputs)
        return result, _tangents(result), _State.margin


@dataclasses.dataclass(frozen=True)
class Run:
    """What one run of the oracle found."""

    value: float
    gradients: list
    margin: float


def run(f, args, active):
    """Run a scalar-valued f once; return its value, its gradients and the margin."""
    active_args = [_as_active(args[i]) for i in active]
    size = len(ravel(active_args))
    result, tangent, margin = _run(f, args, active, np.eye(size), size)
    return Run(strip(result), unravel(active_args, np.reshape(tangent, size)), margin)


def gradient(f, args, active):
    """Return the gradients of a scalar-valued f with respect to the arguments at `active`."""
    return run(f, args, active).gradients


def directional(f, args, direction):
    """Return the derivative of f's result along a direction: one entry per argument, or None."""
    active = [i for i, d in enumerate(direction) if d is not None]
    seed = ravel([_as_active(direction[i]) for i in active])
    _, tangent, _ = _run(f, args, active, seed[:, None], 1)
    return _first_lane(tangent)


def _first_lane(tangent):
    """Return the only lane of every tangent in a structure."""
    if isinstance(tangent, np.ndarray):
        return tangent[..., 0] if tangent.ndim > 1 else float(tangent[0])
    if isinstance(tangent, dict):
        return {key: _first_lane(value) for key, value in tangent.items()}
    items = [_first_lane(item) for item in tangent]
    return type(tangent)(*items) if hasattr(tangent, "_fields") else type(tangent)(items)


def differences(f, args, active, step=2e-3):
    """Return the gradient by Richardson differences as a vector, and a bound on its error.

    Three central differences, with the step halved each time, are extrapolated twice; the bound is
    the last correction, with an allowance for rounding.
    """
    active_args = [_as_active(args[i]) for i in active]
    centre = ravel(active_args)

    def at(j, h):
        vector = centre.copy()
        vector[j] += h
        inputs = list(copy.deepcopy(args))
        for i, x in zip(active, replaced(active_args, vector)):
            inputs[i] = x
        return float(f(*inputs))

    def extrapolated(j):
        slopes = [(at(j, h) - at(j, -h)) / (2 * h) for h in (step, step / 2, step / 4)]
        once = [(4 * b - a) / 3 for a, b in zip(slopes, slopes[1:])]
        best = (16 * once[1] - once[0]) / 15
        return best, abs(best - once[1]) + 1e-11 / step + 1e-10 * abs(best)

    pairs = np.array([extrapolated(j) for j in range(len(centre))]).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
