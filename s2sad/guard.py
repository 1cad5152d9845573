"""Guards: does a derivation still see what it saw when it was made?

Code (functions, classes, modules) is compared by identity, data by its kind: a changed number
needs no new derivative, a number in the place of an array does. The question is asked before every
call, so it is compiled: names are looked up as the user's function does.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad.signature import PLAIN, key_of

Guard = Callable[[], bool]
_Constants = dict[str, Any]


def guard(fn: types.FunctionType, seen: Mapping[str, Any]) -> Guard | None:
    """Return a function that says whether `fn` still sees what it saw; None if it saw nothing."""
    constants: _Constants = {"s2sad_key_of": key_of}
    tests = _seen_tests(seen, constants)
    return _compiled((), tests, ["return same"], constants, fn) if tests else None


def shortcut(
    fn: types.FunctionType,
    seen: Mapping[str, Any],
    others: Iterable[Guard],
    values: tuple[Any, ...],
    derived: Callable[..., Any],
    otherwise: Callable[..., Any],
) -> Callable[..., Any]:
    """Return a function that calls `derived` with arguments like `values`, and else `otherwise`.

    That is a lookup with one entry: it compares the arguments' types, dtypes and ranks with those
    of `values`, and what `fn` sees with what it saw.
    """
    names = [f"s2sad_arg_{i}" for i in range(len(values))]
    constants: _Constants = {
        "s2sad_key_of": key_of,
        "s2sad_ndarray": np.ndarray,
        "s2sad_derived": derived,
        "s2sad_otherwise": otherwise,
    }
    tests: list[str] = []
    for name, value in zip(names, values, strict=True):
        tests += _argument_tests(name, value, constants)
    tests += _seen_tests(seen, constants)
    for number, other in enumerate(others):
        constants[f"s2sad_guard_{number}"] = other
        tests.append(f"s2sad_guard_{number}()")
    listed = ", ".join(names)
    last = [f"return s2sad_derived({listed}) if same else s2sad_otherwise({listed})"]
    made: Callable[..., Any] = _compiled(names, tests or ["True"], last, constants, fn)
    return made


def _argument_tests(name: str, value: Any, constants: _Constants) -> list[str]:
    if type(value) in PLAIN:
        constants[f"{name}_type"] = type(value)
        return [f"type({name}) is {name}_type"]
    if type(value) is not np.ndarray or 1 in value.shape:
        constants[f"{name}_key"] = key_of(value)
        return [f"s2sad_key_of({name}) == {name}_key"]
    constants[f"{name}_dtype"] = value.dtype
    tests = [
        f"type({name}) is s2sad_ndarray",
        f"({name}.dtype is {name}_dtype or {name}.dtype == {name}_dtype)",
        f"{name}.ndim == {value.ndim}",
    ]
    if value.ndim == 1:
        tests.append(f"len({name}) != 1")
    elif value.ndim:
        tests.append(f"1 not in {name}.shape")
    return tests


def _seen_tests(seen: Mapping[str, Any], constants: _Constants) -> list[str]:
    """Return the texts of comparisons; what they compare with is added to the constants."""
    tests = []
    for name, value in sorted(seen.items()):
        if value is K.MISSING or not name.isidentifier():
            continue
        constant = f"s2sad_seen_{name}"
        if K.is_function(value):
            constants[constant] = value
            tests.append(f"{name} is {constant}")
        elif type(value) in PLAIN:
            constants[constant] = type(value)
            tests.append(f"type({name}) is {constant}")
        else:
            constants[constant] = key_of(value)
            tests.append(f"s2sad_key_of({name}) == {constant}")
    return tests


def _compiled(
    names: Iterable[str],
    tests: list[str],
    last: list[str],
    constants: _Constants,
    fn: types.FunctionType,
) -> Any:
    """Compile a test whose free names are those that `fn` sees; a name that is gone fails it."""
    cells = {name: types.CellType(value) for name, value in constants.items()}
    cells |= dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    lines = [
        f"def make({', '.join(cells)}):",
        f"    def same({', '.join(names)}):",
        "        try:",
        f"            same = {' and '.join(tests)}",
        "        except NameError:",
        "            same = False",
        *(f"        {line}" for line in last),
        "    return same",
    ]
    module = compile("\n".join(lines) + "\n", "<s2sad guard>", "exec", dont_inherit=True)
    make = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    code = next(c for c in make.co_consts if isinstance(c, types.CodeType))
    closure = tuple(cells[name] for name in code.co_freevars)
    return types.FunctionType(code, fn.__globals__, "same", None, closure)
