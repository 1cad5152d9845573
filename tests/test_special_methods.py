"""Special methods that write: where no call names them, they run all the same."""
# ruff: noqa: F841 - what is bound and not read must not be dropped with what it runs

import functools

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


# --- what was found by a second search ------------------------------------------------------------


class CountsIn:
    def __init__(self):
        self.s = 1.0

    def __contains__(self, k):
        self.s += 1.0
        return k == "a"


def counted_in(x):
    b = CountsIn()
    t = "a" in b
    return x * b.s


class DoublesIn:
    def __init__(self, x):
        self.s = x

    def __contains__(self, k):
        self.s *= 2.0
        return k == 1


def doubled_in(x):
    b = DoublesIn(x)
    return b.s * 3 if 1 in b else b.s


class AddsByEquality:
    def __init__(self):
        self.s = 1.0

    def __eq__(self, k):
        self.s += k
        return k > 0.0


def added_by_equality(x):
    b = AddsByEquality()
    t = x == b
    return b.s


class BothOrders:
    def __init__(self, v):
        self.v = v
        self.s = 1.0

    def __lt__(self, o):
        self.s *= 2
        return self.v < o.v

    def __gt__(self, o):
        self.s *= 3
        return self.v > o.v


def both_orders(x):
    a, b = BothOrders(x), BothOrders(2.0)
    if a < b:
        x = x * 2
    return x * a.s * b.s


class Property:
    def __init__(self, v):
        self.v = v

    @property
    def q(self):
        self.v *= 2
        return self.v


def asked_for_a_property(x):
    p = Property(x)
    if hasattr(p, "q"):
        return p.v
    return 0.0


class PropertyOfOne:
    def __init__(self, v):
        self.v = v

    @property
    def q(self):
        self.v *= 2
        return 1


def matched_by_a_property(x):
    p = PropertyOfOne(x)
    match p:
        case PropertyOfOne(q=1):
            t = 5.0
        case _:
            t = 3.0
    return p.v * t


def bound_by_a_property(x):
    p = Property(x)
    match p:
        case Property(q=a):
            t = a
        case _:
            t = 3.0
    return p.v * t


class Greater:
    def __init__(self, v):
        self.v = v
        self.c = 1.0

    def __gt__(self, o):
        self.c = self.v * 2
        return self.v > o.v


def largest_of_objects(x):
    a, b = Greater(x), Greater(0.3)
    m = max(a, b)
    return b.c * x


class Hashed:
    def __init__(self):
        self.h = 0

    def __hash__(self):
        self.h += 1
        return 1


def counted_hashes(x):
    k = Hashed()
    d = {k: x}
    d[k] = d[k] * 3
    return d[k] * k.h


def in_an_except_clause(x):
    log = [x]

    def err():
        log[0] *= 2
        return IndexError

    rows = [1.0]
    try:
        t = rows[3]
    except err():
        t = 3.0
    return log[0] * t


@functools.lru_cache
def list_of(n):
    return [0.0, 0.0]


def cached_list(x):
    a = list_of(2)
    a[0] = x
    return list_of(2)[0] * x


@functools.lru_cache
def array_of(n):
    return np.zeros(n)


def cached_array(x):
    w = array_of(3)
    w[:] = x * np.arange(3.0)
    v = array_of(3)
    return np.sum(w * v)


class Plain:
    def __init__(self):
        self.v = 1.0


@functools.lru_cache
def object_of_key(n):
    return Plain()


def cached_object(x):
    object_of_key(1).v = x
    object_of_key(2).v = x * x
    return object_of_key(1).v * object_of_key(2).v


class Called:
    def __init__(self, v):
        self.v = v

    def __call__(self):
        self.v *= 2
        return 3


def called_until(x):
    c = Called(x)
    for k in iter(c, 3):
        pass
    return c.v


@pytest.mark.parametrize("f", [counted_in, doubled_in, added_by_equality, both_orders])
def test_what_is_compared_with_counts(f):
    slopes.check(f, 0.7)
    assert s2sad.value_and_grad(f)(0.7)[0] == f(0.7)


@pytest.mark.parametrize(
    "f",
    [
        *(asked_for_a_property, matched_by_a_property, bound_by_a_property, largest_of_objects),
        *(counted_hashes, in_an_except_clause, called_until),
    ],
)
def test_what_may_run_out_of_sight_is_refused(f):
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.grad(f)(0.7)
    with pytest.raises(s2sad.UnsupportedError):
        s2sad.jvp(f, (0.7,), (1.0,))


@pytest.mark.filterwarnings("ignore:functools.lru_cache")
@pytest.mark.parametrize("f", [cached_list, cached_array, cached_object])
def test_a_write_into_what_is_cached_is_refused(f):
    with pytest.raises(s2sad.UnsupportedError, match="is cached"):
        s2sad.grad(f)(0.7)
    with pytest.raises(s2sad.UnsupportedError, match="is cached"):
        s2sad.jvp(f, (0.7,), (1.0,))


class Inside:
    def __init__(self, v):
        self.v, self.n = v, 1.0

    def __contains__(self, other):
        self.n += other
        return other > 0.0


def within(p, x):
    r = 1.0 if x in p else 2.0
    return r * p.v


def test_an_argument_that_is_asked_stays_as_it_was():
    p = Inside(0.7)
    assert s2sad.grad(within, wrt="x")(p, 0.3) == 0.0
    s2sad.jvp(within, (p, 0.3), (None, 1.0))
    assert p.n == 1.0
