"""A normalised function computes what the user's does, in the same order, in few shapes."""

import ast

import gast
import numpy as np
import pytest

from s2sad.capture.normalise import normalise
from s2sad.capture.read import read
from s2sad.nodes import walk


def docstring(z, x):
    x = z * z + x
    return x


def swaps(z, x):
    z, x = x * 2.0, z + 1.0
    (a, *b), c = (z, x, z * x), x
    d = e = a + c
    return d - e * b[1] + b[0]


def walrus(z, x):
    if (t := z + x) > 1.0 and (u := t * 2.0) > 0.5:
        return u + t
    return t


def chained(z, x):
    return (0.0 < z < x) + (z < x <= 2.0 != z) * 10.0 + (z or x) + (z and x)


def loops(z, x):
    s = 0.0
    for i, (a, b) in enumerate(zip([z, x, 3.0], reversed([1.0, 2.0, z]))):
        s += a * b - i
    for k in range(5, -1, -2):
        s = s * x + k
    for key, value in {"a": z, "b": x}.items():
        s -= value * len(key)
    return s


def comprehensions(z, x):
    xs = [a * x for a in (z, 2.0, x) if a > 0.2]
    return sum(a * a for a in xs) + max([a for a in xs], default=0.0) + len({a for a in xs})


def conditional(z, x):
    y = z if z > x else (x if x > 1.0 else -x)
    return y * (1.0 if not z else 2.0)


def matches(z, x):
    match (z, x):
        case (0.0, b):
            return b
        case (a, 0.5) if a > 1.0:
            return a * 2.0
        case _:
            return z * x


def inner(z, x):
    def g(a, b=2.0, *, c=3.0):
        return a * b + c

    h = lambda a: g(a, c=x) + z
    return h(x) + g(*(z, x))


def effects(z, x):
    seen = []

    def note(a):
        seen.append(a)
        return a

    y = note(z) * note(x) + note(z if note(x) > 1.0 else 3.0)
    return y, seen


FUNCTIONS = [
    *(docstring, swaps, walrus, chained, loops, comprehensions, conditional, matches, inner),
    effects,
]
INPUTS = [(0.0, 1.0), (0.7, 1.2), (1.5, 0.5), (-1.0, 2.5), (2.0, 0.0)]


def normalised(fn):
    source = read(fn)
    return normalise(source, source.node, set())


def compiled(function):
    space = {"np": np}
    module = gast.gast_to_ast(gast.Module([function.node], []))
    exec(compile(ast.unparse(module), "<normalised>", "exec"), space)
    return space[function.node.name]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_the_function_computes_the_same(fn):
    again = compiled(normalised(fn))
    for args in INPUTS:
        assert again(*args) == fn(*args)


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_few_shapes(fn):
    function = normalised(fn)
    nodes = list(walk(function.node))
    assert isinstance(function.node.body[-1], gast.Return)
    assert not any(isinstance(n, gast.NamedExpr) for n in nodes)
    assert all(n in function.loops for n in nodes if isinstance(n, gast.For))
    assert function.params == ("z", "x")
    assert function.temps <= function.locals


def test_the_example_of_the_docstring():
    *rest, last = normalised(docstring).node.body[:-1]
    assert isinstance(rest[0].value, gast.BinOp) and isinstance(rest[0].value.op, gast.Mult)
    assert rest[0].targets[0].id in normalised(docstring).temps
    assert last is not None


def test_the_user_s_function_is_left_alone():
    before = gast.dump(read(swaps).node)
    normalised(swaps)
    assert gast.dump(read(swaps).node) == before
