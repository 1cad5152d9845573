"""Loops over `checkpointed(...)` become calls that run their bodies, which are functions then.

    for i in checkpointed(range(n), snapshots=k):      def advance(i, u):
        u[1:] += c * u[:-1]                                u = u.copy(order="K")
                                                           u[1:] += c * u[:-1]
                                                           return (u,)

                                                       u_1, = run_checkpointed(advance, ...)[0]
                                                       u[...] = u_1

What the body binds and somebody reads afterwards is its state; the rest it captures.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import gast

from s2sad.checkpoints import checkpointed
from s2sad.errors import Place, UnsupportedError
from s2sad.flow import free_names, live_in
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
    locate,
    name,
    names_written,
    subscript,
    tuple_,
    walk,
)

_LOOPS = (gast.For, gast.While)
_FUNCTIONS = (gast.FunctionDef, gast.Lambda)
_NUMBERS = ("float", "complex", "int")


def segments(
    body: Block,
    denoted: Callable[[Node], Any],
    names: Names,
    params: tuple[str, ...],
    place: Callable[[Node], Place],
    runner: Callable[[], str] | None,
) -> Block:
    """Return a body without checkpointed loops; without a `runner` they are plain loops."""
    worker = _Segments(body, denoted, names, place, runner)
    if not any(worker.is_checkpointed(n) for s in body for n in walk(s)):
        return body
    if runner is not None:
        live_in(body, frozenset(), worker.note)
        body = worker.block(body, frozenset(params))
    return [_Plain(worker.is_checkpointed).visit(s) for s in body]


class _Plain(gast.NodeTransformer):  # type: ignore[misc]
    """Puts what is gone through in the place of `checkpointed(...)`."""

    def __init__(self, is_checkpointed: Callable[[Node], bool]) -> None:
        self.is_checkpointed = is_checkpointed

    def visit_Call(self, node: Node) -> Node:
        node = self.generic_visit(node)
        source = _arguments(node)[0] if self.is_checkpointed(node) else None
        return node if source is None else source


class _Segments:
    def __init__(
        self,
        body: Block,
        denoted: Callable[[Node], Any],
        names: Names,
        place: Callable[[Node], Place],
        runner: Callable[[], str] | None,
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
        """Return the statements that a checkpointed loop becomes."""
        assert self.runner is not None
        if importlib.util.find_spec("checkpoint_schedules") is None:
            raise UnsupportedError(
                "checkpointed keeps states in an order that checkpoint_schedules knows, which is "
                "not installed.",
                remedy="Install it: pip install checkpoint-schedules, or s2sad[checkpoint].",
                place=self.place(s.iter),
            )
        self._check(s)
        source, snapshots = _arguments(s.iter)
        if source is None or snapshots is None:
            raise self._refused(s.iter, "checkpointed wants what to go through, and snapshots=.")
        out: Block = []
        after = self.live.get(s, frozenset())
        written = frozenset().union(*(names_written(x) for x in s.body))
        targets = names_written(s.target)
        if targets & after:
            raise self._refused(
                s, f"`{min(targets & after)}` is read after the checkpointed loop that binds it."
            )
        entry = frozenset(live_in(s.body, frozenset())) - targets
        changed = [n for n in _in_place(s.body) if n not in written - _augmented(s.body)]
        mixed = set(_in_place(s.body)) & (written - _augmented(s.body)) & (entry | after)
        if mixed:
            raise self._refused(s, f"`{min(mixed)}` is written in place, and bound to another one.")
        state = sorted(((written - targets) & (entry | after)) | {*changed})
        state = [n for n in state if n in after | entry | {*changed} and n not in targets]
        for n in state:
            if n not in bound and n in entry | after and n not in changed:
                raise self._refused(s, f"`{n}` may have no value before the checkpointed loop.")
        changed = [n for n in changed if n in state]
        self._unseen(s, set(state))
        steps, index = source, self.names.fresh("step")
        head: Block = []
        if isinstance(source, gast.Call) and self.denoted(source.func) is range:
            steps = source
            if isinstance(s.target, gast.Name):
                index = s.target.id
            else:
                raise self._refused(s, "A range gives numbers.")
        else:
            held = self.names.fresh("steps")
            out.append(assign(held, source))
            steps = call("range", call("len", name(held)))
            head = [gast.Assign([s.target], subscript(name(held), name(index)), None)]
        rounds = self.names.fresh("rounds")
        out.append(assign(rounds, steps))
        function = self._function(s, index, state, changed, head)
        fresh = [self.names.fresh(f"{n}_next") for n in state]
        result = call(
            self.runner(),
            name(function.name),
            name(rounds),
            snapshots,
            tuple_([name(n) for n in state]),
        )
        run = self.names.fresh("run")
        body: Block = [function, assign(run, result)]
        ends = self.names.fresh("ends")
        body.append(assign(ends, subscript(name(run), constant(0))))
        for i, (n, new) in enumerate(zip(state, fresh, strict=True)):
            body.append(assign(new, subscript(name(ends), constant(i))))
            if n not in changed:
                body.append(assign(n, name(new)))
                continue
            put = gast.Assign(
                [gast.Subscript(name(n), gast.Constant(..., None), gast.Store())], name(new), None
            )
            body.append(gast.If(_is_number(n), [assign(n, name(new))], [put]))
        return [*out, gast.If(name(rounds), body, [])]

    def _function(
        self, s: Node, index: str, state: list[str], changed: list[str], head: Block
    ) -> Node:
        """Return the body of a loop as a function from state to state."""
        own: Block = []
        for n in changed:
            copied = assign(n, call(attribute(name(n), "copy"), order=constant("K")))
            own.append(gast.If(_is_number(n), [gast.Pass()], [copied]))
        result = gast.Return(tuple_([name(n) for n in state]))
        body = [_Return(result).visit(x) for x in s.body]
        params = [gast.Name(n, gast.Param(), None, None) for n in (index, *state)]
        args = gast.arguments(params, [], None, [], [], None, [])
        code = [*own, *head, *body, clone(result)]
        return gast.FunctionDef(self.names.fresh("advance"), args, code, [], None, None)

    def _check(self, s: Node) -> None:
        if s.orelse:
            raise self._refused(s, "A checkpointed loop has no else.")
        for x in _own(s.body):
            if isinstance(x, gast.Return | gast.Yield | gast.Await | gast.Delete | gast.Nonlocal):
                raise self._refused(x, "A checkpointed loop runs to its end, and deletes nothing.")
        for x in _own(s.body, _LOOPS):
            if isinstance(x, gast.Break):
                raise self._refused(x, "A checkpointed loop runs to its end.")

    def _unseen(self, s: Node, state: set[str]) -> None:
        """Refuse functions made outside that read a state: in a round it has another name."""
        own = set(map(id, (n for x in s.body for n in walk(x))))
        for n in (n for x in self.body for n in walk(x)):
            captured = free_names(n) & state if isinstance(n, _FUNCTIONS) else ()
            if captured and id(n) not in own:
                words = f"`{min(captured)}` is read by a function that is made outside of the "
                raise self._refused(n, words + "checkpointed loop which changes it.")

    def _refused(self, node: Node, words: str) -> UnsupportedError:
        return UnsupportedError(
            words,
            remedy="Write the loop without checkpointed, or its body as a checkpoint function.",
            place=self.place(node),
        )


class _Return(gast.NodeTransformer):  # type: ignore[misc]
    """Ends a round where the loop went on with the next."""

    def __init__(self, result: Node) -> None:
        self.result = result

    def visit_Continue(self, node: Node) -> Node:
        return locate_all(clone(self.result), node)

    def visit(self, node: Node) -> Node:
        return node if isinstance(node, (*_LOOPS, *SCOPES)) else super().visit(node)


def _arguments(node: Node) -> tuple[Node | None, Node | None]:
    given = dict(zip(("iterable", "snapshots"), node.args, strict=False))
    given |= {k.arg: k.value for k in node.keywords}
    return given.get("iterable"), given.get("snapshots")


def _is_number(variable: str) -> Node:
    return call("isinstance", name(variable), tuple_([name(n) for n in _NUMBERS]))


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


def _in_place(body: Block) -> list[str]:
    """Return the names of what a block writes into, as far as it says so."""
    found: dict[str, None] = dict.fromkeys(sorted(_augmented(body)))
    for x in _own(body):
        if isinstance(x, gast.Subscript) and isinstance(x.ctx, gast.Store):
            if isinstance(x.value, gast.Name):
                found[x.value.id] = None
        if isinstance(x, gast.Call):
            given = [k.value for k in x.keywords if k.arg == "out"]
            if isinstance(x.func, gast.Attribute) and x.func.attr == "at":
                given += x.args[:1]
            found.update(dict.fromkeys(n.id for n in given if isinstance(n, gast.Name)))
    return list(found)


def locate_all(node: Node, origin: Node) -> Node:
    """Return a node that stands, with all in it that stands nowhere, where another one does."""
    for n in walk(node):
        if getattr(n, "lineno", None) is None:
            locate(n, origin)
    return node
