"""What a call costs beside the derivative itself, counted in calls of Python functions."""

import dis
import sys

import numpy as np
import pytest

import s2sad


def calls_of(run):
    """Return how many Python functions a call calls, once it has been made before."""
    for _ in range(3):
        run()
    count = 0

    def note(frame, event, arg):
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count


def recurrence(x, w):
    h = 0.0
    for i in range(len(x)):
        h = np.tanh(w * h + x[i])
        if h > 0.9:
            h = h - 0.1 * w
    return h


def weighted(x, p):
    return np.sum(np.sin(x) * p["k"]) + p["b"]


class Plain:
    def run(self, x):
        return x * x


class Counting:
    def __init__(self):
        self.calls = 0

    def run(self, x):
        self.calls += 1
        return x * x


X = np.array([0.5, -0.3])
FUNCTIONS = [(recurrence, (X, 0.5)), (weighted, (X, {"k": 2.0, "b": 0.5})), (Plain().run, (X,))]


@pytest.mark.parametrize(("f", "args"), FUNCTIONS)
def test_vjp_and_jvp_look_at_no_code_again(f, args, monkeypatch):
    """They were 600 to 800 calls, most of them by `dis`, and more of longer functions."""
    tangents = s2sad.tree_map(np.ones_like, args)
    s2sad.vjp(f, *args)
    s2sad.jvp(f, args, tangents)
    monkeypatch.setattr(dis, "get_instructions", None)
    assert calls_of(lambda: s2sad.vjp(f, *args)) < 450
    assert calls_of(lambda: s2sad.jvp(f, args, tangents)) < 520


def test_vjp_sees_another_code():
    def f(x, k):
        return x * x

    def g(x, k):
        return x * k

    assert s2sad.vjp(f, 3.0, 2.0)[1](1.0) == (6.0, 0.0)
    f.__code__ = g.__code__
    assert s2sad.vjp(f, 3.0, 2.0)[1](1.0) == (2.0, 3.0)


# --- the derivative of a number by a number ------------------------------------------------------


def powers(x, k=3):
    return x**k


def in_a_row(x, a):
    return a * x * x


def beside(x):
    return x * x, {"sin": np.sin(x), "word": "a", "n": 3}


def complex_valued(x):
    return np.exp(1j * x)


CALLS = [
    (powers, (0.5,)),
    (powers, (0.5, 2)),
    (powers, (2,)),
    (powers, (np.float32(0.5),)),
    (powers, (np.array([0.5, 2.0]),)),
    (powers, (0.5,)),
    (in_a_row, (0.5, 2.0)),
    (in_a_row, (0.5, X)),
    (in_a_row, (0.5, X.astype(np.float32))),
    (in_a_row, (0.5, 1j)),
    (beside, (0.5,)),
    (complex_valued, (0.5,)),
]


@pytest.mark.parametrize("mode", ["forward", "auto"])
@pytest.mark.parametrize("f", [powers, in_a_row, beside, complex_valued])
def test_one_column_is_what_all_columns_are(f, mode):
    """In whatever order arguments of several kinds are given, by the same operator."""
    jacobian = s2sad.jacobian(f, mode=mode)
    mine = [args for fn, args in CALLS if fn is f]
    for args in [*mine, *mine, *reversed(mine)]:
        got, wanted = jacobian(*args), s2sad.jacobian(f, mode="reverse")(*args)
        assert repr(s2sad.tree_map(type, got)) == repr(s2sad.tree_map(type, wanted))
        found, expected = s2sad.ravel(got)[0], s2sad.ravel(wanted)[0]
        assert found == pytest.approx(expected, rel=1e-6)


def test_one_column_by_keywords_and_with_other_defaults():
    def f(x, k=3):
        return x**k

    jacobian = s2sad.jacobian(f, mode="forward")
    for _ in range(3):
        assert jacobian(2.0, 3) == jacobian(2.0) == jacobian(x=2.0) == pytest.approx(12.0)
    f.__defaults__ = (2,)
    assert jacobian(2.0) == pytest.approx(4.0)
    assert jacobian(2.0, 2) == pytest.approx(4.0)


def test_one_column_has_aux_and_runs_once():
    ran = []

    def f(x):
        ran.append(1)
        return x * x, "aux"

    jacobian = s2sad.jacobian(f, mode="forward", has_aux=True)
    for round_ in range(3):
        assert jacobian(3.0) == (6.0, "aux")
        assert len(ran) == round_ + 1


def test_a_forward_jacobian_of_a_number_costs_little_more_than_grad():
    """It was 260 calls."""
    jacobian = s2sad.jacobian(powers, mode="forward")
    assert calls_of(lambda: jacobian(0.5, 3)) < 40


# --- objects that count --------------------------------------------------------------------------


def through(x, model):
    return np.sum(model.run(x)) * 2.0


@pytest.mark.parametrize("make", [s2sad.grad, s2sad.value_and_grad])
def test_an_object_that_counts_its_calls_costs_little(make):
    """They were 120 calls more than for an object that does not."""
    derivative, model = make(through), Counting()
    assert calls_of(lambda: derivative(X, model)) - calls_of(lambda: derivative(X, Plain())) < 35
    assert model.calls == 0


def test_a_method_that_counts_its_calls_costs_little():
    model = Counting()
    assert calls_of(lambda h=s2sad.grad(model.run): h(0.5)) < 60
    assert model.calls == 0


class Holding:
    def __init__(self, w):
        self.calls, self.w, self.seen = 0, w, []

    def run(self, x):
        self.calls += 1
        self.w[0] = self.w[0] * 2.0
        return np.sum(self.w * x)

    def note(self, x):
        self.seen.append(self.calls)
        return np.sum(self.w * x)


def both(x, one, other):
    return one.run(x) + other.run(x)


def test_what_is_written_by_two_ways_is_refused_at_every_call():
    w = np.ones(2)
    gradient = s2sad.grad(both)
    for _ in range(3):
        gradient(X, Holding(np.ones(2)), Holding(np.ones(2)))
        with pytest.raises(s2sad.AliasError):
            gradient(X, Holding(w), Holding(w))
    single = s2sad.grad(lambda x, o: o.run(x))
    for _ in range(3):
        single(X, Holding(np.ones(2)))
        with pytest.raises(s2sad.AliasError):
            single(w, Holding(w))


def test_an_object_that_notes_and_one_that_stands_outside():
    model = Holding(np.array([2.0, 3.0]))
    gradient = s2sad.grad(lambda x, o: o.note(x) * 2.0)
    for _ in range(3):
        assert gradient(X, model) == pytest.approx([4.0, 6.0])
    assert model.seen == []
    kept = [model]
    outside = s2sad.grad(lambda x, o: o.note(x) + len(kept[0].seen))
    for _ in range(3):
        try:
            assert outside(X, Holding(np.array([2.0, 3.0]))) == pytest.approx([2.0, 3.0])
        except s2sad.Error:
            break
