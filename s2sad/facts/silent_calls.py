"""Hooks into adjoints, and flags: statements that say nothing of values."""

from __future__ import annotations

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.inside import hook_here
from s2sad.nodes import (
    Node,
    all_inside,
)
from s2sad.stages import Function, KindFacts


def is_hook(s: Node, kinds: KindFacts) -> bool:
    """Say whether a statement hooks into the adjoint of a variable."""
    called = isinstance(s, gast.Expr) and isinstance(s.value, gast.Call)
    return called and kinds.objects.get(s.value.func) is hook_here


def sets_flags(s: Node, kinds: KindFacts) -> bool:
    """Say whether a statement only changes flags of an array: derivatives write all the same.

    z.setflags(write=False); z.flags.writeable = False
    """
    if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
        func = s.value.func
        method = getattr(np.ndarray, func.attr, None) if isinstance(func, gast.Attribute) else None
        return method is np.ndarray.setflags and isinstance(kinds.of.get(func.value), K.Array)
    target = s.targets[0] if isinstance(s, gast.Assign) else None
    owner = kinds.of.get(getattr(target, "value", None))
    return isinstance(owner, K.Unknown) and owner.cls is K.FLAGS


def bends(function: Function, kinds: KindFacts) -> bool:
    """Say whether what is derived of a function is another thing than its derivative."""
    return bool(function.stopped) or any(is_hook(s, kinds) for s in all_inside(function.node.body))
