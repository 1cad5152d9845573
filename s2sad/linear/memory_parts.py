"""Parts of memory: what reads them, and what may write them later."""

from __future__ import annotations

from collections.abc import Mapping

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.by_identity import is_structure
from s2sad.linear.cotangents_of import owner_of, owners_of, root_of
from s2sad.linear.operands import kind_of
from s2sad.linear.seen_alike import shows_array
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import Table
from s2sad.linear.turned_lists import makes_list


def parts_of_memory(block: P.Block, sweep: Sweep, table: Table) -> dict[Var, Op]:
    """Return what reads parts of memory that changes, or of structures, by its tangent."""
    found, values = dict[Var, Op](), sweep.values
    for op in P.every(block):
        if isinstance(op, Op) and shows_array(table, op) and owner_of(op) in values:
            found[op.outs[0]] = op
        if not isinstance(op, Op) or op.primitive.form not in ("item", "field", "same"):
            continue
        (out,), owner = op.outs, op.operands[0]
        if out not in values or not isinstance(owner, Var) or owner not in values:
            continue
        kind, whole = values[out].kind, values[owner].kind
        shows = isinstance(kind, K.Array) and values[out] in table.facts.written
        if isinstance(whole, K.Tuple) or not (shows or is_structure(kind)):
            continue
        if makes_list(op, sweep, table):
            continue
        picks = op.primitive.form == "item" and isinstance(whole, K.Array)
        if not (picks and copies(op.operands[1], sweep.makers)):
            found[out] = op
    return found


def is_replaced(block: P.Block, values: Mapping[Var, Var], found: Mapping[Var, Op]) -> bool:
    """Say whether a structure changes behind an operation that reads a part of it.

    log["air"].append(t)      changes what the part holds, not which part stands there
    """
    deepest: dict[Var, int] = {}  # of the parts that are read of a structure
    for operation in block.ops:
        inner = (
            [operation]
            if isinstance(operation, Op)
            else [o for b in P.blocks(operation) for o in P.every(b)]
        )
        changed = (_replaced_in(op, values) for op in inner)
        if any(_depth(found, o) < deepest.get(root_of(found, o), 0) for o in changed if o):
            return True
        if isinstance(operation, Op):
            held = (v for v in operation.outs if v in found and found[v].primitive.form != "same")
            for v in held:
                if not _in_array(values, found[v]):
                    root = root_of(found, v)
                    deepest[root] = max(deepest.get(root, 0), _depth(found, v))
        elif any(is_replaced(b, values, found) for b in P.blocks(operation)):
            return True
    return False


def check_objects(sweep: Sweep, table: Table) -> None:
    """Refuse an object of a library whose memory is written while it is in use.

    Its cotangent is one of its own; what an array that is a part of it passes on, it would miss.
    """
    for v in sweep.values.values():
        used, objects = sweep.last.get(v), [k for k in K.leaves(v.kind) if isinstance(k, K.Opaque)]
        if used is None or not objects:
            continue
        for write in sweep.written.meanwhile(sweep.makers.get(v), used, v):
            raise table.cannot(
                write.origin,
                f"This may write memory of {K.describe(objects[0])} on which the result depends; "
                "s2sad cannot tell which part of it.",
                "Write into a copy of the array, or make the object of the new values.",
            )


def _depth(found: Mapping[Var, Op], dot: Var) -> int:
    """Return how deep in the structure that it is a part of something stands."""
    return sum(v in found and found[v].primitive.form != "same" for v in owners_of(found, dot))


def _replaced_in(operation: P.Operation, values: Mapping[Var, Var]) -> Var | None:
    """Return the structure of which an operation puts in, or takes out, a part."""
    if not isinstance(operation, Op) or not operation.operands or not operation.writes:
        return None
    owner, form = operation.operands[0], operation.primitive.form
    puts = ("put item", "put field", "drop item", "drop field", "method")
    if form not in puts or not isinstance(owner, Var) or owner not in values:
        return None
    kind = values[owner].kind
    number = isinstance(dict(operation.settings).get("part"), K.Num)
    return owner if is_structure(kind) and not (number and _held_number(kind, operation)) else None


def _held_number(kind: K.Kind, operation: Op) -> bool:
    """Say whether no memory stood in a structure where a number comes."""
    step = operation.primitive.word
    if len(operation.operands) == 3:
        step = getattr(kind_of(operation.operands[1]), "value", K.MISSING)
    kind = K.without_none(kind)
    there = K.together(kind) if step is K.MISSING else (kind.at(step),)
    return not any(k is not None and (is_structure(k) or K.may_be_array(k)) for k in there)


def _in_array(values: Mapping[Var, Var], op: Op) -> bool:
    return isinstance(values[owner_of(op)].kind, K.Array)


def copies(index: Operand, makers: Mapping[Var, Op]) -> bool:
    """Say whether an index picks out a copy: one of arrays or lists does."""
    return any(isinstance(k, K.Array | K.List) for k in parts_of_index(index, makers))


def parts_of_index(index: Operand, makers: Mapping[Var, Op]) -> tuple[K.Kind, ...]:
    """Return the kinds of the parts of an index; where it is made here, that says them."""
    v = P.variable(index)
    made = makers.get(v) if v is not None else None
    if made is not None and made.primitive.form == "tuple":
        return tuple(k for o in made.operands for k in parts_of_index(o, makers))
    kind = kind_of(index)
    return kind.items if isinstance(kind, K.Tuple) else (kind,)


def last_uses(block: P.Block) -> dict[Var, P.Operation]:
    """Return the last operation that reads each variable."""
    found: dict[Var, P.Operation] = {}
    for operation in P.every(block):
        found |= {v: operation for v in map(P.variable, P.operands(operation)) if v is not None}
        for b in () if isinstance(operation, Op) else P.blocks(operation):
            found |= {v: operation for v in map(P.variable, b.end.results) if v is not None}
    ends = map(P.variable, block.end.results)
    return found | {v: found[v] for v in ends if v is not None and v in found}
