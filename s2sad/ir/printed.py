"""The function in which a program prints, in two ways.

Before: a program. After: a function that computes the same.

    u_item = u[3]                             if u[3] > peak:
    %1 = u_item > peak.2                          peak = u[3]
    peak.3 = if %1 ...

`printed` gives the text that a person could have written: versions share their names, and a value
without a name stands where it is used. What `from_tree` has read comes back. `flat` gives every
variable a name of its own and every operation a statement: what must hold for that to compute the
same is what passes rely on.
"""

from __future__ import annotations

from dataclasses import dataclass

import gast

from s2sad.ir import program as P
from s2sad.ir.effects import Derived
from s2sad.ir.folding import Fold, fold
from s2sad.ir.program import Var
from s2sad.ir.to_tree import Printer
from s2sad.ir.versions import Versions, versions
from s2sad.nodes import Node, clone


@dataclass(frozen=True)
class Named:
    """A function in which a program prints, and the names that variables have there."""

    node: Node
    names: Versions


def printed(
    program: P.Program,
    temps: frozenset[str] = frozenset(),
    derived: Derived | None = None,
    comes_back: bool = True,
) -> Node:
    """Return the function in which a program prints; no user wrote the names in `temps`.

    Where it `comes_back` it has the marks of the tree that it was read from.
    """
    return printed_with_names(program, temps, derived, comes_back).node


def printed_with_names(
    program: P.Program,
    temps: frozenset[str] = frozenset(),
    derived: Derived | None = None,
    comes_back: bool = True,
    alone: frozenset[Var] = frozenset(),
) -> Named:
    """Return the function in which a program prints, and the names of variables.

    What is to stand `alone` has a statement of its own.
    """
    params = _parameters(program)
    shadows = derived.shadows if derived is not None else frozenset[Var]()

    def moves(v: Var) -> bool:
        return (not v.name or v.name in temps or v in shadows) and v not in alone

    found = fold(program, moves, derived=derived)
    names = versions(program, found, temps, params)
    node = _function(program, params, Printer(found, names, comes_back=comes_back))
    return Named(node, names)


def flat(program: P.Program) -> Node:
    """Return a function that runs a program one operation at a time, each binding on its own."""
    params = _parameters(program)
    found = fold(program, lambda v: False, regions=False)
    names = _EachItsOwn(found, dict(zip(program.block.params, params, strict=True)))
    return _function(program, params, Printer(found, names, comes_back=False))


def _parameters(program: P.Program) -> tuple[str, ...]:
    """Return the names of the parameters: those of the variables, else those of the source."""
    own = _in_header(program.source.args) if program.source is not None else ()
    params = program.block.params
    if len(own) == len(params):
        return tuple(v.name or word for v, word in zip(params, own, strict=True))
    if not all(v.name for v in params):
        raise NotImplementedError("a parameter without a name")
    return tuple(v.name for v in params)


def _in_header(args: Node) -> tuple[str, ...]:
    found = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return tuple(a.id for a in found if a is not None)


def _function(program: P.Program, params: tuple[str, ...], printer: Printer) -> Node:
    body = printer.block(program.block, ())
    if program.block.end.how == "next":
        (result,) = program.block.end.results
        if printer.comes_back or not body or result != P.Const(None):  # Python returns None anyway
            body.append(gast.Return(printer.value(result)))
    node = clone(program.source) if program.source is not None else None
    if node is None or _in_header(node.args) != params:
        given = [gast.Name(p, gast.Param(), None, None) for p in params]
        args = gast.arguments(given, [], None, [], [], None, [])
        node = gast.FunctionDef(program.name, args, [], [], None, None, [])
    node.body = body
    return node


@dataclass
class _EachItsOwn:
    """Gives each variable a name of its own."""

    fold: Fold
    names: dict[Var, str]
    filled: bool = True

    def of(self, v: Var, made: Node = None) -> str:
        if v.cell:
            return v.name
        if v in self.fold.cells:
            return self.fold.cells[v].name
        if v not in self.names:
            self.names[v] = f"{v.name or 't'}__{len(self.names)}"
        return self.names[v]
