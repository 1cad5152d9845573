"""Sharing: what was derived for one function serves all others of its code.

Functions made in a loop have one code object and each its own captured values. A Recipe is a
derivation without these: it holds code, and kinds of what was seen, and is bound to the closure of
the function at hand. A captured function may differ too, as long as its code does not.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.aliasing import reach
from s2sad.capture.read import read
from s2sad.emitted import hooks, overlaps
from s2sad.errors import (
    ActivityError,
    AliasError,
    Place,
    RuleRefusal,
    SourceError,
    UnsupportedError,
)
from s2sad.known.pieces import not_one_text
from s2sad.known.signature import lasting_key
from s2sad.operators.guard import (
    DERIVED,
    OTHERWISE,
    Question,
    Role,
    body_of,
    bound_role,
    guard,
    members_guard,
    shortcut,
)
from s2sad.operators.higher import place_at_home
from s2sad.operators.parameters import Settled
from s2sad.stages import Text, Written
from s2sad.steps.derivation import Derivation
from s2sad.write.live import live_in, placed
from s2sad.write.load import load
from s2sad.write.origins import Refusals

Guard = Callable[[], bool]
_SHARED = 512  # how many recipes are kept, those used last
_EACH = 8  # how many for one key, where what functions see goes to and fro
_numbers = itertools.count(1)
# What helpers raise, which know nothing of s2sad in a file of their own: rules, and s2sad's own.
_OUR_OWN = {
    "NotImplementedError": UnsupportedError,
    "TypeError": ActivityError,
    "ValueError": AliasError,
}
_HELPERS = (runtime.__name__, overlaps.__name__, hooks.__name__)
_OF_RULES = {"NotImplementedError": UnsupportedError, "ValueError": RuleRefusal}
_ADVICE = "Write it in another way, or make its inputs Const."


@dataclass(frozen=True)
class _Part:
    """A function that a derivation read: found in a cell of another, and not kept itself."""

    role: Role
    code: types.CodeType
    namespace: dict[str, Any]
    holder: Role | None = None
    cell: str = ""


@dataclass(frozen=True)
class _Loaded:
    """A derived function without its closure: a name of another, a part's cell, or a cell."""

    code: types.CodeType
    namespace: dict[str, Any]
    part: Role | None
    defaults: tuple[Any, ...] | None
    kwdefaults: dict[str, Any] | None
    closure: tuple[str | tuple[Role, str] | types.CellType, ...]


@dataclass(frozen=True)
class Outside:
    """A name by which a function reaches arrays outside, and whether it writes them."""

    reader: Any
    path: str
    written: bool

    def value(self) -> Any:
        """Return what the name denotes now."""
        root, *rest = self.path.split(".")
        cells = _cells(self.reader)
        value: Any = _inside(cells[root]) if root in cells else None
        if root not in cells:
            value = self.reader.__globals__.get(root)
        for part in rest:
            value = getattr(value, part, None)
        return value


@functools.lru_cache(256)
def _compiled(tests: tuple[str, ...]) -> types.CodeType:
    return compile(" and ".join(tests), "<s2sad lengths>", "eval")


@dataclass(frozen=True)
class Bound:
    """A recipe bound to one function.

    What is `written` of the arguments may overlap nothing else, `outside` included; `not_one` are
    tests of lengths that it was derived for.
    """

    call: Callable[..., Any]
    guards: tuple[Guard, ...]
    shortcut: Callable[..., Any] | None
    written: Written = field(default_factory=Written)
    outside: tuple[Outside, ...] = ()
    not_one: tuple[str, ...] = ()

    def fits(self, values: Mapping[str, Any]) -> bool:
        """Say whether no length is 1 that was taken not to be."""
        return bool(eval(_compiled(self.not_one), {"len": len, "range": range}, dict(values)))

    @property
    def writes(self) -> bool:
        """Whether memory that was there before the call is written."""
        return bool(self.written) or any(o.written for o in self.outside)


@dataclass(frozen=True)
class Recipe:
    """A derivation that can be bound to any function of the code it was made for."""

    entry: str
    settled: Settled
    parts: tuple[_Part, ...]
    fixed: frozenset[Any]
    loaded: Mapping[str, _Loaded]
    guards: tuple[tuple[Any, Question], ...]
    shortcut: Question | None
    written: Written = field(default_factory=Written)
    outside: tuple[Outside, ...] = ()
    not_one: tuple[str, ...] = ()
    repeatable: bool = False

    def bind(
        self,
        fn: types.FunctionType,
        prefix: tuple[Any, ...],
        otherwise: Callable[..., Any],
        defaults: tuple[Any, ...],
        fresh: bool = False,
    ) -> Bound | None:
        """Return the derived function and its guards for `fn`, or None where they do not fit.

        What is `fresh` was derived from `fn` just now, and fits unless code has changed meanwhile.
        """
        found = self._resolve(fn)
        if found is None or not (fresh or self._may_stand_in(found)):
            return None
        guards = []
        for asked, question in self.guards:
            about = found[asked] if isinstance(asked, Role) else asked
            guards.append(question.about(about, found))
        if not fresh and not all(same() for same in guards):
            return None
        call = self._call(found)
        outside = tuple(
            Outside(found.get(o.reader, o.reader), o.path, o.written) for o in self.outside
        )
        if self.shortcut is None:
            return Bound(call, tuple(guards), None, self.written, outside, self.not_one)
        stand_ins = {**found, DERIVED: call, OTHERWISE: otherwise}
        stand_ins |= {bound_role(i): value for i, value in enumerate(prefix)}
        stand_ins |= {_guard_role(i): same for i, same in enumerate(guards)}
        short = self.shortcut.about(fn, stand_ins, defaults, fn.__name__, call)
        return Bound(call, tuple(guards), short, self.written, outside, self.not_one)

    def _resolve(self, fn: types.FunctionType) -> dict[Role, Any] | None:
        """Return the functions that play the parts, or None where one is of other code."""
        found: dict[Role, Any] = {}
        for part in self.parts:
            player: Any = fn if part.holder is None else _contents(found[part.holder], part.cell)
            if not _is_function(player) or player.__code__ is not part.code:
                return None
            if player.__globals__ is not part.namespace:
                return None
            found[part.role] = player
        return found

    def _may_stand_in(self, found: Mapping[Role, Any]) -> bool:
        """Say whether the players are told apart as those were that they stand in for."""
        players = set(found.values())
        captured = [found[part.role] for part in self.parts if part.holder is not None]
        return (
            len(players) == len(found)
            and not players & self.fixed
            and all(registry.rule_for(player) is None for player in captured)
        )

    def _call(self, found: Mapping[Role, Any]) -> types.FunctionType:
        """Return the derived function with the closures of those that play the parts."""
        cells = {name: types.CellType() for name in self.loaded}
        for name, made in self.loaded.items():
            closure = []
            for place in made.closure:
                if isinstance(place, str):
                    place = cells[place]
                elif isinstance(place, tuple):
                    place = _cells(found[place[0]])[place[1]]
                closure.append(place)
            defaults, kwdefaults = made.defaults, made.kwdefaults
            if made.part is not None:
                player = found[made.part]
                defaults, kwdefaults = player.__defaults__, player.__kwdefaults__
            function = types.FunctionType(made.code, made.namespace, name, defaults, tuple(closure))
            function.__kwdefaults__ = kwdefaults
            cells[name].cell_contents = function
        call: types.FunctionType = cells[self.entry].cell_contents
        return call


def recipe(
    fn: types.FunctionType,
    derivation: Derivation,
    functions: Mapping[str, types.FunctionType],
    settled: Settled,
    values: tuple[Any, ...] | None,
    bound: int,
    key: Any,
    text: str,
) -> Recipe:
    """Return what was derived from `fn` without what is `fn`'s own.

    `values` are the arguments for the shortcut, or None where there can be none; `key` is that of
    the arguments; `text` defines the functions.
    """
    seen, entry = derivation.seen, derivation.entry
    by_identity = _functions_in(key)
    for own in seen.values():
        data = [v for v in own.values() if v is not K.MISSING and not K.is_function(v)]
        by_identity |= _functions_in([lasting_key(v) for v in data])
    parts = _parts(fn, seen, by_identity)
    roles: dict[Any, Role] = {player: part.role for player, part in parts.items()}
    guards: list[tuple[Any, Question]] = []
    recursive = any(v is fn for own in seen.values() for v in own.values())
    for reader, own in seen.items():
        question = guard(reader, own, roles, reader is not fn or recursive)
        if question is not None:
            guards.append((roles.get(reader, reader), question))
    of_members = members_guard(derivation.members, roles)
    if of_members is not None:
        guards.append((roles[fn], of_members))
    short = None
    if values is not None:
        others = [
            _guard_role(i)
            for i, (asked, question) in enumerate(guards)
            if asked is not roles[fn] or question is of_members or recursive
        ]
        own = seen.get(fn, {})
        body = body_of(functions[entry], text, fn, own, bound)
        short = shortcut(fn, own, roles, others, values, bound, body)
    others_seen = {v for own in seen.values() for v in own.values() if _is_function(v)}
    fixed = frozenset({*seen, *others_seen, *by_identity} - set(parts))
    templates = _templates(derivation, functions, roles)
    listed = tuple(parts.values())
    outside = _outside(derivation, roles)
    return Recipe(
        entry,
        settled,
        listed,
        fixed,
        templates,
        tuple(guards),
        short,
        derivation.written,
        outside,
        lengths_assumed(derivation),
    )


def lengths_assumed(derivation: Derivation) -> tuple[str, ...]:
    """Return tests, as text, that the lengths taken not to be 1 are not."""
    return tuple(not_one_text(*fact) for fact in sorted(derivation.not_one))


def _outside(derivation: Derivation, roles: Mapping[Any, Role]) -> tuple[Outside, ...]:
    """Return by which names memory outside is reached, where overlap with it matters."""
    if not derivation.written and not derivation.written_outside:
        return ()
    found = []
    for reader, own in derivation.seen.items():
        for path, value in own.items():
            written = (reader, path) in derivation.written_outside
            if any(True for _ in reach(path, value)):
                found.append(Outside(roles.get(reader, reader), path, written))
    return tuple(found)


def _guard_role(number: int) -> Role:
    return Role(f"guard_{number}")


def _is_function(value: Any) -> bool:
    return type(value) is types.FunctionType


def _functions_in(key: Any) -> set[Any]:
    """Return the functions in a key: they are compared by identity, so no other may stand in."""
    if isinstance(key, K.Known):
        return {key.value} if _is_function(key.value) else set()
    if isinstance(key, tuple | list | frozenset):
        return set().union(*map(_functions_in, key))
    return set()


def _parts(
    fn: types.FunctionType, seen: Mapping[Any, Mapping[str, Any]], by_identity: set[Any]
) -> dict[Any, _Part]:
    """Return the function itself, and those read that were found in cells, from there on."""
    parts = {fn: _Part(Role("part_0"), fn.__code__, fn.__globals__)}
    pending = [fn]
    while pending:
        holder = pending.pop(0)
        for name in holder.__code__.co_freevars:
            value: Any = seen.get(holder, {}).get(name)
            if not _is_function(value) or value in parts or value not in seen:
                continue
            if value in by_identity:
                continue
            role = Role(f"part_{len(parts)}")
            own = parts[holder].role
            parts[value] = _Part(role, value.__code__, value.__globals__, own, name)
            pending.append(value)
    return parts


def loaded(text: Text, derivation: Any) -> dict[str, types.FunctionType]:
    """Return the functions of a derived text, in the surroundings of the user's functions."""
    filename = f"<s2sad {text.entry} {next(_numbers)}>"
    known = derivation.refs.functions
    live = live_in(derivation.refs)
    copied = {n: fn for n, fn in known.items() if n not in live}
    refusals = Refusals(text.text, filename, text.origins, known, place_at_home)
    called = {n: placed(fn, _ADVICE, refusals.called_from(n)) for n, fn in live.items()}
    refusing = _refusing(text, refusals, derivation.origins.get(text.entry))
    helpers: dict[str, dict[str, object]] = {}
    for n, fn in copied.items():
        own = getattr(fn, "__module__", None) in _HELPERS
        names = refusals.names(n, _OUR_OWN, "") if own else refusals.names(n, _OF_RULES, _ADVICE)
        # Helpers copied from rules see the builtins, whatever the user's module calls `len`.
        helpers[n] = {"__builtins__": builtins, **names}
    return load(
        text.text,
        text.entry,
        filename=filename,
        namespaces={**helpers, **text.namespaces},
        cells={
            n: {**called, **refusing.get(n, {}), **text.cells.get(n, {})}
            for n in {*helpers, *refusing, *text.cells}
        },
        defaults={n: f for n, f in derivation.origins.items() if n not in derivation.inner},
    )


def _refusing(
    text: Text, refusals: Refusals, entry: types.FunctionType | None
) -> dict[str, dict[str, object]]:
    """Return what derivatives of rules call in the modules of the rules, and what refuses."""

    def place(helper: str) -> Place | None:
        found = refusals.called_from(helper)()
        return found or (place_at_home(place_of(entry)) if entry is not None else None)

    ours = {n: space for n, space in text.namespaces.items() if _is_of_rules(space)}
    found: dict[str, dict[str, object]] = {}
    for node in ast.parse(text.text).body if ours else ():
        if isinstance(node, ast.FunctionDef) and node.name in ours:
            read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            there = {n: ours[node.name].get(n) for n in sorted(read)}
            given = {n: fn for n, fn in there.items() if isinstance(fn, types.FunctionType)}
            told = {n: placed(fn, _ADVICE, functools.partial(place, n)) for n, fn in given.items()}
            found[node.name] = {n: fn for n, fn in told.items() if fn is not given[n]}
    return found


def place_of(fn: types.FunctionType) -> Place | None:
    """Return where a function is defined, or None where its source cannot be had."""
    try:
        source = read(fn)
    except (SourceError, UnsupportedError):
        return None
    return source.place(source.node)


def _is_of_rules(namespace: Mapping[str, object]) -> bool:
    return str(namespace.get("__name__", "")).startswith("s2sad.rules")


def _templates(
    derivation: Derivation,
    functions: Mapping[str, types.FunctionType],
    roles: Mapping[Any, Role],
) -> dict[str, _Loaded]:
    """Return the loaded functions without what their closures share with the user's."""
    places: dict[int, tuple[Role, str]] = {}
    for player, role in roles.items():
        places |= {id(cell): (role, name) for name, cell in _cells(player).items()}
    names = {id(function): name for name, function in functions.items()}
    templates = {}
    for name, function in functions.items():
        closure: list[Any] = []
        for cell in function.__closure__ or ():
            if id(cell) in places:
                closure.append(places[id(cell)])
            else:
                closure.append(names.get(id(_inside(cell)), cell))
        origin = derivation.origins.get(name)
        taken = function.__defaults__ is not None or function.__kwdefaults__ is not None
        as_many = len(function.__defaults__ or ()) == len(
            getattr(origin, "__defaults__", None) or ()
        )
        theirs = taken and as_many and name not in derivation.inner  # an inner one has its own
        own = roles.get(origin) if theirs else None
        templates[name] = _Loaded(
            function.__code__,
            function.__globals__,
            own,
            None if own else function.__defaults__,
            None if own else function.__kwdefaults__,
            tuple(closure),
        )
    return templates


def _cells(fn: types.FunctionType) -> dict[str, types.CellType]:
    return dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))


def _contents(fn: types.FunctionType, name: str) -> Any:
    return _inside(_cells(fn)[name])


def _inside(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None


class Recipes:
    """The recipes used last, by what they were made for; a key holds code, never a function."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, tuple[Recipe, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any) -> tuple[Recipe, ...]:
        """Return what was made for a key, the last first."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key, ())

    def add(self, key: Any, made: Recipe) -> None:
        """Keep a recipe, and forget what was not used for the longest time."""
        with self._lock:
            self._kept[key] = (made, *self._kept.pop(key, ()))[:_EACH]
            if len(self._kept) > _SHARED:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._kept.clear()
