"""A call that makes a function is written out: the body stands where the call stood.

    h = make(x)           ->        a = x
    return h(n)                     def inner(y):
                                        return a * y
                                    value_1 = inner
                                    h = value_1
                                    return h(n)

What the inner function captures is then a variable of the function at hand, with a cotangent.

So is a call of what a library has that rules/ write out in Python, where its tests are decided:

    y = d.setdefault("b", x)    ->    d["b"] = x
                                      y = d["b"]
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import math
import types
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import gast
import numpy as np

from s2sad.capture.construct import OBJECT_OF
from s2sad.names import Names
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    all_inside,
    assign,
    block_writes,
    blocks_of,
    children,
    clone,
    count_writes,
    locate,
    name,
    names_beside,
    names_read,
    names_written,
    told_by_write,
    walk,
)
from s2sad.stages import Ahead, Function, Loop
from s2sad.syntax.flow import read_outside

Bound = tuple[Function, dict[str, Any]]
Made = Callable[[Node, Node], "Bound | None"]


_NO_WORDS: Mapping[str, str] = MappingProxyType({})


@dataclasses.dataclass(frozen=True)
class Calls:
    """The calls that are written out: what tells of a call which function's text stands for it.

    Each gives, for a statement and a call in it, the called function and the node that each of its
    parameters gets; for a parameter that stands for a captured variable, that variable's name.
    `made` does so where what the call returns is (or holds) an inner function, `writers` where it
    stores into the structures it is given, `formulas` where the function is one formula, `library`
    where it is a library's that is written out in Python. What becomes of the last two is said to
    be the call's.
    """

    made: Made
    writers: Made
    formulas: Made
    library: Made


@dataclasses.dataclass(frozen=True)
class Around:
    """What is known around a function whose calls are written out.

    The `words` of a function are what names of its text mean to which nothing else gives a meaning.
    What a statement binds to a `plain` name holds no inner function. A `word` is the name that an
    object gets in the function's text.
    """

    words: Callable[[Any], Mapping[str, Any]]
    plain: Callable[[Node, str], bool]
    word: Callable[[Any], str]


def unfold(function: Function, calls: Calls, taken: set[str], around: Around) -> Function | None:
    """Return the function with such calls written out; None where there are none."""
    worker = _Unfolder(function, calls, taken, around)
    function.node.body[:] = worker.block(function.node.body)
    if not worker.changed:
        return None
    return dataclasses.replace(
        function,
        origins=worker.origins,
        loops=worker.loops,
        temps=function.temps | worker.temps,
        held=function.held | worker.held,
        was=function.was | worker.was,
        ahead={**function.ahead, **worker.ahead},
        stopped={**function.stopped, **worker.stopped},
        locals=function.locals | worker.bound,
    )


class _Unfolder:
    def __init__(self, function: Function, calls: Calls, taken: set[str], around: Around) -> None:
        self.function = function
        self.calls = calls
        self.around = around
        self.origins = dict(function.origins)
        self.loops = dict(function.loops)
        self.taken = taken
        self.writes = count_writes(function.node.body, function.params)
        self.depth = 0
        self.temps: set[str] = set()
        self.held: set[str] = set()
        self.was: set[str] = set()
        self.ahead: dict[str, Ahead] = {}
        self.stopped: dict[str, str] = {}
        self.bound: set[str] = set()
        self.changed = False

    @functools.cached_property
    def names(self) -> Names:
        return names_beside(self.function.node, self.function.locals | self.taken)

    def block(self, body: Block) -> Block:
        out: Block = []
        for position, s in enumerate(body):
            loops = isinstance(s, gast.For | gast.While)
            self.depth += loops
            for part in blocks_of(s):
                part[:] = self.block(part)
            self.depth -= loops
            if isinstance(s, gast.Assign) and isinstance(s.value, gast.Call):
                found = self.calls.made(s, s.value)
                if found is not None and self.fits(found[0]):
                    if not self.depth or self.stays(s, body[position + 1 :]):
                        out += self.written_out(s, *found)
            if isinstance(s, gast.Assign | gast.Expr) and isinstance(s.value, gast.Call):
                words: Mapping[str, str] | None = _NO_WORDS
                found = self.calls.formulas(s, s.value)
                if found is None or not self.fits(found[0]):
                    found = self.calls.library(s, s.value)
                    plain = found is not None and all(map(_can_stand, found[1].values()))
                    words = self.reached(found[0]) if found is not None and plain else None
                if found is not None and words is not None:
                    out += self.steps(s, *found, words)
                    if _keeps(s) or (isinstance(s, gast.Expr) and _is_atom(s.value)):
                        continue
            if isinstance(s, gast.Assign | gast.Expr) and not self.changed:
                found = self.calls.writers(s, s.value)
                if found is not None and self.fits(found[0]):
                    out += self.written_out(s, *found, named=True)
                    if isinstance(s, gast.Expr) or _keeps(s):
                        continue
            out.append(s)
        return out

    def stays(self, s: Node, rest: Block) -> bool:
        """Say whether what a round of a loop makes is only called, and in that round only.

        Kept for later it would see the variables of later rounds.
        """
        target = s.targets[0]
        parts = target.elts if isinstance(target, gast.Tuple) else [target]
        return all(self.used_here(s, part, rest) for part in parts)

    def used_here(self, s: Node, part: Node, rest: Block) -> bool:
        """Say whether what a statement binds is plain, or only called in the statements after it.

        It may be taken apart there, where the same holds for its parts.
        """
        if not isinstance(part, gast.Name):
            return False
        if self.around.plain(s, part.id):
            return True
        if self.writes.get(part.id) != 1:
            return False
        whole = [n for n in walk(self.function.node) if _reads(n, part.id)]
        inside = [n for t in rest for n in walk(t) if _reads(n, part.id)]
        fine = {n.func for t in rest for n in walk(t) if isinstance(n, gast.Call)}
        for t in rest:
            taken, parts = _taken_apart(t)
            if taken in inside and all(self.used_here(t, p, rest) for p in parts):
                fine.add(taken)
        return len(whole) == len(inside) and all(n in fine for n in inside)

    def fits(self, callee: Function) -> bool:
        """Say whether a body means the same here: its globals are ours, and nothing hides them."""
        ours: Any = self.function.source.fn
        theirs: Any = callee.source.fn
        inner = captured_by(theirs)
        words = self.around.words(ours)
        shared = {n for n, value in inner.items() if words.get(n, theirs) is value}
        shared |= {
            n for n, value in self.around.words(theirs).items() if words.get(n, words) is value
        }
        captured = inner.keys() - shared
        if "super" not in names_read(callee.node):
            captured = captured - {"__class__"}  # which only super() asks for
        if theirs is not ours and captured:
            return False
        strange = (gast.Global, gast.Nonlocal, gast.Match, gast.Try, gast.ClassDef)
        if any(isinstance(n, strange) for n in walk(callee.node)):
            return False
        outer = read_outside(callee.node.body) - callee.locals
        if outer & self.function.locals:
            return False
        outer -= shared
        if OBJECT_OF not in ours.__globals__.keys() | theirs.__globals__.keys():
            outer -= {OBJECT_OF}  # the derived text's own
        return ours.__globals__ is theirs.__globals__ or all(_same(ours, theirs, n) for n in outer)

    def reached(self, callee: Function) -> Mapping[str, str] | None:
        """Return the names that what a library's text reads has here; None where one is hidden."""
        ours: Any = self.function.source.fn
        theirs: Any = callee.source.fn
        words: dict[str, str] = {}
        inner = set(_inner_of(callee))
        for n in read_outside(callee.node.body) - callee.locals:
            value = theirs.__globals__.get(n, vars(builtins).get(n))
            word = words[n] = self.around.word(value) if n in theirs.__globals__ else n
            if word in self.function.locals or ours.__globals__.get(word, value) is not value:
                return None
            hidden = isinstance(value, types.ModuleType) and word not in ours.__globals__
            if hidden and n in read_outside(inner):
                return None  # an inner function's names are looked up where it is defined
        return words

    def steps(
        self, s: Node, callee: Function, given: Mapping[str, Any], words: Mapping[str, str]
    ) -> Block:
        """Return the steps of a formula, or of what a library's function does.

        The last of them gives the call's result its name, and literals stand where they are given.
        """
        bound = block_writes(callee.node.body)
        literal = {
            p: v for p, v in given.items() if isinstance(v, gast.Constant) and p not in bound
        }
        before = set(self.bound)
        target = getattr(s.targets[0], "id", "") if isinstance(s, gast.Assign) else ""
        if target and target not in names_read(s.value) | set(words.values()):
            words = {callee.result: target, **words}
        out = self.written_out(s, callee, given, True, literal, words)
        self.temps |= self.bound - before
        self._as_of(out, s)
        last = out[-1] if out else None
        if isinstance(last, gast.Assign) and names_written(last) == names_read(s.value):
            s.value = out.pop().value
        return out

    def _as_of(self, out: Block, s: Node) -> None:
        """Say of statements that they stand where another one stood."""
        for step in all_inside(out):
            for part in (step, *getattr(self.loops.get(step), "bindings", ())):
                self.origins[part] = self.origins.get(s, s)
                for n in walk(part):
                    n.__dict__.pop("home", None)
                    n.lineno = None
                    locate(n, s)

    def written_out(
        self,
        s: Node,
        callee: Function,
        given: Mapping[str, Any],
        named: bool = False,
        literal: Mapping[str, Node] = MappingProxyType({}),
        words: Mapping[str, str] = _NO_WORDS,
    ) -> Block:
        """Return the body of a called function; with `named`, variables given keep their names.

        `literal` are the parameters in whose place literals stand, `words` what is renamed besides.
        """
        table: dict[str, str] = dict(words)
        before: Block = []
        bound = block_writes(callee.node.body) if named else set(callee.params)
        params = [n for inner in _inner_of(callee) for n in walk(inner.args)]
        hidden = {n.id for n in params if isinstance(getattr(n, "ctx", None), gast.Param)}
        for p in callee.params:
            if isinstance(given[p], gast.Name) and p not in bound and given[p].id not in hidden:
                table[p] = given[p].id
                continue
            if isinstance(given[p], str):
                table[p] = given[p]
                continue
            if p in literal:
                continue
            table[p] = self.names.fresh(p)
            before.append(assign(table[p], clone(given[p])))
        theirs = set(table.values()) - {assigned.targets[0].id for assigned in before}
        for n in sorted(callee.locals - set(callee.params) - words.keys()):
            table[n] = self.names.fresh(n)
        # A global that is given stays one.
        self.bound |= set(table.values()) - theirs - set(words.values())
        self.temps |= {table[n] for n in callee.temps if n in table}
        self.held |= {table[n] for n in callee.held if n in table}
        self.was |= {table[n] for n in callee.was if n in table}
        self.ahead |= {table[n]: a.renamed(table) for n, a in callee.ahead.items() if n in table}
        self.stopped |= {table[n]: table.get(x, x) for n, x in callee.stopped.items() if n in table}
        for statement in before:
            locate(statement, s)
            self.origins[statement] = self.origins.get(s, s)
        inside, result = callee.node.body[:-1], callee.node.body[-1].value
        if named and inside and _hands_back(inside[-1], result.id, callee.params):
            result = inside.pop().value
        body = [self.copied(t, callee, table, literal) for t in inside]
        s.value = locate(literal.get(result.id) or name(table.get(result.id, result.id)), s.value)
        self.changed = True
        return [*before, *body]

    def copied(
        self,
        s: Node,
        callee: Function,
        table: Mapping[str, str],
        literal: Mapping[str, Node] = MappingProxyType({}),
    ) -> Node:
        """Return a statement under the names it has here, with all that is known of it."""
        new = clone(s, literal)
        home: Any = callee.source
        while hasattr(home, "outer"):
            home = home.outer
        strange = home.file != self.function.source.file
        for old, copy in zip(walk(s), walk(new), strict=True):
            if strange and not hasattr(copy, "home"):
                copy.home = home
            if old in callee.origins:
                origin = self.origins[copy] = callee.origins[old]
                for n in walk(origin) if strange else ():
                    n.home = getattr(n, "home", home)
            if old in callee.loops:
                self.loops[copy] = _renamed_loop(callee.loops[old], table, literal)
        return renamed(new, table)


def _inner_of(function: Function) -> list[Node]:
    return [n for s in function.node.body for n in walk(s) if isinstance(n, _INNER)]


def _is_atom(node: Node) -> bool:
    return isinstance(node, gast.Name | gast.Constant)


def _taken_apart(s: Node) -> tuple[Node | None, list[Node]]:
    """Return what a statement takes apart, and to what: `a, b = t`, `a = t[0]`, `a = t`."""
    if not isinstance(s, gast.Assign):
        return None, []
    target = s.targets[0]
    if isinstance(s.value, gast.Subscript):
        return s.value.value, [target]
    return s.value, target.elts if isinstance(target, gast.Tuple) else [target]


def _hands_back(s: Node, result: str, params: tuple[str, ...]) -> bool:
    """Say whether the last statement of a function returns one of its parameters: `return self`."""
    plain = isinstance(s, gast.Assign) and isinstance(s.value, gast.Name)
    return plain and names_written(s) == {result} and s.value.id in params


def _keeps(s: Node) -> bool:
    """Say whether a statement binds a name to what it is already: `a = a`."""
    plain = isinstance(s, gast.Assign) and isinstance(s.value, gast.Name)
    return plain and [getattr(t, "id", None) for t in s.targets] == [s.value.id]


def stays_whole(function: Function, decided: Mapping[Any, bool]) -> bool:
    """Leave, in place, those arms of decided tests that run; say if they are all that there is.

    They are not where NotImplementedError is raised, whatever tests that the run decides stand
    around it.
    """
    left = all_inside(_live(function.node.body, decided))
    raised = (n for s in left if isinstance(s, gast.Raise) for n in walk(s))
    return not any(getattr(n, "id", "") == NotImplementedError.__name__ for n in raised)


def _live(body: Block, decided: Mapping[Any, bool]) -> Block:
    out: Block = []
    for s in body:
        verdict = decided.get(s) if isinstance(s, gast.If) else None
        if verdict is not None:
            out += _live(s.body if verdict else s.orelse, decided)
            continue
        for part in blocks_of(s):
            _live(part, decided)
        out.append(s)
    body[:] = out
    return out


def captured_by(fn: types.FunctionType) -> dict[str, Any]:
    """Return what a function captures, by name; of what has no value yet, the cell."""
    found: dict[str, Any] = {}
    for n, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
        try:
            found[n] = cell.cell_contents
        except ValueError:
            found[n] = cell
    return found


def _same(one: Any, other: Any, variable: str) -> bool:
    """Say whether functions of two modules see the same module, class or function under a name.

    Data may change in one of the modules later; that these are others then is noticed.
    """
    known = [vars(builtins) | fn.__globals__ for fn in (one, other)]
    values = [table.get(variable) for table in known]
    made = types.ModuleType | types.FunctionType | types.BuiltinFunctionType | np.ufunc | type
    inner = variable in one.__code__.co_freevars
    return not inner and values[0] is values[1] and isinstance(values[0], made)


def _reads(node: Node, variable: str) -> bool:
    return (
        isinstance(node, gast.Name) and node.id == variable and not isinstance(node.ctx, gast.Store)
    )


_INNER = (gast.FunctionDef, gast.Lambda)


def _can_stand(value: Any) -> bool:
    """Return whether an argument may stand in the place of its parameter: nan has no literal."""
    number = getattr(value, "value", None) if isinstance(value, gast.Constant) else None
    return not isinstance(number, float) or math.isfinite(number)


def _renamed_loop(loop: Loop, table: Mapping[str, str], literal: Mapping[str, Node]) -> Loop:
    bounds = loop.bounds
    if bounds is not None:
        bounds = tuple(renamed(clone(b, literal), table) for b in bounds)
    bindings = tuple(renamed(clone(b, literal), table) for b in loop.bindings)
    return Loop(table.get(loop.index, loop.index), loop.own, bounds, bindings)


def renamed(node: Node, table: Mapping[str, str]) -> Node:
    """Rename variables in place, but not those that an inner function binds itself."""
    if isinstance(node, gast.Name):
        node.id = table.get(node.id, node.id)
    elif isinstance(node, SCOPES):
        if hasattr(node, "name"):
            node.name = table.get(node.name, node.name)
        args = node.args
        for d in [*args.defaults, *args.kw_defaults]:
            if d is not None:
                renamed(d, table)
        own = {a.id for a in [*args.posonlyargs, *args.args, *args.kwonlyargs]}
        own |= {a.id for a in (args.vararg, args.kwarg) if a is not None}
        body = node.body if isinstance(node.body, list) else [node.body]
        own |= set().union(*(names_written(b) for b in body), set())
        inner = {n: v for n, v in table.items() if n not in own}
        for b in body:
            renamed(b, inner)
    else:
        for child in children(node):
            renamed(child, table)
        for told in told_by_write(node):
            renamed(told, table)
    return node
