"""Which kind every expression has, statement by statement.

Walks the structured program once, joining where paths meet and repeating loops until nothing
changes. What a library function returns is found by running it on small samples.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
import warnings
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.scope import Scope
from s2sad.flow import free_names
from s2sad.kinds import MISSING, Kind
from s2sad.nodes import Block, Node, blocks_of, names_written
from s2sad.stages import Function, KindFacts

Env = dict[str, Kind]
CalleeHook = Callable[[Any, "list[Kind] | None", "dict[str, Kind]", Env], Kind]

OPERATORS: dict[type, Callable[..., Any]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Invert: operator.invert,
}

_SAFE_BUILTINS: frozenset[Any] = frozenset(
    {abs, min, max, sum, round, divmod, pow, float, int, bool, complex, str, sorted, hash, repr}
)
_LAZY: frozenset[Any] = frozenset({range, enumerate, zip, reversed, map, filter})
_CONTENTS = (0.7, 1.7, 2.0)
_ARRAY_NUMBERS = {"ndim": "rank", "size": None, "nbytes": None, "itemsize": None}


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
        for target in s.targets:
            self.bind(target, kind, env)
        return env

    def bind(self, target: Node, kind: Kind, env: Env) -> None:
        if isinstance(target, gast.Name):
            env[target.id] = kind
        elif isinstance(target, gast.Tuple | gast.List):
            for position, part in enumerate(target.elts):
                self.bind(part, item_kind(kind, position), env)
        elif isinstance(target, gast.Starred):
            self.bind(target.value, K.UNKNOWN, env)
        else:
            self.kind(target.value, env)

    def st_AugAssign(self, s: Node, env: Env) -> Env:
        right = self.kind(s.value, env)
        if isinstance(s.target, gast.Name):
            left = self.kind(gast.Name(s.target.id, gast.Load(), None, None), env)
            self.facts.of[s.target] = left
            env[s.target.id] = binary_kind(type(s.op), left, right)
        else:
            self.kind(s.target.value, env)
        return env

    def st_Expr(self, s: Node, env: Env) -> Env:
        value = s.value
        kind = self.kind(value, env)
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
            owner = value.func.value
            if isinstance(owner, gast.Name) and isinstance(env.get(owner.id), K.List):
                env[owner.id] = self._after_list_method(env[owner.id], value)
        del kind
        return env

    def _after_list_method(self, kind: Kind, call: Node) -> Kind:
        assert isinstance(kind, K.List)
        if call.func.attr == "append" and len(call.args) == 1:
            return K.List(K.join(kind.item, K.erase_value(self.facts.of[call.args[0]])))
        if call.func.attr in ("extend", "insert"):
            return K.List(K.UNKNOWN)
        return kind

    def st_If(self, s: Node, env: Env) -> Env:
        self.kind(s.test, env)
        verdict = truth(s.test, self.facts.of)
        if verdict is not None:
            self.facts.decided[s] = verdict
            return self.block(s.body if verdict else s.orelse, env)
        self.facts.decided.pop(s, None)
        then = self.block(s.body, dict(env))
        other = self.block(s.orelse, dict(env))
        if ends_in_break_or_raise(s.body):
            return other
        if ends_in_break_or_raise(s.orelse):
            return then
        return join_envs(then, other)

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
        return env

    def st_FunctionDef(self, s: Node, env: Env) -> Env:
        env[s.name] = self._local_function(s, env)
        return env

    def st_While(self, s: Node, env: Env) -> Env:
        return self._loop(s, env, lambda e: self._while_head(s, e))

    def _while_head(self, s: Node, env: Env) -> Env:
        self.kind(s.test, env)
        return env

    def st_For(self, s: Node, env: Env) -> Env:
        iterable = self.kind(s.iter, env)
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
        entry = {n: K.erase_value(k) for n, k in env.items()}
        written = names_written(s) | _mutated(s)
        current = {n: (entry[n] if n in written else env[n]) for n in env}
        for _ in range(8):
            self.exits: list[Env] = []
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
        if not isinstance(node, gast.Name | gast.List) and self._never_computed(node):
            return K.UNBOUND
        return result

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
        return K.kind_of(value, _dotted(node))

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
        owner = self.kind(node.value, env)
        if isinstance(owner, K.Obj | K.Tuple) and owner.cls is not None:
            static = inspect.getattr_static(owner.cls, node.attr, None)
            if isinstance(static, property) and static.fget is not None:
                self.facts.methods[node] = (static.fget, node.value)
                return self.callee(K.Known(static.fget), [owner], {}, env)
        return attribute_kind(owner, node.attr)

    def ex_Subscript(self, node: Node, env: Env) -> Kind:
        owner = self.kind(node.value, env)
        return self._subscript(owner, node.slice, env)

    def _subscript(self, owner: Kind, index: Node, env: Env) -> Kind:
        if isinstance(index, gast.Slice):
            part = self._index(index, env)
            if isinstance(owner, K.List):
                return K.List(owner.item)
            if isinstance(owner, K.Tuple):
                return _tuple_slice(owner, part)
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
        return binary_kind(type(node.op), self.kind(node.left, env), self.kind(node.right, env))

    def ex_UnaryOp(self, node: Node, env: Env) -> Kind:
        kind = self.kind(node.operand, env)
        if isinstance(node.op, gast.Not):
            return K.BOOL
        if isinstance(kind, K.Num) and kind.value is not MISSING:
            return K.kind_of(OPERATORS[type(node.op)](kind.value), "", literal=True)
        return sample_call(OPERATORS[type(node.op)], (kind,), ())

    def ex_Compare(self, node: Node, env: Env) -> Kind:
        kinds = [self.kind(n, env) for n in [node.left, *node.comparators]]
        if len(node.ops) == 1 and not isinstance(node.ops[0], gast.Is | gast.IsNot | gast.In | gast.NotIn):
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
        item: Kind = K.UNBOUND
        for e in node.elts:
            if isinstance(e, gast.Starred):
                item = K.join(item, element_kind(self.kind(e.value, env)))
            else:
                item = K.join(item, K.erase_value(self.kind(e, env)))
        starred = any(isinstance(e, gast.Starred) for e in node.elts)
        return K.List(item, None if starred or not node.elts else len(node.elts))

    def ex_Dict(self, node: Node, env: Env) -> Kind:
        items = []
        for key, value in zip(node.keys, node.values, strict=True):
            known = key is not None and self.kind(key, env)
            literal = getattr(known, "value", MISSING)
            kind = self.kind(value, env)
            if literal is MISSING:
                return K.Unknown("a dict whose keys are not literals")
            items.append((literal, kind))
        return K.Dict(tuple(items))

    def ex_Lambda(self, node: Node, env: Env) -> Kind:
        return self._local_function(node, env)

    def _local_function(self, node: Node, env: Env) -> Kind:
        """Return the kind of an inner function: what it captures is found in this function."""
        names: list[str] = []
        pending = sorted(free_names(node) & self.function.locals)
        while pending:
            n = pending.pop(0)
            if n in names:
                continue
            names.append(n)
            kind = env.get(n)
            if isinstance(kind, K.LocalFunction):
                pending += [local for _, local in kind.links]
        return K.LocalFunction(node, self.function.source, tuple((n, n) for n in names))

    def ex_Starred(self, node: Node, env: Env) -> Kind:
        return self.kind(node.value, env)

    def ex_Call(self, node: Node, env: Env) -> Kind:
        func = node.func
        args = self._arguments(node.args, env)
        keywords = {k.arg: self.kind(k.value, env) for k in node.keywords if k.arg is not None}
        whole = len(keywords) == len(node.keywords) and args is not None
        if isinstance(func, gast.Attribute):
            target = self.kind(func, env)
            if not isinstance(target, K.Known):
                owner = self.facts.of.get(func.value, K.UNKNOWN)
                if not whole:
                    return K.UNKNOWN
                return self._method(owner, func.attr, args or [], keywords, node, env)
        target = self.kind(func, env)
        if not whole:
            return self.callee(target, None, keywords, env)
        if isinstance(target, K.Known):
            self.facts.objects[func] = target.value
            return self._call_known(target.value, args or [], keywords, env)
        return self._call_value(target, args or [], keywords, node, env)

    def _call_value(
        self, target: Kind, args: list[Kind], keywords: dict[str, Kind], node: Node, env: Env
    ) -> Kind:
        """Call something that is no function by itself: an inner function, a callable object."""
        if isinstance(target, K.Obj | K.Tuple):
            method = class_function(target, "__call__")
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

    def _call_known(
        self, fn: Any, args: list[Kind], keywords: dict[str, Kind], env: Env
    ) -> Kind:
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
        method = class_function(owner, attr)
        if method is not None:
            self.facts.methods[node] = (method, node.func.value)
            return self.callee(K.Known(method), [owner, *args], keywords, env)
        if isinstance(owner, K.Obj) and attr in dict(owner.fields):
            return self._call_value(dict(owner.fields)[attr], args, keywords, node, env)
        if isinstance(owner, K.Array | K.Num):
            fn = registry.method_function(attr)
            if fn is not None or registry.is_zero_method(attr):
                return sample_method(owner, attr, tuple(args), tuple(sorted(keywords.items())))
            return K.Unknown(f"the result of .{attr}()")
        if isinstance(owner, K.Dict):
            return _dict_method(owner, attr, args)
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


def class_function(owner: Kind, attr: str) -> Any:
    """Return the function that a method of an object is, or None."""
    cls = getattr(owner, "cls", None)
    if cls is None or (isinstance(owner, K.Obj) and attr in dict(owner.fields)):
        return None
    static = inspect.getattr_static(cls, attr, None)
    return static if isinstance(static, types.FunctionType) else None


def known_call(fn: Any, args: list[Kind], keywords: dict[str, Kind]) -> Kind | None:
    """Return the kind of a library call, or None where the function is the user's."""
    if fn is len and len(args) == 1:
        return length_kind(args[0])
    if fn in _SEQUENCES:
        return _sequence_kind(fn, args)
    if _hashable(fn) and fn in _LAZY:
        return _lazy_kind(fn, args)
    if fn in (isinstance, issubclass, callable, any, all, hasattr):
        return K.BOOL
    if fn is print:
        return K.NONE
    if fn is np.matmul:
        return matmul_kind(args[0], args[1])
    if fn is np.dot and not keywords and len(args) == 2:
        return dot_kind(args[0], args[1])
    rule = registry.rule_for(fn)
    if rule is not None or (_hashable(fn) and fn in _SAFE_BUILTINS):
        if rule is not None and rule.partials is not None and not keywords:
            return elementwise_kind(fn, tuple(args))
        return sample_call(fn, tuple(args), tuple(sorted(keywords.items())))
    if isinstance(fn, type) and issubclass(fn, tuple) and hasattr(fn, "_fields"):
        order = [*args, *(keywords[f] for f in fn._fields[len(args) :] if f in keywords)]
        if len(order) == len(fn._fields):
            return K.Tuple(tuple(order), fn)
    return None


def _hashable(fn: Any) -> bool:
    return getattr(type(fn), "__hash__", None) is not None


_SEQUENCES = (list, tuple)


def _sequence_kind(fn: Any, args: list[Kind]) -> Kind:
    if not args:
        return K.List(K.UNBOUND) if fn is list else K.Tuple(())
    if fn is tuple:
        return K.Tuple(args[0].items) if isinstance(args[0], K.Tuple) else K.UNKNOWN
    return K.List(K.erase_value(element_kind(args[0])))


def _lazy_kind(fn: Any, args: list[Kind]) -> Kind:
    if fn is range:
        return K.Iterable_(K.INT)
    if fn is enumerate:
        return K.Iterable_(K.Tuple((K.INT, element_kind(args[0]))))
    if fn is zip:
        return K.Iterable_(K.Tuple(tuple(element_kind(a) for a in args)))
    if fn is reversed:
        return K.Iterable_(element_kind(args[0]))
    return K.UNKNOWN


def _dict_method(owner: K.Dict, attr: str, args: list[Kind]) -> Kind:
    values: Kind = K.UNBOUND
    keys: Kind = K.UNBOUND
    for key, kind in owner.items:
        values = K.join(values, kind)
        keys = K.join(keys, K.erase_value(K.kind_of(key, "", literal=True)))
    if attr == "values":
        return K.Iterable_(values)
    if attr == "keys":
        return K.Iterable_(keys)
    if attr == "items":
        return K.Iterable_(K.Tuple((keys, values)))
    if attr == "get" and args:
        key = getattr(args[0], "value", MISSING)
        if key is not MISSING and key not in dict(owner.items):
            return args[1] if len(args) > 1 else K.NONE
        return dict_item(owner, args[0])
    return owner if attr == "copy" else K.UNKNOWN


def _dotted(node: Node) -> str:
    return node.id if isinstance(node, gast.Name) else f"{_dotted(node.value)}.{node.attr}"


def item_kind(owner: Kind, index: Any) -> Kind:
    """Return the kind of one item of a sequence; index may be MISSING."""
    if isinstance(owner, K.Tuple):
        if isinstance(index, int) and -len(owner.items) <= index < len(owner.items):
            return owner.items[index]
        result: Kind = K.UNBOUND
        for kind in owner.items:
            result = K.join(result, kind)
        return result
    return element_kind(owner)


def dict_item(owner: K.Dict, key: Kind) -> Kind:
    """Return the kind of a dict's value."""
    literal = getattr(key, "value", MISSING)
    if literal is not MISSING:
        return dict(owner.items).get(literal, K.UNKNOWN)
    result: Kind = K.UNBOUND
    for _, kind in owner.items:
        result = K.join(result, kind)
    return result


def element_kind(kind: Kind) -> Kind:
    """Return the kind of what a loop over a value binds."""
    if isinstance(kind, K.Array):
        if kind.rank == 0:
            return K.UNKNOWN
        return array_item(kind, K.Num("int", None, 0))
    if isinstance(kind, K.List | K.Iterable_):
        return own_lengths(kind.item)
    if isinstance(kind, K.Tuple):
        return item_kind(kind, MISSING)
    if isinstance(kind, K.Dict):
        return K.join(K.UNBOUND, K.Str())
    if isinstance(kind, K.Str):
        return K.Str()
    return K.UNKNOWN


def own_lengths(kind: Kind) -> Kind:
    """Items of a list have lengths of their own: return a kind with fresh symbols."""
    if isinstance(kind, K.Array):
        dims = tuple(
            d if d.symbol.startswith("=") else K.Dim(K.fresh_dim().symbol, 0, d.many and not d.cut)
            for d in kind.dims
        )
        return K.Array(kind.dtype, dims, kind.namespace)
    if isinstance(kind, K.Tuple):
        return K.Tuple(tuple(own_lengths(k) for k in kind.items), kind.cls)
    if isinstance(kind, K.Dict):
        return K.Dict(tuple((key, own_lengths(k)) for key, k in kind.items))
    if isinstance(kind, K.Obj):
        return K.Obj(kind.cls, tuple((n, own_lengths(k)) for n, k in kind.fields))
    return kind


def length_kind(kind: Kind) -> Kind:
    """Return the kind of len(value)."""
    if isinstance(kind, K.Array) and kind.rank:
        return K.Num("int", None, MISSING, kind.dims[0])
    if isinstance(kind, K.Tuple):
        return K.Num("int", None, len(kind.items))
    return K.INT


def attribute_kind(owner: Kind, attr: str) -> Kind:
    """Return the kind of an attribute of a value."""
    if isinstance(owner, K.Array):
        return _array_attribute(owner, attr)
    if isinstance(owner, K.Num):
        if attr in ("real", "imag"):
            real = "float" if owner.type == "complex" else owner.type
            return K.Num(real, owner.dtype if owner.type != "complex" else _real_name(owner.dtype))
        if attr == "T":
            return owner
        return {"ndim": K.Num("int", None, 0), "shape": K.Tuple(()), "size": K.INT}.get(
            attr, K.UNKNOWN
        )
    if isinstance(owner, K.Tuple) and owner.cls is not None:
        names = getattr(owner.cls, "_fields", ())
        if attr in names:
            return owner.items[names.index(attr)]
        by_hidden = getattr(owner.cls, attr, None)
        return K.UNKNOWN if by_hidden is None else K.Unknown(f"the attribute {attr}")
    if isinstance(owner, K.Obj):
        fields = dict(owner.fields)
        if attr in fields and not isinstance(getattr(owner.cls, attr, None), property):
            return fields[attr]
        return K.Unknown(f"the attribute {attr} of {owner.cls.__name__}")
    return K.UNKNOWN


def _real_name(dtype: str | None) -> str | None:
    return {"complex64": "float32", "complex128": "float64"}.get(dtype or "", None)


def _array_attribute(owner: K.Array, attr: str) -> Kind:
    if attr == "shape":
        return K.Tuple(tuple(_dim_number(d) for d in owner.dims))
    if attr == "T":
        return K.Array(owner.dtype, owner.dims[::-1], owner.namespace)
    if attr == "ndim":
        return K.Num("int", None, owner.rank)
    if attr in ("size", "nbytes", "itemsize"):
        if attr == "size" and owner.rank == 1:
            return K.Num("int", None, MISSING, owner.dims[0])
        return K.INT
    if attr == "dtype":
        return K.Known(np.dtype(owner.dtype))
    if attr in ("real", "imag", "mT"):
        return sample_call(operator.attrgetter(attr), (owner,), ())
    return K.Unknown(f"the attribute {attr} of an array")


def _dim_number(dim: K.Dim) -> Kind:
    if dim.symbol.startswith("="):
        return K.Num("int", None, int(dim.symbol[1:]) - dim.cut)
    return K.Num("int", None, MISSING, dim)


def _tuple_slice(owner: K.Tuple, part: Any) -> Kind:
    values = []
    for kind in (part.start, part.stop, part.step):
        if isinstance(kind, K.NoneKind):
            values.append(None)
        elif isinstance(kind, K.Num) and isinstance(kind.value, int):
            values.append(kind.value)
        else:
            return K.UNKNOWN
    return K.Tuple(owner.items[slice(*values)])


def _freeze(index: Any) -> Any:
    if isinstance(index, slice):
        return ("slice", index.start, index.stop, index.step)
    if isinstance(index, tuple):
        return ("tuple", *map(_freeze, index))
    return index


@functools.lru_cache(4096)
def _array_item(owner: K.Array, frozen: Any) -> Kind:
    flat = list(_flat(frozen))

    def run(sampler: K.Sampler, content: float) -> Any:
        array = sampler.sample(owner, content)
        return array[_sample_index(frozen, sampler)]

    return _two_runs(run, (owner, *flat))


def _flat(frozen: Any) -> Any:
    if isinstance(frozen, tuple):
        for part in frozen[1:]:
            yield from _flat(part)
    elif isinstance(frozen, Kind):
        yield frozen


def _sample_index(frozen: Any, sampler: K.Sampler) -> Any:
    if isinstance(frozen, tuple):
        parts = [_sample_index(p, sampler) for p in frozen[1:]]
        return slice(*parts) if frozen[0] == "slice" else tuple(parts)
    if frozen == K.Known(Ellipsis):
        return Ellipsis
    if isinstance(frozen, K.Num) and frozen.type == "int":
        if frozen.value is MISSING and frozen.dim is None:
            return sampler.run
    return sampler.sample(frozen, 0.7)


def array_item(owner: K.Array, index: Any) -> Kind:
    """Return the kind of `array[index]`."""
    return _array_item(owner, _freeze(index))


def _scalar_value(kind: Kind) -> bool:
    return isinstance(kind, K.Num) and kind.value is not MISSING


def binary_kind(op: type, left: Kind, right: Kind) -> Kind:
    """Return the kind of `left op right`."""
    fn = OPERATORS[op]
    if op is gast.MatMult:
        return matmul_kind(left, right)
    if _scalar_value(left) and _scalar_value(right):
        try:
            return K.kind_of(fn(left.value, right.value), "", literal=True)  # type: ignore[attr-defined]
        except (ArithmeticError, TypeError, ValueError):
            return K.UNKNOWN
    numeric = (K.Num, K.Array)
    if isinstance(left, numeric) and isinstance(right, numeric):
        if op is gast.Pow and _int_power(left, right):
            return K.FLOAT if left.type == "float" else K.INT  # type: ignore[union-attr]
        if isinstance(left, K.Array) or isinstance(right, K.Array):
            return elementwise_kind(fn, (left, right))
        return sample_call(fn, (left, right), ())
    if isinstance(left, K.List) and op is gast.Add and isinstance(right, K.List):
        return K.List(K.join(left.item, right.item))
    if op is gast.Mult and K.List in (type(left), type(right)):
        return K.List(left.item if isinstance(left, K.List) else right.item)  # type: ignore[union-attr]
    if isinstance(left, K.Tuple) and isinstance(right, K.Tuple) and op is gast.Add:
        return K.Tuple(left.items + right.items)
    if isinstance(left, K.Str) or isinstance(right, K.Str):
        return K.Str()
    return K.UNKNOWN


def _int_power(left: Kind, right: Kind) -> bool:
    return (
        isinstance(left, K.Num)
        and isinstance(right, K.Num)
        and left.dtype is None
        and right.dtype is None
        and right.type == "int"
        and left.type in ("int", "float")
        and right.value is MISSING
    )


@functools.lru_cache(4096)
def elementwise_kind(fn: Any, args: tuple[Kind, ...]) -> Kind:
    """Return the kind of an elementwise function: lengths by broadcasting, dtype by a sample."""
    if any(not isinstance(a, K.Num | K.Array | K.NoneKind) for a in args):
        return sample_call(fn, args, ())
    arrays = [a for a in args if isinstance(a, K.Array)]
    if not arrays:
        return sample_call(fn, args, ())
    small = tuple(
        K.Array(a.dtype, (K.ONE,) * a.rank) if isinstance(a, K.Array) else a for a in args
    )
    kind = sample_call(fn, small, ())
    if not isinstance(kind, K.Array):
        return kind
    dims: tuple[K.Dim, ...] = ()
    for a in arrays:
        dims = K.broadcast(dims, a.dims)
    if len(dims) != kind.rank:
        return K.UNKNOWN
    return K.Array(kind.dtype, dims, arrays[0].namespace)


def matmul_kind(left: Kind, right: Kind) -> Kind:
    """Return the kind of `left @ right`."""
    if not (isinstance(left, K.Array) and isinstance(right, K.Array)):
        return K.UNKNOWN
    if left.rank == 0 or right.rank == 0:
        return K.UNKNOWN
    dtype = np.result_type(left.dtype, right.dtype).name
    batch = K.broadcast(left.dims[:-2], right.dims[:-2])
    dims = batch + left.dims[-2:-1] + (right.dims[-1:] if right.rank > 1 else ())
    return _array_or_scalar(dtype, dims, left.namespace)


def _array_or_scalar(dtype: str, dims: tuple[K.Dim, ...], namespace: str) -> Kind:
    if dims:
        return K.Array(dtype, dims, namespace)
    names = {"f": "float", "c": "complex", "i": "int", "u": "int", "b": "bool"}
    return K.Num(names[np.dtype(dtype).kind], dtype)


def dot_kind(left: Kind, right: Kind) -> Kind:
    """Return the kind of np.dot."""
    if not (isinstance(left, K.Array) and isinstance(right, K.Array)):
        return elementwise_kind(operator.mul, (left, right))
    if left.rank == 0 or right.rank == 0:
        return elementwise_kind(np.multiply, (left, right))
    dtype = np.result_type(left.dtype, right.dtype).name
    dims = left.dims[:-1] + (right.dims[:-2] + right.dims[-1:] if right.rank > 1 else ())
    return _array_or_scalar(dtype, dims, left.namespace)


@functools.lru_cache(4096)
def sample_call(
    fn: Any, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]
) -> Kind:
    """Return the kind of a pure library function's result, by running it on small samples."""

    def run(sampler: K.Sampler, content: float) -> Any:
        values = [sampler.sample(a, content) for a in args]
        return fn(*values, **{k: sampler.sample(v, content) for k, v in keywords})

    return _two_runs(run, (*args, *(v for _, v in keywords)))


@functools.lru_cache(4096)
def sample_method(
    owner: Kind, attr: str, args: tuple[Kind, ...], keywords: tuple[tuple[str, Kind], ...]
) -> Kind:
    """Return the kind of an array method's result."""

    def call(self: Any, *values: Any, **settings: Any) -> Any:
        return getattr(self, attr)(*values, **settings)

    return sample_call(call, (owner, *args), keywords)


_FAILURES = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    np.linalg.LinAlgError,
)


def _two_runs(run: Callable[[K.Sampler, float], Any], kinds: tuple[Kind, ...]) -> Kind:
    for uniform in (False, True):
        for content in _CONTENTS:
            one, two = (K.Sampler(kinds, r, uniform) for r in (0, 1))
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    first = run(one, content)
                except _FAILURES:
                    continue
                try:
                    second = run(two, content)
                except _FAILURES:
                    second = MISSING
            return K.read_back(first, second, one, two)
    return K.UNKNOWN


def truth(test: Node, kinds: dict[Any, Kind]) -> bool | None:
    """Return what a test is known to be by kinds alone, or None."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        inner = truth(test.operand, kinds)
        return None if inner is None else not inner
    if isinstance(test, gast.BoolOp):
        verdicts = [truth(v, kinds) for v in test.values]
        stop = isinstance(test.op, gast.Or)
        if verdicts[0] is stop or all(v is (not stop) for v in verdicts):
            return verdicts[0] if verdicts[0] is stop else not stop
        return None
    if isinstance(test, gast.Compare) and len(test.ops) == 1:
        return _compare_truth(test, kinds)
    if isinstance(test, gast.Call) and isinstance(test.func, gast.Name):
        if test.func.id == "isinstance" and len(test.args) == 2:
            return _isinstance_truth(kinds.get(test.args[0]), kinds.get(test.args[1]))
        if test.func.id == "callable" and len(test.args) == 1:
            kind = kinds.get(test.args[0])
            return True if isinstance(kind, K.Known | K.LocalFunction) else None
    return None


def _compare_truth(test: Node, kinds: dict[Any, Kind]) -> bool | None:
    left = kinds.get(test.left, K.UNKNOWN)
    right = kinds.get(test.comparators[0], K.UNKNOWN)
    op = test.ops[0]
    if isinstance(op, gast.Is | gast.IsNot):
        known = _is_truth(left, right)
        return known if known is None or isinstance(op, gast.Is) else not known
    ndim = isinstance(test.left, gast.Attribute) and test.left.attr == "ndim"
    if ndim and isinstance(left, K.Num) and isinstance(right, K.Num):
        if left.value is MISSING or right.value is MISSING:
            return None
        table = {
            gast.Eq: operator.eq, gast.NotEq: operator.ne, gast.Lt: operator.lt,
            gast.LtE: operator.le, gast.Gt: operator.gt, gast.GtE: operator.ge,
        }
        fn = table.get(type(op))
        return None if fn is None else bool(fn(left.value, right.value))
    return None


def _is_truth(left: Kind, right: Kind) -> bool | None:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, K.NoneKind):
            if isinstance(other, K.NoneKind):
                return True
            if not isinstance(other, K.Unknown | K.Unbound):
                return False
    if isinstance(left, K.Known) and isinstance(right, K.Known):
        return left.value is right.value
    return None


def _isinstance_truth(value: Kind | None, cls: Kind | None) -> bool | None:
    wanted: Any = None
    if isinstance(cls, K.Known):
        wanted = cls.value
    elif isinstance(cls, K.Tuple) and all(isinstance(k, K.Known) for k in cls.items):
        wanted = tuple(k.value for k in cls.items)  # type: ignore[attr-defined]
    actual = python_type(value)
    if wanted is None or actual is None:
        return None
    try:
        return issubclass(actual, wanted)
    except TypeError:
        return None


def python_type(kind: Kind | None) -> type | None:
    """Return the class of all values of a kind, or None where it is not one class."""
    if isinstance(kind, K.Num):
        if kind.dtype is None:
            return {"bool": bool, "int": int, "float": float, "complex": complex}[kind.type]
        return None if kind.dtype == "any" else np.dtype(kind.dtype).type
    if isinstance(kind, K.Array) and kind.namespace == "numpy":
        return np.ndarray
    if isinstance(kind, K.Tuple):
        return kind.cls or tuple
    if isinstance(kind, K.Obj):
        return kind.cls
    table: dict[type, type] = {
        K.Str: str, K.List: list, K.Dict: dict, K.NoneKind: type(None)
    }
    return table.get(type(kind))


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


def _mutated(loop: Node) -> set[str]:
    """Return the names of lists that a loop's body may change by a method."""
    found: set[str] = set()

    def visit(block: Block) -> None:
        for s in block:
            if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
                func = s.value.func
                if isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name):
                    found.add(func.value.id)
            for part in blocks_of(s):
                visit(part)

    visit(loop.body)
    return found



