"""Reverse mode on the program: what structures hold, beside central differences.

Lists, dicts and objects that change, tuples in them, and memory that several of them hold.
"""

import dataclasses
import inspect

import numpy as np
import pytest

import s2sad
from s2sad import kinds as K
from s2sad import pipeline
from s2sad.emitted import held_numbers as H
from s2sad.errors import UnsupportedError
from s2sad.operators.deriving import loaded, printed
from s2sad.operators.higher import HIGHER
from s2sad.requests import Request

X = np.array([0.3, 0.7, 1.1])


def eig_written(x):
    A = np.outer(x, x) + np.diag([1.0, 2.0, 3.0])
    w, v = np.linalg.eigh(A)
    w[0] = x[1]
    parts = [w, v]
    return np.sum(parts[0]) * np.sum(v**2 * w)


def doubled_and_first(x):
    y = x * 2
    return y, x[0]


def call_written(x):
    y, s = doubled_and_first(x)
    y[0] = x[1]
    return np.sum(y) * s


def call_written_kept(x):
    y, s = doubled_and_first(x)
    p = [y]
    y[0] = x[1]
    p[0][1] = s
    return np.sum(y) * s


def lam_captured(x):
    y = x * 1.0
    g = lambda: y
    r = g()
    r[0] = y[1] * r[2]
    return np.sum(y * x) + np.sum(r)


def itself_and_first(y):
    return y, y[0]


def lam_pair(x):
    y = x * 1.0
    r, s = itself_and_first(y)
    r[0] = y[1] * r[2]
    return np.sum(y * x) + np.sum(r) * s


def pop_and_insert(x):
    ys = [x[0], x[1], x[2], x[0] * x[1]]
    a = ys.pop(-2)
    ys.insert(-1, a * x[0])
    ys.insert(100, a * x[1])
    b = ys.pop(1)
    ys.insert(-100, b * b)
    return ys[0] * ys[1] + ys[2] * ys[3] * ys[4] if len(ys) > 4 else ys[0] * ys[1] * ys[2] + ys[3]


def pop_at_i(x):
    ys = [x[0], x[1], x[2], x[0] * x[1]]
    s = 0.0
    for i in (-1, 0, -2):
        s += ys.pop(i) ** 2 * ys[0]
    return s


class Holder:
    def __init__(self, a, s):
        self.a = a
        self.s = s


def rows_loop(x):
    M = np.outer(x, x)
    parts = []
    for row in M:
        row[0] *= x[1]
        parts.append(row)
    return np.sum(M * M) + parts[1][2]


def rows_reversed(x):
    M = np.outer(x, x)
    s = 0.0
    for row in reversed(M):
        s += np.sum(row**2) * x[0]
    keep = [M]
    keep[0][1] = x
    return s + np.sum(M)


def loop_tuple(x):
    a, b = x * 1.0, x**2
    p = [a]
    s = 0.0
    for part in (a, b, x):
        s += np.sum(part**2) * x[1]
    p[0][1] = s
    return s + np.sum(a * b)


def loop_tuple_numbers(x):
    s = 1.0
    for v in (x[0], x[1] * x[2], 2.0):
        s *= v + s
    return s


def pairs_list(x):
    pairs = [(x * i, x[i] ** 2) for i in range(3)]
    pairs.append((x**2, x[0]))
    s = 0.0
    for a, v in pairs:
        a[0] += v
        s += np.sum(a) * v
    pairs[1] = (x, s)
    return s + pairs[1][1] * np.sum(pairs[0][0]) + pairs[2][1]


def pairs_swap(x):
    ps = [(x[0], x[1]), (x[1], x[2])]
    ps[0], ps[1] = ps[1], ps[0]
    ps[0] = (ps[1][0] * ps[0][0], ps[1][1])
    a, b = ps
    return a[0] * b[1] + a[1] ** 2


def dict_values(x):
    d = {"a": x[0], "b": x[1] * x[2]}
    d["c"] = d["a"] * d["b"]
    s = 0.0
    for v in d.values():
        s += v * v * s + v
    for k, v in d.items():
        d[k] = v * s
    return d["a"] * d["c"] + d["b"]


def dict_merge(x):
    d = {"a": x[0], "b": x[1] * x[2]}
    e = {"b": x[0] ** 2, "c": x[1]}
    f = {**d, **e, "d": x[2]}
    d["c"] = x[0] * 5
    e["a"] = x[1] * 7
    e["b"] = 1.0
    return f["a"] * f["b"] + f["c"] * f["d"] + d["c"] * e["a"] + d["b"]


def dict_merge2(x):
    d = {"a": x[0], "b": x[1] * x[2]}
    e = {"b": x[0] ** 2}
    f = {**d, **e}
    e["a"] = x[1] * 7
    return f["a"] * f["b"] ** 2 + d["b"] + e["a"] + e["b"]


def dict_get(x):
    d = {"a": x[0]}
    s = 0.0
    for k in ("a", "b", "a", "c"):
        s += d.get(k, x[1]) * x[2]
        d[k] = d.get(k, 0.0) + x[0] * s
    t = d.pop("a", x[2])
    u = d.pop("a", x[2])
    return s * t * u + d["b"]


def dict_del(x):
    d = {"a": x[0], "b": x[1]}
    s = d["a"] * 2
    del d["a"]
    d["a"] = x[2] * s
    d.clear()
    d["b"] = x[1] * s
    return d["b"] * s


def slices(x):
    xs = [x[0], x[1], x[2], x[0] * x[1]]
    ys = xs[1:3]
    xs[1:3] = [ys[0] * 2]
    xs[::2] = [x[1], ys[1] * xs[0]]
    zs = xs + ys * 2
    zs += xs
    del zs[1:3]
    del zs[::3]
    zs.extend([x[0], zs[0]])
    zs[:0] = (x[1], zs[1])
    zs[-1:] = x
    r = 0.0
    for i, z in enumerate(zs):
        r += z * (i + 1) * r + z
    return r


def nested(x):
    g = [[x[0], x[1]], [x[2]]]
    h = g[0]
    h.append(x[0] * x[2])
    g.append(h)
    g[2][1] = g[1][0] * h[2]
    c = list(g[0])
    c[0] = 5.0
    g[0] += [x[1]]
    return sum(g[0]) * g[2][1] + sum(g[1]) + c[1] * c[2]


def whole_read(x):
    xs = [x[0], x[1]]
    a = np.array(xs)
    xs.append(x[2])
    s = sum(xs)
    xs[0] = s
    b = np.array(xs) * s
    xs.pop(0)
    return np.sum(a) * np.sum(b**2) + sum(xs)


def arrays_list(x):
    g = [x * 1.0, x**2]
    a = np.concatenate(g)
    g[0][1] = x[0]
    g.append(g[0])
    b = np.stack(g)
    g[1] = g[2] * g[1]
    return np.sum(a**2) * np.sum(b**2) + np.sum(g[1])


def maybe_none(x):
    best = None
    for i in range(3):
        y = x * (i + 1)
        if best is None or np.sum(y) > np.sum(best):
            best = y
        best[0] = x[i]
    return np.sum(best**2)


def list_of_maybe(x):
    xs = [None, None]
    xs[0] = x * 2
    xs[1] = x[1] * x
    xs[0][1] = x[2]
    return np.sum(xs[0] * xs[1])


def reversed_pop(x):
    ys = list(x)
    ys.reverse()
    s = 1.0
    for y in reversed(ys):
        s = s * y + s
    ys.pop(0)
    ys.insert(-5, s)
    return ys[0] * ys[1] * ys[2] + s


def copies(x):
    ys = [(x[0], x[1]), (x[1], x[2])]
    zs = ys.copy()
    zs[0] = (x[2], x[2] * ys[0][1])
    ws = list(zs)
    ws.append(ys[1])
    ws.reverse()
    return ws[0][0] * ws[2][1] + zs[0][0] * ys[0][0]


def tuple_in_tuple(x):
    t = ((x, x[0]), [x[1], x[2]])
    (a, s), numbers = t
    numbers[0] = s * 2
    numbers.append(a[1] * numbers[0])
    u = t[1]
    return sum(u) * t[0][1] * np.sum(t[0][0])


def branch_tuples(x):
    a = x * 1.0
    b = x**2
    p = (a, x[0]) if x[0] > 0 else (b, x[1])
    q, s = p
    q[0] = s * 3
    return np.sum(a * b) * s


def carried_tuples(x):
    st = (x * 1.0, x[0])
    for i in range(3):
        a, s = st
        st = (a * s, s + a[i])
    return np.sum(st[0]) * st[1]


def numbers_of_arrays(x):
    xs = [np.asarray(x[0]) * 2.0, np.sum(x * x)]
    a = xs[0] * xs[1]
    xs[1] = a
    return float(xs[1] * xs[0]) + 0.0 * a


def numbers_of_arrays_in_a_dict(x):
    d = {"a": np.add(x[0], x[1]), "b": np.array(2.0) * x[2]}
    d["c"] = d["a"] * d["b"]
    s = 0.0
    for v in d.values():
        s += v * v
    return s


def chosen_key(x):
    a = max(x[0], -x[1], x[2] * 0.5, key=abs)
    ys = [x * 1.0, x**2]
    b = min(ys, key=lambda y: y[0])
    b[1] = a
    return np.sum(ys[0] * ys[1]) * a


def entries_listed(x):
    d = {"a": x[0], "b": x[1]}
    ps = list(d.items())
    d["a"] = x[2] * 5
    d["c"] = x[2]
    vs = list(d.values())
    s = 0.0
    for k, v in ps:
        s += v * v
    rs = list(reversed(vs))
    return s * vs[0] + rs[0] * rs[2] * 3 + d["b"]


def merged(x):
    d = {"a": x[0], "b": x[1]}
    e = {"b": x[2] * x[0]}
    f = d | e
    d["a"] = 2.0
    e["a"] = x[1]
    return f["a"] * f["b"] + e["a"] * d["b"]


def grown(ps, s):
    ps.append((s, ps[0][0] * s))
    ps[0] = (ps[0][1], s)
    return ps[-1], s * 2


def calls_pairs(x):
    ps = [(x[0], x[1])]
    q, r = grown(ps, x[2])
    u, w = grown(ps, q[1])
    return ps[0][0] * ps[1][1] + ps[2][0] * u[1] * r + w


def swapped(t):
    a, s = t
    a[0] = s * a[1]
    return (a, a[2] * s)


def calls_tuples(x):
    y = x * 1.0
    t = (y, x[0])
    for i in range(2):
        t = swapped(t)
        y[1] += t[1]
    return np.sum(t[0] * y) * t[1]


def table_of_parts(x):
    return {"w": x * 2, "n": x[0], "p": [(x[1], x)]}


def calls_dict(x):
    m = table_of_parts(x)
    k = table_of_parts(m["w"])
    m["p"].append((k["n"], k["w"]))
    m["w"][0] = k["p"][0][0]
    k["p"][0][1][1] = m["n"]
    return np.sum(m["w"] * k["w"]) + m["p"][1][0] * m["p"][1][1][1]


def none_acc(x):
    M = np.outer(x, x)
    acc = None
    for row in M:
        acc = row if acc is None else acc + row * acc
    return np.sum(acc**2)


def tuple_slices(x):
    t = (x[0], x[1], x[2], x)
    a, *rest = t
    u = t[1:] + t[:1]
    return u[0] * u[-1] * np.sum(u[2]) * rest[1] + a


def list_twice_in_dict(x):
    xs = [x[0] * x[1], x[2]]
    d = {"a": xs, "b": xs}
    return d["a"][0] * d["b"][1] + d["b"][0] ** 2


def list_twice_in_list(x):
    xs = [x[0] * x[1], x[2]]
    d = [xs, xs]
    return d[0][0] * d[1][1] + d[1][0] ** 2


def array_twice_in_dict(x):
    y = x * 2.0
    d = {"a": y, "b": y}
    return np.sum(d["a"] * d["b"] * x)


def written_through_a_dict(x):
    y = x * 1.0
    d = {}
    d["a"] = y
    d["a"][0] = x[1]
    d["a"][...] *= x[2]
    return np.sum(y * y)


def written_through_a_display(x):
    y = x * 1.0
    d = {"a": y, "b": x[0]}
    d["a"][0] = x[1]
    return np.sum(y * y)


def written_through_another(x):
    p = {"a": x * 1.0}
    q = {**p, "b": x[0]}
    q["a"][0] = x[1]
    return np.sum(p["a"] ** 2)


def dict_of_another_used(x):
    p = {"a": x[0], "w": x * 2.0}
    q = {**p, "a": x[1] * p["a"]}
    return q["a"] * np.sum(q["w"] * p["w"]) + p["a"]


def dict_of_two_others(x):
    p = {"a": x[0], "w": x * 2.0}
    q = {"w": x * 3.0, "c": x[1]}
    r = {**p, "c": x[2], **q}
    return r["a"] * np.sum(r["w"] * p["w"]) + r["c"]


def dict_of_another_written(x):
    p = {"a": x[0], "w": x * 2.0}
    q = {**p, "a": x[1]}
    q["w"][0] = x[1] * q["a"]
    return q["a"] * np.sum(q["w"] * p["w"]) + p["a"]


def integer_that_becomes_a_float(x):
    p = {"a": x[0], "n": 3}
    p["n"] = p["n"] * x[1]
    p["a"] = p["a"] + p["n"]
    return p["a"] * p["n"]


def dict_in_dict_of_another(x):
    p = {"a": x[0], "in": {"w": x * 2.0}}
    q = {**p, "a": x[1]}
    return q["a"] * np.sum(q["in"]["w"]) * p["in"]["w"][1]


def dict_in_a_branch(x):
    p = {"a": x[0], "w": x * 1.0}
    s = p["a"]
    if x[0] > 0.1:
        s = p["a"] * np.sum(p["w"])
    return s + p["a"] ** 2


def of_dict(p, x):
    return p["a"] * np.sum(p["in"]["w"] * x) * p["n"] + p["t"][1]


def dict_to_calls(x):
    p = {"a": x[0], "in": {"w": x * 1.0}, "n": 3, "t": (1, x[2], None)}
    s = of_dict(p, x) * of_dict(p, 2.0 * x)
    for i in range(2):
        s += of_dict(p, x * i)
    return s + p["t"][1] * p["a"]


def sum_of_values_that_change(x):
    d = {}
    for i in range(3):
        d[i] = d.get(i - 1, x[0]) * x[i]
    total = sum(d.values())
    del d[0]
    d[1] = total * x[2]
    return sum(d.values()) * total


def sum_of_arrays_in_a_dict(x):
    d = {"a": x * 2.0, "b": x * x}
    d["a"][0] = x[1]
    s = sum(d.values())
    d["b"] = s * x[0]
    return np.sum(s * x) + np.sum(sum(d.values()) ** 2)


def number_or_memory(x):
    y = x * 1.0
    kept = [y]
    s = 0.0
    for i in range(3):
        s = s + y if i else y[0] * x[1]
    y[1] = x[0] * y[2]
    return np.sum(s) * np.sum(kept[0])


def best_pair_or_none(x):
    best = None
    for i in range(len(x)):
        if best is None or x[i] * x[0] > best[0]:
            best = (x[i] * x[0], i, x * x[i])
    rows = best[2]
    return best[0] ** 2 * (1 + best[1]) + np.sum(best[2] * rows)


def carried_and_left(x):
    h = np.zeros(2)
    loss = 0.0
    for i in range(6):
        h = np.tanh(h * x[0] + x[1:])
        loss += h @ h
        if loss > 1.5:
            break
        h = np.append(h[1:], x[1]) * 1.5
    return loss


class Tank:
    def __init__(self, level):
        self._level = level

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, given):
        self._level[0] = given


def setter_that_writes(x):
    level = x * 2.0
    tank = Tank(level)
    seen = np.sum(level * x)
    tank.level = x[1] * x[2]
    return seen + np.sum(level * x) * np.sum(tank.level)


class Cells:
    def __init__(self, held):
        self.held = held

    def __setitem__(self, i, given):
        self.held[i] = given


def item_setter_that_writes(x):
    level = x * 2.0
    cells = Cells(level)
    seen = np.sum(level * x)
    cells[0] = x[1] * x[2]
    return seen + np.sum(level * x)


def states_that_are_kept(x):
    states, h = [], x * 0.5
    for _ in range(3):
        states.append(h)
        h = np.tanh(h * x) + states[-1]
    total = 0.0
    for s in states:
        total += np.sum(s * h)
    return total


def states_of_which_one_is_written(x):
    states, h = [], x * 0.5
    for _ in range(3):
        states.append(h)
        h = np.tanh(h * x)
    states[1][0] = x[2] * 3.0
    return np.sum(states[1] * states[2]) + np.sum(h)


def dict_of_states(x):
    kept = {"a": x * 2.0, "b": x * x}
    kept["a"] = kept["b"] * kept["a"]
    kept["b"] = np.sin(kept["a"])
    return np.sum(kept["a"] * kept["b"])


def written_where_it_is_an_array(x):
    u = x * 2.0
    w = u if x[0] > 0.1 else None
    if w is not None:
        w[0] = x[1] * x[2]
    return np.sum(u * u)


def array_or_none_carried(x):
    best = None
    for i in range(3):
        if best is None or x[i] > best[0]:
            best = x * x[i]
    return np.sum(best * x)


def spread_list(x):
    xs = [x[0] * x[1], x[2]]
    ys = [*xs, x[0], *xs]
    return ys[0] * ys[2] * ys[3] + ys[4] ** 2


def spread_list_of_constants(x):
    ys = [*[2.0, 3.0], x[0] * x[1], x[2]]
    return ys[0] * ys[2] + ys[3] ** 2 * ys[1]


def spread_tuple_of_a_list(x):
    xs = [x[0] * x[1], x[2]]
    ys = (*xs, x[0])
    return ys[0] * ys[2] + ys[1]


def memory_in_a_tuple_in_a_dict(x):
    y = x * 2.0
    d = {"t": (y, 1), "b": x[0]}
    d["t"][0][1] = x[2] * x[1]
    return np.sum(y * y) * d["b"]


def array_twice_in_a_list_that_is_returned(x):
    def pair(y):
        z = y * 2.0
        return [z, z]

    a = pair(x)
    a[0][0] = x[1] * x[2]
    return np.sum(a[1] * a[1])


def dict_of_one_list_and_itself(x):
    xs = [x[0] * x[1], x[2]]
    p = {"a": xs}
    q = {**p, "b": xs}
    q["a"][0] = x[1] ** 2
    return q["b"][0] * p["a"][1]


def tail_of(u):
    return u[1:]


def as_it_is(u):
    return u


def view_under_the_name_that_the_memory_had(x):
    u = x * x
    w = u
    u = tail_of(u)
    u[0] = 3.0 * x[0]
    return np.sum(w * w) * u[1]


def view_of_memory_that_nobody_else_knows(x):
    u = x * x
    u = tail_of(u)
    u[0] = 3.0 * x[0]
    return np.sum(u * u)


def list_that_goes_through_a_call_and_grows(x):
    items = [x[0], x[1] * x[2]]
    items = as_it_is(items)
    items.append(x[2] * x[1])
    return items[0] * items[1] * items[2]


def read_by_key(x):
    p = {"a": x[0] * 2.0, "b": x * 3.0}
    r = p if x[1] > 0.1 else {"a": x[0], "b": x}
    s = 0.0
    for k in ("a", "b", "a"):
        s = s + np.sum(r[k] * r[k]) * x[2]
    return s


def changed_by_key(x):
    p = {"a": x[0] * 2.0, "b": x * 3.0}
    q = dict(p)
    s = 0.0
    for k in ("a", "b"):
        s = s + np.sum(q[k] * q[k])
    q["a"] = x * 5.0
    for k in ("a", "b"):
        s = s + np.sum(q[k] ** 3)
    return s


def either_in_tuples(x):
    p = [(x[0] * 2.0, 1.0), (x * 3.0, 2.0)]
    p.append((p[0][0] * p[1][0], 3.0))
    s = 0.0
    for v, c in p:
        s = s + c * np.sum(v * v) * x[1]
    return s


def either_in_a_list(x):
    p = {"a": x[0] * 2.0, "b": x * 3.0}
    r = p if x[1] > 0.1 else {"a": x[0], "b": x}
    q = []
    for k in ("a", "b", "a"):
        q.append(r[k])
        q.append(r[k] * x[1])
    s = 0.0
    for v in q:
        s = s + np.sum(v) * np.sum(v)
    return s


def either_carried(x):
    a = {"h": 0.0, "c": 1.0}
    for _ in range(3):
        a = {"c": a["c"] * x[0], "h": a["h"] + x * a["c"]}
    return np.sum(a["h"] ** 2)


def either_complex(x):
    z = x[0] * (1 + 2j) + x * 1j
    p = {"a": z[0] * 2.0, "b": z * 3.0}
    r = p if x[1] > 0.1 else {"a": z[0], "b": z}
    s = 0.0
    for k in ("a", "b", "a"):
        s = s + np.sum(np.abs(r[k] * z[1] + r[k] * r[k]) ** 2)
    return s


def list_for_a_rule(x):
    t = [x[:2] * 2.0, x]
    return np.sum(np.concatenate(t) ** 3)


def list_for_two_rules(x):
    t = [x * 2.0, x]
    return np.sum(np.concatenate(t) ** 2) + np.sum(np.vstack(t) ** 3)


def list_for_a_rule_in_rounds(x):
    t = [x * 2.0, x]
    s = np.sum(np.vstack(t))
    for i in range(3):
        s = s + np.sum(np.concatenate(t) ** 2) * x[i]
    return s + np.sum(np.hstack(t) ** 3)


def list_for_a_rule_on_one_path(x):
    t = [x * 2.0, x]
    s = 0.0
    if x[0] > 0.1:
        s = s + np.sum(np.concatenate(t) ** 2)
    return s + np.sum(np.hstack(t) ** 3) + np.sum(t[0] ** 2)


def list_for_a_rule_that_is_written(x):
    t = [x * 2.0, x]
    y = t[0]
    y[1:] *= x[1:]
    return np.sum(np.concatenate(t) ** 2) + np.sum(t[0] * t[1])


def list_in_a_dict_for_a_rule(x):
    d = {"t": [x * 2.0, x], "k": x[0]}
    t = d["t"]
    return np.sum(np.concatenate(t) ** 2) * d["k"] + np.sum(d["t"][1])


def list_that_changes_behind_a_rule(x):
    t = [x * 2.0, x]
    s = np.sum(np.concatenate(t) ** 2)
    t[0] = t[1] * s
    t.append(x * x)
    return np.sum(np.concatenate(t) ** 3)


LISTS_FOR_RULES = [
    list_for_a_rule,
    list_for_two_rules,
    list_for_a_rule_in_rounds,
    list_for_a_rule_on_one_path,
    list_for_a_rule_that_is_written,
    list_in_a_dict_for_a_rule,
    list_that_changes_behind_a_rule,
]


def dict_of_a_list_and_its_sum(x):
    items = [x[0] * 2, x[1] * 2.0, x[2] * 3]
    f = {"a": items, "b": sum(items)}
    return f["a"][0] * f["b"]


class ListAndSum:
    def __init__(self, x):
        self.items = []
        for i in range(3):
            self.items.append(x[i] * 2)
        self.total = sum(self.items)


def object_of_a_list_and_its_sum(x):
    f = ListAndSum(x)
    return f.items[0] * f.total


def grown_in_a_callee(x, r, w):
    r.append(x[:2] * np.sum(w))
    return r, w


def grown_in_rounds(r, x, w):
    w = w * 1.0
    for _ in range(2):
        r, w = grown_in_a_callee(x, r, w)
    return np.sum(x * x) + sum([np.sum(e * e) for e in r]) + np.sum(w[0] * w[1])


def test_the_cotangent_of_a_list_of_arrays_that_has_grown():
    r, w = [X[:2] * 2.0, X[1:] * 1.0], np.outer(X, X)
    (found,) = s2sad.grad(grown_in_rounds, wrt=(0,))(r, X, w)
    assert [a.tolist() for a in found] == [(2.0 * a).tolist() for a in r]


def list_in_a_dict_and_summed_later(x):
    items = [x[0] * 2, x[1] * 2.0, x[2] * 3]
    f = {"a": items}
    items[1] = x[0] * x[2]
    t = sum(items)
    return f["a"][0] * t + f["a"][1] * items[2]


PROGRAMS = [
    view_under_the_name_that_the_memory_had,
    view_of_memory_that_nobody_else_knows,
    list_that_goes_through_a_call_and_grows,
    read_by_key,
    changed_by_key,
    either_in_tuples,
    either_in_a_list,
    either_carried,
    either_complex,
    *LISTS_FOR_RULES,
    written_where_it_is_an_array,
    array_or_none_carried,
    spread_list,
    spread_list_of_constants,
    spread_tuple_of_a_list,
    memory_in_a_tuple_in_a_dict,
    array_twice_in_a_list_that_is_returned,
    dict_of_one_list_and_itself,
    setter_that_writes,
    item_setter_that_writes,
    states_that_are_kept,
    states_of_which_one_is_written,
    dict_of_states,
    best_pair_or_none,
    carried_and_left,
    sum_of_values_that_change,
    sum_of_arrays_in_a_dict,
    number_or_memory,
    numbers_of_arrays,
    numbers_of_arrays_in_a_dict,
    chosen_key,
    entries_listed,
    merged,
    calls_pairs,
    calls_tuples,
    calls_dict,
    none_acc,
    tuple_slices,
    eig_written,
    call_written,
    call_written_kept,
    lam_captured,
    lam_pair,
    pop_and_insert,
    pop_at_i,
    rows_loop,
    rows_reversed,
    loop_tuple,
    loop_tuple_numbers,
    pairs_list,
    pairs_swap,
    dict_values,
    dict_merge,
    dict_merge2,
    dict_get,
    dict_del,
    slices,
    nested,
    whole_read,
    arrays_list,
    maybe_none,
    list_of_maybe,
    reversed_pop,
    copies,
    tuple_in_tuple,
    branch_tuples,
    carried_tuples,
    list_twice_in_dict,
    list_twice_in_list,
    array_twice_in_dict,
    written_through_a_dict,
    written_through_a_display,
    written_through_another,
    dict_of_another_used,
    dict_of_two_others,
    dict_of_another_written,
    integer_that_becomes_a_float,
    dict_in_dict_of_another,
    dict_in_a_branch,
    dict_to_calls,
    dict_of_a_list_and_its_sum,
    object_of_a_list_and_its_sum,
    list_in_a_dict_and_summed_later,
]


def derived(f, *args):
    """Return the function of value and gradient with respect to the first argument."""
    d = derivation(f, args)
    return loaded(printed(d), d)[d.entry]


def derivation(f, args):
    names = list(inspect.signature(f).parameters)
    params = tuple((n, K.kind_of(v, n)) for n, v in zip(names, args, strict=True))
    request = Request(f, params, (names[0],), True, "value_and_grad")
    return pipeline.derive(request, HIGHER)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("f", PROGRAMS)
def test_of_central_differences(f):
    value, gradient = derived(f, X)(X.copy())
    slopes = [(f(X + 1e-6 * e) - f(X - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    assert value == pytest.approx(f(X.copy()), rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


def test_what_a_rule_gives_for_a_list_is_its_cotangent_until_that_changes():
    text = inspect.getsource(derived(list_for_a_rule, X))
    assert "zeros_like" not in text and "add_into" not in text
    assert "add_into" in inspect.getsource(derived(list_for_two_rules, X))


def listed(x):
    t = [x * 2.0, x * x]
    return t, np.sum(np.concatenate(t) ** 2)


def given_back(x):
    return [x * 2.0, x * x]


@pytest.mark.parametrize("f", [listed, given_back])
def test_a_cotangent_that_is_given_stays_what_it_is(f):
    pull = s2sad.vjp(f, X)[1]
    parts = [X + 1.0, X - 1.0]
    bar = (parts, 2.0) if f is listed else parts
    found = pull(bar)
    weight = 2.0 if f is listed else 0.0
    expected = 2 * (X + 1) + 2 * X * (X - 1) + weight * (8 * X + 4 * X**3)
    np.testing.assert_allclose(found, expected)
    found += 1.0
    np.testing.assert_array_equal(parts, [X + 1.0, X - 1.0])
    np.testing.assert_allclose(pull(bar), expected)


def test_second_derivatives_of_what_is_written_where_it_is_an_array():
    direction = np.array([0.4, -0.3, 0.8])[: len(X)]
    gradient = s2sad.grad(written_where_it_is_an_array)
    change = (gradient(X + 1e-6 * direction) - gradient(X - 1e-6 * direction)) / 2e-6
    found = s2sad.hvp(written_where_it_is_an_array, (X,), (direction,))
    np.testing.assert_allclose(found, change, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", LISTS_FOR_RULES)
def test_second_derivatives_of_lists_for_rules(f):
    direction = np.array([0.4, -0.3, 0.8])
    gradient = s2sad.grad(f)
    change = (gradient(X + 1e-6 * direction) - gradient(X - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(s2sad.hvp(f, (X,), (direction,)), change, rtol=1e-6)
    wrt = s2sad.grad(lambda x: np.sum(s2sad.grad(f)(x) * direction))(X)
    np.testing.assert_allclose(wrt, change, rtol=1e-6)


@dataclasses.dataclass
class Plain:
    a: float
    w: np.ndarray

    def of(self, x):
        return self.a * x * np.sum(self.w)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    w: np.ndarray
    of = Plain.of


@dataclasses.dataclass
class Counted(Plain):
    made = 0

    def __post_init__(self):
        Counted.made += 1


class Ordinary:
    def __init__(self, w, a):
        self.a = a
        self.w = w

    of = Plain.of


class Slotted:
    __slots__ = ("a", "w")
    of = Plain.of

    def __init__(self, a, w):
        self.a = a
        self.w = w


def of_object(p, x):
    s = p.of(x) + p.of(2.0 * x) + p.a
    for i in range(2):
        s += p.of(i * x)
    return s


OBJECTS = [
    Plain(2.0, X),
    Frozen(2.0, X),
    Counted(2.0, X),
    Ordinary(X, 2.0),
    Slotted(2.0, X),
]


@pytest.mark.parametrize("p", OBJECTS, ids=lambda p: type(p).__name__)
def test_of_objects(p):
    made = Counted.made
    value, gradient = derived(of_object, p, 3.0)(p, 3.0)
    assert value == of_object(p, 3.0)
    assert type(gradient) is type(p)
    assert Counted.made == made  # no code of the class's runs
    assert gradient.a == pytest.approx(12.0 * np.sum(X) + 1.0)
    np.testing.assert_allclose(gradient.w, 24.0)


@pytest.mark.parametrize("p", OBJECTS[:2], ids=lambda p: type(p).__name__)
def test_that_zeros_and_what_is_added_to_them_are_one_display(p):
    def loss(p, x):
        return p.of(x) + x * p.a

    text = printed(derivation(loss, (p, 3.0))).text
    assert "zeros" not in text.partition("_reverse(saved")[2].partition("def ")[0]
    assert "isinstance" not in text
    _, gradient = derived(loss, p, 3.0)(p, 3.0)
    assert gradient.a == pytest.approx(3.0 * np.sum(X) + 3.0)
    np.testing.assert_allclose(gradient.w, 6.0)


def test_that_what_a_display_holds_is_written_by_nobody_else():
    def parts(p, x):
        return np.sum(p["w"]) * x

    def loss(p, q, x):
        return parts(p, x) + parts(q, x) + parts(p, 2.0 * x) + parts(q, 3.0 * x)

    p, q = {"w": X}, {"w": X * 2.0}
    names = ("p", "q")
    kinds = tuple((n, K.kind_of(v, n)) for n, v in (("p", p), ("q", q), ("x", 2.0)))
    d = pipeline.derive(Request(loss, kinds, names, False, "grad"), HIGHER)
    first, second = loaded(printed(d), d)[d.entry](p, q, 2.0)
    np.testing.assert_allclose(first["w"], 6.0)
    np.testing.assert_allclose(second["w"], 8.0)


def test_that_nothing_is_asked_of_a_structure_whose_parts_are_known():
    def loss(p, x):
        return of_dict(p, x) + of_dict(p, 2.0 * x)

    given = {"a": 2.0, "in": {"w": X}, "n": 3, "t": (1, 0.5, None)}
    fn = derived(loss, given, X)
    assert "isinstance" not in printed(derivation(loss, (given, X))).text
    _, gradient = fn(given, X)
    assert gradient["n"] is None
    assert gradient["t"] == (None, 2.0, None)
    np.testing.assert_allclose(gradient["in"]["w"], 18.0 * X)


def number_at_a_place(x):
    b = {"k": x * 2.0, "l": x}
    b["k"] = x[1]
    s = b["k"]
    b["k"] = x[2]
    r = b if x[0] > 0.1 else {"k": x[1], "l": x}
    return s + r["k"] ** 2


def test_a_number_where_an_array_was():
    _, gradient = derived(number_at_a_place, X)(X)
    np.testing.assert_allclose(gradient, [0.0, 1.0, 2.0 * X[2]])


def number_in_a_slice(x):
    b = [x * 2.0, x]
    b[0:1] = [x[1]]
    return np.sum(b[0])


def number_at_the_end(x):
    b = [x * 2.0]
    c = b if x[0] > 0.1 else [x]
    c.append(x[1])
    c.insert(0, x * 3.0)
    return np.sum(b[0]) * np.sum(b[-1])


@pytest.mark.parametrize("f", [number_in_a_slice, number_at_the_end])
def test_a_number_in_a_list_of_arrays_whose_places_move_is_refused(f):
    with pytest.raises(
        UnsupportedError, match="puts a number into a list that held|another kind"
    ) as caught:
        derived(f, X)
    assert caught.value.place


def test_none_of_an_infinite_cotangent_where_it_is_masked():
    def root(x):
        return np.sum(np.sqrt(np.maximum(x, 0.0)))

    _, gradient = derived(root, X)(np.array([-1.0, -2.0, 4.0]))
    np.testing.assert_allclose(gradient, [0.0, 0.0, 0.25])


def test_a_structure_that_is_given_and_changed():
    def changed(o):
        o["n"] += 1
        o["v"] = o["w"][0] * o["v"] + o["p"][1]
        o["w"][1] = o["v"]
        o["p"] = (o["v"], o["p"][0])
        return o["p"][0] * o["p"][1] * o["w"][1] + np.sum(o["w"])

    def given():
        return {"n": 2, "v": 0.7, "w": np.array([0.3, 0.5]), "p": (0.2, 1.5)}

    o = given()
    _, found = derived(changed, o)(o)
    assert o["p"] == (0.2, 1.5) and found["n"] is None and isinstance(found["p"], tuple)
    for key, part in [("v", None), ("w", 0), ("w", 1), ("p", 0), ("p", 1)]:
        ends = []
        for step in (1e-6, -1e-6):
            moved = given()
            if part is None:
                moved[key] += step
            else:
                moved[key] = (
                    type(moved[key])([v + step * (i == part) for i, v in enumerate(moved[key])])
                    if key == "p"
                    else moved[key] + step * (np.arange(2) == part)
                )
            ends.append(changed(moved))
        wanted = (ends[0] - ends[1]) / 2e-6
        got = found[key] if part is None else found[key][part]
        assert got == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("index", [0, 1, 3, -1, -2, -4])
def test_what_is_taken_out_comes_back(index):
    shadow = [0.0, 1.0, 2.0, 3.0]
    value = shadow.pop(index)
    H.put_back(shadow, index, value)
    assert shadow == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("index", [0, 1, 3, 4, 9, -1, -2, -4, -9])
def test_what_is_inserted_goes(index):
    shadow = [0.0, 1.0, 2.0, 3.0]
    shadow.insert(index, 7.0)
    assert H.taken_back(shadow, index) == 7.0
    assert shadow == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "at", [slice(1, 3), slice(3, 1), slice(None), slice(9, None), slice(-2, None)]
)
@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_slice_that_was_written_is_undone(at, count):
    shadow = [1.0, 2.0, 3.0, 4.0]
    wanted = [1.0, 2.0, 3.0, 4.0]
    wanted[at] = [0.0] * len(wanted[at])
    items = [7.0 + i for i in range(count)]
    shadow[at] = items
    assert H.undo_slice(shadow, at, 4, 0.0) == items
    assert shadow == wanted


@pytest.mark.parametrize("at", [slice(None, None, 2), slice(None, None, -1), slice(3, 0, -2)])
def test_a_slice_with_steps_is_undone(at):
    for items in ([], [7.0] * len(range(4)[at])):
        shadow = [1.0, 2.0, 3.0, 4.0]
        wanted = [1.0, 2.0, 3.0, 4.0]
        for k in range(4)[at]:
            wanted[k] = 0.0
        if items:
            shadow[at] = items
        else:
            del shadow[at]
        assert H.undo_slice(shadow, at, 4, 0.0) == items
        assert shadow == wanted


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (states_that_are_kept, False),
        (states_of_which_one_is_written, True),
    ],
)
def test_arrays_in_a_list_that_grows_go_by_name_unless_they_are_written(f, reason):
    text = inspect.getsource(derived(f, X))
    assert ("shadows" in text) == reason


def number_or_array_written_under_two_names(x):
    u = x * 2.0
    p = u if x[0] > 0.1 else 0.0
    if isinstance(p, np.ndarray):
        p[0] = x[1] * x[2]
    return np.sum(u * u)


def read_then_written(x):
    p = {"a": x[0] * 2.0, "b": x * 3.0}
    key = "b" if x[0] > 0.1 else "a"
    v = p[key]
    p["b"][0] = 2.0 * x[1]
    return np.sum(p[key] * x[0]) + np.sum(v * v)


def added_to_in_place(x):
    p = {"a": x[0] * 2.0, "b": x * 3.0}
    s = 0.0
    for k in ("a", "b"):
        v = p[k]
        v += x[1]
        s = s + np.sum(v * v)
    return s + np.sum(p["b"])


def bound_by_a_loop(x):
    p = [x[0] * 2.0, x * 3.0]
    q = [*p]
    s = 0.0
    for v in q:
        s = s + np.sum(v * v) * x[0]
    q[1][0] = 3.0
    for v in q:
        s = s + np.sum(v * v) * x[1]
    return s


@pytest.mark.parametrize(
    "f",
    [
        number_or_array_written_under_two_names,
        read_then_written,
        added_to_in_place,
        bound_by_a_loop,
    ],
)
def test_a_number_or_memory_that_is_written_under_another_name_is_refused(f):
    with pytest.raises(UnsupportedError, match="it may be an array or a number") as caught:
        derived(f, X)
    assert caught.value.place


@pytest.mark.parametrize(
    "f",
    [
        array_or_none_carried,
        dict_of_another_used,
        dict_of_two_others,
        dict_to_calls,
        best_pair_or_none,
        view_of_memory_that_nobody_else_knows,
    ],
)
def test_what_names_tell_apart_goes_by_name(f):
    assert "shadows" not in inspect.getsource(derived(f, X))


def key_put(y, d):
    d["k"] = y * 2.0
    return d["k"] * d["u"]


def key_put_perhaps(y, d):
    if y > 0.0:
        d["k"] = y * 2.0
    d["k"] = y * d["u"]
    return d["k"] * d["u"]


def keys_put_in_rounds(y, d):
    for k in ("u", "v", "u"):
        d[k] = d.get(k, y) * y
    return d["v"] * d["u"]


def key_put_inside(y, d):
    e = d["m"]
    e["k"] = y * 2.0
    d["m"]["k"] *= y
    return e["k"] * d["u"]


def key_put_by_a_call(y, d):
    s = 0.0
    for i in range(2):
        s += put_and_read(y * i, d)
    return s * d["k"]


def put_and_read(y, d):
    if "k" in d:
        d["k"] = d["k"] * y
    for _ in range(2):
        d["k"] = y * d["u"]
    return d["k"] ** 2


def key_put_and_dropped(y, d):
    d["k"] = y
    v = d.pop("k")
    d["k"] = v * d["u"]
    return d["k"] * y


def integer_put(y, d):
    d["k"] = 3
    return d["k"] * y * d["u"]


@pytest.mark.parametrize(
    "f",
    [
        key_put,
        key_put_perhaps,
        keys_put_in_rounds,
        key_put_inside,
        key_put_by_a_call,
        key_put_and_dropped,
        integer_put,
    ],
)
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("mode", ["value_and_grad", "vjp"])
def test_a_gradient_has_the_keys_of_its_argument(f, mode):
    def given(u=1.1):
        return {"u": u, "m": {"w": 0.3}} if f is key_put_inside else {"u": u}

    d, e = given(), 1e-6
    params = ("y", K.kind_of(0.7, "y")), ("d", K.kind_of(d, "d"))
    request = Request(f, params, ("y", "d"), False, mode)
    made = pipeline.derive(request, HIGHER)
    value, found = loaded(printed(made), made)[made.entry](0.7, d)
    for _ in range(1 if mode == "value_and_grad" else 2):
        y_bar, d_bar = found if mode == "value_and_grad" else found(1.0)
        assert d == given() and value == f(0.7, given())
        assert y_bar == pytest.approx((f(0.7 + e, given()) - f(0.7 - e, given())) / (2 * e))
        by_u = (f(0.7, given(1.1 + e)) - f(0.7, given(1.1 - e))) / (2 * e)
        assert d_bar.pop("u") == pytest.approx(by_u, abs=1e-8)
        assert d_bar == ({"m": {"w": 0.0}} if f is key_put_inside else {})


def layers_by_number(layers, x):
    s = 0.0
    for i in range(2):
        s += np.sum(layers[i]["w"] * x) * layers[1 - i]["w"][0]
    return s


def layers_taken_apart(layers, x):
    s = 0.0
    for i in range(2):
        a, b = layers
        s += np.sum(a["w"] * b["w"] * x) * layers[i]["w"][0]
    return s


def layers_that_are_swapped(layers, x):
    s = 0.0
    for i in range(2):
        both = layers if x[i] > 0.5 else (layers[1], layers[0])
        s += np.sum(both[i]["w"] * x) * layers[i]["w"][2]
    return s


def layers_that_are_written(layers, x):
    s = 0.0
    for i in range(2):
        layers[i]["w"][1:] *= x[1:]
        layers[i]["w"] = layers[i]["w"] * x
        s += np.sum(layers[1 - i]["w"] ** 2)
    return s


LAYERS = [
    *(layers_by_number, layers_taken_apart, layers_that_are_swapped, layers_that_are_written),
]


@pytest.mark.parametrize("f", LAYERS)
@pytest.mark.parametrize("mode", ["value_and_grad", "vjp"])
def test_structures_in_a_tuple_by_their_number(f, mode):
    def at(w):
        return {"w": w[:3].copy()}, {"w": w[3:].copy()}

    w = np.array([1.0, 2.0, 3.0, 0.5, -0.4, 0.7])
    layers = at(w)
    params = ("layers", K.kind_of(layers, "layers")), ("x", K.kind_of(X, "x"))
    request = Request(f, params, ("layers",), True, mode)
    made = pipeline.derive(request, HIGHER)
    value, found = loaded(printed(made), made)[made.entry](layers, X)
    gradient = found if mode == "value_and_grad" else found(1.0)
    slopes = [(f(at(w + e), X) - f(at(w - e), X)) / 2e-6 for e in 1e-6 * np.eye(6)]
    assert value == f(at(w), X)
    np.testing.assert_allclose(s2sad.ravel(gradient)[0], slopes, rtol=1e-6, atol=1e-8)


class Held:
    """An object of integers in a list."""

    def __init__(self, whole, m):
        self.whole, self.m = whole, m


def put_among_integers(y):
    held = Held([0, 1], 2.0)
    whole = held.whole
    whole.append(y)
    whole.insert(0, y * y)
    held.whole[1] = y**3
    return held.whole[-1] * held.whole[0] * held.whole[1] * held.m


def integers_left_out(y):
    held = Held([0, 1, 5], 2.0)
    whole = held.whole
    whole[0] = y
    del whole[1]
    whole.extend([y * y, 3])
    first = whole.pop(0)
    whole[0] = first * y
    return sum(held.whole) * held.m


def integers_in_a_slice(y):
    held = Held([0, 1], 2.0)
    whole = held.whole
    for i in range(3):
        whole.append(y * i)
        if i > 1:
            whole[i] = y * whole[i + 1]
    whole[1:3] = [y * y, 2, y]
    return sum(t * t for t in held.whole) * held.m


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("f", [put_among_integers, integers_left_out, integers_in_a_slice])
def test_numbers_come_among_integers(f):
    params = (("y", K.kind_of(0.7, "y")),)
    made = pipeline.derive(Request(f, params, ("y",), True, "grad"), HIGHER)
    found = loaded(printed(made), made)[made.entry](0.7)
    assert found == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6)


class History:
    def __init__(self):
        self.values, self.named, self.total = [], {"u": [], "v": []}, 0.0

    def add(self, x):
        self.values.append(x)
        self.named["u"].append(x * 2.0)
        self.total = self.total + x


def lists_in_an_object(x):
    h = History()
    for v in x:
        h.add(v)
        h.named["v"].append(h.values[-1] * h.total)
    return sum(h.values) * sum(h.named["v"]) + h.named["u"][0]


def lists_in_a_dict(x):
    log = {"a": [], "b": [x[0]]}
    for v in x:
        log["a"].append(v * v)
        log["b"].append(log["b"][-1] * v)
    return np.sum(np.array(log["a"])) * log["b"][-1]


def a_list_that_is_replaced(x):
    log = {"a": [1.0 * x[0]]}
    a = log["a"]
    a.append(x[1])
    log["a"] = [x[2]]
    log["a"].append(a[1] * 2.0)
    return sum(a) * sum(log["a"])


def lists_taken_apart(x):
    pair = [x * 1.0, x + 1.0]
    for k in range(3):
        a, b = pair
        pair[k % 2] = a * b * 0.5
        a, _ = pair
        pair[1] = pair[1] + a
    a, b = pair
    return a @ b


def arrays_of_other_lengths(x):
    state = {"s": x * 1.0, "n": 1.0}
    for k in range(2):
        s = state["s"]
        state["s"] = np.concatenate([s, s[:1] * x[k]])
    return np.sum(state["s"] ** 2)


@pytest.mark.parametrize(
    "f",
    [lists_in_an_object, lists_in_a_dict, a_list_that_is_replaced, lists_taken_apart]
    + [arrays_of_other_lengths],
    ids=lambda f: f.__name__,
)
def test_parts_that_are_in_use_while_something_changes(f):
    x = np.array([0.7, 0.4, 1.2])
    slopes = [(f(x + e) - f(x - e)) / 2e-6 for e in np.eye(3) * 1e-6]
    np.testing.assert_allclose(s2sad.grad(f)(x), slopes, rtol=1e-7, atol=1e-8)
    _, pullback = s2sad.vjp(f, x)
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0), slopes, rtol=1e-7, atol=1e-8)
