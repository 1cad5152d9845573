"""A function may have any name, and whoever made it may have given it one that is no identifier."""

import functools

import numpy as np
import pytest
from slopes import check

import s2sad
from s2sad.names import identifier

X = np.array([0.3, 0.5])
NAMES = (
    "cube of x",
    "class",
    "None",
    "1abc",
    "",
    "a-b",
    "f.g",
    'say "hi"',
    "two\nlines",
    "λ",
    "ﬁx",
)


def named(word):
    def f(x):
        return np.sum(x**3)

    f.__name__ = f.__qualname__ = word
    return f


def helper(x):
    return x**3


helper.__name__ = "to the 3"


def with_helper(x):
    return np.sum(helper(x))


class Model:
    def run(self, x):
        return np.sum(x**3)


Model.run.__name__ = "run it"


def traced(fn):
    @functools.wraps(fn)
    def wrapper(*args):
        return fn(*args)

    wrapper.__name__ = f"traced {fn.__name__}"
    return wrapper


@traced
def wrapped(x):
    return np.sum(x**3)


def ruled(x):
    return x**3


@s2sad.pullback(ruled)
def pull_ruled(out_bar, out, x):
    if len(x) > 100:
        raise NotImplementedError("long arrays")
    return 3.0 * x**2 * out_bar


@s2sad.pushforward(ruled)
def push_ruled(out, x, x_dot):
    return 3.0 * x**2 * x_dot


ruled.__name__, pull_ruled.__name__, push_ruled.__name__ = "a rule", "its pullback", "2 push"


def with_rule(x):
    return np.sum(ruled(x))


FUNCTIONS = [*map(named, NAMES), with_helper, Model().run, wrapped, with_rule]


@pytest.mark.parametrize("fn", FUNCTIONS)
def test_derivatives(fn, tmp_path):
    check(fn, X)
    value, back = s2sad.vjp(fn, X)
    assert np.allclose(back(1.0), 3.0 * X**2)
    compile(s2sad.source(fn, args=(X,)), "text", "exec")
    compile(s2sad.source(fn, mode="jvp", args=(X,)), "text", "exec")
    assert str(s2sad.explain(fn, args=(X,)))


@pytest.mark.parametrize("word", NAMES)
def test_emitted_files_run(word, tmp_path):
    path = s2sad.emit(named(word), tmp_path / "made.py", args=(X,))
    space = {}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), space)
    assert np.allclose(space[f"{identifier(word)}_grad"](X), 3.0 * X**2)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("cube of x", "cube_of_x"),
        ("cube", "cube"),
        ("_private_", "_private_"),
        ("<lambda>", "lambda_"),
        ("1abc", "_1abc"),
        ("?!", "lambda_"),
        ("ﬁx", "fix"),
    ],
)
def test_identifiers(word, name):
    assert identifier(word) == name
