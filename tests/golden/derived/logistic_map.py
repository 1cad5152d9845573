import numpy as np


def logistic_map_grad(x0, r, steps):
    """Gradient of logistic_map (logistic_map.py) with respect to x0 and r."""
    xs = np.empty((steps + 1, len(x0)))
    xs[0] = x0
    saved = []
    for t in range(steps):
        t_0 = r * xs[t]
        t_1 = 1.0 - xs[t]
        xs[t + 1] = t_0 * t_1
        saved.append((t_1, t_0))

    # return np.mean(xs[-1])
    xs_bar = np.zeros_like(xs)
    xs_bar[-1] = np.broadcast_to(1.0 / xs[-1].size, xs[-1].shape)
    r_bar = 0.0
    for t in range(steps - 1, -1, -1):
        t_0, t_1 = saved.pop()
        # xs[t + 1] = r * xs[t] * (1.0 - xs[t])
        t_bar = xs_bar[t + 1]
        t_bar_1 = t_bar * t_0
        xs_bar[t] -= t_bar * t_1
        r_bar = r_bar + np.dot(t_bar_1, xs[t])
        xs_bar[t] += r * t_bar_1
    return xs_bar[0].copy(), r_bar
