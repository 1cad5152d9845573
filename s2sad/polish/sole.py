"""Memory that only one name has: it may go to who comes next, and needs no copy for that.

x_bar = np.reshape(t_bar, x.shape).copy()    ->    x_bar = np.reshape(t_bar, x.shape)
f_reverse(y_bar)                             ->    f_reverse(y_bar.copy())

The first where t_bar was made here, has no other name and is not looked at any more; the second
where that is not so and the reverse uses up what it is given.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from s2sad.known.callees import Callees
from s2sad.nodes import Block, Node, attribute, blocks_of, call, copied, names_read, walk
from s2sad.polish.effects import mutated_by
from s2sad.polish.own import shared_by
from s2sad.syntax.flow import live_in

Names = frozenset[str]


def hand_over(
    block: Block,
    live_out: Names,
    callees: Callees,
    fresh_calls: set[str],
    consuming: set[str],
    kept: Names,
) -> Block:
    """Return a block in which memory changes hands without a copy where nobody else has it.

    `callees` tells expressions that make a new array, as functions in `fresh_calls` do; those in
    `consuming` use up their last argument. What is `kept` belongs to somebody else.
    """
    if not consuming and not any(_copied_view(s, callees) for s in _statements(block)):
        return block
    worker = _Hands(callees, fresh_calls, consuming, kept)
    live_in(block, live_out, worker.live.__setitem__)
    worker.survey(block)
    worker.block(block)
    return block


def _statements(block: Block) -> Iterator[Node]:
    for s in block:
        yield s
        for part in blocks_of(s):
            yield from _statements(part)


def _copied_view(s: Node, callees: Callees) -> Node | None:
    """Return the array of which a statement binds a name to the copy of a view, if it does."""
    if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
        return None
    return callees.shown(copied(s.value))


class _Hands:
    def __init__(
        self,
        callees: Callees,
        fresh_calls: set[str],
        consuming: set[str],
        kept: Names,
    ) -> None:
        self.callees = callees
        self.fresh_calls = fresh_calls
        self.consuming = consuming
        self.live: dict[object, Names] = {}
        self.made: set[str] = set()
        self.loose: set[str] = set(kept)
        self.lent: dict[str, list[Node]] = {}

    def fresh(self, node: Node) -> bool:
        """Say whether an expression surely makes an array that nothing else has."""
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Name):
            if self.callees.fits(node):
                return self.fresh(node.args[0])
            return node.func.id in self.fresh_calls
        return not isinstance(node, gast.Constant) and self.callees.is_new(node)

    def survey(self, block: Block) -> None:
        """Note which names are bound to new arrays only, and which statements share them."""
        for s in block:
            parts = blocks_of(s)
            for part in parts:
                self.survey(part)
            if isinstance(s, gast.For):
                self.loose |= {n.id for n in walk(s.target) if isinstance(n, gast.Name)}
                self._lend(s, names_read(s.iter))
            elif isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                (self.made if self.fresh(s.value) else self.loose).add(s.targets[0].id)
                self._lend(s, self._shared(s.value))
            elif isinstance(s, gast.Assign):
                self.loose |= {
                    n.id
                    for t in s.targets
                    for n in walk(t)
                    if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
                }
                self._lend(s, self._shared(s.value))
            elif isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
                if mutated_by(s.value) is None or getattr(s.value.func, "attr", "") != "at":
                    self._lend(s, names_read(s))
            elif not parts and not isinstance(s, gast.AugAssign):
                self._lend(s, names_read(s))

    def _lend(self, s: Node, names: set[str]) -> None:
        for n in names:
            self.lent.setdefault(n, []).append(s)

    def _shared(self, node: Node) -> set[str]:
        return set() if self.fresh(node) else shared_by(node, self.callees)

    def sole(self, name: str, at: Node) -> bool:
        """Say whether a name has its memory alone, and nobody looks at it after a statement."""
        if name not in self.made or name in self.loose:
            return False
        if any(s is not at for s in self.lent.get(name, [])):
            return False
        return name not in self.live.get(at, frozenset({name}))

    def block(self, block: Block) -> None:
        for s in block:
            for part in blocks_of(s):
                self.block(part)
            self._keep(s)
            if not blocks_of(s):
                for n in list(walk(s)):
                    if isinstance(n, gast.Call) and isinstance(n.func, gast.Name):
                        if n.func.id in self.consuming:
                            self._give(s, n)

    def _keep(self, s: Node) -> None:
        """Drop the copy of a view of what nobody else has."""
        source = _copied_view(s, self.callees)
        if source is None:
            return
        mine = isinstance(source, gast.Name) and self.sole(source.id, s)
        if mine or self.fresh(source):
            s.value = copied(s.value)

    def _give(self, s: Node, made: Node) -> None:
        """Copy what a reverse would use up while somebody else has it."""
        given = made.args[-1]
        if self.fresh(given):
            return
        if isinstance(given, gast.Name) and self.sole(given.id, s):
            if sum(isinstance(n, gast.Name) and n.id == given.id for n in walk(s)) == 1:
                return
        made.args[-1] = call(attribute(given, "copy"))
