"""One module of derived text in the making, and the facts about the functions that go into it."""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.capture.choose import choose
from s2sad.capture.classes import is_lifted, without_classes
from s2sad.capture.construct import OBJECT_OF
from s2sad.capture.desugar import check_parent
from s2sad.capture.gone_through import Objects
from s2sad.capture.moved import moved
from s2sad.capture.normalise import normalise
from s2sad.capture.read import read, unwrap
from s2sad.capture.spoken import check_callees, methods_named
from s2sad.capture.spread import spread
from s2sad.capture.unfold import Around, Bound, Calls, Made, renamed, stays_whole, unfold
from s2sad.capture.yields import without_yields
from s2sad.causes import Story
from s2sad.derivative import applies
from s2sad.emitted.replay import runs_rounds
from s2sad.errors import Error, InternalError, UnsupportedError
from s2sad.facts.alias import alias
from s2sad.facts.appends import plain_appends
from s2sad.facts.bound import bound
from s2sad.facts.by_name import by_name
from s2sad.facts.closures import behind, holds_container
from s2sad.facts.dispatch import dispatch
from s2sad.facts.ended import ended
from s2sad.facts.fence import outside_of
from s2sad.facts.fields_called import fields_called
from s2sad.facts.forms import library_form
from s2sad.facts.formulas import is_formula
from s2sad.facts.given import (
    Writes,
    calls_itself,
    view_returned,
    writing,
    written_owner,
    written_parameters,
)
from s2sad.facts.held_alone import alone, held_alone
from s2sad.facts.inference import infer
from s2sad.facts.inplace import in_place
from s2sad.facts.joiners import plain_joins
from s2sad.facts.lengths import alike, shallow
from s2sad.facts.marked import marked
from s2sad.facts.members import class_function, sets_by_name
from s2sad.facts.memory import Memory, memory, root
from s2sad.facts.methods_as_writes import plain_writes
from s2sad.facts.operators import operators, with_pullback
from s2sad.facts.overloads import overloads
from s2sad.facts.passing import (
    Lengths,
    Proved,
    handed_back,
    holds_functions,
    is_plain,
    outlives,
    proved_by,
)
from s2sad.facts.ravelled import ravelled
from s2sad.facts.read_before import read_before
from s2sad.facts.scope import Scope, lookup
from s2sad.facts.shown_copies import copies
from s2sad.facts.stopped import without_flow
from s2sad.facts.sums import sums
from s2sad.facts.trees import trees
from s2sad.ir import program as P
from s2sad.ir.flows import flows
from s2sad.ir.from_tree import program_of
from s2sad.kinds import Kind
from s2sad.known.built import run_by_making
from s2sad.known.pieces import count
from s2sad.known.unread import LOOKED_UP, unread
from s2sad.names import Names
from s2sad.nodes import (
    Node,
    block_writes,
    clone,
    names_read,
    operands,
    substitute,
    tuple_,
    with_extra,
)
from s2sad.stages import (
    STOPPED,
    STOPPED_WHOLE,
    TWICE,
    Function,
    KindFacts,
    Write,
    Written,
    each_kind,
)
from s2sad.steps.binding import (
    BoundCall,
    bind_call,
    bind_kinds,
    is_ruled_helper,
    left_behind,
    made_by,
)
from s2sad.steps.callables import (
    Stands,
    all_kinds,
    as_called_with,
    call_signature,
    library_signature,
    local_source,
    signature_of,
)
from s2sad.steps.met import Met, objects_of
from s2sad.steps.reaching import Reaching
from s2sad.steps.refs import Refs
from s2sad.steps.stand_ins import holds_stand_in, makes_stand_in, refuse_made_elsewhere
from s2sad.steps.texts_read_again import Again, Part, stands_for_derivative
from s2sad.steps.words import Words
from s2sad.steps.work import Work
from s2sad.syntax.decided import settled


@dataclass(eq=False)
class Analysed:
    """One function with the kinds of one pattern of arguments."""

    function: Function
    kinds: KindFacts
    scope: Scope

    @cached_property
    def kinds_by_name(self) -> dict[str, list[Kind]]:
        """The kinds that each name has, before some statement or after one."""
        found: dict[str, list[Kind]] = {}
        for n, kind in each_kind((*self.kinds.before.values(), *self.kinds.after.values())):
            found.setdefault(n, []).append(kind)
        return found


@dataclass
class Derivation:
    """One module of derived text in the making."""

    names: Names = field(default_factory=Names)
    entry: str = ""
    functions: list[Any] = field(default_factory=list)
    namespaces: dict[str, dict[str, object]] = field(default_factory=dict)
    cells: dict[str, dict[str, object]] = field(default_factory=dict)
    origins: dict[str, types.FunctionType] = field(default_factory=dict)
    inner: set[str] = field(default_factory=set)
    analysed: dict[Any, Analysed] = field(default_factory=dict)
    open: dict[Any, Kind] = field(default_factory=dict)
    used_open: set[Any] = field(default_factory=set)
    left_open: dict[Any, tuple[Function, Mapping[str, Kind]]] = field(default_factory=dict)
    endless: dict[Any, Error] = field(default_factory=dict)
    reusable: bool = False
    abreast: bool = False
    found: dict[Hashable, object] = field(default_factory=dict)
    reverses: dict[str, str] = field(default_factory=dict)
    bare: set[str] = field(default_factory=set)
    handed: dict[Any, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    lasting: bool = False
    memories: dict[Any, Memory] = field(default_factory=dict)
    seen: dict[Any, dict[str, Any]] = field(default_factory=dict)
    members: dict[tuple[Any, str], Any] = field(default_factory=dict)
    visible: dict[Any, frozenset[str]] = field(default_factory=dict)
    lengths: Mapping[str, int] = field(default_factory=dict)
    not_one: set[tuple[str, int]] = field(default_factory=set)
    written: Written = field(default_factory=Written)
    written_outside: set[tuple[Any, str]] = field(default_factory=set)
    read_outside: dict[Any, dict[str, Any]] = field(default_factory=dict)
    met_outside: set[Any] = field(default_factory=set)
    repeated: set[Any] = field(default_factory=set)
    noted: dict[Any, frozenset[str] | None] = field(default_factory=dict)
    everywhere: dict[Analysed, dict[str, Kind]] = field(default_factory=dict)
    telling: bool = False
    told: dict[Analysed, Story] = field(default_factory=dict)
    stories: dict[str, tuple[Analysed, Story]] = field(default_factory=dict)
    called: dict[str, tuple[Analysed, Any]] = field(default_factory=dict)
    again: Again | None = None
    for_reading: bool = False
    plain: bool = False
    by_value: bool = False
    parts_known: list[str] = field(default_factory=list)
    home: Any = None
    parts: dict[str, Part] = field(default_factory=dict)
    read_as: dict[Any, str] = field(default_factory=dict)
    derivatives: dict[Any, types.FunctionType] = field(default_factory=dict)
    stands: Stands = field(default_factory=Stands)
    repeatable: list[types.FunctionType] = field(default_factory=list)
    applied: dict[types.FunctionType, Any] = field(default_factory=dict)
    forward: bool = False
    by_identity: bool = False
    refs: Refs = field(init=False)
    reaching: Reaching = field(default_factory=Reaching)
    answers: dict[str, Mapping[str, bool]] = field(default_factory=dict)
    work: Work = field(default_factory=Work)

    def __post_init__(self) -> None:
        self.refs = Refs(self.names)

    def within(self, other: Derivation) -> None:
        """Be read within another derivation: one module, one record of what is seen."""
        self.for_reading = True
        self.names, self.refs = other.names, other.refs
        self.seen, self.members = other.seen, other.members
        self.parts, self.read_as = other.parts, other.read_as
        self.derivatives, self.applied = other.derivatives, other.applied
        self.repeatable, self.stands = other.repeatable, other.stands
        self.stories, self.called = other.stories, other.called
        self.telling, self.by_value = other.telling, other.by_value
        self.parts_known = other.parts_known
        self.reaching, self.work = other.reaching, other.work

    def made_up(self, fn: types.FunctionType) -> dict[str, Any]:
        """Return what functions are rewritten with, by name: they may be written out in others."""
        ours = self.refs.functions.items()
        helpers = {n: f for n, f in ours if registry.is_ours(f) or is_lifted(f)}
        known = {**helpers, **self.reaching.words, **self.words(fn)}
        return {n: f for n, f in known.items() if lookup(fn, n) is K.MISSING}

    def words(self, fn: Any) -> dict[str, Any]:
        """Return what names of text that is read again mean in a function, where they are free."""
        if not self.read_as:
            return {}
        derived = {n: f for f, n in self.read_as.items()}
        known = {**self.refs.modules, **self.refs.functions, **derived}
        found = {n: (value, lookup(fn, n)) for n, value in known.items()}
        return {
            n: mine for n, (mine, theirs) in found.items() if theirs is K.MISSING or theirs is mine
        }

    def assume(self, dim: K.Dim) -> bool:
        """Assume that a length is not 1 where the example's is not: callers are held to that."""
        if count(dim, self.lengths) in (None, 1):
            return False
        self.not_one.add((dim.symbol, dim.cut))
        return True


_ROUNDS = 64
_Summary = tuple[list[Any], list[Any], Kind, frozenset[str]]
_NOTHING: _Summary = [], [], K.UNKNOWN, frozenset()
Given = TypeVar("Given")


def analyse(
    d: Derivation, fn: Any, params: Mapping[str, Kind], extra: tuple[str, ...] = ()
) -> Analysed:
    """Return a function with its kinds, for given kinds of its parameters.

    `fn` is a function or a LocalFunction kind; `extra` are parameters it gets besides its own.
    """
    key = analysis_key(fn, params, extra)
    known = d.analysed.get(key)
    if known is not None:
        return known
    if key in d.endless:
        raise d.endless[key]
    outermost = not d.open.keys() - d.endless.keys() - {key}
    if d.again is not None and stands_for_derivative(fn):
        made = derivative(d, fn, params, extra)
        d.analysed[key] = found = analyse(d, made, taken_by(made, params))
        return found
    source: Any = local_source(fn) if isinstance(fn, K.LocalFunction) else read(fn)
    inner = isinstance(fn, K.LocalFunction)
    written = _without_classes(d, source, inner)
    taken = set(source.fn.__code__.co_names) | set(source.fn.__code__.co_freevars)
    d.names.take(*taken, *source.fn.__code__.co_varnames, *source.fn.__code__.co_cellvars)
    words = Words(d.refs, d.names, d.reaching)
    if getattr(source.node, "makes", None) is not None:
        words.known[OBJECT_OF] = runtime.object_of
    taken_ = taken | {*d.refs.modules, *d.refs.functions}
    # What derived text reads outside, the text it was derived from reads there, too.
    seen = {} if source.fn in d.read_as else d.seen.setdefault(source.fn, {})

    def normal(known: Objects) -> Function:
        outside: dict[Any, Any] = {}
        node = written if inner else without_yields(written, source.fn, outside, known)
        seen.update({n: met for n, met in outside.items() if isinstance(n, str)})
        d.members.update({n: met for n, met in outside.items() if not isinstance(n, str)})
        node = with_extra(node, extra)
        return normalise(source, node, taken_, None if d.forward else words.helper)

    hidden = block_writes(written.body)
    met = Met(normal, objects_of({n: [k] for n, k in params.items() if n not in hidden}))
    function = normal(met.known)
    check_parent(source, params)
    scope = Scope(source.fn, function.locals, seen, d.members, words.known, d.stands)
    scope.by_value, scope.parts_known = d.by_value, d.parts_known
    scope.step = partial(d.work.step, source)
    try:
        with d.work.allowed(source, key, outermost, d.endless):
            asked = _Asked(key, params, outermost)
            analysed = _Analysis(d, asked, scope, words, taken, met).of(function)
    finally:
        d.open.pop(key, None)  # who asks again after a failure is no recursion
        d.left_open.pop(key, None)
    d.names.take(*analysed.function.locals)
    refuse_made_elsewhere(analysed.function, analysed.kinds, partial(_callee_of, d, analysed))
    d.analysed[key] = analysed
    return analysed


def _callee_of(d: Derivation, a: Analysed, call: Node) -> tuple[Function, KindFacts] | None:
    called = called_by(d, a, call)
    return None if called is None else (called.callee.function, called.callee.kinds)


def _without_classes(d: Derivation, source: Any, inner: bool) -> Any:
    """Return a definition without classes of its own: these have names in the derived text."""
    makes: Any = getattr(source.node, "makes", None)
    found: dict[str, type] = {}
    node = source.node
    if is_lifted(makes):
        found = {makes.__name__: makes}
    if not inner:
        node, found = without_classes(node, source.fn)
    d.names.take(*(n for n in found if n in source.fn.__globals__))
    table = {n: d.refs.function(cls) for n, cls in found.items()}
    table = {n: word for n, word in table.items() if n != word}
    return renamed(clone(node), table) if table else node


@dataclass(frozen=True)
class _Asked:
    """Which function is analysed, for which kinds of its parameters; the `outermost` is told of."""

    key: Any
    params: Mapping[str, Kind]
    outermost: bool


@dataclass
class _Analysis:
    """Infers the kinds of one function, and writes it more plainly, until nothing changes.

    Objects that nobody else sees are taken `apart`, under these names; where kinds then tell less
    than of whole ones, the function is read once more, and they stay: None are taken apart.
    """

    d: Derivation
    asked: _Asked
    scope: Scope
    words: Words
    taken: set[str]
    met: Met
    apart: set[str] | None = field(default_factory=set)

    def of(self, function: Function) -> Analysed:
        """Return the function as plain as it gets, with its kinds."""
        function, facts = self._settled(function)
        if self.apart and isinstance(facts.result, K.Unknown):
            self.apart = None
            function, facts = self._settled(self.met.read())
        for last in (read_before, in_place):
            written = last(function, facts, self.taken)
            if written is not None:
                function = written
                facts = self._kinds(function)
        return Analysed(function, facts, self.scope)

    def _settled(self, function: Function) -> tuple[Function, KindFacts]:
        """Repeat until no pass writes more of it out, and its calls of itself give what it does.

        They leave what it leaves, too. What holds itself is deeper in every round: nothing is
        known of it.
        """
        d = self.d
        result: Kind = K.UNBOUND
        left: Mapping[str, Kind] = {}
        deep = False
        for _ in range(_ROUNDS):
            d.open[self.asked.key], d.left_open[self.asked.key] = result, (function, left)
            before = dict(d.analysed)
            d.used_open.discard(self.asked.key)
            self.words.add(d.made_up(self.scope.fn))
            facts = self._kinds(function)
            known = {"": shallow(facts.result), **{p: shallow(k) for p, k in facts.left.items()}}
            alone = self.asked.key not in d.used_open
            done = alone or deep or alike(known, {"": result, **left})
            if not done:  # what has asked for it knew less than it gives
                d.analysed = before
            changed = self.met.more(facts) or self._more_plainly(function, facts)
            if changed is not None:
                function = changed
                d.analysed = d.analysed if alone else before
                continue
            if done:
                return function, facts
            deep = any(known[p] is not k for p, k in (("", facts.result), *facts.left.items()))
            result = known.pop("")
            left = known
            d.analysed = before
        raise self._endless(function.source)

    def _kinds(self, function: Function) -> KindFacts:
        self.scope.locals = function.locals
        params = dict(self.asked.params)
        if self.d.by_value:
            params = {n: settled(k) or k for n, k in params.items()}
        self.words.facts = infer(
            function, params, self.scope, self._called, partial(left_by_call, self.d)
        )
        return self.words.facts

    def _called(self, target: Any, args: Any, keywords: Any, env: Any) -> tuple[Kind, Proved]:
        return callee_kind(self.d, target, args, keywords, env)

    def _endless(self, source: Any) -> Error:
        endless = UnsupportedError(
            f"{source.name} calls too many functions that change their arguments.",
            remedy="Return the new values instead.",
            place=source.place(source.node),
        )
        if self.asked.outermost:  # whoever asks again would find the same, after as many rounds
            self.d.endless[self.asked.key] = endless
        return endless

    def _more_plainly(self, function: Function, facts: KindFacts) -> Function | None:
        """Return a function with more of it written out, now that its kinds are known; or None."""
        d, words = self.d, self.words
        given = function, facts, self.taken
        plainly = (*given, words.numpy)
        here = Analysed(function, facts, self.scope)
        apart = {} if self.apart is None else alone(function, facts, nearly=True)
        if self.apart is not None:
            self.apart |= apart.keys()
        made, formulas = made_here(d, facts), formula_calls(d, facts)
        writers = writing_calls(d, facts, apart)
        calls = Calls(made, writers, formulas, library_calls(d, here))
        signatures = call_signature(facts), library_signature(facts)

        def plain(s: Node, n: str) -> bool:
            return is_plain(facts.after.get(s, {}).get(n, K.UNKNOWN))

        writes, implied = writing_parts(d, here)

        def written_out(s: Node, n: Node) -> bool:
            owner = facts.methods.get(n, (None, None))[1]
            return getattr(owner, "id", None) in apart or writes(s, n)

        check_callees(*given[:2], partial(_sets, d, here))
        return (
            methods_named(*given[:2], implied)
            or marked(*plainly, d.reaching, words.reached, words.helper)
            or dispatch(*plainly)
            or (None if self.apart is None else held_alone(*plainly))
            or by_name(*plainly, apart)
            or overloads(*plainly)
            or ended(*plainly)
            or copies(*plainly, words.helper)
            or sums(*plainly, words.helper)
            or trees(*plainly, words.helper)
            or ravelled(*plainly, words.helper)
            or spread(function, facts, signatures, self.taken, partial(words.module, math))
            or moved(function, written_out, self.taken)
            or unfold(function, calls, self.taken, Around(d.words, plain, words.denoted))
            or choose(*given)
            or fields_called(*plainly)
            or plain_joins(*plainly)
            or plain_writes(*plainly, words.helper)
            or (None if d.again is None else self._derivatives_named(function, facts))
        )

    def _derivatives_named(self, function: Function, facts: KindFacts) -> Function | None:
        """Return a function whose calls of derivatives are calls by name; or None."""
        d, plainly = self.d, (function, facts, self.taken, self.words.numpy)
        method = partial(class_function, self.scope)
        read_in_call = partial(_read_in_call, d)
        return bound(*plainly, method, signature_of, unwrap) or operators(
            *plainly, d.stands, read_in_call, self.words.derivative
        )


def _read_in_call(
    d: Derivation,
    target: Kind,
    args: list[Kind],
    keywords: Mapping[str, Kind],
    env: Mapping[str, Kind],
) -> tuple[types.FunctionType, tuple[tuple[str, str], ...]] | None:
    """Return the derivative that a call calls, and the variables that it is given besides."""
    if any(isinstance(k, K.Unknown | K.Unbound) for k in [*args, *keywords.values()]):
        return None
    target = as_called_with(target, args, keywords)
    bound = bind_kinds(target, args, keywords, env)
    if bound is None or (isinstance(target, K.Known) and _brings(target.value)):
        return None
    fn, params, extra = bound
    made = derivative(d, fn, params, tuple(p for p, _ in extra))
    taken = taken_by(made, dict(extra))
    return made, tuple((p, local) for p, local in extra if p in taken)


def taken_by(fn: types.FunctionType, given: Mapping[str, Given]) -> dict[str, Given]:
    """Return what a text takes of the parameters of the function that it was derived of.

    It does without inner functions that were captured, where it does not call them.
    """
    code = fn.__code__
    flags = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + flags
    taken = code.co_varnames[:count]
    return {p: value for p, value in given.items() if p in taken}


def _brings(value: Any) -> bool:
    callee = unwrap(value)
    return callee is None or bool(callee.args or callee.kwargs)


def derivative(
    d: Derivation, fn: Any, params: Mapping[str, Kind], extra: tuple[str, ...]
) -> types.FunctionType:
    """Return the derivative that a function stands for, derived for these kinds, to be read."""
    key = analysis_key(fn, params, extra)
    if key not in d.derivatives:
        assert d.again is not None
        d.derivatives[key] = d.again.read(d, fn, params, extra)
    return d.derivatives[key]


def analysis_key(fn: Any, params: Mapping[str, Kind], extra: tuple[str, ...]) -> Any:
    """Return what identifies one analysis."""
    ident = (id(fn.node), fn.links, fn.applied) if isinstance(fn, K.LocalFunction) else fn
    return ident, tuple(sorted(params.items())), extra


def callee_kind(
    d: Derivation,
    target: Any,
    args: list[Kind] | None,
    keywords: Mapping[str, Kind],
    env: Mapping[str, Kind],
) -> tuple[Kind, Proved]:
    """Return the kind of a call of a user's function, and what it proves that the call returns."""
    if args is None:
        return K.UNKNOWN, ()
    known: Lengths = {}
    bound = bind_kinds(target, args, keywords, env, known)
    if bound is None:
        return K.UNKNOWN, ()
    fn, params, extra = bound
    names = tuple(n for n, _ in extra)
    key = analysis_key(fn, params, names)
    if key in d.open:
        d.used_open.add(key)
        return handed_back(outlives(d.open[key]), known), ()
    if len(d.open) > 40:
        return K.Unknown("the result of a very deep chain of calls"), ()
    try:
        found = analyse(d, fn, params, names).kinds
    except InternalError:
        raise
    except Error as error:
        return unread(error), ()
    result = handed_back(outlives(found.result), known)
    if fn is runtime.take_from_shadow or (
        fn is runtime.shadow_of and isinstance(result, K.Unknown)
    ):
        result = LOOKED_UP
    if isinstance(result, K.Unbound | K.NoneKind) and (said := registry.refusals_of_form(fn)):
        result = K.Unknown(f"a call that is refused: {'; '.join(said)}")
    symmetric = None if d.again is None else d.again.gradient(d, fn)
    if isinstance(result, K.Unknown) and symmetric is not None:
        result = symmetric
    if d.again is not None and (stands_for_derivative(fn) or fn in d.applied):
        made = fn if fn in d.applied else derivative(d, fn, params, names)
        given = [handed_back(k, known) for k in d.again.cotangents(d, made)]
        result = with_pullback(result, given)
    return result, proved_by(known, found.lengths)


def left_by_call(
    d: Derivation, facts: KindFacts, call: Node, env: Mapping[str, Kind]
) -> list[tuple[Node, Kind]] | None:
    """Return what a call was given that it has changed, as nodes, and what that is then.

    A function that is being analysed leaves what it was seen to leave in the round before. Of what
    is no call of a user's function, or of one that was not analysed, nobody knows: None. Where one
    is given something unknown, the call itself may be changed, too.
    """
    called = bind_call(facts, call, env)
    if called is None:
        return None
    unknown = any(isinstance(k, K.Unknown) for k in called.params.values())
    rest: list[tuple[Node, Kind]] = []
    if unknown and isinstance(call, gast.Call):
        rest.append((call, K.UNKNOWN))
    if not any(map(holds_container, called.params.values())):
        return rest
    key = analysis_key(called.fn, called.params, called.extra)
    if key in d.left_open:
        d.used_open.add(key)
        return [*left_behind(called, *d.left_open[key]), *rest]
    callee = d.analysed.get(key)
    if callee is None:
        return None
    return [*left_behind(called, callee.function, callee.kinds.left), *rest]


def made_here(d: Derivation, facts: KindFacts) -> Made:
    """Return what tells the calls that make inner functions, and of what they are made."""

    def made(s: Node, node: Node) -> Bound | None:
        target = made_by(facts.of.get(node.func, K.UNKNOWN))
        if not K.holds_more(facts.of.get(node, K.NONE)) or not _has_text(d, target):
            return None
        method = getattr(target, "value", None)
        of_class = isinstance(method, types.MethodType) and isinstance(method.__self__, type)
        of_class = of_class and isinstance(node.func, gast.Attribute)
        if isinstance(target, K.Known) and not (of_class or isinstance(method, types.FunctionType)):
            return None
        brought = (node.func.value,) if of_class else ()  # the class, which its method is given
        found = _bound_call(d, facts, s, node, target, list(node.args), brought)
        if found is None:
            return None
        made, result = found[0], found[0].kinds.result
        if outlives(result) != result:
            return made.function, found[1]
        stands = holds_stand_in(result) and makes_stand_in(made.function, made.kinds)
        return (made.function, found[1]) if stands else None

    return made


def _has_text(d: Derivation, target: Any) -> bool:
    """Say whether the text of a function, or of what makes an object, means the same here."""
    made = hasattr(getattr(target, "node", None), "makes")
    return not made or d.refs.function(runtime.object_of) == OBJECT_OF


def writing_calls(d: Derivation, facts: KindFacts, apart: Collection[str]) -> Made:
    """Return what tells the calls of functions that store into structures that they are given.

    Written out where they are called, they store into a structure of the function at hand. So are
    those that are given functions in a structure which capture variables of the function at hand,
    and those that make, or are given, what is taken `apart` then.
    """

    def written(s: Node, node: Node) -> Bound | None:
        method = facts.methods.get(node)
        if method is not None:
            target: Kind = K.Known(method[0])
            args = [method[1], *operands(node, method[1])]
        elif isinstance(node, gast.Call):
            target, args = made_by(facts.of.get(node.func, K.UNKNOWN)), list(node.args)
        else:
            return None
        value = getattr(target, "value", None)
        if not isinstance(target, K.LocalFunction) and not isinstance(value, types.FunctionType):
            return None
        parts = [*args, *(k.value for k in getattr(node, "keywords", ()))]
        given = [target, *(facts.of.get(a, K.UNKNOWN) for a in parts)]
        given = behind(given, facts.before.get(s, {}))
        # An operator is used up by the call: what is left is the derivative.
        kept = any(holds_functions(k) or applies(getattr(k, "value", None)) for k in given)
        made = hasattr(getattr(target, "node", None), "makes")
        bound = s.targets if made and isinstance(s, gast.Assign) else []
        kept = kept or any(getattr(a, "id", None) in apart for a in (*parts, *bound))
        kept = kept or _gathers_functions(target, given[1:])
        if not kept and not any(map(holds_container, given)):
            return None
        found = _bound_call(d, facts, s, node, target, args)
        if found is None or not (kept or stores_into_arguments(d, found[0])):
            return None
        if not _has_text(d, target):
            return None
        if isinstance(target, K.LocalFunction):
            again = getattr(target.node, "name", "") in dict(target.links)
        else:
            again = calls_itself(found[0].function.source.fn, d.analysed.values())
        return None if again else (found[0].function, found[1])

    return written


def _gathers_functions(target: Kind, given: list[Kind]) -> bool:
    """Say whether a call may put an inner function that captures variables into *args or **kw."""
    signature = signature_of(getattr(target, "value", target))
    if signature is None or all(outlives(k) == k for k in given):
        return False
    starred = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return any(p.kind in starred for p in signature.parameters.values())


def formula_calls(d: Derivation, facts: KindFacts) -> Made:
    """Return what tells the calls of functions that are one formula, applied to arrays.

    Written out where they are called, what is kept of them and of the rest is decided together.
    """

    def formula(s: Node, node: Node) -> Bound | None:
        target = facts.of.get(node.func, K.UNKNOWN)
        if not isinstance(target, K.Known) or not isinstance(target.value, types.FunctionType):
            return None
        if not isinstance(facts.of.get(node), K.Array):
            return None
        found = _bound_call(d, facts, s, node, target, list(node.args))
        if found is None or not is_formula(found[0].function, found[0].kinds):
            return None
        return found[0].function, found[1]

    return formula


def library_calls(d: Derivation, a: Analysed) -> Made:
    """Return what tells the calls of what a library has that is written out in Python."""
    facts = a.kinds

    def library(s: Node, node: Node) -> Bound | None:
        fn, args = library_form(facts, node, lambda: writing_parts(d, a)[0](s, node))
        if fn is None:
            return None
        kinds = [facts.of.get(n, K.UNKNOWN) for n in args]
        named = {k.arg: facts.of.get(k.value, K.UNKNOWN) for k in node.keywords if k.arg}
        callee_kind(d, K.Known(fn), kinds, named, facts.before.get(s, {}))
        found = _bound_call(d, facts, s, node, K.Known(fn), args)
        if found is None or not stays_whole(found[0].function, found[0].kinds.decided):
            return None
        return found[0].function, found[1]

    return library


def _bound_call(
    d: Derivation,
    facts: KindFacts,
    s: Node,
    node: Node,
    target: Kind,
    args: list[Node],
    brought: tuple[Node, ...] = (),
) -> tuple[Analysed, dict[str, Any]] | None:
    """Return the function that a call runs, analysed, and the node that each parameter gets."""
    keywords = list(getattr(node, "keywords", ()))
    if any(isinstance(a, gast.Starred) for a in args) or any(k.arg is None for k in keywords):
        return None
    kinds = [facts.of.get(a, K.UNKNOWN) for a in args]
    named = {k.arg: facts.of.get(k.value, K.UNKNOWN) for k in keywords}
    bound = bind_kinds(target, kinds, named, facts.before.get(s, {}))
    if bound is None:
        return None
    fn, params, extra = bound
    callee = d.analysed.get(analysis_key(fn, params, tuple(n for n, _ in extra)))
    signature = signature_of(fn)
    if callee is None or signature is None or isinstance(callee.kinds.result, K.Unbound):
        return None  # what gives nothing on any path refuses the call
    if d.again is not None and not d.forward:
        if d.again.gradient(d, callee.scope.fn) is not None:
            return None  # its reverse is better known than by reading it
    arguments = signature.bind(*brought, *args, **{k.arg: k.value for k in keywords}).arguments
    given: dict[str, Any] = dict(extra)
    for p in signature.parameters.values():
        value = arguments.get(p.name, p.default)
        if value is ... or isinstance(value, int | float | str | None):
            value = gast.Constant(value, None)
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            value = tuple_([] if value is p.empty else list(value))
        if p.kind is inspect.Parameter.VAR_KEYWORD and value is not p.empty:
            value = gast.Dict([gast.Constant(n, None) for n in value], list(value.values()))
        if not isinstance(value, gast.AST):
            return None
        given.setdefault(p.name, value)
    return callee, given


def writing_parts(d: Derivation, a: Analysed) -> tuple[Writes, Writes]:
    """Return what says of a part of a statement whether it writes something where it is run.

    The second asks whether a method does that runs there although none is named. A function that is
    being analysed may write whatever it is given.
    """
    lasting: list[Any] = []

    def summary(call: Any, kinds: KindFacts) -> _Summary | None:
        found = _bound_to(d, a, call)
        if found is not None and analysis_key(found.fn, found.params, found.extra) in d.open:
            return [], [n for p in found.given.values() for n in p], K.UNKNOWN, frozenset()
        return _written_by(d, a, call, called_by(d, a, call), lasting)

    def lastingly(noted: Writes) -> Writes:
        def writes(s: Node, node: Node) -> bool:
            lasting.clear()
            return noted(s, node) or bool(lasting)

        return writes

    noted, implied = writing(a.function, a.kinds, summary)
    return lastingly(noted), lastingly(implied)


def _sets(d: Derivation, a: Analysed, call: Node, word: str, depth: int = 4) -> bool:
    """Say whether a called function, or one that it calls, may set an attribute of some name."""
    called = called_by(d, a, call) if depth else None
    if called is None:
        return False
    for w in called.memory.writes:
        targets = getattr(w.statement, "targets", [])
        if any(isinstance(t, gast.Attribute) and t.attr == word for t in targets):
            return True
        inner = getattr(w.statement, "value", None)
        if isinstance(inner, gast.Call) and _sets(d, called.callee, inner, word, depth - 1):
            return True
    return False


def stores_into_arguments(d: Derivation, a: Analysed) -> bool:
    """Say whether a function changes a structure that it is given, or an array in one."""
    found = memory_of(d, a)
    entry = a.kinds.before.get(a.function.node.body[0], {})
    holders = {p for p in a.function.params if holds_container(entry.get(p, K.UNKNOWN))}
    return any(
        found.aliases.arguments(w) & holders
        if w.in_array
        else (w.in_container or sets_by_name(a.kinds, w)) and found.aliases.arguments(w)
        for w in found.writes
    )


def memory_of(d: Derivation, a: Analysed) -> Memory:
    """Return what is known about the memory of an analysed function."""
    known = d.memories.get(a)
    if known is not None:
        known.asked = True
        return known
    assumed: frozenset[str] = frozenset()
    while True:
        before = dict(d.memories)
        looked_at = d.memories[a] = Memory(known=False, assumed=assumed)
        found = _look_at_memory(d, a)
        written = frozenset().union(*written_parameters(a.function, a.kinds, found))
        if not looked_at.asked or written <= assumed:
            d.memories[a] = found
            return found
        d.memories = before
        assumed |= written


def _look_at_memory(d: Derivation, a: Analysed) -> Memory:
    lasting: list[Any] = []
    stopping: set[Any] = set()
    items = (item for item in a.kinds.implied if isinstance(item, gast.withitem))
    with_calls = {made for item in items for made in a.kinds.implied[item]}

    def summary(call: Any, kinds: Any) -> _Summary | None:
        called = called_by(d, a, call)
        if _gives_gradient(d, a, call):
            return _NOTHING
        if called is not None and called.stops():
            stopping.add(call)
        if called is not None and call in with_calls:
            d.noted[call] = called.notes()
        return _written_by(d, a, call, called, lasting)

    def returned(call: Any) -> _Given | None:
        return _returned_by(d, a, call)

    def viewed(call: Any) -> tuple[Node, Node] | None:
        return _viewed_by(d, a, call)

    found = memory(a.function, a.kinds, summary, returned)
    found.lasting = tuple(lasting)
    found.stopping = frozenset(stopping)
    found.aliases = alias(
        a.function,
        a.kinds,
        found.writes,
        returned,
        rebinding=found.rebinding,
        visible=d.visible.get(a.scope.fn, frozenset()),
        viewed=viewed,
        plain=plain_appends(a.function, a.kinds, found),
        opaque={s: given for s, _, given in found.opaque},
    )
    return found


@dataclass(frozen=True)
class _Called:
    """A user's function as a call sees it: its memory, and what its parameters are given."""

    callee: Analysed
    memory: Memory
    given: dict[str, list[Any]]

    def stores_outside(self, w: Write) -> bool:
        """Say whether a write puts something that is no constant where the next call finds it."""
        stored = (names_read(w.statement) - {w.base}) & self.callee.function.locals
        outside = outside_of(self.callee.function, w, self.memory)
        return w.how != "rebind" and bool(outside and stored)

    def stops(self) -> bool:
        """Say whether the result takes no derivative from anything that the function is given."""
        function, body = self.callee.function, self.callee.function.node.body[:-1]
        if not body or not (function.stopped or self.memory.stopping):
            return False
        program = program_of(function, self.callee.kinds, self.memory.changes)
        found = flows(program, self.memory.classes_of(function.locals))
        stopped = without_flow(function, self.callee.kinds, self.memory, program)
        varied = found.varied(program.block.params, stopped)
        return varied.isdisjoint(map(P.variable, program.block.end.results))

    def notes(self) -> frozenset[str] | None:
        """Return the attributes of its object that a method sets; None where it changes more."""
        words = {_set_by(self.callee.kinds, w) for w in self.memory.writes}
        if None in words:
            return None
        unseen = any(given for _, _, given in self.memory.opaque)
        return None if unseen else frozenset(w for w in words if w)

    def nodes(self, parameters: frozenset[str] | set[str]) -> list[Any]:
        """Return what some of the parameters are given."""
        return [node for p in sorted(parameters) for node in self.given.get(p, [])]


def _set_by(kinds: KindFacts, w: Write) -> str | None:
    """Return the attribute of a variable that a write sets, and no more than that."""
    target = getattr(w.statement, "target", None) or getattr(w.statement, "targets", [0])[0]
    again = isinstance(w.statement, gast.AugAssign)
    own = isinstance(target, gast.Attribute) and isinstance(target.value, gast.Name)
    if not own or (again and not K.shares_nothing(kinds.of.get(target, K.UNKNOWN))):
        return None
    return str(target.attr)


def called_by(d: Derivation, a: Analysed, call: Any) -> _Called | None:
    """Return what is known about the user's function that a call calls, if it is one."""
    found = _bound_to(d, a, call)
    if found is None:
        return None
    try:
        callee = analyse(d, found.fn, found.params, found.extra)
    except Error:
        return None
    return _Called(callee, memory_of(d, callee), found.given)


def _bound_to(d: Derivation, a: Analysed, call: Any) -> BoundCall | None:
    if a not in d.everywhere:
        d.everywhere[a] = all_kinds(a.kinds)
    return bind_call(a.kinds, call, d.everywhere[a])


def _gives_gradient(d: Derivation, a: Analysed, call: Any) -> bool:
    """Say whether a call only gives a gradient, which is new: its text need not be looked at."""
    fn = a.kinds.objects.get(getattr(call, "func", None))
    return d.again is not None and d.again.gradient(d, fn) is not None


_Given = tuple[list[Any], frozenset[str], dict[str, list[Any]]]


def _returned_by(d: Derivation, a: Analysed, call: Any) -> _Given | None:
    """Return the arguments of a call of which the result may hold memory, and marks of that.

    With them stand those of which each attribute of an object may, where the call makes one.
    """
    if a.kinds.objects.get(call.func) is runtime.object_of:
        return None
    if runs_rounds(a.kinds.objects.get(call.func)) or _gives_gradient(d, a, call):
        return [], frozenset(), {}
    called = called_by(d, a, call)
    if called is None or not called.memory.known:
        return None
    callee = called.callee.scope.fn

    def nodes_of(held: frozenset[str]) -> list[Any]:
        outside = {n for n in held if "@" not in n and n not in called.memory.local}
        nodes = called.nodes({n[:-4] for n in held if n.endswith("@arg")})
        for n in sorted(outside):
            same = callee.__globals__ is a.scope.fn.__globals__ and n not in a.function.locals
            same = same and n not in callee.__code__.co_freevars
            word = n if same else f"{callee.__qualname__}.{n}"
            nodes.append(gast.Name(word, gast.Load(), None, None))
        return nodes

    result = called.memory.aliases.result
    parts = {f: nodes_of(held) for f, held in _parts_of_result(called).items()}
    return nodes_of(result), result & {TWICE, STOPPED, STOPPED_WHOLE}, parts


def _parts_of_result(called: _Called) -> dict[str, frozenset[str]]:
    """Return what the attributes of an object share memory with, where a call makes one last."""
    body = called.callee.function.node.body
    last = body[-2] if len(body) > 1 else body[-1]
    value = getattr(last, "value", None)
    if not isinstance(value, gast.Call) or not isinstance(last, gast.Assign):
        return {}
    if called.callee.kinds.objects.get(value.func) is not runtime.object_of:
        return {}
    pairs = called.memory.aliases.pairs_before[last]
    parts: dict[str, frozenset[str]] = {}
    for k in value.keywords:
        met = names_read(k.value)
        parts[str(k.arg)] = frozenset(met).union(*(pairs.get(n, frozenset()) for n in met))
    return parts


def _viewed_by(d: Derivation, a: Analysed, call: Any) -> tuple[Node, Node] | None:
    """Return the view of an argument that a call's result surely is, and that argument."""
    called = called_by(d, a, call)
    if called is None or not called.memory.known:
        return None
    found = view_returned(called.callee.function, called.memory)
    if found is None:
        return None
    view, parameter = found
    given = called.given.get(parameter, [])
    if len(given) != 1 or not isinstance(given[0], gast.Name):
        return None
    parameters = called.callee.function.node.args
    if parameter in {p.id for p in (parameters.vararg, parameters.kwarg) if p is not None}:
        return None  # a view of what it gathers
    return substitute(view, {parameter: given[0]}), given[0]


def _written_by(
    d: Derivation, a: Analysed, call: Any, called: _Called | None, lasting: list[Any]
) -> _Summary | None:
    """Return the arguments of a call, as nodes, that the called user's function may write.

    With them stands of what kind the structures are that it writes, if it writes nothing else, and
    what it asks for of values of no known kind.
    """
    target: Kind = a.kinds.of.get(getattr(call, "func", None), K.UNKNOWN)
    if isinstance(target, K.Known) and isinstance(target.value, type):
        if call not in a.kinds.methods and isinstance(made_by(target), K.Known):
            return _written_by_making(d, a, call, target.value, lasting)
    if is_ruled_helper(target):
        return _NOTHING
    return None if called is None else _written_in(called, call, lasting)


def _written_in(called: _Called, call: Any, lasting: list[Any]) -> _Summary | None:
    """Return what `_written_by` does, of a function that is known."""
    arrays, others = written_parameters(called.callee.function, called.callee.kinds, called.memory)
    keeps = called.memory.keeps or any(map(called.stores_outside, called.memory.writes))
    args = called.callee.function.node.args
    gathered = {p.id for p in (args.vararg, args.kwarg) if p is not None}  # if not given, it is new
    if keeps or any(not called.given.get(p) for p in (arrays | others) - gathered):
        lasting.append(call)
    if any(not called.given.get(p) for p in arrays):
        return None  # a default, whose content lasts from call to call
    owner = written_owner(called.callee.function, called.callee.kinds, called.memory)
    return called.nodes(arrays), called.nodes(others), owner, called.memory.asks


def _written_by_making(
    d: Derivation, a: Analysed, call: Any, cls: type, lasting: list[Any]
) -> _Summary | None:
    """Return what may be written where an object is made of which nobody knows how it is made.

    What is written in it may be any of what it is made of.
    """
    own = tuple_([*call.args, *(k.value for k in call.keywords)])
    kinds = replace(a.kinds, of={**a.kinds.of, own: K.Obj(cls, ())})
    written: list[Any] = []
    for fn in run_by_making(cls):
        bound = bind_call(kinds, call, all_kinds(a.kinds), (fn, own))
        try:
            callee = None if bound is None else analyse(d, bound.fn, bound.params, bound.extra)
        except Error:
            return None
        if bound is None or callee is None:
            return None
        called = _Called(callee, _but_own(d, callee, memory_of(d, callee)), bound.given)
        found = _written_in(called, call, lasting)
        if found is None:
            return None
        written += [*found[0], *found[1]]
    return [], written, K.UNKNOWN, frozenset()


def _but_own(d: Derivation, maker: Analysed, found: Memory) -> Memory:
    """Return the memory of what makes an object, but for the attributes that it sets on that."""
    own, kinds = maker.function.params[0], maker.kinds

    def sets(w: Write) -> bool:
        if _set_by(kinds, w) is not None:
            return True
        call = getattr(w.statement, "value", None)
        begun = called_by(d, maker, call) if isinstance(call, gast.Call) else None
        if begun is None or calls_itself(begun.callee.function.source.fn, d.analysed.values()):
            return False
        first = begun.nodes(set(begun.callee.function.params[:1]))
        if [root(n) for n in first] != [own]:
            return False
        left = _but_own(d, begun.callee, begun.memory)  # it makes the object as one of a base class
        return not any(written_parameters(begun.callee.function, begun.callee.kinds, left))

    def begins(call: Any) -> bool:
        fn = kinds.objects.get(getattr(call, "func", None))
        return isinstance(fn, types.WrapperDescriptorType)

    return replace(
        found,
        writes=[w for w in found.writes if w.base != own or not sets(w)],
        opaque=[(s, c, given - {own} if begins(c) else given) for s, c, given in found.opaque],
    )
