"""scipy.sparse.linalg: equations with constant matrices, by the implicit function theorem.

What solves A @ x = b has the cotangent b_bar that solves A.T @ b_bar = x_bar: Giles, "An extended
collection of matrix derivative results", 2008.
"""

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from s2sad.registry import library_objects, pullback, pushforward, refuse
from s2sad.rules.scipy_sparse import on_pattern

refuse(
    linalg,
    "factorized",
    because="it is a method of an object without a name",
    instead="Write lu = splu(A), and lu.solve(b).",
)
refuse(
    linalg,
    "eigs eigsh lobpcg svds lsqr lsmr inv expm onenormest norm",
    because="s2sad has no rule for it",
    instead="Make the matrix dense where it is small, or write a rule with @s2sad.pullback.",
)


@pullback(linalg.spsolve)
def pull_spsolve(out_bar, out, A, b, *, permc_spec=None, use_umfpack=True):
    b_bar = linalg.spsolve(A.T, out_bar, permc_spec, use_umfpack)
    return on_pattern(A, -b_bar, out), np.reshape(b_bar, b.shape)


@pushforward(linalg.spsolve)
def push_spsolve(out, A, b, A_dot, b_dot, *, permc_spec=None, use_umfpack=True):
    rest = np.zeros_like(out) if b_dot is None else np.reshape(b_dot, out.shape)
    return linalg.spsolve(A, rest if A_dot is None else rest - A_dot @ out, permc_spec, use_umfpack)


@pullback(linalg.spsolve_triangular, unknown=("A",))
def pull_spsolve_triangular(out_bar, out, A, b, *, lower=True, unit_diagonal=False):
    return None, linalg.spsolve_triangular(
        A.T.tocsr(), out_bar, not lower, unit_diagonal=unit_diagonal
    )


@pushforward(linalg.spsolve_triangular)
def push_spsolve_triangular(out, A, b, A_dot, b_dot, *, lower=True, unit_diagonal=False):
    return linalg.spsolve_triangular(A, b_dot, lower, unit_diagonal=unit_diagonal)


@pullback(linalg.expm_multiply, unknown=("A",))
def pull_expm_multiply(out_bar, out, A, B, *, traceA=None):
    return None, linalg.expm_multiply(A.T, out_bar, traceA=traceA)


@pushforward(linalg.expm_multiply)
def push_expm_multiply(out, A, B, A_dot, B_dot, *, traceA=None):
    return linalg.expm_multiply(A, B_dot, traceA=traceA)


# factors


def like(lu):
    """Return an array with the dtype and the shape of what was factorised.

    An object does not tell its dtype; it tells what it can cast.
    """
    for dtype in ("complex128", "complex64", "float64"):
        try:
            lu.solve(np.zeros(lu.shape[0], dtype)[:0])
        except TypeError:
            continue
        except ValueError:
            return np.broadcast_to(np.zeros((), dtype), lu.shape)
    return np.broadcast_to(np.zeros((), "float32"), lu.shape)


def sample(cls, array):
    """Return the factors of an array."""
    return linalg.splu(sparse.csc_array(array))


def solve_by(lu, rhs, trans="N"):
    """Solve as the method does."""
    return lu.solve(rhs, trans)


@pullback(solve_by, unknown=("lu",))
def pull_solve_by(out_bar, out, lu, rhs, *, trans="N"):
    if trans == "H":
        return None, np.conj(lu.solve(np.conj(out_bar)))
    if trans == "T":
        return None, lu.solve(out_bar)
    return None, lu.solve(out_bar, "T")


@pushforward(solve_by)
def push_solve_by(out, lu, rhs, lu_dot, rhs_dot, *, trans="N"):
    return lu.solve(rhs_dot, trans)


library_objects(linalg.SuperLU, like=like, sample=sample, functions={"solve": solve_by})


@pullback(linalg.splu, unknown=("A",))
def pull_splu(
    out_bar,
    out,
    A,
    *,
    permc_spec=None,
    diag_pivot_thresh=None,
    relax=None,
    panel_size=None,
    options=None,
):
    return None


@pullback(linalg.spilu, unknown=("A",))
def pull_spilu(
    out_bar, out, A, *, drop_tol=None, fill_factor=None, drop_rule=None, permc_spec=None
):
    return None


# iterations, to the accuracy that is asked for; the result does not depend on where they start


def check_found(info):
    """Refuse what has not been found to the accuracy that was asked for."""
    if info != 0:
        raise ArithmeticError("the iteration for the derivative did not converge")


@pullback(linalg.cg)
def pull_cg(out_bar, out, A, b, *, rtol=1e-5, atol=0.0, maxiter=None, M=None):
    """The matrix is symmetric, or Hermitian."""
    settings = {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M}
    found, info = linalg.cg(A, np.conj(out_bar[0]), **settings)
    check_found(info)
    b_bar = np.conj(found)
    return on_pattern(A, -b_bar, out[0]), np.reshape(b_bar, b.shape)


@pushforward(linalg.cg)
def push_cg(out, A, b, A_dot, b_dot, *, rtol=1e-5, atol=0.0, maxiter=None, M=None):
    settings = {"rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M}
    x_dot, info = linalg.cg(A, moved_side(out[0], A_dot, b_dot), **settings)
    check_found(info)
    return x_dot, None


def moved_side(x, A_dot, b_dot):
    """Return the right side of A @ x_dot = b_dot - A_dot @ x."""
    rest = np.zeros_like(x) if b_dot is None else np.reshape(b_dot, x.shape)
    return rest if A_dot is None else rest - A_dot @ x


@pullback(linalg.minres)
def pull_minres(out_bar, out, A, b, *, rtol=1e-5, maxiter=None):
    """The matrix is real and symmetric."""
    b_bar, info = linalg.minres(A, out_bar[0], rtol=rtol, maxiter=maxiter)
    check_found(info)
    return on_pattern(A, -b_bar, out[0]), np.reshape(b_bar, b.shape)


@pushforward(linalg.minres)
def push_minres(out, A, b, A_dot, b_dot, *, rtol=1e-5, maxiter=None):
    x_dot, info = linalg.minres(A, moved_side(out[0], A_dot, b_dot), rtol=rtol, maxiter=maxiter)
    check_found(info)
    return x_dot, None


@pullback(linalg.gmres)
def pull_gmres(out_bar, out, A, b, *, rtol=1e-5, atol=0.0, restart=None, maxiter=None):
    settings = {"rtol": rtol, "atol": atol, "restart": restart, "maxiter": maxiter}
    b_bar, info = linalg.gmres(A.T, out_bar[0], **settings)
    check_found(info)
    return on_pattern(A, -b_bar, out[0]), np.reshape(b_bar, b.shape)


@pushforward(linalg.gmres)
def push_gmres(out, A, b, A_dot, b_dot, *, rtol=1e-5, atol=0.0, restart=None, maxiter=None):
    settings = {"rtol": rtol, "atol": atol, "restart": restart, "maxiter": maxiter}
    x_dot, info = linalg.gmres(A, moved_side(out[0], A_dot, b_dot), **settings)
    check_found(info)
    return x_dot, None


@pullback(linalg.bicgstab, linalg.bicg, linalg.cgs)
def pull_bicgstab(out_bar, out, A, b, *, rtol=1e-5, atol=0.0, maxiter=None):
    b_bar, info = linalg.bicgstab(A.T, out_bar[0], rtol=rtol, atol=atol, maxiter=maxiter)
    check_found(info)
    return on_pattern(A, -b_bar, out[0]), np.reshape(b_bar, b.shape)


@pushforward(linalg.bicgstab, linalg.bicg, linalg.cgs)
def push_bicgstab(out, A, b, A_dot, b_dot, *, rtol=1e-5, atol=0.0, maxiter=None):
    settings = {"rtol": rtol, "atol": atol, "maxiter": maxiter}
    x_dot, info = linalg.bicgstab(A, moved_side(out[0], A_dot, b_dot), **settings)
    check_found(info)
    return x_dot, None


refuse(
    linalg,
    "LaplacianNd LinearOperator aslinearoperator funm_multiply_krylov gcrotmk lgmres matrix_power "
    "qmr tfqmr",
    because="s2sad has no rule for it",
    instead="Use spsolve, cg, gmres or expm_multiply.",
)
