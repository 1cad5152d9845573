"""What rules/written_out.py writes out in Python: values as NumPy's, gradients as differences."""

import functools

import numpy as np
import pytest

import s2sad
from s2sad import registry
from tests import slopes

X = np.array([0.7, 1.3, 0.4, 2.1])


def cube(x):
    return np.multiply.outer(np.multiply.outer(x, x[:3] * x[:3]), np.cos(x[:2]))


def length(row):
    return np.sqrt(row @ row)


def along_rows(x):
    return np.sum(np.apply_along_axis(length, 1, np.outer(x, np.sin(x))) ** 2 * x)


def along_columns(x):
    return np.sum(np.apply_along_axis(lambda r: np.sum(r * r) * r[0], 0, np.outer(x, x)))


def along_a_vector(x):
    return np.apply_along_axis(length, 0, x * x) * x[0]


def along_each_axis(x):
    made = [np.apply_along_axis(np.cumsum, axis, cube(x)) for axis in (0, 1, 2, -1)]
    return np.sum(made[0] * made[1] * made[2] * x[:2] * made[3])


def along_longer(x):
    return np.sum(np.apply_along_axis(np.diff, 1, cube(x)) ** 2 * x[:2])


def along_to_tables(x):
    whole = np.apply_along_axis(np.outer, 1, cube(x), x)
    return np.sum(whole * whole) * np.sum(np.apply_along_axis(np.diag, 0, np.outer(x, x))[1, 1])


def along_with_arguments(x):
    A = np.outer(x, np.cos(x))
    made = np.apply_along_axis(lambda r, k, *, by: r * k + by, axis=1, arr=A, k=x[0], by=x[1])
    return np.sum(made**2) + np.sum(np.apply_along_axis(np.convolve, 0, A, x[:2]) ** 2)


def along_what_is_captured(x):
    return np.sum(np.apply_along_axis(lambda r: r * x, axis=1, arr=np.outer(x, x)) ** 2)


def along_four_axes(x):
    return np.sum(np.apply_along_axis(np.max, 2, cube(x)[..., None] * x) ** 2)


def along_to_lists(x):
    return np.sum(np.apply_along_axis(lambda r: [r[0], r[1] * r[2]], 1, np.outer(x, x)) ** 2)


def along_to_the_first_dtype(x):
    """The first result is an integer: NumPy makes integers of all."""
    made = np.apply_along_axis(lambda r: 2 if r[0] < 0.6 else r[0] * 1.5, 1, np.outer(x, x))
    return np.sum(made * x)


def along_is_a_copy(x):
    y = x * x
    z = np.apply_along_axis(lambda r: r, 0, y)
    y[0] = 3.0 * x[1]
    return np.sum(z * y)


def over_axes(x):
    first = np.apply_over_axes(np.sum, cube(x), [0, 2])
    second = np.apply_over_axes(np.max, cube(x), 1)
    third = np.apply_over_axes(lambda v, axis: np.sum(v * v, axis=axis), cube(x), (0, -1))
    return np.sum(first * second * third) + np.sum(np.apply_over_axes(np.cumsum, cube(x), [1, 0]))


PROGRAMS = [
    *(along_rows, along_columns, along_a_vector, along_each_axis, along_longer, along_to_tables),
    *(along_with_arguments, along_what_is_captured, along_four_axes, along_to_lists, over_axes),
    *(along_to_the_first_dtype, along_is_a_copy),
]


def agrees(f, x=X):
    """Compare value, gradient and tangent."""
    slopes.check(f, x)
    assert s2sad.value_and_grad(f)(x)[0] == f(x)
    x_dot = np.cos(np.arange(len(x)))
    value, moved = s2sad.jvp(f, (x,), (x_dot,))
    assert value == f(x)
    assert moved == pytest.approx(s2sad.grad(f)(x) @ x_dot, rel=1e-9, abs=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_functions_that_numpy_calls(f):
    agrees(f)


FOLDS = [
    *(np.subtract, np.divide, np.hypot, np.fmod, np.remainder, np.logaddexp2, np.fmax, np.fmin),
    np.copysign,
]
MACHINES = [np.power, np.float_power, np.arctan2]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ufunc", FOLDS, ids=lambda u: u.__name__)
def test_folds_of_ufuncs(ufunc):
    def reduced(x):
        return np.sum(ufunc.reduce(np.outer(x, x), axis=1) * x) * ufunc.reduce(x)

    def in_parts(x):
        return np.sum(ufunc.reduceat(x, [0, 2, 1, 1]) * x)

    def in_parts_of_rows(x):
        return np.sum(ufunc.reduceat(np.outer(x, x), np.array([2, 0]), axis=-1)[:, 1] * x)

    for f in (reduced, in_parts, in_parts_of_rows):
        agrees(f, np.array([1.7, 1.3, 1.4, 2.1]))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ufunc", [*FOLDS, *MACHINES], ids=lambda u: u.__name__)
def test_tables_and_running_results_of_ufuncs(ufunc):
    def accumulated(x):
        rows = ufunc.accumulate(np.outer(x, np.cos(x)) + 0.3, axis=1)
        return np.sum(rows * x) + np.sum(ufunc.accumulate(x) ** 2)

    def in_pairs(x):
        table = ufunc.outer(x, np.outer(x, x) + 1.0)
        return np.sum(table * table) * np.sum(ufunc.outer(x, 1.75))

    def of_a_number(x):
        return np.sum(ufunc.outer(x[0] * 1.1, x))

    for f in (accumulated, in_pairs, of_a_number):
        agrees(f, np.array([1.7, 1.3, 1.4, 2.1]))


@pytest.mark.parametrize("ufunc", MACHINES, ids=lambda u: u.__name__)
def test_folds_that_differ_between_machines_are_refused(ufunc):
    for f in (lambda x: ufunc.reduce(x), lambda x: np.sum(ufunc.reduceat(x, [0, 2]))):
        with pytest.raises(s2sad.MissingRuleError, match="differs between machines"):
            s2sad.grad(f)(X)


def test_a_method_of_a_ufunc_is_a_function_like_others():
    fold = np.subtract.reduce

    def given(x):
        def twice(method):
            return method(x) * method(x * x)

        return twice(np.divide.reduce) + fold(x) ** 2

    agrees(given)


def test_an_initial_value():
    agrees(lambda x: np.subtract.reduce(x * x, initial=x[0]) ** 2)
    agrees(lambda x: np.sum(np.divide.reduce(np.outer(x, x), initial=3.0) ** 2))


def test_nothing_to_apply_it_to():
    def f(x, n):
        return x[0] + np.sum(np.apply_along_axis(np.sum, 1, np.ones((n, 2)) * x[0]))

    with pytest.raises(ValueError, match="iteration dimensions"):
        s2sad.grad(f)(X, 0)


def written_rows(x):
    def first(row):
        row[0] = 0.0
        return np.sum(row * row)

    A = np.outer(x, x)
    return np.sum(np.apply_along_axis(first, 1, A)) + np.sum(A)


def too_many(x):
    return np.sum(np.apply_along_axis(np.sum, 0, cube(x)[..., None, None]))


@pytest.mark.parametrize("f", [written_rows, too_many])
def test_refused(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(X)


def test_an_emitted_module_needs_no_s2sad(tmp_path):
    text = s2sad.emit(along_rows, tmp_path / "made.py", args=(X,)).read_text(encoding="utf-8")
    assert "import s2sad" not in text and "from s2sad" not in text


def test_what_is_written_out_has_no_rule():
    assert all(registry.rule_for(fn) is None for fn in registry.all_written())


def squared_and_one_more(a):
    return a * a, a + 1.0


TWO = np.vectorize(squared_and_one_more)
SQUARE = np.vectorize(lambda a: a * a)


@np.vectorize
def larger(a, b):
    return a * b if a > b else a


def by_global_vectorize(x):
    first, second = TWO(x)
    return np.sum(first * second) + np.sum(SQUARE(np.outer(x, x)) * x) + SQUARE(x[0])


def by_decorated_vectorize(x):
    return np.sum(larger(x, 0.5) * larger(np.outer(x, x), x[::-1]))


def by_local_vectorize(x):
    k = x[0]
    scaled = np.vectorize(lambda a: a * k)
    squared = np.vectorize(np.square)
    return np.sum(scaled(x) * scaled(x[1])) + np.sum(squared(x))


CUBE = np.vectorize(lambda a: a * a * a, otypes=[float])
SINGLE = np.vectorize(lambda a, b, c: a * b if a > c else c, otypes="d")
PRODUCT = np.vectorize(lambda a, b: a * b, otypes=[np.float64])


@functools.partial(np.vectorize, otypes=[complex])
def turned(a):
    return a * a if a > 1.0 else a


def by_vectorize_to_a_dtype(x):
    cubes = CUBE(np.outer(x, x)) * SINGLE(x, x[::-1], 0.5)
    return np.sum(cubes) + np.sum(PRODUCT(x, 2.0) ** 2) + np.sum(np.abs(turned(x) * (1.0 + 2.0j)))


def by_local_vectorize_to_a_dtype(x):
    k = x[0]
    scaled = np.vectorize(lambda a: a * k, otypes=[float])
    twice = np.vectorize(lambda a, b: a * a * b, otypes=[float])(x * 2.0, x[1])
    return np.sum(scaled(x) * scaled(x[1])) + np.sum(twice) + np.sum(scaled(2.0 * x))


IN_LOCALS = [by_local_vectorize, by_local_vectorize_to_a_dtype]


@pytest.mark.parametrize(
    "f",
    [by_global_vectorize, by_decorated_vectorize, by_vectorize_to_a_dtype, *IN_LOCALS],
    ids=lambda f: f.__name__,
)
def test_vectorize_kept_in_a_variable(f):
    agrees(f)


SIGNED = np.vectorize(lambda row: row @ row, signature="(n)->()")
WITHOUT = np.vectorize(lambda p, a: np.polyval(p, a), excluded=["p"])
TWO_TOLD = np.vectorize(squared_and_one_more, otypes=[float, float])
BY_NAME = np.vectorize(lambda a, third=3.0, second=2.0: a * third - a * second)
MAYBE = np.vectorize(lambda a, b=3.0: 2.0 * a if b is None else a * b)


def two_results_of_a_local_one(x):
    apart = np.vectorize(squared_and_one_more)
    first, second = apart(x)
    return np.sum(first * second)


def test_vectorize_of_a_local_function_may_give_two_results():
    np.testing.assert_allclose(s2sad.grad(two_results_of_a_local_one)(X), 3.0 * X**2 + 2.0 * X)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(SIGNED(np.outer(x, x))),
        lambda x: np.sum(WITHOUT(p=[1.0, 2.0], a=x)),
        lambda x: np.sum(TWO_TOLD(x)[0]),
        lambda x: np.sum(BY_NAME(x, second=4.0)),
        lambda x: np.sum(BY_NAME(x, third=4.0)),
        lambda x: np.sum(MAYBE(x, None)),
    ],
)
def test_vectorize_in_other_ways_is_refused(f):
    with pytest.raises(s2sad.Error) as caught:
        s2sad.grad(f)(X)
    assert "np.vectorize" in caught.value.remedy


FAMILIES = [
    *(("polynomial", "poly"), ("chebyshev", "cheb"), ("legendre", "leg")),
    *(("laguerre", "lag"), ("hermite", "herm"), ("hermite_e", "herme")),
]


@pytest.mark.skipif(not hasattr(np.polynomial.polynomial, "polyvalnd"), reason="NumPy 2.5 has it")
@pytest.mark.parametrize("module, word", FAMILIES)
def test_series_of_several_variables(module, word):
    value = getattr(getattr(np.polynomial, module), f"{word}valnd")
    c = np.cos(np.arange(12.0)).reshape(2, 3, 2)

    def of_tuples(x):
        return np.sum(value((x, x * 2.0), c[:, :, 0]) ** 2) + value((x[0],), c[0, 0] * x[1])

    def of_three(x):
        return np.sum(value((x, x * 2.0, np.sin(x)), c * x[0]) ** 2)

    agrees(of_tuples)
    agrees(of_three)
    for several in (lambda x: np.array([x, x]), lambda x: [x, x], lambda x: (x, x, x, x)):
        with pytest.raises(s2sad.Error):
            s2sad.grad(lambda x, several=several: np.sum(value(several(x), c[0])))(X)


def along_of_five(x):
    return np.sum(np.apply_along_axis(length, 0, x.reshape(1, 1, 1, 1, -1) * x[0]))


def outer_of_four(x):
    return np.sum(np.logaddexp2.outer(x, x.reshape(1, 1, 1, -1)))


@pytest.mark.parametrize("f", [along_of_five, outer_of_four])
def test_what_is_always_refused_is_refused_when_it_is_derived(f):
    for derivative in (s2sad.grad(f), lambda x: s2sad.jvp(f, (x,), (x,))):
        with pytest.raises(s2sad.Error, match=r"a derivative of up to (four|three) axes"):
            derivative(X)
