"""What a backward sweep reads of globals and captured variables, by the names they have outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from s2sad import kinds as K
from s2sad.ir import program as P
from s2sad.nodes import dotted
from s2sad.steps.derivation import Analysed, Derivation


def note_outside(d: Derivation, a: Analysed, backward: Iterable[P.Operation]) -> None:
    """Note what a backward sweep reads outside: stored in between, it would be read too late."""
    found = d.read_outside.setdefault(a, {})
    for o in data_outside(backward):
        found[o.name] = dotted(o.name)


def data_outside(operations: Iterable[P.Operation]) -> Iterator[P.Outer]:
    """Yield what operations read outside that is memory: no function, and no number."""
    for operation in operations:
        given = list(P.operands(operation))
        if not isinstance(operation, P.Op):
            for block in P.blocks(operation):
                yield from data_outside(block.ops)
                given += block.end.results
        for o in given:
            value = o.value if isinstance(o, P.Spread) else o
            if isinstance(value, P.Outer) and not isinstance(value.kind, _CODE):
                if not K.shares_nothing(value.kind) and not _is_unknown(value.kind):
                    yield value


_CODE = (K.Known, K.LocalFunction, K.Choice)


def _is_unknown(kind: K.Kind) -> bool:
    """Say whether nothing is told of a value: so it is with what derived text itself names."""
    return kind is K.UNKNOWN
