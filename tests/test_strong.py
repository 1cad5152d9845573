"""Strong zeros across calls; and guards everywhere, where they change nothing."""

from pathlib import Path

import duals
import numpy as np
import programs
import pytest
from targets import load_file

import s2sad
from s2sad import api
from s2sad.linear import both_sweeps, forward_entry, ready
from s2sad.linear.guards import Arrival, Met
from s2sad.linear.strong_zeros import zeros_of
from s2sad.operators.derived import recipes

PROGRAMS = sorted((Path(__file__).parent / "golden" / "programs").glob("*.py"))
X = np.array([0.0, 4.0])


@pytest.fixture
def everywhere(monkeypatch):
    """Derive as if zeros might arrive anywhere, and anything be infinite."""

    def pessimistic(d, found, active, arrival, results=None):
        wild = frozenset(found.analysed.function.params)
        return zeros_of(d, found, active, Arrival(True, wild), results)

    for home in (both_sweeps, ready):
        monkeypatch.setattr(home, "zeros_of", pessimistic)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_guards_everywhere_change_no_gradient(path, everywhere):
    m = load_file(path, f"guarded_{path.stem}")
    f = getattr(m, path.stem)
    wrt = m.WRT if len(m.WRT) > 1 else m.WRT[0]
    found = duals.ravel(s2sad.grad(f, wrt=wrt)(*m.arguments()))
    if getattr(m, "ORACLE", "duals") == "differences":
        np.testing.assert_allclose(found, duals.differences(f, m.arguments(), m.WRT)[0], rtol=1e-5)
    else:
        expected = duals.ravel(duals.gradient(f, m.arguments(), m.WRT))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(40))
def test_guards_everywhere_change_no_gradient_of_random_programs(seed, everywhere):
    module = programs.load(programs.generate(seed).text)
    try:
        assert programs.trouble(s2sad, module, module.WRT) == ("", "")
    except s2sad.Error as error:
        assert type(error).__name__ != "InternalError", error
        pytest.skip("refused")
    finally:
        programs.unload(module)


def branched(x):
    if x[0] > 1.0:
        y = np.sqrt(x)
    else:
        y = np.zeros(3)
    return np.sum(np.sqrt(y) * x)


def written(x):
    y = np.zeros(4)
    y[1:] = x
    return np.sum(np.sqrt(y))


def root(y):
    return np.sqrt(y)


def doubled_root(y):
    z = y * 1.0
    for _ in range(1):
        z = z * 2.0
    return np.sum(np.maximum(z, 1.0))


def called_with_zeros(x):
    return np.sum(root(np.where(x > 1.0, x, 0.0)))


def called_with_infinity(x):
    return doubled_root(np.sqrt(x))


FORWARD = {
    "maximum": lambda x: np.sum(np.maximum(np.sqrt(x), 1.0)),
    "minimum of a logarithm": lambda x: np.sum(np.minimum(-np.log(x), 2.0)),
    "minimum of a quotient": lambda x: np.sum(np.minimum(1.0 / x, 1.0)),
    "clip": lambda x: np.sum(np.clip(np.sqrt(x), 0.5, 2.0)),
    "chain": lambda x: np.sum(np.maximum(2.0 * np.sqrt(x) + 1.0, 3.0)),
    "where": lambda x: np.sum(np.where(x > 0.0, np.sqrt(x), 0.0)),
    "root of where": lambda x: np.sum(np.sqrt(np.where(x > 1.0, x, 0.0))),
    "entropy": lambda x: -np.sum(np.where(x > 0.0, x * np.log(x), 0.0)),
    "mask": lambda x: np.sum((x > 1.0) * np.sqrt(x)),
    "index": lambda x: np.sqrt(x)[1],
    "max": lambda x: np.max(np.sqrt(x)),
    "sort": lambda x: np.sort(np.sqrt(x))[2],
    "concatenate": lambda x: np.sum(np.sqrt(np.concatenate([np.zeros(2), x[1:]]))),
    "pad": lambda x: np.sum(np.sqrt(np.pad(x[1:], 1))),
    "hypot": lambda x: np.sum(np.hypot(np.where(x > 1, x, 0.0), np.where(x > 1, x, 0.0))),
    "arctan2": lambda x: np.sum(np.maximum(np.arctan2(x, x), 2.0)),
    "scalar": lambda x: np.maximum(np.sqrt(x[0]), 1.0) * x[1],
    "branch": branched,
    "written": lambda x: written(x[1:].repeat(2)[:3]),
    "called with zeros": called_with_zeros,
    "called with what is infinite": called_with_infinity,
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FORWARD)
def test_forward_agrees_with_reverse_where_something_is_masked(name):
    f, x, along = FORWARD[name], np.array([0.0, 4.0, 9.0]), np.array([1.0, -0.5, 2.0])
    gradient = s2sad.grad(f)(x)
    assert np.all(np.isfinite(gradient))
    assert s2sad.jvp(f, (x,), (along,))[1] == pytest.approx(gradient @ along, rel=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_forward_keeps_single_precision():
    x = np.array([0.0, 4.0], np.float32)
    y = s2sad.jvp(lambda x: np.maximum(np.sqrt(x), np.float32(1.0)), (x,), (x + 1,))[1]
    assert y.dtype == np.float32


def test_no_guard_forward_where_nothing_is_singular():
    def f(x):
        return np.sum(np.maximum(x * x, 1.0)) + np.sum(np.exp(np.where(x > 0.0, x, 0.0)))

    assert "== 0" not in s2sad.source(f, mode="jvp", args=(np.ones(3),))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_guards_everywhere_change_no_tangent(path, monkeypatch):
    m = load_file(path, f"pushed_{path.stem}")
    f = getattr(m, path.stem)

    def derived():
        args = m.arguments()
        names = f.__code__.co_varnames[: len(args)]
        moving = [n in m.WRT or i in m.WRT for i, n in enumerate(names)]
        tangents = [
            s2sad.tree_map(lambda v: v * 0.0 + 1.0, a) if moves else None
            for a, moves in zip(args, moving, strict=True)
        ]
        try:
            return duals.ravel(s2sad.jvp(f, args, tangents)[1])
        except s2sad.Error as error:
            pytest.skip(f"refused: {error.reason}")

    expected = derived()
    plain = forward_entry.pushed_of

    def pessimistic(d, found, active, met):
        return plain(d, found, active, Met(True, True))

    monkeypatch.setattr(forward_entry, "pushed_of", pessimistic)
    api._products.clear()
    recipes.clear()
    np.testing.assert_allclose(derived(), expected, rtol=1e-10, atol=1e-12)


def in_a_dict(x, n):
    held = {}
    for i in range(n):
        held[i] = np.log(x[i])
    return held[1] * 2.0


def in_a_dict_of_roots(x, n):
    held = {}
    for i in range(n):
        held[i] = np.sqrt(x[i])
    return held[1] * 4.0


def in_a_list(x, n):
    held = [0.0] * n
    for i in range(n):
        held[i] = np.log(x[i])
    return held[1] * 2.0


@pytest.mark.parametrize("f", [in_a_dict, in_a_dict_of_roots, in_a_list])
def test_what_nobody_reads_of_a_structure_gives_zero(f):
    with np.errstate(divide="ignore"):
        assert np.array_equal(s2sad.grad(f)(np.array([0.0, 1.0, 2.0]), 3), [0.0, 2.0, 0.0])
