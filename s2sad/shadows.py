"""What autodiff derives: the reverse of a function whose caller owns shadows of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from s2sad import kinds as K
from s2sad.derivation import Analysed, Derivation, memory_of
from s2sad.errors import ActivityError, UnsupportedError
from s2sad.facts.fence import memory_written
from s2sad.kinds import Kind
from s2sad.modes.assemble import Finish
from s2sad.modes.shadows import Shadows, reversal, shared_reversal
from s2sad.nodes import Node, block_writes, constant, name

PartsOf = Callable[..., Any]


def reverse_entry(
    d: Derivation,
    a: Analysed,
    request: Any,
    entry: str,
    parts_of: PartsOf,
    finish: Finish,
    one: Node,
) -> Node:
    """Return f_reverse(*args, *shadows), or for a batch the function and its pullback."""
    direct, added = _shadowed(d, a, request)
    seed = None
    if request.seeded or (request.seeded is None and wants_seed(a)):
        seed = f"{a.function.result}_bar"
    value: Node = name(seed) if seed else one
    if not K.differentiable(a.kinds.result):
        value = constant(None)
    p = parts_of(
        d,
        a,
        request.wrt,
        value,
        request.wrt,
        shadowed=frozenset(direct),
        constant=request.constant,
        outermost=True,
    )
    bars = dict(zip(p.wanted, p.bars, strict=True))
    shadows = Shadows(
        {n: bars[n] for n in direct},
        {n: p.names.fresh(f"{n}_shadow") for n in added},
        tuple(n for n in request.wrt if n not in request.shadowed),
        request.shadowed,
    )
    make = shared_reversal if request.batch else reversal
    return make(p, finish, entry, _doc(a, shadows, request.batch), shadows, seed)


def _shadowed(d: Derivation, a: Analysed, request: Any) -> tuple[list[str], list[str]]:
    """Return the parameters whose shadows are cotangents, and those whose shadows are added to."""
    entry = a.kinds.before[a.function.node.body[0]]
    written = memory_written(memory_of(d, a))
    bound = block_writes(a.function.node.body)
    direct, added = [], []
    for p in request.shadowed:
        plain = isinstance(entry.get(p), K.Array)
        if plain and p not in bound:
            direct.append(p)
            continue
        if p in written:
            what = "is bound anew" if plain else "is a structure"
            raise UnsupportedError(
                f"`{p}` is Duplicated, is written in place, and {what} in {a.function.name}; that "
                "cannot be differentiated yet.",
                remedy=f"Give what {p} is bound to another name."
                if plain
                else f"Pass the arrays in {p} as arguments of their own.",
                place=a.function.source.place(a.function.source.node),
            )
        added.append(p)
    return direct, added


def check_seed(a: Analysed, seeded: bool | None) -> None:
    """Raise where a result wants a seed and has none, or has one and wants none."""
    kind: Kind = a.kinds.result
    place = a.function.source.place(a.function.source.node)
    if isinstance(kind, K.Unknown):
        raise UnsupportedError(
            f"What {a.function.name} returns is not known when its derivative is written"
            f"{': ' + kind.why if kind.why else ''}.",
            remedy="Return a float, an array, a structure of these, or None.",
            place=place,
        )
    if seeded and not K.differentiable(kind):
        raise ActivityError(
            f"{a.function.name} returns {K.describe(kind)}, which takes no seed: the shadows of "
            "what it writes are the seed.",
            remedy="Leave seed out, and put the cotangent of the final content into the shadow.",
            place=place,
        )
    if seeded is False and wants_seed(a):
        raise ActivityError(
            f"autodiff wants a seed, because {a.function.name} returns {K.describe(kind)}.",
            remedy="Give seed=, a cotangent built like the result.",
            place=place,
        )


def wants_seed(a: Analysed) -> bool:
    """Say whether a function returns something with a derivative that is no real scalar."""
    kind: Kind = a.kinds.result
    if isinstance(kind, K.Num) and kind.type == "float":
        return False
    if isinstance(kind, K.Array) and kind.rank == 0 and K.is_float_dtype(kind.dtype):
        return False
    return K.differentiable(kind)


def _doc(a: Analysed, shadows: Shadows, batch: bool) -> str:
    source = a.function.source
    where = f"{source.name} ({source.file.rsplit('/', 1)[-1]}:{source.fn.__code__.co_firstlineno})"
    what = []
    if shadows.names:
        what.append(f"accumulates into {_listed(shadows.names)}")
    if shadows.active:
        what.append(f"returns the derivatives with respect to {_listed(list(shadows.active))}")
    if batch:
        return f"Value of {where}, and its pullback, which {' and '.join(what)}."
    if shadows.active and not isinstance(a.kinds.result, K.NoneKind):
        what[-1] = what[-1].replace("returns the", "returns the value and the")
    return f"Reverse of {where}: {' and '.join(what)}."


def _listed(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]
