"""Rules in whole programs: derived, loaded, run, and held against differences."""

import linecache
import math
import types

import numpy as np
import pytest

import s2sad
from s2sad.errors import MissingRuleError

RANDOM = np.random.default_rng(5)
A = RANDOM.normal(size=(3, 4))
NAMES = {
    "np": np,
    "math": math,
    "A": A,
    "B": RANDOM.normal(size=(4, 3)),
    "v": RANDOM.normal(size=4),
    "T": RANDOM.normal(size=(2, 3, 4)),
    "P": RANDOM.uniform(0.3, 2.0, size=(3, 4)),
    "M": A @ A.T + np.eye(3),
    "W": RANDOM.normal(size=(3, 4)),
    "mask": RANDOM.normal(size=(3, 4)) > 0,
    "p": RANDOM.uniform(0.2, 0.9, size=4),
}

# The argument, and an expression of it.
PROGRAMS = """
A: np.sum(x, axis=0)
A: np.sum(x, axis=1, where=mask, initial=2.0)
A: x.sum(axis=(1,), keepdims=True)
A: np.mean(x, axis=1, where=mask | True)
A: np.var(x, ddof=2, keepdims=True)
A: np.std(x, axis=1, ddof=1)
A: np.max(x, axis=0, initial=-9.0, where=mask)
A: np.min(x, axis=(0, 1))
A: np.amax(x) + np.amin(x, axis=0)
P: np.prod(x, axis=None, keepdims=True)
P: np.prod(x, where=mask, initial=3.0)
P: np.cumsum(x) + x.cumsum()
P: np.cumprod(x, axis=0)
A: np.dot(x, v) + x.dot(v)
A: np.inner(x, W)
v: np.vdot(x, v) * np.outer(x, x)
T: np.matmul(x, B)
T: np.einsum("ijk,kl->ijl", x, B, optimize=True)
M: np.einsum("ii->i", x)
T: np.tensordot(x, W, axes=([1, 2], [0, 1]))
T: np.trace(x, axis1=1, axis2=2, offset=1)
M: np.linalg.inv(x) + np.linalg.det(x)
M: np.linalg.slogdet(x)[1]
M: np.linalg.solve(x, A)
M: np.linalg.cholesky((x + x.T) / 2)
A: np.linalg.norm(x, axis=1)
A: np.linalg.norm(x, ord=2)
M: np.linalg.matrix_power(x, 3)
M: np.linalg.eigvalsh(x + x.T)
M: np.linalg.eigh(x + x.T)[0]
A: np.linalg.svdvals(x)
A: np.linalg.svd(x, full_matrices=False)[1]
A: np.linalg.pinv(x)
A: np.linalg.qr(x[:, :2])[1]
A: np.linalg.multi_dot([x, B, x])
A: np.linalg.outer(x[0], v) + np.linalg.vecdot(x, v)[0]
A: np.linalg.matmul(x, B) + np.linalg.tensordot(x, x, axes=2)
A: np.linalg.matrix_transpose(x) + np.matrix_transpose(x)
v: np.linalg.cross(x[:3], v[1:])
A: x[[0, 0, 2], [1, 1, 3]] + x[-1, ::3].sum()
A: x[mask]
A: x[range(2)]
A: np.reshape(x, (6, 2), order="F") + x.reshape(6, -1)
A: np.ravel(x, "F") + x.flatten()
T: np.transpose(x, (2, 0, 1)) + x.transpose(2, 0, 1)
T: np.swapaxes(x, 0, 1) + np.moveaxis(x, 1, 0) + np.rollaxis(x, 1)
v: np.expand_dims(x, (0, 2)) * 2
A: np.squeeze(x[:1], axis=0) + x[:1].squeeze()
v: np.broadcast_to(x, (3, 4))
A: np.concatenate([x, x * 2, W])
A: np.stack([x, x**2], axis=1)
A: np.vstack([x, v])
A: np.hstack([x, x])
A: np.dstack([x, W])
v: np.column_stack([x, v])
A: np.append(x, W, axis=0)
A: np.where(mask, x, 2 * x)
A: np.clip(x, -0.5, 0.5)
A: np.clip(x, min=-0.5) + x.clip(max=0.5)
A: np.maximum(x, v) + np.minimum(x, 0.1) + np.fmax(x, 0.2) + np.fmin(x, 0.3)
A: np.sort(x, axis=0)
v: np.partition(x, 2)[2]
A: np.flip(x, 0) + np.flipud(x) + np.fliplr(x)
A: np.rot90(x)
A: np.rot90(x, 2, axes=(1, 0))
A: np.roll(x, (1, 2), axis=(0, 1))
A: np.tile(x, (2, 1))
A: np.repeat(x, [1, 2, 0], axis=0)
A: np.pad(x, ((1, 0), (0, 2)), constant_values=3.0)
A: np.diff(x, n=2) + np.ediff1d(x[0])[1:]
v: np.diag(x) + np.diagflat(x)
M: np.diagonal(x, offset=1)
M: np.tril(x) + np.triu(x, 1)
v: np.array([[x[0], 1.0], [x[1], x[2]]])
A: np.asarray(x) + np.asanyarray(x) + np.ascontiguousarray(x) + np.asfortranarray(x)
v: np.linspace(x[0], x[1], 5)
p: np.geomspace(x[0], x[1], 5) + np.logspace(x[0], x[1], 5)
v: np.arange(x[0], x[0] + 2.5, 1.0)
v: np.full((2, 3), x[0]).sum() * np.full_like(A, x[1])
A: np.exp(x) + np.exp2(x) + np.expm1(x)
P: np.log(x) + np.log2(x) + np.log10(x) + np.log1p(x) + np.sqrt(x)
p: np.sin(x) + np.cos(x) * np.tan(x) + np.arcsin(x) + np.arccos(x) + np.arctan(x)
p: np.sinh(x) + np.cosh(x) + np.tanh(x) + np.arcsinh(x) + np.arctanh(x) + np.arccosh(x + 1)
A: np.arctan2(x, W) + np.hypot(x, W) + np.copysign(x, W)
P: np.power(x, W) + np.float_power(x, 2) + x**-1 + 2**x
A: np.square(x) + np.reciprocal(x) + np.cbrt(x) + np.fabs(x) + np.absolute(x)
A: np.logaddexp(x, W) + np.logaddexp2(x, 1.0) + np.sinc(x)
A: np.fmod(x, 0.7) + np.remainder(x, 0.7) + x % 0.9
A: np.divmod(x, 0.7)[1] + np.ldexp(x, 2)
A: np.add(x, W) + np.subtract(x, W) * np.multiply(x, W) + np.divide(x, 2.0)
A: np.negative(x) + np.positive(x) + np.deg2rad(x) + np.rad2deg(x)
A: np.degrees(x) + np.radians(x) + np.nan_to_num(x)
A: np.real(x) + np.imag(x) + np.conjugate(x) + np.real_if_close(x)
P: np.angle(x + 1j * x**2)
P: np.abs((x + 2j) ** 2) + (x * 1j).imag
A: np.copy(x) + x.copy() + np.astype(x, np.float64)
A: np.atleast_1d(x) + np.atleast_2d(x)
v: np.atleast_3d(x)
A: np.average(x, axis=1, weights=v**2)
A: np.median(x, axis=0)
A: np.percentile(x, 30, axis=1) + np.quantile(x, 0.6, axis=1)
A: np.ptp(x, axis=0)
A: np.nansum(x) + np.nanmean(x, axis=0) + np.nanmax(x) + np.nanmin(x, axis=0)
A: np.kron(x, np.eye(2))
A: np.split(x, 2, axis=1)[1] + np.hsplit(x, 2)[0]
A: np.array_split(x, 3, axis=1)[1].sum() + np.vsplit(x, 3)[1]
T: np.dsplit(x, 2)[1]
A: np.meshgrid(x[0], x[1])[0]
v: np.select([x > 0, x < -1], [x**2, x], default=0.0)
v: np.choose(np.array([0, 1, 1, 0]), [x, x**2])
v: np.compress([True, False, True, True], x) + np.extract(x != 0, x)[:3]
A: np.take(x, [0, 0, 3], axis=1) + x.take([1])
A: np.take_along_axis(x, np.argsort(x, axis=1), axis=1)
v: np.interp([0.3, 1.4], [0.0, 0.5, 1.0, 2.0], x)
v: np.convolve(x, [1.0, 2.0], mode="same") + np.correlate(x, [1.0, 2.0], mode="same")
v: np.cross(x[:3], v[1:])
v: np.trapezoid(x, dx=0.5)
v: np.vecdot(x, x)
p: math.sin(x[0]) + math.hypot(x[0], x[1]) + math.dist([x[0]], [x[1]]) + math.fsum(x)
v: math.prod([x[0], x[1], 2.0])
A: np.add.reduce(x, axis=1) + np.maximum.reduce(x, axis=1)
P: np.multiply.reduce(x, axis=0)
A: np.add.accumulate(x, axis=1)
v: np.multiply.outer(x, x)
A: np.float64(2) * x + np.float32(3.0) * x
""".strip().splitlines()


def weighted(y):
    """Sum with weights that tell the entries apart."""
    y = np.asarray(y)
    return np.sum(y * np.cos(np.arange(y.size) + 0.3).reshape(y.shape))


def program(number, expression):
    """Return a function of x, whose source can be found."""
    text = f"def f(x):\n    return weighted({expression})\n"
    file = f"<whole rule {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = types.ModuleType("whole")
    vars(module).update(NAMES, weighted=weighted)
    exec(compile(text, file, "exec"), vars(module))
    return module.f


@pytest.mark.parametrize("line", PROGRAMS)
def test_rule_in_a_program(line):
    variable, _, expression = line.partition(": ")
    f = program(PROGRAMS.index(line), expression)
    x = NAMES[variable]
    value, gradient = s2sad.value_and_grad(f)(x)
    assert value == f(x)
    assert gradient.shape == x.shape and gradient.dtype == x.dtype
    slopes = np.empty_like(x)
    for at in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[at] = 1e-6
        slopes[at] = (f(x + step) - f(x - step)) / 2e-6
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6)


def scalar_of_number(x, n):
    total = 0.0
    for i in range(n):
        total = total + np.sin(x * i).sum()
    return total


def test_a_method_of_a_scalar_that_numpy_made():
    gradient = s2sad.grad(scalar_of_number)(0.7, 3)
    assert gradient == pytest.approx(sum(i * math.cos(0.7 * i) for i in range(3)))


def test_no_rule():
    with pytest.raises(MissingRuleError):
        s2sad.grad(program(-1, "np.fromiter(x, float)"))(NAMES["v"])
