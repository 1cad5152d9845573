"""Shadows of structures that hold arrays on a device, on the strict stand-in for a GPU."""

import dataclasses

import numpy as np
import pytest
import strict

import s2sad
from s2sad import runtime


@dataclasses.dataclass
class Layer:
    W: object
    b: object


@pytest.fixture(name="cp")
def installed():
    with strict.installed() as cupy:
        yield cupy


def test_shadow_of_structures(cp):
    x = cp.zeros((3, 4))
    held = {"a": [x, x[1:, ::2]], "l": Layer(x.T, cp.asarray([1, 2])), "n": (2.0, x[0])}
    shadows = {}
    made = runtime.shadow_of(shadows, held)
    assert type(made["a"][0]) is cp.ndarray and type(made["l"]) is Layer
    assert made["l"].b is None and made["n"][0] == 0.0
    made["a"][1] += 1.0
    made["l"].W += 1.0
    made["n"][1][...] += 1.0
    whole = np.ones((3, 4))
    whole[1:, ::2] += 1.0
    whole[0] += 1.0
    assert np.array_equal(made["a"][0].get(), whole)
    assert runtime.shadow_of(shadows, x) is made["a"][0]


def test_adding_into_a_shadow_and_taking_from_it(cp):
    x = cp.asarray(np.zeros((2, 3)))
    shadow = {"a": [x, 1.0], "l": Layer(x[0], 2.0)}
    one = {"a": [cp.asarray(np.ones((2, 3))), 1.0], "l": Layer(cp.asarray(np.ones(3)), 0.5)}
    runtime.add_into_shadow(shadow, one)
    assert np.array_equal(x.get(), [[2.0, 2.0, 2.0], [1.0, 1.0, 1.0]])
    assert shadow["a"][1] == 2.0 and shadow["l"].b == 2.5
    taken = runtime.take_from_shadow(shadow)
    assert np.array_equal(taken["a"][0].get(), [[2.0, 2.0, 2.0], [1.0, 1.0, 1.0]])
    assert not x.get().any() and shadow["a"][1] == 0.0


def test_twins_share_what_is_shared(cp):
    x = cp.asarray(np.zeros((2, 3)))
    made = runtime.twin_of({}, [x, x[1], 3])
    made[1] += 1.0
    assert np.array_equal(made[0].get(), [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    assert made[2] == 0.0


def momentum(params, x):
    """Arrays deep inside a structure, read by positions that only the run knows, and written."""
    state = [{"v": p * 0.0} for p in params]
    for step in range(3):
        for i in range(len(params)):
            state[i]["v"][:] = 0.9 * state[i]["v"] + params[(i + step) % 2] * x
    return (state[0]["v"] * state[1]["v"]).sum()


class Grid:
    def __init__(self, u):
        self.both = u[None].repeat(2, axis=0)
        self.now, self.before = self.both[0], self.both[1]

    def step(self):
        self.before[...] = self.before + 0.5 * self.now
        self.now, self.before = self.before, self.now


def turned(u):
    grid = Grid(u)
    for _ in range(3):
        grid.step()
    return (grid.now * grid.before).sum()


PROGRAMS = [
    (momentum, ([np.array([0.5, 1.0]), np.array([2.0, -0.3])], np.array([1.5, 0.7]))),
    (turned, (np.array([0.5, 1.0, -0.4]),)),
]


@pytest.mark.parametrize("f, args", PROGRAMS)
def test_programs(f, args, cp):
    try:
        expected = s2sad.grad(f)(*args)
    except s2sad.Error as refused:
        with pytest.raises(type(refused)):
            s2sad.grad(f)(*map(strict.on_device, args))
        return
    found = s2sad.grad(f)(*map(strict.on_device, args))
    one, other = s2sad.ravel(strict.on_host(found))[0], s2sad.ravel(expected)[0]
    np.testing.assert_allclose(one, other, 1e-12)
    _, dot = s2sad.jvp(f, args, args)
    _, there = s2sad.jvp(f, [*map(strict.on_device, args)], [*map(strict.on_device, args)])
    np.testing.assert_allclose(strict.on_host(there), dot, 1e-12)
