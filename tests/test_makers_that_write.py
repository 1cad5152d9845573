"""What runs as an object is made may write what it is given: right or refused, never else."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

import s2sad

X = np.array([1.3, 0.3])
STEP = 1e-6


def untouched(f, x):
    """Compare value and slopes in both modes with central differences; x stays as it was."""
    slopes = np.array([(f(x + e) - f(x - e)) / (2 * STEP) for e in STEP * np.eye(2)])
    given, along = x.copy(), np.array([0.3, -1.2])
    value, gradient = s2sad.value_and_grad(f)(given)
    assert value == pytest.approx(f(x.copy()), rel=1e-12)
    assert gradient == pytest.approx(slopes, rel=1e-5, abs=1e-7)
    value, slope = s2sad.jvp(f, (given,), (along,))
    assert value == pytest.approx(f(x.copy()), rel=1e-12)
    assert slope == pytest.approx(slopes @ along, rel=1e-5, abs=1e-7)
    assert np.array_equal(given, x)


@dataclasses.dataclass
class Doubles:
    w: np.ndarray

    def __post_init__(self):
        self.w *= 2.0


@dataclasses.dataclass
class Inherits(Doubles):
    k: float = 2.0


@dataclasses.dataclass
class Begins(Doubles):
    k: float = 2.0

    def __post_init__(self):
        super().__post_init__()
        self.w += self.k


@dataclasses.dataclass
class Scales:
    w: np.ndarray
    s: dataclasses.InitVar[float]

    def __post_init__(self, s):
        self.w *= s


@dataclasses.dataclass
class Initial:
    k: float
    s: dataclasses.InitVar[np.ndarray]

    def __post_init__(self, s):
        s *= self.k
        self.w = s + 1.0


@dataclasses.dataclass
class Calls:
    w: np.ndarray
    d: np.ndarray = dataclasses.field(default_factory=lambda: np.ones(2))

    def double(self):
        np.multiply(self.w, 2.0, out=self.w)

    def __post_init__(self):
        self.double()
        self.d += 1.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: np.ndarray

    def __post_init__(self):
        self.w[0] = self.w[0] * 3.0


@dataclasses.dataclass(kw_only=True, slots=True)
class Named:
    w: np.ndarray

    def __post_init__(self):
        self.w[0] = self.w[0] * 3.0


class Written:
    def __init__(self, w):
        w *= 2.0
        self.w = w


WRITING = [
    Doubles,
    Inherits,
    Begins,
    Calls,
    Frozen,
    Written,
    lambda y: Named(w=y),
    lambda y: Scales(y, 3.0),
    lambda y: Scales(y, s=y[1]),
    lambda y: Initial(3.0, y),
    lambda y: list(map(Doubles, [y]))[0],
    lambda y: [Doubles(y) for _ in range(2)][1],
]


@pytest.mark.parametrize("make", WRITING)
def test_what_is_given_is_written(make):
    def f(x):
        y = x * 1.0
        s = np.sum(y**3)
        m = make(y)
        return np.sum(y**2) * np.sum(m.w) + s

    untouched(f, X)


@pytest.mark.parametrize("make", WRITING)
def test_the_argument_itself_is_written_in_a_copy(make):
    def f(x):
        make(x)
        return np.sum(x)

    untouched(f, X)


def in_an_operand(x):
    y = x.copy()
    return np.sum(y) + y[0] * np.sum(Doubles(y).w) * y[1]


def in_a_test(x):
    y = x.copy()
    if Doubles(y).w[0] > 0.0:
        return y[0] ** 2
    return y[1]


def in_a_loop(x):
    y = x.copy()
    s = 0.0
    for _ in range(2):
        Doubles(y)
        s = s + np.sum(y**2)
    return s


def in_a_generator(x):
    y = x.copy()
    return np.sum(y**2) + sum(np.sum(Doubles(y).w) for _ in range(2)) + np.sum(y**3)


@dataclasses.dataclass
class Keeps:
    w: np.ndarray
    k: float = 2.0

    def __post_init__(self):
        self.n = len(self.w)
        self.k = self.k * 2.0
        self.v = self.w * self.k


def only_fields(x):
    m = Keeps(x)
    return np.sum(m.v * m.k) * m.n + np.sum(Keeps(x, x[0]).v)


class Refused(ValueError):
    def __init__(self, w, *rest, **named):
        super().__init__(f"got {w}", *rest)
        self.w, self.named = w, named


class Told(Refused):
    def __init__(self, w, why):
        self.why = why
        Refused.__init__(self, w, why)


def raised(x):
    y = x * 2.0
    try:
        if y[0] > 100.0:
            raise Refused(y, 1, k=y)
        if y[0] > 90.0:
            raise Told(y, "why")
        z = y * y
    except Refused:
        z = y
    return np.sum(z * y)


@pytest.mark.parametrize(
    "f", [in_an_operand, in_a_test, in_a_loop, in_a_generator, only_fields, raised]
)
def test_wherever_an_object_is_made(f):
    untouched(f, X)


class Pair(NamedTuple):
    w: np.ndarray
    k: float


class More(Pair):
    def __new__(cls, w):
        w *= 2.0
        return super().__new__(cls, w, 1.0)


class Summed(tuple):
    def __new__(cls, w):
        w[0] *= 2.0
        return tuple.__new__(cls, (w[0], w[1]))


class New:
    def __new__(cls, w):
        w *= 2.0
        return object.__new__(cls)


class Meta(type):
    def __call__(cls, w):
        w *= 2.0
        return super().__call__()


class OfMeta(metaclass=Meta):
    pass


class Fails(Exception):
    def __init__(self, w):
        self.w = w
        self.w[0] = 2.0


class FailsToo(Fails):
    def __init__(self, w):
        super().__init__(w)


class Sets:
    def __set__(self, owner, value):
        value *= 2.0

    def __get__(self, owner, cls):
        return 3.0


@dataclasses.dataclass
class Described:
    w: float = Sets()


@dataclasses.dataclass
class OwnSetattr:
    w: np.ndarray

    def __setattr__(self, word, value):
        value *= 2.0


class Outer:
    @dataclasses.dataclass
    class Inner:
        w: np.ndarray

        def __post_init__(self):
            self.w *= 2.0


MAKERS = [More, Summed, New, OfMeta, Fails, FailsToo, Described, OwnSetattr, Outer.Inner]


@pytest.mark.parametrize("make", MAKERS, ids=lambda cls: cls.__name__)
def test_a_maker_that_cannot_be_followed_is_refused_where_it_writes(make):
    def f(x):
        make(x)
        return np.sum(x**2)

    def raised_there(x):
        y = x.copy()
        try:
            if y[0] > 0.0:
                raise make(y)
        except Fails:
            pass
        return np.sum(y**2)

    for g in (f, raised_there):
        x = X.copy()
        for derive in (s2sad.grad(g), lambda x, g=g: s2sad.jvp(g, (x,), (X,))):
            with pytest.raises(s2sad.Error, match="written in place|may change|This call changes"):
                derive(x)
        assert np.array_equal(x, X)


@dataclasses.dataclass
class Appends:
    w: list

    def __post_init__(self):
        self.w.append(1.0)


@dataclasses.dataclass
class Stores:
    d: dict

    def __post_init__(self):
        self.d["a"] = self.d["a"] * 2.0


@dataclasses.dataclass
class Seen:
    w: float
    seen = []

    def __post_init__(self):
        self.seen.append(self.w)


def appended(x):
    return Appends(x).w[0]


def appended_and_counted(x):
    m = Appends(x)
    return sum(m.w) * x[0] * len(x)


def appended_here(x):
    y = [x[0], x[1]]
    m = Appends(y)
    return sum(m.w) * y[0]


def stored(x):
    d = {"a": x[0]}
    m = Stores(d)
    return d["a"] * m.d["a"]


def kept_by_the_class(x):
    m = Seen(x[0])
    return m.seen[-1] * x[0]


class Plain:
    def __init__(self, w):
        self.w = w
        self.w.append(1.0)


def appended_plainly(x):
    m = Plain(w=x)
    return sum(m.w) * x[0] * len(x)


@pytest.mark.parametrize("f", [appended, appended_and_counted, appended_plainly, stored])
def test_a_structure_is_written_in_a_copy(f):
    x, along = [1.3, 0.3], [0.3, -1.2]

    def at(*moved):
        return f(list(moved))

    slopes = [
        (at(1.3 + STEP, 0.3) - at(1.3 - STEP, 0.3)) / (2 * STEP),
        (at(1.3, 0.3 + STEP) - at(1.3, 0.3 - STEP)) / (2 * STEP),
    ]
    value, gradient = s2sad.value_and_grad(f)(x)
    assert value == pytest.approx(at(*x), rel=1e-12)
    assert gradient == pytest.approx(slopes, rel=1e-5, abs=1e-7)
    value, slope = s2sad.jvp(f, (x,), (along,))
    assert value == pytest.approx(at(*x), rel=1e-12)
    assert slope == pytest.approx(np.dot(slopes, along), rel=1e-5, abs=1e-7)
    assert x == [1.3, 0.3]


def kept_alone(x):
    assert s2sad.jvp(appended_here, (x,), ([1.0, 0.0],))[1] == pytest.approx(3.9)
    assert s2sad.grad(appended_here)(x) == pytest.approx([3.9, 1.3])


def refused_in_both(x):
    for derive in (s2sad.grad, lambda f: lambda x: s2sad.jvp(f, (x,), ([1.0, 0.0],))):
        with pytest.raises(s2sad.Error):
            derive(kept_by_the_class)(x)


@pytest.mark.parametrize("look", [kept_alone, refused_in_both])
def test_a_structure_with_two_names_that_is_written(look):
    x = [1.3, 0.3]
    look(x)
    assert x == [1.3, 0.3]
