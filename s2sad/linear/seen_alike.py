"""Values that surely are a view of an array: the same view of its tangent is theirs.

    C = A.T; C[0] = x        C_dot = A_dot.T        the cotangent of C is A_bar.T

Where a value may be a copy as well, or nobody may write through it, this does not hold.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir.program import Op, Operand, Var
from s2sad.linear.by_identity import lies_turned
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Table, Tangents
from s2sad.linear.tangents_of import Computed, told_by
from s2sad.primitives import language as L


def surely_shows(table: Table, told: Computed, origin: object) -> bool:
    """Say whether a value is a view of the array that it is made of, whatever that is."""
    rule = registry.rule_for(told.fn)
    if len(told.bases) != 1 or rule is None or rule.view != "always":
        return False
    base = told.given[told.bases[0]]
    link = table.facts.aliases.links_after.get(origin, {}).get(told.out.name)
    word = base.name if isinstance(base, Var) else ""
    known = getattr(np, getattr(told.fn, "__name__", ""), None) is told.fn
    sure = known and link is not None and link.base == word and not (link.maybe or link.fixed)
    return sure and isinstance(told.out.kind, K.Array)


def seen_alike(t: Tangents, told: Computed, shadow: Operand) -> Var:
    """Return the view of a shadow that is what the value is of the array."""
    given = tuple(shadow if told.bases == (at,) else t.index(o) for at, o in enumerate(told.given))
    count, word = len(given) - len(told.words), str(getattr(told.fn, "__name__", ""))
    made = t.call(t.table.numpy(word, told.out.kind), given[:count], told.out.kind)
    op = t.ops[-1]
    assert isinstance(op, Op)
    settings = tuple(zip(told.words, given[count:], strict=True))
    t.ops[-1] = dataclasses.replace(op, settings=settings)
    return made


def shows_array(table: Table, op: Op) -> bool:
    """Say whether the cotangent of what an operation gives is surely a view of another one.

    Of a complex array the cotangent is a conjugate: what shows its imaginary part has another sign.
    """
    if op.primitive is not L.TANGENT:
        return False
    told = told_by(op)
    if not surely_shows(table, told, op.origin):
        return False
    return not any(lies_turned(kind_of(o)) for o in (told.out, told.given[told.bases[0]]))
