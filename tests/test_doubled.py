"""What is added twice to a part of a shadow is added once, doubled."""

import gast
import pytest

from s2sad.polish.doubled import doubled
from s2sad.polish.effects import EffectTable
from s2sad.write.printer import module


def run(text, sharing=None):
    effects = EffectTable(lambda node: node.func.id != "g", sharing)
    return module(doubled(gast.parse(text).body, effects))


@pytest.mark.parametrize(
    ("one", "both"),
    [
        ("x_bar += t_bar * x\n", "x_bar += 2.0 * t_bar * x\n"),
        ("x_bar[i] -= t_bar * x[i]\n", "x_bar[i] -= 2.0 * t_bar * x[i]\n"),
        ("x_bar += 3.0 * t_bar * x\n", "x_bar += 6.0 * t_bar * x\n"),
        ("x_bar += (a + b) * x\n", "x_bar += 2.0 * (a + b) * x\n"),
    ],
)
def test_equal_additions(one, both):
    assert run(one * 2) == both
    loop = "for i in range(3):\n"
    assert run(loop + ("    " + one) * 2) == loop + "    " + both


@pytest.mark.parametrize(
    "text",
    [
        "x_bar += t_bar * x_bar\n" * 2,
        "x_bar[i] += t_bar * x_bar[j]\n" * 2,
        "x_bar[x_bar[0]] += t_bar * y\n" * 2,
        "x_bar *= t_bar * y\n" * 2,
        "x_bar += g(t_bar) * y\n" * 2,
        "x_bar += t_bar * y\nx_bar -= t_bar * y\n",
        "x_bar += t_bar * y\nt_bar = y\nx_bar += t_bar * y\n",
        "x_bar[i] += t_bar * y\nx_bar[j] += t_bar * y\n",
    ],
)
def test_not_where_the_second_adds_something_else(text):
    assert run(text) == text


def test_views_count_as_the_shadow():
    text = "x_bar += t_bar * row_bar\n" * 2
    assert run(text, {"x_bar": frozenset({"row_bar"})}) == text
    assert run(text) != text
