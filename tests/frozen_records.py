"""What comes of a program in every mode, as data that can be written and compared.

    from frozen_records import record

A mode's record holds its outcome ("right": it was derived and ran; "refused"; "dead"), the numbers
as texts that keep every bit, the message of a refusal without places, the lines of the derived
text, the seconds to derive it and the microseconds of a call. A record of a program holds those of
its modes, its lines, and its slope along a direction by differences: where numbers change, it
tells which are right.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import io
import re
import time
import types
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from frozen_programs import Held
from frozen_text import called, derived_lines, source_lines
from pairs import NoEndError, limited
from properties import Program, leaves, same

import s2sad
from s2sad.errors import InternalError

STEP = 1e-6
SECONDS = 20.0  # of the processor, for one mode of one program
CALLS, SAMPLE = 25, 0.003  # how often a call is timed, and for how long at most

Found = dict[str, Any]


# --- structures ----------------------------------------------------------------------------------


def moved(x: Any, change: Callable[[Any], Any], known: Found | None = None) -> Any:
    """Return a structure with its floats and float arrays changed, all else None.

    What stands twice in it still does.
    """
    known = {} if known is None else known
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "fc":
            return None
        if id(x) not in known:
            known[id(x)] = (x, change(x).astype(x.dtype))
        return known[id(x)][1]
    if isinstance(x, float | complex | np.floating | np.complexfloating):
        return type(x)(change(x))
    if isinstance(x, list | tuple):
        parts = [moved(part, change, known) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if isinstance(x, dict):
        return {key: moved(part, change, known) for key, part in x.items()}
    if hasattr(x, "__dict__") and not callable(x) and not isinstance(x, types.ModuleType):
        new = copy.copy(x)
        for key, part in vars(x).items():
            object.__setattr__(new, key, moved(part, change, known))
        return new
    return None


def direction(x: Any, shift: float, relative: bool = False) -> Any:
    """Return a tangent, or a cotangent, for a structure: waves in place of its numbers.

    Relative ones are as large as the numbers are.
    """
    at = shift

    def waves(leaf: Any) -> Any:
        nonlocal at
        at += 0.37
        found = np.cos(1.7 * np.arange(np.size(leaf)) + at).reshape(np.shape(leaf))
        if relative:
            found = found * (float(np.mean(np.abs(leaf))) or 1.0)
        return found if np.shape(leaf) else float(found)

    return moved(x, waves)


def stepped(x: Any, tangent: Any, step: float) -> Any:
    """Return a structure a step along a tangent; what has none stays as it is."""
    if tangent is None:
        return x
    if isinstance(x, np.ndarray | float | complex | np.generic):
        return type(x)(x + step * tangent) if np.isscalar(x) else x + step * tangent
    if isinstance(x, list | tuple):
        parts = [stepped(a, b, step) for a, b in zip(x, tangent, strict=True)]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if isinstance(x, dict):
        new = copy.copy(x)
        new.update({key: stepped(part, tangent[key], step) for key, part in x.items()})
        return new
    new = copy.copy(x)
    for key, part in vars(x).items():
        object.__setattr__(new, key, stepped(part, getattr(tangent, key), step))
    return new


def shape_of(x: Any) -> str:
    """Return how a structure is built, shortly: types, shapes and dtypes."""
    text = _shape(x)
    return text if len(text) < 160 else f"{text[:140]}...{zlib.crc32(text.encode()):08x}"


def _shape(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{list(x.shape)}"
    if isinstance(x, dict):
        return "{" + ", ".join(f"{k!r}: {_shape(v)}" for k, v in x.items()) + "}"
    if isinstance(x, list | tuple):
        return f"{type(x).__name__}(" + ", ".join(map(_shape, x)) + ")"
    name = {"float64": "float", "complex128": "complex"}.get(type(x).__name__, type(x).__name__)
    held = getattr(x, "__dict__", None)
    return f"{name}{_shape(held)}" if held and not callable(x) else name


def numbers(x: Any) -> list[str]:
    """Return all floats of a structure as texts from which the same floats are read."""
    found = leaves(x)
    found = found.astype(complex if found.dtype.kind == "c" else float)
    return [repr(v) for v in found.view(float).tolist()]


def is_scalar(x: Any) -> bool:
    """Say whether a value is one real number."""
    return np.shape(x) == () and isinstance(x, float | np.floating | np.ndarray)


# --- modes ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A program, what its plain call gives, tangents of its arguments, whether it writes these."""

    program: Program
    value: Any
    tangents: list[Any]
    writes: bool

    @staticmethod
    def of(p: Program) -> Subject:
        """Run a program."""
        args = p.arguments()
        tangents = [direction(a, 0.4 + i) if i in p.wrt else None for i, a in enumerate(args)]
        value = p.f(*args)
        return Subject(p, value, tangents, not same(args, p.arguments()))

    @property
    def wrt(self) -> int | tuple[int, ...]:
        """What is given to an operator."""
        return self.program.wrt if len(self.program.wrt) > 1 else self.program.wrt[0]


@dataclass(frozen=True)
class Way:
    """A mode: what makes arguments anew, what calls it, and what its text is."""

    given: Callable[[], Any]
    call: Callable[[Any], tuple[Any, Any]]
    text: Callable[[], str]
    entry: str


def value_and_grad(s: Subject) -> Way:
    """The value and the gradient of a scalar."""
    operator = s2sad.value_and_grad(s.program.f, wrt=s.wrt)
    return Way(
        s.program.arguments,
        lambda args: operator(*args),
        lambda: operator.source(*s.program.arguments()),
        "value_and_grad",
    )


def vjp(s: Subject) -> Way:
    """The value and what the pullback gives."""

    def call(args: Any) -> tuple[Any, Any]:
        value, pull = s2sad.vjp(s.program.f, *args, wrt=s.wrt)
        return value, pull(direction(s.value, 0.8))

    return Way(s.program.arguments, call, lambda: text_of(s, "vjp", s.wrt), "vjp")


def jvp(s: Subject) -> Way:
    """The value and its tangent."""
    return Way(
        s.program.arguments,
        lambda args: s2sad.jvp(s.program.f, args, s.tangents),
        lambda: text_of(s, "jvp", s.wrt),
        "jvp",
    )


def hvp(s: Subject) -> Way:
    """The gradient along a direction."""
    return Way(
        s.program.arguments,
        lambda args: (None, s2sad.hvp(s.program.f, args, s.tangents)),
        lambda: "",
        "hvp",
    )


def reverse(s: Subject) -> Way:
    """Reverse mode on the arguments themselves, with shadows of what is no number."""

    def given() -> list[Any]:
        found: list[Any] = []
        for i, a in enumerate(s.program.arguments()):
            if i not in s.program.wrt:
                found.append(s2sad.Const(a))
            elif isinstance(a, float | complex):
                found.append(s2sad.Active(a))
            else:
                found.append(s2sad.Duplicated(a, direction(a, 0.2 + i)))
        return found

    seed = None if is_scalar(s.value) else direction(s.value, 0.8)

    def call(given: Any) -> tuple[Any, Any]:
        value, bars = s2sad.autodiff(s2sad.Reverse, s.program.f, *given, seed=seed)
        shadows = [a.shadow for a in given if isinstance(a, s2sad.Duplicated)]
        return value, [bars, shadows, [a.value for a in given]]

    return Way(given, call, lambda: text_of(s, "reverse", None, given()), "reverse")


def text_of(s: Subject, mode: str, wrt: Any, args: Any = None) -> str:
    """Return the text of a mode."""
    args = s.program.arguments() if args is None else args
    return s2sad.source(s.program.f, mode=mode, wrt=wrt, args=args)


def ways_of(s: Subject, second: bool) -> Iterator[Callable[[Subject], Way]]:
    """Yield the modes of a program.

    Those that do not write what they are given look the same to autodiff: one in five is run there.
    """
    yield value_and_grad if is_scalar(s.value) else vjp
    yield jvp
    if s.writes or zlib.crc32(s.program.name.encode()) % 5 == 0:
        yield reverse
    if second and is_scalar(s.value):
        yield hvp


# --- records -------------------------------------------------------------------------------------


@dataclass
class Record:
    """What came of one mode of a program."""

    outcome: str
    message: str = ""
    shape: str = ""
    value: list[str] = field(default_factory=list)
    derivative: list[str] = field(default_factory=list)
    along: str = "nan"  # the derivative along the program's tangents, where the mode tells it
    lines: tuple[int, int] = (0, 0)
    times: tuple[float, float] = (0.0, 0.0)  # seconds to derive, microseconds of a call


def plain(message: str) -> str:
    """Return a message without places: numbers of lines, paths, names of loaded texts."""
    message = re.sub(r"<[\w ]*\d+>|(?:/[\w.-]+)+/|0x[0-9a-f]+|\b\w+_\d+\.py", "...", message)
    return re.sub(r"\b([Ll]ines?) \d+", r"\1 N", message)[:400]


def tried(s: Subject, of: Callable[[Subject], Way]) -> Record:
    """Return what comes of a mode; nothing that a program does ends the run."""
    try:
        with limited(SECONDS):
            return _run(s, of(s))
    except InternalError as error:
        return Record("dead", plain(f"InternalError: {error.reason}"))
    except s2sad.Error as error:
        return Record("refused", plain(f"{type(error).__name__}: {error.reason} {error.remedy}"))
    except NoEndError as error:
        return Record("dead", str(error))
    except Exception as error:
        return Record("dead", plain(f"{type(error).__name__}: {error}"))


def _run(s: Subject, way: Way) -> Record:
    args = way.given()
    gc.disable()  # a search for garbage takes longer than most derivations
    try:
        begin = time.process_time()
        value, derivative = way.call(args)
        first = time.process_time() - begin
    finally:
        gc.enable()
    record = Record("right", "", shape_of((value, derivative)), numbers(value), numbers(derivative))
    record.along = repr(_along(s, way.entry, leaves(derivative)))
    seconds = _timed(way)
    record.times = (round(max(first - seconds, 0.0), 5), round(1e6 * seconds, 2))
    try:
        record.lines = derived_lines(way.text(), {p.__name__ for p in called(s.program.f)})
    except s2sad.Error as error:
        record.message = plain(f"no text: {type(error).__name__}: {error.reason}")
    return record


def _along(s: Subject, mode: str, found: np.ndarray) -> float:
    """Return a derivative along the tangents of a program, not a number where that is not known."""
    if mode == "jvp" and found.size == 1:
        return float(found[0].real)
    tangents = leaves([s.tangents[i] for i in s.program.wrt])
    if mode != "value_and_grad" or tangents.size != found.size:
        return float("nan")
    return float((tangents @ found).real)


def _timed(way: Way) -> float:
    """Return the seconds of the fastest of some calls."""
    best, spent, count = np.inf, 0.0, 0
    while count < 3 or (count < CALLS and spent < SAMPLE):
        args = way.given()
        begin = time.process_time()
        way.call(args)
        seconds = time.process_time() - begin
        best, spent, count = min(best, seconds), spent + seconds, count + 1
    return float(best)


def slope(s: Subject) -> float | None:
    """Return the slope of a program along its tangents by differences, None where there is none."""
    if not is_scalar(s.value):
        return None

    def at(step: float) -> float:
        args = s.program.arguments()
        args = [stepped(a, t, step) for a, t in zip(args, s.tangents, strict=True)]
        return float(s.program.f(*args))

    try:
        return (at(STEP) - at(-STEP)) / (2.0 * STEP)
    except Exception:
        return None


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep warnings and what is printed back."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


def record(h: Held, second: bool = False) -> Found:
    """Return what comes of a program: of its plain call, and of every mode."""
    with quiet():
        try:
            with limited(SECONDS):
                s = Subject.of(h.make())
        except (Exception, NoEndError) as error:
            return {"plain": plain(f"{type(error).__name__}: {error}"), "modes": {}}
        if not s.program.wrt:
            return {"plain": "nothing to differentiate", "modes": {}}
        modes = {of.__name__: vars(tried(s, of)) for of in ways_of(s, second)}
        found = slope(s)
        lines = source_lines(s.program.f)
    return {
        "plain": "",
        "lines": lines,
        "value": numbers(s.value),
        "slope": repr(found),
        "modes": modes,
    }
