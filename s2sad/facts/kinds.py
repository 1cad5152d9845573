"""Which kind every expression has, statement by statement.

Walks the structured program once, joining where paths meet and repeating loops until nothing
changes. What a library function returns is found by running it on small samples.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.closures import closed, local_function
from s2sad.facts.filled import after_method, changed_names, copies_of, homes_of, with_part
from s2sad.facts.results import (
    OPERATORS,
    array_item,
    attribute_kind,
    binary_kind,
    class_function,
    compare_methods,
    dict_item,
    dict_method,
    element_kind,
    item_kind,
    known_call,
    operator_method,
    replaced_kind,
    sample_call,
    sample_method,
    scalar_kind,
    shaped_kind,
    tuple_slice,
    unary_method,
    unbound_function,
)
from s2sad.facts.scope import Scope, dotted_path
from s2sad.facts.truth import narrowed, truth
from s2sad.kinds import MISSING, Kind
from s2sad.nodes import Block, Node, blocks_of, children, names_written
from s2sad.stages import Function, KindFacts, Loop

Env = dict[str, Kind]
CalleeHook = Callable[[Any, "list[Kind] | None", "dict[str, Kind]", Env], Kind]


def once(loop: Loop) -> Loop:
    """A dict is not read by position: what the loop's header binds is saved instead."""
    return Loop(loop.index, False, None, ())


def infer(function: Function, params: Env, scope: Scope, callee: CalleeHook) -> KindFacts:
    """Return the kinds of a function for the given kinds of its parameters."""
    walker = _Walker(function, scope, callee)
    env = walker.block(function.node.body[:-1], dict(params))
    walker.facts.result = env.get(function.result, K.NONE)
    walker.facts.of[function.node.body[-1].value] = walker.facts.result
    return walker.facts


class _Walker:
    def __init__(self, function: Function, scope: Scope, callee: CalleeHook) -> None:
        self.function = function
        self.scope = scope
        self.callee = callee
        self.facts = KindFacts()
        self.homes = homes_of(function.node.body)
        self.copies = copies_of(function.node.body, function.params)

    # statements

    def block(self, body: Block, env: Env) -> Env:
        for statement in body:
            self.facts.before[statement] = env
            env = self.statement(statement, dict(env))
            self.facts.after[statement] = env
        return env

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
        if isinstance(s.value, gast.List) and self._is_setting(s):
            kind = K.List(K.INT, len(s.value.elts), tuple(self.facts.of[e] for e in s.value.elts))
        if isinstance(s.targets[0], gast.Tuple | gast.List):
            self.facts.of[s.value] = K.without_none(kind)
        for target in s.targets:
            self.bind(target, kind, env)
        return env

    def _stored(self, place: Node, kind: Kind, env: Env) -> None:
        """What is stored in a part of a structure, or of a part of it, is known afterwards."""
        owner = place.value
        if not isinstance(owner, gast.Name) or not K.is_container(env.get(owner.id, K.UNKNOWN)):
            return
        known: Kind = K.UNKNOWN
        if isinstance(place, gast.Subscript) and not isinstance(place.slice, gast.Slice):
            known = self.facts.of.get(place.slice, K.UNKNOWN)
        self._changed(owner.id, with_part(env[owner.id], place, known, kind), env)

    def _changed(self, name: str, kind: Kind, env: Env) -> None:
        """A structure has another kind; so has the one that it was taken from."""
        if env[name] == kind:
            return
        old = env[name]
        env[name] = kind
        for other in sorted(self.copies.get(name, ())):
            if env.get(other) == old:
                self._changed(other, kind, env)
        home = self.homes.get(name)
        if home is not None:
            self._stored(home, kind, env)

    def _method_called(self, call: Node, env: Env) -> None:
        """A method of a list or a dict may change what is known of it."""
        func = call.func
        if isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name):
            owner = env.get(func.value.id)
            if isinstance(owner, K.List | K.Dict):
                args = [self.facts.of.get(a, K.UNKNOWN) for a in call.args]
                self._changed(func.value.id, after_method(owner, func.attr, args), env)

    def _is_setting(self, s: Node) -> bool:
        """Say whether a list of literal integers stands in a call: nobody can change it."""
        target = s.targets[0]
        literal = all(isinstance(e, gast.Constant) and type(e.value) is int for e in s.value.elts)
        temp = isinstance(target, gast.Name) and target.id in self.function.temps
        return literal and temp and bool(s.value.elts)

    def bind(self, target: Node, kind: Kind, env: Env) -> None:
        if isinstance(target, gast.Name):
            env[target.id] = kind
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
            kept = isinstance(left, K.Array)
            env[s.target.id] = left if kept else binary_kind(type(s.op), left, right)
        else:
            self._place(s.target, env)
            left = self.facts.of.get(s.target, K.UNKNOWN)
            if not isinstance(left, K.Array):
                self._stored(s.target, binary_kind(type(s.op), left, right), env)
        return env

    def st_Expr(self, s: Node, env: Env) -> Env:
        self.kind(s.value, env)
        if isinstance(s.value, gast.Call):
            self._method_called(s.value, env)
        return env

    def st_Delete(self, s: Node, env: Env) -> Env:
        for target in s.targets:
            if isinstance(target, gast.Name):
                env[target.id] = K.UNKNOWN
                continue
            self._place(target, env)
            owner = target.value
            if isinstance(owner, gast.Name) and isinstance(env.get(owner.id), K.List):
                self._changed(owner.id, after_method(env[owner.id], "pop", []), env)
            elif isinstance(owner, gast.Name) and K.is_container(env.get(owner.id, K.UNKNOWN)):
                self._changed(owner.id, K.Unknown("a structure of which a part is gone"), env)
        return env

    def st_If(self, s: Node, env: Env) -> Env:
        self.kind(s.test, env)
        verdict = truth(s.test, self.facts.of)
        if verdict is not None:
            self.facts.decided[s] = verdict
            return self.block(s.body if verdict else s.orelse, env)
        self.facts.decided.pop(s, None)
        then = self.block(s.body, self._where(s.test, True, env))
        other = self.block(s.orelse, self._where(s.test, False, env))
        if ends_in_break_or_raise(s.body):
            return other
        if ends_in_break_or_raise(s.orelse):
            return then
        return join_envs(then, other)

    def _where(self, test: Node, verdict: bool, env: Env) -> Env:
        """Return the environment where a test came out as `verdict`."""
        env = dict(env)
        narrowed(test, verdict, env, self.facts.of)
        return env

    def st_Match(self, s: Node, env: Env) -> Env:
        self.kind(s.subject, env)
        out: Env | None = None
        exhaustive = False
        for case in s.cases:
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
            if not ends_in_break_or_raise(case.body):
                out = result if out is None else join_envs(out, result)
        if out is None:
            return env
        return out if exhaustive else join_envs(out, env)

    def st_Import(self, s: Node, env: Env) -> Env:
        for alias in s.names:
            name = alias.asname or alias.name.split(".")[0]
            path = alias.name if alias.asname else name
            env[name] = _imported(self.scope, path, None)
        return env

    def st_ImportFrom(self, s: Node, env: Env) -> Env:
        for alias in s.names:
            whole = s.module is not None and not s.level
            env[alias.asname or alias.name] = (
                _imported(self.scope, s.module, alias.name) if whole else K.UNKNOWN
            )
        return env

    def st_With(self, s: Node, env: Env) -> Env:
        for item in s.items:
            self.kind(item.context_expr, env)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, K.UNKNOWN, env)
        return self.block(s.body, env)

    def st_Try(self, s: Node, env: Env) -> Env:
        out = self.block(s.body, dict(env))
        for name in names_written(s):
            env[name] = K.join(env.get(name, K.UNBOUND), K.UNKNOWN)
        for part in blocks_of(s)[1:]:
            out = join_envs(out, self.block(part, dict(env)))
        return out

    def st_Assert(self, s: Node, env: Env) -> Env:
        self.kind(s.test, env)
        return self._where(s.test, True, env)

    def st_FunctionDef(self, s: Node, env: Env) -> Env:
        env[s.name] = self._inner(s)
        return env

    def st_While(self, s: Node, env: Env) -> Env:
        return self._loop(s, env, lambda e: self._while_head(s, e))

    def _while_head(self, s: Node, env: Env) -> Env:
        self.kind(s.test, env)
        return self._where(s.test, True, env)

    def st_For(self, s: Node, env: Env) -> Env:
        iterable = self.kind(s.iter, env)
        if isinstance(iterable, K.Dict) or _over_object(self.scope, s.iter, env):
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

        return self._loop(s, env, head)

    def _loop(self, s: Node, env: Env, head: Callable[[Env], Env]) -> Env:
        written = names_written(s) | changed_names(s, self.homes, self.copies)
        current = {n: (_unless_number(k) if n in written else k) for n, k in env.items()}
        for _ in range(8):
            end = self.block(s.body, head(current))
            ends = [] if _always_breaks(s.body) else [end]
            joined = dict(current)
            for other in [*ends, *self._break_envs(s)]:
                joined = join_envs(joined, other, written)
            if joined == current:
                break
            current = joined
        return current

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

    # expressions

    def kind(self, node: Node, env: Env) -> Kind:
        kind = self._kind(node, env)
        self.facts.of[node] = kind
        return kind

    def _kind(self, node: Node, env: Env) -> Kind:
        handler = getattr(self, f"ex_{type(node).__name__}", None)
        if handler is None:
            return K.UNKNOWN
        result: Kind = handler(node, env)
        if isinstance(result, K.LocalFunction):
            return closed(result, env)
        if isinstance(result, K.Choice):
            options = [
                closed(o, env) if isinstance(o, K.LocalFunction) else o for o in result.options
            ]
            return K.Choice(tuple(options))
        if not isinstance(node, gast.Name | gast.List) and self._never_computed(node):
            return K.UNBOUND
        if isinstance(result, K.Unknown) and not result.why:
            return self._reason(node)
        return result

    def _reason(self, node: Node) -> Kind:
        """Return why nothing is known about an operation: the reason of its first operand."""
        for operand in children(node):
            kind = self.facts.of.get(operand)
            if isinstance(kind, K.Unknown) and kind.why:
                return kind
        return K.UNKNOWN

    def _never_computed(self, node: Node) -> bool:
        """Say whether an operand has no value yet: a result of a recursion being worked out."""
        if isinstance(node, gast.BinOp):
            operands = [node.left, node.right]
        elif isinstance(node, gast.UnaryOp):
            operands = [node.operand]
        elif isinstance(node, gast.Call):
            operands = list(node.args)
        elif isinstance(node, gast.Subscript | gast.Attribute):
            operands = [node.value]
        else:
            return False
        return any(isinstance(self.facts.of.get(o), K.Unbound) for o in operands)

    def ex_Name(self, node: Node, env: Env) -> Kind:
        if node.id in env:
            return env[node.id]
        if node.id in self.function.locals:
            return K.UNBOUND
        return self._outer(node)

    def _outer(self, node: Node) -> Kind:
        value = self.scope.path(node)
        if value is MISSING:
            return K.UNKNOWN
        if K.is_function(value):
            self.facts.objects[node] = value
            return K.Known(value)
        return K.kind_of(value, dotted_path(node))

    def ex_Constant(self, node: Node, env: Env) -> Kind:
        return K.kind_of(node.value, "", literal=True)

    def ex_Attribute(self, node: Node, env: Env) -> Kind:
        root = node
        while isinstance(root, gast.Attribute):
            root = root.value
        if isinstance(root, gast.Name) and root.id not in self.function.locals:
            value = self.scope.path(node)
            if value is not MISSING:
                return self._outer(node)
        owner = self._used(node.value, env)
        if isinstance(owner, K.Obj | K.Tuple) and owner.cls is not None:
            static = self.scope.member(owner.cls, node.attr)
            if isinstance(static, property) and static.fget is not None:
                self.facts.methods[node] = (static.fget, node.value)
                return self.callee(K.Known(static.fget), [owner], {}, env)
        unbound = unbound_function(self.scope, owner, node.attr)
        if unbound is not MISSING:
            self.facts.objects[node] = unbound
            return K.Known(unbound)
        kind = K.union(attribute_kind(self.scope, k, node.attr) for k in self._owners(node))
        if isinstance(kind, K.Known) and isinstance(owner, K.Known):
            self.facts.objects[node] = kind.value
        return kind

    def ex_Subscript(self, node: Node, env: Env) -> Kind:
        owner = self._used(node.value, env)
        method = class_function(self.scope, owner, "__getitem__")
        if method is not None and not isinstance(node.slice, gast.Slice | gast.Tuple):
            self.facts.methods[node] = (method, node.value)
            return self.callee(K.Known(method), [owner, self.kind(node.slice, env)], {}, env)
        return K.union(self._subscript(k, node.slice, env) for k in K.options(owner))

    def _used(self, node: Node, env: Env) -> Kind:
        """Return the kind of an operand that cannot be None where the operation succeeds."""
        kind = K.without_none(self.kind(node, env))
        self.facts.of[node] = kind
        return kind

    def _subscript(self, owner: Kind, index: Node, env: Env) -> Kind:
        if isinstance(index, gast.Slice):
            part = self._index(index, env)
            if isinstance(owner, K.List):
                cut = K.UNKNOWN if owner.items is None else tuple_slice(K.Tuple(owner.items), part)
                return K.list_of([*cut.items]) if isinstance(cut, K.Tuple) else K.List(owner.item)
            if isinstance(owner, K.Tuple):
                return tuple_slice(owner, part)
        if isinstance(owner, K.Array):
            return array_item(owner, self._index(index, env))
        kind = self.kind(index, env)
        if isinstance(owner, K.Tuple | K.List):
            if isinstance(kind, K.Num) and kind.type in ("int", "bool"):
                return item_kind(owner, kind.value)
            return K.UNKNOWN
        if isinstance(owner, K.Dict):
            return dict_item(owner, kind)
        if isinstance(owner, K.Iterable_):
            return owner.item
        if isinstance(owner, K.Str):
            return K.Str()
        return K.UNKNOWN

    def _index(self, node: Node, env: Env) -> Any:
        """Return an index as a kind, a slice of kinds, or a tuple of those."""
        if isinstance(node, gast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(K.NONE if p is None else self.kind(p, env) for p in parts))
        if isinstance(node, gast.Tuple):
            self.facts.of[node] = K.UNKNOWN
            return tuple(self._index(e, env) for e in node.elts)
        return self.kind(node, env)

    def ex_BinOp(self, node: Node, env: Env) -> Kind:
        left, right = self._used(node.left, env), self._used(node.right, env)
        found = operator_method(self.scope, node.op, left, right)
        if found is not None:
            method, mine = found
            self.facts.methods[node] = (method, node.left if mine else node.right)
            order = [left, right] if mine else [right, left]
            return self.callee(K.Known(method), order, {}, env)
        self.facts.methods.pop(node, None)
        return binary_kind(type(node.op), left, right)

    def ex_UnaryOp(self, node: Node, env: Env) -> Kind:
        kind = self.kind(node.operand, env)
        method = unary_method(self.scope, node.op, kind)
        if method is not None:
            self.facts.methods[node] = (method, node.operand)
            return self.callee(K.Known(method), [kind], {}, env)
        if isinstance(node.op, gast.Not):
            return K.BOOL
        if isinstance(kind, K.Num) and kind.value is not MISSING:
            return K.kind_of(OPERATORS[type(node.op)](kind.value), "", literal=True)
        kind = self._used(node.operand, env)
        return K.union(_negated(type(node.op), k) for k in K.options(kind))

    def ex_Compare(self, node: Node, env: Env) -> Kind:
        kinds = [self.kind(n, env) for n in [node.left, *node.comparators]]
        method = next((m for k in kinds for m in compare_methods(self.scope, k, node.ops)), None)
        if method is not None:
            # A method of the user's may give anything: only a truth value carries no derivative.
            result = self.callee(K.Known(method), kinds[:2], {}, env)
            if isinstance(result, K.Num) and result.type == "bool":
                return K.BOOL
            self.facts.methods[node] = (method, node.left)
            return K.Unknown("what a comparison of the user's gives")
        if len(node.ops) == 1 and not isinstance(
            node.ops[0], gast.Is | gast.IsNot | gast.In | gast.NotIn
        ):
            if any(isinstance(k, K.Union) and K.may_be_array(k) for k in kinds):
                return K.UNKNOWN
            arrays = [k for k in kinds if isinstance(k, K.Array)]
            if arrays and all(isinstance(k, K.Array | K.Num) for k in kinds):
                dims: tuple[K.Dim, ...] = ()
                for k in arrays:
                    dims = K.broadcast(dims, k.dims)
                return K.Array("bool", dims, arrays[0].namespace)
            if arrays or any(isinstance(k, K.Unknown) for k in kinds):
                return K.UNKNOWN
        return K.BOOL

    def ex_BoolOp(self, node: Node, env: Env) -> Kind:
        result: Kind = K.UNBOUND
        for value in node.values:
            result = K.join(result, self.kind(value, env))
        return result

    def ex_IfExp(self, node: Node, env: Env) -> Kind:
        self.kind(node.test, env)
        return K.join(self.kind(node.body, env), self.kind(node.orelse, env))

    def ex_JoinedStr(self, node: Node, env: Env) -> Kind:
        return K.Str()

    def ex_Tuple(self, node: Node, env: Env) -> Kind:
        items: list[Kind] = []
        for e in node.elts:
            if isinstance(e, gast.Starred):
                inner = self.kind(e.value, env)
                if not isinstance(inner, K.Tuple):
                    return K.UNKNOWN
                items += inner.items
            else:
                items.append(self.kind(e, env))
        return K.Tuple(tuple(items))

    def ex_List(self, node: Node, env: Env) -> Kind:
        if not any(isinstance(e, gast.Starred) for e in node.elts):
            return K.list_of([K.erase_value(self.kind(e, env)) for e in node.elts])
        item: Kind = K.UNBOUND
        for e in node.elts:
            if isinstance(e, gast.Starred):
                item = K.join(item, element_kind(self.kind(e.value, env)))
            else:
                item = K.join(item, K.erase_value(self.kind(e, env)))
        return K.List(item)

    def ex_Dict(self, node: Node, env: Env) -> Kind:
        items: dict[Any, Kind] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            kind = self.kind(value, env)
            if key is None:
                if not isinstance(kind, K.Dict):
                    return K.Unknown("a dict made of one whose keys are not known")
                items.update(kind.items)
                continue
            literal = getattr(self.kind(key, env), "value", MISSING)
            if literal is MISSING:
                return K.Unknown("a dict whose keys are not literals")
            items[literal] = kind
        return K.Dict(tuple(items.items()))

    def ex_Lambda(self, node: Node, env: Env) -> Kind:
        return self._inner(node)

    def _inner(self, node: Node) -> Kind:
        return local_function(node, self.function.source, self.function.locals, self.function.held)

    def ex_Starred(self, node: Node, env: Env) -> Kind:
        return self.kind(node.value, env)

    def ex_Call(self, node: Node, env: Env) -> Kind:
        func = node.func
        args = self._arguments(node.args, env)
        named = [(k.arg, self.kind(k.value, env)) for k in node.keywords]
        keywords = {n: kind for n, kind in named if n is not None}
        whole = len(keywords) == len(node.keywords) and args is not None
        if isinstance(func, gast.Attribute):
            target = self.kind(func, env)
            if not isinstance(target, K.Known):
                if not whole:
                    owner = self.facts.of.get(func.value, K.UNKNOWN)
                    method = class_function(self.scope, owner, func.attr)
                    if method is not None:
                        self.facts.methods[node] = (method, func.value)
                    return _not_whole(node)
                found = [
                    self._method(owner, func.attr, args or [], keywords, node, env)
                    for owner in self._owners(func)
                ]
                return K.union(found)
        target = self.kind(func, env)
        if not whole:
            return _not_whole(node)
        if isinstance(target, K.Known):
            self.facts.objects[func] = target.value
            return self._call_known(target.value, args or [], keywords, env)
        if isinstance(target, K.Choice):
            return _one_of_several()
        return self._call_value(target, args or [], keywords, node, env)

    def _owners(self, node: Node) -> list[Kind]:
        """Return what the object of an attribute may be: Python's numbers have few attributes."""
        owner = self.facts.of.get(node.value, K.UNKNOWN)
        found = [k for k in K.options(owner) if not (_is_plain(k) and not hasattr(0j, node.attr))]
        if isinstance(owner, K.Union) and found:
            self.facts.of[node.value] = K.union(found)
        return found or [owner]

    def _call_value(
        self, target: Kind, args: list[Kind], keywords: dict[str, Kind], node: Node, env: Env
    ) -> Kind:
        """Call something that is no function by itself: an inner function, a callable object."""
        if isinstance(target, K.Obj | K.Tuple):
            method = class_function(self.scope, target, "__call__")
            if method is not None:
                self.facts.methods[node] = (method, node.func)
                return self.callee(K.Known(method), [target, *args], keywords, env)
        return self.callee(target, args, keywords, env)

    def _arguments(self, args: list[Node], env: Env) -> list[Kind] | None:
        found: list[Kind] = []
        for arg in args:
            kind = self.kind(arg, env)
            if isinstance(arg, gast.Starred):
                if not isinstance(kind, K.Tuple):
                    return None
                found += kind.items
            else:
                found.append(kind)
        return found

    def _call_known(self, fn: Any, args: list[Kind], keywords: dict[str, Kind], env: Env) -> Kind:
        kind = known_call(fn, args, keywords)
        return kind if kind is not None else self.callee(K.Known(fn), args, keywords, env)

    def _method(
        self,
        owner: Kind,
        attr: str,
        args: list[Kind],
        keywords: dict[str, Kind],
        node: Node,
        env: Env,
    ) -> Kind:
        if attr == "_replace" and isinstance(owner, K.Tuple) and not args:
            return replaced_kind(owner, keywords)
        method = class_function(self.scope, owner, attr)
        if method is not None:
            self.facts.methods[node] = (method, node.func.value)
            return self.callee(K.Known(method), [owner, *args], keywords, env)
        if isinstance(owner, K.Obj) and attr in dict(owner.fields):
            held = dict(owner.fields)[attr]
            if isinstance(held, K.Choice):
                return _one_of_several()
            return self._call_value(held, args, keywords, node, env)
        if isinstance(owner, K.Array | K.Num):
            if attr == "reshape" and args and isinstance(owner, K.Array):
                return shaped_kind(owner, args)
            fn = registry.method_function(attr)
            if fn is not None or registry.is_zero_method(attr):
                return sample_method(owner, attr, tuple(args), tuple(sorted(keywords.items())))
            return K.Unknown(f"the result of .{attr}()")
        if isinstance(owner, K.Dict):
            return dict_method(owner, attr, args)
        if isinstance(owner, K.List):
            if attr == "pop":
                return owner.item
            if attr == "copy":
                return owner
            if attr in ("append", "extend", "insert", "clear", "reverse", "sort"):
                return K.NONE
            return K.INT if attr in ("index", "count") else K.UNKNOWN
        if isinstance(owner, K.Str):
            return K.UNKNOWN if attr in ("split", "encode", "partition") else K.Str()
        return K.Unknown(f"the result of .{attr}()")


def _negated(op: type, kind: Kind) -> Kind:
    fn = OPERATORS[op]
    return scalar_kind(fn, (kind,)) if isinstance(kind, K.Num) else sample_call(fn, (kind,), ())


def _imported(scope: Scope, module: str, attr: str | None) -> Kind:
    """Return the kind of what an import statement binds."""
    try:
        value: Any = importlib.import_module(module)
    except ImportError:
        return K.UNKNOWN
    if attr is not None:
        value = scope.held(value, attr)
    return K.UNKNOWN if value is MISSING else K.kind_of(value, attr or module)


def _is_plain(kind: Kind) -> bool:
    return isinstance(kind, K.NoneKind) or (isinstance(kind, K.Num) and kind.dtype is None)


def _unless_number(kind: Kind) -> Kind:
    """Forget values but those of numbers, which joining forgets where another one comes back."""
    return kind if isinstance(kind, K.Num) and kind.type != "bool" else K.erase_value(kind)


def _over_object(scope: Scope, iterable: Node, env: Env) -> bool:
    """Say whether a loop goes through an object of the user's: it need not be by position."""
    if isinstance(iterable, gast.Call) and isinstance(iterable.func, gast.Name):
        if iterable.func.id == "range":
            return False
        return any(_over_object(scope, a, env) for a in iterable.args)
    kind = env.get(iterable.id) if isinstance(iterable, gast.Name) else None
    if isinstance(kind, K.Tuple) and kind.cls is not None:
        return class_function(scope, kind, "__iter__") is not None
    return isinstance(kind, K.Obj)


def _one_of_several() -> Kind:
    return K.Unknown("the result of one of several functions")


def _not_whole(node: Node) -> Kind:
    """What a call gives that unpacks something of which the length or the keys are not known."""
    table = any(k.arg is None for k in node.keywords)
    what = "** of a dict whose keys are" if table else "* of a sequence whose length is"
    return K.Unknown(f"the result of a call that unpacks with {what} not known")


def join_envs(left: Env, right: Env, names: set[str] | None = None) -> Env:
    """Return the kinds where two paths meet."""
    out: Env = {}
    for name in {**left, **right}:
        a = left.get(name, K.UNBOUND)
        if names is not None and name not in names:
            out[name] = a
            continue
        out[name] = K.join(a, right.get(name, K.UNBOUND))
    return out


def ends_in_break_or_raise(block: Block) -> bool:
    """Say whether a block never reaches its end."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, gast.Break | gast.Raise):
        return True
    if isinstance(last, gast.If):
        return ends_in_break_or_raise(last.body) and ends_in_break_or_raise(last.orelse)
    return False


_always_breaks = ends_in_break_or_raise
