"""Derived files in a repository: the source of each file, and whether the file is up to date.

A job is one file and the source that it is derived from. A job comes from a command line, from the
header of a file that was derived before, or from the targets that pyproject.toml lists:

    [tool.s2sad]
    targets = [
        "loss_grad.py",                                              # as its header says
        "model.py:loss --args 'np.ones(3), X, y' -o loss_grad.py",   # as behind `s2sad emit`
        { target = "model.py:loss", args = "np.ones(3), X, y", output = "loss_grad.py" },
    ]
"""

from __future__ import annotations

import argparse
import inspect
import os
import shlex
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from s2sad.api import operator_for
from s2sad.errors import ActivityError
from s2sad.operators.emitting import Recipe, file_text, module_of, project_of, relative
from s2sad.tools.targets import (
    UsageError,
    evaluate_args,
    is_file,
    load_target,
    parse_wrt,
    split_target,
)
from s2sad.write.files import write_own
from s2sad.write.header import MARK, command_in
from s2sad.write.wrap import columns

Parse = Callable[[list[str]], argparse.Namespace]
_KEYS = ("targets",)
_TABLE = ("target", "output", "mode", "wrt", "args", "line-length")
_OPTIONS = ("wrt", "args", "output", "mode", "has_aux", "line_length")


@dataclass(frozen=True)
class Job:
    """A file and its source; `recipe.target` is relative to `folder`.

    `file` is the file to write, or None for standard output; `output` is its name in the header.
    """

    recipe: Recipe
    folder: Path
    base: Path
    file: Path | None
    output: Path | None

    @property
    def name(self) -> str:
        """The name of the file, as the user wrote it."""
        return str(self.file)

    def text(self) -> tuple[str, tuple[str, ...]]:
        """Return the content for the file, and the files that it was made from."""
        r = self.recipe
        _, operator, args = asked(r, self.folder)
        with columns(r.columns):
            made = module_of(operator, args, {})
            command = self.recipe.words(self.base, self.output)
            command[0] = _seen_from(self.base, r.target, self.folder)
            return file_text(made, command), made.sources

    def write(self, text: str, sources: tuple[str, ...]) -> None:
        """Write the file."""
        assert self.file is not None
        write_own(self.file, text, MARK, sources)


def _seen_from(base: Path, target: str, folder: Path) -> str:
    where, qualname = split_target(target)
    return f"{relative(folder / where, base)}:{qualname}" if is_file(where) else target


def asked(recipe: Recipe, folder: Path | None = None) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return the function that a recipe names, its derivative, and example arguments."""
    wrt = parse_wrt(recipe.wrt)
    function, module = load_target(recipe.target, folder)
    args = () if recipe.args is None else evaluate_args(recipe.args, module)
    if recipe.args is not None and not inspect.isbuiltin(function):
        try:
            inspect.signature(function).bind(*args)
        except TypeError as error:
            raise UsageError(f"--args {recipe.args!r} does not fit: {error}") from error
    try:
        operator = operator_for(function, recipe.mode, wrt, args, recipe.has_aux)
    except ActivityError as error:
        said = " ".join([error.reason, error.remedy]).strip()
        raise UsageError(said.replace("wrt=", "--wrt ", 1)) from error
    return function, operator, args


def recipe_of(options: argparse.Namespace, target: str) -> Recipe:
    """Return the recipe for a derivative from the options of a command."""
    columns = getattr(options, "line_length", None)
    args = options.args
    return Recipe(
        target,
        getattr(options, "mode", None) or "grad",
        options.wrt,
        None if args is None else " ".join(line.strip() for line in args.splitlines()),
        getattr(options, "has_aux", False),
        *([] if columns is None else [columns]),
    )


# --- jobs ----------------------------------------------------------------------------------------


def jobs_of(options: argparse.Namespace, folder: Path, parse: Parse) -> Iterator[Callable[[], Job]]:
    """Yield the jobs of a command line; its paths are relative to a folder."""
    given = options.targets
    files = [not _is_target(word, folder) for word in given]
    if len(given) == 1 and not files[0]:
        yield partial(_from_options, options, given[0], folder)
        return
    if not all(files):
        raise UsageError("emit takes one function, or derived files: not both")
    said = [o for o in _OPTIONS if getattr(options, o)]
    if said:
        option = "-o" if said[0] == "output" else f"--{said[0].replace('_', '-')}"
        raise UsageError(
            f"{option} needs a function; the header of a derived file says how the file was made"
        )
    for word in given:
        found = sorted(folder.glob(word)) if set(word) & set("*?[") else [folder / word]
        if not found:
            raise UsageError(f"no file is named like {word}")
        for path in found:
            yield partial(_from_header, path, folder, parse)


def _is_target(word: str, folder: Path) -> bool:
    return ":" in word and not (folder / word).exists()


def _from_options(options: argparse.Namespace, target: str, folder: Path) -> Job:
    if options.output is None:
        return Job(recipe_of(options, target), folder, project_of(folder / "x"), None, None)
    file = folder / options.output
    shown = Path(options.output) if folder == Path.cwd() else file
    return Job(recipe_of(options, target), folder, project_of(file), shown, file)


def _from_header(path: Path, folder: Path, parse: Parse) -> Job:
    """Return the job that made a file, from the header of the file."""
    shown = path.relative_to(folder) if folder == Path.cwd() and _below(path, folder) else path
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"cannot read {shown}: {error.strerror}") from error
    words = command_in(text)
    if words is None:
        raise UsageError(f"{shown} is not a derived file: it does not begin with `{MARK}`")
    if isinstance(words, str):
        raise UsageError(
            f"{shown} cannot be compared: {words}. Write it with `s2sad emit` and --args; "
            "its header then holds them"
        )
    options = parse(words)
    (target,) = options.targets or [""]
    base = _base(path, options.output)
    output = path if options.output is not None else None
    return Job(recipe_of(options, target), base, base, shown, output)


def _below(path: Path, folder: Path) -> bool:
    return path.is_relative_to(folder)


def _base(path: Path, output: str | None) -> Path:
    """Return the folder in which the command of a header runs."""
    path = Path(os.path.realpath(path))
    parts = Path(output or "").parts
    if parts and path.parts[-len(parts) :] == parts:
        return path.parents[len(parts) - 1]
    return project_of(path)


# --- pyproject.toml ------------------------------------------------------------------------------


def listed_jobs(folder: Path, parse: Parse) -> Iterator[Callable[[], Job]]:
    """Yield the jobs of the targets that the pyproject.toml at or above a folder lists."""
    places = [place / "pyproject.toml" for place in (folder, *folder.parents)]
    found = next((p for p in places if p.is_file()), None)
    if found is None:
        raise UsageError("name a function or a derived file: there is no pyproject.toml here")
    for words in _targets(found):
        options = parse(words)
        if not options.targets or (options.output is None and _is_target(words[0], found.parent)):
            raise UsageError(f"{found}: the target {shlex.join(words)!r} names no file: add -o")
        yield from jobs_of(options, found.parent, parse)


def _targets(path: Path) -> list[list[str]]:
    try:
        known = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    table = known.get("tool", {}).get("s2sad", {})
    listed = table.get("targets")
    unknown = sorted(set(table) - set(_KEYS))
    if unknown:
        raise UsageError(f"{path}: [tool.s2sad] has no {unknown[0]!r}, only targets")
    if not isinstance(listed, list) or not listed or not all(map(_is_listed, listed)):
        raise UsageError(
            f"{path} lists no targets: under [tool.s2sad] write, for example, "
            'targets = ["loss_grad.py"]'
        )
    return [shlex.split(t) if isinstance(t, str) else _words_of(t, path) for t in listed]


def _is_listed(target: Any) -> bool:
    return isinstance(target, str) or (isinstance(target, dict) and "target" in target)


def _words_of(table: dict[str, Any], path: Path) -> list[str]:
    """Return the arguments of `s2sad emit` for a target that is a table of options."""
    unknown = sorted(set(table) - set(_TABLE))
    if unknown:
        raise UsageError(f"{path}: a target has {', '.join(_TABLE)}, not {unknown[0]!r}")
    options = [f"--{key}={table[key]}" for key in _TABLE[1:] if key in table]
    return [str(table["target"]), *options]
