"""Guard clauses are another way to write the same branches."""

import ast
import math

import gast
import pytest

import s2sad
from s2sad.polish.guards import guards

BLOCKS = {
    "docstring": """
        for x in xs:
            if x < 0.0:
                pass
            else:
                s = s * x + 1.0
        """,
    "nan": """
        for x in xs:
            if x < 1.0:
                pass
            else:
                s = s + 1.0
            s = s * 2.0
        """,
    "equal": """
        if s == 1.0:
            pass
        else:
            s = 5.0
        """,
    "not": """
        if not xs:
            pass
        else:
            s = 7.0
        """,
    "break": """
        for x in xs:
            if x > 2.0:
                s = s + 10.0
                break
            else:
                s = s + x
        """,
    "chain": """
        for x in xs:
            if x > 2.0:
                pass
            elif x > 1.0:
                s = s + 1.0
            else:
                s = s - 1.0
        """,
    "nested": """
        for x in xs:
            for y in xs:
                if x > y:
                    pass
                else:
                    if y > 1.0:
                        pass
                    else:
                        s = s + x * y
            if s > 3.0:
                pass
            else:
                s = s + 0.5
        """,
    "both empty": """
        for x in xs:
            if x > 1.0:
                pass
            else:
                pass
        """,
}


def parsed(name):
    text = "\n".join(line[8:] for line in BLOCKS[name].splitlines())
    return gast.parse(text).body


def shown(block):
    return ast.unparse(gast.gast_to_ast(gast.Module(block, [])))


def run(block, xs, s):
    space = {"xs": xs, "s": s}
    exec(compile(shown(block), "<block>", "exec"), space)
    return space["s"]


@pytest.mark.parametrize("name", BLOCKS)
def test_the_results_are_the_same(name):
    for xs in ([], [0.5], [-1.0, 1.5, 3.0, 0.2], [3.0, 1.0], [math.nan, 1.0]):
        for s in (1.0, 2.0):
            assert run(guards(parsed(name)), xs, s) == pytest.approx(
                run(parsed(name), xs, s), nan_ok=True
            )


def test_the_example_of_the_docstring():
    assert shown(guards(parsed("docstring"))) == (
        "for x in xs:\n    if x < 0.0:\n        continue\n    s = s * x + 1.0"
    )


def test_order_comparisons_are_not_turned_around():
    assert "x >= 1.0" not in shown(guards(parsed("nan")))


def tries(x):
    try:
        unused = x * 2.0  # noqa: F841
    finally:
        pass
    try:
        print("trying")
    except (ValueError, TypeError):
        print("failing")
    return x * x


def test_a_try_statement_in_which_nothing_is_left_goes():
    text = s2sad.grad(tries).source(2.0)
    assert text.count("try:") == 1 and "else:" not in text and "finally:" not in text
    assert s2sad.grad(tries)(2.0) == 4.0
