"""How many of the calls that people write are differentiated rightly: by s2sad, and by others.

    python tests/benchmarks/probe.py                     # s2sad, HIPS/autograd and JAX, as a table
    python tests/benchmarks/probe.py s2sad --failures    # what is not right, call by call
    python tests/benchmarks/probe.py s2sad --only fft    # calls with "fft" in section or text

probe_calls.txt holds the calls: the name of the argument, which is one of ARGS, and what is called
with it, as x. The other names of ARGS are constants there. What is refused because the content of
an array decides of what kind the result is, is counted apart, as refused "by nature". A call counts
as right if the gradient of a sum of its results, weighted by chance, agrees with differences in
every coordinate; with s2sad `vjp` and `jvp` of the call itself must, too. autograd and JAX get the
same text with their own NumPy and SciPy in the place of the others.
"""

from __future__ import annotations

import argparse
import cmath
import functools
import importlib
import importlib.metadata
import importlib.util
import itertools
import linecache
import math
import operator
import signal
import statistics
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import s2sad
from s2sad.testing import differences

CALLS = Path(__file__).with_name("probe_calls.txt")
LIBRARIES = ("s2sad", "autograd", "jax")
SCIPY = (
    "special linalg fft signal ndimage interpolate integrate sparse sparse.linalg stats optimize "
    "spatial.distance"
)
TOLERANCE = 1e-6
SECONDS = 120

_rng = np.random.default_rng(1604)


def _r(*shape: int) -> Any:
    return _rng.normal(size=shape)


def _square(*shape: int) -> Any:
    return _r(*shape) + 3.0 * np.eye(shape[-1])


_A, _c = _r(3, 4), _r(5) + 1j * _r(5)
_P = _r(4, 4)
_N = _r(3, 4)
_N[0, 1] = _N[2, 2] = np.nan
_O = _r(3, 4)
_O[1, 2] = 0.0
_O2 = _O.copy()
_O2[0, 3] = 0.0

# One capital letter is a matrix, a small one a vector; what they are chosen for stands beside them.
ARGS: dict[str, Any] = {
    "s": 0.7,
    "k": 0.6 - 0.8j,
    "z": np.array(0.7),
    "v": np.array([0.83, -1.27, 0.41, 1.62, -0.38]),
    "u": np.array([0.31, 0.84, 0.57, 0.12, 0.69]),  # between 0 and 1
    "p": np.array([1.31, 2.84, 1.57, 3.12, 1.09]),  # above 1
    "g": np.array([0.83, -1.27, 0.41], dtype=np.float32),
    "c": _c,
    "l": [0.83, -1.27, 0.41],
    "t": (0.83, -1.27, 0.41),
    "n": _N,
    "o": _O,  # one entry is 0
    "o2": _O2,  # two entries are 0
    "A": _A,
    "T": _r(2, 3, 4),
    "M": _square(4, 4),
    "S": _square(2, 3, 3),
    "P": _P @ _P.T + 4.0 * np.eye(4),
    "C": _r(3, 4) + 1j * _r(3, 4),
    "K": _square(4, 4) + 1j * _r(4, 4),
    "H": _r(4, 4) + 1j * _r(4, 4),
    "E": np.array([[0.5, 2.0, 0.1], [-1.5, 0.7, 0.3], [0.2, 0.4, -1.0]]),  # complex eigenvalues
    "G": _r(2, 2),
    "AA": _r(3, 3),
    "AB": np.array([[0.0, 0.3, -0.2, 0.5], [3.1, 2.8, 3.4, 2.9], [0.4, -0.6, 0.2, 0.0]]),
    "r": np.array([[1.0, 2.0, 0.5], [2.0, 4.0, 1.0], [0.3, -1.0, 2.0]]),  # singular
    "q4": np.reshape(_square(4, 4), (2, 2, 2, 2)),
    "B4": _r(4, 2),
    "w4": np.array([0.5, 1.2, -0.3, 0.9]),
    "y5": np.array([0.62, 1.13, -0.94, 0.27, -1.71]),
    "u5": np.array([0.22, 0.67, 0.91, 0.45, 0.08]),
    "sy5": np.array([0.1, 0.7, 1.2, 1.9, 2.4]),  # increasing
    "cc": np.array([[0.3, 1.2, 0.7], [1.1, 2.4, 0.6]]),
    "A3": _r(3, 4),
    "A5": _r(2, 5),
    "B3": _r(3, 4),
    "BB": _r(3, 3),
    "T3": _r(2, 3, 4),
    "M4": _square(4, 4),
    "P4": _P.T @ _P + 4.0 * np.eye(4),
    "AB3": np.array([[0.0, 0.3, -0.2, 0.5], [3.1, 2.8, 3.4, 2.9], [0.4, -0.6, 0.2, 0.0]]),
    "SP": np.array([[1.0, 0, 0, 2.0, 0], [0, 0, 3.0, 0, 0], [0, -1.0, 0, 0, 4.0]]),
    "LBL": np.array([[1, 1, 0, 2], [0, 1, 2, 2], [1, 0, 0, 2]]),
    "c5": _r(5) + 1j * _r(5),
    "p5": np.array([1.31, 2.84, 1.57, 3.12, 1.09]),
    "i5": np.array([0, 2, 1, 2, 3]),
    "m5": np.array([True, False, True, True, False]),
    "mA": np.array([[1, 0, 1, 1], [0, 1, 1, 1], [1, 1, 0, 1]], dtype=bool),
}


# Calls that depend on what LAPACK is free to choose.
BY_NATURE = frozenset({"w, V = np.linalg.eigh(x + x.conj().T); (w, np.abs(V))"})


@dataclass(frozen=True)
class Call:
    section: str
    argument: str
    text: str

    def program(self, name: str) -> str:
        """The function of x, as text."""
        *before, last = self.text.split("; ")
        return "\n    ".join([f"def {name}(x):", *before, f"return {last}"]) + "\n"


@dataclass(frozen=True)
class Verdict:
    call: Call
    word: str  # right, wrong, refused, by nature (both s2sad only), error; invalid: NumPy fails
    why: str = ""


def calls(only: str | None = None) -> list[Call]:
    """The calls of probe_calls.txt, in order."""
    found, section = [], ""
    for line in CALLS.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = line[2:]
            continue
        argument, text = line.split(": ", 1)
        call = Call(section, argument, text)
        if only is None or only in section or only in text:
            found.append(call)
    return found


# --- programs ------------------------------------------------------------------------------------


def names(library: str) -> dict[str, Any]:
    """What the calls see as np, scipy, ..., and the constants."""
    space = dict(ARGS, cmath=cmath, functools=functools, itertools=itertools, math=math)
    space.update(operator=operator, statistics=statistics)
    if library == "autograd":
        space["np"] = importlib.import_module("autograd.numpy")
        space["scipy"] = _modules("autograd.scipy", "special linalg signal stats integrate")
    elif library == "jax":
        importlib.import_module("jax").config.update("jax_enable_x64", True)
        space["np"] = importlib.import_module("jax.numpy")
        parts = "special linalg fft signal ndimage interpolate integrate stats optimize"
        space["scipy"] = _modules("jax.scipy", parts)
        space = {k: space["np"].asarray(v) if _array(v) else v for k, v in space.items()}
    else:
        space["np"] = np
        if importlib.util.find_spec("scipy") is not None:
            for part in SCIPY.split():
                importlib.import_module(f"scipy.{part}")
            space["scipy"] = importlib.import_module("scipy")
    return space


def _modules(package: str, parts: str) -> Any:
    found = types.SimpleNamespace()
    for part in parts.split():
        try:
            setattr(found, part, importlib.import_module(f"{package}.{part}"))
        except ImportError:
            continue
    return found


def _array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def function(text: str, name: str, space: dict[str, Any]) -> Callable[[Any], Any]:
    """The function of a text, with the text where inspect finds it."""
    filename = f"<{name} {next(_count)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), space)
    made: Callable[[Any], Any] = space[name]
    return made


_count = itertools.count()


def weighing(value: Any, space: dict[str, Any]) -> str:
    """The text of loss(x), the weighted sum of call(x); the weights are put into space."""
    rng = np.random.default_rng(7)
    terms = []
    for path, leaf in leaves(value):
        whole = np.asarray(leaf)
        if whole.dtype.kind not in "fc":
            continue
        for part, wanted in (("real", True), ("imag", whole.dtype.kind == "c")):
            if not wanted:
                continue
            weights = f"W{len(terms)}"
            space[weights] = rng.uniform(0.5, 1.5, size=whole.shape)
            read = f"np.{part}(y{path})" if whole.dtype.kind == "c" else f"y{path}"
            terms.append(f"np.sum({weights} * {read})")
    return f"def loss(x):\n    y = call(x)\n    return {' + '.join(terms)}\n"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers and arrays of a result, each with the subscripts that lead there."""
    if isinstance(value, tuple | list):
        for i, part in enumerate(value):
            yield from leaves(part, f"{path}[{i}]")
    elif value is not None:
        yield path, value


# --- derivatives as vectors of real numbers ------------------------------------------------------


def coordinates(value: Any) -> list[Any]:
    """One direction for each real coordinate of the argument, with its structure."""
    if isinstance(value, tuple | list):
        wholes = [np.eye(len(value))[i] for i in range(len(value))]
        return [type(value)(map(float, row)) for row in wholes]
    shape, complex_ = np.shape(value), np.iscomplexobj(value)
    found: list[Any] = []
    for i in range(int(np.size(value))):
        for unit in (1.0, 1j) if complex_ else (1.0,):
            one = np.zeros(np.size(value), dtype=complex if complex_ else float)
            one[i] = unit
            found.append(one.reshape(shape) if _array(value) else type(value)(one[0]))
    return found


def inner(bar: Any, direction: Any) -> float:
    """The slope along a direction that a cotangent gives."""
    if isinstance(direction, tuple | list):
        return sum(inner(b, d) for b, d in zip(bar, direction, strict=True))
    return float(np.sum(np.asarray(bar) * np.asarray(direction)).real)


def double(value: Any) -> Any:
    return value.astype(np.float64) if _array(value) and value.dtype == np.float32 else value


def slopes(loss: Callable[[Any], Any], x: Any) -> tuple[np.ndarray, np.ndarray]:
    """The slopes of loss along all coordinates, by differences, and bounds on their errors."""
    pairs = [differences(loss, (x,), (direction,)) for direction in coordinates(x)]
    return np.array([float(p[0]) for p in pairs]), np.array([float(p[1]) for p in pairs])


def differ(found: np.ndarray, expected: np.ndarray, bounds: np.ndarray, loose: bool) -> str:
    """What is wrong with found, or nothing."""
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    allowed = 10.0 * bounds + (1e-3 if loose else TOLERANCE) * scale
    off = ~(np.abs(found - expected) <= allowed)
    if not off.any():
        return ""
    i = int(np.argmax(off))
    return f"coordinate {i}: {found[i]:.8g} for {expected[i]:.8g}"


# --- verdicts ------------------------------------------------------------------------------------


class SlowError(Exception):
    """The call took too long."""


def judge(library: str, call: Call) -> Verdict:
    """The verdict on one call, in the time allowed."""

    def late(*_: object) -> None:
        raise SlowError(f"more than {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return _judged(library, call)
    except SlowError as error:
        return Verdict(call, "error", str(error))
    finally:
        signal.alarm(0)


def _judged(library: str, call: Call) -> Verdict:
    x = ARGS[call.argument]
    plain = names("s2sad")
    try:
        exact = function(call.program("call"), "call", plain)
        value = exact(double(x))
        text = weighing(value, plain)
        expected, bounds = slopes(function(text, "loss", plain), double(x))
    except Exception as error:
        return Verdict(call, "invalid", f"{type(error).__name__}: {error}")
    loose = _array(x) and x.dtype == np.float32
    single = any(np.asarray(leaf).dtype == np.float32 for _, leaf in leaves(value))
    check = functools.partial(differ, expected=expected, bounds=bounds, loose=loose or single)
    if not np.all(bounds < 1e-3 * max(1.0, float(np.max(np.abs(expected))))):
        return Verdict(call, "invalid", "differences do not settle")
    found = {"s2sad": _s2sad, "autograd": _autograd, "jax": _jax}[library]
    try:
        results = found(call, text, plain, x, value)
    except (s2sad.Error, ImportError) as error:
        return Verdict(call, "by nature" if call.text in BY_NATURE else "refused", _short(error))
    except SlowError:
        raise
    except Exception as error:
        return Verdict(call, "error", _short(error))
    for mode, result in results.items():
        wrong = check(result)
        if wrong:
            return Verdict(call, "wrong", f"{mode}: {wrong}")
    return Verdict(call, "right")


def _short(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()] or [""]
    said = lines[-1].strip() if isinstance(error, s2sad.Error) else lines[0].strip()
    return f"{type(error).__name__}: {said}"


def _along(bar: Any, x: Any) -> np.ndarray:
    return np.array([inner(bar, direction) for direction in coordinates(double(x))])


def _s2sad(call: Call, text: str, space: dict[str, Any], x: Any, value: Any) -> dict[str, Any]:
    f, loss = space["call"], function(text, "loss", space)
    results = {"grad": _along(s2sad.grad(loss)(x), x)}
    y, pullback = s2sad.vjp(f, x)
    results["vjp"] = _along(pullback(_seeds(y, space)), x)
    directions = [_cast(direction, x) for direction in coordinates(x)]
    tangents = [s2sad.jvp(f, (x,), (direction,))[1] for direction in directions]
    results["jvp"] = np.array([_weighed(y, tangent, space) for tangent in tangents])
    return results


def _cast(direction: Any, x: Any) -> Any:
    return direction.astype(x.dtype) if _array(x) else direction


def _seeds(value: Any, space: dict[str, Any]) -> Any:
    """The cotangent of a result that the weights of the loss mean: real - 1j * imaginary."""
    count = itertools.count()

    def of(leaf: Any) -> Any:
        if isinstance(leaf, tuple | list):
            parts = [of(part) for part in leaf]
            return type(leaf)(*parts) if hasattr(leaf, "_fields") else type(leaf)(parts)
        kind = np.asarray(leaf).dtype.kind if leaf is not None else "i"
        if kind not in "fc":
            return None
        seed = space[f"W{next(count)}"]
        if kind == "c":
            seed = seed - 1j * space[f"W{next(count)}"]
        if _array(leaf):
            return np.asarray(seed, dtype=leaf.dtype)
        return type(leaf)(seed[()])

    return of(value)


def _weighed(value: Any, tangent: Any, space: dict[str, Any]) -> float:
    if isinstance(value, tuple | list):
        seeds = leaves(_seeds(value, space))
        places = {path: seed for path, seed in seeds if seed is not None}
        found = dict(leaves(tangent))
        return sum(inner(found[path], seed) for path, seed in places.items())
    return inner(tangent, _seeds(value, space))


def _autograd(call: Call, text: str, plain: dict[str, Any], x: Any, _: Any) -> dict[str, Any]:
    space = names("autograd") | {k: v for k, v in plain.items() if k.startswith("W")}
    function(call.program("call"), "call", space)
    gradient = importlib.import_module("autograd").grad(function(text, "loss", space))(x)
    return {"grad": _along(gradient, x)}


def _jax(call: Call, text: str, plain: dict[str, Any], x: Any, _: Any) -> dict[str, Any]:
    space = names("jax") | {k: v for k, v in plain.items() if k.startswith("W")}
    function(call.program("call"), "call", space)
    given = space["np"].asarray(x) if _array(x) else x
    gradient = importlib.import_module("jax").grad(function(text, "loss", space))(given)
    return {"grad": _along(gradient, x)}


# --- the table -----------------------------------------------------------------------------------


def version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return ""


def table(verdicts: dict[str, list[Verdict]]) -> str:
    """How many calls of each section each library differentiates rightly."""
    columns = list(verdicts)
    valid = [v.call for v in next(iter(verdicts.values())) if v.word != "invalid"]
    sections = list(dict.fromkeys(call.section for call in valid))
    head = [f"{name} {version(name)}".strip() for name in columns]
    lines = [f"| | calls | {' | '.join(head)} |", "|" + "---|" * (len(columns) + 2)]
    for section in [*sections, None]:
        here = {c for c in valid if section in (None, c.section)}
        counts = [
            sum(v.word == "right" and v.call in here for v in verdicts[name]) for name in columns
        ]
        total = sum(c in here for c in valid)
        title = "all" if section is None else section
        lines.append(f"| {title} | {total} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("library", nargs="*", help="s2sad, autograd, jax; default: what is there")
    parser.add_argument("--only", help="only calls whose section or text has this in it")
    parser.add_argument("--failures", action="store_true", help="list what is not right")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    libraries = options.library or [name for name in LIBRARIES if version(name)]
    chosen = calls(options.only)
    verdicts = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for library in libraries:
            judged = pool.map(functools.partial(judge, library), chosen, chunksize=20)
            verdicts[library] = list(judged)
    for library, found in verdicts.items():
        print(f"{library}: {dict(Counter(v.word for v in found))}")
        for v in found if options.failures else ():
            if v.word != "right":
                print(f"  {v.word:8} {v.call.argument}: {v.call.text}\n           {v.why[:160]}")
    print(table(verdicts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
