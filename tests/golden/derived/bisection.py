import math


def bisection_grad(a, low, high):
    """Gradient of bisection (bisection.py) with respect to a."""
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        if math.cos(middle) > a * middle:
            low = middle
        else:
            high = middle
    x = 0.5 * (low + high)
    t = math.sin(x) + a
    return -((math.cos(x) - a * x) / t) / t - x / t
