"""Recursion: pairwise summation, which halves an array until it is short."""

import numpy as np

WRT = (0,)


def pairwise(xs):
    if len(xs) <= 2:
        return np.sum(xs * xs)
    middle = len(xs) // 2
    return pairwise(xs[:middle]) + pairwise(xs[middle:])


def halving(xs):
    return np.sqrt(pairwise(xs))


def arguments():
    return (np.array([0.3, 1.2, -0.7, 0.4, 0.9, -1.1, 0.2]),)
