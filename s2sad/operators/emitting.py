"""Text of derivatives for people and for files: `.source()`, `.emit()` and the command line.

A file says in its header which command makes it again. Where it was written by a call in Python the
command is worked out, and stands there only if it gives this very text.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import importlib
import os
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gast
import numpy as np

from s2sad import kinds as K
from s2sad.activities import Active, Activity, BatchDuplicated, Const, Duplicated
from s2sad.capture.read import read, unwrap
from s2sad.errors import Error, SourceError
from s2sad.operators.derived import place_of
from s2sad.operators.higher import derive
from s2sad.operators.key_orders import other_orders, without_order
from s2sad.operators.logs import log, with_answers
from s2sad.requests import Request
from s2sad.write.copies import is_literal
from s2sad.write.files import write_own
from s2sad.write.header import MARK, header
from s2sad.write.standalone import Emitted, emitted, standalone
from s2sad.write.wrap import USUAL, width

_ROOTS = ("pyproject.toml", ".git")
_ACTIVITIES = (Active, BatchDuplicated, Const, Duplicated)
_SMALL = 3
_AXES, _LINES = 6, 200  # for each axis a text is derived: long ones take too long
_LINES_FOR_ORDERS = 500


def source_of(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return the derived source for example arguments, with nothing that checks them."""
    request, _, _ = operator._asked(args, kwargs)
    derivation = derive(with_answers(request))
    log(derivation)
    try:
        return standalone(derivation, _read_node)
    except SourceError as error:
        raise error.at(place_of(operator._parameters.fn)) from None


def module_of(
    operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any], told: bool = True
) -> Emitted:
    """Return the derived module for example arguments, without its header.

    It takes arrays of length 1, too, along those axes where its text is the same for them, and
    dicts with their keys in another order, where its text is the same for that.
    """
    request, _, _ = operator._asked(args, kwargs)
    derivation = derive(with_answers(request))
    if derivation.by_value:
        known = request.valued or request.params
        request = dataclasses.replace(request, params=known, by_value=True)
    if told:
        log(derivation)
    try:
        text = standalone(derivation, _read_node)
        axes = list(_long_axes(request)) if text.count("\n") < _LINES else []
        for path in axes[:_AXES]:
            wider = dataclasses.replace(request, params=_of_any_length(request, *path))
            again = derive(with_answers(wider))
            if again.not_one == derivation.not_one and standalone(again, _read_node) == text:
                request, derivation = wider, again
        orders = _in_any_order(request, derivation, text)
        return emitted(derivation, _read_node, dict(request.params), orders)
    except SourceError as error:
        raise error.at(place_of(operator._parameters.fn)) from None


def _long_axes(request: Request) -> Iterator[tuple[str, int]]:
    """Yield the axes of arguments that are derived for lengths other than 1."""
    for n, kind in request.params:
        if isinstance(kind, K.Array):
            yield from ((n, axis) for axis, dim in enumerate(kind.dims) if dim.many)


def _of_any_length(request: Request, parameter: str, axis: int) -> tuple[tuple[str, K.Kind], ...]:
    """Return the kinds of parameters where one axis of one of them may also be of length 1."""
    found = dict(request.params)
    kind = found[parameter]
    assert isinstance(kind, K.Array)
    dims = list(kind.dims)
    dims[axis] = dataclasses.replace(dims[axis], many=False)
    found[parameter] = dataclasses.replace(kind, dims=tuple(dims))
    return tuple(found.items())


def _in_any_order(request: Request, known: Any, text: str) -> frozenset[str]:
    """Return the parameters for which a text is the same however the keys of dicts are ordered.

    Cotangents that the text writes as dicts may have their keys in another order.
    """
    if text.count("\n") > _LINES_FOR_ORDERS:
        return frozenset()
    wanted = without_order(text)
    found: set[str] = set()
    for n, kind in request.params:
        for other in other_orders(kind):
            params = tuple((p, other if p == n else k) for p, k in request.params)
            try:
                again = derive(dataclasses.replace(request, params=params))
                made = without_order(standalone(again, _read_node))
                if again.not_one != known.not_one or made != wanted:
                    break
            except Error:
                break
        else:
            found.add(n)
    return frozenset(found)


def _read_node(fn: types.FunctionType) -> gast.AST:
    return read(fn).node


def file_text(made: Emitted, command: Sequence[str] | str) -> str:
    """Return what a derived file holds; `command` are words, or why there are none."""
    version = importlib.import_module("s2sad").__version__
    gap = "\n\n" if made.text.startswith("def ") else "\n"
    return header(version, command, made.kinds, made.guards) + gap + made.text


def emit_to(operator: Any, path: str | Path, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Path:
    """Write the derived module for example arguments, with a header that says how it is made."""
    path = Path(path)
    made = module_of(operator, args, kwargs)
    known = _recipe(operator, project_of(path), args, kwargs, made)
    command = known if isinstance(known, str) else known.words(project_of(path), path)
    return write_own(path, file_text(made, command), MARK, made.sources)


# --- commands ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recipe:
    """What a command line says of a derivative: where the function is, and how it is derived."""

    target: str
    mode: str = "grad"
    wrt: str | None = None
    args: str | None = None
    has_aux: bool = False
    columns: int = USUAL

    def words(self, base: Path, output: Path | None) -> list[str]:
        """Return the words behind `s2sad emit`, with paths that begin in a folder."""
        given = [self.target]
        given += [] if self.mode == "grad" else ["--mode", self.mode]
        given += [] if self.wrt is None else ["--wrt", self.wrt]
        if self.args is not None:  # what begins with a minus would be taken for an option
            given += [f"--args={self.args}"] if self.args[:1] == "-" else ["--args", self.args]
        given += ["--has-aux"] if self.has_aux else []
        given += [] if self.columns == USUAL else ["--line-length", str(self.columns)]
        return given if output is None else [*given, "-o", relative(output, base)]


def project_of(path: str | Path) -> Path:
    """Return the folder in which a command begins: that of the project, or the file's own."""
    folder = Path(os.path.realpath(path)).parent
    for parent in (folder, *folder.parents):
        if any((parent / name).exists() for name in _ROOTS):
            return parent
    return folder


def relative(path: str | Path, base: Path) -> str:
    """Return a path as seen from a folder, the same on every system."""
    return Path(os.path.relpath(os.path.realpath(path), os.path.realpath(base))).as_posix()


def spelled_wrt(wrt: Any) -> str | None:
    """Return a wrt as the command line has it."""
    if not isinstance(wrt, tuple):
        return None if wrt is None else str(wrt)
    return ",".join(map(str, wrt)) + ("," if len(wrt) == 1 else "")


def namespace_for(module: types.ModuleType) -> dict[str, Any]:
    """Return the names that example arguments may use: those of the module, np, activities."""
    ours = {cls.__name__: cls for cls in _ACTIVITIES}
    return {"np": np, **ours, **vars(module)}


def _recipe(
    operator: Any,
    base: Path,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    made: Emitted,
) -> Recipe | str:
    """Return what makes a module again that a call in Python has made, or why nothing does."""
    name = operator._parameters.name
    found = _named(operator._f, base)
    if found is None:
        return (
            f"s2sad cannot name {name} as a function of a module: it was made by a call, is "
            "defined in a notebook, or takes any arguments"
        )
    target, f, module = found
    options = operator._options
    again = type(operator)(f, _plain(options, len(args) + len(kwargs)))
    given: list[Any] = []
    if args or kwargs:
        positional = _by_position(operator, args, kwargs)
        if positional is None:
            return f"{name} takes keyword-only arguments, which --args cannot give"
        given = positional
    reason = "derived by a call in Python that has no equivalent command"
    for length in (_SMALL, sys.maxsize):
        spelled = [_spelled(value, module, length) for value in given]
        missing = next((v for v, s in zip(given, spelled, strict=True) if s is None), None)
        if missing is not None:
            what = type(missing).__name__
            return f"an example argument is an instance of {what}, which has no name in its module"
        expression = ", ".join(s for s in spelled if s is not None)
        if _gives(again, expression, module, made):
            wrt = spelled_wrt(options.wrt)
            said = expression if args or kwargs else None
            return Recipe(target, options.mode, wrt, said, options.has_aux, width())
        if not given:
            break
    return reason


def _plain(options: Any, given: int) -> Any:
    """Return what the command line asks for under the same mode."""
    return type(options)(options.mode, options.wrt, options.has_aux, given or None)


def _gives(operator: Any, expression: str, module: types.ModuleType, made: Emitted) -> bool:
    """Say whether arguments, as they are spelled, give a module."""
    try:
        args = eval(f"({expression},)" if expression else "()", namespace_for(module))
        return module_of(operator, args, {}, told=False) == made
    except (Error, NameError, TypeError):
        return False


def _by_position(operator: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
    bound = operator._parameters.visible().bind(*args, **kwargs)
    if bound.kwargs:
        bound.apply_defaults()
    return None if bound.kwargs else list(bound.args)


def _named(f: Any, base: Path) -> tuple[str, Any, types.ModuleType] | None:
    """Return what a module calls a function: the target of a command, the object, the module."""
    module = sys.modules.get(getattr(f, "__module__", None) or "")
    if module is None:
        return None
    where = _where(module, base)
    if where is None:
        return None
    paths = [str(getattr(f, "__qualname__", "<")), *sorted(vars(module))]
    for path in paths:
        found = _at(module, path)
        if found is f or (found is not None and path == paths[0] and _same(found, f)):
            return f"{where}:{path}", found, module
    return None


def _at(owner: Any, path: str) -> Any:
    for name in path.split("."):
        owner = getattr(owner, name, None)
    return owner


def _same(found: Any, f: Any) -> bool:
    """Say whether two names lead to one function, as of a method and its decorator."""
    one, other = unwrap(found), unwrap(f)
    return one is not None and one == other and not one.args and not one.kwargs


def _where(module: types.ModuleType, base: Path) -> str | None:
    """Return a module's file as seen from a folder that holds it, or else its name."""
    file = getattr(module, "__file__", None)
    if file and os.path.isfile(file):
        path = relative(file, base)
        if not path.startswith("..") and not os.path.isabs(path) and path.endswith(".py"):
            return path
    return None if module.__name__ == "__main__" else module.__name__


def _spelled(value: Any, module: types.ModuleType, length: int) -> str | None:
    """Return an expression for a value of the same kind, with arrays of at most that length."""
    if isinstance(value, Activity):
        parts = [_spelled(v, module, length) for v in _wrapped(value)]
        return None if None in parts else f"{type(value).__name__}({', '.join(map(str, parts))})"
    if type(value) in (float, complex):
        return "1.0" if type(value) is float else "1j"
    if type(value) in (tuple, list):
        return _bracketed(value, [_spelled(v, module, length) for v in value])
    if is_literal(value):
        return repr(value)
    named = sorted(n for n, v in vars(module).items() if v is value and not n.startswith("__"))
    if named:
        return named[0]
    if isinstance(value, np.generic):
        return f"np.{type(value).__name__}(1)"
    if type(value) is np.ndarray and value.dtype.kind in "biufc":
        shape = tuple(min(n, length) for n in value.shape)
        size = repr(shape[0]) if len(shape) == 1 else repr(shape)
        return f"np.ones({size})" if value.dtype == float else f'np.ones({size}, "{value.dtype}")'
    if type(value) is dict and all(map(is_literal, value)):
        items = [_spelled(v, module, length) for v in value.values()]
        pairs = zip(value, items, strict=True)
        return None if None in items else f"{{{', '.join(f'{k!r}: {v}' for k, v in pairs)}}}"
    made = _constructed(value, module, length)
    if made is not None:
        return made
    name = getattr(value, "__name__", "")
    for owner, prefix in ((np, "np."), (builtins, "")):
        if name and getattr(owner, name, None) is value:
            return f"{prefix}{name}"
    return None


def _constructed(value: Any, module: types.ModuleType, length: int) -> str | None:
    """Return the call of a class that the module names, or the member of an enumeration."""
    cls = next((n for n, v in sorted(vars(module).items()) if v is type(value)), None)
    if cls is None:
        return None
    if isinstance(value, enum.Enum):
        return f"{cls}.{value.name}"
    fields = [f.name for f in dataclasses.fields(value) if f.init] if _is_record(value) else []
    fields = list(getattr(value, "_fields", fields))
    parts = [_spelled(getattr(value, n), module, length) for n in fields]
    if not fields or None in parts:
        return None
    return f"{cls}({', '.join(f'{n}={p}' for n, p in zip(fields, parts, strict=True))})"


def _is_record(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _wrapped(value: Any) -> Iterator[Any]:
    yield value.value
    if isinstance(value, Duplicated):
        yield value.shadow
    if isinstance(value, BatchDuplicated):
        yield tuple(value.shadows)


def _bracketed(value: Any, parts: list[str | None]) -> str | None:
    if None in parts:
        return None
    inside = ", ".join(map(str, parts))
    if isinstance(value, list):
        return f"[{inside}]"
    return f"({inside},)" if len(parts) == 1 else f"({inside})"
