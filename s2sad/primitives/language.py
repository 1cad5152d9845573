"""Python's own operations as primitives, a row each."""

from __future__ import annotations

from s2sad.primitives.record import Primitive

_BINARY = (
    *("Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow", "MatMult"),
    *("BitAnd", "BitOr", "BitXor", "LShift", "RShift"),
)
_UNARY = ("USub", "UAdd", "Invert", "Not")

# What an operator reads of an array or a list it does not write; a class of the user's may do
# anything, and then a call of its method stands here.
INFIX = {w: Primitive(w.lower(), "infix", w, "none", 2) for w in _BINARY}
PREFIX = {w: Primitive(w.lower(), "prefix", w, "none", 1) for w in _UNARY}
AUGMENTED = {w: Primitive(f"i{w.lower()}", "augmented", w, "writes", 2) for w in _BINARY}
AUGMENTED_ITEM = {
    w: Primitive(f"put_{w.lower()}", "augmented item", w, "writes", 3) for w in _BINARY
}
EACH_ITEM = {w: Primitive(f"each_{w.lower()}", "each item", w, "writes", 4) for w in _BINARY}

SAME = Primitive("same", "same", "", "none", 1)
ITEM = Primitive("item", "item", "", "reads", 2)
SLICE = Primitive("slice", "slice", "", "none", 3)
PUT_ITEM = Primitive("put_item", "put item", "", "writes", 3)
PUT_BACK = Primitive("put_back", "put item", "back", "writes", 3)
DROP_ITEM = Primitive("drop_item", "drop item", "", "writes", 2)
CALL = Primitive("call", "call")
COMPUTE = Primitive("compute", "call", "", "reads")  # of a function that does nothing else
TUPLE = Primitive("tuple", "tuple", "", "none")
LIST = Primitive("list", "list", "", "none")
SET = Primitive("set", "set", "", "none")
DICT = Primitive("dict", "dict", "", "none")
ANEW = Primitive("anew", "anew", "", "none")
UNPACK = Primitive("unpack", "unpack", "", "reads", 1)
TEXT = Primitive("text", "text", "", "none")
CLOSURE = Primitive("closure", "closure", "", "none")
LOOK = Primitive("look", "look", "", "reads", 1)
BIND = Primitive("bind", "bind", "", "writes", 2)
BIND_INSIDE = Primitive("bind_inside", "bind inside", "", "writes", 2)
FORGET = Primitive("forget", "forget", "", "writes", 1)
DISCARD = Primitive("discard", "discard", "", "none", 1)
STATEMENT = Primitive("statement", "statement")
TANGENT = Primitive("tangent", "tangent", "", "none")
TANGENT_OF_CALL = Primitive("tangent_of_call", "tangent of call", "", "any")
HOOK = Primitive("hook", "hook", "", "any")

_met: dict[Primitive, Primitive] = {}


def _one(made: Primitive) -> Primitive:
    """Return the one object that a primitive is: passes compare primitives by identity."""
    return _met.setdefault(made, made)


def compare(words: str) -> Primitive:
    """Return the primitive of a comparison: `Lt`, or `Lt Lt` of `a < b < c`."""
    return _one(Primitive(words.lower(), "compare", words, "none", len(words.split()) + 1))


def field(word: str) -> Primitive:
    """Return the primitive that reads an attribute."""
    return _one(Primitive(f"get_{word}", "field", word, "reads", 1))


def put_field(word: str) -> Primitive:
    """Return the primitive that sets an attribute."""
    return _one(Primitive(f"set_{word}", "put field", word, "writes", 2))


def augmented_field(word: str, operator: str) -> Primitive:
    """Return the primitive of `a.word += b`."""
    words = f"{word} {operator}"
    return _one(Primitive(f"set_{word}_{operator.lower()}", "augmented field", words, "writes", 2))


def drop_field(word: str) -> Primitive:
    """Return the primitive of `del a.word`."""
    return _one(Primitive(f"del_{word}", "drop field", word, "writes", 1))


def method(word: str) -> Primitive:
    """Return the primitive that calls a method."""
    return _one(Primitive(f"call_{word}", "method", word))
