"""Gradients as functions that are derived again: what a rule needs that speaks of a minimum.

A derived gradient is a plain function, and so is its text. Loaded with what the user's function
sees, it takes the place of a function of the user's.
"""

from __future__ import annotations

import itertools
import types
from dataclasses import replace
from typing import Any

from s2sad import kinds as K
from s2sad.capture.read import remember
from s2sad.kinds import Kind
from s2sad.linear.reverse_entry import reverse_function
from s2sad.requests import Request
from s2sad.stages import Text
from s2sad.steps.derivation import Derivation, analyse
from s2sad.steps.derived_pairs import Target
from s2sad.steps.joining import add, complete, printed
from s2sad.write.live import live_in
from s2sad.write.load import load

_numbers = itertools.count(1)


def gradient_of(d: Derivation, target: Target, wrt: str, with_value: bool) -> Target | None:
    """Return the gradient of a function, by one parameter, as a function that can be derived.

    It may give the value, too. It has the parameters of the function, and what that captures as
    keywords. None where the function gives no real number.
    """
    own = Derivation()
    extra = tuple(p for p, _ in target.extra)
    a = analyse(own, target.fn, target.params, extra)
    if not _is_real(a.kinds.result):
        return None
    source: Any = a.function.source
    own.refs.prefer(source.fn)
    mode = "value_and_grad" if with_value else "grad"
    own.entry = own.names.fresh(f"{source.name}_{mode}")
    what = "Value and gradient" if with_value else "Gradient"
    doc = f"{what} of {source.name} with respect to {wrt}."
    request = Request(target.fn, tuple(target.params.items()), (wrt,), True, mode)
    add(own, reverse_function(own, a, request, own.entry, doc), source.fn, a)
    made = loaded(own, printed(complete(own)))
    for reader, seen in own.seen.items():
        d.seen.setdefault(reader, {}).update(seen)
    d.members.update(own.members)
    return replace(target, fn=made)


def _is_real(kind: Kind) -> bool:
    if isinstance(kind, K.Num):
        return kind.type == "float" and kind.dtype in (None, "any", "float64")
    return isinstance(kind, K.Array) and kind.rank == 0 and kind.dtype == "float64"


def loaded(d: Derivation, text: Text) -> types.FunctionType:
    """Load a derived module so that it can be read and derived again.

    What it calls of s2sad's and of rules it calls where that stands: those have rules of their own.
    """
    helpers = {n: fn for n, fn in d.refs.functions.items() if isinstance(fn, types.FunctionType)}
    helpers |= live_in(d.refs)
    functions = load(
        text.text,
        text.entry,
        filename=f"<s2sad {text.entry} {next(_numbers)}>",
        namespaces=text.namespaces,
        cells={n: {**helpers, **text.cells.get(n, {})} for n in text.namespaces},
        defaults={n: f for n, f in d.origins.items() if n not in d.inner},
    )
    remember(functions.values(), text.text)
    return functions[text.entry]
