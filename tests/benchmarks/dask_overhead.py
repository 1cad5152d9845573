"""What a partition costs under s2sad.dask, and what two processes gain, beside the same by hand.

python tests/benchmarks/dask_overhead.py
"""

import statistics
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, Future, LocalCluster, wait

import s2sad

FEATURES, REPEATS = 10, 5
over_partitions = s2sad.dask.value_and_grad
COUNTS = (1, 100, 1000)
LARGE, LARGE_PARTS = 4_000_000, 16


def loss(w, X, y):
    z = X @ w
    return np.sum(np.logaddexp(0.0, z) - y * z)


def data(parts, rows):
    """Partitions of so many rows each, in memory."""
    X = da.random.default_rng(0).normal(size=(parts * rows, FEATURES), chunks=(rows, FEATURES))
    y = da.random.default_rng(1).random(size=parts * rows, chunks=rows)
    kept = dask.persist(X, y)
    if any(isinstance(key, Future) for key in kept[0].dask.values()):
        wait(kept)
    return kept


def by_hand():
    """The same with dask.delayed: a task for each partition, and a tree of sums."""
    gradient = s2sad.value_and_grad(loss)
    each = dask.delayed(lambda w, X, y: gradient(w, X, y), pure=False)
    both = dask.delayed(lambda a, b: (a[0] + b[0], a[1] + b[1]), pure=False)

    def summed(w, X, y):
        w = dask.delayed(w)
        pairs = zip(X.to_delayed().ravel(), y.to_delayed(), strict=True)
        level = [each(w, a, b) for a, b in pairs]
        while len(level) > 1:
            rest = level[len(level) // 2 * 2 :]
            level = [both(*level[i : i + 2]) for i in range(0, len(level) - 1, 2)] + rest
        return level[0].compute()

    return summed


def seconds(call, *args):
    """The median of some calls, after one that derives."""
    call(*args)
    found = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        call(*args)
        found.append(time.perf_counter() - begun)
    return statistics.median(found)


def main():
    w = np.zeros(FEATURES)
    ours = over_partitions(loss, over=("X", "y"))
    hand = by_hand()
    rows = [np.zeros((10, FEATURES)), np.zeros(10)]
    print(
        f"one call without Dask, 10 rows: {seconds(s2sad.value_and_grad(loss), w, *rows):.6f} s\n"
    )
    print("milliseconds a call, partitions of 10 rows    s2sad.dask   by hand   a partition, ours")
    for workers in (0, 2):
        with client(workers):
            where = f"{workers} processes" if workers else "threads"
            for parts in COUNTS:
                X, y = data(parts, 10)
                a, b = seconds(ours, w, X, y), seconds(hand, w, X, y)
                line = f"{where}, {parts} partitions"
                print(f"{line:42}{a * 1e3:14.1f}{b * 1e3:10.1f}{a * 1e3 / parts:20.2f}")
    print(f"\nseconds a call, {LARGE:,} rows in {LARGE_PARTS} partitions   s2sad.dask   by hand")
    for workers in (1, 2):
        with client(workers):
            X, y = data(LARGE_PARTS, LARGE // LARGE_PARTS)
            a, b = seconds(ours, w, X, y), seconds(hand, w, X, y)
            print(f"{f'{workers} processes':46}{a:14.3f}{b:10.3f}")


class client:
    """A cluster of so many processes, or none: threads of this one."""

    def __init__(self, workers):
        self.workers = workers

    def __enter__(self):
        if self.workers:
            self.cluster = LocalCluster(
                n_workers=self.workers, threads_per_worker=1, dashboard_address=":0"
            )
            self.client = Client(self.cluster)

    def __exit__(self, *_):
        if self.workers:
            self.client.close()
            self.cluster.close()


if __name__ == "__main__":
    main()
