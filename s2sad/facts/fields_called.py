"""A call of the function that a field holds is a call of a name for it.

    g = Model(lambda t: 2.0 * t)            g = Model(lambda t: 2.0 * t)
    y = g.mean(x) * x                ->     mean = g.mean
                                            y = mean(x) * x

A method is a function of the class and is given its object; what a field holds is not.
"""

from __future__ import annotations

import gast

from s2sad import kinds as K
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.nodes import Block, Node, clone, names_written, walk
from s2sad.stages import Function, KindFacts

_SIMPLE = (gast.Assign, gast.AugAssign, gast.Expr, gast.Return)


def fields_called(
    function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy
) -> Function | None:
    """Return the function with names for the functions in fields that it calls, or None."""
    return _FieldsCalled(function, kinds, taken, numpy).rewritten()


class _FieldsCalled(Rewriter):
    def statement(self, s: Node) -> Block | None:
        if not isinstance(s, _SIMPLE):
            return None
        own = {n for part in walk(s) for n in names_written(part)}
        before: Block = []
        for n in [n for n in walk(s) if isinstance(n, gast.Call) and self._is_held(n, own)]:
            before += self.lines(f"{n.func.attr} = v", v=clone(n.func))
            n.func = clone(before[-1].targets[0])
            n.func.ctx = gast.Load()
        return [*before, s] if before else None

    def _is_held(self, n: Node, own: set[str]) -> bool:
        """Say whether this calls an inner function that a field of a variable holds."""
        if n in self.kinds.methods or not isinstance(n.func, gast.Attribute):
            return False
        owner, fields = n.func.value, self.kind(n.func.value)
        if not isinstance(owner, gast.Name) or owner.id in own or not isinstance(fields, K.Obj):
            return False
        return isinstance(dict(fields.fields).get(n.func.attr), K.LocalFunction | K.Choice)
