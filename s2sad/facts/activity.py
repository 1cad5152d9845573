"""Which variables are active: varied (depending on the input) and useful (reaching the result).

Two passes of one kind: `varied` runs forward, `useful` backward, both over the structured program,
repeating loops until nothing changes. Where both hold a variable has a cotangent.
"""

from __future__ import annotations

import functools

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.facts.memory import Memory
from s2sad.facts.shift import cancelling
from s2sad.nodes import (
    Block,
    Node,
    all_inside,
    always_leaves,
    blocks_of,
    catches_all,
    names_read,
    names_written,
    walk,
)
from s2sad.stages import Activity, Function, KindFacts

_NO_FLOW = frozenset({"shape", "ndim", "size", "dtype", "nbytes", "itemsize", "strides", "flags"})
Names = frozenset[str]
NONE: Names = frozenset()


def activity(
    function: Function,
    kinds: KindFacts,
    wrt: frozenset[str],
    memory: Memory,
    has_aux: bool = False,
    results: frozenset[str] | None = None,
) -> Activity:
    """Return the activity of a function's variables with respect to some parameters.

    With `has_aux` only the first item of the result counts as a result. `results` are the names
    that count where that is not the function's result alone: arguments it writes, for example.
    """
    walker = _Walker(function, kinds, memory, has_aux)
    body = function.node.body[:-1]
    walker.varied_block(body, wrt)
    walker.useful_block(body, frozenset({function.result}) if results is None else results)
    return walker.facts


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
        return set() if node.attr in _NO_FLOW else _flows(node.value, kinds)
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


class _Walker:
    def __init__(self, function: Function, kinds: KindFacts, memory: Memory, has_aux: bool) -> None:
        self.memory = memory
        self.changes = memory.changes
        self.function = function
        self.kinds = kinds
        self.facts = Activity()
        self.has_aux = has_aux
        self.constant = cancelling(function, kinds)
        self.stops = memory.stopping

    # forward

    def varied_block(self, body: Block, varied: Names) -> Names:
        for s in body:
            self.facts.varied_before[s] = varied
            inside = self._spread(s, varied, varied) if blocks_of(s) else varied
            varied = self._spread(s, varied, self.varied(s, inside))
            self.facts.varied_after[s] = varied
        return varied

    def _spread(self, s: Node, before: Names, varied: Names) -> Names:
        """What is written into memory reaches every name that shares it."""
        for base in self.changes.get(s, ()):
            rebound = isinstance(s, gast.FunctionDef) and before
            if base in varied or rebound or self._value_reads(s) & before:
                hit = self.memory.aliases.partners(s, base)
                varied = self._because(s, varied, set(hit & self.carriers - varied))
        return varied

    @functools.cached_property
    def carriers(self) -> Names:
        """The names that may hold something with a derivative anywhere: a counter never does."""
        known = (env for table in (self.kinds.before, self.kinds.after) for env in table.values())
        return frozenset(n for env in known for n, k in env.items() if K.differentiable(k))

    def _value_reads(self, s: Node) -> Names:
        """Return the names whose values a statement may write somewhere, captured ones too."""
        found: set[str] = set()
        for value in _values(s):
            found |= names_read(value)
            for n in walk(value):
                kind = self.kinds.of.get(n)
                if isinstance(kind, K.LocalFunction):
                    found |= set(kind.variables)
        return frozenset(found)

    def varied(self, s: Node, varied: Names) -> Names:
        if isinstance(s, gast.Assign):
            return self._varied_assign(s, varied)
        if isinstance(s, gast.AugAssign):
            target = s.target
            owner = _root(target)
            if owner is not None and _flows(s.value, self.kinds) & varied:
                self.facts.cause.setdefault(owner, s)
                return varied | {owner}
            return varied
        if isinstance(s, gast.Expr):
            return self._varied_call(s, varied)
        if isinstance(s, gast.If):
            return self._varied_if(s, varied)
        if isinstance(s, gast.For | gast.While):
            return self._varied_loop(s, varied)
        if isinstance(s, gast.FunctionDef):
            return varied - {s.name}
        if isinstance(s, gast.Match):
            ends = [] if any(map(catches_all, s.cases)) else [varied]
            for case in s.cases:
                inside = varied
                if names_read(s.subject) & varied:
                    inside = self._because(s, varied, names_written(case.pattern))
                end = self.varied_block(case.body, inside)
                ends += [] if always_leaves(case.body) else [end]
            return NONE.union(*ends)
        if isinstance(s, gast.Try) and s not in self.function.half:
            return self._varied_try(s, varied)
        if isinstance(s, gast.With):
            varied = self._varied_managers(s, varied)
            end = self.varied_block(s.body, varied)
            if all(self.kinds.passing.get(item) is not None for item in s.items):
                return end
        out = varied
        for part in blocks_of(s):
            end = self.varied_block(part, out)
            out |= end.union(*(self.facts.varied_after.get(i, NONE) for i in all_inside(part)))
        for part in blocks_of(s) if isinstance(s, gast.Try) else ():
            self.varied_block(part, out)
        return out

    def _because(self, s: Node, varied: Names, more: set[str]) -> Names:
        """Return what varies with what a statement makes vary."""
        for n in more:
            self.facts.cause.setdefault(n, s)
        return varied | more

    def _varied_managers(self, s: Node, varied: Names) -> Names:
        """What a manager gives holds what it was made of."""
        for item in s.items:
            bound = names_written(item.optional_vars) if item.optional_vars is not None else set()
            made = _flows(item.context_expr, self.kinds) | names_read(item.context_expr)
            varied = varied - bound
            if made & varied:
                varied = self._because(s, varied, bound)
        return varied

    def _varied_try(self, s: Node, varied: Names) -> Names:
        """What was raised may hold whatever varies there."""
        whole = self.varied_block(s.orelse, self.varied_block(s.body, varied))
        out = NONE if self._leaves(s, [*s.body, *s.orelse]) else whole
        for h in s.handlers:
            bound = names_written(h.name) if isinstance(h.name, gast.AST) else set()
            inside = self._because(s, varied, bound) if whole | varied else varied
            end = self.varied_block(h.body, inside) - bound
            out |= NONE if self._leaves(s, h.body) else end
        return self.varied_block(s.finalbody, out)

    @staticmethod
    def _leaves(s: Node, arm: Block) -> bool:
        """Say whether an arm of a try leaves it without a way through what is done finally."""
        return not s.finalbody and always_leaves(arm)

    def _varied_assign(self, s: Node, varied: Names) -> Names:
        ends = s in self.constant or self._stops(s)
        hit = flows(s.value, self.kinds) & varied if not ends else NONE
        stopped = not hit and names_read(s.value) & varied
        for target in s.targets:
            if isinstance(target, gast.Subscript | gast.Attribute):
                owner = _root(target)
                if hit and owner is not None:
                    self.facts.cause.setdefault(owner, s)
                    varied = varied | {owner}
                continue
            written = names_written(target)
            varied = varied - written
            if hit:
                after = self.kinds.after.get(s, {})
                for n in written:
                    if K.differentiable(after.get(n, K.UNKNOWN)):
                        varied = self._because(s, varied, {n})
            for n in written if stopped else ():
                self.facts.stop.setdefault(n, s)
        return varied

    def _stops(self, s: Node) -> bool:
        """Say whether what a statement binds takes no derivative from what it is made of."""
        target = s.targets[0]
        held = isinstance(target, gast.Name) and target.id in self.function.stopped
        return held or s.value in self.stops

    def _varied_call(self, s: Node, varied: Names) -> Names:
        """A call for its effect may put active values into what it is given."""
        value = s.value
        if not isinstance(value, gast.Call) or not isinstance(value.func, gast.Attribute):
            return varied
        owner = _root(value.func.value)
        kind = self.kinds.of.get(value.func)
        if owner is None or isinstance(kind, K.Known) or owner not in self.function.locals:
            return varied
        given: set[str] = set()
        for arg in [*value.args, *(k.value for k in value.keywords)]:
            given |= names_read(arg)
        if given & varied and registry.method_writes(value.func.attr, "puts"):
            self.facts.cause.setdefault(owner, s)
            return varied | {owner}
        return varied

    def _varied_if(self, s: Node, varied: Names) -> Names:
        verdict = self.kinds.decided.get(s)
        if verdict is not None:
            return self.varied_block(s.body if verdict else s.orelse, varied)
        ends = [(arm, self.varied_block(arm, varied)) for arm in (s.body, s.orelse)]
        return NONE.union(*(end for arm, end in ends if not always_leaves(arm)))

    def _varied_loop(self, s: Node, varied: Names) -> Names:
        current = varied
        while True:
            current = self._spread(s, current, current)
            self.facts.head_varied[s] = current
            inside = self._varied_header(s, current)
            end = self.varied_block(s.body, inside) | current | self._at_breaks(s)
            if end == current:
                return current
            current = end

    def _at_breaks(self, s: Node) -> Names:
        found: Names = NONE

        def visit(block: Block) -> None:
            nonlocal found
            for statement in block:
                if isinstance(statement, gast.Break):
                    found |= self.facts.varied_before.get(statement, NONE)
                elif not isinstance(statement, gast.For | gast.While | gast.FunctionDef):
                    for part in blocks_of(statement):
                        visit(part)

        visit(s.body)
        return found

    def _varied_header(self, s: Node, varied: Names) -> Names:
        if isinstance(s, gast.While):
            return varied
        loop = self.function.loops[s]
        if loop.bounds is None:
            written = names_written(s.target)
            hit = _flows(s.iter, self.kinds) & varied
            after = self.kinds.before.get(s.body[0], {}) if s.body else {}
            carried = {n for n in written if K.differentiable(after.get(n, K.UNKNOWN))}
            return self._because(s, varied - written, carried if hit else set())
        for binding in loop.bindings:
            self.facts.varied_before[binding] = varied
            varied = self._varied_assign(binding, varied)
            self.facts.varied_after[binding] = varied
        return varied - {loop.index}

    # backward

    def useful_block(self, body: Block, useful: Names) -> Names:
        for s in reversed(body):
            self.facts.useful_after[s] = useful
            before = self.useful(s, useful)
            for base in self.changes.get(s, ()):
                shared = self.memory.aliases.partners(s, base)
                if shared & (useful | before):
                    before = before | self._value_reads(s) | shared
            for n in before - useful:
                self.facts.use.setdefault(n, s)
            useful = before
            self.facts.useful_before[s] = useful
        return useful

    def useful(self, s: Node, useful: Names) -> Names:
        if isinstance(s, gast.Assign):
            return self._useful_assign(s, useful)
        if isinstance(s, gast.AugAssign):
            owner = _root(s.target)
            if owner in useful:
                return useful | _flows(s.value, self.kinds)
            return useful
        if isinstance(s, gast.Expr):
            value = s.value
            if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
                owner = _root(value.func.value)
                if owner in useful and registry.method_writes(value.func.attr, "puts"):
                    for arg in value.args:
                        useful = useful | names_read(arg)
            return useful
        if isinstance(s, gast.If):
            verdict = self.kinds.decided.get(s)
            if verdict is not None:
                return self.useful_block(s.body if verdict else s.orelse, useful)
            return self.useful_block(s.body, useful) | self.useful_block(s.orelse, useful)
        if isinstance(s, gast.For | gast.While):
            return self._useful_loop(s, useful)
        if isinstance(s, gast.FunctionDef):
            return useful - {s.name}
        if isinstance(s, gast.Match):
            out = useful
            for case in s.cases:
                out |= self.useful_block(case.body, useful)
            if out & set().union(*(names_written(c.pattern) for c in s.cases)):
                out |= names_read(s.subject)
            return out
        if isinstance(s, gast.Try) and s not in self.function.half:
            useful = self.useful_block(s.finalbody, useful)
            out = self.useful_block(s.body, self.useful_block(s.orelse, useful))
            for h in s.handlers:
                bound = names_written(h.name) if isinstance(h.name, gast.AST) else set()
                out |= self.useful_block(h.body, useful) - bound
            return out
        parts = blocks_of(s)
        out = useful
        for part in reversed(parts):
            out |= self.useful_block(part, out)
        return out

    def _useful_assign(self, s: Node, useful: Names) -> Names:
        hit = False
        for target in reversed(s.targets):
            if isinstance(target, gast.Subscript | gast.Attribute):
                hit = hit or _root(target) in useful
                continue
            written = names_written(target)
            hit = hit or bool(written & useful)
            useful = useful - written
        if hit and not self._stops(s):
            value = s.value
            if self.has_aux and self._is_result(s) and isinstance(value, gast.Tuple):
                value = value.elts[0]
            useful = useful | flows(value, self.kinds)
        return useful

    def _is_result(self, s: Node) -> bool:
        target = s.targets[0]
        return isinstance(target, gast.Name) and bool(target.id == self.function.result)

    def _useful_loop(self, s: Node, useful: Names) -> Names:
        current = useful
        while True:
            self.facts.head_useful[s] = current
            start = self.useful_block(s.body, current)
            start = self._useful_header(s, start) | current
            if start == current:
                return current
            current = start

    def _useful_header(self, s: Node, useful: Names) -> Names:
        if isinstance(s, gast.While):
            return useful
        loop = self.function.loops[s]
        if loop.bounds is None:
            written = names_written(s.target)
            hit = bool(written & useful)
            return (useful - written) | (frozenset(_flows(s.iter, self.kinds)) if hit else NONE)
        for binding in reversed(loop.bindings):
            self.facts.useful_after[binding] = useful
            useful = self._useful_assign(binding, useful)
            self.facts.useful_before[binding] = useful
        return useful


def _values(s: Node) -> list[Node]:
    """Return the expressions that a statement evaluates; of a compound one, before its blocks."""
    if isinstance(s, gast.Assign | gast.AugAssign | gast.Expr):
        return [s.value]
    if isinstance(s, gast.If | gast.While):
        return [s.test]
    if isinstance(s, gast.For):
        return [s.iter]
    if isinstance(s, gast.Match):
        return [s.subject]
    if isinstance(s, gast.With):
        return [item.context_expr for item in s.items]
    return [] if blocks_of(s) else [s]


def _root(node: Node) -> str | None:
    """Return the variable through which a place is reached."""
    while isinstance(node, gast.Subscript | gast.Attribute):
        node = node.value
    return node.id if isinstance(node, gast.Name) else None
