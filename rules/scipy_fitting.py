"""scipy.optimize: fits, whose parameters are where the gradient of a sum of squares is zero.

The implicit function theorem is applied to that gradient, so residuals count, too: a fit need not
be exact. The solvers run unchanged; in addition to the residuals, their rules receive half the sum
of squares, whose gradient they know.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from s2sad.registry import Outcome, pullback, pushforward, written_out
from s2sad.rules.scipy_optimize import at_solution, forward_at_solution


class Fit(NamedTuple):
    """What of the result of scipy.optimize.least_squares and lsq_linear has a derivative."""

    x: Any


class FitOutcome(Fit, Outcome):
    """The rest of it."""

    success = True
    message = ""
    status = nfev = njev = nit = 0
    advice = "Use 0.5 * np.sum(residuals(result.x) ** 2), which has the derivative of the cost."


# nonlinear


def fitted(cost, fun, x0, args, options):
    """Fit as least_squares does; it is looked up, as a call of it would be written out again."""
    return vars(optimize)["least_squares"](fun, x0, args=args, **options)


@pullback(
    fitted,
    calls={"cost": "grad(cost)(out.x)"},
    constant=("fun", "x0", "args", "options"),
    result=lambda cost, fun, x0, args, options: FitOutcome(np.ravel(np.asarray(x0, float))),
)
def pull_fitted(out_bar, out, cost, fun, x0, args, options):
    _, cost_bar = at_solution(out_bar[0], out.x, cost, ())
    return cost_bar, None, None, None, None


@pushforward(fitted)
def push_fitted(
    out, cost, fun, x0, args, options, cost_dot, fun_dot, x0_dot, args_dot, options_dot
):
    return (forward_at_solution(out.x, cost, (), cost_dot, None),)


@written_out(optimize.least_squares)
def least_squares(
    fun,
    x0,
    jac="2-point",
    *,
    method="trf",
    ftol=1e-8,
    xtol=1e-8,
    gtol=1e-8,
    max_nfev=None,
    verbose=0,
    args=(),
):
    def cost(x):
        r = np.asarray(fun(x, *args))
        return 0.5 * np.sum(r * r)

    options = {"jac": jac, "method": method, "ftol": ftol, "xtol": xtol, "gtol": gtol}
    return fitted(cost, fun, x0, args, {**options, "max_nfev": max_nfev, "verbose": verbose})


def fitted_curve(cost, f, xdata, ydata, p0, sigma, options):
    """Fit as curve_fit does."""
    whole = vars(optimize)["curve_fit"]
    given = {n: value for n, value in options.items() if value is not None}
    return whole(f, xdata, ydata, p0, sigma, **given)


@pullback(
    fitted_curve,
    calls={"cost": "grad(cost)(p0)"},
    constant=("f", "xdata", "ydata", "p0", "sigma", "options"),
    result=lambda cost, f, xdata, ydata, p0, *rest: (np.asarray(p0, float), np.outer(p0, p0)),
)
def pull_fitted_curve(out_bar, out, cost, f, xdata, ydata, p0, sigma, options):
    popt_bar, pcov_bar = out_bar
    if np.any(pcov_bar):
        raise NotImplementedError("curve_fit has no derivative of the covariances")
    _, cost_bar = at_solution(popt_bar, out[0], cost, ())
    return cost_bar, None, None, None, None, None, None


@pushforward(fitted_curve)
def push_fitted_curve(
    out,
    cost,
    f,
    xdata,
    ydata,
    p0,
    sigma,
    options,
    cost_dot,
    f_dot,
    xdata_dot,
    ydata_dot,
    p0_dot,
    sigma_dot,
    options_dot,
):
    """The covariances have no tangent: values that depend on them get nan."""
    return forward_at_solution(out[0], cost, (), cost_dot, None), np.full_like(out[1], np.nan)


@written_out(optimize.curve_fit)
def curve_fit(
    f,
    xdata,
    ydata,
    p0=None,
    sigma=None,
    absolute_sigma=False,
    *,
    method=None,
    jac=None,
    maxfev=None,
    ftol=None,
    xtol=None,
    gtol=None,
):
    if p0 is None:
        raise NotImplementedError("curve_fit has a derivative where p0 is given")

    def cost(p):
        r = f(xdata, *p) - ydata
        if sigma is not None:
            r = r / sigma
        return 0.5 * np.sum(r * r)

    options = {"absolute_sigma": absolute_sigma, "method": method, "jac": jac, "maxfev": maxfev}
    options = {**options, "ftol": ftol, "xtol": xtol, "gtol": gtol}
    start = np.asarray(p0, dtype=float)
    return fitted_curve(cost, f, xdata, ydata, start, sigma, options)


# linear


def inactive(x, A, b, free):
    """Return the columns of A for the free unknowns, which are not at their bounds, and b - A x.

    For the free unknowns A^T (b - A x) is zero: Golub and Pereyra, The Differentiation of
    Pseudo-Inverses and Nonlinear Least Squares Problems, 1973.
    """
    columns = A[:, free]
    if np.linalg.matrix_rank(columns) < columns.shape[1]:
        raise NotImplementedError(
            "there is a derivative where the columns of A are independent only"
        )
    return columns, b - A @ x


def linear_cotangents(x_bar, x, A, b, free):
    """Return the cotangents of A and b for unknowns; only some of the unknowns are free."""
    columns, rest = inactive(x, A, b, free)
    moved = np.zeros_like(x)
    moved[free] = np.linalg.solve(columns.T @ columns, x_bar[free])
    b_bar = A @ moved
    return np.outer(rest, moved) - np.outer(b_bar, x), b_bar


def linear_tangent(x, A, b, free, A_dot, b_dot):
    """Return the tangent of unknowns; only some of them are free."""
    columns, rest = inactive(x, A, b, free)
    right = np.zeros_like(x)
    if A_dot is not None:
        right = right + A_dot.T @ rest - A.T @ (A_dot @ x)
    if b_dot is not None:
        right = right + A.T @ b_dot
    x_dot = np.zeros_like(x)
    x_dot[free] = np.linalg.solve(columns.T @ columns, right[free])
    return x_dot


def tall(A, b, *rest):
    """Return a sample of equations that has a solution."""
    return np.eye(*A.shape), np.ones(A.shape[0]), *rest


@pullback(
    optimize.lsq_linear,
    samples=tall,
    result=lambda A, b, *rest, **settings: FitOutcome(np.zeros(A.shape[1])),
    once="only the run shows which unknowns are at their bounds",
)
def pull_lsq_linear(
    out_bar,
    out,
    A,
    b,
    *,
    bounds=(-np.inf, np.inf),
    method="trf",
    tol=1e-10,
    lsq_solver=None,
    max_iter=None,
    verbose=0,
):
    return linear_cotangents(out_bar[0], out.x, A, b, out.active_mask == 0)


@pushforward(optimize.lsq_linear)
def push_lsq_linear(
    out,
    A,
    b,
    A_dot,
    b_dot,
    *,
    bounds=(-np.inf, np.inf),
    method="trf",
    tol=1e-10,
    lsq_solver=None,
    max_iter=None,
    verbose=0,
):
    return (linear_tangent(out.x, A, b, out.active_mask == 0, A_dot, b_dot),)


@pullback(optimize.nnls, samples=tall, once="only the run shows which unknowns are at their bounds")
def pull_nnls(out_bar, out, A, b, *, maxiter=None):
    """What is left over moves along itself."""
    x, length = out
    A_bar, b_bar = linear_cotangents(out_bar[0], x, A, b, x > 0.0)
    rest = out_bar[1] * (b - A @ x) / (length if length > 0.0 else 1.0)
    return A_bar - np.outer(rest, x), b_bar + rest


@pushforward(optimize.nnls)
def push_nnls(out, A, b, A_dot, b_dot, *, maxiter=None):
    x, length = out
    rest = (b - A @ x) / (length if length > 0.0 else 1.0)
    length_dot = 0.0 if b_dot is None else rest @ b_dot
    if A_dot is not None:
        length_dot = length_dot - rest @ (A_dot @ x)
    return linear_tangent(x, A, b, x > 0.0, A_dot, b_dot), length_dot
