"""Trees to text: statements, headings and spacing are made here, the same text everywhere.

What is printed is parsed again and compared with the tree, so that no printer, ours or astor's,
can change a program in silence.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast

from s2sad.errors import InternalError
from s2sad.stages import Comment
from s2sad.write import expression_text
from s2sad.write.expression_text import (
    ASSIGN,
    COMMA,
    RETURN,
    Node,
    arguments,
    call_arguments,
    string,
)
from s2sad.write.same import same
from s2sad.write.wrap import USUAL, comment, width, wrap

_STEP = 4
Head = tuple[str, str, str]  # before, in and after what parentheses may be put around
Clause = tuple[Head, list[Node] | None]  # a line, and the block under it if there is one
Express = Callable[[Node, int], str]

_DEFINITIONS = frozenset(["FunctionDef", "AsyncFunctionDef", "ClassDef"])
_IMPORTS = frozenset(["Import", "ImportFrom"])


def expression(node: gast.AST) -> str:
    """Return the text of an expression, checked.

    >>> import gast
    >>> expression(gast.parse("(x+1) ** 2*y [i : j+1]", mode="eval").body)
    '(x + 1) ** 2 * y[i : j + 1]'
    """
    return _careful(node, COMMA)


def statement_text(node: gast.AST) -> str:
    """Return a statement in one line, however long, for headings; of a block, its first line.

    >>> import gast
    >>> statement_text(gast.parse("(x, v) = state").body[0])
    'x, v = state'
    """
    head, _ = next(iter(_clauses(node, expression_text.expression)))
    return "".join(head)


def function(node: gast.FunctionDef) -> str:
    """Return the text of a function, checked; it ends with a newline."""
    return module([node])


def module(body: list[gast.AST]) -> str:
    """Return the text of a module, checked; it ends with a newline."""
    # If some expression comes out as another one, print again, looking at each.
    for express in (expression_text.expression, _careful):
        lines, own = _lines(body, express)
        if _is("\n".join(own), [node for node in body if _known(node) is None]):
            return "\n".join(lines) + "\n"
    raise InternalError("the printed text is not the program it was printed from")


_printed: weakref.WeakKeyDictionary[Node, list[str]] = weakref.WeakKeyDictionary()


def lasting(definition: Node) -> None:
    """Let a definition that stays as it is, and stands in many modules, be printed only once."""
    _printed[definition] = function(definition)[:-1].split("\n")


def _known(node: Node) -> list[str] | None:
    """Return the lines of a definition that was printed before, with as many columns."""
    return _printed.get(node) if width() == USUAL else None


def _lines(body: list[gast.AST], express: Express) -> tuple[list[str], list[str]]:
    """Return the lines of a module, and those of them that have never been printed before."""
    lines: list[str] = []
    known: list[slice] = []

    def put(node: Node, indent: int, lines: list[str], express: Express) -> None:
        printed = _known(node)
        if printed is None:
            _statement(node, indent, lines, express)
            return
        known.append(slice(len(lines), len(lines) + len(printed)))
        lines += printed

    _block(body, 0, lines, express, "Module", put)
    own = lines.copy()
    for part in reversed(known):
        del own[part]
    return lines, own


def _is(text: str, body: list[gast.AST]) -> bool:
    try:
        return same(body, ast.parse(text).body)
    except SyntaxError:
        return False


def _careful(node: Node, level: int) -> str:
    """Print an expression, see that it is what it was, and let `ast.unparse` try if it is not."""
    text = expression_text.expression(node, level)
    if _reads_as(text, node):
        return text
    text = f"({ast.unparse(gast.gast_to_ast(node))})"
    if _reads_as(text, node):
        return text
    raise InternalError(f"cannot print a {type(node).__name__}: {text} is another one")


def _reads_as(text: str, node: Node) -> bool:
    try:
        if type(node).__name__ == "Starred":
            parsed: Any = ast.parse(f"[{text}]", mode="eval").body
            return same(node, parsed.elts[0])
        if type(node).__name__ in ("Tuple", "Slice"):  # what stands bare may have slices in it
            parsed = ast.parse(f"_[{text}]", mode="eval").body
            return same(node, parsed.slice)
        return same(node, ast.parse(f"({text}\n)", mode="eval").body)
    except SyntaxError:
        return False


def _block(
    body: Iterable[Node],
    indent: int,
    lines: list[str],
    express: Express,
    owner: str,
    put: Callable[[Node, int, list[str], Express], None] | None = None,
) -> None:
    """Append the lines of a block, with the empty lines that black would have in it."""
    previous = ""
    pending: list[Node] = []
    for node in body:
        if type(node) is Comment:
            pending.append(node)
            continue
        name = type(node).__name__
        docstring = not previous and _is_docstring(node) and owner in (_DEFINITIONS | {"Module"})
        if previous or (name in _DEFINITIONS and owner not in (_DEFINITIONS | {"Module"})):
            _space(lines, _gap(name, previous, indent))
        _comments(pending, indent, lines)
        pending = []
        if docstring:
            lines.append(_docstring(node.value.value, indent))
        else:
            (put or _statement)(node, indent, lines, express)
        previous = f"{owner} docstring" if docstring else _last(node)
    _comments(pending, indent, lines)
    if not previous and indent:
        lines.append(" " * indent + "pass")


def _last(node: Node) -> str:
    """Return the kind of a statement, or of the definition that it ends with."""
    inner = node
    while (name := type(inner).__name__) not in _DEFINITIONS:
        blocks = (getattr(inner, f, None) for f in ("finalbody", "orelse", "handlers", "body"))
        body = getattr(inner, "cases", None) or next(filter(None, blocks), None)
        if not isinstance(body, list):
            return type(node).__name__
        inner = body[-1]
    return name


def _gap(name: str, previous: str, indent: int) -> int:
    """Return how many empty lines black puts between two statements that have none."""
    if name in _DEFINITIONS or previous in _DEFINITIONS:
        return 1 if indent else 2
    if previous in _IMPORTS and name not in _IMPORTS:
        return 1
    return 1 if previous in ("Module docstring", "ClassDef docstring") else 0


def _space(lines: list[str], count: int) -> None:
    while count and lines[-count:] != [""] * count:
        lines.append("")


def _comments(nodes: list[Node], indent: int, lines: list[str]) -> None:
    for node in nodes:
        if node.text:
            lines += comment(node.text, indent)
        elif lines and lines[-1] and not lines[-1].endswith(":"):
            lines.append("")


def _statement(node: Node, indent: int, lines: list[str], express: Express) -> None:
    for decorator in getattr(node, "decorator_list", ()):
        lines += wrap("@", express(decorator, COMMA), "", indent)
    for (before, content, after), body in _clauses(node, express):
        if "\n" in content:  # a literal over several lines: from ast.unparse only
            lines.append(" " * indent + before + content + after)
        else:
            lines += wrap(before, content, after, indent)
        if body is not None:
            _block(body, indent + _STEP, lines, express, type(node).__name__)


def _is_docstring(node: Node) -> bool:
    if type(node).__name__ != "Expr" or type(node.value).__name__ != "Constant":
        return False
    return isinstance(node.value.value, str)


def _docstring(text: str, indent: int) -> str:
    body = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if body.endswith('"'):
        body = body[:-1] + '\\"'
    if all(char == "\n" or char >= " " for char in body):
        return f'{" " * indent}"""{body}"""'
    return " " * indent + string(text)


def _clauses(node: Node, express: Express) -> Iterable[Clause]:
    """Return the lines of a statement, each with the block under it.

    `if a: b` / `else: c` is (("if ", "a", ":"), [b]) and (("else:", "", ""), [c]).
    """
    handler = _STATEMENTS.get(type(node).__name__)
    if handler is None:
        raise InternalError(f"cannot print a {type(node).__name__} as a statement")
    return handler(node, express)


def _word(word: str) -> Callable[[Node, Express], list[Clause]]:
    return lambda node, express: [((word, "", ""), None)]


def _with_value(word: str, level: int) -> Any:
    def clauses(node: Node, express: Express) -> list[Clause]:
        value = getattr(node, "value", None)
        if value is None:
            return [((word, "", ""), None)]
        return [((f"{word} " if word else "", express(value, level), ""), None)]

    return clauses


def _assign(node: Node, express: Express) -> list[Clause]:
    targets = "".join([express(target, ASSIGN) + " = " for target in node.targets])
    # `a, b = c, d`, but `state = (x, v)`: there the tuple is one thing.
    unpacked = all(type(target).__name__ in ("Tuple", "List") for target in node.targets)
    one = type(node.value).__name__ == "Tuple" and not unpacked
    return [((targets, express(node.value, COMMA if one else ASSIGN), ""), None)]


def _augmented(node: Node, express: Express) -> list[Clause]:
    symbol = expression_text.binary_symbol(node.op)
    head = f"{express(node.target, COMMA)} {symbol}= "
    return [((head, express(node.value, ASSIGN), ""), None)]


def _annotated(node: Node, express: Express) -> list[Clause]:
    target = express(node.target, COMMA)
    if type(node.target).__name__ == "Name" and not getattr(node, "simple", 1):
        target = f"({target})"
    head = f"{target}: {express(node.annotation, COMMA)}"
    if getattr(node, "value", None) is None:
        return [((head, "", ""), None)]
    return [((f"{head} = ", express(node.value, COMMA), ""), None)]


def _delete(node: Node, express: Express) -> list[Clause]:
    # In parentheses they would be one target, a tuple: the line stays as long as it is.
    return [(("del " + ", ".join([express(t, COMMA) for t in node.targets]), "", ""), None)]


def _assert(node: Node, express: Express) -> list[Clause]:
    test = express(node.test, COMMA)
    if getattr(node, "msg", None) is None:
        return [(("assert ", test, ""), None)]
    # Parentheses may go around either, never around both; the message is mostly the longer.
    return [((f"assert {test}, ", express(node.msg, COMMA), ""), None)]


def _raise(node: Node, express: Express) -> list[Clause]:
    if getattr(node, "exc", None) is None:
        return [(("raise", "", ""), None)]
    after = "" if getattr(node, "cause", None) is None else " from " + express(node.cause, COMMA)
    return [(("raise ", express(node.exc, COMMA), after), None)]


def _names(word: str) -> Any:
    return lambda node, express: [((f"{word} {', '.join(node.names)}", "", ""), None)]


def _aliases(node: Node) -> str:
    return ", ".join(f"{a.name} as {a.asname}" if a.asname else a.name for a in node.names)


def _import(node: Node, express: Express) -> list[Clause]:
    return [((f"import {_aliases(node)}", "", ""), None)]


def _import_from(node: Node, express: Express) -> list[Clause]:
    head = f"from {'.' * (node.level or 0)}{node.module or ''} import "
    names = _aliases(node)
    return [((head + names, "", "") if names == "*" else (head, names, ""), None)]


def _if(node: Node, express: Express) -> Iterator[Clause]:
    word = "if "
    while True:
        yield (word, _test(node, express), ":"), node.body
        orelse = node.orelse or []
        if len(orelse) != 1 or type(orelse[0]).__name__ != "If":
            break
        node, word = orelse[0], "elif "
    yield from _else(orelse)


def _test(node: Node, express: Express) -> str:
    text = express(node.test, COMMA)
    return text[1:-1] if type(node.test).__name__ == "NamedExpr" and text[0] == "(" else text


def _else(body: list[Node] | None, word: str = "else:") -> list[Clause]:
    return [((word, "", ""), body)] if body else []


def _while(node: Node, express: Express) -> list[Clause]:
    return [(("while ", _test(node, express), ":"), node.body), *_else(node.orelse)]


def _for(node: Node, express: Express, prefix: str = "") -> list[Clause]:
    head = f"{prefix}for {express(node.target, ASSIGN)} in "
    return [((head, express(node.iter, COMMA), ":"), node.body), *_else(node.orelse)]


def _with(node: Node, express: Express, prefix: str = "") -> list[Clause]:
    items = []
    for item in node.items:
        items.append(express(item.context_expr, COMMA))
        if getattr(item, "optional_vars", None) is not None:
            items[-1] += " as " + express(item.optional_vars, COMMA)
    return [((f"{prefix}with ", ", ".join(items), ":"), node.body)]


def _try(node: Node, express: Express, star: str = "") -> Iterator[Clause]:
    yield ("try:", "", ""), node.body
    for handler in node.handlers:
        name = handler.name
        if name is not None:
            name = f" as {name if isinstance(name, str) else name.id}"
        kind = f" {express(handler.type, COMMA)}" if handler.type is not None else ""
        yield (f"except{star}{kind}{name or ''}:", "", ""), handler.body
    yield from _else(node.orelse)
    yield from _else(node.finalbody, "finally:")


def _function(node: Node, express: Express, prefix: str = "") -> list[Clause]:
    returns = getattr(node, "returns", None)
    after = ":" if returns is None else f" -> {express(returns, COMMA)}:"
    head = f"{prefix}def {node.name}{_type_params(node, express)}"
    return [((head, f"({arguments(node.args, express)})", after), node.body)]


def _class(node: Node, express: Express) -> list[Clause]:
    bases = call_arguments(node.bases, node.keywords, express)
    head = f"class {node.name}{_type_params(node, express)}"
    return [((head, f"({bases})" if bases else "", ":"), node.body)]


def _type_alias(node: Node, express: Express) -> list[Clause]:
    head = f"type {node.name.id}{_type_params(node, express)} = "
    return [((head, express(node.value, COMMA), ""), None)]


def _type_params(node: Node, express: Express) -> str:
    texts = []
    for param in getattr(node, "type_params", None) or ():
        star = {"TypeVarTuple": "*", "ParamSpec": "**"}.get(type(param).__name__, "")
        texts.append(star + str(param.name))
        if getattr(param, "bound", None) is not None:
            texts[-1] += ": " + express(param.bound, COMMA)
        if getattr(param, "default_value", None) is not None:
            texts[-1] += " = " + express(param.default_value, COMMA)
    return f"[{', '.join(texts)}]" if texts else ""


def _match(node: Node, express: Express) -> list[Clause]:
    return [(("match ", express(node.subject, RETURN), ":"), node.cases)]


def _case(node: Node, express: Express) -> list[Clause]:
    guard = "" if getattr(node, "guard", None) is None else f" if {express(node.guard, COMMA)}"
    return [((f"case {_pattern(node.pattern, express)}{guard}:", "", ""), node.body)]


def _pattern(node: Node, express: Express, inner: bool = False) -> str:
    """Print a pattern; `inner` puts parentheses around alternatives and `as`."""
    name = type(node).__name__
    many = [_pattern(p, express, name == "MatchOr") for p in getattr(node, "patterns", ())]
    if name == "MatchValue":
        return express(node.value, COMMA)
    if name == "MatchSingleton":
        return repr(node.value)
    if name == "MatchStar":
        return f"*{node.name or '_'}"
    if name == "MatchSequence":
        return f"[{', '.join(many)}]"
    if name == "MatchOr":
        return f"({' | '.join(many)})" if inner else " | ".join(many)
    if name == "MatchMapping":
        pairs = zip(node.keys, many, strict=True)
        parts = [f"{express(key, COMMA)}: {value}" for key, value in pairs]
        rest = [f"**{node.rest}"] if node.rest else []
        return f"{{{', '.join(parts + rest)}}}"
    if name == "MatchClass":
        values = [_pattern(p, express) for p in node.kwd_patterns]
        named = [f"{k}={v}" for k, v in zip(node.kwd_attrs, values, strict=True)]
        return f"{express(node.cls, COMMA)}({', '.join(many + named)})"
    if getattr(node, "pattern", None) is None:
        return node.name or "_"
    text = f"{_pattern(node.pattern, express, True)} as {node.name}"
    return f"({text})" if inner else text


_STATEMENTS: dict[str, Callable[[Node, Express], Iterable[Clause]]] = {
    "AnnAssign": _annotated,
    "Assert": _assert,
    "Assign": _assign,
    "AsyncFor": lambda node, express: _for(node, express, "async "),
    "AsyncFunctionDef": lambda node, express: _function(node, express, "async "),
    "AsyncWith": lambda node, express: _with(node, express, "async "),
    "AugAssign": _augmented,
    "Break": _word("break"),
    "ClassDef": _class,
    "Continue": _word("continue"),
    "Delete": _delete,
    "Expr": _with_value("", ASSIGN),
    "For": _for,
    "FunctionDef": _function,
    "Global": _names("global"),
    "If": _if,
    "Import": _import,
    "ImportFrom": _import_from,
    "Match": _match,
    "Nonlocal": _names("nonlocal"),
    "Pass": _word("pass"),
    "Raise": _raise,
    "Return": _with_value("return", RETURN),
    "Try": _try,
    "TryStar": lambda node, express: _try(node, express, "*"),
    "TypeAlias": _type_alias,
    "While": _while,
    "With": _with,
    "match_case": _case,
}
