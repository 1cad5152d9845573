import numpy as np


def horner_grad(coefficients, x):
    """Gradient of horner (horner.py) with respect to coefficients and x."""
    value = 0.0
    coefficients_item = coefficients[::-1]
    saved = []
    for c in coefficients_item:
        saved.append(value)
        value = value * x + c

    coefficients_item_bar = np.zeros_like(coefficients_item)
    x_bar = 0.0
    value_bar = 1.0
    for t in range(len(coefficients_item) - 1, -1, -1):
        value = saved.pop()
        # value = value * x + c
        x_bar = x_bar + value_bar * value
        coefficients_item_bar[t] += value_bar
        value_bar = value_bar * x
    coefficients_bar = np.zeros_like(coefficients)
    coefficients_bar[::-1] = coefficients_item_bar
    return coefficients_bar, x_bar
