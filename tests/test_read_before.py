"""`a[i] += v`: what is read first, what is put into lists, and what comes of it."""

import numpy as np
import pytest
import slopes

import s2sad
from tests.slopes import check


def by_a_stack(a, b):
    a = a * 1.0
    left = [0, 3, 2]
    while left:
        a[left.pop()] *= b[len(left)]
    return np.sum(a * a)


def extended_by_a_comprehension(a, b):
    out = [a[0], b[1]]
    out += [2.0 * p * b[0] for p in a]
    out.extend([p * out[0] for p in b if p > 0.4])
    return sum(out)


def history(a, b):
    kept = [np.zeros(2)]
    for k in range(3):
        kept += [a[k] * h + b[3] for h in kept[-1:]]
    return np.sum(np.array(kept) ** 2)


def until_long_enough(a, b):
    parts = [a[0] - b[0]]
    while len(parts) < 9:
        parts += [p * a[1] for p in parts]
    return sum(r * r for r in parts)


A, B = np.array([0.3, 0.5, 0.7, 0.9]), np.array([1.3, 0.5, 0.6, 0.8])


@pytest.mark.parametrize("f", [by_a_stack, extended_by_a_comprehension, history, until_long_enough])
def test_gradient(f):
    value, _ = s2sad.value_and_grad(f)(A, B)
    assert value == f(A.copy(), B.copy())
    check(f, A.copy(), B.copy())


class Account:
    def __init__(self, money):
        self.money = money

    def raised(self):
        self.money *= 1.5
        return self.money * 0.5

    def halved(self):
        return self.money * 0.5


def changed_meanwhile(x):
    account = Account(x)
    account.money += account.raised()
    return account.money


def only_read(x):
    account = Account(x)
    account.money += account.halved()
    return account.money


class Shelf:
    def __init__(self, x):
        self.items = [x, 2.0 * x]
        self.last = [x]

    def tripled(self):
        self.items[0] = self.items[0] * 3.0
        return self.items[0]

    def doubled(self):
        self.last[0] = self.last[0] * 2.0
        return self.last[0]


def item_changed_meanwhile(x):
    shelf = Shelf(x)
    shelf.items[0] += shelf.tripled()
    return shelf.items[0]


def another_changed_meanwhile(x):
    shelf = Shelf(x)
    shelf.items[0] += shelf.doubled()
    return shelf.items[0]


def by_a_closure(a, b):
    def doubled(k):
        a[k] = a[k] * b[k]
        return b[k]

    a[0] += doubled(0)
    return np.sum(a * a)


def halves(v):
    if len(v) == 1:
        return [v[0] ** 2]
    left = halves(v[: len(v) // 2])
    left.extend(halves(v[len(v) // 2 :]))
    return left


def of_halves(x):
    parts = halves(x)
    return parts[0] * parts[3]


class Counter:
    def __init__(self, x):
        self.x = x
        self.n = 0
        self.all = [x, 2.0 * x]

    def next(self):
        self.n += 1
        self.all[0] = self.all[0] * self.n
        return self.x * self.n


def place_changed_meanwhile(x):
    counter, found = Counter(x), np.zeros(4)
    found[counter.n] += counter.next()
    found[counter.n] *= counter.next() + 1.0
    found[counter.n] += counter.next()
    return found[0] + 10.0 * found[1] + 100.0 * found[2] + 1000.0 * found[3]


def by_another_name(x):
    counter = Counter(x)
    items = counter.all
    items[0] += counter.next()
    items[1] -= counter.next() * items[0]
    return items[0] * items[1]


def in_a_call_of_a_call(x):
    counter = Counter(x)

    class_ = Shelf(x)

    def both(c):
        class_.items[0] *= 2.0 + c.next()
        return c.next()

    counter.all[0] += both(counter)
    return counter.all[0] * class_.items[0]


def scaled(held, by):
    held[0] *= by
    return held[0] * held[1]


def scaled_twice(held, by):
    held[0] += scaled(held, by)
    held[0] *= 3.0
    return held[0]


def added_then_scaled(x):
    held = [x, 2.0 * x]
    held[0] += scaled(held, x)
    held[0] *= x
    return held[0] * held[1]


def added_and_scaled_inside(x):
    held = [x, 2.0 * x]
    for _ in range(2):
        held[0] += scaled_twice(held, x)
        held[0] *= x
        held[1] -= 0.1 * held[0]
    return held[0] * held[1]


def entries_added_then_scaled(x):
    held = {"a": x, "b": x * x}
    held["a"] += sum(v * x for v in held.values())
    held["a"] *= x
    if x > 0.0:
        held["a"] -= x * x
    return held["a"] * held["b"]


def elements_added_then_scaled(x):
    a = x * np.array([1.0, 2.0, -0.5])
    a[1] += sum(p * q for p, q in zip(a, a[1:], strict=False))
    a[1] /= 1.5
    a[1] += sum(p for p, q in zip(a, a, strict=True))
    a[1] -= x * a[1]
    return np.sum(a * a)


def unpacked_before_it_is_popped(x):
    held = {"a": x, "b": x * x}
    more = {**held, "c": held.pop("a")}
    return sum(more.values()) * len(more) + len(held) * x


def arrays_added_while_popped(x):
    rows = [x * np.ones(2), x * x * np.ones(2)]
    first = rows[0]
    rows[0] += rows.pop()
    return np.sum(first * rows[0])


def test_what_is_read_before_it_is_changed():
    check(only_read, 0.7)
    check(another_changed_meanwhile, 0.7)
    check(item_changed_meanwhile, 0.7)
    check(changed_meanwhile, 0.7)
    check(place_changed_meanwhile, 0.7)
    check(by_another_name, 0.7)
    check(in_a_call_of_a_call, 0.7)
    check(arrays_added_while_popped, 0.7)
    for f in (added_then_scaled, added_and_scaled_inside, unpacked_before_it_is_popped):
        check(f, 0.7)
        assert s2sad.value_and_grad(f)(0.7)[0] == f(0.7)
    for f in (entries_added_then_scaled, elements_added_then_scaled):
        check(f, 0.7)
        assert s2sad.value_and_grad(f)(0.7)[0] == f(0.7)
    assert s2sad.value_and_grad(by_another_name)(0.7)[0] == by_another_name(0.7)
    with pytest.raises(s2sad.UnsupportedError, match="then computes its right side"):
        s2sad.grad(by_a_closure)(A.copy(), B.copy())
    slopes.check(of_halves, A.copy())
