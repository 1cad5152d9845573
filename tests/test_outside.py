"""A pullback is the derivative where the forward sweep ran, whatever has changed meanwhile."""

import numpy as np
import pytest

import s2sad

X = np.array([0.5, 0.6, 0.7])
WEIGHTS = np.array([1.0, 2.0, 3.0])
SCALE = 2.0
TABLE = {"w": np.ones(3), "c": 2.0}
STEPS = [1.0, 2.0, 3.0]
INDEX = np.array([0, 1, 1])


class Model:
    def __init__(self):
        self.w = np.ones(3)
        self.c = 2.0


MODEL = Model()


def scaled(x):
    return np.sum(x * x * WEIGHTS) * SCALE


def renamed(x):
    w = WEIGHTS[::-1]
    return np.sum(np.exp(x) * w)


def tables(x):
    return np.sum(x * x * TABLE["w"]) * TABLE["c"]


def steps(x):
    s = 0.0
    for a in STEPS:
        s = s * a + x[0] * x[1]
    for i in range(3):
        s = s * STEPS[i]
    return s


def objects(x):
    return np.sum(x * x * MODEL.w) * MODEL.c


def indices(x):
    return np.sum(x[INDEX] ** 2)


def captured(x):
    return np.sum(x * x * HELD[0])


HELD = [np.ones(3)]


@pytest.fixture
def changed(monkeypatch):
    """What changes all that is outside, in place and anew."""

    def change():
        monkeypatch.setattr(MODEL, "c", 9.0)
        monkeypatch.setitem(globals(), "SCALE", 7.0)
        monkeypatch.setitem(TABLE, "c", 7.0)
        STEPS[1] = 7.0
        for array in arrays:
            array += 1

    arrays = [WEIGHTS, TABLE["w"], MODEL.w, HELD[0]]
    before = [a.copy() for a in arrays]
    index = INDEX.copy()
    yield lambda: (change(), INDEX.__setitem__(0, 2))
    INDEX[:] = index
    STEPS[1] = 2.0
    for array, old in zip(arrays, before, strict=True):
        array[:] = old


@pytest.mark.parametrize("f", [scaled, renamed, tables, steps, objects, indices, captured])
def test_what_is_outside_may_change(f, changed):
    expected = s2sad.grad(f)(X)
    _, pull = s2sad.vjp(f, X)
    changed()
    assert pull(1.0).tolist() == expected.tolist()
    assert s2sad.grad(f)(X).tolist() != expected.tolist()


def test_a_captured_array_may_change():
    w = np.ones(3)
    _, pull = s2sad.vjp(lambda x: np.sum(x * x * w), X)
    w[:] = 5.0
    assert pull(1.0).tolist() == (2.0 * X).tolist()


def rebound(x):
    w = WEIGHTS
    for i in range(3):
        w = WEIGHTS * w if i == 1 else WEIGHTS
        x = x * x * w
    return np.sum(x)


def renamed_and_taped(x):
    table = {"w": WEIGHTS, "c": TABLE["w"]}
    s = x
    for key in ("w", "c"):
        s = s * s * table[key]
    return np.sum(s)


def turned(x):
    a, b = x, x[::-1]
    for _ in range(2):
        a, b = b, a * b
    return np.sum(a * b)


@pytest.mark.parametrize("f", [rebound, renamed_and_taped, turned])
def test_an_argument_under_other_names_may_change(f):
    x = X.copy()
    expected = s2sad.grad(f)(x)
    _, pull = s2sad.vjp(f, x)
    x[:] = 9.0
    assert np.allclose(pull(1.0), expected, rtol=1e-12)


def exponential(x):
    return np.exp(x)


def called(x):
    return exponential(x)


def pair(x):
    return np.exp(x), np.tanh(x)


def history(x):
    found = []
    for a in x:
        found.append(np.exp(a * x))
    return found


def loss_and_state(x):
    e = np.exp(x)
    return e, e * e


@pytest.mark.parametrize("f", [exponential, called, pair, history, loss_and_state])
def test_the_result_may_change(f):
    value, pull = s2sad.vjp(f, X)
    dy = s2sad.tree_map(np.ones_like, value)
    expected = pull(dy).tolist()
    for part in value if isinstance(value, tuple | list) else [value]:
        part[:] = 0.0
    assert pull(dy).tolist() == expected


def test_the_auxiliary_result_may_change():
    def f(x):
        e = np.exp(x)
        return np.sum(e), e

    _, pull, state = s2sad.vjp(f, X, has_aux=True)
    state[:] = 0.0
    assert pull(1.0).tolist() == np.exp(X).tolist()
