"""Heaps as Python: called beside the originals."""

import heapq
import random

import pytest

from s2sad.registry import written_form


def written(fn):
    return written_form(fn)[0]


def items(rng):
    """Return some numbers, or pairs, with equal ones among them."""
    pairs = rng.random() < 0.5
    numbers = [float(rng.randrange(6)) for _ in range(rng.randrange(9))]
    return [(v, rng.randrange(3)) for v in numbers] if pairs else numbers


@pytest.mark.parametrize("seed", range(40))
def test_every_item_is_where_heapq_has_it(seed):
    rng = random.Random(seed)
    one = items(rng)
    other = list(one)
    heapq.heapify(one)
    written(heapq.heapify)(other)
    assert one == other
    for _ in range(12):
        new = (float(rng.randrange(6)), 1) if one and type(one[0]) is tuple else rng.random()
        if one and type(one[0]) is not tuple:
            new = float(rng.randrange(6))
        deed = rng.choice(("heappush", "heappop", "heapreplace", "heappushpop"))
        given = () if deed == "heappop" else (new,)
        if deed in ("heappop", "heapreplace") and not one:
            continue
        fn = getattr(heapq, deed)
        assert fn(one, *given) == written(fn)(other, *given)
        assert one == other


@pytest.mark.parametrize("deed", ["heappop", "heapreplace"])
def test_an_empty_heap_gives_nothing(deed):
    with pytest.raises(IndexError):
        written(getattr(heapq, deed))([], *([1.0] if deed == "heapreplace" else []))


@pytest.mark.parametrize("n", [-1, 0, 1, 3, 9])
@pytest.mark.parametrize("fn", [heapq.nsmallest, heapq.nlargest])
def test_the_first_in_order(fn, n):
    pairs = [(2.0, "a"), (1.0, "b"), (2.0, "c"), (0.5, "d")]
    for key in (None, lambda pair: pair[0]):
        assert written(fn)(n, pairs, key) == fn(n, pairs, key)
