"""debug_nans: what is finite comes out as ever, what is not names the user's line and sweep."""

import pickle
import sys

import numpy as np
import pytest
from corpus import PROGRAMS
from properties import leaves

import s2sad
from s2sad import grad, value_and_grad
from s2sad.api import Operator
from s2sad.operators.derived import Options
from s2sad.tree import map_leaves

X = np.array([1.0, 2.0, 3.0])


def chain(x, y):
    t = x - y
    r = np.sqrt(t)  # here
    s = np.log(1.0 + r)
    return np.sum(s * x)


def huge(x):
    z = np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0)
    w = np.exp(x * 1000.0)  # here
    return np.sum(z + 1.0 / w)


def stepped(x):
    best = np.inf
    total = 0.0
    for i in range(len(x)):
        best = min(best, x[i])
        total += root(x[i] - best)
    return total


def root(v):
    return np.sqrt(v) * 2.0  # here


def fills(x):
    y = np.zeros(3)
    y[1:] = x[1:]
    y[0] = 1.0
    y *= 1.0 / (x - 2.0)  # here
    return np.sum(y * y)


def logged(v):
    w = np.log(v)  # here
    return 2.0 * w


def calls(x):
    total = 0.0
    for i in range(3):
        if i == 1:
            total += np.sum(logged(x - 2.0))
        else:
            total += np.sum(x * i)
    return total


def joined(x):
    total = 0.0
    for i in range(3):
        y = np.sqrt(np.abs(x) * i)  # here
        total = total + np.sum(y)
    return total


CASES = [
    (calls, (X,), "forward", "nan"),
    (joined, (X,), "backward", "nan"),
    (chain, (X, np.array([5.0, 0.0, 0.0])), "forward", "nan"),
    (chain, (X, np.array([1.0, 0.0, 0.0])), "backward", "infinity"),
    (huge, (X,), "forward", "infinity"),
    (stepped, (X,), "backward", "infinity"),
    (fills, (X,), "forward", "infinity"),
]


WHERE = {stepped: root, calls: logged}


def line_of(f):
    with open(__file__) as file:
        lines = file.read().splitlines()
    start = f.__code__.co_firstlineno
    return next(i for i in range(start, len(lines)) if "# here" in lines[i - 1])


@pytest.mark.parametrize("f, args, sweep, what", CASES)
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_line_and_sweep(f, args, sweep, what):
    for operator in (grad, value_and_grad):
        derivative = operator(f, debug_nans=True)
        for _ in range(2):
            with pytest.raises(s2sad.NotFiniteError) as raised:
                derivative(*args)
        said = raised.value
        assert isinstance(said, FloatingPointError) and isinstance(said, s2sad.Error)
        assert f"{what} first arises in the {sweep} sweep" in said.reason
        assert said.place.line == line_of(WHERE.get(f, f)), str(said)


def least(x):
    best = np.inf
    for v in x:
        best = min(best, v)
    return best * 2.0


def masked(x):
    safe = np.where(x > 1.5, x, 2.0)
    return np.sum(np.where(x > 1.5, 1.0 / (safe - 1.0), 0.0))


@pytest.mark.parametrize("f", [least, masked])
def test_finite_ones_come_out_as_ever(f):
    before = sys.gettrace()
    assert np.array_equal(grad(f, debug_nans=True)(X), grad(f)(X))
    value, gradient = value_and_grad(f, debug_nans=True)(X)
    assert value == f(X) and np.array_equal(gradient, grad(f)(X))
    assert sys.gettrace() is before


def test_masked_infinities_are_no_matter():
    with np.errstate(all="ignore"):
        got = grad(lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)), debug_nans=True)(X - 1.0)
    assert np.array_equal(got, [0.0, 1.0, 0.5])


def test_nan_from_outside():
    with pytest.raises(s2sad.NotFiniteError, match="Check the arguments"):
        grad(lambda x: np.sum(x * x), debug_nans=True)(np.array([1.0, np.nan]))


def test_methods_and_pickles():
    class Model:
        w = 0.0

        def loss(self, x):
            return np.sum(np.sqrt(x * self.w))

    with np.errstate(all="ignore"), pytest.raises(s2sad.NotFiniteError):
        grad(Model().loss, debug_nans=True)(X)
    again = pickle.loads(pickle.dumps(grad(least, debug_nans=True)))
    assert type(again) is type(grad(least, debug_nans=True)) and np.array_equal(
        again(X), grad(least)(X)
    )


def test_a_hook_that_makes_nan():
    def spoils(g):
        worse = np.log(-g)  # here
        return worse

    def hooked(x):
        return np.sum(s2sad.adjoint_hook(x * x, spoils))

    with np.errstate(all="ignore"), pytest.raises(s2sad.NotFiniteError) as raised:
        grad(hooked, debug_nans=True)(X)
    assert raised.value.place.line == line_of(spoils) and "backward" in raised.value.reason


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_cotangents_of_plain_texts_are_those_of_polished_ones(name):
    program = PROGRAMS[name]
    found = []
    for plain in (False, True):
        options = Options("vjp", program.wrt, plain=plain)
        y, pullback = Operator(program.f, options)(*program.arguments())
        ones = map_leaves(lambda leaf: type(leaf)(1) if np.ndim(leaf) == 0 else leaf * 0 + 1, y)
        found.append(leaves(pullback(ones)))
    assert found[0] == pytest.approx(found[1], rel=1e-9, abs=1e-12, nan_ok=True)
