"""Names that share memory when the function runs are in one class; every write is found."""

import numpy as np
import pytest

from s2sad import kinds as K
from s2sad.steps.derivation import Derivation, analyse, memory_of

V = np.arange(6.0)


def views(x):
    a = x[1:]
    b = a.reshape(5, 1)
    c = b.T
    d = x * 1.0
    e = d.ravel()
    f = np.asarray(x)
    g = x.copy()
    return locals()


def containers(x):
    y = x + 1.0
    xs = [x, y]
    z = xs[1]
    t = (z, 2.0)
    w = t[0]
    d = {"a": w}
    v = d["a"]
    return locals()


def paths(x):
    y = x + 1.0
    z = x if x[0] > 1.0 else y
    for row in [x, y]:
        last = row
    u, w = y, z
    return locals()


def pick(a, b):
    return a[1:]


def callees(x):
    y = x * 2.0
    z = pick(x, y)
    w = pick(y, x)
    return locals()


def known(fn):
    d = Derivation()
    return memory_of(d, analyse(d, fn, {"x": K.kind_of(V, "x")}))


@pytest.mark.parametrize("fn", [views, containers, paths, callees], ids=lambda fn: fn.__name__)
def test_what_shares_memory_is_in_one_class(fn):
    facts = known(fn)
    arrays = {n: v for n, v in fn(V.copy()).items() if isinstance(v, np.ndarray)}
    for a, left in arrays.items():
        for b, right in arrays.items():
            if np.shares_memory(left, right):
                assert b in facts.shares(a, {b}), (a, b)


def test_a_new_array_shares_nothing():
    facts = known(views)
    assert facts.shares("x", {"d", "e", "g"}) == set()


def fill(a, n):
    a[0] = n


def by_item(x):
    x[0] = 1.0


def by_slice(x):
    x[1:] += 1.0


def by_aug(x):
    x += 1.0


def by_method(x):
    x.sort()


def by_out(x):
    np.sin(x, out=x)


def by_at(x):
    np.add.at(x, [0, 0], 1.0)


def by_callee(x):
    fill(x, 2.0)


def by_keyword(x):
    fill(n=2.0, a=x)


def by_view(x):
    y = x[1:]
    y[0] = 2.0


def by_loop(x):
    for row in [x]:
        row[0] = 3.0


WRITERS = [by_item, by_slice, by_aug, by_method, by_out, by_at, by_callee, by_keyword, by_view]


@pytest.mark.parametrize("fn", [*WRITERS, by_loop], ids=lambda fn: fn.__name__)
def test_every_write_is_found(fn):
    before = V.copy() + 3.0
    after = before[::-1].copy()
    start = after.copy()
    fn(after)
    assert not np.array_equal(after, start)
    facts = known(fn)
    assert any(facts.shares(w.base, {"x"}) for w in facts.writes)


def reads(x):
    y = x * 2.0
    y = y + x[0]
    s = 0.0
    s += np.sum(y)
    print(len(x))
    return s


def test_reading_writes_nothing():
    assert known(reads).writes == [] and known(reads).opaque == []
