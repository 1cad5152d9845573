"""What a function does is asked of the function that is called, whatever its name reads like."""

import linecache
import sys
import types

import numpy as np
import pytest
from slopes import STEP, check

import s2sad
from s2sad import pullback, pushforward

X = np.array([0.3, 0.5])
WORDS = """zeros_like ones_like zeros full outer sum dot matmul exp sin tanh log array copy where
concatenate stack tensordot einsum abs sign square multiply add subtract cumsum solve inv eye prod
kron repeat tile mean astype reshape ravel transpose squeeze flip real conj broadcast_to max
unbroadcast shadow_of at append update""".split()


def same(a):
    return a


def halved(a):
    return 0.5 * a


mylib = sys.modules["mylib_of_users"] = types.ModuleType("mylib_of_users")
for word in WORDS:
    setattr(mylib, word, same)


def spelled(text, **names):
    """Return the function `f` of a text, which can be read as if it stood in a file."""
    space = {"np": np, "mylib": mylib, "X": X, **names}
    file = f"<callees {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)
    return space["f"]


RULED = """
def ident(x):
    return x * 1.0

@pullback(ident)
def pull_ident(out_bar, out, x):
    return mylib.{word}(out_bar)

@pushforward(ident)
def push_ident(out, x, x_dot):
    return mylib.{word}(x_dot)

def f(x):
    s = np.zeros(2)
    for i in range(3):
        s = s + x * x
    {last}
"""
LAST = (
    "return s + ident(x)",
    "v = s + ident(x); return np.sum(v * v)",
    "v = ident(x); v[0] = v[0] * s[1]; return v + x * s",
    "v = ident(s); v *= ident(x); return np.sum(v * s * x)",
    "w = np.zeros((2, 2)); w[0] = ident(x); w[1] = ident(s); w[0] += w[1] * x; return w + s",
    "q = [ident(x), ident(s)]; q[0] = q[1] * x; return np.sum(q[0] * q[1] * x)",
)


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.sampled(4)
def test_what_a_rule_calls_may_give_back_its_argument(word, last):
    f = spelled(RULED.format(word=word, last=last), pullback=pullback, pushforward=pushforward)
    _, back = s2sad.vjp(f, X)
    given = np.ones_like(f(X))
    cotangent = back(given)
    assert np.array_equal(given, np.ones_like(given))
    slopes = [(np.sum(f(X + e)) - np.sum(f(X - e))) / (2 * STEP) for e in np.eye(2) * STEP]
    assert cotangent == pytest.approx(slopes, rel=1e-6)
    check(lambda x: np.sum(f(x) * f(x)), X)


CALLED = (
    "def f(x):\n    return np.sum(x * {name}(x))\n",
    "def f(x):\n    y = {name}(x)\n    y = y + x\n    y[0] = y[1] * x[0]\n    return y @ x\n",
    "def f(x):\n    y = x * 1.0\n    z = {name}(y)\n    z[0] = 2.0\n    return np.sum(y * x * z)\n",
    "def f(x):\n    y = x\n    for i in range(2):\n        y = y * {name}(X) + np.sum({name}(x))\n"
    "    return np.sum(y)\n",
    "def f(x):\n    c = {name}(X)\n    return np.sum(c * x * x) + 2.0 * np.sum({name}(c + x))\n",
)


@pytest.mark.parametrize("program", CALLED)
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("fn", [same, halved])
@pytest.mark.sampled(4)
def test_functions_of_the_users_may_have_any_name(fn, word, program):
    check(spelled(program.format(name=word), **{word: fn}), X)
    named = types.FunctionType(fn.__code__, fn.__globals__, word)
    check(spelled(program.format(name=word), **{word: named}), X)


VIEWING = """
def {word}(a):
    return {result}

@pullback({word}{view})
def pull(out_bar, out, a):
    return {factor} * out_bar

@pushforward({word})
def push(out, a, a_dot):
    return {factor} * a_dot

def f(x):
    y = x * 2.0
    z = {word}(y)
    z[0] = 3.0 * x[1]
    return np.sum(z * z * x) + np.sum(y * y)
"""


@pytest.mark.parametrize(
    "word", "reshape ravel transpose swapaxes squeeze flip diag atleast_1d asarray real".split()
)
def test_a_function_with_a_rule_is_no_view_for_its_name(word):
    text = VIEWING.format(word=word, result="a * 2.0", view="", factor=2.0)
    check(spelled(text, pullback=pullback, pushforward=pushforward), X)


class Setting:
    """An object with the methods that arrays have."""

    def __init__(self, rate):
        self.rate = rate

    def copy(self):
        return self.rate

    def sum(self):
        return self.rate * 2.0


setting = Setting(1.5)
mylib.setting = setting
mylib.rate = lambda: 2.5


def of_method(x):
    return np.sum(x * setting.copy() * x)


def in_loop(x):
    y = x
    for _ in range(3):
        y = np.sin(y) * setting.copy() + setting.sum()
    return np.sum(y)


def through_module(x):
    y = x
    for _ in range(2):
        y = y * mylib.setting.copy() * mylib.rate()
    return np.sum(y * y)


def given(x, s):
    y = x * s.copy() + s.sum()
    y[0] = y[1] * s.copy()
    return np.sum(y * x)


@pytest.mark.parametrize("f", [of_method, in_loop, through_module, lambda x: given(x, setting)])
def test_methods_are_those_of_the_object(f):
    check(f, X)
