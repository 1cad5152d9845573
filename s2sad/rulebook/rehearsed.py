"""A rule of somebody's own is tried on samples before it is used: are its results of any use?

    def pull_total(out_bar, out, x):      total(x) is a number, x an array:
        return 2.0 * out_bar              the cotangent of x has no axes, and x has

What is found here would else be a gradient of the wrong shape, or one that broadcasting makes of
it. Numbers are not looked at: `check_rule` does that.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad import registry
from s2sad.kinds import Kind
from s2sad.known import spaces
from s2sad.known.lifted import space_among
from s2sad.known.samples import Sampler
from s2sad.nodes import walk
from s2sad.rulebook.quiet import definition, is_heard, is_quiet

WRITES = "changes its argument"
_NUMBERS = (int, float, complex, np.generic, np.ndarray)
_FAILURES = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
READ_ONLY = ("assignment destination is read-only", "output array is read-only")


@dataclass(frozen=True)
class Trial:
    """A call of a function that has a rule: the kinds of arguments, and where the rule has them.

    `arrays`, `rest` and `settings` say which of the kinds are the rule's arrays, what it gathers,
    and its settings; `count` of the kinds are given by position, those of `names` by keyword. Of
    the `active` ones a derivative is wanted.
    """

    fn: Any
    rule: Any
    word: str
    kinds: tuple[Kind, ...]
    count: int
    names: tuple[str, ...]
    arrays: tuple[tuple[str, int], ...]
    rest: tuple[int, ...]
    settings: tuple[tuple[str, int], ...]
    active: frozenset[str]

    def wants(self, name: str) -> bool:
        """Say whether a derivative by an array is wanted: by one of those gathered it may be."""
        return name in self.active or name.startswith("argument ")


@functools.lru_cache(1024)
def wrong_with(trial: Trial) -> str | None:
    """Return what is wrong with what a rule returns for samples, None where nothing is known."""
    if registry.is_ours(trial.rule):
        return None
    tree = definition(trial.rule)
    if tree is not None and not any(_gives(n) for n in walk(tree)):
        return "it returns nothing"
    rule = registry.rule_for(trial.fn)
    if rule is None or rule.calls or space_among(trial.kinds) != spaces.NUMPY:
        return None
    if is_heard(trial.fn):
        return None
    for uniform in (0, 3):
        sampler = Sampler(trial.kinds, 0, uniform)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                values = [sampler.sample(kind, 0.7) for kind in trial.kinds]
                if rule.samples is not None:
                    values[: trial.count] = rule.samples(*values[: trial.count])
                kept = _mapped(_read_only, values)
                named = dict(zip(trial.names, values[trial.count :], strict=False))
                out = trial.fn(*values[: trial.count], **named)
            except _FAILURES:
                continue
            changed = [i for i, v in enumerate(kept) if not _same(v, values[i])]
            if changed:
                return f"{WRITES} {changed[0] + 1}, and its rule tells only of what it returns"
            if not is_quiet(trial.rule):
                return None
            try:
                return _LOOK[trial.word](trial, _guarded(values), _guarded(out))
            except _FAILURES as error:
                if any(text in str(error) for text in READ_ONLY):
                    return (
                        "it writes into an array that it is given. A rule returns new arrays: "
                        "copy first"
                    )
                return None
    return None


def _pullback(trial: Trial, values: list[Any], out: Any) -> str | None:
    names, arrays, found = _arrays(trial, values, 2)
    gathers = bool(trial.rest) or _gathers(trial.rule)
    bars = trial.rule(_guarded(_ones(out)), out, *arrays, **found)
    if len(arrays) == 1 and not gathers:
        bars = (bars,)
    elif not isinstance(bars, tuple | list) or len(bars) != len(arrays):
        return _count(bars, len(arrays), "cotangent")
    is_real = not _is_complex(out)
    pairs = [t for t in zip(names, arrays, bars, strict=False) if trial.wants(t[0])]
    return next((r for n, x, b in pairs if (r := _unlike(x, b, n, is_real)) is not None), None)


def _partials(trial: Trial, values: list[Any], out: Any) -> str | None:
    names, arrays, found = _arrays(trial, values, 1)
    shapes = [np.shape(x) for x in arrays if isinstance(x, _NUMBERS)]
    if np.shape(out) != np.broadcast_shapes(*shapes):
        return (
            f"{trial.rule.__name__} is elementwise, and the function is not: of arguments of the "
            f"shapes {', '.join(map(str, shapes))} it makes {np.shape(out)}. Write a pullback"
        )
    partials = trial.rule(out, *arrays, **found)
    if len(arrays) == 1 and not _gathers(trial.rule):
        partials = (partials,)
    elif not isinstance(partials, tuple | list) or len(partials) != len(arrays):
        return _count(partials, len(arrays), "partial derivative")
    for n, partial in zip(names, partials, strict=False):
        if partial is None or not trial.wants(n):
            continue
        if not isinstance(partial, _NUMBERS):
            return f"its partial derivative by `{n}` is a {type(partial).__name__}"
        if np.broadcast_shapes(np.shape(partial), np.shape(out)) != np.shape(out):
            return (
                f"for samples its partial derivative by `{n}` has the shape {np.shape(partial)}, "
                f"and the result {np.shape(out)}"
            )
    return None


def _pushforward(trial: Trial, values: list[Any], out: Any) -> str | None:
    _, arrays, found = _arrays(trial, values, 1)
    tangents = [_ones(x) for x in arrays]
    return _unlike(out, trial.rule(out, *arrays, *tangents, **found), "", True)


_LOOK = {"pullback": _pullback, "elementwise": _partials, "pushforward": _pushforward}


def _arrays(
    trial: Trial, values: list[Any], skip: int
) -> tuple[list[str], list[Any], dict[str, Any]]:
    """Return the names and values of the arrays of a rule, and its settings."""
    given = {n: values[i] for n, i in trial.arrays}
    parameters = inspect.signature(trial.rule).parameters
    names = list(registry.positional_names(trial.rule, skip))
    if trial.word == "pushforward" and not _gathers(trial.rule):
        names = names[: len(names) // 2]
    rest = [f"argument {len(names) + i + 1}" for i in range(len(trial.rest))]
    arrays = [given.get(n, _default(parameters[n])) for n in names]
    return (
        [*names, *rest],
        [*arrays, *(values[i] for i in trial.rest)],
        {n: values[i] for n, i in trial.settings},
    )


def _default(parameter: inspect.Parameter) -> Any:
    return None if parameter.default is parameter.empty else parameter.default


def _gathers(rule: Any) -> bool:
    parameters = inspect.signature(rule).parameters.values()
    return any(p.kind is p.VAR_POSITIONAL for p in parameters)


def _count(found: Any, count: int, what: str) -> str:
    shown = f"a {type(found).__name__}"
    if isinstance(found, tuple | list):
        shown += f" of {len(found)}"
    return f"it returns {shown}, and not a tuple of {count}: one {what} for each array"


def _unlike(value: Any, bar: Any, name: str, is_real: bool) -> str | None:
    """Return in what a derivative is not like the value that it belongs to."""
    if bar is None:
        return None
    label = f"cotangent of `{name}`" if name else "tangent"
    whose = f"`{name}`" if name else "the result"
    if isinstance(value, tuple | list):
        if not isinstance(bar, tuple | list) or len(bar) != len(value):
            return f"its {label} is a {type(bar).__name__}, and {whose} has {len(value)} parts"
        parts = zip(value, bar, strict=True)
        return next((r for v, b in parts if (r := _unlike(v, b, name, is_real))), None)
    if not _is_float(value):
        return None
    if not isinstance(bar, _NUMBERS):
        shown = f"a tuple of {len(bar)}" if isinstance(bar, tuple) else f"a {type(bar).__name__}"
        return f"its {label} is {shown}, and {whose} is {_sort(value)}"
    if np.shape(bar) != np.shape(value):
        return (
            f"for samples its {label} has the shape {np.shape(bar)}, and {whose} {np.shape(value)}"
        )
    if is_real and np.iscomplexobj(bar) and not np.iscomplexobj(value):
        return f"its {label} is complex, and {whose} is real"
    return None


def _sort(value: Any) -> str:
    return "an array" if isinstance(value, np.ndarray) else "a number"


def _is_float(value: Any) -> bool:
    return isinstance(value, _NUMBERS) and np.asarray(value).dtype.kind in "fc"


def _is_complex(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(map(_is_complex, value))
    return isinstance(value, _NUMBERS) and np.iscomplexobj(value)


def _mapped(change: Any, value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_mapped(change, part) for part in value])
    if isinstance(value, tuple | list):
        return type(value)([_mapped(change, part) for part in value])
    if isinstance(value, dict):
        return {k: _mapped(change, part) for k, part in value.items()}
    return change(value)


def _ones(value: Any) -> Any:
    """Return a derivative of a value's structure: None where there is none."""
    return _mapped(_one, value)


def _one(value: Any) -> Any:
    if not _is_float(value):
        return None
    return np.ones_like(value) if isinstance(value, np.ndarray) else type(value)(1.0)


def _same(kept: Any, value: Any) -> bool:
    """Say whether a value is what it was."""
    if isinstance(kept, tuple | list):
        return len(kept) == len(value) and all(map(_same, kept, value))
    if isinstance(kept, dict):
        return kept.keys() == value.keys() and all(_same(v, value[k]) for k, v in kept.items())
    if not isinstance(kept, np.ndarray):
        return True
    return bool(kept.shape == value.shape and kept.tobytes() == value.tobytes())


def _guarded(value: Any) -> Any:
    """Return a copy whose arrays cannot be written."""
    return _mapped(_read_only, value)


def _read_only(value: Any) -> Any:
    if type(value) is not np.ndarray:
        return value
    value = value.copy()
    value.flags.writeable = False
    return value


@functools.lru_cache(1024)
def asks_for_none(push: Any) -> bool:
    """Say whether a pushforward asks somewhere whether something is None."""
    tree = definition(push)
    return tree is not None and any(
        isinstance(n, gast.Constant) and n.value is None for n in walk(tree)
    )


@functools.lru_cache(1024)
def sure_to_fit(rule: Any, count: int) -> bool:
    """Say whether what a rule returns for `count` arrays was seen to fit, by text and by trial."""
    tree = definition(rule)
    return tree is not None and is_quiet(rule) and None not in _listed(tree, count)


@functools.lru_cache(1024)
def may_be_none(rule: Any, count: int) -> tuple[bool, ...]:
    """Say for which of `count` arrays a rule may return None."""
    tree = definition(rule)
    found = [None] if tree is None else _listed(tree, count)
    return tuple(
        any(parts is None or not isinstance(parts[i], _NEVER_NONE) for parts in found)
        for i in range(count)
    )


_NEVER_NONE = (gast.BinOp, gast.UnaryOp, gast.Tuple, gast.List, gast.Dict)


def _listed(tree: Any, count: int) -> list[list[Any] | None]:
    """Return what each return statement of a rule returns for each array; None if not known."""
    found: list[list[Any] | None] = []
    for n in walk(tree):
        if isinstance(n, gast.FunctionDef | gast.Lambda) and n is not tree:
            return [None]
        if not isinstance(n, gast.Return):
            continue
        parts = [n.value]
        if count > 1:
            parts = n.value.elts if isinstance(n.value, gast.Tuple) else []
        fits = len(parts) == count and not any(isinstance(p, gast.Starred) for p in parts)
        found.append(list(parts) if fits else None)
    return found


def _gives(node: Any) -> bool:
    return isinstance(node, gast.Return) and node.value is not None
