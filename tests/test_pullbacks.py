"""Pullbacks can be pickled where their function can, with what their forward sweep kept."""

import copy
import functools
import math
import pickle
import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import s2sad

Pair = namedtuple("Pair", "a b")


@dataclass
class Rates:
    birth: float
    death: np.ndarray


class Model:
    def __init__(self, scale):
        self.scale = scale

    def energy(self, x):
        return self.scale * np.sum(x * x * x)


def square(x):
    return x * x


def loop(x, w):
    h = 0.0
    for v in x:
        if v > 0.0:
            h = np.tanh(w * h + v)
    return h * x


def in_place(u, steps):
    for _ in range(steps):
        u[1:-1] = u[1:-1] * u[2:] - u[:-2]
    return u * 2.0


def structures(pair, rates, table):
    y = pair.a * rates.death + rates.birth * table["k"]
    return {"y": y, "s": [pair.b * rates.birth, 1]}


def recursive(x, n):
    return x if n == 0 else np.sin(recursive(x, n - 1)) * x


def helper(x):
    return np.exp(-x * x)


def calls(x):
    return helper(x) + helper(2.0 * x)


@s2sad.differentiate
def decorated(x):
    return np.sum(np.cos(x))


X = np.array([0.3, -0.2, 0.9])
CASES = [
    (square, (3.0,), 2.0),
    (square, (X,), X),
    (square, (X.astype(np.float32),), X),
    (loop, (X, 0.3), X),
    (in_place, (X, 3), X),
    (
        structures,
        (Pair(2.0, 3.0), Rates(0.5, X), {"k": X}),
        {"y": X, "s": [1.0, None]},
    ),
    (recursive, (0.7, 3), 1.0),
    (calls, (X,), X),
    (decorated, (X,), 1.0),
    (Model(3.0).energy, (X,), 1.0),
]


def same(one, other):
    if isinstance(one, np.ndarray):
        return type(other) is type(one) and np.array_equal(one, other) and one.dtype == other.dtype
    if isinstance(one, tuple | list):
        return type(one) is type(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, Rates):
        return same(vars(one), vars(other))
    return one == other


@pytest.mark.parametrize("f, args, dy", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_a_pickled_pullback_gives_the_same(f, args, dy):
    _, pullback = s2sad.vjp(f, *copy.deepcopy(args))
    pickled = pickle.dumps(pullback)
    expected = pullback(dy)
    restored = pickle.loads(pickled)
    assert same(restored(dy), expected)
    assert same(pickle.loads(pickle.dumps(restored))(dy), expected)
    with pytest.raises((TypeError, ValueError)):
        restored("no cotangent")


def star(*args):
    return args[0] * args[1] ** 2


class Scale:
    def __init__(self, by):
        self.by = by

    def all(self, *args):
        return sum(self.by * a for a in args)


@pytest.mark.parametrize(
    "f, args, dy",
    [
        (np.sin, (2.0,), 1.0),
        (math.sin, (2.0,), 1.0),
        (np.add.reduce, (X,), 1.0),
        (np.sum, (np.ones((2, 3)), 0), np.ones(3)),
        (functools.partial(np.sum, axis=1), (np.ones((2, 3)),), np.ones(2)),
        (np.linalg.norm, (X,), 1.0),
        (star, (2.0, 3.0), 1.0),
        (Scale(3.0).all, (X, 2.0 * X), np.ones(3)),
    ],
)
def test_a_function_of_any_arguments_is_pickled_by_its_name(f, args, dy):
    _, pullback = s2sad.vjp(f, *args)
    pickled = pickle.dumps(pullback)
    assert same(pickle.loads(pickled)(dy), pullback(dy))
    assert same(pickle.loads(pickle.dumps(pickle.loads(pickled)))(dy), pullback(dy))


def test_a_part_of_any_arguments():
    _, pullback = s2sad.vjp(star, 2.0, 3.0, wrt=1)
    assert pickle.loads(pickle.dumps(pullback))(1.0) == pullback(1.0) == 12.0


def with_aux(x):
    return np.sum(x**3), {"n": 3}


def test_with_aux():
    _, pullback, _ = s2sad.vjp(with_aux, X, has_aux=True)
    assert np.array_equal(pickle.loads(pickle.dumps(pullback))(1.0), 3.0 * X**2)


def test_a_stack_of_cotangents():
    _, pullback = s2sad.vjp(square, X)
    rows = pickle.loads(pickle.dumps(pullback)).rows(np.eye(3))
    assert np.array_equal(rows, np.diag(2.0 * X))


def test_what_the_caller_changes_later_does_not_matter():
    x = X.copy()
    _, pullback = s2sad.vjp(square, x)
    x[:] = 100.0
    assert np.array_equal(pickle.loads(pickle.dumps(pullback))(np.ones(3)), 2.0 * X)


def test_of_a_local_function_as_pickle_says():
    _, pullback = s2sad.vjp(lambda x: x * x, 3.0)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(pullback)


READER = """
import pickle, sys
import numpy as np
print(pickle.load(open(sys.argv[1], "rb"))(np.ones(3)).tolist())
"""


def test_in_another_process(tmp_path):
    (tmp_path / "model_of_pullbacks.py").write_text(
        "import numpy as np\n\n\ndef f(x):\n    for _ in range(3):\n        x = np.sin(x) * x\n"
        "    return x\n"
    )
    writer = (
        "import pickle, s2sad, numpy as np, model_of_pullbacks as m\n"
        "y, pullback = s2sad.vjp(m.f, np.array([0.3, -0.2, 0.9]))\n"
        "pickle.dump(pullback, open('p.pickle', 'wb'))\n"
        "print(pullback(np.ones(3)).tolist())\n"
    )
    (tmp_path / "writer.py").write_text(writer)
    (tmp_path / "reader.py").write_text(READER)

    def run(*args):
        done = subprocess.run(
            [sys.executable, *args], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert run("writer.py") == run("reader.py", "p.pickle")
