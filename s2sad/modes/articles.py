"""The names of expressions in messages."""

from __future__ import annotations

from s2sad.nodes import Node

_WORDS = {
    "Lambda": "A lambda",
    "Await": "An await expression",
    "Yield": "A yield expression",
    "SetComp": "A set comprehension",
    "DictComp": "A dict comprehension",
    "GeneratorExp": "A generator expression",
    "Set": "A set display",
    "Starred": "Unpacking with *",
}


def article(node: Node) -> str:
    """Return what an expression is called in a sentence."""
    return _WORDS.get(type(node).__name__, f"The expression {type(node).__name__}")
