"""Every row of every rule table runs four times: twice on the host, and on two devices.

On the host the rule is called by itself, and then derived, once and twice. One of the devices is a
strict stand-in for CuPy (tests/strict.py), which needs no GPU; the other is CuPy (`pytest -m gpu`,
`make test-gpu`). There a row is derived, and compared with NumPy's derivative.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import on_device
from sampling import is_of_every_day

from s2sad import testing
from s2sad.tools import orders


def pytest_generate_tests(metafunc):
    """Run what calls check_rule on the devices, too."""
    if "check_rule" in metafunc.function.__code__.co_names:
        strict = pytest.param("strict", marks=pytest.mark.sampled(10))
        gpu = pytest.param("gpu", marks=pytest.mark.gpu)
        metafunc.parametrize("device", ["host", "second", strict, gpu], indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Take second derivatives every day of the smallest row of one function in four, no other.

    `make test-full` takes all rows.
    """
    rows = [i for i in items if getattr(i, "callspec", None) is not None]
    second = [i for i in rows if i.callspec.params.get("device") == "second"]
    least = {}
    for item in second:
        least.setdefault(function_of(item), []).append(item)
    smallest = (min(found, key=size_of) for found in least.values())
    everyday = {i for i in smallest if is_of_every_day(f"{i.path.name}::{i.name}", 4)}
    for item in second:
        if item not in everyday:
            item.add_marker(pytest.mark.full)


def function_of(item):
    """Return the function that a row is of, as far as its parameters tell."""
    fn = item.callspec.params.get("fn", item.originalname)
    return repr(fn) if callable(fn) else item.originalname


def size_of(item):
    """Return how many numbers are in the arguments of a row."""
    return _size(list(item.callspec.params.values()))


def _size(value):
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    if isinstance(value, dict):
        return _size(list(value.values()))
    return np.size(value) if isinstance(value, np.ndarray) else 1


@pytest.fixture(autouse=True)
def device(request, monkeypatch):
    """Put what a row is to be checked for in the place of check_rule."""
    which = getattr(request, "param", None)
    if which is None:
        return
    if which in ("host", "second"):
        check = testing.check_first if which == "host" else orders.check_second
        monkeypatch.setattr(request.module, "check_rule", check)
        return
    where = on_device.Strict if which == "strict" else on_device.gpu()

    def compared(fn, *args, **settings):
        try:
            on_device.compare(where, fn, args, settings)
        except on_device.Impossible as reason:
            pytest.skip(str(reason))

    monkeypatch.setattr(request.module, "check_rule", compared)
