"""What scientists get wrong in a first hour, and what s2sad says of it."""

import builtins
import math
import pickle
import sys
import time
import types

import numpy as np
import pytest

import s2sad

SCALE = "five"
UNSET = None
CONFIG = object()
SETTINGS = {"rate": 2.0}


class Column:
    """A column of a table, such as a data frame has."""

    def __init__(self, values):
        self._values = values

    def __array__(self, dtype=None, copy=None):
        return self._values


COLUMN = Column(np.ones(3))


def two(a, b):
    return a * b


def nothing(x):
    x * 2.0


def no_such_function(x):
    return np.sum(np.sine(x))


def no_such_submodule_function(x):
    return np.linalg.nrm(x)


def not_defined(x):
    return np.sum(x * scael)  # noqa: F821


def returned_but_not_defined(x):
    y = x * 2.0  # noqa: F841
    return yy  # noqa: F821


def not_imported(x):
    return sp.special.erf(x).sum()  # noqa: F821


def scalar_function(x):
    return math.sin(x)


def list_power(x):
    return sum(x**2)


def string_factor(x):
    return np.sum(x * SCALE)


def none_factor(x):
    return np.sum(x * UNSET)


def object_factor(x):
    return np.sum(x * CONFIG)


def a_column(x):
    return np.sum(x * np.asarray(COLUMN))


def from_a_file(x):
    data = np.loadtxt("data.txt")
    return np.sum(x * data)


def clock(x):
    return np.sum(x) * time.time()


def iterator(x):
    s = 0.0
    for i in iter(range(3)):
        s += x[i] ** 2
    return s


def too_few(x):
    return np.sum(two(x))


def no_such_keyword(x):
    return np.sum(x, axs=0)


def no_such_axis(x):
    return np.sum(np.sum(x, axis=2))


def no_such_method(x):
    return x.summ()


def not_called(x):
    return 2.0 * x.sum


def sorted_in_place(x):
    y = x.sort()
    return np.sum(y)


def of_no_return(x):
    return np.sum(nothing(x) * 2)


def no_such_key(x):
    return np.sum({"a": x}["b"])


def index_of_two(x):
    rows = [x, x]
    return rows[0, 1]


def index_is_a_float(x):
    return x[1.0]


def number_called(x):
    a = 2.0
    return a(x[0])


def module_called(x):
    return np(x)


def item_of_none(x):
    return UNSET["rate"] * np.sum(x)


PLAIN = "Correct this line: it fails without s2sad, too."
OUTSIDE = "Compute it outside the function and pass it in as an argument."
DEFINE = "Define it, or import it, before the function is differentiated."
NONE = "Find what gives None"

CASES = [
    (no_such_function, "numpy has no `sine`; did you mean `sin`?", "np.sine", PLAIN),
    (no_such_submodule_function, "numpy.linalg has no `nrm`; did", "np.linalg.nrm", PLAIN),
    (not_defined, "`scael` is not defined.", "scael", DEFINE),
    (returned_but_not_defined, "`yy` is not defined.", "yy", DEFINE),
    (not_imported, "`sp` is not defined.", "sp", DEFINE),
    (
        scalar_function,
        "`math.sin(x)` fails for a 1-d array of float64: TypeError",
        "math.sin(x)",
        "math.sin takes one number; np.sin takes arrays.",
    ),
    (
        list_power,
        "`x**2` is not defined for a list of floats and an int.",
        "x**2",
        "Make it an array: np.array(x).",
    ),
    (
        string_factor,
        "`x * SCALE` is not defined for a 1-d array of float64 and a string.",
        "x * SCALE",
        "Make a number of the string: float(SCALE).",
    ),
    (none_factor, "`x * UNSET` is not defined for a 1-d", "x * UNSET", NONE),
    (object_factor, "cannot tell what `x * CONFIG` gives: it knows", "x * CONFIG", OUTSIDE),
    (a_column, "it is made of an instance of Column.", "np.asarray(COLUMN)", OUTSIDE),
    (from_a_file, "np.loadtxt has no derivative", 'np.loadtxt("data.txt")', OUTSIDE),
    (clock, "it knows nothing of time.time.", "time.time()", OUTSIDE),
    (iterator, "it knows nothing of iter.", "iter(range(3))", "Write a `for` loop"),
    (
        too_few,
        "does not fit `two(a, b)`: missing a required argument: 'b'.",
        "two(x)",
        "Call it with the arguments that it takes.",
    ),
    (no_such_keyword, "unexpected keyword argument 'axs'.", "np.sum(x, axs=0)", PLAIN),
    (no_such_axis, "axis 2 is out of bounds", "np.sum(x, axis=2)", PLAIN),
    (no_such_method, "has no `summ`; did you mean `sum`?", "x.summ", PLAIN),
    (not_called, "`x.sum` is a method that is not called.", "x.sum", "Call it: `x.sum(...)`."),
    (sorted_in_place, "The array method .sort() has no derivative rule.", "x.sort()", "Write it"),
    (of_no_return, "is not defined for None and an int.", "nothing(x) * 2", NONE),
    (no_such_key, "fails: KeyError: 'b'.", '{"a": x}["b"]', "It has the keys 'a'."),
    (index_of_two, "list indices must be integers", "rows[0, 1]", "np.array(rows)"),
    (index_is_a_float, "`x[1.0]` fails: IndexError", "x[1.0]", "Use an int"),
    (number_called, "`a` is a float, which cannot be called.", "a(x[0])", PLAIN),
    (module_called, "`np` is a module, which cannot be called.", "np(x)", "Call one of its"),
    (item_of_none, "'NoneType' object is not subscriptable.", 'UNSET["rate"]', NONE),
]


@pytest.mark.parametrize(
    "fn, reason, span, remedy", CASES, ids=lambda c: getattr(c, "__name__", "")
)
@pytest.mark.parametrize("operator", ["grad", "value_and_grad"])
def test_what_is_said(fn, reason, span, remedy, operator):
    x = [1.0, 2.0] if fn is list_power else np.array([1.0, 2.0, 3.0])
    with pytest.raises(s2sad.Error) as caught:
        getattr(s2sad, operator)(fn)(x)
    error = pickle.loads(pickle.dumps(caught.value))
    assert reason in error.reason
    assert remedy in error.remedy
    assert error.place.text[error.place.column : error.place.end_column] == span
    assert error.place.file == __file__
    assert isinstance(error, NotImplementedError)


def test_a_mistake_in_what_is_called_is_shown_there():
    def inner(v):
        return np.sine(v)

    def outer(x):
        return np.sum(inner(x) * 2.0)

    with pytest.raises(s2sad.UnsupportedError, match="did you mean `sin`") as caught:
        s2sad.grad(outer)(np.ones(3))
    assert caught.value.place.text.strip() == "return np.sine(v)"


def test_names_that_are_found_are_no_mistakes(monkeypatch):
    """A name of builtins, one bound later and one of a closure are all known when they are used."""
    monkeypatch.setattr(builtins, "factor", 3.0, raising=False)

    def f(x):
        return x * factor * SETTINGS["rate"]  # noqa: F821

    assert s2sad.grad(f)(2.0) == 6.0


def test_an_unknown_value_off_the_path_is_no_mistake():
    def f(x):
        started = time.time()
        y = np.sum(x * x)
        assert time.time() >= started
        return y

    assert np.array_equal(s2sad.grad(f)(np.ones(2)), [2.0, 2.0])


def reduce_sum(a):
    return a.sum() + CONFIG.backend(a)


def test_a_function_of_jax_is_refused_where_it_is_called(monkeypatch):
    """Its source is not read: numpy has the function that is meant."""
    package = types.ModuleType("jax")
    package.__path__ = []
    monkeypatch.setitem(sys.modules, "jax", package)
    jnp = types.ModuleType("jax.numpy")
    jnp.sum = reduce_sum
    monkeypatch.setattr(reduce_sum, "__module__", "jax._src.numpy.reductions")
    monkeypatch.setattr(reduce_sum, "__name__", "sum")

    def of_x(x):
        return jnp.sum(x) * 2.0

    def of_constants(x):
        return np.sum(x) * jnp.sum(np.ones(3))

    for f, span in ((of_x, "jnp.sum(x)"), (of_constants, "jnp.sum(np.ones(3))")):
        with pytest.raises(
            s2sad.MissingRuleError, match="s2sad differentiates library functions by their rules"
        ) as caught:
            s2sad.grad(f)(np.ones(3))
        place = caught.value.place
        assert place.text[place.column : place.end_column] == span
        assert caught.value.remedy == "Use np.sum."
