"""The rules of rules/scipy_optimize.py: programs with what is defined by an equation."""

import functools
import runpy

import numpy as np
import pytest

import s2sad
from s2sad.testing import differences

optimize = pytest.importorskip("scipy.optimize")

THETA = np.array([0.7, 1.3])
SHIFT = np.array([0.3, 1.2])
TIGHT = 1e-14


def cubic(x, theta, b):
    return x**3 + theta * x - b


def coupled(x, t, b):
    return [x[0] ** 3 + t * x[0] * x[1] - b, x[0] + 2.0 * x[1] * b - t]


def layered(x, w):
    y = x
    for _ in range(3):
        y = y + 0.1 * np.tanh(w * y)
    return y - w


def with_global(x, t):
    return x**3 + t * x - SHIFT


class Model:
    def __init__(self, w):
        self.w = w

    def residual(self, x, b):
        return x**3 + self.w * x - b


def by_args(theta):
    return np.sum(optimize.root(cubic, np.ones(2), args=(theta, 2.0), tol=TIGHT).x ** 2)


def one_argument(theta):
    return np.sum(optimize.root(layered, np.ones(2), args=theta, tol=TIGHT).x)


def by_closure(theta):
    b = theta * 2.0
    sol = optimize.root(lambda x: x**3 + theta * x - b, np.ones(2), tol=1e-13)
    if not sol.success:
        raise RuntimeError(sol.message)
    return np.sum(sol.x)


def a_list(t):
    sol = optimize.root(coupled, [1.0, 0.5], args=(t, 2.0), method="lm", tol=TIGHT)
    return sol.x[0] * sol.x[1]


def keeps_shape(theta):
    x = optimize.root(
        lambda x: x**3 + theta * x - 2.0, np.ones((3, 2)), method="krylov", tol=1e-13
    ).x
    return np.sum(x[1] * theta)


def with_jacobian(theta):
    def residual(x):
        y = np.zeros(2)
        for i in range(2):
            y[i] = x[i] ** 3 + theta[i] * x[1 - i] - 2.0
        return y

    def jacobian(x):
        return np.array([[3.0 * x[0] ** 2, theta[0]], [theta[1], 3.0 * x[1] ** 2]])

    return np.sum(optimize.root(residual, np.ones(2), tol=TIGHT, jac=jacobian).x)


def of_an_object(theta):
    model = Model(theta)
    first = optimize.root(lambda x: model.residual(x, theta), np.ones(2), tol=TIGHT).x
    return np.sum(first * optimize.root(model.residual, first, args=(1.0,), tol=TIGHT).x)


def partly(theta):
    given = functools.partial(layered, w=theta)
    return np.sum(optimize.root(given, np.ones(2), tol=TIGHT).x)


def in_a_loop(theta):
    total, x = 0.0, np.ones(2)
    for i in range(3):
        x = optimize.root(lambda y: y**3 + theta * y - x - i, x, tol=TIGHT).x  # noqa: B023
        total += np.sum(x * theta)
    return total


def in_a_called_function(theta):
    def solved(w):
        return optimize.root(layered, np.ones(2), args=(w,), tol=TIGHT).x

    return np.sum(solved(theta) * theta + solved(2.0 * theta))


def one_in_another(theta):
    def outer(x, t):
        inner = optimize.root(lambda y: y**3 + t * y - x, np.ones(2), tol=TIGHT).x
        return inner + x - 2.0

    return np.sum(optimize.root(outer, np.ones(2), args=(theta,), tol=TIGHT).x)


def written_later(theta):
    x = optimize.fsolve(cubic, np.ones(2), args=(theta, theta[0]))
    x *= 2.0
    theta *= 0.5
    return np.sum(x * theta)


def global_data(theta):
    first = optimize.root(lambda x: np.exp(x) - theta * SHIFT, np.zeros(2), tol=TIGHT).x
    return np.sum(first * optimize.root(with_global, np.ones(2), args=(theta,), tol=TIGHT).x)


def of_a_dict(theta):
    p = {"a": theta[0], "b": [theta[1], 3.0]}
    return np.sum(optimize.root(lambda x: x**3 + p["a"] * x - p["b"][0], np.ones(2)).x)


def one_equation_of_numbers(theta):
    a, b = theta
    return optimize.root(lambda x: x[0] ** 3 + a * x[0] - b, 1.0, tol=TIGHT).x[0]


def without_args(theta):
    x = optimize.newton_krylov(lambda x: x**3 + theta * x - 2.0, np.ones(2), f_tol=1e-13)
    return np.sum(x * optimize.anderson(lambda x: layered(x, theta), np.ones(2), f_tol=1e-13))


def fixed(theta):
    x = optimize.fixed_point(lambda x: np.cos(x * theta), 0.5 * np.ones(2), xtol=TIGHT)
    return np.sum(x * optimize.fixed_point(lambda x: np.cos(theta[0] * x), 1.0, xtol=TIGHT))


def newton(theta):
    x = optimize.newton(lambda x, p: x**3 + p * x - 2.0, np.ones(2), args=(theta,), tol=TIGHT)
    return x[1]


def newton_scalar(t):
    return optimize.newton(
        lambda x, p: x**3 + p * x - 2.0, 1.0, lambda x, p: 3.0 * x**2 + p, (t,), tol=TIGHT
    )


def brentq(t):
    return optimize.brentq(lambda x: x**3 + t * x - 2.0, 0.0, 3.0 + t)


def bracketed(t):
    found = optimize.bisect(cubic, 0.0, 3.0, (t, 2.0))
    found = found + optimize.brenth(cubic, 0.0, 3.0, (t, 2.0 * t))
    found = found * optimize.ridder(cubic, 0.0, 3.0, args=(t, 2.0), xtol=1e-13)
    return found * optimize.toms748(cubic, 0.0, 3.0, args=(2.0 * t, 2.0))


def root_scalar(t):
    sol = optimize.root_scalar(lambda x, a: x**3 + t * x - a * 2.0, args=(t,), bracket=(0.0, 3.0))
    start = sol.root
    assert sol.converged
    return (
        start
        * optimize.root_scalar(cubic, (t, 2.0), x0=start, x1=2.0, method="secant", xtol=TIGHT).root
    )


def bowl(x, t):
    return np.sum((x - t) ** 2) + 0.1 * np.sum(x**4) + 0.2 * x[0] * x[1]


def damping(r):
    return np.log1p(r * r)


def loss(w, weight, X, y):
    r = X @ w - y
    total = 0.0
    for i in range(len(r)):
        total += damping(r[i])
    return total + weight * np.linalg.norm(w) ** 2


X = np.array([[1.0, 2.0], [0.3, -1.0], [2.0, 0.4]])
Y = np.array([1.0, 0.2, -0.3])


def bowl_slope(x, t):
    return 2.0 * (x - t) + 0.4 * x**3 + 0.2 * x[::-1]


def argmin(theta):
    sol = optimize.minimize(bowl, np.zeros(2), args=(theta,), jac=bowl_slope, tol=TIGHT)
    return np.sum(sol.x * theta)


def argmin_of_a_closure(theta):
    def objective(x):
        return np.sum(np.cosh(x - theta)) + 0.1 * np.dot(x, x) * theta[0]

    def slope(x):
        return np.sinh(x - theta) + 0.2 * x * theta[0]

    def curvature(x):
        return np.diag(np.cosh(x - theta) + 0.2 * theta[0])

    start = np.zeros(2)
    found = optimize.minimize(
        objective, start, method="trust-exact", jac=slope, hess=curvature, options={"gtol": 1e-13}
    )
    return np.sum(found.x**2)


def argmin_of_a_loss(theta):
    rest = theta[0] ** 2, X, Y * theta[1]

    def polished(w):  # to the precision that differences of argmin need
        return optimize.minimize(loss, w, rest, method="BFGS", options={"gtol": 1e-9}).x

    return np.sum(polished(np.zeros(2)) ** 3)


def argmin_of_numbers(theta):
    sol = optimize.minimize_scalar(lambda v: (v - theta[0]) ** 2 + 0.3 * v**4 * theta[1], tol=1e-12)
    return sol.x


def best_value(theta):
    """The value at the minimum, by the objective itself."""
    x = optimize.minimize(bowl, np.zeros(2), args=(theta,), jac=bowl_slope, tol=TIGHT).x
    return bowl(x, theta)


PROGRAMS = [
    *((f, THETA) for f in (by_args, one_argument, by_closure, keeps_shape, with_jacobian)),
    *((f, THETA) for f in (of_an_object, partly, in_a_loop, in_a_called_function)),
    *((f, THETA) for f in (one_in_another, written_later, global_data, of_a_dict)),
    *((f, THETA) for f in (one_equation_of_numbers, without_args, fixed, newton)),
    *((f, 0.7) for f in (a_list, newton_scalar, brentq, bracketed, root_scalar)),
]


def slopes(f, x):
    """Return the gradient of f at x by differences, and a bound on its error."""
    directions = list(np.eye(2)) if np.ndim(x) else [1.0]
    found = [differences(lambda v: f(np.array(v)[()]), (x,), (d,)) for d in directions]
    return [np.array([float(part[i]) for part in found]) for i in (0, 1)]


@pytest.mark.parametrize(
    ("f", "bound"),
    [(argmin, 1e-7), (argmin_of_a_closure, 1e-8), (best_value, 1e-7)]
    + [(argmin_of_a_loss, 2e-5), (argmin_of_numbers, 1e-5)],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_minimum(f, bound):
    expected, _ = slopes(f, THETA)
    gradient = s2sad.grad(f)(THETA)
    assert np.all(np.abs(gradient - expected) <= bound)
    assert np.allclose(s2sad.vjp(f, THETA)[1](1.0), gradient, rtol=1e-12)
    check_forward(f, THETA, gradient)


def check_forward(f, x, gradient):
    """Hold the tangents along some directions against the gradient."""
    for direction in (np.array([0.3, -1.1]), np.array([0.0, 1.0])) if np.ndim(x) else (1.0, -0.4):
        given = np.array(x)[()]
        value, slope = s2sad.jvp(f, (given,), (direction,))
        assert value == f(np.array(x)[()])
        assert abs(slope - np.sum(gradient * direction)) <= 1e-10 * (1.0 + np.max(np.abs(gradient)))


def test_minimum_by_formula():
    """At x the gradient A x - t is zero: x = A^-1 t, with no search in the way."""
    A = np.array([[2.0, 0.5], [0.5, 1.0]])

    def f(t):
        return optimize.minimize(lambda x: 0.5 * x @ A @ x - t @ x, np.linalg.solve(A, t)).x @ t

    assert np.allclose(s2sad.grad(f)(THETA), 2.0 * np.linalg.solve(A, THETA), rtol=1e-9)


@pytest.mark.parametrize(("f", "x"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_gradient(f, x):
    expected, bound = slopes(f, x)
    value, gradient = s2sad.value_and_grad(f)(np.array(x)[()])
    assert value == f(np.array(x)[()])
    assert np.all(np.abs(gradient - expected) <= 1e3 * bound + 1e-9)
    assert np.shape(gradient) == np.shape(x)
    _, pullback = s2sad.vjp(f, np.array(x)[()])
    assert np.allclose(pullback(2.0), 2.0 * gradient, rtol=1e-12)
    assert np.allclose(pullback(1.0), gradient, rtol=1e-12)
    check_forward(f, x, gradient)


@pytest.mark.parametrize("f", [by_args, in_a_loop, fixed, of_an_object, argmin_of_a_loss])
def test_alone(f, tmp_path):
    alone = runpy.run_path(str(s2sad.grad(f).emit(tmp_path / "alone.py", THETA)))
    gradient = s2sad.grad(f)(THETA)
    assert np.allclose(alone[f"{f.__name__}_grad"](THETA), gradient, rtol=1e-14)
    file = s2sad.emit(f, tmp_path / "forward.py", mode="jvp", args=(THETA,))
    _, slope = runpy.run_path(str(file))[f"{f.__name__}_jvp"](THETA, np.array([1.0, -2.0]))
    assert np.allclose(slope, gradient @ np.array([1.0, -2.0]), rtol=1e-10)


def test_the_start_does_not_matter():
    def f(theta, x0):
        return np.sum(optimize.root(layered, x0, args=(theta,), tol=TIGHT).x * x0)

    found = s2sad.grad(f, wrt=(0, 1))(THETA, np.ones(2))
    assert np.allclose(found[0], s2sad.grad(one_argument)(THETA))
    assert np.allclose(found[1], optimize.root(layered, np.ones(2), args=(THETA,)).x)

    def limits(a):
        return optimize.brentq(lambda x: x**2 - 2.0, 0.5 * a, 2.0 * a) + a

    assert s2sad.grad(limits)(1.0) == 1.0
    assert s2sad.jvp(limits, (1.0,), (2.0,))[1] == 2.0


def test_pullback_remembers_what_was_there():
    theta, shift = THETA.copy(), SHIFT.copy()
    expected = s2sad.grad(global_data)(theta)
    _, pullback = s2sad.vjp(global_data, theta)
    theta[:] = 5.0
    SHIFT[:] = 7.0
    try:
        assert np.array_equal(pullback(1.0), expected)
    finally:
        SHIFT[:] = shift


def test_singular():
    def f(theta):
        return np.sum(optimize.root(lambda x: 0.0 * x + theta, np.ones(2)).x)

    with pytest.raises(s2sad.UnsupportedError, match="singular") as caught:
        s2sad.grad(f)(THETA)
    assert isinstance(caught.value, ValueError) and "optimize.root" in str(caught.value)
    with pytest.raises(s2sad.UnsupportedError, match="singular"):
        s2sad.jvp(f, (THETA,), (THETA,))


def overparametrised(a):
    """Only differences of the unknowns count: there is a line of solutions."""

    def loss(w):
        return np.log(np.exp(w[0]) + np.exp(w[1]) + np.exp(w[2])) - a * w[0] - (1.0 - a) * w[1]

    return np.sum(optimize.minimize(loss, np.array([0.3, 0.2, 0.1]), tol=1e-3).x ** 2)


def test_almost_singular():
    with pytest.raises(s2sad.UnsupportedError, match="solution is not"):
        s2sad.grad(overparametrised)(0.4)


@pytest.mark.parametrize("bounds", [[(-5.0, 5.0), (None, 0.7)], optimize.Bounds(-5.0, [2.0, 0.7])])
def test_bounds(bounds):
    def f(a):
        found = optimize.minimize(
            lambda x: np.sum((x - a) ** 2) + x[0] * x[1], np.zeros(2), bounds=bounds, tol=1e-12
        )
        return np.sum(found.x * np.array([2.0, 3.0]))

    assert f(1.3) == pytest.approx(2.0 * (1.3 - 0.35) + 2.1)
    assert s2sad.grad(f)(1.3) == pytest.approx(2.0)
    assert s2sad.jvp(f, (1.3,), (0.5,))[1] == pytest.approx(1.0)


def value_by_closure(theta):
    def fun(x):
        return np.sum((x - theta) ** 2 + 0.3 * x**4) + theta[0] * theta[1]

    return optimize.minimize(fun, np.zeros(2), tol=1e-10).fun


def value_by_args(theta):
    found = optimize.minimize(bowl, np.ones(2), (theta,), tol=1e-10)
    return found.fun * np.sum(found.x) + found.fun**2


def value_at_a_bound(theta):
    bounds = [(0.0, 0.4), (None, None)]
    found = optimize.minimize(
        lambda x: np.sum((x - theta) ** 2) * np.exp(theta[0]), np.ones(2), bounds=bounds, tol=1e-14
    )
    return found.fun + found.x[1]


def value_of_one_number(theta):
    found = optimize.minimize_scalar(lambda x: np.cosh(x - theta[0]) + x * theta[1], tol=1e-12)
    return found.fun * found.x + found.fun


VALUES = [value_by_closure, value_by_args, value_at_a_bound, value_of_one_number]


@pytest.mark.parametrize("f", VALUES, ids=lambda f: f.__name__)
def test_the_value_found(f):
    """Only what stands in the function beside x moves it: at the minimum the slope by x is zero."""
    theta = np.array([1.3, 0.7])
    steps = 1e-3 * np.eye(2)  # what is found is known to the accuracy of a search
    expected = np.array([(f(theta + e) - f(theta - e)) / 2e-3 for e in steps])
    value, found = s2sad.value_and_grad(f)(theta)
    assert value == f(theta)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-5)
    along = np.array([0.4, -0.7])
    assert s2sad.jvp(f, (theta,), (along,))[1] == pytest.approx(found @ along, rel=1e-9)


def test_a_value_needs_no_curvature():
    """Its derivative is there where that of x is not: there are several minima."""

    def f(a):
        return optimize.minimize(lambda x: (x[0] + x[1] - a) ** 2 + a * a, np.zeros(2)).fun

    assert s2sad.grad(f)(1.3) == pytest.approx(2.6, abs=1e-6)


def test_dtypes_and_layouts():
    for theta in (THETA.astype(np.float32), np.repeat(THETA, 2)[::2], THETA[::-1].copy()[::-1]):
        gradient = s2sad.grad(one_argument)(theta)
        assert gradient.dtype == theta.dtype
        assert np.allclose(gradient, s2sad.grad(one_argument)(THETA), rtol=1e-5)
    frozen = THETA.copy()
    frozen.flags.writeable = False
    assert np.array_equal(s2sad.grad(by_closure)(frozen), s2sad.grad(by_closure)(THETA))


def other_field(theta):
    return np.sum(optimize.root(layered, np.ones(2), args=(theta,)).fun)


def two_functions(theta):
    g = layered if theta[0] > 2.0 else with_global
    return np.sum(optimize.root(g, np.ones(2), args=(theta,)).x)


def library_function(theta):
    return np.sum(optimize.root(np.subtract, np.ones(2), args=(theta,)).x)


def counted(theta):
    calls = 0

    def residual(x):
        nonlocal calls
        calls += 1
        return x**3 + theta * x - 2.0

    return np.sum(optimize.root(residual, np.ones(2)).x)


def changes_a_global(theta):
    x = optimize.root(with_global, np.ones(2), args=(theta,)).x
    SHIFT[0] = 7.0
    return np.sum(x)


def complete(theta):
    return np.sum(optimize.fsolve(layered, np.ones(2), args=(theta,), full_output=True)[0])


def in_single(theta):
    x0 = np.ones(2, dtype=np.float32)
    return np.sum(optimize.fixed_point(lambda x: np.cos(theta * x), x0))


def constrained(theta):
    return np.sum(optimize.minimize(bowl, np.ones(2), (theta,), constraints=[]).x)


def slope_of_the_search(theta):
    return np.sum(optimize.minimize(bowl, np.ones(2), (theta,)).jac)


def no_number(theta):
    return np.sum(optimize.minimize(layered, np.ones(2), (theta,)).x)


def not_twice(theta):
    def objective(x):
        return np.percentile((x - theta) ** 2, 40.0 * x[0] ** 2) + np.sum((x - theta) ** 4)

    return np.sum(optimize.minimize(objective, np.ones(2)).x)


REFUSED = {
    constrained: "has no parameter `constraints`",
    slope_of_the_search: "",
    no_number: "cannot tell that it returns a real number",
    not_twice: "needs the second derivative of objective",
    other_field: "`fun` of a result",
    two_functions: "cannot tell which function that is",
    library_function: "cannot tell which function that is",
    counted: "changes values outside of itself",
    changes_a_global: "changes values outside",
    complete: "has no parameter `full_output`",
    in_single: "cannot tell the type",
}


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_refused(f):
    with pytest.raises(NotImplementedError, match=REFUSED[f]) as caught:
        s2sad.grad(f)(THETA.copy())
    assert caught.value.place.file == __file__


def with_value(x, theta):
    return x**3 + theta * x - 2.0, np.diag(3.0 * x**2 + theta)


def test_refused_as_it_runs():
    def least_squares(theta):
        def residual(x):
            return np.concatenate((x - theta, x + theta))

        return np.sum(optimize.root(residual, np.ones(2), method="lm").x)

    with pytest.raises(s2sad.UnsupportedError, match="as many equations as unknowns"):
        s2sad.grad(least_squares)(THETA)

    def both(theta):
        return np.sum(optimize.root(with_value, np.ones(2), args=(theta,), jac=True).x)

    with pytest.raises(s2sad.UnsupportedError, match="returns its value only"):
        s2sad.grad(both)(THETA)


def test_a_fixed_point_without_axes():
    def settled(theta):
        return optimize.fixed_point(lambda x: np.cos(x) * theta, 0.5, xtol=TIGHT)

    value, moved = s2sad.jvp(settled, (0.7,), (1.0,))
    assert value.shape == moved.shape == ()
    assert moved == pytest.approx(s2sad.vjp(settled, 0.7)[1](1.0), rel=1e-12)
