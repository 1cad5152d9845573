"""From a normalised function to a program.

Before: a Function, what is known of its expressions and names (KindFacts), and its memory.
After: a Program that computes the same, in which every binding is a variable of its own.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.ir import cells as C
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind, shares_nothing
from s2sad.nodes import Block, Node, exhaustive, name, names_written, walk
from s2sad.primitives import language as L
from s2sad.primitives.record import Primitive
from s2sad.stages import STANDS_FOR, Function, KindFacts

Env = dict[str, P.Value]


def program_of(
    function: Function, kinds: KindFacts, changes: Mapping[Any, Sequence[str]]
) -> P.Program:
    """Return the program of a function; `changes` are the names whose memory statements write."""
    facts = _Facts(function, kinds, C.cells(function, kinds), changes)
    writer = _Writer(facts, {}, [])
    entry = kinds.before.get(function.node.body[0], {})
    params = tuple(Var(p, entry.get(p, K.UNKNOWN)) for p in function.params)
    for v in params:
        writer.bound(v)
    end = writer.statements(function.node.body[:-1])
    if end is None:
        result = writer.read(function.result, function.node.body[-1].value)
        end = P.End("next", (result,))
    body = P.Block(params, tuple(writer.ops), end)
    return P.Program(function.name, body, function.node)


@dataclass(frozen=True)
class _Facts:
    """What is known of the function at hand."""

    function: Function
    kinds: KindFacts
    cells: C.Cells
    changes: Mapping[Any, Sequence[str]]

    def after(self, s: Node, word: str) -> Kind:
        """Return the kind of a name behind a statement."""
        return self.kinds.after.get(s, {}).get(word, K.UNKNOWN)


@dataclass
class _Writer:
    """One block in the making: the bindings that hold here, and the operations so far.

    `at` is the statement that is being taken apart, `own` are the names of comprehensions around,
    which no cell holds, `leaves` what the loop around binds for those behind it.
    """

    facts: _Facts
    env: Env
    ops: list[P.Operation]
    at: Node = None
    own: frozenset[str] = frozenset()
    leaves: tuple[str, ...] = ()
    cell: dict[str, Var] = field(default_factory=dict)

    # names

    def bound(self, v: Var) -> None:
        """Let a name mean a variable from here on; a cell gets its content."""
        if self.is_cell(v.name):
            self.act(L.BIND, (self.held(v.name), v), (Place(self.held(v.name)),))
            return
        self.env[v.name] = v

    def is_cell(self, word: str) -> bool:
        return word in self.facts.cells.names and word not in self.own

    def held(self, word: str) -> Var:
        """Return the cell of a name."""
        if word not in self.cell:
            self.cell[word] = Var(word, K.UNKNOWN, True)
        return self.cell[word]

    def read(self, word: str, node: Node) -> P.Value:
        """Return what a name means here."""
        kind = self.kind(node)
        if self.is_cell(word):
            cell = self.held(word)
            return self.emit(L.LOOK, (cell,), kind, reads=(Place(cell),))
        if word in self.env:
            return self.env[word]
        if word in self.facts.function.locals:
            return P.Unbound(word)
        return P.Outer(word, kind)

    def kind(self, node: Node) -> Kind:
        return self.facts.kinds.of.get(node, K.UNKNOWN)

    def emit(
        self,
        primitive: Primitive,
        operands: Sequence[Operand],
        kind: Kind = K.UNKNOWN,
        word: str = "",
        reads: tuple[Place, ...] = (),
        writes: tuple[Place, ...] = (),
        settings: tuple[tuple[str, Operand | P.Code], ...] = (),
    ) -> Var:
        """Add a call of a primitive that gives one value."""
        out = Var(word, kind)
        self.ops.append(Op((out,), primitive, tuple(operands), settings, reads, writes, self.at))
        return out

    def act(
        self,
        primitive: Primitive,
        operands: Sequence[Operand],
        writes: tuple[Place, ...] = (),
        settings: tuple[tuple[str, Operand | P.Code], ...] = (),
    ) -> None:
        """Add a call of a primitive that gives no value."""
        self.ops.append(Op((), primitive, tuple(operands), settings, (), writes, self.at))

    # blocks

    def inner(self) -> _Writer:
        """Return what writes a block inside of this one."""
        return _Writer(self.facts, dict(self.env), [], self.at, self.own, self.leaves, self.cell)

    def block(self, end: P.End, params: tuple[Var, ...] = ()) -> P.Block:
        return P.Block(params, tuple(self.ops), end)

    def arm(self, body: Block) -> _Arm:
        """Walk a block of statements: what it does, and how it ends."""
        inner = self.inner()
        how = inner.statements(body)
        return _Arm(inner, how)

    def joined(self, arms: Sequence[_Arm], live: frozenset[str], s: Node) -> tuple[Var, ...]:
        """Return the results of a region: names that its arms bind, and that somebody reads."""
        ends = [a.writer.env for a in arms if a.end is None]
        words = sorted(
            word
            for word in live & frozenset().union(*ends, frozenset())
            if any(env.get(word) is not self.env.get(word) for env in ends)
        )
        return tuple(Var(word, self.facts.after(s, word)) for word in words)

    def statements(self, body: Block) -> P.End | None:
        """Take a block apart; return how it ends, None where what stands behind it is next."""
        for s in body:
            if s in self.facts.kinds.decided:
                end = self.statements(s.body if self.facts.kinds.decided[s] else s.orelse)
            else:
                self.at = s
                start, changed = len(self.ops), self.changed(s)  # under the names of before
                end = self.statement(s)
                self.effects(changed, start)
            if end is not None:
                return end
        return None

    def effects(self, changed: tuple[Place, ...], start: int) -> None:
        """Let the last operation of a statement write what no call in it was seen to write."""
        made = [op for op in self.ops[start:] if isinstance(op, Op)]
        known = {place.object for op in made for place in op.writes}
        missing = tuple(place for place in changed if place.object not in known)
        if not missing or not made:
            return
        op = made[-1]
        writes = (*op.writes, *missing)
        self.ops[self.ops.index(op)] = dataclasses.replace(op, writes=writes)

    def changed(self, s: Node) -> tuple[Place, ...]:
        """Return the memory that a statement may write, as far as names tell."""
        names = self.facts.changes.get(s, ())
        found = [self.held(n) if self.is_cell(n) else self.env.get(n) for n in names]
        return tuple(Place(v, (P.Anywhere(),)) for v in found if isinstance(v, Var))

    def statement(self, s: Node) -> P.End | None:
        match s:
            case gast.Assign():
                self.assign(s)
            case gast.AugAssign():
                self.augment(s)
            case gast.Expr():
                self.act(L.DISCARD, (self.value(s.value),))
            case gast.If():
                self.branch(s)
            case gast.For():
                self.loop(s)
            case gast.While():
                self.repeat(s)
            case gast.Try():
                self.attempt(s)
            case gast.With():
                self.entered(s, list(s.items))
            case gast.Match():
                self.match(s)
            case gast.Assert():
                self.asserted(s)
            case gast.Delete():
                for target in s.targets:
                    self.drop(target)
            case gast.FunctionDef():
                made = self.closure(s, s.args, s.name)
                self.bound(made)
            case gast.Break():
                return P.End("break", self.given(self.leaves), s)
            case gast.Raise():
                given = [self.value(v) for v in (s.exc, s.cause) if v is not None]
                return P.End("raise", tuple(given), self.facts.function.origins.get(s, s))
            case gast.Pass():
                pass
            case _:
                self.whole(s)
        return None

    def assign(self, s: Node) -> None:
        (target,) = s.targets
        marks = tuple((w, getattr(s, w)) for w in MARKS if hasattr(s, w))
        if isinstance(target, gast.Name) and self.is_cell(target.id):
            cell = self.held(target.id)
            self.act(L.BIND, (cell, self.value(s.value)), (Place(cell),), marks)
            return
        if isinstance(target, gast.Name):
            value = self.value(s.value, target.id)
            v = value if isinstance(value, Var) else None
            if v is None or not self.is_new(v) or v.name != target.id:
                value = self.emit(L.SAME, (value,), self.facts.after(s, target.id), target.id)
            assert isinstance(value, Var)
            if marks:
                self.marked(marks)
            self.bound(value)
            return
        value = self.value(s.value)
        if isinstance(target, gast.Tuple | gast.List):
            outs = tuple(Var(t.id, self.facts.after(s, t.id)) for t in target.elts)
            shape = (("list", True),) if isinstance(target, gast.List) else ()
            reads = self.content(value)
            self.ops.append(Op(outs, L.UNPACK, (value,), shape, reads, (), s))
            for v in outs:
                self.bound(v)
            return
        if isinstance(target, gast.Subscript):
            owner, index = self.value(target.value), self.value(target.slice)
            place = self.place(owner, P.Item(index))
            part = (("part", self.kind(target)), *marks)
            self.act(L.PUT_ITEM, (owner, index, value), place, part)
            return
        owner = self.value(target.value)
        place = self.place(owner, P.Field(target.attr))
        self.act(L.put_field(target.attr), (owner, value), place, marks)

    def marked(self, marks: tuple[tuple[str, Any], ...]) -> None:
        """Say of the last operation how NumPy copies there."""
        op = self.ops[-1]
        assert isinstance(op, Op)
        self.ops[-1] = dataclasses.replace(op, settings=(*op.settings, *marks))

    def is_new(self, v: Var) -> bool:
        """Say whether the last operation binds a variable."""
        return bool(self.ops) and v in self.ops[-1].outs

    def augment(self, s: Node) -> None:
        word = type(s.op).__name__
        target = s.target
        marks = tuple((w, getattr(s, w)) for w in MARKS if hasattr(s, w))
        part = (("part", self.kind(target)), *marks)  # the kind of what is read and written
        if isinstance(target, gast.Name):
            old = self.read(target.id, target)
            value = self.value(s.value)
            kind = self.facts.after(s, target.id)
            writes = self.content(old) if not K.shares_nothing(self.kind(target)) else ()
            augmented = L.AUGMENTED[word]
            out = self.emit(augmented, (old, value), kind, target.id, (), writes, marks)
            self.bound(out)
            return
        owner = self.value(target.value)
        if isinstance(target, gast.Subscript):
            index = self.value(target.slice)
            value = self.value(s.value)
            place = self.place(owner, P.Item(index))
            if hasattr(s, "each"):
                given = self.value(s.each), owner, index, value
                self.act(L.EACH_ITEM[word], given, place, marks)
                return
            self.act(L.AUGMENTED_ITEM[word], (owner, index, value), place, part)
            return
        value = self.value(s.value)
        place = self.place(owner, P.Field(target.attr))
        self.act(L.augmented_field(target.attr, word), (owner, value), place, part)

    def drop(self, target: Node) -> None:
        if isinstance(target, gast.Name):
            cell = self.held(target.id)
            self.act(L.FORGET, (cell,), (Place(cell),))
        elif isinstance(target, gast.Subscript):
            owner, index = self.value(target.value), self.value(target.slice)
            self.act(L.DROP_ITEM, (owner, index), self.place(owner, P.Item(index)))
        else:
            owner = self.value(target.value)
            place = self.place(owner, P.Field(target.attr))
            self.act(L.drop_field(target.attr), (owner,), place)

    def whole(self, s: Node) -> None:
        """Keep a statement as it is written: an import, a class, a declaration."""
        if not isinstance(s, gast.Import | gast.ImportFrom | gast.ClassDef | DECLARATIONS):
            raise NotImplementedError(f"the program knows no {type(s).__name__}")
        words, given = ((), ()) if isinstance(s, DECLARATIONS) else self.captured(s)
        cells = tuple(self.held(n) for n in sorted(C.bound_by(s)) if self.is_cell(n))
        writes = tuple(map(Place, cells))
        names = (*(c.name for c in cells), *words)
        self.act(L.STATEMENT, (*cells, *given), writes, (("code", s), ("names", names)))

    def given(self, words: Sequence[str]) -> tuple[P.Value, ...]:
        """Return what some names mean here."""
        return tuple(self.env.get(w, P.Unbound(w)) for w in words)

    # regions

    def branch(self, s: Node) -> None:
        test = self.value(s.test)
        arms = self.arm(s.body), self.arm(s.orelse)
        outs = self.joined(arms, self.facts.cells.live(s), s)
        then, orelse = (a.ended(outs) for a in arms)
        self.region(P.If(outs, test, then, orelse, "if", s))

    def region(self, region: P.Region) -> None:
        """Add a region, and bind its results."""
        self.ops.append(region)
        for v in region.outs:
            self.bound(v)

    def asserted(self, s: Node) -> None:
        test = self.value(s.test)
        inner = self.inner()
        given = () if s.msg is None else (inner.value(s.msg),)
        fails = inner.block(P.End("raise", given))
        goes_on = P.Block((), (), P.End("next"))
        self.ops.append(P.If((), test, goes_on, fails, "assert", s))

    def carried(self, s: Node, body: Block, also: set[str]) -> tuple[list[str], list[str]]:
        """Return the names that a loop carries, and those read behind it: they come first."""
        written = {n for part in body for n in names_written(part)} | also
        written = {n for n in written if not self.is_cell(n)}
        written &= self.facts.function.locals
        behind = self.facts.cells.live(s) & written
        again = self.facts.cells.again(s) & written
        return [*sorted(behind), *sorted(again - behind)], sorted(behind)

    def loop(self, s: Node) -> None:
        over = self.value(s.iter)
        targets = names_written(s.target)
        words, behind = self.carried(s, s.body, targets)
        params = tuple(Var(w, self.facts.cells.head(s, w)) for w in words)
        starts = self.given(words)
        inner = self.inner()
        inner.leaves = tuple(behind)
        inner.env |= {v.name: v for v in params}
        first = s.body[0] if s.body else s
        before = self.facts.kinds.before.get(first, {})
        target = inner.target(s.target, before)
        for v in P.flat(target):
            inner.bound(v)
        arm = _Arm(inner, inner.statements(s.body))
        outs = tuple(Var(w, self.facts.after(s, w)) for w in behind)
        body = arm.looped(params)
        self.region(P.For(outs, over, target, starts, body, s))

    def target(self, node: Node, kinds: Mapping[str, Kind]) -> P.Target:
        """Return the variables that the header of a loop binds."""
        if isinstance(node, gast.Name):
            return Var(node.id, kinds.get(node.id, K.UNKNOWN))
        if isinstance(node, gast.Tuple | gast.List):
            return tuple(self.target(part, kinds) for part in node.elts)
        raise NotImplementedError(f"a loop that binds a {type(node).__name__}")

    def repeat(self, s: Node) -> None:
        words, behind = self.carried(s, s.body, set())
        params = tuple(Var(w, self.facts.cells.head(s, w)) for w in words)
        starts = self.given(words)
        looks = self.inner()
        looks.leaves = tuple(behind)
        looks.env |= {v.name: v for v in params}
        test = looks.block(P.End("next", (looks.value(s.test),)))
        looks.ops = []
        arm = looks.arm(s.body)
        outs = tuple(Var(w, self.facts.after(s, w)) for w in behind)
        body = arm.looped(params, bind=False)
        self.region(P.While(outs, params, starts, test, body, s))

    def attempt(self, s: Node) -> None:
        main = self.arm(s.body)
        then = main.writer.arm(s.orelse)
        caught = []
        for h in s.handlers:
            looks = self.inner()
            kind = None
            if h.type is not None:
                kind = looks.block(P.End("next", (looks.value(h.type),)))
                looks.ops = []
            v = Var(h.name.id, K.UNKNOWN) if h.name is not None else None
            if v is not None:
                looks.bound(v)
            caught.append((kind, v, _Arm(looks, looks.statements(h.body))))
        arms = [then if main.end is None else main, *(a for _, _, a in caught)]
        last = self.arm(s.finalbody)
        live = self.facts.cells.live(s)
        closing = self.joined([last], live, s)
        outs = self.joined(arms, live - {v.name for v in closing}, s)
        body = main.ended(()) if main.end is not None else main.plain()
        handlers = tuple(P.Handler(k, v, a.ended(outs)) for k, v, a in caught)
        orelse = then.ended(outs) if main.end is None else P.Block((), (), P.End("next"))
        both = (*outs, *closing)
        self.region(P.Try(both, body, handlers, orelse, last.ended(closing), s))

    def entered(self, s: Node, items: list[Node]) -> None:
        item, *rest = items
        manager = self.value(item.context_expr)
        inner = self.inner()
        target = None
        if item.optional_vars is not None:
            first = s.body[0] if s.body else s
            target = inner.target(item.optional_vars, self.facts.kinds.before.get(first, {}))
            for v in P.flat(target):
                inner.bound(v)
        end = None
        if rest:
            inner.entered(s, rest)
        else:
            end = inner.statements(s.body)
        arm = _Arm(inner, end)
        outs = self.joined([arm], self.facts.cells.live(s), s)
        self.region(P.With(outs, manager, target, arm.ended(outs), s))

    def match(self, s: Node) -> None:
        subject = self.value(s.subject)
        found = []
        for case in s.cases:
            inner = self.inner()
            first = case.body[0] if case.body else s
            known = self.facts.kinds.before.get(first, {})
            words = sorted(names_written(case.pattern))
            bound = tuple(Var(w, known.get(w, K.UNKNOWN)) for w in words)
            for v in bound:
                inner.bound(v)
            guard = None
            if case.guard is not None:
                guard = inner.block(P.End("next", (inner.value(case.guard),)))
                inner.ops = []
            found.append((case, bound, guard, _Arm(inner, inner.statements(case.body))))
        arms = [a for *_, a in found] + [_Arm(self.inner(), None)]
        outs = self.joined(arms, self.facts.cells.live(s), s)
        cases = [P.Case(c.pattern, bound, g, a.ended(outs)) for c, bound, g, a in found]
        if not exhaustive(s):
            cases.append(P.Case(None, (), None, arms[-1].ended(outs)))
        self.region(P.Match(outs, subject, tuple(cases), s))

    # expressions

    def place(self, owner: Operand, step: P.Step) -> tuple[Place, ...]:
        return (Place(owner, (step,)),) if isinstance(owner, Var | P.Outer) else ()

    def content(self, owner: Operand) -> tuple[Place, ...]:
        return (Place(owner),) if isinstance(owner, Var | P.Outer) else ()

    def value(self, node: Node, word: str = "") -> P.Value:
        """Return what an expression gives; `word` is the name that it gets, if it computes."""
        kind = self.kind(node)
        match node:
            case gast.Constant():
                return P.Const(node.value)
            case gast.Name():
                return self.read(node.id, node)
            case gast.BinOp():
                given = self.value(node.left), self.value(node.right)
                return self.emit(L.INFIX[type(node.op).__name__], given, kind, word)
            case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=number)) if type(
                number
            ) in (int, float):
                return P.Const(-number)
            case gast.UnaryOp():
                operand = self.value(node.operand)
                return self.emit(L.PREFIX[type(node.op).__name__], (operand,), kind, word)
            case gast.Compare():
                return self.compare(node, kind, word)
            case gast.BoolOp():
                return self.chosen(node, list(node.values), kind, word)
            case gast.IfExp():
                test = self.value(node.test)
                return self.either(test, node.body, node.orelse, kind, word)
            case gast.Attribute():
                path = self.dotted(node)
                if path is not None:
                    return P.Outer(path, kind)
                owner = self.value(node.value)
                reads = self.place(owner, P.Field(node.attr))
                return self.emit(L.field(node.attr), (owner,), kind, word, reads)
            case gast.Subscript():
                owner, index = self.value(node.value), self.value(node.slice)
                reads = self.place(owner, P.Item(index))
                return self.emit(L.ITEM, (owner, index), kind, word, reads)
            case gast.Slice():
                parts = (node.lower, node.upper, node.step)
                bounds = [P.Const(None) if n is None else self.value(n) for n in parts]
                told = tuple(n is not None for n in parts)
                if not all(K.shares_nothing(v.kind) for v in bounds if isinstance(v, Var)):
                    kind = K.UNKNOWN  # a bound is an array, which may change while the slice lives
                return self.emit(L.SLICE, bounds, kind, word, settings=(("given", told),))
            case gast.Call():
                return self.call(node, kind, word)
            case gast.Tuple() | gast.List() | gast.Set():
                primitive = {gast.Tuple: L.TUPLE, gast.List: L.LIST, gast.Set: L.SET}[type(node)]
                return self.emit(primitive, self.each(node.elts), kind, word)
            case gast.Dict():
                return self.emit(L.DICT, self.entries(node), kind, word)
            case gast.Starred():
                raise NotImplementedError("a starred expression stands in a display or a call")
            case gast.JoinedStr():
                return self.text(node, kind, word)
            case gast.Lambda():
                return self.closure(node, node.args, word)
            case gast.GeneratorExp():
                return self.closure(node, None, word)
            case gast.ListComp() | gast.SetComp() | gast.DictComp():
                return self.collected(node, kind, word)
            case gast.NamedExpr():
                value = self.value(node.value)
                cell = self.held(node.target.id)
                return self.emit(L.BIND_INSIDE, (cell, value), kind, "", (), (Place(cell),))
        raise NotImplementedError(f"the program knows no {type(node).__name__}")

    def each(self, nodes: Sequence[Node]) -> list[Operand]:
        """Return the operands of a display or a call, starred ones as they are."""
        found: list[Operand] = []
        for n in nodes:
            if isinstance(n, gast.Starred):
                found.append(P.Spread(_read(self.value(n.value))))
            else:
                found.append(self.value(n))
        return found

    def entries(self, node: Node) -> list[Operand]:
        found: list[Operand] = []
        for k, v in zip(node.keys, node.values, strict=True):
            if k is None:
                found.append(P.Spread(_read(self.value(v)), True))
            else:
                found += [self.value(k), self.value(v)]
        return found

    def compare(self, node: Node, kind: Kind, word: str) -> P.Value:
        """Compare; what stands third in a chain is computed only where the first pair holds."""
        given = [self.value(node.left), self.value(node.comparators[0])]
        later = self.inner()
        rest = [later.value(n) for n in node.comparators[1:]]
        if not all(isinstance(o, Op) and o.primitive.effect in _CALM for o in later.ops):
            first = self.emit(L.compare(type(node.ops[0]).__name__), given, kind)
            return self.chained(node, 1, (first, given[1]), kind, word)
        self.ops += later.ops
        words = " ".join(type(o).__name__ for o in node.ops)
        return self.emit(L.compare(words), [*given, *rest], kind, word)

    def chained(
        self, node: Node, at: int, before: tuple[P.Value, P.Value], kind: Kind, word: str
    ) -> P.Value:
        """`a < b < f()` is `a < b and b < f()` with one b; `before` are that test, and b."""
        first, left = before
        later = self.inner()
        right = later.value(node.comparators[at])
        found: P.Value = later.emit(L.compare(type(node.ops[at]).__name__), (left, right), kind)
        if at + 1 < len(node.ops):
            found = later.chained(node, at + 1, (found, right), kind, "")
        arms = later.block(P.End("next", (found,))), P.Block((), (), P.End("next", (first,)))
        out = Var(word, kind)
        self.ops.append(P.If((out,), first, *arms, "and" if at == 1 else "also", self.at))
        return out

    def chosen(
        self, node: Node, values: list[Node], kind: Kind, word: str, also: bool = False
    ) -> P.Value:
        """`a and b` is an if: b is computed only where a holds, and a is the result else."""
        first = self.value(values[0])
        later = self.inner()
        rest = values[1:]
        found = later.value(rest[0]) if len(rest) == 1 else later.chosen(node, rest, kind, "", True)
        other = later.block(P.End("next", (found,)))
        kept = P.Block((), (), P.End("next", (first,)))
        out = Var(word, kind)
        is_and = isinstance(node.op, gast.And)
        style: P.Style = "also" if also else "and" if is_and else "or"
        arms = (other, kept) if is_and else (kept, other)
        self.ops.append(P.If((out,), first, *arms, style, self.at))
        return out

    def either(self, test: P.Value, body: Node, orelse: Node, kind: Kind, word: str) -> P.Value:
        arms = []
        for part in (body, orelse):
            inner = self.inner()
            arms.append(inner.block(P.End("next", (inner.value(part),))))
        out = Var(word, kind)
        self.ops.append(P.If((out,), test, arms[0], arms[1], "either", self.at))
        return out

    def dotted(self, node: Node) -> str | None:
        """Return the path of an attribute of a module or class from outside: `np.linalg`.

        Of a function such as `np.sum` the whole path is known, and none of its owners is asked.
        """
        parts = []
        whole = node in self.facts.kinds.objects or isinstance(self.kind(node), K.Known)
        while isinstance(node, gast.Attribute):
            parts.append(node.attr)
            node = node.value
            found = self.facts.kinds.of.get(node)
            if found is not None and not isinstance(found, K.Known):
                return None
            whole = whole or found is not None
        if not isinstance(node, gast.Name):
            return None
        outside = node.id not in self.env and not self.is_cell(node.id)
        if not outside or node.id in self.facts.function.locals:
            return None
        space = getattr(self.facts.function.source.fn, "__globals__", {})
        if not whole and not isinstance(space.get(node.id), types.ModuleType):
            return None
        return ".".join([node.id, *reversed(parts)])

    def call(self, node: Node, kind: Kind, word: str) -> P.Value:
        func = node.func
        primitive, given = L.CALL, []
        if isinstance(func, gast.Attribute) and self.dotted(func) is None:
            primitive = L.method(func.attr)
            func = func.value
        fn = self.facts.kinds.objects.get(func)
        path = self.dotted(func) if isinstance(func, gast.Attribute) else None
        if path is not None and fn is not None:
            callee: Operand = P.Outer(path, K.Known(fn))
        else:
            callee = self.value(func)
        given = [callee, *self.each(node.args)]
        settings = [
            (k.arg or "", P.Spread(_read(self.value(k.value)), True) if k.arg is None else v)
            for k in node.keywords
            for v in [self.value(k.value) if k.arg is not None else P.Const(None)]
        ]
        writes = self.changed(self.at)
        held = (P.variable(v) for v in (*given, *(v for _, v in settings)))
        reads = tuple(
            Place(v, (P.Anywhere(),)) for v in held if v is not None and not shares_nothing(v.kind)
        )
        return self.emit(primitive, given, kind, word, reads, writes, tuple(settings))

    def text(self, node: Node, kind: Kind, word: str) -> P.Value:
        """Return an f-string: its expressions are operands, the rest stays as it is written."""
        table: dict[Node, Node] = {}
        operands = []
        for n in _formatted(node):
            operands.append(self.value(n))
            table[n] = name(f"_{len(table)}")
        code = _with_holes(node, table)
        return self.emit(L.TEXT, operands, kind, word, settings=(("code", code),))

    def captured(self, node: Node) -> tuple[tuple[str, ...], tuple[Operand, ...]]:
        """Return the names that an inner scope reads from outside, and what they mean."""
        found: dict[str, Operand] = {}
        for n in sorted(C.outside_names(node)):
            if self.is_cell(n):
                found[n] = self.held(n)
            elif isinstance(self.env.get(n), Var):
                found[n] = self.env[n]
        return tuple(found), tuple(found.values())

    def closure(self, node: Node, args: Node, word: str) -> Var:
        """Return an inner function: its code, with what its names mean here as operands."""
        kind = self.kind(node)
        if isinstance(node, gast.FunctionDef):
            kind = self.facts.after(node, node.name)
        rebound = {n for s in walk(node) if isinstance(s, gast.Nonlocal) for n in s.names}
        writes = tuple(Place(self.held(n)) for n in sorted(rebound) if self.is_cell(n))
        words, captured = self.captured(node)
        code = (("code", node), ("names", words))
        return self.emit(L.CLOSURE, captured, kind, word, (), writes, code)

    def collected(self, node: Node, kind: Kind, word: str) -> P.Value:
        how = {gast.ListComp: "list", gast.SetComp: "set", gast.DictComp: "dict"}[type(node)]
        self.loops(node, list(node.generators), how, Var(word, kind))
        made = self.ops[-1]
        assert isinstance(made, P.Collect)
        return made.outs[0]

    def loops(self, node: Node, turns: list[Node], how: str, out: Var | None) -> None:
        """Add the loops of a comprehension, each inside of the one before."""
        turn, *rest = turns
        over = self.value(turn.iter)
        inner = self.inner()
        inner.own = self.own | names_written(turn.target)
        target = inner.target(turn.target, _kinds_of(turn.target, self.facts.kinds))
        inner.env |= {v.name: v for v in P.flat(target)}
        body = inner.filtered(node, list(turn.ifs), rest)
        outs = (out,) if out is not None else ()
        self.ops.append(P.Collect(outs, how, over, target, body, self.at))  # type: ignore[arg-type]

    def filtered(self, node: Node, tests: list[Node], rest: list[Node]) -> P.Block:
        """Return the block of one loop of a comprehension."""
        if tests:
            test = self.value(tests[0])
            then = self.inner()
            block = then.filtered(node, tests[1:], rest)
            other = P.Block((), (), P.End("next"))
            self.ops.append(P.If((), test, block, other, "filter", self.at))
            return self.block(P.End("next"))
        if rest:
            self.loops(node, rest, "inner", None)
            return self.block(P.End("next"))
        parts = (node.key, node.value) if isinstance(node, gast.DictComp) else (node.elt,)
        return self.block(P.End("yield", tuple(self.value(part) for part in parts)))


@dataclass(frozen=True)
class _Arm:
    """A block that has been walked, and how it ended."""

    writer: _Writer
    end: P.End | None

    def results(self, outs: tuple[Var, ...]) -> tuple[Operand, ...]:
        return tuple(self.writer.env.get(v.name, P.Unbound(v.name)) for v in outs)

    def ended(self, outs: tuple[Var, ...]) -> P.Block:
        """Return the block; where it goes on, it hands over what its region binds."""
        return self.writer.block(self.end or P.End("next", self.results(outs)))

    def plain(self) -> P.Block:
        return self.writer.block(P.End("next"))

    def looped(self, params: tuple[Var, ...], bind: bool = True) -> P.Block:
        """Return the body of a loop, which hands over what the next round starts with."""
        end = self.end or P.End("next", self.results(params))
        return self.writer.block(end, params if bind else ())


def _read(value: P.Value) -> Var | P.Const | P.Outer:
    assert not isinstance(value, P.Unbound), "a name that is not bound is unpacked"
    return value


def _kinds_of(target: Node, kinds: KindFacts) -> dict[str, Kind]:
    return {n.id: kinds.of.get(n, K.UNKNOWN) for n in walk(target) if isinstance(n, gast.Name)}


def _formatted(node: Node) -> Iterator[Node]:
    """Yield the expressions of an f-string, those of nested ones included."""
    for part in node.values:
        if isinstance(part, gast.FormattedValue):
            yield part.value
            if part.format_spec is not None:
                yield from _formatted(part.format_spec)


def _with_holes(node: Node, table: Mapping[Node, Node]) -> Node:
    """Return an f-string with names in the place of its expressions."""
    parts = []
    for part in node.values:
        if isinstance(part, gast.FormattedValue):
            spec = None
            if part.format_spec is not None:
                spec = _with_holes(part.format_spec, table)
            part = gast.FormattedValue(table[part.value], part.conversion, spec)
        parts.append(part)
    return gast.JoinedStr(parts)


DECLARATIONS = gast.Global | gast.Nonlocal
_CALM = ("none", "reads")
MARKS = ("each", *STANDS_FOR)
