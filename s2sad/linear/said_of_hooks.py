"""Hooks: functions of the user's that get a cotangent, and say nothing of a tangent.

y = x                          y = x; y_dot = x_dot
hook_here(y, clip)             hook y_dot, clip

What is computed forward goes on as if they were not there.
"""

from __future__ import annotations

import gast

from s2sad import kinds as K
from s2sad.ir.effects import captured, code_of
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.linear.tangent_table import NOTHING, Tangents
from s2sad.nodes import walk
from s2sad.primitives import language as L


def hook(t: Tangents, op: Op) -> None:
    """Say of a tangent that its cotangent is given to a function; what that reads is kept."""
    (out,), (_, x, fn) = op.outs, op.operands
    t.add(Op((out,), L.SAME, (NOTHING,), (), (), (), op.origin))
    if not t.table.backward or not t.has(x):
        return
    gives = (("gives", out.kind),)
    made = t.maker(fn) if isinstance(fn, Var) else None
    if made is None or made.primitive is not L.CLOSURE:
        t.add(Op((), L.HOOK, (t.maybe(x), fn), gives, (), (), op.origin))
        return
    _check_captured(t, made)
    if not isinstance(code_of(made), gast.Lambda):
        t.add(Op((), L.HOOK, (t.maybe(x), fn), gives, (), (), op.origin))
        return
    held = tuple(_as_here(t, o) for o in made.operands)
    t.add(Op((), L.HOOK, (t.maybe(x), *held), (*made.settings, *gives), (), (), op.origin))


def _as_here(t: Tangents, held: Operand) -> Operand:
    """Return what a lambda reads, as it is where the lambda stands."""
    if not isinstance(held, Var) or not held.cell:
        return held
    out = Var(held.name, K.UNKNOWN)
    t.add(Op((out,), L.LOOK, (held,), (), (Place(held),), (), t.origin))
    return out


def _check_captured(t: Tangents, made: Op) -> None:
    """Stop at a function that reads what may be something else when it is called."""
    code = code_of(made)
    inside = set[str]()
    if isinstance(code, gast.FunctionDef):
        own = {n.id for n in walk(code.args) if isinstance(getattr(n, "ctx", None), gast.Param)}
        inside = {n.id for s in code.body for n in walk(s) if isinstance(n, gast.Name)} - own
    for word, o in zip(captured(made), made.operands, strict=True):
        if isinstance(o, Var) and ((o.cell and word in inside) or o in t.table.facts.written):
            raise t.cannot(
                f"This hook reads `{word}`, which may have another value when the hook is called.",
                "Write the hook as a lambda in the call of adjoint_hook, or pass it the value as "
                "a default: def fn(g, i=i).",
            )
