"""Hold derivatives of functions with structured arguments against central differences."""

import numpy as np
import pytest
from sampling import is_of_every_day

import s2sad

STEP = 1e-6


def check(fn, *args, constant=()):
    """Compare the gradient of fn with respect to all but some of its arguments, and its jvp.

    So are gradients with respect to single arguments: every day one of them or another.
    """
    wrt = tuple(i for i in range(len(args)) if i not in constant)
    gradient = s2sad.grad(fn, wrt=wrt)(*args)
    vector, unravel = s2sad.ravel(tuple(args[i] for i in wrt))

    def at(moved):
        whole = list(args)
        for i, part in zip(wrt, unravel(moved), strict=True):
            whole[i] = part
        return fn(*whole)

    steps = np.eye(len(vector)) * STEP
    slopes = [(at(vector + e) - at(vector - e)) / (2 * STEP) for e in steps]
    got = gradient if isinstance(gradient, tuple) and len(wrt) > 1 else (gradient,)
    found = s2sad.ravel(tuple(got))[0]
    assert found == pytest.approx(slopes, rel=1e-5, abs=1e-7)
    for i in wrt if len(wrt) > 1 else ():
        if not is_of_every_day(f"{fn.__qualname__} alone in {i}", len(wrt)):
            continue
        alone = s2sad.ravel((s2sad.grad(fn, wrt=i)(*args),))[0]
        assert alone == pytest.approx(s2sad.ravel((got[wrt.index(i)],))[0], rel=1e-9, abs=1e-12)
    check_forward(fn, args, wrt, found)


def check_forward(fn, args, wrt, gradient):
    """Compare the jvp along some direction with the gradient: all arguments, the first alone."""
    vector, unravel = s2sad.ravel(tuple(args[i] for i in wrt))
    direction = np.cos(1.7 * np.arange(len(vector)) + 0.4)
    parts = unravel(direction)
    places, _ = s2sad.ravel(unravel(np.arange(len(vector), dtype=float)))
    sizes = [len(s2sad.ravel((args[i],))[0]) for i in wrt]
    ends = np.cumsum([0, *sizes])
    assert np.array_equal(places, np.arange(len(vector)))
    tangents = [None] * len(args)
    for i, part in zip(wrt, parts, strict=True):
        tangents[i] = part
    for moving in {wrt, wrt[:1]}:
        given = tuple(t if i in moving else None for i, t in enumerate(tangents))
        spans = [slice(ends[wrt.index(i)], ends[wrt.index(i) + 1]) for i in moving]
        expected = sum(gradient[s] @ direction[s] for s in spans)
        scale = sum(np.abs(gradient[s]) @ np.abs(direction[s]) for s in spans)
        _, slope = s2sad.jvp(fn, args, given)
        slope = 0.0 if slope is None else slope
        assert slope == pytest.approx(expected, rel=1e-7, abs=1e-9 * (1.0 + scale))
