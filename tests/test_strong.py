"""Strong zeros across calls; and guards everywhere, where they change nothing."""

from pathlib import Path

import duals
import numpy as np
import programs
import pytest
from targets import load_file

import s2sad
from s2sad import pipeline
from s2sad.stages import Arrival
from s2sad.strong import zeros_of

PROGRAMS = sorted((Path(__file__).parent / "golden" / "programs").glob("*.py"))
X = np.array([0.0, 4.0])


@pytest.fixture
def everywhere(monkeypatch):
    """Derive as if zeros might arrive anywhere, and anything be infinite."""

    def pessimistic(d, a, facts, active, arrival, results=None):
        wild = frozenset(a.function.params)
        return zeros_of(d, a, facts, active, Arrival(True, wild), results)

    monkeypatch.setattr(pipeline, "zeros_of", pessimistic)


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
