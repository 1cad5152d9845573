"""Programs that read and fill dicts by keys nobody knows, for tests/test_writes_containers.py."""

from collections import defaultdict

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


X = np.array([0.7, 1.3, -0.4])
WORDS = ("a", "b", "c")


# tables filled in loops


@prog(X)
def table_of_a_recurrence(x):
    cache = {0: x[0], 1: x[1]}
    for i in range(2, 8):
        cache[i] = cache[i - 1] * cache[i - 2] + x[2]
    return cache[7] * cache[3]


@prog(X)
def table_set_over_what_was_there(x):
    d = {5: x[0], 2: x[1]}
    for i in range(1, 7):
        d[i] = (d[i - 1] if i - 1 in d else x[2]) * x[0]
    return d[6] * d[2]


@prog(X)
def entries_set_again_and_again(x):
    cache = {}
    for i in range(6):
        if i % 2 in cache:
            cache[i % 2] = np.sin(cache[i % 2]) * x[i % 3]
        else:
            cache[i % 2] = x[i % 3]
    return cache[0] * cache[1]


@prog(X)
def grid_of_pairs(x):
    g = {}
    for i in range(3):
        for j in range(3):
            g[i, j] = x[i] * x[j]
            if i > 0:
                g[i, j] = g[i, j] * g[i - 1, j] + g[i - 1, (j + 1) % 3]
    return g[2, 2] * g[2, 1]


@prog(X)
def table_of_arrays(x):
    g = {}
    for i in range(5):
        g[i % 3] = np.tanh(g[(i - 1) % 3] * x) if i else x * 2.0
    return np.sum(g[0] * g[1] * g[2])


@prog(X)
def table_of_arrays_of_other_lengths(x):
    g = {}
    for i in range(5):
        g[i % 2] = x[: 1 + i % 3] * x[i % 3]
    return np.sum(g[0] ** 2) * np.sum(g[1])


@prog(X)
def arrays_in_a_table_are_written(x):
    d = {}
    for i in range(3):
        d[i] = x * (i + 1.0)
    for i in range(3):
        d[i][0] = d[(i + 1) % 3][1] * d[i][2]
        r = d[i]
        r *= 2.0
        r[1:] += r[:-1]
    return np.sum(d[0] * d[1] * d[2])


@prog(X)
def array_stored_and_written(x):
    d = {}
    row = x * 2.0
    for i in range(3):
        d[i] = row
        row = row * x[i]
    d[1][0] = d[2][1] * d[0][2]
    row[1] = d[1][0]
    return np.sum(d[1] * d[2]) + np.sum(row * d[0])


@prog(X)
def table_while(x):
    memo = {0: x[0]}
    i = 0
    while memo[i] < 5.0 and i < 9:
        memo[i + 1] = memo[i] * 1.3 + x[1] * x[1]
        i += 1
    return memo[i] * memo[i - 1]


@prog(X)
def words_in_branches(x):
    d = {}
    for i in range(4):
        if x[i % 3] > 0:
            d[i % 2] = x[i % 3] * (d[i % 2] if i % 2 in d else 1.0)
        else:
            d["neg"] = d.get("neg", 1.0) * x[i % 3]
    return d[0] * d[1] * d["neg"]


@prog(X)
def entries_taken_out(x):
    c = {0: x[0], 1: x[1], 2: x[2]}
    for i in range(3):
        y = c[i] * x[0]
        del c[i]
        c[i + 3] = y * y
    return c[3] * c[4] * c[5] * len(c)


@prog(X)
def order_of_what_was_taken_out(x):
    c = {i: x[i] for i in range(3)}
    total = 0.0
    for k in list(c):
        for n, v in enumerate(c.values()):
            total = total + n * v * v
        del c[k]
        c[k] = total
    return total


@prog(X)
def tuples_in_a_table(x):
    d = {}
    for i in range(3):
        d[i] = (x[i], x[i] * x[0])
    a, b = d[1]
    d[1] = (b, a * a)
    return d[1][0] * d[1][1] * d[2][1]


@prog(X)
def tables_in_a_table(x):
    d = {}
    for i in range(3):
        d[i] = {"w": x[i] * 2, "b": x * x[i]}
    for i in range(3):
        d[i]["w"] *= d[(i + 1) % 3]["w"]
        d[i]["b"] = d[i]["b"] * d[i]["w"]
    return np.sum(d[0]["b"] * d[1]["b"]) * d[2]["w"]


@prog(X)
def lists_in_a_table(x):
    d = {}
    for i in range(5):
        d.setdefault(i % 2, []).append(x[i % 3] * i)
    return sum(d[0]) * sum(d[1])


@prog(X)
def two_names_of_a_table(x):
    d = {}
    e = d
    for i in range(3):
        e[i] = x[i]
        d[i] = d[i] * x[0]
    return e[0] * d[1] * e[2]


# methods


@prog(X)
def counted(x):
    c = {}
    for i in range(7):
        k = WORDS[i % 2]
        c[k] = c.get(k, 0.0) + x[i % 3] * i
    return c["a"] * c["b"]


@prog(X)
def changed_where_there(x):
    d = {}
    for k in range(5):
        if k % 2 in d:
            d[k % 2] -= np.tanh(x[0] + x[k % 3])
        else:
            d[k % 2] = np.tanh(x[1] * x[2])
    for k, v in d.items():
        d[k] = v * x[0]
    return max(d.values()) * x[0] + d[1]


@prog(X)
def arrays_counted(x):
    d = {}
    for i in range(5):
        d[i % 2] = d.get(i % 2, np.zeros(3)) + x * x[i % 3]
    return np.sum(d[0] * d[1])


@prog(X)
def asked_for_what_may_lack(x):
    memo = {}
    s = 0.0
    for i in (0, 1, 0, 2, 1):
        v = memo.get(i)
        if v is None:
            v = x[i] * x[i] * x[0]
            memo[i] = v
        s = s + v * (i + 1)
    return s


@prog(X)
def asked_with_an_active_default(x):
    d = {"a": x[0]}
    s = 0.0
    for k in WORDS:
        s = s + d.get(k, x[1] * 2) ** 2
        d[k] = s
    return s * d["b"]


@prog(X)
def asked_and_never_there(x):
    d = {1: x[0]}
    s = 0.0
    for k in range(3):
        s = s + d.get(k, 0.5) * d.get(k + 7, 2.0) * x[k]
    return s * d[1]


@prog(X)
def made_where_lacking(x):
    d = {}
    for i in range(5):
        y = d.setdefault(i % 3, x[i % 3])
        d[i % 3] = y * x[(i + 1) % 3]
    return d[0] * d[1] * d[2]


@prog(X)
def popped(x):
    d = {}
    for i in range(5):
        d[i] = x[i % 3] * (i + 1)
        if i > 2:
            y = d.pop(i - 2)
            d[0] = d[0] * y + d.pop(77, x[0]) + d.pop(78, 0.5)
    return d[0] * d[4] * len(d)


@prog({1: 0.3, 2: 0.4}, X)
def updated(p, x):
    d = {1: x[0], 5: x[1]}
    d.update(p)
    e = {**d, 9: x[2], **p}
    d[1] = d[1] * e[9]
    f = dict(e)
    f |= d
    h = f.copy()
    h[5] = h[5] * f[1]
    d.clear()
    d[0] = x[0]
    return sum(h.values()) * f[5] * max(f.values()) * d[0]


@prog(X)
def keys_that_may_be_equal(x):
    s = 0.0
    for i in range(3):
        d = {i: x[0], i % 2: x[1]}
        s = s + d[i] * len(d) * x[i]
    return s


@prog(X)
def made_of_pairs(x):
    d = dict(zip(WORDS, x, strict=False))
    e = dict((n, d[n] * 2) for n in WORDS)  # noqa: C402
    z = dict.fromkeys(WORDS, 0.0)
    for n in WORDS:
        z[n] += d[n] * e[n]
    return z["a"] * z["b"] + z["c"]


@prog(X)
def defaults_of_floats(x):
    d = defaultdict(float)
    for i in range(5):
        d[i % 2] += x[i % 3] * i
    d[7] = d[7] + d[0]
    return d[0] * d[1] * d[7] * len(d)


@prog(X)
def defaults_of_lists(x):
    groups = defaultdict(list)
    for i, v in enumerate(x):
        groups[i % 2].append(v * v)
    return sum(groups[0]) * sum(groups[1])


@prog(X)
def added_to_what_is_taken_out(x):
    d = {0: x[0], 1: x[1]}
    ys = [x[0], x[1], x[2]]
    for i in range(2):
        d[i] += d.pop(i) * x[2]
        ys[-1] *= ys.pop() + x[i]
    return d[0] * d[1] * ys[0]


# loops over dicts, and comprehensions


@prog({"W": 0.3, "b": 0.4})
def squares_of_values(p):
    q = {k: v * v for k, v in p.items()}
    return sum(q.values()) * q["W"]


@prog({"W": X, "b": X * 2}, {"W": X * X, "b": X + 0.5}, 0.3)
def descent(p, g, lr):
    q = {k: v - lr * g[k] for k, v in p.items()}
    return np.sum(q["W"] * q["b"])


@prog({"W": np.full((2, 3), 0.3), "b": X[:2]}, X)
def descent_of_other_ranks(p, x):
    q = {k: v - 0.1 * p[k] ** 2 for k, v in p.items()}
    return np.sum(np.tanh(q["W"] @ x + q["b"]))


def slopes_of(p, x):
    h = np.tanh(p["W"] @ x + p["b"])
    e = (h - 0.5) * (1.0 - h * h)
    return {"W": np.outer(e, x), "b": e}


@prog({"W": np.full((2, 3), 0.3), "b": X[:2]}, X)
def descent_by_steps(p, x):
    for _ in range(3):
        g = slopes_of(p, x)
        p = {k: v - 0.1 * g[k] for k, v in p.items()}
    return np.sum(np.tanh(p["W"] @ x + p["b"]) ** 2)


@prog({"W": np.full((2, 3), 0.3), "b": X[:2] * 1.0}, X)
def descent_in_place(p, x):
    for _ in range(3):
        g = slopes_of(p, x)
        for k in p:
            p[k] -= 0.1 * g[k]
    return np.sum(np.tanh(p["W"] @ x + p["b"]) ** 2)


@prog({"W": np.full((2, 3), 0.3), "b": 0.3}, X)
def numbers_and_arrays(p, x):
    h = np.tanh(p["W"] @ x + p["b"])
    for k in p:
        p[k] = p[k] - 0.1 * np.sum(h)
    weight = sum(np.sum(v**2) for v in p.values())
    decay = 0.0
    for name, v in p.items():
        if name != "b":
            decay += np.sum(v**2)
    return np.sum(np.tanh(p["W"] @ x + p["b"]) ** 2) + weight * decay


@prog({"W": X, "b": X * 2})
def sums_by_name(w):
    e = {name: np.sum(w[name] ** 2) for name in ("W", "b")}
    return e["W"] * e["b"]


@prog({(0, 1): 0.3, (1, 2): 0.4, (0, 2): 1.1}, X)
def edges(w, x):
    s = 0.0
    for (i, j), v in w.items():
        s = s + v * v * x[i] * x[j]
    return s * sum(w.values())


@prog(X)
def comprehensions_nested(x):
    d = {(i, j): x[i] * x[j] for i in range(3) for j in range(3) if i != j}
    e = {k: {m: v * m for m in range(2)} for k, v in d.items()}
    return d[0, 1] * d[1, 2] * sum(q[1] for q in e.values())


@prog(X)
def comprehension_with_equal_keys(x):
    d = {i % 2: x[i] * x[0] for i in range(3)}
    return d[0] * d[1]


@prog(X)
def comprehension_over_itself(x):
    d = {i: x[i] for i in range(3)}
    for _ in range(2):
        d = {k: v * d[(k + 1) % 3] for k, v in d.items() if k != 7}
    return d[0] + d[1]


@prog(X)
def entry_of_the_round(x):
    d = {i: x[i] for i in range(3)}
    for k, v in d.items():
        d[k] = v * v * x[0]
    for k in d:
        d[k] *= d[k]
    for k, v in list(d.items()):
        d[(k + 1) % 3] = v * d[k]
        d[k + 10] = v
    return sum(d.values()) * d[2]


@prog(X)
def entries_written_while_their_turn_comes(x):
    d, s = {"a": x[0], "b": x[1]}, 0.0
    for _, v in d.items():
        d["b"] = x[2] * v
        s += v
    return s * d["b"]


@prog(X)
def in_order(x):
    d = {i * 3 % 4: x[i % 3] * i for i in range(4)}
    s = 0.0
    for k in sorted(d):
        s = s * d[k] + d[k] * k
    for k, v in sorted(d.items()):
        s = s + v * k
    return s


@prog(X)
def views_elsewhere(x):
    d = {i: x[i] for i in range(3)}
    s = 0.0
    for n, (_, v) in enumerate(d.items()):
        s += v * v * n
    for v, w in zip(d.values(), x, strict=True):
        s += v * w * w
    ys = [v * v for v in d.values()]
    m = np.array(list(d.values()))
    top = max(d.values()) + sum(v * v for v in d.values() if v > 0)
    return s * sum(ys) * np.sum(m * m) * top


# arguments, functions, objects


@prog({"W": 0.3, "b": 0.4}, X)
def argument_by_its_keys(p, x):
    for i in range(3):
        for k in p:
            p[k] = p[k] * x[i] + p["b"]
    return p["W"] * p["b"]


@prog({0: 0.3, 1: 0.4, 5: -1.0}, X)
def argument_gets_and_loses_entries(p, x):
    s = 0.0
    for k in p:
        s = s + p[k] ** 2 * k
    p[7] = s * x[0]
    del p[1]
    return s * p[5] * p[7]


@prog({0: X * 1.0, 1: X + 1, 5: X * X}, X)
def argument_of_arrays_changes(p, x):
    for k in list(p):
        p[k + 1] = p[k] * x
        if k + 1 in p:
            del p[k]
    return np.sum(p[2] * p[6])


@prog([{1: 0.3, 2: 0.4}, {1: 0.5}], X)
def tables_in_an_argument(ps, x):
    for p in ps:
        p[2] = p.get(2, 1.0) * x[0] + p[1]
        p[3] = p[2] * p[1]
    return ps[0][3] * ps[1][2] + ps[1][3]


def fill(d, k, v):
    d[k] = v * v
    return v + 1.0


@prog(X)
def filled_by_a_function(x):
    d = {}
    s = 0.0
    for i in range(4):
        s = s + fill(d, i % 3, x[i % 3])
    return s * d[0] * d[1]


def total(d, w):
    s = 0.0
    for v in d.values():
        s = s + v * w
    return s


@prog({3: 0.3, 7: -0.4}, X)
def read_by_a_function(p, x):
    d = {i: x[i] * 2 for i in range(3)}
    return total(d, x[0]) * total(p, x[1]) + total({"a": x[2]}, 2.0)


def powers(x, n):
    return {i: x[i] * x[0] for i in range(n)}


@prog(X)
def made_by_a_function(x):
    d = powers(x, 3)
    e = powers(x, 2)
    d[1] = d[1] * e[0]
    return d[1] * d[2] + e[1]


class Model:
    def __init__(self, x):
        self.cache = {}
        self.x = x

    def at(self, i):
        if i not in self.cache:
            self.cache[i] = self.x[i % 3] * self.x[0] * i
        return self.cache[i]


@prog(X)
def cache_of_an_object(x):
    m = Model(x)
    s = 0.0
    for i in (1, 2, 1, 4):
        s = s + m.at(i) ** 2
    return s * m.cache[4]


@prog(X)
def rows_of_one_of_two_arrays(x):
    u, v = 1.0 * x, x * x
    d = {}
    for i in range(4):
        d[i % 3] = u if x[i % 3] > 0 else v
        d[i % 3][0] = d[i % 3][1] * x[0]
    w = d[1]
    w[1:] *= w[:-1]
    del d[0]
    return np.sum(u * v) + np.sum(d[1] * d[2])


@prog(X)
def tables_in_a_list(x):
    ds = []
    for i in range(3):
        d = {}
        d[i] = x[i]
        ds.append(d)
    for i in range(3):
        ds[i][7] = ds[i][i] * x[0]
        ds[i][i] = ds[i][7] ** 2
    return ds[0][0] * ds[1][1] * ds[2][7]


@prog(X)
def arrays_popped_and_written(x):
    d = {i: x * x[i] for i in range(3)}
    while len(d) > 1:
        k = max(d)
        v = d.pop(k)
        v *= x
        d[0] = d[0] * v
        d[0][1] = v[0] * v[2]
    return np.sum(d[0])


@prog({0: X * 1.0, 3: X * X}, X)
def argument_asked(p, x):
    s = 0.0
    for i in range(4):
        s = s + np.sum(p.get(i, x) ** 2)
    p.pop(3)
    p[4] = p[0] * s
    return np.sum(p[4])


@prog({0: 0.5, 3: 0.7}, X)
def argument_by_two_names(p, x):
    q = dict(p)
    q[5] = q[0] * x[0]
    p.update(q)
    r = p
    r[3] *= r[5]
    del r[0]
    r[0] = r[3]
    return sum(v * k for k, v in p.items())


@prog(X)
def table_in_a_try(x):
    d = {1: x[0]}
    s = 0.0
    for i in range(4):
        try:
            s = s + d[i] ** 2
        except KeyError:
            d[i] = x[i % 3] * s + x[1]
    return s * d[2]


@prog(X)
def keys_that_are_floats(x):
    d = {}
    for i in range(3):
        d[0.1 * i] = x[i]
    return d[0.1] * d[0.2]


@prog(X)
def keys_rounded(x):
    d = {}
    d[round(x[0], 1)] = x[1] * x[0]
    d[int(x[1])] = x[2]
    return d[round(x[0], 1)] * d[int(x[1])]


@prog(X)
def counted_from_ints(x):
    d = {}
    for i in range(3):
        d[i] = 0
    for i in range(3):
        d[i] = d[i] + x[i] * x[0]
    return d[0] * d[1] * d[2]


@prog(X)
def last_ones_taken(x):
    todo = {0: x[0], 1: x[1]}
    s = 0.0
    n = 0
    while todo:
        k, v = todo.popitem()
        s = s + v * v
        n += 1
        if n < 4:
            todo[n + 5] = v * x[2]
    return s


@prog(X)
def seen_before(x):
    seen = {}
    s = 0.0
    for i in (1, 2, 1, 3, 2):
        if i in seen.keys():
            s += seen[i]
            continue
        seen[i] = x[i % 3] ** 2
    return s * len(seen)


@prog(X)
def display_of_one_of_two(x):
    d = {1: x[0]}
    e = {1: x[1]}
    for i in range(2):
        d[i] = x[i] * 3
        e[i] = x[i] * x[i]
    u = d if x[0] > 0 else e
    u[1] = u[1] * x[2]
    g = {**u, 5: x[2]}
    g[1] = g[1] ** 2
    h = u.copy()
    h[0] *= u[1]
    return g[1] * g[5] * d[1] * e[1] * h[0] + u[0] + sum(h.values())


@prog(X)
def arrays_displayed(x):
    d = {}
    e = {}
    for i in range(3):
        d[i] = x * (i + 1)
        e[i] = x * x[i]
    u = d if x[0] > 0 else e
    u[1][0] = u[1][1] * x[2]
    g = {**u, 5: x * 2}
    g[1][1] = g[1][2] ** 2
    for k, v in u.items():
        v[2] += v[0] * k
    return np.sum(g[1] * g[5] * d[1] * e[1]) + np.sum(u[0] * d[2])


@prog({"a": 0.3, "b": 0.6}, X)
def sum_of_written_values(p, x):
    p["a"] *= x[0]
    return sum(p.values()) * sum(v * v for v in p.values())


@prog({3: 0.3, 4: 0.6}, X)
def sum_of_values_twice(p, x):
    s = sum(p.values())
    t = sum(p.values())
    return s * t * np.sum(x)


@prog({"a": 0.3, "n": 3, "s": 0.5}, 0.3)
def entries_without_derivative(p, y):
    s = 0.0
    for _, v in p.items():
        s += v * v * y
    for k in p:
        s += p[k] * y
    return s + sum(p.values()) * y + sum(v * v for v in p.values())


@prog({"a": 0.3, "n": 3, "name": "u"}, 0.3)
def entries_that_are_words(p, y):
    s = 0.0
    for k, v in p.items():
        if k != "name":
            s += v * v * y
    return s


@prog(X)
def entries_that_are_none(x):
    d = {}
    for i in range(3):
        d[i] = None if i == 1 else x[i]
    s = 0.0
    for i in range(3):
        v = d[i]
        if v is not None:
            s += v * v
    for v in d.values():
        if v is not None:
            s += v * x[0]
    return s


@prog(X)
def words_taken_from_the_end(x):
    d = {"a": x[0], "b": x[1] * x[0], "c": x[2]}
    word, v = d.popitem()
    _, w = d.popitem()
    return v * v * w if word == "c" else w


@prog(X)
def keys_that_are_pairs(x):
    table = {(0, 0): x[0], (0, 1): x[1], (1, 0): x[2], (1, 1): x[0] ** 2}
    return table[0, 0] * table[1, 1] - table[0, 1] * table[1, 0]


@prog(X)
def dicts_by_pairs(x):
    table = {(0, "a"): {"w": x[0]}, (1, "b"): {"w": x[1]}, **{(2, "c"): {"w": x[2]}}}
    return table[0, "a"]["w"] * 2.0 + table[1, "b"]["w"] ** 2 * table[2, "c"]["w"]


@prog(X)
def pairs_unpacked(x):
    table = {**{(0, 1): x[0], (1, 0): x[1]}, (2, 2): x[2]}
    return table[0, 1] * 2.0 + table[1, 0] * 3.0 + table[2, 2] ** 2


@prog(X)
def array_used_after_its_entry_is_gone(x):
    d = {"a": x * 2.0, "b": x**2}
    y = d["a"]
    del d["a"]
    y[0] *= 3.0
    d["b"][1:] += y[:-1]
    return np.sum(d["b"] * y)


@prog(X)
def array_used_where_its_entry_may_be_gone(x):
    d = {"a": x * 2.0, "b": x**2}
    y = d["a"]
    y[1] *= y[0]
    if x[0] > 0.5:
        del d["a"]
        y[0] *= x[1]
        d["a"] = y * x
    return np.sum(d["b"] * y) + np.sum(d["a"])


@prog(X)
def squares_of_numbers_of_two_kinds(x):
    t = {"a": x[0], "n": 3}
    for k, v in list(t.items()):
        t[k] = v * v
    pairs = [("a", x[1]), ("b", 2)]
    total = 0.0
    for _, v in pairs:
        total = total + v * v * x[2]
    return t["a"] * t["n"] * total
