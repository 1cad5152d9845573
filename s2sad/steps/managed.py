"""What a context manager notes down on itself as it is entered and left: `self.blocks += 1`.

It stays, as after a plain call, where nothing that the program computes can depend on it.
"""

from __future__ import annotations

from typing import Any

import gast

from s2sad import kinds as K
from s2sad.nodes import all_inside, walk
from s2sad.steps.derivation import Analysed, Derivation


def only_note(d: Derivation, a: Analysed) -> set[Any]:
    """Return the with statements of a function whose managers note down what nobody reads."""
    withs = [s for s in all_inside(a.function.node.body) if isinstance(s, gast.With)]
    if not withs:
        return set()
    everywhere = [a, *d.analysed.values()]
    own = [b.kinds.methods[c][0] for b in everywhere for c in d.noted if c in b.kinds.methods]
    reads = {
        (n.attr, kind.cls if isinstance(kind := b.kinds.of.get(n.value), K.Obj) else None)
        for b in everywhere
        if b.scope.fn not in own
        for n in walk(b.function.node)
        if isinstance(n, gast.Attribute) and isinstance(n.ctx, gast.Load)
    }

    def unread(item: Any) -> bool:
        calls = a.kinds.implied.get(item)
        if calls is None:
            return a.kinds.passing.get(item) is True
        cls = getattr(a.kinds.of.get(item.context_expr), "cls", None)
        notes = [d.noted.get(call) for call in calls]
        words = {w for found in notes if found is not None for w in found}
        path = isinstance(item.context_expr, gast.Name | gast.Attribute)
        seen = any((w, c) in reads for w in words for c in (cls, None))
        return path and None not in notes and not seen

    return {s for s in withs if all(map(unread, s.items))}
