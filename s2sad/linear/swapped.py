"""Arrays that a loop hands from round to round while it writes them: u, new = new, u.

Each of their names has a cotangent of its own where they are apart: each round gives every array to
one name, or a name gets a new one; and nobody else knows the arrays under other names.

    for _ in range(n):                      for _ in range(n):
        new[1:-1] = f(u)                        u_bar, new_bar = new_bar, u_bar
        u, new = new, u                         ...
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.deeds import deed
from s2sad.ir.program import Operand, Var
from s2sad.linear.operands import kind_of
from s2sad.linear.sweep_state import Sweep
from s2sad.linear.tangent_table import Table


def are_apart(sweep: Sweep, region: P.Region, table: Table) -> bool:
    """Say whether the written arrays that a loop carries are different arrays in each round."""
    if not isinstance(region, P.For):
        return False
    heads, starts = region.body.params, region.starts
    hands = [
        (p, start, result)
        for p, start, result in zip(heads, starts, region.body.end.results, strict=True)
        if _may_be_array(p) and p in table.facts.written and p not in sweep.values
    ]
    begun = [start for _, start, _ in hands if _may_be_array(start)]
    given = [followed(sweep, result) for _, _, result in hands]
    params = [p for p, _, _ in hands]
    return (
        all(isinstance(g, Var) and (g in params or _is_new(sweep, g)) for g in given)
        and len({*given}) == len(given)
        and all(_is_own(sweep, table, start) for start in begun)
        and len({followed(sweep, start) for start in begun}) == len(begun)
        and not _known_elsewhere(
            sweep, table.facts.program, region, [v for v in begun if isinstance(v, Var)]
        )
    )


def _may_be_array(given: Operand) -> bool:
    return any(isinstance(k, K.Array) for k in K.options(kind_of(given)))


def followed(sweep: Sweep, given: Operand) -> Operand:
    """Return the array that a value is, seen through writes in place."""
    for name in _chain(sweep, given):
        given = name
    return given


def _chain(sweep: Sweep, given: Operand) -> Iterator[Var]:
    """Yield the names that an array had before, this one first."""
    while isinstance(given, Var):
        yield given
        maker = sweep.makers.get(given)
        if maker is None or maker.primitive.form not in ("same", "augmented"):
            return
        given = maker.operands[0]


def _is_new(sweep: Sweep, given: Operand) -> bool:
    maker = sweep.makers.get(given) if isinstance(given, Var) else None
    return maker is not None and deed(maker).fresh


def _is_own(sweep: Sweep, table: Table, start: Operand) -> bool:
    """Say whether an array is made for its name alone; a parameter is known apart from others."""
    found = followed(sweep, start)
    alone = table.outermost and not sweep.shown
    return _is_new(sweep, found) or (alone and found in table.facts.params)


def _known_elsewhere(sweep: Sweep, program: P.Program, region: P.For, starts: list[Var]) -> bool:
    """Say whether an array that a loop starts with has another name, in or behind the loop."""
    roots = {sweep.written.memory.of(v) for v in starts}
    inside = {v for o in P.every(region.body) for v in (*o.outs, *P.bound(o))}
    inside |= {*region.body.params, *region.outs}
    chain = {*starts}
    for v in starts:
        chain |= {*_chain(sweep, v)}
    at = sweep.written.order[region][0]
    for op, (i, _) in sweep.written.order.items():
        own = (*op.outs, *P.bound(op))
        if i < at:
            held = (v for v in own if v not in chain and v not in inside)
            if any(sweep.written.memory.of(v) in roots for v in held if _primal(sweep, v)):
                return True
        elif op is not region and any(v in chain for v in _reads(op)):
            return True
    ends = (P.variable(r) for r in program.block.end.results)
    return any(v in chain for v in ends if v is not None)


def _primal(sweep: Sweep, v: Var) -> bool:
    return v not in sweep.values


def _reads(op: P.Operation) -> Iterable[Var]:
    return (v for v in map(P.variable, P.operands(op)) if v is not None)
