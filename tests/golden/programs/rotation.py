"""A matrix made of a nested list, sums of lists, and a dict filled on the way."""

import numpy as np

WRT = (0, 1)


def rotation(angle, v):
    c, s = np.cos(angle), np.sin(angle)
    parts = {}
    parts["turned"] = np.array([[c, -s], [s, c]]) @ v
    parts["size"] = np.sum([c * s, angle])
    return np.dot(parts["turned"], [1.0, 2.0]) * parts["size"]


def arguments():
    return 0.7, np.array([0.3, -1.2])
