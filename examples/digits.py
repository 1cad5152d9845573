"""Learn to read the handwritten digits that ship with scikit-learn: python examples/digits.py

The network is a loop over layers; its parameters are a list of dicts. s2sad derives the gradient
of the loss, which has the same structure, and minibatch descent with momentum does the rest.
"""

import time
from itertools import pairwise

import numpy as np

from s2sad import Active, Const, differentiate, tree_map

SIZES = (64, 128, 64, 10)


def predict(params, X):
    """Scores of the ten digits for each row of X."""
    hidden = X
    for layer in params[:-1]:
        hidden = np.tanh(hidden @ layer["W"] + layer["b"])
    last = params[-1]
    return hidden @ last["W"] + last["b"]


def logsumexp(scores):
    """The logarithm of the sum of exponentials of each row."""
    top = np.max(scores, axis=1, keepdims=True)
    return top[:, 0] + np.log(np.sum(np.exp(scores - top), axis=1))


@differentiate
def loss(params: Active, X: Const, y: Const):
    """Mean cross entropy of the digits y given the images X."""
    scores = predict(params, X)
    return np.mean(logsumexp(scores) - scores[np.arange(len(y)), y])


def read_data(seed=0, held_out=360):
    """Images and digits, shuffled: those to learn from, then those held out."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X[order] / 16.0, y[order]
    return X[held_out:], y[held_out:], X[:held_out], y[:held_out]


def initial(sizes=SIZES, seed=0):
    """Random weights, scaled to the number of inputs of each layer, and zero biases."""
    rng = np.random.default_rng(seed)
    return [
        {"W": rng.standard_normal((m, n)) / np.sqrt(m), "b": np.zeros(n)}
        for m, n in pairwise(sizes)
    ]


def accuracy(params, X, y):
    """The share of images read correctly."""
    return float(np.mean(np.argmax(predict(params, X), axis=1) == y))


def train(params, X, y, epochs=60, batch=128, rate=0.1, momentum=0.9, seed=0, report=None):
    """Descend along the gradient, one minibatch at a time; report(epoch, mean loss) after each."""
    rng = np.random.default_rng(seed)
    velocity = tree_map(np.zeros_like, params)
    for epoch in range(epochs):
        order = rng.permutation(len(y))
        values = []
        for start in range(0, len(y), batch):
            rows = order[start : start + batch]
            value, gradient = loss.value_and_grad(params, X[rows], y[rows])
            velocity = tree_map(lambda v, g: momentum * v - rate * g, velocity, gradient)
            params = tree_map(np.add, params, velocity)
            values.append(value)
        if report is not None:
            report(epoch, float(np.mean(values)))
    return params


def main():
    """Train, report what is held out, show the derived source."""
    try:
        X, y, X_held_out, y_held_out = read_data()
    except ImportError:
        raise SystemExit("This example needs scikit-learn: pip install scikit-learn") from None
    begin = time.perf_counter()
    params = train(
        initial(),
        X,
        y,
        report=lambda epoch, value: epoch % 5 or print(f"epoch {epoch:2}  loss {value:.4f}"),
    )
    print(f"{time.perf_counter() - begin:.1f} seconds, derivation included")
    print(f"Held-out accuracy: {100.0 * accuracy(params, X_held_out, y_held_out):.1f} %\n")
    print("The derivative, as s2sad wrote it:\n")
    print(loss.value_and_grad.source(params, X, y))


if __name__ == "__main__":
    main()
