"""Known values: words, truth values and integers that are the same in all that is derived.

f(x, mode="full", axes=(0, 1))        mode is the string "full", and axes the tuple (0, 1)

A derivative that was derived for known values holds for these alone: a guard compares what
`values_of` of signature.py gives. Floats are never known: they are what a program computes with.
"""

from __future__ import annotations

from typing import Any

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.known.signature import DEPTH, WORDS, parts_known
from s2sad.syntax.decided import settled


def with_values(kind: Kind, value: Any, depth: int = DEPTH) -> Kind:
    """Return the kind of a value with the words, truth values and integers in it."""
    if type(value) in WORDS:
        return settled(K.kind_of(value, "", literal=True)) or kind
    if not depth or not isinstance(kind, K.Tuple | K.Dict | K.Obj):
        return kind
    there = parts_known(value)
    return kind.rebuilt(
        with_values(k, there[step], depth - 1) if step in there else k for step, k in kind.by_step
    )
