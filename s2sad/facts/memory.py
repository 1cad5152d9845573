"""Which names may share memory, and where memory is written in place.

Two names are in one class where one may be the other, a view or a part of it. A write changes
the memory of the whole class. Scalars, strings and None share nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import logging
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.checkpoints import checkpoint
from s2sad.emitted.replay import run_checkpointed, run_until, runs_rounds
from s2sad.facts.inplace import undecided
from s2sad.facts.lent import asked_for, lent, run_by, runs, wanted, words_in
from s2sad.facts.managers import may_be_written
from s2sad.facts.marks import is_empty, is_marks
from s2sad.facts.members import SETTING
from s2sad.facts.results import binary_kind
from s2sad.inside import hook_here
from s2sad.kinds import Kind
from s2sad.known.built import run_by_making
from s2sad.known.generators import GENERATORS, generator_of
from s2sad.known.outputs import positional_outs, spares_copy
from s2sad.known.samples import is_number
from s2sad.nodes import (
    COMPREHENSIONS,
    Block,
    Node,
    all_inside,
    blocks_of,
    children,
    constant,
    names_read,
    names_written,
    operands,
    told_of,
    walk,
)
from s2sad.stages import Aliases, Function, KindFacts, Write
from s2sad.syntax.elements import heads
from s2sad.syntax.flow import live_in
from s2sad.syntax.fresh import makes_new

shares_nothing = K.shares_nothing
Summary = Callable[[Any, Any], "tuple[list[Any], list[Any], Kind, frozenset[str]] | None"]
Returned = Callable[[Any], "tuple[list[Any], frozenset[str], dict[str, list[Any]]] | None"]

_LIBRARIES = ("numpy", "scipy", "cupy", "cupyx", "s2sad", "logging")
_CONTROL = "s2sad.control"  # as good as the user's
CACHED = "()"
"""How the partner of names ends that may hold what a cached function gave."""
_CHOOSERS: tuple[Any, ...] = (max, min)


@dataclass
class Memory:
    """Classes of names that may share memory, the writes, and calls nobody can see into.

    `rebinding` are statements `s += t` that may be read as `s = s + t`: nobody can tell.
    While a function that calls itself is looked at, its memory is not `known`: `assumed` are the
    parameters that it is taken to write, `asked` says whether a call of it was met. `lasting` are
    calls that change a default of what they call, which lasts from call to call; `leaves` says that
    the function binds a name outside to what depends on its arguments. `stopping` are calls whose
    results take no derivative from what they are given. `asks` are the attributes for which the
    function, and what it calls, asks values of which nobody knows the kind.
    """

    parent: dict[str, str] = field(default_factory=dict)
    rebinding: set[Any] = field(default_factory=set)
    writes: list[Write] = field(default_factory=list)
    opaque: list[tuple[Any, Any, frozenset[str]]] = field(default_factory=list)
    aliases: Aliases = field(default_factory=Aliases)
    local: frozenset[str] = frozenset()
    known: bool = True
    assumed: frozenset[str] = frozenset()
    asked: bool = False
    lasting: tuple[Any, ...] = ()
    leaves: bool = False
    stopping: frozenset[Any] = frozenset()
    asks: frozenset[str] = frozenset()

    @property
    def keeps(self) -> bool:
        """Whether a call may put what depends on its arguments where the next call finds it."""
        return bool(self.lasting) or self.leaves

    @property
    def changes(self) -> dict[Any, list[str]]:
        """The variables whose memory each statement may write."""
        found: dict[Any, list[str]] = {}
        for write in self.writes:
            found.setdefault(write.statement, []).append(write.base)
        for statement, _, given in self.opaque:
            found.setdefault(statement, []).extend(sorted(given))
        return found

    def classes_of(self, names: frozenset[str]) -> dict[str, str]:
        """Return a representative of each name that may share memory with another."""
        classes = Memory()
        for n in sorted(names):
            classes.unite(n, self.find(n))
            for other in sorted(self.aliases.ever(n) & names):
                classes.unite(n, other)
        return {n: classes.find(n) for n in names}

    def find(self, name: str) -> str:
        """Return the representative of a name's class."""
        while self.parent.get(name, name) != name:
            name = self.parent[name]
        return name

    def unite(self, one: str, other: str) -> None:
        """Put two names into one class."""
        a, b = self.find(one), self.find(other)
        if a != b:
            self.parent[max(a, b)] = min(a, b)
        self.parent.setdefault(one, self.find(one))
        self.parent.setdefault(other, self.find(other))

    def shares(self, name: str, names: frozenset[str] | set[str]) -> set[str]:
        """Return those of the names that may share memory with a name."""
        root = self.find(name)
        return {n for n in names if self.find(n) == root}


def memory(function: Function, kinds: KindFacts, summary: Summary, returned: Returned) -> Memory:
    """Return what is known about a function's memory.

    `summary(call, kinds)` gives the arguments, as nodes, that a called user's function may write:
    the arrays it writes by plain statements, and all others; of what kind these are, and what the
    function asks for of values of no known kind; or None where nothing is known about the callee.
    `returned(call)` gives the arguments of which its result may hold memory, and marks of that.
    """
    worker = Walker(function, kinds, summary, returned)
    worker.memory.local = function.locals
    worker.memory.leaves = _leaves_outside(function, kinds)
    worker.block(function.node.body)
    worker.settle()
    return worker.memory


def _leaves_outside(function: Function, kinds: KindFacts) -> bool:
    """Say whether a name outside is bound to a number or array that depends on the arguments."""
    statements = list(all_inside(function.node.body))
    declared = [s for s in statements if isinstance(s, gast.Nonlocal | gast.Global)]
    outer = {n for s in declared for n in s.names}
    tainted = set(function.params)
    while outer:
        before = len(tainted)
        for s in statements:
            if names_read(s) & tainted:
                tainted |= names_written(s)
        if len(tainted) == before:
            break
    hit = outer & tainted
    return any(K.differentiable(env.get(n, K.UNBOUND)) for env in kinds.after.values() for n in hit)


class Walker:
    """Goes through a function once and notes who shares memory, and what is written."""

    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        summary: Summary,
        returned: Returned = lambda _: None,
    ) -> None:
        self.function = function
        self.kinds = kinds
        self.summary = summary
        self.returned = returned
        self.memory = Memory()
        self.unsure: list[Any] = []
        self.loose = undecided(function, kinds)
        self.picks = False
        self.kept: dict[str, list[Node]] = {}

    def settle(self) -> None:
        """Decide of each `s += t`, where s is a number or an array, whether it is a write.

        An array that no other living name can reach is as good as a new one.
        """
        found = self.memory.opaque
        found[:] = [(s, node, given | self._held_by(s, node)) for s, node, given in found]
        live: dict[Any, frozenset[str]] = {}
        if self.unsure:
            live_in(self.function.node.body, frozenset(), live.__setitem__, extra=self._header)
        for s in self.unsure:
            reach = {n for n in self.memory.parent if n != s.target.id}
            shared = self.memory.shares(s.target.id, reach)
            outside = shared - (self.function.locals - set(self.function.params))
            given = {n for _, _, names in self.memory.opaque for n in names}
            if outside or shared & live[s] or given & (shared | {s.target.id}):
                self.write(s, s.target, "item")
            else:
                self.memory.rebinding.add(s)

    def _header(self, loop: Any) -> tuple[set[str], set[str]]:
        """Return what the bindings of a loop's header read and write."""
        plan = self.function.loops.get(loop)
        bindings = plan.bindings if plan is not None else ()
        read = set().union(*(names_read(b) for b in bindings), set())
        return read, set().union(*(names_written(b) for b in bindings), set())

    def block(self, body: Block) -> None:
        for s in body:
            if self.kinds.decided.get(s) is not None:
                self.block(s.body if self.kinds.decided[s] else s.orelse)
                continue
            self.statement(s)
            for part in blocks_of(s):
                self.block(part)

    def statement(self, s: Node) -> None:
        if isinstance(s, gast.Assign):
            for target in s.targets:
                if isinstance(target, gast.Subscript | gast.Attribute):
                    self.write(s, target, "item")
                    base = root(target)
                    for n in self.aliases(s.value):
                        if base is not None:
                            self.memory.unite(base, n)
                else:
                    self.bind(s, target, s.value)
            self.calls(s, s.value)
        elif isinstance(s, gast.AugAssign):
            kind = self.kinds.of.get(s.target, K.UNKNOWN)
            scalar = isinstance(s.target, gast.Name) and isinstance(
                kind, K.Num | K.Str | K.Tuple | K.NoneKind
            )
            if self._may_rebind(s, kind):
                self.unsure.append(s)
            elif not scalar:
                self.write(s, s.target, "item")
            self.calls(s, s.value)
        elif isinstance(s, gast.For):
            loop = self.function.loops[s]
            for b in loop.bindings:
                self.statement(b)
            if loop.bounds is None:
                self.bind(s, s.target, s.iter)
            self.calls(s, s.iter)
        elif isinstance(s, gast.Delete):
            for target in s.targets:
                if isinstance(target, gast.Subscript | gast.Attribute):
                    self.write(s, target, "item")
        elif isinstance(s, gast.Expr):
            self.calls(s, s.value)
        elif isinstance(s, gast.If | gast.While):
            self.calls(s, s.test)
        elif isinstance(s, gast.Match):
            for part in (s.subject, *(c.guard for c in s.cases if c.guard is not None)):
                self.calls(s, part)
        elif isinstance(s, gast.Assert | gast.Raise):
            for part in told_of(s) if isinstance(s, gast.Raise) else children(s):
                self.calls(s, part)
            if isinstance(s, gast.Raise) and s.exc is not None:
                self.called(s, s.exc)
        elif isinstance(s, gast.Try):
            for h in s.handlers:
                if h.type is not None:
                    self.calls(s, h.type)
        elif isinstance(s, gast.FunctionDef):
            for n in sorted(rebound(s) & self.function.locals):
                self.memory.writes.append(Write(s, n, "rebind", K.UNKNOWN))
        elif isinstance(s, gast.With):
            for item in s.items:
                self.calls(s, item)
                for argument in may_be_written(item.context_expr, self.kinds):
                    self._into(s, argument, K.UNKNOWN)
                known = self.kinds.before.get(s, {})
                given = names_read(item.context_expr) & self.function.locals
                given = {n for n in given if not shares_nothing(known.get(n, K.UNKNOWN))}
                if not self.kinds.passing.get(item):
                    self.memory.opaque.append((s, item.context_expr, frozenset(given)))
                if item.optional_vars is not None:
                    self.bind(s, item.optional_vars, item.context_expr)

    def _may_rebind(self, s: Node, kind: Kind) -> bool:
        """Say whether `s += t` may have a number or an array on its left, and keeps the dtype."""
        if not isinstance(s.target, gast.Name) or s.target.id not in self.loose:
            return False
        if isinstance(kind, K.Num):
            return False
        after = binary_kind(type(s.op), kind, self.kinds.of.get(s.value, K.UNKNOWN))
        dtypes = {k.dtype for k in K.options(kind) if isinstance(k, K.Array)}
        made = {k.dtype for k in K.options(after) if isinstance(k, K.Array)}
        return K.is_numeric(kind) and K.is_numeric(after) and len(made | dtypes) == 1

    def bind(self, s: Node, target: Node, value: Node) -> None:
        after = self.kinds.after.get(s, {})
        aliases = self.aliases(value)
        if isinstance(target, gast.Name) and isinstance(value, gast.Call):
            self.kept[target.id] = self._held_in(value)
        for n in names_written(target):
            kind = after.get(n, K.UNKNOWN)
            if shares_nothing(kind):
                continue
            for other in aliases:
                self.memory.unite(n, other)

    def write(self, s: Node, target: Node, how: str, whole: bool = False) -> None:
        base = root(target)
        if base is None:
            return
        part = isinstance(target, gast.Subscript | gast.Attribute)
        holder = target.value if part and how == "item" and not whole else target
        self.memory.writes.append(Write(s, base, how, self.kinds.of.get(holder, K.UNKNOWN)))

    def aliases(self, node: Node) -> set[str]:
        """Return the names with whose memory a value may share its own."""
        known = isinstance(node, gast.Call) and not _is_cached(node, self.kinds)
        found = self.returned(node) if known else None
        held = [node] if found is None else found[0]
        return set().union(*(sources(part, self.kinds) for part in held))

    def calls(self, s: Node, value: Node) -> None:
        """Note what the calls in an expression may write."""
        pending = [value]
        while pending:
            n = pending.pop()
            if isinstance(n, gast.Lambda):
                continue  # its body runs where it is called
            pending += children(n)
            self.called(s, n)
            self.implied(s, n)

    def implied(self, s: Node, node: Node) -> None:
        """Note what the methods may write that run where none is named."""
        for made in self.kinds.implied.get(node, ()):
            _, owner = self.kinds.methods[made]
            written = self.summarised(made) or ([], [owner])  # what cannot be followed may write
            for argument in (*written[0], *written[1]):
                self._into(s, argument, K.UNKNOWN)

    def summarised(self, call: Node) -> tuple[list[Any], list[Any], Kind, frozenset[str]] | None:
        """Return what a called function may write; what it asks for, the function at hand does."""
        found = self.summary(call, self.kinds)
        self.memory.asks |= frozenset() if found is None else found[3]
        return found

    def called(self, s: Node, node: Node) -> None:
        """Note what a call, or an operation that runs a function of the user's, may write."""
        for picked, word in asked_for(node, self.kinds):
            cls = self.kinds.objects.get(getattr(picked, "func", None)) is type
            if not cls and isinstance(self.kinds.of.get(picked, K.UNKNOWN), K.Unknown):
                self._picked(s, node, picked, word)
            elif picked in getattr(node, "args", ()):
                names = self._in_reach(s, names_read(picked))
                for n in sorted(self._run_beside(s, names, frozenset({word}))):
                    self.memory.writes.append(Write(s, n, "item", K.UNKNOWN))
        if isinstance(node, gast.Call):
            self._call(s, node)
        elif node in self.kinds.methods:
            self._users_function(s, node)

    def _picked(self, s: Node, node: Node, picked: Node, word: str) -> None:
        """Note what runs on an object that an expression picks out: `[e for e in l][0].up()`.

        No kind says which object that is. So all from which it may be picked may be written.
        """
        env = self.kinds.before.get(s, {})
        names = self._in_reach(s, names_read(picked))
        self.memory.asks |= {word}
        given = {n for n in names if any(runs(k, word) for k in _parts(env.get(n, K.UNBOUND)))}
        if given:
            self.picks = True
            self.memory.opaque.append((s, node, frozenset(given)))

    def _in_reach(self, s: Node, names: set[str]) -> set[str]:
        """Return names through which that may be reached which an expression reads: also others."""
        env = self.kinds.before.get(s, {})
        inside = [n for part in heads(s) for n in walk(part) if isinstance(n, gast.Name)]
        inner = {n.id for n in inside if not isinstance(n.ctx, gast.Load)}
        if names & (inner - env.keys()):  # a comprehension's or a lambda's own variable
            names = {n.id for n in inside}
        known = frozenset(self.memory.parent)
        for n in {n for n in names & known if isinstance(env.get(n), K.Unknown)}:
            names = names | self.memory.shares(n, known)
        return names

    def _given_picked(self, s: Node, node: Node) -> None:
        """Note that a function may write an object whose kind is not known: `f(min(l, key=k))`."""
        env = self.kinds.before.get(s, {})
        for a in getattr(node, "args", ()):
            if isinstance(a, gast.Call) and isinstance(self.kinds.of.get(a), K.Unknown):
                objects = (n for n in names_read(a) if _has_objects(env.get(n, K.UNBOUND)))
                given = frozenset(objects)
                if given:
                    self.picks = True
                    self.memory.opaque.append((s, node, given))

    def _call(self, s: Node, node: Node) -> None:
        fn = self.kinds.objects.get(node.func)
        if runs_rounds(fn):
            return  # what its body writes is its own, or refused
        if fn is hook_here or fn is checkpoint:
            return  # what it is given is not called here
        if self._is_users(node, fn) or registry.written_form(fn) is not None:
            self._users_function(s, node)
            return
        for given in [*node.args, *(k.value for k in node.keywords)]:
            if given not in _called_by_rule(fn, node):
                self._handed_over(s, node, given)
        for k in node.keywords:
            if k.arg == "out" and not _makes_of_fields(fn, node):
                self.write(s, k.value, "item", whole=True)
        called = self.kinds.of.get(node.func)
        if isinstance(called, K.Opaque) and registry.object_function(called.cls, "__call__"):
            return
        if fn is None and isinstance(node.func, gast.Attribute) and node not in self.kinds.methods:
            self._method(s, node)
            return
        if getattr(fn, "__name__", "") == "at" and isinstance(fn, types.BuiltinMethodType):
            self.write(s, node.args[0], "item", whole=True)
            return
        if fn is not None:
            for argument in positional_outs(fn, node.args):
                self.write(s, argument, "item", whole=True)
        effects = registry.effects_of(fn)
        if (
            effects.writes == "puts" or (fn is np.nan_to_num and spares_copy(fn, node))
        ) and node.args:
            self.write(s, node.args[0], "item", whole=True)
            return
        if effects.does == "calls" and effects.reads:
            given = frozenset(n for a in node.args for n in self.aliases(a))
            self.memory.opaque.append((s, node, given))
            return
        if fn is not None and (registry.rule_for(fn) is not None or is_observer(fn)):
            return
        given = [*node.args, *(k.value for k in node.keywords)]
        if registry.only_computes(fn) and all(is_number(self.kinds.of.get(a)) for a in given):
            return
        if generator_of(fn) is not None:
            self._drawn(s, node, getattr(fn, "__name__", ""))
            return
        if fn is runtime.object_of:
            return
        if any(fn is f for f in (*SETTING, vars)) and node.args:
            self.write(s, node.args[0], "item", whole=True)
            return
        if isinstance(fn, type) and not run_by_making(fn):
            if issubclass(fn, tuple) or dataclasses.is_dataclass(fn):
                return
        self._users_function(s, node)

    def _drawn(self, s: Node, node: Node, method: str) -> None:
        """A shuffle writes what it is given; `out=` is seen to already."""
        if method == "shuffle" and node.args:
            self.write(s, node.args[0], "item", whole=True)

    def _handed_over(self, s: Node, node: Node, given: Node) -> None:
        """Note what a function may write that a library is given to call: `sorted(xs, key=f)`."""
        fn: Any = self.kinds.objects.get(node.func)
        if fn is runtime.object_of or (is_observer(fn) and not registry.effects_of(fn).reads):
            return  # what it is given is not called here
        for each in (given, *self._held_in(given)):
            for option in lent(self.kinds.of.get(each, K.UNKNOWN)):
                self._lent(s, node, each, option)
        kind = self.kinds.of.get(given)
        if isinstance(given, gast.Call) and isinstance(kind, K.Unknown) and not kind.cls:
            if lent(self.kinds.of.get(given.func, K.UNKNOWN)):  # it may make a function
                self._lent(s, node, given, kind)

    def _lent(self, s: Node, node: Node, given: Node, option: Kind) -> None:
        """Note what one function may write: what it captures, and what it is called with."""
        passed = [constant(None) for _ in range(wanted(option, lambda: self._count(node)))]
        found = self.summarised(gast.Call(given, passed, []))
        variables = frozenset(getattr(option, "variables", ()))
        beside = self._in_reach(s, names_read(node)) | variables
        arrays, others, _, asks = found or ((), (), K.UNKNOWN, words_in(option))
        written = self._run_beside(s, beside, asks)
        rule = registry.rule_for(self.kinds.objects.get(node.func))
        for argument in [*arrays, *others]:
            if argument not in passed:
                written |= self.aliases(argument)
            elif rule is None or not rule.calls:  # else its rule says what it is called with
                written |= self._mutable(s, beside)
        for n in sorted(written):
            self.memory.writes.append(Write(s, n, "item", K.UNKNOWN))
        if isinstance(option, K.LocalFunction) and (found is None or written - variables):
            self.memory.opaque.append((s, node, variables))  # it may write what it captures there

    def _objects_in_reach(self, s: Node, given: frozenset[str]) -> frozenset[str]:
        """Return what holds the objects that a comprehension's variable may be, which is given."""
        env = self.kinds.before.get(s, {})
        return frozenset(
            n for n in self._in_reach(s, set(given)) if _has_objects(env.get(n, K.UNBOUND))
        )

    def _held_in(self, given: Node) -> list[Node]:
        """Return the functions that were given to what made a value: `functools.cmp_to_key(f)`."""
        if isinstance(given, gast.Name):
            return self.kept.get(given.id, [])
        if not isinstance(given, gast.Call) or lent(self.kinds.of.get(given, K.UNKNOWN)):
            return []
        args = [*given.args, *(k.value for k in given.keywords)]
        return [a for a in args if lent(self.kinds.of.get(a, K.UNKNOWN))]

    def _mutable(self, s: Node, names: set[str]) -> set[str]:
        env = self.kinds.before.get(s, {})
        return {n for n in names if not shares_nothing(env.get(n, K.NONE))}

    def _run_beside(self, s: Node, names: set[str], asks: frozenset[str]) -> set[str]:
        """Return which names hold objects that write something where they are asked.

        No kind says of which objects an attribute is asked for: `sorted(bs, key=lambda b: b.up())`.
        """
        env = self.kinds.before.get(s, {})
        written: set[str] = set()
        for n in sorted(names):
            kinds = [k for k in _parts(env.get(n, K.UNBOUND)) if isinstance(k, K.Obj)]
            calls = [call for k in kinds for call in run_by(self.kinds, k, asks)]
            found = [self.summarised(call) for call in calls]
            written |= {n} if any(f is None or f[0] or f[1] for f in found) else set()
        return written

    def _count(self, node: Node) -> int:
        """Return with how many arguments a library calls the function that it is given."""
        fn: Any = self.kinds.objects.get(node.func)
        rule = registry.rule_for(fn)
        if rule is None or not rule.calls:
            return 1
        given = inspect.signature(fn).bind_partial(
            *node.args, **{k.arg: k.value for k in node.keywords if k.arg is not None}
        )
        more = self.kinds.of.get(given.arguments.get("args"), K.NONE)
        count = min(text.count(",") + 1 - text.count("*") for text in rule.calls.values())
        if isinstance(more, K.NoneKind):
            return count
        return count + (len(more.items) if isinstance(more, K.Tuple) else 1)

    def _users_function(self, s: Node, node: Node) -> None:
        """Note what a function of the user's, or an operator or property of his, may write."""
        self._given_picked(s, node)
        written = self.summarised(node)
        if written is None:
            args = [*getattr(node, "args", []), *(k.value for k in getattr(node, "keywords", []))]
            method = self.kinds.methods.get(node)
            if method is not None:
                args = [method[1], *operands(node, method[1])]
                args += [k.value for k in getattr(node, "keywords", [])]
            if registry.effects_of(self.kinds.objects.get(getattr(node, "func", None))).is_reader:
                args = [a for a in args if not isinstance(a, COMPREHENSIONS)]
            given = frozenset(n for a in args for n in self.aliases(a))
            given |= captured(node, self.kinds) | self._objects_in_reach(s, given)
            self.memory.opaque.append((s, node, given))
            return
        arrays, others, owner, _ = written
        for argument in arrays:
            if self._plain_call(s, node, argument):
                array = self.kinds.before.get(s, {}).get(argument.id, K.UNKNOWN)
                self.memory.writes.append(Write(s, argument.id, "call", array))
            else:
                self._into(s, argument, K.UNKNOWN)
        for argument in others:
            self._into(s, argument, owner)

    def _into(self, s: Node, argument: Node, owner: Kind) -> None:
        """Note that a call may write what it is given in an argument: structures of a kind."""
        found = self.aliases(_bare(argument)) | {root(_bare(argument)) or ""} - {""}
        if not found:  # it is picked out of something
            env = self.kinds.before.get(s, {})
            found = {n for n in names_read(argument) if K.is_container(env.get(n, K.UNBOUND))}
        for n in sorted(found):
            self.memory.writes.append(Write(s, n, "item", owner))

    def _held_by(self, s: Node, node: Node) -> frozenset[str]:
        """Return the names whose memory is within reach of what is called: `h = x.fill; h(1.0)`."""
        func = getattr(node, "func", None)
        base = root(func) if isinstance(func, gast.Name | gast.Subscript) else None
        if base not in self.function.locals or self.kinds.objects.get(func) is not None:
            return frozenset()
        kind = self.kinds.of.get(func) or self.kinds.before.get(s, {}).get(base, K.UNKNOWN)
        if isinstance(kind, K.Known | K.LocalFunction | K.Choice):
            return frozenset()
        return frozenset(self.memory.shares(base, frozenset(self.memory.parent) | {base}))

    def _is_users(self, node: Node, fn: Any) -> bool:
        """Say whether a function of the user's is called: it is its source that counts."""
        if isinstance(self.kinds.of.get(node.func), K.LocalFunction):
            return True
        module = getattr(fn, "__module__", "") or ""
        return (
            isinstance(fn, types.FunctionType)
            and registry.rule_for(fn) is None
            and (module == _CONTROL or module.split(".")[0] not in _LIBRARIES)
            and not is_observer(fn)
        )

    def _plain_call(self, s: Node, node: Node, argument: Node) -> bool:
        """Say whether a statement is just this call, and gives the array by its name."""
        kind = self.kinds.before.get(s, {}).get(getattr(argument, "id", ""), K.UNKNOWN)
        return (
            isinstance(s, gast.Assign | gast.Expr)
            and s.value is node
            and isinstance(node, gast.Call)
            and isinstance(argument, gast.Name)
            and (isinstance(K.without_none(kind), K.Array) or is_marks(kind) or is_empty(kind))
            and (isinstance(s, gast.Expr) or isinstance(s.targets[0], gast.Name))
        )

    def _method(self, s: Node, node: Node) -> None:
        owner = self.kinds.of.get(node.func.value, K.UNKNOWN)
        attr = node.func.attr
        if K.may_be_array(owner):
            method = registry.method_like(attr)
            for argument in positional_outs(method, [node.func.value, *node.args]):
                self.write(s, argument, "item", whole=True)
            looks = registry.effects_of(getattr(np.ndarray, attr, None)).does == "nothing"
            if method is None and not registry.is_zero_method(attr) and not looks:
                self.write(s, node.func.value, "item", whole=True)
                return
        elif attr.startswith("__") and not isinstance(owner, K.Num | K.Str):
            self.write(s, node.func.value, "item", whole=True)
            return
        if registry.method_writes(attr) and not isinstance(owner, K.Num | K.Str):
            how = "append" if attr == "append" and isinstance(owner, K.List) else "item"
            self.write(s, node.func.value, how, whole=True)
            base = root(node.func.value)
            for a in node.args:
                for n in self.aliases(a):
                    if base is not None:
                        self.memory.unite(base, n)
        elif isinstance(owner, K.Unknown) and owner.cls in GENERATORS:
            self._drawn(s, node, attr)
        elif is_logger(owner):
            return
        elif isinstance(owner, K.Opaque):
            if registry.object_function(owner.cls, attr) is None:
                self.write(s, node.func.value, "item", whole=True)
        elif isinstance(owner, K.Unknown | K.Obj | K.OneOf):
            base = root(node.func.value)
            given = frozenset(n for a in node.args for n in self.aliases(a))
            if base in self.function.locals and isinstance(owner, K.Obj | K.OneOf):
                given |= {base}
            self.memory.opaque.append((s, node, given))


def sources(node: Node, kinds: KindFacts) -> frozenset[str]:
    """Return the names with whose memory a value may share its own."""
    if shares_nothing(kinds.of.get(node, K.UNKNOWN)):
        return frozenset()
    if isinstance(node, gast.Name):
        return frozenset({node.id})
    if _copies_structure(node, kinds):
        return frozenset()
    if isinstance(node, gast.Call) and _is_cached(node, kinds):
        return frozenset({f"{kinds.objects[node.func].__qualname__}{CACHED}"})
    parts: list[Any] = []
    if isinstance(node, gast.Subscript):
        if isinstance(kinds.of.get(node.value), K.Array) and _copies(node.slice, kinds):
            return frozenset()
        parts = [node.value]
    elif isinstance(node, gast.Attribute | gast.Starred):
        owner = kinds.of.get(node.value)
        if isinstance(owner, K.Obj) and node.attr not in dict(owner.fields):
            held = inspect.getattr_static(owner.cls, node.attr, None)
            if held is not None and not hasattr(type(held), "__get__"):
                return frozenset({f"{owner.cls.__name__}.{node.attr}"})  # what the class has
        parts = [node.value]
    elif isinstance(node, gast.Tuple | gast.List | gast.Set):
        parts = list(node.elts)
    elif isinstance(node, gast.Dict):
        parts = list(node.values)
    elif isinstance(node, gast.IfExp):
        parts = [node.body, node.orelse]
    elif isinstance(node, COMPREHENSIONS):
        held = node.value if isinstance(node, gast.DictComp) else node.elt
        nothing = shares_nothing(kinds.of.get(held, K.UNKNOWN))
        return frozenset() if nothing else frozenset(names_read(node))
    elif isinstance(node, gast.BinOp):
        if not K.is_numeric(kinds.of.get(node, K.UNKNOWN)):
            parts = [node.left, node.right]
    elif isinstance(node, gast.Call):
        return _call_sources(node, kinds)
    return frozenset().union(*(sources(p, kinds) for p in parts))


def _is_cached(call: Node, kinds: KindFacts) -> bool:
    """Say whether a call may give an object that an earlier one gave, and later ones give again."""
    return isinstance(kinds.objects.get(call.func), functools._lru_cache_wrapper)


def _parts(kind: Kind) -> Iterator[Kind]:
    """Yield a kind and those of all parts."""
    yield kind
    for inner in kind.inside:
        yield from _parts(inner)


def _has_objects(kind: Kind) -> bool:
    return any(isinstance(part, K.Obj) for part in _parts(kind))


def _copies_structure(node: Node, kinds: KindFacts) -> bool:
    """Say whether a value is a new list or dict of what has no memory: `xs[1:]`, `list(xs)`."""
    kind = kinds.of.get(node)
    if not isinstance(kind, K.BuiltIn) or not all(map(shares_nothing, kind.inside)):
        return False
    if isinstance(node, gast.Call):
        fn = kinds.objects.get(node.func)
        if fn is None and isinstance(node.func, gast.Attribute):
            return node.func.attr == "copy" and node not in kinds.methods
        return any(fn is made for made in (list, sorted, dict))
    sliced = isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Slice)
    return sliced or isinstance(node, gast.BinOp | gast.List | gast.Dict)


def _copies(index: Node, kinds: KindFacts) -> bool:
    """Say whether an index into an array gives a copy: arrays of integers or booleans do."""
    if isinstance(index, gast.Tuple):
        return any(_copies(e, kinds) for e in index.elts)
    return isinstance(kinds.of.get(index), K.Array | K.List)


_MAKE_ANEW: tuple[Any, ...] = (
    run_checkpointed,
    run_until,
    runtime.zeros_like,
)


def makes_anew(fn: object) -> bool:
    """Say whether what a helper of derived text gives shares memory with nothing."""
    return any(fn is made for made in _MAKE_ANEW)


def _call_sources(node: Node, kinds: KindFacts) -> frozenset[str]:
    fn = kinds.objects.get(node.func)
    rule = registry.rule_for(fn) if fn is not None else None
    outs = [k.value for k in node.keywords if k.arg == "out"]
    given = given_back(node, kinds)
    if given is not None:
        return sources(given, kinds)
    if node.args and registry.effects_of(fn).held:
        return sources(node.args[0], kinds)
    if _crosses(node, kinds) or makes_anew(fn):
        return frozenset()
    if fn in _CHOOSERS and K.may_be_array(kinds.of.get(node, K.UNKNOWN)):
        return frozenset().union(*(sources(a, kinds) for a in node.args))
    if rule is None and isinstance(node.func, gast.Attribute) and fn is None:
        owner = kinds.of.get(node.func.value)
        drawn = isinstance(owner, K.Unknown) and owner.cls in GENERATORS
        if drawn and not outs and isinstance(kinds.of.get(node), K.Array):
            return frozenset()
        if owner is not None and K.is_numeric(owner):
            method = registry.method_like(node.func.attr)
            rule = registry.rule_for(method) if method is not None else None
            outs += positional_outs(method, [node.func.value, *node.args])
        elif isinstance(owner, K.Opaque) and isinstance(kinds.of.get(node), K.Array):
            rule = _rule_of_object(owner, node.func.attr)
    elif isinstance(kinds.of.get(node.func), K.Opaque) and isinstance(kinds.of.get(node), K.Array):
        rule = _rule_of_object(kinds.of[node.func], "__call__")
    elif fn is not None:
        outs += positional_outs(fn, node.args)
    if (
        rule is not None
        and not rule.shows(getattr(kinds.of.get(next(iter(node.args), None)), "rank", None))
        and not outs
        and not spares_copy(fn, node)
        and not isinstance(kinds.of.get(node), K.Tuple)
        and not K.is_container(kinds.of.get(node, K.UNKNOWN))
    ):
        return frozenset()
    if makes_new(fn, node):
        return frozenset()
    parts = [*node.args, *(k.value for k in node.keywords)]
    if isinstance(node.func, gast.Attribute) and fn is None:
        parts.append(node.func.value)
    method = kinds.methods.get(node)
    if method is not None:
        parts.append(method[1])
    return captured(node, kinds).union(*(sources(p, kinds) for p in parts))


def _rule_of_object(owner: Any, name: str) -> registry.Rule | None:
    """Return the rule of what an object of a library does, if it has one."""
    served = registry.object_function(owner.cls, name)
    return None if served is None else registry.rule_for(served)


def _crosses(node: Node, kinds: KindFacts) -> bool:
    """Say whether an array of another namespace is made: what is elsewhere shares no memory."""
    made = kinds.of.get(node)
    given = [kinds.of.get(a) for a in (*node.args, getattr(node.func, "value", None))]
    arrays = [k for k in given if isinstance(k, K.Array)]
    return isinstance(made, K.Array) and any(k.namespace != made.namespace for k in arrays)


def captured(node: Node, kinds: KindFacts) -> frozenset[str]:
    """Return the variables that inner functions which may be called here read from outside."""
    called = lent(kinds.of.get(getattr(node, "func", None), K.NONE))
    return frozenset(n for fn in called for n in getattr(fn, "variables", ()))


def given_back(node: Node, kinds: KindFacts) -> Any:
    """Return the array that a call of the library gives back, or None: one of a conversion does.

    `x.conj()` of a real array is x, and `np.float64(x)` is, where x is of that type.
    """
    fn = kinds.objects.get(node.func)
    if isinstance(fn, type) and issubclass(fn, np.generic) and len(node.args) == 1:
        owner, given = kinds.of.get(node.args[0], K.UNKNOWN), node.args[0]
        itself = isinstance(owner, K.Array) and owner.dtype in ("any", np.dtype(fn).name)
    elif fn is None and isinstance(node.func, gast.Attribute):
        owner, given = kinds.of.get(node.func.value, K.UNKNOWN), node.func.value
        conjugate = node.func.attr in ("conj", "conjugate")
        itself = conjugate and isinstance(owner, K.Array) and not K.is_complex(owner)
    else:
        return None
    return given if itself else None


def _makes_of_fields(fn: Any, node: Node) -> bool:
    """Say whether a call makes an object or a table: keywords are names of what that holds."""
    replaces = isinstance(node.func, gast.Attribute) and node.func.attr == "_replace"
    return isinstance(fn, type) or fn is dataclasses.replace or replaces


def rebound(definition: Node) -> set[str]:
    """Return the names of the surroundings that an inner function binds anew."""
    return {
        n for s in walk(definition) if isinstance(s, gast.Nonlocal | gast.Global) for n in s.names
    }


def touches(write: Write, kind: Kind) -> bool:
    """Say whether a value of a kind, sharing memory with what is written, may change."""
    if write.how == "rebind":
        return True
    if shares_nothing(kind):
        return False
    return not (K.is_container(write.owner) and isinstance(kind, K.Array))


def is_observer(fn: Any) -> bool:
    """Say whether a function only looks at its arguments."""
    if registry.effects_of(fn).writes == "nothing":
        return True
    module = getattr(fn, "__module__", "") or ""
    owner = getattr(fn, "__self__", None)
    return module.startswith(("logging", "numpy.testing")) or isinstance(owner, _LOGGERS)


def may_store(fn: Any) -> bool:
    """Say whether a function without Python source may change a list, a dict or an object.

    Array libraries write arrays; methods of what never changes, such as words, write nothing.
    """
    if isinstance(fn, types.FunctionType | types.MethodType | type) or is_observer(fn):
        return False
    owner = getattr(fn, "__self__", None)
    if registry.is_foreign(fn) or registry.is_foreign(type(owner)):
        return False  # np.add, and np.add.at
    if isinstance(owner, str | bytes | int | float):
        return False
    return registry.rule_for(fn) is None


def is_logger(kind: Kind | None) -> bool:
    """Say whether an object is a logger, which only shows what it is given."""
    return isinstance(kind, K.Unknown) and issubclass(kind.cls or object, _LOGGERS)


_LOGGERS = (logging.Logger, logging.LoggerAdapter)


def root(node: Node) -> str | None:
    """Return the variable through which a place is reached."""
    while isinstance(node, gast.Subscript | gast.Attribute | gast.Starred):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None


def _bare(node: Node) -> Node:
    return node.value if isinstance(node, gast.Starred) else node


def _called_by_rule(fn: Any, node: Node) -> list[Node]:
    """Return what is given to a rule's own function that calls functions.

    They are differentiated, and there it is seen to that they change nothing.
    """
    rule = registry.rule_for(fn) if registry.is_helper(fn) else None
    return [] if rule is None or not rule.calls else list(node.args)
