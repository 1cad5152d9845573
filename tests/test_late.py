"""Arrays come into being when they are wanted, not before."""

import gast
import numpy as np
import pytest
from slopes import check

from s2sad import kinds as K
from s2sad.known.callees import Callees
from s2sad.polish.effects import EffectTable
from s2sad.polish.late import late
from s2sad.write.printer import module

CALLEES = Callees({"np": np})
X = np.array([0.7, -0.4, 1.1, 0.3])


def run(text, unknown=(), alone=lambda n: True):
    def pure(node):
        return getattr(node.func, "id", "") not in unknown

    block = gast.parse(text).body
    kind = K.Array("float64", (K.Dim("n"),))
    bars = {n: kind for n in ("x_bar", "y_bar", "t_bar")}
    return module(
        late(block, bars, {"f_reverse"}, pure, EffectTable(pure), frozenset(), alone, CALLEES)
    )


BORN = """\
x_bar = np.zeros_like(x)
x_bar[1:] += z
x_bar = x_bar + f_reverse(w)
"""


def test_what_a_reverse_gives_is_not_added_to_zeros():
    assert run(BORN) == "x_bar = f_reverse(w)\nx_bar[1:] += z\n"


@pytest.mark.parametrize(
    "text",
    [
        BORN.replace("f_reverse(w)", "f_reverse(x_bar)"),
        BORN.replace("+= z", "*= z"),
        BORN.replace("+= z", "+= x_bar[0]"),
        BORN.replace("+= z", "+= z\nw = z"),
        BORN.replace("+= z", "+= z\nw[0] = z"),
        BORN.replace("+= z", "+= z\nv = x_bar[1]"),
        BORN.replace("f_reverse", "g"),
        BORN.replace("x_bar + f", "y + f"),
    ],
)
def test_not_where_either_is_looked_at_before(text):
    assert run(text) == text


SINK = """\
t_bar = 2.0 * t
y_bar = f_reverse(z)
x_bar[1:] += t_bar
x_bar[:-1] -= t_bar
"""


def test_what_is_computed_goes_past_a_call():
    lines = SINK.splitlines()
    assert run(SINK).splitlines() == [lines[1], lines[0], *lines[2:]]


@pytest.mark.parametrize(
    "text",
    [
        SINK.replace("f_reverse(z)", "z * z"),
        SINK.replace("f_reverse(z)", "f_reverse(t_bar)"),
        SINK.replace("y_bar =", "t ="),
        SINK.replace("y_bar = f_reverse(z)", "y_bar = f_reverse(z)\nt[0] = 0.0"),
        SINK.replace("2.0 * t", "np.sin(t)"),
        SINK.replace("2.0 * t", "2.0 * g(t)"),
        SINK.replace("t_bar", "u_bar"),
    ],
)
def test_not_where_it_would_be_something_else_or_for_nothing(text):
    assert run(text, unknown={"g"}) == text


@pytest.mark.parametrize("text", [SINK, BORN.replace("+= z", "+= 2.0 * z")])
def test_not_past_a_reverse_with_what_may_share_memory(text):
    """The reverse may put old content back into what is read."""
    assert run(text, alone=lambda n: n not in ("t", "z")) == text
    assert run(text, alone=lambda n: n in ("t", "z")) != text


def half(x):
    y = x.copy()
    y[1:] *= y[:-1]
    return y


def parts_and_whole(x):
    down = x[1:] - x[:-1]
    y = half(x)
    up = x[2:] * y[:-2]
    return np.sum(y * y) + np.sum(down**2) + np.sum(up**3)


def test_gradient():
    check(parts_and_whole, X)
