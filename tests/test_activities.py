"""Activities as annotations, in their spellings, and around arguments."""

from __future__ import annotations

import types
from typing import Annotated, Any

import numpy as np
import pytest

import s2sad
from s2sad import Active, BatchDuplicated, Const, Duplicated
from s2sad.activities import Activity, annotated, plain_annotation


def define(head, future=False, **names):
    """Return f defined with these parameters, with or without annotations as text."""
    text = "from __future__ import annotations\n" if future else ""
    namespace = {"s2sad": s2sad, "np": np, "Annotated": Annotated, "Any": Any, **names}
    namespace |= {c.__name__: c for c in (Active, Const, Duplicated)}
    exec(f"{text}def f({head}):\n    return 0.0\n", namespace)
    return namespace["f"]


SPELLINGS = [
    "{}",
    "s2sad.{}",
    "{}[np.ndarray]",
    "{}[float | None]",
    "Annotated[np.ndarray, {}]",
    "Annotated[np.ndarray, 'a weight', {}]",
    "'{}'",
    "'{}[np.ndarray]'",
    "Annotated['np.ndarray', {}]",
]


@pytest.mark.parametrize("future", [False, True])
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("activity", [Active, Const, Duplicated])
def test_spellings(spelling, activity, future):
    f = define(f"x: {spelling.format(activity.__name__)}, y: float, z", future)
    assert annotated(f) == {"x": activity}


@pytest.mark.parametrize("spelling", ["Active[Unseen]", "Annotated[Unseen, Active]", "Active['X']"])
def test_types_for_checkers_only_do_not_hide_an_activity(spelling):
    assert annotated(define(f"x: {spelling}", future=True)) == {"x": Active}


@pytest.mark.parametrize(
    "spelling", ["Unseen", "Unseen.Active", "(", "1 + 2", "None", "f(x)", "''"]
)
def test_other_annotations_say_nothing(spelling):
    f = define("x")
    f.__annotations__["x"] = spelling
    assert annotated(f) == {}


def test_the_result_has_no_activity():
    f = define("x: Active")
    f.__annotations__["return"] = Active
    assert annotated(f) == {"x": Active}


def test_names_captured_by_a_closure():
    Mine = Active

    def f(x: Mine, y: Mine[float]):
        return Mine

    assert f.__annotations__["x"] == "Mine"
    assert annotated(f) == {"x": Active, "y": Active}


def test_all_kinds_of_parameters():
    f = define("a: Active, /, b: Const, *c: Active, d: Const = 1, **e: Const")
    assert annotated(f) == {"a": Active, "b": Const, "c": Active, "d": Const, "e": Const}


def test_the_base_is_no_activity():
    assert annotated(define("x: A", A=Activity)) == {}


def test_wrappers():
    x, bar = np.ones(2), np.zeros(2)
    assert Active(x).value is x and Const(x).value is x
    assert Duplicated(x, bar).value is x and Duplicated(x, bar).shadow is bar
    assert BatchDuplicated(x, (bar, bar)).shadows == (bar, bar)
    assert Active(x) != Active(x)
    with pytest.raises(AttributeError):
        Active(x).value = 1.0


def test_subscripts_keep_the_type():
    assert Active[np.ndarray] == Annotated[np.ndarray, Active]


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [("Active[float]", float), ("Annotated[int, Const]", int), ("'float'", float)],
)
def test_plain_annotations(spelling, expected):
    assert plain_annotation(define(f"x: {spelling}"), "x") is expected
    assert plain_annotation(define(f"x: {spelling}", future=True), "x") is expected


def test_plain_annotation_of_nothing():
    import inspect

    assert plain_annotation(define("x: Active"), "x") is inspect.Parameter.empty
    assert plain_annotation(define("x"), "x") is inspect.Parameter.empty
    assert isinstance(define("x"), types.FunctionType)
