"""What the reverse of a called function computes again from parameters, rather than being given it.

    def f_reverse(kept, value_bar):             def f_reverse(state, value_bar):
        a, b, t = kept                              a, b = state
        x_bar = value_bar * t               ->      t = a * b
                                                    x_bar = value_bar * t

Numbers only, found by plain arithmetic, once, and from parameters that the caller still has. An
array is passed for that where all of it is unpacked: it is no longer than there are names.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.nodes import Block, Node, clone, count_writes, is_constant, names_read, names_written
from s2sad.stages import Function, KindFacts

_OPERATORS = (gast.Add, gast.Sub, gast.Mult, gast.Div)
_MOST = 3


@dataclass(frozen=True)
class _Step:
    """A statement that may run again, the steps before it that it needs, and its parameters."""

    statement: Any
    steps: tuple[Any, ...]
    params: frozenset[str]
    operations: int


def compute_again(
    function: Function,
    kinds: KindFacts,
    written: Set[str],
    wanted: Set[str],
    supplied: Set[str],
) -> Block:
    """Return the statements that find some of the wanted numbers in the reverse of a function.

    `written` are the names whose content may change, `supplied` the parameters that the caller
    still has. What would need more parameters than are wanted anyway has to save as much.
    """
    steps = _steps(function, kinds, written, supplied)
    mine = [n for n in steps if n in wanted]
    free = [n for n in mine if steps[n].params <= wanted]
    others = [n for n in mine if n not in free]
    more = frozenset().union(*(steps[n].params for n in others)) - wanted
    entry = kinds.before.get(function.node.body[0], {})
    price = sum(1 if isinstance(entry.get(p), K.Num) else 2 for p in more)
    chosen = [*free, *(others if len(others) > price else [])]
    needed = {s for n in chosen for s in steps[n].steps}
    return [clone(s) for s in function.node.body if s in needed]


def _steps(
    function: Function, kinds: KindFacts, written: Set[str], supplied: Set[str]
) -> dict[str, _Step]:
    """Return, by name, what could be found again by cheap statements of a function."""
    counts = count_writes(function.node.body, function.params)
    given = {p for p in function.params if p in supplied and counts[p] == 1 and p not in written}
    found: dict[str, _Step] = {}
    for s in function.node.body:
        targets = names_written(s)
        if not isinstance(s, gast.Assign) or any(counts[n] != 1 for n in targets):
            continue
        after = kinds.after.get(s, {})
        if not targets or not all(isinstance(after.get(n), K.Num) for n in targets):
            continue
        if isinstance(s.targets[0], gast.Tuple | gast.List):
            step = _unpacking(s, kinds, given)
        else:
            step = _arithmetic(s, kinds, given, found)
        if step is not None:
            found |= dict.fromkeys(targets, step)
    return found


def _unpacking(s: Node, kinds: KindFacts, given: Set[str]) -> _Step | None:
    """`a, b = p`, where p has just that many items."""
    value = s.value
    if not isinstance(value, gast.Name) or value.id not in given:
        return None
    if not all(isinstance(e, gast.Name) for e in s.targets[0].elts):
        return None
    if not isinstance(kinds.of.get(value), K.Array | K.Tuple):
        return None
    return _Step(s, (s,), frozenset({value.id}), 0)


def _arithmetic(
    s: Node, kinds: KindFacts, given: Set[str], found: Mapping[str, _Step]
) -> _Step | None:
    """`t = a * b`, where a and b are numbers that are given or found again themselves."""
    value = s.value
    if not isinstance(s.targets[0], gast.Name) or not _is_plain(value, kinds.of):
        return None
    names = names_read(value)
    if not all(n in found or n in given for n in names):
        return None
    before = [found[n] for n in sorted(names & found.keys())]
    operations = 1 + sum(b.operations for b in before)
    if operations > _MOST:
        return None
    steps = dict.fromkeys(x for b in before for x in b.steps)
    params = frozenset(names & given).union(*(b.params for b in before))
    return _Step(s, (*steps, s), params, operations)


def _is_plain(value: Node, of: Mapping[Any, Kind]) -> bool:
    """Say whether an expression is one operation of arithmetic on numbers."""
    if isinstance(value, gast.BinOp) and isinstance(value.op, _OPERATORS):
        operands = [value.left, value.right]
    elif isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        operands = [value.operand]
    else:
        return False
    return all(
        is_constant(x) or (isinstance(x, gast.Name) and isinstance(of.get(x), K.Num))
        for x in operands
    )
