"""A dict gets a key in a loop: the first round has none, and what would read it has no value."""

import pytest

import s2sad


def got_or_given(y, d):
    for _ in range(3):
        d["k"] = d.get("k", y) * 0.5
    return d["k"] * y


def asked_for(y, d):
    for _ in range(3):
        if "k" in d:
            d["k"] = d["k"] * y
        else:
            d["k"] = y
    return d["k"] * d["u"]


def in_two_loops(y, d):
    s = 0.0
    for _ in range(2):
        for _ in range(3):
            if "k" in d:
                d["k"] = d["k"] * y
            else:
                d["k"] = y
        for _ in range(2):
            s += d["u"] * y
    return d["k"] * s


def of_the_round_before(y, d):
    total = 0.0
    for i in range(4):
        if i > 0:
            total += d["before"] * y
        d["before"] = y * i + d["u"]
    return total


def while_it_is_set(y, d):
    i = 0
    while i < 3:
        v = d.setdefault("seen", y)
        d["seen"] = v * 1.5
        i += 1
    return d["seen"] * d["u"]


def counted(y, d):
    for _ in range(3):
        if "n" not in d:
            d["n"] = 0
        d["n"] += 1
    return y * d["n"] * d["u"]


def halved(y, d):
    d["k"] = d.get("k", y) * 0.5
    return y


def in_a_callee(y, d):
    for _ in range(3):
        halved(y, d)
        y = y * 2.0
    return d["u"] * d["k"]


PROGRAMS = [
    got_or_given,
    asked_for,
    in_two_loops,
    of_the_round_before,
    while_it_is_set,
    counted,
    in_a_callee,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(f):
    d = {"u": 1.1}
    value, (slope, shadow) = s2sad.value_and_grad(f, wrt=("y", "d"))(0.7, d)
    assert d == {"u": 1.1} and value == f(0.7, {"u": 1.1})
    e = 1e-6
    by_y = (f(0.7 + e, {"u": 1.1}) - f(0.7 - e, {"u": 1.1})) / (2 * e)
    by_u = (f(0.7, {"u": 1.1 + e}) - f(0.7, {"u": 1.1 - e})) / (2 * e)
    assert slope == pytest.approx(by_y, abs=1e-8)
    assert shadow == {"u": pytest.approx(by_u, abs=1e-8)}
    assert s2sad.jvp(f, (0.7, {"u": 1.1}), (1.0, {"u": 0.5}))[1] == pytest.approx(by_y + by_u / 2)


def test_a_key_that_is_never_there():
    def f(y, d):
        s = 0.0
        for i in range(3):
            s += y * d["typo"] * i
        return s

    with pytest.raises(s2sad.UnsupportedError, match="fails: KeyError: 'typo'"):
        s2sad.grad(f)(0.7, {"u": 1.1})
