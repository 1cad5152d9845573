"""Names for the variables of a program, where several versions of one name may share it.

Before: a program, its Fold, and which names no user wrote. After: a name for each variable.

    peak.1 = for i in %0, peak.2 = peak        peak
        peak.3 = if %6 ...                     peak
            peak.4 = u[3]                      peak
    old.1 = same x; x.1 = x + old.1            old, x

What hands its value over shares a name with its taker if they are not alive at the same time.
Variables that share no name print under the same one if they are not, either. Where they are, what
comes later in the text gets a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import gast

from s2sad.ir import program as P
from s2sad.ir.cells import outside_names
from s2sad.ir.effects import captured, code_of
from s2sad.ir.folding import Fold
from s2sad.ir.interference import Interference
from s2sad.ir.program import Op, Var
from s2sad.names import Names
from s2sad.nodes import Node, names_read, walk
from s2sad.syntax.temps import temp_base

_NUMBER = re.compile(r"_\d+$")


@dataclass
class Classes:
    """Sets of variables with one name each: every variable has a parent, the first its own set."""

    clashes: dict[Var, set[Var]]
    parent: dict[Var, Var] = field(default_factory=dict)
    members: dict[Var, list[Var]] = field(default_factory=dict)

    def of(self, v: Var) -> Var:
        """Return the variable that stands for the set of another one."""
        while v in self.parent:
            v = self.parent[v]
        return v

    def all(self, v: Var) -> list[Var]:
        """Return the variables of a set."""
        return self.members.get(self.of(v), [self.of(v)])

    def against(self, v: Var) -> set[Var]:
        """Return the variables that clash with one of the set of a variable."""
        return set[Var]().union(*(self.clashes.get(m, ()) for m in self.all(v)))

    def join(self, a: Var, b: Var) -> None:
        """Let two sets be one, if none of their variables clash."""
        first, second = self.of(a), self.of(b)
        if first is second or not self.against(first).isdisjoint(self.all(second)):
            return
        self.members[first] = self.all(first) + self.all(second)
        self.parent[second] = first


@dataclass(frozen=True)
class Words:
    """The names in a program: what means something `outside`, what the user calls its variables.

    `inside` are those that a variable would be mixed up with in an inner scope, `temps` those
    that no user wrote.
    """

    outside: frozenset[str]
    own: frozenset[str]
    inside: dict[Var, set[str]]
    temps: frozenset[str]


@dataclass
class Versions:
    """Gives each variable the name under which it prints, in the order in which they are asked.

    What runs through a loop (`turning`) has a made-up name for itself: those names are `turned`.
    Where a value is handed on that may be missing, such values are `filled`, with None.
    """

    classes: Classes
    words: Words
    cells: dict[Var, str]
    turning: frozenset[Var]
    named: dict[Var, str] = field(default_factory=dict)
    turned: set[str] = field(default_factory=set)
    filled: bool = False

    def of(self, v: Var, made: Node = None) -> str:
        """Return the name of a variable; `made` is what it gets where it is bound first."""
        if v.cell:
            return v.name
        if v in self.cells:
            return self.cells[v]
        if v not in self.named:
            self.give(v, self.choose(self.classes.of(v), made))
        return self.named[v]

    def give(self, v: Var, word: str) -> None:
        """Give a name to a variable, and to all that share it."""
        every = self.classes.all(v)
        self.named.update(dict.fromkeys(every, word))
        if not self.turning.isdisjoint(every):
            self.turned.add(word)

    def given(self, v: Var) -> str:
        """Return the name under which a variable was printed; empty if it has got none."""
        if v.cell or v in self.cells:
            return self.of(v)
        return self.named.get(v, "")

    def choose(self, one: Var, made: Node) -> str:
        others = {self.named[v] for v in self.classes.against(one) & self.named.keys()}
        others |= self.words.outside
        for member in self.classes.all(one):
            others |= self.words.inside.get(member, set())
        word = self.word(one)
        made_up = not word or word in self.words.temps
        if not made_up and word not in others:
            return word
        base = _NUMBER.sub("", word) or (temp_base(made) if made is not None else "t")
        turns = made_up and not self.turning.isdisjoint(self.classes.all(one))
        others.update(self.named.values() if turns else self.turned)
        return Names(others | self.words.own).fresh(base)

    def word(self, v: Var) -> str:
        """Return the name that a set has from its variables, the user's first."""
        words = [w.name for w in self.classes.all(v) if w.name]
        users = (w for w in words if w not in self.words.temps)
        return next(users, words[0] if words else "")


def versions(
    program: P.Program, fold: Fold, temps: frozenset[str], params: tuple[str, ...]
) -> Versions:
    """Return the names of the variables of a program, whose parameters have theirs."""
    found = Interference(program, fold)
    classes = Classes(found.clashes)
    every = list(_variables(program.block))
    own = frozenset(v.name for v in every) - temps | set(params) | set(_never_bound(program))
    words = Words(_taken(program), own, _avoided(program), temps)
    cells = {v: cell.name for v, cell in fold.cells.items()}
    loops = (o for o in P.every(program.block) if isinstance(o, P.For | P.Collect))
    turning = frozenset(v for o in loops for v in P.flat(o.target))
    made = Versions(classes, words, cells, turning)
    fixed = dict(zip(program.block.params, params, strict=True))
    for (a, b), _ in sorted(found.pairs.items(), key=lambda pair: -pair[1]):
        if a.name == b.name:
            _join(classes, a, b, fixed)
    for (a, b), _ in sorted(found.pairs.items(), key=lambda pair: -pair[1]):
        users = [{w.name for w in classes.all(v)} - temps - {""} for v in (a, b)]
        if not all(users):
            _join(classes, a, b, fixed)
    for v, word in fixed.items():
        made.give(v, word)
    missing = _missing(found)
    made.filled = any(b in missing and classes.of(a) is not classes.of(b) for a, b in found.over)
    return made


def _missing(found: Interference) -> set[Var]:
    """Return the variables that may have no value."""
    missing = set(found.unbound)
    while more := {a for a, b in found.over if b in missing} - missing:
        missing |= more
    return missing


def _join(classes: Classes, a: Var, b: Var, fixed: dict[Var, str]) -> None:
    """Join two sets, unless both have a parameter."""
    held = [{fixed[w] for w in classes.all(v) if w in fixed} for v in (a, b)]
    if not all(held):
        classes.join(*((a, b) if held[0] else (b, a)))


def _variables(block: P.Block) -> Iterator[Var]:
    yield from block.params
    for o in block.ops:
        yield from o.outs
        yield from P.bound(o)
        if not isinstance(o, Op):
            for inner in P.blocks(o):
                yield from _variables(inner)


def _taken(program: P.Program) -> frozenset[str]:
    """Return the names of cells, and those that mean something outside of the function."""
    found: set[str] = set()
    pending = [program.block]
    while pending:
        block = pending.pop()
        for operand in block.end.results:
            found |= _outer(operand)
        for o in block.ops:
            for operand in P.operands(o):
                found |= _outer(operand)
            if isinstance(o, Op):
                found |= _words_outside(o)
                continue
            if isinstance(o, P.Match):
                for case in o.cases:
                    found |= names_read(case.pattern) if case.pattern is not None else set()
            pending += P.blocks(o)
    return frozenset(found)


def _never_bound(program: P.Program) -> Iterator[str]:
    """Yield the names of values that are missing: whoever reads one gets Python's own error."""
    for o in P.every(program.block):
        given = [*P.operands(o)]
        if not isinstance(o, Op):
            given += [r for block in P.blocks(o) for r in block.end.results]
        yield from (r.name for r in given if isinstance(r, P.Unbound))


def _outer(operand: P.Operand) -> set[str]:
    value = operand.value if isinstance(operand, P.Spread) else operand
    if isinstance(value, P.Outer):
        return {value.name.split(".")[0]}
    return {value.name} if isinstance(value, Var) and value.cell else set()


def _words_outside(op: Op) -> set[str]:
    """Return the names that kept code reads which are not variables of the program."""
    if "code" not in dict(op.settings):
        return set()
    code = code_of(op)
    if op.primitive.form == "text":
        return names_read(code) - {f"_{i}" for i in range(len(op.operands))}
    return outside_names(code) - set(captured(op))


def _avoided(program: P.Program) -> dict[Var, set[str]]:
    """Return the names inside of inner functions, for what these read from outside."""
    found: dict[Var, set[str]] = {}
    for o in P.every(program.block):
        if isinstance(o, Op) and o.primitive.form in ("closure", "statement"):
            inside = {n.id for n in walk(code_of(o)) if isinstance(n, gast.Name)}
            for v, word in zip(o.operands, captured(o), strict=True):
                if isinstance(v, Var):
                    found.setdefault(v, set()).update(inside - {word})
    return found
