"""Objects whose class says what a statement does: what is refused, and in what words."""

import copy
import functools

import numpy as np
import pytest

import s2sad
from tests.writing_members import A, Model, Norm, X


class Flag:
    def __init__(self):
        self.level = None

    def set(self):
        self.level = 2.0


def a_choice_is_set(x):
    c, d = Flag(), Flag()
    b = c if x > 0 else d
    b.level = 2.0
    return (1.0 if c.level is None else 3.0) * x


def an_item_is_set(x):
    c = Flag()
    flags = [c, Flag()]
    flags[0].level = 2.0
    return (1.0 if c.level is None else 3.0) * x


def items_are_set_in_a_loop(x):
    c = Flag()
    flags = [c, Flag()]
    for flag in flags:
        flag.set()
    return (1.0 if c.level is None else 3.0) * x


def items_are_set_in_two_loops(x):
    flags = [Flag(), Flag()]
    for flag in flags:
        x = x * 2.0
    for flag in flags:
        flag.level = 2.0
    return (1.0 if flags[0].level is None else 3.0) * x


class Scaled:
    def __init__(self, m):
        self.m = m

    @functools.cached_property
    def double(self):
        return self.m * 2.0


def kept_by_another_name(x):
    c, d = Scaled(1.0), Scaled(1.0)
    b = c if x > 0 else d
    s = c.double * x
    c.m = 3.0
    return s + b.double * x * x


def kept_in_a_list(x):
    c = Scaled(1.0)
    both = [c, Scaled(1.0)]
    s = c.double * x
    c.m = 3.0
    return s + both[0].double * x * x


def kept_in_a_loop(x):
    both = [Scaled(1.0), Scaled(2.0)]
    s = 0.0
    for c in both:
        s = s + c.double * x
    for c in both:
        c.m = 3.0
    for c in both:
        s = s + c.double * x * x
    return s


def set_by_name(x, attr="other"):
    c = Flag()
    setattr(c, attr, 2.0)
    return x * (3.0 if hasattr(c, "other") else 1.0)


def put(c, attr, value):
    setattr(c, attr, value)


def set_by_a_function(x, attr="level"):
    c = Flag()
    put(c, attr, 2.0)
    return x * (3.0 if c.level is None else 1.0)


def set_as_a_dict(x):
    c = Flag()
    vars(c)["level"] = 2.0
    return x * (3.0 if c.level is None else 1.0)


def updated_as_a_dict(x):
    c = Flag()
    c.__dict__.update(level=2.0, other=1.0)
    return x * (3.0 if hasattr(c, "other") else 1.0)


@pytest.mark.parametrize(
    "f",
    [
        set_by_name,
        set_by_a_function,
        set_as_a_dict,
        updated_as_a_dict,
        a_choice_is_set,
        an_item_is_set,
        items_are_set_in_a_loop,
        items_are_set_in_two_loops,
        kept_by_another_name,
        kept_in_a_list,
        kept_in_a_loop,
    ],
)
def test_what_a_test_by_kinds_sees_is_not_stale(f):
    """Where an object has two names, what one tells must not be decided by what it was before."""
    try:
        value, gradient = s2sad.value_and_grad(f)(0.7)
    except s2sad.Error:
        return
    assert value == f(0.7)
    assert gradient == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6)


def kept_on_one_path(x):
    n = Norm(x)
    a = n.square if x[0] > 0 else 1.0
    n.x = x * 3.0
    return a * n.square


def test_a_cache_that_one_path_fills_is_refused():
    with pytest.raises(s2sad.UnsupportedError) as error:
        s2sad.grad(kept_on_one_path)(X)
    assert "has the attribute square on one path only" in str(error.value)


def in_a_test(x):
    n = Norm(x)
    if n.square > 1.0:
        n.x = x * 2.0
    return n.square


def test_a_cache_filled_in_a_test_is_refused():
    with pytest.raises(s2sad.UnsupportedError) as error:
        s2sad.grad(in_a_test)(X)
    assert "in a statement of its own" in str(error.value)


def determinant(model):
    return model.logdet


def test_a_cache_that_is_given_full_is_refused():
    model = Model(A.copy())
    fresh = s2sad.grad(determinant)(model).A
    assert "factor" not in vars(model)
    model.logdet  # noqa: B018
    with pytest.raises(s2sad.ActivityError) as error:
        s2sad.grad(determinant)(model)
    assert "holds `factor`" in error.value.reason and "del model.factor" in str(error.value)
    del model.factor
    assert np.array_equal(s2sad.grad(determinant)(model).A, fresh)


class Swapped:
    def __init__(self, t):
        self._t = t

    @property
    def t(self):
        return self._t

    @t.setter
    def t(self, value):
        self._t = value * 2.0


class Named:
    names = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b

    def total(self):
        return sum(getattr(self, name) * (i + 1.0) for i, name in enumerate(self.names))


def named(x):
    return Named(x, x * x).total()


def test_names_of_attributes_are_seen_live(monkeypatch):
    gradient = s2sad.grad(named)
    assert gradient(0.5) == 1.0 + 2.0
    monkeypatch.setattr(Named, "names", ("b", "a"))
    assert gradient(0.5) == 1.0 + 2.0 * 1.0
    monkeypatch.setattr(Named, "names", ("b",))
    assert gradient(0.5) == 1.0
    monkeypatch.setattr(Named, "names", ("b", "a", "b"))
    assert gradient(0.5) == 1.0 + 2.0 + 3.0


class Hooked:
    def __init__(self, a):
        self.a = a

    def __copy__(self):
        return Hooked(self.a * 2.0)


def copied_in_its_own_way(x):
    return copy.copy(Hooked(x)).a


def copied_with_lists(x):
    xs = [x, x * x]
    ys = copy.deepcopy(xs)
    ys[0] *= 2.0
    return np.sum(xs[0] * ys[0])


def copied_with_dicts(x):
    p = {"a": x * x, "b": (x, [x[0], 2.0])}
    q = copy.deepcopy(p)
    q["a"][0] *= 3.0
    return np.sum(q["a"] * p["a"]) * q["b"][1][0]


@pytest.mark.parametrize("f", [copied_with_lists, copied_with_dicts])
def test_copies_of_lists_and_dicts(f):
    s2sad.check_grads(f, (X,))


class Twice:
    def __init__(self, x):
        self.a = self.b = x


def copied_with_what_stands_twice(twice):
    q = copy.deepcopy(twice)
    q.a[0] = 3.0 * q.a[1]
    return np.sum(q.b)


def copied_together(a, b):
    c, d = copy.deepcopy([a, b])
    c[0] = 3.0 * d[1]
    return np.sum(d)


def copied_beside_a_write(a, twice):
    a *= 2.0
    return copied_with_what_stands_twice(twice) * np.sum(a)


def test_copies_that_are_refused():
    with pytest.raises(s2sad.Error):
        s2sad.grad(copied_in_its_own_way)(0.5)
    twice = Twice(np.ones(2))
    for derive in (
        lambda: s2sad.value_and_grad(copied_with_what_stands_twice)(twice),
        lambda: s2sad.vjp(copied_with_what_stands_twice, twice),
        lambda: s2sad.vjp(copied_together, twice.a, twice.b),
        lambda: s2sad.grad(copied_beside_a_write)(np.ones(2), twice),
        lambda: s2sad.jvp(copied_beside_a_write, (np.ones(2), twice), (np.ones(2), None)),
    ):
        with pytest.raises(s2sad.AliasError, match="in one structure twice"):
            derive()


def tripled(self, value):
    self._t = value * 3.0


def swapped(x):
    s = Swapped(x)
    s.t = x * x
    return s.t


def test_a_setter_is_seen_live(monkeypatch):
    gradient = s2sad.grad(swapped)
    assert gradient(0.5) == 2.0
    monkeypatch.setattr(Swapped, "t", Swapped.t.setter(tripled))
    assert gradient(0.5) == 3.0
