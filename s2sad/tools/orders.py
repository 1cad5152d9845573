"""Second order: the derivative of one call is differentiated and compared with differences.

row(a, w)            w . fn(a), with all arguments that are not arrays written into the text
row_grad(a, w)       its gradient, which is differentiated along a direction
"""

from __future__ import annotations

import builtins
import itertools
import math
import operator
import types
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad import api, registry
from s2sad.capture.read import remember
from s2sad.errors import Error
from s2sad.registry import Rule, positional_names
from s2sad.tools.oracle import differences, flat_cotangent, leaves_of, paired, random_like, shifted
from s2sad.write.load import load

__all__ = ["FirstOrderOnly", "check_second"]

_numbers = itertools.count(1)


class FirstOrderOnly(UserWarning):
    """`check_rule` did not check second derivatives, because the rule declares that it has none."""


@dataclass
class Row:
    """A call as a program of its arrays and floats; the other arguments are in its text."""

    fn: Callable[..., Any]
    params: list[Any] = field(default_factory=list)
    active: list[int] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    weights: list[Any] = field(default_factory=list)
    call: str = ""

    def plain(self) -> types.FunctionType:
        """Return the call itself, as a function of its arrays."""
        text = f"def row({', '.join(self._listed())}):\n    return {self.call}\n"
        return _function(text, self.names | {"FN": self.fn, "np": np})

    def weighted(self, total: str) -> types.FunctionType:
        """Return the sum of the results' parts, each times a weight that is a parameter, too."""
        listed = [*self._listed(), *(f"w{i}" for i in range(len(self.weights)))]
        text = f"def row({', '.join(listed)}):\n    out = {self.call}\n    return {total}\n"
        return _function(text, self.names | {"FN": self.fn, "np": np})

    def _listed(self) -> list[str]:
        return [f"a{i}" for i in range(len(self.params))]


def array_names(rule: Rule, count: int) -> tuple[str, ...]:
    """Return the names of a call's arrays, as its rule calls them; `count` come by position."""
    found: tuple[str, ...] = ()
    if rule.pullback is not None:
        found = positional_names(rule.pullback, 2)
    elif rule.partials is not None:
        found = positional_names(rule.partials, 1)
    elif rule.pushforward is not None:
        found = positional_names(rule.pushforward, 1)
        found = found[: len(found) // 2]
    return found + tuple(f"argument {i + 1}" for i in range(len(found), count))


def row_of(fn: Callable[..., Any], args: Sequence[Any], settings: dict[str, Any]) -> Row:
    """Return the program of a call."""
    row = Row(fn)
    rule = registry.rule_for(fn)
    names = array_names(Rule(fn) if rule is None else rule, len(args))
    still = () if rule is None else (*rule.unknown, *rule.constant)
    given = [
        _written(row, a, _moves(n, still)) for n, a in zip(names[: len(args)], args, strict=True)
    ]
    named = [
        f"{k}={_written(row, v, k in names and _moves(k, still))}" for k, v in settings.items()
    ]
    method = method_of(fn)
    if method is None:
        row.call = f"FN({', '.join([*given, *named])})"
        if fn is operator.getitem and not _is_nothing(args[1]):
            row.call = f"{given[0]}[{_written_index(row, args[1])}]"
        return row
    owner, *given = given
    row.call = f"{owner}.{method}"
    if not isinstance(fn, property) and method not in _PROPERTIES:
        row.call += f"({', '.join([*given, *named])})"
    return row


_PROPERTIES = ("T", "real", "imag", "mT")


def _moves(name: str, still: tuple[str, ...]) -> bool:
    return name not in still


def method_of(fn: Any) -> str | None:
    """Return the name of the array method that a rule is for, if it is for one."""
    if isinstance(fn, types.MethodDescriptorType) and fn.__objclass__ is np.ndarray:
        return fn.__name__
    if fn in (np.real, np.imag):
        return None
    registry.load_rules()
    if str(getattr(fn, "__module__", "")).startswith("s2sad.rules"):
        return next((n for n, m in registry._methods.items() if m is fn), None)
    return None


def _written(row: Row, value: Any, moves: bool) -> str:
    """Return the text of an argument; in a sequence, the differentiated parts are parameters."""
    if moves and type(value) in (list, tuple) and leaves_of(value):
        parts = ", ".join(_written(row, part, moves) for part in value)
        if isinstance(value, list):
            return f"[{parts}]"
        return f"({parts},)" if len(value) == 1 else f"({parts})"
    if moves and leaves_of(value):
        row.active.append(len(row.params))
    if moves and (leaves_of(value) or isinstance(value, np.ndarray)):
        row.params.append(value)
        return f"a{len(row.params) - 1}"
    if isinstance(value, slice):
        return f"slice({value.start!r}, {value.stop!r}, {value.step!r})"
    if type(value) is float and not math.isfinite(value):
        return f"-np.{-value}" if value < 0.0 else f"np.{value}"
    if _is_literal(value):
        return repr(value)
    word = f"S{len(row.names)}"
    row.names[word] = value
    return word


def _is_nothing(index: Any) -> bool:
    """Return whether an index is `()`."""
    return isinstance(index, tuple) and not index


def _written_index(row: Row, index: Any) -> str:
    """Return the text of an index; slices, and tuples of slices, have no literal form."""
    if isinstance(index, slice):
        bounds = index.start, index.stop, index.step
        return ":".join("" if n is None else repr(n) for n in bounds)
    if isinstance(index, tuple):
        return "".join(f"{_written_index(row, part)}, " for part in index)
    return _written(row, index, False)


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
    """Derive a call; check its value, and its second derivatives against first derivatives.

    The gradient of `w . fn(...)` is differentiated backward and forward, along random directions.
    Components that differences do not determine, as at a kink, are skipped. An AssertionError says
    what is wrong. A refusal is wrong, too, except for rules that are declared `once` and for rules
    of only one mode; for these a warning is issued.
    """
    rule = registry.rule_for(fn)
    if rule is not None and (rule.pullback is None) is not (rule.pushforward is None):
        if rule.partials is None and not rule.zero:
            lacks = "pullback" if rule.pullback is None else "pushforward"
            _tell(rule, f"it has no {lacks}")
            return
    row = row_of(fn, args, settings)
    with np.errstate(all="ignore"):
        out = row.plain()(*row.params)
    if not row.active or not leaves_of(out):
        return
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _check_value(row, out)
            _check_products(row, out)
    except Error as error:
        if rule is None or not rule.once:
            raise AssertionError(
                f"{row.call} cannot be differentiated twice: {error}\nWhere that is as it should "
                "be, the rule says so, and why: once='...'."
            ) from error
        _tell(rule, rule.once)


def _tell(rule: Rule, why: str) -> None:
    told = f"{rule.name} cannot be differentiated twice here: {why}."
    warnings.warn(told, FirstOrderOnly, stacklevel=4)


def _check_value(row: Row, out: Any) -> None:
    """Check that derived code computes the same value as the plain call, to the last bit."""
    value = api.vjp(row.plain(), *row.params, wrt=tuple(row.active))[0]
    for one, other in paired(out, value, row.call):
        if not np.array_equal(one, other, equal_nan=True):
            raise AssertionError(f"{row.call}: derived code gives another value: {other!r}")


def _check_products(row: Row, out: Any) -> None:
    """Compare a differentiated gradient, backward and forward, with its differences."""
    rng = np.random.default_rng(1982)
    total = " + ".join(_terms(row, out, "out", rng))
    values = [*row.params, *row.weights]
    wrt = row.active[0] if len(row.active) == 1 else tuple(row.active)
    gradient = api.grad(row.weighted(total), wrt)
    moving = [random_like(v, rng) if i in row.active else None for i, v in enumerate(values)]
    first = gradient(*values)

    def flat(*given: Any) -> Any:
        return flat_cotangent(first, gradient(*given), "the gradient")

    expected, error = differences(flat, values, moving)
    seeds = tuple(moving[i] for i in row.active)
    pull = api.vjp(gradient, *values, wrt=wrt)[1]
    backward = pull(seeds[0] if len(seeds) == 1 else seeds)
    forward = api.jvp(gradient, values, moving)[1]
    size = 1.0 + np.abs(expected)
    sure = (1e2 * error < 1e-2 * size) & ~_kinks(flat, values, moving, size)
    for mode, product in (("backward", backward), ("forward", forward)):
        found = flat_cotangent(first, product, f"the gradient differentiated {mode}")
        wrong = sure & ~(np.abs(found - expected) <= 1e2 * error + 1e-8 * size)
        if np.any(wrong):
            raise AssertionError(
                f"{row.call}: the gradient differentiated {mode} gives {found[wrong][0]:.12g}, "
                f"differences give {expected[wrong][0]:.12g}"
            )


def _kinks(f: Callable[..., Any], values: list[Any], moving: list[Any], size: Any) -> Any:
    """Return where the slopes on both sides differ: there is no derivative to compare with."""
    step = 2.0**-20
    try:
        up, down = (f(*map(shifted, values, moving, [h] * len(values))) for h in (step, -step))
    except (ArithmeticError, ValueError):
        return np.zeros(np.shape(size), bool)
    return np.abs(up + down - 2.0 * f(*values)) > 1e-3 * step * size


def _terms(row: Row, out: Any, path: str, rng: np.random.Generator) -> list[str]:
    """Return the products of the parts of a result with the weights that the row takes."""
    if isinstance(out, tuple | list):
        return [t for i, part in enumerate(out) for t in _terms(row, part, f"{path}[{i}]", rng)]
    weight = random_like(out, rng)
    if weight is None:
        return []
    row.weights.append(weight)
    term = f"w{len(row.weights) - 1} * {path}"
    term = f"np.sum({term})" if isinstance(out, np.ndarray) else term
    return [f"np.real({term})" if np.iscomplexobj(out) or _may_be_complex(row.fn) else term]


def _may_be_complex(fn: Any) -> bool:
    """Return whether a function's result may be real or complex: eigenvalues, roots."""
    rule = registry.rule_for(fn)
    return fn is np.poly or (rule is not None and rule.turns_complex)
