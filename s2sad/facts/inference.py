"""Which kind every expression has, statement by statement.

Walks the structured program once, joining where paths meet and repeating loops until nothing
changes: the statements here, the expressions in `expression_kinds`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import InternalError
from s2sad.facts.closures import outlived
from s2sad.facts.expression_kinds import CalleeHook, Env
from s2sad.facts.filled import (
    after_method,
    appended,
    changed_names,
    copies_of,
    entered,
    fresh_lists,
    homes_of,
    left_behind,
    parts_bound,
    parts_of,
    rounds,
    views_of,
    with_part,
    without_part,
)
from s2sad.facts.lengths import alike, last_round, learn
from s2sad.facts.marks import is_empty
from s2sad.facts.members import (
    SETTING,
    class_function,
    in_place_method,
    sets_attributes,
    writes_dict,
)
from s2sad.facts.memory import may_store, root
from s2sad.facts.passing import Proved
from s2sad.facts.paths import drop_cases, join_envs
from s2sad.facts.rebound import rebound_within
from s2sad.facts.results import binary_kind, element_kind, enumerated, item_kind
from s2sad.facts.scope import Scope, imported
from s2sad.facts.tries import Tries
from s2sad.facts.truth import narrowed, pattern_truth, truth
from s2sad.kinds import MISSING, Kind
from s2sad.known.open_dicts import keys_of_other_kinds
from s2sad.nodes import (
    Block,
    Node,
    always_leaves,
    block_writes,
    blocks_of,
    names_written,
    number,
    told_of,
    walk,
)
from s2sad.selected import worked_out
from s2sad.stages import Function, KindFacts, Loop
from s2sad.syntax.decided import decided, unsettled


def once(loop: Loop) -> Loop:
    """A dict is not read by position: what the loop's header binds is saved instead."""
    return Loop(loop.index, False, None, ())


LeftHook = Callable[[KindFacts, Node, Env], "Iterable[tuple[Node, Kind]]"]


def infer(
    function: Function, params: Env, scope: Scope, callee: CalleeHook, left: LeftHook
) -> KindFacts:
    """Return the kinds of a function for the given kinds of its parameters.

    `left` says of a call of the user's function what the structures are that it has changed.
    """
    walker = _Walker(function, scope, callee, left)
    begun = {n: unsettled(k) if n in walker.rebound else k for n, k in params.items()}
    env = walker.block(function.node.body[:-1], begun)
    walker.facts.result = env.get(function.result, K.NONE)
    walker.facts.left = left_behind(function, params, env, walker.facts, walker.changed)
    walker.facts.of[function.node.body[-1].value] = walker.facts.result
    drop_cases(function.node.body, walker.facts)
    return walker.facts


class _Walker(Tries):
    def __init__(
        self, function: Function, scope: Scope, callee: CalleeHook, left: LeftHook
    ) -> None:
        super().__init__(function, scope, callee)
        self.left = left
        self.changed: dict[str, Kind] = {}
        self.depth = -1
        self.rebound = rebound_within(function.node.body)
        self.parts = parts_of(function.node.body, function.loops)
        self.homes = homes_of(function.node.body, self.parts, function.params)
        self.copies = copies_of(function.node.body, function.params)
        self.fresh = fresh_lists(function.node.body)
        self.views = views_of(function.node.body, function.params)

    def block(self, body: Block, env: Env) -> Env:
        self.depth += 1
        for statement in body:
            self.scope.step(statement)
            self.facts.before[statement] = env
            env = self._one(statement, dict(env))
            self.facts.after[statement] = env
        self.depth -= 1
        return env

    def _one(self, s: Node, env: Env) -> Env:
        """Walk one statement, with what is known of slices before it and after it."""
        if isinstance(s, gast.If) or not blocks_of(s):
            env = self.statement(s, env)
            if not isinstance(s, gast.If):
                self.slices.after(s, self._leaves_arrays(s))
            return env
        self.slices.after(s, False)
        before = self.slices.copy()
        env = self.statement(s, env)
        self.slices = before
        return env

    def _leaves_arrays(self, s: Node) -> bool:
        """Say whether a statement writes into no array: it binds names to what libraries give."""
        if not isinstance(s, gast.Assign) or not isinstance(s.targets[0], gast.Name):
            return False
        calls = [n for n in walk(s.value) if isinstance(n, gast.Call)]
        return all(registry.rule_for(self.facts.objects.get(c.func)) for c in calls)

    def statement(self, s: Node, env: Env) -> Env:
        handler = getattr(self, f"st_{type(s).__name__}", None)
        if handler is not None:
            result: Env = handler(s, env)
            return result
        for name in names_written(s):
            env[name] = K.UNKNOWN
        return env

    def st_Assign(self, s: Node, env: Env) -> Env:
        kind = self.kind(s.value, env)
        if isinstance(s.value, gast.Call):
            self._method_called(s.value, env)
            self._learn(self.proved, env)
        self._left_by_calls(s.value, env)
        known = truth(s.value, self.facts.of) if isinstance(s.targets[0], gast.Name) else None
        if known is not None and isinstance(kind, K.Num) and kind.type == "bool":
            kind = decided(known)  # `scalar = np.isscalar(x)`: tests of it are decided, too
        if isinstance(s.value, gast.List) and self._is_setting(s):
            kind = K.List(K.INT, len(s.value.elts), tuple(self.facts.of[e] for e in s.value.elts))
        if isinstance(s.targets[0], gast.Tuple | gast.List):
            self.facts.of[s.value] = K.without_none(kind)
            self._unpacked(s.targets[0], kind, env)
        for target in s.targets:
            self.bind(target, kind, env)
        self._taken_as_dict(s, env)
        return env

    def _unpacked(self, target: Node, kind: Kind, env: Env) -> None:
        """What is unpacked has as many items as there are names for them."""
        starred = any(isinstance(e, gast.Starred) for e in target.elts)
        if isinstance(kind, K.Array) and kind.rank and target.elts and not starred:
            self._learn(((kind.dims[0], len(target.elts)),), env)

    def _learn(self, proved: Proved, env: Env) -> None:
        """Note lengths that are known behind a statement, or else that would have failed."""
        for dim, count in () if self.guarded else proved:
            learn(env, dim, count, self.depth == 0)
            if self.depth == 0:
                self.facts.lengths.setdefault(dim.symbol, count + dim.cut)

    def _stored(self, place: Node, kind: Kind, env: Env, inside: bool = False) -> None:
        """What is stored in a part of a structure, or of a part of it, is known afterwards."""
        owner = place.value
        if not isinstance(owner, gast.Name):
            return
        known_owner = K.without_none(env.get(owner.id, K.UNKNOWN))
        if not K.is_container(known_owner):
            return
        env[owner.id] = known_owner
        known: Kind = K.UNKNOWN
        if isinstance(place, gast.Subscript) and not isinstance(place.slice, gast.Slice):
            known = self.facts.of.get(place.slice, K.UNKNOWN)
        self._changed(owner.id, with_part(env[owner.id], place, known, kind, inside), env)

    def _changed(self, name: str, kind: Kind, env: Env) -> None:
        """A structure has another kind; so has the one that it was taken from."""
        old = env.get(name, kind)
        if old == kind:
            return
        env[name] = kind
        self.changed[name] = K.join(self.changed.get(name, K.UNBOUND), kind)
        for other in sorted(self.copies.get(name, ())):
            if env.get(other) == old:
                self._changed(other, kind, env)
        home = self.homes.get(name)
        if home is not None:
            self._stored(home, kind, env, inside=True)

    def _left_by_calls(self, node: Node, env: Env) -> None:
        """The structures that a function of the user's was given are what it leaves."""
        for call in walk(node):
            ours = not self._may_store(getattr(call, "func", None))
            if ours and (isinstance(call, gast.Call) or call in self.facts.methods):
                for given, kind in self.left(self.facts, call, env):
                    if isinstance(given, gast.Name):
                        self._changed(given.id, kind, env)
                    elif isinstance(given, gast.Subscript | gast.Attribute):
                        self._stored(given, kind, env, inside=True)

    def _may_store(self, func: Node | None) -> bool:
        """Say whether a function without source is called; one written in Python stands for it.

        The name of one that is imported here denotes nothing in that Python's module.
        """
        called = self.facts.objects.get(func)
        if func is None or called is None or not may_store(called):
            return False
        return registry.written_form(called) is None or root(func) in self.function.locals

    def _method_called(self, call: Node, env: Env) -> None:
        """A method of a list or a dict may change what is known of it; so does setattr."""
        func = call.func
        called = self.facts.objects.get(func)
        if any(called is fn for fn in SETTING) and call.args:
            self._opened(call.args[0], env)
        elif self._may_store(func):
            self._handed_over(call, env)
        if isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name):
            owner = env.get(func.value.id)
            if isinstance(owner, K.Obj) and sets_attributes(owner.cls, func.attr):
                self._opened(func.value, env)
            elif isinstance(owner, K.AnyDict) and call.keywords:
                changes = func.attr in ("update", "pop", "setdefault")
                after = (
                    K.Unknown("a dict whose set of keys is changed by keyword arguments")
                    if changes
                    else owner
                )
                self._changed(func.value.id, after, env)
            elif isinstance(owner, K.BuiltIn):
                args = [self.facts.of.get(a, K.UNKNOWN) for a in call.args]
                self._changed(func.value.id, after_method(owner, func.attr, args), env)

    def _handed_over(self, call: Node, env: Env) -> None:
        """A function without source may store one argument in another: a float among integers."""
        given = [*call.args, *(k.value for k in call.keywords)]
        stored = [a for a in given if K.differentiable(self.facts.of.get(a, K.UNKNOWN))]
        for a in given if stored else ():
            kind = env.get(a.id, K.UNKNOWN) if isinstance(a, gast.Name) else K.UNKNOWN
            constant = not K.differentiable(kind) or is_empty(kind)
            if K.is_container(kind) and constant:
                why = "a structure that may have been changed by a function without Python source"
                self._changed(a.id, K.Unknown(why), env)

    def _opened(self, owner: Node, env: Env) -> None:
        """Forget an object whose attributes are set by names that are not known, or as a dict."""
        if isinstance(owner, gast.Name) and isinstance(env.get(owner.id), K.Obj | K.OneOf):
            why = "an object whose attributes are set by computed names, or through __dict__"
            self._changed(owner.id, K.Unknown(why), env)

    def _taken_as_dict(self, s: Node, env: Env) -> None:
        """`d = x.__dict__` may be written: each other use of d than to read from it counts."""
        value, target = s.value, s.targets[0]
        owner: Node | None = None
        if isinstance(value, gast.Attribute) and value.attr == "__dict__":
            owner = value.value
        elif isinstance(value, gast.Call) and self.facts.objects.get(value.func) is vars:
            owner = value.args[0] if value.args else None
        if owner is None:
            return
        word = target.id if isinstance(target, gast.Name) else ""
        if word not in self.function.temps or writes_dict(self.function.node, word):
            self._opened(owner, env)

    def _is_setting(self, s: Node) -> bool:
        """Say whether a list of literal integers stands in a call: nobody can change it."""
        target = s.targets[0]
        literal = all(type(number(e)) is int for e in s.value.elts)
        temp = isinstance(target, gast.Name) and target.id in self.function.temps
        return literal and temp and bool(s.value.elts)

    def bind(self, target: Node, kind: Kind, env: Env) -> None:
        if isinstance(target, gast.Name):
            if target.id in self.function.held:
                env.update({n: outlived(k, target.id) for n, k in env.items()})
            env[target.id] = unsettled(kind) if target.id in self.rebound else kind
        elif isinstance(target, gast.Tuple | gast.List):
            kind = K.without_none(kind)
            for position, part in enumerate(target.elts):
                self.bind(part, item_kind(kind, position), env)
        elif isinstance(target, gast.Starred):
            self.bind(target.value, K.UNKNOWN, env)
        else:
            self._place(target, env)
            self._stored(target, kind, env)

    def _place(self, target: Node, env: Env) -> None:
        """Note the kinds of a place that is written: its owner, its index and what is there."""
        self.kind(target, env)

    def st_AugAssign(self, s: Node, env: Env) -> Env:
        right = self.kind(s.value, env)
        if isinstance(s.target, gast.Name):
            left = K.without_none(self.kind(gast.Name(s.target.id, gast.Load(), None, None), env))
            self.facts.of[s.target] = left
            kind = left if isinstance(left, K.Array) else self._augmented(s.op, left, right, env)
            if K.is_container(left) and type(left) is type(kind):
                self._changed(s.target.id, kind, env)
            env[s.target.id] = kind
            if isinstance(left, K.Opaque):
                env[s.target.id] = K.Unknown(f"{K.describe(left)} that is changed in place")
        else:
            self._place(s.target, env)
            left = self.facts.of.get(s.target, K.UNKNOWN)
            if not isinstance(left, K.Array):
                self._stored(s.target, self._augmented(s.op, left, right, env), env)
        return env

    def _augmented(self, op: Node, left: Kind, right: Kind, env: Env) -> Kind:
        """Return the kind of what `left += right` leaves in the place of left."""
        method = in_place_method(self.scope, op, left, right)
        if method is not None:
            return self.callee(K.Known(method), [left, right], {}, env)
        return worked_out(_worked_out(type(op), left, right))

    def st_Expr(self, s: Node, env: Env) -> Env:
        self.kind(s.value, env)
        if isinstance(s.value, gast.Call):
            self._method_called(s.value, env)
            self._learn(self.proved, env)
        self._left_by_calls(s.value, env)
        return env

    def st_Delete(self, s: Node, env: Env) -> Env:
        for target in s.targets:
            if isinstance(target, gast.Name):
                env[target.id] = K.UNBOUND
                continue
            self._place(target, env)
            owner = target.value
            if isinstance(owner, gast.Name) and isinstance(env.get(owner.id), K.List):
                self._changed(owner.id, after_method(env[owner.id], "pop", []), env)
            elif isinstance(owner, gast.Name) and isinstance(env.get(owner.id), K.AnyDict):
                key = self.facts.of.get(getattr(target, "slice", None), K.UNKNOWN)
                self._changed(owner.id, without_part(env[owner.id], key), env)
            elif isinstance(owner, gast.Name) and K.is_container(env.get(owner.id, K.UNKNOWN)):
                self._changed(
                    owner.id, K.Unknown("a structure from which an item was removed"), env
                )
        return env

    def st_If(self, s: Node, env: Env) -> Env:
        self.kind(s.test, env)
        self.tested(s.test, env)
        verdict = truth(s.test, self.facts.of)
        if verdict is not None:
            self.facts.decided[s] = verdict
            return self.block(s.body if verdict else s.orelse, env)
        self.facts.decided.pop(s, None)
        before = self.slices.copy()
        then = self.block(s.body, self._where(s.test, True, env))
        after_then, self.slices = self.slices, before
        other = self.block(s.orelse, self._where(s.test, False, env))
        self.slices.meet(after_then)
        if always_leaves(s.body):
            return other
        if always_leaves(s.orelse):
            return then
        return join_envs(then, other)

    def _where(self, test: Node, verdict: bool, env: Env) -> Env:
        """Return the environment where a test came out as `verdict`."""
        env = dict(env)
        narrowed(test, verdict, env, self.facts.of)
        return env

    def st_Match(self, s: Node, env: Env) -> Env:
        self.kind(s.subject, env)
        self.matched(s, env)
        out: Env | None = None
        exhaustive = False
        for case in s.cases:
            if pattern_truth(case.pattern, self.facts.of[s.subject], self._class(env)) is False:
                self.facts.decided[case] = False
                continue
            self.facts.decided.pop(case, None)
            inside = dict(env)
            for name in names_written(case.pattern):
                inside[name] = K.UNKNOWN
            if case.guard is not None:
                self.kind(case.guard, inside)
            elif isinstance(case.pattern, gast.MatchAs) and case.pattern.pattern is None:
                exhaustive = True
                if case.pattern.name is not None:
                    inside[case.pattern.name] = self.facts.of[s.subject]
            result = self.block(case.body, inside)
            if not always_leaves(case.body):
                out = result if out is None else join_envs(out, result)
        if out is None:
            return env
        return out if exhaustive else join_envs(out, env)

    def _class(self, env: Env) -> Callable[[Node], Any]:
        """Return what says which class a pattern names, or MISSING."""

        def found(node: Node) -> Any:
            return getattr(self.kind(node, env), "value", MISSING)

        return found

    def st_Import(self, s: Node, env: Env) -> Env:
        for alias in s.names:
            name = alias.asname or alias.name.split(".")[0]
            path = alias.name if alias.asname else name
            env[name] = imported(self.scope, path, None)
        return env

    def st_ImportFrom(self, s: Node, env: Env) -> Env:
        for alias in s.names:
            whole = s.module is not None and not s.level
            env[alias.asname or alias.name] = (
                imported(self.scope, s.module, alias.name) if whole else K.UNKNOWN
            )
        return env

    def st_Assert(self, s: Node, env: Env) -> Env:
        self.kind(s.test, env)
        self.tested(s.test, env)
        if s.msg is not None:
            self.kind(s.msg, env)
        return self._where(s.test, True, env)

    def st_Raise(self, s: Node, env: Env) -> Env:
        for part in told_of(s):
            self.kind(part, env)
        if isinstance(s.exc, gast.Call):
            self.kind(s.exc.func, env)
        return env

    def st_FunctionDef(self, s: Node, env: Env) -> Env:
        env[s.name] = self._inner(s)
        return env

    def st_ClassDef(self, s: Node, env: Env) -> Env:
        env[s.name] = K.Unknown(
            f"a class that is defined inside a function ({s.name}), or an instance of it",
            None,
            f"Define {s.name} at module level, outside all functions.",
        )
        return env

    def st_While(self, s: Node, env: Env) -> Env:
        return self._loop(s, env, lambda e: self._while_head(s, e))

    def _while_head(self, s: Node, env: Env) -> Env:
        self.kind(s.test, env)
        self.tested(s.test, env)
        return self._where(s.test, True, env)

    def st_For(self, s: Node, env: Env) -> Env:
        iterable = self.kind(s.iter, env)
        whole = isinstance(iterable, K.AnyDict) or self._over_members(s.iter)
        if whole or _over_object(self.scope, s.iter, env):
            self.function.loops[s] = once(self.function.loops[s])  # type: ignore[index]
        loop = self.function.loops[s]

        def head(e: Env) -> Env:
            e = dict(e)
            item = element_kind(iterable)
            if loop.bounds is None:
                self.bind(s.target, item, e)
                return e
            for bound in loop.bounds:
                self.kind(bound, e)
            e[loop.index] = K.INT
            for binding in loop.bindings:
                self.facts.before[binding] = dict(e)
                e = self.statement(binding, e)
                self.facts.after[binding] = dict(e)
            return e

        entered = self._entered(s, env, head)
        return {**self._filled(s, env, self._loop(s, env, head)), **entered}

    def _entered(self, s: Node, env: Env, head: Callable[[Env], Env]) -> Env:
        """A dict that was empty has an entry for each of the one that a loop goes through.

        Where the values of that are of different kinds, so are those of the new one.
        """
        found = self.views.get(getattr(s.iter, "id", ""), (s.iter, ""))
        d = env.get(getattr(found[0], "id", ""))
        keys = keys_of_other_kinds(d) if d is not None else []
        names = entered(s, found[1])
        names = {n for n in names if env.get(n) == K.Dict(())} if keys else set()
        if not names:
            return {}
        slices = self.slices.copy()
        for key, kind in d.items:  # type: ignore[union-attr]
            word = K.kind_of(key, "", literal=True)
            env = head(env)
            self.bind(s.target, K.Tuple((word, kind)) if found[1] else word, env)
            env = self.block(s.body, env)
        self.slices = slices
        return {n: env[n] for n in names}

    def _filled(self, s: Node, before: Env, after: Env) -> Env:
        """A list that was empty has an item for each round, where it is known how many."""
        count = rounds(s.iter, lambda n: self.facts.of.get(n, K.UNKNOWN))
        for n in appended(s) if count else ():
            kind = after.get(n)
            fresh = n in self.fresh.get(s, ()) and before.get(n) == K.List(K.UNBOUND)
            if fresh and isinstance(kind, K.List) and kind.items is None:
                after = {**after, n: replace(kind, length=count)}
        return after

    def _over_members(self, iterable: Node) -> bool:
        """Say whether a loop goes through an Enum: its members have no positions."""
        parts = [iterable]
        if isinstance(iterable, gast.Call) and getattr(iterable.func, "id", "") != "range":
            parts += iterable.args
        found = [self.facts.of.get(n) for n in parts]
        return any(isinstance(k, K.Known) and enumerated(k.value) for k in found)

    def _loop(self, s: Node, env: Env, head: Callable[[Env], Env]) -> Env:
        written = names_written(s) | changed_names(s, self.parts, self.copies)
        outside = self.homes
        plan = self.function.loops.get(s)
        if plan is not None:
            here = parts_bound(plan.bindings).items()
            bound = block_writes(s.body)
            self.homes = {**outside, **{n: part for n, part in here if n not in bound}}
        found = self._rounds(s, env, head, written)
        self.homes = outside
        return found

    def _rounds(self, s: Node, env: Env, head: Callable[[Env], Env], written: set[str]) -> Env:
        entry = {n: (_unless_number(k) if n in written else k) for n, k in env.items()}
        born = K.newer_symbols()
        current, lost = entry, set[str]()
        for walked in itertools.count():
            around = self.trying, self.missed
            self.trying, self.missed = self.trying or not walked, False
            end = self.block(s.body, head(current))
            again = self.missed and not walked
            self.trying, self.missed = around[0], around[1] or self.missed
            ends = [] if always_leaves(s.body) else [end]
            joined = dict(entry)
            written |= self.changed.keys()
            for other in [*ends, *self._break_envs(s)]:
                joined = join_envs(joined, last_round(other, born), written)
            if walked >= _ROUNDS:
                lost |= {n for n in joined if not _settled(n, joined, current, born)}
            joined.update(dict.fromkeys(lost, K.UNKNOWN))
            if alike(joined, current, born) and not again:
                return self._left(s, current, born, written)
            current = joined
        raise InternalError("a loop without end")

    def _left(self, s: Node, head: Env, born: Callable[[str], bool], written: set[str]) -> Env:
        """Return what is known behind a loop: `while True` is left by its breaks alone."""
        ends = self._break_envs(s)
        if not isinstance(s, gast.While) or not _is_true(s.test) or not ends:
            return head
        out = last_round(ends[0], born)
        for other in ends[1:]:
            out = join_envs(out, last_round(other, born), written)
        return out

    def _break_envs(self, s: Node) -> list[Env]:
        """Return the environments at the breaks of a loop: they reach what follows it."""
        found: list[Env] = []

        def visit(block: Block) -> None:
            for statement in block:
                if isinstance(statement, gast.Break) and statement in self.facts.before:
                    found.append(self.facts.before[statement])
                elif not isinstance(statement, gast.For | gast.While | gast.FunctionDef):
                    for part in blocks_of(statement):
                        visit(part)

        visit(s.body)
        return found


def _is_true(test: Node) -> bool:
    return isinstance(test, gast.Constant) and bool(test.value)


def _unless_number(kind: Kind) -> Kind:
    """Forget values but those of numbers, which joining forgets where another one comes back."""
    return kind if isinstance(kind, K.Num) and kind.type != "bool" else K.erase_value(kind)


def _over_object(scope: Scope, iterable: Node, env: Env) -> bool:
    """Say whether a loop goes through a dict or an object of the user's: not by position."""
    if isinstance(iterable, gast.Call) and isinstance(iterable.func, gast.Name):
        if iterable.func.id == "range":
            return False
        return any(_over_object(scope, a, env) for a in iterable.args)
    kind = env.get(iterable.id) if isinstance(iterable, gast.Name) else None
    if isinstance(kind, K.Tuple) and kind.cls is not None:
        return class_function(scope, kind, "__iter__") is not None
    return isinstance(kind, K.Obj | K.AnyDict)


_ROUNDS = 8


def _settled(n: str, now: Env, before: Env, born: Callable[[str], bool]) -> bool:
    """Say whether another walk of a loop's body has told nothing new about a name."""
    return alike({n: now[n]}, {n: before.get(n, K.UNBOUND)}, born)


def _worked_out(op: type, left: Kind, right: Kind) -> Kind:
    """Return the kind of `left op right`; none where an operand has no value yet, or never."""
    nothing = isinstance(left, K.Unbound) or isinstance(right, K.Unbound)
    return K.UNBOUND if nothing else binary_kind(op, left, right)
