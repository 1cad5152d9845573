import enum
import numpy as np
import sys


def zeros_like(x, integers=None):
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
    zeros = object.__new__(type(x))
    parts = attributes(x)
    for name in parts:
        object.__setattr__(zeros, name, zeros_like(parts[name], integers))
    return zeros


def attributes(x):
    """Return the attributes of a user-defined object by name; for other objects an empty dict."""
    if not has_fields(type(x)):
        return {}
    return {name: getattr(x, name) for name in attribute_names(x)}


def has_fields(cls):
    """Return whether the attributes of an object are parts of a structure: user-defined classes.

    Dataclasses are structures; enums, exceptions, iterables and objects of libraries are not.
    """
    if hasattr(cls, "__dataclass_fields__"):
        return True
    home = cls.__module__.partition(".")[0]
    theirs = home != "__main__" and home in sys.stdlib_module_names
    if theirs or home in ("numpy", "scipy", "cupy"):
        return False
    return not (issubclass(cls, type | enum.Enum | BaseException) or hasattr(cls, "__iter__"))


def attribute_names(x):
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


def rotation_grad(angle, v):
    """Gradient of rotation (rotation.py) with respect to angle and v."""
    c = np.cos(angle)
    s = np.sin(angle)
    parts = {}
    array_t = np.array([[c, -s], [s, c]])
    parts = {**parts, "turned": array_t @ v}
    t = [c * s, angle]
    parts_0 = parts
    parts = {**parts, "size": np.sum(t)}
    t_1 = [1.0, 2.0]
    dot = np.dot(parts["turned"], t_1)
    parts_size = parts["size"]

    # return np.dot(parts["turned"], [1.0, 2.0]) * parts["size"]
    parts_bar = zeros_like(parts)
    parts_bar["size"] += dot
    parts_bar["turned"] += parts_size * np.asarray(t_1)
    # parts["size"] = np.sum([c * s, angle])
    parts_bar_1 = parts_bar
    t_bar, angle_bar = np.broadcast_to(parts_bar_1["size"], np.asarray(t).shape)
    parts_bar = zeros_like(parts_0)
    parts_bar["turned"] += parts_bar_1["turned"]
    c_bar = t_bar * s
    s_bar = t_bar * c
    # parts["turned"] = np.array([[c, -s], [s, c]]) @ v
    t_bar_1 = parts_bar["turned"].copy()
    v_bar = array_t.T @ t_bar_1
    t_bar_2, t_bar_3 = np.outer(t_bar_1, v)
    s_bar = s_bar + t_bar_3[0]
    c_bar = c_bar + t_bar_3[1]
    c_bar = c_bar + t_bar_2[0]
    s_bar = s_bar - t_bar_2[1]
    # c, s = np.cos(angle), np.sin(angle)
    angle_bar = angle_bar + s_bar * np.cos(angle)
    angle_bar = angle_bar - c_bar * np.sin(angle)
    return angle_bar, v_bar
