"""Is a rule what a rule should be? Asked when somebody registers one, before it is ever needed.

def smooth(x, y, *, width=1.0): ...

@pullback(smooth)
def pull_smooth(out_bar, out, x, y, *, width=1.0): ...
"""

from __future__ import annotations

import functools
import inspect
import linecache
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad.errors import Place, UnsupportedError

_FIRST = {"pullback": ("out_bar", "out"), "pushforward": ("out",), "elementwise": ("out",)}
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_PLAIN = (bool, int, float, complex, str)


def check_form(fn: Any, rule: Any, word: str) -> None:
    """Refuse a rule whose parameters are not those that `fn` asks for.

    `word` is "pullback", "pushforward" or "elementwise". Where the parameters of `fn` are not to
    be had, as of much that is compiled, only the rule's own are looked at.
    """
    check_ruled(fn, f"@s2sad.{word}", rule)
    first = _FIRST[word]
    if isinstance(fn, types.MethodType) and not isinstance(fn.__self__, type):
        cls = type(fn.__self__).__name__
        _refuse(
            fn,
            rule,
            f"{_name(fn)} is bound to one object: the rule {_name(rule)} would not apply to "
            "the method of other objects.",
            f"Write the rule for {cls}.{_name(fn)}; its first array is then self, for which "
            "it returns None.",
        )
    if type(fn).__hash__ is None:
        _refuse(
            fn,
            rule,
            f"{_name(fn)}, a {type(fn).__name__}, is not hashable, so s2sad cannot find its rule.",
            "Write the rule for a function of yours that calls it.",
        )
    own = _parameters(rule)
    if own is None or isinstance(rule, np.ufunc):
        _refuse(
            fn,
            rule,
            f"{_name(rule)} is not a Python function: s2sad cannot see which arrays and "
            "settings it takes.",
            f"Write a function of {', '.join(first)} and the arrays of {_name(fn)}.",
        )
        return
    kinds = {p.kind for p in own}
    if inspect.Parameter.VAR_KEYWORD in kinds:
        gathered = next(p.name for p in own if p.kind is p.VAR_KEYWORD)
        _refuse(
            fn,
            rule,
            f"The rule {_name(rule)} of {_name(fn)} collects settings in **{gathered}: s2sad "
            "cannot tell which settings it knows.",
            "List the settings by name; s2sad refuses calls with keywords that are not listed.",
        )
    given = [p.name for p in own if p.kind in _BY_POSITION]
    gathers = inspect.Parameter.VAR_POSITIONAL in kinds
    arrays = given[len(first) :]
    if len(given) < len(first) or not (arrays or gathers):
        _refuse(
            fn,
            rule,
            f"The rule {_name(rule)} of {_name(fn)} takes ({', '.join(given)}), but a "
            f"{_what(word)} takes {' and '.join(first)} first, and then arrays.",
            f"Write def {_name(rule)}({', '.join(first)}, *arrays).",
        )
    if word == "pushforward" and not gathers:
        if len(arrays) % 2:
            _refuse(
                fn,
                rule,
                f"The rule {_name(rule)} of {_name(fn)} takes {len(arrays)} arrays after out, "
                "but a pushforward takes all arrays and then one tangent for each of them.",
                f"Write def {_name(rule)}(out, x, y, x_dot, y_dot).",
            )
        arrays = arrays[: len(arrays) // 2]
    settings = [p for p in own if p.kind is p.KEYWORD_ONLY]
    theirs = _parameters(fn)
    if isinstance(fn, np.ufunc):
        _check_count(fn, rule, arrays, fn.nin)
    elif theirs is not None and not isinstance(fn, type):
        _check_names(fn, rule, arrays, theirs)
        _check_settings(fn, rule, settings, theirs)
        _check_defaults(fn, rule, own, theirs)


def check_named(fns: tuple[object, ...], word: str) -> None:
    """Refuse a rule that is given to no function."""
    if not fns:
        raise UnsupportedError(
            f"{word} is given no function: s2sad cannot tell which function this rule is for.",
            remedy=f"Name the function: {word}(fn).",
        )


def check_ruled(fn: Any, word: str, rule: Any = None) -> None:
    """Refuse a rule of what cannot be called."""
    if not callable(fn) and not hasattr(type(fn), "__get__"):
        _refuse(
            fn,
            rule,
            f"{word} is given {fn!r}, a {type(fn).__name__}, but it needs a function.",
            "Pass the function itself, not its name.",
        )


def _check_count(fn: Any, rule: Any, arrays: list[str], most: int) -> None:
    if len(arrays) > most:
        _refuse(
            fn,
            rule,
            f"The rule {_name(rule)} takes {len(arrays)} arrays ({', '.join(arrays)}), but "
            f"{_name(fn)} takes {most}.",
            "A rule takes the arrays of its function by position, and its settings after a `*`.",
        )


def _check_names(fn: Any, rule: Any, arrays: list[str], theirs: list[inspect.Parameter]) -> None:
    """Arrays come by position: a name of the function's at another place is a slip."""
    order = [p.name for p in theirs if p.kind in _BY_POSITION]
    kinds = {p.kind for p in theirs}
    keywords = {p.name for p in theirs if p.kind is p.KEYWORD_ONLY}
    if inspect.Parameter.VAR_POSITIONAL in kinds or inspect.Parameter.VAR_KEYWORD in kinds:
        return
    _check_count(fn, rule, [n for n in arrays if n not in keywords], len(order))
    listed = [n for n in arrays if n in order]
    if listed != sorted(listed, key=order.index):
        _refuse(
            fn,
            rule,
            f"The rule {_name(rule)} takes the arrays {', '.join(listed)}, but {_name(fn)} "
            f"takes them in the order {', '.join(order)}.",
            "Arrays are passed by position: list them in the order of the function's own "
            "signature.",
        )


def _check_settings(
    fn: Any, rule: Any, settings: list[inspect.Parameter], theirs: list[inspect.Parameter]
) -> None:
    names = [p.name for p in theirs]
    if any(p.kind is p.VAR_KEYWORD for p in theirs):
        return
    for p in settings:
        if p.name not in names:
            _refuse(
                fn,
                rule,
                f"The rule {_name(rule)} takes a setting `{p.name}`, but {_name(fn)} has no "
                f"such parameter: it takes ({', '.join(names)}).",
                "Give settings the names that the function's own signature has.",
            )


def _check_defaults(
    fn: Any, rule: Any, own: list[inspect.Parameter], theirs: list[inspect.Parameter]
) -> None:
    """A default stands for what is not given: it is that of the function, or None."""
    known = {p.name: p.default for p in theirs}
    for p in own:
        here, there = p.default, known.get(p.name)
        if is_plain(here) and is_plain(there) and here != there:
            _refuse(
                fn,
                rule,
                f"The default of `{p.name}` is {here!r} in the rule {_name(rule)}, but {there!r} "
                f"in {_name(fn)}: a call without it would get a wrong derivative.",
                f"Give the rule the default {there!r}, or None for a setting that is not given.",
            )


def _refuse(fn: Any, rule: Any, reason: str, remedy: str) -> None:
    raise UnsupportedError(reason, remedy=remedy, place=_place(rule))


def _place(rule: Any) -> Place | None:
    code = getattr(rule, "__code__", None)
    if code is None:
        return None
    lines = (linecache.getline(code.co_filename, code.co_firstlineno + i) for i in range(20))
    for i, line in enumerate(lines):
        if line.lstrip().startswith("def ") or "lambda" in line:
            text = line.rstrip("\n")
            start = len(text) - len(text.lstrip())
            number = code.co_firstlineno + i
            return Place(code.co_filename, number, start, len(text), text, code.co_name)
    return None


def _parameters(fn: Any) -> list[inspect.Parameter] | None:
    try:
        found = list(inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        return None
    brought = fn.keywords if isinstance(fn, functools.partial) else {}
    return [p for p in found if p.name not in brought]


def _name(fn: Any) -> str:
    return getattr(fn, "__name__", None) or repr(fn)


def _what(word: str) -> str:
    return "rule of partial derivatives" if word == "elementwise" else word


def is_plain(value: Any) -> bool:
    """Say whether a default is a number, a text, or a tuple of these."""
    if type(value) is tuple:
        return all(map(is_plain, value))
    return type(value) in _PLAIN


def own_default(fn: Callable[..., Any], name: str) -> Any:
    """Return the default of a parameter of a function, `inspect.Parameter.empty` without one."""
    found = {p.name: p.default for p in _parameters(fn) or ()}
    return found.get(name, inspect.Parameter.empty)
