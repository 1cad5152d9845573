"""The derivative of the loss in examples/lstm.py, by hand."""

import numpy as np


def sigmoid(x):
    """The logistic function."""
    return 1.0 / (1.0 + np.exp(-x))


def predict_forward(params, xs):
    """predict, and what predict_reverse reads."""
    n = len(params["V"])
    h = np.zeros((len(xs) + 1, n))
    c = np.zeros((len(xs) + 1, n))
    out = np.zeros(len(xs))
    saved = []
    for t in range(len(xs)):
        z = params["W"] * xs[t] + params["U"] @ h[t] + params["b"]
        write = sigmoid(z[:n])
        keep = sigmoid(z[n : 2 * n])
        read = sigmoid(z[2 * n : 3 * n])
        new = np.tanh(z[3 * n :])
        c[t + 1] = keep * c[t] + write * new
        tanh_c = np.tanh(c[t + 1])
        h[t + 1] = read * tanh_c
        out[t] = params["V"] @ h[t + 1] + params["a"]
        saved.append((write, keep, read, new, tanh_c))
    return out, (h, c, saved)


def predict_reverse(kept, params, xs, out_bar):
    """Cotangent of predict's params."""
    h, c, saved = kept
    n = len(params["V"])
    W_bar = np.zeros_like(params["W"])
    U_bar = np.zeros_like(params["U"])
    b_bar = np.zeros_like(params["b"])
    V_bar = np.zeros_like(params["V"])
    a_bar = 0.0
    h_bar = np.zeros(n)
    c_bar = np.zeros(n)
    z_bar = np.empty(4 * n)
    for t in range(len(xs) - 1, -1, -1):
        write, keep, read, new, tanh_c = saved.pop()
        # out[t] = params["V"] @ h[t + 1] + params["a"]
        a_bar += out_bar[t]
        V_bar += out_bar[t] * h[t + 1]
        h_bar += out_bar[t] * params["V"]
        # h[t + 1] = read * np.tanh(c[t + 1])
        c_bar += h_bar * read * (1.0 - tanh_c * tanh_c)
        z_bar[2 * n : 3 * n] = h_bar * tanh_c * read * (1.0 - read)
        # c[t + 1] = keep * c[t] + write * np.tanh(z[3 * n :])
        z_bar[3 * n :] = c_bar * write * (1.0 - new * new)
        z_bar[:n] = c_bar * new * write * (1.0 - write)
        z_bar[n : 2 * n] = c_bar * c[t] * keep * (1.0 - keep)
        c_bar = c_bar * keep
        # z = params["W"] * xs[t] + params["U"] @ h[t] + params["b"]
        b_bar += z_bar
        U_bar += np.outer(z_bar, h[t])
        h_bar = params["U"].T @ z_bar
        W_bar += z_bar * xs[t]
    return {"W": W_bar, "U": U_bar, "b": b_bar, "V": V_bar, "a": a_bar}


def loss_value_and_grad(params, xs):
    """Value of loss (lstm.py:33) and its gradient with respect to params."""
    out, kept = predict_forward(params, xs[:-1])
    misfit = out - xs[1:]
    value = np.mean(misfit**2)
    return value, predict_reverse(kept, params, xs[:-1], 2.0 / misfit.size * misfit)
