"""Where nan or infinity first arises in derived code: `grad(f, debug_nans=True)`.

The derived function runs as it always does, and what each of its lines computes is looked at. A
figure arises where a line computes it of figures that are finite (or, for nan, none of which is
nan); a constant such as `np.inf` does not.
"""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad.errors import NotFiniteError, Place
from s2sad.tree import leaves
from s2sad.write.lines import BACKWARD, Origin, Spot

_OURS = "<s2sad "
_LIBRARIES = ("cupy", "numpy", "s2sad", "scipy")
_MOST = 10_000  # leaves of a structure that are looked at
Lines = Callable[[], tuple[str, Mapping[int, Origin]]]


@dataclass(frozen=True)
class _Arose:
    """A line that computed nan or infinity, and the lines of derived text that it is called by."""

    derived: tuple[Spot, ...]
    what: str
    place: Spot | None = None  # in a function of the user's


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

    def known(spot: Spot) -> Origin | None:
        mine = "".join(linecache.getlines(spot[0])).rstrip() == text.rstrip()
        return origins.get(spot[1]) if mine else None

    for one in watch.found:
        calls = [origin for origin in map(known, one.derived) if origin is not None]
        if not calls:
            continue
        sweep = BACKWARD if any(c.sweep == BACKWARD for c in calls) else calls[0].sweep
        spots = sorted(calls[0].spots) if one.place is None else [one.place]
        places = [_place(*spot) for spot in spots]
        others = "".join(f", or of line {p.line}" for p in places[1:])
        raise NotFiniteError(
            f"The derivative of {name} is not finite: {one.what} first arises in the {sweep} "
            f"sweep of this line{others}.",
            remedy="Keep the operands away from that point, or mask it with np.where.",
            place=places[0] if places else None,
        )
    raise NotFiniteError(
        f"The derivative of {name} is not finite, and no line computes {what} from finite numbers.",
        remedy="Check the arguments, and the values that the function reads from outside.",
    )


@dataclass
class _Watch:
    """Looks on while derived code runs."""

    found: list[_Arose] = field(default_factory=list)

    def called(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        return _Frame(self).line if _is_called_by_derived(frame) else None


def _is_called_by_derived(frame: types.FrameType | None) -> bool:
    """Say whether a frame is one of derived text, or of the user's that such a one has called."""
    while frame is not None and not frame.f_code.co_filename.startswith(_OURS):
        top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if top in _LIBRARIES or top in sys.stdlib_module_names - {"__main__"}:
            return False
        frame = frame.f_back
    return frame is not None


def _callers(frame: types.FrameType | None) -> Iterator[Spot]:
    """Yield the lines of derived text that have called a frame, the last call first."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(_OURS):
            yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back


class _Frame:
    """One call of a derived function, or of the user's function that it calls.

    Known are the line that runs, and how its operands were before.
    """

    def __init__(self, watch: _Watch) -> None:
        self.watch = watch
        self.running: _Statement | None = None
        self.before = ""

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
                operands = [here[n] for n in self.running.reads if n in here]
                self.before = _worst(operands) if operands else "nothing"
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
            spot, callers = (frame.f_code.co_filename, s.line), tuple(_callers(frame.f_back))
            if spot[0].startswith(_OURS):
                self.watch.found.append(_Arose((spot, *callers), what))
            else:
                self.watch.found.append(_Arose(callers, what, spot))
        self.running = None


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
        owner: Any = value.func  # of what is computed
        if not any(isinstance(n, ast.BinOp | ast.Call) for n in ast.walk(owner.value)):
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
