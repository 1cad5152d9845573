"""Where the user's source has what derived text calls: for errors that rules raise as they run.

A rule is copied into derived text under a name of its own. What it raises there is plain in a file
that knows nothing of s2sad; in memory it becomes an error of the family that says where the call
stands. Nothing is done for that before something is raised.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from s2sad.errors import Error, Place
from s2sad.stages import Comment


@dataclass(frozen=True)
class Origin:
    """A call of a helper in derived text, or a heading (no callee), and where it comes from.

    The definition of a derived function heads it.
    """

    callee: str
    place: Place | None


def origins_of(
    body: Iterable[Any], helpers: Iterable[str], live: Iterable[str] = ()
) -> tuple[Origin, ...]:
    """Return the calls of helpers and the headings in derived functions, in the text's order.

    Empty where no helper raises anything by itself; those that are `live` may.
    """
    known, nodes = frozenset(helpers), list(body)
    raising = any(_raises(node) for node in nodes if getattr(node, "name", "") in known)
    if not raising and not any(live):
        return ()
    derived = [node for node in nodes if getattr(node, "name", None) not in known]
    found: list[Origin] = []
    for function in derived:
        source = getattr(function, "home", None)
        found += [Origin(c, _place(node, source)) for c, node in _found([function], known)]
    return tuple(found)


def _raises(node: Any) -> bool:
    return any(isinstance(n, ast.Raise) or type(n).__name__ == "Raise" for n in _inside(node))


def _inside(node: Any) -> Iterator[Any]:
    """Yield a node and all that is in it, in the order of the text."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _inside(child)


def _found(nodes: Iterable[Any], helpers: frozenset[str]) -> Iterator[tuple[str, Any]]:
    for node in nodes:
        if hasattr(node, "home"):
            yield "", node
        for n in _inside(node):
            if isinstance(n, Comment):
                if n.text:
                    yield "", n
                continue
            callee = getattr(getattr(n, "func", None), "id", "")
            if callee in helpers:
                yield callee, n


def _place(node: Any, source: Any) -> Place | None:
    home = getattr(node, "home", source)
    if home is None or getattr(node, "lineno", None) is None:
        return None
    found: Place = home.place(node)
    return found


class Refusals:
    """Makes errors of the family of what helpers raise, with the place of the call.

    `home` gives, for a place in text that is derived again, where the user's function stands.
    """

    def __init__(
        self,
        text: str,
        filename: str,
        origins: Iterable[Origin],
        helpers: Iterable[str],
        home: Callable[[Place | None], Place | None],
    ) -> None:
        self._home = home
        self._text = text
        self._filename = filename
        self._origins = tuple(origins)
        self._helpers = frozenset(helpers)

    def names(
        self, helper: str, errors: Mapping[str, type[Error]], remedy: str
    ) -> dict[str, object]:
        """Return what stands for exceptions in a helper, by their names.

        What the helper catches itself is what it always was.
        """
        if not self._origins:
            return {}
        caught = self._caught.get(helper, frozenset())
        kept = {name: error for name, error in errors.items() if name not in caught}
        return {name: self._maker(error, remedy) for name, error in kept.items()}

    @functools.cached_property
    def _caught(self) -> dict[str, frozenset[str]]:
        found = {}
        for node in ast.parse(self._text).body:
            if isinstance(node, ast.FunctionDef) and node.name in self._helpers:
                handlers = [n for n in ast.walk(node) if isinstance(n, ast.ExceptHandler)]
                inside = (n for h in handlers if h.type is not None for n in ast.walk(h.type))
                found[node.name] = frozenset(n.id for n in inside if isinstance(n, ast.Name))
        return found

    def _maker(self, error: type[Error], remedy: str) -> type[Error]:
        def made(cls: type[Error], reason: object = "a rule refused", *rest: object) -> Error:
            if isinstance(reason, Error):  # made by `raise NotImplementedError`, without a call
                return reason
            place = self._called_at(sys._getframe(1))
            return error(_sentence(str(reason)), remedy=remedy, place=self._home(place))

        return type(error.__name__, (error,), {"__new__": made})

    def called_from(self, helper: str) -> Callable[[], Place | None]:
        """Return what says where a helper that is not in the text is called from."""
        return lambda: self._home(self._called_at(sys._getframe(2), helper))

    def _called_at(self, frame: FrameType | None, callee: str = "") -> Place | None:
        """Return the place of the call in derived text that the frames are inside of."""
        while frame is not None:
            name = frame.f_code.co_qualname.partition(".")[0]
            if frame.f_code.co_filename == self._filename:
                if name not in self._helpers:
                    return self._place_of(callee, frame.f_lineno)
                callee = name
            frame = frame.f_back
        return None

    def _place_of(self, callee: str, line: int) -> Place | None:
        """Return where a call that stands on a line comes from, or else what heads that line."""
        derived = [
            node
            for node in ast.parse(self._text).body
            if isinstance(node, ast.FunctionDef) and node.name not in self._helpers
        ]
        calls = _found(derived, self._helpers)
        heading: Place | None = None
        for origin in self._origins:
            if not origin.callee:
                heading = origin.place or heading
                continue
            node = next(calls, ("", None))[1]
            if node is None:
                break
            if origin.callee == callee and node.lineno <= line <= node.end_lineno:
                return origin.place or heading
        return None


def _sentence(reason: str) -> str:
    return reason if reason.endswith(".") else f"{reason}."
