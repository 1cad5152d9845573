"""The examples, imported by path and run, shortened where that saves time."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from targets import load_file

import s2sad

EXAMPLES = Path(__file__).parent.parent / "examples"
pytestmark = pytest.mark.skipif(
    not hasattr(s2sad, "differentiate"), reason="s2sad.differentiate does not work yet"
)


@pytest.fixture(scope="module")
def lynx_hare():
    pytest.importorskip("scipy")
    return load_file(EXAMPLES / "lynx_hare.py")


@pytest.fixture(scope="module")
def digits():
    pytest.importorskip("sklearn")
    return load_file(EXAMPLES / "digits.py")


@pytest.fixture(scope="module")
def learned(digits):
    X, y, X_held_out, y_held_out = digits.read_data()
    losses = []
    params = digits.train(digits.initial(), X, y, report=lambda epoch, value: losses.append(value))
    return losses, digits.accuracy(params, X_held_out, y_held_out)


def test_lynx_hare_data_is_the_record_of_21_years(lynx_hare):
    times, pelts = lynx_hare.read_data()
    assert times.tolist() == list(range(21))
    assert pelts[0].tolist() == [30.0, 4.0]
    assert pelts[-1].tolist() == [24.7, 8.6]


def test_lynx_hare_states_its_source():
    assert "Hewitt (1921)" in (EXAMPLES / "lynx_hare.csv").read_text(encoding="utf-8")


def test_lynx_hare_gradient_agrees_with_differences(lynx_hare):
    times, pelts = lynx_hare.read_data()
    rows = lynx_hare.check_gradient(np.log(lynx_hare.GUESS), times, pelts)
    assert len(rows) == 6
    for name, derived, difference in rows:
        assert derived == pytest.approx(difference, rel=1e-6), name


def test_lynx_hare_loss_falls(lynx_hare):
    times, pelts = lynx_hare.read_data()
    start = lynx_hare.loss(np.log(lynx_hare.GUESS), times, pelts, 1e-4)
    result = lynx_hare.fit(max_iterations=3)
    assert result.fun < 0.9 * start
    assert result.fun == lynx_hare.loss(result.x, times, pelts, 1e-4)


def test_lynx_hare_fits(lynx_hare):
    assert lynx_hare.fit().fun < 0.05


def test_lynx_hare_saves_a_plot(lynx_hare, tmp_path):
    pytest.importorskip("matplotlib")
    times, pelts = lynx_hare.read_data()
    path = lynx_hare.plot(np.log(lynx_hare.GUESS), times, pelts, tmp_path / "out" / "plot.png")
    assert path.stat().st_size > 1000


def test_lynx_hare_reports_a_step_that_becomes_too_short(lynx_hare):
    times, _ = lynx_hare.read_data()
    with pytest.raises(ArithmeticError, match="too short"):
        lynx_hare.solve(np.array([30.0, 4.0]), np.full(4, 1e12), times, 1e-4)


def test_digits_loss_falls(learned):
    losses, _ = learned
    assert losses[-1] < 0.05 < 0.5 < losses[0]


def test_digits_reads_what_was_held_out(learned):
    _, accuracy = learned
    assert accuracy > 0.95


def test_digits_gradient_has_the_structure_of_the_parameters(digits):
    params = digits.initial((64, 5, 10))
    X, y, _, _ = digits.read_data()
    gradient = digits.loss.grad(params, X[:20], y[:20])
    assert [list(layer) for layer in gradient] == [["W", "b"], ["W", "b"]]
    shapes = digits.tree_map(np.shape, params)
    assert digits.tree_map(np.shape, gradient) == shapes


def test_digits_one_source_serves_any_number_of_layers(digits):
    X, y, _, _ = digits.read_data()
    texts = {
        digits.loss.value_and_grad.source(digits.initial(sizes), X, y)
        for sizes in ((64, 20, 10), (64, 20, 20, 10), (64, 9, 8, 7, 10))
    }
    assert len(texts) == 1


@pytest.fixture(scope="module")
def simulations():
    pytest.importorskip("scipy")
    return {name: load_file(EXAMPLES / f"{name}.py") for name in ("heat", "shallow_water", "lu")}


def test_heat_is_recovered(simulations):
    heat = simulations["heat"]
    start = heat.truth(16)
    final = heat.observe(start, steps=20)
    guess = np.full(final.size, final.mean())
    for derived, difference in heat.check_gradient(guess, final, steps=20):
        assert derived == pytest.approx(difference, rel=1e-6)
    found = heat.fit(final, steps=20).x.reshape(final.shape)
    assert np.mean((found - start) ** 2) < 0.8 * np.mean((final - start) ** 2)


def test_shallow_water_finds_the_shoal(simulations):
    water = simulations["shallow_water"]
    _, eta, rows, columns, seen = water.problem(12, 120)
    flat = np.ones(eta.size)
    for derived, difference in water.check_gradient(flat, eta, rows, columns, seen):
        assert derived == pytest.approx(difference, rel=1e-6)
    before = water.loss(flat, eta, seen, rows, columns, water.DT, len(seen))
    assert water.fit(eta, rows, columns, seen, max_iterations=15).fun < 0.1 * before


def test_lu_finds_the_resistors(simulations):
    lu = simulations["lu"]
    edges, logs, currents, measured = lu.problem()
    for derived, difference in lu.check_gradient(np.zeros_like(logs), edges, currents, measured):
        assert derived == pytest.approx(difference, rel=1e-5, abs=1e-8)
    found = lu.fit(edges, currents, measured).x
    np.testing.assert_allclose(found, logs, atol=0.05)


def test_lstm_learns():
    lstm = load_file(EXAMPLES / "lstm.py")
    xs = lstm.series(30)
    for name, derived, difference in lstm.check_gradient(lstm.initial(4), xs):
        assert derived == pytest.approx(difference, rel=1e-6), name
    losses = []
    lstm.train(lstm.initial(4), xs, epochs=40, report=lambda epoch, value: losses.append(value))
    assert losses[-1] < 0.2 * losses[0]


@pytest.fixture(scope="module")
def many_rows():
    pytest.importorskip("scipy")
    pytest.importorskip("threadpoolctl")
    pytest.importorskip("distributed")
    return load_file(EXAMPLES / "many_rows.py")


def test_many_rows_are_made_by_partition(many_rows):
    parts = many_rows.partitions(many_rows.draws, 600_000)
    assert [len(part.compute()) for part in parts] == [250_000, 250_000, 100_000]
    assert not np.array_equal(parts[0][:9].compute(), parts[1][:9].compute())


def test_many_rows_fit(many_rows, monkeypatch):
    monkeypatch.setattr(many_rows, "PARTITION", 3000)
    told = []
    weights, found = many_rows.fitted(20_000, report=told.append)
    np.testing.assert_allclose(weights, many_rows.WEIGHTS, atol=0.15)
    for name, true in many_rows.MIXTURE.items():
        np.testing.assert_allclose(found[name], true, atol=0.1)
    assert "20,000 rows" in told[0]


def test_many_rows_as_a_program(many_rows):
    run = subprocess.run(
        [sys.executable, EXAMPLES / "many_rows.py", "2000"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr
    assert "weights, fitted" in run.stdout and "def logistic_value_and_grad(" in run.stdout


SHOWN = {"lynx_hare": "def rhs_reverse("}  # the whole goes into a file


@pytest.mark.parametrize("name", ["lynx_hare", "digits", "heat", "shallow_water", "lu", "lstm"])
def test_runs_as_a_program(name):
    run = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert SHOWN.get(name, "def loss_value_and_grad(") in run.stdout
