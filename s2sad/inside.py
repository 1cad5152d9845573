"""Functions that a differentiated function calls to control its own derivative.

They have no effect in a plain call: `stop_gradient` and `adjoint_hook` return their first argument,
and `within_gradient()` is False. Derived text calls none of the three.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

from s2sad.errors import UnsupportedError

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """Return x itself; derivatives treat the result as a constant.

    >>> s2sad.grad(lambda x: x * s2sad.stop_gradient(x))(3.0)
    3.0

    x may be a number, an array or a structure.
    """
    return x


def within_gradient() -> bool:
    """Return True in derived code and False in a plain call.

    >>> def f(x):
    ...     return 5.0 * x if s2sad.within_gradient() else x
    >>> f(1.0), s2sad.grad(f)(1.0)
    (1.0, 5.0)

    s2sad decides the answer when it derives the code: only one branch of `if within_gradient():`
    is in the derived text. Functions on the way to the call are derived as well, even if they are
    not active. An UnsupportedError is raised if derived code reaches a call that s2sad did not see
    when it derived the code.
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
    """Return x; in the backward sweep, `fn` receives the adjoint of x and may replace it.

    >>> def f(x):
    ...     y = s2sad.adjoint_hook(x * x, lambda bar: np.clip(bar, -1.0, 1.0))
    ...     return 10.0 * y
    >>> f(3.0), float(s2sad.grad(f)(3.0))
    (90.0, 6.0)

    fn is called when the adjoint of x is complete and before it is used. If fn returns a value, the
    backward sweep uses that value instead of the adjoint; it must have the adjoint's shape and
    structure, otherwise an ActivityError is raised. fn may also change its argument in place and
    return None; the argument is a copy that belongs to fn. Forward mode has no adjoints, so the
    hook has no effect there.
    """
    return x


def hook_here(x: Any, fn: Callable[[Any], Any]) -> None:
    """Mark a hook in a function that is being derived: `fn` receives the adjoint of x here."""


def _derived_code_runs() -> bool:
    """Return whether a function of derived text is running."""
    frame = sys._getframe(2)
    found: Any = frame
    while found is not None:
        name = found.f_code.co_filename
        if name.startswith("<s2sad ") and name != "<s2sad guard>":
            return True
        found = found.f_back
    return False
