"""Features in pairs: a frame around another frame, around a statement that writes or calls.

    python tests/pairs.py --count 5000 --seed 1       how many are right, wrong, refused, dead
    python tests/pairs.py --show 17                   prints a program, and what comes of it
    python tests/pairs.py --show 17 --shrink          also the smallest program of the same outcome

Frames are branches, loops, functions, methods, exceptions and so on (pair_frames.py), statements
write arrays, lists, dicts and objects, or call what does (pair_statements.py). The number of a
program, its seed, says which two frames and which statement meet; every combination has seeds.

The program is a whole module, as those of programs.py are. Value, gradient or pullback, tangent and
both modes of autodiff, with shadows where these fit, are compared with the plain call and central
differences; but for autodiff, arguments stay as they are. Each program has an outcome: "right",
"wrong", "refused" (an s2sad.Error), or "dead" (any other exception, or no end).
"""

from __future__ import annotations

import argparse
import collections
import copy
import dataclasses
import functools
import random
import re
import signal
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from pair_frames import ELSEWHERE, FRAMES, STATE, Lines, Maker, Place, indented, needs
from pair_statements import CELL, STATEMENTS
from programs import TooLongError, load, shrink, traced, unload
from properties import close, leaves, same

import s2sad
from s2sad.errors import InternalError

COMBINATIONS = len(FRAMES) ** 2 * len(STATEMENTS)
STRIDE = 542_371  # a prime by the golden section: neighbouring seeds have nothing in common
STEP = 1e-6
FAULTS = (ArithmeticError, AssertionError, LookupError, NameError, TypeError, ValueError)
SECONDS = 20.0  # of the processor, for one program

# --- programs ------------------------------------------------------------------------------------

# How the names of the state are made where they are no parameters, from x and y if these are.
LOCALS = {
    "x": [
        "np.array([y, {n} * y, {n}])",
        "np.zeros(3)",
        "np.full(3, y)",
        "np.array([{n}, {n}, {n}])",
    ],
    "y": ["x[1] * {n}", "{n}", "np.sum(x) * {n}"],
    "z": ["y * {n}", "{n}", "x[0] * y", "0.0"],
    "c": ["[y * {n}, x[0], {n}]", "list(x)", "[e * {n} for e in x]", "[{n}, {n}, {n}]", "[y] * 3"],
    "d": ['{"u": y, "v": x[1]}', '{"u": {n}, "v": {n}}', "dict(u=y * {n}, v={n})"],
    "o": [
        "Cell(x[:2] * {n}, y)",
        "Cell(np.array([{n}, {n}]), {n})",
        "Cell(np.array([y, {n}]), {n})",
    ],
    "r": [
        "[x[1:] * {n}, x[:2] * y]",
        "[np.array([{n}, {n}]), np.array([y, {n}])]",
        "[np.array([{n}, {n}]), np.array([{n}, {n}])]",
        "[x[:2], x[1:]]",
    ],
    "w": ["np.outer([{n}, {n}], x)", "np.zeros((2, 3))", "np.array([x, x * y])"],
}
COPIES = {
    "x": "x.copy()",
    "c": "list(c)",
    "d": "dict(d)",
    "o": "Cell(o.s.copy(), o.m)",
    "w": "w * 1.0",
}
EXAMPLES = {
    "x": "np.array([{p}, {p}, {p}])",
    "y": "{p}",
    "z": "{p}",
    "c": "[{p}, {p}, {p}]",
    "d": '{"u": {p}, "v": {p}}',
    "o": "Cell(np.array([{p}, {p}]), {p})",
    "r": "[np.array([{p}, {p}]), np.array([{p}, {p}])]",
    "w": "np.array([[{p}, {p}, {p}], [{p}, {p}, {p}]])",
}
RESULTS = {
    "x": ["np.sum(x * x)", "x[0] * x[-1] + x[1]"],
    "y": ["y * y", "y"],
    "z": ["z * z", "np.sin(z)"],
    "c": ["sum(c)", "c[0] * c[-1]", "sum([e * e for e in c])"],
    "d": ['d["u"] * d["v"]', "sum(d.values())"],
    "o": ["o.m * np.sum(o.s)", "o.total() + o.s[0] ** 2"],
    "r": ["np.sum(r[0] * r[1])", "sum([np.sum(e * e) for e in r])"],
    "w": ["np.sum(w * w)", "np.sum(w[0] * w[1])"],
}
HERE = "# here"
HEAD = "import contextlib\nimport functools\nimport math\n\nimport numpy as np\n"


@dataclasses.dataclass(frozen=True)
class Pair:
    """A program: its text, and what meets in it."""

    seed: int
    text: str
    frames: tuple[str, str]
    statement: str


def combination(seed: int) -> tuple[int, int, int]:
    """Return the numbers of the outer and the inner frame and of the statement of a seed."""
    left, statement = divmod(seed * STRIDE % COMBINATIONS, len(STATEMENTS))
    return *divmod(left, len(FRAMES)), statement


def seed_of(outer: str, inner: str, statement: int) -> int:
    """Return the first seed at which two frames, by their names, and a statement meet."""
    names = [f.__name__ for f in FRAMES]
    number = (names.index(outer) * len(FRAMES) + names.index(inner)) * len(STATEMENTS) + statement
    return number * pow(STRIDE, -1, COMBINATIONS) % COMBINATIONS


def candidate(seed: int, attempt: int) -> Pair:
    """Return a program of a seed: which of them is used is decided by running it."""
    outer, inner, statement = combination(seed)
    g = Maker(random.Random(f"{seed} {attempt}"), [])
    palette = {*needs(statement), "y", g.pick(STATE)} | ({"x"} if g.chance(0.5) else set())
    g.palette = [n for n in STATE if n in palette]

    def core(at: Place) -> Lines:
        first, *others = g.filled(statement)
        return [f"{first}  {HERE}", *others]

    lines = FRAMES[outer](g, Place("@end"), lambda at: FRAMES[inner](g, at, core))
    lines = [*lines, *g.other()]
    text = _module(g, lines)
    return Pair(
        seed, text, (FRAMES[outer].__name__, FRAMES[inner].__name__), STATEMENTS[statement][0]
    )


def _module(g: Maker, lines: Lines) -> str:
    """Return the text of a whole module around the lines of f."""
    used, _ = g.given(lines)
    params = [n for n in used if g.chance(0.85 if n in "xy" else 0.55)] or used[:1]
    made, missing = [], [n for n in used if n not in params]
    for n in missing:
        have = set(params) | set(missing[: missing.index(n)])
        forms = [t for t in LOCALS[n] if set(re.findall(r"\b[xy]\b", t)) <= have]
        made.append(f"{n} = {_numbered(g, g.pick(forms))}")
    made += [f"{n} = {COPIES[n]}" for n in params if n in COPIES and g.chance(0.15)]
    result = _result(g, used)
    body = [*made, *lines, f"return {result}"]
    body = [line.replace("return @end", f"return {result}") for line in body]
    examples = [_numbered(g, EXAMPLES[n]) for n in params]
    parts = [HEAD, CELL.strip("\n"), *g.module]
    parts.append("\n".join([f"def f({', '.join(params)}):", *indented(body)]))
    parts.append(f"def arguments():\n    return [{', '.join(examples)}]")
    parts.append(f"WRT = {tuple(range(len(params)))!r}")
    return "\n\n\n".join(parts) + "\n"


def _numbered(g: Maker, text: str) -> str:
    """Return text with numbers in their places."""
    while "{n}" in text:
        text = text.replace("{n}", g.number(), 1)
    while "{p}" in text:
        sign = g.pick(["", "", "", "-"])
        text = text.replace("{p}", sign + repr(round(g.rng.uniform(0.2, 1.2), 3)), 1)
    return text


def _result(g: Maker, used: list[str]) -> str:
    """Return the text of what f returns, of all names or of some: mostly a number."""
    kept = used if g.chance(0.7) else [g.pick(used)]
    if g.chance(0.15):
        return g.pick([", ".join(kept), f"[{', '.join(kept)}]", kept[0], f"{kept[-1]}, {kept[0]}"])
    terms = [g.pick(RESULTS[n]) for n in kept]
    return " + ".join([terms[0], *(f"{g.number()} * ({t})" for t in terms[1:])])


@functools.lru_cache(maxsize=64)
def generate(seed: int) -> Pair:
    """Return the program of a seed: the first of its candidates that runs, and is smooth there.

    Its statement is reached, unless none of the first candidates reaches it.
    """
    reasons = collections.Counter()
    for attempt in range(200):
        pair = candidate(seed, attempt)
        module = load(pair.text, f"pair_{seed}")
        try:
            with limited(SECONDS):
                if attempt < 40 and not _reached(module, pair.text):
                    raise UnfairError("unreached")
                Expected.of(module)
            return dataclasses.replace(pair, text=pair.text.replace(f"  {HERE}", ""))
        except UnfairError as error:
            reasons[str(error)] += 1
        finally:
            unload(module)
    raise AssertionError(f"seed {seed} has no program: {reasons}\n{pair.text}")


def _reached(module: types.ModuleType, text: str) -> bool:
    """Say whether the statement of a program is executed."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            _, executed = traced(module, module.f, module.arguments())
        except (TooLongError, *FAULTS):
            return False
    return any(HERE in line for n, line in enumerate(text.split("\n"), 1) if n in executed)


# --- what is expected ----------------------------------------------------------------------------


class UnfairError(Exception):
    """A program says nothing: it raises, or has no derivative where it runs."""


class NoEndError(BaseException):
    """A program, or its derivation, took too long."""


class limited:
    """Raise where what stands inside takes longer than some seconds of the processor."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        def stop(*_: Any) -> None:
            raise NoEndError(f"no end after {self.seconds} s")

        self.before = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, self.before)


def waves(count: int, shift: float) -> np.ndarray:
    """Return numbers that have nothing to do with anything: weights, directions, shadows."""
    return np.cos(1.7 * np.arange(count) + shift)


def moved(x: Any, numbers: Iterator[float]) -> Any:
    """Return a structure with other numbers at the places of its numbers."""
    if isinstance(x, np.ndarray):
        return np.array([next(numbers) for _ in range(x.size)]).reshape(x.shape)
    if isinstance(x, float):
        return float(next(numbers))
    if isinstance(x, list | tuple):
        return type(x)(moved(part, numbers) for part in x)
    if isinstance(x, dict):
        return {key: moved(part, numbers) for key, part in x.items()}
    new = copy.copy(x)
    vars(new).update({key: moved(part, numbers) for key, part in vars(x).items()})
    return new


def filled(x: Any, numbers: np.ndarray) -> Any:
    """Return a structure like x filled from a vector."""
    return moved(x, iter(numbers.tolist()))


def dot(weights: np.ndarray, x: Any) -> float:
    """Return the numbers of a structure times as many weights."""
    numbers = leaves(x)
    return float(weights[: len(numbers)] @ numbers)


@dataclasses.dataclass(frozen=True)
class Expected:
    """What the plain call gives, and its slopes.

    A row of `slopes` belongs to a number of the arguments, the first column to the result, the
    others to the final content of an argument each: all times weights.
    """

    value: Any
    final: list[Any]
    slopes: np.ndarray
    weights: np.ndarray
    shadows: list[Any]

    @staticmethod
    def of(module: types.ModuleType) -> Expected:
        """Run a program, and take differences; raise UnfairError where these are none."""
        args = module.arguments()
        vector = leaves(args)

        def run(numbers: np.ndarray) -> tuple[Any, list[Any], np.ndarray]:
            given = filled(args, numbers)
            value = module.f(*given)
            return value, given, np.array([_sum(value, 0.3), *(_sum(a, 0.9) for a in given)])

        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                value, final, at = run(vector)
                if not (np.all(np.isfinite(at)) and np.abs(at).max() < 1e4):
                    raise UnfairError("wild")
                slopes = _slopes(run, vector, STEP)
                if not np.allclose(_slopes(run, vector, 3 * STEP), slopes, rtol=1e-4, atol=1e-4):
                    raise UnfairError("kink")
            except FAULTS as error:
                raise UnfairError(f"{type(error).__name__}: {error}") from None
        if np.abs(slopes).max(initial=0.0) > 1e4:
            raise UnfairError("steep")
        if not len(leaves(value)):
            raise UnfairError("no number")
        shadows = [filled(a, waves(len(leaves(a)), 0.9)) for a in args]
        return Expected(value, final, slopes, waves(len(leaves(value)), 0.3), shadows)


def _sum(x: Any, shift: float) -> float:
    numbers = leaves(x)
    return float(waves(len(numbers), shift) @ numbers)


def _slopes(run: Callable[..., Any], vector: np.ndarray, step: float) -> np.ndarray:
    moves = np.eye(len(vector)) * step
    return np.array([(run(vector + m)[2] - run(vector - m)[2]) / (2 * step) for m in moves])


# --- what is found -------------------------------------------------------------------------------


class WrongError(Exception):
    """A derivative, or a value, is not what it must be."""


def agree(what: str, got: Any, want: Any) -> None:
    """Raise where two vectors differ."""
    got, want = np.atleast_1d(got), np.atleast_1d(want)
    if not close(got, want):
        raise WrongError(f"{what}: {got} where differences give {want}")


def alike(what: str, got: Any, want: Any) -> None:
    """Raise where two structures differ."""
    if not same(_plain(got), _plain(want)):
        raise WrongError(f"{what}: {got!r} and not {want!r}")


def _plain(x: Any) -> Any:
    """Return a structure without the difference between np.float64 and float."""
    if isinstance(x, np.floating):
        return float(x)
    return type(x)(map(_plain, x)) if isinstance(x, list | tuple) else x


def whole(like: Any, tangent: Any) -> Any:
    """Return a tangent with zeros where it is None."""
    if tangent is None:
        return filled(like, np.zeros(len(leaves(like))))
    if isinstance(like, list | tuple):
        return [whole(a, b) for a, b in zip(like, tangent, strict=True)]
    if isinstance(like, dict):
        return {key: whole(like[key], tangent[key]) for key in like}
    if hasattr(like, "__dict__"):
        return [whole(getattr(like, key), getattr(tangent, key)) for key in vars(like)]
    return tangent


def reverse(tool: Any, module: types.ModuleType, e: Expected) -> None:
    """Compare the gradient, or the cotangents that a pullback gives."""
    args = module.arguments()
    if isinstance(e.value, float):
        value, bars = tool.value_and_grad(module.f, wrt=module.WRT)(*args)
        want = e.slopes[:, 0] / e.weights[0]
    else:
        value, pull = tool.vjp(module.f, *args, wrt=module.WRT)
        bars, want = pull(filled(e.value, e.weights)), e.slopes[:, 0]
    alike("arguments of the gradient", args, module.arguments())
    alike("value of the gradient", value, e.value)
    agree("gradient", leaves(whole(module.arguments(), bars)), want)


def forward(tool: Any, module: types.ModuleType, e: Expected) -> None:
    """Compare the derivative along a direction."""
    args = module.arguments()
    direction = waves(len(e.slopes), 0.5)
    value, tangent = tool.jvp(module.f, tuple(args), tuple(filled(args, direction)))
    alike("arguments of jvp", args, module.arguments())
    alike("value of jvp", value, e.value)
    agree("jvp", dot(e.weights, whole(e.value, tangent)), direction @ e.slopes[:, 0])


def shadowed(e: Expected, args: list[Any]) -> list[bool]:
    """Say which arguments may have shadows: structures that are as large in the end."""
    return [
        not isinstance(a, float) and len(leaves(a)) == len(leaves(b))
        for a, b in zip(args, e.final, strict=True)
    ]


def autodiff_reverse(tool: Any, module: types.ModuleType, e: Expected, duplicated: bool) -> None:
    """Compare autodiff(Reverse, ...), with shadows that hold cotangents of final contents."""
    args = module.arguments()
    has = [duplicated and fits for fits in shadowed(e, args)]
    shadows = copy.deepcopy(e.shadows)
    given = [
        s2sad.Duplicated(a, b) if h else s2sad.Active(a) for a, b, h in zip(args, shadows, has)
    ]
    scalar = isinstance(e.value, float)
    seed = None if scalar else filled(e.value, e.weights)
    value, bars = tool.autodiff(s2sad.Reverse, module.f, *given, seed=seed)
    alike("value of autodiff(Reverse)", value, e.value)
    alike("arguments after autodiff(Reverse)", args, e.final)
    want = e.slopes[:, 0] / (e.weights[0] if scalar else 1.0)
    want = want + sum(e.slopes[:, 1 + k] for k, h in enumerate(has) if h)
    got = leaves(
        [b if h else whole(a, c) for a, b, c, h in zip(module.arguments(), shadows, bars, has)]
    )
    agree("autodiff(Reverse)", got, want)


def autodiff_forward(tool: Any, module: types.ModuleType, e: Expected) -> None:
    """Compare autodiff(Forward, ...), and the tangents of final contents in its shadows."""
    args = module.arguments()
    direction = waves(len(e.slopes), 0.5)
    dots = filled(args, direction)
    given = [s2sad.Duplicated(a, b) for a, b in zip(args, dots)]
    value, tangent = tool.autodiff(s2sad.Forward, module.f, *given)
    alike("value of autodiff(Forward)", value, e.value)
    alike("arguments after autodiff(Forward)", args, e.final)
    agree("autodiff(Forward)", dot(e.weights, whole(e.value, tangent)), direction @ e.slopes[:, 0])
    for k, (a, b) in enumerate(zip(args, dots)):
        if not isinstance(a, float):
            agree(f"shadow {k} of autodiff(Forward)", _sum(b, 0.9), direction @ e.slopes[:, 1 + k])


def with_or_without_shadows(tool: Any, module: types.ModuleType, e: Expected) -> None:
    """Compare autodiff(Reverse, ...); where shadows are refused, without them."""
    try:
        autodiff_reverse(tool, module, e, True)
    except InternalError:
        raise
    except s2sad.Error:
        autodiff_reverse(tool, module, e, False)


Way = Callable[..., None]
Ways = tuple[Way, ...]
WAYS: Ways = (reverse, forward, with_or_without_shadows, autodiff_forward)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a program: a word, and details; `reason` is the same for all of a kind."""

    word: str
    details: str = ""
    reason: str = ""


RANK = ("right", "refused", "wrong", "dead")


def outcome(text: str, seconds: float = SECONDS, ways: Ways = WAYS, tool: Any = s2sad) -> Outcome:
    """Return the worst that comes of a program in some ways of differentiating it."""
    module = load(text, "pair")
    try:
        with limited(seconds):
            expected = Expected.of(module)
            found = [tried(way, module, expected, tool) for way in ways]
        return max(found, key=lambda o: RANK.index(o.word))
    except NoEndError as error:
        return Outcome("dead", traceback.format_exc(), str(error))
    except UnfairError as error:
        return Outcome("unfair", str(error), "unfair")
    finally:
        unload(module)


def tried(way: Way, module: types.ModuleType, expected: Expected, tool: Any) -> Outcome:
    """Return what comes of one way of differentiating a program."""
    name = way.__name__
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            way(tool, module, expected)
        return Outcome("right")
    except WrongError as error:
        return Outcome("wrong", f"{name}: {error}", str(error).partition(":")[0])
    except InternalError as error:
        details = f"{name}: {traceback.format_exc()}"
        return Outcome("dead", details, f"InternalError: {_kind(error.reason)}")
    except s2sad.Error as error:
        return Outcome("refused", f"{name}: {error}", _kind(error.reason))
    except Exception as error:
        details = f"{name}: {traceback.format_exc()}"
        return Outcome("dead", details, f"{type(error).__name__}: {_kind(str(error))}")


def _kind(reason: str) -> str:
    """Return a message without the names in it."""
    return "`".join("..." if i % 2 else part for i, part in enumerate(reason.split("`")))[:110]


def smaller(text: str, word: str, reason: str, tries: int = 1500) -> str:
    """Return the smallest program that comes out alike."""

    def alike(shorter: str) -> bool:
        got = outcome(shorter, 5.0)
        return (got.word, got.reason) == (word, reason)

    return shrink(text, alike, tries, valid=lambda _: True)


# --- what is printed -----------------------------------------------------------------------------


def show(seed: int, small: bool = False) -> str:
    """Return a program with what comes of it, and how to run it again."""
    pair = generate(seed)
    got = outcome(pair.text)
    frames = " around ".join(pair.frames)
    lines = [
        f"# seed {seed}: {frames}, around",
        *(f"#     {s}" for s in pair.statement.split("\n")),
    ]
    lines += [pair.text, f"# {got.word}: {got.details}"]
    if small and got.word != "right":
        lines += ["# shrunk to", smaller(pair.text, got.word, got.reason)]
    return "\n".join([*lines, f"# again: python tests/pairs.py --show {seed} --shrink"])


def survey(first: int, count: int, listed: int) -> None:
    """Print how many programs are right, wrong, refused, dead, and what is refused most."""
    words, reasons, elsewhere = collections.Counter(), collections.Counter(), collections.Counter()
    start = time.process_time()
    for seed in range(first, first + count):
        pair = generate(seed)
        got = outcome(pair.text)
        words[got.word] += 1
        reasons[got.word, got.reason] += 1
        if set(pair.frames) & set(ELSEWHERE):
            elsewhere[got.word] += 1
        if got.word in ("wrong", "dead"):
            print(f"{seed}: {got.word}: {' > '.join(pair.frames)}: {got.reason}", flush=True)
    spent = time.process_time() - start
    print(f"{count} programs from seed {first}: {spent:.0f} s of the processor")
    print(", ".join(f"{words[w]} {w}" for w in RANK))
    print("of these, a call in a test or an operand:", dict(elsewhere))
    for (word, reason), number in reasons.most_common(listed):
        if word != "right":
            print(f"{number:6}  {word}: {reason}")


def main() -> None:
    """Print a program, or what comes of many."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--show", type=int, metavar="SEED")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--listed", type=int, default=25)
    options = parser.parse_args()
    if options.show is not None:
        print(show(options.show, options.shrink))
    else:
        survey(options.seed * options.count, options.count, options.listed)


if __name__ == "__main__":
    main()
