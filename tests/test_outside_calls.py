"""A pullback is the derivative where the forward sweep ran, also where called functions read."""

import functools
import sys
import types

import numpy as np
import pytest

import s2sad

X = np.array([0.4, -0.7, 1.2])
ROW = np.array([1.0, 2.0, 3.0])
ROWS = 0.3 * np.arange(1.0, 10.0).reshape(3, 3)
SCALE = 1.5
STEPS = [1.5, 2.5]
TABLE = {"k": 2.0, "a": np.array([1.0, 2.0, 3.0])}
ELSEWHERE = types.ModuleType("s2sad_elsewhere")
ELSEWHERE.A, ELSEWHERE.k = np.array([1.0, 2.0, 3.0]), 1.5
sys.modules["s2sad_elsewhere"] = ELSEWHERE


class Layer:
    gain = np.array([1.0, 2.0, 3.0])
    power = 2.0

    def __init__(self, k):
        self.k = k

    def run(self, x):
        return x * x * self.gain * self.power * self.k

    def __call__(self, x):
        return np.tanh(x * self.k) * ROW

    @staticmethod
    def still(x):
        return x * x * Layer.gain * Layer.power

    @property
    def product(self):
        return self.gain * self.power


LAYER = Layer(2.5)


def by_row(x):
    return x * x * ROW


def by_scale(x):
    return x * x * SCALE


def by_table(x):
    return x * x * TABLE["k"] * TABLE["a"]


def by_steps(x):
    s = 0.0
    for i in range(len(STEPS)):
        s = s + x * x * STEPS[i]
    return s


def by_module(x):
    return x * x * ELSEWHERE.A * ELSEWHERE.k


def by_default(x, w=ROW):
    return x * x * w


def by_view(x):
    w = ROW
    part = w[1:]
    return x[1:] * x[1:] * part


def by_rows(x):
    s, i = 1.0, 0
    while s < 10.0 and i < 3:
        row = ROWS[i]
        s = s + s * np.sum(row * x * x) * 0.2
        i += 1
    return s


def by_given(w, x):
    return np.sum(x * x * w)


def by_given_rows(rows, x):
    s = 0.0
    for row in rows:
        s = s + np.sum(row * x * x) * (1.0 + s)
    return s


def again(x, n):
    return x * SCALE if n == 0 else again(x * x * SCALE, n - 1)


def again_with(w, x, n):
    return np.sum(x * w) if n == 0 else again_with(w, x * x * w, n - 1)


def a_row():
    return ROWS[1]


def in_place(y):
    for _ in range(2):
        y *= ROW * SCALE * y


def branch(x):
    return x * x * SCALE if SCALE > 1.0 else x * x * x


PROGRAMS = [
    lambda x: np.sum(by_row(x)),
    lambda x: np.sum(by_scale(x)),
    lambda x: np.sum(by_row(x) * by_scale(x)),
    lambda x: np.sum(by_table(x)),
    lambda x: np.sum(by_steps(x)),
    lambda x: np.sum(by_module(x)),
    lambda x: np.sum(by_default(x)),
    lambda x: np.sum(by_view(x)),
    lambda x: by_rows(x) + by_rows(x * x),
    lambda x: by_given(ROW, x),
    lambda x: by_given(ROWS[1], x) + by_given(TABLE["a"][::-1], x),
    lambda x: by_given_rows([ROWS[0], ROWS[1]], x),
    lambda x: np.sum(again(x, 2)),
    lambda x: again_with(ROW, x, 2),
    lambda x: np.sum(a_row() * x * x),
    lambda x: np.sum(branch(x)),
    lambda x: np.sum(functools.partial(by_given, ROW)(x)),
    lambda x: sum(map(by_scale, x)),
    lambda x: np.sum(LAYER.run(x)),
    lambda x: np.sum(LAYER(x) ** 2),
    lambda x: np.sum(Layer.still(x)),
    lambda x: np.sum(x * x * LAYER.gain) * LAYER.power,
    lambda x: np.sum(x * x * LAYER.product),
    lambda x: np.sum(Layer(2.0).run(x)),
]


def rows_of_its_own(x):
    s, i = 1.0, 0
    while s < 10.0 and i < 3:
        row = ROWS[i]
        s = s + s * np.sum(row * x * x) * 0.2
        i += 1
    return s


def rows_given_on(x):
    s, i = 1.0, 0
    while s < 10.0 and i < 3:
        row = ROWS[i]
        s = s + s * by_given(row * s, x)
        i += 1
    return s


def a_row_bound_anew(x):
    row, s = ROWS[0], 0.0
    for k in range(3):
        s = s + np.sum(row * x * x)
        row = ROWS[k]
    return s


def a_row_from_a_call(x):
    w, s = a_row(), 0.0
    while s < 3.0:
        s = s + np.sum(w * x * x) * (s + 1.0)
    return s


def written_by_a_call(x):
    y = x * 1.0
    in_place(y)
    return np.sum(y * y)


def several_layers(x):
    s = 0.0
    for layer in [Layer(1.0), Layer(2.0)]:
        s = s + np.sum(layer.run(x)) * (1.0 + s)
    return s


LAYERS = [Layer(1.0), Layer(2.0)]


def what_a_class_has_in_a_loop(x):
    s = x
    for layer in LAYERS:
        s = s * s * layer.gain * layer.k
    return np.sum(s)


def an_inner_function(x):
    def inner(v):
        return v * v * ROW * SCALE

    return np.sum(inner(x))


PROGRAMS += [
    rows_of_its_own,
    rows_given_on,
    a_row_bound_anew,
    a_row_from_a_call,
    written_by_a_call,
    several_layers,
    what_a_class_has_in_a_loop,
    an_inner_function,
]


@pytest.fixture
def change(monkeypatch):
    """What changes all that is outside, in place and anew."""
    arrays = [ROW, ROWS, TABLE["a"], ELSEWHERE.A, Layer.gain]
    before = [a.copy() for a in arrays]

    def changed():
        for a in arrays:
            a += 1.7
        for owner, attr in ((ELSEWHERE, "k"), (Layer, "power"), (LAYER, "k")):
            monkeypatch.setattr(owner, attr, 7.0)
        monkeypatch.setitem(globals(), "SCALE", 0.7)
        monkeypatch.setitem(TABLE, "k", 7.0)
        STEPS[:] = [7.0, 8.0]

    yield changed
    STEPS[:] = [1.5, 2.5]
    for a, old in zip(arrays, before, strict=True):
        a[:] = old


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_is_outside_may_change(f, change):
    expected = s2sad.grad(f)(X)
    x = X.copy()
    _, pull = s2sad.vjp(f, x)
    change()
    x[:] = 0.3
    assert np.allclose(pull(1.0), expected, rtol=1e-12)
    assert np.allclose(pull(1.0), expected, rtol=1e-12)
    assert not np.allclose(s2sad.grad(f)(X), expected)


def bound_as_another_kind(x):
    s = 1.0
    for x in x:  # noqa: B020
        s = s + x * x * s
    return s


def test_an_argument_bound_anew_may_change():
    x = X.copy()
    expected = s2sad.grad(bound_as_another_kind)(x)
    _, pull = s2sad.vjp(bound_as_another_kind, x)
    x[:] = 9.0
    assert np.allclose(pull(1.0), expected, rtol=1e-12)


def squared_twice(x):
    x = x * x
    return x * x


def test_what_a_call_keeps_of_an_argument_may_change():
    x = X.copy()
    expected = s2sad.grad(lambda x: np.sum(squared_twice(x)))(x)
    _, pull = s2sad.vjp(lambda x: np.sum(squared_twice(x)), x)
    x[:] = 9.0
    assert np.allclose(pull(1.0), expected, rtol=1e-12)


def test_a_list_given_may_get_longer():
    class_of = __import__("collections").namedtuple("Pair", "a b")
    pairs = [class_of(1.5, 2.0), class_of(0.5, 3.0)]

    def f(pairs):
        return sum(p.a * p.b * p.b for p in pairs)

    _, pull = s2sad.vjp(f, pairs)
    pairs.append(class_of(1.0, 1.0))
    assert pull(1.0) == [(4.0, 6.0), (9.0, 3.0)]
    assert type(pull(1.0)[0]) is class_of
