"""What calls pass back that build and read structures: they need no rule.

xs = [a, b]; s = sum(xs)     ->   xs_bar[0] += s_bar; xs_bar[1] += s_bar
q = replace(p, a=x)          ->   x_bar += q_bar.a, the other fields to p_bar
v = d.get("k")               ->   d_bar["k"] += v_bar
"""

from __future__ import annotations

import builtins
import dataclasses
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import runtime
from s2sad.errors import Error, UnsupportedError
from s2sad.kinds import Kind
from s2sad.known.built import read
from s2sad.known.open_dicts import surely_has
from s2sad.known.signature import by_position
from s2sad.known.unread import by_cause, undecided
from s2sad.modes.guarded import Guarded, Site
from s2sad.nodes import (
    Block,
    Node,
    attribute,
    binary,
    call,
    clone,
    compare,
    constant,
    name,
    names_read,
    subscript,
)

STACKING: tuple[Any, ...] = (np.array, np.asarray)
CONVERSIONS: tuple[Any, ...] = (list, tuple, float, builtins.complex)


@dataclass(frozen=True)
class Contribution:
    """Add `value` to the cotangent of `operand`, or to the part of it that `path` names."""

    operand: str
    value: Node
    path: tuple[str, Any] | None = None
    repeats: bool = False


def of_sequences(left: Kind, right: Kind, made: Kind) -> bool:
    """Say whether an operator joins or repeats lists or tuples: others take them for arrays."""
    return not K.is_numeric(made) and not {K.List, K.Tuple}.isdisjoint((type(left), type(right)))


class Structured(Guarded):
    """Undoes the calls of one function that handle structures."""

    def undecided(self, node: Node, kind: Kind) -> Error:
        return by_cause(self.refuse(UnsupportedError, node, *undecided(kind)), kind)

    def owner_of_method(self, node: Node) -> Kind | None:
        """Return the kind of what a method is called on; None where a function is called."""
        method = self.objects.get(node.func) is None and isinstance(node.func, gast.Attribute)
        return self.kind(node.func.value) if method else None

    def _structure_method(self, site: Site, node: Node) -> tuple[Block, list[Contribution]] | None:
        owner = self.owner_of_method(node)
        if isinstance(owner, K.AnyDict):
            return self._dict_method(site, node, owner)
        if isinstance(owner, K.Tuple) and node.func.attr == "_replace":
            return [], self._replaced(site, node, node.func.value, owner)
        return None

    def _on_structures(
        self, site: Site, node: Node, fn: Any, args: list[Node]
    ) -> tuple[Block, list[Contribution]] | None:
        """Undo a call that has no rule because it handles structures."""
        if fn is dataclasses.replace and isinstance(self.kind(args[0]), K.Obj):
            return [], self._replaced(site, node, args[0], self.kind(args[0]))
        if fn in (max, min) and node.keywords:
            chosen = self._chosen(site, node, fn, args)
            return None if chosen is None else ([], chosen)
        if fn in (max, min) and len(args) == 2:
            if all(isinstance(self.kind(a), K.Num) for a in args):
                return [], self._extreme(site, fn, args)
        if fn in CONVERSIONS and len(args) == 1:
            return [], self._conversion(site, fn, args[0])
        if isinstance(fn, type) and issubclass(fn, tuple) and hasattr(fn, "_fields"):
            return [], self._named_tuple(site, node, fn)
        made = isinstance(fn, type) or fn is runtime.object_of
        if made and isinstance(site.kind, K.Obj):
            return [], self._constructed(site, node, site.kind)
        found = None
        if len(args) == 1 and not node.keywords:
            found = self._stacked(site, args[0]) if fn in STACKING else None
            found = self._summed(site, args[0]) if fn is sum else found
        return None if found is None else ([], found)

    def _summed(self, site: Site, arg: Node) -> list[Contribution] | None:
        """sum of a dict's values or of a list of numbers gives each item the whole."""
        if isinstance(arg, gast.Call):
            owner = arg.func.value  # sum(d.values())
            return [Contribution(owner.id, site.bar, ("each", None))]
        kind = self.kind(arg)
        if isinstance(arg, gast.Name) and isinstance(kind, K.List) and isinstance(kind.item, K.Num):
            each = gast.List([clone(site.bar)], gast.Load())
            length = call("len", clone(arg))
            return [Contribution(arg.id, binary(each, gast.Mult, length))]
        return None

    def _named_tuple(self, site: Site, node: Node, cls: Any) -> list[Contribution]:
        places = {f: i for i, f in enumerate(cls._fields)}
        order = [*enumerate(node.args), *((places[k.arg], k.value) for k in node.keywords)]
        return [
            Contribution(a.id, subscript(clone(site.bar), constant(i)))
            for i, a in order
            if isinstance(a, gast.Name)
        ]

    def _replaced(self, site: Site, node: Node, owner: Node, kind: Kind) -> list[Contribution]:
        """p._replace(a=x) and replace(p, a=x): the other fields are still those of p."""
        found = []
        given = {k.arg: k.value for k in node.keywords}
        for part, field in zip(kind.parts, K.names_of(kind), strict=True):
            bar, value = read(site.bar, part), given.get(field)
            path = ("attr" if part.how == "field" else "item", part.step)
            if value is None:
                if isinstance(owner, gast.Name) and K.differentiable(part.kind):
                    found.append(Contribution(owner.id, bar, path))
            elif isinstance(value, gast.Name) and K.differentiable(self.kind(value)):
                found.append(Contribution(value.id, bar))
        return found

    def _constructed(self, site: Site, node: Node, kind: K.Obj) -> list[Contribution]:
        """A dataclass hands the cotangents of its fields to what they were made of."""
        made = self.objects.get(node.func) is runtime.object_of
        given = {} if made else dict(zip(by_position(kind.cls), node.args, strict=False))
        given.update({k.arg: k.value for k in node.keywords})
        return [
            Contribution(a.id, attribute(clone(site.bar), f))
            for f, a in given.items()
            if isinstance(a, gast.Name) and K.differentiable(self.kind(a))
        ]

    def _dict_method(
        self, site: Site, node: Node, owner: K.AnyDict
    ) -> tuple[Block, list[Contribution]]:
        """Undo d.get(key), d.values() and d.items() of a dict with known keys."""
        variable, method = node.func.value.id, node.func.attr
        if method == "get":
            if surely_has(owner, self.kind(node.args[0])):
                path = ("index", node.args[0])
                return [], [Contribution(variable, site.bar, path)]
            default = node.args[1] if len(node.args) > 1 else None
            if surely_has(owner, self.kind(node.args[0])) is None:
                path = ("entry", node.args[0])
                return [], [Contribution(variable, site.bar, path)]
            if isinstance(default, gast.Name):
                return [], [Contribution(default.id, site.bar)]
            return [], []
        if method in ("values", "items"):
            helper = runtime.from_values if method == "values" else runtime.from_items
            value = call(self.refs.function(helper), name(variable), clone(site.bar))
            return [], [Contribution(variable, value)]
        raise self.refuse(
            UnsupportedError,
            node,
            f"s2sad cannot differentiate a dict's .{method}().",
            "Read the entries by their keys.",
        )

    def _stacked(self, site: Site, arg: Node) -> list[Contribution] | None:
        """np.array of a list gives each item its row; None where the rule must answer."""
        kind = self.kind(arg)
        if not isinstance(kind, K.List) or not isinstance(arg, gast.Name):
            return None
        if isinstance(kind.item, K.Num) and not K.differentiable(kind.item):
            return None
        if arg.id in self.displays:
            bar = site.bar if kind.items is None else self.fitted(site.bar, site.kind, arg)
            return [Contribution(arg.id, bar)]
        if isinstance(kind.item, K.Num | K.Array):
            return [Contribution(arg.id, call("list", site.bar))]
        return None

    def _extreme(self, site: Site, fn: Any, args: list[Node]) -> list[Contribution]:
        """The larger (smaller) of two scalars passes on all, equal ones half each."""
        strict, loose = (gast.Gt, gast.GtE) if fn is max else (gast.Lt, gast.LtE)
        found = []
        for one, other in (args, args[::-1]):
            if not isinstance(one, gast.Name):
                continue
            half = binary(constant(0.5), gast.Mult, clone(site.bar))
            value = binary(
                binary(clone(half), gast.Mult, compare(clone(one), loose, clone(other))),
                gast.Add,
                binary(half, gast.Mult, compare(clone(one), strict, clone(other))),
            )
            if site.guard is not None and site.guard.infinite:
                more = binary(constant(0.5), gast.Mult, compare(clone(one), strict, clone(other)))
                share = binary(constant(0.5), gast.Add, more)
                value = binary(clone(site.bar), gast.Mult, share)
                value = gast.IfExp(compare(clone(one), loose, clone(other)), value, constant(0.0))
            found.append(Contribution(one.id, self.cast(value, K.FLOAT, one)))
        return found

    def _chosen(
        self, site: Site, node: Node, fn: Any, args: list[Node]
    ) -> list[Contribution] | None:
        """By a key, max and min give the first of the items; without one the rule answers.

        `default` is given only where there is no item.
        """
        given = {k.arg: k.value for k in node.keywords}
        default = given.get("default")
        if isinstance(site.kind, K.Unknown):
            raise self.undecided(node, site.kind)
        if default is not None and names_read(default) & self.wanted:
            raise self.refuse(
                UnsupportedError,
                node,
                f"s2sad cannot differentiate a call of {fn.__name__} whose default= depends "
                "on what is differentiated.",
                "Test for the empty sequence with an if statement.",
            )
        if "key" not in given or isinstance(self.kind(given["key"]), K.NoneKind):
            return None
        if len(args) != 1:
            raise self.refuse(
                UnsupportedError,
                node,
                f"s2sad cannot differentiate a call of {fn.__name__} with several arguments "
                "and key=.",
                "Put the arguments into a list.",
            )
        if not isinstance(args[0], gast.Name):
            return []
        helper = self.refs.function(runtime.pull_chosen)
        bars = call(helper, clone(site.bar), clone(site.out), clone(args[0]), clone(given["key"]))
        return [Contribution(args[0].id, bars)]

    def _conversion(self, site: Site, fn: Any, arg: Node) -> list[Contribution]:
        """list(x), tuple(x) and float(x) pass on what they get, in the structure of x."""
        if not isinstance(arg, gast.Name):
            return []
        kind = self.kind(arg)
        value = site.bar
        if isinstance(kind, K.Array):
            value = call(self.np("array"), value)
        elif isinstance(kind, K.Tuple) and fn is list:
            value = call("tuple", value)
        elif isinstance(kind, K.List) and fn is tuple:
            value = call("list", value)
        return [Contribution(arg.id, self.cast(value, site.kind, arg))]
