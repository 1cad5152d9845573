"""Memory outside that a function, or what it calls, writes: right, or refused, never put back."""

import copy

import numpy as np
import pytest

import s2sad
from s2sad import Duplicated, Reverse, autodiff

X = np.array([0.3, -0.8, 1.1])


class Box:
    def __init__(self):
        self.k, self.w, self.n, self.mode = 1.0, np.ones(3), 0, None
        self.fn, self.words = np.sin, [0, 1]


class Shared:
    inner = Box()
    w = np.ones(3)


box = Box()
W = np.ones(3)
INDEX = np.zeros(3, int)
ROWS = [1.0]
PICKED = [0, 1]
TABLE = {"a": 1.0, "fn": np.sin}
MEMO = {}


def reset():
    box.__init__()
    MODEL.__init__()
    Shared.w, Shared.inner = np.ones(3), Box()
    W[:], INDEX[:], ROWS[:], PICKED[:] = 1.0, 0, [1.0], [0, 1]
    TABLE.update(a=1.0, fn=np.sin)


def left():
    data = {**vars(box), "fn": box.fn is np.sin}
    return copy.deepcopy([data, Shared.w, W, INDEX, ROWS, PICKED, TABLE["a"]])


# --- right ---------------------------------------------------------------------------------------


def filled_first(x):
    W[:] = 2.0
    return np.sum(x * x * W)


def counted(x):
    box.n += 1
    return np.sum(x * x * box.k)


def number_of_a_list(x):
    ROWS[0] = 2.0
    a = x * ROWS[0]
    ROWS[0] = 5.0
    return np.sum(a * x) * ROWS[0]


def pushed(x):
    ROWS.append(3.0)
    a = x * ROWS[-1]
    ROWS.append(7.0)
    return np.sum(a * x) * ROWS[-1]


def number_of_a_dict(x):
    TABLE["a"] = 2.0
    a = x * TABLE["a"]
    TABLE["a"] *= 7.0
    return np.sum(a * x)


def bump(b):
    b.k = b.k + 1.0


def used(b, x):
    return x * x * b.k


def given_to_a_helper(x):
    bump(box)
    return np.sum(used(box, x))


def handed_over(x):
    a = used(box, x)
    box.k = 4.0
    return np.sum(a)


def squashed(z):
    return 1.0 / (1.0 + np.exp(-z))


def formula_of_a_global(x):
    return np.sum(squashed(W) * x)


class Model:
    def __init__(self):
        self.k, self.w, self.calls, self.sizes = 2.0, np.arange(1.0, 4.0), 0, []

    def __call__(self, x):
        self.calls += 1
        return x * x * self.k * self.w

    def noted(self, x):
        self.sizes.append(len(x))
        return x * self.w

    def repeated(self, x):
        for _ in range(3):
            self.calls += 1
            x = x * self.w
        return x


MODEL = Model()


def counts_its_calls(x):
    return np.sum(MODEL(MODEL(x)))


def keeps_a_log(x):
    return np.sum(MODEL.noted(x))


def counts_in_a_loop(x):
    for _ in range(2):
        x = MODEL.repeated(x)
    return np.sum(x)


def flag_of_the_same_kind(x):
    box.n = 2
    if box.n == 0:
        return np.sum(x)
    return np.sum(x**box.n)


def in_other_arms(x):
    if x[0] > 100.0:
        W[0] = 3.0
        return np.sum(x)
    return np.sum(x * x * W)


RIGHT = [
    filled_first,
    counted,
    number_of_a_list,
    pushed,
    number_of_a_dict,
    given_to_a_helper,
    handed_over,
    formula_of_a_global,
    counts_its_calls,
    keeps_a_log,
    counts_in_a_loop,
    flag_of_the_same_kind,
    in_other_arms,
]


def slopes(f):
    found = []
    for e in np.eye(3) * 1e-6:
        ends = []
        for moved in (X + e, X - e):
            reset()
            ends.append(f(moved))
        found.append((ends[0] - ends[1]) / 2e-6)
    return found


@pytest.mark.parametrize("f", RIGHT)
def test_gradient(f):
    want = slopes(f)
    reset()
    value, after = f(X), left()
    reset()
    got, gradient = s2sad.value_and_grad(f)(X)
    assert got == value and np.allclose(gradient, want, atol=1e-7)
    np.testing.assert_equal(left(), after)
    reset()
    x, x_bar = X.copy(), np.zeros(3)
    autodiff(Reverse, f, Duplicated(x, x_bar))
    assert np.allclose(x_bar, want, atol=1e-7)
    np.testing.assert_equal(left(), after)


@pytest.mark.parametrize("f", RIGHT)
def test_pullback(f):
    want = slopes(f)
    reset()
    _, pullback = s2sad.vjp(f, X)
    for _ in range(2):
        assert np.allclose(pullback(1.0), want, atol=1e-7)
        reset()


# --- read before it is changed -------------------------------------------------------------------


def array(x):
    a = x * W
    W[0] = 5.0
    return np.sum(a * x)


def array_in_a_loop(x):
    for i in range(3):
        W[i] = i + 2.0
        x = x * W * x
    return np.sum(x)


def by_method(x):
    a = x * x * W
    W.fill(3.0)
    return np.sum(a)


def by_out(x):
    a = x * x * W
    np.multiply(W, 3.0, out=W)
    return np.sum(a)


def through_a_view(x):
    v = W[1:]
    a = x * x * W
    v[0] = 9.0
    return np.sum(a)


def index(x):
    INDEX[:] = [0, 1, 2]
    a = x[INDEX] * x[INDEX][::-1]
    INDEX[:] = [2, 2, 1]
    return np.sum(a * x[INDEX])


def of_a_class(x):
    a = x * x * Shared.w
    Shared.w[0] = 5.0
    return np.sum(a)


def of_an_object(x):
    a = x * x * box.w
    box.w[0] = 5.0
    return np.sum(a)


def attribute(x):
    a = x * box.k
    box.k = 5.0
    return np.sum(a * x)


def attribute_by_setattr(x):
    a = x * box.k
    setattr(box, "k", 5.0)  # noqa: B010
    return np.sum(a * x)


def attribute_of_an_attribute(x):
    a = x * Shared.inner.k * x
    Shared.inner.k = 4.0
    return np.sum(a)


def replaced(x):
    a = x * x * box.w
    box.w = np.zeros(3)
    return np.sum(a)


def exponent(x):
    s = 0.0
    for _ in range(3):
        box.n += 1
        s += np.sum(x**box.n)
    return s


def list_as_index(x):
    a = x[PICKED] ** 2
    PICKED[0] = 2
    return np.sum(a)


def list_with_another_name(x):
    picked = PICKED
    a = x[picked] ** 2
    PICKED.append(2)
    return np.sum(a)


def grow():
    PICKED.append(2)


def list_that_a_call_fills(x):
    picked = PICKED
    a = x[picked] ** 2
    grow()
    return np.sum(a)


def list_looped_over(x):
    picked, s = PICKED, 0.0
    for i in picked:
        s += x[i] ** 2
    grow()
    return s


def set_k():
    box.k = 5.0


def by_a_call(x):
    a = x * box.k
    set_k()
    return np.sum(a * x)


def reads_k(x):
    return x * x * box.k


def read_in_a_call(x):
    a = reads_k(x)
    box.k = 7.0
    return np.sum(a * x)


def both_in_calls(x):
    a = reads_k(x)
    set_k()
    return np.sum(reads_k(a) * x)


def changed_as_argument(x):
    a = x * x * box.k
    bump(box)
    return np.sum(a)


def captured():
    k, w = 1.0, np.ones(3)

    def set_k():
        nonlocal k
        k = 5.0

    def set_w():
        nonlocal w
        w = w * 2.0

    def number(x):
        a = x * k
        set_k()
        return np.sum(a * x)

    def array(x):
        a = x * w
        set_w()
        return np.sum(a * x)

    def own(x):
        nonlocal k

        a = read(x)
        k = 3.0
        return np.sum(a)

    def read(x):
        return x * x * k

    return number, array, own


@pytest.mark.parametrize(
    "f",
    [
        array,
        array_in_a_loop,
        by_method,
        by_out,
        through_a_view,
        index,
        of_a_class,
        of_an_object,
        attribute,
        attribute_by_setattr,
        attribute_of_an_attribute,
        replaced,
        exponent,
        list_as_index,
        list_with_another_name,
        list_that_a_call_fills,
        list_looped_over,
        by_a_call,
        read_in_a_call,
        both_in_calls,
        changed_as_argument,
        *captured(),
    ],
)
@pytest.mark.parametrize("way", ["grad", "vjp", "autodiff"])
def test_old_content_is_wanted(f, way):
    """It is kept, or the store is refused."""
    want, got = slopes(f), np.zeros(3)
    reset()
    try:
        if way == "grad":
            got = s2sad.grad(f)(X)
        elif way == "vjp":
            got = s2sad.vjp(f, X)[1](1.0)
        else:
            autodiff(Reverse, f, Duplicated(X.copy(), got))
    except (s2sad.UnsupportedError, s2sad.AliasError):
        return
    assert np.allclose(got, want, atol=1e-7)


def test_the_message():
    reset()
    with pytest.raises(s2sad.UnsupportedError) as caught:
        s2sad.grad(by_out)(X)
    text = str(caught.value)
    assert "The derivative needs the old content of `W`, which is changed here" in text
    assert "in by_out\n    np.multiply(W, 3.0, out=W)" in text
    assert "Read the old value into a variable first" in text


# --- another kind than before --------------------------------------------------------------------


def no_more_none(x):
    box.mode = 2.0
    if box.mode is None:
        return np.sum(x)
    return np.sum(x * x)


def another_function(x):
    box.fn = np.cos
    return np.sum(box.fn(x))


def another_function_in_a_dict(x):
    TABLE["fn"] = np.cos
    return np.sum(TABLE["fn"](x))


def set_mode():
    box.mode = 2.0


def by_a_call_no_more_none(x):
    set_mode()
    if box.mode is None:
        return np.sum(x)
    return np.sum(x * x)


def set_given(b):
    b.mode = 2.0


def as_argument_no_more_none(x):
    set_given(box)
    if box.mode is None:
        return np.sum(x)
    return np.sum(x * x)


def one_row(x):
    box.w = np.ones(1)
    return np.sum(x * x * box.w)


def captured_none():
    mode = None

    def set_mode():
        nonlocal mode
        mode = 2.0

    def f(x):
        set_mode()
        if mode is None:
            return np.sum(x)
        return np.sum(x * x)

    return f


def weights_of(n):
    if n not in MEMO:
        MEMO[n] = np.ones(n)
    return MEMO[n]


def filled_as_it_runs(x):
    total = 0.0
    for a, w in zip(x, weights_of(len(x)), strict=True):
        total += a * a * w
    return total


def keys_filled_as_it_runs(x):
    if 3 not in MEMO:
        MEMO[3] = 2.0
    total = 0.0
    for k in MEMO:
        total += x[0] * x[1] * k
    return total


@pytest.mark.parametrize("f", [filled_as_it_runs, keys_filled_as_it_runs])
def test_an_empty_memo_that_the_program_fills_is_refused(f):
    for derive in (s2sad.grad(f), lambda x: s2sad.jvp(f, (x,), (np.ones(3),))):
        MEMO.clear()
        with pytest.raises(s2sad.UnsupportedError):
            derive(X)


@pytest.mark.parametrize(
    "f",
    [
        no_more_none,
        another_function,
        another_function_in_a_dict,
        by_a_call_no_more_none,
        as_argument_no_more_none,
        one_row,
        captured_none(),
    ],
)
def test_of_another_kind(f):
    want = slopes(f)
    reset()
    try:
        got = s2sad.grad(f)(X)
    except s2sad.UnsupportedError:
        return
    assert np.allclose(got, want, atol=1e-7)


class Single:
    inst = None

    def __init__(self):
        self.v = 2.0

    @classmethod
    def get(cls):
        if cls.inst is None:
            cls.inst = cls()
        return cls.inst

    @classmethod
    def scaled(cls, x):
        cls.get()
        return cls.inst.v * x


class Counter:
    n = 1.0

    @classmethod
    def up(cls):
        cls.n = cls.n + 1.0


def made_by_a_class_method(x):
    return Single.get().v * x


def read_where_it_is_made(x):
    return Single.scaled(x)


def read_beside_a_class_method(x):
    Single.get()
    return Single.inst.v * x


@pytest.mark.parametrize(
    "f", [made_by_a_class_method, read_where_it_is_made, read_beside_a_class_method]
)
def test_an_attribute_of_another_kind_that_a_class_method_sets_is_refused(f):
    for derive in (lambda: s2sad.vjp(f, 1.3), lambda: s2sad.jvp(f, (1.3,), (1.0,))):
        Single.inst = None
        with pytest.raises(s2sad.UnsupportedError, match="may be of another kind|on all paths"):
            derive()
    Single.inst = Single()  # then nothing is stored
    assert s2sad.jvp(f, (1.3,), (1.0,)) == (2.6, 2.0)


def counted(x):
    Counter.up()
    return Counter.n * x


def test_a_number_that_a_class_method_sets_is_read_as_it_is_then():
    Counter.n = 1.0
    assert s2sad.jvp(counted, (1.3,), (1.0,)) == (2.6, 2.0)
    Counter.n = 1.0
    assert s2sad.vjp(counted, 1.3)[1](1.0) in (2.0, (2.0,))
