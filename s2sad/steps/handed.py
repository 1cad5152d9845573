"""Functions that the user hands to a library: derived as functions that give value and pullback.

    sol = root(residual, x0, args=(theta,))     pull_root(x_bar, sol, residual_vjp, x0, (theta,))

    def residual_vjp(x, theta):
        ...
        def pullback(value_bar):
            ...
            return x_bar, theta_bar, ()
        return value, pullback

The pullback gives a cotangent for each argument, and in the last place those of what the function
captures. It is called as often as the rule likes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.capture.read import unwrap
from s2sad.errors import Error, MissingRuleError, UnsupportedError
from s2sad.facts.fence import outside_of
from s2sad.kinds import Kind
from s2sad.modes.assemble import Parts, vjp
from s2sad.modes.guarded import Site
from s2sad.modes.handed import Called, FunctionVjp
from s2sad.modes.rebound import rebound_outside
from s2sad.nodes import Block, Node, call, constant, free_reads, name, tuple_, walk
from s2sad.stages import Activity
from s2sad.steps.binding import bind_kinds
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
    analyse,
    analysis_key,
    memory_of,
)
from s2sad.steps.pairs import Target
from s2sad.steps.parts import title_of
from s2sad.steps.targets import target_name

ADVICE = "Pass a function of yours (def or lambda) that returns numbers or arrays."
GRADIENT = "Write the gradient by hand, and pass it to scipy.optimize.root."


class Worker(Protocol):
    """What writes the derivative of the function at hand, backward or forward."""

    activity: Activity

    def refuse(self, at: Any, reason: str, remedy: str) -> Error:
        """Return an error that points at the user's statement."""


@dataclasses.dataclass(frozen=True)
class Writers:
    """What writes a derived function: the sweeps of it, the last polish, and adding it."""

    parts_of: Callable[..., Parts]
    finish: Callable[..., Block]
    work_on_copies: Callable[[Derivation, Analysed], Block]
    add: Callable[[Derivation, Node, Any, Analysed], None]
    gradient: Callable[[Derivation, Target, str, Writers, bool], Target | None]


def function_vjp(
    d: Derivation,
    a: Analysed,
    worker: Worker,
    site: Site,
    node: Node,
    how: Called,
    writers: Writers,
) -> FunctionVjp:
    """Return what a rule gets in the place of a function that it calls with these kinds."""
    kinds = how.kinds
    target = _target(a, worker, site, node, kinds)
    varied = worker.activity.varied_before.get(site.statement, frozenset())
    captured = tuple(
        (p, local)
        for p, local in target.extra
        if local in varied and K.differentiable(target.params[p])
    )
    arguments = _positional(target)
    active = tuple(p for p in arguments if K.differentiable(target.params[p]))
    wanted = (*active, *(p for p, _ in captured))
    if not active:
        raise worker.refuse(
            site.node,
            f"{target_name(target)} is passed to a library function that needs its "
            "derivative, but none of its arguments is a float or an array of floats.",
            ADVICE,
        )
    key = (analysis_key(target.fn, target.params, _names(target)), wanted, _word(how))
    if key not in d.handed:
        made = d.names.fresh(f"{target_name(target)}{_word(how)}_vjp")
        d.handed[key] = made, ()  # for functions that call themselves
        own = analyse(d, target.fn, target.params, _names(target))
        _check_alone(d, own, worker, site, target)
        where = f"{'the gradient of ' * how.gradient}{title_of(d, own.function.source)}"
        with _of_second_order(worker, site, target, how):
            own = _gradient(d, own, worker, site, target, how, writers) if how.gradient else own
            _write(d, own, made, where, arguments, wanted, writers)
        if d.lasting:
            d.handed[key] = made, _brought(d, a, worker, site, made)
    made, brought = d.handed[key]
    value: Node = name(made)
    given = {p: name(local) for p, local in target.extra}
    given |= {n: name(n) for n in brought}
    if given:
        value = call(f"{d.refs.module(functools)}.partial", value, **given)
    return FunctionVjp(value, tuple(local for _, local in captured))


def _word(how: Called) -> str:
    """Return what the name of a derived function says of what is derived."""
    return "_value_and_grad" if how.with_value else "_grad" if how.gradient else ""


def _names(target: Target) -> tuple[str, ...]:
    return tuple(p for p, _ in target.extra)


def _target(a: Analysed, worker: Worker, site: Site, node: Node, kinds: list[Kind]) -> Target:
    """Return the function that a node denotes, with the kinds that its parameters get."""
    kind = a.kinds.of.get(node, K.UNKNOWN)
    plain = isinstance(kind, K.LocalFunction)
    if isinstance(kind, K.Known):
        callee = unwrap(kind.value)
        plain = callee is not None and not callee.args and not callee.kwargs
        plain = plain and registry.rule_for(kind.value) is None
    env = a.kinds.before[site.statement]
    bound = bind_kinds(kind, kinds, {}, env) if plain else None
    if bound is None:
        raise worker.refuse(
            site.node,
            "A library function that is called here needs the derivative of the function "
            "that it is given; s2sad cannot tell which function that is, or how it is called.",
            ADVICE,
        )
    fn, params, extra = bound
    return Target(fn, params, {}, extra)


def _positional(target: Target) -> tuple[str, ...]:
    """Return the parameters that the arguments go to, in order."""
    extra = {p for p, _ in target.extra}
    return tuple(p for p in target.params if p not in extra)


@contextlib.contextmanager
def _of_second_order(worker: Worker, site: Site, target: Target, how: Called) -> Iterator[None]:
    """Let what is refused in a derived gradient be told where the function is handed over."""
    try:
        yield
    except (UnsupportedError, MissingRuleError) as error:
        if not how.gradient or error.place is None or not error.place.file.startswith("<s2sad"):
            raise
        raise worker.refuse(
            site.node,
            f"s2sad needs the second derivative of {target_name(target)} here, and cannot "
            f"differentiate its gradient: {error.reason}",
            GRADIENT,
        ) from error


def _gradient(
    d: Derivation,
    a: Analysed,
    worker: Worker,
    site: Site,
    target: Target,
    how: Called,
    writers: Writers,
) -> Analysed:
    """Return the gradient of a function by its first argument, to be derived once more."""
    found = writers.gradient(d, target, _positional(target)[0], writers, how.with_value)
    if found is not None and a.function.node.args.vararg is None:
        return analyse(d, found.fn, found.params)
    raise worker.refuse(
        site.node,
        f"s2sad needs the gradient of {target_name(target)} here, and cannot tell that it "
        "returns a real number.",
        GRADIENT,
    )


def _write(
    d: Derivation,
    a: Analysed,
    made: str,
    where: str,
    arguments: tuple[str, ...],
    wanted: tuple[str, ...],
    w: Writers,
) -> None:
    """Write the function into the derived module."""
    function = a.function
    seed = f"{function.result}_bar"
    before, d.reusable = d.reusable, True
    try:
        p = w.parts_of(d, a, wanted, name(seed), wanted)
        p.copies = tuple(w.work_on_copies(d, a))
        p.borrowed = {}
        doc = f"Value and pullback of {where} with respect to {_listed(wanted)}."
        node = vjp(p, w.finish, made, doc, False, seed, False, lasting=False)
    finally:
        d.reusable = before
    pullback = next(s for s in reversed(node.body) if isinstance(s, gast.FunctionDef))
    found = dict(zip(wanted, pullback.body[-1].value.elts, strict=True))
    many = getattr(function.node.args.vararg, "id", None)
    given = [
        gast.Starred(found[n], gast.Load()) if n == many else found.get(n, constant(None))
        for n in arguments
        if n != many or n in found
    ]
    rest = tuple_([found[n] for n in wanted if n not in arguments])
    pullback.body[-1].value = tuple_([*given, rest])
    w.add(d, node, function.source.fn, a)


def _check_alone(d: Derivation, a: Analysed, worker: Worker, site: Site, target: Target) -> None:
    """Refuse a function that changes something outside: it is called more than once."""
    memory = memory_of(d, a)
    writes = any(outside_of(a.function, w, memory) for w in memory.writes)
    if writes or memory.keeps or rebound_outside(a.function):
        raise worker.refuse(
            site.node,
            f"{target_name(target)} changes values outside of itself, and s2sad must call it "
            "again to differentiate it.",
            "Let the function only return its result.",
        )


def check_handed(d: Derivation) -> None:
    """Refuse a program that changes what is outside and may be read by a function handed over.

    Such functions are called again when the backward sweep comes to where they were called.
    """
    for a in list(d.analysed.values()) if d.handed else ():
        memory = memory_of(d, a)
        write = next((w for w in memory.writes if outside_of(a.function, w, memory)), None)
        if write is not None or rebound_outside(a.function):
            raise UnsupportedError(
                f"{a.function.source.name} changes values outside of itself, and a function "
                "that is passed to a library may read them later.",
                remedy="Keep these values in variables, and pass them as arguments.",
                place=a.function.source.place(a.function.source.node),
            )


_CONSTANT = ("numpy", "math", "cmath", "scipy", "cupy", "builtins")


def _brought(d: Derivation, a: Analysed, worker: Worker, site: Site, made: str) -> tuple[str, ...]:
    """Let a derived function be given the data that it reads from outside, as it was.

    That is possible where the function at hand sees the same, and sees that it is read.
    """
    node = next(f for f in d.functions if f.name == made)
    direct = free_reads(node)
    found: set[str] = set()
    for n, value in _data_outside(d, made):
        seen = n in direct and n not in a.function.locals and a.scope.path(name(n)) is value
        if not seen:
            raise worker.refuse(
                site.node,
                f"{made.removesuffix('_vjp')} reads `{n}` from outside, which may have "
                "another value when the pullback is called.",
                "Pass it as an argument, or use s2sad.grad.",
            )
        found.add(n)
    for n in sorted(found):
        node.args.kwonlyargs.append(gast.Name(n, gast.Param(), None, None))
        node.args.kw_defaults.append(None)
    return tuple(sorted(found))


def _data_outside(d: Derivation, made: str) -> Iterator[tuple[str, Any]]:
    """Yield what a derived function, and what it calls, reads from outside that is no code."""
    texts = {f.name: f for f in d.functions}
    pending: list[Any] = [texts[made]]
    known: set[int] = set()
    while pending:
        reader = pending.pop()
        if id(reader) in known:
            continue
        known.add(id(reader))
        whole = reader is texts[made]
        if isinstance(reader, gast.AST):
            names = free_reads(reader) - d.refs.functions.keys() - d.refs.modules.keys()
            pending += [texts[n] for n in names & texts.keys()]
            names -= texts.keys()
            attributes = {n.attr for n in walk(reader) if isinstance(n, gast.Attribute)}
            cells, outside = d.cells[reader.name], d.namespaces[reader.name]
        else:
            code = reader.__code__
            attributes = names = {*code.co_names, *code.co_freevars, *_inner_names(code)}
            cells = dict(zip(code.co_freevars, reader.__closure__ or (), strict=True))
            outside = reader.__globals__
        for n in sorted(names):
            value = _contents(cells[n]) if n in cells else outside.get(n, len)
            if isinstance(value, types.ModuleType):
                yield from ((f"{n}.{attr}", None) for attr in _data_in(value, attributes))
            elif isinstance(value, types.FunctionType):
                pending.append(value)
            elif not K.is_function(value):
                yield n, value if whole else None


def _inner_names(code: types.CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set().union(*({*c.co_names, *_inner_names(c)} for c in inner))


def _data_in(module: types.ModuleType, attributes: Iterable[str]) -> list[str]:
    if module.__name__.partition(".")[0] in _CONSTANT:
        return []
    return [attr for attr in sorted(attributes) if not K.is_function(getattr(module, attr, len))]


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents if isinstance(cell, types.CellType) else cell
    except ValueError:
        return None


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
