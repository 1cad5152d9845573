import cupy as cp


def by_the_standard_grad(x):
    """Gradient of by_the_standard (device_programs.py) with respect to x."""
    xp = x.__array_namespace__()
    sin_x = xp.sin(x)

    # return xp.mean(xp.sin(x) * x)
    t_bar = cp.full(x.shape, 1.0 / x.size)
    x_bar = t_bar * sin_x + t_bar * x * cp.cos(x)
    return x_bar
