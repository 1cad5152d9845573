"""Rules that are linear: each is the other's derivative, given by position, keyword or many."""

import numpy as np
import pytest

from s2sad.registry import is_rule, rule_for

A, B = np.array([0.3, -0.7, 1.2, 0.4]), np.array([1.0, 2.0])


def pair(fn):
    rule = rule_for(fn)
    return rule.pullback, rule.pushforward


def test_what_is_no_linear_rule_has_none():
    assert rule_for(rule_for(np.cumprod).pullback) is None
    assert is_rule(rule_for(np.cumprod).pullback) and not is_rule(np.cumprod)


@pytest.mark.parametrize(
    "fn, args, settings",
    [
        (np.pad, (A,), {"pad_width": 2, "mode": "wrap"}),
        (np.pad, (A,), {"pad_width": (1, 2), "constant_values": (0.5, -2.0)}),
        (np.take, (A, np.array([1, 1, 0])), {}),
        (np.append, (A, B), {}),
        (np.meshgrid, (A, B), {"indexing": "ij"}),
    ],
)
def test_rules_of_rules_are_transposes(fn, args, settings):
    pull, push = pair(fn)
    rng = np.random.default_rng(0)
    out = fn(*args, **settings)
    if fn is np.take:
        settings, args = {"indices": args[1]}, args[:1]
    if fn is np.pad:
        settings = dict(settings)
        values = settings.pop("constant_values", None)
        args = (*args, None if values is None else np.array(values))
    bars = pull(out, out, *args, **settings)
    bars = bars if isinstance(bars, tuple) else (bars,)
    dots = [None if b is None else rng.normal(size=b.shape) for b in bars]
    given = dots if len(dots) > 1 or fn is np.meshgrid else dots[0]
    of_pull = rule_for(pull)
    assert of_pull.derivative_of is not None
    back = of_pull.pullback(given, bars, out, out, *args, **settings)
    assert _inner(back[0], out) == pytest.approx(_inner(dots, bars), rel=1e-13)
    assert _nothing(back[1:])
    of_push = rule_for(push)
    tangent = push(out, *args, *dots, **settings)
    back = of_push.pullback(out, tangent, out, *args, *dots, **settings)
    assert len(back) == 1 + 2 * len(dots) and _nothing(back[: 1 + len(dots)])
    assert _inner(back[1 + len(dots) :], dots) == pytest.approx(_inner(tangent, out), rel=1e-13)
    again = of_push.pushforward(
        tangent, out, *args, *dots, None, *(None for _ in args), *dots, **settings
    )
    assert _inner(again, again) == pytest.approx(_inner(tangent, tangent), rel=1e-15)


def _inner(x, y):
    if isinstance(x, tuple | list):
        return sum(_inner(p, q) for p, q in zip(x, y, strict=True))
    assert (x is None) == (y is None)
    return 0.0 if x is None else float(np.sum(x * y))


def _nothing(part):
    """Say whether a cotangent is zero: None, or zeros, or a structure of these."""
    if isinstance(part, tuple | list):
        return all(_nothing(p) for p in part)
    return part is None or not np.any(part)
