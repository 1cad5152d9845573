"""Rounds run and memory held by checkpointed loops, beside what the schedule says.

python tests/benchmarks/checkpoints.py
"""

import itertools
import tracemalloc

import numpy as np
from checkpoint_schedules import (
    EndReverse,
    MultistageCheckpointSchedule,
    TwoLevelCheckpointSchedule,
)

import s2sad
from s2sad import checkpointed, grad


def wave(u, c, n, k):
    v = np.zeros_like(u)
    for i in checkpointed(range(n), snapshots=k):
        v[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u += c * np.sin(v) + seen(i)
    return np.sum(u**2)


def until(u, c, n, k, period):
    v = np.zeros_like(u)
    for i in checkpointed(itertools.count(), snapshots=k, period=period):
        v[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u += c * np.sin(v) + seen(i)
        if i == n - 1:
            break
    return np.sum(u**2)


def plain(u, c, n):
    v = np.zeros_like(u)
    for _ in range(n):
        v[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u += c * np.sin(v)
    return np.sum(u**2)


def seen(i):
    return 0.0 * i


def planned(n, k):
    """Return how many rounds the schedule runs."""
    total = 0
    for action in MultistageCheckpointSchedule(n, k, 0):
        if isinstance(action, EndReverse):
            return total
        total += action.n1 - action.n0 if hasattr(action, "write_ics") else 0
    return total


def planned_until(n, k, period):
    """Return how many rounds the schedule runs where nobody knows how many there are."""
    total, schedule = n, TwoLevelCheckpointSchedule(period, k)
    for action in schedule:
        if schedule.max_n is None:
            if action.n1 >= n:
                schedule.finalize(n)
        elif isinstance(action, EndReverse):
            return total
        elif hasattr(action, "write_ics"):
            total += action.n1 - action.n0


def rounds(f, *rest):
    """Return how many rounds the derived gradient runs."""
    u, ran, space = np.linspace(0.0, 1.0, 10), [], {}
    exec(grad(f).source(u, 0.1, *rest), space)
    space["seen"] = lambda i: ran.append(i) or 0.0
    space[f"{f.__name__}_grad"](u, 0.1, *rest)
    return len(ran)


def peak(f, u, *rest):
    """Return the most memory that a gradient holds, in states: two arrays like u."""
    grad(f)(u, *rest)
    tracemalloc.start()
    grad(f)(u, *rest)
    size = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size / (2 * u.nbytes)


def main():
    """Print a table."""
    print(f"s2sad {s2sad.__version__}, states of two arrays of 20,000 numbers\n")
    print("| n | k | rounds run | schedule | peak memory, states | of the plain loop |")
    print("|---|---|---|---|---|---|")
    u = np.linspace(0.0, 1.0, 20_000)
    for n, k in ((50, 5), (200, 5), (200, 10), (200, 40)):
        held, whole = peak(wave, u, 0.1, n, k), peak(plain, u, 0.1, n)
        ran = rounds(wave, n, k)
        print(f"| {n} | {k} | {ran} | {planned(n, k)} | {held:.1f} | {whole:.1f} |")
    print("\nbroken off after n rounds, one state kept a period\n")
    print("| n | k | period | rounds run | schedule | peak memory, states | of the plain loop |")
    print("|---|---|---|---|---|---|---|")
    for n, k, period in ((50, 5, 21), (200, 5, 21), (200, 10, 66), (800, 5, 21)):
        held, whole = peak(until, u, 0.1, n, k, period), peak(plain, u, 0.1, n)
        ran, asked = rounds(until, n, k, period), planned_until(n, k, period)
        print(f"| {n} | {k} | {period} | {ran} | {asked} | {held:.1f} | {whole:.1f} |")


if __name__ == "__main__":
    main()
