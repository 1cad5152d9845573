"""Writes of memory into itself: what NumPy copies first has a derivative, the rest is refused."""

import itertools

import numpy as np
import pytest

import s2sad
from s2sad.emitted import overlaps
from tests.slopes import check

X = np.array([0.3, 0.7, -0.4, 1.1, 0.9, -1.3, 0.2, 0.5])
M = 0.13 * np.arange(16.0).reshape(4, 4) - 0.9 + 0.3 * np.eye(4)


def weighed(a):
    return np.sum(np.cos(np.arange(a.size)).reshape(a.shape) * a * a)


def refuses(place, value):
    try:
        overlaps.in_order(place, value, "here")
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_it_says_what_numpy_does(dtype):
    steps = (1, 2, 3, -1, -2)
    seen = set()
    for s, t in itertools.product(steps, steps):
        for i, j in itertools.product(range(0, 12), range(0, 12)):
            one, other = slice(i, None, s), slice(j, None, t)
            a = np.arange(12).astype(dtype)
            n = min(a[one].size, a[other].size, 5)
            expected = a.copy()
            expected[one][:n] = a[other][:n]
            refused = refuses(a[one][:n], a[other][:n])
            a[one][:n] = a[other][:n]
            assert np.array_equal(a, expected) is not refused
            seen.add(refused)
    assert seen == {True, False}


def into_a_column(x):
    a = x * x
    a[:, 2] = a[1]
    return weighed(a)


def through_views(x):
    a = x * x
    row, column = a[1], a[:, 2]
    column[:] = row
    return weighed(a)


def argument(x):
    x[:, 2] = x[1]
    return weighed(x)


def copied_to(x):
    a = x * x
    np.copyto(a[:, 2], a[1])
    return weighed(a)


def items_of_a_list(x):
    a = x * x
    both = [a[:, 2], a[1]]
    both[0][:] = both[1]
    return weighed(a)


def in_a_loop(x):
    a = x * x
    for i in range(3):
        a[:, i + 1] = a[i]
    return weighed(a)


def rows_in_a_tuple(x):
    a = x * x
    a[:2] = a[1], a[0]
    return weighed(a)


def rows_in_a_list(x):
    a = x * x
    rows = [row for row in a[::-1]]
    a[:] = rows
    return weighed(a)


def stacked(x):
    a = x * x
    np.stack([a[3], a[2], a[1], a[0]], out=a)
    return weighed(a)


def on_the_diagonal(x):
    a = x * x
    np.fill_diagonal(a, a.diagonal()[::-1])
    return weighed(a)


def one_more_axis(x):
    a = x * x
    a[1] = a[:, 2][None]
    return weighed(a)


@pytest.mark.parametrize(
    "f",
    [
        into_a_column,
        through_views,
        argument,
        copied_to,
        items_of_a_list,
        in_a_loop,
        rows_in_a_tuple,
        rows_in_a_list,
        stacked,
        on_the_diagonal,
        one_more_axis,
    ],
)
def test_refused_in_the_plane(f):
    line = f.__code__.co_firstlineno
    with pytest.raises(
        s2sad.AliasError, match=r"shares memory with the place .*\.copy\(\)"
    ) as caught:
        s2sad.grad(f)(M.copy())
    place = caught.value.place
    assert line < place.line <= line + 4
    assert str(caught.value).startswith(f"{place.text.strip()}: the stored value shares memory")
    with pytest.raises(s2sad.AliasError):
        s2sad.vjp(f, M.copy())


def spread(x):
    a = x * x
    a[::2] = a[:4]
    return weighed(a)


def by_a_mask(x):
    a = x * x
    a[np.arange(8) % 2 == 1] = a[:4]
    return weighed(a)


def flat(x):
    a = x * x
    a.flat[1:7] = a[:6]
    return weighed(a)


def joined(x):
    a = x * x
    np.concatenate([a[3:], a[:3]], out=a)
    return weighed(a)


def where_asked(x):
    a = x * x
    np.copyto(a[::2], a[:4], where=np.arange(4) % 3 > 0)
    return weighed(a)


def on_a_path(x):
    a = x * x
    b = a[:4] if a[0] > 0.0 else x[4:]
    a[::2] = b
    return weighed(a)


def reshaped(x):
    a = x * x
    a[::2] = a.reshape(2, 4)[0]
    return weighed(a)


@pytest.mark.parametrize("f", [spread, by_a_mask, flat, joined, where_asked, on_a_path, reshaped])
def test_refused_on_a_line(f):
    with pytest.raises(s2sad.AliasError, match=r"\.copy\(\)"):
        s2sad.grad(f)(X.copy())


def fine_on_a_line(x):
    a = x * x
    a[:4] = a[::2]
    a[1:] = a[:-1]
    a[:-2] = a[2:]
    a[:] = a[::-1]
    a[::2], a[1::2] = a[1::2], a[::2]
    a[::2] += a[:4]
    a[::2] = a[1::2] * 2.0
    np.sin(a[:4], out=a[::2])
    np.copyto(a[1:], a[:-1], where=np.arange(7) % 3 > 0)
    a.flat[1:3] = x[:2]
    np.concatenate([x[3:] * a[3:], x[:3]], out=a)
    a[[1, 2, 3]] = a[:3]
    a[:2] = [a[1], a[0]]
    np.put(a, [1, 2, 3], a[:3])
    return weighed(a)


def fine_in_the_plane(x):
    a = x * x
    a[0, :] = a[1, :]
    a[-1] = a[-2]
    a[1:-1, 0] = a[1:-1, 1]
    a[:, -1] = a[:, -2]
    a[1] = a[:, 1]
    a[:] = a.T
    a[:2] = a[:2][::-1]
    for row in a:
        row[1:] = row[:-1]
    a[[0, 1]] = a[1], a[0]
    a[:, 2] *= a[1]
    a[:2] = [a[2], a[3]]
    a[np.array([True, False, True, False])] = a[:2]
    a[1] = a.diagonal()
    return weighed(a)


def test_what_numpy_copies_first():
    check(fine_on_a_line, X.copy())
    check(fine_in_the_plane, M.copy())


def test_most_writes_are_not_looked_at():
    def edges(a):
        a[0, :] = a[1, :]
        a[-1] = a[-2]
        a[:, 0] = a[:, 1]
        a[1:-1, -1] = a[1:-1, -2]
        a[1:] = a[:-1]
        return np.sum(a * a)

    assert "in_order" not in s2sad.grad(edges).source(M)


def listed(x):
    a, b = np.zeros((3, 2)), np.zeros((3, 2, 2))
    both = [x[0] * 2.0, x[1]]
    a[:] = both
    a[1] = x[0], x[1] * x[0]
    pair = x[:2] * 2.0, x[1:3] * x[0]
    b[0] = pair
    b[1:] = pair
    return weighed(a) * both[0] + weighed(b)


def comprehended(x):
    a = np.zeros((3, 4))
    a[:] = [x[k] * 1.5 for k in range(4)]
    a[1:] += [[x[k] * j for k in range(4)] for j in range(2)]
    rows = [row * row for row in a]
    a[:] = rows
    a[:] = rows[1]
    return weighed(a)


def test_a_list_written_into_an_array():
    check(listed, X[:4].copy())
    check(comprehended, X[:4].copy())


MASK = np.array([False, True, True, True])


class Held:
    def __init__(self, x):
        self.a = 1.0 * x

    def place(self, v):
        np.place(self.a, MASK, v)

    def flat(self, v):
        self.a.flat[1:] = v


def placed(x):
    a = 1.0 * x
    np.place(a, MASK, a[:3])
    return weighed(a)


def placed_by_a_method(x):
    held = Held(x)
    held.place(held.a[:3])
    return weighed(held.a)


def flat_by_a_method(x):
    held = Held(x)
    held.flat(held.a[:-1])
    return weighed(held.a)


def apart_by_methods(x):
    held = Held(x)
    held.place(2.0 * x[:3])
    held.flat(held.a[1:] * x[0])
    return weighed(held.a)


@pytest.mark.parametrize("f", [placed, placed_by_a_method, flat_by_a_method])
def test_calls_that_copy_as_they_go_are_looked_at_in_both_modes(f):
    x = X[:4].copy()
    for derived in (lambda: s2sad.value_and_grad(f)(x), lambda: s2sad.jvp(f, (x,), (x,))):
        with pytest.raises(s2sad.AliasError, match="shares memory with the place"):
            derived()


def test_calls_that_copy_what_lies_elsewhere():
    s2sad.check_grads(apart_by_methods, (X[:4].copy(),))
