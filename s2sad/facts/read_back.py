"""Refuse numbers read from strings where strings are made of what is differentiated.

`float(str(v))` carries no derivative that could be followed, whichever way the string takes:
through variables, containers, other functions, objects and buffers.

    def f(x):
        t = f"{x[0]}"
        return float(re.sub(",", ".", t))
"""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.errors import Error, UnsupportedError
from s2sad.facts.memory import is_logger, is_observer
from s2sad.known.libraries import of_standard_library
from s2sad.nodes import Node, all_inside, blocks_of, names_read, names_written, walk
from s2sad.stages import Activity, Function, KindFacts

_MAKERS: tuple[Any, ...] = (str, repr, format)
_READERS: tuple[Any, ...] = (float, complex)
_Spot = tuple[Node, Node]


def check_read_back(function: Function, kinds: KindFacts, activity: Activity) -> None:
    """Raise where a function reads a number from a string that it may have made."""
    none: frozenset[str] = frozenset()
    if not _reads_numbers(kinds):
        return
    texts = _texts(function, kinds, lambda s: activity.varied_before.get(s, none))
    spots = [*texts.back, *(texts.reads if texts.leave else ())]
    if spots:
        raise _refusal(function, *spots[0])


def check_handed_back(functions: Iterable[tuple[Function, KindFacts]]) -> None:
    """Raise where a function reads a number from a string that another one may have made.

    The first function is the one that is differentiated: strings that it is given are constants.
    """
    functions = list(functions)
    if not any(_reads_numbers(kinds) for _, kinds in functions):
        return
    found = [(f, _texts(f, kinds, _floats(kinds))) for f, kinds in functions]
    entry = found[0][0] if found else None
    for writer, made in found:
        for reader, texts in found if made.leave else ():
            given = [] if reader is entry else texts.given
            if reader is not writer and (spots := [*texts.reads, *given]):
                raise _refusal(reader, *spots[0])


def _reads_numbers(kinds: KindFacts) -> bool:
    return any(fn is reader for fn in kinds.objects.values() for reader in _READERS)


def _floats(kinds: KindFacts) -> Callable[[Node], frozenset[str]]:
    """Return what tells which variables may be differentiated where their activity is not known."""
    return lambda s: frozenset(n for n, k in kinds.before.get(s, {}).items() if K.carriers(k))


@dataclass
class _Texts:
    """The strings made of what varies: where they are, whether they leave, what is read of them."""

    names: set[str] = field(default_factory=set)
    leave: bool = False
    back: list[_Spot] = field(default_factory=list)
    reads: list[_Spot] = field(default_factory=list)
    given: list[_Spot] = field(default_factory=list)


def _texts(
    function: Function, kinds: KindFacts, varied: Callable[[Node], frozenset[str]]
) -> _Texts:
    texts = _Texts()
    body = [
        s for s in all_inside(function.node.body[:-1]) if not isinstance(s, gast.If | gast.While)
    ]
    parts = [(s, s.iter if isinstance(s, gast.For) else s) for s in body]
    parts = [(s, part) for s, part in parts if part is not s or not blocks_of(s)]
    makers = {s for s, part in parts if any(_is_text(n, kinds) for n in walk(part))}
    before: set[str] | None = None
    while before != texts.names:
        before = set(texts.names)
        for s, part in parts:
            read = names_read(part)
            if read & texts.names or (s in makers and read & varied(s)):
                _note(s, kinds, texts)
    texts.leave |= function.result in texts.names
    for s, part in parts:
        for n in walk(part):
            if isinstance(n, gast.Call) and kinds.objects.get(n.func) in _READERS and n.args:
                _note_number(s, n, function, kinds, texts, varied(s))
    return texts


def _note_number(
    s: Node, n: Node, function: Function, kinds: KindFacts, texts: _Texts, varied: frozenset[str]
) -> None:
    kind, read = kinds.of.get(n.args[0]), names_read(n.args[0])
    if (
        not isinstance(kind, K.Str | K.Unknown)
        or getattr(kind, "value", K.MISSING) is not K.MISSING
    ):
        return
    if read & texts.names or (read & varied and any(_is_text(m, kinds) for m in walk(n.args[0]))):
        texts.back.append((s, n))
    elif read & function.locals - set(function.params):
        texts.reads.append((s, n))
    else:
        texts.given.append((s, n))


def _is_text(n: Node, kinds: KindFacts) -> bool:
    """Say whether a string is made by an expression, or by a function that it names."""
    if isinstance(n, gast.JoinedStr) or getattr(kinds.of.get(n), "value", None) in _MAKERS:
        return True
    if isinstance(n, gast.Call | gast.BinOp) and isinstance(kinds.of.get(n), K.Str):
        return True
    return isinstance(n, gast.Call) and kinds.objects.get(n.func) in _MAKERS


def _note(s: Node, kinds: KindFacts, texts: _Texts) -> None:
    """Note where a statement puts the strings that it makes or reads."""
    if isinstance(s, gast.For):
        texts.names |= names_written(s.target)
    elif isinstance(s, gast.Raise | gast.Assert) or (
        isinstance(s, gast.Expr) and isinstance(s.value, gast.Call) and _shows(s.value, kinds)
    ):
        return
    elif isinstance(s, gast.Assign) and all(isinstance(t, gast.Name) for t in s.targets):
        texts.names |= names_written(s)
        calls = [n for n in walk(s.value) if isinstance(n, gast.Call)]
        texts.leave |= not all(_keeps_nothing(n, kinds) for n in calls)
        texts.leave |= any(isinstance(n, gast.Lambda) for n in walk(s.value))
    else:
        texts.leave = True


def _shows(call: Node, kinds: KindFacts) -> bool:
    """Say whether a call only shows what it is given to people."""
    fn = kinds.objects.get(call.func)
    if fn is print:
        return all(k.arg != "file" for k in call.keywords)
    owner = kinds.of.get(getattr(call.func, "value", None))
    return fn is warnings.warn or is_observer(fn) or is_logger(owner)


def _keeps_nothing(call: Node, kinds: KindFacts) -> bool:
    """Say whether no function of the user's, and no object, gets what a call is given."""
    if isinstance(kinds.of.get(getattr(call.func, "value", None)), K.Str):
        return True
    fn = kinds.objects.get(call.func)
    if isinstance(fn, types.FunctionType):
        return of_standard_library(fn.__module__)
    return isinstance(fn, types.BuiltinFunctionType | type)


def _refusal(function: Function, statement: Any, node: Any) -> Error:
    origin = function.origins.get(statement, statement)
    return UnsupportedError(
        "A number is read from a string here, and the program makes strings from "
        "differentiated values: the derivative would be lost.",
        remedy="Keep the number itself, not its text.",
        place=function.source.place(node if getattr(node, "lineno", None) else origin),
    )
