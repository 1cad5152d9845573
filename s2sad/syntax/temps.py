"""Names of temporaries, after what they hold."""

from __future__ import annotations

import re

import gast

from s2sad.nodes import Node

# s2sad's own functions are not called in derived text: no name there is made of theirs.
_OURS = {"stop_gradient": "stopped", "adjoint_hook": "hooked", "within_gradient": "within"}
_TEMP_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def temp_base(value: Node) -> str:
    """Return the name of a temporary after what it holds.

    np.sin(y)    y.real    params["w1"]    row[2:]
    sin_y        y_real    params_w1       row_item
    """
    if isinstance(value, gast.Call):
        func = value.func
        if isinstance(func, gast.Attribute):
            word = func.attr
        elif isinstance(func, gast.Name):
            word = func.id
        else:
            return "t"
        word = _OURS.get(word, word)
        first = value.args[0] if value.args else None
        if isinstance(func, gast.Attribute) and first is None and isinstance(func.value, gast.Name):
            first = func.value
        if isinstance(first, gast.Name) and _TEMP_WORD.fullmatch(first.id) and len(first.id) <= 8:
            return f"{word}_{first.id}"
        return str(word)
    if isinstance(value, gast.Attribute) and isinstance(value.value, gast.Name):
        return f"{value.value.id}_{value.attr}"
    if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
        key = getattr(value.slice, "value", None)
        word = key if isinstance(key, str) and key.isidentifier() else "item"
        return f"{value.value.id}_{word}"
    return "t"
