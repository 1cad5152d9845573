"""Bisection, then one Newton step, which alone carries the derivative."""

import math

WRT = (0,)


def bisection(a, low, high):
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        if math.cos(middle) > a * middle:
            low = middle
        else:
            high = middle
    x = 0.5 * (low + high)
    return x + (math.cos(x) - a * x) / (math.sin(x) + a)


def arguments():
    return 1.2, 0.0, 1.5
