"""What is real or complex as the content of an array decides: no kind tells before the run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from s2sad import kinds as K
from s2sad import registry
from s2sad.kinds import Kind


def decided_by_content(fn: Any, args: Iterable[Kind]) -> Kind | None:
    """Return that nothing is known, and what to do, of calls that are so; None of all others."""
    some_complex = any(map(K.is_complex, args))
    if fn is np.real_if_close and some_complex:
        return _COMPLEX
    rule = registry.rule_for(fn)
    return _REAL if rule is not None and rule.turns_complex and not some_complex else None


_COMPLEX = K.Unknown(
    "real or complex as the content of a complex array decides",
    instead="Write np.real(x), or leave it complex.",
)
_REAL = K.Unknown(
    "real or complex as the content of a real array decides (x.astype(complex) decides it)",
    instead="Give it x.astype(complex), and take np.real of what comes of it where that is real.",
)
