"""Small helpers that derived code may call; their source is copied into emitted files.

They need NumPy and one another, nothing else.
"""

from __future__ import annotations

import enum
import sys
import types
from typing import Any

import numpy as np


# Dataclasses and namespaces are; enums, exceptions, objects of libraries and what libraries go
# through are not.
def has_fields(cls: Any) -> bool:
    """Return whether the attributes of an object are parts of a structure: user-defined classes."""
    if hasattr(cls, "__dataclass_fields__") or cls is types.SimpleNamespace:
        return True
    walk = getattr(cls, "__iter__", cls)
    homes = {str(getattr(c, "__module__", "builtins")).partition(".")[0] for c in (cls, walk)}
    if homes - {"__main__"} & {"numpy", "scipy", "cupy", *sys.stdlib_module_names}:
        return False
    if issubclass(cls, type | enum.Enum | BaseException):
        return False
    own = isinstance(walk, types.FunctionType) and not hasattr(cls, "__array__")
    return walk is cls or (own and "-packages" not in walk.__code__.co_filename)


def is_array(x: Any) -> bool:
    """Return whether a value is an array of NumPy or CuPy."""
    cls = type(x)
    on_device = cls.__name__ == "ndarray" and cls.__module__.partition(".")[0] == "cupy"
    return on_device or isinstance(x, np.ndarray)


def share_memory(x: Any, y: Any) -> bool:
    """Return whether two arrays have an element in common; arrays of two libraries never do."""
    if not is_array(x) or not is_array(y) or isinstance(x, np.ndarray) != isinstance(y, np.ndarray):
        return False
    return bool(np.may_share_memory(x, y) and np.shares_memory(x, y))


def itself(x: Any) -> Any:
    """Return x."""
    return x


def unhooked(x: Any, fn: Any) -> Any:
    """Return x."""
    return x


def always() -> Any:
    """Return True."""
    return True


def attributes(x: Any) -> Any:
    """Return the attributes of a user-defined object by name; for other objects an empty dict."""
    if not has_fields(type(x)):
        return {}
    return {name: getattr(x, name) for name in attribute_names(x)}


def attribute_names(x: Any) -> Any:
    """Return the names of an object's attributes: the filled slots, then the `__dict__`."""
    if not hasattr(type(x), "__slots__"):
        return getattr(x, "__dict__", ())
    names = []
    for cls in reversed(type(x).__mro__):
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__"):
                name = name if name.endswith("__") else f"_{cls.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__") and hasattr(x, name):
                names.append(name)
    return [*names, *getattr(x, "__dict__", ())]


def unbroadcast(x_bar: Any, shape: tuple[int, ...]) -> Any:
    """Sum a cotangent over the axes along which its argument, with this shape, was broadcast."""
    found = x_bar.shape if hasattr(x_bar, "shape") else ()
    if found == shape:
        return x_bar
    extra = len(found) - len(shape)
    axes = tuple(i for i, n in enumerate(found) if i < extra or (n != 1 and shape[i - extra] == 1))
    x_bar = x_bar.sum(axis=axes)
    return x_bar.reshape(shape) if shape else x_bar


def last_writes(x: Any, index: Any) -> Any:
    """Return a mask of the elements written to x[index] that remain; the last write wins."""
    writer = np.zeros(x.shape, int)
    order = np.arange(writer[index].size).reshape(writer[index].shape)
    writer[index] = order
    return writer[index] == order


def written_once(x: Any, index: Any) -> int:
    """Return 1; raise a ValueError if an index names an element twice, as a GPU may keep either."""
    times = np.zeros(x.shape, np.int32)
    np.add.at(times, index, 1)
    if (times > 1).any():
        raise ValueError(
            "one statement writes an element twice: a GPU does not say which value stays"
        )
    return 1


def same_view(twin: Any, part: Any, base: Any, view: Any) -> Any:
    """Return the part of a base's twin that belongs to a view; a copy of the part for a copy.

    The base may be a list or tuple of arrays.
    """
    if isinstance(base, list | tuple):
        if not any(np.may_share_memory(one, view) for one in base):
            return part.copy()
        if any(np.may_share_memory(one, part) for one in twin):
            return part
        raise ValueError("the arrays of a list and their derivatives have different memory layouts")
    if not np.may_share_memory(base, view):
        return part.copy()
    if np.may_share_memory(twin, part):
        return part
    if all(f(base) == f(view) for f in (address, np.shape, lambda x: (x.strides, x.dtype))):
        return twin
    raise ValueError("an array and its derivative have different memory layouts")


def same_views(twin: Any, parts: Any, base: Any, views: Any) -> Any:
    """Apply `same_view` to each of several arrays that were made from one base."""
    pairs = zip(parts, views, strict=True)
    return type(views)([same_view(twin, part, base, view) for part, view in pairs])


def laid_like(x_dot: Any, x: Any) -> Any:
    """Return a tangent with the memory layout of its array."""
    twin = lying_like(x)[0]
    twin[...] = x_dot
    return twin


def real(x_bar: Any) -> Any:
    """Return a derivative that must be real; raise NotImplementedError if it is complex.

    In Python a power of a negative float is complex; the derivative is not valid for it.
    """
    if isinstance(x_bar, complex) or getattr(getattr(x_bar, "dtype", None), "kind", "") == "c":
        raise NotImplementedError("a power of a negative float is complex: write abs(x) ** y")
    return x_bar


def all_real(x_bar: Any) -> Any:
    """Return derivatives in a structure; raise NotImplementedError if one is complex."""
    if isinstance(x_bar, list | tuple):
        for part in x_bar:
            all_real(part)
    elif isinstance(x_bar, dict):
        all_real(list(x_bar.values()))
    elif attributes(x_bar):
        all_real(list(attributes(x_bar).values()))
    return real(x_bar)


def log_of_base(x: Any) -> Any:
    """Return log(x), but 0 where x is 0: there x**y is 0 for every positive exponent y."""
    if isinstance(x, float | int) and x >= 0:
        return float(np.log(x)) if x else 0.0
    return np.log(x + (x == 0))


def zeros_like(x: Any, integers: Any = None) -> Any:
    """Return zeros in x's structure, `integers` for ints, None for parts without a derivative."""
    if isinstance(x, float | complex | np.inexact):
        return type(x)(0.0)
    if isinstance(x, int | np.integer | np.bool_):
        return integers
    if hasattr(type(x), "dtype"):
        return np.zeros_like(x) if x.dtype.kind in "fc" else None
    if isinstance(x, list):
        return [zeros_like(part, integers) for part in x]
    if isinstance(x, tuple):
        parts = [zeros_like(part, integers) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, dict):
        zeros = x.copy()
        for key in x:
            zeros[key] = zeros_like(x[key], integers)
        return zeros
    if not has_fields(type(x)):
        return None
    zeros = bare(type(x))
    parts = attributes(x)
    for name in parts:
        object.__setattr__(zeros, name, zeros_like(parts[name], integers))
    return zeros


def fitted(x_bar: Any, x: Any) -> Any:
    """Return a cotangent with the dtype of its primal x: real for a real x, float32 for float32.

    For a list or tuple x, each part of the cotangent gets the dtype of its own part.
    """
    if x_bar is None:
        return None
    if isinstance(x, list | tuple):
        return [fitted(*pair) for pair in zip(x_bar, x, strict=True)]
    dtype = getattr(x, "dtype", None) or np.result_type(type(x))
    if dtype.kind not in "fc":
        return x_bar
    x_bar = x_bar if dtype.kind == "c" else x_bar.real
    return x_bar.astype(dtype, copy=False) if hasattr(x_bar, "astype") else x_bar


def push_chosen(out: Any, xs: Any, xs_dot: Any, key: Any) -> Any:
    """Return the tangent of the item that max or min chose by a key: the first with out's key."""
    for x, x_dot in zip(xs, xs_dot, strict=True):
        if key(x) == key(out):
            return x_dot
    raise ValueError("what was chosen is not there")


def bare(cls: Any) -> Any:
    """Return an object of a class without attributes, without a call of its __init__."""
    home: Any = types.SimpleNamespace if issubclass(cls, types.SimpleNamespace) else object
    return home.__new__(cls)


def object_of(cls: Any, /, **fields: Any) -> Any:
    """Return an object of a class with these attributes, without a call of its __init__."""
    made = bare(cls)
    for name in fields:
        object.__setattr__(made, name, fields[name])
    return made


def private(x: Any) -> Any:
    """Return a deep copy of a structure: its arrays, containers and objects are new."""
    copies = hasattr(type(x), "copy") and hasattr(x, "dtype")
    if copies and (hasattr(type(x), "dtype") or not has_fields(type(x))):
        return x.copy(order="K") if hasattr(type(x), "strides") else x.copy()
    if isinstance(x, list):
        return [private(part) for part in x]
    if isinstance(x, tuple):
        parts = [private(part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, dict):
        copied = x.copy() if type(x.copy()) is type(x) else type(x)(x)
        for key in x:
            copied[key] = private(x[key])
        return copied
    parts = attributes(x)
    if not parts and not (has_fields(type(x)) and hasattr(x, "__dict__")):
        return x
    twin = bare(type(x))
    for name in parts:
        object.__setattr__(twin, name, private(parts[name]))
    return twin


def stands_at(path: Any, places: Any) -> bool:
    """Return whether a path is one of some places, or below a place that ends with an ellipsis."""
    for place in places:
        below = len(place) > 0 and place[-1] is ...
        steps = place[:-1] if below else place
        if len(path) == len(steps) or (below and len(path) > len(steps)):
            if all(steps[i] is None or steps[i] == path[i] for i in range(len(steps))):
                return True
    return False


def unshared(x: Any, *places: Any) -> Any:
    """Return a copy of a structure that will be written, at some places or anywhere."""
    refuse_twice(x, *places)
    return private(x)


def refuse_twice(x: Any, *places: Any) -> None:
    """Raise a ValueError if a structure contains the same written memory twice.

    Memory is written at the given places, or anywhere without places; other memory may repeat.
    """
    met: list[Any] = []

    def look(part: Any, path: Any) -> None:
        parts: Any = ()
        if isinstance(part, list | tuple):
            parts = enumerate(part)
        elif isinstance(part, dict):
            parts = part.items()
        elif has_fields(type(part)):
            parts = attributes(part).items()
        elif not is_array(part):
            return
        if not isinstance(part, tuple):
            written = not places or stands_at(path, places)
            for other, too in met:
                if (written or too) and (part is other or share_memory(part, other)):
                    raise ValueError(
                        "an array that is written is in one structure twice: put a copy in "
                        "one of the places"
                    )
            met.append((part, written))
        for step, inner in parts:
            if type(inner) not in (float, int, str):
                look(inner, (*path, step))

    look(x, ())


def lying_like(x: Any) -> Any:
    """Return zeros with the memory layout of an array, their memory, and their offset in it."""
    if x.flags.c_contiguous or x.flags.f_contiguous:
        zeros = np.zeros_like(x)
        return zeros, zeros.reshape(-1, order="A"), 0
    ends = [(n - 1) * step for n, step in zip(x.shape, x.strides, strict=True)]
    start = -sum(end for end in ends if end < 0)
    size = start + sum(end for end in ends if end > 0) + x.itemsize
    memory = np.zeros_like(x, np.uint8, shape=(size,))
    return laid_in(memory, start, x), memory, start


def laid_in(memory: Any, start: int, x: Any) -> Any:
    """Return an array with the memory layout of x, in some memory, from byte `start` on."""
    if isinstance(x, np.ndarray):
        return np.ndarray(x.shape, x.dtype, memory, start, x.strides)
    return type(x)(x.shape, x.dtype, memory.data + start, x.strides)


def address(x: Any) -> Any:
    """Return the memory address of the first element of an array."""
    return x.__array_interface__["data"][0] if isinstance(x, np.ndarray) else x.data.ptr


def apart(value: Any) -> Any:
    """Return a copy of an array or a structure whose parts share memory as the originals do."""
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
            table = x.copy() if type(x.copy()) is type(x) else type(x)(x)
            holders[id(x)] = x, table
            for key in x:
                table[key] = twin(x[key])
            return table
        fields = attributes(x)
        if fields:
            made = bare(type(x))
            holders[id(x)] = x, made
            for name in fields:
                object.__setattr__(made, name, twin(fields[name]))
            return made
        if isinstance(x, tuple):
            parts = [twin(part) for part in x]
            return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
        if not is_array(x):
            return x
        owner = x
        while is_array(owner.base):
            owner = owner.base
        if id(owner) not in owners:
            owners[id(owner)] = owner, *lying_like(owner)
            owners[id(owner)][1][...] = owner
        _, base, memory, start = owners[id(owner)]
        if x is owner:
            return base
        start += address(x) - address(owner)
        return laid_in(memory, start if x.size else 0, x)

    return twin(value)


def add_into(shadow: Any, value: Any) -> None:
    """Add a derivative to a list, dict or object of derivatives, in place."""
    if value is None:
        return
    if isinstance(shadow, list):
        for i, part in enumerate(shadow):
            if isinstance(part, list | dict) or attributes(part):
                add_into(part, value[i])
            else:
                shadow[i] = add(part, value[i])
    elif isinstance(shadow, dict):
        for key in value:
            if isinstance(shadow.get(key), list | dict) or attributes(shadow.get(key)):
                add_into(shadow[key], value[key])
            else:
                shadow[key] = add(shadow.get(key), value[key])
    else:
        for name in attribute_names(shadow):
            part = getattr(shadow, name)
            if isinstance(part, list | dict) or attributes(part):
                add_into(part, getattr(value, name))
            else:
                object.__setattr__(shadow, name, add(part, getattr(value, name)))


def add(a: Any, b: Any) -> Any:
    """Return the sum of two derivatives of the same structure; None means zero."""
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
    if isinstance(a, float | complex | np.inexact) or hasattr(type(a), "dtype"):
        return a + b
    total = bare(type(a))
    for name in attribute_names(a):
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
            if isinstance(shadow[key], int | float | complex | np.number):
                shadow[key] += value[key] if value[key] is not None else 0
            else:
                accumulate(shadow[key], value[key])
    else:
        for name in attribute_names(shadow):
            part, v = getattr(shadow, name), getattr(value, name)
            if not isinstance(part, int | float | complex | np.number):
                accumulate(part, v)
            elif v is not None:
                object.__setattr__(shadow, name, part + v)


def put_into(shadow: Any, value: Any, *, more: bool = False) -> None:
    """Copy a structure of derivatives into a structure of shadows, in place down to its arrays.

    With `more` the derivatives are added: memory with two names gets the sum of both shadows.
    """
    if shadow is None or value is None:
        return
    if hasattr(type(shadow), "dtype"):
        if value.shape != shadow.shape:
            raise ValueError(
                f"a shadow has shape {shadow.shape}, but its primal has shape {value.shape} "
                "in the end: a replaced array must keep its shape"
            )
        shadow[...] = shadow + value if more else value
    elif isinstance(shadow, tuple):
        for part, v in zip(shadow, value, strict=True):
            put_into(part, v, more=more)
    elif isinstance(shadow, list | dict):
        if len(shadow) != len(value):
            raise ValueError(
                f"a shadow has {len(shadow)} entries, but its primal has {len(value)} in the end"
            )
        for key in shadow if isinstance(shadow, dict) else range(len(shadow)):
            if not isinstance(shadow[key], int | float | complex | np.number):
                put_into(shadow[key], value[key], more=more)
            elif value[key] is not None:
                shadow[key] = shadow[key] + value[key] if more else value[key]
    else:
        for name in attributes(shadow):
            part, v = getattr(shadow, name), getattr(value, name)
            if not isinstance(part, int | float | complex | np.number):
                put_into(part, v, more=more)
            elif v is not None:
                object.__setattr__(shadow, name, part + v if more else v)


def shadow_of(shadows: dict[int, Any], x: Any) -> Any:
    """Return the shadow of x, zeros at first; arrays that share memory get views of one shadow.

    `shadows` keeps all shadows, by the id of the owner of the memory, together with the owner.
    """
    if is_array(x):
        if x.dtype.kind not in "fc":
            return None
        owner = x
        while is_array(owner.base):
            owner = owner.base
        if type(owner.base).__name__ == "DummyArray":
            raise ValueError(
                "as_strided made one of several views of an array that is "
                "written; s2sad cannot follow it"
            )
        if id(owner) not in shadows:
            shadows[id(owner)] = owner, *lying_like(owner)
        _, shadow, memory, start = shadows[id(owner)]
        if x is owner:
            return shadow
        start += address(x) - address(owner)
        return laid_in(memory, start if x.size else 0, x)
    if isinstance(x, tuple):
        parts = [shadow_of(shadows, part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, float | complex | np.inexact):
        return type(x)(0.0)
    if id(x) in shadows:
        return shadows[id(x)][1]
    if isinstance(x, list):
        items = x[:0]
        shadows[id(x)] = x, items
        items.extend([shadow_of(shadows, part) for part in x])
        return items
    if isinstance(x, dict):
        table = x.copy()
        shadows[id(x)] = x, table
        for key in x:
            table[key] = shadow_of(shadows, x[key])
        return table
    if not has_fields(type(x)):
        return None
    made = bare(type(x))
    shadows[id(x)] = x, made
    fields = attributes(x)
    for name in fields:
        object.__setattr__(made, name, shadow_of(shadows, fields[name]))
    return made


def twin_of(twins: dict[int, Any], x: Any) -> Any:
    """Return a tangent of zeros for a structure; parts share memory as in the structure.

    An integer gets the tangent 0.0. `twins` keeps the tangents, by the id of their primal.
    """
    if isinstance(x, int | np.integer | np.bool_):
        return 0.0
    if isinstance(x, tuple):
        items = [twin_of(twins, part) for part in x]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if id(x) in twins or is_array(x):
        return shadow_of(twins, x)
    if isinstance(x, list):
        copy = x[:0]
        twins[id(x)] = x, copy
        copy.extend([twin_of(twins, part) for part in x])
        return copy
    if isinstance(x, dict):
        table = x.copy()
        twins[id(x)] = x, table
        for key in x:
            table[key] = twin_of(twins, x[key])
        return table
    if not has_fields(type(x)):
        return zeros_like(x)
    made = bare(type(x))
    twins[id(x)] = x, made
    parts = attributes(x)
    for name in parts:
        object.__setattr__(made, name, twin_of(twins, parts[name]))
    return made


def add_into_shadow(shadow: Any, value: Any) -> None:
    """Add a derivative into the shadow of an array or of a structure, in place."""
    if value is None or shadow is None:
        return
    if is_array(shadow):
        again = tuple(i for i, n in enumerate(shadow.shape) if n > 1 and shadow.strides[i] == 0)
        if again:  # the elements along these axes are one element
            value = np.broadcast_to(value, shadow.shape).sum(axis=again, keepdims=True)
            shadow = shadow[
                tuple(slice(1 if i in again else n) for i, n in enumerate(shadow.shape))
            ]
        shadow += value
    elif isinstance(shadow, tuple):
        for part, v in zip(shadow, value, strict=True):
            add_into_shadow(part, v)
    elif isinstance(shadow, list | dict):
        for key in shadow if isinstance(shadow, dict) else range(len(shadow)):
            if not isinstance(shadow[key], float | complex | np.inexact):
                add_into_shadow(shadow[key], value[key])
            elif value[key] is not None:
                shadow[key] += value[key]
    else:
        for name in attribute_names(shadow):
            part, v = getattr(shadow, name), getattr(value, name)
            if not isinstance(part, float | complex | np.inexact):
                add_into_shadow(part, v)
            elif v is not None:
                object.__setattr__(shadow, name, part + v)


def take_from_shadow(shadow: Any) -> Any:
    """Return the content of a shadow and set the shadow to zero; repeated memory counts once."""
    if is_array(shadow):
        content = np.zeros_like(shadow, order="C")
        sizes = zip(shadow.shape, shadow.strides, strict=True)
        first = tuple(slice(n if step else 1) for n, step in sizes)
        content[first] = shadow[first]
        shadow[...] = 0.0
        return content
    if isinstance(shadow, tuple):
        parts = [take_from_shadow(part) for part in shadow]
        return type(shadow)(*parts) if hasattr(shadow, "_fields") else tuple(parts)
    if isinstance(shadow, list):
        items = [take_from_shadow(part) for part in shadow]
        for i, part in enumerate(shadow):
            if isinstance(part, float | complex | np.inexact):
                shadow[i] = type(part)(0.0)
        return items
    if isinstance(shadow, dict):
        table = shadow.copy()
        for key in shadow:
            table[key] = take_from_shadow(shadow[key])
            if isinstance(shadow[key], float | complex | np.inexact):
                shadow[key] = type(shadow[key])(0.0)
        return table
    fields = attributes(shadow)
    if not fields:
        return shadow
    made = bare(type(shadow))
    for name in fields:
        part = fields[name]
        object.__setattr__(made, name, take_from_shadow(part))
        if isinstance(part, float | complex | np.inexact):
            object.__setattr__(shadow, name, type(part)(0.0))
    return made
