"""Programs whose derivatives were once wrong in the passes from program to program.

They are held beside central differences: tangents and gradients.
"""

import copy
import functools
import inspect

import numpy as np
import pytest
import scipy.stats

import s2sad
from s2sad import kinds as K
from s2sad import pipeline
from s2sad.operators.deriving import loaded, printed
from s2sad.operators.higher import HIGHER
from s2sad.requests import Request

X = np.array([0.7, -1.3, 0.4, 1.9])
DOT = np.array([0.3, 0.8, -0.5, 0.2])


def a_number_becomes_an_array(x):
    t = x[0]
    t *= x
    return np.sum(t)


def a_number_becomes_an_array_each_round(x):
    t = 0.0
    for i in range(3):
        t += x[i]
        t *= x
        t = np.sum(t)
    return t


def a_sum_of_what_is_written_later(x):
    b = x * 1.0
    y = b + 0.2
    b[2] += b[0]
    return np.sum(y)


def functions_of_what_is_written_later(x):
    b = x * 1.0
    y = np.copy(b)
    z = b / 1.0
    b[1:] *= 2.0
    return np.sum(y * z)


def a_sum_of_a_part_of_what_is_written_later(x):
    d = {"b": x * 1.0}
    y = d["b"][1:] + 1.0
    d["b"][2] = 5.0 * x[1]
    return np.sum(y)


def a_sum_of_an_array_of_no_axes(x):
    b = np.array(x[0])
    y = b + 0.5
    b += x[1]
    return y * y


def a_sum_of_which_a_term_is_a_number(x):
    w = np.maximum(x, -100.0)
    return np.sum(w + x)


def a_break_brings_the_derivative(x):
    y = 0.2
    for i in range(3):
        if x[i] < 1.19:
            y = x[0]
            break
    return y * x[1]


def a_return_out_of_a_loop_brings_the_derivative(x):
    y = 0.2
    i = 0
    while i < 2:
        if np.sum(x) < 3.0:
            y = x[0]
            return y * x[1]
        i += 1
    return y * x[1]


def a_break_brings_the_derivative_to_an_integer(x):
    y = 1
    for i in range(3):
        if x[i] < 1.19:
            y = x[0]
            break
    return y * x[1]


def of_what_a_loop_carries_one_is_read_behind_it(x):
    a = x[0]
    b = x[1]
    for i in range(3):
        a = np.sin(a) * x[i]
        b = b * a + x[i]
    return b


BYTES = np.array([0, 1, 2, 3], "uint8")


def a_power_of_narrow_integers(x):
    return np.sum((x * x) ** BYTES)


def integers_in_a_list_are_an_array(x):
    return np.sum(np.convolve(x, [1, 2, 1], mode="same") ** 2)


def written_by_an_inner_function(x):
    y = x[1] * 1.3
    r = x * y

    def write(z):
        x[0] = z

    x = x * 1.0
    s = x * y
    write(y)
    x = x * np.sum(s) + np.sum(r)
    return np.sum(x * x)


PROGRAMS = [
    written_by_an_inner_function,
    a_power_of_narrow_integers,
    integers_in_a_list_are_an_array,
    a_number_becomes_an_array,
    a_number_becomes_an_array_each_round,
    a_sum_of_what_is_written_later,
    functions_of_what_is_written_later,
    a_sum_of_a_part_of_what_is_written_later,
    a_sum_of_an_array_of_no_axes,
    a_sum_of_which_a_term_is_a_number,
    a_break_brings_the_derivative,
    a_return_out_of_a_loop_brings_the_derivative,
    a_break_brings_the_derivative_to_an_integer,
    of_what_a_loop_carries_one_is_read_behind_it,
]


def derived(f, mode):
    """Return the derivative of a function of one array, by the passes on the program."""
    (word,) = inspect.signature(f).parameters
    request = Request(f, ((word, K.kind_of(X, word)),), (word,), True, mode)
    d = pipeline.derive(request, HIGHER)
    return loaded(printed(d), d)[d.entry]


def slope(f):
    step = 1e-6 * DOT
    return (f(X + step) - f(X - step)) / 2e-6


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_tangents(f):
    x, dot = copy.deepcopy((X, DOT))
    for _ in range(2):
        value, tangent = derived(f, "jvp")(x, dot)
        np.testing.assert_allclose(value, f(X.copy()), rtol=1e-14)
        np.testing.assert_allclose(tangent, slope(f), rtol=1e-7)
        assert np.array_equal(x, X)
        assert np.array_equal(dot, DOT)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f):
    x = X.copy()
    value, grad = derived(f, "value_and_grad")(x)
    np.testing.assert_allclose(value, f(X.copy()), rtol=1e-14)
    np.testing.assert_allclose(grad @ DOT, slope(f), rtol=1e-7)
    assert np.array_equal(x, X)


def a_loop_binds_what_is_read_behind_it(x):
    s = 0.0
    for i in range(3):
        z = x * x[i]
        s = s + np.sum(z * z)
    return s + np.sum(z)


def a_loop_may_bind_nothing(x):
    if x[0] > 9.0:
        z = np.ones(4)
    for i in range(3):
        if i > 0:
            z = z * x[i]
        else:
            z = x * x[i]
    return np.sum(z)


UNBOUND = [a_loop_binds_what_is_read_behind_it, a_loop_may_bind_nothing]


@pytest.mark.parametrize("f", UNBOUND, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["jvp", "value_and_grad"])
def test_what_is_not_bound_is_not_read(f, mode):
    try:
        both = derived(f, mode)
    except s2sad.UnsupportedError as refused:  # reverse mode wants a value on all paths
        assert mode != "jvp" and "may be unbound" in str(refused)
        return
    value, moved = both(X, DOT) if mode == "jvp" else both(X)
    np.testing.assert_allclose(value, f(X.copy()), rtol=1e-14)
    np.testing.assert_allclose(moved if mode == "jvp" else moved @ DOT, slope(f), rtol=1e-7)


def test_views_of_what_lies_by_columns():
    def f(x):
        n = x * 2.0
        r = n.T.reshape(9)
        r[1] = 3.0 * x[0, 0]
        return np.sum(n * n)

    at = np.sin(np.arange(9.0)).reshape(3, 3).T
    dot = np.cos(np.arange(9.0)).reshape(3, 3)  # it lies by rows
    request = Request(f, (("x", K.kind_of(at, "x")),), ("x",), True, "jvp")
    d = pipeline.derive(request, HIGHER)
    value, tangent = loaded(printed(d), d)[d.entry](at, dot)
    assert value == f(at)
    moved = np.zeros_like(at)
    moved[...] = 1e-6 * dot
    np.testing.assert_allclose(tangent, (f(at + moved) - f(at - moved)) / 2e-6, rtol=1e-7)


def asked_for_its_length(x):
    def last():
        return len(y) - 1

    y = x + 1.0
    y[last()] = 1.4
    return y @ y + x @ x


def read_beside_a_copy(x):
    z = np.sin(x)
    y = z[:] * 1.0
    w = y + 1.0

    def first():
        return y[0]

    y[0] = 0.7
    w[1] = 0.7 * x[0]
    return first() * 2.0 + z[0] + w[1] + y[1]


def captured_and_bound_anew(x):
    y = -x

    def total():
        return np.sum(y)

    for i in range(2):
        y[i] = y[i] * x[0]
    t = total()
    y = x * 1.0
    y[0] = t * x[1]
    return total() + t


@pytest.mark.parametrize("f", [asked_for_its_length, read_beside_a_copy, captured_and_bound_anew])
def test_tangents_of_captured_arrays_are_arrays_of_their_own(f):
    """A tangent that is that of an operand was written in the place of that: also the caller's."""
    point, along = np.array([0.3, 0.7]), np.array([1.0, 2.0])
    want = (f(point + 1e-6 * along) - f(point - 1e-6 * along)) / 2e-6
    kept = along.copy()
    assert s2sad.jvp(f, (point,), (along,))[1] == pytest.approx(want, rel=1e-7)
    assert s2sad.grad(f)(point) @ along == pytest.approx(want, rel=1e-7)
    np.testing.assert_array_equal(along, kept)


def parts_of_numbers_written(x):
    y = x * 1.0
    fractions, _ = np.modf(y)
    fractions[0] = 5.0
    return fractions @ fractions + y @ y


def eigenvalues_written(x):
    w, V = np.linalg.eigh(np.outer(x, x) + np.diag([3.0, 2.0, 1.0]))
    w[0] += x[1]
    return w[0] * w[2] + np.sum(np.abs(V[2]) ** 2)


def singular_values_written(x):
    found = np.linalg.svd(np.outer(x, x) + np.diag([3.0, 2.0, 1.0]))
    s = found.S
    s[0] += x[1]
    return s[0] * s[1]


@pytest.mark.parametrize(
    "f", [parts_of_numbers_written, eigenvalues_written, singular_values_written]
)
def test_tangents_of_what_a_call_gives_are_arrays_of_their_own(f):
    """A pushforward may hand back the tangent of an operand, or a view that nobody may write."""
    point, along = np.array([0.3, 0.7, 1.1]), np.array([1.0, -2.0, 0.5])
    with np.errstate(all="ignore"):
        want = (f(point + 1e-6 * along) - f(point - 1e-6 * along)) / 2e-6
        assert s2sad.jvp(f, (point,), (along,))[1] == pytest.approx(want, rel=1e-6)
        assert s2sad.grad(f)(point) @ along == pytest.approx(want, rel=1e-6)


def beside_how_it_began(x):
    u = x.copy()
    u[0] = 1.3 * x[1]
    first, s = u, 0.0
    for _ in range(3):
        s += np.sum((u - first) ** 2)
        u = u + 0.1 * np.sin(u)
    return s


def captured_bound_anew_and_written(x):
    u = x * 1.0

    def energy():
        return np.sum(u * u) * x[0]

    e = 0.0
    for i in range(3):
        u = u + x[1]
        e += energy()
        u[i] = 0.5
    return e


class Held:
    def __init__(self, v, scale):
        self.v, self.scale = v, scale

    def get(self):
        return self.v

    def pop(self, at):
        return self.v[at] * self.scale


def asked_by_methods_with_names_of_dicts(x):
    held = Held(x * 1.0, x[0])
    b = held.get()
    return held.scale * b[0] + held.pop(1)


def arrays_in_a_list_over_their_norms(x):
    rows, norms = [], np.zeros(2)
    for k in range(2):
        row = x * (k + 1.0) + x[k]
        norms[k] = np.linalg.norm(row)
        rows.append(row / norms[k])
    return np.sum(np.stack(rows)[:, 0] ** 2) + norms[0]


@pytest.mark.parametrize(
    "f",
    [
        beside_how_it_began,
        captured_bound_anew_and_written,
        asked_by_methods_with_names_of_dicts,
        arrays_in_a_list_over_their_norms,
    ],
)
def test_gradients_that_a_blind_hunt_found_wrong(f):
    point = np.array([0.32, 0.76, -0.4])
    slopes = [(f(point + e) - f(point - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    _, pullback = s2sad.vjp(f, point)
    for got in (s2sad.grad(f)(point), pullback(1.0), pullback(1.0)):
        np.testing.assert_allclose(got, slopes, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        s2sad.jvp(f, (point,), (np.array([1.0, 2.0, -1.0]),))[1],
        np.array(slopes) @ [1.0, 2.0, -1.0],
        rtol=1e-6,
    )


def picks(w, items):
    return w * items[2] * items[0]


def repeats(w, items):
    twice = items * 2
    return w * sum(twice) * twice[3]


def shrinks_after_a_call(x):
    xs = [x[0], x[1], x[2] * 2.0]
    z = picks(x[0], xs)
    xs.pop()
    xs.pop()
    return z * x[1] + xs[0]


def shrinks_and_grows_after_a_call(x):
    xs = [x[0], x[1], x[2] * 2.0]
    z = repeats(x[0], xs)
    xs.pop()
    xs += [2.0, x[1], 1.0]
    return z * xs[0] * xs[3]


@pytest.mark.parametrize("f", [shrinks_after_a_call, shrinks_and_grows_after_a_call])
def test_lists_that_are_longer_or_shorter_after_a_call(f):
    point = np.array([0.3, 0.7, 1.1])
    slopes = [(f(point + e) - f(point - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    _, pullback = s2sad.vjp(f, point)
    for got in (s2sad.grad(f)(point), pullback(1.0), pullback(1.0)):
        np.testing.assert_allclose(got, slopes, rtol=1e-6)


def given_by_an_inner_function_and_written(x):
    a, c = np.cos(x), np.sin(x)

    def whole():
        return a

    def first():
        return c[0] * x[1]

    c = whole()
    t = first()
    a *= 0.7
    return t * c[2]


def test_what_an_inner_function_gives_may_be_what_it_captures():
    f = given_by_an_inner_function_and_written
    point = np.array([0.31, 0.71, -0.38])
    slopes = [(f(point + e) - f(point - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(s2sad.grad(f)(point), slopes, rtol=1e-7, atol=1e-9)


UNITS = {"a": np.array([2.0]), "b": np.array([3.0])}


class Row:
    def __init__(self, unit, width):
        self.unit = unit
        self.width = width


class Pile:
    def __init__(self):
        self.rows = []

    def put(self, row):
        self.rows.append(row)
        return self


def piled(x):
    pile = Pile()
    for i, width in enumerate(x):
        pile.put(Row(UNITS["ab"[i % 2]], width))
    return pile


def holds_what_lives_outside(x):
    return sum(np.sum(row.unit) * row.width**2 for row in piled(x).rows)


LEFT = {"a": Row(None, 1.0)}


def left_outside(x):
    row = Row(None, x)
    LEFT["a"] = row
    row.width = 2.0 * x
    return x


def finds_what_was_left(x):
    return left_outside(x[0]) * LEFT["a"].width


def test_what_a_function_makes_may_hold_what_lives_outside():
    point = np.array([0.3, 0.7, 1.1])
    got = s2sad.grad(holds_what_lives_outside)(point)
    np.testing.assert_allclose(got, 2 * point * np.array([2.0, 3.0, 2.0]))
    with pytest.raises(s2sad.UnsupportedError, match="lasts from call to call"):
        s2sad.grad(finds_what_was_left)(point)


def weighed(path):
    highest = np.maximum.accumulate(path)
    total = 0.0
    for i in range(len(path)):
        total = total + path[i] * highest[i]
    return total


def needs_a_helper_named_as_a_variable_is(x):
    path = x * x
    return scipy.stats.skew(path) + weighed(path)


def test_helpers_have_names_that_functions_derived_before_leave_free():
    f = needs_a_helper_named_as_a_variable_is
    point = np.array([0.3, 0.7, 1.1])
    slopes = [(f(point + e) - f(point - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(s2sad.grad(f)(point), slopes, rtol=1e-6)


class Queue:
    def __init__(self, rate, served):
        self.rate = rate
        self.served = served

    @property
    def load(self):
        return self.rate / self.served

    def waits(self, x, slow=1.0, times=1):
        return self.rate * x**2 * slow * times


class Shared(Queue):
    @property
    def load(self):
        return super().load / 2.0


def a_property_of_a_base(x):
    return Shared(x[0], x[1]).load ** 2 + Queue.load.fget(Shared(x[1], x[2]))


def a_method_is_handed_keywords(x):
    waits = Queue(x[0], 2.0).waits
    return waits(x[1], times=2) + {"a": waits}["a"](x[2], slow=x[0])


def a_partial_is_called_with_keywords(x):
    bound = functools.partial(Queue.waits, Queue(x[0], 2.0), slow=x[1])
    return bound(x[2]) + sum(bound(x[0], slow=s, times=2) for s in (0.5, x[2])) * bound(x=x[1])


@pytest.mark.parametrize(
    "f", [a_property_of_a_base, a_method_is_handed_keywords, a_partial_is_called_with_keywords]
)
def test_what_is_bound_takes_keywords_and_properties_have_getters(f):
    point = np.array([0.3, 0.7, 1.1])
    slopes = [(f(point + e) - f(point - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(s2sad.grad(f)(point), slopes, rtol=1e-6)


class Station:
    def __init__(self, rate):
        self.rate = rate


class Counter(Station):
    def __init__(self, rate, places):
        super().__init__(rate)
        self.places = places


class Closed(Station):
    places = None


def some_have_an_attribute(x):
    stations = [Station(x[0]), Counter(x[1], x[2])]
    return sum(s.rate * getattr(s, "places", 2.0) for s in stations)


def an_attribute_is_none(x):
    total = 0.0
    for s in [Station(x[0]), Counter(x[1], x[2]), Closed(x[2])]:
        places = getattr(s, "places", 2.0)
        total = total + (s.rate**2 if places is None else s.rate * places)
    return total if getattr(Closed(x[0]), "places", 2.0) is None else total * x[0]


@pytest.mark.parametrize("f", [some_have_an_attribute, an_attribute_is_none])
def test_attributes_that_some_objects_have(f):
    point = np.array([0.3, 0.7, 1.1])
    slopes = [(f(point + e) - f(point - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(s2sad.grad(f)(point), slopes, rtol=1e-6)


def remembered(x):
    known = {}

    def steps(n):
        if n in known:
            return known[n]
        known[n] = x[n] if n < 2 else steps(n - 1) * x[0] + steps(n - 2)
        return known[n]

    return steps(4)


def filled_by_calls_of_itself(x):
    def walk(n, found):
        if n == 0:
            return x[2]
        t = walk(n - 1, found)
        if found:
            t = t * found[-1]
        found.append(x[n] * t)
        return t

    return walk(2, [])


@pytest.mark.parametrize("f", [remembered, filled_by_calls_of_itself])
def test_a_function_changes_what_it_hands_to_itself(f):
    point = np.array([0.31, 0.71, -0.38])
    slopes = [(f(point + e) - f(point - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    _, pullback = s2sad.vjp(f, point)
    for got in (s2sad.grad(f)(point), pullback(1.0), pullback(1.0)):
        np.testing.assert_allclose(got, slopes, rtol=1e-7, atol=1e-9)


def a_tuple_of_memory_in_a_loop_that_is_left(x):
    pair = (x * 2.0, x * 3.0)
    for i in range(3):
        y, z = pair
        z[0] = x[1]
        y[1] = z[2]
        if i == 1:
            break
        pair = (z, pair[0])
    return np.sum(pair[0]) + np.sum(pair[1] ** 2)


def a_tuple_of_memory_in_a_loop_that_is_left_in_a_loop(x):
    pair = (x * 2.0, [x * 3.0])
    for i in range(3):
        pair[1][0][0] = x[1]
        for j in range(2):
            if i + j == 2:
                return np.sum(pair[0]) + np.sum(pair[1][0] ** 2)
        if x[0] > 9.0:
            break
        pair = (pair[0] * x[2], pair[1])
    return np.sum(pair[0])


@pytest.mark.parametrize(
    "f",
    [
        a_tuple_of_memory_in_a_loop_that_is_left,
        a_tuple_of_memory_in_a_loop_that_is_left_in_a_loop,
    ],
)
def test_what_a_round_would_hand_on_is_not_there_where_it_leaves_the_loop(f):
    point = np.array([0.31, 0.71, -0.38])
    slopes = [(f(point + e) - f(point - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(s2sad.grad(f)(point), slopes, rtol=1e-7, atol=1e-9)


def test_a_cell_that_is_bound_in_between_is_bound_anew():
    def bound_twice_at_once(x):
        n = 1

        def item():
            return x[n]

        n, n = 2, n
        return item() * x[0]

    point = np.array([0.31, 0.71, -0.38])
    value, gradient = s2sad.value_and_grad(bound_twice_at_once)(point)
    assert value == bound_twice_at_once(point)
    np.testing.assert_allclose(gradient, [0.71, 0.31, 0.0])


def a_number_times_an_array_where_both_may_stand_still(x):
    y = np.sin(x)
    y = np.tanh(x[2]) * (y[1:] - y[:-1])

    def later(n):
        if n == 0:
            return y * 1.0
        z = later(n - 1)
        z[n] *= 2.0
        return z

    x = later(1)
    return np.sum(x)


def test_a_number_and_an_array_are_tested_for_zero_together():
    f = a_number_times_an_array_where_both_may_stand_still
    slope = (f(X + 1e-6 * DOT) - f(X - 1e-6 * DOT)) / 2e-6
    np.testing.assert_allclose(s2sad.jvp(f, (X.copy(),), (DOT,))[1], slope, rtol=1e-6)


class Scaled:
    def __init__(self, v):
        self.v = v

    def up(self, w):
        self.v = self.v * w


class Kept(Scaled):
    def up(self, w):
        base = super()
        self.v = self.v + w
        base.up(w)


class Hides(Scaled):
    def up(self, w):
        Scaled = 2.0  # noqa: N806
        self.v = self.v + w * Scaled
        super().up(w)


def a_super_whose_name_is_hidden(x):
    made = Hides(x[0])
    made.up(x[1])
    return made.v


def a_kept_super(x):
    made = Kept(x[0])
    made.up(x[1])
    return made.v


def a_super_of_a_class_without_a_name(x):
    class Base:
        def __init__(self, v):
            self.v = v

        def up(self, w):
            self.v = self.v * w

    class Derived(Base):
        def up(self, w):
            self.v = self.v + w
            super().up(w)

    made = Derived(x[0])
    made.up(x[1])
    return made.v


@pytest.mark.parametrize(
    "f", [a_kept_super, a_super_of_a_class_without_a_name, a_super_whose_name_is_hidden]
)
def test_what_super_does_is_followed_or_refused(f):
    """What a method of super() wrote had no derivative, in silence."""
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(X)
    with pytest.raises(s2sad.Error):
        s2sad.jvp(f, (X,), (DOT,))


def a_copy_of_a_list_that_held_none(x):
    a = [None] * 4
    for i in range(3):
        a[i] = x[i] * x[0]
    total = 0.0
    for v in list(a):
        if v is not None:
            total += v * v
    return total


def a_dict_that_held_none(x):
    d = {"p": None, "q": None}
    d["p"] = x[0] * x[1]
    e = dict(d)
    e["q"] = x[2]
    return e["p"] * e["q"] + d["p"]


@pytest.mark.parametrize("f", [a_copy_of_a_list_that_held_none, a_dict_that_held_none])
def test_what_is_made_of_none_and_filled_later(f):
    """The copy was taken to hold no numbers: its gradient was zero, in silence."""
    slopes = [(f(X + e) - f(X - e)) / 2e-6 for e in np.eye(4) * 1e-6]
    np.testing.assert_allclose(s2sad.grad(f)(X), slopes, rtol=1e-7, atol=1e-8)
    assert s2sad.jvp(f, (X,), (DOT,))[1] == pytest.approx(np.dot(slopes, DOT), rel=1e-7)


def _identical(_, value, __):
    return value


def a_loop_beside_a_decided_temporary(x):
    d = {"u": 1}
    c = _identical(1, x, "w" in d)
    h = list(x)
    at = 2
    while at > 0:
        if h[at] > 0.1:
            break
        h[at] = h[at] * 2
        at = at - 1
    c[1] = h[2]
    return np.sum(x * h[1])


def a_name_bound_twice_before_a_function_writes(x):
    b = np.zeros(4)
    c = np.ones(4)
    b = c

    def inner():
        b[2] = x[2] * x[1]

    inner()
    return np.sum(c)


def a_name_bound_behind_the_function_that_writes(x):
    c = np.ones(4)

    def inner():
        b[2] = x[2] * x[1]

    b = c
    inner()
    return np.sum(c)


def a_target_that_binds_what_it_gets(x):
    t = x[0]

    def of(a):
        nonlocal t
        t = a[1]
        return a

    of(x)[2] = t
    of(x)[3], s = t, t * 2.0
    return np.sum(x * x) + s


@pytest.mark.parametrize(
    "f",
    [
        a_loop_beside_a_decided_temporary,
        a_name_bound_twice_before_a_function_writes,
        a_name_bound_behind_the_function_that_writes,
        a_target_that_binds_what_it_gets,
    ],
    ids=lambda f: f.__name__,
)
def test_names_that_mean_other_things(f):
    """A temporary's name was decided wherever it stood; a cell shared its memory with nobody."""
    slopes = [(f(X + e) - f(X - e)) / 2e-6 for e in np.eye(4) * 1e-6]
    np.testing.assert_allclose(s2sad.grad(f)(X), slopes, rtol=1e-7, atol=1e-8)
    assert s2sad.jvp(f, (X,), (DOT,))[1] == pytest.approx(np.dot(slopes, DOT), rel=1e-7)


KEPT = {"a": 1.0}
ROW = np.zeros(4)


def into_a_dict_outside_by_a_default(x):
    def put(kept=KEPT):
        kept["a"] = x[0]

    put()
    return KEPT["a"] * x[1]


def into_an_array_outside_by_a_default(x):
    def put(row=ROW):
        row[0] = x[0]

    put()
    return np.sum(ROW) * x[1]


@pytest.mark.parametrize(
    "f", [into_a_dict_outside_by_a_default, into_an_array_outside_by_a_default]
)
def test_what_an_inner_function_puts_into_its_default_is_refused(f):
    """It captured what it put there: the derivative was lost in silence."""
    with pytest.raises(s2sad.Error, match="lasts from call to call"):
        s2sad.grad(f)(X)
    with pytest.raises(s2sad.Error, match="lasts from call to call"):
        s2sad.jvp(f, (X,), (DOT,))


class Log:
    def __init__(self):
        self.kept = []

    def put(self, v):
        self.kept.append(v)


def a_slice_of_an_empty_list_gets_arrays(x):
    log = Log()
    for k in range(2):
        log.kept = log.kept[-1:] if k else log.kept[2:]
        log.put(x * k)
    return np.sum(log.kept[1] ** 2)


def a_slice_of_an_empty_list(x):
    log = Log()
    log.kept = log.kept[2:]
    log.put(x)
    return np.sum(log.kept[0] ** 2)


def a_list_of_an_empty_list(x):
    log = Log()
    log.kept = list(log.kept)
    log.put(x)
    return np.sum(log.kept[0] ** 2)


def a_copy_of_an_empty_list(x):
    log = Log()
    log.kept = log.kept.copy()
    log.put(x)
    log.put(x * 2.0)
    return np.sum(log.kept[0] ** 2 * log.kept[1])


def an_empty_list_twice(x):
    log = Log()
    log.kept = log.kept * 2
    log.put(x)
    return np.sum(log.kept[0] ** 2)


def bound_in_a_handler_alone(x):
    a = x
    d = {"u": 0.5, "v": 0.25}
    kept = [1.0, x]
    try:
        kept[0] = x[0] * 2.0
    except ZeroDivisionError:

        def inner():
            nonlocal d, a
            d = {1: v for k, v in d.items()}
            kept[1] += 1

        inner()
    return x[0] * x[1]


@pytest.mark.parametrize(
    "f",
    [
        a_slice_of_an_empty_list_gets_arrays,
        a_slice_of_an_empty_list,
        a_list_of_an_empty_list,
        a_copy_of_an_empty_list,
        an_empty_list_twice,
        bound_in_a_handler_alone,
    ],
    ids=lambda f: f.__name__,
)
def test_derived_code_that_died(f):
    slopes = [(f(X + e) - f(X - e)) / 2e-6 for e in np.eye(4) * 1e-6]
    np.testing.assert_allclose(s2sad.grad(f)(X), slopes, rtol=1e-7, atol=1e-8)
    assert s2sad.jvp(f, (X,), (DOT,))[1] == pytest.approx(np.dot(slopes, DOT), rel=1e-7)


class Channel:
    """An object of which nothing is known: it can be gone through."""

    def __init__(self):
        self.open = "no"

    def __iter__(self):
        return iter(())

    @property
    def opened(self):
        self.open = "yes"
        return 1.0

    def __len__(self):
        self.open = "yes"
        return 0


def by_an_unread_property(x, channel):
    channel.opened  # noqa: B018
    return np.sum(x * x) if channel.open == "yes" else np.sum(x)


def by_an_unread_length(x, channel):
    len(channel)
    return np.sum(x * x) if channel.open == "yes" else np.sum(x)


@pytest.mark.parametrize("f", [by_an_unread_property, by_an_unread_length])
def test_what_an_unknown_object_is_asked_for_nobody(f):
    """What the object's own code does was dropped with what it gives."""
    np.testing.assert_array_equal(s2sad.grad(f, wrt=0)(X, Channel()), 2.0 * X)
    assert s2sad.jvp(f, (X, Channel()), (DOT, None))[1] == pytest.approx(2.0 * X @ DOT)


def _in_turn(a, b, unused, n):
    if n == 0:
        return a
    return _in_turn(b, a, unused, n - 1)


def parameters_that_change_places(x):
    unused, c = [1, 1], np.zeros(2)
    a = _in_turn(x, c, unused, 2)
    return a[1] * x[0]


def _swapping(a, b, n):
    if n == 0:
        return a

    def swap():
        nonlocal a, b
        a, b = b, a

    swap()
    return _swapping(a, b, n - 1)


def parameters_that_are_swapped_inside(x):
    q = _swapping(x * 1.0, np.zeros(3), 2)
    q *= x[1]
    return np.sum(q)


@pytest.mark.parametrize("f", [parameters_that_change_places, parameters_that_are_swapped_inside])
def test_recursions_that_call_themselves_with_other_kinds(f):
    """What was found of the other call, while nothing was known of this one, was kept."""
    slopes = [(f(X + e) - f(X - e)) / 2e-6 for e in np.eye(4) * 1e-6]
    np.testing.assert_allclose(s2sad.grad(f)(X), slopes, rtol=1e-7, atol=1e-8)
    assert s2sad.jvp(f, (X,), (DOT,))[1] == pytest.approx(np.dot(slopes, DOT), rel=1e-7)
