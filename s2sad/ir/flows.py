"""Which variables are active: a derivative flows into them, and from them into the result.

Before: a program. After: a graph with an edge from x to y where the derivative of y by x may be
other than zero. What is reached from the parameters is *varied*, what reaches the result is
*useful*, and what is both is *active*.

    y = x * x        x -> y
    if y > 1.0:      nothing: a test carries no derivative
        A[i] = y     y -> A, and A -> whatever shares its memory
    t = A[j]         A -> t
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.handings import carried, caught, handings
from s2sad.ir.perhaps_unbound import handed_over, perhaps_unbound
from s2sad.ir.program import Op, Var
from s2sad.kinds import Kind

Vars = frozenset[Var]


@dataclass
class Flows:
    """The edges of a program: from each variable, and to each variable.

    `written` are the variables whose memory is written somewhere, `filled` those in which, or
    beside which, an array is written: a list that grows is written, the arrays in it are not.
    `classes` name the memory of what is written, `part_of` says of what a value is read, or what it
    is. What may be one memory, and hold a derivative, is a group: derivatives flow from each of
    these to all. `carried` are the results of loops, each with what its loop carries. Nobody knows
    what it is that is written in what is `lost`: it may be a part of the result, too.
    """

    out: dict[Var, set[Var]] = field(default_factory=dict)
    into: dict[Var, set[Var]] = field(default_factory=dict)
    written: set[Var] = field(default_factory=set)
    filled: set[Var] = field(default_factory=set)
    classes: dict[Var, str] = field(default_factory=dict)
    part_of: dict[Var, Var] = field(default_factory=dict)
    groups: dict[str, list[Var]] = field(default_factory=dict)
    carried: list[tuple[Var, Var]] = field(default_factory=list)
    lost: set[Var] = field(default_factory=set)

    def add(self, sources: Iterable[P.Operand], targets: Iterable[Var]) -> None:
        """Let derivatives flow from some operands into some variables."""
        found = list(targets)
        for source in _variables(sources):
            for target in found:
                self.out.setdefault(source, set()).add(target)
                self.into.setdefault(target, set()).add(source)

    def varied(self, starts: Iterable[Var], stopped: Vars = frozenset()) -> Vars:
        """Return what derivatives reach from some variables; what is `stopped` gets none.

        Nor do its parts get any from what is written under other names: whoever asks looks when
        that is.
        """
        kept = self.parts_of(stopped) if stopped else stopped
        found, more = frozenset[Var](), frozenset(starts)
        while not more <= found:
            found = _reached(self.out, found | more, stopped)
            more = self.beside(found) - kept
        return found

    def beside(self, variables: Iterable[Var]) -> Vars:
        """Return what may be one memory with some variables."""
        words = {self.classes.get(v, "") for v in _variables(variables)}
        return frozenset(v for word in words for v in self.groups.get(word, ()))

    def parts_of(self, variables: Vars) -> Vars:
        """Return some variables, and what is read of them."""
        found = set(variables)
        for v, owner in self.part_of.items():  # what is read of a part stands behind it
            if owner in found:
                found.add(v)
        return frozenset(found)

    def useful(self, ends: Iterable[P.Operand]) -> Vars:
        """Return what has derivatives that reach one of some operands."""
        found, more = frozenset[Var](), frozenset(_variables(ends))
        while not more <= found:
            found = _reached(self.into, found | more)
            more = self.beside(found)
        return found


def flows(
    program: P.Program,
    classes: Mapping[str, str],
    lent: Iterable[str] = (),
    held: Mapping[str, Kind] | None = None,
) -> Flows:
    """Return the flows of a program; names of one class may share memory.

    What stands under the names that are `lent` may be written by others. What `held` gives is what
    stands under a name on any path; where it is not told, any list may hold a derivative.
    """
    worker = _Walk(Flows(), classes, held)
    worker.written |= {classes.get(n, n) for n in lent}
    worker.filled |= worker.written
    for v in program.block.params:
        if isinstance(v.kind, K.LocalFunction):  # what it captures is given beside it
            names = v.kind.variables
            worker.flows.add([p for p in program.block.params if p.name in names], (v,))
    worker.steps(program)
    worker.flows.carried += carried(program.block)
    for v, met in caught(program.block):
        worker.flows.add(met, (v,))
    worker.flows.add(program.block.params, filter(worker.carries, worker.loose))
    worker.memory()
    return worker.flows


def active_with(
    program: P.Program, found: Flows, wrt: Iterable[str], result: Kind = K.UNKNOWN
) -> Vars:
    """Return what is active, and the parameters themselves, whose tangents are given.

    A region that hands over a tangent takes one from each block. Where a block hands over what may
    be unbound there, nobody could make a zero like it: it has a tangent where it is bound.

        y = if a                y = if a
            y.1 = np.zeros(3)       y.1 = np.zeros(3); y.1_dot = np.zeros_like(y.1)
            next y.1                next y.1, y.1_dot
            next unbound            next unbound, unbound
        z = if b                z, z_dot = if b
            next x                  next x, x_dot
            next y                  next y, y_dot

    A `result` that can hold no derivative makes nothing useful.
    """
    varied, useful = _ends(program, found, wrt, _hands_on(result))
    both = set(varied & (useful | frozenset(program.block.params)))
    unbound = perhaps_unbound(program.block)
    pairs = [(v, r) for v, r in handed_over(program.block) if isinstance(r, Var) and r in unbound]
    pairs = [(v, r) for v, r in pairs if not isinstance(r.kind, K.Num)]
    # A result of a loop has a tangent where what is carried has one: a break may bring it alone.
    pairs += [*found.carried, *((param, out) for out, param in found.carried)]
    count = -1
    while count != len(both):
        count = len(both)
        both.update(r for v, r in pairs if v in both)
    return frozenset(both)


def _hands_on(kind: Kind) -> bool:
    """Say whether a derivative is in a value that has its last kind, or a function that has one."""
    if isinstance(kind, K.LocalFunction | K.Choice | K.Unknown) or K.differentiable(kind):
        return True
    return any(map(_hands_on, kind.inside))


def _ends(
    program: P.Program, found: Flows, wrt: Iterable[str], seeded: bool = True
) -> tuple[Vars, Vars]:
    """Return what is varied, and what is useful: what is written into parameters is a result.

    A derivative is asked for of the first result alone.
    """
    names = set(wrt)
    starts = [v for v in program.block.params if v.name in names]
    end = program.block.end
    ends = (
        *(end.results[:1] if end.how == "next" and seeded else ()),
        *(v for v in starts if v in found.written),
        *found.lost,
    )
    return found.varied(starts), found.useful(ends)


class _Walk:
    """Adds the edges of blocks.

    `kinds` are those of what stands under each name, `held` are the variables of each class of
    memory, `written` the classes that are written, `filled` those of which arrays may be, `holding`
    those that may hold a derivative, `part_of` says of what a value is read, `rebinding` which
    cells an inner function binds anew, `cells` are all cells.
    What is `unseen` has no derivative that anybody sees. The cells are `loose` that a function
    binds which is handed on: nobody knows who calls it, and with what.
    """

    def __init__(
        self, flows: Flows, classes: Mapping[str, str], kinds: Mapping[str, Kind] | None
    ) -> None:
        self.flows = flows
        self.classes = classes
        self.kinds = kinds
        told = kinds or {}
        self.holding = {classes.get(n, n) for n, kind in told.items() if may_hold(kind)}
        self.held: dict[str, dict[Var, None]] = {}
        self.written: set[str] = set()
        self.filled: set[str] = set()
        self.part_of = flows.part_of
        self.rebinding: dict[Var, list[Var]] = {}
        self.unseen: set[Var] = set()
        self.loose: set[Var] = set()
        self.cells: dict[Var, None] = {}

    def steps(self, program: P.Program) -> None:
        """Add what operations do, and what is handed from variable to variable."""
        self.seen(program.block.params)
        regions = [o for o in P.every(program.block) if not isinstance(o, Op)]
        ends = [b.end for b in (program.block, *(b for r in regions for b in P.blocks(r)))]
        given = [*(e.results for e in ends), *map(P.operands, P.every(program.block))]
        read = {P.variable(o) for operands in given for o in operands}
        for step in handings(program.block):
            if isinstance(step, Op) and step.primitive.form == "field":
                self.unseen.update(v for v in step.outs if v not in read)
            if isinstance(step, Op):
                self.seen(step.outs)
                self.op(step)
            else:
                self.seen((step.target,))
                self.flows.add((step.source,), (step.target,))

    def seen(self, variables: Iterable[Var]) -> None:
        for v in variables:
            if v.name and not K.shares_nothing(v.kind):
                self.held.setdefault(self.classes.get(v.name, v.name), {})[v] = None

    def op(self, op: Op) -> None:
        self.cells |= {v: None for v in map(P.variable, op.operands) if v is not None and v.cell}
        part = op.primitive.form in ("item", "field")
        if _is_unseen(op) or (part and not self.unseen.isdisjoint(_variables(op.operands[:1]))):
            self.unseen.update(op.outs)
        self.flows.add(passes(op), list(filter(self.carries, op.outs)))
        if op.primitive.form in ("item", "field", "same", "look") and op.operands:
            for owner in _variables(op.operands[:1]):
                self.part_of |= dict.fromkeys(op.outs, owner)
        if op.primitive.form == "bind":  # without a name of its own it is what the cell holds
            cell, *values = _variables(op.operands)
            for v in values:
                self.part_of.setdefault(v, cell)
        parts = "put item", "augmented item", "each item"
        given = op.operands[-1:] if op.primitive.form in parts else P.operands(op)  # no index
        stored = list(filter(self.carries, _variables(given)))
        for place in op.writes:
            if isinstance(place.object, Var):
                owner = place.object
                if owner.cell:  # no operation has it as a result
                    self.seen((owner,))
                if self.carries(owner):
                    self.flows.add([v for v in stored if v is not owner], (owner,))
                if isinstance(owner.kind, K.Unknown) and owner.kind.cls is None and not owner.cell:
                    self.flows.lost.add(owner)
                if place.path or not owner.cell:  # a cell that is bound anew holds another object
                    self.written.add(self.class_of(owner))
                    if not _leaves_arrays(op, owner):
                        self.filled.add(self.class_of(owner))
        if op.primitive.form == "closure":
            cells = [p.object for p in op.writes if isinstance(p.object, Var)]
            self.rebinding |= dict.fromkeys(op.outs, cells)
        for v in _variables(op.operands[op.primitive.form == "call" :]):
            self.loose.update(self.rebinding.get(v, ()))
        if op.primitive.form == "call":
            for callee in _variables(op.operands[:1]):
                self.flows.add(op.operands[1:], self.rebinding.get(self.owner(callee), ()))

    def carries(self, v: Var) -> bool:
        """Say whether a derivative may flow into a variable, or into what it holds later.

        A list of integers that is put into a list of lists may get others by that one's name.
        """
        if v in self.unseen:
            return False
        if self.kinds is None:
            return K.is_container(v.kind) or may_hold(v.kind)
        if may_hold(self.kinds.get(v.name, v.kind)):
            return True
        return K.is_container(v.kind) and self.class_of(v) in self.holding

    def owner(self, v: Var) -> Var:
        """Return what a value is read of, or is."""
        while v in self.part_of:
            v = self.part_of[v]
        return v

    def class_of(self, v: Var) -> str:
        """Return the class of a variable; a part without a name has that of its owner."""
        while not v.name and v in self.part_of:
            v = self.part_of[v]
        return self.classes.get(v.name, v.name)

    def memory(self) -> None:
        """What is written into memory reaches every variable that may hold that memory."""
        parts = list(self.part_of)
        for word in self.written:
            held = [
                *self.held.get(word, ()),
                *(v for v in parts if not v.name and self.class_of(v) == word),
            ]
            self.flows.classes |= dict.fromkeys(held, word)
            whole = word in self.filled
            self.flows.filled.update(held if whole else ())
            self.flows.written.update(v for v in held if whole or not _is_array(v))
            held = [*filter(self.carries, held), *self.cells_of(word)]
            self.flows.classes |= dict.fromkeys(held, word)
            self.flows.groups[word] = held

    def cells_of(self, word: str) -> list[Var]:
        """Return the cells that may hold memory of a class, and with it a derivative."""
        of_class = (v for v in self.cells if self.class_of(v) == word)
        return list(filter(self.carries, of_class))


def _is_array(v: Var) -> bool:
    return all(isinstance(k, K.Array) for k in K.options(K.without_none(v.kind)))


def _leaves_arrays(op: Op, owner: Var) -> bool:
    """Say whether an operation changes which values a structure holds, and writes into none."""
    kind, form = K.without_none(owner.kind), op.primitive.form
    if form in ("augmented item", "augmented field"):
        return K.is_container(kind) and isinstance(dict(op.settings).get("part"), K.Num)
    if form in ("put field", "drop field"):
        return isinstance(kind, K.Obj | K.OneOf)
    listed = isinstance(kind, K.List | K.AnyDict)
    return listed and form in ("put item", "drop item", "method", "augmented")


def passes(op: Op) -> tuple[P.Operand, ...]:
    """Return the operands whose derivatives an operation may pass on to its results."""
    form, given = op.primitive.form, P.operands(op)
    match form:
        case "compare" | "infix" | "augmented" | "prefix" if not _of_numbers(op):
            return given  # a method of the user's may be called
        case "compare" | "text" | "slice" | "discard" | "statement" | "forget":
            return ()
        case "infix" | "augmented" if op.primitive.word == "FloorDiv":
            return ()
        case "prefix" if op.primitive.word in ("Not", "Invert"):
            return ()
        case "item" | "field":
            return given[:1]
        case "call":
            return _passed_by_call(op, given)
        case "method":
            owner = _variables(given[:1])
            numeric = any(K.is_numeric(v.kind) for v in owner)
            return () if numeric and registry.is_zero_method(op.primitive.word) else given
        case _:
            return given


def _of_numbers(op: Op) -> bool:
    """Say whether an operator is none of the user's classes."""
    kinds = (v.kind for v in _variables(op.operands))
    return not any(K.is_container(k) or isinstance(k, K.Unknown | K.Union | K.OneOf) for k in kinds)


def _is_unseen(op: Op) -> bool:
    """Say whether an operation reads what has no derivative of an array: its flags."""
    if op.primitive.form != "field" or not registry.is_still_property(op.primitive.word):
        return False
    return any(K.is_numeric(v.kind) for v in _variables(op.operands))


def _passed_by_call(op: Op, given: tuple[P.Operand, ...]) -> tuple[P.Operand, ...]:
    callee = given[0]
    known = callee.kind if isinstance(callee, P.Outer) else None
    fn = known.value if isinstance(known, K.Known) else None
    if fn is None:
        return given
    if registry.effects_of(fn).held:  # what it gives is found in the first argument
        return given[1:2]
    rule = registry.rule_for(fn)
    of_complex = any(K.is_complex(v.kind) for v in _variables(given))
    zero = rule is not None and rule.is_zero(of_complex)
    if zero or not registry.numbers_of(fn).carries:
        return () if fn is not type or len(op.operands) == 2 else given
    return given[1:]


def may_hold(kind: Kind) -> bool:
    """Say whether a value of a kind may hold a derivative.

    A function may that captures variables, and so may what holds one. What holds integers alone,
    on all paths, holds none, nor does an object of a class that has no derivative.
    """
    if isinstance(kind, K.Unknown):
        return kind.cls is None
    if isinstance(kind, K.Num | K.Str | K.NoneKind | K.Array):
        return K.differentiable(kind)
    if isinstance(kind, K.Tuple | K.List | K.AnyDict | K.Obj | K.OneOf):
        return any(map(may_hold, kind.inside))
    return not isinstance(kind, K.Known)


def _variables(given: Iterable[P.Operand]) -> list[Var]:
    found = [v for v in map(P.variable, given) if v is not None]
    return [v for v in found if not (isinstance(v.kind, K.Num | K.Array) and v.kind.const)]


def _reached(
    edges: Mapping[Var, set[Var]], starts: Iterable[Var], stopped: Vars = frozenset()
) -> Vars:
    found: set[Var] = set()
    pending = list(starts)
    while pending:
        v = pending.pop()
        if v not in found and v not in stopped:
            found.add(v)
            pending += edges.get(v, ())
    return frozenset(found)
