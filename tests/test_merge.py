"""Functions that came out equal become one; what a call gives goes straight to its name."""

import textwrap

import gast
import numpy as np
from slopes import check

import s2sad
from s2sad.write.merge import merge
from s2sad.write.printer import module
from s2sad.write.straight import straighten

X = np.array([0.7, 0.5])


def parsed(text):
    return gast.parse(textwrap.dedent(text)).body


def test_equal_functions_become_one():
    functions = parsed(
        '''
        def g_forward(x):
            """g, with the values that g_reverse reads."""
            return g_forward(x)
        def g_forward_1(x):
            """g, with the values that g_reverse_1 reads."""
            return g_forward_1(x)
        def g_reverse(x):
            return x
        def g_reverse_1(x):
            return x
        def f(x):
            return g_forward_1(g_reverse_1(x))
        '''
    )
    homes = {f.name: (f.name[0],) for f in functions}
    gone = merge(functions, homes)
    assert gone == {"g_reverse_1": "g_reverse", "g_forward_1": "g_forward"}
    assert "_1" not in module(functions)


def test_functions_of_two_homes_stay():
    functions = parsed("def f(x):\n    return x\ndef g(x):\n    return x")
    assert merge(functions, {"f": (1,), "g": (2,)}) == {}


def straightened(text, users=frozenset()):
    (node,) = parsed(text)
    straighten(node, users)
    return module([node])


def test_straight():
    moved = "def f(x):\n    a, b = g(x)\n    c = 2 * b\n    x = a\n    return x + b + c"
    assert "x, b = g(x)" in straightened(moved)
    assert "a, b = g(x)" in straightened(moved, frozenset("a"))
    for kept in (
        "def f(x):\n    a, b = g(x)\n    c = 2 * x\n    x = a\n    return x + b + c",
        "def f(x):\n    a, x = g(x)\n    c = 2 * b\n    x = a\n    return x + b + c",
        "def f(x):\n    a, b = g(x)\n    x = a\n    return x + a",
        "def f(x):\n    a, b = g(x)\n    if x:\n        x = a\n    return x",
    ):
        assert "x = a" in straightened(kept)


def rates(state, p):
    a, b = state
    return np.array([a * p[0], b * p[1] * a])


def step(state, p):
    return state + 0.1 * rates(state, p)


def simulated(p, n):
    state = p * 2.0
    slope = rates(state, p)
    for _ in range(n):
        state = step(state + 0.1 * slope, p)
    return np.sum(state * slope)


def test_a_simulation():
    check(simulated, X, 3, constant=(1,))
    text = s2sad.source(simulated, args=(X, 3))
    assert "rates_reverse_1" not in text and "rates_forward_1" not in text


def countdown(x, n):
    return x if n == 0 else x * countdown(x * 0.9, n - 1)


def recursive(x):
    return countdown(x, 2) + countdown(x * x, 3)


def test_recursion():
    check(recursive, 0.7)


def test_a_variable_that_is_called_as_a_function_is_no_function():
    functions = parsed(
        """
        def g(x):
            return x
        def g_1(x):
            return x
        def f(x):
            g_1 = x + 1.0
            return g(g_1)
        def h(x):
            return g_1(x)
        """
    )
    assert merge(functions, {"g": ("g",), "g_1": ("g",)}) == {"g_1": "g"}
    space = {}
    exec(module(functions), space)
    assert space["f"](1.0) == 2.0 and space["h"](1.0) == 1.0
