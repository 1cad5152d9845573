"""Calls of the probe (tests/benchmarks/probe.py) whose derivatives need more than a rule."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import s2sad
from s2sad import MissingRuleError, UnsupportedError

HERE = Path(__file__).resolve().parent
_spec = importlib.util.spec_from_file_location("probe", HERE / "benchmarks" / "probe.py")
probe = importlib.util.module_from_spec(_spec)
sys.modules["probe"] = probe  # dataclasses look there
_spec.loader.exec_module(probe)

# Lists where arrays may stand; settings that are defaults, or known by another name; lengths of
# constants beside unknown ones; parts of results that have no derivative.
CALLS = """
s: np.maximum([0.1, 5.0], x)
s: np.power([1.5, 2.0], x)
s: np.clip([0.1, 5.0], x, 2.0)
s: np.array([[x, 1.0]]) @ [[2.0], [3.0]]
u: np.power.outer(x, [1, 2, 3])
v: np.polyval([1.0, 2.0, 3.0], x)
A: np.var(x, correction=1)
A: np.median(x, overwrite_input=False)
A: np.reshape(x, shape=(6, 2))
T: np.moveaxis(x, [0, 1], [-1, -2])
S: np.linalg.solve(x, np.ones((2, 3, 1)))
T: np.einsum("bij,bjk->bik", x, np.ones((2, 4, 5)))
A: np.cov(x, fweights=np.array([1, 2, 1, 3]))
s: np.trapezoid(y5, dx=x)
v: np.modf(x)
v: np.divmod(x, 0.6)
s: np.full_like(y5, x)
A: np.full_like(x, 2.0) * x
s: np.sum(y5, initial=x)
s: np.prod(y5, initial=x)
A: np.var(x, 0)
A: np.std(x, 0, None)
s: np.interp([-3.0, 9.0], sy5, y5, left=x, right=2.0 * x)
s: np.pad(y5, 1, constant_values=x)
s: np.pad(y5, (1, 2), "constant", constant_values=(x, 2.0))
s: np.logspace(0, 1, 3, base=x)
s: math.prod([x, 2.0], start=x)
A: np.linalg.svd(x)[1]
A: np.einsum(x, [0, 1], B4, [1, 2], [0, 2])
A: np.einsum(x, [..., 1], [...])
A: np.einsum("i,i", [1.0, 2.0], x[:2, 0])
v: np.atleast_1d(x, 1.0)[0]
v: np.array([f * f for f in map(np.sin, x)])
A: np.delete(x, slice(1, 3), axis=1)
A: np.delete(x, slice(None, None, 2))
""".strip().splitlines()

OF_SCIPY = """
s: scipy.stats.norm.logpdf([1.0, 2.0], loc=x, scale=x)
s: scipy.linalg.solve([[x, 1.0], [1.0, 3.0]], [1.0, x])
s: scipy.fft.dct([x, 1.0])
s: scipy.ndimage.convolve1d([x, 1.0], [1.0, x])
A: scipy.ndimage.map_coordinates(x, [[0.3, 1.2], [1.1, 2.4]], order=1)
u5: scipy.special.logsumexp(y5, b=x)
v: scipy.integrate.simpson(x, x=sy5)
""".strip().splitlines()


@pytest.mark.parametrize("line", CALLS)
def test_calls(line):
    rightly(line)


@pytest.mark.parametrize("line", OF_SCIPY)
def test_calls_of_scipy(line):
    pytest.importorskip("scipy")
    rightly(line)


def rightly(line):
    argument, text = line.split(": ", 1)
    verdict = probe.judge("s2sad", probe.Call("", argument, text))
    assert verdict.word == "right", verdict.why


def test_the_calls_are_calls():
    found = probe.calls()
    assert len(found) > 1500
    assert {call.argument for call in found} <= probe.ARGS.keys()
    assert len(set(found)) == len(found)
    assert {call.text for call in found} >= probe.BY_NATURE


def test_real_or_complex_as_the_content_decides():
    gradient = s2sad.grad(lambda z: np.sum(np.real_if_close(z).imag))
    assert np.array_equal(gradient(np.array([0.5 + 0.1j, 1.0 - 2.0j])), [-1j, -1j])
    assert np.array_equal(gradient(np.array([0.5 + 0j, 1.0 - 0j])), [0, 0])


def test_a_setting_that_is_none_of_the_rules():
    with pytest.raises((UnsupportedError, MissingRuleError), match="overwrite_input"):
        s2sad.grad(lambda x: np.median(x, overwrite_input=True))(np.array([0.3, 2.0, 1.0]))
