"""Arrays written in place: each has a shadow, and what is a view of the array is one of the shadow.

    A[i] = v      ->   v_bar = A_bar[i];  A_bar[i] = 0.0         (the old content has no derivative)
    A[i] *= v     ->   v_bar = A_bar[i] * A[i];  A_bar[i] *= v   (after A[i] is put back)

A shadow is one buffer from the last use of its array back to the first: contributions are added to
it in place, and a name that is a view of another (`row = A[i]`) has the same view of its shadow.
Two names that share memory never have two shadows: that is checked after every statement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import runtime
from s2sad.kinds import Kind
from s2sad.known.callees import Callees
from s2sad.known.lifted import space_among
from s2sad.known.spaces import NUMPY
from s2sad.modes.cotangents import as_value, assign_place
from s2sad.modes.guarded import Site
from s2sad.modes.operations import Operations
from s2sad.modes.refs import Refs
from s2sad.modes.shapes import dtype_of
from s2sad.modes.structured import Contribution
from s2sad.modes.turned import Turned
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    binary,
    blocks_of,
    call,
    clone,
    constant,
    copied,
    locate,
    name,
    names_read,
    number,
    stand_in,
    store,
    subscript,
    substitute,
    walk,
)
from s2sad.stages import (
    STANDS_FOR,
    TWICE,
    Activity,
    Aliases,
    Function,
    KindFacts,
    Link,
    RestorePart,
    Write,
)


def alone(aliases: Aliases, shared: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the arrays without views that are arrays too: their shadows are plain variables.

    Those in `shared` have shadows that other functions know, too.
    """
    viewed: set[str] = {w.base for w in aliases.writes if w.how == "call"} | shared
    names: list[set[str]] = []
    for s, links in aliases.links_after.items():
        live = aliases.live_after.get(s, frozenset())
        for n, link in links.items():
            if n in aliases.arrays:
                pair = {n, link.base}
                if isinstance(link.value, gast.Name) and not pair <= live:
                    names.append(pair)
                else:
                    viewed |= pair
    while any(pair & viewed and not pair <= viewed for pair in names):
        for pair in names:
            if pair & viewed:
                viewed |= pair
    return aliases.arrays - viewed


def laid_out(aliases: Aliases) -> frozenset[str]:
    """Return the arrays whose shadows must lie in memory as they do: views depend on that."""
    bases = {
        (n, link.base, link.maybe)
        for links in aliases.links_after.values()
        for n, link in links.items()
    }
    found = {base for _, base, maybe in bases if maybe}
    while True:
        more = {base for n, base, _ in bases if n in found} - found
        if not more:
            return frozenset(found)
        found |= more


OLD, NEW, BAR = "@old", "@new", "@bar"


class Writes(Turned):
    """The shadows of arrays that are written in place."""

    operations: Operations
    activity: Activity
    kept: dict[Any, str]

    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        refs: Refs,
        names: Names,
        aliases: Aliases,
        given: frozenset[str] = frozenset(),
        asked: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(function, kinds, refs, names)
        self.ask_for(asked)
        self.given = given
        self.made_by_calls: set[str] = set()
        self.pairs: dict[Any, Any] = {}
        self.aliases = aliases
        self.arrays = (aliases.arrays | aliases.slots | self.asked) - self.split
        self.buffers: set[str] = set()
        self.held: set[str] = set()
        self.own_writes = [w for w in aliases.writes if not self.outside(w)]
        self.array_writes = {w.statement for w in self.own_writes if w.in_array and w.how == "item"}
        self.call_writes: dict[Any, list[Write]] = {}
        for w in self.own_writes:
            if w.how == "call":
                self.call_writes.setdefault(w.statement, []).append(w)
        self.solo = alone(aliases, given) - aliases.slots - self.asked
        self.direct: frozenset[str] = frozenset()
        self.rewritten = aliases.rewritten()
        self.links: dict[str, Link] = {}
        self.point: dict[str, frozenset[str]] = {}
        self.unsure: set[str] = set()
        self.laid_out = laid_out(aliases)
        self.order_matters: Callable[[Any], Any] = lambda s: None
        self.looks: dict[Any, Node] = {}

    def outside(self, w: Write) -> bool:
        """Say whether a write may change what is outside the function: that is not undone."""
        shared = self.aliases.sharing(w.statement, w.base)
        return any("@" not in n for n in shared - self.function.locals)

    # shadows

    def given_shadows(self, parameters: dict[str, Kind]) -> None:
        """Take the caller's shadows of parameters for theirs: set from the end, only added to."""
        self.direct = frozenset(parameters)
        self.arrays |= self.direct - self.split
        self.solo -= self.direct
        for n, kind in parameters.items():
            self.live.add(n)
            self.note_kind(n, kind)

    def at(self, statement: Any, after: bool = False) -> None:
        """Stand before (or after) a statement: what is a view of what is asked there."""
        self.now = (self.kinds.after if after else self.kinds.before).get(statement, {})
        if after:
            self.links = self.aliases.links_after.get(statement, {})
            self.point = self.aliases.pairs_after.get(statement, {})
        else:
            self.links = self.aliases.links_before.get(statement, {})
            self.point = self.aliases.pairs_before.get(statement, {})

    def ensure(self, variable: str, kind: Kind, at: Any) -> Block:
        """Return what sets a cotangent to zero, or to its view of another shadow, if not set."""
        if variable in self.asked:
            return self.ask(variable, kind)
        if variable in self.live or variable not in self.arrays:
            return super().ensure(variable, kind, at)
        turned = self.turned(variable)
        if turned is not None:
            return self.ensure(turned[0], turned[2], at)
        link = self.links.get(variable)
        if link is not None and (link.base in self.arrays or K.is_container(link.owner)):
            same = isinstance(link.value, gast.Name)
            out = self.ensure(link.base, kind if same else self.now.get(link.base, link.owner), at)
            self.live.add(variable)
            self.aliased.add(variable)
            self.note_kind(variable, kind)
            place = substitute(clone(link.value), {link.base: name(self.bar(link.base))})
            return [*out, assign(self.bar(variable), self._view(variable, link, place))]
        self._only_one(variable, at)
        self.elements.pop(variable, None)
        return super().ensure(variable, kind, at)

    def _view(self, variable: str, link: Link, place: Node) -> Node:
        """Return the view of a shadow: one that can be written, and only where there is one."""
        if link.fixed:
            return call(name(self.refs.function(runtime.writeable)), place)
        if not link.maybe:
            return place
        helper = name(self.refs.function(runtime.view_of))
        shadow = name(self.bar(link.base))
        self.unsure.add(variable)
        return call(helper, shadow, place, name(link.base), name(variable))

    def apart(self, s: Node, variable: str, found: Block) -> Block:
        """What may be a copy passes on what its shadow has got, unless that was a view."""
        self.unsure.discard(variable)
        base = self.aliases.links_after[s][variable].base
        shadow, own = name(self.bar(base)), name(self.bar(variable))
        test = gast.UnaryOp(
            gast.Not(),
            call(self.np("may_share_memory", self.kinds.of.get(s.value, K.UNKNOWN)), own, shadow),
        )
        return [gast.If(test, found, [])]

    def own_seed(self, result: str, seed: Node) -> Node:
        """The cotangent of a result that is a shadow is a copy: what is given stays as it is."""
        if isinstance(seed, gast.Name):
            self.names.take(seed.id)
            self.bars[result] = self.names.fresh(f"{result}_bar")
            if K.is_container(self.kinds.result):
                own = call(name(self.refs.function(runtime.private)), clone(seed))
                return assign(self.bar(result), own)
            return assign(self.bar(result), call(attribute(clone(seed), "copy")))
        return assign(
            self.bar(result), call(self.np("full_like", self.kinds.result), name(result), seed)
        )

    def wants_old(self, variable: str, value: Node) -> bool:
        """Say whether passing on to what a value is made of wants what the variable was before.

        It does where an operand is a view of that: its shadow is one of the variable's old shadow.
        """
        for n in self.read_by(value):
            while n != variable and n in self.links and n in self.arrays:
                n = self.links[n].base
            if n == variable:
                return True
        return False

    def read_by(self, value: Node) -> set[str]:
        """Return the variables that a value reads, those included that functions capture."""
        found = names_read(value)
        for n in walk(value):
            kind = self.kinds.of.get(n)
            for k in kind.options if isinstance(kind, K.Choice) else (kind,):
                found |= set(k.variables) if isinstance(k, K.LocalFunction) else set()
        return found

    def _only_one(self, variable: str, at: Any) -> None:
        """Refuse a second shadow for memory that has one."""
        others = self.point.get(variable, frozenset()) & self.live & self.arrays
        if others:
            raise self.undecided(
                at,
                {variable, min(others)},
                f"`{variable}` and `{min(others)}` may share memory that is written in place, "
                "and s2sad cannot tell before the program runs which parts they share.",
                f"Make one a plain view of the other (a slice, an index, .T) or copy it: "
                f"{variable} = {variable}.copy().",
            )

    def check_shadows(self, at: Any) -> None:
        """Check the claim: no two names that share memory have shadows of their own."""
        for n in sorted((self.live & self.arrays) - self.asked):
            if n not in self.aliased:
                rest = self.point.get(n, frozenset()) & self.live & self.arrays
                if rest - self.aliased:
                    self._only_one(n, at)

    def _none_twice(self, base: str, at: Any) -> None:
        """Refuse to write memory that stands twice in a structure: each place has a shadow."""
        before = self.kinds.before.get(at, {})
        for n in sorted((self.point.get(base, frozenset()) | {base}) & self.live):
            kind = before.get(n, K.UNBOUND)
            if TWICE in self.point.get(n, frozenset()) and K.holds_more(kind):
                raise self.undecided(
                    at,
                    {base, n},
                    f"`{base}` is written in place, and its memory may be in `{n}` twice; "
                    "s2sad would count its derivative twice.",
                    f"Put a copy into `{n}`.",
                )

    def _one_root(self, base: str, at: Any) -> None:
        """What shares the memory that is written here has its shadow as a part of the same one."""
        if base in self.asked:
            return
        self._none_twice(base, at)
        for n in sorted(self.point.get(base, frozenset()) & self.live):
            if self._root(n) != self._root(base):
                raise self.undecided(
                    at,
                    {base, n},
                    f"`{base}` is written in place, and `{n}` may share its memory; s2sad "
                    "cannot tell which part of it.",
                    f"Copy what `{n}` holds, or write through one of the two only.",
                )

    def _root(self, variable: str) -> str:
        """Return the variable of whose shadow that of a variable is a part."""
        while variable in self.aliased or self.turned(variable) is not None:
            if variable in self.links:
                variable = self.links[variable].base
            elif variable in self.elements:
                variable = self.elements[variable][1].value.id
            else:
                break
        return variable

    def add(self, c: Contribution, kind: Kind, at: Any) -> Block:
        """Add to a shadow in place; the first contribution may be the shadow."""
        if c.path is not None and c.path[0] == "entry":
            return self.add_entry(c, kind, at)
        if c.path is not None and c.path[0] in ("each", "copied"):
            return self.add_each(c, kind, at)
        if c.operand in self.asked:
            return self.add_asked(c, kind, at)
        if c.operand in self.split and isinstance(kind, K.Tuple):
            return self.add_split(c, kind, at)
        turned = self.turned(c.operand)
        if turned is not None:
            return [*self.ensure(c.operand, kind, at), *self.add_turned(c, turned[1], kind)]
        memory = c.operand in self.arrays and K.is_container(kind)
        if memory or c.operand in self.aliases.slots:
            return self.add_to_structure(c, kind, at)
        if K.is_numeric(kind) and c.path is None and c.operand not in self.live:
            c = Contribution(c.operand, self._apart(c.value, kind), None, c.repeats)
        if c.operand not in self.arrays or not isinstance(kind, K.Array):
            return super().add(c, kind, at)
        if c.path is not None:
            return super().add(c, kind, at)
        bar = self.bar(c.operand)
        if kind.rank == 0:
            return [
                *self.ensure(c.operand, kind, at),
                gast.AugAssign(store(bar), gast.Add(), c.value),
            ]
        if c.operand in self.solo - self.aliased and not K.is_complex(kind):
            if c.operand not in self.live:
                self._only_one(c.operand, at)
            return super().add(c, kind, at)
        fresh = c.operand not in self.live and self.links.get(c.operand) is None
        if fresh and not K.is_complex(kind):
            self._only_one(c.operand, at)
            self.note_kind(c.operand, kind)
            self.live.add(c.operand)
            return self._born(bar, c, kind, at)
        out = self.ensure(c.operand, kind, at)
        return [*out, gast.AugAssign(store(bar), gast.Add(), c.value)]

    def add_to_structure(self, c: Contribution, kind: Kind, at: Any) -> Block:
        raise NotImplementedError

    def add_entry(self, c: Contribution, kind: Kind, at: Any) -> Block:
        raise NotImplementedError

    def add_each(self, c: Contribution, kind: Kind, at: Any) -> Block:
        raise NotImplementedError

    def add_plain(self, c: Contribution, kind: Kind, at: Any) -> Block:
        """Add to the cotangent of what is no array that is written."""
        return super().add(c, kind, at)

    def _born(self, bar: str, c: Contribution, kind: Kind, at: Any) -> Block:
        """The first contribution is the shadow where it is a buffer of its own, or a move."""
        value = _times_one(c.value)
        if c.operand in self.laid_out:
            zeros = call(self.np("zeros_like", kind), name(c.operand))
            return [assign(bar, zeros), gast.AugAssign(store(bar), gast.Add(), value)]
        moved = isinstance(getattr(at, "value", None), gast.Name) and isinstance(value, gast.Name)
        made = value.func if isinstance(value, gast.Call) else value
        if isinstance(made, gast.Name) and made.id in self.made_by_calls:
            return [assign(bar, value)]
        if copied(value) is not None:
            return [assign(bar, value)]
        if isinstance(value, gast.BinOp | gast.UnaryOp):
            # `np.broadcast_to(1.0, x.shape) * x` is x in the end.
            return [
                assign(
                    bar, call(attribute(value, "copy")) if may_be(value, self.callees) else value
                )
            ]
        if moved and value.id in self.buffers_of():
            return [assign(bar, value)]
        if isinstance(value, gast.Name | gast.Subscript | gast.Attribute):
            return [assign(bar, call(attribute(value, "copy")))]
        spread = self.callees.is_call(value, np.broadcast_to)
        if spread and isinstance(value.args[1], gast.Attribute):
            return [
                assign(bar, call(self.np("full_like", kind), value.args[1].value, value.args[0]))
            ]
        zeros = call(self.np("zeros_like", kind), name(c.operand))
        return [assign(bar, zeros), gast.AugAssign(store(bar), gast.Add(), value)]

    def _apart(self, value: Node, kind: Kind) -> Node:
        """Copy what may come out as an array whose content the backward sweep changes.

        `1.0 * A` is A in the end, and A is written when its old content is put back. What is a
        number may come out as the array without axes that it was read from.
        """
        if isinstance(kind, K.Array):
            found = may_be(value, self.callees) & self.rewritten
            return call(attribute(value, "copy")) if found else value
        if _leaves(value) & self.rewritten and getattr(kind, "dtype", "any") is not None:
            return call(self.refs.function(runtime.private), value)
        return value

    def buffers_of(self, solo: bool = True) -> set[str]:
        """Return the names of all shadows of arrays, or of those that have views.

        What arrives for the result belongs to who gives it.
        """
        chosen = self.arrays if solo else self.arrays - self.solo
        found = {self.bars[n] for n in chosen - {self.function.result} if n in self.bars}
        return found | self.buffers if solo else found

    # writes

    def undo_write(self, s: Node, target: Node) -> Block:
        """Undo `A[i] = v`: what is there goes to v, and the old content had none."""
        base = target.value.id
        back = self.put_back(s, base, target)
        concerned = self._concerned(s, base)
        rewritten = any(hasattr(s, word) for word in STANDS_FOR)
        check = self.order_matters(s) if concerned or rewritten else None
        if check is not None:
            self.looks[s] = look_at(check, self.refs)
        if not concerned:
            return [back]
        out = self._comment(s) + self.ensure(base, self.kinds.of[target.value], s)
        self._one_root(base, s)
        place, content = self._places(base, target)
        clear = assign_place(place, constant(0.0))
        value = s.value
        varied = self.activity.varied_before.get(s, frozenset())
        kind = self.kinds.of.get(target, K.UNKNOWN)
        given = self.kinds.of.get(value, K.UNKNOWN)
        if not isinstance(value, gast.Name) or value.id not in varied:
            return [*out, clear, back]
        if not K.differentiable(given):
            return [*out, clear, back]
        held = self.names.fresh(f"{value.id}_bar")
        self.bar_kinds[held] = kind
        self.held.add(held)
        out += [assign(held, self._content(content, kind)), clear]
        value_bar = self._winners(name(held), target)
        c = Contribution(value.id, self._fitted(value_bar, kind, value))
        return out + self.add(c, given, s) + [back]

    def undo_augmented(self, s: Node, target: Node) -> Block:
        """Undo `A[i] op= v`: the operation's rule, with A's old content put back."""
        base = target.value.id
        back = self.put_back(s, base, target)
        if not self._concerned(s, base):
            return [back]
        out = self._comment(s) + self.ensure(base, self.kinds.of[target.value], s)
        self._one_root(base, s)
        kind = self.kinds.of.get(target, K.UNKNOWN)
        place, own_bar = self._places(base, target)
        content = subscript(name(base), clone(target.slice))
        pre, found = self._contributions(s, kind)
        table: dict[str, Node] = {OLD: content, BAR: own_bar}
        if NEW in _read(pre, found):
            kept = self.names.fresh(f"{base}_out")
            out.append(assign(kept, self._content(content, kind)))
            table[NEW] = name(kept)
        out.append(back)
        linear = isinstance(s.op, gast.Add | gast.Sub)
        own = [] if linear else [c for c in found if c.operand == OLD]
        if not linear and not own:  # A //= v: the old content has no derivative
            own = [Contribution(OLD, constant(0.0))]
        others = [c for c in found if c.operand != OLD]
        sharing = self.point.get(base, frozenset()) | {base}
        overlap = {c.operand for c in others} & sharing
        repeats = self._may_repeat(target) and not hasattr(s, "each")
        if others and (repeats or (overlap and not linear)):
            held = self.names.fresh(f"{base}_part_bar")
            self.bar_kinds[held] = kind
            self.held.add(held)
            out.append(assign(held, self._winners(self._content(own_bar, kind), target)))
            table[BAR] = name(held)
        out += [_filled(p, table) for p in pre]
        last = [_scaled(place, c.value, table | {BAR: place}) for c in own]
        first: Block = []
        for c in others:
            given = self.kinds.of.get(s.value, K.UNKNOWN)
            value = substitute(c.value, table)
            if not isinstance(given, K.List | K.Tuple):
                value = self._detached(value, kind)
            elif not all(isinstance(part, K.Num) for part in given.inside):
                value = call(self.refs.function(runtime.private), value)
            value = self._narrowed(value, kind, s.value)
            first += self.add(Contribution(c.operand, value), given, s)
        return [*out, *last, *first] if overlap else [*out, *first, *last]

    def _places(self, base: str, target: Node) -> tuple[Node, Node]:
        """Return the part of a shadow that belongs to what is written, and its content."""
        turned = self.turned(base)
        if turned is None:
            place = subscript(name(self.bar(base)), clone(target.slice))
            return place, clone(place)
        place = subscript(turned[1], clone(target.slice))
        return place, gast.UnaryOp(gast.USub(), clone(place))

    def _contributions(self, s: Node, kind: Kind) -> tuple[Block, list[Contribution]]:
        """Ask the rule of the operator what it passes back to the old content and to the value."""
        operation = locate(gast.BinOp(name(OLD), s.op, s.value), s)
        self.kinds.of[operation.left] = kind
        self.kinds.of[operation] = kind
        varied = self.activity.varied_before.get(s, frozenset())
        wanted = {OLD} | (names_read(s.value) & varied)
        site = Site(s, operation, name(NEW), name(BAR), kind, self.zeros.guards.get(s))
        return self.operations.back(site, frozenset(wanted))

    def _detached(self, value: Node, kind: Kind) -> Node:
        """A contribution that may be a part of a shadow is copied: shadows go on changing."""
        value = _times_one(value)
        inner = value
        while self.callees.fits(inner):
            inner = _times_one(inner.args[0])
        computed = isinstance(inner, gast.BinOp | gast.UnaryOp)
        if isinstance(kind, K.Array) and not computed and may_be(inner, self.callees):
            return call(attribute(value, "copy"))
        return value

    def _content(self, place: Node, kind: Kind) -> Node:
        """Return the content of a part of an array, as it is now."""
        if isinstance(kind, K.Num) or isinstance(place, gast.UnaryOp):
            return clone(place)
        return call(attribute(clone(place), "copy"))

    def _fitted(self, value: Node, kind: Kind, arg: Node) -> Node:
        """Sum over what the write broadcast, and give the cotangent its primal's dtype."""
        given = self.kinds.of.get(arg, K.UNKNOWN)
        if isinstance(kind, K.Unknown) and isinstance(given, K.Array):
            helper = name(self.refs.function(runtime.unbroadcast))
            return call(helper, value, attribute(clone(arg), "shape"))
        if isinstance(kind, K.Unknown) and isinstance(given, K.Num):
            return call(self.operations.np("sum"), value)
        return self._narrowed(self.operations.fit(value, kind, arg), kind, arg)

    def _narrowed(self, value: Node, kind: Kind, arg: Node) -> Node:
        """A wide value stored in a narrow array has a wide cotangent."""
        given = self.kinds.of.get(arg, K.UNKNOWN)
        narrow, wide = dtype_of(kind), dtype_of(given)
        if narrow not in ("float16", "float32", "complex64") or narrow == wide:
            return value
        if isinstance(given, K.Array):
            return call(attribute(value, "astype"), self.np(str(wide)))
        if isinstance(given, K.Num) and wide is None and given.type == "float":
            return call("float", value)
        return value

    def _may_repeat(self, target: Node) -> bool:
        return isinstance(target, gast.Subscript) and self.operations._may_repeat(target.slice)

    def _winners(self, value: Node, target: Node) -> Node:
        """Where an index names an element twice, the last write wins and takes the cotangent."""
        if not self._may_repeat(target):
            return value
        space = space_among([self.kinds.of.get(target.value, K.UNKNOWN)])
        made = runtime.last_writes if space == NUMPY else runtime.written_once
        helper = name(self.refs.function(made, space))
        mask = call(helper, name(target.value.id), as_value(clone(target.slice)))
        return binary(value, gast.Mult, mask)

    def put_back(self, s: Node, base: str, target: Node) -> Node:
        """Return what puts the old content back, where a name that shares it is read."""
        place = clone(target)
        place.ctx = gast.Load()
        back = RestorePart(place, ("part", s), self.aliases.reaching(s, base))
        back.stays = base in self.asked
        return back

    def see_kept(self, backward: Block) -> None:
        """What calls have kept for their reverses wants its old content back, too."""
        kept = {self.aliases.calls.get(s): n for s, n in self.kept.items()}
        for s in backward:
            if isinstance(s, RestorePart):
                names = {kept[g] for g in s.sharing if g in kept}
                s.sharing |= frozenset(names | {f"{n}@last" for n in names})
            for part in blocks_of(s):
                self.see_kept(part)

    def _concerned(self, s: Node, base: str) -> bool:
        """Say whether what is written has a cotangent."""
        if not K.differentiable(self._owner_kind(s, base)):
            return False
        if base in self.asked:
            return self.useful(s, base)
        turned = self.turned(base)
        if turned is not None and turned[0] in self.live:
            return True  # its cotangent is in that of the whole, of which nobody else may read
        return bool(self.aliases.partners(s, base) & self.live)

    def _owner_kind(self, s: Node, base: str) -> Kind:
        return self.kinds.before.get(s, {}).get(base, K.UNKNOWN)

    def _comment(self, s: Node) -> Block:
        raise NotImplementedError


def look_at(check: Any, refs: Refs) -> Node:
    """Return the look at memory before it is written."""
    helper = name(refs.function(check.helper))
    look = call(helper, check.place, clone(check.value), constant(check.at))
    return gast.Expr(stand_in(look, check.origin, check.source))


def each(s: Node) -> Node:
    """Return the call that writes once for each of the positions: np.add.at(A, i, v)."""
    index = as_value(clone(s.target.slice))
    return call(clone(s.each), clone(s.target.value), index, clone(s.value))


def may_be(value: Node, callees: Callees) -> set[str]:
    """Return the names of arrays that a value may be, or be a view of, once it is simplified."""
    if isinstance(value, gast.Name):
        return {value.id}
    parts: list[Node] = []
    if isinstance(value, gast.Subscript | gast.Attribute):
        number = isinstance(value, gast.Attribute) and value.attr in ("size", "ndim", "shape")
        parts = [] if number else [value.value]
    elif isinstance(value, gast.BinOp):
        parts = [value.left, value.right]
    elif isinstance(value, gast.UnaryOp):
        parts = [value.operand]
    elif isinstance(value, gast.IfExp):
        parts = [value.body, value.orelse]
    elif callees.fits(value):
        parts = [value.args[0]]
    elif isinstance(value, gast.Call) and not callees.is_new(value):
        owner = [value.func.value] if isinstance(value.func, gast.Attribute) else []
        parts = [*value.args, *(k.value for k in value.keywords), *owner]
    return set().union(*(may_be(part, callees) for part in parts), set())


def _leaves(value: Node) -> set[str]:
    """Return the names of which one is a product, once it is simplified."""
    if isinstance(value, gast.BinOp):
        return _leaves(value.left) | _leaves(value.right)
    return {value.id} if isinstance(value, gast.Name) else set()


def _filled(statement: Node, table: dict[str, Node]) -> Node:
    value = getattr(statement, "value", None)
    if isinstance(value, gast.AST):
        statement.value = substitute(value, table)
    return statement


def _read(pre: Block, found: list[Contribution]) -> set[str]:
    read: set[str] = set().union(
        *(names_read(p) for p in pre), *(names_read(c.value) for c in found)
    )
    return read


def _times_one(value: Node) -> Node:
    """Return what is left of `v * 1.0`: simplified, it would be no new array."""
    while isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        if number(value.right) == 1:
            value = value.left
        elif number(value.left) == 1 and isinstance(value.op, gast.Mult):
            value = value.right
        else:
            break
    return value


def _scaled(place: Node, value: Node, table: dict[str, Node]) -> Node:
    """Return `A_bar[i] *= v` for a contribution that is a multiple of the cotangent itself."""
    target = clone(place)
    target.ctx = gast.Store()
    if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult | gast.Div):
        if isinstance(value.left, gast.Name) and value.left.id == BAR:
            if BAR not in names_read(value.right):
                return gast.AugAssign(target, value.op, substitute(value.right, table))
    return gast.Assign([target], substitute(value, table), None)
