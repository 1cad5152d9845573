"""What a checkpointed loop goes on with: buffers that change places, structures, lists, lengths."""

import dataclasses
import itertools

import numpy as np
import pytest

import s2sad
from s2sad import Active, Duplicated, Reverse, checkpointed

pytest.importorskip("checkpoint_schedules")

X = np.linspace(0.2, 1.1, 5)
W = np.sin(np.arange(9.0)).reshape(3, 3) * 0.5
XS = np.cos(np.arange(15.0)).reshape(5, 3)


@dataclasses.dataclass
class Motion:
    x: object
    v: object


class Grid:
    def __init__(self, u, c):
        self.u = u
        self.c = c
        self.steps = 0

    def step(self):
        self.u[1:-1] += self.c * np.sin(self.u[2:]) * self.u[:-2]
        self.steps += 1


def buffers(x, a):
    u = x.copy()
    v = np.zeros_like(u)
    for _ in checkpointed(range(6), snapshots=3):
        v[1:-1] = u[1:-1] + 0.1 * a * np.sin(u[2:]) * u[:-2]
        u, v = v, u
    return np.sum(u**2)


def buffers_given(u, v, a):
    for _ in checkpointed(range(5), snapshots=2):
        v[1:-1] = u[1:-1] + 0.1 * a * np.sin(u[2:]) * u[:-2] + v[1:-1]
        u, v = v, u
    return np.sum(u**2)


def made_anew(x, a):
    s = Motion(x, 0.0 * x)
    for _ in checkpointed(range(5), snapshots=2):
        v = s.v - 0.1 * np.sin(s.x) * a
        s = Motion(s.x + 0.1 * v, v)
    return np.sum(s.x * s.v)


def attributes_written(x, a):
    s = Motion(x, 0.0 * x)
    for _ in checkpointed(range(5), snapshots=2):
        s.v = s.v - 0.1 * np.sin(s.x) * a
        s.x = s.x + 0.1 * s.v
    return np.sum(s.x * s.v) + np.sum(x)


def dict_of_arrays(x, a):
    s = {"x": x.copy(), "v": 0.0 * x}
    for _ in checkpointed(range(5), snapshots=2):
        s["v"] -= 0.1 * np.sin(s["x"]) * a
        s["x"][1:] += 0.1 * s["v"][:-1]
    return np.sum(s["x"] * s["v"])


def by_a_method(x, a):
    grid = Grid(x.copy(), a)
    for _ in checkpointed(range(4), snapshots=2):
        grid.step()
    return np.sum(grid.u**2) * grid.steps


def by_a_function(x, a):
    def step(u, v):
        v[1:-1] += a * np.sin(u[2:]) * u[:-2]
        u += 0.1 * v

    u, v = x.copy(), np.zeros_like(x)
    for _ in checkpointed(range(4), snapshots=2):
        step(u, v)
    return np.sum(u * v)


def list_that_grows(x, a):
    out = []
    h = x
    for _ in checkpointed(range(5), snapshots=2):
        h = np.sin(h) * a
        out.append(h)
    return np.sum(out[2] * out[4]) + len(out)


def list_of_arrays(x, a):
    s = [x * 1.0, x * 0.5]
    for _ in checkpointed(range(5), snapshots=2):
        s[0] += 0.1 * np.sin(s[1]) * a
        s[1] = s[1] * s[0] * 0.3
    return np.sum(s[1])


def nested_tuples(x, a):
    s = (x, (a, 0.0))
    for _ in checkpointed(range(4), snapshots=2):
        u, (b, c) = s
        s = (u * np.sin(b * u), (b + 0.1 * c, c + np.sum(u) * 0.1))
    return np.sum(s[0]) * s[1][0] + s[1][1]


def recurrent(xs, w):
    h = np.zeros(3)
    loss = 0.0
    for x in checkpointed(xs, snapshots=2):
        h = np.tanh(w @ h + x)
        loss += h @ h
    return loss


def path_filled(xs, w):
    h = np.zeros(3)
    path = np.zeros((5, 3))
    for i in checkpointed(range(5), snapshots=2):
        h = np.tanh(w @ h + xs[i])
        path[i] = h
    return np.sum(path**2)


def lengthens(x, a):
    for _ in checkpointed(range(3), snapshots=2):
        x = np.concatenate((x, np.sin(x[:1]) * a))
    return np.sum(x**2)


def begins_as_int(x, a):
    s = 0
    for i in checkpointed(range(5), snapshots=2):
        s = s * np.sin(a) + x[i]
    return s * s


def returns(x, a):
    for _ in checkpointed(range(9), snapshots=2):
        x = x * a + 0.1 * np.sin(x)
        if np.sum(x) > 5.0:
            return np.sum(x * x)
    return np.sum(x)


def returns_nowhere(x, a):
    for i in checkpointed(range(4), snapshots=2):
        x = np.sin(x) * a
        if np.sum(x) > 1e3:
            return np.sum(x) * i
        if np.sum(x) < -1e3:
            return a
    else:
        a = 2.0 * a
    return np.sum(x) * a


def returns_at_last(x, a):
    for i in checkpointed(itertools.count(), snapshots=2):
        x = np.sin(x) * a
        if i > 5:
            return np.sum(x) * (a + i)


def one_loop_after_another(x, a):
    u, v = x.copy(), np.zeros_like(x)
    for _ in checkpointed(range(4), snapshots=2):
        v[1:] = u[:-1] * a
        u, v = v, u
    for _ in checkpointed(range(3), snapshots=2):
        v[1:] = u[:-1] * a + v[1:]
        u, v = v, u
    v[0] = 3.0 * a
    return np.sum(u * v)


def imported_inside(x, a):
    import itertools as it

    from s2sad import checkpointed as kept

    for i in kept(it.count(), snapshots=2):
        x = np.sin(x) * a
        if i > 5:
            break
    return np.sum(x) * a


def first_of_a_list_written(x, a):
    out, h = [], x * 1.0
    for _ in checkpointed(range(4), snapshots=2):
        out.append(h)
        h = np.sin(h) * a
        out[0][0] *= h[1]
    return np.sum(out[0] * out[-1])


def item_of_a_tuple_copied_and_written(x, a):
    s = (x * 1.0, x * 2.0)
    for _ in checkpointed(range(4), snapshots=2):
        u, v = s
        v = v.copy()
        v[0] += u[1] * a
        s = (v, u)
    return np.sum(s[0] * s[1])


PROGRAMS = {
    one_loop_after_another: (X, 1.1),
    imported_inside: (X, 1.1),
    buffers: (X, 1.1),
    buffers_given: (X, 0.3 * X, 1.1),
    made_anew: (X, 1.1),
    attributes_written: (X, 1.1),
    dict_of_arrays: (X, 1.1),
    by_a_method: (X, 1.1),
    by_a_function: (X, 1.1),
    list_that_grows: (X, 1.1),
    list_of_arrays: (X, 1.1),
    first_of_a_list_written: (X, 0.8),
    item_of_a_tuple_copied_and_written: (X, 0.8),
    nested_tuples: (X, 1.1),
    recurrent: (XS, W),
    path_filled: (XS, W),
    lengthens: (X, 1.1),
    begins_as_int: (X, 1.1),
    returns: (X, 1.1),
    returns_nowhere: (X, 1.1),
    returns_at_last: (X, 1.1),
}


@pytest.mark.parametrize("f", PROGRAMS)
def test_as_the_plain_loop(f):
    args = PROGRAMS[f]
    kept = [np.copy(a) for a in args]
    along = tuple(np.cos(3.0 * a) if isinstance(a, np.ndarray) else 0.7 for a in args)
    value, gradient = s2sad.value_and_grad(f, wrt=tuple(range(len(args))))(*args)
    assert all(map(np.array_equal, args, kept))
    plain, slope = s2sad.jvp(f, tuple(map(np.copy, args[:-1])) + args[-1:], along)
    assert value == plain
    found = sum(np.sum(g * v) for g, v in zip(gradient, along, strict=True))
    assert found == pytest.approx(slope, rel=1e-12)


def read_by_another_name(u, a):
    u = u * 1.0
    first, v = u, u * 0.5
    for _ in checkpointed(range(5), snapshots=2):
        v[1:-1] = u[1:-1] + a * u[:-2]
        u, v = v, u
    return np.sum(u**2) + np.sum(first)


def one_at_the_end(u, a):
    v, total = 2.0 * u, 0.0
    for _ in checkpointed(range(4), snapshots=2):
        v += 0.1 * u * a
        total = total + np.sum(u * u)
        u = v
    return total + np.sum(u)


def somebody_elses(u, v, a):
    for _ in checkpointed(range(5), snapshots=2):
        v[1:-1] = u[1:-1] + a * u[:-2]
        u, v = v, u
    return u


def writes_for_others(u, a):
    u, v = u * 1.0, u * 0.5
    w = somebody_elses(u, v, a)
    return np.sum(w**2) + np.sum(u)


def part_by_another_name(x, a):
    s = {"x": x.copy(), "v": 0.0 * x}
    y = s["x"]
    for _ in checkpointed(range(5), snapshots=2):
        s["x"] += 0.1 * np.sin(s["x"]) * a
    return np.sum(s["x"]) + np.sum(y)


def twice_in_a_list(x, a):
    s = [x * 1.0, x * 0.5]
    s[1] = s[0]
    for _ in checkpointed(range(5), snapshots=2):
        s[0] += 0.1 * np.sin(s[1]) * a
    return np.sum(s[1])


def gives_what_it_reads(x, a):
    w, u = x * a, x * 1.0
    for _ in checkpointed(range(4), snapshots=2):
        u[0] += np.sum(w)
        u = w
    return np.sum(u)


def returns_from_within(x, a):
    for _ in checkpointed(range(5), snapshots=2):
        for _ in range(2):
            x = x * a
            if np.sum(x) > 1e9:
                return a
    return np.sum(x)


REFUSED = {
    read_by_another_name: "`u` and `first` may share memory",
    one_at_the_end: "may share memory",
    writes_for_others: "whose memory the caller may see",
    part_by_another_name: "`s` and `y` may share memory",
    twice_in_a_list: "in one structure twice",
    gives_what_it_reads: "may",
    returns_from_within: "return inside an inner loop",
}


@pytest.mark.parametrize("f", REFUSED)
def test_refused(f):
    with pytest.raises(s2sad.Error, match=REFUSED[f]):
        s2sad.grad(f)(X, 1.1)


def test_arguments_that_change_places_are_nobody_elses():
    with pytest.raises(s2sad.AliasError):
        s2sad.grad(buffers_given)(X, X, 1.1)
    u, u_bar = X.copy(), np.zeros(5)
    v, v_bar = 0.3 * X, np.zeros(5)
    with pytest.raises(s2sad.Error, match="whose memory the caller may see"):
        s2sad.autodiff(
            Reverse, buffers_given, Duplicated(u, u_bar), Duplicated(v, v_bar), Active(1.1)
        )
