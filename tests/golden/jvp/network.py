import numpy as np


def network_jvp(layers, X, y, layers_dot):
    """Value and tangent of network (network.py), given the tangent of layers."""
    h = X
    h_dot = np.zeros_like(h)
    for layer, layer_dot in zip(layers[:-1], layers_dot[:-1]):
        t = h_dot @ layer["W"] + h @ layer_dot["W"] + layer_dot["b"]
        h = np.tanh(h @ layer["W"] + layer["b"])
        h_dot = t * (1.0 - h * h)
    layers_item_1_W = layers[-1]["W"]
    out = h @ layers_item_1_W + layers[-1]["b"]
    t = h_dot @ layers_item_1_W + h @ layers_dot[-1]["W"] + layers_dot[-1]["b"]
    t_1 = out[:, 0] - y
    return np.mean(t_1**2), 2.0 * np.mean((t + np.zeros_like(out))[:, 0] * t_1)
