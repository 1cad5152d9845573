"""Both sweeps of one function, with respect to some of its parameters: written, then polished."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.facts.activity import activity
from s2sad.facts.fence import (
    check_reads,
    fence,
)
from s2sad.facts.kinds_by_name import name_kinds, scalars
from s2sad.facts.order import order_matters
from s2sad.facts.powers import may_turn_complex
from s2sad.facts.stopped import check_stopped
from s2sad.kinds import Kind
from s2sad.known.callees import Callees
from s2sad.known.lifted import space_in
from s2sad.known.pieces import Assume, never, of_slices
from s2sad.modes.asked import Undecided, reachable
from s2sad.modes.assemble import Parts, share
from s2sad.modes.at_hand import Shapes, arrays_given, shapes_at_hand
from s2sad.modes.first import assign_first
from s2sad.modes.guarded import Site
from s2sad.modes.handed import Called, FunctionVjp
from s2sad.modes.notes import take_notes
from s2sad.modes.outside import NOTHING_LENT, Lent, borrowed, copy_of
from s2sad.modes.rebound import own_names, rebound_outside
from s2sad.modes.remake import remake, undone_in
from s2sad.modes.reverse import Reverse
from s2sad.modes.rows import forget_rows, own_memory
from s2sad.modes.shape_only import keep_shapes
from s2sad.modes.storage import Held, store_values
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    block_writes,
    clone,
    names_read,
    names_written,
)
from s2sad.polish.algebra import simplify
from s2sad.polish.effects import EffectTable
from s2sad.polish.integers import outside_kinds
from s2sad.polish.likes import copies, like_shadows
from s2sad.polish.propagate import propagate, propagated
from s2sad.polish.prune import prune, pruned
from s2sad.requests import Request as Request
from s2sad.stages import Aliases, Arrival, SourceLike
from s2sad.steps.calls import undo_writer, user_call
from s2sad.steps.copying import unseen, work_on_copies
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
    memory_of,
)
from s2sad.steps.finish import finish, homes_of_temps, pinned
from s2sad.steps.handed import Writers, function_vjp
from s2sad.steps.joining import add, answers, complete, printed
from s2sad.steps.outside_reads import note_reads
from s2sad.steps.pairs import Pair, Target
from s2sad.steps.purity import Purity, callees_in
from s2sad.steps.second import gradient_of
from s2sad.steps.strong import zeros_of
from s2sad.steps.telling import NOBODY, tell, who_reads
from s2sad.steps.within import stop_word
from s2sad.steps.written_pairs import write_pair
from s2sad.write.inside import denoted_in, handed_on, mentions, without_ours
from s2sad.write.printer import statement_text


def parts_of(
    d: Derivation,
    a: Analysed,
    active: tuple[str, ...],
    seed: Node,
    wanted: tuple[str, ...],
    has_aux: bool = False,
    arrival: Arrival = Arrival(),  # noqa: B008
    shadowed: frozenset[str] = frozenset(),
    constant: frozenset[str] = frozenset(),
    outermost: bool = False,
    shadows: frozenset[str] = frozenset(),
    seeded: bool = True,
    assume: Assume = never,
    lent: Lent = NOTHING_LENT,
) -> Parts:
    """Return the polished sweeps of a function with respect to some of its parameters.

    sweep -> assign_first -> (prune, propagate, simplify) -> remake -> store_values -> propagate
    """
    entry = _entry_kinds(a)
    asked: frozenset[str] = frozenset()
    while True:
        names = local_names(a, d)
        worker = sweep(
            d,
            a,
            frozenset(active),
            names,
            has_aux,
            arrival,
            shadowed,
            constant,
            shadows,
            seeded,
            asked,
        )
        worker.assume = d.assume if outermost else assume
        worker.operations.assume = worker.assume if worker.arrays else of_slices(worker.assume)
        worker.lent_to = lent
        worker.given_shadows({p: entry[p] for p in active if p in shadowed})
        try:
            sweeps = worker.sweeps(clone(seed), has_aux)
            break
        except Undecided as error:
            asked = ask_more(a, worker.aliases, asked, error)
            if not outermost and len(asked & set(a.function.params) - shadows) > 1:
                raise error.final() from None
    check_stopped(a.function, a.kinds, worker.activity, memory_of(d, a), asked)
    d.asked[a] = asked & frozenset(a.function.params)
    bars = _cotangents_on_entry(worker, wanted, sweeps)
    known = _known(d, a, worker, bars, seed)
    forward = sweeps.forward
    zeros = {n for n, fn in d.refs.functions.items() if fn is runtime.zeros_like}
    backward = assign_first(
        sweeps.backward, worker.primals(), worker.bar_kinds, zeros, names, d.for_reading
    )
    undone = undone_in(backward)
    read_first = who_reads(worker, backward) if d.telling else NOBODY
    backward = _polished(d, backward, worker, known)
    if any(isinstance(k, K.Array) for k in known.kinds.values()):
        backward = _over_arrays(forward, backward, worker, known, undone, names)
    read = set().union(*(names_read(s) for s in backward), set())
    check_reads(a.function, a.kinds, memory_of(d, a), frozenset(read))
    note_reads(d, a, backward, known.made_up | set(d.refs.modules))
    read_last = who_reads(worker, backward, known.live_out) if d.telling else NOBODY
    kept_by = frozenset(worker.asked | worker.split)
    theirs = borrowed(a.function, worker.aliases, known.kinds, lent, d.reusable, kept_by)
    held = Held(worker.replaced_memory())
    forward, backward = _stored(d, forward, backward, names, known, held, theirs)
    d.told[a] = tell(worker, active, held, read_first, read_last)
    owned = own_names(a.function, forward, backward, names)
    _share_memory(known, held, owned)
    restored = frozenset(block_writes(backward)) - known.fixed
    backward = propagate(backward, known.live_out, restored, known.effects(), known.made_up)
    return Parts(
        a,
        names,
        forward,
        backward,
        bars,
        known.kinds,
        known.made_up,
        known.pure,
        worker.bar_kinds,
        pinned=pinned(a) | frozenset(owned.values()),
        shadows=frozenset(worker.bars[v] for v in worker.elements if v in worker.bars),
        wanted=wanted,
        buffers=known.fixed,
        moved=frozenset(worker.buffers_of()) - known.fixed,
        sharing=known.sharing,
        held=frozenset(worker.held),
        ours=unseen(a, worker.aliases, whole=False),
        aliases=worker.aliases,
        kept=kept_by_calls(worker),
        asked=worker.asked | worker.split,
        scalars=known.scalars,
        borrowed=theirs,
        odd=any(may_turn_complex(b.function, b.kinds) for b in d.analysed.values()),
        undone=worker.pairs,
        absent=frozenset(worker.absent),
    )


@dataclass(frozen=True)
class _Known:
    """What polishing is told of the names in both sweeps of a function."""

    analysed: Analysed
    kinds: dict[str, Kind]
    made_up: frozenset[str]  # cotangents, and what nobody else has a name for
    live_out: frozenset[str]
    fixed: frozenset[str]  # shadows that are memory: they stay what they are
    sharing: dict[str, frozenset[str]]
    elements: frozenset[Any]
    pure: Purity
    callees: Callees
    numpy: str
    scalars: frozenset[str]

    def effects(self) -> EffectTable:
        """Return what statements do beside giving values, as far as it is known by now."""
        return EffectTable(self.pure, self.sharing)


def _known(
    d: Derivation, a: Analysed, worker: Reverse, bars: tuple[str, ...], seed: Node
) -> _Known:
    """Return what polishing is told of the names in both sweeps."""
    made_up = frozenset(worker.bars.values()) | frozenset(worker.bar_kinds)
    fixed = frozenset(worker.buffers_of(solo=False)) | worker.asked | worker.split
    own = name_kinds(a.kinds)
    kinds = {seed.id: a.kinds.result} if isinstance(seed, gast.Name) else {}
    kinds |= own | worker.bar_kinds
    return _Known(
        a,
        kinds,
        made_up - {worker.bars[v] for v in worker.elements if v in worker.bars},
        frozenset(bars),
        fixed | worker.looked_up(),
        shared_memory(worker),
        _elements(worker),
        Purity(a, d),
        callees_in(a, d, kinds, made_up),
        d.refs.space(space_in(a.kinds)),
        scalars(own),
    )


def _entry_kinds(a: Analysed) -> Mapping[str, Kind]:
    """Return the kinds of names where a function begins."""
    return a.kinds.before.get(a.function.node.body[0], {})


def _cotangents_on_entry(worker: Reverse, wanted: tuple[str, ...], sweeps: Any) -> tuple[str, ...]:
    """Return the names of the cotangents that are wanted, as they are at the end of the sweep."""
    function = worker.function
    entry = worker.kinds.before.get(function.node.body[0], {})
    worker.at(function.node.body[0])
    for p in wanted:
        if p not in worker.lent:
            sweeps.backward += worker.on_entry(p, entry.get(p, K.UNKNOWN), function.node)
    return tuple(worker.lent.get(p, worker.bar(p)) for p in wanted)


def _polished(d: Derivation, backward: Block, worker: Reverse, known: _Known) -> Block:
    """Return a backward sweep in which nothing is computed that nobody reads."""
    a, live_out = known.analysed, known.live_out
    homes = homes_of_temps(a)
    outside = outside_kinds(a.kinds.of, a.function.locals)
    for round_ in range(3):
        movable = (known.made_up | _backward_temps(backward, a)) - known.fixed
        movable -= known.made_up if d.plain else frozenset()
        effects = known.effects()
        backward, less = pruned(backward, live_out, effects, known.made_up)
        backward, other = propagated(backward, live_out, movable, effects, known.made_up)
        if round_ and not less and not other:
            break  # nothing else will change: what is simplified stays as it is
        backward = simplify(backward, known.kinds, known.numpy, known.callees, homes, outside)
    else:
        backward = prune(backward, live_out, known.effects(), known.made_up)
    return like_shadows(backward, _copies(a, worker), known.numpy)


def _over_arrays(
    forward: Block, backward: Block, worker: Reverse, known: _Known, undone: Any, names: Names
) -> Block:
    """Return a backward sweep that reads shapes at hand, and makes again what is cheap to make."""
    function, kinds, live_out = known.analysed.function, known.kinds, known.live_out
    given = _shapes_given(known.analysed, worker)
    shapes_at_hand(backward, kinds, given, live_out, known.numpy)
    backward = remake(
        forward,
        backward,
        live_out,
        known.callees,
        known.effects(),
        known.elements,
        undone,
        worker.asked,
    )
    numbers = frozenset(n for n, k in kinds.items() if isinstance(k, K.Num))
    mine = own_memory(function, known.sharing, _seen(worker, tuple(live_out)))
    backward = forget_rows(backward, function, mine, numbers, known.callees)
    keep_shapes(forward, backward, live_out, kinds, names)
    return backward


def _stored(
    d: Derivation,
    forward: Block,
    backward: Block,
    names: Names,
    known: _Known,
    held: Held,
    theirs: Mapping[str, bool],
) -> tuple[Block, Block]:
    """Return both sweeps with what is kept stored: of what callers may change, a copy."""
    function, kinds = known.analysed.function, known.kinds
    apart = {
        n: copy_of(n, kinds.get(n, K.UNKNOWN), deep, lambda: d.refs.function(runtime.private))
        for n, deep in theirs.items()
    }
    bound = set(function.params) | rebound_outside(function)
    return store_values(
        forward,
        backward,
        known.live_out,
        names,
        bound,
        known.elements,
        held,
        apart,
        d.for_reading,
    )


def _share_memory(known: _Known, held: Held, owned: Mapping[str, str]) -> None:
    """Note that what is kept of a name, or stands for it, may share its memory."""
    sharing = known.sharing
    for kept, n in sorted(held.names):
        share(sharing, kept, n)
    for stack, n in sorted(held.stacks):
        met = {m for m, others in sharing.items() if n in others} | sharing.get(n, frozenset())
        for m in met | {n} if met else ():
            sharing[m] = sharing.get(m, frozenset()) | {stack}
    for n, private in owned.items():
        known.kinds[private] = known.kinds.get(n, K.UNKNOWN)
        share(sharing, private, n)


def sweep(
    d: Derivation,
    a: Analysed,
    active: frozenset[str],
    names: Names,
    has_aux: bool = False,
    arrival: Arrival = Arrival(),  # noqa: B008
    shadowed: frozenset[str] = frozenset(),
    constant: frozenset[str] = frozenset(),
    shadows: frozenset[str] = frozenset(),
    seeded: bool = True,
    asked: frozenset[str] = frozenset(),
) -> Reverse:
    """Return the reverse worker of a function, ready to write its sweeps.

    `shadows` are arrays that the function writes and whose shadows it is given; `seeded` says
    whether its result has a cotangent. The shadows of what is `asked` are found at run time.
    """
    memory = memory_of(d, a)
    results = shadows | shadowed
    if seeded:
        results |= {a.function.result}
    facts = activity(a.function, a.kinds, active, memory, has_aux, results)
    fence(a.function, a.kinds, facts, memory, constant)
    notes = take_notes(a.function, a.kinds.decided, names, memory.aliases.touched)

    def calls(site: Site, varied: frozenset[str]) -> Any:
        return user_call(d, a, worker, site, varied, build_pair)

    def undone(s: Any, bar: Node | None) -> Any:
        return undo_writer(d, a, worker, s, bar, build_pair)

    zeros = zeros_of(d, a, facts, active, arrival, results if shadows or shadowed else None)
    worker = Reverse(
        a.function,
        a.kinds,
        facts,
        notes,
        d.refs,
        names,
        calls,
        partial(heading_of, a.function.source, answers(a)),
        memory.aliases,
        zeros,
        shadows,
        asked,
    )

    def handed(site: Site, node: Node, how: Called) -> FunctionVjp:
        return function_vjp(d, a, worker, site, node, how, writers())

    worker.operations.function_vjp = handed
    worker.stop = stop_word(d)
    worker.rebinding = memory.rebinding
    worker.order_matters = lambda s: order_matters(s, a.function, a.kinds, memory.aliases)
    worker.undone = undone
    return worker


def build_pair(d: Derivation, a: Analysed, pair: Pair, supplied: frozenset[str]) -> None:
    """Write a pair; once more where the function turned out to call itself."""
    if d.again is None or not d.again.pair(d, a, pair, supplied):
        write_pair(d, a, pair, supplied, parts_of, finish, add)


def writers() -> Writers:
    """Return what writes functions that are handed to a library."""
    return Writers(parts_of, finish, work_on_copies, add, _gradient)


def _gradient(
    d: Derivation, target: Target, wrt: str, writers: Writers, with_value: bool
) -> Target | None:
    """Return the gradient of a function that is handed over, as a function."""
    return gradient_of(d, target, wrt, writers, with_value, lambda own: printed(complete(own)))


def heading_of(source: SourceLike, answers: dict[str, bool], origin: Any) -> str:
    """Return the user's statement as a heading of the backward sweep, without s2sad's own calls."""
    fn: Any = getattr(origin, "home", source).fn
    shown = gast.Return(origin.value) if getattr(origin, "returns", False) else origin
    denoted = denoted_in(fn, dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)))
    if answers or mentions(shown, denoted):
        shown = without_ours(clone(shown), denoted, handed_on, answers=answers)
    return statement_text(shown)


def local_names(a: Analysed, d: Derivation) -> Names:
    """Return a supply of names for one derived function."""
    names = Names(a.function.locals)
    names.take(*d.refs.modules, *d.refs.functions)
    names.take(*a.scope.fn.__code__.co_names, *a.scope.fn.__code__.co_freevars)
    return names


def ask_more(
    a: Analysed, aliases: Aliases, asked: frozenset[str], error: Undecided
) -> frozenset[str]:
    """Return the names whose shadows are found at run time, with those that an error names."""
    more = reachable(error.names, a.function, a.kinds, aliases)
    if more is None or more <= asked:
        raise error.final() from None
    return asked | more


def _shapes_given(a: Analysed, worker: Reverse) -> Shapes:
    """Return the arrays that parameters hold throughout: they are never bound or given others."""
    bound = block_writes(a.function.node.body)
    held = frozenset().union(*worker.aliases.structures.values())
    entry = _entry_kinds(a)
    held |= {n for n in a.function.params if n in worker.aliases.slots}
    return arrays_given({p: entry[p] for p in a.function.params if p not in bound | held})


def _copies(a: Analysed, worker: Reverse) -> dict[str, str]:
    """Return, for arrays that are copies of others, the shadows of those."""
    given = _entry_kinds(a)
    found = copies(a.function.node.body, tuple(a.function.params))
    return {
        n: worker.bars[source]
        for n, source in found.items()
        if source in worker.bars
        and source in worker.arrays - worker.asked
        and n not in worker.asked
        and (source not in given or isinstance(given[source], K.Array))
    }


def kept_by_calls(worker: Reverse) -> dict[str, str]:
    """Return the names of what calls keep for their reverses, by the ghosts of its memory."""
    calls = worker.aliases.calls
    return {calls[s]: n for s, n in worker.kept.items() if s in calls}


def shared_memory(worker: Reverse) -> dict[str, frozenset[str]]:
    """Return, for arrays written in place and for their shadows, who may share their memory.

    What called functions keep for their reverses may share it, too.
    """
    found: dict[str, frozenset[str]] = {}
    aliases = worker.aliases
    kept = kept_by_calls(worker)
    touched: frozenset[str] = frozenset().union(*aliases.touched.values())
    looked_up = worker.looked_up()
    for bar in looked_up:
        found[bar] = looked_up
    for s, ghost in aliases.calls.items():  # the reverse of a call may spoil its result
        if s in worker.kept and not isinstance(worker.kinds.of.get(s.value), K.Num):
            held = names_written(s)
            reached = aliases.ever(ghost).union(held, *(aliases.ever(n) for n in held))
            found[worker.kept[s]] = frozenset(m for m in reached if "@" not in m)
    for n in sorted(touched | worker.arrays | worker.split):
        reached = aliases.ever(n)
        others = {m.split("@")[0] for m in reached} & worker.function.locals
        known = frozenset(others | {kept[m] for m in reached if m in kept})
        found[n] = found.get(n, frozenset()) | known
        for m in others - {n}:  # what it was is known by a name of its own, once it is kept
            found[m] = found.get(m, frozenset()) | {n}
        bars = {worker.bars[m] for m in others & worker.arrays if m in worker.bars}
        if n in worker.bars and n in worker.arrays and n not in worker.asked:
            found[worker.bars[n]] = frozenset(bars)
    return found


def _seen(worker: Reverse, results: tuple[str, ...]) -> frozenset[str]:
    """Return the arrays and shadows whose content others see: what was given, and what is returned.

    Of what calls hold, or what is not known, nobody can tell.
    """
    function, aliases = worker.function, worker.aliases
    known = function.locals | {"call"}  # what calls keep is among what shares memory
    found = set(results) | set(function.params) | worker.given
    for n in worker.arrays | frozenset().union(*aliases.touched.values()):
        reached = [m for m in aliases.ever(n) if "@" in m]
        if any(m.endswith("@arg") or m.split("@")[0] not in known for m in reached):
            found.add(n)
    kept = {*function.params, *worker.given, function.result}
    return frozenset(found | {worker.bars[n] for n in kept & worker.bars.keys()})


def _elements(worker: Reverse) -> frozenset[Any]:
    """Return the statements that overwrite one number of an array."""
    found: set[Any] = set()
    for s in worker.array_writes:
        place = s.targets[0] if isinstance(s, gast.Assign) else s.target
        if isinstance(worker.kinds.of.get(place), K.Num):
            found.add(s)
    return frozenset(found | worker.kept_slots())


def _backward_temps(backward: Block, a: Analysed) -> frozenset[str]:
    """Return the names that the backward sweep assigns by itself (loop elements, temporaries)."""
    found: set[str] = set()
    stack = list(backward)
    while stack:
        s = stack.pop()
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            found.add(s.targets[0].id)
        for field_ in ("body", "orelse"):
            stack += getattr(s, field_, None) or []
    return frozenset(found)
