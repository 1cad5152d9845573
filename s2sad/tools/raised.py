"""Exceptions from the user's code where s2sad runs it on the side: caught and reported.

with Caught() as caught:
    module = importlib.import_module("model")
if caught.error is not None:
    print(caught)               # ZeroDivisionError: division by zero (model.py, line 3)
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType


@dataclass
class Caught:
    """A block of the user's code, and the exception that ended it, SystemExit included."""

    error: BaseException | None = None

    def __enter__(self) -> Caught:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        # Classes of exceptions are the user's own, so none can be named here.
        if isinstance(error, Exception | SystemExit):
            self.error = error
        return self.error is not None

    def __str__(self) -> str:
        if self.error is None:
            return "nothing"
        name, words = type(self.error).__name__, str(self.error)
        text = f"{name}: {words}" if words else name
        frames = traceback.extract_tb(self.error.__traceback__)
        files = [f for f in frames if not f.filename.startswith("<")]
        if isinstance(self.error, SyntaxError) or len(files) < 2:
            return text
        return f"{text} ({Path(files[-1].filename).name}, line {files[-1].lineno})"
