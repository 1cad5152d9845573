"""Formulas: functions that return one expression, entry by entry, of the arrays they are given.

def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))      the derivative reads np.exp(-x), and the result again

Where the result is cheap to have again from another array that its derivative reads, whoever
calls the function need not keep both.
"""

from __future__ import annotations

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.nodes import Block, Node, is_constant, names_read
from s2sad.stages import Function, KindFacts

_OPERATORS = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.Pow)
_CHEAP = 2


def is_formula(function: Function, kinds: KindFacts) -> bool:
    """Say whether a function is an elementwise formula whose result another array of it gives."""
    if len(_body(function.source.node)) != 1 or function.loops:
        return False
    if registry.rule_for(function.source.fn) is not None:
        return False
    *steps, last = function.node.body
    if function.locals - function.temps - {*function.params, function.result}:
        return False
    plain = all(
        isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(kinds.of.get(s.value), K.Array | K.Num)
        and _is_elementwise(s.value, kinds)
        for s in steps
    )
    return plain and _again({s.targets[0].id: s.value for s in steps}, last.value)


def _again(steps: dict[str, Node], result: Node) -> bool:
    """Say whether a result is a sum or product or two of constants and of what a call gives."""
    for done in range(_CHEAP + 1):
        value = steps.get(result.id) if isinstance(result, gast.Name) else None
        if not isinstance(value, gast.BinOp | gast.UnaryOp):
            return done > 0 and isinstance(value, gast.Call)
        operands = [gast.Name(n, gast.Load(), None, None) for n in sorted(names_read(value))]
        if len(operands) != 1 or not _is_cheap(value):
            return False
        result = operands[0]
    return False


def _is_cheap(value: Node) -> bool:
    return isinstance(value, gast.UnaryOp) or not isinstance(value.op, gast.Pow)


def _body(node: Node) -> Block:
    """Return the statements of a definition as it was written, its docstring aside."""
    if not isinstance(node.body, list):
        return [node.body]
    first = node.body[0]
    said = isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant)
    return list(node.body[said:])


def _is_elementwise(value: Node, kinds: KindFacts) -> bool:
    if isinstance(value, gast.BinOp):
        operands = [value.left, value.right]
        known = isinstance(value.op, _OPERATORS)
    elif isinstance(value, gast.UnaryOp):
        operands = [value.operand]
        known = isinstance(value.op, gast.USub)
    elif isinstance(value, gast.Call):
        operands = list(value.args)
        rule = registry.rule_for(kinds.objects.get(value.func))
        known = rule is not None and rule.partials is not None and not value.keywords
    else:
        return False
    return known and all(
        (is_constant(o) or isinstance(o, gast.Name))
        and isinstance(kinds.of.get(o), K.Array | K.Num)
        for o in operands
    )
