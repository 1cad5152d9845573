"""Loops that count down for nobody."""

import gast
import pytest

from s2sad.polish.rounds import rounds
from s2sad.write.printer import module


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for _ in range(n - 1, -1, -1):\n    f()\n", "for _ in range(n):\n    f()\n"),
        ("for i in range(4, -1, -1):\n    f()\n", "for i in range(5):\n    f()\n"),
        ("for i in range(n - 1, -1, -1):\n    f(i)\n", None),
        ("for i in range(n - 1, -1, -1):\n    f()\nf(i)\n", None),
        ("for i in range(n - 1, 0, -1):\n    f()\n", None),
        ("for i in range(n - 2, -1, -1):\n    f()\n", None),
        ("for i in range(n, -1, -1):\n    f()\n", None),
        ("for i in reversed(range(n)):\n    f()\n", None),
    ],
)
def test_loops(before, after):
    assert module(rounds(gast.parse(before).body)) == (before if after is None else after)
