"""Tests of counting.py, on small texts and on the hand-written targets."""

from textwrap import dedent

import pytest
from counting import Counts, count, excess
from targets import TARGETS


def counts(body):
    return count("def f(x, y):\n" + "\n".join("    " + line for line in dedent(body).splitlines()))


def test_a_docstring_and_comments_are_not_statements():
    text = '''
    """What f does."""
    # a comment
    return x
    '''
    assert counts(text) == Counts(1, {}, 0)


def test_compound_statements_count_with_their_bodies():
    text = """
    if x:
        y = 1
    elif y:
        y = 2
    else:
        y = 3
    return y
    """
    assert counts(text).statements == 6


def test_a_nested_function_counts_as_one_and_its_body():
    text = """
    def g(z=x + 1):
        "doc"
        return z * z
    return g
    """
    assert counts(text) == Counts(3, {0: 2}, 0)


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ("x", 0),
        ("-1.0", 0),
        ("-x", 1),
        ("not x", 1),
        ("x + y * 2.0", 2),
        ("x[0]", 1),
        ("x[-1]", 1),
        ("x[1:y + 1]", 2),
        ("0 < x < y", 2),
        ("f(x, -y)", 2),
        ("x.T @ y", 1),
        ("np.sum(x.copy())", 2),
        ("x if y > 0 else -x", 2),
        ("lambda: x + y", 1),
    ],
)
def test_operations(expression, number):
    assert counts(f"return {expression}").operations[0] == number


def test_an_augmented_assignment_is_an_operation_and_its_subscript_another():
    assert counts("x += y").operations == {0: 1}
    assert counts("x[i] += y").operations == {0: 2}


def test_operations_are_counted_by_depth_of_loops():
    text = """
    for i in range(x):
        y = y + 1
        while y > i:
            y = y * y
    else:
        y = y - 1
    """
    assert counts(text).operations == {0: 2, 1: 1, 2: 2}


def test_a_comprehension_is_a_loop_whose_first_iterable_is_outside():
    text = "return [u * v for u in range(x) for v in range(u) if u > v]"
    assert counts(text).operations == {0: 1, 1: 1, 2: 2}
    assert counts("return {u: u + 1 for u in x}").operations == {1: 1}


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("saved.append(x)", 1),
        ("saved.append((x, y))", 2),
        ("saved.append((x, (y, x.copy())))", 3),
        ("saved.append((x, 1))", 1),
        ("saved_rounds.append(rounds)", 1),
        ("states.append(x)", 0),
        ("x_0 = x", 1),
        ("x_1 = x", 1),
        ("x_0, y_0 = x, y", 2),
        ("x_0 = x.copy()", 1),
        ("x_0 = y", 0),
        ("x = x_0", 0),
        ("x_bar = x", 0),
    ],
)
def test_saved_values(statement, number):
    assert counts(statement).saved == number


def test_functions_are_added_up_by_name():
    text = "def f(x):\n    return x + 1\n\ndef g(x):\n    x_0 = x\n    return -x\n"
    assert count(text, ["f"]) == Counts(1, {0: 1}, 0)
    assert count(text, ["f", "g"]) == count(text) == Counts(3, {0: 2}, 1)


def test_excess_names_what_there_is_more_of():
    more = Counts(3, {0: 1, 1: 5}, 2)
    less = Counts(2, {0: 2, 1: 4}, 1)
    assert excess(less, less) == []
    assert excess(more, less) == [
        "statements: 3 > 2",
        "operations at loop depth 1: 5 > 4",
        "saved values: 2 > 1",
    ]


EXPECTED = {
    "straight_line": Counts(11, {0: 12}, 1),
    "branches": Counts(20, {0: 17}, 1),
    "recurrence": Counts(15, {0: 5, 1: 13}, 1),
    "enumerate_sum": Counts(4, {0: 4, 1: 2}, 0),
    "early_exit": Counts(24, {0: 4, 1: 13}, 1),
    "newton": Counts(14, {0: 1, 1: 16}, 1),
    "nested_loops": Counts(21, {0: 3, 1: 11, 2: 11}, 2),
    "least_squares": Counts(6, {0: 13}, 0),
    "calls": Counts(20, {0: 14, 1: 4}, 2),
}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.module)
def test_the_hand_written_targets(target):
    text = target.path.read_text(encoding="utf-8")
    assert count(text, [target.derived, *target.helpers]) == EXPECTED[target.module]
