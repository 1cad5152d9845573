"""What one operation does besides giving its values: a fact of its primitive and its function.

u[i] += x              writes u
print(x)               acts: nobody in the program can see what it changes
np.zeros(3)            gives fresh memory
next(rounds)           of which nothing is declared: acts
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.program import Op, Operand, Var
from s2sad.kinds import Kind
from s2sad.known.built import plain_fields, run_by_making
from s2sad.known.libraries import of_standard_library
from s2sad.known.outputs import parameters_given, positional_outs
from s2sad.nodes import walk
from s2sad.rulebook.facts import Effects
from s2sad.rulebook.quiet import is_quiet

Owner = Var | P.Outer


@dataclass(frozen=True)
class Deed:
    """Whether an operation `acts` outside of the program, what it `writes`, which of its operands
    it draws items from (`draws`), and whether its result is `fresh` memory. One that `checks` may
    refuse what it is given: where nobody takes its value, it was called for that.
    """

    acts: bool = False
    writes: tuple[Owner, ...] = ()
    draws: tuple[Owner, ...] = ()
    fresh: bool = False
    checks: bool = False


_known: WeakKeyDictionary[Op, Deed] = WeakKeyDictionary()


def deed(op: Op) -> Deed:
    """Return what an operation does besides giving its values."""
    found = _known.get(op)
    if found is None:
        found = _known[op] = _deed(op)
    return found


def _deed(op: Op) -> Deed:
    written = tuple(p.object for p in op.writes)
    form = op.primitive.form
    if op.primitive.effect != "any":
        acts = form == "closure" and _runs_where_made(op)
        acts = acts or any(_has_code(kind_of(o)) for o in op.operands if form in _ASKING)
        written = () if form == "closure" else written  # its calls write, not its definition
        draws = _drawn(op.operands) if form == "unpack" else ()
        return Deed(acts, written, draws, _computes_anew(op))
    if form == "call":
        return _called(op, written)
    if form == "method":
        return _asked(op, written)
    return Deed(True, written)


def kind_of(operand: Operand) -> Kind:
    """Return the kind of an operand."""
    match operand:
        case P.Spread():
            return kind_of(operand.value)
        case Var() | P.Outer():
            return operand.kind
        case P.Const():
            return K.kind_of(operand.value, "a literal")
        case P.Unbound():
            return K.UNBOUND


def part_shown(op: Op) -> Operand | None:
    """Return the operand of which an operation shows a part, each element once: it may be written.

    u[1:]          u
    np.real(z)     z
    """
    if op.primitive.form in ("item", "field"):
        return op.operands[0]
    callee, *given = op.operands or (P.Const(None),)
    fn = kind_of(callee) if op.primitive.form == "call" and given else None
    if not isinstance(fn, K.Known) or any(isinstance(o, P.Spread) for o in given):
        return None
    rule = registry.rule_for(fn.value)
    window = None if rule is None else rule.window
    told = parameters_given(fn.value, len(given) - 1)
    if window is None or window.read_only or told is None:
        return None
    told |= {word for word, _ in op.settings}
    return None if told & {*window.unless, "out"} else given[0]


def owner_of(operand: Operand) -> Owner | None:
    """Return the object that an operand is, if it is one that has a name in the program."""
    value = operand.value if isinstance(operand, P.Spread) else operand
    return value if isinstance(value, Var | P.Outer) else None


def may_be_drawn(kind: Kind) -> bool:
    """Say whether going through a value may change it, or run code: an iterator, or an unknown."""
    if isinstance(kind, K.Union):
        return any(map(may_be_drawn, kind.inside))
    if isinstance(kind, K.Iterable_):
        return not kind.indexed
    stays = K.Num | K.Array | K.Tuple | K.BuiltIn | K.Str | K.NoneKind
    return not isinstance(kind, stays | K.Known | K.LocalFunction | K.Unbound)


# --- operators -----------------------------------------------------------------------------------

_NEW = ("compare", "text")
_ASKING = ("item", "field", "compare", "infix", "prefix", "text")


def _computes_anew(op: Op) -> bool:
    """Say whether an operator gives a value that holds nothing of its operands: no list, say."""
    if op.primitive.form in ("infix", "prefix"):
        return all(K.is_numeric(kind_of(v)) for v in op.operands)
    if op.primitive.form == "slice":  # a bound may be an array, which may change
        return all(isinstance(v, P.Const) or K.shares_nothing(kind_of(v)) for v in op.operands)
    return op.primitive.form in _NEW


def _runs_where_made(op: Op) -> bool:
    """Say whether a definition calls something at once: a decorator, a default, a first source."""
    node = next((v for word, v in op.settings if word == "code"), None)
    match node:
        case gast.FunctionDef(args=args):
            at_once = [*node.decorator_list, *args.defaults, *args.kw_defaults]
        case gast.Lambda(args=args):
            at_once = [*args.defaults, *args.kw_defaults]
        case gast.GeneratorExp():
            at_once = [node.generators[0].iter]
        case _:
            return True
    decorated = bool(getattr(node, "decorator_list", None))
    parts = [n for part in at_once if part is not None for n in walk(part)]
    return decorated or any(isinstance(n, gast.Call) for n in parts)


# --- calls ---------------------------------------------------------------------------------------


def _called(op: Op, written: tuple[Owner, ...]) -> Deed:
    callee, *given = op.operands
    kind = kind_of(callee)
    if isinstance(kind, K.Opaque):
        return _of_object(kind, "__call__", written)
    if not isinstance(kind, K.Known):
        return Deed(True, written)
    fn, known = kind.value, registry.effects_of(kind.value)
    if _stores_all(fn, op):
        return Deed(False, written)
    checks = registry.is_helper(fn) and registry.rule_for(fn) is None and is_quiet(fn)
    acts = not (checks or _only_computes(fn, known)) or any(map(_may_run, _all(op)[1:]))
    outs = _outs(op, positional_outs(fn, given))
    if known.writes in ("puts", "takes", "orders"):
        outs += given[:1]
    draws = _drawn([*given, *(v for _, v in _settings(op))]) if known.reads else ()
    # np.float64(x) may be x; an object of a library is another value than what it is made of
    converts = isinstance(fn, type) and registry.objects_of(fn) is None
    new = known.copies or (not known.held and _gives_new(registry.rule_for(fn), op))
    fresh = not (acts or outs or converts) and new
    return Deed(acts, (*written, *_owners(outs)), draws, fresh, checks)


def _stores_all(fn: Any, op: Op) -> bool:
    """Say whether a call makes an object that holds what is given, and does nothing else."""
    names = plain_fields(fn) if isinstance(fn, type) else None
    if names is None or any(isinstance(o, P.Spread) for o in op.operands):
        return False
    return len(op.operands) - 1 + len(_settings(op)) == len(names) and not run_by_making(fn)


def _only_computes(fn: Any, known: Effects) -> bool:
    rule = registry.rule_for(fn)
    return known.is_pure or known.copies or (rule is not None and not rule.calls and is_quiet(fn))


def _asked(op: Op, written: tuple[Owner, ...]) -> Deed:
    """What a method does, by its name and what is known of the classes that have one."""
    owner, *given = op.operands
    word, kind = op.primitive.word, kind_of(owner)
    if isinstance(kind, K.Opaque) and registry.object_function(kind.cls, word) is not None:
        return _of_object(kind, word, written)
    changes = registry.method_writes(word)
    like = registry.method_like(word)
    looks = registry.method_only_looks(word) or like is not None
    acts = _is_strange(kind) or not (looks or changes) or any(map(_may_run, _all(op)[1:]))
    outs = _outs(op, positional_outs(like, list(op.operands)) if like is not None else [])
    if changes:
        outs.append(owner)
    # x.conj() may be x, though np.conj(x) is not: only the method's own rule tells.
    own = like is not None and like is getattr(np.ndarray, word, None)
    rule = registry.rule_for(like) if own else None
    fresh = not acts and not outs and K.is_numeric(kind) and _gives_new(rule, op)
    return Deed(acts, (*written, *_owners(outs)), _drawn(given), fresh)


def _of_object(kind: K.Opaque, word: str, written: tuple[Owner, ...]) -> Deed:
    """What a library's object does: where a function with a rule stands for it, that says so."""
    fn = registry.object_function(kind.cls, word)
    return Deed(fn is None or not _only_computes(fn, registry.effects_of(fn)), written)


def _is_strange(kind: Kind) -> bool:
    """Say whether a method of a value may be anybody's."""
    if isinstance(kind, K.Union):
        return any(map(_is_strange, kind.inside))
    if isinstance(kind, K.Unknown):
        return kind.cls is not None
    return isinstance(kind, K.Obj | K.OneOf | K.Known | K.LocalFunction | K.Choice)


def _gives_new(rule: registry.Rule | None, op: Op) -> bool:
    spared = any(word == "copy" for word, _ in op.settings)
    first = next(iter(op.operands[op.primitive.form == "call" :]), None)
    rank = None if first is None else getattr(kind_of(first), "rank", None)
    return rule is not None and not rule.shows(rank) and not spared


def _has_code(kind: Kind) -> bool:
    """Say whether a value is an object of a user's class of which nothing else is known.

    What it is asked, its own code answers, and that may do anything.
    """
    if isinstance(kind, K.Union):
        return any(map(_has_code, kind.inside))
    cls = kind.cls if isinstance(kind, K.Unknown) else None
    if cls is None or registry.is_foreign(cls) or of_standard_library(cls.__module__):
        return False
    every = (v for c in cls.__mro__[:-1] for v in vars(c).values())
    return any(isinstance(v, types.FunctionType | property) for v in every)


def _may_run(given: Operand) -> bool:
    """Say whether an operand is a function that does more than compute: a call may run it.

    It may ask an object, too.
    """
    kind = kind_of(given)
    if _has_code(kind):
        return True
    if isinstance(kind, K.Known):
        return callable(kind.value) and not isinstance(kind.value, type) and not _quiet(kind.value)
    return isinstance(kind, K.LocalFunction | K.Choice)


def _quiet(fn: Any) -> bool:
    return registry.effects_of(fn).is_pure or is_quiet(fn)


def _settings(op: Op) -> list[tuple[str, Operand]]:
    return [(word, v) for word, v in op.settings if isinstance(v, P.OPERANDS)]


def _all(op: Op) -> tuple[Operand, ...]:
    return (*op.operands, *(v for _, v in _settings(op)))


def _outs(op: Op, by_position: list[Operand]) -> list[Operand]:
    """Return what a call is told to put its result into."""
    return [*by_position, *(v for word, v in _settings(op) if word == "out")]


def _owners(given: list[Operand]) -> tuple[Owner, ...]:
    return tuple(v for v in map(owner_of, given) if v is not None)


def _drawn(given: list[Operand] | tuple[Operand, ...]) -> tuple[Owner, ...]:
    return _owners([v for v in given if may_be_drawn(kind_of(v))])
