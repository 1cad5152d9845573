"""Programs that use operators: each is differentiated, backward and forward."""

import functools

import numpy as np
import pytest
from test_jvp import moved

import s2sad
from s2sad import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp

X = np.array([1.2, 0.7, -0.3, 0.4])
ALONG = np.array([0.3, -1.0, 0.5, 2.0])


def check(f, *args):
    """Hold the gradient by the first argument, and the tangent along one, beside differences."""

    def at(t):
        return f(moved(args[0], along, t), *args[1:])

    along = ALONG if np.ndim(args[0]) else 1.0
    wanted = (8 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4
    assert np.sum(grad(f)(*args) * along) == pytest.approx(wanted, rel=1e-7, abs=1e-9)
    found = jvp(f, args, [along, *[None] * (len(args) - 1)])[1]
    assert found == pytest.approx(wanted, rel=1e-7, abs=1e-9)


def bent(x):
    return np.sum((x[1:] - x[:-1] ** 2) ** 2 + 0.1 * np.sin(x[:-1]))


# --- parameters in structures --------------------------------------------------------------------


def squares(p):
    return np.sum(p["w"] ** 2 * p["b"])


def layers(p):
    return np.sum(np.tanh(p["W"] @ p["b"]) ** 2) * p["s"]


def start(x):
    return {"w": x, "b": 2.0 * x}


def deep(x):
    return {"W": np.outer(x, x), "b": np.sin(x), "s": 1.0 + x[0]}


def of_a_display(x):
    g = grad(squares)({"w": x, "b": 2.0 * x})
    return np.sum(g["w"] * g["b"])


def of_a_dict(x):
    p = start(x)
    g = grad(lambda p: squares(p) * x[0])(p)
    return np.sum(g["w"] * g["b"])


def of_a_list(x):
    a, b = grad(lambda rows: np.sum(rows[0] ** 2 * rows[1]))([x, 2.0 * x])
    return np.sum(a * b)


def trained_by_name(x):
    p = start(x)
    for _ in range(3):
        g = grad(squares)(p)
        p = {"w": p["w"] - 0.1 * g["w"], "b": p["b"] - 0.1 * g["b"]}
    return squares(p)


def trained_by_key(x):
    p = start(x)
    for _ in range(3):
        g = grad(squares)(p)
        p = {k: p[k] - 0.1 * g[k] for k in p}
    return squares(p)


def trained_of_other_kinds(x):
    p = deep(x)
    for _ in range(2):
        g = grad(layers)(p)
        p = {k: v - 0.1 * g[k] for k, v in p.items()}
    return layers(p)


def trained_in_place(x):
    p = deep(x)
    for _ in range(2):
        _, g = value_and_grad(layers)(p)
        for k in p:
            p[k] = p[k] - 0.1 * g[k]
    return layers(p)


STRUCTURES = [
    of_a_display,
    of_a_dict,
    of_a_list,
    trained_by_name,
    trained_by_key,
    trained_of_other_kinds,
    trained_in_place,
]


@pytest.mark.parametrize("f", STRUCTURES)
def test_structures(f):
    check(f, X)


def part_of_a_structure(x):
    return np.sum(grad(squares, wrt="p.w")(start(x)) * x)


# --- Jacobians and Hessians ----------------------------------------------------------------------


def mixed(x):
    return np.sin(x) * np.roll(x, 1) + x[0] * x


J, H = jacobian(mixed), hessian(bent)


def whole_jacobian(x):
    return np.sum(jacobian(mixed)(x) ** 2)


def made_outside(x):
    return np.sum(J(x) @ H(x))


def newton_steps(x):
    for _ in range(2):
        x = x - np.linalg.solve(hessian(bent)(x) + 10.0 * np.eye(4), grad(bent)(x))
    return np.sum(x**2)


def of_a_matrix(x):
    return np.sum(jacobian(lambda A: np.sum(A @ A, axis=0))(np.outer(x, x)) ** 2)


def of_two(x):
    A, B = jacobian(lambda u, w: u * w * w, wrt=(0, 1))(x, 2.0 * x)
    return np.sum(A @ B)


def of_numbers(x):
    return hessian(lambda y: x[0] * y**4)(x[1]) + np.sum(jacobian(lambda t: t * x * x)(x[0]) ** 2)


def of_a_structure(x):
    p = {"a": x, "b": 2.0 * x, "c": x[0]}
    B = hessian(lambda q: np.sum(q["a"] ** 2 * q["b"] ** 2) * q["c"])(p)
    return np.sum(B["a"]["b"] * x) + np.sum(B["c"]["a"]) + np.sum(B["a"]["c"] * x) + B["c"]["c"]


def to_a_structure(x):
    B = jacobian(lambda u: {"a": u * u, "b": (np.sum(u**3), 1)})(x)
    return np.sum(B["a"] ** 2) + np.sum(B["b"][0] * x)


def with_more(x):
    A, aux = jacobian(lambda u: (u * u * u, u * 2.0), has_aux=True)(x)
    B, more = hessian(lambda u: (np.sum(u**3), u * 2.0), has_aux=True)(x)
    return np.sum(A @ aux) + np.sum(B @ more)


def of_what_writes(x):
    def g(u):
        for i in range(1, 4):
            u[i] = u[i] * u[i - 1]
        return u * 1.0

    return np.sum(jacobian(g)(x * 1.0) ** 2)


def of_a_hessian(x):
    return np.sum(jacobian(hessian(lambda y: np.sum(y**4) * y[0]))(x) ** 2)


SLOW = {of_a_hessian, of_a_structure, with_more}
MATRICES = [
    whole_jacobian,
    made_outside,
    newton_steps,
    of_a_matrix,
    of_two,
    of_numbers,
    of_a_structure,
    to_a_structure,
    with_more,
    of_what_writes,
    of_a_hessian,
    part_of_a_structure,
]


def everyday(programs):
    """Return programs as parameters of tests, of which the slow ones do not run every day."""
    return [pytest.param(f, marks=[pytest.mark.full] if f in SLOW else []) for f in programs]


@pytest.mark.parametrize("f", everyday(MATRICES))
def test_matrices(f):
    check(f, X)


def test_matrices_are_differentiated_alone():
    H_dot = s2sad.jvp(H, (X,), (ALONG,))[1]
    step = 1e-5 * ALONG
    assert H_dot == pytest.approx((H(X + step) - H(X - step)) / 2e-5, rel=1e-7, abs=1e-8)
    third = jacobian(jacobian(J))(X)
    assert third.shape == (4, 4, 4, 4)


def test_text_of_a_jacobian_inside(tmp_path):
    path = grad(whole_jacobian).emit(tmp_path / "whole.py", X)
    text = path.read_text()
    assert (
        "import s2sad" not in text
        and "from s2sad" not in text
        and "np.stack(columns, axis=-1)" in text
    )
    names: dict = {"__name__": "whole"}
    exec(compile(text, str(path), "exec"), names)
    assert names["whole_jacobian_grad"](X) == pytest.approx(grad(whole_jacobian)(X))


def test_matrices_of_complex_numbers_are_refused():
    def f(x):
        return np.sum(jacobian(lambda z: z * z)(x + 1j * x).real)

    with pytest.raises(
        s2sad.Error, match="does not support Jacobians and Hessians of complex numbers"
    ):
        grad(f)(X)


# --- pullbacks -----------------------------------------------------------------------------------


def pulled_twice(x):
    y, pull = vjp(mixed, x)
    return np.sum(pull(y) * pull(x))


def pulled_in_a_loop(x):
    for _ in range(3):
        y, pull = vjp(mixed, x)
        x = x - 0.1 * pull(np.cos(y))
    return np.sum(x**2)


def pulled_by_index(x):
    for _ in range(2):
        found = vjp(mixed, x)
        pull = found[1]
        x = x - 0.1 * pull(found[0])
    return np.sum(x**2)


def pulled_by_two(x):
    _, pull = vjp(lambda a, b: a * b * b, x, 2.0 * x)
    a, b = pull(x)
    return np.sum(a * b)


def gauss_newton(x):
    _, along = jvp(mixed, (x,), (np.cos(x),))
    _, pull, aux = vjp(lambda u: (mixed(u), u * 2.0), x, has_aux=True)
    return np.sum(x * pull(along) * aux)


def pulled_of_a_structure(x):
    p = start(x)
    for _ in range(2):
        _, pull = vjp(squares, p)
        g = pull(0.1)
        p = {k: p[k] - g[k] for k in p}
    return squares(p)


PULLBACKS = [
    pulled_twice,
    pulled_in_a_loop,
    pulled_by_index,
    pulled_by_two,
    gauss_newton,
    pulled_of_a_structure,
]


@pytest.mark.parametrize("f", PULLBACKS)
def test_pullbacks(f):
    check(f, X)


def test_pullback_that_is_kept_is_refused():
    def f(x):
        pulls = []
        for _ in range(2):
            y, pull = vjp(mixed, x)
            pulls.append(pull)
            x = 0.5 * y
        return np.sum(pulls[0](x))

    with pytest.raises(s2sad.Error):
        grad(f)(X)


# --- functions that are bound to more ------------------------------------------------------------


class Model:
    def __init__(self, k):
        self.k = k

    def loss(self, x):
        return self.k * np.sum(x**3)


MODEL = Model(3.0)
HALF = functools.partial(lambda k, y: k * np.sum(y**3), 0.5)


def of_a_method(x):
    m = Model(x[0])
    return np.sum(grad(m.loss)(x) ** 2)


def of_a_method_outside(x):
    return np.sum(grad(MODEL.loss)(x) ** 2)


def of_a_partial(x):
    h = functools.partial(lambda k, y: k * np.sum(y**3), x[0])
    return np.sum(grad(h)(x) ** 2)


def of_a_partial_outside(x):
    return np.sum(grad(HALF)(x) ** 2)


def tangent_with_more(x):
    _, dy, aux = jvp(lambda u: (np.sum(u**3), u * 2.0), (x,), (x,), has_aux=True)
    return dy * np.sum(aux)


BOUND = [of_a_method, of_a_method_outside, of_a_partial, of_a_partial_outside, tangent_with_more]


@pytest.mark.parametrize("f", BOUND)
def test_functions_that_are_bound_to_more(f):
    check(f, X)


def test_gradient_by_what_a_partial_leaves_is_not_that_by_a_tuple():
    def first(x):
        return grad(MODEL.loss)(x)[0]

    assert grad(first)(X) == pytest.approx([18.0 * X[0], 0.0, 0.0, 0.0])


# --- one of several functions --------------------------------------------------------------------


def fourth(x):
    return np.sum(x**4)


def cubes(x):
    return np.sum(x**3)


TABLE = {"fourth": fourth, "cubes": cubes}


def each_of_a_list(x):
    g = lambda y: np.sum(np.sin(y) * y)
    h = lambda y: np.sum(y**3 * x)
    s = 0.0
    for f in [g, h, cubes]:
        s = s + np.sum(grad(f)(x) ** 2)
    return s


def each_with_a_name(x):
    g = lambda y: np.sum(np.sin(y) * y)
    s = 0.0
    for f in (g, cubes):
        df = grad(f)
        s = s + np.sum(df(x) * df(x * x)) + jvp(f, (x,), (x,))[1]
        s = s + np.sum(hvp(f, (x,), (x,)))
    return s


def each_twice(x):
    g = lambda t: np.sin(t * x[0])
    h = lambda t: t**4
    s = 0.0
    for f in (g, h):
        s = s + grad(grad(f))(x[1])
    return s


def each_of_a_table(x):
    s = 0.0
    for _, f in TABLE.items():
        s = s + np.sum(grad(f)(x) ** 2)
    return s


def chosen_by_a_test(x):
    f = cubes if x[0] > 0 else fourth
    return np.sum(grad(f)(x) ** 2)


def each_lambda_of_a_list(x):
    s = 0.0
    for g in [lambda y: np.sum(y**2 * x), lambda y: np.sum(np.sin(y))]:
        s = s + np.sum(grad(g)(x))
    return s


def chosen_anew(x):
    f = cubes if x[0] > 0 else fourth
    df = grad(f)
    f = fourth
    return np.sum(df(x) * x) + f(x)


@pytest.mark.parametrize(
    "f",
    [
        each_of_a_list,
        each_with_a_name,
        each_twice,
        each_of_a_table,
        chosen_by_a_test,
        each_lambda_of_a_list,
    ],
)
def test_one_of_several_functions(f):
    check(f, X)


def test_a_choice_that_is_rebound_is_refused():
    with pytest.raises(s2sad.UnsupportedError, match="may not be a function"):
        grad(chosen_anew)(X)
