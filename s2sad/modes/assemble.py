"""Put the sweeps of a function together: one function, a function and its pullback, or a pair."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gast

from s2sad import kinds as K
from s2sad import runtime
from s2sad.emitted.found import surely_real
from s2sad.emitted.hooks import HELPERS
from s2sad.kinds import Kind
from s2sad.known.lifted import space_among
from s2sad.known.mixed import may_be_complex_number
from s2sad.modes.outside import Outside, keep_as_it_was
from s2sad.modes.shapes import NARROW
from s2sad.modes.storage import bind_unbound
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    assign,
    assign_tuple,
    attribute,
    block_writes,
    blocks_of,
    call,
    children,
    clone,
    constant,
    dotted,
    name,
    names_read,
    names_written,
    rename,
    subscript,
    tuple_,
    walk,
)
from s2sad.selected import Selected
from s2sad.stages import Aliases, Comment, Steps
from s2sad.syntax.flow import live_in
from s2sad.syntax.identity import refuse_copy
from s2sad.syntax.layouts import asks_for_layout


@dataclass
class Parts:
    """The two sweeps of one function, stored and simplified, and what is known of their names."""

    analysed: Any
    names: Names
    forward: Block
    backward: Block
    bars: tuple[str, ...]
    kinds: dict[str, Kind]
    made_up: frozenset[str]
    pure: Any
    bar_kinds: dict[str, Kind]
    pinned: frozenset[str] = frozenset()
    shadows: frozenset[str] = frozenset()
    wanted: tuple[str, ...] = ()
    buffers: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()
    sharing: dict[str, frozenset[str]] = field(default_factory=dict)
    held: frozenset[str] = frozenset()
    ours: frozenset[str] = frozenset()
    copies: tuple[Any, ...] = ()
    aliases: Aliases = field(default_factory=Aliases)
    kept: Mapping[str, str] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    scalars: frozenset[str] = frozenset()
    borrowed: Mapping[str, bool] = field(default_factory=dict)
    odd: bool = False
    undone: Mapping[Any, Any] = field(default_factory=dict)
    picked: tuple[Selected, ...] = ()
    absent: frozenset[str] = frozenset()

    def made_up_names(self) -> frozenset[str]:
        """Return the names that neither the user wrote nor a temporary of theirs holds."""
        return _made_up(self)

    def popped(self, block: Block) -> set[str]:
        """Return the lists that a block takes items from."""
        return _popped(block)


Finish = Callable[["Parts", Block, frozenset[str], "set[str]", frozenset[str]], Block]


def joint(
    p: Parts,
    finish: Finish,
    entry: str,
    doc: str,
    single: bool,
    with_value: bool,
    has_aux: bool = False,
) -> Node:
    """Return one function that runs both sweeps and returns the gradient, or value and gradient."""
    function = p.analysed.function
    gradient = result_of(_results(p), single)
    extra = p.made_up_names()
    forward = p.forward
    if with_value:
        value = name(function.result)
        last = gast.Return(tuple_([value, gradient]))
    elif has_aux:
        last = gast.Return(tuple_([gradient, subscript(name(function.result), constant(1))]))
    else:
        last = gast.Return(gradient)
    backward = p.backward
    separator = [Comment("")] if backward else []
    kept = _surely_real(p, has_aux) + (result_apart(p) if with_value or has_aux else [])
    read = set().union(*(names_read(s) for s in backward), set())
    absent = [assign(n, constant(None)) for n in sorted(p.absent & read)]
    body = [*p.copies, *absent, *forward, *kept, *separator, *backward, last]
    body = finish(p, body, frozenset(), set(p.bars), extra)
    return define(function.node, entry, doc, body)


def _surely_real(p: Parts, has_aux: bool) -> Block:
    """Look at run time whether a result is real, where it may be complex and has no gradient."""
    result = p.analysed.function.result
    kind = p.analysed.kinds.result
    value = name(result)
    if has_aux and isinstance(kind, K.Tuple):
        kind, value = kind.items[0], subscript(value, constant(0))
    if not may_be_complex_number(kind):
        return []
    return [gast.Expr(call(name(p.pure.d.refs.function(surely_real)), value))]


def result_apart(p: Parts) -> Block:
    """Copy a result whose memory the backward sweep puts back."""
    result = p.analysed.function.result
    kind = p.kinds.get(result)
    if isinstance(kind, K.Num):
        return []
    if result not in p.aliases.rewritten() and not puts_back_result(p, p.backward):
        return []
    helper = p.pure.d.refs.function(runtime.private)
    return [assign(result, call(helper, name(result)))]


def vjp(
    p: Parts,
    finish: Finish,
    entry: str,
    doc: str,
    single: bool,
    seed: str,
    has_aux: bool,
    lasting: bool = True,
) -> Node:
    """Return a function that gives the value and a pullback, which may be called again.

    If it is `lasting`, what it was given may be changed before.
    """
    function = p.analysed.function
    extra = p.made_up_names()
    backward = p.backward
    pullback_name = p.names.fresh("pullback")
    inner_last = gast.Return(result_of(_results(p), single))
    inner = finish(p, [*backward, inner_last], frozenset(), set(p.bars), extra)
    inner = keep_outside(p, inner, frozenset({seed}))
    definition = gast.FunctionDef(pullback_name, _arguments([seed]), inner, [], None, None)
    value = name(function.result)
    if has_aux:
        parts = [subscript(value, constant(i)) for i in (0, 1)]
        last = gast.Return(tuple_([parts[0], name(pullback_name), parts[1]]))
    else:
        last = gast.Return(tuple_([value, name(pullback_name)]))
    copies = [*p.copies, *(_private_copies(p, inner, seed) if lasting else ())]
    forward = all_bound(p, inner, frozenset({seed}))
    body = [*copies, *forward, Comment(""), definition, Comment(""), last]
    body = finish(p, body, frozenset(), set(), extra)
    if not lasting:
        return define(function.node, entry, doc, body)
    body = [*_late_copies(p, body, copies, seed), *body]
    _protect_value(body, p, inner)
    pullback = next(s for s in reversed(body) if isinstance(s, gast.FunctionDef))
    body = keep_as_it_was(body, pullback, outside_of(p))
    return define(function.node, entry, doc, body)


def outside_of(p: Parts) -> Outside:
    """Return what a backward sweep may read that belongs to others."""
    d, function = p.pure.d, p.analysed.function
    derived = (f.name for f in d.functions)
    return Outside(
        p.analysed.scope.path,
        frozenset({*function.locals, *d.refs.modules, *d.refs.functions, *derived}),
        p.borrowed,
        p.kinds,
        p.names,
        lambda: d.refs.function(runtime.private),
        frozenset(n for n, fn in d.refs.functions.items() if fn in HELPERS),
    )


def _made_up(p: Parts) -> frozenset[str]:
    """Return the names that neither the user wrote nor a temporary of theirs holds."""
    written = block_writes(p.forward) | block_writes(p.backward)
    own = set(p.analysed.function.locals) - set(p.analysed.function.temps)
    return frozenset(written - own)


def keep_outside(p: Parts, inner: Block, given: frozenset[str]) -> Block:
    """A pullback binds no name that it reads from outside: those get names of its own.

    What it is `given` as parameters is its own already.
    """
    names = p.names
    free = live_in(inner, frozenset()) - _only_inside(p, inner)
    bound = block_writes(inner)
    out: Block = []
    table: dict[str, str] = {}
    back = put_back_in(p, inner)
    group = _sharing_group(p, inner, back) & free
    arrays = set(back.arrays) - group
    mutated = (_with_old_names(inner, _popped(inner)) - group) | arrays
    if group:
        chosen = sorted(group)
        table = {n: names.numbered(n) for n in chosen}
        out.append(apart(p, chosen, [table[n] for n in chosen]))
        bound -= group
    for n in sorted((free & bound) | (mutated & free)):
        if n in given:
            continue
        stack = n in mutated and n not in arrays
        fresh = names.fresh(f"{n}_left") if stack else names.numbered(n)
        table[n] = fresh
        value: Node = name(n)
        if n in mutated:
            value = call(attribute(value, "copy"))
        out.append(assign(fresh, value))
    if not table:
        return inner
    start = len(out)
    for s in inner:
        rename(s, table)
    del start
    return [*out, *inner]


def _with_old_names(block: Block, changed: set[str]) -> set[str]:
    """Return names and those by which a block knows them before: c_0 of c, where `c = c_0`."""
    pairs = [
        (s.targets[0].id, s.value.id)
        for s in all_inside(block)
        if isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, gast.Name)
    ]
    for _ in pairs:
        changed = changed | {old for new, old in pairs if new in changed}
    return changed


def _only_inside(p: Parts, inner: Block) -> frozenset[str]:
    """Return the names that nobody binds but the pullback: cotangents.

    On a path that ends in a raise they may have no value: the pullback does not come that way.
    """
    return frozenset(block_writes(inner) - block_writes(p.forward)) - {*p.analysed.function.params}


@dataclass(frozen=True)
class PutBack:
    """The arrays whose old content a backward sweep puts back, and who shares their memory.

    `together` says that some of the arrays may share memory with each other.
    """

    arrays: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    together: bool = False


def arguments_put_back(p: Parts, block: Block, but: Any = None) -> frozenset[str]:
    """Return the parameters whose memory gets old content back in a block of a backward sweep.

    The reverse of a call may put back what the call wrote. That of a pair itself is left out.
    """
    found: frozenset[str] = frozenset()
    for n in written_parts(block) & set(p.analysed.function.locals):
        found |= p.aliases.ever(n)
    found = frozenset(n.removesuffix("@arg") for n in found if n.endswith("@arg"))
    for write in p.aliases.writes:
        pair = p.undone.get(write.statement)
        if pair is not None and pair is not but and pair.puts_back != frozenset():
            found |= p.aliases.arguments(write)
    return found


def puts_back_result(p: Parts, block: Block) -> bool:
    """Say whether a backward sweep puts old content back into memory that the result has."""
    result = p.analysed.function.result
    if isinstance(p.kinds.get(result), K.Num):
        return False
    calls = [n for s in block for n in walk(s) if isinstance(n, gast.Call)]
    spoilt = {kept for n in calls for kept in p.pure.changes(n)}
    found = written_parts(block) & set(p.analysed.function.locals)
    found = found.union(*(p.sharing.get(n, frozenset()) for n in spoilt))
    return any((p.aliases.ever(n) | {n}) & (p.aliases.ever(result) | {result}) for n in found)


def put_back_in(p: Parts, block: Block) -> PutBack:
    """Return what a backward sweep changes of the forward sweep's arrays; it runs on copies."""
    user = set(p.analysed.function.locals) | (set(p.sharing) - set(p.bar_kinds))
    names = {n for s in block for n in names_read(s) | names_written(s)}
    lists = {n for n in _popped(block) & user if (p.aliases.ever(n) - {n}) & names}
    found = (written_parts(block) & user) | lists
    others: frozenset[str] = frozenset().union(
        *(p.aliases.ever(n) | p.sharing.get(n, frozenset()) for n in found)
    )
    if found:  # what calls have kept is copied with all that it may share memory with
        others = others.union(p.kept.values(), *(p.aliases.ever(ghost) for ghost in p.kept))
        _copy_restored(block, found, others)
    if (found | others | _popped(block)) & p.asked:  # found by memory: copied all together
        same = {n for n in names - set(p.bar_kinds) if p.sharing.get(n, frozenset()) & p.asked}
        others |= p.asked | same
    together = any(p.aliases.ever(n) & (found - {n}) for n in found)
    return PutBack(frozenset(found), (others & names) - found, together)


def written_parts(block: Block) -> set[str]:
    """Return the names through which a block writes into memory: `A[i] = v`, `x.w = v`."""
    found: set[str] = set()
    for s in block:
        for part in blocks_of(s):
            found |= written_parts(part)
        for target in getattr(s, "targets", None) or [getattr(s, "target", None)]:
            place = target
            while isinstance(place, gast.Subscript | gast.Attribute):
                place = place.value
            if place is not target and isinstance(place, gast.Name):
                found.add(place.id)
    return found


def apart(p: Parts, names: list[str], targets: list[str]) -> Node:
    """Return the statement that gives names copies which share memory as the originals do."""
    helper = p.pure.d.refs.function(runtime.apart)
    if len(targets) == 1:
        return assign(targets[0], call(helper, name(names[0])))
    return assign_tuple(targets, call(helper, tuple_(map(name, names))))


def _copy_restored(block: Block, arrays: set[str], others: frozenset[str]) -> None:
    """What is kept for the next call is copied before parts of it are put back in place.

    What shares memory with others is copied together with them.
    """
    position = 0
    while position < len(block):
        s = block[position]
        for part in blocks_of(s):
            _copy_restored(part, arrays, others)
        if isinstance(s, gast.Assign):
            target = s.targets[0]
            if isinstance(target, gast.Name) and target.id in arrays:
                if isinstance(s.value, gast.Name) and s.value.id not in others:
                    s.value = call(attribute(s.value, "copy"))
        position += 1


def _sharing_group(p: Parts, block: Block, back: PutBack) -> frozenset[str]:
    """Return what must be copied together: arrays that share memory, and the tape holding them."""
    plain = all(isinstance(p.kinds.get(n), K.Array) for n in back.arrays)
    alone = plain and not back.others and not back.together
    if alone and not (back.arrays and _popped(block)):
        return frozenset()
    return back.arrays | back.others | _popped(block)


def all_bound(p: Parts, inner: Block, given: frozenset[str]) -> Block:
    """Return the forward sweep with everything bound that the pullback copies when it starts."""
    free = live_in(inner, frozenset()) - given
    own = block_writes(p.forward) & free
    stacks = {n for s in inner for n in _copied(s)} & own
    look = gast.Expr(tuple_(name(n) for n in sorted(own)))
    params = set(p.analysed.function.params)
    return bind_unbound([*p.forward, look], params, set(own), stacks)[:-1]


def _copied(s: Node) -> set[str]:
    """Return the names whose .copy() a statement takes."""
    return {
        n.func.value.id
        for n in walk(s)
        if isinstance(n, gast.Call)
        and isinstance(n.func, gast.Attribute)
        and n.func.attr == "copy"
        and isinstance(n.func.value, gast.Name)
    }


_CHANGING = frozenset({"pop", "append", "insert", "clear"})


def _popped(block: Block) -> set[str]:
    """Return the names of the lists that get or lose items in a block.

    What the user's lambdas do to lists, as hooks into adjoints are, they do to the user's.
    """
    found: set[str] = set()
    pending = list(block)
    while pending:
        n = pending.pop()
        if isinstance(n, gast.Lambda):
            continue
        pending += children(n)
        if (
            isinstance(n, gast.Call)
            and isinstance(n.func, gast.Attribute)
            and n.func.attr in _CHANGING
            and isinstance(n.func.value, gast.Name)
        ):
            found.add(n.func.value.id)
    return found


def _private_copies(p: Parts, inner: Block, seed: str) -> Block:
    """Copy the arrays among the arguments that the pullback reads: the caller may change them."""
    free = live_in(inner, frozenset()) - {seed}
    out: Block = []
    written = {s.targets[0].id for s in p.copies}
    read = free | _on_tapes(p.forward, free) | _under_other_names(p.forward, free)
    ghosts = {ghost for ghost, n in p.kept.items() if n in read}
    shared: frozenset[str] = frozenset().union(*(p.aliases.ever(n) for n in read | ghosts))
    exact = asks_for_layout(a.function for a in p.pure.d.analysed.values())
    entry = p.analysed.kinds.before.get(p.analysed.function.node.body[0], {})
    for param in p.analysed.function.params:
        kind = entry.get(param)
        if param in written or (kind is not None and K.shares_nothing(kind)):
            continue
        reads = param in free or f"{param}@arg" in shared
        if reads and kind is not None:
            refuse_copy(param, kind, [(a.function, a.kinds) for a in p.pure.d.analysed.values()])
        if reads and exact:
            out.append(assign(param, call(p.pure.d.refs.function(runtime.apart), name(param))))
        elif reads and isinstance(kind, K.Array):
            # What is a view of a reshaped array depends on how the arguments lie in memory.
            order = {"order": gast.Constant("K", None)} if kind.rank > 1 else {}
            out.append(assign(param, call(attribute(name(param), "copy"), **order)))
        elif reads and not (isinstance(kind, K.Obj) and K.is_enumerated(kind.cls)):
            helper = p.pure.d.refs.function(runtime.private)
            out.append(assign(param, call(helper, name(param))))
    return out


def _late_copies(p: Parts, body: Block, copies: Block, seed: str) -> Block:
    """Copy the arguments that the pullback reads since expressions were moved into it."""
    done = {s.targets[0].id for s in copies}
    inner = next(s.body for s in reversed(body) if isinstance(s, gast.FunctionDef))
    return [s for s in _private_copies(p, inner, seed) if s.targets[0].id not in done]


def _protect_value(body: Block, p: Parts, inner: Block) -> None:
    """Return a copy of the value where the pullback reads the same array, or one in it."""
    parts = body[-1].value.elts
    free = live_in(inner, frozenset())
    read = {n for n in free if not isinstance(p.kinds.get(n), K.Num)}
    kept = {n for n in _on_tapes(body, free) if not isinstance(p.kinds.get(n), K.Num)}
    read |= kept | {ghost for ghost, n in p.kept.items() if n in free}
    for position in (0, 2)[: len(parts) - 1]:
        value = parts[position]
        if isinstance(value, gast.Constant | gast.BinOp | gast.UnaryOp):
            continue
        names = names_read(value)
        if not read & names.union(*(p.aliases.ever(n) for n in names)):
            continue
        kind = p.kinds.get(value.id) if isinstance(value, gast.Name) else None
        if isinstance(kind, K.Array):
            parts[position] = call(attribute(value, "copy"))
        elif not isinstance(kind, K.Num):
            parts[position] = call(p.pure.d.refs.function(runtime.private), value)


def _on_tapes(block: Block, tapes: frozenset[str]) -> set[str]:
    """Return the names whose values tapes may hold: lists, and what calls keep."""
    found: set[str] = set()
    for s in block:
        for part in blocks_of(s):
            found |= _on_tapes(part, tapes)
        value = getattr(s, "value", None)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Tuple):
            bound = names_written(s.targets[0])
            found |= bound if bound & tapes and isinstance(value, gast.Call) else set()
        elif isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
            if value.func.attr == "append" and names_read(value.func.value) & tapes:
                found |= set[str]().union(*map(names_read, value.args))
    return found


def share(sharing: dict[str, frozenset[str]], kept: str, variable: str) -> None:
    """Note that a name holds what a variable was: it shares memory with all that this shares."""
    if variable not in sharing:
        return
    others = sharing[variable] | {variable}
    sharing[kept] = sharing.get(kept, frozenset()) | others
    for n in others:
        sharing[n] = sharing.get(n, frozenset()) | {kept}


def _under_other_names(block: Block, names: frozenset[str]) -> set[str]:
    """Return the variables whose values are kept under some of the names."""
    found: set[str] = set()
    for s in block:
        for part in blocks_of(s):
            found |= _under_other_names(part, names)
        if isinstance(s, gast.Assign) and isinstance(s.value, gast.Name):
            found |= {s.value.id} if names_written(s) & names else set()
    return found


def _results(p: Parts) -> list[Node]:
    """Return the cotangents that are asked for: of parameters, or of parts of them."""
    bars = dict(zip(p.wanted, p.bars, strict=True))
    if not p.picked:
        return [like(p, b) for b in p.bars]
    given = p.analysed.kinds.before.get(p.analysed.function.node.body[0], {})
    return [
        one.node(name(bars[one.parameter]), given.get(one.parameter, K.UNKNOWN))
        if one.path
        else like(p, bars[one.parameter])
        for one in p.picked
    ]


def like(p: Parts, bar: str) -> Node:
    """Return a cotangent in the class of its parameter: a named tuple, an array without axes.

    The product of a number and a narrow array is narrow.
    """
    param = p.wanted[p.bars.index(bar)]
    given = p.analysed.kinds.before.get(p.analysed.function.node.body[0], {})
    kind = given.get(param, p.bar_kinds.get(bar))
    numpy = p.pure.d.refs.space(space_among([kind or K.UNKNOWN]))
    value: Node = name(bar)
    if p.odd and not K.holds_complex(given.get(param, K.UNKNOWN)):
        check = runtime.real if isinstance(kind, K.Num | K.Array) else runtime.all_real
        value = call(p.pure.d.refs.function(check), value)
    if isinstance(kind, K.Array) and not kind.rank:
        return call(f"{numpy}.array", value, dtype=dotted(f"{numpy}.{kind.dtype}"))
    if isinstance(kind, K.Array) and kind.dtype in _WIDE and _mixes(p):
        dtype = dotted(f"{numpy}.{kind.dtype}")
        return call(attribute(value, "astype"), dtype, copy=constant(False))
    if isinstance(kind, K.Num) and kind.type == "float" and kind.dtype is None and _mixes(p):
        return call("float", value)
    if not isinstance(kind, K.Tuple) or kind.cls is None:
        return value
    return gast.Call(call("type", name(param)), [gast.Starred(value, gast.Load())], [])


_WIDE = ("float64", "complex128")


def _mixes(p: Parts) -> bool:
    """Say whether there is anything of less than double precision in a function."""
    known = (k for kind in p.kinds.values() for k in K.options(kind))
    return any(isinstance(k, K.Array | K.Num) and k.dtype in NARROW for k in known)


def literal(place: Steps) -> Node:
    """Return a place in a structure as a tuple of its steps."""
    return gast.Tuple([constant(step) for step in place], gast.Load())


def result_of(bars: list[Node], single: bool) -> Node:
    """Return one cotangent bare, several as a tuple."""
    return bars[0] if single else tuple_(bars)


def wrapped(doc: str) -> str:
    """Return a docstring in lines that fit."""
    if len(doc) <= 88:
        return doc
    return "\n    ".join(textwrap.wrap(doc, 92)) + "\n    "


def define(original: Node, entry: str, doc: str, body: Block) -> Node:
    """Return the definition of a derived function with the parameters of the original."""
    while body and isinstance(body[0], Comment) and not body[0].text:
        body = body[1:]
    args = clone(original.args)
    for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]:
        if a is not None:
            a.annotation = None
    docstring = gast.Expr(gast.Constant(wrapped(doc), None))
    return gast.FunctionDef(entry, args, [docstring, *body], [], None, None)


def _arguments(names: list[str]) -> Node:
    params = [gast.Name(n, gast.Param(), None, None) for n in names]
    return gast.arguments(params, [], None, [], [], None, [])
