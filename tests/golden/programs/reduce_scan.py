"""A scan written once for any step function, called with a lambda."""

import numpy as np

WRT = (0, 1)


def scan(f, state, xs):
    outputs = []
    for x in xs:
        state, out = f(state, x)
        outputs.append(out)
    return state, outputs


def reduce_scan(decay, xs):
    state, outputs = scan(lambda s, x: (decay * s + x, s * x), 0.0, xs)
    return state + sum(outputs)


def arguments():
    return 0.8, np.array([0.3, 1.2, -0.7, 0.4])
