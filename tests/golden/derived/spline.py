import numpy as np


def spline_grad(heights, knots, x):
    """Gradient of spline (spline.py) with respect to heights and x."""
    i = 0
    while i < len(knots) - 2 and x > knots[i + 1]:
        i += 1
    t_0 = knots[i + 1] - knots[i]
    t = (x - knots[i]) / t_0
    t_1 = 1.0 - t
    heights_item = heights[i]
    heights_item_1 = heights[i + 1]

    # return (1.0 - t) * heights[i] + t * heights[i + 1]
    x_bar = (heights_item_1 - heights_item) / t_0
    heights_bar = np.zeros_like(heights)
    heights_bar[i + 1] = t
    heights_bar[i] += t_1
    return heights_bar, x_bar
