"""scipy.interpolate: splines and grids, where they are evaluated and in the values they go through.

The slope of a spline is a spline. What is linear in its values (cubic splines, B-splines) is
differentiated by the splines through unit vectors; the cotangent of a spline is that of its
coefficients, in an array.
"""

import math

import numpy as np
from scipy import interpolate

from s2sad.registry import library_objects, pullback, pushforward, refuse
from s2sad.runtime import unbroadcast

POLYNOMIALS = (
    interpolate.CubicSpline,
    interpolate.CubicHermiteSpline,
    interpolate.PchipInterpolator,
    interpolate.Akima1DInterpolator,
    interpolate.PPoly,
)

refuse(
    interpolate,
    "BPoly BarycentricInterpolator CloughTocher2DInterpolator KroghInterpolator "
    "LinearNDInterpolator LSQBivariateSpline LSQSphereBivariateSpline NdBSpline "
    "NdPPoly NearestNDInterpolator RBFInterpolator Rbf RectSphereBivariateSpline "
    "SmoothBivariateSpline SmoothSphereBivariateSpline bisplev bisplrep griddata insert "
    "make_smoothing_spline spalde splantider splder splprep splrep sproot",
    because="there is no rule for it",
    instead="Use CubicSpline, make_interp_spline, BSpline or RegularGridInterpolator.",
)


def polynomial_like(spline):
    """Return an array like one value of a spline along the first axis; None of another axis."""
    return np.zeros(spline.c.shape[2:], spline.c.dtype) if spline.axis == 0 else None


def polynomial_sample(cls, array):
    """Return a spline whose values are like an array."""
    flat = np.zeros((6, *array.shape), array.dtype)
    knots = np.arange(6.0)
    if cls is interpolate.PPoly:
        return cls(np.zeros((4, 5, *array.shape), array.dtype), knots)
    return cls(knots, flat, flat) if cls is interpolate.CubicHermiteSpline else cls(knots, flat)


def zero(spline):
    """Return the cotangent of a spline that nothing depends on."""
    return np.zeros_like(spline.c)


def over_values(x_bar, x):
    """Return the cotangent of places, added up over the axes of the values."""
    return np.sum(x_bar, axis=tuple(range(np.ndim(x), x_bar.ndim)))


BY_AXES = "the values are a curve's: over which axes slopes are added up is decided as it runs"

# piecewise polynomials


def polynomial(spline, x, nu=0, extrapolate=None):
    """Evaluate a piecewise polynomial, or a derivative of it."""
    return spline(x, nu, extrapolate)


@pullback(polynomial, once=BY_AXES)
def pull_polynomial(out_bar, out, spline, x, *, nu=0, extrapolate=None):
    spline_bar = power_cotangent(out_bar, spline, x, nu, extrapolate)
    if np.ndim(out) != np.ndim(x):
        return spline_bar, over_values(out_bar * spline(x, nu + 1, extrapolate), x)
    if extrapolate is None:
        return spline_bar, out_bar * spline(x, nu + 1)
    return spline_bar, out_bar * spline(x, nu + 1, extrapolate)


@pushforward(polynomial)
def push_polynomial(out, spline, x, spline_dot, x_dot, *, nu=0, extrapolate=None):
    out_dot = np.zeros_like(out)
    if spline_dot is not None:
        moved = interpolate.PPoly.construct_fast(spline_dot, spline.x, spline.extrapolate)
        out_dot = out_dot + moved(x, nu, extrapolate)
    return out_dot + along_curve(out, spline(x, nu + 1, extrapolate), x, x_dot)


def along_curve(out, slope, x, x_dot):
    """Return the tangent that moves along a curve: its values have axes of their own."""
    if x_dot is None:
        return np.zeros_like(out)
    return slope * np.reshape(x_dot, np.shape(x) + (1,) * (np.ndim(out) - np.ndim(x)))


def power_cotangent(out_bar, spline, x, nu, extrapolate):
    """Return the cotangent of the coefficients of powers of the distance to the left knot."""
    knots, degree = spline.x, spline.c.shape[0] - 1
    if knots[-1] < knots[0]:
        raise NotImplementedError("a spline whose knots fall has no derivative in its values here")
    extrapolate = spline.extrapolate if extrapolate is None else extrapolate
    places = np.ravel(x)
    bars = np.reshape(out_bar, (places.size, *spline.c.shape[2:]))
    if isinstance(extrapolate, str):
        places = knots[0] + np.mod(places - knots[0], knots[-1] - knots[0])
    elif not extrapolate:
        inside = (places >= knots[0]) & (places <= knots[-1])
        places, bars = places[inside], bars[inside]
    piece = np.clip(np.searchsorted(knots, places, "right") - 1, 0, knots.size - 2)
    distance = places - knots[piece]
    c_bar = np.zeros_like(spline.c)
    for power in range(nu, degree + 1):
        weight = math.perm(power, nu) * distance ** (power - nu)
        weighted = np.reshape(weight, (-1,) + (1,) * (bars.ndim - 1)) * bars
        np.add.at(c_bar[degree - power], piece, weighted)
    return c_bar


def integral(spline, a, b, extrapolate=None):
    """Integrate as the method does."""
    return spline.integrate(a, b, extrapolate)


@pullback(integral, unknown=("spline",))
def pull_integral(out_bar, out, spline, a, b, *, extrapolate=None):
    a_bar = -np.sum(out_bar * spline(a, extrapolate=extrapolate))
    return None, a_bar, np.sum(out_bar * spline(b, extrapolate=extrapolate))


@pushforward(integral)
def push_integral(out, spline, a, b, spline_dot, a_dot, b_dot, *, extrapolate=None):
    found = np.zeros_like(out)
    if a_dot is not None:
        found = found - spline(a, extrapolate=extrapolate) * a_dot
    if b_dot is not None:
        found = found + spline(b, extrapolate=extrapolate) * b_dot
    return found


def derivative(spline, nu=1):
    """Differentiate as the method does."""
    return spline.derivative(nu)


def antiderivative(spline, nu=1):
    """Integrate as the method does."""
    return spline.antiderivative(nu)


@pullback(derivative, antiderivative, unknown=("spline",))
def pull_derivative(out_bar, out, spline, *, nu=1):
    return None


library_objects(
    *POLYNOMIALS,
    like=polynomial_like,
    check="{0}.c.ndim == {1} + 2 and {0}.axis == 0",
    sample=polynomial_sample,
    zero=zero,
    functions={
        "__call__": polynomial,
        "antiderivative": antiderivative,
        "derivative": derivative,
        "integrate": integral,
    },
)


def rising(x, y, *rest):
    """Return places that rise, as many as there are values."""
    return np.arange(float(np.shape(y)[0])), y, *rest


def through_units(y_bar_of_units, c_bar):
    """Return the cotangent of values from that of coefficients and those of unit vectors."""
    axes = tuple(range(y_bar_of_units.ndim - 1))
    return np.tensordot(y_bar_of_units, c_bar, (axes, axes))


def check_ends(bc_type):
    """Refuse the conditions at the ends that are no names, and periodic ones."""
    if bc_type is not None and (not isinstance(bc_type, str) or bc_type == "periodic"):
        raise NotImplementedError("a spline is differentiated with bc_type a word, not periodic")


@pullback(interpolate.CubicSpline, unknown=("x",), samples=rising)
def pull_cubic_spline(out_bar, out, x, y, *, axis=0, bc_type="not-a-knot", extrapolate=None):
    check_ends(bc_type)
    units = interpolate.CubicSpline(x, np.eye(len(x)), bc_type=bc_type)
    return None, through_units(units.c, out_bar)


@pushforward(interpolate.CubicSpline)
def push_cubic_spline(out, x, y, x_dot, y_dot, *, axis=0, bc_type="not-a-knot", extrapolate=None):
    check_ends(bc_type)
    return interpolate.CubicSpline(x, y_dot, axis, bc_type).c


@pullback(interpolate.CubicHermiteSpline, unknown=("x",), samples=rising)
def pull_cubic_hermite_spline(out_bar, out, x, y, dydx, *, axis=0, extrapolate=None):
    unit, nothing = np.eye(len(x)), np.zeros((len(x), len(x)))
    by_values = interpolate.CubicHermiteSpline(x, unit, nothing)
    by_slopes = interpolate.CubicHermiteSpline(x, nothing, unit)
    return None, through_units(by_values.c, out_bar), through_units(by_slopes.c, out_bar)


@pushforward(interpolate.CubicHermiteSpline)
def push_cubic_hermite_spline(out, x, y, dydx, x_dot, y_dot, dydx_dot, *, axis=0, extrapolate=None):
    y_dot = np.zeros_like(y) if y_dot is None else y_dot
    dydx_dot = np.zeros_like(dydx) if dydx_dot is None else dydx_dot
    return interpolate.CubicHermiteSpline(x, y_dot, dydx_dot, axis).c


@pullback(interpolate.PchipInterpolator, unknown=("x", "y"), samples=rising)
def pull_pchip(out_bar, out, x, y, *, axis=0, extrapolate=None):
    """Its slopes at the points are no linear functions of the values."""
    return None, None


@pullback(interpolate.Akima1DInterpolator, unknown=("x", "y"), samples=rising)
def pull_akima(out_bar, out, x, y, *, axis=0, method="akima", extrapolate=None):
    """Its slopes at the points are no linear functions of the values."""
    return None, None


def knots_of_pieces(c, x, *rest):
    """Return knots for as many pieces as there are coefficients of."""
    return c, np.arange(np.shape(c)[1] + 1.0), *rest


@pullback(interpolate.PPoly, unknown=("x",), samples=knots_of_pieces, view="maybe")
def pull_ppoly(out_bar, out, c, x, *, extrapolate=None, axis=0):
    return out_bar, None


@pushforward(interpolate.PPoly)
def push_ppoly(out, c, x, c_dot, x_dot, *, extrapolate=None, axis=0):
    return c_dot


# B-splines


def basis_like(spline):
    """Return an array like one value of a B-spline along the first axis; None of another axis."""
    return np.zeros(spline.c.shape[1:], spline.c.dtype) if spline.axis == 0 else None


def basis_sample(cls, array):
    """Return a B-spline whose values are like an array."""
    return cls(np.arange(12.0), np.zeros((8, *array.shape), array.dtype), 3)


def basis(spline, x, nu=0, extrapolate=None):
    """Evaluate a B-spline, or a derivative of it."""
    return spline(x, nu, extrapolate)


@pullback(basis, once=BY_AXES)
def pull_basis(out_bar, out, spline, x, *, nu=0, extrapolate=None):
    spline_bar = basis_cotangent(out_bar, spline, x, nu, extrapolate)
    if np.ndim(out) != np.ndim(x):
        return spline_bar, over_values(out_bar * spline(x, nu + 1, extrapolate), x)
    if extrapolate is None:
        return spline_bar, out_bar * spline(x, nu + 1)
    return spline_bar, out_bar * spline(x, nu + 1, extrapolate)


@pushforward(basis)
def push_basis(out, spline, x, spline_dot, x_dot, *, nu=0, extrapolate=None):
    out_dot = np.zeros_like(out)
    if spline_dot is not None:
        moved = interpolate.BSpline(spline.t, spline_dot, spline.k, spline.extrapolate)
        out_dot = out_dot + moved(x, nu, extrapolate)
    return out_dot + along_curve(out, spline(x, nu + 1, extrapolate), x, x_dot)


def basis_cotangent(out_bar, spline, x, nu, extrapolate):
    """Return the cotangent of the coefficients of a B-spline."""
    extrapolate = spline.extrapolate if extrapolate is None else extrapolate
    size = spline.c.shape[0]
    units = interpolate.BSpline(spline.t, np.eye(size), spline.k, extrapolate)
    weights = np.reshape(units(np.ravel(x), nu), (-1, size))
    bars = np.reshape(out_bar, (weights.shape[0], *spline.c.shape[1:]))
    return np.tensordot(weights, bars, (0, 0))


library_objects(
    interpolate.BSpline,
    like=basis_like,
    check="{0}.c.ndim == {1} + 1 and {0}.axis == 0",
    sample=basis_sample,
    zero=zero,
    functions={
        "__call__": basis,
        "antiderivative": antiderivative,
        "derivative": derivative,
        "integrate": integral,
    },
)


def knots_of_basis(t, c, k, *rest):
    """Return knots for as many B-splines as there are coefficients of."""
    return np.arange(np.shape(c)[0] + k + 1.0), c, k, *rest


@pullback(interpolate.BSpline, unknown=("t", "k"), samples=knots_of_basis, view="maybe")
def pull_bspline(out_bar, out, t, c, k, *, extrapolate=True, axis=0):
    """There may be more coefficients than are used."""
    return None, np.concatenate([out_bar, np.zeros_like(c[len(out_bar) :])]), None


@pushforward(interpolate.BSpline)
def push_bspline(out, t, c, k, t_dot, c_dot, k_dot, *, extrapolate=True, axis=0):
    return c_dot[: len(out.c)]


@pullback(interpolate.make_interp_spline, unknown=("x",), samples=rising)
def pull_make_interp_spline(
    out_bar, out, x, y, *, k=3, t=None, bc_type=None, axis=0, check_finite=True
):
    check_ends(bc_type)
    units = interpolate.make_interp_spline(x, np.eye(len(x)), k, t, bc_type)
    return None, through_units(units.c, out_bar)


@pushforward(interpolate.make_interp_spline)
def push_make_interp_spline(
    out, x, y, x_dot, y_dot, *, k=3, t=None, bc_type=None, axis=0, check_finite=True
):
    check_ends(bc_type)
    return interpolate.make_interp_spline(x, y_dot, k, t, bc_type, axis).c


def rising_between(x, y, t, *rest):
    """Return places that rise, and knots of cubic splines over them."""
    n = float(np.shape(y)[0])
    return np.arange(n), y, np.repeat([0.0, n - 1.0], 4), *rest


@pullback(interpolate.make_lsq_spline, unknown=("x", "t"), samples=rising_between)
def pull_make_lsq_spline(
    out_bar, out, x, y, t, *, k=3, w=None, axis=0, check_finite=True, method="qr"
):
    units = interpolate.make_lsq_spline(x, np.eye(len(x)), t, k, w)
    return None, through_units(units.c, out_bar), None


@pushforward(interpolate.make_lsq_spline)
def push_make_lsq_spline(
    out, x, y, t, x_dot, y_dot, t_dot, *, k=3, w=None, axis=0, check_finite=True, method="qr"
):
    return interpolate.make_lsq_spline(x, y_dot, t, k, w, axis).c


# FITPACK


def outside_of(ext):
    """Return how the slope goes on outside where the spline goes on so: a constant's is zero."""
    return 1 if ext in (3, "const") else ext


def knots_and_coefficients(tck):
    """Return knots, coefficients and a degree that go with one another; lists stay lists."""
    if isinstance(tck, interpolate.BSpline):
        return tck
    _, c, _ = tck
    curve = isinstance(c, list | tuple) and len(c) > 0 and np.ndim(c[0]) > 0
    return np.arange(12.0), [np.zeros(12) for _ in c] if curve else np.zeros(12), 3


def at_spline(x, tck, *rest):
    """Return places, and a spline for them."""
    return x, knots_and_coefficients(tck), *rest


def over_spline(a, b, tck, *rest):
    """Return bounds, and a spline between them."""
    return a, b, knots_and_coefficients(tck), *rest


@pullback(interpolate.splint, unknown=("tck",), samples=over_spline)
def pull_splint(out_bar, out, a, b, tck):
    """Outside of the knots there is nothing to integrate."""
    a_bar = -out_bar * interpolate.splev(a, tck, 0, 1)
    return a_bar, out_bar * interpolate.splev(b, tck, 0, 1), None


@pushforward(interpolate.splint)
def push_splint(out, a, b, tck, a_dot, b_dot, tck_dot):
    moved = 0.0 * out
    if a_dot is not None:
        moved = moved - a_dot * interpolate.splev(a, tck, 0, 1)
    if b_dot is not None:
        moved = moved + b_dot * interpolate.splev(b, tck, 0, 1)
    return moved


def check_one(values):
    """Refuse curves, whose coordinates come in a list."""
    if isinstance(values, list):
        raise NotImplementedError("splev of a curve: call it for each coordinate")


@pullback(interpolate.splev, unknown=("tck",), samples=at_spline)
def pull_splev(out_bar, out, x, tck, *, der=0, ext=0):
    check_one(out)
    if der >= tck[2]:
        return np.zeros_like(x), None
    return out_bar * interpolate.splev(x, tck, der + 1, outside_of(ext)), None


@pushforward(interpolate.splev)
def push_splev(out, x, tck, x_dot, tck_dot, *, der=0, ext=0):
    check_one(out)
    if der >= tck[2]:
        return np.zeros_like(out)
    return x_dot * interpolate.splev(x, tck, der + 1, outside_of(ext))


def plain_like(spline):
    """Return an array like one value of what gives numbers."""
    return np.zeros(())


def univariate_sample(cls, array):
    """Return a spline of FITPACK."""
    if cls is interpolate.LSQUnivariateSpline:
        return cls(np.arange(6.0), np.zeros(6), [2.5])
    return cls(np.arange(6.0), np.zeros(6))


def univariate(spline, x, nu=0, ext=None):
    """Evaluate a spline of FITPACK, or a derivative of it."""
    return spline(x, nu, ext)


@pullback(
    univariate,
    unknown=("spline",),
    once="the spline of the slopes has no kind that is known",
)
def pull_univariate(out_bar, out, spline, x, *, nu=0, ext=None):
    return None, out_bar * slope_of_univariate(spline, x, nu, ext)


@pushforward(univariate)
def push_univariate(out, spline, x, spline_dot, x_dot, *, nu=0, ext=None):
    return x_dot * slope_of_univariate(spline, x, nu, ext)


def slope_of_univariate(spline, x, nu, ext):
    """Return the slope of a spline of FITPACK, of whatever degree."""
    slope = spline.derivative(nu + 1)
    return slope(x, 0, outside_of(slope.ext if ext is None else ext))


library_objects(
    interpolate.UnivariateSpline,  # an object of it becomes one of these
    interpolate.InterpolatedUnivariateSpline,
    interpolate.LSQUnivariateSpline,
    like=plain_like,
    sample=univariate_sample,
    functions={"__call__": univariate},
)


@pullback(interpolate.UnivariateSpline, unknown=("x", "y"), samples=rising)
def pull_univariate_spline(
    out_bar, out, x, y, *, w=None, bbox=(None, None), k=3, s=None, ext=0, check_finite=False
):
    return None, None


@pullback(interpolate.LSQUnivariateSpline, unknown=("x", "y", "t"))
def pull_lsq_univariate_spline(
    out_bar, out, x, y, t, *, w=None, bbox=(None, None), k=3, ext=0, check_finite=False
):
    return None, None, None


@pullback(interpolate.InterpolatedUnivariateSpline, unknown=("x", "y"), samples=rising)
def pull_interpolated_univariate_spline(
    out_bar, out, x, y, *, w=None, bbox=(None, None), k=3, ext=0, check_finite=False
):
    return None, None


def bivariate_sample(cls, array):
    """Return a spline over a plane."""
    return cls(np.arange(6.0), np.arange(6.0), np.zeros((6, 6)))


def at_points(spline, xi, yi, dx=0, dy=0):
    """Evaluate at points as the method does."""
    return spline.ev(xi, yi, dx, dy)


def slope_on_plane(spline, xi, yi, dx, dy):
    """Return a derivative of a spline over a plane; SciPy knows those below its degrees."""
    if dx >= spline.degrees[0] or dy >= spline.degrees[1]:
        raise NotImplementedError(
            "RectBivariateSpline: SciPy has no derivative whose order is the degree; "
            "make the spline with a higher kx and ky"
        )
    return spline.ev(xi, yi, dx, dy)


@pullback(at_points, unknown=("spline",))
def pull_at_points(out_bar, out, spline, xi, yi, *, dx=0, dy=0):
    xi_bar = out_bar * slope_on_plane(spline, xi, yi, dx + 1, dy)
    return None, xi_bar, out_bar * slope_on_plane(spline, xi, yi, dx, dy + 1)


@pushforward(at_points)
def push_at_points(out, spline, xi, yi, spline_dot, xi_dot, yi_dot, *, dx=0, dy=0):
    found = np.zeros_like(out)
    if xi_dot is not None:
        found = found + slope_on_plane(spline, xi, yi, dx + 1, dy) * xi_dot
    if yi_dot is not None:
        found = found + slope_on_plane(spline, xi, yi, dx, dy + 1) * yi_dot
    return found


library_objects(
    interpolate.RectBivariateSpline,
    like=plain_like,
    sample=bivariate_sample,
    functions={"ev": at_points},
)


# tables


def table_like(table):
    """Return an array like one value of a table of numbers; None of any other."""
    return np.zeros((), table.y.dtype) if table.y.ndim == 1 else None


def table_sample(cls, array):
    """Return a table of numbers."""
    return cls(np.arange(6.0), np.zeros(6, array.dtype))


def looked_up(table, x):
    """Interpolate in a table of numbers."""
    return table(x)


def zero_table(table):
    """Return the cotangent of a table that nothing depends on."""
    return np.zeros_like(table.y)


def intervals(table, x):
    """Return the left end of the interval of each place, and whether it is in any."""
    if table._kind != "linear":
        raise NotImplementedError("interp1d is differentiated with kind='linear'")
    inside = (x >= table.x[0]) & (x <= table.x[-1])
    outward = isinstance(table.fill_value, str)
    left = np.clip(np.searchsorted(table.x, x) - 1, 0, table.x.size - 2)
    return left, inside | outward


@pullback(looked_up, once="what the table holds has no kind that is known")
def pull_looked_up(out_bar, out, table, x):
    left, counts = intervals(table, x)
    width = table.x[left + 1] - table.x[left]
    bar = np.where(counts, out_bar, 0.0)
    part = (x - table.x[left]) / width
    y_bar = np.zeros_like(table.y)
    np.add.at(y_bar, left, (1.0 - part) * bar)
    np.add.at(y_bar, left + 1, part * bar)
    return y_bar, bar * (table.y[left + 1] - table.y[left]) / width


@pushforward(looked_up)
def push_looked_up(out, table, x, table_dot, x_dot):
    left, counts = intervals(table, x)
    width = table.x[left + 1] - table.x[left]
    out_dot = np.zeros_like(out)
    if table_dot is not None:
        part = (x - table.x[left]) / width
        out_dot = out_dot + (1.0 - part) * table_dot[left] + part * table_dot[left + 1]
    if x_dot is not None:
        out_dot = out_dot + (table.y[left + 1] - table.y[left]) / width * x_dot
    return np.where(counts, out_dot, 0.0)


library_objects(
    interpolate.interp1d,
    like=table_like,
    check="{0}.y.ndim == 1",
    sample=table_sample,
    zero=zero_table,
    functions={"__call__": looked_up},
)


@pullback(interpolate.interp1d, unknown=("x",), samples=rising)
def pull_interp1d(
    out_bar,
    out,
    x,
    y,
    *,
    kind="linear",
    axis=-1,
    copy=True,
    bounds_error=None,
    fill_value=np.nan,
    assume_sorted=False,
):
    if assume_sorted:
        return None, out_bar
    y_bar = np.zeros_like(out_bar)
    y_bar[np.argsort(x, kind="mergesort")] = out_bar
    return None, y_bar


@pushforward(interpolate.interp1d)
def push_interp1d(
    out,
    x,
    y,
    x_dot,
    y_dot,
    *,
    kind="linear",
    axis=-1,
    copy=True,
    bounds_error=None,
    fill_value=np.nan,
    assume_sorted=False,
):
    return y_dot if assume_sorted else y_dot[np.argsort(x, kind="mergesort")]


# grids


def grid_like(grid):
    """Return an array like one value of a grid."""
    return np.zeros(grid.values.shape[len(grid.grid) :], grid.values.dtype)


def grid_sample(cls, array):
    """Return a grid over a plane whose values are like an array."""
    return cls((np.arange(6.0), np.arange(6.0)), np.zeros((6, 6, *array.shape), array.dtype))


def zero_grid(grid):
    """Return the cotangent of a grid that nothing depends on."""
    return np.zeros_like(grid.values)


def on_grid(grid, xi, method=None, nu=None):
    """Interpolate on a grid."""
    return grid(xi, method, nu=nu)


def cells(grid, xi):
    """Return the lower corners of the cells of points, the places in them, and who counts.

    What is outside counts where the grid goes on there.
    """
    left, part, counts = [], [], np.ones(xi.shape[:-1], bool)
    for axis, knots in enumerate(grid.grid):
        x = xi[..., axis]
        lower = np.clip(np.searchsorted(knots, x, "right") - 1, 0, knots.size - 2)
        left.append(lower)
        part.append((x - knots[lower]) / (knots[lower + 1] - knots[lower]))
        counts &= (x >= knots[0]) & (x <= knots[-1])
    return left, part, counts | (grid.fill_value is None)


def along_points(values, like_this):
    """Return one number per point with axes for what the values hold."""
    return np.reshape(values, values.shape + (1,) * (like_this.ndim - values.ndim))


def grid_slopes(grid, xi, method):
    """Return the slopes along every axis, as they go with the points' coordinates."""
    method = grid.method if method is None else method
    if method not in ("linear", "nearest", "slinear", "cubic", "quintic"):
        raise NotImplementedError(f"RegularGridInterpolator: no derivative with {method}")
    left, _, counts = cells(grid, xi)
    found = []
    for axis, knots in enumerate(grid.grid):
        if method == "linear":
            ends = []
            for knot in (left[axis], left[axis] + 1):
                moved = np.array(xi)
                moved[..., axis] = knots[knot]
                ends.append(grid(moved, method))
            width = knots[left[axis] + 1] - knots[left[axis]]
            slope = (ends[1] - ends[0]) / along_points(width, ends[0])
        elif method == "nearest":
            slope = np.zeros_like(grid(xi, method))
        else:
            slope = grid(xi, method, nu=np.eye(len(grid.grid), dtype=int)[axis])
        found.append(np.where(along_points(counts, slope), slope, 0.0))
    return found


def points_of(xi):
    """Return points as an array: given in a tuple, coordinates stand apart."""
    if isinstance(xi, list):
        raise NotImplementedError("RegularGridInterpolator: points in a list; make it an array")
    if isinstance(xi, tuple):
        return np.stack(np.broadcast_arrays(*xi), axis=-1).astype(float)
    return np.asarray(xi, float)


def points_cotangent(out_bar, grid, xi, method, nu):
    """Return the cotangent of points, in the form in which they are given."""
    if nu is not None:
        raise NotImplementedError("RegularGridInterpolator: no derivative where nu is given")
    points = points_of(xi)
    bars = []
    for slope in grid_slopes(grid, points, method):
        bar = np.reshape(out_bar, slope.shape) * slope
        bars.append(np.sum(bar, axis=tuple(range(points.ndim - 1, bar.ndim))))
    if isinstance(xi, tuple):
        return tuple(unbroadcast(bar, np.shape(x)) for bar, x in zip(bars, xi, strict=True))
    return np.reshape(np.stack(bars, axis=-1), np.shape(xi))


def values_cotangent(out_bar, grid, xi, method):
    """Return the cotangent of the values of a grid that is interpolated linearly."""
    if (grid.method if method is None else method) != "linear":
        raise NotImplementedError("RegularGridInterpolator: active values with linear only")
    points = points_of(xi)
    left, part, counts = cells(grid, points)
    values_bar = np.zeros_like(grid.values)
    bar = np.reshape(out_bar, points.shape[:-1] + grid.values.shape[len(left) :])
    for corner in np.ndindex(*(2,) * len(left)):
        weight = counts.astype(grid.values.dtype)
        for upper, p in zip(corner, part, strict=True):
            weight = weight * (p if upper else 1.0 - p)
        place = tuple(lower + upper for lower, upper in zip(left, corner, strict=True))
        np.add.at(values_bar, place, along_points(weight, bar) * bar)
    return values_bar


def on_plane(grid, xi, *rest):
    """Return points with two coordinates, as those of the sample of a grid."""
    if isinstance(xi, tuple):
        return grid, tuple(0.0 * x for x in np.broadcast_arrays(*xi)[:1] * 2), *rest
    return grid, np.zeros((*np.shape(xi)[:-1], 2)), *rest


@pullback(on_grid, samples=on_plane, once="the slopes are gathered axis by axis")
def pull_on_grid(out_bar, out, grid, xi, *, method=None, nu=None):
    xi_bar = points_cotangent(out_bar, grid, xi, method, nu)
    return values_cotangent(out_bar, grid, xi, method), xi_bar


@pushforward(on_grid)
def push_on_grid(out, grid, xi, grid_dot, xi_dot, *, method=None, nu=None):
    if nu is not None:
        raise NotImplementedError("RegularGridInterpolator: no derivative where nu is given")
    out_dot = np.zeros_like(out)
    if grid_dot is not None:
        beyond = None if grid.fill_value is None else 0.0
        moved = interpolate.RegularGridInterpolator(
            grid.grid, grid_dot, grid.method, grid.bounds_error, beyond
        )
        out_dot = out_dot + moved(xi, method)
    if xi_dot is None:
        return out_dot
    points = points_of(xi)
    if isinstance(xi, tuple):
        pairs = zip(xi, xi_dot, strict=True)
        xi_dot = points_of(tuple(np.zeros_like(x) if t is None else t for x, t in pairs))
    xi_dot = np.reshape(xi_dot, points.shape)
    for axis, slope in enumerate(grid_slopes(grid, points, method)):
        moved = along_points(xi_dot[..., axis], slope) * slope
        out_dot = out_dot + np.reshape(moved, out_dot.shape)
    return out_dot


library_objects(
    interpolate.RegularGridInterpolator,
    like=grid_like,
    check="{0}.values.ndim == len({0}.grid) + {1}",
    sample=grid_sample,
    zero=zero_grid,
    functions={"__call__": on_grid},
    as_given=("__call__",),
)


def points_of_grid(points, values, *rest):
    """Return points along every axis, as many as there are values."""
    return tuple(np.arange(float(n)) for n in np.shape(values)[: len(points)]), values, *rest


@pullback(
    interpolate.RegularGridInterpolator, unknown=("points",), samples=points_of_grid, view="maybe"
)
def pull_regular_grid(
    out_bar, out, points, values, *, method="linear", bounds_error=True, fill_value=np.nan
):
    fall = tuple(axis for axis, x in enumerate(points) if x[0] > x[-1])
    return None, np.flip(out_bar, fall)


@pushforward(interpolate.RegularGridInterpolator)
def push_regular_grid(
    out,
    points,
    values,
    points_dot,
    values_dot,
    *,
    method="linear",
    bounds_error=True,
    fill_value=np.nan,
):
    return np.flip(values_dot, tuple(axis for axis, x in enumerate(points) if x[0] > x[-1]))


refuse(
    interpolate,
    "AAA FloaterHormannInterpolator approximate_taylor_polynomial barycentric_interpolate "
    "krogh_interpolate lagrange pade make_splprep make_splrep generate_knots interp2d "
    "BivariateSpline",
    because="there is no rule for it",
    instead="Use CubicSpline, make_interp_spline, BSpline or np.polyfit.",
)
refuse(
    interpolate,
    "interpn",
    because="it makes an interpolator and calls it",
    instead="Use RegularGridInterpolator(points, values)(np.array(xi)).",
)
refuse(
    interpolate,
    "pchip_interpolate",
    because="there is no rule for it",
    instead="Use PchipInterpolator at points that depend on what is differentiated.",
)
