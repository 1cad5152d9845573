"""Which variables have tangents, and the operations of a block with tangents in the making."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from s2sad import kinds as K
from s2sad.errors import Error, MissingRuleError, UnsupportedError
from s2sad.errors import Place as ErrorPlace
from s2sad.facts.closures import closed
from s2sad.facts.places import laid_out
from s2sad.inside import hook_here
from s2sad.ir import program as P
from s2sad.ir.flows import Flows
from s2sad.ir.perhaps_unbound import brought_in, perhaps_unbound
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.known import spaces
from s2sad.known.lifted import space_among
from s2sad.known.pieces import Piece
from s2sad.known.unread import by_cause, undecided
from s2sad.linear.guards import NO_ZEROS, Pushed, Zeros
from s2sad.linear.operands import kind_of
from s2sad.primitives import language as L
from s2sad.primitives.record import Primitive
from s2sad.stages import Activity, Aliases
from s2sad.steps.derivation import Analysed, Derivation
from s2sad.steps.refs import Refs

NOTHING = P.Const(None)
ELSEWHERE = "Write it with plain operations, or make its inputs Const."
_OF_INDICES = ("slice", "tuple", "infix", "prefix")


class NotYet(NotImplementedError):
    """What reverse mode cannot turn round yet; `refusing` tells the user where that is."""


@dataclass(frozen=True)
class Facts:
    """What analyses say of one function: what is `active`, and what `flows` where."""

    analysed: Analysed
    program: P.Program
    active: frozenset[Var]
    flows: Flows
    aliases: Aliases
    activity: Activity

    @property
    def params(self) -> tuple[Var, ...]:
        """The parameters of the function."""
        return self.program.block.params

    @functools.cached_property
    def written(self) -> frozenset[Var]:
        """The variables whose memory is written in place: of a structure, or of an array."""
        return frozenset(self.flows.written)

    @functools.cached_property
    def written_apart(self) -> frozenset[Var]:
        """The tuples of which a part is written that has a name of its own."""
        every = (op for op in P.every(self.program.block) if isinstance(op, Op))
        apart = (op for op in every if op.primitive.form in ("unpack", "item", "field"))
        found = (P.variable(op.operands[0]) for op in apart if not self.written.isdisjoint(op.outs))
        return frozenset(v for v in found if v is not None and isinstance(v.kind, K.Tuple))

    @functools.cached_property
    def filled(self) -> frozenset[Var]:
        """The variables in whose memory, or beside it, arrays are written."""
        return frozenset(self.flows.filled)

    @functools.cached_property
    def unbound(self) -> frozenset[Var]:
        """The variables that are not bound on all paths."""
        return perhaps_unbound(self.program.block)

    @functools.cached_property
    def brought_in(self) -> frozenset[Var]:
        """The variables that are None where memory held that, or the program was given it."""
        return brought_in(self.program)

    @functools.cached_property
    def last(self) -> Mapping[tuple[P.Code, str], Op]:
        """The last operation of each form that a statement stands for."""
        every = (op for op in P.every(self.program.block) if isinstance(op, Op) and op.outs)
        return {(op.origin, op.primitive.form): op for op in every}

    @functools.cached_property
    def cells(self) -> Mapping[str, Var]:
        """The variables that an inner function, or a try, binds, by name."""
        every = P.every(self.program.block)
        read = (P.variable(o) for operation in every for o in P.operands(operation))
        return {v.name: v for v in read if v is not None and v.cell}


@dataclass
class TangentNames:
    """The names of tangents: none is `taken`.

    `dots` are those that have been given, `lists` those of tangents in several directions, and
    `passed` those that the function is given.
    """

    taken: set[str]
    dots: dict[str, str] = field(default_factory=dict)
    lists: dict[str, str] = field(default_factory=dict)
    passed: list[str] = field(default_factory=list)

    def dot(self, word: str) -> str:
        """Return the name of a tangent; what has no name has a tangent without one."""
        return self._fresh(word, "_dot", self.dots)

    def several(self, dot: str) -> str:
        """Return the name of a list of tangents, one for each direction, by that of a tangent."""
        return self._fresh(dot, "s", self.lists)

    def _fresh(self, word: str, ending: str, given: dict[str, str]) -> str:
        if word and word not in given:
            made, number = f"{word}{ending}", 1
            while made in self.taken:
                made, number = f"{word}{ending}_{number}", number + 1
            self.taken.add(made)
            given[word] = made
        return given.get(word, "")


@dataclass
class Table:
    """One function in the making: what is known of it, and of its tangents.

    What is `strong` says where a tangent that is zero may meet what is infinite; in reverse mode it
    says that of cotangents. `zeros` are tangents that are made of no other. `raised` is what
    computing the tangents may raise. Callers are held to what the `outermost` function assumes.
    """

    derivation: Derivation
    facts: Facts
    names: TangentNames
    outermost: bool
    strong: Pushed | Zeros = NO_ZEROS
    zeros: set[Var] = field(default_factory=set)
    raised: list[frozenset[type[BaseException]]] = field(default_factory=list)

    @property
    def backward(self) -> bool:
        """Say whether what is said of tangents is turned round."""
        return isinstance(self.strong, Zeros)

    def is_temporary(self, v: Var) -> bool:
        """Say whether a variable is part of an expression, and computes no numbers of an array."""
        plain = not isinstance(v.kind, K.Array)
        return plain and (not v.name or v.name in self.facts.analysed.function.temps)

    @functools.cached_property
    def handed(self) -> frozenset[str]:
        """The names of what the caller gets, who may write it."""
        function = self.facts.analysed.function
        return (self.facts.aliases.ever(function.result) & function.locals) | {function.result}

    @functools.cached_property
    def laid(self) -> frozenset[str]:
        """The names of memory whose layout decides whether something is a view of it."""
        return laid_out(self.facts.aliases)

    @property
    def refs(self) -> Refs:
        """Return what names the modules and helpers that derived text imports."""
        return self.derivation.refs

    def place(self, at: object) -> ErrorPlace | None:
        """Return where the user has written a statement, or an expression."""
        function = self.facts.analysed.function
        origin = function.origins.get(at, at)
        seen = getattr(origin, "lineno", None) is not None
        return function.source.place(origin) if seen else None

    def cannot(
        self,
        at: object,
        reason: str,
        remedy: str = ELSEWHERE,
        cls: type[Error] = UnsupportedError,
    ) -> Error:
        """Return an error that says what has no derivative at the user's statement."""
        return cls(reason, remedy=remedy, place=self.place(at))

    def undecided(self, at: object, kind: Kind) -> Error:
        """Return an error that says why nothing is known of a value."""
        reason, remedy = undecided(kind)
        return by_cause(self.cannot(at, reason, remedy), kind)

    def binds(self, v: Var) -> P.Code:
        """Return the statement that binds a variable."""
        block = self.facts.program.block
        found = (op.origin for op in P.every(block) if v in op.outs or v in P.bound(op))
        return next(found, None)

    def assumes(self, dim: K.Dim) -> bool:
        """Say whether a length may be taken not to be 1, which callers are held to.

        In reverse mode that is any length, where the function writes into arrays: slices of them
        meet slices of others.
        """
        told = isinstance(dim.symbol, Piece) or (self.backward and self.writes_arrays)
        return self.outermost and told and self.derivation.assume(dim)

    @functools.cached_property
    def writes_arrays(self) -> bool:
        """Whether the function writes into arrays that have tangents."""
        return any(isinstance(v.kind, K.Array) for v in self.facts.written & self.facts.active)

    def carries(self, v: Var) -> bool:
        """Say whether a variable has a tangent."""
        if v.cell:
            return v in self.facts.active
        if v not in self.facts.active or isinstance(
            v.kind, K.Known | K.LocalFunction | K.Iterable_
        ):
            return False
        if isinstance(v.kind, K.Unknown) and v.kind.cls is not None:
            return False  # an object of a class that has no derivative
        if isinstance(v.kind, K.Unknown):
            raise self.undecided(self.binds(v), v.kind)
        return K.differentiable(v.kind) or K.is_container(K.without_none(v.kind))

    def acts(self, region: P.Region) -> bool:
        """Say whether something in a region writes memory that has a shadow, or is a hook."""
        return any(map(self.acts_in, P.blocks(region)))

    def acts_in(self, block: P.Block) -> bool:
        """Say whether something in a block writes memory that has a shadow, or is a hook."""
        return any(
            (isinstance(place.object, Var) and place.object in self.facts.active)
            for op in P.every(block)
            if isinstance(op, Op)
            for place in op.writes
        ) or any(self.stops(op) or self.hooks(op) for op in P.every(block))

    def stops(self, operation: P.Operation) -> bool:
        """Say whether an operation stops a derivative, in a text that is read and derived again."""
        names = self.facts.analysed.function.stopped if self.derivation.for_reading else frozenset()
        return any(v.name in names for v in operation.outs)

    def hooks(self, operation: P.Operation) -> bool:
        """Say whether a function of the user's gets a cotangent here."""
        return self.backward and is_hook(operation) and operation.operands[1] in self.facts.active

    def numpy(self, word: str, *kinds: Kind) -> P.Outer:
        """Return a function of NumPy's, or its counterpart where one of some kinds is elsewhere."""
        home = spaces.module_of(space_among(kinds))
        return P.Outer(f"{self.refs.module(home)}.{word}", K.Known(getattr(home, word)))

    def outer(self, home: types.ModuleType, word: str) -> P.Outer:
        """Return a function of a module: `np.zeros_like`."""
        return P.Outer(f"{self.refs.module(home)}.{word}", K.Known(getattr(home, word)))

    def helper(self, fn: Callable[..., object], space: str = spaces.NUMPY) -> P.Outer:
        """Return a helper function that the derived text copies, for arrays of a namespace."""
        return P.Outer(self.refs.function(fn, space), K.Known(fn))


def is_hook(operation: P.Operation) -> TypeGuard[Op]:
    """Say whether an operation hooks into the cotangent of a value."""
    called = isinstance(operation, Op) and operation.primitive is L.CALL
    return called and kind_of(P.operands(operation)[0]) == K.Known(hook_here)


@dataclass
class Tangents:
    """The operations of one block, and `of` the tangents that are there, by variable.

    `env` says which variable a name of the user's means here. The tries around catch what is
    `caught`. What the structure that the operation at hand changes was `before`, its turning asks.
    """

    table: Table
    ops: list[P.Operation] = field(default_factory=list)
    of: dict[Var, Var] = field(default_factory=dict)
    env: dict[str, Var] = field(default_factory=dict)
    caught: tuple[type[BaseException], ...] = ()
    origin: P.Code = None
    before: tuple[tuple[str, Operand], ...] = ()

    @property
    def at(self) -> object:
        """The expression, or else the statement, that is handled here."""
        value = getattr(self.origin, "value", None)
        return self.origin if getattr(value, "lineno", None) is None else value

    def cannot(
        self, reason: str, remedy: str = ELSEWHERE, cls: type[Error] = UnsupportedError
    ) -> Error:
        """Return an error that says what has no derivative here."""
        return self.table.cannot(self.at, reason, remedy, cls)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Refuse, at the operation that is handled, what reverse mode cannot turn round yet."""
        try:
            yield
        except NotYet as why:
            raise self.cannot(f"Reverse mode does not support this yet: {why}.") from None

    def without_rule(self, reason: str, remedy: str) -> Error:
        """Return an error that says that a function called here has no rule for it."""
        return self.cannot(reason, remedy, MissingRuleError)

    def undecided(self, kind: Kind) -> Error:
        """Return an error that says why nothing is known of a value here."""
        return self.table.undecided(self.at, kind)

    @contextmanager
    def inside(self) -> Iterator[list[P.Operation]]:
        """Write a block inside of this one; yields its operations."""
        outside, env = self.ops, self.env
        self.ops, self.env = [], dict(env)
        try:
            yield self.ops
        finally:
            self.ops, self.env = outside, env

    def means(self, variables: Iterable[Var]) -> None:
        """Let the names of variables mean these from here on."""
        self.env |= {v.name: v for v in variables if v.name and not v.cell}

    def add(self, operation: P.Operation) -> None:
        self.ops.append(operation)

    def bind(self, v: Var) -> Var:
        """Return the tangent of a variable, which is bound where this is put."""
        self.of[v] = found = Var(self.table.names.dot(v.name), tangent_kind(v.kind))
        return found

    def emit(
        self, primitive: Primitive, operands: Sequence[Operand], kind: Kind, word: str = ""
    ) -> Var:
        """Add an operation that gives one value and writes nothing."""
        out = Var(word, kind)
        reads = _read(primitive, operands)
        self.add(Op((out,), primitive, tuple(operands), (), reads, (), self.origin))
        return out

    def act(self, op: Op, operands: Sequence[Operand], shadow: Var) -> None:
        """Add what an operation does to memory, done to the memory of the tangents."""
        writes = tuple(
            Place(shadow, place.path) for place in op.writes if place.object is op.operands[0]
        )
        writes = writes or (Place(shadow, (P.Anywhere(),)),)
        settings = (*op.settings, *self.before)
        self.add(Op((), op.primitive, tuple(operands), settings, (), writes, op.origin))

    def give(self, v: Var, value: Operand) -> None:
        """Let a variable have a tangent that has been computed."""
        self.named(self.bind(v), value)

    def named(self, dot: Var, value: Operand) -> None:
        """Let a value be that of a tangent; one that has just been computed is the tangent."""
        last = self.ops[-1] if self.ops else None
        if isinstance(value, Var) and not value.name and isinstance(last, Op):
            if last.outs == (value,):
                self.ops[-1] = replace(last, outs=(dot,))
                return
        self.add(Op((dot,), L.SAME, (value,), (), (), (), self.origin))

    def maybe(self, operand: Operand) -> Operand:
        """Return the tangent of an operand, None where it has none."""
        v = P.variable(operand)
        return self.of.get(v, NOTHING) if v is not None else NOTHING

    def has(self, operand: Operand) -> bool:
        return P.variable(operand) in self.of

    def kind(self, operand: Operand) -> Kind:
        """Return the kind of an operand here: a list has grown, of several classes it is one."""
        v = P.variable(operand)
        if v is None or not v.name:
            return kind_of(operand)
        env = self.table.facts.analysed.kinds.before.get(self.origin, {})
        kind = env.get(v.name, v.kind)
        return closed(kind, env) if isinstance(kind, K.LocalFunction) else kind

    def index(self, operand: Operand, as_argument: bool = False) -> Operand:
        """Return an index that is used once more: what computes it stands there once more.

        u[i + 1 : n]       u_dot[i + 1 : n]; as an argument, slice(i + 1, n)
        """
        v = P.variable(operand)
        made = self.maker(v) if v is not None and self.table.is_temporary(v) else None
        if made is None or made.primitive.form not in _OF_INDICES:
            return operand
        operands = tuple(self.index(o, as_argument) for o in made.operands)
        (out,) = made.outs
        if as_argument and made.primitive is L.SLICE:
            return self.call(P.Outer("slice", K.Known(slice)), operands, out.kind)
        again = Var(out.name, out.kind)
        self.add(replace(made, outs=(again,), operands=operands))
        return again

    def maker(self, v: Var) -> Op | None:
        """Return the operation of this block that binds a variable."""
        for op in reversed(self.ops):
            if v in op.outs:
                return op if isinstance(op, Op) else None
        return None

    def call(self, fn: P.Outer, operands: Sequence[Operand], kind: Kind) -> Var:
        return self.emit(L.CALL, (fn, *operands), kind)


def _read(primitive: Primitive, operands: Sequence[Operand]) -> tuple[Place, ...]:
    """Return what an operation reads of memory: of what it is given, or of its first operand."""
    if primitive.effect == "none":
        return ()
    given = operands[:1] if primitive.effect == "reads" else operands
    found = [v for v in map(P.variable, given) if v is not None]
    return tuple(Place(v, (P.Anywhere(),)) for v in found if not K.shares_nothing(v.kind))


def tangent_kind(kind: Kind) -> Kind:
    """Return the kind of a tangent: that of the value, with floats where integers stand."""
    if isinstance(kind, K.Num):
        return kind if K.differentiable(kind) else K.FLOAT
    if isinstance(kind, K.Array) and not K.differentiable(kind):
        return K.Array("float64", kind.dims, kind.namespace)
    return K.erase_value(kind)


def cell_of(t: Tangents, cell: Var) -> Var:
    """Return the cell of the tangents of a cell."""
    if cell not in t.of:
        t.of[cell] = Var(t.table.names.dot(cell.name), K.UNKNOWN, True)
    return t.of[cell]
