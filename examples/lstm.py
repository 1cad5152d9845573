"""Teach an LSTM to continue a series: python examples/lstm.py

The states are rows of two arrays, filled step by step. s2sad differentiates the loop over the
sequence with respect to a dict of parameters; the training is Adam in a few lines.
"""

import numpy as np

HIDDEN, LENGTH, EPOCHS = 12, 80, 150


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def predict(params, xs):
    """For each value of the series, what the network takes to be the next."""
    n = len(params["V"])
    h = np.zeros((len(xs) + 1, n))
    c = np.zeros((len(xs) + 1, n))
    out = np.zeros(len(xs))
    for t in range(len(xs)):
        z = params["W"] * xs[t] + params["U"] @ h[t] + params["b"]
        write = sigmoid(z[:n])
        keep = sigmoid(z[n : 2 * n])
        read = sigmoid(z[2 * n : 3 * n])
        c[t + 1] = keep * c[t] + write * np.tanh(z[3 * n :])
        h[t + 1] = read * np.tanh(c[t + 1])
        out[t] = params["V"] @ h[t + 1] + params["a"]
    return out


def loss(params, xs):
    """Mean squared error of the predictions of all but the first value."""
    return np.mean((predict(params, xs[:-1]) - xs[1:]) ** 2)


def series(length=LENGTH):
    """Two sines that beat, and a little noise."""
    t = np.arange(length)
    noise = np.random.default_rng(0).standard_normal(length)
    return 0.5 * np.sin(0.5 * t) + 0.4 * np.sin(0.31 * t) + 0.01 * noise


def initial(hidden=HIDDEN, seed=0):
    """Parameters to start from; what is remembered is kept at first."""
    normal = np.random.default_rng(seed).standard_normal
    b = np.zeros(4 * hidden)
    b[hidden : 2 * hidden] = 1.0
    return {
        "W": normal(4 * hidden),
        "U": normal((4 * hidden, hidden)) / np.sqrt(hidden),
        "b": b,
        "V": normal(hidden) / np.sqrt(hidden),
        "a": 0.0,
    }


def train(params, xs, epochs=EPOCHS, rate=0.02, report=None):
    """Train by Adam; returns the parameters."""
    import s2sad

    derivative = s2sad.value_and_grad(loss)
    mean = {name: 0.0 * value for name, value in params.items()}
    square = {name: 0.0 * value for name, value in params.items()}
    for epoch in range(1, epochs + 1):
        value, gradient = derivative(params, xs)
        for name, g in gradient.items():
            mean[name] = 0.9 * mean[name] + 0.1 * g
            square[name] = 0.99 * square[name] + 0.01 * g**2
            step = mean[name] / (1.0 - 0.9**epoch)
            scale = np.sqrt(square[name] / (1.0 - 0.99**epoch)) + 1e-8
            params[name] = params[name] - rate * step / scale
        if report is not None:
            report(epoch, value)
    return params


def check_gradient(params, xs, eps=1e-6):
    """The derived gradient beside central differences, along a random direction per parameter."""
    import s2sad

    gradient = s2sad.grad(loss)(params, xs)
    rng = np.random.default_rng(2)
    rows = []
    for name, value in params.items():
        direction = rng.standard_normal(np.shape(value))
        plus = loss({**params, name: value + eps * direction}, xs)
        minus = loss({**params, name: value - eps * direction}, xs)
        derived = float(np.sum(gradient[name] * direction))
        rows.append((name, derived, float((plus - minus) / (2.0 * eps))))
    return rows


def main():
    """Train, show the derived source, check the gradient."""
    import s2sad

    xs = series()
    losses = []
    params = train(initial(), xs, report=lambda epoch, value: losses.append(value))
    for epoch in range(0, EPOCHS, EPOCHS // 6):
        print(f"  epoch {epoch + 1:4}   loss {losses[epoch]:.5f}")
    print(f"  at the end   loss {loss(params, xs):.5f};  ", end="")
    print(f"the last value for the next: {np.mean((xs[1:] - xs[:-1]) ** 2):.5f}")
    print("\nThe derivative, as s2sad wrote it:\n")
    print(s2sad.value_and_grad(loss).source(initial(), xs))
    print("The gradient along random directions, and central differences:\n")
    for name, derived, difference in check_gradient(initial(), xs):
        print(f"  {name:3}{derived:+16.9f}{difference:+16.9f}")


if __name__ == "__main__":
    main()
