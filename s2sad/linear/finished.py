"""Both sweeps of a function on the last steps before they print.

Before: the operations of both sweeps, as they were turned round. After: the same in fewer words,
with tapes that hold what is read of them, and without what is put back for nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from s2sad.ir import program as P
from s2sad.ir.last_round import without_last_products
from s2sad.ir.lazily import lazily
from s2sad.ir.program import Var
from s2sad.ir.uncounted import uncounted
from s2sad.ir.unused import without_unused
from s2sad.ir.versions import Versions
from s2sad.linear.bar_names import named
from s2sad.linear.both_sweeps import BothSweeps
from s2sad.linear.computed_again import with_less_kept, with_less_on_tapes
from s2sad.linear.emptied import emptied
from s2sad.linear.filled_displays import filled
from s2sad.linear.forward_entry import in_order, named_text, settled
from s2sad.linear.shapes_kept import with_shapes_on_tapes
from s2sad.linear.slots import Entry, narrowed, read_in
from s2sad.linear.stories import Sides, sides_of_one, story_of
from s2sad.linear.tape import needed_in
from s2sad.nodes import Block


def finished(found: BothSweeps, program: P.Program) -> Block:
    """Return the statements of a program that holds both sweeps, and tell what they keep."""
    program, entries = with_backward(found, program)
    text = text_of_sweeps(found, program)
    tell(found, sides_of_one(text.program.block, text.names, entries))
    return text.body


def tell(found: BothSweeps, sides: Sides) -> None:
    """Put into the story of a function what it keeps for its backward sweep, where one asks."""
    d, a = found.table.derivation, found.table.facts.analysed
    if d.telling:
        d.told[a] = story_of(found, sides, d.told[a])


def with_backward(found: BothSweeps, program: P.Program) -> tuple[P.Program, list[Entry]]:
    """Return a program that holds a backward sweep, and what its tapes have to hold."""
    program = filled(program, frozenset(found.linear.values))
    together = found.made.sweep.written.sharing(program.block.params)
    made = without_last_products(settled(found.table, found.linear, program, together))
    entries = read_in(made, found.made.sweep.entries)
    temps = found.table.facts.analysed.function.temps
    plain, (made, entries) = made, with_shapes_on_tapes(made, entries, found.made, temps)
    entries = with_less_on_tapes(made, entries, found.made.sweep, found.made.forward)
    changes = made is not plain or any(e.anew for e in entries)
    made = narrowed(made, entries)
    if changes:
        made = in_order(found.table, found.linear, made)
    made = lazily(without_unused(uncounted(made)))
    once = not found.table.derivation.reusable
    return emptied(made, entries) if once else made, entries


def with_forward(found: BothSweeps, program: P.Program, entries: Sequence[Entry]) -> P.Program:
    """Return a program whose backward sweep stands elsewhere, with what its tapes have to hold."""
    made = narrowed(settled(found.table, found.linear, program), entries)
    return without_unused(uncounted(made))


@dataclass(frozen=True)
class Apart:
    """A backward sweep in a function of its own, whose algebra is done.

    It reads what is `needed` of the forward sweep, and of its parameters; `entries` are what the
    tapes of that have to hold.
    """

    block: P.Block
    needed: list[Var]
    entries: list[Entry]


def apart(found: BothSweeps, block: P.Block, forward: Sequence[P.Operation]) -> Apart:
    """Return the block of a backward sweep in fewer words, and what it reads of the forward."""
    params = found.program.block.params
    given = (*needed_in(block, forward, params), *block.params)
    program = P.Program(found.program.name, P.Block(given, block.ops, block.end), None)
    program, entries = with_backward(found, program)
    made = P.Block(block.params, program.block.ops, program.block.end)
    if not found.table.outermost:
        made = with_less_kept(made, needed_in(made, forward, params), found.made.sweep)
    return Apart(made, needed_in(made, forward, params), entries)


@dataclass(frozen=True)
class SweepText:
    """The statements in which a program prints, and the names that its variables have there."""

    program: P.Program
    body: Block
    names: Versions


def text_of_sweeps(found: BothSweeps, program: P.Program) -> SweepText:
    """Return the text of a program whose algebra is done; cotangents have good names."""
    program = named(program, found.made.words)
    text = named_text(found.table, found.linear, program)
    return SweepText(program, text.node.body, text.names)
