"""Programs with lazy sequences, tuples made of them, and choices by a key."""

from operator import itemgetter

import numpy as np

PROGRAMS = []


def prog(*argsets):
    def deco(f):
        PROGRAMS.extend((f, args) for args in argsets)
        return f

    return deco


A, B = np.array([0.7, 1.3, -0.4]), np.array([0.2, -0.9, 0.5])
A5, B5 = np.array([0.3, 0.8, 1.1, -0.6, 0.25]), np.array([1.4, -0.2, 0.7, 0.9, -1.2])
W = np.outer(A, B) + 0.2


def two(f):
    return prog((A, B), (A5, B5))(f)


def lists(f):
    return prog((list(map(float, A)), list(map(float, B))), (list(map(float, A5)), [*B5]))(f)


def scaled(a, b):
    return a * b + a


# ranges


@two
def parts_of_ranges(x, y):
    n = len(x)
    x = x.copy()
    for i in range(n)[::-1]:
        x[i] = (x[i] - y[i + 1 :] @ x[i + 1 :]) / (2.0 + y[i])
    inner = range(n)[1:-1]
    x[inner] *= y[inner]
    terms = [x[i] * y[j] for i, j in zip(inner, range(n)[:-1])]
    return np.sum(x**3) + sum(terms) * x[inner[0]] * len(inner)


# tuples of what a loop gives


@two
def tuple_of_generator(x, y):
    t = tuple(v * w for v, w in zip(x, y))
    return t[0] * t[1] + sum(t)


@two
def tuple_zipped(x, y):
    t = tuple(v**2 for v in x)
    return sum(a * b for a, b in zip(t, y))


@two
def tuple_filtered(x, y):
    t = tuple(v**2 for v in x if v > 0)
    return sum(t) * y[0] * len(t)


@two
def tuple_zip(x, y):
    ps = tuple(zip(x, y))
    return sum(a * b * a for a, b in ps)


@two
def tuple_of_map(x, y):
    t = tuple(map(scaled, x, y))
    return t[0] * t[1] + max(t)


@two
def array_of_tuple(x, y):
    return np.sum(np.array(tuple(a * b for a, b in zip(x, y))) ** 2)


@two
def unzip(x, y):
    ps = list(zip(x, y))
    us, vs = zip(*ps)
    return sum(us) * sum(v * v for v in vs)


@two
def unzip_same(x, y):
    x, y = zip(*sorted(zip(x, y)))
    return sum((k + 1) * u * v for k, (u, v) in enumerate(zip(x, y)))


@two
def unzip3(x, y):
    ps = [(a, a * b, k) for k, (a, b) in enumerate(zip(x, y))]
    us, vs, ks = zip(*ps)
    return np.sum(np.array(us) * np.array(vs)) + ks[1] * us[0]


@prog(((W, A), B))
def tuple_updated(ps, x):
    for _ in range(3):
        ps = tuple(p - 0.1 * p * p for p in ps)
    return np.sum(ps[0] @ x) + np.sum(ps[1] ** 2)


@prog(([(W, A), (W.T, B)], B))
def tuple_of_layers(ps, x):
    ps = tuple((w * 0.9, b - 0.1 * b) for w, b in ps)
    for w, b in ps:
        x = np.tanh(w @ x + b)
    return np.sum(x)


def turned(state):
    x, v = state
    return x + v, v - x


def downhill(ps, rate):
    new = []
    for p in ps:
        new.append(p - rate * p * p)
    return tuple(new)


@prog(((A, B),))
def tuple_of_helpers_tuple(st):
    for _ in range(3):
        st = tuple(s + 0.1 * d for s, d in zip(st, turned(st)))
    return np.sum(st[0] * st[1])


@prog(((W, A), B))
def tuple_of_appended(ps, x):
    for _ in range(3):
        ps = downhill(ps, 0.1)
    return np.sum(ps[0] @ x) + np.sum(ps[1] ** 2)


@prog(((A, B),))
def enum_tuple(ps):
    t = tuple(k * p for k, p in enumerate(ps))
    return np.sum(t[0] + t[1] * ps[0])


@prog(((A, B),))
def rev_tuple(ps):
    a, b = tuple(reversed(ps))
    return np.sum(a * a * b)


@prog(((A, B),))
def range_tuple(ps):
    t = tuple(ps[i] * ps[1 - i] * i for i in range(2))
    return np.sum(t[0] + t[1] * ps[0])


@prog(((A, B),))
def if_tuple(ps):
    t = tuple(p * p for p in ps if p[0] > 0.5)
    return np.sum(t[0])


@prog(((A, B),))
def cond_tuple(ps):
    t = tuple(p * p if k else p for k, p in enumerate(ps))
    return np.sum(t[0] * t[1])


@prog((A, B))
def tuple_of_array(x, y):
    t = tuple(x)
    return t[0] * y[0] + t[1]


# lazy sequences, read to their end


@two
def list_zip(x, y):
    ps = list(zip(x, y))
    s = 0.0
    for a, b in ps:
        s += a * b * a
    return s + ps[0][1] * ps[-1][0]


@lists
def list_zip_of_lists(x, y):
    ps = list(zip(x, y))
    s = 0.0
    for a, b in ps:
        s += a * b * a
    return s + ps[0][1] * ps[-1][0]


@two
def list_reversed(x, y):
    xs = list(reversed(x))
    return xs[0] * xs[1] + sum(a * b for a, b in zip(xs, y))


@two
def list_reversed_built(x, y):
    zs = []
    for a in x:
        zs.append(a * a)
    zs = list(reversed(zs))
    return sum(a * b for a, b in zip(zs, y))


@two
def list_enumerated(x, y):
    es = list(enumerate(x))
    s = 0.0
    for i, v in es:
        s += v * v * y[i]
    return s + es[1][1] * es[0][0]


@lists
def list_enumerated_from_one(x, y):
    es = list(enumerate(x, 1))
    s = 0.0
    for i, v in es:
        s += i * v * v * y[i - 1]
    return s


@prog((np.outer(A, B), A), (np.outer(A5, B5), B5))
def list_rows(m, x):
    rows = list(m)
    return sum(r @ x for r in rows) * rows[0][0]


@prog((np.outer(A, B), A), (np.outer(A5, B5), B5))
def list_zip_rows(m, x):
    return sum(a * (r @ x) for r, a in list(zip(m, x)))


@prog((np.outer(A, B), A), (np.outer(A5, B5), B5))
def rows_reversed(m, x):
    s = x * 0
    for k, row in list(enumerate(reversed(m))):
        s = np.tanh(s * row + k)
    return s @ s


@prog((np.outer(A, B), A), (np.outer(A5, B5), B5))
def rows_enumerated(m, x):
    rows = list(enumerate(m))
    s = 0.0
    for k, row in rows[1:]:
        s += (row @ x) * k
    return s


@two
def list_zip3(x, y):
    ps = list(zip(x, y, range(len(x))))
    return sum(a * b * k for a, b, k in ps)


@two
def list_zip_enum(x, y):
    ps = list(enumerate(zip(x, y)))
    s = 0.0
    for k, (a, b) in ps:
        s += a * b * k
    return s


@two
def zip_pairs_idx(x, y):
    ps = list(zip(x[:-1], x[1:]))
    return sum((b - a) ** 2 for a, b in ps) * y[1]


@two
def zip_lit(x, y):
    ps = list(zip([x[0], x[1]], [y[0], y[1]]))
    return ps[0][0] * ps[1][1]


@two
def zip_strict(x, y):
    ps = list(zip(x, y, strict=True))
    return sum(a * b * a for a, b in ps)


@two
def named_iter(x, y):
    ps = zip(x, y)
    s = 0.0
    for a, b in ps:
        s += a * b * a
    return s


@two
def named_map(x, y):
    ps = map(scaled, x, y)
    s = 0.0
    for a in ps:
        s += a * a
    return s


@two
def named_gen(x, y):
    ps = (a * b for a, b in zip(x, y))
    return sum(ps)


@two
def named_gen_in_loop(x, y):
    s = 0.0
    for k in range(3):
        ps = (a * k for a in x)
        s += sum(ps) * y[0]
    return s


@two
def named_map_list(x, y):
    ps = map(np.sin, x)
    qs = list(ps)
    return qs[0] * qs[1] * y[0]


@two
def dict_enum(x, y):
    d = dict(enumerate(x))
    return d[0] * d[1] * y[0]


@two
def np_fromiter(x, y):
    return np.sum(np.fromiter((a * b for a, b in zip(x, y)), float) ** 2)


@prog((A, B))
def unpack_map(x, y):
    a, b, c = map(lambda v: v * v, x)
    return a * b + c * y[0]


# what is picked by a key, or in order


@lists
def sorted_zip(x, y):
    s = 0.0
    for i, (k, v) in enumerate(sorted(zip(x, y))):
        s += (i + 1) * k * v
    return s


@two
def sorted_zip_by_place(x, y):
    ps = sorted(zip(x, y))
    return ps[0][0] * ps[1][1] + ps[-1][1] ** 2


@two
def sorted_pairs_key(x, y):
    ps = sorted(zip(x, y), key=lambda p: p[1])
    return ps[0][0] * ps[1][1] + ps[-1][1] ** 2


@two
def sorted_pairs_rev(x, y):
    ps = sorted(zip(x, y), key=lambda p: p[0], reverse=True)
    return sum((i + 1) * a * b for i, (a, b) in enumerate(ps))


@prog((A, [3, 1, 2]), (A5, [3, 1, 2, 5, 4]))
def sorted_int_keys(x, ks):
    s = 0.0
    for i, (k, v) in enumerate(sorted(zip(ks, x))):
        s += (i + 1) * v * v * k
    return s


@two
def min_key(x, y):
    c = []
    for k in range(4):
        z = x * np.cos(k) * y
        c.append((np.sum(z * z), z))
    b = min(c, key=lambda t: t[0])
    return b[0] * np.sum(b[1] * x)


@two
def min_key_gen(x, y):
    least, z = min(
        ((np.sum((x * np.cos(k) * y) ** 2), x * np.cos(k)) for k in range(4)), key=lambda t: t[0]
    )
    return least * np.sum(z)


@two
def min_arr_key(x, y):
    c = [x * np.cos(k) * y for k in range(4)]
    b = min(c, key=lambda z: np.sum(z * z))
    return np.sum(b * x)


@two
def max_arr_key(x, y):
    c = [x * np.cos(k) * y for k in range(4)]
    b = max(c, key=np.sum)
    return np.sum(b * x)


@two
def min_dict_items(x, y):
    c = {k: np.sum((x * np.cos(k) * y) ** 2) for k in range(4)}
    k, v = min(c.items(), key=lambda kv: kv[1])
    return v * (k + 1)


@two
def sort_nokey(x, y):
    c = [(a * b, a) for a, b in zip(x, y)]
    c.sort()
    return c[0][0] * c[1][1]


@two
def sort_num_key(x, y):
    c = [a * b for a, b in zip(x, y)]
    c.sort(key=lambda v: -v)
    return c[0] * c[1] ** 2


@two
def sort_num_rev(x, y):
    c = [a * b for a, b in zip(x, y)]
    c.sort(reverse=True)
    return c[0] * c[1] ** 2


@two
def sorted_key(x, y):
    c = [(np.sum((x * np.cos(k) * y) ** 2), x * np.cos(k)) for k in range(4)]
    c = sorted(c, key=lambda t: t[0])
    return c[0][0] * np.sum(c[1][1])


@two
def sorted_topk(x, y):
    c = [{"l": np.sum((x * np.cos(k) * y) ** 2), "z": x * np.cos(k)} for k in range(4)]
    c = sorted(c, key=lambda t: t["l"])[:2]
    return c[0]["l"] * np.sum(c[1]["z"])


@two
def min_itemgetter(x, y):
    c = [(np.sum((x * np.cos(k) * y) ** 2), x * np.cos(k)) for k in range(4)]
    b = min(c, key=itemgetter(0))
    return b[0] * np.sum(b[1])


@two
def min_zip(x, y):
    c = [x * np.cos(k) * y for k in range(4)]
    ls = [np.sum(z * z) for z in c]
    least, z = min(zip(ls, c), key=lambda p: p[0])
    return least * np.sum(z)


@two
def min_tuples(x, y):
    least, k = min((np.sum((x * np.cos(k) * y) ** 2), k) for k in range(4))
    return least * (k + 1)


@two
def max_enum(x, y):
    i, v = max(enumerate(x), key=lambda p: p[1])
    return v * v * y[i]


@two
def min_two(x, y):
    b = min(x, y, key=lambda z: np.sum(z * z))
    return np.sum(b**3)


@two
def sorted_items(x, y):
    c = {k: np.sum((x * np.cos(k) * y) ** 2) for k in range(4)}
    s = 0.0
    for r, (k, v) in enumerate(sorted(c.items(), key=lambda kv: kv[1])):
        s += v * (r + 1) * k
    return s


@two
def sorted_items_s(x, y):
    c = {"a": x[0] * y[0], "b": x[1], "c": y[1]}
    top = sorted(c.items(), key=lambda kv: kv[1], reverse=True)[:2]
    return top[0][1] * top[1][1]


@two
def max_values_arr(x, y):
    c = {"a": x * y, "b": x, "c": y}
    z = max(c.values(), key=lambda v: np.sum(v * v))
    return np.sum(z * x)


@two
def min_in_loop(x, y):
    s = 0.0
    for k in range(3):
        b = min([x * k, y + k, x * y], key=lambda z: np.sum((z - 1) ** 2))
        s += np.sum(b * b)
    return s


@two
def min_tie(x, y):
    b = min([(1.0, x[0]), (1.0, x[1])])
    return b[1] * y[0]


@two
def sort_alias(x, y):
    c = [(a * b, a) for a, b in zip(x, y)]
    d = c
    c.sort(key=lambda t: t[0])
    return d[0][0] * d[1][1]
