"""Calls of what a library has that rules/ write out in Python: which Python stands for it.

d.setdefault("b", x)          setdefault(d, "b", x)
max(pairs, key=f)             max_by(pairs, key=f), where no rule serves it
max(tools, key=use)           max_called(tools, key=use), where a call of it writes something
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.nodes import Node
from s2sad.stages import KindFacts

_CLASSES: dict[type, type] = {K.Array: np.ndarray, K.List: list, K.Dict: dict, K.OpenDict: dict}


def library_form(
    facts: KindFacts, node: Node, writes: Callable[[], bool]
) -> tuple[Any, list[Node]]:
    """Return the Python that stands for what a call calls of a library's, and its arguments.

    It stands for a method of an array, a list or a dict that gets its owner first. None where the
    call has nothing to do with derivatives, or how it is called is not known.
    """
    fn, args = facts.objects.get(node.func), list(node.args)
    if fn is None:
        fn = getattr(facts.of.get(node.func), "value", None)
        fn = fn if isinstance(fn, type) else None
    if fn is None and isinstance(node.func, gast.Attribute):
        owner = node.func.value
        cls = _CLASSES.get(type(facts.of.get(owner)))
        if cls is None:
            return None, []
        ordered = getattr(OrderedDict, node.func.attr, None) if cls is dict else None
        fn, args = getattr(cls, node.func.attr, ordered), [owner, *args]
    given = [facts.of.get(a, K.UNKNOWN) for a in (*args, *(k.value for k in node.keywords))]
    concerned = any(K.differentiable(k) or isinstance(k, K.LocalFunction | K.Known) for k in given)
    if fn is None or not (concerned or isinstance(fn, type)):
        return None, []
    form = registry.written_form(fn, writing=True)
    if form is not None and writes():
        return form[0], args
    form = registry.written_form(fn)
    if form is not None:
        return (None if form[1] else form[0]), args
    served = bool(given) and not isinstance(facts.of.get(node), K.Unknown)
    if not served and not any(isinstance(k, K.Unknown | K.Unbound) for k in given):
        form = registry.written_form(fn, beside=True)
    return (None if form is None else form[0]), args
