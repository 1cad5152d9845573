"""Few statement shapes: one operation per assignment where a derivative may need it.

    x = z * z + x        ->        t = z * z
                                   x = t + x

Expressions that carry no derivative (tests, indices, f-strings) stay whole. What the loop header
binds becomes statements of its own, in terms of an index, so that a loop can be run backward:

    for i, x in enumerate(xs):   ->   bounds (len(xs),), index i, bindings: x = xs[i]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gast

from s2sad.capture.attempts import Attempts, whole_or_nothing
from s2sad.capture.desugar import denoted, desugar
from s2sad.capture.entries import fillable, is_entry
from s2sad.capture.expressions import Expressions, has_walrus
from s2sad.capture.lasting import lasting
from s2sad.capture.nonlocals import without_nonlocals
from s2sad.capture.patterns import without_captures
from s2sad.capture.segments import segments
from s2sad.capture.structure import structure
from s2sad.names import Names
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    assign,
    call,
    clone,
    constant,
    locate,
    name,
    names_read,
    names_written,
    rename,
    store,
    subscript,
    substitute,
    walk,
)
from s2sad.stages import Ahead, Function, Loop, SourceLike
from s2sad.syntax.elements import element, is_call, plain, rename_scoped
from s2sad.syntax.flow import free_names

_DICT_VIEWS = ("items", "values", "keys")
_RUN_OVER = ("range", "enumerate", "zip", "reversed")


def normalise(
    source: SourceLike,
    node: Any,
    taken: set[str],
    runner: Callable[[Any], str] | None = None,
) -> Function:
    """Return the Function of a definition. `taken` are further names that must not be made up.

    The `runner` gives the names of helpers of checkpointed loops, where those are not plain ones.
    """
    node = clone(node)
    identifiers = {n.id for n in walk(node) if isinstance(n, gast.Name)}
    identifiers |= {n.name for n in walk(node) if isinstance(n, gast.FunctionDef)}
    names = Names(identifiers | taken | {node.name})
    params = _parameters(node)
    declared, inner = _elsewhere(node.body)
    locals_ = set(params) | (_bound(node.body) - (declared - inner))
    body = [s for s in node.body if not _is_docstring(s)]
    outer = frozenset(locals_)

    def outside(node: Node) -> Any:
        return denoted(node, source.fn, set(outer))

    body = segments(body, outside, names, params, source.place, runner)
    locals_ |= _bound(body) - declared
    node.body = desugar(body, source.fn, names, locals_, params)
    shown = without_nonlocals(node, names)
    body = node.body
    declared, inner = _elsewhere(body)
    locals_ |= _bound(body) - (declared - inner)
    body, result = structure(body, names, source.place)
    worker = Normaliser(source, names, locals_)
    worker.outside = free_names(node)
    entries = fillable(body, locals_ - set(params))

    def catches_unbound(kind: Node | None) -> bool:
        kinds = kind.elts if isinstance(kind, gast.Tuple) else [kind]
        found = [denoted(k, source.fn, locals_) if k is not None else None for k in kinds]
        return any(not isinstance(c, type) or issubclass(UnboundLocalError, c) for c in found)

    worker.attempts = whole_or_nothing(body, params, result, names, entries, catches_unbound)
    worker.attempts.shown |= shown
    worker.temps |= worker.attempts.made
    worker.lasting, worker.body = lasting(body), body
    worker.fillable = fillable(body, locals_ - set(params))
    worker.rebound = inner
    out = worker.statements(body)
    out.append(gast.Return(name(result)))
    node.body = out
    return Function(
        source=source,
        node=node,
        params=params,
        origins=worker.origins,
        loops=worker.loops,
        temps=frozenset(worker.temps),
        locals=frozenset(
            locals_ | worker.temps | (_bound(out) - (declared - inner)) | worker.indices
        ),
        result=result,
        held=frozenset(worker.held),
        was=frozenset(worker.was),
        half=frozenset(worker.half),
        ahead=worker.ahead,
    )


def _parameters(node: Any) -> tuple[str, ...]:
    args = node.args
    found = [a.id for a in [*args.posonlyargs, *args.args]]
    if args.vararg:
        found.append(args.vararg.id)
    found += [a.id for a in args.kwonlyargs]
    if args.kwarg:
        found.append(args.kwarg.id)
    return tuple(found)


def _bound(body: Block) -> set[str]:
    found: set[str] = set()
    for statement in body:
        found |= names_written(statement)
    return found


def _reads(nodes: Block, variable: str) -> int:
    """Return how often a variable is read, in inner scopes too."""
    names = (n for node in nodes for n in gast.walk(node) if isinstance(n, gast.Name))
    return sum(n.id == variable and not isinstance(n.ctx, gast.Store) for n in names)


def _elsewhere(body: Block) -> tuple[set[str], set[str]]:
    """Return the names declared global or nonlocal, and those that inner functions rebind."""
    every = [n for s in body for n in walk(s)]
    declared = {n for s in every if isinstance(s, gast.Global | gast.Nonlocal) for n in s.names}
    inner = (s for f in every if isinstance(f, SCOPES) for s in walk(f))
    return declared, {n for s in inner if isinstance(s, gast.Nonlocal) for n in s.names}


def _is_docstring(statement: Node) -> bool:
    return (
        isinstance(statement, gast.Expr)
        and isinstance(statement.value, gast.Constant)
        and isinstance(statement.value.value, str)
    )


class Normaliser(Expressions):
    """Walks a structured body once; holds the block being written and the names made up.

    `half` are the tries, as they are written, that may be left half done, `was` the names of what
    is read before a value is computed that is added to it.
    """

    def __init__(self, source: SourceLike, names: Names, locals_: set[str]) -> None:
        super().__init__(source, names, locals_)
        self.attempts = Attempts()
        self.was: set[str] = set()
        self.half: set[Any] = set()
        self.lasting: frozenset[str] = frozenset()
        self.body: Block = []

    def statements(self, body: Block) -> Block:
        saved, self.out = self.out, []
        for statement in body:
            self.statement(statement)
        block, self.out = self.out, saved
        return block

    def statement(self, statement: Node) -> None:
        before = self.origin
        self.origin = self.attempts.shown.get(statement, statement)
        handler: Callable[[Node], None] | None = getattr(
            self, f"do_{type(statement).__name__}", None
        )
        if handler is None:
            self.emit(statement)
        else:
            handler(statement)
        self.origin = before

    # statements

    def do_Pass(self, statement: Node) -> None:
        return

    def do_Assign(self, statement: Node) -> None:
        targets = statement.targets
        if is_entry(statement) and targets[0].value.id in self.fillable:
            value = self.atom(statement.value)
            d = targets[0].value.id
            made = gast.Dict([None, targets[0].slice], [name(d), value])
            self.emit(assign(d, made), statement)
            return
        if len(targets) == 1 and isinstance(targets[0], gast.Name):
            made = statement.value
            if isinstance(made, gast.DictComp) and targets[0].id not in names_read(made):
                self.comprehension(made, targets[0].id)
                return
            self.emit(assign(targets[0].id, self.expression(statement.value)), statement)
            return
        if len(targets) == 1 and self._elementwise(targets[0], statement.value):
            self._parallel(targets[0], statement.value)
            return
        unpacks = len(targets) == 1 and isinstance(targets[0], gast.Tuple | gast.List)
        value = self.whole(statement.value) if unpacks else self.atom(statement.value)
        if isinstance(value, gast.Name) and (len(targets) > 1 or value.id in _bound_by(targets[0])):
            value = self.hold(value, targets)
        for target in targets:
            self.bind(target, value)

    def hold(self, value: Node, targets: list[Node]) -> Node:
        """Keep the value of `a = b[a] = value` under a name that no target binds."""
        written = {n.id for t in targets for n in walk(t) if isinstance(n, gast.Name)}
        if value.id in written:
            temp = self.temp(value)
            self.emit(assign(temp, value))
            return name(temp)
        return value

    @staticmethod
    def _elementwise(target: Node, value: Node) -> bool:
        sequence = (gast.Tuple, gast.List)
        return (
            isinstance(target, sequence)
            and isinstance(value, sequence)
            and len(target.elts) == len(value.elts)
            and not any(isinstance(e, gast.Starred) for e in [*target.elts, *value.elts])
        )

    def _parallel(self, target: Node, value: Node) -> None:
        """`a, b = b, a`: every value is computed before any target is bound."""
        values = []
        later = [names_written(t) for t in target.elts]
        for position, item in enumerate(value.elts):
            bound_before = set[str]().union(*later[:position], _bound_by(target.elts[position]))
            later_items = value.elts[position + 1 :]
            if isinstance(item, gast.Name) and item.id in bound_before:
                temp = self.temp(item)
                self.emit(assign(temp, name(item.id)))
                values.append(name(temp))
            elif self.is_atom(item):
                values.append(self.settled(item, later_items))
            elif (
                all(isinstance(t, gast.Name) for t in target.elts)
                and not bound_before & names_read(item)
                and (not later_items or self.may_wait(item, later_items))
            ):
                values.append(None)
            else:
                values.append(self.settled(self.atom(item), later_items))
        for position, (part, item) in enumerate(zip(target.elts, values, strict=True)):
            if item is None:
                self.emit(assign(part.id, self.expression(value.elts[position])))
                continue
            self.bind(part, item)

    def bind(self, target: Node, value: Node) -> None:
        """Assign an atom to a target of any shape."""
        if isinstance(target, gast.Name):
            self.emit(assign(target.id, value))
        elif isinstance(target, gast.Tuple | gast.List):
            self._unpack(target.elts, value)
        elif isinstance(target, gast.Starred):
            raise self.refuse(
                target, "A starred target must stand in a tuple or a list.", "Write a tuple."
            )
        else:
            target = self._place_expression(target)
            self.emit(gast.Assign([target], value, None))

    def _unpack(self, targets: list[Node], value: Node) -> None:
        if not isinstance(value, gast.Name):
            temp = self.temp(value)
            self.emit(assign(temp, value))
            value = name(temp)
        starred = [i for i, t in enumerate(targets) if isinstance(t, gast.Starred)]
        if starred:
            self._unpack_starred(targets, value, starred[0])
            return
        parts = []
        nested = []
        for position, target in enumerate(targets):
            later = set().union(*map(names_written, targets[position + 1 :]), set())
            if names_written(target) & later:
                target = self._once(target, later)
            if isinstance(target, gast.Name):
                parts.append(target.id)
            else:
                temp = self.temp(target, "part")
                parts.append(temp)
                nested.append((target, temp))
        display = gast.Tuple([store(p) for p in parts], gast.Store())
        self.emit(gast.Assign([display], value, None))
        for target, temp in nested:
            self.bind(target, name(temp))

    def _once(self, target: Node, later: set[str]) -> Node:
        """Return a target that binds no name which is bound `later`, by the same assignment."""
        table = {n: self.temp(target, n) for n in sorted(names_written(target) & later)}
        return rename(clone(target), table)

    def _unpack_starred(self, targets: list[Node], value: Node, star: int) -> None:
        after = len(targets) - star - 1
        if value.id in {n.id for t in targets for n in walk(t) if isinstance(n, gast.Name)}:
            temp = self.temp(value)
            self.emit(assign(temp, value))
            value = name(temp)
        for position, target in enumerate(targets):
            if position == star:
                upper = constant(-after) if after else None
                part = subscript(clone(value), gast.Slice(constant(star), upper, None))
                temp = self.temp(part, "rest")
                self.emit(assign(temp, part))
                listed = call("list", name(temp))
                if isinstance(target.value, gast.Name):
                    self.emit(assign(target.value.id, listed))
                else:
                    self.bind(target.value, self.atom(listed))
                continue
            index = position if position < star else position - len(targets)
            part = subscript(clone(value), constant(index))
            if isinstance(target, gast.Name):
                self.emit(assign(target.id, part))
            else:
                self.bind(target, self.atom(part))

    def do_AnnAssign(self, statement: Node) -> None:
        if statement.value is not None:
            self.do_Assign(
                locate(gast.Assign([statement.target], statement.value, None), statement)
            )

    def do_AugAssign(self, statement: Node) -> None:
        bound = {n.target.id for n in walk(statement.value) if isinstance(n, gast.NamedExpr)}
        if bound & (names_read(statement.target) | names_written(statement.target)):
            raise self.refuse(
                statement,
                "`:=` binds a name that this statement has already read.",
                "Put the assignment on a line of its own.",
            )
        target = statement.target
        if isinstance(target, gast.Name):
            self.emit(gast.AugAssign(target, statement.op, self.atom(statement.value)), statement)
            return
        calls = self.runs_users(statement.value)
        first = calls or any(isinstance(n, gast.Call | gast.NamedExpr) for n in walk(target))
        if first:  # Python finds the place before it computes the value
            target = self._place_expression(target, calls)
        if calls:
            self._read_before(target)
        value = self.atom(statement.value)
        if not first:
            target = self._place_expression(target)
        self.emit(gast.AugAssign(target, statement.op, value), statement)

    def _read_before(self, target: Node) -> None:
        """Read a place before the value is computed that is added to it."""
        read = clone(target)
        read.ctx = gast.Load()
        old = self.temp(read, "was")
        self.emit(assign(old, read))
        self.was.add(old)

    def _place_expression(self, target: Node, calls: bool = False) -> Node:
        """Reduce the parts of a subscript or attribute target to atoms.

        Where a call follows, an index that is an attribute is what it is before it.
        """
        if isinstance(target, gast.Subscript):
            owner = self.atom(target.value)
            held = calls and any(isinstance(n, gast.Attribute) for n in walk(target.slice))
            index = self.held_index(target.slice) if held else self.index(target.slice)
            new = gast.Subscript(owner, index, target.ctx)
        else:
            new = gast.Attribute(self.atom(target.value), target.attr, target.ctx)
        return locate(new, target)

    def do_Expr(self, statement: Node) -> None:
        value = statement.value
        if isinstance(value, gast.Constant):
            return
        self.emit(gast.Expr(self.expression(value)), statement)

    def do_Return(self, statement: Node) -> None:
        raise AssertionError("structure leaves no return")

    def do_Assert(self, statement: Node) -> None:
        test = self.test(statement.test)
        self.emit(gast.Assert(test, statement.msg), statement)

    def do_If(self, statement: Node) -> None:
        test = self.test(statement.test)
        node = gast.If(test, [], [])
        node.body = self.statements(statement.body)
        node.orelse = self.statements(statement.orelse)
        self.emit(node, statement)

    def do_Match(self, statement: Node) -> None:
        subject = self.atom(statement.subject)
        bound = {n for case in statement.cases for n in names_written(case.pattern)}
        if isinstance(subject, gast.Name) and subject.id in bound:
            temp = self.temp(subject)
            self.emit(assign(temp, subject))
            subject = name(temp)
        cases = []
        for case in statement.cases:
            if case.guard is not None and has_walrus(case.guard):
                raise self.refuse(
                    case.guard,
                    "s2sad does not support `:=` in the guard of a case.",
                    "Assign the value before the match.",
                )
            pattern, guard, start = self._bound_by_hand(case, subject)
            if guard is not None and start:
                self._check_guarded(case, statement)
            body = self.statements([*start, *case.body])
            cases.append(gast.match_case(pattern, guard, body))
        self.emit(gast.Match(subject, cases), statement)

    def _check_guarded(self, case: Node, statement: Node) -> None:
        """A pattern that fits binds its names even where the guard is false: nobody may see that.

        They are bound behind the guard here.
        """
        for n in sorted(names_written(case.pattern)):
            own = [c for c in statement.cases if n in names_written(c.pattern)]
            if _reads(self.body, n) > _reads(own, n):
                raise self.refuse(
                    case.guard,
                    f"This case binds `{n}` even where its guard is false, and `{n}` is read "
                    "outside of the case.",
                    "Use another name in the pattern.",
                )

    def _bound_by_hand(self, case: Node, subject: Node) -> tuple[Node, Node | None, Block]:
        """Return a case's pattern and guard without captures, and what captures them instead."""
        if not names_written(case.pattern) or not isinstance(subject, gast.Name):
            return case.pattern, case.guard, []
        stripped = without_captures(case.pattern, subject, self.source.fn)
        if stripped is None:
            return case.pattern, case.guard, []
        pattern, captures = stripped
        guard = case.guard
        if guard is not None:
            guard = substitute(clone(guard), dict(captures))
        start = []
        for n, value in captures:
            bound = locate(assign(n, value), case.body[0])
            start.append(bound)
        return pattern, guard, start

    def do_With(self, statement: Node) -> None:
        node = gast.With(statement.items, self.statements(statement.body), None)
        self.emit(node, statement)

    def do_Try(self, statement: Node) -> None:
        node = gast.Try(
            self.statements(statement.body),
            [
                gast.ExceptHandler(h.type, h.name, self.statements(h.body))
                for h in statement.handlers
            ],
            self.statements(statement.orelse),
            self.statements(statement.finalbody),
        )
        self.emit(node, statement)
        if statement in self.attempts.half:
            self.half.add(node)

    def do_FunctionDef(self, statement: Node) -> None:
        self.decorated(statement)

    def do_While(self, statement: Node) -> None:
        self.depth += 1
        self._while(statement)
        self.depth -= 1

    def _while(self, statement: Node) -> None:
        if not self.moves(statement.test):
            body = self.statements(statement.body) or [locate(gast.Pass(), statement)]
            self.emit(gast.While(statement.test, body, []), statement)
            return
        saved, self.out = self.out, []
        test = self.test(statement.test)
        head, self.out = self.out, saved
        self.endless(statement, head, test, self.statements(statement.body))

    def endless(self, statement: Node, head: Block, test: Node, body: Block) -> None:
        """Emit a loop whose test needs statements: it is left where the test fails."""
        leave = locate(gast.Break(), statement)
        self.origins[leave] = self.origin
        made = gast.If(test, body, [leave])
        if all(isinstance(b, gast.Pass) for b in body):
            made = gast.If(gast.UnaryOp(gast.Not(), test), [leave], [])
        guard = locate(made, statement)
        self.origins[guard] = self.origin
        self.emit(gast.While(constant(True), [*head, guard], []), statement)

    def do_For(self, statement: Node) -> None:
        if not isinstance(statement.target, gast.Tuple | gast.List | gast.Name) or any(
            isinstance(n, gast.Subscript | gast.Attribute | gast.Starred)
            for n in walk(statement.target)
        ):
            raise self.refuse(
                statement.target,
                "s2sad does not support a loop that binds an attribute, an item or a starred name.",
                "Loop over a plain name, and assign from it in the body.",
            )
        iterable = self._kept(self._iterable(statement.iter), statement)
        self._sources_kept(iterable, statement)
        self.depth += 1
        statement = self._fresh_targets(statement)
        loop = self._loop(statement.target, iterable)
        if loop is None:
            loop = Loop(self.names.fresh("i"), False, None, ())
        body = self.statements(statement.body) or [locate(gast.Pass(), statement)]
        self.origins.setdefault(body[0], self.origin)
        node = gast.For(statement.target, iterable, body, [], None)
        self.emit(node, statement)
        self.depth -= 1
        self.loops[node] = loop
        self.indices.add(loop.index)

    def _kept(self, iterable: Node, statement: Node) -> Node:
        """Keep what a loop runs over under names that neither its header nor its body binds.

        The bounds of a range are kept as they are: no element is read from them.
        """
        if is_call(iterable, "range"):
            return iterable
        header = {n.id for n in walk(statement.target) if isinstance(n, gast.Name)}
        again = names_read(iterable) & (_bound(statement.body) | header)
        if not again:
            return iterable
        table = {n: self.temp(name(n), f"{n}_run") for n in sorted(again)}
        for n in table:
            self.emit(assign(table[n], name(n)), statement)
        iterable = clone(iterable)
        rename(iterable, table)
        return iterable

    def _sources_kept(self, iterable: Node, statement: Node) -> None:
        """Keep what was read ahead of a loop under names that the loop does not bind anew."""
        header = {n.id for n in walk(statement.target) if isinstance(n, gast.Name)}
        for made in sorted(names_read(iterable) & self.ahead.keys()):
            ahead = self.ahead[made]
            again = ahead.sources & (_bound(statement.body) | header)
            table = {n: self.temp(name(n), f"{n}_run") for n in sorted(again)}
            for n in table:
                self.emit(assign(table[n], name(n)), statement)
            self.ahead[made] = ahead.renamed(table)

    def _fresh_targets(self, statement: Node) -> Node:
        """A target that the body binds again gets its value by an assignment of its own.

        So does one that is read behind the loop: there is undone what it was a round before. The
        index of a range, or a count, needs no undoing.
        """
        bound = {n.id for n in walk(statement.target) if isinstance(n, gast.Name)}
        again = sorted(bound & (_bound(statement.body) | self._outlasting(statement)))
        if not again:
            return statement
        table = {n: self.temp(name(n), f"{n}_item") for n in again}
        target = clone(statement.target)
        rename_scoped(target, table)
        start = [locate(assign(n, name(table[n])), statement) for n in again]
        new = gast.For(target, statement.iter, [*start, *statement.body], [], None)
        self.origin = locate(new, statement)
        return new

    def _outlasting(self, statement: Node) -> set[str]:
        """Return the targets that are read behind a loop, but for those that only count."""
        target = statement.target
        counts: set[str] = set()
        if is_call(statement.iter, "range"):
            return counts
        if is_call(statement.iter, "enumerate") and isinstance(target, gast.Tuple | gast.List):
            counts = {n.id for n in target.elts[:1] if isinstance(n, gast.Name)}
        return set(self.lasting) - counts

    def _iterable(self, node: Node) -> Node:
        """Reduce what a loop runs over, keeping range, enumerate, zip and reversed in place."""
        if self.is_accumulate(node):
            node = locate(gast.Call(node.func, list(node.args), node.keywords), node)
            node.args[0] = self.atom(node.args[0])
            uses = frozenset().union(*map(names_read, node.args[1:]))
            return self._noted(self.accumulate(node), node.args[:1], uses)
        if getattr(node, "ahead", False):
            node = locate(subscript(self.atom(node.value), node.slice), node)
            return self._noted(self.atom(node), [node.value])
        if getattr(getattr(node, "func", None), "ahead", False):
            made = node.args[0]
            args = self.in_order(made.args, partial(self.argument, made))
            made = locate(gast.Call(made.func, args, made.keywords), made)
            return self._noted(self.atom(locate(call("list", made), node)), args)
        fn = node.func.id if isinstance(node, gast.Call) and self.is_builtin(node.func) else ""
        if fn in _RUN_OVER and not any(isinstance(a, gast.Starred) for a in node.args):
            reduced = self._run_over(fn, node)
            if reduced is not None:
                return locate(reduced, node)
        if (
            isinstance(node, gast.Call)
            and isinstance(node.func, gast.Attribute)
            and node.func.attr in _DICT_VIEWS
            and not node.args
        ):
            owner = self.atom(node.func.value)
            func = locate(gast.Attribute(owner, node.func.attr, gast.Load()), node)
            listed = self.atom(locate(call("list", locate(gast.Call(func, [], []), node)), node))
            return self._noted(listed, [] if func.attr == "keys" else [owner])
        return self.atom(node)

    def _noted(self, made: Node, sources: Block, uses: frozenset[str] | None = None) -> Node:
        """Note that a list holds at once what the program reads round by round."""
        if isinstance(made, gast.Name) and sources:
            read = frozenset().union(*map(names_read, sources))
            self.ahead[made.id] = Ahead(read, uses is not None, uses or frozenset())
        return made

    def run_over(self, node: Node) -> Node:
        view = isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute)
        if view and node.func.attr in _DICT_VIEWS and not node.args:  # it shows what is there later
            func = gast.Attribute(self.atom(node.func.value), node.func.attr, gast.Load())
            return locate(gast.Call(locate(func, node), [], []), node)
        if is_call(node, "range"):
            return locate(call("range", *map(self.atom, node.args)), node)
        return self._iterable(node)

    def _run_over(self, fn: str, node: Node) -> Node | None:
        """Reduce a call of range, enumerate, zip or reversed; None where it is an odd one."""
        args, keywords = list(node.args), {k.arg: k.value for k in node.keywords}
        if fn == "range" and not keywords:
            later = [args[i + 1 :] for i in range(len(args))]
            return call("range", *map(self.scalar, args, later))
        if fn == "zip" and args and keywords.keys() <= {"strict"}:
            made = call("zip", *[self._iterable(a) for a in args])
            self._strictly(made, keywords.get("strict"))
            return made
        if fn == "reversed" and len(args) == 1 and not keywords:
            inner = self._iterable(args[0])
            if any(is_call(inner, other) for other in ("zip", "enumerate", "reversed")):
                raise self.refuse(
                    node, "s2sad cannot run over this iterable in reverse.", "Make a list of it."
                )
            return call("reversed", inner)
        if fn == "enumerate":
            given = dict(zip(("iterable", "start"), args, strict=False))
            if len(args) > 2 or keywords.keys() & given.keys():
                return None
            given.update(keywords)
            if "iterable" not in given or given.keys() - {"iterable", "start"}:
                return None
            start = [self.scalar(given["start"])] if "start" in given else []
            if any(isinstance(s, gast.Constant) and type(s.value) is not int for s in start):
                raise self.refuse(node, "enumerate must count from an int.", "Let start be an int.")
            return call("enumerate", self._iterable(given["iterable"]), *start)
        return None

    def _strictly(self, zipped: Node, strict: Node | None) -> None:
        """`zip(a, b, strict=True)` raises where lengths differ: that is said before the loop."""
        if strict is None or (isinstance(strict, gast.Constant) and not strict.value):
            return
        lengths = []
        for part in zipped.args:
            bounds, _ = element(part, constant(0), False)
            if bounds is None or len(bounds) != 1:
                raise self.refuse(
                    part, "s2sad does not know the length of this iterable.", "Make a list of it."
                )
            lengths.append(clone(bounds[0]))
        if any(isinstance(n, gast.Break | gast.Return) for n in walk(self.origin)):
            raise self.refuse(
                self.origin,
                "s2sad does not support leaving a loop over zip(..., strict=True) early.",
                "Compare the lengths before the loop, and leave strict out.",
            )
        if len(lengths) == 1:
            return
        test: Node = gast.Compare(lengths[0], [gast.NotEq()] * (len(lengths) - 1), lengths[1:])
        if len(lengths) > 2:
            equal = gast.Compare(lengths[0], [gast.Eq()] * (len(lengths) - 1), lengths[1:])
            test = gast.UnaryOp(gast.Not(), equal)
        if not isinstance(strict, gast.Constant):
            test = gast.BoolOp(gast.And(), [strict, test])
        words = constant("zip() has arguments of different lengths")
        check = gast.If(test, [gast.Raise(call("ValueError", words), None)], [])
        for n in walk(check):
            locate(n, self.origin)
        self.out += self.statements([check])

    def scalar(self, node: Node, later: Block | tuple[()] = ()) -> Node:
        """An inert integer expression of names and literals stays; anything else is an atom."""
        return node if plain(node) and not self.may_set(node, later) else self.atom(node)

    def _loop(self, target: Node, iterable: Node) -> Loop | None:
        """Say how the loop runs backward, or None where the iterable can be read only once."""
        saved, self.out = self.out, []
        own = self._own_index(target, iterable)
        index = own if own is not None else self.names.fresh("i")
        try:
            bounds, item = element(iterable, name(index), own is not None)
            if bounds is None:
                return None
            self._bind_element(target, item, own)
            return Loop(index, own is not None, bounds, tuple(self.out))
        finally:
            self.out = saved

    def _own_index(self, target: Node, iterable: Node) -> str | None:
        """Return the user's variable that can serve as index: nothing else may bind it."""
        if is_call(iterable, "range") and isinstance(target, gast.Name):
            candidate = target.id
        elif (
            is_call(iterable, "enumerate")
            and len(iterable.args) == 1
            and isinstance(target, gast.Tuple)
            and len(target.elts) == 2
            and isinstance(target.elts[0], gast.Name)
        ):
            candidate = target.elts[0].id
        else:
            return None
        body = self.origin.body
        if candidate in _bound(body):
            return None
        return str(candidate)

    def _bind_element(self, target: Node, element: Any, own: str | None) -> None:
        """Emit what the header binds: `element` is an expression or a tuple of elements."""
        if isinstance(target, gast.Name):
            if target.id == own:
                return
            value = element if not isinstance(element, tuple) else self._tuple_of(element)
            self.emit(assign(target.id, self.expression(value)))
        elif isinstance(element, tuple) and len(element) == len(target.elts):
            for part, item in zip(target.elts, element, strict=True):
                self._bind_element(part, item, own)
        else:
            value = element if not isinstance(element, tuple) else self._tuple_of(element)
            temp = self.temp(value, "item")
            self.emit(assign(temp, self.expression(value)))
            self._unpack(target.elts, name(temp))

    def _tuple_of(self, element: tuple[Any, ...]) -> Node:
        items = [self._tuple_of(e) if isinstance(e, tuple) else e for e in element]
        return gast.Tuple(items, gast.Load())


def _bound_by(target: Node) -> set[str]:
    """Return the names that `:=` binds inside of a target, behind the value that it gets."""
    return {n.target.id for n in walk(target) if isinstance(n, gast.NamedExpr)}
