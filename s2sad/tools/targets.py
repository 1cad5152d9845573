"""The parts of a command line: a function in a file or module, example arguments, parameters.

load_target("model.py:loss")          the function and its module
evaluate_args("np.ones(3), X", m)     the arguments, evaluated in the module
parse_wrt("w,b")                      ("w", "b")
"""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from s2sad.operators.emitting import namespace_for
from s2sad.tools.raised import Caught


class UsageError(ValueError):
    """The command line is not valid."""


def split_target(target: str) -> tuple[str, str]:
    """Return the file or the module of a target, and the name in it."""
    where, colon, qualname = target.rpartition(":")
    if not colon or not where or not qualname:
        raise UsageError(
            f"{target!r} names no function: write pkg.module:function or file.py:function"
        )
    if where.endswith(".ipynb"):
        raise UsageError(
            f"{where} is a notebook, which cannot be imported: keep {qualname} in a module "
            f"(%%writefile model.py), and name that: model.py:{qualname}"
        )
    return where, qualname


def load_target(
    target: str, folder: str | Path | None = None
) -> tuple[Callable[..., Any], ModuleType]:
    """Return the function that `target` names, relative to a folder, and its module."""
    where, qualname = split_target(target)
    folder = Path(os.getcwd() if folder is None else folder)
    module = _load_file(where, folder) if is_file(where) else _load_module(where, folder)
    return _attribute(module, qualname, where), module


def is_file(where: str) -> bool:
    """Return whether a target names a file; otherwise it names a module."""
    return where.endswith(".py") or "/" in where or os.sep in where


def _load_module(name: str, folder: Path) -> ModuleType:
    _put_first_on_path(str(folder))
    return _imported(name, lambda: importlib.import_module(name))


def _load_file(where: str, folder: Path) -> ModuleType:
    """Import a file under the name that it has for the rest of its package."""
    path = folder / where
    if not path.is_file():
        raise UsageError(f"there is no file {where}")
    path = path.resolve()
    root, name = path.parent, path.stem
    while (root / "__init__.py").is_file():
        root, name = root.parent, f"{root.name}.{name}"
    name = name.removesuffix(".__init__")
    _put_first_on_path(str(root))
    known = getattr(sys.modules.get(name), "__file__", None)
    if name in sys.modules and (known is None or Path(known).resolve() != path):
        return _imported(where, lambda: _load_beside(path, f"{path.stem}_in_{root.name}"))
    return _imported(where, lambda: importlib.import_module(name))


def _load_beside(path: Path, name: str) -> ModuleType:
    """Load a file whose own name is taken by another module."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _put_first_on_path(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _imported(what: str, load: Callable[[], ModuleType]) -> ModuleType:
    with Caught() as caught:
        return load()
    error = caught.error
    why = str(error) if isinstance(error, ImportError | SyntaxError) else str(caught)
    raise UsageError(f"cannot import {what}: {why}") from error


def _attribute(module: ModuleType, qualname: str, where: str) -> Callable[..., Any]:
    found: Any = module
    for name in qualname.split("."):
        if not hasattr(found, name):
            raise UsageError(f"{where} has no {qualname!r}{_similar(name, found)}")
        found = getattr(found, name)
    if isinstance(found, type):
        methods = [n for n, m in vars(found).items() if inspect.isfunction(m) and n[0] != "_"]
        example = f"{where}:{qualname}.{(methods or ['method'])[0]}"
        raise UsageError(f"{qualname} is a class; name a method: {example}")
    if not callable(found):
        raise UsageError(
            f"{qualname!r} in {where} is of type {type(found).__name__}, not a function"
        )
    function: Callable[..., Any] = found
    return function


def _similar(name: str, owner: object) -> str:
    close = difflib.get_close_matches(name, dir(owner), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


# --- --args and --wrt ----------------------------------------------------------------------------


def evaluate_args(expression: str, module: ModuleType) -> tuple[Any, ...]:
    """Evaluate `expression` as the inside of a call's parentheses, in the module's namespace."""
    try:
        call = ast.parse(f"_({expression}\n)", mode="eval").body
    except SyntaxError as error:
        raise UsageError(
            f"--args {expression!r} is not a Python expression: {error.msg}"
        ) from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise UsageError(f"--args {expression!r} is not a list of arguments")
    if call.keywords:
        raise UsageError(f"--args {expression!r}: arguments are given by position, not by name")
    return _evaluate(call.args, expression, module)


def _evaluate(args: list[ast.expr], expression: str, module: ModuleType) -> tuple[Any, ...]:
    body = ast.Expression(ast.Tuple(args, ast.Load()))
    with Caught() as caught:
        code = compile(ast.fix_missing_locations(body), "<--args>", "eval")
        return tuple(eval(code, namespace_for(module)))
    raise UsageError(f"--args {expression!r} fails with {caught}") from caught.error


def parse_wrt(text: str | None) -> str | int | tuple[str | int, ...] | None:
    """Read a name, a position, or several with commas: `w`, `0`, `w,b`."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    if len(names) > 1 and not names[-1]:
        del names[-1]
    if not all(names):
        raise UsageError(f"--wrt {text!r} has an empty name: write a name, a position, or w,b")
    wrt = tuple(int(n) if n.removeprefix("-").isdecimal() else n for n in names)
    return wrt if "," in text else wrt[0]
