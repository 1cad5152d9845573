"""Second order: what is derived of one call is derived once more, and held against differences.

row(a, w)            w . fn(a), with everything that is no array written into the text
row_grad(a, w)       its gradient, which is differentiated along a direction
"""

from __future__ import annotations

import builtins
import itertools
import math
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad import api, registry
from s2sad.capture.read import remember
from s2sad.testing import _flat_cotangent, _random, differences
from s2sad.write.load import load

_numbers = itertools.count(1)


@dataclass
class Row:
    """A call as a program of its arrays and floats; all else stands in its text."""

    fn: Callable[..., Any]
    params: list[Any] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    weights: list[Any] = field(default_factory=list)
    call: str = ""

    def plain(self) -> types.FunctionType:
        """Return the call itself, of its arrays."""
        text = f"def row({', '.join(self._listed())}):\n    return {self.call}\n"
        return _function(text, self.names | {"FN": self.fn})

    def weighted(self, total: str) -> types.FunctionType:
        """Return the sum of the results' parts, each times a weight that is a parameter, too."""
        listed = [*self._listed(), *(f"w{i}" for i in range(len(self.weights)))]
        text = f"def row({', '.join(listed)}):\n    out = {self.call}\n    return {total}\n"
        return _function(text, self.names | {"FN": self.fn, "np": np})

    def _listed(self) -> list[str]:
        return [f"a{i}" for i in range(len(self.params))]


def row_of(fn: Callable[..., Any], args: Sequence[Any], settings: dict[str, Any]) -> Row:
    """Return the program of a call."""
    row = Row(fn)
    given = [_written_argument(row, a) for a in args]
    named = [f"{k}={_written_argument(row, v, True)}" for k, v in settings.items()]
    method = method_of(fn)
    if method is None:
        row.call = f"FN({', '.join([*given, *named])})"
        return row
    owner, *given = given
    row.call = f"{owner}.{method}"
    if not isinstance(fn, property) and method not in _PROPERTIES:
        row.call += f"({', '.join([*given, *named])})"
    return row


_PROPERTIES = ("T", "real", "imag", "mT")


def method_of(fn: Any) -> str | None:
    """Return the name of the array method that a rule is for, where it is for one."""
    if isinstance(fn, types.MethodDescriptorType) and fn.__objclass__ is np.ndarray:
        return fn.__name__
    if fn in (np.real, np.imag):
        return None
    registry.load_rules()
    if str(getattr(fn, "__module__", "")).startswith("s2sad.rules"):
        return next((n for n, m in registry._methods.items() if m is fn), None)
    return None


def _written_argument(row: Row, value: Any, setting: bool = False) -> str:
    """Return how an argument stands in the text."""
    carries = carries_derivative(value) and not setting
    if carries or (isinstance(value, np.ndarray) and not setting):
        if carries:
            row.active.append(len(row.params))
        row.params.append(value)
        return f"a{len(row.params) - 1}"
    if isinstance(value, slice):
        return f"slice({value.start!r}, {value.stop!r}, {value.step!r})"
    if _is_literal(value):
        return repr(value)
    word = f"S{len(row.names)}"
    row.names[word] = value
    return word


def carries_derivative(value: Any) -> bool:
    """Say whether an argument holds a float, a complex number or an array of such."""
    if isinstance(value, list | tuple):
        return any(map(carries_derivative, value))
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex)


def _is_literal(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return type(value) in (list, tuple) and all(map(_is_literal, value))
    if isinstance(value, float | complex):
        return math.isfinite(abs(value))
    return isinstance(value, bool | int | str | types.NoneType | types.EllipsisType)


def _function(text: str, space: dict[str, Any]) -> types.FunctionType:
    filename = f"<second order {next(_numbers)}>"
    space = {"__builtins__": builtins, **space}
    made = load(text, "row", filename=filename, namespaces={"row": space}, cells={})
    remember(made.values(), text)
    return made["row"]


def check_second(fn: Callable[..., Any], *args: Any, **settings: Any) -> None:
    """Hold the second derivatives of a call against differences of its first ones.

    The gradient of `w . fn(...)` is differentiated backward and forward, along random directions.
    A component that differences do not determine is not looked at. AssertionError says what is
    wrong; what cannot be differentiated twice raises an error of s2sad's.
    """
    row = row_of(fn, args, settings)
    rng = np.random.default_rng(1982)
    total = " + ".join(_terms(row, row.plain()(*row.params), "out", rng))
    values = [*row.params, *row.weights]
    wrt = row.active[0] if len(row.active) == 1 else tuple(row.active)
    gradient = api.grad(row.weighted(total), wrt)
    moving = [_random(v, rng) if i in row.active else None for i, v in enumerate(values)]
    first = gradient(*values)

    def flat(*given: Any) -> Any:
        return _flat_cotangent(first, gradient(*given), "the gradient")

    expected, error = differences(flat, values, moving)
    seeds = tuple(moving[i] for i in row.active)
    pull = api.vjp(gradient, *values, wrt=wrt)[1]
    backward = pull(seeds[0] if len(seeds) == 1 else seeds)
    forward = api.jvp(gradient, values, moving)[1]
    size = 1.0 + np.abs(expected)
    sure = 1e2 * error < 1e-2 * size
    for mode, found in (("backward", backward), ("forward", forward)):
        found = _flat_cotangent(first, found, f"the gradient differentiated {mode}")
        wrong = sure & ~(np.abs(found - expected) <= 1e2 * error + 1e-8 * size)
        if np.any(wrong):
            raise AssertionError(
                f"{row.call}: the gradient differentiated {mode} gives {found[wrong][0]:.12g}, "
                f"differences give {expected[wrong][0]:.12g}"
            )


def _terms(row: Row, out: Any, path: str, rng: np.random.Generator) -> list[str]:
    """Return the products of the parts of a result with weights, which the row takes."""
    if isinstance(out, tuple | list):
        return [t for i, part in enumerate(out) for t in _terms(row, part, f"{path}[{i}]", rng)]
    weight = _random(out, rng)
    if weight is None:
        return []
    row.weights.append(weight)
    term = f"w{len(row.weights) - 1} * {path}"
    term = f"np.sum({term})" if isinstance(out, np.ndarray) else term
    return [f"np.real({term})" if np.iscomplexobj(out) else term]
