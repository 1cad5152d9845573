"""Calls of checkpointed functions: run as they are, and once more in the backward sweep.

    u = step(u, dt)                u = step(u, dt)
                                   ...
                                   u_bar = step_reverse(step_forward(u, dt), dt, u_bar)

The forward of the pair runs where the reverse does, on the arguments as they were.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.checkpoints import is_checkpointed
from s2sad.emitted.replay import runs_rounds
from s2sad.errors import UnsupportedError
from s2sad.facts.fence import outside_written
from s2sad.facts.given import written_parameters
from s2sad.facts.loop_state import lengths_by_themselves, stays
from s2sad.facts.memory import Memory
from s2sad.kinds import Kind
from s2sad.nodes import Node, blocks_of, count_writes, names_read, names_written, walk
from s2sad.stages import Write
from s2sad.steps.binding import bind_kinds
from s2sad.steps.derivation import Analysed, Derivation, analyse, memory_of
from s2sad.steps.derived_pairs import Target
from s2sad.steps.purity import Purity

_HARMLESS: tuple[Any, ...] = (np.errstate, contextlib.nullcontext)
Find = Callable[[Analysed, Any, Any], Target | None]


def runs_again(fn: Any) -> bool:
    """Say whether calls of a function, or inner function, are run again in the backward sweep."""
    return fn.again if isinstance(fn, K.LocalFunction) else is_checkpointed(fn)


def check_repeatable(d: Derivation, caller: Analysed, target: Target, find: Find) -> None:
    """Refuse a checkpointed function that might do something else when it is run again."""
    once = next((p for p, kind in target.params.items() if _is_used_up(kind)), None)
    if once is not None:
        a = analyse(d, target.fn, target.params, tuple(p for p, _ in target.extra))
        words = f"is given `{once}`, which may be read only once"
        raise _refused(a, a.function.node, words, "Give it a list of the items: list(...).")
    _check(d, target, find, set(), frozenset(_changing(d, caller, target)))


def _is_used_up(kind: Kind) -> bool:
    """Say whether a value is, or holds, something that can be gone through once."""
    once = isinstance(kind, K.Iterable_) and not kind.indexed
    return once or any(map(_is_used_up, kind.inside))


def _changing(d: Derivation, a: Analysed, target: Target) -> set[str]:
    """Return the captured variables, by their names in a called function, that may change.

    Inner functions that it calls see them as they are when it is run again.
    """
    function = a.function
    bound = count_writes(function.node.body)
    top = {n for s in function.node.body if not blocks_of(s) for n in names_written(s)}
    own = {n.id for n in walk(function.source.node.args) if isinstance(n, gast.Name)}
    memory = memory_of(d, a)
    found: set[str] = set()
    for p, n in target.extra:
        if isinstance(target.params[p], K.LocalFunction):
            continue
        once = bound.get(n, 0) == 0 if n in own else bound.get(n, 0) == 1 and n in top
        if not once or any(memory.shares(w.base, {n}) for w in memory.writes):
            found.add(p)
    return found


_OUTSIDE = "Call it outside, and pass its result in."
_TOLD = (
    "Call it outside. A call that only reports, such as print, may stand under `if not "
    "s2sad.within_gradient():`."
)


def _check(
    d: Derivation, target: Target, find: Find, met: set[Any], changing: frozenset[str]
) -> None:
    a = analyse(d, target.fn, target.params, tuple(p for p, _ in target.extra))
    if a in met:
        return
    met.add(a)
    memory = memory_of(d, a)
    written = set(outside_written(a.function, memory))
    if len(met) == 1:  # what is called writes what its caller has, and that is known there
        written |= set().union(*written_parameters(a.function, a.kinds, memory))
    for n in sorted(written):
        raise _refused(a, a.function.node, f"writes into `{n}`", "Let it return the new value.")
    if d.reusable:
        _check_outside(d, a)
    d.repeated.add(a.scope.fn)
    pure = Purity(a, d)
    for s in list(a.kinds.before):
        for node in () if _looked_at_where_called(a, s, find) else _own(s):
            if any(isinstance(a.kinds.of.get(x), K.Unknown) for x in _gone_through(a, node)):
                words = "goes through something that may be read only once"
                raise _refused(a, node, words, "Give it a list of the items: list(...).")
            if isinstance(node, gast.Call) and not _repeats(a, node, pure):
                inner = find(a, s, node)
                if inner is None:
                    words = "calls a function that may give another result the second time"
                    alone = isinstance(s, gast.Expr) and node is s.value
                    raise _refused(a, node, words, _TOLD if alone else _OUTSIDE)
                given = isinstance(node.func, gast.Name) and node.func.id in a.function.params
                seen = {p for p, n in inner.extra if n in changing}
                if given and seen:
                    words = f"calls `{node.func.id}`, which reads a variable that may have changed"
                    raise _refused(a, node, words, "Pass that variable as an argument.")
                _check(d, inner, find, met, frozenset(seen))


def check_untouched(d: Derivation) -> None:
    """Refuse data from outside that a function reads which is run again, and the program writes."""
    for fn in d.repeated:
        for a in list(d.analysed.values()):
            if a.scope.fn is fn and d.written_outside and _data(d, a):
                words = f"reads `{_data(d, a)[0]}` from outside, and this program writes there"
                raise _refused(a, a.function.node, words, "Pass it as an argument.")


def _gone_through(a: Analysed, node: Node) -> list[Node]:
    """Return what an expression, or the header of a loop, draws items from."""
    if isinstance(node, gast.For | gast.comprehension):
        return [node.iter]
    reads = (
        isinstance(node, gast.Call) and registry.effects_of(a.kinds.objects.get(node.func)).reads
    )
    return [*node.args, *(k.value for k in node.keywords)] if reads else []


def _looked_at_where_called(a: Analysed, s: Node, find: Find) -> bool:
    """Say whether a statement makes a lambda that only functions are given, or call, that are read.

    What it does is then seen where it is called.
    """
    if not isinstance(getattr(s, "value", None), gast.Lambda) or len(names_written(s)) != 1:
        return False
    (variable,) = names_written(s)
    uses: list[Node] = []
    seen: list[Node] = []
    for t in list(a.kinds.before):
        for node in _own(t):
            if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
                uses += [node] if node.id == variable else []
            elif isinstance(node, gast.Call) and find(a, t, node) is not None:
                seen += [node.func, *node.args, *(k.value for k in node.keywords)]
    return all(any(use is one for one in seen) for use in uses)


def _own(s: Node) -> list[Node]:
    """Return the nodes of a statement that are evaluated with it, not those of inner blocks."""
    blocks = {id(b) for f in ("body", "orelse", "finalbody", "handlers") for b in getattr(s, f, [])}
    found: list[Node] = []
    stack = [s]
    while stack:
        node = stack.pop()
        found.append(node)
        stack += [c for c in gast.iter_child_nodes(node) if id(c) not in blocks]
    return found


def _repeats(a: Analysed, node: Node, pure: Purity) -> bool:
    """Say whether a library's call gives the same again, and does nothing besides."""
    if pure(node):
        return True
    target = a.kinds.of.get(node.func)
    called = target.value if isinstance(target, K.Known) else a.scope.path(node.func)
    if called is hasattr:
        return True
    if inspect.isclass(called):  # what is raised has no kind
        known = called in _HARMLESS or called.__module__ == "builtins"
        return known or issubclass(called, BaseException) or _only_stores(called)
    owner = a.kinds.of.get(node.func.value) if isinstance(node.func, gast.Attribute) else None
    return owner is not None and K.is_container(owner) and not isinstance(owner, K.Obj | K.OneOf)


def _only_stores(cls: type) -> bool:
    """Say whether a class makes objects that hold what they are made of: it does no more."""
    if issubclass(cls, tuple):
        return hasattr(cls, "_fields")
    init = cls.__init__
    written = not dataclasses.is_dataclass(cls) or init.__code__.co_filename != "<string>"
    if written or hasattr(cls, "__post_init__"):
        return False
    made: Any = cls
    return all(f.default_factory is dataclasses.MISSING for f in dataclasses.fields(made))


def _check_outside(d: Derivation, a: Analysed) -> None:
    """Refuse data read from outside where the backward sweep runs later, and again."""
    for n in _data(d, a):
        node = next((x for x in walk(a.function.node) if getattr(x, "id", "") == n), None)
        words = f"reads `{n}` from outside, which may change before the second run"
        raise _refused(a, node or a.function.node, words, "Pass it as an argument.")


def _data(d: Derivation, a: Analysed) -> list[str]:
    """Return the names of what a function reads from outside that is no code."""
    code = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, str)
    used = {x.id for x in walk(a.function.node) if isinstance(x, gast.Name)} - a.function.locals
    seen = {n: v for n, v in d.seen.get(a.scope.fn, {}).items() if n in used}
    return sorted(n for n, v in seen.items() if not isinstance(v, code) and not callable(v))


def _refused(a: Analysed, node: Node, words: str, remedy: str) -> UnsupportedError:
    source = a.function.source
    runs = f"A checkpointed function is run twice, and {source.name}"
    if source.name.startswith("advance") and isinstance(a.scope.fn, types.FunctionType):
        if a.function.source.name != a.scope.fn.__name__:  # a made-up one: the body of a loop
            runs = "A checkpointed loop runs its rounds again, and its body"
    return UnsupportedError(
        f"{runs} {words}.",
        remedy=remedy,
        place=source.place(node),
    )


# checkpointed loops


def check_rounds(d: Derivation, find: Find, entry: Analysed | None) -> None:
    """Refuse checkpointed loops whose rounds may not be run again, or not on copies of a state.

    The `entry` is what is called, where it is called on copies of what it writes.
    """
    for a in list(d.analysed.values()):
        for s in list(a.kinds.before):
            node = getattr(s, "value", None)
            if isinstance(node, gast.Call) and _runs_rounds(a.kinds.of.get(node.func)):
                _check_round(d, a, s, node, find, a is entry)


def _runs_rounds(kind: Any) -> bool:
    return isinstance(kind, K.Known) and runs_rounds(kind.value)


def _check_round(
    d: Derivation, a: Analysed, s: Node, node: Node, find: Find, on_copies: bool
) -> None:
    body, state = node.args[0], node.args[-1]
    env = a.kinds.before[s]
    made = a.kinds.of[node]
    body_kind = a.kinds.of[body]
    assert isinstance(made, K.Tuple) and isinstance(made.items[0], K.Tuple)
    assert isinstance(a.kinds.of[state], K.Tuple) and isinstance(body_kind, K.LocalFunction)
    start = list(made.items[0].items)
    bound = bind_kinds(body_kind, [K.INT, *start], {}, env)
    if bound is None:
        raise _refused_loop(a, s, "s2sad does not know its body")
    fn, params, extra = bound
    _check_steps(a, s, body_kind, env)
    target = Target(fn, params, {}, extra)
    names = list(params)[1 : len(start) + 1]
    check_repeatable(d, a, target, find)
    advance = analyse(d, fn, params, tuple(p for p, _ in extra))
    ends = advance.kinds.result
    after = ends.items if isinstance(ends, K.Tuple) else ()
    free = lengths_by_themselves(params.values())
    for n, kind in zip(names, after, strict=False):
        before = params[n]
        if not stays(before, kind, free):
            words = f"`{n}` is {K.describe(before)} at first and {K.describe(kind)} after a round"
            if isinstance(before, K.Num) and isinstance(kind, K.Num) and kind.type == "float":
                raise _refused_loop(a, s, words, f"Start `{n}` as a float: 0.0, not 0.")
            if K.describe(before) == K.describe(kind):
                words = f"s2sad cannot tell that `{n}` keeps its shape"
            raise _refused_loop(a, s, words)
    if len(after) != len(start):
        raise _refused_loop(a, s, "s2sad does not know what a round returns")
    arrays = {n for n, k in zip(names, start, strict=True) if not K.shares_nothing(k)}
    _check_shared(a, s, memory_of(d, a), arrays, set(body_kind.variables), advance, d)
    inside = memory_of(d, advance)
    given = {n for p, n in extra if f"{p}@arg" in inside.aliases.result}
    _check_handed_on(a, s, memory_of(d, a), arrays - _written(inside, arrays), given)
    _check_ends(a, s, advance, inside, arrays)
    state = _State(a, s, memory_of(d, a), params, inside)
    read = {p for n in arrays - _put_back(a) for p in state.parameters(n, bool(given))}
    if read and not on_copies:
        words = f"it writes into `{min(read)}`, whose memory the caller may see"
        raise _refused_loop(a, s, words, f"Start with a copy of `{min(read)}`.")
    d.written = d.written.anywhere(frozenset(read)) if read else d.written


def _check_steps(a: Analysed, s: Node, body: K.LocalFunction, env: Mapping[str, Kind]) -> None:
    """Refuse to go through a dict by numbers, which the rounds of a loop are given."""
    number = body.node.args.args[0].id
    for link, outer in body.links:
        if not number.startswith("step") or not isinstance(env.get(outer), K.AnyDict):
            continue
        for x in body.node.body:
            value = getattr(x, "value", None)
            if isinstance(value, gast.Subscript) and names_read(value) == {link, number}:
                raise UnsupportedError(
                    "A checkpointed loop needs an iterable with positions, and a dict has none.",
                    remedy="Write checkpointed(list(...), ...).",
                    place=a.function.source.place(s),
                )


def _written(memory: Memory, names: set[str]) -> set[str]:
    """Return those of the names whose memory a function writes in place."""
    return set().union(*(memory.shares(w.base, names) for w in memory.writes), set())


def _check_shared(
    a: Analysed,
    s: Node,
    memory: Memory,
    arrays: set[str],
    captured: set[str],
    advance: Analysed,
    d: Derivation,
) -> None:
    """Refuse a state that a round writes, where another name that it reads is the same memory."""
    inside = memory_of(d, advance)
    env = a.kinds.before[s]
    for n in sorted(arrays):
        for other in sorted((memory.aliases.sharing(s, n) - {n}) & (captured | arrays)):
            both = [env.get(n, K.UNKNOWN), env.get(other, K.UNKNOWN)]
            if any(inside.shares(w.base, {n, other}) and _reaches(w, both) for w in inside.writes):
                raise _refused_loop(a, s, f"`{n}` and `{other}` may share memory")


def _check_ends(a: Analysed, s: Node, advance: Analysed, inside: Memory, arrays: set[str]) -> None:
    """Refuse a round that leaves memory by two names of the state, and writes it: the next one
    has copies of both.
    """
    *_, before, last = advance.function.node.body
    ends = advance.kinds.after[before]
    for n in sorted(arrays):
        for other in sorted(inside.aliases.sharing(last, n) & arrays - {n}):
            both = [ends.get(n, K.UNKNOWN), ends.get(other, K.UNKNOWN)]
            if any(inside.shares(w.base, {n, other}) and _reaches(w, both) for w in inside.writes):
                raise _refused_loop(a, s, f"`{n}` and `{other}` may share memory after a round")


def _reaches(w: Write, kinds: list[Kind]) -> bool:
    """Say whether a write may be seen in values of all these kinds that share memory."""
    in_array = w.in_array or not K.is_container(w.owner)
    return in_array or all(K.may_hold(k, w.owner) for k in kinds)


def _put_back(a: Analysed) -> set[str]:
    """Return the variables whose content checkpointed loops put where it was: `u[...] = u_next`."""
    found = set()
    for s in a.kinds.before:
        place: Any = s.targets[0] if isinstance(s, gast.Assign) else None
        whole = isinstance(place, gast.Subscript) and isinstance(place.value, gast.Name)
        if whole and isinstance(place.slice, gast.Constant) and place.slice.value is ...:
            found.add(place.value.id)
    return found


@dataclass(frozen=True)
class _State:
    """What a checkpointed loop goes on with, whose names are bound to new memory after it."""

    a: Analysed
    statement: Node
    memory: Memory
    params: Mapping[str, Kind]
    inside: Memory

    def parameters(self, n: str, captured: bool) -> set[str]:
        """Return the parameters of whose memory the rounds write copies, by a name of the state.

        Others that see that memory are refused: they would not see what is written.
        """
        writes = [w for w in self.inside.writes if self.inside.shares(w.base, {n})]
        if writes and captured:
            words = f"a round writes into `{n}` and may return memory that it captures"
            raise _refused_loop(self.a, self.statement, words)
        found = set()
        facts, local = self.memory.aliases, self.a.function.locals
        live = facts.live_after.get(self.statement, local)
        env = self.a.kinds.before[self.statement]
        entry = self.a.kinds.before[self.a.function.node.body[0]]
        for other in sorted(facts.sharing(self.statement, n) - {n}):
            word = other.removesuffix("@arg")
            kind = (env if word == other else entry).get(word, K.UNKNOWN)
            if not any(_reaches(w, [self.params[n], kind]) for w in writes):
                continue
            if word != other:
                found.add(word)
            elif "@" not in other and (other in live or other not in local):
                words = f"`{n}` and `{other}` may share memory"
                raise _refused_loop(self.a, self.statement, words)
        return found


def _check_handed_on(
    a: Analysed, s: Node, memory: Memory, arrays: set[str], given: set[str]
) -> None:
    """Refuse a round that gives what it captures, where that is written: here it gives a copy."""
    for w in memory.writes if given and arrays else ():
        hit = memory.shares(w.base, arrays | given)
        if hit:
            words = (
                f"a round may return memory of `{min(given)}`, and the program writes "
                f"into `{min(hit)}`"
            )
            raise _refused_loop(a, s, words)


_PLAIN = "Write the loop without checkpointed, or make its body a checkpoint function."


def _refused_loop(a: Analysed, s: Node, words: str, remedy: str = _PLAIN) -> UnsupportedError:
    return UnsupportedError(
        f"A checkpointed loop runs its rounds again on copies of its state, but {words}.",
        remedy=remedy,
        place=a.function.source.place(s),
    )
