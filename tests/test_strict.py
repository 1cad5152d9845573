"""The stand-in for CuPy refuses what CuPy refuses."""

import numpy as np
import pytest
import strict

X = np.array([0.5, -1.5, 2.0])


@pytest.fixture(name="cp")
def installed():
    with strict.installed() as cupy:
        yield cupy


def test_nothing_becomes_numpys_in_silence(cp):
    x = cp.asarray(X)
    for convert in (np.asarray, np.array, np.float64):
        with pytest.raises(TypeError, match="Implicit conversion"):
            convert(x)
    for mix in (lambda: x + X, lambda: X * x, lambda: cp.add(x, X), lambda: np.add(x, X)):
        with pytest.raises(TypeError):
            mix()
    with pytest.raises(TypeError):
        x[0] = X[:1]


def test_numbers_are_arrays_without_axes_and_elements_are_views(cp):
    x = cp.asarray(X)
    assert type(cp.sum(x)) is type(x[0]) is type(x @ x) is cp.ndarray
    assert float(x[0]) == 0.5
    first = x[0]
    x[0] = 4.0
    assert float(first) == 4.0


def test_numpys_functions_find_their_way(cp):
    x = cp.asarray(X)
    assert type(np.sin(x)) is type(np.sum(x)) is type(np.linalg.norm(x)) is cp.ndarray
    assert np.zeros_like(x).shape == (3,)
    with pytest.raises(TypeError):
        np.insert(x, 0, 1.0)


def test_what_cupy_lacks_is_lacking(cp):
    assert not hasattr(cp, "nanquantile") and not hasattr(cp.linalg, "multi_dot")
    with pytest.raises(TypeError, match="where"):
        cp.sum(cp.asarray(X), where=True)
    for fn, given in ((cp.broadcast_to, (1.0, (3,))), (cp.sum, (2.0,)), (cp.sum, ([1.0],))):
        with pytest.raises(TypeError):
            fn(*given)


def test_it_is_gone_afterwards():
    import sys

    before = sys.modules.get("cupy")
    with strict.installed() as cupy:
        assert sys.modules["cupy"] is cupy
    assert sys.modules.get("cupy") is before
