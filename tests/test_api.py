"""Operators, the decorator, their caches, and what they refuse."""

import collections
import copy
import dataclasses
import functools
import inspect
import math
import pickle
import subprocess
import sys
import threading
import timeit
import traceback
import types
from pathlib import Path

import numpy as np
import pytest

import s2sad
from s2sad import Active, ActivityError, Const, Duplicated, UnsupportedError
from s2sad.operators import derived, deriving

FILE = __file__
SCALE = 2.0


def loss(w, x, y):
    r = x @ w - y
    return 0.5 * np.dot(r, r)


def product(a, b=3.0, *, c=1.0):
    return a * b * c


def annotated_loss(w: Active, x: Const, y):
    r = x @ w - y
    return 0.5 * np.dot(r, r)


def only_const(a, n: Const, b):
    return a * n * b


def two_active(a: Active, b: Duplicated[float], c):
    return a * b * c


def scaled(x):
    return np.sum(x) * SCALE


def helper(x):
    return x * x


def uses_helper(x):
    return helper(x) * 2.0


def vector(x, y):
    return x * y


def structured(params, x):
    return params["a"] * x + params["b"] * x


Point = collections.namedtuple("Point", "x y")


def of_point(p):
    return p.x * p.y


class Model:
    def __init__(self, scale):
        self.scale = scale

    def loss(self, w):
        return np.dot(w, w) * self.scale

    @s2sad.differentiate
    def decorated(self, w):
        return np.dot(w, w) * self.scale

    @s2sad.differentiate(wrt="self")
    def by_self(self, w):
        return self.scale * self.scale * w

    @classmethod
    def made(cls, w):
        return np.dot(w, w)

    @s2sad.differentiate
    @staticmethod
    def static(w):
        return np.dot(w, w)

    def __call__(self, w):
        return np.dot(w, w) * self.scale


@s2sad.differentiate
def decorated(w: Active, x: Const):
    """The docstring."""
    return np.dot(w, x)


@s2sad.differentiate(wrt=("x", 0))
def decorated_wrt(w, x):
    return w * x


def where(f):
    """Render where a function stands, as errors do."""
    lines, first = inspect.getsourcelines(f)
    head = lines[0].rstrip()
    stripped = head.lstrip()
    name = f.__name__
    return f'  File "{FILE}", line {first}, in {name}\n    {stripped}\n    {"^" * len(stripped)}\n'


def message(kind, call, *args, **kwargs):
    with pytest.raises(kind) as caught:
        call(*args, **kwargs)
    return str(caught.value)


def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=3), rng.normal(size=(4, 3)), rng.normal(size=4)


# --- the package ---------------------------------------------------------------------------------


def test_all_that_is_exported_is_there():
    assert s2sad.__version__ == "0.1.0"
    assert all(hasattr(s2sad, name) for name in s2sad.__all__)
    assert s2sad.__all__ == sorted(s2sad.__all__)


def test_modules_of_the_package_are_its_attributes():
    program = "import s2sad; s2sad.testing.check_rule; s2sad.control.cond; s2sad.sparse.jacobian"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert {"control", "sparse", "testing"} <= set(dir(s2sad))


LATER = ["vmap"]


@pytest.mark.parametrize("name", LATER)
def test_what_does_not_work_yet_is_not_exported(name):
    assert not hasattr(s2sad, name)
    assert not hasattr(decorated, name)


# --- which parameters ----------------------------------------------------------------------------


@pytest.mark.parametrize("wrt", [0, -3, "w", np.int64(0), None])
def test_one_parameter_gives_a_bare_gradient(wrt):
    w, x, y = data()
    assert np.allclose(s2sad.grad(loss, wrt)(w, x, y), x.T @ (x @ w - y))


@pytest.mark.parametrize("wrt", [("w", "y"), (0, 2), (-3, "y")])
def test_a_tuple_gives_a_tuple(wrt):
    w, x, y = data()
    w_bar, y_bar = s2sad.grad(loss, wrt=wrt)(w, x, y)
    assert np.allclose(w_bar, x.T @ (x @ w - y)) and np.allclose(y_bar, y - x @ w)


def test_a_tuple_of_one_gives_a_tuple():
    (a_bar,) = s2sad.grad(product, wrt=("a",))(2.0)
    assert a_bar == 3.0


def test_annotations_choose():
    w, x, y = data()
    assert s2sad.grad(annotated_loss)(w, x, y).shape == (3,)
    assert s2sad.grad(two_active)(2.0, 3.0, 5.0) == (15.0, 10.0)


def test_only_const_leaves_all_others_that_can_be():
    assert s2sad.grad(only_const)(2.0, 3.0, 5.0) == (15.0, 6.0)
    assert s2sad.grad(only_const)(2.0, 3.0, 5) == 15.0


def test_wrt_goes_before_annotations():
    assert s2sad.grad(two_active, wrt="c")(2.0, 3.0, 5.0) == 6.0


def test_an_int_is_taken_as_a_float():
    for wrt in (None, "a", 0):
        gradient = s2sad.grad(product, wrt)(2, 3)
        assert gradient == 3.0 and isinstance(gradient, float)
    assert s2sad.grad(product, "b")(2, b=3) == 2.0
    assert s2sad.grad(product, "b")(b=3, a=2) == 2.0


WRT_ERRORS = [
    ("z", "wrt='z' names no parameter of loss."),
    (3, "wrt=3 names no parameter: loss has 3."),
    (-4, "wrt=-4 names no parameter: loss has 3."),
    (1.0, "wrt needs a position, a name, or a tuple of these, not 1.0."),
    (True, "wrt needs a position, a name, or a tuple of these, not True."),
    (["w"], "wrt needs a position, a name, or a tuple of these, not ['w']."),
]


@pytest.mark.parametrize(("wrt", "reason"), WRT_ERRORS)
def test_wrt_that_names_nothing(wrt, reason):
    expected = f"{reason}\n{where(loss)}The parameters of loss are w, x, y."
    assert message(ActivityError, s2sad.grad, loss, wrt) == expected
    with pytest.raises(TypeError):
        s2sad.value_and_grad(loss, wrt=wrt)


def test_an_empty_wrt():
    assert message(ActivityError, s2sad.grad, loss, ()) == (
        "wrt=() names no parameter.\n"
        f"{where(loss)}The parameters of loss are w, x, y: name at least one."
    )


def test_wrt_that_names_one_twice():
    assert message(ActivityError, s2sad.grad, loss, ("w", 0)) == (
        f"wrt=('w', 0) names w twice.\n{where(loss)}Name it once."
    )


def test_wrt_that_names_a_const():
    assert message(ActivityError, s2sad.grad, annotated_loss, "x") == (
        "wrt names x, which annotated_loss declares Const.\n"
        f"{where(annotated_loss)}Drop x from wrt, or annotate it Active."
    )


def test_no_parameters():
    def nothing():
        return 1.0

    assert message(ActivityError, s2sad.grad(nothing)) == (
        f"nothing has no parameter to differentiate.\n{where(nothing)}"
        "Make the value that it depends on a parameter."
    )


# --- what cannot be active -----------------------------------------------------------------------


def square(x):
    return x * x


AS_FLOATS = "Pass floats: the integers in x carry no derivative."
REFUSED = [
    (True, "is a bool, which has no derivative.", "Pass a float, or leave it out."),
    (np.int32(3), "is an integer (int32), which has no derivative.", "Pass float(x)."),
    (
        np.arange(3),
        "is a 1-d array of int64, which has no derivative.",
        "Pass x.astype(float).",
    ),
    (
        np.array([True]),
        "is a 1-d array of bool, which has no derivative.",
        "Pass x.astype(float).",
    ),
    (None, "is None, which has no derivative.", "Leave x out of what is differentiated."),
    ("a", "is a string, which has no derivative.", "Leave x out of what is differentiated."),
    (len, "is len, a builtin_function_or_method: it has no derivative.", None),
    ([1, 2], "is a list that holds no floats: there is nothing to differentiate.", AS_FLOATS),
    (
        {"a": (1, "b")},
        "is a dict that holds no floats: there is nothing to differentiate.",
        AS_FLOATS,
    ),
    (
        [np.arange(3)],
        "is a list that holds no floats: there is nothing to differentiate.",
        AS_FLOATS,
    ),
    ({"a": "b"}, "is a dict that holds no floats: there is nothing to differentiate.", None),
    (
        np.ma.ones(2),
        "is a MaskedArray, a subclass of ndarray, which s2sad cannot differentiate.",
        "Pass a float, a plain NumPy array, or a structure of these.",
    ),
]


@pytest.mark.parametrize(("value", "reason", "remedy"), REFUSED, ids=repr)
def test_arguments_that_cannot_be_active(value, reason, remedy):
    remedy = remedy or "Leave x out of what is differentiated."
    expected = f"Argument x {reason}\n{where(square)}{remedy}"
    assert message(ActivityError, s2sad.grad(square), value) == expected
    assert message(ActivityError, s2sad.value_and_grad(square, wrt="x"), value) == expected


@pytest.mark.parametrize("wrapper", [Active(1.0), Const(1.0), Duplicated(1.0, 0.0)])
def test_wrapped_arguments_are_for_autodiff(wrapper):
    word = type(wrapper).__name__
    assert message(ActivityError, s2sad.grad(square), wrapper) == (
        f"Argument x is wrapped in {word}(...), which only autodiff accepts.\n{where(square)}"
        f"Pass the value itself, and use wrt= or an annotation `x: {word}` to say what is "
        "differentiated."
    )


def test_nothing_that_can_be_differentiated():
    assert message(ActivityError, s2sad.vjp, product, 2, 3) == (
        f"No argument of product can be differentiated.\n{where(product)}"
        "Pass floats or arrays of floats."
    )


def test_an_argument_that_contains_itself():
    loop = []
    loop.append(loop)
    assert message(UnsupportedError, s2sad.grad(square), loop) == (
        "An argument contains itself.\nPass only the parts that the function needs."
    )


def test_no_function():
    assert message(TypeError, s2sad.grad, 3.0) == "grad needs a function, not 3.0"


def test_no_python_function():
    assert message(s2sad.SourceError, s2sad.grad, dict) == (
        "dict is not written in Python: there is no source to derive from.\n"
        "Wrap it in a function: `lambda x: dict(x)`."
    )


@pytest.mark.parametrize("operator", [s2sad.grad, s2sad.value_and_grad])
def test_jit_is_refused(operator):
    assert message(UnsupportedError, operator, loss, jit=True) == (
        "s2sad does not support jit=True yet: it does not compile derived code.\n"
        "Leave jit out; the derived source is plain Python and NumPy."
    )


# --- binding -------------------------------------------------------------------------------------


def test_defaults_and_keywords():
    gradient = s2sad.grad(product)
    assert gradient(2.0) == 3.0
    assert gradient(2.0, 4.0) == 4.0
    assert gradient(2.0, b=5.0) == 5.0
    assert gradient(b=5.0, a=2.0, c=2.0) == 10.0
    assert s2sad.grad(product, wrt="c")(2.0) == 6.0


def test_a_wrong_call_reads_like_pythons_and_says_what_is_taken():
    gradient = s2sad.grad(product)
    with_c = s2sad.grad(vector_sum)

    def same(operator, f, *args, **kwargs):
        taken = f"; {f.__name__} takes {inspect.signature(f)}"
        found, pythons = (message(TypeError, g, *args, **kwargs) for g in (operator, f))
        # Where a derivative is called directly it is Python that refuses.
        return found == pythons + taken or (called and found == pythons)

    for called in (False, True):
        assert same(gradient, product)
        assert same(gradient, product, 1.0, 2.0, 3.0)
        assert same(gradient, product, 1.0, d=2.0)
        for args in ((), (1.0,), (1.0, 2.0, 3.0)):
            assert same(with_c, vector_sum, *args)
        gradient(1.0)
        with_c(1.0, 2.0)


def test_defaults_are_not_evaluated_again():
    calls = []

    def seen(x, table=calls.append(1) or [1.0, 2.0]):
        return x * table[1]

    assert s2sad.grad(seen)(3.0) == 2.0
    assert calls == [1]
    seen.__defaults__ = ([1.0, 5.0],)
    assert s2sad.grad(seen)(3.0) == 5.0


def test_several_arguments_in_one_parameter():
    def total(x, *rest, **named):
        return x * rest[0] * named["k"]

    assert s2sad.grad(total)(2.0, 3.0, 4.0, k=5.0) == 15.0


def test_the_signature_is_the_functions():
    assert list(inspect.signature(s2sad.grad(product)).parameters) == ["a", "b", "c"]
    assert list(inspect.signature(s2sad.grad(Model(2.0).loss)).parameters) == ["w"]
    half = functools.partial(product, 1.0, c=2.0)
    assert list(inspect.signature(s2sad.grad(half)).parameters) == ["b"]
    gradient = s2sad.grad(product)
    assert (gradient.__name__, gradient.__module__) == ("product_grad", __name__)
    assert gradient.__doc__ == "Gradient of product."


# --- callables of all sorts ----------------------------------------------------------------------


def test_methods_and_callable_objects():
    w = np.array([1.0, 2.0])
    model = Model(3.0)
    assert np.array_equal(s2sad.grad(model.loss)(w), 6.0 * w)
    assert np.array_equal(s2sad.grad(model)(w), 6.0 * w)
    assert np.array_equal(s2sad.grad(Model.made)(w), 2.0 * w)
    assert np.array_equal(s2sad.grad(model.made)(w), 2.0 * w)
    assert np.array_equal(s2sad.grad(Model.loss, wrt="w")(model, w), 6.0 * w)


def test_a_method_sees_its_object_as_it_is_now():
    w = np.array([1.0, 2.0])
    model = Model(3.0)
    gradient = s2sad.grad(model.loss)
    gradient(w)
    model.scale = 5.0
    assert np.array_equal(gradient(w), 10.0 * w)


def test_partials():
    assert s2sad.grad(functools.partial(product, 2.0))(3.0) == 2.0
    assert s2sad.grad(functools.partial(product, b=5.0))(3.0) == 5.0
    assert s2sad.grad(functools.partial(product, b=5.0), wrt="b")(3.0) == 3.0
    assert s2sad.grad(functools.partial(product, b=5.0))(3.0, b=7.0) == 7.0


def test_lambdas_and_closures():
    assert s2sad.grad(lambda x: x * x * x)(2.0) == 12.0

    def make(k):
        def inner(x):
            return k * x * x

        return inner

    assert [s2sad.grad(make(k))(1.0) for k in (1.0, 2.0)] == [2.0, 4.0]


def test_a_captured_value_is_seen_live():
    k = 2.0

    def inner(x):
        return k * x

    gradient = s2sad.grad(inner)
    assert gradient(1.0) == 2.0
    k = 3.0
    assert gradient(1.0) == 3.0


# --- the cache -----------------------------------------------------------------------------------


@pytest.fixture
def derivations(monkeypatch):
    """Count the derivations: a list that grows with each."""
    made = []

    def derive(request):
        made.append(request)
        return original(request)

    original = deriving.derive
    monkeypatch.setattr(deriving, "derive", derive)
    derived.recipes.clear()
    return made


def test_one_derivation_for_arguments_of_a_kind(derivations):
    gradient = s2sad.grad(vector_sum)
    for n in (2, 3, 7):
        gradient(np.ones(n), np.ones(n))
    gradient(x=np.ones(2), y=np.ones(2))
    assert len(derivations) == 1
    gradient(np.ones(1), np.ones(3))
    gradient(np.ones((2, 2)), np.ones((2, 2)))
    gradient(np.ones(2, "float32"), np.ones(2, "float32"))
    gradient(2.0, 3.0)
    assert len(derivations) == 5
    gradient(np.ones(4), np.ones(4))
    gradient(3.0, 4.0)
    assert len(derivations) == 5


def vector_sum(x, y):
    return np.sum(x * y)


def test_broadcasting_is_derived_anew():
    gradient = s2sad.grad(vector_sum)
    assert gradient(np.ones(3), np.ones(3)).tolist() == [1.0, 1.0, 1.0]
    assert gradient(np.ones(1), np.ones(3)).tolist() == [3.0]
    assert gradient(np.ones((1, 3)), np.ones((2, 3))).tolist() == [[2.0, 2.0, 2.0]]


def test_structures_by_what_is_in_them(derivations):
    gradient = s2sad.grad(structured, wrt="x")
    assert gradient({"a": 1.0, "b": 2.0}, 1.0) == 3.0
    assert gradient({"a": 5.0, "b": 2.0}, 1.0) == 7.0
    assert len(derivations) == 1
    assert gradient({"a": 5, "b": 2.0}, 1.0) == 7.0
    assert len(derivations) == 2


def test_a_redefined_helper_is_noticed(derivations, monkeypatch):
    gradient = s2sad.grad(uses_helper)
    first = helper
    assert gradient(3.0) == 12.0
    monkeypatch.setitem(globals(), "helper", square_of_square)
    assert gradient(3.0) == 4.0 * 27.0 * 2.0
    assert len(derivations) == 2
    assert gradient(2.0) == 4.0 * 8.0 * 2.0
    monkeypatch.setitem(globals(), "helper", first)
    assert gradient(3.0) == 12.0
    assert len(derivations) == 2


def square_of_square(x):
    return x * x * x * x


def test_a_changed_number_needs_no_new_derivation(derivations, monkeypatch):
    gradient = s2sad.grad(scaled)
    assert gradient(np.ones(2)).tolist() == [2.0, 2.0]
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert gradient(np.ones(2)).tolist() == [3.0, 3.0]
    assert len(derivations) == 1
    monkeypatch.setitem(globals(), "SCALE", np.float32(4.0))
    assert gradient(np.ones(2)).tolist() == [4.0, 4.0]
    assert len(derivations) == 2


def test_a_captured_function_that_changes(derivations):
    fn = helper

    def inner(x):
        return fn(x)

    gradient = s2sad.grad(inner)
    assert gradient(3.0) == 6.0
    fn = square_of_square
    assert gradient(3.0) == 108.0
    assert len(derivations) == 2


def test_a_global_that_is_gone(monkeypatch):
    gradient = s2sad.grad(scaled)
    gradient(np.ones(2))
    monkeypatch.delitem(globals(), "SCALE")
    with pytest.raises((NameError, s2sad.Error)):
        gradient(np.ones(2))


def test_a_builtin_that_is_shadowed(derivations, monkeypatch):
    gradient = s2sad.grad(uses_abs)
    assert gradient(-3.0) == -1.0
    monkeypatch.setitem(globals(), "abs", helper)
    assert gradient(-3.0) == -6.0
    assert len(derivations) == 2


def uses_abs(x):
    return abs(x)


def test_threads_derive_once(derivations):
    gradient = s2sad.grad(loss)
    args, results = data(), []
    threads = [threading.Thread(target=lambda: results.append(gradient(*args))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(derivations) == 1
    assert all(np.array_equal(r, results[0]) for r in results) and len(results) == 8


def test_vjp_derives_once(derivations):
    for n in (2, 3):
        s2sad.vjp(vector, np.ones(n), np.ones(n))
    assert len(derivations) == 1
    s2sad.vjp(vector, np.ones(2), np.ones(2), wrt=0)
    s2sad.vjp(vector, np.ones(2), np.ones(2), wrt="x")
    assert len(derivations) == 2


def test_the_cache_of_vjp_lets_functions_go():
    import gc
    import weakref

    def make():
        def inner(x):
            return x * x

        s2sad.vjp(inner, 2.0)
        return weakref.ref(inner)

    gone = make()
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("args", [(np.ones(3), np.ones(3)), (np.ones((3, 2)), 2.0)])
def test_a_call_costs_little(args, monkeypatch):
    # With a body of its own in the call there is no derived function to put an empty one for.
    monkeypatch.setattr("s2sad.operators.deriving.body_of", lambda *_: None)

    def two(x, y):
        return np.sum(x * y)

    gradient = s2sad.grad(two)
    gradient(*args)
    fast = gradient.__call__
    empty = lambda x, y: None
    names = fast.__code__.co_freevars
    fast.__closure__[names.index("s2sad_derived")].cell_contents = empty

    def time(call):
        return min(timeit.repeat(lambda: call(*args), number=5000, repeat=15))

    nothing = min(timeit.repeat(lambda: None, number=5000, repeat=15))
    assert time(gradient) - time(empty) < 40 * (time(empty) - nothing) + 5e-4


# --- results -------------------------------------------------------------------------------------


def test_gradients_are_like_their_arguments():
    gradient = s2sad.grad(square)
    assert type(gradient(np.float32(2.0))) is np.float32
    assert isinstance(gradient(2.0), float)
    single = s2sad.grad(vector_sum)(np.ones(3, "float32"), np.ones(3, "float32"))
    assert single.dtype == np.float32


def test_named_tuples_keep_their_class():
    gradient = s2sad.grad(of_point)(Point(2.0, 3.0))
    assert type(gradient) is Point and gradient == Point(3.0, 2.0)
    value, gradient = s2sad.value_and_grad(of_point)(Point(2.0, 3.0))
    assert (value, type(gradient), gradient) == (6.0, Point, Point(3.0, 2.0))
    _, pullback = s2sad.vjp(of_point, Point(2.0, 3.0), wrt="p")
    assert type(pullback(2.0)) is Point and pullback(2.0) == Point(6.0, 4.0)


def test_arguments_stay_as_they_were():
    args = data()
    before = copy.deepcopy(args)
    s2sad.grad(loss, wrt=(0, 1, 2))(*args)
    assert all(np.array_equal(a, b) for a, b in zip(args, before))


# --- vjp -----------------------------------------------------------------------------------------


def test_vjp():
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    value, pullback = s2sad.vjp(vector, x, y)
    assert np.array_equal(value, x * y)
    x_bar, y_bar = pullback(np.array([1.0, 10.0]))
    assert x_bar.tolist() == [3.0, 40.0] and y_bar.tolist() == [1.0, 20.0]
    assert [b.tolist() for b in pullback(np.ones(2))] == [[3.0, 4.0], [1.0, 2.0]]


def test_vjp_wrt():
    _, pullback = s2sad.vjp(vector, np.ones(2), np.full(2, 3.0), wrt="x")
    assert pullback(np.ones(2)).tolist() == [3.0, 3.0]
    _, pullback = s2sad.vjp(vector, np.ones(2), np.full(2, 3.0), wrt=("x",))
    assert pullback(np.ones(2))[0].tolist() == [3.0, 3.0]


def test_vjp_leaves_out_defaults():
    _, pullback = s2sad.vjp(product, 2.0)
    assert pullback(1.0) == 3.0
    _, pullback = s2sad.vjp(product, 2.0, 5.0)
    assert pullback(1.0) == (5.0, 2.0)
    assert "return value_bar * c * b\n" in s2sad.source(product, mode="vjp", args=[1.0])


def test_vjp_leaves_out_what_cannot_be_differentiated():
    _, pullback = s2sad.vjp(vector, np.ones(2), 3)
    assert pullback(np.ones(2)).tolist() == [3.0, 3.0]


def test_a_pullback_after_the_arguments_have_changed():
    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    _, pullback = s2sad.vjp(vector, x, y)
    x[:] = 0.0
    y[:] = 0.0
    assert [b.tolist() for b in pullback(np.ones(2))] == [[3.0, 4.0], [1.0, 2.0]]


def test_the_cotangent_is_cast():
    _, pullback = s2sad.vjp(vector, np.ones(2, "float32"), np.ones(2, "float32"), wrt=0)
    assert pullback(np.ones(2)).dtype == np.float32
    assert pullback(np.array([1, 2])).tolist() == [1.0, 2.0]
    _, pullback = s2sad.vjp(square, 3.0)
    assert pullback(2) == 12.0 and pullback(np.array(2.0)) == 12.0


COTANGENTS = [
    (np.ones(3), ValueError, "has shape (3,); it must have the result's shape, (2,)."),
    (np.ones((2, 1)), ValueError, "has shape (2, 1); it must have the result's shape, (2,)."),
    (1.0, ValueError, "has shape (); it must have the result's shape, (2,)."),
    ([1.0, 2.0], TypeError, "is a value of type list; it must be an array of shape (2,)."),
    (None, TypeError, "is None; it must be an array of shape (2,)."),
    ("ab", TypeError, "is a value of type str; it must be an array of shape (2,)."),
    (np.array(["a", "b"]), TypeError, "is an array of <U1; it must be an array of shape (2,)."),
    (np.ones(2) * 1j, TypeError, "is complex; it must be real, as the result is."),
]


@pytest.mark.parametrize(("dy", "kind", "reason"), COTANGENTS, ids=repr)
def test_a_cotangent_that_is_not_built_like_the_result(dy, kind, reason):
    _, pullback = s2sad.vjp(vector, np.ones(2), np.ones(2))
    assert message(kind, pullback, dy) == f"The cotangent of vector {reason}"


def test_a_cotangent_of_a_scalar():
    _, pullback = s2sad.vjp(square, 3.0)
    assert message(ValueError, pullback, np.ones(2)) == (
        "The cotangent of square has shape (2,); it must be a scalar."
    )
    assert message(TypeError, pullback, (1.0,)) == (
        "The cotangent of square is a value of type tuple; it must be a scalar."
    )
    assert message(TypeError, pullback, 1j) == (
        "The cotangent of square is complex; it must be real, as the result is."
    )


def test_cotangents_of_structures():
    from s2sad.operators.pullbacks import checked

    y = (np.ones(2), {"a": 1.0, "n": 3}, [np.float32(2.0)])
    pull = checked(lambda dy: dy, y, "f")
    got = pull((np.array([1, 2]), {"n": None, "a": 2}, [1.5]))
    assert got[0].dtype == float and got[1] == {"a": 2.0, "n": None}
    assert type(got[2][0]) is np.float32
    assert message(TypeError, pull, [1.0]) == (
        "The cotangent of f is a value of type list; it must be a tuple."
    )
    assert message(ValueError, pull, (1.0,)) == "The cotangent of f has 1 entries; it must have 3."
    assert message(ValueError, pull, (np.ones(2), {"b": 1.0}, [1.0])) == (
        "The cotangent of f at [1] has the keys ['b']; it must have ['a', 'n']."
    )
    assert message(TypeError, pull, (np.ones(2), 1.0, [1.0])) == (
        "The cotangent of f at [1] is a value of type float; it must be a dict."
    )


# --- source and emit -----------------------------------------------------------------------------


def from_annotations(x: float, n: int, pair: tuple[float, bool], s: Active[np.float32]):
    return x * n * pair[0] * s


def test_source_from_annotations():
    text = s2sad.grad(from_annotations, wrt="x").source()
    assert text == s2sad.grad(from_annotations, wrt="x").source(
        1.0, 2, (1.0, True), np.float32(1.0)
    )


def test_source_without_a_decision():
    def undecided(x: np.ndarray):
        return np.sum(x)

    assert message(UnsupportedError, s2sad.grad(undecided).source) == (
        "The annotations of undecided do not say which kind of value x is.\n"
        f"{where(undecided)}Give example arguments."
    )


def test_source_of_all_modes():
    assert s2sad.source(product, args=(1.0,)) == s2sad.grad(product).source(1.0)
    text = s2sad.source(product, mode="value_and_grad", wrt=1, args=(1.0,))
    assert "def product_value_and_grad(a, b=3.0, *, c=1.0):" in text
    text = s2sad.source(product, mode="reverse", args=(1.0,))
    assert "def product_reverse(a, b=3.0, *, c=1.0):" in text
    assert "def product_vjp(" in s2sad.source(product, mode="vjp", args=[1.0])


def test_modes_that_there_are_not():
    assert message(ValueError, s2sad.source, product, mode="gard", args=(1.0,)) == (
        "mode='gard' is not one of grad, value_and_grad, vjp, jvp, reverse"
    )


def test_emit_gives_the_path(tmp_path):
    path = s2sad.emit(product, str(tmp_path / "out.py"), args=(1.0,))
    assert path == tmp_path / "out.py" and isinstance(path, Path)
    assert "def product_grad(" in path.read_text()


def test_derived_code_shows_in_tracebacks():
    def fails(x):
        return x * math.sqrt(x - 2.0)

    with pytest.raises(ValueError) as caught:
        s2sad.grad(fails)(1.0)
    text = "".join(traceback.format_exception(caught.value))
    assert "math.sqrt(x - 2.0)" in text and 'File "<s2sad fails_grad ' in text


# --- pickling and copying ------------------------------------------------------------------------


def test_operators_are_pickled_with_their_function():
    gradient = s2sad.grad(product, wrt=("a", "b"))
    gradient(2.0)
    for other in (
        pickle.loads(pickle.dumps(gradient)),
        copy.copy(gradient),
        copy.deepcopy(gradient),
    ):
        assert other is not gradient and other(2.0) == gradient(2.0)


def test_operators_of_a_lambda_are_not_pickled():
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(s2sad.grad(lambda x: x))


def test_decorated_functions_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    assert copy.copy(decorated) is decorated and copy.deepcopy(decorated) is decorated
    assert pickle.loads(pickle.dumps(decorated.grad)) is decorated.grad
    assert pickle.loads(pickle.dumps(s2sad.grad(decorated)))(np.ones(2), np.ones(2)).shape == (2,)


def test_decorated_methods_are_pickled_with_their_object():
    w = np.array([1.0, 2.0])
    model = Model(3.0)
    for other in (model.decorated.grad, s2sad.grad(model.loss)):
        assert np.array_equal(pickle.loads(pickle.dumps(other))(w), 6.0 * w)


# --- the decorator -------------------------------------------------------------------------------


def test_a_decorated_function_is_the_function():
    assert decorated(np.ones(2), np.ones(2)) == 2.0
    assert decorated(x=np.ones(2), w=np.ones(2)) == 2.0
    assert decorated.__name__ == "decorated" and decorated.__doc__ == "The docstring."
    assert decorated.__module__ == __name__
    assert list(inspect.signature(decorated).parameters) == ["w", "x"]
    assert isinstance(decorated.__s2sad_primal__, types.FunctionType)


def test_its_derivatives():
    w, x = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    assert np.array_equal(decorated.grad(w, x), x)
    value, gradient = decorated.value_and_grad(w, x)
    assert value == 11.0 and np.array_equal(gradient, x)
    value, pullback = decorated.vjp(w, x)
    assert value == 11.0 and np.array_equal(pullback(2.0), 2.0 * x)
    assert decorated.grad is decorated.grad
    assert "def decorated_grad(w, x):" in decorated.grad.source(w, x)
    assert np.array_equal(s2sad.grad(decorated)(w, x), x)


def test_the_decorator_takes_wrt():
    assert decorated_wrt(2.0, 3.0) == 6.0
    assert decorated_wrt.grad(2.0, 3.0) == (2.0, 3.0)
    assert decorated_wrt.vjp(2.0, 3.0)[1](1.0) == (2.0, 3.0)
    assert decorated_wrt.vjp(2.0, 3.0, wrt=0)[1](1.0) == 3.0


@s2sad.differentiate(wrt=1)
def decorated_for_the_second(a, b):
    return a * b**3


class Decorated:
    @s2sad.differentiate(wrt="b")
    def product(self, a, b):
        return a * b**3


@pytest.mark.parametrize(
    "f",
    [
        s2sad.differentiate(wrt="b")(lambda a, b: a * b**3),
        decorated_for_the_second,
        Decorated().product,
    ],
)
def test_operators_take_what_the_decorator_says(f):
    assert s2sad.grad(f)(2.0, 3.0) == f.grad(2.0, 3.0) == 54.0
    assert s2sad.value_and_grad(f)(2.0, 3.0) == (54.0, 54.0)
    assert s2sad.jacobian(f)(2.0, 3.0) == 54.0
    assert s2sad.hessian(f)(2.0, 3.0) == f.hessian(2.0, 3.0) == 36.0
    assert s2sad.vjp(f, 2.0, 3.0)[1](1.0) == f.vjp(2.0, 3.0)[1](1.0) == 54.0
    assert s2sad.grad(s2sad.grad(f))(2.0, 3.0) == 36.0
    assert s2sad.grad(f, wrt="a")(2.0, 3.0) == 27.0
    assert s2sad.grad(functools.partial(f, 2.0))(3.0) == 54.0
    assert "with respect to b" in s2sad.source(f, args=(2.0, 3.0))
    assert "with respect to b" in str(s2sad.explain(f, args=(2.0, 3.0)))
    s2sad.check_grads(f, (2.0, 3.0))


def test_so_they_do_inside_of_programs():
    f = decorated_for_the_second

    def first(a, b):
        return s2sad.grad(f)(a, b) + f.grad(a, b)

    def second(a, b):
        return s2sad.grad(s2sad.grad(f))(a, b) + s2sad.grad(s2sad.grad(f, wrt="a"))(a, b)

    assert (first(2.0, 3.0), second(2.0, 3.0)) == (108.0, 63.0)
    assert s2sad.grad(first, wrt="b")(2.0, 3.0) == 72.0
    assert s2sad.grad(second, wrt="b")(2.0, 3.0) == 30.0


def test_a_wrong_wrt_shows_at_the_first_use():
    f = s2sad.differentiate(wrt="z")(product)
    with pytest.raises(ActivityError, match="wrt='z' names no parameter of product"):
        f.grad(1.0)


def test_decorated_methods():
    w = np.array([1.0, 2.0])
    model = Model(3.0)
    assert model.decorated(w) == 15.0
    assert np.array_equal(model.decorated.grad(w), 6.0 * w)
    assert np.array_equal(model.decorated.grad(w=w), 6.0 * w)
    value, gradient = model.decorated.value_and_grad(w)
    assert value == 15.0 and np.array_equal(gradient, 6.0 * w)
    value, pullback = model.decorated.vjp(w)
    assert value == 15.0 and np.array_equal(pullback(2.0), 12.0 * w)
    assert np.array_equal(s2sad.grad(model.decorated)(w), 6.0 * w)
    assert model.decorated == model.decorated and hash(model.decorated) == hash(model.decorated)
    assert model.decorated.__name__ == "decorated"
    assert "def decorated_grad(self, w):" in model.decorated.grad.source(w)


def test_objects_of_a_class_share_derivations(derivations):
    for scale in (1.0, 2.0, 3.0):
        assert Model(scale).decorated.grad(np.ones(2)).tolist() == [2.0 * scale] * 2
    assert len(derivations) <= 1


def test_self_where_wrt_names_it():
    gradient = Model(3.0).by_self.grad(2.0)
    assert type(gradient) is Model and gradient.scale == 12.0


def test_static_methods():
    w = np.array([1.0, 2.0])
    assert Model.static(w) == Model(1.0).static(w) == 5.0
    assert np.array_equal(Model.static.grad(w), 2.0 * w)
    assert np.array_equal(Model(1.0).static.grad(w), 2.0 * w)


def test_the_decorator_wants_a_function():
    assert message(TypeError, s2sad.differentiate, 3) == "differentiate needs a function, not 3"


def test_only_dataclasses_of_floats_come_back_as_such():
    @dataclasses.dataclass
    class Pair:
        a: float
        b: float

    def f(p):
        return p.a * p.b

    gradient = s2sad.grad(f)(Pair(2.0, 3.0))
    assert type(gradient) is Pair and gradient == Pair(3.0, 2.0)


# --- has_aux -------------------------------------------------------------------------------------


def with_aux(x, y):
    z = x * y
    return z * z, {"z": z}


def test_has_aux():
    assert s2sad.grad(with_aux, has_aux=True)(2.0, 3.0) == (36.0, {"z": 6.0})
    assert s2sad.value_and_grad(with_aux, has_aux=True)(2.0, 3.0) == ((36.0, {"z": 6.0}), 36.0)
    value, pullback, aux = s2sad.vjp(with_aux, 2.0, 3.0, has_aux=True)
    assert (value, aux) == (36.0, {"z": 6.0})
    assert pullback(1.0) == (36.0, 24.0)


def test_the_source_of_a_decorated_function_is_with_respect_to_what_the_decorator_says():
    assert "with respect to b." in s2sad.source(decorated_for_b, args=(1.0, 2.0))
    assert "with respect to a." in s2sad.source(decorated_for_b, wrt="a", args=(1.0, 2.0))


@s2sad.differentiate(wrt="b")
def decorated_for_b(a, b):
    return a * b


def dispatched(x, which):
    if which == 1:
        y = 3.0 * x
    elif which == 2:
        y = x * x
    else:
        raise ValueError(which)
    return y * y


def dispatched_in_a_loop(x, which):
    for k in range(2):
        if which == "a":
            x = x * x
        elif which == "b":
            x = 2.0 * x + k
        else:
            raise ValueError(which)
    return x


@pytest.mark.parametrize(
    "fn, which",
    [(dispatched, 1), (dispatched, 2), (dispatched_in_a_loop, "a"), (dispatched_in_a_loop, "b")],
)
def test_a_branch_that_raises_binds_no_cotangent(fn, which):
    value, pullback = s2sad.vjp(fn, 1.5, which, wrt=0)
    assert value == fn(1.5, which)
    assert pullback(1.0) == s2sad.grad(fn)(1.5, which)
    with pytest.raises(ValueError, match="c"):
        s2sad.vjp(fn, 1.5, "c", wrt=0)
