"""Rows of the rule tables on a device: the same call, derived for arrays of CuPy's.

`compare(row, device)` derives the call for NumPy and for the device, and wants the same value and
the same cotangents. What the device cannot do is told by `Impossible`, with the reason.
"""

import contextlib
import importlib
import linecache
import math
import types

import numpy as np
import pytest
import strict

import s2sad
from s2sad import registry
from s2sad.known import spaces
from s2sad.tools.oracle import random_like

TOLERANCE = 1e-9


class Impossible(Exception):
    """The call cannot be made on the device."""


class Strict:
    """The stand-in: what is on the host goes there and back by hand."""

    here = staticmethod(strict.on_host)
    there = staticmethod(strict.on_device)
    installed = staticmethod(strict.installed)


class Gpu:
    """CuPy itself."""

    installed = staticmethod(lambda: contextlib.nullcontext(importlib.import_module("cupy")))

    @staticmethod
    def there(value):
        """Return a structure with CuPy's arrays in the place of NumPy's."""
        if isinstance(value, tuple | list) and not hasattr(type(value), "_fields"):
            return type(value)(map(Gpu.there, value))
        made = isinstance(value, np.ndarray | np.generic)
        return importlib.import_module("cupy").asarray(value) if made else value

    @staticmethod
    def here(value):
        """Return a structure with NumPy's arrays in the place of CuPy's."""
        if isinstance(value, tuple | list):
            parts = [Gpu.here(part) for part in value]
            return type(value)(*parts) if hasattr(type(value), "_fields") else type(value)(parts)
        return value.get() if hasattr(value, "get") and hasattr(value, "dtype") else value


def gpu():
    """Return CuPy, or skip where there is none, or no GPU."""
    cupy = pytest.importorskip("cupy")
    try:
        found = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        found = 0
    if not found:
        pytest.skip("there is no GPU")
    return Gpu


def compare(device, fn, args, settings):
    """Compare the derivative of a call on the device with that on the host."""
    program = Program(fn, args, settings)
    if not program.active:
        raise Impossible("nothing that is given is differentiable")
    try:
        value, pull = program.derived(program.host, program.params, program.host_names)
    except s2sad.Error as error:
        raise Impossible(f"not derived for NumPy: {type(error).__name__}") from None
    except (ValueError, NotImplementedError, ArithmeticError) as error:
        raise Impossible(f"not run for NumPy: {type(error).__name__}") from None
    seed = random_like(value, np.random.default_rng(1982))
    if seed is None:
        raise Impossible("the result carries no derivative")
    expected = pull(seed)
    with device.installed() as cupy, np.errstate(all="ignore"):
        called = program.there(cupy)
        names = {n: device.there(v) for n, v in program.host_names.items()}
        params = [device.there(p) for p in program.params]
        try:
            program.plain(called, params, names)
        except (TypeError, AttributeError, ValueError, NotImplementedError) as error:
            raise Impossible(f"CuPy does not take this call: {error}") from None
        try:
            found, pull = program.derived(called, params, names)
        except s2sad.UnsupportedError as error:
            if "cupy has no" not in str(error):
                raise
            raise Impossible(f"CuPy lacks what the rule needs: {error.reason}") from None
        bars = pull(device.there(seed))
        _same(device.here(found), value, "the value")
        on_device = [p is not q for p, q in zip(params, program.params, strict=True)]
        for i, (bar, wanted) in enumerate(zip(bars, expected, strict=True)):
            _same(device.here(bar), wanted, f"cotangent {i}")
            if on_device[program.active[i]] and isinstance(wanted, np.ndarray):
                assert type(bar) is cupy.ndarray, f"cotangent {i} is a {type(bar)}"
        _compare_forward(device, program, called, params, names)


def _compare_forward(device, program, called, params, names):
    """Compare the tangent of the result on the device with that on the host, where it has one."""
    rng = np.random.default_rng(1983)
    dots = [random_like(p, rng) for p in program.params]
    try:
        _, wanted = program.pushed(program.host, program.params, dots, program.host_names)
    except (s2sad.Error, ValueError, NotImplementedError, ArithmeticError):
        return
    there = [device.there(dot) for dot in dots]
    _same(device.here(program.pushed(called, params, there, names)[1]), wanted, "the tangent")


def _same(found, wanted, what):
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted), what
        for one, other in zip(found, wanted, strict=True):
            _same(one, other, what)
        return
    if wanted is None:
        assert found is None, what
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape, f"{what}: {found.shape} for {wanted.shape}"
    assert found.dtype == wanted.dtype, f"{what}: {found.dtype} for {wanted.dtype}"
    if wanted.dtype.kind in "fc":
        size = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1e-300)
        np.testing.assert_allclose(found, wanted, TOLERANCE, TOLERANCE * size, err_msg=what)
    else:
        np.testing.assert_array_equal(found, wanted, err_msg=what)


class Program:
    """A call of a function as a program of its arrays and floats; all else stands in its text."""

    _count = 0

    def __init__(self, fn, args, settings):
        self.params = []
        self.active = []
        self.host_names = {}
        self.host = fn
        self.method = _method_name(fn)
        given = [self._argument(a) for a in args]
        named = [f"{k}={self._argument(v, setting=True)}" for k, v in settings.items()]
        names = ", ".join(f"a{i}" for i in range(len(self.params)))
        if self.method is not None:
            owner, *given = given
            self.text = f"def row({names}):\n    return {owner}.{self.method}"
            if not isinstance(fn, property) and self.method not in _PROPERTIES:
                self.text += f"({', '.join([*given, *named])})"
            self.text += "\n"
        else:
            self.text = f"def row({names}):\n    return FN({', '.join([*given, *named])})\n"

    def _argument(self, value, setting=False):
        """Return how an argument stands in the text."""
        carries = _carries(value)
        if carries and not setting:
            self.active.append(len(self.params))
        if (carries and not setting) or (isinstance(value, np.ndarray) and not setting):
            self.params.append(value)
            return f"a{len(self.params) - 1}"
        if isinstance(value, slice):
            return f"slice({value.start!r}, {value.stop!r}, {value.step!r})"
        if _written(value):
            return repr(value)
        word = f"S{len(self.host_names)}"
        self.host_names[word] = value
        return word

    def there(self, cupy):
        """Return the function as it is on the device."""
        if self.method is not None:
            if not hasattr(cupy.ndarray, self.method):
                raise Impossible(f"CuPy's arrays have no method {self.method}")
            return self.host
        owner = getattr(self.host, "__self__", None)
        if isinstance(owner, np.ufunc):
            ufunc = spaces.counterpart(owner, "cupy")
            if ufunc is None:
                raise Impossible(f"CuPy has no {owner.__name__}")
            return getattr(ufunc, self.host.__name__)
        home = getattr(self.host, "__module__", None) or ""
        if home in ("math", "cmath", "statistics"):
            raise Impossible(f"{home} works on the host")
        found = spaces.counterpart(self.host, "cupy")
        if found is None:
            raise Impossible(f"CuPy has no {self.host.__name__}")
        if found is self.host and home.split(".")[0] in ("numpy", "scipy", "s2sad"):
            raise Impossible(f"CuPy has nothing like {home}.{self.host.__name__}")
        return found

    def function(self, fn, names):
        """Return the program, with what its text calls FN."""
        Program._count += 1
        filename = f"<row {Program._count}>"
        linecache.cache[filename] = (len(self.text), None, self.text.splitlines(True), filename)
        space = {"FN": fn, **names}
        exec(compile(self.text, filename, "exec"), space)
        return space["row"]

    def plain(self, fn, params, names):
        return self.function(fn, names)(*params)

    def derived(self, fn, params, names):
        """Return the value and the pullback."""
        wrt = tuple(self.active)
        return s2sad.vjp(self.function(fn, names), *params, wrt=wrt)

    def pushed(self, fn, params, dots, names):
        """Return the value and the tangent."""
        active = [dot if i in self.active else None for i, dot in enumerate(dots)]
        return s2sad.jvp(self.function(fn, names), tuple(params), tuple(active))


_PROPERTIES = ("T", "real", "imag", "mT")


def _method_name(fn):
    if isinstance(fn, types.MethodDescriptorType) and fn.__objclass__ is np.ndarray:
        return fn.__name__
    if fn in (np.real, np.imag):
        return None
    registry.load_rules()
    own = getattr(fn, "__module__", "") or ""
    if own.startswith("s2sad.rules"):
        return next((n for n, m in registry._methods.items() if m is fn), None)
    return None


def _carries(value):
    if isinstance(value, bool | int):
        return False
    if isinstance(value, list | tuple):
        return any(map(_carries, value))
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex)


def _written(value):
    if isinstance(value, list | tuple):
        return all(map(_written, value)) and type(value) in (list, tuple)
    if isinstance(value, float | complex):
        return math.isfinite(abs(value))
    return isinstance(value, bool | int | str | types.NoneType | types.EllipsisType)
