"""What asks None for an attribute ends there: an option that is not given, on a path not taken.

    def dropout(x, rate, rng=None):
        if rate > 0.0:
            x = x * (rng.random(x.shape) > rate)

With no `rng` the assignment becomes `raise AttributeError(...)`, as Python would: what `x` would be
after it need not be known.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import gast

from s2sad import kinds as K
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.nodes import SCOPES, Block, Node, call
from s2sad.stages import Function, KindFacts

_ELSEWHERE = (*SCOPES, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
_PERHAPS = (gast.IfExp, gast.BoolOp)


def ended(function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> Function | None:
    """Return the function with such statements as what they raise, None where there are none."""
    if K.NONE not in kinds.of.values():
        return None
    return _Ended(function, kinds, taken, numpy).rewritten()


class _Ended(Rewriter):
    def block(self, body: Block) -> Block:
        """What stands after such a statement does not run."""
        made = super().block(body)
        last = next((i for i, s in enumerate(made) if s in self.ends), len(made))
        whole = body is self.function.node.body and last < len(made)
        return [*made[: last + 1], *(made[-1:] if whole else [])]  # a function has one way out

    @functools.cached_property
    def ends(self) -> set[Node]:
        """The statements that raise in the place of others."""
        return set()

    def statement(self, s: Node) -> Block | None:
        if not isinstance(s, gast.Assign | gast.AugAssign | gast.Expr | gast.Return):
            return None
        fn = self.function.source.fn
        if "AttributeError" in self.function.locals | set(fn.__globals__):  # type: ignore[attr-defined]
            return None
        env = self.kinds.before.get(s, {})
        for n in _evaluated(s):
            if not isinstance(n, gast.Attribute) or not isinstance(n.value, gast.Name):
                continue
            if env.get(n.value.id) == K.NONE and not hasattr(None, n.attr):
                why = f"'NoneType' object has no attribute '{n.attr}'"
                raised = call("AttributeError", gast.Constant(why, None))
                end = gast.Raise(raised, None)
                self.ends.add(end)
                return [end]
        return None


def _evaluated(node: Node) -> Iterator[Node]:
    """Yield what is evaluated wherever the node is."""
    yield node
    for child in gast.iter_child_nodes(node):
        if not isinstance(child, (*_ELSEWHERE, *_PERHAPS)):
            yield from _evaluated(child)
