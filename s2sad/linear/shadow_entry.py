"""Reverse mode on the program for a caller who owns shadows of some arguments: mode "reverse".

def f_reverse(A, B, n, A_bar, B_bar):     Duplicated(A, A_bar), Duplicated(B, B_bar), Const(n)
    ...                                   the forward sweep writes A, as f does
    ...                                   the backward sweep begins with what A_bar holds
    A_bar[...] = ...                      the shadow of what is written gets its cotangent
    B_bar += ...                          to that of what is only read, its cotangent is added
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.fence import memory_written
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.linear.both_sweeps import Asked, BothSweeps, both_sweeps, one
from s2sad.linear.cotangents_of import Bar
from s2sad.linear.finished import apart, finished, tell, text_of_sweeps, with_forward
from s2sad.linear.forward_entry import on_copies
from s2sad.linear.handed_back import like
from s2sad.linear.inner_pullbacks import backward_block, pullback_of
from s2sad.linear.reverse_entry import owned_arguments
from s2sad.linear.stories import Sides
from s2sad.linear.tangent_table import NotYet, Tangents, tangent_kind
from s2sad.linear.transpose import Stands
from s2sad.modes.shadows import Shadows, define_with
from s2sad.names import Names
from s2sad.nodes import Block, Node
from s2sad.primitives import language as L
from s2sad.requests import Request
from s2sad.stages import Arrival
from s2sad.steps.derivation import Analysed, Derivation, memory_of
from s2sad.steps.parts import title_of
from s2sad.steps.shadows import doc_of, shadowed_arguments, wants_seed


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
        return (*self.shadows.values(), *([self.seed] if self.seed is not None else []))


def shadow_entry(d: Derivation, a: Analysed, request: Request, entry: str) -> Node:
    """Return f_reverse(*args, *shadows), or for a batch the function and its pullback."""
    given = _given(d, a, request)
    results = frozenset({a.function.result, *request.shadowed})
    asked = Asked(request, a, Arrival(), results, Stands(apart=request.batch, shown=True))
    found = both_sweeps(d, asked, lambda t: _seeds(t, a, given))
    if found.made.start and any(map(_replaces, P.every(found.program.block))):
        raise NotYet("a shadow of a structure in which memory is replaced")
    t = Tangents(found.table)
    bars = _accumulated(t, found, request, given)
    valued = not isinstance(a.kinds.result, K.NoneKind)
    items: list[Operand] = []
    if bars or (valued and not request.batch):
        items.append(found.value if valued and not request.batch else P.Const(None))
    items += bars
    result: Operand = P.Const(None)
    if items:
        result = items[0] if len(items) == 1 else t.emit(L.TUPLE, items, K.UNKNOWN)
    copies = _copies(d, found, request, given)
    if request.batch:
        body = _in_batch(found, given, t.ops, result, copies)
    else:
        ops = (*found.forward, *found.made.backward, *t.ops)
        params = (*found.program.block.params, *given.params)
        whole = P.Block(params, ops, P.End("next", (result,)))
        body = finished(found, _on_copies(found, whole, copies))
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
            found[n] = Bar(shadow)
    if given.seed is not None:
        found[a.function.result] = Bar(given.seed)
    elif K.differentiable(a.kinds.result):
        found[a.function.result] = one(t, a.kinds.result, False)
    return found


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
        places = (Place(shadow, (P.Anywhere(),)),)
        if not isinstance(shadow.kind, K.Array):
            helper = runtime.put_into if n in given.written else runtime.accumulate
            out = Var("", K.NONE)
            callee = P.Outer(found.table.refs.function(helper), K.UNKNOWN)
            t.add(Op((out,), L.CALL, (callee, shadow, bars[n]), (), places, places, t.origin))
            t.add(Op((), L.DISCARD, (out,), (), (), (), t.origin))
            continue
        writes = L.PUT_ITEM if n in given.written else L.AUGMENTED_ITEM["Add"]
        t.add(Op((), writes, (shadow, everywhere, bars[n]), (), (), places, t.origin))
    return [like(t, found, bars[n], params[n]) for n in request.wrt if n not in given.shadows]


def _copies(d: Derivation, found: BothSweeps, request: Request, given: _Given) -> Block:
    """Return copies of arguments that are only read, where cotangents go by identity.

    What is written overlaps nothing else; the caller sees what is written into it.
    """
    if found.made.shadows is None:
        return []
    copies = owned_arguments(d, found, request, [])
    return [s for s in copies if s.targets[0].id not in given.written]


def _on_copies(found: BothSweeps, block: P.Block, copies: Block) -> P.Program:
    program = dataclasses.replace(found.program, block=block)
    return on_copies(program, copies, found.linear, found.table)


def _in_batch(
    found: BothSweeps, given: _Given, last: list[P.Operation], result: Operand, copies: Block
) -> Block:
    """Return the statements that give the value and a pullback for each direction."""
    order = (*([given.seed] if given.seed is not None else []), *given.shadows.values())
    inner = apart(found, backward_block(found, order, last, result), found.forward)
    t = Tangents(found.table)
    function = pullback_of(found, t, inner.block, {v: v for v in inner.needed})
    both = t.emit(L.TUPLE, (found.value, function), K.UNKNOWN)
    ops = (*found.forward, *t.ops)
    block = P.Block(found.program.block.params, ops, P.End("next", (both,)))
    whole = with_forward(found, _on_copies(found, block, copies), inner.entries)
    text = text_of_sweeps(found, whole)
    tell(found, Sides(text.program.block, text.names, inner.block, tuple(inner.entries)))
    return text.body


def _doc(d: Derivation, a: Analysed, request: Request, given: _Given) -> str:
    shadows = {n: v.name for n, v in given.shadows.items()}
    active = tuple(n for n in request.wrt if n not in shadows)
    told = Shadows(shadows, active=active, order=request.shadowed)
    return doc_of(title_of(d, a.function.source), a, told, request.batch)
