"""Which calls give what is real or complex as the content of an array decides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import Kind


def decided_by_content(fn: Any, args: Iterable[Kind]) -> bool:
    """Say whether the content of the arguments decides whether a call gives complex numbers."""
    some_complex = any(map(K.is_complex, args))
    if fn in (np.real_if_close, np.poly):
        return some_complex
    rule = registry.rule_for(fn)
    return rule is not None and rule.turns_complex and not some_complex
