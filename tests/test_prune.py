"""Dropping what nobody needs changes no result, no effect and no exception."""

import ast

import gast
import pytest

from s2sad.polish.effects import EffectTable
from s2sad.polish.prune import prune

BLOCKS = {
    "docstring": "t = sin(x)\nrounds = 0\nrounds += 1\nif arm == 0:\n    pass\nr = x",
    "read in the next round": "t = x\nr = 0.0\nfor i in range(3):\n    r = r + t\n    t = t * 2.0",
    "read by the test": "n = 0\nr = x\nwhile n < 3:\n    n = n + 1\nr = r + 1.0",
    "an effect": "note(x)\nt = note(2.0)\nr = 1.0",
    "an arm": "r = x\nif x > 1.0:\n    r = 5.0\n    t = 2.0\nelse:\n    t = 3.0",
    "overwritten": "r = 1.0\nr = 2.0",
    "break": "r = 0.0\nfor i in range(5):\n    t = i\n    r += 1.0\n    if t > 2:\n        break",
    "raises": "r = x\nif x > 1.0:\n    raise ValueError('x')",
    "list": "xs = []\nxs.append(x)\nr = xs[0]",
    "unread list": "xs = []\nxs.append(x)\nr = x",
    "inner function": "t = 2.0\ndef g():\n    return t\nr = g()",
    "an inner loop": (
        "r = 0.0\nt = 1.0\nfor i in range(3):\n    for j in range(2):\n        r = r + t\n"
        "        u = r\n    t = u + i"
    ),
    "match": "match x:\n    case 2.0:\n        r = 1\n        t = 4\n    case _:\n        r = 2.0",
    "tuple": "r, t = x, 2.0",
    "behind a loop": "for i in range(3):\n    t = i\nr = i",
}


def parsed(text):
    return gast.parse(text).body


def shown(block):
    for s in block:
        if isinstance(s, gast.For) and not s.body:
            s.body = [gast.Pass()]
    return ast.unparse(gast.gast_to_ast(gast.Module(block, [])))


def run(block, x):
    calls = []
    space = {"x": x, "arm": 0, "sin": lambda a: a, "note": lambda a: calls.append(a)}
    try:
        exec(compile(shown(block), "<block>", "exec"), space)
    except ValueError as error:
        return str(error), calls
    return space.get("r"), calls


def pruned(name):
    local = frozenset({"t", "u", "rounds", "xs", "r"})
    effects = EffectTable(lambda call: call.func.id == "sin")
    return prune(parsed(BLOCKS[name]), frozenset({"r"}), effects, local)


@pytest.mark.parametrize("name", BLOCKS)
def test_the_results_are_the_same(name):
    for x in (0.5, 2.0):
        assert run(pruned(name), x) == run(parsed(BLOCKS[name]), x), shown(pruned(name))


@pytest.mark.parametrize(
    "name, left",
    [
        ("docstring", "r = x"),
        ("overwritten", "r = 2.0"),
        ("unread list", "r = x"),
        ("an arm", "r = x\nif x > 1.0:\n    r = 5.0"),
    ],
)
def test_what_is_left(name, left):
    assert shown(pruned(name)) == left
