"""Series of several variables, which NumPy evaluates by a tuple of points: as Python."""

import numpy as np

from s2sad.registry import written_out


def of_variables(val, val2d, val3d, c, *pts):
    """Evaluate a series of up to three variables, as NumPy does: one after the other."""
    if len(pts) == 1:
        return val(pts[0], c)
    if len(pts) == 2:
        return val2d(pts[0], pts[1], c)
    if len(pts) == 3:
        return val3d(pts[0], pts[1], pts[2], c)
    raise NotImplementedError(
        "a series has a derivative for up to three variables, in a tuple, only"
    )


def polyvalnd(pts, c):
    val, val2d = np.polynomial.polynomial.polyval, np.polynomial.polynomial.polyval2d
    return of_variables(val, val2d, np.polynomial.polynomial.polyval3d, c, *pts)


def chebvalnd(pts, c):
    val, val2d = np.polynomial.chebyshev.chebval, np.polynomial.chebyshev.chebval2d
    return of_variables(val, val2d, np.polynomial.chebyshev.chebval3d, c, *pts)


def legvalnd(pts, c):
    val, val2d = np.polynomial.legendre.legval, np.polynomial.legendre.legval2d
    return of_variables(val, val2d, np.polynomial.legendre.legval3d, c, *pts)


def lagvalnd(pts, c):
    val, val2d = np.polynomial.laguerre.lagval, np.polynomial.laguerre.lagval2d
    return of_variables(val, val2d, np.polynomial.laguerre.lagval3d, c, *pts)


def hermvalnd(pts, c):
    val, val2d = np.polynomial.hermite.hermval, np.polynomial.hermite.hermval2d
    return of_variables(val, val2d, np.polynomial.hermite.hermval3d, c, *pts)


def hermevalnd(pts, c):
    val, val2d = np.polynomial.hermite_e.hermeval, np.polynomial.hermite_e.hermeval2d
    return of_variables(val, val2d, np.polynomial.hermite_e.hermeval3d, c, *pts)


for written, series in (
    (polyvalnd, np.polynomial.polynomial),
    (chebvalnd, np.polynomial.chebyshev),
    (legvalnd, np.polynomial.legendre),
    (lagvalnd, np.polynomial.laguerre),
    (hermvalnd, np.polynomial.hermite),
    (hermevalnd, np.polynomial.hermite_e),
):
    if hasattr(series, written.__name__):
        written_out(getattr(series, written.__name__))(written)
