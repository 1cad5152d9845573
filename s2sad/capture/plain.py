"""Functions of the user's that are what they are: without rules, and standing for nothing else.

plain_callee(f)             Callee(f): what `unwrap` would find out anew at every call
plain_callee(obj.method)    Callee(Class.method, (obj,))
plain_callee(np.sum)        None: there is more to look at
"""

from __future__ import annotations

import types
import weakref
from typing import Any

from s2sad import registry
from s2sad.capture.read import Callee, unwrap

_known: weakref.WeakKeyDictionary[types.FunctionType, registry.Unruled]
_known = weakref.WeakKeyDictionary()


def plain_callee(f: Any) -> Callee | None:
    """Return what calling a plain function, or a method that is one, amounts to; else None."""
    if type(f) is types.FunctionType:
        return Callee(f) if _is_plain(f) else None
    if type(f) is not types.MethodType or type(f.__func__) is not types.FunctionType:
        return None
    ruled = registry.rule_for(f) is not None
    return None if ruled or not _is_plain(f.__func__) else Callee(f.__func__, (f.__self__,))


def _is_plain(fn: types.FunctionType) -> bool:
    """Say whether a function has no rule, carries no mark of s2sad's and stands for itself."""
    if fn.__dict__ and any(n.startswith("__s2sad") for n in fn.__dict__):
        return False
    known = _known.get(fn)
    if known is not None and known.fresh:
        return True
    unruled = registry.Unruled()
    plain = unwrap(fn) == Callee(fn) and unruled(fn)
    if plain:
        _known[fn] = unruled
    return plain
