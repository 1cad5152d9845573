"""Python as people write it: each program is held beside central differences, in both modes."""

import copy
import functools
import heapq
import itertools
import math
import types
from collections import OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from heapq import heappop, heappush
from types import SimpleNamespace

import numpy as np
import pytest

import s2sad
from s2sad.registry import written_generator
from s2sad.rules import stdlib_collections

X = np.array([0.7, 0.4, 1.2])
DOT = np.array([0.3, -0.5, 0.8])


def slopes(f, x, step=1e-6):
    return np.array([(f(x + e) - f(x - e)) / (2.0 * step) for e in step * np.eye(len(x))])


def hold(f, second=True):
    """Hold the derivatives of a program beside differences; its argument stays as it is."""
    x = X.copy()
    plain, expected = f(x.copy()), slopes(f, x)
    value, gradient = s2sad.value_and_grad(f)(x)
    assert value == pytest.approx(plain, abs=1e-12)
    assert gradient == pytest.approx(expected, abs=1e-6)
    value, tangent = s2sad.jvp(f, (x,), (DOT,))
    assert value == pytest.approx(plain, abs=1e-12)
    assert tangent == pytest.approx(expected @ DOT, abs=1e-6)
    if second:
        found = s2sad.hvp(f, (x,), (DOT,))
        ends = [s2sad.grad(f)(x + s * 1e-5 * DOT) for s in (1.0, -1.0)]
        assert found == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-5)
    assert np.array_equal(x, X)


# --- heaps ---------------------------------------------------------------------------------------


def heap_of_places(x):
    heap = []
    for i, v in enumerate(x):
        heapq.heappush(heap, (float(v), i))
    total = 0.0
    while heap:
        _, i = heapq.heappop(heap)
        total = total * 0.5 + x[i] ** 2
    return total


def heap_of_values_and_places(x):
    heap = []
    for i, v in enumerate(x):
        heappush(heap, (v, i))
    total = 0.0
    while heap:
        w, i = heappop(heap)
        total = total * 0.5 + w * x[i]
    return total


def huffman(x):
    heap = list(x * x)
    heapq.heapify(heap)
    total = 0.0
    while len(heap) > 1:
        a, b = heappop(heap), heappop(heap)
        heappush(heap, a + b * a)
        total += a * b
    return total + heap[0]


def shortest_path(x):
    graph = {0: [(1, x[0]), (2, x[1] * 3)], 1: [(2, x[2])], 2: [(3, x[0] * x[1])], 3: []}
    known, done, heap = {0: 0.0}, set(), [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if u in done:
            continue
        done.add(u)
        for v, w in graph[u]:
            if v not in known or d + w < known[v]:
                known[v] = d + w
                heapq.heappush(heap, (d + w, v))
    return known[3] ** 2


def events(x):
    queue, total = [(x[0], 0, "a"), (x[1], 1, "b")], 0.0
    heapq.heapify(queue)
    for k in range(2, 8):
        t, _, kind = heapq.heappop(queue)
        if kind == "a":
            total += t * x[2]
            heapq.heappush(queue, (t + x[0], k, "a"))
        else:
            total += t**2
            heapq.heappush(queue, (t + x[1] * 2, k, "b"))
    return total


def replaced_in_a_heap(x):
    heap = [x[0], x[1] * 2, x[2] * x[0]]
    heapq.heapify(heap)
    a = heapq.heapreplace(heap, x[0] * 5)
    b = heapq.heappushpop(heap, x[1] * x[1])
    c = heapq.heappushpop(heap, x[1] * 9)
    return a * b * c + heap[0] * heap[1]


def integers_in_heap(x):
    heap = [3, 2, 1]
    heapq.heappushpop(heap, x[0] * 4)
    return 1.0 * heap[0] + heap[2] * x[1]


def the_least_and_the_most(x):
    pairs = [(k, v * v) for k, v in enumerate(x)]
    best = heapq.nlargest(2, pairs, key=lambda pair: pair[1])
    return sum(heapq.nsmallest(2, x)) ** 2 + sum(v * (k + 1) for k, v in best)


HEAPS = [
    *(heap_of_places, heap_of_values_and_places, huffman, shortest_path, events),
    *(replaced_in_a_heap, integers_in_heap, the_least_and_the_most),
]


@pytest.mark.parametrize("f", HEAPS, ids=lambda f: f.__name__)
def test_heaps(f):
    hold(f)


# --- generator functions -------------------------------------------------------------------------


def squares(x):
    """Squares, one by one."""
    for v in x:
        yield v * v


def cubes(x):
    for v in x:
        yield v * v * v


def steps(f, x, h):
    t = 0.0
    while True:
        x = x + h * f(x, t)
        t += h
        yield t, x


def newton(f, slope, z, tol=1e-10):
    while True:
        step = f(z) / slope(z)
        z = z - step
        yield z
        if abs(step) < tol:
            return


def pairs(n):
    for i in range(n):
        for j in range(i):
            yield i, j


def batches(data, size):
    for start in range(0, len(data), size):
        yield data[start : start + size]


def inner_generator(x):
    def gen(n):
        for k in range(n):
            yield x[k] * k

    total = 0.0
    for v in gen(3):
        total += v * v
    return total


def generator_of_a_lambda(x):
    return sum(v * v for v in (lambda: (yield from x))())


def generator_of_the_module(x):
    total = sum(squares(x))
    for i, v in enumerate(squares(x), 1):
        if i == 2:
            continue
        total *= v + i
    return total


def steps_until(x):
    for t, y in steps(lambda y, t: -y * x[0], x, 0.1):
        if t > 0.45:
            break
    return np.sum(y * y)


def converged(x):
    for root in newton(lambda z: z * z - x[0], lambda z: 2 * z, 1.0):
        pass
    return root * x[1]


def pairs_left_early(x):
    total = 0.0
    for i, j in pairs(len(x)):
        r = x[i] - x[j]
        if r < 0:
            continue
        total += r * r * x[0]
        if i == 2:
            break
    return total


def batch_by_batch(x):
    w = x[0]
    for b in batches(np.arange(6.0), 2):
        w = w - 0.1 * np.mean(b * w - x[1]) * w
    return w


def generator_reads_what_the_loop_writes(x):
    a = x * 1.0

    def gen():
        for k in range(3):
            yield a[k] * a[0]

    total = 0.0
    for v in gen():
        a[0] = a[0] * 0.5 + v
        total += v * v
    return total


def generator_writes_what_the_loop_reads(x):
    c = 0.0

    def gen():
        nonlocal c
        for k in range(3):
            c = c + x[k]
            yield c

    total = 0.0
    for v in gen():
        total += v * c
    return total


def endless_but_cut(x):
    def sequence():
        a, b = x[0], x[1]
        while True:
            yield a
            a, b = b, a + b * x[2]

    total = sum(itertools.islice(sequence(), 5))
    for v in itertools.islice(sequence(), 4):
        if v > 100.0:
            continue
        total += v * v
    return total


def several_yields(x):
    def gen():
        yield x[0]
        for k in range(3):
            yield x[k] * x[0]
            if k == 1:
                return

    total = 0.0
    for v in gen():
        if v < 0.3:
            continue
        total += v * v
        if total > 1e3:
            break
    squared = [v * v for v in gen()]
    return total * squared[-1]


def generator_in_a_generator(x):
    def inner(n):
        for k in range(n):
            yield x[k]

    def outer():
        for v in inner(2):
            yield v * v
        yield from inner(3)

    total = 0.0
    for a in inner(3):
        for b in inner(2):
            total += a * b * b
    return total + sum(v * 3 for v in outer())


def returned_from_the_loop(x):
    for v in squares(x):
        if 0.15 < v < 0.45:
            return v * x[0]
    return x[0] * 3


def generator_made_a_list(x):
    def gen(n, scale=2.0):
        for k in range(n):
            yield scale * x[k]

    a, b = gen(2)
    whole = np.array(list(gen(3))) * np.array([*gen(3, scale=x[0])])
    kept = gen(3)
    most = max(kept)
    return a * b + np.sum(whole) * most


def generator_in_comprehensions(x):
    def gen(n):
        for k in range(n):
            yield x[k]

    total = sum([sum(gen(n)) * n for n in range(1, 4)])
    first = next((v for v in gen(3) if v > 0.5), 0.0)
    return total * first if any(v > 0.1 for v in gen(3)) else total


def generator_that_tells(x):
    told = []

    def gen():
        for k in range(3):
            told.append(k)
            yield x[k]

    total = 0.0
    for v in gen():
        total += v * len(told)
    return total


class Mesh:
    def __init__(self, x, n):
        self.x, self.n = x, n

    def edges(self, step=1):
        for i in range(self.n - step):
            yield self.x[i], self.x[i + step]

    def energy(self):
        total = sum((a - b) ** 2 for a, b in self.edges())
        for k, (a, b) in enumerate(self.edges(step=2)):
            total += (k + 1) * a * b
        return total


class Closed(Mesh):
    def edges(self, step=1):
        for i in range(self.n):
            yield self.x[i], self.x[(i + step) % self.n]


def products(mesh):
    return sum(a * b for a, b in mesh.edges())


def generator_method(x):
    mesh = Mesh(x * x, 3)
    total = mesh.energy() + products(Closed(x, 3)) * products(mesh)
    for a, b in mesh.edges():
        total += a * b * b
    return total


class Shadowed:
    def __init__(self, x):
        self.x, self.edges = x, lambda: [(x[0], x[1])]

    def edges(self):
        yield self.x[0], self.x[0]


def shadowed_method(x):
    shadowed = Shadowed(x)
    return sum(a * b for a, b in shadowed.edges())


class Listed:
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def squares(self):
        return sum(v * v for v in self)


class Yielding:
    def __init__(self, x):
        self.x, self.inner = x, Listed([x[0], x[1] * x[1]])

    def __iter__(self):
        for v in self.x:
            yield v * self.x[0]


def an_object_that_is_gone_through(x):
    items = Listed([x[0], x[1] * x[1]])
    a, b = items
    total = a * b * max(items) * len(items) + items.squares()
    for i, v in enumerate(items):
        total = total * x[0] + v * i
    for v, w in zip(items, x):
        items.items = [x[1]]
        total = total + v * w * sum(items)
    return total


def an_object_in_an_object_is_gone_through(x):
    whole = Yielding(x)
    total = sum(v * w for v in whole for w in whole.inner)
    for v in whole.inner:
        total = total * v
    for i in Listed(range(2)):
        total = total + x[i] ** 3
    return total


GENERATORS = [
    *(an_object_that_is_gone_through, an_object_in_an_object_is_gone_through),
    *(generator_method, shadowed_method),
    *(inner_generator, generator_of_a_lambda, generator_of_the_module, steps_until, converged),
    *(pairs_left_early, batch_by_batch, generator_reads_what_the_loop_writes),
    *(generator_writes_what_the_loop_reads, endless_but_cut, several_yields),
    *(generator_in_a_generator, returned_from_the_loop, generator_made_a_list),
    *(generator_in_comprehensions, generator_that_tells),
]


@pytest.mark.parametrize("f", GENERATORS, ids=lambda f: f.__name__)
def test_generator_functions(f):
    # lists of lists go by identity, and so do lists that are replaced
    hold(f, second=f not in (generator_made_a_list, an_object_that_is_gone_through))


def asked_for_the_next(x):
    def gen():
        yield x[0]
        yield x[1]

    items = gen()
    return next(items) * next(items)


def gone_through_twice(x):
    items = squares(x)
    return sum(items) + sum(items)


@pytest.mark.parametrize("f", [asked_for_the_next, gone_through_twice], ids=lambda f: f.__name__)
def test_generators_that_are_kept_are_refused(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(X)
    with pytest.raises(s2sad.Error):
        s2sad.jvp(f, (X,), (DOT,))


def test_another_generator_function_of_the_module_is_noticed(monkeypatch):
    def loss(x):
        return sum(squares(x))

    gradient = s2sad.grad(loss)
    assert gradient(X) == pytest.approx(2.0 * X)
    monkeypatch.setitem(globals(), "squares", cubes)
    assert gradient(X) == pytest.approx(3.0 * X**2)


# --- namespaces ----------------------------------------------------------------------------------


def attribute_set_later(x):
    ns = types.SimpleNamespace(a=x[0], b=x[1:])
    ns.c = ns.a * 2
    return ns.c * np.sum(ns.b)


def empty_at_first(x):
    state = SimpleNamespace()
    state.pos, state.vel = x * 1.0, np.zeros(3)
    for _ in range(3):
        state.vel = state.vel - 0.1 * state.pos
        state.pos = state.pos + 0.1 * state.vel
    return np.sum(state.pos**2)


def array_in_a_namespace(x):
    state = SimpleNamespace(u=x.copy(), n=2)
    for _ in range(state.n):
        state.u[1:] *= state.u[0]
    return np.sum(state.u)


def taken(x):
    return SimpleNamespace(a=x[0], table=dict(b=x[1]), total=0.0, count=0)


def add_square(state, v):
    state.total = state.total + v * v
    state.count += 1


def made_and_filled_elsewhere(x):
    p = taken(x)
    for v in x:
        add_square(p, v)
    p.a += p.table["b"]
    return p.a * p.a * p.total / p.count


def namespaces_in_a_namespace(x):
    p = SimpleNamespace(m=SimpleNamespace(w=x[0], b=x[1]), rate=0.1)
    for _ in range(3):
        p.m.w = p.m.w - p.rate * (p.m.w * p.m.b)
    return p.m.w * x[2]


SETTINGS = dict(alpha=1.0, beta=2.0)


def of_a_dict(x):
    p = SimpleNamespace(**SETTINGS)
    return p.alpha * x[0] + p.beta * x[1] ** 2


def list_of_namespaces(x):
    bodies = [SimpleNamespace(m=1.0 + i, q=x[i]) for i in range(3)]
    for body in bodies:
        body.q = body.q * body.m
    return sum(one.q * other.q for one in bodies for other in bodies)


def one_namespace_under_two_names(x):
    p = SimpleNamespace(a=x[0])
    q = p
    q.a = q.a * 2
    if not hasattr(p, "b"):
        p.b = x[1]
    return p.a**2 * q.b


NAMESPACES = [
    *(attribute_set_later, empty_at_first, array_in_a_namespace, made_and_filled_elsewhere),
    *(namespaces_in_a_namespace, of_a_dict, list_of_namespaces, one_namespace_under_two_names),
]


@pytest.mark.parametrize("f", NAMESPACES, ids=lambda f: f.__name__)
def test_namespaces(f):
    hold(f)


def test_a_namespace_as_argument():
    def loss(p):
        p.a = p.a * 2.0
        return p.a * np.sum(p.w**2)

    p = SimpleNamespace(a=1.5, w=np.ones(2), n=3)
    found = s2sad.grad(loss)(p)
    assert (found.a, found.w.tolist(), found.n) == (4.0, [6.0, 6.0], None)
    assert (p.a, p.w.tolist(), p.n) == (1.5, [1.0, 1.0], 3)
    tangent = SimpleNamespace(a=1.0, w=np.zeros(2), n=None)
    assert s2sad.jvp(loss, (p,), (tangent,)) == (6.0, 4.0)


# --- classes that a function defines -------------------------------------------------------------


def class_that_adds_up(x):
    class Acc:
        def __init__(self):
            self.s = 0.0

        def add(self, v):
            self.s += v * v

    a = Acc()
    for v in x:
        a.add(v)
    return a.s


def dataclass_inside(x):
    @dataclass
    class State:
        pos: float
        vel: float
        log: list = field(default_factory=list)
        n: int = 3

        def energy(self):
            return self.pos**2 + self.vel

    s = State(x[0], x[1])
    for _ in range(s.n):
        s = State(s.pos + 0.1 * s.vel, s.vel - 0.1 * s.pos * x[2], s.log)
        s.log.append(s.pos)
    return s.energy() * s.log[0]


def classes_with_a_base(x):
    class Shape:
        k = 2.0

        def twice(self):
            return self.area() * self.k

    class Square(Shape):
        def __init__(self, a):
            self.a = a

        def area(self):
            return self.a**2

    class Disc(Shape):
        def __init__(self, r):
            self.r = r

        def area(self):
            return np.pi * self.r**2

    return sum(s.twice() for s in [Square(x[0]), Disc(x[1])])


def class_that_makes_its_own(x):
    class Vector:
        def __init__(self, a, b):
            self.a, self.b = a, b

        def __add__(self, other):
            return Vector(self.a + other.a, self.b + other.b)

        def __mul__(self, k):
            return Vector(self.a * k, self.b * k)

        def dot(self, other):
            return self.a * other.a + self.b * other.b

    u, w = Vector(x[0], x[1]), Vector(x[2], x[0])
    return (u + w * 2.0).dot(w)


def class_without_anything(x):
    class Bag:
        pass

    def twice(o):
        return o.a * 2 if isinstance(o, Bag) else o

    bag = Bag()
    bag.a = x[0] * x[1]
    return twice(bag) * twice(x[2])


def optimizer(x):
    class Adam:
        def __init__(self, rate=0.1):
            self.rate, self.m, self.t = rate, 0.0, 0

        def step(self, p, g):
            self.t += 1
            self.m = 0.9 * self.m + 0.1 * g
            return p - self.rate * self.m / (1 - 0.9**self.t)

    o, p = Adam(), x * 1.0
    for _ in range(3):
        p = o.step(p, 2 * p + p * p)
    return np.sum(p)


CLASSES = [
    *(class_that_adds_up, dataclass_inside, classes_with_a_base, class_that_makes_its_own),
    *(class_without_anything, optimizer),
]


@pytest.mark.parametrize("f", CLASSES, ids=lambda f: f.__name__)
def test_classes_inside(f):
    hold(f, second=f is not dataclass_inside)


def counts_in_the_class(x):
    class Counter:
        n = 0

        def hit(self):
            Counter.n += 1

    c = Counter()
    c.hit()
    c.hit()
    return x[0] * Counter.n


def counts_by_the_class_method(x):
    class Counter:
        n = 0

        @classmethod
        def hit(cls):
            cls.n += 1

    Counter.hit()
    return x[0] * Counter.n


def keeps_in_the_class(x):
    class Kept:
        log = []

    Kept.log.append(x[0])
    return Kept.log[0] * len(Kept.log)


@pytest.mark.parametrize(
    "f",
    [counts_in_the_class, counts_by_the_class_method, keeps_in_the_class],
    ids=lambda f: f.__name__,
)
def test_what_lasts_in_a_class_is_refused(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(X)
    with pytest.raises(s2sad.Error):
        s2sad.jvp(f, (X,), (DOT,))


# --- functools.singledispatch --------------------------------------------------------------------


class Square:
    def __init__(self, a):
        self.a = a


class Disc:
    def __init__(self, r):
        self.r = r


class Coin(Disc):
    pass


@functools.singledispatch
def area(shape):
    raise TypeError


@area.register
def _(shape: Square):
    return shape.a**2


@area.register
def _(shape: Disc):
    return np.pi * shape.r**2


@functools.singledispatch
def power(v, p=2):
    return abs(v) ** p


@power.register(list)
def _(v, p=2):
    return sum(power(w, p) for w in v)


@power.register(np.ndarray)
def _(v, p=2):
    return np.sum(np.abs(v) ** p)


@power.register(dict)
def _(v, p=2):
    return sum(power(w, p) for w in v.values())


@functools.singledispatch
def scale(shape, k):
    pass


@scale.register
def _(shape: Square, k):
    shape.a = shape.a * k


def by_class_of_an_object(x):
    return area(Square(x[0])) + area(Disc(x[1])) * area(Coin(x[2]))


def by_class_in_a_loop(x):
    total = sum(area(s) for s in [Square(x[0]), Disc(x[1]), Square(x[2])])
    for s in [Square(x[0]), Disc(x[1]), Coin(x[2])]:
        a = area(s)
        total += a * a
    return total


def by_class_of_a_structure(x):
    return power(x) * power([x[0], x[1]], p=3) + power(x[2]) + power({"a": x[0], "b": x[1:]})


def by_class_writing(x):
    s = Square(x[0])
    scale(s, x[1])
    return s.a**2


GENERIC = [by_class_of_an_object, by_class_in_a_loop, by_class_of_a_structure, by_class_writing]


@pytest.mark.parametrize("f", GENERIC, ids=lambda f: f.__name__)
def test_singledispatch(f):
    hold(f)


def test_what_is_registered_later_is_noticed():
    @functools.singledispatch
    def size(s):
        return s.a

    def loss(x):
        return size(Square(x[0])) * 2.0

    gradient = s2sad.grad(loss)
    assert gradient(X).tolist() == [2.0, 0.0, 0.0]
    size.register(Square, lambda s: s.a * 3.0)
    assert gradient(X).tolist() == [6.0, 0.0, 0.0]


def test_a_number_of_python_or_numpy():
    @functools.singledispatch
    def kind(v):
        return v * 2.0

    kind.register(np.float64, lambda v: v * 3.0)
    assert s2sad.grad(lambda v: kind(v))(2.0) == 2.0
    assert s2sad.grad(lambda x: kind(x[0]))(X).tolist() == [3.0, 0.0, 0.0]


# --- itertools -----------------------------------------------------------------------------------


def parts_by_islice(x):
    total = sum(v * w for v, w in zip(itertools.islice(x, 2), itertools.cycle([1.0, 2.0])))
    for a, b in zip(x, itertools.islice(x, 1, None)):
        total += (b - a) ** 2
    return total + sum([v * k for k, v in enumerate(itertools.islice(x, 0, 3, 2))])


def turns_beside(x):
    total = sum(a * b * c for a, (b, c) in zip(x, itertools.cycle([(1.0, 2.0), (3.0, x[0])])))
    for v, sign in zip(x, itertools.cycle((1.0, -1.0))):
        total += sign * v * v
    return total


def in_turns(x):
    total, rounds = 0.0, 0
    for v in itertools.cycle(x):
        total = total * 0.5 + v * v
        rounds += 1
        if rounds > 4:
            break
    return total


def as_long_as(x):
    def powers():
        v = x[0]
        while True:
            yield v
            v = v * x[1]

    few = sum(itertools.takewhile(lambda v: v > 0.05, powers()))
    rest = sum(v * v for v in itertools.dropwhile(lambda v: v > 0.5, x))
    return few * rest + sum(itertools.filterfalse(lambda v: v > 0.5, x))


def pairs_by_starmap(x):
    total = sum(itertools.starmap(lambda a, b: a * b, [(x[0], x[1]), (x[1], x[2])]))
    for i in itertools.count(1):
        if i >= 3:
            break
        total += i * x[i]
    return total * sum(itertools.compress(x, [True, False, True]))


def group_by_group(x):
    total = 0.0
    for _, g in itertools.groupby([(0, x[0]), (0, x[1]), (1, x[2])], key=lambda t: t[0]):
        total += math.prod(v for _, v in g)
    return total


def groups_in_a_dict(x):
    pairs = sorted([(1, x[0]), (0, x[1]), (1, x[2])], key=lambda t: t[0])
    table = {k: sum(v for _, v in g) for k, g in itertools.groupby(pairs, lambda t: t[0])}
    return table[0] * table[1]


ITERTOOLS = [
    *(parts_by_islice, turns_beside, in_turns, as_long_as, pairs_by_starmap, group_by_group),
    groups_in_a_dict,
]


@pytest.mark.parametrize("f", ITERTOOLS, ids=lambda f: f.__name__)
def test_itertools(f):
    hold(f)


def written_while_it_is_cut(x):
    a, total = list(x), 0.0
    for v in itertools.islice(a, 2):
        a[1] = v * 2
        total += v * a[1]
    return total


def groups_read_twice(x):
    total = 0.0
    for _, g in itertools.groupby([(0, x[0]), (0, x[1]), (1, x[2])], key=lambda t: t[0]):
        total += sum(v for _, v in g) + sum(v for _, v in g)
    return total


@pytest.mark.parametrize(
    "f", [written_while_it_is_cut, groups_read_twice], ids=lambda f: f.__name__
)
def test_what_is_read_in_another_order_is_refused(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(X)
    with pytest.raises(s2sad.Error):
        s2sad.jvp(f, (X,), (DOT,))


@pytest.mark.parametrize("end", range(5))
def test_generators_in_python_give_what_itertools_gives(end):
    xs = [3, 1, 1, 2, 2, 0][: end + 1]

    def asks(v):
        return v % 2 == 1

    for fn, args in (
        (itertools.takewhile, (asks, xs)),
        (itertools.dropwhile, (asks, xs)),
        (itertools.filterfalse, (asks, xs)),
        (itertools.compress, (xs, [1, 0, 1])),
        (itertools.starmap, (pow, [(x, 2) for x in xs])),
        (itertools.count, (end, 2)),
        (itertools.cycle, (xs,)),
        (itertools.cycle, ([],)),
    ):
        made = written_generator(fn)(*args)
        assert list(itertools.islice(made, 9)) == list(itertools.islice(fn(*args), 9))
    for key in (None, asks):
        made = written_generator(itertools.groupby)(xs, key)
        assert list(made) == [(k, list(g)) for k, g in itertools.groupby(xs, key)]


# --- structures that are filled where they stand already -----------------------------------------


def rows_filled_later(x):
    rows = []
    for i in range(2):
        row = []
        rows.append(row)
        for k in range(3):
            row.append(x[k] * i)
    total = 0.0
    for filled in rows:
        for v in filled:
            total = total + v * v
    return total


class Kept:
    pass


def attribute_filled_later(x):
    kept, row = Kept(), []
    kept.row = row
    for v in x:
        row.append(v)
    return sum(v * v for v in kept.row)


@pytest.mark.parametrize("f", [rows_filled_later, attribute_filled_later], ids=lambda f: f.__name__)
def test_a_list_is_filled_where_it_stands_already(f):
    hold(f)


def shown_and_filled_later(x):
    a, b = [], []
    both = (a, b)
    for v in x:
        a.append(v)
        b.append(v * 2)
    total = 0.0
    for row in both:
        for v in row:
            total = total + v * v
    return total


def test_a_list_that_others_know_as_empty_is_refused():
    with pytest.raises(s2sad.Error):
        s2sad.grad(shown_and_filled_later)(X)
    with pytest.raises(s2sad.Error):
        s2sad.jvp(shown_and_filled_later, (X,), (DOT,))


# --- containers that are made by a call ----------------------------------------------------------


def made_by_calls(x):
    whole, parts, pairs = dict(), list(), list()  # noqa: C408
    whole["a"] = x[0]
    parts.append(x[1] * x[0])
    for i, k in enumerate("bc"):
        pairs.append((k, x[i] * x[0]))
    more, last = dict(pairs), dict([("d", x[1]), ("e", parts[0])])  # noqa: C406
    every = dict(sorted({**more, **last, **whole}.items()))
    total = 0.0
    for v in every.values():
        total = total * x[0] + v
    return total


def ordered(x):
    d = OrderedDict((k, v * v) for k, v in zip("abc", [x[0], x[1], x[0] * x[1]]))
    d.move_to_end("a")
    d.move_to_end("c", last=False)
    total = 0.0
    for v in d.values():
        total = total * x[1] + v
    _, first = d.popitem(last=False)
    return total * first + d.popitem()[1]


@pytest.mark.parametrize("f", [made_by_calls, ordered], ids=lambda f: f.__name__)
def test_containers_made_by_calls(f):
    hold(f, second=False)


class Table:
    """Makes what it lacks, and is gone through by what methods give."""

    def __init__(self, make):
        self.make, self.held = make, {}

    def __getitem__(self, key):
        if key not in self.held:
            self.held[key] = self.make()
        return self.held[key]

    def __setitem__(self, key, value):
        self.held[key] = value

    def __iter__(self):
        return iter(self.held)

    def items(self):
        return self.held.items()

    def numbered(self):
        return enumerate(self.held.values())


class Cells:
    def __init__(self, x):
        self.table = Table(list)
        for i, v in enumerate(x):
            self.table[i % 2].append(v)

    def pairs(self):
        for k, row in self.table.items():
            for v in row:
                yield k, v


def tables(x):
    lists, numbers = Table(list), Table(float)
    for k, v in zip("aba", x):
        lists[k].append(v * x[0])
        numbers[k] += v
    total = sum(sum(row) * numbers[k] for k, row in lists.items())
    for k in lists:
        total = total * lists[k][-1]
    for i, v in numbers.numbered():
        total = total + v * i
    for k, v in Cells(x).pairs():
        total = total + v * v * (k + 1)
    return total


def handed_in_keywords(x):
    def scaled(a, b=1.0, f=None):
        return a * b if f is None else a * b * f(a)

    def passed(a, **words):
        return scaled(a, **words)

    return passed(x[0], b=x[1], f=lambda t: t * x[2])


class Step:
    def __init__(self, rate, schedule=None):
        self.rate, self.schedule = rate, schedule or (lambda k: 1.0)


class Momentum(Step):
    def __init__(self, rate, beta, **words):
        super().__init__(rate, **words)
        self.beta = beta

    def __call__(self, k):
        return self.rate * self.beta * self.schedule(k)


def handed_to_the_base_class(x):
    first = Momentum(x[0], x[1])
    return first(2.0) * Momentum(x[1], x[2], schedule=lambda k: x[0] * k)(3.0)


@pytest.mark.parametrize(
    "f", [tables, handed_in_keywords, handed_to_the_base_class], ids=lambda f: f.__name__
)
def test_classes_and_keywords_of_ones_own(f):
    hold(f, second=f is not tables)  # lists of lists go by identity


# --- containers of collections that objects hold -------------------------------------------------


class Graph:
    def __init__(self):
        self.near, self.weights = defaultdict(list), defaultdict(float)

    @classmethod
    def of(cls, x):
        made = cls()
        for u, v in enumerate(x):
            made.near[u].append((u + 1) % 3)
            made.weights[u] += v
        return made


class Delay:
    def __init__(self, length, feedback):
        self.line, self.feedback = deque([0.0] * length, maxlen=length), feedback

    def tick(self, v):
        late = self.line[0]
        self.line.append(v + self.feedback * late)
        return late


def window(x):
    last = deque(maxlen=2)
    for v in x:
        last.append(v * v)
    return last


def an_object_holds_a_defaultdict(x):
    graph = Graph.of(x)
    total = 0.0
    for u in range(3):
        for v in graph.near[u]:
            total += graph.weights[u] * graph.weights[v] ** 2
    return total * len(graph.near)


def an_object_holds_a_deque(x):
    delay, last = Delay(2, x[2]), window(x)
    total = sum(last) * last[-1]
    for i in range(6):
        total += delay.tick(x[i % 3]) * i
    while last:
        total = total * x[0] + last.popleft()
    return total


HOLDERS = [an_object_holds_a_defaultdict, an_object_holds_a_deque]


@pytest.mark.parametrize("f", HOLDERS, ids=lambda f: f.__name__)
def test_objects_that_hold_containers(f):
    hold(f, second=False)


def test_what_stands_for_a_deque_is_not_handed_out():
    with pytest.raises(s2sad.UnsupportedError, match="deque"):
        s2sad.value_and_grad(lambda x: (x[0] * x[1], window(x)), has_aux=True)(X)


def test_what_stands_for_containers_does_as_they_do():
    ours, theirs = stdlib_collections.deque([1, 2, 3], 2), deque([1, 2, 3], 2)
    for q in (ours, theirs):
        q.append(4)
        q.appendleft(5)
        q.extend([6, 7])
    assert list(ours) == list(theirs) and len(ours) == len(theirs) and ours[1] == theirs[1]
    assert (ours.pop(), ours.popleft()) == (theirs.pop(), theirs.popleft())
    ours, theirs = stdlib_collections.defaultdict(list), defaultdict(list)
    for d in (ours, theirs):
        d["a"].append(1)
        d["b"] = [2]
        d.setdefault("c", [3])
        assert d["d"] == [] and "e" not in d and d.get("e") is None
        del d["d"]
    assert list(ours.items()) == list(theirs.items()) and list(ours) == list(theirs.keys())
    assert list(ours.values()) == list(theirs.values()) and len(ours) == len(theirs)


class Layer:
    def __init__(self, index, thickness):
        self.index, self.thickness = index, thickness

    def matrix(self, k):
        c, s = np.cos(k * self.thickness), np.sin(k * self.thickness)
        return np.array([[c, s / self.index], [-s * self.index, c]])


class Stack:
    def __init__(self, layers):
        self.layers = tuple(layers)

    def response(self, k):
        matrices = (layer.matrix(k) for layer in self.layers)
        return np.sum(functools.reduce(np.matmul, matrices))


def a_tuple_of_a_list_that_is_given(x):
    return Stack([Layer(x[0], x[1]), Layer(x[1], x[2])]).response(1.3)


def test_a_tuple_of_a_list_that_is_given():
    hold(a_tuple_of_a_list_that_is_given)


class Window:
    def __init__(self, length):
        self.line = deque(maxlen=length)


def copied(x):
    window = Window(3)
    window.line.append(x[0])
    other = copy.copy(window.line)
    other.append(x[1])
    return len(window.line) * other[1]


def asked_for_its_class(x):
    window = Window(2)
    return x[0] if type(window.line) is deque and isinstance(window.line, deque) else x[1]


def test_what_stands_for_a_deque_has_its_class():
    hold(asked_for_its_class)


@pytest.mark.parametrize(
    "f",
    [
        copied,
        lambda x: x[0] if OrderedDict(a=x[0], b=x[1]) == OrderedDict(b=x[1], a=x[0]) else x[1],
        lambda x: x[0] if isinstance(OrderedDict(a=x[0]), OrderedDict) else x[1],
        lambda x: x[0] if type(OrderedDict(a=x[0])) is dict else x[1],
    ],
)
def test_what_tells_a_container_from_what_stands_for_it_is_refused(f):
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.grad(f)(X)
