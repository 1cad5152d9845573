"""How much work a derivation may be: counted in statements, so that it is the same everywhere.

Whatever takes more runs through code that nobody means to differentiate, or would go on for ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from s2sad.errors import Error, UnsupportedError
from s2sad.known.libraries import is_installed
from s2sad.nodes import Node

STEPS = 20_000
OF_LIBRARIES = 2_000
_REMEDY = (
    "Call the slow function outside of the differentiated one, and pass its result in; or "
    "write a rule for it with @s2sad.pullback."
)


class TooLongError(UnsupportedError):
    """A derivation takes more steps than it may."""


class Work:
    """Counts the steps of a derivation: a statement is one as often as its kinds are inferred."""

    def __init__(self) -> None:
        self.steps = 0
        self.limit = STEPS

    def step(self, source: Any, statement: Node) -> None:
        """Count one more, of a function with this source."""
        self.steps += 1
        if self.steps > self.limit:
            raise TooLongError(
                f"s2sad gave up on deriving {source.name}: it takes more than {self.limit:,} "
                "steps.",
                remedy=_REMEDY,
                place=source.place(statement),
            )

    @contextmanager
    def allowed(
        self, source: Any, key: Any, outermost: bool, endless: dict[Any, Error]
    ) -> Iterator[None]:
        """Allow a call into a library fewer steps; if it takes more, it is `endless` from then on.

        Nothing is known of what such a call gives, and the derivation goes on without these steps.
        """
        if outermost or self.limit < STEPS or not is_installed(source.file):
            yield
            return
        before, whole = self.steps, self.limit
        self.limit = before + OF_LIBRARIES
        try:
            yield
        except TooLongError:
            self.steps = before
            endless[key] = error = TooLongError(
                f"s2sad gave up on deriving {source.name}, a library's function: it takes "
                f"more than {OF_LIBRARIES:,} steps.",
                remedy=_REMEDY,
                place=source.place(source.node),
            )
            raise error from None
        finally:
            self.limit = whole
