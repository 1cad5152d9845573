"""One step of gradient descent on a dict of parameters, and the loss behind it."""

import numpy as np

WRT = (0, 1)


def descent_step(params, rate, x, y):
    hidden = np.tanh(params["inner"] @ x)
    error = params["outer"] @ hidden - y
    slope = (params["outer"].T @ error) * (1.0 - hidden * hidden)
    slopes = {"inner": np.outer(slope, x), "outer": np.outer(error, hidden)}
    params = {name: value - rate * slopes[name] for name, value in params.items()}
    error = params["outer"] @ np.tanh(params["inner"] @ x) - y
    return np.sum(error * error)


def arguments():
    rng = np.random.default_rng(12)
    params = {"inner": rng.standard_normal((3, 2)), "outer": rng.standard_normal((2, 3))}
    return params, 0.1, rng.random(2), rng.random(2)
