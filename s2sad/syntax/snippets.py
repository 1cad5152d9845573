"""Functions that are written down as text while the program runs, so that they can be read again.

defined("def twice(x):\\n    return 2 * f(x)\\n", {"f": f}, "check")
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

_numbers = itertools.count(1)


def register(text: str, filename: str) -> None:
    """Show `text` under `filename` to linecache, and so to tracebacks, pdb and inspect.

    Without a modification time the entry counts as a loader's and survives `checkcache`.
    """
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)


def defined(text: str, space: dict[str, Any], what: str) -> Callable[..., Any]:
    """Return the one function that a text defines; `space` are its globals.

    It stands in a file of its own, whose name says `what` it is for.
    """
    filename = f"<s2sad {what} {next(_numbers)}>"
    register(text, filename)
    exec(compile(text, filename, "exec"), space)
    name = text.partition("(")[0].removeprefix("def ")
    return space[name]  # type: ignore[no-any-return]
