"""Objects of different classes in one list: text, emitted modules, guards, other operators."""

import runpy

import numpy as np
import pytest
from slopes import check

import s2sad
from tests.writing_layers import (
    Dense,
    Growth,
    Layer,
    Linear,
    Logistic,
    Net,
    Scale,
    Tanh,
    V,
    W,
    X,
    layers_given,
    summed_over_models,
)


def run(layers, x):
    for layer in layers:
        x = layer(x)
    return np.sum(x * x)


def test_the_loop_stays_and_branches_over_the_class():
    text = s2sad.grad(run).source([Linear(W), Tanh()], X)
    assert "    for layer in layers:\n" in text and text.count("type(layer) is Linear") == 1
    assert "        else:\n" in text


def test_the_emitted_module_needs_only_the_classes(tmp_path):
    layers = [Linear(W), Tanh(), Dense(V, X), Scale(0.3)]
    gradient = s2sad.grad(layers_given)
    path = gradient.emit(tmp_path / "layers_grad.py", layers, X)
    module = runpy.run_path(str(path))
    got = module["layers_given_grad"](layers, X)
    want = gradient(layers, X)
    for one, other in zip(got, want, strict=True):
        assert s2sad.ravel(one)[0] == pytest.approx(s2sad.ravel(other)[0])
    with pytest.raises(TypeError):
        module["layers_given_grad"](layers[::-1], X)


def test_other_lists_derive_another_source():
    gradient = s2sad.grad(run)
    for layers in (
        [Linear(W), Tanh()],
        [Tanh(), Linear(W), Tanh(), Dense(V, X)],
        [Scale(0.4), Scale(0.2)],
        [Tanh()] * 3 + [Linear(W)],
    ):
        got = gradient(layers, X)
        assert [type(g) for g in got] == [type(layer) for layer in layers]
        check(run, layers, X)


def test_products():
    def loss(w, x):
        return run([Linear(w), Tanh(), Dense(V, w[0])], x)

    check(loss, W, X)
    value, pullback = s2sad.vjp(loss, W, X)
    first, second = pullback(1.0), pullback(1.0)
    assert np.array_equal(first[0], second[0]) and value == loss(W, X)
    check(lambda k: summed_over_models([Growth(k), Logistic(k, 1.5)], X), 0.3)


def test_shadows_are_accumulated():
    layers, x = [Linear(W.copy()), Tanh(), Dense(V.copy(), X.copy())], X.copy()
    shadows = [Linear(np.zeros((3, 3))), Tanh(), Dense(np.ones((3, 3)), np.zeros(3))]
    s2sad.autodiff(s2sad.Reverse, run, s2sad.Duplicated(layers, shadows), s2sad.Const(x))
    want = s2sad.grad(run)(layers, x)
    assert np.allclose(shadows[0].W, want[0].W)
    assert np.allclose(shadows[2].W, 1.0 + want[2].W)
    assert np.allclose(shadows[2].b, want[2].b)


def test_classes_without_a_name_in_the_function_that_loops():
    class Cubed(Layer):
        def __init__(self, k):
            self.k = k

        def forward(self, x):
            return self.k * x**3

    class Other(Layer):
        def __init__(self, k):
            self.k = k

        def forward(self, x):
            return self.k - x

    check(lambda net, x: net.loss(x, x), Net([Cubed(0.3), Other(0.2), Linear(W), Cubed(0.1)]), X)


def mixed_with_functions(w, x):
    for f in [Linear(w), np.tanh]:
        x = f(x)
    return np.sum(x)


def test_objects_and_functions_in_one_list_are_refused():
    with pytest.raises(s2sad.UnsupportedError, match="an instance of Linear on one path"):
        s2sad.grad(mixed_with_functions)(W, X)


def unlike(flag, x):
    if flag > 0:
        model = Growth(x)
    else:
        model = Logistic(x, 2.0)
    return model.capacity * x


def test_an_attribute_that_one_class_lacks():
    assert s2sad.grad(unlike, wrt=1)(-1.0, 0.5) == 2.0
    with pytest.raises(AttributeError):
        s2sad.grad(unlike, wrt=1)(1.0, 0.5)
