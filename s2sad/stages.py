"""The frozen records handed from room to room, and the few statement kinds of our own.

`Comment` prints as a comment.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import gast

from s2sad.kinds import (
    UNBOUND,
    Array,
    Dict,
    Kind,
    List,
    Obj,
    OneOf,
    OpenDict,
    Unbound,
    Unknown,
    classes,
    is_container,
)

if TYPE_CHECKING:
    from s2sad.errors import Place


class Comment(gast.AST):  # type: ignore[misc]
    """One comment line in a statement list; `text` is without `# `, empty for an empty line."""

    _fields = ("text",)


class SourceLike(Protocol):
    """What later rooms need of a Source: names, and places for errors."""

    @property
    def fn(self) -> types.FunctionType: ...
    @property
    def name(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def node(self) -> Any: ...
    def place(self, node: Any) -> Place: ...


@dataclass(frozen=True)
class Loop:
    """How a `for` loop can be run backward.

    `index` counts the rounds or is the user's own variable (`own`); `bounds` are the arguments of
    the range it runs over; `bindings` say what the loop's targets are in terms of the index, as
    statements that the loop's header performs in the forward sweep. `bounds` is None where the
    iterable can be read only once: then what the header binds is saved.
    """

    index: str
    own: bool
    bounds: tuple[Any, ...] | None
    bindings: tuple[Any, ...]


@dataclass(frozen=True)
class Ahead:
    """What a list was made of that holds at once what the program reads round by round.

    `computed` says whether its items are computed from what is read, also from parts of that, by a
    function perhaps: then `uses` are its name, or those of a lambda that stands there.
    """

    sources: frozenset[str]
    computed: bool = False
    uses: frozenset[str] = frozenset()

    def renamed(self, table: Mapping[str, str]) -> Ahead:
        """Return the same under other names."""
        sources, uses = ({table.get(n, n) for n in names} for names in (self.sources, self.uses))
        return Ahead(frozenset(sources), self.computed, frozenset(uses))


@dataclass(frozen=True)
class Function:
    """A user's function in few statement shapes.

    `node` is the normalised definition (its last statement returns a name), `origins` maps every
    normalised statement to the user's statement it comes from, `loops` every `for` to its Loop,
    `temps` are the names that normalisation made up, `spread` the lists and dicts whose items were
    written out where a call unpacks them, each with that call: nobody may change them. `held` are
    the temporaries that hold defaults of inner functions. `half` are the tries that are not
    simply done or not, each with a name that shows it. `was` are the temporaries that hold what a
    place holds before a call gives what is added to it. `stopped` are the temporaries that take
    no derivative from what they are bound to, each with the name of that, if it is one. `ahead` are
    the lists of what a loop goes through, where the program reads it round by round.
    """

    source: SourceLike
    node: Any
    params: tuple[str, ...]
    origins: Mapping[Any, Any]
    loops: Mapping[Any, Loop]
    temps: frozenset[str]
    locals: frozenset[str]
    result: str
    spread: Mapping[str, Any] = field(default_factory=dict)
    held: frozenset[str] = frozenset()
    half: frozenset[Any] = frozenset()
    was: frozenset[str] = frozenset()
    stopped: Mapping[str, str] = field(default_factory=dict)
    ahead: Mapping[str, Ahead] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The user's name of the function."""
        return self.source.name

    def stays(self, s: Any) -> bool:
        """Say whether a statement binds a name to what it is: `h = stop_gradient(h)`."""
        value = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(value, gast.Name):
            return False
        target = s.targets[0]
        return isinstance(target, gast.Name) and self.stopped.get(value.id) == target.id


@dataclass
class KindFacts:
    """The kinds of a function: by expression node, and before and after each statement.

    `decided` holds the tests that kinds decide, `passing` whether an item of a with statement that
    lets exceptions through is the library's own (None: it may not), `objects` what function
    expressions denote, `methods` the functions behind method calls and properties, each with its
    self, `implied` the calls of methods that run, or may, where none is named, `stands` what names
    the one that runs in the place of such an expression, `lengths` the axis lengths that are known
    numbers once the function returns, `left` what the structures that it was given are then.
    """

    of: dict[Any, Kind] = field(default_factory=dict)
    before: dict[Any, dict[str, Kind]] = field(default_factory=dict)
    after: dict[Any, dict[str, Kind]] = field(default_factory=dict)
    decided: dict[Any, bool] = field(default_factory=dict)
    passing: dict[Any, bool | None] = field(default_factory=dict)
    objects: dict[Any, Any] = field(default_factory=dict)
    methods: dict[Any, tuple[Any, Any]] = field(default_factory=dict)
    implied: dict[Any, tuple[Any, ...]] = field(default_factory=dict)
    stands: dict[Any, Any] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    left: dict[str, Kind] = field(default_factory=dict)
    result: Kind = UNBOUND


def each_kind(envs: Iterable[Mapping[str, Kind]]) -> Iterator[tuple[str, Kind]]:
    """Yield the kinds that names have, each once, in order.

    Most names have the kind that they had a statement before: this is no loop over them.
    """
    seen: set[tuple[str, int]] = set()
    last: Mapping[str, Kind] = {}
    for env in envs:
        new: Iterable[tuple[str, Kind]] = env.items()
        if [*env][: len(last)] == [*last]:
            changed = map(operator.is_not, env.values(), last.values())
            new = itertools.chain(
                itertools.compress(env.items(), changed),
                itertools.islice(env.items(), len(last), None),
            )
        for n, kind in new:
            if (n, id(kind)) not in seen:
                seen.add((n, id(kind)))
                yield n, kind
        last = env


Names = frozenset[str]
NONE: Names = frozenset()
TWICE = "@twice"
"""A partner, among those that share memory, of a structure in which some may stand twice."""
STOPPED = "@stopped"
"""A partner of names that may hold memory that was reached through stop_gradient."""
STOPPED_WHOLE = "@stopped whole"
"""The same, of a structure: who has it may see what others put into it."""


@dataclass
class Activity:
    """Varied and useful names before and after every statement, and at the head of every loop.

    `cause` names, for a varied variable, the statement that first made it so, `use` for a useful
    one the last statement by which the result depends on it. `stop` names, for a variable that is
    computed from varied ones but does not vary with them, the statement that does it.
    """

    varied_before: dict[Any, Names] = field(default_factory=dict)
    varied_after: dict[Any, Names] = field(default_factory=dict)
    useful_before: dict[Any, Names] = field(default_factory=dict)
    useful_after: dict[Any, Names] = field(default_factory=dict)
    head_varied: dict[Any, Names] = field(default_factory=dict)
    head_useful: dict[Any, Names] = field(default_factory=dict)
    cause: dict[str, Any] = field(default_factory=dict)
    use: dict[str, Any] = field(default_factory=dict)
    stop: dict[str, Any] = field(default_factory=dict)

    def before(self, statement: Any) -> Names:
        """Return the names that are active before a statement."""
        return self.varied_before.get(statement, NONE) & self.useful_before.get(statement, NONE)

    def after(self, statement: Any) -> Names:
        """Return the names that are active after a statement."""
        return self.varied_after.get(statement, NONE) & self.useful_after.get(statement, NONE)

    def head(self, loop: Any) -> Names:
        """Return the names that are active whenever a loop starts a round or ends."""
        return self.head_varied.get(loop, NONE) & self.head_useful.get(loop, NONE)


STANDS_FOR = ("unordered", "copied", "listed")
"""What a plain write says of the call that it stands for: how NumPy copies there."""


@dataclass(frozen=True)
class Write:
    """One write in place: the statement, the variable through which it happens, and how.

    `how` is "item" for an array's content or a container's entry, "append" for list.append, "call"
    for an array that a user's function is given and writes by statements of its own; `owner` is
    the kind of the object that is written: writing a container's entry leaves the arrays in it
    alone.
    """

    statement: Any
    base: str
    how: str
    owner: Kind

    @property
    def in_array(self) -> bool:
        """Whether the statement writes into an array: `A[i] = v`, `A += v`, `fill(A)`."""
        s = self.statement
        if self.how == "call":
            return True
        place = s.targets[0] if isinstance(s, gast.Assign) else getattr(s, "target", None)
        return (
            isinstance(s, gast.Assign | gast.AugAssign)
            and isinstance(self.owner, Array)
            and self.how == "item"
            and isinstance(place, gast.Subscript)
            and isinstance(place.value, gast.Name)
        )

    @property
    def in_slot(self) -> bool:
        """Whether the statement puts a value into a structure: `xs[i] = v`, `obj.x = v`."""
        s = self.statement
        if not isinstance(s, gast.Assign) or self.how != "item":
            return False
        place = s.targets[0]
        if len(s.targets) != 1 or not isinstance(getattr(place, "value", None), gast.Name):
            return False
        if isinstance(place, gast.Attribute):
            return isinstance(self.owner, Obj) and plain_field(self.owner.cls, place.attr)
        if not isinstance(place, gast.Subscript):
            return False
        if isinstance(self.owner, Dict | OpenDict):
            return not isinstance(place.slice, gast.Slice)
        if not isinstance(self.owner, List):
            return False
        if isinstance(place.slice, gast.Slice):
            return is_all(place.slice)
        return not isinstance(place.slice, gast.Tuple)

    @property
    def drops(self) -> bool:
        """Whether the statement takes an entry out of a dict: `del d["a"]`."""
        s = self.statement
        if not isinstance(s, gast.Delete) or len(s.targets) != 1:
            return False
        place = s.targets[0]
        if not isinstance(place, gast.Subscript) or not isinstance(place.value, gast.Name):
            return False
        if not isinstance(self.owner, Dict) or not isinstance(place.slice, gast.Constant):
            return isinstance(self.owner, Dict | OpenDict)
        return place.slice.value in dict(self.owner.items)

    @property
    def takes(self) -> str:
        """The method that changes how many items a list has, where that can be undone."""
        value = getattr(self.statement, "value", None)
        func = getattr(value, "func", None)
        if not isinstance(func, gast.Attribute) or not isinstance(func.value, gast.Name):
            return ""
        if not isinstance(self.owner, List) or func.value.id != self.base:
            return ""
        assert value is not None
        if value.keywords or not undoable(func.attr, value.args):
            return ""
        if isinstance(self.statement, gast.Assign):
            named = isinstance(self.statement.targets[0], gast.Name)
            return func.attr if func.attr == "pop" and named else ""
        stays = isinstance(self.statement, gast.Expr) and func.attr != "pop"
        return func.attr if stays else ""

    @property
    def in_container(self) -> bool:
        """Whether the statement itself changes a structure in a way that can be undone."""
        return self.in_slot or self.drops or bool(self.takes)


def undoable(method: str, args: list[Any]) -> bool:
    """Say whether a list's method can be undone: at the end, or at a place that is told again."""
    place = not args or isinstance(args[0], gast.Name) or place_of(args[0]) is not None
    if method == "reverse":
        return not args
    if method == "append":
        return len(args) == 1
    if method == "pop":
        return len(args) < 2 and place
    return method == "insert" and len(args) == 2 and place


def surely_others(one: Kind, other: Kind) -> bool:
    """Say whether two structures cannot be the same one."""
    if isinstance(one, Dict | OpenDict) and isinstance(other, Dict | OpenDict):
        return False
    if isinstance(one, Obj | OneOf) and isinstance(other, Obj | OneOf):
        return not set(classes(one)) & set(classes(other))
    if type(one) is not type(other):
        return is_container(one) and is_container(other)
    if isinstance(one, List) and isinstance(other, List):
        inner = (one.item, other.item)
        if any(isinstance(k, Unknown | Unbound) for k in inner):
            return False
        return type(one.item) is not type(other.item)
    return False


def sets_plainly(cls: Any) -> bool:
    """Say whether objects of a class take attributes as any object does, and as namespaces do."""
    plain = (object.__setattr__, types.SimpleNamespace.__setattr__)
    return any(getattr(cls, "__setattr__", None) is fn for fn in plain)


def plain_field(cls: type, name: str) -> bool:
    """Say whether setting an attribute only puts it into the object."""
    if not sets_plainly(cls):
        return False
    static = inspect.getattr_static(cls, name, None)
    if isinstance(static, types.MemberDescriptorType):
        return True
    return not hasattr(type(static), "__set__") and "__dict__" in dir(cls)


def is_all(part: Any) -> bool:
    """Say whether a slice is `[:]`: all of a list."""
    return part.lower is None and part.upper is None and part.step is None


def place_of(node: Any) -> int | None:
    """Return a literal place in a list, which may count from the end."""
    sign = -1 if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub) else 1
    value = getattr(node.operand if sign < 0 else node, "value", None)
    return sign * value if type(value) is int else None


Steps = tuple[Any, ...]
Places = tuple[Steps, ...]
ANYWHERE: Steps = (...,)


@dataclass(frozen=True)
class Written:
    """Where in its parameters a function may write `arrays`, and change lists, dicts, objects.

    A place is a path: of attributes, keys and indices, of which None is any; an ellipsis at its end
    stands for all that is below.
    """

    arrays: Mapping[str, Places] = field(default_factory=dict)
    containers: Mapping[str, Places] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.arrays or self.containers)

    def anywhere(self, more: Names = NONE) -> Written:
        """Return the same parameters, and more with arrays: they may be written anywhere."""
        arrays, containers = (
            dict.fromkeys(names, (ANYWHERE,)) for names in ({*self.arrays, *more}, self.containers)
        )
        return Written(arrays, containers)

    def of(self, parameter: str) -> tuple[Places, Places]:
        """Return the places of a parameter: of arrays, and of containers."""
        return self.arrays.get(parameter, ()), self.containers.get(parameter, ())


@dataclass(frozen=True)
class Link:
    """A name is surely this view of another name; `owner` is the kind of that one.

    `maybe` says that it is this view or a copy, which only memory tells when the program runs;
    `fixed` that NumPy gives the view read-only. The view reads the names in `read`; `text` is
    equal for views that are written alike.
    """

    value: Any
    base: str
    owner: Kind
    read: Names
    text: Any
    maybe: bool = False
    fixed: bool = False


@dataclass
class Aliases:
    """Who shares memory with whom, before and after every statement, and what is written.

    *Pairs* are names that may share memory there; *links* are names that surely are one view of
    another name. `arrays` are the names of arrays that are written in place or share memory with
    such an array when it is written; `slots` are those of structures whose items are. `touched` are
    the names whose content a statement changes; `structures` are, for a statement that writes an
    item of a structure, the names that may hold that structure; `everywhere` are the pairs of all
    statements together;
    `made` are the names that are bound once, to a list or dict that is written out there;
    `result` is what the function's result may share memory with; `same` are the calls that bind
    a variable to the very array that it was: `A = fill(A)`.
    A name with an @ is a ghost: what a name was before it was bound anew, or on entry.
    """

    pairs_before: dict[Any, Mapping[str, Names]] = field(default_factory=dict)
    pairs_after: dict[Any, Mapping[str, Names]] = field(default_factory=dict)
    everywhere: Mapping[str, Names] = field(default_factory=dict)
    links_before: dict[Any, dict[str, Link]] = field(default_factory=dict)
    links_after: dict[Any, dict[str, Link]] = field(default_factory=dict)
    ghosts: dict[tuple[Any, str], str] = field(default_factory=dict)
    calls: dict[Any, str] = field(default_factory=dict)
    live_after: dict[Any, Names] = field(default_factory=dict)
    writes: tuple[Write, ...] = ()
    touched: dict[Any, Names] = field(default_factory=dict)
    arrays: Names = NONE
    slots: Names = NONE
    made: Names = NONE
    structures: dict[Any, Names] = field(default_factory=dict)
    result: Names = NONE
    same: frozenset[Any] = NONE

    def sharing(self, statement: Any, name: str) -> Names:
        """Return the names, ghosts included, that may share a name's memory before a statement."""
        return self.pairs_before.get(statement, {}).get(name, NONE) | {name}

    def partners(self, statement: Any, name: str) -> Names:
        """Return the names read later whose memory a write through a name changes, and itself."""
        live = self.live_after.get(statement, NONE)
        shared = self.sharing(statement, name) & live
        if statement in self.structures:
            shared &= self.structures[statement]
        return shared | {name}

    def ghosts_of(self, name: str, statement: Any) -> Names:
        """Return what stands for the memory of what a name was before a statement bound it.

        Where nobody knows: of all it ever was. Arrays and structures alone have ghosts.
        """
        if (statement, name) in self.ghosts:
            return frozenset({self.ghosts[statement, name]})
        return frozenset(g for (_, n), g in self.ghosts.items() if n == name)

    def writers(self) -> dict[Any, Names]:
        """Return the calls that write arrays they are given, with all that shares their memory."""
        calls = {w.statement for w in self.writes if w.how == "call"}
        return {s: names for s, names in self.touched.items() if s in calls}

    def arguments(self, write: Write) -> Names:
        """Return the parameters whose memory, as given, a write may change.

        A list or dict that the function makes is part of no argument where the function stores
        nothing in arguments, also where it holds what they hold.
        """
        found = self._given(write)
        if not found or not self._of_made(write):
            return found
        others = (w for w in self.writes if not w.in_array and not self._of_made(w))
        return found if any(map(self._given, others)) else NONE

    def _given(self, write: Write) -> Names:
        shared = self.sharing(write.statement, write.base)
        return frozenset(n.removesuffix("@arg") for n in shared if n.endswith("@arg"))

    def _of_made(self, write: Write) -> bool:
        """Say whether a write changes a list or dict that the function makes, and no part of it."""
        s = write.statement
        if write.base not in self.made or write.in_array:
            return False
        if any(w is not write and w.statement is s and w.base == write.base for w in self.writes):
            return False
        place = s.targets[0] if isinstance(s, gast.Assign) else None
        func = s.value.func if isinstance(getattr(s, "value", None), gast.Call) else None
        whole = (getattr(place, "value", None), getattr(func, "value", None))
        return any(isinstance(n, gast.Name) and n.id == write.base for n in whole)

    def ever(self, name: str) -> Names:
        """Return the names that may share a name's memory anywhere."""
        return self.everywhere.get(name, NONE) | {name}


@dataclass(frozen=True)
class Text:
    """A derived module: its text, the entry function, and what the functions in it see.

    `origins` say where the user's source has what it calls, where that may raise something.
    """

    text: str
    entry: str
    namespaces: Mapping[str, dict[str, object]]
    cells: Mapping[str, Mapping[str, object]]
    imports: Mapping[str, str] = field(default_factory=dict)
    origins: tuple[Any, ...] = ()
