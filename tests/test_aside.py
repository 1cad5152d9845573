"""What a part of a shadow holds is set aside only where the part changes before it is passed on."""

import gast
import numpy as np
import pytest
from slopes import check

from s2sad.known.callees import Callees
from s2sad.polish.aside import aside, disjoint
from s2sad.polish.effects import EffectTable
from s2sad.write.printer import module

CALLEES = Callees({"np": np})
A = np.random.default_rng(1).standard_normal((4, 5))


def run(text, live_out=("A_bar", "x_bar"), sharing=None):
    block = gast.parse(text).body
    effects = EffectTable(lambda _: True, sharing)
    return module(aside(block, frozenset(live_out), frozenset({"t_bar"}), effects, CALLEES))


EDGE = """\
t_bar = A_bar[:, -1].copy()
A_bar[:, -1] = 0.0
A_bar[:, -2] += t_bar
"""


def test_a_part_is_passed_on_before_it_is_cleared():
    assert run(EDGE) == "A_bar[:, -2] += A_bar[:, -1]\nA_bar[:, -1] = 0.0\n"


def test_a_part_that_is_used_twice_gets_a_name():
    text = EDGE.replace("A_bar[:, -2] += t_bar", "x_bar += 2.0 * t_bar\nx_bar -= t_bar * y")
    want = "t_bar = A_bar[:, -1]\nx_bar += 2.0 * t_bar\nx_bar -= t_bar * y\nA_bar[:, -1] = 0.0\n"
    assert run(text) == want


INNER = """\
t_bar = A_bar[1:].copy()
A_bar[1:] = 0.0
A_bar[:-1] += alpha * t_bar
A_bar[1:] += t_bar
"""


def test_what_is_added_back_stays():
    want = "t_bar = A_bar[1:].copy()\nA_bar[:-1] += alpha * t_bar\n"
    assert run(INNER) == want


@pytest.mark.parametrize(
    "text",
    [
        EDGE.replace("[:, -2]", "[0]"),
        EDGE.replace("[:, -2]", "[:, 2]"),
        EDGE.replace("[:, -2]", "[:, i]"),
        EDGE.replace("A_bar[:, -2] += t_bar", "x_bar = t_bar"),
        EDGE.replace("A_bar[:, -2] += t_bar", "x_bar = t_bar.T"),
        EDGE.replace("A_bar[:, -2] += t_bar", "t_bar *= 2.0\nx_bar += t_bar"),
        EDGE.replace("A_bar[:, -2] += t_bar", "x_bar += A_bar[:, -1] * t_bar"),
        EDGE.replace("A_bar[:, -2] += t_bar", "A_bar *= 2.0\nx_bar += t_bar"),
        EDGE.replace("-1", "i").replace("A_bar[:, -2]", "i = 0\nx_bar"),
        EDGE.replace("] = 0.0", "] = 1.0"),
    ],
)
def test_not_where_the_part_changes_before(text):
    assert run(text) == text


@pytest.mark.parametrize(
    "text",
    [
        INNER.replace("alpha * t_bar", "A_bar[1:] * t_bar"),
        INNER.replace("A_bar[:-1] +=", "A_bar[:-1] *="),
        INNER.replace("A_bar[:-1] +=", "x_bar = A_bar[:-1] +"),
        INNER.replace("A_bar[1:] += t_bar", "A_bar[2:] += t_bar"),
        INNER.replace("A_bar[1:] += t_bar", "A_bar[1:] -= t_bar"),
    ],
)
def test_not_added_back_where_it_is_read_or_changed_between(text):
    assert "A_bar[1:] = 0.0" in run(text)


def test_views_count_as_the_shadow():
    text = EDGE.replace("A_bar[:, -2] += t_bar", "x_bar += row_bar\nx_bar += t_bar * y")
    assert run(text, sharing={"A_bar": frozenset({"row_bar"})}) == text
    assert run(text) != text


def index(text):
    return gast.parse(f"x[{text}]").body[0].value.slice


@pytest.mark.parametrize(
    ("left", "right", "apart"),
    [
        ("0", "1", True),
        ("-1", "-2", True),
        ("0", "-1", False),
        ("1", "1", False),
        (":, 0", ":, 1", True),
        ("0, 2", "1, 2", True),
        ("i, 0", "j, 1", False),
        ("i", "j", False),
        ("1:", "0", True),
        ("1:", "1", False),
        (":-1", "-1", True),
        (":-1", "-2", False),
        (":-1", "0", False),
        (":2", "2", True),
        ("-2:", "-3", True),
        ("-2:", "-2", False),
        ("::2", "1", False),
        ("..., 0", "..., 1", False),
        ("None, 0", "None, 1", False),
        ("1:-1", "0", True),
        ("1:-1", "-1", True),
    ],
)
def test_disjoint(left, right, apart):
    assert disjoint(index(left), index(right)) is apart
    assert disjoint(index(right), index(left)) is apart
    if apart:
        a, b = np.zeros((6, 6)), np.zeros((6, 6))
        a[eval(f"np.s_[{left}]")] = 1.0
        b[eval(f"np.s_[{right}]")] = 1.0
        assert not np.any(a * b)


def edges(A, n):
    A = A.copy()
    for _ in range(n):
        A[:, 0] = A[:, 1]
        A[-1] = A[-2] * A[0]
        A[1:-1] = 0.3 * A[:-2] + A[1:-1]
    return np.sum(A**2)


def overlapping(A, n):
    A = A.copy()
    for i in range(n):
        A[1:] = A[:-1] * 0.5
        A[i] = A[0] + A[i + 1]
        A[:, 1:3] = A[:, 2:4] - A[:, :2]
    return np.sum(A**2)


def through_a_view(A, n):
    A = A.copy()
    row = A[1]
    for _ in range(n):
        A[0] = row
        row[1:] = A[0, :-1] * row[:-1]
        A[1] = row + A[2]
    return np.sum(A**2) + np.sum(row)


@pytest.mark.parametrize("fn", [edges, overlapping, through_a_view])
def test_gradient(fn):
    check(fn, A, 3, constant=(1,))


def test_not_past_what_may_leave_the_block():
    text = EDGE.replace("A_bar[:, -2]", "if y:\n    break\nA_bar[:, -2]")
    loop = "for _ in range(3):\n    " + text.strip().replace("\n", "\n    ") + "\n"
    assert run(loop) == loop
    passed = loop.replace("break", "y = x")
    assert run(passed) != passed
