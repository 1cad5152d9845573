"""Calls that write what they are given, wherever they stand: right or refused, never else."""

import re

import calls_that_write
import numpy as np
import programs
import pytest
from calls_that_write import POSITIONS, drawn, program, table
from objects_that_write import METHODS, OTHER_HEAD, OTHERS, OWN_WRITES, asked

import s2sad

X = np.array([0.7, -0.4, 1.1])
ALONG = np.array([0.3, -1.2, 0.7])


def slopes(f, step=1e-6):
    return np.array([(f(X + e) - f(X - e)) / (2 * step) for e in step * np.eye(3)])


def untouched(f, value, wanted):
    """Compare what gives derivatives and leaves its arguments alone."""
    x = X.copy()
    got, x_bar = s2sad.value_and_grad(f)(x)
    assert got == pytest.approx(value, rel=1e-12)
    assert x_bar == pytest.approx(wanted, rel=1e-5, abs=1e-7)
    got, back = s2sad.vjp(f, x)
    assert got == pytest.approx(value, rel=1e-12)
    for _ in range(2):
        assert back(1.0) == pytest.approx(wanted, rel=1e-5, abs=1e-7)
    got, slope = s2sad.jvp(f, (x,), (ALONG,))
    assert got == pytest.approx(value, rel=1e-12)
    assert slope == pytest.approx(wanted @ ALONG, rel=1e-5, abs=1e-7)
    assert np.array_equal(x, X)


def run_in_place(f, value, wanted):
    """Compare what runs on the very arrays that it is given."""
    x, x_bar, left = X.copy(), np.zeros(3), X.copy()
    f(left)
    got = s2sad.autodiff(s2sad.Reverse, f, s2sad.Duplicated(x, x_bar))[0]
    assert got == pytest.approx(value, rel=1e-12)
    assert x_bar == pytest.approx(wanted, rel=1e-5, abs=1e-7)
    assert np.array_equal(x, left)


def is_right(text):
    """Say whether a program is differentiated, and not refused; whatever is, is compared."""
    module = programs.load(text)
    f = module.f
    value, wanted = f(X.copy()), slopes(f)
    try:
        untouched(f, value, wanted)
        run_in_place(f, value, wanted)
    except s2sad.Error as error:
        assert type(error).__name__ != "InternalError"
        return False
    finally:
        programs.unload(module)
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("key", table(), ids="-".join)
def test_table(key):
    is_right(program(*key))


REFUSED = set("next set_comprehension raise try with sorted_key".split())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(4)
@pytest.mark.parametrize("position", [p for p in POSITIONS if p not in REFUSED])
@pytest.mark.parametrize("target", ["argument", "list", "object"])
def test_wherever_a_call_stands_its_write_is_seen(position, target):
    assert is_right(program(position, target, "generator", "function"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(10)
@pytest.mark.parametrize("seed", range(300))
def test_random_programs(seed):
    is_right(program(*drawn(seed)))


ASKED = [(name, at) for name, (_, uses) in METHODS.items() for at in range(len(uses))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(4)
@pytest.mark.parametrize("write", OWN_WRITES)
@pytest.mark.parametrize("name, at", ASKED)
def test_methods_that_no_call_names(name, at, write):
    is_right(asked(name, at, write))


FOUND = re.findall(r"# (\w+)\n(.*?)(?=\n# \w+\n|\Z)", OTHERS, re.DOTALL)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in FOUND])
def test_others(text):
    is_right(f"{OTHER_HEAD}\n\n{text}")


def test_a_constructor_that_writes_what_it_is_given():
    assert is_right(program("subscripted", "array", "with", "made"))


def test_the_tables_name_each_other():
    assert len(table()) > 600
    assert calls_that_write.BODIES.keys() > {"plain", "generator", "lambda"}
