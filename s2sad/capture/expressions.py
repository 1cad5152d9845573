"""Expressions become operations on atoms: names, constants and dotted names from outside.

    z * z + f(x)        ->        t = z * z
                                  f_x = f(x)
                                  t + f_x

Lazy expressions become branches, comprehensions loops.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from s2sad.capture.applied import Applied
from s2sad.capture.desugar import denoted, from_outside
from s2sad.capture.piecewise import is_listed, written_out
from s2sad.errors import UnsupportedError
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    call,
    children,
    clone,
    constant,
    is_constant,
    locate,
    name,
    names_read,
    names_written,
    walk,
)
from s2sad.registry import effects_of, is_foreign
from s2sad.stages import Ahead, Loop, SourceLike
from s2sad.syntax.elements import all_statements, plain, rename_scoped
from s2sad.syntax.temps import temp_base

_LIBRARY = (types.BuiltinFunctionType, np.ufunc)


def is_read_whole(fn: Any) -> bool:
    """Say whether a function reads an iterable to its end, and does nothing else meanwhile."""
    known = effects_of(fn)
    return known.reads == "whole" and known.does == "nothing"


def has_walrus(node: Node) -> bool:
    """Say whether an expression binds a name."""
    return any(isinstance(n, gast.NamedExpr) for n in walk(node))


def _added(target: str, node: Node) -> Node:
    """Return the statement that adds what a round of a comprehension gives to its result."""
    if isinstance(node, gast.DictComp):
        place = locate(gast.Subscript(name(target), node.key, gast.Store()), node)
        return gast.Assign([place], node.value, None)
    append = gast.Attribute(name(target), "append", gast.Load())
    return gast.Expr(locate(call(append, node.elt), node))


class Expressions(Applied):
    """Reduces expressions; holds the block being written and the names made up."""

    def __init__(self, source: SourceLike, names: Names, locals_: set[str]) -> None:
        self.source = source
        self.names = names
        self.locals = locals_
        self.outside: frozenset[str] = frozenset()  # names that mean what is outside the function
        self.temps: set[str] = set()
        self.fillable: frozenset[str] = frozenset()
        self.indices: set[str] = set()
        self.origins: dict[Any, Any] = {}
        self.loops: dict[Any, Loop] = {}
        self.held: set[str] = set()
        self.ahead: dict[str, Ahead] = {}
        self.depth = 0
        self.out: Block = []
        self.origin: Any = None
        self.moving: frozenset[Any] = frozenset()
        self.rebound: set[str] = set()

    def refuse(self, node: Node, reason: str, remedy: str) -> UnsupportedError:
        place = self.source.place(node) if getattr(node, "lineno", None) else None
        return UnsupportedError(reason, remedy=remedy, place=place)

    def emit(self, statement: Node, origin: Node | None = None) -> Node:
        origin = origin if origin is not None else self.origin
        locate(statement, origin)
        self.origins[statement] = self.origin
        self.out.append(statement)
        return statement

    def do_For(self, statement: Node) -> None:
        """Emit a loop: comprehensions become loops."""
        raise NotImplementedError

    def run_over(self, node: Node) -> Node:
        """Reduce what a loop runs over, some time before it does."""
        raise NotImplementedError

    def moves(self, node: Node) -> bool:
        """Say whether an expression does more than give a value: it is taken apart in order.

        It binds a name, or has a part that writes something.
        """
        if self.moving and any(n in self.moving for n in walk(node)):
            return True
        return has_walrus(node)

    # expressions

    def is_atom(self, node: Node) -> bool:
        if isinstance(node, gast.Name) or is_constant(node):
            return True
        if isinstance(node, gast.Tuple):
            return all(is_constant(e) for e in node.elts)
        return self.is_path(node)

    def is_path(self, node: Node) -> bool:
        """Say whether this is a name from outside, or what a module or class defines: np.pi.

        What an object or class holds may be another one after a call.
        """
        if isinstance(node, gast.Name):
            return node.id not in self.locals | self.temps
        if not isinstance(node, gast.Attribute) or not self.is_path(node.value):
            return False
        owner = from_outside(node.value, self.source.fn)
        if isinstance(owner, types.ModuleType | property):
            return True
        # An object's attribute is never asked for here: a property may change the object.
        held = getattr(owner, node.attr, None) if isinstance(owner, type) else None
        return callable(held) or isinstance(held, property)

    def is_builtin(self, node: Node) -> bool:
        """Say whether this is the name of a builtin, and denotes that."""
        found = denoted(node, self.source.fn, self.locals | self.temps)
        return found is not None and found is getattr(builtins, getattr(node, "id", ""), None)

    def temp(self, value: Node, base: str | None = None) -> str:
        fresh = self.names.fresh(base or temp_base(value))
        self.temps.add(fresh)
        return fresh

    def atom(self, node: Node) -> Node:
        """Return an atom with the expression's value, emitting what computes it."""
        if self.is_atom(node):
            return node
        if isinstance(node, gast.NamedExpr):
            self.emit(assign(node.target.id, self.expression(node.value)), node)
            return locate(name(node.target.id), node)
        if isinstance(node, gast.IfExp):
            return self._conditional(node)
        if isinstance(node, gast.BoolOp):
            return self._lazy(node)
        if isinstance(node, gast.ListComp | gast.DictComp):
            return self._comprehension(node)
        value = self.expression(node)
        if self.is_atom(value):
            return value
        temp = self.temp(value)
        self.emit(assign(temp, value), node)
        return locate(name(temp), node)

    def expression(self, node: Node) -> Node:
        """Return an operation on atoms with the expression's value."""
        if self.is_atom(node):
            return node
        handler: Callable[[Node], Node] | None = getattr(self, f"ex_{type(node).__name__}", None)
        return locate(handler(node), node) if handler is not None else node

    def ex_NamedExpr(self, node: Node) -> Node:
        return self.atom(node)

    def ex_Yield(self, node: Node) -> Node:
        raise self.refuse(
            node,
            "s2sad cannot differentiate a generator function.",
            "Return a list, or write the loop where the values are used.",
        )

    ex_YieldFrom = ex_Await = ex_Yield

    ex_IfExp = ex_BoolOp = ex_ListComp = ex_DictComp = ex_NamedExpr

    def ex_BinOp(self, node: Node) -> Node:
        left = self.settled(self.atom(node.left), [node.right])
        return gast.BinOp(left, node.op, self.atom(node.right))

    def settled(self, value: Node, later: Iterable[Node | None]) -> Node:
        """Keep what an operand is now, where one evaluated later binds a name that it reads."""
        if not self._bound_by(later) & names_read(value):
            return value
        temp = self.temp(value)
        self.emit(assign(temp, value))
        return name(temp)

    def may_wait(self, display: Node, later: Block) -> bool:
        """Say whether a list or dict may be made when what is evaluated later has been."""
        if not isinstance(display, gast.List | gast.Dict):
            return False
        plain = all(map(self.is_atom, children(display))) and None not in getattr(
            display, "keys", ()
        )
        return plain and not self._bound_by(later) & names_read(display)

    def _bound_by(self, later: Iterable[Node | None]) -> set[str]:
        """Return the names that operands evaluated later may bind."""
        after = [node for node in later if node is not None]
        bound = {n.target.id for x in after for n in walk(x) if isinstance(n, gast.NamedExpr)}
        return bound | self.rebound if any(map(self.runs_users, after)) else bound

    def in_order(self, nodes: list[Any], reduce: Callable[[Node], Node]) -> list[Any]:
        """Reduce operands from left to right, each as it is at its turn."""
        out: list[Any] = []
        for position, node in enumerate(nodes):
            if isinstance(node, gast.Starred):
                out.append(reduce(node))
                out[-1].value = self.settled(out[-1].value, nodes[position + 1 :])
            else:
                out.append(self.settled(reduce(node), nodes[position + 1 :]))
        return out

    def ex_UnaryOp(self, node: Node) -> Node:
        if isinstance(node.op, gast.Not):
            return self.test(node)
        return gast.UnaryOp(node.op, self.atom(node.operand))

    def ex_Compare(self, node: Node) -> Node:
        return self.test(node)

    def ex_Attribute(self, node: Node) -> Node:
        return gast.Attribute(self.atom(node.value), node.attr, node.ctx)

    def ex_Subscript(self, node: Node) -> Node:
        value = self.settled(self.atom(node.value), [node.slice])
        return gast.Subscript(value, self.index(node.slice), node.ctx)

    def index(self, node: Node) -> Node:
        """Indices carry no derivative: they stay whole where evaluating them again is harmless."""
        if plain(node) and not self.moves(node):
            return node
        if isinstance(node, gast.Tuple):
            return locate(gast.Tuple(self.in_order(node.elts, self._part_of(node)), node.ctx), node)
        if isinstance(node, gast.Starred):
            return locate(gast.Starred(self.atom(node.value), node.ctx), node)
        if isinstance(node, gast.Slice):
            reduce = self._part_of(node)
            ends = (node.lower, node.upper, node.step)
            return locate(gast.Slice(*(None if p is None else reduce(p) for p in ends)), node)
        return self.atom(node)

    def _part_of(self, node: Node) -> Callable[[Node], Node]:
        """Return what reduces a part of an index; one is held where a later one may set it."""
        parts = children(node)

        def reduce(part: Node) -> Node:
            later = parts[parts.index(part) + 1 :]
            return self.held_index(part) if self.may_set(part, later) else self.index(part)

        return reduce

    def may_set(self, node: Node, later: Iterable[Node | None]) -> bool:
        """Say whether an operand asks for an attribute that a later one may set."""
        asks = any(isinstance(n, gast.Attribute) for n in walk(node))
        return asks and any(self.moves(n) or self.runs_users(n) for n in later if n is not None)

    def held_index(self, node: Node) -> Node:
        """Return an index that is as it is now: its parts are kept under names."""
        if isinstance(node, gast.Tuple):
            parts = [self.held_index(e) for e in node.elts]
            return locate(gast.Tuple(parts, node.ctx), node)
        if isinstance(node, gast.Slice):
            ends = (node.lower, node.upper, node.step)
            return locate(
                gast.Slice(*(self.held_index(p) if p is not None else None for p in ends)), node
            )
        return self.atom(node)

    def runs_users(self, node: Node) -> bool:
        """Say whether an expression calls what may be a function of the user's."""
        known = self.locals | self.temps
        found = [
            denoted(n.func, self.source.fn, known) for n in walk(node) if isinstance(n, gast.Call)
        ]
        return not all(isinstance(f, _LIBRARY) or is_foreign(f) for f in found)

    def _joined(self, node: Node, make: str) -> Node:
        """`[x, *xs]` becomes `[x] + list(xs)`."""
        display = type(node)
        total: Node | None = None
        plain_items: list[Node] = []

        def flush() -> None:
            nonlocal total
            if plain_items:
                part = self.atom(locate(display(list(plain_items), gast.Load()), node))
                total = part if total is None else gast.BinOp(self.atom(total), gast.Add(), part)
                plain_items.clear()

        for e in node.elts:
            if not isinstance(e, gast.Starred):
                plain_items.append(e)
                continue
            flush()
            part = self.atom(locate(call(make, e.value), e))
            total = part if total is None else gast.BinOp(self.atom(total), gast.Add(), part)
        flush()
        assert total is not None
        return total

    def ex_Tuple(self, node: Node) -> Node:
        if any(isinstance(e, gast.Starred) for e in node.elts):
            return self._joined(node, "tuple")
        return gast.Tuple(self.in_order(node.elts, self.item), node.ctx)

    def ex_List(self, node: Node) -> Node:
        if any(isinstance(e, gast.Starred) for e in node.elts):
            return self._joined(node, "list")
        return gast.List(self.in_order(node.elts, self.item), node.ctx)

    def item(self, node: Node) -> Node:
        if isinstance(node, gast.Starred):
            return locate(gast.Starred(self.whole(node.value), node.ctx), node)
        return self.atom(node)

    def ex_Dict(self, node: Node) -> Node:
        keys: list[Node | None] = []
        values: list[Node] = []
        for position, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            later = [*node.keys[position + 1 :], *node.values[position + 1 :]]
            if key is not None:
                stays = (
                    plain(key) and not self.moves(key) and not self.may_set(key, [value, *later])
                )
                key = key if stays else self.atom(key)
                key = self.settled(key, [value, *later])
            elif any(self.runs_users(part) for part in later if part is not None):
                # What is unpacked is copied before what is called behind it may change it.
                value = gast.Dict([None], [self.atom(value)])
            keys.append(key)
            values.append(self.settled(self.atom(value), later))
        return gast.Dict(keys, values)

    def statements(self, body: Block) -> Block:
        """Return what statements become."""
        raise NotImplementedError

    def inner_loop(self, loop: Node, node: Node) -> None:
        """Emit a loop that an expression stands for: it has the origin of that."""
        for n in walk(loop):
            locate(n, node)
        before = self.origin
        self.origin = loop
        self.do_For(loop)
        for statement in all_statements(self.out[-1:]):
            self.origins[statement] = before
        self.origin = before

    def known(self, node: Node) -> Any:
        """Return the object outside that a name or a module's attribute denotes, or None."""
        return denoted(node, self.source.fn, self.locals | self.temps)

    def in_pieces(self, node: Node) -> Node:
        """Emit the statements that a call of np.piecewise stands for."""
        block, made = written_out(node, self.names, self.atom, lambda e: callable(self.known(e)))
        bound = set().union(*map(names_written, all_statements(block)))
        self.temps |= bound
        self.locals |= bound
        emitted = self.statements(block)
        for statement in all_statements(emitted):
            self.origins[statement] = self.origin
        self.out += emitted
        return locate(name(made), node)

    def ex_Call(self, node: Node) -> Node:
        func = node.func
        if self.searches(node) and self.moves(node.args[0]):
            return self._search(node)
        if self.denotes(func, "functools", "partial") and node.args:
            return self.partial(node)
        if self.is_builtin(func) and len(node.args) == 1 and not node.keywords:
            if is_read_whole(getattr(builtins, func.id)) and self.is_accumulate(node.args[0]):
                made = self.accumulate(node.args[0])
                return made if func.id == "list" else gast.Call(func, [made], [])
        if self.denotes(func, "_functools", "reduce") and len(node.args) in (2, 3):
            return self.reduce(node)
        if self.known(func) is np.piecewise and is_listed(node, self.is_builtin):
            return self.in_pieces(node)
        given = [*node.args, *(k.value for k in node.keywords)]
        if isinstance(func, gast.Attribute) and not self.is_path(func):
            owner = self.settled(self.atom(func.value), given)
            func = locate(gast.Attribute(owner, func.attr, func.ctx), func)
        elif not self.is_atom(func):
            func = self.atom(func)
        count = len(node.args)
        table = {id(k.value): k for k in node.keywords}
        late = self._read_late(node, given)

        def reduce(arg: Node) -> Node:
            return self.atom(arg) if id(arg) in table else self.argument(node, arg)

        values = self.in_order(given[late is not None :], reduce)
        if late is not None:
            values.insert(0, self.whole(late))
        keywords = [
            gast.keyword(k.arg, v) for k, v in zip(node.keywords, values[count:], strict=True)
        ]
        return gast.Call(func, values[:count], keywords)

    def _read_late(self, node: Node, given: Block) -> Node | None:
        """Return the generator expression that a call reads when all else is computed, or None."""
        made = given[0] if given else None
        if not isinstance(made, gast.GeneratorExp) or made not in node.args:
            return None
        return self.begun(made, given[1:]) if self.reads_whole(node, made) else None

    def begun(self, made: Node, later: Block) -> Node | None:
        """Find what a generator expression runs over, before what is evaluated later; or None.

        t = f(s)         where     sum((s[0] for _ in range(f(s))), g(s))    calls g next
        """
        if all(map(self.is_atom, later)):
            return None
        first, *rest = made.generators
        source = self.run_over(first.iter)
        if isinstance(source, gast.Name):
            source = self.settled(source, later)
        first = gast.comprehension(first.target, source, first.ifs, first.is_async)
        return locate(gast.GeneratorExp(made.elt, [first, *rest]), made)

    def argument(self, node: Node, arg: Node) -> Node:
        if isinstance(arg, gast.Starred):
            return locate(gast.Starred(self.whole(arg.value), arg.ctx), arg)
        if isinstance(arg, gast.GeneratorExp):
            return self.whole(arg) if self.reads_whole(node, arg) else self.lazy(arg)
        return self.atom(arg)

    def whole(self, node: Node) -> Node:
        """Return an atom for what is read to its end at once: a generator expression is a list."""
        if isinstance(node, gast.GeneratorExp):
            return self._comprehension(node)
        return self.atom(node)

    def reads_whole(self, node: Node, arg: Node) -> bool:
        """Say whether a call reads an argument to its end, and does nothing else meanwhile."""
        if node.args[0] is not arg:
            return False
        found = denoted(node.func, self.source.fn, self.locals | self.temps)
        return is_read_whole(found) and (len(node.args) == 1 or found is sum)

    def lazy(self, node: Node) -> Node:
        """A generator expression that may be read in part, or later, stays what it is."""
        if has_walrus(node):
            raise self.refuse(
                node,
                "This generator expression assigns a variable with `:=` and may be read only "
                "in part.",
                "Write a loop, or a list comprehension: `[...]`.",
            )
        for part in node.generators:
            part.iter = self._as_written(part.iter)
        return node

    def _as_written(self, node: Node) -> Node:
        """Return what stands where a list was made of it: read item by item, it needs none."""
        if isinstance(node, gast.Call):
            if getattr(node.func, "ahead", False):
                return node.args[0]
            node.args = [self._as_written(a) for a in node.args]
        return node

    def ex_Lambda(self, node: Node) -> Node:
        return self.held_defaults(node)

    def ex_Starred(self, node: Node) -> Node:
        return gast.Starred(self.atom(node.value), node.ctx)

    def ex_GeneratorExp(self, node: Node) -> Node:
        return self.lazy(node)

    def ex_Set(self, node: Node) -> Node:
        return gast.Set(self.in_order(node.elts, self.item)) if self.moves(node) else node

    def ex_SetComp(self, node: Node) -> Node:
        if not self.moves(node):
            return node
        return call("set", self._comprehension(node))

    def ex_JoinedStr(self, node: Node) -> Node:
        """A part that is formatted before another one writes something is a text of its own."""
        if not self.moves(node):
            return node
        parts: list[Node] = []
        for position, part in enumerate(node.values):
            if not isinstance(part, gast.FormattedValue):
                parts.append(part)
                continue
            value = self.atom(part.value) if self.moves(part.value) else part.value
            spec = part.format_spec and self.expression(part.format_spec)
            made = gast.FormattedValue(value, part.conversion, spec)
            if any(map(self.moves, node.values[position + 1 :])):
                text = self.atom(locate(gast.JoinedStr([made]), node))
                made = gast.FormattedValue(text, -1, None)
            parts.append(locate(made, part))
        return gast.JoinedStr(parts)

    # lazy expressions become branches, comprehensions loops

    def test(self, node: Node) -> Node:
        """A truth value carries no derivative: kept whole unless it does more than give one."""
        if not self.moves(node):
            return node
        if isinstance(node, gast.BoolOp):
            return self._lazy(node)
        if isinstance(node, gast.UnaryOp) and node not in self.moving:
            return gast.UnaryOp(node.op, self.test(node.operand))
        if isinstance(node, gast.Compare) and node not in self.moving:
            return self._compared(node)
        return self.atom(node)

    def _compared(self, node: Node) -> Node:
        """Return a comparison, `a < b < c` as `a < b and b < c` where c does more than count."""
        first, *rest = node.comparators
        left = self.operand(node.left, node.comparators)
        if not any(map(self.moves, rest)):
            return gast.Compare(left, node.ops, [self.operand(first), *rest])
        middle = self.settled(self.atom(first), rest)
        target = self.temp(node, "both")
        begun = locate(gast.Compare(left, node.ops[:1], [middle]), node)
        self.emit(assign(target, begun), node)
        more = locate(gast.Compare(middle, node.ops[1:], rest), node)
        self._branch(name(target), target, more, None)
        return name(target)

    def operand(self, node: Node, later: list[Node] | tuple[()] = ()) -> Node:
        """Return an operand of a comparison, as it is before later ones do more than count."""
        if any(map(self.moves, later)) or self.moves(node):
            return self.settled(self.atom(node), later)
        return node

    def _branch(self, test: Node, target: str, then: Node, other: Node | None) -> None:
        blocks: list[Block] = []
        arms = [v if not isinstance(v, gast.Lambda) else self.atom(v) for v in (then, other)]
        for value in arms:
            if value is None:
                blocks.append([])
                continue
            saved, self.out = self.out, []
            self.emit(assign(target, self.expression(value)), value)
            block, self.out = self.out, saved
            blocks.append(block)
        self.emit(gast.If(test, blocks[0], blocks[1]))

    def _conditional(self, node: Node) -> Node:
        target = self.temp(node, "chosen")
        self._branch(self.test(node.test), target, node.body, node.orelse)
        return locate(name(target), node)

    def _lazy(self, node: Node) -> Node:
        target = self.temp(node, "either" if isinstance(node.op, gast.Or) else "both")
        first, *rest = node.values
        self.emit(assign(target, self.expression(first)), first)
        for position, value in enumerate(rest):
            more = rest[position + 1 :]
            tail = gast.BoolOp(node.op, [value, *more]) if more else value
            test = name(target)
            if isinstance(node.op, gast.Or):
                test = gast.UnaryOp(gast.Not(), test)
            self._branch(test, target, locate(tail, value), None)
            break
        return locate(name(target), node)

    def _comprehension(self, node: Node) -> Node:
        """Return the name of a list, or a dict, filled by a loop."""
        target = self.names.fresh("entries" if isinstance(node, gast.DictComp) else "items")
        self.temps.add(target)
        return self.comprehension(node, target)

    def searches(self, node: Node) -> bool:
        """Say whether this is `any` or `all` of a generator expression."""
        if not isinstance(node, gast.Call) or len(node.args) != 1 or node.keywords:
            return False
        found = self.known(node.func)
        return isinstance(node.args[0], gast.GeneratorExp) and (found is any or found is all)

    def _search(self, node: Node) -> Node:
        """`any(f(v) for v in xs)` is a loop that ends where it is known."""
        is_any = self.known(node.func) is any
        target = self.temp(node, "found")
        made = node.args[0]
        test = made.elt if is_any else gast.UnaryOp(gast.Not(), made.elt)
        self.emit(assign(target, constant(not is_any)), node)
        hit = [assign(target, constant(is_any)), gast.Break()]
        leave = name(target) if is_any else gast.UnaryOp(gast.Not(), name(target))
        self.in_rounds(made, [gast.If(test, hit, [])], [gast.If(leave, [gast.Break()], [])])
        return locate(name(target), node)

    def comprehension(self, node: Node, target: str) -> Node:
        """Fill a list, or a dict, by a loop."""
        is_dict = isinstance(node, gast.DictComp)
        empty = gast.Dict([], []) if is_dict else gast.List([], gast.Load())
        self.emit(assign(target, empty), node)
        body: Block = []
        if is_dict and (self.runs_users(node.key) or self.runs_users(node.value)):
            key = self.temp(node.key, "key")  # Python computes it before the value
            body = [assign(key, node.key)]
            node = locate(gast.DictComp(name(key), node.value, node.generators), node)
        self.in_rounds(node, [*body, _added(target, node)])
        return locate(name(target), node)

    def in_rounds(self, node: Node, body: Block, after: Iterable[Node] = ()) -> None:
        """Emit the loops of a comprehension around a body; `after` stands behind inner loops."""
        bound = {n.id for g in node.generators for n in walk(g.target) if isinstance(n, gast.Name)}
        table = {}
        for identifier in sorted(bound):
            known = identifier in self.locals or identifier in self.outside
            fresh = self.names.fresh(identifier) if known else identifier
            self.names.take(fresh)
            if fresh != identifier:
                table[identifier] = fresh
            self.locals.add(fresh)
            self.temps.add(fresh)
        first_iter = node.generators[0].iter
        for position, generator in reversed(list(enumerate(node.generators))):
            if generator.is_async:
                raise self.refuse(
                    node, "s2sad does not support asynchronous comprehensions.", "Use a loop."
                )
            for condition in reversed(generator.ifs):
                body = [gast.If(condition, body, [])]
            body = [gast.For(generator.target, generator.iter, body, [], None)]
            body += [clone(s) for s in after] if position else []
        loop = body[0]
        if table:
            loop.iter = constant(None)
            rename_scoped(loop, table)
            loop.iter = first_iter
        self.inner_loop(loop, node)
