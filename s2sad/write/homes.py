"""Where an object can be imported from: its module, or the package that shows it."""

from __future__ import annotations

import sys
from typing import Any

import gast
import numpy as np

from s2sad.kinds import MISSING
from s2sad.nodes import Node

_HOMES_OF_UFUNCS = ("numpy", "scipy.special")


def homes_of(value: Any) -> list[tuple[Any, Any]]:
    """Return the modules and names under which an object may be found, the public ones first."""
    home, attribute = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    found = [(_public(home), attribute), (home, attribute)]
    if isinstance(value, np.ufunc):  # it does not know its module
        found += [(library, value.__name__) for library in _HOMES_OF_UFUNCS]
    return found


def import_of(value: Any, final: str, places: list[tuple[Any, Any]]) -> Node | None:
    """Return the import that binds an object to a name, from the first place that has it."""
    for home, attribute in places:
        if not isinstance(home, str) or not isinstance(attribute, str) or home == "__main__":
            continue
        owner = sys.modules.get(home)
        found = getattr(owner, attribute, MISSING) if owner is not None else MISSING
        if getattr(found, "__s2sad_primal__", found) is value and not home.startswith("s2sad."):
            alias = gast.alias(attribute, None if attribute == final else final)
            return gast.ImportFrom(home, [alias], 0)
    return None


def _public(home: Any) -> Any:
    """Return the package of a private module, which may have the same names."""
    return home.partition("._")[0] if isinstance(home, str) else home
