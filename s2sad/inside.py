"""What a differentiated function says to its own derivative.

A plain call knows nothing of derivatives: there `stop_gradient` and `adjoint_hook` give back what
they are given, and `within_gradient()` is False. Derived text holds none of the three.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from s2sad.errors import UnsupportedError

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """Return x, with no derivative: a number, an array or a structure, itself and no copy."""
    return x


def within_gradient() -> bool:
    """Say whether this is derived code: that is decided when the code is derived.

    `if within_gradient():` leaves one branch in the derived text, and the other one in the plain
    function. What reaches it is derived with it: called functions, too, whether active or not.
    """
    if _derived_code_runs():
        raise UnsupportedError(
            "Derived code called within_gradient() in a place that s2sad did not see when it "
            "derived the code.",
            remedy=(
                "Call within_gradient() in the differentiated function, and pass its answer on."
            ),
        )
    return False


def adjoint_hook(x: T, fn: Callable[[Any], Any]) -> T:
    """Return x; in the backward sweep `fn` gets the adjoint of x, whole, before it is used.

    What fn returns is used in its place; None leaves it as fn leaves it: fn gets memory of its own,
    which it may change. Forward mode has no adjoints: there x is just x.
    """
    return x


def hook_here(x: Any, fn: Callable[[Any], Any]) -> None:
    """Stand for a hook in a function that is being derived: `fn` gets the adjoint of x here."""


def _derived_code_runs() -> bool:
    """Say whether a function of derived text is among those that run."""
    frame = sys._getframe(2)
    found: Any = frame
    while found is not None:
        name = found.f_code.co_filename
        if name.startswith("<s2sad ") and name != "<s2sad guard>":
            return True
        found = found.f_back
    return False
