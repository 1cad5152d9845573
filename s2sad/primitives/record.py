"""The record of one primitive: how a call of it prints, and what it does to memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Form = Literal[
    "infix",  # a + b
    "prefix",  # -a
    "compare",  # a < b, or a < b < c
    "augmented",  # a += b
    "augmented item",  # a[i] += b
    "augmented field",  # a.f += b
    "each item",  # f(a, i, b): the same for each index, one after the other, as np.add.at does
    "same",  # a
    "item",  # a[i]
    "field",  # a.f
    "slice",  # i:j:k
    "put item",  # a[i] = b
    "put field",  # a.f = b
    "drop item",  # del a[i]
    "drop field",  # del a.f
    "call",  # a(b)
    "method",  # a.f(b)
    "tuple",  # (a, b)
    "list",  # [a, b]
    "set",  # {a, b}
    "dict",  # {a: b}
    "anew",  # type(a)(b, c): an object of the class of a, whose fields are b and c
    "unpack",  # a, b = c
    "text",  # f"{a}"
    "closure",  # a function, lambda or generator expression
    "look",  # a name that several bindings share
    "bind",  # the same, bound
    "bind inside",  # the same, bound by :=
    "forget",  # del a
    "discard",  # a value that nobody reads
    "statement",  # a statement that computes nothing: import, global, a class
    "tangent",  # the tangent of what a function gives: a pass writes it out
    "tangent of call",  # the same for a call of a function of the user's
    "hook",  # what a function of the user's does to the cotangent of a value
]

Effect = Literal[
    "none",  # it neither reads nor writes memory
    "reads",  # it reads the parts of its first operand
    "writes",  # it writes the first operand's part that the form names
    "any",  # it may write whatever it is given: nothing is declared
]


@dataclass(frozen=True)
class Primitive:
    """What may be known of an operation.

    `word` is the operator, attribute or method of its form (`Add`, `shape`), `takes` with how many
    operands it is called, None for any number.
    """

    name: str
    form: Form
    word: str = ""
    effect: Effect = "any"
    takes: int | None = None
