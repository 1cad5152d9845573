"""Programs written for JAX's control flow: right as they stand, and what JAX makes of them."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import s2sad
from s2sad.tree import ravel, tree_map

SOURCE = Path(__file__).parent / "jax_programs.py"


def load(name):
    spec = importlib.util.spec_from_file_location(name, SOURCE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


OURS = load("jax_programs")
EVERY_DAY = """kalman newton scan_in_scan scan_in_while cond_in_scan namedtuple_carry gae map_tuple
    switch switch_in_scan cond_legacy_operand scan_empty scan_empty_length partial_step
    conjugate_gradient cond_pytrees nested_tuple_carry dict_while three_bisections""".split()
DAILY = [
    name if name in EVERY_DAY else pytest.param(name, marks=pytest.mark.full)
    for name in OURS.PROGRAMS
]
STEP = 1e-6


def active(args):
    return tuple(i for i, a in enumerate(args) if not isinstance(a, int))


def along(args):
    """Return a direction for each argument that varies, None for the others."""

    def direction(leaf):
        return np.cos(3.0 * leaf) if isinstance(leaf, np.ndarray) else 0.7

    chosen = active(args)
    return tuple(tree_map(direction, a) if i in chosen else None for i, a in enumerate(args))


def moved(args, tangents, step):
    def to(x, v):
        return x + step * v

    return [a if v is None else tree_map(to, a, v) for a, v in zip(args, tangents, strict=True)]


@pytest.mark.parametrize("name", DAILY)
def test_differentiated_as_it_stands(name):
    f, args = OURS.PROGRAMS[name]
    tangents = along(args)
    y, dy = s2sad.jvp(f, args, tangents)
    assert y == pytest.approx(f(*args), rel=1e-13)
    slope = (f(*moved(args, tangents, STEP)) - f(*moved(args, tangents, -STEP))) / (2 * STEP)
    assert dy == pytest.approx(slope, rel=1e-6, abs=1e-8)
    chosen = active(args)
    gradient = s2sad.grad(f, wrt=chosen)(*args)
    directions = tuple(tangents[i] for i in chosen)
    assert ravel(gradient)[0] @ ravel(directions)[0] == pytest.approx(dy, rel=1e-11, abs=1e-13)
    tree_map(lambda *leaves: None, gradient, directions)  # built like its arguments


@pytest.fixture(scope="module")
def jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax


@pytest.fixture(scope="module")
def theirs(jax):
    module = load("jax_programs_of_jax")
    module.jnp, module.lax = jax.numpy, jax.lax
    return module


# What of these is refused twice: tapes of dicts and lists whose parts are looked up.
NOT_TWICE = {"layers_as_scan_dict", "with_time", "nested_tuple_carry"}


@pytest.mark.full
@pytest.mark.parametrize("name", OURS.PROGRAMS)
def test_as_jax(name, jax, theirs):
    f, args = OURS.PROGRAMS[name]
    g, given = theirs.PROGRAMS[name]
    chosen, tangents = active(args), along(args)
    arrays = [jax.tree.map(jax.numpy.asarray, given[i]) for i in chosen]
    directions = [jax.tree.map(jax.numpy.asarray, tangents[i]) for i in chosen]

    def whole(*some):
        full = [*given]
        for i, value in zip(chosen, some, strict=True):
            full[i] = value
        return g(*full)

    def flat(tree):
        return np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(tree)])

    close = {"rel": 1e-9, "abs": 1e-11}
    forward = jax.jacfwd(whole, argnums=tuple(range(len(chosen))))
    value, tangent = jax.jvp(whole, arrays, directions)
    assert s2sad.jvp(f, args, tangents) == pytest.approx((float(value), float(tangent)), **close)
    want = flat(forward(*arrays))
    assert flat(s2sad.grad(f, wrt=chosen)(*args)) == pytest.approx(want, **close)
    for mode in ("forward", "reverse"):
        got = s2sad.jacobian(f, wrt=chosen, mode=mode)(*args)
        assert flat(got) == pytest.approx(want, **close)
    if name in NOT_TWICE:
        with pytest.raises(s2sad.Error):
            s2sad.hvp(f, args, tangents)
        return
    product = s2sad.hvp(f, args, tangents)
    assert flat(product) == pytest.approx(flat(jax.jvp(forward, arrays, directions)[1]), **close)
