"""What all tests share: which of them run every day, and how their processes are set up.

A test marked `sampled(n)` runs every day for about one in n of its rows (see sampling.py), chosen
by the names of file, test and row: tests of the same rows choose differently.
"""

import gc
import os

# Workers share the processor: threads of the linear algebra would only wait for one another.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ["S2SAD_VERIFY"] = "1"  # what passes give each other is looked at

import pytest  # noqa: E402
from sampling import is_of_every_day  # noqa: E402

# Deriving makes many objects, few of them in cycles: the thousands of tests that a worker holds
# need not be looked through each time.
gc.set_threshold(20_000, 20, 100)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave what is not of every day to `make test-full`."""
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled and not is_of_every_day(f"{item.path.name}::{item.name}", *sampled.args):
            item.add_marker(pytest.mark.full)


def pytest_collection_finish():
    """Take what was collected out of what is looked through for garbage."""
    gc.freeze()


@pytest.fixture
def by_identity(monkeypatch):
    """Derive reverse mode on the program by identity, whatever is decided."""
    from s2sad.linear import both_sweeps

    monkeypatch.setattr(both_sweeps, "by_identity", lambda first: True)


@pytest.fixture(params=["decided", "by identity"])
def way(request):
    """Derive once as it is decided, and once by identity whatever is decided."""
    if request.param == "by identity":
        request.getfixturevalue("by_identity")
