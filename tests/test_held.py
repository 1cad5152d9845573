"""Objects that are called where other objects hold them: `self.first(x)`."""

import numpy as np
import pytest

import s2sad

X = np.array([1.5, -0.5])


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return self.scale * x

    @property
    def squared(self):
        return self.scale**2


class Net:
    def __init__(self):
        self.first, self.second = Scaled(2.0), Scaled(3.0)
        self.layers = [Scaled(0.5), Scaled(0.7)]
        self.table = {"a": Scaled(1.2)}
        self.squash = np.tanh

    def __call__(self, x):
        return self.second(self.squash(self.first(x)))


def in_methods(net, x):
    return np.sum(net(x))


def in_an_expression(net, x):
    return np.sum(net.first(x) * net.second(x) + net.first.squared)


def by_keyword(net, x):
    return np.sum(net.first(x=x)) + net.second(*[2.0])


def in_a_condition(net, x):
    y = net.first(x) if x[0] > 0.0 else net.second(x)
    if net.first(1.0) > 0.0:
        return np.sum(net.second(y))
    return np.sum(y)


def in_loops(net, x):
    total = 0.0
    for v in net.first(x):
        total += net.second(v)
    while net.first(total) < 20.0:
        total = total + net.second(1.0)
    return total


def in_comprehensions_and_lambdas(net, x):
    total = sum([net.first(v) for v in x]) + sum(map(net.second, x))
    return total + sum(map(lambda v: net.first(v), x)) + sum(layer(2.0) for layer in net.layers)


def in_inner_functions(net, x):
    def go(v):
        return net.first(v) + net.second.squared

    return go(2.0) + net.table["a"](1.0)


def that_are_replaced(net, x):
    y = np.zeros(2)
    y[0] += net.first(x)[0]
    net.first.scale = net.second(2.0)
    return np.sum(y) + np.sum(net.first(x))


FUNCTIONS = [
    in_methods,
    in_an_expression,
    by_keyword,
    in_a_condition,
    in_loops,
    in_comprehensions_and_lambdas,
    in_inner_functions,
    that_are_replaced,
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_a_called_object_holds_has_a_derivative(f):
    s2sad.check_grads(f, (Net(), X), order=1)


def test_the_gradient():
    g = s2sad.grad(lambda net, x: np.sum(net.first(x)))(Net(), X)
    assert (g.first.scale, g.second.scale) == (1.0, 0.0)


class Named:
    """Its attributes have the names of parameters of functions that make text."""

    def __init__(self, fn, cls):
        self.fn, self.cls, self.args, self.func, self.keywords = fn, cls, 0.5, 1.5, 2.5

    def __call__(self, x):
        return self.fn(x) * self.cls * self.args * self.func * self.keywords


def makes_named(scaled, x):
    return Named(scaled, x)(x)


def test_names_of_attributes():
    s2sad.check_grads(makes_named, (Scaled(2.0), 3.0))
    s2sad.check_grads(lambda named: named(2.0), (Named(Scaled(2.0), 3.0),))


class ByTable:
    def __init__(self, table):
        self.__dict__["table"] = table

    def __getattr__(self, name):
        return self.table[name]


def test_a_class_that_answers_to_names_by_a_table():
    """What it has not it says by a KeyError."""
    with pytest.raises(s2sad.UnsupportedError, match="the attribute a of ByTable"):
        s2sad.grad(lambda t: t.a * 2.0)(ByTable({"a": 2.0}))
