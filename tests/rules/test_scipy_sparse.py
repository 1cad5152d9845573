"""The rules of rules/scipy_sparse.py and rules/scipy_sparse_linalg.py."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import load_rules, object_function, objects_of
from s2sad.testing import check_rule
from tests import slopes

S = pytest.importorskip("scipy.sparse")
L = pytest.importorskip("scipy.sparse.linalg")
load_rules()
rng = np.random.default_rng(5)

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
CLASSES = [getattr(S, f"{f}_{kind}") for f in FORMATS for kind in ("matrix", "array")]


def n(*shape):
    return rng.standard_normal(shape)


def holes(*shape):
    return n(*shape) * (rng.random(shape) < 0.6)


DENSE = holes(4, 3)
SQUARE = holes(4, 4) + 4 * np.eye(4)
IN_ROWS, IN_COLUMNS = np.array([0, 1, 2, 3, 0, 2]), np.array([0, 1, 2, 3, 2, 1])


def name(value):
    return getattr(value, "__name__", None)


def on_host(fn, *args, **settings):
    """Check a rule for objects of SciPy's, which know no other arrays than NumPy's."""
    check_rule(fn, *args, **settings)


# --- constant matrices ---------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("cls", CLASSES, ids=name)
def test_constant_matrix(cls):
    A = cls(DENSE)
    by = {k: object_function(cls, k) for k in ("MatMult", "rMatMult", "dot")}
    for x in (n(3), n(3, 2)):
        on_host(by["MatMult"], A, x)
        on_host(by["dot"], A, x)
    for x in (n(4), n(2, 4)):
        on_host(by["rMatMult"], x, A)
    if issubclass(cls, S.spmatrix):
        on_host(object_function(cls, "Mult"), A, n(3))
        on_host(object_function(cls, "rMult"), n(4), A)


CHANGED = S.lil_array(DENSE)


def through_a_matrix_that_changes(x):
    return CHANGED @ x


def test_pullback_of_a_matrix_that_is_changed_afterwards():
    for cls in (S.lil_array, S.dok_array, S.csr_array):
        global CHANGED
        CHANGED = cls(DENSE)
        _, pull = s2sad.vjp(through_a_matrix_that_changes, n(3))
        CHANGED[0, 0] = 7.0
        assert np.allclose(pull(np.ones(4)), DENSE.T @ np.ones(4))


def test_complex_matrix():
    A = S.csr_array(DENSE + 1j * holes(4, 3))
    on_host(object_function(S.csr_array, "MatMult"), A, n(3))
    on_host(object_function(S.csr_array, "MatMult"), A, n(3) + 1j * n(3))


def least_squares(x, A, b):
    r = A @ x - b
    return 0.5 * r @ r + 0.1 * np.sum((A.T @ (A @ x)) ** 2)


def quadratic(x, A, b):
    return 0.5 * x @ A @ x - b.dot(x)


def diffusion(x, A, b):
    for _ in range(3):
        x = x + 0.1 * (A @ x) * b
    return np.sum(x**2)


def of_lists(x, A, b):
    return np.sum(A @ [x[0], x[1], x[2]]) + A.dot([x[2] ** 2, x[0], 1.0]) @ b


def other_forms(x, A, b):
    B = 2.0 * (A.tocsc() + A.copy()) - A / 4.0
    return np.sum(B.T @ (B @ x)) * A.sum() + np.sum(A.toarray() @ x) + A.shape[0] * x[0]


def in_a_branch(x, A, b):
    B = A if x[0] > 0 else -A
    return np.sum((B @ x) ** 2)


@pytest.mark.parametrize("f", [least_squares, diffusion, of_lists, other_forms, in_a_branch])
@pytest.mark.parametrize("cls", [S.csr_matrix, S.csc_array, S.coo_array], ids=name)
def test_gradient_with_a_constant_matrix(f, cls):
    A, x, b = cls(DENSE), n(3), n(4)
    if f in (diffusion, in_a_branch):
        A, x, b = cls(SQUARE), n(4), n(4)
    slopes.check(f, x, A, b, constant=(1,))


@pytest.mark.parametrize("cls", [S.csr_matrix, S.csr_array], ids=name)
def test_quadratic_form(cls):
    slopes.check(quadratic, n(4), cls(SQUARE), n(4), constant=(1,))


LAPLACIAN = S.csr_array(SQUARE)


class Model:
    def __init__(self, A):
        self.A = A

    def loss(self, x):
        return np.sum((self.A @ x) ** 2) + np.sum(LAPLACIAN @ x)


def multiplied(B, v):
    return B @ v + B.dot(v)


def through_a_function(x, A):
    return np.sum(multiplied(A, x) * multiplied(LAPLACIAN, x))


def test_matrices_of_objects_globals_and_arguments():
    model = Model(S.csr_matrix(SQUARE))
    x = n(4)
    expected = 2 * SQUARE.T @ (SQUARE @ x) + SQUARE.T @ np.ones(4)
    assert np.allclose(s2sad.grad(model.loss)(x), expected)
    slopes.check(through_a_function, x, S.coo_matrix(SQUARE), constant=(1,))


def test_text():
    def f(x, A, b):
        return np.sum((A @ x - b) ** 2)

    text = s2sad.grad(f).source(n(3), S.csr_array(DENSE), n(4))
    assert "A.T @ (2.0 * (A @ x - b))" in text
    assert "A.T @ (2.0 * " in text and "unbroadcast" not in text


def test_another_kind_of_matrix_is_another_derivation():
    def f(x, A):
        return np.sum((A * x) ** 2 if A.shape[0] > 0 else x)

    gradient = s2sad.grad(f)
    x, dense = n(4), SQUARE
    whole = 2 * dense.T @ (dense @ x)
    assert np.allclose(gradient(x, S.csr_matrix(dense)), whole)
    assert np.allclose(gradient(x, dense), 2 * x * np.sum(dense**2, axis=0))
    assert np.allclose(gradient(x, S.csr_matrix(dense)), whole)


def test_single_precision():
    A = S.csr_array(SQUARE.astype(np.float32))
    x = n(4).astype(np.float32)
    assert s2sad.grad(lambda x, A: np.sum((A @ x) ** 2))(x, A).dtype == np.float32


def item_by_item_or_not(x, A, b):
    return (A * x) @ b + np.sum(x * A) + A.dot(x * b) @ (A.T @ x)


@pytest.mark.parametrize("f", [quadratic, diffusion, in_a_branch, item_by_item_or_not])
def test_forward_agrees_or_is_refused(f):
    """An operator of a matrix is not that of arrays: `A * x` of a matrix is a product."""
    x, b, direction = n(4), n(4), n(4)
    A = S.csr_matrix(SQUARE)
    try:
        _, found = s2sad.jvp(f, (x, A, b), (direction, None, None))
    except s2sad.Error:
        return
    assert found == pytest.approx(s2sad.grad(f)(x, A, b) @ direction)


# --- matrices of active numbers ------------------------------------------------------------------


def of_places(x, v, cls):
    A = cls((x, (IN_ROWS, IN_COLUMNS)), shape=(4, 4))
    return np.sum((A @ v) ** 2) + np.sum(v @ A)


def twice_in_one_place(x, v, cls):
    A = cls((x, (IN_ROWS, [0, 1, 2, 3, 0, 2])))
    return np.sum((A @ v) ** 2)


def in_rows(x, v, cls):
    A = cls((x, np.array([0, 2, 1, 2, 1, 3]), np.array([0, 2, 3, 5, 6])), shape=(4, 4))
    return np.sum((A @ v) ** 2) + np.sum(A.T @ (A @ v))


def of_diagonals(x, v, cls):
    A = S.diags([x[:4], x[3:]], [0, 1], shape=(4, 4)) + S.diags(v * v)
    return np.sum((A @ v) ** 2) + np.sum(A.diagonal() ** 2)


def calculated(x, v, cls):
    A = cls((x, (IN_ROWS, IN_COLUMNS)), shape=(4, 4))
    B = (A + A.T) * 2.0 - cls((x * x, (IN_ROWS, IN_COLUMNS)), shape=(4, 4)) * v[0]
    C = (-B.tocsc()) / v[1]
    return np.sum((C @ v) ** 2) + np.sum(C.toarray() * np.outer(v, v)) + B.sum()


def item_by_item(x, v, cls):
    A = cls((x, (IN_ROWS, IN_COLUMNS)), shape=(4, 4))
    return np.sum(A.multiply(v) @ v) + np.sum(A.multiply(np.outer(v, v)).sum())


def matrix_products(x, v, cls):
    A = cls((x, (IN_ROWS, IN_COLUMNS)), shape=(4, 4))
    return np.sum(((A @ A.T) @ v) ** 2) + np.sum(A @ np.outer(v, v))


def filled_in_a_loop(x, v, cls):
    s = 0.0
    for k in range(3):
        if k % 2 == 0:
            A = cls((x * (k + 1), (IN_ROWS, IN_COLUMNS)), shape=(4, 4))
        else:
            A = cls((x * x, (IN_COLUMNS, IN_ROWS)), shape=(4, 4))
        s = s + np.sum((A @ v) ** 2)
    return s


def solved(x, v, cls):
    A = cls((np.concatenate([5.0 + x[:4], x[4:]]), (IN_ROWS, IN_COLUMNS)), shape=(4, 4))
    return np.sum(L.spsolve(A.tocsc(), v) ** 2)


MADE = [of_places, twice_in_one_place, of_diagonals, calculated, item_by_item, matrix_products]


@pytest.mark.parametrize("cls", [S.csr_matrix, S.csc_array, S.coo_array, S.coo_matrix], ids=name)
@pytest.mark.parametrize("f", [*MADE, filled_in_a_loop, solved], ids=name)
def test_gradient_with_a_matrix_of_active_numbers(f, cls):
    slopes.check(f, n(6), n(4), cls, constant=(2,))


def of_memory_that_changes(v, x):
    data = x.copy()
    A = S.csr_array((data, np.array([0, 2, 1, 2, 1, 3]), np.array([0, 2, 3, 5, 6])), shape=(4, 4))
    s = np.sum((A @ v) ** 2)
    data[:] = 0.0
    return s


def of_memory_that_is_filled_again(x, v):
    data, s = np.zeros(6), 0.0
    for i in range(2):
        data[:] = x * (i + 1.0)
        rows = np.array([0, 2, 1, 2, 1, 3]), np.array([0, 2, 3, 5, 6])
        s = s + np.sum((S.csr_array((data, *rows), shape=(4, 4)) @ v) ** 2)
    return s


def test_what_a_matrix_holds_may_change_after_its_use():
    slopes.check(of_memory_that_changes, n(4), n(6), constant=(1,))
    slopes.check(of_memory_that_is_filled_again, n(6), n(4), constant=(1,))


@pytest.mark.parametrize("cls", [S.csr_matrix, S.csr_array, S.csc_matrix, S.csc_array], ids=name)
def test_gradient_with_rows_of_active_numbers(cls):
    slopes.check(in_rows, n(6), n(4), cls, constant=(2,))


def test_the_caller_keeps_unsorted_indices():
    A = S.csr_matrix((np.ones(3), np.array([2, 0, 0]), np.array([0, 3])), shape=(1, 3))

    def f(x, A):
        return np.sum((A * x[0]) @ x)

    assert np.allclose(s2sad.grad(f)(np.array([1.0, 2.0, 3.0]), A), [7.0, 0.0, 1.0])
    assert list(A.indices) == [2, 0, 0]


# --- equations -----------------------------------------------------------------------------------


def system(dtype=float):
    return S.csc_array(SQUARE.astype(dtype))


@pytest.mark.parametrize("b", [n(4), n(4, 1), n(4, 2)], ids=np.shape)
def test_spsolve(b):
    on_host(L.spsolve, system(), b)
    on_host(L.spsolve, S.csr_matrix(SQUARE), b)


def test_triangular_and_exponential():
    lower = S.csr_array(np.tril(SQUARE))
    on_host(L.spsolve_triangular, lower, n(4))
    on_host(L.spsolve_triangular, lower.T.tocsr(), n(4, 2), lower=False)
    on_host(L.expm_multiply, system(), n(4))
    on_host(L.expm_multiply, system(), n(4, 2), traceA=1.0)


@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_factors(trans):
    solve = objects_of(L.SuperLU).functions["solve"]
    on_host(solve, L.splu(system()), n(4), trans=trans)
    on_host(solve, L.splu(system()), n(4, 2), trans=trans)
    wave = S.csc_array(SQUARE + 1j * np.diag(n(4)))
    on_host(solve, L.splu(wave), n(4) + 1j * n(4), trans=trans)


def test_what_was_factorised_tells_its_dtype():
    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        assert objects_of(L.SuperLU).like(L.splu(system(dtype))).dtype == dtype


def by_factors(x, A):
    lu = L.splu(A)
    return np.sum(lu.solve(lu.solve(x), trans="T") ** 2)


def by_given_factors(x, lu):
    return np.sum(lu.solve(x * x) ** 2)


def by_iteration(x, A):
    y, _ = L.cg(A, x, rtol=1e-12)
    z, info = L.gmres(A, y, rtol=1e-12)
    w, _ = L.bicgstab(A, x, rtol=1e-13)
    return np.sum(z**2 * w) + info


def test_equations_in_programs():
    A = S.csc_array(SQUARE @ SQUARE.T)
    slopes.check(by_factors, n(4), A, constant=(1,))
    slopes.check(by_given_factors, n(4), L.splu(A), constant=(1,))
    slopes.check(by_iteration, n(4), A, constant=(1,))


# --- refusals ------------------------------------------------------------------------------------


def change(B, x):
    B.data[:3] = x[:3]


def written(x, A):
    B = A.copy()
    B.data[:3] = x[:3]
    return np.sum(B @ np.ones(4))


def written_by_a_function(x, A):
    B = A.copy()
    change(B, x)
    return np.sum(B @ np.ones(4))


def set_on_the_diagonal(x, A):
    B = A.copy()
    B.setdiag(x[0])
    return np.sum(B @ np.ones(4))


def set_item(x, A):
    B = A.copy()
    B[0, 0] = x[0]
    return np.sum(B @ np.ones(4))


def new_data(x, A):
    A.data = A.data * x[0]
    return np.sum(A @ np.ones(4))


def scaled_in_place(x, A):
    B = A.copy()
    B *= x[0]
    return np.sum(B @ np.ones(4))


def written_after(x, A):
    y = A @ x
    A.data[:] = 0.0
    return np.sum(y**2)


def written_through_a_view(x, A):
    B = S.csr_matrix(A)
    y = A @ x
    B.data[:] = 0.0
    return np.sum(y**2)


def of_a_dense_array(x, A):
    return np.sum(S.csr_matrix(np.outer(x, x)) @ x)


def powers(x, A):
    return np.sum(A.power(x[0]) @ x)


def stacked(x, A):
    return np.sum(S.hstack([A, A]) @ np.concatenate([x, x]))


REFUSED = [written, written_by_a_function, set_on_the_diagonal, set_item, new_data]
REFUSED += [scaled_in_place, of_a_dense_array, powers]


@pytest.mark.parametrize("f", [*REFUSED, stacked], ids=name)
def test_what_is_not_known_is_refused(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(n(4) + 2.0, S.csr_matrix(SQUARE))


@pytest.mark.parametrize("f", [written_after, written_through_a_view], ids=name)
def test_a_matrix_that_is_written_later(f):
    x, A = n(4) + 2.0, S.csr_matrix(SQUARE)
    dense = A.toarray()
    np.testing.assert_allclose(s2sad.grad(f)(x, A), 2.0 * dense.T @ (dense @ x))
    np.testing.assert_array_equal(A.toarray(), dense)


def test_a_matrix_is_not_differentiated_itself():
    with pytest.raises(s2sad.ActivityError, match="array of its values"):
        s2sad.grad(least_squares, wrt="A")(n(3), S.csr_matrix(DENSE), n(4))


def by_diagonals(d, e, v):
    A = S.diags([e, d, e], [-1, 0, 1], format="csc")
    B = S.diags_array([d, e], offsets=[0, 1])
    return np.sum(L.spsolve(A, v) ** 2) + np.sum(v * (B @ v)) + np.sum((A @ v) ** 2)


def test_diagonals_of_unlike_lengths():
    slopes.check(by_diagonals, n(4) + 6.0, n(3), n(4))


def test_numbers_narrower_than_the_vector():
    def product(x, v):
        A = S.coo_array((x, (IN_ROWS, IN_COLUMNS)), shape=(4, 4)).tocsr()
        return np.sum((A @ v) ** 2)

    x, v = n(6), n(4)
    expected = s2sad.grad(product)(x, v)
    found, v_bar = s2sad.grad(product, wrt=(0, 1))(x.astype(np.float32), v)
    assert found.dtype == np.float32 and v_bar.dtype == np.float64
    assert found == pytest.approx(expected, rel=1e-5)


def filled(x):
    """Numbers for one place add up."""
    rows, columns = [0, 1, 2, 0, 1], [0, 1, 2, 0, 2]
    return S.coo_matrix((x, (rows, columns)), shape=(3, 3)).toarray()


def test_what_a_matrix_of_data_makes_shares_no_memory_with_it():
    x, along = n(5), n(5)
    value, moved = s2sad.jvp(filled, (x,), (along,))
    assert np.array_equal(value, filled(x))
    assert np.array_equal(moved, filled(along))
    assert s2sad.vjp(filled, x)[1](np.arange(9.0).reshape(3, 3)).tolist() == [0, 4, 8, 0, 5]
