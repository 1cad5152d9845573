import numpy as np


def lstm_jvp(W, U, b, xs, ys, W_dot, U_dot, b_dot):
    """Value and tangent of lstm (lstm.py), given the tangents of W, U and b."""
    n = U.shape[1]
    hs = np.zeros((len(xs) + 1, n))
    hs_dot = np.zeros_like(hs)
    cs = np.zeros((len(xs) + 1, n))
    cs_dot = np.zeros_like(cs)
    for t in range(len(xs)):
        z = W @ xs[t] + U @ hs[t] + b
        z_dot = W_dot @ xs[t] + U_dot @ hs[t] + U @ hs_dot[t] + b_dot
        exp_t = np.exp(-z[:n])
        i = 1.0 / (1.0 + exp_t)
        exp_t_1 = np.exp(-z[n : 2 * n])
        f = 1.0 / (1.0 + exp_t_1)
        exp_t_2 = np.exp(-z[2 * n : 3 * n])
        o = 1.0 / (1.0 + exp_t_2)
        tanh_z_item = np.tanh(z[3 * n :])
        t_0 = cs_dot[t] * f + z_dot[n : 2 * n] * exp_t_1 * f * f * cs[t]
        t_0 = t_0 + z_dot[3 * n :] * (1.0 - tanh_z_item * tanh_z_item) * i
        cs_dot[t + 1] = t_0 + z_dot[:n] * exp_t * i * i * tanh_z_item
        cs[t + 1] = f * cs[t] + i * tanh_z_item
        tanh = np.tanh(cs[t + 1])
        t_0 = z_dot[2 * n : 3 * n] * exp_t_2 * o * o * tanh
        hs[t + 1] = o * tanh
        hs_dot[t + 1] = cs_dot[t + 1] * (1.0 - tanh * tanh) * o + t_0
    t_0 = hs[1:] - ys
    return np.mean(t_0**2), 2.0 * np.mean(hs_dot[1:] * t_0)
