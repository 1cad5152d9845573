"""The derivatives written by hand, which goldens and benchmarks use, against differences."""

from pathlib import Path

import numpy as np
import pytest
from targets import TARGETS, load_file

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
CASES = [
    pytest.param(target, args, id=f"{target.module}-{i}")
    for target in TARGETS
    for i, args in enumerate(target.args)
]


def by_hand(name):
    return load_file(HERE / "benchmarks" / f"hand_{name}.py").loss_value_and_grad


def directional_difference(f, x, direction, eps):
    return (f(x + eps * direction) - f(x - eps * direction)) / (2.0 * eps)


@pytest.mark.parametrize(("target", "args"), CASES)
def test_target(target, args):
    gradients = target.gradients(target.by_hand()(*args))
    rng = np.random.default_rng(1)
    for position, gradient in zip(target.wrt, gradients, strict=True):

        def along(x):
            return target.primal()(*args[:position], x, *args[position + 1 :])

        direction = rng.standard_normal(np.shape(args[position]))
        want = directional_difference(along, args[position], direction, 1e-6)
        assert np.shape(gradient) == np.shape(args[position])
        np.testing.assert_allclose(np.sum(gradient * direction), want, rtol=1e-6, atol=1e-8)


def test_value_of_least_squares():
    (target,) = [target for target in TARGETS if target.mode == "value_and_grad"]
    assert target.by_hand()(*target.args[0])[0] == target.primal()(*target.args[0])


@pytest.mark.parametrize("tolerance", [1e-3, 1e-4, 1e-6])
def test_lynx_hare(tolerance):
    example = load_file(EXAMPLES / "lynx_hare.py")
    times, pelts = example.read_data()
    x = np.log(example.GUESS)
    value, gradient = by_hand("lynx_hare")(x, times, pelts, tolerance)
    assert value == example.loss(x, times, pelts, tolerance)
    for i, direction in enumerate(np.eye(6)):
        want = directional_difference(
            lambda x: example.loss(x, times, pelts, tolerance), x, direction, 1e-6
        )
        np.testing.assert_allclose(gradient[i], want, rtol=1e-6, atol=1e-8)


def test_lynx_hare_rejects_steps():
    example = load_file(EXAMPLES / "lynx_hare.py")
    steps = []
    rk_step = example.rk_step

    def recorded(*args):
        new, slope, error = rk_step(*args)
        steps.append(np.max(np.abs(error) / (1.0 + np.abs(new))) > 1e-4)
        return new, slope, error

    example.rk_step = recorded
    times, pelts = example.read_data()
    example.loss(np.log(example.GUESS), times, pelts, 1e-4)
    assert 100 < len(steps) < 1000
    assert 5 < sum(steps) < len(steps) / 4


@pytest.mark.parametrize("name", ["heat", "shallow_water", "lu"])
def test_simulation(name):
    example = load_file(EXAMPLES / f"{name}.py")
    if name == "heat":
        final = example.observe(example.truth(10), 0.2, 5)
        x, rest = 0.5 + 0.1 * np.sin(np.arange(100.0)), (final, 0.2, 5, 1e-2)
    elif name == "shallow_water":
        _, eta, rows, columns, seen = example.problem(12, 9)
        x, rest = 1.0 + 0.1 * np.sin(np.arange(144.0)), (eta, 0.5 * seen, rows, columns, 0.05, 9)
    else:
        edges, logs, *rest = example.problem()
        x, rest = 0.5 * logs, (edges, *rest)
    value, gradient = by_hand(name)(x, *rest)
    assert value == pytest.approx(example.loss(x, *rest), rel=1e-12)
    direction = np.random.default_rng(3).standard_normal(x.shape)
    want = directional_difference(lambda x: example.loss(x, *rest), x, direction, 1e-6)
    np.testing.assert_allclose(np.sum(gradient * direction), want, rtol=1e-6)


def test_lstm():
    example = load_file(EXAMPLES / "lstm.py")
    params, xs = example.initial(3), example.series(8)
    value, gradient = by_hand("lstm")(params, xs)
    assert value == pytest.approx(example.loss(params, xs), rel=1e-12)
    for name, given in params.items():
        direction = np.random.default_rng(3).standard_normal(np.shape(given))

        def along(moved):
            return example.loss({**params, name: moved}, xs)

        want = directional_difference(along, given, direction, 1e-6)
        np.testing.assert_allclose(np.sum(gradient[name] * direction), want, rtol=1e-6)


def test_digits():
    rewritten = load_file(HERE / "benchmarks" / "rivals.py").rewritten
    example = rewritten(EXAMPLES / "digits.py", "import numpy as np", {})
    loss = example["loss"]
    rng = np.random.default_rng(2)
    params = example["initial"]((8, 6, 5, 4))
    X = rng.standard_normal((7, 8))
    y = rng.integers(0, 4, 7)
    value, gradient = by_hand("digits")(params, X, y)
    assert value == pytest.approx(loss(params, X, y), rel=1e-14)
    assert len(gradient) == len(params)
    for layer, layer_bar in zip(params, gradient, strict=True):
        for name, array in layer.items():
            direction = rng.standard_normal(array.shape)

            def along(moved):
                layer[name] = moved
                return loss(params, X, y)

            want = directional_difference(along, array, direction, 1e-6)
            layer[name] = array
            got = np.sum(layer_bar[name] * direction)
            np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-8)
