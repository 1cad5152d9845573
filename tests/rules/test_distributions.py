"""The rules of rules/distributions.py: each draw again and again from the same state."""

import random

import numpy as np
import pytest

from s2sad.registry import load_rules, rule_for

A, B = np.array([0.3, 1.7, 0.9]), np.array([1.2, 2.4, 2.8])
TWO = ["normal", "laplace", "logistic", "gumbel", "uniform", "lognormal"]
ROWS = [
    (make, name, args, size)
    for make in (np.random.default_rng, np.random.RandomState)
    for names, args in ((TWO, (A, B)), (TWO, (0.3, 1.2)), (TWO, (A, 1.9)), (TWO, (0.1, B)))
    for name in names
    for size in (None, (2, 3))
] + [
    (make, name, args, size)
    for make in (np.random.default_rng, np.random.RandomState)
    for name in ("exponential", "rayleigh")
    for args in ((A,), (0.7,))
    for size in (None, (2, 3))
]
ROWS += [(random.Random, name, (0.3, 1.2), None) for name in ("gauss", "normalvariate", "uniform")]


@pytest.mark.parametrize("make, name, args, size", ROWS)
def test_rule(make, name, args, size):
    load_rules()
    settings = {} if make is random.Random else {"size": size}
    rule = rule_for(getattr(type(make(0)), name))

    def drawn(*args):
        return getattr(make(7), name)(*args, **settings)

    out = drawn(*args)
    out_bar = np.cos(np.arange(np.size(out)) + 1.0).reshape(np.shape(out))
    bars = rule.pullback(out_bar, out, *args, **settings)
    bars = bars if isinstance(bars, tuple) else (bars,)
    for i, (bar, arg) in enumerate(zip(bars, args, strict=True)):
        assert np.shape(bar) == np.shape(arg)
        way = np.sin(np.arange(np.size(arg)) + 2.0).reshape(np.shape(arg))
        moved = [drawn(*args[:i], arg + h * way, *args[i + 1 :]) for h in (1e-6, -1e-6)]
        slope = np.sum(out_bar * (moved[0] - moved[1])) / 2e-6
        assert np.sum(bar * way) == pytest.approx(slope, rel=1e-6, abs=1e-7)
        dots = [None] * len(args)
        dots[i] = way
        out_dot = rule.pushforward(out, *args, *dots, **settings)
        assert np.sum(out_bar * out_dot) == pytest.approx(np.sum(bar * way), rel=1e-12, abs=1e-12)
