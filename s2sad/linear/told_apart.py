"""Whether names tell memory apart: so is decided how cotangents of memory are found.

u[1:] += v             by name: the cotangent of `u` is the variable u_bar
w = u if t else v      by identity: which cotangent that of `w` is, the memory tells at run time

A request goes one way as a whole: all functions in it, since they hand memory to one another. It
goes by identity where in one of them memory that is written, or a structure, may have two names of
which neither is a part of the other, or is handled in a way that is turned round by identity alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.given import written_parameters
from s2sad.ir import program as P
from s2sad.ir.deeds import deed
from s2sad.ir.program import Op, Operand, Var
from s2sad.known.built import built_like
from s2sad.linear.backward import ARRAYS, ZEROS
from s2sad.linear.by_identity import (
    holds_structures,
    is_memory,
    is_structure,
    may_be_either,
)
from s2sad.linear.by_symmetry import goes_by_symmetry
from s2sad.linear.filled_once import fills_once
from s2sad.linear.memory_parts import is_replaced, parts_of_memory
from s2sad.linear.operands import is_array, kind_of
from s2sad.linear.part_by_part import kind_in_the_end, kinds_of
from s2sad.linear.ready import Ready, ready_to_reverse
from s2sad.linear.swapped import are_apart
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.turned_calls import given_twice, met_by, passes_nothing
from s2sad.linear.turned_hooks import is_known_elsewhere
from s2sad.linear.turned_lists import makes_list, picks_arrays
from s2sad.linear.turned_memory import (
    entries,
    function_of,
    known_index,
    makes_object,
    may_be_view,
)
from s2sad.linear.turned_numbers import moves_numbers
from s2sad.linear.unwritten import holds_plain, is_shown_later, is_value, stays
from s2sad.linear.user_calls import CallOfUser, parts_of
from s2sad.linear.zero_tangents import memories_in
from s2sad.primitives import language as L
from s2sad.steps.derivation import analyse, memory_of

_ADDS = ("augmented", "augmented item", "augmented field", "each item")
_ALWAYS = ("discard", "hook", "look", "bind", "forget", "put item", "put field", *_ADDS)


def by_identity(first: Ready) -> bool:
    """Say whether cotangents go by identity in a function and in all that it calls."""
    met, todo = [first], [first]
    while todo:
        function = todo.pop()
        if why_by_identity(function):
            return True
        new = [f for f in _called(function) if not any(f is g for g in met)]
        met += new
        todo += new
    return False


def _called(function: Ready) -> Iterator[Ready]:
    """Yield the functions of the user's that a function calls."""
    sweep, table = function.sweep, function.table
    for op in P.every(function.linear.program.block):
        if isinstance(op, Op) and op.primitive.form == "tangent of call":
            noted = _noted(op)
            if goes_by_symmetry(table.derivation, noted.call):
                continue
            if passes_nothing(op, noted):
                continue
            meets = met_by(sweep, op, noted, Tangents(table))
            yield ready_to_reverse(table.derivation, noted.call, noted.active, meets)


def why_by_identity(function: Ready) -> str:
    """Say what names do not tell apart in a function; nothing where they tell all."""
    return next(_Look(function).found(), "")


class _Look:
    """Looks for what names do not tell apart in one function; `parts` read parts of memory."""

    def __init__(self, function: Ready) -> None:
        self.function, self.sweep, self.table = function, function.sweep, function.table
        self.values, self.written = function.sweep.values, function.table.facts.written
        self.block = function.linear.program.block
        regions = (o for o in P.every(self.block) if not isinstance(o, Op))
        self.blocks = [self.block, *(b for r in regions for b in P.blocks(r))]
        self.t = Tangents(self.table)
        self.parts = parts_of_memory(self.block, self.sweep, self.table)

    def found(self) -> Iterator[str]:
        """Yield what is found."""
        if is_replaced(self.block, self.values, self.parts):
            yield "a structure that changes while a part of it is in use"
        if is_known_elsewhere(self.block, self.parts, self.sweep):
            yield "a hook of memory that has another name"
        if any(is_structure(v.kind) and v.name in self.function.stands.lent for v in self.given()):
            yield "a structure that the caller changes before the backward sweep"
        yield from self.shared_in(self.block.params, None)
        for op in P.every(self.block):
            if not isinstance(op, Op):
                yield from self.region(op)
            elif self.sweep.is_linear(op):
                yield from self.shared_in(op.outs, op)
                if any(self.goes_on(dot, v, op) for dot, v in self.of(op)):
                    yield "a structure in a tuple"
                yield from self.op(op)

    def given(self) -> list[Var]:
        """Return the parameters that have tangents."""
        return [self.values[dot] for dot in self.block.params if dot in self.values]

    # values

    def shared_in(self, dots: tuple[Var, ...], made: Op | None) -> Iterator[str]:
        """Look at structures whose parts may share memory."""
        for v in (self.values[d] for d in dots if d in self.values and d not in self.parts):
            alone = memories_in(v.kind) < 2 or not _among(v, self.written)
            alone = alone or (made is not None and (self.stays(v, made) or self.is_of_new(made)))
            if is_structure(v.kind) and not alone and not self.holds_values(v):
                yield "parts of a structure that may share memory"

    def holds_values(self, v: Var) -> bool:
        """Say whether a structure holds numbers, or arrays that nobody writes, alone."""
        arrays = not _among(v, self.table.facts.filled)
        return all(
            isinstance(k, K.Num) or (arrays and isinstance(k, K.Array)) for k in K.together(v.kind)
        )

    def is_of_new(self, made: Op) -> bool:
        """Say whether a structure is made here of nothing but new memory, each part of its own.

        What comes into it under a name that goes on to be used, `is_held` tells.
        """
        if made.primitive not in (L.LIST, L.DICT) and not makes_object(made):
            return False
        given = [*made.operands, *(o for _, o in made.settings if isinstance(o, P.OPERANDS))]
        found = [self.values[o] for o in given if isinstance(o, Var) and o in self.values]
        spread = any(isinstance(o, P.Spread) for o in given)
        return not spread and all(self.is_new(v) for v in found if memories_in(v.kind))

    def is_new(self, v: Var) -> bool:
        """Say whether a variable is memory that an operation has made, of new memory alone."""
        made = self.sweep.makers.get(v)
        if made is None or isinstance(v.kind, K.Union | K.Tuple):
            return False
        display = made.primitive in (L.LIST, L.DICT) or makes_object(made)
        return display or deed(made).fresh

    def is_held(self, dot: Operand, op: Op) -> bool:
        """Say whether memory that is put into a structure here goes on to be used by its name."""
        if not isinstance(dot, Var) or dot not in self.values:
            return False
        v = self.values[dot]
        array = isinstance(v.kind, K.Array) and self.sweep.is_memory(v, self.t)
        array = array and not self.stays(v, op)
        maker = self.sweep.makers.get(v)
        shown = maker is not None and not self.is_new(v)
        twice = [*op.operands, *(value for _, value in op.settings)].count(dot) > 1
        order = self.sweep.written.order
        around = order[maker][1] if maker is not None and maker in order else ()
        again = {*order[op][1]} - {*around}  # it comes into a structure in each round
        used = shown or twice or again or self.sweep.last.get(dot) is not op or self.is_callers(v)
        held = array or (K.is_container(v.kind) and not self.is_value(v, op))
        return held and bool(used or is_shown_later(self.sweep, v, op))

    def is_callers(self, v: Var) -> bool:
        """Say whether a variable is a parameter that is written: its caller uses it by its name."""
        seen = not self.table.outermost or self.function.stands.shown
        return seen and v in self.written and v in self.table.facts.program.block.params

    def is_changed(self, v: Var, made: P.Operation) -> bool:
        """Say whether a variable may be an array that is written while it is in use."""
        array = any(isinstance(k, K.Array) for k in K.options(v.kind))
        return array and v in self.written and not self.stays(v, made)

    def stays(self, v: Var, made: P.Operation) -> bool:
        """Say whether memory is not written while what shows it from here on is in use."""
        return stays(self.sweep, self.block, v, made)

    def is_value(self, v: Var, made: P.Operation) -> bool:
        """Say whether a structure, or a tuple that holds such, is a value from here on."""
        return is_value(self.sweep, self.table, v, made)

    def is_mixed(self, v: Var) -> bool:
        """Say whether a variable is memory or something else, and has no zeros by its name.

        What is an array or a number has, and what is an array, or a tuple, or None.
        """
        if not isinstance(v.kind, K.Union) or not any(map(is_memory, v.kind.inside)):
            return False
        numeric = all(isinstance(k, K.Num | K.Array) for k in K.options(v.kind))
        return not (numeric or isinstance(K.without_none(v.kind), K.Tuple | K.Array))

    def of(self, op: Op) -> Iterator[tuple[Var, Var]]:
        """Yield the tangents that an operation gives, and what they are the tangents of."""
        yield from ((dot, self.values[dot]) for dot in op.outs if dot in self.values)

    def changes(self, given: Operand, op: Op) -> bool:
        """Say whether a structure that comes into a tuple may change: by whichever of its names."""
        v = self.values.get(given) if isinstance(given, Var) else None
        return v is not None and is_structure(v.kind) and self.sweep.written.after(op, v)

    def goes_on(self, dot: Var, v: Var, made: Op) -> bool:
        """Say whether a tuple with a structure in it does more than to be returned, or taken apart.

        Where it does that once the structure has two names, one before and one behind it, and each
        has a cotangent: what that of the later one holds is added to the other's. So it is where
        the structure is a value.
        """
        if not isinstance(v.kind, K.Tuple) or not holds_structures(v.kind):
            return False
        if self.is_value(v, made):
            return False
        reads = [op for op in P.every(self.block) if dot in map(P.variable, P.operands(op))]
        ends = [b for b in self.blocks if dot in map(P.variable, b.end.results)]
        apart = all(isinstance(op, Op) and op.primitive is L.UNPACK for op in reads)
        return len(reads) + len(ends) > 1 or not apart or any(b is not self.block for b in ends)

    # operations

    def op(self, op: Op) -> Iterator[str]:
        """Look at an operation on tangents."""
        form, outs = op.primitive.form, [self.values[v] for v in op.outs if v in self.values]
        owner = op.operands[0] if op.operands else None
        whole = self.values[owner].kind if isinstance(owner, Var) and owner in self.values else None
        changed = [p.object for p in op.writes] if form != "augmented" else op.outs
        kinds = (self.values[v].kind for v in changed if v in self.values)
        if any(isinstance(kind, K.Union) and not is_array(kind) for kind in kinds):
            yield "a write into a value of several kinds"
        if form == "call" and function_of(op) in ZEROS and op.operands[1] in self.values:
            yield "a shadow that is found by its memory"
        if moves_numbers(op, self.sweep, self.table):
            return
        if form in ("tuple", "list", "dict") or makes_object(op):
            yield from self.display(op)
        elif form == "tangent of call":
            yield from self.call(op)
        elif form == "tangent":
            shown = may_be_view(op) and op.outs[0] not in self.parts
            if shown and not all(self.stays(v, op) for v in outs):
                yield "a view of memory that is written"
        elif form == "method" and op.primitive.word != "copy" and whole is not None:
            yield from self.method(op, whole)
        elif form in ("look", "bind"):
            yield from self.cell(op)
        elif form in ("item", "field", "same", "unpack"):
            yield from self.part(op, whole)
        elif form in ("put item", "put field"):
            if form == "put field" and self.is_other_in_the_end(op):
                yield "an attribute that a given object has not in the beginning"
            plain = whole is None or is_array(whole)
            array = not plain and isinstance(dict(op.settings).get("part"), K.Array)
            alone = fills_once(self.sweep, op) or self.is_alike(op)
            if array and alone:
                if self.is_held(op.operands[-1], op):
                    yield "memory that is put into a structure, and used by its own name, too"
            elif not plain and not isinstance(dict(op.settings).get("part"), K.Num):
                yield "memory that is put into a structure in the place of other memory"
        elif any(p.object in self.values for p in op.writes) and form not in _ALWAYS:
            yield f"{form} of a structure"
        elif any(is_structure(v.kind) for v in outs) and not self.is_simple(op):
            yield f"{form} of structures"

    def is_alike(self, op: Op) -> bool:
        """Say whether a value that comes into a structure is like what stood there, but for bits.

        The structure holds numbers and arrays that nobody writes, and where it gets an array here
        there are never any of other shapes, or the one that stood there is known.
        """
        owner, part = op.operands[0], dict(op.settings).get("part")
        assert isinstance(owner, Var)
        v = self.values[owner]
        if "stood" in dict(op.settings):
            return holds_plain(self.table, v)
        step = op.primitive.word
        if len(op.operands) == 3:
            step = getattr(kind_of(op.operands[1]), "value", K.MISSING)
            if isinstance(v.kind, K.List) and not isinstance(kind_of(op.operands[1]), K.Num):
                return False
        kinds = kinds_of(self.table, v)
        known = step is not K.MISSING and not isinstance(v.kind, K.List | K.OpenDict)
        there = [[k.at(step)] if known else K.together(k) for k in kinds]
        every = [k for held in there for k in held if k is not None]
        alike = isinstance(part, K.Kind) and all(built_like(k, part) for k in every)
        return alike and holds_plain(self.table, v)

    def is_other_in_the_end(self, op: Op) -> bool:
        """Say whether an object of the caller's gets parts that its cotangent must not have."""
        owner = op.operands[0]
        assert isinstance(owner, Var)
        v = self.values.get(owner)
        given = v is not None and self.table.outermost and self.sweep.may_be_given(v)
        return given and len({k.steps for k in kinds_of(self.table, self.values[owner])}) > 1

    def is_simple(self, op: Op) -> bool:
        """Say whether an operation that gives a structure passes a cotangent on as it is."""
        form = op.primitive.form
        simple = form == "method" or (form == "call" and function_of(op) in (*ZEROS, *ARRAYS))
        return simple or makes_list(op, self.sweep, self.table)

    def display(self, op: Op) -> Iterator[str]:
        """Look at what is put into a new tuple or structure."""
        named = (v for _, v in op.settings if isinstance(v, P.OPERANDS))
        given = (*op.operands, *(named if makes_object(op) else ()))
        if any(self.is_held(o, op) for o in given):
            yield "memory that is put into a structure, and used by its own name, too"
        others = [self.kind_of(o.value) for o in given if isinstance(o, P.Spread)]
        if op.primitive.form == "tuple":
            if any(self.changes(o, op) for o in given):
                yield "a structure in a tuple"
            if not all(isinstance(kind, K.Tuple) for kind in others):
                yield "a tuple that is made of others"
        elif op.primitive.form == "dict" and others:
            if not all(map(self.is_told, entries(op))):
                yield "a dict that is made of others"
        elif others:
            yield "a structure that is made of others"

    def kind_of(self, operand: Operand) -> K.Kind:
        """Return the kind of a value, by itself or by its tangent."""
        known = self.values.get(operand) if isinstance(operand, Var) else None
        return kind_of(operand) if known is None else known.kind

    def is_told(self, entry: tuple[Operand, Operand]) -> bool:
        """Say whether a dict that is made of others tells which keys it has from where.

        Of a dict in it, numbers and arrays that nobody writes have a cotangent by name.
        """
        first, given = entry
        if not isinstance(first, P.Spread):
            return getattr(kind_of(first), "value", K.MISSING) is not K.MISSING
        kind = self.kind_of(given)
        if not isinstance(kind, K.Dict) or given not in self.values:
            return isinstance(kind, K.Dict)
        if kind_in_the_end(self.table, self.values[given]) is None:
            return False
        parts = [k for k in K.together(kind) if K.differentiable(k)]
        arrays = any(map(K.may_be_array, parts))
        assert isinstance(given, Var)
        alone = not arrays or not self.sweep.is_memory(self.values[given], self.t)
        return alone and all(map(K.is_numeric, parts))

    def part(self, op: Op, whole: K.Kind | None) -> Iterator[str]:
        """Look at what reads parts of memory."""
        outs = [self.values[v] for v in op.outs if v in self.values]
        form, shown = op.primitive.form, any(self.is_changed(v, op) for v in outs)
        if whole is None:
            return
        whole = K.without_none(whole)
        if form == "unpack":
            if shown:
                yield "rows of memory that is written"
            if is_structure(whole):
                yield "parts of a structure"
            return
        if any(may_be_either(v.kind) and v in self.written for v in outs):
            yield "a part that may be a number, or an array that is written"
        index = known_index(self.sweep, op.operands[1]) if form == "item" else None
        known = isinstance(index, int | slice)
        held = (v for v in outs if is_structure(v.kind) and not (known and self.is_value(v, op)))
        if isinstance(whole, K.Tuple) and (shown or any(held)):
            yield "memory in a tuple"
        if form == "same" or not outs:
            return
        if isinstance(whole, K.List) and op.outs[0] in self.parts:
            if not isinstance(kind_of(op.operands[1]), K.Num) and not self.holds_still(op):
                yield "a slice of a list"
        plain = K.List | K.AnyDict | K.Tuple if form == "item" else K.Obj
        known = isinstance(whole, plain) or (form == "item" and is_array(whole))
        if op.outs[0] not in self.parts and not known:
            yield f"a part of {K.describe(whole)}"

    def holds_still(self, op: Op) -> bool:
        """Say whether nobody writes a slice of a list of structures, nor that list.

        The shadow of the slice holds the shadows of its items then: they are changed in place.
        """
        if picks_arrays(op, self.sweep, self.table):
            return True
        both = [self.values[v] for v in (*op.outs, op.operands[0]) if isinstance(v, Var)]
        items = all(is_structure(k) for v in both for k in K.together(K.without_none(v.kind)))
        return items and not any(_among(v, self.written) for v in both)

    def method(self, op: Op, whole: K.Kind) -> Iterator[str]:
        """Look at a method of a structure."""
        word, effects = (
            op.primitive.word,
            registry.effects_of(getattr(list, op.primitive.word, None)),
        )
        out = self.values.get(op.outs[0])
        if isinstance(op.outs[0].kind, K.Iterable_):
            return  # what goes through it passes on to what it goes through
        if not isinstance(whole, K.List):
            yield f"the method {word} of a structure"
        elif effects.writes == "puts" and word != "extend":
            if self.is_held(op.operands[-1], op):
                yield "memory that is put into a structure, and used by its own name, too"
        elif word not in ("pop", "reverse"):
            yield f"the method {word} of a list"
        elif out is not None and isinstance(out.kind, K.Tuple):
            yield "a tuple in a structure"

    def call(self, op: Op) -> Iterator[str]:
        """Look at a call of the user's function: at what it returns, and what it changes."""
        noted, facts = _noted(op), self.table.facts
        (out,), call = noted.op.outs, noted.call
        if given_twice(self.sweep, noted, self.table):
            yield "memory that stands in two arguments of a call that writes it"
        everything = {**call.given, **call.extra}
        given = {o.name for p in everything.values() for o in parts_of(p) if isinstance(o, Var)}
        pairs = facts.aliases.pairs_after.get(noted.op.origin, {})
        shared = pairs.get(out.name, frozenset())
        if self.stays(out, noted.op):
            shared = frozenset()
        if out in facts.written and shared & given:
            yield "a view that a call returns"
        if out in facts.written and out.name in given:
            ghosts = facts.aliases.ghosts_of(out.name, noted.op.origin) & shared
            names = {n for g in ghosts for n in pairs.get(g, frozenset())}
            more = {n for n in names - {out.name} if "@" not in n}
            if ghosts and (more or is_structure(out.kind)):
                yield "memory that a call returns, under the name that it had"
        d = self.table.derivation
        a = analyse(d, call.fn, call.params, tuple(call.extra))
        arrays, others = written_parameters(a.function, a.kinds, memory_of(d, a))
        changed = {p for p in arrays if is_structure(call.params[p])}
        if (others | changed) & {*noted.active}:
            yield "a function that changes a structure"

    def cell(self, op: Op) -> Iterator[str]:
        """Look at what a cell holds."""
        given = (*op.outs, *op.operands[1:])
        for v in (self.values[o] for o in given if isinstance(o, Var) and o in self.values):
            if is_structure(v.kind) or (v in self.written and is_memory(v.kind)):
                yield "memory in a variable that is bound elsewhere"

    # regions

    def is_done(self, dot: Var, region: P.Region) -> bool:
        """Say whether what a region hands over is no structure, or a value from here on.

        A structure that is one has a cotangent of its own, which goes on to what was handed over.
        """
        v = self.values[dot]
        handed = isinstance(region, P.While) or dot not in P.bound(region)
        return not is_structure(v.kind) or (handed and self.is_value(v, region))

    def region(self, region: P.Region) -> Iterator[str]:
        """Look at memory that a region hands over."""
        given = (*region.outs, *P.bound(region), *(v for b in P.blocks(region) for v in b.params))
        handed = [self.values[v] for v in given if v in self.values]
        if any(self.is_changed(v, region) for v in handed):
            if not are_apart(self.sweep, region, self.table):
                yield "memory that is written, and handed over by a branch or a loop"
        if not all(self.is_done(d, region) for d in given if d in self.values):
            yield "a structure that comes from a region"
        unbound = self.table.facts.unbound
        if any(
            v in unbound and (is_structure(v.kind) or self.is_changed(v, region)) for v in handed
        ):
            yield "memory that may be unbound"
        if any(map(self.is_mixed, handed)):
            yield "memory, or something else, that comes from a region"


def _among(v: Var, written: Set[Var]) -> bool:
    """Say whether a structure is among what is written; what has no name may always be."""
    return v in written or (bool(written) and not v.name)


def _noted(op: Op) -> CallOfUser:
    noted = dict(op.settings)["call"]
    assert isinstance(noted, CallOfUser)
    return noted
