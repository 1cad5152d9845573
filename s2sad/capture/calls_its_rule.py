"""A function that has a rule, as a function that calls it: so its derivative is that of the rule.

@pullback(smooth)
def pull_smooth(out_bar, out, x, *, width=1.0): ...

grad(smooth)         derives    def smooth(x, *, width=1.0):
                                    return smooth(x, width=width)
"""

from __future__ import annotations

import ast
import inspect
import linecache
import re
import types
import weakref
from typing import Any, cast

from s2sad import registry
from s2sad.capture.read import remember_at

_made: weakref.WeakKeyDictionary[types.FunctionType, Any] = weakref.WeakKeyDictionary()
_calling_others: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()


def calls_another(fn: types.FunctionType) -> bool:
    """Say whether a function was made to call one that has a rule, whose defaults may change."""
    return fn in _calling_others


def as_called(fn: types.FunctionType) -> types.FunctionType:
    """Return a function of the same parameters that calls `fn`, or `fn` where it has no rule."""
    if not isinstance(fn, types.FunctionType):
        return fn
    rule = registry.rule_for(fn)
    if rule is None or rule.derivative_of is not None:
        return fn
    kept = fn.__code__, fn.__defaults__, fn.__kwdefaults__
    known = _made.get(fn)
    if known is None or known[0] != kept:
        known = _made[fn] = kept, _calling(fn)
        _calling_others.add(known[1])
    made: types.FunctionType = known[1]
    return made


def _calling(fn: types.FunctionType) -> Any:
    shown: list[str] = []
    passed: list[str] = []
    listed = list(inspect.signature(fn, follow_wrapped=False).parameters.values())
    for i, p in enumerate(listed):
        if p.kind is p.KEYWORD_ONLY and not any(s.startswith("*") for s in shown):
            shown.append("*")
        star = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        shown.append(f"{star}{p.name}" + ("" if p.default is p.empty else "=None"))
        passed.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{star}{p.name}")
        after = listed[i + 1].kind if i + 1 < len(listed) else None
        if p.kind is p.POSITIONAL_ONLY and after is not p.POSITIONAL_ONLY:
            shown.append("/")
    name = fn.__name__ if fn.__name__.isidentifier() else "lambda_"
    called = f"{name}_" if name in (p.name for p in listed) else name
    text = f"def {name}({', '.join(shown)}):\n    return {called}({', '.join(passed)})\n"
    made = _placed(text, name, fn)
    made.__globals__[called] = fn
    made.__defaults__, made.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
    made.__annotations__, made.__doc__ = fn.__annotations__, fn.__doc__
    made.__module__, made.__qualname__ = fn.__module__, fn.__qualname__
    return made


def _placed(text: str, name: str, fn: types.FunctionType) -> Any:
    """Return the function that a text defines, standing where `fn` is defined in its file."""
    file, line = fn.__code__.co_filename, fn.__code__.co_firstlineno
    lines = linecache.getlines(file)
    line = next((i for i in range(line, len(lines) + 1) if _DEF.match(lines[i - 1])), line)
    shown = lines[line - 1] if line <= len(lines) else ""
    start, end = len(shown) - len(shown.lstrip()), len(shown.rstrip())
    tree = ast.parse(text)
    for n in ast.walk(tree):
        if isinstance(n, ast.stmt | ast.expr | ast.arg):
            n.lineno = n.end_lineno = line
            n.col_offset, n.end_col_offset = start, end
    space: dict[str, Any] = {"__name__": fn.__module__}
    exec(compile(tree, file, "exec"), space)
    remember_at(space[name], cast(ast.FunctionDef, tree.body[0]), tuple(lines))
    return space[name]


_DEF = re.compile(r"\s*def\b|.*\blambda\b")
