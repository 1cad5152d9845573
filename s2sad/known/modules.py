"""What modules and classes hold, asked for without a word."""

import warnings
from typing import Any


def held(home: Any, name: str) -> Any:
    """Return what a module or class holds under a name, without the warning of deprecated names."""
    if name in vars(home):
        return getattr(home, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(home, name, None)
