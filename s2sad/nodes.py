"""Small tools for syntax trees: build, copy, compare, and ask what a statement reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import gast
from gast import Assign, Attribute, BinOp, Call, Constant, Name, Subscript

from s2sad.errors import InternalError
from s2sad.names import Names
from s2sad.stages import STANDS_FOR, Comment

Node = Any
Block = list[Any]

SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


# They say nothing but their class: one stands in as many places as need be.
_SIGNS = (gast.expr_context, gast.operator, gast.unaryop, gast.cmpop, gast.boolop)
_LOAD, _STORE = gast.Load(), gast.Store()


def _made(cls: Any, fields: dict[str, Any]) -> Node:
    """Return a node without a position, in a third of the time that its constructor takes."""
    new = cls.__new__(cls)
    new.__dict__.update(fields)
    return new


def name(identifier: str) -> Node:
    """Return a Name that is read."""
    return _made(Name, {"id": identifier, "ctx": _LOAD, "annotation": None, "type_comment": None})


def store(identifier: str) -> Node:
    """Return a Name that is written."""
    return _made(Name, {"id": identifier, "ctx": _STORE, "annotation": None, "type_comment": None})


def constant(value: object) -> Node:
    """Return a constant as a parser would give it: tuples and negative numbers are not one node."""
    if isinstance(value, tuple):
        return gast.Tuple([constant(part) for part in value], gast.Load())
    if isinstance(value, int | float) and not isinstance(value, bool) and _negative(value):
        return gast.UnaryOp(gast.USub(), gast.Constant(-value, None))
    return gast.Constant(value, None)


def _negative(value: float) -> bool:
    return value < 0 or (value == 0 and str(value).startswith("-"))


def assign(target: str, value: Node) -> Node:
    """Return `target = value`."""
    return _made(Assign, {"targets": [store(target)], "value": value, "type_comment": None})


def assign_tuple(targets: Iterable[str], value: Node) -> Node:
    """Return `a, b = value`."""
    return gast.Assign([gast.Tuple([store(t) for t in targets], gast.Store())], value, None)


def call(fn: Node | str, /, *args: Node, **keywords: Node) -> Node:
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
    return _made(BinOp, {"left": left, "op": op(), "right": right})


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


# Fields that hold no node, and those below which there is no name.
_LEAVES = frozenset({"id", "attr", "type_comment", "kind"})
_NAMELESS = _LEAVES | {"ctx", "op", "ops", "key", "sharing", "ghosts"}


class _Fields(dict[type, tuple[str, ...] | None]):
    """The fields of each class of nodes that are to be looked into; None for what is no node."""

    def __init__(self, without: frozenset[str]) -> None:
        self._without = without

    def __missing__(self, cls: type[Any]) -> tuple[str, ...] | None:
        found: tuple[str, ...] | None = None
        if issubclass(cls, gast.AST):
            keyed = cls in (gast.DictComp, gast.keyword)
            without = self._without - {"key"} if keyed else self._without
            fields = () if cls is gast.Constant else cls._fields
            found = tuple(f for f in fields if f not in without)
        self[cls] = found
        return found


_fields_walked = _Fields(_LEAVES | {"ctx"})
_fields_of_operands = _Fields(_LEAVES | {"ctx", "op", "ops"})
_fields_with_names = _Fields(_NAMELESS)


class _Copied(dict[type, tuple[str, ...] | None]):
    """The fields of each class of nodes; None for what is the same in a copy."""

    def __missing__(self, cls: type[Any]) -> tuple[str, ...] | None:
        copied = issubclass(cls, gast.AST) and not issubclass(cls, _SIGNS)
        self[cls] = cls._fields if copied else None
        return self[cls]


_fields_copied = _Copied()
_CHANGING = frozenset({gast.Store, gast.Del})
_BINDING = _CHANGING | {gast.Param}
_WRITES = ("each", *STANDS_FOR)


def clone(node: Node, table: Mapping[str, Node] = MappingProxyType({})) -> Node:
    """Return a deep copy of a tree, positions included, with names in a table replaced."""
    cls: Any = type(node)
    fields = _fields_copied[cls]
    if fields is None:
        return node
    if cls is Name and node.id in table and node.ctx.__class__ not in _BINDING:
        return clone(table[node.id])
    inside = table
    if table and cls in _HIDING:
        own = _bound_in(node)
        inside = {n: value for n, value in table.items() if n not in own}
        caught = {n for n, value in inside.items() if own & names_read(value)}
        if caught and caught & names_read(node):
            raise InternalError(f"{sorted(own)} of an inner scope would be read in another's place")
    new = cls.__new__(cls)
    held = node.__dict__
    values = new.__dict__
    if cls is Constant or (cls is Name and held.get("annotation") is None):
        values.update(held)
        return new
    for field in fields:
        value = held[field] if field in held else getattr(node, field, None)
        known = table if field == "args" else inside  # defaults are evaluated outside
        if value.__class__ is list:
            values[field] = [clone(v, known) for v in value]
        elif _fields_copied[value.__class__] is not None:
            values[field] = clone(value, known)
        else:
            values[field] = value
    if inside is not table and cls in COMPREHENSIONS:  # so is what the first loop runs over
        values["generators"][0].iter = clone(held["generators"][0].iter, table)
    if cls is Assign or cls is gast.AugAssign:
        for word in _WRITES:
            if word in held:
                values[word] = clone(held[word], table)
    line = held.get("lineno")
    if line is not None:
        values["lineno"] = line
        values["col_offset"] = node.col_offset
        values["end_lineno"] = held.get("end_lineno", line)
        values["end_col_offset"] = held.get("end_col_offset", node.col_offset)
        if "home" in held:  # the source it stands in, where that is another function's
            values["home"] = held["home"]
    return new


def _bound_in(scope: Node) -> set[str]:
    """Return the names that a lambda, a comprehension or an inner function has of its own.

    What an inner function binds in its body is replaced as ever: it has been looked at before.
    """
    if isinstance(scope, COMPREHENSIONS):
        return {n.id for g in scope.generators for n in walk(g.target) if isinstance(n, Name)}
    given = walk(scope.args) if hasattr(scope, "args") else ()
    return {n.id for n in given if n.__class__ is Name and n.ctx.__class__ is gast.Param}


def locate(node: Node, origin: Node) -> Node:
    """Give a new node the position of the node it comes from, and return it."""
    line = getattr(origin, "lineno", None)
    if line is not None and getattr(node, "lineno", None) is None:
        node.lineno = line
        node.col_offset = origin.col_offset
        node.end_lineno = getattr(origin, "end_lineno", line)
        node.end_col_offset = getattr(origin, "end_col_offset", origin.col_offset)
        if hasattr(origin, "home"):
            node.home = origin.home
    return node


def stand_in(node: Node, origin: Node, source: Any) -> Node:
    """Let a derived node say which node of the user's source it comes from, and return it."""
    locate(node, origin)
    if getattr(node, "lineno", None) is not None and not hasattr(node, "home"):
        node.home = source
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


def _below(node: Node, fields: tuple[str, ...] | None) -> list[Node]:
    """Return what is in fields of a node: nodes, and what a table of fields says is none."""
    found: list[Node] = []
    if fields:
        values = node.__dict__
        for field in fields:
            value = values.get(field)
            if value.__class__ is list:
                found += value
            elif value is not None:
                found.append(value)
    return found


def children(node: Node) -> list[Node]:
    """Return the direct child nodes, but for contexts and operators."""
    below = _below(node, _fields_of_operands[node.__class__])
    return [n for n in below if _fields_of_operands[n.__class__] is not None]


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, but for the contexts of names and parts."""
    stack = [node]
    while stack:
        top = stack.pop()
        kind = top.__class__
        if kind is Constant or (kind is Name and top.annotation is None):
            yield top
            continue
        fields = _fields_walked[kind]
        if fields is None:
            continue
        yield top
        values = top.__dict__
        for field in fields:
            value = values.get(field)
            if value.__class__ is list:
                stack += value
            elif value is not None:
                stack.append(value)


def names_beside(node: Node, taken: Iterable[str]) -> Names:
    """Return a supply of names that are neither taken nor stand in a tree."""
    return Names((*taken, *(n.id for n in walk(node) if n.__class__ is Name)))


def ordered(node: Node) -> Iterator[Node]:
    """Yield a node and all below it in the order in which they are written.

    Contexts and operators are left out.
    """
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        if top.__class__ is Constant or (top.__class__ is Name and top.annotation is None):
            continue
        below = children(top)
        below.reverse()
        stack += below


_BINDING = frozenset({gast.Store, gast.Param})
_HIDING = frozenset({*SCOPES, *COMPREHENSIONS})


def names_read(node: Node) -> set[str]:
    """Return the names that an expression or statement reads anywhere below it."""
    found: set[str] = set()
    nodes = [node]  # grows while it is read
    for top in nodes:
        kind = top.__class__
        if kind is Name:
            if top.ctx.__class__ not in _BINDING:
                found.add(top.id)
        elif kind is BinOp:
            nodes += (top.left, top.right)
        elif kind is Attribute:
            nodes.append(top.value)
        elif kind is Call:
            nodes.append(top.func)
            nodes += top.args
            nodes += top.keywords
        elif kind is Constant or kind is Comment:
            continue
        elif kind is Assign:
            nodes += top.targets
            nodes.append(top.value)
        elif kind is Subscript:
            nodes += (top.value, top.slice)
        elif kind is gast.AugAssign:
            nodes += (top.target, top.value)
            if top.target.__class__ is Name:
                found.add(top.target.id)
        else:
            nodes += _below(top, _fields_with_names[kind])
    return found


def names_written(node: Node) -> set[str]:
    """Return the names that a statement binds anywhere below it, not looking into inner scopes."""
    found: set[str] = set()
    nodes = [node]  # grows while it is read
    for top in nodes:
        kind = top.__class__
        if kind is Name:
            if top.ctx.__class__ in _CHANGING:
                found.add(top.id)
        elif kind is BinOp:
            nodes += (top.left, top.right)
        elif kind is Attribute:
            nodes.append(top.value)
        elif kind is Call:
            nodes.append(top.func)
            nodes += top.args
            nodes += top.keywords
        elif kind is Constant or kind is Comment:
            continue
        elif kind is Assign:
            nodes += top.targets
            nodes.append(top.value)
        elif kind is Subscript:
            nodes += (top.value, top.slice)
        elif kind in _HIDING:
            found |= _shown(top)
        else:
            if kind in _NAMING:
                found |= _named(top)
            nodes += _below(top, _fields_with_names[kind])
    return found


def names_of(node: Node) -> tuple[set[str], set[str]]:
    """Return what `names_read` and `names_written` return, in one walk."""
    read, written, _ = survey(node)
    return read, written


def survey(node: Node) -> tuple[set[str], set[str], list[Node]]:
    """Return the names read, those written, and all nodes but names, constants and operators."""
    read: set[str] = set()
    written: set[str] = set()
    others: list[Node] = []
    nodes = [node]  # grows while it is read
    for top in nodes:
        kind = top.__class__
        if kind is Name:
            context = top.ctx.__class__
            if context in _CHANGING:
                written.add(top.id)
            if context not in _BINDING:
                read.add(top.id)
        elif kind is BinOp:
            nodes += (top.left, top.right)
        elif kind is Attribute:
            others.append(top)
            nodes.append(top.value)
        elif kind is Call:
            others.append(top)
            nodes.append(top.func)
            nodes += top.args
            nodes += top.keywords
        elif kind is Constant or kind is Comment:
            continue
        elif kind is Assign:
            others.append(top)
            nodes += top.targets
            nodes.append(top.value)
        elif kind is Subscript:
            others.append(top)
            nodes += (top.value, top.slice)
        elif kind in _HIDING:
            read |= names_read(top)
            written |= _shown(top)
            others += walk(top)
        else:
            others.append(top)
            if kind in _NAMING:
                written |= _named(top)
            elif kind is gast.AugAssign and top.target.__class__ is Name:
                read.add(top.target.id)
            nodes += _below(top, _fields_with_names[kind])
    return read, written, others


class Remembered(dict[Node, tuple[set[str], set[str]]]):
    """What `names_of` says of statements that stay as they are, asked once."""

    def __missing__(self, statement: Node) -> tuple[set[str], set[str]]:
        self[statement] = names_of(statement)
        return self[statement]


def _shown(scope: Node) -> set[str]:
    """Return the names that an inner scope binds outside: its own, or those of `:=`."""
    if isinstance(scope, COMPREHENSIONS):
        return {n.target.id for n in walk(scope) if isinstance(n, gast.NamedExpr)}
    return set() if isinstance(scope, gast.Lambda) else {scope.name}


_NAMING = frozenset(
    {
        *(gast.MatchAs, gast.MatchStar, gast.MatchMapping, gast.ExceptHandler),
        *(gast.Import, gast.ImportFrom),
    }
)


def _named(node: Node) -> set[str]:
    """Return the names that a pattern, a handler or an import gives in words."""
    if isinstance(node, gast.Import | gast.ImportFrom):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    given = node.rest if isinstance(node, gast.MatchMapping) else node.name
    return {given} if isinstance(given, str) else set()


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


def count_writes(block: Block, params: Iterable[str] = ()) -> dict[str, int]:
    """Return how often each name is bound: by a statement, a loop's header, or as a parameter."""
    counts = dict.fromkeys(params, 1)
    pending = list(block)
    while pending:
        s = pending.pop()
        parts = blocks_of(s)
        written = names_written(_head(s))
        if written and parts and not isinstance(s, gast.For):
            written = written - set().union(*(block_writes(p) for p in parts))
        for n in written:
            counts[n] = counts.get(n, 0) + 1
        for part in parts:
            pending += part
    return counts


def _head(statement: Node) -> Node:
    """Return what of a statement may bind names outside its blocks."""
    if isinstance(statement, gast.For):
        return statement.target
    return statement.test if isinstance(statement, gast.If | gast.While) else statement


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


def all_inside(block: Block) -> Iterator[Node]:
    """Yield the statements of a block, those of inner blocks included."""
    for s in block:
        yield s
        for part in blocks_of(s):
            yield from all_inside(part)


def told_of(statement: Node) -> list[Node]:
    """Return what a raise statement tells the exception that it makes."""
    made = statement.exc
    if not isinstance(made, gast.Call):
        return []
    return [*made.args, *(k.value for k in made.keywords)]


def ways_through(attempt: Node) -> list[Block]:
    """Return the ways through a try: its body with the else, and every handler."""
    return [[*attempt.body, *attempt.orelse], *(h.body for h in attempt.handlers)]


def always_leaves(body: Block) -> bool:
    """Say whether a block always ends in a break or a raise."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, gast.Break | gast.Raise):
        return True
    if isinstance(last, gast.If):
        return always_leaves(last.body) and always_leaves(last.orelse)
    if isinstance(last, gast.Try):
        return all(map(always_leaves, ways_through(last)))
    return False


def catches_all(case: Node) -> bool:
    """Say whether a case of a match takes whatever comes."""
    return (
        case.guard is None
        and isinstance(case.pattern, gast.MatchAs)
        and case.pattern.pattern is None
    )


def exhaustive(s: Node) -> bool:
    """Say whether a match has a case for everything."""
    return any(map(catches_all, s.cases))


def substitute(node: Node, table: Mapping[str, Node]) -> Node:
    """Return a copy of an expression with names replaced by expressions."""
    return clone(node, table) if table else node


def rename(node: Node, table: Mapping[str, str]) -> Node:
    """Rename variables in place, read and written, and return the node."""
    below = list(walk(node)) if table else []
    told = [part for n in below for part in told_by_write(n)]
    for n in {id(n): n for n in [*below, *(n for part in told for n in walk(part))]}.values():
        if n.__class__ is Name:
            n.id = table.get(n.id, n.id)
    return node


def told_by_write(s: Node) -> list[Node]:
    """Return the expressions that say of what call a plain write stands for: no fields of its."""
    return [s.__dict__[word] for word in _WRITES if word in s.__dict__]


def root_name(node: Node) -> str | None:
    """Return the variable through which a place is reached, or None."""
    while isinstance(node, gast.Subscript | gast.Attribute):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None


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
    read: set[str] = set()
    inner: set[str] = set()
    for s in fn.body:
        reads, binds, others = survey(s)
        read |= reads
        bound |= binds
        for n in others:
            if isinstance(n, COMPREHENSIONS):
                inner |= {g.target.id for g in n.generators if isinstance(g.target, Name)}
    return read - bound - inner


def with_extra(node: Node, extra: tuple[str, ...]) -> Node:
    """Return a definition with further keyword-only parameters."""
    if not extra:
        return node
    node = clone(node)
    for n in extra:
        node.args.kwonlyargs.append(gast.Name(n, gast.Param(), None, None))
        node.args.kw_defaults.append(None)
    return node


def uses_of(body: Block, variable: str) -> list[list[Node]]:
    """Return, for each read of a variable, the nodes around it, the nearest first."""
    found: list[list[Node]] = []

    def visit(node: Node, around: list[Node]) -> None:
        for child in children(node):
            if isinstance(child, gast.Name) and child.id == variable:
                if not isinstance(child.ctx, gast.Store):
                    found.append([node, *around])
            visit(child, [node, *around])

    for s in body:
        visit(s, [])
    return found
