"""Parts of arguments that are replaced, or deleted, while the old ones are still read."""

import copy
import dataclasses

import numpy as np
import pytest
import slopes

import s2sad


class Weight:
    def __init__(self, w):
        self.w = w


class Model:
    def __init__(self, m, n=None):
        self.m = m
        self.n = n


@dataclasses.dataclass
class Point:
    t: float


@dataclasses.dataclass(frozen=True)
class Fixed:
    t: float


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    t: float
    a: float


@dataclasses.dataclass(frozen=True)
class Optional:
    t: float
    o: float | None = None


@dataclasses.dataclass(frozen=True)
class Holder:
    xs: list


def replaced_list(d):
    old = d["a"]
    d["a"] = [2.0]
    return old[0]


def replaced_list_read(d):
    old = d["a"]
    d["a"] = [*old, 2.0]
    return old[0] * d["a"][0]


def replaced_by_a_sum(d):
    old = d["a"]
    d["a"] = old + [2.0]
    return old[0] * d["a"][0]


def popped(d):
    old = d.pop("a")
    d["a"] = [v * 2.0 for v in old]
    old.append(d["a"][0])
    return sum(old) * sum(d["a"])


def popped_and_grown(d):
    old = d.pop("a")
    old.append(old[0])
    return old[1] * old[0]


def deleted_list(d):
    old = d["a"]
    del d["a"]
    return old[0]


def deleted_by_key(d, k="a"):
    old = d[k]
    del d[k]
    return old[0] ** 2


def replaced_by_key(d, k="a"):
    old = d[k]
    d[k] = [3.0]
    return old[0] ** 2 * d[k][0]


def updated(d):
    old = d["a"]
    d.update({"a": [2.0]})
    return old[0] * d["a"][0]


def got(d):
    old = d.get("a")
    d |= {"a": [old[0] * 2.0]}
    return old[0] * d["a"][0]


def by_another_name(d):
    e = d
    old = d["a"]
    e["a"] = [2.0]
    return old[0] * d["a"][0]


def by_a_function(d):
    def put():
        d["a"] = [3.0]

    old = d["a"]
    put()
    return old[0] ** 2 * d["a"][0]


def put_in(d):
    d["a"] = [d["a"][0] * 2.0]


def by_a_called_function(d):
    old = d["a"]
    put_in(d)
    return old[0] * d["a"][0]


def on_one_path(d):
    old = d["a"]
    if old[0] > 0.5:
        d["a"] = [2.0]
    return old[0] * d["a"][0]


def in_a_loop(d):
    s = 0.0
    old = d["a"]
    for _ in range(3):
        s += old[0] * d["a"][0]
        d["a"] = [s]
    return s


def in_every_round(d):
    s = 0.0
    for _ in range(3):
        old = d["a"]
        d["a"] = [old[0] * 2.0]
        s += old[0] * d["a"][0]
    return s


def key_added(d):
    old = d["a"]
    d["new"] = [2.0]
    return old[0]


def key_dropped(d):
    old = d["a"]
    d["new"] = [2.0 * old[0]]
    part = d["new"]
    del d["new"]
    return old[0] * part[0]


def other_kind(d):
    old = d["a"]
    d["a"] = 2.0
    old.append(old[0])
    return sum(old) * d["a"]


def inner_replaced(d):
    m = d["p"]
    old = m["q"]
    d["p"] = {"q": [3.0]}
    return old[0] * d["p"]["q"][0]


def inner_of_inner(d):
    m = d["p"]
    old = m["q"]
    m["q"] = [3.0]
    return old[0] * d["p"]["q"][0]


def replaced_object(t):
    old = t.m
    t.m = Weight(2.0)
    return old.w


def replaced_by_the_old_one(t):
    old = t.m
    t.m = Weight(old.w * 2.0)
    return old.w * t.m.w


def list_in_an_object(t):
    old = t.m
    t.m = [2.0]
    return old[0]


def swapped(t):
    t.m, t.n = t.n, t.m
    t.m = Fixed(t.m.t * t.n.t)
    return t.m.t + t.n.t**2


def swapped_points(t):
    t.m, t.n = t.n, t.m
    t.m = Point(t.m.t * t.n.t)
    return t.m.t + t.n.t**2


def frozen_replaced(d):
    old = d["s"]
    d["s"] = Fixed(2.0)
    return old.t


def point_replaced(d):
    old = d["s"]
    d["s"] = Point(2.0)
    return old.t


def point_deleted(d):
    old = d["s"]
    del d["s"]
    return old.t


def frozen_made_of_itself(d):
    d["s"] = Fixed(d["s"].t * 2.0)
    return d["s"].t ** 2


def frozen_by_replace(d):
    d["s"] = dataclasses.replace(d["s"], t=d["s"].t * 2.0)
    return d["s"].t ** 2


def frozen_set_by_default(d):
    s = d.setdefault("s", Fixed(1.0))
    r = d.pop("s")
    d["s"] = Fixed(r.t * s.t)
    return d["s"].t + s.t


def frozen_in_two_places(d):
    d["s"] = Slotted(d["s"].t * 1.3, d["s"].a)
    d["r"] = d["s"]
    return d["r"].t * d["s"].a


def frozen_with_an_option(d):
    old = d["s"]
    d["s"] = Optional(old.t * 2.0, old.o)
    return old.t * d["s"].t * (1.0 if old.o is None else old.o)


def frozen_in_a_list(xs):
    old = xs[0]
    xs[0] = Fixed(2.0)
    return old.t * xs[0].t


def point_in_a_list(xs):
    old = xs[0]
    xs[0] = Point(2.0)
    return old.t * xs[0].t


def counted_from_the_end(xs):
    old = xs[-1]
    xs[1] = [2.0]
    return old[0] * xs[1][0]


def list_of_a_frozen_one(f):
    xs = f.xs
    y = xs[0] * f.xs[1]
    return y + sum(f.xs) + xs[1]


def frozen_one_with_a_list(d):
    f = d["f"]
    xs = f.xs
    d["f"] = Holder([2.0, 1.0])
    y = xs[0] * f.xs[1]
    return y + sum(f.xs) * d["f"].xs[0]


def arrays_in_it(d):
    old = d["a"]
    d["a"] = [np.ones(2) * old[0][1]]
    old[0][0] = old[0][1] * 3.0
    return np.sum(old[0]) * np.sum(d["a"][0])


LISTS = [
    *(replaced_list, replaced_list_read, replaced_by_a_sum, popped, popped_and_grown),
    *(deleted_list, deleted_by_key, replaced_by_key, updated, got, by_another_name),
    *(by_a_function, by_a_called_function, on_one_path, in_a_loop, in_every_round, key_added),
    *(key_dropped, other_kind),
]
OTHERS = [
    (inner_replaced, {"p": {"q": [0.4]}}),
    (inner_of_inner, {"p": {"q": [0.4]}}),
    (replaced_object, Model(Weight(0.4), 1.5)),
    (replaced_by_the_old_one, Model(Weight(0.4), 1.5)),
    (list_in_an_object, Model([0.4], 1.5)),
    (swapped, Model(Fixed(0.4), Fixed(0.7))),
    (swapped_points, Model(Point(0.4), Point(0.7))),
    (frozen_replaced, {"s": Fixed(0.4)}),
    (point_replaced, {"s": Point(0.4)}),
    (point_deleted, {"s": Point(0.4)}),
    (frozen_made_of_itself, {"s": Fixed(0.4)}),
    (frozen_by_replace, {"s": Fixed(0.4)}),
    (frozen_set_by_default, {"s": Fixed(0.4)}),
    (frozen_in_two_places, {"s": Slotted(0.4, 0.7)}),
    (frozen_with_an_option, {"s": Optional(0.4)}),
    (frozen_with_an_option, {"s": Optional(0.4, 0.6)}),
    (frozen_in_a_list, [Fixed(0.4), Fixed(0.6)]),
    (point_in_a_list, [Point(0.4), Point(0.6)]),
    (counted_from_the_end, [[0.4], [0.6]]),
    (list_of_a_frozen_one, Holder([0.4, 0.6])),
    (frozen_one_with_a_list, {"f": Holder([0.4, 0.6])}),
    (arrays_in_it, {"a": [np.array([0.4, 0.6])]}),
]


def same(one, other):
    """Say whether two structures hold the same values."""
    return s2sad.ravel((one,))[0].tolist() == s2sad.ravel((other,))[0].tolist()


@pytest.mark.parametrize("x", [0.4, 0.7])
@pytest.mark.parametrize("more", [{}, {"b": [0.9, 0.2]}], ids=["alone", "beside"])
@pytest.mark.parametrize("program", LISTS, ids=lambda f: f.__name__)
def test_lists(program, more, x):
    holds(program, {"a": [x], **copy.deepcopy(more)})


@pytest.mark.parametrize(("program", "given"), OTHERS, ids=lambda f: getattr(f, "__name__", ""))
def test_other_structures(program, given):
    holds(program, given)


def holds(program, given):
    """Compare the gradient and the tangent of a program with differences."""
    before = copy.deepcopy(given)
    point, unravel = s2sad.ravel((given,))
    value, gradient = s2sad.value_and_grad(program)(given)
    assert same(given, before)
    assert value == program(*unravel(point))
    found = s2sad.ravel((gradient,))[0]
    steps = np.eye(len(point)) * slopes.STEP
    rise = [program(*unravel(point + e)) - program(*unravel(point - e)) for e in steps]
    assert found == pytest.approx(np.array(rise) / (2 * slopes.STEP), rel=1e-5, abs=1e-7)
    direction = np.cos(1.7 * np.arange(len(point)) + 0.4)
    _, slope = s2sad.jvp(program, unravel(point), unravel(direction))
    assert slope == pytest.approx(found @ direction, rel=1e-7, abs=1e-9)


def emptied(xs):
    old = xs[0]
    xs.clear()
    return old[0]


def taken_out(xs):
    old = xs.pop()
    return old[0] * xs[0][0]


def filled_anew(xs):
    old = xs[0]
    xs[:] = [[2.0], [3.0]]
    return old[0] * xs[0][0]


@pytest.mark.parametrize("program", [emptied], ids=lambda f: f.__name__)
def test_refused(program):
    given = [[0.4], [0.6]]
    with pytest.raises(s2sad.UnsupportedError, match=f"in {program.__name__}"):
        s2sad.grad(program)(given)
    assert given == [[0.4], [0.6]]


def test_lists_that_lose_their_items():
    holds(taken_out, [[0.4], [0.6]])
    given = [[0.4], [0.6]]
    assert s2sad.grad(filled_anew)(given) == [[2.0], [0.0]]
    assert s2sad.jvp(filled_anew, (given,), (given,)) == (0.8, 0.8)
    assert given == [[0.4], [0.6]]


def test_a_hook_into_a_part_of_a_frozen_object():
    def program(f):
        xs = s2sad.adjoint_hook(f.xs, lambda bar: [2.0 * v for v in bar])
        return xs[0] * xs[1]

    def named_twice(f):
        xs = s2sad.adjoint_hook(f.xs, lambda bar: [2.0 * v for v in bar])
        ys = f.xs
        return xs[0] * xs[1] + ys[1] ** 2

    assert s2sad.grad(program)(Holder([0.4, 0.6])).xs == pytest.approx([1.2, 0.8])
    with pytest.raises(s2sad.UnsupportedError, match="is given memory that has another name"):
        s2sad.grad(named_twice)(Holder([0.4, 0.6]))
