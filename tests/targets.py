"""The target programs in golden/targets, each with its derivative by hand, and how to call them.

A program's file is the contract: derived text has no more statements, operations or saved values.
"""

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "golden" / "targets"
SUFFIXES = {
    "grad": "_grad",
    "value_and_grad": "_value_and_grad",
    "vjp": "_vjp",
    "reverse": "_reverse",
}


def load_file(path: Path, name: str | None = None) -> ModuleType:
    """Import the file at path under the given name, its stem if none is given."""
    name = name or path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Target:
    """A target program: its file, its function, what is derived, and arguments to call it with."""

    module: str
    function: str
    mode: str
    wrt: tuple[int, ...]
    args: tuple[tuple[Any, ...], ...]
    helpers: tuple[str, ...] = ()

    @property
    def derived(self) -> str:
        """The name of the derived function, as f_grad."""
        return self.function + SUFFIXES[self.mode]

    @property
    def path(self) -> Path:
        """The file that holds the program and its derivative."""
        return FOLDER / f"{self.module}.py"

    def load(self) -> ModuleType:
        """The module, imported once under a name of its own."""
        name = f"target_{self.module}"
        return sys.modules.get(name) or load_file(self.path, name)

    def primal(self) -> Callable[..., Any]:
        """The program."""
        return getattr(self.load(), self.function)

    def by_hand(self) -> Callable[..., Any]:
        """Its derivative, written by hand."""
        return getattr(self.load(), self.derived)

    def gradients(self, result: Any) -> tuple[Any, ...]:
        """The gradients in a derived function's result, one per position in wrt."""
        if self.mode == "value_and_grad":
            result = result[1]
        return result if len(self.wrt) > 1 else (result,)

    def operator_wrt(self) -> int | tuple[int, ...]:
        """The wrt to give to an operator: a position, or a tuple where there are several."""
        return self.wrt if len(self.wrt) > 1 else self.wrt[0]


def _targets() -> tuple[Target, ...]:
    """The targets with the arguments of check.py, whose draws are repeated here in its order."""
    normal = np.random.default_rng(0).standard_normal
    recurrence = (0.3 * normal((4, 4)), normal(4), normal((6, 4)))
    enumerated = tuple((normal(n),) for n in (5, 3, 10))
    signs = np.array([1.2, -0.4, 1.1, 1.6, 0.7])
    least_squares = (normal(3), normal((7, 3)), normal(7), 0.1)
    calls = (0.3, 0.2, normal(20), 0.1)
    return (
        Target("straight_line", "f", "grad", (0, 1), ((0.7, 0.4),)),
        Target("branches", "f", "grad", (0,), ((1.5,), (0.5,), (-0.5,))),
        Target("recurrence", "rnn", "grad", (0, 1), (recurrence,)),
        Target("enumerate_sum", "f", "grad", (0,), enumerated),
        Target("early_exit", "f", "grad", (0,), ((signs, 1.5), (signs, 100.0))),
        Target("newton", "root", "grad", (0,), ((2.0,),)),
        Target("nested_loops", "f", "grad", (0,), ((0.7, 5),)),
        Target("least_squares", "loss", "value_and_grad", (0,), (least_squares,)),
        Target("calls", "simulate", "grad", (0, 1), (calls,), ("step_forward", "step_reverse")),
    )


TARGETS = _targets()
BY_MODULE = {target.module: target for target in TARGETS}
