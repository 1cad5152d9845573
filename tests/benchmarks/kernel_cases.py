"""The kernels of tests/benchmarks/kernels/: programs in many styles, written without looking.

    python tests/benchmarks/kernel_cases.py            what comes of each: right, refused, wrong

Nobody tuned them to what s2sad supports: one that is refused stays as it is, and is counted.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [p for p in (str(HERE), str(HERE.parent), str(HERE.parents[1])) if p not in sys.path]

import numpy as np  # noqa: E402
from frozen_records import direction, stepped  # noqa: E402
from frozen_text import source_lines  # noqa: E402
from properties import leaves  # noqa: E402
from targets import load_file  # noqa: E402

import s2sad  # noqa: E402
from s2sad.errors import InternalError  # noqa: E402

STEPS = (1e-5, 1e-6, 1e-7)
CLOSE = 1e-5


@dataclass(frozen=True)
class Kernel:
    """A kernel: its function, what makes its arguments, and what is differentiated."""

    name: str
    f: Callable[..., Any]
    make: Callable[[], Any]
    wrt: tuple[int, ...]

    def arguments(self) -> list[Any]:
        """Return fresh arguments."""
        return copy.deepcopy(list(self.make()))

    @property
    def operator_wrt(self) -> int | tuple[int, ...]:
        """The wrt to give to an operator."""
        return self.wrt if len(self.wrt) > 1 else self.wrt[0]

    @property
    def lines(self) -> int:
        """How many lines of code the kernel has, with the functions that it calls."""
        return source_lines(self.f)


def kernels() -> list[Kernel]:
    """Return all kernels, by file and place."""
    found = []
    for path in sorted((HERE / "kernels").glob("*.py")):
        module = load_file(path, f"kernels_{path.stem}")
        for name, wrt in module.KERNELS.items():
            found.append(Kernel(name, getattr(module, name), getattr(module, f"{name}_args"), wrt))
    return found


@dataclass(frozen=True)
class Verdict:
    """What came of a kernel: a word, and why."""

    word: str
    why: str = ""


def judged(kernel: Kernel) -> Verdict:
    """Compare the gradient of a kernel with differences along a direction."""
    args = kernel.arguments()
    tangents = [
        direction(a, 0.4 + i, relative=True) if i in kernel.wrt else None
        for i, a in enumerate(args)
    ]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        plain = kernel.f(*kernel.arguments())
        try:
            operator = s2sad.value_and_grad(kernel.f, wrt=kernel.wrt)
            value, bars = operator(*args)
        except InternalError as error:
            return Verdict("dead", str(error))
        except s2sad.Error as error:
            return Verdict("refused", str(error))
        along = [tangents[i] for i in kernel.wrt]
        got = sum(leaves(b) @ leaves(t) for b, t in zip(bars, along, strict=True))
        slopes = [slope(kernel, tangents, step) for step in STEPS]
    if not np.allclose(value, plain, rtol=1e-13, atol=0.0):
        return Verdict("wrong", f"value {value!r} where the kernel gives {plain!r}")
    size = sum(np.abs(leaves(b)) @ np.abs(leaves(t)) for b, t in zip(bars, along))
    if min(abs(got - s) for s in slopes) > CLOSE * (abs(got) + 1e-2 * size) + 1e-9:
        return Verdict("wrong", f"{got} along a direction where differences give {slopes}")
    return Verdict("right")


def slope(kernel: Kernel, tangents: list[Any], step: float) -> float:
    """Return the slope of a kernel along tangents by central differences."""

    def at(by: float) -> float:
        args = kernel.arguments()
        moved = [stepped(a, t, by) for a, t in zip(args, tangents, strict=True)]
        return float(kernel.f(*moved))

    return (at(step) - at(-step)) / (2.0 * step)


def main() -> None:
    """Print what comes of each kernel."""
    for kernel in kernels():
        verdict = judged(kernel)
        print(f"{kernel.name:22}{kernel.lines:4} lines  {verdict.word}  {verdict.why}", flush=True)


if __name__ == "__main__":
    main()
