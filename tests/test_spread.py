"""Unpacking at a call: what there is to unpack is known, or the call is refused."""

import collections
import functools
import math

import numpy as np
import pytest
from slopes import check

import s2sad

Point = collections.namedtuple("Point", "a b")
PARAMETERS = {"b": 2.0, "c": 0.5}


def g(a, b, c=1.5):
    a = a * a
    return a * b + math.sin(c * a)


def line(x, a, b):
    return a * x + b * b


def of_a_list(x, n):
    values = [x, n]
    return g(*values)


def of_a_display(x, n):
    return g(*[x, n], c=x)


def of_a_dict(x, n):
    table = {"a": x, "b": n}
    return g(**table)


def of_a_dict_made_by_keywords(x, n):
    table = dict(b=n, c=x)
    return g(x, **table)


def of_a_dict_filled_before(x, n):
    table = {"b": n * x}
    table["c"] = 3.0
    return g(x, **table)


def of_both(x, n):
    values = (x,)
    table = {"c": x * n}
    return g(*values, n, **table)


def of_a_named_tuple(x, n):
    p = Point(x, n)
    return g(*p)


def of_a_constant_table(x, n):
    return g(x, **PARAMETERS) * n


def passes_on(*args, **kwargs):
    return g(*args, **kwargs)


def through_a_wrapper(x, n):
    return passes_on(x, n, c=x) + passes_on(x, b=n) + passes_on(a=n, b=x)


def doubled(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return 2.0 * f(*args, **kwargs)

    return inner


@doubled
def decorated(a, b=2.0):
    return a * a * b


def of_a_decorated_function(x, n):
    return decorated(x, b=n) + decorated(n)


def euler(f, y, args=()):
    for i in range(3):
        y = y + 0.1 * f(0.1 * i, y, *args)
    return y


def rhs(t, y, a, b):
    return a * y * y + b * t


def by_a_solver(x, n):
    return euler(rhs, 1.0, args=(x, n))


class Line:
    def __init__(self, slope):
        self.slope = slope

    def at(self, x, k):
        return self.slope * x * k


LINE = Line(1.5)


def of_a_method(x, n):
    pair = (x, n)
    return LINE.at(*pair)


FUNCTIONS = [
    *(of_a_list, of_a_display, of_a_dict, of_a_dict_made_by_keywords, of_both, of_a_named_tuple),
    *(of_a_constant_table, through_a_wrapper, of_a_decorated_function, decorated, by_a_solver),
    *(of_a_method, of_a_dict_filled_before),
]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_unpacking(fn):
    check(fn, 0.7, 1.2)


def of_an_argument(p, x):
    return line(x, *p)


def of_a_table(p, x):
    return line(x, **p)


@pytest.mark.parametrize(
    "p", [(0.7, 1.2), [0.7, 1.2], np.array([0.7, 1.2])], ids=lambda p: str(type(p))
)
def test_a_sequence_fills_the_parameters_that_are_left(p):
    check(of_an_argument, p, 0.3)


def test_a_table_from_outside():
    check(of_a_table, {"a": 0.7, "b": 1.2}, 0.3)


def test_the_text_names_what_is_unpacked_after_the_parameters():
    text = s2sad.grad(of_an_argument).source(np.array([0.7, 1.2]), 0.3)
    assert "    a, b = p\n" in text


def test_another_length_fails_as_the_call_does():
    derived = s2sad.grad(of_an_argument)
    derived([0.7, 1.2], 0.3)
    with pytest.raises((TypeError, ValueError)):
        derived([0.7, 1.2, 0.1], 0.3)


def may_have_a_default(p, x):
    return g(x, *p)


@pytest.mark.parametrize("p", [np.array([0.7]), np.array([0.7, 1.2])])
def test_what_fills_none_of_the_parameters_with_a_default_leaves_it(p):
    check(may_have_a_default, p, 0.3)


def gathers(*values):
    return sum(values)


def any_number(p):
    return gathers(*p)


def changed_before(x):
    table = {"b": 2.0}
    other = table
    other["c"] = 3.0
    return g(x, **table)


def changed_under_another_name(x):
    values = [1.0, 2.0]
    others = values
    others.append(3.0)
    return g(x, *values)


@pytest.mark.parametrize(
    ("fn", "args"),
    [
        (any_number, ([0.7, 1.2],)),
        (changed_before, (0.3,)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_is_not_known_is_refused(fn, args):
    with pytest.raises(s2sad.Error) as caught:
        s2sad.grad(fn)(*args)
    assert "unpack" in str(caught.value)


def test_more_items_than_parameters_fail_as_the_call_does():
    with pytest.raises(TypeError):
        s2sad.grad(changed_under_another_name)(0.3)


def of_ufuncs(x):
    return np.hypot(*x[:2]) * np.arctan2(*x[1:3]) + np.sum(np.multiply(*np.array([x, x * x])))


def of_functions_of_the_library(x):
    rows = np.array([x, np.sin(x)])
    return np.sum(np.clip(x, *np.sort(x)[1:3])) + np.dot(*rows) + np.sum(np.outer(*rows) * x[0])


def of_functions_of_math(x):
    return math.atan2(*x[:2]) * math.pow(*np.abs(x[1:3])) + math.copysign(*x.tolist()[:2])


def of_any_number_of_numbers(x):
    longest = math.hypot(*x) * math.hypot(*[v * v for v in x], 2.0)
    return longest + max(*x, 0.1) * min(x[0] * x[1], *x[1:]) + max(*x.tolist(), key=abs)


def of_parts_of_any_length(x):
    s = 0.0
    for i in range(2, 4):
        s += math.hypot(*x[:i]) * max(*x[i - 2 :])
    return s + sum(min(*row) for row in np.outer(x, x))


def of_whatever_it_is_given(x):
    def size(p):
        return math.hypot(*p)

    return size(x) * size((x[0], x[1])) + size([x[2]])


OF_A_LIBRARY = [
    *(of_ufuncs, of_functions_of_the_library, of_functions_of_math, of_any_number_of_numbers),
    *(of_parts_of_any_length, of_whatever_it_is_given),
]


@pytest.mark.parametrize("fn", OF_A_LIBRARY, ids=lambda fn: fn.__name__)
def test_unpacking_for_functions_of_a_library(fn):
    x, along = np.array([0.7, -1.2, 0.4, 0.9]), np.array([0.3, 1.0, -0.6, 0.2])
    check(fn, x)
    ends = [s2sad.grad(fn)(x + h * along) for h in (1e-6, -1e-6)]
    moved = s2sad.hvp(fn, (x,), (along,))
    assert moved == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-7)


def test_the_largest_of_one_number_fails_as_the_call_does():
    derived = s2sad.grad(lambda x: max(*x) * x[0])
    derived(np.array([0.7, 1.2]))
    with pytest.raises(TypeError, match="not iterable"):
        derived(np.array([0.7]))


def more_or_fewer(x):
    return math.log(*x)


def with_settings_behind(x):
    return np.sum(np.linspace(*x, 5))


@pytest.mark.parametrize("fn", [more_or_fewer, with_settings_behind])
def test_how_many_arrays_a_function_gets_is_not_known(fn):
    with pytest.raises(s2sad.Error, match="unpack"):
        s2sad.grad(fn)(np.array([0.7, 1.2]))


def linear(x, w, b):
    return x @ w + b


def attention(q, k, v):
    return np.tanh(q @ k.T) @ v


def heads(x, joined, out):
    x = linear(x, **joined)
    rows = list(map(lambda part: np.split(part, 2, axis=-1), np.split(x, 3, axis=-1)))
    return linear(np.hstack([attention(q, k, v) for q, k, v in zip(*rows)]), **out)


def blocks(params, x):
    for block in params["blocks"]:
        x = x + heads(x, **block)
    return np.sum(x**2)


def test_tables_of_parameters_stay_while_lists_grow():
    rng = np.random.default_rng(0)

    def table(n, m):
        return {"w": 0.3 * rng.normal(size=(n, m)), "b": rng.normal(size=m)}

    params = {"blocks": [{"joined": table(4, 12), "out": table(4, 4)} for _ in range(2)]}
    s2sad.check_grads(blocks, (params, rng.normal(size=(3, 4))), wrt=0)


def rows_of_a_matrix(x):
    return sum(a * b**2 for a, b in zip(*np.stack([x, x * x])))


def test_a_loop_says_how_many_rows_are_zipped():
    s2sad.check_grads(rows_of_a_matrix, (np.array([0.7, -1.2, 0.4]),))


def of_a_table_in_a_list(x):
    table = {"a": x, "b": 2.0}
    changed(([table],))
    return g(**table)


def changed(groups):
    groups[0][0]["a"] = 3.0 * groups[0][0]["a"]


def test_a_table_that_a_called_function_may_reach_is_refused():
    with pytest.raises(s2sad.UnsupportedError, match="`table` is unpacked here and may be changed"):
        s2sad.grad(of_a_table_in_a_list)(0.7)


def integers_are_unpacked(x):
    at = np.array([3, 4])
    return x * np.hypot(*at) + np.arctan2(*at) * x


def test_integers_fill_what_a_ufunc_takes():
    assert s2sad.grad(integers_are_unpacked)(0.5) == pytest.approx(5.0 + np.arctan2(3, 4))
