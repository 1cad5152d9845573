"""Python as people write it: each program is held beside central differences, in both modes."""

import heapq
from heapq import heappop, heappush

import numpy as np
import pytest

import s2sad

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
