import numpy as np


def logistic_map_grad(x0, r, steps):
    """Gradient of logistic_map (logistic_map.py) with respect to x0 and r."""
    xs = np.empty((steps + 1, len(x0)))
    xs[0] = x0
    saved = []
    for t in range(steps):
        xs_item = xs[t]
        t_0 = r * xs_item
        t_1 = 1.0 - xs[t]
        xs_0 = xs[t + 1].copy()
        xs[t + 1] = t_0 * t_1
        saved.append((xs_0, t_0, t_1, xs_item))
    xs_item_1 = xs[-1]

    # return np.mean(xs[-1])
    xs_bar = np.zeros_like(xs)
    xs_bar[-1] = 1.0 / xs_item_1.size
    r_bar = 0.0
    for t in range(steps - 1, -1, -1):
        xs_0, t_0, t_1, xs_item = saved.pop()
        # xs[t + 1] = r * xs[t] * (1.0 - xs[t])
        t_bar = xs_bar[t + 1]
        xs[t + 1] = xs_0
        t_bar_1 = t_bar * t_1
        xs_bar[t] -= t_bar * t_0
        r_bar = r_bar + np.dot(t_bar_1, xs_item)
        xs_bar[t] += r * t_bar_1
    # xs[0] = x0
    x0_bar = xs_bar[0].copy()
    return x0_bar, r_bar
