"""scipy.integrate: sums over samples, and quad by Leibniz's rule."""

import numpy as np
from scipy import integrate, special

from s2sad.registry import pullback, pushforward, refuse, written_out
from s2sad.rules.products import pull_trapezoid, push_trapezoid
from s2sad.rules.scipy_optimize import all_of, inner_product
from s2sad.rules.shapes import unbroadcast

pullback(integrate.trapezoid)(pull_trapezoid)
pushforward(integrate.trapezoid)(push_trapezoid)


def widths(y, x, dx, axis):
    """Return the widths of the intervals between samples, along the last axis."""
    if x is None:
        return np.full(y.shape[axis] - 1, dx, dtype=y.dtype)
    return np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1))


def places(width_bar, x, axis):
    """Return the cotangent of x from the cotangent of its differences, along the last axis."""
    none = np.zeros((*width_bar.shape[:-1], 1), dtype=width_bar.dtype)
    x_bar = np.concatenate((none, width_bar), -1) - np.concatenate((width_bar, none), -1)
    return unbroadcast(x_bar if np.ndim(x) == 1 else np.moveaxis(x_bar, -1, axis), np.shape(x))


@pullback(integrate.cumulative_trapezoid)
def pull_cumulative_trapezoid(out_bar, out, y, x=None, *, dx=1.0, axis=-1, initial=None):
    out_bar, y = np.moveaxis(out_bar, axis, -1), np.moveaxis(y, axis, -1)
    if initial is not None:
        out_bar = out_bar[..., 1:]
    half_bar = 0.5 * np.flip(np.cumsum(np.flip(out_bar, -1), axis=-1), -1)
    side_bar = half_bar * widths(
        y, x if x is None or np.ndim(x) == 1 else np.moveaxis(x, axis, -1), dx, -1
    )
    y_bar = np.zeros(y.shape, dtype=side_bar.dtype)
    y_bar[..., 1:] += side_bar
    y_bar[..., :-1] += side_bar
    y_bar = np.moveaxis(y_bar, -1, axis)
    if x is None:
        return y_bar, None
    return y_bar, places(half_bar * (y[..., 1:] + y[..., :-1]), x, axis)


@pushforward(integrate.cumulative_trapezoid)
def push_cumulative_trapezoid(out, y, x, y_dot, x_dot, *, dx=1.0, axis=-1, initial=None):
    out_dot = np.zeros_like(out)
    if y_dot is not None:
        out_dot = out_dot + integrate.cumulative_trapezoid(
            y_dot, x, dx=dx, axis=axis, initial=initial
        )
    if x_dot is not None:
        out_dot = out_dot + integrate.cumulative_trapezoid(y, x_dot, axis=axis, initial=initial)
    return out_dot


def simpson_slopes(y, h):
    """Return the derivatives of Simpson's rule by samples and by widths, along the last axis.

    Two intervals at a time; where one is left over, it is done as Cartwright does, 2017.
    """
    h = np.broadcast_to(h, (*y.shape[:-1], y.shape[-1] - 1))
    by_y, by_h = np.zeros(y.shape, dtype=y.dtype), np.zeros(h.shape, dtype=y.dtype)
    count = y.shape[-1]
    if count == 2:
        by_y += 0.5 * h
        by_h += 0.5 * np.sum(y, axis=-1, keepdims=True)
        return by_y, by_h
    end = count - 1 if count % 2 else count - 2
    first, second = h[..., 0:end:2], h[..., 1:end:2]
    y0, y1, y2 = y[..., 0:end:2], y[..., 1:end:2], y[..., 2 : end + 1 : 2]
    both, ratio = first + second, first / second
    w0, w1, w2 = 2 - 1 / ratio, both * both / (first * second), 2 - ratio
    by_y[..., 0:end:2] += both / 6 * w0
    by_y[..., 1:end:2] += both / 6 * w1
    by_y[..., 2 : end + 1 : 2] += both / 6 * w2
    mean = (y0 * w0 + y1 * w1 + y2 * w2) / 6
    slope = y1 * both * (first - second) / (first * second)
    by_h[..., 0:end:2] += mean + both / 6 * (y0 / (ratio * first) + slope / first - y2 / second)
    by_h[..., 1:end:2] += mean + both / 6 * (y2 * ratio / second - slope / second - y0 / first)
    if not count % 2:
        first, last = h[..., -2], h[..., -1]
        both = first + last
        y3, y2, y1 = y[..., -3], y[..., -2], y[..., -1]
        by_y[..., -1] += last * (2 * last + 3 * first) / (6 * both)
        by_y[..., -2] += last * (last + 3 * first) / (6 * first)
        by_y[..., -3] -= last**3 / (6 * first * both)
        turn = last / both
        by_h[..., -2] += y1 * turn**2 / 6 - y2 * (last / first) ** 2 / 6
        by_h[..., -2] += y3 * last * turn**2 * (first + both) / (6 * first**2)
        by_h[..., -1] += y1 * (3 * first**2 + 4 * first * last + 2 * last**2) / (6 * both**2)
        by_h[..., -1] += y2 * (3 * first + 2 * last) / (6 * first)
        by_h[..., -1] -= y3 * turn**2 * (3 * first + 2 * last) / (6 * first)
    return by_y, by_h


@pullback(integrate.simpson, once="only the run shows whether the number of points is odd")
def pull_simpson(out_bar, out, y, x=None, *, dx=1.0, axis=-1):
    by_y, by_h = simpson_slopes(np.moveaxis(y, axis, -1), widths(y, x, dx, axis))
    out_bar = np.expand_dims(out_bar, -1)
    y_bar = np.moveaxis(out_bar * by_y, -1, axis)
    return y_bar, None if x is None else places(out_bar * by_h, x, axis)


@pushforward(integrate.simpson)
def push_simpson(out, y, x, y_dot, x_dot, *, dx=1.0, axis=-1):
    by_y, by_h = simpson_slopes(np.moveaxis(y, axis, -1), widths(y, x, dx, axis))
    out_dot = np.zeros_like(out)
    if y_dot is not None:
        out_dot = out_dot + np.sum(by_y * np.moveaxis(y_dot, axis, -1), axis=-1)
    if x_dot is not None:
        out_dot = out_dot + np.sum(by_h * widths(y, x_dot, dx, axis), axis=-1)
    return out_dot


@pullback(integrate.romb, linear=True)
def pull_romb(out_bar, out, y, *, dx=1.0, axis=-1, show=False):
    weights = integrate.romb(np.eye(y.shape[axis]), dx=dx).astype(y.dtype)
    return np.moveaxis(np.expand_dims(out_bar, -1) * weights, -1, axis)


@pushforward(integrate.romb)
def push_romb(out, y, y_dot, *, dx=1.0, axis=-1, show=False):
    return integrate.romb(y_dot, dx=dx, axis=axis)


def numbers_in(bars):
    """Return the numbers in cotangents of any structure, in order."""
    if isinstance(bars, dict):
        bars = list(bars.values())
    if isinstance(bars, tuple | list):
        return [n for part in bars for n in numbers_in(part)]
    if isinstance(bars, np.ndarray | float | np.floating):
        return np.ravel(bars).tolist()
    if hasattr(bars, "__dict__"):
        return numbers_in(vars(bars))
    if bars is None:
        return []
    raise NotImplementedError("quad has a derivative by real numbers and structures of them only")


def with_numbers(bars, numbers):
    """Return cotangents of the same structure with other numbers, which an iterator gives."""
    if isinstance(bars, dict):
        return {key: with_numbers(part, numbers) for key, part in bars.items()}
    if isinstance(bars, tuple | list):
        parts = [with_numbers(part, numbers) for part in bars]
        return type(bars)(*parts) if hasattr(bars, "_fields") else type(bars)(parts)
    if isinstance(bars, np.ndarray):
        taken = [next(numbers) for _ in range(bars.size)]
        return np.reshape(np.array(taken, dtype=bars.dtype), bars.shape)
    if not hasattr(bars, "__dict__"):
        return None if bars is None else type(bars)(next(numbers))
    twin = object.__new__(type(bars))
    for name, part in vars(bars).items():
        object.__setattr__(twin, name, with_numbers(part, numbers))
    return twin


def value_at(func, limit, args):
    """Return the integrand at a limit: 0 where that is infinite, nan where it has no value."""
    if np.isinf(limit):
        return 0.0
    try:
        return float(func(float(limit), *args)[0])
    except (ArithmeticError, ValueError):
        return float("nan")


def between(a, b):
    """Return a number between two limits."""
    if np.isinf(a):
        return 0.0 if np.isinf(b) else float(b) - 1.0
    return float(a) + 1.0 if np.isinf(b) else 0.5 * (float(a) + float(b))


@pullback(
    integrate.quad,
    calls={"func": "func(float, *args)"},
    result=lambda func, a, b, args=(), **settings: (0.5, 0.5),
)
def pull_quad(
    out_bar, out, func, a, b, args=(), *, epsabs=1.49e-8, epsrel=1.49e-8, limit=50, points=None
):
    """Leibniz: the derivative by what the integrand depends on goes under the integral."""
    y_bar, error_bar = out_bar
    if error_bar:
        raise NotImplementedError("quad has no derivative of the error estimate")
    args = args if isinstance(args, tuple) else (args,)
    known = {}

    def integrand(t, i):
        if t not in known:
            known[t] = numbers_in(func(t, *args)[1](1.0)[1:])
        return known[t][i]

    bars = func(between(a, b), *args)[1](1.0)[1:]
    found = []
    for i in range(len(numbers_in(bars))):
        settings = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points}
        found.append(y_bar * integrate.quad(integrand, a, b, (i,), **settings)[0])
    *args_bar, func_bar = with_numbers(bars, iter(found))
    a_bar, b_bar = -y_bar * value_at(func, a, args), y_bar * value_at(func, b, args)
    return func_bar, a_bar, b_bar, tuple(args_bar)


@pushforward(integrate.quad)
def push_quad(
    out,
    func,
    a,
    b,
    args,
    func_dot,
    a_dot,
    b_dot,
    args_dot,
    *,
    epsabs=1.49e-8,
    epsrel=1.49e-8,
    limit=50,
    points=None,
):
    """The estimate of the error has no tangent: values that depend on it get nan."""
    args, args_dot = all_of(args, args_dot)

    def integrand(t):
        _, *args_bar, func_bar = func(t, *args)[1](1.0)
        return inner_product(args_bar, args_dot) + inner_product(func_bar, func_dot)

    y_dot = 0.0
    if func_dot or args_dot is not None:
        settings = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": points}
        y_dot = integrate.quad(integrand, a, b, **settings)[0]
    if a_dot is not None:
        y_dot = y_dot - value_at(func, a, args) * a_dot
    if b_dot is not None:
        y_dot = y_dot + value_at(func, b, args) * b_dot
    return y_dot, float("nan")


ODE = "Write the steps as a loop: a Runge-Kutta step is four lines, and its derivative is exact."

refuse(
    integrate,
    "solve_ivp odeint ode complex_ode RK23 RK45 DOP853 Radau BDF LSODA solve_bvp",
    because="it chooses its steps as it goes",
    instead=ODE,
)
refuse(
    integrate,
    "tplquad nquad",
    because="it calls your function at points of its own choice",
    instead="Put integrate.dblquad into the function of integrate.quad.",
)
refuse(
    integrate,
    "quad_vec cubature qmc_quad tanhsinh nsum",
    because="it calls your function at points of its own choice",
    instead="Use integrate.quad, or np.sum over the nodes of np.polynomial.legendre.leggauss.",
)


def like_integrals(y, *, x=None, dx=1.0, axis=-1, initial=None):
    """Return a sample of the integrals up to each place but the first."""
    return y if initial is not None else np.diff(y, axis=axis)


@pullback(integrate.cumulative_simpson, result=like_integrals, linear=True)
def pull_cumulative_simpson(out_bar, out, y, *, x=None, dx=1.0, axis=-1, initial=None):
    """Linear in the samples: what comes of unit vectors says how these count."""
    y, bar = np.moveaxis(y, axis, -1), np.moveaxis(out_bar, axis, -1)
    bar = bar if initial is None else bar[..., 1:]
    units = simpson_units(y.shape[-1], x, dx)
    return np.moveaxis((bar @ units).astype(y.dtype), -1, axis)


def simpson_units(count, x, dx):
    """Return how samples count in the integrals up to each place."""
    if np.ndim(x) > 1 or np.ndim(dx) > 0:
        raise NotImplementedError(
            "cumulative_simpson has a derivative for places along one axis only"
        )
    return integrate.cumulative_simpson(np.eye(count), x=x, dx=dx, axis=0)


@pushforward(integrate.cumulative_simpson)
def push_cumulative_simpson(out, y, y_dot, *, x=None, dx=1.0, axis=-1, initial=None):
    start = None if initial is None else 0.0
    return integrate.cumulative_simpson(y_dot, x=x, dx=dx, axis=axis, initial=start)


@written_out(integrate.fixed_quad)
def fixed_quad(func, a, b, args=(), n=5):
    """Gauss and Legendre's rule; the function gets all nodes at once."""
    nodes, weights = special.roots_legendre(n)
    x = np.real(nodes)
    y = (b - a) * (x + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(y, *args), axis=-1), None


def over_area(inner, func, a, b, gfun, hfun, args, settings):
    """Integrate as dblquad does; `inner` are the integrals across, as a function of a place."""
    return vars(integrate)["dblquad"](func, a, b, gfun, hfun, args, **settings)


@pullback(
    over_area,
    calls={"inner": "inner(float, *args)"},
    constant=("func", "gfun", "hfun", "settings"),
    result=lambda *given: (0.5, 0.5),
)
def pull_over_area(out_bar, out, inner, func, a, b, gfun, hfun, args, settings):
    inner_bar, a_bar, b_bar, args_bar = pull_quad(out_bar, out, inner, a, b, args, **settings)
    return inner_bar, None, a_bar, b_bar, None, None, args_bar, None


@pushforward(over_area)
def push_over_area(
    out,
    inner,
    func,
    a,
    b,
    gfun,
    hfun,
    args,
    settings,
    inner_dot,
    func_dot,
    a_dot,
    b_dot,
    gfun_dot,
    hfun_dot,
    args_dot,
    settings_dot,
):
    return push_quad(out, inner, a, b, args, inner_dot, a_dot, b_dot, args_dot, **settings)


@written_out(integrate.dblquad)
def dblquad(func, a, b, gfun, hfun, args=(), epsabs=1.49e-8, epsrel=1.49e-8):
    """An integral of integrals."""
    settings = {"epsabs": epsabs, "epsrel": epsrel}

    def inner(x, *given):
        low = gfun(x) if callable(gfun) else gfun
        high = hfun(x) if callable(hfun) else hfun
        return integrate.quad(func, low, high, (x, *given), epsabs=epsabs, epsrel=epsrel)[0]

    return over_area(inner, func, a, b, gfun, hfun, args, settings)
