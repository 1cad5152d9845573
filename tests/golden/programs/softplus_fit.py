"""Comprehensions and generator expressions: a sum of squares of a user's function."""

import math

WRT = (0,)


def softplus(x, sharpness=1.0):
    return math.log(1.0 + math.exp(sharpness * x)) / sharpness


def softplus_fit(params, xs, ys):
    scale, shift = params
    predicted = [scale * softplus(x - shift, sharpness=2.0) for x in xs]
    return sum((p - y) ** 2 for p, y in zip(predicted, ys))


def arguments():
    return (1.2, 0.3), [0.1, 0.5, 1.3, -0.4], [0.2, 0.6, 1.0, 0.0]
