"""The forward sweep: the user's program as it stands, with its notes and what may be saved."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

import gast

from s2sad.modes.endings import Endings, anchor, split_exit
from s2sad.modes.hooks import is_hook, sets_flags, stopped_by
from s2sad.modes.notes import Chain, Notes, note_rounds
from s2sad.modes.written_calls import whole_of
from s2sad.nodes import Block, Node, assign, clone, constant, exhaustive, locate, names_written
from s2sad.stages import Function, KindFacts, Save, SavePart, Write


class Forward:
    """Writes the forward sweep; `replaced` are calls whose forwards also return what is saved.

    `looks` are done before a statement: they refuse what has no derivative.
    `entries` say what is kept before statements that change a dict of open keys. `stop` is the name
    of stop_gradient, where the text must say what has no derivative.
    """

    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        notes: Notes,
        ends: Endings,
        replaced: dict[Any, Node],
        array_writes: set[Any],
        call_writes: Mapping[Any, list[Write]],
        inert: Container[Any] = (),
        looks: Mapping[Any, Node] | None = None,
        entries: Mapping[Any, Node] | None = None,
        stop: str = "",
    ) -> None:
        self.stop = stop
        self.looks = looks or {}
        self.inert = inert
        self.entries = entries or {}
        self.function = function
        self.kinds = kinds
        self.notes = notes
        self.ends = ends
        self.replaced = replaced
        self.array_writes = array_writes
        self.call_writes = call_writes

    def forward(self, body: Block) -> Block:
        out: Block = []
        for s in body:
            out += self.forward_statement(s)
        return out

    def forward_statement(self, s: Node) -> Block:
        if isinstance(s, gast.If):
            return self._forward_if(s)
        if isinstance(s, gast.Match):
            cases = []
            chain = self.notes.chains[s]
            for i, case in enumerate(s.cases):
                arm = self._forward_arm(s, chain, i, case.body)
                cases.append(gast.match_case(case.pattern, case.guard, arm))
            start = [] if exhaustive(s) else [assign(chain.note or "", constant(len(s.cases)))]
            return [*start, gast.Match(s.subject, cases)]
        if isinstance(s, gast.Try) and s not in self.inert:
            return self._forward_try(s)
        if isinstance(s, gast.For | gast.While):
            return self._forward_loop(s)
        if isinstance(s, gast.Break):
            return [locate(gast.Break(), s)]
        if isinstance(s, gast.With) and s not in self.inert:
            bound = [v for i in s.items if (v := i.optional_vars) is not None]
            saves = [Save(n, ("over", s, n)) for v in bound for n in sorted(names_written(v))]
            return [*saves, gast.With(s.items, self.forward(s.body), None)]
        if is_hook(s, self.kinds) or sets_flags(s, self.kinds):
            return []
        replaced = self.replaced.get(s) or stopped_by(self.stop, s, self.function, self.kinds)
        looks = [self.looks[s]] if s in self.looks else []
        return [*looks, *self._saves(s), replaced if replaced is not None else clone(s)]

    def _saves(self, s: Node) -> Block:
        same = not self.stop and self.function.stays(s)
        written = set[str]() if same else names_written(s)
        if s in self.ends.kept:
            written = written | {self.ends.kept[s]}
        saves = [Save(n, ("over", s, n)) for n in sorted(written)]
        if s in self.array_writes:
            place = self.entries.get(s)
            if place is None:
                place = clone(s.target if isinstance(s, gast.AugAssign) else s.targets[0])
                place.ctx = gast.Load()
            saves.append(SavePart(place, ("part", s)))
        for w in self.call_writes.get(s, ()):
            saves.append(SavePart(whole_of(w.base, w.owner), ("part", s, w.base)))
        return saves

    def _forward_if(self, s: Node) -> Block:
        verdict = self.kinds.decided.get(s)
        if verdict is not None:
            return self.forward(s.body if verdict else s.orelse)
        chain = self.notes.chains[s]
        code = self._forward_arm(s, chain, len(chain.arms) - 1, chain.arms[-1])
        for position in range(len(chain.tests) - 1, -1, -1):
            arm = self._forward_arm(s, chain, position, chain.arms[position])
            code = [gast.If(clone(chain.tests[position]), arm, code)]
        return code

    def _forward_try(self, s: Node) -> Block:
        """The try as it stands, with a note of the handler that went on from it, if any."""
        chain = self.notes.chains.get(s)
        if chain is None:
            body, orelse = self.forward(s.body), self.forward(s.orelse)
            handlers = [self.forward(h.body) for h in s.handlers]
        else:
            body, orelse = self._done(s, chain)
            handlers = [self._forward_arm(s, chain, i, h.body) for i, h in enumerate(s.handlers, 1)]
        caught = [
            gast.ExceptHandler(h.type, h.name, b) for h, b in zip(s.handlers, handlers, strict=True)
        ]
        start = [assign(chain.note or "", constant(0))] if chain is not None else []
        return [*start, locate(gast.Try(body, caught, orelse, self.forward(s.finalbody)), s)]

    def _done(self, s: Node, chain: Chain) -> tuple[Block, Block]:
        """Return the body and the else: what ends with them is saved when all is done."""
        whole = chain.arms[0]
        at, _ = split_exit(whole)
        ends: Block = [
            Save(n, ("death", anchor(s, whole), n)) for n in sorted(self.ends.dying(s, whole))
        ]
        if self.ends.exit_note(s, chain) == "taped":
            ends.append(Save(chain.note, ("note", s, chain.note)))
        first = len(s.body)
        if at < first or not s.orelse:
            return self._ending(s.body, at, ends), self.forward(s.orelse)
        return self.forward(s.body), self._ending(s.orelse, at - first, ends)

    def _ending(self, block: Block, at: int, ends: Block) -> Block:
        """Return a block's forward sweep with what is saved at its end, before it may leave."""
        return [*self.forward(block[:at]), *ends, *self.forward(block[at:])]

    def _forward_arm(self, s: Node, chain: Chain, position: int, body: Block) -> Block:
        start: Block = []
        if chain.note is not None:
            start.append(assign(chain.note, constant(position)))
            if self.ends.exit_note(s, chain) == "taped":
                start.append(Save(chain.note, ("note", s, chain.note)))
        return start + self._with_deaths(s, body)

    def _with_deaths(self, s: Node, body: Block) -> Block:
        """Return a block's forward sweep, with the saves of what ends with it."""
        self.ends.loops.append(s) if isinstance(s, gast.For | gast.While) else None
        at, _ = split_exit(body)
        code = self.forward(body[:at])
        if isinstance(s, gast.For | gast.While):
            dying = self.ends.dying(s, body)
        else:
            dying = self.ends.dying(s, body)
        code += [Save(n, ("death", anchor(s, body), n)) for n in sorted(dying)]
        code += self.forward(body[at:])
        if isinstance(s, gast.For | gast.While):
            self.ends.loops.pop()
        return code

    def _forward_loop(self, s: Node) -> Block:
        out: Block = []
        rounds = self.notes.rounds.get(s)
        for stop, bound in self.notes.stops.get(s, {}).items():
            out.append(assign(stop, clone(bound)))
        body: Block = []
        if rounds is not None:
            start, step = note_rounds(rounds)
            out.append(start)
            body.append(step)
        body += self._with_deaths(s, s.body)
        if isinstance(s, gast.While):
            loop = gast.While(clone(s.test), body, [])
        else:
            out += [Save(n, ("over", s, n)) for n in sorted(names_written(s.target))]
            loop = gast.For(clone(s.target), clone(s.iter), body, [], None)
        loop.undoes = s
        return [*out, loop]
