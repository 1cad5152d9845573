"""Put values where they are used: copies are read through, single-use temporaries go back.

    t = z * z
    x = t + x          ->   x = z * z + x

Only names that the transformer made up move, never past a statement that changes what they are
made of, never into a loop, and never past code that is not known. Where the way down is blocked,
the one statement that uses the value may move up to it instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import gast

from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    block_writes,
    blocks_of,
    children,
    clone,
    copied,
    is_constant,
    names_read,
    substitute,
    walk,
)
from s2sad.polish.effects import (
    EffectTable,
    is_compound,
    mutated_by,
    pure_call,
    pure_expression,
)
from s2sad.stages import Comment, Restore, RestorePart, Save, SavePart
from s2sad.syntax.flow import live_in

Names = frozenset[str]
_LIMIT = 40


def propagate(
    block: Block,
    live_out: Names,
    movable: Names,
    effects: EffectTable,
    bars: Names = frozenset(),
) -> Block:
    """Return a block in which movable names are replaced by what they hold, where that is right."""
    return propagated(block, live_out, movable, effects, bars)[0]


def propagated(
    block: Block,
    live_out: Names,
    movable: Names,
    effects: EffectTable,
    bars: Names = frozenset(),
) -> tuple[Block, bool]:
    """Return the block that `propagate` returns, and whether it is another one."""
    worker = _Propagator(movable, effects, live_out, bars)
    changed = False
    for _ in range(4):
        worker.changed = False
        worker.live = {}
        live_in(block, live_out, worker.note, names=effects.names)
        worker.block(block)
        if not worker.changed:
            break
        changed = True
    return block, changed


class _Propagator:
    def __init__(self, movable: Names, effects: EffectTable, live_out: Names, bars: Names) -> None:
        self.bars = bars
        self.kept: Names = frozenset()
        self.movable = movable
        self.effects = effects
        self.live: dict[object, Names] = {}
        self.live_out = live_out
        self.changed = False
        self.guarded = False

    def note(self, statement: object, live: Names) -> None:
        self.live[statement] = live

    def block(self, block: Block) -> None:
        position = len(block) - 1
        while position >= 0:
            s = block[position]
            around = self.guarded
            for part in blocks_of(s):
                self.guarded = around or (isinstance(s, gast.Try) and part is s.body)
                if self._changes(part):
                    self.effects.forget(s, inside=False)
            self.guarded = around
            if (self._is_candidate(s) and self.move(block, position)) or (
                isinstance(s, gast.If) and not around and self._sink(block, position)
            ):
                self.changed = True
            position -= 1

    def _changes(self, block: Block) -> bool:
        """Work on a block inside; say whether that changed it."""
        before, self.changed = self.changed, False
        self.block(block)
        inside, self.changed = self.changed, self.changed or before
        return inside

    def _is_candidate(self, s: Node) -> bool:
        return (
            s.__class__ is gast.Assign
            and len(s.targets) == 1
            and s.targets[0].__class__ is gast.Name
            and s.targets[0].id in self.movable
            and s.targets[0].id not in self.effects.names(s)[0]
        )

    def move(self, block: Block, position: int) -> bool:
        """Try to replace the uses of one assignment; say whether it is gone."""
        s = block[position]
        target, value = s.targets[0].id, s.value
        atom = isinstance(value, gast.Name) or is_constant(value)
        again = _cheap_item(value) and target not in self.kept
        uses = self._uses(block, position, target, value, None if atom else 1 + again)
        if not uses:
            return False
        if self.guarded and not (atom and all(clear for _, clear in uses)):
            return self._replace_next(block, position, target, value, uses)
        if atom:
            return self._replace_all(block, position, target, value, uses)
        if len(uses) == 1 and _count(block[uses[0][0]], target) == 1:
            return self._replace_one(block, position, target, value, uses[0])
        if again:
            return self._replace_twice(block, position, target, value, uses)
        return False

    def _sink(self, block: Block, position: int) -> bool:
        """Move `xs_bar[i] += x_bar` into the arms of the branch before it, where one adds zero."""
        branch = block[position]
        at = next(
            (i for i in range(position + 1, len(block)) if not isinstance(block[i], Comment)), None
        )
        if at is None:
            return False
        user = block[at]
        if not isinstance(user, gast.AugAssign) or not isinstance(user.value, gast.Name):
            return False
        target = user.value.id
        effects = self.effects.of(user)
        if target not in self.movable or target in self.live.get(user, self.live_out):
            return False
        if names_read(branch.test) & effects.writes or _count(user, target) != 1:
            return False
        arms = _arms_of(branch)
        last = [_last_definition(arm, target) for arm in arms]
        if any(d is None for d in last) or not any(_is_zero(d) for d in last):
            return False
        moved = effects.writes | (effects.reads - {target})
        for arm in arms:
            for s in arm:
                e = self.effects.of(s)
                if e.writes & moved or e.reads & effects.writes or e.unknown:
                    return False
        self.effects.forget(branch)
        for arm, definition in zip(arms, last, strict=True):
            if _is_zero(definition):
                arm.remove(definition)
            else:
                arm.append(clone(user))
                self.live[arm[-1]] = self.live.get(user, self.live_out)
        del block[at]
        return True

    def _replace_twice(
        self, block: Block, position: int, target: str, value: Node, uses: list[tuple[int, bool]]
    ) -> bool:
        """An item read twice at most is read again rather than named."""
        total = sum(_count(block[at], target) for at, _ in uses)
        if total > 2 or not all(clear for _, clear in uses):
            return False
        if any(_in_loop(block[at], target) or _augments(block[at], target) for at, _ in uses):
            return False
        if any(isinstance(n, gast.Try) for at, _ in uses for n in walk(block[at])):
            return False
        self._keep_alive(block, position, uses[-1][0], names_read(value))
        for at, _ in uses:
            self._substitute(block[at], target, value)
        del block[position]
        return True

    def _uses(
        self, block: Block, position: int, target: str, value: Node, most: int | None
    ) -> list[tuple[int, bool]] | None:
        """Return where the value is read and whether it could still be computed there.

        None where it is read beyond the block, in more than `most` places, or written on one path
        only.
        """
        effects_of, live, live_out = self.effects.of, self.live, self.live_out
        parts = self.effects.names(block[position])[0]
        memory = not (isinstance(value, gast.Name) or is_constant(value))
        uses: list[tuple[int, bool]] = []
        clear = True
        for at in range(position + 1, len(block)):
            s = block[at]
            if s.__class__ is Comment:
                continue
            e = effects_of(s)
            if target in e.reads:
                compound = is_compound(s)
                inside = clear and not (compound and (e.writes & parts or _hides(s, parts)))
                unsure = e.unknown and parts & self.effects.sharing.keys()
                if memory and (unsure or e.spoilt & parts):
                    inside = inside and self._first_of_all(s, target)
                if compound and target in e.named:
                    return None
                uses.append((at, inside))
                if most is not None and len(uses) > most:
                    return None
            if target in e.named:
                if is_compound(s) or isinstance(s, gast.AugAssign) or not _binds(s, target):
                    return None
                return uses
            if clear and (not parts.isdisjoint(e.writes) or (memory and e.unknown)):
                clear = _copies_back(s, target, value)
            if target not in live.get(s, live_out):
                return uses
            if s.__class__ is gast.Return:
                return uses
        last = block[-1]
        if target in self.live.get(last, self.live_out):
            return None
        return uses

    def _replace_all(
        self, block: Block, position: int, target: str, value: Node, uses: list[tuple[int, bool]]
    ) -> bool:
        if not all(clear for _, clear in uses):
            if len(uses) == 1 and _count(block[uses[0][0]], target) == 1:
                return self._replace_one(block, position, target, value, uses[0])
            if isinstance(value, gast.Name) and self._lift_readers(
                block, position, target, value.id, uses
            ):
                self.changed = True
            return False
        for at, _ in uses:
            if any(isinstance(n, Save | Restore) and n.name == target for n in walk(block[at])):
                return False
            if _augments(block[at], target):
                return False
        self._keep_alive(block, position, uses[-1][0], names_read(value))
        for at, _ in uses:
            self._substitute(block[at], target, value)
        del block[position]
        return True

    def _lift_readers(
        self, block: Block, position: int, target: str, source: str, uses: list[tuple[int, bool]]
    ) -> bool:
        """Move readers of a copy above the statement that changes what it is a copy of."""
        barrier = next(
            (
                i
                for i in range(position + 1, len(block))
                if source in self.effects.of(block[i]).writes
            ),
            None,
        )
        if barrier is None or is_compound(block[barrier]):
            return False
        moved = False
        for at, clear in uses:
            if clear or at <= barrier or not self._may_rise(block, barrier, at, target):
                continue
            after = self.live.get(block[barrier], self.live_out)
            user = block.pop(at)
            block.insert(barrier, user)
            changed = block[barrier + 1]
            self.live[user] = after | self.effects.of(changed).reads
            self.live[user] |= self.effects.of(user).writes
            names = set(self.effects.of(user).writes)
            self._keep_alive(block, barrier, at, names)
            barrier += 1
            moved = True
        return moved

    def _may_rise(self, block: Block, start: int, at: int, target: str) -> bool:
        user = block[at]
        if is_compound(user) or isinstance(
            user, gast.Return | Restore | RestorePart | Save | SavePart | gast.Break
        ):
            return False
        effects = self.effects.of(user)
        if effects.unknown or _augments(user, target) or target in effects.writes:
            return False
        for s in block[start:at]:
            if _ends_sweep(s):
                return False
            e = self.effects.of(s)
            if e.unknown or e.writes & effects.reads:
                return False
            if effects.writes & (e.reads | e.writes):
                return False
        return True

    def _keep_alive(self, block: Block, start: int, stop: int, names: set[str]) -> None:
        """Names that are now read further down are live up to there."""
        for s in block[start:stop]:
            self.live[s] = self.live.get(s, self.live_out) | names

    def _replace_one(
        self, block: Block, position: int, target: str, value: Node, use: tuple[int, bool]
    ) -> bool:
        at, clear = use
        s = block[at]
        if any(n.__class__ is Save and n.name == target for n in _statements(s)):
            return False
        if not pure_expression(value, self.effects.pure):
            if not self._next_to(block, position, at) or is_compound(s):
                return False
            if not self._first_of_all(s, target) or _perhaps(s, target):
                return False
            if self._runs_unknown(value) and not _read_first(s, target):
                return False
            if self._changes_memory(value) and any(isinstance(n, gast.Subscript) for n in walk(s)):
                return False
            if self._takes_from(value) & (self.effects.of(s).reads | self.effects.of(s).writes):
                return False  # `xs[-1] += xs.pop()` finds its place before anything is taken
        elif not clear:
            return self._lift(block, position, target, value, at)
        elif _heads(block, position, at) and not _small(value) and not _repacks(s):
            return False
        if isinstance(s, gast.Return) and target in self.bars and not _returnable(value):
            return False
        if _in_loop(s, target) or _in_scope(s, target) or _augments(s, target):
            return False
        if _size(value) + _size_of_use(s) > _LIMIT:
            return False
        self._keep_alive(block, position, at, names_read(value))
        self._substitute(s, target, value)
        del block[position]
        return True

    def _first_of_all(self, s: Node, target: str) -> bool:
        """Say whether a name is read before any unknown code of a statement runs."""
        for n in _evaluated(s):
            if type(n) is gast.Name and n.id == target:
                return True
            if isinstance(n, gast.Call) and not pure_call(n, self.effects.pure):
                return False
        return False

    def _runs_unknown(self, value: Node) -> bool:
        """Say whether a value may change memory that is looked at before it, in one statement."""
        calls = [n for n in walk(value) if isinstance(n, gast.Call)]
        return any(mutated_by(n) is None and not self.effects.pure(n) for n in calls)

    def _changes_memory(self, value: Node) -> bool:
        return any(isinstance(n, gast.Call) and self.effects.changes(n) for n in walk(value))

    def _takes_from(self, value: Node) -> set[str]:
        """Return the names of the lists that an expression changes, and their other names."""
        calls = [mutated_by(n) for n in walk(value) if isinstance(n, gast.Call)]
        found = {n for n in calls if n is not None}
        return found.union(*(self.effects.sharing.get(n, ()) for n in found))

    def _next_to(self, block: Block, position: int, at: int) -> bool:
        return all(isinstance(s, Comment) for s in block[position + 1 : at])

    def _replace_next(
        self, block: Block, position: int, target: str, value: Node, uses: list[tuple[int, bool]]
    ) -> bool:
        """In the body of a try what may raise does so where it did, before all else."""
        at, _ = uses[0]
        s = block[at]
        if len(uses) != 1 or _count(s, target) != 1 or is_compound(s):
            return False
        if not isinstance(s, gast.Assign | gast.AugAssign | gast.Expr):
            return False
        if not self._next_to(block, position, at) or not _read_first(s, target):
            return False
        if _in_scope(s, target) or _augments(s, target) or _perhaps(s, target):
            return False
        if _size(value) + _size_of_use(s) > _LIMIT:
            return False
        self._keep_alive(block, position, at, names_read(value))
        self._substitute(s, target, value)
        del block[position]
        return True

    def _lift(self, block: Block, position: int, target: str, value: Node, at: int) -> bool:
        """Move the statement that uses a value up to where the value is computed.

        What changes the memory that the value is, under any name, is met there as well.
        """
        user = block[at]
        if is_compound(user) or isinstance(
            user, gast.Return | Restore | RestorePart | Save | SavePart | gast.Break
        ):
            return False
        effects = self.effects.of(user)
        if effects.unknown or _augments(user, target):
            return False
        reads = effects.reads if copied(value) is None else effects.reads - {target}
        if effects.spoilt & names_read(value) and not self._first_of_all(user, target):
            return False
        for s in block[position + 1 : at]:
            if _ends_sweep(s):
                return False
            if isinstance(s, Comment):
                continue
            e = self.effects.of(s)
            if e.unknown or e.writes & reads:
                return False
            if effects.writes & (e.reads | e.writes):
                return False
        self._keep_alive(block, position, at, set(effects.writes))
        self._substitute(user, target, value)
        self.live[user] = self.live.get(block[position], self.live_out) | effects.writes
        del block[at]
        block[position] = user
        return True

    def _substitute(self, s: Node, target: str, value: Node) -> None:
        if target not in self.effects.of(s).reads:
            return
        for field in s._fields:
            old = getattr(s, field, None)
            if isinstance(old, gast.AST):
                setattr(s, field, _put_in(old, target, value))
            elif isinstance(old, list):
                for i, item in enumerate(old):
                    if not isinstance(item, gast.AST) or isinstance(item, Comment):
                        continue
                    if isinstance(item, gast.stmt | gast.match_case):
                        self._substitute(item, target, value)
                    else:
                        old[i] = _put_in(item, target, value)
        self.effects.forget(s, inside=False)


def _put_in(node: Node, target: str, value: Node) -> Node:
    """Return an expression with a name replaced; of a tuple that is written out, with its parts."""
    made = substitute(node, {target: value})
    return _Taken().visit(made) if isinstance(value, gast.Tuple) else made


class _Taken(gast.NodeTransformer):  # type: ignore[misc]
    def visit_Subscript(self, node: Node) -> Node:
        """`(x, y)[0]` is x, where nothing runs to make y."""
        node = self.generic_visit(node)
        elts = getattr(node.value, "elts", []) if isinstance(node.value, gast.Tuple) else []
        at = getattr(node.slice, "value", None) if isinstance(node.ctx, gast.Load) else None
        if type(at) is not int or not -len(elts) <= at < len(elts):
            return node
        rest = [e for i, e in enumerate(elts) if i != at % len(elts)]
        plain = all(isinstance(e, gast.Name) or is_constant(e) for e in rest)
        return elts[at] if plain else node


def _copies_back(s: Node, target: str, value: Node) -> bool:
    """Say whether `p = t` only gives p what it has already, after `t = p`."""
    return (
        type(value) is gast.Name
        and type(s) is gast.Assign
        and len(s.targets) == 1
        and type(s.targets[0]) is gast.Name
        and s.targets[0].id == value.id
        and type(s.value) is gast.Name
        and s.value.id == target
    )


def _evaluated(node: Node) -> Iterator[Node]:
    """Yield the expressions of a statement in the order of their evaluation."""
    if isinstance(node, gast.Assign | gast.AugAssign | gast.AnnAssign):
        yield from _evaluated(node.value)
        return
    for child in children(node):
        yield from _evaluated(child)
    yield node


def _read_first(s: Node, target: str) -> bool:
    """Say whether a statement reads a name before it computes anything."""
    called = {a for n in walk(s) if isinstance(n, gast.Call) for a in walk(n.func)}
    for n in _evaluated(s):
        if type(n) is gast.Name and n.id == target:
            return True
        path = isinstance(n, gast.Attribute) and n in called
        if isinstance(n, gast.expr) and not path and not isinstance(n, gast.Name | gast.Constant):
            return False
    return False


def _binds(s: Node, target: str) -> bool:
    if isinstance(s, Restore):
        return bool(s.name == target)
    return isinstance(s, gast.Assign) and any(
        isinstance(n, gast.Name) and n.id == target for t in s.targets for n in _leaves(t)
    )


def _leaves(target: Node) -> list[Node]:
    if isinstance(target, gast.Tuple | gast.List):
        return [leaf for e in target.elts for leaf in _leaves(e)]
    return [target]


def _count(s: Node, target: str) -> int:
    total = 0
    for n in walk(s):
        if type(n) is gast.Name and n.id == target and not isinstance(n.ctx, gast.Store):
            total += 1
        elif isinstance(n, Save) and n.name == target:
            total += 2
    return total


def _augments(s: Node, target: str) -> bool:
    """Say whether a statement changes the target, or a part of it, in place."""
    for n in (s,) if s.__class__ in _PLAIN else walk(s):
        if isinstance(n, gast.AugAssign | gast.Assign):
            places = [n.target] if isinstance(n, gast.AugAssign) else n.targets
            for place in places:
                if isinstance(place, gast.Name) and isinstance(n, gast.Assign):
                    continue
                base = place
                while isinstance(base, gast.Subscript | gast.Attribute):
                    base = base.value
                if isinstance(base, gast.Name) and base.id == target:
                    return True
    return False


# Statements in which no other stands.
_PLAIN = frozenset({gast.Assign, gast.AugAssign, gast.Expr, gast.Return})


def _statements(s: Node) -> Iterable[Node]:
    """Return a statement and those in its blocks."""
    return (s,) if s.__class__ in _PLAIN else all_inside([s])


def _heads(block: Block, position: int, at: int) -> bool:
    """Say whether another group of the backward sweep begins between two statements."""
    return any(isinstance(s, Comment) for s in block[position + 1 : at]) or is_compound(block[at])


def _arms_of(branch: Node) -> list[Block]:
    """Return the blocks of an if-elif-else chain, the last else included."""
    arms = [branch.body]
    other = branch.orelse
    while len(other) == 1 and isinstance(other[0], gast.If):
        arms.append(other[0].body)
        other = other[0].orelse
    arms.append(other)
    return arms


def _last_definition(arm: Block, target: str) -> Node | None:
    """Return the assignment at the top of an arm after which it reads the target no more."""
    for s in reversed(arm):
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            if s.targets[0].id == target:
                return s
        if target in names_read(s) or is_compound(s):
            return None
    return None


def _is_zero(definition: Node) -> bool:
    value = definition.value
    return isinstance(value, gast.Constant) and value.value == 0.0


def _ends_sweep(s: Node) -> bool:
    """Say whether a statement is the empty line between forward and backward sweep."""
    return isinstance(s, Comment) and not s.text


def _repacks(s: Node) -> bool:
    """Say whether a statement only puts values together in a tuple."""
    return isinstance(s, gast.Assign) and isinstance(s.value, gast.Tuple)


def _returnable(value: Node) -> bool:
    return _small(value) or (
        isinstance(value, gast.Tuple) and all(isinstance(e, gast.Name) for e in value.elts)
    )


def _cheap_item(value: Node) -> bool:
    """Say whether an expression is `xs[i]` of a name by a name."""
    return (
        isinstance(value, gast.Subscript)
        and isinstance(value.value, gast.Name)
        and isinstance(value.slice, gast.Name)
    )


def _small(value: Node) -> bool:
    return isinstance(value, gast.Name) or is_constant(value)


def _perhaps(s: Node, target: str) -> bool:
    """Say whether a use stands in an arm of a conditional, which may not be evaluated."""
    for n in walk(s):
        arms: list[Node] = []
        if isinstance(n, gast.IfExp):
            arms = [n.body, n.orelse]
        elif isinstance(n, gast.BoolOp):
            arms = n.values[1:]
        elif isinstance(n, gast.Compare):
            arms = n.comparators[1:]
        if any(target in names_read(arm) for arm in arms):
            return True
    return False


def _in_loop(s: Node, target: str) -> bool:
    """Say whether a use stands in a loop, where it would be computed every round."""
    if isinstance(s, gast.For):
        return target in set().union(*(names_read(x) for x in s.body), set())
    if isinstance(s, gast.While):
        return True
    return any(
        _in_loop(x, target) for part in blocks_of(s) for x in part if target in names_read(x)
    )


def _hides(s: Node, names: set[str]) -> bool:
    """Say whether an inner function binds names of its own that hide some of those outside."""
    if isinstance(s, gast.FunctionDef):
        params = {n.id for n in walk(s.args) if isinstance(n, gast.Name)}
        return bool((block_writes(s.body) | params) & names)
    return any(_hides(x, names) for part in blocks_of(s) for x in part)


def _in_scope(s: Node, target: str) -> bool:
    """Say whether a use stands in an inner function, which may run more than once."""
    return any(n.__class__ in _SCOPES and target in names_read(n) for n in walk(s))


_SCOPES = frozenset({gast.FunctionDef, gast.Lambda, gast.ListComp, gast.GeneratorExp})


def _size(node: Node) -> int:
    return sum(1 for n in walk(node) if isinstance(n, gast.expr))


def _size_of_use(s: Node) -> int:
    if is_compound(s):
        return 0
    return _size(s)
