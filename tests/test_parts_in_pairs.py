"""Parts of one structure under several names at once: each adds to the same cotangent."""

import numpy as np
import pytest

import s2sad

P = np.array([[0.1, 0.2], [1.0, 0.5], [-0.5, 2.0]])


class Atom:
    def __init__(self, pos):
        self.pos = pos

    def pull(self, other):
        return self.pos[0] * other.pos[1]


class Box:
    def __init__(self, atoms):
        self.atoms = atoms


def pull(a, b):
    return a.pos[0] * b.pos[1]


def of_lists(a, b):
    return a[0] * b[1]


def of_parts(a, b):
    return a[0][0] * b[1][0]


def on_all(a, atoms):
    return a.pos[0] * sum([b.pos[1] for b in atoms])


def methods(p):
    atoms = [Atom(row) for row in p]
    total = 0.0
    for a in atoms:
        for b in atoms:
            total += a.pull(b)
    return total


def generators(p):
    atoms = [Atom(row) for row in p]
    return sum(pull(a, b) for a in atoms for b in atoms)


def floats(p):
    atoms = [Atom([v, 2.0 * v]) for v in p[0]]
    total = 0.0
    for a in atoms:
        for b in atoms:
            total += pull(a, b) * a.pos[1]
    return total


def with_the_whole(p):
    atoms = [Atom(row) for row in p]
    total = 0.0
    for a in atoms:
        total += on_all(a, atoms) * a.pos[1]
        for b in atoms:
            total += on_all(b, atoms) * pull(b, a) + pull(a, b)
    return total


def a_list_of_an_object(p):
    box = Box([Atom(row) for row in p])
    total = 0.0
    for a in box.atoms:
        for b in box.atoms:
            total += pull(a, b) * pull(b, a)
    return total


def a_dict(p):
    atoms = {"a": Atom(p[0]), "b": Atom(p[1])}
    total = 0.0
    for one in atoms:
        a = atoms[one]
        for other in atoms:
            total += pull(a, atoms[other])
    return total


def lists(p):
    rows = [[v for v in row] for row in p]
    total = 0.0
    for a in rows:
        for b in rows:
            total += of_lists(a, b)
    return total


def parts_of_parts(p):
    rows = [[[v] for v in row] for row in p]
    total = 0.0
    for a in rows:
        first = a[0]
        for b in rows:
            total += of_parts(a, b) + first[0] ** 2 + of_parts([first, first], b)
    return total


def one_beside_all(p):
    atoms = [Atom(row) for row in p]
    total = 0.0
    a = atoms[1]
    for b in atoms:
        total += pull(a, b)
    return total + on_all(a, atoms)


PROGRAMS = (
    *(methods, generators, floats, with_the_whole, a_list_of_an_object, a_dict, lists),
    *(parts_of_parts, one_beside_all),
)


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradient(f):
    expected = np.zeros_like(P)
    for i in np.ndindex(P.shape):
        step = np.zeros_like(P)
        step[i] = 1e-6
        expected[i] = (f(P + step) - f(P - step)) / 2e-6
    np.testing.assert_allclose(s2sad.grad(f)(P), expected, atol=1e-8)
    np.testing.assert_allclose(s2sad.vjp(f, P)[1](1.0), expected, atol=1e-8)
    np.testing.assert_allclose(s2sad.jacobian(f, mode="forward")(P), expected, atol=1e-8)
