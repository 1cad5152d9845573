"""Jacobians and Hessians as programs: that is how operators take them.

jacobian(hessian(f))        the Jacobian of a program that makes f's Hessian, by its columns
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad.errors import UnsupportedError
from s2sad.snippets import defined

_TEXT = """\
def {name}({params}):
    if isinstance({by}, float):
        return {one}
    if {by}.dtype.kind == "c":
        raise Refused("A matrix of derivatives by complex numbers is not derived again.")
    columns = []
    for i in range({by}.size):
        along = np.zeros({by}.size, {by}.dtype)
        along[i] = 1.0
        along = along.reshape({by}.shape)
        columns.append({each})
    matrix = np.stack(columns, axis=-1)
    return matrix.reshape(matrix.shape[:-1] + {by}.shape)
"""
_PLAIN = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def as_program(of: Any, f: Callable[..., Any], operator: Callable[..., Any]) -> Any:
    """Return a program that makes a matrix of derivatives of f by one array or number; or None.

    `of` is an operator of f, by what it is asked for; the program's own is jvp, or hvp for second
    derivatives.
    """
    choice, signature = of._derived.choice, of.__signature__
    if len(choice.names) != 1 or choice.picked or choice.single is False or of._options.has_aux:
        return None
    by, second = choice.names[0], operator.__name__ == "hvp"
    base = of.__name__.removesuffix("_grad").removesuffix("_vjp").replace("<lambda>", "lambda_")
    name = f"{base}_{'hessian' if second else 'jacobian'}"
    listed = list(signature.parameters.values())
    names = [p.name for p in listed]
    own = ["np", "f", "operator", "Refused", "columns", "along", "matrix", "i"]
    if by not in names or any(p.kind not in _PLAIN for p in listed) or set(own) & set(names):
        return None
    params = ", ".join(
        n if p.default is p.empty else f"{n}={n}" for n, p in zip(names, listed, strict=True)
    )
    tail = "" if second else "[1]"

    def along(what: str) -> str:
        moves = ", ".join(what if n == by else "None" for n in names)
        return f"operator(f, ({', '.join(names)},), ({moves},)){tail}"

    text = _TEXT.format(name=name, params=params, by=by, one=along("1.0"), each=along("along"))
    defaults = {p.name: p.default for p in listed if p.default is not p.empty}
    space = {**defaults, "f": f, "operator": operator, "np": np, "Refused": UnsupportedError}
    return defined(text, space, "matrix")
