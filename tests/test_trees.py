"""tree_map and ravel in differentiated programs, held against differences."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from slopes import check

import s2sad
from s2sad import grad, jvp, ravel, tree_map

X = np.array([1.2, 0.7, -0.3, 0.4])
V = np.cos(X)
Pair = namedtuple("Pair", "w b")


@dataclass
class Layer:
    w: object
    b: object
    name: str = "layer"


class Plain:
    def __init__(self, w):
        self.w = w
        self.n = 3


def of_a_dict(x):
    p = {"a": x, "b": x[0] * 2, "n": 3, "s": "text"}
    q = tree_map(lambda a: a * a, p)
    return np.sum(q["a"]) * q["b"] * q["n"]


def of_two(x):
    q = tree_map(lambda a, b: a * b, (x, x[0]), (np.cos(x), x[1]))
    return np.sum(q[0]) * q[1]


def of_a_display_and_a_name(x):
    q = tree_map(np.multiply, [x, x * x], [x, x])
    return np.sum(q[0] * np.sin(q[1]))


def of_a_list_in_a_loop(x):
    ps = [x, 2.0 * x]
    for i in range(2):
        ps.append(ps[-1] * x[i])
    ps = tree_map(lambda a: np.sin(a), ps)
    return sum(np.sum(p) for p in ps)


def of_lists_of_tuples(ps, x):
    qs = tree_map(lambda a, b: a - 0.1 * b * x[0], ps, ps)
    s = 0.0
    for w, b in qs:
        s = s + np.sum(np.tanh(w @ x + b))
    return s


def of_a_dict_of_open_keys(d, x):
    q = tree_map(lambda a, b: a * b * x, d, d)
    return sum(np.sum(q[k]) for k in q)


def of_a_dict_in_a_dict(x):
    p = {"e": {"w": np.outer(x, x), "b": x}, "d": [x, x[1]]}
    q = tree_map(lambda a, b: a + np.sin(b), p, p)
    return np.sum(q["e"]["w"] @ q["e"]["b"]) * q["d"][1] + np.sum(q["d"][0])


def of_named_tuples(x):
    q = tree_map(lambda a: 2.0 * a, Pair(x, x[0]))
    return np.sum(q.w**2) * q.b


def of_a_dataclass(x):
    p = Layer(x, x[0])
    q = tree_map(lambda a, b: a * b, p, Layer(np.sin(x), x[1]))
    return np.sum(q.w) * q.b * len(q.name)


def of_an_object(x):
    q = tree_map(lambda a: a * a, Plain(x))
    return np.sum(q.w) * q.n


def with_none_beside(x):
    g = grad(lambda p: np.sum(p["a"] ** 3) * p["n"])({"a": x, "n": 2, "s": None})
    q = tree_map(lambda a, b: a - b, {"a": x, "n": 2, "s": None}, g)
    return np.sum(q["a"] ** 2)


def that_is_shared(x):
    p = {"a": x * 1.0, "b": x * 2.0}
    q = tree_map(lambda a: a, p)
    q["a"][0] = x[1]
    return np.sum(p["a"] * q["b"])


def of_a_captured_rate(x):
    p = (x, x[0])
    for k in range(3):
        rate = 0.1 * x[k]
        p = tree_map(lambda a, b: a - rate * b, p, (np.sin(p[0]), p[1] ** 2))
    return np.sum(p[0]) * p[1]


def by_a_function(x):
    def moved(a, b=2.0):
        return a * b

    return np.sum(tree_map(moved, {"a": x})["a"] ** 2)


def loss(p, x, y):
    h = np.tanh(p["w"] @ x + p["b"])
    return np.mean((h - y) ** 2)


def trained(x):
    p = {"w": np.outer(x, np.cos(x))[:3], "b": x[:3] * 0.1}
    for _ in range(2):
        p = tree_map(lambda a, g: a - 0.1 * g, p, grad(loss)(p, x, 0.3))
    return loss(p, x, 0.1)


def step(loss_of, p, rate):
    return tree_map(lambda a, g: a - rate * g, p, grad(loss_of)(p))


def by_several_tasks(p, rate):
    def task(p, t):
        return loss(p, X * t, 0.2 * t)

    total = 0.0
    for t in (0.5, 1.5):
        total = total + task(step(lambda q: task(q, t), p, rate), t)
    return total


def raveled(x):
    p = {"w": np.outer(x, x), "b": x, "n": 3, "s": x[0] * 2, "t": (x[1], 0.5)}
    v, unravel = ravel(p)
    q = unravel(v * 2.0)
    return np.sum(q["w"] @ q["b"]) * q["s"] * q["t"][0] * q["n"] + q["t"][1] + np.sum(v)


def raveled_in_a_loss(x):
    v, unravel = ravel({"w": np.outer(x, x)[:3], "b": x[:3]})
    g = grad(lambda u: loss(unravel(u), x, 0.3))(v)
    return loss(unravel(v - 0.1 * g), x, 0.3) + np.sum(g * v)


def raveled_pair(x):
    made = ravel([x, np.outer(x, x), Pair(x[0], x)])
    q = made[1](np.sin(made[0]))
    return np.sum(q[1] @ q[0]) * q[2].w


PARAMS = {"w": np.outer(np.cos(X), X)[:3], "b": X[:3] * 0.1}
LAYERS = [(np.outer(X, X), X), (np.outer(X, V), V)]
PROGRAMS = {
    of_a_dict: (X,),
    of_two: (X,),
    of_a_display_and_a_name: (X,),
    of_a_list_in_a_loop: (X,),
    of_lists_of_tuples: (LAYERS, X),
    of_a_dict_of_open_keys: ({k: X * k for k in range(1, 40)}, X),
    of_a_dict_in_a_dict: (X,),
    of_named_tuples: (X,),
    of_a_dataclass: (X,),
    of_an_object: (X,),
    with_none_beside: (X,),
    that_is_shared: (X,),
    of_a_captured_rate: (X,),
    by_a_function: (X,),
    trained: (X,),
    by_several_tasks: (PARAMS, 0.1),
    raveled: (X,),
    raveled_in_a_loss: (X,),
    raveled_pair: (X,),
}


@pytest.mark.parametrize(
    ("f", "args"), [pytest.param(*i, id=i[0].__name__) for i in PROGRAMS.items()]
)
def test_beside_differences(f, args):
    check(f, *args)
    value, _ = s2sad.vjp(f, *args)
    assert value == f(*args)


@pytest.mark.parametrize("f", [trained, of_a_dict_in_a_dict, raveled])
def test_second_derivatives(f):
    gradient = grad(f)
    wanted = (gradient(X + 1e-6 * V) - gradient(X - 1e-6 * V)) / 2e-6
    assert jvp(gradient, (X,), (V,))[1] == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert s2sad.vjp(gradient, X)[1](V) == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_structures_that_do_not_match():
    def f(ps, qs):
        made = tree_map(lambda a, b: a * b, ps, qs)
        return sum(np.sum(m) for m in made)

    with pytest.raises(ValueError, match="do not match"):
        grad(f)([X, X], [X, X, X])


def test_text():
    def f(p):
        q = tree_map(np.sin, p)
        return np.sum(q["a"] * q["b"])

    text = grad(f).source({"a": X, "b": X})
    assert "tree_map" not in text.replace("q = tree_map(np.sin, p)", "")
    assert "s2sad" not in text


def test_the_way_back_from_outside():
    """What ravel gave is called in what is differentiated: as optimisers want it."""
    p = {"w": np.outer(X, X), "b": 1.5, "n": 3, "l": [(X, 0.5), (V, 1.5)]}
    vector, unravel = ravel(p)

    def cost(p):
        s = np.sum(np.tanh(p["w"])) * p["b"] * p["n"]
        for a, b in p["l"]:
            s = s + np.sum(a**2) * b
        return s

    def flat(v):
        return cost(unravel(v))

    found = grad(flat)(vector)
    assert found == pytest.approx(ravel(grad(cost)(p))[0], rel=1e-12)
    check(flat, vector)
    along = np.cos(np.arange(len(vector)))
    wanted = (grad(flat)(vector + 1e-6 * along) - grad(flat)(vector - 1e-6 * along)) / 2e-6
    assert s2sad.hvp(flat, (vector,), (along,)) == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    with pytest.raises(ValueError, match="wants a vector"):
        grad(flat)(vector[:-1])
