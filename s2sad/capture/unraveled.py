"""The way back from a vector to a structure, as the function that it amounts to.

vector, unravel = ravel({"w": np.ones((2, 2)), "b": 0.5})

    unravel(v)    derives    def unravel(vector):
                                 ...
                                 return {"w": vector[0:4].astype(np.float64).reshape((2, 2)),
                                         "b": float(vector[4])}
"""

from __future__ import annotations

import dataclasses
import sys
import types
import weakref
from typing import Any, cast

from s2sad.syntax.snippets import defined
from s2sad.tree import Unravel, branch_of, is_slot

_LITERALS = (int, str, bytes, bool, type(None))
_made: weakref.WeakKeyDictionary[Unravel, types.FunctionType | None] = weakref.WeakKeyDictionary()


def written_unravel(unravel: Unravel) -> types.FunctionType | None:
    """Return a function of a vector that builds the structure, or None where none can be written.

    That is so for objects whose classes say in no standard way how they are made, for subclasses
    of lists and dicts, and where there are real leaves beside complex ones.
    """
    if unravel not in _made:
        _made[unravel] = _written(unravel)
    return _made[unravel]


class _Unwritten(Exception):
    pass


def _written(unravel: Unravel) -> types.FunctionType | None:
    slots: list[Any] = []
    space: dict[str, Any] = {"np": sys.modules[unravel.namespace], "__name__": "s2sad.unravel"}
    try:
        made = _expression(unravel.template, space, slots)
    except _Unwritten:
        return None
    if len({slot.dtype.kind for slot in slots}) > 1:
        return None
    text = (
        "def unravel(vector):\n"
        f"    if vector.shape != ({unravel.size},):\n"
        f'        raise ValueError("the structure wants a vector of shape ({unravel.size},)")\n'
        f"    return {made}\n"
    )
    return cast(types.FunctionType, defined(text, space, "unravel"))


def _expression(node: Any, space: dict[str, Any], slots: list[Any]) -> str:
    if is_slot(node):
        slots.append(node)
        return _leaf(node)
    branch = branch_of(node)
    if branch is None:
        return _kept(node, space)
    parts = [_expression(part, space, slots) for part in branch.parts]
    if type(node) is list:
        return f"[{', '.join(parts)}]"
    if type(node) is tuple:
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if type(node) is dict:
        keys = [_kept(key, space) for key in branch.keys]
        return f"{{{', '.join(f'{k}: {v}' for k, v in zip(keys, parts, strict=True))}}}"
    if isinstance(node, tuple) and hasattr(type(node), "_fields") and not hasattr(node, "__dict__"):
        return f"{_name(type(node), space)}({', '.join(parts)})"
    if _is_plain_dataclass(node, branch.keys):
        given = [f"{k}={v}" for k, v in zip(branch.keys, parts, strict=True)]
        return f"{_name(type(node), space)}({', '.join(given)})"
    raise _Unwritten


def _leaf(slot: Any) -> str:
    if slot.sort == "python":
        word = "complex" if slot.dtype.kind == "c" else "float"
        return f"{word}(vector[{slot.start}])"
    part = f"vector[{slot.start}:{slot.stop}].astype(np.{slot.dtype.name})"
    if slot.sort == "scalar":
        return f"{part}[0]"
    return part if len(slot.shape) == 1 else f"{part}.reshape({slot.shape})"


def _kept(value: Any, space: dict[str, Any]) -> str:
    """Return an expression for what carries no derivative."""
    return repr(value) if type(value) in _LITERALS else _name(value, space)


def _name(value: Any, space: dict[str, Any]) -> str:
    word = value.__name__ if isinstance(value, type) else "kept"
    name, number = word, 1
    while space.setdefault(name, value) is not value:
        name, number = f"{word}_{number}", number + 1
    return name


def _is_plain_dataclass(node: Any, keys: tuple[Any, ...]) -> bool:
    if not dataclasses.is_dataclass(node) or hasattr(node, "__post_init__"):
        return False
    made: Any = vars(type(node)).get("__init__")
    if getattr(getattr(made, "__code__", None), "co_filename", "") != "<string>":
        return False
    return tuple(f.name for f in dataclasses.fields(node) if f.init) == keys
