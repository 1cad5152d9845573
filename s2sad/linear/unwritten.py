"""Memory that is written, but not while a name is in use: by that name it is a value.

    L[i, j] = ...                     of L the cotangent is memory
    d = np.diag(L)                    that of d is a variable: L_bar gets it where d is made
    s = np.sum(np.log(d))
    L[0, 0] = 1.0                     nobody reads d behind this

A value has a cotangent of its own. What else shows the memory of `d` from here on, a part of it or
a list that it comes into, is in use as long as it is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.deeds import deed
from s2sad.ir.program import Op, Var
from s2sad.linear.operands import kind_of
from s2sad.linear.part_by_part import kinds_of
from s2sad.linear.swapped import followed
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import Table
from s2sad.primitives import language as L


def stays(sweep: Sweep, block: P.Block, v: Var, made: P.Operation) -> bool:
    """Say whether nobody writes the memory of a variable while what shows it is in use.

    It is shown from an operation on; what a region binds for its blocks, from its start in each
    round, and what it gives, from its end. What others may write is no value.
    """
    written = sweep.written
    root = written.memory.of(v)
    if root is None or (isinstance(made, Op) and not written.after(made, v)):
        return True
    if written.open or written.memory.is_outside(root):
        return False
    names = _shown_by(sweep, root, v)
    at, around = _shown_from(sweep, v, made)
    writes = [*_writes(sweep, v, at)]
    seen = sweep.shown and root in written.given
    if seen or any(
        sweep.values.get(r, r) in names for r in block.end.results if isinstance(r, Var)
    ):
        return not any(behind > at or others & {*around} for behind, others in writes)
    anew = {loop for loop in around if names <= _bound_in(loop, made)}
    for use, (last, loops) in written.order.items():
        if not names.isdisjoint(_read(sweep, use)):
            last = last if isinstance(use, Op) else _end(sweep, use)
            for behind, others in writes:
                if at < behind <= last or ({*loops, *around} & others) - anew:
                    return False
    return True


def is_value(sweep: Sweep, table: Table, v: Var, made: P.Operation) -> bool:
    """Say whether a structure is a value from an operation on.

    It holds numbers and arrays that nobody writes, or structures of these, and nobody changes it:
    where it has two names, what their cotangents hold is added.
    """
    if not holds_plain(table, v):
        return False
    facts = table.facts
    unnamed = not v.name and bool(facts.written)
    return not (v in facts.written or unnamed) or is_done(sweep, v, made)


def holds_plain(table: Table, v: Var) -> bool:
    """Say whether a value never holds more than numbers and arrays that nobody writes."""
    filled, kinds = table.facts.filled, kinds_of(table, v)
    arrays = v not in filled and (bool(v.name) or not filled)
    return bool(kinds) and all(_holds_plain(k, arrays) for k in kinds)


def _holds_plain(kind: K.Kind, arrays: bool) -> bool:
    """Say whether a value holds numbers, constants and perhaps arrays alone, at any depth."""
    if isinstance(kind, K.Tuple | K.List | K.AnyDict | K.Obj):
        return all(_holds_plain(k, arrays) for k in K.together(kind))
    if isinstance(kind, K.Array):
        return arrays
    return isinstance(kind, K.Num | K.Str | K.NoneKind | K.Known | K.Unbound)


def is_done(sweep: Sweep, v: Var, made: P.Operation) -> bool:
    """Say whether nobody writes the memory of a variable from where it is shown on."""
    written = sweep.written
    root = written.memory.of(v)
    if root is None or written.open or written.memory.is_outside(root):
        return root is None
    at, around = _shown_from(sweep, v, made)
    writes = _writes(sweep, v, at)
    return not any(behind > at or others & {*around} for behind, others in writes)


def _shown_from(sweep: Sweep, v: Var, made: P.Operation) -> tuple[int, tuple[P.Region, ...]]:
    """Return from where on a variable shows its memory, and in which loops."""
    at, around = sweep.written.order[made]
    if not isinstance(made, Op) and v in made.outs:
        return _end(sweep, made), around
    if isinstance(made, P.For | P.While | P.Collect):
        return at, (*around, made)
    return at, around


def _writes(sweep: Sweep, v: Var, at: int) -> Iterator[tuple[int, set[P.Region]]]:
    """Yield where the memory of a variable may be written, with the loops that may bring it back.

    What makes new memory makes another one in each round, and none that was shown before it.
    """
    order = sweep.written.order
    for w in sweep.written.of(v):
        behind, loops = order[w]
        owners = [followed(sweep, p.object) for p in w.writes] if isinstance(w, Op) else []
        if owners and all(_changes_other(sweep, w, o, v) for o in owners):
            continue
        makers = [sweep.makers.get(o) for o in owners if isinstance(o, Var)]
        known = [m for m in makers if m is not None and m in order]
        new = [order[m] for m in known if deed(m).fresh or _changes_list(w, m)]
        if not new or len(new) < len(owners):
            yield behind, {*loops}
        elif any(made < at for made, _ in new):
            yield behind, {x for x in loops if not all(x in around for _, around in new)}


def _changes_other(sweep: Sweep, w: P.Operation, owner: object, v: Var) -> bool:
    """Say whether a write changes the places of one structure, and a variable is another one.

    The variable holds no structures: what it is a part of may change around it.
    """
    kind, own = getattr(owner, "kind", K.UNKNOWN), _class_of(v.kind)
    forms = (*_OF_LISTS, "put field", "drop field") if isinstance(kind, K.Obj) else _OF_LISTS
    if not isinstance(w, Op) or w.primitive.form not in forms or _class_of(kind) is None:
        return False
    if isinstance(kind, K.Obj) and w.primitive.form == "method":
        return False
    if own is None or any(map(K.is_container, K.together(v.kind))):
        return False
    if _class_of(kind) is not own:
        return True
    found = followed(sweep, v)
    both = [sweep.makers.get(o) for o in (found, owner) if isinstance(o, Var)]
    made = [m for m in both if m is not None and _makes_new(m)]
    if len(both) < 2 or both[1] not in made:
        return False
    bound, order = _bound_by(sweep, v), sweep.written.order
    return len({*made}) == 2 or (both[1] in order and bound in order[both[1]][1])


def _makes_new(made: Op) -> bool:
    """Say whether an operation makes a new list or dict."""
    if made.primitive in _DISPLAYS:
        return True
    of_list = made.primitive is L.ITEM and isinstance(kind_of(made.operands[0]), K.List)
    return of_list and not isinstance(kind_of(made.operands[1]), K.Num)


def _bound_by(sweep: Sweep, v: Var) -> P.Region | None:
    """Return the loop that binds a variable where a round begins: before all that is made there."""
    loops = (o for o in sweep.written.order if isinstance(o, P.For | P.While))
    return next(
        (o for o in loops if v in (o.body.params if isinstance(o, P.For) else o.carried)), None
    )


def _class_of(kind: K.Kind) -> type | None:
    """Return the class of what a kind surely is a structure of."""
    if isinstance(kind, K.AnyDict):
        return dict
    return next((c for c in (K.List, K.Obj) if isinstance(kind, c)), None)


_DISPLAYS = (L.LIST, L.DICT)


def _changes_list(w: P.Operation, made: Op) -> bool:
    """Say whether a write changes a list that is made here, and nothing that the list holds."""
    return isinstance(w, Op) and made.primitive is L.LIST and w.primitive.form in _OF_LISTS


_OF_LISTS = ("method", "put item", "drop item")  # `xs[0] += y` may change what stands there


def _bound_in(loop: P.Region, made: P.Operation) -> set[Var]:
    """Return what each round of a loop binds anew; what it hands on, if this is where it begins."""
    found = {*P.bound(loop)} if isinstance(loop, P.For | P.Collect) or loop is made else set[Var]()
    for block in P.blocks(loop):
        found |= {*block.params} if loop is made else set()
        for op in P.every(block):
            found |= {*op.outs, *P.bound(op)}
            if not isinstance(op, Op):
                found |= {v for b in P.blocks(op) for v in b.params}
    return found


def _end(sweep: Sweep, region: P.Region) -> int:
    """Return the place of the last operation in a region."""
    inner = [o for b in P.blocks(region) for o in P.every(b)]
    return sweep.written.order[inner[-1] if inner else region][0]


def is_shown_later(sweep: Sweep, v: Var, op: P.Operation) -> bool:
    """Say whether a tangent is read behind an operation that is that of another name of a value.

    What the operation itself gives is no such name.
    """
    root, known = sweep.written.memory.of(v), sweep.written
    others = set[Var]() if root is None else _shown_by(sweep, root, v, op) - {v}
    if not others:
        return False
    later = (use for use in known.order if use is not op and known.follows(use, op))
    read = (dot for use in later for dot in _given(use) if dot in sweep.values)
    return any(sweep.values[dot] in others for dot in read)


def _is_of(op: P.Operation, other: P.Operation) -> bool:
    """Say whether an operation is another one, or does to values what that does to tangents."""
    if not isinstance(op, Op) or not isinstance(other, Op):
        return op is other
    return (op.origin, op.primitive) == (other.origin, other.primitive)


def _given(op: P.Operation) -> Iterator[Var]:
    """Yield the variables that an operation reads, and those that a region hands over."""
    results = [] if isinstance(op, Op) else [r for b in P.blocks(op) for r in b.end.results]
    yield from (v for v in map(P.variable, (*P.operands(op), *results)) if v is not None)


def _shown_by(sweep: Sweep, root: Var, v: Var, but: P.Operation | None = None) -> set[Var]:
    """Return what shows the memory that a variable shows: itself, and what is made of such.

    What is made by one operation may be left out.
    """
    names, count = {v}, 0
    while count < len(names):
        count = len(names)
        for op in sweep.written.order:
            if not (but and _is_of(op, but)) and not names.isdisjoint(_read(sweep, op)):
                names |= {w for w in _touched(sweep, op) if sweep.written.memory.of(w) is root}
    return names


def _read(sweep: Sweep, op: P.Operation) -> Iterator[Var]:
    """Yield what an operation reads, or a region hands over; for tangents, their variables."""
    yield from (sweep.values.get(v, v) for v in _given(op))


def _touched(sweep: Sweep, op: P.Operation) -> Iterator[Var]:
    """Yield what an operation binds or writes, and what a region hands to its blocks."""
    if not isinstance(op, Op):
        yield from (*op.outs, *P.bound(op), *(v for b in P.blocks(op) for v in b.params))
        return
    yield from (p.object for p in op.writes if isinstance(p.object, Var))
    known = sweep.written.memory.deeds.get(op)
    if known is None or not known.fresh:
        yield from op.outs
