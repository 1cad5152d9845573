"""Decorated functions and methods inside of programs: called, they are what they decorate."""

import functools
import sys

import numpy as np
import pytest

import s2sad

X = np.array([0.3, 1.2, -0.7])


class Plain:
    def __init__(self, a):
        self.a = a
        self.calls = 0

    def loss(self, k, w):
        return np.sum(self.a * k * w**2)

    def counted(self, w):
        self.calls += 1
        return np.tanh(self.a * w)

    def __call__(self, w):
        return np.sum(self.counted(self.counted(w)))


class Decorated(Plain):
    loss = s2sad.differentiate(Plain.loss)
    counted = s2sad.differentiate(Plain.counted)


PLAIN, DECORATED = Plain(2.0), Decorated(2.0)
BOUND = {
    "plain": PLAIN.loss,
    "decorated": DECORATED.loss,
    "partial": functools.partial(functools.partial(PLAIN.loss)),
    "partial of a decorated one": functools.partial(DECORATED.loss),
}


def by_attribute(model, w):
    return model.loss(3.0, w) ** 2


def by_class(model, w):
    return type(model).loss(model, 3.0, w) ** 2


def handed(loss, w):
    return loss(3.0, w) ** 2


@pytest.mark.parametrize("model", [PLAIN, DECORATED])
@pytest.mark.parametrize("f", [by_attribute, by_class])
def test_methods(f, model):
    assert s2sad.grad(f, wrt="w")(model, X) == pytest.approx(2 * model.loss(3.0, X) * 12 * X)
    s2sad.check_grads(f, (model, X), wrt="w")


@pytest.mark.parametrize("name", BOUND)
def test_bound_methods_that_are_captured_or_handed(name):
    loss = BOUND[name]
    expected = 2 * loss(3.0, X) * 12 * X
    assert s2sad.grad(handed, wrt="w")(loss, X) == pytest.approx(expected)

    def captured(w):
        return loss(3.0, w) ** 2

    assert s2sad.grad(captured)(X) == pytest.approx(expected)
    s2sad.check_grads(captured, (X,))
    s2sad.check_grads(loss, (3.0, X))
    first = functools.partial(loss, 3.0)
    assert s2sad.grad(lambda w: first(w) ** 2)(X) == pytest.approx(expected)


@pytest.mark.parametrize("cls", [Plain, Decorated])
def test_what_methods_write(cls):
    model = cls(0.5)
    found = s2sad.grad(lambda model, w: model(w))(model, X)
    h = 0.5 * np.tanh(0.5 * X)
    by_hand = (1 - np.tanh(h) ** 2) * (np.tanh(0.5 * X) + 0.5 * (1 - np.tanh(0.5 * X) ** 2) * X)
    assert found.a == pytest.approx(np.sum(by_hand)) and model.calls == 0


def test_a_bound_method_is_read_anew_when_its_object_changes():
    model = Decorated(2.0)
    loss, first = model.loss, functools.partial(model.loss, 3.0)

    def captured(w):
        return loss(1.0, w) + first(w)

    gradient = s2sad.grad(captured)
    assert gradient(X) == pytest.approx(16.0 * X)
    model.a = np.array([1.0, 2.0, 3.0])
    assert gradient(X) == pytest.approx(8.0 * model.a * X)


def test_a_method_that_is_decorated_later_is_noticed():
    class Model:
        def loss(self, w):
            return np.sum(w**2)

    gradient = s2sad.grad(lambda model, w: model.loss(w), wrt="w")
    assert gradient(Model(), X) == pytest.approx(2 * X)
    Model.loss = s2sad.differentiate(lambda self, w: np.sum(w**3))
    assert gradient(Model(), X) == pytest.approx(3 * X**2)
    Model.loss = s2sad.differentiate(lambda self, w: np.sum(w**4))
    assert gradient(Model(), X) == pytest.approx(4 * X**3)


def test_the_check_of_a_method_by_its_object():
    class Net:
        def __init__(self):
            self.w = 0.5 * X

        @s2sad.differentiate(wrt="self.w")
        def loss(self, x):
            return np.sum(np.tanh(self.w * x))

    s2sad.check_grads(Net().loss, (X,))


class Members:
    scale = 3.0

    @s2sad.differentiate
    @classmethod
    def of_class(cls, w):
        return cls.scale * np.sum(w * w)

    @s2sad.differentiate
    @staticmethod
    def of_none(w):
        return np.sum(w * w)


class Heir(Members):
    scale = 5.0


@pytest.mark.parametrize("owner", [Members, Members(), Heir])
def test_class_methods_and_static_methods(owner):
    w = np.array([1.0, 2.0])
    assert owner.of_class(w) == owner.scale * 5.0
    assert np.allclose(owner.of_class.grad(w), 2.0 * owner.scale * w)
    assert np.allclose(owner.of_class.hessian(w), 2.0 * owner.scale * np.eye(2))
    assert np.allclose(owner.of_class.vjp(w)[1](1.0), 2.0 * owner.scale * w)
    assert np.allclose(owner.of_none.grad(w), 2.0 * w)
    assert np.allclose(s2sad.grad(lambda w: owner.of_class(w))(w), 2.0 * owner.scale * w)


def weighted(scale, w):
    return scale * np.sum(w * w)


class Holds:
    def __init__(self):
        self.partial = functools.partial(weighted, 3.0)
        self.by_name = functools.partial(weighted, w=np.array([5.0, 6.0]))


def test_partials_that_are_attributes_bring_their_own_arguments():
    held, w = Holds(), np.array([1.0, 2.0])
    assert np.allclose(s2sad.grad(lambda w: held.partial(w))(w), 6.0 * w)
    assert np.allclose(s2sad.grad(lambda s: held.by_name(s))(1.0), 61.0)
    assert s2sad.jvp(lambda w: held.partial(w), (w,), (w,)) == (15.0, 30.0)


class Turned:
    scale = 3.0

    @classmethod
    @s2sad.differentiate
    def of_class(cls, w):
        return cls.scale * np.sum(w * w)

    @staticmethod
    @s2sad.differentiate
    def of_none(w):
        return np.sum(w * w)


def test_class_methods_with_their_decorators_turned_round():
    """Up to Python 3.12 a class method binds what is below it; after that, it has no class."""
    w = np.array([1.0, 2.0])
    assert Turned.of_class(w) == 15.0
    assert np.allclose(Turned.of_none.grad(w), 2.0 * w)
    below = vars(Turned)["of_class"].__func__
    for derive in (
        lambda: below.grad(w),
        lambda: below.hessian(w),
        lambda: below.vjp(w),
        lambda: below.jvp((w,), (w,)),
        lambda: below.hvp((w,), (w,)),
        lambda: below.autodiff(s2sad.Reverse, w),
    ):
        with pytest.raises(s2sad.UnsupportedError) as caught:
            derive()
        assert caught.value.remedy == "Write @differentiate above @classmethod."
        assert caught.value.place.function == "of_class"
    if sys.version_info < (3, 13):
        assert np.allclose(Turned.of_class.grad(w), 6.0 * w)
    else:
        with pytest.raises(s2sad.UnsupportedError, match="below @classmethod"):
            Turned.of_class.grad(w)
    assert np.allclose(s2sad.grad(Turned.of_class)(w), 6.0 * w)
