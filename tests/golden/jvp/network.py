import numpy as np


def network_jvp(layers, X, y, layers_dot):
    """Value and tangent of network (network.py), given the tangent of layers."""
    h = X
    h_dot = np.zeros_like(h)
    for layer, layer_dot in zip(layers[:-1], layers_dot[:-1]):
        layer_W = layer["W"]
        t = h @ layer_W + layer["b"]
        t_dot = h_dot @ layer_W + h @ layer_dot["W"] + layer_dot["b"] + np.zeros_like(t)
        h = np.tanh(t)
        h_dot = t_dot * (1.0 - h * h)
    layers_item_1_W = layers[-1]["W"]
    out = h @ layers_item_1_W + layers[-1]["b"]
    out_dot = (
        h_dot @ layers_item_1_W + h @ layers_dot[-1]["W"] + layers_dot[-1]["b"] + np.zeros_like(out)
    )
    t = out[:, 0] - y
    return np.mean(t**2), np.mean(2.0 * out_dot[:, 0] * t)
