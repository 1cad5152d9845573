"""What statements read, write and do is remembered, until they are forgotten."""

import gast
import pytest

from s2sad.nodes import name
from s2sad.polish.effects import EffectTable

LOOP = "for i in range(n):\n    if a > b:\n        x[i] = c\n    y = f(d)"


def parsed(text):
    return gast.parse(text).body[0]


def table(sharing=None):
    return EffectTable(lambda call: call.func.id == "range", sharing)


@pytest.mark.parametrize(
    "text, reads, writes, unknown",
    [
        ("x = y + z", "y z", "x", False),
        ("x += y", "x y", "x", False),
        ("x[i] = y", "x i y", "x", False),
        ("xs.append(y)", "xs y", "xs", False),
        ("x = f(y)", "f y", "x", True),
        ("raise error", "error", "", True),
        ("if a:\n    x = y\nelse:\n    z[0] = f(w)", "a y z f w", "x z", True),
        ("while a:\n    x = lambda t: t + b", "a t b", "x", False),
        (LOOP, "range n a b x i c f d", "i x y", True),
    ],
)
def test_effects(text, reads, writes, unknown):
    effects = table().of(parsed(text))
    assert effects.reads == set(reads.split())
    assert effects.writes == set(writes.split())
    assert effects.unknown == unknown


def test_who_shares_memory_is_written_too():
    effects = table({"x": frozenset({"view"})}).of(parsed("if a:\n    x[0] = b"))
    assert effects.writes == {"x", "view"}
    assert effects.named == {"x"}


@pytest.mark.parametrize("inside", (True, False))
def test_what_is_forgotten_is_looked_at_again(inside):
    loop, effects = parsed(LOOP), table()
    assert "d" in effects.of(loop).reads
    loop.body[1].value = name("e")
    assert "d" in effects.of(loop).reads
    if not inside:
        effects.forget(loop.body[1])
    effects.forget(loop, inside)
    assert effects.of(loop).reads >= {"e"}
    assert not effects.of(loop).reads & {"f", "d"}
    assert not effects.of(loop).unknown
