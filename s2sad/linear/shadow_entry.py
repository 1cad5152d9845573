"""Reverse mode on the program for a caller who owns shadows of some arguments: mode "reverse".

def f_reverse(A, B, n, A_bar, B_bar):     Duplicated(A, A_bar), Duplicated(B, B_bar), Const(n)
    ...                                   the forward sweep writes A, as f does
    ...                                   the backward sweep begins with what A_bar holds
    A_bar[...] = ...                      the shadow of what is written gets its cotangent
    B_bar += ...                          to that of what is only read, its cotangent is added
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.fence import memory_written
from s2sad.ir import program as P
from s2sad.ir.on_shadows import on_shadows
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.linear.both_sweeps import Asked, BothSweeps, both_sweeps, one
from s2sad.linear.callers_memory import Forward, on_callers_memory
from s2sad.linear.cotangents_of import Bar
from s2sad.linear.finished import apart, finished, tell, text_of_sweeps, with_forward
from s2sad.linear.guards import Arrival
from s2sad.linear.handed_back import like
from s2sad.linear.inner_pullbacks import backward_block, pullback_of
from s2sad.linear.ready import Stands
from s2sad.linear.stories import Sides
from s2sad.linear.tangent_table import Tangents, tangent_kind
from s2sad.names import Names
from s2sad.nodes import Block, Node
from s2sad.primitives import language as L
from s2sad.requests import Request
from s2sad.steps.derivation import Analysed, Derivation, memory_of
from s2sad.steps.shadows import doc_of, shadowed_arguments, wants_seed
from s2sad.steps.texts_read_again import title_of
from s2sad.syntax.definitions import define_with


@dataclass(frozen=True)
class _Given:
    """What a caller gives besides arguments: shadows by parameter, and the result's cotangent.

    Those of what is `written` hold cotangents of its final content.
    """

    shadows: dict[str, Var]
    written: frozenset[str]
    seed: Var | None

    @property
    def params(self) -> tuple[Var, ...]:
        """Return the parameters for what the caller gives."""
        return (*self.shadows.values(), *self._seeds)

    @property
    def order(self) -> tuple[Var, ...]:
        """Return the parameters of a pullback for what the caller gives."""
        return (*self._seeds, *self.shadows.values())

    @property
    def _seeds(self) -> tuple[Var, ...]:
        return () if self.seed is None else (self.seed,)


def shadow_entry(d: Derivation, a: Analysed, request: Request, entry: str) -> Node:
    """Return f_reverse(*args, *shadows), or for a batch the function and its pullback."""
    given = _given(d, a, request)
    results = frozenset({a.function.result, *request.shadowed})
    asked = Asked(request, a, Arrival(), results, Stands(apart=request.batch, shown=True))
    found = both_sweeps(d, asked, lambda t: _seeds(t, a, given))
    forward = on_callers_memory(d, a, request, found)
    t = Tangents(found.table)
    bars = _accumulated(t, found, request, given)
    valued = not isinstance(a.kinds.result, K.NoneKind)
    items: list[Operand] = []
    if bars or (valued and not request.batch):
        items.append(forward.value if valued and not request.batch else P.Const(None))
    items += bars
    back = on_shadows((*found.made.backward, *t.ops), given.shadows.values(), items)
    found, t.ops = replace(found, made=replace(found.made, backward=back)), []
    result: Operand = P.Const(None)
    if items:
        result = items[0] if len(items) == 1 else t.emit(L.TUPLE, items, K.UNKNOWN)
    if request.batch:
        body = _in_batch(found, forward, backward_block(found, given.order, t.ops, result))
    else:
        ops = (*forward.ops, *back, *t.ops)
        whole = P.Block((*forward.params, *given.params), ops, P.End("next", (result,)))
        body = finished(found, forward.begun(found, whole))
    extra = [] if request.batch else [v.name for v in given.params]
    return define_with(a.function.node, entry, _doc(d, a, request, given), body, extra)


def _given(d: Derivation, a: Analysed, request: Request) -> _Given:
    """Return parameters for the shadows of arguments, and for the cotangent of the result."""
    direct, lent, _ = shadowed_arguments(d, a, request)
    entry = a.kinds.before[a.function.node.body[0]]
    code = a.scope.fn.__code__
    names = Names({*a.function.locals, *d.refs.modules, *code.co_names, *code.co_freevars})
    written = memory_written(memory_of(d, a))
    shadows = {n: Var(names.fresh(f"{n}_bar"), tangent_kind(entry[n])) for n in request.shadowed}
    seed = None
    if request.seeded or (request.seeded is None and wants_seed(a)):
        seed = Var(names.fresh(f"{a.function.result}_bar"), tangent_kind(a.kinds.result))
    return _Given(shadows, frozenset(n for n in direct if n in written) | {*lent}, seed)


def _seeds(t: Tangents, a: Analysed, given: _Given) -> dict[str, Bar]:
    """Return the cotangents that the caller gives, of what is written and of the result."""
    found: dict[str, Bar] = {}
    for n in sorted(given.written):
        shadow = given.shadows[n]
        if isinstance(shadow.kind, K.Array):
            found[n] = Bar(t.emit(L.method("copy"), (shadow,), shadow.kind), True)
        else:
            found[n] = Bar(_lent(t, n, shadow))
    if given.seed is not None:
        found[a.function.result] = Bar(given.seed)
    elif K.differentiable(a.kinds.result):
        found[a.function.result] = one(t, a.kinds.result, False)
    return found


def _lent(t: Tangents, parameter: str, shadow: Var) -> Var:
    """Return the content of a structure of shadows, built as what it belongs to is in the end."""
    block = t.table.facts.program.block
    (v,) = (v for v in block.params if v.name == parameter)
    if not any(map(_replaces, P.every(block))):
        return shadow
    made = t.call(t.table.helper(runtime.zeros_like), (v,), shadow.kind)
    _into(t, runtime.put_into, made, shadow)
    return made


def _into(t: Tangents, helper: Callable[..., object], shadow: Var, value: Operand) -> None:
    """Put a structure of derivatives into one of shadows, or add it."""
    out, places = Var("", K.NONE), (Place(shadow, (P.Anywhere(),)),)
    callee = P.Outer(t.table.refs.function(helper), K.UNKNOWN)
    t.add(Op((out,), L.CALL, (callee, shadow, value), (), places, places, t.origin))
    t.add(Op((), L.DISCARD, (out,), (), (), (), t.origin))


def _replaces(operation: P.Operation) -> bool:
    """Say whether an operation may put other memory into a structure."""
    if not isinstance(operation, Op):
        return False
    written = (p.object for p in operation.writes if isinstance(p.object, Var))
    return any(not K.is_numeric(v.kind) for v in written)


def _accumulated(t: Tangents, found: BothSweeps, request: Request, given: _Given) -> list[Operand]:
    """Put cotangents into shadows, or add them; return those that have no shadow."""
    params = {v.name: v for v in found.program.block.params}
    bars = dict(zip(request.wrt, found.made.bars, strict=True))
    for n, shadow in given.shadows.items():
        everywhere = P.Const(...)
        if not isinstance(shadow.kind, K.Array):
            _into(
                t, runtime.put_into if n in given.written else runtime.accumulate, shadow, bars[n]
            )
            continue
        places = (Place(shadow, (P.Anywhere(),)),)
        writes = L.PUT_ITEM if n in given.written else L.AUGMENTED_ITEM["Add"]
        t.add(Op((), writes, (shadow, everywhere, bars[n]), (), (), places, t.origin))
    return [like(t, found, bars[n], params[n]) for n in request.wrt if n not in given.shadows]


def _in_batch(found: BothSweeps, forward: Forward, inner: P.Block) -> Block:
    """Return the statements that give the value and a pullback for each direction."""
    back = apart(found, inner, forward.ops)
    t = Tangents(found.table)
    function = pullback_of(found, t, back.block, {v: v for v in back.needed})
    both = t.emit(L.TUPLE, (forward.value, function), K.UNKNOWN)
    block = P.Block(forward.params, (*forward.ops, *t.ops), P.End("next", (both,)))
    whole = with_forward(found, forward.begun(found, block), back.entries)
    text = text_of_sweeps(found, whole)
    tell(found, Sides(text.program.block, text.names, back.block, tuple(back.entries)))
    return text.body


def _doc(d: Derivation, a: Analysed, request: Request, given: _Given) -> str:
    shadows = [v.name for v in given.shadows.values()]
    active = [n for n in request.wrt if n not in given.shadows]
    return doc_of(title_of(d, a.function.source), a, shadows, active, request.batch)
