"""Where nan or infinity first arises in derived code: `grad(f, debug_nans=True)`.

The derived function runs as it always does, and what each of its lines computes is looked at. A
figure arises where a line computes it of figures that are finite (or, for nan, none of which is
nan); a constant such as `np.inf` does not.
"""

from __future__ import annotations

import ast
import functools
import linecache
import re
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad.errors import NotFiniteError, Place
from s2sad.tree import leaves
from s2sad.write.lines import BACKWARD, Origin, Spot

_OURS = "<s2sad "
_MOST = 10_000  # leaves of a structure that are looked at
Lines = Callable[[], tuple[str, Mapping[int, Origin]]]


@dataclass(frozen=True)
class _Arose:
    """A line of derived text that computed nan or infinity."""

    file: str
    line: int
    what: str
    by: frozenset[str] = frozenset()  # the names of which it was computed, where that is known


def watched(call: Callable[[], Any], lines: Lines, name: str) -> Any:
    """Return what a call gives; NotFiniteError with the user's line if that is not all finite.

    `lines` gives the derived text, and where its lines come from.
    """
    watch = _Watch()
    before = sys.gettrace()
    sys.settrace(watch.called)
    try:
        result = call()
    finally:
        sys.settrace(before)
    what = _worst(result)
    if not what:
        return result
    text, origins = lines()
    for one in watch.found:
        origin = origins.get(one.line)
        if origin is None or "".join(linecache.getlines(one.file)).rstrip() != text.rstrip():
            continue
        places = [_place(*spot) for spot in _spots(one, origin, origins, text)]
        others = "".join(f", or of line {p.line}" for p in places[1:])
        raise NotFiniteError(
            f"What is derived of {name} is not finite: {one.what} arises first in the "
            f"{origin.sweep} sweep of this line{others}.",
            remedy="Keep its operands away from there, or mask it with np.where.",
            place=places[0] if places else None,
        )
    raise NotFiniteError(
        f"What is derived of {name} is not finite, and no line computes {what} of finite figures.",
        remedy="Look for it in the arguments, and in what the function reads from outside.",
    )


def _spots(one: _Arose, origin: Origin, origins: Mapping[int, Origin], text: str) -> list[Spot]:
    """Return the user's lines for a line of derived text.

    Polishing joins what several lines became: then those count that say what it was computed of.
    """
    own = sorted(origin.spots)
    said = " ".join(linecache.getline(*spot) for spot in own)
    strange = {n for n in one.by if n not in re.findall(r"\w+", said)}
    if origin.sweep != BACKWARD or not one.by:
        return own
    lines = text.splitlines()
    makers = [
        spot
        for number, o in sorted(origins.items())
        if number < one.line and o.function == origin.function
        for spot in sorted(o.spots)
        if _bound_in(lines[number - 1]) & one.by and o.sweep != BACKWARD
    ]
    makers = list(dict.fromkeys(reversed(makers)))
    return (makers or own) if strange else list(dict.fromkeys([*own, *makers]))


def _bound_in(line: str) -> set[str]:
    return set(re.findall(r"\w+", line.partition("=")[0])) if "=" in line else set()


@dataclass
class _Watch:
    """Looks on while derived code runs."""

    found: list[_Arose] = field(default_factory=list)

    def called(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        if not frame.f_code.co_filename.startswith(_OURS):
            return None
        return _Frame(self).line


class _Frame:
    """One call of a derived function: the line that runs, and how its operands were before."""

    def __init__(self, watch: _Watch) -> None:
        self.watch = watch
        self.running: _Statement | None = None
        self.before = ""
        self.operands: dict[str, Any] = {}

    def line(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        if event == "exception":
            self.running = None
            return self.line
        if event in ("line", "return"):
            self.look(frame, arg if event == "return" else None, event == "return")
        if event == "line":
            self.running = _statement(frame.f_code.co_filename, frame.f_lineno)
            if self.running is not None:
                here = frame.f_locals
                self.operands = {n: here[n] for n in self.running.reads if n in here}
                self.before = _worst([*self.operands.values()]) if self.operands else "nothing"
        return self.line

    def look(self, frame: types.FrameType, returned: Any, at_end: bool) -> None:
        s = self.running
        if s is None or self.before in ("nan", "nothing"):
            return
        here = frame.f_locals
        if s.returns:
            made = [returned] if at_end else []
        else:
            made = [_last(here[n]) if n in s.appended else here[n] for n in s.writes if n in here]
        what = _worst(made)
        if what and what != self.before:
            by = _made_of(s.value, {**frame.f_globals, **self.operands})
            by &= self.operands.keys()
            self.watch.found.append(_Arose(frame.f_code.co_filename, s.line, what, frozenset(by)))
        self.running = None


def _made_of(value: Any, space: dict[str, Any]) -> set[str]:
    """Return the names in the innermost operation that gives what is not finite; for a quotient
    those of what it is divided by."""
    for node in reversed(list(ast.walk(value)) if value is not None else []):
        if not isinstance(node, ast.BinOp):
            continue
        try:
            made = eval(compile(ast.Expression(node), "<s2sad>", "eval"), space)
        except (ArithmeticError, LookupError, NameError, TypeError, ValueError):
            continue
        if _worst(made):
            part = node.right if isinstance(node.op, ast.Div) else node
            return {n.id for n in ast.walk(part) if isinstance(n, ast.Name)}
    return set()


def _last(value: Any) -> Any:
    return value[-1] if isinstance(value, list) and value else None


@dataclass(frozen=True)
class _Statement:
    """What a line of derived text reads and writes; of those written, lists it appends to."""

    line: int
    reads: frozenset[str]
    writes: frozenset[str]
    appended: frozenset[str]
    returns: bool
    value: Any


def _statement(file: str, line: int) -> _Statement | None:
    return _statements(file, len(linecache.getlines(file))).get(line)


@functools.lru_cache(maxsize=64)
def _statements(file: str, length: int) -> dict[int, _Statement]:
    """Return the statements of a derived text that compute something, by all their lines."""
    found: dict[int, _Statement] = {}
    for node in ast.walk(ast.parse("".join(linecache.getlines(file)))):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Return | ast.Expr):
            made = _told(node)
            if made is not None:
                found |= dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), made)
    return found


def _told(node: Any) -> _Statement | None:
    value = node.value
    appended: set[str] = set()
    if isinstance(node, ast.Expr):
        func: Any = getattr(value, "func", None)
        if getattr(func, "attr", "") == "append" and isinstance(func.value, ast.Name):
            appended = {func.value.id}
    if value is None or not any(isinstance(n, ast.BinOp | ast.Call) for n in ast.walk(value)):
        if not isinstance(node, ast.AugAssign):
            return None
    if isinstance(value, ast.Call) and getattr(value.func, "attr", "") in ("pop", "copy"):
        return None
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    reads = {n.id for n in names if isinstance(n.ctx, ast.Load)} - appended
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    writes = {_root(t) for target in targets if target is not None for t in _parts(target)}
    if isinstance(node, ast.AugAssign):
        reads |= writes
    elif isinstance(node, ast.Expr) and not appended:
        writes = set(reads)  # what a call is given, it may write
    return _Statement(
        node.lineno,
        frozenset(reads),
        frozenset(writes | appended),
        frozenset(appended),
        isinstance(node, ast.Return),
        value,
    )


def _parts(target: Any) -> list[Any]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _root(node: Any) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _worst(value: Any) -> str:
    """Return "nan" or "infinity" if a structure holds one, or nothing."""
    found = ""
    for leaf in _figures(value):
        if bool(np.isnan(leaf).any()):
            return "nan"
        if not found and bool(np.isinf(leaf).any()):
            found = "infinity"
    return found


def _figures(value: Any) -> list[Any]:
    if isinstance(value, float | np.ndarray):
        value = [value]
    try:
        return [leaf.value for leaf in leaves(value)[:_MOST]]
    except (RecursionError, ValueError):  # what contains itself has no end
        return []


def _place(file: str, line: int) -> Place:
    text = linecache.getline(file, line).rstrip("\n")
    start = len(text) - len(text.lstrip())
    return Place(file, line, start, len(text), text)
