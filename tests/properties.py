"""What must hold of every derivative, whatever the program: see `broken`.

A Program is a function, how to make its arguments anew, and which of them are differentiated. The
checks yield a word for what is wrong: "value", "gradient", "arguments", "outside", "second call",
"pullback", "shared", "crash".
"""

import copy
import itertools
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import s2sad

STEP = 1e-6
DATA = (np.ndarray, list, dict, set, tuple, float, int, complex)


@dataclass(frozen=True)
class Program:
    """A function, fresh arguments for it, and the positions that are differentiated."""

    name: str
    f: Callable[..., Any]
    arguments: Callable[[], list[Any]]
    wrt: tuple[int, ...]
    smooth: bool = True

    def laid(self, change: Callable[[np.ndarray], np.ndarray]) -> "Program":
        """Return the program with every array of its float arguments changed."""
        return Program(
            self.name, self.f, lambda: mapped(self.arguments(), change), self.wrt, self.smooth
        )


# structures


def children(x: Any) -> list[Any]:
    """Return what a structure holds."""
    if isinstance(x, list | tuple):
        return list(x)
    if isinstance(x, dict):
        return list(x.values())
    return list(vars(x).values()) if hasattr(x, "__dict__") and not callable(x) else []


def keys(x: Any) -> list[Any]:
    """Return the keys or attributes of a structure, where it has any."""
    return list(x if isinstance(x, dict) else getattr(x, "__dict__", ()))


def reached(x: Any, seen: dict[int, Any] | None = None) -> dict[int, Any]:
    """Return the structures and arrays that are reached from x, by identity."""
    seen = {} if seen is None else seen
    if id(x) not in seen and (isinstance(x, np.ndarray | list | dict) or children(x)):
        seen[id(x)] = x
        for part in children(x):
            reached(part, seen)
    return seen


def arrays(x: Any) -> list[np.ndarray]:
    """Return the arrays that are reached from x."""
    return [a for a in reached(x).values() if isinstance(a, np.ndarray)]


def leaves(x: Any) -> np.ndarray:
    """Return all floating-point numbers of a structure, in order, a number of one array once."""
    found: list[np.ndarray] = []

    def visit(part: Any) -> None:
        if isinstance(part, np.ndarray) and part.dtype.kind in "fc":
            found.append(part.astype(complex if part.dtype.kind == "c" else float).ravel())
        elif isinstance(part, float | complex | np.floating):
            found.append(np.array([part]))
        elif not isinstance(part, np.ndarray):
            for inner in children(part):
                visit(inner)

    visit(x)
    return np.concatenate(found) if found else np.zeros(0)


def mapped(x: Any, change: Callable[[np.ndarray], np.ndarray], known: Any = None) -> Any:
    """Return a structure with its float arrays changed; what stands twice in it still does."""
    known = {} if known is None else known
    if id(x) in known:
        return known[id(x)][1]
    new: Any = x
    if isinstance(x, np.ndarray):
        new = change(x) if x.dtype.kind == "f" else x
    elif isinstance(x, list):
        new = [mapped(part, change, known) for part in x]
    elif type(x) is tuple:
        new = tuple(mapped(part, change, known) for part in x)
    elif isinstance(x, tuple):
        new = type(x)(*(mapped(part, change, known) for part in x))
    elif isinstance(x, dict):
        new = {key: mapped(part, change, known) for key, part in x.items()}
    elif children(x):
        new = copy.copy(x)
        for key, part in vars(x).items():
            object.__setattr__(new, key, mapped(part, change, known))
    known[id(x)] = (x, new)
    return new


def same(a: Any, b: Any) -> bool:
    """Say whether two structures hold the same, bit for bit."""
    if isinstance(b, np.ndarray):
        alike = isinstance(a, np.ndarray) and a.shape == b.shape and a.dtype == b.dtype
        return alike and a.tobytes() == b.tobytes()
    if isinstance(b, float):
        return isinstance(a, float) and np.float64(a).tobytes() == np.float64(b).tobytes()
    if children(b) or isinstance(b, list | tuple | dict):
        keys = [
            list(x) if isinstance(x, dict) else list(getattr(x, "__dict__", "")) for x in (a, b)
        ]
        alike = type(a) is type(b) and keys[0] == keys[1]
        mine, theirs = children(a), children(b)
        return alike and len(mine) == len(theirs) and all(map(same, mine, theirs))
    return type(a) is type(b) and (a is b or callable(b) or bool(a == b))


def outside(f: Any) -> dict[str, Any]:
    """Return the data that a function, or what it calls, reaches by globals and captured names."""
    found: dict[str, Any] = {}
    pending, seen = [f], set()
    while pending:
        fn = pending.pop()
        fn = getattr(fn, "__func__", fn)
        if not isinstance(fn, types.FunctionType) or fn in seen:
            continue
        seen.add(fn)
        codes = [fn.__code__]
        names: set[str] = set()
        while codes:
            code = codes.pop()
            names |= set(code.co_names)
            codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        reach = {n: fn.__globals__[n] for n in names if n in fn.__globals__}
        for n, cell in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True):
            try:
                reach[n] = cell.cell_contents
            except ValueError:
                continue
        for n, value in reach.items():
            if isinstance(value, type):
                pending += [v for v in vars(value).values() if isinstance(v, types.FunctionType)]
            elif callable(value):
                pending.append(value)
            elif isinstance(value, DATA) or type(value).__module__ == fn.__module__:
                found[f"{fn.__qualname__}.{n}"] = value
    return found


# the properties


def broken(p: Program, slopes: bool = False) -> Iterator[tuple[str, str]]:
    """Yield what does not hold of the derivatives of a program, as a word and details.

    The value is that of the plain call, bit for bit; grad leaves its arguments, globals and what
    is captured as they are; a second call gives the same; a pullback may be called twice, also
    after arguments, results and gradients were overwritten; gradients can be written and share
    memory with nothing. With `slopes` the gradient is compared with central differences.
    """
    yield from broken_gradient(p, slopes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from _of_pullback(p, p.f(*p.arguments()))


def broken_gradient(p: Program, slopes: bool = False) -> Iterator[tuple[str, str]]:
    """Yield what does not hold of the gradients of a program: what `broken` says of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from _of_gradient(p, p.f(*p.arguments()), slopes)


def _of_gradient(p: Program, expected: Any, slopes: bool) -> Iterator[tuple[str, str]]:
    args, kept = p.arguments(), p.arguments()
    around = outside(p.f)
    before = copy.deepcopy(around)
    p.f(*p.arguments())
    lasting = {n for n in around if not same(outside(p.f)[n], before[n])}
    before = copy.deepcopy(outside(p.f))
    value, gradients = s2sad.value_and_grad(p.f, wrt=p.wrt)(*args)
    if not same(_plain(value), _plain(expected)):
        yield "value", f"{value!r} where f gives {expected!r}"
    if not same(args, kept):
        yield "arguments", f"{args!r} were {kept!r}"
    for n, value in outside(p.f).items():
        if n not in lasting and not same(value, before[n]):
            yield "outside", f"{n} is {value!r} and was {before[n]!r}"
    yield from _built_like(gradients, [args[i] for i in p.wrt])
    yield from shared(gradients, [args, outside(p.f)])
    if slopes and not close(leaves(gradients), want := differences(p)):
        yield "gradient", f"{leaves(gradients)} where differences give {want}"
    again = s2sad.value_and_grad(p.f, wrt=p.wrt)(*args)
    if not same(again[1], gradients):
        yield "second call", f"{again!r} after {gradients!r}"


def _of_pullback(p: Program, expected: Any) -> Iterator[tuple[str, str]]:
    args, kept = p.arguments(), p.arguments()
    wanted = s2sad.value_and_grad(p.f, wrt=p.wrt)(*args)[1]
    value, pullback = s2sad.vjp(p.f, *args, wrt=p.wrt)
    if not same(_plain(value), _plain(expected)):
        yield "value", f"vjp gives {value!r} where f gives {expected!r}"
    if not same(args, kept):
        yield "arguments", f"after vjp {args!r} were {kept!r}"
    for a in [*arrays(args), *arrays(value)]:
        if a.dtype.kind == "f" and a.flags.writeable:
            a += 100.0
    first = pullback(1.0)
    held = copy.deepcopy(first)
    if not close(leaves(first), leaves(wanted), 1e-9):
        yield "pullback", f"{first!r} where value_and_grad gives {wanted!r}"
    yield from shared(first, [args, value, outside(p.f)])
    for a in arrays(first):
        if a.flags.writeable:
            a[...] = np.nan
    if not same(second := pullback(1.0), held):
        yield "second pullback", f"{second!r} after {held!r}"


def _plain(value: Any) -> Any:
    """A result as a number, where it is one: np.float64 and float are equal here."""
    return np.asarray(value) if np.ndim(value) == 0 and np.isscalar(value) else value


def _built_like(gradients: Any, wanted: list[Any]) -> Iterator[tuple[str, str]]:
    for gradient, primal in zip(gradients, wanted, strict=True):
        ours = [a for a in arrays(gradient)]
        if isinstance(primal, np.ndarray):
            if not isinstance(gradient, np.ndarray) or gradient.shape != primal.shape:
                yield "structure", f"{gradient!r} for {primal!r}"
            elif gradient.dtype.newbyteorder("=") != primal.dtype.newbyteorder("="):
                yield "structure", f"a gradient of {gradient.dtype} for {primal.dtype}"
        elif isinstance(primal, float) and not isinstance(gradient, float):
            yield "structure", f"{gradient!r} for {primal!r}"
        for a in ours:
            if not a.flags.writeable:
                yield "shared", "a gradient cannot be written"


def shared(gradients: Any, others: Any) -> Iterator[tuple[str, str]]:
    """Yield what gradients share with one another, or with others."""
    ours = arrays(gradients)
    for a, b in itertools.combinations(ours, 2):
        if np.shares_memory(a, b):
            yield "shared", "two gradients share memory"
    theirs = reached(others)
    for a, b in itertools.product(ours, (x for x in theirs.values() if isinstance(x, np.ndarray))):
        if np.shares_memory(a, b):
            yield "shared", f"a gradient shares memory with an argument, a result or a global: {b}"
    for key, mine in reached(gradients).items():
        if key in theirs and isinstance(mine, list | dict):
            yield "shared", f"a gradient holds a structure of an argument: {mine!r}"


def close(got: np.ndarray, want: np.ndarray, tolerance: float = 1e-5) -> bool:
    """Say whether two vectors agree, nan and infinities included."""
    if got.shape != want.shape:
        return False
    finite = want[np.isfinite(want)]
    scale = 1.0 + np.abs(finite).max(initial=0.0)
    return np.allclose(got, want, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def differences(p: Program, step: float = STEP) -> np.ndarray:
    """Return central differences with respect to all floats of the differentiated arguments."""
    given = p.arguments()
    count = len(leaves([given[i] for i in p.wrt]))
    found = np.zeros(count)
    for at in range(count):
        ends = []
        for sign in (1.0, -1.0):
            args = p.arguments()
            moved = _moved([args[i] for i in p.wrt], at, sign * step)
            for i, part in zip(p.wrt, moved, strict=True):
                args[i] = part
            ends.append(float(p.f(*args)))
        found[at] = (ends[0] - ends[1]) / (2.0 * step)
    return found


def _moved(x: Any, at: int, by: float) -> Any:
    """Return a structure whose number at a position is moved."""
    count = 0

    def visit(part: Any) -> Any:
        nonlocal count
        if isinstance(part, np.ndarray) and part.dtype.kind == "f":
            new = part
            if count <= at < count + part.size:
                new = part.copy(order="K")
                new[np.unravel_index(at - count, part.shape)] += by
            count += part.size
            return new
        if isinstance(part, float | np.floating):
            count += 1
            return part + by if count - 1 == at else part
        if isinstance(part, list):
            return [visit(inner) for inner in part]
        if type(part) is tuple:
            return tuple(visit(inner) for inner in part)
        if isinstance(part, tuple):
            return type(part)(*(visit(inner) for inner in part))
        if isinstance(part, dict):
            return {key: visit(inner) for key, inner in part.items()}
        if not isinstance(part, np.ndarray) and children(part):
            new = copy.copy(part)
            for key, inner in vars(part).items():
                object.__setattr__(new, key, visit(inner))
            return new
        return part

    return visit(x)


# how an array may lie in memory, and what else it may be


def strided(a: np.ndarray) -> np.ndarray:
    """Every second element of a wider array."""
    if not a.ndim:
        return a
    wide = np.full((*a.shape[:-1], 2 * a.shape[-1]), 7.0, a.dtype)
    wide[..., ::2] = a
    return wide[..., ::2]


def fortran(a: np.ndarray) -> np.ndarray:
    """In the order of Fortran."""
    return np.asfortranarray(a)


def negative(a: np.ndarray) -> np.ndarray:
    """With negative strides on all axes."""
    turned = (slice(None, None, -1),) * a.ndim
    return a[turned].copy()[turned]


def fixed(a: np.ndarray) -> np.ndarray:
    """Read-only."""
    a = a.copy()
    a.flags.writeable = False
    return a


def swapped(a: np.ndarray) -> np.ndarray:
    """In the byte order of another machine."""
    return a.astype(a.dtype.newbyteorder("S"))


def single(a: np.ndarray) -> np.ndarray:
    """In single precision."""
    return a.astype(np.float32)


def scalar(a: np.ndarray) -> np.ndarray:
    """Its first element as an array of rank 0."""
    return np.array(a.flat[0] if a.size else 0.3)


def alone(a: np.ndarray) -> np.ndarray:
    """One element on every axis."""
    return a[(slice(0, 1),) * a.ndim].copy() if a.ndim else a


def empty(a: np.ndarray) -> np.ndarray:
    """Nothing of it, the rank kept."""
    return a[:0].copy() if a.ndim else a


LAYOUTS = (strided, fortran, negative, fixed, swapped)
OTHERS = (single, scalar, alone, empty)


def broken_as(p: Program, change: Callable[[np.ndarray], np.ndarray]) -> Iterator[tuple[str, str]]:
    """Yield what does not hold where every array of the arguments is changed.

    The answer is right, or the exception is that of the plain call, or s2sad's own.
    """
    word = change.__name__
    laid = p.laid(change)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args, kept = laid.arguments(), laid.arguments()
        raised: type[Exception] | None = None
        expected = None
        try:
            expected = laid.f(*laid.arguments())
        except Exception as error:
            raised = type(error)
        try:
            value, gradients = s2sad.value_and_grad(laid.f, wrt=laid.wrt)(*args)
        except s2sad.Error:
            return
        except Exception as error:
            if not _told(error, raised, expected):
                yield "crash", f"{word}: {type(error).__name__}: {error} (plain: {raised})"
            return
        if not same(args, kept):
            yield "arguments", f"{word}: {args!r} were {kept!r}"
        if raised is not None and change is not fixed and not _fits_out(word, raised):
            yield "crash", f"{word}: {value!r} where the plain call raises {raised.__name__}"
        if raised is not None and change is not fixed:
            return
        if raised is None and not _alike(word, value, expected):
            yield "value", f"{word}: {value!r} where f gives {expected!r}"
        yield from _built_like(gradients, [args[i] for i in laid.wrt])
        yield from shared(gradients, [args])
        yield from _right_as(p, laid, change, value, gradients)


def _told(error: Exception, raised: type[Exception] | None, expected: Any) -> bool:
    """Say whether an exception is the plain call's, or one that a derivative may raise.

    A result that is None has no gradient, nor has the mean of nothing, which is nan.
    """
    if raised is not None:
        return isinstance(error, raised)
    if isinstance(error, TypeError):
        return expected is None and "which has no gradient" in str(error)
    return isinstance(error, ZeroDivisionError) and bool(np.isnan(expected))


def _fits_out(word: str, raised: type[Exception]) -> bool:
    """Say whether a result is taken by `out=` that NumPy refuses: one element for several."""
    return word == "alone" and raised is ValueError


def _alike(word: str, value: Any, expected: Any) -> bool:
    """Say whether a value is the plain call's: bit for bit, where copies lie as the original does.

    NumPy sums what is strided in another order.
    """
    if word in ("strided", "fortran", "negative"):
        return close(leaves([value]), leaves([expected]), 1e-14)
    return same(_plain(value), _plain(expected))


def _right_as(
    p: Program, laid: Program, change: Any, value: Any, gradients: Any
) -> Iterator[tuple[str, str]]:
    """Compare the gradient with that of contiguous arrays, or with central differences."""
    word = change.__name__
    got = leaves(gradients)
    if not got.size:
        return
    if change is single:
        double = laid.laid(lambda a: a.astype(float))
        want = leaves(s2sad.value_and_grad(p.f, wrt=p.wrt)(*double.arguments())[1])
        if not close(got, want, 2e-3):
            yield "gradient", f"{word}: {got} where double precision gives {want}"
        return
    plain = p.f(*p.arguments())
    if change in LAYOUTS and close(leaves([float(value)]), leaves([float(plain)]), 1e-9):
        want = leaves(s2sad.value_and_grad(p.f, wrt=p.wrt)(*p.arguments())[1])
        if not close(got, want, 1e-9):
            yield "gradient", f"{word}: {got} where contiguous arrays give {want}"
        return
    want = differences(laid)
    if p.smooth and np.all(np.isfinite(want)) and not close(got, want):
        yield "gradient", f"{word}: {got} where differences give {want}"
