"""Liveness: a name that is not live may be lost without anybody noticing, a live one may not."""

import ast

import gast
import pytest

from s2sad.nodes import names_read, walk
from s2sad.syntax.flow import free_names, live_in

BLOCKS = {
    "straight": "a = x\nb = a + y\nr = b",
    "branch": "if x > 0.0:\n    r = y\nelse:\n    r = z",
    "one arm": "r = z\nif x > 0.0:\n    r = y",
    "loop": "r = 0.0\nfor i in range(3):\n    r = r + y\n    y = z",
    "zero rounds": "r = y\nfor i in range(0):\n    r = z",
    "target": "for y in [1.0, 2.0]:\n    pass\nr = y",
    "while": "r = x\nwhile r < 5.0:\n    r = r + y\n    if r > z:\n        break",
    "break": "for i in range(3):\n    r = i\n    if i > 0:\n        break\n    y = 1.0\nr = r + y",
    "match": "match x:\n    case 2.0:\n        r = y\n    case w if w > z:\n        r = w\n"
    "    case _:\n        r = 1.0",
    "function": "def g(a, b=y):\n    c = z\n    return a + b + c\nr = g(x)",
    "lambda": "g = lambda y: y + z\nr = g(x)",
    "try": "try:\n    r = y / x\nexcept ZeroDivisionError:\n    r = z",
    "with": "with manager(x) as y:\n    r = y",
    "augmented": "r = x\nr += y",
    "comprehension": "r = sum(y * v for v in [x, x])",
    "tuple": "y, (r, z) = x, (x, y)",
}


def run(text, lost=()):
    space = {"x": 1.0, "y": 2.0, "z": 3.0, "manager": Manager}
    for n in lost:
        space[n] = None
    try:
        exec(compile(text, "<block>", "exec"), space)
    except TypeError:
        return "lost"
    return space["r"]


class Manager:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, *error):
        return False


@pytest.mark.parametrize("name", BLOCKS)
def test_what_is_not_live_may_be_lost(name):
    text = BLOCKS[name]
    live = live_in(gast.parse(text).body, frozenset({"r"}))
    dead = [n for n in "xyz" if n not in live]
    assert run(text, dead) == run(text)


@pytest.mark.parametrize(
    "name, live",
    [
        ("straight", "xy"),
        ("branch", "xyz"),
        ("one arm", "xyz"),
        ("loop", "yz"),
        ("match", "xyz"),
        ("function", "xyz"),
        ("with", "x"),
        ("tuple", "xy"),
    ],
)
def test_not_more_than_needed_is_live(name, live):
    found = live_in(gast.parse(BLOCKS[name]).body, frozenset({"r"}))
    assert found & set("xyz") == set(live)


@pytest.mark.parametrize("name", BLOCKS)
def test_the_visitor_sees_every_statement(name):
    seen = {}
    block = gast.parse(BLOCKS[name]).body
    live_in(block, frozenset({"r"}), lambda s, live: seen.__setitem__(s, live))
    assert set(block) <= set(seen)
    assert seen[block[-1]] == {"r"}


def test_free_names():
    fn = gast.parse("def g(a, *b, c=d, **e):\n    f = a + h\n    return f + i(f)\n").body[0]
    assert free_names(fn) == {"d", "h", "i"}
    outer = gast.parse("def g():\n    nonlocal n\n    n = n + 1\n").body[0]
    assert "n" in free_names(outer)


def test_names_read_agree_with_python():
    for text in BLOCKS.values():
        loads = {
            n.id
            for n in ast.walk(ast.parse(text))
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        block = gast.parse(text).body
        assert loads <= set().union(*(names_read(s) for s in block))
        assert all(list(walk(s)) for s in block)
