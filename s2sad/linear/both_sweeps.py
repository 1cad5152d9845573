"""Both sweeps of the function that a derivative is asked for, as operations of one program.

Before: an analysed function. After: its forward sweep, its backward sweep, and the cotangents of
the parameters that are asked for; who asks puts them together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from s2sad import kinds as K
from s2sad.causes import Story
from s2sad.facts.fence import fence
from s2sad.ir import program as P
from s2sad.ir.program import Operand, Var
from s2sad.known.dtypes import NARROW, dtype_of
from s2sad.linear.cotangents_of import Bar
from s2sad.linear.forward_entry import table_of
from s2sad.linear.function_facts import activity_of
from s2sad.linear.guards import Arrival
from s2sad.linear.headings import headed
from s2sad.linear.linearise import Linear
from s2sad.linear.programs_seen import seen
from s2sad.linear.read_outside import note_outside
from s2sad.linear.ready import Stands, ready
from s2sad.linear.rematerialised import Part, tests_again
from s2sad.linear.strong_zeros import zeros_of
from s2sad.linear.tangent_table import Table, Tangents
from s2sad.linear.told_apart import by_identity
from s2sad.linear.transpose import Turned, transpose
from s2sad.primitives import language as L
from s2sad.requests import Request
from s2sad.steps.derivation import Analysed, Derivation, memory_of

Seeds: TypeAlias = Callable[[Tangents], Mapping[str, Bar]]


@dataclass(frozen=True)
class Asked:
    """A function and what is asked of it; the cotangents of some `results` are given.

    They are those of the function's result, and of what it writes for its caller.
    """

    request: Request
    analysed: Analysed
    arrival: Arrival
    results: frozenset[str]
    stands: Stands = Stands()  # noqa: RUF009


@dataclass(frozen=True)
class BothSweeps:
    """Both sweeps of a function, and the program that they are made of, with its tangents."""

    program: P.Program
    table: Table
    linear: Linear
    made: Turned

    @property
    def value(self) -> Operand:
        """What the function gives."""
        return self.linear.program.block.end.results[0]

    @property
    def forward(self) -> tuple[P.Operation, ...]:
        """The forward sweep; around it stands what looks at structures that change."""
        return (*self.made.start, *self.made.forward, *self.made.last)


def both_sweeps(d: Derivation, asked: Asked, seeds: Seeds) -> BothSweeps:
    """Return both sweeps of a function; `seeds` gives cotangents of its results by name."""
    a, request = asked.analysed, asked.request
    memory = memory_of(d, a)
    wrt = frozenset(request.wrt)
    facts = activity_of(d, a, request.wrt, asked.results, request.has_aux)
    fence(a.function, a.kinds, facts, memory, request.constant)
    d.told[a] = Story(facts, request.wrt)
    table = table_of(d, a, request.wrt, facts, True)
    table.strong = zeros_of(d, seen(d, a), wrt, asked.arrival, _written(asked))
    program = table.facts.program
    first = ready(table, request.wrt, asked.stands)
    d.by_identity = by_identity(first)
    linear = first.linear
    _, dot = linear.program.block.end.results
    params = {v.name: linear.of[v] for v in program.block.params if v in linear.of}
    t = Tangents(table)
    given = seeds(t)
    found = {params[n]: bar for n, bar in given.items() if n in params}
    if a.function.result in given and isinstance(dot, Var):
        found[dot] = given[a.function.result]
    made = transpose(first, request.wrt, found)
    shadows = () if made.shadows is None else (P.Op((made.shadows,), L.DICT, ()),)
    backward = headed((*shadows, *t.ops, *_asking(made, table)), table)
    made = dataclasses.replace(made, backward=backward)
    note_outside(d, a, program, made.backward)
    return BothSweeps(program, table, linear, made)


def _asking(made: Turned, table: Table) -> tuple[P.Operation, ...]:
    """Return a backward sweep that asks the tests of the forward sweep once more."""
    here = frozenset(v for o in made.forward for v in o.outs)
    part = Part(made.sweep, Tangents(table), here)
    block = P.Block((), made.backward, P.End("next"))
    return tests_again(block, part, made.forward).ops


def _written(asked: Asked) -> frozenset[str] | None:
    """Return the results where some are memory that the function writes for its caller."""
    plain = asked.results <= {asked.analysed.function.result}
    return None if plain else asked.results


def one(t: Tangents, kind: K.Kind, has_aux: bool) -> Bar:
    """Return the seed of a gradient: 1.0, in single precision where the result is."""
    if has_aux and isinstance(kind, K.Tuple):
        loss = one(t, kind.items[0], False)
        return Bar(None, parts=(loss, *(None for _ in kind.items[1:])))
    dtype = dtype_of(kind)
    if dtype not in NARROW:
        return Bar(P.Const(1.0))
    single = t.call(t.table.numpy(str(dtype), kind), (P.Const(1.0),), K.Num("float", dtype))
    return Bar(single)
