"""A function that has a rule, as a function that calls it: so its derivative is that of the rule.

@pullback(smooth)
def pull_smooth(out_bar, out, x, *, width=1.0): ...

grad(smooth)         derives    def smooth(x, *, width=1.0):
                                    return smooth(x, width=width)
"""

from __future__ import annotations

import inspect
import types
import weakref
from typing import Any

from s2sad import registry
from s2sad.syntax.snippets import defined

_made: weakref.WeakKeyDictionary[types.FunctionType, Any] = weakref.WeakKeyDictionary()


def as_called(fn: types.FunctionType) -> types.FunctionType:
    """Return a function of the same parameters that calls `fn`, or `fn` where it has no rule."""
    if not isinstance(fn, types.FunctionType) or not fn.__name__.isidentifier():
        return fn
    rule = registry.rule_for(fn)
    if rule is None or rule.derivative_of is not None:
        return fn
    kept = fn.__code__, fn.__defaults__, fn.__kwdefaults__
    known = _made.get(fn)
    if known is None or known[0] != kept:
        known = _made[fn] = kept, _calling(fn)
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
    called = fn.__name__
    if called in (p.name for p in listed):
        called = f"{called}_"
    text = f"def {fn.__name__}({', '.join(shown)}):\n    return {called}({', '.join(passed)})\n"
    made: Any = defined(text, {"__name__": fn.__module__}, f"call of {fn.__name__}")
    made.__globals__[called] = fn
    made.__defaults__, made.__kwdefaults__ = fn.__defaults__, fn.__kwdefaults__
    made.__annotations__, made.__doc__ = fn.__annotations__, fn.__doc__
    made.__module__, made.__qualname__ = fn.__module__, fn.__qualname__
    return made
