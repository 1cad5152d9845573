import cupy as cp


def elements_are_views_grad(x):
    """Gradient of elements_are_views (device_programs.py) with respect to x."""
    x = x.copy(order="K")
    first = x[0]
    x_item = x[1]
    x_item_1 = x[2]
    x_0 = x[0].copy()
    x[0] = x_item * x_item_1
    x_item_2 = x[3]

    # return first * x[3]
    x_bar = cp.zeros_like(x)
    first_bar = x_bar[0]
    first_bar += x_item_2
    x_bar[3] += first
    # x[0] = x[1] * x[2]
    t_bar = x_bar[0].copy()
    x_bar[0] = 0.0
    x[0] = x_0
    x_bar[2] += t_bar * x_item
    x_bar[1] += t_bar * x_item_1
    return x_bar
