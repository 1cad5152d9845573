import cupy as cp


def elements_are_views_grad(x):
    """Gradient of elements_are_views (device_programs.py) with respect to x."""
    x = x.copy(order="K")
    first = x[0]
    x_item = x[1]
    x_item_1 = x[2]
    x[0] = x_item * x_item_1

    # return first * x[3]
    x_bar = cp.zeros_like(x)
    x_bar[0] = 1.0 * x[3]
    x_bar[3] = 1.0 * first
    # x[0] = x[1] * x[2]
    t_bar = x_bar[0].copy()
    x_bar[0] = 0.0
    x_bar[1] = t_bar * x_item_1
    x_bar[2] = t_bar * x_item
    return x_bar
