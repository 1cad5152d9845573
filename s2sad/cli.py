"""The command line: show, emit, check, explain and view what is derived of a function."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import importlib
import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from s2sad.errors import Error, UnsupportedError
from s2sad.tools import derived_files
from s2sad.tools.derived_files import Job
from s2sad.tools.raised import Caught
from s2sad.tools.targets import UsageError, evaluate_args, load_target, parse_wrt
from s2sad.write.header import without_version
from s2sad.write.wrap import USUAL, columns

__all__ = ["build_parser", "evaluate_args", "load_target", "main", "parse_wrt"]

MODES = ("grad", "value_and_grad", "vjp", "jvp", "reverse")

_OK, _REFUSED, _USAGE = 0, 1, 2
_NARROWEST = 40

_TARGETS = """\
A target is a function: pkg.module:function, pkg.module:Class.method or path/to/file.py:function.
--args is what stands between the parentheses of a call; it is evaluated in the function's module,
so X and y below are that module's own. Only what is known about the arguments counts (float or
array, dtype, rank), never their values or lengths. A function with annotations that say as much
needs no --args.
"""

_CODES = """\
exit codes: 0 done; 1 refused, or a check failed (a file is stale); 2 the command makes no sense.
"""

_SHOW = """\
  s2sad show model.py:loss --wrt w --args "np.ones(3), X, y"

prints the gradient of loss with respect to w as Python source. Other modes: value_and_grad, vjp
(value and pullback), jvp (value and tangent), reverse (into shadows of the caller's).

  s2sad show model.py:step --mode reverse --args "Duplicated(T, T_bar), 0.1"
"""

_EMIT = """\
  s2sad emit model.py:loss --wrt w --args "np.ones(3), X, y" -o loss_grad.py
  s2sad emit --check loss_grad.py
  s2sad emit --check

The first writes the derivative as a module that imports without s2sad (without -o, it prints it).
Its header holds the command. The second derives again by that command, and tells by its exit code
and a diff whether the file is up to date; without --check it writes the file anew. The third does
so for the targets in pyproject.toml:

  [tool.s2sad]
  targets = ["loss_grad.py"]

An existing file is overwritten only if it begins with such a header.
"""

_CHECK = """\
  s2sad check model.py:loss --args "np.ones(3), X, y"
  s2sad check model.py:loss --args "np.ones(3), X, y" --wrt w --order 1 --modes reverse

compares the derivatives with finite differences at these arguments, and names the entry that is
wrong.
"""

_EXPLAIN = """\
  s2sad explain model.py:loss --wrt w --args "np.ones(3), X, y"

says of each variable whether it is active and by which line, whether it is saved for the backward
sweep and why, and how many bytes that takes (the derivative runs once on the arguments).

  S2SAD_LOGS=source,activity,saved python train.py

prints the same for each derivation of a program, while it runs.
"""

_VIEW = """\
  s2sad view model.py:loss --wrt w --args "np.ones(3), X, y" -o loss.html

writes one page, for any browser and without a network: the program on the left, its derivative on
the right; pointing at a statement lights up what it became.
"""

_TEACH = f"""\
{_TARGETS}
  s2sad show    model.py:loss --wrt w --args "np.ones(3), X, y"     the derivative, as source
  s2sad emit    model.py:loss ... -o loss_grad.py                   the same as a module
  s2sad emit    --check loss_grad.py                                is it up to date?
  s2sad check   model.py:loss --args "np.ones(3), X, y"             is it right?
  s2sad explain model.py:loss --args "np.ones(3), X, y"             what is active, what is saved
  s2sad view    model.py:loss ... -o loss.html                      both side by side

`s2sad COMMAND --help` shows more of each.

{_CODES}"""


# --- the commands --------------------------------------------------------------------------------


def _show(options: argparse.Namespace) -> int:
    function, settings = _prepare(options)
    from s2sad import api

    with columns(options.line_length or USUAL):
        _print_source(api.source(function, **settings))
    return _OK


def _emit(options: argparse.Namespace) -> int:
    _refuse_jit(options)
    folder = Path.cwd()
    if options.targets:
        jobs = derived_files.jobs_of(options, folder, _parsed)
    else:
        jobs = derived_files.listed_jobs(folder, _parsed)
    codes = [_OK]
    while True:
        try:
            found = next(jobs, None)
            if found is None:
                return max(codes)
            job = found()
            codes.append(_compare(job) if options.check else _write(job))
        except (UsageError, Error) as error:
            codes.append(_told(error))


def _parsed(words: list[str]) -> argparse.Namespace:
    """Return the options of an emit that a header or pyproject.toml holds."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return build_parser().parse_args(["emit", *words])
    except SystemExit as stop:
        why = said.getvalue().strip().rpartition("error: ")[2]
        raise UsageError(f"`s2sad emit {shlex.join(words)}` makes no sense: {why}") from stop


def _write(job: Job) -> int:
    text, sources = job.text()
    if job.file is None:
        _print_source(text)
        return _OK
    try:
        job.write(text, sources)
    except Error:
        raise
    except OSError as error:
        raise UsageError(f"cannot write {job.name}: {error.strerror or error}") from error
    print(job.name)
    return _OK


def _compare(job: Job) -> int:
    """Derive once more, and print how that differs from the file."""
    if job.file is None:
        raise UsageError("--check needs the file to compare with: name it with -o")
    derived, _ = job.text()
    if not job.file.exists():
        print(f"s2sad: {job.name} does not exist", file=sys.stderr)
        return _REFUSED
    committed = job.file.read_text(encoding="utf-8", errors="replace")
    if without_version(committed) == without_version(derived):
        return _OK
    _print_difference(committed, derived, job.name)
    print(
        f"s2sad: {job.name} is not what is derived now; the same command without --check writes it",
        file=sys.stderr,
    )
    return _REFUSED


def _prepare(options: argparse.Namespace) -> tuple[Callable[..., Any], dict[str, Any]]:
    _refuse_jit(options)
    recipe = derived_files.recipe_of(options, options.target)
    function, _, args = derived_files.asked(recipe)
    given = None if recipe.args is None else args
    wrt = parse_wrt(options.wrt)
    return function, {"mode": getattr(options, "mode", "grad"), "wrt": wrt, "args": given}


def _refuse_jit(options: argparse.Namespace) -> None:
    if getattr(options, "jit", False):
        raise UnsupportedError(
            "--jit is not supported yet: s2sad does not compile derived code.",
            remedy="Leave --jit out; the derived source is plain Python and NumPy.",
        )


def _check_grads(options: argparse.Namespace) -> int:
    function, settings = _prepare(options)
    from s2sad.tools import checking

    modes = tuple(m.strip() for m in options.modes.split(","))
    if set(modes) - {"forward", "reverse"}:
        raise UsageError(f"--modes {options.modes!r}: the modes are forward and reverse")
    if options.order < 1:
        raise UsageError(
            f"--order must be 1 or more (1 means first derivatives); it is {options.order}"
        )
    args, wrt = settings["args"], settings["wrt"]
    with Caught() as caught:
        checking.check_grads(function, args, modes=modes, order=options.order, wrt=wrt)
    if isinstance(caught.error, Error):
        raise caught.error
    if isinstance(caught.error, AssertionError):
        print(caught.error, file=sys.stderr)
        return _REFUSED
    if caught.error is not None:
        raise UsageError(f"{options.target} fails at --args with {caught}") from caught.error
    print(f"{options.target}: {' and '.join(modes)} agree with differences, order {options.order}")
    return _OK


def _explain(options: argparse.Namespace) -> int:
    function, settings = _prepare(options)
    from s2sad.tools import looking

    report = looking.explain(function, wrt=settings["wrt"], args=settings["args"])
    text = str(report)
    sys.stdout.write(_marked(text) if _in_colour() else text)
    return _OK


def _view(options: argparse.Namespace) -> int:
    function, settings = _prepare(options)
    from s2sad.tools import page

    out = Path(options.output)
    try:
        written = page.view(function, out, **settings)
    except Error:
        raise
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror or error}") from error
    print(written)
    return _OK


# --- printing ------------------------------------------------------------------------------------


def _print_difference(committed: str, derived: str, name: str) -> None:
    old, new = (text.splitlines(keepends=True) for text in (committed, derived))
    colour = _in_colour()
    for line in difflib.unified_diff(old, new, name, f"{name} (derived now)"):
        text = line.removesuffix("\n")
        print(f"{_DIFF[line[0]]}{text}\x1b[0m" if colour and line[0] in _DIFF else text)
        if text == line:
            print("\\ No newline at end of file")


_DIFF = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}


def _in_colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _marked(report: str) -> str:
    """Mark the names of a report, and what is active or saved, for a terminal."""
    text = re.sub(r"^(  )(\w+)", "\\1\x1b[1m\\2\x1b[0m", report, flags=re.M)
    text = re.sub(r"^( {6})(active)", "\\1\x1b[36m\\2\x1b[0m", text, flags=re.M)
    text = re.sub(r"^( {6})(saved)", "\\1\x1b[33m\\2\x1b[0m", text, flags=re.M)
    return re.sub(r"^( {6}not .*|  derived: .*)$", "\x1b[2m\\1\x1b[0m", text, flags=re.M)


def _print_source(text: str) -> None:
    if _in_colour():
        text = _highlighted(text)
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def _highlighted(text: str) -> str:
    """Colour the source for a terminal, with pygments or rich, whichever there is."""
    for colour in (_with_pygments, _with_rich):
        try:
            return colour(text)
        except ImportError:
            continue
    return text


def _with_pygments(text: str) -> str:
    pygments = importlib.import_module("pygments")
    lexer = importlib.import_module("pygments.lexers").PythonLexer()
    formatter = importlib.import_module("pygments.formatters").TerminalFormatter()
    return str(pygments.highlight(text, lexer, formatter))


def _with_rich(text: str) -> str:
    console = importlib.import_module("rich.console").Console(force_terminal=True)
    syntax = importlib.import_module("rich.syntax").Syntax(text, "python")
    with console.capture() as capture:
        console.print(syntax)
    return str(capture.get())


# --- the parser ----------------------------------------------------------------------------------


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="s2sad",
        description="Derivatives of Python functions, as Python source.",
        epilog=_TEACH,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"s2sad {version('s2sad')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    show = _command(commands, "show", _show, "print the derived source", _SHOW)
    emit = _command(commands, "emit", _emit, "write the derived source as a module", _EMIT)
    emit.add_argument("-o", "--output", metavar="FILE", help="the file to write")
    emit.add_argument(
        "--check", action="store_true", help="write nothing; say whether the file is up to date"
    )
    check = _command(
        commands, "check", _check_grads, "compare derivatives with finite differences", _CHECK
    )
    check.add_argument(
        "--modes", default="forward,reverse", help="forward, reverse, or both (default)"
    )
    check.add_argument("--order", type=int, default=2, help="up to which derivative (default: 2)")
    explain = _command(
        commands, "explain", _explain, "say what is active and what is saved", _EXPLAIN
    )
    text = "write a page with the program and its derivative side by side"
    view = _command(commands, "view", _view, text, _VIEW)
    view.add_argument("-o", "--output", metavar="FILE", required=True, help="the page to write")
    for command in (show, emit, check, explain, view):
        _common_options(command, required=command is check, many=command is emit)
    for command in (show, emit):
        command.add_argument("--mode", choices=MODES, help="what to derive (default: grad)")
        text = "the function returns (loss, aux)"
        command.add_argument("--has-aux", action="store_true", help=text)
        text = "columns of a line (default: 100)"
        command.add_argument("--line-length", type=_columns, metavar="N", help=text)
        command.add_argument("--jit", action="store_true", help="not supported yet")
    show.set_defaults(mode="grad")
    text = "what to derive (default: the gradient of a scalar, else the pullback)"
    view.add_argument("--mode", choices=MODES, default=None, help=text)
    return parser


def _command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], text: str, teach: str
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=f"{text.capitalize()}.",
        epilog=f"{teach}\n{_TARGETS}\n{_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    return command


def _columns(text: str) -> int:
    if not text.isdecimal() or int(text) < _NARROWEST:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of columns from {_NARROWEST} upward"
        )
    return int(text)


def _common_options(command: argparse.ArgumentParser, required: bool, many: bool) -> None:
    text = "pkg.module:function or path/to/file.py:function"
    if many:
        text += ", or derived files; without either the targets that pyproject.toml lists"
        command.add_argument("targets", metavar="TARGET", nargs="*", help=text)
    else:
        command.add_argument("target", metavar="TARGET", help=text)
    command.add_argument(
        "--wrt", metavar="W", help="parameters to differentiate: a name, a position, or w,b"
    )
    command.add_argument(
        "--args",
        metavar="EXPR",
        required=required,
        help='example arguments, as in a call: "np.ones(3), 2.0"',
    )


def _told(error: UsageError | Error) -> int:
    """Print an error, and return the exit code that it stands for."""
    if isinstance(error, UsageError):
        print(f"s2sad: {error}", file=sys.stderr)
        return _USAGE
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    return _REFUSED


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = build_parser()
    if not (sys.argv[1:] if argv is None else argv):
        parser.print_help()
        return _OK
    try:
        options = parser.parse_args(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else _USAGE
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except (UsageError, Error) as error:
        return _told(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _OK
    return code
