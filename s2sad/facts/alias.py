"""Which names share memory where: a forward walk that follows every binding.

Two facts hold before and after each statement. *Pairs*: names that may share memory there. *Links*:
names that surely are one view of another name (`row = A[i]`, as long as neither A, i nor row is
bound again). Lists and objects are paired with what they hold. A name that is bound anew leaves a
ghost, `name@statement`, for what it held before: the tape may still hold that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

import gast

from s2sad import kinds as K
from s2sad import registry, runtime
from s2sad.facts.marks import is_marks
from s2sad.facts.memory import Returned, captured, given_back, shares_nothing, sources
from s2sad.known.built import plain_fields
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    attribute,
    block_writes,
    constant,
    count_writes,
    key,
    name,
    names_read,
    names_written,
    subscript,
    walk,
)
from s2sad.stages import (
    STOPPED,
    STOPPED_WHOLE,
    TWICE,
    Aliases,
    Function,
    KindFacts,
    Link,
    Write,
)
from s2sad.syntax.flow import free_names, live_in
from s2sad.syntax.fresh import shown_by
from s2sad.syntax.left import leaves
from s2sad.syntax.pairs import NOBODY, Numbered, Pairs

Links = dict[str, Link]


Viewed = Callable[[Any], "tuple[Node, Node] | None"]


def alias(
    function: Function,
    kinds: KindFacts,
    writes: list[Write],
    returned: Returned = lambda _: None,
    rebinding: Collection[Any] = (),
    visible: frozenset[str] = NOBODY,
    viewed: Viewed = lambda _: None,
    plain: frozenset[Any] = frozenset(),
    opaque: Mapping[Any, frozenset[str]] | None = None,
) -> Aliases:
    """Return who shares memory with whom in a function whose writes in place are known.

    `returned(call)` gives the arguments, as nodes, of which the result of a called user's function
    may hold memory, of TWICE and STOPPED what is true of it, and of an object that is made there
    the attributes, with the arguments of which each may hold memory; or None where nothing is known
    about the callee. `rebinding` are statements
    `s += t` that make a new value. What is `visible` has a shadow of the caller's: its final
    content counts as read. `viewed(call)` gives the view of an argument that the result surely
    is, with that argument.
    """
    worker = _Walker(function, kinds, writes, returned, rebinding, viewed, opaque or {})
    pairs = Pairs(worker.numbered)
    entry = kinds.before.get(function.node.body[0], {})
    for p in function.params:
        if not shares_nothing(entry.get(p, K.UNKNOWN)):
            pairs.unite(*(pairs.numbered.bits((n,)) for n in (p, argument(p))))
    worker.block(function.node.body, (pairs, {}))
    facts = worker.facts
    facts.writes = tuple(writes)
    facts.everywhere = worker.everywhere()
    facts.made = _made(function)
    given = NOBODY.union(*(facts.arguments(w) for w in writes if w.in_array))
    read = frozenset({function.result}) | visible | (given - block_writes(function.node.body))
    *body, last = function.node.body
    worker.note(last, read - {function.result} | visible)
    live_in(body, read, worker.note, extra=worker.header)
    _structures(function, kinds, facts, plain)
    for w in writes:
        names = facts.sharing(w.statement, w.base) & function.locals
        if w.statement in facts.structures:
            names &= facts.structures[w.statement] | {w.base}
        facts.touched[w.statement] = facts.touched.get(w.statement, NOBODY) | names
    facts.arrays = _written_arrays(function, kinds, facts)
    _holders(function, facts)
    facts.result = facts.pairs_before.get(last, {}).get(function.result, NOBODY)
    return facts


def _made(function: Function) -> frozenset[str]:
    """Return the names that are bound once, to a list or dict that is written out there."""
    counts = count_writes(function.node.body, tuple(function.params))
    found = {
        s.targets[0].id
        for s in all_inside(function.node.body)
        if isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, gast.List | gast.Dict)
    }
    elsewhere = {n for s in walk(function.node) if isinstance(s, gast.Nonlocal) for n in s.names}
    return frozenset(n for n in found & function.locals - elsewhere if counts.get(n) == 1)


def _written_arrays(function: Function, kinds: KindFacts, facts: Aliases) -> frozenset[str]:
    """Return the names that share memory with an array where it is written, and are read later.

    Plain copies of such a name count with it, and what it is a view of.
    """
    found: frozenset[str] = NOBODY
    for w in facts.writes:
        if w.in_array:
            found |= facts.partners(w.statement, w.base)
    copies = [
        {s.targets[0].id, s.value.id}
        for s in facts.pairs_after
        if isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, gast.Name)
        and K.may_be_array(kinds.after.get(s, {}).get(s.targets[0].id, K.UNKNOWN))
    ]
    bases = {
        (n, link.base)
        for links in facts.links_after.values()
        for n, link in links.items()
        if isinstance(link.owner, K.Array)
    }
    while True:
        more = {n for pair in copies if pair & found for n in pair} - found
        more |= {base for n, base in bases if n in found} - found
        if not more:
            return found & function.locals
        found |= more


def _structures(
    function: Function, kinds: KindFacts, facts: Aliases, plain: frozenset[Any]
) -> None:
    """Note of every statement that changes a structure who may hold that structure."""
    for w in facts.writes:
        if not w.in_container or w.statement in plain:
            continue
        before = kinds.before.get(w.statement, {})
        shared = facts.sharing(w.statement, w.base)
        outside = {n for n in shared - function.locals if "@" not in n}
        if any(K.may_hold(k, w.owner) for n in outside for k in _of_outside(kinds, n)):
            continue  # what lives outside keeps what the function leaves in it
        shared &= function.locals
        holders = {n for n in shared if K.may_hold(before.get(n, K.UNBOUND), w.owner)}
        facts.structures[w.statement] = frozenset(holders | {w.base})
    for w in facts.writes:
        if w.statement in facts.structures:
            facts.slots |= facts.partners(w.statement, w.base) & function.locals


def _holds_no_array(kind: K.Kind) -> bool:
    """Say whether a value is a number or a word, or holds nothing else."""
    plain = isinstance(kind, K.Num | K.Str | K.NoneKind)
    return plain or (
        kind.structure and bool(kind.inside) and all(map(_holds_no_array, kind.inside))
    )


def _of_outside(kinds: KindFacts, variable: str) -> list[K.Kind]:
    """Return the kinds that a variable from outside has where it is read."""
    read = [k for n, k in kinds.of.items() if isinstance(n, gast.Name) and n.id == variable]
    return read or [K.UNKNOWN]


def _holders(function: Function, facts: Aliases) -> None:
    """Add the structures through which memory that is written is reached, and their other names."""
    linked = {
        (n, link.base, isinstance(link.value, gast.Name))
        for links in facts.links_after.values()
        for n, link in links.items()
        if K.is_container(link.owner)
    }
    while True:
        known = facts.arrays | facts.slots
        more = {base for n, base, _ in linked if n in known}
        more |= {n for n, base, same in linked if same and base in known}
        if not more - known:
            return
        facts.slots |= (more - known) & function.locals


def argument(parameter: str) -> str:
    """Return the ghost that stands for the memory a parameter has on entry."""
    return f"{parameter}@arg"


State = tuple[Pairs, Links]


def _link_to(
    value: Node, base: str, owner: K.Kind, maybe: bool = False, fixed: bool = False
) -> Link:
    return Link(value, base, owner, frozenset(names_read(value)), key(value), maybe, fixed)


class _Walker:
    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        writes: list[Write],
        returned: Returned,
        rebinding: Collection[Any],
        viewed: Viewed,
        opaque: Mapping[Any, frozenset[str]],
    ) -> None:
        self.rebinding = rebinding
        self.returned = returned
        self.viewed = viewed
        self.opaque = opaque
        self.function = function
        self.kinds = kinds
        self.facts = Aliases()
        self.left: dict[Any, State] = {}
        self.numbered = Numbered()
        self.writes: dict[Any, list[Write]] = {}
        for w in writes:
            self.writes.setdefault(w.statement, []).append(w)
        self.breaks: list[list[State]] = []
        self.numbers: frozenset[str] | None = None
        self.captured: frozenset[str] = NOBODY
        for s in function.node.body:
            for n in walk(s):
                if isinstance(n, gast.FunctionDef | gast.Lambda):
                    self.captured |= free_names(n) & function.locals

    def everywhere(self) -> Pairs:
        """Return the pairs that there are behind any statement."""
        found = Pairs(self.numbered)
        for pairs in {id(pairs): pairs for pairs in self.facts.pairs_after.values()}.values():
            assert isinstance(pairs, Pairs)
            found.add(pairs)
        return found

    def note(self, statement: Any, live: frozenset[str]) -> None:
        self.facts.live_after[statement] = live | self.captured

    def header(self, loop: Any) -> tuple[set[str], set[str]]:
        plan = self.function.loops.get(loop)
        return set(), ({plan.index} if plan is not None else set())

    def block(self, body: Block, state: State) -> State:
        for s in body:
            self.facts.pairs_before[s], self.facts.links_before[s] = state
            state = self.left[s] = self.statement(s, state)
            self.facts.pairs_after[s], self.facts.links_after[s] = state
        return state

    def statement(self, s: Node, state: State) -> State:
        if isinstance(s, gast.Assign):
            return self._stored(s, self._assign(s, state))
        if isinstance(s, gast.AugAssign):
            return self._augmented(s, state)
        if isinstance(s, gast.If):
            verdict = self.kinds.decided.get(s)
            if verdict is not None:
                return self.block(s.body if verdict else s.orelse, state)
            return _join(self.block(s.body, state), self.block(s.orelse, state))
        if isinstance(s, gast.For | gast.While):
            return self._loop(s, state)
        if isinstance(s, gast.Break):
            if self.breaks:
                self.breaks[-1].append(state)
            return state
        if isinstance(s, gast.Try):
            return self._try(s, state)
        if isinstance(s, gast.With):
            bound = set().union(*(names_written(item) for item in s.items))
            return _join(state, self.block(s.body, _forget(state, bound)))
        if isinstance(s, gast.Match):
            out = state
            for case in s.cases:
                inside = _forget(state, names_written(case.pattern))
                out = _join(out, self.block(case.body, inside))
            return out
        if isinstance(s, gast.Expr):
            if any(w.how == "call" for w in self.writes.get(s, ())):
                state = self._kept(s, s.value, state)
            return self._stored(s, state)
        left = _forget(state, names_written(s))
        return self._stored(s, left) if isinstance(s, gast.Delete) else left

    def _try(self, s: Node, state: State) -> State:
        """A handler starts from what was there before the body, which is done or not.

        Where the body may be left half done, a handler starts from anything on the way.
        """
        out = self.block(s.orelse, self.block(s.body, state))
        for inner in all_inside(s.body) if s in self.function.half else ():
            if inner in self.left:
                state = _join(state, self.left[inner])
        for h in s.handlers:
            bound = names_written(h.name) if isinstance(h.name, gast.AST) else set()
            out = _join(out, self.block(h.body, _forget(state, bound)))
        if s in self.function.half:
            out = _join(out, state)
        return self.block(s.finalbody, out)

    def _augmented(self, s: Node, state: State) -> State:
        kind = self.kinds.of.get(s.target, K.UNKNOWN)
        if isinstance(s.target, gast.Name) and shares_nothing(kind):
            return _forget(state, {s.target.id})
        if s in self.rebinding:
            nothing = gast.Constant(None, None)  # a new value shares its memory with nobody
            return self._bound(s, s.target.id, nothing, state)
        return self._stored(s, state)

    def _loop(self, s: Node, state: State) -> State:
        self.breaks.append([])
        while True:
            inside = state
            loop = self.function.loops.get(s)
            if loop is not None:
                inside = _forget(inside, {loop.index})
                for b in loop.bindings:
                    self.facts.pairs_before[b], self.facts.links_before[b] = inside
                    inside = self._assign(b, inside)
                    self.facts.pairs_after[b], self.facts.links_after[b] = inside
                if loop.bounds is None:
                    for n in sorted(names_written(s.target)):
                        inside = self._bound(s, n, s.iter, inside, None)
            end = self.block(s.body, inside)
            joined = _join(state, end)
            if _same(joined, state):
                break
            state = joined
        for other in self.breaks.pop():
            state = _join(state, other)
        return state

    def _assign(self, s: Node, state: State) -> State:
        for target in s.targets:
            if isinstance(target, gast.Name):
                state = self._bound(s, target.id, s.value, state)
            elif isinstance(target, gast.Tuple | gast.List):
                items = self._items(s.value, target)
                for n in sorted(names_written(target)):
                    state = self._bound(s, n, s.value, state, items.get(n))
        return state

    def _items(self, value: Node, target: Node) -> Links:
        """Return what unpacking an array gives: its rows."""
        owner = self.kinds.of.get(value, K.UNKNOWN)
        if not isinstance(value, gast.Name) or not isinstance(owner, K.Array):
            return {}
        if value.id not in self.function.locals or value.id in names_written(target):
            return {}
        names = [e.id if isinstance(e, gast.Name) else "" for e in target.elts]
        return {
            n: _link_to(subscript(name(value.id), constant(at)), value.id, owner)
            for at, n in enumerate(names)
            if names.count(n) == 1
        }

    def _bound(
        self, s: Node, n: str, value: Node, state: State, item: Link | Literal[False] | None = False
    ) -> State:
        """Bind a name: what it shared goes to its ghost, and it shares what the value does.

        `item` is the view that it is where it gets a part of what is unpacked.
        """
        pairs, links = self._kept(s, value, state)
        bits = pairs.numbered.bits
        after = self.kinds.after.get(s, {}).get(n, K.UNKNOWN)
        given = frozenset() if shares_nothing(after) else self._sources(value)
        ghost = self.facts.ghosts.setdefault((s, n), f"{n}@{len(self.facts.ghosts)}")
        link = self._link(s, n, value, after) if item is False else None
        if not (given or link or item or pairs.bits(n) or K.holds_more(after)):
            return pairs, _unlinked(links, n)
        pairs = pairs.copy()
        pairs.unite(bits((ghost,)), pairs.bits(n))
        partners = pairs.around(given)
        partners &= ~bits(self._elsewhere(link, pairs, links))
        if isinstance(after, K.Array):
            partners &= ~bits(self._numbers_outside())
        if n in given:
            partners |= bits((ghost,))
        if not K.holds_more(after):
            partners &= ~bits((TWICE,))
        elif self._twice(value, state[0]):
            partners |= bits((TWICE,))
        partners |= bits(self._stopped(n, value, after) if given else NOBODY)
        pairs.forget(n)
        pairs.unite(bits((n,)), partners)
        links = _unlinked(links, n)
        if isinstance(item, Link) and isinstance(after, K.Array):
            link = item
        if link is not None:
            links[n] = link
        if K.holds_more(after):
            links = {**links, **self._parts_outside(n, value, after, state[0])}
        return pairs, links

    def _parts_outside(self, n: str, value: Node, owner: K.Kind, pairs: Pairs) -> Links:
        """Return, of a structure that is made here, the one part that holds memory from outside.

        By that memory's name and "@in": it may be reached through this part alone.
        """
        held: dict[str, list[Node]] = {}
        for part, nodes in self._made_of(n, value):
            given = frozenset[str]().union(*(sources(node, self.kinds) for node in nodes))
            met = given.union(*(pairs.get(m, NOBODY) for m in given))
            for m in met - self.function.locals:
                held.setdefault(m, []).append(part)
        return {
            f"{m}@in": _link_to(parts[0], n, owner)
            for m, parts in held.items()
            if len(parts) == 1 and "@" not in m
        }

    def _made_of(self, n: str, value: Node) -> list[tuple[Node, list[Node]]]:
        """Return the parts of a structure that is made here, with what each is made of."""
        whole = name(n)
        if isinstance(value, gast.Dict) and all(isinstance(k, gast.Constant) for k in value.keys):
            pairs = zip(value.keys, value.values, strict=True)
            return [(subscript(whole, constant(k.value)), [v]) for k, v in pairs]
        if isinstance(value, gast.Tuple):
            return [(subscript(whole, constant(i)), [v]) for i, v in enumerate(value.elts)]
        if not isinstance(value, gast.Call):
            return []
        named = {k.arg: k.value for k in value.keywords if k.arg}
        if self.kinds.objects.get(value.func) is runtime.object_of:
            return [(attribute(whole, f), [v]) for f, v in named.items()]
        fields = plain_fields(getattr(self.kinds.of.get(value.func), "value", None))
        if fields is not None and len(value.args) + len(named) == len(fields):
            every = dict(zip(fields, value.args, strict=False)) | named
            return [(attribute(whole, f), [v]) for f, v in every.items()]
        found = self.returned(value)
        return [] if found is None else [(attribute(whole, f), v) for f, v in found[2].items()]

    def _numbers_outside(self) -> frozenset[str]:
        """Return the names from outside of what holds no array: none can be a part of it."""
        if self.numbers is None:
            free = names_read(self.function.node) - self.function.locals
            self.numbers = frozenset(
                n for n in free if all(map(_holds_no_array, _of_outside(self.kinds, n)))
            )
        return self.numbers

    def _stopped(self, n: str, value: Node, kind: K.Kind) -> frozenset[str]:
        """Return what marks memory that a name, or the result of a call, has no derivative of."""
        if n in self.function.stopped:
            return frozenset({STOPPED, STOPPED_WHOLE} if K.holds_more(kind) else {STOPPED})
        found = self.returned(value) if isinstance(value, gast.Call) else None
        return NOBODY if found is None else found[1] - {TWICE}

    def _elsewhere(self, link: Link | None, pairs: Pairs, links: Links) -> frozenset[str]:
        """Return who is, or is a part of, another item of the structure that an item is taken from.

        Nothing stands twice in that structure.
        """
        if link is None or not K.is_container(link.owner) or isinstance(link.value, gast.Name):
            return NOBODY
        known = pairs.get(link.base, NOBODY)
        if TWICE in known:
            return NOBODY
        found = set()
        for n in known:
            part = links.get(n) or links.get(f"{n}@in")
            if part is None:
                continue
            while part.base != link.base and part.base in links:
                part = links[part.base]
            if part.base == link.base and _other_item(part.value, link.value):
                found.add(n)
        return frozenset(found)

    def _sources(self, value: Node) -> frozenset[str]:
        found = self.returned(value) if isinstance(value, gast.Call) else None
        if found is None:
            return sources(value, self.kinds)
        return frozenset().union(*(sources(node, self.kinds) for node in found[0]))

    def _twice(self, value: Node, pairs: Pairs) -> bool:
        """Say whether memory may stand twice in a structure that is made here."""
        parts: list[Any] = []
        if isinstance(value, gast.Tuple | gast.List | gast.Set):
            parts = list(value.elts)
        elif isinstance(value, gast.Dict):
            parts = list(value.values)
        elif isinstance(value, gast.BinOp):
            parts = [value.left, value.right]
            if isinstance(value.op, gast.Mult) and sources(value, self.kinds):
                return True
        elif isinstance(value, gast.Call):
            found = self.returned(value)
            if found is not None and TWICE in found[1]:
                return True
            parts = [*value.args, *(k.value for k in value.keywords)] if found is None else found[0]
        given = [sources(p, self.kinds) for p in parts]
        return any(
            later & (pairs.get(n, NOBODY) | {n})
            for at, names in enumerate(given)
            for later in given[at + 1 :]
            for n in names
        )

    def _kept(self, s: Node, value: Node, state: State) -> State:
        """What a called function keeps for its reverse may be memory of all that it is given."""
        if not isinstance(value, gast.Call | gast.Attribute):
            return state
        read = names_read(value) | {n for v in walk(value) for n in self._captured_by(v)}
        given = frozenset(
            n
            for n in read & self.function.locals
            if not shares_nothing(self.kinds.before.get(s, {}).get(n, K.UNKNOWN))
        )
        if not given:
            return state
        pairs = state[0].copy()
        kept = self.facts.calls.setdefault(s, f"call@{len(self.facts.calls)}")
        pairs.unite(pairs.numbered.bits((kept,)), pairs.around(given))
        return pairs, state[1]

    def _captured_by(self, node: Node) -> tuple[str, ...]:
        kind = self.kinds.of.get(node)
        return kind.variables if isinstance(kind, K.LocalFunction) else ()

    def _link(self, s: Node, n: str, value: Node, kind: K.Kind) -> Link | None:
        """Return the view of a name that a value surely is, or the part of a structure."""
        computed = value in self.kinds.methods
        if K.is_container(kind):
            return None if computed or n in names_read(value) else self._part_of(value)
        if not isinstance(kind, K.Array):
            return None
        if computed or isinstance(value, gast.Call):
            view = self.viewed(value)
            if view is not None:
                owner = self.kinds.of.get(view[1], K.UNKNOWN)
                if n != view[1].id:
                    return _link_to(view[0], view[1].id, owner)
                if isinstance(view[0], gast.Name):
                    self.facts.same |= {s}
                return None
        base = None if computed or n in names_read(value) else self._viewed(value)
        if base is None or base.id not in self.function.locals:
            return None
        maybe, fixed = self._how(value)
        return _link_to(value, base.id, self.kinds.of.get(base, K.UNKNOWN), maybe, fixed)

    def _how(self, value: Node) -> tuple[bool, bool]:
        """Say of a view whether it may be a copy, and whether it is read-only."""
        if not isinstance(value, gast.Call):
            return False, False
        fn = self._called(value)[0]
        if isinstance(fn, type):
            return True, False  # a copy where the byte order differs
        rule = registry.rule_for(fn) if fn is not None else None
        window = None if rule is None else rule.window
        return (False, False) if window is None else (window.copied, window.read_only)

    def _part_of(self, value: Node) -> Link | None:
        """Return the structure that holds another one, or has another name."""
        base = value if isinstance(value, gast.Name) else getattr(value, "value", None)
        if not isinstance(base, gast.Name) or base.id not in self.function.locals:
            return None
        owner = self.kinds.of.get(base, K.UNKNOWN)
        if not K.is_container(owner) or isinstance(getattr(value, "slice", None), gast.Slice):
            return None
        if isinstance(value, gast.Name | gast.Subscript):
            named = isinstance(value, gast.Name) or isinstance(owner, K.BuiltIn)
            return _link_to(value, base.id, owner) if named else None
        if isinstance(value, gast.Attribute) and isinstance(owner, K.Obj):
            return _link_to(value, base.id, owner) if value.attr in dict(owner.fields) else None
        return None

    def _viewed(self, value: Node) -> Node | None:
        """Return the name that a value surely is a view (or a field) of."""
        if isinstance(value, gast.Name):
            return value
        if isinstance(value, gast.Subscript | gast.Attribute):
            base = value.value
            owner = self.kinds.of.get(base, K.UNKNOWN)
            if not isinstance(base, gast.Name):
                return None
            if K.is_container(owner):
                return base
            if not isinstance(owner, K.Array):
                return None
            if isinstance(value, gast.Attribute):
                words = ("T", "mT", "real", "imag") if K.is_complex(owner) else ("T", "mT", "real")
                return base if value.attr in words else None
            return base if basic_index(value.slice, self.kinds) else None
        return self._surely_view(value) if isinstance(value, gast.Call) else None

    def _called(self, node: Node) -> tuple[Any, Any]:
        """Return the library function that a call calls, and its first argument."""
        fn = self.kinds.objects.get(node.func)
        first: Any = node.args[0] if node.args else None
        if fn is None and isinstance(node.func, gast.Attribute):
            first = node.func.value
            if isinstance(self.kinds.of.get(first), K.Array):
                fn = registry.method_function(node.func.attr)
        return fn, first

    def _surely_view(self, node: Node) -> Node | None:
        """Return the array of which the result of a call is a view, where it is no copy."""
        fn, first = self._called(node)
        given = given_back(node, self.kinds)
        if isinstance(given, gast.Name):
            return given
        owner = self.kinds.of.get(first)
        if not isinstance(first, gast.Name) or not isinstance(owner, K.Array):
            return None
        window = shown_by(fn, node, first)
        fits = window is not None and window.rank in (None, owner.rank)
        return first if fits and not isinstance(self.kinds.of.get(node), K.Tuple) else None

    def _stored(self, s: Node, state: State) -> State:
        """What is put into a list, a dict or an object is reached through it afterwards."""
        pairs, links = state
        known = self.kinds.before.get(s, {})
        met = {n for n in self.opaque.get(s, ()) if not shares_nothing(known.get(n, K.UNKNOWN))}
        if len(met) > 1:
            pairs = pairs.copy()
            pairs.unite(pairs.numbered.bits(met), pairs.around(met))
        for w in self.writes.get(s, ()):
            given = appended(s, w, self.kinds)
            if not given or (w.how == "call" and is_marks(w.owner)):
                continue  # what is put among numbers shares no memory
            pairs = pairs.copy()
            holders = pairs.get(w.base, NOBODY) | {w.base}
            whole = {h for h in holders if K.holds_more(known.get(h, K.UNBOUND))} | {w.base}
            partners = pairs.around(given)
            if partners & pairs.numbered.bits(whole):
                partners |= pairs.numbered.bits((TWICE,))  # it holds what is added to
            pairs.unite(pairs.numbered.bits(holders), partners)
        for w in self.writes.get(s, ()):
            if isinstance(w.owner, K.Array):
                continue
            holders = state[0].get(w.base, NOBODY) | {w.base}
            links = {
                n: link for n, link in links.items() if leaves(w, holders, link.value, link.owner)
            }
        return pairs, links


def appended(s: Node, write: Write, kinds: KindFacts) -> frozenset[str]:
    """Return the names that a write makes reachable through what it writes."""
    if isinstance(write.owner, K.Array) or write.how == "rebind":
        return frozenset()
    called = isinstance(getattr(s, "value", None), gast.Call) and (
        isinstance(s, gast.Expr) or isinstance(getattr(s, "targets", [None])[0], gast.Name)
    )
    if isinstance(s, gast.Assign | gast.AugAssign) and not called:
        return sources(s.value, kinds)
    if called:
        given = [*s.value.args, *(k.value for k in s.value.keywords)]
        found = frozenset[str]().union(*(sources(a, kinds) for a in given))
        return found - _numbers_of(s.value, kinds)
    return frozenset()


def _numbers_of(call: Node, kinds: KindFacts) -> frozenset[str]:
    """Return the vectors that `any(f(v) for v in x)` and its like only go through: numbers."""
    reads = registry.effects_of(kinds.objects.get(call.func)).reads
    if reads not in ("whole", "until") or len(call.args) != 1:
        return frozenset()
    [given] = call.args
    if call.keywords or not isinstance(given, gast.GeneratorExp):
        return frozenset()
    iters = [g.iter for g in given.generators]
    vectors = {i.id for i in iters if isinstance(i, gast.Name) and _is_vector(kinds.of.get(i))}
    read = [n.id for n in gast.walk(given) if isinstance(n, gast.Name)]
    for node in gast.walk(given):
        vectors -= captured(node, kinds) if isinstance(node, gast.Call) else frozenset()
    return frozenset(n for n in vectors if read.count(n) == 1)


def _is_vector(kind: K.Kind | None) -> bool:
    return isinstance(kind, K.Array) and kind.rank == 1 and kind.dtype != "any"


def _other_item(one: Node, other: Node) -> bool:
    """Say whether two parts of one structure are surely not the same part."""
    if isinstance(one, gast.Attribute) and isinstance(other, gast.Attribute):
        return bool(one.attr != other.attr)
    if not isinstance(one, gast.Subscript) or not isinstance(other, gast.Subscript):
        return False
    if not isinstance(one.slice, gast.Constant) or not isinstance(other.slice, gast.Constant):
        return False
    a, b = one.slice.value, other.slice.value
    if isinstance(a, str) and isinstance(b, str):
        return a != b
    return type(a) is int and type(b) is int and a != b and a >= 0 and b >= 0


def basic_index(index: Node, kinds: KindFacts) -> bool:
    """Say whether an index gives a view: slices, integers, None and an ellipsis do."""
    if isinstance(index, gast.Tuple):
        return all(basic_index(e, kinds) for e in index.elts)
    if isinstance(index, gast.Slice):
        return True
    kind = kinds.of.get(index, K.UNKNOWN)
    if isinstance(kind, K.Num):
        return kind.type == "int"
    return isinstance(kind, K.NoneKind) or (
        isinstance(index, gast.Constant) and index.value is Ellipsis
    )


def _unlinked(links: Links, name: str) -> Links:
    return {n: link for n, link in links.items() if n != name and name not in link.read}


def _forget(state: State, names: set[str]) -> State:
    pairs, links = state[0].copy(), state[1]
    for n in names:
        pairs.forget(n)
        links = _unlinked(links, n)
    return pairs, links


def _join(one: State, other: State) -> State:
    links = {n: v for n, v in one[1].items() if n in other[1] and v.text == other[1][n].text}
    return one[0].joined(other[0]), links


def _same(one: State, other: State) -> bool:
    return one[0].sets == other[0].sets and _keys(one[1]) == _keys(other[1])


def _keys(links: Mapping[str, Link]) -> dict[str, Any]:
    return {n: v.text for n, v in links.items()}
