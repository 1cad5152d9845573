import numpy as np


def power_iteration_grad(A, v, steps):
    """Gradient of power_iteration (power_iteration.py) with respect to A."""
    saved = []
    for _ in range(steps):
        v_0 = A @ v
        norm_v = np.linalg.norm(v_0)
        saved.append((norm_v, v_0, v))
        v = v_0 / norm_v

    # return v @ A @ v
    t_bar = v.copy()
    v_bar = (v @ A).copy()
    v_bar += A @ t_bar
    A_bar = np.outer(v, t_bar)
    while saved:
        norm_v, v_0, v_1 = saved.pop()
        # v = v / np.linalg.norm(v)
        v_bar_1 = v_bar / norm_v
        v_bar_1 -= np.dot(v_bar, v) / norm_v / np.where(norm_v == 0, np.inf, norm_v) * v_0
        # v = A @ v
        outer_v_bar = np.outer(v_bar_1, v_1)
        v_bar = A.T @ v_bar_1
        A_bar += outer_v_bar
        v = v_1
    return A_bar
