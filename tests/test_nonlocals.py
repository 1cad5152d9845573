"""Inner functions that rebind outer variables: they take these, and give them back."""

import numpy as np
import pytest

import s2sad


def summed(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * v

    for v in x:
        add(v)
    return total


def in_operands(x):
    s, n = 0.0, 0

    def add(v):
        nonlocal s, n
        n += 1
        s = s * 0.5 + v
        return s * n

    t = 0.0
    for v in x:
        t += add(v) * s
    return t + s


def read_before_the_call(x):
    s = x[0]

    def doubled():
        nonlocal s
        s = s * 2.0
        return s

    return s + doubled() * s + (doubled() if s > 0 else s)


def by_another(x):
    s = x[0]

    def inner(v):
        nonlocal s
        s = s * v
        return s

    def outer(v):
        return inner(v) + s

    return sum([outer(v) for v in x]) * s


def from_further_inside(x):
    s = 0.0

    def g(v):
        def h(w):
            nonlocal s
            s += w * w

        h(v)
        h(2 * v)
        return s

    return (g(x[0]) + g(x[1])) * s


def by_keyword(x):
    y = x[0]

    def scale(k=2.0, *, by=1.0):
        nonlocal y
        if y > 100:
            return None
        y = y * k + by

    scale()
    scale(by=x[1])
    while y < 50.0:
        scale(k=x[1] + 2)
    return y


def of_state(x):
    state, t = np.zeros(3), 0.0

    def step(dt):
        nonlocal state, t
        state = state + dt * (x - state)
        t = t + dt

    for _ in range(5):
        step(0.1)
    return np.sum(state**2) * t


def of_the_best(x):
    best, count = None, 0

    def consider(v):
        nonlocal best, count
        count += 1
        if best is None or v < best:
            best = v

    for v in x:
        consider(v * v + 1)
    return best * count


def of_itself(x):
    s = 1.0

    def multiply(k):
        nonlocal s
        if k < 0:
            return
        s = s * x[k]
        multiply(k - 1)

    multiply(len(x) - 1)
    return s


def mapped(x):
    s, n = 0.0, 0

    def weighted(v):
        nonlocal s, n
        n += 1
        s += v
        return v * s

    return sum(map(weighted, x)) * n


def in_a_test(x):
    left = 3.0

    def spend(v):
        nonlocal left
        left -= v
        return left > 0.5

    s = 0.0
    while spend(x[0]) and spend(x[1]):
        s += left * left
    return s + left


def binds_last_in_a_try(x):
    s = x[0]

    def halve(v):
        nonlocal s
        if v < 0:
            raise ValueError
        s = s / v

    for v in (1.5, -1.0, 2.0):
        try:
            halve(v * x[1])
        except ValueError:
            s = s + 1.0
    return s * s


def into_the_target(x):
    i, out = 0, np.zeros(4)

    def following(v):
        nonlocal i
        i += 1
        return v * i

    for v in x:
        out[i] = following(v)
    return np.sum(out * out)


def bound_in_what_is_returned(x):
    s = x[2]

    def times(v):
        nonlocal s
        return (s := s * v)

    return times(x[0]) + s * times(x[1])


def handed_through(x):
    s = x[2]

    def both():
        nonlocal s

        def times(v):
            nonlocal s
            s = s * v
            return s

        return times(x[0]) + times(x[1])

    return both() * s


FOLLOWED = [
    bound_in_what_is_returned,
    handed_through,
    summed,
    in_operands,
    read_before_the_call,
    by_another,
    from_further_inside,
    by_keyword,
    of_state,
    of_the_best,
    of_itself,
    mapped,
    in_a_test,
    binds_last_in_a_try,
    into_the_target,
]
X, D = np.array([0.7, 0.4, 1.2]), np.array([0.3, -0.5, 0.8])


@pytest.mark.parametrize("fn", FOLLOWED, ids=lambda f: f.__name__)
def test_both_modes(fn):
    x = X.copy()
    slope = (fn(x + 1e-6 * D) - fn(x - 1e-6 * D)) / 2e-6
    value, x_bar = s2sad.value_and_grad(fn)(x)
    assert value == fn(x)
    assert x_bar @ D == pytest.approx(slope, rel=1e-7, abs=1e-8)
    value, tangent = s2sad.jvp(fn, (x,), (D,))
    assert value == fn(x)
    assert tangent == pytest.approx(slope, rel=1e-7, abs=1e-8)
    np.testing.assert_array_equal(x, X)


def test_the_text_shows_the_statements_of_the_source():
    text = s2sad.grad(summed).source(X)
    assert "# add(v)" in text and "nonlocal total" not in text
    assert "# t += add(v) * s" in s2sad.grad(in_operands).source(X)


def handed_on(x):
    s = x[0]

    def double():
        nonlocal s
        s = s * 2.0

    for f in [double, double]:
        f()
    return s * s


def looked_at(x):
    s = x[0]

    def double():
        nonlocal s
        s = s * 2.0
        return now()

    now = lambda: s  # noqa: E731
    return double() * s


def left_half_way(x):
    s = x[0]

    def update(v):
        nonlocal s
        s = s * v
        if v > 1.0:
            raise ValueError
        s = s + 1.0

    try:
        update(x[1] + 2.0)
    except ValueError:
        s = s * 3.0
    return s


def unbound(x):
    def start():
        nonlocal s
        s = x[0] * x[1]

    start()
    if x[0] > 100.0:
        s = 0.0
    return s


@pytest.mark.parametrize(
    "fn", [handed_on, looked_at, left_half_way, unbound], ids=lambda f: f.__name__
)
def test_what_cannot_be_followed_is_refused(fn):
    with pytest.raises(s2sad.Error, match="inner function rebinds it|rebinds `s`|nonlocal"):
        s2sad.grad(fn)(X)
    with pytest.raises(s2sad.Error, match="inner function rebinds it|rebinds `s`|nonlocal"):
        s2sad.jvp(fn, (X,), (D,))


def remembered(x):
    memo = {}

    def value(n):
        if n in memo:
            return memo[n]
        r = x[0] * n if n < 2 else value(n - 1) * x[1] + value(n - 2)
        memo[n] = r
        return r

    return value(6)


def counted_down(x):
    seen = []

    def down(n):
        if n > 0:
            down(n - 1)
            seen.append(x[0] * n)
        return seen[-1] * len(seen) if seen else 1.0

    return down(3) * x[1]


@pytest.mark.parametrize("fn", [remembered, counted_down], ids=lambda f: f.__name__)
def test_what_a_recursion_leaves_in_captured_memory(fn):
    slope = (fn(X + 1e-6 * D) - fn(X - 1e-6 * D)) / 2e-6
    assert s2sad.grad(fn)(X) @ D == pytest.approx(slope, rel=1e-7)
    assert s2sad.jvp(fn, (X,), (D,))[1] == pytest.approx(slope, rel=1e-7)
