"""Writes into parts of objects, lists and dicts outside stay; deriving itself changes none."""

import numpy as np
import pytest

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
