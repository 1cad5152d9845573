"""Weighted least squares of a line whose parameters are a named tuple."""

from typing import NamedTuple

import numpy as np

WRT = (0,)


class Line(NamedTuple):
    slope: float
    intercept: float


def weighted_line(line, x, y, sigma):
    predicted = line.slope * x + line.intercept
    r = (y - predicted) / sigma
    return 0.5 * r @ r


def arguments():
    normal = np.random.default_rng(5).standard_normal
    return Line(1.5, -0.2), normal(6), normal(6), 0.5 + normal(6) ** 2
