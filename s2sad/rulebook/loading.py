"""When rules are loaded: at the first question, and with the library that they belong to."""

from __future__ import annotations

import importlib
import sys
import threading

_lock = threading.RLock()  # never taken by what registers rules: other imports do that, too
_loaded = False
_loading = False
_waiting: dict[str, list[str]] = {}
_underway: set[str] = set()


def load_rules() -> None:
    """Import s2sad's own rules, and packages that announce theirs in the group `s2sad.rules`.

    Its own are there also in a copy of s2sad that was never installed, and has no entry points.
    What others wait for is loaded as soon as they are imported: see `when_imported`.
    """
    if not _loaded:
        with _lock:
            if _loading:
                return
            if not _loaded:
                _load_packages()
    if _waiting and not _waiting.keys().isdisjoint(sys.modules.keys()):
        _load_waiting()


def _load_packages() -> None:
    from importlib.metadata import entry_points  # takes long, and only deriving needs it

    global _loaded, _loading
    _loading = True
    try:
        importlib.import_module("s2sad.rules")
        for entry in entry_points(group="s2sad.rules"):
            entry.load()
        _loaded = True
    finally:
        _loading = False


def _load_waiting() -> None:
    """Load what waits; another thread that asks meanwhile waits until all of it is there."""
    with _lock:
        for module in [m for m in _waiting if m in sys.modules and m not in _underway]:
            _underway.add(module)
            for rules in _waiting[module]:
                importlib.import_module(rules)
            del _waiting[module]


def when_imported(module: str, rules: str) -> None:
    """Say which module of rules belongs to a library that need not be there.

    It is imported once the library has been, so that s2sad does not import it for nothing.
    """
    _waiting.setdefault(module, []).append(rules)
