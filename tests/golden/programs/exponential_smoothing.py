"""Simple exponential smoothing: the squared error of one-step forecasts."""

import numpy as np

WRT = (0,)


def exponential_smoothing(alpha, series):
    level = series[0]
    error = 0.0
    for y in series[1:]:
        error += (y - level) ** 2
        level = alpha * y + (1.0 - alpha) * level
    return error / (len(series) - 1)


def arguments():
    return 0.3, np.array([3.0, 4.0, 3.5, 5.0, 4.2])
