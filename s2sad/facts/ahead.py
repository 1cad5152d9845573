"""Refuse to read at once what a loop reads round by round, where it is written meanwhile.

    for u, v in itertools.pairwise(a):        The derivative goes through a list of the pairs, which
        t += u * v                            was made before the first round. The program makes the
        a[2] = x                              pairs one by one, and meets what is written here.

That is right where nothing that is read changes before the loop ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.errors import UnsupportedError
from s2sad.facts.memory import Memory, shares_nothing
from s2sad.nodes import all_inside, names_read, names_written, walk
from s2sad.stages import Ahead, Function, KindFacts, Names, surely_others


def check_ahead(function: Function, kinds: KindFacts, memory: Memory) -> None:
    """Raise for a write of what a loop goes through, where a list was made of that before."""
    if not function.ahead:
        return
    order = {s: at for at, s in enumerate(all_inside(function.node.body))}
    for loop in (s for s in order if isinstance(s, gast.For)):
        inside = set(all_inside([loop]))
        last = max(order[s] for s in inside)
        for n in sorted(names_read(loop.iter) & function.ahead.keys()):
            made = [at for s, at in order.items() if n in names_written(s) and at < order[loop]]
            start = max(made, default=order[loop])
            during = {s for s, at in order.items() if start < at <= last}
            ahead = function.ahead[n]
            for statement, base, owner, in_array in _written(memory):
                if statement not in during or base == n:
                    continue
                shared = memory.aliases.sharing(statement, base)
                env = kinds.before.get(statement, {})
                for source in sorted(ahead.sources & shared):
                    kind = env.get(source, K.UNKNOWN)
                    changed = ahead.computed or _changes(kind, owner, in_array)
                    if changed and not shares_nothing(kind):
                        raise _refusal(function, statement, source, "reads {} item by item")
                used = _used(ahead, env) if statement in inside else _seen(loop, shared)
                for met in sorted(shared & used) if ahead.computed else ():
                    raise _refusal(function, statement, met, _COMPUTED)


_COMPUTED = "goes through items that are computed one by one, by a function that reads or writes {}"


def _used(ahead: Ahead, env: dict[str, K.Kind]) -> Names:
    """Return the variables that the function reads which computes the items."""
    inside = (getattr(env.get(n), "variables", ()) for n in ahead.uses)
    return ahead.uses.union(*inside)


def _seen(loop: Any, written: Names) -> Names:
    """Return what is written before the loop, and shows how often: also where it is left early."""
    if any(isinstance(n, gast.Break) for s in loop.body for n in walk(s)):
        return written
    return frozenset().union(*map(names_read, loop.body))


def _written(memory: Memory) -> Iterator[tuple[Any, str, K.Kind, bool]]:
    """Yield the statements that write, or may, the variable, the kind of what is changed."""
    for w in memory.writes:
        yield w.statement, w.base, w.owner, w.in_array
    for statement, _, given in memory.opaque:
        for base in sorted(given):
            yield statement, base, K.UNKNOWN, False


def _changes(kind: K.Kind, owner: K.Kind, in_array: bool) -> bool:
    """Say whether a write may give what is gone through other items; a row is a view."""
    if isinstance(kind, K.Array):
        return kind.rank < 2
    return not in_array and not surely_others(kind, owner)


def _refusal(function: Function, statement: Any, n: str, what: str) -> UnsupportedError:
    return UnsupportedError(
        f"A loop {what.format(_said(function, n))}; it may be written here before the last item is "
        "read, and s2sad reads all items before the first round.",
        remedy=(
            "Loop over the indices: for i in range(len(...)). Or loop over a list, list(...), if "
            "the rounds should see what was there before the first one."
        ),
        place=function.source.place(function.origins.get(statement, statement)),
    )


def _said(function: Function, n: str) -> str:
    """Return what the user calls a variable, which may be a temporary."""
    made = [s.value for s in all_inside(function.node.body) if _binds(s, n)]
    path = made[0] if made and n in function.temps else gast.Name(n, gast.Load(), None, None)
    attrs: list[str] = []
    while isinstance(path, gast.Attribute):
        attrs.insert(0, path.attr)
        path = path.value
    known = isinstance(path, gast.Name) and path.id not in function.temps
    return f"`{'.'.join([path.id, *attrs])}`" if known else "its iterable"


def _binds(s: Any, n: str) -> bool:
    return isinstance(s, gast.Assign) and getattr(s.targets[0], "id", None) == n
