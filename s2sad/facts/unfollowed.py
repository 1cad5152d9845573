"""Which words that structures hold are known no more, because something may have set them.

list(map(flip, configs))     flip may set what a config holds, and no kind says so
flip(config)                 followed: what a function of the user's leaves is known
p = configs[0] or config
p.mode = "b"                 p is known to hold another word; config may be the same object
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.memory import may_store
from s2sad.kinds import Kind
from s2sad.nodes import (
    COMPREHENSIONS,
    SCOPES,
    Node,
    all_inside,
    blocks_of,
    children,
    count_writes,
)
from s2sad.stages import Function, KindFacts
from s2sad.syntax.decided import is_word, unsettled
from s2sad.syntax.elements import heads

Env = dict[str, Kind]
Left = Callable[[KindFacts, Node, Env], "Iterable[tuple[Node, Kind]] | None"]
_PLACES = gast.Name | gast.Subscript | gast.Attribute


def holds_words(env: Env) -> bool:
    """Say whether a structure that may be changed is known to hold words."""
    return any(forgotten(kind) is not kind for kind in env.values() if kind.inside)


def forgotten(kind: Kind) -> Kind:
    """Return the kind of a value whose structures may have got other words."""
    if not kind.inside:
        return kind
    if not kind.mutable or kind.how == "option":
        return kind.over(forgotten)
    return kind.over(lambda part: forgotten(unsettled(part)))


def may_set(s: Node, facts: KindFacts, env: Env, left: Left) -> bool:
    """Say whether a statement itself, without its blocks, may set words in a way not followed."""
    simple = isinstance(s, gast.Assign | gast.Expr)
    for n, inside in _at_once(s):
        if isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Store):
            if _sets(facts.of.get(n.value, K.UNKNOWN), n.attr):
                return True
        called = isinstance(n, gast.Call) or n in facts.methods
        for call in [*([n] if called else []), *facts.implied.get(n, ())]:
            found = left(facts, call, env)
            if found is None:
                if _reaches(call, facts, env):
                    return True
                continue
            followed = call is n and simple and not inside
            if any(not followed or not isinstance(given, _PLACES) for given, _ in found):
                return True
    return False


def _at_once(s: Node) -> Iterator[tuple[Node, bool]]:
    """Yield what a statement evaluates itself, and whether that stands in a comprehension."""
    pending = [(n, False) for n in (heads(s) if blocks_of(s) else [s])]
    if isinstance(s, gast.With):
        pending += [(item, False) for item in s.items]
    while pending:
        n, inside = pending.pop()
        yield n, inside
        if not isinstance(n, SCOPES):
            inside = inside or isinstance(n, COMPREHENSIONS)
            pending += [(child, inside) for child in children(n)]


def _sets(owner: Kind, attr: str) -> bool:
    """Say whether code of a class runs where an attribute is set, or nobody knows whose it is."""
    if isinstance(owner, K.Obj):
        own = inspect.getattr_static(owner.cls, attr, None)
        return _has_own(owner.cls, "__setattr__") or hasattr(type(own), "__set__")
    return isinstance(owner, K.Unknown | K.OneOf | K.Union)


def _has_own(cls: type, word: str) -> bool:
    """Say whether a class has a method otherwise than object has it."""
    static = inspect.getattr_static
    return static(cls, word) is not static(object, word)


def _reaches(call: Node, facts: KindFacts, env: Env) -> bool:
    """Say whether what is called may be given structures, or functions that capture some."""
    fn = facts.objects.get(call.func) if isinstance(call, gast.Call) else None
    if fn is None:
        return True
    parts = [*call.args, *(k.value for k in call.keywords)]
    given = [a.value if isinstance(a, gast.Starred) else a for a in parts]
    kinds = [facts.of.get(a, K.UNKNOWN) for a in given]
    runs = any(isinstance(k, K.LocalFunction | K.Choice | K.Unknown) for k in kinds) or any(
        isinstance(k, K.Known) and isinstance(k.value, types.FunctionType) for k in kinds
    )
    ours = isinstance(fn, types.FunctionType) and registry.rule_for(fn) is None
    made = isinstance(fn, type) and _has_own(fn, "__init__")
    return (runs or ours or made or may_store(fn)) and any(_leads(k, env) for k in kinds)


def _leads(kind: Kind, env: Env) -> bool:
    """Say whether what has a kind may lead to a structure."""
    if isinstance(kind, K.LocalFunction):
        return any(_leads(env.get(n, K.UNBOUND), {}) for n in kind.variables)
    if isinstance(kind, K.Choice):
        return any(_leads(k, env) for k in kind.options)
    return isinstance(kind, K.Unknown) or kind.mutable or any(_leads(k, env) for k in kind.inside)


Changed = Mapping[tuple[object, object], Kind]


def words_changed(old: Kind, new: Kind) -> Changed | None:
    """Return which words of structures have changed, by class and step; None where all may have."""
    if not old.inside:
        return {}
    if type(old) is not type(new) or K.cls_of(old) is not K.cls_of(new):
        return {} if forgotten(old) is old else None
    found: dict[tuple[object, object], Kind] = {}
    there = dict(new.by_step)
    for step, was in old.by_step:
        now = there.get(step, K.UNBOUND)
        if is_word(was):
            found |= {(K.cls_of(old), step): now} if old.mutable and was != now else {}
            continue
        below = words_changed(was, now)
        if below is None:
            return None
        found |= below
    return found


def stale(kind: Kind, changed: Changed | None, apart: bool = False) -> Kind:
    """Return the kind of what may hold a structure whose words have changed under another name.

    What is `apart` is not that structure itself.
    """
    if changed is None:
        return forgotten(kind)
    if not kind.inside:
        return kind
    parts = []
    for step, part in kind.by_step:
        now = changed.get((K.cls_of(kind), step), part)
        lost = not apart and kind.mutable and is_word(part) and now != part
        parts.append(unsettled(part) if lost else stale(part, changed))
    same = all(a is b for a, b in zip(parts, kind.inside, strict=True))
    return kind if same else kind.rebuilt(parts)


def made_apart(function: Function) -> dict[str, Node | None]:
    """Return the names that are bound once, each to what is made there, parameters to None.

    Objects of two such names are two objects; arguments that overlap are refused.
    """
    counts = count_writes(function.node.body, frozenset(function.params))
    found: dict[str, Node | None] = {p: None for p in function.params if counts.get(p) == 1}
    for s in all_inside(function.node.body):
        word = getattr(s.targets[0], "id", "") if isinstance(s, gast.Assign) else ""
        if counts.get(word) == 1 and isinstance(s.value, gast.Call | gast.Dict | gast.List):
            found[word] = s.value
    return found


def is_made(node: Node | None, facts: KindFacts) -> bool:
    """Say whether what a name is bound to is new, or is a parameter."""
    if not isinstance(node, gast.Call):
        return True
    cls = facts.objects.get(node.func)
    return type(cls) is type and not _has_own(cls, "__new__")
