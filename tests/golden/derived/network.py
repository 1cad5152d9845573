import enum
import numpy as np
import sys
import types


def unbroadcast(x_bar, shape):
    """Sum a cotangent over the axes along which its argument, with this shape, was broadcast."""
    found = x_bar.shape if hasattr(x_bar, "shape") else ()
    if found == shape:
        return x_bar
    extra = len(found) - len(shape)
    axes = tuple(i for i, n in enumerate(found) if i < extra or n != 1 and shape[i - extra] == 1)
    x_bar = x_bar.sum(axis=axes)
    return x_bar.reshape(shape) if shape else x_bar


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


def network_value_and_grad(layers, X, y):
    """Value and gradient of network (network.py) with respect to layers."""
    h = X
    layers_item = layers[:-1]
    saved = []
    for layer in layers_item:
        t = h @ layer["W"]
        layer_b = layer["b"]
        saved.append((t.shape, layer_b.shape, layer["W"], h))
        h = np.tanh(t + layer_b)
    layers_item_1_W = layers[-1]["W"]
    t = h @ layers_item_1_W
    layers_item_2_b = layers[-1]["b"]
    out = t + layers_item_2_b
    t_1 = out[:, 0] - y
    t_2 = t_1**2
    value = np.mean(t_2)

    # return np.mean((out[:, 0] - y) ** 2)
    out_bar = np.zeros_like(out)
    out_bar[:, 0] += 2.0 / t_2.size * t_1
    # out = h @ layers[-1]["W"] + layers[-1]["b"]
    t_bar = unbroadcast(out_bar, t.shape)
    layers_bar = zeros_like(layers)
    layers_bar[-1]["b"] += unbroadcast(out_bar, layers_item_2_b.shape)
    h_bar = t_bar @ layers_item_1_W.T
    layers_bar[-1]["W"] += h.T @ t_bar
    layers_item_bar = layers_bar[:-1]
    for t_3 in range(len(layers_item) - 1, -1, -1):
        # h = np.tanh(h @ layer["W"] + layer["b"])
        t_bar_1 = h_bar * (1.0 - h * h)
        t_shape, layer_b_shape, layer_W, h = saved.pop()
        t_bar_2 = unbroadcast(t_bar_1, t_shape)
        layers_item_bar[t_3]["b"] += unbroadcast(t_bar_1, layer_b_shape)
        if t_3 > 0:
            h_bar = t_bar_2 @ layer_W.T
        layers_item_bar[t_3]["W"] += h.T @ t_bar_2
    return value, layers_bar
