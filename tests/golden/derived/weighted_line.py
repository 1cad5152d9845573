import numpy as np


def weighted_line_grad(line, x, y, sigma):
    """Gradient of weighted_line (weighted_line.py) with respect to line."""
    predicted = line.slope * x + line.intercept
    r = (y - predicted) / sigma

    # return 0.5 * r @ r
    r_bar = (0.5 * r).copy()
    r_bar += 0.5 * r
    # r = (y - predicted) / sigma
    predicted_bar = -r_bar / sigma
    return type(line)(*(np.sum(predicted_bar * x), np.sum(predicted_bar)))
