"""What autodiff derives: the reverse of a function whose caller owns shadows of its arguments."""

from __future__ import annotations

from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.errors import ActivityError, UnsupportedError
from s2sad.facts.fence import memory_written
from s2sad.facts.memory import Memory
from s2sad.facts.places import places_written
from s2sad.kinds import Kind
from s2sad.known.unread import by_cause
from s2sad.modes.assemble import Finish, Parts
from s2sad.modes.shadows import Shadows, reversal, shared_reversal
from s2sad.nodes import Node, block_writes, constant, name, walk
from s2sad.polish.effects import mutated_by, root
from s2sad.stages import Write
from s2sad.steps.derivation import Analysed, Derivation, memory_of
from s2sad.steps.pairs import PartsOf
from s2sad.steps.parts import title_of


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
    direct, lent, added = shadowed_arguments(d, a, request)
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
        shadowed=frozenset(direct + lent),
        constant=request.constant,
        outermost=True,
    )
    bars = dict(zip(p.wanted, p.bars, strict=True))
    copied = [n for n in lent if n not in p.asked and not _in_place(p)]
    shadows = Shadows(
        {n: bars[n] for n in direct + lent if n not in copied},
        {n: p.names.fresh(f"{n}_shadow") for n in added},
        {n: p.names.fresh(f"{n}_shadow") for n in copied},
        tuple(n for n in request.wrt if n not in request.shadowed),
        request.shadowed,
        places_written(a.function, a.kinds, memory_of(d, a)).arrays,
    )
    make = shared_reversal if request.batch else reversal
    doc = doc_of(title_of(d, a.function.source), a, shadows, request.batch)
    return make(p, finish, entry, doc, shadows, seed)


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
        plain = isinstance(_entry_kind(a, p), K.Array)
        if plain and p not in bound:
            direct.append(p)
        elif p not in written:
            added.append(p)
        elif p in bound:
            raise bound_anew(a, p)
        else:
            _refuse_rebuilt(a, p, memory)
            lent.append(p)
    return direct, lent, added


def bound_anew(a: Analysed, parameter: str) -> UnsupportedError:
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


def _in_place(p: Parts) -> bool:
    """Say whether a backward sweep leaves each array of a structure of shadows where it is."""
    return all(_adds_only(n, p) for s in p.backward for n in walk(s))


def _adds_only(node: Node, p: Parts) -> bool:
    """Say of a part of a backward sweep that it puts nothing else where a shadow's array was."""
    made = p.pure.d.refs.functions
    if isinstance(node, gast.Call):
        if made.get(getattr(node.func, "id", "")) in (runtime.add_into, runtime.add_into_each):
            return False
        owner = p.bar_kinds.get(mutated_by(node) or "", K.NONE)
        return not (isinstance(node.func, gast.Attribute) and K.is_container(owner))
    if isinstance(node, gast.Delete):
        return False
    if not isinstance(node, gast.Assign) or isinstance(node.targets[0], gast.Name):
        return True
    func = getattr(getattr(node.value, "func", None), "id", "")
    owner = p.bar_kinds.get(root(node.targets[0]), K.NONE)
    return made.get(func) is runtime.add_into_arrays or not K.holds_more(owner)


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


def doc_of(where: str, a: Analysed, shadows: Shadows, batch: bool) -> str:
    """Return the docstring of a function that accumulates into shadows."""
    what = []
    if shadows.names:
        what.append(f"accumulates into {_listed(shadows.names)}")
    if shadows.active:
        what.append(f"returns the derivatives with respect to {_listed(list(shadows.active))}")
    if batch:
        return f"Value and pullback of {where}; the pullback {' and '.join(what)}."
    if shadows.active and not isinstance(a.kinds.result, K.NoneKind):
        what[-1] = what[-1].replace("returns the", "returns the value and the")
    return f"Reverse of {where}: {' and '.join(what)}."


def _listed(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]
