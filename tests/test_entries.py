"""Dicts that are filled key by key, merged and shown."""

import numpy as np
import pytest
import slopes

import s2sad


def filled(x):
    d = {}
    d["a"] = x * 2
    d["b"] = d["a"] * x
    d["a"] = np.sin(d["a"])
    return d["a"] * d["b"]


def in_a_loop(x):
    d = {"s": 0.0, "n": 1}
    for i in range(3):
        d["s"] = d["s"] + x * i
        d["n"] = d["n"] * 2
    return d["s"] ** 2 * d["n"]


def on_one_path(x):
    d = {"k": 1.0}
    if x > 0:
        d["k"] = x * x
    return d["k"] * x


def arrays(x):
    d = dict(w=np.array([x, 2.0]))
    d["v"] = d["w"] * x
    total = 0.0
    for v in d.values():
        total = total + np.sum(v * v)
    return total


def read(d):
    return d["a"] * d["b"]


def shown_when_ready(x):
    d = {"a": x}
    d["b"] = x * x
    return read(d)


def merged(x):
    d = {"b": x, "c": 2.0}
    e = {"c": x * x, **d, "k": x * x * x, "b": 3.0 * x}
    return e["b"] * e["c"] * e["k"]


def aliased(x):
    d = {"a": x}
    e = d
    d["a"] = x * x
    return e["a"] * x


def captured(x):
    d = {"a": x}

    def inner():
        return d["a"]

    d["a"] = x * x
    return inner() * x


FUNCTIONS = [
    filled,
    in_a_loop,
    on_one_path,
    arrays,
    shown_when_ready,
    merged,
    aliased,
    captured,
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients(f):
    h = 1e-6
    for x in (1.3, -0.6):
        want = (f(x + h) - f(x - h)) / (2 * h)
        value, got = s2sad.value_and_grad(f)(x)
        assert value == f(x)
        assert got == pytest.approx(want, rel=1e-6)


def test_the_text_is_plain():
    text = s2sad.grad(shown_when_ready).source(1.3)
    assert 'd = {**d, "b": x * x}' in text


def held(x):
    d = {"a": x}
    hold = [d]
    d["a"] = x * x
    return hold[0]["a"] * x


def looping(x):
    d = {"a": x, "b": x * x}
    s = 0.0
    for v in d.values():
        d["b"] = x * 3.0
        s = s + v
    return s


def test_what_another_structure_holds_is_seen_there():
    assert s2sad.grad(held)(1.3) == pytest.approx(3 * 1.3**2)


def test_what_a_loop_changes_is_read_when_its_turn_comes():
    assert s2sad.grad(looping)(1.3) == pytest.approx(4.0)


def keyed_after_a_choice(x, d):
    def swapped(d):
        if x[0] > 0.5:
            d["u"], d["v"] = d["v"], d["u"] * 1.5
            return d
        return d

    d = swapped(d)
    d["k"] = x[1] * d["v"]
    return d["u"] * d["k"]


def scaled_row(m, q):
    m[0] = m[0] * q
    return m, q * 0.5


def scaled_in_a_loop(x, d):
    w, y = np.ones((2, 2)) * x[0], d["u"]
    for _ in range(2):
        if x[0] > 0.5:
            w, y = scaled_row(w, y)
    return x[1] * d["v"]


@pytest.mark.parametrize("fn", [keyed_after_a_choice, scaled_in_a_loop])
@pytest.mark.parametrize("first", [0.2, 0.9])
def test_what_a_dict_gets_later(fn, first):
    slopes.check(fn, np.array([first, 1.3]), {"u": 0.7, "v": -0.4})


def scaled_and_left(x, y, w):
    for _ in range(2):
        if x[0] > 0.5:
            w, y = scaled_row(w, y)
    return x[0] * x[1]


def scaled_and_read(x, y, w):
    for _ in range(2):
        if x[0] > 0.5:
            w, y = scaled_row(w, y)
    return x[0] * np.sum(w)


@pytest.mark.parametrize("fn", [scaled_and_left, scaled_and_read])
@pytest.mark.parametrize("first", [0.2, 0.9])
def test_what_a_call_in_a_loop_writes_with(fn, first):
    slopes.check(fn, np.array([first, 1.3]), 0.7, np.array([[0.3, 1.0], [-0.4, 0.6]]))


class Scale:
    def __init__(self, m):
        self.m = m


def lowered(x):
    x[1] = 1.0
    return 1.0


def written_and_not_read(x, y, o):
    while lowered(x) < 0.81:
        x[1] = o.m
    return y


def test_what_nobody_reads_takes_no_cotangent_into_a_loop():
    x_bar, y_bar, o_bar = s2sad.grad(written_and_not_read, wrt=(0, 1, 2))(
        np.array([-1.1, 1.0, -1.1]), 0.8, Scale(2.0)
    )
    assert not x_bar.any()
    assert (y_bar, o_bar.m) == (1.0, 0.0)
