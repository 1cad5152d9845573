import numpy as np


def spline_grad(heights, knots, x):
    """Gradient of spline (spline.py) with respect to heights and x."""
    i = 0
    while i < len(knots) - 2 and x > knots[i + 1]:
        i += 1
    t_0 = knots[i + 1] - knots[i]
    t = (x - knots[i]) / t_0

    # return (1.0 - t) * heights[i] + t * heights[i + 1]
    heights_bar = np.zeros_like(heights)
    heights_bar[i + 1] = t
    heights_bar[i] += 1.0 - t
    return heights_bar, (heights[i + 1] - heights[i]) / t_0
