"""A piecewise linear interpolant: while finds the interval."""

import numpy as np

WRT = (0, 2)


def spline(heights, knots, x):
    i = 0
    while i < len(knots) - 2 and x > knots[i + 1]:
        i += 1
    t = (x - knots[i]) / (knots[i + 1] - knots[i])
    return (1.0 - t) * heights[i] + t * heights[i + 1]


def arguments():
    return np.array([1.0, 0.5, 2.0, -1.0]), np.array([0.0, 0.3, 0.9, 1.4]), 0.7
