"""Calls of functions that write the arrays they are given: these work on the caller's shadows.

    step(u, un)                   step_saved = step_forward(u, un)
                                  ...
                                  u_bar = step_reverse(step_saved, un_bar)

The reverse finds in `un_bar` the cotangent of what the call left in `un`, and leaves there the one
of what it found. Who reads the old content of `un` gets it back by a copy kept before the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.modes.structured import Contribution
from s2sad.modes.writes import Writes
from s2sad.nodes import Block, Node, assign, clone, name, subscript, substitute
from s2sad.stages import Link, RestorePart, Write

Undone = Callable[[Any, "Node | None"], tuple[Block, list[Contribution]]]


class WrittenCalls(Writes):
    """Undoes calls that write arrays; `undone` writes the pair and the call of its reverse."""

    undone: Undone
    call_writes: dict[Any, list[Write]]

    def undo_call(self, s: Node, variable: str | None) -> Block:
        """Undo a call that writes arrays, whose result may be bound to a variable."""
        same = s in self.aliases.same
        restore: Block = []
        seeded = False
        if variable is not None and not same:
            restore = [self._restore(variable, s)]
            seeded = self._has_own_cotangent(s, variable)
        out = self._comment(s)
        link = self.aliases.links_after.get(s, {}).get(variable or "")
        asked = variable in self.asked | self.split
        if asked and not same and variable is not None:
            varied = variable in self.activity.varied_after.get(s, frozenset())
            seeded = varied and (variable in self.live - self.asked or self.useful(s, variable))
            if variable in self.asked:
                self.live.discard(variable)
            link = None
        if seeded and variable is not None and link is not None:
            out += self._into_argument(s, variable, link)
            seeded = False
        bar: Node | None = None
        if seeded and asked and variable is not None:
            pre, bar = self.content_of(variable, self.kinds.after[s].get(variable, K.UNKNOWN))
            out += pre
        elif seeded and variable is not None:
            bar = name(self.bar(variable))
            if variable in self.read_by(s.value):
                held = self.names.fresh(f"{variable}_bar")
                self.bar_kinds[held] = self.kinds.after.get(s, {}).get(variable, K.UNKNOWN)
                if variable in self.arrays:
                    self.buffers.add(held)
                out.append(assign(held, bar))
                bar = name(held)
        backs = self._contents_back(s)
        if bar is None and not any(self._concerned(s, w.base) for w in self.call_writes[s]):
            return [*restore, *backs]
        if not same and any(w.base == variable for w in self.call_writes[s]):
            raise self.refuse(
                s,
                f"This call writes into the array `{variable}` and assigns its result to the "
                "same name; s2sad needs both values.",
                "Give the result another name.",
            )
        out += restore
        pre, found = self.undone(s, bar)
        for w in self.call_writes[s]:
            if w.base not in self.asked:
                self._none_twice(w.base, s)
        out += pre
        before = self.kinds.before[s]
        for c in found:
            out += self.add(c, before.get(c.operand, K.UNKNOWN), s)
        if s in self.kept:
            out.append(self._restore(self.kept[s], s))
        return [*out, *backs]

    def _has_own_cotangent(self, s: Node, variable: str) -> bool:
        """Say whether a result's cotangent is set, and no part of the shadow of an argument."""
        if variable in self.asked | self.split or variable not in self.live:
            return False
        self.live.discard(variable)
        if variable in self.aliased:
            self.aliased.discard(variable)
            return False
        if variable not in self.activity.varied_after.get(s, frozenset()):
            return False
        if variable in self.aliases.links_after.get(s, {}):
            return True
        shared = self.aliases.pairs_after.get(s, {}).get(variable, frozenset())
        for w in self.call_writes[s]:
            if shared & self.aliases.sharing(s, w.base):
                raise self.undecided(
                    s,
                    {variable, w.base},
                    f"The result of this call may share memory with `{w.base}`, which the "
                    "call writes, and s2sad cannot tell before the program runs which part "
                    "they share.",
                    f"Return nothing, or a copy, and use `{w.base}` after the call.",
                )
        return True

    def _into_argument(self, s: Node, variable: str, link: Link) -> Block:
        """A result that is a view of an argument passes its cotangent on to that one's shadow."""
        out: Block = []
        bar: Node = name(self.bar(variable))
        if self.wants_old(variable, name(link.base)):
            held = self.names.fresh(f"{variable}_bar")
            self.bar_kinds[held] = self.kinds.after[s].get(variable, K.UNKNOWN)
            self.buffers.add(held)
            out.append(assign(held, bar))
            bar = name(held)
        out += self.ensure(link.base, self.kinds.before[s].get(link.base, K.UNKNOWN), s)
        place = substitute(clone(link.value), {link.base: name(self.bar(link.base))})
        place.ctx = gast.Store()
        return [*out, gast.AugAssign(place, gast.Add(), bar)]

    def _contents_back(self, s: Node) -> Block:
        """Return what puts back the content of the arrays that a call wrote, where it is read."""
        out: Block = []
        for w in self.call_writes[s]:
            reached = self.aliases.reaching(s, w.base)
            back = RestorePart(whole_of(w.base, w.owner), ("part", s, w.base), reached)
            back.stays = w.base in self.asked
            out.append(back)
        return out

    def _restore(self, variable: str, key: Any) -> Node:
        raise NotImplementedError


def whole_of(written: str, owner: K.Kind) -> Node:
    """Return `A[...]`, the content of an array; of a list it is `A[:]`."""
    every = gast.Slice(None, None, None)
    index = every if isinstance(owner, K.List) else gast.Constant(Ellipsis, None)
    return subscript(name(written), index)
