"""Parts of structures that `wrt` selects by a dotted path: `wrt="model.params"`.

The rest of the structure is constant: the kinds of its numbers and arrays say so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from s2sad import kinds as K
from s2sad.errors import ActivityError
from s2sad.kinds import Kind
from s2sad.nodes import Node, attribute, constant, subscript
from s2sad.stages import Steps, Written
from s2sad.tree import branch_of


@dataclass(frozen=True)
class Selected:
    """A parameter, or the part of it at the end of a path of attributes, keys and indices."""

    parameter: str
    path: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> Selected:
        """Return what a dotted path selects: its first word is the parameter."""
        first, *rest = text.split(".")
        return cls(first, tuple(rest))

    def holds(self, other: Selected) -> bool:
        """Say whether another selection is this one, or a part of it."""
        return (self.parameter, *self.path) == (other.parameter, *other.path[: len(self.path)])

    def __str__(self) -> str:
        return ".".join((self.parameter, *self.path))

    def kind(self, kind: Kind) -> Kind:
        """Return the kind of the part, given that of the parameter; ActivityError if none is."""
        for at, word in enumerate(self.path):
            inner = _part(kind, word)
            if inner is None:
                here = ".".join((self.parameter, *self.path[:at]))
                words = [step for step, _ in _parts(kind)]
                raise ActivityError(
                    f"wrt={str(self)!r}: {here} is {K.describe(kind)} and has no part {word!r}.",
                    remedy=f"Its parts are {', '.join(words)}." if words else f"Name {here}.",
                )
            kind = inner
        return kind

    def value(self, value: Any) -> Any:
        """Return the part of a value."""
        for word in self.path:
            if isinstance(value, dict):
                value = value[word]
            elif isinstance(value, list | tuple) and not hasattr(value, word):
                value = value[int(word)]
            else:
                value = getattr(value, word)
        return value

    def put(self, whole: Any, part: Any) -> Any:
        """Return a copy of a structure with another part at the end of the path."""
        return _put(whole, self.path, part)

    def node(self, node: Node, kind: Kind) -> Node:
        """Return the expression of the part of a cotangent that is built like a kind."""
        for word in self.path:
            step, inner = part_at(kind, word)
            node = (
                attribute(node, word)
                if isinstance(kind, K.Obj)
                else subscript(node, constant(step))
            )
            kind = inner
        return node


def part_at(kind: Kind, word: str) -> tuple[str | int, Kind]:
    """Return the step from a cotangent to the part that a word selects, and the part's kind."""
    inner = _part(kind, word) or K.UNKNOWN
    if isinstance(kind, K.Tuple) and kind.cls is not None:
        return [w for w, _ in _parts(kind)].index(word), inner
    return word if isinstance(kind, K.Obj | K.Dict) else int(word), inner


def whole_parameters(wrt: Any) -> Any:
    """Return a wrt with the parameters themselves in the place of parts of them."""
    if isinstance(wrt, tuple):
        return tuple(dict.fromkeys(map(whole_parameters, wrt)))
    return wrt.partition(".")[0] if isinstance(wrt, str) else wrt


def _put(whole: Any, path: tuple[str, ...], part: Any) -> Any:
    if not path:
        return part
    branch = branch_of(whole)
    assert branch is not None
    words = branch.keys
    if isinstance(whole, list | tuple):
        words = getattr(type(whole), "_fields", None) or tuple(map(str, words))
    pairs = zip(words, branch.parts, strict=True)
    return branch.rebuild([_put(p, path[1:], part) if w == path[0] else p for w, p in pairs])


def _words(kind: Kind) -> tuple[Any, ...]:
    return K.names_of(kind) or kind.steps


def _part(kind: Kind, word: str) -> Kind | None:
    """Return the kind of the part that a word selects."""
    if isinstance(kind, K.List) and kind.items is None:
        return kind.item if word.isdigit() else None
    return dict(_parts(kind)).get(word)


def _parts(kind: Kind) -> list[tuple[str, Kind]]:
    """Return the parts of a structure by the words that select them."""
    keys = (str,) if isinstance(kind, K.Dict) else (str, int)
    pairs = zip(_words(kind), kind.inside, strict=True) if kind.structure else ()
    return [(str(word), part) for word, part in pairs if isinstance(word, keys)]


def others_constant(
    kinds: dict[str, Kind], picked: Iterable[Selected], written: Written
) -> dict[str, Kind]:
    """Return the kinds of parameters with what is not picked constant; what is written is not."""
    found = dict(kinds)
    for n in {one.parameter for one in picked}:
        paths = [one.path for one in picked if one.parameter == n]
        arrays, containers = written.of(n)
        found[n] = _marked(kinds[n], (), paths, (*arrays, *containers))
    return found


def _marked(kind: Kind, here: Steps, paths: list[tuple[str, ...]], written: Iterable[Steps]) -> Any:
    if here in paths or _touched(here, written):
        if isinstance(kind, K.Num | K.Array) or here in paths:
            return kind
    if isinstance(kind, K.Num | K.Array):
        return replace(kind, const=True)

    through = any(path[: len(here)] == here for path in paths)
    if not kind.structure or (kind.rest is not None and through) or isinstance(kind, K.Iterable_):
        return kind
    steps = (None if word is K.EACH else str(word) for word in _words(kind))
    parts = zip(steps, kind.inside, strict=True)
    return kind.rebuilt(_marked(part, (*here, step), paths, written) for step, part in parts)


def _touched(here: Steps, written: Iterable[Steps]) -> bool:
    """Say whether a place may be one that is written, or be above or below one."""
    for place in written:
        steps = [step for step in place if step is not ...]
        if all(
            a is None or b is None or str(a) == str(b) for a, b in zip(here, steps, strict=False)
        ):
            return True
    return False


def worked_out(kind: Kind) -> Kind:
    """Return the kind of a new value: what it was made of may have been constant."""
    if isinstance(kind, K.Num | K.Array) and kind.const:
        return replace(kind, const=False)
    return kind
