"""What is known of functions in one derivation: analyses, kinds of calls, signatures."""

import functools
import inspect

import numpy as np
import pytest

from s2sad import kinds as K
from s2sad.facts.passing import rebase
from s2sad.steps.binding import bind_kinds
from s2sad.steps.callables import signature_of
from s2sad.steps.derivation import Derivation, analyse, memory_of

ARRAY = K.kind_of(np.ones((2, 3)), "x")


def g(a, b=2.0, *more, c, d=None, **rest):
    return a


def test_an_analysis_is_made_once_per_kinds():
    d = Derivation()
    first = analyse(d, square, {"x": K.FLOAT})
    assert analyse(d, square, {"x": K.FLOAT}) is first
    assert analyse(d, square, {"x": ARRAY}) is not first
    assert memory_of(d, first) is memory_of(d, first)


def square(x):
    return x * x


def power(x, n):
    return x if n < 1 else x * power(x, n - 1)


def test_recursion_has_a_kind():
    d = Derivation()
    result = analyse(d, power, {"x": K.FLOAT, "n": K.INT}).kinds.result
    assert isinstance(result, K.Num) and result.type == "float"
    assert not d.open


@pytest.mark.parametrize(
    "args, keywords",
    [
        ((1.0,), {"c": 2.0}),
        ((1.0, 3.0, 4.0, 5.0), {"c": 2.0, "e": "text"}),
        ((), {"a": 1.0, "c": np.ones(3), "d": 1}),
    ],
)
def test_arguments_are_bound_as_python_does(args, keywords):
    given = [K.kind_of(a, "") for a in args]
    named = {k: K.kind_of(v, "") for k, v in keywords.items()}
    fn, params, extra = bind_kinds(K.Known(g), given, named, {})
    bound = inspect.signature(g).bind(*args, **keywords)
    bound.apply_defaults()
    assert fn is g and extra == () and list(params) == list(bound.arguments)
    for name, value in bound.arguments.items():
        assert type(params[name]) is type(K.kind_of(value, name))


def test_what_cannot_be_bound():
    assert bind_kinds(K.Known(g), [], {}, {}) is None
    assert bind_kinds(K.Known(g), [K.FLOAT], {"c": K.FLOAT, "a": K.FLOAT}, {}) is None
    assert bind_kinds(K.FLOAT, [], {}, {}) is None


def test_partials_bring_their_arguments():
    part = functools.partial(g, 1, c="text")
    fn, params, _ = bind_kinds(K.Known(part), [K.FLOAT], {}, {})
    assert fn is g and isinstance(params["c"], K.Str)
    assert params["a"].type == "int" and params["b"].type == "float"


@pytest.mark.parametrize(
    "kind",
    [ARRAY, K.FLOAT, K.INT, K.kind_of((1.0, np.ones(2)), "t"), K.kind_of({"a": [1.0]}, "d")],
)
def test_rebase_renames_and_keeps_the_kind(kind):
    new = rebase(kind, "p", {})
    assert type(new) is type(kind) and K.describe(new) == K.describe(kind)
    assert rebase(new, "p", {}) == new


def test_a_length_of_one_survives_rebasing():
    kind = K.kind_of(np.ones((1, 4)), "x")
    assert rebase(kind, "p", {}).dims[0] == K.ONE
    assert rebase(kind, "p", {}).dims[1].symbol != kind.dims[1].symbol


def holds(x):
    def inner(a, b=-1.0, *more, c=None, **rest):
        return a * x

    return inner


def test_the_signature_of_an_inner_function():
    result = analyse(Derivation(), holds, {"x": K.FLOAT}).kinds.result
    assert isinstance(result, K.LocalFunction)
    ours, python = signature_of(result), inspect.signature(holds(1.0))
    assert [(p.name, p.kind, p.default) for p in ours.parameters.values()] == [
        (p.name, p.kind, p.default) for p in python.parameters.values()
    ]
