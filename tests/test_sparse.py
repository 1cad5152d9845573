"""Sparse Jacobians and Hessians: against the dense ones, and never short of an entry in silence."""

import subprocess
import sys

import numpy as np
import pytest

import s2sad
from s2sad import ActivityError, UnsupportedError

scipy_sparse = pytest.importorskip("scipy.sparse")
pytest.importorskip("networkx")
sparse = pytest.importorskip("s2sad.sparse")

U = np.linspace(0.1, 1.3, 30)


def reaction(u, rate):
    out = rate * u * (1.0 - u)
    out[1:-1] += u[:-2] - 2.0 * u[1:-1] + u[2:]
    return out


def written(u):
    """Burgers' equation, in place."""
    for _ in range(2):
        u[1:-1] -= 0.1 * u[1:-1] * (u[2:] - u[:-2])
    return u


def summed(u):
    """Few numbers of many: fewer rows than columns."""
    return np.array([np.sum(u[:10] ** 2), np.sum(np.sin(u[10:]))])


def plane(m):
    out = np.zeros_like(m)
    out[1:, :] = m[1:, :] * m[:-1, :]
    return out


def valley(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


CASES = [(reaction, (U, 2.0)), (written, (U,)), (summed, (U,)), (plane, (U.reshape(5, 6),))]


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize(("f", "args"), CASES)
def test_is_the_dense_one(f, args, mode):
    J = sparse.jacobian(f, mode=mode)
    dense = s2sad.jacobian(f)(*args)
    dense = dense.reshape(dense.size // args[0].size, -1)
    made = J(*args)
    assert isinstance(made, scipy_sparse.csr_array) and made.shape == dense.shape
    assert made.toarray() == pytest.approx(dense, rel=1e-14, abs=1e-14)
    assert (J(*args) != made).nnz == 0
    given = sparse.pattern(f)(*args)
    assert given.dtype == bool and np.all(given.toarray() | (dense == 0.0))
    again = sparse.jacobian(f, pattern=given.toarray(), mode=mode)(*args)
    assert again.toarray() == pytest.approx(dense, rel=1e-14, abs=1e-14)


def test_few_directions(monkeypatch):
    """A band of three takes three tangents, whatever the length; two rows take two cotangents."""
    assert sparse.groups(sparse.pattern(reaction)(U, 2.0)).count == 3
    J = sparse.jacobian(summed)
    J(U)
    (plan,) = J._plans.values()
    assert plan.by_rows and plan.groups.count == 1  # the two share no column
    J = sparse.jacobian(reaction)
    J(U, 2.0)
    (plan,) = J._plans.values()
    assert not plan.by_rows and plan.groups.count == 3


def test_hessian():
    made = sparse.hessian(valley)(U)
    assert made.toarray() == pytest.approx(s2sad.hessian(valley)(U), rel=1e-13, abs=1e-12)
    assert made.nnz == 3 * U.size - 2
    band = abs(np.subtract.outer(np.arange(30), np.arange(30))) <= 1
    given = sparse.hessian(valley, pattern=band)(U)
    assert given.toarray() == pytest.approx(made.toarray())


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_pattern_that_misses_something(mode):
    full = sparse.pattern(reaction)(U, 2.0).toarray()
    rng = np.random.default_rng(0)
    rows, columns = np.nonzero(full)
    for k in rng.choice(rows.size, 12, replace=False):
        less = full.copy()
        less[rows[k], columns[k]] = False
        with pytest.raises(ActivityError, match="misses a nonzero entry") as caught:
            sparse.jacobian(reaction, pattern=less, mode=mode)(U, 2.0)
        assert "test_sparse.py" in str(caught.value)


def test_pattern_with_more_than_there_is():
    made = sparse.jacobian(reaction, pattern=np.ones((30, 30)))(U, 2.0)
    assert made.nnz == 900
    assert made.toarray() == pytest.approx(s2sad.jacobian(reaction)(U, 2.0))
    kept = scipy_sparse.coo_array((np.zeros(3), ([0, 1, 2], [0, 1, 2])), shape=(3, 3))
    assert sparse.jacobian(lambda x: x * x, pattern=kept)(U[:3]).nnz == 3


def test_zeros_at_hand_are_in_the_pattern():
    zeros = np.zeros(6)
    assert sparse.pattern(reaction)(zeros, 0.0).nnz == 14
    assert sparse.pattern(lambda x: np.outer(x, x)[0] * 0.0)(zeros).nnz == 11


def test_another_path_has_another_pattern():
    def f(x):
        if x[0] > 0.0:
            return x * x
        return x * x[::-1]

    J = sparse.jacobian(f)
    for x in (U, -U, U):
        assert J(x).toarray() == pytest.approx(s2sad.jacobian(f)(x))
    with pytest.raises(ActivityError, match="misses a nonzero entry"):
        sparse.jacobian(f, pattern=np.eye(30))(-U)


def test_dtypes_and_empty():
    single = U.astype(np.float32)
    made = sparse.jacobian(reaction)(single, 2.0)
    assert made.dtype == np.float32
    assert made.toarray() == pytest.approx(s2sad.jacobian(reaction)(U, 2.0), rel=1e-5, abs=1e-5)
    assert sparse.jacobian(lambda x: x * 2.0)(np.zeros(0)).shape == (0, 0)
    assert sparse.jacobian(lambda x: x[:0] * 2.0)(U).shape == (0, 30)
    assert sparse.jacobian(lambda x: np.zeros(3) * x[0])(U).shape == (3, 30)


def test_which_argument():
    made = sparse.jacobian(reaction, "rate")
    with pytest.raises(ActivityError, match="with respect to one array"):
        made(U, 2.0)
    both = sparse.jacobian(lambda a, b: a * b, 1, mode="reverse")(U, 2.0 * U)
    assert both.diagonal() == pytest.approx(U)
    with pytest.raises(ActivityError, match="with respect to one array"):
        sparse.jacobian(lambda z: z * z)(1j * U)
    with pytest.raises(ActivityError, match="with respect to one array"):
        sparse.jacobian(lambda a, b: a * b, (0, 1))(U, U)
    with pytest.raises(ActivityError, match="one array of real numbers"):
        sparse.jacobian(lambda x: (x, x))(U)
    with pytest.raises(ActivityError, match="The pattern has 4 columns"):
        sparse.jacobian(reaction, pattern=np.eye(4))(U, 2.0)
    with pytest.raises(ActivityError, match="The pattern has 4 rows"):
        sparse.jacobian(reaction, pattern=np.ones((4, 30)))(U, 2.0)
    with pytest.raises(ValueError, match="mode='both'"):
        sparse.jacobian(reaction, mode="both")


def test_what_cannot_be_looked_for(capsys):
    def printed(x):
        print("run")
        return x * x

    with pytest.raises(ActivityError, match="draws, prints"):
        sparse.jacobian(printed)(U)
    assert sparse.jacobian(printed, pattern=np.eye(30))(U).diagonal() == pytest.approx(2.0 * U)
    assert capsys.readouterr().out == "run\n"

    def checked(x):
        if np.isnan(x).any():
            raise ValueError
        return np.linalg.svd(x.reshape(5, 6))[1]

    with pytest.raises((UnsupportedError, ActivityError)):
        sparse.jacobian(checked, pattern=np.zeros((5, 30)))(U)


def test_groups():
    rng = np.random.default_rng(1)
    for shape in ((7, 9), (20, 30), (1, 5), (5, 1), (3, 0)):
        matrix = rng.random(shape) < 0.2
        found = sparse.groups(matrix)
        assert found.of.shape == (shape[1],)
        for g in range(found.count):
            assert (matrix[:, found.of == g].sum(axis=1) <= 1).all()


def test_without_the_libraries(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"s2sad\[sparse\]"):
        sparse.groups(np.eye(3))


def test_it_is_there_and_imports_nothing():
    code = (
        "import sys, s2sad; s2sad.sparse.jacobian; assert 'networkx' not in sys.modules; "
        "assert 'scipy.sparse' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert done.returncode == 0, done.stderr
