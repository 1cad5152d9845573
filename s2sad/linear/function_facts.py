"""What forward and reverse mode ask of one function before it becomes a program.

x, A, n in f(x, A, n); x and A differentiated, A written      active: x, A, and what is made of them
"""

from __future__ import annotations

from s2sad.facts.activity import activity
from s2sad.facts.given import written_parameters
from s2sad.stages import Activity
from s2sad.steps.derivation import Analysed, Derivation, memory_of
from s2sad.steps.texts_read_again import title_of


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
