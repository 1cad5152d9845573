"""What a rule is given: operands of the caller's program by the names of its parameters."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping
from typing import TypeAlias

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import InternalError
from s2sad.ir import program as P
from s2sad.kinds import Kind
from s2sad.known import spaces
from s2sad.steps.refs import Refs

Given: TypeAlias = Mapping[str, "P.Operand | tuple[P.Operand, ...]"]


def kind_of(operand: P.Operand) -> Kind:
    """Return the kind of an operand."""
    match operand:
        case P.Var() | P.Outer():
            return operand.kind
        case P.Const():
            return K.kind_of(operand.value, "", literal=True)
        case P.Spread():
            return kind_of(operand.value)
        case P.Unbound():
            return K.UNBOUND


def kinsfolk(rule: Callable[..., object], refs: Refs, space: str) -> dict[str, P.Operand]:
    """Return the functions that a shared rule is given for one of those that share it."""
    return {n: _kin(fn, refs, space) for n, fn in registry.given_to(rule).items()}


def _kin(fn: Callable[..., object], refs: Refs, space: str) -> P.Outer:
    """Return a function by its name in the module that shows it."""
    word = str(getattr(fn, "__name__", ""))
    holder = getattr(fn, "__self__", None)
    if holder is not None and not isinstance(holder, types.ModuleType | type):
        return P.Outer(f"{_held(holder, refs)}.{word}", K.Known(fn))
    for home in map(sys.modules.get, (_public_module(fn), "scipy.special")):
        if home is not None and getattr(home, word, None) is fn:
            spaces.helper_in(fn, space)  # which says where there is none
            there = refs.module(spaces.counterpart(home, space))
            return P.Outer(f"{there}.{word}", K.Known(fn))
    raise InternalError(f"{word}, which a rule is given, is not where it says")


def _public_module(value: object) -> str:
    """Return the module that shows something: a private one is shown by its package."""
    return str(getattr(value, "__module__", None) or "numpy").partition("._")[0]


def _held(value: object, refs: Refs) -> str:
    """Return the name of an object in a module that holds it: `stats.gamma`."""
    home = sys.modules[_public_module(type(value))]
    for word, held in vars(home).items():
        if held is value:
            return f"{refs.module(home)}.{word}"
    raise InternalError(f"a rule is given a method of {value!r}, which is not where it says")


def is_array(kind: Kind) -> bool:
    """Say whether a value is an array, be it that the run tells whether it is a complex one."""
    return all(isinstance(k, K.Array) for k in K.options(kind))
