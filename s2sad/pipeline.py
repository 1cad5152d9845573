"""The walk on one page: a Python function and what is known of its arguments become text.

    read -> normalise -> kinds -> activity -> notes -> reverse -> storage -> polish -> print

Each pass is one function of its room; this page only says in which order they come.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.errors import ActivityError, UnsupportedError
from s2sad.facts.activity import activity
from s2sad.facts.fence import (
    arguments_written,
    check_reads,
    fence,
    keep_arguments,
    outside_written,
    refuse_globals,
    refuse_hidden_appends,
    refuse_rebound,
)
from s2sad.facts.kinds_by_name import name_kinds, scalars
from s2sad.facts.order import order_matters
from s2sad.facts.places import places_written
from s2sad.facts.powers import may_turn_complex
from s2sad.facts.stopped import check_stopped
from s2sad.kinds import Kind
from s2sad.known.lifted import space_in
from s2sad.known.pieces import Assume, never, of_slices
from s2sad.modes.asked import Undecided, reachable
from s2sad.modes.assemble import Parts, joint, literal, share, vjp
from s2sad.modes.at_hand import Shapes, arrays_given, shapes_at_hand
from s2sad.modes.first import assign_first
from s2sad.modes.guarded import Site
from s2sad.modes.handed import Called, FunctionVjp
from s2sad.modes.notes import take_notes
from s2sad.modes.outside import borrowed
from s2sad.modes.rebound import own_names, rebound_outside
from s2sad.modes.remake import remake, undone_in
from s2sad.modes.reverse import Reverse
from s2sad.modes.rows import forget_rows, own_memory
from s2sad.modes.shape_only import keep_shapes
from s2sad.modes.storage import Held, store_values
from s2sad.modes.writes import laid_out
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    block_writes,
    call,
    clone,
    compare,
    constant,
    free_reads,
    name,
    names_read,
    names_written,
    walk,
)
from s2sad.polish.algebra import simplify
from s2sad.polish.compact import compact
from s2sad.polish.effects import EffectTable
from s2sad.polish.likes import copies, like_shadows
from s2sad.polish.merge import merge
from s2sad.polish.propagate import propagate
from s2sad.polish.prune import prune
from s2sad.polish.straight import straighten
from s2sad.requests import Request as Request
from s2sad.selected import others_constant
from s2sad.stages import ANYWHERE, Aliases, Arrival, SourceLike, Text, Written
from s2sad.steps.callables import LocalSource
from s2sad.steps.calls import find_target, undo_writer, user_call, write_pair
from s2sad.steps.derivation import (
    Analysed,
    Derivation,
    analyse,
    memory_of,
)
from s2sad.steps.finish import finish, homes_of_temps
from s2sad.steps.handed import Writers, check_handed, function_vjp
from s2sad.steps.outside_reads import note_reads, refuse_stored_after_reading
from s2sad.steps.pairs import Pair, Target
from s2sad.steps.parts import Again, Part, stands_for_derivative
from s2sad.steps.purity import Purity
from s2sad.steps.recompute import check_rounds, check_untouched
from s2sad.steps.second import gradient_of
from s2sad.steps.shadows import check_seed, reverse_entry
from s2sad.steps.strong import zeros_of
from s2sad.steps.tangents import jvp_entry
from s2sad.steps.telling import NOBODY, tell, who_reads
from s2sad.steps.within import settle_inside, stop_word
from s2sad.syntax.decided import Decided, verdict
from s2sad.syntax.flow import free_names
from s2sad.syntax.identity import refuse_copy
from s2sad.syntax.layouts import asks_for_layout
from s2sad.write.clashes import settle_names
from s2sad.write.copies import prelude
from s2sad.write.inside import denoted_in, handed_on, mentions, without_ours
from s2sad.write.live import live_in
from s2sad.write.origins import origins_of
from s2sad.write.printer import module, statement_text


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
    d.entry = d.names.fresh(f"{base if base != '<lambda>' else 'lambda_'}_{request.mode}")
    params = dict(request.params)
    d.abreast = request.batch and request.mode == "jvp"
    d.plain = request.plain
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
    if not isinstance(analysed.kinds.result, K.Unknown):
        _check_result(analysed, request)
    node = _entry(d, analysed, request, d.entry)
    _check_result(analysed, request)
    refuse_rebound([a.function for a in d.analysed.values()])
    for reached in list(d.analysed.values()):
        refuse_globals(reached.function)
        refuse_hidden_appends(reached.function, reached.kinds)
    check_handed(d)
    keep_arguments(analysed.function, analysed.kinds, memory_of(d, analysed))
    _note_written(d, analysed)
    refuse_stored_after_reading(d)
    check_rounds(d, find_target)
    check_untouched(d)
    add(d, node, analysed.scope.fn, analysed)
    return complete(d)


def _rest_constant(
    d: Derivation, fn: Any, request: Request, params: dict[str, Kind]
) -> dict[str, Kind]:
    """Return the kinds of the arguments, constant where no derivative is asked for."""
    own = Derivation()
    own.again = d.again
    first = analyse(own, fn, params)
    written = places_written(first.function, first.kinds, memory_of(own, first), slots=True)
    return others_constant(params, request.picked, written)


def complete(d: Derivation) -> Derivation:
    """Return a derivation with all that its functions call, and with names that are clear."""
    _take_parts(d)
    settle_inside(d)
    _merge(d)
    settle_names(d.functions, d.origins, d.cells, {*d.refs.modules, *d.refs.functions})
    return d


def _gradient(d: Derivation, target: Target, wrt: str, writers: Writers) -> Target | None:
    """Return the gradient of a function that is handed over, as a function."""
    return gradient_of(d, target, wrt, writers, lambda own: printed(complete(own)))


def printed(d: Derivation) -> Text:
    """Return the text of a derived module."""
    body = prelude(d.refs, d.functions)
    origins = origins_of(body, d.refs.functions, live_in(d.refs))
    return Text(module(body), d.entry, d.namespaces, d.cells, origins=origins)


def _note_written(d: Derivation, entry: Analysed) -> None:
    """Note which memory is written: when called, it may overlap nothing else."""
    d.written = _written(d, entry)
    for a in tuple(d.analysed.values()):
        outside = outside_written(a.function, memory_of(d, a))
        d.written_outside |= {(a.scope.fn, n) for n in outside}


def _written(d: Derivation, entry: Analysed) -> Written:
    """Return where the arguments are written.

    Shadows that are looked up belong to memory, whichever way it is reached: nothing that may be
    written may hold what is reached by another way.
    """
    found = places_written(entry.function, entry.kinds, memory_of(d, entry))
    return found.anywhere(d.asked.get(entry, frozenset())) if any(d.asked.values()) else found


def _take_parts(d: Derivation) -> None:
    """Add the derived functions that others were derived from, where these still call them."""
    known = {f.name for f in d.functions}
    pending = list(d.functions)
    while pending:
        for n in sorted(free_reads(pending.pop()) & d.parts.keys() - known):
            known.add(n)
            part = d.parts[n]
            pending.append(part.node)
            d.functions.append(part.node)
            settle_in(d, n, part)


def settle_in(d: Derivation, function: str, part: Part) -> None:
    """Let a function see what another part of the text sees."""
    d.namespaces[function] = part.namespace
    d.cells[function] = dict(part.cells)
    d.origins[function] = part.origin
    if part.inner:
        d.inner.add(function)


def _merge(d: Derivation) -> None:
    """Keep one of several functions derived from one function that came out equal."""
    homes = {n: (id(fn), n in d.inner) for n, fn in d.origins.items()}
    for n in merge(d.functions, homes):
        for table in (d.namespaces, d.cells, d.origins):
            table.pop(n)
        d.stories.pop(n, None)
        d.inner.discard(n)


def add(d: Derivation, node: Node, fn: Any, a: Analysed) -> None:
    """Add a derived function to a module, in the surroundings of the function it is derived of."""
    users = a.function.locals - a.function.temps
    straighten(node, users)
    table = compact(node, users, frozenset({*d.refs.functions, *d.refs.modules}))
    if a in d.told:
        d.stories[node.name] = a, d.told[a].renamed(table)
    d.functions.append(node)
    if fn in d.read_as:
        settle_in(d, node.name, d.parts[d.read_as[fn]])
        return
    d.namespaces[node.name] = fn.__globals__
    closure = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    d.cells[node.name] = dict(closure)
    d.origins[node.name] = fn
    d.answers[node.name] = _answers(a)
    if isinstance(a.function.source, LocalSource):
        d.inner.add(node.name)


# one function


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
        partial(_heading, a.function.source, _answers(a)),
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
    return Writers(parts_of, finish, _work_on_copies, add, _gradient)


def _answers(a: Analysed) -> dict[str, bool]:
    """Return the variables of which within_gradient() decides what they are."""
    if not any(isinstance(k, Decided) for k in a.kinds.of.values()):
        return {}
    known = {n: verdict(k) for n, k in name_kinds(a.kinds).items()}
    return {n: value for n, value in known.items() if value is not None}


def _heading(source: SourceLike, answers: dict[str, bool], origin: Any) -> str:
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
    lent: frozenset[str] = frozenset(),
) -> Parts:
    """Return the polished sweeps of a function with respect to some of its parameters."""
    given = a.kinds.before.get(a.function.node.body[0], {})
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
        worker.given_shadows({p: given[p] for p in active if p in shadowed})
        try:
            sweeps = worker.sweeps(clone(seed), has_aux)
            break
        except Undecided as error:
            asked = ask_more(a, worker.aliases, asked, error)
            if not outermost and len(asked & set(a.function.params) - shadows) > 1:
                raise error.final() from None
    check_stopped(a.function, a.kinds, worker.activity, memory_of(d, a), asked)
    d.asked[a] = asked & frozenset(a.function.params)
    worker.at(a.function.node.body[0])
    entry_kinds = a.kinds.before.get(a.function.node.body[0], {})
    for p in wanted:
        kind = entry_kinds.get(p, K.UNKNOWN)
        if p not in worker.lent:
            sweeps.backward += worker.on_entry(p, kind, a.function.node)
    bars = tuple(worker.lent.get(p, worker.bar(p)) for p in wanted)
    zeros = {n for n, fn in d.refs.functions.items() if fn is runtime.zeros_like}
    backward = assign_first(
        sweeps.backward, worker.primals(), worker.bar_kinds, zeros, names, d.for_reading
    )
    own = name_kinds(a.kinds)
    kinds = {**own, **worker.bar_kinds}
    pure = Purity(a, d)
    made_up = frozenset(worker.bars.values()) | frozenset(worker.bar_kinds)
    made_up -= {worker.bars[v] for v in worker.elements if v in worker.bars}
    live_out = frozenset(bars)
    numpy = d.refs.space(space_in(a.kinds))
    params = set(a.function.params)
    homes = homes_of_temps(a)
    sharing = shared_memory(worker)
    fixed = frozenset(worker.buffers_of(solo=False)) | worker.asked | worker.split
    fixed |= worker.looked_up()
    undone = undone_in(backward)
    read_first = who_reads(worker, backward) if d.telling else NOBODY
    for _ in range(3):
        movable = (made_up | _backward_temps(backward, a)) - fixed
        movable -= made_up if d.plain else frozenset()
        effects = EffectTable(pure, sharing)
        backward = prune(backward, live_out, effects, made_up)
        backward = propagate(backward, live_out, movable, effects, made_up)
        backward = simplify(backward, kinds, numpy, homes)
    backward = prune(backward, live_out, EffectTable(pure, sharing), made_up)
    backward = like_shadows(backward, _copies(a, worker), numpy)
    elements = _elements(worker)
    if any(isinstance(k, K.Array) for k in kinds.values()):
        shapes_at_hand(backward, kinds, _shapes_given(a, worker), live_out, numpy)
        effects = EffectTable(pure, sharing)
        backward = remake(
            sweeps.forward, backward, live_out, kinds, effects, elements, undone, worker.asked
        )
        numbers = frozenset(n for n, k in kinds.items() if isinstance(k, K.Num))
        mine = own_memory(a.function, sharing, _seen(worker, bars))
        backward = forget_rows(backward, a.function, mine, numbers)
        keep_shapes(sweeps.forward, backward, live_out, kinds, names)
    read = set().union(*(names_read(s) for s in backward), set())
    check_reads(a.function, a.kinds, memory_of(d, a), frozenset(read))
    note_reads(d, a, backward, made_up | set(d.refs.modules))
    held = Held(worker.replaced_memory())
    theirs = borrowed(a.function, worker.aliases, kinds, lent) if d.reusable else {}
    private = d.refs.function(runtime.private) if theirs else ""
    apart = {n: call(private, name(n)) for n in theirs}
    known = params | rebound_outside(a.function)
    read_last = who_reads(worker, backward, live_out) if d.telling else NOBODY
    forward, backward = store_values(
        sweeps.forward, backward, live_out, names, known, elements, held, apart, d.for_reading
    )
    d.told[a] = tell(worker, active, held, read_first, read_last)
    for kept, n in sorted(held.names):
        share(sharing, kept, n)
    for stack, n in sorted(held.stacks):
        for m in sharing.get(n, frozenset()) | {n} if n in sharing else ():
            sharing[m] = sharing.get(m, frozenset()) | {stack}
    owned = own_names(a.function, forward, backward, names)
    for n, private in owned.items():
        kinds[private] = kinds.get(n, K.UNKNOWN)
        share(sharing, private, n)
    restored = frozenset(block_writes(backward)) - fixed
    backward = propagate(backward, live_out, restored, EffectTable(pure, sharing), made_up)
    shadows = frozenset(worker.bars[v] for v in worker.elements if v in worker.bars)
    return Parts(
        a,
        names,
        forward,
        backward,
        bars,
        kinds,
        made_up,
        pure,
        worker.bar_kinds,
        pinned(a) | frozenset(owned.values()),
        shadows,
        wanted,
        fixed,
        frozenset(worker.buffers_of()) - fixed,
        sharing,
        frozenset(worker.held),
        _ours(a, worker.aliases, whole=False),
        (),
        worker.aliases,
        kept_by_calls(worker),
        worker.asked | worker.split,
        scalars(own),
        theirs,
        any(may_turn_complex(b.function, b.kinds) for b in d.analysed.values()),
        worker.pairs,
        absent=frozenset(worker.absent),
    )


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
    entry = a.kinds.before.get(a.function.node.body[0], {})
    held |= {n for n in a.function.params if n in worker.aliases.slots}
    return arrays_given({p: entry[p] for p in a.function.params if p not in bound | held})


def _copies(a: Analysed, worker: Reverse) -> dict[str, str]:
    """Return, for arrays that are copies of others, the shadows of those."""
    given = a.kinds.before.get(a.function.node.body[0], {})
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


def pinned(a: Analysed) -> frozenset[str]:
    """Return the variables that inner functions capture: read at times nobody can see."""
    found: set[str] = set()
    for s in a.function.node.body:
        for n in walk(s):
            if isinstance(n, gast.FunctionDef | gast.Lambda):
                found |= free_names(n)
    return frozenset(found & a.function.locals) | rebound_outside(a.function)


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


# entries


def _entry(d: Derivation, a: Analysed, request: Request, entry: str) -> Node:
    seed_name = f"{a.function.result}_bar"
    if request.has_aux:
        seed_name = f"{a.function.result}_0_bar"
    seed: Node = name(seed_name) if request.mode == "vjp" else _one(d, a)
    if request.mode == "reverse":
        return reverse_entry(d, a, request, entry, parts_of, finish, seed)
    if request.mode == "jvp":
        copies = [] if request.shadowed else _work_on_copies(d, a)
        return jvp_entry(d, a, request, entry, copies, writers())
    p = parts_of(
        d,
        a,
        request.wrt,
        seed,
        request.wrt,
        request.has_aux,
        constant=request.constant,
        outermost=True,
    )
    p.picked = request.results()
    p.copies = tuple(_work_on_copies(d, a))
    p.ours = _ours(a, memory_of(d, a).aliases, whole=True)
    doc = _doc(d, a, request)
    if request.mode == "vjp":
        return vjp(p, finish, entry, doc, request.single, seed_name, request.has_aux)
    if K.NONE in K.options(a.kinds.result):
        p.forward.append(_not_none(a))
    value = request.mode == "value_and_grad"
    return joint(p, finish, entry, doc, request.single, value, request.has_aux)


def _not_none(a: Analysed) -> Node:
    """Return what refuses a result that is None on the path taken: it has no gradient."""
    result = a.function.result
    reason = gast.Constant(f"{a.function.source.name} returned None, which has no gradient", None)
    test = compare(name(result), gast.Is, gast.Constant(None, None))
    return gast.If(test, [gast.Raise(call("TypeError", reason), None)], [])


def _work_on_copies(d: Derivation, a: Analysed) -> Block:
    """Return the copies of arguments whose arrays the function writes: the caller's stay."""
    out: Block = []
    entry = a.kinds.before[a.function.node.body[0]]
    memory = memory_of(d, a)
    written = arguments_written(memory) | d.asked.get(a, frozenset())
    laid = laid_out(memory.aliases)
    exact = bool(written) and asks_for_layout(b.function for b in d.analysed.values())
    found = _written(d, a) if written else Written()
    for p in a.function.params:
        if p not in written:
            continue
        if p in entry:
            refuse_copy(p, entry[p], [(b.function, b.kinds) for b in d.analysed.values()])
        if p in laid or exact:
            # Whether a reshape of it is a view depends on how it lies in memory.
            copied = call(d.refs.function(runtime.apart), name(p))
            if not isinstance(entry.get(p), K.Array):
                raise UnsupportedError(
                    f"An array in `{p}` is written in place, and how it lies in memory counts; "
                    "that cannot be differentiated yet.",
                    remedy="Pass the array as an argument of its own, or copy it.",
                    place=a.function.source.place(a.function.node),
                )
        elif isinstance(entry.get(p), K.Array):
            copied = call(attribute(name(p), "copy"), order=gast.Constant("K", None))
        else:
            places = {place for part in found.of(p) for place in part}
            listed = [] if ANYWHERE in places else map(literal, sorted(places, key=repr))
            copied = call(d.refs.function(runtime.unshared), name(p), *listed)
        out.append(assign(p, copied))
    return out


def _ours(a: Analysed, aliases: Aliases, whole: bool) -> frozenset[str]:
    """Return the arrays whose memory nobody outside sees: writes that are not read may go.

    Arguments count where derived code works on copies of them (`whole`).
    """
    found: set[str] = set()
    for n in aliases.written_arrays() & a.function.locals:
        shared = aliases.ever(n)
        outside = {m for m in shared if "@" not in m} - a.function.locals
        if not outside and (whole or not any(m.endswith("@arg") for m in shared)):
            found.add(n)
    return frozenset(found)


def _one(d: Derivation, a: Analysed) -> Node:
    """Return the seed: 1.0, in single precision where the result is."""
    kind = a.kinds.result
    if isinstance(kind, K.Tuple):
        kind = kind.items[0]
    dtype = getattr(kind, "dtype", None)
    if dtype in ("float16", "float32"):
        return call(f"{d.refs.space(space_in(a.kinds))}.{dtype}", constant(1.0))
    return constant(1.0)


def _doc(d: Derivation, a: Analysed, request: Request) -> str:
    source = a.function.source
    where = f"{_label(a)} ({source.file.rsplit('/', 1)[-1]}:{source.fn.__code__.co_firstlineno})"
    if source.fn in d.read_as:
        where = d.parts[d.read_as[source.fn]].title
    listed = _listed(tuple(map(str, request.results())))
    if request.mode == "grad":
        return f"Gradient of {where} with respect to {listed}."
    if request.mode == "value_and_grad":
        return f"Value of {where} and its gradient with respect to {listed}."
    return f"Value of {where}, and its pullback with respect to {listed}."


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
        f"With has_aux=True {_label(a)} must return {pair}, but it returns {K.describe(kind)}.",
        remedy="Return a pair, or leave has_aux out.",
        place=a.function.source.place(a.function.source.node),
    )


def is_real_scalar(kind: Kind) -> bool:
    """Say whether a result of a kind has a gradient."""
    if isinstance(kind, K.Num):
        return kind.type != "complex"
    return isinstance(kind, K.Array) and kind.rank == 0 and kind.dtype in K.REALS


def _check_result(a: Analysed, request: Request) -> None:
    if request.mode == "reverse":
        check_seed(a, request.seeded)
    kind = a.kinds.result
    if request.has_aux:
        kind = _loss_of(a, request, kind)
    if request.mode not in ("grad", "value_and_grad"):
        return
    if all(map(is_real_scalar, K.options(K.without_none(kind)))):
        return
    if isinstance(kind, K.Unknown):
        raise UnsupportedError(
            f"What {_label(a)} returns is not known when its derivative is written"
            f"{': ' + kind.why if kind.why else ''}.",
            remedy=kind.instead or "Give example arguments, or return a float.",
            place=a.function.source.place(a.function.source.node),
        )
    raise ActivityError(
        f"{request.mode} wants a real scalar, but {_label(a)} returns {K.describe(kind)}.",
        remedy="Use s2sad.jacobian or s2sad.vjp, or return a sum of the result.",
        place=a.function.source.place(a.function.source.node),
    )
