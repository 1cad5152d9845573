"""S2SAD_LOGS=source,activity,saved: what is derived is printed to stderr as it is derived.

source      the text
activity    per variable whether it is active, and by which line
saved       what is kept for the backward sweep, and why
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from s2sad.errors import SettingError, shown_file
from s2sad.requests import Request
from s2sad.steps.derivation import Derivation
from s2sad.steps.joining import printed

if TYPE_CHECKING:
    from s2sad.operators.reports import Explained, Variable

VARIABLE = "S2SAD_LOGS"
KNOWN = ("source", "activity", "saved")


def chosen() -> tuple[str, ...]:
    """Return what the environment asks to have printed."""
    given = os.environ.get(VARIABLE, "")
    if not given:
        return ()
    names = [n.strip() for n in given.split(",") if n.strip()]
    for n in names:
        if n not in KNOWN:
            close = difflib.get_close_matches(n, KNOWN, 1)
            hint = f"; did you mean {close[0]!r}?" if close else "."
            raise SettingError(
                f"{VARIABLE}={given!r}: s2sad does not know {n!r}{hint}",
                remedy=f"It knows {', '.join(KNOWN)}; separate several by commas.",
            )
    return tuple(n for n in KNOWN if n in names)


def with_answers(request: Request) -> Request:
    """Return a request for what the environment asks to have printed."""
    return replace(request, explained=True) if {"activity", "saved"} & {*chosen()} else request


def log(d: Derivation) -> None:
    """Print of what was derived what the environment asks for."""
    asked = chosen()
    if not asked:
        return
    from s2sad.operators.reports import report_of

    lines: list[str] = []
    if "source" in asked:
        lines += [f"s2sad source: {d.entry}", *printed(d).text.splitlines()]
    for f in report_of(d).functions:
        if "activity" in asked:
            lines += [f"s2sad activity: {_where(f)}", *(_activity(v) for v in f.variables)]
        if "saved" in asked:
            lines += [f"s2sad saved: {_where(f)}", *_saved(f)]
    print("\n".join(lines), file=sys.stderr)


def _where(f: Explained) -> str:
    return f"{f.name} ({shown_file(f.file)}:{f.line}), derived as {', '.join(f.derived)}"


def _activity(v: Variable) -> str:
    return f"    {v.name:12} {'active' if v.active else '-':8} {v.why}"


def _saved(f: Explained) -> Iterator[str]:
    kept = [(v, s) for v in f.variables for s in v.saves]
    for v, s in kept:
        yield f"    {v.name:12} {s.value} {s.where}: {s.why}"
    if not kept:
        yield "    nothing"
