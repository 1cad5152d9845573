"""What is accepted has the right gradient; what could be wrong is refused, whatever way it goes."""

import numpy as np
import pytest

import s2sad

X = np.array([0.7, -1.3, 0.4])
STORE = {"last": None}


def item(x):
    y = x * 2.0
    y[0] = 3.0
    return np.sum(y * y)


def argument(x):
    x[0] = 3.0
    return np.sum(x * x)


def view(x):
    y = x * 2.0
    z = y[1:]
    z += 1.0
    return np.sum(y * y)


def zeros(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] * x[i]
    return np.sum(y)


def out(x):
    y = np.zeros(3)
    np.sin(x, out=y)
    return np.sum(y)


def sort(x):
    y = x * 1.0
    y.sort()
    return y[0] * y[0]


def read_before(x, w):
    y = x * w
    w[0] = 5.0
    return np.sum(y)


def entry(x):
    d = {"a": x}
    d["a"] = x * 2.0
    return np.sum(d["a"])


def at(x):
    y = np.zeros(3)
    np.add.at(y, [0, 0, 1], x)
    return np.sum(y * y)


def rebound(x):
    s = 0.0

    def add(v):
        nonlocal s
        s = s + v

    add(np.sum(x))
    return s


def kept(x):
    STORE["last"] = x * 2.0
    return np.sum(STORE["last"])


def in_list(x):
    xs = [x[0], x[1]]
    xs[1] = x[2]
    return xs[0] * xs[1]


def popped(x):
    xs = [x[0], x[1], x[2]]
    xs.pop()
    return xs[-1] * xs[0]


def two_names(x):
    xs = [x[0]]
    ys = xs
    ys.append(x[1])
    return xs[-1] * 2.0


def deleted(x):
    xs = [x[0], x[1], x[2]]
    del xs[0]
    return xs[0] * xs[0]


def fills(x):
    y = np.empty(3)
    y.fill(x[0])
    return np.sum(y)


def copied(x):
    y = np.zeros(3)
    np.copyto(y, x)
    return np.sum(y)


def put(x):
    y = x * 1.0
    np.put(y, [0], 9.0)
    return np.sum(y * y)


def global_name(x):
    global KEPT
    KEPT = x * 2.0
    return np.sum(KEPT)


def fill(a, n):
    a[0] = n


def keyword(x):
    y = x * 2.0
    fill(n=5.0, a=y)
    return np.sum(y * y)


def starred(x):
    y = x * 2.0
    fill(*(y, 5.0))
    return np.sum(y * y)


def closure(x):
    y = x * 2.0

    def change():
        y[0] = 5.0

    change()
    return np.sum(y * y)


def loop_row(x):
    m = x.reshape(3, 1) * 2.0
    for row in m:
        row[0] = row[0] * row[0]
    return np.sum(m)


def swapped(x):
    y = x * 1.0
    y[0], y[1] = y[1] * 2.0, y[0]
    return y[0] * y[1]


CASES = [
    *(keyword, starred, closure, loop_row, swapped),
    *(item, argument, view, zeros, out, sort, entry, at, rebound, kept, in_list, popped),
    *(two_names, deleted, fills, copied, put, global_name),
]


def slope(f, *args):
    h, found = 1e-6, []
    for i in range(3):
        step = np.zeros(3)
        step[i] = h
        up, down = (f(args[0] + s, *(a.copy() for a in args[1:])) for s in (step, -step))
        found.append((up - down) / (2 * h))
    return np.array(found)


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_right_or_refused(fn):
    try:
        gradient = s2sad.grad(fn)(X.copy())
    except s2sad.Error as error:
        assert error.place is not None and error.remedy
        return
    assert np.allclose(gradient, slope(fn, X.copy()), atol=1e-6)


def test_what_the_backward_sweep_reads_must_not_be_written():
    w = np.array([2.0, 3.0, 4.0])
    try:
        gradient = s2sad.grad(read_before)(X.copy(), w.copy())
    except s2sad.Error as error:
        assert error.place is not None and error.remedy
    else:
        assert np.allclose(gradient, slope(read_before, X.copy(), w), atol=1e-6)


def aside(x, log):
    log.append("called")
    marks = np.zeros(2)
    marks[0] = 1.0
    seen = {}
    seen["n"] = len(x)
    return np.sum(x * x)


def appended(x):
    xs = []
    for v in x:
        xs.append(v * v)
    return xs[0] + xs[-1]


def test_what_carries_no_derivative_may_be_written():
    log = []
    assert np.array_equal(s2sad.grad(aside)(X, log), 2 * X)
    assert log == ["called"]
    assert np.allclose(s2sad.grad(appended)(X), [1.4, 0.0, 0.8])


def grows(xs, x):
    xs.append(x)
    return xs[0] * x


def counts(x, seen):
    seen[0] += 1
    return x * x


def test_an_argument_is_never_changed():
    xs = [2.0]
    assert s2sad.grad(grows, wrt=(0, 1))(xs, 3.0) == ([3.0], 2.0)
    assert s2sad.jvp(grows, (xs, 3.0), ([1.0], 0.0)) == (6.0, 3.0)
    assert xs == [2.0]
    seen = np.zeros(1)
    assert s2sad.grad(counts)(2.0, seen) == 4.0
    assert seen[0] == 0.0


def write_first(c):
    c[0] = 5.0


def by_map(x):
    c = np.ones(3)
    y = x * c
    list(map(write_first, [c]))
    return np.sum(y * y * c)


def test_a_writer_given_to_map_is_followed():
    assert np.allclose(s2sad.grad(by_map)(X), 2.0 * X * [5.0, 1.0, 1.0])


def reached_through_a_tuple(x):
    new = [x]
    pair = (new, 1.0)
    new.append(x * x)
    return pair[0][-1] * 3.0


def reached_through_a_list(x):
    rows = []
    for _ in range(2):
        new = [x]
        rows.append(new)
        new.append(x * x)
    return rows[0][-1]


@pytest.mark.parametrize("f", [reached_through_a_tuple, reached_through_a_list])
def test_a_list_that_grows_after_it_got_another_holder(f):
    slope = (f(1.2 + 1e-6) - f(1.2 - 1e-6)) / 2e-6
    assert s2sad.grad(f)(1.2) == pytest.approx(slope, rel=1e-7)
    assert s2sad.jvp(f, (1.2,), (1.0,))[1] == pytest.approx(slope, rel=1e-7)


KEPT = [1.0]


def keeps(a):
    KEPT.append(a)


def reads_what_is_kept(x):
    keeps(x[0])
    return KEPT[-1] * x[1]


def test_a_call_that_keeps_what_varies_outside_is_refused():
    with pytest.raises(s2sad.Error, match="lasts from call to call"):
        s2sad.grad(reads_what_is_kept)(X)


def by_str(x):
    return float(str(x[0])) * x[1]


def by_a_format(x):
    text = f"{x[0]:.3f}"
    return float(text) * x[1]


def by_percent(x):
    return float("%.3f" % x[0]) * x[1]


def by_method(x):
    return float("{}".format(x[0]).strip()) * x[1]  # noqa: UP032


@pytest.mark.parametrize("fn", [by_str, by_a_format, by_percent, by_method])
def test_numbers_out_of_strings_are_refused(fn):
    with pytest.raises(s2sad.UnsupportedError, match="read from a string"):
        s2sad.grad(fn)(np.array([2.0, 3.0]))


def beside_strings(x, given):
    print(f"{x[0]}", str(x[1]))
    return float(given) * float("3.0") * x[1]


def test_numbers_out_of_other_strings():
    assert s2sad.grad(beside_strings)(np.array([2.0, 3.0]), "2") == pytest.approx([0.0, 6.0])
