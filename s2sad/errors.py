"""The errors of s2sad, and the code that names file, line and column and draws the caret.

Every refusal of s2sad derives from `Error`. Its message points at the *user's* source as Python's
own tracebacks do, and says why s2sad refuses the program and what to do instead.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A span in the user's source: file, 1-based line, 0-based columns, the text of the line."""

    file: str
    line: int
    column: int
    end_column: int
    text: str
    function: str = ""

    def render(self) -> str:
        """Render the place as a traceback entry with a caret under the span."""
        cell = _cell(self.file)
        where = f"  Cell {cell}" if cell else f'  File "{self.file}"'
        where += f", line {self.line}"
        if self.function:
            where += f", in {self.function}"
        stripped = self.text.lstrip()
        if not stripped:
            return where
        shift = len(self.text) - len(stripped)
        start = max(self.column - shift, 0)
        stop = min(max(self.end_column - shift, start + 1), max(len(stripped), start + 1))
        return f"{where}\n    {stripped}\n    {' ' * start}{'^' * (stop - start)}"


def shown_file(file: str) -> str:
    """Return the name of a file for a reader: without folders; for a notebook, the cell."""
    return _cell(file) or file.replace("\\", "/").rsplit("/", 1)[-1]


def _cell(file: str) -> str:
    """Return `In[2]` for the file that IPython made from that cell, else an empty text."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    told = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(file)
    return told[1] if told else ""


class Error(Exception):
    """Base class of all errors of s2sad.

    `reason` says why s2sad refuses, `remedy` what to do instead, `place` where it is (or None).
    """

    def __init__(self, reason: str, *, remedy: str = "", place: Place | None = None) -> None:
        self.reason = reason
        self.remedy = remedy
        self.place = place
        super().__init__(reason, remedy, place)

    def __str__(self) -> str:
        lines = [self.reason]
        if self.place is not None:
            lines.append(self.place.render())
        if self.remedy:
            lines.append(self.remedy)
        return "\n".join(lines)

    def at(self, place: Place | None) -> Error:
        """Return the same error with a place, if it has none yet."""
        if self.place is not None or place is None:
            return self
        return type(self)(self.reason, remedy=self.remedy, place=place)

    def __reduce__(self) -> tuple[object, ...]:
        made = _rebuild, (type(self), self.reason, self.remedy, self.place)
        notes = getattr(self, "__notes__", None)
        return made if notes is None else (*made, {"__notes__": notes})


def _rebuild(cls: type[Error], reason: str, remedy: str, place: Place | None) -> Error:
    return cls(reason, remedy=remedy, place=place)


def an(word: str) -> str:
    """Return a word with its article: an Array, a list."""
    return f"{'an' if word.lstrip('_')[:1].lower() in tuple('aeiou') else 'a'} {word}"


class UnsupportedError(Error, NotImplementedError):
    """A construct that cannot be differentiated (yet) lies on an active path."""


class NotFiniteError(Error, FloatingPointError):
    """With debug_nans: a derivative is nan or infinite; the error names the line where it arose."""


class RuleRefusal(UnsupportedError, ValueError):
    """A rule raised a ValueError for its arguments."""


class MissingRuleError(Error, NotImplementedError):
    """An active value is passed to a function that has neither a rule nor readable source."""


class ActivityError(Error, TypeError):
    """Activities contradict one another, or an argument or result cannot be active."""


class MismatchError(ActivityError, ValueError):
    """A cotangent, tangent or seed does not match the shape or structure of its primal."""


class SourceError(Error, OSError):
    """The source of a function cannot be found, or is not the source of the code that runs."""

    def __str__(self) -> str:
        return Error.__str__(self)


class AliasError(Error, ValueError):
    """Two arguments or variables share memory that the function or its derivative writes."""


class SettingError(Error, ValueError):
    """An environment variable that s2sad reads has an invalid value."""


class DerivativeWarning(UserWarning):
    """The program rounds an active float, as by a store into an integer array: derivative 0."""


class CallError(TypeError):
    """A function does not take the arguments of a call; to users it is Python's own TypeError."""

    def __reduce__(self) -> tuple[object, ...]:
        return TypeError, self.args


CallError.__module__, CallError.__qualname__ = TypeError.__module__, TypeError.__qualname__
CallError.__name__ = TypeError.__name__


class InternalError(Error, AssertionError):
    """A pass violated its own claim: this is a bug in s2sad, never the user's fault."""
