"""What derived text calls and does not derive: as it is in derived code.

    mask = noise(len(x))     ->   mask = noise_in_gradient(len(x))

A function that reaches within_gradient() stands in the text once more, with what is decided, and
so does what it calls on the way there. Whoever calls it need not be active.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

import gast

from s2sad.capture.read import read
from s2sad.inside import stop_gradient, within_gradient
from s2sad.nodes import Node, block_writes, clone, walk
from s2sad.steps.derivation import Derivation
from s2sad.steps.reaching import is_library, plain_function
from s2sad.syntax.decided import TOLD
from s2sad.write.without_ours import VALUES, compares_ours, denoted_in, mentions, without_ours


def settle_inside(d: Derivation) -> None:
    """Take s2sad's own functions out of derived text; add the functions that it calls for that."""
    stops = {} if d.for_reading else _stops(d)
    concerned = [f for f in d.functions if stops or _may_concern(d, f)]
    compared = any(compares_ours(f, _outside(d, f)) for f in d.functions if concerned)
    made: dict[str, Node] = {}
    ours = {f.name for f in d.functions} | {*d.refs.modules, *d.refs.functions}

    def becomes(value: Any) -> str | None:
        stand_in = None if compared else next((own for f, own in VALUES if f is value), None)
        if stand_in is not None:
            return d.refs.function(stand_in)
        fn = plain_function(value)
        known = fn is not None and fn is not within_gradient and d.reaching(fn)
        return d.reaching.word(fn, d.names) if known else None  # type: ignore[arg-type]

    def answered(value: Any, node: Node, known: Mapping[str, bool]) -> str | None:
        fn = plain_function(value)
        answers = {} if fn is None or is_library(fn) else answers_of(fn, node, known)
        return d.reaching.word(fn, d.names, answers) if fn is not None and answers else None

    def settle(node: Node) -> None:
        outside = _outside(d, node)
        own = d.seen.setdefault(d.origins[node.name], {})

        def denoted(n: str) -> Any:
            known = d.reaching.words.get(n) or stops.get(n)
            return known if known is not None else outside(n)

        hidden = ours - d.reaching.words.keys() - stops.keys()
        answers = d.answers.get(node.name) or d.reaching.answers.get(node.name, {})
        without_ours(node, denoted, becomes, own.__setitem__, hidden, answers, answered)

    for node in concerned:
        settle(node)
    while missing := [n for n in d.reaching.words if n not in made]:
        for n in missing:
            made[n] = _definition(d, n, d.reaching.words[n])
            settle(made[n])
    if not made:
        return
    read_ = {n.id for f in [*d.functions, *made.values()] for n in walk(f) if _is_name(n)}
    d.functions[:0] = [node for n, node in made.items() if n in read_]


def _may_concern(d: Derivation, node: Node) -> bool:
    """Say whether there may be something of s2sad's own in a function of the text."""
    if d.reaching.words or d.answers.get(node.name):
        return True

    def reaches(value: Any) -> bool:
        fn = plain_function(value)
        return fn is not None and d.reaching(fn)

    return mentions(node, _outside(d, node), reaches)


def _stops(d: Derivation) -> dict[str, Any]:
    """Return the names that texts which were read again have for stop_gradient."""
    return {n: fn for n, fn in d.refs.functions.items() if fn is stop_gradient}


def _outside(d: Derivation, node: Node) -> Callable[[str], Any]:
    """Return what tells what names mean where a function of the text has come from."""
    return denoted_in(d.origins[node.name], d.cells.get(node.name, {}))


def answers_of(fn: types.FunctionType, node: Node, known: Mapping[str, bool]) -> dict[str, bool]:
    """Return the parameters of a function that a call gives what is decided.

    That says nothing of those that the function binds anew.
    """
    told = {n: _answer(v, known) for n, v in _given(fn, node).items()}
    found = {n: value for n, value in told.items() if value is not None}
    if not found:
        return {}
    bound = block_writes(read(fn).node.body)
    return {n: value for n, value in found.items() if n not in bound}


def _given(fn: types.FunctionType, node: Node) -> dict[str, Any]:
    """Return what a call gives to the parameters of a function, where that can be told."""
    keywords = {k.arg: k.value for k in node.keywords}
    if None in keywords or any(isinstance(a, gast.Starred) for a in node.args):
        return {}
    try:
        return inspect.signature(fn).bind(*node.args, **keywords).arguments
    except TypeError:
        return {}


def _answer(value: Any, known: Mapping[str, bool]) -> bool | None:
    """Return what is decided of an argument."""
    if isinstance(value, gast.Constant) and value.kind == TOLD:
        return bool(value.value)
    return known.get(value.id) if isinstance(value, gast.Name) else None


def _is_name(node: Node) -> bool:
    return isinstance(node, gast.Name)


def _definition(d: Derivation, word: str, fn: types.FunctionType) -> Node:
    """Return a function of the user's under another name, and note where it comes from."""
    node = clone(read(fn).node)
    node.name = word
    node.decorator_list = []
    node.returns = None
    for n in walk(node.args):
        if _is_name(n):
            n.annotation = None
    d.namespaces[word] = fn.__globals__
    d.cells[word] = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    d.origins[word] = fn
    return node
