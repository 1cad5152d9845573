"""What goes over the elements of an array by its `flat`, as the plain array that it gives.

    np.array(A.flat)                ->   t = A.ravel();  np.array(t)
    for v in A.flat: ...            ->   for v in A.ravel(): ...

In a loop that may write the array, what is read is what the array holds by then:

    for v in A.flat: A[0] = v       ->   for at in list(np.ndindex(A.shape)):
                                             v = A[at]
                                             A[0] = v
"""

from __future__ import annotations

import types
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    attribute,
    blocks_of,
    call,
    children,
    clone,
    locate,
    name,
    names_written,
    store,
    subscript,
    walk,
)
from s2sad.stages import Function, KindFacts, Loop

_OVER = ("enumerate", "zip")
_LOOKING: tuple[Any, ...] = (list, tuple, sum, max, min, sorted, any, all, len)
_FRESH: tuple[Any, ...] = (
    *(np.zeros, np.empty, np.ones, np.full),
    *(np.zeros_like, np.empty_like, np.ones_like, np.full_like),
)


def flat(function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> Function | None:
    """Return the function with arrays in the place of their iterators, None without any."""
    return _Flat(function, kinds, taken, numpy).rewritten()


class _Flat(Rewriter):
    def __init__(self, function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy) -> None:
        super().__init__(function, kinds, taken, numpy)
        self.made: dict[str, list[Node]] = {}
        self.uses: dict[str, list[Node]] = {}
        self.numbers: set[str] = set()
        for s in all_inside(function.node.body):
            for n in _bound(s):
                self.made.setdefault(n, []).append(s)
            for part in [s.iter] if isinstance(s, gast.For) else [] if blocks_of(s) else [s]:
                for n in walk(part):
                    if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load):
                        self.uses.setdefault(n.id, []).append(s)

    def statement(self, s: Node) -> Block | None:
        if isinstance(s, gast.For):
            self._of_constants(s)
            return None
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(value, gast.Attribute):
            return None
        variable = getattr(s.targets[0], "id", None)
        kind = self.kind(value.value)
        if value.attr != "flat" or not isinstance(kind, K.Array) or kind.namespace != "numpy":
            return None
        uses = self.uses.get(variable or "", [])
        if variable not in self.function.temps or len(uses) != 1 or len(self.made[variable]) != 1:
            return None
        (use,) = uses
        if isinstance(use, gast.For):
            return self._looped(use, variable, value.value)
        if not self._looks(use, variable):
            return None
        return [assign(variable, call(attribute(clone(value.value), "ravel")))]

    def _looks(self, use: Node, variable: str) -> bool:
        """Say whether a statement is a call that only reads the elements."""
        asked = getattr(use, "value", None)
        if not isinstance(asked, gast.Call) or not any(
            getattr(a, "id", None) == variable for a in asked.args
        ):
            return False
        fn = self.kinds.objects.get(asked.func)
        if any(fn is known for known in _LOOKING):
            return True
        if any(k.arg in (None, "out", "copy") for k in asked.keywords):
            return False
        rule = registry.rule_for(fn)
        return rule is not None and (rule.view == "never" or fn is np.array)

    # loops

    def _of_constants(self, loop: Node) -> None:
        """Go over a constant array, of which the iterator has no name, by the array itself."""
        attributes = [n for n in walk(loop.iter) if isinstance(n, gast.Attribute)]
        owners = [n.value for n in attributes if n.attr == "flat"]
        plan = self.function.loops.get(loop)
        if plan is None or not isinstance(loop.iter, gast.Call) or len(owners) != 1:
            return
        (owner,) = owners
        kind = self.kind(owner)
        if not isinstance(owner, gast.Name) or not isinstance(kind, K.Array):
            return
        if kind.namespace != "numpy" or getattr(loop.iter.func, "id", None) not in _OVER:
            return
        inside = list(all_inside(loop.body))
        self.numbers = self._numbers(loop, inside)
        if any(self._may_write(s, owner.id) for s in inside):
            return
        parts = [loop.iter, *(plan.bounds or ()), *plan.bindings]
        for node in (n for part in parts for n in walk(part)):
            for field in ("args", "value"):
                held = getattr(node, field, None)
                if isinstance(held, list):
                    held[:] = [self._ravelled(n, owner.id) for n in held]
                elif held is not None and isinstance(node, gast.Subscript | gast.Assign):
                    setattr(node, field, self._ravelled(held, owner.id))
        self.changed = True

    def _ravelled(self, node: Node, owner: str) -> Node:
        """Return `A.ravel()` for `A.flat`."""
        flat = isinstance(node, gast.Attribute) and node.attr == "flat"
        if not flat or getattr(node.value, "id", None) != owner:
            return node
        made = call(attribute(node.value, "ravel"))
        for n in walk(made):
            locate(n, node)
        return made

    def _looped(self, loop: Node, variable: str, owner: Node) -> Block | None:
        plain = isinstance(loop.iter, gast.Name) and isinstance(loop.target, gast.Name)
        if not isinstance(loop.iter, gast.Name) and not self._goes_over(loop.iter, variable):
            return None
        inside = list(all_inside(loop.body))
        self.numbers = self._numbers(loop, inside)
        root = self._root(owner)
        if not any(self._may_write(s, root) for s in inside):
            return [assign(variable, call(attribute(clone(owner), "ravel")))]
        bound_inside = {n for s in inside if not isinstance(s, gast.AugAssign) for n in _bound(s)}
        rebound = not isinstance(owner, gast.Name) or owner.id in bound_inside
        plan = self.function.loops.get(loop)
        if not plain or plan is None or plan.own or loop.orelse:
            return None
        lines = self.lines("whole = A", A=owner) if rebound else []
        owner = name(lines[-1].targets[0].id) if rebound else owner
        lines += self.lines("every = list(np.ndindex(A.shape))", A=owner)
        every = name(lines[-1].targets[0].id)
        at = self.names.fresh("at")
        self.temps.add(at)
        read = assign(loop.target.id, subscript(clone(owner), name(at)))
        loop.iter, loop.target, loop.body = clone(every), store(at), [read, *loop.body]
        self.origins[read] = self.origins.get(loop, loop)
        for n in walk(read):
            locate(n, loop)
        bound = assign(at, subscript(clone(every), name(plan.index)))
        loops: Any = self.function.loops
        loops[loop] = Loop(plan.index, False, (call("len", clone(every)),), (bound,))
        return lines

    def _numbers(self, loop: Node, inside: list[Node]) -> set[str]:
        """Return the names of what are numbers in a loop, before their kinds are known."""
        found = {loop.target.id} if isinstance(loop.target, gast.Name) else set()
        if isinstance(loop.iter, gast.Call):
            targets = getattr(loop.target, "elts", ())
            counts = loop.iter.func.id == "enumerate"
            over = [loop.iter] * 2 if counts else loop.iter.args
            pairs = zip(targets, over, strict=False)
            found = {getattr(t, "id", "") for t, of in pairs if counts or self._is_flat(of)}
        found = {n for n in found if len(self.made.get(n, ())) == 1}
        for s in inside:
            value = getattr(s, "value", None)
            target = getattr(s.targets[0], "id", None) if isinstance(s, gast.Assign) else None
            if target in self.function.temps and isinstance(value, gast.BinOp | gast.UnaryOp):
                if all(self._is_number(n, found) for n in children(value)):
                    found.add(target)
        return found

    def _is_flat(self, over: Node) -> bool:
        made = self.made.get(getattr(over, "id", ""), [])
        return len(made) == 1 and getattr(getattr(made[0], "value", None), "attr", "") == "flat"

    def _is_number(self, node: Node, numbers: set[str]) -> bool:
        known = isinstance(self.kind(node), K.Num | K.Str)
        return known or getattr(node, "id", None) in numbers or isinstance(node, gast.Constant)

    def _goes_over(self, over: Node, variable: str) -> bool:
        """Say whether a loop goes over an iterator beside others, or counts."""
        if not isinstance(over, gast.Call) or over.keywords:
            return False
        named = [getattr(a, "id", None) for a in over.args]
        return getattr(over.func, "id", None) in _OVER and named.count(variable) == 1

    def _may_write(self, s: Node, owner: str) -> bool:
        """Say whether a statement may write the array that is gone over."""
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            number = isinstance(self.kind(s.target), K.Num)
            return not number and not self._is_apart(s.target, owner)
        target = s.target if isinstance(s, gast.AugAssign) else None
        if isinstance(s, gast.Assign):
            target = s.targets[0]
        if isinstance(target, gast.Attribute):
            return isinstance(s, gast.AugAssign)
        if isinstance(target, gast.Subscript):
            return not self._is_apart(target.value, owner)
        return any(self._calls_what_may(n, owner) for n in walk(s) if isinstance(n, gast.Call))

    def _is_apart(self, written: Node, owner: str) -> bool:
        """Say whether what is written has surely no memory of the array that is gone over."""
        kind = self.kind(written)
        if isinstance(kind, K.BuiltIn):
            return True
        variable = getattr(written, "id", None)
        if variable is None or variable == owner or not self._is_fresh(variable):
            return False
        outside = owner in self.function.params or owner not in self.function.locals
        return (outside and owner not in self.made and bool(owner)) or self._is_fresh(owner)

    def _root(self, node: Node) -> str:
        """Return the array of which one is a part, or which it is in another form; or nothing."""
        if isinstance(node, gast.Attribute | gast.Subscript):
            return self._root(node.value) if isinstance(self.kind(node.value), K.Array) else ""
        if not isinstance(node, gast.Name) or node.id in self.function.params:
            return str(getattr(node, "id", ""))
        made = self.made.get(node.id, [])
        value = getattr(made[0], "value", None) if len(made) == 1 else None
        if not isinstance(value, gast.Attribute | gast.Subscript):
            return str(node.id)
        return self._root(value) or str(node.id)

    def _is_fresh(self, variable: str) -> bool:
        """Say whether a variable holds nothing but what is made where it is bound."""
        made = self.made.get(variable, [])
        return variable not in self.function.params and bool(made) and all(map(self._makes, made))

    def _makes(self, s: Node) -> bool:
        """Say whether what a statement binds is new, or no array, or what was there before."""
        if isinstance(s, gast.AugAssign):
            return True
        if not isinstance(s, gast.Assign) or isinstance(s.targets[0], gast.Tuple):
            return False
        if not isinstance(s.targets[0], gast.Name):
            return True
        if isinstance(s.value, gast.BinOp | gast.UnaryOp | gast.Constant):
            return True
        if not isinstance(s.value, gast.Call) or any(k.arg == "out" for k in s.value.keywords):
            return False
        fn = self.kinds.objects.get(s.value.func)
        of_numpy = isinstance(fn, np.ufunc) or getattr(fn, "__module__", None) == "numpy"
        rule = registry.rule_for(fn) if of_numpy else None
        return any(fn is known for known in _FRESH) or (rule is not None and rule.view == "never")

    def _calls_what_may(self, node: Node, owner: str) -> bool:
        """Say whether a call may write the array: one of the user's that gets more than numbers."""
        if any(k.arg in (None, "out") for k in node.keywords):
            return True
        arguments = [*node.args, *(k.value for k in node.keywords)]
        given = [self.kind(a) for a in arguments]
        if any(isinstance(k, K.LocalFunction | K.Known) for k in given):
            return True
        if isinstance(node.func, gast.Attribute) and isinstance(self.kind(node.func.value), K.List):
            return False
        fn = self.kinds.objects.get(node.func)
        if isinstance(fn, types.FunctionType) and not registry.is_foreign(fn):
            numbers = all(self._is_number(a, self.numbers) for a in arguments)
            own = self.function.locals | self.function.temps | set(self.function.params)
            return not numbers or owner not in own
        effects = registry.effects_of(fn)
        if "nothing" in (effects.does, effects.writes):
            return False
        rule = None if fn is None else registry.rule_for(fn)
        return rule is None or bool(rule.calls)


def _bound(s: Node) -> set[str]:
    """Return the names that a statement binds or writes, without those of its blocks."""
    if not blocks_of(s):
        return set(names_written(s))
    parts = [s.target] if isinstance(s, gast.For) else []
    parts += [i.optional_vars for i in getattr(s, "items", ()) if i.optional_vars is not None]
    return {n.id for part in parts for n in walk(part) if isinstance(n, gast.Name)}
