"""What one operation passes on: from the tangents of its operands to that of its value.

    y = np.sin(x)       ->   x_dot * np.cos(x)
    y = a * b           ->   a_dot * b + a * b_dot
    y = np.sum(x)       ->   np.sum(x_dot)

Each operation gives statements to run first and an expression, or None where the tangent is zero.
Where it goes, and which operands have tangents, is the business of tangents.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.errors import InternalError, MissingRuleError, UnsupportedError
from s2sad.kinds import Kind
from s2sad.known.built import read
from s2sad.known.callees import Callees
from s2sad.known.samples import stacked
from s2sad.known.signature import by_position
from s2sad.known.spaces import NUMPY
from s2sad.modes.articles import article
from s2sad.modes.bind import BindingError, BoundCall, arrays_of, bind, without_axes
from s2sad.modes.guarded import Site
from s2sad.modes.handed import called_with
from s2sad.modes.inline import Given
from s2sad.modes.operations import OPERATOR_FUNCTIONS, Operations
from s2sad.modes.shapes import dtype_of
from s2sad.modes.structured import CONVERSIONS, STACKING, of_sequences
from s2sad.modes.tried import refuse_useless, wants_zeros
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    binary,
    call,
    clone,
    compare,
    constant,
    name,
    names_read,
    negative,
    number,
    subscript,
    tuple_,
    walk,
)
from s2sad.syntax.strong import chosen_once, is_zero

Pushed = tuple[Block, "Node | None"]


class Pushes(Operations):
    """Turns the operations of one function forward.

    `dot` names the tangent of a variable, `zero` makes zeros like a value. Of what has a tangent
    not all varies: what is written has one from the start; `varied_before` tells.
    """

    dot: Callable[[str], str]
    zero: Callable[[Node, Kind], Node]
    varied_before: Mapping[Any, frozenset[str]]
    masked: frozenset[str] = frozenset()

    def push(self, site: Site, wanted: frozenset[str]) -> Pushed:
        """Return the tangent of an operation, where those of the `wanted` are there."""
        self.wanted = wanted
        self.varied = self.varied_before.get(site.statement, wanted)
        node = site.node
        self.space = self.space_of(site.kind, node)
        if not names_read(node) & wanted and not self._hands_over(node):
            return [], None
        if isinstance(node, gast.Name):
            return [], name(self.dot(node.id))
        handler = getattr(self, f"push_{type(node).__name__}", None)
        if handler is None:
            raise self.refuse(
                UnsupportedError,
                node,
                f"{article(node)} has active values here; s2sad cannot differentiate it.",
                "Write it with plain operations, or make its inputs Const.",
            )
        found: Pushed = handler(site, node)
        return found

    def is_active(self, node: Node) -> bool:
        return super().is_active(node) and node.id in self.varied

    def _hands_over(self, node: Node) -> bool:
        """Say whether functions are handed to a library here: what they capture has tangents."""
        rule = registry.rule_for(self.objects.get(node.func)) if _is_call(node) else None
        return rule is not None and bool(rule.calls)

    def has(self, node: Node) -> bool:
        """Say whether an operand has a tangent; what has one is a name."""
        if isinstance(node, gast.Name):
            return node.id in self.wanted
        kind = self.kind(node)
        if names_read(node) & self.wanted and K.differentiable(kind) and node in self.kinds:
            if isinstance(kind, K.Unknown) and kind.why:
                raise self.undecided(node, kind)
            raise InternalError("an operand is no name", place=self.source.place(node))
        return False

    def part(self, node: Node) -> Node:
        """Return the tangent of one item of a structure: that of a number is one, whatever kind."""
        if self.has(node):
            return name(self.dot(node.id))
        kind = self.kind(node)
        if K.is_container(kind) and not K.differentiable(kind):
            return gast.Constant(None, None)
        return self.zero(clone(node), kind)

    # operators

    def push_BinOp(self, site: Site, node: Node) -> Pushed:
        left, right = self.kind(node.left), self.kind(node.right)
        if isinstance(left, K.Opaque) or isinstance(right, K.Opaque):
            served = self._of_object(node, type(node.op).__name__, left, right)
            return self.library(site, node, served, [node.left, node.right], [])
        if of_sequences(left, right, site.kind):
            return [], self._of_sequences(node, left, right)
        fn = OPERATOR_FUNCTIONS.get(type(node.op))
        if fn is None:
            return [], None
        if isinstance(node.op, gast.Div) and number(node.left) == 1.0:
            return self.library(site, node, np.reciprocal, [node.right], [])
        return self.library(site, node, fn, [node.left, node.right], [])

    def _of_sequences(self, node: Node, left: Kind, right: Kind) -> Node:
        """The tangent of joined or repeated lists and tuples is joined or repeated as they are."""
        sequence = K.List | K.Tuple
        sides = [
            self.part(side) if isinstance(kind, sequence) else clone(side)
            for side, kind in ((node.left, left), (node.right, right))
        ]
        return gast.BinOp(sides[0], node.op, sides[1])

    def push_UnaryOp(self, site: Site, node: Node) -> Pushed:
        if isinstance(node.op, gast.Not | gast.Invert) or not self.has(node.operand):
            return [], None
        value = name(self.dot(node.operand.id))
        return [], negative(value) if isinstance(node.op, gast.USub) else value

    def push_Compare(self, site: Site, node: Node) -> Pushed:
        return [], None

    push_BoolOp = push_Compare
    push_JoinedStr = push_Compare

    # structures

    def push_Tuple(self, site: Site, node: Node) -> Pushed:
        if isinstance(site.kind, K.Tuple) and self._is_aux(site):
            return [], tuple_([self.part(node.elts[0]), gast.Constant(None, None)])
        return [], tuple_([self.part(e) for e in node.elts])

    def _is_aux(self, site: Site) -> bool:
        return site.statement.targets[0].id == self.aux_result if self.aux_result else False

    def push_List(self, site: Site, node: Node) -> Pushed:
        return [], gast.List([self.part(e) for e in node.elts], gast.Load())

    def push_Dict(self, site: Site, node: Node) -> Pushed:
        keys = [clone(k) if k is not None else None for k in node.keys]
        return [], gast.Dict(keys, [self.part(v) for v in node.values])

    def push_Subscript(self, site: Site, node: Node) -> Pushed:
        if not self.has(node.value):
            return [], None
        owner = self.kind(node.value)
        if isinstance(owner, K.Unknown | K.Opaque):
            raise self.undecided(node, owner)
        return [], subscript(name(self.dot(node.value.id)), clone(node.slice))

    def push_Attribute(self, site: Site, node: Node) -> Pushed:
        if not self.has(node.value):
            return [], None
        owner = self.kind(node.value)
        held = name(self.dot(node.value.id))
        if isinstance(owner, K.Tuple) and owner.cls is not None:
            index = owner.cls._fields.index(node.attr)  # type: ignore[attr-defined]
            return [], subscript(held, constant(index))
        if isinstance(owner, K.Obj):
            return [], attribute(held, node.attr) if node.attr in dict(owner.fields) else None
        fn = registry.property_function(node.attr) if K.is_numeric(owner) else None
        if isinstance(owner, K.Opaque):
            fn = registry.object_function(owner.cls, f".{node.attr}")
        if fn is not None:
            return self.library(site, node, fn, [node.value], [])
        raise self.undecided(node, owner)

    # calls

    def push_Call(self, site: Site, node: Node) -> Pushed:
        found = self._method(node)
        if found is not None:
            return found
        fn, args = self.callee(node)
        special = self._special(site, node, fn, args)
        return self.library(site, node, fn, args, node.keywords) if special is None else special

    def _method(self, node: Node) -> Pushed | None:
        """Return the tangent of a call of a method that is no function's."""
        owner = self.owner_of_method(node)
        attr = getattr(node.func, "attr", "")
        if isinstance(owner, K.AnyDict):
            return [], self._of_dict(node)
        if isinstance(owner, K.Tuple) and attr == "_replace":
            return [], self._with_replaced(node, node.func.value, owner)
        if owner is not None and (K.is_numeric(owner) or isinstance(owner, K.List)):
            if attr == "copy" and not node.args and not node.keywords:
                return [], self._same_call(node, node.func.value)
        if owner is not None and K.is_numeric(owner) and registry.is_zero_method(attr):
            return ([], None) if registry.method_function(attr) is None else None
        return None

    def _special(self, site: Site, node: Node, fn: Any, args: list[Node]) -> Pushed | None:
        """Return the tangent of a call that has no rule because it handles structures."""
        if fn is dataclasses.replace and isinstance(self.kind(args[0]), K.Obj):
            return [], self._with_replaced(node, args[0], self.kind(args[0]))
        if fn is sum and len(args) == 1 and isinstance(args[0], gast.Call):
            owner = args[0].func.value  # sum(d.values())
            return [], call("sum", self._values(owner))
        if len(args) == 1 and not node.keywords and self._homogeneous(args[0]):
            if fn is sum or fn in STACKING:
                return [], self._same_call(node, args[0])
        if fn in (max, min) and len(args) == 2 and not node.keywords:
            if all(isinstance(self.kind(a), K.Num) for a in args):
                return [], self._greater(fn, args)
        if fn in (max, min) and node.keywords:
            given = {k.arg: k.value for k in node.keywords}
            if set(given) != {"default"} or self.has(given["default"]):
                return [], self._by_key(site, node, fn, args)
            return self.library(site, node, fn, args, [])  # zero where there is no item
        if fn in CONVERSIONS and len(args) == 1:
            return [], self._converted(node, args[0])
        if isinstance(fn, type) and issubclass(fn, tuple) and hasattr(fn, "_fields"):
            given = dict(zip(fn._fields, args, strict=False))
            given |= {k.arg: k.value for k in node.keywords}
            kinds = site.kind.items if isinstance(site.kind, K.Tuple) else ()
            return [], tuple_(
                self.part(given[f])
                if f in given
                else self.zero(subscript(clone(site.out), constant(i)), kinds[i])
                for i, f in enumerate(fn._fields)
            )
        made = isinstance(fn, type) or fn is runtime.object_of
        if made and isinstance(site.kind, K.Obj):
            return [], self._constructed(site, node, site.kind)
        return None

    def _same_call(self, node: Node, arg: Node) -> Node:
        """Return a call with the tangent of its one operand in that one's place."""
        table = {arg.id: name(self.dot(arg.id))}
        return clone(node, table)

    def _homogeneous(self, arg: Node) -> bool:
        """Say whether this is a list of which every item has a tangent of its own."""
        kind = self.kind(arg)
        return isinstance(kind, K.List) and self.has(arg) and _moves_all(kind)

    def _values(self, owner: Node) -> Node:
        return call(attribute(name(self.dot(owner.id)), "values"))

    def _of_dict(self, node: Node) -> Node | None:
        """Return the tangent of d.get(key), d.values() and d.copy()."""
        owner, method = node.func.value, node.func.attr
        if method in ("values", "copy") and self.has(owner):
            return call(attribute(name(self.dot(owner.id)), method))
        if method == "items" and self.has(owner):
            helper = self.refs.function(runtime.push_items)
            return call(helper, clone(owner), name(self.dot(owner.id)))
        if method == "get":
            held = self.part(owner)
            parts = [clone(node.args[0]), *(self.part(a) for a in node.args[1:])]
            return call(attribute(held, "get"), *parts)
        raise self.refuse(
            UnsupportedError,
            node,
            f"s2sad cannot differentiate a dict's .{method}() in forward mode.",
            "Read the entries by their keys.",
        )

    def _greater(self, fn: Any, args: list[Node]) -> Node:
        """The tangent of the larger (smaller) of two scalars; of equal ones half of each."""
        op, other = (gast.Gt, gast.Lt) if fn is max else (gast.Lt, gast.Gt)
        one, two = (name(self.dot(a.id)) if self.has(a) else None for a in args)
        both: Node | None = one if two is None else two if one is None else None
        if one is not None and two is not None:
            both = binary(clone(one), gast.Add, clone(two))
        half = binary(constant(0.5), gast.Mult, clone(both))
        rest = gast.IfExp(
            compare(clone(args[0]), other, clone(args[1])), two or constant(0.0), half
        )
        return gast.IfExp(compare(clone(args[0]), op, clone(args[1])), one or constant(0.0), rest)

    def _by_key(self, site: Site, node: Node, fn: Any, args: list[Node]) -> Node:
        """Of max and min by a key: the tangent of the item that was chosen."""
        given = {k.arg: k.value for k in node.keywords}
        if len(args) != 1 or set(given) != {"key"} or not self.has(args[0]):
            raise self.refuse(
                UnsupportedError,
                node,
                f"s2sad cannot differentiate this call of {fn.__name__} in forward mode.",
                "Give it one list, and no other setting than key=.",
            )
        helper = self.refs.function(runtime.push_chosen)
        held = name(self.dot(args[0].id))
        return call(helper, clone(site.out), clone(args[0]), held, clone(given["key"]))

    def _converted(self, node: Node, arg: Node) -> Node | None:
        """list(x), tuple(x) and float(x) of the tangent."""
        if not self.has(arg):
            return None
        if isinstance(self.kind(arg), K.Num) and self.kind(arg) == K.FLOAT:
            return name(self.dot(arg.id))
        return self._same_call(node, arg)

    def _with_replaced(self, node: Node, owner: Node, kind: Kind) -> Node:
        """p._replace(a=x) and replace(p, a=x): the other fields are still those of p."""
        given = {k.arg: k.value for k in node.keywords}
        held = self.part(owner)
        fields = {
            f: self.part(given[f]) if f in given else read(held, part)
            for f, part in zip(K.names_of(kind), kind.parts, strict=True)
        }
        if isinstance(kind, K.Tuple):
            return tuple_(fields.values())
        return self._object(call("type", clone(owner)), fields)

    def _constructed(self, site: Site, node: Node, kind: K.Obj) -> Node:
        """The tangent of an object has the tangents of its fields."""
        made = self.objects.get(node.func) is runtime.object_of
        given = {} if made else dict(zip(by_position(kind.cls), node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords}
        fields = {
            f: self.part(given[f]) if f in given else self.zero(attribute(clone(site.out), f), part)
            for f, part in kind.fields
        }
        return self._object(clone(node.args[0]) if made else clone(node.func), fields)

    def _object(self, cls: Node, fields: dict[str, Node]) -> Node:
        return call(self.refs.function(runtime.object_of), cls, **fields)

    # library functions

    def library(
        self, site: Site, node: Node, fn: Any, args: list[Node], keywords: list[Any]
    ) -> Pushed:
        """Return the tangent of a function that has a rule."""
        rule = registry.rule_for(fn)
        if rule is None:
            label = _path_of(node.func) if isinstance(node, gast.Call) else repr(fn)
            raise self.refuse(MissingRuleError, node, *registry.missing(fn, label))
        if rule.is_zero(any(K.is_complex(self.kind(a)) for a in args)):
            return [], None
        lists = self._lists(node, fn, rule, args, keywords)
        if lists:
            return self._as_arrays(site, node, fn, args, keywords, lists)
        if isinstance(site.kind, K.Unknown):
            raise self.undecided(node, site.kind)
        for a in args:
            opaque = isinstance(self.kind(a), K.Opaque) and not registry.takes_objects(fn)
            if K.is_undecided(self.kind(a)) or opaque:
                raise self.undecided(a if getattr(a, "lineno", None) else node, self.kind(a))
        if rule.partials is not None and (rule.pushforward is None or not keywords):
            return self._by_partials(site, node, fn, rule.partials, args, keywords)
        if rule.pushforward is None:
            bound = self._bind(node, fn, rule.pullback, 2, args, keywords)
            self._check_known(node, fn, dict(bound.arrays))
            raise self.refuse(
                MissingRuleError,
                node,
                f"The rule of {rule.name} has no pushforward.",
                f"Write one with @s2sad.pushforward({rule.name}).",
            )
        return self._by_pushforward(site, node, fn, rule, args, keywords)

    def _lists(
        self, node: Node, fn: Any, rule: Any, args: list[Node], keywords: list[Any]
    ) -> list[Node]:
        """Return the arguments that are lists or tuples where the rule has arrays."""
        sequences = self._sequences(node, fn, rule)
        found = [a for a in args if isinstance(self.kind(a), sequences)]
        named = [k.value for k in keywords if isinstance(self.kind(k.value), sequences)]
        named = [v for v in named if stacked(self.kind(v)) is not None]
        elementwise = rule.partials is not None and (rule.pushforward is None or not keywords)
        if not (found or named) or not (elementwise or rule.pushforward):
            return []
        if elementwise:
            bound = self._bind(node, fn, rule.partials, 1, args, keywords)
        else:
            order = arrays_of(rule.pushforward)
            bound = self._bind_arrays(node, fn, rule.pushforward, len(order), args, keywords)
        places = [a for _, a in bound.arrays]
        found = [a for a in found if a in places or names_read(a) & self.wanted]
        return found + [v for v in named if v in places]

    def _as_arrays(
        self,
        site: Site,
        node: Node,
        fn: Any,
        args: list[Node],
        keywords: list[Any],
        lists: list[Node],
    ) -> Pushed:
        """NumPy makes arrays of lists: so does the derivative, of their tangents, too."""
        pre: Block = []
        code: Block
        replaced: dict[Node, Node] = {}
        added: set[str] = set()
        for a in lists:
            kind = stacked(self.kind(a))
            if kind is None:
                raise self.refuse(
                    UnsupportedError,
                    node,
                    f"s2sad cannot differentiate this operation on {K.describe(self.kind(a))} yet.",
                    "Make it an array first: np.array(...).",
                )
            convert = call(self.np("asarray"), clone(a))
            array = name(self.names.fresh(f"{a.id}_array" if isinstance(a, gast.Name) else "array"))
            pre.append(assign(array.id, convert))
            self.kinds[array] = kind
            self.objects[convert.func] = np.asarray
            part = dataclasses.replace(site, node=convert, out=array, kind=kind)
            if self._homogeneous(a):
                code, tangent = [], call(self.np("asarray"), name(self.dot(a.id)))
            else:
                code, tangent = self.library(part, convert, np.asarray, [a], [])
            pre += code
            if tangent is not None:
                pre.append(assign(self.dot(array.id), tangent))
                added.add(array.id)
            replaced[a] = array
        wanted = self.wanted
        self.wanted = wanted | added
        keywords = [gast.keyword(k.arg, replaced.get(k.value, k.value)) for k in keywords]
        code, value = self.library(site, node, fn, [replaced.get(a, a) for a in args], keywords)
        self.wanted = wanted
        return [*pre, *code], value

    def _by_partials(
        self, site: Site, node: Node, fn: Any, rule: Any, args: list[Node], keywords: list[Any]
    ) -> Pushed:
        bound = self._bind(node, fn, rule, 1, args, keywords)
        arrays = dict(bound.arrays)
        self._check_known(node, fn, arrays)
        refuse_useless(self, node, fn, rule, "elementwise", bound, args, keywords)
        given: dict[str, Any] = {registry.positional_names(rule, 0)[0]: self._out(site)}
        given |= {n: self._given(a) for n, a in bound.arrays}
        given |= self._settings(node, fn, bound)
        given |= self._as_floats(fn, site.kind, arrays)
        order = registry.positional_names(rule, 1)
        count = len(order)
        steep, others = self._by_steepness(site, fn, arrays)
        self.incoming = [arrays[n] for n in steep]
        safe = given | self._guarded(site, fn, {"out": site.out, **arrays})
        pre, partials = chosen_once(*self._inlined(node, fn, rule, safe, count), self.names)
        if others:
            more, plain = self._inlined(node, fn, rule, given, count)
            partials = [
                p if n in steep else q for n, p, q in zip(order, partials, plain, strict=True)
            ]
            pre = [*pre, *more]
        terms: list[Node] = []
        covered: list[Kind] = []
        dtypes: set[str | None] = set()
        for parameter, partial in zip(order, partials, strict=True):
            arg = arrays.get(parameter)
            if partial is None or arg is None or not self.has(arg):
                continue
            held = name(self.dot(arg.id))
            if arg.id in self.masked and number(partial) is None:
                partial, held = self._masked(pre, arg.id, held, partial, site.kind)
            term = _product(held, partial)
            if K.is_complex(self.kind(arg)) and not K.is_complex(site.kind):
                term = call(self.np("real"), term)
            terms.append(term)
            read = [self.kind(arg), *(self._kinds_in(partial, arrays, site))]
            covered += read
            dtypes |= {dtype_of(k) for k in read}
        if not terms:
            return pre, None
        total = terms[0]
        for term in terms[1:]:
            total = _sum(total, term)
        return pre, self._like_result(total, covered, dtypes, site)

    def _by_steepness(
        self, site: Site, fn: Any, arrays: dict[str, Any]
    ) -> tuple[list[str], list[str]]:
        """Return which operands' tangents say where a rule is read at a regular point.

        The partials by the other operands are finite: they are read where the operands are.
        """
        moving = [n for n, a in arrays.items() if self.has(a)]
        guard, rule = site.guard, registry.rule_for(fn)
        if guard is None or rule is None or not guard.steep or guard.wild or guard.out:
            return moving, []
        steep = [n for n in moving if n in rule.steep] or moving
        return steep, [n for n in moving if n not in steep]

    def _out(self, site: Site) -> Given:
        return Given(clone(site.out), site.kind)

    def by_number(self, site: Site, kind: Kind) -> bool:
        """Say whether one number is chosen: the tangents and the operand are numbers."""
        return not any(K.may_be_array(k) for k in (kind, *map(self.kind, self.incoming)))

    def on_device(self, site: Site, nothing: Node) -> Node:
        """Return the test as an array where a device's np.where wants one."""
        array = any(K.may_be_array(self.kind(a)) for a in self.incoming)
        if array or getattr(site.kind, "namespace", NUMPY) == NUMPY:
            return nothing
        return call(self.np("asarray"), nothing)

    def nothing_comes(self, site: Site) -> Node:
        """Return the test that says where all tangents of the operands are zero."""
        tests = [is_zero(name(self.dot(a.id))) for a in self.incoming]
        if any(K.may_be_array(self.kind(a)) for a in self.incoming):
            return functools.reduce(lambda a, b: binary(a, gast.BitAnd, b), tests)
        return tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests)

    def _masked(
        self, pre: Block, variable: str, held: Node, partial: Node, kind: Kind
    ) -> tuple[Node, Node]:
        """Return a mask, and a tangent that is zero where the mask is: it may be infinite there."""
        mask = self.names.fresh(f"{variable}_share")
        pre.append(assign(mask, partial))
        nothing = compare(name(mask), gast.Eq, gast.Constant(0, None))
        if K.may_be_array(kind):
            return name(mask), call(self.np("where"), nothing, constant(0.0), held)
        return name(mask), gast.IfExp(nothing, constant(0.0), held)

    def _kinds_in(self, partial: Node, arrays: dict[str, Any], site: Site) -> list[Kind]:
        """Return the kinds of the operands that are factors of a partial derivative."""
        if isinstance(partial, gast.Constant):
            return []
        found = []
        read = names_read(partial)
        for a in arrays.values():
            if isinstance(a, gast.Name) and a.id in read:
                found.append(self.kind(a))
        if isinstance(site.out, gast.Name) and site.out.id in read:
            found.append(site.kind)
        return found

    def _like_result(
        self, total: Node, covered: list[Kind], dtypes: set[str | None], site: Site
    ) -> Node:
        """Give a tangent the shape and dtype of its primal, where it may have others."""
        kind = site.kind
        if isinstance(kind, K.Num):
            return total
        if isinstance(kind, K.Array):
            ranks = [k.rank for k in covered if isinstance(k, K.Array)]
            wide = max(ranks, default=-1) == kind.rank
            if not wide or not all(self._covers(i, covered, kind) for i in range(kind.rank)):
                return binary(total, gast.Add, call(self.np("zeros_like"), clone(site.out)))
            known = dtypes - {None, "any"}
            if kind.rank and known and kind.dtype not in known:
                return call(attribute(total, "astype"), self.np(kind.dtype))
            return total
        shapes = {k.dims if isinstance(k, K.Array) else () for k in K.options(kind)}
        mine = [{k.dims if isinstance(k, K.Array) else () for k in K.options(c)} for c in covered]
        if shapes in mine and len(mine) == 1:
            return total
        return binary(total, gast.Add, call(self.np("zeros_like"), clone(site.out)))

    def _covers(self, axis: int, covered: list[Kind], kind: K.Array) -> bool:
        """Say whether some factor surely has the length of the result along an axis."""
        full = kind.dims[axis]
        if full == K.ONE:
            return True
        for k in covered:
            if not isinstance(k, K.Array):
                continue
            at = axis - (kind.rank - k.rank)
            if at < 0:
                continue
            dim = k.dims[at]
            if K.same_length(dim, full) or dim.many or self.assume(dim):
                return True
        return False

    def _by_pushforward(
        self, site: Site, node: Node, fn: Any, rule: Any, args: list[Node], keywords: list[Any]
    ) -> Pushed:
        push = rule.pushforward
        arrays = arrays_of(push)
        tangents = registry.positional_names(push, 1)[len(arrays) :]
        bound = self._bind_arrays(node, fn, push, len(arrays), args, keywords)
        by_name = dict(bound.arrays)
        self._check_known(node, fn, by_name)
        refuse_useless(self, node, fn, push, "pushforward", bound, args, keywords)
        first = next(iter(registry.positional_names(push, 0)), "out")
        given: dict[str, Any] = {first: self._out(site)}
        given |= {n: self._given(a) for n, a in bound.arrays}
        called = called_with(fn, site.kind, by_name, self.kind)
        functions = {n: self.function_vjp(site, a, how) for n, a, how in called}
        given |= {n: Given(made.node, K.UNKNOWN) for n, made in functions.items()}
        given |= self._settings(node, fn, bound)
        constant_ones = registry.constant_parameters(fn)
        for n, tangent in zip(arrays, tangents, strict=False):
            held = None if n in constant_ones else by_name.get(n)
            if n in functions:
                held = gast.Tuple([name(c) for c in functions[n].captured], gast.Load())
            given[tangent] = self._tangent_of(held)
            if not self.has_tangent(held) and wants_zeros(push):
                given[tangent] = self._no_tangent(by_name.get(n))
        if bound.varargs is not None:
            listed = [self._given(a) for a in bound.varargs[1]]
            listed += [self._tangent_of(by_name.get(n)) for n in arrays]
            listed += [self._tangent_of(a) for a in bound.varargs[1]]
            given[bound.varargs[0]] = listed
        if site.guard is not None:
            steep, _ = self._by_steepness(site, fn, by_name)
            self.incoming = [by_name[n] for n in steep]
            given |= self._guarded(site, fn, by_name)
        pre, values = chosen_once(*self._inlined(node, fn, push, given, 0), self.names)
        value = values[0]
        if value is None:
            return pre, None
        operands = [*by_name.values(), *(bound.varargs[1] if bound.varargs is not None else ())]
        found = {dtype_of(self.kind(a)) for a in operands if self.has(a)}
        wanted = dtype_of(site.kind)
        scalar = isinstance(site.kind, K.Num)
        if scalar and registry.wants_arrays(fn):
            return pre, value
        if isinstance(site.kind, K.Array) and site.kind.rank and found - {None, wanted}:
            value = call(attribute(value, "astype"), self.np(str(wanted)), copy=constant(False))
        return pre, value

    def _bind_arrays(
        self, node: Node, fn: Any, rule: Any, count: int, args: list[Node], keywords: list[Any]
    ) -> BoundCall:
        try:
            bound = bind(fn, rule, 1, args, keywords, count)
            return without_axes(bound, fn, self.kind)
        except BindingError as why:
            raise self._not_taken(node, fn, rule, why) from None

    def _tangent_of(self, arg: Node | None) -> Given:
        if arg is not None and self.has(arg):
            return Given(name(self.dot(arg.id)), K.erase_value(self.kind(arg)))
        if isinstance(arg, gast.List | gast.Tuple) and any(map(self.has, arg.elts)):
            return Given(
                type(arg)([self._none_or(e) for e in arg.elts], gast.Load()), self.kind(arg)
            )
        return Given(gast.Constant(None, None), K.NONE)

    def has_tangent(self, arg: Node | None) -> bool:
        """Say whether an argument has a tangent, or holds what has."""
        parts = arg.elts if isinstance(arg, gast.List | gast.Tuple) else [arg]
        return any(part is not None and self.has(part) for part in parts)

    def _no_tangent(self, arg: Node | None) -> Given:
        """Return zeros, for a pushforward that would not know what to make of None."""
        kind = K.NONE if arg is None else K.erase_value(self.kind(arg))
        if isinstance(kind, K.Num):
            return Given(constant(0 if kind.type == "int" else 0.0), kind)
        if arg is not None and isinstance(kind, K.Array):
            return Given(call(self.np("zeros_like"), clone(arg)), kind)
        return Given(gast.Constant(None, None), K.NONE)

    def _none_or(self, node: Node) -> Node:
        return name(self.dot(node.id)) if self.has(node) else gast.Constant(None, None)


def _is_call(node: Node) -> bool:
    return isinstance(node, gast.Call)


def _product(held: Node, partial: Node) -> Node:
    """Return a tangent times a partial derivative, without factors of one."""
    factor = number(partial)
    if factor == 1.0:
        return held
    if factor == -1.0:
        return negative(held)
    return binary(held, gast.Mult, partial)


def _sum(left: Node, right: Node) -> Node:
    if isinstance(right, gast.UnaryOp) and isinstance(right.op, gast.USub):
        return binary(left, gast.Sub, right.operand)
    return binary(left, gast.Add, right)


def _path_of(node: Node) -> str:
    if isinstance(node, gast.Attribute):
        return f"{_path_of(node.value)}.{node.attr}"
    return getattr(node, "id", "this function")


def reads(nodes: list[Node]) -> set[str]:
    """Return the names that some statements or expressions read."""
    return set().union(*(names_read(n) for n in nodes), set())


def is_fresh(value: Node, callees: Callees) -> bool:
    """Say whether an expression surely gives memory that nothing else knows."""
    if isinstance(value, gast.BinOp | gast.UnaryOp):
        return not any(isinstance(n, gast.List | gast.Tuple) for n in walk(value))
    return isinstance(value, gast.Call) and callees.is_new(value)


def _moves_all(kind: K.Kind) -> bool:
    """Say whether all that stands in a list, or in lists in it, has a tangent of its own."""
    if isinstance(kind, K.List):
        return all(map(_moves_all, [kind.item] if kind.items is None else kind.items))
    return isinstance(kind, K.Num | K.Array) and K.differentiable(kind)
