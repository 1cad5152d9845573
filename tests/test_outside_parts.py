"""Writes into parts of objects, lists and dicts outside stay; deriving itself changes none."""

from dataclasses import dataclass

import numpy as np
import pytest
from slopes import check

import s2sad


class Inner:
    def __init__(self, a):
        self.a = a

    def up(self):
        self.a *= 1.1
        return self


class Outer:
    def __init__(self):
        self.inner = Inner(0.4)
        self.rows = [0.3, 0.2]

    def get(self):
        return self.inner


HELD = Outer()
ARRAYS = [np.array([0.5, 0.2])]
TABLE = {"counts": {"n": 8}, "inner": Inner(0.3)}


def reset():
    HELD.__init__()
    ARRAYS[:] = [np.array([0.5, 0.2])]
    TABLE.update(counts={"n": 8}, inner=Inner(0.3))


def part_of_object(x):
    HELD.inner.a *= 1.1
    return HELD.inner.a * x


def array_in_list(x):
    ARRAYS[0] *= 1.1
    ARRAYS[0][0] += 1.0
    return ARRAYS[0][0] * x


def entry_of_entry(x):
    TABLE["counts"]["n"] += 1
    return TABLE["counts"]["n"] * x


def method_of_part(x):
    TABLE["inner"].up().up()
    return TABLE["inner"].a * x


def part_by_a_method(x):
    HELD.get().a *= 1.1
    HELD.rows[0] *= 2.0
    return HELD.inner.a * HELD.rows[0] * x


@pytest.mark.parametrize(
    "f", [part_of_object, array_in_list, entry_of_entry, method_of_part, part_by_a_method]
)
def test_writes_into_parts_of_what_is_outside_stay(f):
    reset()
    want = f(1.2)
    reset()
    assert s2sad.jvp(f, (1.2,), (1.0,)) == pytest.approx((want, want / 1.2))
    reset()
    try:
        assert s2sad.value_and_grad(f)(1.2) == pytest.approx((want, want / 1.2))
    except s2sad.UnsupportedError:
        pass  # refused backward, never wrong


class Counting:
    def __init__(self):
        self.a = 0.4
        self.asked = 0

    @property
    def grown(self):
        self.a *= 1.1
        return self.a

    def __getattr__(self, word):
        self.asked += 1
        raise AttributeError(word)


COUNTING = Counting()


def grows(x):
    COUNTING.grown
    return x * COUNTING.a


def test_deriving_asks_no_object_for_its_attributes():
    COUNTING.__init__()
    assert s2sad.value_and_grad(grows)(1.2) == pytest.approx((0.528, 0.44))
    assert COUNTING.a == pytest.approx(0.44)


# --- what a new structure holds beside memory from outside is its own -----------------------------

GRID = np.linspace(0.2, 1.0, 3)
STATIONS = [0, 2]
POINT = np.array([0.7, 0.4, 1.2])


class Recorder:
    def __init__(self, stations, rows):
        self.stations = np.asarray(stations)
        self.data = np.zeros((rows, len(stations)))
        self.row = 0

    def record(self, u):
        self.data[self.row, :] = u[self.stations]
        self.row += 1


class Wave:
    def __init__(self):
        self.grid, self.u = GRID, np.zeros_like(GRID)

    def step(self, v):
        self.u[1:] += v[1:] * self.grid[1:]


class Given(Wave):
    def __init__(self, grid, u):
        self.grid = grid
        self.u = u

    def swap(self):
        self.grid, self.u = self.u, self.grid


@dataclass
class Plain:
    grid: np.ndarray
    u: np.ndarray

    def step(self, v):
        self.u += v * self.grid


def records(x):
    r = Recorder(STATIONS, 2)
    r.record(x)
    r.record(x * x[0])
    return np.sum(r.data**2)


def made_with_a_grid(x):
    wave = Wave()
    wave.step(x)
    given = Given(GRID, np.zeros(3))
    given.step(x)
    plain = Plain(GRID, np.zeros(3))
    plain.step(x)
    return np.sum(wave.u * given.u + plain.u**2)


def in_a_dict(x):
    held = {"grid": GRID, "u": np.zeros(3)}
    held["u"] += x * held["grid"]
    return np.sum(held["u"] ** 2)


@pytest.mark.parametrize("f", [records, made_with_a_grid, in_a_dict], ids=lambda f: f.__name__)
def test_what_is_made_beside_memory_from_outside(f):
    check(f, POINT)


def the_grid_itself(x):
    wave = Given(np.zeros(3), GRID)
    wave.step(x)
    return np.sum(wave.u)


def the_grid_twice(x):
    wave = Plain(GRID, GRID)
    wave.step(x)
    return np.sum(wave.u)


def the_grid_by_another_name(x):
    view = GRID[:]
    plain = Plain(np.ones(3), view)
    plain.step(x)
    return np.sum(plain.u)


def the_grid_in_the_end(x):
    wave = Given(GRID, np.zeros(3))
    wave.swap()
    wave.step(x)
    return np.sum(wave.u)


@pytest.mark.parametrize(
    "f",
    [the_grid_itself, the_grid_twice, the_grid_by_another_name, the_grid_in_the_end],
    ids=lambda f: f.__name__,
)
def test_memory_from_outside_that_is_written_is_refused(f):
    with pytest.raises(s2sad.ActivityError, match="constant"):
        s2sad.grad(f)(POINT)
