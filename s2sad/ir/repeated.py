"""Which reads stand in each expression that uses them, rather than once under a name.

    a_item = a[i]                        m = b[i] - a[i] * p
    m = b[i] - a_item * p                m_dot = b_dot[i] - a_dot[i] * p - a[i] * p_dot
    m_dot = b_dot[i] - a_dot[i] * p - a_item * p_dot

Before: a block, and what its operations do to the world. After: the values that two expressions of
the block read by the name of an object and of an index, and what cells hold. Between the first and
the last use nobody writes what is read, and the names mean the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.effects import Footprint, commute
from s2sad.ir.program import Op, Operand, Var


@dataclass(frozen=True)
class Reads:
    """One block: where its operations, and at last its end, read variables in expressions."""

    ops: Sequence[P.Operation]
    places: Sequence[Sequence[Operand]]
    uses: Counter[Var]
    loose: Callable[[Var], bool]
    foot: Callable[[P.Operation], Footprint]


def repeated(reads: Reads) -> frozenset[Var]:
    """Return the values that are read anew in each expression."""
    users: dict[Var, list[int]] = {}
    for at, given in enumerate(reads.places):
        for v in filter(None, map(P.variable, given)):
            users.setdefault(v, []).append(at)
    made = {v for op in reads.ops for v in op.outs}
    changes = _changes(reads)
    found: set[Var] = set()
    for at, op in enumerate(reads.ops):
        if not isinstance(op, Op) or len(op.outs) != 1 or not reads.loose(op.outs[0]):
            continue
        (out,) = op.outs
        places = users.get(out, [])
        if len(places) < 2 or len(places) != reads.uses[out]:
            continue
        most = len(places) if op.primitive.form == "look" else 2
        if len(places) <= most and _is_short(op, reads, made - found):
            if _is_still(op, reads, changes, range(at + 1, places[-1])):
                found.add(out)
    return frozenset(found)


def _is_short(op: Op, reads: Reads, made: set[Var]) -> bool:
    """Say whether an operation reads what a cell holds, or a part by the names of two variables."""
    if op.primitive.form == "look":
        return True
    if op.primitive.form != "item":
        return False
    owner, index = op.operands
    if not isinstance(owner, Var) or not isinstance(owner.kind, _PLAIN) or owner.cell:
        return False
    return not any(_is_expression(o, reads, made) for o in (owner, index))


_PLAIN = K.Array | K.List | K.Tuple | K.Dict


def _is_expression(given: Operand, reads: Reads, made: set[Var]) -> bool:
    """Say whether an operand may be more than a name where it is read."""
    if isinstance(given, P.Const):
        return False
    return not isinstance(given, Var) or (given in made and reads.loose(given))


@dataclass(frozen=True)
class _Changes:
    """Where operations act, bind a name, or change what a variable holds, in order."""

    acts: Sequence[int]
    binds: Mapping[str, list[int]]
    adds: Mapping[Var | None, list[int]]


def _changes(reads: Reads) -> _Changes:
    binds: dict[str, list[int]] = {}
    adds: dict[Var | None, list[int]] = {}
    for at, op in enumerate(reads.ops):
        for v in op.outs:
            binds.setdefault(v.name, []).append(at)
        if isinstance(op, Op) and op.primitive.form == "augmented":
            adds.setdefault(P.variable(op.operands[0]), []).append(at)
    return _Changes([at for at, op in enumerate(reads.ops) if reads.foot(op).acts], binds, adds)


def _is_still(op: Op, reads: Reads, changes: _Changes, between: range) -> bool:
    """Say whether an operation gives the same after those that follow it."""
    foot = reads.foot(op)
    others = between if foot.acts else (at for at in changes.acts if at in between)
    given = {v for v in map(P.variable, op.operands) if v is not None}
    met = [changes.binds.get(v.name, ()) for v in given if v.name]
    met += [changes.adds.get(v, ()) for v in given]
    if any(at in between for places in met for at in places):
        return False
    return all(commute(foot, reads.foot(reads.ops[at])) for at in others)
