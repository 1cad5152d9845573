import numpy as np


def horner_grad(coefficients, x):
    """Gradient of horner (horner.py) with respect to coefficients and x."""
    value = 0.0
    coefficients_item = coefficients[::-1]
    saved = []
    for c in coefficients_item:
        saved.append(value)
        value = value * x + c

    # return value
    value_bar = 1.0
    coefficients_item_bar = np.zeros_like(coefficients_item)
    x_bar = 0.0
    for i in range(len(coefficients_item) - 1, -1, -1):
        # value = value * x + c
        coefficients_item_bar[i] += value_bar
        x_bar = x_bar + value_bar * saved.pop()
        value_bar = value_bar * x
    # for c in coefficients[::-1]:
    coefficients_bar = np.zeros_like(coefficients)
    coefficients_bar[::-1] = coefficients_item_bar
    return coefficients_bar, x_bar
