"""Operators and the ufuncs behind them: plus, minus, times, powers and related ones."""

import builtins
import operator

import numpy as np

from s2sad.registry import elementwise, nondifferentiable, pullback, pushforward
from s2sad.runtime import log_of_base, unbroadcast


@elementwise(operator.add, np.add)
def add(out, x, y):
    return 1.0, 1.0


@elementwise(operator.sub, np.subtract)
def subtract(out, x, y):
    return 1.0, -1.0


@elementwise(operator.mul, np.multiply)
def multiply(out, x, y):
    return y, x


@elementwise(operator.truediv, np.true_divide, regular={"out": 1.0, "y": 1.0})
def true_divide(out, x, y):
    return 1.0 / y, -out / y


@elementwise(operator.neg, np.negative)
def negative(out, x):
    return -1.0


@elementwise(operator.pos, np.positive, builtins.float, np.float16, np.float32, np.float64)
@elementwise(np.complex64, np.complex128)
def positive(out, x):
    return 1.0


@elementwise(builtins.complex)
def complex_number(out, x, y=None):
    """x + 1j * y; the combination with a cotangent takes the real part for real x and y."""
    return 1.0, 1.0j


@elementwise(builtins.abs, operator.abs, np.absolute)
def absolute(out, x):
    """Zero at zero. For complex x it is the derivative of sqrt(x * conj(x))."""
    if np.iscomplexobj(x):
        return np.conj(x) / np.where(out == 0, np.inf, out)
    return np.sign(x)


@elementwise(np.fabs)
def fabs(out, x):
    return np.sign(x)


@elementwise(
    *(operator.pow, builtins.pow, np.power, np.float_power),
    regular={"out": 1.0, "x": 1.0},
    steep=("x",),
)
def power(out, x, y):
    """At x = 0 the derivative of x**0 is 0, not 0 * inf: the base is replaced by 1 there."""
    return y * (x + (x == 0) * (y == 0)) ** (y - 1), out * log_of_base(x)


@elementwise(np.square)
def square(out, x):
    return 2.0 * x


@elementwise(np.sqrt, regular={"out": 1.0}, steep=("x",))
def sqrt(out, x):
    return 0.5 / out


@elementwise(np.cbrt, regular={"out": 1.0}, steep=("x",))
def cbrt(out, x):
    return 1.0 / (3.0 * out * out)


@elementwise(np.reciprocal, regular={"out": 1.0})
def reciprocal(out, x):
    return -out * out


@elementwise(operator.mod, np.remainder, regular={"y": 1.0})
def mod(out, x, y):
    return 1.0, -(x // y)


@elementwise(np.fmod, regular={"out": 0.0, "y": 1.0})
def fmod(out, x, y):
    """The quotient, rounded toward zero, is (x - out) / y up to rounding."""
    return 1.0, -np.rint((x - out) / y)


@pullback(builtins.divmod, np.divmod, linear=True)
def pull_divmod(out_bar, out, x, y):
    r_bar = out_bar[1]
    if r_bar is None:
        return None, None
    return unbroadcast(r_bar, np.shape(x)), unbroadcast(-r_bar * out[0], np.shape(y))


@pushforward(builtins.divmod, np.divmod)
def push_divmod(out, x, y, x_dot, y_dot):
    if y_dot is None:
        return np.zeros_like(out[0]), x_dot + np.zeros_like(out[1])
    if x_dot is None:
        return np.zeros_like(out[0]), -out[0] * y_dot
    return np.zeros_like(out[0]), x_dot - out[0] * y_dot


nondifferentiable(builtins.bool, builtins.int, builtins.len, builtins.range, builtins.round)
nondifferentiable(builtins.callable, builtins.id, builtins.isinstance, builtins.type)
nondifferentiable(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
nondifferentiable(operator.is_, operator.is_not, operator.contains, operator.not_, operator.truth)
nondifferentiable(operator.and_, operator.or_, operator.xor, operator.invert, operator.index)
nondifferentiable(operator.floordiv, operator.lshift, operator.rshift)

nondifferentiable(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
nondifferentiable(np.logical_and, np.logical_or, np.logical_xor, np.logical_not)
nondifferentiable(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.bitwise_count)
nondifferentiable(np.left_shift, np.right_shift, np.gcd, np.lcm)
nondifferentiable(np.isnan, np.isinf, np.isfinite, np.isposinf, np.isneginf, np.signbit, np.isnat)
nondifferentiable(np.isreal, np.iscomplex, np.isrealobj, np.iscomplexobj, np.isscalar)
nondifferentiable(np.isclose, np.allclose, np.array_equal, np.array_equiv)
nondifferentiable(np.floor, np.ceil, np.trunc, np.rint, np.round, np.around, np.fix)
nondifferentiable(np.floor_divide)


@pullback(np.sign, of_complex=True)
def pull_sign(out_bar, out, x):
    """For complex z the sign is z / |z|, which turns with z; it is zero where z is zero."""
    if not np.iscomplexobj(x):
        return None
    r = np.abs(x)
    return (out_bar - np.conj(out) * np.real(out_bar * out)) / (r + (r == 0)) * (r != 0)


@pushforward(np.sign)
def push_sign(out, x, x_dot):
    if not np.iscomplexobj(x):
        return np.zeros_like(out)
    r = np.abs(x)
    return (x_dot - out * np.real(np.conj(out) * x_dot)) / (r + (r == 0)) * (r != 0)


@pullback(np.add.outer)
def pull_add_outer(out_bar, out, A, B):
    rows = tuple(range(np.ndim(A)))
    columns = tuple(range(np.ndim(A), np.ndim(out_bar)))
    return np.sum(out_bar, axis=columns), np.sum(out_bar, axis=rows)


@pushforward(np.add.outer)
def push_add_outer(out, A, B, A_dot, B_dot):
    A_dot = np.zeros_like(A) if A_dot is None else A_dot
    return np.add.outer(A_dot, np.zeros_like(B) if B_dot is None else B_dot)


@pullback(np.subtract.outer, linear=True)
def pull_subtract_outer(out_bar, out, A, B):
    rows = tuple(range(np.ndim(A)))
    columns = tuple(range(np.ndim(A), np.ndim(out_bar)))
    return np.sum(out_bar, axis=columns), -np.sum(out_bar, axis=rows)


@pushforward(np.subtract.outer)
def push_subtract_outer(out, A, B, A_dot, B_dot):
    A_dot = np.zeros_like(A) if A_dot is None else A_dot
    return np.subtract.outer(A_dot, np.zeros_like(B) if B_dot is None else B_dot)


for method in ("accumulate", "outer", "reduce"):
    for fn in (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal):
        nondifferentiable(getattr(fn, method))
    for fn in (np.logical_and, np.logical_or, np.logical_xor):
        nondifferentiable(getattr(fn, method))
