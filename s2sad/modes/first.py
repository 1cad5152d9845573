"""First contributions to the parts of a structure's cotangent are assigned, later ones added.

    p_bar = zeros_like(p)          p_bar = dict.fromkeys(p)
    p_bar["W"] += W_bar       ->   p_bar["W"] = W_bar
    p_bar["b"] += b_bar            p_bar["b"] = b_bar

Zeros stay where some part may get no contribution. Runs on the sweep as it was written, where what
is added to an array has that array's shape and dtype.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.kinds import Kind
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    binary,
    block_writes,
    blocks_of,
    call,
    constant,
    count_writes,
    name,
    number,
    same,
    walk,
)
from s2sad.stages import Restore, Save


@dataclass(frozen=True)
class _Key:
    """One value of a dict, one field of an object."""

    key: Any


@dataclass(frozen=True)
class _Item:
    """One item of a list, at a constant index; a negative one counts from the end."""

    index: int


@dataclass(frozen=True)
class _Slice:
    """All items of a list but so many at either end."""

    front: int = 0
    back: int = 0


@dataclass(frozen=True)
class _Each:
    """The item that is a loop's turn; the loop takes every item of a slice once."""

    slice: _Slice
    loop: Any


@dataclass(frozen=True)
class _Some:
    """An item nobody can tell."""


_Selector = _Key | _Item | _Slice | _Each | _Some
_Path = tuple[_Selector, ...]
_Stack = tuple[tuple[Any, int], ...]


@dataclass
class _Touch:
    """A statement that adds to a leaf: which, and in which arms of which statements."""

    path: _Path
    block: Block
    statement: Node
    stack: _Stack

    def loops(self) -> Iterator[Any]:
        return (s for s, _ in self.stack if isinstance(s, gast.For | gast.While))


@dataclass
class _Alias:
    """A name for a part of a shadow; `primal` is the part of the structure it belongs to."""

    path: _Path
    kind: Kind
    primal: str | None


@dataclass
class _Survey:
    """What is done to one shadow: `mentions` are the uses of its names that are understood."""

    aliases: dict[str, _Alias]
    touches: list[_Touch] = field(default_factory=list)
    mentions: int = 0


def assign_first(
    backward: Block,
    primals: Mapping[str, str],
    kinds: Mapping[str, Kind],
    zeros: Collection[str],
    names: Names,
    for_reading: bool = False,
) -> Block:
    """Return a backward sweep in which first contributions to parts of shadows are assigned.

    `primals` gives each cotangent's variable, for those that keep one value throughout; `zeros`
    are the names of the function that makes zeros. A text `for_reading` keeps the zeros: what is
    in a dict of None is known there only when it is filled.
    """
    shadows = list(_shadows(backward, kinds, zeros))
    writes = count_writes(backward) if shadows else {}
    for block, position in shadows:
        shadow = block[position].targets[0].id
        if writes[shadow] != 1:
            continue
        root = _Alias((), kinds[shadow], primals.get(shadow))
        survey = _Survey({shadow: root}, mentions=1)
        reader = _Reader(survey, primals, kinds, writes)
        understood = reader.block(block, (), position + 1)
        if not understood or survey.mentions != _mentions(backward, survey.aliases):
            continue
        first = [t for t in survey.touches if _is_first(t, survey.touches)]
        empty = None
        if not for_reading and _covers(root.kind, [t.path for t in first if _certain(t)]):
            empty = _empty(root.kind, block[position].value.args[0], names)
        if empty is not None:
            block[position].value = empty
        for t in first:
            if empty is not None or not _spreads(t):
                t.block[t.block.index(t.statement)] = _assigned(t.statement)
    return backward


def _shadows(
    block: Block, kinds: Mapping[str, Kind], zeros: Collection[str]
) -> Iterator[tuple[Block, int]]:
    """Yield where shadows of structures are made."""
    for position, s in enumerate(block):
        if (
            isinstance(s, gast.Assign)
            and isinstance(s.targets[0], gast.Name)
            and isinstance(s.value, gast.Call)
            and isinstance(s.value.func, gast.Name)
            and s.value.func.id in zeros
            and isinstance(kinds.get(s.targets[0].id), K.List | K.Dict | K.Obj)
        ):
            yield block, position
        for part in blocks_of(s):
            yield from _shadows(part, kinds, zeros)


class _Reader:
    """Collects the aliases of a shadow and the additions to its leaves."""

    def __init__(
        self,
        survey: _Survey,
        primals: Mapping[str, str],
        kinds: Mapping[str, Kind],
        writes: Mapping[str, int],
    ) -> None:
        self.survey = survey
        self.primals = primals
        self.kinds = kinds
        self.writes = writes

    def block(self, block: Block, stack: _Stack, start: int = 0) -> bool:
        """Read a block; say whether the writes to the shadow in it are understood."""
        for s in block[start:]:
            if isinstance(s, gast.AugAssign) and self._is_part(s.target):
                if not self._touch(s, block, stack):
                    return False
            elif isinstance(s, gast.Assign) and self._is_part(s.value):
                if not self._alias(s, stack):
                    return False
            for arm, part in enumerate(blocks_of(s)):
                if not self.block(part, (*stack, (s, arm))):
                    return False
        return True

    def _is_part(self, node: Node) -> bool:
        return (
            isinstance(node, gast.Subscript | gast.Attribute)
            and isinstance(node.value, gast.Name)
            and node.value.id in self.survey.aliases
        )

    def _alias(self, s: Node, stack: _Stack) -> bool:
        target = s.targets[0]
        if not isinstance(target, gast.Name) or self.writes[target.id] != 1:
            return False
        path, kind = self._part(s.value, stack)
        if not isinstance(kind, K.List | K.Dict | K.Obj):
            return False
        self.survey.aliases[target.id] = _Alias(path, kind, self.primals.get(target.id))
        self.survey.mentions += 2
        return True

    def _touch(self, s: Node, block: Block, stack: _Stack) -> bool:
        path, kind = self._part(s.target, stack)
        cut = any(isinstance(x, _Slice) for x in self.survey.aliases[s.target.value.id].path)
        leaf = isinstance(kind, K.Num) or (isinstance(kind, K.Array) and kind.rank > 0)
        if cut or not leaf or not isinstance(s.op, gast.Add):
            return False
        self.survey.mentions += 1
        self.survey.touches.append(_Touch(path, block, s, stack))
        return True

    def _part(self, node: Node, stack: _Stack) -> tuple[_Path, Kind]:
        """Return where a part of an alias is, and its kind."""
        alias = self.survey.aliases[node.value.id]
        kind = alias.kind
        if isinstance(node, gast.Attribute):
            field = kind.at(node.attr) if isinstance(kind, K.Obj) else None
            return (*alias.path, _Key(node.attr)), field or K.UNKNOWN
        index = node.slice
        if isinstance(kind, K.Dict):
            if not isinstance(index, gast.Constant):
                return alias.path, K.UNKNOWN
            return (*alias.path, _Key(index.value)), kind.at(index.value) or K.UNKNOWN
        if not isinstance(kind, K.List):
            return alias.path, K.UNKNOWN
        cut = alias.path[-1:]
        around = cut[0] if cut and isinstance(cut[0], _Slice) else _Slice()
        before = alias.path[: -1 if around in cut else None]
        selector = self._selector(index, around, alias.primal, stack)
        return (*before, selector), kind if isinstance(selector, _Slice) else kind.item

    def _selector(
        self, index: Node, around: _Slice, primal: str | None, stack: _Stack
    ) -> _Selector:
        """Return which items of a list an index selects."""
        if isinstance(index, gast.Slice):
            return _narrowed(index, around) or _Some()
        value = number(index)
        if type(value) is int:
            return _Item(value + around.front if value >= 0 else value - around.back)
        for s, _ in reversed(stack):
            if isinstance(s, gast.For) and _same_name(s.target, index):
                once = index.id not in block_writes(s.body) and not _may_stop(s)
                if once and primal is not None and _takes_all(s.iter, primal):
                    return _Each(around, s)
                return _Some()
        return _Some()


def _same_name(left: Node, right: Node) -> bool:
    return isinstance(left, gast.Name) and isinstance(right, gast.Name) and left.id == right.id


def _takes_all(span: Node, primal: str) -> bool:
    """Say whether a loop runs over range(len(primal) - 1, -1, -1)."""
    length = binary(call("len", name(primal)), gast.Sub, constant(1))
    return same(span, call("range", length, constant(-1), constant(-1)))


def _may_stop(loop: Node) -> bool:
    return any(isinstance(n, gast.Break | gast.Continue) for n in walk(loop))


def _narrowed(index: Node, around: _Slice) -> _Slice | None:
    """Return a slice of a slice, where its ends are constants."""
    lower = 0 if index.lower is None else number(index.lower)
    upper = 0 if index.upper is None else number(index.upper)
    if index.step is not None or type(lower) is not int or type(upper) is not int:
        return None
    if lower < 0 or upper > 0 or (index.upper is not None and upper == 0):
        return None
    return _Slice(around.front + lower, around.back - upper)


# what is first


def _is_first(touch: _Touch, touches: list[_Touch]) -> bool:
    """Say whether nothing can have been added before to what a statement adds to."""
    own = {p.loop for p in touch.path if isinstance(p, _Each)}
    if not all(loop in own for loop in touch.loops()):
        return False
    at = touches.index(touch)
    return all(
        _apart(other.path, touch.path)
        or ((order > at or _excluded(other, touch)) and _in_step(other, touch))
        for order, other in enumerate(touches)
        if other is not touch
    )


def _apart(left: _Path, right: _Path) -> bool:
    """Say whether two paths lead to different leaves, in whatever rounds of their loops."""
    return any(_differ(a, b) or _differ(b, a) for a, b in zip(left, right, strict=False))


def _differ(a: _Selector, b: _Selector) -> bool:
    if isinstance(a, _Key):
        return isinstance(b, _Key) and a.key != b.key
    if not isinstance(a, _Item):
        return False
    if isinstance(b, _Item):
        return (a.index < 0) == (b.index < 0) and a.index != b.index
    if not isinstance(b, _Each):
        return False
    return 0 <= a.index < b.slice.front or -b.slice.back <= a.index < 0


def _in_step(left: _Touch, right: _Touch) -> bool:
    """Say whether two statements can only meet in the same round of the loops around both."""
    together = {p for p in left.path if isinstance(p, _Each)}
    together &= {p for p in right.path if isinstance(p, _Each)}
    shared = set(left.loops()) & set(right.loops())
    return shared <= {p.loop for p in together}


def _excluded(left: _Touch, right: _Touch) -> bool:
    """Say whether two statements are in different arms of one branch."""
    for (s, arm), (t, other) in zip(left.stack, right.stack, strict=False):
        if s is not t:
            return False
        if arm != other:
            return isinstance(s, gast.If | gast.Match)
    return False


# what is complete


def _certain(touch: _Touch) -> bool:
    """Say whether a statement runs in every round of complete loops, and of nothing else."""
    return all(isinstance(s, gast.For) and arm == 0 for s, arm in touch.stack)


def _covers(kind: Kind, paths: list[_Path]) -> bool:
    """Say whether paths lead to every leaf that has a derivative."""
    if not K.differentiable(kind):
        return isinstance(kind, K.Num | K.Array | K.Str | K.NoneKind)
    if isinstance(kind, K.Num | K.Array):
        return () in paths
    if isinstance(kind, K.Dict):
        return all(_covers(k, _below(paths, _Key(key))) for key, k in kind.items)
    if not isinstance(kind, K.List):
        return False
    slices = {p[0].slice for p in paths if p and isinstance(p[0], _Each)}
    return any(_covers_list(kind.item, paths, s) for s in slices)


def _covers_list(item: Kind, paths: list[_Path], inner: _Slice) -> bool:
    turns = [p[1:] for p in paths if isinstance(p[0], _Each) and p[0].slice == inner]
    ends = [*range(inner.front), *range(-inner.back, 0)]
    return _covers(item, turns) and all(_covers(item, _below(paths, _Item(i))) for i in ends)


def _below(paths: list[_Path], selector: _Selector) -> list[_Path]:
    return [p[1:] for p in paths if p[:1] == (selector,)]


def _empty(kind: Kind, like: Node, names: Names) -> Node | None:
    """Return an expression for a structure with nothing in it yet; None where that is no line."""
    if isinstance(kind, K.Dict) and not any(_nested(k) for _, k in kind.items):
        return call("dict.fromkeys", like)
    if not isinstance(kind, K.List):
        return None
    if not _nested(kind.item):
        nothing = gast.List([gast.Constant(None, None)], gast.Load())
        return binary(nothing, gast.Mult, call("len", like))
    part = names.fresh("part")
    inner = _empty(kind.item, name(part), names)
    if inner is None:
        return None
    turn = gast.comprehension(gast.Name(part, gast.Store(), None, None), like, [], 0)
    return gast.ListComp(inner, [turn])


def _nested(kind: Kind) -> bool:
    return K.differentiable(kind) and not isinstance(kind, K.Num | K.Array)


# tools


def _spreads(touch: _Touch) -> bool:
    """Say whether what is added is a scalar spread out: adding that to zeros is shorter."""
    value = touch.statement.value
    for s in touch.block[: touch.block.index(touch.statement)]:
        if isinstance(s, gast.Assign) and _same_name(s.targets[0], value):
            value = s.value
    return any(isinstance(n, gast.Attribute) and n.attr == "broadcast_to" for n in walk(value))


def _assigned(s: Node) -> Node:
    """Return `x += e` as `x = e`."""
    return gast.Assign([s.target], s.value, None)


def _mentions(block: Block, wanted: Collection[str]) -> int:
    """Return how often any of some names occurs in a block."""
    found = 0
    for s in block:
        for n in walk(s):
            if isinstance(n, gast.Name):
                found += n.id in wanted
            elif isinstance(n, Save | Restore):
                found += n.name in wanted
    return found
