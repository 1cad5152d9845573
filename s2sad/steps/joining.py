"""One module of derived text: functions join it, it gets all that they call, and it is printed."""

from __future__ import annotations

from typing import Any

from s2sad.facts.kinds_by_name import name_kinds
from s2sad.nodes import (
    Node,
    free_reads,
    stand_in,
)
from s2sad.stages import Text
from s2sad.steps.callables import LocalSource
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
)
from s2sad.steps.needless import without_operators
from s2sad.steps.texts_read_again import Part
from s2sad.steps.within import settle_inside
from s2sad.syntax.decided import Decided, verdict
from s2sad.write.clashes import bound_in, settle_names
from s2sad.write.compact import compact
from s2sad.write.copies import prelude
from s2sad.write.explained import explain_zeros
from s2sad.write.live import live_in
from s2sad.write.merge import merge
from s2sad.write.origins import origins_of
from s2sad.write.printer import module
from s2sad.write.straight import straighten


def add(d: Derivation, node: Node, fn: Any, a: Analysed) -> None:
    """Add a derived function to a module, in the surroundings of the function it is derived of."""
    users = a.function.locals - a.function.temps
    stand_in(node, a.function.source.node, a.function.source)
    straighten(node, users)
    table = compact(node, users, frozenset({*d.refs.functions, *d.refs.modules}))
    if a in d.told:
        d.stories[node.name] = a, d.told[a].renamed(table)
    d.functions.append(node)
    d.refs.names.take(*bound_in(node))  # what is imported later has a name that it leaves free
    if fn in d.read_as:
        settle_in(d, node.name, d.parts[d.read_as[fn]])
        return
    d.namespaces[node.name] = fn.__globals__
    closure = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    d.cells[node.name] = dict(closure)
    d.origins[node.name] = fn
    d.answers[node.name] = answers(a)
    if isinstance(a.function.source, LocalSource):
        d.inner.add(node.name)


def settle_in(d: Derivation, function: str, part: Part) -> None:
    """Let a function see what another part of the text sees."""
    d.namespaces[function] = part.namespace
    d.cells[function] = dict(part.cells)
    d.origins[function] = part.origin
    if part.inner:
        d.inner.add(function)


def complete(d: Derivation) -> Derivation:
    """Return a derivation with all that its functions call, and with names that are clear."""
    _take_parts(d)
    without_operators(d)
    settle_inside(d)
    _merge(d)
    read = {id(part.node) for part in d.parts.values()}
    explain_zeros(f for f in d.functions if id(f) not in read)
    settle_names(d.functions, d.origins, d.cells, {*d.refs.modules, *d.refs.functions})
    return d


def printed(d: Derivation) -> Text:
    """Return the text of a derived module."""
    body = prelude(d.refs, d.functions)
    origins = origins_of(body, d.refs.functions, live_in(d.refs))
    return Text(module(body), d.entry, d.namespaces, d.cells, origins=origins)


def _take_parts(d: Derivation) -> None:
    """Add the derived functions that others were derived from, where these still call them."""
    known = {f.name for f in d.functions}
    pending = list(d.functions)
    while pending:
        for n in sorted(free_reads(pending.pop()) & d.parts.keys() - known):
            known.add(n)
            part = d.parts[n]
            pending.append(part.node)
            d.functions.append(part.node)
            settle_in(d, n, part)


def _merge(d: Derivation) -> None:
    """Keep one of several functions derived from one function that came out equal."""
    homes = {n: (id(fn), n in d.inner) for n, fn in d.origins.items()}
    for n in merge(d.functions, homes):
        for table in (d.namespaces, d.cells, d.origins):
            table.pop(n)
        d.stories.pop(n, None)
        d.inner.discard(n)


def answers(a: Analysed) -> dict[str, bool]:
    """Return the user's variables of which within_gradient() decides what they are.

    The name of a temporary may mean another one in what is derived.
    """
    if not any(isinstance(k, Decided) for k in a.kinds.of.values()):
        return {}
    users = a.function.locals - a.function.temps
    known = {n: verdict(k) for n, k in name_kinds(a.kinds).items() if n in users}
    return {n: value for n, value in known.items() if value is not None}
