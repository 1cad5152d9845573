"""What depends on the input and reaches the result is active; all else has no cotangent."""

import math

import numpy as np
import pytest

import s2sad
from s2sad import kinds as K
from s2sad.facts.fence import ever_active
from s2sad.linear.function_facts import activity_of
from s2sad.steps.derivation import Derivation, analyse


def straight(x, n):
    a = x * n
    b = n * n
    c = a + b
    d = math.sin(x)
    print(d, end="")
    return c


def overwritten(x, n):
    a = x * n
    a = n + 1.0
    return a + x


def carried(x, n):
    a = n
    b = n
    c = n
    for i in range(3):
        a = b * 2.0
        b = c + 1.0
        c = x
    return a


def through_break(x, n):
    a = n
    for i in range(3):
        a = x
        if n > 2.0:
            break
        a = n
    return a


def decided(x, n):
    a = n
    if x is None:
        a = x
    return a + 0.0 * n


def only_integers(x, n):
    k = int(x)
    m = len([x])
    return n * k + m + x


def list_items(x, n):
    xs = []
    xs.append(x * n)
    ys = [n]
    return xs[0] + ys[0]


CASES = [
    (straight, {"x", "a", "c"}, {"n", "b", "d"}),
    (overwritten, {"x"}, {"n", "a"}),
    (carried, {"x", "a", "b", "c"}, {"n", "i"}),
    (through_break, {"x", "a"}, {"n"}),
    (decided, set(), {"n", "a", "x"}),
    (only_integers, {"x"}, {"k", "m", "n"}),
    (list_items, {"x", "xs"}, {"n", "ys"}),
]


def active_names(fn, wrt):
    """Return the names that are active somewhere when f is derived for some parameters."""
    d = Derivation()
    a = analyse(d, fn, {"x": K.FLOAT, "n": K.FLOAT})
    return ever_active(activity_of(d, a, tuple(sorted(wrt))))


@pytest.mark.parametrize("fn, active, passive", CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_what_is_active(fn, active, passive):
    found = active_names(fn, {"x"})
    assert found & (active | passive) == active


@pytest.mark.parametrize("fn, active, passive", CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_gradients_and_no_cotangent_for_the_rest(fn, active, passive):
    x, n, h = 1.3, 2.5, 1e-6
    slope = (fn(x + h, n) - fn(x - h, n)) / (2 * h)
    assert s2sad.grad(fn)(x, n) == pytest.approx(slope, abs=1e-6)
    text = s2sad.grad(fn).source(x, n)
    assert not [p for p in passive - {"x"} if f"{p}_bar" in text]


def test_both_is_the_union():
    one, other = active_names(straight, {"x"}), active_names(straight, {"n"})
    both = active_names(straight, {"x", "n"})
    assert one | other == both


def test_nothing_active_gives_zero():
    assert s2sad.grad(lambda x: 3.0)(2.0) == 0.0
    assert np.array_equal(s2sad.grad(lambda x: float(len(x)))(np.ones(3)), np.zeros(3))
