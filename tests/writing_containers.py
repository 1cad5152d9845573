"""Programs that write lists, dicts and objects, for tests/test_writes_containers.py."""

from dataclasses import dataclass, field

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


X = np.array([0.7, 1.3, -0.4])
_generator = np.random.default_rng(3)


def r(*shape):
    return 0.5 * _generator.standard_normal(shape)


# lists


@prog(X)
def list_item(x):
    ys = [x[0], x[1]]
    ys[1] = x[2] * ys[0]
    return ys[0] * ys[1]


@prog(X)
def list_filled(x):
    ys = [0.0, 0.0, 0.0]
    for i in range(3):
        ys[i] = x[i] * ys[i - 1] + x[i]
    return ys[0] * ys[1] * ys[2]


@prog(X)
def list_extended_by_a_display(x):
    ys = [x[0], x[1]]
    zs = ys
    ys += [x[2]]
    zs.extend([x[0] * x[1]])
    return sum(ys) * zs[-1] * ys[2]


@prog(X)
def list_extended_in_a_loop(x):
    ys = []
    for v in x:
        ys += [v * v]
        ys.extend([v, ys[0]])
    return sum(ys) * ys[-1]


@prog(X)
def list_repeated(x):
    sums, seen = [0.0] * (len(x) + 1), [None] * 3
    for i in range(3):
        sums[i + 1] = sums[i] * x[i] + x[i] ** 2
        seen[i] = x[i] * sums[1]
    return sums[3] * sums[2] + seen[0] * seen[2]


@prog(X)
def list_written_in_a_loop_over_its_length(x):
    ys = [1.0, *x]
    for i in range(1, len(ys)):
        ys[i] += ys[i - 1] * ys[i]
    for i, _ in enumerate(range(len(ys) - 1)):
        ys[i] = ys[i] * ys[i + 1]
    return ys[0] * ys[3] + ys[2]


@prog(X)
def tridiagonal(x):
    n = len(x)
    a, b, c, d = [0.3] * n, [2.0] * n, [x[0] * x[1]] * n, [0.0] * n
    c[0], d[0] = c[0] / b[0], x[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * c[i - 1]
        c[i] /= m
        d[i] = (x[i] - a[i] * d[i - 1]) / m
    for i in range(n - 2, -1, -1):
        d[i] -= c[i] * d[i + 1]
    return d[0] * d[0] + d[2]


@prog(X)
def list_grown_by_its_last(x):
    ys = [x[0]]
    for k in range(3):
        ys.append(0.5 * ys[-1] + k)
    return ys[-1] * ys[0] + x[1]


@prog(X, X + 0.3)
def list_of_rows_grown_by_its_last(x, y):
    rows = [x]
    for _ in range(3):
        rows.append(rows[-1] * y + 0.1)
    return np.sum(rows[-1] * rows[0])


@prog(X)
def list_grown_by_its_last_two(x):
    ys = [x[0], x[1]]
    for _ in range(4):
        ys.append(0.3 * ys[-1] + x[2] * ys[-2])
    return ys[-1] * ys[1]


@prog(X)
def list_read_before(x):
    ys = [x[0], x[1]]
    a = ys[0] ** 2
    ys[0] = x[2] * a
    b = ys[0] ** 2
    ys[0] = np.sin(ys[0])
    return a * b * ys[0] * ys[1]


@prog(X)
def list_augmented(x):
    ys = []
    for i in range(3):
        ys.append(x[i] * 2)
    for i in range(3):
        ys[i] = ys[i] * ys[0]
        ys[-1] += ys[i] ** 2
    return ys[0] * ys[1] * ys[2]


@prog(X)
def list_swapped(x):
    xs = [x[0], x[1], x[2]]
    xs[0], xs[1] = xs[1], xs[0]
    for i in range(2):
        xs[i], xs[i + 1] = xs[i + 1] * x[0], xs[i]
    return xs[0] * xs[1] + xs[2] ** 2


@prog(X)
def list_pop(x):
    ys = [x[0], x[1], x[2]]
    y = ys.pop()
    return ys[-1] * ys[0] * y**2


@prog(X)
def list_pop_statement(x):
    ys = [x[0], x[1], x[2]]
    z = ys[2] * ys[0]
    ys.pop()
    ys.append(z * ys[-1])
    ys.pop(-2)
    return ys[-1] * ys[0]


@prog(X)
def list_queue(x):
    xs = [x[0], x[1], x[2]]
    s = 0.0
    for k in range(4):
        y = xs.pop(0)
        s = s + y * xs[0] * (k + 1)
        xs.append(y * y)
    return s


@prog(X)
def list_stack(x):
    s = [x[0]]
    for i in range(3):
        s.append(x[i] * s[-1])
        if i == 1:
            a = s.pop()
            b = s.pop()
            s.append(np.sin(a * b))
    return s[-1] * s[0]


@prog(X)
def list_stack_of_arrays(x):
    s = [x * 1.0]
    for i in range(3):
        s.append(np.sin(s[-1]) * x[i])
        if i > 0:
            a = s.pop()
            s.append(a * a + s[-1])
    return np.sum(s[-1] * s[0])


@prog(X)
def list_of_products_popped_and_written(x):
    s = [x * x[i] for i in range(3)]
    while len(s) > 1:
        v = s.pop()
        v *= x
        s[0] = s[0] * v
        s[0][1] = v[0] * v[2]
    return np.sum(s[0])


@prog(X)
def list_of_which_the_last_is_popped(x):
    ys = [v * v for v in x]
    y = ys.pop()
    return y**2 - 2.0 * ys.pop(0)


@prog(X)
def list_popped_until_it_is_empty(x):
    ys = [2.0 * x[0], x[1], x[2] * x[0]]
    product = 1.0
    while ys:
        product = product * ys.pop() + x[1]
    return product


@prog(X)
def list_popped_by_two_names(x):
    ys = [x[0], x[1]]
    zs = ys
    y = zs.pop()
    return y * ys.pop() ** 2


@prog(X)
def arrays_popped(x):
    ys = [v * x for v in x]
    total = 0.0
    while ys:
        total = total + ys.pop() @ x
    return total


@prog(X)
def items_that_turn_constant(x):
    ys = [1.0, 2.0, 3.0]
    y, total = x[0], 0.0
    for _ in range(3):
        total += y * x[1]
        y = ys.pop()
    return total * y


@prog(X)
def tuples_popped(x):
    queue = [(1.0, x[0]), (2.0, x[1])]
    total = 0.0
    while queue:
        weight, v = queue.pop(0)
        total += weight * v
        if weight < 4:
            queue.append((weight + 2.0, v * v))
    return total


@prog(X)
def intervals_on_a_stack(x):
    def inside(a, b):
        return (b - a) * np.exp(-x[0] * (a + b)) * np.sin(x[1] * (a + b))

    stack, total = [(0.0, 1.5 + x[2], inside(0.0, 1.5 + x[2]))], 0.0
    while stack:
        low, high, whole = stack.pop()
        middle = 0.5 * (low + high)
        left, right = inside(low, middle), inside(middle, high)
        if abs(left + right - whole) < 0.01:
            total += left + right
        else:
            stack.append((low, middle, left))
            stack.append((middle, high, right))
    return total


@prog(X)
def tuples_with_arrays_popped(x):
    stack = [(x * 1.0, "a"), (x * 2.0, "b")]
    total = 0.0
    while stack:
        v, word = stack.pop()
        v[0] = v[1] * 2.0
        total += v @ v if word == "a" else np.sum(v)
    return total


@prog(X)
def list_insert_del_extend(x):
    xs = [x[0], x[1], x[2]]
    xs.insert(0, x[1] * x[2])
    y = xs.pop(1)
    del xs[0]
    xs.extend([y * y, x[0]])
    xs += [y]
    return xs[0] * xs[1] * xs[2] * xs[3]


@prog(X)
def list_two_names(x):
    s = [x[0], x[1]]
    t = s
    t[0] = x[2] * t[1]
    s[1] = t[0] * x[0]
    return s[0] * t[1]


@prog(X)
def list_appended_by_another_name(x):
    s = [x[0], x[1]]
    t = s
    t.append(x[2] * t[1])
    s.append(t[-1] * s[0])
    return s[-1] * t[2]


@prog(X)
def list_of_lists(x):
    rows = [[x[0], x[1]], [x[2], x[0]]]
    for row in rows:
        row[0] = row[0] * row[1]
        row[1] += row[0]
    rows[0][1] *= rows[1][1]
    return rows[0][1] + rows[1][0]


@prog(X)
def list_branch(x):
    ys = [x[0], x[1]]
    for i in range(3):
        if x[i] > 0:
            ys[0] = ys[0] * x[i]
        else:
            ys[1] = ys[1] + ys[0] ** 2
    return ys[0] * ys[1]


# dicts


@prog(X)
def dict_items(x):
    d = {"a": x[0]}
    d["a"] = d["a"] * x[1]
    d["b"] = d["a"] * x[2]
    return d["a"] * d["b"]


@prog(X)
def dict_in_loop(x):
    d = {"a": x[0], "b": 0.5}
    for i in range(3):
        d["a"] = np.sin(d["a"]) * x[i]
        d["b"] += d["a"] * d["b"]
    return d["a"] * d["b"]


@prog(X)
def dict_variable_key(x):
    d = {"a": x[0], "b": x[1]}
    for k in ("a", "b", "a"):
        d[k] = d[k] * x[2] + d["a"]
    return d["a"] * d["b"]


@prog(X)
def dict_of_arrays(x):
    p = {"u": x * 1.0, "v": x * 2.0}
    p["u"][1:-1] = p["v"][2]
    p["u"] *= p["v"]
    p["v"] -= 0.1 * p["u"]
    return np.sum(p["u"] * p["v"])


@prog({"w": r(3), "b": 0.3}, X)
def dict_argument(p, x):
    for _ in range(3):
        e = np.sum(p["w"] * x) + p["b"] - 1.0
        p["w"] = p["w"] - 0.1 * e * x
        p["b"] = p["b"] - 0.1 * e
    return np.sum(p["w"] ** 2) + p["b"]


@prog([r(3), r(3)], X)
def list_argument(ps, x):
    for i in range(2):
        ps[i] = np.tanh(ps[i] * x)
    ps[0] *= ps[1]
    return np.sum(ps[0])


@prog([r(3), r(3)], X)
def arrays_of_an_argument(ps, x):
    for p in ps:
        p *= x
        p[0] = p[1] * p[2]
    return np.sum(ps[0] * ps[1])


@prog(X)
def dict_display_of_one_of_two(x):
    d = {"a": x[0], "w": x * 1.0}
    e = {"a": x[1], "w": x * x}
    u = d if x[0] > 0 else e
    u["w"][0] = x[1] * u["a"]
    u["a"] = u["a"] * x[2]
    g = {**u, "b": x[2]}
    g["a"] = g["a"] ** 2
    return g["a"] * g["b"] * np.sum(d["w"] * e["w"]) + u["a"]


# objects


class Cell:
    def __init__(self, w):
        self.w = w
        self.h = np.zeros(3)
        self.n = 0
        self.trace = []


@prog(X)
def object_state(x):
    c = Cell(x)
    for i in range(3):
        h = np.tanh(c.w * c.h + x * (i + 1))
        c.h = h
        c.n += 1
    return np.sum(c.h**2) * c.n


@prog(X)
def object_attribute_new(x):
    c = Cell(x)
    c.value = x[0] * x[1]
    c.value += c.value * x[0]
    return c.value * c.n + c.value


@prog(X)
def object_array_written(x):
    c = Cell(x * 1.0)
    for i in range(3):
        c.h[i] = x[i] * x[0] + c.h[i - 1]
        c.h[:2] *= c.w[1:]
    return np.sum(c.h**2)


@prog(X)
def object_two_names(x):
    c = Cell(x)
    d = c
    d.h = x * x
    c.h = d.h * c.h + x
    return np.sum(d.h * c.w)


@dataclass
class State:
    u: np.ndarray
    t: float = 0.0
    log: list = field(default_factory=list)


@prog(State(r(4)), r(4))
def dataclass_argument(s, f):
    for _ in range(3):
        s.u = s.u + 0.1 * (f - s.u**2)
        s.u[1:-1] += 0.2 * (s.u[2:] - s.u[:-2])
        s.t += 0.1 * np.sum(s.u)
    return np.sum(s.u) * s.t


@prog(X)
def nested(x):
    layers = [{"W": x * 1.0, "b": 0.0}, {"W": x * 2.0, "b": 1.0}]
    for k in range(2):
        layers[k]["W"] = np.sin(layers[k]["W"])
        layers[k]["W"][0] = x[1]
        layers[k]["b"] += np.sum(layers[k]["W"])
    return np.sum(layers[0]["W"] * layers[1]["W"]) * layers[0]["b"] * layers[1]["b"]


@prog(X)
def arrays_in_list(x):
    us = [x * 1.0, x * 2.0]
    for k in range(2):
        us[k][0] = x[1]
    for a in us:
        a *= 2
    for a in us:
        a[1:] = a[:-1] * a[1:]
    return np.sum(us[0] * us[1])


# methods that write self


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


class LSTM:
    def __init__(self, params):
        self.W = params["W"]
        self.b = params["b"]
        self.h = np.zeros(2)
        self.c = np.zeros(2)

    def gates(self, x):
        return self.W @ np.concatenate((x, self.h)) + self.b

    def step(self, x):
        z = self.gates(x)
        i, f, o = sigmoid(z[:2]), sigmoid(z[2:4]), sigmoid(z[4:6])
        self.c = f * self.c + i * np.tanh(z[6:])
        self.h = o * np.tanh(self.c)
        return self.h


@prog({"W": r(8, 5), "b": r(8)}, r(4, 3))
def lstm(params, xs):
    cell = LSTM(params)
    loss = 0.0
    for x in xs:
        h = cell.step(x)
        loss += np.sum(h**2)
    return loss + np.sum(cell.c)


class Oscillator:
    def __init__(self, k):
        self.k = k
        self.x = 1.0
        self.v = 0.0
        self.steps = 0

    def kick(self, dt):
        self.v -= dt * self.k * self.x

    def drift(self, dt):
        self.x += dt * self.v
        self.steps += 1

    def step(self, dt):
        self.kick(dt / 2)
        self.drift(dt)
        if self.steps > 2:
            return
        self.kick(dt / 2)


@prog(1.3, 0.2)
def oscillator(k, dt):
    o = Oscillator(k)
    for _ in range(5):
        o.step(dt)
    return o.x * o.v * o.steps


def update(p, g, lr):
    p["w"] -= lr * g
    p["n"] = p["n"] + lr


@prog({"w": r(3), "n": 0.1}, X)
def function_writes_its_argument(p, x):
    for _ in range(2):
        g = np.sin(p["w"]) * x
        update(p, g, 0.3)
    return np.sum(p["w"]) * p["n"]


class Body:
    def __init__(self, pos):
        self.pos = pos
        self.trail = []

    def move(self, v):
        self.pos += v * self.pos
        self.trail.append(self.pos[0])

    def pin(self, v):
        self.pos[0] = v


def scaled(ps, k):
    for i in range(len(ps)):
        ps[i] *= k


def halved(a):
    a *= 0.5
    a[0] = a[1] * a[0]


@prog(X)
def methods_write_arrays(x):
    b = Body(x * 2.0)
    b.move(3.0)
    b.pin(x[1] * x[0])
    b.move(x[2])
    return np.sum(b.pos**2) * b.trail[0] * b.trail[1]


@prog(X)
def arrays_of_a_list_written_by_a_function(x):
    ps = [x * 2.0, x**2]
    scaled(ps, x[0])
    halved(x)
    scaled(ps, x[1])
    return np.sum(ps[0] * ps[1] * x)


@prog(X)
def what_an_object_holds_is_given(x):
    b = Body(x * 2.0)
    p = b.pos
    halved(p)
    b.move(x[0])
    halved(p)
    return np.sum(b.pos * p) * b.trail[0]


@prog(X)
def trajectory_from_an_argument(x):
    path = [x]
    for _ in range(3):
        path.append(np.sin(path[-1]) + 0.1 * path[0])
    return np.sum(np.array(path) ** 2)


@prog(X)
def trajectory_of_steps(x):
    def step(y):
        return np.array([y[1], y[2], -0.3 * y[0]])

    y, path = x, [x]
    while len(path) < 4:
        y = y + 0.1 * step(path[-1])
        path.append(y)
    return np.sum(np.array(path)[:, 0] ** 2) + path[-1][1]


@prog(X)
def trajectory_summed(x):
    path = [x]
    for _ in range(3):
        path.append(path[-1] * path[0])
    return np.sum(np.array(path)) + np.mean(np.stack(path))
