"""Jacobians and Hessians inside a program: plain functions, which make a sweep for each column.

J = jacobian(f)(x)     ->     J = f_jacobian(x)

def f_jacobian(x):
    columns = [f_jvp(x, unit)[1] for unit in np.eye(x.size)]
    return np.stack(columns, axis=-1)

The Hessian is the Jacobian of the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gast

from s2sad import kinds as K
from s2sad.errors import UnsupportedError
from s2sad.kinds import Kind
from s2sad.names import Names
from s2sad.nodes import Block, Node

Path = tuple[Any, ...]


@dataclass(frozen=True)
class Columns:
    """What gives the columns for one parameter: a call of a jvp, which wants its tangent."""

    parameter: str
    kind: Kind
    call: Callable[[Node], Node]


@dataclass(frozen=True)
class Matrix:
    """What a Jacobian is made of: a sweep for each parameter, and the result that it is of."""

    columns: tuple[Columns, ...]
    result: Kind
    single: bool
    has_aux: bool
    numpy: str


def matrix(made: Matrix, taken: set[str]) -> Block:
    """Return the statements of a function that gives a Jacobian."""
    if isinstance(made.result, K.Unknown | K.Unbound) or not K.differentiable(made.result):
        raise _refused(f"of a function that returns {K.describe(made.result)}")
    names = Names(taken)
    lines: list[str] = []
    rows: dict[Path, list[str]] = {path: [] for path, _ in leaves(made.result)}
    aux = ""
    for one in made.columns:
        blocks: dict[Path, dict[Path, str]] = {path: {} for path in rows}
        for inner, kind in leaves(one.kind):
            found, more, aux = _blocks(made, one, inner, kind, names)
            lines += more
            for outer, block in zip(rows, found, strict=True):
                blocks[outer][inner] = block
        for outer, by_leaf in blocks.items():
            rows[outer].append(_structure(one.kind, by_leaf.__getitem__))

    def row(path: Path) -> str:
        return rows[path][0] if made.single else f"({', '.join(rows[path])},)"

    whole = _structure(made.result, row)
    lines.append(f"return {whole}{f', {aux}' if made.has_aux else ''}")
    calls = {_along(one): one.call for one in made.columns}
    return [_Calls(calls).visit(s) for s in gast.parse("\n".join(lines)).body]


class _Calls(gast.NodeTransformer):  # type: ignore[misc]
    """Puts calls of jvps in the places that are kept for them."""

    def __init__(self, calls: dict[str, Callable[[Node], Node]]) -> None:
        self.calls = calls

    def visit_Call(self, node: Node) -> Node:
        node = self.generic_visit(node)
        make = self.calls.get(getattr(node.func, "id", ""))
        return node if make is None else make(node.args[0])


def _along(one: Columns) -> str:
    """Return the name of a call that is not written yet."""
    return f"<along {one.parameter}>".translate(_PLAIN)


_PLAIN = str.maketrans("<> ", "___")


def _blocks(
    made: Matrix, one: Columns, inner: Path, kind: Kind, names: Names
) -> tuple[list[str], list[str], str]:
    """Return the blocks by one leaf of a parameter, the lines they need, and where aux is."""
    np, at = made.numpy, _place(one.parameter, inner)
    unit = names.fresh("unit")
    rank = kind.rank if isinstance(kind, K.Array) else 0
    number = isinstance(kind, K.Num)

    def moving(path: Path) -> str:
        here = dict(leaves(one.kind))[path]
        if path != inner:
            zeros = f"{np}.zeros_like({_place(one.parameter, path)})"
            return zeros if isinstance(here, K.Array) else "0.0"
        if number:
            return "1.0"
        return unit if rank == 1 else f"{unit}.reshape({at}.shape)"

    call = f"{_along(one)}({_structure(one.kind, moving)})"
    if number:
        pair = names.fresh("pair")
        blocks = [_place(pair, (1, *path)) for path, _ in leaves(made.result)]
        return blocks, [f"{pair} = {call}"], f"{pair}[2]"
    dtype = f", dtype={at}.dtype" if getattr(kind, "dtype", "float64") != "float64" else ""
    units = f"for {unit} in {np}.eye({at}.size{dtype})"
    column = names.fresh("column")
    columns = names.fresh("columns")
    lines, aux = [f"{columns} = [{call}[1] {units}]"], ""
    if made.has_aux:
        pairs = names.fresh("pairs")
        lines = [
            f"{pairs} = [{call} {units}]",
            f"{columns} = [{column}[1] for {column} in {pairs}]",
        ]
        aux = f"{pairs}[0][2]"
    blocks = []
    for path, out in leaves(made.result):
        parts = columns
        if path:
            parts = f"[{_place(column, path)} for {column} in {columns}]"
        shape = f"{at}.shape"
        if isinstance(out, K.Num):
            block = f"{np}.array({parts})"
        else:
            block = f"{np}.stack({parts}, axis=-1)"
            shape = f"{_place(f'{columns}[0]', path)}.shape + {shape}"
        blocks.append(block if rank == 1 else f"{block}.reshape({shape})")
    return blocks, lines, aux


def leaves(kind: Kind, path: Path = ()) -> Iterator[tuple[Path, Kind]]:
    """Yield the places of a structure that carry derivatives."""
    if not K.differentiable(kind):
        return
    if isinstance(kind, K.Num | K.Array):
        if K.is_complex(kind):
            raise _refused("of complex numbers")
        yield path, kind
        return
    for step, part in _parts(kind):
        yield from leaves(part, (*path, step))


def _parts(kind: Kind) -> list[tuple[Any, Kind]]:
    plain = isinstance(kind, K.Tuple | K.List | K.Dict) and getattr(kind, "cls", None) is None
    if plain and all(isinstance(step, str | int) for step in kind.steps):
        return [(part.step, part.kind) for part in kind.parts]
    raise _refused(f"where {K.describe(kind)} is an argument or a result")


def _structure(kind: Kind, leaf: Callable[[Path], str], path: Path = ()) -> str:
    """Return the text of a structure built like a kind, with something in each place."""
    if not K.differentiable(kind):
        return "None"
    if isinstance(kind, K.Num | K.Array):
        return leaf(path)
    parts = [(step, _structure(k, leaf, (*path, step))) for step, k in _parts(kind)]
    if isinstance(kind, K.Dict):
        return "{" + ", ".join(f"{step!r}: {text}" for step, text in parts) + "}"
    listed = ", ".join(text for _, text in parts)
    return f"[{listed}]" if isinstance(kind, K.List) else f"({listed},)"


def _place(base: str, path: Path) -> str:
    return base + "".join(f"[{step!r}]" for step in path)


def _refused(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"In a differentiated function, s2sad does not support Jacobians and Hessians {what} yet.",
        remedy="Take the derivative with respect to arrays that are arguments of their own.",
    )
