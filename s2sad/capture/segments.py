"""Loops over `checkpointed(...)` become calls that run their bodies, which are functions then.

    for i in checkpointed(range(n), snapshots=k):      def advance(i, u):
        u[1:] += c * u[:-1]                                u = u.copy(order="K")
                                                           u[1:] += c * u[:-1]
                                                           return (u,)

                                                       u_1, = run_checkpointed(advance, ...)[0]
                                                       u[...] = u_1

What the body binds and somebody reads afterwards is its state; the rest it captures. Where the loop
may break, a round says with two more values where it was, and whether it is the last.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Callable
from typing import Any

import gast

from s2sad import runtime
from s2sad.checkpoints import checkpointed
from s2sad.emitted.replay import run_checkpointed, run_until
from s2sad.errors import Place, UnsupportedError
from s2sad.names import Names
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    assign,
    attribute,
    call,
    clone,
    constant,
    count_writes,
    locate,
    name,
    names_read,
    names_written,
    subscript,
    tuple_,
    walk,
)
from s2sad.syntax.flow import free_names, live_in

_LOOPS = (gast.For, gast.While)
_FUNCTIONS = (gast.FunctionDef, gast.Lambda)
_ENDLESS = 2**62
_PASSING: tuple[Any, ...] = (enumerate, zip, reversed, map, filter, iter, itertools.chain)
_NUMBERS = ("float", "complex", "int")


def segments(
    body: Block,
    denoted: Callable[[Node], Any],
    names: Names,
    params: tuple[str, ...],
    place: Callable[[Node], Place],
    runner: Callable[[Any], str] | None,
) -> Block:
    """Return a body without checkpointed loops; without a `runner` they are plain loops."""
    worker = _Segments(body, _with_imports(body, denoted), names, place, runner)
    if not any(map(worker.is_checkpointed, _own(body))):
        return body
    if runner is not None:
        live_in(body, frozenset(), worker.note)
        body = worker.block(body, frozenset(params))
    return [_Plain(worker).visit(s) for s in body]


def _with_imports(body: Block, denoted: Callable[[Node], Any]) -> Callable[[Node], Any]:
    """Return what tells also what names mean that the body itself imports, and never binds else."""
    writes = count_writes(body)
    found: dict[str, tuple[str, str]] = {}
    for s in (n for x in body for n in walk(x)):
        if isinstance(s, gast.Import):
            found |= {a.asname: (a.name, "") for a in s.names if a.asname}
            found |= {a.name: (a.name, "") for a in s.names if not a.asname and "." not in a.name}
        elif isinstance(s, gast.ImportFrom) and s.module and not s.level:
            found |= {a.asname or a.name: (s.module, a.name) for a in s.names}
    found = {n: where for n, where in found.items() if writes.get(n, 1) == 1}

    def meant(node: Node) -> Any:
        words: list[str] = []
        while isinstance(node, gast.Attribute):
            node, words = node.value, [node.attr, *words]
        module, word = found.get(getattr(node, "id", ""), ("", ""))
        value = sys.modules.get(module)
        for w in [word, *words] if word else words:
            value = getattr(value, w, None)
        return value

    return lambda node: meant(node) if _root(node) in found else denoted(node)


def _root(node: Node) -> str:
    while isinstance(node, gast.Attribute):
        node = node.value
    return str(getattr(node, "id", ""))


class _Plain(gast.NodeTransformer):  # type: ignore[misc]
    """Puts what is gone through in the place of `checkpointed(...)`."""

    def __init__(self, worker: _Segments) -> None:
        self.worker = worker

    def visit_Call(self, node: Node) -> Node:
        node = self.generic_visit(node)
        source = _arguments(node)[0] if self.worker.is_checkpointed(node) else None
        if source is None:
            return node
        counted = self.worker.counted(source)
        return source if counted is None else locate_all(counted, source)

    def visit_FunctionDef(self, node: Node) -> Node:
        return node  # it is looked at by itself

    visit_Lambda = visit_FunctionDef


class _Segments:
    def __init__(
        self,
        body: Block,
        denoted: Callable[[Node], Any],
        names: Names,
        place: Callable[[Node], Place],
        runner: Callable[[Any], str] | None,
    ) -> None:
        self.body = body
        self.denoted = denoted
        self.names = names
        self.place = place
        self.runner = runner
        self.live: dict[Any, frozenset[str]] = {}

    def note(self, statement: Any, live: Any) -> None:
        self.live[statement] = frozenset(live)

    def is_checkpointed(self, node: Node) -> bool:
        return isinstance(node, gast.Call) and self.denoted(node.func) is checkpointed

    def block(self, body: Block, bound: frozenset[str]) -> Block:
        out: Block = []
        for s in body:
            if isinstance(s, gast.For) and self.is_checkpointed(s.iter):
                out += [locate_all(made, s) for made in self.loop(s, bound)]
            else:
                inside = bound | (names_written(s.target) if isinstance(s, gast.For) else set())
                for field in ("body", "orelse", "finalbody"):
                    part = getattr(s, field, None)
                    if part and not isinstance(s, SCOPES):
                        setattr(s, field, self.block(part, frozenset(inside)))
                out.append(s)
            if isinstance(s, gast.Assign | gast.AnnAssign | gast.AugAssign | gast.FunctionDef):
                bound |= names_written(s)
        return out

    def loop(self, s: Node, bound: frozenset[str]) -> Block:
        """Return the statements that a checkpointed loop becomes.

        A loop that returns breaks, and what it returns is computed after it.
        """
        returns = [x for x in _own(s.body) if isinstance(x, gast.Return)]
        if not returns:
            return self._run(s, bound, frozenset())
        direct = _own(s.body, _LOOPS)
        if any(x not in direct for x in returns):
            raise self._refused(
                s, "A return inside an inner loop of a checkpointed loop is not supported."
            )
        breaking = _Breaking(self.names.fresh("way"))
        turned = breaking.visit(gast.Module([clone(s)], [])).body[0]
        read = frozenset().union(*(names_read(x) for x in breaking.values)) | {breaking.way}
        self.live[turned] = self.live.get(s, frozenset())
        ends = [
            gast.If(
                gast.Compare(name(breaking.way), [gast.Eq()], [constant(i + 1)]),
                [gast.Return(clone(value))],
                [],
            )
            for i, value in enumerate(breaking.values)
        ]
        begin = assign(breaking.way, constant(0))
        return [begin, *self._run(turned, bound | {breaking.way}, read), *ends]

    def _run(self, s: Node, bound: frozenset[str], read: frozenset[str]) -> Block:
        """Return the statements that a loop becomes after which some names are read."""
        if importlib.util.find_spec("checkpoint_schedules") is None:
            raise UnsupportedError(
                "checkpointed needs the package checkpoint_schedules, which is not installed.",
                remedy="Install it: pip install checkpoint-schedules, or s2sad[checkpoint].",
                place=self.place(s.iter),
            )
        self._check(s)
        source, snapshots, period = _arguments(s.iter)
        if source is None or snapshots is None:
            raise self._refused(
                s.iter, "checkpointed needs two arguments: what the loop runs over, and snapshots=."
            )
        breaks = any(isinstance(x, gast.Break) for x in _own(s.body, _LOOPS))
        after = frozenset(live_in(s.orelse, self.live.get(s, frozenset()))) | read
        state, written, changed = self._state(s, bound, after)
        steps, endless = self._steps(source)
        met = set() if endless or steps is source else names_read(source) & written.keys()
        if met and getattr(getattr(source, "func", None), "attr", "") != "keys":
            words = f"The checkpointed loop reads `{min(met)}` item by item, and writes into it."
            raise self._refused(s, words)
        if endless and not breaks:
            raise self._refused(s, "A checkpointed loop without an end needs a break.")
        if period is None and breaks:
            period = _default_period(snapshots)
        ends_itself = period is not None
        held, rounds = None, self.names.fresh("rounds")
        out: Block = []
        index = self.names.fresh("step")
        head: Block = []
        if isinstance(steps, gast.Call) and self.denoted(steps.func) is range:
            if not isinstance(s.target, gast.Name):
                raise self._refused(s, "A checkpointed loop over a range must bind one plain name.")
            index = s.target.id
        else:
            held = self.names.fresh("steps")
            out.append(assign(held, steps))
            steps = call("range", call("len", name(held)))
            head = [gast.Assign([s.target], subscript(name(held), name(index)), None)]
        out.append(assign(rounds, steps))
        last = [self.names.fresh("at"), self.names.fresh("done")] if ends_itself else []
        function = self._function(s, index, state, written, head, last)
        begin = [name(n) for n in state] + ([constant(0), constant(False)] if last else [])
        assert self.runner is not None
        result = call(
            self.runner(run_until if ends_itself else run_checkpointed),
            name(function.name),
            name(rounds),
            snapshots,
            *([period] if ends_itself else []),
            tuple_(begin),
        )
        run, ends = self.names.fresh("run"), self.names.fresh("ends")
        body: Block = [
            function,
            *self._looks(written),
            assign(run, result),
            assign(ends, subscript(name(run), constant(0))),
        ]
        for i, n in enumerate(state):
            new = self.names.fresh(f"{n}_next")
            body.append(assign(new, subscript(name(ends), constant(i))))
            if n not in changed and n not in written:
                body.append(assign(n, name(new)))
                continue
            bind = assign(n, name(new))
            if n not in changed:  # the parts of a result may share memory, as far as is known
                own = assign(n, call(attribute(name(new), "copy"), order=constant("K")))
                body.append(_by_sort(new, [bind], [own], [clone(bind)]))
                continue
            put = gast.Assign(
                [gast.Subscript(name(n), gast.Constant(..., None), gast.Store())], name(new), None
            )
            body.append(_by_sort(n, [bind], [put], [clone(bind)]))
        if names_written(s.target) & after:
            at = subscript(name(ends), constant(len(state))) if last else None
            body.append(self._target_after(s, rounds, held, at))
        if not s.orelse or not breaks:
            return [*out, gast.If(name(rounds), body, []), *self.block(s.orelse, bound)]
        done = self.names.fresh("done")
        body.append(assign(done, subscript(name(ends), constant(len(state) + 1))))
        run_out = gast.If(name(done), [gast.Pass()], self.block(s.orelse, bound))
        return [*out, assign(done, constant(False)), gast.If(name(rounds), body, []), run_out]

    def _state(
        self, s: Node, bound: frozenset[str], after: frozenset[str]
    ) -> tuple[list[str], dict[str, bool], list[str]]:
        """Return the names that a round hands on to the next, and those that it may write into.

        Of these it is told whether memory below them may be written; of what is never bound by the
        body, named last, an array stays the one that it is.
        """
        written = frozenset().union(*(names_written(x) for x in s.body))
        targets = names_written(s.target)
        if targets & after & written:
            raise self._refused(
                s,
                f"The checkpointed loop binds `{min(targets & after & written)}` as its "
                "loop variable, its body rebinds it, and it is read after the loop.",
            )
        entry = frozenset(live_in(s.body, frozenset())) - targets
        functions = {x.name for x in self.body if isinstance(x, gast.FunctionDef)}
        into = into_which(s.body, (bound & entry) - functions - targets)
        rebound = written - _augmented(s.body)
        changed = {n for n in into if n not in rebound and n not in targets}
        state = sorted(((written - targets) & (entry | after)) | changed)
        for n in state:
            if n not in bound and n in entry | after and n not in changed:
                raise self._refused(s, f"`{n}` may have no value before the checkpointed loop.")
        self._unseen(s, set(state))
        return state, {n: into[n] for n in state if n in into}, [n for n in state if n in changed]

    def _steps(self, source: Node) -> tuple[Node, bool]:
        """Return what a loop goes through, as what has a length, and whether it had no end."""
        counted = self.counted(source)
        if counted is not None:
            return counted, True
        called = self.denoted(source.func) if isinstance(source, gast.Call) else None
        method = getattr(getattr(source, "func", None), "attr", "")
        passing = any(called is fn for fn in _PASSING) or method in ("items", "keys", "values")
        if passing or isinstance(source, gast.GeneratorExp):
            return call("list", source), False
        return source, False

    def counted(self, source: Node) -> Node | None:
        """Return the range that `itertools.count(...)` is as good as, None for all else."""
        called = self.denoted(source.func) if isinstance(source, gast.Call) else None
        if called is not itertools.count:
            return None
        if len(source.args) > 1 or source.keywords:
            raise self._refused(
                source, "A checkpointed loop over itertools.count(...) must count in steps of 1."
            )
        return call("range", *source.args, constant(_ENDLESS))

    @staticmethod
    def _target_after(s: Node, rounds: str, held: str | None, at: Node | None) -> Node:
        """Return what binds the loop's variable to what it was in the last round."""
        if held is None:
            return gast.Assign([s.target], at or subscript(name(rounds), constant(-1)), None)
        return gast.Assign([s.target], subscript(name(held), at or constant(-1)), None)

    def _function(
        self,
        s: Node,
        index: str,
        state: list[str],
        written: dict[str, bool],
        head: Block,
        last: list[str],
    ) -> Node:
        """Return the body of a loop as a function from state to state.

        What is `written` it copies. `last` are two more parameters: where a round has been, and
        whether it was the last one.
        """
        assert self.runner is not None
        own: Block = []
        for n in written:
            copied = assign(n, call(attribute(name(n), "copy"), order=constant("K")))
            apart = assign(n, call(self.runner(runtime.private), name(n)))
            own.append(_by_sort(n, [gast.Pass()], [copied], [apart]))

        bound = set().union(*(names_written(x) for x in s.body), set())
        where = [assign(last[0], name(index))] if last and index in bound else []

        def result(done: bool) -> Block:
            more = [name(last[0] if where else index), constant(done)] if last else []
            return [
                *self._looks(written),
                gast.Return(tuple_([*(name(n) for n in state), *more])),
            ]

        body = [_Return(result(False), result(True)).visit(x) for x in s.body]
        params = [gast.Name(n, gast.Param(), None, None) for n in (index, *state, *last)]
        args = gast.arguments(params, [], None, [], [], None, [])
        code = [*own, *where, *head, *body, *result(False)]
        return gast.FunctionDef(self.names.fresh("advance"), args, code, [], None, None)

    def _looks(self, written: dict[str, bool]) -> Block:
        """Return what looks whether memory stands twice below a state: its copies are apart."""
        assert self.runner is not None
        below = [n for n, is_below in written.items() if is_below]
        look = self.runner(runtime.refuse_twice) if below else ""
        return [
            _by_sort(n, [gast.Pass()], [gast.Pass()], [gast.Expr(call(look, name(n)))])
            for n in below
        ]

    def _check(self, s: Node) -> None:
        for x in _own(s.body):
            if isinstance(x, gast.Yield | gast.Await | gast.Delete | gast.Nonlocal):
                raise self._refused(
                    x,
                    "The body of a checkpointed loop may not contain del, yield, await or "
                    "nonlocal.",
                )

    def _unseen(self, s: Node, state: set[str]) -> None:
        """Refuse functions made outside that read a state: in a round it has another name."""
        own = set(map(id, (n for x in s.body for n in walk(x))))
        for n in (n for x in self.body for n in walk(x)):
            captured = free_names(n) & state if isinstance(n, _FUNCTIONS) else ()
            if captured and id(n) not in own:
                words = (
                    "A function that is made outside of the checkpointed loop reads "
                    f"`{min(captured)}`,"
                )
                raise self._refused(n, words + " which the loop changes.")

    def _refused(self, node: Node, words: str) -> UnsupportedError:
        return UnsupportedError(
            words,
            remedy="Write the loop without checkpointed, or its body as a checkpoint function.",
            place=self.place(node),
        )


class _Return(gast.NodeTransformer):  # type: ignore[misc]
    """Ends a round where the loop went on with the next, or ended."""

    def __init__(self, result: Block, last: Block) -> None:
        self.result = result
        self.last = last

    def visit_Break(self, node: Node) -> Block:
        return [locate_all(clone(s), node) for s in self.last]

    def visit_Continue(self, node: Node) -> Block:
        return [locate_all(clone(s), node) for s in self.result]

    def visit(self, node: Node) -> Node:
        return node if isinstance(node, (*_LOOPS, *SCOPES)) else super().visit(node)


class _Breaking(gast.NodeTransformer):  # type: ignore[misc]
    """Breaks where a loop returned, and notes which way it went, and the values for each."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.values: list[Node] = []

    def visit_Return(self, node: Node) -> Block:
        self.values.append(gast.Constant(None, None) if node.value is None else node.value)
        note = assign(self.way, constant(len(self.values)))
        return [locate_all(note, node), locate_all(gast.Break(), node)]

    def visit(self, node: Node) -> Any:
        return node if isinstance(node, SCOPES) else super().visit(node)


def _arguments(node: Node) -> tuple[Node | None, Node | None, Node | None]:
    given = dict(zip(("iterable", "snapshots", "period"), node.args, strict=False))
    given |= {k.arg: k.value for k in node.keywords}
    period = given.get("period")
    none = isinstance(period, gast.Constant) and period.value is None
    return given.get("iterable"), given.get("snapshots"), None if none else period


def _default_period(snapshots: Node) -> Node:
    """Return for how many rounds a number of states lasts, where none is run more than thrice."""
    if isinstance(snapshots, gast.Constant) and isinstance(snapshots.value, int):
        return constant((snapshots.value + 1) * (snapshots.value + 2) // 2)
    more = (gast.BinOp(clone(snapshots), gast.Add(), constant(n)) for n in (1, 2))
    return gast.BinOp(gast.BinOp(next(more), gast.Mult(), next(more)), gast.FloorDiv(), constant(2))


def _by_sort(variable: str, number: Block, array: Block, other: Block) -> Node:
    """Return what is done with a variable that is a number, an array, or a structure."""
    is_number = call("isinstance", name(variable), tuple_([name(n) for n in _NUMBERS]))
    is_array = call("hasattr", name(variable), constant("ndim"))
    return gast.If(is_number, number, [gast.If(is_array, array, other)])


def _own(body: Block, but: tuple[Any, ...] = ()) -> list[Node]:
    """Return the nodes of a block, not those of functions and of some statements in it."""
    found: list[Node] = []
    stack = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, (*SCOPES, *but)):
            continue
        found.append(node)
        stack += gast.iter_child_nodes(node)
    return found


def _augmented(body: Block) -> set[str]:
    """Return the names that are bound by `+=` and its kin alone."""
    found, bound = set(), set()
    for x in _own(body):
        if isinstance(x, gast.AugAssign) and isinstance(x.target, gast.Name):
            found.add(x.target.id)
        elif isinstance(x, gast.stmt) and not hasattr(x, "body"):
            bound |= names_written(x)
        elif isinstance(x, gast.For):
            bound |= names_written(x.target)
    return found - bound


def into_which(body: Block, known: frozenset[str]) -> dict[str, bool]:
    """Return the names of what a block may write into, as far as it says so.

    Beside each stands whether memory below it may be written, as of `s` in `s.v[1:] = 0.0`. Of the
    names that are `known` so are those whose methods it calls for nothing, and that it gives to
    such calls: `grid.step(dt)`, `step(grid, dt)`.
    """
    found = dict.fromkeys(sorted(_augmented(body)), False)

    def note(place: Node) -> None:
        depth = 0
        while isinstance(place, gast.Subscript | gast.Attribute):
            place, depth = place.value, depth + 1
        if isinstance(place, gast.Name) and (depth < 2 or place.id in known):
            found[place.id] = found.get(place.id, False) or depth > 1

    for x in _own(body):
        if isinstance(x, gast.Subscript | gast.Attribute) and isinstance(x.ctx, gast.Store):
            if isinstance(x, gast.Subscript) or getattr(x.value, "id", "") in known:
                note(x)
        if isinstance(x, gast.AugAssign) and isinstance(x.target, gast.Subscript | gast.Attribute):
            note(subscript(x.target, constant(0)))
        if isinstance(x, gast.Call):
            given = [k.value for k in x.keywords if k.arg == "out"]
            if isinstance(x.func, gast.Attribute) and x.func.attr == "at":
                given += x.args[:1]
            for place in given:
                note(subscript(place, constant(0)))
        if isinstance(x, gast.Expr) and isinstance(x.value, gast.Call):
            own = [x.value.func.value] if isinstance(x.value.func, gast.Attribute) else []
            for n in [*own, *x.value.args, *(k.value for k in x.value.keywords)]:
                if isinstance(n, gast.Name) and n.id in known:
                    found[n.id] = True
    return found


def locate_all(node: Node, origin: Node) -> Node:
    """Return a node that stands, with all in it that stands nowhere, where another one does."""
    for n in walk(node):
        if getattr(n, "lineno", None) is None:
            locate(n, origin)
    return node
