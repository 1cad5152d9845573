"""Rules as programs: analysed once for kinds, in which lengths go by names of their own.

pull_sum, a: 2-d array (x.0, x.1), axis: None      a rule that is asked for
pull_sum, a: 2-d array (~0, ~1), axis: None        the one that is analysed, and kept
"""

from __future__ import annotations

import dis
import functools
import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from s2sad import kinds as K
from s2sad import registry
from s2sad.capture.read import read_once
from s2sad.errors import Error
from s2sad.ir import program as P
from s2sad.ir.from_tree import program_of
from s2sad.kinds import Dim, Kind
from s2sad.known.mixed import may_be_plain
from s2sad.linear.for_numbers import for_numbers
from s2sad.primitives import language as L
from s2sad.steps.derivation import Analysed, Derivation, analyse, memory_of
from s2sad.syntax.decided import SettledNum, settled

_MOST = 25
_CARRIED = ("closure", "statement", "look", "bind", "bind inside", "forget")
Names = Mapping[str, object]


@dataclass(frozen=True)
class RuleProgram:
    """A rule for some kinds: its program and what names mean in it, or `why` it is called instead.

    `result` is the kind of what it returns, `refuses` are its words where it takes no such call.
    Nobody wrote the names in `temps`. One that is `called_again`, where the text is derived once
    more, stops derivatives, which it says to nobody once it is a part of another program, or it has
    a derivative of its own and calls helpers that have none.
    """

    program: P.Program | None = None
    outside: Names | None = None
    temps: frozenset[str] = frozenset()
    result: Kind = K.UNKNOWN
    refuses: str | None = None
    called_again: bool = False
    why: str = ""


@dataclass(frozen=True)
class Asked:
    """A rule, and the kinds of its parameters by name; `wraps`: it is a rule for arrays."""

    rule: types.FunctionType
    kinds: tuple[tuple[str, Kind], ...]
    wraps: bool


class Symbols:
    """Gives symbols of lengths other names, the same one each time; what is told stays."""

    def __init__(self, renamed: Callable[[str], str], table: dict[str, str] | None = None) -> None:
        self.renamed = renamed
        self.table = {} if table is None else table

    def kind(self, kind: Kind) -> Kind:
        """Return a kind under the other names."""
        return K.mapped(self._leaf, kind)

    def _leaf(self, kind: Kind) -> Kind:
        if isinstance(kind, K.Array):
            return self._array(kind)
        if isinstance(kind, K.Num) and kind.dim is not None:
            return replace(kind, dim=self.dim(kind.dim))
        if isinstance(kind, K.Opaque):
            return replace(kind, like=self._array(kind.like))
        return kind

    def _array(self, kind: K.Array) -> K.Array:
        return replace(kind, dims=tuple(map(self.dim, kind.dims)))

    def dim(self, dim: Dim) -> Dim:
        """Return a length under its other name."""
        if K.length_of(dim) is not None:
            return dim
        if dim.symbol not in self.table:
            self.table[dim.symbol] = self.renamed(dim.symbol)
        return replace(dim, symbol=self.table[dim.symbol])


def canonical(kinds: Iterable[tuple[str, Kind]]) -> tuple[tuple[tuple[str, Kind], ...], Symbols]:
    """Return kinds whose lengths are named in the order in which they appear, and their names."""
    symbols = Symbols(lambda _: f"~{len(symbols.table)}")
    return tuple((n, symbols.kind(kind)) for n, kind in kinds), symbols


@functools.lru_cache(2048)
def unasked(rule: types.FunctionType) -> frozenset[str]:
    """Return the parameters of a rule on whose kinds nothing depends: it never reads them, or does
    nothing but hand them back.
    """
    names = frozenset(p.name for p in parameters(rule) if p.kind in _ONE)
    told = list(dis.get_instructions(rule.__code__))
    if all(i.opname in _HANDS_BACK for i in told):
        return names
    # Some instructions tell two names.
    values = (i.argval if isinstance(i.argval, tuple) else (i.argval,) for i in told)
    return names.difference(*values)


# What a rule consists of that is nothing but `return y, x`.
_HANDS_BACK = frozenset({"RESUME", "NOP", "CACHE", "COPY_FREE_VARS"}) | frozenset(
    {"LOAD_FAST", "LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"}
    | {"LOAD_CONST", "BUILD_TUPLE", "RETURN_VALUE", "RETURN_CONST", "LOAD_SMALL_INT"}
)
_ONE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def as_asked(kind: Kind, setting: bool) -> Kind:
    """Return the kind for which a rule is analysed: literals decide its tests.

    A literal that is no setting is not what a rule depends on, unless it counts.
    """
    known = settled(kind)
    if known is not None:
        return known
    literal = isinstance(kind, K.Num) and kind.dtype is None and kind.value is not K.MISSING
    if literal and setting:
        return SettledNum(kind.type, None, kind.value)  # type: ignore[attr-defined]
    return K.mapped(K.erase_value, kind) if not setting else kind


@dataclass(frozen=True)
class _Kept:
    """What is known of a rule while the functions that it calls have the rules they had."""

    made: RuleProgram
    rules: registry.SameRules


_kept: dict[Asked, _Kept] = {}
_helpers: dict[object, Analysed] = {}
_rules = registry.SameRules(())  # it is fresh until any rule is registered


def program_for(asked: Asked) -> RuleProgram:
    """Return the program of a rule, which is kept until what it calls has other rules."""
    known = _kept.get(asked)
    if known is None or not (known.rules.fresh or known.rules()):
        made = _analysed(asked)
        known = _kept[asked] = _Kept(made, registry.SameRules(_called_in(made)))
    return known.made


def _called_in(made: RuleProgram) -> list[object]:
    """Return the functions that the program of a rule names."""
    if made.program is None:
        return []
    given = [o for op in P.every(made.program.block) for o in P.operands(op)]
    kinds = [o.kind for o in given if isinstance(o, P.Outer)]
    return [k.value for k in kinds if isinstance(k, K.Known)]


def _derivation() -> Derivation:
    """Return a derivation in which the helpers of rules are known from before."""
    if not _rules.fresh:
        _helpers.clear()
        _rules()
    d = Derivation()
    d.analysed |= _helpers
    return d


def _analysed(asked: Asked) -> RuleProgram:
    kinds = dict(asked.kinds)
    why = _unfit(asked.rule, kinds)
    if why:
        return RuleProgram(why=why)
    plain = frozenset(n for n, kind in kinds.items() if may_be_plain(kind))
    settings = {p.name for p in parameters(asked.rule) if p.kind is p.KEYWORD_ONLY}
    wrapped = frozenset(n for n in plain - settings if asked.wraps and K.is_scalar(kinds[n]))
    fn = for_numbers(asked.rule, plain, wrapped)
    if fn is None:
        return RuleProgram(why="its source is not known")
    d = _derivation()
    try:
        read_once(fn)
        a = analyse(d, fn, kinds)
        _helpers.update((key, found) for key, found in d.analysed.items() if found is not a)
        program = program_of(a.function, a.kinds, memory_of(d, a).changes)
    except (Error, NotImplementedError) as error:
        return RuleProgram(why=f"it cannot be analysed: {str(error).splitlines()[0]}")
    if program.block.end.how == "raise":
        return RuleProgram(refuses=_message(program.block))
    result = a.kinds.result
    outside = _outside(program, {**fn.__globals__, **d.refs.modules, **d.refs.functions})
    why = _unlike(program, outside)
    if why:
        return RuleProgram(result=result, why=why)
    temps = frozenset({*a.function.temps, a.function.result})
    alone = bool(a.function.stopped) or _is_of_helpers(asked.rule, program)
    return RuleProgram(program, outside, temps, result, called_again=alone)


def _is_of_helpers(rule: types.FunctionType, program: P.Program) -> bool:
    """Say whether the derivatives of a rule are known, but not those of a helper that it calls."""
    if registry.rule_for(rule) is None:
        return False
    calls = [op for op in P.every(program.block) if isinstance(op, P.Op) and op.primitive is L.CALL]
    kinds = [op.operands[0].kind for op in calls if isinstance(op.operands[0], P.Outer)]
    called = [kind.value for kind in kinds if isinstance(kind, K.Known)]
    return any(registry.is_helper(fn) and registry.rule_for(fn) is None for fn in called)


def parameters(rule: Callable[..., object]) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a rule."""
    return tuple(inspect.signature(rule).parameters.values())


def _unfit(rule: types.FunctionType, kinds: Mapping[str, Kind]) -> str:
    """Say why a rule is not even analysed."""
    if rule.__code__.co_freevars:
        return "it captures variables"
    if any(isinstance(k, K.LocalFunction | K.Choice) for k in kinds.values()):
        return "it is given a function of the program's"
    return ""


def _unlike(program: P.Program, outside: Names) -> str:
    """Say why a program does not become a part of another one."""
    found = list(P.every(program.block))
    for operation in found:
        if isinstance(operation, P.Op):
            if operation.primitive.form in _CARRIED:
                return f"it has a {operation.primitive.form}"
        elif not isinstance(operation, P.If):
            return f"it has a {type(operation).__name__}"
        elif any(block.end.how == "raise" for block in P.blocks(operation)):
            return "it may refuse a call when it runs"  # which is told of a rule that is called
    if sum(not (isinstance(o, P.Op) and o.primitive is L.SAME) for o in found) > _MOST:
        return f"it has more than {_MOST} operations"
    odd = [n for n, v in outside.items() if not (isinstance(v, types.ModuleType) or callable(v))]
    return f"it reads {odd[0]}" if odd else ""


def _outside(program: P.Program, space: Names) -> Names:
    """Return what the first parts of names from outside mean; Python's own are not among them."""
    given = [o for operation in P.every(program.block) for o in P.operands(operation)]
    given += [o for block in _all_blocks(program.block) for o in block.end.results]
    words = {o.name.partition(".")[0] for o in given if isinstance(o, P.Outer)}
    return {n: space[n] for n in words if n in space}


def _all_blocks(block: P.Block) -> list[P.Block]:
    inner = [b for o in P.every(block) if not isinstance(o, P.Op) for b in P.blocks(o)]
    return [block, *inner]


def _message(block: P.Block) -> str:
    """Return the words with which a rule refuses."""
    made = {v: op for op in block.ops if isinstance(op, P.Op) for v in op.outs}
    raised = block.end.results[0] if block.end.results else None
    op = made.get(raised) if isinstance(raised, P.Var) else None
    words = [o.value for o in op.operands if isinstance(o, P.Const)] if op is not None else []
    return str(words[0]) if words else "the rule does not take these settings"
