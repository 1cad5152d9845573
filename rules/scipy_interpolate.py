"""scipy.interpolate: splines and grids, where they are evaluated and in the values they go through.

The slope of a spline is a spline. What is linear in its values (cubic splines, B-splines) is
differentiated by the splines through unit vectors; the cotangent of a spline is that of its
coefficients, in an array.
"""

import math

import numpy as np
from scipy import interpolate

from s2sad.registry import library_objects, pullback, pushforward, refuse, written_out
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
    "spalde splantider splder splprep sproot",
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

BY_COEFFICIENTS = "how the coefficients count is found in a way that has no derivative itself"

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
    """Return the cotangent of values from that of coefficients and those of unit vectors."""
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
    """Return the cotangents of values and of slopes at knots, from that of coefficients."""
    unit, nothing = np.eye(len(x)), np.zeros((len(x), len(x)))
    by_values = interpolate.CubicHermiteSpline(x, unit, nothing)
    by_slopes = interpolate.CubicHermiteSpline(x, nothing, unit)
    return through_units(by_values.c, c_bar), through_units(by_slopes.c, c_bar)


def secants(x, y):
    """Return the widths between knots, with axes for what the values hold, and the secants."""
    widths = np.reshape(np.diff(x), (-1,) + (1,) * (y.ndim - 1))
    return widths, np.diff(y, axis=0) / widths


def from_secants(m_bar, widths):
    """Return the cotangent of values from that of secants."""
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
    """Return the cotangent of values from that of the slopes at the knots."""
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
    """Return the tangent of the slopes at the knots from that of all the secants.

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


def basis_derivative(spline, nu=1):
    """Differentiate as the method does."""
    return spline.derivative(nu)


def basis_antiderivative(spline, nu=1):
    """Integrate as the method does."""
    return spline.antiderivative(nu)


def of_units(spline, nu):
    """Return how the coefficients of a derivative, or an integral (nu < 0), move with its own."""
    units = interpolate.BSpline(spline.t, np.eye(len(spline.c)), spline.k, spline.extrapolate)
    return (units.derivative(nu) if nu >= 0 else units.antiderivative(-nu)).c


@pullback(basis_derivative, once=BY_COEFFICIENTS)
def pull_basis_derivative(out_bar, out, spline, *, nu=1):
    return np.tensordot(of_units(spline, nu)[: len(out_bar)], out_bar, (0, 0))


@pushforward(basis_derivative)
def push_basis_derivative(out, spline, spline_dot, *, nu=1):
    return np.tensordot(of_units(spline, nu), spline_dot, (1, 0))


@pullback(basis_antiderivative, once=BY_COEFFICIENTS)
def pull_basis_antiderivative(out_bar, out, spline, *, nu=1):
    return np.tensordot(of_units(spline, -nu)[: len(out_bar)], out_bar, (0, 0))


@pushforward(basis_antiderivative)
def push_basis_antiderivative(out, spline, spline_dot, *, nu=1):
    return np.tensordot(of_units(spline, -nu), spline_dot, (1, 0))


library_objects(
    interpolate.BSpline,
    like=basis_like,
    check="{0}.c.ndim == {1} + 1 and {0}.axis == 0",
    sample=basis_sample,
    zero=zero,
    functions={
        "__call__": basis,
        "antiderivative": basis_antiderivative,
        "derivative": basis_derivative,
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


def check_ends(bc_type):
    """Refuse the conditions at the ends that are no names, and periodic ones."""
    if bc_type is not None and (not isinstance(bc_type, str) or bc_type == "periodic"):
        raise NotImplementedError(
            "make_interp_spline: a derivative with bc_type a word, not periodic; CubicSpline takes "
            "other conditions"
        )


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


@pullback(interpolate.make_smoothing_spline, unknown=("x",), samples=rising, once=BY_COEFFICIENTS)
def pull_make_smoothing_spline(out_bar, out, x, y, *, w=None, lam=None):
    """With a penalty that is given it is linear in the values."""
    return None, smoothing_units(x, y, w, lam) @ out_bar


@pushforward(interpolate.make_smoothing_spline)
def push_make_smoothing_spline(out, x, y, x_dot, y_dot, *, w=None, lam=None):
    return y_dot @ smoothing_units(x, y, w, lam)


def smoothing_units(x, y, w, lam):
    """Return the coefficients of smoothing splines near unit vectors."""
    if lam is None:
        raise NotImplementedError("make_smoothing_spline: a derivative where lam= is given")
    if y.ndim > 1:
        raise NotImplementedError("make_smoothing_spline: a derivative of values along one axis")
    return np.stack([interpolate.make_smoothing_spline(x, e, w, lam).c for e in np.eye(len(x))])


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


def places_in(table, x):
    """Return which places count: those in the table, all where it goes on beyond its ends."""
    inside = (x >= table.x[0]) & (x <= table.x[-1])
    return inside | isinstance(table.fill_value, str)


def table_weights(table, x):
    """Return how the values of a table count at places, and the slopes there."""
    x = np.asarray(x)
    counts = np.ravel(places_in(table, x))
    kind = table._spline.k if table._kind == "spline" else table._kind
    units = interpolate.interp1d(
        table.x, np.eye(len(table.x)), kind, axis=0, fill_value="extrapolate"
    )
    weights = np.where(counts[:, None], units(np.ravel(x)), 0.0)
    return weights, np.where(places_in(table, x), table_slopes(table, x), 0.0)


def table_slopes(table, x):
    """Return the slopes of a table; those of steps are zero."""
    if table._kind == "linear":
        left = np.clip(np.searchsorted(table.x, x) - 1, 0, table.x.size - 2)
        return (table.y[left + 1] - table.y[left]) / (table.x[left + 1] - table.x[left])
    if hasattr(table, "_spline"):
        return np.reshape(table._spline(x, 1), np.shape(x))
    return np.zeros(np.shape(x))


@pullback(looked_up, once="what the table holds has no kind that is known")
def pull_looked_up(out_bar, out, table, x):
    weights, slopes = table_weights(table, x)
    return np.ravel(out_bar) @ weights, out_bar * slopes


@pushforward(looked_up)
def push_looked_up(out, table, x, table_dot, x_dot):
    weights, slopes = table_weights(table, x)
    out_dot = np.zeros_like(out)
    if table_dot is not None:
        out_dot = out_dot + np.reshape(weights @ table_dot, np.shape(out))
    if x_dot is not None:
        out_dot = out_dot + slopes * x_dot
    return out_dot


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


ORDERS = {"slinear": 1, "cubic": 3, "quintic": 5}


def tensor_cotangent(out_bar, grid, points, order, counts):
    """Return the cotangent of values through which products of splines go, one along each axis."""
    bar = np.reshape(out_bar, (counts.size, -1)) * np.ravel(counts)[:, None]
    for axis, knots in reversed(list(enumerate(grid.grid))):
        units = interpolate.make_interp_spline(knots, np.eye(len(knots)), order)
        weights = units(np.ravel(points[..., axis]))
        bar = np.reshape(weights[:, :, None] * bar[:, None, :], (counts.size, -1))
    return np.reshape(np.sum(bar, axis=0), grid.values.shape).astype(grid.values.dtype)


def values_cotangent(out_bar, grid, xi, method):
    """Return the cotangent of the values of a grid that is interpolated linearly."""
    method = grid.method if method is None else method
    points = points_of(xi)
    left, part, counts = cells(grid, points)
    if method == "nearest":
        part = [np.where(p <= 0.5, 0.0, 1.0) for p in part]
    elif method in ORDERS:
        return tensor_cotangent(out_bar, grid, points, ORDERS[method], counts)
    elif method != "linear":
        raise NotImplementedError(f"RegularGridInterpolator: no derivative with {method}")
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


@written_out(interpolate.interpn)
def interpn(points, values, xi, method="linear", bounds_error=True, fill_value=np.nan):
    """A grid, made and asked."""
    if method == "splinef2d":
        raise NotImplementedError("interpn: no derivative with splinef2d; use method='cubic'")
    values = np.asarray(values)
    grid = interpolate.RegularGridInterpolator(
        points, values, method=method, bounds_error=bounds_error, fill_value=fill_value
    )
    return grid(xi)


refuse(
    interpolate,
    "pchip_interpolate",
    because="there is no rule for it",
    instead="Use PchipInterpolator at points that depend on what is differentiated.",
)
refuse(
    interpolate.PPoly,
    "roots solve",
    because="how many there are is decided by the values",
    instead="Find a root by scipy.optimize.brentq, whose function evaluates the spline.",
)
