"""The measures of the redesign: what the house is, and how derivatives do, in one table.

    python tests/benchmarks/measures.py                         all of it, some minutes
    python tests/benchmarks/measures.py --quick                 about a minute
    python tests/benchmarks/measures.py --json before.json      writes the figures, too
    python tests/benchmarks/measures.py --before before.json    beside earlier ones
    python tests/benchmarks/measures.py --only house --lists    one part; lists of names by file
    python tests/benchmarks/measures.py --only pairs --pairs 1000

The parts: house, deriving, linear, kernels, hand, pairs, calls. Kernels are those of
kernel_cases.py; those that are refused count as refused, and nowhere else. Times of calls are
medians of interleaved rounds on one thread. All times are those of the processor: what else the
machine does is not in them.
"""

from __future__ import annotations

import os

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
os.environ.update(dict.fromkeys(THREADS, "1"))

import argparse  # noqa: E402
import ast  # noqa: E402
import contextlib  # noqa: E402
import gc  # noqa: E402
import itertools  # noqa: E402
import json  # noqa: E402
import linecache  # noqa: E402
import random  # noqa: E402
import re  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import types  # noqa: E402
import warnings  # noqa: E402
import zlib  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [p for p in (str(HERE), str(HERE.parent), str(ROOT)) if p not in sys.path]

import numpy as np  # noqa: E402
from frozen_programs import held  # noqa: E402
from frozen_records import Subject, quiet, ways_of  # noqa: E402
from frozen_text import called, derived_lines, source_lines  # noqa: E402
from kernel_cases import Kernel, kernels  # noqa: E402
from pairs import NoEndError, limited  # noqa: E402
from run import derived_function, ratio  # noqa: E402
from test_house import is_of_a_library, lists_of_functions  # noqa: E402

import s2sad  # noqa: E402

PACKAGE = ROOT / "s2sad"
LIBRARIES = ("np", "numpy", "math", "linalg", "scipy", "special")
FACTS = ("facts", "modes", "polish")
EVERY, EVERY_QUICK = 10, 60  # of the tests' programs, one in how many is derived

Figures = dict[str, Any]


# --- the house -----------------------------------------------------------------------------------


def modules() -> list[Path]:
    """Return the files of s2sad/, without rules."""
    return sorted(p for p in PACKAGE.rglob("*.py") if PACKAGE / "rules" not in p.parents)


def lists_by_attribute(text: str) -> Iterator[int]:
    """Yield the lines of displays that name three functions of a library as np.sum."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Set | ast.Tuple | ast.List | ast.Dict):
            words = node.keys if isinstance(node, ast.Dict) else node.elts
            if sum(_is_library(w) for w in words) >= 3:
                yield node.lineno


def _is_library(word: ast.expr | None) -> bool:
    if not isinstance(word, ast.Attribute) or not is_of_a_library(word.attr):
        return False
    home = word.value
    return (home.attr if isinstance(home, ast.Attribute) else getattr(home, "id", "")) in LIBRARIES


def lists_of_names() -> dict[str, int]:
    """Return how many lists of names of functions each file has, spelled or as attributes."""
    found = {}
    for path in modules():
        text = path.read_text(encoding="utf-8")
        lines = {*lists_of_functions(text), *lists_by_attribute(text)}
        if lines:
            found[path.relative_to(PACKAGE).as_posix()] = len(lines)
    return found


def house(_: argparse.Namespace) -> Figures:
    """Count lines, questions of kinds, untyped names, lists of names, doubled names of modules."""
    texts = {p: p.read_text(encoding="utf-8") for p in modules()}
    asked = sum(
        isinstance(n, ast.Call) and getattr(n.func, "id", "") == "isinstance"
        for text in texts.values()
        for n in ast.walk(ast.parse(text))
    )
    stems = Counter(p.stem for p in texts if p.name != "__init__.py")
    lists = lists_of_names()
    return {
        "lines of s2sad/ without rules": sum(t.count("\n") for t in texts.values()),
        "files of s2sad/ without rules": len(texts),
        "isinstance calls": asked,
        ": Any annotations": sum(len(re.findall(r": Any\b", t)) for t in texts.values()),
        "lists of function names": sum(lists.values()),
        "of these in facts, modes, polish": sum(
            n for name, n in lists.items() if name.startswith(FACTS)
        ),
        "module names that occur twice": sum(n > 1 for n in stems.values()),
    }


# --- deriving ------------------------------------------------------------------------------------


def warmed() -> None:
    """Derive something little, so that what is loaded once is loaded."""

    def loss(x: Any) -> Any:
        y = np.zeros(3)
        for i in range(3):
            y[i] = np.sin(x[i]) * i
        return np.sum(y * x)

    s2sad.value_and_grad(loss)(np.ones(3))


def derived(call: Callable[[], Any]) -> float:
    """Return the seconds of the processor that a first call needs beyond a second."""
    times = []
    for _ in range(2):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return max(times[0] - times[1], 0.0)


def deriving(options: argparse.Namespace) -> Figures:
    """Derive gradients of a sample of the tests' programs."""
    of = EVERY_QUICK if options.quick else EVERY
    seconds, lines, each = 0.0, 0, []
    for h in held():
        if zlib.crc32(h.name.encode()) // 7 % of:
            continue
        with quiet(), contextlib.suppress(Exception, NoEndError), limited(30.0):
            s = Subject.of(h.make())
            way = next(ways_of(s, second=False))(s)
            spent = derived(lambda w=way: w.call(w.given()))
            count = source_lines(s.program.f)
            seconds, lines = seconds + spent, lines + count
            each.append(1e3 * spent / count)
    return {
        "programs of tests/ derived": len(each),
        "deriving tests/, ms a source line": 1e3 * seconds / lines,
        "deriving tests/, median ms a line": statistics.median(each),
    }


STATEMENTS = """
{a} = np.sin({b}) * x[{k}]
{a} = {b} * {b} + 0.5
w = x * {b}; {a} = np.sum(w * w) * 0.01
{a} = max({b}, 0.1) if {b} > x[0] else {b} - 1.0
out[{k}] = {b} * x[{k}]; {a} = out[0] + {b}
{a} = {b} / (1.0 + x[{k}] ** 2)
{a} = np.exp(-{b} * {b}) + x[{k}]
{a} = np.dot(x[1:], x[:-1]) * {b} * 0.1
if {b} > 1.0: {a} = {b} * 0.3
else: {a} = {b} + x[1]
"""


def long_program(n: int, turn: int) -> Callable[..., Any]:
    """Return a function of n statements, new each time: each reads what the one before made."""
    forms = [s.split("\n") for s in re.split(r"\n(?!else)", STATEMENTS.strip())]
    lines, count = ["out = np.zeros(5)", "t0 = x[0]"], 2
    for i, form in enumerate(itertools.cycle(forms)):
        if count >= n:
            break
        for text in form:
            filled = text.format(a=f"t{i + 1}", b=f"t{i}", k=i % 5)
            lines += filled.split("; ")
        count = len(lines)
    lines.append(f"return t{i} + np.sum(out)")
    text = "def f(x):\n" + "".join(f"    {line}\n" for line in lines)
    name = f"<long {n} {turn}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    module = types.ModuleType("long")
    vars(module)["np"] = np
    exec(compile(text, name, "exec"), vars(module))
    return module.f


def linear(options: argparse.Namespace) -> Figures:
    """Derive programs of n and of 2 n statements: the ratio of times is 2 where it is linear."""
    found: Figures = {}
    seconds = {}
    x = np.array([0.3, 0.8, -0.4, 1.1, 0.6])
    for n in (50, 100, 200) if options.quick else (50, 100, 200, 400):
        turns = 1 if options.quick or n > 100 else 3
        seconds[n] = min(_long(n, turn, x) for turn in range(turns))
        found[f"deriving {n} statements, ms a statement"] = 1e3 * seconds[n] / n
        if n // 2 in seconds:
            found[f"time of {n} statements over {n // 2}"] = seconds[n] / seconds[n // 2]
    return found


def _long(n: int, turn: int, x: np.ndarray) -> float:
    operator = s2sad.value_and_grad(long_program(n, turn))
    return derived(lambda: operator(x))


# --- kernels -------------------------------------------------------------------------------------


def of_kernel(kernel: Kernel, options: argparse.Namespace) -> Figures:
    """Derive a kernel; return its lines, its times, and how it compares with the primal."""
    operator = s2sad.value_and_grad(kernel.f, wrt=kernel.operator_wrt)
    args = kernel.arguments()
    spent = derived(lambda: operator(*args))
    own, helping = derived_lines(operator.source(*args), {p.__name__ for p in called(kernel.f)})
    rounds, sample = (5, 0.004) if options.quick else (15, 0.02)
    both = operator
    with contextlib.suppress(Exception):  # the text alone runs as the operator does
        both = derived_function(kernel.f, "value_and_grad", kernel.wrt, tuple(args))
    seconds = timed(kernel, both, rounds, sample)
    return {
        "lines": kernel.lines,
        "derive": spent,
        "own": own,
        "helpers": helping,
        "primal": statistics.median(seconds["primal"]),
        "over": ratio(seconds["both"], seconds["primal"]),
    }


def timed(
    kernel: Kernel, both: Callable[..., Any], rounds: int, sample: float
) -> dict[str, list[float]]:
    """Time a kernel and its gradient; a kernel that writes its arguments gets new ones."""
    args = kernel.arguments()
    before = repr(args)
    kernel.f(*args)
    writes = repr(args) != before
    given = kernel.arguments if writes else lambda: args
    args = kernel.arguments()
    return beside({"primal": kernel.f, "both": both}, given, rounds, sample)


def beside(
    runs: dict[str, Callable[..., Any]], given: Callable[[], Any], rounds: int, sample: float
) -> dict[str, list[float]]:
    """Return the seconds of the processor that a call needs, round by round, in changing order.

    What else the machine does is not in them. A call goes untimed before each sample.
    """
    numbers = {}
    for name, run in runs.items():
        number = 1
        while _sampled(run, given, number) * number < sample / 4 and number < 100_000:
            number *= 4
        numbers[name] = max(1, round(sample / max(_sampled(run, given, number), 1e-9)))
    found: dict[str, list[float]] = {name: [] for name in runs}
    order = random.Random(0)
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name in order.sample(list(runs), len(runs)):
                runs[name](*given())
                found[name].append(_sampled(runs[name], given, numbers[name]))
    finally:
        gc.enable()
    return found


def _sampled(run: Callable[..., Any], given: Callable[[], Any], number: int) -> float:
    calls = [given() for _ in range(number)]
    begin = time.process_time()
    for args in calls:
        run(*args)
    return (time.process_time() - begin) / number


def of_kernels(options: argparse.Namespace) -> Figures:
    """Derive and time all kernels."""
    found, refused, dead = {}, [], []
    every = kernels()[::5] if options.quick else kernels()
    for kernel in every:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found[kernel.name] = of_kernel(kernel, options)
            except s2sad.Error as error:
                refused.append(kernel.name)
                if options.detail:
                    print(f"{kernel.name}: refused: {error}", file=sys.stderr)
            except Exception as error:
                dead.append(kernel.name)
                print(f"{kernel.name}: {type(error).__name__}: {error}", file=sys.stderr)
    if options.detail:
        for name, k in found.items():
            print(
                f"{name:22}{k['lines']:4} lines ->{k['own']:4} +{k['helpers']:3}, derived in "
                f"{1e3 * k['derive']:6.0f} ms; primal {1e6 * k['primal']:9.1f} us, "
                f"with gradient {k['over']:6.2f} times",
                file=sys.stderr,
            )
    lines = sum(k["lines"] for k in found.values())
    return {
        "kernels": len(every),
        "kernels refused": len(refused),
        "kernels dead": len(dead),
        "deriving kernels, ms a source line": 1e3
        * sum(k["derive"] for k in found.values())
        / lines,
        "slowest kernel to derive, s": max(k["derive"] for k in found.values()),
        "derived lines a source line, own": sum(k["own"] for k in found.values()) / lines,
        "derived lines a source line, helpers": sum(k["helpers"] for k in found.values()) / lines,
        "value and gradient over primal": statistics.geometric_mean(
            k["over"] for k in found.values()
        ),
        "each kernel": dict.fromkeys([*refused, *dead], "refused")
        | {n: [k["own"], k["derive"], k["over"]] for n, k in found.items()},
    }


# --- by hand, and random programs ----------------------------------------------------------------


def hand(options: argparse.Namespace) -> Figures:
    """Time derived gradients beside those by hand, of targets and examples."""
    from run import derive, example_cases, target_cases

    found = {}
    rounds, sample = (5, 0.004) if options.quick else (25, 0.02)
    for case in [*target_cases(), *example_cases()]:
        ours = derive(case)
        if ours is None:
            continue
        runs = {"derived": ours, "hand": case.by_hand}
        seconds = beside(runs, lambda c=case: c.args, rounds, sample)
        found[case.name] = ratio(seconds["derived"], seconds["hand"])
        if options.detail:
            print(f"{case.name:22}derived over hand {found[case.name]:.3f}", file=sys.stderr)
    return {
        "derived over hand-written": statistics.geometric_mean(found.values()),
        "derived over hand-written, most": max(found.values()),
    }


def of_pairs(options: argparse.Namespace) -> Figures:
    """Differentiate programs in which features meet in pairs."""
    from pairs import generate, outcome

    words = Counter(outcome(generate(seed).text).word for seed in range(options.pairs))
    return {
        "random pairs": options.pairs,
        "refused share of random pairs": words["refused"] / options.pairs,
        "wrong or dead random pairs": words["wrong"] + words["dead"],
    }


def of_calls(options: argparse.Namespace) -> Figures:
    """Differentiate random programs of the older generators.

    Those of calls_that_write.py have a call that writes in any position.
    """
    import programs
    from calls_that_write import drawn, program

    count = options.pairs
    x = (np.array([0.7, -0.4, 1.1]),)
    calls = [(program(*drawn(7000 + seed)), x) for seed in range(count)]
    plain = [(programs.generate(7000 + seed).text, None) for seed in range(count)]
    return {
        "refused share of calls that write": sum(itertools.starmap(_is_refused, calls)) / count,
        "refused share of random programs": sum(itertools.starmap(_is_refused, plain)) / count,
    }


def _is_refused(text: str, args: tuple[Any, ...] | None) -> bool:
    import programs

    module = programs.load(text)
    args, wrt = (module.arguments(), module.WRT) if args is None else (args, (0,))
    try:
        with quiet():
            s2sad.value_and_grad(module.f, wrt=wrt)(*args)
        return False
    except s2sad.Error:
        return True
    finally:
        programs.unload(module)


# --- the table -----------------------------------------------------------------------------------

PARTS: dict[str, Callable[[argparse.Namespace], Figures]] = {
    "house": house,
    "deriving": deriving,
    "linear": linear,
    "kernels": of_kernels,
    "hand": hand,
    "pairs": of_pairs,
    "calls": of_calls,
}
GOALS = {
    "lines of s2sad/ without rules": "at most 40,000",
    "isinstance calls": "at most 2,000",
    ": Any annotations": "at most 150",
    "lists of function names": "0 outside records",
    "deriving tests/, ms a source line": "at most 6",
    "deriving kernels, ms a source line": "at most 6",
    "time of 100 statements over 50": "at most 2.2",
    "time of 200 statements over 100": "at most 2.2",
    "time of 400 statements over 200": "at most 2.2",
    "derived lines a source line, own": "at most 3.5",
    "value and gradient over primal": "at most 3.2",
    "derived over hand-written": "at most 1.05",
    "refused share of random pairs": "at most 0.05",
    "wrong or dead random pairs": "0",
    "refused share of calls that write": "at most 0.01",
    "refused share of random programs": "at most 0.01",
}


def shown(figure: Any) -> str:
    """Return a figure as a reader wants it."""
    if figure is None:
        return ""
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:.3g}"


def table(before: Figures, now: Figures) -> str:
    """Return the table, with a column of earlier figures where there are any."""
    names = [n for n, figure in now.items() if not isinstance(figure, dict)]
    columns = ["before", "now", "goal"] if before else ["now", "goal"]
    lines = [f"| what | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for n in names:
        cells = [shown(before.get(n))] if before else []
        cells += [shown(now[n]), GOALS.get(n, "")]
        lines.append(f"| {n} | {' | '.join(cells)} |")
    return "\n".join(lines)


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer programs, shorter samples")
    parser.add_argument("--only", choices=[*PARTS], action="append", help="only these parts")
    parser.add_argument("--pairs", type=int, metavar="N", help="how many random programs")
    parser.add_argument("--lists", action="store_true", help="lists of names, file by file")
    parser.add_argument("--detail", action="store_true", help="figures of each kernel")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--before", metavar="FILE", help="what --json wrote earlier")
    options = parser.parse_args(arguments)
    if options.pairs is None:
        options.pairs = 10 if options.quick else 300
    return options


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the figures."""
    options = parsed(arguments)
    warmed()
    now: Figures = {}
    for name in options.only or PARTS:
        begin = time.time()
        now |= PARTS[name](options)
        print(f"{name}: {time.time() - begin:.0f} s", file=sys.stderr, flush=True)
    before = json.loads(Path(options.before).read_text(encoding="utf-8")) if options.before else {}
    print(table(before, now))
    if options.lists:
        for name, count in sorted(lists_of_names().items(), key=lambda item: -item[1]):
            print(f"{count:4} {name}")
    if options.json:
        Path(options.json).write_text(json.dumps(now, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
