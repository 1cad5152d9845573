"""Arrays that are written as a whole: sums before writes, one copy for all readers, no views."""

import copy

import numpy as np
import pytest
from test_kept_on_program import derived, test_gradients_are_those_of_differences

import s2sad


def by_one_another(x, A):
    u, v = x * 1.0, A[0] * x
    u *= v
    v *= u
    return np.sum(u * u) + np.sum(v)


def in_rounds(x, A):
    u, v = x * 1.0, A[1] * 1.0
    for _ in range(3):
        u *= v
        v *= u
        v[...] = v - 0.1 * u * v
    return np.sum(u * v)


def in_no_round(x, s):
    u, v = x * s, x * 2.0
    for _ in range(int(s - 0.6)):
        u *= v
        v *= u
    return np.sum(u * v)


def of_one_memory(x):
    u = x * 1.0
    v = u[::-1]
    u *= x
    v *= u
    u *= v
    return np.sum(u * v)


def seen_through_a_view(x):
    u = x * 1.0
    w = u[1:]
    w *= x[:-1]
    w[...] = np.sin(w) * u[:-1]
    u *= 2.0
    return np.sum(u * u)


def with_a_view_that_is_written_by_rows(A):
    M = A * 1.0
    w = M[:, 1:3]
    for i in range(3):
        w[i] *= A[i, :2]
        w *= w[i, 0]
        M[i + 1, 1:] = w[i, 0] * M[i, 1:]
    return np.sum(M * w[0, 1])


def on_one_arm(x, s):
    u, v = x * 1.0, x * 3.0
    for i in range(3):
        if x[i] > 0.0:
            u *= v
        else:
            v *= u * s
        u[i] *= v[i]
    return np.sum(u * v)


def read_in_between(x, A):
    u, v = x * 1.0, A[0] * 1.0
    u *= v
    s = np.sum(u)
    v *= u * s
    u /= 2.0 + v * v
    v -= u * v
    return np.sum(u * v) * s


def copied_and_written(x):
    u = x * 1.0
    v = u.copy()
    u *= v
    v[1:] *= u[:-1]
    u[:] = u * v
    return np.sum(u * v * x)


def left_by_an_exception(x):
    u, v = x * 1.0, x * 2.0
    try:
        u *= v
        v *= u
        if v[0] > 0.5:
            raise ValueError
        u *= v
    except ValueError:
        v = v * 3.0
    return np.sum(v) + x[0]


PROGRAMS = [
    by_one_another,
    in_rounds,
    in_no_round,
    of_one_memory,
    seen_through_a_view,
    with_a_view_that_is_written_by_rows,
    on_one_arm,
    read_in_between,
    copied_and_written,
    left_by_an_exception,
]


@pytest.mark.parametrize("f", PROGRAMS[:-1], ids=lambda f: f.__name__)
def test_gradients(f):
    test_gradients_are_those_of_differences(f)


@pytest.mark.parametrize("x", [np.array([0.2, -0.3, 0.4, 0.5]), np.array([0.9, 0.3, 0.2, 1.5])])
def test_what_an_exception_leaves_half_done(x):
    try:
        gradient = s2sad.grad(left_by_an_exception)(x)
    except s2sad.Error:
        return
    h = 1e-6
    for i, g in enumerate(gradient):
        e = np.eye(4)[i] * h
        slope = (left_by_an_exception(x + e) - left_by_an_exception(x - e)) / (2 * h)
        assert g == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("f", [by_one_another, in_rounds, of_one_memory, read_in_between])
def test_pullbacks_may_run_again(f):
    given = {"x": np.array([0.7, -1.3, 0.4, 0.9]), "A": np.sin(np.arange(16.0)).reshape(4, 4)}
    args = [given[p] for p in f.__code__.co_varnames[: f.__code__.co_argcount]]
    held = copy.deepcopy(args)
    _, pullback = s2sad.vjp(f, *args)
    want = s2sad.grad(f, wrt=tuple(range(len(args))))(*held)
    for a in args:
        a[...] = 7.0  # what a caller writes later is nothing to the pullback
    for _ in range(2):
        found = pullback(1.0)
        found = found if isinstance(found, tuple) else (found,)
        for mine, theirs in zip(found, want, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_a_sum_stands_before_the_write_into_what_it_reads():
    _, text = derived(by_one_another)
    assert "t_bar += v_bar * v\n    v_bar *= u\n" in text
    assert "v_bar[...]" not in text
    assert "v_bar = np.full_like(v, 1.0)" in text


def test_one_copy_serves_all_readers():
    text = s2sad.source(by_one_another, mode="vjp", args=(np.ones(4), np.ones((4, 4))))
    assert text.count("v.copy()") == 1


def test_memory_that_is_written_in_between_is_copied_twice():
    def f(x):
        u, v = x * 1.0, x * 2.0
        u *= v
        v[0] = u[1]
        u *= v
        v *= u
        return np.sum(u * v)

    _, text = derived(f)
    test_gradients_are_those_of_differences(f)
    assert text.count("v.copy()") == 2
    assert "v[0].copy()" not in text


def test_a_number_in_all_places_is_full():
    def f(A, B):
        A *= B
        return np.sum(A)

    args = np.ones(3, np.float32), np.ones(3, np.float32)
    assert "np.full_like(" in s2sad.source(f, mode="vjp", args=args)
    assert s2sad.vjp(f, *args)[1](1.0)[0].dtype == np.float32


def test_a_part_is_multiplied_in_place():
    def f(x):
        u = x * 1.0
        w = u[1:]
        for _ in range(2):
            w *= 0.9
        return np.sum(u * u)

    _, text = derived(f)
    test_gradients_are_those_of_differences(f)
    assert "u_bar[slice_1] *= 0.9" in text


def test_a_part_that_is_picked_is_no_view():
    def f(x):
        u = x * 1.0
        w = u[np.array([0, 2, 3])]
        w *= 0.9
        w[...] = w * x[1:]
        return np.sum(u * u) + np.sum(w * w)

    test_gradients_are_those_of_differences(f)


def means_of_squares(x, A):
    u = A * x
    h = np.tanh(u @ A)
    return np.mean(h[1:] * x) * np.sum(u * h)


def of_a_copy_that_is_written(x):
    u = x * 1.0
    v = u.copy()
    u[0] = 2.0 * x[1]
    s = np.sum(v * u)
    v *= u
    return np.dot(v, u) * s


@pytest.mark.parametrize("f", [means_of_squares, of_a_copy_that_is_written])
def test_calls_that_read_copies(f):
    test_gradients_are_those_of_differences(f)


def test_a_call_reads_no_copy():
    def f(x, A):
        h = np.tanh(A @ x)
        return np.sum(np.outer(h, x) * np.broadcast_to(x, (4, 4)))

    def layers(p, x):
        h = np.tanh(x @ p["W"])
        return np.sum(h * p["b"])

    p = {"W": np.eye(3), "b": np.ones(3)}
    text = s2sad.grad(layers).source(p, np.ones((2, 3)))
    assert ".copy()," not in text, text
    test_gradients_are_those_of_differences(f)


def read_twice_and_written(x):
    u = x * 1.0
    for _ in range(2):
        u *= np.cos(u)
        u /= 1.5 + np.sin(u)
        u[1:] *= u[:-1] * np.cos(u[1:])
    return u @ u


def test_what_an_operation_in_the_place_of_another_one_writes_is_noted():
    """A product is put together anew where its factors are what they were, and nowhere else."""
    test_gradients_are_those_of_differences(read_twice_and_written)
    test_pullbacks_may_run_again(by_one_another)
