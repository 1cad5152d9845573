"""Programs with objects whose class says what a statement does: setters, operators, caches.

Each is checked by tests/test_writes_containers.py.
"""

import copy
import dataclasses
import enum
import functools

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


X = np.array([0.7, 1.3, -0.4])


# methods that return the object, or what they have just set


class Sum:
    def __init__(self):
        self.total = 0.0

    def add(self, x):
        self.total = self.total + x * x
        return self

    def scale(self, k):
        self.total *= k
        return self


@prog(0.7, 0.3)
def fluent(x, y):
    return Sum().add(x).scale(y).add(y).total


@prog(X)
def fluent_in_a_loop(xs):
    total = Sum()
    for x in xs:
        total = total.add(x) if x > 0 else total.scale(x)
    return total.total


class System:
    def __init__(self, n):
        self.A = np.zeros((n, n))
        self.b = np.zeros(n)

    def stamp(self, i, j, v):
        self.A[i, j] += v
        return self

    def load(self, i, v):
        self.b[i] += v
        return self

    def solve(self):
        return np.linalg.solve(self.A, self.b)


@prog(X, X + 2.5)
def fluent_assembly(x, y):
    system = System(3)
    for i in range(3):
        system.stamp(i, i, y[i]).load(i, x[i])
    return np.sum(system.stamp(0, 1, x[0]).stamp(1, 2, x[1]).solve())


class Filter:
    def __init__(self, state, gain):
        self.state = state
        self.gain = gain

    def step(self, x):
        self.state = np.tanh(self.state * self.gain + x)
        return self.state

    def __call__(self, x):
        self.gain = self.gain * 0.9
        return self.step(x)


@prog(Filter(0.2, 0.7), X)
def what_was_set_is_returned(f, xs):
    s = 0.0
    for x in xs:
        s += f.step(x) * f(x)
    return s * f.state


# setters


class Gas:
    def __init__(self, t):
        self.temperature = t

    @property
    def temperature(self):
        return self._t

    @temperature.setter
    def temperature(self, t):
        if t < -10.0:
            raise ValueError("too cold")
        self._t = t
        self.energy = 1.5 * t * t

    def heat(self, q):
        self.temperature += q / self.energy


@prog(0.7, 0.3)
def setter(x, y):
    g = Gas(x)
    g.heat(y)
    g.temperature = g.temperature * y
    return g.energy * g.temperature


@prog(Gas(0.8), X)
def setter_in_a_loop(g, xs):
    s = 0.0
    for x in xs:
        g.temperature = np.sin(x) * g.temperature
        s = s + g.energy
    return s


@prog(0.7, 0.3)
def setters_side_by_side(x, y):
    g, h = Gas(x), Gas(y)
    g.temperature, h.temperature = h.temperature, g.temperature
    return g.energy * g.temperature + h.energy


class Signal:
    def __init__(self):
        self._x = None

    def get(self):
        return self._x

    def set(self, v):
        self._x = v * v

    x = property(get, set)


@prog(0.4)
def property_made_of_methods(k):
    s = Signal()
    s.x = k
    s.x *= k
    return s.x * k


# items


class Field:
    def __init__(self, n):
        self.data = np.zeros((n, n))

    def __getitem__(self, at):
        i, j = at
        return self.data[i, j]

    def __setitem__(self, at, value):
        i, j = at
        self.data[i, j] = value * 2.0


@prog(X)
def items_by_pairs(x):
    f = Field(3)
    for i in range(3):
        f[i, 0] = x[i] * x[i]
    f[2, 1] += f[0, 0] * f[1, 0]
    return f[2, 1] * f[2, 0]


class Grid:
    def __init__(self, data):
        self.data = data

    def __getitem__(self, i):
        return self.data[i]

    def __setitem__(self, i, v):
        self.data[i] = v


@prog(Grid(X.copy()), X)
def items_of_what_is_given(g, x):
    for i in range(3):
        g[i] += x[i] * g[0]
    g[1] *= g[2]
    return g[0] * g[1]


class Table:
    def __init__(self):
        self.entries = {}

    def __getitem__(self, k):
        return self.entries[k]

    def __setitem__(self, k, v):
        self.entries[k] = v


@prog(0.7, 0.3)
def items_by_name(x, y):
    t = Table()
    t["a"] = x * y
    t["b"] = t["a"] * y
    return t["b"] * t["a"]


# operators in place


class Vec:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __iadd__(self, o):
        self.x = self.x + o.x
        self.y += o.y
        return self

    def __imul__(self, k):
        self.x *= k
        self.y *= k
        return self

    def dot(self, o):
        return self.x * o.x + self.y * o.y


@prog(0.7, 0.3)
def added_in_place(x, y):
    a, b = Vec(x, y), Vec(y, x * x)
    a += b
    a *= x
    return a.dot(b)


@prog(0.7, 0.3)
def added_in_a_loop(x, y):
    a = Vec(x, y)
    for i in range(3):
        a += Vec(x * i, y)
        a *= y
    return a.dot(a)


@prog(Vec(0.7, 0.3), 0.2)
def added_under_two_names(a, x):
    b = a
    a += Vec(x, x * x)
    return b.dot(a)


class Body:
    def __init__(self, v):
        self.v = v


@prog(0.7, 0.3)
def added_to_an_attribute(x, y):
    b = Body(Vec(x, y))
    b.v += Vec(y, y)
    return b.v.dot(b.v)


class Stack:
    def __init__(self, d):
        self.d = d

    def __iadd__(self, o):
        self.d += o.d
        return self

    def __isub__(self, o):
        return Stack(self.d - o.d)


@prog(X)
def added_to_itself(x):
    a = Stack(np.zeros(3))
    a += Stack(x)
    a += a
    b = a
    a -= Stack(x * x)
    return np.sum(a.d**2 * b.d)


# what is computed once


class Model:
    def __init__(self, A):
        self.A = A

    @functools.cached_property
    def factor(self):
        return np.linalg.cholesky(self.A @ self.A.T + np.eye(3))

    @functools.cached_property
    def inverse(self):
        return np.linalg.inv(self.factor)

    @property
    def logdet(self):
        return 2.0 * np.sum(np.log(np.diag(self.factor)))

    def quadratic(self, x):
        return np.sum((self.inverse @ x) ** 2)


A = np.array([[0.9, 0.2, -0.1], [0.3, 1.1, 0.4], [-0.2, 0.1, 0.8]])


@prog(A, X)
def computed_once(A, x):
    m = Model(A)
    return m.quadratic(x) + m.logdet * m.quadratic(2.0 * x)


@prog(Model(A), X)
def computed_once_of_what_is_given(m, x):
    return m.logdet * m.quadratic(x)


class Norm:
    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def square(self):
        return np.sum(self.x * self.x)


@prog(X)
def computed_before_a_change(x):
    n = Norm(x)
    a = n.square
    n.x = x * 3.0
    return a * n.square + np.sum(n.x)


class Lazy:
    def __init__(self, x):
        self.x = x
        self._square = None

    @property
    def square(self):
        if self._square is None:
            self._square = np.sum(self.x**2)
        return self._square

    @property
    def cube(self):
        if not hasattr(self, "_cube"):
            self._cube = np.sum(self.x**3)
        return self._cube


@prog(X)
def computed_by_hand(x):
    z = Lazy(x)
    a = z.square * z.cube
    z.x = x * 3.0
    return a * z.square + z.cube


@prog(Lazy(X.copy()))
def computed_by_hand_of_what_is_given(z):
    a = z.square * z.cube
    z.x = z.x * 3.0
    return a * z.square + z.cube


# classes of other makes


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def f(self, x):
        self.a = self.a * x
        return self.a * self.b


class MoreSlots(Slotted):
    __slots__ = ("c",)

    def __init__(self, a, b, c):
        super().__init__(a, b)
        self.c = c


@prog(0.4, 0.3)
def slots(x, y):
    s, t = Slotted(x, y), MoreSlots(y, x, x * y)
    return s.f(y) * t.f(x) * t.c + s.a


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    a: float
    b: float = 2.0

    def f(self, x):
        return self.a * x + self.b


@prog(Frozen(a=0.4), 0.3)
def frozen_with_keywords(z, y):
    w = dataclasses.replace(z, a=z.a * y)
    return w.f(y) * Frozen(a=y).f(z.b) * z.f(2.0)


@dataclasses.dataclass
class ByPosition:
    a: float
    b: float = dataclasses.field(kw_only=True)
    c: float


@prog(0.4, 0.3)
def a_keyword_between_positions(x, y):
    p = ByPosition(x, y, b=x * y)
    return p.a + 2.0 * p.b + 5.0 * p.c


@dataclasses.dataclass(frozen=True)
class Derived:
    a: float
    scale: dataclasses.InitVar[float]
    square: float = dataclasses.field(init=False)

    def __post_init__(self, factor):
        object.__setattr__(self, "square", self.a**2 * factor)


@prog(0.4, 0.3)
def fields_computed_after_the_others(x, y):
    d = Derived(x, y)
    return d.square * Derived(y, scale=3.0).square + d.a


@dataclasses.dataclass
class Filled:
    a: float
    data: np.ndarray = dataclasses.field(default_factory=lambda: np.ones(3))
    log: list = dataclasses.field(default_factory=list)

    def add(self, x):
        self.data += self.a * x
        self.log.append(np.sum(self.data))
        return self


@prog(0.4, X)
def factories_without_a_name(a, x):
    f = Filled(a).add(x).add(x * x)
    return f.log[0] * f.log[1] + np.sum(f.data**2)


class Rates:
    names = ("growth", "decay")
    power = 2

    def __init__(self, growth, decay):
        for name, value in zip(self.names, (growth, decay), strict=True):
            setattr(self, name, value)

    def total(self):
        return sum(getattr(self, name) ** self.power for name in self.names)


class Steeper(Rates):
    power = 3


@prog(Rates(0.3, 0.7), 0.2)
def attributes_in_a_loop(r, x):
    for name in ("growth", "decay"):
        setattr(r, name, getattr(r, name) * x + getattr(r, "shift", x))
    made = Steeper(x, r.decay)
    return r.total() * made.total() + made.growth


class Mode(enum.Enum):
    LINEAR = 1
    SQUARE = 2

    def of(self, x):
        return 2.0 * x if self is Mode.LINEAR else x * x


@prog(0.4)
def members_in_turn(x):
    total = 0.0
    for i, mode in enumerate(Mode):
        x = mode.of(x) + i
        total += x
    for mode in Mode:
        total *= mode.of(x)
    return total


# attributes by literal names


@prog(Vec(0.7, 0.3), 0.2)
def by_name(v, x):
    setattr(v, "x", getattr(v, "y") * x)  # noqa: B009, B010

    return getattr(v, "x") * v.y + (v.x if hasattr(v, "z") else x)  # noqa: B009


# an object that one arm of a branch uses


def scaled(f, x):
    return f.gain * x


@prog([Filter(0.2, 0.7), Filter(0.1, 0.4), Filter(0.3, 0.5)], X)
def used_in_one_arm(filters, x):
    for i, f in enumerate(filters):
        if i % 2 == 0:
            x = scaled(f, x)
        else:
            x = np.sin(x)
    return np.sum(x)


@prog([Filter(0.2, 0.7), Filter(0.1, 0.4), Filter(0.3, 0.5)], X)
def used_in_one_arm_and_written(filters, x):
    for i, f in enumerate(filters):
        if i == 1:
            x = scaled(f, x)
        elif i == 2:
            f.step(0.3)
        else:
            f.gain = f.gain * scaled(f, x[0])
        x = x * filters[2].gain + f.state
    return np.sum(x)


@prog([[0.3, 0.2], [0.5, 0.1]], X)
def summed_in_one_arm(rows, x):
    first = rows[0]
    for row in rows:
        if x[0] > 0.5:
            x = x * sum(row)
        elif x[1] > 0.0:
            x = x * sum(first)
        else:
            x = x * row[0]
    return np.sum(x) * (sum(first) if x[0] < 10.0 else 1.0)


@prog({"a": Filter(0.2, 0.7), "b": Filter(0.1, 0.4)}, X)
def used_in_one_case(filters, x):
    f = filters["a"]
    for i in range(3):
        match i:
            case 0:
                x = scaled(f, x)
            case 1:
                x = x * scaled(filters["b"], x[0])
    return np.sum(x)


# copies


class State:
    def __init__(self, u, t):
        self.u = u
        self.t = t

    def step(self, h):
        self.u += h * self.u**2
        self.t = self.t + h
        return self


class Run:
    def __init__(self, state, k):
        self.state = state
        self.k = k


@prog(X, 0.3)
def a_trial_step(u, h):
    s, total = State(u * 2.0, h), 0.0
    for _ in range(3):
        trial = copy.deepcopy(s)
        trial.step(h)
        if trial.t < 0.8:
            s = trial
        total = total + np.sum(trial.u * s.u)
    return total * s.t


@prog(State(X.copy(), 0.2), 0.3)
def a_history(s, h):
    history = []
    for _ in range(3):
        history.append(copy.deepcopy(s.step(h)))
    return sum(np.sum(p.u) * p.t for p in history)


@prog(State(X.copy(), 0.2), 0.3)
def a_shallow_copy(s, h):
    q = copy.copy(s)
    q.step(h)
    q.u = q.u * h
    return np.sum(s.u * q.u) * q.t + s.t


@prog(Run(State(X.copy(), 0.2), 0.4), 0.3)
def shallow_and_deep(r, h):
    near, far = copy.copy(r), copy.deepcopy(r)
    near.state.step(h)
    far.state.step(r.k)
    near.k *= h
    return np.sum(near.state.u * r.state.u * far.state.u) * near.k * r.k * far.state.t


@prog(State(X.copy(), 0.2), 0.3)
def a_copy_of_one_of_two(s, h):
    v = State(s.u * 2.0, h)
    hot = s if s.t > h else v
    deep, flat = copy.deepcopy(hot), copy.copy(hot)
    deep.u[1:] *= deep.u[:-1]
    flat.u[0] *= h
    return np.sum(deep.u * v.u * s.u) * deep.t + flat.t


@prog(X, 0.3)
def copies_of_lists_and_dicts(x, h):
    xs, d = [h, h * h], {"a": h, "b": x[0]}
    ys, zs, e, g = copy.copy(xs), copy.deepcopy(xs), copy.copy(d), copy.deepcopy(d)
    ys[0] = ys[0] * 2.0
    zs.append(h)
    e["a"] = x[1]
    g["b"] *= h
    return xs[0] * ys[0] * zs[2] * d["a"] * e["a"] * g["b"] * d["b"]
