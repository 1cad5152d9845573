"""Objects that a function meets, whose classes say how they are gone through.

Kinds tell which these are, and a function is read once more where they tell more than was known:

    chain = model.chain                  chain is a Chain, as the kinds of the first reading say
    for node in chain.links(): ...       links is a generator function, which is written out now
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad.capture.gone_through import Objects, gives_to_go_through
from s2sad.kinds import Kind
from s2sad.stages import Function, KindFacts, each_kind

_DEPTH = 3


@dataclass
class Met:
    """What reads a function with the objects that are known, and these objects."""

    normal: Callable[[Objects], Function]
    known: Objects

    def read(self) -> Function:
        """Return the function as it reads with these objects, written anew."""
        return self.normal(self.known)

    def more(self, facts: KindFacts) -> Function | None:
        """Return the function as it reads with objects that kinds tell of; None if there are none.

        They have that class wherever their names have a value.
        """
        found: dict[str, list[Kind]] = {}
        for n, kind in each_kind((*facts.before.values(), *facts.after.values())):
            found.setdefault(n, []).append(kind)
        met = objects_of(found)
        if met.items() <= self.known.items():
            return None
        self.known = {**self.known, **met}
        return self.read()


def objects_of(kinds: Mapping[str, Iterable[Kind]], depth: int = _DEPTH) -> Objects:
    """Return the classes of objects that are gone through, or have generator functions, by path."""
    found: dict[str, tuple[type, tuple[str, ...]]] = {}
    for path, every in kinds.items():
        objects = [k for k in every if not isinstance(k, K.Unbound)]
        classes = {k.cls for k in objects if isinstance(k, K.Obj)}
        if len(classes) != 1 or not all(isinstance(k, K.Obj) for k in objects):
            continue
        (cls,) = classes
        parts = [dict(k.fields) for k in objects if isinstance(k, K.Obj)]
        own = tuple(sorted({f for fields in parts for f in fields}))
        if gives_to_go_through(cls):
            found[path] = cls, tuple(f for f in own if hasattr(cls, f))
        if depth:
            inner = {f"{path}.{f}": [p.get(f, K.UNKNOWN) for p in parts] for f in own}
            found |= objects_of(inner, depth - 1)
    return found
