"""Breaking one long line into several, inside brackets, the way black does."""

from __future__ import annotations

import contextlib
import re
import textwrap
from collections.abc import Iterator
from contextvars import ContextVar

USUAL = 100
_width = ContextVar("width", default=USUAL)
_STEP = 4

_TOKEN = re.compile(
    r"""
    (?P<string>[rbfuRBFU]{0,2}(?:\"\"\"(?:\\.|(?!\"\"\").)*\"\"\"|'''(?:\\.|(?!''').)*'''
        |"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))
    |(?P<number>(?:\d|\.\d)(?:[eE][+-]|[\w.])*)
    |(?P<name>\w+)
    |(?P<op>\*\*|//|<<|>>|[=!<>:]=|->|[^\s\w])
    """,
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = frozenset(
    ["and", "as", "async", "await", "else", "for", "from", "if", "in", "is", "lambda", "not", "or"]
    + ["return", "yield"]
)
# The higher, the looser: a line is split at the loosest delimiters it has.
_COMPREHENSION, _COMMA, _TERNARY, _LOGIC, _COMPARE = 20, 18, 16, 14, 10
_BINARY = {
    "|": 9, "^": 8, "&": 7, "<<": 6, ">>": 6, "+": 5, "-": 5,
    "*": 4, "/": 4, "//": 4, "%": 4, "@": 4, "**": 1,
}  # fmt: skip
_COMPARISONS = frozenset(["==", "!=", "<", ">", "<=", ">="])


def width() -> int:
    """Return how many columns a line may have."""
    return _width.get()


@contextlib.contextmanager
def columns(count: int) -> Iterator[None]:
    """Print lines of so many columns while this lasts."""
    before = _width.set(count)
    try:
        yield
    finally:
        _width.reset(before)


def comment(text: str, indent: int) -> list[str]:
    """Return the lines of a comment: one, or as many as the width asks for."""
    pad = " " * indent
    line = f"{pad}# {text}"
    if len(line) <= width():
        return [line]
    return textwrap.wrap(
        text,
        max(width(), indent + 40),
        initial_indent=f"{pad}# ",
        subsequent_indent=f"{pad}#     ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def wrap(prefix: str, content: str, suffix: str, indent: int) -> list[str]:
    """Return the lines of `prefix content suffix`, where parentheses may be put around content.

    `x = f(a, b)` becomes `x = f(`, `    a, b`, `)`; then one element to a line with a comma
    after each; `x = a + b` becomes `x = (`, `    a`, `    + b`, `)`.
    """
    pad = " " * indent
    line = f"{pad}{prefix}{content}{suffix}"
    if len(line) <= width() or content in ("", "()"):
        return [line]
    target = prefix.removesuffix(" = ")
    if target != prefix and len(pad + prefix) >= width() and _is_bare_tuple(target):
        elements = _inside(target, indent + _STEP, literal=True)
        return [f"{pad}(", *elements, *wrap(") = ", content, suffix, indent)]
    bracket = _bracket(content, len(pad + prefix))
    if bracket is None:
        inside = _inside(content, indent + _STEP, literal=True)
        if len(inside) == 1 and len(inside[0]) > width():
            return [line]  # nothing to split: parentheses would gain nothing
        return [f"{pad}{prefix}(", *inside, f"{pad}){suffix}"]
    start, stop = bracket
    literal = _is_literal(prefix, content[:start])
    return [
        f"{pad}{prefix}{content[: start + 1]}",
        *_inside(content[start + 1 : stop], indent + _STEP, literal=literal),
        f"{pad}{content[stop:]}{suffix}",
    ]


def _is_bare_tuple(target: str) -> bool:
    return "=" not in target and any(p == _COMMA for _, p in _delimiters(target))


def _is_literal(prefix: str, before: str) -> bool:
    """Say whether a bracket after this text is that of a tuple, list, set or dict."""
    if not before:
        return not re.match(r"(async )?(def|class) ", prefix)
    word = re.search(r"\w+$", before)
    return word.group() in _KEYWORDS if word else before[-1] not in ")]}\"'"


def _bracket(content: str, column: int) -> tuple[int, int] | None:
    """Return the bracket the line breaks in, or None if it wants parentheses around it.

    That is the last bracket that leaves a first line that fits, for `f(...)` and `f(...)[0].T`,
    and also, as black has it, for `a + f(...)` and `(...) * a` with one operator.
    """
    pairs = _brackets(content)
    fitting = [pair for pair in pairs if column + pair[0] + 1 <= width()]
    splits = [priority for _, priority in _delimiters(content)]
    if not splits:
        return (fitting or pairs)[-1] if pairs else None
    if not fitting or splits.count(max(splits)) > 1 or max(splits) >= _TERNARY:
        return None
    if fitting[0][0] == 0 and fitting[0][1] < len(content) - 1:
        return fitting[0] if len(content) - fitting[0][1] <= width() // 2 else None
    return fitting[-1] if fitting[-1][1] == len(content) - 1 else None


def _inside(content: str, indent: int, suffix: str = "", literal: bool = False) -> list[str]:
    """Return the lines of what stands between brackets, where any line break is free.

    The elements of a literal get a line each, the arguments of a call only if they must.
    """
    line = " " * indent + content + suffix
    splits = _delimiters(content)
    if len(line) <= width() and not (literal and any(p == _COMMA for _, p in splits)):
        return [line]
    if not splits and (pieces := _pieces(content, width() - indent - len(suffix))):
        return [" " * indent + piece for piece in [*pieces[:-1], pieces[-1] + suffix]]
    if not splits:
        # wrap puts no parentheses around what has no delimiters but has brackets.
        return wrap("", content, suffix, indent) if _brackets(content) else [line]
    priority = max(p for _, p in splits)
    places = [position for position, p in splits if p == priority]
    pieces = [
        content[a:b].strip() for a, b in zip([0, *places], [*places, len(content)], strict=True)
    ]
    if priority == _COMMA:
        lines = []
        for piece in pieces:
            element = piece.removesuffix(",")
            if element:
                lines += _element(element, indent)
        return lines
    ends = [""] * (len(pieces) - 1) + [suffix]
    return [
        text
        for piece, end in zip(pieces, ends, strict=True)
        for text in _inside_operand(piece, indent, end)
    ]


def _pieces(content: str, room: int) -> list[str]:
    """Return the strings that are one long string together, broken behind its spaces.

    None where the content is anything else, or has no space to break at.
    """
    match = _PLAIN_STRING.fullmatch(content)
    if match is None:
        return []
    prefix, quote, text = match.groups()
    words = _WORD.findall(text) if prefix else re.findall(r"\S*\s?", text)
    found: list[str] = []
    for word in filter(None, words):
        joined = found[-1] + word if found else ""
        if found and len(prefix + quote + joined + quote) <= room:
            found[-1] = joined
        else:
            found.append(word)
    if "".join(found) != text:
        return []
    braces = any("{" in piece or "}" in piece for piece in found)
    prefixes = [prefix if not braces or "{" in p or "}" in p else "" for p in found]
    quotes = [quote if '"' in piece or "\\" in piece else '"' for piece in found]
    made = [p + q + piece + q for p, q, piece in zip(prefixes, quotes, found, strict=True)]
    return made if len(made) > 1 else []


# A string on one line in which no backslash stands before a space or names a character.
_PLAIN_STRING = re.compile(r"""(f?)(["'])((?:\\[^\sN]|(?!\2)[^\\\n])*)\2""")
# A word of an f-string, with the expressions in it, and the space behind it.
_WORD = re.compile(r"(?:\{\{|\{[^{}]*\}|[^\s{])*\s?")


def _element(element: str, indent: int) -> list[str]:
    """Return the lines of one element, or of `key=value`, where the value may get parentheses."""
    keyword = re.match(r"\w+=(?!=)|\*{1,2}", element)
    if keyword and len(element) + indent + 1 > width():
        return wrap(keyword.group(), element[keyword.end() :], ",", indent)
    return _inside(element, indent, ",")


def _inside_operand(piece: str, indent: int, suffix: str) -> list[str]:
    """Return the lines of one operand with its operator in front, `+ f(...)`."""
    if len(piece) + indent + len(suffix) <= width():
        return [" " * indent + piece + suffix]
    head = re.match(
        r"(?:and|or|if|else|not in|in|is not|is|async for|for)\b\s*|[^\w\s(\[{'\"]+ ", piece
    )
    prefix = head.group() if head else ""
    content = piece[len(prefix) :]
    if _delimiters(content) or not _brackets(content):
        return _inside(piece, indent, suffix)
    return wrap(prefix, content, suffix, indent)


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    for match in _TOKEN.finditer(text):
        yield match.lastgroup or "", match.group(), match.start()


def _brackets(content: str) -> list[tuple[int, int]]:
    """Return where each outermost bracket pair with something in it opens and closes."""
    stack: list[int] = []
    found = []
    for kind, token, start in _tokens(content):
        if kind == "op" and token in "([{":
            stack.append(start)
        elif kind == "op" and token in ")]}":
            opened = stack.pop()
            if not stack and content[opened + 1 : start].strip():
                found.append((opened, start))
    return found


def _delimiters(content: str) -> list[tuple[int, int]]:
    """Return (position, priority) of each place outside brackets where a line may be split."""
    found: list[tuple[int, int]] = []
    depth = 0
    operand = False  # does the previous token end an operand?
    comprehension = target = False  # past a `for`; between a `for` and its `in`
    arguments = body = False  # within the parameters of a lambda; within its body
    previous = ""
    for kind, token, start in _tokens(content):
        priority = 0
        position = start
        if kind == "op" and token in "([{":
            depth += 1
        elif kind == "op" and token in ")]}":
            depth -= 1
        elif depth:
            pass
        elif arguments:
            if token == ":":
                arguments, body = False, True
        elif token == "lambda":
            arguments = True
        elif token == ",":
            body = False
            priority, position = _COMMA, start + 1
        elif body and token not in ("for", "async"):
            pass
        elif kind == "name":
            if token == "for":
                priority = 0 if previous == "async" else _COMPREHENSION
                comprehension, target, body = True, True, False
            elif token == "async":
                priority = _COMPREHENSION
            elif token == "in" and target:
                target = False
            elif token == "if":
                priority = _COMPREHENSION if comprehension else _TERNARY
            elif token == "else":
                priority = _TERNARY
            elif token in ("and", "or"):
                priority = _LOGIC
            elif token == "is" or (token == "in" and previous != "not") or operand:
                # What is left after an operand is a name: `not`, of `not in`.
                priority = _COMPARE if token in ("is", "in", "not") else 0
        elif kind == "op" and operand:
            priority = _COMPARE if token in _COMPARISONS else _BINARY.get(token, 0)
        if priority and start and not (target and token not in ("for", "async")):
            found.append((position, priority))
        operand = token not in _KEYWORDS if kind != "op" else token in (")", "]", "}")
        previous = token
    return found
