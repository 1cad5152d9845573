"""Expressions to one line of text, spaced as black spaces them.

The simple nodes are printed here, being nearly all there is in a derivative and needing black's
spacing; astor prints the rest. Both speak astor's levels of precedence: an expression printed at
a level gets parentheses when it binds less tightly than that.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

import gast

with warnings.catch_warnings():
    # astor 0.8.1 looks at ast.Num and the like on import; it does not need them.
    warnings.simplefilter("ignore", DeprecationWarning)
    from astor.code_gen import SourceGenerator, set_precedence
    from astor.op_util import Precedence

Node = Any  # a node of gast, or of ast once astor has had it
Printer = Callable[[Node, int], str]

# Where an expression stands: a bare tuple may stand in all of these but the last two.
ASSIGN: int = Precedence.Assign
RETURN: int = Precedence.Return  # no bare yield
SUBSCRIPT: int = Precedence.Subscript
COMMA: int = Precedence.Comma
HIGHEST: int = Precedence.highest

_BINARY = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "MatMult": "@", "Mod": "%", "FloorDiv": "//",
    "LShift": "<<", "RShift": ">>", "BitOr": "|", "BitXor": "^", "BitAnd": "&",
}  # fmt: skip
_COMPARE = {
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
    "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}  # fmt: skip
_UNARY = {"USub": "-", "UAdd": "+", "Invert": "~", "Not": "not "}
_POW: int = Precedence.Pow
_ARITHMETIC = {
    getattr(package, name): (symbol, getattr(Precedence, name))
    for name, symbol in _BINARY.items()
    for package in (ast, gast)
}


def expression(node: Node, level: int = COMMA) -> str:
    """Return the text of an expression, in parentheses if `level` asks for them.

    >>> import gast
    >>> expression(gast.parse("(x+1) ** 2*y [i : j]", mode="eval").body)
    '(x + 1) ** 2 * y[i:j]'
    """
    return _PRINTERS.get(type(node), _astor)(node, level)


def binary_symbol(op: Node) -> str:
    """Return the symbol of an operator: `+`, `**`."""
    return "**" if type(op).__name__ == "Pow" else _ARITHMETIC[type(op)][0]


def sequence(nodes: list[Node]) -> str:
    """Return expressions with commas between them."""
    return ", ".join([expression(node) for node in nodes])


def arguments(node: Node, express: Printer | None = None) -> str:
    """Return the parameters of a function, `a, /, b: int = 0, *, c=1`."""
    express = express or expression
    positional = [*node.posonlyargs, *node.args]
    padding: list[Node] = [None] * (len(positional) - len(node.defaults))
    pairs = zip(positional, padding + node.defaults, strict=True)
    parts = [_parameter(*pair, express) for pair in pairs]
    if node.posonlyargs:
        parts.insert(len(node.posonlyargs), "/")
    if node.vararg is not None:
        parts.append("*" + _parameter(node.vararg, None, express))
    elif node.kwonlyargs:
        parts.append("*")
    pairs = zip(node.kwonlyargs, node.kw_defaults, strict=True)
    parts += [_parameter(*pair, express) for pair in pairs]
    if node.kwarg is not None:
        parts.append("**" + _parameter(node.kwarg, None, express))
    return ", ".join(parts)


def call_arguments(args: list[Node], keywords: list[Node], express: Printer | None = None) -> str:
    """Return the arguments of a call, or the bases of a class."""
    express = express or expression
    parts = [express(arg, COMMA) for arg in args]
    for keyword in keywords:
        parts.append(f"{keyword.arg}=" if keyword.arg else "**")
        parts[-1] += express(keyword.value, COMMA)
    return ", ".join(parts)


def string(text: str | bytes) -> str:
    """Return a literal in double quotes, where that needs no more escapes than single ones."""
    shown = repr(text)
    if isinstance(text, str) and not text.isascii():
        shown = "".join(map(_character, shown))
    start = 1 if isinstance(text, bytes) else 0
    if shown[start] == "'" and shown.count('"') <= shown.count("\\'"):
        inside = shown[start + 1 : -1].replace("\\'", "'").replace('"', '\\"')
        shown = f'{shown[:start]}"{inside}"'
    return shown


def _character(char: str) -> str:
    """Escape what an old Unicode does not know: what is printable differs between Pythons."""
    if char.isascii():
        return char
    from unicodedata import ucd_3_2_0

    if ucd_3_2_0.category(char)[0] in "CZ":
        return char.encode("unicode_escape").decode("ascii")
    return char


def _parameter(node: Node, default: Node, express: Printer) -> str:
    text: str = node.id if hasattr(node, "id") else node.arg
    annotation = getattr(node, "annotation", None)
    if annotation is not None:
        text += ": " + express(annotation, COMMA)
    if default is not None:
        text += (" = " if annotation is not None else "=") + express(default, COMMA)
    return text


def _name(node: Node, level: int) -> str:
    return str(node.id)


def _constant(node: Node, level: int) -> str:
    value = node.value
    if value is ...:
        return "..."
    if isinstance(value, (str, bytes)):
        return string(value)
    text = repr(value).replace("inf", "1e309")
    if "e-0" in text or "e+" in text:  # `1e-6`, as people write it, not `1e-06`
        text = text.replace("e-0", "e-").replace("e+", "e")
    if text[0] == "-" and level > Precedence.USub:
        return f"({text})"
    return text


def _attribute(node: Node, level: int) -> str:
    value = expression(node.value, HIGHEST)
    return f"({value}).{node.attr}" if value.isdigit() else f"{value}.{node.attr}"


def _call(node: Node, level: int) -> str:
    function = expression(node.func, HIGHEST)
    if len(node.args) == 1 and not node.keywords:
        text = expression(node.args[0])
        if type(node.args[0]).__name__ == "GeneratorExp":
            return function + text  # its own parentheses are those of the call
        return f"{function}({text})"
    return f"{function}({call_arguments(node.args, node.keywords)})"


def _subscript(node: Node, level: int) -> str:
    return f"{expression(node.value, HIGHEST)}[{expression(node.slice, SUBSCRIPT)}]"


def _slice(node: Node, level: int) -> str:
    bounds = [b for b in (node.lower, node.upper, node.step) if b is not None]
    space = "" if all(map(_plain_bound, bounds)) else " "
    text = expression(node.lower) + space + ":" if node.lower is not None else ":"
    if node.upper is not None:
        text += space + expression(node.upper)
    if node.step is not None:
        text += (space if node.upper is not None else "") + ":" + space + expression(node.step)
    return text


def _plain_bound(node: Node) -> bool:
    name = type(node).__name__
    if name == "UnaryOp":
        return type(node.op).__name__ != "Not" and _plain_bound(node.operand)
    return name in ("Name", "Constant")


def _binary(node: Node, level: int) -> str:
    op = _ARITHMETIC.get(type(node.op))
    if op is None:
        return _power(node, level)
    symbol, own = op
    text = f"{expression(node.left, own)} {symbol} {expression(node.right, own + 1)}"
    return text if level <= own else f"({text})"


def _power(node: Node, level: int) -> str:
    left = expression(node.left, _POW + 1)
    right = expression(node.right, Precedence.PowRHS)
    hug = _hugs(node.left) and _hugs(node.right) and left[0] != "("
    text = f"{left}**{right}" if hug else f"{left} ** {right}"
    return text if level <= _POW else f"({text})"


def _hugs(node: Node) -> bool:
    """Say whether black puts no spaces between `**` and this operand."""
    name = type(node).__name__
    if name == "UnaryOp":
        return type(node.op).__name__ != "Not" and _hugs(node.operand)
    while name == "Attribute":
        node = node.value
        name = type(node).__name__
        if name == "Constant":
            return False
    return name == "Name" or (name == "Constant" and isinstance(node.value, (int, float, complex)))


def _unary(node: Node, level: int) -> str:
    op = type(node.op).__name__
    own = getattr(Precedence, op)
    # `-(x**2)`: the same without the parentheses, but people ask.
    power = op != "Not" and type(getattr(node.operand, "op", None)).__name__ == "Pow"
    text = _UNARY[op] + expression(node.operand, HIGHEST if power else own)
    return text if level <= own else f"({text})"


def _compare(node: Node, level: int) -> str:
    own = Precedence.Eq
    parts = [expression(node.left, own + 1)]
    for op, right in zip(node.ops, node.comparators, strict=True):
        parts += [_COMPARE[type(op).__name__], expression(right, own + 1)]
    text = " ".join(parts)
    return text if level <= own else f"({text})"


def _boolean(node: Node, level: int) -> str:
    op = type(node.op).__name__
    own = getattr(Precedence, op)
    text = f" {op.lower()} ".join([expression(value, own + 1) for value in node.values])
    return text if level <= own else f"({text})"


def _tuple(node: Node, level: int) -> str:
    text = sequence(node.elts)
    if len(node.elts) == 1:
        text += ","
        return text if level == SUBSCRIPT else f"({text})"
    return text if level <= Precedence.Tuple and node.elts else f"({text})"


def _list(node: Node, level: int) -> str:
    return f"[{sequence(node.elts)}]"


def _starred(node: Node, level: int) -> str:
    return "*" + expression(node.value, Precedence.BitOr)


def _lambda(node: Node, level: int) -> str:
    own = Precedence.Lambda
    parameters = arguments(node.args)
    text = f"lambda{' ' if parameters else ''}{parameters}: {expression(node.body, own)}"
    return text if level <= own else f"({text})"


def _f_string(node: Node, level: int) -> str:
    """Print an f-string that Python 3.11 can read too: its quote occurs nowhere inside."""
    parts = _f_parts(node)
    inside = "".join(text for text, literal in parts if not literal)
    quotes = [q for q in ('"', "'", '"""', "'''") if q not in inside] or ['"']
    outside = "".join(text for text, literal in parts if literal)
    quote = "'" if "'" in quotes and '"' in outside and "'" not in outside else quotes[0]
    texts = [_f_literal(text, quote) if literal else text for text, literal in parts]
    return f"f{quote}{''.join(texts)}{quote}"


def _f_literal(text: str, quote: str) -> str:
    # With a double quote more than single ones it is shown in single quotes, which are escaped.
    shown = string(text + '"' * (text.count("'") + 1))[1:-1]
    shown = shown.rstrip('"') + '"' * (len(text) - len(text.rstrip('"')))
    shown = shown.replace("\\'", "'").replace("{", "{{").replace("}", "}}")
    return shown.replace(quote[0], "\\" + quote[0])


def _f_parts(node: Node) -> list[tuple[str, bool]]:
    """Return the parts of an f-string, and which of them are literal text."""
    parts: list[tuple[str, bool]] = []
    for value in node.values:
        if type(value).__name__ == "Constant":
            parts.append((value.value, True))
            continue
        text = expression(value.value, Precedence.Lambda + 1)
        if "'" not in text and "\\" not in text:
            text = text.replace('"', "'")
        text = ("{ " if text.startswith("{") else "{") + text
        if value.conversion not in (None, -1):
            text += "!" + chr(value.conversion)
        spec = getattr(value, "format_spec", None)
        parts.append((text if spec is None else text + ":", False))
        if spec is not None:
            parts += _f_parts(spec)
        parts.append(("}", False))
    return parts


class _Generator(SourceGenerator):  # type: ignore[misc]
    """astor, with the simple nodes printed above and fewer parentheses."""

    def visit(self, node: Node) -> None:
        printer = _PRINTERS.get(type(node))
        if printer is None:
            super().visit(node)
        else:
            self.write(printer(node, getattr(node, "_pp", HIGHEST)))

    def visit_ListComp(self, node: Node) -> None:
        set_precedence(COMMA, node.elt)
        super().visit_ListComp(node)

    def visit_SetComp(self, node: Node) -> None:
        set_precedence(COMMA, node.elt)
        super().visit_SetComp(node)

    def visit_DictComp(self, node: Node) -> None:
        set_precedence(COMMA, node.key, node.value)
        super().visit_DictComp(node)

    def visit_Dict(self, node: Node) -> None:
        set_precedence(COMMA, *node.keys)
        super().visit_Dict(node)

    def visit_YieldFrom(self, node: Node) -> None:
        set_precedence(COMMA, node.value)
        super().visit_YieldFrom(node)


def _astor(node: Node, level: int) -> str:
    # astor looks precedences up by the classes of ast, and notes on the nodes: it gets a copy.
    ours = type(node).__module__.startswith("gast")
    copy = gast.gast_to_ast(node) if ours else node
    copy._pp = level
    generator = _Generator("")
    generator.visit(copy)
    return "".join(generator.result)


_PRINTERS: dict[type, Printer] = {
    getattr(package, name): printer
    for package in (ast, gast)
    for name, printer in {
        "Name": _name,
        "Constant": _constant,
        "Attribute": _attribute,
        "Call": _call,
        "Subscript": _subscript,
        "Slice": _slice,
        "BinOp": _binary,
        "UnaryOp": _unary,
        "Compare": _compare,
        "BoolOp": _boolean,
        "Tuple": _tuple,
        "List": _list,
        "Starred": _starred,
        "Lambda": _lambda,
        "JoinedStr": _f_string,
    }.items()
}
