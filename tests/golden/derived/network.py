import numpy as np


def unbroadcast(x_bar, shape):
    """Sum a cotangent over the axes along which its argument, with this shape, was broadcast."""
    found = x_bar.shape if hasattr(x_bar, "shape") else ()
    if found == shape:
        return x_bar
    extra = len(found) - len(shape)
    axes = tuple(i for i, n in enumerate(found) if i < extra or n != 1 and shape[i - extra] == 1)
    x_bar = x_bar.sum(axis=axes)
    return x_bar.reshape(shape) if shape else x_bar


def network_value_and_grad(layers, X, y):
    """Value and gradient of network (network.py) with respect to layers."""
    h = X
    layers_item = layers[:-1]
    saved = []
    for layer in layers_item:
        t = h @ layer["W"]
        saved.append((h, t.shape))
        h = np.tanh(t + layer["b"])
    layers_item_1_W = layers[-1]["W"]
    t_1 = h @ layers_item_1_W
    layers_item_2_b = layers[-1]["b"]
    out = t_1 + layers_item_2_b
    out_item = out[:, 0]
    t_2 = out_item - y
    value = np.mean(t_2**2)

    # return np.mean((out[:, 0] - y) ** 2)
    out_bar = np.zeros_like(out)
    out_bar[:, 0] = 2.0 / out_item.size * t_2
    # out = h @ layers[-1]["W"] + layers[-1]["b"]
    t_bar = unbroadcast(out_bar, t_1.shape).copy()
    layers_bar = [dict.fromkeys(part) for part in layers]
    layers_item_bar = layers_bar[-1]
    layers_item_bar["b"] = unbroadcast(out_bar, layers_item_2_b.shape).copy()
    h_bar = t_bar @ layers_item_1_W.T
    layers_item_bar_1 = layers_bar[-1]
    layers_item_bar_1["W"] = h.T @ t_bar
    layers_item_bar_2 = layers_bar[:-1]
    for i in range(len(layers_item) - 1, -1, -1):
        h_0, t_shape = saved.pop()
        # h = np.tanh(h @ layer["W"] + layer["b"])
        t_bar_1 = h_bar * (1.0 - h * h)
        h = h_0
        t_bar_2 = unbroadcast(t_bar_1, t_shape)
        layer_bar = layers_item_bar_2[i]
        layer_bar["b"] = unbroadcast(t_bar_1, layers_item[i]["b"].shape).copy()
        if i > 0:
            h_bar = t_bar_2 @ layers_item[i]["W"].T
        layer_bar["W"] = h.T @ t_bar_2
    return value, layers_bar
