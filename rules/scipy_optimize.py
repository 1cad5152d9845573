"""scipy.optimize: solutions of equations, by the implicit function theorem.

Where F(x, theta) = 0, the cotangent of theta is -(dF/dtheta)^T (dF/dx)^-T x_bar, and the tangent of
x is -(dF/dx)^-1 (dF/dtheta) theta_dot: Blondel et al., Efficient and Modular Implicit
Differentiation, 2022 (arXiv:2105.15183). The Jacobian dF/dx is made row by row, by the pullback of
F at the solution. The start of the search and the limits of a bracket do not matter there: the
derivative with respect to them is zero.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from s2sad.registry import Outcome, pullback, pushforward, refuse


class Root(NamedTuple):
    """What of the result of scipy.optimize.root has a derivative."""

    x: Any


class RootOutcome(Root, Outcome):
    """The rest of it."""

    success = True
    message = ""
    status = nfev = njev = nit = 0


class Minimum(NamedTuple):
    """What of the result of scipy.optimize.minimize and minimize_scalar has a derivative."""

    x: Any
    fun: Any


class MinimumOutcome(Minimum, Outcome):
    """The rest of it."""

    advice = "Compute it from `result.x`, which has a derivative."
    success = True
    message = ""
    status = nfev = njev = nhev = nit = 0


class ScalarRoot(NamedTuple):
    """What of the result of scipy.optimize.root_scalar has a derivative."""

    root: Any


class ScalarRootOutcome(ScalarRoot, Outcome):
    """The rest of it."""

    converged = True
    flag = method = ""
    iterations = function_calls = 0


def solved(jacobian, right):
    """Solve for what moves at a solution; refuse a Jacobian that is singular as far as one sees.

    What it is measured in does not matter: rows and columns are scaled before.
    """
    rows = np.max(np.abs(jacobian), axis=1, keepdims=True)
    scaled = jacobian / np.where(rows == 0.0, 1.0, rows)
    columns = np.max(np.abs(scaled), axis=0, keepdims=True)
    scaled = scaled / np.where(columns == 0.0, 1.0, columns)
    if np.linalg.cond(scaled) > 1e12:
        raise ValueError(
            "the Jacobian at the solution is singular to machine precision: the solution is not "
            "unique there, and has no derivative"
        )
    return np.linalg.solve(jacobian, right)


def at_solution(x_bar, x, vjp, args, minus_x=False, free=None):
    """Return the cotangents of args, and of what a function captures that is zero at x.

    With `minus_x` it is x there. Unknowns that are not `free` stay as they are.
    """
    args = args if isinstance(args, tuple) else (args,)
    value, pull = vjp(x, *args)
    value_bar = adjoint(x_bar, x, value, pull, minus_x, free)
    _, *args_bar, captured_bar = pull(value_bar)
    return tuple(args_bar), captured_bar


def adjoint(x_bar, x, value, pull, minus_x, free):
    """Return the cotangent of the value that is zero at x, from the cotangent of x."""
    if np.iscomplexobj(x):
        raise NotImplementedError("there is a derivative of real solutions only")
    size = np.size(x)
    if np.size(value) != size:
        raise NotImplementedError(
            "there is a derivative where there are as many equations as unknowns"
        )
    rows = [np.ravel(pull(shaped_as(value, row))[0]) for row in np.eye(np.size(value))]
    jacobian = np.reshape(rows, (np.size(value), size)) - minus_x * np.eye(size)
    free = np.ones(size, bool) if free is None else free
    value_bar = np.zeros(size)
    value_bar[free] = solved(jacobian[np.ix_(free, free)].T, -np.ravel(x_bar)[free])
    return shaped_as(value, value_bar)


def at_minimum(out_bar, x, vjp, args, free=None):
    """Return the cotangents of args, and of the variables that a function captures, at a minimum.

    For the value, only its direct dependence on them counts: its slope by x is zero, or x stays at
    a bound.
    """
    x_bar, fun_bar = out_bar
    args = args if isinstance(args, tuple) else (args,)
    (_, slope), pull = vjp(x, *args)
    slope_bar = shaped_as(slope, np.zeros(np.size(x)))
    if x_bar is not None and np.any(x_bar):
        slope_bar = adjoint(x_bar, x, slope, lambda bar: pull((0.0, bar)), False, free)
    _, *args_bar, captured_bar = pull((0.0 if fun_bar is None else fun_bar, slope_bar))
    return tuple(args_bar), captured_bar


def forward_at_solution(x, vjp, args, vjp_dot, args_dot, minus_x=False, free=None):
    """Return the tangent of x, where a function of x and args is zero, or with `minus_x` it is x.

    `vjp_dot` are the tangents of what the function captures. Unknowns that are not `free` stay.
    """
    if np.iscomplexobj(x):
        raise NotImplementedError("there is a derivative of real solutions only")
    args, args_dot = all_of(args, args_dot)
    value, pull = vjp(x, *args)
    size = np.size(x)
    if np.size(value) != size:
        raise NotImplementedError(
            "there is a derivative where there are as many equations as unknowns"
        )
    rows, moved = [], []
    for row in np.eye(size):
        x_bar, *args_bar, captured_bar = pull(shaped_as(value, row))
        rows.append(np.ravel(x_bar))
        moved.append(inner_product(args_bar, args_dot) + inner_product(captured_bar, vjp_dot))
    jacobian = np.reshape(rows, (size, size)) - minus_x * np.eye(size)
    free = np.ones(size, bool) if free is None else free
    x_dot = np.zeros(size)
    x_dot[free] = solved(jacobian[np.ix_(free, free)], -np.array(moved)[free])
    return np.reshape(x_dot, np.shape(x)) if isinstance(x, np.ndarray) else float(x_dot[0])


def slope_alone(vjp):
    """Return of a function that gives a value and its slope the one that gives the slope."""

    def alone(x, *args):
        (_, slope), pull = vjp(x, *args)
        return slope, lambda slope_bar: pull((0.0, slope_bar))

    return alone


def forward_at_minimum(x, vjp, args, vjp_dot, args_dot, free=None):
    """Return the tangents of x, where a function of x and args is least, and of the value there."""
    x_dot = forward_at_solution(x, slope_alone(vjp), args, vjp_dot, args_dot, free=free)
    args, args_dot = all_of(args, args_dot)
    (_, slope), pull = vjp(x, *args)
    _, *args_bar, captured_bar = pull((1.0, shaped_as(slope, np.zeros(np.size(x)))))
    return x_dot, inner_product(args_bar, args_dot) + inner_product(captured_bar, vjp_dot)


def within(x, bounds, method):
    """Return which unknowns are not at their bounds, None where there are none."""
    if bounds is None:
        return None
    if method == "trust-constr":
        raise NotImplementedError("minimize: with trust-constr nothing is at its bounds exactly")
    if hasattr(bounds, "lb"):
        low, high = bounds.lb, bounds.ub
    else:
        low = [-np.inf if one is None else one for one, _ in bounds]
        high = [np.inf if one is None else one for _, one in bounds]
    return np.ravel((x > np.asarray(low)) & (x < np.asarray(high)))


def all_of(args, args_dot):
    """Return further arguments and their tangents in tuples; there may be none, or a single one."""
    if isinstance(args, tuple):
        return args, args_dot
    return ((), None) if args is None else ((args,), (args_dot,))


def inner_product(bar, dot):
    """Return the inner product of a cotangent and a tangent of any structure."""
    if bar is None or dot is None:
        return 0.0
    if isinstance(bar, dict):
        return sum(inner_product(part, dot[key]) for key, part in bar.items())
    if isinstance(bar, tuple | list):
        return sum(map(inner_product, bar, dot))
    if hasattr(bar, "__dict__"):
        return sum(inner_product(part, getattr(dot, n)) for n, part in vars(bar).items())
    return float(np.real(np.sum(bar * dot)))


def shaped_as(value, numbers):
    """Return a vector in the structure of a function's value: an array, a list or a number."""
    if isinstance(value, list | tuple):
        return type(value)(numbers.tolist())
    return np.reshape(numbers, np.shape(value)) if np.ndim(value) else float(numbers[0])


def one_for(args, args_bar):
    """Return the cotangent of args, which may be one argument by itself."""
    return args_bar if isinstance(args, tuple) else args_bar[0]


def check_values_only(derivative):
    """Refuse a function that returns its derivative, too."""
    if derivative is True:
        raise NotImplementedError("a function that returns its value only has a derivative here")


def in_double(x0):
    """Return an array of floats like the start, which is in double precision."""
    if np.asarray(x0).dtype in (np.float16, np.float32, np.complex64):
        raise ValueError("the precision of what is found depends on the function")
    return np.asarray(x0, dtype=float)


def found_root(fun, x0, args=(), *, method="hybr", **settings):
    x = in_double(x0)
    if not method:
        raise ValueError("the method decides which type the result has")
    return RootOutcome(np.ravel(x) if method in ("hybr", "lm") else x)


def found_scalar_root(f, args=(), *, method=None, bracket=None, **settings):
    if method == "":
        raise ValueError("the method decides which type the result has")
    within = bracket is not None if method is None else method in BRACKETED
    return ScalarRootOutcome(0.5 if within else np.float64(0.5))


BRACKETED = ("bisect", "brentq", "brenth", "ridder")


@pullback(
    optimize.root,
    calls={"fun": "fun(out.x, *args)"},
    constant=("x0",),
    result=found_root,
)
def pull_root(
    out_bar,
    out,
    fun,
    x0,
    args=(),
    *,
    method="hybr",
    jac=None,
    tol=None,
    callback=None,
    options=None,
):
    check_values_only(jac)
    args_bar, fun_bar = at_solution(out_bar[0], out.x, fun, args)
    return fun_bar, None, one_for(args, args_bar)


@pushforward(optimize.root)
def push_root(
    out,
    fun,
    x0,
    args,
    fun_dot,
    x0_dot,
    args_dot,
    *,
    method="hybr",
    jac=None,
    tol=None,
    callback=None,
    options=None,
):
    check_values_only(jac)
    return (forward_at_solution(out.x, fun, args, fun_dot, args_dot),)


@pullback(
    optimize.fsolve,
    calls={"func": "func(out, *args)"},
    constant=("x0",),
    result=lambda func, x0, args=(), **settings: np.ravel(np.asarray(x0, dtype=float)),
)
def pull_fsolve(
    out_bar,
    out,
    func,
    x0,
    args=(),
    *,
    fprime=None,
    col_deriv=0,
    xtol=1.49012e-08,
    maxfev=0,
    band=None,
    epsfcn=None,
    factor=100,
    diag=None,
):
    args_bar, func_bar = at_solution(out_bar, out, func, args)
    return func_bar, None, one_for(args, args_bar)


@pushforward(optimize.fsolve)
def push_fsolve(
    out,
    func,
    x0,
    args,
    func_dot,
    x0_dot,
    args_dot,
    *,
    fprime=None,
    col_deriv=0,
    xtol=1.49012e-08,
    maxfev=0,
    band=None,
    epsfcn=None,
    factor=100,
    diag=None,
):
    return forward_at_solution(out, func, args, func_dot, args_dot)


@pullback(
    optimize.fixed_point,
    calls={"func": "func(out, *args)"},
    constant=("x0",),
    result=lambda func, x0, args=(), **settings: in_double(x0),
)
def pull_fixed_point(out_bar, out, func, x0, args=(), *, xtol=1e-8, maxiter=500, method="del2"):
    args_bar, func_bar = at_solution(out_bar, out, func, args, minus_x=True)
    return func_bar, None, one_for(args, args_bar)


@pushforward(optimize.fixed_point)
def push_fixed_point(
    out, func, x0, args, func_dot, x0_dot, args_dot, *, xtol=1e-8, maxiter=500, method="del2"
):
    return forward_at_solution(out, func, args, func_dot, args_dot, minus_x=True)


@pullback(
    optimize.newton,
    calls={"func": "func(out, *args)"},
    constant=("x0", "x1"),
    result=lambda func, x0, fprime=None, args=(), **settings: in_double(x0)[()],
)
def pull_newton(
    out_bar,
    out,
    func,
    x0,
    args=(),
    *,
    fprime=None,
    tol=1.48e-8,
    maxiter=50,
    fprime2=None,
    x1=None,
    rtol=0.0,
    disp=True,
):
    args_bar, func_bar = at_solution(out_bar, out, func, args)
    return func_bar, None, one_for(args, args_bar)


@pushforward(optimize.newton)
def push_newton(
    out,
    func,
    x0,
    args,
    func_dot,
    x0_dot,
    args_dot,
    *,
    fprime=None,
    tol=1.48e-8,
    maxiter=50,
    fprime2=None,
    x1=None,
    rtol=0.0,
    disp=True,
):
    return forward_at_solution(out, func, args, func_dot, args_dot)


@pullback(
    optimize.bisect,
    optimize.brenth,
    optimize.brentq,
    optimize.ridder,
    calls={"f": "f(out, *args)"},
    constant=("a", "b"),
    result=lambda f, a, b, args=(), **settings: 0.5,
)
def pull_bracketed(
    out_bar, out, f, a, b, args=(), *, xtol=2e-12, rtol=8.9e-16, maxiter=100, disp=True
):
    args_bar, f_bar = at_solution(out_bar, out, f, args)
    return f_bar, None, None, one_for(args, args_bar)


@pushforward(optimize.bisect, optimize.brenth, optimize.brentq, optimize.ridder)
def push_bracketed(
    out,
    f,
    a,
    b,
    args,
    f_dot,
    a_dot,
    b_dot,
    args_dot,
    *,
    xtol=2e-12,
    rtol=8.9e-16,
    maxiter=100,
    disp=True,
):
    return forward_at_solution(out, f, args, f_dot, args_dot)


@pullback(
    optimize.toms748,
    calls={"f": "f(out, *args)"},
    constant=("a", "b"),
    result=lambda f, a, b, args=(), **settings: 0.5,
)
def pull_toms748(
    out_bar, out, f, a, b, args=(), *, k=1, xtol=2e-12, rtol=8.9e-16, maxiter=100, disp=True
):
    args_bar, f_bar = at_solution(out_bar, out, f, args)
    return f_bar, None, None, one_for(args, args_bar)


@pushforward(optimize.toms748)
def push_toms748(
    out,
    f,
    a,
    b,
    args,
    f_dot,
    a_dot,
    b_dot,
    args_dot,
    *,
    k=1,
    xtol=2e-12,
    rtol=8.9e-16,
    maxiter=100,
    disp=True,
):
    return forward_at_solution(out, f, args, f_dot, args_dot)


@pullback(
    optimize.root_scalar,
    calls={"f": "f(out.root, *args)"},
    constant=("x0", "x1", "bracket"),
    result=found_scalar_root,
)
def pull_root_scalar(
    out_bar,
    out,
    f,
    args=(),
    *,
    method=None,
    bracket=None,
    fprime=None,
    fprime2=None,
    x0=None,
    x1=None,
    xtol=None,
    rtol=None,
    maxiter=None,
    options=None,
):
    check_values_only(fprime)
    args_bar, f_bar = at_solution(out_bar[0], out.root, f, args)
    return f_bar, one_for(args, args_bar)


@pushforward(optimize.root_scalar)
def push_root_scalar(
    out,
    f,
    args,
    f_dot,
    args_dot,
    *,
    method=None,
    bracket=None,
    fprime=None,
    fprime2=None,
    x0=None,
    x1=None,
    xtol=None,
    rtol=None,
    maxiter=None,
    options=None,
):
    check_values_only(fprime)
    return (forward_at_solution(out.root, f, args, f_dot, args_dot),)


@pullback(
    optimize.anderson,
    optimize.broyden1,
    optimize.broyden2,
    optimize.diagbroyden,
    optimize.excitingmixing,
    optimize.linearmixing,
    optimize.newton_krylov,
    calls={"F": "F(out)"},
    constant=("xin",),
    result=lambda F, xin, **settings: in_double(xin),
)
def pull_nonlinear_solver(
    out_bar,
    out,
    F,
    xin,
    *,
    iter=None,
    alpha=None,
    alphamax=1.0,
    w0=0.01,
    M=5,
    reduction_method="restart",
    max_rank=None,
    rdiff=None,
    method="lgmres",
    inner_maxiter=20,
    inner_M=None,
    outer_k=10,
    verbose=False,
    maxiter=None,
    f_tol=None,
    f_rtol=None,
    x_tol=None,
    x_rtol=None,
    tol_norm=None,
    line_search="armijo",
    callback=None,
):
    _, F_bar = at_solution(out_bar, out, F, ())
    return F_bar, None


@pushforward(
    optimize.anderson,
    optimize.broyden1,
    optimize.broyden2,
    optimize.diagbroyden,
    optimize.excitingmixing,
    optimize.linearmixing,
    optimize.newton_krylov,
)
def push_nonlinear_solver(
    out,
    F,
    xin,
    F_dot,
    xin_dot,
    *,
    iter=None,
    alpha=None,
    alphamax=1.0,
    w0=0.01,
    M=5,
    reduction_method="restart",
    max_rank=None,
    rdiff=None,
    method="lgmres",
    inner_maxiter=20,
    inner_M=None,
    outer_k=10,
    verbose=False,
    maxiter=None,
    f_tol=None,
    f_rtol=None,
    x_tol=None,
    x_rtol=None,
    tol_norm=None,
    line_search="armijo",
    callback=None,
):
    return forward_at_solution(out, F, (), F_dot, None)


@pullback(
    optimize.minimize,
    calls={"fun": "value_and_grad(fun)(out.x, *args)"},
    constant=("x0",),
    result=lambda fun, x0, args=(), **settings: MinimumOutcome(
        np.ravel(np.asarray(x0, float)), 0.5
    ),
)
def pull_minimize(
    out_bar,
    out,
    fun,
    x0,
    args=(),
    *,
    method=None,
    jac=None,
    hess=None,
    hessp=None,
    bounds=None,
    tol=None,
    callback=None,
    options=None,
):
    """Where the minimum is the gradient is zero, but for the unknowns that are at a bound."""
    check_values_only(jac)
    args_bar, fun_bar = at_minimum(out_bar, out.x, fun, args, within(out.x, bounds, method))
    return fun_bar, None, one_for(args, args_bar)


@pushforward(optimize.minimize)
def push_minimize(
    out,
    fun,
    x0,
    args,
    fun_dot,
    x0_dot,
    args_dot,
    *,
    method=None,
    jac=None,
    hess=None,
    hessp=None,
    bounds=None,
    tol=None,
    callback=None,
    options=None,
):
    check_values_only(jac)
    free = within(out.x, bounds, method)
    return forward_at_minimum(out.x, fun, args, fun_dot, args_dot, free)


@pullback(
    optimize.minimize_scalar,
    calls={"fun": "value_and_grad(fun)(float, *args)"},
    constant=("bracket",),
    result=lambda fun, bracket=None, args=(), **settings: MinimumOutcome(np.float64(0.5), 0.5),
)
def pull_minimize_scalar(
    out_bar, out, fun, bracket=None, args=(), *, method=None, tol=None, options=None
):
    args_bar, fun_bar = at_minimum(out_bar, out.x, fun, args)
    return fun_bar, None, one_for(args, args_bar)


@pushforward(optimize.minimize_scalar)
def push_minimize_scalar(
    out, fun, bracket, args, fun_dot, bracket_dot, args_dot, *, method=None, tol=None, options=None
):
    return forward_at_minimum(out.x, fun, args, fun_dot, args_dot)


refuse(
    optimize,
    "fmin fmin_bfgs fmin_cg fmin_cobyla fmin_l_bfgs_b fmin_ncg "
    "fmin_powell fmin_slsqp fmin_tnc fminbound brent golden bracket basinhopping brute "
    "differential_evolution direct dual_annealing shgo",
    because="it has no rule here",
    instead="Use optimize.minimize, with the result of this function as its start.",
)
refuse(
    optimize,
    "leastsq isotonic_regression",
    because="it has no rule here",
    instead="Use optimize.least_squares, whose result has an x.",
)
refuse(
    optimize,
    "linprog milp linear_sum_assignment quadratic_assignment",
    because="its result jumps from one corner to another",
    instead="Make its inputs Const, or compute its result outside the function.",
)


@pullback(optimize.rosen)
def pull_rosen(out_bar, out, x):
    return out_bar * optimize.rosen_der(x)


@pushforward(optimize.rosen)
def push_rosen(out, x, x_dot):
    return np.sum(optimize.rosen_der(x) * x_dot, axis=0)


@pullback(optimize.rosen_der)
def pull_rosen_der(out_bar, out, x):
    return optimize.rosen_hess_prod(x, out_bar)


@pushforward(optimize.rosen_der)
def push_rosen_der(out, x, x_dot):
    return optimize.rosen_hess_prod(x, x_dot)


refuse(
    optimize,
    "rosen_hess rosen_hess_prod approx_fprime check_grad line_search",
    because="s2sad has no rule for it",
    instead="Use s2sad.grad, s2sad.hessian and s2sad.hvp.",
)
