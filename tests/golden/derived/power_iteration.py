import numpy as np


def power_iteration_grad(A, v, steps):
    """Gradient of power_iteration (power_iteration.py) with respect to A."""
    saved = []
    for _ in range(steps):
        v_0 = v
        v = A @ v
        norm_v = np.linalg.norm(v)
        saved.append((v_0, v, norm_v))
        v = v / norm_v
    t = v @ A

    # return v @ A @ v
    v_bar = t + A @ v
    A_bar = np.outer(v, v)
    while saved:
        v_1, v_2, norm_v = saved.pop()
        # v = v / np.linalg.norm(v)
        v_bar = v_bar / norm_v - np.sum(v_bar * v) / norm_v * np.conj(v_2) / np.where(
            norm_v == 0, np.inf, norm_v
        )
        # v = A @ v
        v = v_1
        A_bar += np.outer(v_bar, v)
        v_bar = A.T @ v_bar
    return A_bar
