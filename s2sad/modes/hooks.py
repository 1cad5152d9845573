"""Adjoint hooks: functions of the user's that get an adjoint in the backward sweep.

y = x                   ->      y_bar = hooked(clip, y_bar)
hook_here(y, clip)              x_bar = y_bar
"""

from __future__ import annotations

import re

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import runtime
from s2sad.emitted import hooks
from s2sad.inside import hook_here
from s2sad.kinds import Kind
from s2sad.known.built import built_like
from s2sad.modes.cotangents import assign_place
from s2sad.modes.writes import Writes
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    attribute,
    block_writes,
    blocks_of,
    call,
    clone,
    count_writes,
    name,
    stand_in,
    subscript,
)
from s2sad.stages import Activity, Function, KindFacts


def is_hook(s: Node, kinds: KindFacts) -> bool:
    """Say whether a statement hooks into the adjoint of a variable."""
    called = isinstance(s, gast.Expr) and isinstance(s.value, gast.Call)
    return called and kinds.objects.get(s.value.func) is hook_here


def sets_flags(s: Node, kinds: KindFacts) -> bool:
    """Say whether a statement only changes flags of an array: derivatives write all the same.

    z.setflags(write=False); z.flags.writeable = False
    """
    if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
        func = s.value.func
        method = getattr(np.ndarray, func.attr, None) if isinstance(func, gast.Attribute) else None
        return method is np.ndarray.setflags and isinstance(kinds.of.get(func.value), K.Array)
    target = s.targets[0] if isinstance(s, gast.Assign) else None
    owner = kinds.of.get(getattr(target, "value", None))
    return isinstance(owner, K.Unknown) and owner.cls is K.FLAGS


def bends(function: Function, kinds: KindFacts) -> bool:
    """Say whether what is derived of a function is another thing than its derivative."""
    return bool(function.stopped) or any(is_hook(s, kinds) for s in all_inside(function.node.body))


def stopped_by(stop: str, s: Node, function: Function, kinds: KindFacts) -> Node | None:
    """Return `stopped = stop_gradient(x)` for `stopped = x`, in text that is read again.

    There an array is a copy: by its memory it would be taken for x.
    """
    target = s.targets[0] if isinstance(s, gast.Assign) else None
    if not stop or not isinstance(target, gast.Name) or target.id not in function.stopped:
        return None
    made = call(stop, clone(s.value))
    if isinstance(kinds.of.get(s.value), K.Array):
        made = call(attribute(made, "copy"))
    return assign(target.id, made)


class Hooks(Writes):
    """Calls hooks where their variables have all of their adjoints.

    Where there is a name for `stop`, what is written is read and derived again.
    """

    activity: Activity
    stop: str = ""

    def hooked(self, s: Node) -> Block:
        """Return what hands the adjoint of a variable to a hook, and takes what that gives."""
        x, fn = s.value.args
        kind = self.kinds.before[s].get(x.id, K.UNKNOWN)
        if x.id not in self.activity.before(s) or not K.differentiable(kind):
            return []
        if x.id in self.asked | self.split:
            raise self.refuse(
                s,
                f"Only the running program shows whether `{x.id}` shares memory with "
                "something that is written, so s2sad cannot pass its adjoint to a hook.",
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
        if self.stop:
            return self._to_be_read(s, x, kind, fn)
        named = isinstance(fn, gast.Lambda) or isinstance(self.kinds.of.get(fn), K.Known)
        direct = named and not isinstance(fn, gast.Attribute)
        result = self.kinds.of.get(s.value, K.UNKNOWN) if direct else K.UNKNOWN
        result = result if K.is_scalar(kind) else K.UNKNOWN
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
            owner = self.kinds.of.get(value.value, K.UNKNOWN)
            return [assign_place(clone(place), given, owner), assign(bar, place)]
        return [assign(bar, given)]

    def _to_be_read(self, s: Node, x: str, kind: Kind, fn: Node) -> Block:
        """Return plain calls of a hook: what it does is differentiated once more."""
        bar = self.bar(x)
        result = self.kinds.of.get(s.value, K.UNKNOWN)
        gives_none = isinstance(result, K.NoneKind)
        whole = x in self.arrays and isinstance(kind, K.Array)
        if gives_none and (K.is_scalar(kind) or (x in self.arrays and not whole)):
            return [gast.Expr(gast.Call(clone(fn), [name(bar)], []))]
        parts = x not in self.aliased and (whole or x not in self.arrays)
        if not (parts or whole) or not (gives_none or (parts and built_like(result, kind))):
            raise self.refuse(
                s,
                "s2sad does not know the type of what this hook returns, so it cannot "
                "differentiate the hook again.",
                "Let the hook return a value built like the adjoint, on all paths.",
            )
        own: Node = name(bar)
        if isinstance(kind, K.Array):
            own = call(attribute(own, "copy"))
        elif not K.shares_nothing(kind):
            own = call(self.refs.function(runtime.private), own)
        before: Block = []
        made: Node = gast.Call(clone(fn), [own], [])
        if gives_none:  # what was given may have been changed in place
            held = self.names.fresh(f"{x}_own_bar")
            before = [assign(held, own), gast.Expr(gast.Call(clone(fn), [name(held)], []))]
            made = name(held)
        place = _stored(subscript(name(bar), _ALL))
        return [*before, gast.Assign([place], made, None) if whole else assign(bar, made)]

    def _check_captured(self, s: Node, fn: Node) -> None:
        """Refuse a hook that reads variables which may be others when it is called."""
        kind = self.kinds.of.get(fn, K.UNKNOWN)
        if isinstance(fn, gast.Lambda) or not isinstance(kind, K.LocalFunction):
            return  # what a lambda reads is read where it stands
        params = self.function.params
        bound = count_writes(self.function.node.body, params)
        inside = _bound_in_loops(self.function.node.body)
        written = frozenset[str]().union(*self.aliases.touched.values())
        for _, variable in kind.links:
            once = bound.get(variable) == 1 and variable not in inside
            given = isinstance(fn, gast.Name) and fn.id in params
            if given or not once or variable in written:
                raise self.refuse(
                    s,
                    f"This hook reads `{variable}`, which may have another value when the "
                    "hook is called.",
                    "Write the hook as a lambda in the call of adjoint_hook, or pass it the "
                    "value as a default: def fn(g, i=i).",
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
