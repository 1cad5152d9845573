"""Programs in which lists and tuples grow, and inner functions fill what they capture."""

import numpy as np

from tests.writing_lazy import A5, B5, A, B

PROGRAMS = []


def prog(*argsets):
    def deco(f):
        PROGRAMS.extend((f, args) for args in argsets)
        return f

    return deco


def two(f):
    return prog((A, B), (A5, B5))(f)


# lists and tuples that grow


@two
def grow_ext_gen(x, y):
    xs = []
    xs.extend(a * b for a, b in zip(x, y))
    return xs[0] * xs[1]


@two
def tup_concat(x, y):
    t = ()
    for a, b in zip(x, y):
        t = t + (a * b,)
    return t[0] * t[1] ** 2


@two
def tup_aug(x, y):
    t = ()
    for a, b in zip(x, y):
        t += (a * b,)
    return t[0] * t[1] ** 2


@two
def tup_front(x, y):
    t = ()
    for a, b in zip(x, y):
        t = (a * b,) + t
    return t[0] * t[1] ** 2


@two
def tup_grow2(x, y):
    t = (x[0],)
    for a, b in zip(x, y):
        t = t + (a * t[-1], b)
    return np.sum(np.array(t) ** 2)


@two
def d_aug(x, y):
    d = {"a": [], "b": []}
    for a, b in zip(x, y):
        d["a"] += [a * b]
        d["b"] += [b]
    return d["a"][0] * d["b"][1]


@two
def d_setdefault_lit(x, y):
    d = {}
    d.setdefault("a", []).append(x[0] * y[0])
    d.setdefault("a", []).append(x[1])
    return d["a"][0] * d["a"][1]


@two
def aug_gen(x, y):
    xs = []
    xs += [a * b for a, b in zip(x, y)]
    xs += (a + b for a, b in zip(x, y))
    return xs[0] * xs[-1]


@two
def list_of_lists_aug(x, y):
    rows = [[], []]
    for k, (a, b) in enumerate(zip(x, y)):
        rows[k % 2] += [a * b]
    return sum(rows[0]) * sum(rows[1])


@two
def ext_self(x, y):
    xs = [x[0]]
    xs.extend(xs[-1] * a + b for a, b in zip(x, y))
    return xs[-1] * xs[1]


@two
def ext_self_if(x, y):
    xs = [x[0]]
    for a in y:
        xs.extend(a * b for b in x if b > 0)
    return xs[-1] * xs[1] + sum(xs)


@two
def ext_shadow(x, y):
    a = 2.0
    xs = []
    xs += (a * a for a in x)
    return xs[0] * a * y[0]


@two
def ext_aliased(x, y):
    xs = []
    zs = xs
    xs.extend(a * a for a in x)
    return zs[0] * zs[1] * y[0]


@two
def mul_part(x, y):
    d = {"a": [x[0], y[0]]}
    d["a"] *= 2
    return d["a"][0] * d["a"][3]


@two
def aug_called(x, y):
    d = {"a": []}

    def f(v):
        return v * v

    for a in x:
        d["a"] += [f(a)]
    return d["a"][0] * d["a"][1] * y[0]


class Box:
    def __init__(self):
        self.xs = []

    def add(self, v):
        self.xs += [v]


@two
def aug_obj(x, y):
    b = Box()
    for a in x:
        b.add(a * a)
        b.xs += [a * y[0]]
    return b.xs[0] * b.xs[1] + sum(b.xs)


# inner functions that fill what they capture


def descend(g, x, steps, callback):
    for _ in range(steps):
        x = x - 0.1 * g(x)
        callback(x)
    return x


def descend_watched(g, x, steps, callback=None):
    for k in range(steps):
        x = x - 0.1 * g(x)
        if callback is not None:
            callback(k, x)
    return x


@two
def cb_list(x, y):
    hist = []

    def record(z):
        hist.append(z)

    z = descend(lambda z: z * y, x, 3, record)
    return np.sum(hist[0] * hist[-1]) + np.sum(z)


@two
def cb_list_loss(x, y):
    hist = []

    def record(z):
        hist.append(np.sum(z * z))

    z = descend(lambda z: z * y, x, 3, record)
    return sum(hist) + hist[0] * np.sum(z)


@two
def cb_bound(x, y):
    hist = []
    z = descend(lambda z: z * y, x, 3, hist.append)
    return np.sum(hist[0] * hist[-1]) + np.sum(z)


@two
def cb_lambda(x, y):
    hist = []
    z = descend(lambda z: z * y, x, 3, lambda v: hist.append(v))
    return np.sum(hist[0] * hist[-1]) + np.sum(z)


@two
def cb_dict(x, y):
    best = {"x": x, "v": 1e9}

    def record(z):
        v = np.sum(z * z)
        if v < best["v"]:
            best["v"] = v
            best["x"] = z

    z = descend(lambda z: z * y, x, 3, record)
    return best["v"] + np.sum(best["x"] * z)


@two
def cb_dict_hist(x, y):
    h = {"loss": []}

    def record(z):
        h["loss"].append(np.sum(z * z))

    descend(lambda z: z * y, x, 3, record)
    return h["loss"][-1] * h["loss"][0]


@two
def inner_direct(x, y):
    hist = []

    def push(v):
        hist.append(v * v)

    for a, b in zip(x, y):
        push(a * b)
    return hist[0] * hist[1]


@two
def inner_direct_ret(x, y):
    hist = []

    def push(v):
        hist.append(v * v)
        return v + 1

    s = 0.0
    for a, b in zip(x, y):
        s += push(a * b)
    return hist[0] * hist[1] + s * s


@two
def inner_dict(x, y):
    d = {}

    def put(k, v):
        d[k] = v * v

    for i, (a, b) in enumerate(zip(x, y)):
        put(i, a * b)
    return d[0] * d[1]


@two
def inner_dict_s(x, y):
    d = {}

    def put(v):
        d["v"] = v * v

    put(x[0])
    put(x[1] * y[0])
    return d["v"] * x[2]


@two
def inner_counter(x, y):
    n = {"f": 0}

    def f(v):
        n["f"] += 1
        return np.sum(v * v * y)

    return f(x) + f(2 * x) * n["f"]


@two
def inner_counter_list(x, y):
    n = [0]

    def f(v):
        n[0] += 1
        return np.sum(v * v * y)

    return f(x) + f(2 * x)


@two
def cb_steps(x, y):
    traj = [x]

    def step():
        traj.append(traj[-1] * y + 0.1)

    for _ in range(3):
        step()
    return np.sum(traj[-1] * traj[0])


@two
def cb_logger(x, y):
    log = []

    def log_it(k, z):
        log.append({"k": k, "z": z})

    for k in range(3):
        z = x * k * y
        log_it(k, z)
    return np.sum(log[-1]["z"] * log[1]["z"])


@two
def if_cb(x, y):
    hist = []

    def record(z):
        if np.sum(z) > 0:
            hist.append(z)
        else:
            hist.append(-z)

    descend(lambda z: z * y, x, 3, record)
    return np.sum(hist[0] * hist[-1])


@two
def cb_optional(x, y):
    hist = []

    def record(k, z):
        hist.append((k, np.sum(z * z)))

    z = descend_watched(lambda z: z * y, x, 3, record)
    z = descend_watched(lambda z: z * y, z, 3)
    return hist[-1][1] * np.sum(z)


@two
def inner_two(x, y):
    a = []
    d = {}

    def note(k, v):
        a.append(v * v)
        d[k] = v

    for k, (v, w) in enumerate(zip(x, y)):
        note(k, v * w)
    return a[0] * d[1] + d[0] * a[-1]


@two
def inner_calls_inner(x, y):
    a = []

    def push(v):
        a.append(v * v)

    def both(v):
        push(v)
        push(v + 1)

    for v in x:
        both(v * y[0])
    return a[0] * a[1] + a[-1]


@two
def inner_conditional(x, y):
    a = []

    def push(v):
        if v > 0:
            a.append(v * v)

    for v, w in zip(x, y):
        push(v * w + 1.5)
    return a[0] * a[1] + a[-1]


@two
def inner_early(x, y):
    a = []

    def push(v):
        if v < 0:
            return
        a.append(v * v)

    for v, w in zip(x, y):
        push(v * w + 1.5)
    return a[0] * a[1] + a[-1]


@two
def inner_loop(x, y):
    a = []

    def push(vs):
        for v in vs:
            a.append(v * v)

    push(x)
    push(y)
    return a[0] * a[1] + a[-1]


@two
def inner_arr_item(x, y):
    a = {"s": np.zeros(len(x))}

    def add(v):
        a["s"][1] += v
        a["s"] = a["s"] * 1.1

    for v in y:
        add(v * x[0])
    return np.sum(a["s"] ** 2)


# lists that a called function keeps, and that grow afterwards


def repeated(x, items):
    items = items * 2
    return x * sum(items)


def longer(x, items):
    items = items + [sum(items)]
    return x * sum(items)


@two
def grows_after_a_call(x, y):
    xs = [x[0]]
    z = repeated(y[0], xs)
    xs.append(2.0)
    return z * x[1]


@two
def grows_between_calls(x, y):
    xs, total = [x[0]], 0.0
    for i in range(3):
        total = total + longer(y[i], xs)
        xs.append(y[i])
    return total


@two
def grows_in_a_branch_after_a_call(x, y):
    xs = [x[0], y[0]]
    z = longer(y[1], xs)
    if len(x) > 1:
        xs.append(x[1])
    return z * repeated(x[2], xs)


@two
def grows_after_a_call_that_captures_it(x, y):
    xs = [x[0]]

    def inner(w):
        more = xs * 2
        return w * sum(more)

    z = inner(y[0])
    xs.append(2.0)
    return z * inner(y[1])
