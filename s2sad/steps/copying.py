"""Derived code works on copies of the arguments that it writes: the caller's stay as they were."""

from __future__ import annotations

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.emitted.owned import owned
from s2sad.errors import UnsupportedError
from s2sad.facts.fence import (
    arguments_written,
)
from s2sad.facts.places import laid_out, only_there, places_written
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    call,
    constant,
    name,
    tuple_,
)
from s2sad.stages import ANYWHERE, Steps, Written
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
    memory_of,
)
from s2sad.steps.managed import only_note
from s2sad.syntax.identity import refuse_copy
from s2sad.syntax.layouts import asks_for_layout


def work_on_copies(d: Derivation, a: Analysed, whole: bool = True) -> Block:
    """Return the copies of arguments whose arrays the function writes: the caller's stay.

    Unless they are to be `whole`, what is surely not written in them may be the caller's.
    """
    out: Block = []
    entry = a.kinds.before[a.function.node.body[0]]
    memory = memory_of(d, a)
    written = arguments_written(a.function, a.kinds, memory, only_note(d, a))
    laid = laid_out(memory.aliases)
    exact = bool(written) and asks_for_layout(b.function for b in d.analysed.values())
    found = places_of_arguments(d, a) if written else Written()
    for p in a.function.params:
        if p not in written:
            continue
        if p in entry:
            refuse_copy(p, entry[p], [(b.function, b.kinds) for b in d.analysed.values()])
        if p in laid or exact:
            # Whether a reshape of it is a view depends on how it lies in memory.
            copied = call(d.refs.function(runtime.apart), name(p))
            if not isinstance(entry.get(p), K.Array):
                raise UnsupportedError(
                    f"An array in `{p}` is written in place, and the program depends on its "
                    "memory layout; s2sad cannot copy it with the same layout.",
                    remedy="Pass the array as an argument of its own, or copy it.",
                    place=a.function.source.place(a.function.node),
                )
        elif isinstance(entry.get(p), K.Array):
            copied = call(attribute(name(p), "copy"), order=gast.Constant("K", None))
        else:
            places = {place for part in found.of(p) for place in part}
            listed = [] if ANYWHERE in places else map(_literal, sorted(places, key=repr))
            partly = not whole and ANYWHERE not in places and places and only_there(memory, p)
            helper = d.refs.function(owned if partly else runtime.unshared)
            copied = call(helper, name(p), *listed)
        out.append(assign(p, copied))
    return out


def look_before_copies(d: Derivation, a: Analysed, node: Node) -> Node:
    """Let a derivative that copies its arguments look for what stands twice in them before that.

    A deep copy that the program makes looks for it too, but would not find it in those copies.
    """
    known = (fn for b in d.analysed.values() for fn in b.kinds.objects.values())
    if not any(fn is runtime.refuse_twice for fn in known):
        return node
    entry = a.kinds.before[a.function.node.body[0]]
    held = [name(p) for p in a.function.params if not K.shares_nothing(entry.get(p, K.UNKNOWN))]
    if held:
        given = held[0] if len(held) == 1 else tuple_(held)
        node.body.insert(1, gast.Expr(call(d.refs.function(runtime.refuse_twice), given)))
    return node


def places_of_arguments(d: Derivation, entry: Analysed) -> Written:
    """Return where the arguments are written."""
    return places_written(entry.function, entry.kinds, memory_of(d, entry))


def _literal(place: Steps) -> Node:
    """Return a place in a structure as a tuple of its steps."""
    return gast.Tuple([constant(step) for step in place], gast.Load())
