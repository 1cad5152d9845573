"""What a derivation saw is compared before each call: what changed is derived anew."""

import linecache
import math
import sys
import types

import numpy as np
import pytest

import s2sad
from s2sad.operators import derived, deriving, guard


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


def square(x):
    return x * x


def cube(x):
    return x * x * x


tools = types.ModuleType("tools")
tools.RATE = 2.0
tools.helper = square
tools.inner = types.ModuleType("tools.inner")
tools.inner.helper = square


class Model:
    RATE = 2.0

    def __init__(self, w):
        self.w = w

    def step(self, x):
        return self.w * x

    @property
    def doubled(self):
        return 2.0 * self.w

    @classmethod
    def made(cls, x):
        return x * x

    def __call__(self, x):
        return self.step(x)

    def loss(self, x):
        return self.step(x) * x


class Heavier(Model):
    pass


def with_default(x, factor=2.0, *, power=2):
    return factor * x**power


def uses_math(x):
    return math.sin(x)


def uses_rate(x):
    return tools.RATE * x


def uses_tools(x):
    return tools.helper(x)


def uses_inner(x):
    return tools.inner.helper(x)


def uses_class_rate(x):
    return Model.RATE * x


def uses_class_function(x):
    return Model.made(x)


def uses_method(x, model):
    return model.step(x)


def uses_property(x, model):
    return model.doubled * x


def uses_call(x, model):
    return model(x)


def uses_default(x):
    return with_default(x)


CHANGES = {
    "a function of a module": (uses_math, (0.5,), math, "sin", square, math.cos(0.5), 1.0),
    "a module's data": (uses_rate, (1.0,), tools, "RATE", 3.0, 2.0, 3.0),
    "a module's function": (uses_tools, (2.0,), tools, "helper", cube, 4.0, 12.0),
    "a module in a module": (uses_inner, (2.0,), tools.inner, "helper", cube, 4.0, 12.0),
    "a class's data": (uses_class_rate, (1.0,), Model, "RATE", 5.0, 2.0, 5.0),
    "a method": (uses_method, (2.0, Model(3.0)), Model, "step", lambda s, x: x * x, 3.0, 4.0),
    "an inherited method": (
        uses_method,
        (2.0, Heavier(3.0)),
        Heavier,
        "step",
        lambda s, x: x * x,
        3.0,
        4.0,
    ),
    "a property": (
        uses_property,
        (2.0, Model(3.0)),
        Model,
        "doubled",
        property(lambda s: s.w),
        6.0,
        3.0,
    ),
    "a call": (uses_call, (2.0, Model(3.0)), Model, "__call__", lambda s, x: x * x, 3.0, 4.0),
    "a method in a method": (
        uses_call,
        (2.0, Model(3.0)),
        Model,
        "step",
        lambda s, x: x * x,
        3.0,
        4.0,
    ),
    "defaults": (uses_default, (3.0,), with_default, "__defaults__", (5.0,), 12.0, 30.0),
    "keyword defaults": (
        uses_default,
        (3.0,),
        with_default,
        "__kwdefaults__",
        {"power": 3},
        12.0,
        54.0,
    ),
    "code": (uses_tools, (2.0,), square, "__code__", cube.__code__, 4.0, 12.0),
    "its own code": (square, (2.0,), square, "__code__", cube.__code__, 4.0, 12.0),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_noticed(name, derivations, monkeypatch):
    f, args, owner, attr, changed, before, after = CHANGES[name]
    gradient = s2sad.grad(f)
    for _ in range(3):
        assert gradient(*args) == pytest.approx(before)
    assert len(derivations) == 1
    monkeypatch.setattr(owner, attr, changed)
    for _ in range(3):
        assert gradient(*args) == pytest.approx(after)
    assert len(derivations) <= 2
    monkeypatch.undo()
    assert s2sad.grad(f)(*args) == gradient(*args) == pytest.approx(before)


def test_a_method_of_the_object_that_is_bound(monkeypatch):
    model = Model(3.0)
    gradient = s2sad.grad(model.loss)
    assert [gradient(2.0), gradient(2.0)] == [12.0, 12.0]
    monkeypatch.setattr(Model, "step", lambda self, x: x * x)
    assert [gradient(2.0), gradient(2.0)] == [12.0, 12.0]  # 3 * x * x
    assert gradient(3.0) == 27.0


def test_a_keyword_default_that_is_written_in_place():
    def inner(x, *, power=2):
        return x**power

    gradient = s2sad.grad(inner)
    assert gradient(3.0) == 6.0
    inner.__kwdefaults__["power"] = 3
    assert gradient(3.0) == 27.0
    outer = lambda x: inner(x)  # noqa: E731
    assert s2sad.grad(outer)(3.0) == 27.0
    inner.__kwdefaults__["power"] = 2
    assert s2sad.grad(outer)(3.0) == 6.0


def test_class_methods_and_methods_of_builtins_hold(derivations):
    gradient = s2sad.grad(uses_class_function)
    for _ in range(3):
        assert gradient(3.0) == 6.0
    assert len(derivations) == 1


def test_a_global_array_of_another_rank(derivations, monkeypatch):
    monkeypatch.setitem(globals(), "DATA", np.ones(3))
    gradient = s2sad.grad(uses_data)
    assert gradient(2.0) == 3.0
    DATA[:] = 2.0
    assert gradient(2.0) == 6.0
    assert len(derivations) == 1
    monkeypatch.setitem(globals(), "DATA", np.ones((2, 3)))
    assert gradient(2.0) == 6.0
    monkeypatch.setitem(globals(), "DATA", np.ones(3, "float32"))
    assert gradient(2.0) == 3.0
    assert len(derivations) == 3


def uses_data(x):
    return np.sum(x * DATA)


DATA = np.ones(3)


def test_a_bound_method_whose_object_changes(derivations, monkeypatch):
    model = Model(3.0)
    monkeypatch.setitem(globals(), "step", model.step)
    gradient = s2sad.grad(uses_step)
    x = np.array([1.0, 2.0])
    assert gradient(x).tolist() == [3.0, 3.0]
    model.w = np.array([1.0, 5.0])
    assert gradient(x).tolist() == [1.0, 5.0]
    assert len(derivations) == 2


def uses_step(x):
    return np.sum(step(x))


step = Model(1.0).step


def test_names_like_those_of_the_guard():
    space = {"np": np, "type": 1.0, "TYPE": 2.0, "KEY": 3.0, "NameError": 4.0, "len": 5.0}
    text = "def f(x, same):\n    return same * np.sum(x) * type * TYPE * KEY * NameError * len\n"
    f = load(text, space)
    gradient = s2sad.grad(f)
    for _ in range(2):
        assert gradient(np.ones(2), 1.0).tolist() == [120.0, 120.0]
    space["KEY"] = np.float64(6.0)
    assert gradient(np.ones(2), 1.0).tolist() == [240.0, 240.0]


def load(text, space):
    filename = f"<test guard {len(linecache.cache)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), space)
    return space["f"]


def test_defaults_in_a_shortcut():
    def f(x, y=2.0, z=3.0):
        return x * y * z

    gradient = s2sad.grad(f)
    for _ in range(2):
        assert gradient(1.0, 5.0, 7.0) == 35.0
        assert gradient(1.0) == 6.0
        assert gradient(1.0, z=5.0) == 10.0
        assert gradient(x=1.0, y=5.0, z=7.0) == 35.0
    f.__defaults__ = (2.0, 4.0)
    assert gradient(1.0) == 8.0
    f.__defaults__ = (4.0,)
    assert gradient(1.0, 2.0) == 8.0
    with pytest.raises(TypeError):
        gradient(1.0)


def test_positional_only_parameters():
    def f(x, y=2.0, /, z=3.0):
        return x * y * z

    gradient = s2sad.grad(f)
    for _ in range(2):
        assert gradient(1.0, 5.0, 7.0) == 35.0
        assert gradient(1.0, z=7.0) == 14.0
        with pytest.raises(TypeError):
            gradient(1.0, y=2.0)


# --- arguments -----------------------------------------------------------------------------------


class Sub(np.ndarray):
    pass


SHAPES = [(), (1,), (3,), (1, 1), (1, 3), (3, 1), (2, 3), (1, 2, 3), (2, 2, 2)]


@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_of_other_ranks_and_lengths(shape):
    def f(x, y):
        return np.sum(x * y)

    gradient = s2sad.grad(f)
    for other in [shape, *SHAPES]:
        x, y = np.ones(other), np.full(shape, 2.0)
        try:
            want = np.broadcast_shapes(other, shape)
        except ValueError:
            continue
        for _ in range(2):
            got = gradient(x, y)
            assert np.shape(got) == other
            assert np.sum(got) == 2.0 * math.prod(want)


@pytest.mark.parametrize(
    "other",
    [
        np.ones(3, "float32"),
        np.ones((2, 2)).view(Sub),
        np.ma.ones(3),
        [1.0, 2.0],
        2.0,
        2,
        None,
        "s",
    ],
    ids=repr,
)
def test_arguments_of_another_kind_do_not_pass(other):
    def f(x, y):
        return np.sum(x * x)

    gradient = s2sad.grad(f)
    assert gradient(np.ones(3), 1.0).tolist() == [2.0, 2.0, 2.0]
    fresh = s2sad.grad(f)
    assert outcome(gradient, other) == outcome(fresh, other)


def outcome(gradient, x):
    try:
        return repr(gradient(x, 1.0))
    except s2sad.Error as error:
        return str(error)


def test_kinds_that_nobody_asks(derivations):
    def f(x, unread, y):
        return np.sum(x * y)

    gradient = s2sad.grad(f, wrt="x")
    others = [1.0, 2, None, "s", [1.0], np.ones(3), np.ones((1, 2)), object(), square, {"a": 1}]
    for other in others * 2:
        assert gradient(np.ones(2), other, 3.0).tolist() == [3.0, 3.0]
    assert len(derivations) == 1
    with pytest.raises(s2sad.ActivityError, match="unread"):
        gradient(np.ones(2), s2sad.Const(1.0), 3.0)


def test_kinds_of_what_is_differentiated_are_asked():
    def f(x, unread, y):
        return x * y

    assert s2sad.vjp(f, 2.0, 3.0, 4.0)[1](1.0) == (4.0, 0.0, 2.0)
    assert s2sad.vjp(f, 2.0, np.ones(2), 4.0)[1](1.0)[1].tolist() == [0.0, 0.0]
    assert s2sad.vjp(f, 2.0, "s", 4.0)[1](1.0) == (4.0, 2.0)
    assert s2sad.grad(f, wrt="unread")(2.0, 3.0, 4.0) == 0.0
    assert s2sad.grad(f, wrt="unread")(2.0, np.ones(2), 4.0).tolist() == [0.0, 0.0]


def test_kinds_that_an_inner_function_asks(derivations):
    def f(x, k, rest, unread=0):
        return [np.sum(x * k * len(rest)) for _ in range(2)][0]

    gradient = s2sad.grad(f)
    assert gradient(np.ones(2), 2.0, [1.0]).tolist() == [2.0, 2.0]
    assert gradient(np.ones(2), np.array([2.0, 3.0]), [1.0]).tolist() == [2.0, 3.0]
    assert gradient(np.ones(2), np.ones((4, 2)), [1.0]).tolist() == [4.0, 4.0]
    assert len(derivations) == 3
    for unread in (1.0, None, "s"):
        assert gradient(np.ones(2), 2.0, [1.0], unread).tolist() == [2.0, 2.0]
    assert len(derivations) == 3


def test_what_is_never_the_same_is_derived_each_time(derivations, monkeypatch):
    class Fickle(types.ModuleType):
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return lambda x: x * x

    monkeypatch.setattr(tools, "inner", Fickle("fickle"))
    gradient = s2sad.grad(uses_inner)
    assert [gradient(2.0), gradient(3.0)] == [4.0, 6.0]


def imports_a_function(x):
    from held_for_tests import slope

    return slope(x)


def imports_a_module(x):
    import held_for_tests as held

    return held.slope(x) * held.factor


@pytest.mark.parametrize("fn", [imports_a_function, imports_a_module])
def test_what_a_function_imports_itself_is_seen(fn, monkeypatch):
    module = types.ModuleType("held_for_tests")
    module.slope, module.factor = square, 1.0
    monkeypatch.setitem(sys.modules, "held_for_tests", module)
    gradient = s2sad.grad(fn)
    assert gradient(3.0) == gradient(3.0) == 6.0
    module.slope = cube
    assert gradient(3.0) == 27.0
    module.factor = np.ones(())
    assert gradient(3.0) == 27.0


def weighted(x, y):
    return np.sum(x * np.sin(y))


def test_what_is_derived_stands_behind_the_tests():
    gradient = s2sad.grad(weighted)
    x, y = np.array([1.0, 2.0]), np.array([0.5, 0.3])
    expected = gradient(x, y)
    assert "s2sad_derived" not in gradient.__call__.__code__.co_freevars
    assert gradient.__call__.__code__.co_name == "weighted_grad"
    np.testing.assert_array_equal(gradient(x, y), expected)
    assert gradient(np.ones(1), y).shape == (1,)
    assert gradient(np.ones((2, 2)), y).shape == (2, 2)
    assert gradient(x.astype(np.float32), y).dtype == np.float32


def test_an_error_of_what_is_derived_is_no_failed_test():
    gradient = s2sad.grad(weighted)
    gradient(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="broadcast") as caught:
        gradient(np.ones(3), np.ones(4))
    names = [entry.name for entry in caught.traceback]
    assert "weighted_grad" in names
    assert not {"_unfold", "_general"} & set(names)


def test_a_module_of_the_user_is_not_that_of_the_derived(monkeypatch, derivations):
    gradient = s2sad.grad(weighted)
    x, y = np.ones(2), np.array([0.5, 0.3])
    np.testing.assert_array_equal(gradient(x, y), np.sin(y))
    other = types.ModuleType("other")
    other.sum, other.sin = np.sum, np.cos
    monkeypatch.setitem(globals(), "np", other)
    got = gradient(x, y)
    monkeypatch.undo()
    np.testing.assert_array_equal(got, np.cos(y))


def test_a_function_of_a_module_is_replaced_removed_and_put_back(monkeypatch):
    module = types.ModuleType("replaced")
    module.turn = np.sin
    f = lambda x: np.sum(module.turn(x))
    gradient = s2sad.grad(f)
    x = np.array([0.5, 0.3])
    np.testing.assert_array_equal(gradient(x), np.cos(x))
    monkeypatch.setattr(module, "turn", np.exp)
    np.testing.assert_array_equal(gradient(x), np.exp(x))
    monkeypatch.delattr(module, "turn")
    with pytest.raises((s2sad.Error, AttributeError)):
        gradient(x)
    monkeypatch.undo()
    np.testing.assert_array_equal(gradient(x), np.cos(x))


RATE = 2.0


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("def own_grad(x):\n    return 3.0 * x", True),
        ("def own_grad(x):\n    RATE = 3.0\n    return RATE * x", False),
        ("def own_grad(z):\n    return 3.0 * z", False),
        ("def own_grad(x):\n    s2sad_0 = 3.0\n    return s2sad_0 * x", False),
        ("def own_grad(x):\n    return s2sad_0 * x", False),
        ("def own_grad(x):\n    def RATE(x):\n        return x\n    return RATE(x)", False),
        ("def own_grad(x):\n    def inner(x):\n        return x\n    return inner(x)", False),
        ("def own_grad(x):\n    global RATE\n    return RATE * x", False),
        ("def own_grad(x):\n    yield 3.0 * x", False),
        ("def own_grad(x, *more):\n    return 3.0 * x", False),
    ],
)
def test_names_of_what_is_derived_hide_none_of_the_tests(text, stands):
    namespace = {}
    exec(text, namespace)
    derived = types.FunctionType(namespace["own_grad"].__code__, globals(), "own_grad")
    own = lambda x: RATE * x
    body = guard.body_of(derived, text, own, {"RATE": RATE}, 0)
    assert (body is not None) == stands


class Sized:
    def LENGTH(self, x):
        return 2.0 * x


def long(x, sized):
    return x * sized.LENGTH(x)


def test_names_of_attributes_may_contain_those_of_helpers(derivations, monkeypatch):
    gradient = s2sad.grad(long)
    sized = Sized()
    assert [gradient(2.0, sized), gradient(3.0, sized)] == [8.0, 12.0]
    assert len(derivations) == 1
    monkeypatch.setattr(Sized, "LENGTH", lambda self, x: 3.0 * x)
    assert gradient(2.0, sized) == 12.0


POINT = np.array(2.0)


def pointed(x):
    return x * POINT


def test_an_array_without_axes_that_becomes_another_is_noticed(monkeypatch):
    gradient = s2sad.grad(pointed)
    assert gradient(3.0) == 2.0
    monkeypatch.setitem(globals(), "POINT", np.ones(3))
    with pytest.raises(s2sad.ActivityError):
        gradient(3.0)


# --- classes and rules ---------------------------------------------------------------------------


class Holder:
    weight = 2.0
    chosen = None
    act = staticmethod(np.sin)

    @classmethod
    def rate(cls):
        return 1.0

    def loss(self, x):
        s = np.sum(self.act(x) * self.weight) * self.rate()
        return s if self.chosen is None else s + np.sum(self.chosen(x))


WEIGHTS = [np.array([1.0, 2.0]), np.array([[1.0], [2.0]]), np.ones(1), np.array([3.0]), 3, 2.0]
MEMBERS = [
    *(("weight", w) for w in WEIGHTS),
    ("act", staticmethod(np.exp)),
    ("chosen", staticmethod(np.exp)),
    ("rate", classmethod(lambda cls: 5.0)),
    ("loss", lambda self, x: np.sum(x) ** 2),
]


@pytest.mark.parametrize("name, value", MEMBERS)
def test_what_is_found_in_a_class(name, value, monkeypatch):
    layer, x = Holder(), np.array([0.5, 0.7])

    def f(x):
        return layer.loss(x)

    gradient = s2sad.grad(f)
    for _ in range(2):
        assert gradient(x) == pytest.approx(2.0 * np.cos(x))
    monkeypatch.setattr(Holder, name, value)
    slopes = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    assert gradient(x) == pytest.approx(slopes)
    monkeypatch.undo()
    assert gradient(x) == pytest.approx(2.0 * np.cos(x))


def test_a_rule_registered_later():
    def cubed(x):
        return x * x * x

    def other(x):
        return x

    def f(x):
        return np.sum(cubed(x))

    gradient = s2sad.grad(f)
    for _ in range(2):
        assert gradient(np.ones(2)).tolist() == [3.0, 3.0]
    s2sad.nondifferentiable(other)
    assert gradient(np.ones(2)).tolist() == [3.0, 3.0]

    @s2sad.elementwise(cubed)
    def partial(out, x):
        return 100.0 * x

    assert gradient(np.ones(2)).tolist() == [100.0, 100.0]
    assert s2sad.grad(f)(np.ones(2)).tolist() == [100.0, 100.0]
