"""Attributes of shadows of objects, which have the class of these: it may not let them be set.

s_bar.prey += y_bar                                     a plain class
object.__setattr__(s_bar, "prey", s_bar.prey + y_bar)   one that is frozen, or looks at what is set
"""

from __future__ import annotations

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.known.built import is_frozen
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Tangents
from s2sad.primitives import language as L


def put_in_field(t: Tangents, shadow: Var, word: str, value: Operand) -> None:
    """Set an attribute of a shadow."""
    places = (Place(shadow, (P.Field(word),)),)
    if not is_frozen(K.without_none(shadow.kind)):
        t.add(Op((), L.put_field(word), (shadow, value), (), (), places, t.origin))
        return
    out, callee = Var("", K.NONE), P.Outer("object.__setattr__", K.UNKNOWN)
    t.add(Op((out,), L.CALL, (callee, shadow, P.Const(word), value), (), (), places, t.origin))
    t.add(Op((), L.DISCARD, (out,), (), (), (), t.origin))


def add_to_field(t: Tangents, shadow: Var, word: str, value: Operand) -> None:
    """Add to an attribute of a shadow."""
    if is_frozen(K.without_none(shadow.kind)):
        kind = kind_of(value)
        held = t.emit(L.field(word), (shadow,), kind)
        put_in_field(t, shadow, word, t.emit(L.INFIX["Add"], (held, value), kind))
        return
    places = (Place(shadow, (P.Field(word),)),)
    added = L.augmented_field(word, "Add")
    t.add(Op((), added, (shadow, value), (), (), places, t.origin))
