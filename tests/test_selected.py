"""`wrt="model.params"`: parts of structures, everywhere the derivative that the whole has there."""

import dataclasses
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

import s2sad
from s2sad.tree import is_float_leaf

sys.path.insert(0, str(Path(__file__).parent))

from corpus import PROGRAMS


class Model:
    def __init__(self):
        rng = np.random.default_rng(1)
        self.params = {"w": rng.normal(size=3), "b": 0.5}
        self.layers = [{"w": rng.normal(size=(3, 3))} for _ in range(2)]
        self.data = rng.normal(size=(4, 3))
        self.order = np.array([2, 0, 1])
        self.name = "model"
        self.cache = {}

    def run(self):
        h = self.data
        for layer in self.layers:
            h = np.tanh(h @ layer["w"])
        self.cache["last"] = h
        return h @ self.params["w"] + self.params["b"]


def loss(model, y):
    return np.sum((model.run() - y) ** 2)


Y = np.arange(4.0)


@pytest.mark.parametrize("path", ["params", "params.w", "params.b", "layers", "layers.1.w", "data"])
def test_part_is_that_of_the_whole(path):
    whole = s2sad.grad(loss)(Model(), Y)
    expected = s2sad.ravel(s2sad.selected.Selected.of(f"whole.{path}").value(whole))[0]
    got = s2sad.grad(loss, wrt=f"model.{path}")(Model(), Y)
    assert np.allclose(s2sad.ravel(got)[0], expected, rtol=1e-13)
    value, pulled = s2sad.value_and_grad(loss, wrt=(f"model.{path}", "y"))(Model(), Y)
    assert value == loss(Model(), Y)
    assert np.allclose(s2sad.ravel(pulled[0])[0], expected, rtol=1e-13)
    _, pullback = s2sad.vjp(loss, Model(), Y, wrt=f"model.{path}")
    assert np.allclose(s2sad.ravel(pullback(1.0))[0], expected, rtol=1e-13)


def test_two_parts_of_one_parameter():
    b, w = s2sad.grad(loss, wrt=("model.params.b", "model.params.w"))(Model(), Y)
    whole = s2sad.grad(loss)(Model(), Y).params
    assert b == pytest.approx(whole["b"]) and w == pytest.approx(whole["w"])


def linear(model, y):
    r = model.data @ model.params["w"] + model.params["b"] - y
    return np.sum(r * r)


def test_the_rest_is_constant():
    text = s2sad.grad(linear, wrt="model.params").source(Model(), Y)
    assert "data_bar" not in text and "bar.data" not in text
    assert "return model_bar.params" in text and "with respect to model.params." in text


Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class State:
    at: Point
    parts: list


def test_named_tuples_dataclasses_and_lists():
    def f(s):
        return s.at.x * s.at.y**2 + s.parts[0] * s.parts[1][0]

    s = State(Point(2.0, 3.0), [4.0, (5.0, 1)])
    assert s2sad.grad(f, wrt="s.at")(s) == Point(9.0, 12.0)
    assert type(s2sad.grad(f, wrt="s.at")(s)) is Point
    assert s2sad.grad(f, wrt="s.at.y")(s) == 12.0
    assert s2sad.grad(f, wrt=("s.parts.0", "s.parts.1"))(s) == (5.0, (4.0, None))


def test_state_that_is_written_is_no_constant():
    def f(model, x):
        model["state"] = model["state"] * 0.5 + x * model["w"]
        model["old"][0] = model["state"]
        return model["old"][0] * model["state"]

    model = {"w": 2.0, "state": 1.0, "old": np.zeros(2)}
    for path in ("w", "state", "old"):
        got = s2sad.grad(f, wrt=f"model.{path}")(model, 3.0)
        assert np.allclose(got, s2sad.grad(f)(model, 3.0)[path])


def test_constant_that_becomes_active():
    def f(p, n):
        x = p["start"]
        for _ in range(n):
            x = x * p["a"] + 1.0
        total = p["scale"]
        total += x
        return total * x

    p = {"start": 0.3, "a": 0.7, "scale": 2.0}
    for path in p:
        assert s2sad.grad(f, wrt=f"p.{path}")(p, 3) == pytest.approx(s2sad.grad(f)(p, 3)[path])


def paths(value, kind=""):
    """Yield the dotted paths of the float leaves and structures in a value."""
    if isinstance(value, dict):
        found = [(k, v) for k, v in value.items() if isinstance(k, str) and k.isidentifier()]
    elif isinstance(value, tuple | list):
        names = getattr(type(value), "_fields", None) or map(str, range(len(value)))
        found = list(zip(names, value, strict=True))
    elif is_float_leaf(value) or not hasattr(value, "__dict__"):
        return
    else:
        found = list(vars(value).items())
    for word, part in found:
        if s2sad.tree.leaves(part):
            yield f"{kind}.{word}", part
            yield from paths(part, f"{kind}.{word}")


STRUCTURED = [
    name
    for name, p in PROGRAMS.items()
    if any(True for i in p.wrt for _ in paths(p.arguments()[i]))
]


@pytest.mark.parametrize("name", STRUCTURED)
def test_every_part_of_every_program(name):
    p = PROGRAMS[name]
    names = list(s2sad.grad(p.f, wrt=p.wrt).__signature__.parameters)
    try:
        whole = s2sad.grad(p.f, wrt=p.wrt)(*p.arguments())
    except s2sad.Error as error:
        pytest.skip(f"refused as a whole: {error.reason}")
    for i, gradient in zip(p.wrt, whole, strict=True):
        for path, _ in list(paths(p.arguments()[i], names[i]))[:4]:
            one = s2sad.selected.Selected.of(path)
            try:
                got = s2sad.grad(p.f, wrt=path)(*p.arguments())
            except s2sad.Error as error:
                assert "list" in error.reason or "holds no floats" in error.reason, (path, error)
                continue
            expected = s2sad.ravel(one.value(gradient))[0]
            assert np.allclose(s2sad.ravel(got)[0], expected, rtol=1e-10, atol=1e-12), path


BAD = {
    "model.nope": "is an instance of Model and has no part 'nope'",
    "model.params.q": "is a dict and has no part 'q'",
    "model.name": "has no derivative",
    "model.order": "has no derivative",
    "model.": "has no part ''",
    "modl.params": "names no parameter of loss",
}


@pytest.mark.parametrize("path", BAD)
def test_paths_that_lead_nowhere(path):
    with pytest.raises(s2sad.ActivityError, match=BAD[path]):
        s2sad.grad(loss, wrt=path)(Model(), Y)


@pytest.mark.parametrize("wrt", [("model.params", "model.params.w"), ("model", "model.data")])
def test_a_part_of_what_is_named(wrt):
    with pytest.raises(s2sad.ActivityError, match="twice"):
        s2sad.grad(loss, wrt=wrt)


def test_emitted(tmp_path):
    path = s2sad.emit(linear, tmp_path / "m.py", wrt="model.params.w", args=(Model(), Y))
    space = {}
    exec(path.read_text(), space)
    assert space["linear_grad"](Model(), Y) == pytest.approx(
        s2sad.grad(linear)(Model(), Y).params["w"]
    )


def squared(model, y):
    return np.sum((model.data @ model.params["w"] + model.params["b"] - y) ** 2)


def test_second_derivatives():
    by_w = s2sad.hessian(squared, "model.params.w")(Model(), Y)
    assert by_w == pytest.approx(2.0 * Model().data.T @ Model().data)
    by_b = s2sad.hessian(squared, "model.params.b")(Model(), Y)
    assert by_b == pytest.approx(8.0)
    (bb, by), (yb, yy) = s2sad.hessian(squared, ("model.params.b", "y"))(Model(), Y)
    assert (bb, by.tolist(), yb.tolist()) == (pytest.approx(8.0), [-2.0] * 4, [-2.0] * 4)
    assert yy == pytest.approx(2.0 * np.eye(4))
    text = s2sad.hessian(squared, "model.params.w").source(Model(), Y)
    assert "def squared_grad_jvp(model, y, model_dot):" in text


def test_a_gradient_by_a_part_is_built_like_that_in_programs_too():
    along = s2sad.tree_map(lambda leaf: 0.0 * leaf, Model())
    along.params["w"] = np.ones(3)
    g = s2sad.grad(squared, "model.params.w")
    gradient, dot = s2sad.jvp(g, (Model(), Y), (along, None))
    assert gradient == pytest.approx(g(Model(), Y))
    assert dot == pytest.approx(s2sad.hessian(squared, "model.params.w")(Model(), Y).sum(axis=1))


def test_gradients_by_parts_inside_of_programs():
    def fit(p, y):
        return np.sum((p["w"] * 3.0 + p["b"] - y) ** 2)

    def stepped(p, y):
        gradient = s2sad.grad(fit, wrt="p.w")(p, y)
        by_y, by_b = s2sad.grad(fit, wrt=("y", "p.b"))(p, y)
        return np.sum(gradient**2) + by_b * np.sum(by_y)

    p = {"w": np.array([0.3, -0.2]), "b": 0.1, "n": 3}
    s2sad.check_grads(stepped, (p, Y[:2]), order=1)
    with pytest.raises(s2sad.UnsupportedError, match="takes whole parameters"):
        s2sad.grad(lambda m, y: s2sad.vjp(squared, m, y, wrt="model.data")[0])(Model(), Y)


def test_dicts_of_parameters_inside_of_programs():
    def fit(p, x):
        return np.sum((p["w"] * x + p["b"]) ** 2)

    def descended(p, x, rate):
        g = s2sad.grad(fit)(p, x)
        return fit({"w": p["w"] - rate * g["w"], "b": p["b"] - rate * g["b"]}, 2.0 * x)

    p = {"w": np.array([0.3, -0.2]), "b": 0.1, "name": "p"}
    s2sad.check_grads(descended, (p, np.array([1.0, 2.0]), 0.1), order=1)


class Kernel:
    def __init__(self, width, height):
        self.width, self.height = width, height

    def __call__(self, x, y):
        return self.height**2 * np.exp(-0.5 * ((x - y) / self.width) ** 2)


class Process:
    def __init__(self, kernel, noise):
        self.kernel, self.noise = kernel, noise


def misfit(g, x):
    cover = g.kernel(x[:, None], x[None, :]) + g.noise**2 * np.eye(len(x))
    return x @ np.linalg.solve(cover, x)


def test_second_derivatives_by_parts_beside_objects_that_are_called():
    x = np.array([0.3, -0.7, 1.1])

    def at(noise, height):
        return misfit(Process(Kernel(1.2, height), noise), x)

    found = s2sad.hessian(misfit, wrt=("g.noise", "g.kernel.height"))(
        Process(Kernel(1.2, 0.9), 0.4), x
    )
    assert np.allclose(found, s2sad.hessian(at, wrt=(0, 1))(0.4, 0.9), rtol=1e-9)
    h = 1e-4
    slope = (at(0.4 + h, 0.9) - 2.0 * at(0.4, 0.9) + at(0.4 - h, 0.9)) / h**2
    assert found[0][0] == pytest.approx(slope, rel=1e-5)
    whole = s2sad.hessian(misfit)(Process(Kernel(1.2, 0.9), 0.4), x)
    assert whole.noise.noise == pytest.approx(found[0][0], rel=1e-12)
    assert whole.noise.kernel.height == pytest.approx(found[0][1], rel=1e-9)
