"""np.piecewise with its functions in a list is what it does, a part of the array after the other.

np.piecewise(x, [x < 0.0], [lambda v: v * v, 1.0])

whole = np.asarray(x)
made = np.zeros_like(whole)
cond = np.asarray(x < 0.0, dtype=np.bool_)
rest = np.logical_not(cond)
part = whole[cond]
if np.size(part) > 0:
    made[cond] = (lambda v: v * v)(part)
made[rest] = 1.0
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    call,
    clone,
    compare,
    constant,
    is_constant,
    locate,
    name,
    subscript,
    walk,
)

_WRONG = "np.piecewise: a condition for each entry of x is wanted"


def is_listed(node: Node, may_call: Callable[[Node], bool]) -> bool:
    """Say whether this is a call of np.piecewise with lists of conditions and of functions."""
    if not isinstance(node.func, gast.Attribute) or len(node.args) < 3:
        return False
    _, conds, entries, *rest = node.args
    displays = all(isinstance(a, gast.List | gast.Tuple) for a in (conds, entries))
    if not displays or any(
        isinstance(a, gast.Starred) for a in (*conds.elts, *entries.elts, *rest)
    ):
        return False
    if any(k.arg is None for k in node.keywords) or any(map(is_constant, conds.elts)):
        return False
    if any(isinstance(n, gast.NamedExpr) for n in walk(node)):
        return False
    counts = (len(entries.elts), len(entries.elts) - 1)
    return bool(conds.elts) and len(conds.elts) in counts and may_call(name("callable"))


def written_out(
    node: Node, names: Names, hold: Callable[[Node], Node], is_function: Callable[[Node], bool]
) -> tuple[Block, str]:
    """Return the statements that a call stands for, and the name of the result.

    `hold` keeps the value of an expression under a name, if it is not there already.
    """
    x, conds, entries, *rest = node.args
    home = node.func.value

    def of(attr: str, *args: Node) -> Node:
        return gast.Call(attribute(clone(home), attr), list(args), [])

    whole, made = names.fresh("whole"), names.fresh("made")
    masks = [names.fresh("cond") for _ in entries.elts]
    block = [assign(whole, of("asarray", hold(x)))]
    for mask, cond in zip(masks, conds.elts, strict=False):
        given = of("asarray", hold(cond))
        given.keywords = [gast.keyword("dtype", attribute(clone(home), "bool_"))]
        block.append(assign(mask, given))
        unlike = compare(of("ndim", name(mask)), gast.NotEq, of("ndim", name(whole)))
        wrong = gast.Raise(call("ValueError", constant(_WRONG)), None)
        block.append(gast.If(unlike, [wrong], []))
    held = [e if isinstance(e, gast.Lambda) or is_constant(e) else hold(e) for e in entries.elts]
    values = [hold(a) for a in rest]
    keywords = [gast.keyword(k.arg, hold(k.value)) for k in node.keywords]
    if len(conds.elts) < len(masks):
        found = name(masks[0])
        for mask in masks[1:-1]:
            found = of("logical_or", found, name(mask))
        block.append(assign(masks[-1], of("logical_not", found)))
    block.append(assign(made, of("zeros_like", name(whole))))
    for mask, entry in zip(masks, held, strict=True):
        part = names.fresh("part")
        value = gast.Call(clone(entry), [name(part), *map(clone, values)], [])
        value.keywords = [gast.keyword(k.arg, clone(k.value)) for k in keywords]
        some = compare(of("size", name(part)), gast.Gt, constant(0))
        applied: Block = [
            assign(part, subscript(name(whole), name(mask))),
            gast.If(some, [_put(made, mask, value)], []),
        ]
        if isinstance(entry, gast.Lambda) or is_function(entry):
            block += applied
        elif is_constant(entry):
            block.append(_put(made, mask, entry))
        else:
            test = call("callable", clone(entry))
            block.append(gast.If(test, applied, [_put(made, mask, clone(entry))]))
    for s in block:
        for n in walk(s):
            if getattr(n, "lineno", None) is None:
                locate(n, node)
    return block, made


def _put(made: str, mask: str, value: Node) -> Node:
    place = subscript(name(made), name(mask))
    place.ctx = gast.Store()
    return gast.Assign([place], value, None)
