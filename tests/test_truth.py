"""Tests that kinds decide: an option that is not given is None, and None is false."""

import numpy as np
import pytest

import s2sad

X = np.array([0.3, 1.2, 2.2, 0.7])


def or_nothing(x, options=None):
    options = options or {}
    return options.get("scale", 2.0) * np.sum(x**2)


def spread(x, options=None):
    options = {"scale": 2.0, **(options or {})}
    return options["scale"] * np.sum(x**2)


def updated(x, options=None):
    known = dict(scale=2.0, tolerance=1e-3)
    known.update(options or {})
    return known["scale"] * np.sum(x**2)


def functions(x, given=None):
    for f in given or [np.sin, np.cos]:
        x = f(x)
    return np.sum(x)


def callback(x, given=None):
    for k in range(3):
        x = x - 0.1 * x**2
        if given:
            given(k)
    return np.sum(x)


def bounds(x, given=()):
    if given:
        x = np.clip(x, *given)
    if not given:
        x = x * 2.0
    return np.sum(x**2)


def weights(x, given=None):
    w = given if given is not None else np.ones_like(x)
    return np.sum(w * x**2)


def later(x):
    best = None
    for v in x:
        if not best or v * v < best:
            best = v * v
    return best * x[1]


ROWS = [
    (or_nothing, {}),
    (or_nothing, {"options": {"scale": 3.0}}),
    (spread, {}),
    (spread, {"options": {"scale": 3.0}}),
    (updated, {}),
    (updated, {"options": {"scale": 3.0}}),
    (functions, {}),
    (functions, {"given": [np.exp]}),
    (callback, {}),
    (callback, {"given": lambda k: k}),
    (bounds, {}),
    (bounds, {"given": (0.5, 2.0)}),
    (weights, {}),
    (weights, {"given": np.arange(4.0)}),
    (later, {}),
]


@pytest.mark.parametrize("fn, given", ROWS)
def test_gradient(fn, given):
    value, gradient = s2sad.value_and_grad(fn)(X, **given)
    assert value == fn(X, **given)
    slopes = [(fn(X + e, **given) - fn(X - e, **given)) / 2e-6 for e in np.eye(4) * 1e-6]
    assert gradient == pytest.approx(slopes, rel=1e-6, abs=1e-8)


def test_one_derivative_for_each_kind():
    gradient = s2sad.grad(or_nothing)
    assert gradient(X) == pytest.approx(4.0 * X)
    assert gradient(X, {"scale": 3.0}) == pytest.approx(6.0 * X)
    assert gradient(X, None) == pytest.approx(4.0 * X)
    assert gradient(X, {}) == pytest.approx(4.0 * X)


def test_what_is_decided_leaves_no_branch():
    assert "if" not in s2sad.grad(callback).source(X).split('"""')[-1]


def many(*parts):
    if len(parts) == 2:
        return parts[0] * parts[1]
    if len(parts) > 2:
        return parts[0] * np.sum(parts[2])
    return 2.0 * parts[0]


def counted(x):
    return np.sum(many(x, x)) + np.sum(many(x)) + np.sum(many(x, 1.0, x))


def complex_or_not(x):
    if np.iscomplexobj(x) and x.shape:
        return np.sum(np.abs(x))
    return np.sum(x**2) if np.isrealobj(x) else 0.0


@pytest.mark.parametrize("fn", [counted, complex_or_not])
def test_what_kinds_count(fn):
    test_gradient(fn, {})
    assert "iscomplexobj" not in s2sad.grad(fn).source(X)


def two_masks(x):
    return x * (x > 1.0) + (x > 0.0) * x


def masks_apart(x):
    m, n = x > 1.0, x > 0.0
    return np.sum(m * x) + np.sum(n * x) - np.sum((x > 5.0) * x)


def masks_combined(x):
    both, either = (x > 1.0) & (x < 5.0), np.logical_or(x > 1.0, x < 0.0)
    return np.sum(x * both + x * np.isfinite(x) + ~either * x)


def truth_values(x):
    m = np.array([True, False, True])
    return sum(v * m[i] + v * (not m[i]) + (0.0 < v < 9.0) * v for i, v in enumerate(x))


def negative_masks(x):
    return np.sum((x > 9.0) * x) - np.sum((x > 1.0) * x) - np.sum(np.asarray(x > 0.0) * x)


MASKED = np.array([2.0, 0.5, -1.0])


@pytest.mark.parametrize(
    "fn, x, slope",
    [
        (two_masks, 2.0, 2.0),
        (two_masks, np.float64(2.0), 2.0),
        (two_masks, np.array(2.0), 2.0),
        (lambda x: np.sum(two_masks(x)), MASKED, [2.0, 1.0, 0.0]),
        (masks_apart, MASKED, [2.0, 1.0, 0.0]),
        (masks_combined, MASKED, [2.0, 2.0, 1.0]),
        (truth_values, MASKED, [2.0, 2.0, 1.0]),
        (negative_masks, MASKED, [-2.0, -1.0, 0.0]),
    ],
)
def test_truth_values_add_up_as_numbers(fn, x, slope):
    for found in (s2sad.grad(fn)(x), s2sad.vjp(fn, x)[1](1.0)):
        assert np.asarray(found).dtype == np.float64
        assert np.asarray(found).tolist() == slope
