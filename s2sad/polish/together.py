"""A shadow that only passes its sum on to another of its shape adds to that one at once.

Tn_bar = np.zeros_like(T_bar)
Tn_bar[1:] += t_bar                 T_bar[1:] += t_bar
Tn_bar[:-1] += t_bar          ->    T_bar[:-1] += t_bar
T_bar = T_bar + Tn_bar
"""

from __future__ import annotations

import gast

from s2sad.nodes import Block, Node, blocks_of, names_read, rename, walk
from s2sad.polish.effects import EffectTable, is_compound, mutated_by
from s2sad.stages import Comment
from s2sad.syntax.flow import live_in

Names = frozenset[str]


def together(
    block: Block, live_out: Names, owners: Names, effects: EffectTable, zeros: str
) -> Block:
    """Return a block in which sums that go to one of the shadows in `owners` are made there.

    `zeros` is how the module of zeros_like is written.
    """
    live: dict[object, Names] = {}
    live_in(block, live_out, live.__setitem__)
    _block(block, live, owners, effects, zeros)
    return block


def _block(
    block: Block, live: dict[object, Names], owners: Names, effects: EffectTable, zeros: str
) -> None:
    for position in range(len(block) - 1, -1, -1):
        s = block[position]
        for part in blocks_of(s):
            _block(part, live, owners, effects, zeros)
        goal = _like(s, zeros)
        if goal is None or goal not in owners:
            continue
        made = s.targets[0].id
        end = _end(block, position, made, goal, effects)
        if end is None or made in live.get(block[end], frozenset({made})):
            continue
        for other in block[position + 1 : end]:
            rename(other, {made: goal})
            effects.forget(other)
        del block[end]
        del block[position]


def _like(s: Node, zeros: str) -> str | None:
    """Return the Y of `X = np.zeros_like(Y)`."""
    if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
        return None
    value = s.value
    if not isinstance(value, gast.Call) or value.keywords or len(value.args) != 1:
        return None
    func, like = value.func, value.args[0]
    if not isinstance(func, gast.Attribute) or func.attr != "zeros_like":
        return None
    known = isinstance(func.value, gast.Name) and func.value.id == zeros
    return str(like.id) if known and isinstance(like, gast.Name) else None


def _end(block: Block, position: int, made: str, goal: str, effects: EffectTable) -> int | None:
    """Return where one shadow is added to the other, if both are only added to until then."""
    shared = effects.sharing.get(goal, frozenset()) | {goal}
    for at in range(position + 1, len(block)):
        s = block[at]
        if isinstance(s, Comment):
            continue
        if _is_sum(s, made, goal):
            return at
        e = effects.of(s)
        if e.unknown or leaves(s):
            return None
        if (e.reads | e.writes) & (shared | {made}):
            owner = added_to(s)
            if owner not in (made, goal) or _given(s) & (shared | {made}):
                return None
    return None


def _is_sum(s: Node, made: str, goal: str) -> bool:
    """Say whether a statement is `Y = Y + X` or `Y += X`."""
    if isinstance(s, gast.AugAssign):
        target, value = s.target, s.value
        return (
            isinstance(s.op, gast.Add)
            and isinstance(target, gast.Name)
            and target.id == goal
            and isinstance(value, gast.Name)
            and value.id == made
        )
    return (
        isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and s.targets[0].id == goal
        and isinstance(s.value, gast.BinOp)
        and isinstance(s.value.op, gast.Add)
        and isinstance(s.value.left, gast.Name)
        and isinstance(s.value.right, gast.Name)
        and (s.value.left.id, s.value.right.id) == (goal, made)
    )


def leaves(s: Node) -> bool:
    """Say whether a statement may leave the block it stands in."""
    return any(isinstance(n, gast.Break | gast.Continue | gast.Return) for n in walk(s))


def added_to(s: Node) -> str | None:
    """Return the variable to a part of which a statement adds, and does nothing else."""
    if is_compound(s):
        return None
    if isinstance(s, gast.AugAssign) and isinstance(s.op, gast.Add | gast.Sub):
        place = s.target
        if isinstance(place, gast.Subscript) and isinstance(place.value, gast.Name):
            return str(place.value.id)
    if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
        func = s.value.func
        owner = mutated_by(s.value)
        adds = isinstance(func, gast.Attribute) and func.attr == "at"
        named = adds and isinstance(func.value, gast.Attribute) and func.value.attr == "add"
        return owner if named else None
    return None


def _given(s: Node) -> set[str]:
    """Return the names that an addition reads besides the place to which it adds."""
    if isinstance(s, gast.AugAssign):
        return names_read(s.value) | names_read(s.target.slice)
    return set().union(*(names_read(a) for a in s.value.args[1:]), set())
