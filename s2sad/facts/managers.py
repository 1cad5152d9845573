"""Context managers: which of them surely let an exception through that leaves their block.

One that swallows it goes on behind a block that is half done: nobody could tell how far it got.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import linecache
import threading
import types
import warnings
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import Node
from s2sad.stages import KindFacts

_KNOWN: tuple[type, ...] = (
    np.errstate,
    type(np.printoptions()),
    warnings.catch_warnings,
    contextlib.nullcontext,
    contextlib.closing,
    contextlib.redirect_stdout,
    contextlib.redirect_stderr,
    io.IOBase,
    type(threading.Lock()),
    type(threading.RLock()),
    threading.Condition,
    threading.Semaphore,
)
_OPENERS: tuple[Any, ...] = (open, io.open, np.printoptions, threading.Lock, threading.RLock)
Ask = Callable[[Any, list[Kind]], Kind]


def passing(made: Node, kind: Kind, facts: KindFacts, ask: Ask) -> bool | None:
    """Say of a manager that swallows no exception whether it is the library's own; None else.

    `made` is the expression that gives it, `kind` its kind. `ask` gives the kind of the result of
    a user's function, given the kinds of its arguments: an exit that returns None lets all through.
    """
    fn = facts.objects.get(made.func) if isinstance(made, gast.Call) else None
    if fn is None:
        cls = kind.cls if isinstance(kind, K.Obj | K.Unknown) else None
    elif any(fn is o for o in _OPENERS):
        return True
    elif isinstance(fn, types.FunctionType):
        return False if _generator_lets_through(fn) else None
    else:
        cls = fn if isinstance(fn, type) else None
    if cls is None:
        return None
    leave = inspect.getattr_static(cls, "__exit__", None)
    if any(leave is _exit_of(known) for known in _KNOWN):
        return True
    if not isinstance(leave, types.FunctionType):
        return None
    result = ask(leave, [kind, K.UNKNOWN, K.UNKNOWN, K.UNKNOWN])
    never = isinstance(result, K.Num) and result.type == "bool" and result.value is False
    return False if never or isinstance(result, K.NoneKind) else None


def may_be_written(made: Node, facts: KindFacts) -> list[Node]:
    """Return the arguments that a generator function behind a manager uses, and so may change."""
    fn = facts.objects.get(made.func) if isinstance(made, gast.Call) else None
    inner = inspect.getattr_static(fn, "__wrapped__", None)
    if getattr(fn, "__code__", None) is not _HELPER or not isinstance(inner, types.FunctionType):
        return []
    given = dict(enumerate(made.args)) | {k.arg: k.value for k in made.keywords}
    definition = _definition(inner.__code__)
    if definition is None:
        return list(given.values())
    params = definition.args
    if params.vararg or params.kwarg or any(isinstance(a, gast.Starred) for a in made.args):
        return list(given.values())
    names = [a.arg for a in (*params.posonlyargs, *params.args)]
    used = {n.id for s in definition.body for n in ast.walk(s) if isinstance(n, ast.Name)}
    return [a for at, a in given.items() if (names[at] if isinstance(at, int) else at) in used]


def _exit_of(cls: type) -> Any:
    return inspect.getattr_static(cls, "__exit__")


def _generator_lets_through(fn: types.FunctionType) -> bool:
    """Say whether a function made by contextlib.contextmanager catches nothing at its yield."""
    inner = inspect.getattr_static(fn, "__wrapped__", None)
    if fn.__code__ is not _HELPER or not isinstance(inner, types.FunctionType):
        return False
    definition = _definition(inner.__code__)
    return definition is not None and not _guarded_yield(definition.body)


_HELPER = contextlib.contextmanager(lambda: iter(())).__code__


def _definition(code: types.CodeType) -> ast.FunctionDef | None:
    """Return the definition of a function, where the file still holds the code that runs."""
    try:
        text = "".join(linecache.getlines(code.co_filename))
        module = compile(text, code.co_filename, "exec", dont_inherit=True)
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    pending = [module]
    while pending:
        found = pending.pop()
        pending += [c for c in found.co_consts if isinstance(c, types.CodeType)]
        if found == code:
            break
    else:
        return None
    for n in ast.walk(tree):
        if isinstance(n, ast.FunctionDef) and n.name == code.co_name:
            first = min([n.lineno, *(d.lineno for d in n.decorator_list)])
            if first == code.co_firstlineno:
                return n
    return None


def _guarded_yield(block: list[ast.stmt]) -> bool:
    """Say whether an exception thrown in at a yield may be caught, or dropped by a return."""
    for s in block:
        yields = any(isinstance(n, ast.Yield | ast.YieldFrom) for n in ast.walk(s))
        if not yields:
            continue
        if isinstance(s, ast.Try):
            if s.handlers or any(
                isinstance(n, ast.Return) for f in s.finalbody for n in ast.walk(f)
            ):
                return True
            if _guarded_yield(s.body):
                return True
        elif isinstance(s, ast.If):
            if _guarded_yield(s.body) or _guarded_yield(s.orelse):
                return True
        elif not isinstance(s, ast.Expr | ast.Assign):
            return True
    return False
