"""Calls that surely make a new array, of functions that may give views."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np


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
