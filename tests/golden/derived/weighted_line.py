import numpy as np


def weighted_line_grad(line, x, y, sigma):
    """Gradient of weighted_line (weighted_line.py) with respect to line."""
    predicted = line.slope * x + line.intercept
    r = (y - predicted) / sigma
    t = 0.5 * r

    # return 0.5 * r @ r
    predicted_bar = -(t + 0.5 * r) / sigma
    # predicted = line.slope * x + line.intercept
    line_bar = (0.0, np.sum(predicted_bar))
    line_bar = (line_bar[0] + np.dot(predicted_bar, x), line_bar[1])
    return type(line)(*line_bar)
