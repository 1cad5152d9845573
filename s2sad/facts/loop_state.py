"""The state of a loop whose rounds are calls of one function: of kinds that it has in all rounds.

def advance(i, h):                 h begins as np.zeros(3), and is as long as w has rows
    h = np.tanh(w @ h + xs[i])     from the second round on: all that is known of both is
    return (h,)                    that it is an array of one axis
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from s2sad import kinds as K
from s2sad.facts.lengths import relabel
from s2sad.kinds import Dim, Kind

_TURNS = 6


def kinds_in_all_rounds(
    start: Iterable[Kind], step: Callable[[tuple[Kind, ...]], Kind]
) -> tuple[Kind, ...]:
    """Return what is known of the parts of a state in any round, where `step` tells what follows.

    Parts that become another thing stay what they begin as.
    """
    state, made = tuple(map(K.erase_value, start)), set[str]()
    for _ in range(_TURNS):
        after = step(state)
        if not isinstance(after, K.Tuple) or len(after.items) < len(state):
            break
        wider = tuple(_wider(b, a, made) for b, a in zip(state, after.items, strict=False))
        if wider == state:
            break
        state = wider
    return state


def _wider(before: Kind, after: Kind, made: set[str]) -> Kind:
    """Return what is known of either of two kinds; axes get lengths of their own, once."""
    if isinstance(before, K.Array) and isinstance(after, K.Array):
        if not _like(before, after):
            return before
        dims = tuple(_wider_dim(b, a, made) for b, a in zip(before.dims, after.dims, strict=True))
        return replace(before, dims=dims, const=before.const and after.const)
    if isinstance(before, K.Num) and isinstance(after, K.Num):
        return K.join(before, after)
    if isinstance(before, K.List) and isinstance(after, K.List):
        if before.items is not None or after.items is not None:
            return before
        before = before if before.length == after.length else K.List(before.item)
    elif before.rest is not None:
        return before
    pairs = K.paired(before, after)
    if pairs is not None:
        return before.rebuilt(_wider(b, a, made) for b, a in pairs)
    return after if isinstance(before, K.Unbound) else before


def _wider_dim(before: Dim, after: Dim, made: set[str]) -> Dim:
    many, none = before.many and after.many, before.none or after.none
    if before.symbol not in made:
        if K.same_length(before, after):
            return before
        before = K.fresh_dim()
        made.add(before.symbol)
    return replace(before, many=many, none=none)


def _like(before: K.Array, after: K.Array) -> bool:
    plain = (before.dtype, before.rank, before.namespace)
    return plain == (after.dtype, after.rank, after.namespace)


def lengths_by_themselves(params: Iterable[Kind]) -> frozenset[str]:
    """Return the lengths of parameters that nothing is said about, not even that two are one."""
    seen: Counter[str] = Counter()

    def note(dim: Dim) -> Dim:
        seen[dim.symbol] += 1
        return dim

    for kind in params:
        relabel(kind, note)
    return frozenset(n for n, count in seen.items() if count == 1 and not n.startswith("="))


def stays(before: Kind, after: Kind, free: frozenset[str]) -> bool:
    """Say whether what is known of a part of the state holds of what a round makes of it.

    `free` are lengths that may be any.
    """
    if isinstance(before, K.Array) and isinstance(after, K.Array):
        dims = zip(before.dims, after.dims, strict=False)
        const = after.const or not before.const
        return const and _like(before, after) and all(_stays_long(b, a, free) for b, a in dims)
    if isinstance(before, K.Num) and isinstance(after, K.Num):
        weak = {before.dtype, after.dtype} <= {None, "float64", "complex128", "any"}
        const = after.const or not before.const
        dim = before.dim is None or before.dim == after.dim or before.dim.symbol in free
        return (
            before.type == after.type
            and (before.dtype == after.dtype or weak or before.dtype == "any")
            and const
            and dim
        )
    if isinstance(before, K.List) and isinstance(after, K.List):
        if before.items is not None or before.length not in (None, after.length):
            return before == after
    elif before.rest is not None:
        return before == after  # keys, too
    pairs = K.paired(before, after)
    return before == after if pairs is None else all(stays(b, a, free) for b, a in pairs)


def _stays_long(before: Dim, after: Dim, free: frozenset[str]) -> bool:
    if K.same_length(before, after):
        return True
    return before.symbol in free and not before.cut and (after.many or not before.many)
