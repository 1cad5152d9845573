"""Functions of numbers, applied to each element of an array by itself."""

import math

import numpy as np

from s2sad.registry import Window, elementwise, nondifferentiable, pullback, pushforward
from s2sad.runtime import unbroadcast


def sinc_slope(x, out):
    """Return the derivative of sin(t) / t with t = pi * x; its Taylor series where it cancels."""
    t = np.pi * x
    s = t * t
    near = s * (1 / 840 - s * (1 / 45360 - s * (1 / 3991680 - s / 518918400)))
    near = -np.pi * t * (1 / 3 - s * (1 / 30) + s * near)
    far = (np.cos(t) - out) / (x + (x == 0))
    return np.where(np.abs(t) < 0.5, near, far)


# Coefficients of exp(-x) * i1(x) / x in Chebyshev polynomials of x / 4 - 1, the highest first, and
# of exp(-x) * sqrt(x) * i1(x) in those of 16 / x - 1, for x to 8 and beyond, as Cephes has them:
# S. L. Moshier, "Methods and programs for mathematical functions", 1989.
I1_NEAR = (
    2.7779141127610464e-18,
    -2.111421214358166e-17,
    1.5536319577362005e-16,
    -1.1055969477353862e-15,
    7.600684294735408e-15,
    -5.042185504727912e-14,
    3.223793365945575e-13,
    -1.9839743977649436e-12,
    1.1736186298890901e-11,
    -6.663489723502027e-11,
    3.625590281552117e-10,
    -1.8872497517228294e-09,
    9.381537386495773e-09,
    -4.445059128796328e-08,
    2.0032947535521353e-07,
    -8.568720264695455e-07,
    3.4702513081376785e-06,
    -1.3273163656039436e-05,
    4.781565107550054e-05,
    -0.00016176081582589674,
    0.0005122859561685758,
    -0.0015135724506312532,
    0.004156422944312888,
    -0.010564084894626197,
    0.024726449030626516,
    -0.05294598120809499,
    0.1026436586898471,
    -0.17641651835783406,
    0.25258718644363365,
)
I1_FAR = (
    -1.2421932751948906e-18,
    -9.314178867326875e-19,
    7.517296310842104e-18,
    4.414348323071708e-18,
    -4.650305368489358e-17,
    -3.209525921993424e-17,
    2.96262899764595e-16,
    3.3082023109209285e-16,
    -1.8803547755107825e-15,
    -3.8144030724370075e-15,
    1.0420276984128802e-14,
    4.272440016711951e-14,
    -2.1015418427726643e-14,
    -4.0835511110921974e-13,
    -7.198551776245908e-13,
    2.0356285441470896e-12,
    1.4125807436613782e-11,
    3.2526035830154884e-11,
    -1.8974958123505413e-11,
    -5.589743462196584e-10,
    -3.835380385964237e-09,
    -2.6314688468895196e-08,
    -2.512236237870209e-07,
    -3.882564808877691e-06,
    -0.00011058893876262371,
    -0.009761097491361469,
    0.7785762350182801,
)


def chebyshev_sum(t, coefficients):
    """Return half the sum of Chebyshev polynomials of t / 2, by Clenshaw's recurrence."""
    b0, b1, b2 = 0.0 * t, 0.0, 0.0
    for c in coefficients:
        b0, b1, b2 = t * b0 - b1 + c, b0, b1
    return 0.5 * (b0 - b2)


def bessel_i1(x):
    """Return the modified Bessel function of order 1, the derivative of np.i0."""
    a = np.abs(x)
    near = chebyshev_sum(np.minimum(a, 8.0) / 2.0 - 2.0, I1_NEAR) * a
    far = chebyshev_sum(32.0 / np.maximum(a, 8.0) - 2.0, I1_FAR) / np.sqrt(np.maximum(a, 8.0))
    return np.sign(x) * np.exp(a) * np.where(a <= 8.0, near, far)


# 1 / (2 4**k k! (k + 1)!), the power series of I1(x) / x in x * x: DLMF 10.25.2
I1_SERIES = tuple(0.5 / (4.0**k * math.factorial(k) * math.factorial(k + 1)) for k in range(11))


@elementwise(bessel_i1)
def i1(out, x):
    """DLMF 10.29.2; around 0 the quotient is a polynomial, which has derivatives of all orders."""
    square = np.where(np.abs(x) < 1.0, x * x, 0.0)
    quotient = 0.0
    for c in reversed(I1_SERIES):
        quotient = quotient * square + c
    near = np.abs(x) < 1.0
    return np.i0(x) - np.where(near, quotient, out / np.where(near, 1.0, x))


@elementwise(np.i0)
def i0(out, x):
    return bessel_i1(x)


@elementwise(np.exp)
def exp(out, x):
    return out


@elementwise(np.exp2)
def exp2(out, x):
    return out * math.log(2.0)


@elementwise(np.expm1)
def expm1(out, x):
    return out + 1.0


@elementwise(np.log, regular={"x": 1.0})
def log(out, x):
    return 1.0 / x


@elementwise(np.log2, regular={"x": 1.0})
def log2(out, x):
    return 1.0 / (x * math.log(2.0))


@elementwise(np.log10, regular={"x": 1.0})
def log10(out, x):
    return 1.0 / (x * math.log(10.0))


@elementwise(np.log1p, regular={"x": 0.0})
def log1p(out, x):
    return 1.0 / (x + 1.0)


@elementwise(np.sin)
def sin(out, x):
    return np.cos(x)


@elementwise(np.cos)
def cos(out, x):
    return -np.sin(x)


@elementwise(np.tan)
def tan(out, x):
    return 1.0 + out * out


def root_of_gap(x):
    """Return the root of 1 - x * x for complex x, with the cuts of np.arcsin.

    `1.0 - x * x` would lose the sign of a zero, which says on what side of a cut x is.
    """
    return np.sqrt(np.negative(x * x - 1.0))


@elementwise(np.arcsin, regular={"x": 0.0}, steep=("x",))
def arcsin(out, x):
    if np.iscomplexobj(x):
        return 1.0 / root_of_gap(x)
    return 1.0 / np.sqrt(1.0 - x * x)


@elementwise(np.arccos, regular={"x": 0.0}, steep=("x",))
def arccos(out, x):
    if np.iscomplexobj(x):
        return -1.0 / root_of_gap(x)
    return -1.0 / np.sqrt(1.0 - x * x)


@elementwise(np.arctan)
def arctan(out, x):
    return 1.0 / (1.0 + x * x)


@elementwise(np.arctan2, regular={"x": 1.0}, steep=("y", "x"))
def arctan2(out, y, x):
    r2 = x * x + y * y
    return x / r2, -y / r2


@elementwise(np.sinh)
def sinh(out, x):
    return np.cosh(x)


@elementwise(np.cosh)
def cosh(out, x):
    return np.sinh(x)


@elementwise(np.tanh)
def tanh(out, x):
    return 1.0 - out * out


@elementwise(np.arcsinh)
def arcsinh(out, x):
    return 1.0 / np.sqrt(x * x + 1.0)


@elementwise(np.arccosh, regular={"x": 2.0}, steep=("x",))
def arccosh(out, x):
    """Two roots, because sqrt(x * x - 1) is another branch for complex x."""
    return 1.0 / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0))


@elementwise(np.arctanh, regular={"x": 0.0})
def arctanh(out, x):
    return 1.0 / (1.0 - x * x)


@elementwise(np.hypot)
def hypot(out, x, y):
    """Zero at the origin, like the norm."""
    r = np.where(out == 0, np.inf, out)
    return x / r, y / r


@elementwise(np.deg2rad, np.radians)
def radians(out, x):
    return math.pi / 180.0


@elementwise(np.rad2deg, np.degrees)
def degrees(out, x):
    return 180.0 / math.pi


@elementwise(np.logaddexp)
def logaddexp(out, x, y):
    return np.exp(x - out), np.exp(y - out)


@elementwise(np.logaddexp2)
def logaddexp2(out, x, y):
    return np.exp2(x - out), np.exp2(y - out)


@elementwise(np.sinc)
def sinc(out, x):
    return sinc_slope(x, out)


def shares(out, x, y):
    """Return the shares of two complex numbers in the result, which is one of the two.

    NumPy orders them by their real parts, then by the imaginary parts.
    """
    both = np.where(np.equal(y, out), 0.5, 1.0).astype(np.real(out).dtype)
    return np.where(np.equal(x, out), both, 0.0), np.where(np.equal(x, out), 1.0 - both, 1.0)


@elementwise(np.maximum, masks=True)
def maximum(out, x, y):
    if np.iscomplexobj(out):
        return shares(out, x, y)
    return np.heaviside(x - y, 0.5), np.heaviside(y - x, 0.5)


@elementwise(np.minimum, masks=True)
def minimum(out, x, y):
    if np.iscomplexobj(out):
        return shares(out, x, y)
    return np.heaviside(y - x, 0.5), np.heaviside(x - y, 0.5)


@elementwise(np.fmax, masks=True)
def fmax(out, x, y):
    """Where one is nan the other is the result."""
    if np.iscomplexobj(out):
        return shares(out, x, y)
    x_share = np.where(np.isnan(y), 1.0, np.heaviside(x - y, 0.5))
    y_share = np.where(np.isnan(x), 1.0, np.heaviside(y - x, 0.5))
    return np.where(np.isnan(x), 0.0, x_share), np.where(np.isnan(y), 0.0, y_share)


@elementwise(np.fmin, masks=True)
def fmin(out, x, y):
    """Where one is nan the other is the result."""
    if np.iscomplexobj(out):
        return shares(out, x, y)
    x_share = np.where(np.isnan(y), 1.0, np.heaviside(y - x, 0.5))
    y_share = np.where(np.isnan(x), 1.0, np.heaviside(x - y, 0.5))
    return np.where(np.isnan(x), 0.0, x_share), np.where(np.isnan(y), 0.0, y_share)


@elementwise(np.clip, masks=True)
def clip(out, a, a_min=None, a_max=None):
    """One on the closed interval; where it is empty the result is a_max."""
    if a_min is None and a_max is None:
        return 1.0, None, None
    if a_max is None:
        return a >= a_min, a < a_min, None
    if a_min is None:
        return a <= a_max, None, a > a_max
    inside = (a >= a_min) & (a <= a_max)
    return inside, (a < a_min) & (a_min <= a_max), np.maximum(a, a_min) > a_max


@elementwise(np.copysign)
def copysign(out, x, y):
    return np.sign(x) * np.sign(out), None


@elementwise(np.ldexp)
def ldexp(out, x, i):
    return np.ldexp(np.ones(np.shape(x), out.dtype), i), None


@elementwise(np.nextafter)
def nextafter(out, x1, x2):
    return 1.0, None


@elementwise(np.heaviside)
def heaviside(out, x1, x2):
    return None, np.where(np.equal(x1, 0), 1.0, 0.0)


nondifferentiable(np.spacing)


@pullback(np.modf, linear=True)
def pull_modf(out_bar, out, x):
    """The whole part is constant."""
    return out_bar[0]


@pushforward(np.modf)
def push_modf(out, x, x_dot):
    return x_dot, np.zeros_like(out[1])


@pullback(np.frexp, linear=True)
def pull_frexp(out_bar, out, x):
    if out_bar[0] is None:
        return None
    return np.ldexp(out_bar[0], -out[1])


@pushforward(np.frexp)
def push_frexp(out, x, x_dot):
    return np.ldexp(x_dot, -out[1]), None


@pullback(np.where, masks=True)
def pull_where(out_bar, out, condition, x, y):
    return (
        None,
        unbroadcast(np.where(condition, out_bar, 0.0), np.shape(x)),
        unbroadcast(np.where(condition, 0.0, out_bar), np.shape(y)),
    )


@pushforward(np.where)
def push_where(out, condition, x, y, condition_dot, x_dot, y_dot):
    if y_dot is None:
        return np.where(condition, x_dot, np.zeros_like(out))
    if x_dot is None:
        return np.where(condition, np.zeros_like(out), y_dot)
    return np.where(condition, x_dot, y_dot)


@pullback(np.nan_to_num, masks=True)
def pull_nan_to_num(out_bar, out, x, *, nan=0.0, posinf=None, neginf=None):
    return np.where(np.isfinite(x), out_bar, 0.0)


@pushforward(np.nan_to_num)
def push_nan_to_num(out, x, x_dot, *, nan=0.0, posinf=None, neginf=None):
    return np.where(np.isfinite(x), x_dot, 0.0)


@pullback(np.real, view="always", window=Window())
def pull_real(out_bar, out, val):
    """The cotangent of a complex number is complex."""
    if np.iscomplexobj(val):
        return out_bar + 0.0j
    return out_bar


@pushforward(np.real)
def push_real(out, val, val_dot):
    return np.real(val_dot)


@pullback(np.imag, view="always")
def pull_imag(out_bar, out, val):
    """With the inner product Re(sum(bar * dot)), imag(z) is Re(-1j * z)."""
    if np.iscomplexobj(val):
        return -1.0j * out_bar
    return None


@pushforward(np.imag)
def push_imag(out, val, val_dot):
    return np.imag(val_dot)


@pullback(np.conjugate, once="of a complex number of Python's it makes one of NumPy's")
def pull_conjugate(out_bar, out, x):
    return np.conj(out_bar)


@pushforward(np.conjugate)
def push_conjugate(out, x, x_dot):
    return np.conj(x_dot)


@pullback(np.angle, regular={"z": 1.0}, steep=("z",))
def pull_angle(out_bar, out, z, *, deg=False):
    """The angle is the imaginary part of log(z); for real z it is a step."""
    if not np.iscomplexobj(z):
        return None
    if deg:
        out_bar = out_bar * (180.0 / math.pi)
    return -1.0j * out_bar / z


@pushforward(np.angle)
def push_angle(out, z, z_dot, *, deg=False):
    out_dot = np.imag(z_dot / z)
    if deg:
        out_dot = out_dot * (180.0 / math.pi)
    return out_dot


@pullback(
    np.real_if_close,
    view="maybe",
    linear=True,
    once="the content decides whether the result is complex",
)
def pull_real_if_close(out_bar, out, a, *, tol=100):
    return out_bar


@pushforward(np.real_if_close)
def push_real_if_close(out, a, a_dot, *, tol=100):
    return a_dot if np.iscomplexobj(out) else np.asarray(np.real(a_dot))
