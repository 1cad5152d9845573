"""A polynomial by Horner's rule: coefficients in an array, the point a float."""

import numpy as np

WRT = (0, 1)


def horner(coefficients, x):
    value = 0.0
    for c in coefficients[::-1]:
        value = value * x + c
    return value


def arguments():
    return np.array([1.0, -0.5, 0.25, 2.0]), 1.3
