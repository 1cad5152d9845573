"""The tangents of what methods give, and what methods do to shadows."""

from __future__ import annotations

import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.ir import program as P
from s2sad.ir.identities import elements
from s2sad.ir.program import Op, Operand, Place, Var
from s2sad.kinds import Kind
from s2sad.known.generators import draws
from s2sad.linear.constructed import replaced
from s2sad.linear.handed_functions import called_with_functions
from s2sad.linear.operands import kind_of
from s2sad.linear.tangent_table import Tangents, tangent_kind
from s2sad.linear.tangents_of import computed
from s2sad.linear.user_calls import call_node, call_with_tangents, user_call
from s2sad.linear.zero_tangents import give_zeros, tangent_of
from s2sad.primitives import language as L


def method(t: Tangents, op: Op) -> None:
    """Add a call of a method with what it gives and does to tangents."""
    kind = t.kind(op.operands[0])
    if K.is_numeric(kind):
        _of_array(t, op)
    elif isinstance(kind, K.List):
        _of_list(t, op)
    elif isinstance(kind, K.AnyDict):
        _of_dict(t, op)
    elif isinstance(kind, K.Tuple) and op.primitive.word == "_replace":
        _with_replaced(t, op, kind)
    else:
        ours = user_call(t, op)
        if ours is not None:
            call_with_tangents(t, op, ours)
        else:
            _of_library(t, op, kind)


def _with_replaced(t: Tangents, op: Op, kind: Kind) -> None:
    (out,) = op.outs
    named = [(n, v) for n, v in op.settings if isinstance(v, P.OPERANDS)]
    t.add(op)
    if len(op.operands) > 1 or any(isinstance(v, P.Spread) for _, v in named):
        raise t.cannot(
            "s2sad does not know which fields are given with a star here.",
            "Write the fields out.",
        )
    if t.table.carries(out):
        replaced(t, out, op.operands[0], named, kind)


def _of_library(t: Tangents, op: Op, kind: Kind) -> None:
    """Add the call of a method of a library's object: a generator, or a module."""
    owner, *args = op.operands
    word, (out,) = op.primitive.word, op.outs
    node = call_node(t, op)
    kinds = t.table.facts.analysed.kinds
    fn = kinds.objects.get(node.func) if node is not None else None
    held = kinds.of.get(node.func) if node is not None else None
    drawn = draws(fn, getattr(kind, "cls", None), word)
    if drawn is not None:
        fn = drawn
    elif fn is None and isinstance(kind, K.Opaque):
        fn, args = registry.object_function(kind.cls, word), [owner, *args]
    elif fn is None and isinstance(held, K.Opaque):  # an object that an attribute holds is called
        fn, args = registry.object_function(held.cls, "__call__"), [_held(t, op, held), *args]
    if [v for v in (p.object for p in op.writes) if isinstance(v, Var) and t.has(v)]:
        raise t.cannot(
            f"The method {word}, which is called here, changes memory that has a derivative.",
            "Write the computation out, or make its inputs Const.",
        )
    if fn is None and t.table.carries(out):
        raise (
            t.undecided(kind)
            if isinstance(kind, K.Unknown)
            else t.cannot(f"s2sad has no derivative of the method {word} of {K.describe(kind)}.")
        )
    t.add(op)
    if t.table.carries(out):
        named = [(n, v) for n, v in op.settings if isinstance(v, P.OPERANDS)]
        if drawn is not None and not any(map(t.has, (owner, *args, *(v for _, v in named)))):
            give_zeros(t, out)  # what is drawn for an object that holds tangents has none itself
            return
        called_with_functions(t, op, fn, args, named)


def _held(t: Tangents, op: Op, kind: Kind) -> Var:
    """Return the object that an attribute holds, with its tangent."""
    owner, word = op.operands[0], op.primitive.word
    found = t.emit(L.field(word), (owner,), kind)
    if t.has(owner):
        t.of[found] = t.emit(L.field(word), (t.maybe(owner),), tangent_kind(kind))
    return found


def _of_array(t: Tangents, op: Op) -> None:
    owner, *args = op.operands
    word, (out,) = op.primitive.word, op.outs
    if any(p.object is owner for p in op.writes) and t.has(owner):
        raise t.cannot(
            f"The array method .{word}() changes its array in a way that s2sad cannot "
            "differentiate.",
            "Compute the new values, and store them by indices.",
        )
    t.add(op)
    if not t.table.carries(out):
        return
    fn = registry.method_function(word)
    real = fn is np.conjugate and not K.is_complex(kind_of(owner))
    if real and t.table.backward and elements(kind_of(owner)) and t.has(owner):
        t.named(t.bind(out), t.maybe(owner))  # a real array is its own conjugate
        return
    if (word == "copy" or (fn is np.conjugate and (real or not t.table.backward))) and t.has(owner):
        _again(t, op)
        return
    if fn is None:
        if registry.is_zero_method(word):
            return
        raise t.without_rule(*registry.missing_method(word))
    named = [(n, v) for n, v in op.settings if isinstance(v, P.OPERANDS)]
    computed(t, out, fn, (owner, *args), named)


def _again(t: Tangents, op: Op, *args: Operand) -> None:
    """Call the method of the shadow, too; what it gives is the tangent of what it gave."""
    owner = op.operands[0]
    shadow = t.maybe(owner)
    assert isinstance(shadow, Var)
    (out,) = op.outs
    bound = t.table.carries(out) or isinstance(out.kind, K.Iterable_)
    dot = t.bind(out) if bound else Var("", K.UNKNOWN)
    writes = tuple(Place(shadow, p.path) for p in op.writes if p.object is owner)
    reads = (Place(shadow, (P.Anywhere(),)),)
    settings = (*op.settings, *t.before)
    t.add(Op((dot,), op.primitive, (shadow, *args), settings, reads, writes, op.origin))
    if not bound:
        t.add(Op((), L.DISCARD, (dot,), (), (), (), op.origin))


def _of_list(t: Tangents, op: Op) -> None:
    owner, *args = op.operands
    word = op.primitive.word
    effects = registry.effects_of(getattr(list, word, None))
    t.add(op)
    if not t.has(owner):
        return
    if op.settings:
        raise t.cannot(
            f"s2sad cannot differentiate this call of a list's .{word}().",
            "Give it no settings.",
        )
    if effects.writes == "puts" and args:
        if isinstance(kind_of(args[-1]), K.Iterable_ | K.Unknown):
            raise t.cannot(
                "s2sad has no tangents for the iterable that a list is extended by.",
                "Make it a list first: list(...).",
            )
        _again(t, op, *args[:-1], tangent_of(t, args[-1]))
    elif effects.writes in ("takes", "orders") and word != "sort":
        _again(t, op, *args)
    elif word == "copy":
        _again(t, op)
    elif t.table.carries(op.outs[0]) or any(p.object is owner for p in op.writes):
        raise t.cannot(
            f"s2sad cannot differentiate a list's .{word}() yet.",
            "Read and write the items by their indices.",
        )


def _of_dict(t: Tangents, op: Op) -> None:
    owner, *args = op.operands
    word = op.primitive.word
    t.add(op)
    if not t.has(owner):
        return
    if word == "get":
        if t.table.carries(op.outs[0]):
            _again(t, op, args[0], *(tangent_of(t, a) for a in args[1:]))
    elif word == "items" and _told_by_keys(t.kind(owner)):
        _again(t, op)
    elif word in ("values", "copy") or (word == "pop" and len(args) == 1):
        _again(t, op, *args)
    elif t.table.carries(op.outs[0]) or any(p.object is owner for p in op.writes):
        raise t.cannot(
            f"s2sad cannot differentiate a dict's .{word}() yet.",
            "Read the entries by their keys.",
        )


def _told_by_keys(kind: K.Kind) -> bool:
    """Say whether no key of a dict has a derivative: an entry of `d_dot.items()` has the key."""
    if isinstance(kind, K.Dict):
        return not any(K.differentiable(K.kind_of(key, "")) for key, _ in kind.items)
    return isinstance(kind, K.OpenDict) and not K.differentiable(kind.key)
