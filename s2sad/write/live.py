"""Rules and their helpers that are called where they are, instead of copied into derived text.

What is made of modules and functions alone is the same in another place. A rule that captures
something, or reads data of its module, is not: in memory derived code calls the very object, so
that it sees what it always sees; a file of its own names it as it names everything of the user's.
"""

from __future__ import annotations

import functools
import inspect
import textwrap
import types
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from s2sad import registry
from s2sad.errors import Error, Place, RuleRefusal, UnsupportedError
from s2sad.nodes import Node, free_reads
from s2sad.write.homes import homes_of, import_of

_CODE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, np.ufunc)


def live_in(refs: Any) -> dict[str, Any]:
    """Return what derived text calls where it is, by the names it has there."""
    return {name: fn for name, fn in refs.functions.items() if is_live(fn)}


def is_live(fn: Any) -> bool:
    """Say whether a function is called where it is."""
    if isinstance(fn, types.FunctionType):
        return not registry.is_ours(fn) and not _may_be_copied(fn)
    return import_of(fn, "", homes_of(fn)) is None


@functools.lru_cache(2048)
def _may_be_copied(fn: types.FunctionType) -> bool:
    node = definition_of(fn)
    if node is None or fn.__code__.co_freevars:
        return False
    read = free_reads(node) & fn.__globals__.keys()
    return all(isinstance(fn.__globals__[n], _CODE) for n in read)


def definition_of(fn: types.FunctionType) -> Node | None:
    """Return the definition of a function, None where it has none that can be read."""
    try:
        tree = gast.parse(textwrap.dedent(inspect.getsource(fn)))
    except (OSError, SyntaxError):
        return None
    node = tree.body[0] if tree.body else None
    return node if isinstance(node, gast.FunctionDef) and node.name == fn.__name__ else None


def placed(fn: Any, remedy: str, place: Callable[[], Place | None]) -> Any:
    """Return what calls a rule, and tells its refusals as errors of the family, with the place."""
    codes = _codes(fn)
    if not any(n in code.co_names for code in codes for n in _REFUSALS):
        return fn

    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except (NotImplementedError, ValueError) as error:
            last = error.__traceback__
            while last is not None and last.tb_next is not None:
                last = last.tb_next
            if isinstance(error, Error) or last is None or not _is_refusal(last, error, codes):
                raise
            kind = UnsupportedError if isinstance(error, NotImplementedError) else RuleRefusal
            text = str(error) or "a rule refused"
            reason = text if text.endswith(".") else f"{text}."
            raise kind(reason, remedy=remedy, place=place()) from None

    called.__name__ = getattr(fn, "__name__", "rule")
    return called


_REFUSALS = ("NotImplementedError", "ValueError")


def _is_refusal(
    last: types.TracebackType, error: Exception, codes: tuple[types.CodeType, ...]
) -> bool:
    """Say whether a rule refused: itself, or a rule of ours that it calls."""
    home = str(last.tb_frame.f_globals.get("__name__"))
    ours = isinstance(error, NotImplementedError) and home.startswith("s2sad.rules")
    return ours or last.tb_frame.f_code in codes


def _codes(fn: Any) -> tuple[types.CodeType, ...]:
    for part in (fn, getattr(fn, "func", None), getattr(fn, "__func__", None), type(fn).__call__):
        code = getattr(part, "__code__", None)
        if isinstance(code, types.CodeType):
            return code, *_inner([code])
    return ()


def _inner(codes: Iterable[types.CodeType]) -> list[types.CodeType]:
    found = [c for code in codes for c in code.co_consts if isinstance(c, types.CodeType)]
    return found + (_inner(found) if found else [])
