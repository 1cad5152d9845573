"""Arrays come into being when they are wanted, not before: fewer of them are there at a time.

x_bar = np.zeros_like(x)               x_bar = f_reverse(y_bar)
x_bar[1:] += t_bar               ->    x_bar[1:] += t_bar
x_bar = x_bar + f_reverse(y_bar)

t_bar = 2.0 * t                        y_bar = f_reverse(z_bar)
y_bar = f_reverse(z_bar)         ->    t_bar = 2.0 * t
y_bar[1:] += t_bar                     y_bar[1:] += t_bar

A reverse may put old content back into arrays of the forward sweep: what goes past its call reads
only what shares memory with nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.known.callees import Callees
from s2sad.nodes import Block, Node, assign, blocks_of, names_read, names_written, walk
from s2sad.polish.effects import EffectTable, Pure, pure_expression
from s2sad.polish.together import added_to, leaves
from s2sad.stages import Comment

Names = frozenset[str]


def late(
    block: Block,
    bars: Mapping[str, Kind],
    reverses: set[str],
    pure: Pure,
    effects: EffectTable,
    skipped: Names,
    alone: Callable[[str], bool],
    callees: Callees,
) -> Block:
    """Return a block in which the arrays among `bars` are made as late as can be.

    `reverses` are functions that give new arrays; the bars in `skipped` are left as they
    are. `alone` tells the variables of the user's that share memory with nothing.
    """
    arrays = frozenset(n for n, k in bars.items() if isinstance(k, K.Array) and k.rank) - skipped
    worker = _Late(arrays, reverses, pure, effects, alone, callees)
    worker.survey(block, frozenset(bars))
    worker.block(block)
    return block


class _Late:
    def __init__(
        self,
        arrays: Names,
        reverses: set[str],
        pure: Pure,
        effects: EffectTable,
        alone: Callable[[str], bool],
        callees: Callees,
    ) -> None:
        self.callees = callees
        self.alone = alone
        self.made: set[str] = set()
        self.shared: set[str] = set()
        self.arrays = arrays
        self.reverses = reverses
        self.pure = pure
        self.effects = effects

    def survey(self, block: Block, bars: Names) -> None:
        """Note which cotangents are new arrays wherever they are bound."""
        for s in block:
            for part in blocks_of(s):
                self.survey(part, bars)
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                new = self.callees.is_new(s.value) or self._is_reverse(s.value)
                (self.made if new else self.shared).add(s.targets[0].id)
            elif not isinstance(s, gast.If | gast.While):
                self.shared |= names_written(s.target if isinstance(s, gast.For) else s)
        self.made &= bars

    def _steady(self, names: Iterable[str]) -> bool:
        """Say whether no reverse changes the memory of some variables."""
        return all((n in self.made - self.shared) or self.alone(n) for n in names)

    def block(self, block: Block) -> None:
        for s in block:
            for part in blocks_of(s):
                self.block(part)
        for position in range(len(block) - 1, -1, -1):
            if position < len(block) and self._is_zeros(block[position]):
                self._born_whole(block, position)
        for position in range(len(block) - 1, -1, -1):
            self._sink(block, position)

    def _target(self, s: Node) -> str | None:
        """Return the array that a statement binds, if it is one of those."""
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            return s.targets[0].id if s.targets[0].id in self.arrays else None
        return None

    def _is_zeros(self, s: Node) -> bool:
        return self._target(s) is not None and self.callees.is_call(s.value, np.zeros_like)

    def _born_whole(self, block: Block, position: int) -> None:
        """Let what a reverse gives be the array, and not be added to zeros."""
        made = block[position].targets[0].id
        between: set[str] = set()
        for at in range(position + 1, len(block)):
            s = block[at]
            if isinstance(s, Comment):
                continue
            e = self.effects.of(s)
            if e.unknown or leaves(s):
                return
            whole = self._whole(s, made)
            if whole is not None:
                if not (names_read(whole) & (between | {made})) and e.writes == {made}:
                    _move_up(block, position, at, assign(made, whole))
                return
            if made in e.reads | e.writes:
                adds = isinstance(s, gast.AugAssign) and added_to(s) == made
                if not adds or made in names_read(s.value) | names_read(s.target.slice):
                    return
            if not self._steady(e.reads - {made}):
                return
            between |= e.writes

    def _whole(self, s: Node, made: str) -> Node | None:
        """Return the call of `x_bar = x_bar + f_reverse(...)`."""
        value = s.value if isinstance(s, gast.Assign | gast.AugAssign) else None
        if isinstance(s, gast.AugAssign):
            if not isinstance(s.op, gast.Add) or not isinstance(s.target, gast.Name):
                return None
            if s.target.id != made:
                return None
        elif self._target(s) == made and isinstance(value, gast.BinOp):
            left = value.left
            if not isinstance(value.op, gast.Add) or getattr(left, "id", None) != made:
                return None
            value = value.right
        else:
            return None
        return value if self._is_reverse(value) else None

    def _is_reverse(self, node: Node) -> bool:
        return (
            isinstance(node, gast.Call)
            and isinstance(node.func, gast.Name)
            and node.func.id in self.reverses
        )

    def _sink(self, block: Block, position: int) -> None:
        """Move what is computed to where it is first used, past a loop or a call of a reverse."""
        s = block[position]
        made = self._target(s)
        if made is None or not isinstance(s.value, gast.BinOp):
            return
        if made in names_read(s.value) or not pure_expression(s.value, self.pure):
            return
        read = names_read(s.value)
        if not self._steady(read):
            return
        heavy = False
        for at in range(position + 1, len(block)):
            other = block[at]
            if isinstance(other, Comment):
                continue
            e = self.effects.of(other)
            if made in e.reads | e.writes:
                if heavy:
                    block.insert(at, s)
                    del block[position]
                return
            if e.unknown or leaves(other) or e.writes & read:
                return
            heavy = heavy or self._is_heavy(other)

    def _is_heavy(self, s: Node) -> bool:
        if isinstance(s, gast.For | gast.While):
            return True
        return any(self._is_reverse(n) for n in walk(s))


def _move_up(block: Block, position: int, at: int, new: Node) -> None:
    """Put a statement in the place of another, with its heading and before that of the other."""
    heading = []
    alone = at + 1 == len(block) or isinstance(block[at + 1], Comment)
    if alone and isinstance(block[at - 1], Comment):
        heading = [block[at - 1]]
    del block[at - len(heading) : at + 1]
    del block[position]
    titled = bool(heading) and position > 0 and isinstance(block[position - 1], Comment)
    start = position - titled
    block[start:start] = [*heading, new]
