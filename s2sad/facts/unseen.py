"""Refuse what may reach active variables out of sight: classes made here, eval, calls of unknowns.

def f(x):
    class Model:                             what m() computes depends on x, and nobody sees how
        def m(self): return x[0] ** 2
    return Model().m() + eval("x[1]")        nor what a text reads
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import Error, UnsupportedError
from s2sad.facts.memory import Memory, rebound, root, shares_nothing
from s2sad.facts.mistakes import full_name
from s2sad.facts.operators import gives_derivative
from s2sad.facts.read_back import check_read_back
from s2sad.nodes import all_inside, blocks_of, names_read, walk
from s2sad.stages import Activity, Function, KindFacts, Names
from s2sad.syntax.flow import free_names

_READERS: tuple[Any, ...] = (eval, exec, locals, globals)
_PASS = (
    "Pass what it needs as arguments of a function, or of an object whose class is "
    "defined at module level."
)


def check_unseen_reads(
    function: Function, kinds: KindFacts, activity: Activity, memory: Memory
) -> None:
    """Raise where something active may be read or written by what cannot be read itself."""
    check_read_back(function, kinds, activity)
    _by_name(function, kinds, activity)
    _captured(function, kinds, activity, memory)
    _filled(function, kinds, activity, memory)


def _by_name(function: Function, kinds: KindFacts, activity: Activity) -> None:
    """`eval`, `exec` and `locals` read variables by names that stand nowhere."""
    for s in all_inside(function.node.body):
        if not activity.varied_before.get(s):
            continue
        for n in () if blocks_of(s) else walk(s):
            fn = kinds.objects.get(n.func) if isinstance(n, gast.Call) else None
            if fn is type and len(n.args) > 1:
                reason = (
                    "This call makes a class; s2sad cannot follow what the class does "
                    "with the differentiated values."
                )
            elif fn in _READERS or (fn in (vars, dir) and not n.args):
                if fn in (eval, exec) and len(n.args) > 1:
                    continue  # it reads what it is given
                name = getattr(fn, "__name__", "")
                reason = (
                    f"`{name}` may read or write any variable; s2sad cannot follow what it "
                    "does with the differentiated values."
                )
            elif registry.effects_of(fn).does == "frames":
                reason = (
                    f"`{full_name(fn)}` looks at the calls that are running, and those of derived "
                    "code have other names and other variables."
                )
            else:
                continue
            raise _refusal(function, s, reason, "Name the variables or attributes themselves.", n)


def _captured(function: Function, kinds: KindFacts, activity: Activity, memory: Memory) -> None:
    """A class made here, or a function given to what cannot be read, may do all it has at hand."""
    varied = set[str]().union(*activity.varied_before.values())
    useful = set[str]().union(*activity.useful_after.values())
    for hidden in _hidden(function, kinds, memory) if varied else ():
        env = kinds.after.get(hidden.statement, {})
        lasting = {n for n in useful if not shares_nothing(env.get(n, K.UNKNOWN))}
        hit = hidden.taken & function.locals & (varied | lasting)
        hit |= hidden.rebound & function.locals & useful
        if hit and registry.is_refused(hidden.called):
            label = full_name(hidden.called)
            raise _refusal(function, hidden.statement, *registry.missing(hidden.called, label))
        if hit:
            raise _refusal(
                function,
                hidden.statement,
                f"The result depends on `{min(hit)}`, and {hidden.what} may read or change "
                f"it; s2sad cannot follow what happens to `{min(hit)}` there.",
                _PASS,
            )


@dataclass(frozen=True)
class _Hidden:
    """What cannot be followed, the variables that it has at hand, and those it may bind anew."""

    statement: Any
    what: str
    taken: Names
    rebound: Names
    called: Any = None


def _hidden(function: Function, kinds: KindFacts, memory: Memory) -> Iterator[_Hidden]:
    for s in all_inside(function.node.body):
        if isinstance(s, gast.ClassDef):
            what = f"the class {s.name}, which is defined in the function,"
            yield _Hidden(s, what, frozenset(_taken(s)), frozenset(rebound(s)))
    for s, call, _ in memory.opaque:
        if gives_derivative(kinds.objects.get(getattr(call, "func", None))):
            continue  # what is done with the derivative is seen where that is called
        if _is_kept(call, function, kinds):
            for inner in (n for part in function.node.body for n in walk(part)):
                if isinstance(inner, gast.FunctionDef | gast.Lambda):
                    what = (
                        "the function that is called here (it may be made from an inner function)"
                    )
                    yield _Hidden(s, what, frozenset(free_names(inner)), frozenset(rebound(inner)))
        args = [*getattr(call, "args", ()), *(k.value for k in getattr(call, "keywords", ()))]
        for given in (n for a in args for n in walk(a)):
            kind = kinds.of.get(given)
            if isinstance(kind, K.LocalFunction):
                what = "an inner function that is passed to a function without readable source"
                names, changed = frozenset(kind.variables), frozenset(rebound(kind.node))
                fn = kinds.objects.get(getattr(call, "func", None))
                yield _Hidden(s, what, names, changed, fn)


def _is_kept(call: Any, function: Function, kinds: KindFacts) -> bool:
    """Say whether what is called has been made here, by what cannot be read."""
    if not isinstance(call, gast.Call) or root(call.func) not in function.locals:
        return False
    known = K.Known | K.LocalFunction | K.Choice
    return isinstance(call.func, gast.Name) and not isinstance(kinds.of.get(call.func), known)


def _taken(s: Any) -> set[str]:
    """Return the names that a class statement and its methods take from around them."""
    found: set[str] = set()
    for part in [*s.bases, *s.keywords, *s.decorator_list]:
        found |= names_read(part)
    for part in s.body:
        if isinstance(part, gast.FunctionDef):
            found |= free_names(part)
            found |= set[str]().union(*(names_read(d) for d in part.decorator_list))
        else:
            found |= _taken(part) if isinstance(part, gast.ClassDef) else names_read(part)
    return found


def _filled(function: Function, kinds: KindFacts, activity: Activity, memory: Memory) -> None:
    """What an empty list or dict gets where it is handed to the unknown is of no kind."""
    written = [(w.statement, getattr(w.statement, "value", None)) for w in memory.writes]
    written = [(s, c) for s, c in written if _is_written_form(c, kinds)]
    for s, call in [*((s, call) for s, call, _ in memory.opaque), *written]:
        env = kinds.before.get(s, {})
        given = [*getattr(call, "args", ()), *(k.value for k in getattr(call, "keywords", ()))]
        empty = [
            a
            for a in given
            if K.is_empty(env.get(getattr(a, "id", ""), kinds.of.get(a, K.UNKNOWN)))
        ]
        called = kinds.objects.get(getattr(call, "func", None))
        if empty and registry.is_refused(called):
            reason, advice = registry.missing(called, full_name(called))
            raise _refusal(function, s, reason, advice, call)
        if empty and names_read(call) & activity.varied_before.get(s, frozenset()):
            raise _refusal(
                function,
                s,
                "An empty list or dict is passed to a function that may put differentiated "
                "values into it: the function has no derivative rule and no readable source.",
                "Fill it in this function: by append, or by setting items.",
                call,
            )


def _is_written_form(call: Any, kinds: KindFacts) -> bool:
    """Say whether a call stands for Python that was not put in its place: kinds know no effect."""
    fn = kinds.objects.get(call.func) if isinstance(call, gast.Call) else None
    return fn is not None and registry.written_form(fn) is not None


def check_stored(function: Function, kinds: KindFacts, activity: Activity, memory: Memory) -> None:
    """Raise where what nobody knows may hold a structure, and store in it what is differentiated.

    keep = settings.__setitem__
    keep("rate", x[0])                       # settings: a dict of integers, as far as can be seen
    """
    through = [(w.statement, frozenset({w.base})) for w in memory.writes if w.how != "rebind"]
    through += [(s, given) for s, _, given in memory.opaque]
    for s, bases in through:
        before = kinds.before.get(s, {})
        kinds_of = {n: before.get(n, K.UNKNOWN) for n in bases}
        holders = {
            n
            for n, k in kinds_of.items()
            if not (K.is_container(k) or isinstance(k, K.Array) or shares_nothing(k))
        }
        if not names_read(s) & activity.varied_before.get(s, frozenset()):
            continue
        shared = frozenset[str]().union(*(memory.aliases.sharing(s, n) for n in holders))
        live = memory.aliases.live_after.get(s, frozenset())
        for n in sorted(shared & live & function.locals - holders):
            kind = before.get(n, K.UNBOUND)
            constant = isinstance(kind, K.Obj) or not K.differentiable(kind) or K.is_empty(kind)
            if K.is_container(kind) and constant:
                raise _refusal(
                    function,
                    s,
                    f"A differentiated value may be stored in `{n}` here, through a value "
                    "that s2sad knows nothing about.",
                    f"Store it by a statement that names `{n}`: {n}[i] = ...",
                )


def _refusal(
    function: Function, statement: Any, reason: str, remedy: str, node: Any = None
) -> Error:
    origin = function.origins.get(statement, statement)
    at = node if node is not None and getattr(node, "lineno", None) is not None else origin
    return UnsupportedError(reason, remedy=remedy, place=function.source.place(at))
