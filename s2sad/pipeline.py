"""The walk on one page: a Python function and what is known of its arguments become text.

    read -> normalise -> kinds -> program -> tangents -> turned round -> in fewer words -> print

Each pass is one function of its room. This page says in which order a function is read and
analysed; linear/both_sweeps.py and linear/finished.py say what becomes of its program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.errors import ActivityError, UnsupportedError
from s2sad.facts.fence import (
    outside_of,
    outside_written,
    refuse_globals,
    refuse_hidden_appends,
    refuse_rebound,
)
from s2sad.facts.places import places_written
from s2sad.facts.read_back import check_handed_back
from s2sad.kinds import Kind
from s2sad.known.mixed import has_gradient, is_step
from s2sad.known.unread import by_cause
from s2sad.linear.forward_entry import forward_entry
from s2sad.linear.handed_vjps import check_handed
from s2sad.linear.reverse_entry import reverse_function
from s2sad.names import identifier
from s2sad.nodes import (
    Node,
    all_inside,
    names_written,
)
from s2sad.requests import Request
from s2sad.selected import others_constant
from s2sad.steps.copying import (
    look_before_copies,
    places_of_arguments,
    work_on_copies,
)
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
    analyse,
    memory_of,
)
from s2sad.steps.flags import refuse_flags
from s2sad.steps.found_calls import find_target
from s2sad.steps.joining import add, complete
from s2sad.steps.outside_reads import refuse_stored_after_reading
from s2sad.steps.recompute import check_rounds, check_untouched
from s2sad.steps.shadows import check_seed
from s2sad.steps.stand_ins import refuse_handed_out, refuse_told_apart
from s2sad.steps.texts_read_again import Again, stands_for_derivative, title_of


def derive(
    request: Request, again: Again | None = None, within: Derivation | None = None
) -> Derivation:
    """Return what is derived for a request: functions yet to be printed, and what they need.

    `again` derives what stands for a derivative. What is derived `within` another derivation is
    read there, or becomes a part of its text: it shares the names of that.
    """
    d = Derivation()
    if within is not None:
        d.within(within)
    d.again, d.home = again, request.fn
    d.telling |= request.explained
    inner = isinstance(request.fn, K.LocalFunction)
    home = request.fn.source.fn if inner else request.fn
    d.refs.prefer(home)
    base = getattr(request.fn.node, "name", "<lambda>") if inner else home.__name__
    d.entry = d.names.fresh(f"{identifier(base)}_{request.mode}")
    params = dict(request.params)
    d.abreast = request.batch and request.mode == "jvp"
    d.plain, d.by_value = request.plain, d.by_value or request.by_value
    d.reusable = d.lasting = request.mode == "vjp" or (request.batch and not d.abreast)
    d.lengths = dict(request.lengths)
    d.visible[home] = frozenset(request.shadowed)
    fn, extra = request.fn, request.extra
    if again is not None and request.mode != "jvp" and stands_for_derivative(fn):
        fn, extra = again.through(d, fn, params, extra), ()
    d.forward = request.mode == "jvp"
    d.visible[request.fn] = frozenset(request.shadowed)
    if request.picked:
        params = _rest_constant(d, fn, request, params)
    analysed = analyse(d, fn, params, extra)
    refuse_handed_out(analysed.function, analysed.kinds)
    refuse_told_apart((a.function, a.kinds) for a in [analysed, *d.analysed.values()])
    if not isinstance(analysed.kinds.result, K.Unknown):
        _check_result(analysed, request)
    node = _entry(d, analysed, request, d.entry)
    _check_result(analysed, request)
    refuse_rebound([a.function for a in d.analysed.values()])
    for reached in list(d.analysed.values()):
        refuse_globals(reached.function)
        refuse_hidden_appends(reached.function, reached.kinds)
    check_handed_back((a.function, a.kinds) for a in [analysed, *d.analysed.values()])
    check_handed(d)
    refuse_flags(d, [analysed, *d.analysed.values()])
    _note_written(d, analysed)
    refuse_stored_after_reading(d)
    _refuse_stored_values(d)
    check_rounds(d, find_target, None if request.mode == "reverse" else analysed)
    check_untouched(d)
    add(d, node, analysed.scope.fn, analysed)
    return complete(d)


def _rest_constant(
    d: Derivation, fn: Any, request: Request, params: dict[str, Kind]
) -> dict[str, Kind]:
    """Return the kinds of the arguments, constant where no derivative is asked for."""
    own = Derivation()
    own.again, own.by_value = d.again, d.by_value
    first = analyse(own, fn, params)
    written = places_written(first.function, first.kinds, memory_of(own, first), slots=True)
    return others_constant(params, request.picked, written)


def _refuse_stored_values(d: Derivation) -> None:
    """Refuse to know a value in an object outside where the program stores something outside."""
    for a in d.analysed.values() if d.parts_known else ():
        memory, known = memory_of(d, a), a.function.locals
        stored = [w.statement for w in memory.writes if outside_of(a.function, w, memory)]
        stored += [s for s, _, given in memory.opaque if given - known]
        for s in (*stored, *memory.lasting):
            raise UnsupportedError(
                f"What {d.parts_known[0]} holds decides what this program does, and the "
                "program stores something outside.",
                remedy="Pass what it depends on as an argument.",
                place=a.function.source.place(a.function.origins.get(s, s)),
            )


def _note_written(d: Derivation, entry: Analysed) -> None:
    """Note which memory is written: when called, it may overlap nothing else."""
    d.written = places_of_arguments(d, entry)
    for a in tuple(d.analysed.values()):
        outside = outside_written(a.function, memory_of(d, a))
        d.written_outside |= {(a.scope.fn, n) for n in outside}


def _entry(d: Derivation, a: Analysed, request: Request, entry: str) -> Node:
    # What a gradient does without is not loaded for one.
    if request.mode == "reverse":
        from s2sad.linear.shadow_entry import shadow_entry

        return shadow_entry(d, a, request, entry)
    if request.mode == "jvp":
        kept = not K.shares_nothing(a.kinds.result)  # what f returns may be a part of an argument
        copies = [] if request.shadowed else work_on_copies(d, a, kept)
        node = forward_entry(d, a, request, entry, copies)
        return look_before_copies(d, a, node) if copies else node
    doc = _doc(d, a, request)
    if request.mode == "vjp":
        from s2sad.linear.pullback_entry import Pullback, pullback_entry

        seed = f"{a.function.result}_0_bar" if request.has_aux else f"{a.function.result}_bar"
        return pullback_entry(d, a, request, Pullback(entry, doc, seed))
    return reverse_function(d, a, request, entry, doc)


def _doc(d: Derivation, a: Analysed, request: Request) -> str:
    where = title_of(d, a.function.source)
    listed = _listed(tuple(map(str, request.results())))
    if request.mode == "grad":
        return f"Gradient of {where} with respect to {listed}."
    if request.mode == "value_and_grad":
        return f"Value and gradient of {where} with respect to {listed}."
    return f"Value and pullback of {where} with respect to {listed}."


def _listed(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]


def _label(a: Analysed) -> str:
    """Return what a function is called in messages and docstrings."""
    name = a.function.source.name
    return "the lambda" if a.scope.fn.__name__ == "<lambda>" else name


def _loss_of(a: Analysed, request: Request, kind: Kind) -> Kind:
    if isinstance(kind, K.Tuple) and len(kind.items) == 2:
        return kind.items[0]
    if isinstance(kind, K.Unknown):
        return kind
    pair = "(y, aux)" if request.mode in ("vjp", "jvp") else "(loss, aux)"
    raise ActivityError(
        f"With has_aux=True, {_label(a)} must return {pair}, but it returns {K.describe(kind)}.",
        remedy="Return a pair, or leave has_aux out.",
        place=a.function.source.place(a.function.source.node),
    )


_SUM = "Use s2sad.jacobian or s2sad.vjp, or return a scalar, such as the sum of the result."
_REAL = "Return its real part, np.real(...), or use s2sad.jacobian or s2sad.vjp."
_STEP = "Return the float that it is computed from, or a smooth function instead."
_RETURN = "Return the value to differentiate."
_AUX = (
    "Pass has_aux=True: then the first item is differentiated, and the rest is returned unchanged."
)


def _instead(kind: Kind) -> str:
    """Return what to do about a result that is not a real scalar."""
    if isinstance(kind, K.NoneKind):
        return _RETURN
    if isinstance(kind, K.Tuple) and len(kind.items) > 1 and has_gradient(kind.items[0]):
        return _AUX if len(kind.items) == 2 else f"{_AUX} Return (loss, (the rest))."
    if is_step(kind):
        return _STEP
    return _REAL if K.is_complex(kind) else _SUM


def _returned(a: Analysed, kind: Kind) -> str:
    """Return what a function returns, in words."""
    if isinstance(kind, K.NoneKind) and not any(map(_is_return, gast.walk(a.function.source.node))):
        return "has no `return`"
    return f"returns {K.describe(kind)}"


def _is_return(node: gast.AST) -> bool:
    return isinstance(node, gast.Return | gast.Lambda)


def _on_paths(a: Analysed) -> Iterator[Kind]:
    """Yield the kinds of what a function returns on its paths."""
    returned = {a.function.result}
    for s in reversed(list(all_inside(a.function.node.body))):
        if isinstance(s, gast.Assign) and returned & names_written(s):
            yield from (a.kinds.after.get(s, {}).get(n, K.UNKNOWN) for n in names_written(s))
            temp = str(getattr(s.value, "id", ""))
            returned |= {temp} & a.function.temps


def _check_result(a: Analysed, request: Request) -> None:
    if request.mode == "reverse":
        check_seed(a, request.seeded)
    kind = a.kinds.result
    if request.has_aux:
        kind = _loss_of(a, request, kind)
    scalar = request.mode in ("grad", "value_and_grad")
    kind = next((k for k in _on_paths(a) if scalar and is_step(k, of_truth=True)), kind)
    if scalar and has_gradient(K.without_none(kind)):
        return
    if isinstance(kind, K.Unknown) and request.mode in ("grad", "value_and_grad", "vjp"):
        refusal = UnsupportedError(
            f"s2sad cannot tell the type of what {_label(a)} returns"
            f"{': ' + kind.why if kind.why else ''}.",
            remedy=kind.instead or "Return a float, an array, or a structure of these.",
            place=a.function.source.place(a.function.source.node),
        )
        raise by_cause(refusal, kind)
    if not scalar:
        return
    why = (
        ", which changes in steps: its derivative is zero or does not exist"
        if is_step(kind)
        else ""
    )
    raise ActivityError(
        f"{request.mode} needs a real scalar, but {_label(a)} {_returned(a, kind)}{why}.",
        remedy=_instead(kind),
        place=a.function.source.place(a.function.source.node),
    )
