import numpy as np


def power_in_place_grad(A, steps):
    """Gradient of power_in_place (power_in_place.py) with respect to A."""
    v = np.ones(A.shape[0])
    saved = []
    for _ in range(steps):
        v_0 = v[:].copy()
        v[:] = A @ v
        sqrt_sum_t = np.sqrt(np.sum(v * v))
        saved.append((v_0, v.copy(), sqrt_sum_t))
        v /= sqrt_sum_t
    t = v @ A

    # return v @ A @ v
    t_bar = v.copy()
    v_bar = t + A @ t_bar
    A_bar = np.outer(v, t_bar)
    while saved:
        v_0, v_1, sqrt_sum_t = saved.pop()
        # v /= np.sqrt(np.sum(v * v))
        sqrt_sum_t_bar = -np.sum(v_bar * v) / sqrt_sum_t
        v = v_1
        v_bar *= 1.0 / sqrt_sum_t
        # sqrt_sum_t_bar == 0: zero stays zero where the derivative is infinite
        t_bar_1 = np.broadcast_to(
            0.5 * sqrt_sum_t_bar / (1.0 if sqrt_sum_t_bar == 0 else sqrt_sum_t), v.shape
        )
        v_bar += 2.0 * t_bar_1 * v
        # v[:] = A @ v
        t_bar_2 = v_bar[:].copy()
        v_bar[:] = 0.0
        v[:] = v_0
        A_bar += np.outer(t_bar_2, v)
        v_bar += A.T @ t_bar_2
    return A_bar
