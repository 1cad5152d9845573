"""A gradient that is called, turned round: the matrix of second derivatives is symmetric.

    v = f_grad(x)      forward sweep     v = f_grad(x)
                       backward sweep    x_bar gets f_grad_jvp(x, v_bar)[1]

The text of a gradient has a tape; read and turned round it would have a tape of a tape.
"""

from __future__ import annotations

from s2sad.ir import program as P
from s2sad.linear.user_calls import UserCall, name_of
from s2sad.steps.derivation import Derivation, analyse
from s2sad.steps.derived_pairs import Pair


def goes_by_symmetry(d: Derivation, call: UserCall) -> bool:
    """Say whether the reverse of a function is known without turning its text round."""
    return d.again is not None and d.again.gradient(d, call.fn) is not None


def pair_by_symmetry(
    d: Derivation, call: UserCall, wrt: tuple[str, ...], lent: frozenset[str]
) -> Pair | None:
    """Return the forward and the reverse of a gradient; None where it has to be turned round.

    The reverse is given what the gradient was given, but for memory that is `lent`: that others may
    change before it runs, so the forward copies it.
    """
    if d.again is None or not goes_by_symmetry(d, call):
        return None
    a, base = analyse(d, call.fn, call.params, tuple(call.extra)), name_of(call.fn)
    forward, reverse = d.names.fresh(f"{base}_forward"), d.names.fresh(f"{base}_reverse")
    pair = Pair(forward, reverse, wrt, lent=lent - {"@result"})
    given = {p for p, o in call.given.items() if isinstance(o, P.OPERANDS)} | {*call.extra}
    return pair if d.again.pair(d, a, pair, frozenset(given - lent)) else None
