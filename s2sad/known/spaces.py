"""Array namespaces: whose arrays are arrays, and which function of a library is NumPy's.

    space_of(cupy.ndarray)      "cupy"
    twin(cupy.linalg.norm)      numpy.linalg.norm
    counterpart(numpy, "cupy")  the module cupy

NumPy is always there. CuPy is known once the program has imported it: whatever `sys.modules` has
under its name then, so that s2sad never imports it by itself, and a test may put another module
there. Derivatives are written once, over NumPy's and SciPy's names; what follows from a name is
asked of the twin.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import threading
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

NUMPY = "numpy"
CUPY = "cupy"

# Modules whose functions do what NumPy's and SciPy's of the same names do.
_LIKE: dict[str, str] = {
    "cupy": "numpy",
    "cupy.linalg": "numpy.linalg",
    "cupy.fft": "numpy.fft",
    "cupy.random": "numpy.random",
    "cupy.polynomial.polynomial": "numpy.polynomial.polynomial",
    "cupyx.scipy.fft": "scipy.fft",
    "cupyx.scipy.linalg": "scipy.linalg",
    "cupyx.scipy.ndimage": "scipy.ndimage",
    "cupyx.scipy.signal": "scipy.signal",
    "cupyx.scipy.special": "scipy.special",
    "array_api_compat.cupy": "numpy",
    "array_api_compat.cupy.linalg": "numpy.linalg",
    "array_api_compat.cupy.fft": "numpy.fft",
    "array_api_compat.numpy": "numpy",
    "array_api_compat.numpy.linalg": "numpy.linalg",
    "array_api_compat.numpy.fft": "numpy.fft",
}
_HOMES = ("cupy", "cupyx", "array_api_compat.cupy")
# They are called with NumPy arrays whatever they are given, or ask for the user's function.
_UNLIKE = frozenset("fromfunction vectorize frompyfunc apply_over_axes piecewise".split())

_lock = threading.RLock()
_on_host: set[int] = set()
_twins: dict[int, tuple[Any, Any, bool]] = {}
_met: dict[str, tuple[types.ModuleType, int]] = {}


def space_of(cls: type) -> str | None:
    """Return the namespace whose ndarray a class is, exactly; None for any other class."""
    if cls is np.ndarray:
        return NUMPY
    module = sys.modules.get(CUPY)
    return CUPY if module is not None and getattr(module, "ndarray", None) is cls else None


def is_array(value: object) -> bool:
    """Say whether a value is an array of one of the namespaces, exactly."""
    return space_of(type(value)) is not None


def module_of(space: str) -> types.ModuleType:
    """Return the module of a namespace."""
    return np if space == NUMPY else importlib.import_module(space)


def is_device_code(value: Any) -> bool:
    """Say whether a value is code of CuPy's: its ufuncs, kernels and fused functions are objects.

    So may a ufunc be that only wraps one.
    """
    home = type(value).__module__
    return callable(value) and _is_at_home(home) and not is_array(value)


def home(value: Any) -> str:
    """Return the namespace to which a function or module belongs, NumPy's where to none."""
    if isinstance(value, types.ModuleType):
        return CUPY if _is_at_home(value.__name__) else NUMPY
    known = _known(value)
    if known is not None:
        return CUPY if known[2] else NUMPY
    named = getattr(value, "__module__", None) or type(value).__module__
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType | type):
        return home(owner)
    return CUPY if isinstance(named, str) and _is_at_home(named) else NUMPY


def _is_at_home(module: str) -> bool:
    return any(module == h or module.startswith(f"{h}.") for h in _HOMES)


def twin(fn: Any) -> Any:
    """Return NumPy's or SciPy's function that does what a function of another library does.

    Itself where there is none. A method of a ufunc belongs to the ufunc's twin.
    """
    known = _known(fn)
    if known is not None:
        return known[1]
    owner = getattr(fn, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType | type):
        return fn
    known = _known(owner)
    if known is None:
        return fn
    return getattr(known[1], getattr(fn, "__name__", ""), fn)


def twin_of_call(fn: Any, count: int) -> Any:
    """Return the twin of a function called with `count` arguments by position.

    Itself where these are not the same arguments in the same order.
    """
    other = twin(fn)
    return other if other is fn or count <= _agreed(fn, other) else fn


def counterpart(value: Any, space: str) -> Any:
    """Return what stands in a namespace for a module or function of NumPy or SciPy; else itself.

    None says that there is nothing that does.
    """
    if space == NUMPY:
        return value
    if isinstance(value, types.ModuleType):
        for name, other in _LIKE.items():
            if other == value.__name__ and _is_at_home(name) and not name.startswith("array_api"):
                return _imported(name)
        return value
    path = _path(value)
    if path is None:
        return value
    found = counterpart(sys.modules[path[0]], space)
    return None if found is None else getattr(found, path[1], None)


def _path(value: Any) -> tuple[str, str] | None:
    """Return the module and the name under which NumPy or SciPy has a function."""
    name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return None
    for module in dict.fromkeys(_LIKE.values()):
        if getattr(sys.modules.get(module), name, None) is value:
            return module, name
    return None


def _imported(name: str) -> types.ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _known(fn: Any) -> tuple[Any, Any, bool] | None:
    """Return a function as it was met, its twin and whether it is CuPy's; None for others."""
    _meet()
    found = _twins.get(id(fn))
    return found if found is not None and found[0] is fn else None


def _meet() -> None:
    """Pair the functions of modules that have been imported since the last look."""
    if CUPY not in sys.modules and "array_api_compat" not in sys.modules:
        return
    for name, like in _LIKE.items():
        module = sys.modules.get(name)
        if module is None or _met.get(name, (None, 0)) == (module, len(vars(module))):
            continue
        with _lock:
            _met[name] = module, len(vars(module))
            other = _imported(like)
            if other is not None:
                _pair(module, other, _is_at_home(name))


def _pair(module: types.ModuleType, other: types.ModuleType, device: bool) -> None:
    """Pair functions of the same names, with those by whose own names they are known first."""
    pairs = [(n, getattr(other, n, None), f) for n, f in vars(module).items() if n[:1] != "_"]
    pairs.sort(key=lambda pair: (getattr(pair[1], "__name__", "") != pair[0], pair[0]))
    for n, like, fn in pairs:
        plain = isinstance(fn, type | types.ModuleType) or not callable(fn)
        if like is None or like is fn or plain or n in _UNLIKE or not callable(like):
            continue
        _twins.setdefault(id(fn), (fn, like, device))


def twins(pairs: Mapping[Any, Any]) -> None:
    """Say which functions do what CuPy's do that have no counterpart of their names."""
    for fn, like in pairs.items():
        _twins[id(fn)] = fn, like, True


def to_host(fn: Any) -> None:
    """Say that a function of CuPy's, or a method by its stand-in, gives arrays of NumPy's."""
    _on_host.add(id(fn))


def space_of_result(fn: Any) -> str:
    """Return the namespace of what a function of a namespace gives."""
    return NUMPY if id(fn) in _on_host else home(fn)


_MANY = 1 << 20


@functools.lru_cache(2048)
def _agreed(fn: Any, other: Any) -> int:
    """Return how many arguments by position mean the same to two functions.

    Parameters of different names do, in the same place, where neither name is another's.
    """
    if isinstance(other, np.ufunc) or isinstance(getattr(other, "__self__", None), np.ufunc):
        return _MANY
    one, two = _positional(fn), _positional(other)
    if one is None or two is None:
        return _MANY if one == two else 1
    count = 0
    for a, b in zip(one, two, strict=False):
        if a != b and (a in two or b in one):
            break
        count += 1
    return count


def _positional(fn: Any) -> list[str] | None:
    """Return the names of a function's positional parameters; None where it takes any number."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in kinds]


class NoCounterpart(Exception):
    """A namespace lacks what the rule of a call needs; the message says what."""


def helper_in(fn: Any, space: str) -> Any:
    """Return what a rule calls by its bare name, as it is in a namespace.

    A Python function is copied, with the names in it found in the namespace.
    """
    if space == NUMPY or (isinstance(fn, types.FunctionType) and _path(fn) is None):
        return fn
    found = counterpart(fn, space)
    if found is None:
        raise NoCounterpart(f"{space} has no {getattr(fn, '__name__', fn)}")
    return found
