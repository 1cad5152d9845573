"""scipy.sparse: products with vectors and arrays, and matrices made of active numbers.

The cotangent of a sparse matrix is a sparse array: it is right where the matrix holds numbers, and
looked at nowhere else. Its tangent is a sparse array, too.
"""

import numpy as np
from scipy import sparse

from s2sad.registry import library_objects, pullback, pushforward, refuse
from s2sad.runtime import unbroadcast

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
MATRICES = tuple(getattr(sparse, f"{name}_matrix") for name in FORMATS)
ARRAYS = tuple(getattr(sparse, f"{name}_array") for name in FORMATS)


def like(matrix):
    """Return an array with the dtype and the shape of a matrix, which takes no memory."""
    return np.broadcast_to(np.zeros((), matrix.dtype), matrix.shape)


def sample(cls, array):
    """Return a matrix with the content of an array."""
    return cls(array)


def on_pattern(A, left, right):
    """Return the cotangent left @ right.T of a matrix, where it holds numbers."""
    if sparse.issparse(right):
        return of_real(A, sparse.csr_array(left @ right.T))
    pattern = sparse.csr_array(A)
    if not pattern.has_canonical_format:
        pattern = pattern.copy()
        pattern.sum_duplicates()
    rows = np.repeat(np.arange(A.shape[0]), np.diff(pattern.indptr))
    left, right = np.reshape(left, (A.shape[0], -1)), np.reshape(right, (A.shape[1], -1))
    values = np.sum(left[rows] * right[pattern.indices], axis=1)
    return of_real(A, sparse.csr_array((values, pattern.indices, pattern.indptr), A.shape))


def of_real(A, A_bar):
    """Return the cotangent of a matrix; for a real matrix it is real."""
    return A_bar if np.iscomplexobj(A) or not np.iscomplexobj(A_bar) else A_bar.real


def fitting(out_bar, given):
    """Return a cotangent in the kind of what was given: an array, a number, a sparse matrix."""
    if sparse.issparse(given):
        return of_real(given, sparse.csr_array(out_bar))
    return unbroadcast(out_bar.toarray() if sparse.issparse(out_bar) else out_bar, np.shape(given))


def zero(matrix):
    """Return the cotangent of a matrix that nothing depends on."""
    return sparse.csr_array(matrix.shape, dtype=matrix.dtype)


# products


def product(A, x):
    """Multiply as `A @ x` does."""
    return A @ x


@pullback(product)
def pull_product(out_bar, out, A, x):
    return on_pattern(A, out_bar, x), A.T @ out_bar


@pushforward(product)
def push_product(out, A, x, A_dot, x_dot):
    if A_dot is None:
        return A @ x_dot
    return A_dot @ x if x_dot is None else A_dot @ x + A @ x_dot


def product_of_left(x, A):
    """Multiply as `x @ A` does."""
    return x @ A


@pullback(product_of_left)
def pull_product_of_left(out_bar, out, x, A):
    return out_bar @ A.T, on_pattern(A, x.T, out_bar.T)


@pushforward(product_of_left)
def push_product_of_left(out, x, A, x_dot, A_dot):
    if A_dot is None:
        return x_dot @ A
    return x @ A_dot if x_dot is None else x_dot @ A + x @ A_dot


def multiply(A, other):
    """Multiply item by item, as the method does, and `A * x` of sparse arrays."""
    return A.multiply(other)


@pullback(multiply)
def pull_multiply(out_bar, out, A, other):
    return fitting(out_bar.multiply(other), A), fitting(A.multiply(out_bar), other)


@pushforward(multiply)
def push_multiply(out, A, other, A_dot, other_dot):
    out_dot = sparse.csr_array(out.shape, dtype=out.dtype)
    if A_dot is not None:
        out_dot = out_dot + A_dot.multiply(other)
    return out_dot if other_dot is None else out_dot + A.multiply(other_dot)


def multiply_left(other, A):
    """Multiply item by item, as `x * A` does of sparse arrays."""
    return A.multiply(other)


@pullback(multiply_left)
def pull_multiply_left(out_bar, out, other, A):
    return fitting(A.multiply(out_bar), other), fitting(out_bar.multiply(other), A)


@pushforward(multiply_left)
def push_multiply_left(out, other, A, other_dot, A_dot):
    return push_multiply(out, A, other, A_dot, other_dot)


def times(A, x):
    """Multiply as `A * x` does of matrices: by a number, or as `A @ x`."""
    return A * x


@pullback(times)
def pull_times(out_bar, out, A, x):
    if np.ndim(x) == 0:
        return fitting(out_bar * x, A), fitting(A.multiply(out_bar), x)
    return on_pattern(A, out_bar, x), A.T @ out_bar


@pushforward(times)
def push_times(out, A, x, A_dot, x_dot):
    out_dot = out * 0.0
    if A_dot is not None:
        out_dot = out_dot + (A_dot * x if np.ndim(x) == 0 else A_dot @ x)
    return out_dot if x_dot is None else out_dot + A * x_dot


def times_left(x, A):
    """Multiply as `x * A` does of matrices: by a number, or as `x @ A`."""
    return x * A


@pullback(times_left)
def pull_times_left(out_bar, out, x, A):
    if np.ndim(x) == 0:
        return fitting(A.multiply(out_bar), x), fitting(out_bar * x, A)
    return out_bar @ A.T, on_pattern(A, x.T, out_bar.T)


@pushforward(times_left)
def push_times_left(out, x, A, x_dot, A_dot):
    out_dot = out * 0.0
    if A_dot is not None:
        out_dot = out_dot + (x * A_dot if np.ndim(x) == 0 else x @ A_dot)
    return out_dot if x_dot is None else out_dot + x_dot * A


def quotient(A, x):
    """Divide by a number, as `A / x` does."""
    return A / x


@pullback(quotient)
def pull_quotient(out_bar, out, A, x):
    if np.ndim(x) != 0:
        raise NotImplementedError("a sparse matrix is divided by an array; multiply it")
    return fitting(out_bar / x, A), fitting(-out.multiply(out_bar) / x, x)


@pushforward(quotient)
def push_quotient(out, A, x, A_dot, x_dot):
    if np.ndim(x) != 0:
        raise NotImplementedError("a sparse matrix is divided by an array; multiply it")
    out_dot = out * 0.0 if A_dot is None else A_dot / x
    return out_dot if x_dot is None else out_dot - out * (x_dot / x)


# sums


def plus(A, B):
    """Add as `A + B` does."""
    return A + B


@pullback(plus)
def pull_plus(out_bar, out, A, B):
    return fitting(out_bar, A), fitting(out_bar, B)


@pushforward(plus)
def push_plus(out, A, B, A_dot, B_dot):
    out_dot = out * 0.0 if A_dot is None else out * 0.0 + A_dot
    return out_dot if B_dot is None else out_dot + B_dot


def minus(A, B):
    """Subtract as `A - B` does."""
    return A - B


@pullback(minus)
def pull_minus(out_bar, out, A, B):
    return fitting(out_bar, A), fitting(-out_bar, B)


@pushforward(minus)
def push_minus(out, A, B, A_dot, B_dot):
    out_dot = out * 0.0 if A_dot is None else out * 0.0 + A_dot
    return out_dot if B_dot is None else out_dot - B_dot


def total(A, axis=None):
    """Add up as the method does."""
    return A.sum(axis)


@pullback(total)
def pull_total(out_bar, out, A, *, axis=None):
    down, along = np.ones(A.shape[0], out.dtype), np.ones(A.shape[1], out.dtype)
    if axis is None:
        return on_pattern(A, out_bar * down, along)
    if axis in (0, -2):
        return on_pattern(A, down, out_bar)
    return on_pattern(A, out_bar, along)


@pushforward(total)
def push_total(out, A, A_dot, *, axis=None):
    return A_dot.sum(axis)


def diagonal(A, k=0):
    """Take a diagonal as the method does."""
    return A.diagonal(k)


@pullback(diagonal)
def pull_diagonal(out_bar, out, A, *, k=0):
    return sparse.diags_array(out_bar, offsets=k, shape=A.shape, format="csr")


@pushforward(diagonal)
def push_diagonal(out, A, A_dot, *, k=0):
    return A_dot.diagonal(k)


# other forms of the same matrix


def dense(A):
    """Make an array as the method does."""
    return A.toarray()


@pullback(dense)
def pull_dense(out_bar, out, A):
    return sparse.csr_array(out_bar)


@pushforward(dense)
def push_dense(out, A, A_dot):
    return A_dot.toarray()


def transposed(A):
    """Transpose as the attribute does."""
    return A.T


def transpose(A, axes=None):
    """Transpose as the method does."""
    return A.transpose(axes)


@pullback(transposed)
def pull_transposed(out_bar, out, A):
    return out_bar.T


@pullback(transpose)
def pull_transpose(out_bar, out, A, *, axes=None):
    return out_bar.T


@pushforward(transposed)
def push_transposed(out, A, A_dot):
    return A_dot.T


@pushforward(transpose)
def push_transpose(out, A, A_dot, *, axes=None):
    return A_dot.T


def itself(A):
    """Copy as the method does."""
    return A.copy()


def conjugate(A):
    """Conjugate as the method does."""
    return A.conj()


def absolute(A):
    """Take absolute values as abs(A) does."""
    return abs(A)


def to_coo(A, copy=True):
    """Convert as the method does."""
    return A.tocoo(copy)


def to_csc(A, copy=False):
    """Convert as the method does."""
    return A.tocsc(copy)


def to_csr(A, copy=False):
    """Convert as the method does."""
    return A.tocsr(copy)


@pullback(itself)
def pull_itself(out_bar, out, A):
    return out_bar


@pushforward(itself, to_coo, to_csc, to_csr)
def push_itself(out, A, A_dot, *, copy=False):
    return A_dot.copy()


@pullback(to_coo, to_csc, to_csr)
def pull_converted(out_bar, out, A, *, copy=False):
    return out_bar


@pullback(conjugate)
def pull_conjugate(out_bar, out, A):
    return out_bar.conj()


@pushforward(conjugate)
def push_conjugate(out, A, A_dot):
    return A_dot.conj()


@pullback(absolute, unknown=("A",))
def pull_absolute(out_bar, out, A):
    return None


FUNCTIONS = {
    "Add": plus,
    "Div": quotient,
    "MatMult": product,
    "Mult": multiply,
    "Sub": minus,
    ".T": transposed,
    "conj": conjugate,
    "copy": itself,
    "diagonal": diagonal,
    "dot": product,
    "multiply": multiply,
    "rAdd": plus,
    "rMatMult": product_of_left,
    "rMult": multiply_left,
    "rSub": minus,
    "sum": total,
    "toarray": dense,
    "tocoo": to_coo,
    "tocsc": to_csc,
    "tocsr": to_csr,
    "transpose": transpose,
}

library_objects(*ARRAYS, like=like, sample=sample, zero=zero, functions=FUNCTIONS, of_data=True)
library_objects(
    *MATRICES,
    like=like,
    sample=sample,
    zero=zero,
    functions={**FUNCTIONS, "Mult": times, "rMult": times_left},
    of_data=True,
)


# matrices made of numbers

OF_DATA = tuple(
    getattr(sparse, f"{name}_{kind}")
    for name in ("coo", "csc", "csr")
    for kind in ("array", "matrix")
)
OTHERS = tuple(cls for cls in (*ARRAYS, *MATRICES) if cls not in OF_DATA)


@pullback(*OF_DATA, view="maybe")
def pull_made(out_bar, out, arg1, *, shape=None, dtype=None, copy=False):
    if isinstance(arg1, tuple):
        return data_cotangent(out_bar, out, arg1)
    if sparse.issparse(arg1):
        return of_real(arg1, out_bar)
    raise NotImplementedError("a sparse matrix made of an active array; give it (data, (i, j))")


def data_cotangent(out_bar, out, given):
    """Return the cotangent of (data, (i, j)) or of (data, indices, indptr)."""
    if len(given) == 2:
        _, (rows, columns) = given
        return np.ravel(out_bar.tocsr()[np.asarray(rows), np.asarray(columns)]), None
    _, indices, indptr = given
    counted = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    rows, columns = (indices, counted) if out.format == "csc" else (counted, indices)
    return np.ravel(out_bar.tocsr()[rows, np.asarray(columns)]), None, None


@pushforward(*OF_DATA)
def push_made(out, arg1, arg1_dot, *, shape=None, dtype=None, copy=False):
    if sparse.issparse(arg1):
        return arg1_dot.copy()
    if not isinstance(arg1, tuple):
        raise NotImplementedError("a sparse matrix made of an active array; give it (data, (i, j))")
    if len(arg1) == 2:
        return sparse.coo_array((arg1_dot[0], arg1[1]), out.shape).tocsr()
    if out.format == "csc":
        return sparse.csc_array((arg1_dot[0], *arg1[1:]), out.shape).tocsr()
    return sparse.csr_array((arg1_dot[0], *arg1[1:]), out.shape)


@pullback(*OTHERS, unknown=("arg1",), view="maybe")
def pull_made_otherwise(out_bar, out, arg1, *, shape=None, dtype=None, copy=False, blocksize=None):
    return None


def of_one_array(diagonals, offsets=0, shape=None, format=None, dtype=None):
    """Make an array of diagonals of any lengths: those that they would have in one matrix."""
    if np.ndim(offsets) or isinstance(diagonals, list | tuple):
        places = np.atleast_1d(offsets)
        pairs = [(np.atleast_1d(d), k) for d, k in zip(diagonals, places, strict=True)]
        n = max(len(d) + abs(k) for d, k in pairs)
        rows, columns = (n, n) if shape is None else shape
        diagonals = [np.resize(d, min(rows + min(k, 0), columns - max(k, 0))) for d, k in pairs]
    made = {"offsets": offsets, "shape": shape, "format": format, "dtype": dtype}
    return sparse.diags_array(diagonals, **made)


def of_one_matrix(diagonals, offsets=0, shape=None, format=None, dtype=None):
    """Make a matrix in the same way."""
    made = of_one_array(diagonals, offsets, shape, format, dtype)
    return sparse.dia_matrix(made).asformat(format)


@pullback(sparse.diags, result=of_one_matrix)
@pullback(sparse.diags_array, result=of_one_array)
def pull_diags(out_bar, out, diagonals, *, offsets=0, shape=None, format=None, dtype=None):
    if np.ndim(offsets) == 0 and not isinstance(diagonals, list | tuple):
        return unbroadcast(out_bar.diagonal(offsets), diagonals.shape)
    places = [offsets] if np.ndim(offsets) == 0 else offsets
    found = [
        unbroadcast(out_bar.diagonal(k), np.shape(d))
        for d, k in zip(diagonals, places, strict=True)
    ]
    return found if isinstance(diagonals, list) else tuple(found)


@pushforward(sparse.diags, sparse.diags_array)
def push_diags(out, diagonals, diagonals_dot, *, offsets=0, shape=None, format=None, dtype=None):
    if isinstance(diagonals, list | tuple):
        pairs = zip(diagonals, diagonals_dot, strict=True)
        diagonals_dot = [np.zeros_like(d) if t is None else t for d, t in pairs]
    return sparse.diags_array(diagonals_dot, offsets=offsets, shape=out.shape, format="csr")


@pullback(sparse.kron, unknown=("A", "B"))
def pull_kron(out_bar, out, A, B, *, format=None):
    return None, None


refuse(
    sparse,
    "block_array block_diag bmat eye eye_array hstack identity kronsum vstack",
    because="s2sad does not know its result here",
    instead="Make a constant matrix outside of the function, or multiply by the blocks.",
)
