"""Derivatives of derivatives: a derived function is a plain one, which is read and derived again.

    grad(f)        ->    f_grad(x)                   the text that is derived of f
    jvp(grad(f))   ->    f_grad_jvp(x, x_dot)        the text that is derived of that

What a text calls besides the user's functions, as `unbroadcast`, has rules of its own, so its
helpers are the originals where it is read. It is never called: where derived text calls it, it is
written into the same module.
"""

from __future__ import annotations

import itertools
import os
import types
import weakref
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import pipeline, registry, runtime
from s2sad.activities import Const, annotated
from s2sad.capture.read import read, remember
from s2sad.derivative import Applied, derivative_of
from s2sad.errors import Error, InternalError, MissingRuleError, Place, UnsupportedError
from s2sad.facts.silent_calls import bends
from s2sad.kinds import Kind
from s2sad.known.built import tangent_kind
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    assign_tuple,
    call,
    clone,
    constant,
    name,
    names_read,
    subscript,
    tuple_,
    walk,
)
from s2sad.operators.matrices import Columns, Matrix, matrix
from s2sad.operators.parameters import Listed, Parameters, Settled, choose, settle
from s2sad.requests import Request
from s2sad.selected import Selected
from s2sad.stages import Written
from s2sad.steps.callables import local_source, signature_of
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
    analyse,
    derivative,
    taken_by,
)
from s2sad.steps.derived_pairs import Pair
from s2sad.steps.joining import add, complete, settle_in
from s2sad.steps.repeatable import repeatable
from s2sad.steps.texts_read_again import Part, sentence, stands_for_derivative, title_of
from s2sad.syntax.definitions import define, wrapped
from s2sad.write.copies import is_literal
from s2sad.write.load import load
from s2sad.write.printer import module

_numbers = itertools.count(1)
_MATRICES = ("jacobian", "hessian")
_OWN = os.path.dirname(os.path.abspath(runtime.__file__)) + os.sep


def derive(request: Request) -> Derivation:
    """Return what is derived for a request, derivatives of derivatives included.

    Where kinds do not tell enough, it is derived by value: it holds for what words, truth values
    and integers are now.
    """
    try:
        return _derive(request)
    except InternalError:
        raise
    except Error:
        if request.by_value:
            raise
        try:
            known = request.valued or request.params
            return _derive(replace(request, params=known, by_value=True))
        except Error:
            pass  # the first error speaks of the program, this one of one case of it
        raise


def _derive(request: Request) -> Derivation:
    turned = cache(partial(_turned, request))
    try:
        try:
            d = pipeline.derive(request, WARY)
        except _ByIdentityError:
            d = turned() or pipeline.derive(request, HIGHER)
    except (UnsupportedError, MissingRuleError, RecursionError) as error:
        # What goes through structures calls itself, and is read for each level of them.
        if isinstance(error, RecursionError) and derivative_of(request.fn) is None:
            raise _endless(request.fn) from None
        found = turned()
        if found is None:
            raise _told(error, request.fn) from error
        d = found
    if derivative_of(request.fn) is not None:
        _take_over(d, d.applied[derivative(d, request.fn, dict(request.params), ())])
    return d


# The user's functions that texts to be read were derived of, by the names of the texts.
_origins: weakref.WeakValueDictionary[str, types.FunctionType] = weakref.WeakValueDictionary()


def place_at_home(place: Place | None) -> Place | None:
    """Return where the user's function stands that a place in derived text comes from."""
    origin = None if place is None else _origins.get(place.file)
    if origin is None:
        return place
    source = read(origin)
    return source.place(source.node)


def _endless(fn: Any) -> Error:
    """Return the refusal of a function that is analysed anew for each call of itself."""
    source = fn.source if isinstance(fn, K.LocalFunction) else read(fn)
    return UnsupportedError(
        f"A function that {source.name} calls is called by itself with an argument of another kind "
        "each time (a longer tuple, a list in a list, a function made of the one before); s2sad "
        "finds no end of them.",
        remedy="Write the recursion as a loop, or give it arguments of the same kind each time.",
        place=source.place(source.node),
    )


def _told(error: Error | RecursionError, fn: Any) -> Error:
    """Return a refusal that speaks of derived text as one that speaks of the user's function."""
    if isinstance(error, RecursionError):
        source = read(fn)
        return UnsupportedError(
            f"The derivative of {source.name} calls itself too deeply; s2sad cannot "
            "differentiate it again.",
            remedy="Pass arrays instead of nested structures.",
            place=source.place(source.node),
        )
    place = error.place
    origin = None if place is None else _origins.get(place.file) or _behind(place, fn)
    if place is None or origin is None:
        return error
    label = "the lambda" if origin.__name__ == "<lambda>" else origin.__name__
    line, what = place.text.strip(), "a derived function" if place.file in _origins else "a helper"
    source = read(origin)
    return type(error)(
        f"A higher derivative of {label} needs the derivative of {place.function}, {what}, "
        f"and s2sad cannot differentiate its line {place.line}, `{line}`. {error.reason}",
        remedy=error.remedy,
        place=source.place(source.node),
    )


def _behind(place: Place, fn: Any) -> types.FunctionType | None:
    """Return the user's function in whose derived text a helper is called that has a place."""
    while (found := derivative_of(fn)) is not None:
        fn = found.fn
    home = fn.source.fn if isinstance(fn, K.LocalFunction) else fn
    helps = place.file.startswith(_OWN) and not registry.is_ours(home)
    return home if helps and isinstance(home, types.FunctionType) else None


def _take_over(d: Derivation, made: _Made) -> None:
    """A derivative writes copies; who calls it keeps apart what the function writes."""
    d.written = made.written
    d.written_outside |= made.written_outside
    d.not_one |= made.not_one


@dataclass(frozen=True)
class _Made:
    """What a derivative that can be read was made from.

    It is `bent` by stop_gradient or hooks into adjoints: then it is the derivative of no function.
    What is `picked` is by parts of parameters: then tangents have not the structure of the result.
    """

    primal: Any
    applied: Applied
    params: dict[str, Kind]
    wrt: tuple[str, ...]
    single: bool
    extra: tuple[str, ...]
    repeatable: bool
    constant: frozenset[str]
    written: Written
    written_outside: frozenset[tuple[Any, str]]
    not_one: frozenset[tuple[str, int]]
    bent: bool
    picked: bool = False
    by_identity: bool = False


class _Higher:
    """Derives what stands for a derivative, and calls of it."""

    def read(
        self, d: Derivation, fn: Any, params: Mapping[str, Kind], extra: tuple[str, ...]
    ) -> types.FunctionType:
        primal, applied, parameters = _primal(fn)
        if derivative_of(fn) is not None:
            d.seen.setdefault(fn, {})[fn.__code__.co_freevars[0]] = primal
        activities: Any = None if derivative_of(fn) is not None else {}
        every = applied.mode in ("vjp", "jvp")
        choice = choose(parameters, applied.wrt, every, applied.given, activities)
        constant = _declared_constant(parameters) if activities is None else frozenset[str]()
        settled = settle(parameters, choice, params)
        lengths = d.lengths if fn is d.home else {}
        if applied.mode in _MATRICES:
            return _matrix(d, primal, applied, settled, extra, constant)
        if not settled.picked:
            return _read(d, primal, applied, settled, extra, constant, lengths)
        whole = replace(settled, single=len(settled.wrt) == 1, picked=())
        made = _read(d, primal, applied, whole, extra, constant, lengths)
        return _with_parts(d, made, applied, settled)

    def through(
        self, d: Derivation, fn: Any, params: Mapping[str, Kind], extra: tuple[str, ...]
    ) -> types.FunctionType:
        found = derivative(d, fn, params, extra)
        part = d.parts[d.read_as[found]]
        made = _call_with_own(part.node)
        node = gast.FunctionDef(
            d.names.fresh(part.node.name),
            clone(part.node.args),
            [gast.Return(made)],
            [],
            None,
            None,
        )
        return _read_text(
            d, {node.name: replace(part, node=node)}, node.name, {found.__name__: found}
        )

    def cotangents(self, d: Derivation, fn: types.FunctionType) -> list[Kind]:
        made = d.applied.get(fn)
        if made is None or made.applied.mode != "vjp":
            return []
        found = [tangent_kind(made.params[n]) for n in made.wrt]
        return found if made.single else [K.Tuple(tuple(found))]

    def gradient(self, d: Derivation, fn: Any) -> Kind | None:
        made: _Made | None = d.applied.get(fn) if type(fn) is types.FunctionType else None
        if made is None or not _by_symmetry(d, made):
            return None
        found = tuple(tangent_kind(made.params[n]) for n in made.wrt)
        return found[0] if made.single else K.Tuple(found)

    def pair(self, d: Derivation, a: Analysed, pair: Pair, supplied: frozenset[str]) -> bool:
        """The matrix of second derivatives is symmetric: its rows are its columns.

            v_bar -> f_grad_jvp(x, v_bar)[1]       where v = f_grad(x)

        The reverse runs f once more, so it must not matter how often that runs.
        """
        made: _Made | None = d.applied.get(a.scope.fn)
        args = a.function.node.args
        if made is None or args.vararg or args.kwarg or not _by_symmetry(d, made):
            return False
        active = _known_to_text(a, pair.active, made)
        if active is None:
            return False
        pair.active = active
        _write_pair(d, a, pair, supplied, made)
        return True


def _known_to_text(a: Analysed, active: tuple[str, ...], made: _Made) -> tuple[str, ...] | None:
    """Return the active parameters of a call that the text knows, if it knows all.

    What inner functions capture that are given to it, it has parameters for already.
    """
    entry = a.kinds.before.get(a.function.node.body[0], {})
    same: dict[str, str] = {}
    for p, kind in made.params.items():
        theirs = entry.get(p)
        if isinstance(kind, K.LocalFunction) and isinstance(theirs, K.LocalFunction):
            same |= dict(zip(theirs.variables, kind.variables, strict=True))
    again = {p for p in active if p not in made.params}
    if any(same.get(p) not in active for p in again):
        return None
    return tuple(p for p in active if p not in again)


class _ByIdentityError(Exception):
    """A tangent is asked for of a gradient that finds shadows by their memory."""


class _Wary(_Higher):
    """Derives what `_Higher` does, but for tangents of gradients that find shadows by their memory.

    Nobody knows of what kind such shadows are, so these come out as gradients of tangents.
    """

    def read(
        self, d: Derivation, fn: Any, params: Mapping[str, Kind], extra: tuple[str, ...]
    ) -> types.FunctionType:
        found = super().read(d, fn, params, extra)
        made = d.applied.get(found)
        if d.forward and fn is d.home and made is not None and made.by_identity:
            raise _ByIdentityError
        return found


HIGHER, WARY = _Higher(), _Wary()


def _by_symmetry(d: Derivation, made: _Made) -> bool:
    """Say whether the reverse of a derivative is a second derivative along the cotangent."""
    if not made.repeatable or made.picked or made.applied.mode != "grad" or made.applied.has_aux:
        return False
    return not (d.reusable and _reads_data(d))  # it may be other data when the pullback is called


def _declared_constant(parameters: Parameters) -> frozenset[str]:
    declared = annotated(parameters.fn)
    return frozenset(n for n, activity in declared.items() if activity is Const)


def _primal(fn: Any) -> tuple[Any, Applied, Parameters]:
    """Return what a derivative is of, what was applied to that, and its parameters."""
    found = derivative_of(fn)
    if found is not None:
        return found.fn, found.applied, Parameters.of(found.fn, found.skipped, found.fixed)
    primal = replace(fn, applied=fn.applied[:-1])
    signature = signature_of(primal)
    assert signature is not None
    return primal, fn.applied[-1], Parameters(fn.source.fn, Listed(signature))


def _read(
    d: Derivation,
    primal: Any,
    applied: Applied,
    settled: Settled,
    extra: tuple[str, ...],
    constant: frozenset[str],
    lengths: Mapping[str, int] = MappingProxyType({}),
) -> types.FunctionType:
    """Derive within a derivation, and let the result be read."""
    params = dict(settled.params)
    request = Request(
        primal,
        settled.params,
        settled.wrt,
        settled.single,
        applied.mode,
        applied.has_aux,
        constant=constant - set(settled.wrt),
        lengths=tuple(lengths.items()),
        extra=extra,
        picked=settled.picked,
    )
    own = pipeline.derive(request, HIGHER, d)
    if stands_for_derivative(primal):
        _take_over(own, d.applied[derivative(own, primal, params, extra)])
    _refuse_captured_writes(own, primal, extra)
    entry = _entry(own)
    entry.args = _without(entry, _functions_unread(entry, params, extra)).args
    # An integer by which is differentiated counts as a float.
    entry.body[1:1] = [assign(p, call("float", name(p))) for p in settled.as_float]
    made = _loaded(d, own)
    words = _WORDS[applied.mode].format(_title(d, primal, params, extra))
    d.parts[entry.name] = replace(d.parts[entry.name], title=words)
    again = repeatable(own)
    d.repeatable += [made] if again else []
    d.applied[made] = _Made(
        primal,
        applied,
        params,
        settled.wrt,
        settled.single,
        extra,
        again,
        constant,
        own.written,
        frozenset(own.written_outside),
        frozenset(own.not_one),
        any(bends(a.function, a.kinds) for a in own.analysed.values()),
        bool(settled.picked),
        own.by_identity,
    )
    return made


def _refuse_captured_writes(own: Derivation, primal: Any, extra: tuple[str, ...]) -> None:
    """Refuse a function that changes what it captures: a derivative works on copies of that."""
    written = sorted({*own.written.arrays, *own.written.containers} & {*extra})
    if not written:
        return
    source = local_source(primal) if isinstance(primal, K.LocalFunction) else read(primal)
    raise UnsupportedError(
        f"{_base(primal)} changes `{written[0]}`, which it captures, and its derivative is "
        "differentiated in turn; s2sad does not support that yet.",
        remedy=f"Pass it `{written[0]}` as an argument, or let it return the new value.",
        place=source.place(source.node),
    )


def _functions_unread(entry: Node, params: Mapping[str, Kind], extra: tuple[str, ...]) -> set[str]:
    """Return the inner functions that a text captures and does without.

    What they capture in turn it is given besides.
    """
    read = set().union(*map(names_read, entry.body))
    return {p for p in extra if isinstance(params[p], K.LocalFunction) and p not in read}


def _with_parts(
    d: Derivation, whole: types.FunctionType, applied: Applied, settled: Settled
) -> types.FunctionType:
    """Return a function that gives parts of a gradient; let it be read.

    def f_grad_part(p, k):
        gradient = f_grad(p, k)
        return gradient["w"]
    """
    part = d.parts[d.read_as[whole]]
    if applied.mode not in ("grad", "value_and_grad"):
        source = read(part.origin)
        raise UnsupportedError(
            f"In a differentiated function, {applied.mode} takes whole parameters, not a part "
            f"({settled.picked[0]}).",
            remedy="Take the part from the result of its pullback.",
            place=source.place(source.node),
        )
    made = clone(part.node)
    made.name = d.names.fresh(f"{part.node.name}_part")
    names = Names([n.id for n in walk(made.args) if isinstance(n, gast.Name)])
    gradient, kinds = names.fresh("gradient"), dict(settled.params)

    def chosen(one: Selected) -> Node:
        given = name(gradient)
        if len(settled.wrt) > 1:
            given = subscript(given, constant(settled.wrt.index(one.parameter)))
        return one.node(given, kinds[one.parameter])

    found = [chosen(one) for one in settled.picked]
    parts = found[0] if settled.single else tuple_(found)
    if applied.mode == "value_and_grad":
        value = names.fresh("value")
        taken, given = [value, gradient], tuple_([name(value), parts])
    elif applied.has_aux:
        aux = names.fresh("aux")
        taken, given = [gradient, aux], tuple_([parts, name(aux)])
    else:
        taken, given = [gradient], parts
    result = _call_with_own(part.node)
    first = assign(gradient, result) if len(taken) == 1 else assign_tuple(taken, result)
    made.body = [first, gast.Return(given)]
    again = _read_text(d, {made.name: replace(part, node=made)}, made.name, {whole.__name__: whole})
    d.applied[again] = replace(d.applied[whole], picked=True)
    d.repeatable += [again] if whole in d.repeatable else []
    return again


def _matrix(
    d: Derivation,
    primal: Any,
    applied: Applied,
    settled: Settled,
    extra: tuple[str, ...],
    constant: frozenset[str],
) -> types.FunctionType:
    """Return a Jacobian or a Hessian as a function to be read: it calls a jvp for each column."""
    if settled.picked:
        raise UnsupportedError(
            f"In a differentiated function, s2sad does not support {applied.mode} with "
            "respect to a part of an argument yet."
        )
    of = primal
    if applied.mode == "hessian":
        gradient = Applied(
            "grad", settled.wrt[0] if settled.single else settled.wrt, applied.has_aux
        )
        if isinstance(primal, K.LocalFunction):
            of = replace(primal, applied=(*primal.applied, gradient))
        else:
            of = d.stands.of(primal, gradient)
            d.seen.setdefault(of, {})[of.__code__.co_freevars[0]] = primal
    columns: list[Columns] = []
    made: dict[str, types.FunctionType] = {}
    kinds = dict(settled.params)
    result: Kind = K.UNKNOWN
    for p in settled.wrt:
        one = replace(settled, wrt=(p,), single=True)
        fn = _read(d, of, Applied("jvp", (p,), applied.has_aux), one, extra, constant)
        node = d.parts[d.read_as[fn]].node
        (dot,) = _dots(node, 1)
        given = {**taken_by(fn, kinds), dot: tangent_kind(kinds[p])}
        found = analyse(d, fn, given).kinds.result
        result = found.items[0] if isinstance(found, K.Tuple) else K.UNKNOWN
        made[fn.__name__] = fn
        columns.append(Columns(p, kinds[p], partial(_column, node, dot)))
    plan = Matrix(tuple(columns), result, settled.single, applied.has_aux, d.refs.module(np))
    first = next(iter(made.values()))
    part = d.parts[d.read_as[first]]
    own = _without(part.node, {_dots(part.node, 1)[0]})
    _take_too(own, [d.parts[d.read_as[fn]].node for fn in made.values()], set(extra))
    body = matrix(plan, {*kinds, *made, *d.refs.modules, *d.refs.functions})
    title = _WORDS[applied.mode].format(_title(d, primal, kinds, extra))
    entry = d.names.fresh(f"{_base(primal)}_{applied.mode}")
    listed = ", ".join(settled.wrt)
    node = define(own, entry, f"{title[0].upper()}{title[1:]} with respect to {listed}.", body)
    fn = _read_text(d, {entry: replace(part, node=node, title=title)}, entry, made)
    whole = all(d.applied[f].repeatable for f in made.values())
    d.applied[fn] = replace(d.applied[first], applied=applied, wrt=settled.wrt, repeatable=whole)
    d.repeatable += [fn] if whole else []
    return fn


def _base(primal: Any) -> str:
    """Return what the functions derived of one are called after."""
    found = derivative_of(primal)
    if found is not None:
        return f"{_base(found.fn)}_{found.applied.mode}"
    inner = isinstance(primal, K.LocalFunction)
    named: str = getattr(primal.node, "name", "") if inner else primal.__name__
    return named if named.isidentifier() else "lambda_"


def _without(node: Node, dropped: set[str]) -> Node:
    """Return a function without some of its parameters, which have no defaults."""
    node = clone(node)
    args = node.args
    args.args = [p for p in args.args if p.id not in dropped]
    pairs = [*zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    args.kwonlyargs = [p for p, _ in pairs if p.id not in dropped]
    args.kw_defaults = [value for p, value in pairs if p.id not in dropped]
    return node


def _take_too(node: Node, others: list[Node], extra: set[str]) -> None:
    """Let a function take what others of its parameters take besides that is captured."""
    for p in [p for other in others for p in other.args.kwonlyargs]:
        if p.id in extra and all(p.id != known.id for known in node.args.kwonlyargs):
            node.args.kwonlyargs.append(clone(p))
            node.args.kw_defaults.append(None)


def _column(node: Node, dot: str, tangent: Node) -> Node:
    """Return a call of a jvp along a tangent."""
    made = _call_with_own(node)
    made.args = [tangent if getattr(a, "id", "") == dot else a for a in made.args]
    for keyword in made.keywords:
        keyword.value = tangent if keyword.arg == dot else keyword.value
    return made


_WORDS = {
    "jacobian": "the Jacobian of {}",
    "hessian": "the Hessian of {}",
    "grad": "the gradient of {}",
    "value_and_grad": "value and gradient of {}",
    "vjp": "the pullback of {}",
    "jvp": "the tangent of {}",
}


def _title(d: Derivation, fn: Any, params: Mapping[str, Kind], extra: tuple[str, ...]) -> str:
    """Return what a reader knows a function by, or what it stands for."""
    if stands_for_derivative(fn):
        fn = derivative(d, fn, params, extra)
    source: Any = local_source(fn) if isinstance(fn, K.LocalFunction) else read(fn)
    return title_of(d, source)


def _loaded(d: Derivation, own: Derivation) -> types.FunctionType:
    """Let what was derived be read, and be a part of the text in the making where that calls it."""
    parts = {f.name: _part(own, f) for f in own.functions}
    return _read_text(d, parts, own.entry)


def _read_text(
    d: Derivation,
    parts: dict[str, Part],
    entry: str,
    others: Mapping[str, Any] = MappingProxyType({}),
) -> types.FunctionType:
    """Let functions of derived text be read, which see the helpers as they are."""
    d.parts |= parts
    text = module([clone(part.node) for part in parts.values()])
    filename = f"<s2sad {entry} {next(_numbers)}>"
    _origins[filename] = parts[entry].origin
    ours = {**d.refs.functions, **d.refs.modules, **others}
    functions = load(
        text,
        entry,
        filename=filename,
        namespaces={n: part.namespace for n, part in parts.items()},
        cells={n: {**ours, **part.cells} for n, part in parts.items()},
        defaults={n: part.origin for n, part in parts.items() if not part.inner},
    )
    remember(functions.values(), text)
    d.read_as.update({fn: n for n, fn in functions.items()})
    return functions[entry]


def _part(own: Derivation, node: Any) -> Part:
    n = node.name
    return Part(node, own.namespaces[n], own.cells[n], own.origins[n], n in own.inner, n)


def _write_pair(
    d: Derivation, a: Analysed, pair: Pair, supplied: frozenset[str], made: _Made
) -> None:
    """Write the pair of a gradient: its reverse is the second derivative along the cotangent."""
    own = taken_by(a.scope.fn, made.params)
    params = tuple(own)
    memory = {p for p, kind in own.items() if not K.shares_nothing(kind)}
    lasting = memory if d.reusable else memory & pair.lent  # others may change it
    kept = [p for p in params if p not in supplied or p in lasting]
    pair.passed = tuple(p for p in params if p not in kept)
    pair.saved = bool(kept)
    where = d.parts[d.read_as[a.scope.fn]].title
    if kept:
        private = d.refs.function(runtime.private) if lasting else ""
        held = [call(private, name(p)) if p in lasting else name(p) for p in kept]
        packing = held[0] if len(held) == 1 else tuple_(held)
        # What functions that are given capture is given besides: the text does without.
        read = d.parts[d.read_as[a.scope.fn]].node
        last = gast.Return(tuple_([_call_with_own(read), packing]))
        doc = f"{sentence(where)}, and what {pair.reverse} reads."
        node = define(a.function.node, pair.forward, doc, [last])
        add(d, node, a.function.source.fn, a)
    product, dots, beside = _product(d, a, pair.active, made)
    names = Names((*params, product.name))
    seed, packed = names.fresh("gradient_bar"), names.fresh("kept")
    body: Block = []
    if kept:
        body += [] if len(kept) == 1 else [assign_tuple(kept, name(packed))]
        packed = kept[0] if len(kept) == 1 else packed
    seeds: list[Node] = [name(seed)]
    if not made.single:
        seeds = [subscript(name(seed), constant(i)) for i in range(len(made.wrt))]
    along = call(product.name, *_positional(product.args, set(dots)))
    by_name = dict(zip(dots, seeds, strict=True))
    along.args += [by_name[p.id] for p in product.args.args if p.id in by_name]
    along.keywords = [
        gast.keyword(p.id, by_name.get(p.id, name(p.id))) for p in product.args.kwonlyargs
    ]
    body.append(gast.Return(subscript(along, constant(1)) if beside else along))
    given = [*([packed] if kept else []), *pair.passed, seed]
    by = ", ".join(pair.active)
    doc = f"Adjoint of {where} with respect to {by}, given the adjoint of its result."
    heading = gast.Expr(gast.Constant(wrapped(doc), None))
    args = gast.arguments(
        [gast.Name(n, gast.Param(), None, None) for n in given], [], None, [], [], None, []
    )
    node = gast.FunctionDef(pair.reverse, args, [heading, *body], [], None, None)
    add(d, node, a.function.source.fn, a)


def _positional(args: Any, but: Collection[str] = ()) -> list[Node]:
    return [name(p.id) for p in [*args.posonlyargs, *args.args] if p.id not in but]


def _reads_data(d: Derivation) -> bool:
    """Say whether something is read outside that may change."""
    return any(
        not K.is_function(value) and not is_literal(value)
        for seen in d.seen.values()
        for value in seen.values()
        if value is not K.MISSING
    )


def _product(
    d: Derivation, a: Analysed, active: tuple[str, ...], made: _Made
) -> tuple[Node, tuple[str, ...], bool]:
    """Return what multiplies second derivatives with directions, and the parameters for these.

    It is f's gradient by the active parameters with its tangent `beside` it, for those it was by
    before; or, where that cannot be pushed forward, the gradient of f's tangent.
    """
    single = len(active) == 1
    try:
        gradient = a.scope.fn
        if active != made.wrt or single != made.single:
            settled = Settled(tuple(made.params.items()), active, single, ())
            gradient = _read(
                d, made.primal, Applied("grad", active), settled, made.extra, made.constant
            )
        given = tuple(taken_by(gradient, made.params).items())
        request = Request(gradient, given, made.wrt, True, "jvp")
        own = pipeline.derive(request, HIGHER, d)
    except (UnsupportedError, MissingRuleError):
        try:
            return *_gradient_of_tangent(d, made, active, single, "grad"), False
        except Error:
            pass
        raise
    _loaded(d, own)
    entry = _entry(own)
    return entry, _dots(entry, len(made.wrt)), True


def _entry(own: Derivation) -> Node:
    return next(f for f in own.functions if f.name == own.entry)


def _dots(entry: Node, count: int) -> tuple[str, ...]:
    """Return the parameters for tangents: those that come last."""
    listed = entry.args.kwonlyargs or entry.args.args
    return tuple(p.id for p in listed[-count:])


def _gradient_of_tangent(
    d: Derivation, made: _Made, wrt: tuple[str, ...], single: bool, mode: str
) -> tuple[Node, tuple[str, ...]]:
    """Return the gradient of f's tangent, with its parameters for the tangents.

    def f_along(x, x_dot):
        return f_jvp(x, x_dot)[1]
    """
    if made.picked:
        raise UnsupportedError(
            "wrt= selects only parts of an argument, and s2sad cannot "
            "differentiate such a gradient in this way."
        )
    if made.bent:
        raise UnsupportedError(
            "This gradient contains stop_gradient or a hook that changes an adjoint, so it "
            "is not the gradient of any function; s2sad cannot differentiate it in another "
            "way."
        )
    settled = Settled(tuple(made.params.items()), made.wrt, True, ())
    names = made.wrt
    pushed = _read(d, made.primal, Applied("jvp", names), settled, made.extra, made.constant)
    part = d.parts[d.read_as[pushed]]
    dots = _dots(part.node, len(names))
    along = gast.FunctionDef(
        d.names.fresh(part.node.name.removesuffix("_jvp") + "_along"),
        clone(part.node.args),
        [gast.Return(subscript(_call_with_own(part.node), constant(1)))],
        [],
        None,
        None,
    )
    fn = _read_text(
        d, {along.name: replace(part, node=along)}, along.name, {pushed.__name__: pushed}
    )
    kinds = {
        **taken_by(fn, made.params),
        **{t: tangent_kind(made.params[n]) for t, n in zip(dots, names, strict=True)},
    }
    own = pipeline.derive(Request(fn, tuple(kinds.items()), wrt, single, mode), HIGHER, d)
    _loaded(d, own)
    return _entry(own), dots


def _call_with_own(node: Node, but: frozenset[str] = frozenset()) -> Node:
    """Return a call of a function that passes on all that it is given itself."""
    made = call(node.name, *_positional(node.args, but))
    if node.args.vararg is not None:
        made.args.append(gast.Starred(name(node.args.vararg.id), gast.Load()))
    listed = [p.id for p in node.args.kwonlyargs if p.id not in but]
    made.keywords = [gast.keyword(p, name(p)) for p in listed]
    if node.args.kwarg is not None:
        made.keywords.append(gast.keyword(None, name(node.args.kwarg.id)))
    return made


def _turned(request: Request) -> Derivation | None:
    """Return the tangent of a gradient as the gradient of a tangent, None where there is none."""
    try:
        return _reverse_over_forward(request)
    except (Error, RecursionError):
        return None


def _reverse_over_forward(request: Request) -> Derivation | None:
    """Return the tangent of a gradient as the gradient of a tangent, which it is as well.

        def f_grad_jvp(x, x_dot):
            return f_grad(x), f_along_grad(x, x_dot)

    None where something else is asked for.
    """
    found = derivative_of(request.fn)
    applied = Applied("") if found is None else found.applied
    asked = applied.mode in ("grad", "value_and_grad")
    along_one = request.mode == "jvp" and not request.batch
    if not (asked and along_one) or request.shadowed or applied.has_aux:
        return None
    assert found is not None
    d = Derivation()
    d.again, d.home, d.lengths = HIGHER, request.fn, dict(request.lengths)
    d.telling = request.explained
    d.refs.prefer(request.fn)
    d.entry = d.names.fresh(f"{request.fn.__name__}_jvp")
    params = dict(request.params)
    gradient = derivative(d, request.fn, params, ())
    made = d.applied[gradient]
    if made.picked:
        return None
    by = request.wrt
    product, _ = _gradient_of_tangent(d, replace(made, wrt=by), made.wrt, made.single, applied.mode)
    part = d.parts[d.read_as[gradient]]
    given = _call_with_own(product)
    given_of = "tangent" if len(by) == 1 else "tangents"
    doc = f"Value and tangent of {part.title}, given the {given_of} of {', '.join(by)}."
    body = [gast.Return(tuple_([_call_with_own(part.node), given]))]
    d.functions.append(define(product, d.entry, doc, body))
    settle_in(d, d.entry, part)
    return complete(d)
