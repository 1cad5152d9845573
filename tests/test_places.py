"""Where arguments are written: found before the program runs, held against what it does write."""

from __future__ import annotations

import copy
from collections import namedtuple

import numpy as np
import pytest

import s2sad
from s2sad.runtime import stands_at
from tests.writing_containers import PROGRAMS as CONTAINERS
from tests.writing_given import PROGRAMS as GIVEN
from tests.writing_given import Cell, Model, Pair, r
from tests.writing_objects import PROGRAMS as OBJECTS
from tests.writing_structures import PROGRAMS as STRUCTURES

X = np.array([0.7, 1.3, -0.4])
Named = namedtuple("Named", "first second")
OTHERS = []


def program(*args):
    def deco(f):
        OTHERS.append((f, args))
        return f

    return deco


def cells():
    return [Cell(r(3, 3), r(3)), Cell(r(3, 3), r(3))]


@program(cells(), X)
def by_loop(p, x):
    for c in p:
        c.h *= x
    return np.sum(p[1].h)


@program(cells(), X)
def by_index(p, x):
    p[1].h[0] = x[0]
    p[-1].h[1] *= x[1]
    return np.sum(p[1].h)


@program(cells(), X)
def by_output(p, x):
    for i, c in enumerate(p):
        np.multiply(c.h, x * i, out=c.h)
    return np.sum(p[1].h)


@program({"a": cells(), "b": {"c": r(3), "d": r(3)}}, X)
def deep(p, x):
    p["a"][0].h[1:] *= p["b"]["c"][1:]
    q = p["b"]
    q["d"][:] = x
    return np.sum(p["a"][0].h * q["d"])


@program([r(3), r(3), r(3)], X)
def through_a_local_list(p, x):
    t = [p[0], p[2]]
    t[1][0] = x[0]
    return np.sum(p[2])


@program([r(3), r(3), r(3)], X)
def unpacked(p, x):
    a, b, c = p
    b *= x
    return np.sum(b * c)


@program([r(3), r(3), r(3)], X)
def exchanged(p, x):
    p[0], p[1] = p[1], p[0]
    p[0][0] = x[0]
    return np.sum(p[0] * p[2])


@program([r(3), r(3), r(3)], X)
def popped(p, x):
    p = list(p)
    a = p.pop(0)
    p[0][0] = a[1] * x[0]
    return np.sum(p[0])


@program({"a": r(3), "b": r(3)}, X)
def chosen(p, x):
    q = p["a"] if x[0] > 0.0 else p["b"]
    q[0] = x[1]
    return np.sum(p["a"])


@program({"a": r(3), "b": r(3)}, X)
def by_keys(p, x):
    for k in ("a", "b"):
        p[k] *= x
    return np.sum(p["a"] * p["b"])


@program({"a": r(3), "b": r(3)}, X)
def by_values(p, x):
    for v in p.values():
        v[0] = x[0]
    return np.sum(p["a"] * p["b"])


@program([r(3), r(3)], [r(3), r(3)])
def zipped(p, q):
    for a, b in zip(p, q):
        a += b
    return np.sum(p[0] * p[1])


@program({"A": r(2, 3), "b": r(3)}, X)
def by_views(p, x):
    for row in p["A"]:
        row *= x
    p["A"].T[0] = 1.0
    return np.sum(p["A"] * p["b"])


def fill(a, v):
    a[:] = v * v


def second(p):
    return p["b"]


@program({"a": r(3), "b": r(3)}, X)
def by_calls(p, x):
    fill(p["a"], x)
    q = second(p)
    q[0] = x[1]
    return np.sum(p["a"] * p["b"])


@program({"a": r(3), "b": r(3), "c": r(3)}, X)
def by_library(p, x):
    np.multiply(p["a"], x, out=p["a"])
    p["b"].sort()
    np.add.at(p["c"], np.array([0, 0]), x[:2])
    return np.sum(p["a"] * p["b"] * p["c"])


@program(Named(r(3), r(3)), X)
def by_names_of_a_tuple(p, x):
    p.second[0] = x[0]
    return np.sum(p.second * p.first)


@program([Pair(r(2, 3), r(3)), Pair(r(2, 3), r(3))], X)
def tuples_in_a_list(p, x):
    for q in p:
        q.b[0] = x[0]
    p[0][0][1] = x
    return np.sum(p[1].b) * np.sum(p[0].A)


@program(Model(r(3, 3), r(3)), X)
def replaced_by_a_part(p, x):
    p.h = p.W[0]
    p.h[0] = x[0]
    return np.sum(p.W @ p.h)


@program(Model(r(3, 3), r(3)), X)
def captured(p, x):
    def put(v):
        p.h[:] = v

    put(x * x)
    return np.sum(p.h)


def arrays(x, path=()):
    """Yield the arrays of a structure with their paths."""
    if isinstance(x, np.ndarray):
        yield path, x
        return
    parts = enumerate(x) if isinstance(x, list | tuple) else ()
    if isinstance(x, dict) or hasattr(x, "__dict__"):
        parts = (x if isinstance(x, dict) else vars(x)).items()
    for step, part in parts:
        yield from arrays(part, (*path, step))


def written_in(f, args):
    """Return where derived code says that it writes, by parameter."""
    operator = s2sad.grad(f, wrt=tuple(range(len(args))))
    operator(*copy.deepcopy(list(args)))
    ((entry,),) = operator._derived.entries.values()
    return entry.bound.written


CASES = [*OTHERS, *GIVEN, *OBJECTS, *STRUCTURES, *CONTAINERS]
CASES = [(f, args) for f, args in CASES if any(path for a in args for path, _ in arrays(a))]


@pytest.mark.parametrize("f, args", [pytest.param(f, a, id=f.__name__) for f, a in CASES])
def test_what_is_written_is_known_before(f, args):
    try:
        written = written_in(f, args)
    except s2sad.UnsupportedError:
        pytest.skip("refused")
    given = copy.deepcopy(list(args))
    names = f.__code__.co_varnames
    before = [[(path, a, a.copy()) for path, a in arrays(arg)] for arg in given]
    f(*given)
    for name, parts in zip(names, before, strict=False):
        for path, array, content in parts:
            changed = not np.array_equal(array, content)
            assert not changed or stands_at(path, written.arrays.get(name, ())), (name, path)


@pytest.mark.parametrize(
    ("f", "places"),
    [
        (by_loop, {"p": ((None, "h"),)}),
        (by_index, {"p": ((1, "h"), (None, "h"))}),
        (deep, {"p": (("a", 0, "h"), ("b", "d"))}),
        (by_keys, {"p": ((None,),)}),
        (by_views, {"p": (("A",),)}),
        (by_calls, {"p": (("a",), ("b",))}),
        (by_names_of_a_tuple, {"p": ((...,),)}),
        (exchanged, {"p": ((...,),)}),
    ],
)
def test_places(f, places):
    assert written_in(f, dict(OTHERS)[f]).arrays == places


@pytest.mark.parametrize(
    ("path", "places", "found"),
    [
        ((), ((),), True),
        ((0,), ((),), False),
        ((0, "h"), ((None, "h"),), True),
        ((0, "W"), ((None, "h"),), False),
        ((0, "h", "x"), ((None, "h"),), False),
        ((0, "h", "x"), ((0, ...),), True),
        ((0,), ((0, ...),), True),
        ((1,), ((0, ...),), False),
        (("x",), ((...,),), True),
        ((), (), False),
    ],
)
def test_stands_at(path, places, found):
    assert stands_at(path, places) is found
