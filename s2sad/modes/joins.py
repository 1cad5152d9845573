"""Backward through branches: each arm from one state, to a state that all arms share.

    u = d["a"]                        if p:
    if p:                                 d_bar = zeros_like(d)
        u = v                  ->         u_bar = d_bar["a"]
    return np.sum(u * w)              else:
                                          d_bar = zeros_like(d)
                                          u_part_bar = u_bar
                                          u_bar = d_bar["a"]
                                          u_bar += u_part_bar

A cotangent that is a part of another one before some arm is so before all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.modes.notes import Chain, raises
from s2sad.modes.structured import Contribution
from s2sad.modes.tries import Tries
from s2sad.nodes import (
    Block,
    Node,
    always_leaves,
    assign,
    block_writes,
    constant,
    exhaustive,
    name,
    stand_in,
)
from s2sad.stages import Restore


@dataclass
class _Arm:
    """What undoes an arm of a branch, and the cotangents set, and views of others, before it."""

    code: Block
    live: set[str]
    views: set[str]


class Joins(Tries):
    """Undoes branches."""

    ends: Any

    def _with_restored_deaths(self, s: Node, body: Block) -> Block:
        """Undo a block, names that end with it included."""
        raise NotImplementedError

    def chain(self, s: Node) -> Block:
        """Undo a branch: each arm from the same state, to a state that all arms share."""
        chain = self.notes.chains[s]
        self.forget_asked()
        start, views = frozenset(self.live), frozenset(self.aliased)
        arms: list[_Arm] = []
        ends: list[_Arm] = []
        shared = self.shared
        for body in chain.arms:
            self.live, self.aliased = set(start), set(views)
            self.shared = shared | (self.elements.keys() - block_writes(body))
            code = self._with_restored_deaths(s, body)
            self.forget_asked()
            arms.append(_Arm(code, self.live, self.aliased & self.live))
            if not raises(body):
                ends.append(arms[-1])
        self.at(s)
        self.shared = shared
        if isinstance(s, gast.Match) and not exhaustive(s):
            arms.append(_Arm([], set(start), set(views)))
            ends.append(arms[-1])
        self._meet(ends, s)
        before = self.kinds.before[s]
        live = ends[0].live if ends else set()
        self.live = {n for n in live if not isinstance(before.get(n, K.UNBOUND), K.Unbound)}
        self.aliased = set(ends[0].views) if ends else set()
        selected = self._select(chain, [arm.code for arm in arms])
        for branch in selected if len(arms) > 1 else ():
            stand_in(branch, self.function.origins.get(s, s), self.function.source)
        return self._taken(s, chain) + selected + self._untaken(s, chain)

    def _meet(self, ends: list[_Arm], s: Node) -> None:
        """Set what other arms set, and make views what other arms have as views."""
        while True:
            live = frozenset().union(*(end.live for end in ends))
            views = frozenset().union(*(end.views for end in ends))
            added = False
            for end in ends:
                self.live, self.aliased = end.live, end.views
                code = self._fill(live, s)
                for n in sorted((views - self.aliased) & self.live):
                    code += self._into_view(n, s)
                end.code += code
                added = added or bool(code)
            if not added:
                return

    def _into_view(self, variable: str, s: Node) -> Block:
        """Add a cotangent to the part of a shadow that other arms have in its place."""
        kind = self.kinds.before[s].get(variable, K.UNKNOWN)
        held = self.names.fresh(f"{variable}_part_bar")
        self.held.add(held)
        self.bar_kinds[held] = kind
        out: Block = [assign(held, name(self.bar(variable)))]
        self.live.discard(variable)
        out += self.ensure(variable, kind, s)
        return [*out, *self.add(Contribution(variable, name(held)), kind, s)]

    def _taken(self, s: Node, chain: Chain) -> Block:
        """A note that ends a round is kept apart: it is wanted before all else of the round."""
        if self.ends.exit_note(s, chain) != "taped":
            return []
        return [Restore(chain.note, ("note", s, chain.note))]

    def _untaken(self, s: Node, chain: Chain) -> Block:
        """All rounds but the last took the one arm that goes on."""
        if self.ends.exit_note(s, chain) != "last":
            return []
        going_on = [i for i, arm in enumerate(chain.arms) if not always_leaves(arm)]
        return [assign(chain.note or "", constant(going_on[0]))]

    def _fill(self, wanted: frozenset[str], s: Node) -> Block:
        out: Block = []
        before = self.kinds.before[s]
        for n in sorted(wanted - self.live - self.asked):
            kind = before.get(n, K.UNBOUND)
            if not isinstance(kind, K.Unbound):
                out += self.ensure(n, kind, s)
        return out

    def _select(self, chain: Chain, sweeps: list[Block]) -> Block:
        """Return the backward sweep's if-chain over the arms."""
        if chain.note is None:
            code: Block = sweeps[len(chain.tests)]
            for position in range(len(chain.tests) - 1, -1, -1):
                code = [gast.If(chain.test(position), sweeps[position], code)]
            return code
        code = sweeps[-1]
        for position in range(len(sweeps) - 2, -1, -1):
            code = [gast.If(chain.test(position), sweeps[position], code)]
        return code
