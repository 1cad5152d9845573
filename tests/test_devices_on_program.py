"""Reverse mode from program to program on the strict stand-in for a GPU, in both ways."""

import numpy as np
import pytest
import strict
from targets import load_file
from test_cupy import HERE, NAMES, on_device, slopes
from test_modes_on_program import derived

import s2sad
from s2sad import kinds as K
from s2sad.requests import Request

WAYS = pytest.mark.usefixtures("way")


@pytest.fixture(name="programs", scope="module")
def loaded():
    with strict.installed():
        yield load_file(HERE / "device_programs.py", "device_programs").PROGRAMS


@pytest.fixture(name="cp")
def installed():
    with strict.installed() as cupy:
        yield cupy


def request(f, args, mode="value_and_grad"):
    params = inspect_names(f)
    kinds = tuple((n, K.kind_of(v, n)) for n, v in zip(params, args, strict=True))
    return Request(f, kinds, params[:1], True, mode)


def inspect_names(f):
    return f.__code__.co_varnames[: f.__code__.co_argcount]


@WAYS
@pytest.mark.parametrize("name", NAMES)
def test_gradient(cp, programs, name):
    f, args = programs[name]
    given = on_device(name, args)
    fn, _ = derived(request(f, given))
    value, gradient = fn(*given)
    assert float(strict.on_host(value)) == float(strict.on_host(f(*on_device(name, args))))
    found = s2sad.ravel(strict.on_host(gradient))[0]
    np.testing.assert_allclose(found, slopes(f, name, args), 1e-5, 1e-7)
    if isinstance(args[0], np.ndarray):
        assert type(gradient) is cp.ndarray
        np.testing.assert_array_equal(strict.on_host(given[0]), args[0])


@WAYS
@pytest.mark.parametrize("name", NAMES)
def test_pullback(cp, programs, name):
    """The seed may be a number of the host's."""
    f, args = programs[name]
    fn, _ = derived(request(f, on_device(name, args), "vjp"))
    _, pullback = fn(*on_device(name, args))
    once, again = (s2sad.ravel(strict.on_host(pullback(2.0)))[0] for _ in range(2))
    np.testing.assert_allclose(once, 2.0 * slopes(f, name, args), 1e-5, 1e-7)
    np.testing.assert_array_equal(once, again)


def single(x):
    return np.sum(np.sin(x) * np.float32(2.0))


def widened(x):
    return np.sum(x.astype(np.float64) * 3.0) + np.max(x)


def one_number(a, x):
    return np.sum(np.sin(a * x))


def spread(x):
    return np.sum((x[:, None] * x) ** 2)


def real_part(x):
    return np.sum(np.real((1.0 + 2.0j) * x) ** 2)


def chosen(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            s = s + x[i] * x[0]
        else:
            s = x[i] * s
    return s


def parts_in_a_list(x):
    parts = [x, x[1:]]
    parts.append(x * 2.0)
    parts[1][0] = x[0]
    return np.sum(parts[1] * parts[2][1:]) + np.sum(parts[0] ** 3)


X = np.array([0.5, -1.0, 2.0])
ROWS = [
    (single, (X.astype(np.float32),)),
    (widened, (X.astype(np.float32),)),
    (one_number, (0.7, X)),
    (spread, (X,)),
    (real_part, (X,)),
    (chosen, (X,)),
    (parts_in_a_list, (X,)),
]


@WAYS
@pytest.mark.parametrize("f, args", ROWS)
def test_as_on_the_host(cp, f, args):
    there = [strict.on_device(a) for a in args]
    fn, _ = derived(request(f, there))
    _, found = fn(*there)
    expected = s2sad.grad(f)(*args)
    if isinstance(expected, float):
        assert type(found) is float
    else:
        assert type(found) is cp.ndarray and found.dtype == expected.dtype
    np.testing.assert_allclose(strict.on_host(found), expected, 1e-6)


@WAYS
def test_an_element_written_twice_is_refused(cp):
    def put(x, index):
        y = cp.zeros(4)
        y[index] = x
        return cp.sum(y * y)

    x, index = cp.asarray(np.array([1.0, 2.0, 3.0])), cp.asarray(np.array([2, 0, 3]))
    fn, _ = derived(request(put, (x, index)))
    np.testing.assert_allclose(fn(x, index)[1].get(), [2.0, 4.0, 6.0])
    with pytest.raises(ValueError, match="a GPU does not say which value stays"):
        fn(x, cp.asarray(np.array([2, 0, 2])))


def moved_up(u):
    u[1:] = u[:-1]
    return np.sum(u * u)


def into_a_column(u):
    u[:, 2] = u[1]
    return np.sum(u * u)


def test_a_write_of_memory_into_itself_is_looked_at(cp):
    """The order in which a GPU, or NumPy, copies may decide what the result is."""
    u = cp.asarray(np.arange(1.0, 5.0))
    fn, _ = derived(request(moved_up, (u,)))
    with pytest.raises(ValueError, match="a GPU writes in no fixed order"):
        fn(u)
    u = np.arange(16.0).reshape(4, 4)
    fn, _ = derived(request(into_a_column, (u,)))
    with pytest.raises(ValueError, match="NumPy changes the value on the way"):
        fn(u)
