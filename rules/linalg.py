"""numpy.linalg. Cotangents of matrices after Giles (2008) unless another source is named.

M. Giles, "An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation", 2008. Transposes stand where the literature on real matrices has
them, and conjugates where complex matrices need them by the convention of JAX.
"""

import numpy as np

from s2sad.registry import nondifferentiable, pullback, pushforward
from s2sad.rules.decompositions import from_triangle, onto_triangle
from s2sad.runtime import unbroadcast

nondifferentiable(np.linalg.matrix_rank)


@pullback(np.linalg.solve)
def pull_solve(out_bar, out, a, b):
    if a.ndim == 2 and b.ndim == 1:
        b_bar = np.linalg.solve(a.T, out_bar)
        return -np.outer(b_bar, out), b_bar
    if a.ndim == 2 and b.ndim == 2:
        b_bar = np.linalg.solve(a.T, out_bar)
        return -b_bar @ out.T, b_bar
    if b.ndim == 1:
        b_bar = np.linalg.solve(np.swapaxes(a, -1, -2), out_bar[..., None])
        return -b_bar * out[..., None, :], unbroadcast(b_bar[..., 0], b.shape)
    b_bar = np.linalg.solve(np.swapaxes(a, -1, -2), out_bar)
    a_bar = -b_bar @ np.swapaxes(out, -1, -2)
    return unbroadcast(a_bar, a.shape), unbroadcast(b_bar, b.shape)


@pushforward(np.linalg.solve)
def push_solve(out, a, b, a_dot, b_dot):
    if a_dot is None:
        return np.linalg.solve(a, b_dot)
    if b.ndim == 1 and a.ndim > 2:
        moved = (a_dot @ out[..., None])[..., 0]
    else:
        moved = a_dot @ out
    rest = -moved if b_dot is None else b_dot - moved
    if b.ndim == 1:
        return np.linalg.solve(a, rest[..., None])[..., 0]
    return np.linalg.solve(a, rest)


@pullback(np.linalg.inv)
def pull_inv(out_bar, out, a):
    if a.ndim == 2:
        return -(out.T @ out_bar @ out.T)
    out_T = np.swapaxes(out, -1, -2)
    return -(out_T @ out_bar @ out_T)


@pushforward(np.linalg.inv)
def push_inv(out, a, a_dot):
    return -(out @ a_dot @ out)


def cofactor(a):
    """Return the cofactor matrix, the gradient of det, of any matrix, singular ones included.

    It uses the singular value decomposition a = u diag(s) vh: the cofactors of a product are the
    product of the cofactors, and the cofactors of diag(s) are the products of all the other s.
    """
    u, s, vh = np.linalg.svd(a)
    eye = np.eye(s.shape[-1], dtype=bool)
    others = np.prod(np.where(eye, 1, s[..., None, :]), axis=-1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return sign[..., None, None] * (np.conj(u) * others[..., None, :]) @ np.conj(vh)


def far_from_singular(a):
    """Return whether matrices can be inverted without losing more than half of the digits."""
    return a.size == 0 or bool(np.all(np.linalg.cond(a) < 1e7))


def cofactor_change(a, a_dot):
    """Return how the cofactors move with a matrix, which may be singular.

    The second derivatives of det at diag(s) are the products of all the s but two. For the full
    matrix they follow from these: cofactors of a product are the product of the cofactors.
    """
    u, s, vh = np.linalg.svd(a)
    eye = np.eye(s.shape[-1], dtype=bool)
    pair = eye[:, None, :] | eye[None, :, :]
    others = np.prod(np.where(pair, 1, s[..., None, None, :]), axis=-1) * ~eye
    moved = np.conj(np.swapaxes(u, -1, -2)) @ a_dot @ np.conj(np.swapaxes(vh, -1, -2))
    diagonal = np.sum(others * np.sum(moved * eye, axis=-1)[..., None, :], axis=-1)
    inner = diagonal[..., None] * eye - others * np.swapaxes(moved, -1, -2)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return sign[..., None, None] * (np.conj(u) @ inner @ np.conj(vh))


@pullback(cofactor, once="third derivatives of det are not known where it is singular")
def pull_cofactor(out_bar, out, a):
    """Differentiate det(a) inv(a).T, and where that loses digits the products of singular values.

    The cofactors are a gradient: their derivative is symmetric.
    """
    if not far_from_singular(a):
        return cofactor_change(a, out_bar)
    inverse = np.linalg.inv(a)
    inverse_T = np.swapaxes(inverse, -1, -2)
    trace = np.sum(out_bar * out, axis=(-1, -2), keepdims=True)
    return trace * inverse_T - out @ np.swapaxes(out_bar, -1, -2) @ inverse_T


@pushforward(cofactor)
def push_cofactor(out, a, a_dot):
    if not far_from_singular(a):
        return cofactor_change(a, a_dot)
    inverse_T = np.swapaxes(np.linalg.inv(a), -1, -2)
    trace = np.sum(inverse_T * a_dot, axis=(-1, -2), keepdims=True)
    return trace * out - inverse_T @ np.swapaxes(a_dot, -1, -2) @ out


@pullback(np.linalg.det)
def pull_det(out_bar, out, a):
    if a.ndim == 2:
        return out_bar * cofactor(a)
    return out_bar[..., None, None] * cofactor(a)


@pushforward(np.linalg.det)
def push_det(out, a, a_dot):
    return np.sum(cofactor(a) * a_dot, axis=(-1, -2))


def slogdet_cotangent(logabsdet_bar, a):
    """Return the cotangent of a matrix from the cotangent of log abs(det), which may be None."""
    if logabsdet_bar is None:
        return np.zeros_like(a)
    logabsdet_bar = np.asarray(logabsdet_bar, dtype=a.dtype)
    return logabsdet_bar[..., None, None] * np.swapaxes(np.linalg.inv(a), -1, -2)


def with_phase(sign_bar, logabsdet_bar, sign):
    """Return the cotangent of a complex logarithm; its imaginary part comes from the sign."""
    if sign_bar is None:
        return logabsdet_bar
    turn = 1j * np.imag(sign_bar * sign)
    return turn if logabsdet_bar is None else logabsdet_bar + turn


@pullback(np.linalg.slogdet)
def pull_slogdet(out_bar, out, a):
    """A real determinant has a constant sign; the sign of a complex determinant turns with it."""
    if np.iscomplexobj(a):
        return slogdet_cotangent(with_phase(out_bar[0], out_bar[1], out[0]), a)
    return slogdet_cotangent(out_bar[1], a)


@pushforward(np.linalg.slogdet)
def push_slogdet(out, a, a_dot):
    log_dot = np.trace(np.linalg.solve(a, a_dot), axis1=-2, axis2=-1)
    if np.iscomplexobj(a):
        return out[0] * 1j * np.imag(log_dot), np.real(log_dot)
    return np.zeros_like(out[0]), log_dot


def entry_partials(out, x, ord):
    """Return the partial derivatives of an entrywise norm `out`, which kept the reduced axes."""
    if ord == 2:
        return np.conj(x) / np.where(out == 0, np.inf, out)
    sign = np.conj(np.sign(x))
    if ord == 0:
        return np.zeros_like(x)
    if ord == 1:
        return sign
    if ord < 1:
        return sign * (out / np.where(x == 0, 1, np.abs(x))) ** (1 - ord)
    return sign * (np.abs(x) / np.where(out == 0, 1, out)) ** (ord - 1)


def extreme_partials(out, x, axis):
    """Return the partials of the largest or smallest abs of an entry; ties share equally."""
    chosen = np.abs(x) == out
    count = np.sum(chosen, axis=axis, keepdims=True, dtype=x.real.dtype)
    return np.conj(np.sign(x)) * chosen / count


def column_partials(out, x, row_axis, column_axis):
    """Return the partial derivatives of the largest or smallest column sum of absolute values."""
    chosen = np.sum(np.abs(x), axis=row_axis, keepdims=True) == out
    sign = np.conj(np.sign(x))
    return sign * chosen / np.sum(chosen, axis=column_axis, keepdims=True, dtype=x.real.dtype)


def spectral_partials(x, ord):
    """Return the partial derivatives of a norm made of singular values, over the last two axes."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    weight = np.sign(s)
    if ord != "nuc":
        chosen = s == (s[..., :1] if ord == 2 else s[..., -1:])
        weight = weight * chosen / np.sum(chosen, axis=-1, keepdims=True, dtype=s.dtype)
    return np.conj((u * weight[..., None, :]) @ vh)


def matrix_partials(out, x, ord):
    """Return the partial derivatives of a norm over the last two axes, which `out` kept.

    Zero where the norm is zero; an equal share where several entries, rows, columns or singular
    values attain a maximum or minimum.
    """
    if ord is None or ord == "fro":
        return np.conj(x) / np.where(out == 0, np.inf, out)
    if ord == 1 or ord == -1:
        return column_partials(out, x, -2, -1)
    if ord == np.inf or ord == -np.inf:
        return column_partials(out, x, -1, -2)
    return spectral_partials(x, ord)


@pullback(
    np.linalg.norm, masks=("ord",), once="singular vectors of a complex matrix have no derivative"
)
def pull_norm(out_bar, out, x, *, ord=None, axis=None, keepdims=False):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
        out = np.expand_dims(out, axis)
    if ord is None or ord == "fro":
        return out_bar / np.where(out == 0, np.inf, out) * np.conj(x)
    if axis is None and x.ndim == 2:
        return out_bar * matrix_partials(out, x, ord)
    if isinstance(axis, tuple) and len(axis) == 2:
        out = np.moveaxis(out, axis, (-2, -1))
        partials = matrix_partials(out, np.moveaxis(x, axis, (-2, -1)), ord)
        return out_bar * np.moveaxis(partials, (-2, -1), axis)
    if abs(ord) == np.inf:
        return out_bar * extreme_partials(out, x, axis)
    return out_bar * entry_partials(out, x, ord)


@pushforward(np.linalg.norm)
def push_norm(out, x, x_dot, *, ord=None, axis=None, keepdims=False):
    if ord is None or ord == "fro":
        total = np.sum(np.real(np.conj(x) * x_dot), axis=axis, keepdims=keepdims)
        return total / np.where(out == 0, np.inf, out)
    partials = pull_norm(np.ones_like(out), out, x, ord=ord, axis=axis, keepdims=keepdims)
    return np.sum(np.real(partials * x_dot), axis=axis, keepdims=keepdims)


def kept_values(s, rcond, rtol):
    """Return 1 / s for the singular values that a pseudoinverse keeps, 0 for the others."""
    cut = rcond if rtol is None else rtol
    cut = np.asarray(1e-15 if cut is None else cut)
    kept = s > np.expand_dims(cut, -1) * np.max(s, axis=-1, keepdims=True)
    return kept / np.where(kept, s, 1)


def pinv_map(x, u, s, vh, f):
    """Apply the derivative of u diag(f(s)) vh, an odd function of the singular values, to x.

    f is 1 / s or 0. The divided differences of f at s[i] and s[j], and at s[i] and -s[j], are the
    divided differences of 1 / s if both values are kept, even if they are equal.
    """
    u_H, v = np.conj(np.swapaxes(u, -1, -2)), np.conj(np.swapaxes(vh, -1, -2))
    middle = u_H @ x @ v
    middle_H = np.conj(np.swapaxes(middle, -1, -2))
    row, column = f[..., None, :], f[..., :, None]
    both = row * column
    one = (row != column) & (both == 0)
    s_row, s_column = s[..., None, :], s[..., :, None]
    near = np.where(one, (column - row) / np.where(one, s_column - s_row, 1), -both)
    far = np.where(one, (column + row) / np.where(one, s_column + s_row, 1), both)
    inner = near * (middle + middle_H) / 2 + far * (middle - middle_H) / 2
    weight = f / np.where(f == 0, 1, s)
    left = (x @ v - u @ middle) * weight[..., None, :] @ vh
    right = u @ (weight[..., :, None] * (u_H @ x - middle @ vh))
    return u @ inner @ vh + left + right


def pinv_change(out, a, a_dot):
    """Return how a pseudoinverse moves while the rank stays: after Golub and Pereyra, 1973."""
    out_H = np.conj(np.swapaxes(out, -1, -2))
    a_dot_H = np.conj(np.swapaxes(a_dot, -1, -2))
    left = out @ out_H @ (a_dot_H - a_dot_H @ a @ out)
    right = (a_dot_H - out @ a @ a_dot_H) @ out_H @ out
    return left + right - out @ a_dot @ out


def pinv_cotangent(out_bar, a, rcond, rtol):
    """Return the cotangent of a matrix; some of its singular values may be cut off.

    The derivative of an odd function of singular values is symmetric as a linear map.
    """
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    f = kept_values(s, rcond, rtol)
    return np.conj(pinv_map(np.swapaxes(out_bar, -1, -2), u, s, vh, f))


def pinv_tangent(a, a_dot, rcond, rtol):
    """Return the tangent of a pseudoinverse; some of the singular values may be cut off."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    f = kept_values(s, rcond, rtol)
    return np.conj(np.swapaxes(pinv_map(a_dot, u, s, vh, f), -1, -2))


@pullback(np.linalg.pinv, masks=("rcond", "rtol", "hermitian"))
def pull_pinv(out_bar, out, a, *, rcond=None, hermitian=False, rtol=None):
    """For matrices whose number of kept singular values does not change."""
    if hermitian:
        return onto_triangle(pinv_cotangent(out_bar, from_triangle(a, "L"), rcond, rtol), "L")
    if rcond is None and rtol is None:
        return np.swapaxes(pinv_change(out, a, np.swapaxes(out_bar, -1, -2)), -1, -2)
    return pinv_cotangent(out_bar, a, rcond, rtol)


@pushforward(np.linalg.pinv)
def push_pinv(out, a, a_dot, *, rcond=None, hermitian=False, rtol=None):
    if hermitian:
        return pinv_tangent(from_triangle(a, "L"), from_triangle(a_dot, "L"), rcond, rtol)
    if rcond is None and rtol is None:
        return pinv_change(out, a, a_dot)
    return pinv_tangent(a, a_dot, rcond, rtol)


def check_lstsq(a, rank):
    """Refuse least squares problems that have no derivative here."""
    if rank < min(a.shape):
        raise NotImplementedError("lstsq has no derivative where the rank is deficient")
    if np.iscomplexobj(a):
        raise NotImplementedError("lstsq has no derivative for complex matrices")


@pullback(np.linalg.lstsq)
def pull_lstsq(out_bar, out, a, b, *, rcond=None):
    """After Golub and Pereyra, 1973, for real matrices of full rank."""
    x_bar, residuals_bar, _, s_bar = out_bar
    solution, residuals, rank, s = out
    check_lstsq(a, rank)
    x = np.reshape(solution, (a.shape[1], -1))
    rest = np.reshape(b, (a.shape[0], -1)) - a @ x
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    inverse = vh.T / s @ u.T
    a_bar = np.zeros_like(a)
    b_bar = np.zeros_like(rest)
    if x_bar is not None:
        x_bar = np.reshape(x_bar, x.shape)
        b_bar = inverse.T @ x_bar
        a_bar = rest @ (inverse @ b_bar).T - b_bar @ x.T
        a_bar = a_bar + inverse.T @ x @ (x_bar - inverse @ (a @ x_bar)).T
    if residuals_bar is not None and residuals.size:
        rest_bar = 2 * residuals_bar * rest
        a_bar = a_bar - rest_bar @ x.T
        b_bar = b_bar + rest_bar
    if s_bar is not None:
        a_bar = a_bar + u * s_bar @ vh
    return a_bar, np.reshape(b_bar, b.shape)


@pushforward(np.linalg.lstsq)
def push_lstsq(out, a, b, a_dot, b_dot, *, rcond=None):
    solution, residuals, rank, s = out
    check_lstsq(a, rank)
    a_dot = np.zeros_like(a) if a_dot is None else a_dot
    b_dot = np.zeros_like(b) if b_dot is None else b_dot
    x = np.reshape(solution, (a.shape[1], -1))
    rest = np.reshape(b, (a.shape[0], -1)) - a @ x
    rest_dot = np.reshape(b_dot, rest.shape) - a_dot @ x
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    inverse = vh.T / s @ u.T
    outside = a_dot.T @ (inverse.T @ x)
    x_dot = inverse @ (rest_dot + inverse.T @ (a_dot.T @ rest)) + outside - inverse @ (a @ outside)
    residuals_dot = 2 * np.sum(rest * rest_dot, axis=0) if residuals.size else residuals
    s_dot = np.sum(u * (a_dot @ vh.T), axis=0)
    return np.reshape(x_dot, solution.shape), residuals_dot, 0, s_dot


def spread_partials(out, x, p):
    """Return the partial derivatives of the quotient `out` of the extreme singular values."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    at = np.arange(s.shape[-1])
    first, last = at == 0, at == s.shape[-1] - 1
    sign = -1 if p == -2 else 1
    weight = sign * (first * out[..., 0] / s - last * out[..., 0] / s)
    return np.conj(u * weight[..., None, :] @ vh)


def condition_partials(x, p):
    """Return the partial derivatives of a norm times the norm of the inverse."""
    inverse = np.linalg.inv(x)
    one = np.linalg.norm(x, p, axis=(-2, -1), keepdims=True)
    other = np.linalg.norm(inverse, p, axis=(-2, -1), keepdims=True)
    inverse_T = np.swapaxes(inverse, -1, -2)
    moved = inverse_T @ matrix_partials(other, inverse, p) @ inverse_T
    return other * matrix_partials(one, x, p) - one * moved


@pullback(
    np.linalg.cond, masks=("p",), once="singular vectors of a complex matrix have no derivative"
)
def pull_cond(out_bar, out, x, *, p=None):
    """The quotient of two singular values, or a norm times the norm of the inverse."""
    if p is None or p == 2 or p == -2:
        return np.asarray(out_bar)[..., None, None] * spread_partials(
            np.asarray(out)[..., None, None], x, p
        )
    return np.asarray(out_bar)[..., None, None] * condition_partials(x, p)


@pushforward(np.linalg.cond)
def push_cond(out, x, x_dot, *, p=None):
    partials = pull_cond(np.ones_like(out), out, x, p=p)
    return np.sum(np.real(partials * x_dot), axis=(-2, -1))


@pullback(np.linalg.vector_norm, masks=("ord",))
def pull_vector_norm(out_bar, out, x, *, axis=None, keepdims=False, ord=2):
    if axis is not None and not keepdims:
        out_bar = np.expand_dims(out_bar, axis)
        out = np.expand_dims(out, axis)
    if ord == 2:
        return out_bar / np.where(out == 0, np.inf, out) * np.conj(x)
    if abs(ord) == np.inf:
        return out_bar * extreme_partials(out, x, axis)
    return out_bar * entry_partials(out, x, ord)


@pushforward(np.linalg.vector_norm)
def push_vector_norm(out, x, x_dot, *, axis=None, keepdims=False, ord=2):
    partials = pull_vector_norm(np.ones_like(out), out, x, axis=axis, keepdims=keepdims, ord=ord)
    return np.sum(np.real(partials * x_dot), axis=axis, keepdims=keepdims)


@pullback(
    np.linalg.matrix_norm,
    masks=("ord",),
    once="singular vectors of a complex matrix have no derivative",
)
def pull_matrix_norm(out_bar, out, x, *, keepdims=False, ord="fro"):
    if not keepdims:
        out_bar = np.expand_dims(out_bar, (-2, -1))
        out = np.expand_dims(out, (-2, -1))
    return out_bar * matrix_partials(out, x, ord)


@pushforward(np.linalg.matrix_norm)
def push_matrix_norm(out, x, x_dot, *, keepdims=False, ord="fro"):
    partials = pull_matrix_norm(np.ones_like(out), out, x, keepdims=keepdims, ord=ord)
    return np.sum(np.real(partials * x_dot), axis=(-2, -1), keepdims=keepdims)


def system_axes(ndim, axes):
    """Return all axes of a tensor equation, with the named axes last."""
    named = [k % ndim for k in axes or ()]
    return [k for k in range(ndim) if k not in named] + named


@pullback(np.linalg.tensorsolve, once="the lengths decide how many axes the solution has")
def pull_tensorsolve(out_bar, out, a, b, *, axes=None):
    order = system_axes(a.ndim, axes)
    moved = np.transpose(a, order)
    matrix = np.reshape(moved, (b.size, -1))
    b_bar = np.linalg.solve(matrix.T, np.ravel(out_bar))
    a_bar = np.reshape(-np.outer(b_bar, out), moved.shape)
    back = sorted(range(a.ndim), key=order.__getitem__)
    return np.transpose(a_bar, back), np.reshape(b_bar, b.shape)


@pushforward(np.linalg.tensorsolve)
def push_tensorsolve(out, a, b, a_dot, b_dot, *, axes=None):
    order = system_axes(a.ndim, axes)
    matrix = np.reshape(np.transpose(a, order), (b.size, -1))
    rest = np.zeros(b.size, out.dtype) if b_dot is None else np.ravel(b_dot)
    if a_dot is not None:
        rest = rest - np.reshape(np.transpose(a_dot, order), matrix.shape) @ np.ravel(out)
    return np.reshape(np.linalg.solve(matrix, rest), out.shape)


@pullback(np.linalg.tensorinv, once="s2sad does not know which lengths belong together")
def pull_tensorinv(out_bar, out, a, *, ind=2):
    size = int(np.prod(a.shape[:ind]))
    inverse_T = np.reshape(out, (size, size)).T
    return np.reshape(-(inverse_T @ np.reshape(out_bar, (size, size)) @ inverse_T), a.shape)


@pushforward(np.linalg.tensorinv)
def push_tensorinv(out, a, a_dot, *, ind=2):
    size = int(np.prod(a.shape[:ind]))
    inverse = np.reshape(out, (size, size))
    return np.reshape(-(inverse @ np.reshape(a_dot, (size, size)) @ inverse), out.shape)


@pullback(np.linalg.matrix_power, view="maybe")
def pull_matrix_power(out_bar, out, a, *, n=None):
    if n == 2:
        a_T = np.swapaxes(a, -1, -2)
        return out_bar @ a_T + a_T @ out_bar
    return power_cotangent(out_bar, a, n)


def power_cotangent(out_bar, a, n):
    """Sum the cotangents of a from each of the n positions where it is a factor."""
    if n < 0:
        inverse = np.linalg.inv(a)
        inverse_T = np.swapaxes(inverse, -1, -2)
        return -(inverse_T @ power_cotangent(out_bar, inverse, -n) @ inverse_T)
    a_T = np.swapaxes(a, -1, -2)
    a_bar = np.zeros_like(a)
    right = out_bar
    for _ in range(n):
        a_bar = a_T @ a_bar + right
        right = right @ a_T
    return a_bar


@pushforward(np.linalg.matrix_power)
def push_matrix_power(out, a, a_dot, *, n=None):
    return power_tangent(a, a_dot, n)


def power_tangent(a, a_dot, n):
    """Return the tangent of a power, by the product rule."""
    if n < 0:
        inverse = np.linalg.inv(a)
        return power_tangent(inverse, -(inverse @ a_dot @ inverse), -n)
    out_dot = np.zeros_like(a)
    right = a_dot
    for _ in range(n):
        out_dot = a @ out_dot + right
        right = right @ a
    return out_dot


def chain(*arrays):
    """Return the product of several matrices; the first and the last may be vectors."""
    return np.linalg.multi_dot(arrays)


def product_factors(arrays):
    """Return the matrices of a product, with a vector at either end turned into a matrix."""
    factors = list(arrays)
    if np.ndim(factors[0]) == 1:
        factors[0] = factors[0][None, :]
    if np.ndim(factors[-1]) == 1:
        factors[-1] = factors[-1][:, None]
    return factors


@pullback(chain, multilinear=True)
def pull_chain(out_bar, out, *arrays):
    """The cotangent of a factor stands between the factors before it and the factors after it."""
    factors = product_factors(arrays)
    left = [np.reshape(out_bar, (factors[0].shape[0], factors[-1].shape[1]))]
    for factor in factors[:-1]:
        left.append(factor.T @ left[-1])
    cotangents = [np.reshape(left[-1], np.shape(arrays[-1]))]
    right = factors[-1].T
    for k in range(len(factors) - 2, -1, -1):
        cotangents.append(np.reshape(left[k] @ right, np.shape(arrays[k])))
        right = right @ factors[k].T
    return tuple(cotangents[::-1])


@pushforward(chain)
def push_chain(out, *arrays_and_tangents):
    half = len(arrays_and_tangents) // 2
    arrays, dots = arrays_and_tangents[:half], arrays_and_tangents[half:]
    return sum(
        np.linalg.multi_dot([*arrays[:k], dots[k], *arrays[k + 1 :]])
        for k in range(half)
        if dots[k] is not None
    )


@pullback(np.linalg.multi_dot)
def pull_multi_dot(out_bar, out, arrays):
    parts = pull_chain(out_bar, out, *[np.asarray(a) for a in arrays])
    return parts if isinstance(arrays, tuple) else list(parts)


@pushforward(np.linalg.multi_dot)
def push_multi_dot(out, arrays, arrays_dot):
    return push_chain(out, *arrays, *arrays_dot)
