"""autodiff of functions that write arrays in the structures they are given, with shadows."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import s2sad
from s2sad import (
    Active,
    ActivityError,
    AliasError,
    BatchDuplicated,
    Const,
    Duplicated,
    Reverse,
    UnsupportedError,
    autodiff,
)
from tests.test_writes_containers import leaves, moved
from tests.writing_given import PROGRAMS, SHADOWED

CASES = [pytest.param(f, args, id=f.__name__) for f, args in [*SHADOWED, *PROGRAMS]]
rng = np.random.default_rng(3)


def numbers_in_tuples(x, inside=False):
    """Say whether a tuple holds a number: a shadow cannot take its derivative."""
    if isinstance(x, tuple):
        return any(isinstance(p, float) or numbers_in_tuples(p) for p in x)
    return any(map(numbers_in_tuples, x)) if isinstance(x, list) else False


def shadow(x):
    """Return a shadow with random content."""
    return s2sad.tree_map(lambda v: rng.standard_normal(np.shape(v)) if np.ndim(v) else 0.7, x)


def arrays(x):
    """Return the arrays of a structure, in order."""
    if isinstance(x, np.ndarray):
        return [x]
    if isinstance(x, list | tuple):
        return [a for part in x for a in arrays(part)]
    parts = x if isinstance(x, dict) else getattr(x, "__dict__", {})
    return [a for part in parts.values() for a in arrays(part)]


def weighed(f, args, seeds):
    """The number whose gradient the reverse is: final contents times seeds, and the value."""
    value = f(*args)
    total = 0.0 if value is None else float(value)
    for arg, seed in zip(args, seeds, strict=True):
        if seed is not None:
            total += np.dot(leaves(arg), leaves(seed))
    return total


def slopes(f, args, seeds):
    found = []
    for k in range(len(args)):
        slope = []
        for at in range(len(leaves(args[k]))):
            ends = []
            for eps in (1e-6, -1e-6):
                given = copy.deepcopy(list(args))
                given[k] = moved(given[k], at, eps)
                ends.append(weighed(f, given, seeds))
            slope.append((ends[0] - ends[1]) / 2e-6)
        found.append(np.array(slope))
    return found


def wrapped(args, shadows):
    return [
        Active(a) if s is None else Duplicated(a, s) for a, s in zip(args, shadows, strict=True)
    ]


def shadows_of(args):
    if any(map(numbers_in_tuples, args)):
        pytest.skip("a number in a tuple has no place in a shadow")
    return [None if isinstance(a, float) else shadow(a) for a in args]


@pytest.mark.parametrize("f, args", CASES)
def test_shadows_go_from_final_to_initial_content(f, args):
    shadows = shadows_of(args)
    want = slopes(f, args, shadows)
    given = copy.deepcopy(list(args))
    mine = arrays(shadows)
    value, bars = autodiff(Reverse, f, *wrapped(given, shadows))
    after = copy.deepcopy(list(args))
    assert value == f(*after)
    assert leaves(given) == leaves(after)
    for bar, kept, slope in zip(bars, shadows, want, strict=True):
        assert kept is None or bar is kept
        np.testing.assert_allclose(leaves(bar), slope, rtol=1e-6, atol=1e-6)
    for one, other in zip(arrays(shadows), mine, strict=True):
        assert one is other


@pytest.mark.parametrize("f, args", CASES)
def test_a_batch_gives_what_single_directions_give(f, args):
    both = [shadows_of(args), shadows_of(args)]
    single = copy.deepcopy(both)
    for shadows in single:
        _, bars = autodiff(Reverse, f, *wrapped(copy.deepcopy(list(args)), shadows))
        shadows[:] = bars
    given = copy.deepcopy(list(args))
    activities = [
        Active(a) if s is None else BatchDuplicated(a, (s, t))
        for a, s, t in zip(given, *both, strict=True)
    ]
    value, bars = autodiff(Reverse, f, *activities)
    after = copy.deepcopy(list(args))
    assert value == f(*after)
    assert leaves(given) == leaves(after)
    for pair, one, other in zip(bars, *single, strict=True):
        np.testing.assert_allclose(leaves(pair[0]), leaves(one), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(leaves(pair[1]), leaves(other), rtol=1e-12, atol=1e-12)
