import numpy as np


def pairwise_distances_grad(points):
    """Gradient of pairwise_distances (pairwise_distances.py) with respect to points."""
    difference = points[:, None, :] - points[None, :, :]
    squared = np.sum(difference**2, axis=-1)

    # squared = np.sum(difference**2, axis=-1)
    difference_bar = 2.0 * np.expand_dims(-np.exp(-squared), -1) * difference
    # difference = points[:, None, :] - points[None, :, :]
    t = np.sum(difference_bar, axis=1, keepdims=True)[:, 0]
    return np.sum(-difference_bar, axis=0, keepdims=True)[0] + t
