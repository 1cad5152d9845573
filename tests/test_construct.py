"""Classes on the way: objects made inside a function, their methods, operators and attributes."""

import abc
import collections
import dataclasses
import math
import typing

import numpy as np
import pytest
from slopes import check

import s2sad

COUNTED = []


class Vec:
    kind = 3.0

    def __init__(self, a, b=2.0):
        self.a = a
        self.b = b

    def norm2(self):
        return self.a * self.a + self.b * self.b

    def __add__(self, other):
        if not isinstance(other, Vec):
            return NotImplemented
        return Vec(self.a + other.a, self.b + other.b)

    def __mul__(self, k):
        return Vec(self.a * k, self.b * k)

    def __rmul__(self, k):
        return Vec(self.a * k, k * self.b)

    def __rsub__(self, k):
        return Vec(k - self.a, k - self.b * 2.0)

    def __neg__(self):
        return Vec(-self.a, -self.b)

    def __sub__(self, other):
        return self + (-other)

    def __getitem__(self, i):
        return self.a if i == 0 else self.b

    def __matmul__(self, other):
        return self.a * other.a + self.b * other.b

    def __floordiv__(self, k):
        return self.a * k

    def __len__(self):
        return 2

    @property
    def length(self):
        return math.sqrt(self.norm2())

    @classmethod
    def of(cls, a):
        return cls(a, 2.0 * a)

    @staticmethod
    def scale(a, k):
        return a * k * k


def attributes(x, n):
    v = Vec(x, n)
    return v.a * v.b


def methods(x, n):
    return Vec(x, b=n).norm2() * Vec(n).norm2() * Vec(x, n).length


def operators(x, n):
    v = -(Vec(x, n) * x) - 2.0 * Vec(n, x)
    w = 1.0 - v
    return v @ w


def floor_division(x, n):
    return (Vec(x, n) // n) * x


def items(x, n):
    v = Vec(x, n)
    return v[0] * v[1] * len(v)


def updated(x, n):
    v = Vec(x, n)
    v += Vec(n, x)
    v *= x
    return v.norm2()


def class_and_static_methods(x, n):
    v = Vec.of(x)
    return v.norm2() * Vec.scale(x, n) + v.scale(n, x) * v.of(n).a


def class_attributes(x, n):
    v = Vec(x, n)
    return v.kind * v.a * Vec.kind


def on_a_branch(x, n):
    v = Vec(x, n)
    if x > 0.5:
        v = v * 2.0
    return v.norm2()


def in_a_loop(x, n):
    v = Vec(x, n)
    for _ in range(3):
        v = v + v * x
    return v.norm2()


class Base:
    def __init__(self, w):
        self.w = w

    def f(self, x):
        return self.w * x

    def both(self, x):
        return self.f(x) + x


class Derived(Base):
    def __init__(self, w, k=2.0):
        super().__init__(w)
        self.k = k * w

    def f(self, x):
        return super().f(x) * self.k


class Third(Derived):
    def f(self, x):
        return super().f(x) * x


def inherited(x, n):
    d = Derived(x)
    return d.f(n) + d.both(n)


def inherited_twice(x, n):
    return Third(x, k=n).both(n)


def a_list_of_objects(x, n):
    layers = [Base(x), Base(n), Base(x * n)]
    y = 1.0
    for layer in layers:
        y = layer.f(y)
    return y


def the_rest_of_a_list(x, n):
    vs = [Vec(x * i, n) for i in range(3)]
    total = vs[0]
    for v in vs[1:]:
        total = total + v
    return total.norm2()


class Layer:
    def __init__(self, w, b, act=np.tanh):
        self.w = w
        self.b = b
        self.act = act

    def __call__(self, x):
        return self.act(self.w * x + self.b)


class Net:
    def __init__(self, layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def layers_of_a_net(x, n):
    return Net([Layer(x, n), Layer(n, x, np.sin), Layer(x * n, 0.1, act=np.sin)])(0.4)


class Model:
    def __init__(self, w, layers=2):
        self.w = w
        self.layers = layers
        self.b = [w * i for i in range(layers)]
        scale = w * w
        self.scale = scale
        self.scale *= 2.0
        COUNTED.append(1)

    def __call__(self, x):
        for i in range(self.layers):
            x = math.tanh(self.w * x) + self.b[i]
        return x * self.scale


def a_model(x, n):
    m = Model(x)
    return m(n)


class Kernel(abc.ABC):
    @abc.abstractmethod
    def at(self, d): ...

    def twice(self, d):
        return self.at(d) * 2.0


class Gauss(Kernel):
    def __init__(self, width):
        self.width = width

    def at(self, d):
        return math.exp(-d * d / self.width)


def an_abstract_base(x, n):
    return Gauss(x).twice(n)


@dataclasses.dataclass
class Line:
    a: float
    b: float = 2.0

    def at(self, x):
        return self.a * x + self.b


def a_dataclass_with_a_default(x, n):
    return Line(x).at(n) * Line(b=x, a=n).at(x)


Pair = collections.namedtuple("Pair", "a b")


class Typed(typing.NamedTuple):
    a: float
    b: float = 2.0

    def at(self, x):
        return self.a * x + self.b

    def __add__(self, other):
        return Typed(self.a + other.a, self.b * other.b)


def named_tuples(x, n):
    p = Pair(b=x, a=n)
    return p.a * p.a * p.b + (Typed(x, n) + Typed(n)).at(x)


def apply(f, v):
    return f(v) * v


def methods_as_values(x, n):
    d = Base(x)
    f = d.f
    d = Base(n)
    return f(n) * apply(d.f, x) * apply(Base(n).both, n)


ALL = [
    *(methods_as_values, the_rest_of_a_list, layers_of_a_net),
    *(attributes, methods, operators, floor_division, items, updated, class_and_static_methods),
    *(class_attributes, on_a_branch, in_a_loop, inherited, inherited_twice, a_list_of_objects),
    *(a_model, an_abstract_base, a_dataclass_with_a_default, named_tuples),
]


@pytest.mark.parametrize("fn", ALL, ids=lambda fn: fn.__name__)
def test_objects_made_on_the_way(fn):
    check(fn, 0.7, 1.2)


def test_arrays_in_objects():
    def f(W, x):
        v = Vec(W @ x, x)
        return np.sum((v + v * 2.0).norm2())

    check(f, np.array([[0.3, 0.1], [0.2, 0.5]]), np.array([0.7, 1.2]))


def test_what_init_does_happens_once():
    COUNTED.clear()
    s2sad.grad(a_model)(0.7, 1.2)
    assert COUNTED == [1]


def given(v, n):
    w = v + v * n
    return w.norm2() * v.kind


def test_objects_given():
    v, n = Vec(0.7, 0.4), 1.2
    gradient = s2sad.grad(given)(v, n)
    for name in ("a", "b"):
        moved = [Vec(v.a, v.b), Vec(v.a, v.b)]
        for w, h in zip(moved, (1e-6, -1e-6), strict=True):
            setattr(w, name, getattr(w, name) + h)
        slope = (given(moved[0], n) - given(moved[1], n)) / 2e-6
        assert getattr(gradient, name) == pytest.approx(slope, rel=1e-6)


class Sometimes:
    def __init__(self, a):
        if a > 0:
            self.a = a


class Registered:
    known = []

    def __init__(self, a):
        self.a = a
        self.known.append(self)


class Checked:
    def __init__(self, a):
        self.a = a

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2.0)


@dataclasses.dataclass
class Post:
    a: float

    def __post_init__(self):
        self.a = self.a * 2.0


class Left(Base):
    def f(self, x):
        return super().f(x) * 2.0


class Right(Base):
    def f(self, x):
        return super().f(x) * 3.0


class Both(Left, Right):
    pass


class Sub(Vec):
    def __radd__(self, other):
        return Vec(5.0 * other.a, 0.0)


class Compared:
    def __init__(self, a):
        self.a = a

    def __eq__(self, other):
        return self.a * 2.0

    def __lt__(self, other):
        return self.a < other.a


def a_comparison_that_gives_a_number(x):
    return (Compared(x) == Compared(x)) * x


def compared(x, n):
    return x * n if Compared(x) < Compared(n) else x


def test_a_comparison_of_objects_chooses_an_arm():
    check(compared, 0.7, 1.2)


class Backwards:
    def __init__(self, parts):
        self.parts = parts

    def __getitem__(self, i):
        return self.parts[i]

    def __len__(self):
        return 2

    def __iter__(self):
        return reversed(self.parts)


def in_an_order_of_its_own(x):
    s = 1.0
    for v in Backwards([x, x * x]):
        s = s * 2.0 + v
    return s


@pytest.mark.parametrize(
    "fn",
    [
        a_comparison_that_gives_a_number,
        lambda x: Sometimes(x).a,
        lambda x: Registered(x).a,
        lambda x: Checked(x).a,
        lambda x: Both(x).f(x),
        lambda x: (Vec(x, x) + Sub(x, 1.0)).a,
        lambda x: (Vec(x, x) + x).a,
    ],
)
def test_what_is_more_than_attributes_is_refused(fn):
    with pytest.raises((s2sad.Error, TypeError)):
        s2sad.grad(fn)(0.7)


def test_an_object_in_an_order_of_its_own():
    check(in_an_order_of_its_own, 0.7)


def test_a_dataclass_with_a_post_init():
    check(lambda x: Post(x).a * x, 0.7)


@dataclasses.dataclass
class Named:
    a: float = 1.0
    _: dataclasses.KW_ONLY
    k: float = 2.0
    parts: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class NamedAndMore(Named):
    b: float = 0.5


def test_fields_that_are_given_by_name_only():
    def f(x, y):
        p, q = NamedAndMore(x, y, k=x * y), NamedAndMore(y, k=x)
        return p.a + p.k**2 + p.b**3 + q.a * q.b * q.k + len(q.parts)

    check(f, 0.7, 1.2)


class Gains:
    def __init__(self, kp, ki):
        self.kp, self.ki = kp, ki


class Whole(typing.NamedTuple):
    a: float
    b: float


def test_an_array_into_the_parameters_of_a_class():
    def f(x):
        p, q = Gains(*x), Whole(*(x * x))
        return p.kp * p.ki + q.a * Gains(x[0], *x[1:]).ki

    check(f, np.array([0.7, -1.3]))


class Meta(type):
    pass


class Listed(metaclass=Meta):
    def __init__(self, a):
        self.a = a


def test_a_class_that_cannot_be_followed_says_so():
    with pytest.raises(s2sad.MissingRuleError, match="this call of Listed makes") as caught:
        s2sad.grad(lambda x: Listed(x).a)(0.7)
    assert "no metaclass" in str(caught.value)


def test_the_text_makes_the_object_as_the_program_does():
    text = s2sad.grad(attributes).source(0.7, 1.2)
    assert "    v = Vec(x, n)\n" in text
    assert "object_of" not in text
