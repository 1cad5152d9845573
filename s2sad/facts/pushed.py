"""Forward mode's strong zeros: which tangents may be infinite, and which are zero by structure.

    r = np.sqrt(x)                   r_dot may be infinite
    y = np.maximum(r, 1.0)           where r is less it is no part of y: 0, whatever r_dot is
    c = np.where(m, x, 0.0)          c_dot is zero by structure where m is not
    s = np.sqrt(c)                   there s_dot is 0, and not 0 * inf

One walk over all assignments, repeated until nothing changes; a variable stands for all values it
takes, as in `finite`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.finite import Finite, assignments
from s2sad.nodes import Node, names_read
from s2sad.stages import Activity, Function, Guard, KindFacts, Met, Pushed

Calls = Callable[[Any, Any, frozenset[str], Met], "Met | None"]

_OPERATORS = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow)


def pushed(
    function: Function,
    kinds: KindFacts,
    activity: Activity,
    finite: Finite,
    given: frozenset[str],
    met: Met,
    calls: Calls,
) -> Pushed:
    """Return where a function's operations need a guard; what is `given` may be what is `met`.

    `calls` says of a call of a user's function, the active names it is given and what these may
    be, what the tangent of its result may be.
    """
    walker = _Walker(kinds, activity, finite, calls)
    walker.met = dict.fromkeys(given, met)
    found = [x for x in assignments(function, finite) if x[0] in activity.varied_before]
    changed = True
    while changed:
        before = dict(walker.met)
        for s, targets, value in found:
            walker.assign(s, targets, value)
        changed = before != walker.met
    for s, targets, value in found:
        walker.look(s, targets, value)
    walker.found.result = walker.met.get(function.result, Met())
    return walker.found


class _Walker:
    def __init__(self, kinds: KindFacts, activity: Activity, finite: Finite, calls: Calls) -> None:
        self.kinds = kinds
        self.activity = activity
        self.finite = finite
        self.values = finite.wild()
        self.calls = calls
        self.met: dict[str, Met] = {}
        self.found = Pushed()

    def assign(self, s: Node, targets: tuple[str, ...], value: Node) -> None:
        """Note what the tangents of some variables may be after an assignment."""
        found = self._of(s, value)
        for n in targets:
            self.met[n] = self.met.get(n, Met()).join(found)

    def _active(self, s: Node, value: Node) -> frozenset[str]:
        return frozenset(names_read(value) & self.activity.varied_before[s])

    def _of(self, s: Node, value: Node) -> Met:
        active = self._active(s, value)
        if not active:
            return Met(zeros=True)
        held = [self.met.get(n, Met()) for n in sorted(active)]
        wild = any(m.wild for m in held)
        some = any(m.zeros for m in held)
        called = self.calls(s, value, active, Met(some, wild))
        if called is not None:
            return called
        operation = self.finite.operation(value)
        if operation is None or isinstance(value, gast.Subscript):
            return Met(some or self._listed(value, active), wild)
        fn, args = operation
        plain = isinstance(value, gast.BinOp) and isinstance(value.op, _OPERATORS)
        zeros = all(m.zeros for m in held) if plain else some
        zeros = zeros or self._embeds(fn, args, active)
        wild = wild or self._singular(s, fn, args) or bool(names_read(value) & self.values)
        return Met(zeros, wild)

    def _listed(self, value: Node, active: frozenset[str]) -> bool:
        """Say whether a list or tuple holds what is constant beside what is active."""
        if not isinstance(value, gast.List | gast.Tuple):
            return False
        return any(not names_read(e) & active for e in value.elts)

    def _embeds(self, fn: Any, args: list[Node], active: frozenset[str]) -> bool:
        """Say whether some entries of a result do not depend on what is active."""
        known = registry.numbers_of(fn)
        if known.parts != "joined":
            return known.parts == "widened"
        arrays = args[1:] if known.form == "choice" else args
        listed = [e for a in arrays for e in getattr(a, "elts", [a])]
        return any(not names_read(e) & active for e in listed)

    def _singular(self, s: Node, fn: Any, args: list[Node]) -> bool:
        """Say whether an operation's tangent may be infinite: Python's numbers raise instead."""
        kinds = [self.finite.kind(a) for a in args if not isinstance(a, gast.Starred)]
        if kinds and all(isinstance(k, K.Num) and k.dtype is None for k in kinds):
            return False
        return self.finite.singular(s, fn, args)

    def look(self, s: Node, targets: tuple[str, ...], value: Node) -> None:
        """Note what an assignment needs, now that all is known."""
        if isinstance(s, gast.AugAssign) and not isinstance(s.target, gast.Name):
            value = self.finite.augmented(s)
            operation = self.finite.operation(value)
            if operation and self.finite.steep(s, *operation, self._active(s, value)):
                self.found.guards[s] = Guard(True, steep=True)
            return
        active = self._active(s, value)
        held = {n: self.met.get(n, Met()) for n in active}
        if not active:
            return
        met = Met(any(m.zeros for m in held.values()), any(m.wild for m in held.values()))
        if self.calls(s, value, active, met) is not None:
            self.found.arrivals[s] = met
            return
        operation = self.finite.operation(value)
        if operation is None or isinstance(value, gast.Subscript):
            return
        fn, args = operation
        rule = registry.rule_for(fn)
        steep = self.finite.steep(s, fn, args, active)
        if steep:
            self.found.guards[s] = Guard(True, steep=True)
        if rule is None or rule.partials is None:
            return
        if all(m.zeros for m in held.values()):
            wild = self.values & names_read(value)
            out = bool(self.values & set(targets))
            singular = self._singular(s, fn, args)
            if singular or wild or out:
                self.found.guards[s] = Guard(singular or steep, wild, out, steep)
        if rule.masks or self._by_truth(args):
            masked = frozenset(n for n, m in held.items() if m.wild)
            if masked:
                self.found.masked[s] = masked

    def _by_truth(self, args: list[Node]) -> bool:
        """Say whether an operand is true or false: a product with it is masked."""
        return any(getattr(self.finite.kind(a), "dtype", None) == "bool" for a in args)
