"""Options that are not given: what asks None for an attribute ends there, as in the plain call."""

import numpy as np
import pytest

import s2sad

X = np.array([0.3, -1.2, 2.0])


def dropped(x, rate=0.0, rng=None):
    if rate > 0.0:
        x = x * (rng.random(x.shape) > rate)
    return x


def loss(x, rate=0.0, rng=None):
    return np.sum(dropped(x, rate, rng) ** 2)


def handled(x, options=None):
    try:
        y = options.scale * x
    except AttributeError:
        y = 3.0 * x
    return np.sum(y * y)


def perhaps(x, options=None):
    y = options.scale * x if options is not None else 2.0 * x
    return np.sum(y * y)


@pytest.mark.parametrize("f", [loss, handled, perhaps])
def test_not_given(f):
    s2sad.check_grads(f, (X,))


def test_given():
    rng = np.random.default_rng(0)
    kept = np.random.default_rng(0).random(3) > 0.5
    assert np.array_equal(s2sad.grad(loss)(X, 0.5, rng), 2.0 * X * kept)


def test_the_path_that_ends():
    for f in (loss, s2sad.grad(loss)):
        with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'random'"):
            f(X, 0.5)


def test_what_stands_after_it_is_gone():
    text = s2sad.grad(handled).source(X)
    assert "raise AttributeError" in text
    assert "options" not in text.partition("try:")[2]
