"""What inner functions capture, and what those capture in turn that they call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import gast

from s2sad import kinds as K
from s2sad.checkpoints import same_checkpoint
from s2sad.errors import Error
from s2sad.facts.passing import Lengths, rebase
from s2sad.kinds import Kind
from s2sad.names import Names
from s2sad.nodes import Node, walk
from s2sad.stages import SourceLike
from s2sad.syntax.flow import captured_names


def closed(kind: K.LocalFunction, env: Mapping[str, Kind]) -> K.LocalFunction:
    """Return an inner function that captures also what the inner functions it captures do.

        def scale(v): return v * n          scale captures n
        def shift(v): return scale(v) + x   shift captures scale and x, so n as well

    `env` has the kinds of the variables at hand when it is called, not when it was defined: two
    inner functions may call each other. A name that means something else inside is renamed.
    """
    if not any(inner_functions(env.get(local)) for _, local in kind.links):
        return kind
    names = Names({n.id for n in walk(kind.node) if isinstance(n, gast.Name)})
    names.take(*(c for c, _ in kind.links))
    links = list(kind.links)
    known = {local for _, local in links}
    for _, local in links:
        for further in [v for inner in inner_functions(env.get(local)) for v in inner.variables]:
            if further not in known:
                known.add(further)
                links.append((names.fresh(further), further))
    return replace(kind, links=tuple(links))


def local_function(
    node: Node, source: SourceLike, locals_: frozenset[str], held: frozenset[str]
) -> K.LocalFunction:
    """Return the kind of an inner function: what it captures is found in the function at hand.

    Defaults are found there too, where normalisation has held them under names of their own.
    """
    links = tuple((n, n) for n in sorted(captured_names(node) & locals_))
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)]
    pairs += zip(args.kwonlyargs, args.kw_defaults, strict=True)
    reads = {
        p.id: {n.id for n in walk(d) if isinstance(n, gast.Name)} & locals_
        for p, d in pairs
        if d is not None
    }
    found = [
        (p.id, d.id if isinstance(d, gast.Name) and d.id in held else "")
        for p, d in pairs
        if reads.get(p.id)
    ]
    given = frozenset[str]().union(*reads.values()) - held
    return K.LocalFunction(node, source, links, tuple(found), lost=tuple(sorted(given)))


def outlived(kind: Kind, held: str) -> Kind:
    """Return the kind of what was there before a default was worked out anew: its own is gone.

    for i in range(n):
        fs.append(lambda v, i=i: v * x[i])      the functions of earlier rounds have another i
    """
    if isinstance(kind, K.Choice):
        return K.Choice(tuple(outlived(k, held) for k in kind.options))
    if not isinstance(kind, K.LocalFunction):
        return kind.over(lambda part: outlived(part, held)) if kind.inside else kind
    if held not in dict(kind.defaults).values():
        return kind
    defaults = tuple((p, "" if v == held else v) for p, v in kind.defaults)
    return replace(kind, defaults=defaults)


def checkpoint_kind(kind: Kind) -> Kind:
    """Return the kind of what `checkpoint` makes of a function."""
    if isinstance(kind, K.LocalFunction):
        return replace(kind, again=True)
    if isinstance(kind, K.Choice):
        return K.Choice(tuple(map(checkpoint_kind, kind.options)))
    if not isinstance(kind, K.Known):
        return K.Unknown("the result of checkpoint for a value that may not be a function")
    try:
        return K.Known(same_checkpoint(kind.value))
    except (Error, TypeError) as why:
        return K.Unknown(f"the result of checkpoint, which fails: {why}")


def behind(kinds: Iterable[Kind], env: Mapping[str, Kind]) -> list[Kind]:
    """Return kinds with those of what inner functions among them capture."""
    found = list(kinds)
    for kind in [k for k in found if isinstance(k, K.LocalFunction)]:
        found += [env.get(v, K.UNKNOWN) for v in kind.variables]
    return found


def captured_inside(kind: Kind, name: str, fn: K.LocalFunction, known: Lengths) -> Kind:
    """Return the kind of a captured variable inside the function that captures it."""
    back = {local: captured for captured, local in fn.links}
    if isinstance(kind, K.LocalFunction):
        return _moved(kind, back)
    return _moved_inside(kind, rebase(kind, name, known), back)


def inner_functions(kind: Kind | None) -> list[K.LocalFunction]:
    """Return the inner functions that a value is, or holds as a structure."""
    if isinstance(kind, K.LocalFunction):
        return [kind]
    if isinstance(kind, K.Choice):
        return [k for k in kind.options if isinstance(k, K.LocalFunction)]
    return [f for part in parts_of(kind) for f in inner_functions(part)]


def parts_of(kind: Kind | None) -> tuple[Kind, ...]:
    """Return the kinds of the items that a structure holds; fields of objects are none."""
    return kind.inside if kind is not None and kind.how == "item" else ()


def _moved_inside(kind: Kind, rebased: Kind, table: Mapping[str, str]) -> Kind:
    """Return the kind of a captured value where the functions that it holds are moved along."""
    if isinstance(kind, K.LocalFunction):
        known = all(v in table for v in kind.variables)
        return _moved(kind, table) if known else rebased
    if isinstance(kind, K.Choice):
        options = tuple(_moved_inside(k, K.UNKNOWN, table) for k in kind.options)
        return rebased if K.UNKNOWN in options else K.Choice(options)
    if not inner_functions(kind) or type(kind) is not type(rebased):
        return rebased
    pairs = zip(parts_of(kind), parts_of(rebased), strict=True)
    return rebased.rebuilt(_moved_inside(*pair, table) for pair in pairs)


def _moved(kind: K.LocalFunction, table: Mapping[str, str]) -> K.LocalFunction:
    """Return an inner function where the variables it reads have other names."""
    links = tuple((c, table.get(v, v)) for c, v in kind.links)
    defaults = tuple((p, table.get(v, v)) for p, v in kind.defaults)
    lost = tuple(table.get(v, v) for v in kind.lost)
    return replace(kind, links=links, defaults=defaults, lost=lost)


def passed_on(
    kind: K.LocalFunction,
    param: str,
    env: Mapping[str, Kind],
    params: dict[str, Kind],
    extra: list[tuple[str, str]],
    known: Lengths,
    taken: frozenset[str],
) -> Kind:
    """An inner function given as an argument: what it captures becomes parameters of its own."""
    names = Names(taken)
    known_as = (*kind.defaults, *kind.links, *((v, v) for v in kind.lost))
    renamed = {v: names.fresh(f"{param}_{of}") for of, v in known_as if v}
    for local, inside in renamed.items():
        inner = env.get(local, K.UNBOUND)
        if isinstance(inner, K.LocalFunction):
            params[inside] = _moved(inner, renamed)
        else:
            params[inside] = _moved_inside(inner, rebase(inner, inside, known), renamed)
        extra.append((inside, local))
    return _moved(kind, renamed)


def holds_container(kind: Kind) -> bool:
    """Say whether this is a mutable structure, or a tuple with one in it."""
    within = isinstance(kind, K.Tuple) and any(map(holds_container, kind.items))
    return within or K.is_container(kind)
