"""The path is noted where it must be, and the backward sweep takes it in reverse."""

import numpy as np
import pytest

import s2sad


def asks_again(x, n):
    if n > 2.0:
        y = x * x
    elif n > 1.0:
        y = x * 3.0
    else:
        y = x
    return y


def overwrites_its_test(x, n):
    if x > 2.0:
        x = x * 0.1
    elif x > 1.0:
        x = x * x * 3.0
    else:
        x = x + x
    return x * x


def in_a_loop(x, n):
    s = 0.0
    for i in range(5):
        if s > n:
            s = s * 0.5 * x
        else:
            s = s + x * x
    return s


def asks_much(x, n):
    for _ in range(3):
        if np.sin(x) > 0.1 * n:
            x = x * x
        else:
            x = x * 0.5
    return x


def ends_early(x, n):
    s = x
    for i in range(10):
        if s > n:
            break
        s = s * (1.0 + x)
    return s


def goes_on(x, n):
    while x < n:
        x = x * x + 0.5
    return x


def bounds_that_change(x, n):
    k = int(n) + 2
    for i in range(k):
        k = k - 1
        x = x * 1.5 + i * x
    return x


def nested(x, n):
    s = x
    for i in range(3):
        j = i
        while s * j < n:
            j = j + 1
            if j == 2:
                continue
            s = s + x * j
            if s > 10.0:
                break
    return s


def matched(x, n):
    for i in range(4):
        match i:
            case 0 | 2:
                x = x * x
            case 1:
                continue
            case _:
                x = x * n
    return x


FUNCTIONS = [
    *(
        asks_again,
        overwrites_its_test,
        in_a_loop,
        asks_much,
        ends_early,
        goes_on,
        bounds_that_change,
    ),
    *(nested, matched),
]


@pytest.mark.parametrize("fn", FUNCTIONS, ids=lambda fn: fn.__name__)
def test_every_path(fn):
    derived = s2sad.grad(fn)
    texts = set()
    for x in (0.6, 1.3, 2.2):
        for n in (0.5, 1.5, 2.5, 7.0):
            h = 1e-6
            slope = (fn(x + h, n) - fn(x - h, n)) / (2 * h)
            assert derived(x, n) == pytest.approx(slope, rel=1e-6, abs=1e-6), (x, n)
            texts.add(derived.source(x, n))
    assert len(texts) == 1


@pytest.mark.parametrize(
    "fn, noted",
    [(asks_again, False), (overwrites_its_test, False), (in_a_loop, False), (asks_much, True)],
    ids=lambda c: getattr(c, "__name__", ""),
)
def test_a_test_is_asked_again_where_that_is_right(fn, noted):
    report = s2sad.explain(fn, args=(1.0, 2.0))
    assert any("which way" in v.why_saved for v in report.variables) is noted


def test_a_test_is_run_once():
    asked = []

    def big(v):
        asked.append(v)
        return v > 1.0

    def f(x):
        if big(float(np.float64(3.0))):
            return x * x
        return x

    assert s2sad.grad(f)(3.0) == 6.0
    assert len(asked) == 1
