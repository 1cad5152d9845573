"""check_grads: passes what is right, names the entry and the statement of what is wrong."""

import itertools
import sys

import numpy as np
import pytest

import s2sad
from s2sad import check_grads, pullback, pushforward

X = np.array([0.3, -0.2, 0.7, 1.1])
REVERSE = ("reverse",)


def cubed(x):
    return x * x * x


@pullback(cubed)
def pull_cubed(out_bar, out, x):
    return out_bar * 2.0 * x * x


@pushforward(cubed)
def push_cubed(out, x, x_dot):
    return x_dot * 3.0 * x * x * (1.0 + 0.1 * (x > 1.0))


def inner(z, k):
    w = z + k
    for _ in range(2):
        u = (cubed(w)
             * 2)  # fmt: skip
    return u


def loss(x, p):
    y = inner(x, p["a"])
    return np.sum(y)


def several(x):
    return {"a": inner(x, 1.0), "b": (x[0], 2)}


def filled(x):
    y = np.zeros(4)
    y[:] = x
    y[1:] += cubed(y[1:])
    y.sort()
    return y


class Model:
    def __init__(self, w):
        self.w = w

    def run(self, x):
        self.h = cubed(x * self.w)
        return np.sum(self.h)


def message(f, args, **settings):
    with pytest.raises(AssertionError) as raised:
        check_grads(f, args, **settings)
    return str(raised.value)


def test_right_ones_pass():
    def f(x, p):
        s = 0.0
        for i in range(len(x)):
            s = s * x[i] + np.sin(x[i]) * p["a"][i]
        return s

    check_grads(f, (X, {"a": np.ones(4), "n": 3}))
    check_grads(lambda x: np.sin(x) * x[0], (X,))
    check_grads(lambda x: np.sin(x) * x[0], (X.astype(np.float32),))
    check_grads(lambda x: np.sin(x) * x[0], (X + 0.2j,))
    check_grads(lambda x: x.copy(), (np.zeros((0, 3)),))
    check_grads(lambda x: x**2, (3,), wrt=0)
    check_grads(lambda x: (x[0], {"k": x}), (X,))


def test_reverse_names_argument_entry_and_statement():
    said = message(loss, (X, {"a": np.ones(4)}), modes=REVERSE)
    assert said.startswith("loss, reverse mode, x[0]: s2sad gives 6.76, differences give 10.14")
    assert 'test_checking.py", line' in said and "u = (cubed(w)" in said
    assert "This statement alone: w[0]: s2sad gives" in said


def test_forward_names_result_and_argument():
    said = message(several, (X,), modes=("forward",))
    assert 'several, forward mode, the result["a"]' in said and "by x[" in said
    assert "u = (cubed(w)" in said


def test_argument_in_a_structure():
    said = message(lambda m, x: m.run(x), (Model(2.0), X), modes="reverse")
    assert "reverse mode, m.w: s2sad gives" in said and "self.h = cubed(x * self.w)" in said
    assert "u = (" not in said


def test_methods_and_lambdas():
    assert "self.h = cubed(" in message(Model(2.0).run, (X,), modes=REVERSE)
    said = message(lambda x: cubed(x), (X,), modes=REVERSE)
    assert "cubed(x)" in said and "This statement alone" in said


def test_writes_in_place():
    said = message(filled, (X,), modes=REVERSE)
    assert "y[1:] += cubed(y[1:])" in said and "This statement alone: y[" in said


def test_arguments_and_tracing_are_left_alone():
    def f(m, x):
        m.seen = x * 2.0
        x[0] = 0.0
        return np.sum(m.seen)

    m, x = Model(1.0), X.copy()
    before = sys.gettrace()
    check_grads(f, (m, x), modes=REVERSE, order=1)
    assert np.array_equal(x, X) and not hasattr(m, "seen") and sys.gettrace() is before


def test_generators_as_arguments():
    check_grads(lambda x, rng: x * rng.normal(), (X, np.random.default_rng(0)))


def test_what_draws_cannot_be_checked():
    assert "another value when it is called again" in message(
        lambda x: x * np.random.normal(), (X,), order=1
    )


def test_every_number_may_be_wrong():
    for i in range(4):

        def f(x, i=i):
            return np.sum(x**2) + cubed(x[i])

        assert f"reverse mode, x[{i}]" in message(f, (X, i), modes=REVERSE, wrt=0)


BAD = [
    (TypeError, {"args": X}, "needs args as a tuple"),
    (ValueError, {"modes": ("sideways",)}, "not 'sideways'"),
    (ValueError, {"modes": ()}, "modes is empty"),
    (ValueError, {"order": 0}, "order must be 1 or more"),
    (ValueError, {"order": True}, "order must be 1 or more"),
    (s2sad.ActivityError, {"wrt": "q"}, "names no parameter"),
]


@pytest.mark.parametrize("error, settings, words", BAD)
def test_bad_input(error, settings, words):
    with pytest.raises(error, match=words):
        check_grads(lambda x: np.sum(x), settings.pop("args", (X,)), **settings)


def test_arguments_of_variadic_functions_are_named():
    check_grads(lambda *xs: xs[0] * xs[1] ** 2, (1.0, 2.0))
    with pytest.raises(AssertionError, match="xs_1"):
        check_grads(lambda *xs: xs[0] * s2sad.stop_gradient(xs[1]), (1.0, 2.0))


def test_both_modes_and_every_order():
    for mode, order in itertools.product(("forward", "reverse"), (1, 2)):
        check_grads(lambda x: np.sum(np.tanh(x) ** 3), (X,), modes=(mode,), order=order)


def squared(x):
    return x * x


@s2sad.elementwise(squared)
def squared_partial(out, x):
    return 2.0 * s2sad.stop_gradient(x)


def test_second_order_is_checked():
    check_grads(lambda x: squared(x), (X,), order=1)
    said = message(lambda x: squared(x), (X,))
    assert said.startswith("the gradient of the lambda, forward mode, the result[0]")


@pytest.mark.parametrize("f", [filled, lambda x: {"a": np.sin(x) * x[0], "b": (x[0] ** 3, 2)}])
def test_second_order_of_what_writes_and_of_structures(f, monkeypatch):
    monkeypatch.setitem(globals(), "cubed", lambda x: x * x * x)
    check_grads(f, (X,))


def test_parameters_may_have_any_name():
    def loss(w, w_1, w0, f, y, np):
        return w * w0**2 + f**3 * y + w_1 * np

    check_grads(loss, (X, 2.0 * X, X + 1.0, X - 0.3, 0.5, 0.7), wrt=(0, 1, 2, 3, 4, 5))


@pytest.mark.parametrize("f", [np.floor, lambda x: 1.0 if x > 1.0 else 0.0], ids=["floor", "step"])
def test_jumps_are_no_place_for_differences(f):
    with pytest.raises(AssertionError, match="differences do not converge here"):
        s2sad.check_grads(lambda x: f(x) + x * x, (1.0,), order=1)
    s2sad.check_grads(lambda x: f(x) + x * x, (1.5,), order=1)


def test_second_derivatives_that_are_refused_say_how_to_check_the_first():
    def f(x, d):
        d["k"] = 2.0 * x
        d["l"].append(np.sum(x))
        return np.sum(d["k"] * x)

    x = np.array([0.3, 1.2])
    s2sad.check_grads(f, (x, {"k": x, "l": []}), wrt="x", order=1)
    try:
        s2sad.check_grads(f, (x, {"k": x, "l": []}), wrt="x")
    except (s2sad.AliasError, s2sad.UnsupportedError) as error:
        assert "A higher derivative of f is refused." in error.reason
        assert "order=1" in error.remedy and error.place.file == __file__
