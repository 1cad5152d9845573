"""Moving values to where they are used changes no result, and never passes a write."""

import ast

import gast
import numpy as np
import pytest

from s2sad.polish.effects import EffectTable
from s2sad.polish.propagate import propagate

BLOCKS = {
    "docstring": ("t = z * z\nr = t + x", "r"),
    "a write between": ("t = z * x\nx = x + 1.0\nr = t * x", "r"),
    "a write of a part": ("t = v[0] * 2.0\nv[0] = 7.0\nr = t + v[0]", "r"),
    "an append between": ("t = xs[-1]\nxs.append(9.0)\nr = t + xs[-1]", "r"),
    "into a loop": ("t = z * x\nr = 0.0\nfor i in range(3):\n    r = r + t\n    x = x + 1.0", "r"),
    "read twice": ("t = z * x\nr = t + t\nr = r * t", "r"),
    "a copy": ("t = x\nr = t * t\nx = 5.0\nr = r + t", "r"),
    "written on one path": ("t = x\nif z > 0.0:\n    t = z\nr = t + x", "r"),
    "swap": ("t = x\nx = z\nz = t\nr = x - z", "r"),
    "unknown code": ("t = v[0] + 0.0\nchange(v)\nr = t + v[0]", "r"),
    "aug": ("t = z * z\nt = t + 1.0\nr = t\nr += t", "r"),
    "chain": ("t = z\nu = t\nz = 3.0\nr = u + t + z", "r"),
    "inside": ("if z > 0.0:\n    t = z * x\n    r = t\nelse:\n    t = x\n    r = t * 2.0", "r"),
    "loop carried": ("r = x\nfor i in range(3):\n    t = r\n    r = z\n    z = t + 1.0", "r"),
    "aug of a read": ("t = x\nx += 1.0\nr = t - x", "r"),
    "live out": ("t = z * x\nr = t + 1.0", "r t"),
    "a conditional": ("t = xs.pop()\nr = x if z > 0.0 else t", "r xs"),
    "a conditional test": ("t = xs.pop()\nr = x if t > 0.0 else z", "r xs"),
    "and": ("t = xs.pop()\nr = z > 5.0 and t", "r xs"),
    "two in a row": ("t = f(z)\nu = f(x)\nr = u - t", "r"),
}


def parsed(text):
    return gast.parse(text).body


def shown(block):
    return ast.unparse(gast.gast_to_ast(gast.Module(block, [])))


def run(block, live):
    calls = []
    space = {
        "x": 2.0,
        "z": 3.0,
        "v": np.array([1.0, 2.0]),
        "xs": [1.0, 2.0],
        "change": lambda v: v.__setitem__(0, 100.0),
        "f": lambda a: calls.append(a) or a * len(calls),
    }
    exec(compile(shown(block), "<block>", "exec"), space)
    return [space[n] for n in live.split()], calls


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("movable", [{"t"}, {"t", "u"}])
def test_the_results_are_the_same(name, movable):
    text, live = BLOCKS[name]
    block = propagate(
        parsed(text), frozenset(live.split()), frozenset(movable), EffectTable(lambda call: False)
    )
    assert run(block, live) == run(parsed(text), live), shown(block)


def test_the_example_of_the_docstring():
    text, live = BLOCKS["docstring"]
    block = propagate(
        parsed(text), frozenset({"r"}), frozenset({"t"}), EffectTable(lambda call: False)
    )
    assert shown(block) == "r = z * z + x"


def test_what_the_user_named_stays():
    text, live = BLOCKS["docstring"]
    block = propagate(parsed(text), frozenset({"r"}), frozenset(), EffectTable(lambda call: True))
    assert shown(block) == shown(parsed(text))
