import numpy as np


def power_in_place_grad(A, steps):
    """Gradient of power_in_place (power_in_place.py) with respect to A."""
    v = np.ones(A.shape[0])
    saved = []
    for _ in range(steps):
        v_0 = v.copy()
        v[:] = A @ v
        sqrt_sum_t = np.sqrt(np.sum(v * v))
        saved.append((v.copy(), sqrt_sum_t, v / sqrt_sum_t, v_0))
        v /= sqrt_sum_t

    # return v @ A @ v
    t_bar = v.copy()
    v_bar = (v @ A).copy()
    v_bar += A @ t_bar
    A_bar = np.outer(v, t_bar)
    while saved:
        v_0, sqrt_sum_t, t, v_1 = saved.pop()
        # v /= np.sqrt(np.sum(v * v))
        v[...] = v_0
        sqrt_sum_t_bar = -np.dot(v_bar, t) / sqrt_sum_t
        v_bar /= sqrt_sum_t
        # sqrt_sum_t_bar == 0: zero stays zero where the derivative is infinite
        sum_t_bar = 0.5 * sqrt_sum_t_bar / (1.0 if sqrt_sum_t_bar == 0 else sqrt_sum_t)
        v_bar += sum_t_bar * v
        v_bar += sum_t_bar * v
        # v[:] = A @ v
        v[:] = v_1
        A_bar += np.outer(v_bar, v)
        v_bar[...] = A.T @ v_bar
    return A_bar
