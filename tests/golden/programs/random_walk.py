"""Geometric Brownian motion with given noise: the value of a barrier option."""

import numpy as np

WRT = (0, 1)


def random_walk(price, volatility, noise, strike, barrier):
    payoff = 0.0
    for row in noise:
        s = price
        for z in row:
            s = s * np.exp(volatility * z - 0.5 * volatility**2)
            if s > barrier:
                break
        else:
            payoff += max(s - strike, 0.0)
    return payoff / len(noise)


def arguments():
    return 1.0, 0.2, np.random.default_rng(7).standard_normal((8, 4)), 0.9, 1.4
