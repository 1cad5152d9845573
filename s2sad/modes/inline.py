"""A rule's text becomes the caller's: its ifs decided by kinds and literals, its names replaced.

    @pullback(np.sum)
    def pull_sum(out_bar, out, a, *, axis=None, keepdims=False):
        if axis is not None and not keepdims:         np.sum(x, axis=0):
            out_bar = np.expand_dims(out_bar, axis)     out_bar = np.expand_dims(s_bar, 0)
        return np.broadcast_to(out_bar, a.shape)        np.broadcast_to(out_bar, x.shape)

A rule whose branches stay open, or that loops, is called instead.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import operator
import sys
import textwrap
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.errors import InternalError
from s2sad.kinds import MISSING, Kind
from s2sad.known import spaces
from s2sad.known.lifted import space_among
from s2sad.known.mixed import is_mixed
from s2sad.known.open_dicts import literal_key
from s2sad.modes.looked_at import Returned
from s2sad.modes.refs import Refs
from s2sad.names import Names
from s2sad.nodes import (
    Block,
    Node,
    assign,
    attribute,
    call,
    clone,
    constant,
    name,
    names_read,
    substitute,
    walk,
)
from s2sad.registry import given_to
from s2sad.syntax.decided import COMPARISONS


@dataclass(frozen=True)
class Given:
    """An argument of a rule: its expression in the caller and its kind."""

    node: Node
    kind: Kind


class RuleRefusal(Exception):
    """The rule itself refuses these settings; the message says what is not possible."""


class _Open(Exception):
    """The rule cannot be inlined: a branch stays open or a statement is of no simple shape."""


@functools.lru_cache(2048)
def rule_tree(fn: types.FunctionType) -> Any:
    """Return the definition of a rule, None where there is none that can be read."""
    try:
        tree = gast.parse(textwrap.dedent(inspect.getsource(fn))).body[0]
    except (OSError, SyntaxError):
        return None
    if not isinstance(tree, gast.FunctionDef):
        return None
    for node in walk(tree):
        for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if field in vars(node):
                delattr(node, field)
    return tree


@functools.lru_cache(2048)
def _listed(fn: types.FunctionType) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a rule."""
    return tuple(inspect.signature(fn).parameters.values())


def inline(
    rule: Callable[..., Any],
    given: Mapping[str, Given | list[Given] | None],
    refs: Refs,
    names: Names,
    count: int,
    arrays: bool = False,
    linear: bool = False,
) -> tuple[Block, list[Node | None]]:
    """Return statements and one expression per array (None: zero) that a rule amounts to.

    `given` maps the rule's parameters to arguments; a parameter that is absent keeps its default.
    `count` is the number of cotangents the rule returns, 0 for a rule that returns a tangent. A
    rule for `arrays` gets an array where it would take a number of Python's for one. One that is
    `linear` is called rather than helpers of its own: it can be differentiated, they cannot.
    """
    kin = {n: _kin(fn, refs, _space_of(given)) for n, fn in given_to(rule).items()}
    rule, given = rule.func if isinstance(rule, registry.Shared) else rule, {**given, **kin}
    try:
        found = _Inliner(rule, given, refs, names, count, arrays).run()
    except _Open:
        return _called(rule, given, refs, names, count, arrays)
    if linear and _calls_helpers(found, refs):
        return _called(rule, given, refs, names, count, arrays)
    return found


def _calls_helpers(found: tuple[Block, list[Node | None]], refs: Refs) -> bool:
    """Say whether a rule's text calls functions that have no rules."""
    parts = [*found[0], *(v for v in found[1] if v is not None)]
    called = {
        n.func.id
        for p in parts
        for n in walk(p)
        if isinstance(n, gast.Call) and isinstance(n.func, gast.Name)
    }
    helpers = [refs.functions[n] for n in called if n in refs.functions]
    return any(registry.rule_for(fn) is None for fn in helpers)


def _kin(fn: Callable[..., Any], refs: Refs, space: str) -> Given:
    """Return a function that a rule gets by keyword, by its name in its module."""
    # A ufunc does not know its module.
    holder = getattr(fn, "__self__", None)
    if holder is not None and not isinstance(holder, types.ModuleType | type):
        return Given(attribute(_held(holder, refs), fn.__name__), K.Known(fn))
    own = _public_module(fn)
    for home in map(sys.modules.get, (own, "scipy.special")):
        if home is not None and getattr(home, fn.__name__, None) is fn:
            spaces.helper_in(fn, space)  # which says where there is none
            there = refs.module(spaces.counterpart(home, space))
            return Given(attribute(name(there), fn.__name__), K.Known(fn))
    raise InternalError(f"{fn.__name__}, which a rule is given, is not where it says")


def _public_module(value: Any) -> str:
    """Return the module that shows something: a private one is shown by its package."""
    return str(getattr(value, "__module__", None) or "numpy").partition("._")[0]


def _held(value: Any, refs: Refs) -> Node:
    """Return an object that a module holds, by its name there: `stats.gamma`."""
    home = sys.modules[_public_module(type(value))]
    for word, held in vars(home).items():
        if held is value:
            return attribute(name(refs.module(home)), word)
    raise InternalError(f"a rule is given a method of {value!r}, which is not where it says")


def _space_of(given: Mapping[str, Given | list[Given] | None]) -> str:
    """Return the namespace of a call: what `np` means in its rule."""
    found = [g for g in given.values() if isinstance(g, Given)]
    found += [g for several in given.values() if isinstance(several, list) for g in several]
    return space_among(g.kind for g in found)


def _called(
    rule: Callable[..., Any],
    given: Mapping[str, Given | list[Given] | None],
    refs: Refs,
    names: Names,
    count: int,
    arrays: bool,
) -> tuple[Block, list[Node | None]]:
    space = _space_of(given)
    args: list[Node] = []
    keywords: dict[str, Node] = {}
    by_name = False  # after an array that is not given the others go by their names
    for parameter in inspect.signature(rule).parameters.values():
        value = given.get(parameter.name)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            if isinstance(value, list):
                args += [_as_array(g, refs, arrays, space) for g in value]
        elif isinstance(value, Given):
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                keywords[parameter.name] = value.node
            elif by_name:
                keywords[parameter.name] = _as_array(value, refs, arrays, space)
            else:
                args.append(_as_array(value, refs, arrays, space))
        elif parameter.default is not inspect.Parameter.empty:
            by_name = True
        elif by_name:
            keywords[parameter.name] = constant(None)
        elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            args.append(constant(None))
    invoked = call(refs.function(rule, space), *args, **keywords)
    if count == 0:
        return [], [invoked]
    variadic = any(
        p.kind is inspect.Parameter.VAR_POSITIONAL
        for p in inspect.signature(rule).parameters.values()
    )
    arrays_ = _arrays_in(rule, given, count)
    skip = len(registry.positional_names(rule, 0)) + len(_rest_of(rule, given)) - count
    of = Returned.of(rule, count, skip == 1)
    if count > 1 or variadic:
        invoked = of.looked_at(invoked, count, refs)
    if count == 1 and variadic:
        return [], [gast.Subscript(invoked, gast.Constant(0, None), gast.Load())]
    if count == 1:
        return [], [of.part(invoked, 0, arrays_, refs)]
    result = names.fresh("bars")
    parts: list[Node | None] = [
        of.part(gast.Subscript(name(result), constant(i), gast.Load()), i, arrays_, refs)
        for i in range(count)
    ]
    return [assign(result, invoked)], parts


def _rest_of(
    rule: Callable[..., Any], given: Mapping[str, Given | list[Given] | None]
) -> list[Given]:
    """Return what a rule gathers."""
    found = [g for g in given.values() if isinstance(g, list)]
    return found[0] if found else []


def _arrays_in(
    rule: Callable[..., Any], given: Mapping[str, Given | list[Given] | None], count: int
) -> list[Node]:
    """Return the arrays that a rule is given, None for one that is not."""
    listed: list[Any] = [given.get(n) for n in registry.positional_names(rule, 0)]
    listed += _rest_of(rule, given)
    nodes = [g.node if isinstance(g, Given) else constant(None) for g in listed]
    return nodes[len(nodes) - count :]


def _as_array(given: Given, refs: Refs, arrays: bool, space: str) -> Node:
    """Return an argument for a rule that is called: an array where it may be one."""
    number = arrays and K.is_scalar(given.kind)
    if (isinstance(given.kind, K.Union) or number) and may_be_plain(given.kind):
        return call(attribute(name(refs.space(space)), "asarray"), given.node)
    return given.node


class _Inliner:
    def __init__(
        self,
        rule: Callable[..., Any],
        given: Mapping[str, Given | list[Given] | None],
        refs: Refs,
        names: Names,
        count: int,
        arrays: bool,
    ) -> None:
        if not isinstance(rule, types.FunctionType) or rule_tree(rule) is None:
            raise _Open
        self.arrays = arrays
        self.rule = rule
        self.tree = rule_tree(rule)
        self.refs = refs
        self.names = names
        self.count = count
        self.out: Block = []
        self.table: dict[str, Node] = {}
        self.static: dict[str, Any] = {}
        self.kinds: dict[str, Kind] = {}
        self.open: set[str] = set()
        self.space = _space_of(given)
        self.settings = {p.name for p in _listed(rule) if p.kind is p.KEYWORD_ONLY}
        self._bind(given)

    def _bind(self, given: Mapping[str, Given | list[Given] | None]) -> None:
        for parameter in _listed(self.rule):
            value = given.get(parameter.name)
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                raise _Open
            if isinstance(value, Given):
                self.table[parameter.name] = value.node
                self.kinds[parameter.name] = value.kind
                known = literal(value)
                if known is not MISSING:
                    self.static[parameter.name] = known
            elif isinstance(value, list):
                raise _Open
            else:
                default = (
                    None if parameter.default is inspect.Parameter.empty else parameter.default
                )
                self.static[parameter.name] = default
                self.table[parameter.name] = constant(default)

    def run(self) -> tuple[Block, list[Node | None]]:
        value = self.block(self.tree.body)
        if value is None:
            raise _Open
        if self.count <= 1:
            return self.out, [self._result(value)]
        if not isinstance(value, gast.Tuple) or len(value.elts) != self.count:
            raise _Open
        return self.out, [self._result(e) for e in value.elts]

    def _result(self, node: Node) -> Node | None:
        if isinstance(node, gast.Constant) and node.value is None:
            return None
        return self.expression(node)

    def block(self, body: Block) -> Node | None:
        for statement in body:
            if isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Constant):
                continue
            if isinstance(statement, gast.Return):
                return statement.value
            if isinstance(statement, gast.If):
                verdict = self.evaluate(statement.test)
                if verdict is MISSING:
                    raise _Open
                value = self.block(statement.body if verdict else statement.orelse)
                if value is not None:
                    return value
                continue
            if isinstance(statement, gast.Raise):
                raise RuleRefusal(_message(statement))
            self.assign(statement)
        return None

    def assign(self, statement: Node) -> None:
        if not isinstance(statement, gast.Assign) or len(statement.targets) != 1:
            raise _Open
        target = statement.targets[0]
        if not isinstance(target, gast.Name):
            raise _Open
        known = self.evaluate(statement.value)
        value = self.expression(statement.value)
        fresh = self.names.fresh(self._local_name(target.id))
        self.out.append(assign(fresh, value))
        self.kinds.pop(target.id, None)
        self.static.pop(target.id, None)
        if known is not MISSING:
            self.static[target.id] = known
        self.table[target.id] = name(fresh)

    def _local_name(self, base: str) -> str:
        if base == "out_bar" and isinstance(self.table.get("out_bar"), gast.Name):
            return str(self.table["out_bar"].id)
        return base

    def expression(self, node: Node) -> Node:
        """Return a rule's expression with the caller's names."""
        for n in walk(node):
            if isinstance(n, gast.Lambda | gast.ListComp | gast.GeneratorExp | gast.NamedExpr):
                raise _Open
        node = _Fold(self).visit(clone(node))
        table = dict(self.table)
        for free in sorted(names_read(node) - set(table)):
            table[free] = self._free(free)
        return substitute(node, table)

    def _free(self, free: str) -> Node:
        scope = self.rule.__globals__
        if free in self.rule.__code__.co_freevars:
            raise _Open
        if free in scope:
            value = scope[free]
            if isinstance(value, types.ModuleType):
                return name(self.refs.module(spaces.counterpart(value, self.space)))
            if callable(value):
                there = spaces.helper_in(value, self.space)
                return name(self.refs.function(there, self.space))
            raise _Open
        if hasattr(builtins, free):
            return name(free)
        raise _Open

    def denoted(self, node: Node) -> Any:
        """Return the function or class that an expression of the rule denotes, or None."""
        if not isinstance(node, gast.Name):
            return _member(node, self.rule)
        if node.id in self.table or node.id in self.rule.__code__.co_freevars:
            return None
        return self.rule.__globals__.get(node.id, getattr(builtins, node.id, None))

    def evaluate(self, node: Node) -> Any:
        """Return what an expression is known to be, or MISSING."""
        return _evaluate(node, self)


def _message(statement: Node) -> str:
    """Return the text of `raise NotImplementedError("...")`."""
    made = statement.exc
    if isinstance(made, gast.Call) and made.args and isinstance(made.args[0], gast.Constant):
        return str(made.args[0].value)
    return "the rule does not take these settings"


class _Fold(gast.NodeTransformer):  # type: ignore[misc]
    """Decides the conditional expressions of a rule."""

    def __init__(self, inliner: _Inliner) -> None:
        self.inliner = inliner

    def visit_IfExp(self, node: Node) -> Node:
        verdict = self.inliner.evaluate(node.test)
        if verdict is MISSING:
            return self.generic_visit(node)
        return self.visit(node.body if verdict else node.orelse)

    def visit_BinOp(self, node: Node) -> Node:
        """`where & mask` is the mask where all is counted."""
        if isinstance(node.op, gast.BitAnd) and self.inliner.evaluate(node.left) is True:
            return self.visit(node.right)
        return self.generic_visit(node)

    def visit_Attribute(self, node: Node) -> Node:
        """Python's numbers have no shape of their own: np.shape(a) for a.shape."""
        if node.attr in ("shape", "ndim", "size") and isinstance(node.value, gast.Name):
            kind = self.inliner.kinds.get(node.value.id)
            if kind is not None and may_be_plain(kind):
                module = self.inliner.refs.space(self.inliner.space)
                return call(attribute(name(module), node.attr), node.value)
        node.value = self._as_array(node.value)
        return self.generic_visit(node)

    def visit_Call(self, node: Node) -> Node:
        """A helper of a rule for arrays is given arrays, NumPy nothing that it takes by default."""
        node = self.generic_visit(node)
        if isinstance(node.func, gast.Name):
            if node.func.id not in self.inliner.settings:  # a function of the library takes numbers
                node.args = [self._as_array(a) for a in node.args]
            return node
        parameters = _parameters(_member(node.func, self.inliner.rule))
        node.keywords = [
            k for k in node.keywords if not self._default(parameters.get(k.arg), k.value)
        ]
        order = list(parameters.values())[: len(node.args)]
        while len(order) == len(node.args) > 1 and self._default(order[-1], node.args[-1]):
            order.pop()
            node.args.pop()
        return node

    def _default(self, parameter: inspect.Parameter | None, value: Node) -> bool:
        """Say whether an argument is known to be what the parameter is anyway."""
        if parameter is None or parameter.kind in _GATHERING:
            return False
        known = self.inliner.evaluate(value)
        default = parameter.default
        if default is np._NoValue:
            default = _NO_VALUES.get(parameter.name, MISSING)
        return known is not MISSING and type(known) is type(default) and bool(known == default)

    def _as_array(self, node: Node) -> Node:
        if getattr(node, "id", "") in self.inliner.settings:
            return node
        kind = self.inliner.kinds.get(getattr(node, "id", ""), K.UNKNOWN)
        if self.inliner.arrays and K.is_scalar(kind) and may_be_plain(kind):
            return call(
                attribute(name(self.inliner.refs.space(self.inliner.space)), "asarray"), node
            )
        return node


_GATHERING = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_NO_VALUES = {"where": True, "keepdims": False}


def _member(node: Node, rule: Callable[..., Any]) -> Any:
    """Return what `np.linalg.norm` in a rule denotes, or None."""
    if isinstance(node, gast.Name):
        captured = node.id in rule.__code__.co_freevars
        found = None if captured else rule.__globals__.get(node.id)
        return found if isinstance(found, types.ModuleType) else None
    if isinstance(node, gast.Attribute):
        return getattr(_member(node.value, rule), node.attr, None)
    return None


@functools.lru_cache(2048)
def _parameters(fn: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a library function, where it tells them."""
    try:
        return inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return {}


def may_be_plain(kind: Kind) -> bool:
    """Say whether a value may be one of Python's own numbers."""
    return any(isinstance(k, K.Num) and k.dtype in (None, "any") for k in K.options(kind))


def literal(given: Given) -> Any:
    """Return the value of an argument that is known when deriving, or MISSING."""
    return literal_key(given.kind)


_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Mod: operator.mod,
}


def _evaluate(node: Node, scope: _Inliner) -> Any:
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.Name):
        return scope.static.get(node.id, MISSING)
    if isinstance(node, gast.UnaryOp):
        value = _evaluate(node.operand, scope)
        if value is MISSING:
            return MISSING
        return (not value) if isinstance(node.op, gast.Not) else -value
    if isinstance(node, gast.BoolOp):
        return _evaluate_bool(node, scope)
    if isinstance(node, gast.BinOp) and type(node.op) in _BINARY:
        left, right = _evaluate(node.left, scope), _evaluate(node.right, scope)
        if left is MISSING or right is MISSING:
            return MISSING
        return _BINARY[type(node.op)](left, right)
    if isinstance(node, gast.Compare) and len(node.ops) == 1:
        return _evaluate_compare(node, scope)
    if isinstance(node, gast.Tuple):
        parts = tuple(_evaluate(e, scope) for e in node.elts)
        return MISSING if any(p is MISSING for p in parts) else parts
    if isinstance(node, gast.Attribute) and node.attr == "ndim":
        return _rank(node.value, scope)
    if isinstance(node, gast.Attribute) and node.attr == "inf":
        return _member(node, scope.rule) or MISSING
    if isinstance(node, gast.Call):
        return _evaluate_call(node, scope)
    return MISSING


def _evaluate_bool(node: Node, scope: _Inliner) -> Any:
    stop = isinstance(node.op, gast.Or)
    known: Any = not stop
    unknown = False
    for value in node.values:
        known = _evaluate(value, scope)
        if known is MISSING:
            unknown = True
        elif bool(known) is stop:
            return known if not unknown else MISSING
    return MISSING if unknown else known


def _evaluate_compare(node: Node, scope: _Inliner) -> Any:
    left = _evaluate(node.left, scope)
    right = _evaluate(node.comparators[0], scope)
    op = node.ops[0]
    if isinstance(op, gast.Is | gast.IsNot):
        negate = isinstance(op, gast.IsNot)
        for one, other, expr in ((left, right, node.comparators[0]), (right, left, node.left)):
            if one is None or one is True or one is False:
                if other is not MISSING:
                    return (other is one) is not negate
                kind = scope.kinds.get(expr.id) if isinstance(expr, gast.Name) else None
                if _cannot_be(kind, one):
                    return negate
        return MISSING
    if left is MISSING or right is MISSING:
        return MISSING
    return COMPARISONS[type(op)](left, right)


def _cannot_be(kind: Kind | None, value: object) -> bool:
    """Say whether a value of a kind is never this singleton."""
    if kind is None or isinstance(kind, K.Unknown | K.Unbound):
        return False
    if value is None:
        return not any(isinstance(k, K.NoneKind) for k in K.options(kind))
    return not any(isinstance(k, K.Num) and k.type == "bool" for k in K.options(kind))


def _rank(node: Node, scope: _Inliner) -> Any:
    if not isinstance(node, gast.Name):
        return MISSING
    kind = scope.kinds.get(node.id)
    if kind is None or not K.is_numeric(kind):
        return MISSING
    ranks = {k.rank if isinstance(k, K.Array) else 0 for k in K.options(kind)}
    return ranks.pop() if len(ranks) == 1 else MISSING


def _evaluate_call(node: Node, scope: _Inliner) -> Any:
    fn = scope.denoted(node.func)
    if fn is np.ndim and len(node.args) == 1:
        return _rank(node.args[0], scope)
    if fn is np.isscalar and len(node.args) == 1:
        rank = _rank(node.args[0], scope)
        return MISSING if rank is MISSING else rank == 0
    if fn is isinstance and len(node.args) == 2:
        value = _evaluate(node.args[0], scope)
        cls = scope.denoted(node.args[1])
        if value is not MISSING and isinstance(cls, type):
            return isinstance(value, cls)
        if isinstance(node.args[0], gast.Name):
            return _isinstance_kind(scope.kinds.get(node.args[0].id), cls)
        return MISSING
    if fn is np.iscomplexobj and len(node.args) == 1 and isinstance(node.args[0], gast.Name):
        kind = scope.kinds.get(node.args[0].id)
        if isinstance(kind, K.Num):
            # What holds for complex numbers holds for one that is found to be real.
            return K.is_complex(kind)
        if kind is None or isinstance(kind, K.Unknown) or is_mixed(kind):
            return MISSING
        return K.is_complex(kind)
    if (fn is len or fn is abs) and len(node.args) == 1:
        value = _evaluate(node.args[0], scope)
        return MISSING if value is MISSING else fn(value)
    return MISSING


def _isinstance_kind(kind: Kind | None, cls: Any) -> Any:
    table: dict[Any, type] = {tuple: K.Tuple, list: K.List, np.ndarray: K.Array}
    if kind is None or not isinstance(cls, type) or cls not in table:
        return MISSING
    options = K.options(kind)
    found = {isinstance(k, table[cls]) for k in options}
    undecided = any(isinstance(k, K.Unknown | K.OneOf) for k in options)
    return found.pop() if len(found) == 1 and not undecided else MISSING
