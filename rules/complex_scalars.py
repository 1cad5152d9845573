"""The module cmath: holomorphic functions of one number, and polar coordinates."""

import cmath
import math

import numpy as np

from s2sad.registry import elementwise, nondifferentiable, pullback, pushforward


def root_of_gaps(x, y):
    """Return the root of 1 - z * z, z = x + 1j * y, with the cuts of cmath.asin.

    Sums would lose the sign of a zero, which says on what side of a cut z is.
    """
    return cmath.sqrt(complex(1.0 - x, -y)) * cmath.sqrt(complex(1.0 + x, y))


@elementwise(cmath.exp)
def exp(out, z):
    return out


@elementwise(cmath.log)
def log(out, z, base=None):
    if base is None:
        return 1.0 / z, None
    return 1.0 / (z * cmath.log(base)), -out / (base * cmath.log(base))


@elementwise(cmath.log10)
def log10(out, z):
    return 1.0 / (z * math.log(10.0))


@elementwise(cmath.sqrt, regular={"out": 1.0}, steep=("z",))
def sqrt(out, z):
    return 0.5 / out


@elementwise(cmath.sin)
def sin(out, z):
    return cmath.cos(z)


@elementwise(cmath.cos)
def cos(out, z):
    return -cmath.sin(z)


@elementwise(cmath.tan)
def tan(out, z):
    return 1.0 + out * out


@elementwise(cmath.asin, regular={"z": 0.0}, steep=("z",))
def asin(out, z):
    return 1.0 / root_of_gaps(z.real, z.imag)


@elementwise(cmath.acos, regular={"z": 0.0}, steep=("z",))
def acos(out, z):
    return -1.0 / root_of_gaps(z.real, z.imag)


@elementwise(cmath.atan)
def atan(out, z):
    return 1.0 / (1.0 + z * z)


@elementwise(cmath.sinh)
def sinh(out, z):
    return cmath.cosh(z)


@elementwise(cmath.cosh)
def cosh(out, z):
    return cmath.sinh(z)


@elementwise(cmath.tanh)
def tanh(out, z):
    return 1.0 - out * out


@elementwise(cmath.asinh)
def asinh(out, z):
    return 1.0 / cmath.cosh(out)


@elementwise(cmath.acosh, regular={"z": 2.0}, steep=("z",))
def acosh(out, z):
    return 1.0 / (cmath.sqrt(z - 1.0) * cmath.sqrt(z + 1.0))


@elementwise(cmath.atanh)
def atanh(out, z):
    return 1.0 / (1.0 - z * z)


@elementwise(cmath.rect)
def rect(out, r, phi):
    return cmath.exp(1j * phi), 1j * out


@pullback(cmath.phase, regular={"z": 1.0}, steep=("z",))
def pull_phase(out_bar, out, z):
    """The phase is the imaginary part of log(z); for real z it is a step."""
    if not np.iscomplexobj(z):
        return None
    return -1j * out_bar / z


@pushforward(cmath.phase)
def push_phase(out, z, z_dot):
    return (z_dot / z).imag


@pullback(cmath.polar, once="s2sad does not know the type of the cotangents of unused parts")
def pull_polar(out_bar, out, z):
    """The real part of log(z) is the log of the modulus, the imaginary part is the phase."""
    r_bar, phi_bar = out_bar
    if not np.iscomplexobj(z):
        return None if r_bar is None else math.copysign(1.0, z) * r_bar
    z_bar = 0j
    if r_bar is not None:
        z_bar = z_bar + r_bar * z.conjugate() / out[0]
    if phi_bar is not None:
        z_bar = z_bar - 1j * phi_bar / z
    return z_bar


@pushforward(cmath.polar)
def push_polar(out, z, z_dot):
    turned = z_dot / z
    return out[0] * turned.real, turned.imag


nondifferentiable(cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan)
