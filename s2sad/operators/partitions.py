"""What runs where a partition is: the derived function, and the sum of two partial results.

Nothing here knows dask. A worker gets a Work: the functions derived for the kinds of partition that
the client knows, and the arguments that are not split. A partition of another kind is not derived
for: what is said of it goes back to the client, which derives, and asks again.
"""

from __future__ import annotations

import importlib
import io
import linecache
import sys
import threading
import types
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.errors import MismatchError
from s2sad.known.signature import PLAIN, key_of
from s2sad.operators.given_tangents import Arguments, pushed
from s2sad.operators.pullbacks import outline
from s2sad.operators.sharing import Bound
from s2sad.runtime import add
from s2sad.syntax.snippets import register
from s2sad.tree import branch_of

# --- what a partition is to a function -----------------------------------------------------------


def as_seen(part: Any) -> Any:
    """Return a partition as the function sees it: a list, an array, a dict of columns.

    Arrays lie as they do wherever else they are computed with: strides may change the last bits.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(part, pandas.DataFrame):
        return {n: as_seen(column) for n, column in part.items()}
    if pandas is not None and isinstance(part, pandas.Series | pandas.Index):
        part = part.to_numpy()
    return in_one_piece(list(part) if isinstance(part, Iterator) else part)


def in_one_piece(value: Any) -> Any:
    """Return a value with arrays that are aligned and contiguous, also in what it holds.

    What comes out of a message begins at any byte, and NumPy computes with that by other loops.
    """
    if type(value) is np.ndarray:
        f = value.flags
        fine = f.aligned and (f.c_contiguous or f.f_contiguous)
        return value if fine else value.copy(order="K")
    if type(value) is list and frozenset(map(type, value)) <= PLAIN:
        return value
    branch = branch_of(value)
    if branch is None:
        return value
    parts = [in_one_piece(part) for part in branch.parts]
    same = all(new is old for new, old in zip(parts, branch.parts, strict=True))
    return value if same else branch.rebuild(parts)


def brief(value: Any) -> Any:
    """Return what is short and of a partition's kind: an outline, of long lists the beginning."""
    if type(value) is list:
        classes = {type(part): part for part in value}
        if classes.keys() <= PLAIN:
            return [*classes.values()]
        alike = len({key_of(part) for part in value}) == 1
        return [brief(part) for part in (value[:2] if alike else value)]
    if type(value) is np.ndarray:
        return outline(value)
    branch = branch_of(value) if type(value) in (tuple, dict) else None
    return value if branch is None else branch.rebuild([brief(part) for part in branch.parts])


# --- what is sent --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hole:
    """Stands where a partition is to go: that of the argument with this number in `over`."""

    number: int

    def filled(self, parts: tuple[Any, ...]) -> Any:
        """Return the partition."""
        return parts[self.number]


@dataclass(frozen=True)
class Ready:
    """A derived function, tests of lengths that it was derived for, and its text."""

    call: Callable[..., Any]
    not_one: tuple[str, ...]
    text: str

    @classmethod
    def of(cls, bound: Bound) -> Ready:
        """Return what is sent of a derived function."""
        code = getattr(bound.call, "__code__", None)
        text = "".join(linecache.getlines(code.co_filename)) if code else ""
        return cls(bound.call, bound.not_one, text)


@dataclass(frozen=True)
class Given:
    """The arguments of a call, with holes for partitions; tangents and values by parameter."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    values: Mapping[str, Any]
    tangents: Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """What is done with each partition; `ready` is by the kinds of the partitions."""

    mode: str
    has_aux: bool
    split: tuple[str, ...]
    given: Given
    ready: Mapping[Any, tuple[Ready, ...]]

    def find(self, parts: tuple[Any, ...]) -> Ready | None:
        """Return the function derived for partitions of these kinds, None where there is none."""
        for one in self.ready.get(tuple(map(key_of, parts)), ()):
            if not one.not_one:
                return one
            values = {n: _filled(v, parts) for n, v in self.given.values.items()}
            if Bound(one.call, (), None, not_one=one.not_one).fits(values):
                return one
        return None

    def partial(self, ready: Ready, parts: tuple[Any, ...]) -> Partial:
        """Return what one partition gives."""
        args = tuple(_filled(a, parts) for a in self.given.args)
        kwargs = {n: _filled(a, parts) for n, a in self.given.kwargs.items()}
        if self.mode in ("jvp", "hvp"):
            moved = pushed(ready.call, Arguments(args, kwargs), dict(self.given.tangents))
            return Partial(moved[0] if self.mode == "jvp" else None, *moved[1:])
        result = ready.call(*args, **kwargs)
        if self.mode == "grad":
            return Partial(None, *result) if self.has_aux else Partial(None, result)
        value, gradient = result
        return Partial(value[0], gradient, value[1]) if self.has_aux else Partial(value, gradient)


def _filled(value: Any, parts: tuple[Any, ...]) -> Any:
    return value.filled(parts) if type(value) is Hole else value


class Work:
    """A Plan as it travels: pickled where it was made, and read where a partition wants it.

    Functions go by value, as they are in the client, whatever a worker's modules hold. In the
    client's own process nothing is pickled.
    """

    __slots__ = ("_lock", "_packed", "_plan")

    def __init__(self, plan: Plan | None, packed: bytes = b"") -> None:
        self._plan = plan
        self._packed = packed
        self._lock = threading.Lock()

    def plan(self) -> Plan:
        """Return the plan."""
        with self._lock:
            if self._plan is None:
                self._plan = importlib.import_module("cloudpickle").loads(self._packed)
                for one in (one for some in self._plan.ready.values() for one in some):
                    file = getattr(one.call, "__code__", _NO_CODE).co_filename
                    if file not in linecache.cache:
                        register(one.text, file)
            return self._plan

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            if not self._packed:
                self._packed = _pickled(self._plan)
            return Work, (None, self._packed)


# How objects of some classes are pickled on their way to workers: as `__reduce__` says it.
BY_VALUE: dict[type, Callable[[Any], tuple[Any, ...]]] = {}


def _pickled(value: Any) -> bytes:
    """Return a pickle of a value with the functions in it, whose code keeps its file's name.

    cloudpickle drops that, and with it what tracebacks show.
    """
    library = importlib.import_module("cloudpickle")
    plain = library.Pickler.dispatch_table

    def _reduced_code(code: types.CodeType) -> tuple[Any, ...]:
        return _code, (code.co_filename, plain[types.CodeType](code))

    class Pickler(library.Pickler):  # type: ignore[misc,name-defined]
        dispatch_table = ChainMap(BY_VALUE, {types.CodeType: _reduced_code}, plain)

    file = io.BytesIO()
    Pickler(file).dump(value)
    return file.getvalue()


def _code(file: str, made: tuple[Callable[..., types.CodeType], tuple[Any, ...]]) -> types.CodeType:
    make, args = made
    return make(*args).replace(co_filename=file)


_NO_CODE = compile("", "<s2sad>", "exec")

# --- what comes back -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Partial:
    """The value, the derivative and the aux of one partition, or sums of several's."""

    value: Any
    derivative: Any
    aux: Any = None


@dataclass(frozen=True)
class Unmet:
    """Partitions that nothing was derived for: their numbers, and what is like them."""

    examples: tuple[tuple[int, tuple[Any, ...]], ...]


Found = Partial | Unmet


def at_partition(number: int, work: Work, *parts: Any) -> Found:
    """Return what one partition of each split argument gives."""
    plan = work.plan()
    seen = tuple(map(as_seen, parts))
    ready = plan.find(seen)
    if ready is None:
        return Unmet(((number, tuple(map(brief, seen))),))
    with _Noted(number, plan.split), one_thread:
        return plan.partial(ready, seen)


def example_of(*parts: Any) -> tuple[Any, ...]:
    """Return what is like one partition of each split argument."""
    return tuple(brief(as_seen(part)) for part in parts)


def aux_of(found: Found) -> Any:
    """Return the aux of a partition."""
    return found.aux if isinstance(found, Partial) else None


def without_aux(found: Found) -> Found:
    """Return what there is to add of a partition."""
    return Partial(found.value, found.derivative) if isinstance(found, Partial) else found


def added(left: Found, right: Found) -> Found:
    """Return the sum of two partial results."""
    if isinstance(left, Unmet) or isinstance(right, Unmet):
        examples = [e for one in (left, right) if isinstance(one, Unmet) for e in one.examples]
        return Unmet(_distinct(examples))
    return Partial(plus(left.value, right.value), add(left.derivative, right.derivative))


def _distinct(examples: list[tuple[int, Any]]) -> tuple[tuple[int, Any], ...]:
    """Return the first of those that look alike."""
    found = {repr(example): (number, example) for number, example in reversed(examples)}
    return tuple(sorted(found.values(), key=lambda pair: pair[0]))


def plus(left: Any, right: Any, path: str = "the result") -> Any:
    """Return the sum of what a function returned for two partitions, number by number."""
    if left is None and right is None:
        return None
    if _is_numeric(left) and _is_numeric(right):
        if np.shape(left) != np.shape(right):
            raise MismatchError(
                f"{path} has shape {np.shape(left)} for one partition and {np.shape(right)} for "
                "another: they cannot be added.",
                remedy="Return a sum over the rows of the partition, or use has_aux=True.",
            )
        return left + right
    one, other = branch_of(left), branch_of(right)
    if one is None or other is None or type(left) is not type(right) or one.keys != other.keys:
        raise MismatchError(
            f"{path} is {_words(left)} for one partition and {_words(right)} for another: s2sad "
            "adds numbers, arrays, and structures that are built alike.",
            remedy="Return what is not to be added beside it, with has_aux=True.",
        )
    parts = zip(one.keys, one.parts, other.parts, strict=True)
    return one.rebuild([plus(a, b, f"{path} at [{key!r}]") for key, a, b in parts])


def scaled(value: Any, count: int) -> Any:
    """Return a sum divided by a number of partitions."""
    if _is_numeric(value):
        return value / count
    branch = branch_of(value)
    return value if branch is None else branch.rebuild([scaled(v, count) for v in branch.parts])


def _is_numeric(value: Any) -> bool:
    if hasattr(type(value), "dtype"):
        return value.dtype.kind in "iufc"
    return isinstance(value, int | float | complex) and not isinstance(value, bool)


def _words(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


# --- how it runs ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Noted:
    """Notes on what a function raises which partition it was."""

    number: int
    split: tuple[str, ...]

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: types.TracebackType | None,
    ) -> None:
        if error is not None:
            error.add_note(f"This was partition {self.number} of {' and '.join(self.split)}.")


class _OneThread:
    """While partitions are at work in a process, its BLAS uses one thread.

    Several would divide sums as there are cores, and so round in other ways on other machines; and
    there is a partition for each core already.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._limits: Any = None
        self._known: tuple[int, Any] = (-1, None)

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limits = self._controller().limit(limits=1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limits.restore_original_limits()

    def _controller(self) -> Any:
        """Return what knows the libraries that are loaded; modules since may have brought some."""
        loaded = len(sys.modules)
        if self._known[0] != loaded:
            made = importlib.import_module("threadpoolctl").ThreadpoolController()
            self._known = len(sys.modules), made
        return self._known[1]


one_thread = _OneThread()
