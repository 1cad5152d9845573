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
        hs_item = hs[t]
        z = W @ xs[t] + U @ hs_item + b
        exp_t = np.exp(-z[:n])
        t_0 = 1.0 + exp_t
        i = 1.0 / t_0
        exp_t_1 = np.exp(-z[n : 2 * n])
        t_1 = 1.0 + exp_t_1
        f = 1.0 / t_1
        exp_t_2 = np.exp(-z[2 * n : 3 * n])
        t_2 = 1.0 + exp_t_2
        o = 1.0 / t_2
        cs_item = cs[t]
        z_item = z[3 * n :]
        tanh_z_item = np.tanh(z_item)
        t_3 = i * tanh_z_item
        cs_0 = cs[t + 1].copy()
        cs[t + 1] = f * cs_item + t_3
        tanh = np.tanh(cs[t + 1])
        hs_0 = hs[t + 1].copy()
        hs[t + 1] = o * tanh
        saved.append(
            (
                cs_0,
                hs_0,
                cs_item,
                exp_t_1,
                exp_t_2,
                exp_t,
                f,
                hs_item,
                i,
                o,
                t_1,
                t_2,
                t_3,
                t_0,
                tanh,
                tanh_z_item,
                xs[t],
                z,
                z_item,
            )
        )
    hs_item_1 = hs[1:]
    t_4 = hs_item_1 - ys

    # return np.mean((hs[1:] - ys) ** 2)
    hs_bar = np.zeros_like(hs)
    hs_bar[1:] += unbroadcast(2.0 / t_4.size * t_4, hs_item_1.shape)
    U_bar = np.zeros_like(U)
    W_bar = np.zeros_like(W)
    b_bar = np.zeros_like(b)
    cs_bar = np.zeros_like(cs)
    for t in range(len_xs - 1, -1, -1):
        (
            cs_0,
            hs_0,
            cs_item,
            exp_t_1,
            exp_t_2,
            exp_t,
            f,
            hs_item,
            i,
            o,
            t_1,
            t_2,
            t_3,
            t_0,
            tanh,
            tanh_z_item,
            xs_item,
            z,
            z_item,
        ) = saved.pop()
        # hs[t + 1] = o * np.tanh(cs[t + 1])
        t_bar = hs_bar[t + 1].copy()
        hs_bar[t + 1] = 0.0
        hs[t + 1] = hs_0
        o_bar = unbroadcast(t_bar * tanh, o.shape)
        cs_bar[t + 1] += t_bar * o * (1.0 - tanh * tanh)
        # cs[t + 1] = f * cs[t] + i * np.tanh(z[3 * n :])
        t_bar_1 = cs_bar[t + 1].copy()
        cs_bar[t + 1] = 0.0
        cs[t + 1] = cs_0
        t_bar_2 = unbroadcast(t_bar_1, t_3.shape)
        i_bar = unbroadcast(t_bar_2 * tanh_z_item, i.shape)
        z_bar = np.zeros_like(z)
        z_bar[3 * n :] += unbroadcast(t_bar_2 * i, z_item.shape) * (1.0 - tanh_z_item * tanh_z_item)
        f_bar = unbroadcast(t_bar_1 * cs_item, f.shape)
        cs_bar[t] += t_bar_1 * f
        # o = 1.0 / (1.0 + np.exp(-z[2 * n : 3 * n]))
        z_bar[2 * n : 3 * n] += (
            o_bar * np.where(o_bar == 0, 1.0, o) * exp_t_2 / np.where(o_bar == 0, 1.0, t_2)
        )
        # f = 1.0 / (1.0 + np.exp(-z[n : 2 * n]))
        z_bar[n : 2 * n] += (
            f_bar * np.where(f_bar == 0, 1.0, f) * exp_t_1 / np.where(f_bar == 0, 1.0, t_1)
        )
        # i = 1.0 / (1.0 + np.exp(-z[:n]))
        z_bar[:n] += i_bar * np.where(i_bar == 0, 1.0, i) * exp_t / np.where(i_bar == 0, 1.0, t_0)
        # z = W @ xs[t] + U @ hs[t] + b
        b_bar += z_bar
        U_bar += np.outer(z_bar, hs_item)
        hs_bar[t] += U.T @ z_bar
        W_bar += np.outer(z_bar, xs_item)
    return W_bar, U_bar, b_bar
