"""A normalised function computes what the user's does, in the same order, in few shapes."""

import ast

import gast
import numpy as np
import pytest
from slopes import check

import s2sad
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


def rebinds_array(x):
    s = 0.0
    for v in x:
        x = np.sin(x) * v
        s += v * x[0]
    return s + x[1]


def rebinds_list(x):
    rows, s = [x[0], x[1]], 0.0
    for v in rows:
        s = s + v * v
        rows = [v, s]
    return s + rows[0] * rows[1]


def rebinds_zipped(x):
    y, s = x * 1.5, 0.0
    for i, (a, b) in enumerate(zip(x, y)):
        s += i * a * b * b
        y = y * 2.0
    return s + y[0]


def rebinds_start(x):
    s, k = 0.0, 1
    for i, v in enumerate(x, k):
        k = k + 2
        s += i * v * v
    for i, v in zip(range(k, 20), x):
        k = k - 1
        s += i * v * v
    for i in reversed(range(k, k + 3)):
        k = k + 1
        s += i * x[i % 3] ** 2
    return s


def rebinds_rows(x):
    rows, s = [x, x * 2.0], 0.0
    for r in rows:
        for v in r:
            r = r * 2.0
            s += v * v
        rows = [r]
    return s + rows[0][0]


def binds_only(x):
    for i, v in enumerate(x):
        pass
    for k in range(2):
        w = v * k
    return v * i + w * k


@pytest.mark.parametrize(
    "fn",
    [rebinds_array, rebinds_list, rebinds_zipped, rebinds_start, rebinds_rows, binds_only],
)
def test_what_a_loop_runs_over_is_what_it_was_at_its_start(fn):
    check(fn, np.array([1.3, 2.1, 0.7]))


def paired(x, y):
    s = 0.0
    for a, b in zip(x, y, strict=True):
        s = s + a * b
    return s


def numbered(x, y):
    return sum(i * a * b for i, (a, b) in enumerate(zip(x, y, strict=True), 1))


def paired_on_demand(x, y, strict=True):
    return sum([a * b for a, b in zip(x, y, strict=strict)])


@pytest.mark.parametrize("f", [paired, numbered, paired_on_demand])
def test_a_strict_zip_is_strict(f):
    x, y = np.ones(3), np.ones(4)
    for fn in (f, s2sad.grad(f), lambda *args: s2sad.vjp(f, *args)):
        with pytest.raises(ValueError, match="zip"):
            fn(x, y)
    assert s2sad.grad(f)(x, y[:3]).shape == (3,)
    assert s2sad.grad(paired_on_demand)(x, y, False).tolist() == [1.0, 1.0, 1.0]


def left_early(x, y):
    for a, b in zip(x, y, strict=True):
        if a > 0.5:
            break
    return a * b


def backward_over_a_zip(x, y):
    for a, b in reversed(zip(x, y)):
        x = a * b
    return x


def from_a_half(x, y):
    for i, a in enumerate(x, 0.5):
        y = i * a
    return y


@pytest.mark.parametrize("f", [left_early, backward_over_a_zip, from_a_half])
def test_loops_that_are_refused(f):
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.grad(f)(np.ones(3), np.ones(3))


def keys_by_position(x, y):
    d = {"a": x[0], "b": x[1]}
    s = 0.0
    for i, k in enumerate(d, start=1):
        s = s + i * d[k] ** 2 * y
    for i, a in enumerate(iterable=x, start=2):
        s = s + i * a
    return s


def test_a_dict_is_not_read_by_position():
    assert s2sad.grad(keys_by_position)(np.ones(3), 3.0).tolist() == [8.0, 15.0, 4.0]
