"""Freeze behaviour: what every program of the tests gives in every mode, written and compared.

    python tests/frozen.py --write before.json                    all programs, some minutes
    python tests/frozen.py --write a.json --part 1/2              every second one, for two cores
    python tests/frozen.py --write new.json --only golden.        those with this word in their name
    python tests/frozen.py --write new.json --pairs 0:300 --random 0:200 --second
    python tests/frozen.py --compare before.json new.json         what has changed
    python tests/frozen.py --compare a.json,b.json c.json,d.json  of runs in parts

`--all` also runs the families of which FAMILIES (frozen_programs.py) takes one in some; `--second`
also takes products with the Hessian. What --write writes is the same each time, but for times.
--compare exits with 1 where something got worse: an outcome, or a number beyond a relative 1e-12.
"""

from __future__ import annotations

import os

# The threads of the linear algebra are set before NumPy is imported: numbers depend on them.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import platform  # noqa: E402
import random  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from dataclasses import dataclass, field  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from frozen_programs import Held, held, of_pairs, of_seeds  # noqa: E402
from frozen_records import record  # noqa: E402

RELATIVE = 1e-12
SLOPES = 1e-4  # how far a derivative may be from differences and still agree
LISTED = 20
RANK = {"right": 0, "refused": 1, "dead": 2}
DERIVING = (0.05, 1.5)  # seconds, and the ratio, beyond which one program's time is no noise
CALLING = (20.0, 1.5)  # the same for calls, in microseconds

Found = dict[str, Any]


# --- writing -------------------------------------------------------------------------------------


def spanned(text: str) -> range:
    """Return the seeds of a span such as 0:300."""
    first, _, last = text.partition(":")
    return range(int(first), int(last))


def chosen(options: argparse.Namespace) -> Iterator[Held]:
    """Yield the programs that the options ask for."""
    every = [*held(options.all), *of_pairs(options.pairs), *of_seeds(options.random)]
    part, _, parts = options.part.partition("/")
    named = [h for h in every if options.only in h.name]
    yield from named[int(part) - 1 :: int(parts)]


def written(options: argparse.Namespace) -> Found:
    """Run the programs; return what comes of them, with a head that says of what."""
    begin, used, found = time.time(), time.process_time(), {}
    programs = [*chosen(options)]
    for h in programs[:1]:  # what is loaded once is loaded before anything is timed
        record(h)
    gc.collect()
    gc.freeze()
    for number, h in enumerate(programs, 1):
        random.seed(0)
        np.random.seed(0)
        found[h.name] = record(h, options.second)
        if options.talk and number % 100 == 0:
            print(f"{number} programs, {time.time() - begin:.0f} s", file=sys.stderr, flush=True)
    return {
        "head": {
            "commit": commit(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "asked": [options.only, options.part, options.all, options.second],
            "seconds": [round(time.time() - begin, 1), round(time.process_time() - used, 1)],
        },
        "programs": found,
    }


def commit() -> str:
    """Return which commit is checked out, if any."""
    folder = Path(__file__).parent
    run = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
    return subprocess.run(run, capture_output=True, text=True, check=False).stdout.strip()


# --- comparing -----------------------------------------------------------------------------------


@dataclass
class Changes:
    """What changed between two runs, each as lines to print; `worse` decides the exit code."""

    worse: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    bits: int = 0
    coverage: list[str] = field(default_factory=list)


def loaded(names: str) -> Found:
    """Read files, joined by commas, as one run."""
    runs = [json.loads(Path(n).read_text(encoding="utf-8")) for n in names.split(",")]
    programs: Found = {}
    for run in runs:
        programs |= run["programs"]
    heads = [run["head"] for run in runs]
    return {"head": heads[0], "heads": heads, "programs": programs}


def paired(before: Found, after: Found) -> Iterator[tuple[str, Found, Found]]:
    """Yield the modes that both runs have, with the names of program and mode."""
    for name, old in before["programs"].items():
        new = after["programs"].get(name, {"modes": {}})
        for mode, was in old["modes"].items():
            if mode in new["modes"]:
                yield f"{name} [{mode}]", was, new["modes"][mode]


def compared(before: Found, after: Found) -> Changes:
    """Return what changed in outcomes, numbers and messages."""
    changes = Changes()
    narrower = any(h["asked"][0] or h["asked"][1] != "1/1" for h in after["heads"])
    narrower &= len(after["heads"]) == 1
    for name, old in before["programs"].items():
        new = after["programs"].get(name)
        if new is None:
            if not narrower:
                changes.coverage.append(f"{name}: is not among the programs any more")
                changes.worse.append(f"{name}: was run, and is not any more")
        elif old["plain"] != new["plain"]:
            line = f"{name}: the plain call: {old['plain'] or 'runs'} -> {new['plain'] or 'runs'}"
            of = changes.better if not new["plain"] else changes.messages
            (of if old["plain"] else changes.worse).append(line)
        else:
            gone = [m for m in old["modes"] if m not in new["modes"]]
            changes.worse += [f"{name} [{m}]: was run, and is not any more" for m in gone]
    new_ones = [n for n in after["programs"] if n not in before["programs"]]
    changes.coverage += [f"{n}: is new" for n in new_ones]
    for name, was, now in paired(before, after):
        _compare(changes, name, was, now, slopes_of(before, name))
    return changes


def slopes_of(run: Found, name: str) -> float:
    """Return the slope by differences of a program, not a number where it has none."""
    text = run["programs"][name.rpartition(" [")[0]].get("slope", "None")
    return float("nan") if text == "None" else float(text)


def _compare(changes: Changes, name: str, was: Found, now: Found, slope: float) -> None:
    if was["outcome"] != now["outcome"]:
        line = f"{name}: {_said(was)} -> {_said(now)}"
        got_worse = RANK[now["outcome"]] > RANK[was["outcome"]]
        (changes.worse if got_worse else changes.better).append(line)
    elif now["outcome"] != "right":
        if was["message"] != now["message"]:
            changes.messages.append(f"{name}:\n    {was['message']}\n    {now['message']}")
    elif was["shape"] != now["shape"]:
        changes.numbers.append(f"{name}: is built otherwise: {was['shape']} -> {now['shape']}")
    else:
        keys = ("value", "derivative")
        apart = max(_apart(was[k], now[k]) for k in keys)
        if apart > RELATIVE:
            line = f"{name}: numbers differ by {apart:.1e}, relatively{_judged(was, now, slope)}"
            mended = line.endswith("did not agree, now it does")
            mended &= _apart(was["value"], now["value"]) <= RELATIVE
            (changes.mended if mended else changes.numbers).append(line)
        elif any(was[k] != now[k] for k in keys):
            changes.bits += 1


def _said(record: Found) -> str:
    message = record["message"]
    return record["outcome"] + (f" ({message[:160]})" if message else "")


def _apart(was: list[str], now: list[str]) -> float:
    """Return how far two lists of numbers are apart, by the largest of them."""
    if len(was) != len(now):
        return math.inf
    old, new = (np.array([float(t) for t in x]) for x in (was, now))
    if not np.array_equal(np.isfinite(old), np.isfinite(new)):
        return math.inf
    if [t for t in was if t in ("nan", "inf", "-inf")] != [
        t for t in now if t in ("nan", "inf", "-inf")
    ]:
        return math.inf
    old, new = old[np.isfinite(old)], new[np.isfinite(new)]
    scale = np.abs(old).max(initial=0.0)
    return float(np.abs(new - old).max(initial=0.0) / scale) if scale else float(np.any(new != old))


def _judged(was: Found, now: Found, slope: float) -> str:
    """Say whether what a derivative was and is agrees with differences; nothing of some modes."""
    along = [float(r["along"]) for r in (was, now)]
    if any(map(math.isnan, [*along, slope])):
        return ""
    agree = [abs(a - slope) <= SLOPES * (1.0 + abs(slope)) for a in along]
    words = {True: "agreed", False: "did not agree"}
    then = "now it does" if agree[1] else "now it does not"
    return f"; with differences it {words[agree[0]]}, {then}"


# --- lines and times -----------------------------------------------------------------------------


def both_right(before: Found, after: Found) -> list[tuple[str, Found, Found]]:
    """Return the modes that are right in both runs."""
    return [p for p in paired(before, after) if p[1]["outcome"] == p[2]["outcome"] == "right"]


def of_lines(pairs: list[tuple[str, Found, Found]]) -> tuple[list[str], list[str]]:
    """Return a summary of the lengths of texts, and the largest changes each way."""
    summary, details = [], []
    for at, word in ((0, "own lines"), (1, "lines of helpers")):
        changes = {n: now["lines"][at] - was["lines"][at] for n, was, now in pairs}
        total = sum(was["lines"][at] for _, was, _ in pairs)
        longer = {n: c for n, c in changes.items() if c > 0}
        shorter = {n: c for n, c in changes.items() if c < 0}
        summary.append(
            f"texts, {word}: {total} -> {total + sum(changes.values())}; {len(longer)} are longer "
            f"(by {sum(longer.values())}), {len(shorter)} shorter (by {-sum(shorter.values())})"
        )
        for title, some in ((f"longer, {word}", longer), (f"shorter, {word}", shorter)):
            rows = sorted(some.items(), key=lambda item: (-abs(item[1]), item[0]))[:LISTED]
            lines = {n: (was["lines"][at], now["lines"][at]) for n, was, now in pairs}
            details += _section(
                title, [f"{n}: {lines[n][0]} -> {lines[n][1]}" for n, _ in rows], len(some)
            )
    return summary, details


def of_times(pairs: list[tuple[str, Found, Found]]) -> tuple[list[str], list[str]]:
    """Return a summary of the times to derive and of calls, and what became slowest."""
    summary, details = [], []
    kinds = ((0, "deriving", 0.005, DERIVING, "s"), (1, "calls", 1.0, CALLING, "us"))
    for at, word, least, (noise, factor), unit in kinds:
        times = [(n, was["times"][at], now["times"][at]) for n, was, now in pairs]
        ratios = [b / a for _, a, b in times if min(a, b) > least]
        if not ratios:
            summary.append(f"{word}: too short to compare")
            continue
        slower = [
            (b / max(a, 1e-9), n, a, b) for n, a, b in times if b > factor * a and b - a > noise
        ]
        summary.append(
            f"{word}: {sum(a for _, a, _ in times):.4g} -> {sum(b for *_, b in times):.4g} {unit} "
            f"in all; the median ratio is {statistics.median(ratios):.3f}; {len(slower)} are "
            "slower beyond noise"
        )
        rows = [f"{n}: {a:.4g} -> {b:.4g} {unit} ({r:.2f})" for r, n, a, b in sorted(slower)[::-1]]
        details += _section(f"slower, {word}", rows[:10], len(rows))
    return summary, details


def _section(title: str, rows: list[str], count: int) -> list[str]:
    return [f"\n{title}: {count}", *(f"  {row}" for row in rows)] if rows else []


def counted(run: Found) -> str:
    """Return how many modes of programs are right, refused, dead."""
    words = Counter(m["outcome"] for p in run["programs"].values() for m in p["modes"].values())
    plain = sum(bool(p["plain"]) for p in run["programs"].values())
    return f"{len(run['programs'])} programs: " + ", ".join(
        [*(f"{words[w]} {w}" for w in RANK), f"{plain} fail without s2sad"]
    )


def report(before: Found, after: Found) -> tuple[str, bool]:
    """Return what changed, in plain English, and whether something got worse."""
    changes = compared(before, after)
    pairs = both_right(before, after)
    (lines, of_texts), (times, of_slow) = of_lines(pairs), of_times(pairs)
    worse = bool(changes.worse or changes.numbers)
    verdict = "Something got worse." if worse else "Nothing got worse."
    summary = [
        verdict,
        *(
            f"{word}: {counted(run)}; commit {run['head']['commit']}, Python "
            f"{run['head']['python']}, NumPy {run['head']['numpy']}"
            for word, run in (("before", before), ("after", after))
        ),
        f"outcomes that got worse: {len(changes.worse)}",
        f"numbers that changed: {len(changes.numbers)}",
        f"numbers that changed, and agree with differences only now: {len(changes.mended)}",
        f"numbers that changed in their last bits: {changes.bits}",
        f"outcomes that got better: {len(changes.better)}",
        f"refusals with another message: {len(changes.messages)}",
        f"programs in one of the runs only: {len(changes.coverage)}",
        *lines,
        *times,
    ]
    details = [
        *_section("got worse", changes.worse, len(changes.worse)),
        *_section("numbers that changed", changes.numbers, len(changes.numbers)),
        *_section("mended", changes.mended, len(changes.mended)),
        *_section("got better", changes.better, len(changes.better)),
        *_section("messages", changes.messages, len(changes.messages)),
        *_section("in one run only", changes.coverage[:LISTED], len(changes.coverage)),
        *of_texts,
        *of_slow,
    ]
    return "\n".join([*summary, *details]), worse


# --- the command ---------------------------------------------------------------------------------


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"))
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--part", default="1/1", metavar="K/N")
    parser.add_argument("--pairs", type=spanned, default=range(0), metavar="0:300")
    parser.add_argument("--random", type=spanned, default=range(0), metavar="0:200")
    parser.add_argument("--all", action="store_true", help="families in full")
    parser.add_argument("--second", action="store_true", help="products with the Hessian, too")
    parser.add_argument("--quiet", dest="talk", action="store_false")
    options = parser.parse_args(arguments)
    if bool(options.write) == bool(options.compare):
        parser.error("say either --write FILE or --compare BEFORE AFTER")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Write what programs give, or compare."""
    options = parsed(arguments)
    if options.compare:
        text, worse = report(*map(loaded, options.compare))
        print(text)
        return int(worse)
    run = written(options)
    Path(options.write).write_text(json.dumps(run, indent=0), encoding="utf-8")
    print(f"{counted(run)}; {run['head']['seconds'][0]} s, written to {options.write}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
