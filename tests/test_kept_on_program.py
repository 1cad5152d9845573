"""What the backward sweep finds: memory put back, what it computes again, tapes of loops."""

import copy
import dataclasses
import inspect

import numpy as np
import pytest

import s2sad
from s2sad import kinds as K
from s2sad import pipeline
from s2sad.errors import UnsupportedError
from s2sad.known.pieces import lengths_given
from s2sad.operators.deriving import loaded, printed
from s2sad.operators.higher import HIGHER
from s2sad.requests import Request

GIVEN = {
    "x": np.array([0.7, -1.3, 0.4, 0.9]),
    "A": np.sin(np.arange(16.0)).reshape(4, 4),
    "s": 0.6,
}


def derived(f):
    """Return the value and gradient of a function in all its parameters, and the text of it."""
    args = [GIVEN[p] for p in inspect.signature(f).parameters]
    params = tuple(zip(inspect.signature(f).parameters, args, strict=True))
    kinds = tuple((n, K.kind_of(v, n)) for n, v in params)
    wrt = tuple(n for n, _ in params)
    request = Request(f, kinds, wrt, len(wrt) == 1, "value_and_grad")
    request = dataclasses.replace(request, lengths=tuple(lengths_given(wrt, args)))
    d = pipeline.derive(request, HIGHER)
    text = printed(d)
    return loaded(text, d)[d.entry], text.text


def slope(f, args, k, at):
    """Return the central difference of a function in an element of an argument."""
    found = []
    for h in (1e-6, -1e-6):
        moved = copy.deepcopy(args)
        if at is None:
            moved[k] += h
        else:
            moved[k][at] += h
        found.append(f(*moved))
    return (found[0] - found[1]) / 2e-6


def slopes(f, args):
    for k, a in enumerate(args):
        if isinstance(a, float):
            yield slope(f, args, k, None)
        else:
            yield np.array([slope(f, args, k, at) for at in np.ndindex(a.shape)]).reshape(a.shape)


# --- memory that is put back ---


def a_number_before_writes_that_no_array_reader_sees(x):
    u = x.copy()
    s = 0.0
    for i in range(4):
        s += u[i] * u[i]
    for i in range(1, 4):
        u[i] = 2.0
    for i in range(1, 4):
        s += np.sum(u * u)
        u[i] = np.sin(u[i - 1])
    return s


def a_mask_that_is_written_behind(x):
    u = x * 1.0
    m = x > 0.2
    s = np.sum(u * u * x[0] + u * np.sin(u))
    u[m] = 0.3 * s
    m[:] = True
    return s + np.sum(u * u * x[0] + u * np.sin(u))


def a_mask_that_is_written_each_round(x):
    u = x * 1.0
    m = u > 0.2
    s = 0.0
    for _ in range(3):
        s += np.sum(u * u * s + u * np.sin(u))
        u[m] = 0.3 * s
        m[:] = u < s
    return s


def a_mask_that_is_its_own_index(x):
    u = x * 1.0
    m = u > 0.1
    s = np.sum(u[m] * x[m])
    m[m] = False
    m[1] = True
    s += np.sum(u[m] * x[m])
    return s + np.sum(u)


def a_mask_in_an_index_of_two(A):
    M = A.copy()
    m = M[0] > 0.1
    s = np.sum(M * M * A[0, 0] + M * np.sin(M))
    M[m, 1] = 0.3 * s
    m[:] = True
    s += np.sum(M * M * A[0, 0] + M * np.sin(M))
    M[m, 1:] *= s
    m[1:] = False
    return s + np.sum(M)


def a_mask_in_an_index_that_is_read(A):
    M = A.copy()
    m = M[0] > 0.1
    s = 0.0
    for i in range(3):
        s += np.sum(M[m, i + 1] * M[m, i])
        m[i] = not m[i]
    return s + np.sum(M)


def a_rule_that_adds_at_an_index_twice(x):
    k = np.array([0, 1, 1])
    return np.sum(np.take(x, k) * np.take(x, k))


def a_constant_that_is_added_at_an_index_twice(x):
    c = np.zeros(4)
    np.add.at(c, np.array([0, 1, 1, 2]), 1.0)
    return np.sum(c * x * x)


def a_mesh_of_indices_that_change(A):
    k, m = np.array([0, 2]), np.array([1, 3])
    s = 0.0
    for _ in range(2):
        s += np.sum(A[np.ix_(k, m)] ** 2)
        k[0] = 1
        m -= 1
    return s


def a_mesh_of_which_the_last_changes(A):
    k, m = np.array([0, 2]), np.array([1, 3])
    s = 0.0
    for _ in range(2):
        s += np.sum(A[np.ix_(k, m)] ** 2)
        m[1] = 0
    return s


def bound_that_changes(x):
    b, s = np.array(1), 0.0
    for i in range(2):
        part = x[:b]
        s = s + np.sum(part * part) * x[i]
        b[...] = 3
    return s


def bound_that_changes_behind(x):
    b, s = np.array(1), 0.0
    for i in range(2):
        w = np.exp(x[:b])
        b[...] = 3
        s = s + np.sum(w) * x[i]
    return s


def written_around_the_end(x):
    u, s = np.zeros(4), 0.4
    for i in range(4):
        u[i] = np.sin(s) * x[i]
        u[i - 2] = np.cos(s) * x[i]
        s += x[i]
    return np.sum(u * u * np.arange(1.0, 5.0)) + s


def written_by_two_signs(x):
    u, s = np.zeros(4), 0.4
    for i in range(-2, 2):
        u[i] = np.sin(s) * x[i]
        u[i + 2] = np.cos(s) * x[i]
        s += x[i]
    return np.sum(u * u * np.arange(1.0, 5.0)) + s


def written_each_round(x):
    u, s = np.zeros(4), 0.4
    for i in range(4):
        u[1] = np.sin(s) * x[i]
        s += x[i]
        u[i] = s * s
    return u[1] * u[3] + s


def written_downward_by_two(x):
    u, s = np.zeros(4), 0.4
    for i in reversed(range(0, 3, 2)):
        for j in range(i, 4):
            s += u[j] * u[i] * s + u[j] * x[j]
            u[j] = np.sin(s) * u[i + 1]
        u[i] = np.sin(s) * x[i + 1]
        u[i + 1] = np.cos(s) * u[i]
    return s


def by_slices_that_meet(x):
    u, s = np.zeros(4), 0.4
    for i in range(1, 3):
        u[i:] = np.sin(s) * x[i:]
        s += x[i]
        u[: i + 1] = np.sin(s) * x[: i + 1]
        u[-2:] = np.cos(s) * x[:2]
    return np.sum(u * u * np.arange(1.0, 5.0)) + s


def seen_through_a_part(x):
    u, s = np.zeros(4), 0.4
    w = u[1:]
    for i in range(3):
        s += w[i] * w[i] * s + w[i - 1] * x[i]
        u[i + 1] = np.sin(s) * u[i] * w[i] + x[i]
        w[i] = np.cos(s) * u[i + 1]
    return s


def seen_through_one_of_two_parts(x):
    u, s = np.zeros(4), 0.4
    w = u[1:] if x[0] > 0.0 else u[2:]
    for i in range(3):
        s += u[i + 1] * w[i] * s + u[i] * x[i]
        w[i] = np.sin(s) * x[i]
        u[i + 1] = np.cos(s) * w[i]
        w[i] = u[i + 1] * u[i]
    return s


def seen_turned_round(A):
    M, s = np.zeros((4, 4)), 0.4
    T = M.T
    for i in range(3):
        s += T[i + 1, i] * T[i + 1, i] * s + np.sum(T[i] * A[i])
        M[i, i + 1] = np.sin(s) * A[i + 1, i]
        T[i + 1, i] = M[i, i + 1] * A[i, i]
    return s


def handed_from_round_to_round(x):
    u, v, s = np.zeros(4), 2.0 * x, 0.4
    for i in range(3):
        s += u[i] * v[i + 1] * s + u[i + 1] * u[i]
        u[i + 1] = np.sin(s) * v[i]
        u, v = v, u
        u[i + 1] = np.cos(s) * v[i + 1]
    return s + u[0] * v[1]


def of_one_of_two(x):
    u, v, s = np.zeros(4), np.ones(4), 0.4
    w = u if x[0] > 0.0 else v
    for i in range(3):
        s += u[i] * w[i + 1] * s + w[i] * v[i]
        w[i + 1] = np.sin(s) * x[i]
        u[i + 1] = np.cos(s) * w[i + 1]
    return s


def ends_that_meet_in_one_element(s):
    u = np.array([s])
    t = u[0] * u[-1]
    u[0] = np.sin(t)
    t += u[-1] * u[0] * t
    u[-1] = np.cos(t)
    return t * u[0]


def by_an_index_that_moves_on(x):
    u, s, k = x.copy(), 0.1, 0
    while k < 3:
        s += u[k] * u[k + 1] * s + u[k - 1]
        u[k] = np.sin(s)
        k += 1
        if s > 9.0:
            break
    return s


def on_one_of_two_arms(x):
    u, s = x.copy(), 0.1
    for i in range(1, 4):
        if i != 2:
            s += u[i] * u[i - 1] * s
            u[i] = np.sin(s)
        else:
            s += u[i - 1] * u[i - 1] * s
            u[i - 1] = np.cos(s)
    return s


def drawn_while_it_is_written(x):
    u, s = x.copy(), 0.1
    for i, e in enumerate(u):
        s += e * e * s + e
        u[3 - i] = np.sin(s)
    return s


def where_an_exception_says_which(x):
    u, s = x.copy(), 0.1
    for i in range(3):
        try:
            k = [1, 2][i]
        except IndexError:
            k = 0
        s += u[k] * u[i] * s + u[i + 1]
        u[k] = np.sin(s)
    return s


PROGRAMS = [
    written_around_the_end,
    written_by_two_signs,
    written_each_round,
    written_downward_by_two,
    by_slices_that_meet,
    seen_through_a_part,
    seen_through_one_of_two_parts,
    seen_turned_round,
    handed_from_round_to_round,
    of_one_of_two,
    ends_that_meet_in_one_element,
    by_an_index_that_moves_on,
    on_one_of_two_arms,
    drawn_while_it_is_written,
    where_an_exception_says_which,
    bound_that_changes,
    bound_that_changes_behind,
    a_mesh_of_indices_that_change,
    a_mesh_of_which_the_last_changes,
    a_number_before_writes_that_no_array_reader_sees,
    a_mask_that_is_written_behind,
    a_mask_that_is_written_each_round,
    a_mask_that_is_its_own_index,
    a_mask_in_an_index_of_two,
    a_mask_in_an_index_that_is_read,
    a_rule_that_adds_at_an_index_twice,
    a_constant_that_is_added_at_an_index_twice,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_are_those_of_differences(f):
    args = [copy.deepcopy(GIVEN[p]) for p in inspect.signature(f).parameters]
    fn, _ = derived(f)
    for _ in range(2):  # nothing is left over from the first call
        given = copy.deepcopy(args)
        value, found = fn(*given)
        assert value == pytest.approx(f(*copy.deepcopy(args)), rel=1e-12)
        for a, b in zip(given, args, strict=True):
            np.testing.assert_array_equal(a, b)
        found = found if len(args) > 1 else (found,)
        for got, expected in zip(found, slopes(f, args), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)


def rebound_by_a_call_that_writes(x, y):
    first = x * 1.0
    x = x.copy()

    def put():
        nonlocal y
        y = y * y
        x[0] = y

    put()
    return np.sum(first * first) + x[0] * y


def test_a_call_that_rebinds_and_writes():
    x, y = np.array([0.9, -0.4]), -1.0
    x_bar, y_bar = s2sad.grad(rebound_by_a_call_that_writes, wrt=(0, 1))(x, y)
    np.testing.assert_allclose(x_bar, 2.0 * x)
    assert y_bar == pytest.approx(4.0 * y**3)


def test_a_function_that_is_called_is_looked_at_too():
    with pytest.raises(s2sad.UnsupportedError, match="A key of `table` depends on"):
        derived(calls_what_has_a_moving_key)


def calls_what_has_a_moving_key(x):
    return moving_key(x) * 2.0


def moving_key(x):
    table = {x[0]: x[1]}
    return table[x[0]] * x[0]


# --- what is added first, and copies that are spared ---


def parts_that_overlap(x):
    return np.sum(np.sin(x[1:]) * x[:-1]) + np.sum(x[1:3] ** 3)


def parts_that_may_be_one(x, s):
    i = 1 if s > 0.0 else 2
    return x[i] * x[i] * s + x[1] * np.sin(x[2])


def parts_in_each_round(x):
    s = 0.1
    for i in range(3):
        for j in range(i + 1):
            s += x[i] * x[j] * s
    return s


def part_that_is_set_to_what_it_was(x):
    u = x * 2.0
    for i in range(3):
        u[i] = u[i] * u[i + 1] + np.sin(u[i])
        u[1:] = u[1:] * x[1:] - u[1:] ** 2 * x[0]
    return u[0] * u[3] + np.sum(u)


def part_on_one_arm(x):
    u = x * 1.0
    for i in range(3):
        if x[i] > 0.0:
            u[i] = u[i] * u[i + 1]
        u[i + 1] = u[i] * x[i]
    return np.sum(u * u)


def all_of_an_array_anew(x):
    u, v = x * 1.0, x * 2.0
    for _ in range(2):
        v[:] = u * v
        u *= v
        v[...] = u - 0.3 * v * u
    return np.sum(u * v)


def edges(A):
    p = A * 1.0
    for _ in range(2):
        p[1:-1] = np.sin(p[1:-1]) * p[2:]
        p[:, 0] = p[:, 1]
        p[-1, :] = p[-2, :] * A[0]
    return np.sum(p * p * A)


def moved_on_by_one(x):
    u = x * 1.0
    for i in range(2):
        u[1:] = u[:-1] * x[1:] + x[i] * u[1:]
        u[:-1] = u[1:] * u[:-1]
    return np.sum(u * u)


def what_is_read_behind_a_store(A):
    M = A * 1.0
    for i in range(3):
        M[i] = M[i + 1] * A[i] + M[i] * M[i, 0]
        M[i + 1] = M[i] * A[3] + np.sum(M[i + 1]) * M[i]
    return np.sum(M * A)


SPARED = [
    parts_that_overlap,
    parts_that_may_be_one,
    parts_in_each_round,
    part_that_is_set_to_what_it_was,
    part_on_one_arm,
    all_of_an_array_anew,
    edges,
    moved_on_by_one,
    what_is_read_behind_a_store,
]


@pytest.mark.parametrize("f", SPARED, ids=lambda f: f.__name__)
def test_parts_are_right(f):
    test_gradients_are_those_of_differences(f)


def test_a_part_that_has_nothing_of_another_is_added_before_it_is_cleared():
    _, text = derived(edges)
    assert "p_bar[:, 1] += p_bar[:, 0]\n        p_bar[:, 0] = 0.0" in text


def test_a_part_that_overlaps_is_copied():
    _, text = derived(moved_on_by_one)
    assert "u_bar[1:].copy()" in text


def test_what_comes_first_is_put_and_not_added():
    _, text = derived(parts_that_overlap)
    assert text.count("x_bar[") == text.count("+=") + 1
    _, text = derived(parts_that_may_be_one)
    assert text.count("x_bar[i] += ") == 2  # they may be what x_bar[1] and x_bar[2] are
    _, text = derived(parts_in_each_round)
    assert "x_bar[i] = " not in text and "x_bar[j] = " not in text
    _, text = derived(all_of_an_array_anew)
    assert "] = 0.0" not in text  # v_bar is put anew


# --- the text of what the mechanisms write ---


def nested(x, A):
    s = 0.0
    for i in range(4):
        for j in range(i):
            t = A[i, j] * x[j]
            s += t * t * s + t
    return s


def cholesky(A):
    M = A @ A.T + 4.0 * np.eye(4)
    L = np.zeros((4, 4))
    for i in range(4):
        for j in range(i + 1):
            t = M[i, j]
            for k in range(j):
                t -= L[i, k] * L[j, k]
            L[i, j] = np.sqrt(t) if i == j else t / L[j, j]
    return L[3, 0] * L[2, 2] + L[3, 3]


def numbered(x):
    s = 0.0
    for i, e in enumerate(x):
        s += e * e * x[i - 1]
    return s


def added_up(x):
    s = 1.0
    for i in range(4):
        s = s * x[i]
        y = 3.0 * s
        s = s + y
    return s


def whose_sum_is_read(x):
    u = x.copy()
    s = 0.0
    for i in range(3):
        s += np.sum(u)
        u[i] = s * x[i]
    return s


def read_as_it_was(x):
    u = x.copy()
    s = 0.0
    for i in range(3):
        s += np.sum(u * u)
        u[i] = s * x[i]
    return s


def handed_on(x):
    s = x[0]
    for i in range(1, 4):
        s = np.exp(s * x[i])
    return s


def mean_of_squares(x):
    h = np.tanh(x)
    return np.mean(h * h)


def mean_of_a_user_value_and_a_sum(x, s):
    h = np.exp(x)
    return 0.5 * s * np.dot(x, x) + np.mean(h**3)


def written_by_a_mask(x, s):
    y = x * x + 0.3
    large = y > s
    y[large] = s + np.log(y[large] / s)
    return np.sum(y**2)


def slices_of_what_is_written(x, A):
    u = x.copy()
    u[1:-1] = u[2:] * u[:-2]
    return np.sum((u[1:] - A[0, 1:]) ** 2)


def sum_that_starts_as_a_number(x, A):
    s = 0.0
    for i in range(3):
        s = s + A[0, i] * x
    p = 0.0
    for a in A[1]:
        p += a * np.sin(x)
    return np.sum(s * p)


def numbers_over_rows(A):
    t = np.sum(A**2, axis=1)
    return np.sum(np.exp(-t))


def halved_squares_of_what_is_read_again(x, s):
    h = np.tanh(x * s)
    return 0.5 * np.sum(h**2) + np.sum(h[1:] * x[:-1]) + s * np.sum(h**3)


def broadcast_in_writes(x, A):
    u = A.copy()
    u[1:3] = x[:1] * u[0]
    u[0] += x[1:2] * 2.0
    return np.sum(u**2 * x[2:3])


def a_recurrence(x):
    u = np.zeros(5)
    u[0] = x[0]
    for i in range(4):
        u[i + 1] = u[i] * u[i] * x[i] + np.sin(u[i])
    return u[-1] * u[2]


def rows_of_a_matrix(x, A):
    n = len(x)
    hs = np.zeros((n + 1, n))
    for i in range(n):
        hs[i + 1] = np.tanh(A @ hs[i] + x) * hs[i, :1]
        hs[i + 1, 2:] = hs[i, 2:] * hs[i + 1, :2] + x[:2]
    return np.sum(hs[n] ** 2)


def left_early(x):
    s = 1.0
    for i, e in enumerate(x):
        if e > 0.8:
            break
        s = s * e + i
    return s


def named_once(x):
    s = 1.0
    for i in range(4):
        k = (3 * i + 1) % 4
        s = s * x[k] + np.exp(x[k] * x[i])
    return s


def halved(x, s):
    n = 0
    while s > 0.1:
        s = s * np.cos(x[n % 4])
        n += 1
    return s * x[0]


def half_of_a_number(x, s):
    t = 0.5 * s
    r = x * x - t
    return np.mean(r**2) + t * np.dot(x, x)


def numbers_alone(x):
    s = 0.0
    for i, e in enumerate(x):
        s += i * e
    return s


def its_name_again(x, s):
    p = 0.0
    for e in x:
        p = p * s * np.cos(s) + e * p
        s = s * e + np.sin(s)
    return p * s


def moved(v, dt, n):
    dt = dt * 0.5
    return v * dt + n * np.sin(v)


def scaled(v, dt):
    return v * dt


def steps_that_grow(x):
    dt = 0.5
    s = x[0]
    for i in range(4):
        s = moved(s * x[i], dt, i) + scaled(s, dt)
        dt = dt * 1.5
    return s


def grown(v, dt, n):
    if n == 0:
        return v * dt
    return grown(np.sin(v * dt), dt * 2.0, n - 1) * dt


def calls_itself(x):
    return grown(x[0], 0.3, 3) * grown(x[1], 0.4, 2)


def turned_by(pair, angle):
    a, b = pair
    return a * np.cos(angle) - b * a, b + angle * a


def tuples_apart(x):
    pair = x[0], x[1]
    for i in range(3):
        pair = turned_by(pair, x[i])
    return pair[0] * pair[1]


def results_of_arms(x, s):
    if s > 1.0:
        y = s * s
    elif s > 0.2:
        y = np.exp(s)
        s = y * x[0]
    else:
        y = -s
    return s * y * x[1]


def sum_of_halves(v):
    if len(v) <= 2:
        return np.sum(v * v)
    middle = len(v) // 2
    return sum_of_halves(v[:middle]) * 0.5 + sum_of_halves(v[middle:]) * v.shape[0]


def halved_itself(x):
    return np.sqrt(sum_of_halves(x))


TEXTS = [nested, cholesky, numbered, added_up, whose_sum_is_read, read_as_it_was, handed_on]
TEXTS += [mean_of_squares, mean_of_a_user_value_and_a_sum, written_by_a_mask]
TEXTS += [slices_of_what_is_written, sum_that_starts_as_a_number, numbers_over_rows]
TEXTS += [halved_squares_of_what_is_read_again, broadcast_in_writes]
TEXTS += [a_recurrence, rows_of_a_matrix]
TEXTS += [left_early, named_once, halved, half_of_a_number, numbers_alone, its_name_again]
TEXTS += [halved_itself, steps_that_grow, calls_itself, tuples_apart, results_of_arms]


@pytest.mark.parametrize("f", TEXTS, ids=lambda f: f.__name__)
def test_what_is_shown_is_right(f):
    test_gradients_are_those_of_differences(f)


def test_loops_in_loops_share_one_tape():
    _, text = derived(nested)
    assert text.count("= []") == 1
    assert "saved.pop()" in text


def test_cholesky_copies_no_matrix():
    _, text = derived(cholesky)
    forward = text[: text.index("L_bar")]
    assert ".copy()" not in forward


def test_what_is_enumerated_runs_backward_by_numbers():
    _, text = derived(numbered)
    assert "range(len(x) - 1, -1, -1)" in text
    assert "saved.append((" not in text  # neither the item nor its number is kept


def test_the_tape_holds_what_is_read():
    _, text = derived(added_up)
    assert "saved.append(s)" in text


def test_memory_is_put_back_where_its_numbers_are_read():
    _, text = derived(read_as_it_was)
    assert "u[i] = u_0" in text
    assert ".copy()" not in text[text.index("for i") : text.index("u_bar")]


@pytest.mark.parametrize("f", [a_recurrence, cholesky], ids=lambda f: f.__name__)
def test_elements_that_nobody_reads_later_are_not_put_back(f):
    _, text = derived(f)
    assert "u_0" not in text and "L_0" not in text  # nothing overwritten is kept
    assert f is cholesky or "] = 0.0" not in text  # nor is a cotangent cleared


def test_memory_that_nobody_reads_is_not_put_back():
    _, text = derived(whose_sum_is_read)
    assert "u_0" not in text


def test_what_a_round_ends_with_is_kept_once():
    _, text = derived(handed_on)
    assert "saved.append(s)" in text  # the exponential is what the next round begins with


def test_the_size_of_a_value_is_that_of_what_it_is_computed_from():
    _, text = derived(mean_of_squares)
    assert "2.0 / h.size * h" in text
    _, text = derived(mean_of_a_user_value_and_a_sum)
    assert "h.size" in text
    assert "broadcast_to" not in text


def test_literals_of_shared_numbers_cancel():
    _, text = derived(mean_of_a_user_value_and_a_sum)
    assert "x_bar = s * x" in text


@pytest.mark.parametrize(
    "f", [written_by_a_mask, slices_of_what_is_written, sum_that_starts_as_a_number]
)
def test_nothing_is_summed_where_shapes_are_known(f):
    _, text = derived(f)
    assert "unbroadcast" not in text


def test_a_factor_of_a_product_is_not_repeated_along_axes():
    _, text = derived(numbers_over_rows)
    assert "broadcast_to" not in text


def test_an_array_keeps_its_shape():
    def reshaped(x):
        y = x * 2.0
        y.shape = (2, 2)
        return np.sum(y[0])

    with pytest.raises(UnsupportedError, match="writes an attribute"):
        derived(reshaped)


def meets_slices(u, b, y):
    u = u.copy()
    u[1:-1] = u[1:-1] * 2.0 - b[1:-1]
    t = u[1:] - y
    return np.mean(t**2)


@pytest.mark.parametrize("lengths", [(5, 3, 1), (5, 5, 1), (3, 3, 2), (2, 2, 4)])
def test_a_length_that_is_taken_not_to_be_one_is_looked_at(lengths):
    """After a call with longer arrays a gradient is right for shorter ones, too."""
    operator = s2sad.grad(meets_slices, (0, 1, 2))
    for given in ((5, 5, 4), lengths):
        args = [np.cos(np.arange(float(n)) + k) for k, n in enumerate(given)]
        for mine, theirs in zip(operator(*args), slopes(meets_slices, args), strict=True):
            assert mine.shape == theirs.shape
            np.testing.assert_allclose(mine, theirs, atol=1e-6)


def test_a_name_is_kept_before_it_gets_another_value():
    _, text = derived(handed_on)
    assert "s_0" not in text[: text.index("x_bar")]


def test_a_loop_that_is_left_counts_its_rounds_rather_than_to_keep_their_numbers():
    _, text = derived(left_early)
    assert "saved.append(s)" in text
    assert "range(rounds - 1, -1, -1)" in text


def test_what_a_user_has_named_is_computed_once_more_but_once():
    _, text = derived(named_once)
    assert text.count("k = (3 * i + 1) % 4") == 2


def test_a_tape_is_emptied_where_nobody_goes_back_twice():
    _, text = derived(halved)
    assert "while saved:" in text
    value, pullback = s2sad.vjp(halved, GIVEN["x"], GIVEN["s"])
    assert np.array_equal(pullback(1.0)[0], pullback(1.0)[0])


def test_a_factor_that_cancels_one_in_a_name_goes():
    _, text = derived(half_of_a_number)
    assert "2.0 * t" not in text


def test_a_number_is_stored_as_it_is():
    _, text = derived(numbers_alone)
    assert "x_bar[i] += i" in text


def test_what_is_handed_on_is_computed_last():
    _, text = derived(left_early)
    assert "s_bar_1" not in text


def test_a_caller_passes_numbers_that_it_has_still():
    _, text = derived(steps_that_grow)
    assert "scaled_forward" not in text  # its reverse reads nothing else
    assert "def scaled_reverse(dt, value_bar)" in text


def test_a_function_that_calls_itself_keeps_all():
    _, text = derived(calls_itself)
    assert "def grown_reverse(kept, value_bar)" in text


def test_cotangents_of_tuples_are_taken_apart_at_once():
    _, text = derived(tuples_apart)
    assert "pair_bar[" not in text


def test_what_an_arm_gives_is_kept_once_and_has_its_name():
    _, text = derived(results_of_arms)
    assert "y_0 = y" not in text
    assert text.count("s_0 = s\n") == 1  # before the branch, which binds s
    assert "t = s > 1.0" not in text and text.count("> 1.0:") == 2


def test_the_length_of_an_array_is_asked_again():
    _, text = derived(halved_itself)
    assert "len_v" not in text
    assert "return value, (v, " in text  # neither a length nor the test


def rows_that_change_places(A):
    u = A * 1.0
    for k in range(3):
        p = k + np.argmax(u[k:, k] ** 2)
        if p != k:
            u[[k, p]] = u[[p, k]] * u[[k, p]]
            u[[k, p], :k] *= 0.5
    return np.sum(np.sin(u))


def a_list_of_places_that_changes(A):
    u = A * 1.0
    for k in range(3):
        at = [k, k + 1]
        u[at] = u[at] ** 2
        also = at
        also[1] = 3
        u[at] *= 0.5
    return np.sum(np.sin(u))


@pytest.mark.parametrize("f", [rows_that_change_places, a_list_of_places_that_changes])
def test_gradients_with_lists_of_places(f):
    made, _ = derived(f)
    value, gradient = made(GIVEN["A"])
    assert value == f(GIVEN["A"])
    (want,) = slopes(f, [GIVEN["A"]])
    assert gradient == pytest.approx(want, rel=1e-6, abs=1e-7)


def test_a_list_of_places_is_made_again_unless_it_changes():
    """`[k, p]` is no entry of a tape: a list that somebody changes is kept as it was."""
    assert "np.add.at(u_bar, [p, k], " in derived(rows_that_change_places)[1]
    assert "at.copy()" in derived(a_list_of_places_that_changes)[1]


def over_a_list(xs):
    h = np.ones(2)
    for i, x in enumerate(xs):
        h = np.sin(h * x) * (i + 1)
    return h.sum()


def over_a_list_in_a_loop(xs):
    h = 1.0
    for c in (0.5, 2.0):
        for x in xs:
            h = np.sin(h * x[0]) * c + x[1]
            if h > 1.5:
                break
    return h


def over_a_list_that_grows_later(xs):
    ys, s = [x[0] * 2.0 for x in xs], 1.0
    for y in ys:
        s = s * np.sin(y)
    ys.append(s)
    ys[0] = 3.0
    for y in ys:
        s = s * np.cos(y)
    return s


def over_a_list_whose_arrays_are_written(xs):
    ys, s = [x * 2.0 for x in xs], 0.0
    for y in ys:
        s += np.sin(y).sum() * y[0]
        y[0] = y[1] * y[0]
    ys[0][1] = 4.0
    return s * ys[1][0]


def over_two_lists_in_turn(xs):
    one, other, s = [x[0] for x in xs], [x[1] * 2.0 for x in xs], 1.0
    for _ in range(3):
        for y in one:
            s = s * np.sin(y)
        one, other = other, one
    return s


OVER_LISTS = [
    over_a_list,
    over_a_list_in_a_loop,
    over_a_list_that_grows_later,
    over_a_list_whose_arrays_are_written,
    over_two_lists_in_turn,
]


@pytest.mark.parametrize("f", OVER_LISTS, ids=lambda f: f.__name__)
def test_loops_over_lists(f):
    """What nobody writes is read once more by its number, also when a caller goes on to write."""
    xs = [np.array([0.3, 0.4]), np.array([0.5, 0.6]), np.array([0.7, 0.2])]
    request = Request(f, (("xs", K.kind_of(xs, "xs")),), ("xs",), True, "vjp")
    d = pipeline.derive(request, HIGHER)
    text = printed(d)
    found = slopes(lambda *parts: f([*parts]), [*map(np.copy, xs)])
    value, pullback = loaded(text, d)[d.entry](xs)
    assert value == f(copy.deepcopy(xs))
    first = pullback(1.0)
    xs[0][:] = 5.0
    del xs[1:]
    for mine, again, theirs in zip(first, pullback(1.0), found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(mine, again)
    assert f is not over_a_list or "x = xs[i]" in text.text


def protected_at_last(x):
    z = x * 2.0
    y = z * z
    for i in range(1, 4):
        z[i] = z[i - 1] * x[i]
    z.setflags(write=False)
    return np.sum(z * z * y)


def test_what_is_protected_is_put_back():
    fn, text = derived(protected_at_last)
    assert "flags" not in text
    value, gradient = fn(GIVEN["x"])
    assert value == protected_at_last(GIVEN["x"])
    (wanted,) = slopes(protected_at_last, [GIVEN["x"]])
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6)
