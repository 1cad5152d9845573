"""Memory in forward mode: what is written in place has a twin that holds its tangents.

    A = np.zeros(n)      ->   A = np.zeros(n);   A_dot = np.zeros(n)
    row = A[i]                row = A[i];        row_dot = A_dot[i]
    row[0] = x                row[0] = x;        row_dot[0] = x_dot
    xs.append(1.0)            xs.append(1.0);    xs_dot.append(0.0)

A twin is born with its memory and has its structure: the same containers, arrays of the same shape.
A name that shares memory with another has a twin that shares memory with the other's twin in the
same way, so that a write reaches the same names among the twins.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.errors import Error
from s2sad.kinds import Kind
from s2sad.known.callees import Callees
from s2sad.modes.cotangents import Cotangents
from s2sad.modes.guarded import Site
from s2sad.modes.pushes import Pushes, is_fresh
from s2sad.modes.raising import Raised, may_raise
from s2sad.modes.refs import Refs
from s2sad.modes.writes import each, laid_out, look_at
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    call,
    clone,
    constant,
    locate,
    name,
    names_read,
    substitute,
    walk,
)
from s2sad.stages import STANDS_FOR, STOPPED, Activity, Aliases, Function, KindFacts, Pushed
from s2sad.syntax.fresh import makes_new

_MIRRORED = (gast.Name, gast.Subscript, gast.Attribute, gast.Tuple, gast.List, gast.Dict)
_TAKERS = ("append", "insert", "pop", "reverse", "clear")
_OLD, _OUT = "@old", "@out"


class Twins:
    """The twins of memory that is written in place."""

    function: Function
    kinds: KindFacts
    activity: Activity
    refs: Refs
    names: Names
    aliases: Aliases
    zeros: Cotangents
    pushes: Pushes
    live: set[str]
    bound: set[str]
    rebinding: Container[Any] = ()
    calls: Callable[[Site, frozenset[str]], Any]
    twinned: frozenset[str] = frozenset()
    handed: frozenset[str] = frozenset()
    laid: frozenset[str] = frozenset()
    callees: Callees
    order_matters: Callable[[Any], Any]
    strong: Pushed

    def dot(self, variable: str) -> str:
        """Return the name of a variable's tangent."""
        raise NotImplementedError

    def note(self, variable: str, kind: Kind) -> None:
        """Note that a variable has its tangent here."""
        raise NotImplementedError

    def zero(self, variable: str, kind: Kind, at: Any) -> Block:
        """Return what sets a tangent to zero."""
        raise NotImplementedError

    def refuse(self, at: Any, reason: str, remedy: str) -> Error:
        """Return an error that points at the user's statement."""
        raise NotImplementedError

    def inert(self, s: Node) -> Block:
        """Return a statement as it is; refused where it makes something active."""
        raise NotImplementedError

    def see_raised(self, s: Node, raised: Raised) -> None:
        """Refuse a tangent whose computation may raise what the program catches."""
        raise NotImplementedError

    def find_twins(self, given: frozenset[str] = frozenset(), followed: bool = False) -> None:
        """Find the memory that is written in place, of which some is active somewhere.

        Where what becomes of the result is `followed`, the caller writes it, or what it is made of.
        """
        written = self.aliases.arrays | self.aliases.slots
        written |= frozenset[str]().union(*self.aliases.touched.values())
        active = set(given)
        for table in (self.activity.varied_before, self.activity.varied_after):
            for s in table:
                active |= self.activity.before(s) | self.activity.after(s)
        groups = _groups(written & self.function.locals, self.aliases, self.function.locals)
        found = (g for g in groups if g & active)
        result = self.function.result
        self.handed = self.aliases.ever(result) & self.function.locals
        together = self._handed_together(self.handed - {result})
        self.twinned = frozenset[str]().union(*found, *together)
        if followed:
            groups = _groups(frozenset({result}), self.aliases, self.function.locals)
            self.twinned = self.twinned.union(*groups)
        self.laid = laid_out(self.aliases)

    def _handed_together(self, handed: frozenset[str]) -> list[frozenset[str]]:
        """Return what shares memory with something else in the result: a caller may write it."""
        shared = {n for n in handed if self.aliases.ever(n) & handed - {n}}
        for node in walk(self.function.node):
            parts = node.values if isinstance(node, gast.Dict) else getattr(node, "elts", [])
            names = [part.id for part in parts if isinstance(part, gast.Name)]
            shared |= {n for n in names if names.count(n) > 1 and n in handed}
        return _groups(frozenset(shared), self.aliases, handed)

    def wants(self, s: Any, variable: str) -> bool:
        """Say whether a variable that a statement binds has a tangent there."""
        kind = self.kinds.after.get(s, {}).get(variable, K.UNKNOWN)
        if isinstance(kind, K.Array):
            marks = self.aliases.pairs_after.get(s, {}).get(variable, frozenset())
            if STOPPED in marks and variable not in self.activity.after(s):
                return False  # whoever writes it is refused
        if variable in self.twinned and not isinstance(kind, K.Num | K.Str | K.NoneKind):
            return K.differentiable(kind) or K.is_container(kind)
        return variable in self.activity.after(s)

    # views

    def viewed(self, site: Site, variable: str) -> Node | None:
        """Return the view of a twin that belongs to what surely is a view."""
        link = self.aliases.links_after.get(site.statement, {}).get(variable)
        if link is None or variable not in self.twinned or link.base not in self.live:
            return None
        if link.base == variable:
            return None
        place: Node = substitute(clone(link.value), {link.base: name(self.dot(link.base))})
        if link.fixed:
            return call(self.refs.function(runtime.writeable), place)
        if not link.maybe:
            return place
        helper = self.refs.function(runtime.same_view)
        return call(helper, name(self.dot(link.base)), place, name(link.base), clone(site.out))

    def apart(self, s: Any, variable: str, value: Node, tangent: Node) -> Node:
        """Let a tangent share memory only where its primal does, if that is ever seen."""
        kind = self.kinds.after.get(s, {}).get(variable, K.UNKNOWN)
        if K.shares_nothing(kind) or isinstance(value, _MIRRORED) or self._hands_over(value):
            return tangent
        link = self.aliases.links_after.get(s, {}).get(variable)
        if link is not None and variable in self.twinned:
            return tangent
        around = names_read(value) & self.twinned
        if variable not in self.twinned | self.handed and not around:
            return tangent
        if isinstance(value, gast.Call) and variable in self.twinned:
            view = self._view_of(value)
            if view is not None:
                return self._beside_view(s, variable, kind, tangent, *view)
        if variable in self.laid and isinstance(kind, K.Array):
            return call(self.refs.function(runtime.laid_like), tangent, name(f"{variable}@out"))
        if is_fresh(tangent, self.callees):
            return tangent
        if isinstance(kind, K.Array):
            if variable in self.twinned and self._may_be_another(s, variable):
                raise self._unsure(s, variable)
            return call(attribute(tangent, "copy"))
        if isinstance(value, gast.Call) and (K.is_container(kind) or self._view_of(value)):
            return tangent
        return call(self.refs.function(runtime.private), tangent)

    def _beside_view(
        self, s: Any, variable: str, kind: Kind, tangent: Node, view: str, base: Node
    ) -> Node:
        """Return the tangent of what is a view or may be one: what is written reaches both."""
        if isinstance(base, gast.Name) and base.id in self.live:
            several = holds_arrays(kind) and isinstance(self.kinds.of.get(base), K.Array)
            if several or isinstance(kind, K.Array):
                same = runtime.same_views if several else runtime.same_view
                given = [name(self.dot(base.id)), tangent, clone(base), name(f"{variable}@out")]
                return call(self.refs.function(same), *given)
        if view == "always" and isinstance(tangent, gast.Call):
            return tangent
        raise self._unsure(s, variable)

    def _hands_over(self, value: Node) -> bool:
        """Say whether a call gives, or holds, what it is given, as its tangent does theirs."""
        if not isinstance(value, gast.Call):
            return False
        if isinstance(value.func, gast.Attribute):
            owner = self.kinds.of.get(value.func.value)
            if isinstance(owner, K.AnyDict):
                return value.func.attr in ("get", "items", "values")
            return isinstance(owner, K.Tuple) and bool(value.func.attr == "_replace")
        made = self.kinds.objects.get(value.func)
        return isinstance(made, type) and hasattr(made, "_fields")

    def _may_be_another(self, s: Any, variable: str) -> bool:
        """Say whether what a statement binds may be memory that other names have, too."""
        shared = self.aliases.pairs_after.get(s, {}).get(variable, frozenset())
        return any("@" not in n for n in shared - {variable})

    def _unsure(self, s: Any, variable: str) -> Error:
        return self.refuse(
            s,
            f"Only the running program shows whether `{variable}` shares memory with the "
            "values that it is made from, and some of that memory is written; forward mode "
            "cannot follow it yet.",
            "Copy it: .copy().",
        )

    def _view_of(self, value: Node) -> tuple[str, Node] | None:
        """Return whether a call gives a view, always or maybe, and of what; None where never."""
        fn = self.kinds.objects.get(value.func)
        arrays = [a for a in value.args if not isinstance(self.kinds.of.get(a), K.Str)]
        base = arrays[0] if arrays else value.func
        if fn is None and isinstance(value.func, gast.Attribute):
            if K.is_numeric(self.kinds.of.get(value.func.value, K.UNKNOWN)):
                fn = registry.method_function(value.func.attr)
                base = value.func.value
        rule = registry.rule_for(fn) if fn is not None else None
        if rule is None or rule.view == "never" or makes_new(fn, value):
            return None
        return rule.view, base

    # writes

    def write(self, s: Node, target: Node, value: Node) -> Block:
        """Return `A[i] = v` with `A_dot[i] = v_dot`, zero where v has no tangent."""
        if not isinstance(target.value, gast.Name):
            return self.inert(s)
        base = target.value.id
        if base not in self.live:
            self._refuse_lost(s, base, value)
            return [*self._look(s), clone(s)]
        self.pushes.wanted = frozenset(self.live)
        owner = self.kinds.before[s].get(base, K.UNKNOWN)
        hold, target = self._held_index(s, target)
        primal = clone(s)
        primal.targets = [target]
        pre: Block = []
        if isinstance(value, gast.Name | gast.Constant):
            tangent = self._stored(value, owner)
        elif isinstance(owner, K.Array) and not names_read(value) & self.live:
            tangent = constant(0.0)
        else:
            site = Site(s, value, name(_OUT), name("@"), self.kinds.of.get(value, K.UNKNOWN))
            pre, found = self.pushes.push(site, frozenset(self.live))
            if found is None or any(_OUT in names_read(n) for n in [*pre, found]):
                return self.inert(s)
            tangent = found
            kind = self.kinds.of.get(value, K.UNKNOWN)
            code = [*pre, gast.Expr(tangent)]
            self.see_raised(s, may_raise(code, value, kind, self.callees))
        self._refuse_unfollowed(s, value)
        place = clone(target)
        place.value = name(self.dot(base))
        return [*self._look(s), *hold, *pre, primal, gast.Assign([place], tangent, None)]

    def _look(self, s: Node) -> Block:
        """Return a look at the memory of a write that stands for a call, which may copy otherwise.

        What stands as the user wrote it does to values and tangents what NumPy does.
        """
        if not any(hasattr(s, word) for word in STANDS_FOR):
            return []
        check = self.order_matters(s)
        return [] if check is None else [look_at(check, self.refs)]

    def _refuse_unfollowed(self, s: Any, value: Node) -> None:
        """Refuse to store what is active and has no tangent: an exception, what a manager gives."""
        read = names_read(value) & self.activity.before(s) - self.live
        before = self.kinds.before.get(s, {})
        hit = {n for n in read if isinstance(before.get(n), K.Unknown)}
        if hit and K.differentiable(self.kinds.of.get(value, K.UNKNOWN)):
            raise self.refuse(
                s,
                f"`{min(hit)}` has a derivative on some paths, but its type is "
                f"{K.describe(before[min(hit)])}.",
                "Give it a known kind: a float, an array or a structure of these.",
            )

    def _stored(self, value: Node, owner: Kind) -> Node:
        """Return the tangent of what is put into an array or a structure."""
        if isinstance(owner, K.Array):
            has = self.pushes_has(value)
            return name(self.dot(value.id)) if has else constant(0.0)
        return self.pushes.part(value)

    def pushes_has(self, node: Node) -> bool:
        """Say whether an operand has a tangent."""
        self.pushes.wanted = frozenset(self.live)
        return self.pushes.has(node)

    def _refuse_lost(self, s: Any, base: str, value: Node) -> None:
        """Refuse a write of something active into what has no twin, but reaches the result.

        What is of no known kind may be a part of what does.
        """
        known = not K.is_undecided(self.kinds.before.get(s, {}).get(base, K.UNBOUND))
        if known or not K.differentiable(self.kinds.of.get(value, K.UNKNOWN)):
            lost = self.live if base in self.activity.after(s) else frozenset[str]()
        else:
            lost = self.activity.varied_before.get(s, frozenset())
        if names_read(value) & lost:
            raise self.refuse(
                s,
                f"The result depends on `{base}`, and s2sad cannot differentiate this write "
                "into it in forward mode yet.",
                "Build a new value, or use s2sad.grad.",
            )

    def _held_index(self, s: Any, target: Node) -> tuple[Block, Node]:
        """Hold an index that must be found once, or before the write."""
        target = clone(target)
        if not isinstance(target, gast.Subscript):
            return [], target
        changed = self.aliases.touched.get(s, frozenset())
        effects = any(isinstance(n, gast.Call) for n in walk(target.slice))
        if not effects and not names_read(target.slice) & changed:
            return [], target
        if any(isinstance(n, gast.Slice) for n in walk(target.slice)):
            if not effects and isinstance(target.value, gast.Name):
                return [], target
            raise self.refuse(
                s,
                "This index calls a function, or reads what the statement writes; forward "
                "mode needs the index twice.",
                "Assign the index to a name in a statement before.",
            )
        held = self.names.fresh("index")
        code = [assign(held, target.slice)]
        target.slice = name(held)
        return code, target

    def augment(self, s: Node) -> Block:
        """Return `A[i] += v` with `A_dot[i] += v_dot`, `A[i] *= v` with what that asks for."""
        target = s.target
        base = target.value.id if isinstance(target.value, gast.Name) else None
        primal: Node = gast.Expr(each(s)) if hasattr(s, "each") else clone(s)
        if base is None:
            return self.inert(s)
        if base not in self.live:
            self._refuse_lost(s, base, s.value)
            return [primal]
        hold, place = self._held_index(s, target)
        if hold and hasattr(s, "each"):
            return self.inert(s)
        if hold:
            primal.target = clone(place)
        twin = clone(place)
        twin.value = name(self.dot(base))
        has = self.pushes_has(s.value)
        if isinstance(s.op, gast.Add | gast.Sub):
            if not has:
                return [*hold, primal]
            if hasattr(s, "each"):
                mirrored = clone(s)
                mirrored.each, mirrored.target = s.each, twin
                mirrored.value = name(self.dot(s.value.id))
                return [gast.Expr(each(mirrored)), primal]
            if K.differentiable(self.kinds.of.get(target, K.UNKNOWN)):
                value = name(self.dot(s.value.id))
                return [*hold, gast.AugAssign(twin, clone(s.op), value), primal]
        if hasattr(s, "each"):
            return self.inert(s)
        return [*hold, *self._scaled(s, place, twin), primal]

    def _scaled(self, s: Node, place: Node, twin: Node) -> Block:
        """Return what the tangent of `A[i]` becomes by an operation with v: before that."""
        kind = self.kinds.of.get(s.target, K.UNKNOWN)
        node = gast.BinOp(name(_OLD), s.op, clone(s.value))
        self.kinds.of[node.left] = kind
        self.kinds.of[node.right] = self.kinds.of.get(s.value, K.UNKNOWN)
        self.kinds.of[node] = kind
        locate(node, s)
        site = Site(s, node, name(_OUT), name("@"), kind, self.strong.guards.get(s))
        live = frozenset(self.live)
        if K.differentiable(kind):
            live |= {_OLD}
        pre, tangent = self.pushes.push(site, live)
        if tangent is None:
            return [gast.Assign([twin], constant(0.0), None)]
        code = [*pre, gast.Expr(tangent)]
        self.see_raised(s, may_raise(code, node, kind, self.callees))
        old, old_dot = clone(place), clone(twin)
        old.ctx = old_dot.ctx = gast.Load()
        whole = gast.BinOp(clone(old), clone(s.op), clone(s.value))
        table = {_OLD: old, self.dot(_OLD): old_dot, _OUT: whole}
        pre = [assign(p.targets[0].id, substitute(p.value, table)) for p in pre]
        value = substitute(tangent, table)
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
            if gast.dump(value.left) == gast.dump(old_dot):
                return [*pre, gast.AugAssign(twin, gast.Mult(), value.right)]
        return [*pre, gast.Assign([twin], value, None)]

    # containers

    def effect(self, s: Node) -> Block:
        """Return a call for its effect, with what that does to the twins."""
        value = s.value
        if not isinstance(value, gast.Call):
            return [clone(s)]
        site = Site(s, value, name("@"), name("@"), K.NONE)
        answer = self.calls(site, frozenset(self.live))
        if answer is not None:
            code, _ = answer
            return code or [clone(s)]
        owner = value.func.value if isinstance(value.func, gast.Attribute) else None
        if isinstance(owner, gast.Name) and owner.id in self.live:
            kind = self.kinds.before[s].get(owner.id, K.UNKNOWN)
            if isinstance(kind, K.List) and value.func.attr in _TAKERS and not value.keywords:
                return self._taken(s, owner.id, value)
        if self.aliases.touched.get(s, frozenset()) & (self.twinned | self.live):
            return self.inert(s)
        return [clone(s)]

    def _taken(self, s: Node, owner: str, value: Node) -> Block:
        """Return what changes how many items a list has, and its twin."""
        method = value.func.attr
        args = [clone(a) for a in value.args]
        if method in ("append", "insert"):
            self.pushes.wanted = frozenset(self.live)
            args[-1] = self.pushes.part(value.args[-1])
        self._check_places(s, owner, args[: 1 if method != "append" else 0])
        twin = call(attribute(name(self.dot(owner)), method), *args)
        return [clone(s), gast.Expr(twin)]

    def _check_places(self, s: Any, owner: str, places: list[Node]) -> None:
        """Refuse a place in a list that is found anew: it may be another one by then."""
        for place in places:
            plain = isinstance(place, gast.Name | gast.Constant | gast.UnaryOp)
            if not plain or owner in names_read(place):
                raise self.refuse(
                    s,
                    "This call computes the position in the list; forward mode needs the "
                    "position twice.",
                    "Assign the position to a name in a statement before.",
                )

    def popped(self, s: Node, variable: str, value: Node) -> Block | None:
        """Return `y = xs.pop()` with `y_dot = xs_dot.pop()`; None where this is something else."""
        if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Attribute):
            return None
        owner = value.func.value
        if not isinstance(owner, gast.Name) or owner.id not in self.live:
            return None
        kind = self.kinds.before[s].get(owner.id, K.UNKNOWN)
        if not isinstance(kind, K.List) or value.func.attr != "pop":
            return None
        if variable == owner.id:
            return self.inert(s)
        args = [clone(a) for a in value.args]
        self._check_places(s, owner.id, args)
        twin = call(attribute(name(self.dot(owner.id)), "pop"), *args)
        self.bound.add(variable)
        if not self.wants(s, variable):
            self.live.discard(variable)
            return [clone(s), gast.Expr(twin)]
        self.note(variable, self.kinds.after.get(s, {}).get(variable, K.UNKNOWN))
        return [clone(s), assign(self.dot(variable), twin)]

    def drop(self, s: Node) -> Block:
        """Return `del xs[i]` with `del xs_dot[i]`."""
        if len(s.targets) != 1 or not isinstance(s.targets[0], gast.Subscript):
            return self.inert(s)
        target = s.targets[0]
        if not isinstance(target.value, gast.Name):
            return self.inert(s)
        if target.value.id not in self.live:
            return [clone(s)]
        self._check_places(s, target.value.id, [target.slice])
        twin = clone(target)
        twin.value = name(self.dot(target.value.id))
        return [clone(s), gast.Delete([twin])]


def holds_arrays(kind: Kind) -> bool:
    """Say whether a value is a list or a tuple of arrays, and of nothing else."""
    if isinstance(kind, K.Tuple):
        return kind.cls is None and all(isinstance(k, K.Array) for k in kind.items)
    return isinstance(kind, K.List) and isinstance(kind.item, K.Array)


def hands_on(function: Function, aliases: Aliases) -> bool:
    """Say whether the result of a function may share memory with what the function is given."""
    return any(n.endswith("@arg") for n in aliases.ever(function.result))


def _groups(names: frozenset[str], aliases: Aliases, known: frozenset[str]) -> list[frozenset[str]]:
    """Return some names with all that may share memory with them, in classes."""
    left = set(names)
    found: list[frozenset[str]] = []
    while left:
        group: set[str] = set()
        open_ = [left.pop()]
        while open_:
            n = open_.pop()
            if n in group:
                continue
            group.add(n)
            open_ += (aliases.ever(n) & known) - group
        left -= group
        found.append(frozenset(group))
    return found
