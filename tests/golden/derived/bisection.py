import math


def bisection_grad(a, low, high):
    """Gradient of bisection (bisection.py) with respect to a."""
    saved = []
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        if math.cos(middle) > a * middle:
            arm = 0
            low = middle
        else:
            arm = 1
            high = middle
        saved.append(arm)
    x = 0.5 * (low + high)
    t = math.sin(x) + a
    t_1 = (math.cos(x) - a * x) / t

    # return x + (math.cos(x) - a * x) / (math.sin(x) + a)
    a_bar = -t_1 / t - x / t
    while saved:
        arm = saved.pop()
    return a_bar
