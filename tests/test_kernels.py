"""The kernels that measures.py times: each runs, and derivatives that exist agree with differences.

pytest -m "" tests/test_kernels.py        all of them; `make test` runs one in some
"""

import importlib
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent / "benchmarks"))
KERNELS = importlib.import_module("kernel_cases").kernels()
measures = importlib.import_module("measures")

# What is refused now; whoever supports one takes its name away.
REFUSED = {"batch_norm_mlp", "slam", "sod_tube"}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_right_or_refused(kernel):
    kernel_cases = sys.modules["kernel_cases"]
    verdict = kernel_cases.judged(kernel)
    assert verdict.word == ("refused" if kernel.name in REFUSED else "right"), verdict.why


@pytest.mark.filterwarnings("ignore")
def test_every_kernel_gives_a_number():
    assert len(KERNELS) >= 40
    for kernel in KERNELS:
        value = kernel.f(*kernel.arguments())
        assert isinstance(value, float) and value == kernel.f(*kernel.arguments())
        assert kernel.lines >= 4


def test_lists_of_names_are_seen_by_attribute():
    seen = measures.lists_by_attribute
    assert list(seen("F = (np.sum, np.dot, math.exp)")) == [1]
    assert list(seen("F = {np.sum: 1, np.linalg.norm: 2, math.exp: 3}")) == [1]
    assert not list(seen("F = (np.sum, np.dot, x.exp)"))
    assert not list(seen("F = (np.sum(x), np.dot(x), np.exp(x))"))


def test_long_programs_run():
    f = measures.long_program(60, 0)
    assert isinstance(f(measures.np.ones(5)), float)


def test_the_table_has_both_columns():
    text = measures.table({"isinstance calls": 5695}, {"isinstance calls": 1999, "new": 0.123456})
    assert "| isinstance calls | 5,695 | 1,999 | at most 2,000 |" in text
    assert "| new |  | 0.123 |  |" in text
