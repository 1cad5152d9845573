"""What is known of a function beside its derivatives: one record, declared in rules/.

    declare(np.exp, math.exp, form="exponential")
    declare(len, does="nothing", writes="nothing", carries=False, raises="nothing")

Passes ask the record of the function that is called; no pass holds a list of functions. What a
record does not declare is assumed to be the worst.
"""

from __future__ import annotations

import collections
from collections.abc import Hashable
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from s2sad.known import spaces
from s2sad.rulebook.filing import key_of
from s2sad.rulebook.loading import load_rules

Form = Literal[
    "other",
    "sum",  # x + y
    "difference",  # x - y
    "product",  # x * y, element by element
    "quotient",  # x / y
    "remainder",  # x % y
    "power",  # x ** y
    "inner",  # x @ y
    "outer",  # products of all entries of x with all of y
    "negative",  # -x
    "identity",  # x, perhaps in another type
    "total",  # the sum of all entries, along an axis or along all
    "running total",
    "mean",
    "entries",  # every entry of the result is one of x, or between two of them
    "magnitude",  # abs(x), x * x: zero where x is zero
    "size",  # a norm, a spread, a length: never negative
    "exponential",  # positive, but for what is rounded to zero
    "root",
    "cube root",
    "logarithm",
    "logarithm of one plus",
    "reciprocal",
    "largest",  # of two or of all: max(x, y)
    "smallest",  # of two or of all: min(x, y)
    "choice",  # where(test, x, y)
    "clip",
    "fitted",  # x, in the shape that is given: nothing changes where x has that
]
Parts = Literal["all", "joined", "widened"]
Raises = Literal["anything", "nothing", "the same"]
Does = Literal["anything", "nothing", "calls", "outside", "frames", "refuses"]
Writes = Literal["anything", "nothing", "puts", "takes", "orders"]
Reads = Literal["", "whole", "until", "lazily"]

NEVER_NEGATIVE: frozenset[Form] = frozenset({"magnitude", "size", "exponential", "root"})
# These pass a cotangent on as it is, or times a number that is not zero.
PASSES: frozenset[Form] = frozenset({"sum", "difference", "negative", "identity", "total", "mean"})
# Their partial derivatives are right in the narrow dtype of an integer operand.
EXACT: frozenset[Form] = frozenset(
    {"sum", "difference", "product", "quotient", "negative", "identity"}
)


@dataclass(frozen=True)
class Numbers:
    """What is known of the numbers that a function gives.

    `form` is its algebraic form: from that follow signs, singular points and zeros. `parts` says
    which entries of the result depend on an operand: "all", those of one of several that are
    "joined", or not all, since it is "widened" by constants. `raises` says what its derivative may
    raise where the function has raised nothing: "anything", "nothing", or only what the function
    itself raises ("the same"). `carries` is False where the result never has a derivative.
    With `of_shape` it depends on shapes and dtypes alone, on no number that an array holds. Of real
    numbers a function may give the same ones: then it `keeps_real`.
    """

    form: Form = "other"
    parts: Parts = "all"
    raises: Raises = "anything"
    carries: bool = True
    of_shape: bool = False
    keeps_real: bool = False


@dataclass(frozen=True)
class Effects:
    """What a function does besides giving its value.

    `does` says of the world: "nothing", it "calls" what it is given (a function, `__str__`), it
    changes something "outside" (files, the screen, settings of a library), it looks at the
    "frames" of the calls that are running, or it is called because it "refuses" some values: it
    gives nothing, and a call of it stays. `writes` says of its
    first argument, a method's own object: it writes "nothing", "puts" values in, "takes" some out,
    or "orders" those that are there. `reads` says of an iterable argument: it is read "whole"
    before the function returns, "until" something is found, or "lazily", as the result is. Where
    `sequences` is True a rule takes lists as they are, which others get as arrays; where `scalars`
    is True the function takes numbers where others want arrays, also on a device. `asks` are the
    special methods that it calls of the objects it is given, the first that their class has; None
    where that may be any. `asks_items` are those that it may call of the items of what it is given.
    Where `copies` is True it only gives copies, which share no memory with what it is given. What
    it gives may be `held` by its first argument: by a table, which gives it again, or it is that.
    """

    does: Does = "anything"
    writes: Writes = "anything"
    reads: Reads = ""
    sequences: bool = False
    scalars: bool = False
    asks: tuple[str, ...] | None = None
    asks_items: tuple[str, ...] = ()
    copies: bool = False
    held: bool = False

    @property
    def is_reader(self) -> bool:
        """Whether it reads what it runs over, and changes nothing of it."""
        return self.does != "calls" and bool(self.reads)

    @property
    def is_pure(self) -> bool:
        """Whether it does nothing but give its value."""
        return self.does == "nothing" and self.writes in ("anything", "nothing")


@dataclass(frozen=True)
class Facts:
    """What passes may know of a function beside its derivatives."""

    numbers: Numbers = Numbers()
    effects: Effects = Effects()


NOTHING_KNOWN = Facts()
_OF_NUMBERS = frozenset(f.name for f in fields(Numbers))

_facts: dict[Hashable, Facts] = {}
_declared: list[object] = []  # an identity stays theirs while they live


def declare(*fns: object, **facts: Any) -> None:
    """Declare facts of functions beside their derivatives: fields of Numbers or Effects, by name.

    What is declared later of the same function is added to what is known of it.
    """
    numbers = {name: fact for name, fact in facts.items() if name in _OF_NUMBERS}
    effects = {name: fact for name, fact in facts.items() if name not in _OF_NUMBERS}
    for fn in fns:
        key = key_of(fn)
        known = _facts.get(key, NOTHING_KNOWN)
        _facts[key] = Facts(replace(known.numbers, **numbers), replace(known.effects, **effects))
        _declared.append(fn)


def facts_of(fn: object) -> Facts:
    """Return what is declared of a function; where nothing is, the worst holds.

    What CuPy calls as NumPy does has the facts of NumPy's function.
    """
    load_rules()
    try:
        found = _facts.get(key_of(fn))
    except TypeError:
        return NOTHING_KNOWN
    if found is None:
        twin = spaces.twin(fn)
        found = None if twin is fn else _facts.get(key_of(twin))
    return NOTHING_KNOWN if found is None else found


def numbers_of(fn: object) -> Numbers:
    """Return what is declared of the numbers that a function gives."""
    return facts_of(fn).numbers


def effects_of(fn: object) -> Effects:
    """Return what is declared of what a function does besides giving its value."""
    return facts_of(fn).effects


# --- methods of an object whose class is not known -----------------------------------------------

CONTAINERS: tuple[type, ...] = (list, dict, set, collections.deque, np.ndarray)
_CLASSES = (*CONTAINERS, tuple, str)


@cache
def _methods_called(word: str) -> tuple[Effects, ...]:
    load_rules()
    return tuple(effects_of(getattr(c, word)) for c in _CLASSES if hasattr(c, word))


def method_writes(word: str, *how: Writes) -> bool:
    """Say whether a method of this name writes the object of one of the usual classes.

    With `how`, whether it writes in one of these ways.
    """
    ways = how or ("puts", "takes", "orders")
    return any(known.writes in ways for known in _methods_called(word))


def method_only_looks(word: str) -> bool:
    """Say whether all methods of this name, of the usual classes, do nothing but give a value."""
    found = _methods_called(word)
    return bool(found) and all(k.does == "nothing" and k.writes == "nothing" for k in found)
