"""What is read in part stays lazy; what a test or a key function writes is never lost."""

import math

import numpy as np
import pytest
from slopes import check

import s2sad

X = np.array([-0.7, 1.3, 0.4])


# --- generator expressions that are read to their end, or in part --------------------------------


def stops_at_first(x):
    found = any(x[i] > 0.5 for i in range(100))
    return np.sum(x * x) * found


def position(x):
    i = next((i for i in range(len(x)) if x[i] > 0.5), -1)
    return x[i] * x[0]


def name_of(x):
    label = next(n for n in ("", "cube") if n)
    return np.sum(x**3) if label == "cube" else 0.0


def mapped(x):
    seen = []

    def big(v):
        seen.append(1)
        return v > 0.5

    found = any(map(big, x))
    return np.sum(x * x) * len(seen) * found


def unpacked(x):
    a, b, c = (v * v for v in x)
    return a * b + c


def starred(x):
    def first(a, b, c):
        return a * b + c

    return first(*(v * v for v in x))


def looped(x):
    v = 2.0
    for y in (v * v for v in x if v > 0.0):
        if y > 1.5:
            break
        v = v * y
    else:
        v = v * 3.0
    return v * x[0]


def multiplied(x):
    return math.prod(v * v for v in x) + sum((v * v for v in x), 1.0)


def walrus(x):
    if any((w := v) > 0.5 for v in x):
        return w * w
    return 0.0


@pytest.mark.parametrize(
    "f", [stops_at_first, position, name_of, mapped, unpacked, starred, looped, multiplied, walrus]
)
def test_generator(f):
    check(f, X)
    value, _ = s2sad.value_and_grad(f)(X)
    assert value == f(X)


def walrus_later(x):
    def first(values):
        for v in values:
            return v
        return 0.0

    y = first((w := v) * 2.0 for v in x)
    return y * w


def read_by_another(x):
    def twice(values):
        return sum(values) + sum(values)

    return twice(v * v for v in x)


def counted(x):
    class_ = Counter()
    found = any(class_.above(v) for v in x)
    return np.sum(x) * class_.n * found


class Counter:
    def __init__(self):
        self.n = 0
        self.last = 0.0

    def above(self, v):
        self.n = self.n + 1
        self.last = v
        return v > 0.5


def kept_in(x):
    counter = Counter()
    any(counter.above(v) for v in x)
    return counter.last * 2.0


def test_an_object_that_a_search_writes():
    check(kept_in, X)


@pytest.mark.parametrize("f", [walrus_later, read_by_another])
def test_refused(f):
    with pytest.raises(s2sad.Error):
        s2sad.grad(f)(X)


def test_what_a_lazy_test_counts():
    assert counted(X) == np.sum(X) * 2
    check(counted, X)


# --- writes where no statement of their own is ---------------------------------------------------


def in_if(x):
    k = np.zeros(3)
    if np.add(x, 1.0, out=k).sum() > 0.0:
        return k.sum()
    return 0.0


def in_while(x):
    k = np.zeros(3)
    y = 0.0
    while np.max(np.abs(np.subtract(x, y, out=k))) > 1.2:
        y = y + 0.4
    return (k * k).sum()


def in_inner_function(x):
    k = np.zeros(3)

    def filled():
        return np.add(x, 1.0, out=k).sum() > 0.0

    if filled():
        return k.sum()
    return 0.0


def in_assert(x):
    k = np.zeros(3)
    assert k.fill(x[0]) is None
    return k.sum()


def in_conditional(x):
    k = np.zeros(3)
    y = 1.0 if k.fill(x[0]) is None else 2.0
    return k.sum() * y


def in_match(x):
    k = np.zeros(3)
    match k.fill(x[0]):
        case None:
            return k.sum()
    return 0.0


def in_generator(x):
    k = np.zeros(3)
    any(np.copyto(k, v) for v in x)
    return k.sum()


def in_set(x):
    k = np.zeros(3)
    {np.copyto(k, v) for v in x}
    return k.sum()


def by_key(x):
    k = np.zeros(3)

    def key(i):
        k[i] = x[i]
        return i

    m = max(range(3), key=key)
    return k.sum() * m


def by_key_of_sort(x):
    k = np.zeros(3)
    order = sorted(range(3), key=lambda i: k.__setitem__(i, x[i]) or i)
    return k.sum() * order[1]


def by_filter(x):
    k = np.zeros(3)

    def key(i):
        k[i] = x[i]
        return True

    n = 0
    for i in filter(key, range(3)):
        n = n + i
    return k.sum() * n


def by_vectorized(x):
    k = np.zeros(3)
    np.vectorize(lambda i: k.__setitem__(i, x[i]), otypes=[object])(np.arange(3))
    return k.sum()


def by_method(x):
    counter = Counter()
    best = max(x, key=counter.above)
    return counter.last * 2.0 + best


WRITES = [
    in_if,
    in_while,
    in_inner_function,
    in_assert,
    in_conditional,
    in_match,
    in_generator,
    in_set,
    by_key,
    by_key_of_sort,
    by_filter,
    by_vectorized,
    by_method,
]


@pytest.mark.parametrize("f", WRITES)
def test_right_or_refused(f):
    try:
        s2sad.grad(f)(X)
    except s2sad.Error:
        return
    check(f, X)


class Scores:
    def __init__(self, w):
        self.w = w

    def score(self, i):
        return abs(self.w[i])


def best(x):
    order = sorted(range(3), key=lambda i: distance(x[i], x[0]))
    return x[order[1]] * x[0]


def distance(a, b):
    return abs(a - b)


def best_by_method(x):
    scores = Scores(x)
    return x[max(range(3), key=scores.score)] ** 2


@pytest.mark.parametrize("f", [best, best_by_method])
def test_key_functions_that_only_look(f):
    check(f, X)


def first(values):
    for v in values:
        return v


def first_of(x):
    return first(v * v for v in x) * 1.0


@pytest.mark.parametrize("derive", [s2sad.grad, s2sad.value_and_grad])
def test_a_generator_given_to_a_function_is_refused_backward(derive):
    with pytest.raises(s2sad.UnsupportedError, match="read only in part"):
        derive(first_of)(np.array([0.5, 2.0]))


def test_a_generator_given_to_a_function_is_refused_forward():
    x = np.array([0.5, 2.0])
    with pytest.raises(s2sad.UnsupportedError, match="read only in part"):
        s2sad.jvp(first_of, (x,), (np.ones(2),))
