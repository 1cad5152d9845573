"""What derived text refers to besides the user's names: modules, helpers, other derivatives.

Names are those that the user's module already has for the same object, or new ones.
"""

from __future__ import annotations

import math
import sys
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad.known import spaces
from s2sad.names import Names, identifier

_USUAL = {"numpy": "np", "math": "math", "cupy": "cp"}


@dataclass
class Refs:
    """The modules imported and the helper functions copied by one derived module of text."""

    names: Names
    modules: dict[str, types.ModuleType] = field(default_factory=dict)
    functions: dict[str, Any] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)

    def space(self, space: str) -> str:
        """Return the name under which the text imports the module of an array namespace."""
        return self.module(spaces.module_of(space))

    def module(self, module: types.ModuleType) -> str:
        """Return the name under which the text imports a module."""
        for name, known in self.modules.items():
            if known is module:
                return name
        usual = _USUAL.get(module.__name__, module.__name__.split(".")[-1])
        name = self.names.fresh(usual)
        self.modules[name] = module
        return name

    def prefer(self, fn: types.FunctionType) -> None:
        """Take over the names that a user's module has for numpy and math."""
        hidden = {*fn.__code__.co_varnames, *fn.__code__.co_cellvars, *fn.__code__.co_freevars}
        device = sys.modules.get(spaces.CUPY)
        for module in (np, math, *([] if device is None else [device])):
            if any(known is module for known in self.modules.values()):
                continue
            for name, value in list(fn.__globals__.items()):
                if value is module and name.isidentifier() and name not in hidden:
                    self.modules[name] = module
                    self.names.take(name)
                    break

    def function(self, fn: Any, space: str = spaces.NUMPY) -> str:
        """Return the name under which the text defines a copied helper function.

        It works on arrays of a namespace: what it calls is found there.
        """
        for name, known in self.functions.items():
            if known is fn and self.homes.get(name, spaces.NUMPY) == space:
                return name
        base = str(getattr(fn, "__name__", ""))
        name = self.names.fresh(identifier(base, "rule"))
        self.functions[name] = fn
        if space != spaces.NUMPY:
            self.homes[name] = space
        return name
