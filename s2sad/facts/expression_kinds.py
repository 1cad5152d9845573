"""Which kind an expression has, given those of the variables in it.

What a library function returns is found by running it on small samples; what a function of the
user's returns is asked of the `CalleeHook`.
"""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable, Iterable
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry, tree
from s2sad.checkpoints import checkpoint
from s2sad.derivative import applies
from s2sad.emitted.replay import runs_rounds
from s2sad.errors import Error
from s2sad.facts.attributes import attribute_kind
from s2sad.facts.closures import checkpoint_kind, closed, local_function
from s2sad.facts.dict_kinds import dict_method
from s2sad.facts.draws import drawn, generator_made
from s2sad.facts.implied import (
    of_attributes,
    of_comparison,
    of_key,
    of_library,
    of_test,
    of_text,
)
from s2sad.facts.lengths import own_lengths
from s2sad.facts.library import object_attribute, object_made, object_method, object_operator
from s2sad.facts.loop_state import kinds_in_all_rounds
from s2sad.facts.members import (
    OF_GENERIC,
    class_function,
    compare_methods,
    dispatched,
    is_generic,
    method_unknown,
    operator_method,
    unary_method,
    unbound_function,
)
from s2sad.facts.mistakes import Mistakes
from s2sad.facts.operators import Pullback, applied_kind, attribute_applied
from s2sad.facts.passing import Proved, brought_along
from s2sad.facts.ravelled import ravel_kind
from s2sad.facts.results import (
    OPERATORS,
    array_item,
    binary_kind,
    element_kind,
    item_kind,
    known_call,
    listed,
    replaced_kind,
    sample_call,
    sample_method,
    scalar_kind,
    shaped_kind,
    tuple_slice,
)
from s2sad.facts.sampled import survives_none
from s2sad.facts.scope import Scope, are_names, dotted_path, undecorated
from s2sad.facts.slices import Slices, grid_kind
from s2sad.facts.texts import text_method
from s2sad.facts.trees import tree_kind
from s2sad.facts.value_kinds import is_value, value_made, value_method
from s2sad.inside import hook_here, within_gradient
from s2sad.kinds import MISSING, Kind
from s2sad.known.generators import GENERATORS, generator_of
from s2sad.known.lifted import lifted, space_among
from s2sad.known.mixed import alternatives, dtype_of_either, is_mixed
from s2sad.known.open_dicts import dict_item, with_entry
from s2sad.known.samples import is_number, rising
from s2sad.known.spaces import home
from s2sad.known.unread import blamed
from s2sad.nodes import Node, children, walk
from s2sad.selected import worked_out
from s2sad.stages import Function, KindFacts
from s2sad.syntax.decided import TOLD, Decided, compared, decided, verdict

Env = dict[str, Kind]
CalleeHook = Callable[[Any, "list[Kind] | None", "dict[str, Kind]", Env], "tuple[Kind, Proved]"]


class Expressions:
    """Asks an expression for its kind, and notes the kinds of all its parts.

    While `trying`, an item that a dict lacks has no value: what is raised there is caught, or a
    later round of the loop has the item. What was `missed` so is looked at again.
    """

    def __init__(self, function: Function, scope: Scope, callee: CalleeHook) -> None:
        self.function = function
        self.scope = scope
        self.hook = callee
        self.proved: Proved = ()
        self.facts = KindFacts()
        self.slices = Slices(function.locals)
        self.trying = False
        self.missed = False
        self.mistakes = Mistakes(function.source, scope, self.facts)

    def kind(self, node: Node, env: Env) -> Kind:
        kind = self._kind(node, env)
        if not isinstance(node, gast.Name | gast.Attribute | gast.Subscript):
            kind = worked_out(kind)
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
        fn = self.facts.objects.get(node.func) if isinstance(node, gast.Call) else None
        if registry.is_without_rule(fn):
            return blamed(self.mistakes.without_rule(node, fn))
        operands = list(children(node))
        if self.mistakes.calls_method(node):
            operands[0] = node.func.value
        for operand in operands:
            kind = self.facts.of.get(operand)
            if isinstance(kind, K.Unknown) and kind.why and not self.mistakes.is_given(kind):
                return kind
        error = self.mistakes.of(node)
        return K.UNKNOWN if error is None else blamed(error)

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
        return any(_has_no_value(self.facts.of.get(o)) for o in operands)

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
        literal = are_names(value) or self._is_inf(node, value)
        return self.scope.kind(value, dotted_path(node), literal)

    def _is_inf(self, node: Node, value: Any) -> bool:
        """Say whether something is np.inf or math.inf, which is no variable."""
        found = type(value) is float and value == math.inf and isinstance(node, gast.Attribute)
        return found and inspect.ismodule(self.scope.path(node.value))

    def ex_Constant(self, node: Node, env: Env) -> Kind:
        if node.kind == TOLD:
            return decided(node.value)
        return self.scope.kind(node.value, "", literal=True)

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
        if isinstance(owner, K.Opaque):
            return object_attribute(owner, node.attr)
        if isinstance(owner, K.Known):
            derivative = attribute_applied(self.scope.stands, owner.value, node.attr)
            if derivative is not None:
                return derivative
            brought = brought_along(owner.value, node.attr)
            if brought is not None:
                return brought
        if node.attr == "dtype" and is_mixed(owner):
            return dtype_of_either(owner)
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
        kind = K.union(self._subscript(k, node.slice, env) for k in K.options(owner))
        of_key(self.scope, self.facts, node.slice, self._called(env))
        if self.trying and isinstance(owner, K.Dict) and isinstance(kind, K.Unknown):
            key = getattr(self.facts.of.get(node.slice), "value", MISSING)
            if key is not MISSING and key not in dict(owner.items):
                self.missed = True
                return K.UNBOUND
        return kind

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
            if isinstance(owner, K.Iterable_):
                return owner if owner.indexed else K.UNKNOWN
        if isinstance(owner, K.Array):
            parts = self._index(index, env)
            return self.slices.named(array_item(owner, parts), owner, index, parts, self.facts.of)
        if isinstance(owner, K.Unknown):
            return grid_kind(owner.cls, self._index(index, env))
        kind = self.kind(index, env)
        if isinstance(owner, K.Tuple | K.List):
            if isinstance(kind, K.Num) and kind.type in ("int", "bool"):
                return item_kind(owner, kind.value)
            return K.UNKNOWN
        if isinstance(owner, K.Dict):
            return dict_item(owner, kind)
        if isinstance(owner, K.OpenDict):
            return own_lengths(owner.item)
        if isinstance(owner, K.Iterable_):
            return owner.item
        if isinstance(owner, K.Str):
            at = getattr(kind, "value", K.MISSING)
            known = isinstance(owner.value, str) and type(at) is int
            return K.Str(owner.value[at : at + 1 or None]) if known else K.Str()
        return K.UNKNOWN

    def _index(self, node: Node, env: Env) -> Any:
        """Return an index as a kind, a slice of kinds, or a tuple of those."""
        if isinstance(node, gast.Slice):
            parts = (node.lower, node.upper, node.step)
            return slice(*(K.NONE if p is None else self.kind(p, env) for p in parts))
        if isinstance(node, gast.Tuple):
            self.facts.of[node] = K.UNKNOWN
            return tuple(self._index(e, env) for e in node.elts)
        kind = self.kind(node, env)
        whole = isinstance(kind, K.Iterable_) and kind.indexed
        return K.List(K.INT) if whole else kind  # a range is as good as a list of its numbers

    def ex_BinOp(self, node: Node, env: Env) -> Kind:
        left, right = self._used(node.left, env), self._used(node.right, env)
        found = operator_method(self.scope, node.op, left, right)
        if found is not None:
            method, mine = found
            self.facts.methods[node] = (method, node.left if mine else node.right)
            order = [left, right] if mine else [right, left]
            return self.callee(K.Known(method), order, {}, env)
        self.facts.methods.pop(node, None)
        if isinstance(left, K.Str):
            of_library(self.scope, self.facts, node, [node.right], self._called(env))
        made = object_operator(type(node.op), left, right)
        return made if made is not None else binary_kind(type(node.op), left, right)

    def ex_UnaryOp(self, node: Node, env: Env) -> Kind:
        kind = self.kind(node.operand, env)
        method = unary_method(self.scope, node.op, kind)
        if method is not None:
            self.facts.methods[node] = (method, node.operand)
            return self.callee(K.Known(method), [kind], {}, env)
        if isinstance(node.op, gast.Not):
            self.tested(node.operand, env)
            known = verdict(kind)
            return K.BOOL if known is None else decided(not known)
        if isinstance(kind, K.Num) and kind.value is not MISSING:
            return K.kind_of(OPERATORS[type(node.op)](kind.value), "", literal=True)
        kind = self._used(node.operand, env)
        return K.union(_negated(type(node.op), k) for k in alternatives(kind))

    def _called(self, env: Env) -> Callable[[Any, list[Kind]], Kind]:
        return lambda target, args: self.callee(target, args, {}, env)

    def tested(self, node: Node, env: Env, only: bool = True) -> None:
        """Note what runs where the truth of an expression is asked for, and `only` that."""
        of_test(self.scope, self.facts, node, self._called(env), only)

    def matched(self, s: Node, env: Env) -> None:
        """Note what may run where the subject of a match is compared with patterns."""
        node = s.subject
        of_library(self.scope, self.facts, node, [node], self._called(env))
        patterns = (n for c in s.cases for n in walk(c.pattern) if isinstance(n, gast.MatchClass))
        words = {word for n in patterns for word in n.kwd_attrs}
        of_attributes(self.scope, self.facts, node, node, sorted(words), self._called(env))

    def ex_Compare(self, node: Node, env: Env) -> Kind:
        kinds = [self.kind(n, env) for n in [node.left, *node.comparators]]
        if not all(isinstance(op, gast.Is | gast.IsNot) for op in node.ops):
            of_comparison(self.scope, self.facts, node, self._called(env))
        known = compared(node.ops[0], *kinds) if len(kinds) == 2 else None
        if known is not None:
            return known
        if len(kinds) == 2 and any(isinstance(k, Decided) for k in kinds):
            return _same_truth(node.ops[0], *kinds)
        method = next((m for k in kinds for m in compare_methods(self.scope, k, node.ops)), None)
        if method is not None:
            # A method of the user's may give anything: only a truth value carries no derivative.
            result = self.callee(K.Known(method), kinds[:2], {}, env)
            if isinstance(result, K.Num) and result.type == "bool":
                return K.BOOL
            self.facts.methods[node] = (method, node.left)
            return K.Unknown("the result of a comparison method that may not return a bool")
        if len(node.ops) == 1 and not isinstance(
            node.ops[0], gast.Is | gast.IsNot | gast.In | gast.NotIn
        ):
            if any(isinstance(k, K.Union) and K.may_be_array(k) for k in kinds):
                numeric = all(map(K.is_numeric, kinds))
                return K.union(map(_compared, K.each(kinds))) if numeric else K.UNKNOWN
            return _compared(kinds)
        return K.BOOL

    def ex_BoolOp(self, node: Node, env: Env) -> Kind:
        result: Kind = K.UNBOUND
        ends = isinstance(node.op, gast.Or)
        for value in node.values:
            kind = self.kind(value, env)
            if value is not node.values[-1]:
                self.tested(value, env, False)
            if verdict(kind) is not (not ends) or value is node.values[-1]:
                result = K.join(result, kind)
            if verdict(kind) is ends:
                break
        return result

    def ex_IfExp(self, node: Node, env: Env) -> Kind:
        known = verdict(self.kind(node.test, env))
        self.tested(node.test, env)
        if known is not None:
            return self.kind(node.body if known else node.orelse, env)
        return K.join(self.kind(node.body, env), self.kind(node.orelse, env))

    def ex_JoinedStr(self, node: Node, env: Env) -> Kind:
        for part in node.values:
            self.kind(part, env)
        return K.Str()

    def ex_FormattedValue(self, node: Node, env: Env) -> Kind:
        self.kind(node.value, env)
        of_text(self.scope, self.facts, node, self._called(env))
        if node.format_spec is not None:
            self.kind(node.format_spec, env)
        return K.Str()

    def ex_Set(self, node: Node, env: Env) -> Kind:
        for part in node.elts:
            self.kind(part, env)
        of_library(self.scope, self.facts, node, node.elts, self._called(env))
        return K.UNKNOWN

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
        made: K.AnyDict = K.Dict(())
        for key, value in zip(node.keys, node.values, strict=True):
            kind = self.kind(value, env)
            if key is not None:
                made = with_entry(made, self.kind(key, env), kind)
                of_key(self.scope, self.facts, key, self._called(env))
            elif isinstance(kind, K.Dict) and isinstance(made, K.Dict):
                made = K.Dict(tuple({**dict(made.items), **dict(kind.items)}.items()))
            elif isinstance(kind, K.AnyDict):
                joined = K.join(K.opened(made), K.opened(kind))
                assert isinstance(joined, K.OpenDict)
                made = joined
            else:
                return K.Unknown("a dict display that unpacks a value which may not be a dict")
        return made

    def ex_Lambda(self, node: Node, env: Env) -> Kind:
        return self._inner(node)

    def _inner(self, node: Node) -> Kind:
        return local_function(node, self.function.source, self.function.locals, self.function.held)

    def ex_Starred(self, node: Node, env: Env) -> Kind:
        return self.kind(node.value, env)

    def ex_GeneratorExp(self, node: Node, env: Env) -> Kind:
        """It is read later, or in part: no kind is that of what it gives."""
        self._rounds_of(node, [node.elt], env)
        return K.Unknown("a generator, which may be read only in part", None, _WHOLE)

    def ex_SetComp(self, node: Node, env: Env) -> Kind:
        self._rounds_of(node, [node.elt], env)
        return K.Unknown("a set")

    def ex_ListComp(self, node: Node, env: Env) -> Kind:
        """One that stayed in a test: elsewhere it has become a loop."""
        self._rounds_of(node, [node.elt], env)
        return K.UNKNOWN

    def ex_DictComp(self, node: Node, env: Env) -> Kind:
        self._rounds_of(node, [node.key, node.value], env)
        return K.UNKNOWN

    def _rounds_of(self, node: Node, made: list[Node], env: Env) -> None:
        """Find the kinds of what a comprehension computes in each round."""
        inner = dict(env)
        for generator in node.generators:
            each = element_kind(self.kind(generator.iter, inner))
            self._bound_inside(generator.target, each, inner)
            for test in generator.ifs:
                self.kind(test, inner)
                self.tested(test, inner)
        for value in made:
            self.kind(value, inner)
            self.tested(value, inner)

    def _first_of(self, node: Node, args: list[Kind]) -> Kind:
        """Return the kind of `next(generator, default)`, where it carries no derivative."""
        found = K.erase_value(self.facts.of[node.elt])
        for default in args[1:]:
            found = K.join(found, K.erase_value(default))
        return (
            found if isinstance(found, K.Num | K.Str) and not K.differentiable(found) else args[0]
        )

    def _bound_inside(self, target: Node, kind: Kind, env: Env) -> None:
        """Give the variables of a comprehension the kinds that they have in it."""
        if isinstance(target, gast.Name):
            env[target.id] = kind
        for i, part in enumerate(getattr(target, "elts", ())):
            plain = isinstance(kind, K.Tuple) and not isinstance(part, gast.Starred)
            self._bound_inside(part, item_kind(kind, i) if plain else K.UNKNOWN, env)

    def ex_Call(self, node: Node, env: Env) -> Kind:
        func = node.func
        args = self._arguments(node.args, env)
        named = [(k.arg, self.kind(k.value, env)) for k in node.keywords]
        keywords = {n: kind for n, kind in named if n is not None}
        whole = len(keywords) == len(node.keywords) and args is not None
        if isinstance(func, gast.Attribute):
            target = self.kind(func, env)
            self.proved = ()
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
                self.proved = self.proved if len(found) == 1 else ()
                if node not in self.facts.methods:
                    kind = self.facts.of.get(func.value)
                    held = isinstance(kind, K.Obj) and func.attr in dict(kind.fields)
                    owners = () if held else (func.value,)  # a field is not given its object
                    self._asked(node, getattr(K.cls_of(kind), func.attr, None), env, *owners)
                return K.union(found)
        target = self.kind(func, env)
        self.proved = ()
        if not whole:
            return _not_whole(node)
        if isinstance(target, K.Known):
            self.facts.objects[func] = registry.same_in_numpy(target.value, len(node.args))
            if target.value is next and node.args and isinstance(node.args[0], gast.GeneratorExp):
                return self._first_of(node.args[0], args or [])
            args = self._without_none(target.value, node, args or [])
            kind = self._call_known(target.value, args, keywords, env)
            self._asked(node, target.value, env)
            return kind
        if isinstance(target, K.Choice):
            return _one_of_several()
        if isinstance(target, Pullback):
            return target.gives
        return self._call_value(target, args or [], keywords, node, env)

    def _asked(self, node: Node, fn: Any, env: Env, *owner: Node) -> None:
        """Note which methods of objects a library may run that is given them."""
        fn = undecorated(fn)
        ours = isinstance(fn, types.FunctionType | type) and not registry.is_foreign(fn)
        if ours and getattr(fn, "__module__", "") != "builtins":
            return
        given = [*owner, *node.args, *(k.value for k in node.keywords)]
        proved = self.proved
        of_library(self.scope, self.facts, node, given, self._called(env), fn)
        if fn is hasattr and len(given) == 2:
            word = getattr(self.facts.of.get(given[1]), "value", None)
            words = [word] if isinstance(word, str) else []
            of_attributes(self.scope, self.facts, node, given[0], words, self._called(env))
        self.proved = proved

    def _without_none(self, fn: Any, node: Node, args: list[Kind]) -> list[Kind]:
        """Leave out that an argument is None where the call fails then."""
        maybe = [i for i, k in enumerate(args) if isinstance(k, K.Union) and K.NONE in k.options]
        if not maybe or registry.rule_for(fn) is None or len(args) != len(node.args):
            return args
        some = [K.options(K.without_none(k))[0] for k in args]
        out = list(args)
        for i in maybe:
            if not survives_none(fn, (*some[:i], K.NONE, *some[i + 1 :])):
                out[i] = self.facts.of[node.args[i]] = K.without_none(args[i])
        return out

    def _owners(self, node: Node) -> list[Kind]:
        """Return what the object of an attribute may be: Python's numbers have few attributes."""
        owner = self.facts.of.get(node.value, K.UNKNOWN)
        found = [k for k in K.options(owner) if not (_is_plain(k) and not hasattr(0j, node.attr))]
        if isinstance(owner, K.Union) and found:
            self.facts.of[node.value] = K.union(found)
        return found or [owner]

    def callee(
        self, target: Any, args: list[Kind] | None, keywords: dict[str, Kind], env: Env
    ) -> Kind:
        """Call a user's function: its result, and what its return proves, are known then."""
        kind, self.proved = self.hook(target, args, keywords, env)
        return kind

    def _call_of(self, target: Kind, args: list[Kind], env: Env) -> Kind:
        """Return the kind of a call of something by position, that stands nowhere as a call."""
        if isinstance(target, K.Known):
            fn = registry.same_in_numpy(target.value, len(args))
            return worked_out(self._call_known(fn, args, {}, env))
        return self.callee(target, args, {}, env)

    def _call_value(
        self, target: Kind, args: list[Kind], keywords: dict[str, Kind], node: Node, env: Env
    ) -> Kind:
        """Call something that is no function by itself: an inner function, a callable object."""
        if isinstance(target, K.Obj | K.Tuple):
            method = class_function(self.scope, target, "__call__")
            if method is not None:
                self.facts.methods[node] = (method, node.func)
                return self.callee(K.Known(method), [target, *args], keywords, env)
        if isinstance(target, K.Opaque):
            return object_method(target, "__call__", args, keywords)
        return self.callee(target, args, keywords, env)

    def _arguments(self, args: list[Node], env: Env) -> list[Kind] | None:
        found: list[Kind] = []
        for arg in args:
            kind = self.kind(arg, env)
            if isinstance(arg, gast.Starred):
                items = listed(kind) if isinstance(kind, K.List) else getattr(kind, "items", None)
                if items is None or not isinstance(kind, K.List | K.Tuple):
                    return None
                found += items
            else:
                found.append(kind)
        return found

    def _call_known(self, fn: Any, args: list[Kind], keywords: dict[str, Kind], env: Env) -> Kind:
        if fn is within_gradient:
            return decided(True)
        if fn is hook_here:
            return self._hook_kind(args, env)
        if fn is checkpoint and len(args) == 1 and not keywords:
            return checkpoint_kind(args[0])
        if applies(fn):
            call = functools.partial(self.callee, keywords={}, env=env)
            return applied_kind(self.scope.stands, applies(fn), args, keywords, call)
        if is_generic(fn):
            chosen = dispatched(fn, args)
            if chosen is None:
                return K.Unknown(*OF_GENERIC)
            self.scope.members[fn, chosen[1]] = chosen[0]
            return self.callee(K.Known(fn), args, keywords, env)
        if runs_rounds(fn) and isinstance(args[-1], K.Tuple):
            return self._rounds_kind(args[0], args[-1], env)
        if fn is tree.tree_map and not keywords:
            return tree_kind(args, functools.partial(self._call_of, env=env))
        if fn is tree.ravel and not keywords:
            return ravel_kind(args)
        if fn is bool and len(args) == 1 and verdict(args[0]) is not None:
            return args[0]
        here = registry.same_in_numpy(fn, len(args))
        generator = generator_of(here)
        if generator is not None:
            return lifted(drawn(generator, here.__name__, args, keywords), home(fn))
        made = generator_made(fn)
        if made is not None:
            return made
        kind = object_made(fn, args, keywords) or value_made(fn, args, keywords)
        kind = kind or known_call(fn, args, keywords)
        if isinstance(kind, K.Unknown) and isinstance(fn, types.FunctionType):
            kind = self._by_source(fn, kind, args, keywords, env)
        if (
            kind is None
            and registry.only_computes(fn)
            and all(map(is_number, (*args, *keywords.values())))
        ):
            named = ((n, rising(k)) for n, k in sorted(keywords.items()))
            return sample_call(fn, tuple(map(rising, args)), tuple(named))
        if kind is None and registry.is_refused(fn):
            return K.UNKNOWN
        return kind if kind is not None else self.callee(K.Known(fn), args, keywords, env)

    def _by_source(
        self, fn: Any, kind: Kind, args: list[Kind], keywords: dict[str, Kind], env: Env
    ) -> Kind:
        """A user's function with a rule, whose arguments have no samples, is read instead."""
        if registry.rule_for(fn) is None or registry.is_foreign(fn) or registry.is_ours(fn):
            return kind
        try:
            return self.callee(K.Known(fn), args, keywords, env)
        except Error:
            return kind

    def _hook_kind(self, args: list[Kind], env: Env) -> Kind:
        """Return the kind of what an adjoint hook gives."""
        x, fn = args
        if not isinstance(fn, K.Known | K.LocalFunction):
            return K.UNKNOWN
        bar = K.erase_value(x)
        if isinstance(fn, K.Known):
            return self._call_known(fn.value, [bar], {}, env)
        return self._call_value(fn, [bar], {}, gast.Constant(None, None), env)

    def _rounds_kind(self, body: Kind, state: K.Tuple, env: Env) -> Kind:
        """Return the kind of what the rounds of a checkpointed loop leave, and of what is kept."""

        def step(parts: tuple[Kind, ...]) -> Kind:
            return self.callee(body, [K.INT, *parts], {}, env)

        found = kinds_in_all_rounds(state.items, step)
        self.proved = ()
        return K.Tuple((K.Tuple(found), K.NONE))

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
            return K.UNKNOWN
        if isinstance(owner, K.AnyDict):
            return dict_method(owner, attr, args)
        if isinstance(owner, K.List):
            if attr == "pop":
                return own_lengths(owner.item)
            if attr == "copy":
                return owner
            if attr in ("append", "extend", "insert", "clear", "reverse", "sort"):
                return K.NONE
            return K.INT if attr in ("index", "count") else K.UNKNOWN
        if isinstance(owner, K.Str):
            return text_method(attr)
        if isinstance(owner, K.Opaque):
            return object_method(owner, attr, args, keywords)
        if isinstance(owner, K.Unknown) and owner.cls in GENERATORS:
            return drawn(owner.cls, attr, args, keywords)
        if is_value(owner):
            return value_method(owner, attr, args, keywords)
        return method_unknown(self.scope, owner, attr)


def _compared(kinds: Iterable[Kind]) -> Kind:
    """Return what a comparison of numbers and arrays gives: an array where one of them is."""
    kinds = list(kinds)
    arrays = [k for k in kinds if isinstance(k, K.Array)]
    if arrays and all(isinstance(k, K.Array | K.Num) for k in kinds):
        dims: tuple[K.Dim, ...] = ()
        for k in arrays:
            dims = K.broadcast(dims, k.dims)
        return K.Array("bool", dims, space_among(arrays))
    undecided = any(isinstance(k, K.Unknown | K.Opaque) for k in kinds)
    return K.UNKNOWN if arrays or undecided else K.BOOL


def _same_truth(op: Node, left: Kind, right: Kind) -> Kind:
    """Return the kind of a comparison with what is decided."""
    values = [getattr(k, "value", MISSING) for k in (left, right)]
    if any(type(v) is not bool for v in values) or not isinstance(op, _SAMENESS):
        return K.BOOL
    return decided((values[0] == values[1]) is isinstance(op, gast.Eq | gast.Is))


_WHOLE = "Write a loop, or a list comprehension: `[... for ...]`."
_UNPACK = "Write the arguments out, or unpack a tuple or a dict with literal keys."
_SAMENESS = (gast.Eq, gast.Is, gast.NotEq, gast.IsNot)


def _has_no_value(kind: Kind | None) -> bool:
    """Say whether an operand, or an item that a display holds, has no value yet."""
    if isinstance(kind, K.Tuple):
        return any(map(_has_no_value, kind.items))
    if isinstance(kind, K.List) and kind.length:
        return isinstance(kind.item, K.Unbound)
    return isinstance(kind, K.Unbound)


def _negated(op: type, kind: Kind) -> Kind:
    fn = OPERATORS[op]
    return scalar_kind(fn, (kind,)) if isinstance(kind, K.Num) else sample_call(fn, (kind,), ())


def _is_plain(kind: Kind) -> bool:
    return isinstance(kind, K.NoneKind) or (isinstance(kind, K.Num) and kind.dtype is None)


def _one_of_several() -> Kind:
    return K.Unknown("the result of one of several functions")


def _not_whole(node: Node) -> Kind:
    """What a call gives that unpacks something of which the length or the keys are not known."""
    table = any(k.arg is None for k in node.keywords)
    what = "** of a dict whose keys" if table else "* of a sequence whose length"
    why = f"the result of a call that unpacks with {what} s2sad does not know"
    return K.Unknown(why, None, _UNPACK)
