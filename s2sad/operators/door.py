"""Where s2sad hands control back: errors leave it without the frames inside s2sad.

S2SAD_TRACEBACK=full keeps them.
"""

from __future__ import annotations

import functools
import inspect
import os
import types
from collections.abc import Callable
from typing import Any, TypeVar, cast

from s2sad.errors import CallError, Error

VARIABLE = "S2SAD_TRACEBACK"
FULL = "full"

F = TypeVar("F", bound=Callable[..., Any])


def shortened(error: Error | CallError) -> Error | CallError:
    """Return an error as users see it: with the frames of derived text and of functions of theirs.

    What was being handled when s2sad was called stays its context: so it is raised without `from`.
    """
    if os.environ.get(VARIABLE, "") == FULL:
        return error
    before = error.__context__
    while before is not None and not outside(before.__traceback__):
        before = before.__context__
    if error.__cause__ is not None and not outside(error.__cause__.__traceback__):
        error.__cause__ = None
        error.__suppress_context__ = False
    error.__context__ = before
    traceback = None
    for tb in reversed(outside(error.__traceback__)):
        traceback = types.TracebackType(traceback, tb.tb_frame, tb.tb_lasti, tb.tb_lineno)
    return error.with_traceback(traceback)


def outside(traceback: types.TracebackType | None) -> list[types.TracebackType]:
    """Return the frames of a traceback that are neither in s2sad nor in what s2sad calls."""
    found: list[types.TracebackType] = []
    inside = False
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        inside = file.startswith(_OWN) or (inside and file.startswith(_STANDARD))
        if not inside:
            found.append(traceback)
        traceback = traceback.tb_next
    return found


_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD = os.path.dirname(os.path.abspath(functools.__file__)) + os.sep


def door(fn: F) -> F:
    """Let a function hand its errors to the user as `shortened` makes them."""
    code = cast("types.FunctionType", inspect.unwrap(fn)).__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    named = not code.co_flags & inspect.CO_VARKEYWORDS

    @functools.wraps(fn)
    def called(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        if kwargs and named and "wrt" in known:
            _refuse_argnums(code.co_name, kwargs)
        try:
            return fn(*args, **kwargs)
        except (Error, CallError) as error:
            raise shortened(error)

    return cast("F", called)


def _refuse_argnums(name: str, given: dict[str, Any]) -> None:
    """Raise what Python would of JAX's keyword, with the name that s2sad has for it."""
    for word in ("argnums", "argnum"):
        if word in given:
            raise TypeError(
                f"{name}() got an unexpected keyword argument {word!r}; s2sad calls it wrt"
            )
