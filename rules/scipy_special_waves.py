"""scipy.special: Airy, Kelvin, Struve and spherical Bessel functions, also scaled or derived.

Formulas after DLMF chapters 7, 9, 10 and 11. The order of a function has no derivative.
"""

import numpy as np
from scipy import special

from s2sad.registry import Kin, elementwise, pullback, pushforward, refuse


def summed(bars, slopes, z):
    """Return the cotangent of an argument from the cotangents of several functions of it."""
    total = 0.0
    for bar, slope in zip(bars, slopes, strict=True):
        if bar is not None:
            total = total + bar * slope
    return total if np.iscomplexobj(z) else np.real(total)


def moved(slopes, z_dot):
    """Return the tangents of several functions of one argument."""
    return tuple(slope * z_dot for slope in slopes)


def airy_slopes(out, z):
    """Return the derivatives of Ai, Ai', Bi and Bi'."""
    return out[1], z * out[0], out[3], z * out[2]


@pullback(special.airy)
def pull_airy(out_bar, out, z):
    return summed(out_bar, airy_slopes(out, z), z)


@pushforward(special.airy)
def push_airy(out, z, z_dot):
    return moved(airy_slopes(out, z), z_dot)


def kelvin_slopes(out, x):
    """Return the derivatives of Be, Ke, Be' and Ke': w'' = i w - w' / x."""
    return out[2], out[3], 1j * out[0] - out[2] / x, 1j * out[1] - out[3] / x


@pullback(special.kelvin)
def pull_kelvin(out_bar, out, x):
    return summed(out_bar, kelvin_slopes(out, x), x)


@pushforward(special.kelvin)
def push_kelvin(out, x, x_dot):
    return moved(kelvin_slopes(out, x), x_dot)


def fresnel_slopes(z):
    """Return the derivatives of S and C."""
    angle = 0.5 * np.pi * z * z
    return np.sin(angle), np.cos(angle)


@pullback(special.fresnel)
def pull_fresnel(out_bar, out, z):
    return summed(out_bar, fresnel_slopes(z), z)


@pushforward(special.fresnel)
def push_fresnel(out, z, z_dot):
    return moved(fresnel_slopes(z), z_dot)


def quotient(value, x, at_zero):
    """Return value / x, and its limit at 0."""
    return np.where(x == 0, at_zero, value / np.where(x == 0, 1, x))


@pullback(special.sici)
def pull_sici(out_bar, out, x):
    return summed(out_bar, (quotient(np.sin(x), x, 1.0), np.cos(x) / x), x)


@pushforward(special.sici)
def push_sici(out, x, x_dot):
    return moved((quotient(np.sin(x), x, 1.0), np.cos(x) / x), x_dot)


@pullback(special.shichi)
def pull_shichi(out_bar, out, x):
    return summed(out_bar, (quotient(np.sinh(x), x, 1.0), np.cosh(x) / x), x)


@pushforward(special.shichi)
def push_shichi(out, x, x_dot):
    return moved((quotient(np.sinh(x), x, 1.0), np.cosh(x) / x), x_dot)


# the derivatives of Kelvin functions; docs/rules.md has the rules of those themselves


@elementwise(
    special.berp,
    regular={"out": 0.5, "x": 0.5},
    once="s2sad has no rule for a Kelvin function: docs/rules.md",
)
def berp(out, x):
    return -special.bei(x) - out / x


@elementwise(
    special.beip,
    regular={"out": 0.5, "x": 0.5},
    once="s2sad has no rule for a Kelvin function: docs/rules.md",
)
def beip(out, x):
    return special.ber(x) - out / x


@elementwise(
    special.kerp,
    regular={"out": 0.5, "x": 0.5},
    once="s2sad has no rule for a Kelvin function: docs/rules.md",
)
def kerp(out, x):
    return -special.kei(x) - out / x


@elementwise(
    special.keip,
    regular={"out": 0.5, "x": 0.5},
    once="s2sad has no rule for a Kelvin function: docs/rules.md",
)
def keip(out, x):
    return special.ker(x) - out / x


# Struve functions, scaled Bessel functions, and derivatives of Bessel functions

ORDERED = {"out": 0.5, "v": 0.5, "x": 0.5}
OF_WAVES = {"out": 0.5, "v": 0.5, "z": 0.5}


@elementwise(
    *(Kin(fn, {"own": fn}) for fn in (special.struve, special.modstruve)),
    unknown=("v",),
    regular=ORDERED,
)
def struve(out, v, x, *, own):
    return None, own(v - 1, x) - v / x * out


@elementwise(
    *(Kin(fn, {"own": fn}) for fn in (special.jve, special.yve)), unknown=("v",), regular=OF_WAVES
)
def scaled_bessel(out, v, z, *, own):
    if np.iscomplexobj(z):
        raise NotImplementedError(
            "there is a derivative of real numbers only: the scale is not analytic"
        )
    return None, 0.5 * (own(v - 1, z) - own(v + 1, z))


@elementwise(special.hankel1e, unknown=("v",), regular=OF_WAVES)
def hankel1e(out, v, z):
    return None, 0.5 * (special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) - 1j * out


@elementwise(special.hankel2e, unknown=("v",), regular=OF_WAVES)
def hankel2e(out, v, z):
    return None, 0.5 * (special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) + 1j * out


DERIVED = [
    Kin(fn, {"own": fn})
    for fn in (special.jvp, special.yvp, special.ivp, special.kvp, special.h1vp, special.h2vp)
]


@pullback(*DERIVED, unknown=("v",))
def pull_derived(out_bar, out, v, z, *, n=1, own):
    return None, out_bar * own(v, z, n + 1)


@pushforward(*DERIVED)
def push_derived(out, v, z, v_dot, z_dot, *, n=1, own):
    return z_dot * own(v, z, n + 1)


def oscillating(n, z):
    """Return what w'' + 2 w' / z is of w, for the spherical functions that oscillate."""
    return n * (n + 1) / (z * z) - 1.0


def growing(n, z):
    """Return what w'' + 2 w' / z is of w, for those that grow or fall."""
    return n * (n + 1) / (z * z) + 1.0


BALLS = [
    *(
        Kin(fn, {"own": fn, "bend": oscillating})
        for fn in (special.spherical_jn, special.spherical_yn)
    ),
    *(Kin(fn, {"own": fn, "bend": growing}) for fn in (special.spherical_in, special.spherical_kn)),
]


@pullback(*BALLS, unknown=("n",))
def pull_spherical(out_bar, out, n, z, *, derivative=False, own, bend):
    if not derivative:
        return None, out_bar * own(n, z, True)
    return None, out_bar * (bend(n, z) * own(n, z) - 2.0 / z * out)


@pushforward(*BALLS)
def push_spherical(out, n, z, n_dot, z_dot, *, derivative=False, own, bend):
    if not derivative:
        return z_dot * own(n, z, True)
    return z_dot * (bend(n, z) * own(n, z) - 2.0 / z * out)


refuse(
    special,
    "airye jnjnp_zeros itairy iti0k0 it2i0k0 itj0y0 it2j0y0 it2struve0 "
    "modfresnelm modfresnelp riccati_jn riccati_yn lmbda besselpoly pbdv pbvv pbwa pbdn_seq "
    "pbdv_seq pbvv_seq mathieu_a mathieu_b mathieu_cem mathieu_sem mathieu_modcem1 "
    "mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 mathieu_even_coef mathieu_odd_coef obl_ang1 "
    "obl_ang1_cv obl_cv obl_cv_seq obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv pro_ang1 pro_ang1_cv "
    "pro_cv pro_cv_seq pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv ellip_harm ellip_harm_2 "
    "ellip_normal",
    because="s2sad has no rule for it",
    instead="Use functions that have one, or write one with @s2sad.pullback.",
)
