"""Small helpers that derived code may call; their source is copied into emitted files.

Each is complete in itself: it needs NumPy and nothing else from this module.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def unbroadcast(x_bar: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes along which its argument, of this shape, was broadcast."""
    found = x_bar.shape if hasattr(x_bar, "shape") else ()
    if found == shape:
        return x_bar
    extra = len(found) - len(shape)
    axes = tuple(i for i, n in enumerate(found) if i < extra or (n != 1 and shape[i - extra] == 1))
    x_bar = x_bar.sum(axis=axes)
    return x_bar.reshape(shape) if shape else x_bar


def last_writes(x: Any, index: Any) -> Any:
    """Say which parts of a value written to x[index] stay: where an index repeats, the last one."""
    writer = np.zeros(x.shape, int)
    order = np.arange(writer[index].size).reshape(writer[index].shape)
    writer[index] = order
    return writer[index] == order


def writeable(view: Any) -> Any:
    """Return a view that NumPy gives read-only, as one that can be written."""
    view.flags.writeable = True
    return view


def view_of(shadow: Any, part: Any, base: Any, view: Any) -> Any:
    """Return the part of a base's shadow that belongs to a view, and zeros to a copy."""
    if not np.may_share_memory(base, view):
        return np.zeros_like(view)
    if not np.may_share_memory(shadow, part):
        raise ValueError("an array and its derivative lie in memory in different ways")
    return part


def log_of_base(x: Any) -> Any:
    """Return log(x), but 0 where x is 0: there x**y stays 0 whatever a positive exponent does."""
    if isinstance(x, float | int) and x >= 0:
        return float(np.log(x)) if x else 0.0
    return np.log(x + (x == 0))


def zeros_like(x: Any) -> Any:
    """Return zeros in x's structure; None for what carries no derivative."""
    if isinstance(x, float | complex | np.inexact):
        return type(x)(0.0)
    if hasattr(type(x), "dtype"):
        return np.zeros_like(x) if x.dtype.kind in "fc" else None
    if isinstance(x, list):
        return [zeros_like(part) for part in x]
    if isinstance(x, tuple):
        parts = [zeros_like(part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, dict):
        zeros = x.copy()
        for key in x:
            zeros[key] = zeros_like(x[key])
        return zeros
    if isinstance(x, type) or type(x).__module__ == "builtins":
        return None
    if callable(x) and not hasattr(type(x).__call__, "__code__"):
        return None
    names = x.__dict__ if hasattr(x, "__dict__") else getattr(x, "__dataclass_fields__", None)
    if names is None:
        return None
    zeros = object.__new__(type(x))
    for name in names:
        object.__setattr__(zeros, name, zeros_like(getattr(x, name)))
    return zeros


def pull_chosen(out_bar: Any, out: Any, xs: Any, key: Any) -> Any:
    """Return the cotangent of a sequence from that of the first item with the key of out."""
    keys = [key(x) for x in xs]
    first = keys.index(key(out)) if keys else 0
    parts = [out_bar if i == first else 0.0 for i in range(len(keys))]
    if isinstance(xs, tuple):
        return tuple(parts)
    return parts if isinstance(xs, list) else np.array(parts, xs.dtype)


def fold(parts: Any, xs: Any) -> Any:
    """Return the cotangent of a list from those of the items of the list repeated."""
    if len(parts) < len(xs):
        return zeros_like(xs)
    folded = parts[: len(xs)]
    for i in range(len(xs), len(parts)):
        folded[i % len(xs)] = add(folded[i % len(xs)], parts[i])
    return folded


def object_of(cls: Any, **fields: Any) -> Any:
    """Return an object of a class with these attributes, as its __init__ would have made it."""
    made = object.__new__(cls)
    for name in fields:
        object.__setattr__(made, name, fields[name])
    return made


def from_values(mapping: Any, parts: Any) -> Any:
    """Return the cotangent of a dict from those of its values, in order."""
    return dict(zip(mapping, parts, strict=True))


def from_items(mapping: Any, pairs: Any) -> Any:
    """Return the cotangent of a dict from those of its items, in order."""
    return {key: pair[1] for key, pair in zip(mapping, pairs, strict=True)}


def private(x: Any) -> Any:
    """Return a structure with arrays and containers of its own, which nobody else changes."""
    if hasattr(type(x), "dtype") and hasattr(x, "copy"):
        return x.copy()
    if isinstance(x, list):
        return [private(part) for part in x]
    if isinstance(x, tuple):
        parts = [private(part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, dict):
        copied = x.copy()
        for key in x:
            copied[key] = private(x[key])
        return copied
    names = getattr(x, "__dict__", None)
    if not names or isinstance(x, type) or type(x).__module__ == "builtins":
        return x
    twin = object.__new__(type(x))
    for name in names:
        object.__setattr__(twin, name, private(names[name]))
    return twin


def unshared(x: Any) -> Any:
    """Return a copy of a structure to be written; nothing may stand in it twice."""
    met: list[Any] = []

    def twin(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            if any(isinstance(m, np.ndarray) and np.shares_memory(m, part) for m in met):
                raise ValueError("an array that is written stands twice in one argument")
            met.append(part)
            return part.copy()
        if isinstance(part, tuple):
            parts = [twin(p) for p in part]
            return type(part)(*parts) if hasattr(part, "_fields") else tuple(parts)
        names = getattr(part, "__dict__", None)
        plain = not names or isinstance(part, type) or type(part).__module__ == "builtins"
        if not isinstance(part, list | dict) and plain:
            return part
        if any(m is part for m in met):
            raise ValueError("a structure that is written stands twice in one argument")
        met.append(part)
        if isinstance(part, list):
            return [twin(p) for p in part]
        if isinstance(part, dict):
            return {key: twin(part[key]) for key in part}
        copied = object.__new__(type(part))
        for name in names or ():
            object.__setattr__(copied, name, twin(part.__dict__[name]))
        return copied

    return twin(x)


def apart(*values: Any) -> Any:
    """Return copies of arrays and structures of them that share memory as the originals do."""
    owners: dict[int, Any] = {}
    holders: dict[int, Any] = {}

    def twin(x: Any) -> Any:
        if id(x) in holders:
            return holders[id(x)][1]
        if isinstance(x, list):
            copied = [twin(part) for part in x]
            holders[id(x)] = x, copied
            return copied
        if isinstance(x, dict):
            table = x.copy()
            holders[id(x)] = x, table
            for key in x:
                table[key] = twin(x[key])
            return table
        names = getattr(x, "__dict__", None)
        if names and not isinstance(x, type) and type(x).__module__ != "builtins":
            if not callable(x) or hasattr(type(x).__call__, "__code__"):
                made = object.__new__(type(x))
                holders[id(x)] = x, made
                for name in names:
                    object.__setattr__(made, name, twin(names[name]))
                return made
        if isinstance(x, tuple):
            parts = [twin(part) for part in x]
            return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
        if not isinstance(x, np.ndarray):
            return x
        owner = x
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if id(owner) not in owners:
            owners[id(owner)] = owner, owner.copy(order="K")
        base = owners[id(owner)][1]
        if x is owner:
            return base
        start = x.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        flat = base.reshape(-1, order="A")
        return np.ndarray(x.shape, x.dtype, flat, start, x.strides)

    found = tuple(twin(x) for x in values)
    return found if len(found) > 1 else found[0]


def add_into(shadow: Any, value: Any) -> None:
    """Add a derivative to a list, dict or object of derivatives, in place."""
    if value is None:
        return
    if isinstance(shadow, list):
        for i, part in enumerate(shadow):
            if isinstance(part, list | dict) or hasattr(part, "__dict__"):
                add_into(part, value[i])
            else:
                shadow[i] = add(part, value[i])
    elif isinstance(shadow, dict):
        for key in value:
            if isinstance(shadow.get(key), list | dict) or hasattr(shadow.get(key), "__dict__"):
                add_into(shadow[key], value[key])
            else:
                shadow[key] = add(shadow.get(key), value[key])
    else:
        for name in shadow.__dict__ if hasattr(shadow, "__dict__") else shadow.__dataclass_fields__:
            part = getattr(shadow, name)
            if isinstance(part, list | dict) or hasattr(part, "__dict__"):
                add_into(part, getattr(value, name))
            else:
                object.__setattr__(shadow, name, add(part, getattr(value, name)))


def add_into_each(shadows: Any, values: Any) -> None:
    """Add derivatives to the items of a slice, which it shares with the list it was taken from."""
    for shadow, value in zip(shadows, values, strict=True):
        add_into(shadow, value)


def add_at(parts: Any, index: int, value: Any) -> Any:
    """Return a tuple of cotangents with one of its parts increased."""
    index = range(len(parts))[index]
    return (*parts[:index], add(parts[index], value), *parts[index + 1 :])


def add(a: Any, b: Any) -> Any:
    """Return the sum of two derivatives of one structure; None is zero."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, list):
        return [add(p, q) for p, q in zip(a, b, strict=True)]
    if isinstance(a, tuple):
        parts = [add(p, q) for p, q in zip(a, b, strict=True)]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, dict):
        total = a.copy()
        for key in b:
            total[key] = add(a.get(key), b[key])
        return total
    if isinstance(a, float | complex) or hasattr(type(a), "dtype"):
        return a + b
    total = object.__new__(type(a))
    for name in a.__dict__ if hasattr(a, "__dict__") else a.__dataclass_fields__:
        object.__setattr__(total, name, add(getattr(a, name), getattr(b, name)))
    return total


def accumulate(shadow: Any, value: Any) -> None:
    """Add a derivative into a structure of shadows, in place down to its arrays."""
    if value is None:
        return
    if hasattr(type(shadow), "dtype"):
        shadow += value
    elif isinstance(shadow, tuple):
        for part, v in zip(shadow, value, strict=True):
            accumulate(part, v)
    elif isinstance(shadow, list | dict):
        for key in shadow if isinstance(shadow, dict) else range(len(shadow)):
            if isinstance(shadow[key], float | complex | np.inexact) and value[key] is not None:
                shadow[key] += value[key]
            else:
                accumulate(shadow[key], value[key])
    else:
        names = shadow.__dict__ if hasattr(shadow, "__dict__") else shadow.__dataclass_fields__
        for name in names:
            part, v = getattr(shadow, name), getattr(value, name)
            if isinstance(part, float | complex | np.inexact) and v is not None:
                object.__setattr__(shadow, name, part + v)
            else:
                accumulate(part, v)
