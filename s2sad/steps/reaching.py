"""Which functions reach within_gradient(): those are derived, whether active or not."""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from s2sad.capture.read import unwrap
from s2sad.inside import within_gradient
from s2sad.known.libraries import of_standard_library
from s2sad.names import Names
from s2sad.registry import is_foreign


def plain_function(value: Any) -> types.FunctionType | None:
    """Return the Python function that calling a value amounts to, if it is nothing but that."""
    if isinstance(value, type | types.ModuleType):
        return None
    while isinstance(value, functools._lru_cache_wrapper):  # only looked at: that warns nobody
        value = value.__wrapped__
    callee = unwrap(value) if callable(value) else None
    bare = callee is not None and not callee.args and not callee.kwargs
    return callee.fn if bare and isinstance(callee.fn, types.FunctionType) else None  # type: ignore[union-attr]


class Reaching:
    """Says of functions whether they may call within_gradient(), themselves or through others.

    `words` are the names that derived text has for what such functions are in it, each with its
    `answers`.
    """

    def __init__(self) -> None:
        self._known: dict[types.FunctionType, bool] = {}
        self.words: dict[str, types.FunctionType] = {}
        self.answers: dict[str, Mapping[str, bool]] = {}

    def word(
        self,
        fn: types.FunctionType,
        names: Names,
        answers: Mapping[str, bool] = MappingProxyType({}),
    ) -> str:
        """Return the name that derived text has for what a function is in it.

        `answers` are those of its parameters of which within_gradient() decides what they are.
        """
        for known, other in self.words.items():
            if other is fn and self.answers[known] == answers:
                return known
        parts = [p.strip("_") for p in fn.__qualname__.split(".")[-2:] if p.isidentifier()]
        word = names.fresh(f"{'_'.join(parts) or 'lambda'}_in_gradient")
        self.words[word], self.answers[word] = fn, dict(answers)
        return word

    def __call__(self, fn: Any) -> bool:
        """Look at all functions that may be called from this one on."""
        if fn is within_gradient:
            return True
        met: dict[types.FunctionType, None] = {}
        pending = [fn] if isinstance(fn, types.FunctionType) else []
        while pending:
            one = pending.pop()
            if one is within_gradient or self._known.get(one):
                self._known[fn] = True
                return True
            if one in met or one in self._known or is_library(one):
                continue
            met[one] = None
            pending += _named_in(one)
        self._known.update(dict.fromkeys(met, False))
        return False


def is_library(fn: types.FunctionType) -> bool:
    """Say whether a function is none of the user's."""
    return of_standard_library(fn.__module__ or "") or is_foreign(fn)


def _named_in(fn: types.FunctionType) -> Iterator[types.FunctionType]:
    """Yield the functions that the names in a function may denote."""
    names = set(_names(fn.__code__))
    for value in _values(fn, names):
        found = plain_function(value)
        if found is not None:
            yield found
        elif isinstance(value, types.ModuleType | type):
            held = [vars(c) for c in value.__mro__] if isinstance(value, type) else [vars(value)]
            more = {"__init__", "__call__"} if isinstance(value, type) else set()
            for n in names | more:
                for table in held:
                    inner = plain_function(table.get(n))
                    if inner is not None:
                        yield inner


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _names(const)


def _values(fn: types.FunctionType, names: set[str]) -> Iterator[Any]:
    """Yield what the global and captured names in a function denote."""
    for n in names & fn.__globals__.keys():
        yield fn.__globals__[n]
    for cell in fn.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue
