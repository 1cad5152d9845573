"""What forward and reverse mode ask of one function before it becomes a program.

x, A, n in f(x, A, n); x and A differentiated, A written      active: x, A, and what is made of them
"""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.facts.given import written_parameters
from s2sad.facts.stopped import without_flow
from s2sad.ir.active_names import Stopped, active_names
from s2sad.linear.programs_seen import Around, seen
from s2sad.stages import Activity
from s2sad.steps.derivation import Analysed, Derivation, memory_of
from s2sad.steps.texts_read_again import title_of


def activity_of(
    d: Derivation,
    a: Analysed,
    wrt: tuple[str, ...],
    results: frozenset[str] | None = None,
    has_aux: bool = False,
) -> Activity:
    """Return which names are active; what is written for the caller is a result, too.

    Of the `results`, names of these, derivatives are asked; none stands for all.
    """
    memory, found = memory_of(d, a), seen(d, a, Around(beside=has_aux))
    arrays, others = written_parameters(a.function, a.kinds, memory)
    block = found.program.block
    asked = {a.function.result, *(arrays | others)} if results is None else results
    starts = [v for v in block.params if v.name in wrt]
    ends = [*found.flows.lost, *(v for v in starts if v.name in asked)]
    value = block.end.results[:1] if block.end.how == "next" and a.function.result in asked else ()
    stopped = without_flow(a.function, a.kinds, memory, found.program)
    varied, useful = found.flows.varied(starts, stopped), found.flows.useful([*ends, *value])
    parts = found.flows.parts_of(stopped) if stopped else stopped
    varied |= found.flows.beside(varied) & parts

    def shared(s: object) -> frozenset[str]:
        """Return the names that share what a statement writes, and are read behind it."""
        aliases, written = memory.aliases, memory.changes.get(s, ())
        names = frozenset(n for base in written for n in aliases.sharing(s, base))
        return names & aliases.live_after.get(s, frozenset())

    kept = frozenset(v for v in parts if not K.shares_nothing(v.kind))
    return active_names(
        found.program, found.flows, (varied, useful), Stopped(stopped, kept, shared)
    )


def doc_of(d: Derivation, a: Analysed, active: tuple[str, ...]) -> str:
    """Return the docstring of a function of values and tangents."""
    what = "tangents" if d.abreast else "tangent"
    given = "tangents" if d.abreast or len(active) > 1 else "tangent"
    where = title_of(d, a.function.source)
    return f"Value and {what} of {where}, given the {given} of {listed(active)}."


def listed(names: tuple[str, ...]) -> str:
    """Return names as a sentence lists them."""
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]
