"""Whose a function is: the standard library's, that of a package that was installed, the user's."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig

_STDLIB, _INSTALLED = (
    os.path.realpath(sysconfig.get_path(p)) + os.sep for p in ("stdlib", "purelib")
)


@functools.lru_cache(1000)
def of_standard_library(module: str) -> bool:
    """Say whether a module is the standard library's, and no file of the user's of that name."""
    if module.partition(".")[0] not in sys.stdlib_module_names - {"__main__"}:
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is None or (
        is_installed(file) and not os.path.realpath(file).startswith(_INSTALLED)
    )


@functools.lru_cache(1000)
def is_installed(file: str) -> bool:
    """Say whether a file is the standard library's, or that of a package that was installed."""
    return os.path.realpath(file).startswith((_STDLIB, _INSTALLED))
