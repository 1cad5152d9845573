"""Where in its arguments a function writes.

    for layer in layers:
        layer.h[:] = layer.W @ x             layers: (None, "h")      any item, there the array h
    p["count"] += 1                          p: ()                    the dict itself

A place is a path of attributes, keys and indices; None stands for any of them, an ellipsis at its
end for all that is below. Who shares what stands elsewhere does no harm: it is only read.
"""

from __future__ import annotations

from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.alias import appended
from s2sad.facts.memory import Memory
from s2sad.kinds import Kind
from s2sad.nodes import Node, block_writes, root_name
from s2sad.stages import ANYWHERE, Aliases, Function, KindFacts, Steps, Write, Written


def places_written(
    function: Function, kinds: KindFacts, memory: Memory, slots: bool = False
) -> Written:
    """Return the places in the parameters where arrays are written, or containers changed.

    With `slots`, an attribute or an entry that is set counts, not the container it is set in.
    """
    aliases = memory.aliases
    moved = _moved(aliases, kinds) | block_writes(function.node.body)
    entry = kinds.before.get(function.node.body[0], {})
    arrays: dict[str, set[Steps]] = {}
    containers: dict[str, set[Steps]] = {}
    for w in memory.writes:
        found = containers if K.is_container(w.owner) else arrays
        for p in aliases.arguments(w):
            place = None if p in moved else _place(aliases, w, p, entry.get(p, K.UNKNOWN))
            if slots and place is not None and found is containers:
                place = (*place, *_slot(w))
            found.setdefault(p, set()).add(ANYWHERE if place is None else place)
    return Written(_sorted(arrays), _sorted(containers))


def only_there(memory: Memory, parameter: str) -> bool:
    """Say whether what is written in a parameter is written at its places, and nowhere below them.

    So it is where statements set attributes and items themselves: a call may go on from a place.
    """
    aliases = memory.aliases
    mine = [w for w in memory.writes if parameter in aliases.arguments(w)]
    given = [(s, n) for s, _, names in memory.opaque for n in names]
    return all(_sets(w, memory.writes) for w in mine) and not any(
        n == parameter or f"{parameter}@arg" in aliases.sharing(s, n) for s, n in given
    )


def _sets(write: Write, writes: list[Write]) -> bool:
    """Say whether a statement sets an attribute or an item by the name that the write is of."""
    s = write.statement
    targets = s.targets if isinstance(s, gast.Assign) else [getattr(s, "target", None)]
    target = targets[0]
    if write.how != "item" or len(targets) > 1 or not isinstance(s, gast.Assign | gast.AugAssign):
        return False
    if not isinstance(target, gast.Attribute | gast.Subscript) or root_name(target) != write.base:
        return False
    return sum(w.statement is s and w.base == write.base for w in writes) == 1


def _slot(write: Write) -> list[Any]:
    """Return the last step to what a statement itself sets: an attribute, or a key that is known.

    What a call in it writes may be anywhere in the container.
    """
    s = write.statement
    targets = s.targets if isinstance(s, gast.Assign) else [getattr(s, "target", None)]
    target = targets[0]
    alone = write.how != "call" and len(targets) == 1
    if not alone or not isinstance(target, gast.Attribute | gast.Subscript):
        return []
    steps = _steps(target) or [None]
    return [] if steps[-1] is None else steps[-1:]


def _sorted(found: dict[str, set[Steps]]) -> dict[str, tuple[Steps, ...]]:
    whole = (ANYWHERE,)
    return {
        p: whole if ANYWHERE in places else tuple(sorted(places, key=repr))
        for p, places in sorted(found.items())
    }


def _moved(aliases: Aliases, kinds: KindFacts) -> frozenset[str]:
    """Return the parameters in which memory that was given may stand elsewhere later on."""
    found: frozenset[str] = frozenset()
    for w in aliases.writes:
        if w.in_array:
            continue
        stored = appended(w.statement, w, kinds)
        given = frozenset().union(*(aliases.sharing(w.statement, n) for n in stored))
        if not w.in_slot or any(n.endswith("@arg") for n in given):
            found |= aliases.arguments(w)
    return found


def _place(aliases: Aliases, write: Write, parameter: str, kind: Kind) -> Steps | None:
    """Return the place of what is written, where it surely is one; it may be below another."""
    links = aliases.links_before.get(write.statement, {})
    steps: list[Any] = []
    n = write.base
    while n != parameter:
        link = links.get(n)
        if link is None:
            return None
        if not isinstance(link.owner, K.Array):
            found = _steps(link.value)
            if found is None:
                return None
            steps = [*found, *steps]
        n = link.base
    return _reached(kind, steps, write.owner)


def _steps(value: Node) -> list[Any] | None:
    """Return the steps from a structure to a part of it; None where these are none."""
    if isinstance(value, gast.Name):
        return []
    if isinstance(value, gast.Attribute):
        before, step = _steps(value.value), value.attr
    elif isinstance(value, gast.Subscript) and not isinstance(value.slice, gast.Slice):
        before, step = _steps(value.value), getattr(value.slice, "value", None)
        plain = isinstance(step, str) or (isinstance(step, int) and step >= 0)
        step = step if isinstance(value.slice, gast.Constant) and plain else None
    else:
        return None
    return None if before is None else [*before, step]


def _reached(kind: Kind, steps: list[Any], owner: Kind) -> Steps | None:
    """Return where steps lead in a value of a kind: to the array in which they go on, if any."""
    for at, step in enumerate(steps):
        if isinstance(kind, K.Array):
            return tuple(steps[:at])
        if isinstance(kind, K.Tuple) and isinstance(step, str):
            step = steps[at] = K.names_of(kind).index(step)
        if isinstance(kind, K.Tuple | K.Dict):
            kind = kind.at(step) or K.one_of(kind.inside)
        elif isinstance(kind, K.OneOf) and isinstance(step, str):
            kind = K.one_of(part for k in kind.options if (part := k.at(step)) is not None)
        elif isinstance(kind, K.Obj if isinstance(step, str) else K.List):
            kind = kind.at(step) or K.UNKNOWN
        else:
            return None
    if isinstance(kind, K.Array):
        return tuple(steps)
    return tuple(steps) if K.is_container(owner) and type(owner) is type(kind) else (*steps, ...)


def laid_out(aliases: Aliases) -> frozenset[str]:
    """Return the arrays whose shadows must lie in memory as they do: views depend on that."""
    bases = {
        (n, link.base, link.maybe)
        for links in aliases.links_after.values()
        for n, link in links.items()
    }
    found = {base for _, base, maybe in bases if maybe}
    while True:
        more = {base for n, base, _ in bases if n in found} - found
        if not more:
            return frozenset(found)
        found |= more
