"""Adjoint hooks: functions of the user's that get an adjoint in the backward sweep.

y = x                   ->      y_bar = hooked(clip, y_bar)
hook_here(y, clip)              x_bar = y_bar
"""

from __future__ import annotations

import re

import gast

from s2sad import hooks
from s2sad import kinds as K
from s2sad.inside import hook_here
from s2sad.kinds import Kind
from s2sad.modes.writes import Writes
from s2sad.nodes import (
    Block,
    Node,
    assign,
    block_writes,
    blocks_of,
    call,
    clone,
    count_writes,
    name,
    stand_in,
    subscript,
)
from s2sad.stages import Activity, KindFacts


def is_hook(s: Node, kinds: KindFacts) -> bool:
    """Say whether a statement hooks into the adjoint of a variable."""
    called = isinstance(s, gast.Expr) and isinstance(s.value, gast.Call)
    return called and kinds.objects.get(s.value.func) is hook_here


class Hooks(Writes):
    """Calls hooks where their variables have all of their adjoints."""

    activity: Activity

    def hooked(self, s: Node) -> Block:
        """Return what hands the adjoint of a variable to a hook, and takes what that gives."""
        x, fn = s.value.args
        kind = self.kinds.before[s].get(x.id, K.UNKNOWN)
        if x.id not in self.activity.before(s) or not K.differentiable(kind):
            return []
        if x.id in self.asked | self.split:
            raise self.refuse(
                s,
                f"Whether `{x.id}` shares memory with something that is written is known only when "
                "the program runs: what its adjoint is cannot be told to a hook.",
                "Hook into a copy: adjoint_hook(x.copy(), fn).",
            )
        if x.id not in self.live and x.id not in self.arrays:
            return []
        self._check_captured(s, fn)
        heading = [c for c in self._comment(s) if not _ONE_NAME.fullmatch(c.text)]
        out = heading + self.ensure(x.id, kind, s)
        return out + self._replaced(s, x.id, kind, fn)

    def _replaced(self, s: Node, x: str, kind: Kind, fn: Node) -> Block:
        """Return the statements that put what a hook gives in the place of an adjoint."""
        bar = self.bar(x)
        named = isinstance(fn, gast.Lambda) or isinstance(self.kinds.of.get(fn), K.Known)
        direct = named and not isinstance(fn, gast.Attribute)
        result = self.kinds.of.get(s.value, K.UNKNOWN) if direct else K.UNKNOWN
        if isinstance(result, K.NoneKind):
            return [gast.Expr(gast.Call(clone(fn), [name(bar)], []))]
        if K.is_scalar(kind) and isinstance(result, K.Num) and _same_type(result, kind):
            return [assign(bar, gast.Call(clone(fn), [name(bar)], []))]
        plain = K.is_numeric(kind)
        helper = self.refs.function(hooks.hooked if plain else hooks.hooked_structure)
        given = stand_in(call(helper, clone(fn), name(bar)), s.value, self.function.source)
        if x in self.arrays and isinstance(kind, K.Array):
            return [gast.Assign([_stored(subscript(name(bar), _ALL))], given, None)]
        if x in self.arrays and not K.shares_nothing(kind):
            into = call(self.refs.function(hooks.refilled), name(bar), given)
            return [assign(bar, into)] if isinstance(kind, K.Tuple) else [gast.Expr(into)]
        if x in self.aliased and x in self.elements:
            _, value = self.elements[x]
            place = clone(value)
            place.value = name(self.bar(value.value.id))
            return [
                gast.Assign([_stored(clone(place))], given, None),
                assign(bar, place),
            ]
        return [assign(bar, given)]

    def _check_captured(self, s: Node, fn: Node) -> None:
        """Refuse a hook that reads variables which may be others when it is called."""
        kind = self.kinds.of.get(fn, K.UNKNOWN)
        if isinstance(fn, gast.Lambda) or not isinstance(kind, K.LocalFunction):
            return  # what a lambda reads is read where it stands
        params = self.function.params
        bound = count_writes(self.function.node.body)
        inside = _bound_in_loops(self.function.node.body)
        written = frozenset[str]().union(*self.aliases.touched.values())
        for _, variable in kind.links:
            once = bound.get(variable, 0) + (variable in params) == 1 and variable not in inside
            given = isinstance(fn, gast.Name) and fn.id in params
            if given or not once or variable in written:
                raise self.refuse(
                    s,
                    f"This hook reads `{variable}`, which may be another when the hook is called.",
                    "Write the hook as a lambda in the call of adjoint_hook, or give it what it "
                    "reads as a default: def fn(g, i=i).",
                )


# What is left of `x = adjoint_hook(x, fn)` where s2sad's own call is taken out.
_ONE_NAME = re.compile(r"(\w+) = \w+")
_ALL = gast.Constant(..., None)


def _same_type(given: K.Num, kind: Kind) -> bool:
    """Say whether a hook that gives this number gives what the adjoint is."""
    return isinstance(kind, K.Num) and given.type == kind.type and kind.dtype in (None, "float64")


def _stored(place: Node) -> Node:
    place.ctx = gast.Store()
    return place


def _bound_in_loops(body: Block) -> set[str]:
    """Return the variables that loops bind."""
    found: set[str] = set()
    for s in body:
        if isinstance(s, gast.For | gast.While):
            found |= block_writes([s])
        for part in blocks_of(s):
            found |= _bound_in_loops(part)
    return found
