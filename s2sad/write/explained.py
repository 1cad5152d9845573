"""One line on what the tests for zeros in derived text are for, where the first of them stands.

                                # r_bar == 0: zero stays zero where the derivative is infinite
d_bar = r_bar / np.where(...)   d_bar = r_bar / np.where(r_bar == 0, 1.0, r)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import gast

from s2sad.nodes import Block, Node, blocks_of
from s2sad.stages import Comment
from s2sad.syntax.zero_tests import zero_tests
from s2sad.write.expression_text import expression

WHY = "zero stays zero where the derivative is infinite"


def explain_zeros(functions: Iterable[Node]) -> None:
    """Put a comment before the first statement of some functions that tests for such a zero."""
    for function in functions:
        for block, position in _places(function.body):
            tests = _tests(block[position])
            if tests:
                block.insert(position, _note(f"{expression(tests[0])}: {WHY}", block[:position]))
                return


def _note(text: str, before: Block) -> Node:
    """Return a comment that belongs to the heading above it, and to what that stands for."""
    headings = [s for s in before if isinstance(s, Comment) and s.text]
    note = Comment(text)
    for word, value in vars(headings[-1]).items() if headings else ():
        if word not in Comment._fields:
            setattr(note, word, value)
    return note


def _places(body: Block) -> Iterator[tuple[Block, int]]:
    """Yield where every statement of a function stands, in the order of its text."""
    for position, s in enumerate(body):
        yield body, position
        inner = [s.body] if isinstance(s, gast.FunctionDef) else blocks_of(s)
        for block in inner:
            yield from _places(block)


def _tests(s: Node) -> list[Node]:
    """Return the tests of a statement, but for those of statements in it."""
    if isinstance(s, gast.FunctionDef):
        return []
    inside = [t for block in blocks_of(s) for part in block for t in zero_tests(part)]
    return [t for t in zero_tests(s) if all(t is not other for other in inside)]
