"""Memory that only one name has may go to who comes next; what somebody else has is copied."""

import gast
import numpy as np
import pytest
from slopes import check

import s2sad
from s2sad.known.callees import Callees
from s2sad.polish.sole import hand_over
from s2sad.runtime import unbroadcast
from s2sad.write.printer import module

CALLEES = Callees({"np": np}, {"unbroadcast": unbroadcast})
X = np.array([0.7, -0.4, 1.1, 0.3])


def run(text, live_out=("x_bar",), kept=()):
    block = gast.parse(text).body
    calls, consuming = {"f_reverse", "g_reverse"}, {"f_reverse"}
    return module(hand_over(block, frozenset(live_out), CALLEES, calls, consuming, frozenset(kept)))


@pytest.mark.parametrize(
    "text",
    [
        "x_bar = f_reverse(2.0 * y)\n",
        "y_bar = 2.0 * y\nx_bar = f_reverse(y_bar)\n",
        "y_bar = g_reverse(y)\ny_bar += y\nx_bar = f_reverse(y_bar)\n",
        "x_bar = f_reverse(unbroadcast(2.0 * y, z.shape))\n",
    ],
)
def test_what_nobody_else_has_is_given(text):
    assert run(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x_bar = f_reverse(y)\n", ()),
        ("x_bar = f_reverse(unbroadcast(y, z.shape))\n", ()),
        ("y_bar = z_bar\nx_bar = f_reverse(y_bar)\n", ()),
        ("y_bar = 2.0 * y\nz_bar = y_bar\nx_bar = f_reverse(y_bar)\n", ()),
        ("y_bar = 2.0 * y\nz_bar = y_bar[0]\nx_bar = f_reverse(y_bar)\n", ()),
        ("y_bar = 2.0 * y\nbars.append(y_bar)\nx_bar = f_reverse(y_bar)\n", ()),
        ("y_bar = 2.0 * y\nx_bar = f_reverse(y_bar)\nx_bar += y_bar\n", ()),
        ("y_bar = 2.0 * y\nx_bar = y_bar * f_reverse(y_bar)\n", ()),
        ("y_bar = 2.0 * y\nfor _ in range(3):\n    x_bar = f_reverse(y_bar)\n", ()),
        ("y_bar = 2.0 * y\nx_bar = f_reverse(y_bar)\n", ("y_bar",)),
    ],
)
def test_what_somebody_else_has_is_copied(text, kept):
    assert "f_reverse(y_bar.copy())" in run(text, kept=kept).replace("y.", "y_bar.").replace(
        "unbroadcast(y, z.shape)", "y_bar"
    ).replace("unbroadcast(y_bar, z.shape)", "y_bar").replace("z.shape).copy", "z.shape)")


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        ("t_bar = 2.0 * y\nx_bar = np.reshape(t_bar, x.shape).copy()\n", False),
        ("x_bar = np.reshape(g_reverse(y), x.shape).copy()\n", False),
        ("x_bar = np.reshape(y, x.shape).copy()\n", True),
        ("t_bar = 2.0 * y\nz = t_bar\nx_bar = np.reshape(t_bar, x.shape).copy()\n", True),
        ("t_bar = 2.0 * y\nx_bar = np.reshape(t_bar, x.shape).copy()\nx_bar += t_bar\n", True),
    ],
)
def test_a_view_of_what_nobody_else_has_needs_no_copy(text, stays):
    assert (".copy()" in run(text)) is stays


def written(x):
    y = x.copy()
    y[1:] *= y[:-1]
    y[0] = y[1]
    return y


def twice(x):
    """One cotangent arrives for two results of the same function."""
    y = written(x)
    z = written(2.0 * x)
    s = y + z
    return np.sum(s * s)


def handed_through(x):
    return written(written(x))


def and_more(x):
    y = written(x)
    return np.sum(y**3) + y[1] * np.sum(y)


def recursive(x, n):
    y = x.copy()
    y[0] *= y[1]
    return y if n == 0 else y + recursive(y, n - 1)


@pytest.mark.parametrize("fn", [twice, and_more])
def test_gradient(fn):
    check(fn, X)


def test_the_callers_cotangent_stays_as_it_is():
    """A pullback may be called again with the same cotangent, which belongs to the caller."""
    value, pullback = s2sad.vjp(handed_through, X)
    bar = np.arange(1.0, 5.0)
    first = pullback(bar)
    assert np.array_equal(bar, np.arange(1.0, 5.0))
    assert np.array_equal(pullback(bar), first)
    assert not np.shares_memory(first, bar)


def test_a_recursive_function():
    check(lambda x: np.sum(recursive(x, 2) ** 2), X)


def test_no_copy_in_the_reverse():
    text = s2sad.source(and_more, args=(X,))
    reverse = text.split("def written_reverse")[1].split("def ")[0]
    assert "overwritten" in reverse and "y_bar = value_bar.copy()" not in reverse
