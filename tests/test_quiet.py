"""Functions that only compute, and those of which somebody would hear that they ran."""

import functools
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import s2sad
from s2sad.rulebook.quiet import is_heard, is_quiet

heard: list[object] = []
half = functools.partial(np.multiply, 0.5)


def area(r):
    return np.pi * r**2


def several(x, scale=1.0):
    def inner(v):
        return np.sin(v) * scale

    parts = [inner(v) for v in x]
    parts.append(math.exp(x[0]))
    y = np.zeros(3)
    y[0] = special.gamma(parts[0]).item()
    return area(y.sum()), np.add.reduce(parts), x.copy()


def factorial(n):
    return n * factorial(n - 1) if n else 1


def fills(x):
    x[0] = 1.0


def prints(x):
    print(x)
    return x


def notes(x):
    heard.append(x)
    return x


def notes_in_a_value(x):
    return x + len(heard.append(x) or ())


def counts(x):
    notes.calls = 1
    return x


def writes(x):
    Path("/nowhere").write_text(str(x))
    return x


def draws(x):
    return x + np.random.normal()


def runs_what_it_gets(x, f):
    return f(x)


def calls_one(x):
    return 2.0 * notes(x)


def saves(x):
    np.save("x.npy", x)
    return x


@pytest.mark.parametrize("fn", [area, several, factorial, fills, np.sin, np.sum, math.exp, len])
def test_quiet(fn):
    assert is_quiet(fn) and not is_heard(fn)


@pytest.mark.parametrize(
    "fn",
    [
        *(prints, notes, notes_in_a_value, counts, writes, draws, runs_what_it_gets, calls_one),
        saves,
    ],
)
def test_heard(fn):
    assert is_heard(fn) and not is_quiet(fn)


@pytest.mark.parametrize("fn", [print, half, np.random.normal, np.load])
def test_not_known_to_be_quiet(fn):
    assert not is_quiet(fn)


def simulate(x, steps):
    heard.append((float(x[0]), steps))
    return np.sum(x**2) * steps


@pytest.fixture
def ruled():
    heard.clear()
    s2sad.pullback(simulate, result=lambda x, steps: 0.0)(pull_simulate)
    yield
    s2sad.registry._rules.pop(s2sad.registry.key_of(simulate))


def pull_simulate(out_bar, out, x, steps):
    return out_bar * 2.0 * x * steps, None


def twice(x):
    return simulate(x, 3) + simulate(np.sin(x), 4)


@pytest.mark.usefixtures("ruled")
def test_runs_once_where_it_stands():
    x = np.array([0.5, 0.25])
    gradient = s2sad.grad(twice)(x)
    assert heard == [(0.5, 3), (float(np.sin(0.5)), 4)]
    np.testing.assert_allclose(gradient, 6.0 * x + 8.0 * np.sin(x) * np.cos(x), rtol=1e-15)
