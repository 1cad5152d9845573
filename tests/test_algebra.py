"""A simplified expression is another way to write the same value."""

import ast

import gast
import numpy as np
import pytest

import s2sad
from s2sad import kinds as K
from s2sad.known.callees import Callees
from s2sad.polish.algebra import simplify
from s2sad.runtime import unbroadcast

VALUES = {
    "s": 1.7,
    "t": -0.6,
    "n": 3,
    "x": np.array([0.7, -1.3, 0.4]),
    "y": np.array([1.1, 0.6, -0.8]),
    "M": np.array([[0.3, -0.2, 0.9], [0.1, 0.4, 2.0], [1.5, -1.1, 0.2]]),
    "R": np.array([[0.3, -0.2, 0.9], [0.1, 0.4, 2.0]]),
}
KINDS = {name: K.kind_of(value, name) for name, value in VALUES.items()}
KINDS["y"] = KINDS["x"]
CALLEES = Callees({"np": np}, {"unbroadcast": unbroadcast}, KINDS)
EXPRESSIONS = """
s * (1.0 / t)
t + -(s * t) / s
1.0 * np.broadcast_to(s, x.shape) * (2.0 * x)
-(-s)
-(s - t)
s - -t
-s - t
-(s * t) + s
s * -t * -2.0
s / (t / s)
s / (t * 2.0)
(s / t) / s
s * 0.5 + s * 0.5
s + s
s - s
x - x
-x * y
x * s * y * 2.0
x / y / s
1.0 / (s * s)
2.0 / s / 4.0
s ** 1
s ** (2 - 1)
2.0 * s ** (2 - 1)
np.sum(s * x)
np.sum(x * y)
np.sum(s * x * y)
np.sum(-x / s)
np.sum(x * y * y)
np.broadcast_to(s, x.shape) * y
np.broadcast_to(s * t, x.shape) / x
-np.broadcast_to(-s, x.shape) * x
s * x + t * x
x * 0.1 - x * 0.1
(s, t)[0] * (s, t)[1]
(M @ x) * s
M.T @ (s * x)
x @ (M * s) @ y
np.outer(x, y) * s
M * x * s
M * x[:, None] * -1.0
R * x + R * -x
(R @ x) * s - -(R @ y)
x * (s + t) - (s - t) * x
-(x / -(y * s))
0.0 + s
s + 0.0 - 0.0
s * 1.0 * 1.0
1.0 / 3.0 * s
s / 3.0
s / 0.1 * 0.1
(s + t) * (s - t) / (s + t)
n * s - s * n
-(n - s)
x[0] * s + x[0] * s
"""


def parsed(text):
    return gast.parse(f"r = {text}").body


def value(block):
    space = {"np": np, **VALUES}
    module = gast.gast_to_ast(gast.Module(block, []))
    exec(compile(ast.unparse(module), "<block>", "exec"), space)
    return space["r"]


def shown(text):
    return ast.unparse(gast.gast_to_ast(simplify(parsed(text), KINDS, "np", CALLEES)[0].value))


@pytest.mark.parametrize("text", EXPRESSIONS.strip().splitlines())
def test_the_value_is_the_same(text):
    expected = value(parsed(text))
    block = simplify(parsed(text), KINDS, "np", CALLEES)
    got = value(block)
    assert np.shape(got) == np.shape(expected)
    assert np.allclose(got, expected, rtol=1e-13, atol=1e-15), shown(text)
    again = ast.unparse(gast.gast_to_ast(gast.Module(simplify(block, KINDS, "np", CALLEES), [])))
    assert again == f"r = {shown(text)}"


@pytest.mark.parametrize(
    "before, after",
    [
        ("s * (1.0 / t)", "s / t"),
        ("t + -(s * t) / s", "t - s * t / s"),
        ("1.0 * np.broadcast_to(s, x.shape) * (2.0 * x)", "2.0 * s * x"),
        ("2.0 * s ** (2 - 1)", "2.0 * s"),
        ("s + s", "2.0 * s"),
    ],
)
def test_examples(before, after):
    assert shown(before) == after


def test_nothing_grows():
    for text in EXPRESSIONS.strip().splitlines():
        assert len(shown(text)) <= len(ast.unparse(ast.parse(text))) + 4, (text, shown(text))


def two_masks(x):
    return x * (x > 1.0) + (x > 0.0) * x


def masks_apart(x):
    m, n = x > 1.0, x > 0.0
    return np.sum(m * x) + np.sum(n * x) - np.sum((x > 5.0) * x)


def masks_combined(x):
    both, either = (x > 1.0) & (x < 5.0), np.logical_or(x > 1.0, x < 0.0)
    return np.sum(x * both + x * np.isfinite(x) + ~either * x)


def truth_values(x):
    m = np.array([True, False, True])
    return sum(v * m[i] + v * (not m[i]) + (0.0 < v < 9.0) * v for i, v in enumerate(x))


def negative_masks(x):
    return np.sum((x > 9.0) * x) - np.sum((x > 1.0) * x) - np.sum(np.asarray(x > 0.0) * x)


MASKED = np.array([2.0, 0.5, -1.0])


@pytest.mark.parametrize(
    "fn, x, slope",
    [
        (two_masks, 2.0, 2.0),
        (two_masks, np.float64(2.0), 2.0),
        (two_masks, np.array(2.0), 2.0),
        (lambda x: np.sum(two_masks(x)), MASKED, [2.0, 1.0, 0.0]),
        (masks_apart, MASKED, [2.0, 1.0, 0.0]),
        (masks_combined, MASKED, [2.0, 2.0, 1.0]),
        (truth_values, MASKED, [2.0, 2.0, 1.0]),
        (negative_masks, MASKED, [-2.0, -1.0, 0.0]),
    ],
)
def test_truth_values_add_up_as_numbers(fn, x, slope):
    for found in (s2sad.grad(fn)(x), s2sad.vjp(fn, x)[1](1.0)):
        assert np.asarray(found).dtype == np.float64
        assert np.asarray(found).tolist() == slope
