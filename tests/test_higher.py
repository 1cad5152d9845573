"""Derivatives of derivatives: hvp, hessian, and operators applied to what operators give."""

import copy
import functools
import itertools
import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import corpus
import numpy as np
import pytest
from properties import leaves, same
from test_jvp import direction, moved

import s2sad
from s2sad import Active, Const, differentiate, grad, hessian, hvp, jvp, value_and_grad, vjp

# --- along one direction -------------------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_hessian(x):
    H = np.diag(-400.0 * x[:-1], 1) + np.diag(-400.0 * x[:-1], -1)
    first = np.append(1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0, 0.0)
    return H + np.diag(first + np.append(0.0, np.full(len(x) - 1, 200.0)))


POINT = np.array([1.2, 0.7, -0.3, 0.4])
ALONG = np.array([0.3, -1.0, 0.5, 2.0])


def test_hvp():
    product = hvp(rosenbrock, (POINT,), (ALONG,))
    assert product == pytest.approx(rosenbrock_hessian(POINT) @ ALONG, rel=1e-12)


def test_hvp_of_several_arguments():
    def f(x, n, y):
        return np.sum(np.sin(x) * y) ** n

    args, along = (POINT, 2, 0.7), (ALONG, None, 1.5)
    got = hvp(f, args, along)
    blocks = hessian(f, wrt=(0, 2))(*args)
    assert isinstance(got, tuple) and len(got) == 2
    for row, part in zip(blocks, got, strict=True):
        assert part == pytest.approx(row[0] @ ALONG + row[1] * 1.5, rel=1e-12)


def test_hvp_of_numbers():
    assert hvp(lambda x: x**4, (2.0,), (1.0,)) == 48.0
    assert hvp(lambda x: x**4, (2,), (1,)) == 48.0


def test_arguments_stay_as_they_are():
    def f(x):
        x *= x
        return np.sum(x[1:] * x[:-1])

    args, along = [POINT.copy()], [ALONG.copy()]
    assert hvp(f, args, along) == pytest.approx(
        hvp(lambda x: np.sum(x[1:] ** 2 * x[:-1] ** 2), args, along), rel=1e-12
    )
    assert same((args, along), ([POINT], [ALONG]))


def test_memory_that_is_written_is_not_shared():
    def f(x, y):
        x *= y
        return np.sum(x * y)

    z = np.arange(8.0)
    with pytest.raises(s2sad.AliasError):
        hvp(f, (z[:4], z[2:6]), (np.ones(4), None))
    with pytest.raises(s2sad.AliasError):
        hessian(f)(z[:4], z[2:6])


# --- all of them ---------------------------------------------------------------------------------


def test_hessian():
    H = hessian(rosenbrock)(POINT)
    assert H == pytest.approx(rosenbrock_hessian(POINT), rel=1e-12)
    assert isinstance(H, np.ndarray) and H.shape == (4, 4)


def test_hessian_of_a_matrix():
    A = np.arange(6.0).reshape(2, 3)
    H = hessian(lambda x: np.sum(x**3))(A)
    assert H.shape == (2, 3, 2, 3)
    assert H.reshape(6, 6) == pytest.approx(np.diag(6.0 * A.ravel()))


def test_hessian_of_a_number():
    found = hessian(lambda x: x**4)(2.0)
    assert found == 48.0 and np.ndim(found) == 0


def test_hessian_of_structures():
    def f(p, c):
        return np.sum(np.tanh(p["W"] @ p["b"][0])) * p["b"][1] * c

    p = {"W": np.arange(6.0).reshape(2, 3) / 7.0, "b": [np.array([0.3, -0.2, 0.5]), 1.5]}
    H = hessian(f)(p, 2.0)
    assert H["W"]["W"].shape == (2, 3, 2, 3)
    assert H["W"]["b"][0].shape == (2, 3, 3) and H["b"][0]["W"].shape == (3, 2, 3)
    assert np.ndim(H["b"][1]["b"][1]) == 0 and H["b"][1]["W"].shape == (2, 3)
    assert np.moveaxis(H["b"][0]["W"], 0, -1) == pytest.approx(H["W"]["b"][0], rel=1e-10)
    vector, unravel = s2sad.ravel(p)
    whole = hessian(lambda v, c: f({"W": v[:6].reshape(2, 3), "b": [v[6:9], v[9]]}, c))(vector, 2.0)
    assert H["W"]["W"].reshape(6, 6) == pytest.approx(whole[:6, :6], rel=1e-9, abs=1e-12)
    assert H["b"][0]["b"][0] == pytest.approx(whole[6:9, 6:9], rel=1e-9, abs=1e-12)


def test_hessian_keeps_what_has_no_derivative_out():
    H = hessian(lambda p: p["x"] ** 3 * p["n"])({"x": 2.0, "n": 3})
    assert H == {"x": {"x": 36.0, "n": None}, "n": None}


def test_hessian_with_aux():
    H, aux = hessian(lambda x: (np.sum(x**3), x.shape), has_aux=True)(POINT)
    assert H == pytest.approx(np.diag(6.0 * POINT)) and aux == POINT.shape


def test_hessian_in_single_precision():
    x = POINT.astype(np.float32)
    H = hessian(lambda x: np.sum(x**3))(x)
    assert H.dtype == np.float32 and H == pytest.approx(np.diag(6 * x), rel=1e-5)


def test_source_of_a_hessian(tmp_path):
    text = hessian(rosenbrock).source(POINT)
    assert "def rosenbrock_grad_jvp(x, x_dot):" in text
    path = hessian(rosenbrock).emit(tmp_path / "second.py", POINT)
    names: dict = {"__name__": "second"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    g, Hv = names["rosenbrock_grad_jvp"](POINT, ALONG)
    assert g == pytest.approx(grad(rosenbrock)(POINT))
    assert Hv == pytest.approx(rosenbrock_hessian(POINT) @ ALONG)


# --- attributes of functions and methods ---------------------------------------------------------


@differentiate
def loss(w: Active, x: Const):
    return np.sum(np.exp(w * x))


class Model:
    def __init__(self, k):
        self.k = k

    @differentiate
    def cubes(self, w):
        return np.sum(self.k * w**3)


def test_decorated():
    want = np.diag(4.0 * np.exp(2.0 * POINT))
    assert loss.hessian(POINT, 2.0) == pytest.approx(want)
    assert loss.hvp((POINT, 2.0), (ALONG, None)) == pytest.approx(want @ ALONG)
    assert jvp(loss.grad, (POINT, 2.0), (ALONG, None))[1] == pytest.approx(want @ ALONG)


def test_method():
    model = Model(2.0)
    assert model.cubes.hessian(POINT) == pytest.approx(np.diag(12.0 * POINT))
    assert model.cubes.hvp((POINT,), (ALONG,)) == pytest.approx(12.0 * POINT * ALONG)
    assert jvp(model.cubes.grad, (POINT,), (ALONG,))[1] == pytest.approx(12.0 * POINT * ALONG)


def test_what_is_captured_is_seen_as_it_is():
    def cubes(k):
        return lambda x: k * np.sum(x**3)

    for k in (1.0, 2.0, -3.0):
        assert hvp(cubes(k), (POINT,), (ALONG,)) == pytest.approx(6 * k * POINT * ALONG)
        assert grad(grad(lambda x: k * x**3))(2.0) == 12.0 * k  # noqa: B023


def test_partial():
    f = functools.partial(lambda n, x: x**n, 4)
    assert grad(grad(f))(2.0) == 48.0
    assert hvp(f, (2.0,), (1.0,)) == 48.0
    assert hessian(f)(2.0) == 48.0


# --- operators of operators ----------------------------------------------------------------------


def falling(x, n):
    y = 1.0
    for _ in range(n):
        y = y * np.sin(x * y)
    return y


def test_orders():
    assert grad(grad(lambda x: x**5))(2.0) == 160.0
    assert grad(grad(grad(lambda x: x**5)))(2.0) == 240.0
    assert grad(grad(grad(grad(lambda x: x**5))))(2) == 240.0


def test_orders_of_a_loop():
    x, h = 0.7, 1e-4
    derivative = falling
    for _ in range(3):
        lower, derivative = derivative, grad(derivative)
        slope = (lower(x + h, 3) - lower(x - h, 3)) / (2 * h)
        assert derivative(x, 3) == pytest.approx(slope, rel=1e-6)


def backward_through(x):
    pairs, y = [], x
    for _ in range(3):
        pairs.append((np.sin(x * y), y))
        y = y * np.sin(x * y)
    s = 0.0
    for a, b in reversed(pairs):
        s = s * a + b * b
    return s


@pytest.mark.parametrize(
    "second",
    [
        grad(grad(backward_through)),
        lambda x: jvp(grad(backward_through), (x,), (1.0,))[1],
        lambda x: jvp(lambda v: value_and_grad(backward_through)(v)[1], (x,), (1.0,))[1],
        grad(lambda x: value_and_grad(backward_through)(x)[1]),
        grad(lambda x: vjp(backward_through, x)[1](1.0)),
        grad(lambda x: jvp(backward_through, (x,), (1.0,))[1]),
    ],
)
def test_shadows_that_are_found_by_their_memory(second):
    x, h = 0.7, 1e-5
    first = grad(backward_through)
    assert second(x) == pytest.approx((first(x + h) - first(x - h)) / (2 * h), rel=1e-7)


def cubic(x):
    return np.sum(x**3 * np.array([1.0, 2.0, 3.0])) * x[0]


def changed_after(x):
    y = x * 1.0
    a = grad(cubic)(y)
    y *= a
    return np.sum(a * y)


def changed_in_rounds(x):
    y, s = x * 1.0, 0.0
    for _ in range(3):
        a = grad(cubic)(y)
        y[:] = 0.3 * a + y
        s = s + np.sum(a * a)
    return s


def in_two_rows(x):
    rows = np.outer(x, x)
    row = rows[0] if x[0] > 0 else rows[1]
    a = grad(cubic)(row)
    row *= 2.0
    return np.sum(a * rows)


@pytest.mark.parametrize("f", [changed_after, changed_in_rounds, in_two_rows])
def test_a_gradient_that_is_called_is_turned_round_where_it_was(f):
    x, h = np.array([0.7, -0.4, 1.1]), 1e-6
    slope = np.array([(f(x + e) - f(x - e)) / (2 * h) for e in h * np.eye(3)])
    assert grad(f)(x) == pytest.approx(slope, rel=1e-5, abs=1e-6)
    given, x_bar = x.copy(), np.zeros(3)
    pullback = vjp(f, given)[1]
    given[:] = 0.0
    assert pullback(1.0) == pytest.approx(slope, rel=1e-5, abs=1e-6)
    s2sad.autodiff(s2sad.Reverse, f, s2sad.Duplicated(x.copy(), x_bar))
    assert x_bar == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_value_and_gradient():
    (value, gradient), (along, product) = jvp(value_and_grad(rosenbrock), (POINT,), (ALONG,))
    assert value == rosenbrock(POINT) and gradient == pytest.approx(grad(rosenbrock)(POINT))
    assert along == pytest.approx(gradient @ ALONG)
    assert product == pytest.approx(rosenbrock_hessian(POINT) @ ALONG)


def test_pullback_of_a_gradient():
    gradient, pullback = vjp(grad(rosenbrock), POINT)
    assert gradient == pytest.approx(grad(rosenbrock)(POINT))
    for v in (ALONG, POINT):
        assert pullback(v) == pytest.approx(rosenbrock_hessian(POINT) @ v)


def turned(x):
    cube = np.multiply.outer(np.outer(x, x), x[:2]).transpose(2, 0, 1).copy(order="K")
    return np.sum(cube[0] ** 2)


def test_axes_that_are_spread():
    product = hvp(turned, (POINT,), (ALONG,))
    gradient = grad(turned)
    along = (gradient(POINT + 1e-5 * ALONG) - gradient(POINT - 1e-5 * ALONG)) / 2e-5
    assert product == pytest.approx(along, rel=1e-6)


def damped(p, q):
    if p >= 0.47:
        return pow(q, 3)
    return 1.2 * math.sin(q)


def active_in_one_arm(x, b):
    w = damped(x[0], b)  # the same wherever x is
    if w < -1.0:
        w = w / (1.8 + x[1] * w)
    else:
        b = b / 1.9
    return 0.5 * b + w + np.sum(x)


@pytest.mark.parametrize("b", [-0.5, -1.3])
def test_a_tangent_that_one_arm_alone_makes(b):
    gradient = grad(active_in_one_arm)
    _, along = jvp(gradient, (POINT, b), (ALONG, None))
    want = (gradient(POINT + 1e-5 * ALONG, b) - gradient(POINT - 1e-5 * ALONG, b)) / 2e-5
    assert along == pytest.approx(want, rel=1e-6, abs=1e-8)


# --- programs ------------------------------------------------------------------------------------


BISECTED = {"bisection"}  # its root is a constant on each of the intervals that it ends in
REFUSED = {"jittered_cholesky"}
GOLDEN = sorted(n.partition(".")[2] for n in corpus.PROGRAMS if n.startswith("golden."))


def slope(gradient, program, tangents, step):
    """Return differences of fourth order of a gradient along tangents."""

    def at(t):
        args = program.arguments()
        for i in program.wrt:
            args[i] = moved(args[i], tangents[i], t)
        return leaves(gradient(*args))

    near, far = at(step) - at(-step), at(2 * step) - at(-2 * step)
    return (8 * near - far) / (12 * step)


def check_along(program, gradient, rng):
    """Hold the tangent of a gradient beside differences."""
    args = program.arguments()
    tangents = [direction(a, rng) if i in program.wrt else None for i, a in enumerate(args)]
    given = copy.deepcopy((args, tangents))
    value, product = jvp(gradient, args, tangents)
    assert same((args, tangents), given), "the arguments have changed"
    assert leaves(value) == pytest.approx(leaves(gradient(*program.arguments())), rel=1e-12)
    errors = []
    for step in (1e-3, 1e-4, 1e-5):
        want = slope(gradient, program, tangents, step)
        errors.append(np.max(np.abs(want - leaves(product)) / (1 + np.abs(want)), initial=0.0))
    assert min(errors) < 1e-6


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    program = corpus.PROGRAMS[f"golden.{name}"]
    gradient = grad(program.f, wrt=tuple(program.wrt))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in REFUSED:
            with pytest.raises((s2sad.UnsupportedError, s2sad.MissingRuleError)):
                check_along(program, gradient, np.random.default_rng(5))
        elif name not in BISECTED:
            check_along(program, gradient, np.random.default_rng(5))


# --- operators inside ----------------------------------------------------------------------------


def differences(f, x, step=1e-5):
    """Return differences of a function of an array."""
    units = np.eye(len(x)) * step
    return np.array([(f(x + e) - f(x - e)) / (2 * step) for e in units])


def test_no_perturbation_is_taken_for_another():
    assert grad(lambda x: x * grad(lambda y: x + y)(1.0))(2.0) == 1.0
    assert grad(lambda x: x * grad(lambda y: x * y)(3.0))(2.0) == 4.0
    assert grad(lambda x: grad(lambda y: x * y**2)(x))(2.0) == 8.0
    assert jvp(lambda x: x * grad(lambda y: x + y)(1.0), (2.0,), (1.0,))[1] == 1.0
    assert jvp(lambda x: x * jvp(lambda y: x * y, (3.0,), (1.0,))[1], (2.0,), (1.0,))[1] == 4.0


def test_derivatives_of_derivatives_inside():
    """Inner tangents meet those of outer ones under the same name."""

    def scaled(x):
        return x * grad(lambda y: x * y * y)(x)  # 2 x**3

    def nested(x):
        def outer(y):
            return grad(lambda z: x * y * z * z + y**3 * x)(y) * y  # 2 x y**3

        return grad(outer)(x) * x  # 6 x**4

    def along(x):
        return jvp(lambda y: x * y**3, (x,), (x,))[1]  # 3 x**4

    assert hvp(scaled, (1.3,), (1.0,)) == pytest.approx(12 * 1.3)
    assert hessian(scaled)(1.3) == pytest.approx(12 * 1.3)
    assert s2sad.vjp(grad(scaled), 1.3)[1](1.0) == pytest.approx(12 * 1.3)
    assert grad(nested)(1.3) == pytest.approx(24 * 1.3**3)
    assert jvp(nested, (1.3,), (1.0,))[1] == pytest.approx(24 * 1.3**3)
    assert jvp(along, (1.3,), (1.0,))[1] == pytest.approx(12 * 1.3**3)
    assert hvp(along, (1.3,), (1.0,)) == pytest.approx(36 * 1.3**2)
    assert grad(lambda x: grad(lambda y: jvp(lambda z: z * z * y * x, (y,), (1.0,))[1])(x))(
        1.3
    ) == pytest.approx(8 * 1.3)


def test_gradient_inside():
    def norm(x):
        return np.sum(s2sad.grad(rosenbrock)(x) ** 2)

    g, H = grad(rosenbrock)(POINT), rosenbrock_hessian(POINT)
    assert grad(norm)(POINT) == pytest.approx(2 * H @ g, rel=1e-12)
    assert jvp(norm, (POINT,), (ALONG,))[1] == pytest.approx(2 * g @ H @ ALONG, rel=1e-12)
    assert hvp(norm, (POINT,), (ALONG,)) == pytest.approx(
        differences(lambda t: grad(norm)(POINT + t[0] * ALONG), np.zeros(1))[0], rel=1e-6
    )


GRADIENT = grad(rosenbrock)


def test_gradient_made_outside():
    assert grad(lambda x: GRADIENT(x)[0])(POINT) == pytest.approx(rosenbrock_hessian(POINT)[0])
    inside = GRADIENT
    assert grad(lambda x: inside(x)[1])(POINT) == pytest.approx(rosenbrock_hessian(POINT)[1])


def test_value_and_gradient_inside():
    def f(x):
        value, gradient = value_and_grad(rosenbrock)(x)
        return value + np.sum(gradient * gradient)

    g, H = grad(rosenbrock)(POINT), rosenbrock_hessian(POINT)
    assert grad(f)(POINT) == pytest.approx(g + 2 * H @ g, rel=1e-12)


def test_products_inside():
    def along(x, v):
        y, dy = jvp(rosenbrock, (x,), (v,))
        return dy * y

    def product(x, v):
        return np.sum(hvp(rosenbrock, (x,), (v,)))

    g, H = grad(rosenbrock)(POINT), rosenbrock_hessian(POINT)
    want = H @ ALONG * rosenbrock(POINT) + g * (g @ ALONG)
    assert grad(along)(POINT, ALONG) == pytest.approx(want, rel=1e-12)
    assert grad(product, wrt="v")(POINT, ALONG) == pytest.approx(H @ np.ones(4), rel=1e-12)
    want = differences(lambda x: product(x, ALONG), POINT)
    assert grad(product)(POINT, ALONG) == pytest.approx(want, rel=1e-6)


def test_steps_downhill():
    def descended(x, rate):
        for _ in range(3):
            x = x - rate * grad(rosenbrock)(x)
        return np.sum(x**2)

    x, rate, h = 0.1 * POINT, 1e-3, 1e-7
    slope = (descended(x, rate + h) - descended(x, rate - h)) / (2 * h)
    assert grad(descended, wrt="rate")(x, rate) == pytest.approx(slope, rel=1e-6)
    want = differences(lambda x: descended(x, rate), x)
    assert grad(descended)(x, rate) == pytest.approx(want, rel=1e-6)


def test_newton():
    def newton(f, x):
        for _ in range(6):
            x = x - f(x) / grad(f)(x)
        return x

    def root(a):
        return newton(lambda x: x * x - a, 1.0)

    assert grad(root)(2.0) == pytest.approx(0.5 / math.sqrt(2.0), rel=1e-12)
    assert grad(grad(root))(2.0) == pytest.approx(-0.25 * 2.0**-1.5, rel=1e-9)


def test_inner_function_that_captures():
    def f(w, a):
        def loss(w):
            return a * np.sum(w**4)

        gradient = grad(loss)
        return np.sum(gradient(w) ** 2)

    by_w, by_a = grad(f, wrt=(0, 1))(POINT, 2.0)
    assert by_w == pytest.approx(2 * 8 * POINT**3 * 24 * POINT**2)
    assert by_a == pytest.approx(np.sum(4.0 * (4 * POINT**3) ** 2))


def test_what_an_operator_gives_is_passed_on():
    def apply(g, x):
        return g(x) ** 2

    def f(x):
        return apply(grad(lambda y: y**3), x)

    assert grad(f)(2.0) == 36.0 * 8.0


def determinant_and_factors(a):
    u, low, n = a.copy(), np.eye(len(a)), len(a)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(u[k:, k]))
        if p != k:
            u[[k, p]] = u[[p, k]]
            low[[k, p], :k] = low[[p, k], :k]
        low[k + 1 :, k] = u[k + 1 :, k] / u[k, k]
        u[k + 1 :] -= np.outer(low[k + 1 :, k], u[k])
    return np.sum(low * u) + np.prod(np.diag(u))


def test_factors_with_pivots():
    """Rows are swapped by lists and slices that the run knows, in what the derivative keeps."""
    a = np.random.default_rng(3).normal(size=(4, 4))
    s2sad.check_grads(determinant_and_factors, (a,))


def test_gradient_that_is_constant():
    def f(x):
        return x * grad(lambda y: y**3)(2.0)

    assert grad(f)(5.0) == 12.0


def test_text_of_a_gradient_inside(tmp_path):
    def penalty(x):
        return np.sum(grad(rosenbrock)(x) ** 2)

    text = grad(penalty).source(POINT)
    assert "s2sad" not in text
    path = grad(penalty).emit(tmp_path / "penalty.py", POINT)
    names: dict = {"__name__": "penalty"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    assert names["penalty_grad"](POINT) == pytest.approx(grad(penalty)(POINT))


def test_text_of_lambdas_that_apply_operators(tmp_path):
    def wave(p, t):
        u = lambda s: p * s**3  # noqa: E731
        speed = lambda s: jvp(u, (s,), (1.0,))[1]  # noqa: E731
        return jvp(speed, (t,), (1.0,))[1]

    for made in (grad(wave).emit(tmp_path / "grad.py", 0.5, 2.0), emit_jvp(wave, tmp_path)):
        names: dict = {"__name__": "wave"}
        exec(compile(made.read_text(), str(made), "exec"), names)
        assert "(t,)[0]" not in made.read_text() and "speed =" not in made.read_text()
    assert grad(wave)(0.5, 2.0) == pytest.approx(12.0)


def emit_jvp(f, folder):
    return s2sad.emit(f, folder / "jvp.py", mode="jvp", args=(0.5, 2.0))


def test_inner_functions_that_capture_inner_functions():
    def second(p, t):
        def u(s):
            return p * s**3

        def slope(s):
            return grad(u)(s) * u(2.0)

        return grad(slope)(t)

    assert second(0.5, 3.0) == pytest.approx(0.5 * 18.0 * 4.0)
    assert grad(second)(0.5, 3.0) == pytest.approx(2 * 0.5 * 18.0 * 8.0)
    assert jvp(second, (0.5, 3.0), (1.0, None))[1] == pytest.approx(2 * 0.5 * 18.0 * 8.0)


def test_attribute_inside():
    def f(w):
        return np.sum(loss.grad(w, 2.0) ** 2)

    g, H = loss.grad(POINT, 2.0), loss.hessian(POINT, 2.0)
    assert grad(f)(POINT) == pytest.approx(2 * H @ g, rel=1e-12)


def test_a_setting_that_is_an_argument_is_known():
    def f(x, which):
        return np.sum(grad(rosenbrock, wrt=which)(x))

    ones = np.ones_like(POINT)
    assert grad(f)(POINT, 0) == pytest.approx(s2sad.hvp(rosenbrock, (POINT,), (ones,)))


def test_what_is_not_known_is_refused():
    def g(x, tangents):
        return jvp(rosenbrock, (x,), tangents)[1]

    with pytest.raises(s2sad.UnsupportedError):
        grad(g)(POINT, [POINT])


def test_refusals_name_the_function():
    def jittered(y):
        for jitter in (0.0, 1.0):
            try:
                L = np.linalg.cholesky(np.diag(y) + jitter)
                break
            except np.linalg.LinAlgError:
                continue
        return np.sum(L)

    with pytest.raises(s2sad.UnsupportedError) as caught:
        hvp(jittered, (np.array([1.0, 2.0]),), (np.ones(2),))
    assert "A higher derivative of jittered needs" in caught.value.reason
    assert caught.value.place.file == __file__


class Pair(NamedTuple):
    a: float
    b: np.ndarray


@dataclass
class Both:
    a: float
    b: np.ndarray


@pytest.mark.parametrize("cls", [Pair, Both])
def test_classes_of_structures(cls):
    def f(p):
        return np.sum(p.b**3) * p.a

    p, along = cls(2.0, POINT), cls(1.0, ALONG)
    got = hvp(f, (p,), (along,))
    assert type(got) is cls and got.a == pytest.approx(np.sum(3 * POINT**2 * ALONG))
    assert got.b == pytest.approx(3 * POINT**2 + 12 * POINT * ALONG)
    H = hessian(f)(p)
    assert type(H) is cls and type(H.b) is cls
    assert H.b.b == pytest.approx(np.diag(12 * POINT)) and H.a.b == pytest.approx(3 * POINT**2)
    inner = grad(lambda p: grad(f)(p).a)(p)
    assert type(inner) is cls and inner.b == pytest.approx(3 * POINT**2)


def test_what_runs_once_runs_once(capsys):
    def f(x):
        print("called")
        return x**3

    assert grad(grad(f))(2.0) == 12.0
    assert capsys.readouterr().out == "called\n"


def test_draws_are_drawn_once():
    def f(x, rng):
        return x**3 * rng.normal()

    scale = np.random.default_rng(1).normal()
    assert grad(grad(f))(2.0, np.random.default_rng(1)) == pytest.approx(12.0 * scale)
    assert hvp(f, (2.0, np.random.default_rng(1)), (1.0, None)) == pytest.approx(12.0 * scale)


def follow(f, state, xs):
    for x in xs:
        state = f(state, x)
    return state


def test_operators_in_functions_that_are_handed_on():
    """What is handed on is called in derived text, and makes a derivative of what stands there."""

    def trained(w, xs):
        def step(v, x):
            return v - 0.1 * grad(lambda u: (np.tanh(u @ x) - 1.0) ** 2)(v)

        return np.sum(follow(step, w, xs) ** 2)

    w, xs = np.array([0.3, 0.5, 0.7]), np.cos(np.arange(12.0)).reshape(4, 3)
    expected = differences(lambda v: trained(v, xs), w)
    assert grad(trained)(w, xs) == pytest.approx(expected, rel=1e-6)


def test_the_hessian_by_complex_numbers_is_there_where_the_gradient_is_holomorphic():
    z = np.array([1.0 + 2.0j, 0.5])
    assert s2sad.hessian(lambda z: np.sum(z**3).real)(z) == pytest.approx(np.diag(6.0 * z))
    with pytest.raises(s2sad.ActivityError, match="the gradient of the lambda is not holomorphic"):
        s2sad.hessian(lambda z: np.sum(np.abs(z) ** 2))(z)


def quartic(x, k=1.0):
    return k * np.sum(x**4) + x[0] * x[1] * x[2]


def third(x):
    made = np.zeros((3, 3, 3))
    for i, j, k in itertools.permutations(range(3)):
        made[i, j, k] = 1.0
    for i in range(3):
        made[i, i, i] = 24.0 * x[i]
    return made


MATRICES = {
    "jacobian of hessian": lambda x: s2sad.jacobian(s2sad.hessian(quartic))(x),
    "forward": lambda x: s2sad.jacobian(s2sad.hessian(quartic), mode="forward")(x),
    "reverse": lambda x: s2sad.jacobian(s2sad.hessian(quartic), mode="reverse")(x),
    "jacobians of grad": lambda x: s2sad.jacobian(s2sad.jacobian(s2sad.grad(quartic)))(x),
    "of a decorated function": lambda x: s2sad.jacobian(s2sad.differentiate(quartic).hessian)(x),
}


@pytest.mark.parametrize("way", MATRICES)
def test_matrices_are_derived_again(way):
    x = np.array([0.3, 1.2, -0.7])
    assert MATRICES[way](x) == pytest.approx(third(x))


def test_products_with_derivatives_of_matrices():
    x = np.array([0.3, 1.2, -0.7])
    value, tangent = s2sad.jvp(s2sad.hessian(quartic), (x,), (x,))
    assert value == pytest.approx(s2sad.hessian(quartic)(x))
    assert tangent == pytest.approx(third(x) @ x)
    _, pullback = s2sad.vjp(s2sad.hessian(quartic), x)
    assert pullback(np.eye(3)) == pytest.approx(np.trace(third(x)))
    assert s2sad.grad(s2sad.hessian(lambda a, k=2.0: k * a**4))(1.5) == pytest.approx(72.0)
    assert s2sad.grad(s2sad.jacobian(lambda a, k: k * a**4, "k"), "a")(1.5, 2.0) == 13.5


def test_matrices_by_complex_numbers_are_not_derived_again():
    """Those by several arrays and structures are: test_operators."""
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.vjp(s2sad.hessian(lambda z: np.sum(z**3).real), np.ones(3) + 1j)


def test_a_hessian_that_is_a_method():
    class Model:
        bend = s2sad.hessian(lambda self, w: np.sum(w**3), "w")

    assert Model().bend(np.ones(2)) == pytest.approx(6.0 * np.eye(2))


class Watched:
    def __init__(self, w):
        self.w, self.seen = w, None


def watching(m, x):
    m.seen = x * 2.0
    x[0] = 0.0
    return np.sum(np.sin(m.seen * m.w))


class Adam:
    def __init__(self):
        self.m, self.n = None, 0

    def step(self, x, g):
        if self.m is None:
            self.m = np.zeros_like(x)
        self.m = 0.9 * self.m + g
        self.n += 1
        return x - 0.1 * self.m


def with_an_optimiser(opt, x):
    for _ in range(3):
        x = opt.step(x, 4.0 * x**3)
    return np.sum(x**2)


def lists_written(rows):
    rows[0][0] = rows[1][1] * 2.0
    rows[1] = rows[0] * 3.0
    return np.sum(rows[0] * rows[1])


def dict_written(d):
    for k in d:
        d[k] = d[k] * d[k]
    return d["a"] * d["b"]


@pytest.mark.parametrize(
    "f, args, along",
    [
        (watching, (Watched(1.3), POINT), (None, ALONG)),
        (with_an_optimiser, (Adam(), POINT), (None, ALONG)),
        (lists_written, ([POINT, 2.0 * POINT],), ([ALONG, POINT.copy()],)),
        (dict_written, ({"a": 1.2, "b": 2.3},), ({"a": 1.0, "b": -0.3},)),
    ],
)
def test_structures_that_are_written(f, args, along):
    """The derivative works on copies, which its own derivative copies likewise."""
    wrt = tuple(i for i, d in enumerate(along) if d is not None)

    def at(t):
        pairs = zip(args, along, strict=True)
        return leaves(grad(f, wrt=wrt)(*(moved(x, d, t) if d is not None else x for x, d in pairs)))

    wanted = (8 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4
    assert leaves(hvp(f, args, along)) == pytest.approx(wanted, rel=1e-7)


def test_a_direction_that_holds_an_array_of_the_point_is_refused():
    """A deep copy of both would not find in copies what stands in both: s2sad looks before that."""
    with pytest.raises(s2sad.AliasError, match="in one structure twice"):
        hvp(lists_written, ([POINT, 2.0 * POINT],), ([ALONG, POINT],))


def test_memory_that_stands_twice_is_refused_in_second_derivatives():
    x = POINT.copy()
    with pytest.raises((s2sad.AliasError, ValueError)):
        hvp(lists_written, ([x, x],), ([ALONG, ALONG],))


def largest(x):
    listed = []
    for i in range(3):
        listed.append(np.sin(i * x[0]))
    return max(listed) ** 2 * x[1]


def of_some(x):
    return max(x[0] ** 2, x[1] * x[0], 0.3) ** 2 + min([x[2] ** 2, x[3] * x[0]]) ** 2


def determinant(x):
    columns = []
    for i in range(4):
        columns.append(x * x[i])
    return np.linalg.slogdet(np.eye(4) + np.stack(columns, axis=-1))[1]


@pytest.mark.parametrize("f", [largest, of_some, determinant])
def test_rules_that_are_called(f):
    wanted = differences(lambda t: grad(f)(POINT + t[0] * ALONG), np.zeros(1))[0]
    assert hvp(f, (POINT,), (ALONG,)) == pytest.approx(wanted, rel=1e-6, abs=1e-8)


class Counted:
    def __init__(self, rate):
        self.rate, self.calls = rate, 0

    def energy(self, y):
        self.calls += 1
        return self.rate * y * y * self.calls


def counted_in_a_dict(x):
    count = {"n": 0}

    def f(y):
        count["n"] += 1
        return y * y * count["n"] * x

    return grad(f)(x) + grad(f)(x)


def counted_in_an_object(x):
    counted = Counted(x)
    return grad(counted.energy)(x) + grad(counted.energy)(x)


def kept_in_an_array(x):
    kept = np.zeros(2)

    def f(y):
        kept[0] = y * x
        return kept[0] * y

    return jvp(f, (x,), (1.0,))[1] + kept[0]


@pytest.mark.parametrize("f", [counted_in_a_dict, counted_in_an_object, kept_in_an_array])
def test_what_changes_what_it_captures_is_refused_inside(f):
    """A derivative works on copies of its arguments, and what is captured is one of them."""
    for derive in (lambda: grad(f)(0.7), lambda: jvp(f, (0.7,), (1.0,))):
        with pytest.raises(s2sad.UnsupportedError, match="which it captures"):
            derive()


def test_an_integer_in_a_structure_has_no_derivative():
    with pytest.raises(s2sad.ActivityError, match=r"p\.n is an integer, which has no derivative"):
        grad(lambda p: p["w"] ** p["n"], "p.n")({"w": 2.0, "n": 3})
