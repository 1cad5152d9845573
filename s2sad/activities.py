"""Activities: they say what s2sad does with an argument's derivative.

An activity annotates a parameter, or wraps an argument in one call of `autodiff`.

    def loss(w: Active, x: Const[np.ndarray], n: Annotated[int, Const]): ...
    annotated(loss)     {"w": Active, "x": Const, "n": Const}

    Duplicated(A, A_bar)      the derivative with respect to A is added into A_bar
"""

from __future__ import annotations

import ast
import inspect
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any


class Activity:
    """Base of the four activities."""

    def __class_getitem__(cls, item: Any) -> Any:
        """Return `Annotated[item, cls]`, which type checkers can read."""
        return Annotated[item, cls]


@dataclass(frozen=True, eq=False)
class Active(Activity):
    """The argument is differentiated; its derivative is returned as a new value.

    `w: Active` annotates a parameter; `Active(w)` wraps an argument of `autodiff`.
    """

    value: Any


@dataclass(frozen=True, eq=False)
class Const(Activity):
    """The argument is constant: it has no derivative, and s2sad emits no instruction for one."""

    value: Any


@dataclass(frozen=True, eq=False)
class Duplicated(Activity):
    """The argument is differentiated; its derivative is added in place into the caller's shadow.

    The shadow has the structure, shapes and dtypes of the argument: `Duplicated(A, A_bar)`.
    """

    value: Any
    shadow: Any


@dataclass(frozen=True, eq=False)
class BatchDuplicated(Activity):
    """An argument with several shadows, one for each direction: `BatchDuplicated(A, (A_1, A_2))`.

    The primal runs once, and the rules run once for each direction.
    """

    value: Any
    shadows: tuple[Any, ...]


def annotated(fn: types.FunctionType) -> dict[str, type[Activity]]:
    """Return the activities that a function's annotations give to its parameters.

    Annotations that are text (`from __future__ import annotations`) are evaluated in the scope of
    the function. Names that exist only for type checkers give no activity.
    """
    if not fn.__annotations__:
        return {}
    found: dict[str, type[Activity]] = {}
    scope = _Scope(fn)
    for name, annotation in inspect.get_annotations(fn).items():
        activity = _activity(annotation, scope)
        if activity is not None and name != "return":
            found[name] = activity
    return found


def plain_annotation(fn: types.FunctionType, name: str) -> Any:
    """Return the type that an annotation gives to a parameter, or inspect.Parameter.empty."""
    annotation: Any = inspect.get_annotations(fn).get(name, inspect.Parameter.empty)
    scope = _Scope(fn)
    while isinstance(annotation, str):
        annotation = scope.evaluate(annotation)
    if _activity(annotation, scope) is None:
        return annotation
    parts = typing.get_args(annotation)
    return parts[0] if parts else inspect.Parameter.empty


class _Scope(Mapping[str, Any]):
    """The names a function sees: what it captured, then its globals, then the builtins."""

    def __init__(self, fn: types.FunctionType) -> None:
        self.fn = fn

    def __getitem__(self, name: str) -> Any:
        names = self.fn.__code__.co_freevars
        if name in names and self.fn.__closure__ is not None:
            try:
                return self.fn.__closure__[names.index(name)].cell_contents
            except ValueError:
                raise KeyError(name) from None
        if name in self.fn.__globals__:
            return self.fn.__globals__[name]
        return vars(__import__("builtins"))[name]

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0

    def evaluate(self, text: str) -> Any:
        """Return the value of an annotation's text, without the parts that cannot be evaluated."""
        try:
            return self._denoted(ast.parse(text.strip(), mode="eval").body)
        except (SyntaxError, _Unknown):
            return inspect.Parameter.empty

    def _denoted(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return self.evaluate(node.value) if isinstance(node.value, str) else node.value
        if isinstance(node, ast.Name):
            if node.id not in self:
                raise _Unknown
            return self[node.id]
        if isinstance(node, ast.Attribute):
            owner = self._denoted(node.value)
            if not hasattr(owner, node.attr):
                raise _Unknown
            return getattr(owner, node.attr)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        raise _Unknown

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self._denoted(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        items = tuple(self._part(part) for part in parts)
        try:
            return owner[items if len(items) > 1 else items[0]]
        except (TypeError, KeyError):
            raise _Unknown from None

    def _part(self, node: ast.expr) -> Any:
        """Return a part of a subscript; a type that is unknown here does not hide an activity."""
        try:
            return self._denoted(node)
        except _Unknown:
            return Any

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except KeyError:
            return False
        return True


class _Unknown(Exception):
    """A name in an annotation is not defined here."""


def _activity(annotation: Any, scope: _Scope) -> type[Activity] | None:
    if isinstance(annotation, str):
        return _activity(scope.evaluate(annotation), scope)
    if isinstance(annotation, type):
        is_one = issubclass(annotation, Activity) and annotation is not Activity
        return annotation if is_one else None
    for part in getattr(annotation, "__metadata__", ()):
        found = _activity(part, scope)
        if found is not None:
            return found
    return None
