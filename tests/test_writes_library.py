"""Arrays written by calls, through views and with casts: checked as tests/test_writes.py does."""

import numpy as np
import pytest

from tests.test_writes import check_gradient, check_layouts, check_pullback
from tests.writing_library import PROGRAMS

CASES = [
    pytest.param(f, args, k, id=f"{f.__name__}-{k}")
    for f, args in PROGRAMS
    for k, a in enumerate(args)
    if isinstance(a, float) or (isinstance(a, np.ndarray) and a.dtype.kind == "f")
]


@pytest.mark.parametrize("f, args, k", CASES)
def test_gradient(f, args, k):
    check_gradient(f, args, k)


@pytest.mark.parametrize("f, args, k", CASES)
def test_pullback_may_be_called_again(f, args, k):
    check_pullback(f, args, k)


@pytest.mark.parametrize("f, args, k", CASES)
def test_layouts(f, args, k):
    check_layouts(f, args, k)
