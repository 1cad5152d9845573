"""autodiff of functions that write arrays in the structures they are given, with shadows."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import s2sad
from s2sad import (
    Active,
    ActivityError,
    AliasError,
    BatchDuplicated,
    Const,
    Duplicated,
    Reverse,
    UnsupportedError,
    autodiff,
)
from tests.test_writes_containers import leaves, moved
from tests.writing_given import PROGRAMS, SHADOWED, Cell, Model, X
from tests.writing_shared import PROGRAMS as SHARED

CASES = [pytest.param(f, args, id=f.__name__) for f, args in [*SHADOWED, *PROGRAMS, *SHARED]]
rng = np.random.default_rng(3)


def numbers_in_tuples(x, inside=False):
    """Say whether a tuple holds a number: a shadow cannot take its derivative."""
    if isinstance(x, tuple):
        return any(isinstance(p, float) or numbers_in_tuples(p) for p in x)
    return any(map(numbers_in_tuples, x)) if isinstance(x, list) else False


def shadow(x):
    """Return a shadow with random content."""
    return s2sad.tree_map(lambda v: rng.standard_normal(np.shape(v)) if np.ndim(v) else 0.7, x)


def arrays(x):
    """Return the arrays of a structure, in order."""
    if isinstance(x, np.ndarray):
        return [x]
    if isinstance(x, list | tuple):
        return [a for part in x for a in arrays(part)]
    parts = x if isinstance(x, dict) else getattr(x, "__dict__", {})
    return [a for part in parts.values() for a in arrays(part)]


def weighed(f, args, seeds):
    """The number whose gradient the reverse is: final contents times seeds, and the value."""
    value = f(*args)
    total = 0.0 if value is None else float(value)
    for arg, seed in zip(args, seeds, strict=True):
        if seed is not None:
            total += np.dot(leaves(arg), leaves(seed))
    return total


def slopes(f, args, seeds):
    found = []
    for k in range(len(args)):
        slope = []
        for at in range(len(leaves(args[k]))):
            ends = []
            for eps in (1e-6, -1e-6):
                given = copy.deepcopy(list(args))
                given[k] = moved(given[k], at, eps)
                ends.append(weighed(f, given, seeds))
            slope.append((ends[0] - ends[1]) / 2e-6)
        found.append(np.array(slope))
    return found


def wrapped(args, shadows):
    return [
        Active(a) if s is None else Duplicated(a, s) for a, s in zip(args, shadows, strict=True)
    ]


def shadows_of(args):
    if any(map(numbers_in_tuples, args)):
        pytest.skip("a number in a tuple has no place in a shadow")
    return [None if isinstance(a, float) else shadow(a) for a in args]


@pytest.mark.parametrize("f, args", CASES)
def test_shadows_go_from_final_to_initial_content(f, args):
    shadows = shadows_of(args)
    want = slopes(f, args, shadows)
    given = copy.deepcopy(list(args))
    mine = arrays(shadows)
    value, bars = autodiff(Reverse, f, *wrapped(given, shadows))
    after = copy.deepcopy(list(args))
    assert value == f(*after)
    assert leaves(given) == leaves(after)
    for bar, kept, slope in zip(bars, shadows, want, strict=True):
        assert kept is None or bar is kept
        np.testing.assert_allclose(leaves(bar), slope, rtol=1e-6, atol=1e-6)
    for one, other in zip(arrays(shadows), mine, strict=True):
        assert one is other


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f, args", CASES)
def test_a_batch_gives_what_single_directions_give(f, args):
    both = [shadows_of(args), shadows_of(args)]
    single = copy.deepcopy(both)
    for shadows in single:
        _, bars = autodiff(Reverse, f, *wrapped(copy.deepcopy(list(args)), shadows))
        shadows[:] = bars
    given = copy.deepcopy(list(args))
    activities = [
        Active(a) if s is None else BatchDuplicated(a, (s, t))
        for a, s, t in zip(given, *both, strict=True)
    ]
    value, bars = autodiff(Reverse, f, *activities)
    after = copy.deepcopy(list(args))
    assert value == f(*after)
    assert leaves(given) == leaves(after)
    for pair, one, other in zip(bars, *single, strict=True):
        np.testing.assert_allclose(leaves(pair[0]), leaves(one), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(leaves(pair[1]), leaves(other), rtol=1e-12, atol=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f, args", CASES)
def test_what_is_active_is_left_as_f_leaves_it(f, args):
    want = slopes(f, args, [None] * len(args))
    given = copy.deepcopy(list(args))
    value, bars = autodiff(Reverse, f, *map(Active, given))
    after = copy.deepcopy(list(args))
    assert value == f(*after)
    assert leaves(given) == leaves(after)
    for bar, slope in zip(bars, want, strict=True):
        np.testing.assert_allclose(leaves(bar), slope, rtol=1e-6, atol=1e-6)


SHARED_WEIGHTS, OUTSIDE, IN_A_HELPER = rng.standard_normal((3, 3)), X * 0.5, X + 0.2


def from_a_helper(x):
    return [IN_A_HELPER, x]


def weights_shared_and_state_replaced(p, x):
    rows, more = [OUTSIDE, x], from_a_helper(x)
    p["h"] = p["W"] @ p["h"] + p["V"] @ (rows[0] * rows[1] * more[0] * more[1])
    p["cell"].h = p["h"] * p["a"] * p["b"]
    p["cells"][0] = p["cells"][1]


def test_memory_reached_by_two_ways_has_a_shadow_for_each_and_stays_shared():
    z, one = rng.standard_normal(5), Cell(rng.standard_normal((3, 3)), X * 1.0)
    p = {"W": SHARED_WEIGHTS, "V": SHARED_WEIGHTS, "h": X * 2.0, "cell": Cell(X, X + 1.0)}
    p |= {"a": z[:3], "b": z[1:4], "u": OUTSIDE, "v": IN_A_HELPER, "cells": [X * 0.3, one]}
    p["cells"] = [Cell(one.W, X * 0.1), one]
    for batch in (False, True):
        given = dict(p, cell=copy.copy(p["cell"]), cells=[*p["cells"]])
        shadows = [shadow(p), np.zeros(3)]
        want = slopes(weights_shared_and_state_replaced, (p, X), shadows)
        x = X.copy()
        wrap = (lambda a, s: BatchDuplicated(a, (copy.deepcopy(s), s))) if batch else Duplicated
        activities = [wrap(a, s) for a, s in zip((given, x), shadows, strict=True)]
        autodiff(Reverse, weights_shared_and_state_replaced, *activities)
        for bar, slope in zip(shadows, want, strict=True):
            np.testing.assert_allclose(leaves(bar), slope, rtol=1e-6, atol=1e-6)
        assert given["W"] is given["V"] is SHARED_WEIGHTS and given["cells"][0] is one
        assert given["u"] is OUTSIDE and given["v"] is IN_A_HELPER and one.W is p["cells"][0].W
        assert given["a"].base is z and given["b"].base is z


def part_that_stands_twice(p, x):
    p["h"] = p["W"] @ p["h"] + p["V"] @ x
    return p["V"]


def test_a_result_that_stands_twice_in_what_is_given():
    p = {"W": SHARED_WEIGHTS, "V": SHARED_WEIGHTS, "h": X * 2.0}
    value, _ = autodiff(
        Reverse, part_that_stands_twice, Duplicated(p, shadow(p)), Const(X), seed=np.ones((3, 3))
    )
    assert value is SHARED_WEIGHTS


def test_shadows_accumulate_over_calls():
    w, x = rng.standard_normal((3, 3)), rng.standard_normal(3)
    start, w_bar, alone = rng.standard_normal(3), np.zeros((3, 3)), np.zeros((3, 3))
    for shadow in (Cell(w_bar, np.ones(3)), Cell(w_bar, np.ones(3)), Cell(alone, np.ones(3))):
        autodiff(Reverse, Cell.step, Duplicated(Cell(w, start.copy()), shadow), Const(x))
    np.testing.assert_allclose(w_bar, 2.0 * alone)
    assert alone.any()


def test_methods_update_the_state_of_self():
    model = Model(rng.standard_normal((3, 3)), rng.standard_normal(3))
    shadow = Model(np.ones((3, 3)), np.ones(3), 1.0)
    x = rng.standard_normal(3)
    want = slopes(lambda m, x: m.step(x), (model, x), [shadow, None])
    x_bar = np.zeros(3)
    value, (bar, _) = autodiff(Reverse, Model.step, Duplicated(model, shadow), Duplicated(x, x_bar))
    assert value is None and bar is shadow and model.steps == 1
    np.testing.assert_allclose(leaves(shadow), want[0], rtol=1e-6)
    np.testing.assert_allclose(x_bar, want[1], rtol=1e-6)


def test_a_bound_object_keeps_no_derivative():
    model = Model(rng.standard_normal((3, 3)), rng.standard_normal(3))
    with pytest.raises(ActivityError, match="stored into `self`, which is Const"):
        autodiff(Reverse, model.step, Duplicated(np.ones(3), np.zeros(3)))


def last_state(p, x):
    for _ in range(2):
        p.h[:] = np.tanh(p.W @ p.h + x)
    return p.h


def test_a_result_that_is_a_part_of_what_is_given():
    p, x, seed = Cell(rng.standard_normal((2, 2)), np.ones(2)), np.ones(2), np.array([0.3, -1.0])
    shadow = Cell(np.zeros((2, 2)), np.zeros(2))
    want = slopes(lambda p, x: np.sum(last_state(p, x) * seed), (p, x), [None, None])
    value, _ = autodiff(Reverse, last_state, Duplicated(p, shadow), Const(x), seed=seed)
    np.testing.assert_allclose(leaves(shadow), want[0], rtol=1e-6)
    assert np.array_equal(value, p.h)


def test_emitted(tmp_path):
    given = Cell(rng.standard_normal((3, 3)), rng.standard_normal(3))
    x, shadow = rng.standard_normal(3), Cell(np.ones((3, 3)), np.ones(3))
    activities = Duplicated(given, shadow), Const(x)
    path = s2sad.emit(last_state, tmp_path / "derived.py", mode="reverse", args=activities)
    namespace = {}
    exec(path.read_text(), namespace)
    again, other = copy.deepcopy(given), copy.deepcopy(shadow)
    seed = np.ones(3)
    autodiff(Reverse, last_state, *activities, seed=seed)
    autodiff_value = namespace["last_state_reverse"](again, x, other, seed)
    assert np.array_equal(autodiff_value, given.h)
    assert leaves(other) == leaves(shadow) and leaves(again) == leaves(given)


def test_arrays_without_derivative_may_be_those_of_the_primal():
    def f(p):
        p["x"][p["at"]] *= p["x"]

    p = {"x": np.array([1.0, 2.0, 3.0]), "at": np.array([2, 0, 1])}
    shadow = s2sad.tree_map(np.ones_like, p)
    assert shadow["at"] is p["at"]
    autodiff(Reverse, f, Duplicated(p, shadow))
    np.testing.assert_allclose(shadow["x"], [3.0 + 2.0, 1.0 + 3.0, 2.0 + 1.0])


# what does not fit


def both(p, q):
    p.h[:] = q.h * p.h


def cell(h=None):
    return Cell(np.ones((3, 3)), np.ones(3) if h is None else h)


def test_memory_reached_by_two_ways():
    z, x = np.ones(6), np.ones(3)
    part = {"a": z[:3], "b": z[2:5]}

    def f(p):
        p["a"][0] = p["b"][1]

    with pytest.raises(AliasError, match=r"p\['a'\] and p\['b'\] share memory"):
        autodiff(Reverse, f, Duplicated(part, {"a": np.ones(3), "b": np.ones(3)}))
    apart = {"a": z[:3], "b": z[3:]}
    autodiff(Reverse, f, Duplicated(apart, {"a": np.ones(3), "b": np.ones(3)}))
    with pytest.raises(AliasError, match="self.h and x share memory"):
        autodiff(Reverse, Cell.step, Duplicated(cell(x), cell()), Const(x))
    given = cell()
    with pytest.raises(AliasError, match="self.h and the shadow of self.h share memory"):
        autodiff(Reverse, Cell.step, Duplicated(given, cell(given.h)), Const(x))
    with pytest.raises(AliasError, match="self and the shadow of self share memory"):
        autodiff(Reverse, Cell.step, Duplicated(given, given), Const(x))
    with pytest.raises(AliasError, match="the shadow of p.h and the shadow of q.h share memory"):
        autodiff(Reverse, both, Duplicated(cell(), cell(z[:3])), Duplicated(cell(), cell(z[2:5])))
    with pytest.raises(AliasError, match="shadow 0 of self.h and shadow 1 of self.h"):
        autodiff(Reverse, Cell.step, BatchDuplicated(cell(), (cell(x), cell(x))), Const(np.ones(3)))


@pytest.mark.parametrize(
    ("shadow", "message"),
    [
        (cell(np.ones(2)), r"at .h has the shape \(2,\), its primal \(3,\)"),
        (cell(np.ones(3, np.float32)), "at .h is of float32, its primal of float64"),
        ({"h": np.ones(3)}, "is a dict; it must be a Cell, as its primal is"),
        (object.__new__(Cell), "has no attribute W"),
        (cell(np.broadcast_to(1.0, 3)), "at .h is read-only"),
    ],
)
def test_shadows_that_do_not_fit(shadow, message):
    with pytest.raises(ActivityError, match=message):
        autodiff(Reverse, Cell.step, Duplicated(cell(), shadow), Const(np.ones(3)))


def grown(p, x):
    p.h = np.concatenate([p.h, x])


def summed(p, x):
    p.h = np.sum(p.h * x)


def extended(p, x):
    p.more = p.h * x


def appended(p, x):
    p.append(p[0] * x)


def another_key(p, x):
    p["b"] = p["a"] * x


def bound_anew(p, x):
    p.h[:] = x
    p = Cell(p.W, p.h * 2.0)
    p.h[0] = x[0]


@pytest.mark.parametrize(
    ("f", "p", "message"),
    [
        (summed, cell(), "its structure at the end differs from its structure at the start"),
        (extended, cell(), "its structure at the end differs from its structure at the start"),
        (
            appended,
            [np.ones(3)],
            "its structure at the end differs from its structure at the start",
        ),
        (
            another_key,
            {"a": np.ones(3)},
            "its structure at the end differs from its structure at the start",
        ),
        (bound_anew, cell(), "bound_anew also assigns another value"),
    ],
)
def test_structures_that_change_their_build(f, p, message):
    shadow = copy.deepcopy(p)
    with pytest.raises(UnsupportedError, match=message):
        autodiff(Reverse, f, Duplicated(p, shadow), Const(np.ones(3)))


def test_what_is_active_may_grow():
    def more(y, p):
        p.insert(1, 1.0)
        return y * y

    p = [0.5, 2.0]
    value, bars = autodiff(Reverse, more, Active(3.0), Active(p))
    assert (value, bars) == (9.0, (6.0, [0.0, 0.0]))
    assert p == [0.5, 1.0, 2.0]


def test_arrays_that_change_their_length():
    p, shadow = cell(), cell()
    with pytest.raises(ValueError, match=r"its primal has shape \(3,\) in the end"):
        autodiff(Reverse, grown, Duplicated(p, shadow), Const(np.ones(3)))


def test_active_values_in_a_constant_structure():
    x, x_bar = np.ones(3), np.zeros(3)
    with pytest.raises(ActivityError, match=r"stored into `self`, through .*, which is Const"):
        autodiff(Reverse, Cell.step, Const(cell()), Duplicated(x, x_bar))


class Held:
    def __init__(self, s):
        self.s = s


def written(x, c):
    c[1] = x * c[1] * c[0]
    return c[1] + c[0]


def kept(x, c):
    c[1] += 1
    return x * c[1] * c[0]


STANDING = {
    "a list": (lambda x, c: x * c[0] * c[1], [2.0, 3], [1.0, 5], 1.5),
    "a list that begins with one": (lambda x, c: x * c[0] * c[1], [2, 3.0], [5, 1.0], 1.0),
    "a dict by numbers": (lambda x, c: x * c[0] * c[1], {0: 2.0, 1: 3}, {0: 1.0, 1: 5}, 1.5),
    "a list in a dict": (
        lambda x, c: x * c["s"][0] * c["s"][1],
        {"s": [2.0, 3]},
        {"s": [1.0, 5]},
        1.5,
    ),
    "rows": (
        lambda x, c: x * c[0][0] * c[1][1] * c[1][0],
        [[2.0, 3.0], [3, 1.0]],
        [[1.0, 0.0], [5, 1.0]],
        4.5,
    ),
    "tuples": (
        lambda x, c: x * c[0][0] * c[1][1] * c[1][0],
        [(2.0, 3), (3, 1.0)],
        [(1.0, 7), (5, 1.0)],
        4.5,
    ),
    "a list of an object": (
        lambda x, o: x * o.s[0] * o.s[1],
        Held([2.0, 3]),
        Held([1.0, 5]),
        1.5,
    ),
    "an array beside": (
        lambda x, c: x * c[0][0] * c[1],
        [np.array([2.0, 1.0]), 3],
        [np.ones(2), 5],
        1.5,
    ),
    "a truth value": (lambda x, c: x * c[0] * c[1], [2.0, True], [1.0, 5.0], 0.5),
    "a loop": (lambda x, c: x * sum(v * v for v in c), [2.0, 3], [1.0, 5], 2.0),
    "one that is written": (written, [2.0, 3], [1.0, 5], 2.5),
    "one that counts": (kept, [2.0, 3], [1.0, 5], 2.0),
}


@pytest.mark.parametrize("name", STANDING)
def test_integers_in_a_tangent_stand_still(name):
    f, value, tangent, want = STANDING[name]
    given = copy.deepcopy([value, tangent])
    _, slope = autodiff(s2sad.Forward, f, Duplicated(0.5, 0.0), Duplicated(*given))
    assert slope == pytest.approx(want)
    both = [copy.deepcopy(tangent), copy.deepcopy(tangent)]
    wide = BatchDuplicated(copy.deepcopy(value), both)
    _, slopes = autodiff(s2sad.Forward, f, BatchDuplicated(0.5, (0.0, 0.0)), wide)
    assert slopes == pytest.approx((want, want))
    if f not in (written, kept):
        along = (0.0, copy.deepcopy(tangent))
        assert s2sad.jvp(f, (0.5, value), along)[1] == pytest.approx(want)


def test_a_tangent_of_what_takes_the_place_of_an_integer_is_in_the_shadow():
    c, c_dot = [2.0, 3], [1.0, 5]
    autodiff(s2sad.Forward, written, Duplicated(0.5, 0.0), Duplicated(c, c_dot))
    assert (c, c_dot) == ([2.0, 3.0], [1.0, 1.5])


def given_away(x):
    r = [x, x]
    x = 1.0
    for row in r:
        row[0] = row[1]
    return x


def written_by_another_name(x):
    r = [x, x]
    x = x + 1.0
    for row in r:
        row[0] = row[1]
    return np.sum(x)


def lost_on_a_path(x):
    if x[1] < 0.0:
        x[0] = x[1]
        x = np.zeros(3)
    return np.sum(x)


@pytest.mark.parametrize("f", [given_away, written_by_another_name, lost_on_a_path])
def test_the_tangent_of_a_parameter_that_lost_its_name_is_in_its_shadow(f):
    def run(x):
        value = f(x)
        return np.append(x, value)

    x, x_dot = np.array([0.3, -0.4, 0.7]), np.array([1.0, 2.0, 3.0])
    slopes = (run(x + 1e-6 * x_dot) - run(x - 1e-6 * x_dot)) / 2e-6
    _, slope = autodiff(s2sad.Forward, f, Duplicated(x, x_dot))
    assert np.append(x_dot, 0.0 if slope is None else slope) == pytest.approx(slopes)


def test_a_parameter_that_keeps_what_it_was_given_has_its_tangent():
    def f(x):
        x = np.asarray(x)
        x += 1.0
        x[0] = 3.0 * x[1]
        return np.sum(x)

    tangent = np.array([1.0, 2.0, 3.0])
    autodiff(s2sad.Forward, f, Duplicated(np.array([0.3, -0.4, 0.7]), tangent))
    assert tangent.tolist() == [6.0, 2.0, 3.0]


def test_a_parameter_of_which_the_new_value_is_made_has_its_tangent():
    def f(x, y):
        for i in range(2):
            x[i] = y * x[i + 1]
            if i == 1:
                x = x * y
        return np.sum(x)

    tangent = np.array([1.0, 2.0, 3.0])
    x = Duplicated(np.array([0.3, -0.4, 0.7]), tangent)
    value, slope = autodiff(s2sad.Forward, f, x, Duplicated(0.5, 1.0))
    assert (value, slope) == (pytest.approx(0.5 * (-0.2 + 0.35 + 0.7)), pytest.approx(3.75))
    assert tangent == pytest.approx([0.6, 2.2, 3.0])
