"""Every program of the tests that write memory, of the goldens and of the examples, as Programs."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from properties import Program, leaves
from targets import TARGETS, load_file

from tests import (
    writing,
    writing_aliases,
    writing_calls,
    writing_containers,
    writing_library,
    writing_objects,
    writing_structures,
)

HERE = Path(__file__).parent
MODULES = (
    writing,
    writing_calls,
    writing_library,
    writing_containers,
    writing_objects,
    writing_structures,
)


def program(name: str, f: Any, args: Any, wrt: tuple[int, ...] = ()) -> Program:
    """Return a Program; without wrt, all arguments that have floats are differentiated."""
    chosen = wrt or tuple(i for i, a in enumerate(args) if leaves(a).size)
    return Program(name, f, lambda: copy.deepcopy(list(args)), chosen)


def written() -> Iterator[Program]:
    """Yield the programs of tests/writing*.py."""
    for module in MODULES:
        word = module.__name__.rpartition(".")[2]
        for f, args in module.PROGRAMS:
            yield program(f"{word}.{f.__name__}", f, args)
    for f in writing_aliases.PROGRAMS:
        yield program(f"writing_aliases.{f.__name__}", f, (writing_aliases.X,))


def golden() -> Iterator[Program]:
    """Yield the programs of golden/."""
    for t in TARGETS:
        yield program(f"golden.{t.module}", t.primal(), t.args[0], t.wrt)
    for path in sorted((HERE / "golden" / "programs").glob("*.py")):
        m = load_file(path, f"golden_{path.stem}")
        yield program(f"golden.{path.stem}", getattr(m, path.stem), m.arguments(), m.WRT)


def examples() -> Iterator[Program]:
    """Yield the losses of examples/, on little data."""
    folder = HERE.parent / "examples"
    load = {name: load_file(folder / f"{name}.py") for name in ("heat", "lstm", "lu")}
    heat, lstm, lu = load.values()
    final = heat.observe(heat.truth(6), steps=5)
    yield program(
        "examples.heat",
        heat.loss,
        (np.linspace(0.1, 0.9, final.size), final, heat.ALPHA, 5, heat.WEIGHT),
        (0,),
    )
    yield program("examples.lstm", lstm.loss, (lstm.initial(3), lstm.series(8)), (0,))
    edges, logs, currents, measured = lu.problem(2)
    yield program("examples.lu", lu.loss, (0.5 * logs + 0.1, edges, currents, measured), (0,))
    water = load_file(folder / "shallow_water.py")
    depth, eta, rows, columns, seen = water.problem(6, 8)
    rest = (eta, seen, rows, columns, water.DT, len(seen))
    yield program("examples.shallow_water", water.loss, (0.9 * depth.ravel(), *rest), (0,))
    lynx = load_file(folder / "lynx_hare.py")
    times, pelts = lynx.read_data()
    start = np.log(lynx.GUESS)
    yield program("examples.lynx_hare", lynx.loss, (start, times[:4], pelts[:4], 1e-3), (0,))
    digits = load_file(folder / "digits.py")
    X = np.random.default_rng(0).random((5, 6))
    y = np.arange(5) % 3
    yield program("examples.digits", digits.loss, (digits.initial((6, 4, 3)), X, y), (0,))


PROGRAMS = {p.name: p for p in (*written(), *golden(), *examples())}
