import cupy as cp
import enum
import numpy as np
import sys
import types


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
    zeros = bare(type(x))
    parts = attributes(x)
    for name in parts:
        object.__setattr__(zeros, name, zeros_like(parts[name], integers))
    return zeros


def attributes(x):
    """Return the attributes of a user-defined object by name; for other objects an empty dict."""
    if not has_fields(type(x)):
        return {}
    return {name: getattr(x, name) for name in attribute_names(x)}


def bare(cls):
    """Return an object of a class without attributes, without a call of its __init__."""
    home = types.SimpleNamespace if issubclass(cls, types.SimpleNamespace) else object
    return home.__new__(cls)


def has_fields(cls):
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
    return walk is cls or own and "-packages" not in walk.__code__.co_filename


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


def mlp_grad(params, x, y):
    """Gradient of mlp (device_programs.py) with respect to params."""
    saved = []
    for t, (W, b) in enumerate(params):
        saved.append((W, x, t))
        x = cp.tanh(x @ W + b)

    # return cp.mean((x - y) ** 2)
    x_bar = 2.0 / x.size * (x - y)
    params_bar = zeros_like(params)
    while saved:
        # x = cp.tanh(x @ W + b)
        t_bar = x_bar * (1.0 - x * x)
        b_bar = cp.sum(t_bar, axis=0)
        W, x, t_1 = saved.pop()
        x_bar = t_bar @ W.T
        t_2, t_3 = params_bar[t_1]
        params_bar[t_1] = (x.T @ t_bar + t_2, t_3 + b_bar)
    return params_bar
