"""Programs in which lists, dicts and objects share arrays that are only read.

Others of their arrays are written. Each is checked by tests/test_writes_containers.py, and by
tests/test_autodiff_structures.py where structures are given.
"""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np

PROGRAMS = []


def prog(*args):
    def deco(f):
        PROGRAMS.append((f, args))
        return f

    return deco


_generator = np.random.default_rng(5)


def r(*shape):
    return 0.5 * _generator.standard_normal(shape)


class Layer:
    def __init__(self, W, h):
        self.W = W
        self.h = h

    def step(self, x):
        self.h[:] = np.tanh(self.W @ self.h + x)
        return self.h

    def replace(self, x):
        self.h = np.tanh(self.W @ self.h + x)


class Layer0:
    def __init__(self, W):
        self.W = W
        self.h = np.zeros(3)

    def step(self, x):
        self.h[:] = np.tanh(self.W @ self.h + x)


@prog(r(3, 3), r(3), r(3), r(3))
def two_objects(W, h1, h2, x):
    a = Layer(W, h1)
    b = Layer(W, h2)
    for _ in range(2):
        a.step(x)
        b.step(a.h)
    return np.sum(b.h * a.h)


@prog(r(3, 3), r(3))
def two_objects0(W, x):
    a = Layer0(W)
    b = Layer0(W)
    for _ in range(2):
        a.step(x)
        b.step(a.h)
    return np.sum(b.h * a.h)


@prog(r(3, 3), r(3), r(3), r(3))
def layer_list(W, h1, h2, x):
    layers = [Layer(W, h1), Layer(W, h2)]
    for _ in range(2):
        for layer in layers:
            layer.step(x)
            x = layer.h * 1.0
    return np.sum(x)


@prog(r(3, 3), r(3))
def layer_list0(W, x):
    layers = [Layer0(W) for _ in range(2)]
    for _ in range(2):
        for layer in layers:
            layer.step(x)
            x = layer.h.copy()
    return np.sum(x)


@prog(r(3, 3), r(3))
def layer_list_index(W, x):
    layers = [Layer0(W), Layer0(W)]
    for i in range(2):
        layers[i].step(x)
    layers[0].h *= layers[1].h
    return np.sum(layers[0].h)


@prog(r(3))
def rows_of(x):
    rows = [np.zeros(3) for _ in range(3)]
    for i in range(3):
        for j in range(3):
            rows[i][j] += x[i] * x[j]
    for i in range(1, 3):
        rows[i] += rows[i - 1] * x
    return np.sum(rows[2])


@prog([r(3), r(3), r(3)], r(3))
def rows_given(rows, x):
    for i in range(1, 3):
        for j in range(3):
            rows[i][j] += rows[i - 1][j] * x[j]
    return np.sum(rows[2] * rows[1])


@prog(r(3), r(3))
def rows_picked(x, y):
    rows = [x * 1.0, y * 1.0, x * y]
    for k in range(1, 3):
        a = rows[k]
        b = rows[k - 1]
        a += b * x
    return np.sum(rows[2] * rows[1])


@prog(r(3), r(3))
def rows_with_given(x, y):
    rows = [x, y * 1.0, x * y]
    for k in range(1, 3):
        rows[k][0] += rows[k - 1][1] * x[2]
    return np.sum(rows[2] * rows[1])


@prog(r(3, 3), r(3), r(3))
def dicts_share(W, h, x):
    params = {"W": W}
    state = {"W": W, "h": h}
    for _ in range(2):
        state["h"][:] = np.tanh(params["W"] @ state["h"] + x)
    return np.sum(state["h"] @ state["W"])


class Params:
    def __init__(self, W, b):
        self.W = W
        self.b = b


class Cell:
    def __init__(self, p, h):
        self.p = p
        self.h = h

    def step(self, x):
        self.h[:] = np.tanh(self.p.W @ self.h + self.p.b + x)


@prog(r(3, 3), r(3), r(3))
def params_object(W, b, x):
    p = Params(W, b)
    cells = [Cell(p, np.zeros(3)), Cell(p, np.ones(3))]
    for _ in range(2):
        for c in cells:
            c.step(x)
        cells[1].h += cells[0].h * p.b
    return np.sum(cells[1].h)


@prog(r(3, 3), r(3), r(3))
def params_object2(W, b, x):
    p = Params(W, b)
    one = Cell(p, np.zeros(3))
    two = Cell(p, np.ones(3))
    one.step(x)
    two.step(one.h)
    one.step(two.h)
    return np.sum(one.h * p.b)


PT = namedtuple("PT", "W b")


@prog(PT(r(3, 3), r(3)), r(3))
def params_tuple(p, x):
    one = Cell(p, np.zeros(3))
    two = Cell(p, np.ones(3))
    one.step(x)
    two.step(one.h)
    one.step(two.h)
    return np.sum(one.h * p.b)


@prog(r(4), r(4), r(4))
def fields_grid(w, u0, v0):
    u = {"grid": w, "val": u0.copy()}
    v = {"grid": w, "val": v0.copy()}
    for _ in range(2):
        u["val"][1:-1] += u["grid"][1:-1] * (v["val"][2:] - v["val"][:-2])
        v["val"][1:-1] -= v["grid"][1:-1] * u["val"][1:-1]
    return np.sum(u["val"] * v["val"])


@prog(r(3), r(3))
def ring(x, y):
    bufs = [x.copy(), y.copy()]
    for t in range(3):
        bufs[t % 2][:] = bufs[(t + 1) % 2] * x + bufs[t % 2]
    return np.sum(bufs[0] * bufs[1])


@prog([r(3), r(2)], [r(3), r(2)], 0.1)
def momentum(params, grads, lr):
    vel = [np.zeros_like(p) for p in params]
    for _ in range(2):
        for p, v, g in zip(params, vel, grads):
            v *= 0.9
            v -= lr * g * p
            p += v
    return sum(np.sum(p * p) for p in params)


@prog({"a": r(3), "b": r(2)}, 0.1)
def adam(params, lr):
    m = {"a": np.zeros(3), "b": np.zeros(2)}
    for _ in range(2):
        for k in ("a", "b"):
            g = params[k] * 2.0
            m[k][:] = 0.9 * m[k] + 0.1 * g
            params[k] -= lr * m[k]
    return np.sum(params["a"] ** 2) + np.sum(params["b"])


@prog(r(3, 3), r(3))
def tied(W, x):
    enc = Layer(W, np.zeros(3))
    dec = Layer(None, np.zeros(3))
    dec.W = enc.W
    enc.step(x)
    dec.step(enc.h)
    return np.sum(dec.h)


@prog(r(3, 3), r(3))
def tied2(W, x):
    enc = Layer(W, np.zeros(3))
    dec = Layer(enc.W.T, np.zeros(3))
    enc.step(x)
    dec.step(enc.h)
    enc.step(dec.h)
    return np.sum(dec.h * enc.h)


@prog(r(3), r(3), r(3))
def data_dict(a, b, w):
    data = {"rows": [a.copy(), b.copy()], "W": w}
    for i in range(2):
        data["rows"][i] *= data["W"]
    data["rows"][1][0] += data["rows"][0][1]
    return np.sum(data["rows"][1] * data["W"])


@prog([r(3), r(3), r(3)], r(3))
def fields_unpacked(fields, x):
    rho, u, v = fields
    u[1:] += rho[1:] * v[:-1]
    v *= u
    rho -= 0.1 * u * x
    return np.sum(rho * v)


@prog(r(3))
def input_in_list(x):
    bufs = [x, x.copy()]
    bufs[1] += bufs[0]
    bufs[1][0] *= bufs[0][1]
    return np.sum(bufs[1])


class Node:
    def __init__(self, w, val, left=None, right=None):
        self.w = w
        self.val = val
        self.left = left
        self.right = right


@prog(r(3), r(3))
def tree_nodes(w, x):
    a = Node(w, x.copy())
    b = Node(w, x * 2.0)
    top = Node(w, np.zeros(3), a, b)
    top.left.val *= w
    top.val += top.left.val * top.right.val * top.w
    return np.sum(top.val)


def stepf(state, W, x):
    state[0][:] = np.tanh(W @ state[0] + x)
    state[1] += state[0]


@prog(r(3, 3), r(3))
def function_state(W, x):
    s1 = [np.zeros(3), np.zeros(3)]
    s2 = [np.ones(3), np.zeros(3)]
    for _ in range(2):
        stepf(s1, W, x)
        stepf(s2, W, s1[1])
    return np.sum(s2[1])


class Particle:
    def __init__(self, pos, vel, box):
        self.pos = pos
        self.vel = vel
        self.box = box

    def move(self, dt):
        self.pos += self.vel * dt
        self.vel -= self.pos * self.box


@prog(r(2, 2), r(2), 0.1)
def particles(X, box, dt):
    ps = [Particle(X[i].copy(), np.ones(2), box) for i in range(2)]
    for _ in range(2):
        for p in ps:
            p.move(dt)
    return np.sum(ps[0].pos * ps[1].pos)


@prog([Layer(r(3, 3), r(3)), Layer(r(3, 3), r(3))], r(3))
def given_layers(layers, x):
    for layer in layers:
        layer.h[:] = np.tanh(layer.W @ layer.h + x)
        x = layer.h * 1.0
    return np.sum(x)


_W = r(3, 3)


@prog([Layer(_W, r(3)), Layer(_W, r(3))], r(3))
def given_layers_shared(layers, x):
    for layer in layers:
        layer.h[:] = np.tanh(layer.W @ layer.h + x)
        x = layer.h * 1.0
    return np.sum(x)


@prog(Layer(_W, r(3)), Layer(_W, r(3)), r(3))
def given_objects_shared(a, b, x):
    a.step(x)
    b.step(a.h)
    return np.sum(b.h)


@prog(Layer(_W, r(3)), _W, r(3))
def given_object_and_W(a, W, x):
    a.step(x)
    return np.sum(W @ a.h)


@prog({"W": _W, "V": _W, "h": r(3)}, r(3))
def given_dict_twice(p, x):
    p["h"][:] = np.tanh(p["W"] @ p["h"] + p["V"] @ x)
    return np.sum(p["h"])


@prog(r(3, 3), r(3))
def closure(W, x):
    h = np.zeros(3)
    ws = [W, W]

    def step(i):
        h[:] = np.tanh(ws[i] @ h + x)

    step(0)
    step(1)
    return np.sum(h)


@prog(r(3, 3), r(3))
def same_list_twice(W, x):
    ws = [W, W, W]
    hs = [np.zeros(3), np.ones(3)]
    for i in range(2):
        hs[i][:] = np.tanh(ws[i] @ hs[i] + x)
        x = x + hs[i]
    return np.sum(hs[0] * hs[1])


@prog(r(3), r(3))
def history(x, w):
    state = {"h": x.copy(), "w": w}
    hist = []
    for _ in range(3):
        state["h"] *= state["w"]
        hist.append(state["h"].copy())
    return np.sum(hist[0] * hist[2])


@prog(r(3), r(3))
def history_alias(x, w):
    state = {"h": x.copy(), "w": w}
    hist = []
    for _ in range(3):
        state["h"] *= state["w"]
        hist.append(state["h"])
    return np.sum(hist[0] * hist[2])


_c = r(3)
_g = r(4)
State = namedtuple("State", "h c")


@prog([Layer(_W, r(3)), Layer(_W, r(3))], r(3))
def replace_given(layers, x):
    for layer in layers:
        layer.replace(x)
        x = layer.h * 1.0
    return np.sum(x)


class Net:
    def __init__(self, W):
        self.W = W
        self.layers = [Layer(W, np.zeros(3)), Layer(W, np.zeros(3))]

    def __call__(self, x):
        for layer in self.layers:
            layer.step(x)
            x = layer.h * 1.0
        return x


@prog(r(3, 3), r(3))
def net(W, x):
    n = Net(W)
    y = n(x)
    z = n(y)
    return np.sum(z * y)


@prog([r(3), r(3), r(3)], [r(3), r(3), r(3)])
def two_lists(rows, cols):
    for i in range(3):
        for j in range(3):
            rows[i][j] += cols[j][i] * rows[i - 1][j]
    return np.sum(rows[0] * rows[2])


@prog([r(3), r(3)], [_c, _c, _c])
def shared_second_list(rows, cols):
    for i in range(2):
        rows[i] *= cols[i]
        rows[i][0] += cols[2][1]
    return np.sum(rows[0] * rows[1])


@prog([r(3), r(3), r(3)], r(3))
def picked_dynamic(rows, x):
    for k in range(3):
        j = (2 * k) % 3
        hot = rows[j]
        cold = rows[(j + 1) % 3]
        hot[0] += cold[1] * x[k]
        hot *= x
    return np.sum(rows[0] * rows[2])


@prog([r(3), r(3), r(3)], r(3))
def picked_by_value(rows, x):
    k = int(np.argmax(x))
    rows[k] += rows[(k + 1) % 3] * x
    hot = rows[0] if x[0] > 0 else rows[1]
    hot[1:] *= rows[2][1:]
    return np.sum(rows[0] * rows[1])


@prog({"u": {"grid": _g, "val": r(4)}, "v": {"grid": _g, "val": r(4)}}, 0.3)
def nested_shared(s, a):
    u = s["u"]
    v = s["v"]
    u["val"][1:] += a * u["grid"][1:] * v["val"][:-1]
    v["val"] *= v["grid"]
    return np.sum(u["val"] * v["val"])


@dataclass
class Grid:
    dx: np.ndarray
    n: int


@dataclass
class Field:
    grid: Grid
    q: np.ndarray

    def lap(self):
        return (self.q[2:] - 2 * self.q[1:-1] + self.q[:-2]) * self.grid.dx


_gr = Grid(r(2), 4)


@prog(Field(_gr, r(4)), Field(_gr, r(4)), 0.1)
def fields_on_a_grid(u, v, dt):
    for _ in range(2):
        du = u.lap()
        dv = v.lap()
        u.q[1:-1] += dt * du
        v.q[1:-1] += dt * dv * u.q[1:-1]
    return np.sum(u.q * v.q)


@prog([Field(_gr, r(4)), Field(_gr, r(4))], 0.1)
def field_list(fs, dt):
    for f in fs:
        f.q[1:-1] += dt * f.lap()
    fs[0].q *= fs[1].q
    return np.sum(fs[0].q)


@prog(r(3, 3), r(3, 3), r(3))
def two_weights(W, V, x):
    ws = [W, V, W]
    hs = [np.zeros(3) for _ in ws]
    for i, w in enumerate(ws):
        hs[i] += np.tanh(w @ x)
        hs[i] *= x
    return np.sum(hs[0] * hs[1] * hs[2])


@prog({"layers": [{"W": r(3, 3), "b": r(3)}, {"W": r(3, 3), "b": r(3)}]}, r(3))
def mlp_update(p, x):
    for layer in p["layers"]:
        x = np.tanh(layer["W"] @ x + layer["b"])
        layer["b"] -= 0.1 * x
    return np.sum(x * p["layers"][0]["b"])


@prog(r(3, 3), State(r(3), r(3)), r(3))
def lstm_state(W, s, x):
    for _ in range(2):
        z = W @ s.h + x
        s.c[:] = s.c * np.tanh(z)
        s.h[:] = np.tanh(s.c)
    return np.sum(s.h)


class Buf:
    def __init__(self, n):
        self.data = [np.zeros(3) for _ in range(n)]
        self.at = 0

    def push(self, x):
        self.data[self.at][:] = x
        self.at = (self.at + 1) % len(self.data)


@prog(r(3), r(3))
def ring_object(x, w):
    b = Buf(2)
    for _ in range(3):
        b.push(x)
        x = x * w + b.data[0]
    return np.sum(b.data[0] * b.data[1])


@prog(r(3), r(3))
def shared_default(x, w):
    cfg = {"w": w}
    a = {"cfg": cfg, "s": x.copy()}
    b = {"cfg": cfg, "s": x * x}
    for d in (a, b):
        d["s"] *= d["cfg"]["w"]
    return np.sum(a["s"] * b["s"])


@prog(r(3, 3), r(3))
def matrix_rows_list(A, x):
    rows = [A[i] for i in range(3)]
    rows[1] += rows[0] * x
    rows[2][0] *= rows[1][1]
    return np.sum(A)


class Base:
    def __init__(self, W):
        self.W = W
        self.h = np.zeros(3)

    def step(self, x):
        self.h[:] = self.act(self.W @ self.h + x)


class Tanh(Base):
    def act(self, z):
        return np.tanh(z)


class Sin(Base):
    def act(self, z):
        return np.sin(z)


@prog(r(3, 3), r(3))
def inherited(W, x):
    a = Tanh(W)
    b = Sin(W)
    a.step(x)
    b.step(a.h)
    a.step(b.h)
    return np.sum(a.h)


@prog(r(3, 3), r(3), r(3))
def inner_writer(W, h, x):
    def run(layer, x):
        layer.h[:] = np.tanh(layer.W @ layer.h + x)

    a = Layer(W, h.copy())
    b = Layer(W, h * 2)
    run(a, x)
    run(b, a.h)
    return np.sum(b.h)


@prog(r(3, 3), r(3), r(3))
def inner_captures(W, h, x):
    s = h * 2.0

    def run(layer, k):
        layer.h[:] = np.tanh(layer.W @ layer.h + x * s) * k
        return layer.h[0]

    a = Layer(W, h.copy())
    b = Layer(W, h * 2)
    t = run(a, 1.5)
    s = s * t
    t = run(b, t)
    return np.sum(b.h * a.h) * t


@prog(r(3), r(3))
def inner_lists(h, x):
    def put(rows, i, v):
        rows[i] += v * x
        rows[i][0] *= 2.0

    rows = [h.copy(), h * x]
    for i in range(2):
        put(rows, i, h)
    return np.sum(rows[0] * rows[1])


@prog(r(3), r(3))
def inner_default(h, x):
    def put(rows, i, v=2.0):
        rows[i] *= v * x

    rows = [h.copy(), h * x]
    put(rows, 0)
    put(rows, 1, 3.0)
    return np.sum(rows[0] * rows[1])


@prog(r(3), r(3))
def inner_passed(h, x):
    def put(rows, i):
        rows[i] *= x

    def both(g, rows):
        g(rows, 0)
        g(rows, 1)

    rows = [h.copy(), h * x]
    both(put, rows)
    return np.sum(rows[0] * rows[1])


@prog(r(3), r(3))
def late_default(h, x):
    k = x * 2

    def put(rows, i, v=k):
        rows[i] *= v

    k = x * 3
    rows = [h.copy(), h * x]
    put(rows, 0)
    put(rows, 1, k)
    return np.sum(rows[0] * rows[1])


@prog(r(3), r(3))
def loop_capture(h, x):
    rows = [h.copy(), h * x]
    for i in range(2):

        def put(rows):
            rows[i] *= x * (i + 1.0)

        put(rows)
    put(rows)
    return np.sum(rows[0] * rows[1])


@prog(r(3), r(3))
def same_names(h, x):
    rows = [h.copy(), h * x]
    v = x * x

    def put(x, h):
        x[0][:] = h * v + x[1]
        x[1] *= h

    put(rows, x)
    put([rows[1], rows[0]], h)
    return np.sum(rows[0] * rows[1])


@prog(r(3), r(3))
def captured_list(h, x):
    rows = [h.copy(), h * x]

    def put(d, i):
        d["a"][:] = rows[i] * d["a"]
        rows[i] += d["a"]

    d = {"a": x * 1.0}
    put(d, 0)
    put(d, 1)
    put({"a": rows[0] * 2.0}, 1)
    return np.sum(rows[0] * rows[1] * d["a"])


@prog(r(3), r(3))
def returned_fn(h, x):
    def maker(k):
        def put(rows, i):
            rows[i] *= k * x

        return put

    rows = [h.copy(), h * x]
    p = maker(2.0)
    q = maker(h)
    p(rows, 0)
    q(rows, 1)
    return np.sum(rows[0] * rows[1])


@prog(r(3), r(3))
def early_return(h, x):
    def put(rows, i):
        if x[i] > 0:
            rows[i] *= x
            return rows[i][0]
        rows[i] += x
        return rows[i][1]

    rows = [h.copy(), h * x]
    s = put(rows, 0) + put(rows, 1)
    return np.sum(rows[0] * rows[1]) * s


class Scale:
    def __init__(self, W, h):
        self.W = W
        self.h = h

    def __call__(self, x):
        return self.W * x


@prog(Scale(np.array([0.3, 0.4]), np.array([0.5, 0.6])), np.array([1.0, 2.0]))
def called(scale, x):
    u = scale.h if x[0] > 0 else scale.W
    u[0] *= x[1]
    return np.sum(scale(x) * scale.h)


@prog(np.array([0.3, 0.4]), np.array([0.5, 0.6]), np.array([1.0, 2.0]))
def made(a, b, x):
    scale = Scale(a, b)
    u = scale.h if x[0] > 0 else scale.W
    u[0] *= x[1]
    return np.sum(scale(x) * scale.h)


# what a name has got only after it was written


@prog(r(3))
def item_read_again(x):
    u = x * 1.0
    rows = [x * 0.5, x * 0.7]
    rows[0] -= rows[-1][::-1] * 0.5
    return rows[0] @ u


@prog(r(3))
def view_of_what_was_written(x):
    u, a = x * 1.0, x * 0.5
    a *= u
    b = a[:]
    return b @ u


@prog(r(3))
def field_read_after_each_write(x):
    u, layer = x * 1.0, Scale(x * 0.5, x)
    for _ in range(2):
        layer.W *= u
        q = layer.W
    return q @ u


@prog(r(3))
def rows_read_after_the_write(x):
    u, m, s = x * 1.0, np.outer(x, x), 0.0
    m *= u
    for row in m:
        s += row @ u
    return s


# copies that are wanted


@prog(r(3))
def copies_in_a_dict(x):
    u, d = x * 1.0, {"a": x * 0.2}
    d["a"] = u.copy()
    u[0] = 5.0
    return d["a"][0] * u[1] + d["a"] @ u


@prog(r(3))
def copies_in_a_list_in_a_loop(x):
    u, rows = x * 1.0, [x * 0.2]
    for _ in range(2):
        rows[0] = u.copy()
        u[0] *= 5.0
        rows[0][1] += u[0]
    return rows[0] @ u


@prog(r(3))
def copies_in_a_field(x):
    u = x * 1.0
    layer = Scale(u, x)
    for _ in range(3):
        layer.W = u.copy()
        u += layer.W * x[0]
    return layer.W @ u


@prog(r(3))
def copy_of_what_is_replaced_and_written(x):
    rows, layer, d = [x * 0.5, x * 0.7], Scale(x * 0.3, x + 0.1), {"a": x * 0.2}
    layer.h[1] -= d["a"][2]
    for _ in range(2):
        d["a"] = layer.h.copy()
        layer.h = rows[0]
        rows[0] += x[::-1] * 0.5
    return d["a"][0]


# what is bound to constant memory, and is written through another name


@prog(r(3))
def constant_memory_under_two_names(x):
    u, v, w = x * 1.0, x**2, np.ones(3) * 0.4
    rows, layer = [x * 0.5, x * 0.7], Scale(x, x + 0.1)
    pair = (u * 0.5, v * 0.5)
    u = v
    v = w
    v[:2] = x[2] * x[1] + pair[0][0] * 0.7 - rows[-1][-1]
    layer.h += np.tanh(w)
    return layer.h[1] + rows[0] @ u


def doubled_but_first(a):
    made = a * 0.5
    made[0] = a[1]
    return made


@prog(r(3))
def last_item_makes_the_next(x):
    w, rows = np.ones(3) * 0.4, [x * 0.5, x * 0.7]
    rows.append(rows[-1] + 0.3 * doubled_but_first(w))
    return np.sum(rows[-1])


@prog(r(3))
def last_number_makes_the_next(x):
    numbers = [x[0], x[1]]
    for _ in range(3):
        numbers.append(numbers[-1] + 2.0)
    numbers.insert(0, 1.0 + numbers[0])
    return numbers[-1] * numbers[0]


class Named:
    def __init__(self, p, q, s):
        self.p = p
        self.q = q
        self.items = [s, s * 2.0]


@prog(r(3))
def list_that_only_gives_its_length(x):
    v, o = x**2, Named(x * 0.3, x + 0.1, x[0])
    d = {"a": x * 0.2, "b": v * 0.6}
    numbers = [x[0], x[1], 0.5]
    o.items[0] = numbers[0]
    d["a"] = o.q.copy()
    numbers.append(x[2])
    return d["a"][0]


@prog(r(3), np.array([0.5, 0.3, -0.4]))
@prog(r(3), np.array([-0.5, 0.3, -0.4]))
def part_before_a_branch(x, at):
    v, d, w = x**2, {"a": x * 0.2}, np.ones(3)
    u = d["a"]
    if at[0] > 0.0:
        u, v = v, u
        u[0] = 3.0
    return u @ w


@prog(r(3), np.array([0.5, 0.3, -0.4]))
@prog(r(3), np.array([-0.5, 0.3, -0.4]))
def part_in_one_arm_only(x, at):
    rows = [x * 0.2, x * x]
    u = rows[0]
    if at[0] > 0.0:
        u = rows[1] * x[0]
    elif at[1] > 0.0:
        u = u * 2.0
    rows[0][1] *= 3.0
    return u @ x + np.sum(rows[0])


def halved_but_first(a):
    a[1:] *= 0.5
    return a


@prog(r(3), np.array([0.5, 0.3, -0.4]))
@prog(r(3), np.array([-0.5, 0.3, -0.4]))
def result_that_was_there_under_both_names(x, at):
    u, w = x * 1.0, x * 0.5
    v = u
    if at[0] > 0.0:
        u = halved_but_first(v)
    return w @ u


def with_sines(v):
    kept = []
    for i in range(3):
        v = np.sin(v)
        kept.append((v, 2.0 * v))
    return v, kept


@prog(r(3))
def tuples_taken_from_a_list_of_a_call(x):
    y, kept = with_sines(x)
    s = y * 0.0
    while kept:
        a, b = kept.pop()
        s = s + a * b
    return np.sum(s)


@prog(np.array([0.5, 0.3, -0.4]))
@prog(np.array([-0.5, 0.3, -0.4]))
def tuples_appended_of_what_is_shared(x):
    u = x * 1.0
    w = u if x[0] > 0.0 else x * 3.0
    w[0] = x[1] * u[2]
    rows = []
    t = (u, w)
    rows.append(t)
    rows.append((w, u * 2.0))
    s = 0.0
    for p in rows:
        s = s + np.sum(p[0] * np.sin(p[1]))
    return s


@prog(np.array([0.5, 0.3, -0.4]))
@prog(np.array([-0.5, 0.3, -0.4]))
def tuples_set_of_what_is_shared(x):
    u = x * 1.0
    w = u if x[0] > 0.0 else x * 3.0
    w[0] = x[1] * u[2]
    rows = [(u, u), (w, w)]
    t = (w, x * u)
    rows[0] = t
    return np.sum(rows[0][0] * np.sin(rows[0][1])) + np.sum(rows[1][0] ** 3)


@prog(np.array([0.5, 0.3, -0.4]))
@prog(np.array([-0.5, 0.3, -0.4]))
def tuples_repeated_and_taken(x):
    u = x * 1.0
    w = u if x[0] > 0.0 else x * 3.0
    w[0] = x[1] * u[2]
    rows = [(w, u)] * 2
    rows.extend([(u, u)])
    rows = rows + [(w * w, u)]
    a, b = rows.pop(1)
    return np.sum(a * b) + np.sum(rows[0][0] ** 3) + np.sum(rows[-1][0])


# --- numbers beside a structure that the callee writes --------------------------------------------


def multiplied(y, items):
    items[0] = items[0] * y
    return items, y


@prog(np.array([0.5, 0.3]), 0.7)
def number_beside_a_list(x, y):
    items = [y * 0.5, x[0]]
    items, y = multiplied(y, items)
    return y * y + sum(items)


@prog(np.array([0.5, 0.3]), 0.7)
def number_beside_a_list_in_a_loop(x, y):
    items = [y * 0.5, x[0]]
    for _ in range(3):
        items, y = multiplied(y * 0.9, items)
    return y * y + sum(items)


@prog(np.array([0.5, 0.3]), 0.7)
@prog(np.array([0.5, 0.3]), -0.7)
def number_beside_a_list_in_one_arm(x, y):
    items = [y * 0.5, x[0]]
    pair = multiplied(y, items) if y > 0 else (items, 2 * y)
    a, b = pair
    return b * b + sum(a)


def entry_multiplied(x, y, z, d):
    d["v"] *= y
    return x, y, z


@prog(np.array([0.5, 0.3]), 0.7)
def numbers_beside_a_dict(x, y):
    d = {"u": x[0], "v": y}
    z = y * 0.3
    x, y, z = entry_multiplied(x, y, z, d)
    return y * y * z + x[1] * d["v"] + d["u"]


def field_set(layer, x, y, z):
    layer.h[0] = y * z
    return x, y, z


@prog(np.array([0.5, 0.3]), 0.7)
def numbers_beside_an_object(x, y):
    layer = Layer(x * y, x * 2.0)
    x, y, z = field_set(layer, x, y, y * 2)
    return y * y * z + x[1] * np.sum(layer.h) + np.sum(layer.W)


class Both:
    def __init__(self, v, y):
        self.v = v
        self.y = y

    @property
    def parts(self):
        return self.v, self.y

    def __getitem__(self, k):
        return self.v, self.y * k


@prog(np.array([0.5, 0.3]), 0.7)
def numbers_beside_an_array_of_a_property(x, y):
    z = x[1] * y
    v, z = Both(x * y, z).parts
    v[1] = z * y
    return z * np.sum(v)


@prog(np.array([0.5, 0.3]), 0.7)
def numbers_beside_an_array_of_an_item(x, y):
    both = Both(x * y, x[1] * y)
    v, z = both[2.0]
    v[1] = z * y
    return z * np.sum(v)


@prog(np.array([0.5, 0.3]), 0.7)
def dict_that_nobody_reads_beside_an_array(x, y):
    both = Both(x * y, {"u": y, "v": x[0]})
    v, d = both.parts
    for key in d:
        d[key] = y
    return np.sum(v * v)


# --- what properties and operators of classes compute is no part of the object -------------------


class Rows:
    def __init__(self, v, y):
        self.v = v
        self.y = y

    def __getitem__(self, k):
        return self.v * k

    @property
    def twice(self):
        return self.v * 2.0

    @property
    def same(self):
        return self.v

    @property
    def me(self):
        return self


@prog(np.array([0.5, 0.3]), 0.7)
def item_computed_and_written(x, y):
    rows = Rows(x * y, y)
    a = rows[2.0]
    a[0] = y
    return np.sum(a * rows.v)


@prog(np.array([0.5, 0.3]), 0.7)
def property_computed_and_written(x, y):
    rows = Rows(x * y, y)
    a = rows.twice
    a[0] = y
    return np.sum(a * rows.v)


@prog(np.array([0.5, 0.3]), 0.7)
def property_that_is_a_field_written(x, y):
    rows = Rows(x * y, y)
    a = rows.same
    a[0] = y * a[1]
    return np.sum(a * rows.v)


@prog(np.array([0.5, 0.3]), 0.7)
def property_that_is_the_object_written(x, y):
    rows = Rows(x * y, y)
    other = rows.me
    other.v = other.v * y
    other.v[1] = y
    return np.sum(other.v * rows.v)


# --- counters among what carries derivatives: their cotangent is None ----------------------------


def moment(state, y):
    state["t"] += 1
    state["m"] = 0.9 * state["m"] + y / state["t"]
    return state, y * 0.9


@prog(0.7, np.array([0.5, 0.3]))
def counter_in_a_dict_that_a_call_writes(y, x):
    state = {"m": x * y, "t": 0}
    for _ in range(3):
        state, y = moment(state, y)
    return np.sum(state["m"]) * y


@prog(0.7, np.array([0.5, 0.3]))
def counter_in_a_dict_of_dicts(y, x):
    state = {"w": x * 1.0, "opt": {"m": x * y, "t": 0}}
    for _ in range(2):
        part, y = moment(state["opt"], y)
        state["w"] = state["w"] - part["m"]
    return np.sum(state["w"]) * y


class Counted:
    def __init__(self, m):
        self.m = m
        self.t = 0


def counted(o, y):
    o.t += 1
    o.m = 0.9 * o.m + y / o.t
    return o, y * 0.9


@prog(0.7, np.array([0.5, 0.3]))
def counter_in_an_object_that_a_call_writes(y, x):
    o = Counted(y * x[0])
    for _ in range(3):
        o, y = counted(o, y)
    return o.m * y + x[1]


# --- a list that the function makes of arrays that an argument holds is not the argument ----------


@prog([np.array([0.5, 0.3]), np.array([0.2, 0.7])], 0.7)
def arguments_arrays_collected(xs, y):
    kept = []
    for x in xs:
        kept.append(x)
    kept[0] = kept[0] * y
    return np.sum(kept[0] * kept[1] * xs[0])


@prog([np.array([0.5, 0.3]), np.array([0.2, 0.7])], 0.7)
def largest_of_arguments_arrays(xs, y):
    return y * np.sum(max((x for x in xs), key=np.sum) * xs[0])


@prog({"a": np.array([0.5, 0.3]), "b": np.array([0.2, 0.7])}, 0.7)
def arguments_arrays_in_another_dict(d, y):
    kept = {}
    for k, x in d.items():
        kept[k] = x
    kept["a"] = kept["b"] * y
    return np.sum(kept["a"] * d["a"])
