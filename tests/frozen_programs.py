"""All programs that the tests hold as data, by name, each made only where it is asked for.

    python tests/frozen_programs.py            prints how many programs each family has

A family of hundreds that a table or a seed makes is run in part, chosen by names: FAMILIES says
one in how many; `held(all_of_them=True)` gives every one. tests/frozen.py runs them.
"""

from __future__ import annotations

import importlib
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [p for p in (str(HERE), str(HERE.parent)) if p not in sys.path]

import corpus  # noqa: E402
import numpy as np  # noqa: E402
import programs  # noqa: E402
from properties import Program  # noqa: E402

WRITING = "deques dicts given growing indices layers lazy members put_back science shared".split()
VECTOR = np.array([0.7, -0.4, 1.1])

# Lists in test modules: the functions, and how the module's names make their arguments.
LISTS = {
    "test_begun_as_integers": "X, W",
    "test_draws": "X",
    "test_frozen": "X, 0.4, 1.3",
    "test_outside_calls": "X",
    "test_scopes": "X",
    "test_unions": "X, 3",
    "test_unseen": "X",
    "test_autodiff": "",
    "test_checkpointed_states": "",
    "test_trees": "",
    "rules.test_fft": "",
    "rules.test_scipy_optimize": "",
}


@dataclass(frozen=True)
class Held:
    """A program by name, and how to make it."""

    name: str
    make: Callable[[], Program]


def of_text(name: str, text: str, args: tuple[Any, ...] | None = None) -> Held:
    """Return a program that is a text; without args the text says its arguments, and WRT."""

    def make() -> Program:
        module = programs.load(text, "frozen")
        if args is None:
            return Program(name, module.f, module.arguments, tuple(module.WRT))
        return corpus.program(name, module.f, args)

    return Held(name, make)


def of_function(name: str, f: Any, args: Any) -> Held:
    """Return a program that is a function with its arguments."""
    return Held(name, lambda: corpus.program(name, f, args))


def indented(body: str) -> str:
    """Return the lines of a body, four columns in."""
    return "\n".join(f"    {line}" for line in body.strip().splitlines())


# --- families ------------------------------------------------------------------------------------


def of_the_corpus() -> Iterator[Held]:
    """Yield the programs of corpus.py."""
    for p in corpus.PROGRAMS.values():
        yield Held(p.name, lambda p=p: p)


def of_writing() -> Iterator[Held]:
    """Yield the programs of the other files tests/writing_*.py."""
    for word in WRITING:
        module = importlib.import_module(f"tests.writing_{word}")
        for f, args in module.PROGRAMS:
            yield of_function(f"writing_{word}.{f.__name__}", f, args)


def of_small() -> Iterator[Held]:
    """Yield the programs of small_programs.py."""
    import small_programs

    found = re.findall(r"# (\w+) ([xM])\n(.*?)(?=\n# \w+ [xM]\n|\Z)", small_programs.TEXTS, re.S)
    vector = np.array([0.5, -0.3, 0.8])
    matrix = np.array([[0.5, -0.3, 0.8], [0.1, 0.9, -0.4], [0.3, 0.35, -0.2]])
    for name, kind, body in found:
        text = f"{small_programs.HEAD}def f(x, y):\n{indented(body)}\n"
        yield of_text(f"small.{name}", text, (matrix if kind == "M" else vector, 0.7))


def of_calls() -> Iterator[Held]:
    """Yield the table, and random programs, of calls_that_write.py."""
    import calls_that_write as calls

    keys = {key: None for key in [*calls.table(), *map(calls.drawn, range(300))]}
    for key in keys:
        yield of_text(f"calls.{'-'.join(key)}", calls.program(*key), (VECTOR,))


def of_objects() -> Iterator[Held]:
    """Yield the programs of objects_that_write.py."""
    import objects_that_write as objects

    for name, (_, uses) in objects.METHODS.items():
        for at in range(len(uses)):
            for write in objects.OWN_WRITES:
                yield of_text(
                    f"objects.{name}-{at}-{write}", objects.asked(name, at, write), (VECTOR,)
                )
    for name, body in re.findall(r"# (\w+)\n(.*?)(?=\n# \w+\n|\Z)", objects.OTHERS, re.S):
        yield of_text(f"objects.{name}", f"{objects.OTHER_HEAD}\n\n{body}", (VECTOR,))


def of_the_language() -> Iterator[Held]:
    """Yield the programs of tables.py, refused ones too: they must not become wrong ones."""
    import tables

    for c in tables.constructs():
        name = f"language.{c.section}: {c.title}"
        yield Held(
            name, lambda n=name, c=c: corpus.program(n, tables.function(c.text), (tables.X,))
        )


def of_the_boundaries() -> Iterator[Held]:
    """Yield the expressions of boundaries.py, where derivatives are a matter of convention."""
    import boundaries

    for number, (what, text, point, *_) in enumerate(boundaries.ENTRIES):
        x = np.array([float(v) for v in point])
        yield Held(
            f"boundaries.{what}",
            lambda k=number, t=text, x=x, w=what: corpus.program(w, boundaries.program(k, t), (x,)),
        )


def of_control() -> Iterator[Held]:
    """Yield the programs for JAX's control flow."""
    import jax_programs

    for name, (f, args) in jax_programs.PROGRAMS.items():
        yield of_function(f"control.{name}", f, args)


def from_inside() -> Iterator[Held]:
    """Yield the programs that say something to their own derivative."""
    import inside_programs as inside

    for word in ("STOPPING", "HOOKING", "ASKING"):
        first = (np.array([1.0, 2.0, 4.0]),) if word == "ASKING" else ()
        for f, args in getattr(inside, word).items():
            yield of_function(f"inside.{word.lower()}.{f.__name__}", f, (*first, *args))


def of_nesting() -> Iterator[Held]:
    """Yield the programs that nest operators."""
    for word in ("nesting", "nesting_fields"):
        for f in importlib.import_module(word).PROGRAMS:
            yield of_function(f"{word}.{f.__name__}", f, (np.array([1.2, 0.7, -0.3, 0.4]),))


def of_the_first_hour() -> Iterator[Held]:
    """Yield the programs of test_first_hour.py and the expressions of test_whole_rules.py."""
    hour = importlib.import_module("tests.test_first_hour")
    for name, body in hour.FOUND:
        text = f"{hour.HEAD}def f(x):\n{indented(body)}\n"
        yield of_text(f"first_hour.{name}", text, (hour.X,))
    whole = importlib.import_module("tests.test_whole_rules")
    for number, line in enumerate(whole.PROGRAMS):
        variable, _, expression = line.partition(": ")
        yield Held(
            f"whole_rules.{line}",
            lambda k=number, e=expression, v=variable: corpus.program(
                e, whole.program(5000 + k, e), (whole.NAMES[v],)
            ),
        )


def of_test_modules() -> Iterator[Held]:
    """Yield the programs that test modules hold in lists."""
    for word, given in LISTS.items():
        module = importlib.import_module(f"tests.{word}")
        args = eval(f"({given},)", vars(module)) if given else ()
        for number, (f, own) in enumerate(_listed(module.PROGRAMS)):
            name = getattr(f, "__name__", "").strip("<>")
            if f.__module__.startswith("tests.writing"):  # the corpus has it
                continue
            yield of_function(f"{word}.{name}-{number}", f, own or args)


def _listed(found: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield functions with what stands beside them: a tuple of arguments, or the arguments."""
    for row in found.items() if isinstance(found, dict) else found:
        f, *rest = row if isinstance(row, tuple) else (row,)
        yield f, rest[0] if len(rest) == 1 and isinstance(rest[0], tuple) else tuple(rest)


def of_pairs(seeds: range) -> Iterator[Held]:
    """Yield the programs in which features meet in pairs, of some seeds."""
    import pairs

    for seed in seeds:
        name = f"pairs.{seed}"
        yield Held(name, lambda s=seed, n=name: of_text(n, pairs.generate(s).text).make())


def of_seeds(seeds: range) -> Iterator[Held]:
    """Yield the random programs of programs.py, of some seeds."""
    for seed in seeds:
        name = f"random.{seed}"
        yield Held(name, lambda s=seed, n=name: of_text(n, programs.generate(s).text).make())


Family = Callable[[], Iterator[Held]]
FAMILIES: dict[Family, int] = {
    of_the_corpus: 1,
    of_writing: 3,
    of_small: 1,
    of_calls: 8,
    of_objects: 3,
    of_the_language: 1,
    of_the_boundaries: 1,
    of_control: 1,
    from_inside: 1,
    of_nesting: 3,
    of_the_first_hour: 1,
    of_test_modules: 1,
}


def held(all_of_them: bool = False) -> Iterator[Held]:
    """Yield the programs, each name once: a second one of a name gets a number."""
    seen: dict[str, int] = {}
    for family, of in FAMILIES.items():
        for h in family():
            seen[h.name] = count = seen.get(h.name, 0) + 1
            name = h.name if count == 1 else f"{h.name}-{count}"
            if all_of_them or zlib.crc32(name.encode()) % of == 0:
                yield Held(name, h.make)


def main() -> None:
    """Print how many programs each family has."""
    for family, of in FAMILIES.items():
        names = [h.name for h in family()]
        print(f"{len(names):5} {family.__name__.replace('_', ' ')}, of these one in {of} is run")
    print(f"{sum(1 for _ in held()):5} are run")


if __name__ == "__main__":
    main()
