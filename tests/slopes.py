"""Hold gradients of functions with structured arguments against central differences."""

import numpy as np
import pytest

import s2sad

STEP = 1e-6


def check(fn, *args, constant=()):
    """Compare the gradient of fn with respect to all but some of its arguments."""
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
    assert s2sad.ravel(tuple(got))[0] == pytest.approx(slopes, rel=1e-5, abs=1e-7)
    for i in wrt:
        alone = s2sad.ravel((s2sad.grad(fn, wrt=i)(*args),))[0]
        assert alone == pytest.approx(s2sad.ravel((got[wrt.index(i)],))[0], rel=1e-9, abs=1e-12)
