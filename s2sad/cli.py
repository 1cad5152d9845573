"""The command line: show, emit, check, explain and view what is derived of a function."""

from __future__ import annotations

import argparse
import ast
import difflib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from s2sad.errors import Error
from s2sad.tools.raised import Caught

MODES = ("grad", "value_and_grad", "vjp", "jvp", "reverse")

_OK, _REFUSED, _USAGE = 0, 1, 2

_TARGETS = """\
A target is a function: pkg.module:function, pkg.module:Class.method or path/to/file.py:function.
--args is what stands between the parentheses of a call; it is evaluated in the function's module,
so X and y below are that module's own. Only what is known about the arguments counts (float or
array, dtype, rank), never their values or lengths. A function with annotations that say as much
needs no --args.
"""

_CODES = """\
exit codes: 0 done; 1 refused, or a check failed; 2 the command makes no sense.
"""

_SHOW = """\
  s2sad show model.py:loss --wrt w --args "np.ones(3), X, y"

prints the gradient of loss with respect to w as Python source. Other modes: value_and_grad, vjp
(value and pullback), jvp (value and tangent), reverse (into shadows of the caller's).

  s2sad show model.py:step --mode reverse --args "Duplicated(T, T_bar), 0.1"
"""

_EMIT = """\
  s2sad emit model.py:loss --wrt w --args "np.ones(3), X, y" -o loss_grad.py
  s2sad emit model.py:loss --wrt w --args "np.ones(3), X, y" -o loss_grad.py --check

writes the derivative as a module that imports without s2sad; with --check, nothing is written: it
says, by its exit code and a diff, whether the file is still what would be derived. In a CI, after
each emit of yours stands the same line with --check.
"""

_CHECK = """\
  s2sad check model.py:loss --args "np.ones(3), X, y"
  s2sad check model.py:loss --args "np.ones(3), X, y" --wrt w --order 1 --modes reverse

holds the derivatives against differences at these arguments, and names the entry that is wrong.
"""

_EXPLAIN = """\
  s2sad explain model.py:loss --wrt w --args "np.ones(3), X, y"

tells per variable whether it is active and by which line, whether it is saved for the backward
sweep and why, and how many bytes that takes (the derivative runs once on the arguments).

  S2SAD_LOGS=source,activity,saved python train.py

prints the same of all that a program derives, as it derives it.
"""

_VIEW = """\
  s2sad view model.py:loss --wrt w --args "np.ones(3), X, y" -o loss.html

writes one page, for any browser and without a network: the program on the left, its derivative on
the right; pointing at a statement lights up what it became.
"""

_TEACH = f"""\
{_TARGETS}
  s2sad show    model.py:loss --wrt w --args "np.ones(3), X, y"     the derivative, as source
  s2sad emit    model.py:loss ... -o loss_grad.py [--check]         the same as a module
  s2sad check   model.py:loss --args "np.ones(3), X, y"             is it right?
  s2sad explain model.py:loss --args "np.ones(3), X, y"             what is active, what is saved
  s2sad view    model.py:loss ... -o loss.html                      both side by side

`s2sad COMMAND --help` shows more of each.

{_CODES}"""


class UsageError(ValueError):
    """The command line says something that makes no sense."""


# --- the target ----------------------------------------------------------------------------------


def load_target(target: str) -> tuple[Callable[..., Any], ModuleType]:
    """Return the function that `target` names, and the module it was named by."""
    where, colon, qualname = target.rpartition(":")
    if not colon or not where or not qualname:
        raise UsageError(
            f"{target!r} names no function: write pkg.module:function or file.py:function"
        )
    module = _load_file(Path(where)) if _is_file(where) else _load_module(where)
    return _attribute(module, qualname, where), module


def _is_file(where: str) -> bool:
    return where.endswith(".py") or "/" in where or os.sep in where


def _load_module(name: str) -> ModuleType:
    _put_first_on_path(os.getcwd())
    return _imported(name, lambda: importlib.import_module(name))


def _load_file(path: Path) -> ModuleType:
    """Import a file under the name that it has for the rest of its package."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    path = path.resolve()
    root, name = path.parent, path.stem
    while (root / "__init__.py").is_file():
        root, name = root.parent, f"{root.name}.{name}"
    name = name.removesuffix(".__init__")
    _put_first_on_path(str(root))
    known = getattr(sys.modules.get(name), "__file__", None)
    if name in sys.modules and (known is None or Path(known).resolve() != path):
        return _imported(str(path), lambda: _load_beside(path, f"{path.stem}_in_{root.name}"))
    return _imported(str(path), lambda: importlib.import_module(name))


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
    if not callable(found):
        raise UsageError(f"{qualname!r} in {where} is of type {type(found).__name__}, no function")
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
        raise UsageError(f"--args {expression!r} is no Python expression: {error.msg}") from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise UsageError(f"--args {expression!r} is no list of arguments")
    if call.keywords:
        raise UsageError(f"--args {expression!r}: arguments are given by position, not by name")
    return _evaluate(call.args, expression, module)


def _evaluate(args: list[ast.expr], expression: str, module: ModuleType) -> tuple[Any, ...]:
    body = ast.Expression(ast.Tuple(args, ast.Load()))
    namespace = dict(vars(module))
    if "np" not in namespace:
        namespace["np"] = importlib.import_module("numpy")
    with Caught() as caught:
        code = compile(ast.fix_missing_locations(body), "<--args>", "eval")
        return tuple(eval(code, namespace))
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
    wrt = tuple(int(name) if name.isdecimal() else name for name in names)
    return wrt if "," in text else wrt[0]


# --- the commands --------------------------------------------------------------------------------


def _show(options: argparse.Namespace) -> int:
    function, settings = _prepare(options)
    from s2sad import api

    _print_source(api.source(function, **settings))
    return _OK


def _emit(options: argparse.Namespace) -> int:
    function, settings = _prepare(options)
    from s2sad import api

    out = Path(options.output)
    try:
        if options.check:
            return _check(out, lambda path: api.emit(function, path, **settings))
        written = api.emit(function, out, **settings)
    except Error:
        raise
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror or error}") from error
    print(written)
    return _OK


def _prepare(options: argparse.Namespace) -> tuple[Callable[..., Any], dict[str, Any]]:
    wrt = parse_wrt(options.wrt)
    function, module = load_target(options.target)
    args = None if options.args is None else evaluate_args(options.args, module)
    if args is not None and not inspect.isbuiltin(function):
        try:
            inspect.signature(function).bind(*args)
        except TypeError as error:
            raise UsageError(f"--args {options.args!r} does not fit: {error}") from error
    return function, {"mode": getattr(options, "mode", "grad"), "wrt": wrt, "args": args}


def _check(out: Path, emit: Callable[[Path], object]) -> int:
    """Derive beside the committed file, and print how the two differ."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / out.name
        emit(fresh)
        derived = fresh.read_text(encoding="utf-8")
    if not out.exists():
        print(f"s2sad: {out} does not exist", file=sys.stderr)
        return _REFUSED
    committed = out.read_text(encoding="utf-8", errors="replace")
    if committed == derived:
        return _OK
    _print_difference(committed, derived, str(out))
    print(
        f"s2sad: {out} is not what is derived now; the same command without --check writes it",
        file=sys.stderr,
    )
    return _REFUSED


def _check_grads(options: argparse.Namespace) -> int:
    function, settings = _prepare(options)
    from s2sad.tools import checking

    modes = tuple(m.strip() for m in options.modes.split(","))
    if set(modes) - {"forward", "reverse"}:
        raise UsageError(f"--modes {options.modes!r}: known are forward and reverse")
    if options.order < 1:
        raise UsageError(f"--order counts derivatives from 1; it is {options.order}")
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
    emit.add_argument("-o", "--output", metavar="FILE", required=True, help="the file to write")
    emit.add_argument(
        "--check", action="store_true", help="write nothing; is FILE still what would be derived?"
    )
    check = _command(
        commands, "check", _check_grads, "hold derivatives against differences", _CHECK
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
        _common_options(command, required=command is check)
    for command in (show, emit):
        command.add_argument(
            "--mode", choices=MODES, default="grad", help="what to derive (default: grad)"
        )
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


def _common_options(command: argparse.ArgumentParser, required: bool) -> None:
    command.add_argument(
        "target", metavar="TARGET", help="pkg.module:function or path/to/file.py:function"
    )
    command.add_argument(
        "--wrt", metavar="W", help="parameters to differentiate: a name, a position, or w,b"
    )
    command.add_argument(
        "--args",
        metavar="EXPR",
        required=required,
        help='example arguments, as in a call: "np.ones(3), 2.0"',
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    try:
        options = build_parser().parse_args(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else _USAGE
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except UsageError as error:
        print(f"s2sad: {error}", file=sys.stderr)
        return _USAGE
    except Error as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return _REFUSED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _OK
    return code
