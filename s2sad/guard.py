"""Guards: does a derivation still see what it saw when it was made?

Code (functions, classes, modules) is compared by identity, data by its kind: a changed number
needs no new derivative, a number in the place of an array does. The question is asked before every
call, so it is compiled: names are looked up as the user's function does.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from s2sad import kinds as K
from s2sad.signature import PLAIN, key_of

Guard = Callable[[], bool]


def guard(fn: types.FunctionType, seen: Mapping[str, Any]) -> Guard | None:
    """Return a function that says whether `fn` still sees what it saw; None if it saw nothing."""
    tests: list[str] = []
    cells: dict[str, types.CellType] = {}
    for number, (name, value) in enumerate(sorted(seen.items())):
        if value is K.MISSING or not name.isidentifier():
            continue
        test, constant = _test(name, value, f"s2sad_{number}")
        tests.append(test)
        cells[f"s2sad_{number}"] = types.CellType(constant)
    if not tests:
        return None
    cells["s2sad_key_of"] = types.CellType(key_of)
    cells |= dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    return _compiled(" and ".join(tests), cells, fn.__globals__)


def _test(name: str, value: Any, constant: str) -> tuple[str, Any]:
    """Return the text of one comparison, and what it compares with."""
    if K.is_function(value):
        return f"{name} is {constant}", value
    if type(value) in PLAIN:
        return f"type({name}) is {constant}", type(value)
    return f"s2sad_key_of({name}) == {constant}", key_of(value)


def _compiled(test: str, cells: Mapping[str, types.CellType], namespace: dict[str, Any]) -> Guard:
    """Compile a test whose free names are cells or globals; a name that is gone fails it."""
    listed = ", ".join(cells)
    text = (
        f"def make({listed}):\n"
        f"    def same():\n"
        f"        try:\n"
        f"            return {test}\n"
        f"        except NameError:\n"
        f"            return False\n"
        f"    return same\n"
    )
    module = compile(text, "<s2sad guard>", "exec", dont_inherit=True)
    make = next(c for c in module.co_consts if isinstance(c, types.CodeType))
    code = next(c for c in make.co_consts if isinstance(c, types.CodeType))
    closure = tuple(cells[name] for name in code.co_freevars)
    return types.FunctionType(code, namespace, "same", None, closure)
