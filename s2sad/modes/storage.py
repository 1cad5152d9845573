"""Decide what is kept for the backward sweep, and how.

A Restore whose value nobody reads is dropped with its Save. Outside loops the old value keeps
another name:

    Save(x)                x_0 = x                       Restore(x)     x = x_0
    x = z * z + x    ->    x = z * z + x

In a loop each block of statements appends one tuple per round, and the backward sweep pops it
where the first of its values is wanted:

    Save(h)                saved.append(h)               Restore(h)     h = saved.pop()
    h = np.tanh(W @ h)  ->  h = np.tanh(W @ h)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad.causes import Kept
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    assign_tuple,
    attribute,
    blocks_of,
    call,
    clone,
    compare,
    constant,
    is_whole,
    locate,
    name,
    names_read,
    names_written,
    subscript,
    tuple_,
    walk,
)
from s2sad.stages import Replay, Restore, RestorePart, Save, SavePart, Undo
from s2sad.syntax.flow import live_in, rebinds

LOOPS = (gast.For, gast.While)


@dataclass
class Tapes:
    """What storage made up: the stacks, by the forward loop that fills them."""

    stacks: dict[Any, str] = field(default_factory=dict)
    every_round: set[Any] = field(default_factory=set)


@dataclass(frozen=True)
class Held:
    """Who holds old values: names and stacks, each with the variable whose value it was.

    A write into the variable's memory changes what lies on a stack, but a push or a pop changes
    no memory. `parts` are the statements that put something else where memory was: what is kept of
    that is the memory itself. `causes` say of all that is kept why.
    """

    parts: frozenset[Any] = frozenset()
    names: set[tuple[str, str]] = field(default_factory=set)
    stacks: set[tuple[str, str]] = field(default_factory=set)
    causes: dict[Any, Kept] = field(default_factory=dict)

    def note(self, save: Node, item: str, holder: str, first: Any = None) -> None:
        """Note what is kept where a Save stands; `first` is the one that its group begins with."""
        over = (save.key[1],) if save.key[0] in ("over", "part") else ()
        number = len(self.causes)
        group = (number, 0)
        if first is not None and first in self.causes:
            begun = self.causes[first].group[0]
            group = (begun, number - begun)
        self.causes[save.key] = Kept(_saved_name(save), item, holder, over, group=group)


def store_values(
    forward: Block,
    backward: Block,
    live_out: frozenset[str],
    names: Names,
    params: set[str],
    elements: frozenset[Any] = frozenset(),
    held: Held | None = None,
    copied: Mapping[str, Node] | None = None,
    apart: bool = False,
) -> tuple[Block, Block]:
    """Return both sweeps with every Save and Restore decided.

    Stacks that are `apart` hold what one block appends: all their items are of one kind.

    `elements` are the statements that overwrite one number of an array: that needs no copy.
    `held` gets the names, and the stacks, that hold old values. Of variables whose memory belongs
    to others it is copies, as in `copied`.
    """
    kept = held or Held()
    worker = _Storage(wanted(backward, live_out), names, elements, kept, copied or {}, apart)
    forward, plan = worker.forward_block(forward, None), worker
    backward = plan.backward_block(backward)
    backward = _while_saved(backward, worker.tapes)
    forward = bind_unbound(forward, params, worker.taken)
    stacks = {*worker.tapes.stacks.values(), *worker.notes.values(), *worker.further}
    return unwound(forward, stacks, names), backward


def unwound(forward: Block, stacks: set[str], names: Names) -> Block:
    """What the body of a try has put on a stack is taken off where it does not end.

    The handlers' backward sweeps find the stacks as the try found them.
    """
    out: Block = []
    for s in forward:
        for part in blocks_of(s):
            part[:] = unwound(part, stacks, names)
        if isinstance(s, gast.Try) and s.handlers:
            for stack in sorted(_pushed(s.body, stacks)):
                height = names.fresh(f"{stack}_height")
                out.append(assign(height, call("len", name(stack))))
                rest = subscript(name(stack), gast.Slice(name(height), None, None))
                rest.ctx = gast.Del()
                for h in s.handlers:
                    h.body.insert(0, gast.Delete([clone(rest)]))
        out.append(s)
    return out


def _pushed(body: Block, stacks: set[str]) -> set[str]:
    """Return the stacks onto which the body of a try pushes before something that may raise."""
    at = len(body)
    while at and _only_pushes(body[at - 1], stacks):
        at -= 1
    made = set().union(*(names_written(s) for s in body), set())
    return set().union(*(_pushes(s) for s in body[:at]), set()) & stacks - made


def _only_pushes(s: Node, stacks: set[str]) -> bool:
    return isinstance(s, gast.Break) or (isinstance(s, gast.Expr) and bool(_pushes(s) & stacks))


def _pushes(s: Node) -> set[str]:
    """Return the lists to which a statement appends."""
    found: set[str] = set()
    for n in walk(s):
        if isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute):
            if n.func.attr == "append" and isinstance(n.func.value, gast.Name):
                found.add(n.func.value.id)
    return found


def wanted(backward: Block, live_out: frozenset[str]) -> set[Any]:
    """Return the keys of the Restores, and the Undos, whose value is read afterwards."""
    found: dict[Any, bool] = {}

    def note(statement: Any, live: frozenset[str]) -> None:
        if isinstance(statement, Restore):
            found[statement.key] = statement.name in live
        elif isinstance(statement, RestorePart):
            found[statement.key] = bool(live & statement.sharing)
            statement.binds = rebinds(statement, live)
        elif isinstance(statement, Undo):
            found["undo", statement] = statement.name in live

    live_in(backward, live_out, note)
    return {key for key, yes in found.items() if yes}


class _Storage:
    """Holds the decision per key between the two walks."""

    def __init__(
        self,
        wanted: set[Any],
        names: Names,
        elements: frozenset[Any],
        held: Held,
        copied: Mapping[str, Node],
        apart: bool = False,
    ) -> None:
        self.apart = apart
        self.further: set[str] = set()
        self.held = held
        self.copied = copied
        self.wanted = wanted
        self.elements = elements
        self.names = names
        self.tapes = Tapes()
        self.named: dict[Any, str] = {}
        self.groups: dict[Any, _Group] = {}
        self.taken: set[str] = set()
        self.notes: dict[Any, str] = {}
        self.note_stacks: dict[Any, list[str]] = {}

    # forward

    def forward_block(self, block: Block, outermost: Any) -> Block:
        if outermost is None:
            return self._forward_named(block)
        return self._forward_taped(block, outermost)

    def _inside(self, statement: Node, outermost: Any) -> Block:
        """Decide for the blocks of a statement; return what must stand before it."""
        before: Block = []
        if isinstance(statement, LOOPS) and outermost is None:
            outermost = statement
        for part in blocks_of(statement):
            part[:] = self.forward_block(part, outermost)
        if statement is outermost and statement in self.tapes.stacks:
            stack = self.tapes.stacks[statement]
            before.append(assign(stack, gast.List([], gast.Load())))
        if statement is outermost:
            for stack in self.note_stacks.get(statement, []):
                before.append(assign(stack, gast.List([], gast.Load())))
        return before

    def _forward_named(self, block: Block) -> Block:
        out: Block = []
        for statement in block:
            if isinstance(statement, Save | SavePart):
                if statement.key in self.wanted and statement.key[0] != "note":
                    saved = _saved_name(statement)
                    kept = self.names.numbered(saved)
                    self.named[statement.key] = kept
                    if isinstance(statement, Save) or statement.key[1] in self.held.parts:
                        self.held.names.add((kept, saved))
                    self.taken.add(saved)
                    self.held.note(statement, kept, kept)
                    out.append(assign(kept, self._value(statement)))
                continue
            out += self._inside(statement, None)
            out.append(statement)
        return out

    def _forward_taped(self, block: Block, outermost: Any) -> Block:
        saves = [
            (position, s)
            for position, s in enumerate(block)
            if isinstance(s, Save | SavePart) and s.key in self.wanted and s.key[0] != "note"
        ]
        group = None
        if saves:
            stack = self.tapes.stacks.get(outermost)
            if stack is None:
                stack = self.names.fresh("saved")
                self.tapes.stacks[outermost] = stack
            elif self.apart:
                stack = self.names.fresh("saved")
                self.further.add(stack)
                self.note_stacks.setdefault(outermost, []).append(stack)
            group = self._group(block, saves, stack)
            if block is outermost.body:
                self.tapes.every_round.add(outermost.undoes)
        out: Block = []
        for position, statement in enumerate(block):
            if isinstance(statement, Save | SavePart):
                if statement.key[0] == "note" and statement.key in self.wanted:
                    out.append(self._note(statement, outermost))
                elif group is not None and statement.key in self.wanted:
                    out += group.at(position, statement)
                continue
            out += self._inside(statement, outermost)
            out.append(statement)
        return out

    def _note(self, save: Node, outermost: Any) -> Node:
        """Append a note to a stack of its own."""
        if save.key not in self.notes:
            self.notes[save.key] = self.names.fresh(f"{save.name}_saved")
            self.note_stacks.setdefault(outermost, []).append(self.notes[save.key])
        self.held.note(save, save.name, self.notes[save.key])
        stack = attribute(name(self.notes[save.key]), "append")
        return gast.Expr(call(stack, name(save.name)))

    def _group(self, block: Block, saves: list[tuple[int, Any]], stack: str) -> _Group:
        last = saves[-1][0]
        entries: list[_Entry] = []
        for position, save in saves:
            saved = _saved_name(save)
            self.taken.add(saved)
            value = self._value(save)
            if isinstance(save, SavePart):
                held = self.names.numbered(saved) if position < last else None
                if save.key[1] in self.held.parts:
                    self.held.names.update({(held, saved)} if held is not None else set())
                    self.held.stacks.add((stack, saved))
                self.held.note(save, held or saved, stack, saves[0][1].key)
                entries.append(_Entry(save.key, None, held, value))
                continue
            between: set[str] = set()
            for s in block[position + 1 : last]:
                if not isinstance(s, Save | SavePart):
                    between |= names_written(s)
            apart = saved in between or saved in self.copied
            held = self.names.numbered(saved) if apart else saved
            self.held.names.add((held, saved))
            self.held.stacks.add((stack, saved))
            self.held.note(save, held, stack, saves[0][1].key)
            entries.append(_Entry(save.key, saved, held, value))
        group = _Group(stack, entries, last)
        for entry in entries:
            self.groups[entry.key] = group
        return group

    def _value(self, save: Node) -> Node:
        """Return what is kept: a reference, or a copy of the content that is overwritten."""
        if isinstance(save, Save):
            lent = self.copied.get(save.name)
            return name(save.name) if lent is None else clone(lent)
        place = clone(save.place)
        if save.key[1] in self.elements:
            return place
        if is_whole(place):
            place = place.value
        return call(attribute(place, "copy"))

    # backward

    def backward_block(self, block: Block) -> Block:
        out: Block = []
        for position, statement in enumerate(block):
            if isinstance(statement, Undo):
                if ("undo", statement) in self.wanted:
                    shorter = gast.Slice(None, constant(-1), None)
                    left = subscript(name(statement.name), shorter)
                    out.append(assign(statement.name, left))
                continue
            if not isinstance(statement, Restore | RestorePart):
                for part in blocks_of(statement):
                    part[:] = self.backward_block(part)
                out.append(statement)
                continue
            if statement.key not in self.wanted:
                continue
            if isinstance(statement, Replay):
                out.append(statement.action)
                continue
            if statement.key[0] == "note":
                popped = call(attribute(name(self.notes[statement.key]), "pop"))
                out.append(assign(statement.name, popped))
                continue
            if statement.key in self.named:
                out += self._put_back(statement, self.named[statement.key])
                continue
            out += self._restore(block, position, statement)
        return out

    def _restore(self, block: Block, position: int, statement: Node) -> Block:
        """Pop the group's tuple at its first Restore; later ones copy from the names popped to."""
        group = self.groups[statement.key]
        if group.popped is None:
            group.popped = self._pop_names(block, position, group)
            targets = [group.popped[e.key] for e in group.entries]
            source = call(attribute(name(group.stack), "pop"))
            if len(targets) == 1:
                pop = assign(targets[0], source)
            else:
                pop = assign_tuple(targets, source)
            return [pop, *self._from_popped(statement, group)]
        return self._from_popped(statement, group)

    def _from_popped(self, statement: Node, group: _Group) -> Block:
        own = (group.popped or {})[statement.key]
        if isinstance(statement, Restore) and own == statement.name:
            return []
        return self._put_back(statement, own)

    def _put_back(self, restore: Node, kept: str) -> Block:
        """Return `x = x_0`, or `A[i] = A_0` where a part was kept.

        A variable that is bound to what was kept is that memory: views made of it later are, too.
        """
        of_memory = restore.key[1] in self.held.parts
        if isinstance(restore, RestorePart) and (restore.binds or of_memory):
            self.held.names.add((kept, _base_of(restore.place)))
        return _put_back(restore, kept)

    def _pop_names(self, block: Block, position: int, group: _Group) -> dict[Any, str]:
        """Choose what each value is popped to: its own name, where nobody reads that before."""
        chosen: dict[Any, str] = {}
        used: set[str] = set()
        places = {s.key: i for i, s in enumerate(block) if isinstance(s, Restore | RestorePart)}
        for entry in group.entries:
            if entry.name is None:
                base = entry.held or self.names.numbered(_base_of(entry.value))
                chosen[entry.key] = base
                used.add(base)
                continue
            first = block[position]
            touched = names_read(first.place) if isinstance(first, RestorePart) else set()
            for s in block[position + 1 : places[entry.key]]:
                if isinstance(s, Restore | RestorePart) and s.key not in self.wanted:
                    continue
                touched |= names_read(s) | names_written(s)
            free = entry.name not in touched and entry.name not in used
            chosen[entry.key] = entry.name if free else self.names.numbered(entry.name)
            used.add(chosen[entry.key])
            self.held.names.add((chosen[entry.key], entry.name))
        return chosen


def _saved_name(save: Node) -> str:
    """Return the name under which something saved is known."""
    return str(save.name) if isinstance(save, Save) else _base_of(save.place)


def _base_of(place: Node) -> str:
    while not isinstance(place, gast.Name):
        place = place.func if isinstance(place, gast.Call) else place.value
    return str(place.id)


def _put_back(restore: Node, kept: str) -> Block:
    """Return `x = x_0`, or `A[i] = A_0` where a part was kept."""
    if isinstance(restore, Restore):
        return [assign(restore.name, name(kept))]
    if restore.binds:
        return [assign(restore.place.value.id, name(kept))]
    if restore.entry == "dropped":
        owner = restore.place.value
        return [
            gast.Expr(call(attribute(clone(owner), "clear"))),
            gast.Expr(call(attribute(clone(owner), "update"), name(kept))),
        ]
    place = clone(restore.place)
    place.ctx = gast.Store()
    back = gast.Assign([place], name(kept), None)
    if restore.entry == "set":
        gone = clone(restore.place)
        gone.ctx = gast.Del()
        test = compare(name(kept), gast.Is, gast.Constant(None, None))
        return [gast.If(test, [gast.Delete([gone])], [back])]
    return [back]


@dataclass(frozen=True)
class _Entry:
    """One value of a group: of a name (or of a part: None), held under a name until the push."""

    key: Any
    name: str | None
    held: str | None
    value: Any


@dataclass
class _Group:
    """What one block of a loop appends per round."""

    stack: str
    entries: list[_Entry]
    last: int
    popped: dict[Any, str] | None = None

    def at(self, position: int, save: Node) -> Block:
        """Return what stands where a Save stood: a copy kept until the push, or the push."""
        out: Block = []
        entry = next(e for e in self.entries if e.key == save.key)
        if entry.held is not None and entry.held != entry.name:
            out.append(assign(entry.held, entry.value))
        if position == self.last:
            values = [name(e.held) if e.held is not None else e.value for e in self.entries]
            value = values[0] if len(values) == 1 else tuple_(values)
            out.append(gast.Expr(call(attribute(name(self.stack), "append"), value)))
        return out


def _while_saved(backward: Block, tapes: Tapes) -> Block:
    """Run a loop backward for as long as its stack lasts, where every round pushed to it."""
    stacks = {loop.undoes: stack for loop, stack in tapes.stacks.items()}
    out: Block = []
    for statement in backward:
        if isinstance(statement, gast.For) and hasattr(statement, "undoes"):
            loop = statement.undoes
            index = statement.target.id
            read = set().union(*(names_read(s) for s in statement.body), set())
            if loop in tapes.every_round and index not in read:
                while_ = gast.While(name(stacks[loop]), statement.body, [])
                while_.undoes = loop
                out.append(locate(while_, statement))
                continue
        elif not isinstance(statement, LOOPS):
            for part in blocks_of(statement):
                part[:] = _while_saved(part, tapes)
        out.append(statement)
    return out


def bind_unbound(
    forward: Block,
    params: set[str],
    saved: set[str],
    stacks: frozenset[str] | set[str] = frozenset(),
) -> Block:
    """Bind at the start what is saved where no value may have reached it yet.

    Stacks start empty, everything else is None.
    """
    unbound: set[str] = set()

    def visit(block: Block, bound: set[str]) -> set[str] | None:
        """Return the names surely bound at the end of a block, or None where it is not reached."""
        current: set[str] | None = set(bound)
        for s in block:
            if current is None:
                return None
            parts = blocks_of(s)
            if not parts:
                unbound.update((names_read(s) & saved) - current)
            if isinstance(s, gast.Break | gast.Raise):
                return None
            if isinstance(s, gast.If):
                ends = [visit(part, current) for part in parts]
                alive = [e for e in ends if e is not None]
                current = set.intersection(*alive) if alive else None
            elif isinstance(s, gast.For | gast.While):
                inner = set(current)
                if isinstance(s, gast.For):
                    inner |= names_written(s.target)
                visit(s.body, inner)
            elif isinstance(s, gast.Match):
                for part in parts:
                    visit(part, current | set().union(*(names_written(c.pattern) for c in s.cases)))
            elif isinstance(s, gast.With):
                current = visit(s.body, current)
            elif isinstance(s, gast.Try):
                done = visit(s.body, current)
                done = visit(s.orelse, done) if done is not None else None
                ends = [done, *(visit(h.body, current) for h in s.handlers)]
                visit(s.finalbody, current)
                alive = [e for e in ends if e is not None]
                current = set.intersection(*alive) if alive else None
                if current is not None:
                    current = visit(s.finalbody, current)
            elif not parts:
                current |= names_written(s)
        return current

    visit(forward, set(params))
    start = [
        assign(n, gast.List([], gast.Load()) if n in stacks else constant(None))
        for n in sorted(unbound)
    ]
    return [*start, *forward]
