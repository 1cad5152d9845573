"""The pair that a called function becomes: a forward, and a reverse that reads what it kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import gast

from s2sad import kinds as K
from s2sad.facts.kinds_by_name import name_kinds
from s2sad.modes.again import compute_again
from s2sad.modes.assemble import (
    Parts,
    apart,
    arguments_put_back,
    define,
    outside_of,
    put_back_in,
    puts_back_result,
    result_of,
    wrapped,
)
from s2sad.modes.outside import kept_copies, lent_copies, with_copies
from s2sad.modes.storage import bind_unbound
from s2sad.modes.writes import laid_out
from s2sad.nodes import (
    Block,
    Node,
    assign,
    assign_tuple,
    attribute,
    block_writes,
    call,
    copied,
    name,
    names_read,
    names_written,
    tuple_,
)
from s2sad.polish.prune import tidy
from s2sad.stages import Comment
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
)
from s2sad.steps.pairs import Pair, PartsOf
from s2sad.steps.parts import sentence, title_of
from s2sad.syntax.flow import live_in


def write_pair(
    d: Derivation,
    a: Analysed,
    pair: Pair,
    supplied: frozenset[str],
    parts_of: PartsOf,
    finish: Callable[..., Block],
    add: Callable[..., None],
) -> None:
    """Write the forward and the reverse of one function into the derived module."""
    function = a.function
    bar = f"{function.result}_bar"
    p = _parts(d, a, pair, bar, parts_of)
    extra = p.made_up_names()
    if not pair.recursive:
        p.backward = [*_again(p, supplied), *p.backward]
    last = gast.Return(result_of([name(b) for b in p.bars], len(p.bars) == 1))
    backward = finish(p, [*p.backward, last], frozenset(), set(p.bars), extra)
    pair.puts_back = arguments_put_back(p, backward, pair)
    pair.spoils = puts_back_result(p, backward)
    shadows = list(p.bars[len(pair.active) :])
    _leave_shadows(backward, len(pair.active), bool(shadows))
    seed = bar
    if pair.seeded and not pair.recursive and not laid_out(p.aliases):
        seed = _used_up(backward, bar)
        pair.consumes = seed != bar
    if d.reusable or p.borrowed:
        p.forward = _with_copies(p, backward, pair, supplied, seed)
    saved = _saved(p, backward, pair, supplied, {bar, seed})
    d.told[a] = dataclasses.replace(d.told[a], handed=tuple(saved))
    where = title_of(d, function.source)
    if pair.saved:
        forward = bind_unbound(
            _returning(p, pair, saved), set(function.params), set(saved), p.popped(backward)
        )
        forward = finish(p, forward, frozenset(), set(), extra)
        doc = f"{sentence(where)}, with the values that {pair.reverse} reads."
        add(d, define(function.node, pair.forward, doc, forward), function.source.fn, a)
    params, start = _kept_by_forward(p, pair, saved)
    params += [*pair.passed, *shadows, *([seed] if pair.seeded else [])]
    if d.reusable:
        start += _for_another_call(p, backward, set(saved) | set(pair.passed))
    doc = _doc_of_reverse(pair, shadows, where)
    add(d, _defined(pair.reverse, params, doc, [*start, *backward]), function.source.fn, a)


def _parts(d: Derivation, a: Analysed, pair: Pair, bar: str, parts_of: PartsOf) -> Parts:
    """Return the sweeps of a function that is called, given the cotangent of its result."""
    active = (*pair.active, *pair.shadows)

    def parts() -> Parts:
        made: Parts = parts_of(
            d,
            a,
            active,
            name(bar),
            active,
            arrival=pair.arrival,
            shadows=frozenset(pair.shadows),
            seeded=pair.seeded,
            assume=pair.assume,
            lent=pair.lent,
        )
        return made

    pair.spoils = not isinstance(name_kinds(a.kinds).get(a.function.result), K.Num)
    p = parts()
    if pair.recursive and pair.assumed:
        # What is known of the lengths of the first call need not hold of those in it.
        pair.assumed.clear()
        p = parts()
    return p


def _saved(
    p: Parts, backward: Block, pair: Pair, supplied: frozenset[str], seeds: set[str]
) -> list[str]:
    """Return what the forward keeps for the reverse; what the caller has is passed instead."""
    function = p.analysed.function
    written = block_writes(p.forward)
    local = set(function.locals) | written
    live = sorted(live_in(backward, frozenset()))
    wanted = [n for n in live if n in local and n not in seeds]
    if not pair.recursive:
        pair.passed = tuple(
            n for n in function.params if n in wanted and n in supplied and n not in written
        )
    saved = [n for n in wanted if n not in pair.passed]
    pair.saved = bool(saved) or pair.recursive
    return saved


def _returning(p: Parts, pair: Pair, saved: list[str]) -> Block:
    """Return a forward that ends by returning its result, and what it keeps."""
    kept: Node = name(saved[0]) if len(saved) == 1 else tuple_(name(n) for n in saved)
    result = p.analysed.function.result
    return [*p.forward, gast.Return(kept if pair.bare else tuple_([name(result), kept]))]


def _kept_by_forward(p: Parts, pair: Pair, saved: list[str]) -> tuple[list[str], Block]:
    """Return the parameter of a reverse for what its forward kept, and what takes that apart."""
    if not pair.saved:
        return [], []
    if len(saved) == 1:
        return [saved[0]], []
    given = p.names.fresh("kept")
    return [given], [assign_tuple(saved, name(given))] if saved else []


def _doc_of_reverse(pair: Pair, shadows: list[str], where: str) -> str:
    """Return the docstring of a reverse."""
    if pair.shadows:
        return _doc_of_writer(pair, shadows, where)
    listed = _listed(pair.active) if pair.active else ""
    used = " (overwritten)" if pair.consumes else ""
    return f"Adjoint of {where} with respect to {listed}, given the adjoint of its result{used}."


def _defined(function: str, params: list[str], doc: str, body: Block) -> Node:
    """Return the definition of a function of plain parameters."""
    args = gast.arguments(
        [gast.Name(n, gast.Param(), None, None) for n in params], [], None, [], [], None, []
    )
    docstring = gast.Expr(gast.Constant(wrapped(doc), None))
    return gast.FunctionDef(function, args, [docstring, *body], [], None, None)


def _with_copies(
    p: Parts, backward: Block, pair: Pair, supplied: frozenset[str], seed: str
) -> Block:
    """Let a reverse read copies of what others may change; return the forward with these.

    Where it runs once, soon, that is what it is lent; globals are as they were.
    """
    written = block_writes(p.forward)
    passed = supplied - written if not pair.recursive else frozenset[str]()
    lent = {n: deep for n, deep in p.borrowed.items() if n not in passed}
    outside = dataclasses.replace(outside_of(p), borrowed=lent)
    bound = {*written, *p.bars, seed}
    if p.pure.d.reusable:
        kept = kept_copies(backward, bound, outside)
    else:
        kept = lent_copies(backward, outside)
    return with_copies(p.forward, kept, set(p.analysed.function.params), outside)


def _again(p: Parts, supplied: frozenset[str]) -> Block:
    """Return what finds again, before the backward sweep, some of what the sweep reads."""
    a = p.analysed
    written: frozenset[str] = frozenset().union(*p.aliases.touched.values())
    wanted = live_in(p.backward, frozenset(p.bars))
    return compute_again(a.function, a.kinds, written, wanted, supplied)


def _used_up(backward: Block, bar: str) -> str:
    """Let a reverse that works on a copy of what it is given work on that; return its new name.

    Who calls it hands over what nobody else has.
    """
    at = next((i for i, s in enumerate(backward) if not isinstance(s, Comment)), None)
    if at is None or not isinstance(backward[at], gast.Assign):
        return bar
    target, source = backward[at].targets[0], copied(backward[at].value)
    others = [s for i, s in enumerate(backward) if i != at]
    if not isinstance(target, gast.Name) or not isinstance(source, gast.Name):
        return bar
    if source.id != bar or any(bar in names_read(s) | names_written(s) for s in others):
        return bar
    del backward[at]
    backward[:] = tidy(backward)
    return str(target.id)


def _leave_shadows(backward: Block, results: int, shadows: bool) -> None:
    """Return only the cotangents that are new; what is done to the caller's shadows stays there."""
    if not shadows:
        return
    last = backward[-1]
    if not results:
        backward.pop()
        return
    kept = last.value.elts[:results]
    last.value = result_of(kept, results == 1)


def _doc_of_writer(pair: Pair, shadows: list[str], where: str) -> str:
    """Say what the reverse of a function that writes arrays does."""
    by = f" with respect to {_listed(pair.active)}" if pair.active else ""
    results = [*pair.shadows, *(["its result"] if pair.seeded else [])]
    given = (
        f"given the {'adjoint' if len(results) == 1 else 'adjoints'} of {_listed(tuple(results))}"
    )
    return f"Adjoint of {where}{by}, {given}; updates {_listed(tuple(shadows))} in place."


def _for_another_call(p: Parts, backward: Block, given: set[str]) -> Block:
    """Return the copies that leave what a reverse was given as it is, for the next call."""
    back = put_back_in(p, backward)
    group = sorted((back.arrays | back.others | p.popped(backward)) & given)
    if (back.arrays | back.others) & given:
        return [apart(p, group, group)]
    return [assign(n, call(attribute(name(n), "copy"))) for n in group]


def _listed(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    return ", ".join(names[:-1]) + " and " + names[-1]
