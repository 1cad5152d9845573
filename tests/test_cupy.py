"""Derivatives for CuPy: the text, and what it gives on the strict stand-in for a GPU."""

import copy
import difflib
import importlib
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import strict
from targets import load_file

import s2sad
from s2sad import runtime

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden" / "cupy"
UPDATE = bool(os.environ.get("S2SAD_UPDATE"))
NAMES = (
    "least_squares mlp stencil cross_entropy from_the_array by_the_standard scatter "
    "called_by_numpys_names there_and_back element_by_element elements_are_views "
    "number_from_the_host"
).split()
STAY = {"there_and_back": (1,)}  # the arguments that stay on the host


@pytest.fixture(name="programs", scope="module")
def loaded():
    with strict.installed():
        yield load_file(HERE / "device_programs.py", "device_programs").PROGRAMS


@pytest.fixture(name="cp")
def installed():
    with strict.installed() as cupy:
        yield cupy


def on_device(name, args):
    stay = STAY.get(name, ())
    return [a if i in stay else strict.on_device(copy.deepcopy(a)) for i, a in enumerate(args)]


def slopes(f, name, args):
    """Central differences by the first argument, run on the device."""
    vector, unravel = s2sad.ravel(args[0])

    def at(moved):
        return float(strict.on_host(f(*on_device(name, [unravel(moved), *args[1:]]))))

    steps = np.eye(len(vector)) * 1e-6
    return np.array([(at(vector + e) - at(vector - e)) / 2e-6 for e in steps])


def test_every_program_is_listed(programs):
    assert list(programs) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_text(cp, programs, name):
    f, args = programs[name]
    text = s2sad.source(f, args=on_device(name, args))
    golden = GOLDEN / f"{name}.py"
    if UPDATE:
        golden.write_text(text, encoding="utf-8")
    known = golden.read_text(encoding="utf-8")
    difference = difflib.unified_diff(known.splitlines(), text.splitlines(), "golden", "derived")
    assert text == known, "\n".join(difference)


@pytest.mark.parametrize("name", NAMES)
def test_gradient(cp, programs, name):
    f, args = programs[name]
    given = on_device(name, args)
    value, gradient = s2sad.value_and_grad(f)(*given)
    assert float(strict.on_host(value)) == float(strict.on_host(f(*on_device(name, args))))
    found = s2sad.ravel(strict.on_host(gradient))[0]
    np.testing.assert_allclose(found, slopes(f, name, args), 1e-5, 1e-7)
    if isinstance(args[0], np.ndarray):
        assert type(gradient) is cp.ndarray
        np.testing.assert_array_equal(strict.on_host(given[0]), args[0])


@pytest.mark.parametrize("name", NAMES)
def test_emitted_file(cp, programs, name, tmp_path):
    f, args = programs[name]
    path = tmp_path / f"emitted_{name}.py"
    s2sad.emit(f, path, args=on_device(name, args))
    derived = getattr(load_file(path, f"emitted_{name}"), f"{name}_grad")
    one = s2sad.ravel(strict.on_host(derived(*on_device(name, args))))[0]
    two = s2sad.ravel(strict.on_host(s2sad.grad(f)(*on_device(name, args))))[0]
    np.testing.assert_array_equal(one, two)


def test_the_namespace_is_part_of_the_kind(cp):
    def square(x, xp):
        return xp.sum(x * x * xp.exp(x))

    gradient = s2sad.grad(square)
    x = np.array([0.5, -1.0])
    host = gradient(x, np)
    device = gradient(cp.asarray(x), cp)
    assert type(host) is np.ndarray and type(device) is cp.ndarray
    np.testing.assert_allclose(device.get(), host)


def test_the_gradient_of_a_number_on_the_host_is_one(cp):
    def scaled(a, x):
        return cp.sum(cp.sin(a * x))

    gradient = s2sad.grad(scaled)(0.7, cp.asarray(np.array([0.5, -1.0, 2.0])))
    assert type(gradient) is float


def test_an_element_written_twice_is_refused(cp):
    def put(x, index):
        y = cp.zeros(4)
        y[index] = x
        return cp.sum(y * y)

    x = cp.asarray(np.array([1.0, 2.0, 3.0]))
    once = s2sad.grad(put)(x, cp.asarray(np.array([2, 0, 3])))
    np.testing.assert_allclose(once.get(), [2.0, 4.0, 6.0])
    with pytest.raises(ValueError, match="a GPU does not say which value stays"):
        s2sad.grad(put)(x, cp.asarray(np.array([2, 0, 2])))


def test_scatter_add_of_cupyx(cp):
    import cupyx

    def summed(x, index):
        y = cp.zeros(4)
        cupyx.scatter_add(y, index, x * x)
        return cp.sum(y * y)

    x, index = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2])
    found = s2sad.grad(summed)(cp.asarray(x), cp.asarray(index))
    np.testing.assert_allclose(found.get(), [40.0, 32.0, 120.0])


def test_rsqrt_of_cupyx(cp):
    import cupyx

    def f(x):
        return cp.sum(cupyx.rsqrt(x))

    x = np.array([1.0, 4.0])
    np.testing.assert_allclose(s2sad.grad(f)(cp.asarray(x)).get(), -0.5 * x**-1.5)


def test_scipys_functions_of_cupyx(cp):
    special = pytest.importorskip("scipy.special")
    cupyx_special = importlib.import_module("cupyx.scipy.special")

    def f(x):
        return cp.sum(cupyx_special.gammaln(x))

    x = np.array([0.7, 2.5])
    found = s2sad.grad(f)(cp.asarray(x))
    np.testing.assert_allclose(found.get(), special.digamma(x))


def test_kernels_are_refused_by_name(cp):
    kernel = cp.ElementwiseKernel("float64 x", "float64 y", "y = x * x", "squared")
    fused = cp.fuse(lambda x: x * x)
    for called in (kernel, fused):

        def f(x, called=called):
            return cp.sum(called(x))

        with pytest.raises(s2sad.MissingRuleError, match=r"@s2sad\.pullback"):
            s2sad.grad(f)(cp.asarray(np.ones(3)))


def test_a_kernel_with_a_rule(cp):
    kernel = cp.ElementwiseKernel("float64 x", "float64 y", "y = x * x", "squared")

    @s2sad.pullback(kernel)
    def pull_kernel(out_bar, out, x):
        return 2.0 * out_bar * x

    def f(x):
        return cp.sum(kernel(x) * x)

    x = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(s2sad.grad(f)(cp.asarray(x)).get(), 3.0 * x**2)


def test_random_numbers_are_drawn_once(cp):
    def f(x):
        noise = cp.random.normal(size=(4,))
        return cp.sum(cp.sin(x + noise))

    x = cp.asarray(np.arange(4.0))
    np.random.seed(3)
    value, gradient = s2sad.value_and_grad(f)(x)
    np.random.seed(3)
    assert float(f(x)) == float(value)
    np.random.seed(3)
    np.testing.assert_allclose(gradient.get(), np.cos(x.get() + np.random.normal(size=4)))


def test_array_api_compat(cp):
    compat = pytest.importorskip("array_api_compat")

    def f(x):
        xp = compat.array_namespace(x, use_compat=False)
        return xp.sum(xp.exp(x) * x)

    x = np.array([0.5, -1.0])
    np.testing.assert_allclose(s2sad.grad(f)(x), np.exp(x) * (1.0 + x))


def test_cupy_itself_has_what_the_rules_call():
    """The stand-in lacks what CuPy lacks: no less."""
    if "cupy" in sys.modules and sys.modules["cupy"] is strict.modules()["cupy"]:
        pytest.skip("the stand-in is installed")
    cupy = pytest.importorskip("cupy")
    for name in sorted(strict.MISSING):
        owner = cupy
        for part in name.split(".")[:-1]:
            owner = getattr(owner, part)
        assert getattr(owner, name.split(".")[-1], None) is None, name


def halved(a, b):
    a[:] = 0.5 * (a + b)
    return np.dot(a, b)


def squared_first(pair):
    pair[0][:] = pair[0] * pair[1][-len(pair[0]) :]
    return np.sum(pair[0] * pair[0])


def test_overlapping_arguments_that_are_written(cp):
    z = cp.asarray(np.arange(8.0))
    np.testing.assert_allclose(s2sad.grad(halved)(z[::2], z[1::2]).get(), [0.5, 1.5, 2.5, 3.5])
    for a, b in ((z[:4], z[2:6]), (z[:4], z[3::-1]), (z[:4], z[:4])):
        with pytest.raises(s2sad.AliasError, match="a and b share memory"):
            s2sad.grad(halved)(a, b)
    with pytest.raises(s2sad.AliasError, match=r"pair\[0\] and pair\[1\] share memory"):
        s2sad.grad(squared_first)([z, z[::-1]])


def test_shadows_that_overlap(cp):
    z = cp.asarray(np.arange(8.0))
    a_bar = cp.asarray(np.zeros(8))
    a, b = s2sad.Duplicated(z[:4], a_bar[:4]), s2sad.Duplicated(z[4:], a_bar[2:6])
    with pytest.raises(s2sad.AliasError, match="share memory"):
        s2sad.autodiff(s2sad.Reverse, halved, a, b, seed=1.0)


def test_arrays_in_structures_are_left_as_they_are(cp):
    pair = [cp.asarray(np.arange(1.0, 5.0)), cp.asarray(np.arange(2.0, 6.0))]
    z, w = (p.get() for p in pair)
    first, second = s2sad.grad(squared_first)(pair)
    np.testing.assert_allclose(first.get(), 2.0 * z * w * w)
    np.testing.assert_allclose(second.get(), 2.0 * z * z * w)
    np.testing.assert_array_equal(pair[0].get(), z)


def reshaped_and_written(pair):
    x, y = pair
    v = (x * y[:4]).reshape(2, 2)
    v[0] = v[1] * y[2]
    return np.sum(v * v)


def turned(x):
    v = x.reshape(2, -1)
    v[0] *= 2.0
    x[1:] *= x[:-1]
    return np.sum(x * x)


@pytest.mark.parametrize("f", [squared_first, reshaped_and_written, turned])
def test_a_pullback_again_after_the_caller_changed_the_arguments(cp, f):
    memory = cp.asarray(np.arange(1.0, 13.0))
    parts = [memory[1:5], memory[5::2]]
    _, pullback = s2sad.vjp(f, parts[0] if f is turned else parts)
    once = s2sad.ravel(strict.on_host(pullback(1.0)))[0]
    memory[:] = 0.0
    again = s2sad.ravel(strict.on_host(pullback(1.0)))[0]
    np.testing.assert_array_equal(once, again)
    assert np.any(once)


@pytest.mark.parametrize("part", [slice(None), slice(None, None, 2), slice(None, None, -1)])
def test_copies_that_share_memory_as_the_originals_do(cp, part):
    whole = cp.asarray(np.arange(12.0))[part]
    one, other = whole[1:4], whole[::-2]
    copies = runtime.apart(([whole, one], {"other": other}))
    (whole_, one_), table = copies
    for found, known in zip((whole_, one_, table["other"]), (whole, one, other), strict=True):
        assert type(found) is cp.ndarray
        np.testing.assert_array_equal(found.get(), known.get())
        assert not cp.shares_memory(found, known)
    one_[...] = -1.0
    one[...] = -1.0
    np.testing.assert_array_equal(whole_.get(), whole.get())
    np.testing.assert_array_equal(table["other"].get(), other.get())


def moved_up(u):
    u[1:] = u[:-1]
    return np.sum(u * u)


def chosen_from_itself(u, index):
    u[index] = u[:2]
    return np.sum(u * u)


def turned_round(u):
    u[:] = u[::-1] * 1.0
    u[:2] = u[2:]
    u[::2] = u[1::2]
    return np.sum(np.arange(4.0).sum() * u * u)


def test_a_write_of_memory_into_itself_that_a_gpu_does_in_any_order(cp):
    u, index = cp.asarray(np.arange(1.0, 5.0)), cp.asarray(np.array([3, 1]))
    for f, args in ((moved_up, (u,)), (chosen_from_itself, (u, index))):
        with pytest.raises(s2sad.AliasError, match=r"Store a copy: \.copy\(\)"):
            s2sad.grad(f)(*args)
    host = s2sad.grad(turned_round)(u.get())
    np.testing.assert_allclose(s2sad.grad(turned_round)(u).get(), host)


def test_rows_that_are_surely_apart_are_not_looked_at(cp):
    def edges(u):
        u[0] = u[1]
        u[:, 0] = u[:, -1]
        return np.sum(u * u)

    u = cp.asarray(np.arange(12.0).reshape(3, 4))
    gradient = s2sad.grad(edges)
    assert "moved_apart" not in gradient.source(u)
    np.testing.assert_allclose(gradient(u).get(), gradient(u.get()))


@pytest.mark.parametrize("library", ["host", "device"])
def test_memory_outside_that_is_written_after_it_was_read(cp, library):
    there = cp.asarray if library == "device" else np.asarray
    table = there(np.arange(1.0, 5.0))
    view = table[1:]

    def stored(x):
        y = x * table
        view[0] = 2.0
        return np.sum(y * y)

    with pytest.raises(s2sad.Error):
        s2sad.grad(stored)(there(np.ones(4)))
