"""Calls that surely make a new array: by the function's rule, or by how it is called."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from s2sad import registry
from s2sad.known.outputs import given_parameters, positional_outs, spares_copy


def gives_new(fn: Any, node: Any) -> bool:
    """Say whether what is known of a function says that this call of it makes new memory."""
    rule = registry.rule_for(fn)
    if rule is None or any(k.arg in ("out", None) for k in node.keywords):
        return False
    if rule.view != "never" or positional_outs(fn, node.args) or spares_copy(fn, node):
        return makes_new(fn, node)
    return True


def shown_by(fn: Any, node: Any, first: Any) -> registry.Window | None:
    """Return how a call shows its first argument, or the array whose method it is, if it does."""
    rule = registry.rule_for(fn) if fn is not None else None
    window = None if rule is None else rule.window
    if window is None:
        return None
    given = given_parameters(fn, node, method=not node.args or first is not node.args[0])
    return window if given is not None and not given & {*window.unless, "out"} else None


def makes_new(fn: Any, node: Any) -> bool:
    """Say whether a call makes an array that shares no memory with what it is given.

    np.array(x), x.astype(t)      are not told to spare the copy
    np.einsum("ij,jk", A, B)      of one operand, it may be a view: a transpose, a diagonal
    """
    method = isinstance(node.func, gast.Attribute) and node.func.attr == "astype"
    method = method and (fn is None or fn is np.ndarray.astype) and len(node.args) < 5
    if fn is np.array or method:
        return not any(k.arg in ("copy", None) for k in node.keywords)
    if fn is not np.einsum or any(k.arg in ("out", None) for k in node.keywords):
        return False
    text = node.args[0] if node.args else None
    spelled = isinstance(text, gast.Constant) and isinstance(text.value, str)
    return (
        spelled and len(node.args) > 2 and not any(isinstance(a, gast.Starred) for a in node.args)
    )
