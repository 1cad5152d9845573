"""Derived functions that are read again, and what derives them within a derivation."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from s2sad import kinds as K
from s2sad.derivative import derivative_of
from s2sad.errors import shown_file
from s2sad.kinds import Kind
from s2sad.nodes import Node
from s2sad.stages import SourceLike
from s2sad.steps.derived_pairs import Pair


def stands_for_derivative(fn: Any) -> bool:
    """Say whether a function, or the kind of an inner one, is what an operator has made."""
    if isinstance(fn, K.LocalFunction):
        return bool(fn.applied)
    return derivative_of(fn) is not None


@dataclass(frozen=True)
class Part:
    """A function of derived text that is read again, and where what it leaves open is found.

    `title` is what the reader knows it by.
    """

    node: Node
    namespace: dict[str, object]
    cells: Mapping[str, object]
    origin: types.FunctionType
    inner: bool
    title: str = ""


def title_of(d: Any, source: SourceLike) -> str:
    """Return what a reader knows a function by: `loss (model.py)`, without a line that may move."""
    if source.fn in d.read_as:
        return str(d.parts[d.read_as[source.fn]].title)
    label = "the lambda" if source.name == "lambda_" else source.name
    return f"{label} ({shown_file(source.file)})"


def sentence(title: str) -> str:
    """Return what a reader knows a function by, as a sentence begins: names stay as they are."""
    return title[0].upper() + title[1:] if title.startswith(("the ", "value ")) else title


class Again(Protocol):
    """Derives what stands for a derivative, so that it can be read, and calls of it."""

    def read(
        self, d: Any, fn: Any, params: Mapping[str, Kind], extra: tuple[str, ...]
    ) -> types.FunctionType:
        """Return the derivative for these kinds of its parameters, as a function to be read."""

    def through(
        self, d: Any, fn: Any, params: Mapping[str, Kind], extra: tuple[str, ...]
    ) -> types.FunctionType:
        """Return a function that only calls the derivative."""

    def pair(self, d: Any, a: Any, pair: Pair, supplied: frozenset[str]) -> bool:
        """Write the pair of a derivative, if it is known better than by reading it."""

    def cotangents(self, d: Any, fn: types.FunctionType) -> list[Kind]:
        """Return the kinds of what a pullback gives that is returned; none where none is."""

    def gradient(self, d: Any, fn: Any) -> Kind | None:
        """Return the kind of a gradient whose reverse goes by symmetry; None of others."""
