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
