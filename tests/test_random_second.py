"""Second derivatives of random programs, along a direction: `hvp` beside two judges.

The gradient that the oracle has (duals.py) is differenced, with a bound on the error. Where the
derived gradient can be run with complex numbers, and agrees with the differences, its complex step
is exact, and so must `hvp` be. `S2SAD_SECOND=300 pytest -m full tests/test_random_second.py -n 4`
looks further than every run does.
"""

import cmath
import math
import os
import traceback
import types
import warnings

import duals
import numpy as np
import programs
import pytest
from properties import leaves

import s2sad
from s2sad.tree import map_leaves

SMOOTH = (58, 66, 84, 87, 92, 120)  # their gradients take complex numbers
OTHERS = (20, 40)
MANY = int(os.environ.get("S2SAD_SECOND", "120"))
STEP = 2e-3


def stepped(x, along, h):
    """Return an argument that has moved along a tangent, by a number that may be imaginary."""
    if along is None:
        return x
    return map_leaves(lambda leaf, d: leaf + h * d, float(x) if type(x) is int else x, along)


def tangents(module, rng):
    """Return a tangent for each argument, None for those that are constant."""
    found = []
    for i, x in enumerate(module.arguments()):
        active = [duals._as_active(x)] if i in module.WRT else []
        size = len(duals.ravel(active))
        found += duals.unravel(active, rng.normal(size=size)) if active else [None]
    return found


def by_differences(module, along):
    """Return the oracle's gradient differenced along tangents, extrapolated, and an error bound."""

    def at(h):
        pairs = zip(module.arguments(), along, strict=True)
        args = [x if d is None else duals.replaced(x, _moved(x, d, h)) for x, d in pairs]
        return duals.ravel(duals.run(module.f, args, module.WRT).gradients)

    slopes = [(at(h) - at(-h)) / (2 * h) for h in (STEP, STEP / 2, STEP / 4)]
    once = [(4 * b - a) / 3 for a, b in zip(slopes, slopes[1:], strict=False)]
    best = (16 * once[1] - once[0]) / 15
    return best, np.abs(best - once[1]) + 1e-11 / STEP + 1e-10 * np.abs(best)


def _moved(x, along, h):
    return duals.ravel(duals._as_active(x)) + h * duals.ravel(along)


def by_complex_step(module, along, h=1e-30):
    """Return the complex step of the derived gradient; None where that is not possible."""
    text = s2sad.grad(module.f, wrt=module.WRT).source(*module.arguments())
    space = dict(vars(module))
    try:
        exec(compile(text, f"<complex {module.__name__}>", "exec"), space)
        space["math"] = types.SimpleNamespace(**{**vars(math), **vars(cmath)})
        args = [stepped(x, d, 1j * h) for x, d in zip(module.arguments(), along, strict=True)]
        found = space["f_grad"](*args)
        return leaves(list(found)).imag / h
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, Warning):
        return None


def verdict(seed):
    """Return what comes of a program: "", "unfair", "refused" or what went wrong; and details."""
    module = programs.load(programs.generate(seed).text)
    along = tangents(module, np.random.default_rng(seed))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            wanted, bound = by_differences(module, along)
            if not np.all(np.isfinite(wanted)) or np.any(bound > 1e-3 * (1 + np.abs(wanted))):
                return "unfair", ""
            args = module.arguments()
            found = s2sad.hvp(module.f, args, along)
            found = duals.ravel(list(found) if len(module.WRT) > 1 else [found])
            if not programs.same(args, module.arguments()):
                return "arguments", f"{args} were {module.arguments()}"
            if np.any(np.abs(found - wanted) > 20 * bound + 1e-6 * (1 + np.abs(wanted))):
                return "wrong", f"{found} where differences tell {wanted}"
            exact = by_complex_step(module, along)
        if exact is None or exact.shape != found.shape:
            return "", ""
        fits = np.all(np.abs(exact - wanted) <= 20 * bound + 1e-6 * (1 + np.abs(wanted)))
        if fits and not np.allclose(found, exact, rtol=1e-8, atol=1e-10):
            return "not exact", f"{found} where the complex step gives {exact}"
        return "exact" if fits else "", ""
    except s2sad.Error as error:
        if type(error).__name__ == "InternalError":
            return "InternalError", traceback.format_exc()
        return "refused", f"{type(error).__name__}: {error}"
    except Exception as error:
        return type(error).__name__, traceback.format_exc()
    finally:
        programs.unload(module)


GOOD = ("", "exact", "unfair", "refused")


def check(seeds):
    found = {seed: verdict(seed) for seed in seeds}
    wrong = {seed: told for seed, told in found.items() if told[0] not in GOOD}
    assert not wrong, "\n".join(f"program {seed}: {word}: {d}" for seed, (word, d) in wrong.items())
    return [word for word, _ in found.values()]


def test_products_with_hessians():
    assert check(SMOOTH).count("exact") > len(SMOOTH) / 2
    assert check(OTHERS).count("refused") <= len(OTHERS) / 2


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(12))
def test_many_products_with_hessians(chunk):
    words = check(range(1000 + chunk, 1000 + MANY, 12))
    assert words.count("refused") <= max(2, 0.6 * len(words))
