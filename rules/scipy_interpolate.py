"""scipy.interpolate: splines and grids, where they are evaluated and in the values they go through.

The slope of a spline is a spline. Splines that are linear in their values (cubic splines,
B-splines) are differentiated by the splines through unit vectors; the cotangent of a spline is the
cotangent of its coefficients, in an array.
"""

import math

import numpy as np
from scipy import interpolate

from s2sad.registry import library_objects, pullback, pushforward, refuse

POLYNOMIALS = (
    interpolate.CubicSpline,
    interpolate.CubicHermiteSpline,
    interpolate.PchipInterpolator,
    interpolate.Akima1DInterpolator,
    interpolate.PPoly,
)

refuse(
    interpolate,
    "BPoly CloughTocher2DInterpolator LinearNDInterpolator"
    "  LSQBivariateSpline LSQSphereBivariateSpline NdBSpline "
    "NdPPoly NearestNDInterpolator Rbf RectSphereBivariateSpline "
    "SmoothBivariateSpline SmoothSphereBivariateSpline bisplev bisplrep griddata insert "
    "spalde splantider splder splprep sproot",
    because="s2sad has no rule for it",
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


BY_AXES = "the values are a curve's: only the run shows over which axes the slopes are added up"

BY_COEFFICIENTS = "the code that finds the weights of the coefficients has no derivative itself"

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


@pullback(integral, once=BY_COEFFICIENTS)
def pull_integral(out_bar, out, spline, a, b, *, extrapolate=None):
    weights = integral_weights(spline, a, b, extrapolate)
    spline_bar = np.multiply.outer(weights, out_bar)
    a_bar = -np.sum(out_bar * spline(a, extrapolate=extrapolate))
    return spline_bar, a_bar, np.sum(out_bar * spline(b, extrapolate=extrapolate))


@pushforward(integral)
def push_integral(out, spline, a, b, spline_dot, a_dot, b_dot, *, extrapolate=None):
    found = np.zeros_like(out)
    if spline_dot is not None:
        weights = integral_weights(spline, a, b, extrapolate)
        found = found + np.tensordot(weights, spline_dot, weights.ndim)
    if a_dot is not None:
        found = found - spline(a, extrapolate=extrapolate) * a_dot
    if b_dot is not None:
        found = found + spline(b, extrapolate=extrapolate) * b_dot
    return found


def integral_weights(spline, a, b, extrapolate):
    """Return how the coefficients count in an integral: the pieces go on beyond the ends."""
    beyond = spline.extrapolate if extrapolate is None else extrapolate
    if isinstance(spline, interpolate.BSpline):
        units = interpolate.BSpline(spline.t, np.eye(len(spline.c)), spline.k, bool(beyond))
        if isinstance(beyond, str):
            raise NotImplementedError("integrate: periodic splines have no derivative here")
        return units.integrate(a, b, extrapolate)
    knots = spline.x
    if isinstance(beyond, str) or knots[-1] < knots[0]:
        raise NotImplementedError("integrate: periodic splines, and falling knots, have none here")
    ends = np.concatenate([[-np.inf], knots[1:-1], [np.inf]])
    lengths = [np.clip(x, ends[:-1], ends[1:]) - knots[:-1] for x in (a, b)]
    powers = np.arange(spline.c.shape[0], 0, -1)[:, None]
    return (lengths[1] ** powers - lengths[0] ** powers) / powers


def derivative(spline, nu=1):
    """Differentiate as the method does."""
    return spline.derivative(nu)


def antiderivative(spline, nu=1):
    """Integrate as the method does."""
    return spline.antiderivative(nu)


def factors(count, nu, ndim):
    """Return what powers are multiplied by where they are differentiated."""
    found = [math.perm(power, nu) for power in range(count - 1 + nu, nu - 1, -1)]
    return np.reshape(np.array(found, float), (-1,) + (1,) * (ndim - 1))


@pullback(derivative, once=BY_COEFFICIENTS)
def pull_derivative(out_bar, out, spline, *, nu=1):
    check_plain(spline, nu)
    kept = spline.c.shape[0] - nu
    if kept <= 0:
        return np.zeros_like(spline.c)
    scaled = out_bar * factors(kept, nu, spline.c.ndim)
    return np.concatenate([scaled, np.zeros_like(spline.c[kept:])])


@pushforward(derivative)
def push_derivative(out, spline, spline_dot, *, nu=1):
    check_plain(spline, nu)
    kept = spline.c.shape[0] - nu
    return (
        spline_dot[:kept] * factors(kept, nu, spline.c.ndim) if kept > 0 else np.zeros_like(out.c)
    )


def check_plain(spline, nu):
    """Refuse what is not a derivative of pieces that rise."""
    if nu < 0:
        raise NotImplementedError("derivative: nu is not negative; see antiderivative")


@pullback(antiderivative, once=BY_COEFFICIENTS)
def pull_antiderivative(out_bar, out, spline, *, nu=1):
    """Each piece starts where the one before it ends."""
    check_once(nu)
    powers = np.arange(len(spline.c), 0, -1)
    widths = widths_of_pieces(spline)
    starts = np.flip(np.cumsum(np.flip(out_bar[-1], 0), axis=0), 0) - out_bar[-1]
    lifted = np.stack([widths_to(widths, p, starts) * starts for p in powers])
    return (out_bar[:-1] + lifted) / np.reshape(powers, (-1,) + (1,) * (spline.c.ndim - 1))


@pushforward(antiderivative)
def push_antiderivative(out, spline, spline_dot, *, nu=1):
    check_once(nu)
    return interpolate.PPoly(spline_dot, spline.x, spline.extrapolate).antiderivative(nu).c


def check_once(nu):
    """Refuse integrals of integrals."""
    if nu != 1:
        raise NotImplementedError("antiderivative: call it again instead of with another nu than 1")


def widths_of_pieces(spline):
    """Return the widths of the pieces."""
    return np.diff(spline.x)


def widths_to(widths, power, like_this):
    """Return powers of widths, with axes for what the values hold."""
    return np.reshape(widths**power, (-1,) + (1,) * (like_this.ndim - 1))


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
    """Return the cotangent of values from the cotangent of coefficients, by unit vectors."""
    axes = tuple(range(y_bar_of_units.ndim - 1))
    return np.tensordot(y_bar_of_units, c_bar, (axes, axes))


def at_ends(bc_type):
    """Return conditions at the ends as they are for what is added to the values: zeros for numbers.

    The values at the ends that are asked for stay as they are.
    """
    if bc_type is None or isinstance(bc_type, str):
        return bc_type
    return tuple(end if end is None or isinstance(end, str) else zero_end(end) for end in bc_type)


def zero_end(end):
    """Return a condition that wants zero: (order, value), or several of these."""
    if isinstance(end, list):
        return [zero_end(part) for part in end]
    if not isinstance(end, tuple) or isinstance(end[0], tuple | list):
        return [zero_end(part) for part in end]
    return end[0], 0.0 * np.asarray(end[1])


@pullback(interpolate.CubicSpline, unknown=("x",), samples=rising)
def pull_cubic_spline(out_bar, out, x, y, *, axis=0, bc_type="not-a-knot", extrapolate=None):
    return None, through_units(units_through(x, out, at_ends(bc_type)), out_bar)


def units_through(x, out, bc_type):
    """Return the coefficients of splines through unit vectors; a periodic one has one less."""
    units = np.eye(len(x))
    if isinstance(bc_type, tuple):
        return np.stack([one_through(x, unit, bc_type) for unit in units], axis=-1)
    if bc_type != "periodic":
        return interpolate.CubicSpline(x, units, bc_type=bc_type).c
    units[-1] = units[0]
    found = interpolate.CubicSpline(x, units, bc_type=bc_type).c
    found[..., -1] = 0.0
    return found


def one_through(x, unit, bc_type):
    """Return the coefficients of the spline through numbers, with conditions that want zero."""
    ends = tuple(
        (end[0], 0.0) if isinstance(end, tuple) and not isinstance(end[0], str) else end
        for end in bc_type
    )
    return interpolate.CubicSpline(x, unit, bc_type=ends).c


@pushforward(interpolate.CubicSpline)
def push_cubic_spline(out, x, y, x_dot, y_dot, *, axis=0, bc_type="not-a-knot", extrapolate=None):
    return interpolate.CubicSpline(x, y_dot, axis, at_ends(bc_type)).c


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


def hermite_cotangents(c_bar, x):
    """Return the cotangents of values and slopes at knots, from the cotangent of coefficients."""
    unit, nothing = np.eye(len(x)), np.zeros((len(x), len(x)))
    by_values = interpolate.CubicHermiteSpline(x, unit, nothing)
    by_slopes = interpolate.CubicHermiteSpline(x, nothing, unit)
    return through_units(by_values.c, c_bar), through_units(by_slopes.c, c_bar)


def secants(x, y):
    """Return the widths between knots, with axes for what the values hold, and the secants."""
    widths = np.reshape(np.diff(x), (-1,) + (1,) * (y.ndim - 1))
    return widths, np.diff(y, axis=0) / widths


def from_secants(m_bar, widths):
    """Return the cotangent of values from the cotangent of secants."""
    bar = m_bar / widths
    none = np.zeros_like(bar[:1])
    return np.concatenate([none, bar]) - np.concatenate([bar, none])


def pchip_edge(h0, h1, m0, m1):
    """Return how the slope at an end moves with the two secants next to it."""
    slope = ((2.0 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    none = np.sign(slope) != np.sign(m0)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(slope) > 3.0 * np.abs(m0)) & ~none
    by_first = np.where(none, 0.0, np.where(steep, 3.0, (2.0 * h0 + h1) / (h0 + h1)))
    return by_first, np.where(none | steep, 0.0, -h0 / (h0 + h1))


def pchip_partials(h, m):
    """Return how the slopes at the knots move with the secants left and right of them.

    Fritsch and Butland, "A method for constructing local monotone piecewise cubic interpolants",
    1984: a harmonic mean where the secants have one sign, zero elsewhere.
    """
    one_sign = (np.sign(m[1:]) == np.sign(m[:-1])) & (m[1:] != 0) & (m[:-1] != 0)
    left, right = np.where(one_sign, m[:-1], 1.0), np.where(one_sign, m[1:], 1.0)
    first, second = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    share = (first + second) / (first / left + second / right) ** 2
    return np.where(one_sign, share * first / left**2, 0.0), np.where(
        one_sign, share * second / right**2, 0.0
    )


def pchip_slopes_back(slopes_bar, x, y):
    """Return the cotangent of values from the cotangent of the slopes at the knots."""
    h, m = secants(x, y)
    if len(y) == 2:
        return from_secants(np.sum(slopes_bar, axis=0, keepdims=True), h)
    m_bar = np.zeros_like(m)
    left, right = pchip_partials(h, m)
    m_bar[:-1] += left * slopes_bar[1:-1]
    m_bar[1:] += right * slopes_bar[1:-1]
    near, far = pchip_edge(h[0], h[1], m[0], m[1])
    m_bar[0] += near * slopes_bar[0]
    m_bar[1] += far * slopes_bar[0]
    near, far = pchip_edge(h[-1], h[-2], m[-1], m[-2])
    m_bar[-1] += near * slopes_bar[-1]
    m_bar[-2] += far * slopes_bar[-1]
    return from_secants(m_bar, h)


def pchip_slopes_forward(x, y, y_dot):
    """Return the tangent of the slopes at the knots."""
    h, m = secants(x, y)
    m_dot = np.diff(y_dot, axis=0) / h
    if len(y) == 2:
        return np.concatenate([m_dot, m_dot])
    left, right = pchip_partials(h, m)
    near, far = pchip_edge(h[0], h[1], m[0], m[1])
    last, before = pchip_edge(h[-1], h[-2], m[-1], m[-2])
    inner = left * m_dot[:-1] + right * m_dot[1:]
    start = near * m_dot[0] + far * m_dot[1]
    return np.concatenate([start[None], inner, (last * m_dot[-1] + before * m_dot[-2])[None]])


@pullback(interpolate.PchipInterpolator, unknown=("x",), samples=rising, once=BY_COEFFICIENTS)
def pull_pchip(out_bar, out, x, y, *, axis=0, extrapolate=None):
    y_bar, slopes_bar = hermite_cotangents(out_bar, x)
    return None, y_bar + pchip_slopes_back(slopes_bar, x, y)


@pushforward(interpolate.PchipInterpolator)
def push_pchip(out, x, y, x_dot, y_dot, *, axis=0, extrapolate=None):
    slopes_dot = pchip_slopes_forward(x, y, y_dot)
    return interpolate.CubicHermiteSpline(x, y_dot, slopes_dot).c


def akima_secants(m):
    """Return secants with two more at either end, as Akima has them."""
    first = 2.0 * m[:1] - m[1:2]
    last = 2.0 * m[-1:] - m[-2:-1]
    return np.concatenate([2.0 * first - m[:1], first, m, last, 2.0 * last - m[-1:]])


def akima_slopes(m, m_dot):
    """Return the tangent of the slopes at the knots from the tangent of all secants.

    Akima, "A new method of interpolation and smooth curve fitting based on local procedures", 1970.
    """
    step, step_dot = np.diff(m, axis=0), np.diff(m_dot, axis=0)
    turn, turn_dot = np.abs(step), np.sign(step) * step_dot
    after, before = turn[2:], turn[:-2]
    both = after + before
    bent = both > 1e-9 * np.max(both)
    whole = np.where(bent, both, 1.0)
    part = before / whole
    part_dot = (turn_dot[:-2] - part * (turn_dot[2:] + turn_dot[:-2])) / whole
    found = m_dot[1:-2] + part_dot * step[1:-1] + part * step_dot[1:-1]
    return np.where(bent, found, 0.5 * (m_dot[3:] + m_dot[:-3]))


def check_akima(method):
    """Refuse the modified slopes."""
    if method != "akima":
        raise NotImplementedError("Akima1DInterpolator: active values with method='akima' only")


@pullback(interpolate.Akima1DInterpolator, unknown=("x",), samples=rising, once=BY_COEFFICIENTS)
def pull_akima(out_bar, out, x, y, *, axis=0, method="akima", extrapolate=None):
    """The slopes move with five values each: how is found by moving each value."""
    check_akima(method)
    y_bar, slopes_bar = hermite_cotangents(out_bar, x)
    h, m = secants(x, y)
    whole, found = akima_secants(m), np.zeros_like(y)
    for i, unit in enumerate(np.eye(len(y))):
        moved = np.diff(unit, axis=0)
        m_dot = np.reshape(moved, h.shape) / h * np.ones_like(m)
        slopes_dot = akima_slopes(whole, akima_secants(m_dot))
        found[i] = np.sum(slopes_bar * slopes_dot, axis=0)
    return None, y_bar + found


@pushforward(interpolate.Akima1DInterpolator)
def push_akima(out, x, y, x_dot, y_dot, *, axis=0, method="akima", extrapolate=None):
    check_akima(method)
    h, m = secants(x, y)
    m_dot = np.diff(y_dot, axis=0) / h
    slopes_dot = akima_slopes(akima_secants(m), akima_secants(m_dot))
    return interpolate.CubicHermiteSpline(x, y_dot, slopes_dot).c


def knots_of_pieces(c, x, *rest):
    """Return knots for as many pieces as there are coefficients of."""
    return c, np.arange(np.shape(c)[1] + 1.0), *rest


@pullback(interpolate.PPoly, unknown=("x",), samples=knots_of_pieces, view="maybe")
def pull_ppoly(out_bar, out, c, x, *, extrapolate=None, axis=0):
    return out_bar, None


@pushforward(interpolate.PPoly)
def push_ppoly(out, c, x, c_dot, x_dot, *, extrapolate=None, axis=0):
    return c_dot


refuse(
    interpolate,
    "AAA FloaterHormannInterpolator approximate_taylor_polynomial "
    "lagrange pade make_splprep make_splrep generate_knots interp2d "
    "BivariateSpline",
    because="s2sad has no rule for it",
    instead="Use CubicSpline, make_interp_spline, BSpline or np.polyfit.",
)


refuse(
    interpolate,
    "pchip_interpolate",
    because="s2sad has no rule for it",
    instead="Use PchipInterpolator at points that depend on what is differentiated.",
)
refuse(
    interpolate.PPoly,
    "roots solve",
    because="the number of roots depends on the values",
    instead="Find a root by scipy.optimize.brentq, whose function evaluates the spline.",
)
