"""`s2sad view`: one page with a program on the left and its derivative on the right.

The page needs no other files: its style and script are in page.html, and this module writes the
lines and the notes on them into it.
"""

from __future__ import annotations

import ast
import html
import importlib.resources
import io
import keyword
import linecache
import token
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import gast

from s2sad.api import Operator, operator_for
from s2sad.errors import shown_file
from s2sad.nodes import names_written, walk
from s2sad.operators.higher import derive
from s2sad.operators.parameters import Wrt
from s2sad.operators.reports import Explained, Line, Report, Saved, Variable, places_kept
from s2sad.requests import Request
from s2sad.steps.derivation import Derivation
from s2sad.steps.roles import roles_of
from s2sad.tools.looking import operator_fitting, report_for
from s2sad.write.copies import prelude
from s2sad.write.files import write_own
from s2sad.write.lines import BACKWARD, FORWARD, TANGENT, Origin, Spot, origins_by_line
from s2sad.write.printer import module

MARK = '<!DOCTYPE html>\n<html lang="en" data-made-by="s2sad">'


@dataclass
class _Side:
    """One column: the notes on its lines, by a key for each line."""

    notes: dict[Any, list[str]] = field(default_factory=dict)
    saved: dict[Any, list[str]] = field(default_factory=dict)

    def note(self, key: Any, text: str) -> None:
        listed = self.notes.setdefault(key, [])
        if text not in listed:
            listed.append(text)


def view(
    f: Callable[..., Any],
    path: str | Path,
    *,
    mode: str | None = None,
    wrt: Wrt = None,
    args: Any = None,
) -> Path:
    """Write the page for a derivative of f, and return its path.

    Without a mode it is the gradient, or for a result that is not a scalar the pullback.
    """
    args = () if args is None else tuple(args)
    if mode is None:
        operator = operator_fitting(f, wrt, args)
    else:
        operator = operator_for(f, mode, wrt, args)
    return write_own(path, page_of(operator, args), MARK)


def page_of(operator: Operator[..., Any], args: tuple[Any, ...]) -> str:
    """Return the page for a derivative."""
    return page_for(operator._asked(args, {})[0], report_for(operator, args))


def page_for(request: Request, report: Report) -> str:
    """Return the page for a request, with the report on it."""
    d = derive(replace(request, explained=True))
    body = prelude(d.refs, d.functions)
    text = module(body)
    origins = origins_by_line(body, text, roles_of(d))
    left = _user_side(report)
    right = _derived_side(d, body, report, origins)
    ids = _Ids()
    title = f"{report.functions[0].name} and its derivative"
    parts = {
        "TITLE": html.escape(title),
        "LEFT": "".join(_sources(report, origins, left, ids)),
        "RIGHT": _derived(text, origins, right, d.entry, report, ids),
        "SUMMARY": html.escape(_summary(report)),
    }
    template = importlib.resources.files("s2sad.tools").joinpath("page.html").read_text("utf-8")
    for word, value in parts.items():
        template = template.replace(f"<!--{word}-->", value)
    return template


# --- what is known of lines ----------------------------------------------------------------------


def _user_side(report: Report) -> _Side:
    side = _Side()
    for f in report.functions:
        for v in f.variables:
            # What a call gives a parameter is told where the parameter stands.
            for line in dict.fromkeys((v.line, None if v.name in f.wrt else v.cause)):
                if line is not None and (v.active or line != v.line or not v.saves):
                    side.note(_spot(line), _activity(v))
            for s in v.saves:
                for line in (s.overwriting or (v.line,)) if not v.made_up else ():
                    if line is None:
                        continue
                    shown = v.expression if v.expression and v.name != "value" else v.name
                    side.note(_spot(line), _saved(shown, s))
                    side.saved.setdefault(_spot(line), []).append(shown)
    return side


def _saved(shown: str, s: Saved) -> str:
    if s.bytes is None:
        size = ""
    elif s.bytes_per_iteration is None:
        size = f", {s.bytes} bytes"
    else:
        unit = "round" if s.rounds else "call"
        size = f", {s.bytes_per_iteration} bytes a {unit}, {s.bytes} in all"
    return f"{shown} is saved{size}: {s.why}."


def _activity(v: Variable) -> str:
    return f"{v.name} is {'active' if v.active else 'not active'}: {v.why}."


def _spot(line: Line) -> Spot:
    return line.file, line.number


def _derived_side(
    d: Derivation, body: list[Any], report: Report, origins: Mapping[int, Origin]
) -> _Side:
    """Note where derived text saves a value, and why."""
    side = _Side()
    values = {(f.derived[0], v.name): v for f in report.functions for v in f.variables}
    for node in body:
        known = d.stories.get(getattr(node, "name", ""))
        if known is None:
            continue
        counts: dict[str, int] = {}
        for kept, owner, _ in places_kept(node, known[1]):
            which = counts[kept.variable] = counts.get(kept.variable, -1) + 1
            v = values.get((node.name, kept.variable))
            if v is None or which >= len(v.saves):
                continue
            saved = v.saves[which]
            for number, origin in origins.items():
                if origin.function == node.name and _holds(origin.statement, owner):
                    side.note(number, _saved(saved.value, saved))
                    side.saved.setdefault(number, []).append(v.name)
    return side


def _holds(statement: Any, owner: Any) -> bool:
    """Return whether a value is saved in a statement; in a compound one, only the header counts."""
    if statement is None or hasattr(statement, "body"):
        return False
    if statement is owner:
        return True
    return any(
        owner is n.args if isinstance(n, gast.Call) else owner is n.elts
        for n in walk(statement)
        if isinstance(n, gast.Call | gast.Tuple)
    )


# --- the columns ---------------------------------------------------------------------------------


def _sources(
    report: Report, origins: Mapping[int, Origin], side: _Side, ids: _Ids
) -> Iterator[str]:
    """Yield the user's functions: the differentiated function first, then the called ones."""
    spots = {spot for o in origins.values() for spot in o.spots}
    shown: dict[Spot, None] = {}
    named = {(f.file, f.line): f for f in report.functions}
    wanted = [*named, *sorted(spots)]
    for file, number in wanted:
        if (file, number) in shown:
            continue
        first, last = _function_around(file, number)
        lines = range(first, last + 1)
        shown |= dict.fromkeys((file, n) for n in lines)
        active = _active_in(report, file, lines)
        name = named[file, number].name if (file, number) in named else shown_file(file)
        yield _section(name, f"{shown_file(file)}:{first}")
        text = "".join(linecache.getline(file, n) or "\n" for n in lines)
        more = _continued(file)
        for n, code in zip(lines, _lines_of(text, active), strict=False):
            key = (file, n)
            notes, saved = side.notes.get(key), side.saved.get(key)
            part = ids((file, more[n])) if n in more else ""
            yield _line(ids(key), n, code, "", (), notes, saved, part)
        yield "</section>"


def _function_around(file: str, number: int) -> tuple[int, int]:
    """Return the first and last line of the function that contains a line."""
    lines = linecache.getlines(file)
    try:
        tree = gast.parse("".join(lines))
    except SyntaxError:
        return number, number
    best = (number, number)
    for node in gast.walk(tree):
        if isinstance(node, gast.FunctionDef | gast.Lambda):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            inner = best != (number, number) and first < best[0]
            if first <= number <= node.end_lineno and not inner:
                best = first, node.end_lineno
    return best


def _continued(file: str) -> dict[int, int]:
    """Return the continuation lines, each with the line where its statement begins."""
    found: dict[int, int] = {}
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            found |= dict.fromkeys(range(node.lineno + 1, last + 1), node.lineno)
    return found


def _active_in(report: Report, file: str, lines: range) -> frozenset[str]:
    inside = [f for f in report.functions if f.file == file and f.line in lines]
    return frozenset(v.name for f in inside for v in f.variables if v.active and not v.expression)


def _derived(
    text: str,
    origins: Mapping[int, Origin],
    side: _Side,
    entry: str,
    report: Report,
    ids: _Ids,
) -> str:
    """Return the derived functions, the entry first: forward sweeps above, backward ones below."""
    panes: dict[str, list[str]] = {FORWARD: [], BACKWARD: []}
    by_name = {n: f for f in report.functions for n in f.derived}
    for name in [entry, *(n for n in reversed([*by_name]) if n != entry)]:
        if name not in by_name:
            continue
        f = by_name[name]
        coloured = _lines_of(text, frozenset(v.name for v in f.variables if v.active))
        for sweep, pane in panes.items():
            own = {n: o for n, o in origins.items() if o.function == name}
            later = sweep == BACKWARD
            numbers = sorted(n for n, o in own.items() if (o.sweep == BACKWARD) == later)
            if not numbers:
                continue
            pane.append(_section(name, f"from {f.name}, {sweep} sweep"))
            for n in range(numbers[0], numbers[-1] + 1):
                o = own.get(n)
                spots = sorted(map(ids, o.spots)) if o is not None else []
                notes, saved = side.notes.get(n), side.saved.get(n)
                pane.append(_line(f"d{n}", n, coloured[n - 1], _sweep(o), spots, notes, saved))
            pane.append("</section>")
    return "".join(
        f'<div class="pane" role="region" aria-label="Its {sweep} sweep">{"".join(pane)}</div>'
        for sweep, pane in panes.items()
        if pane
    )


def _sweep(origin: Origin | None) -> str:
    if origin is None:
        return ""
    s = origin.statement
    plain = s is not None and not hasattr(s, "body")
    if plain and origin.sweep == FORWARD and any(n.endswith("_dot") for n in names_written(s)):
        return TANGENT
    return origin.sweep


def _section(title: str, about: str) -> str:
    head = f"<h2>{html.escape(title)} <small>{html.escape(about)}</small></h2>"
    return f'<section class="code">{head}'


def _line(
    ident: str,
    number: int,
    code: str,
    sweep: str,
    spots: Any,
    notes: list[str] | None,
    saved: list[str] | None,
    part: str = "",
) -> str:
    said = "".join(f'<i class="why">{html.escape(n)}</i>' for n in notes or ())
    badge = ""
    if saved:
        names = html.escape(", ".join(dict.fromkeys(saved)))
        badge = f'<b class="saved">saved {names}</b>'
    data = f' data-sweep="{sweep}"' if sweep else ""
    data += f' data-from="{" ".join(spots)}"' if spots else ""
    data += f' data-with="{part}"' if part else ""
    return (
        f'<div class="line" id="{ident}" tabindex="-1"{data}><span class="no">{number}</span>'
        f"<code>{code or ' '}</code>{badge}{said}</div>"
    )


class _Ids:
    """Gives each line of the user's files an id."""

    def __init__(self) -> None:
        self.files: dict[str, int] = {}

    def __call__(self, spot: Spot) -> str:
        return f"u{self.files.setdefault(spot[0], len(self.files))}-{spot[1]}"


# --- colours -------------------------------------------------------------------------------------


def _lines_of(text: str, active: frozenset[str]) -> list[str]:
    """Return the lines of a Python text as HTML, with names that are active marked."""
    lines = text.splitlines()
    spans: dict[int, list[tuple[int, int, str]]] = {}
    try:
        for t in tokenize.generate_tokens(io.StringIO(text).readline):
            cls = _class(t, active)
            for row in range(t.start[0], t.end[0] + 1) if cls else ():
                first = t.start[1] if row == t.start[0] else 0
                last = t.end[1] if row == t.end[0] else len(lines[row - 1])
                spans.setdefault(row, []).append((first, last, cls))
    except (tokenize.TokenError, IndentationError):
        spans = {}
    return [_marked(line, spans.get(n, [])) for n, line in enumerate(lines, 1)]


def _marked(line: str, spans: list[tuple[int, int, str]]) -> str:
    out, at = [], 0
    for first, last, cls in spans:
        out.append(html.escape(line[at:first]))
        out.append(f'<span class="{cls}">{html.escape(line[first:last])}</span>')
        at = last
    return "".join([*out, html.escape(line[at:])])


def _class(t: tokenize.TokenInfo, active: frozenset[str]) -> str:
    if t.type == token.NAME:
        if keyword.iskeyword(t.string):
            return "k"
        if t.string.endswith(("_bar", "_dot")) or "_bar_" in t.string:
            return "bar"
        return "act" if t.string in active else ""
    kinds = {token.STRING: "s", token.NUMBER: "n", tokenize.COMMENT: "c"}
    return kinds.get(t.type, "")


def _summary(report: Report) -> str:
    f: Explained = report.functions[0]
    kept = "" if report.bytes is None else f", {report.bytes} bytes saved"
    return f"with respect to {', '.join(f.wrt)}{kept}"
