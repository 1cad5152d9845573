"""Deriving: what the first derivative of a process loads, and no import of s2sad before it.

A derivation is printed and loaded, and becomes a recipe that can be bound to other functions.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from s2sad import kinds as K
from s2sad import runtime
from s2sad.aliasing import reach
from s2sad.emitted import hooks, overlaps
from s2sad.errors import ActivityError, AliasError, Place, RuleRefusal, UnsupportedError
from s2sad.known.pieces import not_one_text
from s2sad.known.signature import lasting_key
from s2sad.operators.guard import Question, Role, body_of, guard, members_guard, shortcut
from s2sad.operators.higher import derive, place_at_home
from s2sad.operators.logs import log, with_answers
from s2sad.operators.parameters import Settled
from s2sad.operators.sharing import (
    Loaded,
    Outside,
    Part,
    Recipe,
    cells_of,
    content_of,
    guard_role,
    is_plain_function,
    place_of,
)
from s2sad.requests import Request
from s2sad.stages import Text
from s2sad.steps.derivation import Derivation
from s2sad.steps.joining import printed as printed
from s2sad.steps.repeatable import repeatable as repeatable
from s2sad.write.live import live_in, placed
from s2sad.write.load import load
from s2sad.write.origins import Refusals

if TYPE_CHECKING:
    from s2sad.write.lines import Origin

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


def derived(request: Request) -> Derivation:
    """Return what is derived for a request, and log it where S2SAD_LOGS asks for that."""
    derivation = derive(with_answers(request))
    log(derivation)
    return derivation


def lines_of(request: Request) -> tuple[str, Mapping[int, Origin]]:
    """Return the text derived for a request, and from what its lines come."""
    from s2sad.steps.roles import roles_of
    from s2sad.write.copies import prelude
    from s2sad.write.lines import origins_by_line
    from s2sad.write.printer import module

    d = derive(request)
    body = prelude(d.refs, d.functions)
    text = module(body)
    return text, origins_by_line(body, text, roles_of(d))


def recipe(
    fn: types.FunctionType,
    derivation: Derivation,
    functions: Mapping[str, types.FunctionType],
    settled: Settled,
    values: tuple[Any, ...] | None,
    bound: int,
    key: Any,
    text: str,
    seed: Any = None,
) -> Recipe:
    """Return what was derived from `fn` without what is `fn`'s own.

    `values` are the arguments for the shortcut, or None where there can be none; `key` is that of
    the arguments; `text` defines the functions; `seed` is the tangent that the shortcut gives.
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
        itself = reader is not fn or recursive
        question = guard(reader, own, roles, itself, derivation.by_value)
        if question is not None:
            guards.append((roles.get(reader, reader), question))
    of_members = members_guard(derivation.members, roles, derivation.by_value)
    if of_members is not None:
        guards.append((roles[fn], of_members))
    short = None
    outside = _outside(derivation, roles)
    if values is not None and not outside:
        others = [
            guard_role(i)
            for i, (asked, question) in enumerate(guards)
            if asked is not roles[fn] or question is of_members or recursive
        ]
        own = seen.get(fn, {})
        body = body_of(functions[entry], text, fn, own, bound, seed is not None)
        dot = _last_parameter(functions[entry]) if seed is not None else ""
        short = shortcut(fn, own, roles, others, values, bound, body, (dot, seed))
    others_seen = {v for own in seen.values() for v in own.values() if is_plain_function(v)}
    fixed = frozenset({*seen, *others_seen, *by_identity} - set(parts))
    templates = _templates(derivation, functions, roles)
    listed = tuple(parts.values())
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


def _last_parameter(fn: types.FunctionType) -> str:
    code = fn.__code__
    return code.co_varnames[code.co_argcount + code.co_kwonlyargcount - 1]


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


def _functions_in(key: Any) -> set[Any]:
    """Return the functions in a key: they are compared by identity, so no other may stand in."""
    if isinstance(key, K.Known):
        return {key.value} if is_plain_function(key.value) else set()
    if isinstance(key, tuple | list | frozenset):
        return set().union(*map(_functions_in, key))
    return set()


def _parts(
    fn: types.FunctionType, seen: Mapping[Any, Mapping[str, Any]], by_identity: set[Any]
) -> dict[Any, Part]:
    """Return the function itself, and those read that were found in cells, from there on."""
    parts = {fn: Part(Role("part_0"), fn.__code__, fn.__globals__)}
    pending = [fn]
    while pending:
        holder = pending.pop(0)
        for name in holder.__code__.co_freevars:
            value: Any = seen.get(holder, {}).get(name)
            if not is_plain_function(value) or value in parts or value not in seen:
                continue
            if value in by_identity:
                continue
            role = Role(f"part_{len(parts)}")
            own = parts[holder].role
            parts[value] = Part(role, value.__code__, value.__globals__, own, name)
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


def _is_of_rules(namespace: Mapping[str, object]) -> bool:
    return str(namespace.get("__name__", "")).startswith("s2sad.rules")


def _templates(
    derivation: Derivation,
    functions: Mapping[str, types.FunctionType],
    roles: Mapping[Any, Role],
) -> dict[str, Loaded]:
    """Return the loaded functions without what their closures share with the user's."""
    places: dict[int, tuple[Role, str]] = {}
    for player, role in roles.items():
        places |= {id(cell): (role, name) for name, cell in cells_of(player).items()}
    names = {id(function): name for name, function in functions.items()}
    templates = {}
    for name, function in functions.items():
        closure: list[Any] = []
        for cell in function.__closure__ or ():
            if id(cell) in places:
                closure.append(places[id(cell)])
            else:
                closure.append(names.get(id(content_of(cell)), cell))
        origin = derivation.origins.get(name)
        taken = function.__defaults__ is not None or function.__kwdefaults__ is not None
        as_many = len(function.__defaults__ or ()) == len(
            getattr(origin, "__defaults__", None) or ()
        )
        theirs = taken and as_many and name not in derivation.inner  # an inner one has its own
        own = roles.get(origin) if theirs else None
        templates[name] = Loaded(
            function.__code__,
            function.__globals__,
            own,
            None if own else function.__defaults__,
            None if own else function.__kwdefaults__,
            tuple(closure),
        )
    return templates
