"""The rules of rules/linalg.py, a row for each combination of ranks and each keyword."""

import numpy as np
import pytest

import s2sad
from s2sad.registry import rule_for
from s2sad.rules.linalg import cofactor
from s2sad.testing import check_first, check_rule, differences

rng = np.random.default_rng(7)


def normal(*shape):
    return rng.standard_normal(shape)


def wave(*shape):
    return normal(*shape) + 1j * normal(*shape)


def regular(*shape):
    return normal(*shape) + 3 * np.eye(shape[-1])


def positive(*shape):
    a = normal(*shape)
    return a @ np.swapaxes(a, -1, -2) + 2 * np.eye(shape[-1])


def spread(*shape):
    """A matrix with singular values far apart."""
    u, _, vh = np.linalg.svd(normal(*shape), full_matrices=False)
    return (u * np.arange(1.0, min(shape[-2:]) + 1)) @ vh


hermitian = wave(3, 3)
hermitian = hermitian @ np.conj(hermitian.T) + 2 * np.eye(3)
singular = np.arange(1.0, 10.0).reshape(3, 3)
v = np.array([0.5, -2.0, 1.25])
rotating = np.array([[1.0, -2.0, 0.3], [1.5, 1.2, 0.1], [0.2, 0.4, 5.0]])

ROWS = [
    (np.linalg.solve, (regular(3, 3), normal(3)), {}),
    (np.linalg.solve, (regular(3, 3), normal(3, 2)), {}),
    (np.linalg.solve, (regular(2, 3, 3), normal(2, 3, 2)), {}),
    (np.linalg.solve, (regular(2, 3, 3), normal(3, 2)), {}),
    (np.linalg.solve, (regular(3, 3), normal(2, 3, 1)), {}),
    (np.linalg.solve, (regular(2, 3, 3), normal(3)), {}),
    (np.linalg.solve, (regular(1, 1), normal(1)), {}),
    (np.linalg.solve, (wave(3, 3), wave(3)), {}),
    (np.linalg.inv, (regular(3, 3),), {}),
    (np.linalg.inv, (regular(2, 3, 3),), {}),
    (np.linalg.inv, (wave(2, 2),), {}),
    (np.linalg.det, (normal(3, 3),), {}),
    (np.linalg.det, (normal(2, 3, 3),), {}),
    (np.linalg.det, (wave(3, 3),), {}),
    (np.linalg.det, (singular,), {}),
    (np.linalg.det, (np.zeros((2, 2)),), {}),
    (np.linalg.det, (np.eye(3),), {}),
    (np.linalg.det, (normal(1, 1),), {}),
    (cofactor, (normal(3, 3),), {}),
    (cofactor, (np.eye(3),), {}),
    (cofactor, (wave(2, 3, 3),), {}),
    (np.linalg.slogdet, (normal(3, 3),), {}),
    (np.linalg.slogdet, (normal(2, 3, 3),), {}),
    (np.linalg.slogdet, (wave(3, 3),), {}),
    (np.linalg.norm, (v,), {}),
    (np.linalg.norm, (np.array([0.5 + 1j, -2.0]),), {}),
    (np.linalg.norm, (v,), {"keepdims": True}),
    (np.linalg.norm, (normal(2, 3),), {}),
    (np.linalg.norm, (normal(2, 3, 2),), {}),
    (np.linalg.norm, (normal(2, 3, 2),), {"keepdims": True}),
    *[(np.linalg.norm, (v,), {"ord": order}) for order in (2, 1, 3, 2.5, -1, 0.5, np.inf, -np.inf)],
    *[(np.linalg.norm, (wave(4),), {"ord": order}) for order in (2, 1, 3, np.inf, -np.inf)],
    *[
        (np.linalg.norm, (normal(2, 3, 4),), {"ord": order, "axis": 1, "keepdims": keepdims})
        for order in (None, 1, 3, np.inf)
        for keepdims in (False, True)
    ],
    *[
        (np.linalg.norm, (spread(3, 2),), {"ord": order})
        for order in ("fro", 1, -1, 2, -2, np.inf, -np.inf, "nuc")
    ],
    *[(np.linalg.norm, (spread(3, 3),), {"ord": order}) for order in (2, -2)],
    *[
        (np.linalg.norm, (spread(4, 3, 2),), {"ord": order, "axis": (2, 1)})
        for order in ("fro", None, 1, -1, 2, -2, np.inf, -np.inf, "nuc")
    ],
    *[
        (np.linalg.norm, (spread(4, 3, 2),), {"ord": order, "axis": (-2, -1), "keepdims": True})
        for order in ("fro", 1, 2, np.inf, "nuc")
    ],
    *[(np.linalg.norm, (wave(2, 3),), {"ord": order}) for order in ("fro", 1, 2, np.inf, "nuc")],
    (np.linalg.cholesky, (positive(3, 3),), {}),
    (np.linalg.cholesky, (positive(3, 3),), {"upper": True}),
    (np.linalg.cholesky, (positive(2, 3, 3),), {}),
    (np.linalg.cholesky, (positive(1, 1),), {}),
    (np.linalg.cholesky, (hermitian,), {}),
    (np.linalg.cholesky, (hermitian,), {"upper": True}),
    (np.linalg.cholesky, (np.stack([hermitian, 2 * hermitian]),), {}),
    (np.linalg.cholesky, (np.stack([hermitian, 2 * hermitian]),), {"upper": True}),
    (np.linalg.eigh, (positive(3, 3),), {}),
    (np.linalg.eigh, (normal(3, 3),), {"UPLO": "L"}),
    (np.linalg.eigh, (normal(3, 3),), {"UPLO": "U"}),
    (np.linalg.eigh, (normal(3, 3),), {"UPLO": "u"}),
    (np.linalg.eigh, (positive(2, 3, 3),), {}),
    (np.linalg.eigh, (normal(1, 1),), {}),
    (np.linalg.eigvalsh, (normal(3, 3),), {}),
    (np.linalg.eigvalsh, (normal(2, 3, 3),), {"UPLO": "U"}),
    (np.linalg.eigvalsh, (hermitian,), {}),
    (np.linalg.eigvalsh, (hermitian,), {"UPLO": "U"}),
    (np.linalg.svdvals, (normal(3, 2),), {}),
    (np.linalg.svdvals, (wave(2, 3),), {}),
    (np.linalg.svdvals, (normal(4, 2, 3),), {}),
    (np.linalg.svd, (normal(4, 2, 3),), {"compute_uv": False}),
    (np.linalg.svd, (spread(3, 3),), {}),
    (np.linalg.svd, (spread(3, 3) + spread(3, 3).T,), {"hermitian": True, "compute_uv": False}),
    (np.linalg.pinv, (spread(3, 3) + spread(3, 3).T,), {"hermitian": True}),
    (np.linalg.qr, (normal(3, 3),), {"mode": "complete"}),
    (np.linalg.qr, (normal(4, 2),), {"mode": "r"}),
    (np.linalg.qr, (normal(2, 4),), {"mode": "r"}),
    (np.linalg.svd, (spread(2, 3, 3),), {}),
    (np.linalg.svd, (spread(4, 2),), {"full_matrices": False}),
    (np.linalg.svd, (spread(2, 4),), {"full_matrices": False}),
    (np.linalg.svd, (normal(1, 1),), {}),
    (np.linalg.svd, (normal(2, 4),), {"compute_uv": False}),
    (np.linalg.svd, (wave(4, 2),), {"compute_uv": False}),
    (np.linalg.qr, (normal(3, 3),), {}),
    (np.linalg.qr, (normal(4, 2),), {}),
    (np.linalg.qr, (normal(2, 4, 3),), {"mode": "reduced"}),
    (np.linalg.pinv, (normal(3, 3),), {}),
    (np.linalg.pinv, (normal(4, 2),), {}),
    (np.linalg.pinv, (normal(2, 4),), {}),
    (np.linalg.pinv, (normal(2, 4, 3),), {}),
    (np.linalg.pinv, (wave(3, 2),), {}),
    (np.linalg.pinv, (wave(2, 3),), {}),
    *[(np.linalg.matrix_power, (regular(3, 3) / 3,), {"n": n}) for n in (0, 1, 2, 3, 5, -1, -3)],
    (np.linalg.matrix_power, (regular(2, 3, 3) / 3,), {"n": 4}),
    *[(np.linalg.matrix_power, (regular(2, 3, 3) / 3,), {"n": n}) for n in (2, -2)],
    (np.linalg.matrix_power, (wave(2, 2),), {"n": 3}),
    (np.linalg.multi_dot, ([normal(2, 3), normal(3, 4)],), {}),
    (np.linalg.multi_dot, ([normal(2, 3), normal(3, 4), normal(4, 1), normal(1, 5)],), {}),
    (np.linalg.multi_dot, ([normal(2), normal(2, 3), normal(3)],), {}),
    (np.linalg.multi_dot, ((normal(2), normal(2, 3), normal(3, 4)),), {}),
    (np.linalg.multi_dot, ([wave(2, 3), wave(3, 2), wave(2)],), {}),
    (np.linalg.matrix_rank, (normal(3, 3),), {}),
    (np.linalg.pinv, (np.eye(3),), {}),
    (np.linalg.pinv, (spread(4, 3),), {"rcond": 0.5}),
    (np.linalg.pinv, (np.diag([3.0, 2.5, 1.0]),), {"rcond": 0.5}),
    (np.linalg.pinv, (spread(2, 4, 3),), {"rtol": 0.5}),
    (np.linalg.lstsq, (normal(5, 3), normal(5)), {}),
    (np.linalg.lstsq, (normal(5, 3), normal(5, 2)), {}),
    (np.linalg.lstsq, (normal(3, 3), normal(3)), {"rcond": None}),
    (np.linalg.lstsq, (normal(2, 4), normal(2)), {}),
    (np.linalg.lstsq, (normal(2, 4), normal(2, 3)), {"rcond": 1e-10}),
    *[
        (np.linalg.cond, (normal(3, 3),), {"p": p})
        for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro")
    ],
    *[(np.linalg.cond, (normal(2, 3, 3),), {"p": p}) for p in (None, 1)],
    (np.linalg.cond, (normal(4, 2),), {}),
    (np.linalg.cond, (wave(3, 3),), {}),
    (np.linalg.vector_norm, (v,), {}),
    (np.linalg.vector_norm, (normal(2, 3),), {"keepdims": True}),
    (np.linalg.vector_norm, (normal(2, 3),), {"axis": 1}),
    (np.linalg.vector_norm, (normal(2, 3),), {"ord": np.inf}),
    (np.linalg.vector_norm, (normal(2, 3, 4),), {"axis": (0, 2)}),
    (np.linalg.vector_norm, (normal(2, 3, 4),), {"axis": (2, 0), "ord": 3, "keepdims": True}),
    (np.linalg.vector_norm, (wave(2, 3),), {"ord": 1}),
    (np.linalg.matrix_norm, (normal(3, 2),), {}),
    (np.linalg.matrix_norm, (spread(2, 3, 2),), {"ord": 2}),
    (np.linalg.matrix_norm, (spread(2, 3, 2),), {"ord": "nuc", "keepdims": True}),
    (np.linalg.matrix_norm, (normal(2, 3, 2),), {"ord": 1}),
    (np.linalg.tensorsolve, (regular(6, 6).reshape(2, 3, 6), normal(2, 3)), {}),
    (np.linalg.tensorsolve, (regular(6, 6).reshape(2, 3, 3, 2), normal(2, 3)), {}),
    (np.linalg.tensorsolve, (normal(2, 6, 3), normal(2, 3)), {"axes": (1,)}),
    (np.linalg.tensorsolve, (normal(2, 3, 6), normal(6)), {"axes": (0, 1)}),
    (np.linalg.tensorinv, (normal(2, 3, 6),), {}),
    (np.linalg.tensorinv, (normal(6, 2, 3),), {"ind": 1}),
    (np.linalg.eig, (normal(3, 3),), {}),
    (np.linalg.eig, (rotating,), {}),
    (np.linalg.eig, (wave(3, 3),), {}),
    (np.linalg.eig, (np.stack([rotating, rotating.T @ rotating - rotating]),), {}),
    (np.linalg.eigvals, (rotating,), {}),
    (np.linalg.eigvals, (wave(2, 3, 3),), {}),
    (np.linalg.diagonal, (normal(3, 4),), {}),
    (np.linalg.diagonal, (normal(2, 3, 4),), {"offset": 1}),
    (np.linalg.trace, (normal(3, 4),), {"offset": -1}),
    (np.linalg.trace, (wave(2, 3, 3),), {}),
]


@pytest.mark.parametrize("fn, args, settings", ROWS)
def test_rule(fn, args, settings):
    check_rule(fn, *args, **settings)


def test_equal_values_that_a_pseudoinverse_keeps():
    """Their first derivatives are known; a second one would be that of singular vectors."""
    check_first(np.linalg.pinv, np.diag([3.0, 3.0, 1.0]), rcond=0.5)


def pull(fn, out_bar, a, **settings):
    return rule_for(fn).pullback(out_bar, fn(a, **settings), a, **settings)


def real_parts(a):
    return np.sum(np.real(np.linalg.eigvals(a.astype(complex))) ** 3)


def sizes(a):
    return np.sum(np.abs(np.linalg.eigvals(a)))


@pytest.mark.parametrize("a", [rotating, spread(3, 3)])
def test_eigenvalues_of_a_real_matrix(a):
    """Where they are real and where they are not, said by the program or not."""
    direction = normal(3, 3)
    for f in (real_parts, sizes):
        change, error = differences(f, (a,), (direction,))
        assert abs(np.sum(s2sad.grad(f)(a) * direction) - change) <= 10 * error


def test_a_deficient_rank_is_refused():
    a = np.outer(v, v)
    rule, out = rule_for(np.linalg.lstsq), np.linalg.lstsq(a, v)
    with pytest.raises(NotImplementedError, match="rank"):
        rule.pullback((v, None, None, None), out, a, v)


def test_the_determinant_is_flat_where_the_rank_is_low():
    assert np.allclose(pull(np.linalg.det, 1.0, np.outer(v, v)), 0.0)


@pytest.mark.parametrize("order", [None, 1, 2, 3, np.inf, -np.inf])
def test_the_norm_of_zero_has_derivative_zero(order):
    assert not np.any(pull(np.linalg.norm, 1.0, np.zeros(3), ord=order))
    assert not np.any(pull(np.linalg.norm, np.ones(2), np.zeros((2, 3)), ord=order, axis=1))


@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_the_norm_of_a_zero_matrix_has_derivative_zero(order):
    assert not np.any(pull(np.linalg.norm, 1.0, np.zeros((2, 3)), ord=order))


def test_ties_share_the_cotangent_of_a_norm():
    assert pull(np.linalg.norm, 1.0, np.array([2.0, -2.0]), ord=np.inf).tolist() == [0.5, -0.5]
    assert np.array_equal(pull(np.linalg.norm, 1.0, np.eye(2), ord=1), 0.5 * np.eye(2))
    assert np.allclose(pull(np.linalg.norm, 1.0, np.eye(2), ord=2), 0.5 * np.eye(2))
    assert np.allclose(pull(np.linalg.norm, 1.0, np.eye(2), ord=-2), 0.5 * np.eye(2))


def test_the_number_of_entries_has_derivative_zero():
    assert not np.any(pull(np.linalg.norm, 1.0, v, ord=0))


@pytest.mark.parametrize("fn, a", [(np.linalg.eigh, positive(3, 3)), (np.linalg.svd, spread(3, 3))])
def test_a_result_that_was_not_used_may_have_no_cotangent(fn, a):
    out = fn(a)
    bars = [normal(*part.shape) for part in out]
    for k in range(len(out)):
        for others in (True, False):
            used = [(i == k) != others for i in range(len(out))]
            some = [bar if use else None for bar, use in zip(bars, used, strict=True)]
            zero = [bar if use else 0 * bar for bar, use in zip(bars, used, strict=True)]
            one = rule_for(fn).pullback(some, out, a)
            assert np.allclose(one, rule_for(fn).pullback(zero, out, a))


def test_an_unused_part_of_slogdet_and_qr_may_have_no_cotangent():
    a = normal(3, 3)
    rule, out = rule_for(np.linalg.slogdet), np.linalg.slogdet(a)
    assert np.array_equal(rule.pullback((None, 2.0), out, a), rule.pullback((1.0, 2.0), out, a))
    assert not np.any(rule.pullback((1.0, None), out, a))
    rule, out = rule_for(np.linalg.qr), np.linalg.qr(a)
    q_bar, r_bar = normal(3, 3), normal(3, 3)
    both = rule.pullback((q_bar, r_bar), out, a)
    apart = rule.pullback((q_bar, None), out, a) + rule.pullback((None, r_bar), out, a)
    assert np.allclose(both, apart)


@pytest.mark.parametrize("UPLO", ["L", "U"])
def test_complex_eigenvectors_where_their_phases_do_not_matter(UPLO):
    weights = normal(3, 3)

    def f(a):
        return np.sum(weights * np.abs(np.linalg.eigh(a, UPLO)[1]) ** 2)

    rule, out, direction = rule_for(np.linalg.eigh), np.linalg.eigh(hermitian, UPLO), wave(3, 3)
    v_bar = 2 * weights * np.conj(out[1])
    a_bar = rule.pullback((None, v_bar), out, hermitian, UPLO=UPLO)
    change, error = differences(f, (hermitian,), (direction,))
    assert abs(np.real(np.sum(a_bar * direction)) - change) <= 10 * error
    with pytest.raises(NotImplementedError, match="phases"):
        rule.pullback((None, v_bar + 0.1j * np.conj(out[1])), out, hermitian, UPLO=UPLO)
    with pytest.raises(NotImplementedError, match="complex"):
        rule.pushforward(out, hermitian, direction, UPLO=UPLO)


def test_a_norm_that_is_no_number_has_no_derivative_that_is_one():
    x = np.array([1.0, np.nan])
    assert np.all(np.isnan(pull(np.linalg.norm, 1.0, x)))


def test_singular_values_alone_have_a_derivative_with_full_matrices():
    a = wave(2, 4)
    s_bar = normal(2)
    one = rule_for(np.linalg.svd).pullback((None, s_bar, None), np.linalg.svd(a), a)
    assert np.allclose(one, pull(np.linalg.svdvals, s_bar, a))


@pytest.mark.parametrize(
    "fn, a, settings",
    [
        (np.linalg.svd, wave(2, 2), {}),
        (np.linalg.qr, normal(3, 2), {"mode": "complete"}),
        (np.linalg.qr, wave(3, 2), {}),
    ],
)
def test_what_has_no_derivative_is_refused(fn, a, settings):
    out = fn(a, **settings)
    with pytest.raises(NotImplementedError):
        rule_for(fn).pullback(out, out, a, **settings)
    with pytest.raises(NotImplementedError):
        rule_for(fn).pushforward(out, a, a, **settings)


@pytest.mark.parametrize("fn, args, settings", [row for row in ROWS if row[0] is np.linalg.solve])
def test_a_constant_may_have_no_tangent(fn, args, settings):
    (a, b), rule, out = args, rule_for(fn), fn(*args)
    a_dot, b_dot = normal(*a.shape), normal(*b.shape)
    apart = rule.pushforward(out, a, b, a_dot, None) + rule.pushforward(out, a, b, None, b_dot)
    assert np.allclose(rule.pushforward(out, a, b, a_dot, b_dot), apart)


def test_constants_of_a_chain_may_have_no_tangent():
    chain = [normal(2, 3), normal(3, 3), normal(3)]
    rule, out = rule_for(np.linalg.multi_dot), np.linalg.multi_dot(chain)
    found = rule.pushforward(out, chain, [None, chain[1], None])
    assert np.allclose(found, out)


def of_equal_eigenvalues(x):
    w, _ = np.linalg.eigh(x * np.eye(3))
    return np.sum(w**2)


def of_equal_singular_values(x):
    _, s, _ = np.linalg.svd(x * np.eye(3))
    return np.sum(s**2)


def of_equal_general_eigenvalues(x):
    w, _ = np.linalg.eig(x * np.diag([1.0, 1.0, 2.0]) + 0j)
    return np.sum(np.abs(w) ** 2)


def of_a_wide_matrix(x):
    _, s, _ = np.linalg.svd(np.outer(np.array([1.0, x]), np.array([x, 2.0, 1.0])) + np.eye(2, 3))
    return s[0] * s[1]


@pytest.mark.parametrize(
    "fn",
    [
        of_equal_eigenvalues,
        of_equal_singular_values,
        of_equal_general_eigenvalues,
        of_a_wide_matrix,
    ],
)
def test_vectors_that_nothing_depends_on_do_no_harm(fn):
    slope = (fn(1.5 + 1e-6) - fn(1.5 - 1e-6)) / 2e-6
    assert s2sad.grad(fn)(1.5) == pytest.approx(slope, rel=1e-6)


def both_kinds(z):
    """The singular values of a complex matrix, beside what is real or complex."""
    c = z[:2] + 1j * z[2:]
    _, s, _ = np.linalg.svd(np.outer(c, c[::-1]) + np.eye(2))
    return s @ np.array([1.0, 2.0]) + np.mean(np.emath.sqrt(-np.abs(z))).imag


def test_what_a_helper_of_a_rule_refuses_in_a_second_derivative_has_a_place():
    z = np.array([0.1, 0.4, 0.8, 1.1])
    with pytest.raises(s2sad.UnsupportedError, match="singular vectors") as caught:
        s2sad.hvp(both_kinds, (z,), (z,))
    assert "in both_kinds" in str(caught.value)
