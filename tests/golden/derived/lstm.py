import numpy as np


def unbroadcast(x_bar, shape):
    """Sum a cotangent over the axes along which its argument, of this shape, was broadcast."""
    found = x_bar.shape if hasattr(x_bar, "shape") else ()
    if found == shape:
        return x_bar
    extra = len(found) - len(shape)
    axes = tuple(i for i, n in enumerate(found) if i < extra or n != 1 and shape[i - extra] == 1)
    x_bar = x_bar.sum(axis=axes)
    return x_bar.reshape(shape) if shape else x_bar


def lstm_grad(W, U, b, xs, ys):
    """Gradient of lstm (lstm.py:9) with respect to W, U and b."""
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
        z_item = z[3 * n :]
        tanh_z_item = np.tanh(z_item)
        t_0 = i * tanh_z_item
        cs[t + 1] = f * cs[t] + t_0
        tanh = np.tanh(cs[t + 1])
        hs[t + 1] = o * tanh
        saved.append((exp_t_1, exp_t_2, exp_t, t_0.shape, tanh, tanh_z_item, z_item.shape))
    t_1 = hs[1:] - ys

    # return np.mean((hs[1:] - ys) ** 2)
    hs_bar = np.zeros_like(hs)
    hs_bar[1:] = 2.0 / t_1.size * t_1
    U_bar = np.zeros_like(U)
    W_bar = np.zeros_like(W)
    b_bar = np.zeros_like(b)
    cs_bar = np.zeros(cs.shape[1:])
    for t in range(len_xs - 1, -1, -1):
        exp_t_1, exp_t_2, exp_t, t_shape, tanh, tanh_z_item, z_item_shape = saved.pop()
        # hs[t + 1] = o * np.tanh(cs[t + 1])
        t_bar = hs_bar[t + 1]
        o = 1.0 / (1.0 + exp_t_2)
        o_bar = unbroadcast(t_bar * tanh, o.shape)
        cs_bar += t_bar * o * (1.0 - tanh * tanh)
        # cs[t + 1] = f * cs[t] + i * np.tanh(z[3 * n :])
        t_bar_1 = unbroadcast(cs_bar, t_shape)
        i = 1.0 / (1.0 + exp_t)
        i_bar = unbroadcast(t_bar_1 * tanh_z_item, i.shape)
        z_bar = np.zeros(len(W))
        z_bar[3 * n :] = unbroadcast(t_bar_1 * i, z_item_shape) * (1.0 - tanh_z_item * tanh_z_item)
        f = 1.0 / (1.0 + exp_t_1)
        f_bar = unbroadcast(cs_bar * cs[t], f.shape)
        cs_bar = cs_bar * f
        # o = 1.0 / (1.0 + np.exp(-z[2 * n : 3 * n]))
        z_bar[2 * n : 3 * n] = o_bar * o * o * exp_t_2
        # f = 1.0 / (1.0 + np.exp(-z[n : 2 * n]))
        z_bar[n : 2 * n] = f_bar * f * f * exp_t_1
        # i = 1.0 / (1.0 + np.exp(-z[:n]))
        z_bar[:n] = i_bar * i * i * exp_t
        # z = W @ xs[t] + U @ hs[t] + b
        b_bar += z_bar
        U_bar += np.outer(z_bar, hs[t])
        hs_bar[t] += U.T @ z_bar
        W_bar += np.outer(z_bar, xs[t])
    return W_bar, U_bar, b_bar
