"""Small tools for syntax trees: build, copy, compare, and ask what a statement reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import gast

from s2sad.stages import Comment, Restore, Save

Node = Any
Block = list[Any]

SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def name(identifier: str) -> Node:
    """Return a Name that is read."""
    return gast.Name(identifier, gast.Load(), None, None)


def store(identifier: str) -> Node:
    """Return a Name that is written."""
    return gast.Name(identifier, gast.Store(), None, None)


def constant(value: object) -> Node:
    """Return a constant; a negative number is a unary minus, as a parser would give it."""
    if isinstance(value, int | float) and not isinstance(value, bool) and _negative(value):
        return gast.UnaryOp(gast.USub(), gast.Constant(-value, None))
    return gast.Constant(value, None)


def _negative(value: float) -> bool:
    return value < 0 or (value == 0 and str(value).startswith("-"))


def assign(target: str, value: Node) -> Node:
    """Return `target = value`."""
    return gast.Assign([store(target)], value, None)


def assign_tuple(targets: Iterable[str], value: Node) -> Node:
    """Return `a, b = value`."""
    return gast.Assign([gast.Tuple([store(t) for t in targets], gast.Store())], value, None)


def call(fn: Node | str, *args: Node, **keywords: Node) -> Node:
    """Return `fn(*args, **keywords)`; `fn` may be a dotted name."""
    func = dotted(fn) if isinstance(fn, str) else fn
    return gast.Call(func, list(args), [gast.keyword(k, v) for k, v in keywords.items()])


def dotted(path: str) -> Node:
    """Return the expression of a dotted name."""
    first, *rest = path.split(".")
    node = name(first)
    for part in rest:
        node = gast.Attribute(node, part, gast.Load())
    return node


def binary(left: Node, op: type, right: Node) -> Node:
    """Return `left op right`."""
    return gast.BinOp(left, op(), right)


def negative(operand: Node) -> Node:
    """Return `-operand`."""
    return gast.UnaryOp(gast.USub(), operand)


def subscript(value: Node, index: Node) -> Node:
    """Return `value[index]`."""
    return gast.Subscript(value, index, gast.Load())


def attribute(value: Node, attr: str) -> Node:
    """Return `value.attr`."""
    return gast.Attribute(value, attr, gast.Load())


def tuple_(items: Iterable[Node]) -> Node:
    """Return a tuple display that is read."""
    return gast.Tuple(list(items), gast.Load())


def compare(left: Node, op: type, right: Node) -> Node:
    """Return `left op right` for a comparison."""
    return gast.Compare(left, [op()], [right])


def clone(node: Node) -> Node:
    """Return a deep copy of a tree, positions included."""
    if isinstance(node, gast.AST):
        new = type(node)()
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, gast.AST):
                value = clone(value)
            elif isinstance(value, list):
                value = [clone(v) if isinstance(v, gast.AST) else v for v in value]
            setattr(new, field, value)
        line = getattr(node, "lineno", None)
        if line is not None:
            new.lineno = line
            new.col_offset = node.col_offset
            new.end_lineno = getattr(node, "end_lineno", line)
            new.end_col_offset = getattr(node, "end_col_offset", node.col_offset)
        return new
    return node


def locate(node: Node, origin: Node) -> Node:
    """Give a new node the position of the node it comes from, and return it."""
    line = getattr(origin, "lineno", None)
    if line is not None and getattr(node, "lineno", None) is None:
        node.lineno = line
        node.col_offset = origin.col_offset
        node.end_lineno = getattr(origin, "end_lineno", line)
        node.end_col_offset = getattr(origin, "end_col_offset", origin.col_offset)
    return node


def operands(node: Node, owner: Node) -> list[Node]:
    """Return what the method behind an expression gets besides its owner, by position."""
    if isinstance(node, gast.Call):
        return list(node.args)
    if isinstance(node, gast.BinOp):
        return [node.right if owner is node.left else node.left]
    return [node.slice] if isinstance(node, gast.Subscript) else []


def key(node: Node) -> Any:
    """Return a hashable that is equal for equal expressions, positions aside."""
    kind = type(node)
    if kind is gast.Name:
        return ("n", node.id)
    if kind is gast.Constant:
        return ("c", type(node.value), repr(node.value))
    if isinstance(node, gast.AST):
        return (kind.__name__, *(key(getattr(node, f, None)) for f in node._fields if f != "ctx"))
    if isinstance(node, list):
        return tuple(key(item) for item in node)
    return node


def same(left: Node, right: Node) -> bool:
    """Say whether two expressions are equal, positions aside."""
    return bool(key(left) == key(right))


def children(node: Node) -> list[Node]:
    """Return the direct child nodes."""
    found: list[Node] = []
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, list):
            found += [item for item in value if isinstance(item, gast.AST)]
        elif isinstance(value, gast.AST):
            found.append(value)
    return found


_NAMELESS = frozenset({"ctx", "op", "ops", "type_comment", "kind", "key", "sharing", "ghosts"})
_fields_with_names: dict[type, tuple[str, ...]] = {}


def _inner(node: Node) -> list[Node]:
    """Return the child nodes below which there may be names."""
    cls = type(node)
    fields = _fields_with_names.get(cls)
    if fields is None:
        dict_key = cls in (gast.DictComp, gast.keyword)
        fields = tuple(f for f in cls._fields if dict_key or f not in _NAMELESS)
        _fields_with_names[cls] = fields
    found: list[Node] = []
    for field in fields:
        value = getattr(node, field, None)
        if value.__class__ is list:
            found += [item for item in value if isinstance(item, gast.AST)]
        elif isinstance(value, gast.AST):
            found.append(value)
    return found


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(children(top))


def names_read(node: Node) -> set[str]:
    """Return the names that an expression or statement reads anywhere below it."""
    found: set[str] = set()
    stack = [node]
    while stack:
        top = stack.pop()
        kind = type(top)
        if kind is gast.Name:
            if not isinstance(top.ctx, gast.Store | gast.Param):
                found.add(top.id)
        elif kind is gast.AugAssign:
            if isinstance(top.target, gast.Name):
                found.add(top.target.id)
            stack.append(top.target)
            stack.append(top.value)
        elif kind is Save:
            found.add(top.name)
        elif kind is not Comment and kind is not Restore and kind is not gast.Constant:
            stack += _inner(top)
    return found


def names_written(node: Node) -> set[str]:
    """Return the names that a statement binds anywhere below it, not looking into inner scopes."""
    found: set[str] = set()
    stack = [node]
    while stack:
        top = stack.pop()
        kind = type(top)
        if kind is gast.Name:
            if isinstance(top.ctx, gast.Store | gast.Del):
                found.add(top.id)
        elif kind is Restore:
            found.add(top.name)
        elif kind in SCOPES:
            if kind is not gast.Lambda:
                found.add(top.name)
        elif kind in COMPREHENSIONS:
            found |= {n.target.id for n in walk(top) if isinstance(n, gast.NamedExpr)}
        elif kind is gast.MatchAs or kind is gast.MatchStar:
            if top.name is not None:
                found.add(top.name)
            stack += _inner(top)
        elif kind is gast.MatchMapping:
            if top.rest is not None:
                found.add(top.rest)
            stack += _inner(top)
        elif kind is gast.ExceptHandler:
            if isinstance(top.name, str):
                found.add(top.name)
            stack += _inner(top)
        elif kind is gast.Import or kind is gast.ImportFrom:
            found |= {(a.asname or a.name).split(".")[0] for a in top.names}
        elif kind is not Comment and kind is not Save and kind is not gast.Constant:
            stack += _inner(top)
    return found


def block_writes(block: Block) -> set[str]:
    """Return the names bound anywhere in a block."""
    found: set[str] = set()
    for statement in block:
        found |= names_written(statement)
    return found


def copied(node: Node) -> Node | None:
    """Return what an expression is a copy of, if it is one."""
    if (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and node.func.attr == "copy"
        and not node.args
        and not node.keywords
    ):
        return node.func.value
    return None


def changed_in(block: Block, touched: Mapping[Any, frozenset[str]]) -> set[str]:
    """Return the names that a block binds, and those whose content it changes."""
    found = block_writes(block)
    stack = list(block)
    while stack:
        s = stack.pop()
        found |= touched.get(s, frozenset())
        for part in blocks_of(s):
            stack += part
    return found


def count_writes(block: Block) -> dict[str, int]:
    """Return how many statements bind each name; a loop's header counts once."""
    counts: dict[str, int] = {}
    pending = list(block)
    while pending:
        s = pending.pop()
        parts = blocks_of(s)
        written = names_written(s.target) if isinstance(s, gast.For) else names_written(s)
        if parts and not isinstance(s, gast.For):
            written = written - set().union(*(block_writes(p) for p in parts))
        for n in written:
            counts[n] = counts.get(n, 0) + 1
        for part in parts:
            pending += part
    return counts


def blocks_of(statement: Node) -> list[Block]:
    """Return the statement lists directly inside a statement."""
    kind = type(statement)
    if kind is gast.If or kind is gast.For or kind is gast.While:
        return [statement.body, statement.orelse]
    if kind is gast.Match:
        return [case.body for case in statement.cases]
    if kind is gast.With:
        return [statement.body]
    if kind is gast.Try:
        return [
            statement.body,
            *(h.body for h in statement.handlers),
            statement.orelse,
            statement.finalbody,
        ]
    return []


class _Substitute(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, table: Mapping[str, Node]) -> None:
        self.table = table

    def visit_Name(self, node: Node) -> Node:
        new = self.table.get(node.id)
        if new is None or isinstance(node.ctx, gast.Store | gast.Del):
            return node
        return clone(new)


def substitute(node: Node, table: Mapping[str, Node]) -> Node:
    """Return a copy of an expression with names replaced by expressions."""
    if not table:
        return node
    return _Substitute(table).visit(clone(node))


def rename(node: Node, table: Mapping[str, str]) -> Node:
    """Rename variables in place, read and written, and return the node."""
    for n in walk(node):
        if type(n) is gast.Name:
            n.id = table.get(n.id, n.id)
        elif type(n) is Save or type(n) is Restore:
            n.name = table.get(n.name, n.name)
    return node


def is_whole(place: Node) -> bool:
    """Say whether a place is `A[...]`: all of an array."""
    return (
        isinstance(place, gast.Subscript)
        and isinstance(place.slice, gast.Constant)
        and place.slice.value is Ellipsis
    )


def is_constant(node: Node) -> bool:
    """Say whether an expression is a literal number, possibly with a sign."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub | gast.UAdd):
        node = node.operand
    return isinstance(node, gast.Constant)


def number(node: Node) -> float | int | None:
    """Return the value of a literal real number, or None."""
    sign = 1
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        sign, node = -1, node.operand
    if isinstance(node, gast.Constant) and type(node.value) in (int, float):
        return sign * node.value  # type: ignore[no-any-return]
    return None


def free_reads(fn: Node) -> set[str]:
    """Return the names that a function definition reads and does not bind itself."""
    bound = {a.id for a in [*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs]}
    bound |= {a.id for a in (fn.args.vararg, fn.args.kwarg) if a is not None}
    for s in fn.body:
        bound |= names_written(s)
    read: set[str] = set()
    for s in fn.body:
        read |= names_read(s)
    inner = {
        n.target.id
        for s in fn.body
        for c in walk(s)
        if isinstance(c, COMPREHENSIONS)
        for n in c.generators
        if isinstance(n.target, gast.Name)
    }
    return read - bound - inner
