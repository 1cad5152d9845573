import numpy as np


def network_jvp(layers, X, y, layers_dot):
    """Value and tangent of network (network.py), given the tangent of layers."""
    h = X
    layers_item = layers[:-1]
    layers_item_dot = layers_dot[:-1]
    h_dot = np.zeros_like(h)
    for layer, layer_dot in zip(layers_item, layers_item_dot):
        layer_W = layer["W"]
        t_dot = h_dot @ layer_W + h @ layer_dot["W"]
        t = h @ layer_W + layer["b"]
        h = np.tanh(t)
        h_dot = (t_dot + layer_dot["b"] + np.zeros_like(t)) * (1.0 - h * h)
    layers_item_1_W = layers[-1]["W"]
    out = h @ layers_item_1_W + layers[-1]["b"]
    t_1 = out[:, 0] - y
    value_dot = np.mean(
        2.0
        * (
            h_dot @ layers_item_1_W
            + h @ layers_dot[-1]["W"]
            + layers_dot[-1]["b"]
            + np.zeros_like(out)
        )[:, 0]
        * t_1
    )
    return np.mean(t_1**2), value_dot
