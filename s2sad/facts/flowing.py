"""The names whose derivatives an expression passes on to its value: `a` and `b` in `a * b > n`."""

from __future__ import annotations

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.nodes import Node, names_read
from s2sad.stages import KindFacts


def flows(node: Node, kinds: KindFacts) -> set[str]:
    """Return the names whose derivatives an operation passes on to its value."""
    if not K.differentiable(kinds.of.get(node, K.UNKNOWN)):
        return set()
    return _flows(node, kinds)


def _flows(node: Node, kinds: KindFacts) -> set[str]:
    kind = kinds.of.get(node)
    if isinstance(kind, K.Num | K.Array) and kind.const:
        return set()
    if isinstance(node, gast.Name):
        if isinstance(kind, K.LocalFunction):
            return set(kind.variables)
        return {node.id}
    if node in kinds.methods and not isinstance(node, gast.Call):
        return names_read(node)
    if isinstance(node, gast.Constant | gast.Compare | gast.JoinedStr):
        return set()
    if isinstance(node, gast.LShift):
        return set()
    if isinstance(node, gast.Subscript):
        return _flows(node.value, kinds)
    if isinstance(node, gast.Attribute):
        owner = kinds.of.get(node.value)
        if isinstance(owner, K.Obj):
            return _flows(node.value, kinds) if node.attr in dict(owner.fields) else set()
        return set() if registry.is_still_property(node.attr) else _flows(node.value, kinds)
    if isinstance(node, gast.BinOp):
        if isinstance(node.op, gast.FloorDiv):
            return set()
        return _flows(node.left, kinds) | _flows(node.right, kinds)
    if isinstance(node, gast.Call):
        return _call_flows(node, kinds)
    if isinstance(node, gast.Lambda | gast.FunctionDef):
        return set()
    return names_read(node)


def _call_flows(node: Node, kinds: KindFacts) -> set[str]:
    target = kinds.of.get(node.func)
    if isinstance(target, K.Known):
        fn = target.value
        rule = registry.rule_for(fn)
        of_complex = any(K.is_complex(kinds.of.get(a, K.UNKNOWN)) for a in node.args)
        if node.args and registry.effects_of(fn).held:  # what it gives is found in the first
            return _flows(node.args[0], kinds)
        zero = rule is not None and rule.is_zero(of_complex)
        makes = fn is type and len(node.args) > 1
        if not makes and (zero or not registry.numbers_of(fn).carries):
            return set()
    elif isinstance(node.func, gast.Attribute) and registry.is_zero_method(node.func.attr):
        owner = kinds.of.get(node.func.value)
        if owner is not None and K.is_numeric(owner):
            return set()
    found: set[str] = set()
    for arg in [*node.args, *(k.value for k in node.keywords)]:
        found |= _flows(arg, kinds) if not isinstance(arg, gast.Starred) else names_read(arg)
    if isinstance(node.func, gast.Attribute) and not isinstance(target, K.Known):
        found |= _flows(node.func.value, kinds)
    elif isinstance(node.func, gast.Name):
        found |= _flows(node.func, kinds)
    return found
