"""What autodiff derives: the reverse of a function whose caller owns shadows of its arguments."""

from __future__ import annotations

from typing import Any

import gast

from s2sad import kinds as K
from s2sad.errors import ActivityError, UnsupportedError
from s2sad.facts.fence import memory_written
from s2sad.facts.memory import Memory
from s2sad.kinds import Kind
from s2sad.known.unread import by_cause
from s2sad.nodes import block_writes
from s2sad.stages import Write
from s2sad.steps.derivation import Analysed, Derivation, memory_of


def shadowed_arguments(
    d: Derivation, a: Analysed, request: Any
) -> tuple[list[str], list[str], list[str]]:
    """Return the parameters by what their shadows are.

    First the arrays, whose shadows are cotangents; then the structures that are written, whose
    shadows are cotangents, too, or content is lent to these; last those whose shadows are added to.
    """
    memory = memory_of(d, a)
    written = memory_written(memory)
    bound = block_writes(a.function.node.body)
    direct, lent, added = [], [], []
    for p in request.shadowed:
        if isinstance(_entry_kind(a, p), K.Array):
            direct.append(p)
        elif p not in written:
            added.append(p)
        elif p in bound:
            raise _bound_anew(a, p)
        else:
            _refuse_rebuilt(a, p, memory)
            lent.append(p)
    return direct, lent, added


def _bound_anew(a: Analysed, parameter: str) -> UnsupportedError:
    """Return what refuses a shadow where no name says at the end what it belongs to."""
    return UnsupportedError(
        f"`{parameter}` is Duplicated and written in place, and {a.function.name} also "
        "assigns another value to that name; s2sad cannot tell then where its shadow belongs.",
        remedy="Use another name for the new value.",
        place=a.function.source.place(a.function.source.node),
    )


def _entry_kind(a: Analysed, parameter: str) -> Kind:
    return a.kinds.before[a.function.node.body[0]].get(parameter, K.UNKNOWN)


def _refuse_rebuilt(a: Analysed, parameter: str, memory: Memory) -> None:
    """Refuse a structure that is not built as it was, when all is done: its shadow would be both.

    What it holds may be replaced by the like of it.
    """
    entry = _entry_kind(a, parameter)
    *_, last, _ = a.function.node.body  # what is written has a statement before the return
    end = a.kinds.after[last].get(parameter, K.UNKNOWN)
    changed = [
        w
        for w in memory.aliases.writes
        if w.in_container and parameter in memory.aliases.arguments(w)
    ]
    resized = [
        w
        for w in changed
        if not w.in_slot or isinstance(_slice(w), gast.Slice) or isinstance(w.owner, K.OpenDict)
    ]
    resized = [w for w in resized if w.takes != "reverse"]
    if not resized and _built_alike(entry, end):
        return
    at = next((w.statement for w in [*resized, *changed]), a.function.node)
    raise UnsupportedError(
        f"`{parameter}` is Duplicated, and its structure at the end differs from its "
        "structure at the start; its shadow can have only one structure.",
        remedy=("Replace items only by values of the same kind and shape, and return what grows."),
        place=a.function.source.place(a.function.origins.get(at, at)),
    )


def _slice(write: Write) -> Any:
    return getattr(write.statement.targets[0], "slice", None)


def _built_alike(one: Kind, other: Kind) -> bool:
    """Say whether values of two kinds have shadows of one kind, lengths left aside."""
    if isinstance(one, K.Array) and isinstance(other, K.Array):
        return (one.dtype, one.rank, one.namespace) == (other.dtype, other.rank, other.namespace)
    if isinstance(one, K.Num) and isinstance(other, K.Num):
        return one.type == other.type or not (K.differentiable(one) or K.differentiable(other))
    if one.structure and type(one) is type(other):
        pairs = K.paired(one, other)
        return pairs is not None and all(_built_alike(*pair) for pair in pairs)
    if not K.differentiable(one) and not K.differentiable(other):
        return True
    return one == other


def check_seed(a: Analysed, seeded: bool | None) -> None:
    """Raise where a result wants a seed and has none, or has one and wants none."""
    kind: Kind = a.kinds.result
    place = a.function.source.place(a.function.source.node)
    if isinstance(kind, K.Unknown):
        refusal = UnsupportedError(
            f"s2sad cannot tell the type of what {a.function.name} "
            f"returns{': ' + kind.why if kind.why else ''}.",
            remedy=kind.instead or "Return a float, an array, a structure of these, or None.",
            place=place,
        )
        raise by_cause(refusal, kind)
    if seeded and not K.differentiable(kind):
        raise ActivityError(
            f"{a.function.name} returns {K.describe(kind)}, which takes no seed: the shadows "
            "of the arrays that it writes are the seed.",
            remedy="Leave seed out, and put the cotangent of the final content into the shadow.",
            place=place,
        )
    if seeded is False and wants_seed(a):
        raise ActivityError(
            f"autodiff needs a seed, because {a.function.name} returns {K.describe(kind)}.",
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


def doc_of(where: str, a: Analysed, shadows: list[str], active: list[str], batch: bool) -> str:
    """Return the docstring of a function that accumulates into shadows, and returns the rest."""
    what = []
    if shadows:
        what.append(f"accumulates into {_listed(shadows)}")
    if active:
        what.append(f"returns the derivatives with respect to {_listed(active)}")
    if batch:
        return f"Value and pullback of {where}; the pullback {' and '.join(what)}."
    if active and not isinstance(a.kinds.result, K.NoneKind):
        what[-1] = what[-1].replace("returns the", "returns the value and the")
    return f"Reverse of {where}: {' and '.join(what)}."


def _listed(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]
