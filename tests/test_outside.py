"""A pullback is the derivative where the forward sweep ran, whatever has changed meanwhile."""

import numpy as np
import pytest

import s2sad
from tests.slopes import check

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


STATE = {"n": 1.5, "calls": 0}


def state_in_a_dict(x):
    STATE["n"] = 1.5
    s = x[1]
    for i in range(3):
        s = s * (x[2] + STATE["n"])
        STATE["n"] = STATE["n"] * 2.0
        STATE[f"round {i}"] = 3.0
    return s * STATE["n"]


def counted(x):
    STATE["calls"] += 1
    MODEL.calls = STATE["calls"]
    return x[0] * x[1]


def doubled():
    MODEL.c = MODEL.c * 2.0
    return MODEL.c


def state_in_an_object(x):
    MODEL.c = 2.0
    y = MODEL.c * (x[0] * doubled())
    z = y * MODEL.c * x[1]
    if doubled() > 7.0:
        z = z * MODEL.c
    for _ in range(2):
        z = z * (x[2] + MODEL.c)
        doubled()
    MODEL.c = 2.0
    return z


class Gain:
    value = 1.0

    @classmethod
    def raised(cls):
        cls.value = cls.value * 1.5
        return cls.value


def state_in_a_class(x):
    Gain.value = 1.0
    y = Gain.value * (x[0] * Gain.raised())
    return y * Gain.value * x[1]


@pytest.mark.parametrize("f", [state_in_a_dict, counted, state_in_an_object, state_in_a_class])
def test_what_is_outside_changes_while_the_function_runs(f):
    value, _ = s2sad.value_and_grad(f)(X)
    assert value == f(X)
    check(f, X)


def test_what_is_outside_keeps_what_was_left_in_it():
    calls = STATE["calls"]
    s2sad.grad(counted)(X)
    assert STATE["calls"] == MODEL.calls == calls + 1


def test_a_captured_number_that_a_called_function_binds_is_refused():
    n = 1.0

    def doubled():
        nonlocal n
        n *= 2.0
        return n

    def reads(x):
        y = n * (x[0] * doubled())
        return y * n * x[1]

    def only_calls(x):
        return x[0] * doubled() * x[1]

    with pytest.raises(s2sad.UnsupportedError, match="`n` is read here, and doubled rebinds it"):
        s2sad.grad(reads)(X)
    assert np.allclose(s2sad.grad(only_calls)(X), [2.0 * 0.6, 2.0 * 0.5, 0.0])


STEADY = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("flag", [True, False])
def test_what_is_read_from_outside_on_one_path_only(flag):
    def f(x, flag):
        if flag:
            v = STEADY[:]
            return np.sum(v * x * x)
        return np.sum(x)

    def called(x, flag):
        return f(2.0 * x, flag)

    x = np.array([0.3, 0.5, 0.7])
    expected = 2.0 * STEADY * x if flag else np.ones(3)
    assert s2sad.vjp(f, x, flag, wrt="x")[1](1.0) == pytest.approx(expected)
    expected = 8.0 * STEADY * x if flag else 2.0 * np.ones(3)
    assert s2sad.vjp(called, x, flag, wrt="x")[1](1.0) == pytest.approx(expected)
