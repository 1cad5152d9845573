"""The module math, and the builtins that reduce sequences of numbers."""

import builtins
import math

import numpy as np

from s2sad.registry import elementwise, nondifferentiable, pullback, pushforward
from s2sad.runtime import log_of_base, unbroadcast


def digamma(x):
    """Return the derivative of log(gamma(x)).

    Reflection 6.3.7, recurrence 6.3.5 and asymptotic series 6.3.18 of Abramowitz and Stegun,
    Handbook of Mathematical Functions (1964).
    """
    if x <= 0.0:
        return digamma(1.0 - x) - math.pi / math.tan(math.pi * x)
    shift = 0.0
    while x < 10.0:
        shift = shift - 1.0 / x
        x = x + 1.0
    s = 1.0 / (x * x)
    series = s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * (691 / 32760 - s / 12))))
    return shift + math.log(x) - 0.5 / x - s * (1 / 12 - s * (1 / 120 - series))


def like(parts, x):
    """Return the parts in the kind of sequence that x is."""
    if isinstance(x, np.ndarray):
        return np.array(parts, x.dtype)
    return tuple(parts) if isinstance(x, tuple) else list(parts)


def numbers(x_dot, x):
    """Return the tangents of a sequence's items, with 0.0 for constant ones."""
    if x_dot is None:
        return [0.0] * len(x)
    return [0.0 if part is None else part for part in x_dot]


def weighted(weights, x_dot, x):
    """Return the sum of the tangents of a sequence's items, each with its weight."""
    return math.fsum(w * part for w, part in zip(weights, numbers(x_dot, x), strict=True))


def products_without(factors):
    """Return, for each factor, the product of all the others; nothing is divided."""
    left = [1.0]
    for factor in factors[:-1]:
        left.append(left[-1] * factor)
    right = 1.0
    products = []
    for before, factor in zip(reversed(left), reversed(factors), strict=False):
        products.append(before * right)
        right = right * factor
    return products[::-1]


def ties(out, items):
    """Return each item's share in the result of max or min: equal among those that tie."""
    chosen = [float(item == out) for item in items]
    count = sum(chosen)
    return [one / count for one in chosen]


@elementwise(math.exp)
def exp(out, x):
    return out


@elementwise(math.exp2)
def exp2(out, x):
    return out * math.log(2.0)


@elementwise(math.expm1)
def expm1(out, x):
    return out + 1.0


@elementwise(math.log)
def log(out, x, base=None):
    if base is None:
        return 1.0 / x, None
    return 1.0 / (x * math.log(base)), -out / (base * math.log(base))


@elementwise(math.log2)
def log2(out, x):
    return 1.0 / (x * math.log(2.0))


@elementwise(math.log10)
def log10(out, x):
    return 1.0 / (x * math.log(10.0))


@elementwise(math.log1p)
def log1p(out, x):
    return 1.0 / (x + 1.0)


@elementwise(math.sqrt, regular={"out": 1.0}, steep=("x",))
def sqrt(out, x):
    return 0.5 / out


@elementwise(math.cbrt, regular={"out": 1.0}, steep=("x",))
def cbrt(out, x):
    return 1.0 / (3.0 * out * out)


@elementwise(math.pow, regular={"out": 1.0, "x": 1.0}, steep=("x",))
def power(out, x, y):
    """At x = 0, x**0 has the derivative 0, too: there the base is 1."""
    return y * math.pow(x + (x == 0) * (y == 0), y - 1), out * log_of_base(x)


@elementwise(math.sin)
def sin(out, x):
    return math.cos(x)


@elementwise(math.cos)
def cos(out, x):
    return -math.sin(x)


@elementwise(math.tan)
def tan(out, x):
    return 1.0 + out * out


@elementwise(math.asin, regular={"x": 0.0}, steep=("x",))
def asin(out, x):
    return 1.0 / math.sqrt(1.0 - x * x)


@elementwise(math.acos, regular={"x": 0.0}, steep=("x",))
def acos(out, x):
    return -1.0 / math.sqrt(1.0 - x * x)


@elementwise(math.atan)
def atan(out, x):
    return 1.0 / (1.0 + x * x)


@elementwise(math.atan2, regular={"x": 1.0}, steep=("y", "x"))
def atan2(out, y, x):
    r2 = x * x + y * y
    return x / r2, -y / r2


@elementwise(math.sinh)
def sinh(out, x):
    return math.cosh(x)


@elementwise(math.cosh)
def cosh(out, x):
    return math.sinh(x)


@elementwise(math.tanh)
def tanh(out, x):
    return 1.0 - out * out


@elementwise(math.asinh)
def asinh(out, x):
    return 1.0 / math.sqrt(x * x + 1.0)


@elementwise(math.acosh, regular={"x": 2.0}, steep=("x",))
def acosh(out, x):
    return 1.0 / math.sqrt((x - 1.0) * (x + 1.0))


@elementwise(math.atanh)
def atanh(out, x):
    return 1.0 / (1.0 - x * x)


@elementwise(math.degrees)
def degrees(out, x):
    return 180.0 / math.pi


@elementwise(math.radians)
def radians(out, x):
    return math.pi / 180.0


@elementwise(math.erf)
def erf(out, x):
    return 2.0 / math.sqrt(math.pi) * math.exp(-x * x)


@elementwise(math.erfc)
def erfc(out, x):
    return -2.0 / math.sqrt(math.pi) * math.exp(-x * x)


@elementwise(math.gamma)
def gamma(out, x):
    return out * digamma(x)


@elementwise(math.lgamma)
def lgamma(out, x):
    return digamma(x)


@elementwise(math.fabs)
def fabs(out, x):
    """The sign of x, and 0 at 0."""
    return math.copysign(float(x != 0), x)


@elementwise(math.copysign)
def copysign(out, x, y):
    """The product of both signs, and 0 where x is 0."""
    return math.copysign(float(x != 0), x) * math.copysign(1.0, y), None


@elementwise(math.fmod)
def fmod(out, x, y):
    """The quotient, rounded toward zero, is (x - out) / y up to rounding."""
    return 1.0, -round((x - out) / y)


@elementwise(math.remainder)
def remainder(out, x, y):
    """The quotient, rounded to nearest, is (x - out) / y up to rounding."""
    return 1.0, -round((x - out) / y)


@elementwise(math.ldexp)
def ldexp(out, x, i):
    return math.ldexp(1.0, i), None


@elementwise(math.nextafter)
def nextafter(out, x, y):
    return 1.0, None


if hasattr(math, "fma"):

    @elementwise(math.fma)
    def fma(out, x, y, z):
        return y, x, 1.0


@pullback(math.modf)
def pull_modf(out_bar, out, x):
    return out_bar[0]


@pushforward(math.modf)
def push_modf(out, x, x_dot):
    return x_dot, 0.0


@pullback(math.frexp)
def pull_frexp(out_bar, out, x):
    return math.ldexp(out_bar[0], -out[1])


@pushforward(math.frexp)
def push_frexp(out, x, x_dot):
    return math.ldexp(x_dot, -out[1]), None


@pullback(math.hypot)
def pull_hypot(out_bar, out, *coordinates):
    """Zero at the origin, like the norm."""
    scale = out_bar * (out != 0) / (out + (out == 0))
    return tuple(scale * x for x in coordinates)


@pushforward(math.hypot)
def push_hypot(out, *coordinates_and_tangents):
    n = len(coordinates_and_tangents) // 2
    x = coordinates_and_tangents[:n]
    x_dot = coordinates_and_tangents[n:]
    return weighted(x, x_dot, x) * (out != 0) / (out + (out == 0))


@pullback(math.dist)
def pull_dist(out_bar, out, p, q):
    """Zero where both points are the same, like the derivative of norm."""
    scale = out_bar * (out != 0) / (out + (out == 0))
    p_bar = [scale * (a - b) for a, b in zip(p, q, strict=True)]
    return like(p_bar, p), like([-part for part in p_bar], q)


@pushforward(math.dist)
def push_dist(out, p, q, p_dot, q_dot):
    d = [a - b for a, b in zip(p, q, strict=True)]
    moved = weighted(d, p_dot, p) - weighted(d, q_dot, q)
    return moved * (out != 0) / (out + (out == 0))


@pullback(math.fsum)
def pull_fsum(out_bar, out, seq):
    return like([out_bar] * len(seq), seq)


@pushforward(math.fsum)
def push_fsum(out, seq, seq_dot):
    return math.fsum(numbers(seq_dot, seq))


@pullback(math.prod)
def pull_prod(out_bar, out, iterable, start=None):
    first = 1 if start is None else start
    each = [out_bar * first * others for others in products_without(iterable)]
    return like(each, iterable), None if start is None else out_bar * math.prod(iterable)


@pushforward(math.prod)
def push_prod(out, iterable, start, iterable_dot, start_dot):
    out_dot = 0.0 if start_dot is None else start_dot * math.prod(iterable)
    if iterable_dot is None:
        return out_dot
    each = weighted(products_without(iterable), iterable_dot, iterable)
    return out_dot + (1 if start is None else start) * each


if hasattr(math, "sumprod"):

    @pullback(math.sumprod)
    def pull_sumprod(out_bar, out, p, q):
        return like([out_bar * b for b in q], p), like([out_bar * a for a in p], q)

    @pushforward(math.sumprod)
    def push_sumprod(out, p, q, p_dot, q_dot):
        return weighted(q, p_dot, p) + weighted(p, q_dot, q)


def taken_apart(out_bar, parts):
    """Return the cotangents of lists or tuples from the cotangent of their concatenation."""
    found, at = [], 0
    for part in parts:
        found.append(out_bar[at : at + len(part)])
        at = at + len(part)
    return found


@pullback(builtins.sum, linear=True)
def pull_sum(out_bar, out, iterable, start=0):
    if isinstance(start, list | tuple):
        bars = taken_apart(out_bar, [start, *iterable])
        return like(bars[1:], iterable), bars[0]
    start_bar = unbroadcast(out_bar, np.shape(start))
    if isinstance(iterable, np.ndarray):
        return np.broadcast_to(out_bar, iterable.shape), start_bar
    return like([unbroadcast(out_bar, np.shape(x)) + 0.0 for x in iterable], iterable), start_bar


@pushforward(builtins.sum)
def push_sum(out, iterable, start, iterable_dot, start_dot):
    if isinstance(start, list | tuple):
        dots = [None] * len(iterable) if iterable_dot is None else iterable_dot
        pairs = zip([start, *iterable], [start_dot, *dots], strict=True)
        return like([v_dot for x, x_dot in pairs for v_dot in items_or_zeros(x, x_dot)], start)
    if start_dot is None:
        return sum(numbers(iterable_dot, iterable)) + np.zeros_like(out)
    return sum(numbers(iterable_dot, iterable), start_dot) + np.zeros_like(out)


def items_or_zeros(x, x_dot):
    """Return the tangents of a sequence's items."""
    if x_dot is None:
        x_dot = [None] * len(x)
    return [np.zeros_like(v)[()] if d is None else d for v, d in zip(x, x_dot, strict=True)]


@pullback(builtins.max, masks=True, once="s2sad does not know how many numbers a tuple holds")
def pull_max(out_bar, out, x, *others):
    if len(others) != 1:
        return pull_extreme(out_bar, out, x, *others)
    (y,) = others
    x_bar = 0.0 if y > x else out_bar * (1.0 - 0.5 * (y == x))  # beside nan, x is the result
    y_bar = out_bar * (1.0 - 0.5 * (y == x)) if y >= x else 0.0
    return x_bar, y_bar


@pullback(builtins.min, masks=True, once="s2sad does not know how many numbers a tuple holds")
def pull_min(out_bar, out, x, *others):
    if len(others) != 1:
        return pull_extreme(out_bar, out, x, *others)
    (y,) = others
    x_bar = 0.0 if y < x else out_bar * (1.0 - 0.5 * (y == x))  # beside nan, x is the result
    y_bar = out_bar * (1.0 - 0.5 * (y == x)) if y <= x else 0.0
    return x_bar, y_bar


def pull_extreme(out_bar, out, *items):
    """Equal share among ties. One sequence, or two items and more."""
    if len(items) == 1:
        return (like(shared(out_bar, out, items[0]), items[0]),)
    return shared(out_bar, out, items)


def shared(out_bar, out, items):
    """Return what each item gets: nothing where it is not chosen, even of what is infinite."""
    return [out_bar * share if share else 0.0 for share in ties(out, items)]


def push_extreme(out, *items_and_tangents):
    """Equal share among ties. One sequence, or two items and more."""
    n = len(items_and_tangents) // 2
    items, items_dot = items_and_tangents[:n], items_and_tangents[n:]
    if n == 1:
        items, items_dot = items[0], items_dot[0]
    parts = numbers(items_dot, items)
    return sum([w * part for w, part in zip(ties(out, items), parts, strict=True)])


@pushforward(builtins.max)
def push_max(out, *items_and_tangents):
    if len(items_and_tangents) != 4:
        return push_extreme(out, *items_and_tangents)
    x, y, x_dot, y_dot = items_and_tangents
    if x_dot is None:
        x_dot = 0.0
    if y_dot is None:
        y_dot = 0.0
    return x_dot if x > y else y_dot if x < y else 0.5 * (x_dot + y_dot)


@pushforward(builtins.min)
def push_min(out, *items_and_tangents):
    if len(items_and_tangents) != 4:
        return push_extreme(out, *items_and_tangents)
    x, y, x_dot, y_dot = items_and_tangents
    if x_dot is None:
        x_dot = 0.0
    if y_dot is None:
        y_dot = 0.0
    return x_dot if x < y else y_dot if x > y else 0.5 * (x_dot + y_dot)


def places(iterable, key, reverse):
    """Return where in a sequence of numbers each item of the sorted list comes from."""
    keys = iterable if key is None else [key(x) for x in iterable]
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


@pullback(builtins.sorted, linear=True)
def pull_sorted(out_bar, out, iterable, *, key=None, reverse=False):
    parts = [0.0] * len(iterable)
    for part, place in zip(out_bar, places(iterable, key, reverse), strict=True):
        parts[place] = part
    return like(parts, iterable)


@pushforward(builtins.sorted)
def push_sorted(out, iterable, iterable_dot, *, key=None, reverse=False):
    tangents = numbers(iterable_dot, iterable)
    return [tangents[place] for place in places(iterable, key, reverse)]


nondifferentiable(math.floor, math.ceil, math.trunc, math.ulp)
nondifferentiable(math.isclose, math.isfinite, math.isinf, math.isnan)
nondifferentiable(math.comb, math.factorial, math.gcd, math.isqrt, math.lcm, math.perm)
