"""Derivatives of all programs of the tests: gradients, pullbacks and shadows beside tangents."""

import contextlib
import copy
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
from s2sad.operators.deriving import loaded, printed
from s2sad.operators.higher import HIGHER
from s2sad.requests import Request

pytestmark = pytest.mark.filterwarnings("ignore")
HELD = {h.name: h for h in held()}
HOOKED = "inside.hooking."  # what a hook does to cotangents, tangents do not see
NARROW = (np.dtype("float16"), np.dtype("float32"), np.dtype("complex64"))


def derived(request):
    """Return the function that is derived for a request, and its text."""
    d = pipeline.derive(request, HIGHER)
    text = printed(d)
    return loaded(text, d)[d.entry], text.text


def asked(p, mode):
    """Return the request for a derivative of a program of the tests."""
    if not isinstance(p.f, types.FunctionType):
        pytest.skip("no plain function")
    bound = inspect.signature(p.f).bind(*p.arguments())
    bound.apply_defaults()
    params = tuple((n, K.kind_of(v, n)) for n, v in bound.arguments.items())
    wrt = tuple(params[i][0] for i in p.wrt)
    return Request(p.f, params, wrt, len(wrt) == 1, mode)


def found(request):
    """Return the function that is derived for a request, unless that is refused."""
    try:
        return derived(request)[0]
    except (s2sad.Error, TypeError, ValueError, RecursionError):
        pytest.skip("refused")


def outcome(p, fn, mode):
    """Return what a derived function gives, and the arguments that it leaves."""
    parameters = inspect.signature(p.f).parameters.values()
    bound = inspect.signature(p.f).bind(*p.arguments())
    bound.apply_defaults()
    given = dict(bound.arguments)
    by_name = {q.name: given[q.name] for q in parameters if q.kind is q.KEYWORD_ONLY}
    by_place = [v for n, v in given.items() if n not in by_name]
    more = list(inspect.signature(fn).parameters)[len(parameters) :]
    arguments = p.arguments()
    told = [direction(arguments[i], 0.2 + at) for at, i in enumerate(p.wrt)]
    random.seed(0)
    np.random.seed(0)
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        found = fn(*by_place, **by_name, **dict(zip(more, told, strict=False)))
        if mode == "vjp":
            found = pulled(*found, by_place)
    return found, given


def pulled(value, pullback, arguments):
    """Return a value and what its pullback gives, also when others have changed what they have."""
    seed, kept = direction(value, 0.3), copy.deepcopy(value)
    spoil(arguments)
    once = leaves([pullback(seed)])
    spoil(value)
    np.testing.assert_array_equal(leaves([pullback(seed)]), once)
    return kept, once


def spoil(value):
    """Change all arrays of floats in a structure."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.flags.writeable:
        value[...] = 7.25
    elif isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            spoil(part)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        spoil(vars(value))


def pytest_generate_tests(metafunc):
    if "name" not in metafunc.fixturenames:
        return
    marks = pytest.mark.sampled(20)
    every = [n if n.startswith("golden.") else pytest.param(n, marks=marks) for n in HELD]
    metafunc.parametrize("name", every)


def ran(p, fn, mode):
    """Return what a derived function gives, and the arguments that it leaves, unless it raises."""
    try:
        return outcome(p, fn, mode)
    except (ArithmeticError, LookupError, TypeError, ValueError, AssertionError):
        pytest.skip("raises")


def is_variadic(p):
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(q.kind in variadic for q in inspect.signature(p.f).parameters.values())


def test_tangents_are_gradients_along_directions(name):
    """What the program gives is what the function gives, and moves as reverse mode says."""
    p = HELD[name].make()
    request = asked(p, "jvp")
    if is_variadic(p) or name.startswith(HOOKED):
        pytest.skip("arguments of any number, or a hook")
    forward = found(request)
    reverse = found(dataclasses.replace(request, mode="value_and_grad"))
    (value, gradient), left = ran(p, reverse, "value_and_grad")
    (got, moved), also_left = outcome(p, forward, "jvp")
    assert same(value, got)
    assert same(left, also_left)
    bars = leaves([gradient])
    if any(map(np.iscomplexobj, bars)):
        pytest.skip("complex numbers")
    dots = leaves([direction(p.arguments()[i], 0.2 + at) for at, i in enumerate(p.wrt)])
    terms = [np.vdot(bar, dot) for bar, dot in zip(bars, dots, strict=True)]
    narrow = any(np.asarray(bar).dtype in (np.float16, np.float32) for bar in bars)
    exact = 1e-3 if narrow else 1e-8
    size = 1.0 + sum(map(abs, terms))
    np.testing.assert_allclose(moved, sum(terms), rtol=exact, atol=exact * size)


def test_pullbacks_are_gradients_times_seeds(name):
    p = HELD[name].make()
    request = asked(p, "value_and_grad")
    if is_variadic(p) or name.startswith(HOOKED):
        pytest.skip("arguments of any number, or a hook")
    both = found(request)
    reverse = found(dataclasses.replace(request, mode="vjp"))
    (value, gradient), _ = ran(p, both, "value_and_grad")
    (got, bars), _ = ran(p, reverse, "vjp")
    assert same(value, got)
    narrow = any(getattr(v, "dtype", None) in NARROW for v in p.arguments())
    rtol, atol = (1e-5, 1e-6) if narrow else (1e-10, 1e-12)
    scaled = [direction(value, 0.3) * bar for bar in leaves([gradient])]
    np.testing.assert_allclose(bars, scaled, rtol=rtol, atol=atol)


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __add__(self, other):
        return Pair(self.a + other.a, self.b * other.b)

    def __radd__(self, number):
        return Pair(self.a * number, self.b)

    def __getitem__(self, i):
        return self.a[i] * self.b[i]


def added_pairs(x):
    pair = Pair(x, x * 2) + Pair(x * 3, x)
    other = 2.0 + pair
    return np.sum(pair.a * other.b) + other[1] * other.a[0]


def entries_scaled(x):
    table = {"a": x * 1.0, "b": x**2}
    total = 0.0
    for _, v in table.items():
        v *= x[0]
        total += np.sum(v)
    return total * sum(np.sum(v) for v in table.values())


def late_binding(x):
    def scaled():
        return y * x[1]

    y = x[0] * 3
    first = scaled()
    y = y * 2
    return first + scaled()


def reversed_views(x):
    parts = [x * 1.0, x[::-1] * 2, x**2]
    for part in reversed(parts):
        part[0] += 1
        part[1:] *= part[0]
    return np.sum(parts[0] * parts[1] * parts[2])


def transposed_anew(x):
    M = np.outer(x, x)
    row = M[1]
    M = M.T
    M[0] = row * x[0]
    row[2] = x[1]
    return np.sum(M**2)


@pytest.mark.parametrize(
    "f", [added_pairs, entries_scaled, late_binding, reversed_views, transposed_anew]
)
def test_of_central_differences(f):
    x, direction_of_x = np.array([0.3, 0.7, 1.1]), np.array([0.4, -0.2, 0.5])
    request = Request(f, (("x", K.kind_of(x, "x")),), ("x",), False, "jvp")
    fn, _ = derived(request)
    value, moved = fn(x, direction_of_x)
    step = 1e-6 * direction_of_x
    np.testing.assert_allclose(value, f(x), rtol=1e-12)
    np.testing.assert_allclose(moved, (f(x + step) - f(x - step)) / 2e-6, rtol=1e-6)
