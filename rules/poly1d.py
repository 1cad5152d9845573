"""np.poly1d: polynomials that are objects, in the convention of np.polyval.

The cotangent of a polynomial is the cotangent of its coefficients, the highest power first.
"""

import numpy as np

from s2sad.registry import Kin, library_objects, pullback, pushforward
from s2sad.rules.polynomials import derived, from_end, powers


def like(p):
    """Return an array of the dtype of a polynomial, which has numbers for values."""
    return np.zeros((), np.result_type(p.coeffs, float))


def sample(cls, array):
    """Return a polynomial of a dtype."""
    return cls(np.ones(3, array.dtype))


def zero(p):
    """Return the cotangent of a polynomial that nothing depends on."""
    return np.zeros_like(p.coeffs, dtype=np.result_type(p.coeffs, float))


def coefficients_of(other):
    """Return the coefficients of a polynomial, or what stands for them."""
    return other.coeffs if isinstance(other, np.poly1d) else np.atleast_1d(other)


def belonging(bar, other):
    """Return a cotangent of what was given: a polynomial, or what stands for one."""
    shape = other.coeffs.shape if isinstance(other, np.poly1d) else np.shape(other)
    return np.reshape(from_end(bar, coefficients_of(other)), shape)


def evaluated(p, val):
    """Evaluate as the call of a polynomial does."""
    return p(val)


@pullback(evaluated)
def pull_evaluated(out_bar, out, p, val):
    basis = powers(val, p.coeffs.size, np.asarray(out).dtype)
    p_bar = np.tensordot(out_bar, basis, np.ndim(val))
    return p_bar, out_bar * np.polyval(derived(p.coeffs), val)


@pushforward(evaluated)
def push_evaluated(out, p, val, p_dot, val_dot):
    out_dot = np.zeros_like(out)
    if p_dot is not None:
        out_dot = out_dot + np.polyval(p_dot, val)
    return out_dot if val_dot is None else out_dot + np.polyval(derived(p.coeffs), val) * val_dot


def coefficients(p):
    """Return the coefficients, as the attribute does."""
    return p.coeffs


@pullback(coefficients)
def pull_coefficients(out_bar, out, p):
    return out_bar


@pushforward(coefficients)
def push_coefficients(out, p, p_dot):
    return p_dot


def derivative(p, m=1):
    """Differentiate as the method does."""
    return p.deriv(m)


def integral(p, m=1):
    """Integrate as the method does, from zero."""
    return p.integ(m)


CHANGES = [Kin(f, {"changed": f}) for f in (derivative, integral)]


@pullback(*CHANGES)
def pull_changed(out_bar, out, p, *, m=1, changed):
    """Linear in the coefficients: each stands for a polynomial of one term."""
    found = []
    for k in range(p.coeffs.size):
        coeffs = changed(np.poly1d(np.eye(p.coeffs.size)[k]), m).coeffs
        found.append(np.sum(from_end(coeffs, out_bar) * out_bar))
    return np.array(found, out_bar.dtype)


@pushforward(*CHANGES)
def push_changed(out, p, p_dot, *, m=1, changed):
    return from_end(changed(np.poly1d(p_dot), m).coeffs, out.coeffs)


def check_made(out):
    """Refuse what a NumPy number on the left makes: an array of the coefficients."""
    if not isinstance(out, np.poly1d):
        raise NotImplementedError("a NumPy number on the left makes an array of a poly1d")


def plus(left, right):
    """Add as `left + right` does."""
    return left + right


def minus(left, right):
    """Subtract as `left - right` does."""
    return left - right


@pullback(plus)
def pull_plus(out_bar, out, left, right):
    check_made(out)
    return belonging(out_bar, left), belonging(out_bar, right)


@pullback(minus)
def pull_minus(out_bar, out, left, right):
    check_made(out)
    return belonging(out_bar, left), belonging(-out_bar, right)


def sum_tangent(out, left_dot, right_dot, sign):
    """Return the tangent of the coefficients of a sum, or a difference."""
    check_made(out)
    out_dot = zero(out)
    if left_dot is not None:
        out_dot = out_dot + from_end(np.atleast_1d(left_dot), out.coeffs)
    if right_dot is not None:
        out_dot = out_dot + sign * from_end(np.atleast_1d(right_dot), out.coeffs)
    return out_dot


@pushforward(plus)
def push_plus(out, left, right, left_dot, right_dot):
    return sum_tangent(out, left_dot, right_dot, 1)


@pushforward(minus)
def push_minus(out, left, right, left_dot, right_dot):
    return sum_tangent(out, left_dot, right_dot, -1)


def times(left, right):
    """Multiply as `left * right` does."""
    return left * right


def factor_back(out_bar, factor, other):
    """Return the cotangent of one factor of a product."""
    bars = np.correlate(from_end(out_bar, np.zeros(factor.size + other.size - 1)), other)
    return bars.astype(out_bar.dtype)


@pullback(times)
def pull_times(out_bar, out, left, right):
    check_made(out)
    a, b = coefficients_of(left), coefficients_of(right)
    left_bar, right_bar = factor_back(out_bar, a, b), factor_back(out_bar, b, a)
    return belonging(left_bar, left), belonging(right_bar, right)


@pushforward(times)
def push_times(out, left, right, left_dot, right_dot):
    check_made(out)
    out_dot = zero(out)
    if left_dot is not None:
        moved = np.convolve(np.atleast_1d(left_dot), coefficients_of(right))
        out_dot = out_dot + from_end(moved, out.coeffs)
    if right_dot is not None:
        moved = np.convolve(coefficients_of(left), np.atleast_1d(right_dot))
        out_dot = out_dot + from_end(moved, out.coeffs)
    return out_dot


def over(left, right):
    """Divide as `left / right` does by a number."""
    if isinstance(right, np.poly1d):
        raise NotImplementedError(
            "there is a derivative of the quotient by a number; use np.polydiv"
        )
    return left / right


@pullback(over)
def pull_over(out_bar, out, left, right):
    return from_end(out_bar / right, left.coeffs), -np.sum(out_bar * out.coeffs) / right


@pushforward(over)
def push_over(out, left, right, left_dot, right_dot):
    out_dot = zero(out) if left_dot is None else from_end(left_dot, out.coeffs) / right
    return out_dot if right_dot is None else out_dot - out.coeffs * right_dot / right


library_objects(
    np.poly1d,
    like=like,
    sample=sample,
    zero=zero,
    functions={
        "__call__": evaluated,
        **dict.fromkeys((".c", ".coef", ".coeffs", ".coefficients"), coefficients),
        "deriv": derivative,
        "integ": integral,
        "Add": plus,
        "rAdd": plus,
        "Sub": minus,
        "rSub": minus,
        "Mult": times,
        "rMult": times,
        "Div": over,
    },
)


@pullback(np.poly1d, view="maybe")
def pull_poly1d(out_bar, out, c_or_r, *, r=False, variable=None):
    if r:
        raise NotImplementedError("poly1d: of its roots; write np.poly1d(np.poly(roots))")
    return np.reshape(from_end(out_bar, c_or_r), np.shape(c_or_r))


@pushforward(np.poly1d)
def push_poly1d(out, c_or_r, c_or_r_dot, *, r=False, variable=None):
    if r:
        raise NotImplementedError("poly1d: of its roots; write np.poly1d(np.poly(roots))")
    return from_end(np.atleast_1d(c_or_r_dot), out.coeffs)
