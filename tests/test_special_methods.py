"""Special methods that write: where no call names them, they run all the same."""
# ruff: noqa: F841 - what is bound and not read must not be dropped with what it runs

import numpy as np
import pytest
import slopes

import s2sad


class Length:
    def __init__(self):
        self.n = 1.0

    def __len__(self):
        self.n = 2.0
        return 1


class Equal:
    def __init__(self):
        self.n = []

    def __eq__(self, other):
        self.n.append(1)
        return True


class Text:
    def __init__(self):
        self.n = []

    def __str__(self):
        self.n.append(1)
        return "b"


class Number:
    def __init__(self):
        self.n = 1.0

    def __float__(self):
        self.n *= 3.0
        return 1.0


class Bag:
    def __init__(self, names):
        self.names, self.on, self.w = names, False, None

    def __contains__(self, name):
        self.names.append(name)
        return True

    def __bool__(self):
        self.on, self.w = True, 2.0
        return True


class Filled:
    def __init__(self):
        self.w, self.items = {}, []

    def __contains__(self, key):
        self.w[key] = 2.0
        return True

    def __len__(self):
        self.items.append(2.0)
        return 1


class Ordered:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        self.v = self.v * 2.0
        return True


def length(x):
    b = Length()
    n = len(b)
    return x * b.n * n


def unread_length(x):
    b = Length()
    n = len(b)
    return x * b.n


def length_in_a_range(x):
    b = Length()
    for _ in range(len(b)):
        x = x * b.n
    return x


def length_as_truth(x):
    b = Length()
    t = 1 if b else 2
    return x * b.n * t


def negated(x):
    b = Length()
    t = not b
    return x * b.n


def asserted(x):
    b = Length()
    assert b, "none"
    return x * b.n


def in_a_comprehension(x):
    b = Length()
    c = [v for v in [1, 2] if b]
    return x * b.n * len(c)


def equal(x):
    b = Equal()
    if b == 1:
        pass
    return x ** len(b.n)


def not_equal(x):
    b = Equal()
    if b != 1:
        x = x * 2.0
    return x ** len(b.n)


def equal_from_the_right(x):
    b = Equal()
    t = 1 == b
    return x ** len(b.n)


def less(x):
    a, b = Ordered(x), Ordered(1.0)
    if a < b and b > a:
        x = x * a.v
    return x * a.v * b.v


def formatted(x):
    b = Text()
    s = f"{b} {b!s}"
    return x ** len(b.n) * len(s)


def as_text(x):
    b = Text()
    s = str(b)
    return x ** len(b.n)


def as_a_float(x):
    b = Number()
    y = float(b)
    return x * b.n * y


def contained(x):
    names = []
    b = Bag(names)
    if "u" in b and "v" in b:
        pass
    if "w" not in b:
        x = x * x
    return x ** len(names)


def flagged(x):
    b = Bag([])
    if b:
        pass
    return x * x if b.on else x


def no_more_none(x):
    b = Bag([])
    while b:
        break
    return x if b.w is None else x * b.w


def entries(x):
    b = Filled()
    s = 0.0
    for i in [0, 1]:
        if i in b:
            s = s + x * b.w[i]
    return s


def entries_behind(x):
    b = Filled()
    s = 0.0
    for i in [0, 1]:
        if i in b:
            pass
        s = s + x * b.w[i]
    return s


def items(x):
    b = Filled()
    if len(b) > 0:
        return x * b.items[-1]
    return 0.0


def items_by_truth(x):
    b = Filled()
    if b:
        return x * b.items[-1]
    return x


RIGHT = [
    *(length, unread_length, length_in_a_range, length_as_truth, negated, asserted),
    *(in_a_comprehension, equal, not_equal, equal_from_the_right, less, formatted, as_text),
    *(as_a_float, contained, flagged, no_more_none, entries, entries_behind, items),
    items_by_truth,
]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_what_runs_unnamed_is_a_call_like_any_other(f):
    slopes.check(f, 1.3)
    value, slope = s2sad.value_and_grad(f)(1.3)
    assert value == f(1.3)
    assert s2sad.jvp(f, (1.3,), (1.0,)) == (value, pytest.approx(slope))


def of_an_item(x):
    b = Equal()
    t = b in [1, 2]
    return x * len(b.n)


def indexed(x):
    b = Equal()
    t = [1, 2].index(b)
    return x * len(b.n)


def counted(x):
    b = Equal()
    t = [1, b, 2].count(5)
    return x * len(b.n)


def printed(x):
    b = Text()
    print(b, end="")
    return x * len(b.n)


def formatted_by_percent(x):
    b = Text()
    s = "%s" % b
    return x * len(b.n)


def formatted_by_format(x):
    b = Text()
    s = "{}".format(b)
    return x * len(b.n)


@pytest.mark.parametrize(
    "f",
    [of_an_item, indexed, counted, printed, formatted_by_percent, formatted_by_format],
    ids=lambda f: f.__name__,
)
def test_what_may_run_unnamed_is_refused_where_it_writes(f):
    with pytest.raises(s2sad.UnsupportedError, match="may run here, and it writes"):
        s2sad.grad(f)(1.3)
    with pytest.raises(s2sad.UnsupportedError, match="may run here, and it writes"):
        s2sad.jvp(f, (1.3,), (1.0,))


class Quiet:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return self.v == other

    def __str__(self):
        return "quiet"

    def __len__(self):
        return 3


def quiet(x):
    b = Quiet(x)
    found = [b].index(b)
    text = "%s" % b + f"{b}" + str(b)
    return b.v * len(b) * len(text) if b in [1.3, b] else x * found


def test_what_writes_nothing_may_run_anywhere():
    slopes.check(quiet, np.float64(1.3))
