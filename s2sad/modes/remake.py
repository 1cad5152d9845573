"""Do not keep what is cheap to have again: parts of arrays, sums and products of these, and the
larger or smaller of two numbers.

    t = water[1:] + water[:-1]                    t = water[1:] + water[:-1]
    flux[1:-1] = u * t                     ->     flux[1:-1] = u * t
    saved.append((t, water))                      saved.append(water)
    ...                                           ...
    t, water = saved.pop()                        water = saved.pop()
    u_bar += flux_bar[1:-1] * t                   u_bar += flux_bar[1:-1] * (water[1:] + water[:-1])

A value may be made again where all that it is made of is, in the backward sweep, what it was in the
forward sweep. It is where that makes the tape shorter: what it is made of may have to be kept, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import gast

from s2sad import kinds as K
from s2sad.known.callees import Callees
from s2sad.modes.storage import LOOPS, wanted
from s2sad.nodes import (
    Block,
    Node,
    assign,
    blocks_of,
    clone,
    is_constant,
    names_read,
    names_written,
    substitute,
    walk,
)
from s2sad.stages import Restore, RestorePart, Save, SavePart

Names = frozenset[str]
Key = tuple[object, ...]
_OPERATORS = (gast.Add, gast.Sub, gast.Mult, gast.Div)
_ARRAY, _PART, _SMALL, _ROUNDS = 10, 11, 1, 8
_MOST, _TIMES = 2, 3


class Effects(Protocol):
    """What a statement reads and changes, and which calls do nothing but give their value."""

    pure: Callable[[Node], bool]

    def of(self, statement: Node) -> Any: ...


@dataclass
class _Plan:
    """A value that can be made again: before which statement of which block, and of what."""

    block: Block
    position: int
    statement: Node
    variable: str
    sources: Names


def remake(
    forward: Block,
    backward: Block,
    live_out: Names,
    callees: Callees,
    effects: Effects,
    elements: frozenset[Any],
    whole: Undone,
    looked_up: Names = frozenset(),
) -> Block:
    """Return the backward sweep with values made again where less is kept that way.

    `effects` says what statements read and change; `elements` are the statements that overwrite
    one number of an array; `whole` is what the sweep undid before it was polished. The shadows of
    what is `looked_up` belong to memory: only a view of that is as good as what was there.
    """
    for _ in range(_TIMES):
        lost = whole.left_out(backward)
        worker = _Remaker(forward, callees, effects, elements, lost, looked_up)
        if not worker.improve(backward, live_out):
            break
    return backward


@dataclass(frozen=True)
class Undone:
    """What a backward sweep gives its old content back, and how often it binds each name.

    Polishing drops what nobody reads: names for which it has are not what they were. Nor is what
    gets its content back by such a name, one of its `places`.
    """

    parts: Mapping[Key, Names]
    bound: Mapping[str, int]
    places: Mapping[Key, Names]

    def left_out(self, backward: Block) -> Names:
        """Return the names that a polished sweep does not keep up with any more."""
        now = undone_in(backward)
        found = {n for key, names in self.parts.items() if key not in now.parts for n in names}
        unbound = {n for n, times in self.bound.items() if now.bound.get(n, 0) < times}
        stale = {n for key, read in now.places.items() if read & unbound for n in now.parts[key]}
        return frozenset(found | unbound | stale)


def undone_in(backward: Block) -> Undone:
    """Return what a backward sweep undoes."""
    parts: dict[Key, Names] = {}
    bound: dict[str, int] = {}
    places: dict[Key, Names] = {}
    stack = list(backward)
    while stack:
        s = stack.pop()
        if isinstance(s, RestorePart):
            parts[s.key], places[s.key] = s.sharing, frozenset(names_read(s.place))
        elif not isinstance(s, Restore):
            inner = blocks_of(s)
            stack += [x for part in inner for x in part]
            for n in names_written(s.target if isinstance(s, gast.For) else s):
                if not inner or isinstance(s, gast.For):
                    bound[n] = bound.get(n, 0) + 1
        else:
            parts[s.key] = frozenset({s.name})
    return Undone(parts, bound, places)


def _insert(plans: list[_Plan]) -> None:
    for plan in sorted(plans, key=lambda p: -p.position):
        plan.block.insert(plan.position, plan.statement)


def _take_out(plans: list[_Plan]) -> None:
    for plan in plans:
        plan.block[:] = [s for s in plan.block if s is not plan.statement]


class _Remaker:
    def __init__(
        self,
        forward: Block,
        callees: Callees,
        effects: Effects,
        elements: frozenset[Any],
        lost: Names,
        looked_up: Names,
    ) -> None:
        self.lost = lost
        self.looked_up = looked_up
        self.callees = callees
        self.kinds = callees.kinds
        self.effects = effects
        self.elements = elements
        self.reads: dict[str, int] = {}
        self.wanted: Names = frozenset()
        self.costs: dict[Key, int] = {}
        self._weigh(forward, 1)

    def improve(self, backward: Block, live_out: Names) -> bool:
        """Make again what is worth it; say whether anything is."""
        before = wanted(backward, live_out)
        plans = self.plans(backward, {k[2] for k in before if k[0] in ("over", "death")})
        if not plans:
            return False
        _insert(plans)
        after = wanted(backward, live_out)
        _take_out(plans)
        chosen = self.worth(plans, backward, before, after)
        _insert(chosen)
        if chosen and self.cost(wanted(backward, live_out)) >= self.cost(before):
            _take_out(chosen)
            return False
        return bool(chosen)

    # what it costs

    def cost(self, keys: set[Key]) -> int:
        """Return what keeping some values costs; an array counts most, and more in a loop."""
        return sum(self.costs.get(k, 0) for k in keys)

    def _weigh(self, block: Block, rounds: int) -> None:
        for s in block:
            if isinstance(s, Save):
                self.costs[s.key] = rounds * self._weight(s)
            elif isinstance(s, SavePart):
                small = s.key[1] in self.elements
                self.costs[s.key] = rounds * (_SMALL if small else _PART)
            deeper = rounds * _ROUNDS if isinstance(s, LOOPS) else rounds
            for part in blocks_of(s):
                self._weigh(part, deeper)

    def _weight(self, save: Node) -> int:
        kind = self.kinds.get(save.name)
        if isinstance(kind, K.Num | K.Str | K.NoneKind):
            return _SMALL
        made = save.key[1]
        value = made.value if isinstance(made, gast.Assign) else None
        return 2 * _SMALL if value is not None and self._is_part(value) else _ARRAY

    def worth(
        self, plans: list[_Plan], backward: Block, before: set[Key], after: set[Key]
    ) -> list[_Plan]:
        """Return the plans that spare more than they need; those that need the same go together."""
        named = undone_in(backward).parts
        gone = before - after
        groups: list[tuple[list[_Plan], set[Key]]] = []
        for plan in plans:
            needs = {k for k in after - before if plan.sources & named.get(k, frozenset())}
            together = [g for g in groups if g[1] & needs]
            groups = [g for g in groups if not g[1] & needs]
            merged = [plan, *(p for g in together for p in g[0])]
            groups.append((merged, needs.union(*(g[1] for g in together))))
        rest = after - before - {k for _, needs in groups for k in needs}
        chosen: list[_Plan] = []
        for found, needs in groups:
            made = {p.variable for p in found}
            spared = {k for k in gone if k[0] in ("over", "death") and k[2] in made}
            if self.cost(spared) > self.cost(needs | (rest if needs else set())):
                chosen += found
        return chosen

    # what can be made again

    def plans(self, backward: Block, variables: set[object]) -> list[_Plan]:
        """Return how variables can be made again, in every block that undoes what made them."""
        self.wanted = frozenset(map(str, variables))
        for s in backward:
            for n in _names_in(s):
                self.reads[n] = self.reads.get(n, 0) + 1
        found: list[_Plan] = []
        stack = [backward]
        while stack:
            block = stack.pop()
            made = {
                s.name: (at, s.key[1])
                for at, s in enumerate(block)
                if isinstance(s, Restore) and s.key[0] == "over"
            }
            for variable in sorted(made.keys() & self.wanted):
                plan = self._plan(block, variable, made)
                if plan is not None:
                    found.append(plan)
            stack += [part for s in block for part in blocks_of(s)]
        inner = frozenset().union(*(p.sources for p in found))
        return [p for p in found if p.variable not in inner]

    def _plan(
        self, block: Block, variable: str, made: Mapping[str, tuple[int, Node]]
    ) -> _Plan | None:
        undone, definition = made[variable]
        uses = [at for at, s in enumerate(block[:undone]) if variable in names_read(s)]
        if not uses or not self._may(definition, variable):
            return None
        if sum(_count(block[at], variable) for at in uses) != self.reads.get(variable):
            return None
        if not self._is_part(definition.value) and _only_shape(block[:undone], variable):
            return None
        start = uses[0]
        if any(variable in self.effects.of(s).named for s in block[start:undone]):
            return None
        value = self._expanded(block, start, variable, made)
        sources = frozenset(names_read(value)) if value is not None else frozenset()
        if value is None or sources & (self.lost | {variable}):
            return None
        return _Plan(block, start, assign(variable, value), variable, sources)

    def _expanded(
        self, block: Block, start: int, variable: str, made: Mapping[str, tuple[int, Node]]
    ) -> Node | None:
        """Return an expression that gives a variable's value again from a place in a block on."""
        undone, definition = made[variable]
        if not self._unchanged(block, start, undone, definition.value):
            return None
        table: dict[str, Node] = {}
        chosen = self._is_chosen(definition.value)
        for n in sorted(names_read(definition.value)):
            if n not in made or made[n][0] <= undone:
                continue
            if self._is_short(made[n][1], n) or (chosen and self._is_scaled(made[n][1], n)):
                inner = self._expanded(block, start, n, made)
                if inner is not None:
                    table[n] = inner
        value = substitute(clone(definition.value), table)
        return value if _operations(value) <= _MOST else None

    def _unchanged(self, block: Block, start: int, stop: int, value: Node) -> bool:
        """Say whether what an expression reads stays as it is between two places."""
        read = names_read(value)
        for s in block[start:stop]:
            e = self.effects.of(s)
            if e.unknown or e.writes & read:
                return False
        return True

    def _may(self, definition: Node, variable: str) -> bool:
        """Say whether a statement makes a value that is cheap to make again."""
        if not isinstance(definition, gast.Assign) or len(definition.targets) != 1:
            return False
        target, value = definition.targets[0], definition.value
        if not isinstance(target, gast.Name) or target.id != variable:
            return False
        if self._is_part(value) or self._is_chosen(value):
            return True
        if not isinstance(self.kinds.get(variable), K.Array) or variable in self.looked_up:
            return False
        if isinstance(value, gast.UnaryOp):
            return isinstance(value.op, gast.USub) and isinstance(value.operand, gast.Name)
        if not isinstance(value, gast.BinOp) or not isinstance(value.op, _OPERATORS):
            return False
        sides = (value.left, value.right)
        return all(isinstance(s, gast.Name) or is_constant(s) for s in sides) and all(
            isinstance(self.kinds.get(s.id), K.Array | K.Num)
            for s in sides
            if isinstance(s, gast.Name)
        )

    def _is_short(self, definition: Node, variable: str) -> bool:
        """Say whether a value is not kept for its own sake: a view, or what nobody else reads."""
        if variable not in self.wanted:
            return self._may(definition, variable)
        return self._is_view(definition, variable)

    def _is_view(self, definition: Node, variable: str) -> bool:
        return self._may(definition, variable) and self._is_part(definition.value)

    def _is_part(self, value: Node) -> bool:
        """Say whether an expression is an element of an array, or a view of one."""
        return (
            isinstance(value, gast.Subscript)
            and isinstance(value.value, gast.Name)
            and isinstance(self.kinds.get(value.value.id), K.Array)
            and self._is_plain_index(value.slice)
        )

    def _is_chosen(self, value: Node) -> bool:
        """Say whether an expression is the largest or the smallest of numbers, or one's size."""
        return (
            self.callees.is_call(value, max, min, abs)
            and not value.keywords
            and all(is_constant(a) or self._is_number(a) for a in value.args)
            and self.effects.pure(value)
        )

    def _is_scaled(self, definition: Node, variable: str) -> bool:
        """Say whether a value that is not kept is made of a number and a constant."""
        value = definition.value if isinstance(definition, gast.Assign) else None
        if variable in self.wanted or not isinstance(value, gast.BinOp):
            return False
        sides = value.left, value.right
        simple = isinstance(value.op, _OPERATORS) and any(map(is_constant, sides))
        return simple and all(is_constant(s) or self._is_number(s) for s in sides)

    def _is_number(self, node: Node) -> bool:
        return isinstance(node, gast.Name) and isinstance(self.kinds.get(node.id), K.Num)

    def _is_plain_index(self, index: Node) -> bool:
        for n in walk(index):
            if isinstance(n, gast.Name):
                kind = self.kinds.get(n.id)
                if not isinstance(kind, K.Num) or kind.type != "int":
                    return False
            elif isinstance(n, gast.expr) and not isinstance(
                n, gast.Slice | gast.Tuple | gast.Constant | gast.BinOp | gast.UnaryOp
            ):
                return False
        return True


def _only_shape(block: Block, variable: str) -> bool:
    """Say whether an array is looked at for its shape only: that is kept, not computed."""
    shapes = 0
    for s in block:
        for n in walk(s):
            if isinstance(n, gast.Attribute) and n.attr == "shape":
                shapes += isinstance(n.value, gast.Name) and n.value.id == variable
    return bool(shapes == sum(_count(s, variable) for s in block))


def _operations(value: Node) -> int:
    """Return how many sums and products of arrays an expression has; those of indices are none."""
    if isinstance(value, gast.BinOp):
        return 1 + _operations(value.left) + _operations(value.right)
    return _operations(value.operand) if isinstance(value, gast.UnaryOp) else 0


def _names_in(statement: Node) -> Iterator[str]:
    """Yield every name that a statement reads, as often as it does."""
    for n in walk(statement):
        if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Store):
            yield n.id
        elif isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name):
            yield n.target.id


def _count(statement: Node, variable: str) -> int:
    return sum(n == variable for n in _names_in(statement))
