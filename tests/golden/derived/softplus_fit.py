import math
import numpy as np


def zeros_like(x):
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


def softplus_forward(x, sharpness=1.0):
    """softplus (softplus_fit.py:8), and what softplus_reverse reads."""
    exp_t = math.exp(sharpness * x)
    t = 1.0 + exp_t
    return math.log(t) / sharpness, (exp_t, t)


def softplus_reverse(kept, sharpness, value_bar):
    """Cotangent of x of softplus (softplus_fit.py:8), from that of its result."""
    exp_t, t = kept
    # return math.log(1.0 + math.exp(sharpness * x)) / sharpness
    x_bar = value_bar * exp_t * sharpness / sharpness / t
    return x_bar


def softplus_fit_grad(params, xs, ys):
    """Gradient of softplus_fit (softplus_fit.py:12) with respect to params."""
    scale, shift = params
    items = []
    saved = []
    for x in xs:
        softplus_t, softplus_saved = softplus_forward(x - shift, sharpness=2.0)
        items.append(scale * softplus_t)
        saved.append((softplus_saved, softplus_t))
    predicted = items
    items_1 = []
    for p, y in zip(predicted, ys):
        items_1.append((p - y) ** 2)

    # return sum((p - y) ** 2 for p, y in zip(predicted, ys))
    items_bar = [1.0] * len(items_1)
    predicted_bar = zeros_like(predicted)
    for i_1 in range(min(len(predicted), len(ys)) - 1, -1, -1):
        p = predicted[i_1]
        y = ys[i_1]
        # return sum((p - y) ** 2 for p, y in zip(predicted, ys))
        predicted_bar[i_1] += 2.0 * items_bar.pop() * (p - y)
    # predicted = [scale * softplus(x - shift, sharpness=2.0) for x in xs]
    items_bar_1 = list(predicted_bar)
    scale_bar = 0.0
    shift_bar = 0.0
    while saved:
        softplus_saved, softplus_t = saved.pop()
        # predicted = [scale * softplus(x - shift, sharpness=2.0) for x in xs]
        t_bar = items_bar_1.pop()
        scale_bar = scale_bar + t_bar * softplus_t
        shift_bar = shift_bar - softplus_reverse(softplus_saved, 2.0, t_bar * scale)
    return scale_bar, shift_bar
