"""Dicts whose keys are not known before the program runs: what is refused, what the text says."""

import subprocess
import sys

import numpy as np
import pytest
from slopes import check

import s2sad
from s2sad import Const, Duplicated, Reverse, autodiff
from s2sad import kinds as K
from s2sad.known.open_dicts import literal_key, surely_has, with_entry
from s2sad.known.signature import key_of

X = np.array([0.7, 1.3, -0.4])


def active_key(x):
    d = {}
    d[x[0]] = x[1]
    return d[x[0]]


def active_key_asked(x):
    d = {0.5: x[1]}
    return d.get(x[0], 1.0) * x[1]


def grown_in_a_loop_over_it(x):
    d = {0: x[0]}
    for k in d:
        if k > 7:
            d[k + 1] = x[1]
    return d[0]


def emptied_in_a_loop_over_it(x):
    d = {0: x[0], 1: x[1]}
    for k, v in d.items():
        if v > 7.0:
            del d[k]
    return d[0]


def none_written_over(x):
    d = {}
    for i in range(3):
        d[i % 2] = None if i == 0 else x[i]
        d[i % 2] = x[0] * x[0]
    return d[0]


def written_by_an_inner_function(x):
    memo = {}

    def at(i):
        if i not in memo:
            memo[i] = x[i] * x[0]
        return memo[i]

    return at(0) * at(1)


def fibonacci(n, x, memo):
    if n < 2:
        return x[n]
    if n not in memo:
        memo[n] = fibonacci(n - 1, x, memo) + fibonacci(n - 2, x, memo) * x[2]
    return memo[n]


def memo_of_a_recursion(x):
    return fibonacci(6, x, {})


REFUSED = [
    (active_key, "A key of `d` depends on what is differentiated"),
    (active_key_asked, "A key of `d` depends on what is differentiated"),
]


@pytest.mark.parametrize("f, why", REFUSED, ids=lambda f: getattr(f, "__name__", ""))
def test_refused_by_name(f, why):
    with pytest.raises(s2sad.UnsupportedError, match=why):
        s2sad.grad(f)(X)


@pytest.mark.parametrize(
    "f",
    [grown_in_a_loop_over_it, emptied_in_a_loop_over_it, none_written_over, memo_of_a_recursion],
)
def test_entries_that_come_and_go(f):
    steps = 1e-6 * np.eye(len(X))
    expected = [(f(X + step) - f(X - step)) / 2e-6 for step in steps]
    assert s2sad.grad(f)(X) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def depth(n, seen):
    seen[n] = seen.get(n, 0) + 1
    return 1 if n < 1 else 1 + depth(n - 1, seen)


def counted_by_a_recursion(x):
    seen = {}
    return x[0] * x[1] * depth(3, seen) * len(seen)


def test_a_recursion_may_fill_a_dict_without_derivatives():
    want = np.array([X[1], X[0], 0.0]) * 16.0
    assert s2sad.grad(counted_by_a_recursion)(X) == pytest.approx(want)


def weighted(p, x):
    return sum(v * v * x[k] for k, v in p.items())


def test_one_source_serves_dicts_of_other_keys():
    derived = s2sad.grad(weighted)
    first, second = {0: 0.5, 2: 0.25}, {1: 2.0, 0: 1.0, 2: 0.5}
    assert derived(first, X) == {0: 2 * 0.5 * X[0], 2: 2 * 0.25 * X[2]}
    assert derived(second, X) == {1: 4.0 * X[1], 0: 2.0 * X[0], 2: X[2]}
    assert derived.source(first, X) == derived.source(second, X)
    assert key_of(first) == key_of(second) != key_of({"a": 0.5})
    assert key_of({0: 1.0, 1: X}) != key_of({0: 1.0, 2: X})


def grown(p, x):
    p[9] = p[3] * x[0]
    del p[3]
    p[3] = p[9] * p[1]
    return p[9] * p[3]


def test_a_gradient_has_the_keys_of_its_argument_in_their_order():
    p = {3: 0.5, 1: 2.0, 7: 1.0}
    gradient = s2sad.grad(grown)(p, X)
    assert list(gradient) == [3, 1, 7]
    assert gradient[7] == 0.0
    assert p == {3: 0.5, 1: 2.0, 7: 1.0}


def test_shadows_of_a_caller_accumulate():
    p, p_bar = {0: X * 1.0, 2: X + 1.0}, {0: np.zeros(3), 2: np.ones(3)}

    def energy(p, w):
        return sum(np.sum(v * v) * w[k] for k, v in p.items())

    value, _ = autodiff(Reverse, energy, Duplicated(p, p_bar), Const(X))
    assert value == energy(p, X)
    assert p_bar[0] == pytest.approx(2.0 * p[0] * X[0])
    assert p_bar[2] == pytest.approx(2.0 * p[2] * X[2] + 1.0)
    with pytest.raises(s2sad.UnsupportedError, match="its structure at the end differs"):
        autodiff(Reverse, grown_arrays, Duplicated(p, p_bar), Const(X))


def grown_arrays(p, x):
    for k in list(p):
        p[k + 1] = p[k] * x
    return np.sum(p[1])


def tables(x):
    return {(i, j): x[i] * x[j] for i in range(2) for j in range(2)}


def test_a_result_may_be_such_a_dict():
    value, pullback = s2sad.vjp(tables, X)
    assert value == tables(X)
    seed = {key: float(n) for n, key in enumerate(value)}
    given = dict(seed)
    want = [seed[0, 1] * X[1] + seed[1, 0] * X[1], 0.0, 0.0]
    want[1] = seed[0, 1] * X[0] + seed[1, 0] * X[0] + 2.0 * seed[1, 1] * X[1]
    for _ in range(2):
        assert pullback(seed) == pytest.approx(np.array(want))
    assert seed == given


def test_an_emitted_module_checks_what_it_was_derived_for(tmp_path):
    s2sad.grad(weighted).emit(tmp_path / "weighted_grad.py", {0: 0.5}, X)
    lines = [
        "import numpy as np, weighted_grad as m",
        "print(m.weighted_grad({0: 0.5, 1: 1.0}, np.ones(3)))",
        "try: m.weighted_grad({0: 'a'}, np.ones(3))",
        "except TypeError as error: print(error)",
    ]
    run = [sys.executable, "-c", "\n".join(lines)]
    out = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "was derived for p[0]: a float; given: 'a'" in out
    assert "{0:" in out.splitlines()[0]


def test_the_text_reads_as_written_by_hand():
    def recurrence(x, n):
        cache = {0: x}
        for i in range(1, n):
            cache[i] = 0.5 * cache[i - 1] + x
        return cache[n - 1]

    text = s2sad.grad(recurrence).source(1.3, 5)
    assert "cache_bar = dict.fromkeys(cache, 0.0)" in text
    assert "cache_bar[i - 1] += " in text
    assert "saved" not in text


def test_kinds_of_dicts_as_they_are_filled():
    empty = K.Dict(())
    known = with_entry(empty, K.Str("a"), K.FLOAT)
    assert known == K.Dict((("a", K.FLOAT),))
    opened = with_entry(known, K.Str(), K.FLOAT)
    assert opened == K.OpenDict(K.Str(), K.FLOAT)
    assert with_entry(empty, K.INT, K.FLOAT) == K.OpenDict(K.INT, K.FLOAT)
    assert K.join(known, with_entry(empty, K.Str("b"), K.FLOAT)) == opened
    assert K.join(empty, opened) == opened
    among = K.Str(K.MISSING, frozenset({"a"}))
    assert with_entry(known, among, K.FLOAT) == known
    assert surely_has(known, among) is True and surely_has(opened, among) is None
    assert K.join(among, K.Str("a")) == K.Str()
    pair = K.Tuple((K.Num("int", None, 1), K.Str("a")))
    assert literal_key(pair) == (1, "a") and literal_key(K.INT) is K.MISSING
    assert surely_has(known, K.Str("a")) is True
    assert surely_has(known, K.Str("b")) is False
    assert surely_has(known, K.Str()) is None and surely_has(opened, K.Str("a")) is None


def test_annotations_decide_such_dicts():
    def f(p: dict[int, float], x: float):
        return p[0] * x

    assert "p_bar" in s2sad.source(f, wrt="p")


def test_memo_of_an_inner_function():
    assert s2sad.grad(written_by_an_inner_function)(X) == pytest.approx(
        [3.0 * X[0] ** 2 * X[1], X[0] ** 3, 0.0]
    )


def halved(p):
    for _ in range(2):
        p = {k: 0.5 * v for k, v in p.items()}
    return np.sum(p["W"] @ p["b"]) ** 2 * p["s"]


def halved_by_key(p):
    for _ in range(2):
        p = {k: 0.5 * p[k] for k in p}
    return np.sum(p["W"] @ p["b"]) ** 2 * p["s"]


def same_keys(p):
    q = dict.fromkeys(p)
    r = dict.fromkeys(p, 2.0)
    q["b"] = p["b"] * 3.0
    q["s"] = p["s"] * r["W"]
    return np.sum(q["b"]) * q["s"]


@pytest.mark.parametrize("f", [halved, halved_by_key, same_keys])
def test_other_kinds_stay_apart_in_loops(f):
    check(f, {"W": np.arange(6.0).reshape(2, 3) / 3.0, "b": np.array([0.4, 0.7, -0.2]), "s": 1.5})
