"""Sums over Dask's partitions: against one machine, to the bit whoever computes, and refusals."""

import dataclasses
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np
import pytest

import s2sad
from s2sad import ActivityError, MismatchError, UnsupportedError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
cloudpickle = pytest.importorskip("cloudpickle")
pytest.importorskip("threadpoolctl")
distributed = pytest.importorskip("distributed")
Client, LocalCluster, wait = distributed.Client, distributed.LocalCluster, distributed.wait

# Dask's own: workers that are killed leave sockets behind.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

RNG = np.random.default_rng(0)
ROWS, ROWS_Y = RNG.normal(size=(403, 5)), RNG.normal(size=403)
W, V = RNG.normal(size=5), RNG.normal(size=5)


def loss(w, X, y):
    r = X @ w - y
    return 0.5 * np.sum(r * r)


def split(chunks=100):
    return da.from_array(ROWS, chunks=(chunks, 5)), da.from_array(ROWS_Y, chunks=chunks)


def bits(structure):
    return [np.asarray(leaf.value).tobytes() for leaf in s2sad.tree.leaves(structure)]


def same(one, other):
    assert bits(one) == bits(other)
    assert len(bits(one)) > 0


def close(one, other):
    assert len(bits(one)) == len(bits(other)) > 0
    s2sad.tree_map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), one, other)


def cluster(workers, threads=1):
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(scope="module")
def client():
    with cluster(1) as one, Client(one) as found:
        yield found


@pytest.fixture
def two(client):
    return scaled(client, 2)


def scaled(client, workers):
    """Return a client whose cluster has so many workers, each a process."""
    client.cluster.scale(workers)
    deadline = time.monotonic() + 300
    while len(client.scheduler_info()["workers"]) != workers:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return client


@pytest.fixture(params=["threads", "synchronous"])
def scheduler(request):
    with dask.config.set(scheduler=request.param):
        yield request.param


# --- against one machine -------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [1, 7, 100, 403, (0, 1, 2, 400), ((400, 3, 0))])
def test_is_that_of_all_rows(scheduler, chunks):
    X, y = split(chunks)
    value, gradient = s2sad.dask.value_and_grad(loss, over=("X", "y"))(W, X, y)
    close((value, gradient), s2sad.value_and_grad(loss)(W, ROWS, ROWS_Y))
    same(gradient, s2sad.dask.grad(loss, over=("X", "y"))(W, X, y))


def test_products(scheduler):
    X, y = split()
    over = ("X", "y")
    close(
        s2sad.dask.jvp(loss, (W, X, y), (V, None, None), over=over),
        s2sad.jvp(loss, (W, ROWS, ROWS_Y), (V, None, None)),
    )
    close(
        s2sad.dask.hvp(loss, (W, X, y), (V, None, None), over=over),
        s2sad.hvp(loss, (W, ROWS, ROWS_Y), (V, None, None)),
    )
    halved = s2sad.dask.hvp(loss, (W, X, y), (V, None, None), over=over, reduce="mean")
    close(halved * 5, s2sad.hvp(loss, (W, ROWS, ROWS_Y), (V, None, None)))


def test_second_derivatives_by_several_arguments(scheduler):
    def coupled(w, b, X):
        return np.sum(np.tanh(X @ w + b) ** 2)

    X, _ = split()
    found = s2sad.dask.hvp(coupled, (W, 0.5, X), (V, 1.0, None), over="X")
    close(found, s2sad.hvp(coupled, (W, 0.5, ROWS), (V, 1.0, None)))


def test_mean_is_over_partitions(scheduler):
    X, y = split((100, 303))
    value, gradient = s2sad.dask.value_and_grad(loss, over=(1, 2), reduce="mean")(W, X, y)
    parts = [
        s2sad.value_and_grad(loss)(W, ROWS[s], ROWS_Y[s]) for s in (slice(100), slice(100, 403))
    ]
    close(value, (parts[0][0] + parts[1][0]) / 2)
    close(gradient, (parts[0][1] + parts[1][1]) / 2)


def test_what_stands_beside_the_loss_comes_in_order(scheduler):
    def with_rows(w, X, y):
        return loss(w, X, y), {"rows": len(y), "first": y[0]}

    X, y = split()
    f = s2sad.dask.value_and_grad(with_rows, over=("X", "y"), has_aux=True)
    (value, aux), gradient = f(W, X, y)
    close((value, gradient), s2sad.value_and_grad(loss)(W, ROWS, ROWS_Y))
    assert [a["rows"] for a in aux] == [100, 100, 100, 100, 3]
    assert [a["first"] for a in aux] == list(ROWS_Y[::100])
    again, aux = s2sad.dask.grad(with_rows, over=("X", "y"), has_aux=True)(W, X, y)
    same(again, gradient)
    assert len(aux) == 5
    y_, dy, aux = s2sad.dask.jvp(
        with_rows, (W, X, y), (V, None, None), over=("X", "y"), has_aux=True
    )
    close((y_, dy), s2sad.jvp(loss, (W, ROWS, ROWS_Y), (V, None, None)))
    assert [a["rows"] for a in aux] == [100, 100, 100, 100, 3]


@dataclasses.dataclass
class Model:
    layers: list
    scale: float
    name: str = "m"
    count: int = 3


def network(model, X, y):
    h = X
    for layer in model.layers:
        h = np.tanh(h @ layer["W"] + layer["b"])
    return np.sum((model.scale * h[:, 0] - y) ** 2)


def a_model():
    rng = np.random.default_rng(1)
    layers = [
        {"W": rng.normal(size=(5, 4)), "b": np.zeros(4)},
        {"W": rng.normal(size=(4, 1)), "b": np.zeros(1)},
    ]
    return Model(layers, 2.0)


def test_structures(scheduler):
    X, y = split()
    model = a_model()
    value, gradient = s2sad.dask.value_and_grad(network, over=("X", "y"), reduce="mean")(
        model, X, y
    )
    want = s2sad.grad(network)(model, ROWS, ROWS_Y)
    assert type(gradient) is Model and gradient.name is None and gradient.count is None
    np.testing.assert_allclose(s2sad.ravel(gradient)[0] * 5, s2sad.ravel(want)[0], rtol=1e-9)


def test_single_precision_stays(scheduler):
    X, y = (part.astype(np.float32) for part in split())
    w = W.astype(np.float32)
    value, gradient = s2sad.dask.value_and_grad(loss, over=("X", "y"), reduce="mean")(w, X, y)
    assert value.dtype == gradient.dtype == np.float32
    np.testing.assert_allclose(gradient * 5, s2sad.grad(loss)(W, ROWS, ROWS_Y), rtol=1e-4)


def test_named_tuples_and_integers_keep_their_places():
    from collections import namedtuple

    Point = namedtuple("Point", "w n")
    X, y = split()
    gradient = s2sad.dask.grad(lambda p, X, y: loss(p.w, X, y) * p.n, over=("X", "y"))(
        Point(W, 3), X, y
    )
    assert type(gradient) is Point and gradient.n is None
    close(gradient.w, 3 * s2sad.grad(loss)(W, ROWS, ROWS_Y))


def test_several_parameters_and_an_integer(scheduler):
    def shifted(w, b, X, y, *, power=2):
        return np.sum((X @ w + b - y) ** power)

    X, y = split()
    found = s2sad.dask.grad(shifted, wrt=("b", "w"), over=("X", "y"))(W, 1, y=y, X=X)
    close(found, s2sad.grad(shifted, wrt=("b", "w"))(W, 1, ROWS, ROWS_Y))
    found = s2sad.dask.grad(shifted, wrt=1, over=(2, -2))(W, 1.0, X, y, power=3)
    close(found, s2sad.grad(shifted, wrt=1)(W, 1.0, ROWS, ROWS_Y, power=3))


def test_annotations():
    def declared(w, v, X: s2sad.Const, y):
        return loss(w * v, X, y)

    X, y = split()
    found = s2sad.dask.grad(declared, over=("X", "y"))(W, V, X, y)
    close(found, s2sad.grad(declared, wrt=("w", "v"))(W, V, ROWS, ROWS_Y))


def test_parts_of_arguments():
    X, y = split()
    found = s2sad.dask.grad(lambda m, X, y: loss(m["w"], X, y) + m["b"], wrt="m.w", over=("X", "y"))
    assert "m.w" in repr(found)


@s2sad.differentiate(wrt="w")
def decorated(X, w, y):
    return loss(w, X, y)


class Fitted:
    def __init__(self, X_scale):
        self.X_scale = X_scale

    def loss(self, w, X, y):
        return loss(w, X * self.X_scale, y)

    @s2sad.differentiate
    def decorated(self, w, X, y):
        return loss(w, X * self.X_scale, y)


def any_arguments(*args):
    return loss(*args)


def test_whatever_is_a_function(scheduler):
    X, y = split()
    want = s2sad.grad(loss)(W, ROWS, ROWS_Y)
    close(s2sad.dask.grad(decorated, over=("X", "y"))(X, W, y), want)
    fitted = Fitted(1.0)
    close(s2sad.dask.grad(fitted.loss, over=("X", "y"))(W, X, y), want)
    close(s2sad.dask.grad(fitted.decorated, over=("X", "y"))(W, X, y), want)
    close(s2sad.dask.grad(any_arguments, over=(1, 2))(W, X, y), want)
    close(s2sad.dask.grad(lambda w, *data: loss(w, *data), over=(1, 2))(W, X, y), want)
    scale = 1.0
    close(s2sad.dask.grad(lambda w, X, y: scale * loss(w, X, y), over=(1, 2))(W, X, y), want)


# --- kinds of collections ------------------------------------------------------------------------


def by_rows(w, rows):
    total = 0.0
    for row in rows:
        total += (w[0] * row["x"] + w[1] - row["y"]) ** 2
    return total


def test_bags(scheduler):
    rows = [{"x": float(i), "y": 2.0 * i * i} for i in range(23)]
    want = s2sad.value_and_grad(by_rows)(W[:2], rows)
    for bag in (
        db.from_sequence(rows, npartitions=4),
        db.from_sequence(rows, npartitions=4).map(dict),
        db.concat([db.from_sequence(rows, npartitions=2), db.from_sequence([], npartitions=1)]),
        db.from_delayed([dask.delayed(iter)(rows)]),
    ):
        close(s2sad.dask.value_and_grad(by_rows, over="rows")(W[:2], bag), want)


def test_data_frames(scheduler):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")

    def by_columns(w, df):
        return np.sum((df["x"] * w[0] + df["n"] * w[1]) ** 2)

    frame = pd.DataFrame({"x": ROWS_Y, "n": np.arange(403), "word": ["a"] * 403})
    columns = {"x": ROWS_Y, "n": np.arange(403)}
    want = s2sad.value_and_grad(by_columns)(W[:2], columns)
    f = s2sad.dask.value_and_grad(by_columns, over="df")
    whole = dd.from_pandas(frame, npartitions=3)
    close(f(W[:2], whole), want)
    close(f(W[:2], whole[["n", "x"]]), want)
    some = whole[whole.n < 200]  # the last partition is empty
    less = {n: c[:200] for n, c in columns.items()}
    close(f(W[:2], some), s2sad.value_and_grad(by_columns)(W[:2], less))
    close(
        s2sad.dask.grad(lambda w, x: np.sum((w * x) ** 2), over="x")(2.0, whole.x),
        s2sad.grad(lambda w, x: np.sum((w * x) ** 2))(2.0, ROWS_Y),
    )


def test_lists_of_delayed_values(scheduler):
    load = dask.delayed(lambda i: (ROWS[i : i + 100], ROWS_Y[i : i + 100]))
    parts = [load(i) for i in range(0, 403, 100)]
    f = s2sad.dask.value_and_grad(lambda w, part: loss(w, part[0], part[1]), over="part")
    close(f(W, parts), s2sad.value_and_grad(loss)(W, ROWS, ROWS_Y))
    close(f(W, parts[:1]), s2sad.value_and_grad(loss)(W, ROWS[:100], ROWS_Y[:100]))
    again = s2sad.dask.value_and_grad(loss, over=("X", "y"))
    xs, ys = [p[0] for p in parts], [p[1] for p in parts]
    close(again(W, xs, ys), s2sad.value_and_grad(loss)(W, ROWS, ROWS_Y))
    close(again(W, xs, split()[1]), s2sad.value_and_grad(loss)(W, ROWS, ROWS_Y))


def test_partitions_of_several_kinds(scheduler):
    made = [ROWS[:100], ROWS[100:101].astype(np.float32), ROWS[:0], list(ROWS[101:103, 0]), 2.0]
    parts = [dask.delayed(part) for part in made]

    def squares(w, part):
        return np.sum((w * np.asarray(part)) ** 2)

    f = s2sad.dask.value_and_grad(squares, over="part")
    want = sum(np.sum(np.asarray(part) ** 2) for part in made)
    value, slope = f(3.0, parts)
    assert value == pytest.approx(9.0 * want) and slope == pytest.approx(6.0 * want)
    same(f(3.0, parts), (value, slope))


def test_chunks_of_unknown_length(scheduler):
    X, y = split()
    keep = y > 1.5  # some chunks keep one row or none
    close(
        s2sad.dask.grad(loss, over=("X", "y"))(W, X[keep], y[keep]),
        s2sad.grad(loss)(W, ROWS[ROWS_Y > 1.5], ROWS_Y[ROWS_Y > 1.5]),
    )


def test_what_two_arguments_are_made_of_is_made_once():
    made = []

    def load(i):
        made.append(i)
        return np.ones((10, 3)) * i

    blocks = [da.from_delayed(dask.delayed(load)(i), (10, 3), float) for i in range(4)]
    Z = da.concatenate(blocks)
    with dask.config.set(scheduler="synchronous"):
        s2sad.dask.grad(loss, over=("X", "y"))(W[:2], Z[:, :2], Z[:, 2])
    assert sorted(made) == [0, 1, 2, 3]


# --- to the bit ----------------------------------------------------------------------------------


def big():
    """What BLAS would divide among threads, with strides, and a function that it divides."""
    rng = np.random.default_rng(2)
    Z = da.from_array(rng.normal(size=(60_000, 13)), chunks=(9_000, 13))
    return Z[:, :12:2], Z[:, 12]


def everything(X, y):
    w, v = np.linspace(-1.0, 1.0, 6), np.ones(12)[::2]
    over = ("X", "y")
    return [
        s2sad.dask.value_and_grad(loss, over=over)(w, X, y),
        s2sad.dask.hvp(loss, (w, X, y), (v, None, None), over=over, reduce="mean"),
        s2sad.dask.jvp(loss, (w, X, y), (v, None, None), over=over),
    ]


def test_same_bits_whoever_computes(client):
    X, y = big()
    found = []
    for workers in (1, 2, 4):
        scaled(client, workers)
        found.append(everything(X, y))
    kept = client.persist([X, y])
    wait(kept)
    found.append(everything(*kept))
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            found.append(everything(X, y))
    with LocalCluster(
        n_workers=1, threads_per_worker=3, processes=False, dashboard_address=":0"
    ) as one:
        with Client(one):
            found.append(everything(X, y))
    for other in found[1:]:
        same(found[0], other)


def test_workers_derive_nothing(client):
    scaled(client, 4)
    X, y = split((100, 1, 0, 302))
    s2sad.dask.value_and_grad(loss, over=("X", "y"))(W, X, y)
    s2sad.dask.grad(by_rows, over="rows")(W[:2], db.from_sequence([{"x": 1.0, "y": 1.0}] * 5))
    loaded = client.run(lambda: "s2sad.operators.deriving" in __import__("sys").modules)
    assert list(loaded.values()) == [False] * 4


def test_tasks_have_names(client):
    X, y = split()
    s2sad.dask.value_and_grad(loss, over=("X", "y"))(W, X, y)
    names = client.run_on_scheduler(lambda dask_scheduler: {*dask_scheduler.task_prefixes})
    assert {"loss_value_and_grad", "loss_value_and_grad_sum"} <= names


def test_a_worker_that_dies(two, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()

    def load(i):
        Path(marks, str(i)).touch()
        time.sleep(0.05)
        return ROWS[i * 20 : i * 20 + 20], ROWS_Y[i * 20 : i * 20 + 20]

    f = s2sad.dask.value_and_grad(lambda w, part: loss(w, part[0], part[1]), over="part")
    parts = [dask.delayed(load)(i) for i in range(20)]
    with dask.config.set(scheduler="synchronous"):
        want = f(W, parts)
    for mark in marks.iterdir():
        mark.unlink()
    victim = next(iter(two.run(os.getpid).values()))

    def kill():
        while len(list(marks.iterdir())) < 8:
            time.sleep(0.01)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    same(f(W, parts), want)
    killer.join()
    assert len(list(marks.iterdir())) == 20
    scaled(two, 2)
    assert victim not in two.run(os.getpid).values()
    same(f(W, parts), want)


def test_one_after_the_other_in_many_threads():
    X, y = split()
    want = s2sad.dask.value_and_grad(loss, over=("X", "y"))(W, X, y)
    f = s2sad.dask.value_and_grad(loss, over=("X", "y"))
    found = []
    threads = [threading.Thread(target=lambda: found.append(f(W, X, y))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for one in found:
        same(one, want)


def test_blas_has_its_threads_again():
    import threadpoolctl

    before = [i["num_threads"] for i in threadpoolctl.threadpool_info()]
    X, y = split()
    s2sad.dask.grad(loss, over=("X", "y"))(W, X, y)
    assert [i["num_threads"] for i in threadpoolctl.threadpool_info()] == before


# --- on real processes ---------------------------------------------------------------------------


def failing(w, X, y):
    total = loss(w, X, y)
    if len(y) == 3:
        raise KeyError("three rows")
    return total


def test_what_a_partition_raises(client):
    X, y = split()
    with pytest.raises(KeyError, match="three rows") as caught:
        s2sad.dask.value_and_grad(failing, over=("X", "y"))(W, X, y)
    text = "".join(traceback.format_exception(caught.value))
    assert "partition 4 of X and y" in text
    line = failing.__code__.co_firstlineno + 3
    assert f'File "{__file__}", line {line}' in text
    assert 'raise KeyError("three rows")' in text


def test_what_a_partition_raises_without_a_cluster(scheduler):
    X, y = split()
    over, first = ("X", "y"), failing.__code__.co_firstlineno
    along = (W, X, y), (V, None, None)
    for line, operator in (
        (first + 3, lambda: s2sad.dask.grad(failing, over=over)(W, X, y)),
        (first + 3, lambda: s2sad.dask.jvp(failing, *along, over=over)),
        (first, lambda: s2sad.dask.hvp(failing, *along, over=over)),  # the line is of a derivative
    ):
        with pytest.raises(KeyError) as caught:
            operator()
        notes = "\n".join(caught.value.__notes__)
        assert "partition 4" in notes
        assert f'File "{__file__}", line {line}' in notes


def test_errors_keep_their_notes():
    error = UnsupportedError("no", remedy="yes")
    error.add_note("partition 1")
    again = pickle.loads(pickle.dumps(error))
    assert again.__notes__ == ["partition 1"] and str(again) == "no\nyes"
    assert not hasattr(pickle.loads(pickle.dumps(UnsupportedError("no"))), "__notes__")


def writing(w, X, y, at):
    w *= 2.0
    X[:, 0] = w[0]
    y += 1.0
    at["scale"] = at["scale"] * w[1]
    return loss(w, X, y) * at["scale"]


def test_arguments_stay_as_they_were(client):
    w, at = W.copy(), {"scale": 2.0}
    want = s2sad.grad(writing)(w, ROWS.copy(), ROWS_Y.copy(), {"scale": 2.0})
    f = s2sad.dask.grad(writing, over=("X", "y"))
    for scheduler in ("client", "threads", "synchronous"):
        X, y = split()
        with dask.config.set({} if scheduler == "client" else {"scheduler": scheduler}):
            X, y = dask.persist(X, y)
            close(f(w, X, y, at), want)
            close(f(w, X, y, at), want)
            assert np.array_equal(X.compute(), ROWS) and np.array_equal(y.compute(), ROWS_Y)
    assert np.array_equal(w, W) and at == {"scale": 2.0}


def test_futures_and_scattered_partitions(client):
    futures = client.map(lambda i: ROWS[i : i + 100], range(0, 403, 100))
    close(
        s2sad.dask.grad(lambda w, X: np.sum((X @ w) ** 2), over="X")(W, futures),
        s2sad.grad(lambda w, X: np.sum((X @ w) ** 2))(W, ROWS),
    )


def test_structures_on_processes(client):
    X, y = split()
    model, f = a_model(), s2sad.dask.value_and_grad(network, over=("X", "y"))
    found = f(model, X, y)
    with dask.config.set(scheduler="synchronous"):
        same(found, f(model, X, y))
    close(
        s2sad.dask.grad(Fitted(1.0).loss, over=("X", "y"))(W, X, y),
        s2sad.grad(loss)(W, ROWS, ROWS_Y),
    )


def test_globals_are_those_of_the_client(client):
    namespace = {"np": np, "SCALE": 2.0}
    from s2sad.syntax.snippets import defined

    f = defined("def scaled(w, X):\n    return SCALE * np.sum((X @ w) ** 2)\n", namespace, "test")
    X, _ = split()
    operator = s2sad.dask.grad(f, over="X")
    once = operator(W, X)
    namespace["SCALE"] = 4.0
    close(operator(W, X), 2.0 * once)


def test_inside_of_a_task(client):
    def task():
        X, y = split()
        return s2sad.dask.value_and_grad(loss, over=("X", "y"))(W, X, y)

    close(client.submit(task).result(), s2sad.value_and_grad(loss)(W, ROWS, ROWS_Y))


SCRIPT = """
import numpy as np
import dask.array as da
from distributed import Client, LocalCluster
import s2sad

class Scale:
    def __init__(self, by):
        self.by = by

@s2sad.differentiate
def helper(z):
    return np.sin(z) * np.pi

def loss(scale, w, X):
    return np.sum(helper(X @ w) ** 2) * scale.by + np.sum(w * helper(X[0]))

if __name__ == "__main__":
    X = da.from_array(np.arange(30.0).reshape(10, 3) / 30.0, chunks=(4, 3))
    f = s2sad.dask.grad(loss, wrt="w", over="X")
    with LocalCluster(n_workers=1, dashboard_address=None) as c, Client(c):
        there = f(Scale(2.0), np.ones(3), X)
    here = f(Scale(2.0), np.ones(3), X)
    assert (there == here).all()
    print("fine")
"""


def test_functions_of_a_script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    run = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=600)
    assert run.stdout == "fine\n", run.stderr


# --- the operator --------------------------------------------------------------------------------


def test_looks_like_the_other_operators():
    X, y = split()
    f = s2sad.dask.value_and_grad(loss, over=("X", "y"))
    assert f.__name__ == "loss_value_and_grad" and "X, y" in f.__doc__
    assert repr(f).startswith("<s2sad.dask.value_and_grad(<function loss")
    assert "over=('X', 'y')" in repr(f)
    assert f.source(W, X, y) == f.source(W, ROWS, ROWS_Y)
    assert f.source(W, X, y) == s2sad.value_and_grad(loss).source(W, ROWS, ROWS_Y)
    f(W, X, y)
    assert "Value and gradient of loss" in f._repr_html_()
    again = pickle.loads(pickle.dumps(f))
    same(again(W, X, y), f(W, X, y))
    assert list(f.__signature__.parameters) == ["w", "X", "y"]


def test_goes_through_cloudpickle_with_a_lambda():
    """cloudpickle drops the file of a lambda's code; its module still has it."""
    X, _ = split()
    local = s2sad.dask.grad(lambda w, X: np.sum((X @ w) ** 2), over="X")
    again = cloudpickle.loads(cloudpickle.dumps(local))
    same(again(W, X), local(W, X))
    assert "test_dask.py" in again.source(W, X)
    plain = cloudpickle.loads(cloudpickle.dumps(s2sad.grad(lambda w: np.sum(w**3))))
    np.testing.assert_allclose(plain(W), 3.0 * W**2)


def test_is_emitted(tmp_path):
    X, y = split()
    path = s2sad.dask.grad(loss, over=("X", "y")).emit(tmp_path / "derived.py", W, X, y)
    assert "def loss_grad(w, X, y):" in path.read_text(encoding="utf-8")


MISUSE = {
    "no parameter": (
        lambda X, y: s2sad.dask.grad(loss, over="Z"),
        ActivityError,
        "Z.*no parameter",
    ),
    "no position": (lambda X, y: s2sad.dask.grad(loss, over=7), ActivityError, "no parameter"),
    "none": (lambda X, y: s2sad.dask.grad(loss, over=()), ActivityError, "no parameter"),
    "twice": (lambda X, y: s2sad.dask.grad(loss, over=("X", 1)), ActivityError, "X twice"),
    "a float": (lambda X, y: s2sad.dask.grad(loss, over=1.0), ActivityError, "1.0"),
    "missing": (lambda X, y: s2sad.dask.grad(loss), TypeError, "over"),
    "wrt": (lambda X, y: s2sad.dask.grad(loss, wrt="X", over="X"), ActivityError, "X"),
    "custom": (lambda X, y: s2sad.dask.grad(loss, over="w"), ActivityError, "with respect to w"),
    "reduce": (
        lambda X, y: s2sad.dask.grad(loss, over="X", reduce="max"),
        ValueError,
        "'max' is not one of sum, mean",
    ),
    "jit": (lambda X, y: s2sad.dask.grad(loss, over="X", jit=True), UnsupportedError, "jit=True"),
    "jit of jvp": (
        lambda X, y: s2sad.dask.jvp(loss, (W, X, y), (V, None, None), over=(1, 2), jit=True),
        UnsupportedError,
        "jit=True",
    ),
    "argnums": (lambda X, y: s2sad.dask.grad(loss, argnums=0, over="X"), TypeError, "wrt"),
    "NumPy": (
        lambda X, y: s2sad.dask.grad(loss, over=("X", "y"))(W, ROWS, y),
        MismatchError,
        r"X is a NumPy array.*\n.*dask.array.from_array\(X",
    ),
    "numbers": (
        lambda X, y: s2sad.dask.grad(loss, over=("X", "y"))(W, [1.0, 2.0], y),
        MismatchError,
        r"X\[0\]",
    ),
    "a number": (lambda X, y: s2sad.dask.grad(loss, over="X")(W, 3.0, ROWS_Y), MismatchError, "X"),
    "one delayed": (
        lambda X, y: s2sad.dask.grad(loss, over="X")(W, dask.delayed(ROWS), ROWS_Y),
        MismatchError,
        "list of delayed",
    ),
    "no partitions": (
        lambda X, y: s2sad.dask.grad(loss, over=("X", "y"))(W, [], []),
        MismatchError,
        "no partitions",
    ),
    "number of partitions": (
        lambda X, y: s2sad.dask.grad(loss, over=("X", "y"))(W, X, y.rechunk(50)),
        MismatchError,
        "X has 5 partitions and y has 9",
    ),
    "lengths": (
        lambda X, y: s2sad.dask.grad(loss, over=("X", "y"))(
            W, X, y.rechunk(((99, 101, 100, 100, 3),))
        ),
        MismatchError,
        "Partition 0 of X has 100 rows and that of y has 99",
    ),
    "columns": (
        lambda X, y: s2sad.dask.grad(loss, over=("X", "y"))(W, X.rechunk((100, 2)), y),
        MismatchError,
        r"axis 1(.|\n)*rechunk",
    ),
    "unnamed": (
        lambda X, y: s2sad.dask.grad(loss, over="X")(W, X, y),
        MismatchError,
        "y is a collection of Dask's, but over does not name it",
    ),
    "a tangent": (
        lambda X, y: s2sad.dask.jvp(loss, (W, X, y), (V, X, None), over=("X", "y")),
        ActivityError,
        "X has a tangent",
    ),
    "shapes": (
        lambda X, y: s2sad.dask.jvp(lambda w, X: X @ w, (W, X), (V, None), over="X"),
        MismatchError,
        r"shape \(100,\) for one partition and \(3,\)",
    ),
    "words": (
        lambda X, y: s2sad.dask.jvp(lambda w, X: (X[0] @ w, "a"), (W, X), (V, None), over="X"),
        MismatchError,
        "has_aux=True",
    ),
    "an array": (
        lambda X, y: s2sad.dask.grad(lambda w, X: X @ w, over="X")(W, X),
        ActivityError,
        "jacobian|vjp",
    ),
    "without axes": (
        lambda X, y: s2sad.dask.grad(loss, over="X")(W, X.sum(), ROWS_Y),
        MismatchError,
        "without axes",
    ),
    "pandas": (
        lambda X, y: s2sad.dask.grad(loss, over="X")(
            W, pytest.importorskip("pandas").DataFrame({"a": [1.0]}), ROWS_Y
        ),
        MismatchError,
        "from_pandas",
    ),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse(name):
    program, error, text = MISUSE[name]
    with pytest.raises(error, match=text), dask.config.set(scheduler="synchronous"):
        program(*split())


def over_partitions(w):
    X, y = split()
    value, _ = s2sad.dask.value_and_grad(loss, over=("X", "y"))(w, X, y)
    return 2.0 * value


def test_is_refused_inside_a_differentiated_function():
    with pytest.raises(s2sad.MissingRuleError, match="its partitions are computed by Dask"):
        s2sad.grad(over_partitions)(np.ones(3))


def test_an_error_names_the_user_s_file():
    with pytest.raises(ActivityError) as caught:
        s2sad.dask.grad(loss, over="Z")
    assert "test_dask.py" in str(caught.value)


def test_is_told_where_dask_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r"pip install 's2sad\[dask\]'"):
        s2sad.dask.grad(loss, over="X")


def test_importing_s2sad_imports_no_dask():
    program = "import s2sad, sys; s2sad.dask.grad; print('dask' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.strip() == "False", run.stderr
