"""Programs that write arrays in the structures that they are given.

Each is checked by tests/test_writes_containers.py, and by tests/test_autodiff_structures.py where
the structures have shadows.
"""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


X = np.array([0.7, 1.3, -0.4])
_generator = np.random.default_rng(11)


def r(*shape):
    return 0.5 * _generator.standard_normal(shape)


Pair = namedtuple("Pair", "A b")


# tuples


@prog((r(2, 3), r(3)), X)
def tuple_unpacked(p, x):
    A, b = p
    A[0] *= x
    b += A[0] * A[1]
    return np.sum(b * b)


@prog((r(2, 3), r(3), 1.5), X)
def tuple_with_a_number(p, x):
    A, b, s = p
    A[0] *= x
    b += A[0] * A[1] * s
    return np.sum(b * b) * s


@prog((r(2, 3), r(3)), X)
def tuple_by_index(p, x):
    A = p[0]
    A[0] *= x
    p[1][:] += A[0] * A[1]
    return np.sum(p[1] ** 2)


@prog(Pair(r(2, 3), r(3)), X)
def named_tuple(p, x):
    p.A[0] *= x
    p.b[:] += p.A[0] * p.A[1]
    return np.sum(p.b**2) * np.sum(p.A)


@prog((0.7, r(3, 3)), X)
def tuple_number_bound_anew(p, x):
    s, A = p
    A *= s
    if x[0] > 0.0:
        s = s * A[0, 0]
    return np.sum(A * A) * s


@prog((r(2, 3), r(3)), X)
def tuple_rows(p, x):
    A, b = p
    for row in A:
        row *= x
        b += row * b
    A = A * 2.0
    return np.sum(b * b) + np.sum(A[0] * p[0][1])


# objects, dicts and lists; some return nothing: the shadows of what they write are the seed

SHADOWED = []


def seeded(*args):
    def deco(f):
        SHADOWED.append((f, args))
        return f

    return deco


@dataclass
class Cell:
    W: np.ndarray
    h: np.ndarray

    def step(self, x):
        self.h[:] = np.tanh(self.W @ self.h + x)


class Model:
    def __init__(self, W, h, s=0.5):
        self.W = W
        self.h = h
        self.s = s
        self.steps = 0
        self.name = "model"

    def step(self, x):
        self.h = np.tanh(self.W @ self.h * self.s + x)
        self.steps += 1


class Deep:
    def __init__(self, cells, log):
        self.cells = cells
        self.log = log

    def step(self, x):
        for cell in self.cells:
            cell.h[:] = np.tanh(cell.W @ cell.h + x)
            x = cell.h
        self.log["last"][:] = x


@dataclass(frozen=True)
class Frozen:
    w: np.ndarray
    state: np.ndarray


@prog(Cell(r(3, 3), r(3)), X)
def object_array(p, x):
    p.h[:] = np.tanh(p.W @ p.h + x)
    p.h[0] *= p.h[1]
    return np.sum(p.h**2)


@prog(Cell(r(3, 3), r(3)), X)
def object_method(p, x):
    for _ in range(3):
        p.step(x)
    return np.sum(p.h**2)


@prog(Model(r(3, 3), r(3)), X)
def object_replaced(p, x):
    for _ in range(3):
        p.step(x)
    return np.sum(p.h**2) * p.s


@prog(Model(r(3, 3), r(3)), X)
def object_written_then_replaced(p, x):
    p.h *= x
    p.h = p.h * p.W[0]
    p.h[1:] *= p.h[:-1]
    p.s = p.s * p.h[0]
    return np.sum(p.h) * p.s


@prog(Deep([Cell(r(3, 3), r(3)), Cell(r(3, 3), r(3))], {"last": r(3)}), X)
def object_nested(p, x):
    p.step(x)
    p.step(x * p.log["last"])
    return np.sum(p.log["last"])


@prog([r(3), r(3), r(3)], X)
def list_of_arrays(p, x):
    for i in range(1, len(p)):
        p[i] *= p[i - 1] + x
    return np.sum(p[-1])


@prog({"a": r(3), "b": r(3), "n": 2, "s": 0.3}, X)
def dict_of_arrays(p, x):
    p["a"][1:] += p["b"][:-1] * p["a"][:-1] * p["s"]
    return np.sum(p["a"] * x) * p["n"]


@prog(Frozen(r(3), r(3)), X)
def frozen_object(p, x):
    p.state[:] = p.state * p.w + x
    p.state[0] *= p.state[1] * p.w[0]
    return np.sum(p.state)


@prog([(r(2, 2), r(2)), (r(2, 2), r(2))], r(2))
def list_of_tuples(p, x):
    for W, b in p:
        b[:] = np.tanh(W @ x + b)
        x = b * x
    return np.sum(x)


@prog({"grid": r(4, 4), "fields": [r(4, 4), r(4, 4)]}, 0.1)
def fields_of_a_simulation(state, rate):
    u, v = state["fields"][0], state["fields"][1]
    for _ in range(3):
        u[1:-1, 1:-1] += rate * (u[2:, 1:-1] + u[:-2, 1:-1] - v[1:-1, 1:-1] * u[1:-1, 1:-1])
        v[1:-1, 1:-1] -= rate * u[1:-1, 1:-1] * v[1:-1, 1:-1]
    state["grid"][:] = u * v
    return np.sum(state["grid"])


@prog([r(3), r(3)], X)
def list_items_exchanged(p, x):
    p[0], p[1] = p[1], p[0]
    p[0][:] = p[0] * x * p[1]
    return np.sum(p[0] * x) + np.sum(p[1] ** 2)


@prog([r(3), r(3)], X)
def list_items_exchanged_in_a_loop(p, x):
    for _ in range(3):
        p[0], p[1] = p[1], p[0]
        p[0][:] = p[0] * x * p[1]
        p[1][0] *= p[0][1]
    return np.sum(p[0] * x) + np.sum(p[1] ** 2)


@prog(Model(r(3, 3), r(3)), X)
def object_arrays_exchanged(p, x):
    p.h, old = x * p.h, p.h
    old[0] = p.h[1] * old[2]
    for _ in range(2):
        p.h, old = old, p.h
        old *= p.h
    return np.sum(p.h * old[0])


@prog([r(3), r(3), r(3)], X)
def replaced_by_products_in_a_loop(p, x):
    """What is cheap to have again is not the memory that it was."""
    for c in [p[0], p[1]]:
        c *= x
    for _ in range(2):
        p[1] = p[2] * x
    return np.sum(p[1] * p[0])


@prog({"a": Model(r(3, 3), r(3)), "b": Model(r(3, 3), r(3)), "v": r(3)}, X)
def another_name_for_a_part(p, x):
    q = p["a"]
    t = x * 1.0
    t[0] += x[1] * p["v"][1]
    if x[0] > 0.0:
        q = p["b"]
    else:
        t = p["a"].h
    p["a"].s = q.s * x[0]
    q = p["a"]
    return np.sum(p["a"].h * p["b"].h) + np.sum(t)


@seeded(Cell(r(3, 3), r(3)), X)
def returns_nothing(p, x):
    for _ in range(2):
        p.step(x)


@seeded(Model(r(3, 3), r(3)), X)
def replaces_and_returns_nothing(p, x):
    for _ in range(2):
        p.step(x)


@seeded([r(3), r(3)], 0.7)
def scales_in_a_list(p, s):
    p[0] *= s
    p[1][:] = p[0] * p[1]


@seeded({"x": r(3), "buffer": np.zeros(3)}, X)
def workspace(p, w):
    buffer = p["buffer"]
    buffer[:] = w * p["x"]
    p["x"][:] = np.sin(buffer)


@seeded(([r(3), r(3)], r(3)), X)
def list_in_a_tuple_exchanged(p, x):
    rows, b = p
    rows[0], rows[1] = rows[1] * x, rows[0]
    rows[0][0] *= b[0]
    return np.sum(rows[0]) + np.sum(rows[1] * x)


@seeded(([r(3), r(3)], r(3)), X)
def list_in_a_tuple_or_what_is_beside(p, x):
    rows, b = p
    u = rows[0] if x[0] > 0.0 else b
    u[0] *= x[1]
    return np.sum(rows[0] * b)


@seeded(([r(3), r(3)], r(3)), X)
def list_in_a_tuple_replaced(p, x):
    rows, b = p
    rows[0] = rows[1] * x
    rows[1][0] = rows[0][1] * b[1]
    b[0] *= rows[0][2]


@seeded((r(2, 3), r(3)), X)
def tuple_nothing(p, x):
    A, b = p
    A[0] *= x
    b += A[0] * A[1]


@seeded([r(3), r(3)], X)
def exchanged(p, x):
    p[0], p[1] = p[1], p[0]
    p[0][:] = p[0] * x * p[1]


@seeded(Model(r(3, 3), r(3)), X)
def sometimes_replaced(p, x):
    if x[0] > 0.0:
        p.h = p.h * x
    else:
        p.h[:] = p.W @ x
    p.h[0] = p.s * p.h[1]


@seeded([r(3), r(3)], X)
def one_array_twice_in_the_end(p, x):
    p[0] = p[1]
    p[0][1] = x[0]


@seeded([r(3), r(3)], r(3))
def an_array_of_another_argument_in_the_end(p, x):
    p[0] = x
    p[0][1] = x[0] * p[1][0]
