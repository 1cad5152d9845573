"""Programs as scientists write them: against central differences, with the properties of all."""

import pytest
from corpus import program
from properties import broken

from tests.writing_science import PROGRAMS

CASES = [program(f.__name__, f, args) for f, args in PROGRAMS]


@pytest.mark.parametrize("p", CASES, ids=[p.name for p in CASES])
def test_science(p):
    assert list(broken(p, slopes=True)) == []
