"""Programs that change lists and dicts by methods and slices.

Each is checked by tests/test_writes_containers.py.
"""

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


X = np.array([0.7, 1.3, -0.4])
_generator = np.random.default_rng(5)


def r(*shape):
    return 0.5 * _generator.standard_normal(shape)


@prog(X)
def list_slice_assign(x):
    xs = [x[0], x[1], x[2]]
    xs[1:] = [x[0] * x[1], x[2] ** 2]
    return xs[0] * xs[1] * xs[2]


@prog(X)
def list_slice_assign_grow(x):
    xs = [x[0], x[1], x[2]]
    xs[1:2] = [x[0] * x[1], x[2] ** 2, xs[0]]
    return xs[0] * xs[1] * xs[2] * xs[3] * xs[4]


@prog(X)
def list_slice_assign_name(x):
    xs = [x[0], x[1], x[2]]
    ys = [x[0] * x[1], x[2] ** 2]
    xs[:2] = ys
    ys[0] = x[2]
    return xs[0] * xs[1] * xs[2] * ys[0]


@prog(X)
def list_slice_all(x):
    xs = [x[0], x[1], x[2]]
    xs[:] = [v * v for v in xs]
    return xs[0] * xs[1] * xs[2]


@prog(X)
def list_slice_loop(x):
    xs = [x[0], x[1], x[2]]
    for i in range(2):
        xs[i : i + 2] = [xs[i + 1] * x[0], xs[i]]
    return xs[0] * xs[1] + xs[2] ** 2


@prog(X)
def list_clear(x):
    xs = [x[0], x[1]]
    s = xs[0] * xs[1]
    xs.clear()
    xs.append(s * x[2])
    return xs[0] * s


@prog(X)
def list_clear_loop(x):
    s = 0.0
    xs = []
    for i in range(3):
        xs.clear()
        xs.append(x[i])
        xs.append(x[i] * x[0])
        s += xs[0] * xs[1]
    return s


@prog(X)
def list_reverse(x):
    xs = [x[0], x[1], x[2]]
    xs.reverse()
    return xs[0] ** 2 * xs[1] + xs[2] ** 3


@prog(X)
def list_reverse_loop(x):
    xs = [x[0], x[1], x[2]]
    for i in range(3):
        xs[0] = xs[0] * xs[1]
        xs.reverse()
    return xs[0] ** 2 * xs[1] + xs[2] ** 3


@prog(X)
def list_sort(x):
    xs = [x[0], x[1], x[2]]
    xs.sort()
    return xs[0] ** 2 * xs[1] + xs[2] ** 3


@prog(X)
def list_reversed(x):
    s = 0.0
    xs = [x[0], x[1], x[2]]
    xs[1] = xs[0] * xs[2]
    for v in reversed(xs):
        s = s * v + v
    return s


@prog(X)
def list_del_i(x):
    xs = [x[0], x[1], x[2]]
    for i in range(1):
        del xs[i]
    return xs[0] ** 2 * xs[1]


@prog(X)
def list_del_slice(x):
    xs = [x[0], x[1], x[2]]
    s = xs[1] * xs[2]
    del xs[1:]
    xs.append(s)
    return xs[0] ** 2 * xs[1]


@prog(X)
def list_aug(x):
    xs = [0.0, 0.0]
    for i in range(3):
        xs[i % 2] += x[i] * xs[0] + x[i]
    return xs[0] * xs[1]


@prog(X)
def list_iadd(x):
    xs = [x[0]]
    for i in range(3):
        xs += [xs[-1] * x[i]]
    return xs[-1] * xs[1]


@prog(X)
def list_iadd_two(x):
    xs = []
    for i in range(3):
        xs += [x[i], x[i] ** 2]
    return xs[0] * xs[3] * xs[5]


@prog(X)
def list_concat(x):
    xs = [x[0]]
    for i in range(3):
        xs = xs + [xs[-1] * x[i]]
    return xs[-1] * xs[1]


@prog(X)
def list_concat_front(x):
    xs = [x[0]]
    for i in range(3):
        xs = [xs[0] * x[i]] + xs
    return xs[0] * xs[1]


@prog(X)
def list_concat_written(x):
    xs = [x[0]]
    for i in range(3):
        xs = xs + [xs[-1] * x[i]]
        xs[0] = xs[0] * x[1]
    return xs[-1] * xs[0]


@prog(X)
def list_times(x):
    xs = [0.0] * 3
    for i in range(3):
        xs[i] = x[i] ** 2
    return xs[0] * xs[1] + xs[2]


@prog(X)
def list_times_n(x):
    xs = [0.0] * len(x)
    for i in range(3):
        xs[i] = x[i] ** 2
    return xs[0] * xs[1] + xs[2]


@prog(X)
def list_times_active(x):
    xs = [x[0]] * 3
    xs[1] = x[1] * xs[0]
    return xs[0] * xs[1] * xs[2]


@prog(X)
def list_times_none(x):
    xs = [None] * 3
    for i in range(3):
        xs[i] = x[i] ** 2
    return xs[0] * xs[1] + xs[2]


@prog(X)
def list_insert(x):
    xs = [x[0], x[1]]
    for i in range(3):
        xs.insert(1, x[i] * xs[0])
    return xs[0] * xs[1] * xs[2]


@prog(X)
def list_insert_i(x):
    xs = [x[0], x[1]]
    for i in range(3):
        xs.insert(i, x[i] * xs[0])
    return xs[0] * xs[1] * xs[2]


@prog(X)
def list_pop_i(x):
    xs = [x[0], x[1], x[2]]
    s = 1.0
    for i in range(2, -1, -1):
        s *= xs.pop(i) ** 2
    return s


@prog(X)
def list_rows(x):
    rows = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            rows[i][j] = x[i] * x[j]
    rows[1][1] = rows[0][0] * rows[2][1]
    rows[1][2] += rows[1][1]
    s = 0.0
    for i in range(3):
        s += rows[i][i] * rows[1][2]
    return s


@prog(X)
def list_rows2(x):
    n = len(x)
    A = [[x[i] * x[j] + (3.0 if i == j else 0.0) for j in range(n)] for i in range(n)]
    for k in range(n):
        for i in range(k + 1, n):
            A[i][k] = A[i][k] / A[k][k]
            for j in range(k + 1, n):
                A[i][j] -= A[i][k] * A[k][j]
    d = 1.0
    for i in range(n):
        d *= A[i][i]
    return d


@prog(X)
def list_arrays(x):
    xs = [np.zeros(3), np.zeros(3)]
    for i in range(2):
        for j in range(3):
            xs[i][j] += x[j] * (i + 1)
    xs[0][1] *= xs[1][2]
    return np.sum(xs[0] * xs[1])


@prog(X)
def list_arrays_comp(x):
    xs = [np.zeros(3) for _ in range(3)]
    for i in range(2):
        for j in range(3):
            xs[i + 1][j] += x[j] * (i + 1) + xs[i][j - 1]
    return np.sum(xs[2] * xs[1])


@prog(X)
def list_arrays_appended(x):
    xs = []
    for i in range(3):
        xs.append(np.zeros(3))
        for j in range(3):
            xs[i][j] = x[j] * x[i]
    for i in range(1, 3):
        xs[i][0] += xs[i - 1][1]
    return np.sum(xs[2] * xs[1])


@prog(X)
def list_of_dicts(x):
    ps = [{"a": x[i], "b": 1.0} for i in range(3)]
    for p in ps:
        p["b"] = p["a"] * x[0]
    for i in range(3):
        ps[i]["a"] += ps[i - 1]["b"]
    return ps[0]["a"] * ps[1]["a"] * ps[2]["b"]


@prog(X)
def list_dict_of_lists(x):
    d = {"a": [], "b": []}
    for i in range(3):
        d["a"].append(x[i])
        d["b"].append(d["a"][i] ** 2)
    return d["a"][0] * d["b"][1] * d["a"][2]


@prog(X)
def list_dict_of_lists2(x):
    d = {"a": [], "b": []}
    for i in range(3):
        d["ab"[i % 2]].append(x[i])
    return d["a"][0] * d["b"][0] * d["a"][1]


@prog(X)
def list_dict_np(x):
    d = {"a": [], "b": []}
    for i in range(3):
        d["a"].append(x[i])
        d["b"].append(x[i] ** 2)
    return np.sum(np.array(d["a"]) * np.array(d["b"]))


@prog(X)
def list_index(x):
    xs = [1, 2, 3]
    i = xs.index(2)
    ys = [x[0], x[1]]
    return ys[i] ** 2


@prog(X)
def list_copy(x):
    xs = [x[0], x[1]]
    ys = xs.copy()
    zs = list(xs)
    ws = xs[:]
    ys[0] = x[2]
    zs[1] = x[2] ** 2
    ws[0] *= 2
    return xs[0] * ys[0] * zs[1] * ws[0] * xs[1]


@prog(X)
def list_slice_read(x):
    xs = [x[0], x[1], x[2]]
    xs[0] = x[1] * x[2]
    ys = xs[1:]
    ys[0] *= x[0]
    return xs[0] * xs[1] * ys[0] * ys[1]


@prog(X)
def list_comp_over_written(x):
    xs = [x[0], x[1], x[2]]
    xs[0] = x[1] * x[2]
    ys = [v * v for v in xs]
    return sum(ys) * xs[0]


@prog(X)
def list_enumerate_write(x):
    xs = [x[0], x[1], x[2]]
    for i, v in enumerate(xs):
        xs[i] = v * x[0]
    return xs[0] * xs[1] * xs[2]


@prog(X)
def list_for_write_i(x):
    xs = [x[0], x[1], x[2]]
    for i in range(len(xs)):
        xs[i] = xs[i] * x[0]
    return xs[0] * xs[1] * xs[2]


@prog(X)
def list_zip_write(x):
    xs = [x[0], x[1], x[2]]
    ys = [x[0], x[1], x[2]]
    ys[0] = 2.0 * ys[1]
    s = 0.0
    for a, b in zip(xs, ys):
        s += a * b * b
    return s


@prog(X)
def list_while_queue(x):
    q = [x[0], x[1], x[2]]
    s = 1.0
    while q:
        v = q.pop(0)
        s *= v
        if len(q) == 1:
            q.append(v * v)
        if s < -100:
            break
        if len(q) > 3:
            break
        if abs(s) < 1e-3:
            break
    return s


@prog([r(3), r(3)], X)
def list_arg_iter(ps, x):
    for i, p in enumerate(ps):
        ps[i] = p * x
    return np.sum(ps[0] * ps[1])


@prog([0.3, 0.4, 0.5], 0.7)
def list_arg_floats(ps, x):
    ps[1] = ps[0] * x
    ps[2] += ps[1]
    return ps[0] * ps[1] * ps[2]


@prog(X)
def list_unpack(x):
    xs = [x[0], x[1], x[2]]
    xs[0] = xs[1] * 2
    a, b, c = xs
    return a * b * c


@prog(X)
def list_star(x):
    xs = [x[0], x[1], x[2]]
    xs[0] = xs[1] * 2
    a, *b = xs
    return a * b[0] * b[1]


@prog(X)
def list_stack(x):
    xs = []
    h = x
    for i in range(3):
        h = np.sin(h) * x
        xs.append(h)
    return np.sum(np.stack(xs) ** 2)


@prog(X)
def list_ll_append(x):
    rows = []
    for i in range(3):
        row = []
        for j in range(3):
            row.append(x[i] * x[j])
        rows.append(row)
    rows[1][1] = rows[0][0] * rows[2][1]
    return rows[1][1] * rows[1][2] + rows[0][2]


@prog(X)
def list_ll_append2(x):
    rows = []
    for i in range(3):
        rows.append([])
        for j in range(3):
            rows[-1].append(x[i] * x[j])
    return rows[1][1] * rows[1][2] + rows[0][2]


@prog(X)
def list_of_tuples(x):
    ts = []
    for i in range(3):
        ts.append((x[i], x[i] ** 2))
    s = 0.0
    for a, b in ts:
        s += a * b
    return s * ts[0][1]


@prog(X)
def list_of_tuples_w(x):
    ts = [(x[0], x[1]), (x[1], x[2])]
    ts[0] = (ts[1][0] * x[0], ts[1][1])
    return ts[0][0] * ts[0][1] * ts[1][0]


@prog(X)
def list_minmax(x):
    xs = [x[0], x[1]]
    xs.append(x[2])
    return max(xs) * min(xs)


@prog(X)
def dict_update_dict(x):
    d = {"a": x[0], "b": x[1]}
    d.update({"a": x[2] * d["b"], "c": x[0]})
    return d["a"] * d["b"] * d["c"]


@prog(X)
def dict_update_kw(x):
    d = {"a": x[0], "b": x[1]}
    d.update(a=x[2] * d["b"], c=x[0])
    return d["a"] * d["b"] * d["c"]


@prog(X)
def dict_update_other(x):
    d = {"a": x[0], "b": x[1]}
    e = {"a": x[2] * d["b"]}
    d.update(e)
    return d["a"] * d["b"]


@prog(X)
def dict_ior(x):
    d = {"a": x[0], "b": x[1]}
    d |= {"a": x[2] * d["b"]}
    return d["a"] * d["b"]


@prog(X)
def dict_setdefault(x):
    d = {"a": x[0]}
    d.setdefault("b", x[1])
    d.setdefault("a", x[2])
    return d["a"] * d["b"]


@prog(X)
def dict_setdefault_value(x):
    d = {"a": x[0]}
    y = d.setdefault("b", x[1] * x[2])
    z = d.setdefault("a", x[2])
    return d["a"] * d["b"] * y * z


@prog(X)
def dict_pop(x):
    d = {"a": x[0], "b": x[1]}
    y = d.pop("a")
    return y * y * d["b"]


@prog(X)
def dict_pop_default(x):
    d = {"a": x[0], "b": x[1]}
    y = d.pop("a", 2.0)
    z = d.pop("c", x[2])
    return y * y * d["b"] * z


@prog(X)
def dict_del(x):
    d = {"a": x[0], "b": x[1]}
    y = d["a"] * 2
    del d["a"]
    d["a"] = y * x[2]
    return d["a"] * d["b"]


@prog(X)
def dict_get(x):
    d = {"a": x[0], "b": x[1]}
    return d.get("a", 0.0) * d.get("c", 2.0) * d.get("b")


@prog(X)
def dict_dict_kw(x):
    d = dict(a=x[0], b=x[1])
    return d["a"] * d["b"]


@prog(X)
def dict_dict_kw_written(x):
    d = dict(a=x[0], b=x[1])
    d["a"] = d["b"] * x[2]
    return d["a"] * d["b"]


@prog(X)
def dict_dict_copy(x):
    d = {"a": x[0], "b": x[1]}
    e = dict(d)
    e["a"] = x[2]
    return d["a"] * e["a"] * e["b"]


@prog(X)
def dict_copy(x):
    d = {"a": x[0], "b": x[1]}
    e = d.copy()
    e["a"] = x[2]
    return d["a"] * e["a"] * e["b"]


@prog(X)
def dict_star(x):
    d = {"a": x[0], "b": x[1]}
    e = {**d, "a": x[2] * d["b"]}
    return d["a"] * e["a"] * e["b"]


@prog(X)
def dict_for(x):
    d = {"a": x[0], "b": x[1]}
    s = 0.0
    for k in d:
        s += d[k] ** 2
    return s


@prog(X)
def dict_for_written(x):
    d = {"a": x[0], "b": x[1]}
    d["c"] = x[2]
    s = 0.0
    for k in d:
        s += d[k] ** 2
    return s


@prog(X)
def dict_for_write(x):
    d = {"a": x[0], "b": x[1]}
    for k in d:
        d[k] = d[k] ** 2 * x[2]
    return d["a"] * d["b"]


@prog(X)
def dict_keys(x):
    d = {"a": x[0], "b": x[1]}
    for k in d.keys():
        d[k] = d[k] ** 2 * x[2]
    return d["a"] * d["b"]


@prog(X)
def dict_values(x):
    d = {"a": x[0], "b": x[1]}
    s = 0.0
    for v in d.values():
        s += v**2
    return s


@prog(X)
def dict_values_written(x):
    d = {"a": x[0], "b": x[1]}
    d["a"] *= x[2]
    s = 0.0
    for v in d.values():
        s += v**2
    return s


@prog(X)
def dict_items_written(x):
    d = {"a": x[0], "b": x[1]}
    d["a"] *= x[2]
    s = 0.0
    for k, v in d.items():
        s += v**2 * (2 if k == "a" else 3)
    return s


@prog({"w": r(3), "b": r(3)}, X)
def dict_keys_list(p, x):
    for k in list(p):
        p[k] = p[k] * x
    return np.sum(p["w"] * p["b"])


@prog({"w": r(3), "b": r(3)}, X)
def dict_sorted(p, x):
    s = 0.0
    for k in sorted(p):
        s += np.sum(p[k] * x) ** 2
    return s


@prog({"W0": r(3, 3), "W1": r(3, 3)}, X)
def dict_fkeys_arg(p, x):
    for i in range(2):
        x = np.tanh(p[f"W{i}"] @ x)
    return np.sum(x)


@prog({"W0": r(3, 3), "W1": r(3, 3)}, X)
def dict_fkeys_arg2(p, x):
    for i in range(len(p)):
        x = np.tanh(p["W" + str(i)] @ x)
    return np.sum(x)


@prog(X)
def dict_len(x):
    d = {"a": x[0]}
    d["b"] = x[1]
    return d["a"] * d["b"] * len(d)


@prog(X)
def dict_clear(x):
    d = {"a": x[0], "b": x[1]}
    y = d["a"] * d["b"]
    d.clear()
    d["a"] = y * x[2]
    return d["a"] * y


@prog(X)
def aliased_a1(x):
    xs = [x * 1.0, x * 2.0]
    u = xs[0]
    u[0] = x[1] * x[2]
    s = np.stack(xs)
    v = np.sum(u * u)
    return np.sum(s**3) * v


@prog(X)
def aliased_a2(x):
    xs = [x * 1.0, x * 2.0, x * 3.0]
    u = xs[1]
    u[0] = x[1] * x[2]
    s = np.stack(xs[1:])
    v = np.sum(u * u)
    return np.sum(s**3) * v


@prog(X)
def aliased_a3(x):
    xs = [x * 1.0, x * 2.0, x * 3.0]
    u = xs[1]
    u[0] = x[1] * x[2]
    s = sum(xs)
    v = np.sum(u * u)
    return np.sum(s**3) * v


@prog(X)
def aliased_a4(x):
    d = {"a": x * 1.0, "b": x * 2.0}
    u = d["a"]
    u[0] = x[1] * x[2]
    s = np.stack(list(d.values()))
    v = np.sum(u * u)
    return np.sum(s**3) * v


@prog(X)
def aliased_a5(x):
    xs = [x[0], x[1], x[2]]
    xs[0] = xs[1] * xs[2]
    ys = xs[1:]
    return ys[0] * ys[1] ** 2 * xs[0]


@prog(X)
def aliased_a6(x):
    xs = [x[0], x[1], x[2]]
    xs[0] = xs[1] * xs[2]
    return sum(xs[1:]) ** 2 * xs[0]


@prog(X)
def aliased_a8(x):
    xs = [[x[0]], [x[1]], [x[2]]]
    xs[0][0] = xs[1][0] * xs[2][0]
    a, *b = xs
    return a[0] * b[0][0] * b[1][0]


@prog(X)
def shared_b3(x):
    d = {"a": [], "b": []}
    for i in range(3):
        d["a"].append(x * x[i])
    d["b"].append(x)
    d["a"][1][0] = d["b"][0][1] * d["a"][0][0]
    s = np.array(d["a"])
    u = d["a"][1]
    return np.sum(s**2) * np.sum(u)


@prog(X)
def shared_b4(x):
    d = {"a": [x[0]], "b": [x[1]]}
    e = d["a"]
    e.append(x[2])
    f = e
    f.append(x[0] * e[1])
    return d["a"][2] * d["a"][1] * len(d["a"])


@prog(X)
def shared_b5(x):
    rows = [[] for _ in range(3)]
    for i in range(3):
        for j in range(i + 1):
            rows[i].append(x[i] * x[j])
    s = 0.0
    for row in rows:
        for v in row:
            s += v * v
    return s


@prog(X)
def shared_b6(x):
    g = [[], []]
    for i in range(3):
        b = g[i % 2]
        b.append(x[i] * 2)
        if len(b) > 1:
            b.pop(0)
    return g[0][0] * g[1][0]


@prog(X)
def shared_b16(x):
    m = {}
    m["a"] = []
    m["a"].append(x[1] * x[2])
    m["a"].append(x[1] * x[0])
    return m["a"][0] * m["a"][1]


@prog(X)
def shared_b18(x):
    hist = []
    cur = [0.0, 0.0]
    for i in range(3):
        cur[i % 2] += x[i] * x[0]
        hist.append(cur[:])
    return hist[0][0] * hist[2][0] + hist[1][1]


@prog(X)
def shared_b20(x):
    hist = []
    for i in range(3):
        hist.append({"u": x * x[i], "t": x[i]})
    hist[1]["u"][0] = hist[0]["t"] * x[1]
    return sum(np.sum(h["u"]) * h["t"] for h in hist)


@prog(X)
def list_set_in_a_loop_over_it(x):
    ys, s = [x[0], x[1]], 0.0
    for y in ys:
        ys[1] = y * x[2]
        s += y
    return s * ys[1]


@prog(X)
def dict_set_in_a_loop_over_a_copy(x):
    d, s = {"a": x[0], "b": x[1]}, 0.0
    for _, v in list(d.items()):
        d["b"] = x[2] * v
        s += v
    return s * d["b"]


@prog({"a": 0.3, "b": 0.4}, 0.7)
def dict_entry_of_the_round(d, x):
    for k, v in d.items():
        d[k] = v * x + d["a"]
    return d["a"] * d["b"]


@prog(X)
def dict_entry_of_the_round_again(x):
    d = {"a": x[0], "b": x[1]}
    for _ in range(2):
        for k, v in d.items():
            d[k] = v * x[2] + d["a"]
    return d["a"] * d["b"]


@prog(X)
def dict_keys_copied(x):
    d = {"a": x[0], "b": x[1]}
    for k in list(d.keys()):
        d[k] = d[k] * x[2] + d["a"]
    return d["a"] * d["b"]


def swapped(pair):
    pair[0][0] = np.sin(pair[0][1])
    pair[0], pair[1] = pair[1], pair[0]


@prog(X)
def list_of_arrays_swapped_by_a_call(x):
    pair, w = [x * 2.0, x * x], np.arange(1.0, 4.0)
    swapped(pair)
    y = pair[0] * w
    swapped(pair)
    return y @ pair[1]


class Tail:
    def __init__(self, u):
        self.u = u

    def go(self):
        self.u *= self.u
        self.u[:] = np.sin(self.u)

    def view(self):
        return self.u[1:]


@prog(X)
def method_called_view(x):
    s = Tail(x * 2.0)
    s.go()
    v = s.view()
    v *= x[1:]
    s.go()
    return np.sum(s.u * x)
