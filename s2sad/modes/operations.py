"""What one operation passes back: from the cotangent of its value to those of its operands.

Each operation gives statements to run first and a list of contributions; who adds them up, and
where, is the business of reverse.
"""

from __future__ import annotations

import builtins
import dataclasses
import operator
from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.emitted.listed import listed_like
from s2sad.errors import Error, InternalError, MissingRuleError, UnsupportedError
from s2sad.kinds import Kind
from s2sad.known import spaces
from s2sad.known.generators import draws
from s2sad.known.open_dicts import literal_key
from s2sad.known.samples import stacked
from s2sad.modes.articles import article
from s2sad.modes.bind import BindingError, BoundCall, bind, without_axes
from s2sad.modes.guarded import Site
from s2sad.modes.handed import Called, FunctionVjp, called_with
from s2sad.modes.inline import Given, RuleRefusal, inline
from s2sad.modes.shapes import NARROW, dtype_of
from s2sad.modes.structured import Contribution, Structured, of_sequences
from s2sad.modes.tried import as_result, refuse_useless
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    binary,
    call,
    clone,
    constant,
    name,
    names_read,
    negative,
    number,
    stand_in,
    subscript,
    walk,
)
from s2sad.rulebook.facts import EXACT
from s2sad.syntax.strong import chosen_once

OPERATOR_FUNCTIONS: dict[type, Any] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
}


class Operations(Structured):
    """Knows the kinds and objects of one function, and turns its operations backward."""

    function_vjp: Callable[[Site, Node, Called], FunctionVjp]

    def back(self, site: Site, wanted: frozenset[str]) -> tuple[Block, list[Contribution]]:
        """Return what an operation passes back to those of its operands that are wanted."""
        self.wanted = wanted
        node = site.node
        self.space = self.space_of(site.kind, node)
        if isinstance(node, gast.Name):
            return [], self._keep([Contribution(node.id, site.bar)])
        handler = getattr(self, f"op_{type(node).__name__}", None)
        if handler is None:
            raise self.refuse(
                UnsupportedError,
                node,
                f"{article(node)} has active values here; s2sad cannot differentiate it.",
                "Write it with plain operations, or make its inputs Const.",
            )
        if isinstance(node, gast.Tuple | gast.List | gast.Dict | gast.Call):
            self._check_operands(node)
        pre, found = handler(site, node)
        return pre, self._keep(found)

    def _check_operands(self, node: Node) -> None:
        """What carries a cotangent has a name: an expression would lose it in silence."""
        parts = [*getattr(node, "elts", ()), *getattr(node, "values", ())]
        parts += [*getattr(node, "args", ()), *(k.value for k in getattr(node, "keywords", ()))]
        for part in parts:
            if isinstance(part, gast.BinOp | gast.UnaryOp | gast.Tuple):
                kind = self.kind(part)
                if not isinstance(kind, K.Unknown) and K.differentiable(kind):
                    self._no_operand(part)

    def _keep(self, found: list[Contribution]) -> list[Contribution]:
        return [c for c in found if c.operand in self.wanted]

    def op_Constant(self, site: Site, node: Node) -> tuple[Block, list[Contribution]]:
        return [], []

    def _no_operand(self, node: Node) -> tuple[Block, list[Contribution]]:
        """A constant passes nothing on; anything but a name is a slip of normalisation."""
        if names_read(node) & self.wanted:
            raise InternalError("an operand is no name", place=self.source.place(node))
        return [], []

    def op_BinOp(self, site: Site, node: Node) -> tuple[Block, list[Contribution]]:
        left, right = self.kind(node.left), self.kind(node.right)
        if isinstance(left, K.Opaque) or isinstance(right, K.Opaque):
            fn = self._of_object(node, type(node.op).__name__, left, right)
            return self._library(site, node, fn, [node.left, node.right], [])
        if of_sequences(left, right, site.kind):
            if isinstance(left, K.Tuple) and isinstance(right, K.Tuple):
                return self._join_tuples(site, node, left)
            return self._list_operator(site, node, left, right)
        fn = OPERATOR_FUNCTIONS.get(type(node.op))
        if fn is None:
            return [], []
        if fn is operator.truediv and number(node.left) == 1.0:
            # Of 1.0 / y the result tells all: y need not be there.
            return self._library(site, node, np.reciprocal, [node.right], [])
        return self._library(site, node, fn, [node.left, node.right], [])

    def _list_operator(
        self, site: Site, node: Node, left: Kind, right: Kind
    ) -> tuple[Block, list[Contribution]]:
        found = []
        if isinstance(node.op, gast.Add) and isinstance(left, K.List) and isinstance(right, K.List):
            split = call("len", clone(node.left))
            for side, part in (
                (node.left, gast.Slice(None, split, None)),
                (node.right, gast.Slice(clone(split), None, None)),
            ):
                if isinstance(side, gast.Name):
                    found.append(Contribution(side.id, subscript(clone(site.bar), part)))
            return [], found
        helper = self.refs.function(runtime.fold)
        for side in (node.left, node.right):
            if isinstance(side, gast.Name) and isinstance(self.kind(side), K.List):
                value = call(helper, clone(site.bar), clone(side))
                found.append(Contribution(side.id, value))
        return [], found

    def _join_tuples(
        self, site: Site, node: Node, left: K.Tuple
    ) -> tuple[Block, list[Contribution]]:
        split = constant(len(left.items))
        parts = (gast.Slice(None, split, None), gast.Slice(clone(split), None, None))
        return [], [
            Contribution(side.id, subscript(clone(site.bar), part))
            for side, part in zip((node.left, node.right), parts, strict=True)
            if isinstance(side, gast.Name)
        ]

    def op_UnaryOp(self, site: Site, node: Node) -> tuple[Block, list[Contribution]]:
        fn = OPERATOR_FUNCTIONS.get(type(node.op))
        if fn is None or not isinstance(node.operand, gast.Name):
            return [], []
        value = negative(site.bar) if isinstance(node.op, gast.USub) else site.bar
        return [], [Contribution(node.operand.id, value)]

    def op_Tuple(self, site: Site, node: Node) -> tuple[Block, list[Contribution]]:
        if isinstance(site.out, gast.Name) and site.out.id == self.aux_result:
            first = node.elts[0]
            value = subscript(clone(site.bar), constant(0))
            return [], [Contribution(first.id, value)] if isinstance(first, gast.Name) else []
        item = site.kind.item if isinstance(site.kind, K.List) else K.UNBOUND
        return [], [
            Contribution(e.id, self._part(subscript(clone(site.bar), constant(i)), item, e))
            for i, e in enumerate(node.elts)
            if isinstance(e, gast.Name) and K.differentiable(self.kind(e))
        ]

    op_List = op_Tuple

    def _part(self, value: Node, item: Kind, arg: Node) -> Node:
        """The cotangent of a real number in a complex list is real, of a narrow one narrow."""
        if K.is_complex(item):
            return self.cast(value, item, arg)
        narrow = dtype_of(self.kind(arg))
        if narrow not in NARROW or isinstance(item, K.Unbound) or dtype_of(item) == narrow:
            return value
        if isinstance(self.kind(arg), K.Num):
            return call(self.np(narrow), value)
        return call(self.np("asarray"), value, dtype=self.np(narrow))

    def op_Dict(self, site: Site, node: Node) -> tuple[Block, list[Contribution]]:
        """Each entry's cotangent goes to what set the entry last."""
        found: dict[Any, Contribution] = {}
        for key, v in zip(node.keys, node.values, strict=True):
            kind = self.kind(v)
            if key is not None:
                literal = literal_key(self.kind(key))
                if literal is K.MISSING and len(node.keys) > 1:
                    raise self.refuse(
                        UnsupportedError,
                        node,
                        "Two keys of this dict that are not literals may be equal.",
                        "Set the items one after the other.",
                    )
                found.pop(literal, None)
                if isinstance(v, gast.Name) and K.differentiable(kind):
                    bar = subscript(clone(site.bar), clone(key))
                    found[literal] = Contribution(v.id, bar)
                continue
            if isinstance(kind, K.OpenDict) and isinstance(v, gast.Name):
                return [], [Contribution(v.id, site.bar, ("copied", None))]
            for literal, part in kind.items if isinstance(kind, K.Dict) else ():
                found.pop(literal, None)
                if isinstance(v, gast.Name) and K.differentiable(part):
                    at = constant(literal)
                    self.kinds[at] = K.kind_of(literal, "", literal=True)
                    bar = subscript(clone(site.bar), clone(at))
                    found[literal] = Contribution(v.id, bar, ("index", at))
        return [], list(found.values())

    def op_Subscript(self, site: Site, node: Node) -> tuple[Block, list[Contribution]]:
        if not isinstance(node.value, gast.Name):
            return self._no_operand(node)
        owner = self.kind(node.value)
        if isinstance(owner, K.Unknown):
            raise self.undecided(node, owner)
        if isinstance(owner, K.Tuple) and not isinstance(node.slice, gast.Slice):
            index = getattr(self.kind(node.slice), "value", None)
            if not isinstance(index, int):
                return [], [Contribution(node.value.id, site.bar, ("at", node.slice))]
            return [], [Contribution(node.value.id, site.bar, ("item", index % len(owner.items)))]
        if isinstance(owner, K.Tuple):
            return [], self._tuple_slice(site, node, owner)
        repeats = isinstance(owner, K.Array) and self._may_repeat(node.slice)
        path = ("index", node.slice)
        return [], [Contribution(node.value.id, site.bar, path, repeats)]

    def _tuple_slice(self, site: Site, node: Node, owner: K.Tuple) -> list[Contribution]:
        bounds = []
        for part in (node.slice.lower, node.slice.upper, node.slice.step):
            value = None if part is None else getattr(self.kind(part), "value", K.MISSING)
            if value is K.MISSING:
                raise self.refuse(
                    UnsupportedError,
                    node,
                    "s2sad can slice a tuple only with literal bounds.",
                    "Use a list or an array.",
                )
            bounds.append(value)
        chosen = range(len(owner.items))[slice(*bounds)]
        return [
            Contribution(node.value.id, subscript(clone(site.bar), constant(i)), ("item", at))
            for i, at in enumerate(chosen)
            if K.differentiable(owner.items[at])
        ]

    def _may_repeat(self, index: Node) -> bool:
        """Say whether an index may name an element twice: integer arrays and lists may."""
        if isinstance(index, gast.Tuple):
            arrays = [k for k in map(self.kind, index.elts) if isinstance(k, K.Array)]
            names = {e.id for e in index.elts if isinstance(e, gast.Name)}
            if names & self.distinct and all(k.rank == 1 for k in arrays):
                return False
            return any(self._may_repeat(e) for e in index.elts)
        if isinstance(index, gast.Slice):
            return False
        kind = self.kind(index)
        if isinstance(index, gast.Name) and index.id in self.distinct:
            return False
        if isinstance(kind, K.Array):
            return kind.dtype != "bool"
        return not isinstance(kind, K.Num | K.NoneKind) and not _is_ellipsis(index)

    def op_Attribute(self, site: Site, node: Node) -> tuple[Block, list[Contribution]]:
        if not isinstance(node.value, gast.Name):
            return self._no_operand(node)
        owner = self.kind(node.value)
        if isinstance(owner, K.Tuple) and owner.cls is not None:
            index = owner.cls._fields.index(node.attr)  # type: ignore[attr-defined]
            return [], [Contribution(node.value.id, site.bar, ("item", index))]
        if isinstance(owner, K.Obj) and node.attr not in dict(owner.fields):
            return [], []
        if isinstance(owner, K.Obj):
            return [], [Contribution(node.value.id, site.bar, ("attr", node.attr))]
        fn = registry.property_function(node.attr) if K.is_numeric(owner) else None
        if isinstance(owner, K.Opaque):
            fn = registry.object_function(owner.cls, f".{node.attr}")
        if fn is not None:
            return self._library(site, node, fn, [node.value], [])
        raise self.undecided(node, owner)

    def _of_object(self, node: Node, op: str, left: Kind, right: Kind) -> Any:
        """Return the function whose rule serves an operator of a library's object."""
        one, other = (k.cls if isinstance(k, K.Opaque) else None for k in (left, right))
        fn = registry.operator_function(op, one, other)
        if fn is None:
            raise self.undecided(node, self.kind(node))
        return fn

    def op_Call(self, site: Site, node: Node) -> tuple[Block, list[Contribution]]:
        found = self._structure_method(site, node)
        if found is not None:
            return found
        fn, args = self.callee(node)
        found = self._on_structures(site, node, fn, args)
        if found is not None:
            return found
        given = [] if fn in (max, min) else node.keywords  # their `default` passes nothing on
        return self._library(site, node, fn, args, given)

    def callee(self, node: Node) -> tuple[Any, list[Node]]:
        """Return what a call calls, as rules know it, and its arguments: a method's owner first."""
        fn, args = self.objects.get(node.func), list(node.args)
        called = self.kind(node.func)
        owner = self.kind(getattr(node.func, "value", node.func))
        method = draws(fn, getattr(owner, "cls", None), getattr(node.func, "attr", ""))
        if method is not None:
            return method, args
        if isinstance(called, K.Opaque):
            fn, args = registry.object_function(called.cls, "__call__"), [node.func, *args]
        elif fn is None and isinstance(node.func, gast.Attribute):
            args = [node.func.value, *args]
            if isinstance(owner, K.Opaque):
                fn = registry.object_function(owner.cls, node.func.attr)
            elif K.is_numeric(owner):
                fn = registry.method_function(node.func.attr)
                if fn is None:
                    why = registry.missing_method(node.func.attr)
                    raise self.refuse(MissingRuleError, node, *why)
        if fn is None:
            raise self.refuse(
                MissingRuleError,
                node,
                "s2sad does not know which function is called here.",
                "Call the function by a name that always means the same function.",
            )
        return fn, args

    # library functions

    def _library(
        self, site: Site, node: Node, fn: Any, args: list[Node], keywords: list[Any]
    ) -> tuple[Block, list[Contribution]]:
        rule = registry.rule_for(fn)
        if rule is None:
            label = _path_of(node.func) if isinstance(node, gast.Call) else repr(fn)
            raise self.refuse(MissingRuleError, node, *registry.missing(fn, label))
        if rule.is_zero(any(K.is_complex(self.kind(a)) for a in args)):
            return [], []
        lists = self._lists(node, fn, rule, args, keywords)
        if lists:
            return self._of_lists(site, node, fn, args, keywords, lists)
        if isinstance(site.kind, K.Unknown):
            raise self.undecided(node, site.kind)
        for a in args:
            opaque = isinstance(self.kind(a), K.Opaque) and not registry.takes_objects(fn)
            if K.is_undecided(self.kind(a)) or opaque:
                raise self.undecided(a if getattr(a, "lineno", None) else node, self.kind(a))
        if rule.partials is not None and (rule.pullback is None or not keywords):
            return self._elementwise(site, node, fn, rule.partials, args, keywords)
        if rule.pullback is None:
            raise self.refuse(
                MissingRuleError,
                node,
                f"The rule of {rule.name} has no pullback.",
                f"Write one with @s2sad.pullback({rule.name}).",
            )
        return self._pullback(site, node, fn, rule.pullback, args, keywords)

    def _sequences(self, node: Node, fn: Any, rule: Any) -> tuple[type[Kind], ...]:
        """Return the kinds of what this call makes arrays of."""
        operation = isinstance(node, gast.BinOp) or fn in (operator.pow, builtins.pow)
        if operation or (registry.wants_arrays(fn) and not rule.calls):
            return K.List, K.Tuple
        return (K.List,) if registry.tells_tuples(fn) else ()

    def _lists(
        self, node: Node, fn: Any, rule: Any, args: list[Node], keywords: list[Any]
    ) -> list[Node]:
        """Return the arguments that are lists or tuples where the rule has arrays."""
        sequences = self._sequences(node, fn, rule)
        found = [a for a in args if isinstance(self.kind(a), sequences)]
        named = [k.value for k in keywords if isinstance(self.kind(k.value), sequences)]
        named = [v for v in named if stacked(self.kind(v)) is not None]
        if not (found or named) or (rule.pullback is None and rule.partials is None):
            return []
        elementwise = rule.partials is not None and (rule.pullback is None or not keywords)
        made = rule.partials if elementwise else rule.pullback
        bound = self._bind(node, fn, made, 1 if elementwise else 2, args, keywords)
        places = [a for _, a in bound.arrays]
        active = [a for a in found if names_read(a) & self.wanted]
        return active + [a for a in [*found, *named] if a in places and a not in active]

    def _of_lists(
        self,
        site: Site,
        node: Node,
        fn: Any,
        args: list[Node],
        keywords: list[Any],
        lists: list[Node],
    ) -> tuple[Block, list[Contribution]]:
        """NumPy makes arrays of lists: so does the derivative, and takes their cotangents apart."""
        pre: Block = []
        made: dict[str, tuple[Node, Node, K.Array]] = {}
        replaced: dict[Node, Node] = {}
        for a in lists:
            kind = stacked(self.kind(a))
            if kind is None:
                label = _path_of(node.func) if isinstance(node, gast.Call) else "This operation"
                raise self.refuse(
                    UnsupportedError,
                    node,
                    f"s2sad cannot differentiate {label} of {K.describe(self.kind(a))} yet.",
                    "Make it an array first: np.array(...).",
                )
            convert = call(self.np("asarray"), clone(a))
            array = name(self.names.fresh(f"{a.id}_array" if isinstance(a, gast.Name) else "array"))
            pre.append(assign(array.id, convert))
            self.kinds[array] = kind
            self.objects[convert.func] = np.asarray
            made[array.id] = (a, convert, kind)
            replaced[a] = array
        wanted = self.wanted
        self.wanted = wanted | {n for n, (a, *_) in made.items() if names_read(a) & wanted}
        keywords = [gast.keyword(k.arg, replaced.get(k.value, k.value)) for k in keywords]
        code, found = self._library(site, node, fn, [replaced.get(a, a) for a in args], keywords)
        self.wanted = wanted
        pre += code
        out: list[Contribution] = []
        for c in found:
            if c.operand not in made:
                out.append(c)
                continue
            a, convert, kind = made[c.operand]
            part = Site(site.statement, convert, name(c.operand), c.value, kind)
            taken = self._stacked(part, a)
            if taken is None:
                code, taken = self._library(part, convert, np.asarray, [a], [])
                pre += code
            out += taken
        return pre, out

    def _bind(
        self, node: Node, fn: Any, rule: Any, skip: int, args: list[Node], keywords: list[Any]
    ) -> BoundCall:
        try:
            bound = bind(fn, rule, skip, args, keywords)
            return without_axes(bound, fn, self.kind)
        except BindingError as why:
            raise self._not_taken(node, fn, rule, why) from None

    def _not_taken(self, node: Node, fn: Any, rule: Any, why: BindingError) -> Error:
        return self.refuse(
            UnsupportedError,
            node,
            f"This call of {getattr(fn, '__name__', repr(fn))} cannot be differentiated: {why}.",
            "Leave that argument out, or make the inputs of the call Const."
            if registry.is_ours(rule)
            else (
                "Give the rule a parameter of that name; the rule returns None for "
                "parameters that are not arrays."
            ),
        )

    def _inlined(
        self, node: Node, fn: Any, rule: Any, given: dict[str, Any], count: int
    ) -> tuple[Block, list[Node | None]]:
        try:
            arrays = registry.wants_arrays(fn)
            of = registry.rule_for(fn)
            linear = of is not None and of.turns
            pre, values = inline(rule, given, self.refs, self.names, count, arrays, linear)
        except (RuleRefusal, spaces.NoCounterpart) as why:
            label = getattr(fn, "__name__", repr(fn))
            raise self.refuse(
                UnsupportedError,
                node,
                f"This call of {label} cannot be differentiated: {why}.",
                "Write the call with other settings, or make its inputs Const.",
            ) from None
        for made in [*pre, *(v for v in values if v is not None)]:
            for n in walk(made):
                if isinstance(n, gast.Call) and isinstance(n.func, gast.Name):
                    stand_in(n, node, self.source)
        return pre, values

    def _check_known(self, node: Node, fn: Any, arrays: Mapping[str, Node]) -> None:
        """Refuse what depends on an argument for which the rule knows no derivative."""
        rule = registry.rule_for(fn)
        for n in rule.unknown if rule is not None else ():
            if n in arrays and self.is_active(arrays[n]):
                raise self._not_known(node, fn, f"`{n}`")

    def is_active(self, node: Node) -> bool:
        """Say whether an argument is a variable of which a derivative is wanted."""
        named = isinstance(node, gast.Name) and node.id in self.wanted
        return named and K.differentiable(self.kind(node))

    def _not_known(self, node: Node, fn: Any, what: str) -> Error:
        label = getattr(fn, "__name__", repr(fn))
        return self.refuse(
            UnsupportedError,
            node,
            f"s2sad has no derivative of {label} with respect to {what}.",
            "Make that value Const, or use other functions.",
        )

    def _given(self, node: Node) -> Given:
        return Given(clone(node), self.kind(node))

    def _settings(self, node: Node, fn: Any, bound: BoundCall) -> dict[str, Given]:
        """Return the settings of a call: none of them is active."""
        found: dict[str, Given] = {}
        for n, a in bound.settings.items():
            if n not in registry.constant_parameters(fn) and self.is_active(a):
                raise self._not_known(node, fn, f"its setting `{n}`")
            if isinstance(a, gast.Tuple) and a not in self.kinds:
                self.kinds[a] = K.Tuple(tuple(self.kind(e) for e in a.elts))
            found[n] = self._given(a)
        return found

    def _elementwise(
        self, site: Site, node: Node, fn: Any, rule: Any, args: list[Node], keywords: list[Any]
    ) -> tuple[Block, list[Contribution]]:
        bound = self._bind(node, fn, rule, 1, args, keywords)
        self._check_known(node, fn, dict(bound.arrays))
        refuse_useless(self, node, fn, rule, "elementwise", bound, args, keywords)
        given: dict[str, Any] = {_positional(rule)[0]: Given(clone(site.out), site.kind)}
        given |= {n: self._given(a) for n, a in bound.arrays}
        given |= self._settings(node, fn, bound)
        given |= self._as_floats(fn, site.kind, dict(bound.arrays))
        given |= self._guarded(site, fn, {"out": site.out, **dict(bound.arrays)})
        count = len(_positional(rule)) - 1
        inlined = self._inlined(node, fn, rule, given, count)
        pre, partials = chosen_once(*inlined, self.names)
        found = []
        order = _positional(rule)[1:]
        by_name = dict(bound.arrays)
        for parameter, partial in zip(order, partials, strict=True):
            arg = by_name.get(parameter)
            if partial is None or not isinstance(arg, gast.Name) or arg.id not in self.wanted:
                continue
            value = self._shared(site, pre, partial)
            others = [a for n, a in bound.arrays if n != parameter]
            found.append(Contribution(arg.id, self.fit(value, site.kind, arg, others)))
        return pre, found

    def _shared(self, site: Site, pre: Block, partial: Node) -> Node:
        """Return the share of an operand; none of an infinite cotangent where it is masked."""
        if site.guard is None or not site.guard.infinite or number(partial) is not None:
            return binary(clone(site.bar), gast.Mult, partial)
        share = partial
        if not isinstance(partial, gast.Name):
            share = name(self.names.fresh("share"))
            pre.append(assign(share.id, partial))
        if isinstance(site.kind, K.Array) and site.kind.rank:
            kept = call(self.np("where"), clone(share), clone(site.bar), constant(0.0))
        else:
            kept = gast.IfExp(clone(share), clone(site.bar), constant(0.0))
        return binary(kept, gast.Mult, clone(share))

    def _pullback(
        self, site: Site, node: Node, fn: Any, rule: Any, args: list[Node], keywords: list[Any]
    ) -> tuple[Block, list[Contribution]]:
        bound = self._bind(node, fn, rule, 2, args, keywords)
        self._check_known(node, fn, dict(bound.arrays))
        refuse_useless(self, node, fn, rule, "pullback", bound, args, keywords)
        given: dict[str, Any] = {
            _positional(rule)[0]: Given(as_result(site, rule), site.kind),
            _positional(rule)[1]: Given(clone(site.out), site.kind),
        }
        given |= {n: self._given(a) for n, a in bound.arrays}
        given |= self._guarded(site, fn, dict(bound.arrays))
        called = called_with(fn, site.kind, dict(bound.arrays), self.kind)
        functions = {n: self.function_vjp(site, a, how) for n, a, how in called}
        given |= {n: Given(made.node, K.UNKNOWN) for n, made in functions.items()}
        given |= self._settings(node, fn, bound)
        active: dict[str, Any] = {**dict(bound.arrays), **functions}
        active |= dict.fromkeys(registry.constant_parameters(fn))
        arrays: list[Any] = [active.get(n) for n in _positional(rule)[2:]]
        if bound.varargs is not None:
            given[bound.varargs[0]] = [self._given(a) for a in bound.varargs[1]]
            arrays += list(bound.varargs[1])
        inlined = self._inlined(node, fn, rule, given, len(arrays))
        pre, values = chosen_once(*inlined, self.names)
        of = registry.rule_for(fn)
        nested = of is not None and of.nested
        found: list[Contribution] = []
        for arg, value in zip(arrays, values, strict=True):
            if value is None or arg is None:
                continue
            if isinstance(arg, FunctionVjp):
                parts = [subscript(clone(value), constant(i)) for i in range(len(arg.captured))]
                found += map(Contribution, arg.captured, parts)
            elif isinstance(arg, gast.Name):
                no_axes = isinstance(site.kind, K.Array) and not site.kind.rank
                if K.is_scalar(self.kind(arg)) and (no_axes or registry.wants_arrays(fn)):
                    value = self._number(value, no_axes, site.kind, self.kind(arg))
                value = self.cast(self.fitted(value, site.kind, arg), site.kind, arg)
                if not nested and _holds_lists(self.kind(arg)):
                    value = call(self.refs.function(listed_like), value, clone(arg))
                found.append(Contribution(arg.id, _as_given(value, self.kind(arg))))
        return pre, found

    def _number(self, value: Node, no_axes: bool, given: Kind, kind: Kind) -> Node:
        """Return the number in what may be an array without axes, as names are where `no_axes`."""
        if isinstance(value, gast.BinOp | gast.UnaryOp | gast.Constant):
            return value
        if isinstance(value, gast.Name) and not no_axes:
            return value
        if K.is_complex(given) or K.is_complex(kind) or not isinstance(kind, K.Num):
            return subscript(value, gast.Tuple([], gast.Load()))
        plain = kind.dtype in (None, "any")
        return call("float" if plain else self.np(str(kind.dtype)), value)

    def _as_floats(self, fn: Any, site: Kind, operands: Mapping[str, Node]) -> dict[str, Given]:
        """Return operands of narrow integers as the floats that the operation itself makes of them.

        A rule that adds, multiplies or takes a logarithm would do it in the integers' own dtype.
        """
        form = registry.numbers_of(fn).form
        if form in EXACT:
            return {}
        found = {}
        for n, operand in operands.items():
            kind = self.kind(operand)
            dtype = str(getattr(kind, "dtype", None))
            if dtype in _NARROW_INTEGERS:
                found[n] = self._as_float(operand, kind, _REALS.get(str(dtype_of(site)), "float64"))
            elif dtype == "bool" or getattr(kind, "type", "") == "bool":
                if form == "power" and n == "y":
                    found[n] = self._as_number(operand, kind)
        return found

    def _as_float(self, operand: Node, kind: Kind, dtype: str) -> Given:
        if isinstance(kind, K.Array):
            value = call(attribute(clone(operand), "astype"), self.np(dtype))
            return Given(value, dataclasses.replace(kind, dtype=dtype))
        return Given(call(self.np(dtype), clone(operand)), K.Num("float", dtype))

    def _as_number(self, operand: Node, kind: Kind) -> Given:
        """Return truth values as the numbers they are to a power: nothing is subtracted of them."""
        whole = call(self.np("multiply"), clone(operand), constant(1))
        if isinstance(kind, K.Array):
            return Given(whole, dataclasses.replace(kind, dtype="int64"))
        return Given(whole, K.Num("int", "int64"))


_NARROW_INTEGERS = frozenset("int8 int16 int32 uint8 uint16 uint32 uint64".split())
_REALS = {"float16": "float16", "float32": "float32", "complex64": "float32"}


def _holds_lists(kind: Kind) -> bool:
    """Say whether a list or a tuple holds lists or tuples, of which a rule makes arrays."""
    parts = kind.inside if isinstance(kind, K.List | K.Tuple) else ()
    return any(isinstance(k, K.List | K.Tuple) for part in parts for k in K.options(part))


def _as_given(value: Node, kind: Kind) -> Node:
    """Return what a rule passes to a tuple as one: rules make lists of cotangents."""
    func = getattr(value, "func", None)
    is_one = isinstance(value, gast.Tuple) or getattr(func, "id", "") == "tuple"
    wanted = isinstance(kind, K.Tuple) and kind.cls is None
    return call("tuple", value) if wanted and not is_one else value


def _positional(rule: Any) -> tuple[str, ...]:
    return registry.positional_names(rule, 0)


def _path_of(node: Node) -> str:
    if isinstance(node, gast.Attribute):
        return f"{_path_of(node.value)}.{node.attr}"
    return getattr(node, "id", "this function")


def _is_ellipsis(node: Node) -> bool:
    return isinstance(node, gast.Constant) and node.value is Ellipsis
