"""docs/support.md, targets.md and programs.md, generated from the code so that they cannot lie.

Every construct of the language has a tiny program here. It is derived and compared with
differences, or refused; the page says which, and quotes the refusal.
"""

import abc
import builtins
import cmath
import contextlib
import functools
import importlib
import inspect
import io
import itertools
import linecache
import math
import operator
import re
import statistics
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from targets import TARGETS, load_file

import s2sad
from s2sad import registry
from s2sad.known.generators import GENERATORS, generator_of
from s2sad.testing import differences

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
X = np.array([0.7, -1.3, 0.4])
MADE = "<!-- made by tests/tables.py; S2SAD_UPDATE=1 pytest tests/test_tables.py writes it anew -->"

_IMPORTED = (
    "collections",
    "contextlib",
    "dataclasses",
    "functools",
    "itertools",
    "math",
    "numpy as np",
)
_HEAD = "".join(f"import {name}\n" for name in _IMPORTED) + "\n\n"
_count = itertools.count()

# --- the language --------------------------------------------------------------------------------

# A line that starts with "## " opens a section, "# " a construct; what follows is its program,
# a definition of f(x) with x an array of three floats, or just its body.
PROGRAMS = """
## Statements
# assignment, reassignment
y = x * 2.0
y = y * x
return np.sum(y)
# augmented assignment of a scalar
s = np.sum(x)
s *= s
return s
# tuple assignment
a, b = x[0], x[1] * x[2]
return a * b
# swap
a, b = x[0], x[1]
a, b = b * a, a
return a * b * b
# starred assignment
a, *b = (x[0], x[1], x[2])
return a * b[0] * b[1]
# chained assignment
a = b = x[0] * x[1]
return a * b
# walrus
if (s := np.sum(x)) < 0.0:
    return s * s
return s
# assert, raise
assert len(x) == 3
if x[0] > 100.0:
    raise ValueError("too large")
return x[0] * x[1]
# print and f-strings on the side
s = np.sum(x * x)
label = f"{s:.3f}"
print(label, end="")
return s
# global constant
SCALE = 3.0


def f(x):
    return SCALE * np.sum(x * x)

## Branches
# if, elif, else
if x[0] > 1.0:
    y = x * x
elif x[0] > 0.0:
    y = np.sin(x)
else:
    y = x
return np.sum(y)
# conditional expression
return x[0] * x[1] if x[2] > 0.0 else x[0]
# and, or, not, chained comparison
if 0.0 < x[0] < 1.0 and not (x[1] > 0.0 or x[2] > 1.0):
    return x[0] * x[1]
return x[0]
# match on values
match len(x):
    case 3:
        return x[0] * x[1]
    case _:
        return x[0]
# match with a sequence pattern on an active value
match (x[0], x[1]):
    case (a, b):
        return a * b
# match with a class pattern on an active value
match x[0]:
    case float():
        return x[0] * x[0]
    case _:
        return x[0]
# a name that a case with a guard binds, read outside of that case
a = x[1]
match (x[0], x[1]):
    case (a, b) if b > 9.0:
        return a * b
    case _:
        return a
# isinstance, is None
def square(v, scale=None):
    if scale is None:
        scale = 1.0
    if isinstance(v, tuple):
        return v[0] * v[0] * scale
    return v * v * scale


def f(x):
    return square(x[0]) + square((x[1],), 2.0)
# early return
if x[0] > 0.5:
    return x[0] * x[1]
return np.sum(x)

## Loops
# sum of arrays that starts as the number 0, added to in place
s = 0.0
for i in range(3):
    s += x[i] * x
return np.sum(s * s)
# variable that is None at first
best = None
for v in x:
    if best is None or v * v > best:
        best = v * v
return best
# NumPy's functions of lists of active values
return np.dot([x[0], x[1]], [2.0, 3.0]) * np.sum([x[2], 1.0])
# for over range, all forms
s = 0.0
for i in range(3):
    s = s + x[i] * x[i]
for i in range(2, -1, -1):
    s = s * x[i]
for i in range(0, len(x), 2):
    s = s + x[i]
return s
# for over an array, a list, a tuple
s = 0.0
for v in x:
    s = s + v * v
for v in [x[0], x[1]]:
    s = s * v
for v in (x[1], x[2]):
    s = s + v * v
return s
# enumerate, zip, reversed
s = 0.0
for i, v in enumerate(x):
    s = s + i * v * v
for a, b in zip(x[:2], x[1:]):
    s = s + a * b
for v in reversed(x):
    s = s * v + 1.0
return s
# dict items
table = {"a": x[0], "b": x[1]}
s = 0.0
for _, v in table.items():
    s = s + v * v
return s
# nested, inner bounds that depend on the outer loop
s = 0.0
for i in range(3):
    for j in range(i):
        s = s + x[i] * x[j]
return s
# loop variable changed by the body
s = 0.0
for i in range(3):
    i = 2 - i
    s = s * x[i] + x[i]
return s
# while
s = x[0]
while s < 5.0:
    s = s * 2.0 + x[2] * s
return s
# break, continue, else
s = 1.0
for v in x:
    if v < -2.0:
        break
    if v < 0.0:
        continue
    s = s * v
else:
    s = s * x[1]
return s
# return inside a loop
s = 1.0
for v in x:
    s = s * v
    if s < 0.0:
        return s * s
return s
# comprehension, generator expression in sum, max, min, list
squares = [v * v for v in x]
return sum(v * v for v in squares) + max(v for v in x) + len(list(squares))
# np.array of a comprehension
return np.sum(np.array([v * v for v in x]))
# generator expression unpacked, looped over
a, b, c = (v * v for v in x)
for w in (v * a for v in x if v > 0.0):
    b = b + w * c
return b
# any, all of a generator expression, next of one without derivative
i = next((i for i in range(3) if x[i] > 0.5), -1)
return x[i] * x[i] if any(v > 0.5 for v in x) else np.sum(x)
# itertools.product, combinations, permutations over constants
s = 0.0
for i, j in itertools.combinations(range(3), 2):
    s += x[i] * x[j]
return s
# generator expression given to a function of the user's
def first(values):
    for v in values:
        return v

def f(x):
    return first(v * v for v in x) * 1.0
# zip kept in a variable and looped over
s = 0.0
pairs = zip(x, x * x)
for a, b in pairs:
    s += a * b
return s
# tuple made of a generator expression
t = tuple(v * v for v in x)
return t[0] * t[1]
# tuple of unknown length that a function returns
def squares():
    return tuple(v * v for v in x)

t = squares()
return t[0] * t[1]
# list of zip, enumerate or reversed, sorted pairs
pairs = sorted(zip(x, x * x), key=lambda p: p[1])
t = 0.0
for k, (a, b) in list(enumerate(pairs)):
    t += k * a * b
return t
# min and max of several arguments by a key
return max(x[0], x[1], key=abs) ** 3 + min(x[1] * x[2], 2.0, key=lambda v: -v)
# min, max and sorted by a key, of tuples, arrays and objects
tried = [(np.sum((x - k) ** 2), x * k) for k in range(3)]
loss, best = min(tried, key=lambda t: t[0])
return loss * np.sum(best)
# generator or map kept in a variable and read once
squares = (v * v for v in x)
return sum(squares) * x[0]
# tuple that a loop makes longer
t = ()
for v in x:
    t += (v * v,)
return t[0] * t[-1]
# list extended by a generator, or as a part of a structure
d = {"a": []}
d["a"].extend([x[0], x[1]])
for v in x:
    d["a"] += [v * v]
ys = []
ys.extend(v * w for v, w in zip(d["a"], x))
return ys[0] * d["a"][-1]
# inner function that appends to a captured list, or sets an item of a dict
history, last = [], {}
def record(z):
    history.append(np.sum(z * z))
    last["z"] = z

def descend(z, steps, callback):
    for _ in range(steps):
        z = z - 0.1 * z * x
        callback(z)
    return z

z = descend(x, 3, record)
return history[0] * history[-1] + np.sum(last["z"] * z)
# slice and tuple of slices in a variable, along an axis that only the run knows
def along(m, axis):
    at = [slice(None)] * m.ndim
    at[axis] = slice(1, None)
    return m[tuple(at)]

m, s = np.outer(x, x), slice(1, None)
return sum(np.sum(along(m, axis) ** 2) for axis in range(2)) + np.sum(x[s])
# np.ndindex, np.ndenumerate, itertools over active values
m, s = np.outer(x, x), 0.0
for i, j in np.ndindex(*m.shape):
    s += m[i, j] * x[i]
for (i, j), v in np.ndenumerate(m):
    s += v * x[j]
for a, b in itertools.pairwise(x):
    s += (b - a) ** 2
return s + sum(a * b for a, b in itertools.combinations(x, 2)) + sum(itertools.accumulate(x))
# A.flat looped over, made an array; rows of an array in a tuple
m = np.outer(x, x)
s = sum(v * v for v in m.T.flat) + np.sum(np.array(m.flat) ** 2)
for a, b in zip(x.flat, m[0].flat):
    s += a * b
first, second, third = tuple(m)
return s + np.sum(first * second) + np.sum(third)
# A.flat kept, or read beside others while it is written
s, it = 0.0, x.flat
for v in it:
    s += v * v
return s
# deque as a window or a queue, in the function that makes it
window = collections.deque(maxlen=2)
s = 0.0
for v in x:
    window.append(v * v)
    s += sum(window) / len(window) * v
return s
# deque that is rotated, or handed to a function of the user's
q = collections.deque([x[0], x[1]])
q.rotate(1)
return q[0] * x[2]
# list filled by append
ys = []
for v in x:
    ys.append(v * v)
return ys[0] * ys[-1] + np.sum(np.array(ys))
# dict comprehension of active values
d = {i: x[i] * x[i] for i in range(3)}
return d[0] * d[1]
# dict filled by keys that are not literals
cache = {0: x[0]}
for i in range(1, 4):
    cache[i] = cache[i - 1] * x[i % 3]
return cache[3] * cache[2]
# get, pop, setdefault and del of a dict by keys that are not literals
d = {}
for i in range(4):
    d[i % 2] = d.get(i % 2, 0.0) + x[i % 3] * d.setdefault(7, x[0])
    if i == 2:
        del d[7]
return d.pop(0) * sum(d.values())
# defaultdict of float, int or list
d = collections.defaultdict(float)
for i in range(4):
    d[i % 2] += x[i % 3] ** 2
return d[0] * d[1]
# dict with keys that depend on what is differentiated
d = {x[0]: x[1]}
return d[x[0]]
# dict that a function fills and passes to itself
def f(x):
    def power(n, memo):
        if n not in memo:
            memo[n] = power(n - 1, memo) * x[0] if n else x[1]
        return memo[n]

    return power(3, {})
# set comprehension of active values
return sum({v * v for v in x})
# loop over an iterator that can be read only once
s = 0.0
for v in iter(x):
    s = s + v * v
return s
# sorted
return sorted([x[0], x[1], x[2]])[1] * x[0]
# max with a default
return max((v * v for v in x), default=0.0)
# max with a key
return max([x[0], x[1]], key=lambda v: -v) * 2.0
# map
s = 0.0
for v in map(abs, x):
    s = s + v * v
return s

## Calls
# functions of the user, default, keyword-only
def g(a, b=2.0, *, c):
    return a * b * c


def f(x):
    return g(x[0], c=x[1]) + g(x[2], x[0], c=3.0)
# *args
def g(*xs):
    return xs[0] * xs[1]


def f(x):
    return g(x[0], x[1])
# function of *args that is differentiated itself
def f(*xs):
    return np.sum(xs[0] ** 2) * len(xs)
# **kwargs in a definition
def g(**named):
    return named["a"] * named["b"]


def f(x):
    return g(a=x[0], b=x[1])
# *values at a call
def g(a, b):
    return a * b


def f(x):
    pair = (x[0], x[1])
    return g(*pair)
# **table at a call with active values
def g(a, b):
    return a * b


def f(x):
    table = {"a": x[0], "b": x[1]}
    return g(**table)
# lambda, nested definition, closure
def f(x):
    w = x[0]

    def scaled(v):
        return w * v

    square = lambda v: v * v
    return scaled(x[1]) + square(x[2])
# functools.partial
def g(a, b):
    return a * b


def f(x):
    return functools.partial(g, 3.0)(x[0] * x[1])
# function given as an argument
def scan(step, xs, init):
    for v in xs:
        init = step(init, v)
    return init


def f(x):
    return scan(lambda s, v: s * v + v, x, 1.0)
# sequence of unknown length into *args
def total(*values):
    return sum(values)


def f(x):
    return total(*x)
# array into the arguments of a function of a library
return math.hypot(*x) * np.arctan2(*x[:2]) + max(*x, 0.1) + np.sum(np.clip(x, *x[:2]))
# array into the parameters of a function
def line(a, b, c):
    return a * b + c


def f(x):
    return line(*x)
# decorator that passes on *args, **kwargs
def doubled(g):
    @functools.wraps(g)
    def inner(*args, **kwargs):
        return 2.0 * g(*args, **kwargs)

    return inner


@doubled
def scaled(v, k=1.0):
    return v * v * k


def f(x):
    return scaled(x[0], k=x[1])
# function chosen by a branch, loop over functions
s = x[0]
g = np.sin if s > 0.0 else np.cos
for h in (np.tanh, g, lambda v: v * x[1]):
    s = h(s)
return s
# function that returns a function
def make(a):
    return lambda v: v * v * a


def f(x):
    return make(x[0])(x[1])
# function made in a loop and kept for later
def make(a):
    return lambda v: v * v * a


def f(x):
    made = []
    for v in x:
        made.append(make(v))
    return made[0](x[1])
# default of an inner function that is worked out
k = x[0] * x[1]


def scaled(v, k=k):
    return v * k


return scaled(x[2])
# np.vectorize(f)(x), np.fromfunction
squares = np.vectorize(lambda v: v * v, otypes=[float])
s = np.sum(np.vectorize(lambda v: v * v if v > 0.0 else v)(x)) + np.sum(squares(x) * x)
return s + np.sum(np.fromfunction(lambda i: i * x[0] * x[1], (4,)))
# random numbers, of generators or of np.random, of active locations and scales
rng = np.random.default_rng(0)
return np.sum(x * rng.normal(size=3) + rng.normal(x, 0.1)) + x[rng.permutation(3)[0]] ** 2
# values picked by chance
return np.sum(np.random.default_rng(0).permutation(x) * np.arange(3))
# np.r_, np.c_, np.mgrid, np.ogrid
rows, cols = np.mgrid[0:2, 0:3]
s = np.sum(np.r_[0.0, x, x[0] ** 2, 1:3] ** 2) + np.sum(np.c_[x, x * x] ** 3)
return s + np.sum((cols * x + rows) ** 2)
# np.r_ told in a string, np.mgrid of active ends
return np.sum(np.r_["0,2", x, x])
# functools.reduce, map, filter
s = functools.reduce(lambda a, b: a * b + a, x)
return s + sum(map(lambda v: v * v, filter(lambda v: v > 0.0, x)))
# object of a class made on the way, its operators
class Vector:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __add__(self, other):
        return Vector(self.a + other.a, self.b + other.b)

    def norm(self):
        return math.hypot(self.a, self.b)


def f(x):
    return (Vector(x[0], x[1]) + Vector(x[2], 1.0)).norm()
# base class, super()
class Line:
    def __init__(self, slope):
        self.slope = slope

    def at(self, v):
        return self.slope * v


class Shifted(Line):
    def __init__(self, slope, shift):
        super().__init__(slope)
        self.shift = shift

    def at(self, v):
        return super().at(v) + self.shift


def f(x):
    return Shifted(x[0], x[1]).at(x[2])
# recursion
def power(v, n):
    return 1.0 if n == 0 else v * power(v, n - 1)


def f(x):
    return power(x[0], 3)
# mutual recursion
def even(v, n):
    return v if n == 0 else odd(v * v, n - 1)


def odd(v, n):
    return v if n == 0 else even(2.0 * v, n - 1)


def f(x):
    return even(x[0], 3)
# method, property, callable object
class Line:
    def __init__(self, slope):
        self.slope = slope

    @property
    def twice(self):
        return 2.0 * self.slope

    def at(self, v):
        return self.slope * v * v

    def __call__(self, v):
        return self.twice * v * v


LINE = Line(2.0)


def f(x):
    return LINE.at(x[0]) + LINE(x[1])
# attribute of a class
class Line:
    slope = 2.0


def f(x):
    return Line.slope * x[0] * x[1]
# attribute of a class, read through an instance
class Line:
    slope = 2.0

    def at(self, v):
        return self.slope * v * v


LINE = Line()


def f(x):
    return LINE.at(x[0])
# class method, attribute read through cls, type(self)
class Scale:
    factor = 2.0

    def __init__(self, v):
        self.v = v

    @classmethod
    def of(cls, v):
        return cls(v * cls.factor)

    def squared(self):
        return type(self)(self.v * self.v)


def f(x):
    return Scale.of(x[0]).squared().v
# list of objects of different classes
class Square:
    def __init__(self, a):
        self.a = a

    def area(self):
        return self.a * self.a


class Circle:
    def __init__(self, r):
        self.r = r

    def area(self):
        return 3.0 * self.r * self.r


def f(x):
    return sum(shape.area() for shape in [Square(x[0]), Circle(x[1])])
# object of one of two classes, chosen by a branch
class Square:
    def __init__(self, a):
        self.a = a

    def area(self):
        return self.a * self.a


class Circle:
    def __init__(self, r):
        self.r = r

    def area(self):
        return 3.0 * self.r * self.r


def f(x):
    shape = Square(x[0]) if x[1] > 0 else Circle(x[1])
    return shape.area()
# setter of a property
class Gas:
    def __init__(self, t):
        self.t = t

    @property
    def t(self):
        return self._t

    @t.setter
    def t(self, value):
        self._t = value
        self.energy = 1.5 * value * value


def f(x):
    gas = Gas(x[0])
    gas.t += x[1]
    return gas.energy * gas.t
# __setitem__, __iadd__ of a class
class Table:
    def __init__(self):
        self.entries = {}

    def __getitem__(self, key):
        return self.entries[key]

    def __setitem__(self, key, value):
        self.entries[key] = value

    def __iadd__(self, value):
        self.entries["a"] = self.entries["a"] * value
        return self


def f(x):
    table = Table()
    table["a"] = x[0]
    table += x[1]
    return table["a"] * x[2]
# slice of an object of a class with __setitem__ written
class Field:
    def __init__(self, data):
        self.data = data

    def __setitem__(self, index, value):
        self.data[index] = value


def f(x):
    field = Field(x * 1.0)
    field[1:] = x[1:] * x[0]
    return np.sum(field.data)
# functools.cached_property
class Norm:
    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def square(self):
        return np.sum(self.x * self.x)


def f(x):
    norm = Norm(x)
    return norm.square * norm.square
# named tuple made on the way
Pair = collections.namedtuple("Pair", "a b")


def f(x):
    p = Pair(x[0], x[1])
    return p.a * p.b
# dataclass made on the way
@dataclasses.dataclass
class Pair:
    a: float
    b: float


def f(x):
    p = Pair(x[0], x[1])
    return p.a * p.b
# abs, min, max, sum, pow, round, divmod, float, int, len
q, r = divmod(x[0], 0.3)
a = abs(x[1]) + min(x[0], x[2]) * max(x[0], x[1]) + sum(x) + pow(x[0], 2)
return a + r + float(x[2]) * len(x) + round(x[0]) + int(x[1])
# the module math
return math.sin(x[0]) * math.hypot(x[1], x[2]) + math.lgamma(x[0])
# complex numbers
z = x[0] + 1j * x[1]
return np.real(z * np.conj(z)) + abs(z) + np.real(np.exp(z))

## Written in place, and other constructs
# item of an active array written
y = x * 2.0
y[0] = 3.0
return np.sum(y * y)
# array filled in a loop
y = np.zeros(3)
for i in range(3):
    y[i] = x[i] * x[i]
return np.sum(y)
# augmented assignment of an active array
y = x * 2.0
y += 1.0
return np.sum(y * y)
# out= of a ufunc
y = np.zeros(3)
np.sin(x, out=y)
return np.sum(y)
# where= and out= of a ufunc
y = np.zeros(3)
np.log(x, out=y, where=x > 0)
return np.sum(y)
# out= of a reduction
y = np.zeros(())
np.sum(x * x, out=y)
return y * 1.0
# a write in the test of an if
y = np.zeros(3)
if np.add(x, 1.0, out=y).sum() > 0.0:
    return np.sum(y * y)
return 0.0
# a write by a key function
y = np.zeros(3)

def key(i):
    y[i] = x[i]
    return i

m = max(range(3), key=key)
return np.sum(y) * m
# ufunc.at with positions that repeat: add and subtract
y = np.zeros(2)
np.add.at(y, [0, 1, 1], x)
return np.sum(y * y)
# ufunc.at with positions that repeat: multiply, divide, power, maximum, minimum, hypot and others
y = np.ones(2)
np.multiply.at(y, [0, 1, 1], x)
return np.sum(y)
# ufunc.at with positions that repeat: copysign
y = np.ones(2)
np.copysign.at(y, [0, 1, 1], x)
return np.sum(y * x[:2])
# np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal
y = np.zeros((2, 3))
np.copyto(y, x)
np.put(y, [0, 4], x[:2])
np.place(y, y > 1.0, x)
np.putmask(y, y < 0, x)
np.put_along_axis(y, np.array([[0], [1]]), x[2], axis=1)
np.fill_diagonal(y, x[0])
return np.sum(y * y)
# fill, sort, partition and put of an array
y = x * 2.0
y.fill(x[1])
y.put([0, 2], x[:2])
y.sort()
y.partition(1)
return np.sum(y * np.arange(3.0))
# an item of flat written
y = np.zeros((2, 3))
y.flat[1:4] = x
return np.sum(y * y)
# a view written: reshape, ravel, squeeze, np.asarray
y = x * 2.0
z = y.reshape(1, 3)
z[0, 1] = x[0]
y[2] *= 2.0
return np.sum(z * z)
# a part of np.split written
y = np.concatenate([x, x])
a, b = np.split(y, 2)
a *= b
return np.sum(y)
# a read-only diagonal of an array written
y = np.outer(x, x)
d = np.diagonal(y)
y[0, 0] = 2.0 * x[1]
return np.sum(d * d)
# np.broadcast_to of an array written afterwards
y = x * 2.0
z = np.broadcast_to(y, (2, 3))
y[0] = x[1]
return np.sum(z * z)
# the real part of a complex array written
z = x * (1.0 + 2.0j)
z.real[0] = x[1]
return np.sum(np.abs(z) ** 2)
# the imaginary part of a complex array written
z = x * (1.0 + 2.0j)
z.imag *= x
return np.sum(np.abs(z) ** 2)
# an array resized in place
y = x * 2.0
y.resize((2, 2))
return np.sum(y)
# an array written that a list holds a view of
y = x * 2.0
parts = [y[:2], y[2:]]
parts[0][0] = 3.0
return np.sum(y * y)
# a function that writes the array it is given
def step(u, un):
    un[1:-1] = u[1:-1] * u[2:]
    un[0] = un[1]


def f(x):
    un = x * x
    step(x, un)
    return np.sum(un * un)
# a function that writes an array and returns it
def scaled(v, s):
    v *= s
    return v


def f(x):
    v = x * x
    w = scaled(v, x[0])
    return np.sum(v * w)
# a function that writes the part of an array it is given
def normalise(v):
    v /= np.sqrt(np.sum(v * v))


def f(x):
    v = x * x
    normalise(v[1:])
    return v[0] * v[1]
# an inner function that writes a captured array
def f(x):
    y = np.zeros(3)

    def put(i):
        y[i] = x[i] * x[0]

    for i in range(3):
        put(i)
    return np.sum(y * y)
# one array given twice to a function that writes it
def add(u, v):
    u += v


def f(x):
    y = x * x
    add(y, y)
    return np.sum(y)
# item of a list of active values written
ys = [x[0], x[1]]
ys[1] = x[2]
return ys[0] * ys[1]
# pop from a list of active values
ys = [x[0], x[1], x[2]]
ys.pop()
return ys[-1] * ys[0]
# entry of a dict of active values written
d = {"a": x[0]}
d["a"] = x[0] * x[1]
return d["a"]
# list item, pop, insert, del, extend in one list
ys = [x[0], x[1], x[2]]
ys.insert(0, ys.pop() * ys[0])
ys[1] += ys[2] ** 2
ys.extend([ys[0] * x[2]])
del ys[0]
return ys[0] * ys[1] * ys[2]
# slice of a list written
ys = [x[0], x[1], x[2]]
ys[:2] = [x[2] * x[0]]
return ys[0] * ys[1]
# update, pop or setdefault of a dict of active values
d = {"a": x[0]}
d.update(b=x[1] * x[2])
return d["a"] * d["b"]
# attribute of an object written
class Box:
    def __init__(self, value):
        self.value = value


def f(x):
    box = Box(x[0])
    box.value = box.value * x[1]
    box.count = 2.0
    return box.value * x[0] * box.count
# attribute of an object of a class without __init__ written
class Box:
    pass


def f(x):
    box = Box()
    box.value = x[0] * x[1]
    return box.value * x[0]
# method that writes self
class Cell:
    def __init__(self):
        self.h = 0.0

    def step(self, v):
        self.h = np.tanh(self.h + v)
        return self.h


def f(x):
    cell = Cell()
    s = 0.0
    for v in x:
        s += cell.step(v) ** 2
    return s * cell.h
# one array twice in a structure that is written
y = x * 2.0
ys = [y, y]
ys[0][0] = x[1] * x[2]
return np.sum(ys[1] * y)
# write at the end of a try
y = x * 2.0
try:
    y[0] = math.sqrt(x[1]) * x[2]
except ValueError:
    pass
return np.sum(y * y)
# write inside a try before something that may raise
y = x * 2.0
try:
    y[0] = x[1] * x[2]
    y[1] = math.sqrt(x[1])
except ValueError:
    pass
return np.sum(y * y)
# item of a list written in a loop over it
ys = [x[0], x[1], x[2]]
s = 0.0
for y in ys:
    ys[1] = y * x[2]
    s += y
return s * ys[1]
# try
try:
    s = math.log(x[0] - x[1])
except ValueError:
    s = x[0] * x[1]
return s
# try with else and finally
s = x[0]
calls = 0
try:
    y = math.log(x[0] - x[1])
except ValueError:
    s = s * x[1]
else:
    s = s * y
finally:
    calls += 1
return s * calls
# retry loop left by break
shift = 0.0
for attempt in range(5):
    try:
        y = math.log(x[0] - 1.0 + shift)
        break
    except ValueError:
        shift += 1.0
return y * x[1]
# try that is left half done
s = x[0]
try:
    s = s * x[1]
    y = math.log(s - 10.0)
except ValueError:
    y = s
return y
# call in a try that writes memory before it raises
def g(out, v):
    out[0] = v
    if v > 0.0:
        raise ValueError

def f(x):
    out = np.zeros(3)
    try:
        g(out, x[0])
    except ValueError:
        out[1] = x[1]
    return np.sum(out * out)
# return in finally
try:
    s = x[0] * x[1]
finally:
    return x[0]
# with
with np.errstate(all="ignore"), contextlib.nullcontext():
    s = x[0] * x[1]
return s
# with contextlib.suppress
s = x[0]
with contextlib.suppress(ValueError):
    s = math.log(x[0] - x[1])
return s
# with a manager that may swallow exceptions
class Manager:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        return kind is ValueError

def f(x):
    with Manager():
        s = x[0] * x[1]
    return s
# nonlocal rebinding of an active variable
def f(x):
    s = 0.0

    def add(v):
        nonlocal s
        s = s + v

    add(x[0] * x[1])
    return s
# global rebinding of an active variable
def f(x):
    global KEPT
    KEPT = x[0] * x[1]
    return KEPT * 2.0
# del of an item
ys = [x[0], x[1], x[2]]
del ys[0]
return ys[0] * ys[1]
# del of a name
y = x * x
z = np.sum(y)
del y
return z
# generator function called
def squares(x):
    for v in x:
        yield v * v


def f(x):
    return sum(squares(x))
# generator function
def f(x):
    yield np.sum(x)
# coroutine
async def f(x):
    return np.sum(x)
# function with neither rule nor source
return np.sum(np.fft.ifftshift(x) * x)
# import inside the function
import math as m

return m.sin(x[0])
# class defined inside the function
class Two:
    value = 2.0

return Two.value * x[0] * x[1]
"""


@dataclass(frozen=True)
class Construct:
    """One construct, and its program."""

    section: str
    title: str
    text: str

    @functools.cached_property
    def refusal(self) -> str | None:
        """What becomes of its program now: None where its gradient is right, else the refusal."""
        return outcome(self.text)


@functools.cache
def constructs():
    """Return every construct; what becomes of one is only looked at where it is asked."""
    section, title, lines, found = "", "", [], []

    def close():
        if title:
            text = "\n".join(lines).strip()
            found.append(Construct(section, title, text))

    for line in PROGRAMS.splitlines():
        if re.match("##? ", line):
            close()
            lines, title = [], ""
            if line.startswith("## "):
                section = line[3:]
            else:
                title = line[2:]
        else:
            lines.append(line)
    close()
    return found


def function(text):
    """Return f of a program; a program without a definition of f is its body."""
    if not re.search(r"^(async )?def f\(", text, re.MULTILINE):
        text = "def f(x):\n" + "".join(f"    {line}".rstrip() + "\n" for line in text.splitlines())
    text = _HEAD + text + "\n"
    path = f"<program {next(_count)}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    namespace = {"__name__": "example"}
    exec(compile(text, path, "exec"), namespace)
    return namespace["f"]


def outcome(text):
    """Return why a program is refused, None if its gradient is right; a wrong one is an error."""
    f = function(text)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            gradient = s2sad.grad(f)(X.copy())
    except s2sad.Error as error:
        return f"{type(error).__name__}: {error.reason}"
    for direction in np.eye(3):
        expected, bound = differences(f, (X,), (direction,))
        got = float(np.dot(gradient, direction))
        assert abs(got - expected) <= 4.0 * bound + 1e-9, f"{text}\n{got} is not {expected}"
    return None


def language():
    """Return the table of the language, and its programs."""
    found = constructs()
    table, programs = [], []
    for section, group in itertools.groupby(found, key=lambda c: c.section):
        table += ["", f"### {section}", "", "| construct | |", "|---|---|"]
        programs += ["", f"### {section}: programs"]
        for c in group:
            table.append(f"| {c.title} | {'supported' if c.refusal is None else '**refused**'} |")
            programs += ["", f"{c.title[0].upper()}{c.title[1:]}:", "", "```py", c.text, "```"]
            if c.refusal is not None:
                programs += ["", f"> {c.refusal}"]
    return table, programs


# --- functions -----------------------------------------------------------------------------------

# Only with some of the Pythons and NumPys that are supported: the page is the same for all.
SOMETIMES = (
    *("math.fma", "math.sumprod", "np.cumulative_prod", "np.cumulative_sum"),
    *("np.matvec", "np.row_stack", "np.unstack", "np.vecmat"),
)

VALND = {"chebyshev": "cheb", "hermite": "herm", "hermite_e": "herme", "laguerre": "lag"}
VALND |= {"legendre": "leg", "polynomial": "poly"}
WRITTEN_SOMETIMES = tuple(f"np.polynomial.{m}.{word}valnd" for m, word in VALND.items())
SERIES = ("chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial")
_HOMES = (
    *(("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft)),
    ("np.lib.stride_tricks", np.lib.stride_tricks),
    *((f"np.polynomial.{m}", getattr(np.polynomial, m)) for m in SERIES),
    *(("math", math), ("operator", operator)),
)


def spelled(fn):
    """Return how a reader writes a function, or None where it is nothing of Python's or NumPy's."""
    name = getattr(fn, "__name__", "")
    if isinstance(getattr(fn, "__self__", None), np.ufunc):
        return f"np.{fn.__self__.__name__}.{name}"
    if getattr(builtins, name, None) is fn:
        return name
    module = getattr(fn, "__module__", None)
    homes = sorted(_HOMES, key=lambda home: home[1].__name__ != module)
    for prefix, home in homes:
        if getattr(home, name, None) is fn:
            return f"{prefix}.{name}"
    if getattr(np.ndarray, name, None) is fn:
        return f"ndarray.{name}"
    return None


def written_name(fn):
    """Return how a reader writes what is derived as Python: a function, or a method of ufuncs."""
    home = getattr(fn, "__objclass__", None)
    return f"{home.__name__}.{fn.__name__}" if home is not None else spelled(fn)


def is_ours(rule):
    """Say whether a rule comes with s2sad: tests register rules of their own.

    A rule that a test runs from a text may have no module at all.
    """
    fn = rule.partials or rule.pullback or rule.pushforward
    return fn is None or (getattr(fn, "func", fn).__module__ or "").startswith("s2sad.rules")


def settings(rule):
    """Return the keywords that a rule takes."""
    fn = rule.pullback or rule.pushforward
    if fn is None:
        return ""
    only = inspect.Parameter.KEYWORD_ONLY
    names = [p.name for p in inspect.signature(fn).parameters.values() if p.kind is only]
    names = [n for n in names if n not in registry.given_to(fn)]
    return ", ".join(f"`{n}`" for n in names)


def forward_too(rule):
    """Say whether a rule serves forward mode; some know that their arrays have no derivative."""
    if rule.partials or rule.pushforward:
        return "yes"
    arrays = registry.positional_names(rule.pullback, 2)
    return "neither way" if set(arrays) <= set(rule.unknown) else "no"


def functions():
    """Return the tables of functions, array methods and properties."""
    rules = [(spelled(r.fn), r) for r in registry.all_rules() if is_ours(r)]
    rules = sorted(((n, r) for n, r in rules if n), key=lambda pair: pair[0].lower())
    rules = [(n, r) for n, r in rules if n not in SOMETIMES]
    rows = ["", "| function | rule | settings | forward too |", "|---|---|---|---|"]
    zero = []
    for name, r in rules:
        if r.zero and r.pullback is None:
            zero.append(f"`{name}`")
            continue
        kind = "elementwise" if r.partials else "pullback"
        rows.append(f"| `{name}` | {kind} | {settings(r)} | {forward_too(r)} |")
    rows += [
        "",
        "Where Python or NumPy has them also: " + _listed((*SOMETIMES, *WRITTEN_SOMETIMES)) + ".",
    ]
    rows += [
        "",
        "Derived as if written out in Python: "
        + _listed({*map(written_name, registry.all_written())} - {None, *WRITTEN_SOMETIMES})
        + ".",
    ]
    rows += ["", "Derivative zero by decision: " + ", ".join(zero) + "."]
    rows += ["", "Array methods: " + _listed(registry._methods) + "."]
    rows += ["", "Array methods with derivative zero: " + _listed(registry._zero_methods) + "."]
    rows += ["", "Array properties: " + _listed(registry._properties) + "."]
    return rows


# What is no call with a rule: statements that write arrays, and facts about an array.
WRITTEN = {
    "np": "copyto fill_diagonal place put put_along_axis putmask".split(),
    "ndarray": "fill flat partition put sort".split(),
    "ufunc": ["at"],
}
FACTS = "ctypes data device dtype flags itemsize nbytes ndim shape size strides".split()


def refusals():
    """Return the table of what NumPy has that is refused by name, and why."""
    rows = ["", "| refused | because | instead |", "|---|---|---|"]
    homes = {np: "np.", np.polynomial: "np.polynomial.", np.ndarray: "ndarray."}
    homes |= {np.lib.scimath: "np.emath.", np.rec: "np.rec.", np.random: "np.random."}
    homes |= {getattr(np.polynomial, m): f"np.polynomial.{m}." for m in (*SERIES, "polyutils")}
    homes[np.lib.stride_tricks] = "np.lib.stride_tricks."
    homes |= {c: f"{c.__name__}." for c in GENERATORS}
    for module in ("decimal", "fractions", "random", "statistics", "numpy.ma", "numpy.polynomial"):
        importlib.import_module(module)
    later = ("Random", "decimal", "fractions", "statistics")  # in whatever order they were imported
    later += ("numpy.ma", *(h.__name__ for h in homes if "polynomial" in h.__name__))
    found = [(getattr(r.home, "__name__", ""), r) for r in registry.all_refusals()]
    for _, r in sorted(found, key=lambda pair: pair[0] if pair[0] in later else ""):
        if is_of_scipy(r.home) or getattr(r.home, "__name__", "") == "cupy":
            continue
        whole = {
            np.ma: "`np.ma`",
            np.char: "`np.char`",
            getattr(np, "strings", None): "`np.strings`",
        }
        names = whole.get(r.home, "")
        if not names:
            home = f"np.{r.home.__name__}." if isinstance(r.home, np.ufunc) else homes.get(r.home)
            home = f"{r.home.__name__}." if home is None else home
            names = ", ".join(f"`{home}{n}`" for n in sorted(r.names))
        rows.append(f"| {names} | {r.because} | {r.instead} |")
    written = [f"`{h}.{n}`" for h, names in WRITTEN.items() for n in names]
    rows += ["", "Followed as statements that write: " + ", ".join(written) + "."]
    return [*rows, "", "Facts about an array, without derivative: " + _listed(FACTS) + "."]


def modules_of_numpy():
    """Return the public modules of NumPy that hold functions, and those of Python's own numbers."""
    names = "linalg fft polynomial lib.stride_tricks lib.scimath char strings rec random ma"
    names = [*names.split(), *(f"polynomial.{m}" for m in (*SERIES, "polyutils"))]
    homes = [importlib.import_module(f"numpy.{n}") for n in names if n != "strings"]
    homes += [np.strings] if hasattr(np, "strings") else []
    return [np, *homes, math, cmath, statistics]


def is_known(home, name, fn, refused):
    """Say whether a public name has a rule, a form in Python, a reason, or is no function."""
    if name.startswith("_") or name in ("test", *WRITTEN["np"], *_MAKE_NUMBERS):
        return True
    if not callable(fn):
        return True
    if fn in _CLASSES or (isinstance(fn, type) and issubclass(fn, (*_NO_NUMBERS, *GENERATORS))):
        return True
    elsewhere = (getattr(fn, "__module__", None) or home.__name__).split(".")[0]
    if elsewhere != home.__name__.split(".")[0] and inspect.isroutine(fn) | isinstance(fn, type):
        return True  # what a module imports for itself
    if (home, name) in refused or registry.is_refused(fn) or registry.rule_for(fn) is not None:
        return True
    if registry.objects_of(fn) is not None if isinstance(fn, type) else generator_of(fn):
        return True
    return registry.written_form(fn) is not None


_NO_NUMBERS = (BaseException, abc.ABC, np.integer, np.bool_, np.dtype, np.finfo, np.iinfo)
_NO_NUMBERS = (*_NO_NUMBERS, np.errstate, np.random.BitGenerator, np.random.SeedSequence)
_CLASSES = (
    statistics.LinearRegression,
    np.ndarray,
    np.ufunc,
    np.generic,
    np.number,
    np.inexact,
    np.floating,
)
_CLASSES = (*_CLASSES, np.complexfloating)
_MAKE_NUMBERS = ("default_rng", "seed", "get_bit_generator", "set_bit_generator")


def unaccounted():
    """Return the public functions, methods and attributes of NumPy that no table has."""
    refused = {(r.home, n) for r in registry.all_refusals() for n in r.names}
    missed = []
    for home in modules_of_numpy():
        for name in dir(home):
            if not is_known(home, name, registry.held(home, name), refused):
                missed.append(f"{home.__name__}.{name}")
    for name in dir(np.ndarray):
        known = registry.method_function(name) or registry.property_function(name)
        known = known or registry.is_zero_method(name) or (np.ndarray, name) in refused
        if not known and name not in (*WRITTEN["ndarray"], *FACTS) and not name.startswith("_"):
            missed.append(f"ndarray.{name}")
    return missed


SCIPY = (
    *("fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse"),
    *("sparse.linalg", "spatial.distance", "special", "stats"),
)


def is_of_scipy(home):
    """Say whether a module or a class is one of SciPy's."""
    return (getattr(home, "__module__", None) or home.__name__).split(".")[0] == "scipy"


def of_scipy():
    """Return docs/scipy.md: a table for each module of SciPy with rules."""
    homes = [importlib.import_module(f"scipy.{part}") for part in SCIPY]
    lines = ["# What is supported of SciPy", "", MADE, ""]
    lines += [
        "A keyword that a rule does not list is refused; so is what is in none of the tables."
    ]
    known = {id(r.fn): r for r in registry.all_rules() if is_ours(r)}
    for home in homes:
        named = {n: known.get(id(getattr(home, n))) for n in dir(home) if not n.startswith("_")}
        rules = {n: r for n, r in named.items() if r is not None}
        owners = {id(value): n for n, value in vars(home).items()}
        for r in known.values():  # methods of what a module brings: stats.norm.pdf
            owner = owners.get(id(getattr(r.fn, "__self__", home)))
            if owner is not None:
                rules[f"{owner}.{r.name}"] = r
        refused = [r for r in registry.all_refusals() if r.home is home]
        objects = {
            n: registry.objects_of(cls) for n, cls in vars(home).items() if isinstance(cls, type)
        }
        objects = {n: found for n, found in sorted(objects.items()) if found is not None}
        if rules or refused or objects:
            lines += ["", f"## {home.__name__}", *_rows_of(rules)]
        written = [n for n, value in vars(home).items() if registry.written_form(value)]
        written = [n for n in written if registry.is_foreign(getattr(home, n))]
        if written:
            lines += ["", "Derived as if written out in Python: " + _listed(written) + "."]
        if objects:
            lines += ["", "| objects of | what they do that has a rule |", "|---|---|"]
            served = {n: _served(found) for n, found in objects.items()}
            for does in dict.fromkeys(served.values()):
                lines.append(f"| {_listed(n for n in served if served[n] == does)} | {does} |")
        if refused:
            lines += ["", "| refused | because | instead |", "|---|---|---|"]
            lines += [f"| {_listed(r.names)} | {r.because} | {r.instead} |" for r in refused]
    return "\n".join(lines) + "\n"


_OPERATORS = {"Add": "+", "Div": "/", "MatMult": "@", "Mult": "*", "Sub": "-", "__call__": "()"}


def _served(objects):
    """Return what of a library's objects rules serve."""
    names = {n[1:] if n[1:] in _OPERATORS else n for n in objects.functions}
    return _listed(_OPERATORS.get(n, n if n.startswith(".") else f".{n}()") for n in names)


def _rows_of(rules):
    """Return the table of some rules by name."""
    zero = [n for n, r in rules.items() if r.zero and r.pullback is None]
    rows = ["", "| function | rule | settings | forward too | no derivative for |"]
    rows += ["|---|---|---|---|---|"]
    for name, r in rules.items():
        if name not in zero:
            kind = "elementwise" if r.partials else "pullback"
            rows.append(
                f"| `{name}` | {kind} | {settings(r)} | {forward_too(r)} | {_listed(r.unknown)} |"
            )
    return [*rows, "", "Derivative zero by decision: " + _listed(zero) + "."] if zero else rows


def _listed(names):
    return ", ".join(f"`{n}`" for n in sorted(names))


# --- pages ---------------------------------------------------------------------------------------


def support():
    """Return docs/support.md."""
    registry.load_rules()
    table, programs = language()
    lines = [
        *("# What is supported", "", MADE, ""),
        "Each construct has a program below, which the tests derive: *supported* means that its",
        "gradient agrees with differences, *refused* that it raises the error quoted there. The",
        "tables are about active paths, from a differentiated parameter to the result.",
        *("", "## The language", *table),
        *("", "## Functions with a rule", "", "A keyword that a rule does not list is refused."),
        "On CuPy's arrays its functions of the same names have the same rules: docs/cupy.md.",
        *functions(),
        *("", "## What else NumPy has", *refusals()),
        *("", "## The programs", "", "A program without `def f(x)` is the body of f.", *programs),
    ]
    return "\n".join(lines) + "\n"


def targets():
    """Return docs/targets.md."""
    lines = [
        *("# The target programs", "", MADE, ""),
        "Nine programs with the derivative a careful person wrote first, and what s2sad derives.",
        "The derived text has no more statements, operations or saved values; a test keeps that.",
    ]
    for target in TARGETS:
        derived = (HERE / "golden" / "derived" / f"{target.module}.py").read_text(encoding="utf-8")
        by_hand = target.path.read_text(encoding="utf-8").strip()
        lines += ["", f"## {target.module}", "", "The program and its derivative by hand:"]
        lines += ["", "```py", by_hand, "```", "", "Derived:", "", "```py", derived.strip(), "```"]
    return "\n".join(lines) + "\n"


def programs():
    """Return docs/programs.md."""
    lines = ["# Programs that write arrays", "", MADE, ""]
    lines += ["What s2sad derives from the losses of four examples that work in place."]
    for name in ("heat", "shallow_water", "lu", "lstm"):
        example = load_file(HERE.parent / "examples" / f"{name}.py", f"programs_{name}")
        text = s2sad.source(example.loss, mode="value_and_grad", args=_example_args(name, example))
        path = f"examples/{name}.py"
        lines += ["", f"## {name}", "", f"The program is [{path}](../{path}). Derived:", ""]
        lines += ["```py", text.rstrip("\n"), "```"]
    return "\n".join(lines) + "\n"


def _example_args(name, example):
    """Return arguments of an example's loss."""
    if name == "lstm":
        return example.initial(), example.series()
    if name == "heat":
        final = example.observe(example.truth())
        return final.ravel(), final, example.ALPHA, example.STEPS, example.WEIGHT
    if name == "lu":
        edges, logs, currents, measured = example.problem()
        return logs, edges, currents, measured
    depth, eta, rows, columns, seen = example.problem(steps=3)
    return depth.ravel(), eta, seen, rows, columns, example.DT, 3


PAGES = {
    "support.md": support,
    "targets.md": targets,
    "programs.md": programs,
    "scipy.md": of_scipy,
}
