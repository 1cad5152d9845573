"""What a function does to what it is given: which arguments it writes, which one it returns."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.facts.alias import argument
from s2sad.facts.marks import is_empty, is_marks, puts_marks
from s2sad.facts.memory import Memory, Summary, Walker, touches
from s2sad.kinds import Kind
from s2sad.nodes import Node, block_writes, clone, names_read, substitute
from s2sad.stages import Function, KindFacts
from s2sad.syntax.made import made_here


def written_parameters(
    function: Function, kinds: KindFacts, memory: Memory
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the parameters that a function may write.

    First the arrays that plain statements write, whose names stay theirs; then all others.
    """
    params = kinds.before.get(function.node.body[0], {})
    names = set(function.params)
    bound = block_writes(function.node.body)
    arrays: set[str] = set(memory.assumed)
    others: set[str] = set()
    for w in memory.writes:
        if w.in_array or puts_marks(kinds, w):
            arrays |= memory.aliases.arguments(w)
            continue
        if made_here(function, kinds, w.base):
            continue
        shared = memory.shares(w.base, names)
        there = memory.aliases.sharing(w.statement, w.base)
        shared -= {n for n in shared & bound if argument(n) not in there}
        others |= {n for n in shared if touches(w, params.get(n, K.UNKNOWN))}
    for _, _, given_names in memory.opaque:
        for n in given_names:
            others |= memory.shares(n, names)
    marks = {n for n in arrays if is_marks(params.get(n)) or is_empty(params.get(n))}
    alone = {n for n in arrays if isinstance(K.without_none(params.get(n, K.UNKNOWN)), K.Array)}
    plain = alone | marks
    plain = plain - bound - others
    return frozenset(plain), frozenset(arrays | others) - plain


def written_owner(function: Function, kinds: KindFacts, memory: Memory) -> Kind:
    """Return of what kind the structures are that a function writes; unknown if arrays may be, too.

    Arrays that plain statements write, whose names stay theirs, are not asked about.
    """
    plain, _ = written_parameters(function, kinds, memory)
    owners: list[Kind] = []
    for w in memory.writes:
        if w.in_array and memory.aliases.arguments(w) <= plain:
            continue
        if made_here(function, kinds, w.base):
            continue
        if not K.is_container(w.owner) or w.how == "rebind":
            return K.UNKNOWN
        owners.append(w.owner)
    if memory.opaque or not owners:
        return K.UNKNOWN
    if all(isinstance(k, K.List) for k in owners):
        return K.List(K.UNKNOWN)
    return owners[0] if all(k == owners[0] for k in owners) else K.UNKNOWN


Writes = Callable[[Node, Node], bool]


def writing(function: Function, kinds: KindFacts, summary: Summary) -> tuple[Writes, Writes]:
    """Return what says of a part of a statement whether it writes something where it is run.

    The second asks whether a method does that runs there although none is named.
    """

    worker = Walker(function, kinds, summary)

    def writes(s: Node, node: Node) -> bool:
        worker.memory, worker.picks = Memory(), False
        worker.called(s, node)
        return bool(worker.memory.writes) or worker.picks

    def implied(s: Node, node: Node) -> bool:
        worker.memory = Memory()
        worker.implied(s, node)
        return bool(worker.memory.writes)

    return writes, implied


def view_returned(function: Function, memory: Memory) -> tuple[Node, str] | None:
    """Return the view of a parameter that a function's result surely is, and that parameter."""
    body = function.node.body
    links = memory.aliases.links_before.get(body[-1], {})
    bound = block_writes(body)
    n = function.result
    view: Node = gast.Name(n, gast.Load(), None, None)
    while n in links:
        view = substitute(view, {n: clone(links[n].value)})
        n = links[n].base
    if n not in function.params or n in bound or names_read(view) != {n}:
        return None
    return view, n


def calls_itself(fn: Any, analysed: Iterable[Any]) -> bool:
    """Say whether a function calls itself, perhaps through others that are `analysed`."""
    called: dict[Any, set[Any]] = {}
    for a in analysed:
        found = {v for v in a.kinds.objects.values() if isinstance(v, types.FunctionType)}
        found |= {method for method, _ in a.kinds.methods.values()}
        called.setdefault(a.function.source.fn, set()).update(found)
    met: set[Any] = set()
    pending: list[Any] = [fn]
    while pending:
        more = called.get(pending.pop(), set()) - met
        met |= more
        pending += more
    return fn in met
