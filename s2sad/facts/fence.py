"""Refuse what cannot be shown to be right, pointing at it, before anything is derived.

Memory that is written in place has no derivative yet: a write is refused where the memory may be
that of an active variable, or hold what the backward sweep reads.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import (
    ActivityError,
    DerivativeWarning,
    Error,
    MissingRuleError,
    UnsupportedError,
)
from s2sad.facts.ahead import check_ahead
from s2sad.facts.appends import made_anew
from s2sad.facts.filled import after_write, with_part
from s2sad.facts.flowing import flows
from s2sad.facts.marks import is_marks
from s2sad.facts.memory import CACHED, Memory, root, shares_nothing
from s2sad.facts.mistakes import namesake
from s2sad.facts.operators import refuse_left_over
from s2sad.facts.staying import stays_here
from s2sad.facts.stopped import check_stopped
from s2sad.facts.unseen import check_stored, check_unseen_reads
from s2sad.kinds import Kind
from s2sad.known.unread import by_cause, undecided
from s2sad.nodes import all_inside, children, names_read, names_written, walk
from s2sad.stages import Activity, Function, KindFacts, Link, Names, Write
from s2sad.syntax.decided import is_word
from s2sad.syntax.flow import free_names, live_in

Env = dict[str, Kind]

_SLICE = "Write the slice in the index, or give it a name in this function: `s = slice(...)`."
_SLICES = (slice, type(np.s_))
_ADVICE = "Build a new value instead: np.where, np.concatenate, or a list and np.array."


def fence(
    function: Function,
    kinds: KindFacts,
    activity: Activity,
    memory: Memory,
    constant: frozenset[str] = frozenset(),
) -> None:
    """Raise for the first statement that touches active memory in a way not understood.

    What the caller declares `constant` keeps no derivative. The program follows writes in place;
    what kinds have told of memory may not become stale by them.
    """
    active = ever_active(activity)
    _read_before(function, memory)
    check_stopped(function, kinds, activity, memory)
    check_unseen_reads(function, kinds, activity, memory)
    _unpacked(function, kinds, memory)
    _lazily_read(function, kinds, memory)
    _into_cached(function, memory)
    _one_kind(function, kinds, memory)
    refuse_left_over(function, kinds, activity)
    _first_unknown(function, kinds, activity)
    check_ahead(function, kinds, memory)
    _into_constants(function, kinds, activity, memory, constant)
    _rounded(function, kinds, activity, memory)
    _active_keys(function, kinds, activity, active)
    check_stored(function, kinds, activity, memory)
    for write in memory.writes:
        hit = memory.shares(write.base, active) if write.how == "rebind" else set()
        if hit:
            raise _rebound(function, write.base if write.base in hit else min(hit), write)
    _into_defaults(function, kinds, activity, memory)
    _into_opaque(function, kinds, activity, memory, active)


def _rebound(function: Function, name: str, write: Write) -> UnsupportedError:
    inner = next(s for s in walk(write.statement) if isinstance(s, gast.Nonlocal | gast.Global))
    return UnsupportedError(
        f"The result depends on `{name}`, and an inner function rebinds it; s2sad "
        "cannot follow such a variable yet.",
        remedy="Return the new value, and assign it where the function is called.",
        place=function.source.place(inner),
    )


def _into_opaque(
    function: Function,
    kinds: KindFacts,
    activity: Activity,
    memory: Memory,
    active: frozenset[str],
) -> None:
    for statement, call, given in memory.opaque:
        varied = activity.varied_before.get(statement, frozenset())
        varied |= activity.varied_after.get(statement, frozenset())
        hit = {n for n in given if n in varied and n in active}
        hit = {n for n in hit if not _immutable(kinds, statement, n)}
        if hit:
            said = (
                f"The result depends on `{min(hit)}`, which is passed to a function that may "
                "change it: the function has no derivative rule and no readable source.",
                "Write a rule for the function with @s2sad.pullback, or pass it a copy.",
            )
            if isinstance(call, gast.Call):
                kind = kinds.of.get(call.func)
                if isinstance(kind, K.Unknown) and kind.why:
                    raise _refusal(function, statement, UnsupportedError, *undecided(kind), call)
                said = _refused_by_name(function, kinds, call) or said
            raise _refusal(function, statement, MissingRuleError, *said, call)


def _into_defaults(
    function: Function, kinds: KindFacts, activity: Activity, memory: Memory
) -> None:
    """What varies must not get into a default argument: later calls would find it there.

    What an inner function captures gets there, too.
    """
    for call in memory.lasting:
        called = kinds.of.get(getattr(call, "func", None))
        own = called.variables if isinstance(called, K.LocalFunction) else ()
        given = names_read(call) | {*own}
        for s, varied in activity.varied_before.items():
            if given & varied and any(n is call for n in walk(s)):
                raise _refusal(
                    function,
                    s,
                    UnsupportedError,
                    "The called function changes something that lasts from call to call (a "
                    "default argument or a global): the next call would find values of this "
                    "one there.",
                    "Pass everything that the function changes as an argument.",
                    call,
                )


def _one_kind(function: Function, kinds: KindFacts, memory: Memory) -> None:
    """What is known of a structure must hold under its other names too, after it is changed."""
    for write in memory.writes:
        s = write.statement
        if not K.is_container(write.owner) or s not in kinds.before or s not in kinds.after:
            continue
        before, after = kinds.before[s], kinds.after[s]
        was, now = before.get(write.base, K.UNBOUND), after.get(write.base, K.UNBOUND)
        same = K.without_none(was) == K.without_none(now)
        if same and not isinstance(write.owner, K.OpenDict | K.List):
            continue
        if write.how == "append" and made_anew(function, write.base):
            continue  # it has no other name yet
        live = memory.aliases.live_after.get(s, frozenset())
        links = memory.aliases.links_before.get(s, {})
        known = {write.base}
        part, link = write.base, links.get(write.base)
        while link is not None:
            if _told(link, before.get(part), after.get(part), after, kinds):
                known.add(link.base)
            part, link = link.base, links.get(link.base)
        for n, other in links.items():
            if isinstance(other.value, gast.Name) and other.base == write.base:
                if after.get(n) == after.get(write.base):
                    known.add(n)
        others = (memory.aliases.sharing(s, write.base) & live & function.locals) - known
        hit = {n for n in others if K.may_hold(before.get(n, K.UNBOUND), write.owner)}
        if same or not _tells(before[write.base], after[write.base]):
            hit = {n for n in hit if _untold(before[n], write, kinds)}
        if hit and stays_here(function, kinds, write.base):
            continue
        if hit:
            raise _refusal(
                function,
                s,
                UnsupportedError,
                f"This write gives `{write.base}` another kind of content, and `{min(hit)}` "
                "may be, or hold, the same structure: s2sad would no longer know what that "
                "holds.",
                "Store a value of the same kind and shape as the old one, or use one name only.",
            )


def _untold(kind: Kind, write: Write, kinds: KindFacts) -> bool:
    """Say whether a write makes something else of a structure that a value is known to hold."""
    if any(_untold(part, write, kinds) for part in kind.inside):
        return True
    if not isinstance(kind, K.Dict | K.List | K.Obj) or _tells(
        write.owner, K.join(write.owner, kind)
    ):
        return False  # it is another one
    return _tells(kind, after_write(kind, write.statement, kinds.of), True)


def _told(link: Link, old: Kind | None, new: Kind | None, after: Env, kinds: KindFacts) -> bool:
    """Say whether what a structure has become is known of the one that it is, or is a part of."""
    whole = after.get(link.base, K.UNKNOWN)
    if isinstance(link.value, gast.Name):
        return whole == new
    index = kinds.of.get(getattr(link.value, "slice", None), K.UNKNOWN)
    known = with_part(whole, link.value, index, new or K.UNKNOWN, inside=True)
    return not _tells(old, new, True) or not _tells(whole, known, True)


def _tells(old: Kind | None, new: Kind | None, constants: bool = False) -> bool:
    """Say whether tests by kinds alone may come out another way after a structure has changed.

    `is None`, isinstance and hasattr are such tests, those of known values, and what a cached
    property holds. With `constants`, it tells, too, that a number which had no derivative may have
    one.
    """
    if old is None or new is None or type(old) is not type(new):
        return type(old) is not type(new)
    if is_word(old):
        return old != new
    if isinstance(old, K.Obj | K.Dict | K.List):
        if isinstance(old.rest, K.Unbound):  # who reads an empty list reads no derivatives
            filled = isinstance(new, K.List) and not isinstance(new.rest, K.Unbound)
            return constants and filled and K.differentiable(new)
        pairs = K.paired(old, new)
        return pairs is None or any(_tells(a, b, constants) for a, b in pairs)
    if isinstance(old, K.OneOf) and isinstance(new, K.OneOf):
        if set(K.classes(old)) != set(K.classes(new)):
            return True
        return any(_tells(a, b, constants) for a, b in zip(old.options, new.options, strict=False))
    if isinstance(old, K.Union) and isinstance(new, K.Union):
        return set(map(type, old.options)) != set(map(type, new.options))
    if isinstance(old, K.Num) and isinstance(new, K.Num):
        gains = constants and K.differentiable(new) and not K.differentiable(old)
        return gains or (old.type != new.type and "bool" in (old.type, new.type))
    return False


def _read_before(function: Function, memory: Memory) -> None:
    """`a[i] += f()` reads a[i] before f is called: f must not change it."""
    for write in memory.writes:
        origin = function.origins.get(write.statement)
        if not isinstance(origin, gast.AugAssign) or isinstance(origin.target, gast.Name):
            continue
        if write.how != "call":
            continue
        base = root(origin.target)
        if base in memory.aliases.sharing(write.statement, write.base):
            raise _refusal(
                function,
                write.statement,
                UnsupportedError,
                f"This statement reads `{base}` and then computes its right side, which may "
                f"change `{base}`.",
                "Compute the right side in a statement of its own.",
            )


def _unpacked(function: Function, kinds: KindFacts, memory: Memory) -> None:
    """What a call unpacks has the length and the keys that it was made with, or is refused."""
    for base, s in function.spread.items():
        held = [env[base] for env in kinds.before.values() if base in env]
        written = {w.base for w in memory.writes if any(_may_change(w, k) for k in held)}
        for at, _, given in memory.opaque:
            env = kinds.before.get(at, {})
            written |= {n for n in given if any(_meet(env.get(n, K.UNKNOWN), k) for k in held)}
        if base in written or any(memory.shares(w, {base}) for w in written):
            raise _refusal(
                function,
                s,
                UnsupportedError,
                f"`{base}` is unpacked here and may be changed elsewhere: s2sad does not know "
                "which items it holds here.",
                "Write the arguments out, or unpack a tuple or a dict that nothing changes.",
            )


def _lazily_read(function: Function, kinds: KindFacts, memory: Memory) -> None:
    """Refuse a view of a dict, or another lazy iterable, of what is written before it is read."""
    live: dict[Any, Names] = {}
    for write in memory.writes:
        before = kinds.before.get(write.statement, {})
        lazy = {n for n in memory.shares(write.base, set(before)) if _is_lazy(before[n])}
        if lazy and not live:
            live_in(function.node.body, frozenset(), live.__setitem__)
        hit = lazy & live.get(write.statement, frozenset())
        if hit:
            raise _refusal(
                function,
                write.statement,
                UnsupportedError,
                f"`{min(hit)}` is read lazily, and `{write.base}`, which it may read from, is "
                "written here before.",
                f"Make a list of it: {min(hit)} = list(...).",
            )


def _into_cached(function: Function, memory: Memory) -> None:
    """Refuse a write into what a cached function gave: the next call gives the same object."""
    cached = {n for n in memory.parent if n.endswith(CACHED)}
    for write in memory.writes if cached else ():
        for n in sorted(memory.shares(write.base, cached)):
            raise _refusal(
                function,
                write.statement,
                UnsupportedError,
                f"`{write.base}` may be what {n} gave, and is written here: {n} is cached, so that "
                "later calls see the write, and derived code computes each call anew.",
                "Write into a copy of the cached value.",
            )


def _is_lazy(kind: Kind) -> bool:
    return isinstance(kind, K.Iterable_) and not kind.indexed and K.differentiable(kind)


def _may_change(write: Write, kind: Kind) -> bool:
    """Say whether a write may give a structure in a value of this kind other items."""
    if write.how in ("rebind", "call"):
        return write.how == "rebind" or _meet(write.owner, kind)
    return not isinstance(write.owner, K.Array) and K.may_hold(kind, write.owner)


def _meet(one: Kind, other: Kind) -> bool:
    """Say whether values of two kinds may hold the same structure."""
    here, there = K.reached(one), K.reached(other)
    return here is None or there is None or bool(here & there)


def arguments_written(
    function: Function, kinds: KindFacts, memory: Memory, noting: Collection[Any] = ()
) -> frozenset[str]:
    """Return the parameters whose memory the function writes: derivatives work on copies.

    What carries no derivative (a log, a set of names) may be written aside, and what the with
    statements that are `noting` write: nobody reads it.
    """
    entry = kinds.before.get(function.node.body[0], {})
    found: set[str] = set()
    for write in memory.writes:
        holders = memory.aliases.arguments(write)
        if not (write.in_array or write.statement in memory.aliases.structures):
            left = kinds.after.get(write.statement, {}).get(write.base, write.owner)
            if write.statement in noting or not K.differentiable(left):
                continue
            known = {p: entry.get(p, K.UNBOUND) for p in holders}
            holders = frozenset(
                p for p, k in known.items() if K.differentiable(k) and K.may_hold(k, write.owner)
            )
        found |= holders
    return frozenset(found)


def memory_written(memory: Memory) -> frozenset[str]:
    """Return the parameters whose memory, as given, a statement of the function may write."""
    return frozenset().union(*(memory.aliases.arguments(w) for w in memory.writes))


def outside_written(function: Function, memory: Memory) -> Names:
    """Return the names from outside with arrays that may be written."""
    writes = [w for w in memory.writes if not K.is_container(w.owner)]
    return frozenset().union(*(outside_of(function, w, memory) for w in writes))


def check_managers(
    function: Function, kinds: KindFacts, memory: Memory, read: Collection[str]
) -> None:
    """Raise where the backward sweep reads what a manager may change when its block is left."""
    calls = [opaque for opaque in memory.opaque if isinstance(opaque[0], gast.With)]
    _check_opaque(function, kinds, memory, {*read} & function.locals, calls)


def _check_opaque(
    function: Function,
    kinds: KindFacts,
    memory: Memory,
    arrays: set[str],
    calls: Iterable[tuple[Any, Any, frozenset[str]]],
) -> None:
    for statement, call, given in calls:
        known = kinds.before.get(statement, {})
        hit = {
            n
            for base in given
            for n in memory.shares(base, arrays)
            if not shares_nothing(known.get(n, K.UNKNOWN))
        }
        if hit:
            raise _refusal(
                function,
                statement,
                UnsupportedError,
                f"The derivative reads `{min(hit)}`, which is passed to a function that may "
                "change it: the function has no derivative rule and no readable source.",
                "Pass the function a copy.",
                call,
            )


def _into_constants(
    function: Function,
    kinds: KindFacts,
    activity: Activity,
    memory: Memory,
    constant: frozenset[str],
) -> None:
    """An active value stored where no derivative is kept would be lost."""
    for write in memory.writes:
        outside = outside_of(function, write, memory)
        buffers = memory.aliases.arguments(write) & constant
        marks = write.how == "call" and not K.differentiable(write.owner)
        if write.how == "rebind" or is_marks(write.owner) or marks:
            continue
        if buffers:
            _into_buffer(function, kinds, activity, write, min(buffers))
        if write.base in function.locals and not outside:
            continue
        varied = activity.varied_before.get(write.statement, frozenset())
        value = getattr(write.statement, "value", None)
        if value is not None and names_read(value) & varied:
            raise _refusal(
                function,
                write.statement,
                ActivityError,
                f"An active value is stored into `{write.base}`, which is constant: its derivative "
                "would be lost.",
                f"Pass `{write.base}` as an argument, return the value, or store "
                "stop_gradient(...) of the value.",
            )


def _rounded(function: Function, kinds: KindFacts, activity: Activity, memory: Memory) -> None:
    """Warn where an active value is stored into an array of integers or truth values.

    A function that is called warns of its own statements.
    """
    for write in memory.writes:
        value = getattr(write.statement, "value", None)
        if write.how == "call" or not write.in_array:
            continue
        if K.differentiable(write.owner) or value is None:
            continue
        varied = activity.varied_before.get(write.statement, frozenset())
        if not K.differentiable(kinds.of.get(value, K.UNKNOWN)) or not names_read(value) & varied:
            continue
        origin = function.origins.get(write.statement, write.statement)
        place = function.source.place(origin)
        text = (
            f"A float is stored into `{write.base}`, {K.describe(write.owner)}: the float is "
            "rounded there, and its derivative is lost."
        )
        warnings.warn_explicit(text, DerivativeWarning, place.file, place.line)


def _active_keys(
    function: Function, kinds: KindFacts, activity: Activity, active: frozenset[str]
) -> None:
    """Refuse keys that move with what is differentiated: another entry would be meant."""
    for s in all_inside(function.node.body):
        varied = activity.varied_before.get(s, frozenset())
        for d, key in _keys_in(s):
            if getattr(d, "id", None) not in active or not flows(key, kinds) & varied:
                continue
            if isinstance(kinds.of.get(d), K.AnyDict):
                raise _refusal(
                    function,
                    s,
                    UnsupportedError,
                    f"A key of `{d.id}` depends on what is differentiated: a choice among "
                    "entries has no derivative.",
                    "Use a key that does not depend on it: an index, a string, or int(...) "
                    "or round(...) of the value.",
                    key,
                )


def _keys_in(s: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the dicts, or arrays, of which a statement names entries, with the keys."""
    parts = [getattr(s, "value", None), getattr(s, "target", None), *getattr(s, "targets", ())]
    for n in (n for p in parts if isinstance(p, gast.AST) for n in walk(p)):
        if isinstance(n, gast.Subscript) and not isinstance(n.slice, gast.Slice):
            yield n.value, n.slice
        elif isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute) and n.args:
            if n.func.attr in ("get", "pop", "setdefault"):
                yield n.func.value, n.args[0]


def _into_buffer(
    function: Function, kinds: KindFacts, activity: Activity, write: Write, buffer: str
) -> None:
    """Refuse an active value that is stored into a parameter said to be Const."""
    varied = activity.varied_before.get(write.statement, frozenset())
    value = getattr(write.statement, "value", None)
    if value is None:
        return
    stored = names_read(value) if isinstance(write.statement, gast.Expr) else flows(value, kinds)
    if not stored & varied:
        return
    through = "" if write.base == buffer else f", through `{write.base}`"
    raise _refusal(
        function,
        write.statement,
        ActivityError,
        f"An active value is stored into `{buffer}`{through}, which is Const: its derivative would "
        "be lost.",
        f"Remove the annotation of `{buffer}`, or pass autodiff Duplicated({buffer}, zeros): "
        "zeros are the right shadow where the initial content of the buffer does not matter. "
        "Or store stop_gradient(...) of the value.",
    )


def outside_of(function: Function, write: Write, memory: Memory) -> set[str]:
    """Return the names from outside the function whose memory a write in place may change."""
    shared = memory.aliases.sharing(write.statement, write.base)
    outside = {n for n in shared if "@" not in n} - function.locals
    return outside & memory.aliases.structures.get(write.statement, outside)


def refuse_globals(function: Function) -> None:
    """A global that is rebound may be read anywhere: no derivative can be shown to be right."""
    for s in function.node.body:
        for n in walk(s):
            if not isinstance(n, gast.Global):
                continue
            raise _refusal(
                function,
                n,
                UnsupportedError,
                f"The global `{n.names[0]}` is rebound here; s2sad cannot tell which other "
                "code reads it.",
                "Pass the value as an argument, and return the new one.",
                n,
            )


def refuse_rebound(functions: list[Function]) -> None:
    """Refuse to read a captured variable that another function in the module binds anew.

    Two functions that capture one variable share its cell. When it was read nobody could tell.
    """
    cells: dict[int | None, Function] = {}
    for f in functions:
        for n in sorted(_declared(f.node)) if f.source.fn.__code__.co_freevars else ():
            cells.setdefault(_cell(f, n), f)
    cells.pop(None, None)
    for f in functions if cells else ():
        own = _declared(f.node)
        for n in walk(f.node):
            known = isinstance(n, gast.Name) and n.id not in own
            other = cells.get(_cell(f, n.id)) if known else None
            if other is not None and getattr(n, "lineno", None) is not None:
                raise UnsupportedError(
                    f"`{n.id}` is read here, and {other.name} rebinds it; s2sad cannot tell "
                    "which of its values is read.",
                    remedy="Return the new value, and assign it where the function is called.",
                    place=f.source.place(n),
                )


def _declared(node: Any) -> set[str]:
    return {n for s in walk(node) if isinstance(s, gast.Nonlocal) for n in s.names}


def _cell(function: Function, variable: str) -> int | None:
    """Return which cell holds a variable that a function captures; None of any other."""
    fn = function.source.fn
    captured = fn.__code__.co_freevars
    if variable not in captured or variable in function.locals:
        return None
    return id((fn.__closure__ or ())[captured.index(variable)])


_FILLS = ("append", "extend", "insert")


def refuse_hidden_appends(function: Function, kinds: KindFacts) -> None:
    """A list that is filled out of sight: who writes it looks at statements that call a method."""
    captured = _captured(function)
    for s, env in kinds.before.items():
        value = s.value if isinstance(s, gast.Assign) else None
        if _fills(value, env, kinds):
            raise _refusal(
                function,
                s,
                UnsupportedError,
                "A list is filled inside an expression, or by a method that was stored for "
                "later; s2sad follows only append, extend and insert in statements of their "
                "own.",
                "Call append in a statement of its own, in a loop.",
            )
        given = value.args if isinstance(value, gast.Call) else []
        empty = isinstance(kinds.of.get(value), K.Unbound)
        read = empty and any(kinds.of.get(a) == K.List(K.UNBOUND) for a in given)
        if read or _reads_filled(s, env, captured):
            raise _refusal(
                function,
                s,
                UnsupportedError,
                "The list that is read here seems to be empty: s2sad does not know what fills it.",
                "Fill the list by append where it is made, or let functions return the items.",
            )


def _reads_filled(s: Any, env: dict[str, K.Kind], captured: frozenset[str]) -> bool:
    """Say whether a statement reads what is in a list that only inner functions may have filled."""
    value = getattr(s, "value", None)
    place = s.iter if isinstance(s, gast.For) else None
    if isinstance(value, gast.Subscript):
        place = value.value
    return (
        isinstance(place, gast.Name)
        and place.id in captured
        and env.get(place.id) == K.List(K.UNBOUND)
    )


def _captured(function: Function) -> frozenset[str]:
    """Return the variables that inner functions have at hand."""
    made = (n for s in function.node.body for n in walk(s))
    inner = (n for n in made if isinstance(n, gast.FunctionDef | gast.Lambda))
    return frozenset().union(*map(free_names, inner)) & function.locals


def _fills(value: Any, env: dict[str, K.Kind], kinds: KindFacts) -> bool:
    """Say whether an assigned expression fills a list, or is what does so later."""
    func = value.func if isinstance(value, gast.Call) else value
    if not isinstance(func, gast.Attribute) or not isinstance(func.value, gast.Name):
        return False
    if func.attr not in _FILLS or not isinstance(env.get(func.value.id), K.List):
        return False
    args = value.args if func is not value else []
    return not args or any(K.differentiable(kinds.of.get(a, K.UNKNOWN)) for a in args)


def _first_unknown(function: Function, kinds: KindFacts, activity: Activity) -> None:
    """Point at the first operation on an active path whose meaning kinds do not decide."""
    for s, after in kinds.after.items():
        if not isinstance(s, gast.Assign) or s not in activity.varied_after:
            continue
        written = names_written(s) & activity.after(s)
        if not written or not any(isinstance(after.get(n), K.Unknown) for n in written):
            continue
        value = s.value
        if not isinstance(kinds.of.get(value), K.Unknown) or isinstance(value, gast.Name):
            continue
        operands = [n for n in children(value) if isinstance(n, gast.expr)]
        if isinstance(value, gast.Call):
            operands = list(value.args)
        unknown = [o for o in operands if isinstance(kinds.of.get(o), K.Unknown)]
        varied = activity.varied_before[s]
        if any(names_read(o) & varied for o in unknown):
            continue
        raise _undecided(function, kinds, s, value, unknown)


def _undecided(
    function: Function, kinds: KindFacts, s: Any, value: Any, unknown: list[Any]
) -> Error:
    found = [k for k in map(kinds.of.get, [*unknown, value]) if isinstance(k, K.Unknown)]
    found.sort(key=lambda k: k.error is None)
    kind = next((k for k in found if k.why), K.Unknown())
    if isinstance(value, gast.Call) and not _mistaken(function, value, kind):
        refused = _refused_by_name(function, kinds, value)
        if refused is not None:
            return _refusal(function, s, MissingRuleError, *refused, value)
        fn = kinds.objects.get(value.func)
        foreign = registry.is_foreign(fn)
        without = fn is not None and registry.rule_for(fn) is None
        if without and (foreign or not inspect.isfunction(fn)):
            label = expression_path(value.func)
            why, advice = registry.missing(fn, label)
            return _refusal(function, s, MissingRuleError, why, namesake(fn) or advice, value)
    reason, remedy = undecided(kind, _SLICE if kind.cls in _SLICES else "")
    return by_cause(_refusal(function, s, UnsupportedError, reason, remedy, value), kind)


def _mistaken(function: Function, value: Any, kind: K.Unknown) -> bool:
    """Say whether a call would fail in plain Python, too."""
    error = kind.error
    if error is None or isinstance(error, MissingRuleError) or error.place is None:
        return False
    return error.place == function.source.place(value)


def _refused_by_name(function: Function, kinds: KindFacts, value: Any) -> tuple[str, str] | None:
    """Return why, and what to do, where a library's function, object or method is refused.

    An object may be made and called at once: `np.vectorize(f)(x)`.
    """
    func = value.func
    if isinstance(func, gast.Attribute) and K.is_numeric(kinds.of.get(func.value, K.UNKNOWN)):
        found = registry.is_refused(getattr(np.ndarray, func.attr, None))
        return registry.missing_method(func.attr) if found else None
    makers = [func]
    if isinstance(func, gast.Name):
        makers += [
            n.value.func
            for n in walk(function.node)
            if isinstance(n, gast.Assign) and isinstance(n.value, gast.Call)
            if func.id in names_written(n)
        ]
    for maker in makers:
        fn = kinds.objects.get(maker)
        if registry.is_refused(fn):
            return registry.missing(fn, expression_path(maker))
    return None


def expression_path(node: Any) -> str:
    """Return a dotted name as it stands in the source."""
    if isinstance(node, gast.Attribute):
        return f"{expression_path(node.value)}.{node.attr}"
    return getattr(node, "id", "this function")


def ever_active(activity: Activity) -> frozenset[str]:
    """Return the names that are active at some point of a function."""
    found: set[str] = set()
    for statement in activity.varied_before:
        found |= activity.before(statement) | activity.after(statement)
    for loop in activity.head_varied:
        found |= activity.head(loop)
    return frozenset(found)


def _immutable(kinds: KindFacts, statement: Any, name: str) -> bool:
    kind = kinds.before.get(statement, {}).get(name, K.UNKNOWN)
    return shares_nothing(kind)


def _refusal(
    function: Function,
    statement: Any,
    cls: type[Error],
    reason: str,
    remedy: str,
    node: Any = None,
) -> Error:
    origin = function.origins.get(statement, statement)
    at = node if node is not None and getattr(node, "lineno", None) is not None else origin
    return cls(reason, remedy=remedy, place=function.source.place(at))
