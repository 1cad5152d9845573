"""Random programs: deterministic from a seed, judged before use, and shrunk when they fail.

    python tests/programs.py --show 17        prints a program
    python tests/programs.py --rates 500      prints how often each construct occurs, active

The text of a program is a whole module: `f`, what f calls, `arguments()` that makes a fresh
example, and `WRT`, the positions of the active arguments. It can be saved to a file and run.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import functools
import itertools
import linecache
import math
import random
import sys
import types
import warnings

import duals
import keyed  # noqa: F401  # registers its statements
import numpy as np
from grammar import CONSTRUCTS
from mutating import one_writing
from statements import body_lines, candidate, render

__all__ = ["CONSTRUCTS", "Program", "generate", "load", "shrink", "trouble"]

EVENTS = 4000
MARGIN = 1e-3
_loaded = itertools.count()


def load(text: str, name: str = "program") -> types.ModuleType:
    """Execute a program as a module whose source inspect and linecache can find."""
    name = f"{name}_{next(_loaded)}"
    filename = f"<{name}>"
    module = types.ModuleType(name)
    module.__file__ = filename
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    sys.modules[name] = module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(text, filename, "exec")
    exec(code, vars(module))
    return module


def unload(module: types.ModuleType) -> None:
    """Forget a loaded program."""
    sys.modules.pop(module.__name__, None)
    linecache.cache.pop(module.__file__, None)


@dataclasses.dataclass(frozen=True)
class Program:
    """A random program: its text, its active positions, the constructs that ran, active."""

    seed: int
    text: str
    wrt: tuple[int, ...]
    constructs: frozenset[str]
    rejected: int = 0
    reasons: tuple[str, ...] = ()

    def load(self) -> types.ModuleType:
        """Execute the program as a module; its f and its arguments() belong together."""
        return load(self.text, f"program_{self.seed}")


class TooLongError(Exception):
    """A program ran for more lines than it may."""


def traced(module: types.ModuleType, f, args, budget: int = EVENTS):
    """Run f; return its value and the numbers of the lines it executed; stop after the budget."""
    executed = set()
    left = budget

    def trace(frame, event, argument):
        nonlocal left
        if frame.f_code.co_filename != module.__file__:
            return None
        if event == "line":
            executed.add(frame.f_lineno)
            left -= 1
            if left < 0:
                raise TooLongError
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return f(*args), executed
    finally:
        sys.settrace(before)


def agreement(f, args, wrt) -> tuple[str, duals.Run | None]:
    """Say why f is no good as a test at args, or an empty string; return the oracle's run too."""
    run = duals.run(f, args, wrt)
    flat = duals.ravel(run.gradients)
    if not (np.all(np.isfinite(flat)) and abs(run.value) < 1e4 and np.abs(flat).max() < 1e4):
        return "wild", run
    if not all(np.any(duals.ravel(g)) for g in run.gradients):
        return "inactive", run
    if run.margin < MARGIN:
        return "margin", run
    expected, bound = duals.differences(f, args, wrt, step=5e-4)
    if np.any(bound > 1e-4 * (1 + np.abs(expected))):
        return "differences", run
    if np.any(np.abs(flat - expected) > 20 * bound + 1e-6 * (1 + np.abs(expected))):
        return "differences", run
    return "", run


def judged(module, wrt) -> tuple[str, set[int]]:
    """Say why a loaded program is rejected, or an empty string; and which lines it executed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            value, executed = traced(module, module.f, module.arguments())
            if not isinstance(value, (float, np.floating)) or not math.isfinite(value):
                return "result", executed
            return agreement(module.f, module.arguments(), wrt)[0], executed
        except TooLongError:
            return "long", set()
        except (ArithmeticError, AssertionError, ValueError, RuntimeWarning) as error:
            return type(error).__name__, set()


def fair(text: str) -> bool:
    """Tell whether a text, perhaps shrunk, is a fair test: tame and away from kinks."""
    module = load(text, "fair")
    try:
        return judged(module, module.WRT)[0] in ("", "inactive")
    finally:
        unload(module)


@functools.lru_cache(maxsize=None)
def generate(seed: int) -> Program:
    """Return the program of this seed: the first of its candidates that is good as a test.

    Each seed wishes for one construct, the constructs in turn, so that the rare ones occur as well.
    """
    wish = CONSTRUCTS[seed % len(CONSTRUCTS)]
    reasons = []
    for attempt in range(1000):
        lines, wrt = candidate(random.Random(seed * 1000 + attempt), one_writing)
        if not any(wish in line.tags for line in lines):
            continue
        text = render(lines)
        if not 1 <= len(wrt) <= 3 or len(body_lines(lines)) > 30:
            reasons.append("size")
            continue
        module = load(text, f"candidate_{seed}")
        reason, executed = judged(module, wrt)
        unload(module)
        tags = (line.tags for i, line in enumerate(lines, 1) if i in executed)
        constructs = frozenset().union(*tags)
        if not reason and wish in constructs:
            return Program(seed, text, wrt, constructs, len(reasons), tuple(reasons))
        if reason:
            reasons.append(reason)
    raise AssertionError(f"seed {seed}: no good program with {wish} in 1000: {reasons}")


def rates(programs) -> dict[str, float]:
    """Return in what share of the programs each construct occurs."""
    programs = list(programs)
    return {c: sum(c in p.constructs for p in programs) / len(programs) for c in CONSTRUCTS}


WAYS = ("grad", "vjp")


def trouble(tool, module, wrt, tolerance: float = 1e-8, ways=WAYS) -> tuple[str, str]:
    """Compare what tool derives from a program with the oracle: say what differs, if anything.

    `tool` has `value_and_grad` as s2sad has; what it has of `ways` is compared, too. What it raises
    is let through.
    """
    f, args = module.f, module.arguments()
    expected = f(*module.arguments())
    by_oracle = duals.gradient(f, module.arguments(), wrt)
    derived = tool.value_and_grad(f, wrt=wrt)
    value, first = derived(*args)
    if len(first) != len(wrt):
        return "structure", f"{len(first)} gradients for {len(wrt)} positions"
    for position, got, oracle in zip(wrt, first, by_oracle):
        if not same_structure(got, oracle):
            return "structure", f"argument {position}: {got!r} is not built like {oracle!r}"
        have, want = duals.ravel(got), duals.ravel(oracle)
        if not np.allclose(have, want, rtol=tolerance, atol=tolerance * 1e-2):
            return "gradient", f"argument {position}: {have} where the oracle has {want}"
    if not same(args, module.arguments()):
        return "arguments", f"{args!r} were {module.arguments()!r}"
    if not same(again := derived(*args)[1], first):
        return "second call", f"{again!r} after {first!r}"
    if np.float64(value).tobytes() != np.float64(expected).tobytes():
        return "value", f"{value!r} where f gives {expected!r}"
    ways = [way for way in ways if hasattr(tool, way)]
    if "grad" in ways and not same(again := tool.grad(f, wrt=wrt)(*args), first):
        return "grad", f"{again!r} where value_and_grad gives {first!r}"
    if "vjp" in ways and _writes("".join(linecache.cache[module.__file__][2])):
        return pullback_trouble(tool, module, wrt, by_oracle, tolerance)
    return "", ""


def _writes(text: str) -> bool:
    """Say whether a program writes a part of anything, or changes anything in place."""
    return any(
        isinstance(n, ast.AugAssign)
        or (isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
        for n in ast.walk(ast.parse(text))
    )


def pullback_trouble(tool, module, wrt, by_oracle, tolerance: float) -> tuple[str, str]:
    """Say what is wrong with a pullback that is called twice, its arguments changed in between."""
    args = module.arguments()
    value, pullback = tool.vjp(module.f, *args, wrt=wrt)
    if np.float64(value).tobytes() != np.float64(module.f(*module.arguments())).tobytes():
        return "vjp", f"{value!r} is not what f gives"
    if not same(args, module.arguments()):
        return "vjp arguments", f"{args!r} were {module.arguments()!r}"
    first = pullback(1.0)
    have, want = duals.ravel(list(first)), duals.ravel(by_oracle)
    if not np.allclose(have, want, rtol=tolerance, atol=tolerance * 1e-2):
        return "pullback", f"{have} where the oracle has {want}"
    for x in args:
        if isinstance(x, np.ndarray):
            x += 100.0
    if not same(second := pullback(1.0), first):
        return "second pullback", f"{second!r} after {first!r}"
    return "", ""


def same_structure(a, b) -> bool:
    """Tell whether two gradients have the same containers, keys, classes, shapes and dtypes."""
    if isinstance(b, np.ndarray):
        return type(a) is np.ndarray and a.shape == b.shape and a.dtype == b.dtype
    if b is None or isinstance(b, float):
        return a is None if b is None else isinstance(a, float)
    if type(a) is not type(b):
        return False
    return all(map(same_structure, _parts(a), _parts(b))) and _keys(a) == _keys(b)


def same(a, b) -> bool:
    """Tell whether two structures hold the same values, bit for bit."""
    if isinstance(b, np.ndarray):
        return type(a) is np.ndarray and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(b, (tuple, list, dict)) or dataclasses.is_dataclass(b):
        return type(a) is type(b) and _keys(a) == _keys(b) and all(map(same, _parts(a), _parts(b)))
    return type(a) is type(b) and a == b


def _keys(x) -> list:
    """Return the keys, fields or positions of a container."""
    if isinstance(x, (tuple, list)):
        return list(range(len(x)))
    return list(x) if isinstance(x, dict) else list(vars(x))


def _parts(x) -> list:
    """Return the entries of a container."""
    if isinstance(x, (tuple, list)):
        return list(x)
    return list(x.values() if isinstance(x, dict) else vars(x).values())


_BLOCKS = ("body", "orelse", "finalbody")


def _reducible(tree):
    """Yield the nodes that may be edited: all but the example's arguments and WRT."""
    for top in tree.body:
        if getattr(top, "name", "") != "arguments" and not ast.unparse(top).startswith("WRT ="):
            yield from ast.walk(top)


def _statement_edits(tree):
    """Yield functions that each make one statement-level reduction in place."""
    for node in [tree, *_reducible(tree)]:
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            for i, child in enumerate(block):
                yield functools.partial(_replace_slice, node, name, i, [])
                for inner in _BLOCKS:
                    arm = getattr(child, inner, None)
                    if isinstance(arm, list) and arm and not isinstance(child, ast.FunctionDef):
                        yield functools.partial(_replace_slice, node, name, i, arm)
                for case in getattr(child, "cases", []):
                    yield functools.partial(_replace_slice, node, name, i, case.body)


def _replace_slice(node, name, i, new):
    """Put statements in the place of one; a block that would be empty gets `pass`."""
    block = getattr(node, name)
    block[i : i + 1] = new
    if not block and name == "body" and not isinstance(node, ast.Module):
        block.append(ast.Pass())


def _expression_edits(tree):
    """Yield functions that each replace one expression by a part of it or by a constant."""
    for node in _reducible(tree):
        if isinstance(node, ast.JoinedStr):
            continue
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                yield from _simpler(value, functools.partial(setattr, node, name))
            elif isinstance(value, list):
                for i, item in enumerate(value):
                    if isinstance(item, ast.expr):
                        yield from _simpler(item, functools.partial(value.__setitem__, i))


def _simpler(expression, put):
    """Yield edits that put something simpler in the place of an expression."""
    if isinstance(expression, ast.Constant) or not isinstance(
        getattr(expression, "ctx", ast.Load()), ast.Load
    ):
        return
    for part in ast.iter_child_nodes(expression):
        if isinstance(part, ast.expr):
            yield functools.partial(put, part)
    for constant in (1.0, 1):
        yield functools.partial(put, ast.Constant(constant))


def _edited(text: str, edits, k: int) -> str | None:
    """Return the text after edit number k, or None if there is no such edit."""
    tree = ast.parse(text)
    edit = next(itertools.islice(edits(tree), k, None), None)
    if edit is None:
        return None
    edit()
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _valid(text: str) -> bool:
    """Tell whether a reduced text still is a program: it compiles and f runs to a finite float."""
    module = None
    try:
        module = load(text, "shrinking")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, _ = traced(module, module.f, module.arguments())
        return isinstance(value, (float, np.floating)) and math.isfinite(value)
    except Exception:
        return False
    finally:
        if module is not None:
            unload(module)


def _fails(text: str, still_fails, valid=_valid) -> bool:
    """Tell whether a reduced text is valid and still fails; a crash of the test is no failure."""
    if not valid(text):
        return False
    try:
        return bool(still_fails(text))
    except Exception:
        return False


def shrink(text: str, still_fails, tries: int = 3000, valid=_valid) -> str:
    """Return a program as small as single reductions get it, for which still_fails holds.

    `still_fails` gets the text of a valid program (its f runs to a finite float on its arguments).
    """
    text = ast.unparse(ast.parse(text)) + "\n"
    changed = True
    while changed and tries > 0:
        changed = False
        for edits in (_statement_edits, _expression_edits):
            k = 0
            while tries > 0 and (smaller := _edited(text, edits, k)) is not None:
                tries -= 1
                if (
                    len(smaller) <= len(text)
                    and smaller != text
                    and _fails(smaller, still_fails, valid)
                ):
                    text, changed = smaller, True
                else:
                    k += 1
    return text


def main() -> None:
    """Print a program, or the rates of the constructs."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--show", type=int, metavar="SEED")
    parser.add_argument("--rates", type=int, metavar="N")
    options = parser.parse_args()
    if options.show is not None:
        program = generate(options.show)
        print(program.text)
        print("#", *sorted(program.constructs))
    if options.rates:
        programs = [generate(seed) for seed in range(options.rates)]
        for name, rate in sorted(rates(programs).items(), key=lambda pair: pair[1]):
            print(f"{rate:6.1%}  {name}")
        rejected = sum(p.rejected for p in programs)
        print(f"rejected {rejected} of {rejected + len(programs)} candidates")


if __name__ == "__main__":
    main()
