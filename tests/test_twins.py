"""Tangents are apart where values are, also where the arithmetic between them comes to nothing."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from slopes import check

import s2sad


def mean_of_same(x):
    z = x * x
    w = 0.5 * z + 0.5 * z
    w[0] *= 3.0
    return np.sum(w * z)


def factors_cancel(x):
    z = x * x
    w = 0.5 * (2.0 * z)
    w[0] *= 3.0
    return np.sum(w * z)


def minus_twice(x):
    z = x * x
    w = -(-z)
    w[0] *= 3.0
    return np.sum(w * z)


def both_written(x):
    z = x * x
    w = 1.5 * z - 0.5 * z
    for i in range(2):
        w[i] *= z[i]
        z[i] += w[i]
    return np.sum(w * z)


def of_a_view(x):
    z = x * x
    v = z[1:]
    w = 0.5 * v + 0.5 * v
    z[2] *= x[0]
    return np.sum(w * z[:2])


def rows(x):
    z = x * x
    w = np.zeros((2, 3))
    w[0] = 0.5 * z + 0.5 * z
    y = 0.5 * w[0] + 0.5 * w[0]
    y *= z
    w[1] = 2.0 * y - y
    y[1] = 0.0
    return np.sum(w * z) + np.sum(y)


def substitution(x):
    """The gradient of the last line is `0.5 * z + 0.5 * z`, a shadow that is written."""
    z = x.copy()
    for i in range(len(z)):
        z[i] = z[i] - x[0] * x[i] * math.sin(np.sum(z[:i]))
    return 0.5 * z @ z


def diagonals(x):
    """What puts cotangents on a diagonal is a call, which takes tangents in all directions."""
    A = np.outer(x, x * x)
    A[0, 0] *= A[1, 1]
    off = A - np.diag(np.diag(A))
    return np.sum(np.diag(A) * np.arange(3)) + np.sum(off**2)


def contracted(x):
    """Of two operands einsum makes a new array; of one it may be a view."""
    A = np.einsum("i,j->ij", x, x)
    A[0] += x
    B = np.einsum("ij,jk->ik", A, A)
    B[1:] -= A[:-1]
    return np.sum(B * B)


def same(z):
    return 0.5 * z + 0.5 * z


def both(z):
    return {"mean": 0.5 * z + 0.5 * z, "given": [z, -(-z)]}


def of_called(x):
    z = x * x
    a, b = z, same(z)
    a[0] *= 3.0
    b[1] *= x[0]
    return np.sum(a * b * z)


def number_stored(x):
    x[...] = math.prod([t for t in x])
    x[1] = math.prod([2.0 * t for t in x])
    return np.sum(x)


class Two(NamedTuple):
    one: np.ndarray
    other: np.ndarray


def taken(held):
    return held.get("a")


def got_by_key(x):
    z = x * x
    held = {"a": z, "b": {"c": 2.0 * z}}
    first = held.get("a", x)
    first[0] = x[1] * first[1]
    held.get("b").get("c")[1] *= x[0]
    held.get("d", z)[2] *= x[0]
    taken(held)[1] += x[2]
    return np.sum(z * held["b"]["c"])


def got_or_none(x):
    z = x * x
    held = {"a": z, "b": 2.0 * z}
    first = held.get("a")
    if first is not None:
        first[0] = x[1] * first[1]
    return np.sum(z * held["b"])


def in_named_tuples(x):
    z = x * x
    two = Two(z, z * x)
    two.one[0] = x[1] * z[2]
    other = two._replace(other=two.one)
    other.other[1] *= x[0]
    return np.sum(z * two.other)


def of_structures(x):
    z = x * x
    more = both(z)
    z[0] *= 3.0
    more["mean"][2] *= z[1]
    more["given"][1][0] *= x[1]
    return np.sum(z * more["mean"] * more["given"][1])


PROGRAMS = (
    diagonals,
    of_called,
    number_stored,
    *(mean_of_same, factors_cancel, minus_twice, both_written, of_a_view, rows, substitution),
)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_apart(f):
    x, d, h = np.array([0.7, -1.3, 1.9]), np.array([0.3, 0.2, 0.7]), 1e-4
    check(f, x)
    gradient = s2sad.grad(f)
    near = [gradient(x + k * h * d) for k in (1, -1, 2, -2)]
    slope = (8 * (near[0] - near[1]) - (near[2] - near[3])) / (12 * h)
    assert s2sad.hvp(f, (x,), (d,)) == pytest.approx(slope, rel=1e-7, abs=1e-8)
    several = s2sad.jacobian(gradient, mode="forward")(x)
    assert several @ d == pytest.approx(slope, rel=1e-7, abs=1e-8)


def test_structures():
    for f in (of_structures, got_by_key, got_or_none, in_named_tuples):
        check(f, np.array([0.7, -1.3, 1.9]))


def test_results_are_the_callers():
    x, d = np.ones(3), np.arange(3.0)
    for f in (same, lambda x: -(-x)):
        assert not np.shares_memory(s2sad.jvp(f, (x,), (d,))[1], d)


class Grid:
    def __init__(self, u, v):
        self.u, self.v, self.log = u, v, []

    def lap(self, a):
        return np.roll(a, 1) + np.roll(a, -1) - 2 * a

    def step(self, dt, feed, kill):
        uvv = self.u * self.v * self.v
        self.u += dt * (0.1 * self.lap(self.u) - uvv + feed * (1 - self.u))
        self.v = self.v + dt * (0.05 * self.lap(self.v) + uvv - (feed + kill) * self.v)
        self.log.append(0.5 if kill is None else self.v.max())


def reacted(g, feed, kill):
    """The tape of the gradient holds what the log of the object does, and is another list."""
    for n in range(4):
        g.step(0.1, feed, kill)
        if n == 2:
            g.u[g.u > 1.0] = 1.0
    return np.sum(g.v**2) + g.log[-1] - g.log[0]


def test_tapes_beside_lists():
    u, v, h = np.array([0.7, 0.3, 1.9]), np.array([0.3, 0.2, 0.7]), 1e-5
    gradient = s2sad.grad(reacted, wrt=(1, 2))

    def at(k):
        return np.array(gradient(Grid(u.copy(), v.copy()), 0.04 + k * h, 0.06))

    found = s2sad.hvp(reacted, (Grid(u, v), 0.04, 0.06), (None, 1.0, 0.0))
    assert np.array(found[-2:]) == pytest.approx((at(1) - at(-1)) / (2 * h), rel=1e-6)


def test_pivots():
    x, d, h = np.array([[0.3, 1.2], [-0.7, 0.4]]), np.array([[0.3, 0.2], [0.7, -0.4]]), 1e-5

    def pivoted(A):
        A = A.copy()
        p = int(np.argmax(np.abs(A[:, 0])))
        A[[0, p]] = A[[p, 0]]
        A[1:, 0] /= A[0, 0]
        A[1:, 1:] -= np.outer(A[1:, 0], A[0, 1:])
        return np.sum(np.diag(A) ** 2)

    gradient = s2sad.grad(pivoted)
    slope = (gradient(x + h * d) - gradient(x - h * d)) / (2 * h)
    assert s2sad.hvp(pivoted, (x,), (d,)) == pytest.approx(slope, rel=1e-7)


def test_einsum_makes_new_arrays():
    x, d, h = np.array([0.7, -1.3, 1.9]), np.array([0.3, 0.2, 0.7]), 1e-5
    check(contracted, x)
    gradient = s2sad.grad(contracted)
    assert "shadow" not in gradient.source(x)
    slope = (gradient(x + h * d) - gradient(x - h * d)) / (2 * h)
    assert s2sad.hvp(contracted, (x,), (d,)) == pytest.approx(slope, rel=1e-7)


def parted(a, w):
    parts = np.split(a, [2])
    return np.sum(parts[0] ** 2 * w) + np.sum(parts[1]) * parts[0][0]


def test_views_of_arrays_in_lists():
    """What a rule makes of a list of arrays may lie in the memory of each of them."""
    a, w, along = np.arange(1.0, 6.0), np.array([0.5, 2.0]), np.cos(np.arange(5.0))
    gradient = s2sad.grad(parted)
    _, found = s2sad.jvp(gradient, (a, w), (along, None))
    step = 1e-5 * along
    wanted = (gradient(a + step, w) - gradient(a - step, w)) / 2e-5
    np.testing.assert_allclose(found, wanted, rtol=1e-8)


VIEWS = {
    "ii->i": lambda A: np.einsum("ii->i", A),
    "ij->ji": lambda A: np.einsum("ij->ji", A, optimize=True),
    "...j->j...": lambda A: np.einsum("...j->j...", A),
    "ij->j": lambda A: np.einsum("ij->j", A),
    "same shapes": lambda A: np.broadcast_arrays(A, A)[0],
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_that_rules_push(name):
    """The tangent of a view that is written is one of the tangent: of a copy, a copy."""
    view = VIEWS[name]

    def written(A, x):
        A = A * x
        d = view(A)
        d *= x
        A[0] += d[1]
        return np.sum(A * A) + np.sum(np.sin(d))

    A, x = np.linspace(0.3, 1.2, 9).reshape(3, 3), 1.7
    h, along = 1e-6, np.cos(A)
    got = s2sad.jvp(written, (A, x), (along, 0.4))[1]
    slope = (written(A + h * along, x + h * 0.4) - written(A - h * along, x - h * 0.4)) / (2 * h)
    assert got == pytest.approx(slope, rel=1e-7)


def chosen_by_a_generator(x):
    z = x * x
    first = next(part for part in [z, 2.0 * z] if part[0] > -1.0)
    first[0] = x[1] * first[1]
    return np.sum(z * x)


def test_what_may_be_another_is_refused():
    with pytest.raises(s2sad.Error):
        s2sad.jvp(chosen_by_a_generator, (np.ones(3),), (np.ones(3),))
