"""Derivatives from program to program, beside those on the tree: the same numbers in both modes.

What the new passes cannot do yet they say with NotYet; the tree's passes do it until then.
"""

import contextlib
import dataclasses
import inspect
import io
import random
import types

import numpy as np
import pytest
from frozen_programs import held
from frozen_records import direction, leaves
from properties import same

import s2sad
from s2sad import kinds as K
from s2sad import pipeline
from s2sad.linear.tangent_table import NotYet
from s2sad.operators.deriving import loaded, printed
from s2sad.operators.higher import HIGHER
from s2sad.requests import Request

pytestmark = pytest.mark.filterwarnings("ignore")
HELD = {h.name: h for h in held()}


def derived(request):
    """Return the function that is derived for a request, and its text."""
    d = pipeline.derive(request, HIGHER)
    text = printed(d)
    return loaded(text, d)[d.entry], text.text


def both(p, mode):
    """Return what the passes on the tree, and on the program, make of a program of the tests."""
    bound = inspect.signature(p.f).bind(*p.arguments())
    bound.apply_defaults()
    params = tuple((n, K.kind_of(v, n)) for n, v in bound.arguments.items())
    wrt = tuple(params[i][0] for i in p.wrt)
    request = Request(p.f, params, wrt, len(wrt) == 1, mode)
    try:
        old, _ = derived(request)
    except (s2sad.Error, TypeError, ValueError, RecursionError):
        pytest.skip("refused")
    try:
        new, _ = derived(dataclasses.replace(request, on_program=True))
    except NotYet as why:
        pytest.skip(f"not yet: {why}")
    return old, new


def outcome(p, fn, mode):
    """Return what a derived function gives, and the arguments that it leaves."""
    parameters = inspect.signature(p.f).parameters.values()
    bound = inspect.signature(p.f).bind(*p.arguments())
    bound.apply_defaults()
    given = dict(bound.arguments)
    by_name = {q.name: given[q.name] for q in parameters if q.kind is q.KEYWORD_ONLY}
    by_place = [v for n, v in given.items() if n not in by_name]
    dots = list(inspect.signature(fn).parameters)[len(parameters) :]
    dots = dots if mode == "jvp" else []
    tangents = [direction(p.arguments()[i], 0.2 + at) for at, i in enumerate(p.wrt)]
    random.seed(0)
    np.random.seed(0)
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        return fn(*by_place, **by_name, **dict(zip(dots, tangents, strict=False))), given


def pytest_generate_tests(metafunc):
    marks = pytest.mark.sampled(20)
    every = [n if n.startswith("golden.") else pytest.param(n, marks=marks) for n in HELD]
    metafunc.parametrize("name", every)


@pytest.mark.parametrize("mode", ["jvp", "value_and_grad"])
def test_both_give_the_same(name, mode):
    p = HELD[name].make()
    if not isinstance(p.f, types.FunctionType):
        pytest.skip("no plain function")
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(q.kind in variadic for q in inspect.signature(p.f).parameters.values()):
        pytest.skip("arguments of any number")
    old, new = both(p, mode)
    try:
        (value, tangent), left = outcome(p, old, mode)
    except (ArithmeticError, LookupError, TypeError, ValueError, AssertionError):
        pytest.skip("raises")
    (got, moved), also_left = outcome(p, new, mode)
    assert same(value, got)
    assert same(left, also_left)
    np.testing.assert_allclose(leaves([moved]), leaves([tangent]), rtol=1e-10, atol=1e-12)
