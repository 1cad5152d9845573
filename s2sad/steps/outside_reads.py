"""What a backward sweep reads outside must be what the forward sweep read there.

def f(x):                 The backward sweep reads cfg.k when f is done. It holds something else
    y = x * cfg.k         than it did for `y` if f, or what it calls, stores there after the read.
    cfg.k = 5.0           What is outside is not put back: that is refused.
    return np.sum(y)
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.aliasing import overlap
from s2sad.errors import UnsupportedError
from s2sad.facts.fence import outside_of
from s2sad.facts.rebound import rebound_outside
from s2sad.facts.results import binary_kind
from s2sad.facts.scope import lookup
from s2sad.kinds import MISSING, Kind
from s2sad.known.callees import part_kind
from s2sad.nodes import Block, Node, all_inside, blocks_of, names_written, walk
from s2sad.runtime import attributes, has_fields
from s2sad.stages import Write
from s2sad.steps.derivation import Analysed, Derivation, called_by, memory_of
from s2sad.tree import is_array

# The objects that a dotted name passes, each with the attribute by which it goes on, or None.
Chain = tuple[tuple[Any, str | None], ...]


@dataclass(frozen=True, eq=False)
class _Stored:
    """A store outside: the object that is changed, where it is known, and the attribute, if one.

    A variable is an attribute of its cell. `roots` are the objects through which it is reached.
    What is stored is `alike` where its kind is that of what was there. The function `by` which a
    variable is bound has its old content. An object that is not known is `of` some class.
    """

    owner: Any
    attr: str | None
    roots: tuple[Any, ...]
    alike: bool
    place: Any
    by: Any = None
    of: Any = object

    def changes(self, read: Chain) -> bool:
        """Say whether what a dotted name denotes may be something else after it."""
        last = read[-1][0]
        if self.owner is MISSING and self.attr is not None:
            return _has_parts(last) or any(attr == self.attr for _, attr in read)
        if self.owner is MISSING:
            met = [part for root in self.roots for part in _reached(root, set())]
            met = [part for part in met if isinstance(part, self.of)]
            return any(_same(o, part) for o, _ in read for part in met)
        return any(
            _same(o, self.owner) and (None in (self.attr, attr) or attr == self.attr)
            for o, attr in read
        )


@dataclass(eq=False)
class _Event:
    """A statement in the order of the program, with what it reads and stores outside.

    `called` are the stores of functions that it calls; `loops` are those around it, `arms` the
    branches that it stands in.
    """

    loops: frozenset[Any]
    arms: dict[Any, int]
    reads: list[tuple[Analysed, Chain]] = field(default_factory=list)
    stores: list[_Stored] = field(default_factory=list)
    called: list[_Stored] = field(default_factory=list)

    def may_meet(self, other: _Event) -> bool:
        """Say whether both of two statements may be done: not in two arms of one branch."""
        apart = any(other.arms.get(s, arm) != arm for s, arm in self.arms.items())
        return bool(self.loops & other.loops) or not apart


def refuse_stored_after_reading(d: Derivation) -> None:
    """Raise where something outside is stored after it was read, and a backward sweep reads it."""
    worker = _Events(d)
    functions = list(d.analysed.values())
    if not any(worker.stored(a) for a in functions):
        return
    wanted = {
        a: {
            text: chain
            for text, node in sorted(d.read_outside.get(a, {}).items())
            if (chain := worker.chain(a, node)) is not None
        }
        for a in functions
    }
    for a in functions:
        events = list(worker.block(a, a.function.node.body))
        for at, event in enumerate(events):
            before = [e for e in events[:at] if e.may_meet(event)]
            again = [event] if event.loops else []
            after = [e for e in events[at + 1 :] if e.may_meet(event)]
            for stored in event.called:
                _refuse_kind(stored, [*again, *after])
                _refuse_old(stored, [*before, *again, *_around(event, after)], wanted)
            for stored in event.stores:
                _refuse_kind(stored, [*again, *after])
                _refuse_old(stored, [*before, event, *_around(event, after)], wanted)


def _around(event: _Event, after: list[_Event]) -> list[_Event]:
    """Return the statements that stand behind one and may be done before it, in a loop."""
    return [e for e in after if e.loops & event.loops]


def _refuse_kind(stored: _Stored, events: list[_Event]) -> None:
    """Refuse a store of another kind than what was there, of which the derivative was told."""
    if not stored.alike and any(stored.changes(r) for e in events for _, r in e.reads):
        raise UnsupportedError(
            "This statement stores a value outside of the function; the program reads it "
            "later, and it may be of another kind than the old value.",
            remedy=("Store it before the function is differentiated, or pass it as an argument."),
            place=stored.place,
        )


def _refuse_old(
    stored: _Stored, events: list[_Event], wanted: dict[Analysed, dict[str, Chain]]
) -> None:
    """Refuse a store into what was read before, and is read again by that function's reverse."""
    hit: dict[Any, None] = dict.fromkeys(a for e in events for a, r in e.reads if stored.changes(r))
    hit.pop(stored.by, None)
    for text in (t for a in hit for t, r in wanted.get(a, {}).items() if stored.changes(r)):
        raise UnsupportedError(
            f"The derivative needs the old content of `{text}`, which is changed here; s2sad "
            "does not restore values outside of the function.",
            remedy="Read the old value into a variable first, or pass it as an argument.",
            place=stored.place,
        )


class _Events:
    """Lists what the statements of functions read and store outside, in order."""

    def __init__(self, d: Derivation) -> None:
        self.d = d
        self.known: dict[Any, list[_Stored]] = {}
        self.lent: dict[tuple[Any, str], Chain | None] = {}

    def chain(self, a: Analysed, node: Node) -> Chain | None:
        """Return the objects that a dotted name passes, or those that a variable may share."""
        found = _chain(a, node)
        n = _root(node)
        if n not in a.function.locals or len(found or ()) > 1:
            return found  # of a class that a local variable holds: what is read of it
        if (a, n) not in self.lent:
            outside = {m for m in memory_of(self.d, a).aliases.ever(n) if m.isidentifier()}
            roots = [lookup(a.scope.fn, m) for m in sorted(outside - a.function.locals)]
            envs = a.kinds.after.values()
            arrays = all(isinstance(env.get(n, K.UNBOUND), K.Array | K.Unbound) for env in envs)
            met = [part for root in roots for part in _reached(root, set())]
            met = [part for part in met if is_array(part) or not arrays]
            self.lent[a, n] = tuple((part, None) for part in met) or None
        return self.lent[a, n]

    def read(self, event: _Event, a: Analysed, nodes: Iterable[Node]) -> None:
        """Add what the dotted names that a function reads denote outside."""
        event.reads += [(a, chain) for n in nodes if (chain := self.chain(a, n)) is not None]

    def stored(self, a: Analysed) -> list[_Stored]:
        """Return the stores of a function's own statements."""
        if a not in self.known:
            own = [stored for w in memory_of(self.d, a).writes for stored in self.of_write(a, w)]
            names = rebound_outside(a.function)
            every = all_inside(a.function.node.body) if names else ()
            bound = [stored for s in every for stored in self.bound(a, s, names)]
            self.known[a] = own + bound
        return self.known[a]

    def bound(self, a: Analysed, s: Node, names: frozenset[str]) -> Iterator[_Stored]:
        """Yield the stores of a statement into captured variables."""
        for n in sorted(names_written(s) & names):
            cell = _cell(a, n)
            if cell is not None:
                place = a.function.source.place(a.function.origins.get(s, s))
                new = a.kinds.after.get(s, {}).get(n, K.UNKNOWN)
                yield _Stored(cell, n, (), _is_like(lookup(a.scope.fn, n), new), place, a)

    def of_write(self, a: Analysed, w: Write) -> Iterator[_Stored]:
        memory = memory_of(self.d, a)
        outside = outside_of(a.function, w, memory) if w.how != "rebind" else set()
        roots = tuple(lookup(a.scope.fn, n) for n in sorted(outside) if n.isidentifier())
        held = _held(a, w.base)
        roots = tuple(root for root in (*roots, held) if root is not MISSING)
        if not roots:
            return
        place = a.function.source.place(a.function.origins.get(w.statement, w.statement))
        for owner, attr, alike in _targets(a, w):
            if owner is MISSING and attr is None and not alike:
                alike = self.leaves_kinds(a, w)
            yield _Stored(owner, attr, roots, alike, place, of=K.cls_of(w.owner) or object)

    def leaves_kinds(self, a: Analysed, w: Write) -> bool:
        """Say whether a call leaves what it is given of the kind that it was."""
        value = getattr(w.statement, "value", None)
        called = called_by(self.d, a, value) if isinstance(value, gast.Call) else None
        if called is None:
            return False
        body = called.callee.function.node.body
        before = called.callee.kinds.before.get(body[0], {})
        after = called.callee.kinds.before.get(body[-1], {})
        given = [p for p, nodes in called.given.items() if w.base in map(_root, nodes)]
        return all(_alike(before.get(p, K.UNKNOWN), after.get(p, K.UNKNOWN)) for p in given)

    def block(
        self, a: Analysed, block: Block, loops: Any = frozenset(), arms: Any = None
    ) -> Iterator[_Event]:
        arms = arms or {}
        writes = memory_of(self.d, a).writes
        names = rebound_outside(a.function)
        for s in block:
            inside = loops | {s} if isinstance(s, gast.For | gast.While) else loops
            event = _Event(inside, arms)
            event.stores = [x for w in writes if w.statement is s for x in self.of_write(a, w)]
            event.stores += [] if blocks_of(s) else self.bound(a, s, names)
            if isinstance(s, gast.AugAssign):
                self.read(event, a, [_holder(s.target)])
            for part in _own_parts(s):
                self.read(event, a, _paths(part))
                for n in walk(part):
                    if isinstance(n, gast.Call) or n in a.kinds.methods:
                        self.call(a, n, event, set())
            yield event
            for i, part in enumerate(blocks_of(s)):
                arm = {**arms, s: i} if isinstance(s, gast.If) else arms
                yield from self.block(a, part, inside, arm)

    def call(self, a: Analysed, node: Node, event: _Event, met: set[Any]) -> None:
        """Add what the function that is called, and those that it calls, read and store."""
        found = called_by(self.d, a, node)
        if found is None or found.callee in met:
            return
        callee = found.callee
        met.add(callee)
        event.called += self.stored(callee)
        for s in callee.function.node.body:
            self.read(event, callee, _paths(s))
            for n in walk(s):
                if isinstance(n, gast.Call) or n in callee.kinds.methods:
                    self.call(callee, n, event, met)


def _holder(place: Node) -> Node:
    """Return the dotted name of what a place is, or is a part of."""
    while isinstance(place, gast.Subscript):
        place = place.value
    return place


def _own_parts(s: Node) -> list[Node]:
    """Return what a statement itself evaluates, without the statements inside."""
    if not blocks_of(s):
        return [s]
    parts = [getattr(s, word, None) for word in ("test", "iter", "target", "subject")]
    return [p for p in parts if p is not None] + list(getattr(s, "items", []))


def _targets(a: Analysed, w: Write) -> Iterator[tuple[Any, str | None, bool]]:
    """Yield the objects that a write changes, the attributes, and whether kinds stay as they are.

    An object may not be known.
    """
    s = w.statement
    targets = getattr(s, "targets", None) or [getattr(s, "target", None)]
    places = [t for t in targets if isinstance(t, gast.Attribute | gast.Subscript)]
    for place in places:
        if _root(place) == w.base:
            attr = place.attr if isinstance(place, gast.Attribute) else None
            owner = _object(a, place.value)
            old = _part_of(a, owner, place)
            known = part_kind(place, w.owner) or K.UNKNOWN
            kind = known if old is MISSING else K.kind_of(old, "outside")
            new = _stored_kind(a, s)
            any_entry = isinstance(owner, dict) and old is MISSING
            alike = _like_all(owner, new) if any_entry else _alike(kind, new)
            yield owner, attr, w.in_array or alike
            if attr is not None and isinstance(s, gast.AugAssign):
                yield old, None, True
    if places:
        return
    value = getattr(s, "value", None)
    holder: Node = gast.Name(w.base, gast.Load(), None, None)
    given: list[Node] = []
    if isinstance(value, gast.Call) and value not in a.kinds.methods:
        func = value.func
        if isinstance(func, gast.Attribute) and _root(func) == w.base:
            holder, given = func.value, list(value.args)
    found = _object(a, holder)
    if isinstance(found, list) or isinstance(w.owner, K.List):
        items = w.owner if found is MISSING else K.kind_of(found, "outside")
        item = items.item if isinstance(items, K.List) else K.UNKNOWN
        yield found, None, all(_alike(item, a.kinds.of.get(v, K.UNKNOWN)) for v in given)
    elif is_array(found):
        yield found, None, True
    else:
        yield (found if isinstance(found, dict | set) else MISSING), None, False


def _stored_kind(a: Analysed, s: Node) -> Kind:
    """Return the kind of what a statement stores."""
    if isinstance(s, gast.Delete):
        return K.UNKNOWN
    new = a.kinds.of.get(s.value, K.UNKNOWN)
    if isinstance(s, gast.AugAssign):
        return binary_kind(type(s.op), a.kinds.of.get(s.target, K.UNKNOWN), new)
    return new


def _like_all(entries: dict[Any, Any], new: Kind) -> bool:
    """Say whether what is stored under some key may stand for any entry of a dict: by numbers.

    For an entry of an empty dict nothing does: nobody could tell what is read there.
    """
    kinds = [K.kind_of(value, "outside") for value in entries.values()]
    return bool(kinds) and all(_alike(k, new) or (_is_plain(k) and _is_plain(new)) for k in kinds)


def _is_plain(kind: Kind) -> bool:
    return isinstance(kind, K.Num) and kind.dtype is None and kind.type in ("int", "float")


def _part_of(a: Analysed, owner: Any, place: Node) -> Any:
    """Return what is in a place of an object outside, or MISSING."""
    if owner is MISSING:
        return MISSING
    if isinstance(place, gast.Attribute):
        return _attribute(owner, place.attr)
    key = place.slice.value if isinstance(place.slice, gast.Constant) else MISSING
    if isinstance(owner, dict):
        return owner.get(key, MISSING)
    if isinstance(owner, list) and owner:
        known = type(key) is int and -len(owner) <= key < len(owner)
        return owner[key] if known else owner[0]
    return MISSING


def _is_like(old: Any, new: Kind) -> bool:
    """Say whether a value is of a kind, as far as derived text was told of it."""
    return old is not MISSING and _alike(K.kind_of(old, "outside"), new)


def _alike(old: Kind, new: Kind) -> bool:
    """Say whether what holds of one kind holds of another."""
    if isinstance(old, K.Num) and isinstance(new, K.Num):
        return (old.type, old.dtype) == (new.type, new.dtype)
    if isinstance(old, K.Array) and isinstance(new, K.Array):
        if (old.dtype, old.rank, old.namespace) != (new.dtype, new.rank, new.namespace):
            return False
        dims = zip(old.dims, new.dims, strict=True)
        return all(n == o or n.many if o.many else o != K.ONE or n == o for o, n in dims)
    if isinstance(old, K.Str) and isinstance(new, K.Str):
        return True
    if isinstance(old, K.List | K.Obj):
        pairs = K.paired(old, new)
        return pairs is not None and all(_alike(*pair) for pair in pairs)
    return old == new and not isinstance(new, K.Unknown)


def _object(a: Analysed, node: Node) -> Any:
    """Return what a dotted name denotes outside, or MISSING."""
    pure = node
    while isinstance(pure, gast.Attribute):
        pure = pure.value
    chain = _chain(a, node) if isinstance(pure, gast.Name) else None
    if chain is None or chain[-1][1] is not None:
        return MISSING
    steps = 0
    while isinstance(node, gast.Attribute):
        node, steps = node.value, steps + 1
    steps += _cell(a, node.id) is not None
    return chain[-1][0] if len(chain) == steps + 1 else MISSING


def _paths(node: Node) -> Iterator[Node]:
    """Yield the dotted names in a node that are read, each whole.

    What is only added to is not read.
    """
    pending = [node]
    while pending:
        n = pending.pop()
        root = n
        if isinstance(n, gast.Expr) and isinstance(n.value, gast.Call):
            func = n.value.func
            if isinstance(func, gast.Attribute) and registry.method_writes(func.attr, "puts"):
                pending += [*n.value.args, *n.value.keywords]
                continue
        while isinstance(root, gast.Attribute):
            root = root.value
        if isinstance(root, gast.Name) and isinstance(n, gast.Attribute | gast.Name):
            if isinstance(n.ctx, gast.Load):
                yield n
        elif isinstance(n, gast.Subscript) and not isinstance(n.ctx, gast.Load):
            pending.append(n.slice)
        else:
            pending += list(gast.iter_child_nodes(n))


def _root(node: Node) -> str:
    while isinstance(node, gast.Attribute | gast.Subscript | gast.Call):
        node = node.func if isinstance(node, gast.Call) else node.value
    return node.id if isinstance(node, gast.Name) else ""


def _chain(a: Analysed, node: Node) -> Chain | None:
    """Return the objects that a dotted name passes, where it starts outside the function."""
    attrs: list[str] = []
    while isinstance(node, gast.Attribute):
        attrs.insert(0, node.attr)
        node = node.value
    if not isinstance(node, gast.Name):
        return None
    inner = node.id in a.function.locals
    value = _held(a, node.id) if inner else lookup(a.scope.fn, node.id)
    if value is MISSING:
        return None
    cell = _cell(a, node.id)
    chain: list[tuple[Any, str | None]] = [] if cell is None else [(cell, node.id)]
    for attr in attrs:
        found = _attribute(value, attr)
        if found is MISSING:
            break
        chain.append((value, attr))
        value = found
    return (*chain, (value, None))


def _held(a: Analysed, variable: str) -> Any:
    """Return the class or module that a local variable always is, as `cls` is, or MISSING."""
    if variable not in a.function.locals:
        return MISSING
    kinds = {id(env[variable]): env[variable] for env in a.kinds.before.values() if variable in env}
    held = {id(v): v for v in (getattr(k, "value", MISSING) for k in kinds.values())}
    found = next(iter(held.values()), MISSING)
    return found if len(held) == 1 and isinstance(found, type | types.ModuleType) else MISSING


def _cell(a: Analysed, variable: str) -> Any:
    """Return the cell of a captured variable, or None."""
    return a.scope.cells.get(variable)


def _attribute(owner: Any, attr: str) -> Any:
    """Return what an object holds by a name, without running anything."""
    if isinstance(owner, types.ModuleType):
        return getattr(owner, attr, MISSING)
    found = inspect.getattr_static(owner, attr, MISSING)
    if isinstance(found, types.MemberDescriptorType):
        return getattr(owner, attr, MISSING)
    return MISSING if hasattr(type(found), "__get__") else found


def _has_parts(value: Any) -> bool:
    return isinstance(value, list | dict | set | tuple) or (
        not (is_array(value) or isinstance(value, types.ModuleType)) and has_fields(type(value))
    )


def _is_data(value: Any) -> bool:
    """Say whether what a module or class holds is data, and no other module or class."""
    return is_array(value) or (not isinstance(value, type) and _has_parts(value))


def _same(one: Any, other: Any) -> bool:
    """Say whether two objects are one, or arrays that may share memory."""
    if is_array(one) and type(one) is type(other):
        return overlap(one, other)
    return one is other


def _reached(value: Any, met: set[int]) -> Iterator[Any]:
    """Yield an object and what it holds, over any number of steps: all that can be changed."""
    if id(value) in met:
        return
    met.add(id(value))
    parts: Any = ()
    if isinstance(value, list | tuple | set):
        parts = value
    elif isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, type | types.ModuleType):
        parts = [part for part in list(vars(value).values()) if _is_data(part)]
    elif _has_parts(value):
        parts = attributes(value).values()
    elif not is_array(value):
        return
    yield value
    for part in parts:
        yield from _reached(part, met)
