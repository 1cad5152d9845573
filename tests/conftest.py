"""What all tests share: which of them run every day, and how their processes are set up.

A test marked `sampled(n)` runs every day for about one in n of its rows, and for all of them in
`make test-full`. Which rows these are is told by their names alone: by a checksum of the names of
file, test and row, so neither the order of collection nor what is added elsewhere changes them.
Tests of the same rows choose differently.
"""

import gc
import os
import zlib

# Workers share the processor: threads of the linear algebra would only wait for one another.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import pytest

# Deriving makes many objects, few of them in cycles: the thousands of tests that a worker holds
# need not be looked through each time.
gc.set_threshold(20_000, 20, 100)


def is_of_every_day(name, of):
    """Say whether what has a name is among the one in `of` that runs every day."""
    return zlib.crc32(name.encode()) % of == 0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        sampled = item.get_closest_marker("sampled")
        if sampled and not is_of_every_day(f"{item.path.name}::{item.name}", *sampled.args):
            item.add_marker(pytest.mark.full)


def pytest_collection_finish():
    gc.freeze()
