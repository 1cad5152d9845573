"""What a loop binds is used when it is over: its cotangent has the shape of each round's own."""

import numpy as np
import pytest
from slopes import check

import s2sad


def again(parts):
    total = 0.0
    for _ in range(2):
        for part in parts:
            total += np.sum(part**2)
    return total * np.sum(part)


def bound_before(x, parts):
    part = x * 2.0
    total = np.sum(part)
    for part, _ in zip(parts, (1, 2, 3), strict=False):
        total += np.sum(part**2)
    return total * np.sum(part)


def by_key(parts):
    total = 0.0
    for _ in range(2):
        for _key, part in parts.items():
            total += np.sum(part**2)
    return total * np.sum(part)


def pairs(parts):
    total = 0.0
    for _ in range(2):
        for part, weight in parts:
            total += np.sum(part**2) * weight
    return total * np.sum(part) + weight


def split(x):
    total = 0.0
    for _ in range(2):
        for k, part in enumerate(np.split(x, [1])):
            total += np.sum(part**2) * k
    return total * np.sum(part) + k


SHORT, LONG = np.array([0.7]), np.array([-0.3, 1.1, 0.4])


@pytest.mark.parametrize(
    "f, args",
    [
        (again, ((SHORT, LONG),)),
        (again, ([LONG, SHORT],)),
        (again, ((0.9, LONG),)),
        (again, ((LONG, 0.9),)),
        (again, ([SHORT[None], LONG.reshape(3, 1)],)),
        (bound_before, (LONG, (SHORT, LONG[:2]))),
        (bound_before, (SHORT, [LONG, LONG[:2]])),
        (by_key, ({"a": LONG, "b": SHORT},)),
        (pairs, ([(SHORT, 0.5), (LONG, 1.5)],)),
        (split, (LONG,)),
    ],
)
def test_rounds_of_several_shapes(f, args):
    check(f, *args)
    gradient = s2sad.grad(f, wrt=tuple(range(len(args))))(*args)
    flat, unravel = s2sad.ravel(args)
    for given, part in zip(leaves(unravel(flat)), leaves(gradient), strict=True):
        assert np.shape(part) == np.shape(given)


def leaves(x):
    """Return the arrays and numbers of a structure."""
    if isinstance(x, dict):
        x = list(x.values())
    return [leaf for part in x for leaf in leaves(part)] if isinstance(x, tuple | list) else [x]


def listed_late(x):
    for k in range(3):
        if k == 0:
            continue
        held = [t * t for t in x]
        if x[0] > 0.0:
            break
    return held[2] * x[0]


def paired_late(x):
    for k in range(3):
        if k == 0:
            continue
        held = [(t * t, 2) for t in x]
        if x[0] > 0.0:
            break
    return held[2][0] * x[0] * held[0][1]


def keyed_late(x):
    for k in range(3):
        if k == 0:
            continue
        held = {i: t * t for i, t in enumerate(x)}
        if x[0] > 0.0:
            break
    return held[2] * x[0]


@pytest.mark.parametrize("f", [listed_late, paired_late, keyed_late])
@pytest.mark.parametrize("first", [0.6, -0.6])
def test_structures_that_the_first_round_does_not_bind(f, first):
    check(f, np.array([first, -1.0, 1.1]))


def numbered(x):
    parts = [(0, x), (1, x * 2.0)]
    for k, part in parts:
        part[0] *= 0.7 + k
    return np.sum(x**2) + np.sum(parts[1][1])


def numbered_twice(x):
    parts = [(0, x), (1, x * 2.0)]
    for n, (k, part) in enumerate(parts):
        part[0] *= 0.7 + k * n
    seen = []
    for k, part in reversed(parts):
        part[1] *= part[2] + k
        seen.append((k, part))
    for _k, part in seen:
        part[0] *= part[1]
    return np.sum(x**2) + np.sum(parts[1][1])


def numbered_and_sorted(x):
    for k, part in sorted(enumerate([x, x * 2.0]), reverse=True):
        part[0] *= 0.7 + k
    return np.sum(x**2)


def worded(x):
    parts = [("a", x), ("long", x * 2.0)]
    for word, part in parts:
        if part[1] > 5.0:
            break
        part[0] *= 0.7 + len(word)
    return np.sum(x**2) + np.sum(part) * len(word)


@pytest.mark.parametrize("f", [numbered, numbered_twice, numbered_and_sorted, worded])
def test_arrays_written_beside_numbers(f):
    check(f, LONG)


def test_what_only_the_loop_reads_is_bound_by_its_header():
    def f(parts):
        total = 0.0
        for part in parts:
            total += np.sum(part**2)
        return total

    assert "for part in parts:" in s2sad.source(f, args=([LONG],))
