"""Comprehensions, lambdas and inner functions each have their scope: a name is that of one."""

import math

import gast
import numpy as np
import pytest
from slopes import check

from s2sad.syntax.flow import free_names

X = np.array([0.3, 0.5, 0.7])
a = 5.0


def in_a_lambda_and_around_it(x):
    f = lambda v: sum([a * a for a in v])
    return f(x) + sum([math.cos(a) for a in x])


def in_lambdas_with_defaults(x):
    f = lambda v, k=2.0: sum([a**k for a in v])
    g = lambda v: [math.exp(a) for a in v]
    return f(x) + sum(g(x)) + f(x, 3.0) + sum([a for a in x if a > 0.4])


def in_inner_functions(x):
    def norm(v):
        return math.sqrt(sum([e * e for e in v]))

    def dot(v, w):
        return sum([e * g for e, g in zip(v, w)])

    e = norm(x)
    return dot(x, [e * g for g in x]) / e


def nested_in_a_lambda(x):
    m = [[a * b for a in x] for b in x]
    f = lambda m: sum([sum([a for a in r]) for r in m])
    r = [f(m) * a for a in x]
    return sum(r) + sum([abs(m[i][i]) for i in range(3)])


def in_branches_and_loops(x):
    f = lambda v: np.sum(np.array([a * a for a in v]))
    s = f(x)
    if s > 0.1:
        s = s + sum([math.cos(a) for a in x])
    else:
        s = s - sum([a for a in x])
    while s > 0.5:
        s = s * 0.5 + sum([math.tanh(a) for a in x]) * 0.01
    return s


def in_a_function_in_a_function(x):
    def outer(v):
        def inner(w):
            return [a * w for a in v]

        return sum(inner(v[0])) + sum([a for a in v])

    return outer(x) + sum([a * outer(x) for a in x])


def in_a_dict(x):
    f = lambda v: {a: b * b for a, b in enumerate(v)}
    d = f(x)
    return sum([d[a] * b for a, b in enumerate(x)]) + sum(b for b in d.values())


def in_a_lambda_that_chooses(x):
    g = lambda v: sum(a * a for a in v) if len([a for a in v if a > 0]) else 0.0
    h = lambda v: any([a > 0.6 for a in v])
    return g(x) * (2.0 if h(x) else 1.0) + sum([math.log(a) for a in x if h(x)])


def a_global_of_that_name(x):
    f = lambda v: a * sum([b * b for b in v])  # global a
    return f(x) + sum([a * b for a, b in zip(x, x)])


def named_inside(x):
    def f(v):
        s = [n := b * b for b in v]
        return sum(s) + n

    n = x[1]
    return f(x) * n


def a_lambda_in_a_lambda(x):
    f = lambda v: [lambda w: w * u for u in v][0](v[1])
    u = x[2]
    return f(x) * u + sum([u * w for w in x])


def in_functions_by_name(x):
    acts = {"sq": lambda v: [a * a for a in v], "id": lambda v: [a for a in v]}
    s = 0.0
    for name in ("sq", "id"):
        s += sum(acts[name](x))
    a = s * 2.0
    return a


def a_global_read_later(x):
    f = lambda: a
    d = {a: b for a, b in enumerate(x)}
    t = [f() * a for a in x]
    return sum(t) + d[0] * f()


def a_global_in_a_lambda_in_a_lambda(x):
    f = lambda v: (lambda w: w * a + sum([a for a in v]))(v[0])
    return f(x) + sum(map(lambda a: a * a, x))


def a_global_in_a_loop(x):
    s = 0.0
    for k in [a for a in x]:
        s = s + k * (lambda: a)()
    return s


PROGRAMS = (
    in_a_lambda_and_around_it,
    in_lambdas_with_defaults,
    in_inner_functions,
    nested_in_a_lambda,
    in_branches_and_loops,
    in_a_function_in_a_function,
    in_a_dict,
    in_a_lambda_that_chooses,
    a_global_of_that_name,
    named_inside,
    a_lambda_in_a_lambda,
    in_functions_by_name,
    a_global_read_later,
    a_global_in_a_lambda_in_a_lambda,
    a_global_in_a_loop,
)


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient(f):
    check(f, X)


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("lambda v: sum([a * b for a in v])", "b sum"),
        ("lambda v: [a for a in a]", "a"),
        ("lambda v: [[a * c for a in b] for b in v if b > d]", "c d"),
        ("lambda v, w=a: {a: w for a in v}", "a"),
        ("lambda v: (lambda u: u * w)(v)", "w"),
        ("lambda v: [t for x[i] in v]", "i t x"),
        ("def f(v):\n    s = [n := b for b in v]\n    return n + m", "m"),
        ("def f(v):\n    def g(u):\n        return u * v * w\n    return g(v)", "w"),
        ("def f(v):\n    nonlocal n\n    n = 1.0", "n"),
        ("def f(v):\n    t += v", ""),
    ],
)
def test_free_names(text, free):
    [s] = gast.parse(text).body
    assert " ".join(sorted(free_names(getattr(s, "value", s)))) == free
