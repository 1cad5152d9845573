"""Numbers that a device's functions are given are made arrays of the device.

x_bar = cp.broadcast_to(1.0, x.shape)     x_bar = cp.full(x.shape, 1.0)
s_bar = cp.expand_dims(2.0 * c, 0)        s_bar = cp.expand_dims(cp.asarray(2.0 * c), 0)

A cotangent without axes may be a number of Python's: it began as the seed, 1.0. NumPy's functions
take that for an array, CuPy's do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.ir import rebuilt as R
from s2sad.ir.identities import function_of
from s2sad.ir.program import Op, Operand, Var
from s2sad.known import spaces
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Table
from s2sad.primitives import language as L
from s2sad.rulebook.facts import effects_of, numbers_of


def with_arrays(program: P.Program, table: Table, fixed: frozenset[Var]) -> P.Program:
    """Return a program in which no number stands where a device's function wants an array.

    What is `fixed` the user has written.
    """
    homes = {spaces.NUMPY, *table.refs.homes.values()}
    homes |= {spaces.home(module) for module in table.refs.modules.values()}
    if len(homes) == 1:
        return program
    return replace(program, block=_block(program.block, table, fixed, {}))


def _block(block: P.Block, table: Table, fixed: frozenset[Var], made: dict[Var, Op]) -> P.Block:
    done: list[P.Operation] = []

    def inner(b: P.Block) -> P.Block:
        return _block(b, table, fixed, made)

    for operation in block.ops:
        if not isinstance(operation, Op):
            done.append(R.with_blocks(operation, inner))
            continue
        ops = [operation] if fixed & {*operation.outs} else _settled(operation, table, made)
        made.update({v: op for op in ops for v in op.outs})
        done += ops
    return P.Block(block.params, tuple(done), block.end)


def _settled(op: Op, table: Table, made: dict[Var, Op]) -> list[Op]:
    """Return an operation, behind those that make arrays of the numbers that it is given."""
    callee = op.operands[0] if op.primitive is L.CALL else None
    if not isinstance(callee, P.Outer):
        return [op]
    fn, given = function_of(callee), op.operands[1:]
    space = table.refs.homes.get(callee.name) or spaces.home(getattr(callee.kind, "value", None))
    if space == spaces.NUMPY or not given or _takes_numbers(fn):
        return [op]
    if numbers_of(fn).form == "fitted" and _is_number(given[0]):
        full = table.outer(spaces.module_of(space), "full")
        return [replace(op, operands=(full, given[1], given[0], *given[2:]))]
    helper = callee.name in table.refs.homes
    count = len(given) if helper else 2 if numbers_of(fn).form in ("inner", "outer") else 1
    ops, first = _arrays(given[:count], table, space)
    listed = made.get(given[0]) if isinstance(given[0], Var) else None
    if listed is not None and listed.primitive in (L.LIST, L.TUPLE):
        ops, parts = _arrays(listed.operands, table, space)
        if ops:
            again = Var("", listed.outs[0].kind)
            ops.append(replace(listed, outs=(again,), operands=parts))
            first = (again, *first[1:])
    return [*ops, replace(op, operands=(callee, *first, *given[count:]))]


def _arrays(
    given: Sequence[Operand], table: Table, space: str
) -> tuple[list[Op], tuple[Operand, ...]]:
    """Return operations that make arrays of the numbers among some operands, and all of them."""
    asarray = table.outer(spaces.module_of(space), "asarray")
    ops: list[Op] = []
    found: list[Operand] = []
    for o in given:
        if _is_number(o):
            out = Var("", K.Array("float64", (), space))
            ops.append(Op((out,), L.CALL, (asarray, o)))
            found.append(out)
        else:
            found.append(o)
    return ops, tuple(found)


def _takes_numbers(fn: object) -> bool:
    """Say whether a device's function takes numbers: for each element, or to make an array."""
    each = isinstance(fn, np.ufunc) and fn.signature is None
    return each or effects_of(fn).scalars


def _is_number(given: Operand) -> bool:
    """Say whether a value may be a number of Python's: no number of NumPy's, and no truth value."""
    return any(
        isinstance(k, K.Num) and k.type in ("float", "complex") and k.dtype in (None, "any")
        for k in K.options(kind_of(given))
    )
