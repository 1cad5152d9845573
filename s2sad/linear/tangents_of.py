"""The tangent of what a function computes, as one operation that other passes write out.

    y = np.hypot(a, b)      y_dot = tangent of np.hypot(y, a, b; a_dot, None)

Its operands are the result, what the function is given, and the tangents of that, None where there
is none. Its settings say which function it is, and by which names the last of what is given goes.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import gast

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.known.samples import stacked
from s2sad.linear.operands import kind_of
from s2sad.linear.rule_refusals import label_of
from s2sad.linear.tangent_table import Tangents
from s2sad.linear.zero_tangents import nothing
from s2sad.primitives import language as L
from s2sad.rulebook.rule import Rule
from s2sad.syntax.fresh import gives_new

OPERATORS: Mapping[str, object] = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "MatMult": operator.matmul,
    "USub": operator.neg,
    "UAdd": operator.pos,
}


@dataclass(frozen=True)
class Computed:
    """What a tangent operation says: the function, its result, what it is given, and tangents.

    `own` says that the tangent has to be memory that nothing else shares, but for what is given at
    the places in `bases`: the value may be a view of that.
    """

    fn: object
    out: Var
    given: tuple[Operand, ...]
    dots: tuple[Operand, ...]
    words: tuple[str, ...]
    own: bool
    bases: tuple[int, ...]

    @property
    def pairs(self) -> tuple[tuple[Operand, Operand], ...]:
        """Return what is given, each with its tangent."""
        return tuple(zip(self.given, self.dots, strict=True))

    @property
    def placed(self) -> tuple[tuple[Operand, Operand], ...]:
        """Return what is given by place, each with its tangent."""
        count = len(self.given) - len(self.words)
        return tuple(zip(self.given[:count], self.dots[:count], strict=True))

    @property
    def named(self) -> dict[str, tuple[Operand, Operand]]:
        """Return what is given by name, each with its tangent."""
        count = len(self.given) - len(self.words)
        pairs = zip(self.given[count:], self.dots[count:], strict=True)
        return dict(zip(self.words, pairs, strict=True))


def computed(
    t: Tangents,
    out: Var,
    fn: object,
    args: Sequence[Operand],
    named: Sequence[tuple[str, Operand]] = (),
) -> Operand:
    """Give a value its tangent, which is that of a function; return it."""
    given = (*args, *(v for _, v in named))
    if any(isinstance(o, P.Spread) for o in given):
        raise t.cannot(
            "s2sad does not know how many arguments are given with a star here.",
            "Write the arguments out, or give a tuple of them.",
        )
    rule = registry.rule_for(fn)
    if rule is None:
        raise t.without_rule(*registry.missing(fn, called_here(t, fn)))
    if rule.is_zero(any(K.is_complex(kind_of(o)) for o in given)):
        made: Operand = nothing(t, out, out.kind)
    elif not any(map(t.has, given)):
        made = nothing(t, out, out.kind)
    else:
        own = out in t.table.facts.written or (out.name in t.table.handed and _is_apart(out, rule))
        changes = out in t.table.facts.written_apart or _may_change(t, given)
        own = own or (rule.view == "never" and changes)
        node = getattr(t.origin, "value", None)
        several = not isinstance(out.kind, K.Array) and isinstance(node, gast.Call)
        new = several and gives_new(fn, node)  # of one array the run says whether it is a view
        bases = _bases(t, out, given, rule) if own and not new else ()
        dot = t.bind(out)
        operands = (out, *given, *map(t.maybe, given))
        words = tuple(n for n, _ in named)
        told = (("fn", fn), ("words", words), ("own", own), ("bases", bases), ("caught", t.caught))
        t.add(Op((dot,), L.TANGENT, operands, told, (), (), t.origin))
        return dot
    t.give(out, made)
    return t.maybe(out)


def sequences_made_arrays(fn: object) -> tuple[type[Kind], ...]:
    """Return of which sequences a function makes arrays."""
    if fn in (*OPERATORS.values(), builtins.pow) or registry.wants_arrays(fn):
        return K.List, K.Tuple
    return (K.List,) if registry.tells_tuples(fn) else ()


def as_array(t: Tangents, fn: object, operand: Operand) -> Operand:
    """Return an operand as the array that a function makes of a list or a tuple."""
    kind = t.kind(operand)
    if not isinstance(kind, sequences_made_arrays(fn)) or not K.differentiable(kind):
        return operand
    array = stacked(kind)
    if array is None:
        raise t.cannot(
            f"s2sad cannot differentiate this operation on {K.describe(kind)} yet.",
            "Make it an array first: np.array(...).",
        )
    made = t.call(t.table.numpy("asarray", array), (operand,), array)
    if t.has(operand):
        t.of[made] = t.call(t.table.numpy("asarray", array), (t.maybe(operand),), array)
    return made


def called_here(t: Tangents, fn: object) -> str:
    """Return what the user calls a function that is called here: `np.sin`."""
    node = getattr(t.origin, "value", None)
    func, words = getattr(node, "func", None), list[str]()
    while isinstance(func, gast.Attribute):
        words, func = [func.attr, *words], func.value
    if isinstance(func, gast.Name):
        return ".".join([func.id, *words])
    return label_of(fn)


def _is_apart(out: Var, rule: Rule) -> bool:
    """Say whether a value is an array of its own: so is its tangent, where others get both."""
    return isinstance(out.kind, K.Array) and out.kind.rank > 0 and rule.view == "never"


def _may_change(t: Tangents, given: Sequence[Operand]) -> bool:
    """Say whether the tangent of something is memory that is written: what is new does not show it.

    y = b + 0.2        y_dot = b_dot.copy()
    b[0] = 1.0         b_dot[0] = 0.0
    """
    arrays = (v for v in map(P.variable, given) if v is not None and isinstance(v.kind, K.Array))
    return any(t.has(v) and v in t.table.facts.written for v in arrays)


def _bases(t: Tangents, out: Var, given: Sequence[Operand], rule: Rule) -> tuple[int, ...]:
    """Return at which places that is given which the value may be a view of.

    What has no tangent is no part of what matters, nor is what is written through a view of it.
    """
    return tuple(i for i, o in enumerate(given) if t.has(o) and _may_show(t, out, o, rule))


def _may_show(t: Tangents, out: Var, operand: Operand, rule: Rule) -> bool:
    v = P.variable(operand)
    if v is None or not isinstance(v.kind, K.Array):
        return False
    if out.name and v.name and out.name != v.name:  # by names, M = M.T would say nothing of M
        aliases = t.table.facts.aliases
        return v.name in aliases.pairs_after.get(t.origin, {}).get(out.name, frozenset())
    return rule.shows(v.kind.rank)


def told_by(op: Op) -> Computed:
    """Return what a tangent operation says."""
    settings = dict(op.settings)
    words, own, bases = settings["words"], settings["own"], settings["bases"]
    assert isinstance(words, tuple) and isinstance(own, bool) and isinstance(bases, tuple)
    out, *rest = op.operands
    assert isinstance(out, Var)
    half = len(rest) // 2
    given, dots = tuple(rest[:half]), tuple(rest[half:])
    return Computed(settings["fn"], out, given, dots, words, own, bases)


def put(t: Tangents, shadow: Var, value: Operand) -> None:
    """Write all of a shadow."""
    everywhere = P.Const(...)
    writes = (Place(shadow, (P.Item(everywhere),)),)
    told = (("part", shadow.kind),)
    t.add(Op((), L.PUT_ITEM, (shadow, everywhere, value), told, (), writes, t.origin))
