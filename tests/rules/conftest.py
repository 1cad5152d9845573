"""Every row of every rule table runs three times: on the host, and on two devices.

One is a strict stand-in for CuPy (tests/strict.py), which needs no GPU; the other is CuPy
(`pytest -m gpu`, `make test-gpu`). There a row is derived, and compared with NumPy's derivative.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import on_device


def pytest_generate_tests(metafunc):
    """Run what calls check_rule on the devices, too."""
    if "check_rule" in metafunc.function.__code__.co_names:
        strict = pytest.param("strict", marks=pytest.mark.sampled(6))
        gpu = pytest.param("gpu", marks=pytest.mark.gpu)
        metafunc.parametrize("device", ["host", strict, gpu], indirect=True)


@pytest.fixture(autouse=True)
def device(request, monkeypatch):
    """Put what compares a row on a device in the place of check_rule."""
    which = getattr(request, "param", "host")
    if which == "host":
        return
    where = on_device.Strict if which == "strict" else on_device.gpu()

    def compared(fn, *args, **settings):
        try:
            on_device.compare(where, fn, args, settings)
        except on_device.Impossible as reason:
            pytest.skip(str(reason))

    monkeypatch.setattr(request.module, "check_rule", compared)
