"""Which variables of a program may share memory, or hold one another: one class each.

    u = np.zeros(3)       u: a class of its own
    w = u[1:]             w: that of u
    xs = [w]              xs: that of u, which it holds
    v = u * 2.0           v: a class of its own

A class is *outside* where some of it may be known to others: a parameter, what a global name
means, the result of a call of which nothing is known. It *runs* where going through it may run
code.
"""

from __future__ import annotations

from collections.abc import Iterable

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir.deeds import Deed, deed, kind_of
from s2sad.ir.handings import caught, handings
from s2sad.ir.program import Op, Operand, Var


class Memories:
    """The classes of a program. A class is named by one of its variables."""

    def __init__(self) -> None:
        self._parent: dict[Var, Var] = {}
        self._outside: set[Var] = set()
        self._shown: dict[str, Var] = {}  # what may show the memory of a name from outside
        self._runs: set[Var] = set()
        self.deeds: dict[Op, Deed] = {}

    def of(self, v: Var) -> Var | None:
        """Return the class of a variable, an inner function that of what it captures.

        A number has none.
        """
        return self._root(v) if _has_memory(v.kind) else None

    def is_outside(self, root: Var) -> bool:
        """Say whether others may know a class."""
        return root in self._outside

    def runs(self, root: Var) -> bool:
        """Say whether going through a value of a class may run code."""
        return root in self._runs

    def _root(self, v: Var) -> Var:
        parent = self._parent
        while (up := parent.setdefault(v, v)) is not v:
            parent[v] = parent[up]
            v = up
        return v

    def join(self, given: Iterable[Operand]) -> None:
        """Let operands be of one class; with something from outside, it is outside."""
        first: Var | None = None
        outside: str | None = None
        for v in given:
            value = v.value if isinstance(v, P.Spread) else v
            if isinstance(value, P.Outer) and _has_memory(value.kind):
                outside = value.name.partition(".")[0]
            if isinstance(value, Var) and _has_memory(value.kind):
                first = value if first is None else self._joined(first, value)
        if first is not None and outside is not None:
            self._shown[outside] = first = self._joined(self._shown.get(outside, first), first)
            self.marked((first,))

    def _joined(self, a: Var, b: Var) -> Var:
        a, b = self._root(a), self._root(b)
        self._parent[b] = a
        for flag in (self._outside, self._runs):
            if b in flag:
                flag.add(a)
        return a

    def marked(self, given: Iterable[Var], runs: bool = False) -> None:
        """Let the classes of variables be outside, or run code."""
        flag = self._runs if runs else self._outside
        flag.update(self._root(v) for v in given if _has_memory(v.kind))


def _has_memory(kind: K.Kind) -> bool:
    """Say whether a value is memory, or an inner function, which may give what it has captured."""
    return not K.shares_nothing(kind) or isinstance(kind, K.LocalFunction | K.Choice)


def memories(program: P.Program) -> Memories:
    """Return the classes of memory of a program."""
    found = Memories()
    found.marked(program.block.params)
    found.marked(v for v, _ in caught(program.block))
    for region in P.every(program.block):
        if isinstance(region, P.With):
            found.marked(P.bound(region))
    for step in handings(program.block):
        if isinstance(step, Op):
            _op(found, step)
        else:
            found.join((step.source, step.target))
    return found


def is_written(program: P.Program, v: Var) -> bool:
    """Say whether a program writes into the memory of a variable."""
    found = memories(program)
    written = {found.of(o) for d in found.deeds.values() for o in d.writes if isinstance(o, Var)}
    root = found.of(v)
    return root is not None and root in written


def _op(found: Memories, op: Op) -> None:
    known = found.deeds[op] = deed(op)
    if op.primitive.form == "closure":
        found.marked(op.outs, runs=True)
    if known.acts:
        found.marked(op.outs)
        found.marked([v for v in op.outs if not K.is_numeric(v.kind)], runs=True)
    if any(not K.is_numeric(owner.kind) for owner in known.writes):  # arrays hold numbers alone
        found.join((*P.operands(op), *known.writes))
    if not known.fresh:
        for v in op.outs:
            found.join((v, *_shown(op)))


_PARTS = ("item", "field", "look", "same", "unpack")


def _shown(op: Op) -> tuple[Operand, ...]:
    """Return the operands whose memory may be found in a result."""
    form = op.primitive.form
    if form in _PARTS or (form == "augmented" and K.is_numeric(kind_of(op.operands[0]))):
        return op.operands[:1]
    if form == "anew":
        return op.operands[1:]  # of the first, its class alone
    return P.operands(op)
