import numpy as np


def nearest_grad(p, points):
    """Gradient of nearest (nearest.py) with respect to p."""
    best = None
    saved = []
    for q in points:
        t = p - q
        d = np.sum(t**2)
        if best is None or d < best:
            arm = 0
            best = d
        else:
            arm = 1
        saved.append((arm, t))
    if best is None:
        raise TypeError("nearest returned None, which has no gradient")

    # return best
    best_bar = 1.0
    p_bar = np.zeros_like(p)
    while saved:
        arm, t = saved.pop()
        if arm == 0:
            # best = d
            d_bar = best_bar
            best_bar = 0.0
        else:
            d_bar = 0.0
        # d = np.sum((p - q) ** 2)
        p_bar += 2.0 * d_bar * t
    return p_bar
