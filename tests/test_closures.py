"""Inner functions that call one another: what each captures reaches the one that uses it."""

import functools
import math

import numpy as np
import pytest
from slopes import check

import s2sad
from s2sad.control import scan, switch


def call_each_other(x, n):
    def even(v, k):
        return v if k == 0 else odd(v * x, k - 1)

    def odd(v, k):
        return v if k == 0 else even(v * n, k - 1)

    return even(x, 3)


def a_parameter_of_the_same_name(x, n):
    def scale(v):
        return v * n

    def both(n):
        return scale(n * x) * n

    return both(x)


def a_variable_of_the_same_name(x, n):
    def scale(v):
        return v * n

    n = n * 2.0

    def both(v):
        n = v * 3.0
        return scale(n) * n

    return both(x)


def a_chain_passed_on(x, n):
    def scale(v):
        return v * n

    def shift(v):
        return scale(v) + x

    def apply(f, n):
        return f(n) * n

    return apply(shift, x * x)


FUNCTIONS = [
    *(call_each_other, a_parameter_of_the_same_name, a_variable_of_the_same_name),
    a_chain_passed_on,
]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_inner_functions_that_call_one_another(fn):
    check(fn, 0.7, 1.2)


def test_a_pair_that_calls_itself_is_written_once():
    text = s2sad.grad(call_each_other, wrt=(0, 1)).source(0.7, 1.2)
    assert text.count("def even_forward") == text.count("def odd_forward") == 1


# --- functions that return functions -------------------------------------------------------------


def make(a):
    def inner(y):
        return a * y * y

    return inner


def compose(f, g):
    return lambda v: f(g(v))


def square(a):
    return a * a


def called_at_once(x, n):
    return make(x)(n)


def called_twice(x, n):
    h = make(x * n)
    return h(n) + h(x)


def two_of_them(x, n):
    g = make(x)
    h = make(n)
    return g(n) * h(x)


def composed(x, n):
    return compose(square, math.sin)(x) * n


def composed_of_what_is_made(x, n):
    return compose(make(x), make(n))(x)


def made_by_an_inner_function(x, n):
    def scaled(a):
        def inner(y):
            return a * y * n

        return inner

    h = scaled(x)
    n = n * 2.0
    return h(n)


def a_variable_of_that_name(x, a):
    h = make(x)
    a = a * 3.0
    return h(a)


def the_argument_is_rebound(a, n):
    h = make(a)
    a = a * 3.0
    return h(n) * a


def made_in_every_round(x, n):
    s = 0.0
    for i in range(3):
        h = make(x * i)
        s = s + h(n)
    return s


def with_a_loop_inside(x, n):
    def build(k):
        total = 0.0
        for i in range(3):
            total = total + k * i

        def inner(y, shift=1.0):
            return total * y + shift

        return inner

    return build(x)(n)


MAKERS = [
    *(called_at_once, called_twice, two_of_them, composed, composed_of_what_is_made),
    *(made_by_an_inner_function, a_variable_of_that_name, the_argument_is_rebound),
    *(made_in_every_round, with_a_loop_inside),
]


@pytest.mark.parametrize("fn", MAKERS, ids=lambda fn: fn.__name__)
def test_functions_that_return_functions(fn):
    check(fn, 0.7, 1.2)


def kept_for_later(x, n):
    made = []
    for i in range(3):
        made.append(make(x * i))
    return made[0](n) + made[1](n)


def carried_around(x, n):
    f = square
    for _ in range(2):
        f = compose(f, make(x))
    return f(n)


def recursive_with_a_tuple(x, n):
    def several(fs, k, v):
        return v if k == 0 else several(fs, k - 1, fs[k % 2](v))

    return several((lambda v: v * x, lambda v: v + n), 3, x)


@pytest.mark.parametrize("fn", [kept_for_later, carried_around, recursive_with_a_tuple])
def test_functions_that_outlive_what_they_capture_are_refused(fn):
    with pytest.raises(s2sad.Error):
        s2sad.grad(fn)(0.7, 1.2)


def first(fs, v):
    return fs[0](v)


def each(fs, v):
    for f in fs:
        v = f(v)
    return v


def both(f, v):
    return f(v) * f(v)


def in_a_tuple(x, n):
    return first((lambda v: v * n * x, 1.0), n)


def in_a_list(x, n):
    return each([lambda v: v * x, lambda v: np.sin(v) + x, np.cos], n)


def in_a_dict(x, n):
    def use(table, v):
        return table["a"](v) * table["b"](v)

    return use({"a": lambda v: v * x, "b": lambda v: v + x}, n)


def one_of_two(x, n):
    return both((lambda v: v * x) if x > 0.0 else (lambda v: v + x), n)


def with_what_changes(x, n):
    y = x
    fs = (lambda v: v * y,)
    before = first(fs, n)
    y = y * n
    return before + first(fs, n)


def a_list_that_grows(x, n):
    def grow(fs, v):
        fs.append(lambda w: w * x * 3.0)
        return fs[-1](v)

    fs = [lambda v: v * x]
    return grow(fs, n) * len(fs)


def captured_in_a_list(x, n):
    fs = [lambda v: v * x, lambda v: np.sin(v * n)]

    def body(v, k):
        return switch(k, fs, v)

    for k in [0, 1, 0]:
        x = x + body(x, k)
    return x


def captured_in_a_tuple(x, n):
    fs = (lambda v: v * x, lambda v: np.sin(v * n))
    last, path = scan(lambda v, k: (fs[0](fs[1](v)), v), x, np.arange(2.0))
    return last * path[1]


def captured_in_a_dict(x, n):
    fs = {"scale": lambda v: v * x, "wave": lambda v: np.sin(v * n)}
    last, path = scan(lambda v, k: (fs["scale"](fs["wave"](v)), v), x, np.arange(2.0))
    return last * path[1]


IN_STRUCTURES = [
    *(in_a_tuple, in_a_list, in_a_dict, one_of_two, with_what_changes, a_list_that_grows),
    *(captured_in_a_list, captured_in_a_tuple, captured_in_a_dict),
]


@pytest.mark.parametrize("fn", IN_STRUCTURES, ids=lambda fn: fn.__name__)
def test_functions_that_capture_are_given_in_structures(fn):
    check(fn, 0.7, 1.2)


def the_name_is_taken(x, n):
    f_w, w = n, x

    def apply(f):
        return f(2.0) * f_w

    return apply(lambda z: z * w * w)


def two_take_one_name(x, n):
    g_a, a = x, n

    def apply(f, f_g):
        return f(2.0) * f_g(3.0)

    return apply(lambda z: z * g_a * g_a, lambda z: z * a)


@pytest.mark.parametrize("fn", [the_name_is_taken, two_take_one_name])
def test_names_of_what_given_functions_capture_differ(fn):
    check(fn, 0.7, 1.2)


def with_names_outside():
    calls, last = 0, 0.0

    def counts(x):
        nonlocal calls
        calls += 1
        return x * x

    def works_outside(x):
        nonlocal calls, last
        last = x * x
        for _ in range(3):
            calls += 1
            last = last * x + calls
        return last * x

    def twice_bound(x):
        nonlocal calls
        calls = 2
        y = x * x * calls
        calls = 5
        return y * x * calls

    def calls_a_counter(x):
        return counts(x) * x

    def keeps(x):
        nonlocal last
        last = x * x

    def reads_what_is_kept(x):
        keeps(x)
        return last * x

    def reset():
        nonlocal calls, last
        calls, last = 0, 0.0

    functions = [counts, works_outside, twice_bound, calls_a_counter, reads_what_is_kept]
    return functions, reset, lambda: (calls, last)


@pytest.mark.parametrize("index", range(4))
def test_names_outside_are_left_as_a_call_leaves_them(index):
    functions, reset, seen = with_names_outside()
    f = functions[index]
    reset()
    value = f(1.5)
    left = seen()
    reset()
    assert s2sad.value_and_grad(f)(1.5)[0] == value and seen() == left
    reset()
    assert s2sad.jvp(f, (1.5,), (1.0,))[0] == value and seen() == left
    reset()
    result, pullback = s2sad.vjp(f, 1.5)
    assert result == value and seen() == left
    reset()
    first = pullback(1.0)[0] if isinstance(pullback(1.0), tuple) else pullback(1.0)
    assert seen() == (0, 0.0)
    slopes = []
    for x in (1.5 + 1e-6, 1.5 - 1e-6):
        reset()
        slopes.append(f(x))
    assert first == pytest.approx((slopes[0] - slopes[1]) / 2e-6, rel=1e-6)
    reset()
    assert s2sad.grad(f)(1.5) == pytest.approx(first)


def test_what_a_called_function_keeps_outside_is_refused():
    functions, _, _ = with_names_outside()
    with pytest.raises(
        s2sad.UnsupportedError, match="changes something that lasts from call to call"
    ):
        s2sad.grad(functions[4])(1.5)


def result_takes_the_name(x):
    s = x[0]

    def g(q):
        return q * s * 0.5

    s = g(x[1])
    return s


def result_takes_the_name_in_a_loop(x):
    s, y = x[0], x * 1.0

    def g(q):
        return q * s * 0.5

    def rhs():
        return -y * y * s + y[0]

    for v in x:
        s = s + g(v)
        s = g(v + 2.0)
        y = y + 0.1 * rhs()
        y = rhs()
    return s * np.sum(y)


def applied(f, q):
    return f(q) * 0.5


def result_of_what_is_handed_over(x):
    s = x[0]
    s = applied(lambda q: q * s + s * s, x[2])
    g = (lambda q: q * s) if x[0] > 0 else (lambda q: q * s * s)
    s = g(x[1])
    functions = {"a": lambda q: q * s, "b": lambda q: q + s * s}
    s = functions["a"](x[1])
    s = functions["b"](x[2])
    return s


def result_of_a_function_that_calls_another(x):
    s, r = x[0], x[1]

    def g(q):
        return q * s * r, q + s

    def h(q):
        return g(q)[0] * s + q

    s = h(x[1])
    s, r = g(x[2])
    s = h(s)
    return s * r


def structures_take_the_name(x):
    y, p, n = [x[0], x[1]], {"a": x[0]}, 0

    def g(q):
        return [q * v for v in y]

    def h(q):
        return {"a": p["a"] * q}

    while n < 2:
        y = g(x[2] + n)
        p = h(x[1])
        n += 1
    return y[0] * y[1] + p["a"]


def arrays_are_written_meanwhile(x):
    y, w = x * 1.0, x + 2.0

    def g(a):
        a[0] = a[0] * y[1]
        return a * y

    y = g(w)
    return y @ w


@pytest.mark.parametrize(
    "f",
    [
        result_takes_the_name,
        result_takes_the_name_in_a_loop,
        result_of_what_is_handed_over,
        result_of_a_function_that_calls_another,
        structures_take_the_name,
        arrays_are_written_meanwhile,
    ],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_captured_variable_gets_the_result(f, sign):
    check(f, sign * np.array([0.7, -0.4, 1.3]))


def set_first(v, y):
    v[0] = y


def lambda_of_each_round(x, y):
    x = x * 1.0
    for _ in range(2):
        later = lambda v=x: set_first(v, y)
        later()
    return np.sum(x * x)


def function_of_each_round(x, y):
    x = x * 1.0
    for _ in range(2):

        def later(*given, v=x):
            v[0] = given[0] * v[1]

        later(y)
    return np.sum(x * x)


def view_of_each_round(x, y):
    x = x * 1.0
    for _ in range(2):

        def later(v=x[:]):
            v[0] = y

        later()
    return np.sum(x * x)


def list_of_each_round(x, y):
    x = x * 1.0
    for _ in range(2):
        later = lambda v=[x, y]: set_first(v[0], v[1])
        later()
    return np.sum(x * x)


def function_in_each_round(x, y):
    x = x * 1.0
    for _ in range(2):
        later = lambda v=(lambda: x): set_first(v(), y)
        later()
    return np.sum(x * x)


def partial_of_each_round(x, y):
    x = x * 1.0
    for _ in range(2):
        later = functools.partial(set_first, x)
        later(y)
    return np.sum(x * x)


@pytest.mark.parametrize(
    "f",
    [
        lambda_of_each_round,
        function_of_each_round,
        view_of_each_round,
        list_of_each_round,
        function_in_each_round,
    ],
)
def test_a_default_of_each_round_may_be_written(f):
    check(lambda x: f(x, 0.7), np.array([0.5, 0.3]))
    check(lambda y: f(np.array([0.5, 0.3]), y), 0.7)


def test_what_a_partial_of_each_round_writes_is_refused():
    with pytest.raises(s2sad.Error, match="which is passed to a function that may change it"):
        s2sad.grad(partial_of_each_round)(np.array([0.5, 0.3]), 0.7)


def called_in_its_round(x):
    total = 0.0
    for i in range(2):
        for j in range(2):

            def later(r, c=x[i], d=x[i] * x[j]):
                return r * c + d

            total = total + np.sum(later(x)) + twice_of(later, x[j])
    return total


def twice_of(f, v):
    return 2.0 * f(v) * v


def the_last_one_outlives_the_loop(x):
    total = 0.0
    for i in range(2):
        later = lambda r, c=x[i]: r * c  # noqa: E731
        kept = later
    for i in range(2):
        total = total + kept(x[i])
    return total


@pytest.mark.parametrize("f", [called_in_its_round, the_last_one_outlives_the_loop])
def test_defaults_of_a_round_hold_in_it(f):
    check(f, np.array([0.5, 0.3]))


def called_in_the_next_round(x):
    before, total = (None,), 0.0
    for i in range(3):
        later = lambda r, c=x[i % 2] * (i + 1): r * c  # noqa: E731
        if before[0] is not None:
            total = total + before[0](x[0])
        before = (later,)
    return total


def kept_in_a_list(x):
    kept = []
    for i in range(2):
        kept.append(lambda r, c=x[i]: r * c)
    return sum(f(x[0]) for f in kept)


@pytest.mark.parametrize("f", [called_in_the_next_round, kept_in_a_list])
def test_defaults_of_an_earlier_round_are_not_known(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(np.array([0.5, 0.3]))


def test_a_default_that_is_given_does_not_count():
    def f(x, y):
        x = x * 1.0
        for _ in range(2):

            def later(v=x):
                v[0] = v[0] * y

            later(x)
        return np.sum(x * x)

    check(f, np.array([0.5, 0.3]), 0.7)


def test_a_parameter_of_a_name_that_is_made_up_elsewhere():
    def f(x, y):
        x = x * 1.0
        later = lambda held=x: set_first(held, y)
        later()
        return np.sum(x * x)

    check(f, np.array([0.5, 0.3]), 0.7)


def test_what_is_rebound_and_does_not_matter_forward():
    def f(y):
        x = np.ones(2)

        def later():
            nonlocal x
            x = x * y

        later()
        return y * y

    assert s2sad.grad(f)(3.0) == 6.0
    assert s2sad.jvp(f, (3.0,), (1.0,)) == (9.0, 6.0)


# --- functions that objects hold -----------------------------------------------------------------


class Held:
    def __init__(self, rate=None, power=1.0):
        self.rate = rate or (lambda t: 2.0 * t)
        self.power = power
        self.count = 0.0

    def __call__(self, t):
        self.count = self.count + 1.0
        return self.power * self.rate(t) * self.count


def an_object_holds_a_closure(x, n):
    def rate(t):
        return x * np.sin(n * t)

    held = Held(rate, n)
    return held(x) + held(n)


def an_object_holds_what_a_function_makes(x, n):
    held, other = Held(make(x), n), Held()
    return held(n) * other(x)


def a_captured_name_changes_later(x, n):
    k = n
    held = Held(lambda t: t * k)
    k = x * x
    return held(x) * k


def an_object_holds_what_writes(x, n):
    total = np.zeros(2)

    def rate(t):
        total[0] += t * x
        return total[0] * n

    held = Held(rate)
    return held(x) + held(n) + total[0] ** 2


HELD = [
    *(an_object_holds_a_closure, an_object_holds_what_a_function_makes),
    *(a_captured_name_changes_later, an_object_holds_what_writes),
]


@pytest.mark.parametrize("fn", HELD, ids=lambda fn: fn.__name__)
def test_objects_that_hold_closures(fn):
    check(fn, 0.7, 1.2)
