import numpy as np


def lstm_grad(W, U, b, xs, ys):
    """Gradient of lstm (lstm.py) with respect to W, U and b."""
    n = U.shape[1]
    hs = np.zeros((len(xs) + 1, n))
    cs = np.zeros((len(xs) + 1, n))
    len_xs = len(xs)
    saved = []
    for t in range(len_xs):
        z = W @ xs[t] + U @ hs[t] + b
        exp_t = np.exp(-z[:n])
        i = 1.0 / (1.0 + exp_t)
        exp_t_1 = np.exp(-z[n : 2 * n])
        f = 1.0 / (1.0 + exp_t_1)
        exp_t_2 = np.exp(-z[2 * n : 3 * n])
        o = 1.0 / (1.0 + exp_t_2)
        tanh_z_item = np.tanh(z[3 * n :])
        cs[t + 1] = f * cs[t] + i * tanh_z_item
        tanh = np.tanh(cs[t + 1])
        hs[t + 1] = o * tanh
        saved.append((tanh, tanh_z_item, z.shape, exp_t_2, exp_t_1, exp_t))
    t_0 = hs[1:] - ys

    # return np.mean((hs[1:] - ys) ** 2)
    hs_bar = np.zeros_like(hs)
    hs_bar[1:] = 2.0 / t_0.size * t_0
    W_bar = np.zeros_like(W)
    U_bar = np.zeros_like(U)
    b_bar = np.zeros_like(b)
    cs_bar = np.zeros_like(cs)
    for t in range(len_xs - 1, -1, -1):
        tanh, tanh_z_item, z_shape, exp_t, exp_t_1, exp_t_2 = saved.pop()
        o = 1.0 / (1.0 + exp_t)
        i = 1.0 / (1.0 + exp_t_2)
        f = 1.0 / (1.0 + exp_t_1)
        # hs[t + 1] = o * np.tanh(cs[t + 1])
        t_bar = hs_bar[t + 1]
        cs_bar[t + 1] += t_bar * o * (1.0 - tanh * tanh)
        # cs[t + 1] = f * cs[t] + i * np.tanh(z[3 * n :])
        t_bar_1 = cs_bar[t + 1]
        i_bar = t_bar_1 * tanh_z_item
        z_bar = np.zeros(z_shape)
        z_bar[3 * n :] = t_bar_1 * i * (1.0 - tanh_z_item * tanh_z_item)
        f_bar = t_bar_1 * cs[t]
        cs_bar[t] += t_bar_1 * f
        # o = 1.0 / (1.0 + np.exp(-z[2 * n : 3 * n]))
        z_bar[2 * n : 3 * n] = t_bar * tanh * o * exp_t * o
        # f = 1.0 / (1.0 + np.exp(-z[n : 2 * n]))
        z_bar[n : 2 * n] = f_bar * f * exp_t_1 * f
        # i = 1.0 / (1.0 + np.exp(-z[:n]))
        z_bar[:n] = i_bar * i * exp_t_2 * i
        # z = W @ xs[t] + U @ hs[t] + b
        b_bar += z_bar
        U_bar += np.outer(z_bar, hs[t])
        hs_bar[t] += U.T @ z_bar
        W_bar += np.outer(z_bar, xs[t])
    return W_bar, U_bar, b_bar
