"""What is real or complex as the content of a real array decides: eigenvalues, roots, logs."""

import linecache

import numpy as np
import pytest
import scipy.linalg

import s2sad
from s2sad.testing import check_rule

eigvals = np.linalg.eigvals
B = np.random.default_rng(0).standard_normal((4, 4))
TURNING = B.copy()  # of its eigenvalues two are real, and of those both negative
SPREAD = B @ np.diag([1.2, -2.3, 0.7, 3.1]) @ np.linalg.inv(B)
POINTS = [TURNING, SPREAD]
DIRECTION = np.cos(np.arange(16.0)).reshape(4, 4)

real_where_it_can_be = pytest.mark.skipif(
    np.iscomplexobj(eigvals(np.eye(2))), reason="since NumPy 2.5 eigenvalues are always complex"
)


@real_where_it_can_be
def test_the_points_are_of_both_kinds():
    assert [np.iscomplexobj(eigvals(A)) for A in POINTS] == [True, False]


def growth(A):
    return np.max(np.real(eigvals(A))) + np.max(np.abs(eigvals(A)))


def by_vectors(A):
    w, V = np.linalg.eig(A)
    made = (V * np.exp(w)) @ np.linalg.inv(V)
    return np.sum(made.real**2) + np.sum(np.real(w) ** 2)


def picked(A):
    w = eigvals(A)
    return np.real(w[np.argmax(np.abs(w))])


def one_by_one(A):
    s = 0.0
    for k, value in enumerate(eigvals(A)):
        s += k * abs(value) ** 2
    return s


def times_complex(A):
    w = eigvals(A)
    z = w * (0.3 - 2j)
    return np.abs(z).sum() + z.real.sum() + np.sum(w.imag**2) + np.abs(w - 1)[0]


def by_attribute(A):
    return np.sum(np.abs(np.linalg.eig(A).eigenvalues))


def branched(A):
    w = eigvals(A)
    if np.iscomplexobj(w):
        return np.sum(w.real * w.imag**2)
    return np.sum(w**3)


def numbers_tested(A):
    s = 0.0
    for value in eigvals(A):
        if np.iscomplexobj(value):
            s = s + abs(value.imag) * 3
        else:
            s = s + value.real
    return s


def joined(A):
    w = np.concatenate([eigvals(A), A[0]])
    w = np.where(np.abs(w) > 1, w, 0)
    return np.sum(np.abs(w) ** 1.5)


def one_arm_real(A):
    w = eigvals(A)
    if A[0, 0] < -100:
        w = w * 2
    else:
        w = w.real
    return np.sum(np.abs(w)) + np.sum(w).real


def into_complex(A):
    out = np.zeros(4, complex)
    w = eigvals(A)
    for i in range(4):
        out[i] = w[i] * 2
    return np.sum(np.abs(out) ** 2)


def in_a_dict(A):
    d = {"w": eigvals(A), "k": 3.0}
    return np.sum(np.abs(d["w"]) * d["k"])


def called(A):
    def sizes(w):
        return np.sum(np.abs(w) ** 3)

    return sizes(eigvals(A)) + sizes(A)


def made_complex(A):
    w = eigvals(A).astype(complex)
    w[0] = 2 * w[0]
    return np.sum(np.abs(w))


def of_roots(A):
    r = np.roots(A[0])
    s = np.polynomial.chebyshev.chebroots(A[1])
    return np.real(r[np.argmax(np.abs(r))]) + np.real(s[np.argmax(np.abs(s))])


def polynomial_of_roots(A):
    return np.sum(np.abs(np.poly(eigvals(A))) ** 2) + np.sum(np.poly(A))


def logarithm(A):
    return np.sum(np.real(scipy.linalg.logm(A)) ** 2) + np.sum(np.abs(scipy.linalg.logm(A)))


def root(A):
    return np.sum(np.abs(scipy.linalg.sqrtm(A)) ** 2) + np.trace(scipy.linalg.sqrtm(A @ A)).real


def of_scipy(A):
    w, v = scipy.linalg.eig(A)
    return np.sum(np.abs(w)) + np.sum(np.abs(v) ** 3)


def nearly_real(A):
    w = np.real_if_close(eigvals(A.astype(complex)))
    return np.sum(np.abs(w) ** 2) + np.real_if_close(w[0]).real


def outside(A):
    found = np.emath.sqrt(A[0]) + np.emath.log(A[1]) + np.emath.arccos(A[2])
    return np.sum(np.abs(found) ** 3) + np.abs(np.emath.power(A, 2.5)).sum()


def a_stack(A):
    w = eigvals(np.stack([A, A.T + 1]))
    return np.sum(np.abs(w) ** 2) + np.max(w.real)


def scaled(A):
    z = eigvals(A)[0] * A[0]
    if np.iscomplexobj(z):
        return np.sum(z.imag**2) + np.abs(z[:2] * (1 + 2j)).sum()
    return np.sum(z[:3] ** 2) + z[1:].real.sum()


def of_one_number(A):
    value = np.exp(eigvals(A)[0]) + np.trace(np.diag(eigvals(A)))
    rows = np.full(3, value) * np.array([value, 1.0, 2.0])
    if np.iscomplexobj(value):
        return value.real * 3 + (rows[:2] * (1 + 1j)).real.sum()
    return value.real * 2 + (rows[1:] * (1 + 1j)).real.sum()


def each_scaled(A):
    rows = [value * A[0] for value in eigvals(A)]
    return np.sum((rows[0][:2] * (1 + 1j)).real)


TWICE = [
    *(growth, by_vectors, picked, one_by_one, times_complex, by_attribute, branched, joined),
    *(into_complex, in_a_dict, called, made_complex, of_roots, logarithm, root, of_scipy),
    *(nearly_real, outside, a_stack, one_arm_real, numbers_tested),
    *(scaled, of_one_number),
]


def slopes(f, A, direction, h=1e-5):
    return (f(A + h * direction) - f(A - h * direction)) / (2 * h)


@pytest.mark.filterwarnings("error::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("f", [*TWICE, polynomial_of_roots, each_scaled])
def test_at_real_and_complex_points(f):
    for A in POINTS:
        change = slopes(f, A, DIRECTION)
        near = 1e-6 * (1 + abs(change))
        gradient = s2sad.grad(f)(A)
        assert gradient.dtype == A.dtype
        assert abs(np.sum(gradient * DIRECTION) - change) < near
        value, tangent = s2sad.jvp(f, (A,), (DIRECTION,))
        assert value == f(A)
        assert abs(tangent - change) < near


DAILY = (growth, times_complex, of_roots)


@pytest.mark.parametrize(
    "f", [f if f in DAILY else pytest.param(f, marks=pytest.mark.full) for f in TWICE]
)
def test_twice(f):
    for A in POINTS:
        second = slopes(s2sad.grad(f), A, DIRECTION)
        found = s2sad.hvp(f, (A,), (DIRECTION,))
        assert np.max(np.abs(found - second)) < 1e-5 * (1 + np.max(np.abs(second)))


def largest(A):
    return np.max(eigvals(A))


@real_where_it_can_be
def test_a_result_is_looked_at_as_it_runs():
    change = slopes(largest, SPREAD, DIRECTION)
    assert abs(np.sum(s2sad.grad(largest)(SPREAD) * DIRECTION) - change) < 1e-6
    with pytest.raises(TypeError, match="np.real"):
        s2sad.grad(largest)(TURNING)
    y, pull = s2sad.vjp(largest, TURNING)
    assert np.iscomplexobj(y)
    bar = pull(1.0 + 0j)
    assert abs(np.sum(bar * DIRECTION) - slopes(largest, TURNING, DIRECTION).real) < 1e-6


def with_more(A):
    w = eigvals(A)
    return np.sum(w), w


@real_where_it_can_be
def test_what_is_returned_beside_may_be_complex():
    gradient, w = s2sad.grad(with_more, has_aux=True)(SPREAD)
    np.testing.assert_array_equal(w, eigvals(SPREAD))
    np.testing.assert_allclose(gradient, np.eye(4), atol=1e-9)
    with pytest.raises(TypeError, match="np.real"):
        s2sad.grad(with_more, has_aux=True)(TURNING)


def surely_complex(x):
    return np.sum(x * 1j)


def test_a_complex_result_is_told_what_to_do():
    with pytest.raises(s2sad.ActivityError, match=r"np\.real"):
        s2sad.grad(surely_complex)(np.ones(2))


def written(A):
    w = eigvals(A)
    w[0] = 2 * w[0]
    return np.sum(np.abs(w))


@real_where_it_can_be
def test_what_may_be_either_is_written():
    for A in POINTS:
        got = np.sum(s2sad.grad(written)(A) * DIRECTION)
        assert abs(got - slopes(written, A, DIRECTION)) < 1e-6


def added_to(A):
    w = eigvals(A)
    w[1:] += A[0, 1:]
    return np.sum(np.abs(w))


def test_what_may_be_either_is_not_changed_in_place():
    with pytest.raises(s2sad.UnsupportedError, match=r"astype\(complex\)"):
        s2sad.grad(added_to)(SPREAD)


def test_single_precision():
    for A in POINTS:
        A = A.astype(np.float32)
        gradient = s2sad.grad(picked)(A)
        assert gradient.dtype == np.float32
        np.testing.assert_allclose(gradient, s2sad.grad(picked)(A.astype(float)), atol=1e-4)


def test_an_emitted_file_serves_both(tmp_path):
    path = s2sad.grad(by_vectors).emit(tmp_path / "own.py", SPREAD)
    space = {}
    linecache.checkcache()
    exec(path.read_text(), space)
    for A in POINTS:
        np.testing.assert_array_equal(space["by_vectors_grad"](A), s2sad.grad(by_vectors)(A))


def arm(x, turned):
    z = x * 1j if turned else x * 2.0
    return (z * (1 + 2j)).real


def arm_of_arrays(x, turned):
    if turned:
        z = np.sum(x * 1j)
    else:
        y = x * 1.0
        z = np.sum(y[:2])
    return (z * (1 + 2j)).real


def test_the_cotangent_of_a_real_number_is_real_where_others_are_complex():
    assert s2sad.grad(arm)(0.7, True) == -2.0
    gradient = s2sad.grad(arm)(0.7, False)
    assert type(gradient) is float
    assert gradient == 2.0
    np.testing.assert_array_equal(s2sad.grad(arm_of_arrays)(np.ones(3), True), [-2.0] * 3)
    np.testing.assert_array_equal(s2sad.grad(arm_of_arrays)(np.ones(3), False), [1.0, 1.0, 0.0])


def assigned(x, turned):
    if turned:
        z = x * 1j
    else:
        z = x * 2.0
    return (z * (1 + 2j)).real


def test_so_of_one_that_is_assigned():
    assert type(s2sad.grad(assigned)(0.7, False)) is float
    assert s2sad.grad(assigned)(0.7, False) == 2.0


def of_domain(name):
    space = {"np": np}
    text = f"def f(x):\n    z = np.emath.{name}(x)\n"
    text += "    return np.sum(np.abs(z) ** 3) + np.sum(np.real(z) + np.imag(z))\n"
    where = f"<emath {name}>"
    linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
    exec(compile(text, where, "exec"), space)
    return space["f"]


OUT = np.array([-1.3, 0.4, 2.2])


@pytest.mark.parametrize("name", ["sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"])
def test_beyond_the_domain_of_real_functions(name):
    f = of_domain(name)
    for x in (OUT, np.array([0.3, 0.6, 0.9])):
        d = np.array([0.3, -0.7, 0.2])
        assert abs(s2sad.grad(f)(x) @ d - slopes(f, x, d)) < 1e-6
        assert s2sad.jvp(f, (x,), (d,))[0] == f(x)


@pytest.mark.parametrize("fn", [np.arccos, np.arcsin])
def test_on_the_cuts_of_complex_functions(fn):
    """On which side of a cut a number lies says the sign of a zero."""
    bar = np.array([1.0 - 0.5j])
    for x, y in ((2.2, 0.0), (2.2, -0.0), (-2.2, 0.0), (-2.2, -0.0)):
        z, right, left = (np.array([complex(x + step, y)]) for step in (0.0, 1e-6, -1e-6))
        change = (fn(right) - fn(left)) / 2e-6
        pulled = s2sad.vjp(lambda z: fn(z), z)[1](bar)
        assert abs(pulled[0] - np.sum(bar * change)) < 1e-8, z


ROWS = [
    *((np.linalg.eigvals, A) for A in POINTS),
    *((scipy.linalg.sqrtm, A @ A) for A in POINTS),
    (scipy.linalg.logm, SPREAD @ SPREAD),
    *((scipy.linalg.logm, A) for A in POINTS),
]


@pytest.mark.parametrize(("fn", "A"), ROWS)
def test_rows(fn, A):
    check_rule(fn, A)
