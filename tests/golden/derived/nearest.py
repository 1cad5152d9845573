import numpy as np


def nearest_grad(p, points):
    """Gradient of nearest (nearest.py) with respect to p."""
    best = None
    saved = []
    for q in points:
        t = p - q
        d = np.sum(t**2)
        t_1 = best is None or d < best
        saved.append((t_1, t))
        if t_1:
            best = d
    if best is None:
        raise TypeError("nearest returned None, which has no gradient")

    p_bar = np.zeros_like(p)
    best_bar = 1.0
    while saved:
        t, t_1 = saved.pop()
        if t:
            d_bar = best_bar
            best_bar = 0.0
        else:
            d_bar = 0.0
        # d = np.sum((p - q) ** 2)
        p_bar += 2.0 * d_bar * t_1
    return p_bar
