"""The statements that a call executes, each as a function of its own.

executed(f, args)     for `y = a * x`: a function of a and x that returns y, and both values
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import linecache
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from s2sad.errors import Place
from s2sad.syntax.snippets import defined

_TIMES = 3  # how often one statement is looked at
_MOST = 300  # how many are looked at in all
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr)
_OWN = __name__.partition(".")[0]


@dataclass(frozen=True)
class Executed:
    """A statement as a function of the values that it reads; it returns the values it writes."""

    fn: Callable[..., Any]
    names: tuple[str, ...]
    args: tuple[Any, ...]
    place: Place
    depth: int  # how many calls deep


def executed(f: Callable[..., Any], args: tuple[Any, ...]) -> list[Executed]:
    """Call f; return the statements that it executed, also in called functions, in order."""
    watch = _Watch()
    before = sys.gettrace()
    sys.settrace(watch.called)
    try:
        f(*args)
    finally:
        sys.settrace(before)
    return watch.found


@dataclass
class _Watch:
    """Observes a program while it runs."""

    found: list[Executed] = field(default_factory=list)
    counts: dict[Any, int] = field(default_factory=dict)

    def called(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        library = frame.f_globals.get("__name__", "").partition(".")[0] == _OWN
        if library or not _is_users(code.co_filename):
            return None
        return functools.partial(self.line, depth=_depth(frame))

    def line(self, frame: types.FrameType, event: str, arg: Any, depth: int) -> Any:
        if event == "line" and len(self.found) < _MOST:
            s = _statement(frame.f_code, frame.f_lineno)
            if s is not None and self.counts.get((frame.f_code, s), 0) < _TIMES:
                self.counts[frame.f_code, s] = self.counts.get((frame.f_code, s), 0) + 1
                one = _alone(s, frame, depth)
                if one is not None:
                    self.found.append(one)
        return functools.partial(self.line, depth=depth)


_LIBRARIES = tuple(sysconfig.get_path(which) for which in ("stdlib", "purelib", "platlib"))


def _is_users(file: str) -> bool:
    if file.startswith("<frozen"):
        return False
    return not file.startswith(_LIBRARIES)


def _depth(frame: types.FrameType | None) -> int:
    depth = 0
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


# a statement and its surroundings


def _statement(code: types.CodeType, line: int) -> ast.stmt | None:
    """Return the simple statement of a function on a line."""
    for s in _statements(code):
        if s.lineno <= line <= (s.end_lineno or s.lineno):
            return s
    return None


@functools.lru_cache(maxsize=512)
def _statements(code: types.CodeType) -> tuple[ast.stmt, ...]:
    text = "".join(linecache.getlines(code.co_filename))
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and _starts(node) == code.co_firstlineno:
            return tuple(_simple(node.body))
        if isinstance(node, ast.Lambda) and _made_of(code, node):
            return (ast.copy_location(ast.Return(node.body), node.body),)
    return ()


def _made_of(code: types.CodeType, node: ast.Lambda) -> bool:
    """Return whether a lambda's code belongs to a node; a line may contain several lambdas."""
    if code.co_name != "<lambda>" or node.lineno != code.co_firstlineno:
        return False
    spans = [(p[0], p[2]) for p in code.co_positions() if p[2] is not None and p[3] != p[2]]
    start, stop = min(spans, default=(0, 0)), max(spans, default=(0, 0))
    end = (node.body.end_lineno, node.body.end_col_offset)
    return start == (node.body.lineno, node.body.col_offset) and stop <= end


def _starts(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def _simple(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the simple statements of a block, inner blocks included."""
    for s in body:
        if isinstance(s, _SIMPLE):
            yield s
        elif not isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for part in ("body", "orelse", "finalbody"):
                yield from _simple(getattr(s, part, []))
            for handler in [*getattr(s, "handlers", []), *getattr(s, "cases", [])]:
                yield from _simple(handler.body)


def _alone(s: ast.stmt, frame: types.FrameType, depth: int) -> Executed | None:
    """Return a statement as a function, with the values that it is about to read."""
    here = frame.f_locals
    names = tuple(n for n in _read(s) if n in here)
    try:
        args = copy.deepcopy(tuple(here[n] for n in names))
    except TypeError:  # what cannot be copied cannot be looked at
        return None
    written = [n for n in _written(s) if n in here or n in _stored(s)]
    own: list[ast.stmt] = [s]
    if not isinstance(s, ast.Return):
        listed = ", ".join(written) or "None"
        own += ast.parse(f"return {listed}").body
    text = _text(own, names)
    space = {**frame.f_globals}
    space |= {n: v for n, v in here.items() if n in frame.f_code.co_freevars and n not in names}
    fn = defined(text, space, f"statement {frame.f_code.co_filename}:{s.lineno}")
    return Executed(fn, names, args, _place(s, frame.f_code), depth)


def _text(body: list[ast.stmt], names: tuple[str, ...]) -> str:
    lines = "\n".join(ast.unparse(s) for s in body).replace("\n", "\n    ")
    return f"def statement({', '.join(names)}):\n    {lines}\n"


def _read(s: ast.stmt) -> list[str]:
    """Return the names that a statement reads, including the arrays that it writes into."""
    found: dict[str, None] = {}
    for node in ast.walk(s):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found[node.id] = None
    if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
        found[s.target.id] = None
    return [n for n in found if not hasattr(builtins, n)]


def _stored(s: ast.stmt) -> list[str]:
    names = [n for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(n.id for n in names))


def _written(s: ast.stmt) -> list[str]:
    """Return the names that a statement binds, and the names of objects it may write into."""
    found = dict.fromkeys(_stored(s))
    for node in ast.walk(s):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found[_root(node)] = None
        if isinstance(s, ast.Expr) and isinstance(node, ast.Call):
            parts = [*node.args, *(k.value for k in node.keywords)]
            parts += [node.func.value] if isinstance(node.func, ast.Attribute) else []
            found.update(dict.fromkeys(map(_root, parts)))
    return [n for n in found if n]


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _place(s: ast.stmt, code: types.CodeType) -> Place:
    line = linecache.getline(code.co_filename, s.lineno).rstrip("\n")
    last = s.end_col_offset if s.end_lineno == s.lineno else len(line)
    return Place(code.co_filename, s.lineno, s.col_offset, last or len(line), line, code.co_name)
