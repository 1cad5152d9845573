"""Random numbers in differentiated functions: drawn once, as in the plain call."""

import random
from dataclasses import dataclass

import numpy as np
import pytest

import s2sad

X = np.array([0.3, 1.2, 2.2])
new = np.random.default_rng
OUTSIDE = new(11)


def noise_added(x):
    rng = new(0)
    return np.sum((x + 0.1 * rng.normal(size=3)) ** 2) + x[0] * rng.random()


def given(x, rng):
    return np.sum(x * rng.standard_normal(3))


def in_a_loop(x):
    rng = new(0)
    s = 0.0
    for _ in range(5):
        s += x[0] * rng.normal() + x[1] ** 2 * rng.uniform(0, 1)
    return s


def of_the_module(x):
    np.random.seed(0)
    return np.sum(x**2 * np.random.randn(3)) + x[0] * np.random.rand()


def old_style(x):
    rng = np.random.RandomState(0)
    return np.sum(x * rng.randn(3)) + np.sum(rng.normal(x, x**2) ** 2)


def of_the_standard_library(x):
    random.seed(3)
    s = random.gauss(x[0], x[1]) ** 2 + random.uniform(x[0], x[1]) ** 3
    return s + x[2] * random.random()


def indices(x):
    rng = new(0)
    order = rng.permutation(3)
    s = np.sum(x[order] ** 2 * np.arange(3)) + np.sum(x[rng.integers(0, 3, size=5)])
    return s + x[rng.choice(3)] ** 2 + x[rng.choice(5, size=3, replace=False)[0] % 3]


def mask(x):
    rng = new(0)
    kept = rng.random(3) < 0.5
    return np.sum(np.where(kept, x, 0) ** 2)


def not_used(x):
    rng = new(0)
    rng.random(5)
    _ = rng.normal()
    return x[0] * rng.random()


def in_a_test(x):
    rng = new(0)
    while (u := rng.random()) < 0.7:
        x = x * u
    return np.sum(x**2)


def noisy(x, rng):
    return x + rng.normal(size=x.shape)


def called(x):
    rng = new(0)
    s = 0.0
    for _ in range(3):
        s = s + np.sum(noisy(x, rng) ** 2) * np.sum(noisy(x, rng) ** 3)
    return s


def comprehension(x):
    rng = new(0)
    a = [rng.normal() * v for v in x]
    b = np.array([rng.random() for _ in range(3)])
    return sum(a) ** 2 + np.sum(b * x * x) + sum(rng.normal() * v for v in x)


def closure(x):
    rng = new(0)

    def eps(s):
        return s * rng.standard_normal(3)

    f = lambda y: y * eps(1.0)  # noqa: E731
    return np.sum(f(x) ** 2) + np.sum(f(eps(x)) ** 2)


class Dropout:
    def __init__(self, p, seed):
        self.p = p
        self.rng = new(seed)

    def __call__(self, x):
        return x * (self.rng.random(x.shape) > self.p) / (1 - self.p)


def dropout(x):
    drop = Dropout(0.5, 1)
    for _ in range(3):
        x = np.tanh(drop(x) + 1)
    return np.sum(x)


def paths(x, n=20):
    rng = new(0)
    total = 0.0
    for _ in range(n):
        s = x[0]
        for _ in range(4):
            s = s * np.exp((x[1] - 0.5 * x[2] ** 2) * 0.1 + x[2] * 0.3 * rng.standard_normal())
        total += max(s - 0.2, 0.0)
    return total / n


def metropolis(x):
    rng = new(1)
    y, s = x[0], 0.0
    for _ in range(10):
        proposed = y + x[1] * rng.normal()
        if rng.uniform() < np.exp(-0.5 * (proposed**2 - y**2)):
            y = proposed
        s += y * y
    return s


def in_place(x):
    rng = new(1)
    y = np.zeros((5, 3))
    y[0] = x
    for k in range(1, 5):
        y[k] = y[k - 1] + 0.1 * np.sin(y[k - 1]) + 0.1 * rng.normal(0, x, 3)
    y += rng.normal(scale=0.1, size=y.shape)
    return np.sum(y**2)


def steps(x, n, rng):
    return x if n == 0 else steps(x * rng.normal(1.0, 0.1), n - 1, rng)


def recursive(x):
    return np.sum(steps(x, 4, new(0)) ** 2)


def reparametrised(x):
    rng = new(0)
    mean, log_scale = x * 2, np.sin(x)
    z = rng.normal(mean, np.exp(log_scale), size=(4, 3))
    return np.sum(z**2)


def scalars(x):
    rng = new(0)
    s = 0.0
    for _ in range(6):
        y = rng.normal(s, x[1])
        s = s + y * x[0] + rng.exponential(x[2]) if y > 0 else s * 0.5 + rng.uniform(x[0], x[1])
    return s


def by_keywords(x):
    rng = new(0)
    s = np.sum(rng.normal(loc=x[0], size=5) ** 2) + np.sum(rng.gumbel(scale=x) ** 2)
    return s + np.sum(rng.laplace(x[0], x[1], size=(2,)) ** 2)


def constants(x):
    rng = new(0)
    s = np.sum(rng.multivariate_normal(np.zeros(3), np.eye(3)) * x) + rng.poisson(3.0) * x[0]
    s = (
        s
        + np.sum(rng.dirichlet(np.ones(3)) * x)
        + np.sum(rng.choice([0.1, 0.2], 3, p=[0.3, 0.7]) * x)
    )
    return s + np.sum(rng.permuted(np.arange(3.0)) * x) + rng.binomial(10, 0.3) * x[1]


PROGRAMS = [
    *[noise_added, in_a_loop, of_the_module, old_style, of_the_standard_library, indices, mask],
    *[not_used, in_a_test, called, comprehension, closure, dropout, paths, metropolis, in_place],
    *[recursive, reparametrised, scalars, by_keywords, constants],
]


def slopes(fn):
    return [(fn(X + e) - fn(X - e)) / 2e-6 for e in np.eye(3) * 1e-6]


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_gradient(fn):
    value, gradient = s2sad.value_and_grad(fn)(X)
    assert value == fn(X)
    assert gradient == pytest.approx(slopes(fn), rel=1e-5, abs=1e-6)
    assert np.array_equal(s2sad.grad(fn)(X), gradient)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_pullback_draws_nothing(fn):
    value, pullback = s2sad.vjp(fn, X)
    first = pullback(np.float64(1.0))
    assert np.array_equal(pullback(np.float64(1.0)), first)
    assert first == pytest.approx(s2sad.grad(fn)(X))


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_tangent(fn):
    way = np.array([1.0, -0.5, 0.25])
    value, tangent = s2sad.jvp(fn, (X,), (way,))
    assert value == fn(X)
    assert tangent == pytest.approx(s2sad.grad(fn)(X) @ way, rel=1e-10)


def test_a_generator_advances_as_in_the_plain_call():
    one, other = new(5), new(5)
    s2sad.grad(given)(X, one)
    given(X, other)
    assert one.random() == other.random()


def from_outside(x):
    return np.sum(x * OUTSIDE.normal(size=3)) ** 2


def test_a_generator_of_the_module():
    state = OUTSIDE.bit_generator.state
    value = from_outside(X)
    OUTSIDE.bit_generator.state = state
    assert s2sad.value_and_grad(from_outside)(X)[0] == value


@dataclass
class Model:
    w: np.ndarray
    rng: np.random.Generator


def of_an_object(model):
    y = model.w
    for _ in range(2):
        y = np.tanh(y * model.rng.normal(size=3))
    return np.sum(y)


def test_a_generator_in_a_structure():
    gradient = s2sad.grad(of_an_object)(Model(X, new(3)))
    assert gradient.rng is None
    assert gradient.w == pytest.approx(slopes(lambda w: of_an_object(Model(w, new(3)))), rel=1e-6)


def drawn_from(x):
    return np.sum(new(0).choice(x, size=2) ** 2)


def permuted(x):
    return np.sum(new(0).permutation(x) * np.arange(3))


def shuffled(x):
    y = x.copy()
    new(0).shuffle(y)
    return np.sum(y * np.arange(3))


def of_no_rule(x):
    return np.sum(new(0).gamma(x))


def picked(x):
    return random.choice([x[0], x[1]]) * 2.0


@pytest.mark.parametrize("fn", [drawn_from, permuted, shuffled, of_no_rule, picked])
def test_refused(fn):
    with pytest.raises(s2sad.Error):
        s2sad.grad(fn)(X)


def test_the_refusal_says_how():
    with pytest.raises(s2sad.MissingRuleError, match=r"x\[rng\.permutation\(len\(x\)\)\]"):
        s2sad.grad(permuted)(X)
