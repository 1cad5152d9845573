"""`unravel(vector)` inside of a differentiated function: for optimisers that want one vector."""

from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import s2sad
from tests.slopes import check

Pair = namedtuple("Pair", "weight bias")


@dataclass
class Layer:
    weight: np.ndarray
    repeats: int = 3


PARAMS = {
    "a": np.array([0.5, -0.7, 1.1]),
    "b": [2.0, (np.array([[0.3, 0.4], [1.5, -0.6]]), "name", None, len)],
    "pair": Pair(0.8, np.float64(1.3)),
    "layer": Layer(np.array([0.2, 0.9])),
}
vector, unravel = s2sad.ravel(PARAMS)


def loss(p):
    first = np.sum(p["a"] ** 2) * p["b"][0] + np.sum(p["b"][1][0] * p["a"][1])
    return (
        first
        + p["pair"].weight * p["pair"].bias
        + np.sum(p["layer"].weight ** 2) * p["layer"].repeats
    )


def of_vector(v):
    return loss(unravel(v))


def test_global():
    check(of_vector, vector)
    gradient = s2sad.ravel(s2sad.grad(loss)(PARAMS))[0]
    assert np.allclose(s2sad.grad(of_vector)(vector), gradient)


def test_second_derivatives():
    differences = s2sad.grad(of_vector)(vector + 1e-6) - s2sad.grad(of_vector)(vector - 1e-6)
    assert np.allclose(
        s2sad.hvp(of_vector, (vector,), (np.ones(len(vector)),)), differences / 2e-6, atol=1e-6
    )


def test_one_argument_and_one_captured():
    small, back = s2sad.ravel({"w": np.array([0.5, 0.7]), "b": 0.3})

    def captured(v):
        p = back(v)
        return np.sum(np.sin(p["w"])) * p["b"]

    def given(v, back):
        p = back(v)
        return np.sum(np.sin(p["w"])) * p["b"]

    check(captured, small)
    assert np.array_equal(s2sad.grad(given)(small, back), s2sad.grad(captured)(small))
    other, longer = s2sad.ravel({"w": np.array([0.5, 0.7, 0.9]), "b": 0.3})
    assert s2sad.grad(given)(other, longer).shape == (4,)


def test_dtypes():
    small, back = s2sad.ravel({"w": np.array([0.5, 0.7], np.float32), "b": np.float32(0.3)})
    g = s2sad.grad(lambda v: np.sum(back(v)["w"] ** 2) * back(v)["b"])(small)
    assert g.dtype == np.float32
    assert np.allclose(g, [0.3, 0.42, 0.74])


def test_the_text_needs_no_s2sad():
    small, back = s2sad.ravel({"w": np.ones((2, 2)), "b": 0.3})
    text = s2sad.grad(lambda v: np.sum(back(v)["w"]) * back(v)["b"]).source(small)
    assert "s2sad" not in text.replace("(<s2sad", "")
    assert "vector[0:4].astype(np.float64).reshape((2, 2))" in text


def test_a_vector_of_another_length():
    with pytest.raises(ValueError, match=r"a vector of shape \(12,\)"):
        s2sad.grad(of_vector)(np.ones(3))


def test_an_object_that_nobody_knows_how_to_make():
    small, back = s2sad.ravel(SimpleNamespace(w=np.ones(2)))
    with pytest.raises(s2sad.MissingRuleError, match="back"):
        s2sad.grad(lambda v: np.sum(back(v).w))(small)
