"""What `explain` gives: per variable whether it is active and saved, and by which lines.

The facts are the Stories of a derivation; here they are put into the user's words and lines, and
what polishing has dropped since is left out.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.causes import Kept, Story
from s2sad.errors import Place, shown_file
from s2sad.facts.kinds_by_name import name_kinds
from s2sad.known.signature import values_of
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    name,
    names_read,
    names_written,
    ordered,
    substitute,
    walk,
)
from s2sad.stages import Comment
from s2sad.steps.derivation import Analysed, Derivation
from s2sad.steps.roles import names_of_user
from s2sad.syntax.decided import is_word
from s2sad.write.printer import expression


@dataclass(frozen=True)
class Line:
    """A line of the user's source."""

    file: str
    number: int
    text: str

    def __str__(self) -> str:
        return f"line {self.number}"


@dataclass(frozen=True)
class Saved:
    """One value that the forward sweep keeps: what, where, why, and how much memory that takes.

    Which line is `overwriting` it is decided as the function runs; `overwritten_by` is the first.

    Measured with the example arguments: `times` says how often it was kept, `rounds` how many the
    loop around had where it lies on a list (`taped`), `bytes` the size of the numbers in all,
    without what Python needs besides.
    """

    value: str
    where: str
    taped: bool
    why: str
    read_by: tuple[Line, ...] = ()
    overwriting: tuple[Line, ...] = ()
    times: int | None = None
    rounds: int | None = None
    bytes: int | None = None

    @property
    def overwritten_by(self) -> Line | None:
        """The line that overwrites the value, if one does."""
        return self.overwriting[0] if self.overwriting else None

    @property
    def bytes_per_iteration(self) -> int | None:
        """The bytes of one round, on average; of a called function, those of one call."""
        if self.bytes is None or not (self.rounds or self.times):
            return None
        if self.rounds is None and self.times == 1:
            return None
        return round(self.bytes / (self.rounds or self.times or 1))


@dataclass(frozen=True)
class Variable:
    """A variable of one function, and what became of it.

    What has no name in the user's source has an `expression` instead, or is `made_up`.
    """

    name: str
    function: str
    line: Line | None
    kind: str
    active: bool
    why: str
    cause: Line | None = None
    used_by: Line | None = None
    saved: bool = False
    why_saved: str = ""
    saves: tuple[Saved, ...] = ()
    read_by: tuple[Line, ...] = ()
    expression: str = ""
    made_up: bool = False

    @property
    def bytes_per_iteration(self) -> int | None:
        """The bytes that one round keeps of it, on average."""
        return _sum(s.bytes_per_iteration for s in self.saves)

    @property
    def bytes(self) -> int | None:
        """The bytes that are kept of it in all."""
        return _sum(s.bytes for s in self.saves)


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [n for n in numbers if n is not None]
    return sum(known) if known else None


@dataclass(frozen=True)
class Explained:
    """One function of the user's, as derived for one pattern of kinds and activities."""

    name: str
    file: str
    line: int
    derived: tuple[str, ...]
    wrt: tuple[str, ...]
    variables: tuple[Variable, ...]

    @property
    def bytes(self) -> int | None:
        """The bytes that its forward sweep keeps in all."""
        return _sum(v.bytes for v in self.variables)


@dataclass(frozen=True, repr=False)
class Report:
    """What was derived of a function and of those it calls; `str()` gives it as text.

    `report["h"]` is the variable h, of the function itself if it has one. `bytes` is what is kept
    for the backward sweep in all, where an array that is kept twice counts once. `unmeasured` says
    why there are no sizes: no example arguments, or what the run with them raised. A derivative
    that kinds do not decide holds for the `values` that it was derived for.
    """

    functions: tuple[Explained, ...]
    bytes: int | None = None
    unmeasured: str = ""
    values: tuple[str, ...] = ()
    _page: Callable[[], str] | None = field(default=None, compare=False)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables: those of the function itself, then those of the functions it calls."""
        return tuple(v for f in self.functions for v in f.variables)

    def __getitem__(self, name: str) -> Variable:
        for v in self.variables:
            if v.name == name:
                return v
        known = ", ".join(dict.fromkeys(v.name for v in self.variables))
        raise KeyError(f"{name!r} is not a variable here; the variables are {known}")

    def __str__(self) -> str:
        parts = ["\n".join(_told(f)) for f in self.functions] + _totals(self)
        values = [f"derived for {', '.join(self.values)}"] if self.values else []
        return "\n\n".join(parts + values) + "\n"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return the page that `s2sad view` writes, for a notebook; or else the text."""
        return f"<pre>{html.escape(str(self))}</pre>" if self._page is None else self._page()

    def __reduce__(self) -> Any:
        return Report, (self.functions, self.bytes, self.unmeasured, self.values)


def report_of(d: Derivation) -> Report:
    """Return what a derivation decided, for the entry and all functions it calls."""
    groups: dict[str, list[str]] = {}
    forwards = {reverse: forward for forward, reverse in d.reverses.items()}
    for node in d.functions:
        if node.name in d.stories:
            groups.setdefault(forwards.get(node.name, node.name), []).append(node.name)
    again = run_again(d)
    told = [_Teller(d, tuple(names), again).explained() for names in groups.values()]
    told.sort(key=lambda f: d.entry not in f.derived)
    return Report(tuple(told), values=tuple(_values(d)) if d.by_value else ())


def _values(d: Derivation) -> Iterator[str]:
    """Yield what a derivative by value holds for: `mode == "full"`."""
    entry = next((a for a in d.analysed.values() if a.scope.fn is d.home), None)
    if entry is not None:
        env = entry.kinds.before[entry.function.node.body[0]]
        words = ((p, env.get(p, K.UNKNOWN)) for p in entry.function.params)
        yield from (f"{p} == {k.value!r}" for p, k in words if is_word(k))
    seen = {path: value for own in d.seen.values() for path, value in own.items()}
    seen |= {f"{owner.__name__}.{n}": v for (owner, n), v in d.members.items()}
    for path, value in sorted(seen.items()):
        if not K.is_function(value) and values_of(value) is not None:
            yield f"{path} == {value!r}" if isinstance(value, str | int) else f"what {path} holds"


# --- one function --------------------------------------------------------------------------------


class _Teller:
    """Tells of one user's function what was decided, as its one or two derived functions say."""

    def __init__(self, d: Derivation, names: tuple[str, ...], again: frozenset[str]) -> None:
        self.d = d
        self.again_only = again
        self.names = names
        nodes = {f.name: f for f in d.functions}
        self.forward, self.backward = nodes[names[0]], nodes[names[-1]]
        self.a, self.story = d.stories[names[0]]
        self.later = d.stories[names[-1]][1]
        self.kinds = name_kinds(self.a.kinds)
        self.homes = _homes(self.a)
        self.made = _made_in(self.forward)
        self.by_user = names_of_user(self.a)
        self.origins = origins_of(self.a)
        self.active = active_names(self.story)
        places = places_kept(self.forward, self.story)
        self.texts = {k: self.shown(k, _at(owner, at)) for k, owner, at in places}

    def explained(self) -> Explained:
        source: Any = self.a.function.source
        place = source.place(source.node)
        wrt = self.story.wrt
        found = (*self.users(), *self.temporaries())
        return Explained(_name(source), place.file, place.line, self.names, wrt, tuple(found))

    def shown(self, k: Kept, value: Node) -> str:
        """Return the expression that is kept: of a copy what is copied, not the copy's name."""
        if isinstance(value, gast.Name) and value.id != k.variable:
            made = self.made.get(value.id)
            if made is not None and not isinstance(made, gast.Name):
                value = made if names_read(made) == {k.variable} else value
        return expression(value)

    def users(self) -> Iterator[Variable]:
        """Yield the variables that the user wrote."""
        function = self.a.function
        bound = first_bindings(function.node.body)
        listed = dict.fromkeys([*function.params, *bound])
        written = {n.id for n in walk(function.source.node) if isinstance(n, gast.Name)}
        hidden = function.temps | ({function.result} - written)
        for n in listed:
            if n in function.locals and n not in hidden:
                found = self.variable(n, self.line(bound.get(n, function.source.node)))
                at = self.origins.get(bound.get(n))
                if n in written or found.saved or not getattr(at, "returns", False):
                    yield found

    def variable(self, n: str, line: Line | None) -> Variable:
        active, why, cause, used = self.activity(n)
        saves, why_saved, read_by = self.savings(n)
        return Variable(
            n,
            _name(self.a.function.source),
            line,
            self.described(n),
            active,
            why,
            cause,
            used,
            bool(saves),
            why_saved,
            saves,
            read_by,
        )

    def temporaries(self) -> Iterator[Variable]:
        """Yield what has no name in the user's source and is kept, or read by the backward sweep.

        Names are those of the derived text.
        """
        known = self.a.function.locals - self.a.function.temps
        kept = [k.variable for k in self.kept()]
        for n in dict.fromkeys([*kept, *self.handed(), *self.read_later()]):
            old = self.story.names.get(n, self.later.names.get(n, n))
            if old in known and old != self.a.function.result:
                continue
            saves, why_saved, read_by = self.savings(n)
            text = self.spelled(n, old)
            if not saves and not text:
                continue
            line = self.line(self.bound_at(old))
            active = bool(text) and old in self.active
            why = f"it is {text}" if text else "it is made up for the backward sweep"
            yield Variable(
                n,
                _name(self.a.function.source),
                line,
                self.described(old) if text else "",
                active,
                why,
                saved=bool(saves),
                why_saved=why_saved,
                saves=saves,
                read_by=read_by,
                expression=text,
                made_up=not text,
            )

    def made_up(self, n: str) -> str:
        """Say what a name holds that derived text has besides values of the user's program."""
        if n in self.story.calls:
            return f"it is what the call of {self.line(self.story.calls[n])} keeps"
        if n not in self.story.notes:
            return ""
        words = {
            "arm": "it says which way {} went",
            "rounds": "it says how many rounds the loop of {} ran",
            "bound": "it is what {} loops over, which changes",
        }
        note = self.story.notes[n]
        return words[note.about].format(self.line(note.statement))

    def described(self, n: str) -> str:
        kind = self.kinds.get(n)
        if isinstance(kind, K.LocalFunction | K.Known):
            return "a function" if callable(getattr(kind, "value", len)) else "a constant"
        return "" if kind is None else K.describe(kind)

    # activity

    def activity(self, n: str) -> tuple[bool, str, Line | None, Line | None]:
        """Return whether a variable is active, why, and by which lines."""
        facts, wrt = self.story.activity, self.story.wrt
        used = self.line(facts.use.get(n))
        also = f"; the result depends on it by {used}" if used is not None else ""
        if n in wrt:
            call = self.d.called.get(self.names[-1])
            why, cause = "it is differentiated", None
            if call is not None:
                cause = _line(*call)
                why = f"{cause} of {_name(call[0].function.source)} gives it what is differentiated"
            if n in self.active:
                return True, why + also, cause, used
            return False, f"{why}, but the result does not depend on it", cause, None
        cause = self.line(facts.cause.get(n))
        depends = f"{cause} makes it depend on {_listed(wrt)}"
        if n in self.active:
            return True, depends + also, cause, used
        if cause is not None:
            return False, f"{depends}, but the result does not depend on it", cause, None
        stop = self.line(facts.stop.get(n))
        kind = self.kinds.get(n, K.UNKNOWN)
        if not K.differentiable(kind):
            return False, f"{self.described(n) or 'it'} carries no derivative", stop, None
        if stop is not None:
            why = f"{stop} computes it from {_listed(wrt)}, but with derivative zero"
            return False, why, stop, None
        return False, f"it does not depend on {_listed(wrt)}", None, None

    # what is saved

    def savings(self, n: str) -> tuple[tuple[Saved, ...], str, tuple[Line, ...]]:
        """Return what is kept of a variable, why (or why not), and who reads it."""
        saves = [self.saved(k) for k in self.kept() if k.variable == n]
        handed = [m for m in self.handed() if self.holds(m, n, self.story)]
        saves += [self.returned(m) for m in handed if not any(k.holder == m for k in self.kept())]
        reading = [m for m in self.read_later() if self.holds(m, n, self.later)]
        later = self.lines(s for m in reading for s in self.later.reads[m])
        if saves:
            whys = dict.fromkeys(s.why for s in saves)
            if later and not handed:
                whys[f"{_read_for(later)}, with its last value"] = None
            reads = dict.fromkeys([*(line for s in saves for line in s.read_by), *later])
            return tuple(saves), "; ".join(whys), tuple(reads)
        if not reading:
            return (), "the backward sweep does not read it", ()
        return (), f"{_read_for(later)}, and nothing has changed it by then", later

    def holds(self, word: str, n: str, story: Story) -> bool:
        """Say whether a name in the derived text stands for a variable."""
        return word == n or (n in self.by_user and story.names.get(word) == n)

    def saved(self, k: Kept) -> Saved:
        read_by, over = self.lines(k.readers), self.lines(k.over)
        where = f"on the list {k.holder}" if k.taped else f"as {k.holder}"
        why = self.reason(k, read_by, over)
        return Saved(self.texts[k], where, k.taped, why, read_by, over)

    def reason(self, k: Kept, read_by: tuple[Line, ...], over: tuple[Line, ...]) -> str:
        known = self.made_up(k.variable)
        if known:
            return known
        end = "the next round binds it anew" if k.taped else "it is bound anew on another path"
        end = f"{' or '.join(map(str, over))} overwrites it" if over else end
        return f"{_read_for(read_by)}, and {end}"

    def returned(self, n: str) -> Saved:
        read_by = self.lines(self.later.reads.get(self.renamed(n), ()))
        name = _name(self.a.function.source)
        why = f"{_read_for(read_by)}, when {name} has returned"
        if self.names[0] in self.again_only:
            why = f"{_read_for(read_by)}, when {name} has been run again for that"
        why = self.made_up(n) or why
        return Saved(n, "returned beside the value", False, why, read_by)

    def kept(self) -> tuple[Kept, ...]:
        """Return what the derived text still keeps."""
        return tuple(self.texts)

    def handed(self) -> tuple[str, ...]:
        lists = {k.holder for k in self.story.kept}
        return tuple(n for n in self.story.handed if n not in lists and n not in self.story.calls)

    def renamed(self, n: str) -> str:
        """Return the name in the reverse of what has a name in the forward."""
        return dict(zip(self.story.handed, self.later.handed, strict=True)).get(n, n)

    def read_later(self) -> frozenset[str]:
        """Return the variables that the backward sweep reads, and did not make itself."""
        if self.later.settled:
            return frozenset(self.later.reads)
        block = backward_part(self.backward)
        read = set().union(*(names_read(s) for s in block), set())
        return frozenset(read & self.later.reads.keys())

    # lines and words

    def line(self, statement: Any) -> Line | None:
        return None if statement is None else _line(self.a, self.origins.get(statement, statement))

    def lines(self, statements: Iterable[Any]) -> tuple[Line, ...]:
        found = {line: None for s in statements if (line := self.line(s)) is not None}
        return tuple(sorted(found, key=lambda x: (x.file, x.number)))

    def bound_at(self, n: str) -> Any:
        if n in self.story.calls:
            return self.story.calls[n]
        return first_bindings(self.a.function.node.body).get(n)

    def spelled(self, n: str, old: str) -> str:
        """Return the expression that a temporary holds."""
        if n in self.story.notes or n in self.story.calls or old not in self.homes:
            if old == self.a.function.result:
                return "what is returned"
            told = {**self.story.notes, **self.story.calls}
            made = self.made.get(n) if self.story.settled and n not in told else None
            return "" if made is None else expression(made)
        node = self.homes[old]
        for _ in range(8):
            inner = {m: self.homes[m] for m in names_read(node) if m in self.homes and m != old}
            if not inner:
                break
            node = substitute(node, inner)
        return expression(node)


def _name(source: Any) -> str:
    return str(source.name)


def _line(a: Analysed, statement: Any) -> Line:
    """Return the line of a user's statement, in whatever function it stands."""
    home = getattr(statement, "home", a.function.source)
    place: Place = home.place(statement)
    return Line(place.file, place.line, place.text.strip())


def origins_of(a: Analysed) -> dict[Any, Any]:
    """Return the user's statement of each normalised one, loops' bindings included."""
    origins = dict(a.function.origins)
    for loop, plan in a.function.loops.items():
        origins |= {b: origins.get(loop, loop) for b in plan.bindings}
    return origins


def _homes(a: Analysed) -> dict[str, Node]:
    """Return what each temporary is computed from."""
    plain = (s for s in all_inside(a.function.node.body) if isinstance(s, gast.Assign))
    bound = ((s.targets[0], s.value) for s in plain)
    temps = a.function.temps
    return {t.id: v for t, v in bound if isinstance(t, gast.Name) and t.id in temps}


def _made_in(derived: Node) -> dict[str, Node]:
    """Return what each name is given that a derived function binds once."""
    bound: dict[str, list[Node]] = {}
    for s in all_inside(derived.body):
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            bound.setdefault(s.targets[0].id, []).append(s.value)
    return {n: values[0] for n, values in bound.items() if len(values) == 1}


def active_names(story: Story) -> frozenset[str]:
    """Return the variables that are active anywhere in a function."""
    facts = story.activity
    found: frozenset[str] = frozenset()
    for s in facts.varied_before:
        found |= facts.before(s) | facts.after(s)
    return found


def first_bindings(body: Block) -> dict[str, Any]:
    """Return the statement that binds each name first, in the order of the text."""
    found: dict[str, Any] = {}
    for s in all_inside(body):
        for n in sorted(set().union(*map(names_written, _binding(s)), set())):
            found.setdefault(n, s)
    return found


def _binding(s: Node) -> list[Node]:
    """Return what of a statement binds names itself, before its blocks do."""
    if isinstance(s, gast.For):
        return [s.target]
    if isinstance(s, gast.With):
        return list(s.items)
    if isinstance(s, gast.Match):
        return [c.pattern for c in s.cases]
    return [] if hasattr(s, "body") and not isinstance(s, gast.FunctionDef) else [s]


def backward_part(node: Node) -> Block:
    """Return the backward sweep in a derived function: a pullback, or what follows the gap."""
    for s in node.body:
        if isinstance(s, gast.FunctionDef):
            return list(s.body)
    for at, s in enumerate(node.body):
        if isinstance(s, Comment):
            return list(node.body[at:])
    return list(node.body)


def run_again(d: Derivation) -> frozenset[str]:
    """Return the forward functions that run in backward sweeps alone: calls that are checkpoints.

    What they keep is there for one call at a time.
    """
    reverses = d.reverses
    callers: dict[str, set[str]] = {}
    for f in d.functions:
        calls = [n for n in walk(f) if isinstance(n, gast.Call)]
        inside = {
            m
            for n in calls
            for arg in n.args
            for m in walk(arg)
            if isinstance(m, gast.Call) and _called(n) == reverses.get(_called(m), "")
        }
        for n in calls:
            if _called(n) in reverses:
                callers.setdefault(_called(n), set()).add("" if n in inside else f.name)
    again: set[str] = set()
    while True:
        more = {n for n, found in callers.items() if found <= again | {""} and n not in again}
        if not more:
            return frozenset(again)
        again |= more


def _called(node: Node) -> str:
    return node.func.id if isinstance(node.func, gast.Name) else "?"


# --- what is still kept --------------------------------------------------------------------------


def pushes_in(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield what a derived function puts on lists: the list's name, and the call that does it."""
    for n in ordered(node):
        if isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute):
            owner = n.func.value
            if n.func.attr == "append" and isinstance(owner, gast.Name) and len(n.args) == 1:
                yield owner.id, n


def _at(owner: Any, at: Any) -> Node:
    return owner[at] if isinstance(owner, list) else getattr(owner, at)


def places_kept(node: Node, story: Story) -> list[tuple[Kept, Any, Any]]:
    """Return what is kept, each with the node that holds the value and its place there.

    The place is an index into a tuple or a list of arguments, or the name of a field. What a name
    keeps that no assignment gives alone, as a parameter, has a node that is not in the function.
    """
    found: dict[Kept, tuple[Any, Any]] = {}
    groups: dict[int, list[Kept]] = {}
    for k in story.kept:
        groups.setdefault(k.group[0], []).append(k)
    for holder, push in pushes_in(node):
        value = push.args[0]
        listed = [g for g in groups.values() if g[0].taped and g[0].holder == holder]
        own = max(
            (g for g in listed if _fits(g, value)), key=lambda g: _alike(g, value), default=[]
        )
        parts = value.elts if _size(own) > 1 else push.args
        found |= {k: (parts, k.group[1]) for k in own}
        groups = {number: g for number, g in groups.items() if g is not own}
    for s in walk(node):
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            named = s.targets[0].id
            found |= {k: (s, "value") for k in story.kept if not k.taped and k.holder == named}
    for k in story.kept if story.settled else ():
        if not k.taped and k not in found:
            found[k] = (assign(k.holder, name(k.holder)), "value")
    return [(k, *found[k]) for k in story.kept if k in found]


def _size(group: list[Kept]) -> int:
    return max((k.size for k in group), default=0) or len(group)


def _fits(group: list[Kept], value: Node) -> bool:
    size = _size(group)
    return size == 1 or (isinstance(value, gast.Tuple) and len(value.elts) == size)


def _alike(group: list[Kept], value: Node) -> int:
    """Say how many of the values of a group an expression on a list names."""
    parts = value.elts if _size(group) > 1 else [value]
    reads = [(k, names_read(parts[k.group[1]])) for k in group]
    return sum(2 * (k.item in read) + (k.variable in read) for k, read in reads)


# --- text ----------------------------------------------------------------------------------------


def _told(f: Explained) -> Iterator[str]:
    where = f"{shown_file(f.file)}:{f.line}"
    yield f"{f.name} ({where}), with respect to {_listed(f.wrt)}"
    yield f"derived: {', '.join(f.derived)}"
    for v in f.variables:
        yield ""
        yield from (f"  {line}" for line in _of_variable(v))


def _of_variable(v: Variable) -> Iterator[str]:
    yield f"{v.name}: {v.kind}" if v.kind else v.name
    yield f"    {'active' if v.active else 'not active'}: {v.why}"
    size = f", {_sizes(v)}" if v.bytes is not None else ""
    reasons = v.why_saved.split("; ")
    if len(reasons) == 1:
        yield f"    {'saved' if v.saved else 'not saved'}{size}: {v.why_saved}"
    else:
        yield f"    {'saved' if v.saved else 'not saved'}{size}:"
        yield from (f"        {reason}" for reason in reasons)
    shown = dict.fromkeys(x for x in (v.cause, v.used_by, *v.read_by) if x is not None)
    shown |= dict.fromkeys(line for s in v.saves for line in s.overwriting)
    for line in sorted(shown, key=lambda x: (x.file, x.number)):
        yield f"        {line.number:4} | {line.text}"


def _sizes(v: Variable) -> str:
    whole = _bytes(v.bytes or 0)
    rounds = {s.rounds for s in v.saves if s.rounds}
    calls = {s.times for s in v.saves if not s.rounds}
    one = _bytes(v.bytes_per_iteration or 0)
    if len(rounds) == 1 and not calls:
        return f"{one} a round, {rounds.pop()} rounds, {whole} in all"
    if calls not in ({1}, {0}) and len(calls) == 1 and not rounds:
        return f"{one} a call, {calls.pop()} calls, {whole} in all"
    return whole


def _totals(report: Report) -> list[str]:
    if report.unmeasured:
        return [f"no sizes: {report.unmeasured}"]
    return [f"kept for the backward sweep in all: {_bytes(report.bytes or 0)}"]


def _bytes(count: int) -> str:
    if count == 1:
        return "1 byte"
    return f"{count:,} bytes".replace(",", " ")


def _read_for(lines: tuple[Line, ...]) -> str:
    if not lines:
        return "the backward sweep reads it"
    numbers = _listed(tuple(dict.fromkeys(str(x.number) for x in lines)))
    return f"the backward sweep reads it for line{'s' if len(lines) > 1 else ''} {numbers}"


def _listed(names: Iterable[str]) -> str:
    *first, last = names or ("nothing",)
    return f"{', '.join(first)} and {last}" if first else last


@dataclass(frozen=True)
class Size:
    """What was measured of one value kept: how often, in how many rounds, and the bytes."""

    times: int
    rounds: int | None
    bytes: int


def with_sizes(report: Report, sizes: Mapping[tuple[str, str, int], Size], whole: int) -> Report:
    """Return a report with what was measured, of each value and of the whole.

    The keys are the forward function, the variable, and which of its values.
    """

    def measured(f: Explained, v: Variable) -> Variable:
        saves = []
        for i, s in enumerate(v.saves):
            size = sizes.get((f.derived[0], v.name, i))
            if size is not None:
                s = replace(s, times=size.times, rounds=size.rounds, bytes=size.bytes)
            saves.append(s)
        return replace(v, saves=tuple(saves))

    functions = tuple(
        replace(f, variables=tuple(measured(f, v) for v in f.variables)) for f in report.functions
    )
    return replace(report, functions=functions, bytes=whole)
