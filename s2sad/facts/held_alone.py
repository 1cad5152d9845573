"""What an object or a dict holds that changes and that nobody else sees: variables.

    cloth = object_of(Cloth, pos=p, vel=v)      cloth_pos = p
    for _ in range(n):                          cloth_vel = v
        t = cloth.vel                           for _ in range(n):
        t_1 = f(t)                                  t = cloth_vel
        cloth.vel = t_1                             t_1 = f(t)
                                                    cloth_vel = t_1

Each use of the name reads or writes one attribute, or the entry of one known key, that is surely
there. Then nobody can tell the difference, and each variable has a cotangent of its own.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.rewrite import NumPy, Rewriter
from s2sad.known.built import plain_fields, run_by_making
from s2sad.known.open_dicts import literal_key
from s2sad.nodes import (
    SCOPES,
    Block,
    Node,
    all_inside,
    assign,
    block_writes,
    blocks_of,
    count_writes,
    names_read,
    rename,
    walk,
)
from s2sad.stages import Function, KindFacts, Loop, plain_field, sets_plainly

_SCOPES = (*SCOPES, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def held_alone(
    function: Function, kinds: KindFacts, taken: set[str], numpy: NumPy
) -> Function | None:
    """Return the function with variables in the place of such structures, None without any."""
    owners = alone(function, kinds)
    return _Apart(function, kinds, taken, numpy, owners).rewritten() if owners else None


def alone(function: Function, kinds: KindFacts, nearly: bool = False) -> dict[str, str]:
    """Return the names of such structures, each with the one that its variables are called after.

    They are `nearly` such where calls of the user's functions take them, or loops go through their
    keys: these may be written out.
    """
    found = _Uses(function, kinds, nearly)
    if not found.written:
        return {}
    for s in function.node.body:
        found.statement(s)
    return found.groups(function.node.body)


@dataclass(frozen=True)
class _Use:
    """A name in a statement, with the node around it."""

    name: Node
    around: Node
    statement: Node


@dataclass
class _Uses:
    """How a function uses each of its names.

    `written` are those of which a statement writes a part, `seen` those that are used in other ways
    than as owners of their parts. A name may stand for another one: `other`. What names `methods`
    is written out with their calls.
    """

    function: Function
    kinds: KindFacts
    nearly: bool
    seen: set[str] = field(default_factory=set)
    made: dict[str, int] = field(default_factory=dict)
    other: dict[str, list[Node]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        f = self.function
        self.seen |= {*f.params, *f.spread, *f.held, *f.stopped, *f.stopped.values()}
        self.seen |= {n for a in f.ahead.values() for n in (*a.sources, *a.uses)}
        targets = (t for s in all_inside(f.node.body) for t in _targets(s))
        parts = (t for t in targets if isinstance(t, gast.Attribute | gast.Subscript))
        calls = self.kinds.methods
        self.methods = {getattr(c, "func", c) for c in calls}
        self.written = {t.value.id for t in parts if isinstance(t.value, gast.Name)}

    def statement(self, s: Node) -> None:
        """Look at a statement, and at those inside."""
        if isinstance(s, _SCOPES):
            self.seen |= {n.id for n in walk(s) if isinstance(n, gast.Name)}
            return
        if isinstance(s, gast.Try):
            self.seen |= _owners_in([s])  # it tells what may be half done in the user's words
        inside = {id(x) for part in blocks_of(s) for x in part}
        value, target = getattr(s, "value", None), _alone_in(s)
        for node in _told(self.function.loops.get(s)):
            self.expression(node, s, s)
        if target is not None and self.is_made(value):
            self.made[target] = self.made.get(target, 0) + 1
            self.expression(value, s, s)
        elif target is not None and isinstance(value, gast.Name):
            self.other.setdefault(target, []).append(s)
        else:
            for node, around in _below(s, inside):
                self.expression(node, around, s)
        for part in blocks_of(s):
            for inner in part:
                self.statement(inner)

    def is_made(self, value: Node) -> bool:
        """Say whether an expression makes a structure; nearly so does a call of its class."""
        if parts_of(value, self.kinds) is not None:
            return True
        made = self.kinds.of.get(value) if self.nearly and isinstance(value, gast.Call) else None
        cls = getattr(self.kinds.of.get(value.func), "value", None) if made is not None else None
        return isinstance(made, K.Obj) and made.cls is cls and _stores_plainly(made.cls)

    def expression(self, node: Node, around: Node, s: Node) -> None:
        """Look at an expression of a statement."""
        if isinstance(node, _SCOPES):
            self.seen |= {n.id for n in walk(node) if isinstance(n, gast.Name)}
        elif isinstance(node, gast.Name):
            if not self.is_part(_Use(node, around, s)):
                self.seen.add(node.id)
        else:
            for inner, outer in _below(node, set()):
                self.expression(inner, outer, s)

    def is_part(self, use: _Use) -> bool:
        """Say whether a name is used as the owner of one of its parts."""
        around, n = use.around, use.name
        env = self.kinds.before.get(use.statement)
        kind = None if env is None else env.get(n.id)
        if isinstance(around, gast.Attribute) and isinstance(kind, K.Obj):
            return _holds(kind, around.attr) or (self.nearly and around in self.methods)
        if isinstance(around, gast.Subscript) and around.value is n and isinstance(kind, K.Dict):
            index = self.kinds.of.get(around.slice, K.UNKNOWN)
            step = literal_key(index)
            if self.nearly and isinstance(index, K.Str) and index.keys:
                return True
            there = kind.at(step) if _is_word(step) else None
            held = there is not None and K.UNBOUND not in K.options(there)
            return _is_word(step) and (held or isinstance(around.ctx, gast.Store))
        if not self.nearly:
            return False
        if isinstance(around, gast.For):
            return around.target is not n and isinstance(kind, K.Dict)
        if isinstance(around, gast.keyword):
            return True
        return isinstance(around, gast.Call) and n is not around.func and self.is_users(around)

    def is_users(self, call: Node) -> bool:
        """Say whether a call is one of a function of the user's."""
        target = self.kinds.of.get(call.func)
        fn = getattr(target, "value", None)
        known = isinstance(target, K.LocalFunction) or isinstance(fn, types.FunctionType)
        return known or call in self.kinds.methods

    def groups(self, body: Block) -> dict[str, str]:
        """Return the names of structures that are alone, with the name that each goes by."""
        found: dict[str, str] = {}
        for root, count in self.made.items():
            names = [root]
            for known in names:
                given = {n: {s.value.id for s in made} for n, made in self.other.items()}
                later = [n for n, sources in given.items() if known in sources]
                names += [n for n in later if n not in names]
            ours = self.seen.isdisjoint(names) and self.function.locals.issuperset(names)
            if not ours or self.written.isdisjoint(names):
                continue
            bound = [len(self.other.get(n, ())) + self.made.get(n, 0) for n in names]
            once = len(names) == 1 or (count == 1 and max(bound) == 1)
            pairs = ((self.other[n][0].value.id, n) for n in names[1:])
            if root not in self.other and once and all(_follows(body, *pair) for pair in pairs):
                found |= dict.fromkeys(names, names[-1])
        return found


def _told(plan: Loop | None) -> Iterator[Node]:
    """Yield the expressions of how a loop is run backward."""
    if plan is not None:
        yield from (*(plan.bounds or ()), *plan.bindings)


def _owners_in(body: Block) -> set[str]:
    """Return the names of which statements write a part."""
    targets = (t for s in all_inside(body) for t in _targets(s))
    parts = (t for t in targets if isinstance(t, gast.Attribute | gast.Subscript))
    return {t.value.id for t in parts if isinstance(t.value, gast.Name)}


def _targets(s: Node) -> list[Node]:
    return [*getattr(s, "targets", ()), *([s.target] if isinstance(s, gast.AugAssign) else [])]


def _alone_in(s: Node) -> str | None:
    """Return the name that a statement binds, if it binds one."""
    plain = isinstance(s, gast.Assign) and len(s.targets) == 1
    return s.targets[0].id if plain and isinstance(s.targets[0], gast.Name) else None


def parts_of(value: Node, kinds: KindFacts) -> list[tuple[Any, Node]] | None:
    """Return the steps and the parts of a dict or an object that is made; None of what else is."""
    if isinstance(value, gast.Dict):
        keys = [getattr(k, "value", None) for k in value.keys]
        plain = all(map(_is_word, keys)) and len({*keys}) == len(keys)
        return list(zip(keys, value.values, strict=True)) if plain else None
    kind = kinds.of.get(value)
    if not isinstance(value, gast.Call) or not isinstance(kind, K.Obj):
        return None
    if not _stores_plainly(kind.cls) or not all(k.arg for k in value.keywords):
        return None
    named = [(k.arg, k.value) for k in value.keywords]
    if kinds.objects.get(value.func) is runtime.object_of:
        return named if len(value.args) == 1 else None
    words = _generated(kind.cls)
    called = getattr(kinds.of.get(value.func), "value", None) is kind.cls
    if words is None or not called or any(isinstance(a, gast.Starred) for a in value.args):
        return None
    given = [*zip(words, value.args, strict=False), *named]
    return given if len(given) == len(words) else None


def _generated(cls: type) -> Sequence[str] | None:
    """Return the fields of a data class that stores each as it is given, and does no more."""
    words = plain_fields(cls)
    made: Any = cls
    plain = words is not None and not run_by_making(cls)
    return words if plain and not any(f.kw_only for f in dataclasses.fields(made)) else None


def _is_word(step: object) -> bool:
    return isinstance(step, str | int) and not isinstance(step, bool)


def _stores_plainly(cls: type) -> bool:
    """Say whether a class does nothing but to store and to find what is an attribute."""
    finds: Any = cls.__getattribute__
    return sets_plainly(cls) and finds in _FINDING


_FINDING: tuple[Any, ...] = (object.__getattribute__, types.SimpleNamespace.__getattribute__)


def _holds(kind: K.Obj, word: str) -> bool:
    """Say whether an object surely has an attribute that is no more than stored."""
    there = dict(kind.fields).get(word)
    known = there is not None and K.UNBOUND not in K.options(there)
    return known and plain_field(kind.cls, word) and _stores_plainly(kind.cls)


def _word(owner: str, step: object) -> str:
    return re.sub(r"\W", "_", f"{owner}_{step}")


def _bound_early(last: Block) -> set[str]:
    """Return what a statement may bind before it has read everything."""
    plain = all(isinstance(s, gast.Assign | gast.Expr) for s in last)
    return set() if plain else block_writes(last)


def _below(node: Node, without: set[int]) -> Iterator[tuple[Node, Node]]:
    """Yield the expressions right below a node, each with what is around it."""
    for word in node._fields:
        held = getattr(node, word, None)
        for inner in held if isinstance(held, list) else [held]:
            if isinstance(inner, gast.AST) and id(inner) not in without:
                yield inner, node


def _follows(body: Block, root: str, name: str) -> bool:
    """Say whether a name is bound in the block in which what it stands for is made, before its use.

    So it never stands for what an earlier round has made.
    """
    for block in _blocks(body):
        words = [_alone_in(s) for s in block]
        if root in words and name in words:
            first, last = words.index(root), words.index(name)
            between = block[first + 1 : last]
            return first < last and not any(
                isinstance(n, gast.Name) and n.id == name for s in between for n in walk(s)
            )
    return False


def _blocks(body: Block) -> Iterator[Block]:
    yield body
    for s in body:
        for part in blocks_of(s):
            yield from _blocks(part)


class _Apart(Rewriter):
    """Puts a variable in the place of each part of the `owners`."""

    def __init__(
        self,
        function: Function,
        kinds: KindFacts,
        taken: set[str],
        numpy: NumPy,
        owners: Mapping[str, str],
    ) -> None:
        super().__init__(function, kinds, taken, numpy)
        self.owners = owners
        self.words: dict[tuple[str, Any], str] = {}

    def word(self, owner: str, step: Any) -> str:
        """Return the variable for a part."""
        key = self.owners[owner], step
        if key not in self.words:
            self.words[key] = self.names.fresh(_word(*key))
        return self.words[key]

    def rewritten(self) -> Function | None:
        """Return the function with variables, each under one name."""
        made = super().rewritten()
        assert made is not None
        self.read_by_own_names(self.function.node.body)
        own = {*self.words.values()}
        named = {n.id for n in walk(self.function.node) if isinstance(n, gast.Name)} | self.told
        hidden = (self.function.locals - self.function.temps) | self.taken | named
        plain: dict[str, str] = {}
        for (owner, step), word in self.words.items():
            base = _word(owner, step)
            if base not in {*hidden, *plain.values()}:
                plain[word] = base
        rename(self.function.node, plain)
        loops = {s: self.planned(plan, plain) for s, plan in made.loops.items()}
        words = {plain.get(n, n) for n in own}
        return dataclasses.replace(made, locals=made.locals | words, loops=loops)

    def planned(self, plan: Loop, plain: Mapping[str, str]) -> Loop:
        """Return how a loop is run backward, in terms of variables."""
        bounds, bindings = (
            tuple(rename(self.put_for(n), plain) for n in nodes or ())
            for nodes in (plan.bounds, plan.bindings)
        )
        return dataclasses.replace(plan, bounds=plan.bounds and bounds, bindings=bindings)

    def block(self, body: Block) -> Block:
        """Put what a block has; what would be empty passes."""
        return super().block(body) or ([gast.Pass()] if body else [])

    @functools.cached_property
    def told(self) -> set[str]:
        """The names of which more than statements tell."""
        f = self.function
        plans = (n for plan in f.loops.values() for n in _told(plan))
        own = {n.id for plan in plans for n in walk(plan) if isinstance(n, gast.Name)}
        return own | {n for a in f.ahead.values() for n in a.sources} | {f.result}

    @functools.cached_property
    def second(self) -> set[str]:
        """The temporaries that are bound once, of which only statements tell.

        What is read ahead of a call stays until it is known what the call changes.
        """
        counts = count_writes(self.function.node.body, self.function.params)
        temps = self.function.temps - self.told - self.function.was
        return {n for n in temps if counts.get(n) == 1}

    def read_by_own_names(self, body: Block) -> None:
        """Let statements read a variable itself, where a temporary held it for them."""
        own = {*self.words.values()}
        for s in [*body]:
            for part in blocks_of(s):
                self.read_by_own_names(part)
            temp, held = _alone_in(s), getattr(getattr(s, "value", None), "id", "")
            if temp not in self.second or held not in own:
                continue
            rest = body[body.index(s) + 1 :]
            uses = [i for i, t in enumerate(rest) if temp in names_read(t)]
            inside = sum(n.id == temp for t in rest for n in walk(t) if isinstance(n, gast.Name))
            every = (n for n in walk(self.function.node) if isinstance(n, gast.Name))
            span = rest[: uses[-1] + 1] if uses else []
            if inside + 1 == sum(n.id == temp for n in every):
                if held not in block_writes(span[:-1]) | _bound_early(span[-1:]):
                    body.remove(s)
                    for t in span:
                        rename(t, {temp: held})

    def statement(self, s: Node) -> Block | None:
        target, value = _alone_in(s), getattr(s, "value", None)
        if target in self.owners:
            if isinstance(value, gast.Name):
                return []
            parts = parts_of(value, self.kinds)
            assert target is not None and parts is not None
            return [assign(self.word(target, step), v) for step, v in parts]
        self.put(s, {id(x) for part in blocks_of(s) for x in part})
        return None

    def put(self, node: Node, without: set[int]) -> None:
        """Replace the parts of owners below a node."""
        for field_ in node._fields:
            held = getattr(node, field_, None)
            if isinstance(held, list):
                held[:] = [h if id(h) in without else self.put_for(h) for h in held]
            else:
                setattr(node, field_, self.put_for(held))

    def put_for(self, node: Any) -> Any:
        """Return what stands for an expression."""
        owner = getattr(getattr(node, "value", None), "id", "")
        if isinstance(node, gast.Attribute | gast.Subscript) and owner in self.owners:
            step = (
                node.attr
                if isinstance(node, gast.Attribute)
                else literal_key(self.kinds.of.get(node.slice, K.UNKNOWN))
            )
            return gast.Name(self.word(owner, step), node.ctx, None, None)
        if isinstance(node, gast.AST):
            self.put(node, set())
        return node
