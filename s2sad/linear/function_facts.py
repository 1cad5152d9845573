"""What forward and reverse mode ask of one function before it becomes a program.

x, A, n in f(x, A, n); x and A differentiated, A written      active: x, A, and what is made of them
A = A * 2.0 where A is written                                the shadow of A has lost its name
"""

from __future__ import annotations

import gast

from s2sad.facts.activity import activity
from s2sad.facts.alias import argument
from s2sad.facts.given import written_parameters
from s2sad.nodes import all_inside, block_writes, names_read, names_written
from s2sad.stages import Activity
from s2sad.steps.derivation import Analysed, Derivation, memory_of
from s2sad.steps.parts import title_of
from s2sad.steps.shadows import bound_anew


def activity_of(
    d: Derivation, a: Analysed, active: tuple[str, ...], seeded: bool, has_aux: bool = False
) -> Activity:
    """Return which variables are active; what is written for the caller is a result, too."""
    memory = memory_of(d, a)
    arrays, others = written_parameters(a.function, a.kinds, memory)
    results = frozenset(p for p in active if p in arrays | others)
    if seeded:
        results |= {a.function.result}
    return activity(a.function, a.kinds, frozenset(active), memory, has_aux, results)


def named_to_the_end(d: Derivation, a: Analysed, facts: Activity, shadowed: set[str]) -> None:
    """Refuse a parameter that is written and has lost its name: its tangent is the caller's.

    Where the new value is made of the old one (`A = A * 2.0`), and nothing else writes the memory,
    its tangent is there.
    """
    memory, body = memory_of(d, a), a.function.node.body
    pairs = memory.aliases.pairs_after
    written = frozenset().union(*written_parameters(a.function, a.kinds, memory))
    touched = frozenset().union(*memory.aliases.touched.values())
    for p in sorted(written & shadowed & block_writes(body)):
        for s in all_inside(body):
            bound = s in pairs and p in names_written(s)
            if not bound or argument(p) in pairs[s].get(p, ()):
                continue
            others = {n for n, known in pairs[s].items() if argument(p) in known} - {p}
            made = isinstance(s, gast.Assign) and p in names_read(s.value)
            if not made or p not in facts.useful_after[s] or others & touched:
                raise bound_anew(a, p)


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
