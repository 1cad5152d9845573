"""Objects and dicts that change, and that nobody else sees: variables take the place of parts."""

import types
from dataclasses import dataclass

import numpy as np
import pytest
import slopes

import s2sad

X = np.array([0.3, 0.7, 1.1])


class Body:
    """Holds arrays, one of which is replaced and written."""

    kinds = 0

    def __init__(self, place, drag):
        self.place = place
        self.speed = np.zeros_like(place)
        self.drag = drag
        self.steps = 0

    @property
    def is_new(self):
        return self.steps < 2

    def force(self):
        return -self.drag * self.speed - self.place**2

    def step(self, by):
        self.speed = self.speed + by * self.force()
        self.speed[0] = 0.5 * self.speed[0]
        self.place = self.place + by * self.speed
        self.steps += 1


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


@dataclass
class Pair:
    left: object
    right: object


class Checked:
    def __init__(self, a):
        self.held = a

    @property
    def a(self):
        return self.held * self.held

    @a.setter
    def a(self, value):
        self.held = 3.0 * value


# --- taken apart ---------------------------------------------------------------------------------


def object_in_a_loop(x):
    body = Body(x, x[1])
    for k in range(4):
        if body.is_new:
            body.step(0.1 * (k + 1))
        while not body.is_new and body.steps < 4:
            body.step(0.2)
    return np.sum(body.place * body.speed)


def object_without_rounds(x):
    body = Body(x * x, x[0])
    for _ in range(len(x) - 3):
        body.step(0.1)
    return np.sum(body.place) + np.sum(body.speed) * body.drag


def dict_of_lists(x):
    state = {"a": x, "b": x * x}
    seen = {name: [] for name in state}
    for k in range(3):
        state["a"] = state["a"] * state["b"] + k
        state["b"] = np.sin(state["b"])
        for name in state:
            seen[name].append(state[name])
    return np.sum(np.array(seen["a"])) + np.sum(seen["b"][-1] * seen["a"][0])


def two_of_one_class(x):
    one, other = Slotted(x[0], x), Slotted(x[1], x * 2.0)
    for k in range(3):
        one.a = one.a * other.a
        other.a = other.a + np.sum(one.b) * one.a
        one.b = other.b * one.a
    return one.a * other.a


def one_array_in_two_places(x):
    y = x * x
    pair = Pair(y, y)
    pair.left[0] = x[1] * 3.0
    pair.left = pair.right * x
    pair.right[1] = 2.0 * x[2]
    return np.sum(pair.left) * np.sum(y) + pair.right[1]


def keys_of_numbers(x):
    table = {0: x[0], 1: x[1] * x[2], "a b": 1.0}
    for k in range(3):
        table[0] = table[0] * table[1]
        table["a b"] = table["a b"] + table[0]
    return table["a b"] * table[1]


def made_in_each_round(x):
    s = 1.0
    for k in range(3):
        pair = Pair(s, x[k])
        pair.left = pair.left * pair.right
        s = s + pair.left
    return s * pair.left


def word_that_is_taken(x):
    pair_left = x[1]
    pair = Pair(x[0], pair_left)
    pair.left = pair.left * pair_left
    pair_right = pair.right * pair.left
    pair.right = pair_right * 2.0
    return pair.right * pair_left + pair_right


def namespace(x):
    s = types.SimpleNamespace(total=0.0, last=x[0])
    for v in x:
        s.total += v * s.last
        s.last = v
    return s.total * s.last


def left_half_way(x):
    pair = Pair(x[0], x[1])
    for k in range(5):
        pair.left = pair.left * pair.right
        if k == 2:
            break
        if k == 0:
            continue
        pair.right = pair.right + pair.left
    return pair.left * pair.right


def names_that_are_alike(x):
    a, a_b = {"b_c": x[0], "d": x[1]}, {"c": x[1] * 2.0}
    a["b_c"] = a["b_c"] * a_b["c"]
    a_b["c"] = a_b["c"] + a["d"]
    return a["b_c"] * a_b["c"] * x[2]


APART = [
    names_that_are_alike,
    object_in_a_loop,
    object_without_rounds,
    dict_of_lists,
    two_of_one_class,
    one_array_in_two_places,
    keys_of_numbers,
    made_in_each_round,
    word_that_is_taken,
    namespace,
    left_half_way,
]


# --- left as they are ----------------------------------------------------------------------------


def put_into_a_list(x):
    pair = Pair(x[0], x[1])
    pairs = [pair]
    pair.left = pair.left * x[2]
    return pairs[0].left * pair.right


def under_two_names(x):
    pair = Pair(x[0], x[1])
    s = 0.0
    for k in range(3):
        if k > 0:
            s = s + other.left * x[k]  # noqa: F821
        pair = Pair(pair.left * x[k], x[1])
        if k > 0:
            s = s + other.left  # noqa: F821
        other = pair
        other.left = other.left + pair.right
    return s * pair.left


def chosen_by_a_branch(x):
    one, two = Pair(x[0], x[1]), Pair(x[1], x[2])
    chosen = one if x[0] > 0.0 else two
    chosen.left = chosen.left * x[2]
    return one.left * two.left


def captured(x):
    pair = Pair(x[0], x[1])

    def more():
        return pair.left * 2.0

    pair.left = pair.left * x[2]
    return more() * pair.right


def stored_otherwise(x):
    two = Checked(x[1])
    two.a = x[2]
    two.a = two.a + x[0]
    return x[1] * two.a


def key_on_one_path(x):
    table = {"a": x[0]}
    for k in range(3):
        if k == 1:
            table["b"] = x[k] * table["a"]
        table["a"] = table["a"] + x[k]
    if "b" in table:
        return table["b"] * table["a"]
    return table["a"]


def keys_that_are_counted(x):
    table = {"a": x[0], "b": x[1]}
    table["b"] = table["b"] * table["a"]
    s = 0.0
    for name in table:
        if name == "b":
            break
        s = s + table[name]
    return s * len(table) * table["b"]


def given_to_itself(x):
    def deep(pair, n):
        pair.left = pair.left * x[1]
        return pair.left if n == 0 else deep(pair, n - 1) + pair.right

    pair = Pair(x[0], x[2])
    return deep(pair, 2) * pair.left


def names_in_a_ring(x):
    pair = Pair(x[0], x[1])
    other = pair
    for k in range(2):
        other.left = pair.left * x[2]
        pair = other
        other = pair
    return other.left * pair.right


LEFT = [
    names_in_a_ring,
    put_into_a_list,
    under_two_names,
    chosen_by_a_branch,
    captured,
    stored_otherwise,
    key_on_one_path,
    keys_that_are_counted,
    given_to_itself,
]


@pytest.mark.parametrize("f", [*APART, *LEFT], ids=lambda f: f.__name__)
def test_gradients(f):
    value, bar = s2sad.value_and_grad(f)(X.copy())
    assert value == f(X.copy())
    along = np.array([0.4, -0.7, 1.3])
    h = 1e-6
    found = (f(X + h * along) - f(X - h * along)) / (2.0 * h)
    np.testing.assert_allclose(bar @ along, found, rtol=1e-7)


@pytest.mark.parametrize("f", APART, ids=lambda f: f.__name__)
def test_no_structure_is_left(f):
    text = s2sad.grad(f).source(X.copy())
    text = "".join(line for line in text.splitlines() if not line.strip().startswith("#"))
    assert "shadows" not in text
    assert not any(f"= {cls}(" in text for cls in ("object_of", "Body", "Pair", "Slotted"))


class Meter:
    def __init__(self, x):
        self.m = x
        self.v = np.array([x, 2.0 * x])

    def bump(self):
        self.m = self.m * 2.0
        return self.m

    def swap(self):
        self.v = self.v * 4.0
        return self.v

    def fill(self):
        self.v[0] = self.m * 3.0
        return self.v * 1.5


def added_to_what_a_call_changes(x):
    meter = Meter(x)
    meter.m += meter.bump()
    return meter.m * meter.m


def array_added_to_that_is_bound_anew(x):
    meter = Meter(x)
    old = meter.v
    meter.v += meter.swap()
    return np.sum(meter.v * old)


def array_added_to_that_is_filled(x):
    meter = Meter(x)
    meter.v += meter.fill()
    return np.sum(meter.v**2)


def added_to_in_each_round(x):
    meter = Meter(x)
    for _ in range(3):
        meter.m *= 0.1 * meter.bump() + meter.bump()
    return meter.m


@pytest.mark.parametrize(
    "f",
    [
        added_to_what_a_call_changes,
        array_added_to_that_is_bound_anew,
        array_added_to_that_is_filled,
        added_to_in_each_round,
    ],
)
def test_what_is_read_ahead_of_a_call_that_changes_it(f):
    slopes.check(f, 0.7)
