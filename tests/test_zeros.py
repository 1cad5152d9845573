"""Zeros by structure are strong: what is masked, not indexed, or not the maximum stays zero.

Each program has a singular point at its argument, and a derivative there all the same.
"""

import contextlib
import importlib.util
import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest

import s2sad
from s2sad import testing
from s2sad.registry import all_rules, positional_names, rule_for
from s2sad.tools import oracle

with contextlib.suppress(ImportError):  # their rules are among those asked, if SciPy is there
    importlib.import_module("scipy.stats")

X = np.array([0.0, 4.0])


def masked_root(x):
    return np.sum(np.where(x > 0, np.sqrt(x), 0.0))


def masked_log(x):
    return np.sum(np.where(x > 0, np.log(x), -1.0))


def masked_quotient(x):
    return np.sum(np.where(x == 0, 0.0, 3.0 / x))


def masked_numerator_and_divisor(x):
    return np.sum(np.where(x == 0, 1.0, np.sin(x) / x))


def masked_reciprocal(x):
    return np.sum(np.where(x > 0, np.reciprocal(x), 0.0))


def masked_half_power(x):
    return np.sum(np.where(x > 0, x**0.5, 0.0))


def masked_negative_power(x):
    return np.sum(np.where(x > 0, x**-2.0, 0.0))


def masked_power_of_two_arrays(x):
    return np.sum(np.where(x > 0, x ** (x / 8.0), 0.0))


def masked_cube_root(x):
    return np.sum(np.where(x > 0, np.cbrt(2.0 * x), 0.0))


def masked_entropy(x):
    return np.sum(np.where(x > 0, x * np.log(x), 0.0))


def masked_entropy_by_difference(x):
    y = x * np.log(x)
    return -np.sum(np.where(x > 0, y - x, 0.0))


def masked_arcsin(x):
    return np.sum(np.where(x < 1, np.arcsin(x - 3.0 * (x > 1)), 0.0))


def masked_arcsin_at_one(x):
    return np.sum(np.where(x > 0, np.arcsin(1.0 - x / 8.0), 0.0))


def masked_arccosh(x):
    return np.sum(np.where(x > 0, np.arccosh(1.0 + x), 0.0))


def masked_arctanh(x):
    return np.sum(np.where(x > 0, np.arctanh(1.0 - x / 8.0), 0.0))


def masked_arctan2(x):
    return np.sum(np.where(x > 0, np.arctan2(x, 2.0 * x * x), 0.0))


def masked_log1p(x):
    return np.sum(np.where(x > 0, np.log1p(x - 1.0), 0.0))


def masked_remainder(x):
    return np.sum(np.where(x > 0, 10.0 % x, 0.0))


def masked_chain(x):
    y = 2.0 * np.sqrt(x) + 1.0
    z = y[:, None] * np.ones(3)
    return np.sum(np.where(x[:, None] > 0, z, 0.0))


def masked_nonlinear_chain(x):
    return np.sum(np.where(x > 0, np.sin(np.log(x)) ** 2, 0.0))


def masked_twice(x):
    y = np.where(x > 0, np.log(x), 0.0)
    return np.sum(np.where(x > 1, np.tanh(y), 0.0))


def masked_by_a_product(x):
    return np.sum(np.sqrt(x) * (x > 0))


def masked_by_select(x):
    return np.sum(np.select([x > 0], [np.sqrt(x)], 0.0))


def maximum(x):
    return np.max(np.sqrt(x))


def minimum_method(x):
    return (-np.sqrt(x)).min()


def maximum_of_two(x):
    return np.sum(np.maximum(np.sqrt(x), 1.0))


def minimum_of_two(x):
    return np.sum(np.minimum(-np.sqrt(x), -1.0))


def clipped(x):
    return np.sum(np.clip(np.sqrt(x), 1.0, 3.0))


def clipped_log(x):
    return np.sum(np.clip(np.log(x), -5.0, 5.0))


def sliced(x):
    return np.sum(np.sqrt(x)[1:])


def indexed(x):
    return np.sqrt(x)[1]


def indexed_from_the_end(x):
    y = np.sqrt(x)
    return y[-1] * y[-1] * y[-1]


def indexed_by_an_array(x):
    return np.sum(np.sqrt(x)[np.array([1, 1])])


def indexed_by_a_mask(x):
    return np.sum(np.sqrt(x)[x > 0])


def taken(x):
    return np.sum(np.take(np.sqrt(x), [1]))


def sorted_away(x):
    return np.sort(np.sqrt(x))[1]


def largest_by_argsort(x):
    return np.sqrt(x)[np.argsort(x)][-1]


def summed_where(x):
    return np.sum(np.sqrt(x), where=x > 0)


def averaged_where(x):
    return np.mean(np.log(x), where=x > 0)


def not_a_number(x):
    return np.nansum(np.log(x - 1.0))


def made_a_number(x):
    return np.sum(np.nan_to_num(np.log(x), neginf=0.0))


def on_the_diagonal(x):
    return np.trace(np.sqrt(np.array([[x[1], x[0]], [x[0], x[1]]])))


def unpacked(x):
    a, b = np.sqrt(x)
    return 3.0 * b


def in_a_tuple(x):
    pair = (np.sqrt(x), np.sqrt(x + 1.0))
    return np.sum(pair[1])


def in_a_list(x):
    roots = [np.sqrt(x[0]), np.sqrt(x[1])]
    return roots[1]


def best_so_far(x):
    best = 0.0
    for v in x:
        root = math.sqrt(v)
        if root > best:
            best = root
    return best


def best_of_numbers(x):
    best = 1.0
    for i in range(len(x)):
        best = max(best, math.sqrt(x[i]))
    return best


def branch_not_taken(x):
    root = math.sqrt(x[0])
    if x[1] > 0:
        return x[1] * x[1]
    return root


def skipped_rounds(x):
    total = 0.0
    for i in range(len(x)):
        y = np.sqrt(x[i])
        if x[i] > 0:
            total += y
    return total


def over_rounds(x):
    y = np.sqrt(x)
    for _ in range(3):
        y = 2.0 * y
    return np.sum(np.where(x > 0, y, 0.0))


def one_round_each(x):
    y = np.log(x)
    total = 0.0
    for i in range(1, len(x)):
        total += y[i]
    return total


def root_of(v):
    return np.sqrt(v)


def twice_the_root_of(v):
    return 2.0 * root_of(v)


def masked_call(x):
    return np.sum(np.where(x > 0, root_of(x), 0.0))


def masked_call_of_a_call(x):
    return np.sum(np.where(x > 0, twice_the_root_of(x), 0.0))


def chosen(v, m):
    return np.where(m, v, 0.0)


def call_that_masks(x):
    return np.sum(chosen(np.sqrt(x), x > 0))


def product(a, b):
    return a * b


def call_of_an_infinite_value(x):
    return np.sum(np.where(x > 0, product(x, np.log(x)), 0.0))


def logarithm(v):
    return np.log(v)


def infinite_value_from_a_call(x):
    return np.sum(np.where(x > 0, x * logarithm(x), 0.0))


def closure(x):
    def inner(v):
        return np.sqrt(v)

    return np.sum(np.where(x > 0, inner(x), 0.0))


def countdown(v, n):
    if n == 0:
        return np.sqrt(v)
    return countdown(v, n - 1)


def recursive_call(x):
    return np.sum(np.where(x > 0, countdown(x, 2), 0.0))


def divided_by_a_scalar(x):
    return np.sum(np.where(x > 9.0, x / x[0], 0.0)) + x[1]


def scalar_root_broadcast(x):
    return np.sum(np.where(x > 9.0, x * np.sqrt(x[0]), 0.0)) + x[1]


def angle(x):
    z = x + 0j
    return np.sum(np.where(x > 0, np.angle(z * (1.0 + x * 1j)), 0.0))


def infinite_values_in_a_list(x):
    logs = [np.log(v) for v in x]
    return np.sum(np.where(x > 0, x * np.array(logs), 0.0))


def infinite_values_of_a_dict(x):
    found = {"log": np.log(x), "x": x}
    return np.sum(np.where(x > 0, found["log"] * found["x"], 0.0))


def infinite_values_over_rounds(x):
    y = x
    for _ in range(2):
        y = y * np.log(x)
    return np.sum(np.where(x > 0, y, 0.0))


def ended_early(x):
    last = 0.0
    for v in x[::-1]:
        root = np.sqrt(v)
        if v == 0:
            break
        last = root
    return last


def broken_off(x):
    y = np.sqrt(x)
    total, i = 0.0, 0
    while True:
        if i >= 1:
            break
        total = total + y[1 - i]
        i += 1
    return total


def matched(x):
    y = np.sqrt(x)
    match len(x):
        case 2:
            return y[1]
        case _:
            return np.sum(y)


def returned_early(x):
    y = np.log(x)
    if np.isinf(y[0]):
        return y[1]
    return np.sum(y)


def starred(x):
    _, *rest = [np.sqrt(v) for v in x]
    return rest[0]


def pairs_without_themselves(x):
    d = x[:, None] - x[None, :]
    i, j = np.triu_indices(2, 1)
    return np.sum((1.0 / (d * d))[i, j])


def through_a_dict(x):
    table = {"root": np.sqrt(x), "log": np.log(x)}
    return np.sum(np.where(x > 0, table["root"], 0.0))


def picked_last(x):
    y = np.sqrt(x)
    rows = []
    for i in range(len(x)):
        rows.append(y[i])
    return np.array(rows)[-1]


TABLE = [
    (masked_root, [0.0, 0.25]),
    (masked_log, [0.0, 0.25]),
    (masked_quotient, [0.0, -3.0 / 16.0]),
    (masked_numerator_and_divisor, [0.0, math.cos(4.0) / 4.0 - math.sin(4.0) / 16.0]),
    (masked_reciprocal, [0.0, -1.0 / 16.0]),
    (masked_half_power, [0.0, 0.25]),
    (masked_negative_power, [0.0, -2.0 / 64.0]),
    (masked_power_of_two_arrays, [0.0, 2.0 * (math.log(4.0) + 1.0) / 8.0]),
    (masked_cube_root, [0.0, 2.0 / 12.0]),
    (masked_entropy, [0.0, math.log(4.0) + 1.0]),
    (masked_entropy_by_difference, [0.0, -math.log(4.0)]),
    (masked_arcsin, [1.0, 0.0]),
    (masked_arcsin_at_one, [0.0, -0.125 / math.sqrt(0.75)]),
    (masked_arccosh, [0.0, 1.0 / math.sqrt(24.0)]),
    (masked_arctanh, [0.0, -0.125 / 0.75]),
    (masked_arctan2, [0.0, -2.0 / 65.0]),
    (masked_log1p, [0.0, 0.25]),
    (masked_remainder, [0.0, -2.0]),
    (masked_chain, [0.0, 1.5]),
    (masked_nonlinear_chain, [0.0, math.sin(2.0 * math.log(4.0)) / 4.0]),
    (masked_twice, [0.0, (1.0 - math.tanh(math.log(4.0)) ** 2) / 4.0]),
    (masked_by_a_product, [0.0, 0.25]),
    (masked_by_select, [0.0, 0.25]),
    (maximum, [0.0, 0.25]),
    (minimum_method, [0.0, -0.25]),
    (maximum_of_two, [0.0, 0.25]),
    (minimum_of_two, [0.0, -0.25]),
    (clipped, [0.0, 0.25]),
    (clipped_log, [0.0, 0.25]),
    (sliced, [0.0, 0.25]),
    (indexed, [0.0, 0.25]),
    (indexed_from_the_end, [0.0, 3.0]),
    (indexed_by_an_array, [0.0, 0.5]),
    (indexed_by_a_mask, [0.0, 0.25]),
    (taken, [0.0, 0.25]),
    (sorted_away, [0.0, 0.25]),
    (largest_by_argsort, [0.0, 0.25]),
    (summed_where, [0.0, 0.25]),
    (averaged_where, [0.0, 0.25]),
    (not_a_number, [0.0, 1.0 / 3.0]),
    (made_a_number, [0.0, 0.25]),
    (on_the_diagonal, [0.0, 0.5]),
    (unpacked, [0.0, 0.75]),
    (in_a_tuple, [0.5, 0.5 / math.sqrt(5.0)]),
    (in_a_list, [0.0, 0.25]),
    (best_so_far, [0.0, 0.25]),
    (best_of_numbers, [0.0, 0.25]),
    (branch_not_taken, [0.0, 8.0]),
    (skipped_rounds, [0.0, 0.25]),
    (over_rounds, [0.0, 2.0]),
    (one_round_each, [0.0, 0.25]),
    (masked_call, [0.0, 0.25]),
    (masked_call_of_a_call, [0.0, 0.5]),
    (call_that_masks, [0.0, 0.25]),
    (call_of_an_infinite_value, [0.0, math.log(4.0) + 1.0]),
    (infinite_value_from_a_call, [0.0, math.log(4.0) + 1.0]),
    (closure, [0.0, 0.25]),
    (recursive_call, [0.0, 0.25]),
    (divided_by_a_scalar, [0.0, 1.0]),
    (scalar_root_broadcast, [0.0, 1.0]),
    (angle, [0.0, 1.0 / 17.0]),
    (infinite_values_in_a_list, [0.0, math.log(4.0) + 1.0]),
    (infinite_values_of_a_dict, [0.0, math.log(4.0) + 1.0]),
    (infinite_values_over_rounds, [0.0, math.log(4.0) ** 2 + 2.0 * math.log(4.0)]),
    (ended_early, [0.0, 0.25]),
    (picked_last, [0.0, 0.25]),
    (broken_off, [0.0, 0.25]),
    (matched, [0.0, 0.25]),
    (returned_early, [0.0, 0.25]),
    (starred, [0.0, 0.25]),
    (pairs_without_themselves, [0.03125, -0.03125]),
    (through_a_dict, [0.0, 0.25]),
]


@pytest.mark.parametrize(("f", "expected"), TABLE, ids=lambda p: getattr(p, "__name__", ""))
def test_zeros_by_structure_are_strong(f, expected):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(s2sad.grad(f)(X), expected, rtol=1e-12, atol=0)


def root_read_in_one_triangle(x):
    return np.sqrt(np.array([[x[1], x[0]], [2.0, x[1] + 1.0]]))


def singular_values_of_a_triangle(x):
    return np.sum(
        np.linalg.svd(root_read_in_one_triangle(x), hermitian=True, compute_uv=False) ** 2
    )


def pseudoinverse_of_a_triangle(x):
    return np.sum(np.linalg.pinv(root_read_in_one_triangle(x), hermitian=True))


@pytest.mark.parametrize("f", [singular_values_of_a_triangle, pseudoinverse_of_a_triangle])
def test_the_triangle_that_is_not_read_gets_zeros(f):
    with np.errstate(all="ignore"):
        found = s2sad.grad(f)(X)
    assert found[0] == 0.0
    np.testing.assert_allclose(found[1], slope_of(f), rtol=1e-7)


def slope_of(f, h=1e-5):
    """Return how f moves with the second entry of X."""
    step = np.array([0.0, h])
    return (f(X + step) - f(X - step)) / (2.0 * h)


def test_functions_of_scipy_that_mask():
    distance = pytest.importorskip("scipy.spatial.distance")
    special, linalg = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.linalg")
    v = np.array([0.1, 0.0])
    programs = [
        lambda x: distance.chebyshev(np.sqrt(x), v),
        lambda x: distance.canberra(np.sqrt(x) - 3.0 * (x <= 0), v + 0.5),
        lambda x: distance.minkowski(np.sqrt(x), v, np.inf),
        lambda x: np.sum(linalg.pinvh(root_read_in_one_triangle(x))),
        lambda x: np.sum(
            distance.squareform(np.sqrt(np.array([[0.0, x[1]], [x[0], 0.0]])), checks=False)
        ),
        lambda x: np.sum(np.where(x > 0, special.wright_bessel(1.0, 2.0, x - 2.0 * (x <= 0)), 0.0)),
    ]
    for f in programs:
        with np.errstate(all="ignore"):
            found = s2sad.grad(f)(X)
        assert found[0] == 0.0
        np.testing.assert_allclose(found[1], slope_of(f), rtol=1e-7)


@pytest.mark.parametrize(("f", "expected"), TABLE, ids=lambda p: getattr(p, "__name__", ""))
def test_the_pullback_warns_no_more_than_the_plain_call(f, expected):
    with np.errstate(all="raise"):
        try:
            f(X)
        except FloatingPointError:
            pytest.skip("the plain call warns")
        s2sad.grad(f)(X)


# --- kinds of numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize("f", [masked_root, maximum, masked_quotient, masked_entropy, indexed])
def test_single_precision_stays(f):
    with np.errstate(all="ignore"):
        found = s2sad.grad(f)(X.astype(np.float32))
    assert found.dtype == np.float32 and np.all(np.isfinite(found))


def test_single_precision_stays_beside_a_python_float():
    def f(x, s):
        return np.sum(np.where(x > 0, x / s, 0.0))

    x_bar, s_bar = s2sad.grad(f, wrt=("x", "s"))(X.astype(np.float32), 2.0)
    assert x_bar.dtype == np.float32
    np.testing.assert_allclose(x_bar, [0.0, 0.5])
    np.testing.assert_allclose(s_bar, -1.0)


def test_complex_numbers_too():
    def f(z):
        return np.sum(np.where(z != 0, np.abs(np.sqrt(z)), 0.0))

    z = np.array([0j, 4.0 + 0j])
    with np.errstate(all="ignore"):
        found = s2sad.grad(f)(z)
    assert found.dtype == complex
    np.testing.assert_allclose(found, [0.0, 0.25])


def test_what_is_not_masked_stays_infinite():
    with np.errstate(all="ignore"):
        assert np.isinf(s2sad.grad(lambda x: np.sum(np.sqrt(x)))(X)[0])

        def both(x):
            y = np.sqrt(x)
            return np.sum(np.where(x > 0, y, 0.0)) + np.sum(y)

        found = s2sad.grad(both)(X)
    assert np.isinf(found[0]) and found[1] == 0.5


def test_python_numbers_raise_as_python_does():
    with pytest.raises(ZeroDivisionError):
        s2sad.grad(lambda x: math.sqrt(x))(0.0)


def log_of(v):
    return np.log(v)


def test_a_full_cotangent_and_a_masked_one_of_a_called_function():
    def f(x):
        return np.sum(log_of(x + 1.0)) + np.sum(np.where(x > 0, log_of(x), 0.0))

    text = s2sad.grad(f).source(X)
    assert text.count("def log_of_reverse") == 2
    with np.errstate(all="ignore"):
        found = s2sad.grad(f)(X)
    np.testing.assert_allclose(found, [1.0, 0.2 + 0.25])


def test_a_called_function_without_a_singular_point_is_derived_once():
    def sine_of(v):
        return np.sin(v) * v

    def f(x):
        return np.sum(sine_of(x)) + np.sum(np.where(x > 0, sine_of(x), 0.0))

    assert s2sad.grad(f).source(X).count("_reverse(") == 3


def test_the_pullback_of_vjp_too():
    value, pull = s2sad.vjp(lambda x: np.where(x > 0, np.sqrt(x), 0.0), X)
    np.testing.assert_allclose(pull(np.array([1.0, 1.0])), [0.0, 0.25])
    np.testing.assert_allclose(pull(np.array([1.0, 2.0])), [0.0, 0.5])


def test_what_is_handed_over_beside_the_loss_counts_for_nothing():
    def f(x):
        y = np.sqrt(x)
        return np.sum(np.where(x > 0, y, 0.0)), y

    (_, y), x_bar = s2sad.value_and_grad(f, has_aux=True)(X)
    np.testing.assert_allclose(x_bar, [0.0, 0.25])


# --- nothing for nothing -------------------------------------------------------------------------


def unguarded(f, *args):
    text = s2sad.grad(f).source(*args)
    return re.search(r"_bar\w* == 0", text) is None


NO_GUARD = {
    "nothing is masked": lambda x: np.sum(np.sqrt(x)),
    "masked before": lambda x: np.sum(np.sqrt(np.where(x > 0, x, 1.0))),
    "not singular": lambda x: np.sum(np.where(x > 0, np.sin(x), 0.0)),
    "a square": lambda x: np.sum(np.where(x > 0, x**2, 0.0)),
    "a square as a product": lambda x: np.sum(np.where(x > 0, x * x, 0.0)),
    "a literal divisor": lambda x: np.sum(np.where(x > 0, x / 3.0, 0.0)),
    "a length as divisor": lambda x: np.sum(np.where(x > 0, x / len(x), 0.0)),
    "a divisor that is never 0": lambda x: np.sum(np.where(x > 0, 1.0 / (1.0 + x * x), 0.0)),
    "a sigmoid": lambda x: np.max(1.0 / (1.0 + np.exp(-x))),
    "a root that is never 0": lambda x: np.max(np.sqrt(np.sum(x * x) + 1e-9) * x),
    "a logarithm that is finite": lambda x: np.log(1.0 + np.exp(x))[1],
    "log1p of what is not negative": lambda x: np.log1p(np.exp(x))[1],
    "a maximum before": lambda x: np.log(np.maximum(x, 1e-9)).sum(),
    "all rows": lambda x: np.sum(np.log(x)[:, None] * np.ones(3)),
    "reversed": lambda x: np.sum(np.log(x)[::-1]),
    "a full cotangent is added": lambda x: (lambda y: np.sum(y) + y[0])(np.log(x)),
    "permuted": lambda x: np.sum(np.arange(2) * np.sort(np.log(x))),
    "a sum along an axis": lambda x: np.sum(np.sqrt(np.sum(x[:, None] * np.ones(2), 0))),
    "a norm": lambda x: np.max(np.linalg.norm(x) * x),
    "einsum": lambda x: np.einsum("i,i->", np.log(x), x),
}


@pytest.mark.parametrize("name", NO_GUARD)
def test_no_guard_where_no_such_zero_can_arrive_or_nothing_is_singular(name):
    assert unguarded(NO_GUARD[name], X + 1.0)


def test_a_guard_is_one_where():
    text = s2sad.grad(masked_root).source(X)
    assert text.count("np.where(") == 3 and "== 0, 1.0, " in text
    text = s2sad.grad(best_so_far).source(X)
    assert "0.5 * root_bar / (1.0 if root_bar == 0 else root)" in text


def test_python_numbers_that_would_have_raised_need_no_guard():
    def f(a, b):
        q = a / b
        if a > 1.0:
            return a
        return q

    assert unguarded(f, 0.5, 2.0)


# --- what the rules say --------------------------------------------------------------------------

# Zeros by value: of a singular matrix, a power 0, one point, nothing repeated, a polynomial that
# is constant.
BY_VALUE = {"det", "matrix_power", "linspace", "tile", "polyval", "vander", "polyfit"}
RULES = Path(__file__).parent / "rules"


def rows_of(name):
    spec = importlib.util.spec_from_file_location(name, RULES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [row for row in module.ROWS if len(row) == 3]


def zeros_in(fn, args, settings):
    """Return the zeros in what a full cotangent is pulled back to."""
    call = testing._Call(rule_for(fn), fn, args, settings)
    names, out = call.names(), call.primal()
    if np.size(out if not isinstance(out, list | tuple) else 1) == 0:
        return False
    bars = call.backward(names, out, oracle.random_like(out, np.random.default_rng(3)))
    return bars is not None and any(
        np.any(np.asarray(part) == 0)
        for value, bar in zip(call.arrays(names), bars, strict=True)
        if bar is not None and oracle.leaves_of(value)
        for leaf, part in oracle.paired(value, bar, "")
        if part is not None and np.size(leaf) > 1
    )


@pytest.mark.parametrize("name", sorted(p.stem for p in RULES.glob("test_*.py")))
def test_rules_that_mask_say_so(name):
    try:
        rows = rows_of(name)
    except AttributeError:
        pytest.skip("no table of this form")
    for fn, args, settings in rows:
        rule = rule_for(fn)
        if rule is None or rule.zero or rule.masks is True or rule.name in BY_VALUE:
            continue
        if isinstance(rule.masks, tuple) and set(rule.masks) & set(settings):
            continue
        if callable(rule.masks) and rule.masks(args):
            continue
        with np.errstate(all="ignore"):
            assert not zeros_in(fn, args, settings), (rule.name, settings)


POINTS = (-2.0, -1.0, 0.0, 1.0, 2.0)
EXACT = {"sinc", "logaddexp", "logaddexp2"}


def elementwise_rules():
    return [r for r in all_rules() if r.partials is not None and r.name not in EXACT]


@pytest.mark.parametrize("rule", elementwise_rules(), ids=lambda r: r.name)
def test_rules_that_are_singular_say_so(rule):
    count = len(positional_names(rule.partials, 1))
    for point in itertools.product(POINTS, repeat=count):
        with np.errstate(all="ignore"):
            try:
                out = rule.fn(*(np.array([p]) for p in point))
            except (TypeError, ValueError, OverflowError, ZeroDivisionError):
                continue
            if not np.all(np.isfinite(out)):
                assert rule.regular, point
                continue
            partials = rule.partials(out, *(np.array([p]) for p in point))
        parts = partials if isinstance(partials, tuple) else (partials,)
        fine = all(np.all(np.isfinite(p)) for p in parts if p is not None)
        assert fine or rule.regular, (point, partials)


@pytest.mark.parametrize(
    "rule", [r for r in elementwise_rules() if r.regular], ids=lambda r: r.name
)
def test_rules_are_finite_where_they_say(rule):
    names = positional_names(rule.partials, 0)
    for point in itertools.product(POINTS, repeat=len(names)):
        given = dict(zip(names, point, strict=True)) | dict(rule.regular)
        with np.errstate(all="ignore"):
            try:
                partials = rule.partials(**given)
            except (TypeError, ValueError):
                continue
        parts = partials if isinstance(partials, tuple) else (partials,)
        assert all(np.all(np.isfinite(p)) for p in parts if p is not None), (given, partials)
