import numpy as np


def lstm_jvp(W, U, b, xs, ys, W_dot, U_dot, b_dot):
    """Value and tangent of lstm (lstm.py), given the tangents of W, U and b."""
    n = U.shape[1]
    hs = np.zeros((len(xs) + 1, n))
    hs_dot = np.zeros_like(hs)
    cs = np.zeros((len(xs) + 1, n))
    cs_dot = np.zeros_like(cs)
    for t in range(len(xs)):
        xs_item = xs[t]
        hs_item = hs[t]
        z = W @ xs_item + U @ hs_item + b
        z_dot = W_dot @ xs_item + (U_dot @ hs_item + U @ hs_dot[t]) + b_dot
        exp_t = np.exp(-z[:n])
        i = 1.0 / (1.0 + exp_t)
        exp_t_1 = np.exp(-z[n : 2 * n])
        f = 1.0 / (1.0 + exp_t_1)
        exp_t_2 = np.exp(-z[2 * n : 3 * n])
        o = 1.0 / (1.0 + exp_t_2)
        cs_item = cs[t]
        tanh_z_item = np.tanh(z[3 * n :])
        t_dot = (
            z_dot[:n] * exp_t * i * i * tanh_z_item
            + z_dot[3 * n :] * (1.0 - tanh_z_item * tanh_z_item) * i
        )
        t_dot_1 = z_dot[n : 2 * n] * exp_t_1 * f * f * cs_item + cs_dot[t] * f + t_dot
        cs[t + 1] = f * cs_item + i * tanh_z_item
        cs_dot[t + 1] = t_dot_1
        tanh = np.tanh(cs[t + 1])
        t_dot_2 = (
            z_dot[2 * n : 3 * n] * exp_t_2 * o * o * tanh + cs_dot[t + 1] * (1.0 - tanh * tanh) * o
        )
        hs[t + 1] = o * tanh
        hs_dot[t + 1] = t_dot_2
    t_0 = hs[1:] - ys
    return np.mean(t_0**2), np.mean(2.0 * (hs_dot[1:] + np.zeros_like(t_0)) * t_0)
