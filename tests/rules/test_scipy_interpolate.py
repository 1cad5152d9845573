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


def checked(spline, x, **settings):
    check_rule(object_function(type(spline), "__call__"), spline, x, **settings)


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
    tck = inter.splrep(X, n(7))
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


def bent(x, plane):
    return np.sum(plane.ev(x, x, dx=2))


def test_slope_as_high_as_the_degree():
    plane = inter.RectBivariateSpline(X, X, n(7, 7))
    with pytest.raises(NotImplementedError, match="make the spline with a higher kx and ky"):
        s2sad.grad(bent)(AT, plane)


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


IN_VALUES = [
    *(derivatives, integrals, of_b_splines, monotone, akima, periodic, with_ends, cubic_table),
    *(steps, beyond_tables, smoothing, univariate, through_points, near_points, over_a_plane),
    *(on_points, by_steps_on_a_grid),
]


@pytest.mark.parametrize("f", IN_VALUES, ids=name)
def test_gradient_in_values_and_places(f):
    y = np.array([0.3, 1.2, -0.5, 0.8, 2.0, 1.1, 0.4])
    slopes.check(f, y, AT[:4])
    assert s2sad.value_and_grad(f)(y, AT[:4])[0] == f(y, AT[:4])


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


def ends(x):
    return np.sum(inter.CubicSpline(X, Y, bc_type=((1, x[0]), (1, 0.0)))(0.3))


def coefficient(x):
    spline = inter.CubicSpline(X[:5], x)
    return np.sum(spline.c)


REFUSED = [active_knots, smoothed, another_axis, roots, radial, ends]


@pytest.mark.parametrize("f", [*REFUSED, coefficient], ids=name)
def test_what_is_not_known_is_refused(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(np.abs(n(5)) + 0.1)
