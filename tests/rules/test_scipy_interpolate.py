"""The rules of rules/scipy_interpolate.py: at places between the knots, beyond, and in values."""

import subprocess
import sys

import numpy as np
import pytest

import s2sad
from s2sad.registry import load_rules, object_function
from s2sad.testing import check_rule
from tests import slopes

inter = pytest.importorskip("scipy.interpolate")
load_rules()
rng = np.random.default_rng(8)


def n(*shape):
    return rng.standard_normal(shape)


def name(value):
    return getattr(value, "__name__", None)


X = np.array([0.0, 0.7, 1.1, 2.0, 3.2, 4.1, 5.0])
AT = np.array([0.3, 2.6, 1.9, 4.4, 0.31])
BEYOND = np.array([-0.4, 1.3, 5.6])


def splines(*shape):
    y = n(7, *shape)
    return [
        inter.CubicSpline(X, y),
        inter.CubicSpline(X, y, bc_type="natural"),
        inter.CubicHermiteSpline(X, y, n(7, *shape)),
        inter.PchipInterpolator(X, y),
        inter.Akima1DInterpolator(X, y, extrapolate=True),
        inter.PPoly(n(3, 6, *shape), X),
        inter.make_interp_spline(X, y),
        inter.BSpline(np.arange(12.0) / 2, n(8, *shape), 3),
    ]


def on_host(fn, *args, **settings):
    """Check a rule for objects of SciPy's, which know no other arrays than NumPy's."""
    check_rule(fn, *args, **settings)


def checked(spline, *places, **settings):
    check_rule(object_function(type(spline), "__call__"), spline, *places, **settings)


@pytest.mark.parametrize("spline", splines(), ids=lambda s: type(s).__name__)
def test_slope(spline):
    checked(spline, AT)
    checked(spline, 1.7)
    checked(spline, AT[:4].reshape(2, 2), nu=1)
    checked(spline, BEYOND, extrapolate=True)


@pytest.mark.parametrize("spline", splines(2), ids=lambda s: type(s).__name__)
def test_slope_of_a_curve(spline):
    checked(spline, AT)
    checked(spline, 1.7)


def test_periodic_spline():
    y = n(7)
    y[-1] = y[0]
    checked(inter.CubicSpline(X, y, bc_type="periodic"), np.array([0.4, 6.3, -2.2]))


def test_fitpack():
    knots = np.array([0, 0, 0, 0, 1, 2, 3, 5, 5, 5, 5])  # integers: they stay
    tck = knots, n(11), 3
    for ext in (0, 1, 3):
        on_host(inter.splev, np.concatenate([AT, BEYOND]), tck, ext=ext)
        on_host(inter.splev, np.concatenate([AT, BEYOND]), tck, der=1, ext=ext)
    on_host(inter.splev, AT, tck, der=2)
    on_host(inter.splev, AT, tck, der=3)
    on_host(inter.splev, 1.3, tck)
    on_host(inter.splint, 0.3, 2.6, tck)
    on_host(inter.splint, -0.3, 5.6, tck)
    for cls in (inter.UnivariateSpline, inter.InterpolatedUnivariateSpline):
        checked(cls(X, n(7)), AT)
        checked(cls(X, n(7), ext=3), np.concatenate([AT, BEYOND]))
        checked(cls(X, n(7)), AT, nu=2)
    plane = inter.RectBivariateSpline(X, X, n(7, 7))
    on_host(object_function(type(plane), "ev"), plane, AT, AT[::-1].copy())
    smooth = inter.RectBivariateSpline(X, X, n(7, 7), kx=4, ky=4)
    on_host(object_function(type(plane), "ev"), smooth, AT, AT + 0.1, dx=1)
    for made in (inter.make_interp_spline(X, n(7)), inter.make_interp_spline(X, n(7), k=5)):
        on_host(inter.splev, AT, made)
        on_host(inter.splint, 0.3, 2.6, made)
    for settings in ({}, {"k": 2}, {"t": [1.0, 2.5]}, {"w": X + 1.0, "s": 0}, {"xb": -0.3}):
        on_host(inter.splrep, X, n(7), **settings)


def test_plane():
    along, across = np.sort(AT), np.array([0.2, 3.4, 4.0])
    for degrees in ({}, {"kx": 1, "ky": 2}):
        plane = inter.RectBivariateSpline(X, X[:5], n(7, 5), **degrees)
        checked(plane, along, across - 1.3)
        checked(plane, AT, AT / 2, grid=False)
        checked(plane, along, across - 1.3, dx=int(not degrees))
        checked(plane, 1.3, 0.4)
        on_host(object_function(type(plane), "ev"), plane, AT, 0.4, dx=int(not degrees))


def test_slope_as_high_as_the_degree():
    """SciPy has no derivative whose order is the degree: it is one of B-splines, piece by piece."""
    plane = inter.RectBivariateSpline(X, X, n(7, 7))
    on_host(object_function(type(plane), "ev"), plane, AT, AT / 2, dx=2)


INTERPOLANTS = [inter.BarycentricInterpolator, inter.KroghInterpolator]


@pytest.mark.parametrize("cls", INTERPOLANTS)
@pytest.mark.parametrize("shape", [(), (2,)], ids=str)
def test_one_polynomial(cls, shape):
    polynomial = cls(X, n(7, *shape))
    checked(polynomial, AT)
    checked(polynomial, 1.3)
    for der in (1, 2):
        check_rule(object_function(cls, "derivative"), polynomial, AT, der=der)


SITES = rng.uniform(0.0, 5.0, (9, 2))


@pytest.mark.parametrize("shape", [(), (2,)], ids=str)
def test_radial_functions(shape):
    for settings in ({}, {"kernel": "gaussian", "epsilon": 0.7}, {"neighbors": 6, "degree": 0}):
        given = {"smoothing": 0.1, **settings}
        checked(inter.RBFInterpolator(SITES, n(9, *shape), **given), POINTS)


def looked_up(x):
    return TABLE(x) ** 2


def test_pullback_of_a_table_that_is_global():
    value, pull = s2sad.vjp(looked_up, AT)
    assert np.array_equal(value, looked_up(AT))
    ends = [looked_up(AT + h) for h in (1e-6, -1e-6)]
    assert np.allclose(pull(np.ones(5)), (ends[0] - ends[1]) / 2e-6, atol=1e-7)


TCK = inter.splrep(X, n(7))


def of_knots_and_coefficients(x, tck):
    return np.sum(inter.splev(x, tck) ** 2) + inter.splint(x[0], x[1], tck) * inter.splev(x[2], tck)


def of_a_constant_spline(x):
    return np.sum(inter.splev(x, (TCK[0], TCK[1], 3)) * inter.splint(0.0, 1.0, TCK))


def test_fitpack_in_programs():
    slopes.check(of_knots_and_coefficients, AT, TCK, constant=(1,))
    slopes.check(of_knots_and_coefficients, AT, list(TCK), constant=(1,))
    slopes.check(of_a_constant_spline, AT)


LINES = """
import numpy as np, s2sad
from scipy import interpolate as inter

X = np.array([0.0, 0.7, 1.1, 2.0, 3.2, 4.1, 5.0])
TCK, PLANE = inter.splrep(X, np.sin(X)), inter.bisplrep(*np.random.rand(3, 40))
"""

CALL = """
def f(x, t, c, k, plane):
    found = {0}
    return np.sum(x) * np.sum(found)

print({0!r}, flush=True)
try:
    print(s2sad.grad(f)(X[1:4], *TCK, PLANE))
except s2sad.Error as error:
    print("refused", error)
"""

CALLS = """
    inter.splev(x, (t, c, k))
    inter.splev(None, (t, c, k))
    inter.splev(x, (t, [c, c], k))[0]
    inter.splev(x=x, tck=(t, c, k), der=k)
    inter.splint(0.0, 1.0, (t, c, k))
    inter.sproot((t, c, k))
    inter.spalde(0.5, (t, c, k))
    inter.splder((t, c, k))[0]
    inter.splantider((t, c, k))[0]
    inter.insert(0.5, (t, c, k))[0]
    inter.bisplev(x, x, plane)
    inter.LSQUnivariateSpline(X, c[0] * np.sin(X), [2.0])(x)
"""


def test_no_call_of_fitpack_ends_the_process(tmp_path):
    """Kinds are found by calls with samples, and FITPACK does not look whether these fit."""
    path = tmp_path / "program.py"
    calls = [line.strip() for line in CALLS.strip().splitlines()]
    path.write_text(LINES + "\n".join(map(CALL.format, calls)))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(call in done.stdout for call in calls)


def test_table():
    for settings in ({}, {"fill_value": "extrapolate"}, {"fill_value": (1.0, 2.0)}):
        given = {"bounds_error": False, **settings}
        checked(inter.interp1d(X, n(7), **given), np.concatenate([AT, BEYOND]) if settings else AT)
    checked(inter.interp1d(X, n(7)), 1.3)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("kind", ["linear", "cubic", "nearest"])
def test_table_of_columns(axis, kind):
    shape = (7, 2, 3) if axis == 0 else (2, 3, 7)
    checked(inter.interp1d(X, n(*shape), kind, axis), AT)
    checked(inter.interp1d(X, n(*shape), kind, axis), AT[:4].reshape(2, 2))
    checked(inter.interp1d(X, n(*shape), kind, axis), 1.3)


POINTS = np.array([[0.3, 1.2], [2.4, 0.4], [4.9, 1.7]])
OUTSIDE = np.array([[0.3, 1.2], [-0.6, 0.4], [1.9, 3.7]])


@pytest.mark.parametrize("shape", [(), (2,)], ids=str)
def test_grid(shape):
    grid = inter.RegularGridInterpolator((X, X[:4]), n(7, 4, *shape))
    checked(grid, POINTS)
    checked(grid, POINTS[0])


def on_grid(x, grid):
    return np.sum(grid(x) ** 2) + np.sum(grid((x[:, 0], x[:, 1])) ** 2)


@pytest.mark.parametrize("method", ["slinear", "cubic", "quintic", "nearest"])
@pytest.mark.parametrize("shape", [(), (2,)], ids=str)
def test_constant_grid(method, shape):
    grid = inter.RegularGridInterpolator((X, X[:6]), n(7, 6, *shape), method)
    slopes.check(on_grid, POINTS, grid, constant=(1,))


def test_grid_outside():
    values = n(7, 4)
    for fill_value in (None, 2.0):
        settings = {"bounds_error": False, "fill_value": fill_value}
        checked(inter.RegularGridInterpolator((X, X[:4]), values, **settings), OUTSIDE)
    checked(inter.RegularGridInterpolator((-X, X[:4]), values), POINTS * [-1.0, 1.0])


# --- in programs ---------------------------------------------------------------------------------

Y, CURVE = n(7), n(7, 2)
TABLE = inter.interp1d(X, Y)
SPLINE = inter.CubicSpline(X, Y)
PATH = inter.CubicSpline(X, CURVE)


def of_a_global(x):
    return np.sum(SPLINE(x) ** 2) + SPLINE(x[0], 1) + SPLINE.integrate(0.0, x[1]) + TABLE(x[2])


def of_a_path(x):
    return np.sum(PATH(x) ** 2) + np.sum((PATH(x[0]) - x[:2]) ** 2)


def of_its_derivative(x):
    d = SPLINE.derivative()
    return np.sum(d(x) * x) + np.sum(SPLINE.antiderivative()(x))


def made_here(x):
    spline = inter.make_interp_spline(X, Y, k=3)
    return np.sum(spline(x) * inter.PchipInterpolator(X, Y)(x))


def of_lists(x):
    return np.sum(SPLINE([x[0], x[1] * x[2]]))


class Curve:
    def __init__(self, y):
        self.spline = inter.CubicSpline(X, y)

    def cost(self, x):
        s = 0.0
        for v in x:
            s = s + self.spline(v) ** 2
        return s


@pytest.mark.parametrize("f", [of_a_global, of_a_path, of_its_derivative, made_here, of_lists])
def test_gradient_at_places(f):
    slopes.check(f, AT[:3])


def test_gradient_of_a_method():
    curve = Curve(Y)
    expected = 2 * curve.spline(AT) * curve.spline(AT, 1)
    assert np.allclose(s2sad.grad(curve.cost)(AT), expected)


def test_emitted_file_looks_at_splines(tmp_path):
    def f(x, spline):
        return np.sum(spline(x) ** 2)

    text = s2sad.emit(f, tmp_path / "slopes.py", args=(AT, SPLINE)).read_text()
    space = {}
    exec(text, space)
    assert np.allclose(space["f_grad"](AT, SPLINE), s2sad.grad(f)(AT, SPLINE))
    with pytest.raises(TypeError, match="CubicSpline"):
        space["f_grad"](AT, PATH)


def cubic(y, x):
    return np.sum(inter.CubicSpline(X, y)(x) ** 2)


def natural(y, x):
    spline = inter.CubicSpline(X, y * y, bc_type="natural")
    return np.sum(spline(x) * spline(x, 1)) + np.sum(spline(x[0]))


def clamped(y, x):
    return np.sum(inter.CubicSpline(X, np.sin(y), bc_type="clamped", extrapolate=False)(x))


def hermite(y, x):
    return np.sum(inter.CubicHermiteSpline(X, y, np.cos(y))(x) ** 2)


def interpolating(y, x):
    spline = inter.make_interp_spline(X, y, k=5)
    return np.sum(spline(x) ** 2) + spline(x[1], 2)


def fitting(y, x):
    knots = np.array([0.0] * 4 + [2.0] + [5.0] * 4)
    return np.sum(inter.make_lsq_spline(X, y, knots)(x) ** 2)


def coefficients(y, x):
    return np.sum(inter.BSpline(np.arange(11.0) / 2, y, 3)(x) ** 2)


def pieces(y, x):
    return np.sum(inter.PPoly(np.reshape(y[:6], (2, 3)), X[::2])(x) ** 2)


def table(y, x):
    return np.sum(inter.interp1d(X, y)(x) ** 2)


def unsorted_table(y, x):
    return np.sum(inter.interp1d(X[[3, 1, 0, 2, 6, 5, 4]], y)(x) ** 2)


def in_a_branch(y, x):
    spline = inter.CubicSpline(X, y) if y[0] > 100.0 else inter.CubicSpline(X, y * y)
    return np.sum(spline(x) ** 2)


def surface(y, x):
    grid = inter.RegularGridInterpolator((X, X[:4]), np.outer(y, y[:4]))
    points = np.stack([x, x / 3], axis=-1)
    return np.sum(grid(points) ** 2)


def surface_by_coordinates(y, x):
    grid = inter.RegularGridInterpolator((X[::-1], X[:4]), np.outer(y, y[:4]))
    return np.sum(grid((x, x / 3)) ** 2)


LINEAR = [cubic, natural, clamped, hermite, interpolating, fitting, coefficients, pieces, table]


@pytest.mark.parametrize(
    "f", [*LINEAR, unsorted_table, in_a_branch, surface, surface_by_coordinates], ids=name
)
def test_gradient_in_values(f):
    slopes.check(f, n(7), AT if f is not pieces else AT[:3])


def test_gradient_in_the_points_of_a_curve():
    slopes.check(lambda y, x: np.sum(inter.CubicSpline(X, y)(x) ** 2), CURVE, AT)


def derivatives(y, x):
    spline = inter.CubicSpline(X, y)
    return np.sum(spline.derivative()(x) * spline.derivative(2)(x)) + spline.derivative(4)(0.3)


def integrals(y, x):
    spline = inter.CubicSpline(X, y)
    whole = spline.integrate(x[0], x[1]) * spline.integrate(6.0, -1.0)
    return np.sum(spline.antiderivative()(x) ** 2) + whole


def of_b_splines(y, x):
    spline = inter.make_interp_spline(X, y)
    whole = spline.integrate(x[0], x[1]) + spline.integrate(0.1, 4.0)
    return np.sum(spline.derivative()(x) * spline.antiderivative()(x)) * whole


def monotone(y, x):
    return np.sum(inter.PchipInterpolator(X, y)(x) ** 2) + inter.PchipInterpolator(X[:2], y[:2])(
        0.3
    )


def akima(y, x):
    return np.sum(inter.Akima1DInterpolator(X, y)(x) ** 2)


def periodic(y, x):
    return np.sum(inter.CubicSpline(X, np.append(y[:-1], y[0]), bc_type="periodic")(x) ** 2)


def with_ends(y, x):
    spline = inter.CubicSpline(X, y, bc_type=((1, 0.5), (2, 0.0)))
    return np.sum(spline(x) ** 2)


def cubic_table(y, x):
    return np.sum(inter.interp1d(X, y, kind="cubic")(x) ** 2) + inter.interp1d(X, y, "quadratic")(
        0.3
    )


def steps(y, x):
    x = 1.01 * x
    total = inter.interp1d(X, y, kind="nearest")(x) * inter.interp1d(X, y, kind="previous")(x)
    return np.sum(total) + inter.interp1d(X, y, kind="next")(0.3) * y[0]


def beyond_tables(y, x):
    whole = inter.interp1d(X, y, kind="cubic", fill_value="extrapolate")(3.0 * x)
    return np.sum(whole) + np.sum(inter.interp1d(X, y, bounds_error=False, fill_value=2.0)(3.0 * x))


def smoothing(y, x):
    return np.sum(inter.make_smoothing_spline(X, y, lam=0.3)(x) ** 2)


def univariate(y, x):
    spline = inter.UnivariateSpline(X, y, s=0)
    whole = spline.integral(x[0], x[1]) * spline.antiderivative()(2.0)
    return np.sum(spline(x) * spline.derivative()(x)) + whole


def through_points(y, x):
    spline = inter.InterpolatedUnivariateSpline(X, y, k=2, ext=3)
    return np.sum(spline(1.41 * x) ** 2) + np.sum(spline(1.41 * x, 1))


def near_points(y, x):
    return np.sum(inter.LSQUnivariateSpline(X, y, [2.5])(x) ** 2)


def over_a_plane(y, x):
    plane = inter.RectBivariateSpline(X, X[:5], np.outer(y, y[:5]))
    return np.sum(plane.ev(1.3 * x, 0.5 * x) ** 2) + np.sum(plane.ev(x, 2.0 * x, dx=1))


def on_points(y, x):
    z = np.outer(y, y[:4])
    points = np.stack([x, 0.31 * x], axis=-1)
    return np.sum(inter.interpn((X, X[:4]), z, points) ** 2)


def by_steps_on_a_grid(y, x):
    grid = inter.RegularGridInterpolator((X, X[:4]), np.outer(y, y[:4]), method="nearest")
    return np.sum(grid(np.stack([1.01 * x, 0.3 * x], axis=-1)) ** 2)


def at_points_in_lists(y, x):
    z = np.outer(y, y[:4])
    grid = inter.RegularGridInterpolator((X, X[:4]), z)
    found = grid([[0.4, 1.2], [1.5, 0.9]]) @ inter.interpn((X, X[:4]), z, [[0.5, 0.2], [2.5, 1.2]])
    return found * grid([x[0], 0.4 * x[1]])[0] * inter.interpn((X, X[:4]), z, (x, 0.2))[1]


def by_fitpack(y, x):
    t, c, k = inter.splrep(X, y)
    tck = inter.splrep(X, y * y, k=4)
    whole = inter.splint(x[0], x[1], tck) * inter.splev(x[0], (t, 2.0 * c, k))
    return np.sum(inter.splev(x, tck) * inter.splev(x, tck, der=1)) * whole


def near_by_fitpack(y, x):
    tck = inter.splrep(X, y, t=[1.0, 2.5])
    return np.sum(inter.splev(1.4 * x, tck, ext=3)) + np.sum(inter.splev([0.2, 0.7], [*tck]))


def lengths_of_fitpack(y, x):
    """How many knots there are is not known when the derivative is written."""
    t, c, _ = inter.splrep(X, y)
    return np.sum(c) * c.shape[0] + len(t) * np.sum(x)


def on_the_grid_of_a_plane(y, x):
    plane = inter.RectBivariateSpline(X, X[:5], np.outer(y, y[:5]), kx=1, ky=2)
    places = np.sort(x)
    return np.sum(plane(places, 0.5 * places[:2]) ** 2) + np.sum(plane(x[0], x[1], grid=False))


def one_polynomial(y, x):
    other = inter.krogh_interpolate(X, np.stack([y, y * y], axis=1), x, der=1)
    return np.sum(inter.KroghInterpolator(X, y)(x) * other[:, 1])


def barycentric(y, x):
    one = inter.BarycentricInterpolator(X, y)
    other = inter.barycentric_interpolate(X, np.stack([y, y * y], axis=1), x)
    return np.sum(one(x) * one.derivative(x)) + np.sum(other[:, 1])


def columns(y, x):
    table = inter.interp1d(X, np.stack([y, y * y]), kind="quadratic")
    rows = inter.interp1d(X, np.outer(y, y), axis=0, fill_value="extrapolate")
    return np.sum(table(x) ** 2) + np.sum(rows(2.0 * x) * y)


def radially(y, x):
    found = inter.RBFInterpolator(X[:, None], y)(AT[:, None])
    return np.sum(found**2) * x[0]


IN_VALUES = [
    *(at_points_in_lists, by_fitpack, near_by_fitpack, lengths_of_fitpack, one_polynomial, columns),
    *(on_the_grid_of_a_plane, radially),
    *(derivatives, integrals, of_b_splines, monotone, akima, periodic, with_ends, cubic_table),
    *(steps, beyond_tables, smoothing, univariate, through_points, near_points, over_a_plane),
    *(on_points, by_steps_on_a_grid),
]


@pytest.mark.parametrize("f", IN_VALUES, ids=name)
def test_gradient_in_values_and_places(f):
    y = np.array([0.3, 1.2, -0.5, 0.8, 2.0, 1.1, 0.4])
    slopes.check(f, y, AT[:4])
    assert s2sad.value_and_grad(f)(y, AT[:4])[0] == f(y, AT[:4])


def test_gradient_of_barycentric_polynomials():
    """SciPy orders the places by chance: in their last bits two values are not the same."""
    slopes.check(barycentric, n(7), AT)


def test_splines_of_products_on_a_grid():
    """SciPy solves for its coefficients by iterations: linear in the values as far as these go."""

    def f(z):
        return np.sum(inter.RegularGridInterpolator((X, X[:5]), z, method="cubic")(POINTS))

    found = s2sad.grad(f)(n(7, 5))
    assert found[2, 3] == pytest.approx(f(np.eye(7)[2][:, None] * np.eye(5)[3]), abs=1e-4)


def test_monotone_where_slopes_turn():
    """Where secants change their sign, or one is zero, the slope at the knot is zero."""
    y = np.array([0.0, 1.0, 1.0, 0.5, 2.0, 2.0, 7.0])

    def f(y):
        return np.sum(inter.PchipInterpolator(X, y)(AT))

    expected = [(f(y + e) - f(y - e)) / 2e-6 for e in 1e-6 * np.eye(7)]
    assert s2sad.grad(f)(y)[[0, 6]] == pytest.approx(np.array(expected)[[0, 6]], abs=1e-4)


def test_what_smooths_says_what_to_do_instead():
    with pytest.raises(s2sad.UnsupportedError, match="make_smoothing_spline"):
        s2sad.grad(lambda y: inter.UnivariateSpline(X, y, s=0.5)(0.3))(n(7))
    with pytest.raises(s2sad.UnsupportedError, match="brentq") as caught:
        s2sad.grad(lambda y: inter.CubicSpline(X, y).roots()[0])(n(7))
    assert caught.value.place is not None


# --- refusals ------------------------------------------------------------------------------------


def active_knots(x):
    return np.sum(inter.CubicSpline(np.cumsum(x * x), np.ones(5))(0.3))


def another_axis(x):
    return np.sum(inter.CubicSpline(X[:5], np.stack([x, x]), axis=1)(0.3))


def smoothed(x):
    return np.sum(inter.UnivariateSpline(X, np.concatenate([x, x[:2]]))(0.3))


def roots(x):
    return np.sum(inter.CubicSpline(X[:5], x - 0.5).roots())


def radial(x):
    return np.sum(inter.RBFInterpolator(X[:, None], Y)(x[:, None]))


def periodic_of_fitpack(x):
    return np.sum(inter.splev([0.3], inter.splrep(X[:5], x, per=1)))


def smoothed_by_fitpack(x):
    return np.sum(inter.splev([0.3], inter.splrep(X[:5], x, w=np.ones(5))))


def values_beyond(x):
    return inter.interp1d(X[:5], x, bounds_error=False, fill_value=x[0])(0.3)


def steps_beyond(x):
    """SciPy holds the last value apart: it would be left out."""
    return inter.interp1d(X[:5], x, kind="previous", fill_value="extrapolate")(9.3)


def axis_between(x):
    return np.sum(inter.interp1d(X[:5], np.ones((2, 5, 2)) * x[:, None], axis=1)(0.3))


def ends(x):
    return np.sum(inter.CubicSpline(X, Y, bc_type=((1, x[0]), (1, 0.0)))(0.3))


def coefficient(x):
    spline = inter.CubicSpline(X[:5], x)
    return np.sum(spline.c)


REFUSED = [periodic_of_fitpack, smoothed_by_fitpack, values_beyond, steps_beyond, axis_between]
REFUSED += [active_knots, smoothed, another_axis, roots, radial, ends]


@pytest.mark.parametrize("f", [*REFUSED, coefficient], ids=name)
def test_what_is_not_known_is_refused(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(np.abs(n(5)) + 0.1)
