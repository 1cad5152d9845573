import cupy as cp


def from_the_array_grad(x):
    """Gradient of from_the_array (device_programs.py) with respect to x."""
    xp = cp.get_array_module(x)
    t = -x
    y = xp.exp(t * x)
    sum_y = xp.sum(y)
    max_x = xp.max(x)

    # return xp.sum(y) * xp.max(x)
    ties = x == max_x
    # y = xp.exp(-x * x)
    t_bar = max_x * y
    x_bar = t_bar * t
    x_bar += cp.where(ties, sum_y / max(int(cp.count_nonzero(ties)), 1), 0.0)
    x_bar -= t_bar * x
    return x_bar
