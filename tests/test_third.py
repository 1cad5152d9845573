"""Third derivatives of the target programs, by two ways, beside differences of second ones."""

import numpy as np
import pytest
import targets
from properties import leaves
from test_jvp import direction, moved

from s2sad import grad, hessian, hvp, jvp

A = np.cos(np.arange(12.0)).reshape(3, 4) + 1.2


def load(module):
    return targets.load_file(targets.FOLDER / f"{module}.py", f"third_{module}")


IN_PLACE, STENCIL = load("in_place"), load("stencil")


def in_place(A, B):
    return IN_PLACE.f(A.copy(), B.copy())


def stencil(A, B):
    A, B = A.copy(), B.copy()
    STENCIL.jacobi(A, B, 2)
    return np.sum(np.sin(A)) + np.sum(A * B)


PROGRAMS = {t.module: (t.primal(), t.args[0], t.wrt) for t in targets.TARGETS} | {
    "in_place": (in_place, (A[0], A[1]), (0, 1)),
    "stencil": (stencil, (A[0], A[1]), (0, 1)),
    "views": (load("views").normalise_rows, (A,), (0,)),
}


def near(found, at, step=1e-3):
    """Say whether a derivative is what differences tell, in as many digits as they have."""
    wide, close = (
        (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h) for h in (step, step / 2)
    )
    return np.all(np.abs(found - close) <= 20 * np.abs(wide - close) + 1e-7 * (1 + np.abs(close)))


def moving(args, wrt, seed):
    rng = np.random.default_rng(seed)
    return [direction(a, rng) if i in wrt else None for i, a in enumerate(args)]


def line(args, along):
    """Return what gives the arguments a step along some tangents."""
    pairs = list(zip(args, along, strict=True))
    return lambda t: [np.copy(a) if d is None else moved(a, d, t) for a, d in pairs]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_tangent_of_a_hessian(name):
    f, args, wrt = PROGRAMS[name]
    along = moving(args, wrt, 3)
    at = line(args, along)
    by = wrt if len(wrt) > 1 else wrt[0]
    H, H_dot = jvp(hessian(f, wrt=by), args, along)
    assert leaves(H) == pytest.approx(leaves(hessian(f, wrt=by)(*args)), rel=1e-12, abs=1e-14)
    assert near(leaves(H_dot), lambda t: leaves(hessian(f, wrt=by)(*at(t))))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_gradient_of_a_curvature(name):
    """Backward over forward over forward, all in one program."""
    f, (x, *given), _ = PROGRAMS[name]
    rest = tuple(given)
    v, w = (moving((x,), (0,), seed)[0] for seed in (4, 5))

    def curvature(x):
        return jvp(lambda y: jvp(lambda z: f(z, *rest), (y,), (v,))[1], (x,), (v,))[1]

    assert curvature(x) == pytest.approx(
        np.sum(hvp(f, (x, *rest), (v, *[None] * len(rest))) * v), rel=1e-9, abs=1e-12
    )
    at = line((x,), (w,))
    assert near(np.sum(grad(curvature)(x) * w), lambda t: curvature(*at(t)))
