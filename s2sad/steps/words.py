"""The names under which passes write calls into a function: its surroundings know them, too."""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad.known.lifted import space_in
from s2sad.known.spaces import module_of
from s2sad.names import Names
from s2sad.stages import KindFacts
from s2sad.steps.reaching import Reaching
from s2sad.steps.refs import Refs


@dataclass
class Words:
    """Gives names to what is written into one function, and notes in `known` what they denote.

    `facts` are its kinds as they are known last: they say which NumPy is meant.
    """

    refs: Refs
    names: Names
    reaching: Reaching
    known: dict[str, Any] = field(default_factory=dict)
    facts: KindFacts = field(default_factory=KindFacts)

    def helper(self, fn: Any) -> str:
        """Name a function, of s2sad's or a library's."""
        return self._denote(self.refs.function(fn), fn)

    def module(self, module: Any) -> str:
        """Name a module."""
        return self._denote(self.refs.module(module), module)

    def numpy(self) -> str:
        """Name the module whose arrays the function computes with."""
        return self.module(module_of(space_in(self.facts)))

    def denoted(self, value: Any) -> str:
        """Name what the text of a library's function reads outside."""
        if value is np:
            return self.numpy()
        return self.module(value) if isinstance(value, types.ModuleType) else self.helper(value)

    def derivative(self, fn: Any) -> str:
        """Name a derivative that was derived to be read: it has its own name."""
        return self._denote(fn.__name__, fn)

    def reached(self, fn: types.FunctionType) -> str:
        """Name a function of the user's that the text reaches under no name of its own."""
        return self._denote(self.reaching.word(fn, self.names), fn)

    def add(self, more: dict[str, Any]) -> None:
        """Note what other names denote, where they are not taken."""
        for word, value in more.items():
            self.known.setdefault(word, value)

    def _denote(self, word: str, value: Any) -> str:
        self.known[word] = value
        return word
