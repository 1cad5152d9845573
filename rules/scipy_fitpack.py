"""scipy.interpolate: FITPACK's splines, where they are evaluated and in the values they go through.

If the knots do not depend on the values, a spline is linear in the values. The cotangent of a
spline object is the cotangent of its coefficients; SciPy's B-splines over the same knots give the
weights of the coefficients.
"""

import numpy as np
from scipy import interpolate

from s2sad.registry import library_objects, pullback, pushforward
from s2sad.runtime import unbroadcast

# knots, coefficients and a degree


def units_of(t, k):
    """Return the B-splines over knots, side by side."""
    size = len(t) - k - 1
    return interpolate.BSpline(t, np.eye(size), k)


def weights_at(x, tck, der, ext):
    """Return how the coefficients count at places; beyond the knots as `ext` says."""
    t, c, k = tck
    t, flat = np.asarray(t), np.ravel(x)
    low, high = t[k], t[len(t) - k - 1]
    places = np.clip(flat, low, high) if der == 0 and ext in (3, "const") else flat
    if der > k:
        return np.zeros((flat.size, len(c)))
    found = units_of(t, k)(places, der)
    if ext in (1, "zeros"):
        found[(flat < low) | (flat > high)] = 0.0
    return np.pad(found, ((0, 0), (0, len(c) - found.shape[1])))


def integrals_of(a, b, tck):
    """Return how the coefficients count in an integral; beyond the knots there is nothing."""
    t, c, k = tck
    low, high = t[k], t[len(t) - k - 1]
    found = units_of(np.asarray(t), k).integrate(np.clip(a, low, high), np.clip(b, low, high))
    return np.pad(found, (0, len(c) - found.size))


def outside_of(ext, der):
    """Return how the slope goes on outside where a derivative goes on so: a constant's is zero.

    Only the spline itself goes on as a constant; FITPACK's derivatives go on as polynomials.
    """
    if ext in (3, "const"):
        return 1 if der == 0 else 0
    return ext


def knots_and_coefficients(tck):
    """Return knots, coefficients and a degree that go with one another; lists stay lists."""
    if isinstance(tck, interpolate.BSpline):
        return tck
    _, c, _ = tck
    curve = isinstance(c, list | tuple) and len(c) > 0 and np.ndim(c[0]) > 0
    return np.arange(14.0), [np.zeros(14) for _ in c] if curve else np.zeros(14), 5


def rising(x, y, *rest):
    """Return places that rise, and values: more of them than a spline of any degree wants."""
    return np.arange(8.0), np.zeros(8), *rest


def at_spline(x, tck, *rest):
    """Return places, and a spline for them."""
    return x, knots_and_coefficients(tck), *rest


def over_spline(a, b, tck, *rest):
    """Return bounds, and a spline between them."""
    return a, b, knots_and_coefficients(tck), *rest


ONCE = "the weights of the coefficients come from a function without a rule"


def held(tck):
    """Return knots, coefficients and a degree, of an object or in a tuple."""
    return tck.tck if isinstance(tck, interpolate.BSpline) else tck


def spline_cotangent(c_bar, tck):
    """Return the cotangent of knots, coefficients and a degree, in the structure that they have."""
    if isinstance(tck, interpolate.BSpline):
        return c_bar
    t = np.asarray(tck[0])
    unknown = np.full(t.shape, np.nan) if t.dtype.kind == "f" else None  # splrep asks not for it
    bars = [as_given(unknown, tck[0]), as_given(c_bar, tck[1]), None]
    return bars if isinstance(tck, list) else tuple(bars)


def as_given(bar, given):
    """Return a cotangent as a list where that is what was given."""
    return bar.tolist() if isinstance(given, list) and bar is not None else bar


def coefficients_tangent(tck, tck_dot):
    """Return the tangent of the coefficients; knots that move are refused."""
    if isinstance(tck, interpolate.BSpline):
        return tck_dot
    t_dot, c_dot, _ = tck_dot
    if t_dot is not None and np.any(t_dot):
        raise NotImplementedError("splev and splint have no derivative in knots that move")
    return np.zeros(len(tck[1])) if c_dot is None else np.asarray(c_dot)


@pullback(interpolate.splint, samples=over_spline, once=ONCE)
def pull_splint(out_bar, out, a, b, tck):
    """Outside of the knots the integrand is zero."""
    a_bar = -out_bar * interpolate.splev(a, held(tck), 0, 1)
    tck_bar = spline_cotangent(out_bar * integrals_of(a, b, held(tck)), tck)
    return a_bar, out_bar * interpolate.splev(b, held(tck), 0, 1), tck_bar


@pushforward(interpolate.splint)
def push_splint(out, a, b, tck, a_dot, b_dot, tck_dot):
    moved = 0.0 * out
    if tck_dot is not None:
        moved = moved + integrals_of(a, b, held(tck)) @ coefficients_tangent(tck, tck_dot)
    if a_dot is not None:
        moved = moved - a_dot * interpolate.splev(a, held(tck), 0, 1)
    if b_dot is not None:
        moved = moved + b_dot * interpolate.splev(b, held(tck), 0, 1)
    return moved


def check_one(values):
    """Refuse curves, whose coordinates come in a list."""
    if isinstance(values, list):
        raise NotImplementedError("splev of a curve: call it for each coordinate")


def slope_of_spline(x, tck, der, ext):
    """Return the slope of a spline, or of a derivative of it, at places."""
    if der >= held(tck)[2]:
        return np.zeros(np.shape(x))
    return interpolate.splev(x, tck, der + 1, outside_of(ext, der))


@pullback(interpolate.splev, samples=at_spline, once=ONCE)
def pull_splev(out_bar, out, x, tck, *, der=0, ext=0):
    check_one(out)
    c_bar = np.ravel(out_bar) @ weights_at(x, held(tck), der, ext)
    return out_bar * slope_of_spline(x, tck, der, ext), spline_cotangent(c_bar, tck)


@pushforward(interpolate.splev)
def push_splev(out, x, tck, x_dot, tck_dot, *, der=0, ext=0):
    check_one(out)
    found = np.zeros_like(out)
    if tck_dot is not None:
        moved = weights_at(x, held(tck), der, ext) @ coefficients_tangent(tck, tck_dot)
        found = found + np.reshape(moved, np.shape(out))
    if x_dot is not None:
        found = found + x_dot * slope_of_spline(x, tck, der, ext)
    return found


def like_spline(x, y, *, k=3, **settings):
    """Return knots and coefficients of some length; their number does not matter."""
    size = 2 * np.size(y) + 9
    return np.zeros(size), np.zeros(size), k


@pullback(interpolate.splrep, unknown=("x",), result=like_spline, once=ONCE)
def pull_splrep(
    out_bar, out, x, y, *, w=None, xb=None, xe=None, k=3, task=0, s=None, t=None, per=0, quiet=1
):
    """Knots and coefficients in a tuple: the knots stay where the spline goes through values."""
    return None, out_bar[1] @ by_given(x, out, w, s, t, per)


@pushforward(interpolate.splrep)
def push_splrep(
    out,
    x,
    y,
    x_dot,
    y_dot,
    *,
    w=None,
    xb=None,
    xe=None,
    k=3,
    task=0,
    s=None,
    t=None,
    per=0,
    quiet=1,
):
    return np.zeros_like(out[0]), by_given(x, out, w, s, t, per) @ y_dot, None


def by_given(x, tck, w, s, t, per):
    """Return how the coefficients move with each value: through all, or near them over knots."""
    if per:
        raise NotImplementedError("splrep has no derivative of periodic splines; use CubicSpline")
    if t is not None:
        return by_least_squares(x, w, tck)
    check_through(0 if s is None and w is None else s)
    return by_values(x, tck)


def by_values(x, tck):
    """Return how the coefficients of the spline through values move with each value."""
    t, c, k = tck
    found = interpolate.make_interp_spline(x, np.eye(len(x)), k, t=np.asarray(t)).c
    return np.pad(found, ((0, len(c) - len(found)), (0, 0)))


def check_through(s):
    """Refuse smoothing, where the values decide how many knots there are."""
    if s is None or s != 0:
        raise NotImplementedError(
            "a spline of FITPACK that smooths has no derivative in its values: with s=0 it goes "
            "through them; make_smoothing_spline and make_lsq_spline smooth, and have one"
        )


# objects of one variable


def tck_of(spline):
    """Return the knots, coefficients and the degree of an object."""
    return spline._eval_args


def plain_like(spline):
    """Return an array like one value of what gives numbers."""
    return np.zeros(())


def no_coefficients(spline):
    """Return the cotangent of a spline that nothing depends on."""
    return np.zeros_like(tck_of(spline)[1])


def univariate_sample(cls, array):
    """Return a spline of FITPACK."""
    if cls is interpolate.LSQUnivariateSpline:
        return cls(np.arange(6.0), np.zeros(6), [2.5])
    return cls(np.arange(6.0), np.zeros(6))


def univariate(spline, x, nu=0, ext=None):
    """Evaluate a spline of FITPACK, or a derivative of it."""
    return spline(x, nu, ext)


@pullback(univariate, once="s2sad does not know the type of the spline of the slopes")
def pull_univariate(out_bar, out, spline, x, *, nu=0, ext=None):
    beyond = spline.ext if ext is None else ext
    c_bar = np.ravel(out_bar) @ weights_at(x, tck_of(spline), nu, beyond)
    return c_bar, out_bar * slope_of_univariate(spline, x, nu, beyond)


@pushforward(univariate)
def push_univariate(out, spline, x, spline_dot, x_dot, *, nu=0, ext=None):
    beyond = spline.ext if ext is None else ext
    found = np.zeros_like(out)
    if spline_dot is not None:
        weights = weights_at(x, tck_of(spline), nu, beyond)
        found = found + np.reshape(weights @ spline_dot, np.shape(out))
    if x_dot is not None:
        found = found + x_dot * slope_of_univariate(spline, x, nu, beyond)
    return found


def slope_of_univariate(spline, x, nu, ext):
    """Return the slope of a spline of FITPACK, of whatever degree."""
    slope = spline.derivative(nu + 1)
    return slope(x, 0, outside_of(ext, nu))


def univariate_integral(spline, a, b):
    """Integrate as the method does."""
    return spline.integral(a, b)


@pullback(univariate_integral, once=ONCE)
def pull_univariate_integral(out_bar, out, spline, a, b):
    c_bar = out_bar * integrals_of(a, b, tck_of(spline))
    return c_bar, -out_bar * spline(a, ext=1), out_bar * spline(b, ext=1)


@pushforward(univariate_integral)
def push_univariate_integral(out, spline, a, b, spline_dot, a_dot, b_dot):
    found = 0.0 * out
    if spline_dot is not None:
        found = found + integrals_of(a, b, tck_of(spline)) @ spline_dot
    if a_dot is not None:
        found = found - a_dot * spline(a, ext=1)
    if b_dot is not None:
        found = found + b_dot * spline(b, ext=1)
    return found


def univariate_derivative(spline, n=1):
    """Differentiate as the method does."""
    return spline.derivative(n)


def univariate_antiderivative(spline, n=1):
    """Integrate as the method does."""
    return spline.antiderivative(n)


def of_derivative(spline, out, n):
    """Return how the coefficients of a derivative, or with n < 0 an integral, move with its own."""
    t, c, k = tck_of(spline)
    units = units_of(t, k)
    made = units.derivative(n) if n >= 0 else units.antiderivative(-n)
    rows = len(tck_of(out)[1])
    found = np.zeros((rows, len(c)))
    found[: min(rows, len(made.c)), : made.c.shape[1]] = made.c[:rows]
    return found


@pullback(univariate_derivative, once=ONCE)
def pull_univariate_derivative(out_bar, out, spline, *, n=1):
    return out_bar @ of_derivative(spline, out, n)


@pushforward(univariate_derivative)
def push_univariate_derivative(out, spline, spline_dot, *, n=1):
    return of_derivative(spline, out, n) @ spline_dot


@pullback(univariate_antiderivative, once=ONCE)
def pull_univariate_antiderivative(out_bar, out, spline, *, n=1):
    return out_bar @ of_derivative(spline, out, -n)


@pushforward(univariate_antiderivative)
def push_univariate_antiderivative(out, spline, spline_dot, *, n=1):
    return of_derivative(spline, out, -n) @ spline_dot


library_objects(
    interpolate.UnivariateSpline,  # an object of it becomes one of these
    interpolate.InterpolatedUnivariateSpline,
    interpolate.LSQUnivariateSpline,
    like=plain_like,
    sample=univariate_sample,
    zero=no_coefficients,
    functions={
        "__call__": univariate,
        "antiderivative": univariate_antiderivative,
        "derivative": univariate_derivative,
        "integral": univariate_integral,
    },
)


@pullback(interpolate.UnivariateSpline, unknown=("x",), samples=rising, once=ONCE)
def pull_univariate_spline(
    out_bar, out, x, y, *, w=None, bbox=(None, None), k=3, s=None, ext=0, check_finite=False
):
    check_through(s)
    return None, out_bar @ by_values(x, tck_of(out))


@pushforward(interpolate.UnivariateSpline)
def push_univariate_spline(
    out,
    x,
    y,
    x_dot,
    y_dot,
    *,
    w=None,
    bbox=(None, None),
    k=3,
    s=None,
    ext=0,
    check_finite=False,
):
    check_through(s)
    return by_values(x, tck_of(out)) @ y_dot


@pullback(interpolate.InterpolatedUnivariateSpline, unknown=("x",), samples=rising, once=ONCE)
def pull_interpolated_univariate_spline(
    out_bar, out, x, y, *, w=None, bbox=(None, None), k=3, ext=0, check_finite=False
):
    return None, out_bar @ by_values(x, tck_of(out))


@pushforward(interpolate.InterpolatedUnivariateSpline)
def push_interpolated_univariate_spline(
    out, x, y, x_dot, y_dot, *, w=None, bbox=(None, None), k=3, ext=0, check_finite=False
):
    return by_values(x, tck_of(out)) @ y_dot


def by_least_squares(x, w, tck):
    """Return how the coefficients of a spline near values move with each value."""
    t, c, k = tck
    found = interpolate.make_lsq_spline(x, np.eye(len(x)), np.asarray(t), k, w).c
    return np.pad(found, ((0, len(c) - len(found)), (0, 0)))


def one_knot(x, y, t, *rest):
    """Return places that rise, values and a knot between."""
    return np.arange(8.0), np.zeros(8), np.array([3.5]), *rest


@pullback(interpolate.LSQUnivariateSpline, unknown=("x", "t"), samples=one_knot, once=ONCE)
def pull_lsq_univariate_spline(
    out_bar, out, x, y, t, *, w=None, bbox=(None, None), k=3, ext=0, check_finite=False
):
    return None, out_bar @ by_least_squares(x, w, tck_of(out)), None


@pushforward(interpolate.LSQUnivariateSpline)
def push_lsq_univariate_spline(
    out,
    x,
    y,
    t,
    x_dot,
    y_dot,
    t_dot,
    *,
    w=None,
    bbox=(None, None),
    k=3,
    ext=0,
    check_finite=False,
):
    return by_least_squares(x, w, tck_of(out)) @ y_dot


# over a plane


def bivariate_sample(cls, array):
    """Return a spline over a plane."""
    return cls(np.arange(6.0), np.arange(6.0), np.zeros((6, 6)))


def no_plane(spline):
    """Return the cotangent of a spline over a plane that nothing depends on."""
    return np.zeros_like(spline.tck[2])


def at_points(spline, xi, yi, dx=0, dy=0):
    """Evaluate at points as the method does."""
    return spline.ev(xi, yi, dx, dy)


def edges(spline):
    """Return between which places a spline over a plane is one, along both axes."""
    (tx, ty, _), (kx, ky) = spline.tck, spline.degrees
    return (tx[kx], tx[-kx - 1]), (ty[ky], ty[-ky - 1])


def over_axes(spline, x, y, dx, dy):
    """Return how the coefficients count along both axes; beyond the edges all is as there."""
    (tx, ty, _), (kx, ky) = spline.tck, spline.degrees
    (low, high), (bottom, top) = edges(spline)
    x, y = np.clip(x, low, high), np.clip(y, bottom, top)
    along_x = weights_at(x, (tx, np.zeros(len(tx) - kx - 1), kx), dx, 0)
    return along_x, weights_at(y, (ty, np.zeros(len(ty) - ky - 1), ky), dy, 0)


def on_table(spline, coefficients):
    """Return the coefficients of a spline over a plane as a table: a row for each along x."""
    (tx, ty, _), (kx, ky) = spline.tck, spline.degrees
    return np.reshape(coefficients, (len(tx) - kx - 1, len(ty) - ky - 1))


def slopes_along(spline, x, y, dx, dy):
    """Return how the coefficients count in the slopes along both axes; beyond the edges not."""
    (low, high), (bottom, top) = edges(spline)
    steeper_x, _ = over_axes(spline, x, y, dx + 1, dy)
    _, steeper_y = over_axes(spline, x, y, dx, dy + 1)
    inside_x, inside_y = (x >= low) & (x <= high), (y >= bottom) & (y <= top)
    return steeper_x * np.ravel(inside_x)[:, None], steeper_y * np.ravel(inside_y)[:, None]


def slopes_at(spline, xi, yi, dx, dy):
    """Return the slopes along both axes at points."""
    xi, yi = np.broadcast_arrays(xi, yi)
    along_x, along_y = over_axes(spline, xi, yi, dx, dy)
    steeper_x, steeper_y = slopes_along(spline, xi, yi, dx, dy)
    table = on_table(spline, spline.tck[2])
    by_x, by_y = steeper_x @ table * along_y, along_x @ table * steeper_y
    return np.reshape(np.sum(by_x, axis=1), xi.shape), np.reshape(np.sum(by_y, axis=1), xi.shape)


@pullback(at_points, once=ONCE)
def pull_at_points(out_bar, out, spline, xi, yi, *, dx=0, dy=0):
    along_x, along_y = over_axes(spline, *np.broadcast_arrays(xi, yi), dx, dy)
    c_bar = np.ravel((np.ravel(out_bar)[:, None] * along_x).T @ along_y)
    by_x, by_y = slopes_at(spline, xi, yi, dx, dy)
    xi_bar = unbroadcast(out_bar * by_x, np.shape(xi))
    return c_bar, xi_bar, unbroadcast(out_bar * by_y, np.shape(yi))


@pushforward(at_points)
def push_at_points(out, spline, xi, yi, spline_dot, xi_dot, yi_dot, *, dx=0, dy=0):
    found = np.zeros_like(out)
    if spline_dot is not None:
        along_x, along_y = over_axes(spline, *np.broadcast_arrays(xi, yi), dx, dy)
        moved = np.sum(along_x @ on_table(spline, spline_dot) * along_y, axis=1)
        found = found + np.reshape(moved, np.shape(out))
    by_x, by_y = slopes_at(spline, xi, yi, dx, dy)
    if xi_dot is not None:
        found = found + by_x * xi_dot
    return found if yi_dot is None else found + by_y * yi_dot


def over_plane(spline, x, y, dx=0, dy=0, grid=True):
    """Evaluate as the call of the object does: on the grid of two axes, or at points."""
    return spline(x, y, dx, dy, grid)


def rising_places(spline, x, y, *rest):
    """Return places that rise along both axes."""
    return spline, np.zeros_like(x), np.zeros_like(y), *rest


@pullback(over_plane, samples=rising_places, once=ONCE)
def pull_over_plane(out_bar, out, spline, x, y, *, dx=0, dy=0, grid=True):
    if not grid:
        return pull_at_points(out_bar, out, spline, x, y, dx=dx, dy=dy)
    along_x, along_y = over_axes(spline, x, y, dx, dy)
    steeper_x, steeper_y = slopes_along(spline, x, y, dx, dy)
    table = on_table(spline, spline.tck[2])
    x_bar = np.sum(out_bar * (steeper_x @ table @ along_y.T), axis=1)
    y_bar = np.sum(out_bar * (along_x @ table @ steeper_y.T), axis=0)
    c_bar = np.ravel(along_x.T @ out_bar @ along_y)
    return c_bar, np.reshape(x_bar, np.shape(x)), np.reshape(y_bar, np.shape(y))


@pushforward(over_plane)
def push_over_plane(out, spline, x, y, spline_dot, x_dot, y_dot, *, dx=0, dy=0, grid=True):
    if not grid:
        return push_at_points(out, spline, x, y, spline_dot, x_dot, y_dot, dx=dx, dy=dy)
    found = np.zeros_like(out)
    along_x, along_y = over_axes(spline, x, y, dx, dy)
    steeper_x, steeper_y = slopes_along(spline, x, y, dx, dy)
    table = on_table(spline, spline.tck[2])
    if spline_dot is not None:
        found = found + along_x @ on_table(spline, spline_dot) @ along_y.T
    if x_dot is not None:
        found = found + steeper_x @ table @ along_y.T * np.reshape(x_dot, (-1, 1))
    return found if y_dot is None else found + along_x @ table @ steeper_y.T * np.ravel(y_dot)


library_objects(
    interpolate.RectBivariateSpline,
    like=plain_like,
    sample=bivariate_sample,
    zero=no_plane,
    functions={"__call__": over_plane, "ev": at_points},
)


def rising_both(x, y, z, *rest):
    """Return places that rise along both axes, and values."""
    return np.arange(8.0), np.arange(8.0), np.zeros((8, 8)), *rest


def through_plane(x, y, out, s):
    """Return how the coefficients move with the values, along both axes."""
    if s != 0:
        raise NotImplementedError(
            "RectBivariateSpline has a derivative in the values with s=0 only"
        )
    (tx, ty, _), (kx, ky) = out.tck, out.degrees
    by_x = interpolate.make_interp_spline(x, np.eye(len(x)), kx, t=tx).c
    return by_x, interpolate.make_interp_spline(y, np.eye(len(y)), ky, t=ty).c


@pullback(interpolate.RectBivariateSpline, unknown=("x", "y"), samples=rising_both, once=ONCE)
def pull_rect_bivariate(out_bar, out, x, y, z, *, kx=3, ky=3, s=0):
    by_x, by_y = through_plane(x, y, out, s)
    return None, None, by_x.T @ np.reshape(out_bar, (len(by_x), len(by_y))) @ by_y


@pushforward(interpolate.RectBivariateSpline)
def push_rect_bivariate(out, x, y, z, x_dot, y_dot, z_dot, *, kx=3, ky=3, s=0):
    by_x, by_y = through_plane(x, y, out, s)
    return np.ravel(by_x @ z_dot @ by_y.T)
