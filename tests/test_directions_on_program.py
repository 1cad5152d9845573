"""Several directions abreast, from program to program: what each gives alone."""

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
from test_modes_on_program import derived

import s2sad
from s2sad import kinds as K
from s2sad.requests import Request

pytestmark = pytest.mark.filterwarnings("ignore")
HELD = {h.name: h for h in held()}
DIRECTIONS = (0.2, 1.9, 3.6)


def outcome(p, fn, seeds):
    """Return what a derived function gives along some directions, or along the only one."""
    parameters = inspect.signature(p.f).parameters.values()
    bound = inspect.signature(p.f).bind(*p.arguments())
    bound.apply_defaults()
    given = dict(bound.arguments)
    by_name = {q.name: given[q.name] for q in parameters if q.kind is q.KEYWORD_ONLY}
    by_place = [v for n, v in given.items() if n not in by_name]
    dots = list(inspect.signature(fn).parameters)[len(parameters) :]

    def along(at, i):
        made = [direction(p.arguments()[i], seed + at) for seed in seeds]
        return made[0] if len(seeds) == 1 else made

    tangents = [along(at, i) for at, i in enumerate(p.wrt)]
    random.seed(0)
    np.random.seed(0)
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        return fn(*by_place, **by_name, **dict(zip(dots, tangents, strict=True))), given


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        marks = pytest.mark.sampled(20)
        every = [n if n.startswith("golden.") else pytest.param(n, marks=marks) for n in HELD]
        metafunc.parametrize("name", every)


def test_each_direction_is_what_it_is_alone(name):
    p = HELD[name].make()
    if not isinstance(p.f, types.FunctionType):
        pytest.skip("no plain function")
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(q.kind in variadic for q in inspect.signature(p.f).parameters.values()):
        pytest.skip("arguments of any number")
    bound = inspect.signature(p.f).bind(*p.arguments())
    bound.apply_defaults()
    params = tuple((n, K.kind_of(v, n)) for n, v in bound.arguments.items())
    wrt = tuple(params[i][0] for i in p.wrt)
    request = Request(p.f, params, wrt, False, "jvp")
    try:
        one, _ = derived(request)
        several, _ = derived(dataclasses.replace(request, batch=True))
    except (s2sad.Error, TypeError, ValueError, RecursionError):
        pytest.skip("refused")
    try:
        alone = [outcome(p, one, (seed,)) for seed in DIRECTIONS]
    except (ArithmeticError, LookupError, TypeError, ValueError, AssertionError):
        pytest.skip("raises")
    (value, tangents), left = outcome(p, several, DIRECTIONS)
    assert len(tangents) == len(DIRECTIONS)
    for ((wanted, tangent), also_left), moved in zip(alone, tangents, strict=True):
        assert same(wanted, value)
        assert same(also_left, left)
        np.testing.assert_allclose(leaves([moved]), leaves([tangent]), rtol=1e-10, atol=1e-12)


def rounds(w, xs):
    h = 0.0
    for x in xs:
        if x > 0.0:
            h = np.tanh(w * h + x)
    return h


def filled(w, n):
    rows = []
    for i in range(n):
        u = np.zeros(3)
        u[i + 1 :] = w * w
        rows.append((u, w))
    return rows


def text(f, args, wrt):
    """Return the body of the text for several directions."""
    names = list(inspect.signature(f).parameters)
    params = tuple(zip(names, map(K.kind_of, args, names), strict=True))
    _, made = derived(Request(f, params, wrt, False, "jvp", batch=True))
    return made[made.index('"""\n') + 4 :]


def test_values_are_computed_once():
    """What only values are needed for stands before the loop over the directions."""
    body = text(rounds, (0.5, np.ones(3)), ("w",))
    assert "h_dots = [0.0 for _ in w_dots]" in body
    assert "[w_dot * h + h_dot * w for w_dot, h_dot in zip(w_dots, h_dots)]" in body
    assert body.count("np.tanh") == 1


def test_what_is_written_is_written_in_turn():
    """No two directions share memory: each has zeros of its own."""
    body = text(filled, (0.5, 2), ("w",))
    assert "u_dots = [np.zeros_like(u) for _ in w_dots]" in body
    assert "for w_dot, u_dot in zip(w_dots, u_dots):" in body
