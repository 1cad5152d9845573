"""Several directions abreast: values are computed once, tangents once for each direction.

    c = np.cos(x)                  c = np.cos(x)
    y_dot = x_dot * c       ->     y_dots = [x_dot * c for x_dot in x_dots]
    A[0] = x                       A[0] = x
    A_dot[0] = x_dot        ->     for A_dot, x_dot in zip(A_dots, x_dots):
                                       A_dot[0] = x_dot

Before: a program for one direction, and which of its variables are tangents. After: one in which a
list holds as many tangents of x as there are directions. Operations that lead to one tangent stand
in one loop; what reads no tangents stays before it, and is computed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir import rebuilt as R
from s2sad.ir.effects import commute, footprint
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.directions import Passed, derived, read
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Table
from s2sad.primitives import language as L

_ZIP = P.Outer("zip", K.Known(zip))


@dataclass(frozen=True)
class Asked:
    """What is to be done in several directions.

    `dots` are the tangents, `passed` says which tangents derived functions take, tangents with
    names in `temps` need none, and `seeded` says that the function gives a value and its tangent.
    """

    table: Table
    dots: frozenset[Var]
    passed: Passed
    temps: frozenset[str]
    seeded: bool

    def named(self, dot: str) -> str:
        """Return the name of a list of tangents."""
        return self.table.names.several(dot)

    def loose(self, v: Var) -> bool:
        """Say whether a tangent needs no name."""
        return not v.name or v.name in self.temps

    def cannot(self, at: P.Operation | None) -> Exception:
        """Return an error about what tells directions apart, or the values from them."""
        return self.table.cannot(
            at.origin if at is not None else None,
            "s2sad cannot compute the derivative of this in several directions at once.",
            "Use s2sad.jvp, which follows one direction, or a gradient.",
        )


def abreast(program: P.Program, given: Sequence[Var], asked: Asked) -> P.Program:
    """Return a program for several directions; the tangents `given` are its last parameters."""
    uses = Counter(v for op in program.block.ops for v in read(op))
    uses.update(v for v in map(P.variable, program.block.end.results) if v is not None)
    lists = {v: _list_of(asked, v) for v in given}
    pair = program.block.end.results if asked.seeded else ()
    worker = _Worker(
        asked, uses, lists, lists[given[0]], pair, _discarded(program), _placed(program)
    )
    params = tuple(lists.get(v, v) for v in program.block.params)
    ops = worker.ops(program.block.ops, ())
    return replace(program, block=P.Block(params, ops, program.block.end))


def _discarded(program: P.Program) -> frozenset[Operand]:
    """Return the values that nobody reads, where it is said behind what computes them."""
    listed = [program.block, *(b for o in P.every(program.block) for b in _blocks(o))]
    pairs = [pair for block in listed for pair in pairwise(block.ops)]
    return frozenset(
        op.operands[0]
        for before, op in pairs
        if isinstance(op, Op) and op.primitive is L.DISCARD and op.operands[0] in before.outs
    )


def _placed(program: P.Program) -> frozenset[Operand]:
    """Return the indices of the places that are read or written."""
    ops = [op for op in P.every(program.block) if isinstance(op, Op)]
    steps = [s for op in ops for p in (*op.reads, *op.writes) for s in p.path]
    return frozenset(s.index for s in steps if isinstance(s, P.Item))


def _blocks(operation: P.Operation) -> tuple[P.Block, ...]:
    return () if isinstance(operation, Op) else P.blocks(operation)


def _list_of(asked: Asked, v: Var) -> Var:
    return Var(asked.named(v.name), K.UNKNOWN if v.cell else K.List(v.kind), v.cell)


@dataclass
class _Worker:
    """Walks blocks. `lists` are the tangents in all directions, `first` is one of them.

    What is `pending` is put where it is used; `done` are the operations of the block at hand, of
    which one is worked `at`.
    """

    asked: Asked
    uses: Counter[Var]
    lists: dict[Var, Var]
    first: Var
    pair: tuple[Operand, ...]
    discarded: frozenset[Operand]
    placed: frozenset[Operand]
    pending: dict[Var, P.Operation] = field(default_factory=dict)
    done: list[P.Operation] = field(default_factory=list)
    at: P.Operation | None = None

    # blocks

    def ops(
        self,
        given: Iterable[P.Operation],
        leaves: tuple[Var, ...],
        last: Callable[[], None] = lambda: None,
    ) -> tuple[P.Operation, ...]:
        """Return operations in all directions; `last` adds what stands behind them."""
        outside = self.pending, self.done
        self.pending, self.done = {}, []
        for operation in given:
            self.at = operation
            if isinstance(operation, Op):
                self.op(operation)
            else:
                self.region(operation, leaves)
        last()
        self.all_put()
        found = tuple(self.done)
        self.pending, self.done = outside
        return found

    def block(self, block: P.Block, takes: tuple[Var, ...], leaves: tuple[Var, ...]) -> P.Block:
        end = block.end
        results: list[Operand] = list(end.results)
        params = tuple(map(self.bound, block.params))

        def last() -> None:
            if end.how in ("next", "break"):
                results[:] = self.handed(end.results, takes if end.how == "next" else leaves)

        ops = self.ops(block.ops, leaves, last)
        return P.Block(params, ops, replace(end, results=tuple(results)))

    def handed(self, results: Sequence[Operand], takes: tuple[Var, ...]) -> tuple[Operand, ...]:
        """Return what a block hands over: tangents in all directions to what takes such."""
        found = []
        for i, r in enumerate(results):
            several = i < len(takes) and takes[i] in self.asked.dots
            if not several and P.variable(r) in self.asked.dots:
                raise self.asked.cannot(self.at)
            found.append(self.listed(r) if several else r)
        return tuple(found)

    def bound(self, v: Var) -> Var:
        """Return what stands for a variable: a list of tangents for a tangent."""
        if v not in self.asked.dots:
            return v
        if v not in self.lists:
            self.lists[v] = _list_of(self.asked, v)
        return self.lists[v]

    def add(self, operation: P.Operation) -> None:
        """Add an operation behind what is pending and may not stand behind it.

        Nor does that wait which reads a name that gets another value here.
        """
        mine = footprint(operation)
        words = {v.name for v in operation.outs if not self.asked.loose(v)}
        needed = read(operation)
        for v, op in tuple(self.pending.items()):
            stays = commute(footprint(op), mine) and words.isdisjoint(r.name for r in read(op))
            if v in self.pending and (v in needed or not stays):
                self.put(self.root(v))
        if isinstance(operation, Op):
            reads, writes = (R.places(p, self.lists) for p in (operation.reads, operation.writes))
            operation = replace(operation, reads=reads, writes=writes)
        self.done.append(operation)

    def all_put(self) -> None:
        for v in tuple(self.pending):
            if v in self.pending:
                self.put(v)

    def root(self, v: Var) -> Var:
        """Return the pending tangent that a pending one is computed for."""
        user = next((w for w, op in self.pending.items() if v in read(op)), None)
        return v if user is None else self.root(user)

    def put(self, v: Var) -> None:
        """Compute what is pending: a tangent in all directions."""
        operation = self.pending.pop(v)
        if v in self.asked.dots:
            self.computed(self.gathered(operation), v)
            return
        for op in self.gathered(operation):
            self.add(op)

    def gathered(self, *operations: P.Operation) -> tuple[P.Operation, ...]:
        """Return operations behind the pending ones that they read."""
        wanted: set[Var] = set()
        more = [v for op in operations for v in read(op)]
        while more:
            v = more.pop()
            if v in self.pending and v not in wanted:
                wanted.add(v)
                more += read(self.pending[v])
        before = [self.pending.pop(v) for v in tuple(self.pending) if v in wanted]
        return (*before, *operations)

    # tangents

    def listed(self, operand: Operand) -> Operand:
        """Return tangents in all directions; what is no tangent is the same in all of them."""
        v = P.variable(operand)
        if isinstance(operand, P.Unbound):
            return P.Unbound(self.asked.named(operand.name))
        if v is None or v not in self.asked.dots:
            return self.repeated(operand)
        if v in self.pending:
            self.put(v)
        return self.lists[v]

    def repeated(self, operand: Operand) -> Var:
        kind = kind_of(operand)
        out = Var("", kind)
        made: tuple[P.Operation, ...] = ()
        value = operand
        if isinstance(kind, K.Array):
            value = Var("", kind)
            made = (Op((value,), L.method("copy"), (operand,)),)
        elif not isinstance(operand, P.Const) and not K.shares_nothing(kind):
            raise self.asked.cannot(self.at)
        held = Var("", K.List(out.kind))
        self.add(P.Collect((held,), "list", self.first, Var("_", K.UNKNOWN), _yields(made, value)))
        return held

    def through(self, body: Sequence[P.Operation]) -> tuple[Operand, P.Target, P.Block]:
        """Return what a loop over the directions runs over, what it binds, and its block."""
        made = {v for op in body for v in _all_bound(op)}
        used = [v for op in body for v in read(op) if v in self.asked.dots and v not in made]
        given = tuple(dict.fromkeys(used))
        inner = {v: Var(v.name, v.kind) for v in given}
        block = R.substituted(P.Block((), tuple(body), P.End("next")), inner)
        if not given:
            return self.first, Var("_", K.UNKNOWN), block
        if len(given) == 1:
            return self.listed(given[0]), inner[given[0]], block
        both = Var("", K.UNKNOWN)
        lists = [self.listed(v) for v in given]
        self.add(Op((both,), L.CALL, (_ZIP, *lists)))
        return both, tuple(inner[v] for v in given), block

    def computed(self, body: tuple[P.Operation, ...], v: Var) -> None:
        """Add the comprehension that computes a tangent in each direction."""
        over, target, block = self.through(body)
        made = P.Block((), block.ops, P.End("yield", (v,)))
        origin = body[-1].origin
        self.add(P.Collect((self.bound(v),), "list", over, target, made, origin))

    def in_turn(self, *operations: P.Operation) -> None:
        """Add a loop that writes into tangents in each direction."""
        body = self.gathered(*operations)
        over, target, block = self.through(body)
        self.add(P.For((), over, target, (), block, operations[0].origin))

    # operations

    def op(self, op: Op) -> None:
        dots = self.asked.dots
        names = derived(op, self.asked.passed)
        if names is not None:
            self.called(op, names)
        elif self.pair and op.outs == self.pair:
            value, dot, *beside = op.operands
            self.add(replace(op, operands=(value, self.listed(dot), *beside)))
        elif op.primitive.form in ("look", "bind", "forget"):
            self.of_cell(op)
        elif dots.isdisjoint(read(op)):
            if len(op.outs) == 1 and op.outs[0] in dots:
                self.made(op)
            elif self.is_index(op):
                self.pending[op.outs[0]] = op
            else:
                self.add(replace(op, outs=tuple(map(self.bound, op.outs))))
        elif op.primitive.form == "unpack":
            self.unpacked(op)
        elif op.primitive.form == "augmented":
            self.augmented(op)
        elif op.primitive.form == "discard":
            if op.operands[0] in self.pending:
                self.in_turn(op)
        elif not op.outs:
            self.in_turn(op)
        elif op.primitive is L.SAME and op.operands[0] not in self.pending:
            self.add(replace(op, outs=(self.bound(op.outs[0]),), operands=self.same(op)))
        else:
            self.made(op)

    def is_index(self, op: Op) -> bool:
        """Say whether an operation gives an index that is said where it is used."""
        if op.primitive.form not in ("slice", "tuple"):
            return False
        (out,) = op.outs
        return self.uses[out] == 1 and self.asked.loose(out) and out not in self.placed

    def same(self, op: Op) -> tuple[Operand, ...]:
        return tuple(map(self.listed, op.operands))

    def made(self, operation: P.Operation) -> None:
        """Take up what gives a tangent: it waits where one other operation of the block reads it.

        What writes waits for nothing but a statement that nobody reads what it gives.
        """
        (out,) = operation.outs
        waits = out in self.discarded if footprint(operation).acts else self.asked.loose(out)
        if waits and self.uses[out] == 1:
            self.pending[out] = operation
            return
        self.computed(self.gathered(operation), out)

    def of_cell(self, op: Op) -> None:
        """A variable that several bindings share holds a list, too."""
        cell, *values = op.operands
        if cell not in self.asked.dots:
            self.add(op)
            return
        assert isinstance(cell, Var)
        table = {cell: self.bound(cell)}
        given = tuple(map(self.listed, values))
        made = R.op_with(op, table)
        outs = tuple(map(self.bound, op.outs))
        self.add(replace(made, operands=(table[cell], *given), outs=outs))

    def unpacked(self, op: Op) -> None:
        """Turn what is taken apart: `a_dots, b_dots = zip(*p_dots)`."""
        self.turned(self.listed(op.operands[0]), op.outs, op.origin)

    def turned(self, several: Operand, parts: tuple[Var, ...], origin: P.Code) -> None:
        assert isinstance(several, Var)
        both = Var("", K.UNKNOWN)
        self.add(Op((both,), L.CALL, (_ZIP, P.Spread(several)), origin=origin))
        self.add(Op(tuple(map(self.bound, parts)), L.UNPACK, (both,), origin=origin))

    def augmented(self, op: Op) -> None:
        """`x_dot += y_dot` binds numbers anew; of arrays and lists the memory is written."""
        (out,), old = op.outs, op.operands[0]
        if isinstance(out.kind, K.Num):
            self.made(replace(op, primitive=L.INFIX[op.primitive.word], writes=()))
            return
        if not isinstance(old, Var) or old not in self.asked.dots:
            raise self.asked.cannot(op)
        if not isinstance(old.kind, K.Array | K.List):
            self.computed(self.gathered(op), out)
            return
        several = self.listed(old)
        assert isinstance(several, Var)
        self.in_turn(op)
        self.lists[out] = several

    def called(self, op: Op, names: tuple[str, ...]) -> None:
        """Call a derived function, which does all directions."""
        by_name = {n for n, _ in op.settings}
        operands, settings = list(op.operands), list(op.settings)
        if names and set(names) <= by_name:
            settings = [(n, self.listed(v) if n in names else v) for n, v in settings]
        else:
            at = len(operands) - len(names)
            operands[at:] = [self.listed(o) for o in operands[at:]]
        self.add(replace(op, operands=tuple(operands), settings=tuple(settings)))

    # regions

    def region(self, region: P.Region, leaves: tuple[Var, ...]) -> None:
        if isinstance(region, P.Collect) or self.decides(region):
            self.whole(region)
            return
        if isinstance(region, P.For):
            self.loop(region)
            return
        if not self.asked.dots.isdisjoint(map(P.variable, P.operands(region))) and not isinstance(
            region, P.While
        ):
            raise self.asked.cannot(region)
        self.all_put()
        match region:
            case P.If():
                takes = region.outs if region.style not in ("assert", "filter") else ()
                made: P.Region = R.with_blocks(region, lambda b: self.block(b, takes, leaves))
            case P.While():
                made = self.repeated_while(region)
            case P.With():
                made = R.with_blocks(region, lambda b: self.block(b, region.outs, leaves))
            case P.Match():
                made = self.matched(region, leaves)
            case P.Try():
                made = self.tried(region, leaves)
        self.add(replace(made, outs=tuple(map(self.bound, region.outs))))

    def decides(self, region: P.Region) -> bool:
        """Say whether a tangent decides what a branch does."""
        return isinstance(region, P.If) and P.variable(region.test) in self.asked.dots

    def whole(self, region: P.Region) -> None:
        """Put a region that computes tangents into a loop over the directions, as it is."""
        if self.asked.dots.isdisjoint(read(region)):
            self.all_put()
            self.add(region)
            return
        if len(region.outs) != 1 or footprint(region).acts:
            raise self.asked.cannot(region)
        if any(derived(op, self.asked.passed) is not None for op in _inside(region)):
            raise self.asked.cannot(region)
        self.made(region)

    def loop(self, region: P.For) -> None:
        over, target, first = self.header(region.over, region.target)
        self.all_put()
        params = region.body.params
        starts = self.handed(region.starts, params)
        body = self.loop_body(region, first)
        outs = tuple(map(self.bound, region.outs))
        self.add(P.For(outs, over, target, starts, body, region.origin))

    def loop_body(self, region: P.For, first: list[tuple[Var, P.Target]]) -> P.Block:
        """Return the body of a loop, which begins with taking apart what it binds."""
        params = tuple(map(self.bound, region.body.params))
        start = [op for held, target in first for op in self.taken_apart(held, target)]
        body = self.block(replace(region.body, params=()), region.body.params, region.outs)
        return P.Block(params, (*start, *body.ops), body.end)

    def header(
        self, over: Operand, target: P.Target
    ) -> tuple[Operand, P.Target, list[tuple[Var, P.Target]]]:
        """Return a target and what it runs over: tangents are run over in all directions.

        for x, x_dot in zip(xs, xs_dot)    ->    for x, x_dots in zip(xs, zip(*xs_dots))
        """
        v = P.variable(over)
        if v is None or v not in self.asked.dots:
            if not self.asked.dots.isdisjoint(P.flat(target)):
                raise self.asked.cannot(self.at)
            return over, target, []
        bound = P.flat(target)
        if self.asked.dots.issuperset(bound):
            return self.all_directions(over, target)
        made = self.pending.pop(v, None)
        fn = kind_of(made.operands[0]) if isinstance(made, Op) and made.operands else None
        called = fn.value if isinstance(fn, K.Known) else None
        if isinstance(made, Op) and isinstance(target, tuple):
            callee, *sources = made.operands
            if called is enumerate:
                inner, part, first = self.header(sources[0], target[1])
                again = self.again(made, (callee, inner, *sources[1:]))
                return again, (target[0], part), first
            if called is zip and len(sources) == len(target):
                parts = [self.header(s, t) for s, t in zip(sources, target, strict=True)]
                again = self.again(made, (callee, *(s for s, _, _ in parts)))
                return again, tuple(t for _, t, _ in parts), [f for _, _, fs in parts for f in fs]
        raise self.asked.cannot(self.at)

    def again(self, made: Op, operands: tuple[Operand, ...]) -> Var:
        out = Var("", K.UNKNOWN)
        self.add(replace(made, outs=(out,), operands=operands))
        return out

    def all_directions(
        self, over: Operand, target: P.Target
    ) -> tuple[Operand, P.Target, list[tuple[Var, P.Target]]]:
        several = self.listed(over)
        assert isinstance(several, Var)
        turned = Var("", K.UNKNOWN)
        self.add(Op((turned,), L.CALL, (_ZIP, P.Spread(several))))
        if isinstance(target, Var):
            return turned, self.bound(target), []
        held = Var(self.asked.named("items_dot"), K.UNKNOWN)
        return turned, held, [(held, target)]

    def taken_apart(self, held: Var, target: P.Target) -> list[P.Operation]:
        """Return `a_dots, b_dots = zip(*[(a, b) for (a, b) in held])`."""
        found = P.flat(target)
        inner = {v: Var(v.name, v.kind) for v in found}
        row, rows, both = Var("", K.UNKNOWN), Var("", K.List(K.UNKNOWN)), Var("", K.UNKNOWN)
        made = (Op((row,), L.TUPLE, tuple(inner.values())),)
        over = P.Collect((rows,), "list", held, _renamed(target, inner), _yields(made, row))
        turned = Op((both,), L.CALL, (_ZIP, P.Spread(rows)))
        parts = tuple(map(self.bound, found))
        return [over, turned, Op(parts, L.UNPACK, (both,))]

    def repeated_while(self, region: P.While) -> P.While:
        starts = self.handed(region.starts, region.carried)
        carried = tuple(map(self.bound, region.carried))
        if not self.asked.dots.isdisjoint(v for op in region.test.ops for v in read(op)):
            raise self.asked.cannot(region)
        body = self.block(region.body, region.carried, region.outs)
        return P.While(region.outs, carried, starts, region.test, body, region.origin)

    def matched(self, region: P.Match, leaves: tuple[Var, ...]) -> P.Match:
        cases = tuple(
            replace(c, body=self.block(c.body, region.outs, leaves)) for c in region.cases
        )
        return replace(region, cases=cases)

    def tried(self, region: P.Try, leaves: tuple[Var, ...]) -> P.Try:
        arms, final = region.of_arms, region.of_final
        body = self.block(region.body, (), leaves)
        handlers = tuple(replace(h, body=self.block(h.body, arms, leaves)) for h in region.handlers)
        orelse = self.block(region.orelse, arms, leaves)
        last = self.block(region.final, final, leaves)
        return P.Try(region.outs, body, handlers, orelse, last, region.origin)


def _yields(ops: tuple[P.Operation, ...], value: Operand) -> P.Block:
    return P.Block((), ops, P.End("yield", (value,)))


def _renamed(target: P.Target, inner: dict[Var, Var]) -> P.Target:
    if isinstance(target, Var):
        return inner[target]
    return tuple(_renamed(part, inner) for part in target)


def _all_bound(operation: P.Operation) -> list[Var]:
    """Return all variables that an operation, and the blocks in it, bind."""
    found = [*operation.outs, *P.bound(operation)]
    for block in _blocks(operation):
        found += block.params
        found += [v for op in block.ops for v in _all_bound(op)]
    return found


def _inside(region: P.Region) -> list[P.Operation]:
    return [op for block in P.blocks(region) for op in P.every(block)]
