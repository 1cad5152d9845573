"""Time derived gradients beside the primal, the derivative by hand, and other libraries.

Run by `make bench`. All figures are medians of paired runs, interleaved in one process on one
thread; a table is printed and out/bench.json written. Where s2sad derives nothing yet, the
derivatives by hand stand in.
"""

import argparse
import gc
import json
import linecache
import os
import platform
import random
import statistics
import sys
import tempfile
import time
import tracemalloc
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
os.environ.update(dict.fromkeys(THREADS, "1"))
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import numpy as np  # noqa: E402

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"
sys.path[:0] = [str(HERE), str(HERE.parent)]

from rivals import LIBRARIES, CannotExpressError, build, rewritten  # noqa: E402
from targets import TARGETS, load_file  # noqa: E402

import s2sad  # noqa: E402

LARGE = 50_000
LIMITS = {"over_hand": 1.1, "memory": 1.1, "call_overhead": 20.0, "derive_ms": 50.0}


@dataclass
class Case:
    """A program to time: where it is, its primal and derivative by hand, and arguments."""

    name: str
    path: Path
    function: str
    mode: str
    wrt: tuple[int, ...]
    primal: Callable[..., Any]
    by_hand: Callable[..., Any]
    args: tuple[Any, ...]
    notes: list[str] = field(default_factory=list)


def larger_args() -> dict[str, tuple[Any, ...]]:
    """Arguments of more than toy size for the target programs that take a size."""
    normal = np.random.default_rng(0).standard_normal
    n = 64
    return {
        "recurrence": (0.3 * normal((n, n)) / np.sqrt(n), normal(n), normal((100, n))),
        "enumerate_sum": (normal(1000),),
        "early_exit": ((1.0 + 0.01 * normal(1000)) * np.where(normal(1000) > -1, 1, -1), 100.0),
        "nested_loops": (0.7, 20),
        "least_squares": (normal(50), normal((1000, 50)), normal(1000), 0.1),
        "calls": (0.3, 0.2, normal(1000), 0.1),
    }


def target_cases() -> list[Case]:
    """The target programs, with check.py's arguments and with larger ones."""
    larger = larger_args()
    cases = []
    for target in TARGETS:
        sizes = {target.module: target.args[0]}
        if target.module in larger:
            sizes[f"{target.module} (large)"] = larger[target.module]
        for name, args in sizes.items():
            cases.append(
                Case(
                    name,
                    target.path,
                    target.function,
                    target.mode,
                    target.wrt,
                    target.primal(),
                    target.by_hand(),
                    args,
                )
            )
    return cases


def lynx_hare_args(example: dict[str, Any]) -> tuple[Any, ...]:
    """The first guess."""
    return (np.log(example["GUESS"]), *example["read_data"](), 1e-4)


def digits_args(example: dict[str, Any]) -> tuple[Any, ...]:
    """A first minibatch."""
    X, y, _, _ = example["read_data"]()
    return (example["initial"](), X[:128], y[:128])


def heat_args(example: dict[str, Any]) -> tuple[Any, ...]:
    """An even plate, and what the camera sees; larger than in the example."""
    final = example["observe"](example["truth"](128), 0.2, 20)
    return (np.full(final.size, final.mean()), final, 0.2, 20, 1e-4)


def shallow_water_args(example: dict[str, Any]) -> tuple[Any, ...]:
    """A flat floor; a larger basin than in the example, for fewer steps."""
    _, eta, rows, columns, seen = example["problem"](96, 40)
    seen = np.full((40, len(rows)), 0.01)
    return (np.ones(eta.size), eta, seen, rows, columns, 0.05, 40)


def lu_args(example: dict[str, Any]) -> tuple[Any, ...]:
    """Equal resistors."""
    edges, logs, currents, measured = example["problem"]()
    return (np.zeros_like(logs), edges, currents, measured)


def lstm_args(example: dict[str, Any]) -> tuple[Any, ...]:
    """Parameters to start from."""
    return (example["initial"](), example["series"]())


EXAMPLE_ARGS = {
    "lynx_hare": lynx_hare_args,
    "digits": digits_args,
    "heat": heat_args,
    "shallow_water": shallow_water_args,
    "lu": lu_args,
    "lstm": lstm_args,
}


def example_cases() -> list[Case]:
    """The losses of the examples, at their first guess."""
    cases = []
    for name, make_args in EXAMPLE_ARGS.items():
        path = EXAMPLES / f"{name}.py"
        example = rewritten(path, "import numpy as np", {})
        by_hand = load_file(HERE / f"hand_{name}.py").loss_value_and_grad
        try:
            args = make_args(example)
        except ImportError:
            print(f"{name} left out: scikit-learn is not installed")
            continue
        cases.append(
            Case(name, path, "loss", "value_and_grad", (0,), example["loss"], by_hand, args)
        )
    return cases


def derive(case: Case) -> Callable[..., Any] | None:
    """The derived function itself, run from its printed source; None where s2sad refuses."""
    if not hasattr(s2sad, "source"):
        return None
    f = getattr(load_file(case.path, f"bench_{case.path.stem}"), case.function)
    try:
        return derived_function(f, case.mode, case.wrt, case.args)
    except s2sad.Error as error:
        case.notes.append(f"s2sad: {error}")
        return None


def derived_function(f: Callable, mode: str, wrt: tuple[int, ...], args: tuple) -> Callable:
    """Run the derived source of f in a namespace that sees f's globals."""
    text = s2sad.source(f, mode=mode, wrt=wrt if len(wrt) > 1 else wrt[0], args=args)
    namespace = dict(getattr(f, "__wrapped__", f).__globals__)
    exec(compile(text, f"<derived {f.__name__}>", "exec"), namespace)
    return namespace[f"{f.__name__}_{mode}"]


def flat(structure: Any) -> list[np.ndarray]:
    """The leaves of a gradient, as NumPy arrays."""
    if isinstance(structure, list | tuple):
        return [leaf for part in structure for leaf in flat(part)]
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in flat(structure[key])]
    return [np.asarray(structure)]


def agree(case: Case, name: str, result: Any) -> None:
    """Refuse to time what computes something else."""
    want = flat(case.by_hand(*case.args))
    got = flat(result)
    if name != "derived" and case.mode == "value_and_grad":
        want = want[1:]
    for mine, theirs in zip(got, want, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12, err_msg=name)


def variants(case: Case) -> dict[str, Callable[[], Any]]:
    """What is timed for a case, each called without arguments; what cannot be leaves a note."""
    primal, by_hand, args = case.primal, case.by_hand, case.args
    timed = {"primal": lambda: primal(*args), "hand": lambda: by_hand(*args)}
    derived = derive(case)
    if derived is not None:
        timed["derived"] = lambda: derived(*args)
        agree(case, "derived", derived(*args))
    for library in LIBRARIES:
        try:
            run = build(library, case.path, case.function, case.wrt, args)
            agree(case, library, run())
        except ImportError:
            case.notes.append(f"{library}: not installed")
        except CannotExpressError as error:
            case.notes.append(f"{library}: {error}")
        else:
            timed[library] = run
    return timed


def peak(run: Callable[[], Any]) -> int:
    """The most bytes that a call has at a time, beyond what there was before it."""
    run()
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def memory_over_hand(timed: dict[str, Callable[[], Any]]) -> float | None:
    """How much memory the derived gradient takes, over that by hand; None for little ones."""
    if "derived" not in timed:
        return None
    by_hand = peak(timed["hand"])
    return peak(timed["derived"]) / by_hand if by_hand > LARGE else None


def interleaved(
    timed: dict[str, Callable[[], Any]], rounds: int, sample: float
) -> dict[str, list[float]]:
    """Seconds per call, round by round; a sample lasts about the given seconds.

    The order is shuffled in each round and a call goes untimed before each sample, or else what
    follows its like would find caches and allocator warm and seem faster by up to a tenth.
    """
    numbers = {name: calls_per_sample(run, sample) for name, run in timed.items()}
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    order = random.Random(0)
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name in order.sample(list(timed), len(timed)):
                timed[name]()
                seconds[name].append(per_call(timed[name], numbers[name]))
    finally:
        gc.enable()
    return seconds


def per_call(run: Callable[[], Any], number: int) -> float:
    """Seconds per call over a number of calls."""
    begin = time.perf_counter()
    for _ in range(number):
        run()
    return (time.perf_counter() - begin) / number


def calls_per_sample(run: Callable[[], Any], sample: float) -> int:
    """How many calls fill a sample, found after warming up."""
    number = 1
    while (seconds := per_call(run, number) * number) < sample / 4 and number < 1_000_000:
        number *= 4
    return max(1, round(number * sample / seconds))


def ratio(above: list[float], below: list[float]) -> float:
    """The median of paired ratios."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def measure(case: Case, rounds: int, sample: float) -> dict[str, Any]:
    """The figures of one case."""
    timed = variants(case)
    seconds = interleaved(timed, rounds, sample)
    ours = "derived" if "derived" in seconds else "hand"
    return {
        "name": case.name,
        "derived": ours == "derived",
        "microseconds": {n: 1e6 * statistics.median(s) for n, s in seconds.items()},
        "over_primal": ratio(seconds[ours], seconds["primal"]),
        "hand_over_primal": ratio(seconds["hand"], seconds["primal"]),
        "over_hand": ratio(seconds[ours], seconds["hand"]) if ours == "derived" else None,
        "memory": memory_over_hand(timed),
        "over": {n: ratio(seconds[ours], seconds[n]) for n in LIBRARIES if n in seconds},
        "notes": case.notes,
    }


def weighted(x, y):
    """A function of two arrays, to time a call of its gradient."""
    return np.sum(x * np.sin(y))


def _empty(x, y):
    """What a call with two arguments costs at least."""


def measure_call_overhead(rounds: int = 1600, calls: int = 100) -> float | None:
    """What grad(f)(x, y) costs beyond the derived function, in calls of an empty function.

    Of two long samples the difference is little and their noise is not, so the samples are short
    and what is subtracted is taken right before. Where code happens to lie in memory makes a
    tenth of an empty call: the functions are made anew several times.
    """
    if not hasattr(s2sad, "grad"):
        return None
    return statistics.median(_call_overhead(rounds // 8, calls) for _ in range(8))


def _call_overhead(rounds: int, calls: int) -> float:
    """The overhead of one operator, in calls of an empty function of its own."""
    x, y = np.ones(3), np.ones(3)
    operator = s2sad.grad(weighted, wrt=(0, 1))
    derived = derived_function(weighted, "grad", (0, 1), (x, y))
    empty = types.FunctionType(_empty.__code__.replace(), globals())
    timed = {
        "derived": lambda: derived(x, y),
        "operator": lambda: operator(x, y),
        "nothing": lambda: None,
        "empty": lambda: empty(x, y),
    }
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, run in timed.items():
                run()
                seconds[name].append(per_call(run, calls))
    finally:
        gc.enable()
    return difference(seconds["operator"], seconds["derived"]) / difference(
        seconds["empty"], seconds["nothing"]
    )


def difference(above: list[float], below: list[float]) -> float:
    """The median of paired differences, of the quarter of all rounds that was disturbed least."""
    pairs = sorted(zip(above, below, strict=True), key=sum)
    return statistics.median(a - b for a, b in pairs[: len(pairs) // 4])


TWENTY_LINES = """
import numpy as np


def f(x, y, n):
    s = 0.0
    z = x * np.sin(y)
    for i in range(n):
        t = z * i + x
        if t > 1.0:
            t = np.exp(-t)
        elif t > 0.0:
            t = t * t
        else:
            t = -t
        s = s + t * z
        z = np.tanh(z + 0.1 * t)
    u = np.cos(s)
    v = u * u + z
    w = v / (1.0 + x * x)
    while w > 2.0:
        w = 0.5 * w + 0.1 * u
    a = np.sqrt(1.0 + w * w)
    b = a * x - y * u
    return a + b * b
"""


def measure_derivation(repeats: int = 20) -> float | None:
    """Milliseconds of CPU to derive a function of 20 lines, each time a new one, source unread."""
    if not hasattr(s2sad, "grad"):
        return None
    milliseconds = []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(repeats):
            path = Path(folder) / f"twenty_lines_{i}.py"
            path.write_text(TWENTY_LINES, encoding="utf-8")
            f = load_file(path).f
            linecache.clearcache()
            begin = time.process_time()
            s2sad.grad(f, wrt=(0, 1)).source(0.7, 0.4, 5)
            milliseconds.append(1e3 * (time.process_time() - begin))
            del sys.modules[path.stem]
    return statistics.median(milliseconds)


def row(figures: dict[str, Any]) -> str:
    """One line of the table."""
    cells = [figures["hand_over_primal"], figures["over_primal"], figures["over_hand"]]
    if not figures["derived"]:
        cells[1] = None
    cells.append(figures["memory"])
    cells += [figures["over"].get(library) for library in LIBRARIES]
    text = "".join("         -" if cell is None else f"{cell:10.3f}" for cell in cells)
    return f"{figures['name']:22}{figures['microseconds']['primal']:12.2f}{text}"


HEADER = f"{'program':22}{'primal us':>12}" + "".join(
    f"{title:>10}"
    for title in (
        "hand/p",
        "derived/p",
        "derived/h",
        "memory/h",
        *(f"/{name}" for name in LIBRARIES),
    )
)


def above_limits(report: dict[str, Any]) -> list[str]:
    """The figures that exceed what is promised, a line each."""
    lines = [
        f"{figures['name']}: {figures['over_hand']:.3f} of the derivative by hand"
        for figures in report["programs"]
        if (figures["over_hand"] or 0.0) > LIMITS["over_hand"]
    ]
    lines += [
        f"{figures['name']}: {figures['memory']:.3f} of the memory of the derivative by hand"
        for figures in report["programs"]
        if (figures["memory"] or 0.0) > LIMITS["memory"]
    ]
    for name in ("call_overhead", "derive_ms"):
        if (report[name] or 0.0) > LIMITS[name]:
            lines.append(f"{name}: {report[name]:.1f} > {LIMITS[name]:g}")
    return lines


def print_summary(report: dict[str, Any]) -> None:
    """Print the notes, the two figures that belong to no program, and what is above its limit."""
    notes = [f"{p['name']}: {note}" for p in report["programs"] for note in p["notes"]]
    print("\n" + "\n".join(notes) if notes else "")
    if report["call_overhead"] is not None:
        print(f"call of grad(f): {report['call_overhead']:.1f} empty calls beyond the derived")
    if report["derive_ms"] is not None:
        print(f"derive 20 lines: {report['derive_ms']:.1f} ms")
    for line in above_limits(report):
        print(f"ABOVE THE LIMIT  {line}")


def run(cases: list[Case], everything: bool, quick: bool) -> dict[str, Any]:
    """Measure and print, program by program, then what belongs to none; returns all figures."""
    rounds, sample = (7, 0.001) if quick else (31, 0.005)
    print("/autograd, /jax and /torch: the derived gradient, else that by hand, over the library's")
    if not hasattr(s2sad, "source"):
        print("s2sad does not derive yet")
    print(HEADER)
    programs = []
    for case in cases:
        programs.append(measure(case, rounds, sample))
        print(row(programs[-1]), flush=True)
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "programs": programs,
        "call_overhead": measure_call_overhead() if everything else None,
        "derive_ms": measure_derivation() if everything else None,
    }


def main() -> None:
    """Read the options, run, print, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer and shorter samples")
    parser.add_argument("--only", metavar="NAME", help="one program, as recurrence or digits")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    cases = target_cases() + example_cases()
    if options.only is not None:
        cases = [case for case in cases if case.name.split()[0] == options.only]
        if not cases:
            parser.error(f"no program is called {options.only}")
    report = run(cases, options.only is None, options.quick)
    print_summary(report)
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    path = out / "bench.json"
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(f"\nWritten: {path}")


if __name__ == "__main__":
    main()
