"""A neuron without arrays: weights in a list of lists, the data too."""

import math

WRT = (0,)


def neuron(weights, rows, targets):
    loss = 0.0
    for row, target in zip(rows, targets):
        out = 0.0
        for unit in weights:
            z = unit[-1]
            for j in range(len(row)):
                z += unit[j] * row[j]
            out += math.tanh(z)
        loss += (out - target) ** 2
    return loss


def arguments():
    return [[0.3, -0.2, 0.1], [0.5, 0.4, -0.3]], [[1.0, 0.5], [-0.4, 1.2]], [0.2, 0.9]
