"""Calls that write something move out of tests and operands, to statements of their own.

    if rest and pop(xs) > 0.0:       ->    both = rest
        s += xs[0]                         if both:
                                               t = pop(xs)
                                               both = t > 0.0
                                           if both:
                                               s += xs[0]

Only kinds tell what a call calls, so normalisation has left such expressions whole. They are taken
apart as it takes apart those that bind names: in the order of evaluation, and no part is evaluated
that was not. Nobody asks any more where such a call stood.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import gast

from s2sad.capture.normalise import Normaliser
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    block_writes,
    blocks_of,
    call,
    children,
    clone,
    constant,
    locate,
    name,
    names_beside,
    names_read,
    names_written,
    walk,
)
from s2sad.stages import Function
from s2sad.syntax.elements import heads, is_call
from s2sad.syntax.flow import free_names

_STATEMENTS = (gast.Assign, gast.AugAssign, gast.Expr)


def moved(
    function: Function, writes: Callable[[Node, Node], bool], taken: set[str]
) -> Function | None:
    """Return the function with the calls that write moved out; None where none has to be.

    `writes(s, node)` says of a part of a statement whether it writes something where it is run.
    """
    worker = _Mover(function, taken)
    worker.places_first(function.node.body, writes)
    found: set[Any] = set()
    for s in all_inside(function.node.body[:-1]):
        whole = getattr(s, "value", None) if isinstance(s, _STATEMENTS) else getattr(s, "exc", None)
        alone = (whole, getattr(whole, "func", None))  # such a call has its statement already
        inside = (n for part in heads(s) for n in worker.evaluated(part))
        found |= {n for n in inside if all(n is not a for a in alone) and writes(s, n)}
    if found:
        worker.moving = frozenset(found)
        function.node.body[:-1] = worker.statements(function.node.body[:-1])
    if not worker.changed:
        return None
    return dataclasses.replace(
        function,
        origins=worker.origins,
        loops=worker.loops,
        temps=frozenset(worker.temps),
        locals=frozenset(worker.locals | worker.temps | worker.indices),
        held=frozenset(worker.held),
        was=frozenset(worker.was),
        ahead=worker.ahead,
    )


class _Mover(Normaliser):
    """Takes apart the statements that hold what moves; all others stay as they are."""

    def __init__(self, function: Function, taken: set[str]) -> None:
        names = names_beside(function.node, function.locals | taken)
        super().__init__(function.source, names, set(function.locals))
        self.origins = dict(function.origins)
        self.loops = dict(function.loops)
        self.temps = set(function.temps)
        self.held = set(function.held)
        self.was = set(function.was)
        self.ahead = dict(function.ahead)
        self.outside = free_names(function.node)
        nonlocals = (n for n in walk(function.node) if isinstance(n, gast.Nonlocal))
        self.rebound = {word for n in nonlocals for word in n.names}
        self.normal = set(all_inside(function.node.body))
        self.changed = False

    def evaluated(self, node: Node) -> list[Node]:
        """Return an expression and the parts that are evaluated with it.

        The bodies of functions are not, nor is what a generator gives that nobody here reads.
        """
        found, pending = [], [node]
        while pending:
            n = pending.pop()
            if isinstance(n, gast.Lambda):
                continue
            found.append(n)
            below = children(n)
            if isinstance(n, gast.Call) and not self.searches(n):
                lazy = [a for a in n.args if isinstance(a, gast.GeneratorExp)]
                lazy = [a for a in lazy if not self.reads_whole(n, a)]
                pending += [a.generators[0].iter for a in lazy]
                below = [b for b in below if b not in lazy]
            pending += below
        return found

    def places_first(self, body: Block, writes: Callable[[Node, Node], bool]) -> None:
        """Find and read a place before what is added to it is computed, where that writes.

        t = b.rank           ->    was = b.n
        b.n += t                   t = b.rank
                                   b.n += t
        """
        for s in list(body):
            for part in blocks_of(s):
                self.places_first(part, writes)
            if not isinstance(s, gast.AugAssign) or isinstance(s.target, gast.Name):
                continue
            end = body.index(s)
            start = self._begun(body, end)
            if start is None:
                continue
            steps = [*all_inside(body[start:end]), s]
            parts = ((t, n) for t in steps for part in heads(t) for n in self.evaluated(part))
            if not any(writes(t, n) for t, n in parts):
                continue
            self.changed = True
            place, rest = self._parted(body[start:end], names_read(s.target))
            self.origin = self.origins[s]
            self.out = []
            s.target = self._place_expression(s.target, True)
            self._read_before(s.target)
            self.normal |= {*self.out}
            body[start:end] = [*place, *self.out, *rest]

    def _begun(self, body: Block, end: int) -> int | None:
        """Return where the statements begin that stand for the same one of the user's.

        None where they begin with reading the place.
        """
        origin, start = self.origins.get(body[end]), end
        for at in reversed(range(end)):
            s = body[at]
            own = self.origins.get(s) is origin
            if isinstance(s, gast.AugAssign) and not isinstance(s.target, gast.Name) and own:
                break
            if own and names_written(s) & self.was:
                return None
            if not own and not self.was:
                break
            start = at if own and start == at + 1 else start
        return start if isinstance(origin, gast.AugAssign) else None

    def _parted(self, steps: Block, used: set[str]) -> tuple[Block, Block]:
        """Return the steps that compute what is used, and all others."""
        place: Block = []
        rest: Block = []
        used = used & self.temps
        for t in reversed(steps):
            needed = used & block_writes([t])
            (place if needed else rest).insert(0, t)
            used |= names_read(t) & self.temps if needed else set()
        return place, rest

    def statement(self, statement: Node) -> None:
        if statement not in self.normal:  # made on the way, not yet normal
            super().statement(statement)
            return
        before = self.origin
        self.origin = self.origins.get(statement, statement)
        loops = isinstance(statement, gast.For | gast.While)
        self.depth += loops
        for part in blocks_of(statement):
            part[:] = self.statements(part)
        self.depth -= loops
        if any(map(self.moves, heads(statement))):
            self.apart(statement)
        else:
            self.out.append(statement)
        self.origin = before

    def apart(self, s: Node) -> None:
        """Emit a statement behind those that do what its parts did."""
        self.changed = True
        if isinstance(s, gast.While):
            saved, self.out = self.out, []
            test = self.test(s.test)
            head, self.out = self.out, saved
            self.endless(s, head, test, s.body)
            return
        if isinstance(s, gast.Assert):
            self._asserted(s)
            return
        if isinstance(s, gast.Match):
            self._guarded(s)
            return
        if isinstance(s, gast.With):
            self._entered(s)
            return
        if isinstance(s, gast.If):
            s.test = self.test(s.test)
        elif isinstance(s, gast.Raise):
            s.exc = s.exc and self.expression(s.exc)
            s.cause = s.cause and self.expression(s.cause)
        elif isinstance(s, gast.Delete):
            s.targets = [self._place_expression(t) for t in s.targets]
        elif isinstance(s, gast.For):
            s.iter = self.expression(s.iter)
            if is_call(s.iter, "range"):
                bounds = tuple(map(clone, s.iter.args))
                self.loops[s] = dataclasses.replace(self.loops[s], bounds=bounds)
        else:
            self._operation(s)
        self.out.append(s)

    def _operation(self, s: Node) -> None:
        """Take apart what is computed, and the place where it goes."""
        s.value = self.expression(s.value)
        if isinstance(s, gast.Assign):
            parts = (gast.Subscript, gast.Attribute)
            s.targets = [
                self._place_expression(t) if isinstance(t, parts) else t for t in s.targets
            ]

    def _asserted(self, s: Node) -> None:
        """What is said of a failure is evaluated where it fails."""
        test = self.test(s.test)
        if s.msg is None or not self.moves(s.msg):
            s.test = test
            self.out.append(s)
            return
        raised = locate(gast.Raise(call("AssertionError", s.msg), None), s)
        failed = gast.UnaryOp(gast.Not(), test)
        self.emit(gast.If(failed, self.statements([raised]), []), s)

    def _entered(self, s: Node) -> None:
        """What a later manager is made of is evaluated where the earlier ones are entered."""
        at = next((i for i, m in enumerate(s.items) if i and self.moves(m.context_expr)), None)
        if at is not None:
            inner = locate(gast.With(s.items[at:], s.body, None), s)
            self.origins[inner] = self.origin
            s.items = s.items[:at]
            saved, self.out = self.out, []
            self._entered(inner)
            s.body, self.out = self.out, saved
        s.items[0].context_expr = self.expression(s.items[0].context_expr)
        self.out.append(s)

    def _guarded(self, s: Node) -> None:
        """A guard is evaluated where its pattern fits; where it fails, later cases are tried.

        case p if g: a               case p:
        case q: b             ->         t = g
                                         if t:
                                             missed = False
                                             a
                                 if missed:
                                     match ...: case q: b
        """
        guards = [c.guard is not None and self.moves(c.guard) for c in s.cases]
        if not any(guards):
            self.out.append(s)
            return
        at = guards.index(True)
        case, rest = s.cases[at], s.cases[at + 1 :]
        saved, self.out = self.out, []
        test = self.test(case.guard)
        case.guard, body = None, case.body
        self.emit(gast.If(test, body, []), case.body[0])
        case.body, self.out = self.out, saved
        if rest:
            if any(isinstance(n, gast.Break) for n in all_inside([s])):
                raise self.refuse(
                    s,
                    "The guard of a case writes something, and this match may leave the loop "
                    "around it.",
                    "Make that write before the match.",
                )
            missed = self.temp(s.subject, "missed")
            self.emit(assign(missed, constant(True)))
            for block in (*(c.body for c in s.cases[:at]), body):
                found = locate(assign(missed, constant(False)), s)
                self.origins[found] = self.origin
                block.insert(0, found)
            s.cases = s.cases[: at + 1]
        self.out.append(s)
        if rest:
            later = locate(gast.Match(clone(s.subject), rest), s)
            self.origins[later] = self.origin
            saved, self.out = self.out, []
            self._guarded(later)
            block, self.out = self.out, saved
            self.emit(gast.If(name(missed), block, []))
